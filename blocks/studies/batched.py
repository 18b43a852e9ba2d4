"""Many runs of a study at once, as lanes of the processor's vectors.

Whatever goes wrong in a lane, or takes too many steps there, is run again by itself.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass
from types import ModuleType
from typing import TYPE_CHECKING

import numpy as np

from .. import native
from ..numerics.arrays import Array, Flags, Indices
from ..simulation.catalog import Catalog
from ..simulation.interrupts import postponed
from ..simulation.running_method import LOOK_COMPILED
from ..simulation.variable_functions import VariableFunctions
from ..system.time_functions import ACROSS
from .axes import Plan
from .batch import AtOnce
from .batch_conditions import Common, OneByOne, refuse_structure
from .outputs import Output
from .runner import Outcome, Outcomes, Recipe

if TYPE_CHECKING:
    from ..language.compiled_model import CompiledModel
    from ..native.lanes import Filled, Runs
    from ..system import System

__all__ = ["Batched"]

BLOCK = 128  # runs of one thread that are laid out, and kept, together
AHEAD = 2  # blocks that are laid out while one is run


class Batched(AtOnce):
    """Runs points in lanes; several threads (``workers``) share them run by run."""

    how = "several runs at once, in machine code (dopri5)"

    def __init__(self, model: CompiledModel, recipe: Recipe, plan: Plan, workers: int = 1) -> None:
        self.workers = workers
        super().__init__(model, recipe, plan, refuse_structure, "auto", "dopri5")

    def make_ready(self, system: System) -> None:
        self.program = LaneProgram.of(system, self.common, self.recipe.outputs)

    def run(self, plan: Plan, numbers: Iterable[int]) -> Outcomes:
        """Run points, a block after the other; outcomes come block by block."""
        numbers = list(numbers)
        size = BLOCK * self.workers
        blocks = (self._laid_out(numbers[k : k + size]) for k in range(0, len(numbers), size))
        ahead: deque[tuple[_Block, list[Future[None]]]] = deque()
        given_up: list[bool] = []

        def give_up() -> None:  # threads end with the runs that are under way
            given_up.append(True)
            for block, _ in ahead:
                block.runs.counter[0] = len(block.numbers)

        with ThreadPoolExecutor(self.workers) as pool:
            try:
                while True:
                    with postponed(give_up):
                        for block in blocks:
                            ahead.append((block, [pool.submit(self._march, block)
                                                  for _ in range(self.workers)]))
                            if len(ahead) > AHEAD:
                                break
                        if not ahead:
                            return
                        block, threads = ahead[0]
                        refused = self.varied.refused(block.places)  # while the threads march
                        for thread in threads:
                            thread.result()
                    if given_up:
                        raise KeyboardInterrupt
                    ahead.popleft()
                    yield from self._outcomes(block, refused)
            finally:
                give_up()

    def _laid_out(self, numbers: list[int]) -> _Block:
        """Parameters and states of points, and room for what comes of them."""
        common, lanes = self.common, self.program.lanes
        count, width = len(numbers), self.program.width
        p, x = np.tile(common.p, (count, 1)), np.tile(common.x, (count, 1))
        places = self.plan.places(np.array(numbers))
        self.varied.fill(places, p, x)
        _, atol = self.varied.sizes(places, common)
        runs = lanes.Runs(np.zeros(1, dtype=np.int64), x, p, atol, common.rtol, common.t0,
                          common.t1, common.max_step, common.pieces, ACROSS, common.most_steps,
                          LOOK_COMPILED, common.stiff_steps)
        return _Block(numbers, places, runs, lanes.Filled(
            np.empty_like(x), np.empty((count, width)), np.empty((count, width)),
            np.empty((count, len(self.program.times), width)), np.full(count, -1),
            np.zeros((count, 3), dtype=np.int64)))

    def _march(self, block: _Block) -> None:
        """Make those runs of a block that no other thread makes."""
        program = self.program
        program.lanes.march(program.code, program.slope, program.outputs, self.common.unknowns,
                            block.runs, program.times, program.extremes, block.filled)

    def _outcomes(self, block: _Block, refused: Flags) -> Iterator[Outcome]:
        filled = block.filled
        good = (filled.status == self.program.lanes.REACHED) & ~refused
        good &= np.isfinite(filled.courses).all(axis=(1, 2))
        good &= np.isfinite(filled.finals).all(axis=1)
        columns = {output.name: self.program.values(
            output, part, self.common, filled.lows, filled.highs, filled.courses)
            for output, part in zip(self.recipe.outputs, self.program.slices, strict=True)}
        yield from self.outcomes(block.numbers, columns, good)


@dataclass(frozen=True)
class _Block:
    """Points that are run, and kept, together."""

    numbers: list[int]
    places: list[Indices]  # of their values, per axis
    runs: Runs
    filled: Filled


@dataclass(frozen=True)
class LaneProgram:
    """Machine code for many runs at once, and where it leaves every output.

    Attributes
    ----------
    lanes : the compiled steps
    code, slope, outputs : addresses
    width : scalars that make up all outputs
    slices : of these, per output
    times : in s, at which outputs are wanted
    extremes : whether their range is wanted
    """

    lanes: ModuleType
    code: Indices
    slope: int
    outputs: int
    width: int
    slices: tuple[slice, ...]
    times: Array
    extremes: bool

    @classmethod
    def of(cls, system: System, common: Common, outputs: Sequence[Output]) -> LaneProgram:
        """Written and compiled for a system.

        Raises
        ------
        OneByOne
            Where that cannot be.
        """
        functions = VariableFunctions(system, Catalog.of(system))
        handles = [output.handles(functions.catalog) for output in outputs]
        ends = np.cumsum([0, *map(len, handles)]).tolist()
        times = {t for o in outputs if o.reduction in ("at", "course") for t in o.times}
        if not native.is_installed():
            raise OneByOne("llvmlite is not installed")
        from ..native import lanes
        from ..native.equations import equations_of
        from ..native.stages import arithmetic

        if reason := native.unwritable(common.problem):
            raise OneByOne(reason)
        equations = equations_of(system, common.problem.p)
        if equations.large:
            raise OneByOne("the model is large")
        slope, written = equations.in_lanes(lanes.LANES, functions.expression(sum(handles, ())))
        return cls(lanes, arithmetic(lanes.LANES), slope, written, ends[-1],
                   tuple(map(slice, ends, ends[1:])),
                   np.array(sorted(times | {common.t0, common.t1})),
                   any(o.reduction in ("max", "min") for o in outputs))

    def values(self, output: Output, part: slice, common: Common, lows: Array, highs: Array,
               courses: Array) -> Array:
        """An output of all runs, in its unit, from what the lanes left."""
        values = {"max": highs, "min": lows}.get(output.reduction)
        if values is None:
            times = {"initial": (common.t0,), "final": (common.t1,)}.get(
                output.reduction, output.times)
            values = courses[:, np.searchsorted(self.times, times)]
            if output.reduction != "course":
                values = values[:, 0]
        values = np.moveaxis(values[..., part], -1, 1)
        return output.in_its_unit(values)
