"""A run may be as long as it likes: what switches often in it is no chatter while things move.

Each run here would take hours. Something that does chatter, from the 60th second on, ends it: it
alone must be named, and not before.
"""

import numpy as np
import pytest
from benches import wire

from blocks import (
    Component,
    Model,
    Parameter,
    SimulationError,
    Variable,
    der,
    quantity,
    sin,
    time,
    when,
    where,
)
from library.translational import Mass, Reference, Spring, TranslationalFriction, VelocitySource

AT_REST = 60.1  # s


class Slide(Component):
    """At full speed towards zero from either side: there it switches for ever."""

    x = Variable("m", f"{AT_REST} m", priority="high")

    def equations(self):
        yield der(self.x) == where(self.x > quantity(0, "m"), -1.0, 1.0) * quantity(1, "m/s")


class Heater(Component):
    """Is on while a carrier of 20 Hz is below what is missing of a temperature."""

    temperature = Variable("K", "299 K", priority="high")
    capacity = Parameter("1 MJ/K")

    def equations(self):
        carrier = 2 + sin(quantity(2 * np.pi * 20, "rad/s") * time)
        missing = (quantity(301.5, "K") - self.temperature) / quantity("1 K")
        power = where(carrier < missing, 100.0, 0.0) * quantity("1 W")
        yield self.capacity * der(self.temperature) == power


class Sawtooth(Component):
    """Goes up for a quarter of a second, and begins anew: it is where it was at every event."""

    x = Variable("1", "0", priority="high")

    def equations(self):
        yield der(self.x) == quantity("4 1/s")
        yield when(self.x > 1, {self.x: 0.0})


def belt(model):
    """A block that sticks and slips four times a second."""
    wire(model, "pull.R spring.R", "spring.C block.M friction.R", "friction.C pull.C ground.V",
         pull=VelocitySource(velocity="0.1 m/s"), ground=Reference(), block=Mass(mass="1 kg"),
         spring=Spring(stiffness="1 kN/m"),
         friction=TranslationalFriction(law="coulomb", coulomb_force="20 N",
                                        breakaway_force="40 N"))


def heater(model):
    model.heater = Heater()


def sawtooth(model):
    model.sawtooth = Sawtooth()


@pytest.mark.parametrize("method", ["auto", "DOP853"])
@pytest.mark.parametrize("add", [belt, heater, sawtooth])
def test_only_what_does_not_move_chatters(add, method):
    model = Model("long")
    add(model)
    model.slide = Slide()
    with pytest.raises(SimulationError, match="^slide: switches back and forth") as told:
        model.simulate("100 h", method=method)
    assert told.value.time == pytest.approx(AT_REST, abs=1e-3)
    assert len(told.value.result.events) > 300
