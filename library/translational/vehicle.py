"""A vehicle as one body against the resistance of the road."""

from blocks import Component, Input, Parameter, Port, Variable, abs_, cos, der, sin, tanh

from .. import symbols
from .domain import translational


class VehicleBody(Component):
    """Vehicle in longitudinal motion with its road load.

    Equation: mass dv/dt = f - f_air - f_roll - f_grade, with

    * f_air = ρ/2 c_d A (v + W) |v + W|, headwind W > 0 against the motion,
    * f_roll = c_r m g cos(beta) tanh(v / threshold_velocity),
    * f_grade = m g sin(beta), beta > 0 uphill,

    and f the force of the drive at H. Neglects pitch, load transfer, slip and
    rotating masses. Rolling resistance does not hold the vehicle on a slope.
    """

    symbol = symbols.VEHICLE

    H = Port(translational, doc="hub: the drive acts here")
    mass = Parameter("1200 kg", above=0, doc="Mass")
    frontal_area = Parameter("3 m^2", minimum=0, doc="Frontal area")
    drag_coefficient = Parameter(0.4, minimum=0, doc="Drag coefficient")
    air_density = Parameter("1.18 kg/m^3", minimum=0, doc="Density of air")
    rolling_coefficient = Parameter(0.01, minimum=0, doc="Rolling resistance coefficient")
    threshold_velocity = Parameter("0.01 m/s", above=0, doc="Velocity below which rolling "
                                   "resistance falls")  # fmt: skip
    gravity = Parameter("9.81 m/s^2", minimum=0, doc="Gravitational acceleration")
    incline = Parameter("0 rad", varying=True, doc="Road incline, uphill positive")
    headwind = Parameter("0 m/s", varying=True, doc="Headwind velocity")
    beta = Input("rad", default="incline", doc="road incline, uphill positive")
    W = Input("m/s", default="headwind", doc="headwind velocity")
    v = Variable("m/s", "0 m/s", priority="high", doc="velocity")
    f_air = Variable("N", doc="air drag")
    f_roll = Variable("N", doc="rolling resistance")
    f_grade = Variable("N", doc="downhill component of the weight")
    energy_stored = Variable("J", doc="kinetic energy")
    power_dissipated = Variable("W", doc="lost in the air and in the tyres")
    power_supplied = Variable("W", doc="given by gravity and wind")

    def equations(self):
        airspeed = self.v + self.W
        weight = self.mass * self.gravity
        drag = self.air_density * self.drag_coefficient * self.frontal_area / 2
        rolling = self.rolling_coefficient * weight * cos(self.beta)
        yield self.v == self.H.v
        yield self.f_air == drag * airspeed * abs_(airspeed)
        yield self.f_roll == rolling * tanh(self.v / self.threshold_velocity)
        yield self.f_grade == weight * sin(self.beta)
        yield self.mass * der(self.v) == self.H.f - self.f_air - self.f_roll - self.f_grade
        yield self.energy_stored == self.mass * self.v**2 / 2
        yield self.power_dissipated == self.f_air * airspeed + self.f_roll * self.v
        yield self.power_supplied == self.f_air * self.W - self.f_grade * self.v
