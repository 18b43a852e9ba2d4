"""Runs of a study that are not made one by one, but with what all of them have in common.

Whatever cannot be made so is run again by itself: then its message, and its method, are those of a
single run.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from ..numerics.arrays import Array, Flags
from .axes import Plan
from .batch_conditions import common_of, refuse_request, refuse_varied
from .runner import Outcome, Recipe, Runner, told
from .settings import find_setting
from .varied_values import VariedValues

if TYPE_CHECKING:
    from ..language.compiled_model import CompiledModel
    from ..system import System

__all__ = ["AtOnce"]


class AtOnce:
    """Runs points in this process.

    Parameters
    ----------
    model, recipe : what is run
    plan : the points
    refuse : what no run may have, of a system
    methods : by which they can be run

    Raises
    ------
    OneByOne
        Where the runs cannot be made so.
    """

    how: ClassVar[str]  #: they are made, for people
    why = ""

    def __init__(self, model: CompiledModel, recipe: Recipe, plan: Plan,
                 refuse: Callable[[System], None], *methods: str) -> None:
        self.recipe, self.plan = recipe, plan
        system = model.compile()
        refuse(system)
        refuse_request(recipe, *methods)
        settings = [find_setting(model, path, recipe.paths) for path in recipe.paths]
        refuse_varied(settings)
        self.common = common_of(model, system, recipe, settings, len(plan))
        self.make_ready(system)
        self.runner = Runner.of_copy(model, recipe)  # for single runs
        self.varied = VariedValues(system, settings, plan, self.runner)
        self.alone = 0  # runs that were made by themselves after all

    @abstractmethod
    def make_ready(self, system: System) -> None:
        """Make what all runs need; refuse where that cannot be."""

    @property
    def execution(self) -> str:
        """How the runs were made."""
        return told(self)

    def by_itself(self, number: int) -> Outcome:
        """A single run."""
        self.alone += 1
        return self.runner.run_one(number, self.plan.point(number))

    def outcomes(self, numbers: Sequence[int], columns: Mapping[str, Array], good: Flags
                 ) -> Iterator[Outcome]:
        """Yield outcomes of runs, a row of outputs each; runs that are not good are made again."""
        units = {output.name: output.unit or "" for output in self.recipe.outputs}
        made = np.flatnonzero(good).tolist()
        for row in made:
            yield Outcome(numbers[row], "finished", "",
                          {name: column[row] for name, column in columns.items()}, units,
                          more=row != made[-1])
        for row in np.flatnonzero(~good).tolist():
            yield self.by_itself(numbers[row])
