"""Does a Simscape model with backlash, wired by hand, give what its equations give?

Circuit and numbers are those of ``driveline_springdamper_backlash``, without the blocks between
Simulink and Simscape; where the reference comes from is said in ``tests/data/simscape``. What
a file converts to, and that it meets its reference: ``library/simscape/test_public_models.py``.
"""

from pathlib import Path

import numpy as np
import pytest
from benches import wire, wired
from numpy.testing import assert_allclose

import library.rotational as rot
from blocks import quantity, sin

REFERENCE = Path(__file__).resolve().parents[1] / "data/simscape/driveline_backlash.csv"


def backlash(film=None):
    """Spring and play in series between two inertias, without an inertia between them.

    While the play is open, neither determines the speed of that node. A film of oil in the play,
    a damper a thousand times weaker than that of the stops, says how it moves.
    """
    stop = {"stiffness": "1e3 N*m/rad", "damping": "0.001 N*m*s/rad"}
    model = wired(
        "backlash", "drive.R first.I spring.R", "spring.C backlash.R",
        "backlash.C second.I damper.R sensor.R", "damper.C drive.C sensor.C ground.W",
        drive=rot.TorqueSource(torque=lambda t: quantity("1 N*m") * sin(quantity("1 rad/s") * t)),
        first=rot.Inertia(inertia="1.7 kg*m^2"),
        spring=rot.RotationalSpring(stiffness="10 N*m/rad"), backlash=rot.RotationalHardStop(
            model="full", upper_bound="0.1 rad", lower_bound="-0.1 rad",
            **{f"{side}_{name}": v for side in ("upper", "lower") for name, v in stop.items()}),
        second=rot.Inertia(inertia="2 kg*m^2"),
        damper=rot.RotationalNonlinearDamper(law="polynomial", coefficients=[
            "0.01 N*m*s/rad", "0 N*m*s/rad", "1e-3 N*m*s/rad", "0 N*m*s/rad", "1e-4 N*m*s/rad"]),
        sensor=rot.RotationalMotionSensor(), ground=rot.RotationalReference())
    if film:
        wire(model, "film.R backlash.R", "film.C backlash.C",
             film=rot.RotationalDamper(damping=film))
    return model


@pytest.mark.parametrize("method", ["auto", "Radau"])
def test_a_driveline_with_backlash(method):
    run = backlash(film="1e-6 N*m*s/rad").simulate("10 s", rtol=1e-7, method=method)
    t, w2, w1, twist, play, torque = np.loadtxt(REFERENCE, delimiter=",", skiprows=5).T
    seen = {path: run[path].at(quantity(t, "s")).m for path in (
        "sensor.W", "first.w", "backlash.phi", "spring.t", "spring.phi")}  # fmt: skip
    seen["twist"] = seen.pop("spring.phi") + seen["backlash.phi"]
    for found, exact in zip(seen.values(), (w2, w1, play, torque, twist), strict=True):
        assert_allclose(found, exact, atol=1e-3 * np.ptp(exact), rtol=0)
    switches = sorted({round(e.time, 4) for e in run.events.of("backlash")})
    known = [1.024405, 2.315519, 3.547151, 6.507026, 7.234769, 8.441319, 9.218139]
    assert_allclose(switches, known, atol=2e-4)


def test_a_node_that_an_open_play_leaves_alone_is_named_with_a_remedy():
    (finding,) = backlash().check().errors
    assert finding.code == "initial.derivative"
    assert finding.advice == (
        "Nothing determines the node spring.C = backlash.R while backlash carries nothing. "
        "Give the node an inertia, or put a damper in parallel with backlash: a very small one "
        "will do.")
