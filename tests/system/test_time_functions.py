"""Functions of time: bounds of expressions and the pieces that follow; tables; crossings."""

import casadi as ca
import numpy as np
import pytest
from benches import wired
from benches.friction import dry
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose

import library.rotational as rot
import library.translational as tr
from blocks import Component, Output, interpolate, quantity, sin, time, where
from blocks.exceptions import EquationError
from blocks.numerics.arrays import distinct
from blocks.numerics.intervals import enclosed, enclosure
from blocks.system.time_crossings import crossings_of_time
from blocks.system.time_functions import TimeFunctions
from library.mechanisms import GearBox
from library.tables import table

# -- bounds and pieces ------------------------------------------------------------------------
UNARY = [ca.sin, ca.cos, ca.tan, ca.exp, ca.log, ca.sqrt, ca.fabs, ca.floor, ca.ceil, ca.sign,
         ca.asin, ca.acos, ca.atan, ca.sinh, ca.cosh, ca.tanh, ca.asinh, ca.acosh, ca.atanh,
         ca.log1p, ca.expm1, ca.logic_not, lambda a: -a, lambda a: a * a, lambda a: 1 / a,
         lambda a: 2 * a, lambda a: a**3, lambda a: a**2.5, lambda a: a**-2]  # fmt: skip
BINARY = [lambda a, b: a + b, lambda a, b: a - b, lambda a, b: a * b, lambda a, b: a / b, ca.fmin,
          ca.fmax, lambda a, b: a < b, lambda a, b: a <= b, ca.logic_and, ca.logic_or,
          lambda a, b: ca.if_else(a > 0, b, 0), ca.fmod, lambda a, b: a == b]  # fmt: skip

ends = st.floats(-5, 5)


def assert_encloses(function, *intervals):
    grid = np.meshgrid(*(np.linspace(*sorted(i), 41) for i in intervals))
    with np.errstate(all="ignore"):
        values = np.array(function(*(g.reshape(1, -1) for g in grid))).ravel()
        low, high = enclosed(function, [np.array([sorted(i)]).T for i in intervals])
    values = values[np.isfinite(values)]
    if len(values):
        size = 1e-9 * (1 + np.abs(values).max())
        assert low[0] - size <= values.min()
        assert values.max() <= high[0] + size


@pytest.mark.parametrize("operation", range(len(UNARY)))
@settings(max_examples=30, deadline=None)
@given(a=ends, b=ends)
def test_bounds_hold_every_value_of_one_argument(operation, a, b):
    x = ca.SX.sym("x")
    assert_encloses(ca.Function("f", [x], [UNARY[operation](x)]), (a, b))


@pytest.mark.parametrize("operation", range(len(BINARY)))
@settings(max_examples=30, deadline=None)
@given(a=ends, b=ends, c=ends, d=ends)
def test_bounds_hold_every_value_of_two_arguments(operation, a, b, c, d):
    x, y = ca.SX.sym("x"), ca.SX.sym("y")
    assert_encloses(ca.Function("f", [x, y], [BINARY[operation](x, y)]), (a, b), (c, d))


def pieces(load, end):
    model = wired("pieces", "body.M load.R", "floor.V load.C",
                  body=tr.Mass(), floor=tr.Reference(), load=tr.ForceSource(force=load))
    system = model.compile()
    return TimeFunctions(system, system.parameters(), 0.0, end, np.zeros(0))


def newtons(value):
    return quantity(value, "N")


def seconds(value):
    return quantity(value, "s")


def test_a_product_with_what_is_known_has_two_corners():
    factor, ends = np.array([-2.0]), (np.array([-1.0, 0.0]), np.array([3.0, np.inf]))
    low, high = enclosure(ca.OP_MUL, (factor, factor), ends)
    np.testing.assert_array_equal([low, high], [[-6.0, -np.inf], [2.0, 0.0]])
    nothing = np.array([0.0])  # times what has no bound may be anything
    low, high = enclosure(ca.OP_MUL, ends, (nothing, nothing))
    np.testing.assert_array_equal([low, high], [[0.0, -np.inf], [0.0, np.inf]])
    low, high = enclosure(ca.OP_DIV, ends, (factor, factor))
    np.testing.assert_array_equal([low, high], [[-1.5, -np.inf], [0.5, 0.0]])


def test_the_branches_of_a_condition_are_looked_at_too():
    found = pieces(lambda t: where(t > seconds(5.0), newtons(1.0) * sin(t * quantity("9 rad/s")),
                                   newtons(0.0)), 10.0)  # fmt: skip
    assert np.diff(found.pieces).max() < 2 * np.pi / 9


def test_terms_that_cancel_do_not_ask_for_endless_division():
    def load(t):
        push = newtons(1.0) * (t / seconds(1.0)) ** 2
        return push * push / push - (push + newtons(1.0)) + newtons(1.0)

    assert len(pieces(load, 10.0).pieces) < 20_000


def test_beside_a_condition_that_no_division_decides_all_else_is_divided():
    """t (1 - t) - (t - t^2) is zero, but its bounds are around zero in pieces however short."""
    def load(t):
        a = t * quantity("1 N/s")
        cancelled = a * (1 - t / quantity("1 s")) - (a - a * t / quantity("1 s"))
        return where(cancelled > quantity("0 N"), 1.0, 2.0, events=False) * quantity("1 N")

    found = pieces(load, 1.0)
    assert 16 < len(found.pieces) < 1500
    assert found.end == np.inf


# -- tables -----------------------------------------------------------------------------------
def pushed(force, mass="2 kg"):
    return wired("pushed", "body.M push.R", "floor.V push.C",
                 body=tr.Mass(mass=mass), floor=tr.Reference(), push=tr.ForceSource(force=force))


def impulse(times, forces, at):
    """The integral of a table, held outside, from 0 s."""
    areas = np.concatenate([[0], np.cumsum(np.diff(times) * (forces[1:] + forces[:-1]) / 2)])
    k = np.clip(np.searchsorted(times, at, side="right") - 1, 0, len(times) - 2)
    return areas[k] + (at - times[k]) * (forces[k] + np.interp(at, times, forces)) / 2


@pytest.mark.parametrize("method", ["auto", "dopri5", "DOP853"])
def test_a_measured_force_gives_its_impulse(method):
    rng = np.random.default_rng(3)
    times = np.concatenate([[0], np.sort(rng.uniform(0, 1, 60)), [1]])
    forces = rng.normal(size=62)
    run = pushed(table(quantity(times, "s"), newtons(forces))).simulate(
        "1 s", method=method, rtol=1e-8)
    at = np.linspace(0.05, 1, 20)
    assert_allclose(run["body.v"].at(quantity(at, "s")).to("m/s").magnitude,
                    impulse(times, forces, at) / 2, atol=1e-7)


def test_a_jump_belongs_to_the_time_after_it():
    force = table(quantity([0, 1, 1, 2], "s"), newtons([0, 0, 6, 0]))
    run = pushed(force).simulate("3 s", rtol=1e-9)
    assert run["push.S"].at("1 s", side="left").to("N").magnitude == 0
    assert_allclose(run["push.S"].at("1 s", side="right").to("N").magnitude, 6)
    assert_allclose(run["body.v"].final.to("m/s").magnitude, 1.5, rtol=1e-9)


def test_the_derivative_of_a_table_is_its_slope():
    motion = table(quantity([0, 1, 3], "s"), quantity([0, 2, 0], "m/s"))
    model = wired("driven", "belt.R body.M damper.R", "belt.C floor.V damper.C",
                  belt=tr.VelocitySource(velocity=motion), body=tr.Mass(mass="2 kg"),
                  floor=tr.Reference(), damper=tr.Damper(damping="1 N*s/m"))
    force = model.simulate("3 s")["belt.f"].at(quantity([0.5, 2.0], "s")).to("N").magnitude
    assert_allclose(np.abs(force), np.abs([2 * 2 + 1, -2 * 1 + 1]), rtol=1e-9)


class Continued(Component):
    """A table of time that goes on with its last segments."""

    y = Output("1")
    points = (0.0, 1.0)

    def equations(self):
        yield self.y == interpolate(time, quantity(list(self.points), "s"), [0.0, 2.0])


class EndsWithAJump(Continued):
    points = (1.0, 1.0)


class Unsorted(Continued):
    points = (1.0, 0.0)


def test_a_table_of_time_is_continued_unless_held():
    run = wired("continued", table=Continued()).simulate("3 s")
    assert_allclose(run["table.y"].final.magnitude, 6.0)


@pytest.mark.parametrize(("kind", "text"), [(EndsWithAJump, "jump"), (Unsorted, "decrease")])
def test_a_table_of_time_in_disorder_is_refused(kind, text):
    model = wired("refused", table=kind())
    with pytest.raises(EquationError, match=text):
        model.compile()


def shaken(between):
    """A measured motion shakes a body that sticks to the floor."""
    times = np.linspace(0, 1, 31)
    way = quantity(np.cumsum(np.random.default_rng(2).normal(size=31)), "cm")
    model = wired("shaken", "table.R near.M spring.R damper.R",
                  "spring.C damper.C far.M friction.R", "table.C friction.C floor.V",
                  table=tr.PositionSource(position=table(quantity(times, "s"), way,
                                                         between=between)),
                  near=tr.Mass(mass="1 kg"), far=tr.Mass(mass="2 kg"),
                  spring=tr.Spring(stiffness="200 N/m"), damper=tr.Damper(damping="3 N*s/m"),
                  friction=dry(1, 1.5), floor=tr.Reference())
    return model, "far.v"


def pressed(between):
    """A measured torque presses a geared shaft against stops without springs."""
    times = np.linspace(0, 1, 31)
    torque = quantity(np.cumsum(np.random.default_rng(4).normal(size=31)), "N*m")
    model = wired("pressed", "table.R motor.I gear.S", "gear.O load.I stop.R spring.R",
                  "table.C stop.C spring.C ground.W",
                  table=rot.TorqueSource(torque=table(quantity(times, "s"), torque,
                                                      between=between)),
                  motor=rot.Inertia(inertia="1 kg*m^2"), load=rot.Inertia(inertia="0.2 kg*m^2"),
                  gear=GearBox(ratio=3), ground=rot.RotationalReference(),
                  stop=rot.RotationalHardStop(upper_bound="0.2 rad", lower_bound="-0.2 rad",
                                              model="restitution"),
                  spring=rot.RotationalSpring(stiffness="30 N*m/rad"))
    return model, "load.w"


# -- crossings --------------------------------------------------------------------------------
def found(functions, looks, known=()):
    return distinct(np.concatenate(list(crossings_of_time(
        [lambda t: np.array([f(t) for f in functions])], looks,
        np.array(known, dtype=float), 0.0))))


def test_crossings_are_found_to_the_last_bits_wherever_parts_of_the_looks_end():
    looks = np.array_split(np.linspace(0.1, 100.0, 1001), 7)
    assert_allclose(found([np.sin], looks), np.pi * np.arange(1, 32), rtol=4e-16)


@pytest.mark.parametrize("depth", [1e-2, 1e-6, 1e-12])
def test_what_comes_below_zero_between_looks_only_is_found(depth):
    # sin t < depth - 1 about 3 pi / 2 and every 2 pi after it; the looks are 0.1 s apart
    looks = [np.linspace(0.0, 50.0, 501)]
    away = np.arccos(1 - depth)
    lowest = 3 * np.pi / 2 + 2 * np.pi * np.arange(8)
    at = found([lambda t: np.sin(t) + 1 - depth], looks)
    assert_allclose(at, np.sort([lowest - away, lowest + away], axis=None), atol=1e-15 / away)


def test_what_dips_at_the_border_of_two_pieces_is_found_though_one_look_is_hardly_away():
    border = 10.0
    looks = [np.concatenate([np.arange(0.0, 10.0), border + np.array([-1e-6, 1e-6]),
                             np.arange(11.0, 20.0)])]
    for centre in border + np.linspace(-0.6, 0.6, 49):
        at = found([lambda t, c=centre: (t - c) ** 2 - 1e-6], looks)
        assert_allclose(at, centre + np.array([-1e-3, 1e-3]), rtol=1e-12)


def test_what_a_known_instant_announces_is_left_out():
    step = found([lambda t: t - np.floor(t) - 0.5], [np.linspace(0.05, 3.95, 40)], [1.0, 2.0, 3.0])
    assert_allclose(step, [0.5, 1.5, 2.5, 3.5], rtol=4e-16)
