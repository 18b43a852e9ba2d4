"""How are the curves of several runs drawn over each other? One axes for each variable."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ..shown import SECOND, time_unit, unit_to_show
from ..values.sampling import units_wanted
from ..values.series import Series
from .plotting import Curve, Drawing, Panel, figure_of, given_axes, span_of

if TYPE_CHECKING:
    from matplotlib.figure import Figure

__all__ = ["overlay"]

DASHES = "solid", (0, (6, 2)), (0, (2, 1.5)), (0, (6, 2, 1, 2))  # one run may cover another


def overlay(alike: Mapping[str, Sequence[Series]], names: Sequence[str], *, units: Any = None,
            every: Any = None, ax: Any = None, save: str | Path | None = None,
            title: str | None = None) -> Figure:
    """Draw variables of several runs.

    Parameters
    ----------
    alike : of each path, its series in every run
    names : of the runs, as they stand in the legend
    units, every, ax, save, title : as those of :func:`blocks.results.plots.plotting.plot`
    """
    first = [found[0] for found in alike.values()]
    wishes = units_wanted(units, first, list(alike), "compared variables")
    panels = []
    for path, found in alike.items():
        shown = unit_to_show(found[0].declared_unit, wishes.get(path), path)
        panels.append(Panel(shown, [
            Curve(series, name, None, name, DASHES[k % len(DASHES)])
            for k, (series, name) in enumerate(zip(found, names, strict=True))], path))
    every_series = [series for found in alike.values() for series in found]
    clock = unit_to_show(SECOND, wishes.get("time", time_unit(span_of(every_series))), "time")
    draw = Drawing(panels, every, clock, ())
    if ax is not None:
        return draw.into(given_axes(ax, panels), title, save, "best")
    return figure_of(draw, " / ".join(dict.fromkeys(s.rows.source.name for s in every_series))
                     if title is None else title, save, "below")
