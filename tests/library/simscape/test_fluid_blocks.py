"""Blocks of thermal liquid and gas, of old and new files, count as their pages say."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_allclose
from simscape_corpus import built, converted
from slx_writer import Drawn, write

from library.simscape import convert

LAGGED = Drawn("foundation.thermal.elements.perfect_insulator", "lagging", {"A": "wall"})
SOLVER = Drawn("nesl_utility/Solver Configuration", "solver", {"P": "tank"})


def final(run, path, unit):
    return run[path].final.to(unit).magnitude


def converted_text(folder, blocks, release):
    result = convert(write(folder / "model.slx", blocks, release, {"StopTime": "1"}))
    assert {e.outcome for e in result.entries} == {"mapped"}, result.entries
    return result.text


def test_a_public_gas_piston_follows_the_isentrope(tmp_path):
    """5 l and a piston of 100 cm² that is drawn out by (1 - cos(w t))/w, w = 0.5 pi/s."""
    run = built(converted("gas_piston_work", tmp_path).text, tmp_path).simulate("4 s", rtol=1e-9)
    t = run.time.to("s").m
    drawn = (1 - np.cos(np.pi / 2 * t)) / (np.pi / 2)
    volume = 5e-3 + 1e-5 + 0.01 * drawn
    p = 0.101325 * (volume[0] / volume) ** (1000 / 713)
    found = run["thermo_measurements.pressure_temperature_sensor_g.P"].to("MPa").m
    assert_allclose(found, p, rtol=3e-3)  # the chamber and the piston differ by what flows between
    assert run["constant_volume_chamber_g.mass"].to("kg").m.min() < 0.3 * 0.0060


@pytest.mark.parametrize(("kind", "given", "release"), [
    ("mass_flow_source", {"commanded_mass_flow": ("0.2", "kg/s")}, "R2022b"),
    ("flow_rate_source", {"mass_flow": ("0.2", "kg/s"), "source_type":
     ("foundation.enum.constant_controlled.constant", "1"), "flow_type":
     ("foundation.enum.mass_volumetric_flow.mass", "1"), "area": ("0.01", "m^2")}, "R2024b"),
], ids=["old", "new"])
def test_a_source_of_liquid_pumps_from_A_to_B(kind, given, release, tmp_path):
    """0.2 kg/s through a pipe, measured from A to B, and a pressure that is 48 kPa higher at B."""
    TL = "foundation.thermal_liquid."
    text = converted_text(tmp_path, [
        Drawn(f"{TL}elements.reservoir", "tank", {"A": "tank"}, {
            "pressure_spec": ("foundation.enum.pressure_spec.specified", "1"),
            "reservoir_pressure": ("0.3", "MPa"), "reservoir_temperature": ("300", "K")}),
        Drawn(f"{TL}sources.{kind}", "pump", {"A": "tank", "B": "one"}, given),
        Drawn(f"{TL}elements.pipe", "pipe", {"A": "one", "H": "wall", "B": "two"}, {
            "length": ("5", "m"), "area": ("1.75e-4", "m^2"), "Dh": ("1.5e-2", "m"),
            "length_add": ("1", "m"), "roughness": ("15e-6", "m"), "p0": ("0.3", "MPa"),
            "T0": ("300", "K")}),
        Drawn(f"{TL}sensors.flow_sensor", "meter", {"A": "two", "B": "tank", "M": "m"}),
        Drawn(f"{TL}sources.pressure_source", "lift", {"A": "tank", "B": "high"}, {
            "commanded_pressure": ("48000", "Pa")}),
        Drawn(f"{TL}elements.flow_resistance", "back", {"A": "high", "B": "tank"}, {
            "delta_p_nominal": ("0.012", "MPa"), "mdot_nominal": ("0.1", "kg/s"),
            "area": ("0.01", "m^2"), "laminar_fraction": ("1e-3", "1")}),
        Drawn(f"{TL}sensors.pressure_temperature_sensor", "gauge",
              {"A": "high", "B": "tank", "P": "p", "T": "t"}),
        LAGGED, SOLVER], release)
    run = built(text, tmp_path).simulate("1 s")
    assert final(run, "meter.M", "kg/s") == pytest.approx(0.2, rel=1e-4)
    assert final(run, "gauge.P", "kPa") == pytest.approx(48)
    assert final(run, "back.mdot", "kg/s") == pytest.approx(0.2, rel=1e-6)
    assert final(run, "pipe.p_I", "MPa") > 0.3


@pytest.mark.parametrize("release", ["R2018b", "R2022b"])
def test_a_controlled_source_of_gas_raises_B_of_what_is_closed(release, tmp_path):
    """A closed box is filled to 10 kPa above the atmosphere, and nothing leaves it."""
    G = "foundation.gas."
    text = converted_text(tmp_path, [
        Drawn(f"{G}elements.reservoir", "outside", {"A": "tank"}, {
            "pressure_spec": ("foundation.enum.pressure_spec.atmospheric", "1"),
            "reservoir_temperature": ("293.15", "K"), "area_A": ("0.01", "m^2")}),
        Drawn("foundation.signal.sources.constant", "wanted", {"O": "s"},
              {"constant": ("10", "kPa")}),
        Drawn(f"{G}sources.controlled_pressure_source", "fan", {"A": "tank", "P": "s", "B": "one"},
              {"power_spec": ("foundation.enum.power_spec.none", "1"), "area_A": ("0.01", "m^2"),
               "area_B": ("0.01", "m^2")}),
        Drawn(f"{G}elements.constant_volume_chamber", "box", {"A": "one", "H": "wall"}, {
            "volume": ("1e-3", "m^3"), "num_ports": ("foundation.enum.num_ports.one", "1"),
            "area_A": ("0.01", "m^2")}),
        Drawn(f"{G}sensors.pressure_temperature_sensor", "gauge",
              {"A": "one", "B": "tank", "P": "p", "T": "t"}),
        Drawn(f"{G}sensors.mass_flow_energy_flow_sensor", "meter",
              {"A": "tank", "B": "two", "M": "m", "PHI": "e"}),
        Drawn(f"{G}elements.cap", "end", {"A": "two"}), LAGGED, SOLVER], release)
    run = built(text, tmp_path).simulate("1 s")
    assert final(run, "gauge.P", "kPa") == pytest.approx(10)
    assert final(run, "box.p_I", "MPa") == pytest.approx(0.111325)
    assert final(run, "meter.M", "kg/s") == pytest.approx(0)
