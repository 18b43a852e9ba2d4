"""Numerical trouble is a value: the step says what happened, the method stays where it was."""


import numpy as np
import pytest
import scipy.sparse as sp

from blocks.solvers import METHODS

from .problems import make, run

STOPS_AT = 1.0


class Trapped:
    """y' = -y until t = 1; then the given trouble."""

    size = 2

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

