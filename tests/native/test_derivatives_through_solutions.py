"""Derivatives of slopes in machine code, through what is solved for at every point.

Each against central differences of the slopes themselves.
"""

import numpy as np
import pytest
from numpy.testing import assert_allclose

from blocks import Model
from blocks.machine.signatures import run_code
from blocks.native.matrices import band_of
from blocks.native.method import Rodas4
from library.isothermal_liquid import (
    Cap,
    ConstantVolumeChamber,
    FlowResistance,
    Pipe,
    Reservoir,
    TranslationalMechanicalConverter,
)
from library.thermal import ConductiveHeatTransfer, RadiativeHeatTransfer, ThermalMass
from library.translational import Mass, Reference, Spring, TranslationalFriction


def pipes(inertia):
    """Many in a row, at rising pressures: loops of one or two unknowns between them."""
    model = Model("pipes")
    model.lake, model.cap = Reservoir(pressure_spec="specified", pressure="0.9 MPa"), Cap()
    end = model.lake.A
    for k in range(52):
        part = model.add(f"part{k}", Pipe(inertia=inertia, p_I=f"{1 + 0.02 * k} MPa"))
        model.connect(end, part.A)
        end = part.B
    model.connect(end, model.cap.A)
    return model


def radiators():
    """Sixty bodies in a row that conduct heat, with radiation behind every fourth wire."""
    model = Model("radiators")
    end = model.add("body", ThermalMass(T="300 K")).M
    for k in range(1, 60):
        body = model.add(f"body{k}", ThermalMass(T=f"{300 + 3 * k} K"))
        wire = model.add(f"wire{k}", ConductiveHeatTransfer())
        if k % 4 == 0:
            gap = model.add(f"gap{k}", RadiativeHeatTransfer())
            model.connect(end, gap.A)
            end = gap.B
        model.connect(end, wire.A)
        model.connect(wire.B, body.M)
        end = body.M
    return model


def pressed_friction():
    """A piston between two chambers with a nonlinear leak; it rubs, and so does what it pulls."""
    model = Model("piston")
    model.full, model.ground = ConstantVolumeChamber(p_I="5 MPa"), Reference()
    model.leak = FlowResistance(pressure_drop="1 MPa", mass_flow="0.05 kg/s")
    model.piston = TranslationalMechanicalConverter(
        interface_area="2 cm^2", dead_volume="0.1 l", p_I="4 MPa")  # fmt: skip
    model.body, model.other = Mass(v="1 m/s"), Mass(mass="2 kg", v="0.5 m/s")
    model.spring = Spring(stiffness="2 kN/m", x="1 cm")
    model.connect(model.full.A, model.leak.A)
    model.connect(model.leak.B, model.piston.A)
    model.connect(model.piston.R, model.body.M, model.spring.R)
    model.connect(model.piston.C, model.ground.V)
    model.connect(model.spring.C, model.other.M)
    for k, ends in enumerate(((model.body.M, model.other.M), (model.other.M, model.ground.V))):
        rub = model.add(f"rub{k}", TranslationalFriction(law="coulomb", coulomb_force="20 N"))
        model.connect(rub.R, ends[0])
        model.connect(rub.C, ends[1])
    return model


def method_of(model, before="rodas4"):
    problem = model.simulate("1 ns", method=before).recording.problem.copy_for_reading()
    y = problem.solver_vector()
    if problem.laws is not None:
        problem.laws.modes = np.ones(problem.laws.size, dtype=int)
        problem.slope(0.0, y)
        assert Rodas4.fits(problem, 0.0)
    return Rodas4(problem, 0.0, y, t_end=1.0, rtol=1e-6, atol=np.full(y.size, 1e-8))


def differences(method, n):
    """By the first unknowns, those of the model; the columns that machine code has to give."""
    code, x, at, columns = method.code, method.x, np.zeros(1), []
    for j in range(n):
        step = 1e-5 * max(abs(x[j]), 1e-2) * (np.arange(x.size) == j)
        sides = np.empty((2, x.size))
        for side, sign in zip(sides, (1, -1), strict=True):
            run_code(code.slope, at, x + sign * step, code.p, code.q, side)
        columns.append((sides[0] - sides[1])[:n] / (2 * step[j]))
    return np.column_stack(columns)


@pytest.mark.parametrize(("model", "large"), [
    (lambda: pipes(False), True), (radiators, False),
    pytest.param(lambda: pipes(True), True, marks=pytest.mark.slow)])
def test_derivatives_in_a_direction_are_those_through_all_loops(model, large):
    method = method_of(model())
    assert method.equations.large == large
    n, x, code, at = method.problem.system.nx, method.x, method.code, np.zeros(1)
    expected, found = differences(method, n), np.empty((n, n))
    direction = np.full(x.size, np.nan)
    run_code(code.linear, at, x, code.p, code.q, direction)  # values, for all directions
    for j in range(n):
        direction = (np.arange(x.size) == j).astype(float)
        run_code(code.linear, at, x, code.p, code.q, direction)
        found[:, j] = direction[:n]
    largest = np.abs(expected).max(axis=0)
    assert_allclose(found / largest, expected / largest, atol=1e-5, rtol=0)
    band = band_of(method.problem.system, directions=True)
    row, column = (np.argsort(band.order)[k] for k in np.nonzero(found))
    assert band.upper == (column - row).max() == 1
    assert band.lower == (row - column).max() == 1


def test_the_first_implicit_method_has_room_for_what_derivatives_come_to():
    method = method_of(pipes(False), before="dopri5")
    assert method.q.size > method.equations.offsets[-1] + method.equations.scratch


def test_efforts_and_unknowns_that_are_solved_for_move_with_states():
    method = method_of(pressed_friction())
    n, size = method.problem.system.nx, method.x.size
    expected, found = differences(method, n), np.zeros((size + 1, size))
    run_code(method.code.linear, np.zeros(1), method.x, method.code.p, method.code.q, found)
    assert method.problem.laws.held_modes.length > 0  # efforts are solved for
    assert method.problem.system.nz
    largest = np.abs(expected).max(axis=0)
    assert_allclose(found[:n, :n] / largest, expected / largest, atol=1e-6, rtol=0)
