"""In what do runs differ: in what they were made with, and in their curves?"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from .. import exceptions as errors
from ..exceptions import ParameterError, WrongCall, WrongDimension, brief
from ..numerics.arrays import Array
from ..units import Quantity, from_si, quantity
from .formatting import SECOND, number, time_unit, unit_to_show
from .parameters import MANY, differences, differences_sheet, in_few_words
from .plots.figures import Figure
from .plots.plotting import Curve, Drawing, Panel, figure_of, given_axes, span_of
from .plots.selection import drawn_by_default
from .recording import Instant, refuse_no_result
from .sheet import Sheet, Tabulated
from .values.sampling import units_wanted
from .values.series import Series

if TYPE_CHECKING:
    from .result import Result

__all__ = ["Comparison", "Gap", "compare"]

DASHES = "solid", (0, (6, 2)), (0, (2, 1.5)), (0, (6, 2, 1, 2))  # one run may cover another
ONE_JUMP = 1e-6  # of the time compared: jumps of two runs that are no farther apart are one


@dataclass(frozen=True)
class Gap:
    """Where a variable of two runs is furthest apart.

    Attributes
    ----------
    path, run : of the variable (the instance, of an array), and the run that is compared with the
        first
    difference, time : its value in that run minus the one in the first run, and when
    share : the difference's magnitude as a share of the largest magnitude in the first run; nan
        where that is zero
    """

    path: str
    run: str
    difference: Quantity
    time: Quantity
    share: float


@errors.calls_told
class Comparison(Tabulated):
    """Runs side by side: :attr:`table` of differences, :meth:`plot`, and what differs in them.

    Attributes
    ----------
    gaps : list of Gap
        The largest difference of every variable from the first run, for each other run.
    """

    def __init__(self, runs: Mapping[str, Result], paths: Sequence[str]) -> None:
        self.runs, self.paths = dict(runs), list(paths)
        self._first = next(iter(self.runs))
        self.start, self.end = _common_time(self.runs)
        self._alike = {path: _alike(self.runs, path) for path in self.paths}
        self.gaps = [self._gap(path, name) for path in self.paths
                     for name in self.runs if name != self._first]  # fmt: skip

    @property
    def differences(self) -> Sheet:
        """Parameters, options, initial targets and options of ``simulate`` that are not equal."""
        return differences_sheet(list(self.runs), self._made())

    @property
    def table(self) -> Sheet:
        """The largest difference of every variable from the first run, and when it is."""
        several, many = len(self.runs) > 2, len(self.runs) > MANY
        others = len(self.runs) - 1
        units = [self._alike[path][0].declared_unit for path in self.paths for _ in range(others)]
        order = np.argsort([-g.share for g in self.gaps], kind="stable") if many else np.arange(
            len(self.gaps))
        gaps, units = ([of[k] for k in order] for of in (self.gaps, units))
        columns: dict[str, list[Any]] = {"variable": [g.path for g in gaps]}
        if several:
            columns["run"] = [g.run for g in gaps]
        columns |= {
            "largest difference": [number(g.difference.magnitude, u.of_any_temperature, 4)
                                   for g, u in zip(gaps, units, strict=True)],
            "at": [number(g.time.magnitude, SECOND, 6) if g.difference.magnitude else "—"
                   for g in gaps],
            "of the largest value": [
                "—" if np.isnan(g.share) else f"{100 * g.share:.3g} %" for g in gaps]}
        other = "each run" if several else f"{list(self.runs)[1]!r}"
        return Sheet("Comparison", columns, f"{other} minus {self._first!r}, "
                     f"from {number(self.start, SECOND)} to {number(self.end, SECOND)}"
                     + ", the largest first" * many)

    def plot(self, *, units: Any = None, every: Any = None, ax: Any = None,
             save: str | Path | None = None, title: str | None = None) -> Figure:
        """Draw every variable of all runs, one axes for each variable.

        Parameters
        ----------
        units : mapping of path to unit text, or str, optional
        ax : matplotlib Axes, or as many as there are variables, optional
        save, title, every
            As those of ``Result.plot``.
        """
        found = differences(self._made())
        words = [in_few_words(found, k) for k in range(len(self.runs))]
        names = [f"{name} ({text})" if text else name
                 for name, text in zip(self.runs, words, strict=True)]  # fmt: skip
        if len(names) > MANY:  # the legend would leave no room for curves
            names[1:-1] = [f"_{name}" for name in names[1:-1]]
        wanted = units_wanted(units, [found[0] for found in self._alike.values()], self.paths,
                              "compared variables")
        panels = [Panel(unit_to_show(found[0].declared_unit, wanted.get(path), path), [
            Curve(series, name, None, name, DASHES[k % len(DASHES)])
            for k, (series, name) in enumerate(zip(found, names, strict=True))], path)
            for path, found in self._alike.items()]
        every_series = [series for found in self._alike.values() for series in found]
        clock = unit_to_show(SECOND, wanted.get("time", time_unit(span_of(every_series))), "time")
        draw = Drawing(panels, every, clock, ())
        if ax is not None:
            return draw.into(given_axes(ax, panels), title, save, "best")
        models = dict.fromkeys(s.rows.source.name for s in every_series)
        return figure_of(draw, " / ".join(models) if title is None else title, save, "below")

    def _made(self) -> list[Any]:
        return [run.recording.made_with() for run in self.runs.values()]

    def _gap(self, path: str, name: str) -> Gap:
        first, other = (self._alike[path][list(self.runs).index(n)] for n in (self._first, name))
        times, sides = self._common_times(self.runs[name])
        gap, size = np.zeros((len(first.infos), len(times))), 0.0
        for side in ("left", "right"):
            here = sides == side
            if here.any():
                was = first.rows.at(times[here], side, path)
                gap[:, here] = other.rows.at(times[here], side, path) - was
                zero = first.declared_unit.offset  # nothing, also of temperatures in degrees
                size = max(size, float(np.max(np.abs(was - zero), initial=0.0)))
        row, k = np.unravel_index(int(np.argmax(np.abs(gap))), gap.shape)
        unit = first.declared_unit.of_any_temperature
        difference = quantity(float(gap[row, k]) / first.declared_unit.factor, unit)
        return Gap(first.infos[row].path, name, difference, from_si(float(times[k]), SECOND),
                   abs(float(gap[row, k])) / size if size else float("nan"))  # fmt: skip

    def _common_times(self, other: Result) -> tuple[Array, Array]:
        """Times at which two runs are known best in their common time, before and after events.

        Not those of jumps that only one of them has just then, and what is as near as two runs may
        place one jump: they would compare what was before it with what came after.
        """
        times, jumps = np.array([self.start, self.end]), list[Array]()
        for run in (self.runs[self._first], other):
            own = np.asarray(run.recording.close_times, dtype=float)
            inside = own[(own >= self.start) & (own <= self.end)]
            times = np.union1d(times, inside)
            jumps.append(np.unique(inside[:-1][np.diff(inside) == 0]))
        before = np.setdiff1d(np.union1d(jumps[0], jumps[1]), self.start)
        alone = np.append(np.setxor1d(jumps[0], jumps[1]), np.inf)
        t, sides = np.append(before, times), np.repeat(["left", "right"], [len(before), len(times)])
        k = np.searchsorted(alone, t)
        away = np.minimum(alone[k] - t, t - np.append(-np.inf, alone)[k])
        clear = (away > ONE_JUMP * (self.end - self.start)) | (t == self.start)
        return t[clear], sides[clear]

    def __repr__(self) -> str:
        return super().__repr__() if len(self.differences) else (
            f"{self.table!r}\nThe runs were made with equal parameters.")

    def _sheet(self) -> Sheet:
        return self.table

    def _sheets(self) -> list[Sheet]:
        return [self.table, self.differences]


@errors.told_how_to_call
def compare(runs: Mapping[str, Result], *paths: str) -> Comparison:
    """Put runs side by side: the largest differences of variables, and what caused them.

    Parameters
    ----------
    runs : mapping of name to Result
        Two or more; the others are compared with the first.
    *paths : str
        Variables, or arrays of them; those that ``plot()`` draws by default where none is named.

    Returns
    -------
    Comparison
        Shows itself as a table; ``plot()`` draws the curves over each other.

    Examples
    --------
    ::

        both = compare({"dry": a, "lubricated": b}, "block.v", "spring.f")
        print(both)                 # largest differences, when, and parameters that differ
        both.plot(save="both.png")
    """
    if not isinstance(runs, Mapping) or hasattr(runs, "recording"):
        raise WrongCall("compare()", f"takes runs with their names, but was given {brief(runs)}.",
                        'Name them: compare({"dry": a, "lubricated": b}, "block.v").', given=runs)
    for name, run in runs.items():
        refuse_no_result(run, f"compare({str(name)!r})")
    if len(runs) < 2:
        raise ParameterError("compare()", f"needs two runs or more, but was given {len(runs)}.",
                             "Give another one, with its name.", code="result.compare")
    named = {str(name): run for name, run in runs.items()}
    chosen = paths or tuple(s.path for s in drawn_by_default(next(iter(runs.values())).recording)
                            if all(s.path in run for run in runs.values()))
    return Comparison(named, chosen)


def _common_time(runs: Mapping[str, Result]) -> tuple[float, float]:
    """The time that all runs cover."""
    spans = {name: np.asarray(run.recording.close_times, dtype=float) for name, run in runs.items()}
    for name, times in spans.items():
        if not len(times):
            raise ParameterError(f"compare({name!r})", "has no samples: the run ended before its "
                                 "first one.", "See result.message.", code="result.empty")
    start = max(float(times[0]) for times in spans.values())
    end = min(float(times[-1]) for times in spans.values())
    if end <= start:
        covers = ", ".join(f"{name!r} {number(t[0], SECOND)} to {number(t[-1], SECOND)}"
                           for name, t in spans.items())
        raise ParameterError("compare()", f"was given runs with no time in common: {covers}.",
                             "Compare runs over the same time.", code="result.runs")
    return Instant(start), Instant(end)


def _alike(runs: Mapping[str, Result], path: str) -> list[Series]:
    """A variable of all runs, refused where it is not the same thing in them."""
    found = [run[path] for run in runs.values()]
    first, name = found[0], next(iter(runs))
    for series, other in zip(found[1:], list(runs)[1:], strict=True):
        expected, given = first.declared_unit, series.declared_unit
        if given.dimension != expected.dimension:
            raise WrongDimension(path, f"is in {expected} in {name!r}, but in {given} in "
                                 f"{other!r}.", "Compare variables of one dimension.",
                                 expected=expected, given=given)
        if len(series.infos) != len(first.infos):
            raise ParameterError(
                path, f"has {len(first.infos)} instances in {name!r}, but {len(series.infos)} in "
                f"{other!r}.", f"Compare single ones: {first.infos[0].path!r}.",
                code="result.compare")  # fmt: skip
    return found
