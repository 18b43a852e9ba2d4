"""Laws that look at the load P, with which everything else drives the friction.

Compared by T. Piatkowski ("Approximating the discontinuity of dry friction force
models"); P is found by the network (:func:`blocks.load_law`). In the formulas v is the
velocity, band the half width of the region that stands for rest, F_G the strength at
rest and F_C the kinetic one. Jumps and kinks are met at every call of a solver, without
events, as in the published computations.
"""

from __future__ import annotations

from typing import ClassVar

import numpy as np

from blocks import Parameter, Variable, abs_, load_law, where

from .base import FrictionLaw, force, sgn, velocity
from .shapes import cubic, even_cubic, even_spline, sine, spline


class LoadLaw(FrictionLaw):
    """Base of laws of velocity and load: a subclass says ``force(c)``, of ``c.load`` too."""

    uses = ("coulomb", "breakaway")
    band = Parameter(1e-3, velocity, above=0, doc="Half width of the band that stands for rest")
    load = Variable(force, doc="what everything else drives the friction with")

    def equations(self, c):
        yield load_law(c.effort, c.flow, c.load, self.force(c))

    def ratio(self, c):
        """P/F_G."""
        return where(c.breakaway > 0, c.load / c.breakaway, sgn(c.load), events=False)

    def held(self, c):
        """P up to F_G, and no more than F_G."""
        return where(abs_(c.load) < c.breakaway, c.load, c.breakaway * sgn(c.load), events=False)

    def shape(self, c, ratio):
        """The curve that rounds the law: none."""
        return ratio


class Weighted(LoadLaw):
    """A load law that a spline of weight w rounds."""

    weight = Parameter(0.25, minimum=0, maximum=0.5, doc="Weight w of the spline")

    def shape(self, c, ratio):
        return spline(ratio, c.weight)


class Backwards:
    """What laws have in common that creep against the load they should hold."""

    at_half: ClassVar[float]  # velocity under half the largest load, over the band

    def advise(self, c):
        """The creep, and what takes its place."""
        speed = -self.at_half * np.max(c.band)
        yield (f"law={c.law!r} creeps against the load, at {speed:.3g~P} under half of what it "
               "should hold: it feeds energy in. law='quinn' does not.")  # fmt: skip


class Karnopp(LoadLaw):
    """Within the band the load, up to F_G; outside F_C sign(v).

    As tabulated by Piatkowski: nothing brings the velocity to zero, so a body held
    by this law goes on at whatever velocity it entered the band with.
    """

    def force(self, c):
        return where(abs_(c.flow) > c.band, c.coulomb * sgn(c.flow), self.held(c), events=False)

    def advise(self, c):
        yield (f"law={c.law!r} does not stop: below {np.max(c.band):.3g~P} a body glides on at the "
               "speed it came with. law='karnopp_1985' brings it to rest.")  # fmt: skip


class Karnopp1985(Karnopp):
    """Karnopp's law as D. Karnopp published it (1985): in the band the velocity is zero.

    The velocity is set to zero where it enters the band under a load below F_G, as an
    inelastic impact of the whole network would do, and held there until the load
    reaches F_G. (In the original the momentum lost is kept and returned at break-away.)
    """

    def equations(self, c):
        yield load_law(c.effort, c.flow, c.load, self.force(c), rest=(c.band, c.breakaway))

    def advise(self, c):
        return iter(())


class Quinn(LoadLaw):
    """F_C sign(u) for |u| > band, else F_G u/band, with u = v + band P/F_G.

    P/F_G is limited to ±1. Rest is exact, and reached exponentially at the rate
    F_G/(m band). D. D. Quinn, J. Vib. Acoust. 126 (2004) 391-397.
    """

    def share(self, c, ratio):
        """The curve of the load, by which the velocity is shifted."""
        return self.shape(c, ratio)

    def force(self, c):
        inside = self.share(c, self.ratio(c))
        share = where(abs_(c.load) <= c.breakaway, inside, sgn(c.load), events=False)
        u = c.flow / c.band + share
        return where(abs_(u) > 1, c.coulomb * sgn(u), c.breakaway * self.shape(c, u), events=False)


class QuinnI(Backwards, Quinn):
    """Quinn's law with sin(pi r/2) for both ratios. Creeps against the load."""

    at_half = -0.3738

    def shape(self, c, ratio):
        return sine(ratio)


class QuinnII(QuinnI):
    """Quinn's law with sin(pi r/2) for the load and a cubic for the force.

    The cubic, r² (3 - 2 |r|) sign(r), is the only candidate: the source leaves it
    undefined. Creeps against the load.
    """

    at_half = -0.2071

    def share(self, c, ratio):
        return sine(ratio)

    def shape(self, c, ratio):
        return cubic(ratio)


class QuinnIII(Backwards, Weighted, Quinn):
    """Quinn's law with a spline of weight w for both ratios. Creeps against the load."""

    at_half = -0.2498  # for a weight of 1/4


class Kikuuwe(LoadLaw):
    """F_C sign(s) for |s| > F_G, else s, with s = P + F_G v/band.

    R. Kikuuwe et al. (2005) have P + m v/T with the time step T; here T = m band/F_G,
    whatever the inertia m. For |P| <= F_G and F_C = F_G the same law as Quinn's.
    """

    def force(self, c):
        s = self.ratio(c) + c.flow / c.band
        return where(abs_(s) > 1, c.coulomb * sgn(s), c.breakaway * self.shape(c, s), events=False)


class KikuuweI(Backwards, Weighted, Kikuuwe):
    """Kikuuwe's law with a spline of weight w. Creeps against the load."""

    at_half = -0.1145  # for a weight of 1/4


class Awrejcewicz(LoadLaw):
    """Between the load at v = 0 and Coulomb's force at the ends of the band.

    With A = (v/band)² (3 - 2 |v|/band) and |P| < F_G within the band:
    A (F_G sign(v) - P) + P. For |P| >= F_G: F_G sign(P) where v and P agree or v = 0,
    else (2 A - 1) F_G sign(v). Outside F_C sign(v). Rest is held, but only just: the
    velocity dies as 1/t, the creep grows as log t.
    J. Awrejcewicz et al., Int. J. Bifurcation Chaos 18 (2008).
    """

    def shape(self, c, ratio):
        return even_cubic(ratio)

    def moves(self, c):
        """Whether a load beyond F_G acts as in motion along it."""
        return c.flow * c.load >= 0

    def force(self, c):
        a, way = self.shape(c, c.flow / c.band), sgn(c.flow)
        below = a * (c.breakaway * way - c.load) + c.load
        beyond = where(self.moves(c), c.breakaway * sgn(c.load), (2 * a - 1) * c.breakaway * way,
                       events=False)  # fmt: skip
        inside = where(abs_(c.load) < c.breakaway, below, beyond, events=False)
        return where(abs_(c.flow) > c.band, c.coulomb * way, inside, events=False)


class AwrejcewiczAsPrinted(Awrejcewicz):
    """Awrejcewicz' law to the letter of Piatkowski's table: at v = 0 and |P| >= F_G no force.

    An oversight; kept because the published step counts show it.
    """

    def moves(self, c):
        return c.flow * c.load > 0


class AwrejcewiczI(Weighted, Awrejcewicz):
    """Awrejcewicz' law with a spline of weight w."""

    def shape(self, c, ratio):
        return even_spline(ratio, c.weight)


class AwrejcewiczIAsPrinted(AwrejcewiczI, AwrejcewiczAsPrinted):
    """Awrejcewicz' law as printed, with a spline of weight w."""
