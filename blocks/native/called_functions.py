"""How does machine code call what expressions call?

Tables by one search for all, with the addresses of their numbers; what a table says is told by
:class:`blocks.language.lookup.Lookup`. Functions in Python are called back.
"""

from __future__ import annotations

import ctypes
from collections.abc import Callable, Sequence

from ..language.lookup import CalledFunction, Lookup
from ..language.python_calls import PythonCall
from ..machine.compiling import external, name_of_code, table
from ..machine.functions import MachineCode, machine_code
from ..machine.signatures import vector_at
from ..numerics.arrays import Array

__all__ = ["lines_of_call"]


@machine_code
def last_not_above(points: int, count: int, value: float) -> int:
    """How many of so many increasing numbers at an address are not above a value."""
    x = vector_at(points, count)
    low, high = 0, count
    while low < high:
        middle = (low + high) // 2
        if x[middle] > value:
            high = middle
        else:
            low = middle + 1
    return low


@machine_code
def polynomial(breaks: int, count: int, coefficients: int, row: int, width: int, value: float
               ) -> float:
    """The value of the piece of a row in which a value lies."""
    ends = vector_at(breaks, count)
    piece = last_not_above(breaks, count, value)
    all_pieces = (row + 1) * (count + 1)
    powers = vector_at(coefficients, all_pieces * width)
    first = (row * (count + 1) + piece) * width
    s = value - ends[max(piece - 1, 0)]
    out = powers[first + width - 1]
    for k in range(1, width):
        out = out * s + powers[first + width - 1 - k]
    return out


@machine_code
def row_of(points: int, count: int, step: int, value: float) -> int:
    """Which row a value chooses, see :class:`blocks.language.lookup.Choice`."""
    found = min(max(last_not_above(points, count, value) - 1, 0), count - 2)
    return min(max(found + step, 0), count - 1)


def lines_of_call(called: CalledFunction, given: Sequence[str], new: Callable[[str], str],
                  declared: set[str]) -> str:
    """Append the lines that call a function; the name of its value.

    ``given`` are names of what it is given; ``new`` appends a line that makes a value, and gives
    its name; ``declared`` takes what the text declares.
    """
    if isinstance(called, Lookup):
        return _lines_of_lookup(called, given, new, declared)
    assert isinstance(called, PythonCall)
    name = external(called.name(), ctypes.cast(called.callback, ctypes.c_void_p).value or 0)
    declared.add(f"declare double {name}({', '.join(['double'] * called.count)}) "
                 "nounwind memory(none)")  # fmt: skip
    return new(f"call double {name}({', '.join(f'double {g}' for g in given)})")


def _lines_of_lookup(called: Lookup, given: Sequence[str], new: Callable[[str], str],
                     declared: set[str]) -> str:
    """Append the lines that choose a row of a table and look up a value in it; the value's name."""
    def call(function: MachineCode, kind: str, whole: Sequence[str], value: str) -> str:
        name = name_of_code(function.callback)
        declared.add(f"declare {kind} {name}({', '.join(['ptr'] * len(whole))}, double) "
                     "nounwind memory(read)")  # fmt: skip
        shown = [w if w.startswith("@") else new(f"inttoptr i64 {w} to ptr") for w in whole]
        return new(f"call {kind} {name}({', '.join(f'ptr {w}' for w in shown)}, double {value})")

    def place(numbers: Array) -> str:
        name = table(numbers)
        declared.add(f"{name} = external global i32")
        return name

    first, *further = given
    row = "0"
    for choice, value in zip(called.choices, further, strict=True):
        count = len(choice.points)
        here = call(row_of, "i32", (place(choice.points), str(count), str(choice.step)), value)
        before = new(f"mul i64 {row}, {count}")
        row = new(f"add i64 {before}, {new(f'sext i32 {here} to i64')}")
    return call(polynomial, "double", (
        place(called.breaks), str(len(called.breaks)), place(called.coefficients), row,
        str(called.coefficients.shape[2])), first)
