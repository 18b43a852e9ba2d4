"""Gas in tanks, valves, pipes and pistons, against the closed forms of gas dynamics."""

from math import log, pi, sqrt

import numpy as np
import pytest
from benches import few, final, meets, wire, wired
from numpy.testing import assert_allclose

import library.thermal as th
from blocks import Model, SimulationError, quantity
from library import gas, moist_air, thermal_liquid
from library.rotational import AngularVelocitySource, RotationalReference
from library.signal import Gain
from library.translational import Reference, VelocitySource

R, CP = 287.0, 1000.0  # of the preset gas, in J/(kg K)
GAMMA = CP / (CP - R)
SONIC = sqrt(GAMMA) * (2 / (GAMMA + 1)) ** ((GAMMA + 1) / (2 * (GAMMA - 1)))


def place(p="0.101325 MPa", T="293.15 K"):
    """A reservoir at a pressure and a temperature."""
    return gas.Reservoir(pressure_spec="specified", pressure=p, temperature=T)


def tank_and_hole(heated=False):
    """10 l at 2 MPa and 300 K, which blow out through a hole of 5 mm²."""
    model = wired("blow", "tank.A hole.A", "hole.B out.A",
                  tank=gas.ConstantVolumeChamber(volume="10 l", p_I="2 MPa", T_I="300 K"),
                  hole=gas.LocalRestriction(restriction_type="fixed", area="5 mm^2"), out=place())
    if heated:
        wire(model, "bath.A wall.A", "wall.B tank.H",
             bath=th.TemperatureSource(temperature="300 K"),
             wall=th.ThermalResistance(resistance="1e-5 K/W"))
    return model


T_BLOW = np.array([1.0, 4.0, 8.0, 12.0])


def test_a_tank_without_heat_empties_through_sonic_flow_by_its_power_law():
    """p = p0 (1 + (gamma - 1)/2 t/tau)^(-2 gamma/(gamma - 1)), and T with its isentrope."""
    run = tank_and_hole().simulate("12 s", rtol=1e-9)
    tau = 10e-3 / (0.64 * 5e-6 * SONIC * sqrt(R * 300))
    p = 2 * (1 + (GAMMA - 1) / 2 * T_BLOW / tau) ** (-2 * GAMMA / (GAMMA - 1))
    assert p[-1] > 0.2  # sonic all the time
    at = quantity(T_BLOW, "s")
    # laminar_share takes 1e-6/(4 fall²) off the flow
    assert_allclose(run["tank.p_I"].at(at).to("MPa").m, p, rtol=1e-5)
    T = 300 * (p / 2) ** ((GAMMA - 1) / GAMMA)
    assert_allclose(run["tank.T_I"].at(at).to("K").m, T, rtol=1e-5)
    assert run.energy().relative_residual < 1e-7


def test_a_tank_in_a_bath_empties_through_sonic_flow_exponentially():
    run = tank_and_hole(heated=True).simulate("12 s", rtol=1e-9)
    rate = 0.64 * 5e-6 * SONIC * sqrt(R * 300) / 10e-3
    assert_allclose(run["tank.p_I"].at(quantity(T_BLOW, "s")).to("MPa").m,
                    2 * np.exp(-rate * T_BLOW), rtol=1e-4)  # fmt: skip
    assert run.energy().relative_residual < 1e-7


def test_a_tank_that_is_filled_without_heat_warms_by_the_work_of_pushing_in():
    """T2 = gamma T_in/(1 + p1/p2 (gamma T_in/T1 - 1)); at last it takes nothing in."""
    model = wired("fill", "supply.A hole.A", "hole.B tank.A", supply=place("0.7 MPa"),
                  tank=gas.ConstantVolumeChamber(volume="1 l", port_area="1 mm^2"),
                  hole=gas.LocalRestriction(restriction_type="fixed", area="5 mm^2"))
    run = model.simulate("5 s", rtol=1e-9)
    assert final(run, "tank.p_I", "MPa") == pytest.approx(0.7, rel=1e-6)
    exact = GAMMA * 293.15 / (1 + 0.101325 / 0.7 * (GAMMA - 1))
    meets(run, {"tank.T_I K": (exact, 1e-5), "tank.mass kg": (0.7e6 * 1e-3 / (R * exact), 1e-5)})
    assert run.energy().relative_residual < 1e-7


@few(3, "ratio", [0.999999, 0.98, 0.9, 0.6, 0.5, 0.3])
@pytest.mark.parametrize("back", [False, True])
def test_flow_through_a_restriction_is_saint_venants_both_ways(ratio, back):
    before, behind = "BA" if back else "AB"
    model = wired("hole", f"high.A hole.{before}", f"hole.{behind} low.A",
                  high=place("1 MPa"), low=place(quantity(ratio, "MPa")), hole=gas.LocalRestriction(
                      restriction_type="fixed", area="1 cm^2", laminar_share=1e-9))
    run = model.simulate("1 s")
    r = max(ratio, (2 / (GAMMA + 1)) ** (GAMMA / (GAMMA - 1)))
    psi = sqrt(2 * GAMMA / (GAMMA - 1) * (r ** (2 / GAMMA) - r ** ((GAMMA + 1) / GAMMA)))
    exact = 0.64 * 1e-4 * 1e6 / sqrt(R * 293.15) * psi
    assert final(run, "hole.mdot", "kg/s") == pytest.approx(-exact if back else exact, rel=1e-6)
    assert run.energy().relative_residual < 1e-9


@pytest.mark.parametrize("sign", ["positive", "negative"])
def test_what_a_piston_compresses_without_heat_follows_its_isentrope(sign):
    """1 l to 0.2 l: p V^gamma and T V^(gamma - 1) stay."""
    speed = -0.08 if sign == "positive" else 0.08
    model = wired("press", "cylinder.R rod.R", "cylinder.C rod.C wall.V", wall=Reference(),
                  rod=VelocitySource(velocity=quantity(speed, "m/s")),
                  cylinder=gas.TranslationalMechanicalConverter(
                      dead_volume="1 l", interface_area="100 cm^2", mech_orientation=sign))
    run = model.simulate("1 s", rtol=1e-9)
    p = 0.101325 * 5**GAMMA
    meets(run, {"cylinder.p_I MPa": (p, 1e-7), "cylinder.T_I K": (293.15 * 5 ** (GAMMA - 1), 1e-7)})
    force = (p - 0.101325) * 1e6 * 0.01 * (1 if sign == "positive" else -1)
    assert final(run, "cylinder.f", "N") == pytest.approx(force, rel=1e-7)
    assert run.energy().relative_residual < 1e-7


# what the flow carries of W or of water, a kilogram: half of 2339.32 Pa, saturated at 20 °C
@pytest.mark.parametrize(("fluid", "port", "unit", "carried"), [
    (gas, "PHI", "W", 420e3), (thermal_liquid, "M", "kg/s", 1),
    (moist_air, "W", "kg/s", 1 / (1 + (101325 / 1169.66 - 1) * 28.966 / 18.015))],
    ids=["gas", "liquid", "moist air"])
def test_a_vane_pushes_its_displacement_out(fluid, port, unit, carried):
    model = wired(
        "vane", "vane.R shaft.R", "vane.C shaft.C case.W", "vane.A meter.A", "meter.B out.A",
        vane=fluid.RotationalMechanicalConverter(displacement="1e-3 m^3/rad", dead_volume="1 l"),
        shaft=AngularVelocitySource(velocity="-0.1 rad/s"), case=RotationalReference(),
        meter=fluid.FlowRateSensor(), out=fluid.Reservoir())
    run = model.simulate("1 s")
    assert final(run, "meter.V", "l/s") == pytest.approx(0.1, rel=1e-5)
    assert final(run, f"meter.{port}", unit) == pytest.approx(
        carried * final(run, "meter.M", "kg/s"), rel=1e-3 if port == "W" else 1e-6)
    assert run.energy().relative_residual < 1e-7


def test_a_compressor_does_the_work_of_compression_without_heat():
    model = wired("compressor", "source.A drive.A fan.A", "drive.B to.A after.A", "fan.B pump.A",
                  "pump.B out.A", source=place(), out=place("0.45 MPa"), to=place("0.5 MPa"),
                  fan=gas.PressureSource(pressure_difference="0.398675 MPa"),
                  pump=gas.FlowResistance(pressure_drop="0.05 MPa", mass_flow="0.1 kg/s"),
                  drive=gas.FlowRateSource(mass_flow="0.1 kg/s"),
                  after=gas.PressureTemperatureSensor(reference="absolute"))
    run = model.simulate("1 s")
    T = 293.15 * (0.5 / 0.101325) ** (R / CP)
    meets(run, {"after.T K": (T, 1e-7), "drive.power_supplied W": (0.1 * CP * (T - 293.15), 1e-6)})
    work = final(run, "fan.power_supplied", "W") / final(run, "fan.mdot", "kg/s")
    assert work == pytest.approx(CP * (T - 293.15), rel=1e-6)
    assert run.energy().relative_residual < 1e-9


def test_a_pipe_loses_pressure_as_gas_does_that_keeps_its_temperature():
    """p1² - p2² = G² R T (f L/D + 2 ln(p1/p2)), which is Fanno's line up to (gamma - 1)/2 M²."""
    d, length = 0.02, 4.0
    model = wired(
        "line", "high.A pipe.A", "pipe.B low.A", high=place("0.2 MPa"), low=place("0.19 MPa"),
        pipe=gas.Pipe(area=quantity(pi * d**2 / 4, "m^2"), hydraulic_diameter=quantity(d, "m"),
                  length="4 m", extra_length="0 m", thermal_port=False))
    run = model.simulate("20 s", rtol=1e-8)  # from the pressure of the atmosphere on
    flux = final(run, "pipe.mdot", "kg/s") / (pi * d**2 / 4)
    reynolds = flux * d / 18e-6
    f = (-1.8 * log(6.9 / reynolds + (15e-6 / (3.7 * d)) ** 1.11) / log(10)) ** -2
    assert reynolds > 4000
    exact = sqrt((0.2e6**2 - 0.19e6**2) / (R * 293.15 * (f * length / d + 2 * log(0.2 / 0.19))))
    assert flux == pytest.approx(exact, rel=1e-3)
    # Fanno: 4 f L/D between the Mach numbers of both ends
    mach = [flux * sqrt(R * 293.15 / GAMMA) / p for p in (0.2e6, 0.19e6)]
    assert fanno(mach[0]) - fanno(mach[1]) == pytest.approx(f * length / d, rel=0.01)
    assert max(mach) > 0.1
    assert run.energy().relative_residual < 1e-7


def fanno(mach):
    """f L/D from this Mach number to that of sound, without heat."""
    g = GAMMA
    return (1 - mach**2) / (g * mach**2) + (g + 1) / (2 * g) * log(
        (g + 1) * mach**2 / (2 + (g - 1) * mach**2))  # fmt: skip


def test_segments_of_a_pipe_lead_to_the_mach_numbers_of_fannos_line():
    """Pressure before the pipe, at M = 0.26 behind it: its error falls with the segments squared,
    down to the energy of motion, which the pipe leaves out."""
    d, flux, low, missed = 0.02, 106.0, 0.1e6, []
    reynolds = flux * d / 18e-6
    f = (-1.8 * log(6.9 / reynolds + (15e-6 / (3.7 * d)) ** 1.11) / log(10)) ** -2
    for n in (1, 2, 4, 8):
        model = wired("line", "source.A drive.A", "drive.B pipe[0].A before.A",
                      source=place("0.2 MPa"), behind=place("0.1 MPa"),
                      drive=gas.FlowRateSource(mass_flow=quantity(flux * pi * d**2 / 4, "kg/s"),
                                               power_spec="none"),
                      pipe=gas.Pipe(count=n, area=quantity(pi * d**2 / 4, "m^2"),
                                    extra_length="0 m", hydraulic_diameter=quantity(d, "m"),
                                    thermal_port=False, length=quantity(8 / n, "m")),
                      before=gas.PressureTemperatureSensor(reference="absolute"))
        if n > 1:
            model.connect(model.pipe[:-1].B, model.pipe[1:].A)
        model.connect(model.pipe[-1].B, model.behind.A)
        run = model.simulate("5 s", rtol=1e-8)
        high = final(run, "before.P", "Pa")
        missed.append(high**2 - low**2 - flux**2 * R * 293.15 * (f * 8 / d + 2 * log(high / low)))
        assert run.energy().relative_residual < 1e-7
    assert 3 < missed[0] / missed[1] < 6
    assert 3 < missed[1] / missed[2] < 6
    assert 3 < missed[2] / missed[3] < 6
    first, last = (flux * sqrt(R * 293.15 / GAMMA) / p for p in (high, low))
    assert last == pytest.approx(0.26, abs=0.005)
    # of the Mach number, at which a pipe of this length chokes, half of (gamma - 1)/2 M²
    assert fanno(first) - f * 8 / d == pytest.approx(fanno(last), rel=0.04)


def test_what_gives_off_a_share_of_its_work_as_heat_is_compressed_along_a_polytrope():
    """Q = -(gamma - n)/(gamma - 1) W leaves p V^n where it is; n = 1.2, from 1 l to 0.25 l."""
    n = 1.2
    share = (GAMMA - n) / (GAMMA - 1)  # of p dV/dt
    model = wired(
        "polytrope", "cylinder.R rod.R", "cylinder.C rod.C wall.V", "cylinder.A feel.A",
        "feel.P rate.u", "rate.y cooler.S", "cylinder.H cooler.A", "cooler.B outside.H",
        cylinder=gas.TranslationalMechanicalConverter(dead_volume="1 l", interface_area="100 cm^2"),
        rod=VelocitySource(velocity="-75 mm/s"), wall=Reference(), cooler=th.HeatFlowRateSource(),
        feel=gas.PressureTemperatureSensor(reference="absolute"), outside=th.ThermalReference(),
        rate=Gain(gain=quantity(share * 0.75e-3, "m^3/s"), input="Pa"))
    run = model.simulate("1 s", rtol=1e-9)
    assert final(run, "cylinder.p_I", "MPa") == pytest.approx(0.101325 * 4**n, rel=1e-7)
    assert final(run, "cylinder.T_I", "K") == pytest.approx(293.15 * 4 ** (n - 1), rel=1e-7)
    assert run.energy().relative_residual < 1e-7


def test_ready_gases_and_tables_have_the_heat_capacity_of_the_literature():
    """cp at 300 K of ideal gases, by CoolProp; R = 8.314463 J/(mol K) over the molar mass."""
    known = {"air": (1004.2, 287.05), "nitrogen": (1039.6, 296.80), "methane": (2232.1, 518.27),
             "carbon dioxide": (846.0, 188.92), "hydrogen": (14311.0, 4124.2),
             "semiperfect": (1004.7, 287.0), "perfect": (1000.0, 287.0)}  # fmt: skip
    model = Model("gases")
    for k, name in enumerate(known):
        wire(model, f"at{k}.A sensor{k}.A gas{k}.A", **{
            f"at{k}": place("0.1 MPa", "300 K"), f"sensor{k}": gas.ThermodynamicPropertiesSensor(),
            f"gas{k}": gas.GasProperties(gas_spec=name)})
    run = model.simulate("1 s")
    for k, (cp, constant) in enumerate(known.values()):
        meets(run, {f"sensor{k}.CP J/(kg*K)": (cp, 4e-3),
                    f"sensor{k}.RHO kg/m^3": (1e5 / (constant * 300), 1e-4)})
        assert final(run, f"sensor{k}.H", "J/kg") - final(run, f"sensor{k}.U", "J/kg") == (
            pytest.approx(constant * 300, rel=1e-4))  # fmt: skip


def test_the_entropy_of_air_is_that_of_its_equation_of_state():
    """By CoolProp, from 300 K at 1 bar to 900 K at 20 kPa: 1609.47 J/(kg K); 0 at the reference."""
    model = Model("entropy")
    for name, T, p in (("hot", "900 K", "0.02 MPa"), ("cold", "300 K", "0.1 MPa")):
        wire(model, f"{name}.A at_{name}.A air_{name}.A", **{
            name: place(p, T), f"air_{name}": gas.GasProperties(gas_spec="air"),
            f"at_{name}": gas.ThermodynamicPropertiesSensor(
                reference_entropy="0 kJ/(K*kg)", reference_temperature="300 K",
                reference_pressure="0.1 MPa")})
    run = model.simulate("1 s")
    assert final(run, "at_hot.S", "J/(kg*K)") == pytest.approx(1609.47, abs=1.0)
    assert final(run, "at_cold.S", "J/(kg*K)") == pytest.approx(0, abs=1e-9)


def test_mass_and_energy_stay_while_two_tanks_even_out_and_a_dead_end_rests():
    model = wired("even", "one.A drop.A cap.A wall.A", "drop.B two.A", "wall.B rest.A",
                  one=gas.ConstantVolumeChamber(p_I="0.5 MPa", T_I="400 K"),
                  two=gas.ConstantVolumeChamber(volume="2 l"), drop=gas.FlowResistance(),
                  wall=gas.InfiniteFlowResistance(), cap=gas.Cap(),
                  rest=gas.ConstantVolumeChamber(p_I="0.3 MPa"))
    run = model.simulate("10 s", rtol=1e-9)
    mass = run["one.mass"].to("kg").m + run["two.mass"].to("kg").m
    assert_allclose(mass, mass[0], rtol=1e-8)
    p = (0.5 * 1 + 0.101325 * 2) / 3  # of a perfect gas, whatever the temperatures
    meets(run, {"one.p_I MPa": (p, 1e-6), "two.p_I MPa": (p, 1e-6)})
    # what stays in the first tank has expanded without heat
    T = 400 * (p / 0.5) ** ((GAMMA - 1) / GAMMA)
    meets(run, {"one.T_I K": (T, 1e-3), "cap.p MPa": (p, 1e-6), "rest.p_I MPa": (0.3, 1e-6)})
    assert run.energy().relative_residual < 1e-7


def test_a_tank_that_is_sucked_empty_stops_the_run_by_name():
    model = wired("empty", "tank.A pump.A", "pump.B out.A", tank=gas.ConstantVolumeChamber(),
                  pump=gas.FlowRateSource(mass_flow="1 g/s", power_spec="none"), out=place())
    with pytest.raises(SimulationError, match="falls below the gas's minimum_pressure"):
        model.simulate("10 s")
