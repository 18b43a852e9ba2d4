"""The Jacobian of the implicit form, against central differences of its residual."""

from __future__ import annotations

import numpy as np
from numpy.testing import assert_allclose
from parts import Pendulum, alone

from blocks.system import DaeProblem, Problem
from library.electrical import Capacitor, DCVoltageSource, Diode, ElectricalReference, Resistor

C = 7.0  # coefficient of the slopes


def _agrees(system, t=0.3):
    rng = np.random.default_rng(0)
    p = DaeProblem(system, system.parameters(), rng.uniform(0.5, 2, system.nx),
                   rng.uniform(0.5, 2, system.nz))
    p.x[:], p.z[:] = rng.uniform(0.2, 0.8, system.nx), rng.uniform(0.2, 0.8, system.nz)
    p.choose_states(t)
    y, slope, h = p.start_vector(), rng.standard_normal(p.size), 1e-6
    found = p.residual_jacobian(t, y, slope, C)
    differences = np.empty((p.size, p.size))
    for k, e in enumerate(np.eye(p.size)):
        moved = C * h * e * p.differential
        differences[:, k] = (p.residual(t, y + h * e, slope + moved)
                             - p.residual(t, y - h * e, slope - moved)) / (2 * h)
    assert_allclose(found.toarray(), differences, rtol=1e-6, atol=1e-6 * abs(differences).max())
    assert found.has_sorted_indices
    return p


def test_with_states_that_constraints_tie():
    assert len(_agrees(alone(Pendulum()).compile()).tied)


def looped():
    """A diode between a source and a capacitor: its voltage follows from a nonlinear equation."""
    model = alone(DCVoltageSource(voltage="1 V"))
    model.first, model.second = Resistor(resistance="1 ohm"), Resistor(resistance="2 ohm")
    model.diode = Diode(model="exponential", thermal_voltage="1 V", saturation_current="1 A")
    model.ground = ElectricalReference()
    model.store = Capacitor(capacitance="1 F")
    model.connect(model.c.p, model.first.p)
    model.connect(model.first.n, model.diode.p, model.second.p)
    model.connect(model.second.n, model.store.p)
    model.connect(model.c.n, model.diode.n, model.store.n, model.ground.V)
    return model


def test_with_an_unknown_of_a_loop():
    assert _agrees(looped().compile()).system.nz


def test_a_trial_point_far_away_does_not_spoil_the_points_after_it():
    system = looped().compile()
    problem = Problem(system, system.parameters(), np.ones(system.nx), np.ones(system.nz))
    problem.settle(0.0)
    slope = problem.slope(0.0, np.zeros(1))
    assert slope[0] > 0
    problem.z[:] = np.inf  # as a rejected step may leave it
    assert_allclose(problem.slope(0.0, np.zeros(1)), slope, rtol=1e-12)
