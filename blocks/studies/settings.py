"""What of a model, or of its solver, may be varied?"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, TypedDict

import numpy as np

from ..exceptions import ParameterError, UnknownName, brief, nearest, unknown_name
from ..language.component import Part
from ..language.declarations import Option, Parameter, Port, Signal, Target, declarations
from ..language.specialisation import refuse_idle
from ..numerics.arrays import Indices
from ..reading.foreign_words import keyword_elsewhere
from ..reading.paths import steps_of
from ..simulation.method_choice import NAMES, unknown_method
from ..simulation.settings import refuse_no_mapping
from ..solvers import MethodName
from ..units import Unit, to_si, unit

__all__ = ["RTOL", "SOLVER", "Setting", "changed_for_a_while", "find_setting", "rank"]

SOLVER = {"method": "", "rtol": "", "atol": "", "step": "s", "max_step": "s", "first_step": "s"}
RTOL = 1e-6  # unless another is given, as in ``simulate``


class SolverOptions(TypedDict, total=False):
    """What studies hand on to their runs, for type checkers."""

    method: MethodName
    atol: Any
    step: Any
    max_step: Any
    first_step: Any


class RunOptions(SolverOptions, total=False):
    start_time: Any
    initial: Any


class SweepOptions(SolverOptions, total=False):
    rtol: float


@dataclass(frozen=True)
class Setting:
    """Something of a model, or of the solver, that may be varied."""

    path: str
    component: Part | None  # None for an option of the solver
    declared: Any = None  # a Parameter, an Option or a Variable with an initial target
    instance: int | slice | None = None  # of an array of components; None for all

    @property
    def kind(self) -> str:
        """"solver", "option", "target" or "parameter"."""
        if self.component is None:
            return "solver"
        if isinstance(self.declared, Option):
            return "option"
        return "parameter" if isinstance(self.declared, Parameter) else "target"

    @property
    def unit(self) -> Unit | None:
        """Unit of its values; None where they are names or switches."""
        if self.kind == "option" or self.path == "method":
            return None
        return unit(SOLVER[self.path]) if self.component is None else self.declared.unit

    @property
    def doc(self) -> str:
        if self.component is None:
            return f"option {self.path} of the solver"
        word = {"target": "initial value of ", "option": ""}.get(self.kind, "")
        return word + (getattr(self.declared, "doc", "") or self.path)

    @property
    def instances(self) -> Indices:
        """Numbers of the instances that take its value."""
        assert self.component is not None
        every = np.arange(self.component.size)
        return every if self.instance is None else np.atleast_1d(every[self.instance])

    def accept(self, value: Any) -> None:
        """Refuse a value that does not fit."""
        if self.component is None:
            _accept_solver_option(self.path, value)
        elif self.kind == "target":
            if not np.all(np.isfinite(to_si(value, self.declared.unit, self.path))):
                raise ParameterError(self.path, f"is {value}, which is not a finite number.",
                                     f"Give a value in {self.declared.unit}.",
                                     code="parameter.finite")  # fmt: skip
        else:
            self.declared.accept(value, self.path)

    def apply(self, value: Any) -> None:
        """Give the component a value (nothing to do for an option it already has)."""
        assert self.component is not None
        if self.instance is not None:
            setattr(self.component[self.instance], self.declared.name, value)
            return
        if self.kind == "option" and getattr(self.component, self.declared.name) == value:
            return
        if self.kind == "target":
            _, priority = self.component._targets.get(self.declared.name, (None, "high"))
            value = Target(value, priority=priority)
        setattr(self.component, self.declared.name, value)


def _accept_solver_option(path: str, value: Any) -> None:
    where = f"sweep({path}=…)"
    if path == "method":
        if str(value).lower() not in [name.lower() for name in NAMES]:
            raise unknown_method(where, value)
        return
    number = to_si(value, unit(SOLVER[path]), where)
    if not (np.ndim(number) == 0 and np.isfinite(number) and number > 0):
        raise ParameterError(where, f"must be greater than 0, but is {value}.", given=value)
    if path == "rtol" and not number < 1:
        raise ParameterError(where, f"must be a number between 0 and 1, but is {value}.",
                             given=value)  # fmt: skip


def find_setting(model: Part, path: str, others: Sequence[str] = (),
                 where: str = "sweep()") -> Setting:
    """What a path names; ``others`` are the paths that are varied as well, ``where`` is asked."""
    if not isinstance(path, str):
        raise ParameterError(where, f"varies {brief(path)}, which is no path.",
                             'Write it as a text, "block.mass".', given=path)  # fmt: skip
    if path in SOLVER and path not in {*model.parameters, *model.variables}:
        return Setting(path, None)
    owner, _, last = path.rpartition(".")
    part: Part = model
    instance: int | slice | None = None
    for name, instances in steps_of(owner) if owner else ():
        if name not in part._children:
            raise _unknown(model, path, where)
        part = part._children[name]
        if instances is not None:
            if part._count is None:
                raise UnknownName(where, f"{brief(path, 200)} numbers an instance, but {part.path} "
                                  "is no array.", "Leave out the number.", name=path, known=[],
                                  nearest=[])  # fmt: skip
            part._indices(instances, None)
            instance = instances
    declared = declarations(part).get(last)
    if declared is None or isinstance(declared, (Port, Signal)):
        raise _unknown(model, path, where, part)
    if isinstance(declared, Parameter):
        if np.ndim(declared.default):
            raise ParameterError(path, "is a list of values; a sweep varies single numbers.",
                                 "Run model.simulate() in a loop, or write a component that makes "
                                 "the list from a parameter.", code="sweep.list")  # fmt: skip
        chosen = any(o.rpartition(".")[0] == owner for o in others
                     if isinstance(declarations(part).get(o.rpartition(".")[2]), Option))
        if not declared.exists(part) and not chosen:
            refuse_idle(part, last)
    elif isinstance(declared, Option) and part._built:
        raise ParameterError(path, "is an option of a composite, which is fixed when it is made.",
                             "Build one model for each value and sweep each.",
                             code="parameter.structure")  # fmt: skip
    if isinstance(declared, Option) and instance is not None:
        raise ParameterError(path, "is an option, which is the same for all instances.",
                             "Leave out the number.", code="parameter.size")
    return Setting(path, part, declared, instance)


@contextmanager
def changed_for_a_while(model: Any, given: Mapping[str, Any]) -> Iterator[None]:
    """Give a model values by path, and what it had before at the end."""
    where = "values()"
    refuse_no_mapping(given, where, 'model.values({"block.mass": "3 kg"})')
    paths = list(given)
    settings = [find_setting(model, path, paths, where) for path in paths]
    for setting in settings:
        if setting.component is None:
            raise ParameterError(where, f"{setting.path} belongs to a run, not to the model.",
                                 f"Give it there: simulate({setting.path}=…).")
        setting.accept(given[setting.path])
    touched = {id(part): part for setting in settings if setting.component is not None
               for part in (setting.component, *setting.component.parts.values())}
    with model.compiled.restored(touched.values()):
        for setting in sorted(settings, key=rank):
            setting.apply(given[setting.path])
        yield


def rank(setting: Setting) -> tuple[bool, int, bool]:
    """Options first, a composite before its parts, which it gives values to, an array before one
    of its instances."""
    return setting.kind != "option", setting.path.count("."), setting.instance is not None


def _unknown(model: Part, path: str, where: str, part: Part | None = None) -> UnknownName:
    owner, _, last = path.rpartition(".")
    inside = [f"{owner}.{n}".lstrip(".") for n in _names(part)] if part is not None else []
    instead = keyword_elsewhere(part, last) if part is not None else ("", "")
    every = (f"{path}.{n}" for path, part in model.parts.items() for n in _names(part))
    known = inside if nearest(path, inside) else (*SOLVER, *_names(model), *every)
    return unknown_name(where, path, known, "parameters, options and initial targets", instead)


def _names(part: Part) -> list[str]:
    return [n for n, d in declarations(part).items()
            if not isinstance(d, (Port, Signal)) and d.exists(part)]
