"""Moist air in rooms, ducts, coils and bellows, against psychrometrics and closed forms."""

import csv
from functools import cache
from math import log, pi, sqrt
from pathlib import Path

import numpy as np
import pytest
from benches import final, meets, wire, wired
from numpy.testing import assert_allclose

from blocks import Model, SimulationError, quantity
from library import moist_air
from library.thermal import TemperatureSource, ThermalResistance
from library.translational import MotionSensor, Reference, VelocitySource

R_A, R_W = 287.05, 461.518  # in J/(kg K), of the molar masses 28.966 and 18.015 g/mol
CP_A, CP_W = 1006.14, 1863.18  # at 293.15 K, by CoolProp
POINTS = Path(__file__).resolve().parents[2] / "data" / "psychrometric_points.csv"


def place(p="0.101325 MPa", T="293.15 K", humidity=0.5, spec="relative"):
    """A reservoir at a pressure, a temperature and a humidity."""
    return moist_air.Reservoir(pressure_spec="specified", pressure=p, temperature=T,
                               humidity=humidity, humidity_spec=spec)


def hold(model, port, T, resistance="1e-5 K/W"):
    """A temperature held at a thermal port."""
    name = port.path.replace(".", "_")
    wire(model, f"{name}_bath.A {name}_wall.A", f"{name}_wall.B {port.path}", **{
        f"{name}_bath": TemperatureSource(temperature=T),
        f"{name}_wall": ThermalResistance(resistance=resistance)})


def water_pressure(T):
    """Of saturation, in Pa, at temperatures of the tables of IAPWS."""
    return {253.15: 103.239, 283.15: 1228.2, 293.15: 2339.32, 313.15: 7384.94, 373.15: 101418.0}[T]


@cache
def points():
    """The points of the psychrometric chart, and a run that measures them."""
    rows = [{k: float(v) for k, v in row.items()} for row in csv.DictReader(
        line for line in POINTS.read_text(encoding="utf-8").splitlines() if line[0] != "#")]
    model = Model("chart")
    for k, row in enumerate(rows):
        wire(model, f"at{k}.A ratio{k}.A h{k}.A dew{k}.A", **{
            f"at{k}": place(quantity(row["p"], "Pa"), quantity(row["T"], "K"), row["RH"]),
            f"ratio{k}": moist_air.HumiditySensor(humidity_spec="humidity_ratio"),
            f"h{k}": moist_air.ThermodynamicPropertiesSensor(),
            f"dew{k}": moist_air.DewPointSensor()})
    return rows, model.simulate("1 s")


def test_humidity_enthalpy_volume_and_dew_point_are_those_of_the_psychrometric_chart():
    """Real moist air holds more vapour than an ideal mixture: by 0.4 %, at 2 bar by 0.8 %."""
    rows, run = points()
    for k, row in enumerate(rows):
        near = 0.006 * max(row["p"] / 101325, 1)
        W = final(run, f"ratio{k}.W", "1")
        assert pytest.approx(row["W"], rel=near) == W
        assert final(run, f"dew{k}.T", "K") == pytest.approx(row["D"], abs=0.1)
        assert final(run, f"h{k}.H", "J/kg") * (1 + W) == pytest.approx(
            row["H"], abs=500 + near * 2.5e6 * row["W"])  # fmt: skip
        assert (1 + W) / final(run, f"h{k}.RHO", "kg/m^3") == pytest.approx(row["V"], rel=3e-3)


def test_saturation_is_that_of_water_and_of_ice():
    """y = p_ws/p; x = y R_a/(y R_a + (1 - y) R_w), in every way that a humidity is given."""
    model, expected = Model("ways"), {}
    for n, T in enumerate((253.15, 283.15, 313.15, 373.15)):
        y = 0.5 * water_pressure(T) / 2e5
        x = y * R_A / (y * R_A + (1 - y) * R_W)
        given = {"relative": 0.5, "mole_fraction": y, "mass_fraction": x,
                 "humidity_ratio": x / (1 - x)}  # fmt: skip
        spec = list(given)[n]
        wire(model, **{f"at{n}": place("0.2 MPa", quantity(T, "K"), given[spec], spec)})
        for other, value in given.items():
            name = f"sensor{n}_{other}"
            wire(model, f"at{n}.A {name}.A",
                 **{name: moist_air.HumiditySensor(humidity_spec=other)})
            expected[name] = value
    run = model.simulate("1 s")
    for name, value in expected.items():
        assert final(run, f"{name}.W", "1") == pytest.approx(value, rel=5e-4), name


def test_two_streams_mix_to_the_point_between_them_on_the_chart():
    """1 kg of dry air of 30 °C and 60 % to 2 kg of 10 °C and 50 %: 289.917 K, by HAPropsSI."""
    model = wired("mix", "box.C drop.A", "box.F feel.A", "drop.B out.A",
                  box=moist_air.ConstantVolumeChamber(num_ports=3, port_area="1 cm^2"), out=place(),
                  feel=moist_air.ThermodynamicPropertiesSensor(),
                  drop=moist_air.FlowResistance(pressure_drop="10 Pa"))
    for k, (T, humidity, W, dry) in enumerate(
            [("303.15 K", 0.6, 0.016116, 1e-3), ("283.15 K", 0.5, 0.003808, 2e-3)]):
        wire(model, f"source{k}.A fan{k}.A", f"fan{k}.B box.{'AB'[k]}", **{
            f"source{k}": place(T=T, humidity=humidity), f"fan{k}": moist_air.FlowRateSource(
                mass_flow=quantity(dry * (1 + W), "kg/s"), power_spec="none")})
    run = model.simulate("60 s")
    assert final(run, "box.HR_I", "1") == pytest.approx(0.0079107, rel=5e-3)
    assert final(run, "box.T_I", "K") == pytest.approx(289.917, abs=0.05)
    assert final(run, "drop.mdot", "kg/s") == pytest.approx(3e-3 + 0.016116e-3 + 2 * 0.003808e-3)
    assert run.energy().relative_residual < 1e-7


@pytest.mark.parametrize("cold", [283.15, 253.15])
def test_a_closed_room_that_is_cooled_leaves_what_air_cannot_hold_on_its_walls(cold):
    """m = m_w - p_ws(T) V/(R_w T); the energy is that of the air, of vapour, and of what froze.

    Condensation is slower than cooling, so that all of it has the last temperature.
    """
    model = Model("cooled")
    model.room = moist_air.ConstantVolumeChamber(volume="30 m^3", T_I="313.15 K", RH_I=0.5,
                                       condensation_time="2 min")  # fmt: skip
    hold(model, model.room.H, quantity(cold, "K"), "1e-4 K/W")
    run = model.simulate("1 h", rtol=1e-10)
    before, after = (water_pressure(T) * 30 / (R_W * T) for T in (313.15, cold))
    assert final(run, "room.condensate", "kg") == pytest.approx(before / 2 - after, rel=3e-4)
    assert final(run, "room.T_I", "K") == pytest.approx(cold, abs=1e-3)
    water = run["room.mass_w"].to("kg").m + run["room.condensate"].to("kg").m
    assert_allclose(water, water[0], rtol=1e-7)
    # the heat: cv of dry air; what condensed has lost its heat of vaporisation
    air = (0.101325e6 - water_pressure(313.15) / 2) * 30 / (R_A * 313.15)
    latent = {283.15: 2.4775e6 - R_W * 283.15, 253.15: 2.8385e6 - R_W * 253.15}[cold]  # of IAPWS
    heat = air * (CP_A - R_A) * (313.15 - cold) + before / 2 * (CP_W - R_W) * (313.15 - cold) + (
        before / 2 - after) * latent  # fmt: skip
    energy = run["room.energy_stored"].to("J").m
    taken = energy[0] - energy[-1] + run.energy()["room"].supplied
    assert taken == pytest.approx(heat, rel=2e-3)
    assert run.energy().relative_residual < 1e-7


def test_a_coil_takes_heat_and_condensate_as_the_chart_says():
    """30 °C, 60 % to saturation at 12 °C, by HAPropsSI: 35.7 kJ and 7.35 g for 1 kg of dry air."""
    model = wired(
        "coil", "room.A fan.A", "fan.B coil.A", "coil.B out.A", "coil.H wall.A",
        "wall.B cold.A", room=place(T="303.15 K", humidity=0.6), out=place(T="285.15 K"),
        fan=moist_air.FlowRateSource(mass_flow=quantity(0.1 * 1.016116, "kg/s"), power_spec="none"),
        coil=moist_air.Pipe(area="0.2 m^2", hydraulic_diameter="4 mm", laminar_nusselt=50),
        wall=ThermalResistance(resistance="1e-6 K/W"),
        cold=TemperatureSource(temperature="285.15 K"))
    run = model.simulate("120 s", rtol=1e-7)
    assert final(run, "coil.T_I", "K") == pytest.approx(285.15, abs=0.1)
    water = 0.1 * (0.0161164 - 0.0087677)
    assert final(run, "coil.W", "kg/s") == pytest.approx(water, rel=6e-3)
    heat = 0.1 * (71365.2 - 34181.2) - water * 50409.4
    assert -final(run, "coil.Q_H", "W") == pytest.approx(heat, rel=1e-2)
    gathered = [run["coil.condensate"].at(t).to("kg").m for t in ("90 s", "120 s")]
    assert gathered[1] - gathered[0] == pytest.approx(30 * water, rel=6e-3)
    assert run.energy().relative_residual < 1e-7


def test_water_that_evaporates_cools_the_air_and_vapour_does_not():
    """3 g of water of 20 °C to 1 kg of dry air of 30 °C, 20 %: 295.894 K, by HAPropsSI."""
    model = Model("humidifier")
    for k, what in enumerate(("liquid", "vapour")):
        wire(model, f"in{k}.A fan{k}.A", f"fan{k}.B box{k}.A", f"box{k}.B drop{k}.A",
             f"drop{k}.B out{k}.A", f"water{k}.S box{k}.S", f"look{k}.F box{k}.F",
             **{f"in{k}": place(T="303.15 K", humidity=0.2), f"out{k}": place(),
                f"fan{k}": moist_air.FlowRateSource(mass_flow="10.05281 g/s", power_spec="none"),
                f"box{k}": moist_air.ConstantVolumeChamber(num_ports=2, port_area="1 cm^2"),
                f"water{k}": moist_air.MoistureSource(mass_flow="3e-5 kg/s", temperature="293.15 K",
                                                      moisture_source_spec=what),
                f"drop{k}": moist_air.FlowResistance(pressure_drop="1 Pa"),
                f"look{k}": moist_air.MeasurementSelector(humidity_spec="humidity_ratio")})
    run = model.simulate("60 s")
    for k in range(2):
        assert final(run, f"look{k}.W", "1") == pytest.approx(0.0082809, rel=5e-3)
    assert final(run, "look0.T", "K") == pytest.approx(295.894, abs=0.1)
    # vapour of 20 °C among air of 30 °C
    assert final(run, "look1.T", "K") == pytest.approx(
        303.15 - 0.003 * CP_W * 10 / (CP_A + 0.0083 * CP_W), abs=0.02)  # fmt: skip
    assert run.energy().relative_residual < 1e-7


def test_a_room_with_a_person_takes_the_humidity_of_its_ventilation():
    """x = x_in + M/m (1 - x), exponentially with its volume over the flow."""
    model = wired("person", "outside.A fan.A", "fan.B before.A", "before.B room.A", "room.B gap.A",
                  "gap.B after.A", "after.B out.A", "person.S room.S",
                  outside=place(T="293.15 K", humidity=0.3), out=place(),
                  room=moist_air.ConstantVolumeChamber(volume="1 m^3", num_ports=2, RH_I=0.3),
                  fan=moist_air.FlowRateSource(mass_flow="10 g/s", power_spec="none"),
                  gap=moist_air.FlowResistance(pressure_drop="1 Pa"),
                  person=moist_air.MoistureSource(mass_flow="0.02 g/s", temperature="293.15 K"),
                  before=moist_air.FlowRateSensor(), after=moist_air.FlowRateSensor())
    run = model.simulate("600 s", rtol=1e-8)
    y = 0.3 * water_pressure(293.15) / 101325
    x = y * R_A / (y * R_A + (1 - y) * R_W)
    at_last = (10 * x + 0.02) / 10.02
    mass = final(run, "room.mass", "kg")
    at = quantity(np.array([30.0, 100.0, 300.0]), "s")
    exact = at_last + (x - at_last) * np.exp(-0.01002 / mass * np.array([30.0, 100.0, 300.0]))
    assert_allclose(run["room.x_w_I"].at(at).m, exact, rtol=2e-3)
    W = [final(run, f"{name}.W", "kg/s") for name in ("before", "after")]
    assert W[1] - W[0] == pytest.approx(2e-5, rel=1e-2)
    assert final(run, "after.PHI", "W") - final(run, "before.PHI", "W") == pytest.approx(
        final(run, "person.power_supplied", "W"), rel=1e-2)  # fmt: skip
    assert run.energy().relative_residual < 1e-7


def test_flow_through_a_restriction_is_saint_venants_for_the_mixture_both_ways():
    x = 0.01
    R, cp = R_A + x * (R_W - R_A), CP_A + x * (CP_W - CP_A)
    gamma = cp / (cp - R)
    model, cases = Model("hole"), [(r, b) for r in (0.98, 0.6, 0.3) for b in (False, True)]
    for k, (ratio, back) in enumerate(cases):
        before, behind = "BA" if back else "AB"
        wire(model, f"high{k}.A hole{k}.{before}", f"hole{k}.{behind} low{k}.A", **{
            f"high{k}": place("0.3 MPa", humidity=x, spec="mass_fraction"),
            f"low{k}": place(quantity(0.3 * ratio, "MPa"), T="350 K", humidity=0.0),
            f"hole{k}": moist_air.LocalRestriction(restriction_type="fixed", area="1 cm^2",
                                                   laminar_share=1e-9)})
    run = model.simulate("1 s")
    for k, (ratio, back) in enumerate(cases):
        r = max(ratio, (2 / (gamma + 1)) ** (gamma / (gamma - 1)))
        psi = sqrt(2 * gamma / (gamma - 1) * (r ** (2 / gamma) - r ** ((gamma + 1) / gamma)))
        exact = 0.64 * 1e-4 * 0.3e6 / sqrt(R * 293.15) * psi * (-1 if back else 1)
        assert final(run, f"hole{k}.mdot", "kg/s") == pytest.approx(exact, rel=1e-4)
        assert final(run, f"hole{k}.A.mdot_w", "kg/s") == pytest.approx(x * exact, rel=1e-3)
    assert run.energy().relative_residual < 1e-9


def test_what_a_piston_compresses_without_heat_follows_the_isentrope_of_the_mixture():
    model, signs = wired("press", wall=Reference()), {"positive": -0.02, "negative": 0.02}
    for sign, speed in signs.items():
        wire(model, f"{sign}.R rod_{sign}.R", f"{sign}.C rod_{sign}.C wall.V", **{
            sign: moist_air.TranslationalMechanicalConverter(dead_volume="1 l",
                                                             interface_area="100 cm^2",
                                                             mech_orientation=sign, x_w_I=0.005),
            f"rod_{sign}": VelocitySource(velocity=quantity(speed, "m/s"))})
    run = model.simulate("1 s", rtol=1e-9)
    R, cp = R_A + 0.005 * (R_W - R_A), 1006.7 + 0.005 * (1866 - 1006.7)  # at 306 K
    gamma = cp / (cp - R)
    p = 0.101325 * 1.25**gamma
    T, force = 293.15 * 1.25 ** (gamma - 1), (p - 0.101325) * 1e6 * 0.01
    for name, speed in signs.items():
        meets(run, {f"{name}.p_I MPa": (p, 1e-4), f"{name}.T_I K": (T, 1e-4)})
        assert final(run, f"{name}.condensate", "kg") == 0
        assert final(run, f"{name}.f", "N") == pytest.approx(-np.sign(speed) * force, rel=5e-4)
    assert run.energy().relative_residual < 1e-7


def test_a_volume_that_a_signal_prescribes_keeps_its_water_and_condenses_it():
    """2.5 l to 1 l, from 75 % at 20 °C: at last it is saturated."""
    model = Model("syringe")
    model.air = moist_air.TranslationalMechanicalConverter(
        displacement_spec="signal", dead_volume="2.5 l", interface_area="100 cm^2", RH_I=0.75)
    hold(model, model.air.H, "293.15 K", "5e-3 K/W")
    wire(model, "air.R rod.R place.R", "air.C rod.C place.C wall.V", "place.P air.p_in",
         rod=VelocitySource(velocity="-0.1 m/s"), place=MotionSensor(), wall=Reference())
    run = model.simulate("1.5 s", rtol=1e-8)
    T = final(run, "air.T_I", "K")
    assert final(run, "air.x_w_I", "1") == pytest.approx(
        final(run, "air.mass_w", "kg") / (final(run, "air.p_I", "Pa") * 1e-3 / (
            T * (R_A + final(run, "air.x_w_I", "1") * (R_W - R_A)))), rel=1e-4)  # fmt: skip
    assert final(run, "air.RH_I", "1") == pytest.approx(1, abs=2e-3)
    water = run["air.mass_w"].to("kg").m + run["air.condensate"].to("kg").m
    assert_allclose(water, 0.75 * water_pressure(293.15) * 2.5e-3 / (R_W * 293.15), rtol=3e-4)
    assert run.energy().relative_residual < 1e-7


def test_a_fan_does_the_work_of_compression_without_heat():
    model = wired("fans", "source.A drive.A fan.A pull.A", "drive.B to.A after.A", "fan.B drop.A",
                  "drop.B out.A", "pull.B out.A", source=place(humidity=0), to=place("0.15 MPa"),
                  out=place("0.14 MPa"),
                  fan=moist_air.PressureSource(pressure_difference="0.048675 MPa"),
                  drop=moist_air.FlowResistance(pressure_drop="0.01 MPa"),
                  drive=moist_air.FlowRateSource(mass_flow="0.1 kg/s"),
                  after=moist_air.PressureTemperatureSensor(reference="absolute"),
                  pull=moist_air.FlowRateSource(flow_type="volumetric", volume_flow="0.1 m^3/s",
                                                power_spec="none"))
    run = model.simulate("1 s")
    T = 293.15 * (0.15 / 0.101325) ** (R_A / CP_A)
    assert final(run, "after.T", "K") == pytest.approx(T, rel=1e-3)
    for name in ("drive", "fan"):
        work = final(run, f"{name}.power_supplied", "W") / final(run, f"{name}.mdot", "kg/s")
        assert work == pytest.approx(CP_A * (T - 293.15), rel=1e-3)
    assert final(run, "pull.mdot", "kg/s") == pytest.approx(0.1 * 101325 / (R_A * 293.15), rel=1e-4)
    assert run.energy().relative_residual < 1e-9


def test_a_duct_loses_pressure_as_darcy_and_haaland_say():
    """p1² - p2² = G² R T (f L/D + 2 ln(p1/p2)) at a constant temperature."""
    d, length = 0.02, 4.0
    model = wired("duct", "high.A pipe.A", "pipe.B low.A",
                  high=place("0.2 MPa", humidity=0), low=place("0.19 MPa"), pipe=moist_air.Pipe(
                      area=quantity(pi * d**2 / 4, "m^2"), hydraulic_diameter=quantity(d, "m"),
                      length="4 m", extra_length="0 m", thermal_port=False, RH_I=0))
    run = model.simulate("20 s", rtol=1e-8)
    flux = final(run, "pipe.mdot", "kg/s") / (pi * d**2 / 4)
    reynolds = flux * d / 18.2e-6
    f = (-1.8 * log(6.9 / reynolds + (15e-6 / (3.7 * d)) ** 1.11) / log(10)) ** -2
    exact = sqrt((0.2e6**2 - 0.19e6**2) / (R_A * 293.15 * (f * length / d + 2 * log(0.2 / 0.19))))
    assert flux == pytest.approx(exact, rel=2e-3)
    assert run.energy().relative_residual < 1e-7


def test_nothing_passes_closed_ends_and_a_reference_shows_absolute_values():
    model = wired("ends", "room.A cap.A wall.A", "wall.B at.A feel.A gas.A rho.A", "zero.A feel.B",
                  room=moist_air.ConstantVolumeChamber(), cap=moist_air.Cap(),
                  wall=moist_air.InfiniteFlowResistance(), at=place("0.2 MPa", "320 K"),
                  zero=moist_air.AbsoluteReference(), feel=moist_air.PressureTemperatureSensor(),
                  gas=moist_air.MoistAirProperties(dry_gas="nitrogen"),
                  rho=moist_air.ThermodynamicPropertiesSensor())
    run = model.simulate("1 s")
    meets(run, {"room.p_I MPa": (0.101325, 1e-6),
                "cap.x_w 1": (final(run, "room.x_w_I", "1"), 1e-6), "feel.P MPa": (0.2, 1e-6),
                "feel.T K": (320, 1e-6)})
    y = 0.5 * 10546.0 / 2e5  # of saturation at 320 K, by IAPWS
    molar = (1 - y) * 28.0134e-3 + y * 18.0153e-3  # nitrogen and water
    assert final(run, "rho.RHO", "kg/m^3") == pytest.approx(2e5 * molar / (8.314463 * 320),
                                                            rel=1e-4)


def test_a_room_from_which_more_water_is_drawn_than_there_is_stops_the_run_by_name():
    model = wired("dry", "dryer.S room.S", room=moist_air.ConstantVolumeChamber(),
                  dryer=moist_air.MoistureSource(mass_flow="-1 mg/s"))
    with pytest.raises(SimulationError, match="humidity in the chamber falls below none"):
        model.simulate("1 min")


@pytest.mark.parametrize(("humidity", "spec", "refused"), [
    (70, "relative", True), ("70 %", "relative", False), (1.2, "mass_fraction", True),
    (1.2, "mole_fraction", True), (1.4, "humidity_ratio", False)])  # 90 °C, saturated at 1 atm
def test_no_humidity_but_a_ratio_of_vapour_to_air_is_more_than_1(humidity, spec, refused):
    model = Model("outside")
    model.outside = moist_air.Reservoir(humidity=humidity, humidity_spec=spec,
                                        temperature="95 degC")
    assert bool([f for f in model.check().errors if "humidity_spec" in f.problem]) == refused
