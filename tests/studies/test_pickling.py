"""Models go through pickle and come out the same; Ctrl-C ends a study at any instant."""

import _thread
import copy
import os
import pickle
import signal
import subprocess
import sys
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from types import ModuleType

import numpy as np
import pytest
from benches import wire, wired
from numpy.testing import assert_allclose, assert_array_equal

import blocks
from blocks import Model, Parameter, ParameterError, UnitError, UnknownName, quantity
from library.signal import Constant, Sum
from library.translational import Damper, Mass, Reference, Spring

from . import bench


def chain(n: int = 6) -> Model:
    model = wired("chain", masses=Mass(mass="1 kg", count=n,
                                       v=blocks.Target("1 m/s", nominal="1 mm/s")))
    model.masses.mass = quantity(np.linspace(1, 2, n), "kg")
    wire(model, "masses[:-1].M springs.R", "springs.C masses[1:].M", "masses[0].M damper.R",
         "damper.C wall.V",
         springs=Spring(stiffness="10 N/m", count=n - 1), wall=Reference(), damper=Damper())
    model.nominal_values("1 kN")
    return model


def shaker() -> Model:
    return wired("shaker", shaker=bench.Shaker(weight="5 kg"))


MODELS = [bench.coasting, bench.stick_slip, bench.explosion, chain, shaker]


def pickled(model):
    return pickle.loads(pickle.dumps(model))


@pytest.mark.parametrize(("made", "way", "compiled"), [
    *((made, pickled, k % 2 == 0) for k, made in enumerate(MODELS)),
    (chain, copy.deepcopy, True), (shaker, copy.deepcopy, False),
    (bench.stick_slip, copy.copy, True), (chain, copy.copy, False)])
def test_a_copied_model_runs_exactly_like_the_first(made, way, compiled):
    model = made()
    if compiled:
        model.check()
        model.compile()
    other = way(model)
    one, two = model.simulate("0.3 s"), other.simulate("0.3 s")
    assert list(one) == list(two)
    for path in one:
        assert_array_equal(one[path].m, two[path].m)
    assert other.compile().network.root is other


@pytest.mark.parametrize("way", [pickled, copy.copy])
def test_a_copy_is_independent(way):
    model = bench.coasting()
    other = way(model)
    other.mass.mass = "4 kg"
    other.extra = Mass()
    del other.damper
    assert model.mass.mass.m == 2
    assert not hasattr(model, "extra")
    assert other.mass.path == "mass"
    slowed = 5 * np.exp(-3 * 0.1 / 2)  # 2 kg by 3 N·s/m, from 5 m/s
    assert model.simulate("0.1 s", rtol=1e-9)["mass.v"].final.m == pytest.approx(slowed, rel=1e-7)


def test_a_part_is_pickled_without_its_surroundings():
    model = bench.coasting()
    part = pickle.loads(pickle.dumps(model.damper))
    assert part.damping.m == 3
    part.damping = "4 N*s/m"
    model.second = part
    assert model.second.damping.m == 4
    assert model.damper.damping.m == 3


def test_numbered_signals_and_open_units_survive():
    model = wired("sums", "one.y sum.u1", "two.y sum.u2",
                  one=Constant(value="2 m"), two=Constant(value="3 m"),
                  sum=Sum(unit="m", signs="+-"))
    assert pickle.loads(pickle.dumps(model)).simulate("1 s")["sum.y"].final == quantity("-1 m")


def test_a_compiled_system_is_assembled_again_where_it_is_loaded():
    model = bench.coasting()
    system = pickle.loads(pickle.dumps(model.compile()))
    assert_array_equal(system.parameters(), model.compile().parameters())
    assert system.network.root.simulate("1 s")["mass.v"].final.m == (
        model.simulate("1 s")["mass.v"].final.m)  # fmt: skip


def test_an_outdated_system_is_refused():
    model = bench.coasting()
    old = model.compile()
    wire(model, "more.M mass.M", more=Mass())
    model.compile()
    with pytest.raises(blocks.StructureError, match="older than the structure of its model"):
        pickle.dumps(old)


def test_a_function_of_time_of_a_module_is_pickled_by_name():
    model = bench.stick_slip()
    model.pull.velocity = bench.ramp
    assert pickle.loads(pickle.dumps(model)).pull.velocity is bench.ramp


def test_without_cloudpickle_a_lambda_is_refused_by_component_and_parameter(monkeypatch):
    monkeypatch.setitem(sys.modules, "cloudpickle", None)
    model = bench.stick_slip()
    model.pull.velocity = lambda t: quantity("0.1 m/s**2") * t
    with pytest.raises(ParameterError) as caught:
        pickle.dumps(model)
    assert str(caught.value) == (
        "pull.velocity: is a lambda or inner function, which Python's pickle cannot store. Define "
        "the function at the top of a module and give it by name, or install cloudpickle.")
    copied = copy.deepcopy(model)  # nothing needs to be stored for a copy
    assert copied.simulate("0.1 s")["block.v"].final == model.simulate("0.1 s")["block.v"].final


def test_with_cloudpickle_a_lambda_is_carried_along():
    pytest.importorskip("cloudpickle")
    model = bench.stick_slip()
    model.pull.velocity = lambda t: quantity("0.1 m/s**2") * t
    other = pickle.loads(pickle.dumps(model))
    assert_array_equal(other.simulate("0.1 s")["pull.R.v"].m, model.simulate("0.1 s")["pull.R.v"].m)


SCRIPT = """
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from blocks import Component, Model, Parameter, Variable, der

class Decay(Component):
    rate = Parameter("1 1/s")
    x = Variable("1", "1", priority="high")
    def equations(self):
        yield der(self.x) == -self.rate * self.x

def half(result):
    return result["cell.x"].final / 2

if __name__ == "__main__":
    model = Model("decay")
    model.cell = Decay()
    model.simulate("1 s")
    with ProcessPoolExecutor(1, mp_context=get_context({context!r})) as pool:
        data = model.sweep({{"cell.rate": ["1 1/s", "2 1/s"]}}, "1 s", rtol=1e-8, executor=pool,
                           outputs=["final(cell.x)", half])
    print(*data["final(cell.x)"].values, *data["half"].values)
"""


@pytest.mark.parametrize("context", [pytest.param("fork", marks=pytest.mark.slow), "spawn"])
def test_components_of_a_script_run_in_worker_processes(context, tmp_path):
    file = tmp_path / "script.py"
    file.write_text(SCRIPT.format(context=context))
    done = subprocess.run([sys.executable, str(file)], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    exact = np.exp([-1.0, -2.0])
    np.testing.assert_allclose(np.array(done.stdout.split(), dtype=float), [*exact, *exact / 2],
                               rtol=1e-6)  # fmt: skip


def test_declarations_are_not_stored():
    """A pickled model holds values; classes are found by name."""
    assert b"Parameter" not in pickle.dumps(bench.stick_slip())
    assert isinstance(type(bench.stick_slip().block).mass, Parameter)


# -- classes that have changed since -------------------------------------------------------------
BRAKE = """
from blocks import Component, Option, Parameter, Variable, der
from library.translational import TwoPort

class Brake(TwoPort):
    damping = Parameter("100 N*s/m")
    wear = Variable("mm", priority="high")
    make = Option("drum", ("drum", "disc"))

    def equations(self):
        yield self.f == self.damping * self.v
        yield der(self.wear) == abs(self.v)
"""


def brakes(monkeypatch, *, was="", now=""):
    """A model that was pickled with a class, as read with another text in that class."""
    module = ModuleType("brakes")
    monkeypatch.setitem(sys.modules, "brakes", module)
    exec(BRAKE, vars(module))
    model = wired("braked", "block.M brake.R",
                  block=Mass(), brake=module.Brake(damping="500 N*s/m", make="disc", wear="2 mm"))
    stored = pickle.dumps(model)
    assert was in BRAKE
    exec(BRAKE.replace(was, now), vars(module))
    return pickle.loads(stored)


@pytest.mark.parametrize(("was", "now", "kind", "said"), [
    ("damping", "strength", UnknownName, "brake: there is no 'damping' among its parameters"),
    ("wear", "worn", UnknownName, "brake: there is no 'wear' among its variables"),
    ('"100 N*s/m"', '"100 N/m"', UnitError, r"brake\.damping: takes N/m .* given 500\.0 N\*s/m"),
    ('"mm"', '"kg"', UnitError, r"brake\.wear: takes kg .* given 2\.0 mm"),
    ('"100 N*s/m"', '"1 N*s/m", maximum="9 N*s/m"', ParameterError,
     r"brake\.damping: must be at most 9 N\*s/m, but is 500\.0 N\*s/m"),
    ('("drum", "disc")', '("drum", "cone")', UnknownName,
     "brake.make: there is no 'disc' among its choices"),
    ('Parameter("100 N*s/m")', 'Option(True)', ParameterError,
     r"brake\.damping: is a switch, but was given 500\.0"),
    ('Option("drum", ("drum", "disc"))', 'Parameter("1 m")', UnitError, r"brake\.make: .*'disc'"),
    ("TwoPort)", "Component)", UnknownName, "brake: there is no 'R' among its ports")])  # fmt: skip
def test_what_a_changed_class_does_not_take_is_refused_by_name(was, now, kind, said, monkeypatch):
    with pytest.raises(kind, match=said):
        brakes(monkeypatch, was=was, now=now)


def test_what_a_changed_class_takes_keeps_its_value(monkeypatch):
    brake = brakes(monkeypatch, was='"100 N*s/m"', now='"0.3 kN*s/m", minimum="1 N*s/m"').brake
    assert brake.damping.to("N*s/m").m == pytest.approx(500.0, rel=1e-12)
    assert brake.wear.initial.to("mm").m == pytest.approx(2.0, rel=1e-12)
    assert brake.make == "disc"


# -- Ctrl-C -----------------------------------------------------------------------------------
SPEEDS = quantity([1, 2, 3, 4, 5, 6], "m/s")


def interrupted_at(count):
    """Trace function that presses Ctrl-C at the count-th line executed by the executor's module."""
    seen = 0

    def line(frame, event, argument):
        nonlocal seen
        if event == "line":
            seen += 1
            if seen == count:
                signal.raise_signal(signal.SIGINT)
        return line

    def call(frame, event, argument):
        within = frame.f_globals.get("__name__", "").startswith("concurrent.futures")
        return line if within else None

    return call


def test_ctrl_c_inside_an_executor_leaves_it_in_order():
    model = bench.coasting()
    statuses = set()
    for count in range(1, 400, 23):
        pool = ThreadPoolExecutor(2)
        before = sys.gettrace()
        sys.settrace(interrupted_at(count))
        try:
            with pytest.warns(UserWarning, match="of 6 runs were made"):
                data = model.sweep({"mass.v": SPEEDS}, "10 ms", outputs=["final(mass.v)"],
                                   executor=pool)  # fmt: skip
        except pytest.fail.Exception:  # no line so late: nothing was interrupted
            assert (data.status == "finished").all()
            break
        finally:
            sys.settrace(before)
        statuses |= set(data.status.values)
        ending = threading.Thread(target=pool.shutdown, daemon=True)
        ending.start()
        ending.join(20)
        assert not ending.is_alive(), f"interrupted at line {count}, the executor does not end"
    assert "not run" in statuses
    assert statuses <= {"finished", "not run"}
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler


@pytest.mark.parametrize("swallowed", [True, False])
def test_an_interrupt_that_becomes_another_error_is_no_failed_run(swallowed):
    def stop(result):
        speed = result["mass.v"].initial
        if speed > quantity("2.5 m/s"):
            try:
                signal.raise_signal(signal.SIGINT)
            except KeyboardInterrupt:
                if not swallowed:
                    raise NotImplementedError("Wrong number or type of arguments") from None
        return speed

    with pytest.warns(UserWarning, match="2 of 6 runs were made"):
        data = bench.coasting().sweep({"mass.v": SPEEDS}, "1 s", outputs={"left": stop})
    assert list(data.status.values) == ["finished"] * 2 + ["not run"] * 4


PRESSED = """
import sys, warnings
warnings.simplefilter("ignore")
sys.path[:0] = [{root!r}, {tests!r}]
from blocks import quantity
from studies import bench
data = bench.coasting().sweep({{"mass.v": quantity([1, 2, 3, 4, 5, 6], "m/s")}}, "10 ms",
                              outputs=[bench.endless], executor=2)
print(*data.status.values)
"""


@pytest.mark.parametrize("send", [os.kill, os.killpg], ids=["to one process", "to all of them"])
def test_workers_do_not_outlive_the_study(send, tmp_path):
    tests = Path(__file__).resolve().parent.parent
    script = PRESSED.format(root=str(tests.parent), tests=str(tests))
    process = subprocess.Popen([sys.executable, "-c", script], start_new_session=True, text=True,
                               stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                               env={**os.environ, "SWEEP_LOG": str(tmp_path / "log")})  # fmt: skip
    while not (tmp_path / "log").exists() and process.poll() is None:
        time.sleep(0.01)
    send(process.pid, signal.SIGINT)
    printed, said = process.communicate(timeout=60)  # runs under way last a day
    assert (process.returncode, said) == (0, "")
    assert set(printed.split()) <= {"finished", "not", "run"}
    assert "not run" in printed


class Impatient:
    """Presses Ctrl-C shortly after the first runs are shown."""

    def __init__(self, *given, **more):
        self.timer = threading.Timer(0.05, _thread.interrupt_main)

    def __enter__(self):
        return lambda done: self.timer.ident or self.timer.start()

    def __exit__(self, *_):
        self.timer.join()


@pytest.mark.parametrize("workers", [None, 2])
def test_ctrl_c_ends_a_study_in_machine_code(workers, monkeypatch):
    pytest.importorskip("llvmlite")
    model = wired("oscillator", "block.M spring.R", "spring.C wall.V",
                  block=Mass(mass="1 kg"), wall=Reference(), spring=Spring(stiffness="100 N/m"))
    speeds = quantity(np.linspace(1, 2, 100_000), "m/s")
    model.sweep({"block.v": speeds[:2]}, "1 s", outputs=["final(block.v)"], method="dopri5")
    monkeypatch.setattr(sys.modules["blocks.studies.sweep"], "Progress", Impatient)
    with pytest.warns(UserWarning, match="of 100000 runs were made"):  # which would take minutes
        data = model.sweep({"block.v": speeds}, "20 s", outputs=["final(block.v)"], rtol=1e-9,
                           executor=workers, method="dopri5")  # fmt: skip
    made = data.status.values == "finished"
    assert 0 < made.sum() < 100_000
    assert_allclose(data["final(block.v)"][made], speeds.m[made] * np.cos(200), rtol=1e-5)
    assert np.isnan(data["final(block.v)"][~made]).all()
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler


@pytest.mark.filterwarnings("ignore:.*fork")
@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
def test_a_worker_does_not_wait_for_threads_it_has_not():
    """A study is assembled in one thread while another one makes its workers."""
    from blocks.studies import runner

    held, let_go = threading.Event(), threading.Event()

    def assembling():
        with runner.ASSEMBLY:
            held.set()
            let_go.wait(1.0)

    thread = threading.Thread(target=assembling)
    thread.start()
    held.wait()
    process = os.fork()
    if not process:  # in the worker
        os._exit(0 if runner.ASSEMBLY.acquire(timeout=20) else 1)
    let_go.set()
    thread.join()
    assert os.waitpid(process, 0)[1] == 0
    assert runner.ASSEMBLY.acquire(timeout=20)
    runner.ASSEMBLY.release()
