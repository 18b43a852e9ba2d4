"""Laws that are infinitely steep where a run is: a root where it begins.

By an infinite derivative Newton's method would stay there, whatever flows, and call it a solution.
"""

from functools import cache
from itertools import product

import numpy as np
import pytest
from benches import few, wired
from benches.clamp import CAPACITANCE, HALF, RESISTANCE, clamps
from numpy.testing import assert_allclose
from scipy.integrate import solve_ivp
from scipy.special import lambertw

import blocks
import library.translational as tr
from blocks import Component, SimulationError, Variable, abs_, der, maximum, quantity, sqrt, where
from library.electrical import TwoPort
from library.frictionlaws import velocity
from library.frictionlaws.curves import Coulomb
from library.isothermal_liquid import TranslationalMechanicalConverter

pytest.importorskip("llvmlite")  # of which most methods are

INFLOW, OUTLET, SECOND = 0.05, 0.1, 0.07
CHARGED = 2 * RESISTANCE * CAPACITANCE  # time constant of a store behind both resistors


class Tank(Component):
    """A tank that is filled from empty, with a hole."""

    h = Variable("m", "0 m", priority="high")

    def equations(self):
        yield der(self.h) == quantity(INFLOW, "m/s") - quantity(OUTLET, "m**0.5/s") * sqrt(self.h)


class TwoTanks(Component):
    """The first one runs into the second."""

    h, low = Variable("m", "0 m", priority="high"), Variable("m", "0 m", priority="high")

    def equations(self):
        between = quantity(OUTLET, "m**0.5/s") * sqrt(self.h)
        yield der(self.h) == quantity(INFLOW, "m/s") - between
        yield der(self.low) == between - quantity(SECOND, "m**0.5/s") * sqrt(self.low)


def level(t):
    """Of the first tank: with u = 1 - OUTLET sqrt(h) / INFLOW, u e^-u = e^(-1 - OUTLET^2 t / 2
    / INFLOW)."""
    u = -lambertw(-np.exp(-1 - OUTLET**2 * t / (2 * INFLOW))).real
    return ((1 - u) * INFLOW / OUTLET) ** 2


def low_level(end):
    """Of the second one, from where it has only been filled, by OUTLET sqrt(INFLOW t)."""
    begin, part = 1e-9, 2 / 3 * OUTLET * np.sqrt(INFLOW)
    return solve_ivp(lambda t, y: OUTLET * np.sqrt(level(t)) - SECOND * np.sqrt(np.abs(y)),
                     (begin, end), [part * begin**1.5], rtol=1e-9, atol=1e-13).y[0, -1]


@pytest.mark.parametrize("count", [None, 60])
@pytest.mark.parametrize("method", ["auto", "dopri5", "DOP853", "rodas4", "Radau", "ode23s"])
def test_a_tank_is_filled_from_empty(method, count):
    model = wired("tank", tank=Tank() if count is None else Tank(count=count))
    run = model.simulate("20 s", method=method, rtol=1e-6)
    times = np.array([0.01, 0.1, 1, 5, 20])
    found = run["tank.h"].at(quantity(times, "s")).m
    assert_allclose(np.atleast_2d(found)[-1], level(times), rtol=1e-5, atol=5e-7)


@pytest.mark.parametrize("count", [None, 60])
@pytest.mark.parametrize("method", ["auto", "dopri5", "DOP853", "rodas4", "Radau"])
def test_two_tanks_are_filled_or_refused(method, count):
    """The level of the second one does not move at first, and its law is as steep as can be."""
    model = wired("tanks", pair=TwoTanks() if count is None else TwoTanks(count=count))
    try:
        run = model.simulate("20 s", method=method, rtol=1e-6)
    except SimulationError as error:
        assert method != "auto"
        assert "infinitely steep" in str(error) or "no finite value" in str(error)
        return
    assert_allclose(np.ravel(run["pair.low"].final.m)[0], low_level(20.0), rtol=1e-4)


class Levelling(Component):
    """Two tanks that level out through an orifice whose flow is solved for from its square."""

    x, y, v = Variable("m", priority="high"), Variable("m", priority="high"), Variable("m/s")

    def equations(self):
        yield der(self.x) == -self.v
        yield der(self.y) == self.v
        yield self.v * abs_(self.v) == quantity("1 m/s^2") * (self.x - self.y)


@pytest.mark.parametrize("method", ["auto", "rodas4", "BDF"])
def test_a_flow_that_is_solved_for_from_its_square_comes_to_rest(method):
    """With d = x - y, sqrt(d) falls by 1 sqrt(m)/s: from 1 mm it is 0 after 32 ms."""
    run = wired("tanks", tanks=Levelling(x="1 mm", y="0 mm")).simulate("0.1 s", method=method)
    times = np.array([0.01, 0.03, 0.04, 0.1])
    apart = (run["tanks.x"] - run["tanks.y"]).at(quantity(times, "s")).m
    assert_allclose(apart, np.maximum(np.sqrt(1e-3) - times, 0) ** 2, rtol=1e-5, atol=1e-9)
    assert run.statistics["steps"] < 2000


class Star(Component):
    """Three orifices that meet without room, from a pressure that falls and rises to none."""

    x = Variable("Pa")

    def equations(self):
        first, others = (blocks.sign(drop) * sqrt(abs_(drop)) for drop in (
            quantity("1 Pa") * blocks.cos(quantity("3 1/s") * blocks.time) - self.x, self.x))
        yield first == 2 * others


@pytest.mark.parametrize("options", [{}, {"method": "backward_euler", "step": "20 ms"}])
def test_flow_through_orifices_without_room_between_them_turns_over(options):
    run, times = wired("star", star=Star()).simulate("4 s", **options), np.linspace(0, 4, 101)
    assert_allclose(run["star.x"].at(quantity(times, "s")).m, np.cos(3 * times) / 5, atol=1e-6)


def emptied(law):
    """A tank of 1 mm that runs empty through an orifice in its floor."""
    class Level(Component):
        x = Variable("m", priority="high")

        def equations(self):
            yield der(self.x) == quantity("-1 m**0.5/s") * law(self.x)

    return wired("tank", tank=Level(x="1 mm"))


def signed(x):
    return blocks.sign(x) * sqrt(abs_(x))


def pieces(x):
    return where(x > 0, sqrt(x), -sqrt(-x))


def quotient(x):
    return x / sqrt(abs_(x))


def maxima(x):
    return sqrt(maximum(x, 0)) - sqrt(maximum(-x, 0))


@few(1, ("law", "method"), product([quotient, maxima], ["Radau"]))
def test_steps_that_stay_where_a_tank_is_empty_are_refused(law, method):
    """They would be 5e-7 s long from 63 ms on; those of other methods end there."""
    model = emptied(law)
    with pytest.raises(SimulationError, match=r"'rodas4'.*steep.*der\(tank\.x\) == ") as stop:
        model.simulate("2 s", method=method)
    assert 0.0632 < stop.value.time < 0.1
    assert "e+300" not in str(stop.value)  # no guard is told that nobody wrote
    others = [model.simulate("2 s", method=method) for method in ("auto", "rodas4")]
    for run in (stop.value.result, *others):
        assert_allclose(run["tank.x"].at("30 ms").m, (np.sqrt(1e-3) - 0.015) ** 2, rtol=1e-5)
    for run in others:
        assert abs(run["tank.x"].at("2 s").m) < 1e-9


@pytest.mark.parametrize("method", ["BDF", "Radau"])
@pytest.mark.parametrize("straight", ["1e-8 m", "1e-12 m"])
def test_a_root_that_is_a_straight_line_next_to_nothing_comes_to_rest(method, straight):
    model = emptied(lambda x: x / sqrt(abs_(x) + quantity(straight)))
    run = model.simulate("80 ms", method=method)
    assert abs(run["tank.x"].final.m) < 1e-14
    assert run.statistics["steps"] < 100


@pytest.mark.parametrize(("law", "method"), [
    (signed, "auto"), *product([signed, pieces], ["BDF", "Radau"]),
    (quotient, "BDF"), (maxima, "BDF")])
def test_a_tank_that_is_empty_rests(law, method):
    run = emptied(law).simulate("0.1 s", method=method)
    assert_allclose(run["tank.x"].at("30 ms").m, (np.sqrt(1e-3) - 0.015) ** 2, rtol=1e-5)
    assert abs(run["tank.x"].at("0.1 s").m) < (1e-14 if law is maxima else 1e-15)
    assert run.statistics["steps"] < 300


def test_steps_do_not_grow_in_number_with_the_time_that_a_root_is_at_rest():
    """A body pushes itself along a liquid that is shut in, through a damper of quadratic law."""
    model = wired("shut_in", "damper.C converter.R mass.M", "damper.R converter.C",
                  damper=tr.QuadraticSpeedDependentForce(v="14.3 mm/s"),
                  converter=TranslationalMechanicalConverter(pressure_spec="atmospheric"),
                  mass=tr.Mass())
    taken = [model.simulate(duration).statistics["steps"] for duration in ("10 us", "10 ms")]
    assert taken[1] < 2 * taken[0] < 4000


def test_empty_tanks_have_an_operating_point():
    """Where as much flows out as comes in."""
    found = wired("tanks", pair=TwoTanks()).operating_point()
    assert_allclose([found["pair.h"].m, found["pair.low"].m],
                    [(INFLOW / OUTLET) ** 2, (INFLOW / SECOND) ** 2], rtol=1e-9)


class Drag(Component):
    """A body that a sine pushes against a root of its speed."""

    v = Variable("m/s", "0 m/s", priority="high")

    def equations(self):
        v = self.v / quantity("1 m/s")
        push = np.sin(blocks.time / quantity("1 s")) - 0.5 * np.sign(v) * sqrt(np.abs(v))
        yield der(self.v) == quantity("1 m/s**2") * push


DRIVEN = np.linspace(0.05, 8, 60)


@cache
def driven():
    """Speeds of it then."""
    return solve_ivp(lambda t, v: np.sin(t) - 0.5 * np.sign(v) * np.sqrt(np.abs(v)), (0, 8), [0],
                     method="DOP853", rtol=1e-9, atol=1e-12, max_step=2e-3, t_eval=DRIVEN).y[0]


@pytest.mark.parametrize("count", [None, 60])
@pytest.mark.parametrize("method", ["auto", "dopri5", "DOP853", "rodas4"])
def test_a_body_leaves_the_speed_at_which_its_drag_is_steepest(method, count):
    model = wired("drag", body=Drag() if count is None else Drag(count=count))
    run = model.simulate("8 s", method=method, rtol=1e-6)
    found = np.atleast_2d(run["body.v"].at(quantity(DRIVEN, "s")).m)[-1]
    assert_allclose(found, driven(), rtol=0, atol=2e-5)


class Robertson(Component):
    """Robertson's reaction: y2 is soon 1e4 times smaller than its tolerance, and acts by its
    square."""

    y1, y2, y3 = (Variable("1", start, priority="high") for start in (1.0, 0.0, 0.0))

    def equations(self):
        s, y1, y2, y3 = quantity("1 s"), self.y1, self.y2, self.y3
        yield s * der(y1) == -0.04 * y1 + 1e4 * y2 * y3
        yield s * der(y2) == 0.04 * y1 - 1e4 * y2 * y3 - 3e7 * y2**2
        yield s * der(y3) == 3e7 * y2**2


@pytest.mark.parametrize("method", ["auto", "BDF", "rodas4", "Radau"])
def test_what_is_far_below_its_tolerance_is_no_steeper_for_that(method):
    model = wired("reaction", vessel=Robertson())
    run = model.simulate("1e11 s", method=method, rtol=1e-7)  # 1e-9 of 1 absolute
    late = 3e7 * (0.04 / 1e4) ** 2  # 1/s: y2 follows y1, and dy1/dt = -late y1^2
    assert run.statistics.steps < 2000
    assert_allclose(run["vessel.y1"].final.m, 1 / (late * 1e11), rtol=0, atol=5e-9)
    assert_allclose(run["vessel.y3"].final.m, 1.0, rtol=1e-7)


class Relief(TwoPort):
    """Lets go above 10 V, by a root."""

    def equations(self):
        over = self.v - quantity("10 V")
        yield self.i == where(over > quantity("0 V"),
                              quantity(0.02, "A/V**0.5") * sqrt(over), quantity("0 A"))


@pytest.mark.parametrize(("method", "count"), [
    ("auto", 1), ("dopri5", 60), ("DOP853", 1), ("rodas4", 60), ("Radau", 1)])
def test_a_loop_through_a_root_that_begins_is_refused_where_it_does(method, count):
    with pytest.raises(SimulationError, match="infinitely steep there.*straight line") as caught:
        clamps(Relief, count, 50).simulate("3 ms", rtol=1e-6, method=method)
    # the store is charged through both wires until the relief begins at 10 V: from -50 V towards
    # 50 V, where the voltage between the wires is the mean of both ends
    begins = HALF + CHARGED * np.log((50 - stored(HALF)) / (50 + 30))
    assert_allclose(caught.value.time, begins, rtol=1e-6)


def stored(t):
    """The voltage of the store while the source is at -50 V."""
    return -50 * (1 - np.exp(-t / CHARGED))


class Root(Coulomb):
    """Exact friction that rises with a root of the speed."""

    uses = ("coulomb",)
    slow = blocks.Parameter("1 cm/s", velocity, above=0, doc="Speed at which it is twice as large")

    def equations(self, c):
        yield blocks.dry_friction(c.effort, c.flow, static=c.coulomb,
                                  kinetic=c.coulomb * (1 + sqrt(abs_(c.flow) / c.slow)))


def test_friction_that_rises_like_a_root_is_refused_at_a_node_without_mass():
    m = blocks.Model("dragged")  # by a belt that pulls a spring
    m.ground, m.spring = tr.Reference(), tr.Spring(stiffness="100 N/m")
    m.belt = tr.VelocitySource(velocity="0.1 m/s")
    m.friction = tr.TranslationalFriction(law=Root, coulomb_force="5 N")
    m.connect(m.belt.R, m.spring.R)
    m.connect(m.spring.C, m.friction.R)
    m.connect(m.friction.C, m.ground.V, m.belt.C)
    with pytest.raises(SimulationError, match="no mass at a node.*small. mass") as caught:
        m.simulate("3 s")
    assert caught.value.time == pytest.approx(0.5, rel=1e-9)


@pytest.mark.parametrize("method", ["Radau", "BDF", "rodas4"])
def test_a_contact_that_is_pressed_in_by_less_than_a_tolerance(method):
    """On one side of where it rests it is as steep as there, on the other one it is open."""
    model = wired("pressed", "force.R gap.R damper.R", "force.C gap.C damper.C ground.V",
                  force=tr.ForceSource(force="-10 N"),
                  gap=tr.ElastoGap(stiffness="1e10 N/m", damping="10 N*s/m", free_length="0 m"),
                  damper=tr.Damper(damping="10 N*s/m"), ground=tr.Reference())
    run = model.simulate("0.5 s", method=method)
    assert_allclose(run["gap.x"].at("0.5 s").magnitude, -1e-9, rtol=1e-6)
    assert run.statistics["steps"] < 100
