"""The published step counts of a block dragged over a dry floor by a spring.

    m x'' = -k (x - z) - F,  z = 2 min(t, 2),  x(0) = x'(0) = 0,  0 <= t <= 4

with eleven friction laws F(x', P), P the force of the spring. Counted are the
rows that a run returns: 4 a step + 1 for ode45, 1 a step + 1 for ode23s.
"""

import csv
from math import cos, pi, sin, tanh
from pathlib import Path

import numpy as np
import pytest

from blocks.solvers import method_named

MASS, STIFFNESS, SLIDING, BREAKAWAY = 1.0, 90.0, 10.0, 10.0
RTOL, ATOL = 1e-3, 1e-6


def sign(a):
    return (a > 0) - (a < 0)


def clip(a):
    return min(max(a, -1.0), 1.0)


def smooth_step(s, w):
    """3 u^2 - 2 u^3 where 3 w u + (3 - 9 w) u^2 + (6 w - 2) u^3 = s, for s in [0, 1]."""
    low, high, u = 0.0, 1.0, s
    for _ in range(60):
        miss = ((6 * w - 2) * u + 3 - 9 * w) * u * u + 3 * w * u - s
        if abs(miss) < 1e-15:
            break
        low, high = (u, high) if miss < 0 else (low, u)
        rise = (3 * (6 * w - 2) * u + 2 * (3 - 9 * w)) * u + 3 * w
        u = u - miss / rise if rise else 0.5 * (low + high)
        if not low < u < high:
            u = 0.5 * (low + high)
    return (3 - 2 * u) * u * u


def a1(a, b):
    return a * a / (b * b) * (3 - 2 * abs(a) / b)


def a3(a, b):
    return cos(0.5 * pi * (3 + a / b))


def a5(a, b, w=0.25):
    return 2 * smooth_step(0.5 * (a + b) / b, w) - 1


def a6(a, b, w=0.25):
    return smooth_step(abs(a) / b, 2 * w)


def karnopp(v, p, eps):
    if abs(v) > eps:
        return SLIDING * sign(v)
    return p if abs(p) < BREAKAWAY else BREAKAWAY * sign(p)


def quinn_like(inner, outer):
    def law(v, p, eps):
        share = inner(p, BREAKAWAY) if abs(p) <= BREAKAWAY else sign(p)
        shifted = v + eps * share
        if abs(shifted) > eps:
            return SLIDING * sign(shifted)
        return BREAKAWAY * outer(shifted, eps)

    return law


def kikuuwe_like(outer):
    def law(v, p, eps):
        s = p + BREAKAWAY * v / eps
        return SLIDING * sign(s) if abs(s) > BREAKAWAY else BREAKAWAY * outer(s, BREAKAWAY)

    return law


def awrejcewicz_like(a):
    """As printed: no force at v = 0 under |P| >= F_G, an oversight that the counts show."""

    def law(v, p, eps):
        if abs(v) > eps:
            return SLIDING * sign(v)
        if abs(p) < BREAKAWAY:
            return a(v, eps) * (-p + BREAKAWAY * sign(v)) + p
        if sign(v) * sign(p) > 0:
            return BREAKAWAY * sign(p)
        return (2 * a(v, eps) - 1) * BREAKAWAY * sign(v)

    return law


def ratio(a, b):
    return a / b


LAWS = {
    1: karnopp,
    2: quinn_like(ratio, ratio),
    3: kikuuwe_like(ratio),
    4: awrejcewicz_like(a1),
    5: quinn_like(a3, a3),
    6: quinn_like(a3, lambda a, b: a1(a, b) * sign(a)),
    7: quinn_like(a5, a5),
    8: kikuuwe_like(a5),
    9: awrejcewicz_like(a6),
    10: lambda v, p, eps: SLIDING * clip(v / eps),
    11: lambda v, p, eps: SLIDING * tanh(v / eps),
}


class DraggedBlock:
    size = 2
    differential = np.ones(2, dtype=bool)

    def __init__(self, law, eps):
        self.law, self.eps = law, eps

    def slope(self, t, y):
        t, x, v = float(t), float(y[0]), float(y[1])
        p = STIFFNESS * (2.0 * min(t, 2.0) - x)
        return np.array([v, (p - self.law(v, p, self.eps)) / MASS])


def rows(method, law, eps):
    """Rows returned for the published problem at the published tolerances."""
    solver = method_named(method)(
        DraggedBlock(law, eps), 0.0, np.zeros(2), t_end=4.0, rtol=RTOL, atol=ATOL
    )
    while solver.t < 4.0:
        step = solver.advance(4.0)
        assert not step.failure
    assert solver.t == 4.0
    return (4 if method == "ode45" else 1) * solver.work.steps + 1, solver


def reference():
    path = Path(__file__).parents[1] / "data" / "published_step_counts.csv"
    with path.open(encoding="utf-8") as file:
        lines = [line for line in file if not line.startswith("#")]
    return {
        (row["solver"], int(row["model"]), float(row["eps"])): int(row["n"])
        for row in csv.DictReader(lines)
    }


COUNTS = reference()


def cases(solver, models, all_eps):
    return [(model, eps, COUNTS[solver, model, eps]) for model in models for eps in all_eps]


def agrees(n, expected):
    """Exact or one step off; one in a hundred for the long runs."""
    return abs(n - expected) <= (4 if expected <= 1000 else 0.01 * expected)


@pytest.mark.parametrize(
    ("model", "eps", "printed"), [(1, 1e-1, 193), (1, 1e-3, 189), (2, 1e-1, 417), (4, 1e-1, 229)]
)
def test_ode45_returns_as_many_rows_as_were_printed(model, eps, printed):
    n, _ = rows("ode45", LAWS[model], eps)
    assert n == printed


@pytest.mark.parametrize(
    ("model", "eps", "expected"), cases("ode45", (1, 2, 3, 4, 5, 6, 10, 11), (1e-1, 1e-2))
)
def test_ode45_takes_the_reference_number_of_steps(model, eps, expected):
    n, _ = rows("ode45", LAWS[model], eps)
    assert agrees(n, expected), (n, expected)


@pytest.mark.parametrize(
    ("model", "eps", "expected"), cases("ode45", (1, 2, 3, 4, 5, 6, 10, 11), (1e-3,))
)
def test_ode45_takes_the_reference_number_of_steps_in_narrow_bands(model, eps, expected):
    n, _ = rows("ode45", LAWS[model], eps)
    assert agrees(n, expected), (n, expected)


@pytest.mark.parametrize(
    ("model", "eps", "expected"), cases("ode23s", range(1, 12), (1e-1, 1e-2, 1e-3))
)
def test_ode23s_takes_the_reference_number_of_steps(model, eps, expected):
    n, _ = rows("ode23s", LAWS[model], eps)
    assert n == pytest.approx(expected, rel=0.1)


class GlidesIntoItsBand:
    """v' = -8 until v - w <= 3 mm/s, then as the cart below: w' = 0 or 1. x' = v - w."""

    size = 3
    differential = np.ones(3, dtype=bool)

    def __init__(self, rate):
        self.rate = rate

    def slope(self, t, y):
        v, _, w = y
        return np.array([(-8.0 if v - w > 3e-3 else 0.0) + self.rate, v - w, self.rate])


@pytest.mark.parametrize("rate", [0.0, 1.0])  # in the second case no unknown stands still
@pytest.mark.parametrize("above", [1e-8, 6e-7, 1e-6, 3e-5])
def test_ode23s_does_not_stand_for_ever_before_a_band_of_rest(above, rate):
    start = np.array([3e-3 + above, 0.0, 0.0])
    solver = method_named("ode23s")(
        GlidesIntoItsBand(rate), 0.0, start, t_end=0.1, rtol=RTOL, atol=ATOL
    )
    while solver.t < 0.1 and solver.work.steps < 200:
        assert not solver.advance(0.1).failure
    assert solver.t == 0.1
    assert solver.y[0] - solver.y[2] == pytest.approx(3e-3, abs=3 * RTOL * solver.y[0])


@pytest.mark.parametrize(
    ("model", "bands"),
    [(1, (1e-2, 1e-3, 1e-4)), (4, (1e-1, 1e-2, 1e-3))],  # 4 at 1e-4: see below
)
def test_ode45_counts_of_laws_that_do_not_stiffen_hardly_grow(model, bands):
    n = [rows("ode45", LAWS[model], eps)[0] for eps in bands]
    assert max(b / a for a, b in zip(n, n[1:], strict=False)) < 1.6


def test_ode45_count_of_awrejcewicz_in_the_narrowest_band_is_bounded():
    # The reference 329 cannot be met or missed: relative changes of k by 1e-13 to
    # 1e-8 scatter the count between 357 and 641.
    assert 250 < rows("ode45", LAWS[4], 1e-4)[0] < 1000


@pytest.mark.parametrize("model", [2, 4, 7, 8, 11, *(
    pytest.param(model, marks=pytest.mark.slow) for model in (3, 5, 6, 10))])
def test_ode23s_is_cheapest_in_very_narrow_bands(model):
    n = {eps: rows("ode23s", LAWS[model], eps)[0] for eps in (1e-2, 1e-3, 1e-4, 1e-5, 1e-6)}
    assert min(n[1e-4], n[1e-5]) <= min(n.values()) * 1.02


@pytest.mark.slow
def test_ode45_counts_of_quinn_grow_tenfold_with_a_tenth_of_the_band():
    n = [rows("ode45", LAWS[2], eps)[0] for eps in (1e-2, 1e-3, 1e-4)]
    assert all(9 < b / a < 11 for a, b in zip(n, n[1:], strict=False))


@pytest.mark.slow
def test_ode45_counts_grow_with_the_weight_of_the_spline_laws():
    n7, n8 = [], []
    for w in (0.05, 0.25, 0.45):

        def spline(a, b, w=w):
            return a5(a, b, w)

        n7.append(rows("ode45", quinn_like(spline, spline), 1e-3)[0])
        n8.append(rows("ode45", kikuuwe_like(spline), 1e-3)[0])
    assert n7[0] < n7[1] < n7[2]
    assert n8[0] < n8[1] < n8[2]
    assert all(abs(a - b) < 0.01 * a for a, b in zip(n7, n8, strict=True))


@pytest.mark.parametrize("w", [0.1, 0.25, 0.4])
def test_the_even_spline_joins_zero_and_one_with_zero_slopes(w):
    assert a6(0.0, 1.0, w) == 0.0
    assert a6(1.0, 1.0, w) == a6(-1.0, 1.0, w) == 1.0
    assert a6(1e-6, 1.0, w) < 1e-9
    assert 1.0 - a6(1.0 - 1e-6, 1.0, w) < 1e-9


def test_ode45_spends_six_evaluations_a_try_and_one_to_start():
    _, solver = rows("ode45", LAWS[2], 1e-1)
    assert (solver.work.steps, solver.work.rejected) == (104, 23)
    assert solver.work.residuals == 6 * (104 + 23) + 1


def test_a_step_follows_the_motion_between_its_ends():
    class Line:
        size, differential = 1, np.ones(1, dtype=bool)

        def slope(self, t, y):
            return np.array([cos(t)])

    solver = method_named("ode45")(Line(), 0.0, np.zeros(1), t_end=1.0, rtol=1e-6, atol=1e-6)
    step = solver.advance(1.0)
    t = step.t * np.array([0.25, 0.5, 0.75])
    assert step.dense(t)[0] == pytest.approx([sin(s) for s in t], abs=1e-6)
