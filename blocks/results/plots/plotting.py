"""How are variables drawn over time?

One axes per dimension, with the unit at its axis; matplotlib draws. Angles,
frequencies and plain rates share a dimension in pint, and get separate axes.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Never, TypedDict

import numpy as np

from ...exceptions import ParameterError, brief, optional_package
from ...numerics.tolerances import TINY
from ...reading.foreign_words import unknown_option
from ...units import Unit, in_unit
from ..formatting import SECOND, pretty, time_unit, unit_to_show
from ..parameters import differences, in_few_words
from ..recording import Curves, Recording
from ..values.samples import Samples, headings
from ..values.sampling import units_wanted
from ..values.times import grid
from ..values.views import run_of
from .figures import Figure, bare_figure, finished_figure, shown_figure

__all__ = ["Curve", "Drawing", "Panel", "PlotOptions", "figure_of", "given_axes", "plot", "span_of"]

STYLE = {
    "font.size": 10, "axes.titlesize": 12, "axes.titleweight": "bold", "axes.labelsize": 10,
    "legend.fontsize": 9, "axes.grid": True, "grid.color": "0.9", "grid.linewidth": 0.8,
    "axes.spines.top": False, "axes.spines.right": False, "axes.axisbelow": True,
    "lines.linewidth": 1.6, "legend.frameon": False, "figure.dpi": 110,
    "axes.prop_cycle": "cycler('color', ['0072b2', 'd55e00', '009e73', 'cc79a7', 'e69f00', "
    "'56b4e9', '000000', '7a5195'])",  # Okabe & Ito: told apart by the colour-blind, too
}  # fmt: skip
LONG, BESIDE = 28, 34  # letters of a path along an axis, and in a legend beside the axes
CROWD = 10  # instances of an array up to which every one has a legend entry
MOST = 100  # instances drawn of a larger array
DENSE = 60  # events above which their lines are not dashed: dashes would make stripes
APART = 600  # lines of events that can be told apart in a picture
INK = "0.35"
WIDE, SWATCH = 110, 8  # letters beside each other in a legend, and those that a line takes


@dataclass
class Curve:
    """A series, what it is called in the picture, and the unit that is wished for."""

    series: Samples
    name: str  # its path, and of which run it is
    wish: str | None
    legend: str = ""  # what it is called instead, where the axes says the path
    dashes: Any = "solid"

    def text(self, path: str) -> str:
        """What an instance is called in the legend."""
        return self.legend or path + self.name.removeprefix(self.series.path)


@dataclass
class Panel:
    """Curves that share an axes, and the unit they are shown in."""

    unit: Unit
    curves: list[Curve] = field(default_factory=list)
    path: str = ""  # of the variable that all of them are, if it is one

    @property
    def words(self) -> Mapping[int, str] | None:
        """What the values of modes mean."""
        return self.curves[0].series.infos[0].words

    @property
    def heading(self) -> str:
        """``"v [m/s]"``, with the names where they are few."""
        path = self.path or self.alone
        names = [path] if path else list(dict.fromkeys(c.series.infos[0].name for c in self.curves))
        text = ", ".join(names)
        if not path and (len(names) > 3 or len(text) > 24):
            text = ""
        if self.words is not None:
            return text or "mode"
        shown = pretty(self.unit)
        return f"{text} [{shown}]".strip() if shown else text or "dimensionless"

    @property
    def alone(self) -> str:
        """What the only curve is called, where it is short enough to need no legend."""
        if len(self.curves) > 1 or len(self.curves[0].series.infos) > 1:
            return ""
        text = self.curves[0].text(self.curves[0].series.infos[0].path)
        return text if len(text) <= LONG else ""


class PlotOptions(TypedDict, total=False):
    """What pictures take besides units, for type checkers."""

    every: Any
    save: str | Path | None
    title: str | None
    events: bool
    ax: Any


def plot(source: Curves, chosen: Sequence[Samples], *, units: str | Mapping[str, str] | None = None,
         every: Any = None, save: str | Path | None = None, title: str | None = None,
         events: bool = True, ax: Any = None, **unknown: Never) -> Figure:
    """Draw series over time and return the matplotlib Figure.

    Parameters
    ----------
    source : Curves
        What is asked; names the picture.
    chosen : sequence of Samples
    units : mapping of path to unit text, or str, optional
        Unit for the axes of that variable, or of all; variables of one dimension for which
        different units are asked get separate axes. ``"time"`` sets the time axis.
    every : str or quantity, optional
        Draw samples at equal distances instead of the recorded ones.
    save : path, optional
        Write the picture; its ending chooses the format.
    title : str, optional
        Instead of the model's name.
    events : bool
        Whether a thin vertical line marks every event, where all that is drawn is of one run;
        on the right above the picture stands what the lines are.
    ax : matplotlib Axes, or as many as there are dimensions, optional
        Draw into these instead of a figure of its own.

    Notes
    -----
    The figure belongs to pyplot, so that ``plt.show()`` shows it, unless it is
    saved or shown inline in a notebook: then nothing has to be closed.
    """
    if unknown:
        raise unknown_option("plot()", unknown, ("units", "every", "save", "title", "events", "ax"))
    names = headings(source, chosen)
    legend = legends(source, chosen)
    wanted = units_wanted(units, chosen, names, "drawn variables")
    curves = [Curve(s, text, wanted.get(name))
              for s, name, text in zip(chosen, names, legend, strict=True)]
    panels = _panels(curves)
    clock = unit_to_show(SECOND, wanted.get("time", time_unit(span_of(chosen))), "time")
    one_run = len({id(run_of(s.rows.source)) for s in chosen}) == 1
    marked = list(chosen[0].rows.source.events) if events and one_run else []
    draw = Drawing(panels, every, clock, marked)
    if ax is not None:
        return draw.into(given_axes(ax, panels), title, save, "best")
    return figure_of(draw, source.name if title is None else title, save)


def figure_of(draw: Drawing, title: str, save: str | Path | None, legend: str = "outside"
              ) -> Figure:
    """A figure of its own with an axes for every panel."""
    rows = len(draw.panels)
    size = (9.0, 1.2 + (2.8 if rows == 1 else 2.1 * rows))
    with optional_package("matplotlib.pyplot", "A plot", "plot").rc_context(STYLE):
        figure = (shown_figure if save is None else bare_figure)(
            "A plot", figsize=size, layout="constrained")
        axes = figure.subplots(len(draw.panels), 1, sharex=True, squeeze=False)[:, 0]
        figure.align_ylabels(list(axes))
        draw.into(list(axes), title, save, legend)
    return figure


@dataclass
class Drawing:
    """What is drawn, over which times, with which events marked."""

    panels: Sequence[Panel]
    every: Any
    clock: Unit
    marked: Sequence[Any]  # events

    def into(self, axes: Sequence[Any], title: str | None, save: str | Path | None,
             legend: str = "outside") -> Figure:
        """Draw each panel into an axes; returns the figure of these."""
        for ax, panel in zip(axes, self.panels, strict=True):
            for curve in panel.curves:
                _draw(ax, curve, self.every, self.clock, panel.unit)
            ax.set_ylabel(panel.heading)
            if panel.words is not None:
                ax.set_yticks(list(panel.words), labels=list(panel.words.values()))
            ax.margins(x=0.0, y=0.08)
            if self.marked:
                _mark(ax, [event.time for event in self.marked], self.clock)
            if not panel.alone:
                _legend(ax, legend)
        if self.marked:
            axes[0].set_title(_marks_in_words(self.marked), loc="right", color=INK, fontsize=9,
                              fontweight="normal")
        axes[-1].set_xlabel(f"time [{pretty(self.clock)}]")
        if title is not None:
            axes[0].set_title(title, loc="left")
        return finished_figure(axes[0].get_figure(), save)


def given_axes(ax: Any, panels: Sequence[Panel] = ()) -> list[Any]:
    """The axes that somebody has made, refused unless there is one for every dimension."""
    axes = list(np.ravel(np.array(ax, dtype=object)))
    if not all(hasattr(one, "plot") for one in axes):
        raise ParameterError("plot(ax=…)", f"takes axes of matplotlib, but was given {brief(ax)}.",
                             "Write for example figure, ax = plt.subplots().", given=ax)
    if len(axes) != len(panels) > 0:
        units = ", ".join(str(panel.unit) or "1" for panel in panels)
        raise ParameterError(
            "plot(ax=…)", f"draws {len(panels)} axes, one for each dimension ({units}), but was "
            f"given {len(axes)}.", f"Give as many: figure, axes = plt.subplots({len(panels)}), or "
            "name variables of one dimension.", given=len(axes), expected=len(panels),
        )  # fmt: skip
    return axes


def span_of(chosen: Sequence[Samples]) -> float:
    """Time in s from the first sample of all to the last."""
    times = [s.rows.source.times for s in chosen if len(s.rows.source.times)]
    return max((float(t[-1]) for t in times), default=0.0) - min(
        (float(t[0]) for t in times), default=0.0)


def _panels(curves: Sequence[Curve]) -> list[Panel]:
    if not curves:
        raise ParameterError("plot", "found nothing to draw.",
                             "Name a variable: result.plot('block.v').")  # fmt: skip
    panels: dict[Any, Panel] = {}
    first: dict[Any, Any] = {}  # panel of a dimension, for series without a wish
    for curve in sorted(curves, key=lambda c: c.wish is None):
        u = curve.series.declared_unit
        words = curve.series.infos[0].words
        sort = (frozenset(u.dimension.items()), u.angular, u.frequency,
                tuple(words.items()) if words else ())
        if curve.wish is not None:
            shown = unit_to_show(u, curve.wish, curve.series.path)
            key = (sort, shown)
        else:
            shown, key = u, first.get(sort, sort)
        first.setdefault(sort, key)
        panels.setdefault(key, Panel(shown)).curves.append(curve)
    place = {id(c): k for k, c in enumerate(curves)}
    for panel in panels.values():
        panel.curves.sort(key=lambda c: place[id(c)])
    return sorted(panels.values(), key=lambda p: place[id(p.curves[0])])


def _draw(ax: Any, curve: Curve, apart: Any, clock: Unit, u: Unit) -> None:
    import matplotlib

    series: Any = curve.series
    every = len(series.infos)
    rows = range(every)
    if every > MOST:
        rows = np.unique(np.linspace(0, every - 1, MOST).astype(int))  # type: ignore[assignment]
        series = series[rows]
    times = np.asarray(series.rows.source.times)
    seconds = None if apart is None else grid(series.rows.source.close_times, apart)
    at = in_unit(times if seconds is None else seconds, clock)
    si = series.si if seconds is None else series.si_at(seconds, "right", series.path)
    values = np.atleast_2d(in_unit(si, u))
    style = "steps-post" if series.kind in ("discrete", "mode") else "default"
    many = len(values) > CROWD
    colours = matplotlib.colormaps["viridis"](np.linspace(0, 0.92, len(values)))
    named = {0, len(values) // 2, len(values) - 1} if many else set(range(len(values)))
    for k, (info, row) in enumerate(zip(series.infos, values, strict=True)):
        look = {"linestyle": curve.dashes}
        if many:
            look |= {"color": colours[k], "linewidth": 0.9}
        text = curve.text(info.path) if k in named else "_"
        ax.plot(at, row, drawstyle=style, label=text, **look)
    if many and every > len(values):
        ax.plot([], [], " ", label=f"{len(values)} of {every:,} drawn")


def _mark(ax: Any, times: Sequence[float], clock: Unit) -> None:
    """Thin lines, paler the more there are; of those that would lie on each other the first."""
    seconds = np.asarray(times, dtype=float)
    if len(seconds) > APART:
        place = (seconds - seconds[0]) * (APART / max(float(np.ptp(seconds)), TINY))
        seconds = seconds[np.unique(place.astype(int), return_index=True)[1]]
    alpha = float(np.clip(25 / len(seconds), 0.12, 0.8))
    dashes = "solid" if len(seconds) > DENSE else (0, (4, 3))
    at = in_unit(seconds, clock)
    ax.vlines(at, 0, 1, transform=ax.get_xaxis_transform(), alpha=alpha, linestyles=dashes,
              linewidths=0.9, colors=INK, zorder=1)  # fmt: skip


def _marks_in_words(events: Sequence[Any]) -> str:
    """What the lines are: ``"┆ rub sticks"``, or how many events they are."""
    said = {f"{e.component} {e.description}".strip() for e in events}
    (text,) = said if len(said) == 1 else ("",)
    if not text or len(text) > LONG:
        return f"┆ {len(events):,} events" if len(events) > 1 else "┆ event"
    return f"┆ {text}" + (f", {len(events):,} times" if len(events) > 1 else "")


def _legend(ax: Any, place: str) -> None:
    """Outside the axes, where the figure makes room for it; else where little is covered."""
    entries = [t for t in ax.get_legend_handles_labels()[1] if t]
    columns, longest = 1 if len(entries) <= 12 else 2, max(map(len, entries), default=0)
    beside = max(1, min(len(entries), WIDE // (longest + SWATCH)))
    figure = ax.get_figure()
    if place == "below":  # one for all axes of the figure
        if ax is figure.axes[0]:
            figure.legend(*ax.get_legend_handles_labels(), loc="outside lower center", ncols=beside)
    elif place == "outside" and columns * longest > BESIDE:  # or no room for curves
        ax.legend(loc="upper center", bbox_to_anchor=(0.5, 0.0), ncols=beside,
                  borderaxespad=4.0 if ax is figure.axes[-1] else 0.6)
    elif place == "outside":
        ax.legend(loc="upper left", bbox_to_anchor=(1.0, 1.02), ncols=columns, borderaxespad=0.4)
    else:
        ax.legend(loc=place, ncols=columns)


def legends(asked: Curves, chosen: Sequence[Samples]) -> list[str]:
    """The path of every series, and of which run it is where there are several."""
    runs = {id(run): run for run in (run_of(series.rows.source) for series in chosen)}
    made = [run.made_with() for run in runs.values() if isinstance(run, Recording)]
    found = differences(made)
    words = [in_few_words(found, k) for k in range(len(made))]
    if len(runs) == 1 or len(made) < len(runs) or not all(words) or len(set(words)) < len(words):
        return headings(asked, chosen)
    of = dict(zip(runs, words, strict=True))
    return [f"{series.path} ({of[id(run_of(series.rows.source))]})" for series in chosen]
