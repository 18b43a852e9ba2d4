"""Do equations and functions of time use what stands around them when a run begins?

A block of 1 kg and 1 m/s slows down by a force k v: v = exp(-k t). One that is pushed by
a cos(w t) has v = a sin(w t) / w."""

import math
from functools import partial
from types import SimpleNamespace

import numpy as np
import pytest
from benches import wired
from numpy.testing import assert_allclose

from blocks import Component, Parameter, Variable, call_python, cos, der, quantity, time, when
from blocks.exceptions import EquationError, ParameterError, SimulationError
from library.translational import ForceSource, Mass, Reference, TwoPort

GAIN = quantity("1 N*s/m")
TABLE = {"gain": GAIN}
NUMBERS = np.array([1.0])
SETTINGS = SimpleNamespace(gain=1.0)
AMPLITUDE = 1.0


def force_of(v):
    return GAIN * v


class Rates:
    gain = 1.0


class ByGlobal(TwoPort):
    def equations(self):
        yield self.f == GAIN * self.v


class ByFunction(TwoPort):
    def equations(self):
        yield self.f == force_of(self.v)


class ByMethod(TwoPort):
    @property
    def law(self):
        return self.doubled() / 2

    def doubled(self):
        return 2 * force_of(self.v)

    def equations(self):
        yield self.f == self.law


class ByBase(ByGlobal):
    def equations(self):
        yield from super().equations()


class ByMapping(TwoPort):
    def equations(self):
        yield self.f == TABLE["gain"] * self.v


class ByArray(TwoPort):
    def equations(self):
        yield self.f == quantity(NUMBERS[0], "N*s/m") * self.v


class ByOtherClass(TwoPort):
    def equations(self):
        yield self.f == quantity(Rates.gain, "N*s/m") * self.v


class ByAttribute(TwoPort):
    gain = 1.0

    def equations(self):
        yield self.f == quantity(self.gain, "N*s/m") * self.v


class ByDefault(TwoPort):
    damping = Parameter(lambda c: GAIN, "N*s/m")

    def equations(self):
        yield self.f == self.damping * self.v


def slowed(kind):
    return wired("slowed", "block.M damper.R", "damper.C ground.V",
                 block=Mass(mass="1 kg", v="1 m/s"), ground=Reference(), damper=kind())


def speed(model):
    return model.simulate("0.5 s", rtol=1e-9)["block.v"].final.m


def set_all(monkeypatch, gain):
    monkeypatch.setitem(globals(), "GAIN", quantity(gain, "N*s/m"))
    monkeypatch.setitem(TABLE, "gain", quantity(gain, "N*s/m"))
    monkeypatch.setattr(Rates, "gain", gain)
    monkeypatch.setattr(ByAttribute, "gain", gain)
    NUMBERS[0] = gain


@pytest.mark.parametrize("kind", [ByGlobal, ByFunction, ByMethod, ByBase, ByMapping, ByArray,
                                  ByOtherClass, ByAttribute, ByDefault])
def test_equations_use_what_stands_around_them_at_each_run(kind, monkeypatch):
    model = slowed(kind)
    for gain in (1.0, 3.0, 0.5):
        set_all(monkeypatch, gain)
        monkeypatch.setitem(globals(), "v", model.simulate("1 ms")["block.v"])  # as in a notebook
        for one in (slowed(kind), model) if kind is not ByDefault else (slowed(kind),):
            assert speed(one) == pytest.approx(math.exp(-0.5 * gain), rel=1e-7)
    set_all(monkeypatch, 1.0)


def test_an_attribute_that_a_subclass_gets_later_counts():
    class Narrow(ByAttribute):
        pass

    model = slowed(Narrow)
    before = speed(model)
    Narrow.gain = 4.0
    assert before == pytest.approx(math.exp(-0.5), rel=1e-7)
    assert speed(model) == pytest.approx(math.exp(-2.0), rel=1e-7)


def test_a_variable_of_a_closure_counts():
    def made(gain):
        def change(value):
            nonlocal gain
            gain = value

        class ByClosure(TwoPort):
            def equations(self):
                yield self.f == quantity(gain, "N*s/m") * self.v

        return ByClosure, change

    kind, change = made(1.0)
    model = slowed(kind)
    before = speed(model)
    change(2.0)
    assert before == pytest.approx(math.exp(-0.5), rel=1e-7)
    assert speed(model) == pytest.approx(math.exp(-1.0), rel=1e-7)


# -- functions of time -------------------------------------------------------------------------
def by_global(t):
    return quantity(AMPLITUDE, "N") * cos(quantity("2 rad/s") * t)


def by_object(t):
    return quantity(SETTINGS.gain, "N") * cos(quantity("2 rad/s") * t)


class Wave:
    """Something that can be called; its amplitude is that of the class until it has its own."""

    gain = 1.0

    def __call__(self, t):
        return self.scaled(cos(quantity("2 rad/s") * t))

    def scaled(self, value):
        return quantity(self.gain, "N") * value

    def method(self, t):
        return self(t)


def by_list(gains, t):
    return quantity(gains[0], "N") * cos(quantity("2 rad/s") * t)


@pytest.mark.parametrize("what", ["global", "object", "callable", "method", "sum", "list"])
def test_functions_of_time_use_what_stands_around_them_at_each_run(what, monkeypatch):
    wave, gains = Wave(), [1.0]
    force = {"global": by_global, "object": by_object, "callable": wave, "method": wave.method,
             "sum": lambda t: wave(t), "list": partial(by_list, gains)}[what]  # fmt: skip

    def pushed():
        return wired("pushed", "block.M push.R", "push.C ground.V",
                     block=Mass(mass="1 kg"), ground=Reference(), push=ForceSource(force=force))

    model = pushed()
    for gain in (1.0, 5.0, 7.0):
        monkeypatch.setitem(globals(), "AMPLITUDE", gain)
        monkeypatch.setattr(SETTINGS, "gain", gain)
        wave.gain = gains[0] = gain
        for one in (model, pushed()):
            assert speed(one) == pytest.approx(gain * math.sin(1.0) / 2, rel=1e-7)


# -- what is not read again ----------------------------------------------------------------------
# -- functions in Python within equations -----------------------------------------------------
class Pendulum(Component):
    """x'' = -w² x - 2 d x', by a function."""

    square = Parameter("4 1/s^2")
    x, v = Variable("m", "1 m", priority="high"), Variable("m/s", "0 m/s", priority="high")
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
    model = wired("one", part=Pendulum(square=f"{square} 1/s^2"))
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

    y = wired("root", part=Root()).simulate("10 s")["part.y"].final.m
    assert_allclose(y**3 + y, 10.0, rtol=1e-9)


def test_its_crossings_are_located():
    class Falls(Component):
        h, v = Variable("m", "1 m", priority="high"), Variable("m/s", "0 m/s", priority="high")

        def equations(self):
            yield der(self.h) == self.v
            yield der(self.v) == quantity("-9.81 m/s^2")
            low = call_python(lambda h: h, self.h, unit="m") < 0
            yield when(low & (self.v < 0), {self.v: -0.8 * self.v})

    model = wired("falls", ball=Falls())
    (event,) = [e for e in model.simulate("0.5 s").events if "ball" in str(e)]
    assert_allclose(float(event.time), np.sqrt(2 / 9.81), rtol=1e-9)


def test_what_it_raises_is_the_error_of_the_run():
    model = wired("one", part=Pendulum(v="-3 m/s"))
    with pytest.raises(SimulationError, match=r"Pendulum.*ValueError: the string is torn") as error:
        model.simulate("5 s")
    assert isinstance(error.value.__cause__, ValueError)


def test_a_wrong_call_is_refused():
    class Wrong(Component):
        y = Variable("1")

        def equations(self):
            yield self.y == call_python("cos", time)

    model = wired("wrong", part=Wrong())
    with pytest.raises(EquationError, match="takes a function"):
        model.simulate("1 s")


def test_it_does_not_leave_python(tmp_path):
    pytest.importorskip("llvmlite")
    model = wired("one", part=Pendulum())
    with pytest.raises(ParameterError, match="what Python works out: part\\."):
        model.export_fmu(tmp_path / "a.fmu", outputs=["part.x"], duration="1 s")
