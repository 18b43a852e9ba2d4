"""Factors that pass zeros over are those of LAPACK."""

from __future__ import annotations

import casadi as ca
import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy.linalg.lapack import dgetrf, dgetrs

from blocks import Model
from blocks.assembly import tape
from blocks.native.sparse_factors import (
    factorize_passing_zeros,
    is_mostly_zeros,
    room_for_exchanges,
)
from library.electrical import (
    Capacitor,
    DCVoltageSource,
    ElectricalReference,
    Resistor,
    Switch,
)


def factors(matrix):
    n = len(matrix)
    kept, exchanges = np.array(matrix.T, order="C"), np.zeros(room_for_exchanges(n), dtype=np.int64)
    failed = factorize_passing_zeros(kept.ctypes.data, exchanges.ctypes.data, n)
    return failed, kept.T, exchanges.view(np.int32)[:n]


@pytest.mark.parametrize("n", [1, 2, 35, 60])
def test_factors_and_exchanges_are_those_of_lapack(n):
    rng = np.random.default_rng(n)
    matrix = np.where(rng.random((n, n)) < 4 / n, rng.standard_normal((n, n)), 0.0)
    matrix[np.arange(n), rng.permutation(n)] += 1 + rng.random(n)  # hardly any on the diagonal
    failed, found, exchanges = factors(matrix)
    lu, pivots, _ = dgetrf(matrix)
    assert failed == 0
    assert_array_equal(exchanges, pivots + 1)
    assert_allclose(found, lu, rtol=1e-9, atol=1e-12)
    x, _ = dgetrs(found, exchanges - 1, np.ones(n))
    assert_allclose(matrix @ x, 1, rtol=1e-8)


@pytest.mark.parametrize("wrong", [0.0, np.nan])
def test_what_is_singular_or_no_number_has_none(wrong):
    matrix = np.eye(4)
    matrix[2, 2] = wrong
    assert factors(matrix)[0] == 1


def test_chains_are_worth_it_and_full_matrices_are_not():
    assert is_mostly_zeros(ca.Sparsity.band(100, 1) + ca.Sparsity.diag(100))
    assert not is_mostly_zeros(ca.Sparsity.dense(100, 100))
    assert not is_mostly_zeros(ca.Sparsity.diag(10))  # LAPACK takes no longer
    assert not is_mostly_zeros(ca.Sparsity(100, 100))  # singular


def string_of_cells(switch, n=32):
    """Sources behind 1 ohm, each with 3 ohm beside it, in series: they charge 1 mF."""
    model = Model("string")
    model.emf, model.inner = DCVoltageSource(count=n, voltage="2 V"), Resistor(count=n)
    model.beside, model.ground = Resistor(count=n, resistance="3 ohm"), ElectricalReference()
    model.store, model.main = Capacitor(capacitance="1 mF"), switch
    model.connect(model.emf.p, model.inner.n)
    model.connect(model.inner.p, model.beside.p)
    model.connect(model.beside.n, model.emf.n)
    model.connect(model.beside[:-1].p, model.beside[1:].n)
    model.connect(model.beside[-1].p, model.main.p)
    model.connect(model.main.n, model.store.p)
    model.connect(model.store.n, model.beside[0].n, model.ground.V)
    return model


@pytest.mark.parametrize("ideal", [False, True])
def test_a_large_loop_of_a_string_of_cells_charges_as_one_source(ideal, monkeypatch):
    monkeypatch.setattr(tape, "LARGEST_ELIMINATED", 12)  # beside ideal elements, too
    own, switch = (0, Switch(model="ideal", gate=1)) if ideal else (1, Resistor())
    run = string_of_cells(switch).simulate("30 ms", method="rodas4", rtol=1e-9)
    assert run.statistics["algebraic unknowns"] >= 30
    t = run.time.to("s").m
    exact = 48 * (1 - np.exp(-t / (1e-3 * (24 + own))))  # 32 times 1.5 V behind 0.75 ohm
    assert_allclose(run["store.v"].to("V").m, exact, atol=1e-6)
