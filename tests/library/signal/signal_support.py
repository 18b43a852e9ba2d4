"""One block between known signals, and its output at given times."""

import numpy as np
from benches import wired

from blocks import quantity
from library.signal import TimeTable

RTOL = 1e-9


def output_of(source, duration="10 s", **options):
    """The result of a source alone."""
    return wired("model", block=source).simulate(duration, **{"rtol": RTOL, **options})


def response(block, *sources, duration="10 s", ports=("u",), **options):
    """The result of a block whose inputs are given by sources."""
    model = wired("model", block=block)
    for k, (source, port) in enumerate(zip(sources, ports, strict=True), 1):
        model.add(f"source{k}", source)
        model.connect(source.y, getattr(model.block, port))
    return model.simulate(duration, **{"rtol": RTOL, **options})


def at(result, times, name="block.y", side="right"):
    """Numbers of a signal in its own unit."""
    return result[name].at(quantity(np.asarray(times, dtype=float), "s"), side=side).magnitude


def polyline(times, values, unit=""):
    """A piecewise linear source; scipy.signal.lsim is exact for these."""
    return TimeTable(times=[f"{t} s" for t in times], values=[f"{v} {unit}" for v in values])
