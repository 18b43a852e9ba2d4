"""Public models run as solutions say that were written from their diagrams.

Every solution is a few lines of SciPy's, or a closed form; none is taken from a converted text.
The models are of github.com/jgillis/simscape2casadi (MIT, ``corpus/licences``), without their
pictures. Those of ``corpus`` are solved in ``test_public_models``.
"""

import shutil

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.integrate import solve_ivp
from scipy.interpolate import RegularGridInterpolator
from simscape_corpus import CORPUS, DATA, built, converted

from library.simscape import convert

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
    "fail_driveline_mass3": (SPEED, lambda: (1 - np.cos(TIMES)) / 19),
}


def speeds(text, folder, path):
    run = built(text, folder).simulate("10 s", rtol=1e-9, times=[f"{t} s" for t in TIMES])
    return np.interp(TIMES, run.time.to("s").m, run[path].to("rad/s").m)


@pytest.mark.parametrize("name", SOLUTIONS)
def test_a_model_meets_a_solution_from_its_diagram(name, tmp_path):
    path, solution = SOLUTIONS[name]
    expected = solution()
    file = shutil.copy(DATA / "solved" / f"{name}.slx", tmp_path)
    values = {"C": "5"} if name.endswith("constant") else {}
    found = speeds(convert(file, values=values).text, tmp_path, path)
    assert_allclose(found, expected, atol=2e-6 * np.abs(expected).max())


def test_a_gear_box_meets_a_solution_from_its_diagram(tmp_path):
    expected = shafts(polynomial, ratio=3.0)
    found = speeds(converted("driveline_gearbox_r2016b", tmp_path).text, tmp_path, SPEED)
    assert_allclose(found, expected, atol=2e-6 * np.abs(expected).max())


def test_the_licence_of_the_models_is_here():
    assert "MIT License" in (CORPUS / "licences" / "jgillis+simscape2casadi.txt").read_text()
