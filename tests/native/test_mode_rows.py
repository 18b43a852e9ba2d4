"""Machine code finds by itself what modes at nodes without mass come to: no search in Python."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

from blocks import Model, quantity, sin
from library.translational import Damper, Reference, Spring, TranslationalFriction, VelocitySource

AMPLITUDE, RATE = 0.02, 2 * np.pi


def iwan(n):
    """A plate moved to and fro, and n springs to it, each held by dry friction at its other end."""
    model = Model("iwan")
    model.ground, model.plate = Reference(), VelocitySource(
        velocity=lambda t: quantity(AMPLITUDE * RATE, "m/s") * sin(quantity(RATE, "rad/s") * t))
    model.damper = Damper(damping="1 N*s/m")  # so that there is a state to integrate
    model.lag = Spring(stiffness="100 N/m")
    model.connect(model.plate.R, model.lag.R)
    model.connect(model.lag.C, model.damper.R)
    model.connect(model.plate.C, model.damper.C, model.ground.V)
    stiffness = 50.0 + 10.0 * np.arange(n) * min(1.0, 30 / n)
    strength = 0.3 + 0.05 * np.arange(n) * min(1.0, 30 / n)
    model.springs = Spring(count=n, stiffness=quantity(stiffness, "N/m"))
    force = quantity(strength, "N")
    model.sliders = TranslationalFriction(count=n, law="coulomb", coulomb_force=force,
                                          breakaway_force=force)
    model.connect(model.plate.R, model.springs.R)
    model.connect(model.springs.C, model.sliders.R)
    model.connect(model.sliders.C, model.ground.V)
    return model, stiffness, strength


def carried(t, stiffness, strength):
    """Forces of Jenkins elements: each follows its spring until it slides, and again from there.

    W. D. Iwan, J. Appl. Mech. 33(4), 1966. Between two turns all move one way, so steps of any
    length between them are exact.
    """
    x = AMPLITUDE * (1.0 - np.cos(RATE * t))
    force = np.zeros((len(t), len(stiffness)))
    for k in range(1, len(t)):
        force[k] = np.clip(force[k - 1] + stiffness * (x[k] - x[k - 1]), -strength, strength)
    return force


@pytest.mark.parametrize(("n", "end"), [(1, 3.0), (3, 3.0), (12, 3.0), (30, 3.0), (420, 0.3)])
def test_an_iwan_model_of_any_size_is_decided_on_in_machine_code(n, end, searches):
    model, stiffness, strength = iwan(n)
    run = model.simulate(quantity(end, "s"), rtol=1e-9)
    assert not [t for t in searches if t > 0]
    assert "events in Python" not in run.statistics
    t = np.linspace(0, end, 601)  # the turns are among them
    force = carried(t, stiffness, strength)
    for k in {0, n // 2, n - 1}:
        found = run[f"sliders[{k}].f"].at(quantity(t, "s")).m
        assert_allclose(found, force[:, k], rtol=0, atol=1e-7)
