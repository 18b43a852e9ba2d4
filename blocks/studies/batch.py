"""Runs of a study that are not made one by one, but with what all of them have in common.

Whatever cannot be made so is run again by itself: then its message, and its method, are those of a
single run.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from typing import Any

import numpy as np

from ..diagnostics.check import has_relations, relation_findings
from ..exceptions import BlocksError
from ..initialisation.nominal_values import Nominals, find_nominals
from ..language.compiled_model import CompiledModel
from ..language.tracing import Kernels
from ..numerics.arrays import Array, Flags, Indices
from ..system import System
from .axes import Axis, Plan
from .batch_conditions import common_of, parameter_entries, refuse_request, refuse_varied
from .runner import Outcome, Recipe, Runner, RunsPoints
from .settings import Setting, find_setting

__all__ = ["BatchRunner"]

HUGE = 2.0**1000  # a nominal value that no other exceeds


class BatchRunner(RunsPoints):
    """Runs points in this process; NotBatchable is raised where the runs cannot be made so.

    ``refuse`` refuses what no run may have, of a system; ``methods`` are those by which they can be
    run.
    """

    def __init__(self, model: CompiledModel, recipe: Recipe, plan: Plan,
                 refuse: Callable[[System], None], *methods: str) -> None:
        self.recipe, self.plan = recipe, plan
        system = model.compile()
        refuse(system)
        refuse_request(recipe, *methods)
        settings = [find_setting(model, path, recipe.paths) for path in recipe.paths]
        refuse_varied(settings)
        self.common = common_of(model, system, recipe, settings)
        self.make_ready(system)
        self.runner = Runner.of_copy(model, recipe)  # for single runs
        self.system, self.settings = system, settings
        pairs = list(zip(settings, plan.axes, strict=True))
        #: Values of every axis in SI units.
        self.numbers: list[Array] = [axis.numbers(s.declared.unit) for s, axis in pairs]
        self._out_of_bounds: list[Flags] = [_out_of_bounds(s, axis) for s, axis in pairs]
        kinds = [s.kind for s in settings]
        self.targets = [k for k, kind in enumerate(kinds) if kind == "target"]
        self.parameters = [k for k, kind in enumerate(kinds) if kind != "target"]
        self._entries: dict[int, Indices] = {
            k: parameter_entries(system, settings[k]) for k in self.parameters}
        self.nominal, self.sized = self._nominals()

    @abstractmethod
    def make_ready(self, system: System) -> None:
        """Make what all runs need; refuse where that cannot be."""

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

    def filled(self, places: list[Indices]) -> tuple[Array, Array]:
        """Parameters and states with the values at points, a row each."""
        p, x = (np.tile(a, (len(places[0]), 1)) for a in (self.common.p, self.common.x))
        for k in self.targets:
            states, signs = self._states(self.settings[k])
            x[:, states] = signs * self.numbers[k][places[k]][:, None]
        for k in self.parameters:
            p[:, self._entries[k]] = self.numbers[k][places[k]][:, None]
        return p, x

    def _states(self, setting: Setting) -> tuple[Indices, Indices]:
        """States that an initial target sets, and the signs with which it does."""
        flat, part = self.system.flat, setting.component
        assert part is not None
        f, first = self.system.network.place[part.path]
        i = flat.network.families[f].kernel.index[setting.declared.name]
        slots = flat.base[f][i, 0] + first + np.arange(part.size)
        states = np.searchsorted(self.system.tape.reduced.states, flat.class_of[slots])
        return states, flat.sign_of[slots]

    def sizes(self, places: list[Indices]) -> tuple[Array, Array]:
        """Nominal values of the states at points, to powers of two, and absolute tolerances."""
        nominal = np.tile(self.nominal, (len(places[0]), 1))  # 0 where there is none
        for k, sized in enumerate(self.sized):
            size = np.abs(self.numbers[k][places[k]])[:, None]
            nominal[:, sized] = np.maximum(nominal[:, sized], size)
        scale = np.exp2(np.round(np.log2(np.where(nominal > 0, nominal, 1.0))))
        given = self.common.given_atol
        return scale, np.where(np.isfinite(given), given, self.common.atol * scale)

    def _nominals(self) -> tuple[Array, list[Flags]]:
        """Nominal values of the states without the varied values, 0 where there is none; per axis,
        the states whose nominal value is one of its, if that is the largest."""
        runner = self.runner
        states = runner.system.tape.reduced.states
        settings: Any = runner.settings
        tables = [(s.component._values if s.kind == "parameter" else s.component._targets,
                   s.declared.name, s.kind == "target") for s in settings]

        def found(varied: int | None) -> Nominals:
            for k, (table, name, is_target) in enumerate(tables):
                value = HUGE if k == varied else 0.0
                table[name] = (value, "high") if is_target else value
            return find_nominals(runner.system, runner.model.compiled.nominal_table)

        before = [(table, dict(table)) for table, _, _ in tables]
        none = found(None)
        sized = [found(k).value[states] == HUGE for k in range(len(tables))]
        for table, values in before:
            table.clear()
            table.update(values)
        return np.where(none.origin[states] == 3, 0.0, none.value[states]), sized

    def refused(self, places: list[Indices]) -> Flags:
        """Which points a component refuses, or need another order of solving."""
        refused = np.zeros(len(places[0]), dtype=bool)
        for k in self.parameters:
            refused |= self._out_of_bounds[k][places[k]]
        if self.system.tape.validity.decide:
            refused |= ~self.system.still_valid(self.filled(places)[0])
        varied, parts = [], {}
        for k in self.parameters:
            setting = self.runner.settings[k]
            part: Any = setting.component
            parts[id(part)] = part
            varied.append((part._values, setting.declared.name,
                           self.numbers[k][places[k]].tolist()))
        kernels = Kernels()
        if not any(has_relations(part, kernels) for part in parts.values()):
            return refused
        for row in range(len(refused)):
            for table, name, numbers in varied:
                table[name] = numbers[row]
            refused[row] |= next(relation_findings(parts.values(), kernels), None) is not None
        return refused


def _out_of_bounds(setting: Setting, axis: Axis) -> Flags:
    """Which samples are out of bounds; given values are checked when they are given."""
    bad = np.full(len(axis.values), axis.sampled)
    for k in np.flatnonzero(bad).tolist():
        with suppress(BlocksError):
            setting.accept(axis.quantity(k))
            bad[k] = False
    return bad
