"""Closed forms for pistons, cylinders, pumps and motors, and a whole circuit by hand."""

import numpy as np
import pytest
from benches import few, seconds, values, wire, wired
from liquid_bench import OIL, P0, h, oil, reservoir, rho
from numpy.testing import assert_allclose
from scipy.integrate import solve_ivp
from scipy.optimize import brentq

import library.isothermal_liquid as il
import library.rotational as ro
import library.translational as tr
from benchmarks.cases import hydraulics as drives
from blocks import Model, cos, quantity
from library.signal import Constant, Ramp

OFFSETS = [{}, {"pressure_spec": "specified", "environment_pressure": "0.3 MPa"}]


# -- converters --------------------------------------------------------------------------------
@pytest.mark.parametrize("outside", OFFSETS)
@pytest.mark.parametrize(("orientation", "sign"), [("positive", 1), ("negative", -1)])
def test_a_piston_pushes_by_its_area_and_takes_liquid_as_it_moves(orientation, sign, outside):
    model = wired("piston", "supply.A piston.A liquid.A", "drive.R piston.R",
                  "drive.C piston.C ground.V", supply=reservoir(5e6), liquid=oil(),
                  piston=il.TranslationalMechanicalConverter(mech_orientation=orientation,
                                                             interface_area="2e-3 m^2",
                                                             dead_volume="1 l", p_I="5 MPa",
                                                             **outside),
                  drive=tr.VelocitySource(velocity=f"{0.1 * sign} m/s"), ground=tr.Reference())
    run = model.simulate("1 s", rtol=1e-10)
    p0 = 0.3e6 if outside else P0
    assert_allclose(values(run, "piston.f", "N"), sign * 2e-3 * (5e6 - p0), rtol=1e-12)
    assert_allclose(values(run, "drive.f", "N"), sign * 2e-3 * (5e6 - p0), rtol=1e-12)
    inflow = float(rho(5e6, OIL)) * 2e-3 * 0.1
    assert_allclose(values(run, "piston.A.mdot", "kg/s"), inflow, rtol=1e-10)
    assert_allclose(values(run, "piston.x", "m"), sign * 0.1 * seconds(run), atol=1e-12)
    assert run.energy().relative_residual < 1e-10


def test_a_piston_whose_place_is_a_signal_squeezes_what_is_enclosed():
    """Nothing comes in: density times volume stays."""
    model = wired(
        "squeezed", "piston.A liquid.A", "piston.R drive.R", "piston.C drive.C ground.V",
        "place.y piston.p_in", liquid=oil(), ground=tr.Reference(),
        piston=il.TranslationalMechanicalConverter(displacement_spec="signal",
                                                   interface_area="1e-3 m^2", dead_volume="1 l"),
        drive=tr.VelocitySource(velocity="-1 mm/s"), place=Ramp(slope="-1 mm/s", initial="5 mm"))
    run = model.simulate("4 s", rtol=1e-10)
    volume = 1e-3 + 1e-3 * (5e-3 - 1e-3 * seconds(run))
    mass = rho(values(run, "piston.p_I", "Pa"), OIL) * volume
    assert_allclose(mass, float(rho(P0, OIL)) * 1.005e-3, rtol=1e-9)


def test_a_mass_on_enclosed_liquid_swings_on_its_stiffness():
    model = wired("cushion", "piston.A liquid.A", "piston.R mass.M", "piston.C ground.V",
                  liquid=oil(), ground=tr.Reference(),
                  piston=il.TranslationalMechanicalConverter(interface_area="1e-3 m^2",
                                                             dead_volume="1 l"),
                  mass=tr.Mass(mass="10 kg", v="1 mm/s"))
    run = model.simulate("0.2 s", rtol=1e-10)
    w = np.sqrt(OIL["beta"] * 1e-6 / (1e-3 * 10))
    assert_allclose(values(run, "mass.v", "m/s"), 1e-3 * np.cos(w * seconds(run)), atol=1e-8)
    assert run.energy().relative_residual < 1e-6


def press(compressible):
    """Two pistons on one line: 1 cm² pushes 100 cm²."""
    made = {"dynamic_compressibility": compressible,
            **({"dead_volume": "1 l"} if compressible else {})}  # fmt: skip
    return wired("press", "small.A large.A liquid.A", "small.R push.R hand.M", "large.R load.M",
                 "small.C large.C push.C ground.V",
                 small=il.TranslationalMechanicalConverter(interface_area="1 cm^2", **made),
                 large=il.TranslationalMechanicalConverter(interface_area="100 cm^2", **made),
                 liquid=oil(), ground=tr.Reference(), push=tr.ForceSource(force="-100 N"),
                 hand=tr.Mass(mass="0.1 kg"), load=tr.Mass(mass="500 kg"))


def test_incompressible_liquid_between_two_pistons_is_a_rigid_transmission():
    run = press(False).simulate("1 s", rtol=1e-10)
    # m = 0.1 kg + 500 kg/100², pushed by 100 N; the load moves a hundredth
    a = 100 / (0.1 + 500 / 100**2)
    t = seconds(run)
    assert_allclose(values(run, "hand.v", "m/s"), -a * t, rtol=1e-9, atol=1e-12)
    assert_allclose(values(run, "load.v", "m/s"), a * t / 100, rtol=1e-9, atol=1e-12)
    pressure = 500 * a / 100 / 100e-4
    assert_allclose(values(run, "small.A.p", "Pa"), P0 + pressure, rtol=1e-9)
    assert_allclose(values(run, "small.f", "N"), 1e-4 * pressure, rtol=1e-9)
    ledger = run.energy()
    assert ledger.relative_residual < 1e-9
    # what one piston adds by leaving compression out the other takes away
    assert_allclose(ledger["small"].supplied, -ledger["large"].supplied, rtol=1e-6)


@pytest.mark.parametrize("outside", OFFSETS)
@pytest.mark.parametrize(("orientation", "sign"), [("positive", 1), ("negative", -1)])
@pytest.mark.parametrize("compressible", [True, False])
def test_a_vane_turns_by_its_displacement(orientation, sign, outside, compressible):
    made = {"dead_volume": "1 l", "p_I": "5 MPa"} if compressible else {}
    model = wired("vane", "supply.A vane.A liquid.A", "drive.R vane.R", "drive.C vane.C ground.W",
                  supply=reservoir(5e6), liquid=oil(),
                  vane=il.RotationalMechanicalConverter(
                      mech_orientation=orientation, displacement="1e-4 m^3/rad",
                      dynamic_compressibility=compressible, **made, **outside),
                  drive=ro.AngularVelocitySource(velocity=f"{3 * sign} rad/s"),
                  ground=ro.RotationalReference())
    run = model.simulate("1 s", rtol=1e-10)
    p0 = 0.3e6 if outside else P0
    assert_allclose(values(run, "vane.t", "N*m"), sign * 1e-4 * (5e6 - p0), rtol=1e-12)
    inflow = (float(rho(5e6, OIL)) if compressible else 850) * 1e-4 * 3
    assert_allclose(values(run, "vane.A.mdot", "kg/s"), inflow, rtol=1e-10)
    assert run.energy().relative_residual < 1e-10


# -- cylinders ---------------------------------------------------------------------------------
def cylinder(actuator, *, force="0 N", mass="5 kg", supply=None):
    """A cylinder that moves a mass against ground; side A is fed, a side B goes to the tank."""
    model = wired("cylinder", "cylinder.R mass.M push.R", "cylinder.C push.C ground.V",
                  cylinder=actuator, liquid=oil(), tank=il.Reservoir(),
                  mass=tr.Mass(mass=mass), push=tr.ForceSource(force=force), ground=tr.Reference())
    if isinstance(supply, il.FlowRateSource):
        wire(model, "tank.A supply.A", "supply.B cylinder.A", supply=supply)
    elif supply is not None:
        wire(model, "supply.A cylinder.A", supply=supply)
    wire(model, "cylinder.A liquid.A", *(["cylinder.B tank.A"] * hasattr(type(actuator), "B")))
    return model


def test_a_cylinder_moves_as_fast_as_liquid_comes():
    source = il.FlowRateSource(mass_flow="0.017 kg/s")
    model = cylinder(il.DoubleActingActuator(
        piston_area_A="1e-3 m^2", piston_area_B="6e-4 m^2", stroke="0.3 m", x="10 mm",
        p_A=quantity(P0 + 4e6, "Pa"), law="coulomb", coulomb_force="300 N",
        breakaway_force="300 N", viscous_coefficient="20 kN*s/m"), force="-3700 N", mass="1 kg",
        supply=source)  # fmt: skip
    run = model.simulate("2 s", rtol=1e-8)
    v = float(values(run, "mass.v", "m/s")[-1])
    p = float(values(run, "cylinder.p_A", "Pa")[-1])
    assert_allclose(v, 0.017 / (float(rho(p, OIL)) * 1e-3), rtol=1e-6)
    assert_allclose(1e-3 * (p - P0), 3700 + 300 + 2e4 * v, rtol=1e-6)
    assert_allclose(values(run, "cylinder.B.mdot", "kg/s")[-1], -850 * 6e-4 * v, rtol=1e-6)
    assert run.energy().relative_residual < 1e-6


def test_a_rod_without_mass_is_as_fast_as_its_seals_let_it():
    """A(p - p0) = k x + F_C + (F_G - F_C) exp(-(v/v_s)²) + c v, solved for v by hand."""
    def pressure(t):
        return P0 + 5e5 * (1 - np.cos(3 * t))

    model = Model("rod")
    model.cylinder = il.SingleActingActuator(
        piston_area_A="1e-3 m^2", stroke="0.3 m", x="50 mm", dynamic_compressibility=False,
        law="stribeck", coulomb_force="150 N", breakaway_force="200 N",
        breakaway_velocity="20 mm/s", viscous_coefficient="4 kN*s/m")  # fmt: skip
    model.supply = reservoir(lambda t: quantity(P0 + 5e5, "Pa") - quantity("0.5 MPa") * cos(
        quantity("3 rad/s") * t))
    wire(model, "supply.A cylinder.A liquid.A", "cylinder.R spring.R",
         "cylinder.C spring.C ground.V", spring=tr.Spring(stiffness="20 kN/m"),
         liquid=oil(), ground=tr.Reference())
    run = model.simulate("1.2 s", rtol=1e-8)
    assert "machine code" in run.statistics.why

    def speed(t, x):
        drive = 1e-3 * (pressure(t) - P0) - 2e4 * x
        if drive <= 200:
            return 0.0
        return brentq(lambda v: drive - 150 - 50 * np.exp(-(v / 0.02) ** 2) - 4e3 * v, 0, 10)

    begins = np.arccos(1 - 200 / 500) / 3
    moves, rests = run.events
    assert moves.time == pytest.approx(begins, rel=1e-7)
    exact = solve_ivp(lambda t, x: [speed(t, x[0])], (begins, 1.2), [0.0], rtol=1e-9, atol=1e-12,
                      t_eval=[0.9, 1.2])
    assert_allclose(run["spring.x"].at("0.9 s").to("m").m, exact.y[0, 0], rtol=1e-6)
    assert_allclose(run["cylinder.v"].at("0.9 s").to("m/s").m, speed(0.9, exact.y[0, 0]), rtol=1e-5)
    assert_allclose(values(run, "spring.x", "m")[-1], exact.y[0, 1], rtol=1e-6)
    assert rests.description == "sticks"
    assert 1e-3 * (pressure(rests.time) - P0) - 2e4 * exact.y[0, 1] == pytest.approx(200, rel=1e-4)


@pytest.mark.parametrize("law", ["coulomb", "stribeck"])
def test_seals_hold_the_piston_until_the_pressure_overcomes_them(law):
    ramp = reservoir(lambda t: quantity(P0, "Pa") + quantity("1 MPa/s") * t)
    more = {"breakaway_velocity": "1 cm/s"} if law == "stribeck" else {}
    model = cylinder(il.SingleActingActuator(
        piston_area_A="1e-3 m^2", stroke="3 m", x="0.1 m", dynamic_compressibility=False, law=law,
        coulomb_force="500 N", breakaway_force="700 N", **more), force="-100 N",
        supply=ramp)  # fmt: skip
    run = model.simulate("1 s", rtol=1e-9)
    (moves,) = [e.time for e in run.events.of("cylinder") if e.description == "slides forward"]
    assert_allclose(moves, 0.8, rtol=1e-9)
    early = seconds(run) < 0.79
    assert (values(run, "mass.v", "m/s")[early] == 0).all()
    t = seconds(run)[early]
    assert_allclose(values(run, "cylinder.seal_force", "N")[early], 1e3 * t - 100, atol=1e-6)
    if law == "coulomb":  # 5 kg under 1000 N/s (t - 0.8 s) + 200 N
        s = 0.2
        assert_allclose(values(run, "mass.v", "m/s")[-1], (500 * s**2 + 200 * s) / 5, rtol=1e-7)
    assert run.energy().relative_residual < 1e-7


@pytest.mark.parametrize("restitution", [0.0, 0.5])
def test_a_piston_bounces_off_its_rigid_end(restitution):
    model = cylinder(il.SingleActingActuator(
        piston_area_A="1e-3 m^2", stroke="0.1 m", x="50 mm", dynamic_compressibility=False,
        stop="restitution", restitution=restitution), supply=reservoir(P0 + 1e5))  # fmt: skip
    run = model.simulate("0.14 s", rtol=1e-9)
    hit = np.sqrt(2 * 0.05 / 20)  # 100 N on 5 kg
    assert_allclose(next(e for e in run.events.of("cylinder")).time, hit, rtol=1e-8)
    after = 20 * hit * restitution
    gone = 0.14 - hit
    exact = 0.1 if restitution == 0 else 0.1 - after * gone + 10 * gone**2
    assert_allclose(values(run, "cylinder.p_out", "m")[-1], exact, rtol=1e-6)
    assert run.energy().relative_residual < 1e-8


@pytest.mark.parametrize("stop", ["smooth", "full", "undamped rebound"])
def test_a_piston_rests_on_its_elastic_end(stop):
    made = {"transition": "1 um"} if stop == "smooth" else {}
    model = cylinder(il.SingleActingActuator(
        piston_area_A="1e-3 m^2", stroke="0.1 m", x="99.9 mm", stop=stop, p_A="5.101325 MPa",
        stop_stiffness="1e8 N/m", stop_damping="1e4 N*s/m", **made),
        supply=reservoir(P0 + 5e6))  # fmt: skip
    run = model.simulate("0.5 s", rtol=1e-8)
    assert_allclose(values(run, "cylinder.x", "mm")[-1], 100.05, rtol=1e-6)
    assert_allclose(values(run, "cylinder.f", "N")[-1], 0, atol=0.01)
    assert run.energy().relative_residual < 1e-5


@few(1, "law", ["none", "lugre", "quinn"])
@pytest.mark.parametrize(("compressible", "outside"),
                         [(True, OFFSETS[0]), (True, OFFSETS[1]), (False, OFFSETS[1])])
def test_a_double_acting_cylinder_books_all_its_energy(law, compressible, outside):
    made = {"p_A": "1 MPa", "dead_volume_B": "0.1 l"} if compressible else {}
    model = cylinder(il.DoubleActingActuator(
        piston_area_A="1e-3 m^2", piston_area_B="7e-4 m^2", stroke="0.2 m", x="50 mm", law=law,
        dynamic_compressibility=compressible, **made, **outside), force="-50 N",
        supply=reservoir(lambda t: quantity("1 MPa") + quantity("2 MPa/s") * t))  # fmt: skip
    run = model.simulate("20 ms", rtol=1e-8)
    assert abs(float(values(run, "cylinder.x", "mm")[-1]) - 50) > 0.1
    assert run.energy().relative_residual < 1e-6


# -- pumps and motors --------------------------------------------------------------------------
def machine(part, speed, p_A, p_B, displacement=None):
    model = wired("machine", "a.A part.A liquid.A", "part.B b.A", "shaft.R part.R",
                  "shaft.C part.C ground.W", part=part, liquid=oil(), a=reservoir(p_A),
                  b=reservoir(p_B), shaft=ro.AngularVelocitySource(velocity=f"{speed!r} rad/s"),
                  ground=ro.RotationalReference())
    if displacement is not None:
        wire(model, "setting.y part.D", setting=Constant(value=f"{displacement} cm^3/turn"))
    return model.simulate("0.1 s", rtol=1e-10)


KINDS = [(il.FixedDisplacementPump, None), (il.FixedDisplacementMotor, None),
         (il.VariableDisplacementPump, 20.0), (il.VariableDisplacementPump, -20.0),
         (il.VariableDisplacementMotor, 20.0)]  # fmt: skip


@pytest.mark.parametrize(("kind", "setting"), KINDS)
@pytest.mark.parametrize("speed", [150.0, -80.0])
def test_an_ideal_machine_loses_nothing(kind, setting, speed):
    part = kind(displacement="20 cm^3/turn") if setting is None else kind()
    run = machine(part, speed, 2e6, 17e6, setting)
    D = (setting or 20.0) * 1e-6 / (2 * np.pi)
    mean = (rho(2e6, OIL) + rho(17e6, OIL)) / 2
    mdot, t = values(run, "part.mdot", "kg/s"), values(run, "part.t", "N*m")
    assert_allclose(mdot, mean * D * speed, rtol=1e-12)
    assert_allclose(t, D * 15e6, rtol=(15e6 / OIL["beta"]) ** 2)
    assert_allclose(t * speed, mdot * (h(17e6, OIL) - h(2e6, OIL)), rtol=1e-11)
    assert run.energy().relative_residual < 1e-12


def test_losses_of_a_pump_are_those_of_its_efficiencies():
    nominal = {"nominal_displacement": "20 cm^3/turn", "nominal_speed": "150 rad/s",
               "nominal_pressure": "15 MPa", "nominal_viscosity": "18 cSt",
               "volumetric_efficiency": 0.9, "mechanical_efficiency": 0.85}  # fmt: skip
    D, mean = 20e-6 / (2 * np.pi), float(rho(2e6, OIL) + rho(17e6, OIL)) / 2
    pump = il.FixedDisplacementPump(displacement="20 cm^3/turn", losses="analytical", **nominal)
    run = machine(pump, 150.0, 2e6, 17e6)
    assert_allclose(values(run, "part.mdot", "kg/s"), 0.9 * mean * D * 150, rtol=1e-12)
    assert_allclose(values(run, "part.t", "N*m"), D * 15e6 / 0.85 + 0.05, rtol=1e-4)
    assert run.energy().relative_residual < 1e-12
    motor = il.VariableDisplacementMotor(losses="analytical", **nominal)
    run = machine(motor, 150.0, 17e6, 2e6, 20.0)
    assert_allclose(values(run, "part.mdot", "kg/s"), mean * D * 150 / 0.9, rtol=1e-12)
    assert_allclose(values(run, "part.t", "N*m"), -0.85 * D * 15e6 + 0.05, rtol=1e-4)
    assert (values(run, "part.power_dissipated", "W") > 0).all()
    assert run.energy().relative_residual < 1e-12


def test_a_pump_drives_a_motor_as_a_gear_would():
    model = wired("hydrostatic drive", "tank.A pump.A motor.B liquid.A", "pump.B line.A motor.A",
                  "engine.R pump.R", "motor.R load.I brake.R",
                  "engine.C pump.C motor.C brake.C ground.W",
                  pump=il.FixedDisplacementPump(displacement="20 cm^3/turn"),
                  motor=il.FixedDisplacementMotor(displacement="40 cm^3/turn"),
                  line=il.ConstantVolumeChamber(volume="0.1 l"), tank=il.Reservoir(), liquid=oil(),
                  engine=ro.AngularVelocitySource(velocity="100 rad/s"),
                  load=ro.Inertia(inertia="0.01 kg*m^2"),
                  brake=ro.RotationalDamper(damping="2 N*m*s/rad"), ground=ro.RotationalReference())
    run = model.simulate("1 s", rtol=1e-8)
    assert_allclose(values(run, "load.w", "rad/s")[-1], 50, rtol=1e-6)
    torque = 40e-6 / (2 * np.pi)
    p = values(run, "line.p_I", "Pa")[-1] - P0
    assert_allclose(torque * p, 100, rtol=1e-4)
    assert run.energy().relative_residual < 1e-6


def test_a_press_at_rest_does_not_chatter_over_the_atmosphere():
    # side A is closed; side B rests at the pressure of its tank, where cavitation would begin
    model = wired(
        "press", "tank.A pump.A", "pump.B valve.P relief.A", "relief.B back.A",
        "motor.R pump.R", "motor.C pump.C base.W", "valve.T drain.A", "valve.B cylinder.B",
        "lever.y valve.S", "cylinder.C frame.V", "ram.M cylinder.R", tank=il.Reservoir(),
        back=il.Reservoir(), drain=il.Reservoir(), pump=il.FixedDisplacementPump(),
        relief=il.PressureReliefValve(cracking_pressure="10 MPa", maximum_pressure="11 MPa"),
        motor=ro.AngularVelocitySource(velocity="1500 rpm"),
        base=ro.RotationalReference(), valve=il.DirectionalValve(), lever=Constant(value="1 mm"),
        cylinder=il.DoubleActingActuator(), frame=tr.Reference(), ram=tr.Mass(mass="100 kg"))
    run = model.simulate("0.1 s")
    assert len(run.events) < 500 and run.statistics["steps"] < 500
    assert_allclose(run["cylinder.p_B"].final.m_as("MPa"), 0.101325, rtol=1e-6)


# -- a whole circuit against the same equations written and integrated by hand ---------------------
def test_a_cylinder_between_two_valves_moves_as_by_hand():
    scale = np.array([1e7, 1e7, 1e7, 0.1, 0.1])
    by_hand = solve_ivp(drives.cylinder_line_by_hand, (0, 2), drives.START, method="LSODA",
                        rtol=1e-10, atol=1e-12 * scale, max_step=0.02)
    run = drives.cylinder_line().simulate("2 s", rtol=1e-9, method="rodas4")
    at = by_hand.t[::200]
    for k, (path, unit) in enumerate(drives.PATHS.items()):
        ours = run[path].at(quantity(at, "s")).to(unit).magnitude
        assert_allclose(ours, by_hand.y[k, ::200], rtol=0, atol=1e-6 * scale[k], err_msg=path)
        final = run[path].final.to(unit).magnitude
        # published for a liquid of constant density, that is without p/beta = 1 %
        assert_allclose(final, drives.PUBLISHED[k], rtol=4e-3)
    assert run.energy().relative_residual < 1e-5
