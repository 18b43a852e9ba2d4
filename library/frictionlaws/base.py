"""What a friction law is, and the words it is written in."""

from __future__ import annotations

from typing import ClassVar

import numpy as np

from blocks import Replacement, exp, maximum, quantity, where

FAST = 1e-2  # m/s or rad/s: a hundredth of the default nominal velocity
BENT = 0.99  # of what bristles and springs bear, from which on they do not rest


class FrictionLaw(Replacement):
    """Base of the friction laws; a law of your own is a subclass with one method.

    A law is written for forces and torques alike. It sees the friction component c:

    =========================  ==================================================
    ``c.effort``               force (torque) carried from R to C, to be determined
    ``c.flow``                 velocity of R against C
    ``c.coulomb``              kinetic strength F_C
    ``c.breakaway``            largest strength at rest F_G
    ``c.breakaway_velocity``   and ``c.viscous_coefficient``, of a law that uses them
    =========================  ==================================================

    and its own parameters and variables, whose unit is one of the functions
    ``force``, ``velocity``, ``shift``, ``stiffness``, ``resistance`` of this module.

    Attributes
    ----------
    uses : which of coulomb, breakaway, breakaway_velocity and viscous it has
    exact : whether it sticks without any motion, as part of the language
    memory : whether its force depends on the past and not on velocity and load alone

    Examples
    --------
    >>> from blocks import Parameter
    >>> from library.frictionlaws import FrictionLaw, velocity
    >>> from library.translational import TranslationalFriction
    >>> class Rational(FrictionLaw):
    ...     '''F_C v / (|v| + band): rises like viscous friction, never beyond F_C.'''
    ...     band = Parameter(1e-3, velocity, above=0, doc="Velocity of half the force")
    ...
    ...     def force(self, c):
    ...         return c.coulomb * c.flow / (abs(c.flow) + c.band)
    >>> friction = TranslationalFriction(law=Rational, coulomb_force="5 N", band="1 cm/s")
    """

    uses: ClassVar[tuple[str, ...]] = ("coulomb",)
    exact: ClassVar[bool] = False
    memory: ClassVar[bool] = False

    def force(self, c):
        """The force (or torque) at the present velocity."""
        raise NotImplementedError

    def equations(self, c):
        """The statements that determine ``c.effort`` and the law's own variables."""
        yield c.effort == self.force(c)

    def power_stored(self, c):
        """Rate of the energy that the law stores; the rest of effort times flow is heat."""
        return 0

    def verify(self, c):
        """Relations between its parameters that are violated."""
        return iter(())

    def limit(self, c):
        """The largest load that rest should bear."""
        return c.breakaway if "breakaway" in self.uses else c.coulomb

    def borne(self, c):
        """The largest load of rest at the velocity that there is; bristles and springs bear the
        level of steady motion, however slow it is."""
        return BENT * stribeck_level(c) if self.memory and self.banded() else self.limit(c)

    def scale(self, c):
        """Velocity below which the law stands for rest, or None."""
        if "band" in self.declarations:
            return c.band
        return c.breakaway_velocity if "breakaway_velocity" in self.uses else None

    @classmethod
    def banded(cls):
        """Whether it has a velocity that stands for rest."""
        return "band" in cls.declarations or "breakaway_velocity" in cls.uses

    def creep(self, c):
        """Velocity under half the largest load, where the law creeps with the load."""
        return

    def advise(self, c):
        """What the user of the law should know; of creep, if it is faster than 1 cm/s."""
        speed = self.creep(c)
        if speed is not None and np.any(abs(speed.to(velocity(c)).magnitude) > FAST):
            yield (f"law={c.law!r} never sticks: under half the load that it should hold it creeps "
                   f"at {np.max(speed.to(velocity(c))):.3g~P}. A smaller band or breakaway "
                   "velocity creeps less; law='coulomb' sticks.")  # fmt: skip


# -- units ----------------------------------------------------------------------------------
def force(c):
    """N, or N*m where things turn."""
    return c.units["force"]


def velocity(c):
    """m/s or rad/s."""
    return c.units["velocity"]


def shift(c):
    """m or rad."""
    return c.units["shift"]


def stiffness(c):
    """N/m or N*m/rad."""
    return f"({force(c)}) / {shift(c)}"


def resistance(c):
    """N*s/m or N*m*s/rad."""
    return f"({force(c)}) * s / {shift(c)}"


def compliance(c):
    """N/s or N*m/s: how fast a force changes."""
    return f"({force(c)}) / s"


# -- expressions ----------------------------------------------------------------------------
def sgn(x):
    """-1, 0 or 1, evaluated at every call: no event is located where it jumps."""
    return where(x > 0, 1.0, where(x < 0, -1.0, 0.0, events=False), events=False)


def stribeck_level(c):
    """F_C + (F_G - F_C) exp(-(v/v_s)²), with the breakaway velocity as v_s."""
    fall = exp(-((c.flow / c.breakaway_velocity) ** 2))
    return above_zero(c, c.coulomb + (c.breakaway - c.coulomb) * fall)


def above_zero(c, strength):
    """A strength to divide by, where there may be no normal force."""
    return maximum(strength, quantity(1e-9, force(c)))
