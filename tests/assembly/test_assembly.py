"""From a network to the system that is integrated: every structure that mechanics offers."""

import numpy as np
import pytest
from benches import wire, wired
from benches.parts import alone, final
from numpy.testing import assert_allclose
from scipy.integrate import solve_ivp
from scipy.optimize import brentq, fsolve

import blocks
import library.translational as tr
from blocks import Component, Parameter, Port, Target, Variable, der, quantity, sin, time
from library.signal import Sine, ZeroOrderHold

TIGHT = {"rtol": 1e-10}
PER_SECOND = quantity("1 1/s")


# -- rigid and massless --------------------------------------------------------------------


class Kilogram(Component):
    """A body whose force is its acceleration, as numbers."""

    M = Port(tr.translational)
    v = Variable("m/s", priority="high")

    def equations(self):
        yield self.v == self.M.v
        yield self.M.f == quantity("1 kg") * der(self.v)


@pytest.mark.parametrize(("pushed", "velocity"), [(False, 3.0), (True, 3.0 + 5.0 / 2)])
def test_joined_bodies_of_unit_mass_are_not_taken_for_one_equation(pushed, velocity):
    model = wired("kilograms", "a.M b.M", a=Kilogram(v="3 m/s"), b=Kilogram())
    if pushed:
        wire(model, "push.R a.M", "push.C ground.V",
             push=tr.ForceSource(force="5 N"), ground=tr.Reference())
    assert final(model.simulate("1 s", **TIGHT), "b.v") == pytest.approx(velocity, rel=1e-9)


@pytest.mark.parametrize("rod", [False, True])
def test_two_rigidly_joined_masses_move_as_one(rod):
    model = wired("joined", "push.R a.M", "push.C ground.V",
                  a=tr.Mass(mass="1 kg", v="2 m/s"), b=tr.Mass(mass="3 kg"),
                  push=tr.ForceSource(force="8 N"), ground=tr.Reference())
    if rod:
        wire(model, "a.M rod.R", "rod.C b.M", rod=tr.Rod())
    else:
        model.connect(model.a.M, model.b.M)
    run = model.simulate("1 s", **TIGHT)
    assert model.structure().states == 1
    assert final(run, "a.v") == final(run, "b.v") == pytest.approx(4.0, rel=1e-9)
    assert final(run, "a.f") == pytest.approx(2.0)
    assert final(run, "b.f") == pytest.approx(6.0)
    if rod:
        assert final(run, "rod.f") == pytest.approx(6.0)


def test_a_spring_and_a_damper_in_series_need_no_mass_between_them():
    # Maxwell element held at both ends: k x = d v_d, v_d = -x'
    model = wired("maxwell", "s.C d.R", "s.R d.C ground.V",
                  s=tr.Spring(stiffness="10 N/m", x="1 m"), d=tr.Damper(damping="5 N*s/m"),
                  ground=tr.Reference())
    run = model.simulate("1 s", **TIGHT)
    assert final(run, "s.x") == pytest.approx(np.exp(-2), rel=1e-8)
    assert final(run, "d.f") == pytest.approx(10 * np.exp(-2), rel=1e-8)


def test_a_mass_on_a_prescribed_path_takes_the_force_that_newton_asks_for():
    model = wired("driven", "body.M drive.R damper.R", "drive.C damper.C ground.V",
                  body=tr.Mass(mass="2 kg"), damper=tr.Damper(damping="4 N*s/m"),
                  ground=tr.Reference(),
                  drive=tr.PositionSource(
                      position=lambda t: quantity("1 m") * sin(quantity("3 rad/s") * t)))
    run = model.simulate("2 s")
    t = run.time.to("s").magnitude
    assert_allclose(run["drive.f"].to("N").magnitude, 18 * np.sin(3 * t) - 12 * np.cos(3 * t),
                    atol=1e-10)
    assert (model.structure().states, model.structure().index) == (0, 3)


# -- constraints written by users -------------------------------------------------------------


class Lever(Component):
    """Massless lever about a fixed pivot: v_A / a = -v_B / b, torques balance."""

    A, B = Port(tr.translational), Port(tr.translational)
    a, b = Parameter("1 m", above=0), Parameter("2 m", above=0)

    def equations(self):
        yield self.A.v * self.b == -self.B.v * self.a
        yield self.A.f * self.a == self.B.f * self.b


def test_a_lever_passes_power_on_and_transforms_mass():
    model = wired("lever", "push.R light.M lever.A", "heavy.M lever.B", "push.C ground.V",
                  light=tr.Mass(mass="1 kg"), heavy=tr.Mass(mass="3 kg"),
                  lever=Lever(a="1 m", b="2 m"), push=tr.ForceSource(force="26 N"),
                  ground=tr.Reference())
    run = model.simulate("1 s", **TIGHT)
    # v_B = -2 v_A: seen from A the heavy mass is 3 · 4 kg
    assert final(run, "light.v") == pytest.approx(26 / 13, rel=1e-9)
    assert final(run, "heavy.v") == pytest.approx(-4.0, rel=1e-9)
    power = sum((run[f"lever.{p}.v"] * run[f"lever.{p}.f"]).magnitude for p in "AB")
    assert_allclose(power, 0, atol=1e-10)
    assert model.structure().states == 1


class Differential(Component):
    """Three ports: v_A + v_B = 2 v_C, equal forces on A and B."""

    A, B, C = Port(tr.translational), Port(tr.translational), Port(tr.translational)

    def equations(self):
        yield self.A.v + self.B.v == 2 * self.C.v
        yield self.A.f == self.B.f
        yield self.A.f + self.B.f + self.C.f == 0


def test_two_levers_in_a_row_multiply_and_a_differential_halves():
    model = wired("train", "a.M first.A mean.A", "first.B second.A", "second.B b.M mean.B",
                  "c.M mean.C",
                  first=Lever(), second=Lever(b="3 m"), mean=Differential(), a=tr.Mass(v="1 m/s"),
                  b=tr.Mass(v=Target("0 m/s", "none")), c=tr.Mass(v=Target("0 m/s", "none")))
    run = model.simulate("1 s", **TIGHT)
    assert final(run, "b.v") == pytest.approx(6.0)
    assert final(run, "c.v") == pytest.approx(3.5)
    assert model.structure().states == 1


# -- derivatives ---------------------------------------------------------------------------


def test_a_third_derivative_integrates_a_cubic():
    class Jerk(Component):
        x, v = Variable("m", "0 m", priority="high"), Variable("m/s", "1 m/s", priority="high")
        a = Variable("m/s^2", "2 m/s^2", priority="high")

        def equations(self):
            yield der(der(der(self.x))) == quantity("6 m/s^3")
            yield self.v == der(self.x)
            yield self.a == der(der(self.x))

    assert final(alone(Jerk()).simulate("2 s", **TIGHT), "c.x") == pytest.approx(14, rel=1e-9)


def test_derivatives_of_a_known_motion_are_exact_up_to_the_jerk():
    class Motion(Component):
        x, v, a, j = Variable("m"), Variable("m/s"), Variable("m/s^2"), Variable("m/s^3")

        def equations(self):
            yield self.x == quantity("1 m") * sin(quantity("2 rad/s") * time)
            yield self.v == der(self.x)
            yield self.a == der(der(self.x))
            yield self.j == der(self.a)

    run = alone(Motion()).simulate("2 s")
    t = run.time.to("s").magnitude
    for name, exact in [("x", np.sin(2 * t)), ("v", 2 * np.cos(2 * t)), ("a", -4 * np.sin(2 * t)),
                        ("j", -8 * np.cos(2 * t))]:
        assert_allclose(run[f"c.{name}"].magnitude, exact, atol=1e-12)


def test_derivatives_that_only_results_or_conditions_use_are_right():
    class Cooling(Component):
        x, square, rate = Variable("m", "1 m", priority="high"), Variable("m^2"), Variable("m^2/s")
        slow = Variable("")

        def equations(self):
            yield der(self.x) == -2 * PER_SECOND * self.x
            yield self.square == self.x**2
            yield self.rate == der(self.square)
            yield self.slow == blocks.where(der(self.square) > quantity("-1 m^2/s"), 1, 0)

    run = alone(Cooling()).simulate("1 s", rtol=1e-10)
    t = run.time.to("s").magnitude
    assert_allclose(run["c.rate"].magnitude, -4 * np.exp(-4 * t), rtol=1e-7)
    (event,) = run.events
    assert event.time == pytest.approx(np.log(4) / 4, abs=1e-8)


def test_the_derivative_of_an_expression_follows_the_chain_rule():
    class Square(Component):
        x = Variable("m", "1 m", priority="high")

        def equations(self):
            yield der(self.x**2) == -2 * PER_SECOND * self.x**2

    run = alone(Square()).simulate("1 s", **TIGHT)
    assert final(run, "c.x") == pytest.approx(np.exp(-1), rel=1e-8)


# -- coefficients and loops -------------------------------------------------------------------


class VariableMass(Component):
    """Coefficients of the derivatives depend on the unknowns."""

    x, y = Variable("", "1", priority="high"), Variable("", "2", priority="high")

    def equations(self):
        yield der(self.x) + 2 * der(self.y) == -self.x * PER_SECOND
        yield 3 * der(self.x) - der(self.y) * self.x == self.y * PER_SECOND


def test_equations_with_variable_coefficients_are_solved_for_their_derivatives():
    def slope(t, s):
        return np.linalg.solve([[1, 2], [3, -s[0]]], [-s[0], s[1]])

    exact = solve_ivp(slope, (0, 1), [1, 2], method="DOP853", rtol=1e-13, atol=1e-13).y[:, -1]
    run = alone(VariableMass()).simulate("1 s", **TIGHT)
    assert_allclose([final(run, "c.x"), final(run, "c.y")], exact, rtol=1e-8)


class NonlinearLoop(Component):
    a, b = Variable(""), Variable("")
    p = Parameter(0.5)

    def equations(self):
        yield self.a == blocks.cos(self.b) * self.p
        yield self.b == blocks.exp(-self.a) + self.a**3


def test_a_nonlinear_loop_is_torn_and_solved_to_the_root_of_scipy():
    model = alone(NonlinearLoop())
    structure = model.structure()
    assert (structure.largest_loop, structure.torn) == (2, 1)
    for p in (0.5, 1.2, -2.0):
        model.c.p = p
        run = model.simulate("1 s")
        a, b = fsolve(lambda z, p=p: [z[0] - p * np.cos(z[1]), z[1] - np.exp(-z[0]) - z[0] ** 3],
                      [final(run, "c.a"), final(run, "c.b")], xtol=1e-14)
        assert final(run, "c.a") == pytest.approx(a, rel=1e-12)
        assert final(run, "c.b") == pytest.approx(b, rel=1e-12)


# -- Pantelides ---------------------------------------------------------------------------


@pytest.mark.parametrize(("order", "index"), [(1, 2), (2, 3), (3, 4)])
def test_a_chain_of_integrators_with_a_given_end_has_the_index_of_its_length(order, index):
    """Pantelides' own example: x1' = x2, …; x1 given; the last input follows."""
    class Inverse(Component):
        x1, x2 = Variable("m"), Variable("m/s", when=lambda c: order >= 1)
        x3 = Variable("m/s^2", when=lambda c: order >= 2)
        x4, y1 = Variable("m/s^3", when=lambda c: order >= 3), Variable("m")

        def equations(self):
            chain = [self.x1, self.x2, self.x3, self.x4][: order + 1]
            yield self.x1 + 0 * self.y1 == quantity("1 m") * sin(quantity("2 rad/s") * time)
            yield self.y1 == 3 * self.x1
            for low, high in zip(chain, chain[1:], strict=False):
                yield der(low) == 2 * high  # a factor, so that it is no mere name

    model = alone(Inverse())
    assert model.structure().states == 0
    assert model.structure().index == index
    run = model.simulate("1 s")
    t = run.time.to("s").magnitude
    exact = [np.sin(2 * t), np.cos(2 * t), -np.sin(2 * t), -np.cos(2 * t)][order]
    assert_allclose(run[f"c.x{order + 1}"].magnitude, exact, atol=1e-12)


@pytest.mark.parametrize("ratio", [1, -2, 0.25])
def test_currents_that_one_curve_gives_are_tied_though_no_equation_says_so(ratio):
    """(3 H + 2 H) der(i1) = -u, where i1 = u + u^3 and i2 = ratio * i1."""
    class TwoCoils(Component):
        i1, i2 = Variable("A", "0.5 A", priority="high"), Variable("A")
        u1, u2 = Variable("V"), Variable("V")

        def equations(self):
            def curve(u):
                return quantity("1 S") * u + quantity("1 A/V^3") * u**3

            yield quantity("3 H") * der(self.i1) == -self.u1
            yield quantity("2 H") * der(self.i2) == ratio * self.u2
            yield self.i1 == curve(self.u1 - self.u2)
            yield self.i2 == ratio * curve(self.u1 - self.u2)

    def slope(t, i):
        return -brentq(lambda u: u + u**3 - i[0], -1, 1) / (3 + 2)

    model = alone(TwoCoils())
    assert (model.structure().states, model.structure().index) == (1, 2)
    run = model.simulate("2 s", **TIGHT)
    exact = solve_ivp(slope, (0, 2), [0.5], rtol=1e-11, atol=1e-12).y[0, -1]
    assert final(run, "c.i1") == pytest.approx(exact, rel=1e-8)
    assert final(run, "c.i2") == pytest.approx(ratio * exact, rel=1e-8)


# -- what the user reads ---------------------------------------------------------------------


def test_the_equations_of_an_oscillator_can_be_read():
    model = wired("oscillator", "body.M spring.R", "spring.C ground.V",
                  body=tr.Mass(mass="2 kg"), spring=tr.Spring(), ground=tr.Reference())
    flat, reduced = model.equations().flat, model.equations().reduced
    assert "body.mass*der(body.v) == body.f" in flat
    assert "der(spring.x) == spring.v" in flat
    assert "spring.f == spring.preload + spring.stiffness*spring.x" in flat
    assert "body.energy_stored == body.mass*body.v^2/2" in flat
    assert "0 == body.M.f + spring.R.f" in flat
    assert reduced[:2] == ["integrate body.v by der(body.v)", "integrate spring.x by spring.v"]
    assert "solve body.mass*der(body.v) == body.f  for der(body.v)" in reduced
    assert str(model.structure()) == (
        "3 components, 13 unknowns in 13 equations; after reduction 4 unknowns in 4 blocks, "
        "largest loop 1, 0 torn; 2 states, index 1")


class Counted(Component):
    """A ball that counts its rebounds, at which it keeps three quarters of its speed."""

    h, v = Variable("m", "1 m", priority="high"), Variable("m/s", "0 m/s", priority="high")
    n = blocks.Discrete("1", 0)

    def equations(self):
        yield der(self.h) == self.v
        yield der(self.v) == quantity("-9.81 m/s^2")
        yield blocks.when((self.h < 0) & (self.v < 0), {self.v: -0.75 * self.v, self.n: self.n + 1})


def test_what_is_assigned_at_events_can_be_read():
    model = wired("events", "source.y hold.u",
                  ball=Counted(), source=Sine(), hold=ZeroOrderHold(sample_time="1 ms"))
    events = model.equations().events
    assert "at hold.offset and every hold.sample_time after: hold.held becomes hold.u" in events
    assert "when -ball.h > 0 & -ball.v > 0: ball.v becomes (-0.75)*ball.v" in events
    assert "Events" in str(model.equations())
    assert "Events" not in str(alone(tr.Mass()).equations())
