"""Small circuits for tests of translational components."""

import blocks
from benches import wire, wired
from benches.axis import TRANSLATIONAL
from blocks import quantity
from library.translational import Damper, Mass, Reference, Spring, TwoPort

driven, thrown = TRANSLATIONAL.driven, TRANSLATIONAL.thrown


class OneWay(TwoPort):
    """A damper that acts in one direction only."""

    def equations(self):
        yield self.f == quantity("30 N*s/m") * blocks.maximum(self.v, 0)


def oscillator(damping=None):
    """2 kg at 1 m/s on 8 N/m: 2 rad/s."""
    model = wired("oscillator", "body.M spring.R", "spring.C ground.V",
                  body=Mass(mass="2 kg", v="1 m/s"), spring=Spring(stiffness="8 N/m"),
                  ground=Reference())
    if damping:
        wire(model, "damper.R body.M", "damper.C ground.V", damper=Damper(damping=damping))
    return model
