"""Clutches and brakes: friction between two shafts, pressed by a force from outside.

All of them have the ports R and C of the rotational two-port: w = w_R - w_C is the slip and t the
torque carried from R to C. In a clutch, C is the base B and R the follower F of Simscape Driveline;
in a brake R is the shaft and C its support. They stick exactly: a closed clutch does not creep.

A negative normal force is an error: at once where it is a parameter, at the instant it
becomes negative where it is a signal.
"""

import numpy as np

from blocks import (
    Discrete,
    Input,
    Option,
    Parameter,
    abs_,
    dry_friction,
    exp,
    initially,
    interpolate,
    maximum,
    quantity,
    require,
    set_valued,
    when,
    where,
)

from .. import symbols
from ..heat import Resisting
from ..rotational import TwoPort
from ..tables import table_faults

STEEPEST = 300.0  # coefficient times wrap of a band: exp() of it still has a square


def pressing(force, name):
    """A force that presses cannot pull; rounding of a signal that is zero is let pass."""
    yield require(force > quantity("-1 mN"),
                  f"the {name} becomes negative, but linings can only be pressed. Limit the signal "
                  "with library.signal.Saturation, or look for its sign.")  # fmt: skip


class PressedFriction(Resisting, TwoPort):
    """Base of clutches and brakes with a coefficient of friction.

    While slipping t = mu lever N sign(w), at rest |t| <= static_coefficient lever N,
    with ``lever`` the torque per normal force and coefficient. The coefficient mu is
    ``kinetic_coefficient``, or with ``law="table"`` interpolated over the slip speed,
    held outside.
    """

    symbol = symbols.CLUTCH

    law = Option("constant", ("constant", "table"), doc="how friction depends on the slip speed")
    static_coefficient = Parameter(0.35, minimum=0, doc="Coefficient of friction at rest")
    kinetic_coefficient = Parameter(0.3, minimum=0, when=lambda c: c.law == "constant",
                                    doc="Coefficient of friction while slipping")  # fmt: skip
    speeds = Parameter(["0 rad/s", "100 rad/s"], minimum=0, when=lambda c: c.law == "table",
                       doc="Slip speeds of the table, from 0 on")  # fmt: skip
    coefficients = Parameter([0.3, 0.3], minimum=0, when=lambda c: c.law == "table",
                             doc="Coefficients of friction at the slip speeds")  # fmt: skip

    def verify(self):
        name, slipping = "kinetic_coefficient", self.kinetic_coefficient
        if self.law == "table":
            yield from table_faults(("speeds", self.speeds), coefficients=self.coefficients)
            name, slipping = "coefficients", self.coefficients[..., 0]
        if np.any(self.static_coefficient < slipping):
            yield (f"static_coefficient is {self.static_coefficient:~P} and thus below {name}, "
                   f"which starts at {slipping:~P}. Friction at rest is at least that of slipping: "
                   f"raise static_coefficient or lower {name}.")  # fmt: skip

    def friction(self, lever, normal):
        """The law, for the torque per normal force and coefficient."""
        yield from pressing(normal, "normal force N")
        grip = lever * maximum(normal, 0)
        yield dry_friction(self.t, self.w, static=self.static_coefficient * grip,
                           kinetic=self.kinetic() * grip)

    def kinetic(self):
        if self.law == "table":
            return interpolate(abs_(self.w), self.speeds, self.coefficients, hold=True)
        return self.kinetic_coefficient


class DiscClutch(PressedFriction):
    """Multi-disc friction clutch between R and C.

    While slipping t = mu r n N sign(w), at rest |t| <= mu_s r n N, with the normal
    force N, n friction surfaces and the effective radius r. With
    ``geometry="annulus"`` r = 2/3 (r_o³ - r_i³)/(r_o² - r_i²) of the linings, for
    uniform pressure.
    """

    geometry = Option("effective radius", ("effective radius", "annulus"),
                      doc="how the size is given")  # fmt: skip
    normal_force = Parameter("100 N", minimum=0, varying=True, doc="Force that presses the discs")
    surfaces = Parameter(4.0, above=0, doc="Number of friction surfaces")
    effective_radius = Parameter("130 mm", above=0, doc="Effective radius",
                                 when=lambda c: c.geometry == "effective radius")  # fmt: skip
    outer_radius = Parameter("150 mm", above=0, when=lambda c: c.geometry == "annulus",
                             doc="Outer radius of the linings")  # fmt: skip
    inner_radius = Parameter("100 mm", minimum=0, when=lambda c: c.geometry == "annulus",
                             doc="Inner radius of the linings")  # fmt: skip
    N = Input("N", default="normal_force", doc="force that presses the discs")

    def verify(self):
        yield from super().verify()
        if self.geometry == "annulus" and np.any(self.outer_radius <= self.inner_radius):
            yield (f"outer_radius is {self.outer_radius:~P} and inner_radius "
                   f"{self.inner_radius:~P}. The outer radius must be the larger one.")  # fmt: skip

    def equations(self):
        if self.geometry == "annulus":
            outer, inner = self.outer_radius, self.inner_radius
            radius = 2 * (outer**3 - inner**3) / (outer**2 - inner**2) / 3
        else:
            radius = self.effective_radius
        yield from self.friction(radius * self.surfaces, self.N)


class DiscBrake(PressedFriction):
    """Disc brake on the shaft R with its caliper on C.

    While slipping t = mu r n N sign(w), at rest |t| <= mu_s r n N, with the force N
    that presses each of the n pads at the mean radius r.
    """

    normal_force = Parameter("0 N", minimum=0, varying=True, doc="Force on each pad")
    pads = Parameter(2.0, above=0, doc="Number of pads")
    mean_radius = Parameter("150 mm", above=0, doc="Mean radius of the pads")
    N = Input("N", default="normal_force", doc="force on each pad")

    def equations(self):
        yield from self.friction(self.mean_radius * self.pads, self.N)


class BandBrake(PressedFriction):
    """Band brake: a band round a drum on the shaft R, anchored on C.

    While slipping t = (exp(mu wrap) - 1) F r sign(w), at rest |t| <= the same with
    the static coefficient: F is the force in the slack end of the band, r the radius
    of the drum and ``wrap`` the angle of contact. The band is taken to be tensioned
    so that both directions brake alike; its mass and elasticity are neglected.
    """

    tension = Parameter("0 N", minimum=0, varying=True, doc="Force in the slack end of the band")
    drum_radius = Parameter("150 mm", above=0, doc="Radius of the drum")
    wrap = Parameter("180 deg", above=0, doc="Angle of contact")
    F = Input("N", default="tension", doc="force in the slack end of the band")

    def verify(self):
        yield from super().verify()
        largest = np.max([np.max(self.static_coefficient.magnitude),
                          np.max(self.coefficients.magnitude)])
        angle = largest * np.max(self.wrap.to("rad").magnitude)
        if angle > STEEPEST:
            yield (f"a coefficient of friction of {largest:g} over a wrap of {self.wrap:~P} gives "
                   "a ratio of tensions beyond all numbers. Lower the coefficient or the wrap.")

    def equations(self):
        yield from pressing(self.F, "band tension F")
        pull = maximum(self.F, 0) * self.drum_radius
        yield dry_friction(self.t, self.w,
                           static=(exp(self.static_coefficient * self.wrap) - 1) * pull,
                           kinetic=(exp(self.kinetic() * self.wrap) - 1) * pull)


class TorqueLimiter(Resisting, TwoPort):
    """Safety clutch that slips above a set torque.

    At rest |t| <= limit; while slipping t = slip_torque sign(w), however fast.
    """

    symbol = symbols.CLUTCH

    limit = Parameter("100 N*m", minimum=0, doc="Torque at which it begins to slip")
    slip_torque = Parameter("90 N*m", minimum=0, doc="Torque while slipping")

    def verify(self):
        if np.any(self.limit < self.slip_torque):
            yield (f"limit is {self.limit:~P} and thus below slip_torque, which is "
                   f"{self.slip_torque:~P}. Raise limit or lower slip_torque.")  # fmt: skip

    def equations(self):
        yield dry_friction(self.t, self.w, static=self.limit, kinetic=self.slip_torque)


class DogClutch(Resisting, TwoPort):
    """Clutch with teeth that mesh when it is shifted at small slip.

    It engages when the shift signal E is above 1/2 and the slip |w| is below
    ``engagement_speed``, and disengages when E falls. Engaged, it is a friction clutch
    of the capacity ``torque_capacity`` of the teeth, which takes up the remaining slip
    and then transmits any torque up to the capacity. Disengaged, t = 0. Play, and
    impacts of single teeth, are neglected.
    """

    symbol = symbols.CLUTCH

    torque_capacity = Parameter("1000 N*m", above=0, doc="Torque the teeth bear")
    engagement_speed = Parameter("10 rad/s", above=0, doc="Largest slip at which teeth mesh")
    engagement = Parameter(1.0, varying=True, doc="Shift signal, engaged above 1/2")
    E = Input("1", default="engagement", doc="shift signal, engaged above 1/2")
    engaged = Discrete("1", doc="1 while the teeth are in mesh")

    def equations(self):
        shifted, slow = self.E > 0.5, abs_(self.w) < self.engagement_speed
        capacity = self.engaged * self.torque_capacity
        yield initially({self.engaged: where(shifted & slow, 1.0, 0.0)})
        yield when(shifted & slow, {self.engaged: 1.0})
        yield when(~shifted, {self.engaged: 0.0})
        yield dry_friction(self.t, self.w, static=capacity, kinetic=capacity)


class OneWayClutch(Resisting, TwoPort):
    """Freewheel: C drives R, and R may overrun.

    * Overrunning, w > 0: t = drag, the friction of a lightly pressed clutch.
    * Locked, w = 0: t is what keeps w = 0, down to -torque_capacity; it opens when t
      would exceed the ``peak`` times the drag.
    * Beyond the capacity it slips backward, w < 0, with t = -torque_capacity; a clutch
      that starts with w < 0 grips in the same way.

    The drag is ``drag_torque`` times the engagement signal E.

    References
    ----------
    Modelica Standard Library, ``Mechanics.Rotational.Components.OneWayClutch``
    (drag_torque is mue_pos cgeo fn_max, E is f_normalized, R is flange_b).
    """

    symbol = symbols.ONE_WAY

    drag_torque = Parameter("0 N*m", minimum=0, doc="Torque while overrunning")
    torque_capacity = Parameter("1e6 N*m", above=0, doc="Torque it bears locked")
    peak = Parameter(1.0, minimum=1, doc="Torque at which it opens over drag")
    engagement = Parameter(1.0, minimum=0, varying=True, doc="Factor of the drag")
    E = Input("1", default="engagement", doc="factor of the drag")

    def equations(self):
        drag = self.drag_torque * maximum(self.E, 0)
        yield set_valued(self.t, self.w, static=(-self.torque_capacity, self.peak * drag),
                         kinetic=(-self.torque_capacity, drag))
