"""What comes out of a run at one point?

One private copy of a model, assembled once; points in, outcomes out. A run that
fails is an outcome like any other.
"""

from __future__ import annotations

import copy
import os
import threading
from abc import abstractmethod
from collections.abc import Generator, Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeAlias

import numpy as np

from ..exceptions import BlocksError
from ..language.compiled_model import CompiledModel
from ..simulation.interrupts import interruptible
from ..simulation.run import prepared
from ..simulation.settings import Options
from ..simulation.until import model_until
from ..units import unit_of
from .axes import Plan
from .outputs import Output, converted
from .settings import find_setting, rank

__all__ = ["InProcess", "Outcome", "Outcomes", "Recipe", "Runner", "RunsPoints"]

#: Classes are traced, and their kernels kept, for all copies of a model together.
ASSEMBLY = threading.RLock()
if hasattr(os, "register_at_fork"):  # or a worker would wait for a thread that it has not
    os.register_at_fork(before=ASSEMBLY.acquire, after_in_parent=ASSEMBLY.release,
                        after_in_child=ASSEMBLY.release)  # fmt: skip


@dataclass
class Outcome:
    """What is kept of one run: numbers by output, in the units beside them."""

    number: int
    status: str  # "finished", "until …", "failed" or "not run"
    message: str = ""
    values: dict[str, Any] = field(default_factory=dict)
    units: dict[str, str] = field(default_factory=dict)
    more: bool = False  # others follow at once


#: Outcomes as they come, in any order; closed where nobody wants the rest.
Outcomes: TypeAlias = Generator[Outcome, None, None]


@dataclass(frozen=True)
class Recipe:
    """What is done at every point."""

    paths: tuple[str, ...]
    outputs: tuple[Output, ...]
    duration: Any
    options: dict[str, Any]


class Runner:
    """Runs points on a model of its own.

    The model is changed; give it a copy.
    """

    def __init__(self, model: CompiledModel, recipe: Recipe) -> None:
        self.options = dict(recipe.options)
        until = self.options.pop("until", None)
        if until is not None:
            model = model_until(model, until)
        self.model, self.recipe = model, recipe
        self.settings = [find_setting(model, path, recipe.paths) for path in recipe.paths]
        with ASSEMBLY:
            self.system = model.compile()
        composites = [s.component for s in self.settings if s.component and s.component._built]
        #: Of composites with a parameter that is varied, and all in them: one value sets others.
        self.tables = [
            (part, {name: table.copy() for name, table in part._value_tables().items()})
            for whole in composites for part in (whole, *whole.parts.values())
        ]

    @classmethod
    def of_copy(cls, model: CompiledModel, recipe: Recipe) -> Runner:
        """A runner that leaves the model as it is."""
        with ASSEMBLY:
            return cls(copy.deepcopy(model), recipe)

    def run_one(self, number: int, values: Sequence[Any]) -> Outcome:
        """One run; raises nothing but KeyboardInterrupt."""
        try:
            with interruptible():
                return self._outcome(number, values)
        except BlocksError as error:
            return Outcome(number, "failed", str(error))
        except Exception as error:  # one bad run must not end a study: it is kept with its reason
            return Outcome(number, "failed", f"{type(error).__name__}: {error}")

    def _outcome(self, number: int, values: Sequence[Any]) -> Outcome:
        """A run that finished."""
        options = self._apply(values)
        with ASSEMBLY:
            run = prepared(self.model, self.recipe.duration,
                           Options(progress=False, **{**self.options, **options}))
        run.lock = ASSEMBLY
        result = run.result()
        if result.status == "interrupted":
            raise KeyboardInterrupt
        recording: Any = result.recording
        told = [problem for _, problem, _ in recording.start.compromises()]
        outcome = Outcome(number, result.status, " ".join(told) or result.message)
        for output in self.recipe.outputs:
            value = output.of(result)
            shown = unit_of(value).text if output.unit is None else output.unit
            bare = converted(value, shown)
            outcome.units[output.name] = shown
            outcome.values[output.name] = float(bare) if np.ndim(bare) == 0 else np.array(
                bare, dtype=float)
        return outcome

    def _apply(self, values: Sequence[Any]) -> dict[str, Any]:
        """Give the model the values of a point; returns those that are the solver's."""
        for part, tables in self.tables:
            part._restore_values(tables)
        options: dict[str, Any] = {}
        for setting, value in sorted(zip(self.settings, values, strict=True),
                                     key=lambda pair: rank(pair[0])):
            if setting.component is None:
                options[setting.path] = value
            else:
                setting.apply(value)
        return options


class RunsPoints:
    """What runs the points of a study."""

    how, where, why = "one by one", "", ""  # for people; the last where there is a reason
    alone = 0  # runs that were made by themselves after all

    @property
    def execution(self) -> str:
        """How runs were made, and where, for people."""
        alone = f", {self.alone} of them by themselves after all" if self.alone else ""
        return f"{self.how}{self.where}{alone}{': ' if self.why else ''}{self.why}"

    @abstractmethod
    def run(self, plan: Plan, numbers: Iterable[int]) -> Outcomes:
        """Run points of a plan by their numbers."""


class InProcess(RunsPoints):
    """Runs points here, on a copy of the model; ``why`` not several at once."""

    where = ", in this process"

    def __init__(self, model: CompiledModel, recipe: Recipe, why: str = "") -> None:
        self.runner, self.why = Runner.of_copy(model, recipe), why

    def run(self, plan: Plan, numbers: Iterable[int]) -> Outcomes:
        for number in numbers:
            yield self.runner.run_one(number, plan.point(number))
