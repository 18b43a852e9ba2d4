"""Samples of one instant: rounding is no change, all else is."""

import numpy as np
import pytest
from benches import wired
from numpy.testing import assert_allclose

from blocks import (
    Component,
    Discrete,
    Input,
    Output,
    SimulationError,
    Variable,
    der,
    every,
    quantity,
    where,
)
from blocks.simulation.actions import Samplings
from blocks.simulation.start import RunStart
from blocks.simulation.time_events import TimeEvents
from library.electrical import (
    Capacitor,
    DCVoltageSource,
    ElectricalReference,
    Resistor,
    Switch,
    VoltageSensor,
)


class Difference(Component):
    """Samples the difference of two large states that is small itself."""

    a = Variable("1", 1000.0, priority="high")
    b = Variable("1", 999.0, priority="high")
    held = Discrete("1", 0.0)

    def equations(self):
        yield every("1 s", {self.held: self.a - self.b})
        yield der(self.a) == quantity("0 1/s")
        yield der(self.b) == quantity("0 1/s")


class Bleeds(Component):
    """Closes a switch while a voltage is high, and so lowers it at the same instant."""

    u, y = Input("V"), Output("1")
    on = Discrete("1", 0)

    def equations(self):
        yield every("0.1 s", {self.on: where(self.u > quantity("0.9 V"), 1, 0)})
        yield self.y == self.on


@pytest.mark.parametrize("method", ["auto", "RK23"])
def test_a_sampler_that_undoes_its_reason_behind_a_switch_is_told_to_wait(method):
    model = wired("bleeds", "source.p main.p", "main.n line[0].p",
                  "line[0].n line[1].p valve.p sensor.p", "line[1].n store.p", "valve.n bleeder.p",
                  "bleeder.n store.n source.n sensor.n ground.V", "sensor.V bleeds.u",
                  "bleeds.y valve.vT",
                  source=DCVoltageSource(voltage="1 V"), main=Switch(model="ideal", gate=1),
                  line=Resistor(count=2, resistance="1 ohm"), bleeder=Resistor(),
                  store=Capacitor(capacitance="1 mF"), ground=ElectricalReference(), valve=Switch(),
                  sensor=VoltageSensor(), bleeds=Bleeds())
    with pytest.raises(SimulationError, match="^at t = 0.1 s the condition bleeds: u - 0.9 > 0 "
                       "contradicts itself.* hand the new value on one period later"):
        model.simulate("1 s", method=method)


def test_a_sample_that_is_taken_again_at_its_instant_keeps_its_last_digits():
    model = wired("difference", part=Difference())
    problem = RunStart(model).problem()
    samplings = Samplings(problem.system, TimeEvents(problem.system, problem.p, 0.0, 10.0))
    samplings.begin(0.0)
    assert samplings.apply(problem, 0.0)
    assert_allclose(problem.d, [1.0])
    problem.x[0] += 2 * np.spacing(1000.0)  # as bringing held flows back to zero does
    assert not samplings.apply(problem, 0.0)
    assert problem.d[0] == 1.0
    problem.x[0] += 1e-6
    assert samplings.apply(problem, 0.0)
    assert_allclose(problem.d, [1 + 1e-6], rtol=1e-12)
    problem.x[0] += 2 * np.spacing(1000.0)
    samplings.begin(1.0)  # the next instant takes what there is
    assert samplings.apply(problem, 1.0)
    assert problem.d[0] == problem.x[0] - problem.x[1]
