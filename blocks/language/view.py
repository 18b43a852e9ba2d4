"""What are some instances of a component array?"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from ..exceptions import ParameterError
from ..numerics.arrays import Indices
from ..units import from_si, is_quantity, quantity, to_si
from .declarations import Parameter, Port, Signal, Target, Variable
from .references import PortRef
from .tree import TreeNode

__all__ = ["View"]


class View:
    """Some instances of a component array: ``model.masses[1:]``.

    Values may be read and set as those of the whole: ``model.masses[-1].v = "1 m/s"``.
    """

    component: TreeNode
    index: Indices

    def __init__(self, component: TreeNode, index: Indices) -> None:
        self.__dict__.update(component=component, index=index)

    def __len__(self) -> int:
        return len(self.index)

    def __iter__(self) -> Iterator[View]:
        return (View(self.component, self.index[k : k + 1]) for k in range(len(self)))

    def __getitem__(self, index: Any) -> View:
        return View(self.component, self.component._indices(index, self.index))

    def __getattr__(self, name: str) -> Any:
        ref: Any = getattr(self.component, name)
        if isinstance(ref, PortRef):
            return PortRef(ref.component, ref.port, self.index)
        if isinstance(ref, TreeNode):
            return View(ref, self.index)  # type: ignore[arg-type]  # a TreeNode is always a Component
        if is_quantity(ref):
            values = np.broadcast_to(ref.magnitude, (self.component.size,))[self.index]
            values = values[0] if len(values) == 1 else values
            return quantity(values, ref.units)
        return ref

    def __setattr__(self, name: str, value: Any) -> None:
        component = self.component
        declared = component._declared.get(name)
        where = f"{self.path}.{name}"
        if isinstance(declared, Parameter) and np.ndim(declared.default) == 0:
            present = declared.value(component)
            if not (callable(present) or callable(value)):
                setattr(component, name, self._with_new_values(present, value, declared, where))
                return
        elif isinstance(declared, Variable) and not isinstance(declared, Signal):
            self._set_target(declared, value, where)
            return
        elif declared is None or isinstance(declared, (Port, Signal)):
            setattr(component, name, value)  # says what there is
        raise ParameterError(where, "is the same for all instances.", f"Set it for all: "
                             f"{component.path}.{name} = …", name=name, code="parameter.size")

    def __dir__(self) -> list[str]:
        return sorted({*super().__dir__(), *dir(self.component)})

    def __repr__(self) -> str:
        return f"<{self.path}: {len(self)} of {self.component!r}>"

    @property
    def path(self) -> str:
        """Path with the instance number, where it is one."""
        if self.component._count is None:
            return self.component.path
        number = str(self.index[0]) if len(self.index) == 1 else "…"
        return f"{self.component.path}[{number}]"

    def _with_new_values(self, present: Any, value: Any, declared: Parameter | Variable,
                         where: str) -> Any:
        """Values of all instances, new for those of the view."""
        whole = np.array(np.broadcast_to(present, (self.component.size,)), dtype=float)
        given = to_si(value, declared.unit, where)
        if np.ndim(given) and np.shape(given) != (len(self.index),):
            raise ParameterError(where, f"was given {np.size(given)} values for {len(self.index)} "
                                 "instances.", "Give one value, or one for each.", given=value,
                                 code="parameter.size")
        whole[self.index] = given
        return from_si(whole if self.component._count is not None else float(whole[0]),
                       declared.unit)

    def _set_target(self, declared: Variable, value: Any, where: str) -> None:
        """An initial target of some instances, with the priority that all have."""
        component = self.component
        target = value if isinstance(value, Target) else Target(value)
        present, priority = component._targets.get(
            declared.name, (declared.initial_of(component), declared.priority))
        single = component.size == len(self.index)
        if not single and (present is None or target.nominal is not None or target.value is None
                           or (isinstance(value, Target) and target.priority != priority)):
            raise ParameterError(
                where, "is aimed at together with all other instances, which have no target yet."
                if present is None else "has one priority and nominal value for all instances.",
                f"Set all at once: {component.path}.{declared.name} = Target([…]).",
                name=declared.name, code="parameter.size")
        if single:
            setattr(component, declared.name, value)
            return
        whole = self._with_new_values(present, target.value, declared, where)
        setattr(component, declared.name, Target(whole, priority))
