"""Every thermal component against a closed form; in a network of them entropy never falls."""

import numpy as np
import pytest
from benches import meets, wire, wired
from numpy.testing import assert_allclose
from scipy.optimize import root

import library.thermal as th
from blocks import ParameterError, SimulationError, quantity, sin
from blocks.exceptions import WrongDimension
from library.electrical import DCVoltageSource, ElectricalReference, Resistor
from library.signal import Constant, Ramp

EXACT = {"rtol": 1e-12, "atol": 1e-12}


def between(element, hot="400 K", cold="300 K"):
    """An element between two fixed temperatures."""
    return wired("between", "hot.A element.A", "element.B cold.A",
                 hot=th.TemperatureSource(temperature=hot),
                 cold=th.TemperatureSource(temperature=cold), element=element)


def flow(element, **ends):
    return between(element, **ends).simulate("1 s")["element.Q"].final.to("W").magnitude


# -- bodies ------------------------------------------------------------------------------------
def cooling(element, hot="373.15 K"):
    """A body of 10 J/K that an element joins to surroundings of 300 K."""
    return wired("cooling", "body.M element.A", "element.B air.A",
                 body=th.ThermalMass(mass="20 g", specific_heat="500 J/(kg*K)", T=hot),
                 air=th.TemperatureSource(temperature="300 K"), element=element)


def test_a_body_cools_exponentially():
    run = cooling(th.ThermalResistance(resistance="0.5 K/W")).simulate("20 s", **EXACT)
    t = run.time.to("s").magnitude
    assert_allclose(run["body.T"].to("K").magnitude, 300 + 73.15 * np.exp(-t / 5), rtol=1e-11)
    assert run.energy()["body"].stored == pytest.approx(-731.5 * (1 - np.exp(-4)), rel=1e-10)
    assert run.energy().residual.to("J").magnitude < 1e-8


def test_two_bodies_meet_where_their_heat_says():
    model = wired("two", "a.M meter.A", "meter.B link.A", "link.B b.M",
                  a=th.ThermalMass(mass="1 kg", specific_heat="100 J/(kg*K)", T="400 K"),
                  b=th.ThermalMass(mass="3 kg", specific_heat="100 J/(kg*K)", T="300 K"),
                  link=th.ThermalResistance(resistance="0.01 K/W"), meter=th.HeatFlowRateSensor())
    run = model.simulate("2 s", **EXACT)
    difference = 100 * np.exp(-run.time.to("s").magnitude * (1 / 100 + 1 / 300) / 0.01)
    assert_allclose(run["meter.H"].to("W").magnitude, difference / 0.01, rtol=1e-9, atol=1e-6)
    assert_allclose(run["a.T"].to("K").magnitude, 325 + 0.75 * difference, rtol=1e-11)


# -- conduction, convection, radiation ---------------------------------------------------------
FOURTH, SIGMA = 400**4 - 300**4, 5.670374419e-8


@pytest.mark.parametrize(("element", "expected"), [
    (th.ConductiveHeatTransfer(area="2 m^2", thickness="0.5 m",
                               thermal_conductivity="3 W/(m*K)"), 1200),
    (th.ConductiveHeatTransfer(geometry="cylinder", inner_diameter="1 m", length="2 m",
                               outer_diameter=f"{np.e} m", thermal_conductivity="3 W/(m*K)"),
     1200 * np.pi), (th.ConvectiveHeatTransfer(area="3 m^2"), 6000),
    (th.ConvectiveHeatTransfer(area="1 m^2", heat_transfer_coefficient=lambda t: quantity(
        "5 W/(m^2*K*s)") * t), 500), (th.RadiativeHeatTransfer(area="2 m^2"), 8e-8 * FOURTH),
    (th.RadiativeHeatTransfer(geometry="parallel plates", area="1 m^2", emissivity_A=0.5,
                              emissivity_B=0.25), SIGMA / 5 * FOURTH),
    (th.RadiativeHeatTransfer(geometry="concentric cylinders", area="1 m^2", emissivity_A=0.5,
                              emissivity_B=0.25, radius_A="1 m", radius_B="2 m"),
     SIGMA / 3.5 * FOURTH)])
def test_heat_between_400_and_300_kelvin(element, expected):
    assert_allclose(flow(element), expected, rtol=1e-14)


def test_conductivity_from_a_table_of_the_mean_temperature():
    wall = {"law": "table", "area": "1 m^2", "thickness": "1 m"}
    assert_allclose(flow(th.ConductiveHeatTransfer(**wall), hot="500 K"), 392 * 200, rtol=1e-14)
    assert_allclose(flow(th.ConductiveHeatTransfer(**wall), hot="2000 K", cold="1000 K"),
                    342 * 1000, rtol=1e-14)  # held outside


@pytest.mark.parametrize(("made", "port", "value", "expected"), [
    (lambda: th.ConductiveHeatTransfer(law="signal", area="1 m^2", thickness="1 m"), "K",
     "40 W/(m*K)", 4000),
    (lambda: th.ConductiveHeatTransfer(law="signal", area="1 m^2", thickness="1 m"), "K",
     "-1 W/(m*K)", 1000),
    (lambda: th.ConvectiveHeatTransfer(law="signal", area="1 m^2"), "HC", "7 W/(m^2*K)", 700),
    (lambda: th.ConvectiveHeatTransfer(law="signal", area="1 m^2"), "HC", "-7 W/(m^2*K)", 0.1),
    (lambda: th.VariableThermalResistance(), "R", "5 K/W", 20),
    (lambda: th.VariableThermalResistance(minimum_resistance="10 K/W"), "R", "5 K/W", 10),
    (th.ThermalResistance, None, "350 K", 50)])  # in place of the parameter of its source
def test_a_signal_sets_what_resists_and_a_bound_limits_it(made, port, value, expected):
    model = between(made())
    wire(model, f"value.y {f'element.{port}' if port else 'hot.S'}", value=Constant(value=value))
    found = model.simulate("1 s")["element.Q"].final.to("W").magnitude
    assert_allclose(found, expected, rtol=1e-14)


def test_a_body_that_radiates_into_space():
    """1/T³ grows linearly: C dT/dt = -k A T⁴."""
    model = cooling(th.RadiativeHeatTransfer(area="1 m^2"), "500 K")
    model.air.temperature = "0 K"
    run = model.simulate("20 s", **EXACT)
    exact = (500.0**-3 + 3 * 4e-8 / 10 * run.time.to("s").magnitude) ** (-1 / 3)
    assert_allclose(run["body.T"].to("K").magnitude, exact, rtol=1e-11)


def test_nodes_without_mass_that_radiate_settle_above_absolute_zero():
    """T⁴ has a second root below zero at every node; the one between the sources is found."""
    count, conductance, radiation = 20, 0.401, 4e-12
    model = wired("fin", "hot.A wall[0].A", "wall[:-1].B wall[1:].A radiation.A",
                  "wall[-1].B radiation.B cold.A", hot=th.TemperatureSource(temperature="800 K"),
                  cold=th.TemperatureSource(temperature="300 K"),
                  wall=th.ConductiveHeatTransfer(count=count + 1),
                  radiation=th.RadiativeHeatTransfer(count=count))

    def lost(T):
        along = np.concatenate([[800.0], T, [300.0]])
        return conductance * np.diff(along, 2) - radiation * (T**4 - 300.0**4)

    by_hand = root(lost, np.linspace(800, 300, count + 2)[1:-1], tol=1e-13).x
    T = model.simulate("1 s")["radiation.A.T"].final.m_as("K")
    assert_allclose(T, by_hand, rtol=1e-9)


@pytest.mark.parametrize(("element", "said"), [
    (th.RadiativeHeatTransfer(geometry="concentric cylinders", radius_A="1 m", radius_B="1 cm"),
     "radius_B must be the larger one"),
    (th.ConductiveHeatTransfer(geometry="cylinder", outer_diameter="1 cm"),
     "outer diameter must be the larger one"),
    (th.ConductiveHeatTransfer(law="table", temperatures=["400 K", "300 K"],
                               conductivities=["1 W/(m*K)", "2 W/(m*K)"]), "strictly increasing")])
def test_what_is_the_wrong_way_round_is_named(element, said):
    assert said in str(between(element).check().errors[0])


@pytest.mark.parametrize(("give", "said"), [
    (lambda: th.ThermalMass(T="-5 K"), r"ThermalMass.T: has the initial target .* at least 0 K"),
    (lambda: th.ThermalMass(T="-300 degC"), r"ThermalMass.T: has the initial .* at least 0 K"),
    (lambda: th.TemperatureSource(temperature="-1 K"), "must be at least 0 K"),
    (lambda: th.RadiativeHeatTransfer(emissivity_A=0.9),
     "or choose geometry='parallel plates' or geometry=")])
def test_temperatures_below_zero_and_options_that_are_not_chosen_are_refused(give, said):
    with pytest.raises(ParameterError, match=said):
        give()


# -- sources, sensors, ends --------------------------------------------------------------------
def test_a_heat_flow_warms_its_end_b():
    run = wired("pump", "cold.M pump.A", "pump.B warm.M", cold=th.ThermalMass(T="400 K"),
                warm=th.ThermalMass(), pump=th.HeatFlowRateSource(heat_flow=lambda t: quantity(
                    "447 W") * sin(quantity("2 rad/s") * t))).simulate("1 s", **EXACT)
    rise = (1 - np.cos(2)) / 2
    meets(run, {"warm.T K": (300 + rise, 1e-13), "cold.T K": (400 - rise, 1e-13)})


def test_a_heat_flow_stops_the_run_at_absolute_zero():
    model = wired("drawn", "body.M pump.A", "pump.B other.M",
                  body=th.ThermalMass(mass="1 kg", specific_heat="100 J/(kg*K)"),
                  other=th.ThermalMass(), pump=th.HeatFlowRateSource(heat_flow="100 W"))
    with pytest.raises(SimulationError, match="more heat is drawn than there is") as error:
        model.simulate("400 s")
    assert error.value.where == "pump"
    assert error.value.time == pytest.approx(300, rel=1e-9)


def test_a_prescribed_temperature_below_absolute_zero_is_named():
    falls = between(th.ThermalResistance(),
                    hot=lambda t: quantity("300 K") - quantity("40 K/s") * t)
    fed = between(th.ThermalResistance())
    wire(fed, "value.y hot.S", value=Ramp(initial="300 K", slope="-40 K/s"))
    for model in (falls, fed):
        with pytest.raises(SimulationError, match="prescribed temperature falls below") as error:
            model.simulate("10 s")
        assert error.value.time == pytest.approx(7.5, rel=1e-9)


def test_a_difference_of_temperatures_makes_b_the_warmer():
    model = wired("difference", "zero.H lift.A", "lift.B wall.A meter.A absolute.A",
                  "wall.B sink.A meter.B", zero=th.ThermalReference(),
                  lift=th.ControlledTemperatureSource(difference="293.15 K"),
                  sink=th.TemperatureSource(temperature="273.15 K"), wall=th.ThermalResistance(),
                  meter=th.TemperatureSensor(), absolute=th.TemperatureSensor(reference="absolute"))
    run = model.simulate("1 s")
    meets(run, {"meter.T K": (20, 1e-12), "absolute.T K": (293.15, 1e-15), "wall.Q W": (20, 1e-12)})
    ledger = run.energy()
    assert ledger["sink"].supplied == pytest.approx(-20, rel=1e-12)
    assert ledger["zero"].supplied == pytest.approx(20, rel=1e-12)
    assert ledger.residual.to("J").magnitude < 1e-12


def test_a_difference_of_temperatures_is_no_temperature():
    """20 K between A and B are no -253.15 degC, and no start of 20 degC is one of 293.15 K."""
    with pytest.raises(WrongDimension, match="Write '20 delta_degC'"):
        th.ThermalResistance(T="20 degC")
    wall = between(th.ThermalResistance()).simulate("1 s")["element.T"]
    assert wall.to("delta_degC")[-1].m == wall.final.to("K").m
    with pytest.raises(WrongDimension, match="a difference of temperatures, .* Name delta_degC"):
        wall.to("degC")


@pytest.mark.parametrize(("give", "text"), [
    (lambda: th.ControlledTemperatureSource(difference="20 degC"), "Write '20 delta_degC'"),
    (lambda: th.TemperatureSource(temperature="20 delta_degC"), "Write '20 degC'"),
    (lambda: th.ConductingRod(initial_temperature="20 delta_degC"), "Write '20 degC'"),
    (lambda: th.ConductiveHeatTransfer(law="table", temperatures=["20 delta_degC", "300 K"]),
     "Write '20 degC'"),
    (lambda: th.ThermalMass(T="36 delta_degF"),
     "ThermalMass.T: is a temperature in K, .* '36 degF'")])
def test_temperatures_in_k_are_told_from_differences(give, text):
    with pytest.raises(WrongDimension, match=text):
        give()


def test_temperatures_in_k_take_what_says_what_it_is_and_k():
    rise = th.ControlledTemperatureSource(difference="18 delta_degF").difference
    assert_allclose(rise.to("K").m, 10, rtol=1e-12)
    for text in ("68 degF", "293.15 K"):
        assert_allclose(th.TemperatureSource(temperature=text).temperature.to("K").m, 293.15,
                        rtol=1e-12)  # fmt: skip
    body = cooling(th.ThermalResistance(), "100 degC").simulate("1 s")["body.T"]
    assert_allclose(body.initial.to("K").magnitude, 373.15, rtol=1e-15)
    with pytest.raises(WrongDimension, match="in K, a temperature, and cannot be shown in delta"):
        body.to("delta_degC")


# -- rod ----------------------------------------------------------------------------------------
def heated_rod(n):
    return wired("rod", "hot.A rod.A", "rod.B cold.A",
                 rod=th.ConductingRod(segments=n, length="1 m", area="1 m^2",
                                      specific_heat="1 J/(kg*K)", thermal_conductivity="1 W/(m*K)",
                                      density="1 kg/m^3"),
                 hot=th.TemperatureSource(temperature="400 K"),
                 cold=th.TemperatureSource(temperature="300 K"))


def test_a_rod_follows_fouriers_series_with_an_error_of_second_order():
    errors, k = [], np.arange(1, 200)[:, None]  # diffusivity 1, length 1; from 300 K, 400 K at 0
    for n in (10, 20, 40):
        run = heated_rod(n).simulate("0.05 s", rtol=1e-9)
        x = (np.arange(n) + 0.5) / n
        found = [run[f"rod.segment[{i}].T"].final.to("K").magnitude for i in range(n)]
        modes = np.sin(k * np.pi * x) * np.exp(-((k * np.pi) ** 2) * 0.05) / k
        exact = 400 - 100 * x - 200 / np.pi * modes.sum(axis=0)
        errors.append(np.abs(found - exact).max())
    assert errors[2] < 0.05
    assert errors[0] / errors[1] > 3.7
    assert errors[1] / errors[2] > 3.7


def test_a_rod_of_one_segment_and_its_steady_state():
    run = heated_rod(1).simulate("50 s", rtol=1e-9)
    assert_allclose(run["rod.segment[0].T"].final.to("K").magnitude, 350, rtol=1e-9)
    run = heated_rod(1000).simulate("20 s")
    assert_allclose(run["rod.end_A.Q"].final.to("W").magnitude, 100, rtol=1e-6)


def test_a_rod_with_radiation_at_its_end():
    """1000 cells between a source of 1000 K and radiation to 300 K: computed by RODAS and CVODE."""
    n = 1000
    model = wired("radiating", "hot.A link[0].A", "link[:-1].B cell[:-1].M link[1:].A",
                  "link[-1].B cell[-1].M end.A", "end.B cold.A",
                  hot=th.TemperatureSource(temperature="1000 K"),
                  cold=th.TemperatureSource(temperature="300 K"),
                  cell=th.ThermalMass(count=n, mass=quantity(7850 * 1e-5 / n, "kg")),
                  link=th.ThermalResistance(count=n, resistance=quantity(20 / n, "K/W")),
                  end=th.RadiativeHeatTransfer(area="1 m^2",
                                               radiation_coefficient="4e-10 W/(m^2*K^4)"))
    run = model.simulate("600 s", rtol=1e-8)
    found = [run[f"cell[{i}].T"].final.to("K").magnitude for i in (499, 999)]
    assert_allclose(found, [754.291545867, 511.501100661], rtol=0, atol=2e-6)


def test_the_ledger_closes_where_stability_limits_the_steps_of_a_rod():
    """What should have died out is damped: it would flow to and fro between segments."""
    model = wired("rod", "hot.A rod.A", "rod.B cold.A",
                  rod=th.ConductingRod(segments=40, thermal_conductivity="50 W/(m*K)"),
                  hot=th.TemperatureSource(temperature="1000 K"), cold=th.TemperatureSource())
    assert model.simulate("600 s", method="dopri5").energy().relative_residual < 1e-5


def test_heat_that_only_a_meter_sees_needs_surroundings():
    model = wired("watched", "source.p part.p", "source.n part.n ground.V", "part.H meter.A",
                  source=DCVoltageSource(), ground=ElectricalReference(),
                  part=Resistor(thermal_port=True), meter=th.HeatFlowRateSensor())
    assert [f.code for f in model.check().errors] == ["reference.missing"]


def test_an_end_in_the_air_lets_no_heat_pass():
    """It needs no surroundings: temperatures count from absolute zero."""
    model = wired("insulated", "body.M end.A", body=th.ThermalMass(T="350 K"),
                  end=th.PerfectInsulator())
    assert model.simulate("1 s")["end.T"].final.to("K").magnitude == 350
    model = wired("alone", "hot.M bar.A",
                  hot=th.ThermalMass(mass="0.5 kg", T="400 K"), bar=th.ConductingRod(segments=4))
    assert [f.code for f in model.check()] == ["reference.free", "network.unconnected"]
    capacity, bar = 0.5 * 447, 8960 * 1e-4 * 0.1 * 385
    meet = (capacity * 400 + bar * 300) / (capacity + bar)
    result = model.simulate("2000 s", rtol=1e-9)
    meets(result, {"hot.T": (meet, 1e-8), "bar.segment.T": (meet, 1e-8)})


# -- material that comes and goes --------------------------------------------------------------
def tub(rate, **values):
    """2 kg of water that 500 W heat, while water of 340 K comes or water leaves."""
    return wired("tub", "heater.A ground.H", "heater.B body.M", "rate.y body.Mdot",
                 "warm.y body.Tin",
                 body=th.ThermalMass(mass_type="variable", specific_heat="4180 J/(kg*K)", m="2 kg",
                                     T="290 K", **values), ground=th.ThermalReference(),
                 heater=th.HeatFlowRateSource(heat_flow="500 W"), rate=Constant(value=rate),
                 warm=Constant(value="340 K"))


def test_material_that_comes_mixes_with_what_is_there():
    run = tub("0.1 kg/s").simulate("60 s", rtol=1e-9)
    assert run["body.m"].final.m == pytest.approx(8, rel=1e-12)
    heat = 2 * 4180 * 290 + 500 * 60 + 6 * 4180 * 340
    assert run["body.T"].final.m == pytest.approx(heat / (8 * 4180), rel=1e-12)
    assert run.energy().relative_residual < 1e-12


def test_material_that_leaves_takes_its_heat_along_and_the_least_mass_stays():
    run = tub("-0.1 kg/s", minimum_mass="0.5 kg").simulate("30 s", rtol=1e-9)
    assert run["body.m"].final.m == pytest.approx(0.5, rel=1e-9)
    assert [event.time for event in run.events] == [pytest.approx(15, rel=1e-9)]
    warmed = 500 / 4180 * (np.log(4) / 0.1 + 15 / 0.5)  # while it empties, and after
    assert run["body.T"].final.m == pytest.approx(290 + warmed, rel=1e-9)
    assert run.energy().relative_residual < 1e-9


# -- random networks -------------------------------------------------------------------------------
def network(seed):
    """Bodies, and surroundings, joined at random."""
    rng = np.random.default_rng(seed)
    bodies = {f"body{k}": th.ThermalMass(mass=quantity(10 ** rng.uniform(-2, 0), "kg"),
                                         T=quantity(rng.uniform(5, 900), "K"))
              for k in range(rng.integers(3, 8))}
    sources = {f"source{k}": th.TemperatureSource(temperature=quantity(rng.uniform(5, 900), "K"))
               for k in range(rng.integers(0, 3))}
    model = wired(f"random {seed}", **bodies, **sources)
    nodes = [*(f"{body}.M" for body in bodies), *(f"{source}.A" for source in sources)]
    for k in range(2 * len(nodes)):
        size = quantity(10 ** rng.uniform(-4, -2), "m^2")
        kind = rng.integers(4)
        link = [th.ThermalResistance(resistance=quantity(10 ** rng.uniform(-1, 1), "K/W")),
                th.ConductiveHeatTransfer(area=size, law=str(rng.choice(["constant", "table"]))),
                th.ConvectiveHeatTransfer(area=100 * size),
                th.RadiativeHeatTransfer(area=100 * size)][kind]  # fmt: skip
        a = k if k + 1 < len(nodes) else int(rng.integers(len(nodes)))
        b = k + 1 if k + 1 < len(nodes) else int(rng.integers(len(nodes)))
        if a != b:
            wire(model, f"{nodes[a]} link{k}.A", f"link{k}.B {nodes[b]}", **{f"link{k}": link})
    return model, [*bodies.values()], [*sources.values()]


@pytest.mark.parametrize("seed", range(4))
def test_entropy_never_falls_in_a_random_network(seed):
    model, bodies, sources = network(seed)
    run = model.simulate("100 s", rtol=1e-9)
    t = run.time.to("s").magnitude
    produced = np.zeros_like(t)  # per second
    links = [path for path in model.parts if path.startswith("link")]
    assert len(links) > 3
    for path in links:
        heat = run[f"{path}.Q"].to("W").magnitude
        a, b = (run[f"{path}.{port}.T"].to("K").magnitude for port in "AB")
        produced += heat * (1 / b - 1 / a)
        assert (heat * (1 / b - 1 / a) >= -1e-12 * np.abs(heat).max()).all()
    entropy = sum(b.mass.to("kg").magnitude * 447 * np.log(
        run[f"{b.path}.T"].to("K").magnitude) for b in bodies)
    for source in sources:  # what they take
        q = run[f"{source.path}.A.Q"].to("W").magnitude
        steps = np.diff(t) * (q[1:] + q[:-1]) / 2
        entropy = entropy + np.append(0, np.cumsum(steps)) / source.temperature.to("K").magnitude
    if not sources:  # else the sum over the steps has an error of its own
        assert (np.diff(entropy) >= -1e-9 * np.abs(entropy).max()).all()
    assert entropy[-1] > entropy[0]
    assert run.energy().residual.to("J").magnitude < 1e-6 * run.energy().throughput.magnitude
