"""Do exported models, run by another tool, do what they do here and by hand?"""

import ctypes
import re
import subprocess
import sys
import zipfile
from itertools import product

import numpy as np
import pytest
from benches import exported_models, few, wire, wired
from benches.exported_models import MODELS, RTOL, buck, exported, oscillator, response, stick_slip
from benches.parts import Pendulum
from numpy.testing import assert_allclose
from scipy.integrate import DOP853, solve_ivp

from blocks import Component, Model, Parameter, Variable, der, quantity
from blocks.exceptions import ParameterError, UnknownName, WrongCall
from library.signal import Delay, Integrator
from library.translational import TranslationalFriction

fmpy = pytest.importorskip("fmpy", reason="FMPy runs what is exported: pip install FMPy")
pytest.importorskip("llvmlite", reason="models are exported as machine code")
validation = pytest.importorskip("fmpy.validation")


KINDS = "CoSimulation", "ModelExchange"
in_all_ways = pytest.mark.parametrize(("kind", "version"), [*product(KINDS, ("2.0", "3.0"))])


def given(name, *rows):
    """Values of an input from instants on, for FMPy."""
    return np.array([*rows], dtype=[("time", float), (name, float)])


PUSHED = given("push.S", (0.0, 0.0), (1.0, 0.0), (1.0, 5.0), (3.0, 5.0))


def rubbing():
    """The oscillator on a floor that holds it up to 1.5 N."""
    model = oscillator()
    wire(model, "mass.M friction.R", "floor.V friction.C", friction=TranslationalFriction(
        law="coulomb", coulomb_force="1 N", breakaway_force="1.5 N"))
    return model


def run(name, kind, version="3.0", steps=200, rtol=1e-13, **options):
    seconds = quantity(MODELS[name][2]).to("s").m
    return fmpy.simulate_fmu(str(exported(name, version)), fmi_type=kind, stop_time=seconds,
                             output_interval=seconds / steps, relative_tolerance=rtol,
                             record_events=False, **options)


# -- against the model's own run -----------------------------------------------------------------
@pytest.mark.parametrize("version", ["2.0", "3.0"])
def test_a_description_has_no_finding(version):
    assert validation.validate_fmu(str(exported("oscillator", version))) == []


@few(5, ("name", "kind", "version"), [
    *product(("stick-slip",), KINDS, ("2.0", "3.0")),
    *product(("simscape", "bouncing", "servo", "late", "chain"), ("CoSimulation",), ("3.0",)),
    *product(("oscillator", "late"), ("CoSimulation",), ("2.0",)),
    *product(("buck", "motor", "brake", "clutches", "cylinder"), KINDS, ("3.0",)),
    *product(("bouncing", "servo"), ("ModelExchange",), ("2.0",)),
    ("oscillator", "ModelExchange", "3.0")])
def test_it_runs_as_here(name, kind, version):
    make, outputs, duration = MODELS[name]
    here = make().simulate(duration, rtol=RTOL.get(name, 1e-8))
    # FMPy integrates to the end of an interval in 500 steps, or not at all
    there = run(name, kind, version, steps=2400, rtol=1e-9 if name == "motor" else 1e-13)
    events = np.array([float(event.time) for event in here.events] or [-1.0])
    apart = np.abs(there["time"][:, None] - events).min(axis=1) > 1e-6 * there["time"][-1]
    times = quantity(there["time"][apart], "s")
    for path in outputs:
        wanted = here[path].at(times).to_base_units().m
        assert np.abs(there[path][apart] - wanted).max() <= 1e-6 * max(np.ptp(wanted), 1e-9), path


def test_a_block_sticks_and_slips_at_the_instants_of_the_closed_form():
    # f = k v t breaks away at 25 N; then x'' = -w² (x - x0), w² = 1000, about 20 N
    there = run("stick-slip", "CoSimulation", steps=200)  # steps of 10 ms
    w, gap = np.sqrt(1000.0), 5.0 / 1000.0
    t = there["time"] - 0.25
    slides = 2 * (np.pi - np.arctan(gap * w / 0.1)) / w  # until it is as fast as the belt again
    now = (t > 0) & (t < slides)
    wanted = 0.1 - 0.1 * np.cos(w * t) + gap * w * np.sin(w * t)
    assert_allclose(there["block.v"][now], wanted[now], atol=1e-7)
    assert_allclose(there["block.v"][t <= 0], 0.0, atol=1e-12)


def test_rebounds_are_those_of_the_closed_form_however_long_steps_are():
    there = run("bouncing", "CoSimulation", steps=3)  # one second each
    starts = np.cumsum([np.sqrt(2 / 9.81), *(2 * np.sqrt(2 / 9.81) * 0.7 ** np.arange(1, 40))])
    for t, x in zip(there["time"][1:], there["stop.x"][1:], strict=True):
        k = int(np.searchsorted(starts, t))
        rest = t - starts[k - 1]
        speed = 9.81 * np.sqrt(2 / 9.81) * 0.7**k
        assert_allclose(x, max(0.0, speed * rest - 0.5 * 9.81 * rest**2), atol=1e-7)


def integrated(file, seconds, rtol):
    """Events of a run by model exchange with SciPy's DOP853, and its states at them."""
    fmu, _ = begun(None, kind="Model", file=file)
    described = fmpy.read_model_description(str(file))
    nx, nz = described.numberOfContinuousStates, described.numberOfEventIndicators
    x, slope, nominal, z = (np.zeros(n) for n in (nx, nx, nx, nz))
    ways = [np.ctypeslib.as_ctypes(a) for a in (x, slope, nominal, z)]
    fmu.getNominalsOfContinuousStates(ways[2], nx)

    def at(t, point):
        fmu.setTime(t)
        x[:] = point
        fmu.setContinuousStates(ways[0], nx)

    def slopes(t, point):
        at(t, point)
        fmu.getContinuousStateDerivatives(ways[1], nx)
        return slope.copy()

    def above(t, point):
        at(t, point)
        fmu.getEventIndicators(ways[3], nz)
        return z > 0

    def updated():
        following = fmu.updateDiscreteStates()[-2:]
        fmu.enterContinuousTimeMode()
        fmu.getContinuousStates(ways[0], nx)
        return following[1] if following[0] else np.inf

    t, events = 0.0, []
    instant = updated()
    while t < seconds:
        steps = DOP853(slopes, t, x.copy(), min(instant, seconds), rtol=rtol, atol=rtol * nominal)
        before = above(t, x.copy())
        while steps.status == "running":
            steps.step()
            inside, low, high = steps.dense_output(), steps.t_old, None
            for look in np.linspace(steps.t_old, steps.t, 5)[1:]:
                if (above(look, inside(look)) != before).any():
                    high = look
                    break
                low = look
            if high is not None:
                while high - low > 4e-16 * high:
                    middle = (low + high) / 2
                    crossed = (above(middle, inside(middle)) != before).any()
                    low, high = (low, middle) if crossed else (middle, high)
                break
            at(steps.t, steps.y)
            fmu.completedIntegratorStep()
        t, point = (steps.t, steps.y) if high is None else (high, inside(high))
        at(t, point)
        fmu.completedIntegratorStep()
        events += [t] * int(t < seconds)
        fmu.enterEventMode()
        instant = updated()
    return np.array(events)


@few(2, "name", ["stick-slip", "bouncing", "valve", "buck", "clutches"])
def test_events_are_where_they_are_here_if_another_integrates_well(name):
    make, _, duration = MODELS[name]
    seconds = quantity(duration).to("s").m
    here = [float(event.time) for event in make().simulate(duration, rtol=1e-8).events]
    there = integrated(exported(name), seconds, 1e-10)
    assert len(here) > 2
    for event in here:
        if 0 < event < seconds * (1 - 1e-9):
            assert np.abs(there - event).min() < 1e-8 * seconds


# -- what others give ----------------------------------------------------------------------------
@in_all_ways
def test_inputs_and_parameters_act(kind, version):
    there = run("oscillator", kind, version,
                start_values={"push.S": 5.0, "spring.stiffness": 80.0, "damper.damping": 1.0})
    assert_allclose(there["mass.v"], response(80.0, 1.0)(there["time"]), atol=1e-7)


def test_an_input_holds_until_it_is_given_another_value():
    there = run("oscillator", "CoSimulation", input=PUSHED)
    late = there["time"] > 1.01
    assert_allclose(there["mass.v"][late], response()(there["time"][late] - 1.0), atol=1e-7)


@in_all_ways
def test_what_sticks_breaks_away_where_an_input_jumps(kind, version, tmp_path):
    file = rubbing().export_fmu(tmp_path / "a.fmu", inputs=["push.S"], outputs=["mass.v"],
                                version=version, rtol=1e-8)
    there = fmpy.simulate_fmu(str(file), fmi_type=kind, input=PUSHED, stop_time=1.4,
                              output_interval=0.01, relative_tolerance=1e-10, record_events=False)
    assert not there["mass.v"][there["time"] < 1.0].any()
    # FMPy, which integrates, takes its input from before for a while: 1e-9 of the time
    assert_allclose(there["mass.v"], np.where(
        there["time"] > 1.0, response(force=4.0)(there["time"] - 1.0), 0.0), atol=2e-8)


def test_parameters_are_tunable_and_values_in_units_of_si_are_shown_in_the_declared_ones(tmp_path):
    described = fmpy.read_model_description(str(exported("oscillator")))
    (stiffness,) = [v for v in described.modelVariables if v.name == "spring.stiffness"]
    assert (stiffness.causality, stiffness.variability) == ("parameter", "tunable")
    assert (float(stiffness.start), float(stiffness.min), stiffness.max) == (50.0, 0.0, None)
    assert stiffness.description
    file = oscillator().export_fmu(tmp_path / "a.fmu", outputs=["spring.f", "mass.v"], platforms=[])
    described = fmpy.read_model_description(str(file))
    units = {one.name: one.baseUnit for one in described.unitDefinitions}
    assert (units["N"].kg, units["N"].m, units["N"].s, units["N"].factor) == (1, 1, -2, 1)
    assert [one.unit for one in described.modelVariables if one.causality == "output"] == [
        "N", "m/s"]


# -- where nothing else is -----------------------------------------------------------------------
ALONE = """
import ctypes, sys
lib = ctypes.CDLL(sys.argv[1])
lib.fmi3InstantiateCoSimulation.restype = ctypes.c_void_p
P, D, B, S = ctypes.c_void_p, ctypes.c_double, ctypes.c_bool, ctypes.c_size_t
def made():
    return P(lib.fmi3InstantiateCoSimulation(b"a", sys.argv[2].encode(), None, B(0), B(0), B(0),
                                             B(0), None, S(0), None, None, None))
one, two = made(), made()
kept, reached = P(), D()
flags = [ctypes.byref(B()) for _ in range(3)]
def step(c, t, h):
    assert lib.fmi3DoStep(c, D(t), D(h), B(1), *flags, ctypes.byref(reached)) == 0
def speed(c):
    value = D()
    assert lib.fmi3GetFloat64(c, (ctypes.c_uint * 1)(1), S(1), ctypes.byref(value), S(1)) == 0
    return value.value
for c in (one, two):
    lib.fmi3EnterInitializationMode(c, B(0), D(0), D(0), B(0), D(0))
    lib.fmi3ExitInitializationMode(c)
step(one, 0.0, 0.3)
assert speed(two) == 0.0
lib.fmi3GetFMUState(one, ctypes.byref(kept))
size = S()
lib.fmi3SerializedFMUStateSize(one, kept, ctypes.byref(size))
written = (ctypes.c_uint8 * size.value)()
lib.fmi3SerializeFMUState(one, kept, written, size)
step(one, 0.3, 0.05)
first = speed(one)
lib.fmi3SetFMUState(one, kept)
step(one, 0.3, 0.05)
again = P()
lib.fmi3DeserializeFMUState(two, written, size, ctypes.byref(again))
lib.fmi3SetFMUState(two, again)
step(two, 0.3, 0.05)
assert first == speed(one) == speed(two) != 0.0, (first, speed(one), speed(two))
lib.fmi3Reset(one)
assert speed(one) == 0.0
for c in (one, two):
    lib.fmi3FreeInstance(c)
assert not any(name.startswith(("blocks", "numpy", "llvmlite")) for name in sys.modules)
print(first)
"""


def test_it_needs_no_python_has_several_instances_and_takes_back_states(tmp_path):
    with zipfile.ZipFile(exported("stick-slip")) as packed:
        packed.extractall(tmp_path)
    (file,) = (tmp_path / "binaries").rglob("*.*")
    token = fmpy.read_model_description(str(exported("stick-slip"))).instantiationToken
    done = subprocess.run([sys.executable, "-I", "-S", "-c", ALONE, str(file), token],
                          capture_output=True, text=True, cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    here = stick_slip().simulate("0.35 s", rtol=1e-8)["block.v"].final.to("m/s").m
    assert_allclose(float(done.stdout), here, rtol=1e-6)
    assert b"libpython" not in file.read_bytes()
    assert ctypes.sizeof(ctypes.c_void_p) == 8


@pytest.mark.slow
def test_libraries_are_made_for_all_platforms(tmp_path):
    pytest.importorskip("ziglang", reason="it compiles for other machines")
    everywhere = ["aarch64-linux", "x86_64-windows", "x86_64-darwin", "aarch64-darwin"]
    file = oscillator().export_fmu(tmp_path / "a.fmu", outputs=["mass.v"], platforms=everywhere)
    with zipfile.ZipFile(file) as packed:
        begin = {name.split("/")[1]: packed.read(name)[:20] for name in packed.namelist()
                 if name.startswith("binaries/")}
    assert begin["aarch64-linux"][:4] == b"\x7fELF" and begin["aarch64-linux"][18] == 183
    assert begin["x86_64-windows"][:2] == b"MZ"
    assert begin["x86_64-darwin"][:8] == bytes.fromhex("cffaedfe07000001")
    assert begin["aarch64-darwin"][:8] == bytes.fromhex("cffaedfe0c000001")


def test_inputs_come_one_delay_later_in_steps_of_any_length(tmp_path):
    model = wired("late", "late.y sum.u", late=Delay(delay="0.25 s"), sum=Integrator())
    file = model.export_fmu(tmp_path / "late.fmu", inputs=["late.u"], outputs=["late.y", "sum.y"])
    assert validation.validate_fmu(str(file)) == []
    assert fmpy.read_model_description(str(file)).modelExchange is None  # who steps keeps the past
    for step in (0.01, 0.1, 0.5):  # in which an input holds
        times = np.arange(0.0, 40.0 + step / 2, step)
        cosine = given("late.u", *zip(times, np.cos(times), strict=True))
        there = fmpy.simulate_fmu(str(file), stop_time=40.0, output_interval=step, input=cosine)
        held = np.append(0.0, np.cumsum(step * np.cos(times)))
        since = np.maximum(there["time"] - 0.25, 0.0)
        whole = np.floor(since / step + 1e-9)
        left = (since - whole * step) * np.cos(whole * step)
        assert_allclose(there["sum.y"], held[whole.astype(int)] + left, rtol=0, atol=1e-9)


# -- what cannot leave ---------------------------------------------------------------------------
@pytest.mark.parametrize(("make", "output", "parameter"), [
    (buck, "coil.i", "drive.period"), (stick_slip, "block.v", "block.mass")])
def test_a_parameter_that_the_start_or_modes_follow_is_refused(make, output, parameter, tmp_path):
    with pytest.raises(ParameterError, match=re.escape(parameter)):
        make().export_fmu(tmp_path / "a.fmu", outputs=[output], parameters=[parameter],
                          duration="0.1 ms")


class Escape(Component):
    """x' = x², which is 1 / (1 - t)."""

    rate = Parameter("1 1/s")
    x = Variable("1", initial=1.0, priority="high")

    def equations(self):
        yield der(self.x) == self.rate * self.x**2


def test_a_run_that_does_not_get_to_its_end_is_refused_with_the_instant(tmp_path):
    model = wired("escape", part=Escape())
    with pytest.raises(ParameterError, match=r"at t = (1|0\.99999\d*|1\.0000\d*) s "):
        model.export_fmu(tmp_path / "a.fmu", outputs=["part.x"], duration="2 s")
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize(("error", "asked"), [
    (UnknownName, {"outputs": ["mass.w"]}), (UnknownName, {"parameters": ["spring.k"]}),
    (UnknownName, {"platforms": ["amiga"]}), (WrongCall, {"version": "1.0"}),
    (UnknownName, {"outputs": "mass.w"})])
def test_what_is_wrong_is_said(error, asked, tmp_path):
    with pytest.raises(error):
        oscillator().export_fmu(tmp_path / "a.fmu", **asked)
    assert not list(tmp_path.iterdir())


def test_a_run_of_the_fmu_says_where_its_known_instants_end():
    with pytest.raises(Exception, match="DoStep|doStep"):
        fmpy.simulate_fmu(str(exported("servo")), fmi_type="CoSimulation", stop_time=1.5,
                          output_interval=0.5)


@pytest.mark.parametrize("version", ["2.0", "3.0"])
def test_the_log_names_components_whose_modes_cannot_be_decided(version, tmp_path):
    file = exported_models.interrupted().export_fmu(
        tmp_path / "a.fmu", inputs=["switch.vT"], version=version, outputs=["coil.i"])
    opened = given("switch.vT", (0.0, 1.0), (1e-5, 1.0), (1e-5, 0.0), (1e-4, 0.0))
    told = []
    with pytest.raises(Exception, match="DoStep"):
        fmpy.simulate_fmu(str(file), fmi_type="CoSimulation", stop_time=1e-4, input=opened,
                          output_interval=1e-6, debug_logging=True,
                          logger=lambda *message: told.append(message[-1].decode()))
    assert re.match(r"at t = 1e-05 s .*switch", told[0])


@pytest.mark.parametrize("method", ["dopri5", "rodas4"])
def test_modes_that_no_run_has_met_are_found_in_the_fmu(method, tmp_path):
    file = buck(driven=False).export_fmu(tmp_path / "a.fmu", inputs=["switch.vT"], rtol=1e-9,
                                         outputs=["coil.i"], duration="40 us", method=method)
    found = fmpy.simulate_fmu(
        str(file), fmi_type="CoSimulation", stop_time=3e-5, output_interval=1e-6, input=given(
            "switch.vT", (0.0, 0.0), (1e-5, 0.0), (1e-5, 1.0), (1.8e-5, 1.0), (1.8e-5, 0.0),
            (4e-5, 0.0)))
    run = buck(driven=False).stepper(inputs={"switch.vT": 0}, outputs=["coil.i"], rtol=1e-9)
    wanted = run.numbers().tolist()
    for k in range(30):
        run.set("switch.vT", 1.0 if 10 <= k < 18 else 0.0)
        run.advance("1 us")
        wanted += run.numbers().tolist()
    assert_allclose(found["coil.i"], wanted, rtol=1e-6)


# -- what masters ask ----------------------------------------------------------------------------
def begun(name, version="3.0", kind="Slave", file=None, **how):
    """An instance of an FMU that has been initialised, and its value references by name."""
    file = str(file or exported(name, version))
    described, number = fmpy.read_model_description(file), version[0]
    module = __import__(f"fmpy.fmi{number}", fromlist=["fmi"])
    means = described.coSimulation if kind == "Slave" else described.modelExchange
    fmu = getattr(module, f"FMU{number}{kind}")(
        guid=described.instantiationToken, unzipDirectory=fmpy.extract(file),
        modelIdentifier=means.modelIdentifier, instanceName="one")
    fmu.instantiate(**how)
    if number == "2":
        fmu.setupExperiment()
    fmu.enterInitializationMode()
    fmu.exitInitializationMode()
    return fmu, {v.name: v.valueReference for v in described.modelVariables}


@pytest.mark.parametrize("version", ["2.0", "3.0"])
def test_directional_derivatives_are_those_of_the_equations(version):
    fmu, at = begun("oscillator", version, "Model")
    fmu.enterContinuousTimeMode()
    fmu.setContinuousStates((ctypes.c_double * 2)(3.0, 0.5), 2)  # v, x
    place = [at["mass.v"], at["spring.x"], at["push.S"], at["damper.damping"]]
    found = [fmu.getDirectionalDerivative([at["der(mass.v)"], at["spring.f"]], [one], [1.0])
             for one in place]
    assert_allclose(found, [[-2.0, 0.0], [-50.0, 50.0], [1.0, 0.0], [-3.0, 0.0]], rtol=1e-8,
                    atol=1e-8)
    both = fmu.getDirectionalDerivative([at["der(mass.v)"]], place[:2], [1.0, -2.0])
    assert_allclose(both, [98.0], rtol=1e-8)
    state = (ctypes.c_double * 2)()
    fmu.getContinuousStates(state, 2)
    assert list(state) == [3.0, 0.5]


def test_a_step_ends_early_behind_each_event_and_others_may_look_within_it():
    events = [float(event.time) for event in stick_slip().simulate("1 s", rtol=1e-8).events]
    early = begun("stick-slip", eventModeUsed=True, earlyReturnAllowed=True)
    looks, t, met = [], 0.0, []
    early[0].updateDiscreteStates()
    early[0].enterStepMode()
    while t < 1.0:
        event, _, ended, t = early[0].doStep(t, 1.0 - t)
        assert ended == event or t == 1.0
        if event:
            met.append(t)
            early[0].enterEventMode()
            early[0].updateDiscreteStates()
            early[0].enterStepMode()
    assert_allclose(np.unique(np.round(met, 7)), np.unique(np.round(events, 7)), atol=2e-7)

    def looked(_, at, *rest):
        looks.append(at)

    within = begun("stick-slip", intermediateUpdate=looked)
    _, _, ended, t = within[0].doStep(0.0, 1.0)
    assert (ended, t) == (False, 1.0)
    assert_allclose(np.unique(np.round(looks[:-1], 7)), np.unique(np.round(events, 7)), atol=2e-7)
    plain = begun("stick-slip")
    plain[0].doStep(0.0, 1.0)
    ends = [fmu.getFloat64([at["block.v"], at["spring.x"]]) for fmu, at in (early, within, plain)]
    assert_allclose(ends, np.broadcast_to(ends[2], (3, 2)), rtol=1e-6)


def test_the_importer_may_end_a_step_within_it():
    def wanted(_, at, may_set, may_get, ended, may_end, early, earlier):
        assert may_get and (may_end or ended)
        early[0] = True

    fmu, _ = begun("stick-slip", earlyReturnAllowed=True, intermediateUpdate=wanted)
    event, _, ended, t = fmu.doStep(0.0, 1.0)
    assert (event, ended) == (False, True)
    assert_allclose(t, 0.25, atol=1e-7)  # k v t = 25 N


def test_sizes_of_outputs_are_told_where_they_are_known():
    described = fmpy.read_model_description(str(exported("stick-slip")))
    nominal = {v.name: v.nominal for v in described.modelVariables}
    assert (float(nominal["friction.f"]), nominal["spring.f"]) == (25.0, None)  # it breaks away at


# -- co-simulation alone -------------------------------------------------------------------------
@pytest.mark.parametrize("version", ["2.0", "3.0"])
def test_states_are_chosen_anew_in_steps_of_its_own(version, tmp_path):
    model = Model("swing")
    model.bob = Pendulum(x="1 m", y="0 m")  # so each of its coordinates is at its end at times
    file = model.export_fmu(tmp_path / "a.fmu", outputs=["bob.x", "bob.y"], version=version,
                            rtol=1e-9, duration="4 s")
    there = fmpy.simulate_fmu(str(file), stop_time=4.0, output_interval=0.01)
    angle = solve_ivp(lambda t, y: (y[1], -9.81 * np.sin(y[0])), (0, 4), (np.pi / 2, 0.0),
                      rtol=1e-12, atol=1e-12, t_eval=there["time"]).y[0]
    assert_allclose(there["bob.x"], np.sin(angle), atol=1e-6)
    assert_allclose(there["bob.y"], -np.cos(angle), atol=1e-6)
    assert fmpy.read_model_description(str(file)).modelExchange is None
    assert validation.validate_fmu(str(file)) == []
    with pytest.raises(ParameterError, match=(
            r"^swing\.export_fmu\(\): cannot let bob\.length be given from outside: .*states of "
            r"bob are integrated")):
        model.export_fmu(tmp_path / "b.fmu", outputs=["bob.x"], parameters=["bob.length"])


@pytest.mark.parametrize("version", ["2.0", "3.0"])
def test_time_steps_are_those_of_python_with_what_is_told(version, tmp_path):
    model = rubbing()
    options = {"inputs": ["push.S"], "outputs": ["mass.v", "friction.f"], "method": "moreau_jean",
               "step": "1 ms"}
    file = model.export_fmu(tmp_path / "a.fmu", version=version, parameters=["damper.damping"],
                            **options)
    there = fmpy.simulate_fmu(str(file), stop_time=3.0, output_interval=0.05, input=PUSHED,
                              start_values={"damper.damping": 1.0})
    model.damper.damping = "1 N*s/m"
    here, rows = model.stepper(**options), []
    for k in range(60):
        if k == 20:
            here.set("push.S", "5 N")
        here.advance("50 ms")
        rows.append([here[path].to_base_units().m for path in options["outputs"]])
    assert np.ptp(rows, axis=0).min() > 0.3 and validation.validate_fmu(str(file)) == []
    assert fmpy.read_model_description(str(file)).modelExchange is None
    assert_allclose(np.transpose([there["mass.v"][1:], there["friction.f"][1:]]), rows, atol=1e-12)


def test_steps_in_time_end_early_at_changes_of_modes(tmp_path):
    file = stick_slip().export_fmu(tmp_path / "a.fmu", outputs=["block.v"], step="1 ms",
                                   method="moreau_jean", duration="1 s")
    events = stick_slip().simulate("1 s", method="moreau_jean", step="1 ms").events
    fmu, _ = begun(None, file=file, eventModeUsed=True, earlyReturnAllowed=True)
    t, met = 0.0, []
    fmu.enterStepMode()
    while t < 1.0:
        event, _, _, t = fmu.doStep(t, 1.0 - t)
        met += [t] * event
    assert_allclose(met, np.unique([float(event.time) for event in events]), atol=1e-12)
