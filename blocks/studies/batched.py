"""Can all runs of a study be made at once, as lanes of the processor's vectors?

Where the model runs in machine code, has no events, and only parameters and
initial values of single components are varied. Whatever goes wrong in a lane, or takes
too many steps there, is run again by itself: then its message, and its method, are those of
a single run.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from .. import native
from ..diagnostics.check import relation_findings
from ..exceptions import BlocksError
from ..initialisation.nominal_values import find_nominals
from ..language.component import Component
from ..simulation.actions import Requirements, Resets
from ..simulation.catalog import Catalog
from ..simulation.interrupts import postponed
from ..simulation.start import consistent_start
from ..simulation.variable_functions import VariableFunctions
from ..system.time_functions import ACROSS, TimeFunctions
from ..units import to_si, unit
from .axes import Plan, find_setting
from .outputs import find
from .runner import Outcome, Recipe, Runner

__all__ = ["Batched"]

BLOCK = 128  # runs of one thread that are laid out, and kept, together
AHEAD = 2  # blocks that are laid out while one is run
HUGE = 2.0**1000  # a nominal value that no other exceeds
LONGER = 4  # times the steps that are thought to be worth it: then a run is made by itself
KNOWN = {"start", "method", "rtol", "atol", "max_step"}


class Batched:
    """Runs points in lanes, in this process; several threads share them run by run.

    Parameters
    ----------
    model, recipe : what is run
    plan : the points
    workers : number of threads
    """

    def __init__(self, model: Any, recipe: Recipe, plan: Plan, workers: int = 1) -> None:
        self.recipe, self.plan, self.workers = recipe, plan, workers
        self.model, self.system = model, model.compile()
        self.reason = self._why_not()
        if not self.reason:
            self._lay_columns()
        self.alone = 0  # runs that were made by themselves after all

    @property
    def execution(self) -> str:
        """How the runs were made."""
        rest = f", {self.alone} of them by themselves after all" if self.alone else ""
        return f"several runs at once, in machine code (dopri5){rest}"

    @cached_property
    def runner(self) -> Runner:
        """Of a copy: for single runs, and to ask components about values; made when needed."""
        return Runner.of_copy(self.model, self.recipe)

    # -- whether ---------------------------------------------------------------------------
    def _why_not(self) -> str:
        """Why the runs cannot be made at once, in a few words; empty if they can."""
        from ..simulation.settings import positive_time
        from ..simulation.tolerances import Tolerances

        system, options = self.system, self.recipe.options
        if system.nu:
            return "the model has exact friction or contacts"
        reason = native.why_not(system) or (
            "algebraic loops and constraints are solved one run at a time"
            if system.nz or system.clusters else "")
        if reason:
            return reason
        if system.nm or system.nd or Resets(system).active or Requirements(system).values:
            return "the model has events"
        if any(f.kernel.breaks for f in system.network.families):
            return "something happens at known times"  # which may depend on what is varied
        if set(options) - KNOWN or str(options.get("method", "auto")).lower() not in (
                "auto", "dopri5"):
            return "another method was asked for"
        if any(o.reduction == "function" for o in self.recipe.outputs):
            return "an output is a function of the result"
        self.settings = [find_setting(self.model, path, self.recipe.paths)
                         for path in self.recipe.paths]
        for setting in self.settings:
            part = setting.component
            if setting.kind not in ("parameter", "target") or part is None or part.is_composite:
                return f"{setting.path} is not a number of a single component"
            if setting.kind == "parameter" and np.ndim(setting.declared.default):
                return f"{setting.path} is a list"
        self.t0 = float(to_si(options.get("start", "0 s"), unit("s"), "sweep(start=…)"))
        self.t1 = self.t0 + positive_time(self.recipe.duration, "duration")
        self.rtol = options.get("rtol", 1e-6)
        limit = options.get("max_step")
        self.max_step = np.inf if limit is None else positive_time(limit, "max_step")
        with np.errstate(all="ignore"):
            problem, start = consistent_start(
                system, find_nominals(system, self.model._nominal_table), self.t0)
            rate = problem.fastest_rate(self.t0, problem.start_vector())
        given = start.targets.levels < 4
        classes = system.flat.class_of[start.targets.slots[given]]
        if not np.isin(classes, system.tape.reduced.states).all() or not start.met[given].all():
            return "initial values have to be solved for"
        steps = rate * (self.t1 - self.t0) / native.REACH
        most = native.most_steps(problem.size)
        if steps > most:
            return "the model is stiff"
        self.most = int(LONGER * max(most, (self.t1 - self.t0) / self.max_step))
        # all points count, so that a study that was stopped goes on as it began
        work = steps * len(self.plan) * (1 + problem.size / 500)
        if str(options.get("method", "auto")).lower() == "auto" and work <= native.LOADS:
            return "the study is short"
        self.p, self.q = problem.p.copy(), np.concatenate([problem.z, np.zeros(1)])
        self.x = problem.x.copy()
        functions = TimeFunctions(system, self.p, self.t0, self.t1, np.zeros(0))
        if functions.end < np.inf:
            return "its functions of time have too many periods"
        if any(np.isin(self._places(s), functions.parameters).any() for s in self.settings
               if s.kind == "parameter"):
            return "its functions of time are varied"
        self.pieces = functions.pieces
        tolerances = Tolerances(system, self.rtol, options.get("atol"))
        self.atol = tolerances.factor
        self.given = np.full(problem.size, np.nan)  # absolute tolerances that are
        if tolerances.by_dimension:
            self.given = tolerances.by_class()[system.tape.reduced.states]
        return self._prepare(problem)

    def _lay_columns(self) -> None:
        """Numbers of the axes, and where they belong in parameters and states."""
        self.numbers: list[np.ndarray] = []
        self.refused: list[np.ndarray] = []
        self.targets: list[tuple[int, Any]] = []
        self.columns: list[tuple[int, Any, np.ndarray]] = []
        for k, (setting, axis) in enumerate(
                zip(self.settings, self.plan.axes, strict=True)):
            self.numbers.append(axis.numbers(setting.declared.unit))
            bad = np.zeros(len(axis.values), dtype=bool)
            if axis.sampled:
                bad[:] = [self._refuses(setting, axis, j) for j in range(len(bad))]
            self.refused.append(bad)
            if setting.kind == "target":
                self.targets.append((k, setting))
            else:
                self.columns.append((k, setting, self._places(setting)))
        self.nominal, self.sized = self._nominals()

    def _nominals(self) -> tuple[np.ndarray, list[np.ndarray]]:
        """Nominal values of the states without the varied values, 0 where there is none.

        For each axis also the states whose nominal value is one of its, if that is the largest.
        """
        states = self.runner.system.tape.reduced.states
        settings: Any = self.runner.settings
        tables = [(s.component._values if s.kind == "parameter" else s.component._targets,
                   s.declared.name, s.kind == "target") for s in settings]

        def found(varied: int | None) -> Any:
            for k, (table, name, is_target) in enumerate(tables):
                value = HUGE if k == varied else 0.0
                table[name] = (value, "high") if is_target else value
            return find_nominals(self.runner.system, self.runner.model._nominal_table)

        kept = [(table, dict(table)) for table, _, _ in tables]
        none = found(None)
        sized = [found(k).value[states] == HUGE for k in range(len(tables))]
        for table, before in kept:
            table.clear()
            table.update(before)
        return np.where(none.origin[states] == 3, 0.0, none.value[states]), sized

    @staticmethod
    def _refuses(setting: Any, axis: Any, k: int) -> bool:
        """Whether a sample is out of bounds; given values are checked when they are given."""
        try:
            setting.accept(axis.quantity(k))
        except BlocksError:
            return True
        return False

    def _places(self, setting: Any) -> np.ndarray:
        """Entries of the parameter vector that a setting fills."""
        f, first = self.system.network.place[id(setting.component)]
        for g, name, offset, _ in self.system.tape.parameter_layout:
            if (g, name) == (f, setting.declared.name):
                return offset + first + np.arange(setting.component.size)
        return np.zeros(0, dtype=int)  # a parameter that no equation uses

    def _prepare(self, problem: Any) -> str:
        """Machine code for slopes and outputs."""
        functions = VariableFunctions(self.system, Catalog(self.system))
        catalog: Any = _Named(functions.catalog)
        self.slices: list[slice] = []
        indices: list[int] = []
        for output in self.recipe.outputs:
            found = find(catalog, output.path)
            infos = found if isinstance(found, tuple) else (found,)
            self.slices.append(slice(len(indices), len(indices) + len(infos)))
            indices += [i.index for i in infos]
        times = sorted({t for o in self.recipe.outputs if o.reduction in ("at", "course")
                        for t in o.times} | {self.t0, self.t1})  # fmt: skip
        self.times = np.array(times)
        self.extremes = any(o.reduction in ("max", "min") for o in self.recipe.outputs)
        try:
            from ..native import lanes
            from ..native.equations import equations_of
            from ..native.stages import arithmetic
        except ImportError:
            return "the extra 'fast' is not installed"
        if reason := native.unwritable(problem):
            return reason
        equations = equations_of(self.system, problem.p)
        if equations.large:
            return "the model is large"
        self.lanes, self.code = lanes, arithmetic(lanes.LANES)
        self.slope, self.outputs = equations.in_lanes(
            lanes.LANES, functions.expression(tuple(indices)))
        self.width = len(indices)
        return ""

    # -- runs ----------------------------------------------------------------------------
    def run(self, plan: Plan, numbers: Iterable[int]) -> Iterator[Outcome]:
        """Run points, a block after the other; outcomes come block by block."""
        numbers = list(numbers)
        size = BLOCK * self.workers
        blocks = (self._laid_out(numbers[k : k + size]) for k in range(0, len(numbers), size))
        ahead: deque[tuple[_Block, list[Any]]] = deque()
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
                        refused = self._refused(block)  # while the threads march
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
        runs, width = len(numbers), self.width
        p, x = np.tile(self.p, (runs, 1)), np.tile(self.x, (runs, 1))
        places = self.plan.places(np.array(numbers))
        for k, setting in self.targets:
            self._place_target(setting, self.numbers[k][places[k]], x)
        for k, _, columns in self.columns:
            p[:, columns] = self.numbers[k][places[k]][:, None]
        nominal = np.tile(self.nominal, (runs, 1))
        for k, sized in enumerate(self.sized):
            size = np.abs(self.numbers[k][places[k]])[:, None]
            nominal[:, sized] = np.maximum(nominal[:, sized], size)
        scale = np.exp2(np.round(np.log2(np.where(nominal > 0, nominal, 1.0))))
        atol = np.where(np.isfinite(self.given), self.given, self.atol * scale)
        return _Block(
            numbers, places, p, x, atol, np.zeros(1, dtype=np.int64), np.empty_like(x),
            np.empty((runs, width)), np.empty((runs, width)),
            np.empty((runs, len(self.times), width)), np.full(runs, -1),
        )  # fmt: skip

    def _place_target(self, setting: Any, values: np.ndarray, x: np.ndarray) -> None:
        system, flat = self.system, self.system.flat
        f, first = self.system.network.place[id(setting.component)]
        i = flat.network.families[f].kernel.index[setting.declared.name]
        slots = flat.base[f][i, 0] + first + np.arange(setting.component.size)
        at = np.searchsorted(system.tape.reduced.states, flat.class_of[slots])
        x[:, at] = flat.sign_of[slots] * values[:, None]

    def _march(self, block: _Block) -> None:
        """Make those runs of a block that no other thread makes."""
        self.lanes.march(
            block.taken, self.code, self.slope, self.outputs, block.x, block.p, self.q, block.atol,
            self.rtol, self.t0, self.t1, self.max_step, self.pieces, ACROSS, self.most, self.times,
            self.extremes,
            block.finals, block.lows, block.highs, block.courses, block.status,
            np.zeros((len(block.numbers), 3), dtype=np.int64),
        )  # fmt: skip

    def _refused(self, block: _Block) -> np.ndarray:
        """Which points a component refuses."""
        refused = np.zeros(len(block.numbers), dtype=bool)
        for k, _, _ in self.columns:
            refused |= self.refused[k][block.places[k]]
        if all(type(s.component).verify is Component.verify for _, s, _ in self.columns):
            return refused
        varied, parts = [], {}
        for k, _, _ in self.columns:
            setting = self.runner.settings[k]
            part: Any = setting.component
            parts[id(part)] = part
            varied.append((part._values, setting.declared.name,
                           self.numbers[k][block.places[k]].tolist()))
        for row in range(len(refused)):
            for table, name, numbers in varied:
                table[name] = numbers[row]
            refused[row] |= next(relation_findings(parts.values()), None) is not None
        return refused

    def _outcomes(self, block: _Block, refused: np.ndarray) -> Iterator[Outcome]:
        good = (block.status == self.lanes.REACHED) & ~refused
        good &= np.isfinite(block.courses).all(axis=(1, 2))
        good &= np.isfinite(block.finals).all(axis=1)
        columns: dict[str, np.ndarray] = {}
        units = {}
        for output, part in zip(self.recipe.outputs, self.slices, strict=True):
            shown = unit(output.unit or "")
            values = {"max": block.highs, "min": block.lows}.get(output.reduction)
            if values is None:
                times = {"initial": (self.t0,), "final": (self.t1,)}.get(
                    output.reduction, output.times)
                values = block.courses[:, np.searchsorted(self.times, times)]
                if output.reduction != "course":
                    values = values[:, 0]
            values = np.moveaxis(values[..., part], -1, 1)
            if not output.dims or output.dims == ("time",):
                values = values[:, 0]
            columns[output.name] = (values - shown.offset) / shown.factor
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
    places: Any  # of their values on the axes
    p: np.ndarray
    x: np.ndarray
    atol: np.ndarray
    taken: np.ndarray  # how many of them threads have taken, (1,)
    finals: np.ndarray
    lows: np.ndarray
    highs: np.ndarray
    courses: np.ndarray
    status: np.ndarray


class _Named:
    """What the lookup of outputs wants of a recording."""

    def __init__(self, catalog: Catalog) -> None:
        self.catalog, self.name = catalog, ""
