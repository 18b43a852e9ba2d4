"""Small circuits that tests of several files are about, and what is read of their runs."""

from __future__ import annotations

import numpy as np

from blocks import Component, Output, Parameter, quantity


def signal(unit, value):
    """A signal source with an output ``y`` in the given unit."""
    kind = type("SignalSource", (Component,), {
        "value": Parameter(f"0 {unit}", varying=True),
        "y": Output(unit),
        "equations": lambda self: iter([self.y == self.value]),
    })  # fmt: skip
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
