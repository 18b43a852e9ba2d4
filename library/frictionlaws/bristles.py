"""Laws with an inner deflection z: friction as bending bristles between the surfaces."""

from __future__ import annotations

from functools import reduce
from math import pi
from typing import Any, ClassVar

from blocks import (
    Discrete,
    Parameter,
    Variable,
    abs_,
    der,
    initially,
    maximum,
    minimum,
    mod,
    sign,
    sin,
    when,
    where,
)

from .base import FrictionLaw, above_zero, force, resistance, shift, stiffness, stribeck_level

TINY = 1e-300  # whose powers have derivatives
TOGETHER = 1 - 1e-9  # of the reach: bristles as near to it snap with the one that gets there


class Bending(FrictionLaw):
    """Base of laws with one deflection z, of stiffness sigma_0 and energy sigma_0 z²/2.

    Integrated is the elastic force sigma_0 z, whose size the strengths of the law tell; a
    deflection of micrometres would be lost beside the nominal metre.
    """

    memory = True
    stiffness = Parameter(1e5, stiffness, above=0, doc="Stiffness sigma_0 of the contact")
    z = Variable(shift, 0, priority="high", doc="deflection of the contact")
    elastic = Variable(force, doc="force of the deflection, sigma_0 z")
    energy_stored = Variable("J", doc="energy of the deflection")

    def rate(self, c):
        """dz/dt."""
        raise NotImplementedError

    def equations(self, c):
        yield c.elastic == c.stiffness * c.z
        yield der(c.elastic) == c.stiffness * self.rate(c)
        yield c.effort == self.force(c)
        yield c.energy_stored == c.stiffness * c.z**2 / 2

    def power_stored(self, c):
        return c.stiffness * c.z * self.rate(c)


class Dahl(Bending):
    """dF/dx = sigma_0 (1 - r)^i, with r = F sign(v)/F_C; sigma_0 (1 - r) should r exceed 1.

    P. R. Dahl (1968). The force rises as a spring does and levels off at F_C; the
    exponent i says how abruptly. Drifts under vibration; no higher friction at rest.
    """

    exponent = Parameter(1.0, above=0, doc="Exponent i")

    def rate(self, c):
        left = 1 - c.stiffness * c.z / above_zero(c, c.coulomb) * sign(c.flow)
        # the power needs no sign: with i < 1 the force arrives at F_C, and stays
        return c.flow * (maximum(left, TINY) ** c.exponent + minimum(left, 0))

    def force(self, c):
        return c.stiffness * c.z


class LuGre(Bending):
    """F = sigma_0 z + sigma_1 dz/dt + c v, with dz/dt = v - sigma_0 |v| z/g(v).

    g(v) = F_C + (F_G - F_C) exp(-(v/v_brk)²). C. Canudas de Wit, H. Olsson,
    K. J. Astrom, P. Lischinsky, IEEE Trans. Autom. Control 40(3), 1995. Shows
    pre-sliding, frictional lag and break-away that depends on the rate of the load.
    A load that oscillates below F_G makes it drift.
    """

    uses = ("coulomb", "breakaway", "breakaway_velocity", "viscous")
    damping = Parameter(300.0, resistance, minimum=0, doc="Damping sigma_1 of the deflection")

    def rate(self, c):
        return c.flow - c.stiffness * abs_(c.flow) / stribeck_level(c) * c.z

    def force(self, c):
        return c.stiffness * c.z + c.damping * self.rate(c) + c.viscous_coefficient * c.flow


class ElastoPlastic(LuGre):
    """LuGre's law that bends elastically first: dz/dt = v - alpha sigma_0 |v| z/g(v).

    alpha is 0 up to the elastic share of z_max = g/sigma_0 (and whenever z shrinks), 1
    beyond z_max, and half a sine between. P. Dupont, V. Hayward, B. Armstrong,
    F. Altpeter, IEEE Trans. Autom. Control 47(5), 2002. Loads below the elastic share
    of F_C cause no drift, however they oscillate.
    """

    elastic_share = Parameter(0.9, above=0, below=1, doc="Elastic part of the largest deflection")

    def rate(self, c):
        share = c.stiffness * abs_(c.z) / stribeck_level(c)
        part = (share - (1 + c.elastic_share) / 2) / (1 - c.elastic_share)
        rising = (1 + sin(pi * part)) / 2
        alpha = where(share <= c.elastic_share, 0.0, where(share < 1, rising, 1.0, events=False),
                      events=False)  # fmt: skip
        alpha = where(c.flow * c.z > 0, alpha, 0.0, events=False)
        return c.flow - alpha * c.stiffness * abs_(c.flow) / stribeck_level(c) * c.z


class Bristle(FrictionLaw):
    """Many bristles, each a spring that snaps at its reach and grips again at random.

    F = (stiffness/n) sum of the deflections. A bristle bent by the reach lets go and
    grips again with a deflection that is uniform between the two offsets, as shares of
    the reach in the direction of motion. D. A. Haessig, B. Friedland (1991). The mean
    force in sliding is stiffness reach (1 - <o²>)/(2 - 2 <o>): a half of their product
    for offsets of 0, 2/3 for 0 to 1, 1/3 for -1 to 1. The law knows no other strength.

    ``bristles`` is their number; another one makes a subclass. Random numbers follow
    from the seed alone (Lehmer's generator), so that runs repeat.
    """

    uses = ()
    memory = True
    bristles: ClassVar[int] = 20
    stiffness = Parameter(1e5, stiffness, above=0, doc="Stiffness of all bristles together")
    reach = Parameter(1e-4, shift, above=0, doc="Deflection at which a bristle snaps")
    least_offset = Parameter(0.0, minimum=-1, below=1, doc="Least deflection after a snap")
    largest_offset = Parameter(0.0, minimum=-1, below=1, doc="Largest deflection after a snap")
    seed = Parameter(1.0, minimum=1, maximum=1e6, doc="Start of the random numbers")
    z = Variable(shift, 0, priority="high", doc="displacement of R against C")
    energy_stored = Variable("J", doc="energy of the deflections")

    root = Discrete(lambda c: [shift(c)] * c.kind.bristles, doc="where the bristles grip")
    drawn = Discrete(lambda c: ["1"] * c.kind.bristles, doc="random numbers")

    def equations(self, c):
        yield der(c.z) == c.flow
        n, bent = self.bristles, self.bent(c)
        yield c.effort == c.stiffness / n * sum(bent)
        yield c.energy_stored == c.stiffness / n / 2 * sum(b**2 for b in bent)
        farthest = reduce(maximum, map(abs_, bent))
        snapped: dict[Any, object] = {}
        for k, (b, root, drawn) in enumerate(zip(bent, c.root, c.drawn, strict=True)):
            # spread evenly to begin with: no force at rest
            start = mod(7919.0 * c.seed + 104729.0 * (k + 1), PRIME - 1) + 1
            yield initially({root: -c.reach * ((2 * k + 1) / n - 1), drawn: start})
            offset = c.least_offset + (c.largest_offset - c.least_offset) * drawn / PRIME
            snaps = abs_(b) >= TOGETHER * minimum(c.reach, farthest)
            snapped[root] = where(snaps, c.z - b * offset, root, events=False)
            snapped[drawn] = where(snaps, mod(MULTIPLIER * drawn, PRIME), drawn, events=False)
        yield when(farthest >= c.reach, snapped)

    def limit(self, c):
        low, high = c.least_offset, c.largest_offset
        squares = (low**2 + low * high + high**2) / 3
        return c.stiffness * c.reach * (1 - squares) / (2 - low - high)

    def bent(self, c):
        """Deflections of all bristles."""
        return [c.z - root for root in c.root]

    def power_stored(self, c):
        return c.effort * c.flow


PRIME, MULTIPLIER = 2147483647.0, 16807.0  # products stay exact in double precision
