"""Does a Simscape model with backlash, wired by hand, give what its equations give?

Circuit and numbers are those of ``driveline_springdamper_backlash``, without the blocks between
Simulink and Simscape; where the reference comes from is said in ``tests/data/simscape``. What
a file converts to, and that it meets its reference: ``library/simscape/test_public_models.py``.
"""

from pathlib import Path

import numpy as np
import pytest
from benches import wire
from numpy.testing import assert_allclose

from blocks import Model, Parameter, Variable, quantity, sin
from library.rotational import (
    Inertia,
    RotationalDamper,
    RotationalHardStop,
    RotationalMotionSensor,
    RotationalReference,
    RotationalSpring,
    TorqueSource,
)
from library.rotational import TwoPort as RotationalTwoPort

DATA = Path(__file__).resolve().parents[1] / "data" / "simscape"


def reference(name):
    """Columns of a reference, the first being time in s."""
    return np.loadtxt(DATA / f"{name}.csv", delimiter=",", skiprows=5).T


def wave(t):
    return quantity("1 N*m") * sin(quantity("1 rad/s") * t)


class PolynomialDamper(RotationalTwoPort):
    """Simscape Driveline's Nonlinear Rotational Damper, polynomial and symmetric: odd powers."""

    c1 = Parameter("0.01 N*m*s/rad")
    c3 = Parameter("1e-3 N*m*s^3/rad^3")
    c5 = Parameter("1e-4 N*m*s^5/rad^5")
    power_dissipated = Variable("W")

    def equations(self):
        w = self.w
        yield self.t == self.c1 * w + self.c3 * w**3 + self.c5 * w**5
        yield self.power_dissipated == self.t * w


def backlash(film=None):
    """driveline_springdamper_backlash: spring and play in series between two inertias.

    The node between the two has no inertia: while the play is open, neither determines its
    speed. A film of oil in the play, a damper a thousand times weaker than that of the
    stops, says how it moves.
    """
    model = Model("backlash")
    model.drive, model.first = TorqueSource(torque=wave), Inertia(inertia="1.7 kg*m^2")
    model.spring = RotationalSpring(stiffness="10 N*m/rad")
    model.backlash = RotationalHardStop(
        model="full", upper_bound="0.1 rad", lower_bound="-0.1 rad",
        upper_stiffness="1e3 N*m/rad", lower_stiffness="1e3 N*m/rad",
        upper_damping="0.001 N*m*s/rad", lower_damping="0.001 N*m*s/rad",
    )  # fmt: skip
    model.second, model.damper = Inertia(inertia="2 kg*m^2"), PolynomialDamper()
    model.sensor = RotationalMotionSensor()
    model.ground, model.ground1, model.ground2 = (RotationalReference() for _ in range(3))
    wire(model, "drive.R first.I spring.R", "spring.C backlash.R",
         "backlash.C second.I damper.R sensor.R")
    if film:
        wire(model, "film.R backlash.R", "film.C backlash.C", film=RotationalDamper(damping=film))
    wire(model, "damper.C ground.W", "drive.C ground1.W", "sensor.C ground2.W")
    return model


@pytest.mark.parametrize("method", ["auto", "Radau"])
def test_a_driveline_with_backlash(method):
    run = backlash(film="1e-6 N*m*s/rad").simulate("10 s", rtol=1e-7, method=method)
    t, w2, w1, twist, play, torque = reference("driveline_backlash")
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
