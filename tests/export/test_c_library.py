"""Does a library in C do, bit by bit, what a run here does with the same method and step?"""

import platform
import re
import shutil
import subprocess
import sys
from functools import cache
from pathlib import Path
from tempfile import mkdtemp

import numpy as np
import pytest
from benches import few, wire, wired
from benches.exported_models import buck, dropped, interrupted, late, oscillator, servo, stick_slip
from benches.parts import Pendulum
from numpy.testing import assert_allclose
from scipy.integrate import solve_ivp

from blocks import Model, quantity, when
from blocks import time as now
from blocks.exceptions import ParameterError, UnknownName
from library.mechanisms import DiscClutch, GearBox
from library.rotational import Inertia, RotationalReference, TorqueSource, table
from library.translational import Mass, Reference, TranslationalFriction

pytest.importorskip("llvmlite", reason="models are exported as machine code")
GCC = shutil.which("gcc") or shutil.which("cc")
pytestmark = pytest.mark.skipif(not GCC, reason="a C compiler runs what is exported")


def two_clutches():
    """A gear shift, as in examples/two_clutches.py."""
    return wired("two clutches", "torque.R engine.I clutch1.C clutch2.C", "torque.C housing.W",
                 "clutch1.R gear1.S", "clutch2.R gear2.S", "gear1.O gear2.O vehicle.I",
                 torque=TorqueSource(torque="80 N*m"), housing=RotationalReference(),
                 engine=Inertia(inertia="0.2 kg*m^2", w="1000 rpm"),
                 clutch1=DiscClutch(normal_force=table(["0 s", "0.5 s", "3 s", "3.3 s"],
                                                       ["0 N", "1500 N", "1500 N", "0 N"])),
                 clutch2=DiscClutch(normal_force=table(["3 s", "3.5 s"], ["0 N", "1500 N"])),
                 gear1=GearBox(ratio=3), gear2=GearBox(ratio=2),
                 vehicle=Inertia(inertia="10 kg*m^2"))


def swing():
    model = Model("swing")
    model.bob = Pendulum(x="1 m", y="0 m")  # then y, where it hangs, is no state
    return model


MODELS = {"oscillator": (oscillator, ["mass.v", "spring.f"], "1 ms", 500),
          "stick-slip": (stick_slip, ["block.v", "friction.f", "spring.f"], "2 ms", 1000),
          "simscape": (lambda: stick_slip("simscape"), ["block.v", "friction.f"], "1 ms", 500),
          "bouncing": (dropped, ["stop.x", "mass.v"], "10 ms", 300),
          "servo": (servo, ["mass.v", "push.f"], "0.7 ms", 1000),
          "late": (late, ["mass.v", "late.y"], "0.7 ms", 2000),
          "buck": (buck, ["coil.i", "load.v"], "1.3 us", 150),
          "interrupted": (interrupted, ["coil.i"], "1 us", 40),
          "free": (lambda: buck(False, "resistances"), ["coil.i", "diode.i"], "1 us", 40),
          "swing": (swing, ["bob.x", "bob.y", "bob.vx"], "1 ms", 4000),
          "clutches": (two_clutches, ["engine.w", "clutch1.t", "clutch2.t"], "5 ms", 1199)}
PUSH = "model.inputs.push_S = 5.0;"
MAIN = """
#include <stdio.h>
#include "{name}.h"
static {name} model;
int main(void) {{
    {name}_reset(&model);
    {set}
    for (int k = 0; k < {steps}; k++) {{
        int status = {name}_step(&model, {h!r});
        printf("%d %a", status, model.time);
        for (int j = 0; j < {count}; j++) printf(" %a", ((double *)&model.outputs)[j]);
        puts("");
    }}
    return 0;
}}
"""


@cache
def exported(name, method, target="host", **more):
    """The folder of a library, with the name of the library."""
    make, outputs, step, steps = MODELS[name]
    model, more = make(), {"most_events": 100} | more
    if name == "oscillator":
        more |= {"inputs": ["push.S"], "parameters": ["spring.stiffness", "damper.damping"]}
    folder = model.export_c(Path(mkdtemp()) / "made", outputs=outputs, step=step, method=method,
                            target=target, duration=(steps + 1) * quantity(step), **more)
    (library,) = folder.glob("lib*.a")
    return folder, library.stem.removeprefix("lib")


def there(name, method, set="", steps=None, compiler=(GCC,), runner=(), **more):
    """Statuses, times and outputs of a run in C: one row a step."""
    _, outputs, step, most = MODELS[name]
    folder, library = exported(name, method, **more)
    main = MAIN.format(name=library, set=set, steps=steps or most,
                       h=float(quantity(step).to("s").m), count=len(outputs))
    return printed(main, compiler, runner, f"-I{folder}", folder / f"lib{library}.a")


def printed(main, compiler, runner, *more):
    """The numbers that a program in C prints, row by row."""
    place = Path(mkdtemp())
    (place / "run.c").write_text(main)
    subprocess.run([*compiler, place / "run.c", *more, "-lm", "-o", place / "run"], check=True)
    done = subprocess.run([*runner, place / "run"], capture_output=True, text=True, check=True)
    return np.array([[float.fromhex(w) for w in line.split()] for line in done.stdout.splitlines()])


def here(name, method):
    """Times and outputs of a run in Python that goes on step by step."""
    make, outputs, step, steps = MODELS[name]
    inputs = {"push.S": "0 N"} if name == "oscillator" else {}
    run = make().stepper(inputs=inputs, outputs=outputs, step=step, method=method,
                         duration=(steps + 1) * quantity(step))
    if name == "oscillator":
        run.set("push.S", "5 N")
    rows, h = [], float(quantity(step).to("s").m)
    for _ in range(steps):
        run.advance(quantity(h, "s"))
        rows.append([run.time.to("s").m, *(run[path].to_base_units().m for path in outputs)])
    return np.array(rows)


@few(5, ("name", "method"), [
    *((name, "rk4") for name in MODELS if name not in ("interrupted", "free", "swing")),
    ("stick-slip", "moreau_jean"), ("bouncing", "moreau_jean"), ("oscillator", "euler"),
    ("stick-slip", "trapezoidal"), ("bouncing", "backward_euler"), ("servo", "trapezoidal"),
    ("clutches", "trapezoidal")])
def test_it_runs_as_here_bit_by_bit(name, method):
    mine, theirs = here(name, method), there(name, method, PUSH if name == "oscillator" else "")
    assert not theirs[:, 0].any()
    for path, a, b in zip(["time", *MODELS[name][1]], mine.T, theirs.T[1:], strict=True):
        assert np.ptp(a) > 0.0
        assert [x.hex() for x in b] == [x.hex() for x in a], path


def test_a_method_is_that_of_a_whole_run():
    # nothing happens on the way, so steps of a run at once stand on the same grid
    run = oscillator()
    run.push.force = "5 N"
    whole = run.simulate("0.5 s", method="backward_euler", step="1 ms")["mass.v"]
    theirs = there("oscillator", "backward_euler", PUSH)
    assert theirs[-1, 2].hex() == float(whole.at("500 ms").to("m/s").m).hex()


def test_states_are_chosen_anew():
    theirs = there("swing", "rk4")
    run = solve_ivp(lambda t, y: (y[1], -9.81 * np.sin(y[0])), (0, 4), (np.pi / 2, 0.0),
                    rtol=1e-12, atol=1e-12, t_eval=theirs[:, 1])
    assert not theirs[:, 0].any()
    assert_allclose(theirs[:, 2:].T, (np.sin(run.y[0]), -np.cos(run.y[0]),
                                      run.y[1] * np.cos(run.y[0])), atol=1e-6)


def test_a_parameter_acts():
    # v = F / (m w) exp(-d t / (2 m)) sin(w t), w² = k / m - (d / (2 m))²; rk4 is of order 4
    theirs = there("oscillator", "rk4", PUSH + "model.parameters.spring_stiffness = 80.0;")
    t, w = theirs[:, 1], np.sqrt(80.0 - 1.0)
    assert_allclose(theirs[:, 2], 5.0 / w * np.exp(-t) * np.sin(w * t), atol=1e-9)


# -- bounds --------------------------------------------------------------------------------------
def test_more_events_than_a_call_may_pass_are_told_and_the_run_goes_on():
    # rebounds of 0.7 of the speed follow each other ever faster, up to (1 + 2 * 0.7 / 0.3) flights
    end = np.sqrt(2 / 9.81) * (1 + 2 * 0.7 / 0.3)
    theirs = there("bouncing", "rk4", most_events=3)
    told = theirs[theirs[:, 0] != 0]
    assert set(told[:, 0]) == {1.0}
    assert np.all(np.abs(told[:, 1] - end) < 0.1)
    rest = theirs[theirs[:, 1] > end + 0.02]
    assert len(rest) > 20
    assert_allclose(rest[:, 2:], 0.0, atol=1e-12)


ALONE = """
    {name} first = model, copy;
    {name}_step(&first, 1e-3);
    copy = first;
    for (int k = 0; k < 300; k++) {name}_step(&first, 1e-3);
    printf("%d %a\\n", 0, ((double *)&copy.outputs)[0]);
    for (int k = 0; k < 300; k++) {name}_step(&copy, 1e-3);
    printf("%d %a\\n%d %a\\n", 0, ((double *)&first.outputs)[0], 0, ((double *)&copy.outputs)[0]);
    {name}_reset(&copy);
    printf("%d %a\\n", 0, ((double *)&copy.outputs)[0]);
    return 0;
"""


def test_a_copy_goes_on_by_itself():
    still, first, copy, anew = there("stick-slip", "rk4", ALONE.format(name="stick_slip"))[:, 1]
    assert still == anew == 0.0
    assert first.hex() == copy.hex() != (0.0).hex()


def test_what_is_no_number_and_the_end_of_what_is_known_are_told():
    (first,) = there("oscillator", "rk4", "model.inputs.push_S = 0.0 / 0.0;", 1)
    assert first[:2].tolist() == [6, 0]  # BAD_VALUE, at the start
    beyond = there("servo", "rk4", steps=1010)
    assert not beyond[:1000, 0].any()
    assert set(beyond[-5:, 0]) == {5}  # NOT_KNOWN
    assert np.ptp(beyond[-5:, 1]) == 0.0


def test_what_cannot_be_decided_halts_a_run_where_it_happens():
    turns = "".join(f"for (int k = 0; k < 3; k++) ring_step(&model, 1e-6);"
                    f"model.inputs.switch_vT = {value};" for value in (1.0, 0.0))
    theirs = there("interrupted", "rk4", turns, 4, inputs=("switch.vT",))
    assert set(theirs[:, 0]) == {4}  # HALTED
    assert_allclose(theirs[:, 1], 6e-6, rtol=1e-12)


def test_modes_that_no_run_has_met_are_found_in_the_library():
    # here the switch stays open; there it closes, which the diode has to follow, and opens again
    turns = [(3, 1.0), (7, 0.0), (5, 1.0)]
    text = "".join(f"for (int k = 0; k < {count}; k++) buck_converter_step(&model, 1e-6);"
                   f"model.inputs.switch_vT = {value};" for count, value in turns)
    theirs = there("free", "rk4", text, 10, inputs=("switch.vT",))
    run = MODELS["free"][0]().stepper(inputs={"switch.vT": 0}, outputs=["coil.i", "diode.i"],
                                      method="rk4", step="1 us", duration="41 us")
    for count, value in turns:
        for _ in range(count):
            run.advance("1 us")
        run.set("switch.vT", value)
    for row in theirs:
        run.advance("1 us")
        assert row[0] == 0
        assert_allclose(row[2:], run.numbers(), rtol=1e-12, atol=1e-12)


# -- what is written -----------------------------------------------------------------------------
def test_a_header_tells_units_bounds_and_what_is_called():
    folder, name = exported("oscillator", "rk4")
    text = (folder / f"{name}.h").read_text()
    assert "double push_S; /* N, push.S" in text
    assert "double mass_v; /* m/s, mass.v" in text
    assert "#define OSCILLATOR_STEP 0.001" in text
    called = re.search(r"calls: ([^.]*)\.", text.replace("\n *", ""))[1].split(", ")
    assert called
    assert set(called) <= {"fabs", "floor", "fmax", "fmin", "memcpy", "memmove", "memset", "pow"}


def test_the_example_is_built_and_prints_a_table(tmp_path):
    cmake = shutil.which("cmake") or pytest.skip("cmake builds the example")
    folder, name = exported("oscillator", "rk4")
    for command in ([cmake, "-S", folder, "-B", tmp_path], [cmake, "--build", tmp_path]):
        subprocess.run(command, check=True, capture_output=True)
    done = subprocess.run([tmp_path / f"{name}_example"], capture_output=True, text=True)
    rows = done.stdout.splitlines()
    assert rows[:2] == ["time,mass.v,spring.f", "0,0,0"]
    assert len(rows) == 1002


@pytest.mark.slow  # the first time, libraries of the other machine are compiled
@pytest.mark.parametrize(("target", "compiler", "emulator"), [
    ("thumbv7em-none-eabihf", "arm-linux-musleabihf", "qemu-arm"),
    ("aarch64-linux-gnu", "aarch64-linux-musl", "qemu-aarch64")])
def test_other_processors_do_the_same_in_an_emulator(target, compiler, emulator):
    command, runner = emulated(compiler, emulator)
    theirs = there("stick-slip", "rk4", target=target, compiler=[*command, "-static"],
                   runner=runner)
    assert np.array_equal(theirs, there("stick-slip", "rk4"))


def emulated(compiler, emulator):
    """Commands that compile for another machine, and run what is compiled."""
    pytest.importorskip("ziglang", reason="it compiles for other machines")
    runner = shutil.which(emulator) or pytest.skip(f"{emulator} runs what is for {compiler}")
    return [sys.executable, "-m", "ziglang", "cc", "-target", compiler], [runner]


FMU = """
#ifdef _WIN32
#include <windows.h>
#define dlopen(file, how) LoadLibraryA(file)
#define dlsym (void *)GetProcAddress
#else
#include <dlfcn.h>
#endif
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#define OF(name, ...) ((int (*)(void *, __VA_ARGS__))dlsym(library, "fmi3" #name))
int main(void) {{
    void *library = dlopen("{library}", RTLD_NOW);
    void *(*made)(const char *, const char *, const char *, bool, bool, bool, bool,
                  const uint32_t *, size_t, void *, void *, void *) =
        dlsym(library, "fmi3InstantiateCoSimulation");
    void *one = made("one", "{token}", 0, 0, 0, 0, 0, 0, 0, 0, 0, 0);
    uint32_t outputs[] = {{{outputs}}};
    enum {{ COUNT = sizeof outputs / sizeof *outputs }};
    double values[COUNT], reached;
    bool event, ends, early;
    OF(EnterInitializationMode, bool, double, double, bool, double)(one, 0, 0.0, 0.0, 0, 0.0);
    ((int (*)(void *))dlsym(library, "fmi3ExitInitializationMode"))(one);
    for (int k = 0; k < 200; k++) {{
        int status = OF(DoStep, double, double, bool, bool *, bool *, bool *, double *)(
            one, k * 0.01, 0.01, 1, &event, &ends, &early, &reached);
        OF(GetFloat64, const uint32_t *, size_t, double *, size_t)(
            one, outputs, COUNT, values, COUNT);
        printf("%d %a", status, reached);
        for (int j = 0; j < COUNT; j++) printf(" %a", values[j]);
        puts("");
    }}
    return 0;
}}
"""


@pytest.mark.slow  # libraries of other machines are compiled
@pytest.mark.parametrize(("place", "compiler", "emulator"), [
    ("aarch64-linux", "aarch64-linux-gnu", "qemu-aarch64"),
    ("x86_64-windows", "x86_64-windows-gnu", "wine")])
def test_an_fmu_for_another_platform_does_the_same_in_an_emulator(tmp_path, place, compiler,
                                                                  emulator):
    reader = pytest.importorskip("fmpy", reason="FMPy reads what an FMU says of itself")
    command, runner = emulated(compiler, emulator)
    root = Path("/usr/aarch64-linux-gnu")
    if platform.machine() != "x86_64" or emulator != "wine" and not root.exists():
        pytest.skip("here is no x86-64 with libc6-arm64-cross, the library of C that is loaded")
    outputs, places = ["block.v", "friction.f", "spring.f"], [place, "x86_64-linux"]
    file = stick_slip().export_fmu(tmp_path / "a.fmu", outputs=outputs, platforms=places,
                                   duration="2 s", rtol=1e-8)
    reader.extract(str(file), str(tmp_path))
    told = reader.read_model_description(str(file))
    numbers = {one.name: one.valueReference for one in told.modelVariables}
    ways = {place: (command, runner if emulator == "wine" else [*runner, "-L", root], *(
        () if emulator == "wine" else ("-ldl",))), "x86_64-linux": ((GCC,), (), "-ldl")}
    theirs, mine = (printed(FMU.format(
        library=next((tmp_path / "binaries" / where).iterdir()), token=told.instantiationToken,
        outputs=", ".join(str(numbers[path]) for path in outputs)), *ways[where])
        for where in places)
    assert not theirs[:, 0].any() and np.ptp(theirs, axis=0)[1:].all()
    assert np.array_equal(theirs, mine)


# -- what cannot leave ---------------------------------------------------------------------------
class Struck(Mass):
    """A mass that is given a speed."""

    def equations(self):
        yield from super().equations()
        yield when(now > quantity("0.5 s"), {self.v: quantity("1 m/s")})


def test_a_run_that_does_not_get_to_its_end_is_refused_with_the_instant(tmp_path):
    # what a part that sticks becomes with another speed Python decides on
    model = Model("floor")
    wire(model, "mass.M friction.R", "friction.C floor.V", floor=Reference(), mass=Struck(),
         friction=TranslationalFriction(law="coulomb", coulomb_force="1 N",
                                        breakaway_force="1.2 N"))
    with pytest.raises(ParameterError, match=r"floor\.export_c\(\).*at t = 0\.5 s .*about mass: "):
        model.export_c(tmp_path / "made", outputs=["mass.v"], step="10 ms", duration="1 s")
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize(("error", "given"), [
    (UnknownName, {"outputs": ["mass.w"]}), (UnknownName, {"target": "amiga"}),
    (UnknownName, {"outputs": "mass.w"}), (ParameterError, {"method": "dopri5"}),
    (ParameterError, {"method": "moreau_jean"}), (ParameterError, {"processor": "amiga"}),
    (ParameterError, {"most_events": 0})])
def test_what_is_wrong_is_said(error, given, tmp_path):
    with pytest.raises(error):
        oscillator().export_c(tmp_path / "made", **{"outputs": ["mass.v"], "step": "1 ms"} | given)
    assert not list(tmp_path.iterdir())
