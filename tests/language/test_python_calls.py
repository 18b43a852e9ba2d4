"""Do functions in Python within equations give what the equations they stand for give?"""

import numpy as np
import pytest
from numpy.testing import assert_allclose

from blocks import Component, Model, Parameter, Variable, call_python, der, quantity, time, when
from blocks.exceptions import EquationError, ParameterError, SimulationError


class Pendulum(Component):
    """x'' = -w² x - 2 d x', by a function."""

    square = Parameter("4 1/s^2")
    x = Variable("m", "1 m", priority="high")
    v = Variable("m/s", "0 m/s", priority="high")
    turned = Variable("m", doc="the place an eighth of a period on, as if nothing were lost")

    def equations(self):
        yield der(self.x) == self.v
        yield der(self.v) == call_python(force, self.square, self.x, self.v, unit="m/s^2")
        ahead, _ = call_python(lambda x, v: (1e3 * x, v), self.x, self.v, unit=["mm", "m/s"])
        yield self.turned == ahead


def force(square, x, v):
    if x < -0.99:
        raise ValueError("the string is torn")
    return -square * x - 0.2 * v


def damped(square=4.0, rate=0.1):
    own = np.sqrt(square - rate**2)
    return lambda t: np.exp(-rate * t) * (np.cos(own * t) + rate / own * np.sin(own * t))


@pytest.mark.parametrize("method", ["auto", "rodas4", "BDF"])
@pytest.mark.parametrize("square", [4.0, 9.0])
def test_a_function_acts_as_the_expression_that_it_is(method, square):
    model = Model("one")
    model.part = Pendulum(square=f"{square} 1/s^2")
    result = model.simulate("5 s", rtol=1e-8, method=method)
    exact = damped(square)(result.time.to("s").m)
    assert_allclose(result["part.x"].to("m").m, exact, atol=1e-6)
    assert_allclose(result["part.turned"].to("m").m, exact, atol=1e-6)


@pytest.mark.parametrize("slope", [None, lambda y: 3 * y**2 + 1])
def test_it_has_the_derivatives_that_it_was_given_or_differences(slope):
    class Root(Component):
        """y³ + y = t, solved for."""

        y = Variable("1")

        def equations(self):
            sum_ = call_python(lambda y: y**3 + y, self.y, derivatives=[slope])
            yield sum_ == time / quantity("1 s")

    model = Model("root")
    model.part = Root()
    y = model.simulate("10 s")["part.y"].final.m
    assert_allclose(y**3 + y, 10.0, rtol=1e-9)


def test_its_crossings_are_located():
    class Falls(Component):
        h = Variable("m", "1 m", priority="high")
        v = Variable("m/s", "0 m/s", priority="high")

        def equations(self):
            yield der(self.h) == self.v
            yield der(self.v) == quantity("-9.81 m/s^2")
            low = call_python(lambda h: h, self.h, unit="m") < 0
            yield when(low & (self.v < 0), {self.v: -0.8 * self.v})

    model = Model("falls")
    model.ball = Falls()
    (event,) = [e for e in model.simulate("0.5 s").events if "ball" in str(e)]
    assert_allclose(float(event.time), np.sqrt(2 / 9.81), rtol=1e-9)


def test_what_it_raises_is_the_error_of_the_run():
    model = Model("one")
    model.part = Pendulum(v="-3 m/s")
    with pytest.raises(SimulationError, match=r"Pendulum.*ValueError: the string is torn") as error:
        model.simulate("5 s")
    assert isinstance(error.value.__cause__, ValueError)


def test_a_wrong_call_is_refused():
    class Wrong(Component):
        y = Variable("1")

        def equations(self):
            yield self.y == call_python("cos", time)

    model = Model("wrong")
    model.part = Wrong()
    with pytest.raises(EquationError, match="takes a function"):
        model.simulate("1 s")


def test_it_does_not_leave_python(tmp_path):
    pytest.importorskip("llvmlite")
    model = Model("one")
    model.part = Pendulum()
    with pytest.raises(ParameterError, match="what Python works out: part\\."):
        model.export_fmu(tmp_path / "a.fmu", outputs=["part.x"], duration="1 s")
