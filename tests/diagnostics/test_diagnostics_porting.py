"""Mistakes of somebody who rebuilds a model of another tool, in circuits, heat, iron and liquid."""

import pytest
from benches import wire, wired

import library.rotational as rot
from blocks import BlocksError, Model, quantity
from blocks.exceptions import ConnectionRefused, NamingError, ParameterError, UnknownName
from library import electrical as e
from library import isothermal_liquid as liquid
from library import magnetic as g
from library import thermal as h
from library.electromechanical import DCMotor
from library.signal import Abs, Constant, Gain, Maximum, Saturation, Sine, Step, Switch
from library.translational import Mass, MotionSensor, Reference, Spring


def circuit(source):
    return wired("circuit", "s.n ground.V", ground=e.ElectricalReference(), s=source)


def loaded(source):
    model = circuit(source)
    model.r = e.Resistor()
    wire(model, "s.p r.p", "r.n ground.V")
    return model


@pytest.mark.parametrize(("make", "meant"), [
    (lambda: e.Resistor(resistance="10k"), "'10 kohm'"),
    (lambda: e.Resistor(resistance="4k7"), "'4.7 kohm'"),
    (lambda: e.Resistor(resistance="1meg"), "'1 Mohm'"),
    (lambda: e.Resistor(resistance="10 K"), "'10 kohm'"),
    (lambda: e.Capacitor(capacitance="100n"), "'100 nF'"),
    (lambda: e.Capacitor(capacitance="10 UF"), "'uF'"),
    (lambda: h.ThermalMass(specific_heat="447 J/kgK"), "'J/(kg*K)'"),
    (lambda: h.ConductiveHeatTransfer(thermal_conductivity="401 W/mK"), "'W/(m*K)'"),
    (lambda: h.ConvectiveHeatTransfer(heat_transfer_coefficient="20 W/m2K"), "'W/(m^2*K)'"),
    (lambda: h.TemperatureSource(temperature="20 deg"), "'degC'"),
    (lambda: liquid.FlowRateSource(flow_type="volumetric", volume_flow="10 lpm"), "'l/min'"),
])  # fmt: skip
def test_a_value_as_it_is_written_elsewhere_is_answered_with_what_is_meant(make, meant):
    with pytest.raises(BlocksError) as caught:
        make()
    assert caught.value.advice.endswith(f"Did you mean {meant}?")


@pytest.mark.parametrize(("given", "meant"), [
    ("100 barg", "'101.01325 bar' for that pressure, '100 bar' for a difference of pressures."),
    ("5 bar(g)", "'6.01325 bar' for that pressure, '5 bar' for a difference of pressures."),
    ("200 kPa gauge", "'301.325 kPa' for that pressure, '200 kPa' for a difference of pressures."),
    ("3 bar g", "'4.01325 bar' for that pressure, '3 bar' for a difference of pressures."),
    ("3 bara", "Write '3 bar': pressures here are absolute.")])  # fmt: skip
def test_a_gauge_pressure_is_answered_with_the_absolute_one(given, meant):
    with pytest.raises(BlocksError) as caught:
        liquid.Reservoir(pressure_spec="specified", pressure=given)
    assert caught.value.where == "Reservoir.pressure"
    assert caught.value.advice.endswith(meant)


@pytest.mark.parametrize(("given", "meant"), [
    ("230 Vrms", "√2 times its root mean square: write '325.269 V'."),
    ("0.23 kV(rms)", "√2 times its root mean square: write '0.325269 kV'."),
    ("230 VAC", "√2 times its root mean square: write '325.269 V'."),
    ("650 Vpp", "half of what it is from peak to peak: write '325 V'.")])  # fmt: skip
def test_a_root_mean_square_is_answered_with_the_amplitude(given, meant):
    with pytest.raises(BlocksError) as caught:
        e.ACVoltageSource(amplitude=given)
    assert caught.value.advice == f"The amplitude of a sine is {meant}"


def test_a_star_import_leaves_the_package_alone():
    names = {}
    exec("from library import electrical\nfrom library.electrical import *", names)
    assert names["electrical"].Diode is names["Diode"]


@pytest.mark.parametrize("wrong", [lambda: Model(3), lambda: Model("m")[0], lambda: Model("m")[:]])
def test_models_and_what_is_in_them_go_by_names(wrong):
    with pytest.raises(NamingError, match="Write for example"):
        wrong()


def test_the_other_one_of_two_imports_of_a_name_is_named():
    """``from library.electrical import *`` and after it ``from library.signal import *``."""
    both = {}
    exec("from library.electrical import *\nfrom library.signal import *", both)
    for make in (lambda: both["Switch"](closed_resistance="1 ohm"), lambda: both["Switch"]().p):
        with pytest.raises(UnknownName, match="This is the Switch of library.signal; that of "
                           "library.electrical has .* write library.electrical.Switch"):
            make()


def test_a_function_given_as_a_start_is_told_where_it_belongs():
    with pytest.raises(ParameterError, match="takes A, but was given a function"):
        g.MMFSource(mmf=lambda t: quantity("1 A"))


def test_surroundings_at_absolute_zero_are_told_of():
    model = wired("cooling", "body.M air.A sensor.A", "air.B sensor.B zero.H",
                  body=h.ThermalMass(), zero=h.ThermalReference(), air=h.ConvectiveHeatTransfer(),
                  sensor=h.TemperatureSensor())
    (finding,) = model.check()
    assert (finding.code, finding.where) == ("network.datum", ("air", "zero"))
    assert finding.problem == "air leads heat flow to zero, which is absolute zero, 0 K."
    assert "TemperatureSource" in finding.advice


def test_heat_that_a_loss_gives_off_at_absolute_zero_is_told_of():
    model = circuit(e.DCVoltageSource())
    model.r, model.zero = e.Resistor(thermal_port=True), h.ThermalReference()
    wire(model, "s.p r.p", "r.n ground.V", "r.H zero.H")
    (finding,) = model.check()
    assert (finding.code, finding.where) == ("network.datum", ("r", "zero"))


def in_series(meter):
    model = circuit(e.DCVoltageSource(voltage="12 V"))
    model.meter, model.r = meter, e.Resistor()
    wire(model, "s.p meter.p", "meter.n r.p", "r.n ground.V")
    return model


def in_parallel(meter):
    model = in_series(e.Resistor())
    model.inner = meter
    wire(model, "inner.p r.p", "inner.n ground.V")
    return model


@pytest.mark.parametrize(("mass", "meter", "spring", "ground", "ports"), [
    (Mass(v="1 m/s"), MotionSensor(), Spring(), Reference(), "M R C V"),
    (rot.Inertia(), rot.RotationalMotionSensor(), rot.RotationalSpring(), rot.RotationalReference(),
     "I R C W"),
    (h.ThermalMass(), h.TemperatureSensor(), h.ThermalResistance(), h.TemperatureSource(),
     "M A B A")], ids=["translational", "rotational", "thermal"])  # fmt: skip
def test_a_meter_between_what_stores_and_what_carries_is_told_of(
    mass, meter, spring, ground, ports):
    own, first, second, held = ports.split()
    model = Model("in series")
    model.mass, model.meter, model.spring, model.ground = mass, meter, spring, ground
    model.connect(getattr(mass, own), getattr(meter, first))
    model.connect(getattr(meter, second), getattr(spring, first))
    model.connect(getattr(spring, second), getattr(ground, held))
    (finding,) = model.check()
    assert (finding.code, finding.where) == ("network.meter", ("meter", "spring"))
    if ports == "M R C V":  # no force ever acts on the mass
        assert model.simulate("1 s")["mass.v"].final == quantity("1 m/s")


def test_a_meter_between_two_bodies_stops_nothing():
    model = wired("two oscillators", "a.M k.R meter.R", "b.M q.R meter.C", "k.C q.C ground.V",
                  a=Mass(v="1 m/s"), b=Mass(), k=Spring(), q=Spring(), meter=MotionSensor(),
                  ground=Reference())
    assert not model.check()


def test_a_voltmeter_in_series_is_told_of_and_one_in_parallel_is_not():
    (finding,) = in_series(e.VoltageSensor()).check()
    assert (finding.code, finding.where) == ("network.meter", ("meter", "r"))
    assert finding.problem.startswith("meter lets no current through, and r carries none")
    assert finding.advice.endswith("connect meter in parallel with it.")
    assert not in_parallel(e.VoltageSensor()).check()
    alone = circuit(e.DCVoltageSource())
    alone.meter = e.VoltageSensor()
    wire(alone, "s.p meter.p", "meter.n ground.V")
    assert not alone.check()


def test_an_ammeter_in_parallel_is_told_of_and_one_in_series_is_not():
    (finding,) = in_parallel(e.CurrentSensor()).check()
    assert (finding.code, finding.where) == ("network.shorted", ("r", "inner"))
    assert finding.problem == "inner joins both ports of r, and no voltage can stand across it."
    assert finding.advice.endswith("connect inner in series with what it measures.")
    assert not in_series(e.CurrentSensor()).check()
    across = loaded(e.DCVoltageSource())
    across.meter = e.CurrentSensor()
    wire(across, "meter.p s.p", "meter.n ground.V")
    (error,) = across.check().errors
    assert "meter" in error.advice and "in series" in error.advice


@pytest.mark.parametrize(("x", "told"), [("0.2 m", True), ("-1 mm", True), ("0.1 m", False)])
def test_a_cylinder_that_starts_beyond_its_stroke_is_told_of(x, told):
    model = wired("press", "tank.A c.A", "c.R m.M", "c.C wall.V", tank=liquid.Reservoir(),
                  c=liquid.SingleActingActuator(stroke="0.1 m", x=x), m=Mass(), wall=Reference())
    findings = model.check().filter("parameter.advice")
    assert [f.where for f in findings] == [("c",)] * told
    assert all("beyond 0 and stroke, 0.0 m and 0.1 m" in f.problem for f in findings)


def test_a_step_onto_a_capacitor_names_block_source_and_capacitor():
    model = circuit(e.ControlledVoltageSource())
    model.step, model.gain = Step(final=2.5, start="10 ms"), Gain(gain="2 V")
    model.c = e.Capacitor()
    wire(model, "step.y gain.u", "gain.y s.vT", "s.p c.p", "c.n ground.V")
    with pytest.raises(BlocksError) as caught:
        model.simulate("20 ms")
    assert "c.vc would have to follow s, which step drives, and jump from 0 to 5 V" in str(
        caught.value)
    assert "Put a resistor between c and s" in caught.value.advice


def test_a_gap_that_is_closed_is_told_of_in_words_of_magnetism():
    model = wired("gap", "x.y gap.X", "s.N gap.N", "s.S gap.S pole.M",
                  pole=g.MagneticReference(), s=g.MMFSource(magnetomotive_force="100 A"),
                  gap=g.VariableReluctance(), x=Constant(value="0 mm"))
    (error,) = model.check().errors
    assert error.advice.startswith("Where nothing limits the magnetic flux of gap, put a "
                                   "reluctance in series with it")


@pytest.mark.parametrize(("first", "port", "gain", "code"), [
    (Gain(gain=2), "u", 0.5, "initial.dependent"), (Maximum(), "u2", 1, "initial.dependent"),
    (Saturation(), "u", 1, "initial.dependent"), (Abs(), "u", 1, "initial.dependent"),
    (Switch(), "u1", 1, "signal.undetermined"), (Maximum(), "u2", 0.5, None),
    (Saturation(), "u", 2, None)])
def test_signals_in_a_circle_of_gain_one_are_named_as_blocks(first, port, gain, code):
    model = wired("circle", "a.y b.u", f"b.y a.{port}", a=first, b=Gain(gain=gain), s=Sine())
    for name in {"u1", "u2", "control"} & {*dir(first)} - {port}:
        model.connect(model.s.y, getattr(model.a, name))
    told = [f for f in model.check() if f.code != "signal.loop"]
    assert [f.code for f in told] == [code] * bool(code)
    for finding in told:
        assert finding.problem.startswith("The signals of a and b run in a circle whose gain is 1")
        assert finding.advice.startswith("Change the gain of one of a and b, or break the circle")


def test_a_length_is_not_taken_for_a_milliohm():
    with pytest.raises(BlocksError) as caught:
        e.Resistor(resistance="10 m")
    assert caught.value.advice == "Give it in ohm."


def test_a_port_that_an_option_shows_is_answered_with_the_option():
    model = loaded(e.DCVoltageSource())
    model.body = h.ThermalMass()
    with pytest.raises(ConnectionRefused) as caught:
        model.connect(model.r.H, model.body.M)
    assert caught.value.advice == "Make it with Resistor(thermal_port=True)."


def test_a_signal_without_unit_is_told_apart_from_one_in_another():
    model = loaded(e.ControlledVoltageSource(voltage="1 V"))
    model.k = Constant(value=5)
    with pytest.raises(ConnectionRefused) as caught:
        model.connect(model.k.y, model.s.vT)
    assert caught.value.problem == "k.y has no unit, s.vT is in V."


def test_a_source_without_its_signal_is_told_of_unless_its_value_was_given():
    (finding,) = loaded(e.ControlledVoltageSource()).check().filter("signal")
    assert (finding.code, finding.severity, finding.where) == ("signal.default", "info", ("s.vT",))
    assert "voltage was not given, so it stays at 0 V" in finding.problem
    assert not loaded(e.ControlledVoltageSource(voltage="0 V")).check().filter("signal")


def test_liquid_whose_pressure_nothing_fixes_is_told_of_in_its_words():
    model = wired("loop", "p.A r.B", "p.B r.A",
                  p=liquid.PressureSource(pressure_difference="1 MPa"), r=liquid.FlowResistance())
    (finding,) = model.check().errors
    assert finding.code == "reference.missing"
    assert "has no Reservoir" in finding.problem
    assert "model.ground = Reservoir()" in finding.advice


def test_a_motor_whose_case_is_left_open_is_told_of_by_that_port():
    model = circuit(e.DCVoltageSource())
    wire(model, "s.p motor.p", "motor.n ground.V", "motor.R rotor.I",
         motor=DCMotor(), rotor=rot.Inertia())
    (finding,) = model.check().errors
    assert finding.problem.startswith("motor.C is connected to nothing, so an equation of motor")
    assert finding.advice.startswith("Connect motor.C:")


def test_a_magnetic_short_of_an_actuator_with_rigid_stops_is_no_contact_with_itself():
    model = wired("actuator", "act.N act.S pole.M", pole=g.MagneticReference(),
                  act=g.ReluctanceForceActuator(model="restitution", least_gap="0.1 mm"))
    findings = model.check()
    assert "contact.rigid" not in findings
    (finding,) = findings.filter("network.shorted")
    assert finding.problem.startswith("N and S of act are connected to the same node")
