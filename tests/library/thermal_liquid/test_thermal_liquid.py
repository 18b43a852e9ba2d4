"""Liquid that carries heat, against closed forms and the properties of water.

Numbers of water are IAPWS-95, by CoolProp 8.0.0.
"""

from copy import deepcopy

import numpy as np
import pytest
from benches import few, final, meets, wire, wired
from numpy.testing import assert_allclose
from scipy.special import gammainc

import library.thermal_liquid as tl
from blocks import InitialisationError, Model, SimulationError, quantity
from library.signal import Constant
from library.thermal import HeatFlowRateSource, TemperatureSource, ThermalReference
from library.translational import Reference, VelocitySource

# T in K, p in Pa, density, enthalpy less that at 300 K and 1 atm, heat capacity
WATER = [(280, 101325, 999.9110, 28895.406 - 112654.900, 4200.94),
         (300, 1e7, 1000.9550, 121734.281 - 112654.900, 4153.63),
         (350, 5e7, 994.7032, 361862.780 - 112654.900, 4099.10),
         (300, 101325, 996.5569, 0.0, 4180.64)]  # fmt: skip


def place(T="293.15 K", p=None):
    """A reservoir at a temperature and a pressure."""
    given = {} if p is None else {"pressure_spec": "specified", "pressure": p}
    return tl.Reservoir(temperature=T, **given)


@few(2, "liquid", [
    tl.ThermalLiquidProperties(liquid="water"), tl.ThermalLiquidSettings(),
    tl.ThermalLiquidSettings(energy_spec="internal_energies"), tl.ThermalLiquidTables(),
    tl.ThermalLiquidTables(energy_spec="internal_energies")],
    ids=["ready", "by heat capacities", "by internal energies", "by pressures",
         "by pressures and internal energies"])  # fmt: skip
def test_water_has_the_density_enthalpy_and_heat_capacity_of_its_equation_of_state(liquid):
    """Up to 500 bar: the enthalpy rises with pressure as the density demands."""
    model = Model("water")
    for k, (T, p, *_) in enumerate(WATER):
        wire(model, f"at{k}.A sensor{k}.A liquid{k}.A", **{
            f"at{k}": place(quantity(T, "K"), quantity(p, "Pa")), f"liquid{k}": deepcopy(liquid),
            f"sensor{k}": tl.ThermodynamicPropertiesSensor()})
    run = model.simulate("1 s")
    zero = final(run, "sensor3.H", "J/kg")
    for k, (_, p, rho, h, cp) in enumerate(WATER):
        assert final(run, f"sensor{k}.RHO", "kg/m^3") == pytest.approx(rho, rel=1e-4)
        assert final(run, f"sensor{k}.H", "J/kg") - zero == pytest.approx(h, abs=60)
        assert final(run, f"sensor{k}.CP", "J/(kg*K)") == pytest.approx(cp, rel=1e-3)
        assert final(run, f"sensor{k}.U", "J/kg") == pytest.approx(
            final(run, f"sensor{k}.H", "J/kg") - p / final(run, f"sensor{k}.RHO", "kg/m^3"))


def test_water_that_a_piston_compresses_without_heat_keeps_its_entropy():
    """300 K at 1 atm, to 20 MPa: 300.4113 K and 1005.1848 kg/m³."""
    model = wired("press", "cylinder.R rod.R", "cylinder.C rod.C wall.V",
                  cylinder=tl.TranslationalMechanicalConverter(T_I="300 K", interface_area="1 cm^2",
                                                               dead_volume="1 l"),
                  rod=VelocitySource(velocity="-50 mm/s"), wall=Reference())
    run = model.simulate("1.8 s", rtol=1e-9)
    pressure, T = run["cylinder.p_I"].to("MPa").m, run["cylinder.T_I"].to("K").m
    squeezed = 1e-3 - 1e-4 * 0.05 * run.time.to("s").m
    rho = 996.5569e-3 / squeezed
    assert np.interp(20, pressure, T) == pytest.approx(300.4113, abs=2e-3)
    assert np.interp(20, pressure, rho) == pytest.approx(1005.1848, rel=2e-5)
    force = run["cylinder.f"].to("N").m
    assert_allclose(force, 1e-4 * (pressure * 1e6 - 101325), rtol=1e-9, atol=1e-6)
    assert run.energy().relative_residual < 1e-7


def test_two_flows_mix_to_the_temperature_that_their_energies_have():
    """1 kg/s at 350 K and 3 kg/s at 290 K; cp changes by 0.3 % between them."""
    model = wired("mix", "hot.A one.A", "cold.A three.A", "one.B three.B meter.A feel.A",
                  "meter.B out.A", hot=place("350 K"), cold=place("290 K"), out=place(),
                  one=tl.FlowRateSource(mass_flow="1 kg/s"),
                  three=tl.FlowRateSource(mass_flow="3 kg/s"), meter=tl.FlowRateSensor(),
                  feel=tl.PressureTemperatureSensor(reference="absolute"))
    run = model.simulate("1 s")
    # IAPWS-95: (h(350 K) + 3 h(290 K))/4 at 1 atm
    assert final(run, "meter.PHI", "W") / 4 == pytest.approx((321839.1 + 3 * 70823.7) / 4, rel=3e-4)
    assert final(run, "feel.T", "K") == pytest.approx(305.005, abs=0.02)
    assert final(run, "meter.M", "kg/s") == pytest.approx(4)
    assert run.energy().relative_residual < 1e-9


def test_what_flows_out_of_a_pipe_behind_a_wall_follows_its_number_of_transfer_units():
    """Laminar oil: T_out = T_w - (T_w - T_in) exp(-Nu k pi L/(m cp)), by the mean cp."""
    model = wired("exchanger", "source.A pump.A oil.A", "pump.B pipe.A", "pipe.B out.A",
                  "wall.A pipe.H", source=place("350 K"), out=place("350 K"),
                  oil=tl.ThermalLiquidProperties(liquid="oil"),
                  pump=tl.FlowRateSource(mass_flow="5 g/s", power_spec="none"),
                  pipe=tl.Pipe(area="7.853981634e-5 m^2", hydraulic_diameter="10 mm", length="8 m",
                               extra_length="0 m", dynamic_compressibility=False, T_I="352 K"),
                  wall=TemperatureSource(temperature="360 K"))
    run = model.simulate("2 hour", rtol=1e-8)
    k, cp = 0.11465, 1774.7  # of Therminol 66 at 355 K, by CoolProp
    exact = 360 - 10 * np.exp(-3.66 * k * np.pi * 8 / (5e-3 * cp))
    assert final(run, "pipe.T_I", "K") == pytest.approx(exact, abs=0.06)
    assert run.energy().relative_residual < 1e-7


def test_a_front_of_temperature_travels_through_a_segmented_pipe_and_is_smeared():
    """Well mixed segments: the front is the incomplete gamma function of what has flowed."""
    n, model = 4, Model("front")
    wire(model, "source.A pump.A", "pump.B pipe.A", "pipe.B out.A", source=place("313.15 K"),
         out=place(), pump=tl.FlowRateSource(mass_flow="1 kg/s", power_spec="none"),
         pipe=tl.SegmentedPipe(segments=n, length="10 m", area="0.01 m^2", extra_length="0 m",
                               dynamic_compressibility=False, thermal_port=False))
    run = model.simulate("200 s", rtol=1e-8)
    t = np.array([25.0, 50, 100, 150])
    mass = 0.1 * 989.2  # rho V at the middle of the range, less than the 998.2 of 20 degC
    front = (run[f"pipe.segment[{n - 1}].T_I"].at(quantity(t, "s")).to("K").m - 293.15) / 20
    assert_allclose(front, gammainc(n, n * t / mass), atol=5e-3)
    assert run.energy().relative_residual < 1e-7


def test_flow_through_a_restriction_is_bernoullis_and_ends_as_heat():
    """Cd A sqrt(2 rho dp/(1 - (A/S)²)) at 1 MPa; water is warmed by (1 - alpha T) dp/(rho cp)."""
    model = wired("orifice", "high.A hole.A", "hole.B low.A behind.A",
                  high=place("300 K", "1.101325 MPa"), low=place("300 K"),
                  hole=tl.LocalRestriction(restriction_type="fixed", area="1 cm^2",
                                           port_area="4 cm^2", pressure_recovery=False),
                  behind=tl.PressureTemperatureSensor(reference="absolute"))
    run = model.simulate("1 s")
    rho = (996.5569 + 997.005) / 2  # at both ends
    exact = 0.64 * 1e-4 * np.sqrt(2 * rho * 1e6 / (1 - 1 / 16))
    assert final(run, "hole.mdot", "kg/s") == pytest.approx(exact, rel=2e-4)
    assert final(run, "behind.T", "K") - 300 == pytest.approx(
        (1 - 2.753e-4 * 300) * 1e6 / (996.8 * 4180), rel=5e-3)  # fmt: skip
    assert run.energy().relative_residual < 1e-9


@pytest.mark.parametrize(("signal", "expected"), [(2e-4, 2e-4), (1.0, 3e-4), (-1.0, 1e-10)])
def test_a_signal_opens_a_restriction_within_its_limits(signal, expected):
    model = wired("valve", "area.y hole.AR", "high.A hole.A", "hole.B low.A",
                  high=place(p="0.2 MPa"), low=place(p="0.1 MPa"),
                  hole=tl.LocalRestriction(maximum_area="3 cm^2", port_area="1 m^2"),
                  area=Constant(value=quantity(signal, "m^2")))
    flow = final(model.simulate("1 s"), "hole.mdot", "kg/s")
    turbulent = 0.64 * expected * np.sqrt(2 * 998.2 * 1e5)
    assert flow == pytest.approx(turbulent, rel=2e-3 if expected > 1e-9 else 0.2)


def test_a_pump_does_the_work_of_volume_times_pressure():
    model = wired("pump", "source.A pump.A", "pump.B drop.A", "drop.B out.A", source=place(),
                  out=place(p="0.601325 MPa"), pump=tl.PressureSource(pressure_difference="1 MPa"),
                  drop=tl.FlowResistance(pressure_drop="0.5 MPa", mass_flow="2 kg/s"))
    run = model.simulate("1 s")
    meets(run, {"pump.mdot kg/s": (2, 1e-5), "pump.power_supplied W": (2 * 1e6 / 998.43, 1e-4)})
    assert run.energy().relative_residual < 1e-9


def test_a_leak_carries_volume_by_pressure_and_closed_ends_carry_nothing():
    model = wired("leak", "high.A gap.A", "gap.B low.A", "high.A leak.A wall.A cap.A",
                  "leak.B low.A", "wall.B end.A", high=place(p="0.3 MPa"), low=place(p="0.1 MPa"),
                  leak=tl.LaminarLeakage(resistance="500 MPa*s/m^3"),
                  gap=tl.LaminarLeakage(cross_section_geometry="annular", inner_diameter="20 mm",
                                        outer_diameter="20.02 mm", length="0.1 m"),
                  wall=tl.InfiniteFlowResistance(), cap=tl.Cap(), end=tl.ConstantVolumeChamber())
    run = model.simulate("1 s")
    assert final(run, "leak.mdot", "kg/s") == pytest.approx(998.26 * 0.2 / 500, rel=1e-4)
    slit = np.pi * 20.01e-3 * 1e-5**3 / 12  # of a ring of 10 um, after Hagen and Poiseuille
    assert final(run, "gap.mdot", "kg/s") == pytest.approx(
        998.26 * slit * 0.2e6 / (1.0016e-3 * 0.1), rel=2e-3)  # water of 1.0016 mPa s
    assert final(run, "cap.p", "MPa") == pytest.approx(0.3)
    assert final(run, "cap.T", "K") == pytest.approx(293.15, abs=1e-6)
    assert final(run, "end.p_I", "MPa") == pytest.approx(0.101325)


def test_a_reference_shows_absolute_pressure_and_temperature():
    model = wired("absolute", "at.A feel.A", "zero.A feel.B", "at.A leak.A", "leak.B other.A",
                  at=place("320 K"), zero=tl.AbsoluteReference(),
                  feel=tl.PressureTemperatureSensor(),
                  leak=tl.FlowResistance(), other=place(p="0.1 MPa"))
    assert not model.check().filter("network.shorted")  # reservoirs have values of their own
    meets(model.simulate("1 s"), {"feel.P MPa": (0.101325, 1e-6), "feel.T K": (320, 1e-6)})


@pytest.mark.parametrize("method", ["dopri5", "rodas4", "BDF"])
def test_what_has_one_heat_capacity_warms_by_it_beside_the_atmosphere(method):
    """1 kW for 10 s into 1 kg of 4,180 J/(kg K), every property one number."""
    model = wired(
        "kettle", "zero.H heater.A", "heater.B kettle.H", "kettle.A out.A liquid.A",
        kettle=tl.ConstantVolumeChamber(port_area="1 mm^2"), out=tl.Reservoir(),
        liquid=tl.ThermalLiquidSettings(temperatures=["270 K", "400 K"], densities=["1000 kg/m^3"],
                                        bulk_moduli=["2 GPa"], specific_heats=["4180 J/(K*kg)"],
                                        viscosities=["1 cSt"], conductivities=["0.6 W/(K*m)"]),
        heater=HeatFlowRateSource(heat_flow="1 kW"), zero=ThermalReference())
    run = model.simulate("10 s", rtol=1e-8, method=method)
    assert final(run, "kettle.T_I", "K") - 293.15 == pytest.approx(1e4 / 4180, rel=1e-5)
    assert run.energy().relative_residual < 1e-7


def test_a_column_that_is_stopped_rings_with_joukowskys_surge_and_period():
    """1 m/s stopped at once: p rises by rho c v for 2 L/c, and comes back after 4 L/c."""
    n = 12  # pieces; half of one, closed, is the end
    model = wired("surge", "source.A pipe[0].A", "pipe[:-1].B pipe[1:].A", "pipe[-1].B end.A",
                  source=place(p="3 MPa"), end=tl.ConstantVolumeChamber(volume="5 l", p_I="3 MPa"),
                  pipe=tl.Pipe(count=n, length="10 m", area="1e-3 m^2", hydraulic_diameter="1 m",
                               extra_length="0 m", roughness="0 m", inertia=True, p_I="3 MPa",
                               thermal_port=False, flow_A="0.9985 kg/s", flow_B="0.9985 kg/s"))
    run = model.simulate("0.8 s", rtol=1e-6)
    rho, beta = 999.4, 2.19e9  # of water at 20 degC and 3 MPa
    c, length = np.sqrt(beta / rho), 10 * n + 2.5  # half of the chamber's own 5 m is behind it
    t = np.linspace(0, 0.8, 4001)
    surge = run["end.p_I"].at(quantity(t, "s")).to("MPa").m - 3
    plateau = surge[(t > 0.3 * length / c) & (t < 1.7 * length / c)]
    assert plateau.mean() == pytest.approx(c * 998.5 * 1e-6, rel=0.02)
    width = int(length / c / t[1])  # over which the ringing of the pieces is averaged out
    smooth = np.convolve(surge, np.ones(width) / width, mode="valid")
    down = t[1:len(smooth)][(smooth[:-1] > 0) & (smooth[1:] <= 0)]
    assert down[1] - down[0] == pytest.approx(4 * length / c, rel=0.03)
    first = surge[t < 1.7 * length / c]  # pieces ring, however many: theory of chains, 1.45
    assert 1.4 < first.max() / (c * 998.5e-6) < 1.5
    assert run.energy().relative_residual < 1e-7


@few(1, "counter", [True, False], ids=["counterflow", "coflow"])
def test_two_flows_beside_each_other_exchange_what_their_number_of_transfer_units_says(counter):
    """Kays and London: effectiveness by NTU and the ratio 1/2 of the heat capacities."""
    n = 10
    size = {"length": "0.6 m", "area": "1 cm^2", "hydraulic_diameter": "5 mm",
            "extra_length": "0 m", "dynamic_compressibility": False}  # fmt: skip
    model = wired("exchanger", "hot.H cold.H", hot=tl.Pipe(count=n, T_I="305 K", **size),
                  cold=tl.Pipe(count=n, T_I="305 K", **size))
    for name, T, flow in (("hot", "310 K", "10 g/s"), ("cold", "300 K", "20 g/s")):
        pipe = f"{name}[::-1]" if counter and name == "cold" else name
        wire(model, f"{name}_in.A {name}_pump.A", f"{name}_pump.B {pipe}[0].A",
             f"{pipe}[:-1].B {pipe}[1:].A", f"{pipe}[-1].B {name}_out.A", **{
                 f"{name}_in": place(T), f"{name}_out": place(T),
                 f"{name}_pump": tl.FlowRateSource(mass_flow=flow, power_spec="none")})
    run = model.simulate("2000 s", rtol=1e-7)
    k, cp = 0.6172, 4179.7  # of water at 305 K, by CoolProp
    wall = 3.66 * k / 5e-3 * 4 * 1e-4 * 6 / 5e-3  # of either side: both are laminar
    ntu, ratio = wall / 2 / (0.01 * cp), 0.5
    exact = (1 - np.exp(-ntu * (1 + ratio))) / (1 + ratio)
    if counter:
        exact = (1 - np.exp(-ntu * (1 - ratio))) / (1 - ratio * np.exp(-ntu * (1 - ratio)))
    reached = (310 - final(run, f"hot[{n - 1}].T_I", "K")) / 10
    assert reached == pytest.approx(exact, rel=0.01)
    warmed = final(run, f"cold[{0 if counter else n - 1}].T_I", "K") - 300
    assert warmed == pytest.approx(10 * reached * ratio, rel=2e-3)
    assert run.energy().relative_residual < 1e-7


def test_what_would_boil_or_freeze_stops_the_run_by_name():
    model = wired("boils", "zero.H heater.A", "heater.B kettle.H", "kettle.A leak.A",
                  "leak.B out.A", kettle=tl.ConstantVolumeChamber(T_I="370 K"),
                  heater=HeatFlowRateSource(heat_flow="20 kW"), zero=ThermalReference(),
                  leak=tl.LaminarLeakage(resistance="1 MPa*s/m^3"), out=place())
    with pytest.raises(SimulationError, match="the temperature in the chamber leaves the range"):
        model.simulate("60 s")
    model.kettle.T_I = "400 K"
    with pytest.raises((SimulationError, InitialisationError), match="the temperature in the cham"):
        model.simulate("60 s")


def test_tables_of_two_points_and_of_wild_values():
    model = Model("simple")
    wire(model, "at.A sensor.A liquid.A",
         liquid=tl.ThermalLiquidSettings(temperatures=["280 K", "380 K"],
                                         densities=["900 kg/m^3"] * 2,
                                         specific_heats=["2 kJ/(K*kg)"], viscosities=["10 cSt"] * 2,
                                         conductivities=["0.1 W/(K*m)"], bulk_moduli=["1.5 GPa"]),
         sensor=tl.ThermodynamicPropertiesSensor(), at=place("320 K"))
    run = model.simulate("1 s")
    meets(run, {"sensor.RHO kg/m^3": (900, 1e-12), "sensor.CP J/(kg*K)": (2000, 1e-12),
                "sensor.U J/kg": (40 * 2000, 1e-9)})
    model.liquid.densities = ["900 kg/m^3", "800 kg/m^3"]
    assert len([f for f in model.check() if "polynomial" in str(f)]) == 0


def tables(yields, temperatures=(280, 330, 380), pressures=(0.1, 10, 30, 60)):
    """A liquid of a density and a viscosity of temperature (K) and pressure (MPa)."""
    rho, nu = yields(*np.meshgrid(temperatures, pressures, indexing="ij"))
    return tl.ThermalLiquidTables(
        temperatures=quantity(temperatures, "K"), pressures=quantity(pressures, "MPa"),
        densities=quantity(rho, "kg/m^3"), viscosities=quantity(nu, "cSt"),
        specific_heats=quantity(2000 + 0 * rho, "J/(kg*K)"),
        conductivities=quantity(0.1 + 0 * rho, "W/(m*K)"))  # fmt: skip


def oil(T, p):
    """850 kg/m³ at 300 K, expanding by 7e-4/K, Murnaghan's law; Barus's viscosity."""
    P = p - 0.101325
    return 850 * np.exp(-7e-4 * (T - 300)) * (1 + 6 * P / 1500) ** (1 / 6), 50 * np.exp(
        -0.02 * (T - 300) + 0.015 * P)  # fmt: skip


def test_an_oil_by_tables_of_temperature_and_pressure_flows_and_warms_as_its_law_says():
    """Pushed through a gap it warms by (1 - alpha T) p/(rho cp), which is Joule and Thomson's."""
    model = wired(
        "oil", "high.A gap.A at.A", "gap.B behind.A", "behind.B drop.A", "drop.B low.A liquid.A",
        liquid=tables(oil), high=place("320 K", "50 MPa"), low=place("320 K"),
        gap=tl.LaminarLeakage(cross_section_geometry="circular", diameter="1 mm", length="1 m"),
        behind=tl.ConstantVolumeChamber(num_ports=2, T_I="320 K"),
        drop=tl.FlowResistance(pressure_drop="1 Pa"), at=tl.ThermodynamicPropertiesSensor())
    assert not [f for f in model.check() if "misses" in str(f)]
    run = model.simulate("30 min")
    assert final(run, "at.RHO", "kg/m^3") == pytest.approx(oil(320, 50)[0], rel=1e-4)
    T = np.linspace(320, final(run, "behind.T_I", "K"), 200)
    p = np.linspace(50, 0.101325, 200)  # from the one state to the other at constant enthalpy
    rho, alpha = oil(T, p)[0], 7e-4
    rise = np.trapezoid((1 - alpha * T) / rho * 1e6, -p) / 2000
    assert T[-1] - 320 == pytest.approx(rise, rel=0.03)  # cp changes by 2 % with pressure
    assert run.energy().relative_residual < 1e-7


def test_the_viscosity_of_tables_grows_with_pressure():
    model = Model("thick")
    for k, p in enumerate((0.2, 30.0, 60.0)):
        wire(model, f"over{k}.A gap{k}.A", f"gap{k}.B under{k}.A liquid{k}.A", **{
            f"over{k}": place("300 K", quantity(p + 0.01, "MPa")),
            f"under{k}": place("300 K", quantity(p - 0.01, "MPa")), f"liquid{k}": tables(oil),
            f"gap{k}": tl.LaminarLeakage(cross_section_geometry="circular", diameter="1 mm",
                                         length="1 m")})
    run = model.simulate("1 s")
    flow = np.array([final(run, f"gap{k}.mdot", "kg/s") for k in range(3)])
    nu = oil(300, np.array([0.2, 30.0, 60.0]))[1] * 1e-6
    assert_allclose(flow, np.pi * 1e-3**4 / 128 / nu * 0.02e6, rtol=3e-2)
    assert_allclose(flow[[0, 2]], (np.pi * 1e-3**4 / 128 / nu * 0.02e6)[[0, 2]], rtol=1e-3)


def test_tables_that_no_liquid_can_have_are_refused_by_name():
    def told(yields, **of):
        model = wired("wrong", "liquid.A at.A", liquid=tables(yields, **of), at=place())
        return " ".join(str(finding) for finding in model.check())

    assert "must be three or more" in told(oil, pressures=(0.1, 60))
    assert "must be three or more" in told(oil, pressures=(1, 20, 60))
    assert "must rise with the pressure" in told(lambda T, p: (900 - p, 50 + 0 * p))
    gassy = told(lambda T, p: (900 * (1 + p / 1500) / (1 + 0.05 * 0.1 / p), 50 + 0 * p))
    assert "law of the pressure misses a density" in gassy
    assert "law of the pressure" not in told(oil)
