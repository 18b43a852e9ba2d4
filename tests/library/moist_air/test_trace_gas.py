"""A trace gas in moist air, against closed forms of dilution, mixing and ideal gases."""

import numpy as np
import pytest
from benches import few, final, meets, wire, wired
from numpy.testing import assert_allclose

from blocks import Model, SimulationError, quantity
from library import moist_air
from library.signal import Sine
from library.thermal import TemperatureSource, ThermalResistance
from library.translational import Reference, VelocitySource

GAS = 8.314463  # J/(mol K)
M_A, M_W, M_G = 28.9653e-3, 18.0153e-3, 44.0095e-3  # of air, water and carbon dioxide, kg/mol
R_A, R_W, R_G = GAS / M_A, GAS / M_W, GAS / M_G
CV_A = 1006.14 - R_A  # of air at 293.15 K, by CoolProp
TRACKED = pytest.mark.parametrize("tracked", ["mass_fraction", "properties"])


@TRACKED
def test_breath_in_a_room_with_fresh_air_nears_its_last_share_exponentially(tracked):
    """m x' = M (1 - x) - mdot (x - x_in), with 400 parts of 10⁶ outside by moles."""
    model = wired(
        "office", "outside.A fan.A air.A", "fan.B room.A", "room.B meter.A", "meter.B gap.A",
        "gap.B out.A", "people.S room.S", air=moist_air.MoistAirProperties(trace_gas_model=tracked),
        outside=moist_air.Reservoir(trace_gas=400e-6, trace_gas_spec="mole_fraction", humidity=0),
        room=moist_air.ConstantVolumeChamber(volume="60 m^3", num_ports=2, RH_I=0, y_g_I=400e-6),
        fan=moist_air.FlowRateSource(mass_flow="0.05 kg/s", power_spec="none"),
        gap=moist_air.FlowResistance(pressure_drop="1 Pa"),
        people=moist_air.TraceGasSource(mass_flow="40 mg/s"), meter=moist_air.FlowRateSensor(),
        out=moist_air.Reservoir())
    run = model.simulate("2 hours", rtol=1e-9)
    x_in = 400e-6 * M_G / (400e-6 * M_G + (1 - 400e-6) * M_A)
    at_last = (0.05 * x_in + 40e-6) / (0.05 + 40e-6)
    at = np.array([600.0, 1800.0, 7200.0])
    mass = 101325 * 60 / (R_A * 293.15)
    exact = at_last + (x_in - at_last) * np.exp(-(0.05 + 40e-6) / mass * at)
    # where its properties count, the room holds 0.2 parts of 1000 more than it did
    near = 1e-5 if tracked == "mass_fraction" else 5e-4
    assert_allclose(run["room.x_g_I"].at(quantity(at, "s")).m, exact, rtol=near)
    assert final(run, "meter.G", "kg/s") == pytest.approx(
        final(run, "meter.M", "kg/s") * exact[-1], rel=near)  # fmt: skip
    assert run.energy().relative_residual < 1e-7


@pytest.mark.parametrize(("R_g", "c_g"), [(R_G, 840.0), (2077.1, 5193.1)],
                         ids=["carbon dioxide", "helium"])
def test_a_sealed_chamber_holds_what_a_source_gave_and_has_the_pressure_of_the_mixture(R_g, c_g):
    """p V = (m_a R_a + m_g R_g) T, and the energy is that of the air and of what came in."""
    model = wired("sealed", "rate.y leak.M", "leak.S room.S", "air.A room.A",
                  air=moist_air.MoistAirProperties(trace_gas_model="properties", trace_gas="tables",
                                         temperatures=["220 K", "620 K"],
                                         trace_gas_constant=quantity(R_g, "J/(kg*K)"),
                                         trace_enthalpies=quantity([0, 400 * c_g], "J/kg"),
                                         trace_viscosities=["20 uPa*s"] * 2,
                                         trace_conductivities=["20 mW/(K*m)"] * 2),
                  room=moist_air.ConstantVolumeChamber(volume="1 m^3", RH_I=0),
                  leak=moist_air.TraceGasSource(temperature="313.15 K"),
                  rate=Sine(bias="1 g/s", amplitude="1 g/s", frequency="0.01 Hz"))
    run = model.simulate("75 s", rtol=1e-9)
    came = 1e-3 * (75 + (1 - np.cos(2 * np.pi * 0.75)) / (2 * np.pi * 0.01))
    air = 101325 / (R_A * 293.15)
    T, p = final(run, "room.T_I", "K"), final(run, "room.p_I", "Pa")
    meets(run, {"room.mass_g kg": (came, 1e-8), "room.mass kg": (air + came, 1e-5)})
    assert p == pytest.approx((air * R_A + came * R_g) * T, rel=1e-5)
    assert pytest.approx((air * CV_A * 293.15 + came * c_g * 313.15) / (
        air * CV_A + came * (c_g - R_g)), rel=3e-4) == T  # by 0.2 % more of CV_A at 350 K
    assert final(run, "room.y_g_I", "1") == pytest.approx(
        came * R_g / (came * R_g + air * R_A), rel=1e-5)  # fmt: skip
    assert run.energy().relative_residual < 1e-9


@TRACKED
def test_two_streams_mix_to_the_weighted_mean_of_their_shares(tracked):
    flows, shares = (1e-3, 2e-3), {"x_g": (0.05, 0.002), "x_w": (0.004, 0.01)}
    model = wired("mix", "box.C drop.A", "drop.B out.A air.A",
                  box=moist_air.ConstantVolumeChamber(num_ports=3),
                  drop=moist_air.FlowResistance(pressure_drop="1 Pa"),
                  air=moist_air.MoistAirProperties(trace_gas_model=tracked),
                  out=moist_air.Reservoir())
    for k, flow in enumerate(flows):
        wire(model, f"source{k}.A fan{k}.A", f"fan{k}.B box.{'AB'[k]}", **{
            f"source{k}": moist_air.Reservoir(trace_gas=shares["x_g"][k], humidity=shares["x_w"][k],
                                              humidity_spec="mass_fraction"),
            f"fan{k}": moist_air.FlowRateSource(mass_flow=quantity(flow, "kg/s"),
                                                power_spec="none")})
    run = model.simulate("60 s")
    for name, given in shares.items():
        mean = sum(m * x for m, x in zip(flows, given, strict=True)) / sum(flows)
        assert final(run, f"box.{name}_I", "1") == pytest.approx(mean, rel=1e-3), name
    assert final(run, "drop.B.mdot_g", "kg/s") == pytest.approx(-(5e-5 + 4e-6), rel=1e-3)
    assert final(run, "box.T_I", "K") == pytest.approx(293.15, abs=1e-3)
    assert run.energy().relative_residual < 1e-7


@few(1, "tracked", ["none", "mass_fraction", "properties"])
def test_a_bellows_that_breathes_keeps_every_species_and_its_energy(tracked):
    """Flow turns round, water condenses; one side starts with much trace gas, one with none."""
    model = wired("breath", "bath.A wall.A", "wall.B room.H", "swing.y lift.S", "lift.R bellows.R",
                  "lift.C bellows.C case.V", "bellows.A gap.A air.A", "gap.B room.A",
                  air=moist_air.MoistAirProperties(trace_gas_model=tracked),
                  bellows=moist_air.TranslationalMechanicalConverter(dead_volume="2 l",
                                                           interface_area="100 cm^2", T_I="310 K",
                                                           RH_I=0.95, x_g_I=0.2),
                  room=moist_air.ConstantVolumeChamber(volume="5 l", RH_I=0.9),
                  gap=moist_air.FlowResistance(pressure_drop="100 Pa", mass_flow="10 g/s"),
                  bath=TemperatureSource(temperature="278.15 K"),
                  wall=ThermalResistance(resistance="1e-5 K/W"), lift=VelocitySource(),
                  swing=Sine(amplitude="0.3 m/s", frequency="0.5 Hz"), case=Reference())
    run = model.simulate("6.3 s", rtol=1e-8)
    t, flow = run.time.to("s").m, run["gap.mdot"].to("kg/s").m
    assert (np.diff(np.sign(flow[abs(flow) > 1e-5])) != 0).sum() >= 5

    def held(*names):
        return sum(run[f"{part}.{name}"].to("kg").m for part in ("bellows", "room")
                   for name in names)  # fmt: skip

    water, trace = held("mass_w", "condensate"), held("mass_g")
    for name, whole in (("mdot_w", water), ("mdot_g", trace)):
        over = np.trapezoid(abs(run[f"gap.A.{name}"].to("kg/s").m), t)
        assert abs(whole - whole[0]).max() <= 1e-7 * over, name
    whole = run["bellows.mass_w"].to("kg").m / run["bellows.x_w_I"].m + (
        run["room.mass"].to("kg").m) + held("condensate")
    assert abs(whole - whole[0]).max() < 1e-7 * np.trapezoid(abs(flow), t)
    assert final(run, "room.condensate", "kg") > 1e-5
    assert (trace[0] > 1e-4) == (tracked != "none")
    if tracked != "none":  # what was on one side is on both
        assert final(run, "room.mass_g", "kg") > 0.1 * trace[0]
    assert run.energy().relative_residual < 1e-7


def test_without_a_trace_gas_nothing_of_what_is_said_of_it_counts():
    """The same room, with and without trace gas outside, inside and from a source."""
    model = Model("none")
    for name, said, source in (("plain", 0.0, 0.0), ("said", 0.4, 1e-3)):
        wire(model, f"{name}_outside.A {name}_fan.A {name}_gap.B", f"{name}_fan.B {name}.A",
             f"{name}.B {name}_gap.A {name}_weigh.A", f"{name}_smoke.S {name}.S",
             f"{name}_look.F {name}.F", **{
                 f"{name}_outside": moist_air.Reservoir(humidity=0.8, trace_gas=said),
                 name: moist_air.ConstantVolumeChamber(volume="1 m^3", num_ports=2, T_I="300 K",
                                                       x_g_I=said),
                 f"{name}_fan": moist_air.FlowRateSource(mass_flow="10 g/s"),
                 f"{name}_gap": moist_air.FlowResistance(pressure_drop="1 Pa"),
                 f"{name}_smoke": moist_air.TraceGasSource(mass_flow=quantity(source, "kg/s")),
                 f"{name}_look": moist_air.MeasurementSelector(),
                 f"{name}_weigh": moist_air.ThermodynamicPropertiesSensor()})
    run = model.simulate("60 s")
    for path in ("T_I", "p_I", "RH_I", "mass_w", "mass"):
        assert_allclose(run[f"said.{path}"].final.m, run[f"plain.{path}"].final.m, rtol=1e-9)
    for name in ("plain", "said"):
        x = final(run, f"{name}.x_w_I", "1")
        assert final(run, f"{name}_look.G", "1") == 0
        assert final(run, f"{name}.mass_g", "kg") == 0
        assert final(run, f"{name}_smoke.power_supplied", "W") == 0
        assert final(run, f"{name}_weigh.RHO", "kg/m^3") == pytest.approx(
            final(run, f"{name}.p_I", "Pa") / final(run, f"{name}.T_I", "K") / (
                R_A + x * (R_W - R_A)), rel=1e-5)  # fmt: skip


@few(1, "y_g", [0.3, 400e-6])
def test_shares_given_by_mass_and_by_moles_are_those_of_the_molar_masses(y_g):
    """Every pair of ways gives one mixture, of which density and humidity are known."""
    y_w = 0.5 * 2339.32 / 101325  # of saturation at 20 °C, by IAPWS
    M = y_w * M_W + y_g * M_G + (1 - y_w - y_g) * M_A
    x_w, x_g = y_w * M_W / M, y_g * M_G / M
    humidity = {"relative": 0.5, "mole_fraction": y_w, "mass_fraction": x_w,
                "humidity_ratio": x_w / (1 - x_w)}  # fmt: skip
    trace = {"mole_fraction": y_g, "mass_fraction": x_g}
    model = wired("ways", air=moist_air.MoistAirProperties(trace_gas_model="properties"))
    for wet, W in humidity.items():
        for spec, G in trace.items():
            name = f"{wet}_{spec}"
            wire(model, f"{name}.A {name}_rho.A {name}_gap.A", f"{name}_gap.B air.A", **{
                name: moist_air.Reservoir(humidity_spec=wet, humidity=W, trace_gas_spec=spec,
                                          trace_gas=G, temperature="293.15 K"),
                f"{name}_rho": moist_air.ThermodynamicPropertiesSensor(),
                f"{name}_gap": moist_air.FlowResistance()})
            for k, (other, share) in enumerate(zip(humidity, [*trace, *trace], strict=True)):
                wire(model, f"{name}.A {name}_{k}.A", **{f"{name}_{k}": moist_air.HumiditySensor(
                    humidity_spec=other, trace_gas_spec=share)})
    run = model.simulate("1 s")
    for wet in humidity:
        for spec in trace:
            name = f"{wet}_{spec}"
            for k, (other, share) in enumerate(zip(humidity, [*trace, *trace], strict=True)):
                assert final(run, f"{name}_{k}.W", "1") == pytest.approx(humidity[other], rel=5e-4)
                assert final(run, f"{name}_{k}.G", "1") == pytest.approx(trace[share], rel=1e-5)
            assert final(run, f"{name}_rho.RHO", "kg/m^3") == pytest.approx(
                101325 * M / (GAS * 293.15), rel=1e-5)  # fmt: skip


def test_moisture_and_trace_gas_come_into_one_volume():
    model = wired("both", "water.S smoke.S room.S", "air.A room.A",
                  air=moist_air.MoistAirProperties(trace_gas_model="properties"),
                  room=moist_air.ConstantVolumeChamber(volume="1 m^3", RH_I=0.1),
                  water=moist_air.MoistureSource(mass_flow="0.05 g/s"),
                  smoke=moist_air.TraceGasSource(mass_flow="0.1 g/s"))
    run = model.simulate("60 s")
    for name, came in (("mass_w", 3e-3), ("mass_g", 6e-3), ("mass", 9e-3)):
        mass = run[f"room.{name}"].to("kg").m
        assert mass[-1] - mass[0] == pytest.approx(came, rel=1e-6), name
    assert run.energy().relative_residual < 1e-7


def test_a_room_from_which_more_trace_gas_is_drawn_than_there_is_stops_the_run_by_name():
    model = wired("drawn", "filter.S room.S", "air.A room.A",
                  air=moist_air.MoistAirProperties(trace_gas_model="properties"),
                  room=moist_air.ConstantVolumeChamber(x_g_I=0.01),
                  filter=moist_air.TraceGasSource(mass_flow="-1 mg/s"))
    with pytest.raises(SimulationError, match=r"in the chamber falls below none, or the trace gas"):
        model.simulate("1 min")
