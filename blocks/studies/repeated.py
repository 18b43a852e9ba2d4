"""Runs of a study one after the other, without what they have in common.

For models with exact friction: what is checked, looked up and compiled for a single run is that
once for all. A run that is not carried out whole by machine code is made again by itself: then its
message, and its method, are those of a single run.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

import numpy as np

from ..nonsmooth.contract import Laws
from ..numerics.arrays import Array
from ..results.extremes import largest
from ..results.lookup import find
from ..results.rows import Rows
from ..simulation.catalog import Catalog
from ..simulation.interrupts import interruptible
from ..simulation.recording import RunRecording
from ..simulation.whole_runs import WholeRuns
from ..system.finite_values import FiniteValues
from ..units import unit
from .axes import Plan
from .batch_conditions import (
    OneByOne,
    common_of,
    refuse_decisions,
    refuse_request,
    refuse_varied,
)
from .outputs import Output
from .runner import Outcome, Outcomes, Recipe, Runner
from .settings import find_setting
from .varied_values import VariedValues

if TYPE_CHECKING:
    from ..model import Model
    from ..system import System

__all__ = ["Repeated"]

BLOCK = 128  # runs that are laid out together


class Repeated:
    """Runs points one after the other, in this process.

    Parameters
    ----------
    model, recipe : what is run
    plan : the points

    Raises
    ------
    OneByOne
        Where runs are not carried out whole by machine code.
    """

    def __init__(self, model: Model, recipe: Recipe, plan: Plan) -> None:
        self.recipe = recipe
        system = model.compile()
        refuse_decisions(system)
        refuse_request(recipe, "auto")
        settings = [find_setting(model, path, recipe.paths) for path in recipe.paths]
        refuse_varied(settings)
        self.common = c = common_of(model, system, recipe, settings, len(plan))
        _refuse_more(system, c.problem.laws)
        self.runs = WholeRuns(c.problem, c.t0, c.t1, c.rtol, c.max_step)
        if self.runs.time_events.after(c.t0) < c.t1:
            raise OneByOne("something happens at known times")
        self.runner = Runner.of_copy(model, recipe)  # for single runs
        self.varied = VariedValues(system, settings, plan, self.runner)
        catalog = Catalog(system)
        self.outputs = [(output, _handles(output, catalog)) for output in recipe.outputs]
        self.alone = 0  # runs that were made by themselves after all

    @property
    def execution(self) -> str:
        """How the runs were made."""
        rest = f", {self.alone} of them by themselves after all" if self.alone else ""
        return f"one by one, in machine code from start to end{rest}"

    def run(self, plan: Plan, numbers: Iterable[int]) -> Outcomes:
        """Run points one after the other."""
        numbers = list(numbers)
        for first in range(0, len(numbers), BLOCK):
            yield from self._block(plan, numbers[first : first + BLOCK])

    def _block(self, plan: Plan, numbers: list[int]) -> Outcomes:
        common, places = self.common, plan.places(np.array(numbers))
        p, x = (np.tile(a, (len(numbers), 1)) for a in (common.p, common.x))
        self.varied.fill(places, p, x)
        refused = self.varied.refused(places)
        scale, atol = self.varied.sizes(places, common)
        for k, number in enumerate(numbers):
            values = None if refused[k] else self._values(p[k], x[k], scale[k], atol[k])
            if values is not None:
                units = {output.name: output.unit or "" for output, _ in self.outputs}
                yield Outcome(number, "finished", "", values, units)
                continue
            self.alone += 1
            yield self.runner.run_one(number, plan.point(number))

    def _values(self, p: Array, x: Array, scale: Array, atol: Array) -> dict[str, Any] | None:
        """The outputs of a run; None where it has to be made by itself."""
        with interruptible():
            recording = self.runs.run(p, x, scale, atol)
            if recording is None:
                return None
            values = {output.name: _value(output, handles, recording)
                      for output, handles in self.outputs}
        return values if all(np.isfinite(v).all() for v in values.values()) else None


def _refuse_more(system: System, laws: Laws) -> None:
    """Refuse what is looked at in the course of a run, or after it, beside friction that slides."""
    if laws.recorded or laws.elements.contact.any() or laws.elements.switch.any():
        raise OneByOne("the model has contacts or ideal elements")
    if FiniteValues.of(system).told or system.tape.carried.any() or any(
            f.kernel.delays for f in system.network.families):
        raise OneByOne("values of the model have to be looked at in every step")


def _handles(output: Output, catalog: Catalog) -> list[int]:
    """Handles of the scalars that an output is made of."""
    found = find(catalog, output.path, "")
    return [info.index for info in (found if isinstance(found, tuple) else (found,))]


def _value(output: Output, handles: list[int], recording: RunRecording) -> Any:
    """An output of a run, a number or an array, in its unit."""
    rows = Rows(recording, handles, output.path)
    match output.reduction:
        case "max":
            found = largest(rows)
        case "min":
            found = -largest(rows, -1)
        case "initial":
            found = rows.sample(0)
        case "final":
            found = rows.sample(-1)
        case "at":
            found = rows.at(np.array(output.times[0]), "right", output.path)
        case _:
            found = rows.at(np.array(output.times), "right", output.path)
    if not output.dims or output.dims == ("time",):
        found = found[0]
    shown = unit(output.unit or "")
    value = (found - shown.offset) / shown.factor
    return float(value) if np.ndim(value) == 0 else value
