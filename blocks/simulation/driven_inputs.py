"""How does a program give values to inputs of a model? By a part that holds what it was told."""

from __future__ import annotations

import copy
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..exceptions import ConnectionRefused, WrongCall, brief, unknown_name
from ..language.component import Component
from ..language.declarations import Discrete, Input, Option, Output, Parameter
from ..numerics.arrays import Indices
from ..system.system import System
from ..units import Unit, from_si

__all__ = ["DrivenInput", "driven_copy"]


class Told(Component):
    """Gives out the value that it was told last.

    Equation: y = value, which a program sets between two steps of a run.
    """

    unit = Option("1", doc="Unit of the signal")
    y = Output(lambda c: c.unit)
    value = Discrete(lambda c: c.unit, 0, doc="What was told")

    def equations(self) -> Iterator[Any]:
        yield self.y == self.value


@dataclass(frozen=True)
class DrivenInput:
    """An input that is set from outside."""

    path: str  # of the input
    told: str  # path of the part that gives its value
    unit: Unit  # of the input
    size: int  # number of instances

    def slots(self, system: System) -> Indices:
        """Where its values stand among the discrete values."""
        f, first = system.network.place[self.told]
        i = system.network.families[f].kernel.index["value"]
        return system.tape.discrete_layout[f, i] + first + np.arange(self.size)


def driven_copy(model: Any, inputs: Iterable[str] | Mapping[str, Any]
                ) -> tuple[Any, list[DrivenInput]]:
    """A copy of a model in which some inputs are told their values, which may start with some."""
    inputs = [inputs] if isinstance(inputs, str) else inputs
    if not hasattr(inputs, "__iter__"):
        raise WrongCall("stepper(inputs=…)", f"takes a list of inputs, but was given {inputs!r}.",
                        "Write inputs=['motor.S'].", given=inputs)
    made, driven = copy.deepcopy(model), []
    connected = {(id(ref.component), ref.port.name) for part in (made, *made.parts.values())
                 for refs in part._connections for ref in refs}
    for path in inputs:
        owner, declared = _input_of(made, path)
        if (id(owner), declared.name) in connected:
            raise ConnectionRefused(path, "is connected to an output already, so it cannot be "
                                    "given values from outside.",
                                    "Leave out the connection, or another input.",
                                    code="connection.taken")
        name = f"told_{path.replace('.', '_')}"
        given = inputs[path] if isinstance(inputs, Mapping) else None
        if given is None and declared.default is not None:
            value = owner._declared[declared.default].value(owner)  # type: ignore[attr-defined]
            given = None if callable(value) or value is None else from_si(value, declared.unit)
        start = {} if given is None else {"value": given}
        part = Told(unit=declared.unit.text or "1", count=owner._count, **start)
        while name in made.parts:
            name += "_"
        made.add(name, part)
        made.connect(part.y, getattr(owner, declared.name))
        driven.append(DrivenInput(path, name, declared.unit, owner.size))
    return made, driven


def _input_of(model: Any, path: str) -> tuple[Component, Input]:
    """The component and the declaration of an input."""
    if not isinstance(path, str):
        raise WrongCall("stepper(inputs=…)", f"takes paths of inputs, but was given {brief(path)}.",
                        "Write inputs=['motor.S'].", given=path)
    owner, _, last = path.rpartition(".")
    part = {"": model, **model.parts}.get(owner)
    declared = None if part is None else part._declared.get(last)
    if part is None or not isinstance(declared, Input) or not declared.exists(part):
        every = [f"{path}.{name}" for path, part in model.parts.items()
                 for name, d in part._declared.items() if isinstance(d, Input) and d.exists(part)]
        meant = (f"It is a parameter (of exports: parameters=). Inputs are: {', '.join(every[:9])}."
                 if isinstance(declared, Parameter) and every else
                 "" if every else "No part has an input. An input is a signal that a part takes, "
                 "such as S of a ForceSource.")
        raise unknown_name("stepper(inputs=…)", path, every, "inputs", (meant, ""))
    return part, declared
