"""Laws that are a Stribeck curve of the velocity: continuous ones, which creep, and exact ones."""

from __future__ import annotations

from math import atanh, e, sqrt
from typing import ClassVar

import numpy as np

from blocks import Parameter, abs_, dry_friction, exp, maximum, minimum, tanh

from ..tables import friction_at, friction_faults
from .base import FrictionLaw, force, stribeck_level, velocity


class Viscous(FrictionLaw):
    """Saturated viscous friction: F_C v/band within the band, F_C sign(v) outside.

    Never sticks: a load P creeps at v = band P/F_C.
    """

    band = Parameter(1e-3, velocity, above=0, doc="Velocity of full friction")

    def force(self, c):
        return c.coulomb * maximum(minimum(c.flow / c.band, 1), -1)

    def creep(self, c):
        return c.band / 2


class MartinsOden(Viscous):
    """The regularisation after J. A. C. Martins and J. T. Oden (1987), in its linear form.

    The same curve as saturated viscous friction: an oscillator with spring constant k
    and damping d = F_C/band left within the band returns to zero as exp(-k t/d).
    """


class Tanh(FrictionLaw):
    """F_C tanh(v/band). Never sticks: a load P creeps at v = band artanh(P/F_C)."""

    band = Parameter(1e-3, velocity, above=0, doc="Velocity of 76 % of the friction")

    def force(self, c):
        return c.coulomb * tanh(c.flow / c.band)

    def creep(self, c):
        return c.band * atanh(0.5)


class Simscape(FrictionLaw):
    """The continuous curve of Simscape's friction blocks: Stribeck, Coulomb, viscous.

    sqrt(2e) (F_G - F_C) exp(-(v/v_St)²) v/v_St + F_C tanh(v/v_Coul) + c v, with
    v_St = sqrt(2) v_brk and v_Coul = v_brk/10. Never sticks.
    """

    uses = ("coulomb", "breakaway", "breakaway_velocity", "viscous")

    def force(self, c):
        u = c.flow / c.breakaway_velocity
        rise = sqrt(e) * (c.breakaway - c.coulomb) * exp(-(u**2) / 2) * u
        return rise + c.coulomb * tanh(10 * u) + c.viscous_coefficient * c.flow

    def creep(self, c):
        if c.normal:  # the load is not known beforehand
            return None
        slope = (sqrt(e) * (c.breakaway - c.coulomb) + 10 * c.coulomb) / c.breakaway_velocity
        slope = slope + c.viscous_coefficient
        return c.breakaway / 2 / slope if np.all(slope.magnitude > 0) else None


class Coulomb(FrictionLaw):
    """Exact: any |F| <= F_G at rest, (F_C + c |v|) sign(v) in motion."""

    uses: ClassVar[tuple[str, ...]] = ("coulomb", "breakaway", "viscous")
    exact = True

    def kinetic(self, c):
        return c.coulomb + c.viscous_coefficient * abs_(c.flow)

    def equations(self, c):
        yield dry_friction(c.effort, c.flow, static=c.breakaway, kinetic=self.kinetic(c))


class Stribeck(Coulomb):
    """Exact, with a falling curve: (F_C + (F_G - F_C) exp(-(v/v_brk)²) + c |v|) sign(v)."""

    uses = ("coulomb", "breakaway", "breakaway_velocity", "viscous")

    def kinetic(self, c):
        return stribeck_level(c) + c.viscous_coefficient * abs_(c.flow)


class Table(FrictionLaw):
    """Exact, with a measured curve: levels over speeds, linear between.

    Beyond the last speed the last line goes on, but not below zero. At rest any |F| <= peak times
    the first level.
    """

    uses = ()
    exact = True
    speeds = Parameter([0.0, 1.0], velocity, minimum=0, doc="Speeds of the table, from 0 on")
    levels = Parameter([20.0, 20.0], force, minimum=0, doc="Friction at the speeds")
    peak = Parameter(1.0, minimum=1, doc="Largest sticking friction over the first level")

    def equations(self, c):
        kinetic = friction_at(abs_(c.flow), c.speeds, c.levels)
        yield dry_friction(c.effort, c.flow, static=c.peak * c.levels[0], kinetic=kinetic)

    def limit(self, c):
        return c.peak * c.levels[0]

    def verify(self, c):
        if c.normal:
            yield ("law='table' has its friction in the table, but normal=True makes strengths "
                   "coefficients. Leave normal out.")  # fmt: skip
        yield from friction_faults(("speeds", c.speeds), levels=c.levels)
