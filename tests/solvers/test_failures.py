"""Numerical trouble is a value: the step says what happened, the method stays where it was."""

import gc
import math

import numpy as np
import pytest
import scipy.sparse as sp

from blocks.solvers import METHODS
from blocks.solvers.trouble import NotFinite

from .problems import decay, make, run

STOPS_AT = 1.0


class Trapped:
    """y' = -y until t = 1; then the given trouble."""

    size, differential = 2, np.ones(2, dtype=bool)

    def __init__(self, trouble):
        self.trouble = trouble

    def slope(self, t, y):
        if t > STOPS_AT:
            if self.trouble == "nan":
                return np.array([-y[0], np.nan])
            raise self.trouble
        return -y

    def slope_jacobian(self, t, y):
        return sp.csc_matrix(-np.eye(2))

    def residual(self, t, y, slope):
        return slope - self.slope(t, y)

    def residual_jacobian(self, t, y, slope, c):
        return sp.csc_matrix((c + 1.0) * np.eye(2))


@pytest.mark.parametrize("name", METHODS)
def test_an_exception_of_the_equations_ends_as_a_failed_step(name, capfd):
    trouble = FloatingPointError("the oil is too hot")
    method = make(name, Trapped(trouble), [1.0, 2.0], 3.0)
    last = run(method, 3.0)[-1]
    assert last.failure.startswith(f"{name} stopped at t = ")
    assert last.failure.endswith("the equations failed: FloatingPointError: the oil is too hot")
    assert last.cause is trouble
    assert last.t == last.t_old == method.t <= STOPS_AT
    assert method.y == pytest.approx(np.array([1, 2]) * np.exp(-method.t), rel=1e-2)
    assert last.dense(method.t) == pytest.approx(method.y)
    assert capfd.readouterr() == ("", "")


@pytest.mark.parametrize("name", METHODS)
def test_nan_ends_as_a_failed_step_near_the_place_that_names_the_unknown(name, capfd):
    method = make(name, Trapped("nan"), [1.0, 2.0], 3.0)
    last = run(method, 3.0)[-1]
    assert "finite" in last.failure or "inf or nan" in last.failure
    assert last.worst == (1,)
    assert method.t == pytest.approx(STOPS_AT, abs=3e-3)
    assert method.work.residuals < 2000
    assert capfd.readouterr() == ("", "")


@pytest.mark.parametrize("name", METHODS)
def test_a_failed_method_goes_on_after_a_restart(name):
    method = make(name, Trapped(ValueError("no")), [1.0, 2.0], 3.0)
    assert run(method, 3.0)[-1].failure
    method.restart(0.0, np.array([1.0, 2.0]))
    assert not run(method, STOPS_AT)[-1].failure
    assert method.t == STOPS_AT


@pytest.mark.parametrize("name", METHODS)
def test_a_keyboard_interrupt_passes_through(name):
    method = make(name, Trapped(KeyboardInterrupt()), [1.0, 2.0], 3.0)
    with pytest.raises(KeyboardInterrupt):
        run(method, 3.0)


@pytest.mark.parametrize("name", METHODS)
def test_trouble_at_the_very_start_is_a_failed_step_too(name):
    method = make(name, Trapped("nan"), [1.0, 2.0], 3.0)
    method.restart(2.0, np.array([1.0, 2.0]))
    step = method.advance(3.0)
    assert step.failure
    assert step.t == 2.0


@pytest.mark.parametrize("name", ["cvode", "adams", "ida"])
def test_a_trial_point_outside_the_domain_is_not_the_end(name):
    """y' = -sqrt(y) touches zero at t = 2; y = (1 - t/2)^2 before. Big steps overshoot."""

    class Tank:
        size, differential = 1, np.ones(1, dtype=bool)
        outside = 0

        def slope(self, t, y):
            if y[0] < 0:
                self.outside += 1
            with np.errstate(invalid="ignore"):
                return -np.sqrt(y)

        def slope_jacobian(self, t, y):
            return sp.csc_matrix([[-0.5 / np.sqrt(max(y[0], 1e-12))]])

        def residual(self, t, y, slope):
            return slope - self.slope(t, y)

        def residual_jacobian(self, t, y, slope, c):
            return self.slope_jacobian(t, y) * -1 + sp.csc_matrix([[c]])

    tank = Tank()
    method = make(name, tank, [1.0], 3.0, rtol=1e-3, atol=1e-3)
    last = run(method, 3.0)[-1]
    assert method.t > 1.9
    assert abs(method.y[0] - max(0.0, 1 - method.t / 2) ** 2) < 0.02
    assert isinstance(last.cause, NotFinite) or not last.failure


@pytest.mark.parametrize("name", ["cvode", "ida"])
def test_a_solution_that_runs_away_is_told_in_words_and_not_printed(name, capfd):
    class Explosion(Trapped):
        size, differential = 1, np.ones(1, dtype=bool)

        def slope(self, t, y):
            return y * y

        def slope_jacobian(self, t, y):
            return sp.csc_matrix([[2 * y[0]]])

        def residual_jacobian(self, t, y, slope, c):
            return sp.csc_matrix([[c - 2 * y[0]]])

    method = make(name, Explosion(None), [1.0], 3.0, rtol=1e-4)
    last = run(method, 3.0)[-1]
    assert last.failure.startswith(f"{name} stopped at t = 0.99")
    assert "the error stays above the tolerance however small the step" in last.failure
    assert capfd.readouterr() == ("", "")


def test_what_the_equations_print_still_appears(capsys):
    class Talking(type(decay())):
        def slope(self, t, y):
            print("here")
            return -y

    method = make("cvode", Talking([[-1.0]], None), [1.0], 1.0)
    method.advance(1.0)
    assert capsys.readouterr().out.startswith("here\nhere\n")


@pytest.mark.parametrize("name", ["backward_euler", "trapezoidal"])
def test_newton_names_the_unknown_that_does_not_settle(name):
    class Jumping:
        """The second unknown changes its slope faster than any step can follow."""

        size, differential = 2, np.ones(2, dtype=bool)

        def slope(self, t, y):
            return np.array([-y[0], -1e6 * np.sign(y[1])])

        def slope_jacobian(self, t, y):
            return sp.csc_matrix(np.diag([-1.0, 1e-9]))

    method = make(name, Jumping(), [1.0, 1.0], 1.0)
    step = method.advance(1.0)
    assert "Newton's method has not converged in 20 iterations" in step.failure
    assert step.worst[0] == 1
    assert method.t == 0.0


@pytest.mark.parametrize("name", ["backward_euler", "trapezoidal"])
def test_a_singular_matrix_names_the_free_unknown(name):
    class Free:
        size, differential = 2, np.array([True, False])

        def slope(self, t, y):
            return np.zeros(2)

        def residual(self, t, y, slope):
            return np.array([slope[0] + y[0], y[0]])

        def residual_jacobian(self, t, y, slope, c):
            return sp.csc_matrix([[c + 1.0, 0.0], [1.0, 0.0]])

    step = make(name, Free(), [1.0, 1.0], 1.0).advance(1.0)
    assert "the matrix of Newton's method is singular" in step.failure
    assert step.worst == (1,)


class Wide(Trapped):
    """y' = -y of 60 unknowns; from t = 0.5 on each acts on its neighbour."""

    size, differential = 60, np.ones(60, dtype=bool)

    def matrix(self, t):
        return sp.csc_matrix(sp.eye(60, k=1) * (t > 0.5) - sp.eye(60))

    def slope(self, t, y):
        if self.trouble is not None:
            raise self.trouble
        return self.matrix(t) @ y

    def slope_jacobian(self, t, y):
        return self.matrix(t)

    def residual_jacobian(self, t, y, slope, c):
        return sp.csc_matrix(c * sp.eye(60) - self.matrix(t))


@pytest.mark.parametrize("name", ["cvode", "ida"])
def test_a_sparse_jacobian_may_get_entries_that_were_zero_at_the_start(name):
    start = np.cos(np.arange(60.0))
    method = make(name, Wide(None), start, 1.0, rtol=1e-6)
    for t in (0.5, 1.0):
        assert not run(method, t)[-1].failure
        method.restart(t, method.y)
    exact = np.exp(-1.0) * sum(np.eye(60, k=k) @ start * 0.5**k / math.factorial(k)
                               for k in range(20))
    assert method.y == pytest.approx(exact, abs=2e-5)


@pytest.mark.parametrize("name", ["cvode", "ida"])
def test_a_large_model_that_fails_at_once_leaves_the_process_alive(name):
    method = make(name, Wide(ValueError("no")), np.ones(60), 1.0)
    assert run(method, 1.0)[-1].failure
    del method
    gc.collect()
