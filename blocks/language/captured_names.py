"""What do functions use beside what they are given, and does it stand as it was?

Equations and functions of time are read once and kept. They may use values and functions of their
module, of closures, and attributes of classes and objects: all of these are noted when they have
been read, and looked at again before a run. What belongs to the toolkit or to an installed
package is taken as it is.
"""

from __future__ import annotations

import site
import sys
from collections.abc import Iterator
from functools import cached_property, lru_cache, partial
from types import CellType, CodeType, FunctionType, MethodType, ModuleType
from typing import Any

import numpy as np

from ..units import is_quantity
from .declarations import Declaration
from .replaceable import Replaceable
from .tree import TreeNode

__all__ = ["CapturedNames"]

PLAIN = {bool, int, float, complex, str, bytes, type(None)}  # compared by their value
ABSENT = object()
TOOLKIT = __name__.partition(".")[0]


class CapturedNames:
    """What functions, other callables, or tables and lists of such, use that is defined outside of
    them, as it stands now."""

    def __init__(self, *functions: Any) -> None:
        self._bound: list[tuple[Any, Any, Any]] = []  # namespace, name, and what has that name
        self._members: list[tuple[Any, tuple[Any, ...]]] = []  # containers and what is in them
        self._numbers: list[tuple[Any, Any]] = []  # arrays and quantities, and what they hold
        self._seen: set[tuple[int, Any]] = set()
        self._kept: list[Any] = []  # alive, or others would get their numbers
        for function in functions:
            self._note({"": function}, "", frozenset())

    @classmethod
    def of_equations(cls, component: TreeNode) -> CapturedNames:
        """Return what the equations of a component, and functions among its values, use."""
        kind, found = type(component), cls(*filter(callable, component._values.values()))
        found._follow_class(kind, kind, frozenset({"equations", "port_equations"}))
        for declared in kind._declared.values():
            found._follow(declared.default_of, frozenset())
            if isinstance(declared, Replaceable):
                law = declared.chosen(component)
                for base in filter(_is_followed, law.__mro__):
                    for one in vars(base).values():
                        for function in _functions_in(one):
                            found._follow_function(function, (law, kind))
        return found

    def unchanged(self) -> bool:
        """Whether all of it is as it was."""
        return all(_is_same(space.get(name, ABSENT), value)
                   for space, name, value in self._bound) and all(
            len(one) == len(then) and all(map(_is_same, one, then))
            for one, then in self._members) and all(
            _numbers(one) == then for one, then in self._numbers)

    def noted(self) -> Iterator[tuple[Any, Any]]:
        """Yield names and what has them, what is in containers, and what numbers arrays hold, in
        an order that is the same in every process."""
        yield from ((name, value) for _, name, value in self._bound)
        yield from (("", tuple(one) if isinstance(one, (list, dict)) else one)
                    for one, _ in self._members)
        yield from (("", str(then)) for _, then in self._numbers)

    # -- how it is found ---------------------------------------------------------------
    def _note(self, space: Any, name: Any, attributes: frozenset[str]) -> None:
        """Note what has a name, and what is used of it."""
        value = space.get(name, ABSENT)
        self._bound.append((space, name, value))
        self._follow(value, attributes)

    def _follow(self, value: Any, attributes: frozenset[str]) -> None:
        """Note what a value uses, and those of its attributes that are asked for."""
        if type(value) in PLAIN:
            return
        if isinstance(value, np.ndarray) or is_quantity(value):
            if self._is_new(value, ""):
                self._numbers.append((value, _numbers(value)))
        elif isinstance(value, (list, tuple, set, frozenset, dict)):
            if self._is_new(value, attributes):
                self._members.append((value, tuple(value)))  # of a mapping, its keys
                for one in sorted(value, key=repr) if isinstance(value, set | frozenset) else value:
                    if isinstance(value, dict):
                        self._note(value, one, attributes)
                    else:
                        self._follow(one, attributes)
        elif isinstance(value, FunctionType):
            self._follow_function(value, ())
        elif isinstance(value, MethodType):
            if isinstance(value.__func__, FunctionType):
                self._follow_function(value.__func__, (value.__self__,))
        elif isinstance(value, partial):
            self._follow((value.func, value.args, value.keywords), attributes)
        elif isinstance(value, ModuleType):
            if _is_followed(value):
                for name in sorted(attributes & vars(value).keys()):
                    if self._is_new(value, name):
                        self._note(vars(value), name, attributes)
        elif isinstance(value, type):
            self._follow_class(value, value, attributes)
        else:
            self._follow_object(value, attributes)

    def _follow_function(self, function: FunctionType, owners: tuple[Any, ...]) -> None:
        """``owners`` are the objects or classes whose attributes it may ask for."""
        if not self._is_new(function, tuple(map(id, owners))):
            return
        attributes = names_used(function.__code__)
        for cell in function.__closure__ or ():
            self._note(_Cell(cell), "", attributes)
        for given in (*(function.__defaults__ or ()), *(function.__kwdefaults__ or {}).values()):
            self._note({"": given}, "", attributes)
        if _is_followed(function):
            for name in sorted(attributes & function.__globals__.keys()):
                self._note(function.__globals__, name, attributes)
            for owner in owners:
                self._follow(owner, attributes)

    def _follow_object(self, value: Any, attributes: frozenset[str]) -> None:
        """Note what is asked of an object; of one of a package that can be called, all it holds."""
        if isinstance(value, TreeNode):  # a model that happens to be in reach
            return
        own = getattr(value, "__dict__", {})
        if _is_followed(type(value)):
            attributes |= {"__call__"}
            self._follow_class(type(value), value, attributes)
        elif callable(value):
            attributes = frozenset(own)
        for name in sorted(attributes):
            if (name in own or hasattr(type(value), name)) and self._is_new(value, name):
                self._note(own, name, attributes)

    def _follow_class(self, kind: type, owner: Any, attributes: frozenset[str]) -> None:
        """Note attributes of a class, asked for by itself or by an object of it."""
        bases = [base for base in kind.__mro__ if _is_followed(base)]
        for name in sorted(attributes):
            if not self._is_new(owner, ("class", name)):
                continue
            there = [base for base in bases
                     if not isinstance(vars(base).get(name, ABSENT), Declaration)]
            last = max((k for k, base in enumerate(there) if name in vars(base)), default=-1)
            for base in there[: last + 1]:  # those before the last one may get it, too
                space: Any = vars(base)
                functions = list(_functions_in(space.get(name)))
                if functions:
                    self._bound.append((space, name, space[name]))
                    for function in functions:
                        self._follow_function(function, (owner,))
                else:
                    self._note(space, name, attributes)

    def _is_new(self, thing: Any, asked: Any) -> bool:
        key = id(thing), asked
        if key in self._seen:
            return False
        self._seen.add(key)
        self._kept.append(thing)
        return True


class _Cell:
    """A variable of a closure, to be asked like a namespace."""

    def __init__(self, cell: CellType) -> None:
        self.cell = cell

    def get(self, name: str, default: Any) -> Any:
        try:
            return self.cell.cell_contents
        except ValueError:  # not yet assigned
            return default


@lru_cache(maxsize=4096)
def names_used(code: CodeType) -> frozenset[str]:
    """Return the names that a function asks its module, or any object, for."""
    inner = (names_used(one) for one in code.co_consts if isinstance(one, CodeType))
    return frozenset(code.co_names).union(*inner)


def _functions_in(attribute: Any) -> Iterator[FunctionType]:
    """The functions that an attribute of a class consists of; none of a mere value."""
    if isinstance(attribute, FunctionType):
        yield attribute
    elif isinstance(attribute, (staticmethod, classmethod, property, cached_property)):
        inside = (getattr(attribute, name, None) for name in ("__func__", "fget", "func"))
        yield from (one for one in inside if isinstance(one, FunctionType))


def _is_followed(defined: Any) -> bool:
    """Whether a function, class or module is a user's own."""
    module = defined.__name__ if isinstance(defined, ModuleType) else defined.__module__
    return _is_own(module or "__main__")


@lru_cache(maxsize=4096)
def _is_own(module: str) -> bool:
    root = module.partition(".")[0]
    if root == TOOLKIT or root in sys.stdlib_module_names - {"__main__"}:
        return False
    file = getattr(sys.modules.get(root), "__file__", None)
    return file is None or not file.startswith(tuple(site.getsitepackages()))


def _is_same(now: Any, then: Any) -> bool:
    return now is then or type(now) in PLAIN and type(now) is type(then) and bool(now == then)


def _numbers(value: Any) -> Any:
    """What an array or a quantity holds, as a copy that can be compared."""
    if isinstance(value, np.ndarray):
        content = value.tolist() if value.dtype.hasobject else value.tobytes()
        return value.dtype, value.shape, content
    return _numbers(np.asarray(value.magnitude)), value.units  # a series has these, too
