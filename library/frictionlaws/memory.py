"""Laws of springs that slip: the force remembers where the motion turned."""

import numpy as np

from blocks import Discrete, Parameter, Variable, abs_, der, when, where

from .base import FrictionLaw, compliance, force, resistance, sgn, shift, stiffness, stribeck_level


class ResetIntegrator(FrictionLaw):
    """F = (1 + a) sigma_0 p + sigma_1 dp/dt, with dp/dt = v up to |p| = reach, then 0.

    The bonding a acts while |p| < reach only, so that the force falls from
    (1 + a) sigma_0 reach to sigma_0 reach at break-away. D. A. Haessig, B. Friedland
    (1991). The law knows no other strength. The energy stored is sigma_0 p²/2; what the
    bonding takes up counts as heat, and is given back where p shrinks before the end.
    """

    uses = ()
    memory = True
    stiffness = Parameter(1e5, stiffness, above=0, doc="Stiffness sigma_0")
    damping = Parameter(0.0, resistance, minimum=0, doc="Damping sigma_1 of the deflection")
    reach = Parameter(1e-4, shift, above=0, doc="Largest deflection p")
    bonding = Parameter(0.5, minimum=0, doc="Additional stiffness a at rest, over sigma_0")
    p = Variable(shift, 0, priority="high", doc="deflection")
    energy_stored = Variable("J", doc="energy of the deflection")

    def rate(self, c):
        """dp/dt."""
        ends = ((c.flow > 0) & (c.p >= c.reach)) | ((c.flow < 0) & (c.p <= -c.reach))
        return where(ends, 0, c.flow)

    def equations(self, c):
        yield der(c.p) == self.rate(c)
        share = where((c.p < c.reach) & (c.p > -c.reach), 1 + c.bonding, 1)
        yield c.effort == share * c.stiffness * c.p + c.damping * self.rate(c)
        yield c.energy_stored == c.stiffness * c.p**2 / 2

    def limit(self, c):
        return (1 + c.bonding) * c.stiffness * c.reach

    def power_stored(self, c):
        return c.stiffness * c.p * self.rate(c)


class Springs(FrictionLaw):
    """Base of laws of springs in parallel, each behind a slider of its own strength."""

    memory = True
    stiffnesses = Parameter([5e4, 3e4, 2e4, 1e4], stiffness, above=0,
                            doc="Stiffnesses of the springs")  # fmt: skip
    shares = Parameter([0.25, 0.25, 0.25, 0.25], above=0,
                       doc="Strengths of the sliders over that of the law")  # fmt: skip
    energy_stored = Variable("J", doc="energy of the springs")

    def verify(self, c):
        springs, sliders = np.shape(c.stiffnesses)[-1], np.shape(c.shares)[-1]
        if springs != sliders:
            yield (f"stiffnesses has {springs} values but shares has {sliders}. Give one share of "
                   "the Coulomb strength for every spring.")  # fmt: skip


class MaxwellSlip(Springs):
    """Springs in parallel, each behind a Coulomb slider of its own strength share F_C.

    F = sum k_i z_i with dz_i/dt = v while |k_i z_i| < share_i F_C or the slider is
    unloaded, else 0 (W. D. Iwan, 1966). Its hysteresis loops close inside each other.
    """

    z = Variable(lambda c: [shift(c)] * len(c.stiffnesses), 0, priority="high",
                 doc="deflections of the springs")  # fmt: skip
    elastic = Variable(lambda c: [force(c)] * len(c.stiffnesses), doc="forces of the springs")

    def drive(self, c):
        """The velocity that bends the springs."""
        return c.flow

    def rates(self, c):
        """dz_i/dt."""
        v = c.flow
        for k, share, z in zip(c.stiffnesses, c.shares, c.z, strict=False):
            full = share * self.limit(c)
            slips = ((v > 0) & (k * z >= full)) | ((v < 0) & (k * z <= -full))
            yield where(slips, 0, self.drive(c))

    def springs(self, c):
        """The force of all springs."""
        return sum(k * z for k, z in zip(c.stiffnesses, c.z, strict=False))

    def force(self, c):
        return self.springs(c)

    def equations(self, c):
        for k, z, f, rate in zip(c.stiffnesses, c.z, c.elastic, self.rates(c), strict=False):
            yield f == k * z
            yield der(f) == k * rate  # not z: micrometres would be lost beside the nominal metre
        yield c.effort == self.force(c)
        yield c.energy_stored == sum(k * z**2 / 2 for k, z in zip(c.stiffnesses, c.z, strict=False))

    def power_stored(self, c):
        return sum(f * rate for f, rate in zip(c.elastic, self.rates(c), strict=True))


class Leuven(MaxwellSlip):
    """F = F_h + sigma_1 dx/dt + c v, with dx/dt = v (1 - sign(F_h/s) |F_h/s|^n).

    F_h is the force of Maxwell-slip springs that x bends, and s = sign(v) g(v) the
    Stribeck level, which those of a break-away strength reach. J. Swevers et al., IEEE Trans.
    Autom. Control 45(4), 2000; V. Lampaert et al. (2002).
    """

    uses = ("coulomb", "breakaway", "breakaway_velocity", "viscous")
    exponent = Parameter(1.0, above=0, doc="Exponent n of the transition")
    damping = Parameter(0.0, resistance, minimum=0, doc="Damping sigma_1 of the deflection")

    def drive(self, c):
        ratio = self.springs(c) / stribeck_level(c) * where(c.flow > 0, 1.0, -1.0)
        return c.flow * (1 - sgn(ratio) * abs_(ratio) ** c.exponent)

    def force(self, c):
        return self.springs(c) + c.damping * self.drive(c) + c.viscous_coefficient * c.flow


class GeneralisedMaxwell(Springs):
    """Springs in parallel whose sliders follow the Stribeck level with a lag (GMS).

    F = sum f_i + c v. Stuck, df_i/dt = k_i v, until |f_i| = share_i g(v); slipping,
    df_i/dt = sign(v) C (share_i - f_i sign(v)/g(v)), until v turns. T. Tjahjowidodo,
    F. Al-Bender, H. Van Brussel, W. Symens (2005): pre-sliding loops as of Maxwell-slip,
    frictional lag as of LuGre, and no drift.
    """

    uses = ("coulomb", "breakaway", "breakaway_velocity", "viscous")
    attraction = Parameter(100.0, compliance, above=0,
                           doc="Rate C at which slipping sliders follow the level")  # fmt: skip
    spring = Variable(lambda c: [force(c)] * len(c.stiffnesses), 0, priority="high",
                  doc="forces of the springs")  # fmt: skip
    slips = Discrete(lambda c: ["1"] * len(c.stiffnesses), 0, doc="1 or -1 where a slider slips")

    def rates(self, c):
        """df_i/dt."""
        level = stribeck_level(c)
        for k, share, f, way in zip(c.stiffnesses, c.shares, c.spring, c.slips, strict=False):
            follows = c.attraction * (share * way - f / level)
            yield where(abs_(way) > 0.5, follows, k * c.flow, events=False)

    def equations(self, c):
        for f, rate in zip(c.spring, self.rates(c), strict=True):
            yield der(f) == rate
        level, ahead = stribeck_level(c), sgn(c.flow)
        for share, f, way in zip(c.shares, c.spring, c.slips, strict=False):
            load = where(abs_(way) < 0.5, f * ahead, 0, events=False)
            yield when(load >= share * level, {way: ahead})
            # a turn of the motion says nothing to those that are stuck
            yield when(way * c.flow < 0, {way: 0})
        yield c.effort == sum(c.spring) + c.viscous_coefficient * c.flow
        yield c.energy_stored == sum(
            f**2 / (2 * k) for f, k in zip(c.spring, c.stiffnesses, strict=False))

    def power_stored(self, c):
        loads = (f / k for f, k in zip(c.spring, c.stiffnesses, strict=False))
        return sum(x * rate for x, rate in zip(loads, self.rates(c), strict=True))
