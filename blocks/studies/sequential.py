"""Runs of a study one after the other, without what they have in common.

For models with exact friction: what is checked, looked up and compiled for a single run is that
once for all. A run that is not carried out whole by machine code is made again by itself.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from ..results.values.extremes import largest_of_runs
from ..simulation.catalog import Catalog
from ..simulation.interrupts import interruptible
from ..simulation.wanted import VariableFunctions
from ..simulation.whole_runs import SeveralRuns, WholeRuns
from ..system.finite_values import FiniteValues
from .axes import Plan
from .batch import BatchRunner
from .batch_conditions import NotBatchable, refuse_decisions
from .outputs import Output
from .runner import Outcome, Outcomes, Recipe

if TYPE_CHECKING:
    from ..language.compiled_model import CompiledModel
    from ..native.courses import Course
    from ..system import System

__all__ = ["SequentialRunner"]

BLOCK = 128  # runs that are laid out together
MOST_NUMBERS = 1 << 18  # at the steps of runs that are read together


class SequentialRunner(BatchRunner):
    """Runs points one after the other."""

    how = "one by one, in machine code from start to end"

    def __init__(self, model: CompiledModel, recipe: Recipe, plan: Plan) -> None:
        super().__init__(model, recipe, plan, refuse_decisions, "auto")

    def make_ready(self, system: System) -> None:
        c = self.common
        laws = c.problem.laws
        if laws.recorded or laws.elements.contact.any() or laws.elements.switch.any():
            raise NotBatchable("the model has contacts or ideal elements")
        if FiniteValues.of(system).told or system.tape.carried.any() or any(
                f.kernel.delays for f in system.network.families):
            raise NotBatchable("values of the model have to be looked at in every step")
        self.runs = WholeRuns(c.problem, c.t0, c.t1, c.rtol, c.max_step)
        if self.runs.time_events.after(c.t0) < c.t1:
            raise NotBatchable("something happens at known times")
        functions = VariableFunctions.of(system, Catalog.of(system))
        self.outputs = [(output, *functions.function(output.handles(functions.catalog)))
                        for output in self.recipe.outputs]

    def run(self, plan: Plan, numbers: Iterable[int]) -> Outcomes:
        """Run points one after the other."""
        numbers = list(numbers)
        for first in range(0, len(numbers), BLOCK):
            yield from self._block(plan, numbers[first : first + BLOCK])

    def _block(self, plan: Plan, numbers: list[int]) -> Outcomes:
        places = plan.places(np.array(numbers))
        p, x = self.filled(places)
        refused = self.refused(places)
        scale, atol = self.sizes(places)
        made: dict[int, list[tuple[int, Course]]] = defaultdict(list)  # by kinds of steps
        size = 0
        for k, number in enumerate(numbers):
            with interruptible():
                run = None if refused[k] else self.runs.run(p[k], x[k], scale[k], atol[k])
            if run is None:
                yield self.by_itself(number)
                continue
            made[run.common.kind].append((number, run))
            size += run.count * (len(run.common.p) + run.q.shape[1] + run.common.size)
            if size > MOST_NUMBERS:
                yield from self._read(made)
                size = 0
        yield from self._read(made)

    def _read(self, made: dict[int, list[tuple[int, Course]]]) -> Iterator[Outcome]:
        """Outcomes of runs that are forgotten then."""
        while made:
            yield from self._outcomes(made.popitem()[1])

    def _outcomes(self, group: list[tuple[int, Course]]) -> Iterator[Outcome]:
        """What is kept of some runs."""
        with interruptible():
            together = self.runs.read_together([run for _, run in group])
            columns = {output.name: _values(output, read, together)
                       for output, *read in self.outputs}
        good = np.all([np.isfinite(found).reshape(len(group), -1).all(axis=1)
                       for found in columns.values()], axis=0)
        yield from self.outcomes([number for number, _ in group], columns, good)


def _values(output: Output, read: Sequence[Any], runs: SeveralRuns) -> Any:
    """An output of runs, a row each, in its unit."""
    function, wanted = read
    match output.reduction:
        case "max" | "min":
            sign = 1 if output.reduction == "max" else -1
            found = sign * largest_of_runs(
                sign * runs.values(function, wanted), runs.times, runs.first,
                lambda variables, of, at: sign * runs.values_at(
                    function, wanted, np.tile(of, len(at)), at.ravel()).reshape(
                        -1, *at.shape)[variables, :, np.arange(len(variables))].T)[0].T
        case "initial":
            found = runs.values(function, wanted)[:, runs.first].T
        case reduction:
            times = runs.times[-1:] if reduction == "final" else np.array(output.times)
            number, count = len(runs.first), len(times)
            found = runs.values_at(function, wanted, np.repeat(np.arange(number), count),
                                   np.tile(times, number))
            found = np.moveaxis(found.reshape(-1, number, count), 0, 1)
            if reduction != "course":
                found = found[:, :, 0]
    return output.in_its_unit(found)
