"""Smooth loops with several solutions: the one followed ends at a fold, which is an event."""

import numpy as np
import pytest
from benches import wire, wired
from numpy.testing import assert_allclose

from blocks import Component, Variable, der, exp, quantity, sin, tanh, time
from blocks.exceptions import ModelError, SimulationError
from library.rotational import Inertia, QuadraticSpeedDependentTorque, RotationalHardStop
from library.translational import Mass, Reference, TranslationalFriction, VelocitySource

PER_SECOND = quantity("1 1/s")
TURN = 2 * np.pi * PER_SECOND
METHODS = ("auto", "rodas4", "DOP853", "Radau")


class Cubic(Component):
    """z**3 - 3 z follows a sine: with folds at z = -1 and 1, where the sine is 2 and -2."""

    z = Variable("1", -1.7)
    x = Variable("1", 0.0, priority="high")

    def equations(self):
        yield self.z**3 - 3 * self.z == 4 * sin(TURN * time)
        yield der(self.x) == PER_SECOND * self.z


def cubic():
    return wired("cubic", loop=Cubic())


#: The sine passes 2 going up, and -2 going down, in every turn.
FOLDS = np.array([1 / 12, 7 / 12])


def roots(drive, near):
    """The root of z**3 - 3 z = drive on a side: by the formula of Cardano and Vieta."""
    drive = np.asarray(drive, dtype=float)
    if near > 0:
        inner = np.arccosh(np.maximum(drive / 2, 1)) / 3
        angle = np.arccos(np.clip(drive / 2, -1, 1)) / 3
        return np.where(drive > 2, 2 * np.cosh(inner), 2 * np.cos(angle))
    return -roots(-drive, 1)


@pytest.mark.parametrize("method", METHODS)
def test_a_solution_that_ends_at_a_fold_is_an_event(method):
    run = cubic().simulate("1 s", rtol=1e-8, method=method)
    assert_allclose([e.time for e in run.events], FOLDS, atol=1e-9)
    assert str(run.events[0].description) == "z goes on from another solution"
    t = np.array([0.0, 0.05, 0.083, 0.0834, 0.3, 0.58, 0.5834, 0.9, 1.0])
    on_top = (t > FOLDS[0]) & (t < FOLDS[1])
    drive = 4 * np.sin(2 * np.pi * t)
    z = np.where(on_top, roots(drive, 1), roots(drive, -1))
    assert_allclose(run["loop.z"].at(quantity(t, "s")).magnitude, z, atol=1e-6)


@pytest.mark.parametrize("method", ["auto", "rodas4", "Radau"])
def test_so_it_is_beside_a_body_with_exact_friction(method):
    model = cubic()
    wire(model, "belt.R rub.R", "rub.C block.M", "belt.C floor.V",
         belt=VelocitySource(velocity="0.1 m/s"), block=Mass(), floor=Reference(),
         rub=TranslationalFriction(law="coulomb", coulomb_force="5 N"))
    run = model.simulate("0.7 s", rtol=1e-6, method=method)
    folds = [e.time for e in run.events if e.component == "loop"]
    assert_allclose(folds, FOLDS, atol=1e-9)
    t = np.array([0.05, 0.083, 0.0834, 0.1, 0.2, 0.58, 0.5834, 0.7])
    on_top = (t > FOLDS[0]) & (t < FOLDS[1])
    drive = 4 * np.sin(2 * np.pi * t)
    z = np.where(on_top, roots(drive, 1), roots(drive, -1))
    assert_allclose(run["loop.z"].at(quantity(t, "s")).magnitude, z, atol=1e-6)


def test_a_fixed_step_that_cannot_be_followed_to_its_end_is_not_taken_again_for_ever():
    """A stop that is pressed in lets go through a drag within microseconds, and then the drag has
    no slope: a step of a millisecond says what of it was reached."""
    model = wired("pressed in", "drag.C stop.R", "drag.R wheel.I stop.C",
                  drag=QuadraticSpeedDependentTorque(), wheel=Inertia(inertia="0.02 kg*m^2"),
                  stop=RotationalHardStop(lower_bound="0.01 rad"))
    with pytest.raises(SimulationError, match="the run stopped at t = ") as stopped:
        model.simulate("0.1 s", method="moreau_jean", step="1 ms")
    reached = stopped.value.result["stop.phi"].final.magnitude
    assert 0 < reached <= 0.01 * (1 + 1e-3)


def test_what_follows_the_unknown_is_integrated_on_each_branch():
    from scipy.integrate import quad

    run = cubic().simulate("1 s", rtol=1e-9, method="rodas4")
    drives = [(0.0, FOLDS[0], -1), (FOLDS[0], FOLDS[1], 1), (FOLDS[1], 1.0, -1)]
    area = sum(quad(lambda t, side=side: float(roots(4 * np.sin(2 * np.pi * t), side)), a, b,
                    epsabs=1e-12, limit=200)[0] for a, b, side in drives)
    assert_allclose(run["loop.x"].final.magnitude, area, atol=1e-7)


class Carrier(Cubic):
    """The same, and a much larger unknown, which at -z is nearly what it was at z."""

    w = Variable("1", 1000.0)

    def equations(self):
        level = 1010 - 10 * self.z**2
        yield self.z**3 - 3 * self.z * self.w / level == 4 * sin(TURN * time)
        yield self.w**3 == level**3
        yield der(self.x) == PER_SECOND * self.z


@pytest.mark.parametrize("method", ["auto", "rodas4"])
def test_a_curve_that_comes_close_to_where_it_began_is_not_closed(method):
    model = wired("carrier", loop=Carrier())
    run = model.simulate("1 s", rtol=1e-8, method=method)
    assert_allclose([e.time for e in run.events], FOLDS, atol=1e-8)
    assert_allclose(run["loop.z"].at("0.25 s").magnitude, roots(4.0, 1), atol=1e-6)


class Schmitt(Component):
    """A comparator with positive feedback, z = 2 tanh(5 z) + u, beside a slow state."""

    z = Variable("1", -2.0)
    x = Variable("1", 0.0, priority="high")

    def equations(self):
        yield self.z - 2 * tanh(5 * self.z) == 3 * sin(TURN * time)
        yield der(self.x) == PER_SECOND * (self.z - self.x)


@pytest.mark.parametrize("method", ["auto", "rodas4"])
def test_a_smooth_schmitt_trigger_switches_where_its_curve_turns(method):
    model = wired("schmitt", loop=Schmitt())
    run = model.simulate("1 s", rtol=1e-8, method=method)
    turns = np.arctanh(np.sqrt(0.9)) / 5  # where 10 / cosh(5 z)**2 = 1
    level = 2 * np.sqrt(0.9) - turns
    first = np.arcsin(level / 3) / (2 * np.pi)
    assert_allclose([e.time for e in run.events], [first, first + 0.5], atol=1e-9)


class Steep(Component):
    """A curve that rises within a hundredth of what drives it, with one solution."""

    z = Variable("1", 0.0)
    x = Variable("1", 0.0, priority="high")

    def equations(self):
        yield 0.05 * self.z + tanh(50 * self.z) == 1.8 * sin(TURN * time)
        yield der(self.x) == PER_SECOND * (sin(TURN * time) - self.x)


@pytest.mark.parametrize("method", ["dopri5", "rodas4", "DOP853"])
def test_what_changes_fast_is_no_event_and_is_read_as_solved(method):
    model = wired("steep", loop=Steep())
    run = model.simulate("1 s", method=method)
    assert not len(run.events)
    t = np.linspace(0, 1, 401)
    z = run["loop.z"].at(quantity(t, "s")).magnitude
    assert_allclose(0.05 * z + np.tanh(50 * z), 1.8 * np.sin(2 * np.pi * t), atol=1e-9)


class Diode(Component):
    """An exponential diode behind a resistor: one solution, however steep."""

    v = Variable("1", 0.0)
    x = Variable("1", 0.0, priority="high")

    def equations(self):
        yield self.v + 1e-9 * (exp(self.v / 0.026) - 1) == 5 * sin(TURN * time)
        yield der(self.x) == PER_SECOND * (self.v - self.x)


@pytest.mark.parametrize("method", ["auto", "dopri5", "rodas4"])
def test_a_diode_is_no_event(method):
    model = wired("diode", loop=Diode())
    assert not len(model.simulate("2 s", method=method).events)


class Isolated(Component):
    """z**2 = 1/4 - time: nothing lies beyond its fold."""

    z = Variable("1", 0.5)
    x = Variable("1", 0.0, priority="high")

    def equations(self):
        yield self.z**2 == 0.25 - PER_SECOND * time
        yield der(self.x) == PER_SECOND * self.z


@pytest.mark.parametrize("method", ["dopri5", "rodas4", "DOP853"])
def test_a_solution_that_leads_nowhere_stops_the_run_by_name(method):
    model = wired("isolated", loop=Isolated())
    message = "loop.z .* solution that they have followed ends there.*small mass, capacitance"
    with pytest.raises(SimulationError, match=message) as caught:
        model.simulate("1 s", method=method)
    assert_allclose(float(caught.value.data["time"]), 0.25, atol=1e-6)


def test_sensitivities_of_a_run_over_a_fold_are_refused():
    with pytest.raises(ModelError, match="z goes on from another solution"):
        cubic().simulate("0.3 s", sensitivities=["loop.x"])
