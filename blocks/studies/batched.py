"""Many runs of a study at once, as lanes of the processor's vectors.

Whatever goes wrong in a lane, or takes too many steps there, is run again by itself: then its
message, and its method, are those of a single run.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from ..numerics.arrays import Array, Flags, Indices
from ..simulation.interrupts import postponed
from ..system.time_functions import ACROSS
from .axes import Plan
from .batch_conditions import common_of, refuse_request, refuse_structure, refuse_varied
from .lane_program import LaneProgram
from .runner import Outcome, Outcomes, Recipe, Runner
from .settings import find_setting
from .varied_values import VariedValues

if TYPE_CHECKING:
    from ..model import Model

__all__ = ["Batched"]

BLOCK = 128  # runs of one thread that are laid out, and kept, together
AHEAD = 2  # blocks that are laid out while one is run


class Batched:
    """Runs points in lanes, in this process; several threads share them run by run.

    Parameters
    ----------
    model, recipe : what is run
    plan : the points
    workers : number of threads

    Raises
    ------
    OneByOne
        Where the runs cannot be made at once.
    """

    def __init__(self, model: Model, recipe: Recipe, plan: Plan, workers: int = 1) -> None:
        self.recipe, self.plan, self.workers = recipe, plan, workers
        system = model.compile()
        refuse_structure(system)
        refuse_request(recipe, "auto", "dopri5")
        settings = [find_setting(model, path, recipe.paths) for path in recipe.paths]
        refuse_varied(settings)
        self.common = common_of(model, system, recipe, settings, len(plan))
        self.program = LaneProgram.of(system, self.common, recipe.outputs)
        self.runner = Runner.of_copy(model, recipe)  # for single runs
        self.varied = VariedValues(system, settings, plan, self.runner)
        self.alone = 0  # runs that were made by themselves after all

    @property
    def execution(self) -> str:
        """How the runs were made."""
        rest = f", {self.alone} of them by themselves after all" if self.alone else ""
        return f"several runs at once, in machine code (dopri5){rest}"

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
                block.taken[0] = len(block.numbers)

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
        runs, width = len(numbers), self.program.width
        p, x = np.tile(self.common.p, (runs, 1)), np.tile(self.common.x, (runs, 1))
        places = self.plan.places(np.array(numbers))
        self.varied.fill(places, p, x)
        _, atol = self.varied.sizes(places, self.common)
        return _Block(
            numbers, places, p, x, atol, np.zeros(1, dtype=np.int64), np.empty_like(x),
            np.empty((runs, width)), np.empty((runs, width)),
            np.empty((runs, len(self.program.times), width)), np.full(runs, -1),
        )  # fmt: skip

    def _march(self, block: _Block) -> None:
        """Make those runs of a block that no other thread makes."""
        program, common = self.program, self.common
        program.lanes.march(
            block.taken, program.code, program.slope, program.outputs, block.x, block.p,
            common.unknowns, block.atol, common.rtol, common.t0, common.t1, common.max_step,
            common.pieces, ACROSS, common.most_steps, program.times, program.extremes,
            block.finals, block.lows, block.highs, block.courses, block.status,
            np.zeros((len(block.numbers), 3), dtype=np.int64),
        )  # fmt: skip

    def _outcomes(self, block: _Block, refused: Flags) -> Iterator[Outcome]:
        good = (block.status == self.program.lanes.REACHED) & ~refused
        good &= np.isfinite(block.courses).all(axis=(1, 2))
        good &= np.isfinite(block.finals).all(axis=1)
        columns: dict[str, Array] = {}
        units = {}
        for output, part in zip(self.recipe.outputs, self.program.slices, strict=True):
            columns[output.name] = self.program.values(
                output, part, self.common, block.lows, block.highs, block.courses)
            units[output.name] = output.unit or ""
        made = np.flatnonzero(good)
        for row in made:
            yield Outcome(block.numbers[row], "finished", "",
                          {name: column[row] for name, column in columns.items()}, units,
                          more=row != made[-1])
        for row in np.flatnonzero(~good):
            number = block.numbers[row]
            self.alone += 1
            yield self.runner.run_one(number, self.plan.point(number))


@dataclass(frozen=True)
class _Block:
    """Points that are run, and kept, together; arrays have a row for each."""

    numbers: list[int]
    places: list[Indices]  # of their values, per axis
    p: Array
    x: Array
    atol: Array
    taken: Indices  # how many of them threads have taken, (1,)
    finals: Array
    lows: Array
    highs: Array
    courses: Array
    status: Indices
