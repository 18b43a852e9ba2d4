"""A train on rails that rub: at rest nobody knows how much each wheel holds."""

import numpy as np
import pytest
from benches import wire
from benches.friction import train

from blocks import quantity
from library.translational import TranslationalFriction


def train_on_rails(n=26):
    """Wagons that roll with friction: when at rest, no one knows how much each of them bears."""
    model = train(n)
    wire(model, "wheels.R wagons.M", "wheels.C rail.V",
         wheels=TranslationalFriction(count=n, law="coulomb", coulomb_force="1.5 kN",
                                      breakaway_force="2 kN"))
    return model


def test_wagons_that_come_to_rest_and_start_again_lose_no_energy():
    run = train_on_rails().simulate("1 s", rtol=1e-9)
    assert len(run.events) > 40
    assert run.energy().relative_residual < 1e-7


def test_wagons_start_where_the_force_is_more_than_all_before_can_hold():
    """A force that grows by 10 kN/s: the first k wagons start together where it is more than what
    their wheels, and the draught gear behind them, hold at most."""
    model = train_on_rails()
    model.pull.force = lambda t: quantity("10 kN/s") * t
    run = model.simulate("8 s", rtol=1e-9)
    behind = np.append(model.gear.breakaway_force.to("kN").m, 0.0)
    holds = 2.0 * np.arange(1, 27) + behind
    first = min(e.time for e in run.events)
    assert first == pytest.approx(holds.min() / 10, abs=1e-9)
    started = {e.component for e in run.events if e.time == first}
    count = int(np.argmin(holds)) + 1
    assert started == {*(f"wheels[{k}]" for k in range(count)), f"gear[{count - 1}]"}
