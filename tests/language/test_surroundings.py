"""Do equations and functions of time use what stands around them when a run begins?

A block of 1 kg and 1 m/s slows down by a force k v: v = exp(-k t). One that is pushed by
a cos(w t) has v = a sin(w t) / w.
"""

import math
from functools import partial
from types import SimpleNamespace

import numpy as np
import pytest

from blocks import Model, Parameter, cos, quantity
from blocks.language.captured_names import Surroundings
from blocks.language.tracing import kernel_of
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
    model = Model("slowed")
    model.block, model.ground = Mass(mass="1 kg", v="1 m/s"), Reference()
    model.damper = kind()
    model.connect(model.block.M, model.damper.R)
    model.connect(model.damper.C, model.ground.V)
    return model


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
        model = Model("pushed")
        model.block, model.ground = Mass(mass="1 kg"), Reference()
        model.push = ForceSource(force=force)
        model.connect(model.block.M, model.push.R)
        model.connect(model.push.C, model.ground.V)
        return model

    model = pushed()
    for gain in (1.0, 5.0, 7.0):
        monkeypatch.setitem(globals(), "AMPLITUDE", gain)
        monkeypatch.setattr(SETTINGS, "gain", gain)
        wave.gain = gains[0] = gain
        for one in (model, pushed()):
            assert speed(one) == pytest.approx(gain * math.sin(1.0) / 2, rel=1e-7)


# -- what is not read again ----------------------------------------------------------------------
def test_what_stands_is_read_once(monkeypatch):
    read = []

    class Counted(TwoPort):
        def equations(self):
            read.append(len(read))
            yield self.f == GAIN * self.v

    model = slowed(Counted)
    system = model.compile()
    for _ in range(3):
        speed(model)
        speed(slowed(Counted))
    assert read == [0] and model.compile() is system
    monkeypatch.setitem(globals(), "v", quantity("9 m/s"))  # a name of an attribute alone
    assert kernel_of(Counted()) is kernel_of(model.damper) and read == [0]


def test_packages_and_models_in_reach_are_not_looked_into():
    class Loose(TwoPort):
        def equations(self):
            yield self.f == GAIN * np.asarray(1.0) * self.v

    around = Surroundings.of_equations(Loose())
    model = slowed(Loose)
    assert len(around._bound) < 10 and around.stand()
    reading = Surroundings(lambda t: model.block.mass * t)
    model.block.mass = "2 kg"
    assert reading.stand()
