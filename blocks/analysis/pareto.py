"""What does one goal cost in terms of another? Designs of which none is better in both.

The best designs for each goal alone are the ends. Between them one goal is optimised with the
other kept within limits (the epsilon-constraint method [Haimes, Lasdon & Wismer, IEEE Trans. SMC 1,
1971]), which also finds what lies in a hollow of the front, where weighted sums find nothing.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from ..exceptions import ParameterError, SimulationError, told_how_to_call, unknown_name
from ..results.figures import bare_figure, finished_figure
from ..results.sheet import Sheet, Tabulated
from ..simulation.settings import (
    HANDED_ON,
    options_named,
    refuse_no_mapping,
    refuse_unknown_options,
)
from ..studies.calls import results_of
from ..units import from_si
from .optimisation import EXAMPLE, optimise
from .reductions import Reduction
from .sensitivity_start import moved_settings, varied

if TYPE_CHECKING:
    from pint import Quantity

    from ..model import Model

__all__ = ["Design", "ParetoFront", "pareto"]

WHERE = "pareto()"
SAME = 1e-6  # of the range of an objective, within which two designs are equally good


@dataclass(frozen=True)
class Design:
    """One design of a front: its values by path, and both objectives as they were written."""

    values: dict[str, Quantity]
    objectives: dict[str, Quantity]


@dataclass(frozen=True, repr=False)
class ParetoFront(Tabulated):
    """Designs of which none is better in both objectives, in the order of the first.

    Attributes
    ----------
    designs : of the front
    runs : how many runs it took
    notes : where no design was found
    """

    designs: tuple[Design, ...]
    runs: int
    notes: tuple[str, ...]

    def table(self) -> Sheet:
        """Objectives and design values, a row per design."""
        first = self.designs[0]
        columns = {text: [f"{d.objectives[text]:.6g~P}" for d in self.designs]
                   for text in first.objectives}
        columns |= {path: [f"{d.values[path]:.6g~P}" for d in self.designs]
                    for path in first.values}
        count = "1 design" if len(self.designs) == 1 else f"{len(self.designs)} designs"
        return Sheet(f"Pareto front, {count} of {self.runs} runs", columns,
                     " ".join(self.notes))

    _sheet = table

    def plot(self, save: Any = None) -> Any:
        """One objective over the other, and each design value beside it; ``save`` to a file."""
        paths = list(self.designs[0].values)
        (x, y), figure = self.designs[0].objectives, bare_figure(
            "A picture of designs", figsize=(4.2 * (1 + len(paths)), 3.6), layout="constrained")
        axes = figure.subplots(1, 1 + len(paths), squeeze=False)[0]
        across, unit_of_x = _column([d.objectives[x] for d in self.designs])
        rows = [[d.objectives[y] for d in self.designs],
                *([d.values[p] for d in self.designs] for p in paths)]
        for axis, name, row in zip(axes, [y, *paths], rows, strict=True):
            values, shown = _column(row)
            axis.plot(across, values, "o-", color="C0", ms=4, lw=1)
            if np.ptp(values) <= SAME * np.abs(values).max():  # no axis of rounding
                axis.set_ylim(*sorted(values[0] * f or f - 1.0 for f in (0.5, 1.5)))
            axis.set_xlabel(f"{x} [{unit_of_x}]")
            axis.set_ylabel(f"{name} [{shown}]")
            axis.grid(alpha=0.3)
        alone = len(self.designs) == 1
        axes[0].set_title("The best in both" if alone else "What one costs the other",
                          fontsize="medium")
        return finished_figure(figure, save, "Pareto front")


@told_how_to_call
def pareto(model: Model, objectives: Sequence[str], over: Mapping[str, Sequence[Any]],
           duration: Any, subject_to: Sequence[str] = (), *, maximise: Sequence[str] = (),
           points: int = 11, executor: Any = None, rtol: float = 1e-8, **options: Any
           ) -> ParetoFront:
    """Find designs of which none is better in both of two objectives.

    Parameters
    ----------
    model : Model
        Is not changed.
    objectives : two of str
        As in :func:`~blocks.analysis.optimisation.optimise`, ``["max(body.a)", "max(spring.x)"]``;
        both are made small.
    over, duration, subject_to, rtol, **options
        As in :func:`~blocks.analysis.optimisation.optimise`.
    maximise : sequence of str
        Those of the objectives that are made large instead.
    points : int
        Designs that are looked for.
    executor : int or executor, optional
        Where designs are looked for, as in :meth:`~blocks.Model.sweep`: a number of processes, an
        executor of ``concurrent.futures``, a Dask client.

    Returns
    -------
    ParetoFront
        After Ctrl-C, of the designs found so far, as a note says.

    Examples
    --------
    ::

        front = pareto(car, ["max(body.a)", "max(tyre.x)"],
                       {"damper.damping": ("100 N*s/m", "5 kN*s/m")}, "3 s")
        print(front)
        front.plot("front.png")
    """
    refuse_unknown_options(options, [*options_named(pareto), *HANDED_ON], "pareto(…, {0})")
    first, second = _two(objectives)
    refuse_no_mapping(over, "pareto(over=…)", EXAMPLE)
    for text in maximise:
        if text not in (first, second):
            raise unknown_name("pareto(maximise=…)", text, [first, second], "objectives")
    if points < 3:
        raise ParameterError("pareto(points=…)", f"is {points}.", "Ask for 3 or more.")
    upward = [text in maximise for text in (first, second)]
    search = _Search(model, (first, second), dict(over), duration, list(subject_to),
                     {"rtol": rtol, **options})
    ends = list(results_of(_best, [search.call(k, up, [], None) for k, up in enumerate(upward)],
                           executor, "pareto"))
    one, other = (design for design, _, _ in ends)
    if one is None or other is None:
        raise ParameterError(WHERE, "found no design that meets all limits when "
                             f"{first if one is None else second} is optimised alone: "
                             f"{ends[0][2] or ends[1][2]}", "Widen the bounds or the limits.",
                             code="pareto.none")  # fmt: skip
    notes: tuple[str, ...] = ()
    inner: list[tuple[Design | None, int, str]] = []
    try:
        for design in results_of(_best, search.between(one, other, upward, points), executor,
                                 "pareto"):
            inner.append(design)
    except KeyboardInterrupt:
        notes = (f"Interrupted after {len(inner)} of {points} designs between the ends.",)
    found = [*ends, *inner]
    designs = [one for one, _, _ in found if one is not None]
    lost = sum(one is None for one, _, _ in inner[: points - 2])
    if lost:
        notes += (f"{lost} of {points} designs were not found: the limits leave none there.",)
    front = tuple(_undominated(designs, upward))
    if len(front) == 1 and not notes:
        notes += ("One design is the best in both: these goals are not against each other.",)
    return ParetoFront(front, sum(runs for _, runs, _ in found), notes)


def _two(objectives: Any) -> tuple[str, str]:
    if isinstance(objectives, str) or len(objectives) != 2 or objectives[0] == objectives[1]:
        raise ParameterError(WHERE, f"takes two different objectives, not {objectives!r}.",
                             'Write ["max(body.a)", "max(spring.x)"]; more goals can be limits: '
                             'subject_to=["max(tyre.f) <= 5 kN"].', given=objectives)  # fmt: skip
    return tuple(objectives)


@dataclass(frozen=True)
class _Search:
    """What all searches have in common."""

    model: Model
    objectives: tuple[str, str]
    over: dict[str, Any]
    duration: Any
    limits: list[str]
    options: dict[str, Any]

    def call(self, k: int, upward: bool, limits: list[str], guess: dict[str, Any] | None
             ) -> tuple[Any, ...]:
        """Arguments of a search for the best of an objective with further limits."""
        over = self.over if guess is None else {
            path: (*given[:2], guess[path]) for path, given in self.over.items()}
        return (self.model, self.objectives, k, upward, over, self.duration,
                [*self.limits, *limits], self.options)

    def between(self, one: Design, other: Design, upward: list[bool], points: int
                ) -> list[tuple[Any, ...]]:
        """Searches for the first objective, the second within limits between its ends.

        At either end, too, one goal is optimised while the other stays: the best design for one
        goal alone may be any of several.
        """
        second = self.objectives[1]
        worst, best = one.objectives[second], other.objectives[second]
        calls = []
        for part in np.linspace(0, 1, points)[1:]:
            guess = {p: v + part * (other.values[p] - v) for p, v in one.values.items()}
            calls.append(self._limited(0, upward, worst + part * (best - worst), guess))
        return [*calls, self._limited(1, upward, one.objectives[self.objectives[0]], one.values)]

    def _limited(self, k: int, upward: list[bool], limit: Quantity, guess: dict[str, Any]
                 ) -> tuple[Any, ...]:
        """A search for one objective while the other is as good as a limit."""
        sign = ">=" if upward[1 - k] else "<="
        return self.call(k, upward[k], [f"{self.objectives[1 - k]} {sign} {limit:.17g~C}"], guess)


def _best(model: Model, objectives: tuple[str, str], k: int, upward: bool, over: dict[str, Any],
          duration: Any, limits: list[str], options: dict[str, Any]
          ) -> tuple[Design | None, int, str]:
    """The best design for one objective with both its numbers, the runs, and why there is none."""
    try:
        best = optimise(model, objectives[k], over, duration, limits, maximise=upward, **options)
    except SimulationError as error:
        return None, 1, str(error)
    if best.status == "interrupted":
        raise KeyboardInterrupt
    if not best.met:
        return None, best.runs, "its limits cannot be met."
    settings = moved_settings(model, list(over), "pareto(over=…)")
    with varied(model):
        for setting in settings:
            setting.apply(best.values[setting.path])
        run = model.simulate(duration, progress=False, **options)
    numbers = {}
    for text in objectives:
        one = Reduction.read(text, "pareto(objectives)")
        numbers[text] = from_si(one.value(run), one.unit_in(model))
    return Design(best.values, numbers), best.runs + 1, ""


def _undominated(designs: list[Design], upward: list[bool]) -> list[Design]:
    """Those that no other beats in both objectives, in the order of the first."""
    first = designs[0].objectives
    table = np.array([[d.objectives[o].to(first[o].units).m * (-1.0 if up else 1.0)
                       for o, up in zip(first, upward, strict=True)] for d in designs])
    near = SAME * (np.ptp(table, axis=0) + 1e-300)
    kept: list[int] = []
    for k in np.lexsort(table.T[::-1]):
        beaten = np.all(table <= table[k] + near, axis=1) & np.any(table < table[k] - near, axis=1)
        twice = any(np.all(np.abs(table[j] - table[k]) <= near) for j in kept)
        if not beaten.any() and not twice:
            kept.append(int(k))
    return [designs[k] for k in kept]


def _column(values: Sequence[Any]) -> tuple[list[float], str]:
    """Numbers in the unit of the first one, and that unit."""
    units = values[0].units
    return [v.to(units).m for v in values], f"{units:~P}" or "1"
