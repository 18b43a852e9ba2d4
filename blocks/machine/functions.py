"""Functions in plain loops, run as machine code; compiled when first called.

Those that are declared by :func:`machine_code` are as :mod:`blocks.machine.translation` says; the
attribute ``python`` is the function as it stands, with which machine code is compared. Where there
is no LLVM that is what runs.
"""

from __future__ import annotations

import ctypes
import struct
from collections.abc import Callable
from functools import cache, cached_property
from typing import Any, TypeVar

import numpy as np

from . import compiling
from .compiling import compiled, compiled_from_source
from .signatures import FLOAT, Facts, Kind, Record, Signature, address_of, record_of

__all__ = ["BoundCall", "Kept", "MachineCode", "empty", "filled", "machine_code", "vector_code"]

STORED = {"double": np.dtype(float), "i64": np.dtype(np.int64), "i1": np.dtype(np.bool_)}
FROM = {"i64": int, "i1": bool}
PACKAGE = __name__.partition(".")[0] + "."
T = TypeVar("T", bound=tuple[Any, ...])
CALLED = ctypes.CFUNCTYPE(None, ctypes.c_void_p)


class Kept:
    """A named tuple of arrays that stay where they are, as machine code is given it.

    What is asked of its arrays is asked once, not in every call.
    """

    def __init__(self, record: Any) -> None:
        self.record = record

    @cached_property
    def shown(self) -> list[Any]:
        """Numbers, and addresses and shapes of arrays."""
        return _shown(self.record, record_of(self.record.__class__).fields)


def _opened(given: tuple[Any, ...]) -> list[Any]:
    """What Python is given where there is no machine code."""
    return [one.record if isinstance(one, Kept) else one for one in given]


@cache
def empty(kind: type[T]) -> T:
    """A named tuple where there is nothing: empty arrays, numbers and addresses of zero."""
    nothing: list[Any] = [np.zeros((0,) * k.dimensions, STORED[k.scalar]) if k.dimensions else 0
                          for _, k in record_of(kind).fields]
    return kind(*nothing)


def filled(kind: type[T], source: object, sizes: dict[str, Any] | None = None, **own: Any) -> T:
    """A named tuple with fields of its ``own``, zeros of ``sizes`` by names that spaces separate,
    the others as they are named in a source; nothing where nobody has them."""
    room = {name: size for names, size in (sizes or {}).items() for name in names.split()}
    nothing = empty(kind)
    return kind(*(own[name] if name in own else
                  np.zeros(room[name], STORED[k.scalar]) if name in room else
                  getattr(source, name, getattr(nothing, name))
                  for name, k in record_of(kind).fields))


class MachineCode(Signature):
    """A function that Python calls as machine code, with NumPy arrays and named tuples of these."""

    thorough = False  # compiled by all passes, which takes longer

    def __init__(self, function: Callable[..., Any], facts: Facts | None = None) -> None:
        super().__init__(function)
        self.facts = facts or {}
        self._knowing: dict[frozenset[Any], MachineCode] = {}

    def knowing(self, facts: Facts) -> MachineCode:
        """The function where these facts hold, which takes less time to compile."""
        key = frozenset(facts.items())
        if key not in self._knowing:
            self._knowing[key] = MachineCode(self.python, facts)
            self._knowing[key].thorough = self.thorough
        return self._knowing[key]

    def __call__(self, *given: Any) -> Any:
        return self.entry(*given) if compiling.is_installed() else self.python(*_opened(given))

    def _compiled(self, called_by_c: bool = False) -> int:
        """Return the address of the code; this package's is translated only if not done before."""
        def text() -> str:
            from .translation import translated  # not needed for what is kept on disk

            return translated(self, called_by_c, self.facts)

        if self.python.__module__.startswith(PACKAGE):
            where = "".join(f" where {a}.{b} is {n}" for (a, b), n in sorted(self.facts.items()))
            return compiled_from_source(self.symbol + " called by C" * called_by_c + where, text,
                                        not self.thorough)
        return compiled(text(), quick=True)

    @cached_property
    def address(self) -> int:
        """Return the address of the code, which takes a table: where results go, and arguments."""
        return self._compiled()

    @property
    def callback(self) -> int:
        """Return the address of the code as a function of C, of numbers and addresses alone."""
        return self._compiled_callback if compiling.is_installed() else self._python_callback[1]

    @cached_property
    def _compiled_callback(self) -> int:
        return self._compiled(called_by_c=True)

    @cached_property
    def _python_callback(self) -> tuple[object, int]:
        """What keeps the function where it is, and where that is."""
        types = [ctypes.c_double if kind == FLOAT else ctypes.c_void_p
                 for _, kind in self.parameters]
        made = ctypes.CFUNCTYPE(ctypes.c_int64, *types)(self.python)
        return made, ctypes.cast(made, ctypes.c_void_p).value or 0

    @cached_property
    def entry(self) -> Callable[..., Any]:
        """Compiled, and given what Python gives."""
        entry = CALLED(self.address)
        returns = [k.scalar for k in self.returns]

        def call(*given: Any) -> Any:
            results = np.empty(len(returns))
            entry(self.table.pack(address_of(results), *self.shown(*given)))
            whole = results.view(np.int64)
            found = tuple(float(results[k]) if scalar == "double" else FROM[scalar](whole[k])
                          for k, scalar in enumerate(returns))
            return found[0] if len(found) == 1 else found or None

        return call

    def shown(self, *given: Any) -> list[Any]:
        """What Python gives, as numbers, addresses and shapes."""
        shown: list[Any] = []
        for value, (name, kind) in zip(given, self.parameters, strict=True):
            if not isinstance(kind, Record):
                shown += _array(value, name, kind) if kind.dimensions else (value,)
            elif isinstance(value, Kept):
                shown += value.shown
            else:
                shown += _shown(value, kind.fields)
        return shown

    @cached_property
    def place(self) -> dict[str, int]:
        """Where an argument stands in the table that it takes, ``"record.field"``; an array with
        its shape behind."""
        return {name: k for k, (name, _) in enumerate(_layout(self), 1) if name}

    @cached_property
    def table(self) -> struct.Struct:
        """How entries of that table are written, eight bytes each."""
        return struct.Struct("q" + "".join(
            "d" if scalar == "double" else "q" for _, scalar in _layout(self)))

    def bound(self, *given: Any) -> BoundCall:
        """The function with all that it takes."""
        return BoundCall(self, *given)


class BoundCall:
    """A function whose arguments stay where they are, called as quickly as Python can.

    What it takes stands in a table, from which machine code reads it: nothing is converted
    in a call.
    """

    def __init__(self, function: MachineCode, *given: Any) -> None:
        self.function, self._given = function, given  # they stay where they are
        self._others: dict[str, np.ndarray] = {}
        self.place = function.place
        # whole numbers that the last call has returned
        self.results = np.zeros(len(function.returns), dtype=np.int64)
        # that table, as whole numbers and as others
        self.table = np.zeros(function.table.size // 8, dtype=np.int64)
        self.numbers = self.table.view(float)
        function.table.pack_into(
            self.table.data, 0, address_of(self.results), *function.shown(*given))
        self.address = function.address  # of what takes that table
        self._call = CALLED(self.address)
        self._at = ctypes.c_void_p(address_of(self.table))

    def __call__(self) -> None:
        self._call(self._at)

    def told(self, names: str, count: str) -> dict[str, Any]:
        """What machine code calls it by, under four names that spaces separate: its address, the
        table that it takes, the place of a ``count`` in that, and what it returns."""
        return dict(zip(names.split(), (
            self.address, self.table, self.place[count], self.results), strict=True))

    def put(self, name: str, value: np.ndarray) -> None:
        """Take another array from now on."""
        if self._others.get(name) is value:
            return
        place, self._others[name] = self.place[name], value  # it stays where it is
        self.table[place : place + 1 + value.ndim] = address_of(value), *value.shape


def _layout(function: MachineCode) -> list[tuple[str, str]]:
    """Names and types of what machine code is given; sizes of arrays have no name."""
    found: list[tuple[str, str]] = []
    for name, kind in function.parameters:
        fields = [(f"{name}.{f}", k) for f, k in kind.fields] if isinstance(kind, Record) else [
            (name, kind)]
        for one, of_value in fields:
            found.append((one, "i64" if of_value.dimensions else of_value.scalar))
            found += [("", "i64")] * of_value.dimensions
    return found


def machine_code(function: Callable[..., Any]) -> MachineCode:
    """Declare that a function can be written as machine code."""
    return MachineCode(function)


def vector_code(function: Callable[..., Any]) -> MachineCode:
    """Return the code of a loop over many numbers, called by address: several at a time."""
    code = MachineCode(function)
    code.thorough = True
    return code


def _shown(record: tuple[Any, ...], fields: tuple[tuple[str, Kind], ...]) -> list[Any]:
    """A named tuple as machine code is given it."""
    shown: list[Any] = []
    for value, (name, kind) in zip(record, fields, strict=True):
        if kind.dimensions:
            shown += _array(value, name, kind)
        else:
            shown.append(value)
    return shown


def _array(value: np.ndarray, name: str, kind: Kind) -> tuple[int, ...]:
    """Address and shape of an array, as machine code is given them."""
    if value.dtype != STORED[kind.scalar] or value.ndim != kind.dimensions or not (
            value.flags.c_contiguous):
        raise TypeError(f"{name} is an array of {value.dtype} with shape {value.shape}, and "
                        f"takes {kind.dimensions} contiguous dimensions of {STORED[kind.scalar]}")
    return (address_of(value), *value.shape)

