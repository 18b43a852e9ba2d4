"""The published step control on a block dragged over a dry floor by a spring.

    m x'' = -k (x - z) - F,  z = 2 min(t, 2),  x(0) = x'(0) = 0,  0 <= t <= 4

with friction laws F(x', P), P the force of the spring. Counted are the rows that a run returns:
4 a step + 1 for ode45, 1 a step + 1 for ode23s. Counts in wider bands, and those of ode23s, are
compared on models of components, in friction/test_source_003.
"""

import csv
from math import cos, pi, sin, tanh
from pathlib import Path

import numpy as np
import pytest

from blocks.solvers import METHODS

MASS, STIFFNESS, SLIDING, BREAKAWAY = 1.0, 90.0, 10.0, 10.0
RTOL, ATOL = 1e-3, 1e-6


def sign(a):
    return (a > 0) - (a < 0)


def clip(a):
    return min(max(a, -1.0), 1.0)


def a1(a, b):
    return a * a / (b * b) * (3 - 2 * abs(a) / b)


def a3(a, b):
    return cos(0.5 * pi * (3 + a / b))


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
    10: lambda v, p, eps: SLIDING * clip(v / eps),
    11: lambda v, p, eps: SLIDING * tanh(v / eps)}


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
    solver = METHODS[method](DraggedBlock(law, eps), 0.0, np.zeros(2), t_end=4.0, rtol=RTOL,
                                  atol=ATOL)
    while solver.t < 4.0:
        assert not solver.advance(4.0).failure
    assert solver.t == 4.0
    return (4 if method == "ode45" else 1) * solver.work.steps + 1, solver


def reference():
    path = Path(__file__).parents[1] / "data" / "published_step_counts.csv"
    with path.open(encoding="utf-8") as file:
        lines = [line for line in file if not line.startswith("#")]
    return {
        (row["solver"], int(row["model"]), float(row["eps"])): int(row["n"])
        for row in csv.DictReader(lines)}


COUNTS = reference()


@pytest.mark.parametrize("model", LAWS)
def test_ode45_takes_the_reference_number_of_steps_in_narrow_bands(model):
    n, expected = rows("ode45", LAWS[model], 1e-3)[0], COUNTS["ode45", model, 1e-3]
    assert abs(n - expected) <= (4 if expected <= 1000 else 0.01 * expected), (n, expected)


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
    solver = METHODS["ode23s"](GlidesIntoItsBand(rate), 0.0, start, t_end=0.1, rtol=RTOL,
                                    atol=ATOL)
    while solver.t < 0.1 and solver.work.steps < 200:
        assert not solver.advance(0.1).failure
    assert solver.t == 0.1
    assert solver.y[0] - solver.y[2] == pytest.approx(3e-3, abs=3 * RTOL * solver.y[0])


def test_ode45_count_of_awrejcewicz_in_the_narrowest_band_is_bounded():
    # The reference 329 cannot be met or missed: relative changes of k by 1e-13 to
    # 1e-8 scatter the count between 357 and 641.
    assert 250 < rows("ode45", LAWS[4], 1e-4)[0] < 1000


def test_ode23s_is_cheapest_in_very_narrow_bands_with_awrejcewicz_law():
    n = {eps: rows("ode23s", LAWS[4], eps)[0] for eps in (1e-2, 1e-3, 1e-4, 1e-5, 1e-6)}
    assert min(n[1e-4], n[1e-5]) <= min(n.values()) * 1.02


def test_ode45_spends_six_evaluations_a_try_and_one_to_start():
    _, solver = rows("ode45", LAWS[2], 1e-1)
    assert (solver.work.steps, solver.work.rejected) == (104, 23)
    assert solver.work.residuals == 6 * (104 + 23) + 1


def test_a_step_follows_the_motion_between_its_ends():
    class Line:
        size, differential = 1, np.ones(1, dtype=bool)

        def slope(self, t, y):
            return np.array([cos(t)])

    solver = METHODS["ode45"](Line(), 0.0, np.zeros(1), t_end=1.0, rtol=1e-6, atol=1e-6)
    step = solver.advance(1.0)
    t = step.t * np.array([0.25, 0.5, 0.75])
    assert step.dense(t)[0] == pytest.approx([sin(s) for s in t], abs=1e-6)
