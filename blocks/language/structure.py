"""What do functions see that determine units, numbers of ports and what exists?

They are called once for all components of one structure, so they read options, units
and sizes of lists. What a parameter is worth may change between runs without anything made anew:
whoever asks for it there is refused.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, NoReturn

from ..exceptions import ParameterError
from ..units import Unit, from_si

if TYPE_CHECKING:
    from .tree import TreeNode

__all__ = ["UnitAndSize", "seen_by_structure"]


class UnitAndSize:
    """A parameter without its value: ``units``, ``shape`` and ``len()`` alone."""

    def __init__(self, name: str, unit: Unit, shape: tuple[int, ...], reader: Structure) -> None:
        self._name, self._unit, self.shape, self._reader = name, unit, shape, reader
        self.ndim = len(shape)

    @property
    def units(self) -> Any:
        return from_si(1.0, self._unit).units

    def __len__(self) -> int:
        return self.shape[0] if self.shape else self._refuse()

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        self._refuse()

    def _refuse(self, *_: object) -> NoReturn:
        raise ParameterError(
            self._reader.place, f"{self._reader.what} follows from the value of {self._name}, "
            "which may change between runs.", "Options fix it, units, and how long lists are: "
            f"declare {self._name} = Option(…), or let the equations depend on its value.",
            code="parameter.structure")  # fmt: skip

    __hash__ = None  # type: ignore[assignment]
    __bool__ = __int__ = __float__ = __index__ = __iter__ = __getitem__ = __array__ = _refuse  # type: ignore[assignment]
    __array_ufunc__ = __neg__ = __abs__ = __eq__ = __ne__ = __lt__ = __le__ = __gt__ = __ge__ = (
        _refuse)  # type: ignore[assignment]
    __add__ = __radd__ = __sub__ = __rsub__ = __mul__ = __rmul__ = __truediv__ = __rtruediv__ = (
        _refuse)
    __floordiv__ = __rfloordiv__ = __mod__ = __rmod__ = __pow__ = __rpow__ = _refuse


class Structure:
    """Stands for names of a component while a function of it determines something."""

    symbols: Mapping[str, Any] = {}

    def __init__(self, component: TreeNode, known: Mapping[str, Any], place: str,
                 what: str) -> None:
        self.component, self.known, self.place, self.what = component, known, place, what

    def symbol(self, declared: Any) -> Any:
        return self.known.get(declared.name, declared).for_structure(self.component, self)

    def where(self) -> str:
        return self.place


def seen_by_structure(component: TreeNode, name: str, what: str,
                      known: Mapping[str, Any] | None = None) -> TreeNode:
    """A component as functions of it see it that determine its structure.

    Messages call what is determined by ``name`` and ``what``; ``known`` has the declarations of the
    component as far as they are known, where they are not yet determined.
    """
    known = component._declared if known is None else known
    reader = Structure(component, known, f"{component.path}.{name}", what)
    return component._reader(**{**vars(component), "_declared": known, "_trace": reader})
