"""Loops with several solutions: a run follows one until it ends, then goes where the path leads."""

import benches.feedback as bench
import numpy as np
import pytest
from benches import few, wire, wired
from benches.feedback import ENDS, GAIN, LAWS, LIMIT, Amplifier
from benches.parts import Capacitor, Ground, Resistor, VoltageSource
from numpy.testing import assert_allclose

import blocks
from blocks import Component, Model, Variable, abs_, der, quantity, sin, tanh, time
from blocks.exceptions import ModelError, SimulationError
from library.rotational import Inertia, QuadraticSpeedDependentTorque, RotationalHardStop
from library.translational import Mass, Reference, TranslationalFriction, VelocitySource

METHODS = ("auto", "rodas4", "BDF")


def switched(run):
    """Times at which the output jumps; its relations change at one instant."""
    return np.unique(np.round([e.time for e in run.events.of("op")], 9))


def schmitt_trigger(law, guess="-15 V", amplitude="10 V"):
    """A sine of 1 Hz at the minus input; a capacitor follows, to have something to integrate."""
    model = bench.with_feedback(Model("schmitt"), law, guess)
    model.source = VoltageSource(
        voltage=lambda t: quantity(amplitude) * sin(2 * np.pi * t / quantity("1 s")))
    model.r, model.c = Resistor(), Capacitor(capacitance="10 uF", v="0 V")
    model.connect(model.op.minus, model.source.R)
    model.connect(model.source.C, model.ground.P, model.c.C)
    model.connect(model.op.out, model.r.R)
    model.connect(model.r.C, model.c.R)
    return model


@few(5, ("law", "method"), [
    *((law, "auto") for law in LAWS), (LAWS[2], "Radau"), (Amplifier, "dopri5"),
    (LAWS[1], "rodas4")])
def test_a_schmitt_trigger_switches_at_its_thresholds(law, method):
    run = schmitt_trigger(law, "15 V").simulate("2 s", rtol=1e-8, method=method)
    first = np.arcsin(ENDS / 10) / (2 * np.pi)  # down where 10 V sin(2 pi t) = 7.499 V
    assert_allclose(switched(run), first + 0.5 * np.arange(4), atol=2e-9)
    level = run["op.v_out"].at(quantity([0.0, 0.1, 0.2, 0.6, 0.7, 1.7], "s")).to("V").magnitude
    assert_allclose(level, [15, 15, -15, -15, 15, 15], rtol=1e-12)


def test_below_its_thresholds_it_stays_on_the_branch_that_was_meant():
    for guess in (15, -15):
        run = schmitt_trigger(Amplifier, f"{guess} V", "7.4 V").simulate("2 s", rtol=1e-8)
        assert not len(switched(run))
        assert_allclose(run["op.v_out"].to("V").magnitude, guess, rtol=1e-12)


@pytest.mark.parametrize("method", METHODS)
def test_the_period_of_a_multivibrator_is_its_closed_form(method):
    run = bench.multivibrator(Model("multivibrator")).simulate("0.12 s", rtol=1e-9, method=method)
    assert_allclose(switched(run), bench.switching_times(0.12), atol=2e-9)
    assert method == "BDF" or "events in Python" not in run.statistics
    assert_allclose(np.abs(run["c.v"].at(quantity(switched(run), "s")).m), ENDS, rtol=1e-7)


def test_a_start_between_the_branches_leaves_them_at_the_end_of_its_own():
    """The branch between the limits, v_out = 2 c.v to 1e-4, ends where c.v reaches the threshold.

    It moves away from 0: c.v = 1 V exp(t / time constant), but for the gain.
    """
    run = bench.multivibrator(Model("between"), LAWS[1], "2 V").simulate("0.2 s", rtol=1e-10)
    growth = 2 * GAIN / (GAIN - 2) - 1
    first = np.log(ENDS) / growth / (20 * np.log(3))
    assert_allclose(switched(run)[0], first, rtol=1e-8)
    assert_allclose(run["op.v_out"].at(quantity([first - 1e-6, first + 1e-6], "s"))
                    .to("V").magnitude, [LIMIT, -LIMIT], rtol=1e-3)


def test_pieces_of_a_loop_with_one_solution_stay_as_they_are():
    """A follower: the output at the minus input. Its pieces need no events."""
    model = wired("follower", "op.plus source.R", "op.minus op.out load.R r.R", "r.C c.R",
                  "source.C load.C c.C ground.P",
                  ground=Ground(), op=Amplifier(),
                  source=VoltageSource(voltage=lambda t: quantity("10 V/s") * t), load=Resistor(),
                  r=Resistor(), c=Capacitor())
    run = model.simulate("2 s", rtol=1e-8)
    assert model.compile().nm == 0
    assert_allclose(run["op.v_out"].at(quantity([1.0, 1.9], "s")).to("V").magnitude,
                    [10 * GAIN / (GAIN + 1), LIMIT], rtol=1e-9)


class SaturatedCore(Component):
    """Full steps of Newton's method go round in a circle between the two ends of its curve."""

    flux, mmf = Variable("1", initial=-3e-4), Variable("1")

    def equations(self):
        induction = (-self.flux - self.mmf / 1e6) / 1e-4
        part = abs_(induction) / 1.16
        permeability = 1 + (1209 + 24630 * part) / (1 + 2.44 * part + part**14)
        yield der(self.flux) == quantity("1e-4 1/s")
        yield self.mmf == 0.2 * induction / (4e-7 * np.pi * permeability)


def test_newtons_method_finds_its_way_over_a_saturated_core():
    run = wired("core", core=SaturatedCore()).simulate("6 s", rtol=1e-9)
    mmf = run["core.mmf"].at(quantity([0.0, 3.0, 6.0], "s")).magnitude
    induction = (np.array([3e-4, 0, -3e-4]) - mmf / 1e6) / 1e-4
    part = np.abs(induction) / 1.16
    permeability = 1 + (1209 + 24630 * part) / (1 + 2.44 * part + part**14)
    assert_allclose(mmf, 0.2 * induction / (4e-7 * np.pi * permeability), rtol=1e-7, atol=1e-6)


# -- folds of smooth loops --------------------------------------------------------------------
PER_SECOND = quantity("1 1/s")
TURN = 2 * np.pi * PER_SECOND
FOLLOWING = ("auto", "rodas4", "Radau", "DOP853")


class Cubic(Component):
    """z**3 - 3 z follows a sine: with folds at z = -1 and 1, where the sine is 2 and -2."""

    z, x = Variable("1", -1.7), Variable("1", 0.0, priority="high")

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


def beside_a_body_with_exact_friction():
    model = cubic()
    wire(model, "belt.R rub.R", "rub.C block.M", "belt.C floor.V",
         belt=VelocitySource(velocity="0.1 m/s"), block=Mass(), floor=Reference(),
         rub=TranslationalFriction(law="coulomb", coulomb_force="5 N"))
    return model


@pytest.mark.parametrize(("make", "method"), [
    *((cubic, method) for method in FOLLOWING if method != "Radau"),
    pytest.param(cubic, "Radau", marks=pytest.mark.slow),
    *((beside_a_body_with_exact_friction, method) for method in ("auto", "rodas4", "DOP853"))])
def test_a_solution_that_ends_at_a_fold_is_an_event(make, method):
    run = make().simulate("1 s", rtol=1e-8, method=method)
    events = run.events.of("loop")
    assert_allclose([e.time for e in events], FOLDS, atol=1e-9)
    assert str(events[0].description) == "z goes on from another solution"
    t = np.array([0.0, 0.05, 0.083, 0.0834, 0.3, 0.58, 0.5834, 0.9, 1.0])
    on_top = (t > FOLDS[0]) & (t < FOLDS[1])
    drive = 4 * np.sin(2 * np.pi * t)
    z = np.where(on_top, roots(drive, 1), roots(drive, -1))
    assert_allclose(run["loop.z"].at(quantity(t, "s")).magnitude, z, atol=1e-6)


def test_what_a_drag_without_slope_lets_go_is_stepped_over():
    """A stop that is pressed in lets go through a drag within microseconds, and then the drag has
    no slope: a step of a millisecond comes to the end of that."""
    model = wired("pressed in", "drag.C stop.R", "drag.R wheel.I stop.C",
                  drag=QuadraticSpeedDependentTorque(), wheel=Inertia(inertia="0.02 kg*m^2"),
                  stop=RotationalHardStop(lower_bound="0.01 rad"))
    run = model.simulate("0.1 s", method="moreau_jean", step="1 ms")
    assert_allclose(run["stop.phi"].final.magnitude, 0.01, rtol=1e-9)


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
    run = wired("carrier", loop=Carrier()).simulate("1 s", rtol=1e-8, method=method)
    assert_allclose([e.time for e in run.events], FOLDS, atol=1e-8)
    assert_allclose(run["loop.z"].at("0.25 s").magnitude, roots(4.0, 1), atol=1e-6)


class Schmitt(Component):
    """A comparator with positive feedback, z = 2 tanh(5 z) + u, beside a slow state."""

    z, x = Variable("1", -2.0), Variable("1", 0.0, priority="high")

    def equations(self):
        yield self.z - 2 * tanh(5 * self.z) == 3 * sin(TURN * time)
        yield der(self.x) == PER_SECOND * (self.z - self.x)


@pytest.mark.parametrize("method", ["auto", "rodas4"])
def test_a_smooth_schmitt_trigger_switches_where_its_curve_turns(method):
    run = wired("schmitt", loop=Schmitt()).simulate("1 s", rtol=1e-8, method=method)
    turns = np.arctanh(np.sqrt(0.9)) / 5  # where 10 / cosh(5 z)**2 = 1
    level = 2 * np.sqrt(0.9) - turns
    first = np.arcsin(level / 3) / (2 * np.pi)
    assert_allclose([e.time for e in run.events], [first, first + 0.5], atol=1e-9)


@pytest.mark.parametrize("method", ["auto", "dopri5", "rodas4", "DOP853"])
@pytest.mark.parametrize(("law", "drive"), [
    (lambda m, z: 0.05 * z + m.tanh(50 * z), 1.8),
    (lambda m, v: v + 1e-9 * (m.exp(v / 0.026) - 1), 5)], ids=["steep", "diode"])
def test_what_changes_fast_is_no_event_and_is_read_as_solved(law, drive, method):
    """A curve that rises within a hundredth of what drives it, and a diode behind a resistor."""
    class Steep(Component):
        z, x = Variable("1", 0.0), Variable("1", 0.0, priority="high")

        def equations(self):
            yield law(blocks, self.z) == drive * sin(TURN * time)
            yield der(self.x) == PER_SECOND * (sin(TURN * time) - self.x)

    run = wired("steep", loop=Steep()).simulate("1 s", method=method)
    assert not len(run.events)
    t = np.linspace(0, 1, 401)
    z = run["loop.z"].at(quantity(t, "s")).magnitude
    assert_allclose(law(np, z), drive * np.sin(2 * np.pi * t), atol=1e-9)


class Isolated(Component):
    """z**2 = 1/4 - time: nothing lies beyond its fold."""

    z, x = Variable("1", 0.5), Variable("1", 0.0, priority="high")

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
