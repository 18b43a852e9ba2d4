"""Do expressions that are written as loops over their equal patterns come to the same?"""

import casadi as ca
import numpy as np
import pytest
from numpy.testing import assert_allclose

from benchmarks.models import blocks_on_belt
from blocks.machine.signatures import run_code
from blocks.native.equations import REPEATS, equations_of, written
from blocks.native.loop_text import LoopText
from blocks.native.repetitions import Repetitions
from blocks.native.text import Beginning, _own_function
from tests.nonsmooth.modes.test_kept_factors import pairs_on_floors, shaken_masses

PLACES = {0: ("%x", 0), 1: ("%p", 0)}


def in_loops(function, which, x, p):
    """A result of a function of x and p, by machine code in loops; and the number of its lines."""
    text = LoopText()
    room = Repetitions(function).write(text, which, PLACES, 0)
    out = np.full(function.numel_out(which), np.nan)
    run_code(written(text, Beginning()), np.zeros(1), x, p, np.zeros(room + 1), out)
    return out, len(text.lines)


def springs_in_a_row(n):
    """Forces between neighbours, which two of them need; a sum of all, numbers and copies."""
    x, p = ca.SX.sym("x", n), ca.SX.sym("p", n)
    force = ca.tanh(p[1:] * ca.diff(x)) + ca.if_else(x[1:] > 0.3, ca.exp(-x[1:]), 2.0)
    pull = ca.vertcat(0, force) - ca.vertcat(force, 0)
    odd = ca.vertcat(*(ca.SX(k % 3) * x[k] - p[k] for k in range(n)))
    return ca.Function("row", [x, p], [
        pull, ca.vertcat(ca.sum1(force), force, x, 3.0, ca.SX(2, 1), pull[0], -0.0), odd])


@pytest.mark.parametrize("n", [2, 3, 40, 400])
@pytest.mark.parametrize("which", [0, 1, 2])
def test_loops_over_equal_patterns_give_what_casadi_gives(n, which):
    function, random = springs_in_a_row(n), np.random.default_rng(n)
    x, p = random.normal(size=n), random.uniform(1, 2, n)
    out, _ = in_loops(function, which, x, p)
    assert_allclose(out, function(x, p)[which].full().ravel(), rtol=1e-13, atol=1e-13)


@pytest.mark.parametrize("which", [0, 2])
def test_the_text_does_not_grow_with_the_number_of_equal_patterns(which):
    few, many = (in_loops(springs_in_a_row(n), which, np.ones(n), np.ones(n))[1] for n in (40, 400))
    assert many <= few


def arm(n):
    """Directions and places of links, each from the one before; and all in another order."""
    x, p = ca.SX.sym("x", n), ca.SX.sym("p", n)
    angle, place, found = ca.SX(0), ca.SX(0), []
    for k in range(n):
        angle = angle + x[k]
        place = place + p[k] * ca.cos(angle) + (0.5 if k % 7 == 3 else 0.0)
        found += [place, ca.if_else(angle > 1, place * p[k], -angle)]
    return ca.Function("arm", [x, p], [ca.vertcat(*found)])


@pytest.mark.parametrize("n", [3, 40, 200])
def test_patterns_that_follow_from_each_other_are_taken_in_turn(n):
    function, random = arm(n), np.random.default_rng(n)
    x, p = random.normal(size=n), random.uniform(1, 2, n)
    out, lines = in_loops(function, 0, x, p)
    assert_allclose(out, function(x, p).full().ravel(), rtol=1e-13, atol=1e-13)
    assert lines < 400  # however long the arm is


def test_results_of_a_function_of_its_own_go_where_they_are_wanted(monkeypatch):
    monkeypatch.setattr("blocks.native.text.REPEATS", 0)
    function, random = arm(40), np.random.default_rng(7)
    x, p, places = random.normal(size=40), random.uniform(1, 2, 40), random.permutation(100)[:80]
    code = _own_function(function, places.tolist(), PLACES)
    out = np.full(100, np.nan)
    run_code(code, np.zeros(1), x, p, np.zeros(1), out)
    assert_allclose(out[places], function(x, p).full().ravel(), rtol=1e-13, atol=1e-13)
    assert np.isnan(np.delete(out, places)).all()


@pytest.mark.parametrize("build", [lambda: blocks_on_belt(100), lambda: pairs_on_floors(60),
                                   shaken_masses])
def test_slopes_margins_and_values_of_held_modes_are_those_of_the_expressions(build, monkeypatch):
    """At random points and modes, with K as it follows from these."""
    monkeypatch.setattr("blocks.native.equations.REPEATS", 0)
    problem = build().simulate("1 ms", method="dopri5")._recording.problem
    problem.system.cache.pop("native", None)
    laws, random = problem.laws, np.random.default_rng(3)
    equations = equations_of(problem.system, problem.p, laws)
    held, n, nx = laws.held_modes, laws.size, problem.system.nx
    d = laws.delassus.matrix(problem, 0.0)
    wanted = [held.expressions["slope"],
              ca.vertcat(held.expressions["crossings"], laws.margin_expressions()),
              held.present]
    function = ca.Function("held", held.symbols, [ca.densify(sx) for sx in wanted])
    codes = [equations.slope, equations.crossings, equations.present]
    p = np.array(problem.p, dtype=float)
    for _ in range(5):
        modes, x = random.integers(-1, 2, n), random.normal(size=nx)
        constants = held.constants(problem, modes, d)
        q = equations.with_room(np.concatenate([problem.z, problem.m, problem.d, constants,
                                                np.ones(nx), np.zeros(n)]))
        k = ca.DM(held.symbols[-1].sparsity(), constants[n:])
        exact = function(0.3, x, problem.z, p, problem.m, problem.d, modes, k)
        for code, values in zip(codes, exact, strict=True):
            out = np.full(values.numel(), np.nan)
            run_code(code, np.array([0.3]), x, p, q, out)
            assert_allclose(out, values.full().ravel(), rtol=1e-12, atol=1e-12)


def test_small_models_are_written_as_one_piece():
    model = shaken_masses()
    run = model.simulate("1 ms", method="dopri5")
    problem = run.recording.problem
    assert equations_of(problem.system, problem.p, problem.laws).scratch == 0
    assert REPEATS > 100
