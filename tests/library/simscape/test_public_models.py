"""Public models convert to the text that was read by eye, and run to their expected results.

The expected numbers are solutions by hand of each model's equations, ``corpus/manifest.json``:
closed forms, matrix exponentials and a stiff solver with located switches.
"""

import csv

import numpy as np
import pytest
from numpy.testing import assert_allclose
from simscape_corpus import CORPUS, DATA, MANIFEST, built, converted, parts_of, placed, zipped

from library.simscape import convert

COLUMNS = {
    "msd_bungee": {1: ("position_sensor.P", "m"), 2: ("mass.v", "m/s"),
                   3: ("spring_spring_force.x", "m")},
    "dc_motor": {1: ("voltage_sensor.V", "V"), 2: ("current_sensor.I", "A"),
                 3: ("ideal_rotational_motion_sensor.W", "rad/s")},
    "driveline_backlash_r2016b": {1: ("ideal_rotational_motion_sensor.W", "rad/s"),
                                  2: ("inertia.w", "rad/s"), 4: ("backlash.phi", "rad"),
                                  5: ("rotational_spring.t", "N*m")},
}  # fmt: skip
TOLERANCES = {"msd_bungee": 1e-4, "dc_motor": 1e-4, "driveline_backlash_r2016b": 1e-3}


@pytest.mark.parametrize("name", sorted(MANIFEST))
def test_a_model_converts_to_the_text_that_was_read_by_eye(name, tmp_path):
    text = converted(name, tmp_path).text
    assert text == (DATA / "converted" / f"{name}.py").read_text(encoding="utf-8")
    assert converted(name, tmp_path).text == text


@pytest.mark.parametrize("name", sorted(MANIFEST))
def test_a_converted_model_checks_and_shows_its_gaps(name, tmp_path):
    result = converted(name, tmp_path)
    findings = built(result.text, tmp_path).check()
    assert not findings.errors
    missing = sum(e.outcome == "missing" for e in result.entries)
    assert str(findings).count("which has no counterpart here") <= missing
    assert len(result.entries) == len({e.path + e.kind for e in result.entries}) or name in (
        "house_piping", "iron_rod_lumped")  # their blocks repeat names


@pytest.mark.parametrize("name", sorted(COLUMNS))
def test_a_converted_model_meets_the_solution_by_hand(name, tmp_path):
    lines = (DATA / f"{name}.csv").read_text(encoding="utf-8").splitlines()
    rows = list(csv.reader(line for line in lines if not line.startswith("#")))
    expected = np.array(rows[1:], dtype=float)
    run = built(converted(name, tmp_path).text, tmp_path).simulate(
        f"{expected[-1, 0]} s", rtol=1e-8, times=[f"{t} s" for t in expected[:, 0]])
    use = np.ones(len(expected), dtype=bool)
    if name == "dc_motor":  # within one sample of the step its column of voltages is of either side
        use = np.abs(expected[:, 0] - 1) > 0.0026
    for column, (path, unit) in COLUMNS[name].items():
        found = np.interp(expected[:, 0], run.time.to("s").m, run[path].to(unit).m)
        error = np.abs(found - expected[:, column])[use].max() / np.ptp(expected[:, column])
        assert error < TOLERANCES[name], rows[0][column]


def at(run, path, unit, times):
    return np.interp(times, run.time.to("s").m, run[path].to(unit).m)


def test_the_driveline_of_2014_meets_its_closed_form(tmp_path):
    expected = MANIFEST["driveline_trivial_r2014b"]["expected"]
    run = built(converted("driveline_trivial_r2014b", tmp_path).text, tmp_path).simulate(
        "10 s", rtol=1e-10, every="0.5 s")
    assert_allclose(at(run, "ideal_rotational_motion_sensor.W", "rad/s", expected["at_s"]),
                    expected["values"], rtol=2e-8)


def test_the_scooter_meets_its_closed_form(tmp_path):
    expected = MANIFEST["scooter_friction"]["expected"]
    run = built(converted("scooter_friction", tmp_path).text, tmp_path).simulate("1 s")
    assert_allclose(run["ps_product.y"].final.to("W").m, expected["values"][0], rtol=1e-11)
    assert_allclose(abs(run["force_sensor.F"].final.to("N").m),
                    expected["also"]["Force Sensor.F magnitude [N]"], rtol=1e-11)


def test_the_iron_rod_meets_its_closed_form(tmp_path):
    expected = MANIFEST["iron_rod_lumped"]["expected"]
    run = built(converted("iron_rod_lumped", tmp_path).text, tmp_path).simulate(
        "2500 s", rtol=1e-10, every="100 s")
    assert_allclose(at(run, "rod.temperature_sensor.pss.y", "", expected["at_s"]),
                    expected["values"], atol=1e-6)
    assert_allclose(at(run, "sensor.pss.y", "", expected["at_s"]), expected["base_heat"], atol=1e-5)


def test_a_change_of_one_parameter_changes_one_line(tmp_path):
    file = placed("scooter_friction", tmp_path)
    before = convert(file).text.splitlines()
    parts = parts_of(file)
    name = next(n for n, data in parts.items() if b'<P Name="mass">90</P>' in data)
    parts[name] = parts[name].replace(b'<P Name="mass">90</P>', b'<P Name="mass">91</P>')
    after = convert(zipped(parts, file)).text.splitlines()
    changed = [(old, new) for old, new in zip(before, after, strict=True) if old != new]
    line = '    model.mass = Mass(mass="{} kg")'
    assert changed == [(line.format(90), line.format(91))]


def test_every_model_of_the_corpus_is_here():
    assert {f.stem for f in CORPUS.glob("*.slx")} == set(MANIFEST)
