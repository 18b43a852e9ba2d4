"""Constraints of index three: which states are integrated, and motions of closed loops."""

import numpy as np
import pytest
from benches import wired
from benches.parts import Pendulum, alone, final
from numpy.testing import assert_allclose
from scipy.integrate import solve_ivp

from blocks import Component, Parameter, Target, Variable, cos, der, quantity, sin
from blocks.system import Problem
from blocks.system.failure import AlgebraicFailure
from blocks.system.state_selection import _exchanged
from library.planar import Body, Gravity, Ground, Prismatic, Revolute, RigidOffset


def pendulum(given_up=None, preferred=None):
    """A problem of a bob on a rod, and what it integrates at an angle from below."""
    system = alone(Pendulum()).compile()
    problem = Problem(system, system.parameters(), np.ones(system.nx), np.ones(system.nz))
    names = [system.class_names[int(c)].split(".")[-1] for c in system.tape.reduced.states]
    if preferred is not None:
        problem.preferred = np.isin(names, preferred)
    if given_up is not None:
        problem.given_up = np.array([given_up.get(name, 0) for name in names])

    def integrated(angle):
        x, y = np.sin(angle), -np.cos(angle)
        for name, value in (("x", x), ("y", y), ("vx", -y), ("vy", x)):
            problem.x[names.index(name)] = value
        problem.choose_states(0.0)
        return {names[i] for i in problem.free}

    return problem, names, integrated


def test_what_moves_most_is_integrated_and_kept_while_no_other_is_worth_it():
    problem, names, integrated = pendulum()
    assert integrated(0.1) == {"x", "vx"}
    assert integrated(1.0) == {"x", "vx"}  # y moves 1.6 times as fast
    assert integrated(1.3) == {"y", "vy"}
    assert problem.given_up[names.index("vx")] == 1
    assert integrated(0.9) == {"y", "vy"}


def test_a_preferred_state_is_integrated_first():
    assert pendulum()[2](1.2) == {"y", "vy"}
    _, _, integrated = pendulum(preferred=["x", "vx"])
    assert integrated(1.2) == {"x", "vx"}  # y moves 2.6 times as fast
    assert integrated(1.3) == {"y", "vy"}


def test_of_those_that_are_worth_it_the_one_given_up_least_often_is_taken():
    """Three coordinates of one motion: the one integrated hardly moves, both others do."""
    block = np.array([[1.0, 0.2, 0.0], [1.0, 0.0, 0.25]])  # moves by -1, 5 and 4
    assert set(_exchanged(block, np.array([1, 2]), np.zeros(3, dtype=int))) == {0, 2}
    assert set(_exchanged(block, np.array([1, 2]), np.array([0, 1, 0]))) == {0, 1}


def test_a_choice_that_depends_is_made_anew():
    assert _exchanged(np.array([[0.0, 1.0]]), np.array([0]), np.zeros(2, dtype=int)) is None


def test_the_crank_of_a_piston_is_found_out_to_be_good_all_the_way_round():
    pytest.importorskip("llvmlite")
    model = wired("piston", "weightless.P ground.P bearing.B bore.B",
                  "bearing.F crank.P wheel.P pin.B", "pin.F big.B", "big.F rod.P end.B",
                  "end.F small.B", "small.F piston.P bore.F",
                  ground=Ground(), weightless=Gravity(strength="0 m/s^2"),
                  crank=Body(mass="1 kg", inertia="1 g*m^2"),
                  wheel=Body(mass="1 kg", inertia="0.5 kg*m^2", w="50 rad/s"),
                  pin=RigidOffset(dx="30 mm", dy="40 mm"),
                  rod=Body(mass="0.4 kg", inertia="1 g*m^2", center_x="75 mm", phi="-0.27 rad"),
                  end=RigidOffset(dx="150 mm"), piston=Body(mass="0.3 kg", inertia="1 g*m^2"),
                  bearing=Revolute(), big=Revolute(), small=Revolute(), bore=Prismatic())
    run = model.simulate("1 s", method="dopri5", rtol=1e-6)
    assert abs(run["bearing.phi"].final.m) > 6 * np.pi
    assert run.statistics["steps"] < 400  # where states change all the time, three times as many
    moving = run["wheel.w"].to("rad/s").m
    assert_allclose(moving.min(), moving.max(), rtol=0.01)


# -- closed loops -----------------------------------------------------------------------------
G = 9.81


def swung(duration, method="auto", rtol=1e-9, **targets):
    given = targets or {"x": "1 m", "y": Target("0 m", "low"), "vy": "-6 m/s"}
    return alone(Pendulum(**given)).simulate(duration, method=method, rtol=rtol)


@pytest.mark.parametrize(("method", "tolerance"), [("DOP853", 1e-7), ("Radau", 1e-7)])
def test_the_angle_is_that_of_the_equation_in_the_angle(method, tolerance):
    run = swung("1 s", method)
    angle = solve_ivp(lambda t, s: [s[1], -G * np.sin(s[0])], (0, 1), [np.pi / 2, -6.0],
                      method="DOP853", rtol=1e-13, atol=1e-13).y[:, -1]
    assert final(run, "c.x") == pytest.approx(np.sin(angle[0]), abs=tolerance)
    assert final(run, "c.y") == pytest.approx(-np.cos(angle[0]), abs=tolerance)
    pull = G * np.cos(angle[0]) + angle[1] ** 2
    assert final(run, "c.tension") == pytest.approx(pull, rel=10 * tolerance)


def test_values_that_cannot_be_solved_for_are_no_numbers(monkeypatch):
    def fails(self, t):
        raise AlgebraicFailure(t, ["c.y"], "Newton's method does not converge")

    run = swung("0.1 s", "Radau")
    monkeypatch.setattr(Problem, "update", fails)
    assert np.isnan(run["c.y"].magnitude).all()


def test_a_pendulum_is_structurally_of_index_three():
    assert alone(Pendulum(x="1 m")).structure().index == 3


class SliderCrank(Component):
    """A crank turning steadily, a connecting rod, and a slider on the x axis."""

    crank, rod, speed = Parameter("0.1 m"), Parameter("0.3 m"), Parameter("10 rad/s")
    phi = Variable("rad", "0 rad", priority="high", doc="crank angle")
    psi = Variable("rad", doc="rod angle")
    x = Variable("m", doc="slider")
    v, a = Variable("m/s"), Variable("m/s^2")

    def equations(self):
        yield der(self.phi) == self.speed
        yield self.x == self.crank * cos(self.phi) + self.rod * cos(self.psi)
        yield self.crank * sin(self.phi) == self.rod * sin(self.psi)
        yield self.v == der(self.x)
        yield self.a == der(self.v)


def test_a_slider_crank_moves_as_its_loop_equations_say():
    run = alone(SliderCrank()).simulate("1 s", rtol=1e-9)
    phi = 10 * run.time.to("s").magnitude
    r, l, w = 0.1, 0.3, 10.0
    root = np.sqrt(l**2 - (r * np.sin(phi)) ** 2)
    x = r * np.cos(phi) + root
    v = -w * r * np.sin(phi) - w * r**2 * np.sin(phi) * np.cos(phi) / root
    assert_allclose(run["c.x"].magnitude, x, atol=1e-8)
    assert_allclose(run["c.v"].magnitude, v, atol=1e-7)
    bend = np.cos(2 * phi) / root + (r * np.sin(phi) * np.cos(phi)) ** 2 / root**3
    a = -(w**2) * (r * np.cos(phi) + r**2 * bend)
    assert_allclose(run["c.a"].magnitude, a, atol=1e-6)


class FreeSliderCrank(Component):
    """The same mechanism let go: a heavy slider drives a crank with inertia."""

    phi = Variable("rad", "1 rad", priority="high")
    w = Variable("rad/s", "3 rad/s", priority="high")
    psi, x, v = Variable("rad", "0.3 rad", priority="none"), Variable("m"), Variable("m/s")
    torque = Variable("N*m", doc="of the joint on the crank")
    force = Variable("N", doc="of the joint on the slider")
    side = Variable("N", doc="in the other equation of the loop")
    energy = Variable("J")

    def equations(self):
        r, l = quantity("0.1 m"), quantity("0.3 m")
        inertia, mass = quantity("0.02 kg*m^2"), quantity("1 kg")
        yield der(self.phi) == self.w
        yield der(self.x) == self.v
        # loop: x = r cos phi + l cos psi, 0 = r sin phi - l sin psi, multipliers force and side
        yield self.x == r * cos(self.phi) + l * cos(self.psi)
        yield r * sin(self.phi) == l * sin(self.psi)
        yield mass * der(self.v) == self.force
        yield inertia * der(self.w) == self.torque
        yield self.torque == self.force * r * sin(self.phi) + self.side * r * cos(self.phi)
        yield self.force * sin(self.psi) == self.side * cos(self.psi)
        yield self.energy == (mass * self.v**2 + inertia * self.w**2) / 2


def test_a_free_slider_crank_keeps_its_energy_and_its_loop_closed():
    run = alone(FreeSliderCrank()).simulate("3 s", method="DOP853", rtol=1e-9)
    phi, psi, x = (run[f"c.{n}"].magnitude for n in ("phi", "psi", "x"))
    assert np.max(phi) > 4 * np.pi / 2
    assert_allclose(0.1 * np.cos(phi) + 0.3 * np.cos(psi), x, atol=1e-9)
    assert_allclose(0.1 * np.sin(phi), 0.3 * np.sin(psi), atol=1e-9)
    energy = run["c.energy"].magnitude
    assert np.ptp(energy) <= 1e-6 * energy[0]
