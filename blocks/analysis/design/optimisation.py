"""Which design values are best?

One number of a run is made as small as possible by ``scipy.optimize.minimize`` (SLSQP), with
derivatives by sensitivities; other numbers are kept within limits.
"""

from __future__ import annotations

import logging
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Unpack

import numpy as np

from ...exceptions import BlocksError, ParameterError, told_how_to_call
from ...language.compiled_model import CompiledModel
from ...numerics.arrays import Array
from ...results.sheet import Sheet, Tabulated
from ...simulation.progress import Progress
from ...simulation.settings import Options, refuse_no_mapping
from ...studies.settings import RunOptions, changed_for_a_while
from ...units import Quantity, from_si, to_si
from ..estimation.misfit import Unknown, unknown_of
from ..sensitivity.sensitivities import (
    refuse_no_count,
    refuse_other_options,
    run_with_sensitivities,
)
from ..sensitivity.start_derivatives import moved_settings, varied
from .reductions import Reduction

__all__ = ["Optimum", "optimise", "pareto"]

LOG = logging.getLogger("blocks.analysis")
LIMIT = re.compile(r"^(.*\))\s*(<=|>=)\s*(.+)$")
EXAMPLE = '{"damper.damping": ("1 N*s/m", "1 kN*s/m")}'
MET = 1e-6  # of a limit, by which it may be missed


@dataclass(frozen=True)
class _Limit:
    """A number of a run and what it may be: ``sign * (value - bound) >= 0``."""

    reduction: Reduction
    sign: float
    bound: str
    text: str


@dataclass(frozen=True, repr=False)
class Optimum(Tabulated):
    """The best design that was found.

    Attributes
    ----------
    values : of the design, by path
    objective : its number
    limits : every limited number, by how it was written
    missed : limits that are not met, as they were written
    status : ``"finished"``, ``"stopped"`` (with the reason in ``message``) or ``"interrupted"``
    runs : how many runs it took
    """

    values: dict[str, Quantity]
    objective: Quantity
    limits: dict[str, Quantity]
    missed: tuple[str, ...]
    status: str
    message: str
    runs: int

    @property
    def met(self) -> bool:
        """Whether all limits are met."""
        return not self.missed

    def _sheet(self) -> Sheet:
        rows = [(p, f"{v:.7g~P}") for p, v in self.values.items()]
        rows += [("objective", f"{self.objective:.7g~P}")]
        rows += [(text, f"{v:.7g~P}") for text, v in self.limits.items()]
        notes = [f"No design was found that meets {' and '.join(self.missed)}; this one comes "
                 "nearest."] * (not self.met)
        notes += [f"The search stopped: {self.message}."] * bool(self.message)
        return Sheet.of_facts(f"Optimum, {self.status} after {self.runs} runs", rows,
                              " ".join(notes))


@told_how_to_call
def optimise(model: CompiledModel, objective: str, over: Mapping[str, Sequence[Any]],
             duration: Any, subject_to: Sequence[str] = (), *, maximise: bool = False,
             progress: bool | None = None, rtol: float = 1e-8,
             **options: Unpack[RunOptions]) -> Optimum:
    """Find the design values that make a number of a run least. The model is not changed.

    Parameters
    ----------
    model : Model
    objective : str
        ``"max(body.a)"``; also ``min``, ``initial``, ``final``, ``mean``, ``rms``, ``integral``,
        ``"at(body.x, 1 s)"``.
    over : mapping
        Path to bounds, ``{"damper.damping": ("100 N*s/m", "5 kN*s/m")}``, and perhaps a third
        value to start from; otherwise that is the model's.
    duration : str or quantity
    subject_to : sequence of str, optional
        ``"max(spring.x) <= 50 mm"``, ``"final(block.v) >= 1 m/s"``.
    maximise : bool
        Make the objective as large as possible instead.
    progress : bool, optional
        Show runs, the best so far and the time; by default in terminals and notebooks, of what
        takes more than two seconds.
    rtol, **options
        As in :meth:`~blocks.Model.simulate`.

    Returns
    -------
    Optimum
        A minimum near the start, where others may be lower.

    Raises
    ------
    ModelError
        For mistakes in names, bounds and limits, before the first run.
    """
    refuse_other_options(options, optimise)
    design = _Design(model, objective, over, duration, subject_to, -1.0 if maximise else 1.0,
                     {"rtol": rtol, **options})
    with Progress(progress, 0, name="optimise") as design.tell:
        return design.best()


@told_how_to_call
def pareto(model: CompiledModel, goal: str, against: str, over: Mapping[str, Sequence[Any]],
           duration: Any, *, points: int = 9, maximise: bool = False, rtol: float = 1e-8,
           **options: Unpack[RunOptions]) -> list[Optimum]:
    """Find designs of which none is better in both of two numbers of a run.

    From the best design for one goal to the best for the other, in steps of the latter: one is
    optimised while the other is a limit (the epsilon-constraint method of Haimes, Lasdon and
    Wismer, IEEE Trans. SMC 1, 1971), which also finds what lies in a hollow of the front.

    Parameters
    ----------
    goal, against : str
        Both as small as possible, or as large with ``maximise``; ``limits[against]`` of a design is
        the second one.
    points : int
        How many designs, two at least.
    model, over, duration, maximise, rtol, **options
        As in :func:`optimise`.
    """
    refuse_no_count(points, "pareto", "points", 2)
    second, ends = Reduction.read(against, "pareto(against)"), list[float]()
    for one in (goal, against):
        best = optimise(model, one, over, duration, maximise=maximise, rtol=rtol, **options)
        with changed_for_a_while(model, best.values):
            run = model.simulate(duration, progress=False, rtol=rtol, **options)
        ends.append(second.value(run))
    bounds = from_si(np.linspace(ends[0], ends[1], points), second.unit_in(model))
    return [optimise(model, goal, over, duration, [f"{against} {'<>'[maximise]}= {bound:.15g~C}"],
                     maximise=maximise, rtol=rtol, **options) for bound in bounds]


class _Design:
    """Runs of a design, with what is asked of them and its derivatives."""

    def __init__(self, model: CompiledModel, objective: str, over: Mapping[str, Any], duration: Any,
                 limits: Sequence[str], sign: float, options: dict[str, Any]) -> None:
        refuse_no_mapping(over, "optimise(over=…)", EXAMPLE)
        if not over:
            raise ParameterError("optimise(over=…)", "is empty: nothing may change.",
                                 f"Give over={EXAMPLE}.")
        self.model, self.duration, self.sign, self.options = model, duration, sign, options
        self.paths = list(over)
        settings = moved_settings(model, self.paths, "optimise(over=…)")
        self.unknowns: list[Unknown] = [unknown_of(s, given, "optimise(over") for s, given in
                                        zip(settings, over.values(), strict=True)]
        self.objective = Reduction.read(objective, "optimise(objective)")
        self.limits = [_limit(text) for text in ([limits] if isinstance(limits, str) else limits)]
        asked = [self.objective, *(one.reduction for one in self.limits)]
        self._asked, self._units = asked, [one.unit_in(model) for one in asked]
        self._bounds = np.array([to_si(one.bound, u, one.text) for one, u in
                                 zip(self.limits, self._units[1:], strict=True)], dtype=float)
        self.runs = 0
        self._signs = np.array([one.sign for one in self.limits])
        self._last: tuple[Array, Array, Array] | None = None
        self._scale = np.zeros(0)  # of all numbers, from the first run on
        self.tried: tuple[bool, float, Array] | None = None
        self.tell: Callable[..., None] | None = None

    def numbers(self, searched: Array) -> tuple[Array, Array]:
        """Objective and limited numbers in SI units, and their derivatives by the search."""
        if self._last is not None and np.array_equal(self._last[0], searched):
            return self._last[1], self._last[2]
        values = np.array([u.value(s) for u, s in zip(self.unknowns, searched, strict=True)])
        with varied(self.model) as give:
            for unknown, value in zip(self.unknowns, values, strict=True):
                assert unknown.setting is not None
                give(unknown.setting, value)
            run = run_with_sensitivities(self.model, self.duration, Options(
                progress=False, **self.options), self.paths, "optimise(over=…)")
        self.runs += 1
        numbers = np.array([one.value(run) for one in self._asked])
        slopes = np.array([one.gradient(run, run.sensitivities) for one in self._asked])
        slopes = slopes * [u.slope(v) for u, v in zip(self.unknowns, values, strict=True)]
        if not len(self._scale):
            self._scale = np.abs(np.append(numbers[0], self._bounds))
            self._scale[self._scale == 0] = 1.0
        self._last = searched.copy(), numbers, slopes
        self._keep(values, numbers)
        return numbers, slopes

    def _keep(self, values: Array, numbers: Array) -> None:
        met = bool(np.all(self._margins(numbers) >= -MET))
        rank = met, -self.sign * numbers[0] if met else float(self._margins(numbers).min())
        if self.tried is None or rank > self.tried[:2]:
            self.tried = *rank, values
            self._best_numbers = numbers
        best = from_si(self._best_numbers[0], self._units[0])
        words = f"run {self.runs}, best {best:.6g~P}{'' if self.tried[0] else ', limits not met'}"
        LOG.info("optimise: %s", words)
        if self.tell is not None:
            self.tell(self.runs, words)

    def _margins(self, numbers: Array) -> Array:
        """How far every limit is from being missed, in parts of it."""
        return self._signs * (numbers[1:] - self._bounds) / self._scale[1:]

    def best(self) -> Optimum:
        """Search from the start."""
        from scipy.optimize import minimize

        low = [u.searched(u.low) for u in self.unknowns]
        high = [u.searched(u.high) for u in self.unknowns]
        first = np.array([u.searched(u.guess) for u in self.unknowns])
        width = np.array(high) - np.array(low)

        def at(scaled: Array) -> tuple[Array, Array]:
            return self.numbers(low + scaled * width)

        def number(scaled: Array) -> float:
            return float(self.sign * at(scaled)[0][0] / self._scale[0])

        def slope(scaled: Array) -> Array:
            return self.sign * at(scaled)[1][0] * width / self._scale[0]

        def margin_slopes(scaled: Array) -> Array:
            out = at(scaled)[1][1:]
            return (self._signs / self._scale[1:])[:, None] * out * width

        constraints: Any = [{"type": "ineq", "jac": margin_slopes,
                             "fun": lambda scaled: self._margins(at(scaled)[0])}]
        status, message = "finished", ""
        try:
            found = minimize(number, (first - low) / width, jac=slope, method="SLSQP",
                             bounds=[(0.0, 1.0)] * len(first),
                             constraints=constraints if self.limits else (),
                             options={"ftol": 1e-10, "maxiter": 200})
            if not found.success:
                status, message = "stopped", str(found.message).rstrip(".")
        except KeyboardInterrupt:
            status = "interrupted"
            if self.tried is None:
                raise
        except BlocksError as error:  # a design that cannot be run, or is refused
            if self.tried is None:
                raise
            status, message = "stopped", str(error).rstrip(".")
        return self._optimum(status, message)

    def _optimum(self, status: str, message: str) -> Optimum:
        assert self.tried is not None
        values = self.tried[2]
        missed = np.flatnonzero(self._margins(self._best_numbers) < -MET)
        numbers = [from_si(n, u) for n, u in zip(self._best_numbers, self._units, strict=True)]
        return Optimum(
            {u.path: from_si(v, u.shown) for u, v in zip(self.unknowns, values, strict=True)},
            numbers[0], {one.reduction.text: n for one, n in
                         zip(self.limits, numbers[1:], strict=True)},
            tuple(self.limits[k].text for k in missed), status, message, self.runs)  # fmt: skip


def _limit(text: Any) -> _Limit:
    found = LIMIT.match(text) if isinstance(text, str) else None
    if found is None:
        asked = isinstance(text, str) and ("<" in text or ">" in text)
        example = re.sub("([<>])=?", r"\1=", text) if asked else "max(spring.x) <= 50 mm"
        raise ParameterError("optimise(subject_to=…)", f"has {text!r}, which is no limit of a "
                             "number of the run by <= or >=.", f"Write {example!r}.", given=text)
    return _Limit(Reduction.read(found[1], "optimise(subject_to=…)"),
                  -1.0 if found[2] == "<=" else 1.0, found[3], text)
