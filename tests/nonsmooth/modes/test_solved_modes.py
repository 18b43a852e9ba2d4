"""Do efforts that are solved for at every point come out as step by step, and as by hand?

The matrix of the rates moves with the states (arms of a rolling disc, a rod, a rocking box),
and friction is loaded by normal forces.
"""

from itertools import pairwise

import casadi as ca
import numpy as np
import pytest
from benches import wired
from numpy.testing import assert_allclose
from rigid_bodies import Box, Rod, wedge

from benchmarks.planar import disc
from blocks import Component, Parameter, Variable, abs_, der, dry_friction, quantity, sin
from blocks.language.lookup import jacobian
from blocks.nonsmooth.modes.choice import set_valued_laws
from blocks.nonsmooth.modes.law_functions import LawFunctions
from blocks.nonsmooth.modes.laws import SetValuedLaws
from blocks.nonsmooth.modes.solved_modes import SolvedModes


def test_derivatives_of_long_laws_of_one_sum_are_short_backward():
    """f_i = sin(sin(sin(sin(i s)))) with s = sum of k x_k: its sweeps begin with what is long."""
    n = 20
    x, k, given = ca.SX.sym("x", n), np.arange(1.0, n + 1), np.linspace(-0.1, 0.1, n)
    laws, value, slope = k * ca.dot(k, x), k * (k @ given), k
    for _ in range(4):
        laws, value, slope = ca.sin(laws), np.sin(value), np.cos(value) * slope
    length = []
    for backward in (False, True):
        function = ca.Function("derivatives", [x], [jacobian(laws, x, backward)])
        assert_allclose(np.array(function(given)), np.outer(slope, k), rtol=1e-12)
        length.append(function.n_instructions())
    assert length[1] < 0.6 * length[0]


def rolling_disc():
    return disc()


def shaken_box():
    """It rocks and falls back on its feet."""
    return wired("box on two feet",
                 box=Box(friction=0.8, static_friction=0.9, h="1.6 m", y="1.6 m",
                         push=lambda t: quantity("14 N") * sin(quantity("3 rad/s") * t)))


def landing_rod():
    return wired("rod",
                 rod=Rod(angle="50 deg", friction=0.3, static_friction=0.4, vx="1 m/s",
                         y=quantity(np.sin(np.deg2rad(50)) + 0.02, "m")))


class Servo(Component):
    """A block drags a shoe with friction S, and that force presses a brake T on the block."""

    mass, shoe = Parameter("1 kg"), Parameter("0.2 kg")
    friction = Parameter(0.4)
    push = Parameter("0 N", varying=True)
    x, y = Variable("m", "0 m", priority="high"), Variable("m", "0 m", priority="high")
    v, w = Variable("m/s", "0 m/s", priority="high"), Variable("m/s", "0 m/s", priority="high")
    S, T = Variable("N"), Variable("N")
    slip = Variable("m/s")

    def equations(self):
        yield der(self.x) == self.v
        yield der(self.y) == self.w
        yield self.mass * der(self.v) == self.push - self.S - self.T
        yield self.shoe * der(self.w) == self.S - quantity("40 N/m") * self.y
        yield self.slip == self.v - self.w
        yield dry_friction(self.S, self.slip, static="6 N", kinetic="5 N")
        limit = self.friction * abs_(self.S)  # a kink where the shoe carries nothing
        yield dry_friction(self.T, self.v, static=limit, kinetic=limit)


def shaken_servo():
    return wired("servo",
                 servo=Servo(push=lambda t: quantity("9 N") * sin(quantity("4 rad/s") * t)))


def shaken_wedge():
    """Its friction acts on its own normal force, which presses on either face."""
    return wedge(20, 0.2, lambda t: 12 * sin(4 * t), weight=2.0, v=0.1)


MODELS = {
    "disc": (rolling_disc, 6, ["disc.x", "disc.w", "touch.N", "touch.T"]),
    "box": (shaken_box, 1.2, ["box.x", "box.phi", "box.N2", "box.T1"]),
    "rod": (landing_rod, 0.6, ["rod.x", "rod.angle", "rod.N", "rod.T"]),
    "servo": (shaken_servo, 3, ["servo.v", "servo.y", "servo.S", "servo.T"]),
    "wedge": (shaken_wedge, 3, ["driver.v", "wedge.N", "wedge.T"]),
}


def told(run):
    """Times and events; how many last bounces there are is a matter of rounding."""
    events = list(run.events)
    bounces = {e for e, after in pairwise(events)
               if e.description == "rebounds" and after.time - e.time < 1e-7}  # fmt: skip
    # an impulse of rounding makes a foot that lets go one that rebounds
    return ([e.time for e in events if e not in bounces],
            [e.description.replace("rebounds", "opens") for e in events if e not in bounces])


def same(one, other, paths, end, atol):
    (times, words), (times_too, words_too) = told(one), told(other)
    assert len(words) >= 2
    assert words == words_too
    assert_allclose(times, times_too, rtol=0, atol=atol)
    t = np.linspace(0, end, 41)[:-1]
    t = quantity(t[np.abs(t[:, None] - times).min(axis=1) > 1e-3], "s")
    for path in paths:
        a, b = (run[path].at(t).m for run in (one, other))
        assert_allclose(a, b, atol=100 * atol * max(1.0, np.abs(b).max()), err_msg=path)


@pytest.mark.parametrize("name", MODELS)
def test_one_solve_gives_what_the_general_way_gives(name, monkeypatch):
    build, end, paths = MODELS[name]
    model = build()
    assert isinstance(set_valued_laws(model.compile()).held_modes, SolvedModes)
    fast = model.simulate(f"{end} s", rtol=1e-9, method="DOP853")
    monkeypatch.setattr(LawFunctions, "_held_modes", lambda self, laws: None)
    slow = build().simulate(f"{end} s", rtol=1e-9, method="DOP853")
    same(fast, slow, paths, end, 1e-7)


@pytest.mark.parametrize("name", MODELS)
def test_machine_code_gives_what_the_general_way_gives(name, monkeypatch):
    pytest.importorskip("llvmlite")
    build, end, paths = MODELS[name]
    fast = build().simulate(f"{end} s", rtol=1e-10, method="dopri5")
    monkeypatch.setattr(LawFunctions, "_held_modes", lambda self, laws: None)
    slow = build().simulate(f"{end} s", rtol=1e-9, method="DOP853")
    same(fast, slow, paths, end, 1e-7)
    assert "stretches in Python" not in fast.statistics


def test_closed_contacts_do_not_drift_apart_in_machine_code():
    pytest.importorskip("llvmlite")
    run = disc().simulate("16 s", method="dopri5", rtol=1e-9)
    assert run.statistics["steps"] > 1000
    t = quantity(np.linspace(0, 16, 2000), "s")
    x, y = (run[f"disc.{path}"].at(t).m for path in ("x", "y"))
    assert np.abs(np.hypot(x, y) - 0.75).max() < 0.25e-9


def test_machine_code_leaves_to_python_what_comes_near_to_a_jam(monkeypatch):
    pytest.importorskip("llvmlite")
    build, end, paths = MODELS["rod"]
    plain = build().simulate(f"{end} s", rtol=1e-9, method="dopri5")
    # of the value at the start of a stretch
    monkeypatch.setattr("blocks.native.solved_modes.FAR", 0.999)
    watched = build().simulate(f"{end} s", rtol=1e-9, method="dopri5")
    assert len(watched.recording.episodes) > len(plain.recording.episodes) + 2
    same(watched, plain, paths, end, 1e-7)


@pytest.mark.parametrize("name", MODELS)
def test_slopes_in_machine_code_are_those_of_the_general_way(name, monkeypatch):
    pytest.importorskip("llvmlite")
    from blocks.machine.signatures import run_code
    from blocks.native.equations import equations_of

    problem = MODELS[name][0]().simulate("1 ms").recording.problem
    laws, rng, compared = problem.laws, np.random.default_rng(0), 0
    code = equations_of(problem.system, problem.p, laws)
    monkeypatch.setattr(LawFunctions, "_held_modes", lambda self, laws: None)
    general = SetValuedLaws(LawFunctions.of(problem.system))
    assert general.held_modes is None
    middle, slope = problem.x.copy(), np.zeros(problem.system.nx)
    for t in np.linspace(0, 1, 40):
        problem.x[:] = middle + rng.normal(0, 0.2, middle.size)
        laws.modes = np.where(laws.elements.contact, -1, rng.choice([-1, 1], laws.size))
        laws.modes[rng.random(laws.size) < 0.6] = 0
        if not laws.runs_compiled(problem, t):
            continue
        run_code(code.slope, np.array([t]), problem.x, problem.p, code.constants(problem, t), slope)
        problem.laws, general.modes = general, laws.modes
        problem.u[:] = 0.0
        expected = problem.slope(t, problem.start_vector()) * problem.scale
        problem.laws = laws
        assert_allclose(slope, expected, atol=1e-9 * np.abs(expected).max())
        compared += 1
    assert compared >= 10
