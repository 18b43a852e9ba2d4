"""What does a fit look like? Measured and predicted, and what is left."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ...numerics.arrays import Array
from ...results.plots.figures import bare_figure, finished_figure
from ...units import from_si
from .data import Sensor
from .misfit import Misfit

__all__ = ["draw"]

POINTS = 1000  # of the predicted curve


def draw(misfit: Misfit, values: Array, run: Any, sensors: Sequence[Sensor],
         residuals: Sequence[Array], save: Any) -> Any:
    """The picture of one experiment; ``save`` also writes it to a file."""
    shown = [(sensor, rest) for sensor, rest in zip(sensors, residuals, strict=True)
             if len(sensor.t)]
    rows = len(shown)
    figure = bare_figure("A picture of a fit", figsize=(9, 2.6 * rows + 0.6), layout="constrained")
    axes = figure.subplots(rows, 2, sharex=True, squeeze=False, width_ratios=[2, 1])
    for (left, right), (sensor, rest) in zip(axes, shown, strict=True):
        times = np.linspace(sensor.t[0], sensor.t[-1], POINTS)
        curve = misfit.predicted(values, run, sensor, times)
        left.plot(sensor.t, from_si(sensor.values, sensor.shown).m, ".", color="0.6", ms=4,
                  label="measured")
        left.plot(times, from_si(curve, sensor.shown).m, color="C0", lw=1.5, label="model")
        left.set_ylabel(sensor.name)
        left.legend(frameon=False, loc="best")
        left_over = (from_si(rest, sensor.shown) - from_si(0.0, sensor.shown)).m
        right.plot(sensor.t, left_over, ".", color="C3", ms=3)
        right.axhline(0, color="0.4", lw=0.8)
        noise = float((from_si(misfit.noise[sensor.name], sensor.shown)
                       - from_si(0.0, sensor.shown)).m)
        right.axhspan(-2 * noise, 2 * noise, color="C3", alpha=0.12, lw=0,
                      label="± 2 standard deviations")
        right.set_ylabel(f"residual [{sensor.shown.text or '1'}]")
        right.legend(frameon=False, loc="upper right", fontsize="small")
    for axis in axes[-1]:
        axis.set_xlabel("time [s]")
    return finished_figure(figure, save, f"{misfit.model.name}: measured and fitted")
