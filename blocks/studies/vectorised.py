"""Many runs of a study at once, as lanes of the processor's vectors.

Whatever goes wrong in a lane, or takes too many steps there, is run again by itself.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from .. import native
from ..numerics.arrays import Array, Flags, Indices
from ..simulation.catalog import Catalog
from ..simulation.interrupts import postponed
from ..simulation.wanted import VariableFunctions
from ..system.time_functions import ACROSS
from .axes import Plan
from .batch import BatchRunner
from .batch_conditions import BETWEEN, NotBatchable, refuse_structure
from .outputs import Output
from .runner import Outcome, Outcomes, Recipe

if TYPE_CHECKING:
    from ..language.compiled_model import CompiledModel
    from ..native.lanes import Filled, Runs
    from ..system import System

__all__ = ["VectorisedRunner"]

BLOCK = 128  # runs of one thread that are laid out, and kept, together


class VectorisedRunner(BatchRunner):
    """Runs points in lanes; several threads (``workers``) share them run by run."""

    how = "several runs at once, in machine code (dopri5)"

    def __init__(self, model: CompiledModel, recipe: Recipe, plan: Plan, workers: int = 1) -> None:
        self.workers = workers
        super().__init__(model, recipe, plan, refuse_structure, "auto", "dopri5")

    def make_ready(self, system: System) -> None:
        functions = VariableFunctions(system, Catalog.of(system))
        handles = [output.handles(functions.catalog) for output in self.recipe.outputs]
        ends = np.cumsum([0, *map(len, handles)]).tolist()
        times = {t for o in self.recipe.outputs if o.reduction in ("at", "course") for t in o.times}
        if not native.is_installed():
            raise NotBatchable("llvmlite is not installed")
        from ..native import lanes
        from ..native.equations import equations_of
        from ..native.stages import arithmetic

        if reason := native.unwritable(self.common.problem):
            raise NotBatchable(reason)
        equations = equations_of(system)
        if equations.large:
            raise NotBatchable("the model is large")
        self.lanes, self._addresses = lanes, (
            arithmetic(lanes.LANES),
            equations.in_lanes(lanes.LANES, functions.expression(sum(handles, ()))),
            equations.code(self.common.p, self.common.unknowns), system.tape.exponents.numel())
        self._ends = ends  # of outputs, among the scalars that make up all of them
        self._times = np.array(sorted(times | {self.common.t0, self.common.t1}))
        self._extremes = any(o.reduction in ("max", "min") for o in self.recipe.outputs)

    def run(self, plan: Plan, numbers: Iterable[int]) -> Outcomes:
        """Run points, a block after the other; outcomes come block by block."""
        numbers = list(numbers)
        size = BLOCK * self.workers
        with ThreadPoolExecutor(self.workers) as pool:
            for k in range(0, len(numbers), size):
                block, given_up = self._laid_out(numbers[k : k + size]), list[bool]()

                def give_up(block: _Block = block, given_up: list[bool] = given_up) -> None:
                    given_up.append(True)
                    block.runs.counter[0] = len(block.numbers)  # threads end with their runs

                with postponed(give_up):
                    threads = [pool.submit(  # each makes the runs that no other thread makes
                        self.lanes.march, *self._addresses, self.common.unknowns, block.runs,
                        self._times, self._extremes, block.filled) for _ in range(self.workers)]
                    refused = self.refused(block.places)  # while the threads march
                    for thread in threads:
                        thread.result()
                if given_up:
                    raise KeyboardInterrupt
                yield from self._outcomes(block, refused)

    def _laid_out(self, numbers: list[int]) -> _Block:
        """Parameters and states of points, and room for what comes of them."""
        common, lanes = self.common, self.lanes
        count, width = len(numbers), self._ends[-1]
        places = self.plan.places(np.array(numbers))
        p, x = self.filled(places)
        _, atol = self.sizes(places)
        runs = lanes.Runs(np.zeros(1, dtype=np.int64), x, p, atol, common.rtol, common.t0,
                          common.t1, common.max_step, common.pieces, ACROSS, common.most_steps,
                          BETWEEN, common.stiff_steps)
        return _Block(numbers, places, runs, lanes.Filled(
            np.empty_like(x), np.empty((count, width)), np.empty((count, width)),
            np.empty((count, len(self._times), width)), np.full(count, -1),
            np.zeros((count, 3), dtype=np.int64)))

    def _outcomes(self, block: _Block, refused: Flags) -> Iterator[Outcome]:
        filled = block.filled
        good = (filled.status == self.lanes.REACHED) & ~refused
        good &= np.isfinite(filled.courses).all(axis=(1, 2))
        good &= np.isfinite(filled.finals).all(axis=1)
        columns = {output.name: self._values(output, slice(a, b), filled) for output, a, b in zip(
            self.recipe.outputs, self._ends, self._ends[1:], strict=False)}
        yield from self.outcomes(block.numbers, columns, good)

    def _values(self, output: Output, part: slice, filled: Filled) -> Array:
        """An output of all runs, in its unit, from what the lanes left."""
        values = {"max": filled.highs, "min": filled.lows}.get(output.reduction)
        if values is None:
            times = {"initial": (self.common.t0,), "final": (self.common.t1,)}.get(
                output.reduction, output.times)
            values = filled.courses[:, np.searchsorted(self._times, times)]
            if output.reduction != "course":
                values = values[:, 0]
        values = np.moveaxis(values[..., part], -1, 1)
        return output.in_its_unit(values)


@dataclass(frozen=True)
class _Block:
    """Points that are run, and kept, together."""

    numbers: list[int]
    places: list[Indices]  # of their values, per axis
    runs: Runs
    filled: Filled
