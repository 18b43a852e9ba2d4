"""Large circuits: a ladder against its closed form, a grid with diodes against a program by hand.

End values of the ladder, and of the grid of 100 x 100 nodes, are published with the reference
numbers of the benchmarks: a phasor and 120 modes agree with CVODE to 3e-8, and two methods in C
to 5e-9.
"""

import numpy as np
import pytest
from benches import values
from numpy.testing import assert_allclose
from scipy.integrate import solve_ivp

from benchmarks.circuits import diode_nodes, grid_with_diodes, rc_ladder
from blocks import quantity

LADDER = {10: (-1.72605668566, -1.51060312998), 1000: (-1.81701533354, -1.70253803244)}
GRID = {99: (0.465042619, -3.05624603), 4999: (0.450747694, -3.05662805),
        5050: (0.461579868, -2.51204190), 9999: (0.443872405, -3.05687173)}  # fmt: skip


@pytest.mark.parametrize(("n", "rtol"), [(10, 1e-9), (1000, 1e-8)])
def test_a_ladder_ends_at_the_published_voltages(n, rtol):
    run = rc_ladder(n).simulate("3 ms", rtol=rtol)
    found = [run[f"capacitors[{k}].vc"].final.m for k in (n // 2 - 1, n - 1)]
    assert_allclose(found, LADDER[n], rtol=0, atol=3e-8 * 5)


def grid_by_hand(n, diodes, end):
    """Potentials of all nodes at the end; those without a capacitor by Newton's method."""
    number, size, g = np.arange(n * n), n * n, 0.01
    matrix, source = np.zeros((size, size)), np.zeros(size)
    for a in number:
        for b in ([a + 1] if a % n < n - 1 else []) + ([a + n] if a < size - n else []):
            matrix[a, a] += g
            matrix[b, b] += g
            matrix[a, b] -= g
            matrix[b, a] -= g
    source[::n] = g
    matrix[number[::n], number[::n]] += g
    even = (number // n + number % n) % 2 == 0
    diode = np.isin(number[~even], diode_nodes(n, diodes)) * 1e-12
    inner, outer = matrix[np.ix_(~even, ~even)], matrix[np.ix_(~even, even)]
    guess = np.zeros(np.sum(~even))

    def others(t, v):
        nonlocal guess
        x, wanted = guess, source[~even] * 5 * np.sin(2e3 * np.pi * t) - outer @ v
        for _ in range(100):
            e = np.exp(np.minimum(x / 0.025, 60))
            step = np.linalg.solve(inner + np.diag(diode / 0.025 * e),
                                   wanted - inner @ x - diode * (e - 1))
            share = min(1.0, 0.1 / max(np.abs(step * (diode > 0)).max(), 1e-300))
            x = x + share * step
            if share == 1 and np.abs(step).max() < 1e-13:
                break
        guess = x
        return x

    def slope(t, v):
        flow = source[even] * 5 * np.sin(2e3 * np.pi * t) - matrix[np.ix_(even, even)] @ v
        return (flow - outer.T @ others(t, v)) / 1e-9

    solved = solve_ivp(slope, (0, end), np.zeros(np.sum(even)), method="LSODA", rtol=1e-8,
                       atol=1e-10)  # fmt: skip
    found = np.zeros(size)
    found[even], found[~even] = solved.y[:, -1], others(end, solved.y[:, -1])
    return found


def test_a_grid_with_diodes_ends_where_the_program_by_hand_does():
    n, diodes, end = 6, 3, 3e-4  # a diode carries 11 mA then
    by_hand = grid_by_hand(n, diodes, end)
    run = grid_with_diodes(n, diodes).simulate(quantity(end, "s"), rtol=1e-7)
    found = [values(run, f"nodes[{k}].v", "V")[-1] for k in range(n * n)]
    assert max(run[f"junctions[{k}].i"].final.m for k in range(diodes)) > 1e-3
    assert_allclose(found, by_hand, rtol=0, atol=1e-7 * 5)


def test_steps_beside_many_junctions_are_as_long_as_accuracy_allows():
    """Down an exponential Newton's method needs a round for each thermal voltage, and stages of
    nodes that settle in nanoseconds lie volts apart."""
    pytest.importorskip("llvmlite")
    coarse, fine = (grid_with_diodes(10, 5).simulate("2 ms", rtol=rtol, method="rodas4")
                    for rtol in (1e-3, 1e-8))
    assert coarse.statistics["steps"] < 300
    times = quantity(np.linspace(0, 2e-3, 200), "s")
    for path, unit, allowed in (("nodes.v", "V", 1e-4), ("junctions.i", "A", 1e-6)):
        one, other = (run[path].at(times).to(unit).m for run in (coarse, fine))
        assert_allclose(one, other, rtol=0, atol=allowed)


@pytest.mark.slow
def test_a_grid_of_ten_thousand_nodes_ends_at_the_published_voltages():
    run = grid_with_diodes().simulate("2 ms", rtol=1e-6)
    for node, (half, end) in GRID.items():
        assert_allclose(values(run, f"nodes[{node}].v", "V", [0.5e-3, 2e-3]), [half, end], rtol=0,
                        atol=5e-6 * 5)  # fmt: skip
