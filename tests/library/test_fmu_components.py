"""Does an FMU as a component do what it does by itself, by hand, and without the detour?

The reference FMUs are those of the Modelica Association (data/reference_fmus.zip, 2-Clause BSD),
compiled here.
"""

import copy
import pickle
import platform
import shutil
import subprocess
import sys
import zipfile
from functools import cache
from pathlib import Path
from tempfile import mkdtemp

import numpy as np
import pytest
from benches import wire, wired
from benches.exported_models import MODELS, exported, response
from numpy.testing import assert_allclose
from scipy.integrate import solve_ivp

from blocks import ConnectionRefused, ParameterError, SimulationError, UnknownName, quantity
from blocks.exceptions import MissingPackage, WrongDimension
from library.fmu import FMU
from library.signal import Constant, Gain, Sine, Step, Subtract

pytest.importorskip("fmpy", reason="FMPy runs FMUs: pip install FMPy")
VERSIONS = 2, 3
needs_compiler = pytest.mark.skipif(shutil.which("gcc") is None or platform.system() != "Linux",
                                    reason="the reference FMUs are compiled with gcc")


@cache
def reference(name, version, *changes):
    """A reference FMU, with changes of its description."""
    place = Path(mkdtemp())
    with zipfile.ZipFile(Path(__file__).parents[1] / "data" / "reference_fmus.zip") as packed:
        packed.extractall(place)
    sources = [place / "src" / f"fmi{version}Functions.c", place / "src" / "cosimulation.c",
               place / name / "model.c"]
    subprocess.run(["gcc", "-shared", "-fPIC", "-w", "-DDISABLE_PREFIX",
                    f"-DFMI_VERSION={version}", f"-I{place / 'include'}", f"-I{place / name}",
                    *sources, "-o", place / "made", "-lm"], check=True)
    text = (place / name / f"FMI{version}.xml").read_text(encoding="utf-8")
    for old, new, *most in changes:
        assert old in text
        text = text.replace(old, new, *most)
    processor = {"arm64": "aarch64"}.get(platform.machine(), platform.machine())
    folder = f"{processor}-linux" if version == 3 or processor != "x86_64" else "linux64"
    with zipfile.ZipFile(place / f"{name}.fmu", "w") as packed:
        packed.writestr("modelDescription.xml", text)
        packed.write(place / "made", f"binaries/{folder}/{name}.so")
    return place / f"{name}.fmu"


def alone(file, kind="model exchange", **values):
    return wired("alone", part=FMU(file, kind, **values))


# -- the reference FMUs against closed forms -----------------------------------------------------
@needs_compiler
@pytest.mark.parametrize("version", VERSIONS)
def test_a_ball_bounces_at_the_instants_of_the_closed_form_and_comes_to_rest(version):
    run = alone(reference("BouncingBall", version), e=0.8).simulate("5 s", rtol=1e-9)
    instants, speed = [np.sqrt(2 / 9.81)], 0.8 * np.sqrt(2 * 9.81)
    while speed >= 0.1:  # below, the FMU lets it rest
        instants.append(instants[-1] + 2 * speed / 9.81)
        speed *= 0.8
    assert_allclose([float(event.time) for event in run.events], instants, rtol=1e-9)
    assert_allclose(run["part.h"].final.to("m").m, 0.0, atol=1e-12)
    middle = (instants[0] + instants[1]) / 2  # the highest point after the first rebound
    assert_allclose(run["part.h"].at(quantity(middle, "s")).to("m").m, 0.64, rtol=1e-8)


@needs_compiler
@pytest.mark.parametrize("version", VERSIONS)
def test_a_decay_follows_its_parameter_and_its_start(version):
    run = alone(reference("Dahlquist", version), k=3.0, x="2").simulate("2 s", rtol=1e-9)
    assert_allclose(run["part.x"].m, 2 * np.exp(-3 * run.time.to("s").m), atol=1e-8)


@needs_compiler
@pytest.mark.parametrize(("version", "method"), [(2, "rodas4"), (3, "auto")])
def test_an_oscillator_of_van_der_pol_goes_as_scipy_says(version, method):
    run = alone(reference("VanDerPol", version), mu=5.0).simulate("5 s", rtol=1e-8, method=method)
    t = run.time.to("s").m
    wanted = solve_ivp(lambda _, x: [x[1], 5 * (1 - x[0] ** 2) * x[1] - x[0]], (0, 5), [2.0, 0.0],
                       rtol=1e-10, atol=1e-10, t_eval=t, method="Radau").y[0]
    assert_allclose(run["part.x0"].m, wanted, atol=2e-5)


@needs_compiler
@pytest.mark.parametrize("version", VERSIONS)
def test_a_stair_rises_at_its_known_instants(version):
    run = alone(reference("Stair", version)).simulate("4.5 s")
    assert_allclose([float(event.time) for event in run.events], [1, 2, 3, 4], rtol=1e-12)
    assert_allclose(run["part.counter"].at(quantity([0.5, 1.5, 4.2], "s")).m, [1, 2, 5])


@needs_compiler
@pytest.mark.parametrize("version", VERSIONS)
def test_what_goes_through_comes_out(version):
    model = alone(reference("Feedthrough", version), Enumeration_input_start=2,
                  Boolean_input_start=True)
    model.wave, model.steps = Sine(amplitude=2.0, frequency="1 Hz"), Step(start="1 s", final=3.0)
    model.connect(model.wave.y, model.part.Float64_continuous_input)
    model.connect(model.steps.y, model.part.Int32_input, model.part.Float64_discrete_input)
    run = model.simulate("2 s")
    t = run.time.to("s").m
    assert_allclose(run["part.Float64_continuous_output"].m, 2 * np.sin(2 * np.pi * t), atol=1e-12)
    for name in ("Int32_output", "Float64_discrete_output"):
        assert_allclose(run[f"part.{name}"].at(quantity([0.9, 1.1], "s")).m, [0, 3])
    assert run["part.Enumeration_output"].final == 2 and run["part.Boolean_output"].final == 1


@needs_compiler
@pytest.mark.parametrize("version", VERSIONS)
def test_steps_of_its_own_are_taken_at_communication_points(version):
    # its own method is Euler's with 0.1 s: x is multiplied by 0.9 in each
    model = alone(reference("Dahlquist", version), "co-simulation", communication_step="0.2 s")
    at = model.simulate("1.1 s")["part.x"].at(quantity([0.1, 0.3, 0.5, 1.1], "s")).m
    assert_allclose(at, [1.0, 0.81, 0.81**2, 0.81**5], rtol=1e-12)


CELSIUS = '<Unit name="degC"><BaseUnit K="1" offset="273.15"/></Unit>'
PRESSURE = '<Unit name="bar2"><BaseUnit kg="1" m="-1" s="-2" factor="2e5"/></Unit>'


@needs_compiler
def test_units_are_those_of_the_description():
    file = reference("Dahlquist", 2, (
        "  <LogCategories>", f"<UnitDefinitions>{CELSIUS}{PRESSURE}</UnitDefinitions>"
        "<LogCategories>"), ('<Real start="1"', '<Real unit="degC" start="1"', 1),
        ('<Real start="1"', '<Real unit="bar2" start="1"'))
    model = alone(file)
    run = model.simulate("1 s", rtol=1e-9)
    t = run.time.to("s").m
    assert_allclose(run["part.x"].to("K").m, 273.15 + np.exp(-t), rtol=1e-9)  # x' = -k x, in degC
    assert_allclose(model.part.k.to("bar").m, 2.0)
    model.part.k = "0.4 MPa"  # 2 of the FMU's units
    run = model.simulate("1 s", rtol=1e-9)
    assert_allclose(run["part.x"].final.to("K").m, 273.15 + np.exp(-2.0), rtol=1e-9)


# -- our own exports -----------------------------------------------------------------------------
@pytest.mark.parametrize(("name", "kind", "version"), [
    ("stick-slip", "model exchange", "2.0"), ("stick-slip", "co-simulation", "2.0"),
    ("stick-slip", "model exchange", "3.0"), ("simscape", "model exchange", "3.0"),
    ("bouncing", "model exchange", "3.0"), ("bouncing", "co-simulation", "3.0"),
    ("valve", "model exchange", "3.0"),
    ("servo", "model exchange", "3.0"), ("servo", "co-simulation", "3.0"),
    ("buck", "model exchange", "3.0")])
def test_it_runs_as_without_the_detour(name, kind, version):
    make, outputs, duration = MODELS[name]
    duration = "0.3 s" if name == "servo" else duration
    here, model = make().simulate(duration, rtol=1e-8), alone(exported(name, version), kind)
    seconds = quantity(duration).to("s").m
    if kind == "co-simulation":
        model.part.communication_step = f"{seconds / 200} s"
    there = model.simulate(duration, rtol=1e-8)
    times = np.linspace(0, seconds, 201)[1:-1]  # when outputs of co-simulation are those of then
    times += seconds / 777 * (kind == "model exchange")  # beside samples
    events = np.array([float(event.time) for event in here.events] or [-1.0])
    times = quantity(times[np.abs(times[:, None] - events).min(axis=1) > 1e-6 * seconds], "s")
    for path in outputs:
        wanted = here[path].at(times).to_base_units().m
        found = there[f"part.{path.replace('.', '_')}"].at(times).to_base_units().m
        assert_allclose(found, wanted, atol=1e-6 * max(np.ptp(wanted), 1e-9), err_msg=path)
    if kind == "model exchange" and here.events:
        own = np.array([float(event.time) for event in there.events])
        assert np.abs(own[:, None] - events).min(axis=0).max() < 1e-6 * seconds


@pytest.mark.parametrize("kind", ["model exchange", "co-simulation"])
def test_inputs_and_parameters_have_units(kind):
    model = alone(exported("oscillator"), kind, **{"spring.stiffness": "0.08 N/mm"},
                  damper_damping="1 N*s/m")
    if kind == "co-simulation":
        model.part.communication_step = "1 ms"
    wire(model, "push.y part.push_S", push=Constant(value="0.005 kN"))
    run = model.simulate("2 s", rtol=1e-9)
    times = np.linspace(0.1, 1.9, 19)  # from where outputs of co-simulation hold for 1 ms
    late = 0.5e-3 * (kind == "co-simulation")
    assert_allclose(run["part.mass_v"].at(quantity(times + late, "s")).to("m/s").m,
                    response(80.0, 1.0)(times), atol=1e-6)


def test_several_run_beside_each_other_and_one_is_driven_by_another():
    model = wired("several", "one.spring_f three.push_S",
                  one=FMU(exported("oscillator"), push_S_start="5 N"),
                  two=FMU(exported("oscillator"), push_S_start="5 N", spring_stiffness="80 N/m"),
                  three=FMU(exported("oscillator", "2.0")))
    run = model.simulate("2 s", rtol=1e-9)
    t = run.time.to("s").m
    assert_allclose(run["one.mass_v"].m, response()(t), atol=1e-7)
    assert_allclose(run["two.mass_v"].m, response(80.0)(t), atol=1e-7)
    system = solve_ivp(lambda _, y: [5 - 50 * y[1] - 2 * y[0], y[0],
                                     50 * y[1] - 50 * y[3] - 2 * y[2], y[2]], (0, 2), np.zeros(4),
                       t_eval=t, rtol=1e-10, atol=1e-12)
    assert_allclose(run["three.mass_v"].m, system.y[2], atol=1e-7)


def test_it_goes_back_where_the_fmu_gives_no_state_away():
    model, other = alone(exported("stick-slip")), alone(exported("stick-slip"))
    other.part.described.means.canGetAndSetFMUstate = False
    one, two = (m.simulate("1 s", rtol=1e-8) for m in (model, other))
    assert_allclose(two["part.block_v"].m, one["part.block_v"].m, atol=1e-9)
    again = other.simulate("1 s", rtol=1e-8)
    assert_allclose(again["part.block_v"].m, two["part.block_v"].m, atol=1e-9)


def test_it_is_copied_and_pickled():
    model = alone(exported("oscillator"), push_S_start="5 N")
    for made in (copy.deepcopy(model), pickle.loads(pickle.dumps(model))):
        run = made.simulate("1 s", rtol=1e-9)
        assert_allclose(run["part.mass_v"].m, response()(run.time.to("s").m), atol=1e-7)


@pytest.mark.parametrize("kind", ["model exchange", "co-simulation"])
def test_a_run_that_is_driven_goes_back_to_what_was_saved(kind):
    run = alone(exported("stick-slip"), kind).stepper(outputs=["part.block_v"], rtol=1e-8)
    for _ in range(6):  # until it has slipped once
        run.step([], 0.05)
    kept = run.save_state()
    first = [run.step([], 0.05)[0] for _ in range(4)]
    run.restore(kept)
    assert [run.step([], 0.05)[0] for _ in range(4)] == first
    assert len(set(first)) > 2


def test_it_is_analysed_as_other_parts_are():
    model = alone(exported("oscillator"), push_S_start="5 N")
    assert_allclose(model.operating_point()["part.spring_x"].to("m").m, 0.1, rtol=1e-9)
    poles = model.linearise(inputs=[], outputs=["part.mass_v"]).poles()
    assert_allclose(sorted(np.imag(poles)), [-7, 7], rtol=1e-7)  # sqrt(50 - 1)


@needs_compiler
def test_an_output_that_acts_back_at_once_is_solved_for():
    model = alone(reference("Feedthrough", 2))
    wire(model, "part.Float64_continuous_output gain.u", "one.y sum.u1", "gain.y sum.u2",
         "sum.y part.Float64_continuous_input",
         one=Constant(value=1.0), sum=Subtract(), gain=Gain(gain=-0.5))
    end = model.simulate("1 s")["part.Float64_continuous_output"].final
    assert_allclose(end.m, 2.0, rtol=1e-9)  # y = 1 + y / 2


# -- what is wrong -------------------------------------------------------------------------------
@pytest.mark.parametrize("kind", ["model exchange", "co-simulation"])
def test_what_the_fmu_says_is_told_with_the_name_of_the_component(kind):
    with pytest.raises(SimulationError, match=(
            r"^part: at t = 1(\.\d+)? s its FMU model\.fmu failed: fmi3\w+ failed with status 3 "
            r"\(error\)\. It says: .*at t = 1 s what follows was not written down")):
        alone(exported("servo"), kind).simulate("1.2 s")


def test_without_fmpy_it_says_what_to_install(monkeypatch):
    monkeypatch.setitem(sys.modules, "fmpy", None)
    with pytest.raises(MissingPackage, match=r'pip install -e ".*\[export\]"'):
        FMU("pump.fmu")


@pytest.mark.parametrize(("error", "text", "call"), [
    (ParameterError, "has no file", lambda: FMU("pump.fmu")),
    (ParameterError, "cannot be read", lambda: FMU(__file__)),
    (ParameterError, r"FMU\('model\.fmu'\)\(kind=…\): is 'me'",
     lambda: FMU(exported("oscillator"), "me")),
    (UnknownName, "there is no 'mass_w' among its parameters and variables",
     lambda: FMU(exported("oscillator"), mass_w="1 m")),
    (WrongDimension, "spring_stiffness: takes N/m",
     lambda: FMU(exported("oscillator"), spring_stiffness="1 N")),
    (ParameterError, "spring_stiffness",
     lambda: FMU(exported("oscillator"), spring_stiffness="-1 N/m")),
    (ConnectionRefused, "push_S", lambda: FMU(exported("oscillator"), push_S="1 N"))])
def test_what_is_wrong_is_said(error, text, call):
    with pytest.raises(error, match=text):
        call()


def test_an_fmu_is_not_exported(tmp_path):
    pytest.importorskip("llvmlite")
    model = alone(exported("oscillator"))
    with pytest.raises(ParameterError, match="what Python works out"):
        model.export_fmu(tmp_path / "a.fmu", outputs=["part.mass_v"], duration="1 s")
