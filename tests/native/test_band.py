"""Linear equations whose matrix is a narrow band, against NumPy; runs against full matrices."""

import numpy as np
import pytest
from benches import wire, wired
from numpy.testing import assert_allclose

from benchmarks import domains
from blocks import Parameter, mod, quantity, time, where
from blocks.native.band import factorize_band, solve_band
from blocks.native.linearity import has_steady_derivatives
from blocks.native.stages import ATOL
from blocks.native.steps import IMPLICIT, Banded, workspace
from library.electrical import TwoPort
from library.signal import Integrator, RunningRMS, Sine


def room_of(matrix, upper, lower, order, unit):
    """A work space that holds a matrix of slopes' derivatives, in the order of its band."""
    n = len(matrix)
    work = workspace(n, IMPLICIT, Banded(upper, lower, order, np.ones(n)))
    work.k[ATOL] = unit
    for row in range(n):
        for column in range(max(0, row - lower), min(n, row + upper + 1)):
            work.linear[column, row - column + upper] = matrix[row, column]
    return work


@pytest.mark.parametrize(("upper", "lower"), [(1, 1), (1, 2), (2, 1), (3, 0), (0, 3), (4, 4)])
@pytest.mark.parametrize("diagonal", [0.0, 50.0])
def test_a_band_is_solved_as_by_numpy_whether_rows_are_exchanged_or_not(upper, lower, diagonal):
    rng = np.random.default_rng(8 * upper + lower)
    n, order = 40, rng.permutation(40)
    matrix = np.tril(np.triu(rng.normal(size=(n, n)), -lower), upper)
    work = room_of(matrix, upper, lower, order, rng.uniform(0.1, 10.0, n))
    factorize_band(work, diagonal + 0.1)
    right = rng.normal(size=n)
    b = right.copy()
    solve_band(work, b, np.empty(n))
    whole = (diagonal + 0.1) * np.eye(n) - matrix  # unknown order[j] stands at place j
    missed = np.abs(whole @ b[order] - right[order])
    assert np.all(missed <= 1e-11 * (np.abs(whole) @ np.abs(b[order]) + np.abs(right[order])))


def test_units_of_equations_do_not_change_what_a_band_comes_to():
    rng = np.random.default_rng(2)
    n, order = 30, np.arange(30)
    unit = 10.0 ** rng.uniform(-8, 8, n)
    matrix = np.tril(np.triu(rng.normal(size=(n, n)), -1), 1)
    work = room_of(matrix * unit[:, None] / unit, 1, 1, order, unit)
    factorize_band(work, 0.01)
    b = np.ones(n) * unit
    solve_band(work, b, np.empty(n))
    assert_allclose(b / unit, np.linalg.solve(0.01 * np.eye(n) - matrix, np.ones(n)), rtol=1e-8)


def test_a_ladder_of_sixty_sections_meets_the_one_by_radau():
    model = domains.ladder(60)
    exact = model.simulate("3 ms", method="Radau", rtol=1e-10)["capacitors.vc"].final.m
    for rtol in (1e-4, 1e-6):
        found = model.simulate("3 ms", method="rodas4", rtol=rtol)["capacitors.vc"].final.m
        assert np.abs(found - exact).max() < 5 * rtol  # volts, of 5 V


def test_values_between_the_steps_of_a_band_are_those_of_the_run():
    model = domains.rod(300)
    result = model.simulate("600 s")
    assert result.statistics["method"] == "rodas4"
    exact = model.simulate("600 s", method="Radau", rtol=1e-10)
    times = np.linspace(1.0, 599.0, 13)
    both = [r["cells.T"].at(quantity(times, "s")).m for r in (result, exact)]
    assert np.abs(both[0] - both[1]).max() < 2e-3  # K, of 700 K


def test_a_law_that_ends_at_the_start_leaves_a_band_by_differences_finite():
    """Means over no time, 0/0: the next value of what they are of makes them infinite."""
    n = 60
    model = wired("means", "wave.y mean.u",
                  wave=Sine(frequency="1 Hz"), mean=RunningRMS(count=n), total=Integrator(count=n))
    for k in range(n):
        model.connect(model.mean[k].y, model.total[k].u)
    result = model.simulate("0.5 s", method="rodas4", rtol=1e-8)
    assert_allclose(result["mean[59].y"].final.m, np.sqrt(0.5), rtol=1e-6)
    assert result.statistics.steps > 10


class Tapped(TwoPort):
    """A resistor whose conductance trebles in the second half of every millisecond."""

    resistance = Parameter("50 ohm", above=0)

    def equations(self):
        late = mod(time, quantity("1 ms")) > quantity("0.5 ms")
        yield self.i == self.v / self.resistance * where(late, 3.0, 1.0)


def tapped(n):
    """A ladder of n sections behind a sine, with such a resistor at its end."""
    model = domains.ladder(n)
    wire(model, "capacitors[-1].p tap.p", "ground.V tap.n", tap=Tapped())
    return model


@pytest.mark.parametrize("n", [60, 310])  # of more unknowns than 300, by loops
def test_derivatives_that_events_change_are_found_anew_after_them(n):
    model = tapped(n)
    runs = [model.simulate("2.2 ms", method=method, rtol=rtol)
            for method, rtol in (("rodas4", 1e-7), ("Radau", 1e-9))]
    assert len(runs[0].events) == 4
    assert has_steady_derivatives(runs[0].recording.problem.system)
    t = quantity(np.linspace(0, 2.2e-3, 67), "s")
    values = [run["capacitors.vc"].at(t).m for run in runs]
    assert_allclose(values[0], values[1], rtol=0, atol=3e-6)
    # steps that are taken again for a reader end where they ended
    ends = runs[0]["capacitors.vc"].at(runs[0].time[[5, 20, 50]]).m
    assert_allclose(ends, runs[0]["capacitors.vc"].m[:, [5, 20, 50]], rtol=0, atol=1e-13)


def test_a_law_that_bends_has_no_steady_derivatives():
    rod = domains.rod(60).simulate("1 s").recording.problem.system  # radiates at its end
    assert not has_steady_derivatives(rod)
