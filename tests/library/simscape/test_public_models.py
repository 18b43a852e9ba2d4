"""Public models convert to the text that was read by eye, and run as solutions by hand say.

What is expected of those in ``corpus`` stands in ``corpus/manifest.json``: closed forms, matrix
exponentials and a stiff solver with located switches. Those in ``solved`` have a closed form or a
few lines of SciPy's, written from their diagrams, never from a converted text; they are of
github.com/jgillis/simscape2casadi (MIT, ``corpus/licences``), without their pictures.
"""

import csv
import shutil

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.integrate import solve_ivp
from scipy.interpolate import RegularGridInterpolator
from simscape_corpus import CORPUS, DATA, MANIFEST, built, converted, parts_of, placed, zipped

from library.simscape import convert

COLUMNS = {
    "msd_bungee": {1: ("position_sensor.P", "m"), 2: ("mass.v", "m/s"),
                   3: ("spring_spring_force.x", "m")},
    "dc_motor": {1: ("voltage_sensor.V", "V"), 2: ("current_sensor.I", "A"),
                 3: ("ideal_rotational_motion_sensor.W", "rad/s")},
    "driveline_backlash_r2016b": {1: ("ideal_rotational_motion_sensor.W", "rad/s"),
                                  2: ("inertia.w", "rad/s"), 4: ("backlash.phi", "rad"),
                                  5: ("rotational_spring.t", "N*m")}}
TOLERANCES = {"msd_bungee": 1e-4, "dc_motor": 1e-4, "driveline_backlash_r2016b": 1e-3}


@pytest.mark.parametrize("name", sorted({*MANIFEST} - {"driveline_trivial_r2014b"}))  # as gearbox
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


@pytest.mark.parametrize(("name", "end", "read"), [
    ("driveline_trivial_r2014b", "10 s",
     {"values": ("ideal_rotational_motion_sensor.W", {"atol": 2e-9, "rtol": 0})}),
    ("iron_rod_lumped", "2500 s", {"values": ("rod.temperature_sensor.pss.y", {"atol": 1e-6}),
                                   "base_heat": ("sensor.pss.y", {"atol": 1e-5})})])
def test_a_model_meets_its_closed_form(name, end, read, tmp_path):
    expected = MANIFEST[name]["expected"]
    run = built(converted(name, tmp_path).text, tmp_path).simulate(
        end, rtol=1e-10, times=[f"{t} s" for t in expected["at_s"]])
    for values, (path, tolerances) in read.items():
        assert_allclose(np.interp(expected["at_s"], run.time.to("s").m, run[path].m),
                        expected[values], **tolerances)


def test_the_scooter_meets_its_closed_form(tmp_path):
    expected = MANIFEST["scooter_friction"]["expected"]
    run = built(converted("scooter_friction", tmp_path).text, tmp_path).simulate("1 s")
    assert_allclose(run["ps_product.y"].final.to("W").m, expected["values"][0], rtol=1e-11)
    assert_allclose(abs(run["force_sensor.F"].final.to("N").m),
                    expected["also"]["Force Sensor.F magnitude [N]"], rtol=1e-11)


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


# -- models that are solved from their diagrams ----------------------------------------------------
TIMES = np.linspace(0.5, 10, 20)
SPEED = "ideal_rotational_motion_sensor.W"


def solved(rates, start):
    """The states at TIMES, one row each."""
    return solve_ivp(rates, (0, 10), start, "LSODA", TIMES, rtol=1e-10, atol=1e-13).y


def shafts(damping, torque=np.sin, ratio=1.0):
    """Torque on 1.7 kg m²; by a gear and a spring of 10 N m/rad to 2 kg m², which is damped.

    States: both speeds, and how far the spring is wound.
    """
    def rates(t, x):
        spring = 10 * x[2]
        return [(torque(t) - spring / ratio) / 1.7, (spring - damping(x[1])) / 2,
                x[0] / ratio - x[1]]

    return solved(rates, [0, 0, 0])[1]


def polynomial(w):
    return np.sign(w) * np.polyval([1e-4, 0, 1e-3, 0, 1e-2, 0], abs(w))


def table(w):
    speeds = [-1, -0.5, -0.3, -0.1, 0.1, 0.3, 0.5, 1]
    torques = np.array([-0.001, -4e-4, -2e-4, -5e-5, 5e-5, 2e-4, 4e-4, 0.001])
    beyond = np.sign(w) * max(abs(w) - 1, 0) * 6e-4 / 0.5  # goes on as its last piece
    return np.interp(w, speeds, torques) + beyond


def of_two_tables(t):
    first = np.interp(np.sin(t), [-1, -0.5, 0, 0.5, 1], [0.5, 1, -0.5, -1, 0])
    values = [[-0.8481, -0.1655, 0.5605, -0.7361], [-0.5202, -0.9007, -0.2205, 0.8841],
              [-0.7534, 0.8054, -0.5166, 0.9123], [-0.6322, 0.8896, -0.1922, 0.1504],
              [-0.5201, -0.0183, -0.8071, -0.8804]]
    grid = RegularGridInterpolator(([-1, -0.5, 0, 0.5, 1], [-1, -0.5, 0.5, 1]), values)
    return grid((np.cos(t), first))[()]


def motor():
    """sin t V on a motor with 10 kg m²; states: current, speed."""
    constant = 7.2e-5 * 60 / (2 * np.pi)
    return solve_ivp(lambda t, x: [(np.sin(t) - 3.9 * x[0] - constant * x[1]) / 1.2e-5,
                                   constant * x[0] / (10 + 1e-9)],
                     (0, 10), [0, 0], "Radau", TIMES, rtol=1e-9, atol=1e-14).y[1]


SOLUTIONS = {
    "driveline_EM": ("ideal_rotational_motion_sensor1.W", motor),
    # two springs without a mass between them carry the torque as it is
    "driveline_spring2": (SPEED, lambda: (1 - np.cos(TIMES)) / 1.7),
    "driveline_springdamper": (SPEED, lambda: shafts(polynomial)),
    "driveline_springdamper_LUT": (SPEED, lambda: shafts(table)),
    "driveline_springdamper_LUT2": (SPEED, lambda: shafts(table, of_two_tables)),
    "driveline_springdamper_constant": (SPEED, lambda: shafts(lambda w: 5 * w)),
    "driveline_springdamper_r2014b": (SPEED, lambda: shafts(polynomial)),
    "driveline_gearbox_r2016b": (SPEED, lambda: shafts(polynomial, ratio=3.0)),
    "fail_driveline_mass3": (SPEED, lambda: (1 - np.cos(TIMES)) / 19)}


@pytest.mark.parametrize("name", SOLUTIONS)
def test_a_model_meets_a_solution_from_its_diagram(name, tmp_path):
    path, solution = SOLUTIONS[name]
    expected = solution()
    file = shutil.copy(next(DATA.glob(f"*/{name}.slx")), tmp_path)
    values = {"C": "5"} if name.endswith("constant") else {}
    run = built(convert(file, values=values).text, tmp_path).simulate(
        "10 s", rtol=1e-9, times=[f"{t} s" for t in TIMES])
    assert_allclose(np.interp(TIMES, run.time.to("s").m, run[path].to("rad/s").m), expected,
                    atol=(1e-7 if "gearbox" in name else 2e-6) * np.abs(expected).max())


def test_the_licence_of_the_models_is_here():
    assert "MIT License" in (CORPUS / "licences" / "jgillis+simscape2casadi.txt").read_text()
