"""What do functions for machine code take and return?"""

from __future__ import annotations

import ast
import ctypes
import linecache
from collections.abc import Callable, Mapping
from functools import cache, cached_property, lru_cache
from itertools import accumulate
from typing import Any, NamedTuple

import numpy as np

from ..numerics.arrays import Indices, Vector

__all__ = ["BOOL", "FLOAT", "INT", "KINDS", "CFunction", "Facts", "Kind", "Record", "Signature",
           "Untranslatable", "address_of", "indices_at", "kind_named", "multiply_add", "name_of",
           "record_of", "run_code", "take", "vector_at"]  # fmt: skip

MOST_CODE = 1000  # functions that Python calls by their address and are kept


class Untranslatable(Exception):
    """A statement that has no machine code here."""


class Kind(NamedTuple):
    """A number, or an array of numbers with so many ``dimensions``."""

    scalar: str
    dimensions: int = 0

    @property
    def stored(self) -> str:
        """The type of an entry in memory."""
        return "i8" if self.scalar == "i1" else self.scalar


class Record(NamedTuple):
    """A named tuple of numbers and arrays, which is passed on but never made.

    Machine code finds it in a table of eight bytes each: a number, or the address of an array
    and then its shape.
    """

    fields: tuple[tuple[str, Kind], ...]

    @property
    def places(self) -> dict[str, int]:
        """Where each field begins in the table."""
        ends = accumulate(1 + kind.dimensions for _, kind in self.fields)
        return dict(zip((name for name, _ in self.fields), (0, *ends), strict=False))

    @property
    def size(self) -> int:
        """Entries of the table."""
        return sum(1 + kind.dimensions for _, kind in self.fields)


FLOAT, INT, BOOL = Kind("double"), Kind("i64"), Kind("i1")
KINDS = {"float": FLOAT, "int": INT, "bool": BOOL, "Vector": Kind("double", 1),
         "Matrix": Kind("double", 2), "Cube": Kind("double", 3), "Indices": Kind("i64", 1),
         "IndexMatrix": Kind("i64", 2), "Flags": Kind("i1", 1)}  # fmt: skip


#: Of records, by name of their class and field, what is known before they are given: a number, or
#: how many entries an array has.
Facts = Mapping[tuple[str, str], int]


class Signature:
    """A function that can be called from machine code: what it takes and returns."""

    def __init__(self, function: Callable[..., Any]) -> None:
        self.python, self.__doc__, self.__name__ = function, function.__doc__, function.__name__
        self.symbol = f"{function.__module__}.{function.__name__}"

    @cached_property
    def tree(self) -> ast.FunctionDef:
        code = self.python.__code__
        linecache.lazycache(code.co_filename, self.python.__globals__)  # within an archive, too
        return _functions_in(code.co_filename)[code.co_firstlineno]

    @cached_property
    def parameters(self) -> list[tuple[str, Kind | Record]]:
        code = self.python.__code__
        return [(name, self._type(self.written(name)))
                for name in code.co_varnames[: code.co_argcount]]

    @cached_property
    def returns(self) -> tuple[Kind, ...]:
        """Kinds of the numbers that are returned, none to several."""
        text = self.written("return")
        inner = text.removeprefix("tuple[").removesuffix("]") if text != "None" else ""
        return tuple(kind_named(one) for one in inner.split(", ") if one)

    def written(self, name: str) -> str:
        """A type as the source says it: annotations are kept as texts."""
        return str(self.python.__annotations__.get(name))

    def _type(self, text: str) -> Kind | Record:
        known = self.python.__globals__.get(text)
        if isinstance(known, type) and issubclass(known, tuple) and known is not tuple:
            return record_of(known)
        return kind_named(text)


@cache
def record_of(known: type[tuple[Any, ...]]) -> Record:
    """The fields of a named tuple."""
    return Record(tuple((name, kind_named(str(getattr(given, "__forward_arg__", given))))
                        for name, given in known.__annotations__.items()))


@cache
def _functions_in(file: str) -> dict[int, ast.FunctionDef]:
    """The functions of a source file, by the lines that they, or their decorators, begin with."""
    statements: list[ast.stmt] = ast.parse("".join(linecache.getlines(file))).body
    for one in statements:  # and those within others, but no expressions: there are many
        statements += getattr(one, "body", [])
    return {min([node.lineno, *(d.lineno for d in node.decorator_list)]): node
            for node in statements if isinstance(node, ast.FunctionDef)}


def name_of(node: ast.expr | None) -> str:
    return node.id if isinstance(node, ast.Name) else str(getattr(node, "value", ""))


def kind_named(name: str) -> Kind:
    if name not in KINDS:
        raise Untranslatable(f"a type is one of {', '.join(KINDS)}")
    return KINDS[name]


def address_of(values: np.ndarray) -> int:
    """Where the numbers of an array stand.

    The first field of an array object tells, by NumPy's binary interface: a seventh of the time
    that ``values.ctypes.data`` takes, and a short run asks for a hundred of them.
    """
    return ctypes.c_size_t.from_address(id(values) + object.__basicsize__).value


def run_code(address: int, *given: int | np.ndarray) -> None:
    """Call machine code by its address, on arrays or addresses."""
    _code_at(int(address), len(given))(*[
        address_of(a) if isinstance(a, np.ndarray) else int(a) for a in given])


@lru_cache(MOST_CODE)
def _code_at(address: int, pointers: int) -> Any:
    """Machine code that takes so many pointers."""
    return ctypes.CFUNCTYPE(None, *[ctypes.c_void_p] * pointers)(address)


class CFunction:
    """A function of C that is called by its address.

    It returns ``ptr`` or ``i32``, which are integers here, and takes these or ``double``; an array
    may stand for a ``ptr``.
    """

    def __init__(self, returns: str, *takes: str) -> None:
        self.returns, self.takes = returns, takes

    def __call__(self, address: int, *given: float | np.ndarray) -> int:
        types = [C_TYPES[kind] for kind in self.takes]
        passed = [address_of(g) if isinstance(g, np.ndarray) else g for g in given]
        function = ctypes.CFUNCTYPE(C_TYPES[self.returns], *types)(int(address))
        return int(function(*passed) or 0)


C_TYPES: dict[str, Any] = {"ptr": ctypes.c_void_p, "double": ctypes.c_double, "i32": ctypes.c_int32}


def vector_at(address: int, size: int) -> Vector:
    """The numbers that stand at an address."""
    if not size:
        return np.zeros(0)
    stands: Any = (ctypes.c_double * size).from_address(address)
    return np.frombuffer(stands)


def indices_at(address: int, size: int) -> Indices:
    """The integers that stand at an address."""
    return np.ctypeslib.as_array(ctypes.cast(address, ctypes.POINTER(ctypes.c_int64)), (size,))


def multiply_add(a: float, b: float, c: float) -> float:
    """a b + c, rounded once: half as long to wait for where the processor does it at once."""
    return a * b + c


def take(counter: Indices) -> int:
    """The first of some integers, which then becomes one larger, whichever thread takes it."""
    counter[0] += 1
    return int(counter[0] - 1)


