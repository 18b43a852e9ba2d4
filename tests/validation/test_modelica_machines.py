"""Examples of the Modelica Standard Library against their published results: magnets and drives.

Its pin_p and port_p are p and N here, a flange_b is R. Data, licence and tolerances:
``tests/data/validation``; what is drawn from the models in words (parameters, connections,
start values) stands here.
"""

import numpy as np
from benches import wire, wired
from numpy.testing import assert_allclose
from published import follow

import library.electrical as el
import library.magnetic as mag
from blocks import Model, Parameter, Variable, der, maximum, minimum, quantity, where
from library.electromechanical import DCMotor, SeparatelyExcitedMotor, VoiceCoil
from library.rotational import Inertia, RotationalMotionSensor, RotationalReference, TorqueSource
from library.translational import Mass, MotionSensor, Reference, TwoPort

SPEED = 2 * np.pi * 1425 / 60  # rad/s, nominal


def test_iron_frame_with_an_air_gap():
    model = Model("frame")
    iron = {"area": "1e-4 m^2", "relative_permeability": 1000}
    for name, length in (("left", "0.09 m"), ("upper", "0.09 m"), ("right", "0.089 m"),
                         ("lower", "0.09 m")):  # fmt: skip
        model.add(name, mag.Reluctance(length=length, **iron))
    model.gap = mag.Reluctance(length="0.001 m", area="1e-4 m^2")
    model.leakage = mag.FundamentalReluctance(
        reluctance=9 * quantity("0.001 m") / (quantity(4e-7 * np.pi, "H/m") * quantity("1e-4 m^2")))
    wire(model, "source.head exciting.p", "source.tail exciting.n earth.V", "exciting.N left.N",
         "left.S upper.N", "upper.S right.N", "right.S measuring.N leakage.N", "measuring.S gap.N",
         "gap.S leakage.S lower.N", "lower.S flux.N", "flux.S exciting.S zero.M",
         "measuring.p voltage.p", "measuring.n voltage.n earth2.V",
         exciting=mag.ElectromagneticConverter(turns=500),
         measuring=mag.ElectromagneticConverter(turns=1), flux=mag.FluxSensor(),
         zero=mag.MagneticReference(), earth=el.ElectricalReference(),
         earth2=el.ElectricalReference(),
         source=el.ControlledCurrentSource(current=el.table(["10 ms", "25 ms"], ["0 A", "1.5 A"])),
         voltage=el.VoltageSensor())
    follow(model, "magnetic_quadratic_core", {"magFluxSensor.Phi": ("flux.PHI", "Wb"),
                                              "voltageSensor.v": ("voltage.V", "V")})


def test_inductor_whose_iron_saturates():
    model = Model("inrush")
    square = "6.25e-4 m^2"
    wire(model, "source.p resistor.p", "resistor.n coil.p", "source.n coil.n earth.V",
         "coil.N leakage.N air.N", "air.S iron.N", "iron.S leakage.S coil.S zero.M",
         source=el.ACVoltageSource(amplitude=quantity(230 * np.sqrt(2), "V"), frequency="50 Hz",
                                   phase="90 deg"), resistor=el.Resistor(resistance="7.5 ohm"),
         earth=el.ElectricalReference(), coil=mag.ElectromagneticConverter(turns=600),
         zero=mag.MagneticReference(), leakage=mag.FundamentalReluctance(reluctance="1.2e6 1/H"),
         air=mag.Reluctance(length="0.1 mm", area=square),
         iron=mag.Reluctance(material="saturating", length="0.26 m", area=square))
    run = follow(model, "magnetic_saturated_inductor", {
        "coil.i": ("coil.i", "A"), "coil.Phi": ("coil.phi", "Wb"),
        "r_mLeak.port_p.Phi": ("leakage.phi", "Wb"), "r_mFe.mu_r": ("iron.mu_r", "1"),
        "r_mFe.B": ("iron.B", "T"), "r_mFe.H": ("iron.H", "A/m")})  # fmt: skip
    assert run.energy().relative_residual < 1e-6


class QuadraticGap(TwoPort):
    """Modelica's ElastoGap with exponent 2: R lifts off C at x = 0."""

    stiffness, damping = Parameter("1e11 N/m^2", above=0), Parameter("400 N*s/m", minimum=0)
    x, energy_stored = Variable("m", "0 m", priority="high"), Variable("J")
    power_dissipated = Variable("W")

    def equations(self):
        elastic = -self.stiffness * minimum(self.x, 0) ** 2
        viscous = maximum(minimum(self.damping * self.v, -elastic), elastic)
        yield der(self.x) == self.v
        yield self.f == where(self.x < 0, elastic + viscous, 0)
        yield self.energy_stored == self.stiffness * maximum(-self.x, 0) ** 3 / 3
        yield self.power_dissipated == where(self.x < 0, viscous * self.v, 0)


def test_voice_coil_between_stops():
    model = wired("voice coil", "source.p coil.p", "source.n coil.n earth.V",
                  "coil.R armature.M load.M place.R lower.R upper.C",
                  "coil.C lower.C upper.R frame.V", source=el.DCVoltageSource(voltage="4.29 V"),
                  coil=VoiceCoil(), earth=el.ElectricalReference(), frame=Reference(),
                  armature=Mass(mass="0.012 kg"), load=Mass(mass="0.05 kg"),
                  place=MotionSensor(reference="absolute", x=quantity("-4 mm")),
                  lower=QuadraticGap(x="0 m"), upper=QuadraticGap(x="8 mm"))
    run = follow(model, "magnetic_moving_coil", {
        "cActuator.x": ("place.P", "m"), "cActuator.l.i": ("coil.i", "A"),
        "cActuator.armature.stopper_xMax.v_rel": ("upper.v", "m/s")})  # fmt: skip
    assert run.energy().relative_residual < 1e-7
    assert run["place.P"].final.to("um").m - 4000 < 7.7


def shaft(model, motor):
    """The load of both drives: an inertia, its angle, and a step of torque at 1.5 s."""
    model.load, model.angle = Inertia(inertia="0.15 kg*m^2"), RotationalMotionSensor()
    model.brake = TorqueSource(torque=el.table(["1.5 s", "1.5 s"], ["0 N*m", "-63.66 N*m"]))
    model.house = RotationalReference()
    model.connect(motor.R, model.load.I, model.brake.R, model.angle.R)
    model.connect(motor.C, model.brake.C, model.angle.C, model.house.W)


def test_permanent_magnet_drive():
    model = wired("permanent magnet", "source.p motor.p", "source.n motor.n earth.V",
                  source=el.ControlledVoltageSource(voltage=el.table(["0.2 s", "1 s"],
                                                                     ["0 V", "100 V"])),
                  motor=DCMotor(resistance="0.05 ohm", inductance="1.5 mH", inertia="0.15 kg*m^2",
                                back_emf_constant=quantity(95 / SPEED, "V*s/rad")),
                  earth=el.ElectricalReference())
    shaft(model, model.motor)
    run = follow(model, "drive_dc_permanent_magnet", {
        "dcpm.la.i": ("motor.i", "A"), "loadInertia.phi": ("angle.A", "rad"),
        "loadInertia.w": ("load.w", "rad/s")})  # fmt: skip
    assert run.energy().relative_residual < 1e-7


def test_separately_excited_drive():
    model = wired("separately excited", "source.p motor.p", "field.p motor.ep",
                  "source.n motor.n field.n motor.en earth.V",
                  source=el.ControlledVoltageSource(voltage=el.table(["0.2 s", "1 s"],
                                                                     ["0 V", "100 V"])),
                  field=el.DCVoltageSource(voltage="100 V"), earth=el.ElectricalReference(),
                  motor=SeparatelyExcitedMotor(mutual_inductance=quantity(95 / SPEED, "H")))
    shaft(model, model.motor)
    run = follow(model, "drive_dc_electrically_excited", {
        "dcee.airGapDC.psi_e": ("motor.i_field", "A"), "dcee.la.i": ("motor.i", "A"),
        "loadInertia.phi": ("angle.A", "rad"), "loadInertia.w": ("load.w", "rad/s")})  # fmt: skip
    assert_allclose(run["motor.i_field"].at("10 ms").to("A").m, 1 - np.exp(-1), rtol=1e-8)
