"""A limited amplifier that feeds back on itself: three solutions, of which a run follows one."""

import numpy as np

import blocks
from benches import wire
from benches.parts import Capacitor, Ground, Resistor, electrical
from blocks import Component, Parameter, Port, Target, Variable, abs_, maximum, minimum, where

GAIN, LIMIT = 15000.0, 15.0
#: Half of what the output comes to at the end of a branch.
ENDS = LIMIT / 2 - LIMIT / GAIN
#: Resistance times capacitance of the multivibrator.
TIME_CONSTANT = 1 / (20 * np.log(3))


class Amplifier(Component):
    """out.v is the gain times the difference of the inputs, within limits."""

    plus, minus, out = Port(electrical), Port(electrical), Port(electrical)
    gain, limit = Parameter(GAIN), Parameter(f"{LIMIT} V")
    v_out = Variable("V")

    def equations(self):
        yield self.plus.i == 0
        yield self.minus.i == 0
        yield self.v_out == self.out.v
        yield self.v_out == self.limited(self.gain * (self.plus.v - self.minus.v), self.limit)

    def limited(self, u, limit):
        return minimum(maximum(u, -limit), limit)


class WithConditions(Amplifier):
    def limited(self, u, limit):
        return where(u > limit, limit, where(u < -limit, -limit, u))


class WithAmounts(Amplifier):
    def limited(self, u, limit):
        return (abs_(u + limit) - abs_(u - limit)) / 2


LAWS = (Amplifier, WithConditions, WithAmounts)


def with_feedback(model, law=Amplifier, guess="-1 V"):
    """Half of the output at the plus input; the minus input is left to be connected."""
    model.ground, model.r1, model.r2 = Ground(), Resistor(), Resistor()
    model.op = law(v_out=Target(guess, priority="none"))
    wire(model, "op.plus r1.R r2.C", "op.out r2.R", "r1.C ground.P")
    return model


def multivibrator(model, law=Amplifier, guess="-15 V"):
    with_feedback(model, law, guess)
    wire(model, "op.out r.R", "op.minus r.C c.R", "c.C ground.P",
         r=Resistor(), c=Capacitor(capacitance=blocks.quantity(TIME_CONSTANT / 1000, "F"), v="1 V"))
    return model


def switching_times(end):
    """The capacitor goes towards a limit from 1 V, then from where the other branch has ended."""
    first = TIME_CONSTANT * np.log((LIMIT + 1) / (LIMIT - ENDS))
    half = TIME_CONSTANT * np.log((LIMIT + ENDS) / (LIMIT - ENDS))
    return first + half * np.arange(int((end - first) / half) + 1)
