"""How are variables drawn over time?

One axes per dimension, with the unit at its axis; matplotlib draws. Angles,
frequencies and plain rates share a dimension in pint, and get separate axes.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np

from ..exceptions import ParameterError, need_package, unknown_name
from ..files import writing
from ..units import Unit, from_si
from .lookup import grouped
from .recording import Recording
from .series import Series
from .shown import SECOND, pretty, time_unit, unit_to_show
from .times import grid

__all__ = ["plot", "worth_drawing"]

STYLE = {
    "font.size": 10, "axes.titlesize": 12, "axes.titleweight": "bold", "axes.labelsize": 10,
    "legend.fontsize": 9, "axes.grid": True, "grid.color": "0.9", "grid.linewidth": 0.8,
    "axes.spines.top": False, "axes.spines.right": False, "axes.axisbelow": True,
    "lines.linewidth": 1.6, "legend.frameon": False, "figure.dpi": 110,
}  # fmt: skip
CROWD = 10  # instances of an array up to which every one has a legend entry
MOST = 100  # instances drawn of a larger array
DENSE = 60  # events above which their lines are not dashed: dashes would make stripes
INK = "0.35"


@dataclass
class Panel:
    """Series that share an axes, and the unit they are shown in."""

    unit: Unit
    series: list[Series] = field(default_factory=list)

    @property
    def heading(self) -> str:
        """``"v [m/s]"``, with the names where they are few."""
        names = list(dict.fromkeys(_name(s) for s in self.series))
        text = ", ".join(names) if len(names) <= 3 and len(", ".join(names)) <= 24 else ""
        return f"{text} [{pretty(self.unit) or '1'}]".strip()


def _name(series: Series) -> str:
    return series.infos[0].name


def plot(
    recording: Recording,
    chosen: Sequence[Series],
    *,
    units: Mapping[str, str] | None = None,
    every: Any = None,
    save: str | Path | None = None,
    title: str | None = None,
    events: bool = True,
) -> Any:
    """Draw series over time and return the matplotlib Figure.

    Parameters
    ----------
    recording : Recording
    chosen : sequence of Series
    units : mapping of path to unit text, optional
        Unit for the axes of that variable; variables of one dimension for which
        different units are asked get separate axes. ``"time"`` sets the time axis.
    every : str or quantity, optional
        Draw samples at equal distances instead of the recorded ones.
    save : path, optional
        Write the picture; its ending chooses the format.
    title : str, optional
        Instead of the model's name.
    events : bool
        Whether a thin vertical line marks every event.

    Notes
    -----
    The figure belongs to pyplot, so that ``plt.show()`` shows it, unless it is
    saved or shown inline in a notebook: then nothing has to be closed.
    """
    panels = _panels(chosen, dict(units or {}))
    times = recording.times
    seconds = grid(times, every, None)
    at = times if seconds is None else seconds
    span = float(times[-1] - times[0]) if len(times) else 0.0
    clock = unit_to_show(SECOND, (units or {}).get("time", time_unit(span)), "time")
    pyplot = _pyplot()
    with pyplot.rc_context(STYLE):
        figure = _figure(pyplot, len(panels), bare=save is not None)
        axes = figure.subplots(len(panels), 1, sharex=True, squeeze=False)[:, 0]
        for ax, panel in zip(axes, panels, strict=True):
            for series in panel.series:
                _draw(ax, series, from_si(at, clock).magnitude, seconds, panel.unit)
            ax.set_ylabel(panel.heading)
            ax.margins(x=0.0, y=0.08)
            if events and len(recording.events):
                _mark(ax, [e.time for e in recording.events], clock, first=ax is axes[0])
            _legend(ax, panel)
        axes[-1].set_xlabel(f"time [{pretty(clock)}]")
        axes[0].set_title(recording.name if title is None else title, loc="left")
        figure.align_ylabels(list(axes))
        if save is not None:
            with writing(save):
                figure.savefig(save, dpi=150)
    return figure


def _pyplot() -> Any:
    try:
        import matplotlib.pyplot as pyplot
    except ImportError:
        raise need_package("matplotlib", "A plot", "plot") from None
    return pyplot


def _figure(pyplot: Any, rows: int, bare: bool) -> Any:
    import matplotlib
    from matplotlib.figure import Figure

    size = (9.0, 1.2 + (2.8 if rows == 1 else 2.1 * rows))
    if bare or "inline" in matplotlib.get_backend().lower():
        return Figure(figsize=size, layout="constrained")
    return pyplot.figure(figsize=size, layout="constrained")


def _panels(chosen: Sequence[Series], units: dict[str, str]) -> list[Panel]:
    if not chosen:
        raise ParameterError("plot", "found nothing to draw.",
                             "Name a variable: result.plot('block.v').")  # fmt: skip
    known = [*(s.path for s in chosen), "time"]
    for path in units:
        if path not in known:
            raise unknown_name("units", path, known, "drawn variables")
    panels: dict[Any, Panel] = {}
    first: dict[Any, Any] = {}  # panel of a dimension, for series without a wish
    for series in sorted(chosen, key=lambda s: s.path not in units):
        u = series.unit
        sort = (frozenset(u.dimension.items()), u.angular, u.frequency)
        if series.path in units:
            shown = unit_to_show(u, units[series.path], series.path)
            key = (sort, shown)
        else:
            shown, key = u, first.get(sort, sort)
        first.setdefault(sort, key)
        panels.setdefault(key, Panel(shown)).series.append(series)
    place = {id(s): k for k, s in enumerate(chosen)}
    for panel in panels.values():
        panel.series.sort(key=lambda s: place[id(s)])
    return sorted(panels.values(), key=lambda p: place[id(p.series[0])])


def _draw(ax: Any, series: Series, at: np.ndarray, seconds: np.ndarray | None, u: Unit) -> None:
    import matplotlib

    every = len(series.infos)
    rows = range(every)
    if every > MOST:
        rows = np.unique(np.linspace(0, every - 1, MOST).astype(int))  # type: ignore[assignment]
        series = series[rows]
    if seconds is None:
        si = series.si
    else:
        si = series._at(seconds, "right", series.path)
    values = np.atleast_2d(from_si(si, u).magnitude)
    style = "steps-post" if series.kind == "discrete" else "default"
    many = len(values) > CROWD
    colours = matplotlib.colormaps["viridis"](np.linspace(0, 0.92, len(values)))
    named = {0, len(values) // 2, len(values) - 1} if many else set(range(len(values)))
    for k, (info, row) in enumerate(zip(series.infos, values, strict=True)):
        look = {"color": colours[k], "linewidth": 0.9} if many else {}
        ax.plot(at, row, drawstyle=style, label=info.path if k in named else "_", **look)
    if many and every > len(values):
        ax.plot([], [], " ", label=f"{len(values)} of {every:,} drawn")


def _mark(ax: Any, events: Sequence[float], clock: Unit, first: bool) -> None:
    """Thin lines, paler the more there are."""
    alpha = float(np.clip(25 / len(events), 0.12, 0.8))
    dashes = "solid" if len(events) > DENSE else (0, (4, 3))
    at = from_si(np.asarray(events, dtype=float), clock).magnitude
    ax.vlines(at, 0, 1, transform=ax.get_xaxis_transform(), alpha=alpha, linestyles=dashes,
              linewidths=0.9, colors=INK, zorder=1)  # fmt: skip
    if first:
        label = f"event ({len(events):,})" if len(events) > 1 else "event"
        ax.plot([], [], color=INK, linewidth=0.9, linestyle=dashes, alpha=max(alpha, 0.4),
                label=label)  # fmt: skip


def _legend(ax: Any, panel: Panel) -> None:
    entries = [t for t in ax.get_legend_handles_labels()[1] if t]
    columns = 1 if len(entries) <= 12 else 2
    ax.legend(loc="upper left", bbox_to_anchor=(1.0, 1.02), ncols=columns, borderaxespad=0.4)


def worth_drawing(recording: Recording, most: int = 8) -> list[Series]:
    """What to draw when nothing is named.

    The states, where the recording names them; otherwise outputs, then the
    variables of components (not of ports) that change, of the first thousand.
    The instances of an array count as one.
    """
    states = getattr(recording, "states", None)
    if states:
        found = grouped(recording, islice(states, 1000))
        return [Series(recording, infos, path) for path, infos in islice(found, most)]
    found = grouped(recording, islice(recording.catalog, 1000))
    every = [Series(recording, infos, path) for path, infos in found]
    candidates = [s for s in every if s.kind in ("output", "variable")][:200] or every[:most]
    candidates.sort(key=lambda s: s.kind != "output")
    moving = (s for s in candidates if _moves(s))
    return list(islice(moving, most)) or candidates[:most]


def _moves(series: Series) -> bool:
    some = series.si if len(series.infos) <= CROWD else series[:CROWD].si
    return bool(some.size and np.any(np.ptp(some, axis=-1) > 1e-12 * np.max(np.abs(some))))
