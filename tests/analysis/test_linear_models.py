"""Linear models against closed forms and pencils at 60 digits."""

import csv

import benches.analysis as bench
import numpy as np
import pytest
from benches import wire, wired
from benches.analysis import assert_poles, beside, block, numbers, oscillator, results, stribeck
from benches.friction import dry

import library.electrical as el
import library.rotational as rot
import library.translational as tr
from blocks import Component, Model, Parameter, Variable, der, interpolate, load, quantity
from blocks.analysis import root_locus
from blocks.analysis.linear.frequency import transfer
from blocks.exceptions import ParameterError, SimulationError
from library.electromechanical import RotationalElectromechanicalConverter
from library.mechanisms import GearBox, Lever, PlanetaryGear
from library.signal import Constant, Product, Saturation, TransferFunction, ZeroOrderHold
from library.thermal import TemperatureSource, ThermalMass, ThermalResistance


@pytest.mark.parametrize(("case", "n"), [("A1a", 5), ("A1b", 50)])
def test_chain_of_masses(case, n):
    known = results("linearisation", case)
    linear = bench.chain(n).linearise("push.force", "sensor.x")
    assert_poles(linear.poles(), numbers(known["poles"]), rtol=1e-10)
    assert linear.dcgain()[0, 0] == pytest.approx(n / 300, rel=1e-9)


def motor():
    return wired("motor", "source.p resistor.p", "resistor.n coil.p", "coil.n machine.p",
                 "machine.n source.n earth.V", "machine.R rotor.I b1.R shaft.R",
                 "shaft.C load.I b2.R", "machine.C b1.C b2.C frame.W",
                 source=el.DCVoltageSource(voltage="0 V"),
                 resistor=el.Resistor(resistance="1.2 ohm"), coil=el.Inductor(inductance="3 mH"),
                 rotor=rot.Inertia(inertia="2e-4 kg*m^2"), load=rot.Inertia(inertia="6e-4 kg*m^2"),
                 machine=RotationalElectromechanicalConverter(constant="0.08 V*s/rad"),
                 b1=rot.RotationalDamper(damping="1e-4 N*m*s/rad"),
                 b2=rot.RotationalDamper(damping="2e-4 N*m*s/rad"), earth=el.ElectricalReference(),
                 frame=rot.RotationalReference(), shaft=rot.RotationalSpringDamper(
                     stiffness="25 N*m/rad", damping="0.01 N*m*s/rad"))


def test_motor_with_two_inertias():
    known = results("linearisation", "A2")
    linear = motor().linearise("source.voltage", ["rotor.w", "load.w"])
    assert_poles(linear.poles(), numbers(known["poles"]))
    assert_poles(linear.zeros(output="rotor.w"), numbers(known["zeros_motor_speed"]))
    assert_poles(linear.zeros(output="load.w"), numbers(known["zeros_load_speed"]))
    assert linear.dcgain().ravel() == pytest.approx([known["dc_gain_motor"]] * 2, rel=1e-9)
    assert "rad" in linear.units("D")[0][0] and "V" in linear.units("D")[0][0]
    for omega, row in known["response"].items():
        for key, path in (("w1", "rotor.w"), ("w2", "load.w")):
            expected = complex(*row[key])
            found = linear.response(f"{omega} rad/s", output=path)
            assert abs(found - expected) <= 1e-9 * abs(expected)


def test_quarter_car_over_all_frequencies():
    """Body and wheel per road in dB and degrees, suspension and tyre force per road height."""
    linear = quarter_car().linearise("road.velocity", ["body.v", "wheel.v", "tyre.f"])
    with (bench.DATA / "quarter_car_bode.csv").open() as file:
        rows = [[float(x) for x in row] for row in list(csv.reader(file))[1:]]
    for hertz, *known in rows:
        body, wheel, tyre = (linear.response(f"{hertz} Hz", output=path)
                             for path in ("body.v", "wheel.v", "tyre.f"))
        for found, (gain, phase) in ((body, known[:2]), (wheel, known[2:4])):
            expected = 10 ** (gain / 20) * np.exp(1j * np.radians(phase))
            assert abs(found - expected) <= 1e-9 * abs(expected)
        expected = complex(*known[6:8])
        assert abs(abs(2j * np.pi * hertz * tyre) - abs(expected)) <= 1e-9 * abs(expected)


def quarter_car():
    return wired("quarter car", "body.M suspension.R", "suspension.C wheel.M tyre.R",
                 "tyre.C road.R", "road.C ground.V",
                 body=tr.Mass(mass="300 kg"), wheel=tr.Mass(mass="40 kg"),
                 suspension=tr.SpringDamper(stiffness="18000 N/m", damping="1200 N*s/m"),
                 tyre=tr.Spring(stiffness="180000 N/m"), road=tr.VelocitySource(velocity="0 m/s"),
                 ground=tr.Reference())


def test_quarter_car():
    known = results("linearisation", "A3")
    linear = quarter_car().linearise("road.velocity", ["body.v", "wheel.v"])
    assert_poles(linear.poles(), numbers(known["poles"]))
    assert_poles(linear.zeros(output="body.v"), numbers(known["zeros_body"]))


def test_rigid_lever_leaves_two_poles():
    model = wired("lever", "m1.M spring.R lever.A", "m2.M lever.B", "spring.C lever.C ground.V",
                  m1=tr.Mass(mass="2 kg"), m2=tr.Mass(mass="3 kg"),
                  spring=tr.SpringDamper(stiffness="800 N/m", damping="6 N*s/m"),
                  lever=Lever(AC="2.5 m", BC="1 m"), ground=tr.Reference())
    assert_poles(model.linearise().poles(), numbers(results("linearisation", "A4a")["poles"]))


PENDULA = {"A4b": (1, 2, 0, 0), "A4c": (1, 2, 0.4, 0), "A4d": (1.5, 0.8, 0.3, 7)}


@pytest.mark.parametrize("where", ["hanging", "inverted"])
@pytest.mark.parametrize("case", PENDULA)
def test_pendulum_in_cartesian_coordinates_has_two_poles(case, where):
    mass, length, drag, force = PENDULA[case]
    known = results("linearisation", case)[where]
    model = bench.pendulum(mass, length, drag, force, known["x"] + 1e-3 * length, known["y"])
    op = model.operating_point()
    assert op["bob.y"].magnitude == pytest.approx(known["y"], rel=1e-9)
    assert op["bob.multiplier"].magnitude == pytest.approx(known["multiplier"], rel=1e-9)
    linear = model.linearise("push.force", ["bob.x", "bob.y"], at=op)
    found, expected = linear.poles(), numbers(known["poles"])
    assert len(found) == 2
    assert np.abs(np.poly(found) - np.poly(expected)).max() <= 1e-9 * np.abs(
        np.poly(expected)).max()
    assert linear.dcgain()[0, 0] == pytest.approx(known["dc_gain_x"], rel=1e-9)


@pytest.mark.parametrize("case", results("linearisation", "A5a")["sliding"],
                         ids=lambda c: str(c["belt_speed"]))
def test_friction_oscillator_on_a_belt(case):
    model = oscillator(case["belt_speed"])
    op = model.operating_point()
    assert op["spring.x"].magnitude == pytest.approx(case["x"], rel=1e-9)
    assert_poles(model.linearise("push.force", "spring.x", at=op).poles(), numbers(case["poles"]))


def test_response_of_the_sliding_oscillator_at_a_frequency_with_a_unit():
    model = oscillator(0.2)
    linear = model.linearise("push.force", "spring.x", at=model.operating_point())
    with pytest.raises(ValueError, match="bare number"):
        linear.response(7.0)
    found = linear.response("7 rad/s")
    assert abs(found - (0.016498108353 + 0.0071627328175j)) <= 1e-10 * abs(found)


def test_stuck_oscillator_has_no_moving_state_and_says_what_it_bears():
    linear = oscillator(x=0.1).linearise("push.force", "spring.x")
    assert len(linear.poles()) == 0 and linear.dcgain()[0, 0] == 0
    load = linear.loads[0]
    assert [load.low, load.high] == pytest.approx([10 - 25, 10 + 25], rel=1e-9)
    assert load.at_high == "friction slides forward"
    assert set(linear.frozen) == {"block.v", "spring.x"}
    assert "friction is stuck" in linear.notes[0]
    assert "above 35 N" in linear.notes[0]


def test_every_mode_at_rest_with_its_loads():
    models = oscillator(x=0.1).linearise("push.force", "spring.x", modes="all")
    assert [m.side for m in models] == ["friction stuck", "friction slides forward",
                                        "friction slides backward"]
    assert [len(m.poles()) for m in models] == [0, 2, 2]
    forward, backward = models[1].loads[0], models[2].loads[0]
    assert (forward.low, backward.high) == pytest.approx((35, -15))
    assert np.isinf([forward.high, backward.low]).all()
    assert models.of(friction="stuck") is models[0]


@pytest.mark.parametrize("volts", [10, -10])
def test_a_diode_conducts_or_blocks_and_nothing_else(volts):
    model = wired("charger", "on.y gate.vT", "supply.p wire.p", "wire.n diode.p", "diode.n gate.p",
                  "gate.n store.p load.p", "supply.n store.n load.n earth.V",
                  supply=el.DCVoltageSource(voltage=quantity(volts, "V")),
                  wire=el.Resistor(resistance="100 ohm"), load=el.Resistor(resistance="1 kohm"),
                  diode=el.Diode(model="ideal"), gate=el.Switch(model="ideal"),
                  store=el.Capacitor(capacitance="1 uF", v="2 V"), earth=el.ElectricalReference(),
                  on=Constant(value=1))
    models = model.linearise("supply.voltage", "store.v", modes="all")
    assert [m.side for m in models] == ["diode closed, gate closed", "diode open, gate closed"]
    closed, opened = models
    assert_poles(closed.poles(), [-(1 / 100 + 1 / 1000) / 1e-6])
    assert_poles(opened.poles(), [-1 / (1000 * 1e-6)])
    assert (closed.loads[0].low, opened.loads[0].high) == pytest.approx((2, 2), rel=1e-9)
    assert (closed.loads[0].high, opened.loads[0].low) == (np.inf, -np.inf)


@pytest.mark.parametrize(("volts", "amperes", "mode", "ends"), [
    (10, 0.0, "closed", (0, np.inf)), (-10, 0.0, "open", (-np.inf, 0)),
    (-10, 0.01, "closed", (-np.inf, np.inf)), (10, 0.1, "closed", (0, np.inf))])
def test_a_coil_behind_an_open_diode_has_no_current(volts, amperes, mode, ends):
    model = wired("coil", "supply.p diode.p", "diode.n wire.p", "wire.n coil.p",
                  "coil.n supply.n earth.V",
                  supply=el.DCVoltageSource(voltage=quantity(volts, "V")),
                  diode=el.Diode(model="ideal"), wire=el.Resistor(resistance="100 ohm"),
                  coil=el.Inductor(inductance="1 H", i=quantity(amperes, "A")),
                  earth=el.ElectricalReference())
    linear = model.linearise("supply.voltage", "coil.i")
    assert linear.modes_held == {"diode": mode} and not linear.sides
    assert_poles(linear.poles(), [-100] if mode == "closed" else [])
    assert (linear.loads[0].low, linear.loads[0].high) == pytest.approx(ends)
    sides = [m.side for m in model.linearise("supply.voltage", "coil.i", modes="all")]
    assert sides == ["diode closed", "diode open"][: 1 if amperes else 2]
    op = model.operating_point()
    assert op.modes == {"diode": "closed" if volts > 0 else "open"}
    assert op["coil.i"].magnitude == pytest.approx(max(volts, 0) / 100, abs=1e-15)


def test_modes_of_diodes_that_no_load_reaches_are_left_out():
    model = Model("two supplies")
    volts = (10, 7, 5)  # the last one draws what the others give
    wire(model, "supply[:2].p wire.p", "wire.n diode[:2].p",
         "diode[0].n diode[1].n diode[2].p coil.p", "diode[2].n supply[2].p",
         "coil.n load.p store.p", "supply[0].n supply[1].n supply[2].n load.n store.n earth.V",
         earth=el.ElectricalReference(),
         supply=el.DCVoltageSource(count=3, voltage=quantity(list(volts), "V")),
         wire=el.Resistor(count=2, resistance=quantity([100, 50], "ohm")),
         diode=el.Diode(count=3, model="ideal"), coil=el.Inductor(inductance="1 mH"),
         store=el.Capacitor(capacitance="1 uF"), load=el.Resistor(resistance="200 ohm"))
    models = model.linearise("supply[0].voltage", "store.v", modes="all")
    # the second supply alone keeps the third diode closed, by 2 V / 50 ohm
    assert [m.side for m in models] == [
        "diode[0] closed, diode[1] closed, diode[2] closed",
        "diode[0] open, diode[1] closed, diode[2] closed"]
    ends = [(m.loads[0].low, m.loads[0].high) for m in models]
    assert ends[0] == pytest.approx((5, np.inf)) and ends[1] == pytest.approx((-np.inf, 5))


WORDS = {"stuck": "stuck", "forward": "slides backward", "backward": "slides forward"}


@pytest.mark.parametrize("case", results("linearisation", "A6"))
def test_nine_modes_of_two_frictions(case):
    known = results("linearisation", "A6")[case]
    modes = {f"f{k + 1}": WORDS[m] for k, m in enumerate(case.split("/"))}
    belt1, belt2 = (tr.VelocitySource(velocity=quantity(v, "m/s")) for v in known["belt_speeds"])
    model = wired(
        "two frictions", "m1.M k1.R k12.C f1.R", "m2.M k12.R f2.R push.R", "f1.C belt1.R",
        "f2.C belt2.R", "k1.C belt1.C belt2.C push.C ground.V", belt1=belt1, belt2=belt2,
        m1=tr.Mass(mass="1 kg"), m2=tr.Mass(mass="2 kg"), push=tr.ForceSource(force="0 N"),
        k1=tr.Spring(stiffness="100 N/m"), f1=stribeck(4, 5, 0.05, 2), f2=stribeck(6, 9, 0.1, 3),
        k12=tr.SpringDamper(stiffness="400 N/m", damping="1 N*s/m"), ground=tr.Reference())
    linear = model.linearise("push.force", ["m1.v", "m2.v"], at=model.operating_point(modes=modes))
    assert linear.modes_held == modes
    assert_poles(linear.poles(), numbers(known["poles"]))
    load = linear.loads[0]
    if known["load_interval"] is None:
        assert np.isinf([load.low, load.high]).all()
    else:
        assert [load.low, load.high] == pytest.approx(known["load_interval"], rel=1e-9)


def planetary(torque):
    model = Model("planetary")
    model.sun, model.ring, model.carrier, model.load = (
        rot.Inertia(inertia=f"{j} kg*m^2") for j in (0.02, 0.05, 0.03, 0.8))
    model.gear = PlanetaryGear(ratio=2.2)
    model.clutch = rot.RotationalFriction(law="coulomb", coulomb_torque="30 N*m",
                                          breakaway_torque="36 N*m",
                                          viscous_coefficient="0.3 N*m*s/rad")
    model.push = rot.TorqueSource(torque=quantity(torque, "N*m"))
    model.drag, model.brake = (rot.RotationalDamper(damping=f"{d} N*m*s/rad") for d in (0.05, 0.4))
    wire(model, "gear.S sun.I clutch.R push.R", "gear.R ring.I clutch.C drag.R",
         "gear.C carrier.I shaft.R", "shaft.C load.I brake.R", "push.C drag.C brake.C frame.W",
         shaft=rot.RotationalSpringDamper(stiffness="900 N*m/rad", damping="1.5 N*m*s/rad"),
         frame=rot.RotationalReference())
    return model


def test_planetary_gear_with_locked_and_slipping_clutch():
    known = results("linearisation", "A7")
    model = planetary(25)
    locked = model.linearise("push.torque", ["load.w", "clutch.t"], at=model.operating_point())
    assert locked.modes_held == {"clutch": "stuck"}
    assert_poles(locked.poles(), numbers(known["locked"]["poles"]))
    assert locked.dcgain().ravel() == pytest.approx(
        [known["locked"]["dc_gain_load_speed"], known["locked"]["clutch_torque_per_torque"]],
        rel=1e-9)
    ends = model.stuck_range("push.torque", at=model.operating_point())
    assert [e.magnitude for e in ends] == pytest.approx(known["locked"]["torque_interval"],
                                                        rel=1e-9)
    model = planetary(60)
    op = model.operating_point()
    linear = model.linearise("push.torque", "load.w", at=op)
    assert op.modes == {"clutch": "slides forward"}
    assert_poles(linear.poles(), numbers(known["slipping"]["poles"]))
    assert linear.dcgain()[0, 0] == pytest.approx(known["slipping"]["dc_gain_load_speed"], rel=1e-9)
    assert linear.loads[0].low == pytest.approx(known["slipping"]["torque_from"], rel=1e-9)
    assert np.isinf(linear.loads[0].high)
    assert [op[n].magnitude for n in ("sun.w", "ring.w", "carrier.w", "clutch.t")] == \
        pytest.approx([164.9743297205, 121.1637193383, 134.8545350827, 43.14318311466], rel=1e-9)


# -- what must be said -----------------------------------------------------------------------
def test_steep_regularised_friction_keeps_its_slow_pole():
    for v_brk, known in results("linearisation", "A8b").items():
        model = oscillator(friction=stribeck(20, 25, float(v_brk), law="simscape"))
        model.friction.viscous_coefficient = "0 N*s/m"
        assert_poles(model.linearise().poles(), numbers(known["poles"]))


def test_load_exactly_at_the_breakaway_force_gives_both_modes():
    linear = block(25, stribeck(20, 25, 0.1, 10)).linearise("push.force", "block.v")
    assert len(linear.sides) == 1
    assert {linear.side, linear.sides[0].side} == {"friction stuck", "friction slides forward"}
    assert sorted(len(m.states) for m in (linear, *linear.sides)) == [0, 1]


def test_quadratic_drag_at_rest_has_no_slope_and_is_not_refused():
    for v, slope in ((0.0, 0.0), (2.0, 0.96)):
        model = beside(block(0, mass=1, v=quantity(v, "m/s")), drag=tr.QuadraticSpeedDependentForce(
            nominal_force="0.24 N", nominal_velocity="1 m/s"))
        assert model.linearise(outputs="block.v").poles() == pytest.approx([-slope], abs=1e-12)


@pytest.mark.parametrize(("inductance", "capacitance", "heat_capacity"), [
    (1e-3, 1e-5, 4e2), (1e-7, 1e-8, 4e2), (1e-8, 1e-9, 4e5), (1e-10, 1e-11, 4e6)])
def test_gains_and_zeros_of_fast_electronics_beside_slow_heat(inductance, capacitance,
                                                              heat_capacity):
    model = wired("drive", "supply.p winding.p", "winding.n coil.p", "coil.n filter.p load.p",
                  "supply.n filter.n load.n earth.V", "winding.H body.M wall.A", "wall.B room.A",
                  supply=el.DCVoltageSource(voltage="5 V"), earth=el.ElectricalReference(),
                  winding=el.Resistor(resistance="2 ohm", thermal_port=True),
                  coil=el.Inductor(inductance=quantity(inductance, "H")),
                  filter=el.Capacitor(capacitance=quantity(capacitance, "F")),
                  load=el.Resistor(resistance="10 ohm"),
                  body=ThermalMass(mass=quantity(heat_capacity / 1e3, "kg"),
                                   specific_heat="1000 J/kg/K"),
                  wall=ThermalResistance(resistance="20 K/W"), room=TemperatureSource())
    linear = model.linearise("supply.voltage", ["filter.v", "body.T"], at=model.operating_point())
    current = 5 / 12  # and heat is 2 ohm current^2
    assert linear.dcgain().ravel() == pytest.approx([10 / 12, 20 * 2 * 2 * current / 12], rel=1e-9)
    slow = 1 / (20 * heat_capacity)
    assert linear.zeros(output="filter.v") == pytest.approx([-slow], rel=1e-9)
    assert linear.zeros(output="body.T") == pytest.approx([-1 / (10 * capacitance)], rel=1e-6)
    fast = np.roots([inductance * capacitance * 10, inductance + 20 * capacitance, 12])
    assert_poles(linear.poles(), [-slow, *fast])


@pytest.mark.parametrize(("masses", "stiffness", "weak", "damping"), [
    ((1, 1), 1e3, 10, 0.1), ((1e-9, 1e-9), 1e3, 1, 1e-9), ((1e-15, 1e-12), 1e3, 0.1, 1e-9)])
def test_gains_of_small_oscillators(masses, stiffness, weak, damping):
    model = Model("two")
    model.first, model.second = (tr.Mass(mass=quantity(m, "kg")) for m in masses)
    wire(model, "first.M joint.R push.R", "joint.C second.M wall.R", "wall.C push.C ground.V",
         joint=tr.Spring(stiffness=quantity(stiffness, "N/m")),
         wall=tr.SpringDamper(stiffness=quantity(weak, "N/m"), damping=quantity(damping, "N*s/m")),
         push=tr.ForceSource(force="0 N"), ground=tr.Reference())
    linear = model.linearise("push.force", ["wall.x", "joint.x", "first.v"])
    assert linear.dcgain().ravel() == pytest.approx([1 / weak, 1 / stiffness, 0], rel=1e-9, abs=0)
    assert_poles(linear.zeros(output="joint.x"), np.roots([masses[1], damping, weak]))


@pytest.mark.parametrize("size", [1.0, 1e-9])
def test_a_force_on_a_free_chain_speeds_it_up_for_ever(size):
    masses = [size * m for m in (2.0, 3e-4, 0.7)]
    model = wired("free", "push.R body[0].M", "joint.R body[:-1].M", "joint.C body[1:].M",
                  "push.C ground.V", push=tr.ForceSource(force="0 N"), ground=tr.Reference(),
                  body=tr.Mass(count=3, mass=quantity(masses, "kg")),
                  joint=tr.SpringDamper(count=2, stiffness=quantity([7.0, 9e3], "N/m"),
                                        damping="3 N*s/m"))
    linear = model.linearise("push.force", ["body[2].v", "joint[1].x"])
    end = masses[2] / sum(masses) / 9e3  # the last joint accelerates the last body
    assert linear.dcgain().ravel() == pytest.approx([np.inf, end], rel=1e-9)


def test_free_mass_keeps_both_its_poles():
    model = block(0)
    wire(model, "sensor.R block.M", sensor=tr.MotionSensor(reference="absolute"))
    linear = model.linearise(None, "sensor.x")
    assert linear.poles() == pytest.approx([0, 0])
    assert np.isinf(model.linearise("push.force", "sensor.x").dcgain()).all()
    assert [(p, r) for p, r in linear.damping().to_pandas().iloc[:, [0, 2]].to_numpy()] == [
        ("0, integrator", 1.0)] * 2


def test_linear_model_along_a_run_says_that_it_is_no_equilibrium():
    model = beside(block(10, mass=2), damper=tr.Damper(damping="1 N*s/m"))
    run = model.simulate("1 s", rtol=1e-9)
    linear = model.linearise("push.force", "block.v", at=(run, "0.5 s"))
    rate = (10 - run["block.v"].at("0.5 s").magnitude) / 2
    assert linear.remaining["der(block.v)"].magnitude == pytest.approx(rate, rel=1e-6)
    assert linear.notes[0].startswith("This is no equilibrium: der(block.v) = ")
    assert linear.poles() == pytest.approx([-0.5])


def test_matrices_have_units_and_go_to_pandas_and_scipy():
    linear = oscillator(0.2).linearise("push.force", ["spring.x", "block.v"])
    frames = linear.to_pandas()
    assert list(frames["B"].columns) == ["push.force [N]"]
    assert list(frames["C"].index) == ["spring.x [m]", "block.v [m/s]"]
    assert linear.units("D")[0] == ["m/N"]
    assert linear.to_scipy().A.shape == (2, 2)


# -- mistakes --------------------------------------------------------------------------------
@pytest.mark.parametrize(("inputs", "outputs", "text"), [
    ("push.forse", "spring.x", "linearise(inputs=…): there is no 'push.forse' among its inputs. "
                               "Did you mean 'push.force'?"),
    ("push.force", "spring.y", "linearise(outputs=…): there is no variable 'spring.y' in the "
                               "model. Did you mean "),
    ("block.v", "spring.x", "linearise(inputs=…): block.v is no input: it follows from the "
                            "equations. An input is a parameter"),
    (["push.force", "push.S"], "spring.x",
     "linearise(inputs=…): push.force and push.S are the same input. Name it once."),
    ({"push.force": "3 N"}, "spring.x",
     "linearise(inputs=…): takes paths as texts, but was given")])
def test_mistakes_are_told(inputs, outputs, text):
    with pytest.raises(Exception, match=r".") as caught:
        oscillator().linearise(inputs, outputs)
    assert str(caught.value).startswith(text)


def test_an_input_that_is_a_function_of_time_is_refused():
    model = oscillator()
    model.push.force = lambda t: bench.newtons(1.0) * t / quantity("1 s")
    with pytest.raises(ValueError, match="push.force is given as a function of time. Give it a"):
        model.linearise("push.force", "spring.x")


def test_a_position_as_input_is_refused_where_its_velocity_is_needed():
    model = block(0)
    wire(model, "block.M damper.R", "damper.C shake.R", "shake.C ground.V",
         damper=tr.Damper(damping="1 N*s/m"), shake=tr.PositionSource(position="0 m"))
    with pytest.raises(ValueError, match="shake.position is a motion whose derivative the model"):
        model.linearise("shake.position", "block.v")


def test_an_input_that_would_move_what_sticks_is_refused():
    model = wired("pulled", "pull.R friction.R", "pull.C friction.C ground.V",
                  pull=tr.VelocitySource(velocity="0 m/s"), ground=tr.Reference(),
                  friction=dry(5, 6))
    for modes in (None, "all"):
        with pytest.raises(SimulationError, match="an input moves something that is stuck"):
            model.linearise("pull.velocity", "friction.f", modes=modes)
    assert model.linearise(outputs="friction.f").modes_held == {"friction": "stuck"}


# -- kinks and cut paths ---------------------------------------------------------------------
def stopped(force, **stop):
    return beside(block(force, mass=2), spring=tr.SpringDamper(
        stiffness="200 N/m", damping="4 N*s/m", x="10 mm"), stop=tr.HardStop(
            upper_bound="10 mm", lower_bound="-1 m", x="10 mm", **stop))


def test_on_the_edge_of_an_elastic_stop_there_are_two_models():
    known = results("linearisation", "A8a")
    model = stopped(2, model="full", upper_stiffness="30000 N/m", upper_damping="0 N*s/m",
                    lower_damping="0 N*s/m")
    linear = model.linearise("push.force", "spring.x", at=model.operating_point())
    assert len(linear.sides) == 1
    both = sorted([linear, linear.sides[0]], key=lambda m: abs(m.poles()[0]))
    assert_poles(both[0].poles(), numbers(known["free side"]["poles"]))
    assert_poles(both[1].poles(), numbers(known["contact side"]["poles"]))
    assert linear.notes[0].startswith("At an edge: this is the side 'stop: ")


def test_a_mass_that_rests_on_a_rigid_stop_has_no_moving_state():
    linear = stopped(5, model="restitution", restitution=0).linearise("push.force", "spring.x")
    assert linear.modes_held["stop.upper_force"] == "closed"
    assert len(linear.poles()) == 0
    assert linear.loads[0].low == pytest.approx(2, rel=1e-9)
    assert np.isinf(linear.loads[0].high)


@pytest.mark.parametrize(("clip", "value", "nets"), [
    (Saturation(upper=1, lower=-1), 3.0, ["source.y clip.u"]),
    (Product(), 0.0, ["source.y clip.u[0]", "zero.y clip.u[1]"])])
def test_who_cuts_the_path_is_told(clip, value, nets):
    model = wired("cut", "clip.y filter.u", *nets, source=Constant(value=value), clip=clip,
                  zero=Constant(value=0.0), filter=TransferFunction())
    linear = model.linearise("source.value", "filter.y")
    assert linear.dcgain()[0, 0] == 0
    assert linear.notes[-1] == ("The gain to filter.y from source.value is zero: clip lets nothing "
                                "through at this point.")


def test_pictures_have_units_in_their_axes(tmp_path):
    linear = quarter_car().linearise("road.velocity", ["body.v", "wheel.v"])
    figure = linear.bode(save=str(tmp_path / "bode.png"))
    assert [a.get_ylabel() for a in figure.axes] == ["gain [dB re 1]", "phase [deg]"]
    assert figure.axes[1].get_xlabel() == "frequency [Hz]"
    assert linear.nyquist().axes[0].get_xlabel().startswith("real part [")
    assert linear.pole_zero_plot(output="body.v").axes[0].get_xlabel() == "real part [1/s]"


def test_a_picture_of_nothing_is_refused():
    linear = oscillator(0.2).linearise(None, "spring.x")
    with pytest.raises(ValueError, match="has no input in this linear model"):
        linear.bode()
    for draw in (linear.bode, linear.nyquist):
        with pytest.raises(TypeError, match=r"one value, but were given 2.*\('1 Hz', '100 Hz'\)"):
            draw("1 Hz", "100 Hz")
    with pytest.raises(ValueError, match="takes a linear model, or several by label"):
        root_locus([linear])


@pytest.mark.parametrize("n", [5, 20, 100, 700])
def test_response_of_a_chain_is_its_closed_form(n, monkeypatch):
    """x/F of the last of n masses, by the recursion of a ladder."""
    omega = np.geomspace(0.05, 30, 40)
    linear = bench.chain(n).linearise("push.force", "sensor.x")
    link, mass = 300 + 1.5j * omega, -2 * omega**2
    stiffness = link + mass
    for _ in range(n - 1):
        stiffness = mass + 1 / (1 / link + 1 / stiffness)
    monkeypatch.setattr(np.linalg, "solve", None)  # takes n³ operations at each frequency
    np.testing.assert_allclose(linear.response(quantity(omega, "rad/s")), 1 / stiffness, rtol=1e-8)


@pytest.mark.parametrize("count", [3, 200])
def test_response_of_a_full_matrix_is_the_sum_over_its_modes(count):
    rng = np.random.default_rng(0)
    modes, poles = np.linalg.qr(rng.normal(size=(50, 50)))[0], -np.geomspace(0.1, 100, 50)
    b, c = rng.normal(size=(50, 1)), rng.normal(size=(2, 50))
    s = 1j * np.geomspace(0.01, 1000, count)
    found = transfer(modes * poles @ modes.T, b, c, np.zeros((2, 1)), s)
    expected = [(c @ modes) @ ((modes.T @ b)[:, 0] / (one - poles)) for one in s]
    np.testing.assert_allclose(found[:, :, 0], expected, rtol=1e-9)


def test_response_at_a_pole_is_large_and_no_error():
    """1 kg on 100 N/m without damping, shaken at 10 rad/s to the last bit."""
    model = beside(block(0, mass=1), spring=tr.Spring(stiffness="100 N/m"))
    assert abs(model.linearise("push.force", "spring.x").response("10 rad/s")) > 1e12


def test_a_mass_in_a_clearance_is_free():
    model = beside(block(0, mass=1), damper=tr.Damper(damping="0.5 N*s/m"),
                   stop=tr.HardStop(upper_bound="10 mm", lower_bound="-10 mm"))
    linear = model.linearise("push.force", ["stop.x", "stop.f"])
    assert linear.poles() == pytest.approx([0, -0.5], abs=1e-12)
    assert linear.notes == ["The gain to stop.f from push.force is zero: stop lets nothing through "
                            "at this point."]


def test_nyquist_shows_the_critical_point_of_a_number_only():
    car = quarter_car().linearise("road.velocity", "body.v")
    force = oscillator(0.2).linearise("push.force", "spring.x")
    assert [len(one.nyquist().axes[0].lines) for one in (car, force)] == [3, 2]


def test_modes_of_what_is_geared_together():
    """Two brakes on one gear train stick, up to 10 + 1 / 3, or slide, from 8 + 1 / 3 N*m on."""
    brake, other = (rot.RotationalFriction(law="coulomb", coulomb_torque=f"{c} N*m",
                                           breakaway_torque=f"{b} N*m")
                    for c, b in ((8, 10), (1, 1)))
    model = wired("train", "torque.R first.I brake.R gear.S", "gear.O second.I other.R",
                  "torque.C brake.C other.C ground.W", torque=rot.TorqueSource(torque="0 N*m"),
                  first=rot.Inertia(inertia="0.2 kg*m^2"), second=rot.Inertia(inertia="0.1 kg*m^2"),
                  gear=GearBox(ratio=3), ground=rot.RotationalReference(), brake=brake, other=other)
    rows = [str(one.loads[0]) for one in model.linearise("torque.torque", modes="all")]
    assert rows == ["for -10.3333 N*m <= torque.torque <= 10.3333 N*m",
                    "for torque.torque >= 8.33333 N*m", "for torque.torque <= -8.33333 N*m"]


def test_loads_up_to_which_a_stop_stays_open_follow_from_its_gap():
    """On a spring of k = 100 N/m between stops at -0.3 m and 0.2 m: k times each, by F = k x."""
    model = sprung_between_stops()
    model.connect(model.spring.C, model.damper.C, model.ground.V)
    load = model.linearise("push.force", at=model.operating_point()).loads[0]
    assert (load.low, load.high) == pytest.approx((-30, 20))
    assert (load.at_low, load.at_high) == ("stop.lower_force closes", "stop.upper_force closes")


@pytest.mark.parametrize("strength", [15, 50])
def test_a_stop_that_closes_before_anything_slides_is_named(strength):
    """The spring's other end is on a box that rubs: it slides from its strength on."""
    model = sprung_between_stops()
    wire(model, "box.M rub.R spring.C damper.C", "rub.C ground.V", box=tr.Mass(), rub=dry(strength))
    if strength < 20:
        assert [end.m for end in model.stuck_range("push.force")] == pytest.approx([-15, 15])
    else:
        with pytest.raises(ParameterError, match="push.force = -30 N, stop.lower_force closes"):
            model.stuck_range("push.force")


def sprung_between_stops():
    """A mass that is pushed, between two stops, with one end of a spring on it."""
    model = beside(block(0), stop=tr.HardStop(model="restitution", lower_bound="-0.3 m",
                                              upper_bound="0.2 m"))
    wire(model, "block.M spring.R damper.R", spring=tr.Spring(stiffness="100 N/m"),
         damper=tr.Damper(damping="10 N*s/m"))
    return model


def test_a_mass_on_a_rigid_stop_rests_or_leaves():
    model = beside(block(5, mass=2.0), stop=tr.HardStop(model="restitution", upper_bound="0 m",
                                                        lower_bound="-1 m"))
    closed, opened = model.linearise("push.force", "stop.x", modes="all")
    assert "closed. By the linear model here it moves for push.force below 0 N" in closed.notes[-1]
    assert str(opened.loads[0]) == "for push.force <= 0 N"
    assert_poles(opened.poles(), [0, 0])


def test_a_hold_in_the_way_is_named():
    model = wired("held", "source.y hold.u", "hold.y plant.u",
                  source=Constant(value=1.0), hold=ZeroOrderHold(), plant=TransferFunction())
    op = model.operating_point()
    linear = model.linearise("source.value", "plant.y", at=op)
    assert linear.response("1 rad/s") == 0
    assert "hold holds its samples: between them it answers nothing" in linear.notes[0]
    assert "zero: hold holds its samples" in linear.notes[1]
    assert model.linearise([], "hold.u", at=op).notes == []  # nothing passes through it


def test_what_is_listed_of_a_linear_model_reads_as_it_is_called():
    model = beside(block(5, mass=2.0), spring=tr.Spring(stiffness="200 N/m"))
    linear = model.linearise("push.force", "spring.x")
    assert repr([*linear.inputs, *linear.outputs]) == "[push.force [N], spring.x [m]]"
    assert {repr(state) for state in linear.states} == {"block.v [m/s]", "spring.x [m]"}
    ratios = linear.damping().to_pandas()["damping ratio [1]"].to_numpy()  # of 0 +- 10j
    assert ratios.tolist() == [0, 0] and not np.signbit(ratios).any()


def test_a_run_from_a_file_has_no_linear_model(tmp_path):
    model = block(5, mass=2.0)
    model.simulate("1 s").save(tmp_path / "run.parquet")
    with pytest.raises(ParameterError, match="a run from a file, which holds samples and no st"):
        model.linearise("push.force", "block.v", at=(load(tmp_path / "run.parquet"), "0.5 s"))


@pytest.mark.parametrize("at", [0.0, 0.3])
def test_a_corner_of_a_table_has_a_model_for_each_of_its_slopes(at):
    class Bent(Component):
        x, load = Variable("1", at, priority="high"), Parameter("0 1/s", varying=True)

        def equations(self):
            force = interpolate(self.x - at, quantity([-1, 0, 1], ""), quantity([-1, 0, 3], ""))
            yield der(self.x) == self.load - force / quantity("1 s")

    model = Model("bent")
    model.c = Bent()
    linear = model.linearise("c.load", "c.x")
    assert sorted(m.A[0, 0] for m in (linear, *linear.sides)) == pytest.approx([-3, -1])
    assert "edge" in linear.notes[0] and "c.x" in linear.sides[0].side
