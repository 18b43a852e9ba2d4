"""Blocks of moist air, of old and new files, count as their pages say."""

import pytest
from benches import final, meets, wire
from simscape_corpus import built
from slx_writer import Drawn, constant, converted, mapped, solver

from library.moist_air import ThermodynamicPropertiesSensor

MA = "foundation.moist_air."
LAGGED = Drawn("foundation.thermal.elements.perfect_insulator", "lagging", {"A": "wall"})
SOLVER = solver("tank")
NONE = {"trace_gas_spec": ("foundation.enum.trace_gas_spec.mass_fraction", "1")}


def air(name, node, humidity, temperature="293.15"):
    """A reservoir of new files."""
    spec, parameter, value = humidity
    return Drawn(f"{MA}elements.reservoir", name, {"A": node}, {
        "pressure_spec": ("foundation.enum.pressure_spec.atmospheric", "1"),
        "temperature_spec": ("foundation.enum.temperature_spec.specified", "2"),
        "reservoir_temperature": (temperature, "K"),
        "moisture_spec": (f"foundation.enum.moisture_spec.{spec}", "1"),
        "reservoir_RH": ("0.5", "1"), "reservoir_x_w": ("0.01", "1"),
        "reservoir_y_w": ("0.01", "1"), "reservoir_HR": ("0.01", "1"), parameter: (value, "1"),
        **NONE, "RH_ws": ("1", "1"), "area_A": ("0.01", "m^2")})


@pytest.mark.parametrize(("kind", "given", "release"), [
    ("mass_flow_source", {"mass_flow": ("0.1", "kg/s")}, "R2018b"),
    ("flow_rate_source", {"mass_flow": ("0.1", "kg/s"), "flow_type":
     ("foundation.enum.mass_volumetric_flow.mass", "1"), "source_type":
     ("foundation.enum.constant_controlled.constant", "1"), "area_A": ("0.01", "m^2")}, "R2024b"),
], ids=["old", "new"])
def test_a_fan_blows_from_A_to_B_through_a_room_with_a_person(kind, given, release, tmp_path):
    """0.1 kg/s of x_w = 0.015 and 1 g/s of vapour; flow, humidity and pressures are measured."""
    text = mapped(tmp_path, [
        air("outside", "tank", ("mass_fraction", "reservoir_x_w", "0.015"), "303.15"),
        Drawn(f"{MA}sources.{kind}", "fan", {"A": "tank", "B": "one"}, given | {
            "power_spec": ("foundation.enum.power_spec.none", "0")}),
        Drawn(f"{MA}elements.constant_volume_chamber", "room",
              {"A": "one", "B": "two", "W": "w", "F": "f", "H": "wall", "S": "s"}, {
                  "volume": ("0.1", "m^3"), "area_A": ("0.01", "m^2"), "area_B": ("0.01", "m^2"),
                  "num_ports": ("foundation.enum.num_ports.two", "2"), "RH_ws": ("1", "1"),
                  "moisture_trace_gas_source":
                  ("foundation.enum.moisture_trace_gas_source.controlled", "3"),
                  "time_constant": ("1e-3", "s")}),
        Drawn(f"{MA}sources.moisture_trace_gas.controlled_moisture_source", "person",
              {"S": "s", "M": "m", "T": "t"}, {
                  "moisture_source_spec": ("foundation.enum.moisture_source_spec.vapor", "1")}),
        constant("breath", "m", "1e-3", "kg/s"), constant("warmth", "t", "303.15", "K"),
        Drawn(f"{MA}sensors.measurement_selector", "look",
              {"F": "f", "P": "p", "T": "u", "W": "v", "G": "g"}, NONE | {
                  "moisture_spec": ("foundation.enum.moisture_spec.mass_fraction", "2")}),
        Drawn(f"{MA}sensors.volumetric_flow_sensor", "meter", {"A": "two", "B": "three", "V": "q"}),
        Drawn(f"{MA}elements.flow_resistance", "gap", {"A": "three", "B": "out"}, {
            "delta_p_nominal": ("1e-5", "MPa"), "mdot_nominal": ("0.1", "kg/s"),
            "area": ("0.01", "m^2"), "laminar_fraction": ("1e-3", "1")}),
        air("beyond", "out", ("relative_humidity", "reservoir_RH", "0.3")),
        LAGGED, SOLVER], release)
    run = built(text, tmp_path).simulate("30 s")
    meets(run, {"gap.mdot kg/s": (0.101, 1e-3), "look.W 1": (0.0025 / 0.101, 1e-2),
                "look.P MPa": (0.101325, 1e-3)})
    assert final(run, "meter.V", "m^3/s") > 0.08
    assert run.energy().relative_residual < 1e-7


def test_a_room_of_older_files_starts_and_condenses_as_it_was_told(tmp_path):
    """Targets p_I, T_I and RH_I; a controlled source raises B, a sensor counts A against B."""
    text = mapped(tmp_path, [
        air("outside", "tank", ("relative_humidity", "reservoir_RH", "0.5")),
        constant("wanted", "s", "10", "kPa"),
        Drawn(f"{MA}sources.controlled_pressure_source", "fan", {"A": "tank", "P": "s", "B": "one"},
              {"power_spec": ("foundation.enum.power_spec.none", "0"), "area_A": ("0.01", "m^2"),
               "area_B": ("0.01", "m^2")}),
        Drawn(f"{MA}elements.constant_volume_chamber", "room",
              {"A": "one", "B": "two", "W": "w", "F": "f", "H": "wall"}, {
                  "volume": ("1", "m^3"), "num_ports": ("foundation.enum.num_ports.two", "2"),
                  "area_A": ("0.01", "m^2"), "area_B": ("0.01", "m^2"), "RH_ws": ("0.8", "1"),
                  "T_init": ("310", "K"), "p_init": ("0.111325", "MPa"), "RH_init": ("0.9", "1"),
                  "time_constant_cond": ("1e-3", "s")}),
        Drawn(f"{MA}sensors.pressure_temperature_sensor", "gauge",
              {"A": "one", "B": "tank", "P": "p", "T": "t"}),
        Drawn(f"{MA}sensors.humidity_trace_gas_sensor", "feel",
              {"A": "two", "W": "v", "G": "g"}, NONE | {
            "moisture_spec": ("foundation.enum.moisture_spec.relative_humidity", "1")}),
        Drawn(f"{MA}utilities.moist_air_properties", "air", {"A": "tank"}, {
            "R_a": ("287.047", "J/kg/K"), "R_w": ("461.523", "J/kg/K"), "D_w": ("25", "mm^2/s"),
            "p_atm": ("0.101325", "MPa"), "T_atm": ("20", "degC"), "p_min": ("1", "kPa"),
            "trace_gas_model": ("foundation.enum.trace_gas_model.none", "0")}),
        LAGGED, SOLVER], "R2024b")
    run = built(text, tmp_path).simulate("1 s")
    assert final(run, "gauge.P", "kPa") == pytest.approx(10)
    assert run["room.T_I"].at("0 s").to("K").m == pytest.approx(310)
    assert run["room.RH_I"].at("0 s").m == pytest.approx(0.9)
    # 10 % of 43.9 g/m³ less what the air holds more, 5 % of 80 % a kelvin, of 1.9 K a gram
    assert final(run, "room.RH_I", "1") == pytest.approx(0.8, abs=2e-3)
    assert final(run, "room.condensate", "g") == pytest.approx(4.39 / 4.35, rel=0.1)


def office(model, more=(), start=("y_g_init", "mole_fraction")):
    """Fresh air with 400 parts of 10⁶ by moles into a room with a source of trace gas."""
    fresh = air("outside", "tank", ("relative_humidity", "reservoir_RH", "0"))
    fresh.values.update({"trace_gas_spec": ("foundation.enum.trace_gas_spec.mole_fraction", "1"),
                         "reservoir_x_g": ("0.5", "1"), "reservoir_y_g": ("400e-6", "1")})
    first, spec = start
    return [
        fresh, air("beyond", "out", ("relative_humidity", "reservoir_RH", "0.3")),
        Drawn(f"{MA}sources.mass_flow_source", "fan", {"A": "tank", "B": "one"}, {
            "mass_flow": ("0.1", "kg/s"), "power_spec": ("foundation.enum.power_spec.none", "0")}),
        Drawn(f"{MA}elements.constant_volume_chamber", "room",
              {"A": "one", "B": "two", "W": "w", "F": "f", "H": "wall", "S": "s"}, {
                  "volume": ("0.1", "m^3"), "area_A": ("0.01", "m^2"), "area_B": ("0.01", "m^2"),
                  "num_ports": ("foundation.enum.num_ports.two", "2"), "RH_init": ("0", "1"),
                  "x_g_init": ("0.2", "1"), "y_g_init": ("0.2", "1"), first: ("0.001", "1"),
                  "trace_gas_spec": (f"foundation.enum.trace_gas_spec.{spec}", "1"),
                  "moisture_trace_gas_source":
                  ("foundation.enum.moisture_trace_gas_source.controlled", "3")}),
        Drawn(f"{MA}sources.moisture_trace_gas.trace_gas_source", "breath", {"S": "s"}, {
            "source_type": ("foundation.enum.constant_controlled.constant", "1"),
            "trace_gas_mass_flow": ("0.2", "g/s"), "trace_gas_temperature": ("293.15", "K"),
            "temperature_spec": ("foundation.enum.temperature_spec.specified", "2")}),
        Drawn(f"{MA}sensors.measurement_selector", "look",
              {"F": "f", "P": "p", "T": "u", "W": "v", "G": "g"}, {
                  "moisture_spec": ("foundation.enum.moisture_spec.mass_fraction", "2"),
                  "trace_gas_spec": ("foundation.enum.trace_gas_spec.mole_fraction", "1")}),
        Drawn(f"{MA}elements.flow_resistance", "gap", {"A": "two", "B": "out"}, {
            "delta_p_nominal": ("1e-5", "MPa"), "mdot_nominal": ("0.1", "kg/s"),
            "area": ("0.01", "m^2"), "laminar_fraction": ("1e-3", "1")}),
        Drawn(f"{MA}utilities.moist_air_properties", "air", {"A": "tank"}, {
            "trace_gas_model": (f"foundation.enum.trace_gas_model.{model}", "0"),
            "R_g": ("188.923", "J/kg/K"), "D_g": ("16", "mm^2/s"), **dict(more)}),
        LAGGED, SOLVER]


@pytest.mark.parametrize(("model", "counts"), [
    ("none", 0.0), ("track_fraction", 1.0), ("track_properties", 1.0)])
def test_a_trace_gas_is_tracked_as_the_properties_of_the_circuit_say(model, counts, tmp_path):
    """x = (0.1 x_in + 0.2 g/s)/(0.1 kg/s + 0.2 g/s) at last, shown by moles."""
    run = built(mapped(tmp_path, office(model), "R2024b"), tmp_path).simulate("30 s")
    x_in = 400e-6 * 44.01 / (400e-6 * 44.01 + (1 - 400e-6) * 28.965)
    x = (0.1 * x_in + 2e-4) / (0.1 + 2e-4)
    y = x / 44.01 / (x / 44.01 + (1 - x) / 28.965)
    assert run["look.G"].at("0 s").m == pytest.approx(0.001 * counts, rel=1e-6)
    meets(run, {"look.G 1": (y * counts, 1e-4), "gap.mdot kg/s": (0.1 + 2e-4 * counts, 1e-5)})
    assert run.energy().relative_residual < 1e-7


def test_a_room_starts_from_the_mass_fraction_where_that_is_chosen(tmp_path):
    result = converted(tmp_path, office("track_fraction", start=("x_g_init", "mass_fraction")),
                     "R2024b")  # fmt: skip
    run = built(result.text, tmp_path).simulate("1 s")
    assert run["room.x_g_I"].at("0 s").m == pytest.approx(0.001)


@pytest.mark.parametrize(("choice", "said", "parameter", "value"), [
    ("moisture_spec", "moisture_spec.mass_fraction", "reservoir_x_w", "0.009"),
    ("moisture_spec", "moistureSpec.MoleFraction", "reservoir_y_w", "0.0143916"),
    ("humidity_spec", "HumiditySpec.HumidityRatio", "reservoir_HR", "0.0090817")])
def test_reservoirs_of_every_release_have_the_humidity_that_is_chosen(
        choice, said, parameter, value, tmp_path):
    """One humidity, x_w = 0.009, in the words of three releases, beside values of other choices."""
    values = dict.fromkeys(
        ("reservoir_RH", "reservoir_x_w", "reservoir_y_w", "reservoir_HR"), ("0.3", "1"))
    text = mapped(tmp_path, [
        Drawn(f"{MA}elements.reservoir", "outside", {"A": "tank"}, values | {
            choice: (f"foundation.enum.{said}", "1"), parameter: (value, "1")}),
        Drawn(f"{MA}sensors.humidity_trace_gas_sensor", "feel",
              {"A": "tank", "W": "v", "G": "g"}, NONE | {
                  "moisture_spec": ("foundation.enum.moisture_spec.mass_fraction", "2")}),
        SOLVER], "R2024b")  # fmt: skip
    run = built(text, tmp_path).simulate("1 s")
    assert final(run, "feel.W", "1") == pytest.approx(0.009, rel=1e-4)


def test_dry_and_trace_gas_by_tables_are_those_of_the_file(tmp_path):
    """Oxygen and nitrogen, as constants: shares by moles, density and heat capacity follow."""
    text = mapped(tmp_path, [
        Drawn(f"{MA}elements.reservoir", "tank", {"A": "tank"}, {
            "pressure_spec": ("foundation.enum.pressure_spec.atmospheric", "1"),
            "temperature_spec": ("foundation.enum.temperature_spec.specified", "2"),
            "reservoir_temperature": ("300", "K"),
            "moisture_spec": ("foundation.enum.moisture_spec.mass_fraction", "1"),
            "reservoir_x_w": ("0", "1"), "reservoir_x_g": ("0.4", "1"),
            "trace_gas_spec": ("foundation.enum.trace_gas_spec.mass_fraction", "1")}),
        Drawn(f"{MA}utilities.moist_air_properties", "air", {"A": "tank"}, {
            "R_a": ("259.84", "J/kg/K"), "R_g": ("296.80", "J/kg/K"),
            "T_TLU": ("[0 100 200]", "degC"),
            "h_a_TLU": ("[0 92 184]", "kJ/kg"), "mu_a_TLU": ("[20 20 20]", "s*uPa"),
            "k_a_TLU": ("[26 26 26]", "mW/m/K"), "h_g_TLU": ("[10 114 218]", "kJ/kg"),
            "mu_g_TLU": ("[17 17 17]", "s*uPa"), "k_g_TLU": ("[25 25 25]", "mW/m/K"),
            "trace_gas_model": ("foundation.enum.trace_gas_model.track_properties", "3")}),
        SOLVER], "R2024b")  # fmt: skip
    model = built(text, tmp_path)
    wire(model, "tank.A look.A", look=ThermodynamicPropertiesSensor())
    run = model.simulate("1 s")
    R = 0.6 * 259.84 + 0.4 * 296.8
    assert final(run, "look.RHO", "kg/m^3") == pytest.approx(101325 / (R * 300), rel=1e-6)
    assert final(run, "look.CP", "J/(kg*K)") == pytest.approx(0.6 * 920 + 0.4 * 1040, rel=1e-6)
