"""How do values, functions of time, and what a class remembers, go through pickle?"""

from __future__ import annotations

import pickle
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from ..exceptions import ParameterError, unknown_name
from ..units import from_si, to_si, unit
from .assignment import aim
from .declarations import Option, Parameter, Port, Signal, Target, Variable
from .references import PortRef

if TYPE_CHECKING:
    from .tree import TreeNode

__all__ = ["ClassMemory", "PickledFunction", "pickled_port", "refuse_other_options",
           "refuse_other_values", "said_by_class"]  # fmt: skip


class ClassMemory(dict[Any, Any]):
    """What a class remembers of itself; not carried along when the class is pickled."""

    def __reduce__(self) -> tuple[Any, ...]:
        return ClassMemory, ()


class PickledFunction:
    """A function of time on its way through pickle: by its name, else by cloudpickle."""

    def __init__(self, function: Callable[..., Any], where: str) -> None:
        self.function, self.where = function, where

    def __deepcopy__(self, memo: object) -> PickledFunction:
        return self

    def __reduce__(self) -> tuple[Any, ...]:
        try:
            return pickle.loads, (pickle.dumps(self.function),)
        except (pickle.PicklingError, AttributeError, TypeError):
            pass
        try:
            import cloudpickle
        except ImportError:
            raise ParameterError(
                self.where, "is a lambda or inner function, which Python's pickle cannot store.",
                "Define the function at the top of a module and give it by name, or install "
                "cloudpickle.", given=self.where, code="parameter.pickle",
            ) from None  # fmt: skip
        return cloudpickle.loads, (cloudpickle.dumps(self.function),)


# -- classes that have changed since ---------------------------------------------------
def said_by_class(component: TreeNode) -> dict[str, tuple[str, str]]:
    """Return declared unit and allowed values of all that a component can be given, by name.

    One object for all components of a structure, so that pickle stores it once.
    """
    memory, own = type(component)._said, component._declared
    if id(own) not in memory:
        memory[id(own)] = {name: _said(declared) for name, declared in own.items()
                           if isinstance(declared, (Parameter, Option, Variable))}, own
    said: dict[str, tuple[str, str]] = memory[id(own)][0]
    return said


def _said(declared: Parameter | Option | Variable) -> tuple[str, str]:
    if isinstance(declared, Option):
        named = getattr(declared, "named", declared.choices)
        return "", repr((type(declared.default), None if named is None else list(named),
                         declared.minimum))  # fmt: skip
    allowed = declared.bounds if isinstance(declared, Parameter) else declared.minimum
    return declared.unit.text, repr(allowed)


def refuse_other_options(component: TreeNode) -> None:
    """Raise where an unpickled component has chosen what its class does not offer now."""
    for name, value in component._values.items():
        declared = type(component)._declared.get(name)
        if isinstance(declared, Option):
            declared.accept(value, _where(component, name))


def refuse_other_values(component: TreeNode, said: Mapping[str, tuple[str, str]]) -> None:
    """Raise where an unpickled component has values that its class does not take now; what this has
    ``said`` is from when it was pickled."""
    refuse_other_options(component)
    units = {name: unit(text) for name, (text, _) in said.items()}
    for name, value in component._values.items():
        declared = _declared(component, name, (Parameter, Option), "parameters and options")
        if isinstance(declared, Parameter):
            number = isinstance(value, (float, np.ndarray))  # else a function, or once an option
            declared.accept(from_si(value, units[name]) if number else value,
                            _where(component, name))
    for name, (value, _) in component._targets.items():
        declared = _declared(component, name, Variable, "variables")
        if value is not None:
            aim(declared, Target(from_si(value, units[name])), component._count,
                _where(component, name))
    for name, value in component._nominals.items():
        declared = _declared(component, name, Variable, "variables")
        to_si(from_si(value, units[name].of_any_temperature), declared.unit.of_any_temperature,
              _where(component, name))


def pickled_port(component: TreeNode, name: str, index: Any) -> PortRef:
    """The port of an unpickled component that was connected."""
    return PortRef(component, _declared(component, name, (Port, Signal), "ports"), index)


def _declared(component: TreeNode, name: str, kinds: Any, words: str) -> Any:
    """What the class declares by a name that a pickled component has used."""
    declared = component._declared.get(name)
    if not isinstance(declared, kinds):
        raise unknown_name(_where(component, ""), name, [
            n for n, d in component._declared.items() if isinstance(d, kinds)], words)
    return declared


def _where(component: TreeNode, name: str) -> str:
    """A component, or one of its names, before it has its place in the tree again."""
    owner = component._name or type(component).__name__
    return f"{owner}.{name}" if name else owner
