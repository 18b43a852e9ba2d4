"""Small circuits that tests of several files are about, and what is read of their runs."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

from blocks import Component, Model, Output, Parameter, quantity
from blocks.language.declarations import Declaration


def few(count, names, cases, **options):
    """Parametrize with some of the cases, evenly spread; the others are slow (``-m slow``)."""
    cases, slow = list(cases), pytest.mark.slow
    kept = np.unique(np.linspace(0, len(cases) - 1, count).round()) if count > 1 else [0]
    several = not isinstance(names, str) or "," in names
    return pytest.mark.parametrize(names, [
        case if k in kept else pytest.param(*case.values, marks=[*case.marks, slow], id=case.id)
        if hasattr(case, "marks") else pytest.param(*(case if several else [case]), marks=slow)
        for k, case in enumerate(cases)], **options)


def wired(name, /, *nets, **parts):
    """A model of these parts, joined net by net: ``"source.p load.p"`` are two ports of one."""
    model = Model(name)
    wire(model, *nets, **parts)
    return model


def wire(model, /, *nets, **parts):
    """Add parts to a model, then join its ports net by net; of arrays ``"masses[1:].M"``."""
    for part, component in parts.items():
        setattr(model, part, component)
    for net in nets:
        model.connect(*(eval(f"model.{port}", {"model": model}) for port in net.split()))


def declared(component):
    """What a component or its class declares, by name."""
    kind = component if isinstance(component, type) else type(component)
    return {name: one for base in reversed(kind.__mro__) for name, one in vars(base).items()
            if isinstance(one, Declaration)}


def signal(unit, value):
    """A signal source with an output ``y`` in the given unit."""
    kind = type("SignalSource", (Component,), {
        "value": Parameter(f"0 {unit}", varying=True), "y": Output(unit),
        "equations": lambda self: iter([self.y == self.value])})
    return kind(value=value)


def values(result, path, unit, times=None):
    """Numbers of a variable in a unit, at all samples or at given seconds."""
    series = result[path]
    if times is None:
        return series.to(unit).magnitude
    return np.asarray(series.at(quantity(np.atleast_1d(times), "s")).to(unit).magnitude)


def seconds(result):
    return result.time.to("s").magnitude


def final(result, path, unit):
    return result[path].final.to(unit).m


def meets(result, expected):
    """Final values, or those of a point: each number by ``"path unit"`` within its tolerance."""
    for where, (number, rtol) in expected.items():
        path, *unit = where.split(" ", 1)
        found = getattr(result[path], "final", result[path])
        assert_allclose((found.to(*unit) if unit else found).m, number, rtol=rtol, err_msg=where)
