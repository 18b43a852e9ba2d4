"""Loops with several solutions: a run follows one until it ends, then goes where the path leads."""

import numpy as np
import pytest
from benches import wired
from benches.feedback import (
    ENDS,
    GAIN,
    LAWS,
    LIMIT,
    Amplifier,
    Capacitor,
    Ground,
    Resistor,
    VoltageSource,
    multivibrator,
    switching_times,
    with_feedback,
)
from numpy.testing import assert_allclose

from blocks import Component, Model, Variable, abs_, der, quantity, sin, where
from blocks.exceptions import SimulationError
from blocks.simulation.loop_branch import LoopBranch
from blocks.simulation.start import RunStart

METHODS = ("auto", "rodas4", "BDF")


def switched(run):
    """Times at which the output jumps; its relations change at one instant."""
    return np.unique(np.round([e.time for e in run.events.of("op")], 9))


def schmitt_trigger(law, guess="-15 V", amplitude="10 V"):
    """A sine of 1 Hz at the minus input; a capacitor follows, to have something to integrate."""
    model = with_feedback(Model("schmitt"), law, guess)
    model.source = VoltageSource(
        voltage=lambda t: quantity(amplitude) * sin(2 * np.pi * t / quantity("1 s")))
    model.r, model.c = Resistor(), Capacitor(capacitance="10 uF", v="0 V")
    model.connect(model.op.minus, model.source.p)
    model.connect(model.source.n, model.ground.V, model.c.n)
    model.connect(model.op.out, model.r.p)
    model.connect(model.r.n, model.c.p)
    return model


@pytest.mark.parametrize(("law", "method"), [
    *((law, "auto") for law in LAWS), (Amplifier, "dopri5"), (LAWS[1], "rodas4"),
    (LAWS[2], "Radau")])
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
    run = multivibrator(Model("multivibrator")).simulate("0.12 s", rtol=1e-9, method=method)
    assert_allclose(switched(run), switching_times(0.12), atol=2e-9)
    height = np.abs(run["c.v"].at(quantity(switching_times(0.12), "s")).to("V").magnitude)
    assert_allclose(height, ENDS, rtol=1e-7)


def test_a_start_between_the_branches_leaves_them_at_the_end_of_its_own():
    """The branch between the limits, v_out = 2 c.v to 1e-4, ends where c.v reaches the threshold.

    It moves away from 0: c.v = 1 V exp(t / time constant), but for the gain.
    """
    model = multivibrator(Model("between"), LAWS[1], "2 V")
    run = model.simulate("0.2 s", rtol=1e-10)
    growth = 2 * GAIN / (GAIN - 2) - 1
    first = np.log(ENDS) / growth / (20 * np.log(3))
    assert_allclose(switched(run)[0], first, rtol=1e-8)
    assert_allclose(run["op.v_out"].at(quantity([first - 1e-6, first + 1e-6], "s"))
                    .to("V").magnitude, [LIMIT, -LIMIT], rtol=1e-3)


def test_pieces_of_a_loop_with_one_solution_stay_as_they_are():
    """A follower: the output at the minus input. Its pieces need no events."""
    model = wired("follower", "op.plus source.p", "op.minus op.out load.p r.p", "r.n c.p",
                  "source.n load.n c.n ground.V",
                  ground=Ground(), op=Amplifier(),
                  source=VoltageSource(voltage=lambda t: quantity("10 V/s") * t), load=Resistor(),
                  r=Resistor(), c=Capacitor())
    run = model.simulate("2 s", rtol=1e-8)
    assert model.compile().nm == 0
    assert_allclose(run["op.v_out"].at(quantity([1.0, 1.9], "s")).to("V").magnitude,
                    [10 * GAIN / (GAIN + 1), LIMIT], rtol=1e-9)


class Contradictory(Component):
    """No value of x agrees with itself."""

    x = Variable("m", initial="0 m")
    v = Variable("m/s")

    def equations(self):
        yield der(self.x) == self.v
        yield self.v == where(self.x > quantity("0.1 m"), quantity("-1 m/s"), quantity("1 m/s"))


def test_what_contradicts_itself_is_refused_as_before():
    model = wired("no way on", a=Contradictory())
    with pytest.raises(SimulationError, match=r"contradicts itself|switches back and forth"):
        model.simulate("1 s")


class SaturatedCore(Component):
    """Full steps of Newton's method go round in a circle between the two ends of its curve."""

    flux = Variable("1", initial=-3e-4)
    mmf = Variable("1")

    def equations(self):
        induction = (-self.flux - self.mmf / 1e6) / 1e-4
        part = abs_(induction) / 1.16
        permeability = 1 + (1209 + 24630 * part) / (1 + 2.44 * part + part**14)
        yield der(self.flux) == quantity("1e-4 1/s")
        yield self.mmf == 0.2 * induction / (4e-7 * np.pi * permeability)


def test_newtons_method_finds_its_way_over_a_saturated_core():
    model = wired("core", core=SaturatedCore())
    run = model.simulate("6 s", rtol=1e-9)
    mmf = run["core.mmf"].at(quantity([0.0, 3.0, 6.0], "s")).magnitude
    induction = (np.array([3e-4, 0, -3e-4]) - mmf / 1e6) / 1e-4
    part = np.abs(induction) / 1.16
    permeability = 1 + (1209 + 24630 * part) / (1 + 2.44 * part + part**14)
    assert_allclose(mmf, 0.2 * induction / (4e-7 * np.pi * permeability), rtol=1e-7, atol=1e-6)


def test_a_step_that_is_hardly_longer_than_an_instant_is_followed():
    """The first step of a multistep method after an event may be that short, late in a run."""
    problem = RunStart(schmitt_trigger(LAWS[0], "15 V")).problem()
    t, y = 1000.0, problem.solver_vector()
    branch = LoopBranch(problem, t, problem.z, 0.0)
    end = t * (1 + 2e-13)
    assert branch.is_at(end)
    assert branch.follow(end, lambda _: y) == end

