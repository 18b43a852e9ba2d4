"""Models and compiled systems go through pickle and come out the same."""

import copy
import pickle
import subprocess
import sys
from types import ModuleType

import numpy as np
import pytest
from benches import wire, wired
from numpy.testing import assert_array_equal

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
