"""One closed form for the liquid, and for every volume, source and sensor."""

import numpy as np
import pytest
from benches import few, seconds, values, wire, wired
from liquid_bench import OIL, P0, WATER, between, h, oil, opened, orifice, reservoir, rho
from numpy.testing import assert_allclose

import library.isothermal_liquid as il
from blocks import quantity, sin
from library.rotational import AngularVelocitySource, RotationalReference
from library.signal import Constant, TimeFunction

LIQUIDS = [
    ({}, {}), ({"bulk_modulus_model": "linear"}, {"gain": 6.0}),
    ({"bulk_modulus_model": "linear", "bulk_modulus_gain": 1.0}, {"gain": 1.0}),
    ({"air": True}, {"air": 0.005}),
    ({"air": True, "air_fraction": 0.02, "polytropic_index": 1.4}, {"air": 0.02, "n": 1.4}),
    ({"air": True, "bulk_modulus_model": "linear"}, {"air": 0.005, "gain": 6.0})]


def filled(liquid=None, mass_flow="0.02 kg/s", volume="1 l", p="0.101325 MPa"):
    """A chamber that a source fills from the atmosphere."""
    model = wired("filled", "out.A source.A", "source.B chamber.A density.A",
                  out=il.Reservoir(), source=il.FlowRateSource(mass_flow=mass_flow),
                  chamber=il.ConstantVolumeChamber(volume=volume, p_I=p),
                  density=il.LiquidPropertiesSensor())
    if liquid is not None:
        wire(model, "liquid.A out.A", liquid=liquid)
    return model


@pytest.mark.parametrize(("options", "law"), LIQUIDS)
def test_what_is_pumped_into_a_chamber_is_its_density(options, law):
    run = filled(il.IsothermalLiquidProperties(**options)).simulate("0.4 s", rtol=1e-10)
    t, p = seconds(run), values(run, "chamber.p_I", "Pa")
    assert_allclose(rho(p, **law), rho(P0, **law) + 0.02 * t / 1e-3, rtol=1e-9)
    assert_allclose(values(run, "density.RHO", "kg/m^3"), rho(p, **law), rtol=1e-13)
    slope = np.imag(rho(p + 1e-20j, **law)) / 1e-20
    assert_allclose(values(run, "density.BETA", "Pa"), rho(p, **law) / slope, rtol=1e-11)
    # the source gives every kilogram the enthalpy of the chamber, which stores what is elastic
    given = run.energy()["source"].supplied
    end = float(p[-1])
    stored = 1e-3 * (float(rho(end, **law)) * h(end, **law) - (end - P0))
    assert_allclose(values(run, "chamber.energy_stored", "J")[-1], stored, rtol=1e-8)
    assert_allclose(given, stored, rtol=1e-7)
    assert run.energy().relative_residual < 1e-8


def test_water_is_in_a_circuit_that_names_no_liquid():
    run = filled().simulate("0.4 s", rtol=1e-10)
    exact = P0 + WATER["beta"] * np.log1p(0.02 * seconds(run) / (1e-3 * WATER["rho"]))
    assert_allclose(values(run, "chamber.p_I", "Pa"), exact, rtol=1e-9)
    assert_allclose(values(run, "density.MU", "Pa*s")[0], 998.21 * 1.0034e-6, rtol=1e-12)


@pytest.mark.parametrize("n", [1.0, 1.4])
def test_dissolved_air_no_longer_takes_space_but_keeps_its_mass(n):
    liquid = il.IsothermalLiquidProperties(air=True, air_dissolution=True, air_fraction=0.02,
                                        polytropic_index=n)  # fmt: skip
    run = filled(liquid, "0.1 kg/s").simulate("0.3 s", rtol=1e-10)
    t, p = seconds(run), values(run, "chamber.p_I", "Pa")
    a, c = 0.02 / 0.98, 3e6 - P0
    x = np.clip((p - P0) / c, 0, 1)
    air = a * (1 - x**2 * (3 - 2 * x)) * (P0 / p) ** (1 / n)
    mixed = (998.21 + a * 1.225) / (np.exp(-(p - P0) / WATER["beta"]) + air)
    assert p[-1] > 3.2e6
    assert_allclose(mixed, mixed[0] + 0.1 * t / 1e-3, rtol=1e-9)
    fine = np.linspace(P0, p[-1], 200_001)
    x = np.clip((fine - P0) / c, 0, 1)
    air = a * (1 - x**2 * (3 - 2 * x)) * (P0 / fine) ** (1 / n)
    work = np.trapezoid((np.exp(-(fine - P0) / WATER["beta"]) + air) / (998.21 + a * 1.225), fine)
    stored = 1e-3 * (mixed[-1] * work - (p[-1] - P0))
    assert_allclose(values(run, "chamber.energy_stored", "J")[-1], stored, rtol=1e-5)
    assert run.energy().relative_residual < 1e-7


def test_sources_and_sensors_agree_on_signs():
    model = wired("signs", "tank.A lift.A load.B above.B", "lift.B meter.A above.A gauge.A total.A",
                  "meter.B load.A", tank=il.Reservoir(),
                  lift=il.PressureSource(pressure_difference="2 MPa"), meter=il.FlowRateSensor(),
                  load=il.FlowResistance(pressure_drop="2 MPa", mass_flow="0.5 kg/s"),
                  above=il.PressureSensor(), gauge=il.PressureSensor(measure="gauge"),
                  total=il.PressureSensor(measure="absolute"))
    run = model.simulate("1 s")
    share = np.sqrt((np.sqrt(1e-8 + 4) - 1e-4) / 2)  # s sqrt(s² + 0.01²) = 1
    assert_allclose(values(run, "load.mdot", "kg/s"), 0.5 * share, rtol=1e-9)
    assert_allclose(values(run, "meter.M", "kg/s"), 0.5 * share, rtol=1e-9)
    assert_allclose(values(run, "meter.V", "m^3/s"), 0.5 * share / float(rho(P0 + 2e6)), rtol=1e-9)
    assert_allclose(values(run, "above.P", "MPa"), 2, rtol=1e-12)
    assert_allclose(values(run, "gauge.Pg", "MPa"), 2, rtol=1e-12)
    assert_allclose(values(run, "total.Pa", "MPa"), 2.101325, rtol=1e-12)
    given = 0.5 * share * h(P0 + 2e6)
    assert_allclose(values(run, "lift.power_supplied", "W"), given, rtol=1e-9)
    assert_allclose(values(run, "load.power_dissipated", "W"), given, rtol=1e-9)


def test_a_volume_flow_is_of_the_density_at_the_inlet():
    part = il.FlowRateSource(flow_type="volumetric", volume_flow="1e-4 m^3/s")
    run = between(part, 5e6, 2e7, oil()).simulate("1 s")
    exact = 1e-4 * float(rho(5e6, OIL))
    assert_allclose(values(run, "part.mdot", "kg/s"), exact, rtol=1e-12)
    work = exact * (h(2e7, OIL) - h(5e6, OIL))
    assert_allclose(values(run, "part.power_supplied", "W"), work, rtol=1e-11)
    assert_allclose(values(run, "a.power_supplied", "W"), exact * h(5e6, OIL), rtol=1e-11)


def test_a_cap_and_an_infinite_resistance_let_nothing_pass():
    model = wired("closed", "a.A wall.A cap.A", "wall.B b.A",
                  a=reservoir(lambda t: quantity("2 MPa") + quantity("1 MPa/s") * t),
                  wall=il.InfiniteFlowResistance(), cap=il.Cap(), b=reservoir(1e6))
    run = model.simulate("1 s")
    assert_allclose(values(run, "cap.p", "MPa"), 2 + seconds(run), rtol=1e-12)
    assert_allclose(values(run, "wall.mdot", "kg/s"), 0)
    assert_allclose(values(run, "a.A.mdot", "kg/s"), 0, atol=1e-15)


def test_flows_between_stiff_volumes_are_those_that_compress_them():
    """A pressure of 1 MPa swings and loses some pascal on its way through three volumes: what
    flows follows from differences far below the tolerance of the pressures."""
    def swing(t):
        return quantity("1 MPa") * (1 + 0.5 * sin(quantity("6 rad/s") * t))

    count = 3
    model = wired(
        "stiff", "out.A pump.A liquid.A", "pump.B narrow[0].A", "narrow.B volume.A",
        "narrow[:-1].B narrow[1:].A", out=il.Reservoir(), liquid=il.IsothermalLiquidProperties(),
        pump=il.PressureSource(pressure_difference=swing), narrow=il.FlowResistance(count=count),
        volume=il.ConstantVolumeChamber(count=count, volume="1 l"))
    run = model.simulate("1 s", method="rodas4", rtol=1e-8)
    t = np.linspace(0.1, 1.0, 40)
    flows = run["narrow.mdot"].at(quantity(t, "s")).m_as("kg/s")
    density = rho(P0 + 1e6 * (1 + 0.5 * np.sin(6 * t)))
    into_each = 1e-3 * density / WATER["beta"] * 3e6 * np.cos(6 * t)
    for flow, beyond in zip(np.reshape(flows, (count, -1)), (3, 2, 1), strict=True):
        assert_allclose(flow, beyond * into_each, atol=1e-3 * beyond * into_each.max())
    # a hundred tolerances: between 4e-6 and 7e-5 at tolerances within a fifth of this one, at which
    # of 1,200 flows within steps some five are off by more than 1e-3 of the largest
    run = model.simulate("1 s", method="rodas4")
    assert run.energy().relative_residual < 1e-4


def test_pipes_between_equal_tanks_are_stepped_over_at_any_tolerance():
    """What bends within the tolerance, such as a pipe's turbulence, does not hold steps at some
    time constants of its liquid (20 ns)."""
    model = wired("tanks", "out.A liquid.A pipe[-1].B", "tank.A pipe.A", "pipe[:-1].B tank[1:].A",
                  out=il.Reservoir(), liquid=il.IsothermalLiquidProperties(), tank=il.Tank(count=3),
                  pipe=il.Pipe(count=3))
    tight = model.simulate("60 s", method="rodas4", rtol=1e-9)["tank.volume"].final.m_as("m^3")
    for rtol in 10.0 ** -np.linspace(3, 6, 7):
        run = model.simulate("60 s", method="rodas4", rtol=rtol)
        assert run.statistics["steps"] < 150
        assert_allclose(run["tank.volume"].final.m_as("m^3"), tight, rtol=10 * rtol)


def test_a_tank_runs_out_through_a_laminar_gap_exponentially():
    model = wired("tank", "tank.A gap.A", "gap.B out.A",
                  tank=il.Tank(area="0.5 m^2", volume="0.4 m^3", gravity="10 m/s^2"),
                  gap=il.LaminarLeakage(cross_section_geometry="custom", resistance="1e6 Pa*s/m^3"),
                  out=il.Reservoir())
    run = model.simulate("100 s", rtol=1e-10)
    # dV/dt = -rho g V/(area R), but for the density in the gap: 998.21 (1 + 4e-6)
    exact = 0.4 * np.exp(-998.21 * 10 / (0.5 * 1e6) * seconds(run))
    assert_allclose(values(run, "tank.volume", "m^3"), exact, rtol=1e-5)
    assert_allclose(values(run, "tank.L", "m"), exact / 0.5, rtol=1e-5)
    energy = 998.21 * 10 * exact**2 / (2 * 0.5)
    assert_allclose(values(run, "tank.energy_stored", "J"), energy, rtol=2e-5)
    assert run.energy().relative_residual < 1e-8


@pytest.mark.parametrize("n", [1.0, 1.4])
def test_the_gas_of_an_accumulator_is_compressed(n):
    model = wired("accumulator", "out.A source.A", "source.B store.A", out=il.Reservoir(),
                  source=il.FlowRateSource(flow_type="volumetric", volume_flow="1 l/s"),
                  store=il.GasChargedAccumulator(polytropic_index=n, volume="0.5 l",
                                                 dead_volume="1 ml"))
    run = model.simulate("4 s", rtol=1e-10)
    V = values(run, "store.volume", "l")
    p = 1.101325e6 * (8 / (8 - V)) ** n
    assert_allclose(values(run, "store.p_I", "Pa"), p, rtol=1e-12)
    # all mass that came is in it, and in the liquid that was there
    mass = rho(p) * (V + 1e-3)
    assert_allclose(mass - mass[0], 998.21 * seconds(run), rtol=1e-8, atol=1e-5)
    x = -np.log(1 - V / 8)
    gas = 1.101325e6 * 8e-3 * (x if n == 1 else np.expm1((n - 1) * x) / (n - 1)) - P0 * V * 1e-3
    liquid = [1e-3 * v * (float(rho(q)) * h(q) - (q - P0))
              for v, q in zip(V[[0, -1]] + 1e-3, p[[0, -1]], strict=True)]  # fmt: skip
    stored = values(run, "store.energy_stored", "J")[[0, -1]]
    assert_allclose(stored, gas[[0, -1]] + liquid, rtol=1e-9)
    assert run.energy().relative_residual < 1e-8


def test_an_empty_accumulator_gives_nothing_more():
    model = wired("empty", "store.A gap.A", "gap.B out.A",
                  store=il.GasChargedAccumulator(volume="0.1 l"),
                  gap=il.LaminarLeakage(cross_section_geometry="custom",
                                        resistance="1e10 Pa*s/m^3"), out=il.Reservoir())
    run = model.simulate("10 s", rtol=1e-8)
    assert_allclose(values(run, "store.volume", "l")[-1], -1e6 / 1e13 * 1e3, rtol=1e-3)
    assert_allclose(values(run, "store.p_I", "Pa")[-1], P0, rtol=1e-3)
    assert run.energy().relative_residual < 1e-5


@pytest.mark.parametrize(("volume", "method"), [("0 l", "rodas4"), ("-0.01 ml", "rodas4")])
def test_an_accumulator_that_leaves_its_seat_feeds_a_valve(volume, method):
    """Its liquid gives way 800 times as much from there on, so the rate of its pressure jumps: it
    is the unknown of a linear loop, beside the pressure behind the valve, that of a nonlinear one.
    """
    model = wired("filled", "spool.y valve.S", "out.A pump.A", "pump.B gas.A valve.P",
                  "valve.A throat.A", "throat.B chambers[0].A", "valve.B chambers[1].A",
                  "valve.T chambers[2].A",
                  out=il.Reservoir(), pump=il.FlowRateSource(mass_flow="0.1 kg/s"),
                  gas=il.GasChargedAccumulator(volume=volume, precharge_pressure="9 MPa",
                                               dead_volume="0.1 l", total_volume="1 l"),
                  valve=il.DirectionalValve(), spool=Constant(value="0.02 mm"),
                  throat=il.LocalRestriction(restriction_type="fixed", area="1 mm^2"),
                  chambers=il.ConstantVolumeChamber(count=3, volume="10 l"))
    run = model.simulate("1 s", method=method, rtol=1e-8)
    V, p = values(run, "gas.volume", "m^3"), values(run, "gas.p_I", "Pa")
    assert V[-1] > 4e-5
    assert_allclose(p, 9e6 * (1 - V / 1e-3) ** -1.4 + 1e13 * np.minimum(V, 0), rtol=1e-9)
    kept = [1e-2 * rho(values(run, f"chambers[{k}].p_I", "Pa")) for k in range(3)]
    mass = rho(p) * (V + 1e-4) + np.sum(kept, axis=0)
    assert_allclose(mass - mass[0], 0.1 * seconds(run), atol=1e-7)


def test_a_row_of_accumulators_on_pipes_keeps_all_that_is_pumped():
    """Ten of them are written as loops over what they share, beside loops that are solved."""
    n = 10
    model = wired("row", "out.A pump.A", "pump.B pipes[0].A", out=il.Reservoir(),
                  pump=il.FlowRateSource(mass_flow="0.02 kg/s"),
                  pipes=il.Pipe(count=n, area="1 cm^2", length="1 m"),
                  stores=il.GasChargedAccumulator(count=n, precharge_pressure="0.2 MPa",
                                                  dead_volume="0.1 l", total_volume="1 l"))
    model.connect(model.pipes[:-1].B, model.pipes[1:].A)
    model.connect(model.pipes.B, model.stores.A)
    run = model.simulate("10 ms", method="rodas4", rtol=1e-8)
    pipes = [1e-4 * rho(values(run, f"pipes[{k}].p_I", "Pa")) for k in range(n)]
    stores = [(values(run, f"stores[{k}].volume", "m^3") + 1e-4) * rho(
        values(run, f"stores[{k}].p_I", "Pa")) for k in range(n)]
    mass = np.sum(pipes + stores, axis=0)
    assert_allclose(mass - mass[0], 0.02 * seconds(run), atol=1e-9)


def test_a_specified_reservoir_follows_its_signal_and_pays_for_it():
    run = between(il.FlowResistance(), lambda t: quantity("1 MPa") + quantity("0.5 MPa") * sin(
        quantity("10 rad/s") * t), 1e6).simulate("1 s", rtol=1e-8)  # fmt: skip
    wave = np.sin(10 * seconds(run))
    assert_allclose(values(run, "a.A.p", "MPa"), 1 + 0.5 * wave, rtol=1e-12)
    share = np.sqrt((np.sqrt(1e-8 + 4 * (500 * wave) ** 2) - 1e-4) / 2)
    assert_allclose(values(run, "part.mdot", "kg/s"), 0.1 * np.sign(wave) * share, rtol=1e-6,
                    atol=1e-8)  # fmt: skip
    assert run.energy().relative_residual < 1e-5


def _sine(mean, size, rate, unit):
    return lambda t: quantity(mean, unit) + quantity(size, unit) * sin(quantity(rate, "rad/s") * t)


def valves_in_series(copies):
    """Pumped chambers, each let out by a check valve and an orifice with no volume in between.

    While the orifice is closed, the check valve is all but closed, too: its pressure is where its
    two pieces meet, of slopes that are 300,000 to 1.
    """
    model = wired("cracking", "oil.A tank.A",
                  oil=il.IsothermalLiquidProperties(density="860 kg/m^3", bulk_modulus="1.4 GPa",
                                                    viscosity="32 mm^2/s", air=True),
                  tank=il.Reservoir(), spool=TimeFunction(unit="m", value=_sine(0, 4, 55.7, "mm")))
    for k in range(copies):
        wire(model, f"tank.A pump_{k}.A relief_{k}.B orifice_{k}.B",
             f"pump_{k}.B relief_{k}.A chamber_{k}.A check_valve_{k}.A",
             f"spool.y orifice_{k}.S", f"check_valve_{k}.B orifice_{k}.A", **{
                 f"pump_{k}": il.FlowRateSource(flow_type="volumetric",
                                             volume_flow=_sine(17, 22, 45.8, "l/min")),
                 f"chamber_{k}": il.ConstantVolumeChamber(volume="0.388 l"),
                 f"relief_{k}": il.PressureReliefValve(
                     cracking_pressure="4.95 MPa", maximum_pressure="13.46 MPa",
                     maximum_area="77.8 mm^2", opening_dynamics=True, time_constant="3.96 ms"),
                 f"check_valve_{k}": il.CheckValve(cracking_pressure="0.199 MPa",
                                                maximum_pressure="0.593 MPa",
                                                maximum_area="30 mm^2"),
                 f"orifice_{k}": il.VariableOrifice(maximum_area="30 mm^2", stroke="5 mm")})
    return model


TIMES = quantity(np.linspace(0, 0.1, 40), "s")


@pytest.mark.parametrize("method", ["auto", "rodas4"])
def test_valves_in_series_are_solved_where_their_pieces_meet(method):
    """A shorter step, by which rodas4 reads within one, may come to where full steps of Newton's
    method go round in a circle; so do most of those that a method of several steps tries."""
    model = valves_in_series(1)
    one, other = (model.simulate("0.1 s", method=m, rtol=1e-7) for m in ("dopri5", method))
    assert other.statistics["steps"] < 2000
    for name in ("chamber_0.p_I", "orifice_0.A.p"):
        found, expected = (run[name].at(TIMES).m for run in (one, other))
        assert_allclose(found, expected, rtol=0, atol=1e-5 * expected.max())


@few(1, "copies", [4, 12])
def test_many_valves_in_series_are_solved_each_by_itself(copies):
    """Together in one matrix, and side by side in loops."""
    expected = valves_in_series(1).simulate("0.1 s", rtol=1e-7)["chamber_0.p_I"].at(TIMES).m
    run = valves_in_series(copies).simulate("0.1 s", rtol=1e-7)
    assert run.statistics["steps"] < 2000
    for k in range(copies):
        assert_allclose(run[f"chamber_{k}.p_I"].at(TIMES).m, expected, rtol=0,
                        atol=1e-5 * expected.max())


@pytest.mark.parametrize("pumped", [False, True])
@few(1, "pressure", [0.101325, 0.3, 6.0, 17.9, 30.0])
def test_what_is_pumped_finds_its_valve_at_the_start(pressure, pumped):
    # closed valves tell nothing of the pressure at which one of them opens
    model = wired("power pack", liquid=oil(), tank=il.Reservoir(), back=il.Reservoir(),
                  relief=il.PressureReliefValve(cracking_pressure="18 MPa",
                                                maximum_pressure="20 MPa", maximum_area="60 mm^2"),
                  nonreturn=il.CheckValve(cracking_pressure="30 kPa", maximum_pressure="100 kPa",
                                          maximum_area="80 mm^2"),
                  chamber=il.ConstantVolumeChamber(volume="1 l", p_I=f"{pressure} MPa"))
    if pumped:
        wire(model, "motor.R source.R", "motor.C source.C frame.W",
             source=il.FixedDisplacementPump(displacement="28 cm^3/turn"),
             motor=AngularVelocitySource(velocity="1500 rpm"), frame=RotationalReference())
    else:
        model.source = il.FlowRateSource(mass_flow="0.6 kg/s")
    wire(model, "tank.A source.A liquid.A", "source.B nonreturn.A relief.A",
         "nonreturn.B chamber.A", "relief.B back.A")
    run = model.simulate("1 ms", rtol=1e-10)

    p, behind, flow = (float(run[name].si[0]) for name in (
        "relief.A.p", "chamber.p_I", "source.mdot"))
    by_hand = orifice(p, P0, opened(p - P0, 18e6, 20e6, 60e-6)) + orifice(
        p, behind, opened(p - behind, 3e4, 1e5, 80e-6))
    assert by_hand == pytest.approx(flow, rel=1e-8)
    assert 0.55 < flow < 0.65
    assert min(behind, 18e6) < p < 20e6
