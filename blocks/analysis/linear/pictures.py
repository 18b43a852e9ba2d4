"""How does a linear model look over frequency, and in the complex plane?

Axes carry units. Every picture returns a matplotlib figure and may be saved.
"""

from __future__ import annotations

import textwrap
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

from ...exceptions import ParameterError, WrongCall, told_how_to_call
from ...numerics.arrays import Array, Complexes
from ...results.plots.figures import Figure, bare_figure, finished_figure
from ...units import quantity
from .frequency import angular_frequency
from .poles import zeros
from .signals import ratio_unit

if TYPE_CHECKING:
    from .linear_model import LinearModel

__all__ = ["around_poles", "bode", "labelled", "nyquist", "pole_zero", "root_locus", "shown_range",
           "step"]

Models: TypeAlias = "LinearModel | Mapping[str, LinearModel]"

POINTS = 600
DECADES = 1.0  # beyond the slowest and fastest pole
AROUND, MOST_TURNED = 61, 1.5  # points around a resonance, and rad of phase they reach from it
MOST_SHARP = 50  # resonances that get these
SIZE = (6.4, 4.4)


@told_how_to_call
def bode(models: Models, frequencies: Any = None, *more: Any, title: str = "",
         save: str | None = None, ax: Any = None) -> Figure:
    """Gain in dB and phase in degrees over frequency in Hz, a line per input and output.

    Parameters
    ----------
    models : LinearModel, or mapping of label to LinearModel
    frequencies : quantity, optional
        From one to another, ``("1 Hz", "100 Hz")``, or those that are drawn, such as
        ``quantity(np.logspace(-1, 2), "Hz")``; around the poles by default.
    title, save : str, optional
    ax : pair of matplotlib Axes, optional
        For gain and phase, in a figure that is there already.
    """
    figure, (upper, lower) = _axes(2, ax)
    units = set()
    for omega, name, unit, h in _gains(labelled(models, "bode()"), frequencies, more):
        units.add(unit)
        if np.abs(h).max(initial=0.0):
            upper.semilogx(omega / (2 * np.pi), 20 * np.log10(np.abs(h)), label=name)
            lower.semilogx(omega / (2 * np.pi), np.degrees(np.unwrap(np.angle(h))))
    notes = " ".join(note for linear in labelled(models, "").values() for note in linear.notes)
    if not upper.lines and notes:  # these say why
        upper.text(0.5, 0.5, "\n".join(textwrap.wrap(notes, 60)), ha="center", va="center",
                   transform=upper.transAxes)
    one = f"1 {units.pop()}".removesuffix(" 1") if len(units) == 1 else "1 of its unit"
    upper.set_ylabel(f"gain [dB re {one}]")
    lower.set_ylabel("phase [deg]")
    lower.set_xlabel("frequency [Hz]")
    return _finished(figure, (upper, lower), save, title, "Bode plot", models, ax)


@told_how_to_call
def nyquist(models: Models, frequencies: Any = None, *more: Any, title: str = "",
            save: str | None = None, ax: Any = None) -> Figure:
    """Draw the gain in the complex plane, at positive and negative frequencies; see :func:`bode`.

    With the point -1, which only a number can go around: a loop, whose gain has no unit.
    """
    figure, (axes,) = _axes(1, ax)
    units = set()
    for _, name, unit, h in _gains(labelled(models, "nyquist()"), frequencies, more):
        (line,) = axes.plot(h.real, h.imag, label=name)
        axes.plot(h.real, -h.imag, "--", color=line.get_color(), linewidth=0.8)
        units.add(unit)
    if "1" in units:
        axes.plot([-1], [0], "+", color="tab:red", markersize=9)
    unit = units.pop() if len(units) == 1 else "of its unit"
    axes.set_xlabel(f"real part [{unit}]")
    axes.set_ylabel(f"imaginary part [{unit}]")
    axes.set_aspect("equal", "datalim")  # angles are phases
    return _finished(figure, (axes,), save, title, "Nyquist plot", models, ax)


@told_how_to_call
def step(models: Models, duration: Any = None, *, title: str = "", save: str | None = None,
         ax: Any = None) -> Figure:
    """Outputs after a step of 1 in each input, in its unit; by python-control.

    Parameters
    ----------
    models : LinearModel, or mapping of label to LinearModel
    duration : str or quantity, optional
        As python-control finds it, if not given.
    title, save, ax
        As in :func:`bode`.
    """
    figure, (axes,) = _axes(1, ax)
    units = set()
    for label, linear in labelled(models, "step()").items():
        found = linear.step_response(duration)
        answers = np.asarray(found.outputs).reshape(len(linear.outputs), len(linear.inputs), -1)
        for name, unit, y in _answers(linear, label, np.moveaxis(answers, -1, 0)):
            axes.plot(found.time, y, label=name)
            units.add(unit)
    axes.set_xlabel("time [s]")
    axes.set_ylabel(f"answer to a step [{units.pop() if len(units) == 1 else 'of its unit'}]")
    return _finished(figure, (axes,), save, title, "Step response", models, ax)


def labelled(models: Models, where: str) -> Mapping[str, LinearModel]:
    """Return linear models by label; of a single one, the label is empty."""
    found = models if isinstance(models, Mapping) else {"": models}
    if not found or not all(hasattr(m, "poles") for m in found.values()):
        raise ParameterError(where, "takes a linear model, or several by label, and at least one.",
                             f"Write {where[:-1]}{{'10 N': model.linearise(), '20 N': …}}).")
    return found


def _gains(models: Mapping[str, LinearModel], frequencies: Any, more: tuple[Any, ...]
           ) -> Iterator[tuple[Array, str, str, Any]]:
    """Frequencies in rad/s, and gains there as :func:`_answers` says."""
    if frequencies is None:
        ends = np.array([around_poles(linear, DECADES) for linear in models.values()])
        frequencies = quantity([ends.min(), ends.max()], "rad/s")
    for label, linear in models.items():
        omega = shown_range(linear, frequencies, *more)
        for answer in _answers(linear, label, linear.transfer(1j * omega)):
            yield omega, *answer


def _answers(linear: LinearModel, label: str, values: Array | Complexes
             ) -> Iterator[tuple[str, str, Any]]:
    """What an input and output are called, the unit of one by the other, and the values."""
    for i, inp in enumerate(linear.inputs):
        for o, out in enumerate(linear.outputs):
            unit = str(ratio_unit(out.unit, inp.unit))
            name = f"{out.path} / {inp.path} [{unit}]"
            yield f"{label}: {name}" if label else name, unit, values[:, o, i]


def _finished(figure: Figure, every: Sequence[Any], save: Any, title: str, kind: str,
              models: Models, ax: Any) -> Figure:
    for axes in every:
        axes.grid(True, which="both", alpha=0.3)
    if every[0].lines:
        every[0].legend(fontsize="small")
    if ax is not None and save is None:
        return figure  # its title is the user's
    own = kind if isinstance(models, Mapping) else f"{kind}: {models.title}"
    return finished_figure(figure, save, title or own)


def pole_zero(linear: LinearModel, input: str | None = None, output: str | None = None, *,
              title: str = "", save: str | None = None) -> Figure:
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


@told_how_to_call
def root_locus(models: Mapping[str, LinearModel], *, title: str = "", save: str | None = None
               ) -> Figure:
    """Poles of several linear models, coloured in the order given: over a parameter.

    Parameters
    ----------
    models : mapping of label to LinearModel
        Such as ``{"10 N*m": …, "20 N*m": …}``.
    """
    models = labelled(models, "root_locus()")
    import matplotlib as mpl

    figure, (axes,) = _axes(1)
    colours = mpl.colormaps["viridis"](np.linspace(0, 0.9, len(models)))
    for k, (label, model) in enumerate(models.items()):
        p = model.poles()
        named = (label or model.title) if len(models) <= 8 or k in (0, len(models) - 1) else None
        axes.plot(p.real, p.imag, "x", color=colours[k], label=named)
    _complex_plane(axes)
    axes.legend(fontsize="small")
    return finished_figure(figure, save, title or "Root locus")


def _complex_plane(axes: Any) -> None:
    axes.axhline(0, color="black", linewidth=0.5)
    axes.axvline(0, color="black", linewidth=0.5)
    axes.set_xlabel("real part [1/s]")
    axes.set_ylabel("imaginary part [rad/s]")
    axes.grid(True, alpha=0.3)


def shown_range(linear: LinearModel, frequencies: Any = None, *more: Any) -> Array:
    """rad/s that are shown."""
    if any(hasattr(one, "poles") for one in (frequencies, *more)):
        raise WrongCall("a picture", "takes several linear models as one dictionary, by label.",
                        "Write blocks.analysis.bode({'10 N': linear, '20 N': other}).")
    if more:
        raise WrongCall("frequencies", f"are one value, but were given {1 + len(more)}.",
                        "Write for example frequencies=('1 Hz', '100 Hz'), in parentheses.")
    for kind, known in (("input", linear.inputs), ("output", linear.outputs)):
        if not known:
            raise ParameterError(linear.title, f"has no {kind} in this linear model, so there is "
                                 "no answer to draw.", f"Name one: model.linearise({kind}s=…).")
    if frequencies is not None:
        given = np.sort(np.atleast_1d(angular_frequency(frequencies, "frequencies")))
        if len(given) < 2:
            raise ParameterError("frequencies", "are one value, of which there is no curve.",
                                 "Write for example ('1 Hz', '100 Hz'), or .response('2 Hz').")
        return _range(linear, *given) if len(given) == 2 else given
    return _range(linear, *around_poles(linear, DECADES))


def around_poles(linear: LinearModel, decades: float) -> tuple[float, float]:
    """Frequencies from below the slowest to beyond the fastest pole, in rad/s."""
    size = np.abs(linear.poles())
    size = size[size > 0] if size.any() else np.ones(1)
    return size.min() / 10**decades, size.max() * 10**decades


def _range(linear: LinearModel, low: float, high: float) -> Array:
    """rad/s from one to another, closer where a resonance turns the phase."""
    even = np.geomspace(low, high, POINTS)
    p = linear.poles()
    sharp = p[(p.imag > 0) & (np.abs(p.real) < p.imag)]
    turns = np.tan(np.linspace(-MOST_TURNED, MOST_TURNED, AROUND))  # even steps of the phase
    near = sharp.imag[:MOST_SHARP, None] + np.abs(sharp.real[:MOST_SHARP, None]) * turns
    return np.unique(np.concatenate([even, near[(near > even[0]) & (near < even[-1])]]))


def _axes(rows: int, given: Any = None) -> tuple[Figure, Any]:
    if given is not None:
        there = np.ravel(given)
        if len(there) != rows or not all(hasattr(axes, "semilogx") for axes in there):
            raise ParameterError("ax=", f"takes {'a pair of ' if rows > 1 else ''}matplotlib Axes.",
                                 "Write figure, ax = plt.subplots(2), and ax=ax.")
        return there[0].figure, there
    figure = bare_figure("Drawing a linear model", figsize=SIZE, layout="constrained")
    return figure, figure.subplots(rows, 1, sharex=rows > 1, squeeze=False)[:, 0]
