"""How does a linear model look over frequency, and in the complex plane?

Axes carry units. Every picture returns a matplotlib figure and may be saved.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from ..exceptions import ParameterError
from ..numerics.arrays import Array
from ..results.figures import bare_figure, finished_figure
from .frequency import angular_frequency
from .poles import zeros
from .signals import ratio_unit

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from .linear_model import LinearModel

__all__ = ["bode", "nyquist", "pole_zero", "root_locus", "shown_range"]

POINTS = 600
DECADES = 1.0  # beyond the slowest and fastest pole
AROUND, MOST_TURNED = 61, 1.5  # points around a resonance, and rad of phase they reach from it
MOST_SHARP = 50  # resonances that get these
SIZE = (6.4, 4.4)


def bode(linear: LinearModel, frequencies: Any = None, *, title: str = "", save: str | None = None
         ) -> Figure:
    """Gain in dB and phase in degrees over frequency in Hz, a line per input and output.

    Parameters
    ----------
    linear : LinearModel
    frequencies : quantity, optional
        From one to another, ``("1 Hz", "100 Hz")``, or those that are drawn, such as
        ``quantity(np.logspace(-1, 2), "Hz")``; around the poles by default.
    title, save : str, optional
    """
    figure, (upper, lower) = _axes(2)
    omega = shown_range(linear, frequencies)
    gain = linear.transfer(1j * omega)
    hertz = omega / (2 * np.pi)
    units = set()
    for i, inp in enumerate(linear.inputs):
        for o, out in enumerate(linear.outputs):
            unit = str(ratio_unit(out.unit, inp.unit))
            units.add(unit)
            h = gain[:, o, i]
            if not np.abs(h).max(initial=0.0):
                continue  # its note says why
            upper.semilogx(hertz, 20 * np.log10(np.abs(h)),
                           label=f"{out.path} / {inp.path} [{unit}]")
            lower.semilogx(hertz, np.degrees(np.unwrap(np.angle(h))))
    one = f"1 {units.pop()}".removesuffix(" 1") if len(units) == 1 else "1 of its unit"
    upper.set_ylabel(f"gain [dB re {one}]")
    lower.set_ylabel("phase [deg]")
    lower.set_xlabel("frequency [Hz]")
    for axes in (upper, lower):
        axes.grid(True, which="both", alpha=0.3)
    if upper.lines:
        upper.legend(fontsize="small")
    _said(upper, linear)
    return finished_figure(figure, save, title or f"Bode plot: {linear.title}")


def nyquist(linear: LinearModel, frequencies: Any = None, *, title: str = "",
            save: str | None = None) -> Figure:
    """The gain in the complex plane, for positive and negative frequencies.

    With the point -1, which only a number can go around: a loop, whose gain has no unit.
    """
    figure, (axes,) = _axes(1)
    omega = shown_range(linear, frequencies)
    gain = linear.transfer(1j * omega)
    units = set()
    for i, inp in enumerate(linear.inputs):
        for o, out in enumerate(linear.outputs):
            h, own = gain[:, o, i], str(ratio_unit(out.unit, inp.unit))
            (line,) = axes.plot(h.real, h.imag, label=f"{out.path} / {inp.path} [{own}]")
            axes.plot(h.real, -h.imag, "--", color=line.get_color(), linewidth=0.8)
            units.add(own)
    if "1" in units:
        axes.plot([-1], [0], "+", color="tab:red", markersize=9)
    unit = units.pop() if len(units) == 1 else "of its unit"
    axes.set_xlabel(f"real part [{unit}]")
    axes.set_ylabel(f"imaginary part [{unit}]")
    axes.set_aspect("equal", "datalim")  # angles are phases
    axes.grid(True, alpha=0.3)
    axes.legend(fontsize="small")
    return finished_figure(figure, save, title or f"Nyquist plot: {linear.title}")


def pole_zero(linear: LinearModel, input: str | None, output: str | None, *, title: str = "",
              save: str | None = None) -> Figure:
    """Poles (crosses) and, of one input and output, zeros (circles) in 1/s."""
    figure, (axes,) = _axes(1)
    p = linear.poles()
    axes.plot(p.real, p.imag, "x", color="tab:blue", label="poles")
    if input is not None or output is not None or (len(linear.inputs) == len(linear.outputs) == 1):
        i, o = linear.pair(input, output)
        z = zeros(linear.dense_a, linear.B[:, i], linear.C[o], float(linear.D[o, i]))
        if z is not None and len(z):
            axes.plot(z.real, z.imag, "o", color="tab:orange", fillstyle="none",
                      label=f"zeros of {linear.outputs[o].path} / {linear.inputs[i].path}")
    _complex_plane(axes)
    axes.legend(fontsize="small")
    return finished_figure(figure, save, title or f"Poles and zeros: {linear.title}")


def root_locus(models: Mapping[str, LinearModel], *, title: str = "", save: str | None = None
               ) -> Figure:
    """Poles of several linear models, coloured in the order given: over a parameter.

    Parameters
    ----------
    models : mapping of label to LinearModel
        Such as ``{"10 N*m": …, "20 N*m": …}``.
    """
    if not models or not isinstance(models, Mapping) or not all(
            hasattr(m, "poles") for m in models.values()):
        raise ParameterError("root_locus()", "takes linear models by label, and at least one.",
                             "Write root_locus({'10 N': model.linearise(), '20 N': …}).")
    import matplotlib as mpl

    figure, (axes,) = _axes(1)
    colours = mpl.colormaps["viridis"](np.linspace(0, 0.9, len(models)))
    for k, (label, model) in enumerate(models.items()):
        p = model.poles()
        named = len(models) <= 8 or k in (0, len(models) - 1)
        axes.plot(p.real, p.imag, "x", color=colours[k], label=label if named else None)
    _complex_plane(axes)
    axes.legend(fontsize="small")
    return finished_figure(figure, save, title or "Root locus")


def _complex_plane(axes: Any) -> None:
    axes.axhline(0, color="black", linewidth=0.5)
    axes.axvline(0, color="black", linewidth=0.5)
    axes.set_xlabel("real part [1/s]")
    axes.set_ylabel("imaginary part [rad/s]")
    axes.grid(True, alpha=0.3)


def shown_range(linear: LinearModel, frequencies: Any = None) -> Array:
    """rad/s that are shown.

    Raises
    ------
    ParameterError
        For a linear model without an input or an output, which answers nothing.
    """
    for kind, known in (("input", linear.inputs), ("output", linear.outputs)):
        if not known:
            raise ParameterError(linear.title, f"has no {kind} in this linear model, so there is "
                                 "no answer to draw.", f"Name one: model.linearise({kind}s=…).")
    if frequencies is not None:
        given = np.sort(np.atleast_1d(angular_frequency(frequencies, "frequencies")))
        return _range(linear, *given) if len(given) == 2 else given
    size = np.abs(linear.poles())
    size = size[size > 0]
    if not len(size):
        size = np.array([1.0])
    return _range(linear, size.min() / 10**DECADES, size.max() * 10**DECADES)


def _range(linear: LinearModel, low: float, high: float) -> Array:
    """rad/s from one to another, closer where a resonance turns the phase."""
    even = np.geomspace(low, high, POINTS)
    p = linear.poles()
    sharp = p[(p.imag > 0) & (np.abs(p.real) < p.imag)]
    turns = np.tan(np.linspace(-MOST_TURNED, MOST_TURNED, AROUND))  # even steps of the phase
    near = sharp.imag[:MOST_SHARP, None] + np.abs(sharp.real[:MOST_SHARP, None]) * turns
    return np.unique(np.concatenate([even, near[(near > even[0]) & (near < even[-1])]]))


def _said(axes: Any, linear: LinearModel) -> None:
    """Notes of a model, where a line is missing because of them."""
    if not axes.lines and linear.notes:
        import textwrap

        axes.text(0.5, 0.5, "\n".join(textwrap.wrap(" ".join(linear.notes), 60)), ha="center",
                  va="center", transform=axes.transAxes)  # fmt: skip


def _axes(rows: int) -> tuple[Figure, Any]:
    figure = bare_figure("Drawing a linear model", figsize=SIZE, layout="constrained")
    return figure, figure.subplots(rows, 1, sharex=rows > 1, squeeze=False)[:, 0]
