"""Gears, diodes, passive elements, sources and valves of the add-on libraries meet closed forms."""

import re
from importlib import import_module
from importlib.resources import files

import numpy as np
import pytest
from benches import meets
from numpy.testing import assert_allclose
from simscape_corpus import built
from slx_writer import Drawn, constant, converted, note_of, simulink, solver, to_ps

from blocks import Component

EL, ROT, IL = (f"foundation.{d}." for d in ("electrical", "mechanical.rotational",
                                           "isothermal_liquid"))
GEAR, DIODE = "sdl.gears.simple_gear", "ee.semiconductors.diode"
VALVE = "fluids.isothermal_liquid.valves_orifices.directional_control_valves.check_valve"
SOURCE = "ee.sources.voltage_source"


# -- gears -----------------------------------------------------------------------------------------
def geared(**values):
    """2 N*m on the base B, 3 kg*m^2 and 0.5 N*m*s/rad on the follower F."""
    return [
        constant("torque", "t", "2", "N*m"),
        Drawn("foundation.mechanical.sources.torque", "drive", {"R": "b", "S": "t", "C": "g"}),
        Drawn(GEAR, "gear", {"B": "b", "F": "f"}, {
            "ratio": ("n", "1"), "efficiency": ("0.24", "1"), "mu_visc": ("[0, 0]", "N*m/(rad/s)"),
            "w_thr": ("0.01", "rad/s"), "enable_faults": ("0", "1"), **values}),
        Drawn(f"{ROT}inertia", "load", {"I": "f"}, {"inertia": ("3", "kg*m^2")}),
        Drawn(f"{ROT}damper", "drag", {"R": "f", "C": "g"}, {"D": ("0.5", "N*m/(rad/s)")}),
        Drawn(f"{ROT}reference", "frame", {"W": "g"}), solver()]


@pytest.mark.parametrize("release", ["R2018b", "R2026a"])
@pytest.mark.parametrize(("values", "sense", "efficiency", "outcome"), [
    ({"rotation_direction": ("1", "1"), "friction_model": ("1", "1")}, 1, 1, "mapped"),
    ({"rotation_direction": ("3-2*(2)", "1"), "friction_model": ("1", "1")}, -1, 1, "mapped"),
    ({"rotation_direction": ("3-2*(1)", "1"), "friction_model": ("2", "1")}, 1, 0.24, "mapped"),
    ({"rotation_direction": ("sdl.enum.shaftOutputDirection.opposite", "1"), "friction_model":
      ("sdl.enum.gear_efficiencies_load.off", "1"), "enable_faults": ("ee.enum.enable.no", "1"),
      "report_fault": ("ee.enum.report.warn", "1"), "fault_time": ("1", "s")}, -1, 1, "mapped"),
    ({"rotation_direction": ("sdl.enum.shaftOutputDirection.same", "1"), "friction_model":
      ("sdl.enum.gear_efficiencies_load.off", "1")}, 1, 1, "mapped"),
    ({"rotation_direction": ("-1", "1"), "friction_model":
      ("sdl.enum.gear_efficiencies_load.constant", "1"), "pwr_thr": ("0.1", "W"),
      "efficiency": ("eta", "1")}, -1, 0.8, "approximated"),
], ids=["ideal", "opposite", "constant efficiency", "opposite in words", "same in words",
        "of the workspace"])  # fmt: skip
def test_a_simple_gear_turns_its_load_as_its_ratio_and_efficiency_say(
        release, values, sense, efficiency, outcome, tmp_path):
    """J dw/dt = n eta t - d w at the follower."""
    result = converted(tmp_path, geared(**values), release, PreLoadFcn="n = 4; eta = 0.8;")
    assert note_of(result, "/gear")[0] == outcome
    run = built(result.text, tmp_path).simulate("2 s", rtol=1e-9)
    speed = 4 * efficiency * 2 / 0.5 * (1 - np.exp(-0.5 / 3 * 2))
    assert_allclose(run["load.w"].final.to("rad/s").m, sense * speed, rtol=1e-6)


@pytest.mark.parametrize(("values", "outcome", "said"), [
    ({"friction_model": ("1", "1"), "mu_visc": ("[1e-3, 0]", "N*m/(rad/s)")}, "approximated",
     "mu_visc: viscous losses are a RotationalDamper from a shaft to the ground here."),
    ({"friction_model": ("1", "1"), "enable_backlash": ("true", "1")}, "approximated",
     "enable_backlash = true has no counterpart here."),
    ({"friction_model": ("1", "1"), "rotation_direction": (
        "sdl.enum.shaftOutputDirection.askew", "1")}, "missing",
     "rotation_direction = sdl.enum.shaftOutputDirection.askew: this choice is not known here"),
    ({"friction_model": ("sdl.enum.gear_efficiencies_load.loadDependent", "1")}, "missing",
     "Its efficiency depends on load or temperature; LossyGear")])
def test_what_a_gear_here_has_not_is_told(values, outcome, said, tmp_path):
    result = converted(tmp_path, geared(**values), PreLoadFcn="n = 4;")
    assert note_of(result, "/gear")[0] == outcome
    assert said in note_of(result, "/gear")[1]
    assert outcome == "approximated" or said in " ".join(result.text.split())


def test_a_gap_holds_the_values_of_its_block(tmp_path):
    tire = Drawn("sdl.tires.tire_friction", "wheel", {"A": "f", "H": "t"}, {
        "radius": ("r", "m"), "compliance": ("sdl.enum.tire.none", "1"),
        "profile": ("[1 2 3]", "N"), "stiffness": ("1e6", "N/m")},
        sides=(["A"], ["H"]))  # fmt: skip
    other = Drawn("sdl.tires.tire_friction", "spare", {"A": "f", "H": "t2"}, {
        **tire.values, "radius": ("0.4", "m")}, sides=(["A"], ["H"]))
    result = converted(tmp_path, [*geared(), tire, other], PreLoadFcn="n = 4; r = 0.3;")
    model = built(result.text, tmp_path)
    assert model.wheel.radius.to("m").m == 0.3
    assert model.spare.radius.to("m").m == 0.4
    assert model.spare.stiffness.to("N/m").m == 1e6
    assert list(model.wheel.profile.to("N").m) == [1, 2, 3]
    said = " ".join(type(model.wheel).__doc__.split())
    assert "compliance = sdl.enum.tire.none" in said
    assert "add_counterpart('sdl.tires.tire_friction', YourComponent" in said


# -- circuits --------------------------------------------------------------------------------------
def circuit(*blocks, source=None):
    """Blocks between the nodes a and g, or with a source between them."""
    feed = [source] if source else []
    return [*feed, *blocks, Drawn(f"{EL}elements.reference", "earth", {"V": "g"}), solver()]


def source(dc="12", ac="0", frequency="50", shift="0"):
    return Drawn(SOURCE, "source", {"p": "a", "n": "g"}, {
        "dc_voltage": (dc, "V"), "ac_voltage": (ac, "V"), "ac_shift": (shift, "deg"),
        "ac_frequency": (frequency, "Hz"), "noise_mode": ("0", "1"), "PSD": ("0", "V^2/Hz"),
        "sample_time": ("1e-3", "s")})  # fmt: skip


def resistor(p, n, ohms, name="resistor"):
    return Drawn("ee.passive.resistor", name, {"p": p, "n": n}, {
        "R": (ohms, "Ohm"), "enable_R_tol": ("0", "1"), "R_tol": ("5", "1"),
        "noise_mode": ("0", "1"), "Tdevice": ("25", "degC"), "alpha": ("3.93e-3", "1/K")})


def inductor(**values):
    return Drawn("ee.passive.inductor", "coil", {"p": "b", "n": "g"}, {
        "l": ("10", "mH"), "r": ("1", "Ohm"), "g": ("0", "1/Ohm"), "enable_L_tol":
        ("ee.enum.toleranceApplication.none", "1"), "L_tol": ("20", "1"),
        "i_L": ("2", "A", "High"), **values})  # fmt: skip


STORE = Drawn("ee.passive.capacitor", "store", {"p": "a", "n": "g"}, {
    "cap_option": ("ee.enum.passive.capacitor.capOption.const", "1"), "c": ("2", "uF"),
    "Cvec": ("[1e-5 1e-6]", "F"), "r": ("0", "Ohm"), "g": ("1e-3", "1/Ohm"),
    "enable_C_tol": ("0", "1"), "C_tol": ("5", "1"), "thermalEnable": ("false", "1"),
    "vc": ("3", "V", "High")})  # fmt: skip


@pytest.mark.parametrize(("blocks", "path", "end", "expected"), [
    # 12 V over 4 ohm and 10 mH with 1 ohm from 2 A: i = 2.4 - 0.4 e^(-500 t) A
    (circuit(resistor("a", "b", "4"), inductor(), source=source()), "coil.i", "2 ms",
     2.4 - 0.4 * np.exp(-1)),
    # 3 V on 2 uF over 1 kohm beside a leakage of 1 mS
    (circuit(STORE, resistor("a", "g", "1000")), "store.v", "1 ms", 3 * np.exp(-1)),
    (circuit(resistor("a", "g", "5"), source=source(dc="0", ac="10", frequency="50", shift="30")),
     "resistor.i", "3 ms", 10 * np.sin(2 * np.pi * 50 * 3e-3 + np.pi / 6) / 5),
    (circuit(Drawn("ee.sensors.power_sensor", "meter", {"s": "a", "p": "b", "n": "g", "P": "o"}),
             resistor("b", "g", "6"), source=source()), "meter.P", "1 ms", 24),
    (circuit(Drawn("ee.sources.rail_positive", "rail", {"p": "a"}, {"v0": ("5", "V")}),
             resistor("a", "g", "2")), "resistor.i", "1 ms", 2.5),
    # 3 kg*m^2 turn by 0.1 rad against 12 N*m/rad: w^2 = 4
    ([Drawn(f"{ROT}inertia", "load", {"I": "f"}, {"inertia": ("3", "kg*m^2")}),
      Drawn("sdl.couplings.torsional_damper", "shaft", {"R": "f", "C": "g"}, {
          "k": ("12", "N*m/rad"), "mu_visc": ("0", "N*m/(rad/s)"), "x0": ("0.1", "rad"),
          "model_hardstop": ("sdl.enum.onoff.off", "1"), "upper_bound": ("1", "rad")}),
      Drawn(f"{ROT}reference", "frame", {"W": "g"}), solver()], "shaft.phi", "1 s",
     0.1 * np.cos(2)),
], ids=["coil", "capacitor", "sine", "power", "rail", "damped shaft"])  # fmt: skip
def test_a_circuit_or_a_shaft_follows_its_closed_form(blocks, path, end, expected, tmp_path):
    result = converted(tmp_path, blocks)
    assert {e.outcome for e in result.entries} <= {"mapped", "left out"}
    run = built(result.text, tmp_path).simulate(end, rtol=1e-9)
    assert_allclose(run[path].final.m, expected, rtol=1e-6)


def test_a_voltage_source_that_is_a_constant_and_a_sine_is_two(tmp_path):
    both = converted(tmp_path, circuit(resistor("a", "g", "5"), source=source(ac="3")))
    assert note_of(both, "/source")[1].startswith("It is DCVoltageSource and ACVoltageSource")


def diode(model="pwl", **values):
    return Drawn(DIODE, "diode", {"p": "b", "n": "g"}, {
        "ModelType": (f"ee.enum.diode.modelType.{model}", "1"), "Vf": ("0.6", "V"),
        "Ron": ("0.3", "Ohm"), "Goff": ("1e-4", "S"), "IS": ("1e-12", "A"), "RS": ("0", "Ohm"),
        "prmExp": ("ee.enum.diode.expParam.useTwo", "1"), "ZenerEnable": ("false", "1"),
        "BV": ("inf", "V"), "C_param": ("ee.enum.diode.capParam.fixed", "1"), "CJ": ("0", "pF"),
        "CJ0": ("5", "pF"), "enable_faults": ("ee.enum.enable.no", "1"), "Vf_faulted": ("0.6", "V"),
        **values})  # fmt: skip


@pytest.mark.parametrize(("voltage", "current"), [
    ("12", (12 - 0.6 * (1 - 0.3e-4)) / (4 + 0.3)), ("-12", -12 / (4 + 1e4))])
def test_a_piecewise_linear_diode_conducts_one_way(voltage, current, tmp_path):
    result = converted(tmp_path, circuit(resistor("a", "b", "4"), diode(), source=source(voltage)))
    assert note_of(result, "/diode") == ("mapped", "")
    point = built(result.text, tmp_path).operating_point()
    assert_allclose(point["diode.i"].to("A").m, current, rtol=1e-12)


def test_what_a_diode_here_has_not_is_told(tmp_path):
    outcome, note = note_of(converted(tmp_path, circuit(
        resistor("a", "b", "4"), diode(CJ=("50", "pF")), source=source())), "/diode")
    assert (outcome, note) == (
        "approximated", "CJ: the capacitance of its junction is a Capacitor beside it here.")
    outcome, note = note_of(converted(tmp_path, circuit(
        resistor("a", "b", "4"), diode("exponential"), source=source())), "/diode")
    assert outcome == "missing"
    assert note.startswith("Only its piecewise linear characteristic is the same here.")


# -- drivers of motors -----------------------------------------------------------------------------
NEW = "ee.ic.controlled_pwm", "ee.semiconductors.converters.h_bridge"
OLD = "elec.actuators.drivers.controlled_pwm", "elec.actuators.drivers.h_bridge"


def driver(paths, reverse="0", brake="0", **values):
    """3 V of 4 V at a PWM voltage, a bridge of 12 V and 5 ohm."""
    pwm, bridge = paths
    mode = {} if pwm.startswith("elec") else {"regenerative_braking_mode": ("2", "1")}
    return circuit(
        Drawn(pwm, "pwm", {"p1": "a", "n1": "g", "p2": "pulse", "n2": "g"}, {
            "pwm_or_av": ("2", "1"), "Vmin": ("0", "V"), "Vmax": ("4", "V"), "Vm": ("5", "V"),
            "F": ("512", "Hz"), "TD": ("0", "s"), "pulse_min": ("0", "s"), "u_min": ("0", "1")},
            sides=(["p1", "n1"], ["p2", "n2"])),
        Drawn(bridge, "bridge", {"ENA": "pulse", "REF": "g", "REV": "r", "BRK": "s", "p2": "b",
                                 "n2": "g"}, {
            "pwm_or_av": ("2", "1"), "discontinuous": ("0", "1"), "Venable": ("2.5", "V"),
            "Vmax": ("5", "V"), "Vreverse": ("2.5", "V"), "Vbrake": ("2.5", "V"),
            "Vm": ("12", "V"), "Ron": ("0.4", "Ohm"), "Don": ("0.3", "Ohm"),
            "Rload": ("10", "Ohm"), "F": ("10", "kHz"), **mode, **values},
            sides=(["ENA", "REF", "REV", "BRK"], ["p2", "n2"])),
        resistor("b", "g", "5"),
        *(Drawn(f"{EL}sources.dc_voltage", name, {"p": node, "n": "g"}, {"v0": (volts, "V")})
          for name, node, volts in (("reverse", "r", reverse), ("brake", "s", brake))),
        source=source("3"))


@pytest.mark.parametrize(("paths", "release"), [(NEW, "R2020b"), (NEW, "R2026a"), (OLD, "R2018b")],
                         ids=["new", "named one by one", "old"])
@pytest.mark.parametrize(("reverse", "brake", "current"), [
    ("0", "0", 0.75 * 12 / 5.4), ("5", "0", -0.75 * 12 / 5.4), ("0", "5", 0)],
    ids=["forward", "reverse", "brake"])  # fmt: skip
def test_a_bridge_behind_a_pwm_voltage_gives_its_mean(paths, release, reverse, brake, current,
                                                      tmp_path):
    result = converted(tmp_path, driver(paths, reverse, brake), release)
    assert note_of(result, "/pwm") == note_of(result, "/bridge") == ("mapped", "")
    point = built(result.text, tmp_path).operating_point()
    assert_allclose(point["resistor.i"].to("A").m, current, rtol=1e-12, atol=1e-14)


@pytest.mark.parametrize("values", [
    {"pwm_or_av": ("1", "1")}, {"discontinuous": ("1", "1")},
    {"regenerative_braking_mode": ("ee.enum.converters.regenerative_braking_mode.depends_on_rev",
                                   "1")}])  # fmt: skip
def test_other_modes_of_a_bridge_are_a_gap(values, tmp_path):
    outcome, note = note_of(converted(tmp_path, driver(NEW, **values)), "/bridge")
    assert outcome == "missing"
    assert note.startswith("Only the mean of a smooth current that may flow back is known here")


# -- liquids ---------------------------------------------------------------------------------------
def hydraulics(part):
    return [part, Drawn(f"{IL}elements.reservoir", "tank", {"A": "g"}),
            constant("drop", "d", "0.06", "MPa"),
            Drawn(f"{IL}sources.pressure_source", "pump", {"A": "g", "P": "d", "B": "a"}), solver()]


def valve(spec="Linear", **values):
    words = "fluids.isothermal_liquid.valves_orifices.enum."
    return Drawn(VALVE, "valve", {"A": "a", "B": "g"}, {
        "opening_spec": (f"{words}PressureOpeningSpec.{spec}", "1"), "pressure_control_spec":
        (f"{words}pressure_control_spec.dp", "1"), "p_crack_differential": ("0.3e5", "Pa"),
        "p_crack_gauge": ("0.1", "MPa"), "press_max_differential": ("1.2e5", "Pa"),
        "press_max_gauge": ("0.2", "MPa"), "area_max": ("1e-4", "m^2"), "area_leak":
        ("1e-10", "m^2"), "area": ("inf", "m^2"), "Cd": ("0.7", "1"), "Re_c": ("1e-6", "1"),
        "smoothing_factor": ("0", "1"), "pressure_recovery": ("false", "1"),
        "opening_dynamics": ("0", "1"), "tau": ("0.1", "s"), **values})  # fmt: skip


def test_a_check_valve_opens_with_the_pressure(tmp_path):
    """A third of the way open at 60 kPa; the flow is turbulent: Cd A sqrt(2 rho dp)."""
    result = converted(tmp_path, hydraulics(valve()))
    assert note_of(result, "/valve") == ("mapped", "")
    point = built(result.text, tmp_path).operating_point()
    area = 1e-10 + (1e-4 - 1e-10) / 3
    meets(point, {"valve.area m^2": (area, 1e-9),
                  "valve.mdot kg/s": (0.7 * area * np.sqrt(2 * 998.21 * 6e4), 1e-4)})


@pytest.mark.parametrize(("part", "outcome", "said"), [
    (valve(smoothing_factor=("0.01", "1")), "approximated",
     "smoothing_factor: the opening has corners here, there is nothing to smooth."),
    (valve(area=("2e-4", "m^2")), "approximated", "area = 2e-4 m^2 has no counterpart here."),
    (valve("TabulatedArea"), "missing", "Only an opening that is linear in the pressure"),
    (Drawn("fluids.isothermal_liquid.tanks_accumulators.tank", "valve",
           {"A": "a", "V": "v", "L": "l"}, {"tank_area": ("0.8", "m^2")}), "missing",
     "Its inlets have heights, and lose pressure by their areas"),
], ids=["smooth", "ports", "table", "tank"])  # fmt: skip
def test_what_differs_in_a_liquid_is_told(part, outcome, said, tmp_path):
    result = converted(tmp_path, hydraulics(part))
    assert note_of(result, "/valve")[0] == outcome
    assert said in note_of(result, "/valve")[1]


# -- what has its law in the text, or another name -----------------------------------------------
def test_a_sensor_of_rotational_power_reads_what_passes_it(tmp_path):
    blocks = geared(friction_model=("1", "1"), rotation_direction=("1", "1"))
    blocks[4].nodes = {"R": "r", "C": "g"}  # the drag behind the sensor
    blocks.append(Drawn("sdl.sensors.rotational_power_sensor", "meter",
                        {"S": "f", "R": "r", "C": "g", "P": "o"}))
    result = converted(tmp_path, blocks, PreLoadFcn="n = 4;")
    assert note_of(result, "/meter")[0] == "mapped"
    assert "Direction not verified" in note_of(result, "/meter")[1]
    run = built(result.text, tmp_path).simulate("60 s")
    assert run["meter.P"].final.to("W").m == pytest.approx(8**2 / 0.5, rel=1e-3)


@pytest.mark.parametrize(("pitch", "outcome"), [("0", "mapped"), ("1", "missing")])
def test_a_vehicle_on_a_slope_loads_its_axles(pitch, outcome, tmp_path):
    """Free on 0.1 rad in 5 m/s of wind: drag, its weight, and the loads of both axles."""
    values = {"mass": ("1000", "kg"), "n_w": ("2", "1"), "x_f": ("1.2", "m"), "x_r": ("1.8", "m"),
              "y_c": ("0.5", "m"), "g": ("9.81", "m/s^2"), "area": ("2", "m^2"),
              "Cd": ("0.5", "1"), "rho": ("1.2", "kg/m^3"), "model_pitch": (pitch, "1"),
              "inertia": ("4000", "kg*m^2"), "mass_var": ("simscape.enum.onoff.off", "1")}
    pull = {"R": "h", "C": "g", "S": "f"}
    blocks = [Drawn("sdl.tires.vehicle_body", "car", {
                  "H": "h", "V": "v", "wind": "w", "NR": "r", "NF": "n", "beta": "b"}, values),
              Drawn("foundation.mechanical.translational.elements.reference", "road", {"V": "g"}),
              Drawn("foundation.mechanical.sources.force", "pull", pull), solver()]
    for name, (value, unit) in {"b": ("0.1", "rad"), "w": ("5", "m/s"), "f": ("2000", "N")}.items():
        blocks += [simulink("Constant", f"{name} is", "", f"{name}1", Value=value),
                   to_ps(f"{name}1", name, Unit=unit)]
    result = converted(tmp_path, blocks)
    assert note_of(result, "/car")[0] == outcome
    if outcome == "mapped":
        run = built(result.text, tmp_path).simulate("1 ms", rtol=1e-9)
        force = 2000 - 0.5 * 1.2 * 0.5 * 2 * 25 - 9810 * np.sin(0.1)
        assert run["car.V"].final.to("m/s").m == pytest.approx(force / 1000 * 1e-3, rel=1e-3)
        front = (1.8 * 9810 * np.cos(0.1) - 0.5 * 2000) / (2 * 3)
        assert run["car.NF"].final.to("N").m == pytest.approx(front, rel=1e-9)
        both = 2 * (run["car.NF"].final + run["car.NR"].final).to("N").m
        assert both == pytest.approx(9810 * np.cos(0.1), rel=1e-9)


@pytest.mark.parametrize(("kind", "said"), [
    ("sdl.tires.tire_simple", "RollingWheel of library.mechanisms"),
    ("sdl.brakes.rotational.disc_brake", "the pressure times pi bore^2/4 at its N by a Gain"),
    ("sdl.couplings.belt_pulley", "in the place of both and of the belt"),
    ("sdl.sources.torque_limiter", "Simscape's Torque Limiter is TorqueLimiter"),
    ("sdl.sources.sinusoidal_torque_source", "behind Sine of library.signal"),
    ("sdl.sources.force_limiter", "breakaway_force and coulomb_force are its limits"),
    ("ee.passive.incandescent_lamp", "ThermalResistor of library.electrical")])
def test_a_gap_says_in_the_text_what_is_here(kind, said, tmp_path):
    part = Drawn(kind, "part", {"A": "a"}, {"k": ("2", "1")}, sides=(["A"], []))
    text = converted(tmp_path, circuit(part, resistor("a", "g", "4"), source=source())).text
    assert said in " ".join(text.split())


def test_what_a_gap_names_exists_here():
    """``DiscBrake of library.mechanisms`` in a note is a component that can be imported."""
    text = files("library.simscape.tables").joinpath("components.csv").read_text(encoding="utf-8")
    named = set(re.findall(r"\b([A-Z]\w+) of library\.(\w+)", text))
    assert len(named) >= 4
    for name, module in named:
        assert issubclass(getattr(import_module(f"library.{module}"), name), Component)
