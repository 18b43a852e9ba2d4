"""Motors and ideal rotating converters against closed forms and the power they pass on."""

import numpy as np
import pytest
from benches import final, meets, wire, wired
from benches.axis import ROTATIONAL, TRANSLATIONAL
from benches.machines import fed
from numpy.testing import assert_allclose
from scipy.integrate import solve_ivp
from scipy.linalg import expm

import library.electromechanical as em
import library.rotational as ro
from blocks import ParameterError, quantity, sin
from library.electrical import ControlledCurrentSource, DCVoltageSource, ElectricalReference
from library.thermal import PerfectInsulator, ThermalMass

SMALL = {"resistance": "2 ohm", "inductance": "5 mH", "back_emf_constant": "0.1 V*s/rad",
         "inertia": "1e-3 kg*m^2", "damping": "1e-4 N*m*s/rad"}  # fmt: skip


def on_a_stand(machine, load="0 N*m", **options):
    """A machine on the ground, with a torque on its rotor."""
    model = fed(machine, **options)
    wire(model, "machine.R load.R", "machine.C load.C ground.W",
         load=ro.TorqueSource(torque=load), ground=ro.RotationalReference())
    return model


@pytest.mark.parametrize(("axis", "kind", "constant", "sign"), [
    (ROTATIONAL, em.RotationalElectromechanicalConverter, "2 V*s/rad", 1),
    (ROTATIONAL, em.RotationalElectromechanicalConverter, "-2 V*s/rad", 1),
    (TRANSLATIONAL, em.TranslationalElectromechanicalConverter, "2 V*s/m", -1),
], ids=["about", "about, negative", "along"])  # fmt: skip
def test_what_converters_say_of_their_sign_is_so(axis, kind, constant, sign):
    """A positive current drives R forward where the constant is positive, counted as is said."""
    model = wired("converter", "source.head machine.p", "source.tail machine.n earth.V",
                  source=ControlledCurrentSource(current="3 A"), earth=ElectricalReference(),
                  machine=kind(constant=constant))
    axis.wire(model, "machine.R body.M", "machine.C ground.V", body=axis("Mass", mass=1),
              ground=axis("Reference"))
    run, k = model.simulate("1 s"), quantity(constant).m
    assert axis.read(run, "body.v")[-1] == pytest.approx(3 * k, rel=1e-9)
    assert axis.read(run, "machine.f")[-1] == pytest.approx(3 * k * sign, rel=1e-12)
    assert final(run, "machine.v", "V") == pytest.approx(3 * k**2, rel=1e-9)
    way = "from C to R" if sign > 0 else "from R to C"
    effort = axis.called("f")
    assert f"It is positive when it goes {way}" in run.explain(f"machine.{effort}")


def test_start_of_a_motor_with_all_it_has():
    """Two linear equations: armature and rotor."""
    load = 0.05
    run = on_a_stand(em.DCMotor(**SMALL), f"{-load} N*m").simulate("0.5 s", method="ode45",
                                                                   rtol=1e-11)
    matrix = np.array([[-2 / 5e-3, -0.1 / 5e-3], [0.1 / 1e-3, -1e-4 / 1e-3]])
    rest = -np.linalg.solve(matrix, [10 / 5e-3, -load / 1e-3])
    t = np.linspace(0, 0.5, 11)
    exact = np.array([rest - expm(matrix * s) @ rest for s in t]).T
    assert_allclose(run["machine.i"].at(quantity(t, "s")).to("A").m, exact[0], atol=1e-8)
    assert_allclose(run["machine.w_rotor"].at(quantity(t, "s")).to("rad/s").m, exact[1], atol=1e-7)
    assert run.energy().relative_residual < 1e-9


STALL = {"parameterization": "stall torque and no-load speed", "stall_torque": "0.5 N*m",
         "no_load_speed": "100 rad/s", "rated_voltage": "10 V", "inertia": "1e-3 kg*m^2"}
RATED = {"parameterization": "rated load and speed", "rated_power": "10 W",
         "rated_speed": "80 rad/s", "no_load_speed": "100 rad/s", "rated_voltage": "10 V",
         "inertia": "1e-3 kg*m^2"}  # fmt: skip


DAMPED = {"damping": "1e-3 N*m*s/rad"}
IDLING = {"damping_from": "no-load current", "no_load_current": "0.3 A", "no_load_voltage": "6 V"}


@pytest.mark.parametrize("damping", [{}, DAMPED, IDLING], ids=["undamped", "damped", "current"])
@pytest.mark.parametrize(("given", "stall"), [
    (STALL, 0.5), (RATED, 10 / 80 / (1 - 80 / 100))], ids=["stall", "rated"])
def test_a_motor_runs_through_the_points_of_its_data_sheet(given, stall, damping):
    """Speed over load is the straight line of the data sheet, whatever damps the rotor."""
    model = on_a_stand(em.DCMotor(**given, **damping))
    loads = {0: 100, 0.4 * stall: 60, stall: 0, **({10 / 80: 80} if given is RATED else {})}
    for load, speed in loads.items():
        model.load.torque = f"{-load} N*m"
        assert_allclose(model.operating_point()["machine.w"].m, speed, rtol=1e-12, atol=1e-10)


@pytest.mark.parametrize("given", [
    STALL, RATED, {k: v for k, v in SMALL.items() if k != "damping"}],
    ids=["stall", "rated", "circuit"])  # fmt: skip
def test_a_motor_without_load_draws_its_no_load_current(given):
    point = on_a_stand(em.DCMotor(**given, **IDLING), voltage="6 V").operating_point()
    meets(point, {"machine.i": (0.3, 1e-12), "machine.power_dissipated": (6 * 0.3, 1e-12)})
    constant = em.DCMotor(back_emf_constant="0.1 N*m/A").back_emf_constant
    assert_allclose(constant.to("V*s/rad").m, 0.1, rtol=1e-15)  # that of the torque, too


@pytest.mark.parametrize(("given", "said"), [
    ({**RATED, "rated_speed": "120 rad/s"}, "exchange them"),
    ({**STALL, "damping": "6e-3 N*m*s/rad"}, "0.6 N·m, not below the torque at rest, 0.5 N·m"),
    ({**RATED, "damping": "6.3e-3 N*m*s/rad"}, "0.63 N·m, not below the torque at rest, 0.625"),
    ({**IDLING, "resistance": "21 ohm"}, "6.3 V, not below no_load_voltage, 6.0 V")])
def test_numbers_that_no_motor_can_have_are_refused(given, said):
    with pytest.raises(ParameterError, match=said):
        on_a_stand(em.DCMotor(**given)).simulate("1 s")


def test_a_motor_below_break_away_stays_at_rest_and_starts_when_it_is_overcome():
    """5 V/s on 2 ohm and 0.1 N m/A overcome 0.2 N m at 2 A."""
    model = on_a_stand(em.DCMotor(**SMALL), voltage=lambda t: quantity("5 V/s") * t)
    wire(model, "machine.R friction.R", "friction.C ground.W", friction=ro.RotationalFriction(
        law="coulomb", breakaway_torque="0.2 N*m", coulomb_torque="0.15 N*m"))
    run = model.simulate("2 s", rtol=1e-10)
    lag = 5e-3 / 2  # i = 2.5 A/s (t - lag (1 - exp(-t/lag))) until then
    assert_allclose(run.events.of("friction")[0].time, 2 / 2.5 + lag, atol=1e-9)
    assert final(run, "machine.w", "rad/s") > 5
    assert run.energy().relative_residual < 1e-8


def test_a_motor_on_a_turning_case_sees_the_difference_of_speeds_and_a_driven_one_generates():
    model = fed(em.DCMotor(**SMALL), voltage="3 V")
    wire(model, "house.R machine.C", "house.C ground.W",
         house=ro.AngularVelocitySource(velocity="20 rad/s"), ground=ro.RotationalReference())
    w = (0.1 * 3 / 2) / (0.1**2 / 2 + 1e-4)  # against the case
    meets(model.simulate("6 s", rtol=1e-10), {"machine.w rad/s": (w, 1e-8),
                                              "machine.R.w rad/s": (w + 20, 1e-8)})
    model = fed(em.DCMotor(**SMALL, w_rotor="50 rad/s"), voltage="0 V")
    wire(model, "drive.R machine.R", "drive.C machine.C ground.W",
         drive=ro.AngularVelocitySource(velocity="50 rad/s"), ground=ro.RotationalReference())
    meets(model.simulate("0.1 s", rtol=1e-10), {
        "machine.i A": (-0.1 * 50 / 2, 1e-9),
        "drive.power_supplied W": (2.5**2 * 2 + 1e-4 * 50**2, 1e-9)})


def test_separate_excitation_sets_the_speed():
    """Weakening the field makes the motor faster."""
    speeds = []
    for field in ("100 V", "50 V"):
        model = on_a_stand(em.SeparatelyExcitedMotor(), voltage="95 V")
        wire(model, "excitation.p machine.ep", "excitation.n machine.en earth.V",
             excitation=DCVoltageSource(voltage=field))
        run = model.simulate("4 s", rtol=1e-9)
        speeds.append(final(run, "machine.w", "rad/s"))
        assert run.energy().relative_residual < 1e-7
    assert_allclose(speeds, [95 / 0.63662, 95 / 0.31831], rtol=1e-6)


def test_a_series_motor_meets_its_rated_point():
    """100 V, 100 A, 1410 rpm: Modelica's machine, whose torque is 63.66 N m."""
    run = on_a_stand(em.SeriesMotor(), "-63.66 N*m", voltage="100 V").simulate("5 s", rtol=1e-9)
    current = np.sqrt(63.66 / 6.366e-3)
    assert_allclose(final(run, "machine.i", "A"), current, rtol=1e-5)
    speed = (100 - 0.06 * current) / (6.366e-3 * current)
    assert_allclose(final(run, "machine.w", "rad/s"), speed, rtol=1e-5)
    assert_allclose(speed * 30 / np.pi, 1410, rtol=1e-3)


def test_a_series_motor_turns_forward_on_alternating_voltage():
    model = on_a_stand(em.SeriesMotor(), voltage=lambda t: quantity("50 V") * sin(
        t * quantity("300 rad/s")))
    wire(model, "machine.R drag.R", "drag.C ground.W",
         drag=ro.RotationalDamper(damping="1 N*m*s/rad"))
    run = model.simulate("1 s", rtol=1e-8)
    assert run["machine.t"].min().m >= 0
    assert final(run, "machine.w", "rad/s") > 0.1
    assert run["machine.i"].min().m < -10
    assert run.energy().relative_residual < 1e-6


def test_a_converter_on_a_voltage_holds_the_speed():
    """An ideal converter with a voltage on it is a speed source: nothing else is left."""
    model = fed(em.RotationalElectromechanicalConverter(), voltage="2 V")
    wire(model, "machine.R brake.R", "machine.C brake.C ground.W",
         brake=ro.RotationalDamper(damping="0.1 N*m*s/rad"), ground=ro.RotationalReference())
    meets(model.simulate("1 ms"), {"machine.w rad/s": (20, 1e-13), "machine.i A": (20, 1e-13)})


def test_a_winding_that_heats_itself_draws_less_and_its_heat_arrives():
    """Held rotor on a voltage: C dT/dt = V²/R(T), so T follows from a quadratic equation."""
    model = fed(em.DCMotor(thermal_port=True, resistance=lambda temperature: quantity("2 ohm") * (
        1 + quantity("3.9e-3 1/K") * (temperature - quantity("300 K"))), inductance="1 uH",
        inertia="1e-3 kg*m^2", i="5 A"))  # fmt: skip
    wire(model, "machine.R hold.R", "machine.C hold.C ground.W", "machine.H copper.M",
         hold=ro.AngularVelocitySource(), ground=ro.RotationalReference(),
         copper=ThermalMass(mass="1 kg", specific_heat="20 J/(K*kg)", T="300 K"))
    run = model.simulate("60 s", rtol=1e-9)
    warming = 10**2 / 2 / 20 * 60  # K, as if the resistance stayed
    rise = (np.sqrt(1 + 2 * 3.9e-3 * warming) - 1) / 3.9e-3
    assert_allclose(final(run, "copper.T", "K") - 300, rise, rtol=1e-7)
    energy = run.energy()
    assert energy.relative_residual < 1e-7
    assert_allclose(energy["copper"].stored, 20 * rise, rtol=1e-7)


def test_a_motor_with_a_thermal_mass_warms_by_its_winding_and_its_damping():
    """Held at a speed on a voltage: C dT/dt = (V - k w)²/R(T) + damping w²."""
    model = fed(em.ThermalDCMotor(**{**SMALL, "inductance": "1 uH"}, thermal_mass="20 J/K",
                               T="40 degC", w_rotor="50 rad/s",
                               i=quantity(5 / 2 / (1 + 3.93e-3 * 15), "A")))  # fmt: skip
    wire(model, "machine.R drive.R", "machine.C drive.C ground.W", "machine.H end.A",
         drive=ro.AngularVelocitySource(velocity="50 rad/s"), ground=ro.RotationalReference(),
         end=PerfectInsulator())
    run = model.simulate("100 s", rtol=1e-9)
    exact = solve_ivp(lambda t, T: (5**2 / 2 / (1 + 3.93e-3 * (T - 298.15)) + 1e-4 * 50**2) / 20,
                      (0, 100), [313.15], rtol=1e-12, atol=1e-12).y[0, -1]  # fmt: skip
    meets(run, {"machine.T K": (exact, 1e-8),
                "machine.i A": (5 / 2 / (1 + 3.93e-3 * (exact - 298.15)), 1e-7)})
    assert run.energy().relative_residual < 1e-7
