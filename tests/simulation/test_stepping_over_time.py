"""Does a run that a program drives see what time does, however long it may go on?

It is started for a hundred seconds unless it is told otherwise, and driven for a millisecond: a
pulse width modulation of 100 kHz, a burst of microseconds, a modulator that is a block.
"""

import numpy as np
import pytest
from benches import wired
from numpy.testing import assert_allclose

from blocks import (
    Component,
    Output,
    Parameter,
    SimulationError,
    Variable,
    der,
    exp,
    mod,
    quantity,
    time,
    where,
)
from library.planar import Body, Ground, Prismatic, Revolute, RigidOffset
from library.rotational import Inertia, RotationalReference, TorqueSource, table
from library.signal import Integrator, Pulse
from library.translational import Reference, TranslationalFriction


class Gate(Component):
    """Closed for a hundredth of every period."""

    period, y = Parameter("10 us"), Output("1")

    def equations(self):
        yield self.y == where(mod(time, self.period) < self.period / 100, 1, 0)


class Burst(Component):
    """A pulse of microseconds within a millisecond: exp(-((t - at)/width)²)."""

    at, width, y = Parameter("0.5 ms"), Parameter("3 us"), Output("1")

    def equations(self):
        yield self.y == exp(-(((time - self.at) / self.width) ** 2))


def summed(source):
    return wired("summed", "source.y sum.u", source=source, sum=Integrator(input="1"))


@pytest.mark.parametrize("source", [Gate, lambda: Pulse(period="10 us", width=0.01)],
                         ids=["written", "block"])
@pytest.mark.parametrize(("step", "count"), [("1 ms", 3), ("0.13 ms", 20), ("5 us", 700)])
def test_no_edge_is_passed_over_in_steps_of_any_length(source, step, count):
    run = summed(source()).stepper()
    for _ in range(count):
        run.advance(step)
    periods, rest = divmod(round(count * quantity(step).to("ns").m), 10_000)
    assert_allclose(run["sum.y"].to("s").m, periods * 1e-7 + min(rest * 1e-9, 1e-7), rtol=1e-9)


@pytest.mark.parametrize(("step", "count"), [("1 ms", 1), ("0.25 ms", 4), ("20 us", 50)])
def test_a_burst_is_found_however_long_the_run_may_go_on(step, count):
    run = summed(Burst()).stepper()
    for _ in range(count):
        run.advance(step)
    assert_allclose(run["sum.y"].to("s").m, 3e-6 * np.sqrt(np.pi), atol=1e-7)  # atol is 1e-8 s


@pytest.mark.parametrize("count", [6, 7, 10])  # the last two fall short by rounding
def test_steps_that_are_rounded_get_to_the_end(count):
    """A wheel of 1 kg m² that is turned harder for a second, and by 3 N m from then on."""
    model = wired("wheel", "motor.R wheel.I", "motor.C wall.W",
                  wheel=Inertia(inertia="1 kg*m^2"), wall=RotationalReference(),
                  motor=TorqueSource(torque=table(["0 s", "1 s"], ["0 N*m", "3 N*m"])))
    run = model.stepper(outputs=["wheel.w"], duration="6 s")
    for _ in range(count):
        run.step([], 6 / count)
    assert_allclose([run.time.m, run.numbers()[0]], [6.0, 16.5], rtol=1e-9)


def test_what_is_looked_over_anew_goes_back_to_the_bit():
    run = summed(Gate()).stepper()
    for _ in range(7):
        run.advance("30 us")
    state, ends = run.save_state(), []
    for _ in range(2):
        for _ in range(40):
            run.advance("30 us")
        ends.append(run["sum.y"].m)
        run.restore(state)
    assert ends[0] == ends[1]
    assert_allclose(ends[0], 47 * 3e-7, rtol=1e-9)


def test_what_switches_for_ever_is_refused_in_driven_runs_too():
    class Chatter(Component):
        x = Variable("1", 1.0, priority="high")

        def equations(self):
            yield der(self.x) == where(self.x > 0, -1, 1) / quantity("1 ms")

    model = wired("chatter", c=Chatter())
    run = model.stepper()
    with pytest.raises(SimulationError, match="^c: switches back and forth"):
        for _ in range(20):
            run.advance("0.1 ms")


@pytest.mark.parametrize("method", ["rodas4", "dopri5", "DOP853"])
def test_states_are_read_beside_unknowns_that_are_solved_for(method):
    class Leak(Component):
        """x = y + y³ and dx/dt = -y/s, so ln y + 1.5 y² + t/s does not change."""

        x, y = Variable("1", 2.0, priority="high"), Variable("1", 1.0)

        def equations(self):
            yield self.x == self.y + self.y**3
            yield der(self.x) == -self.y / quantity("1 s")

    model = wired("leak", leak=Leak())
    run = model.stepper(outputs=["leak.x"], method=method, rtol=1e-9)
    for k in range(1, 5):
        run.advance("0.25 s")
        y = run["leak.y"].m
        assert_allclose(np.log(y) + 1.5 * y**2 + 0.25 * k, 1.5, rtol=1e-7)
        assert_allclose(run["leak.x"].m, y + y**3, rtol=1e-9)


@pytest.mark.parametrize("method", ["rodas4", "dopri5"])
def test_a_linkage_with_friction_goes_back_to_the_bit(method):
    model = wired("slider-crank", "world.P main.B slide.B", "main.F wheel.P crank.B",
                  "crank.F pin.B", "pin.F bar.P rod.B", "rod.F guide.B", "guide.F slide.F piston.P",
                  "slide.A rings.R", "rings.C wall.V",
                  world=Ground(), wall=Reference(), main=Revolute(phi="30 deg", w="20 rad/s"),
                  pin=Revolute(), guide=Revolute(), crank=RigidOffset(dx="50 mm"),
                  rod=RigidOffset(dx="200 mm"), wheel=Body(inertia="1e-3 kg*m^2"),
                  bar=Body(mass="0.2 kg", inertia="1e-4 kg*m^2"), slide=Prismatic(drive=True),
                  piston=Body(mass="0.5 kg", inertia="1e-4 kg*m^2"),
                  rings=TranslationalFriction(law="coulomb", coulomb_force="2 N",
                                              breakaway_force="3 N"))
    run = model.stepper(outputs=["main.w", "slide.s", "rings.f"], method=method)

    def onwards():
        return [run.step([], 0.07).tolist() for _ in range(4)]

    onwards()
    state = run.save_state()
    first = onwards()
    for _ in range(2):
        run.restore(state)
        assert onwards() == first
