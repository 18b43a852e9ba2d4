"""Functions in plain loops give the same in machine code as in Python, to the last bit."""

from __future__ import annotations

import ctypes
from typing import NamedTuple

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from blocks.machine.functions import machine_code
from blocks.machine.signatures import CFunction, Untranslatable, address_of, indices_at, vector_at
from blocks.machine.translation import translated
from blocks.numerics.arrays import Cube, Flags, Indices, Matrix, Vector

PARTS = (0.25, 0.5, 1.0)
ROOM = 4


class Rows(NamedTuple):
    values: Matrix
    which: Flags
    order: Indices
    factor: float


@machine_code
def choice(a: float, b: float, n: int) -> tuple[float, float, int, bool]:
    most = max(a, b, 0.5)
    least = min(a, b)
    if a < b < 2.0 and n != 3 or n > 7:
        n += 1
    elif a >= b:
        n = n // 2 + n % 3
    return (most if n > 2 else 2 * least), abs(a) ** 0.5 - b * b, n, a != b


@machine_code
def sums(rows: Rows, out: Vector) -> int:
    counted = 0
    for i in range(rows.values.shape[0] - 1, -1, -1):
        if rows.which[i]:
            continue
        row = rows.values[rows.order[i]]
        for j in range(row.size):
            if not np.isfinite(row[j]):
                break
            out[i] += rows.factor * row[j] * PARTS[j % 3]
            counted += 1
    return counted


@machine_code
def moved(cube: Cube, at: int, room: Vector) -> None:
    room[1:3] = cube[at, 0, :2]
    cube[0, :] = cube[at]
    cube[-1, 1] = 7.5
    cube[at, 0][1:] = room[:2]
    k = 0
    while True:
        k += 1
        if k > 5:
            return
        cube[1, 1, 0] -= 1.0 / k


@machine_code
def both(rows: Rows, out: Vector, cube: Cube) -> float:
    moved(cube, 1, out)
    a, b, m, differ = choice(out[0], out[1], sums(rows, out))
    total = a + b + m
    if differ:
        total *= np.cos(a) * np.inf if np.isnan(b) else 1.0
    return total


@settings(deadline=None)  # the first call compiles
@given(st.floats(), st.floats(), st.integers(0, 10))
def test_choices_are_those_of_python(a, b, n):
    try:
        plain = choice.python(a, b, n)
    except OverflowError:
        return
    np.testing.assert_allclose(choice(a, b, n), plain, rtol=3e-16, atol=0)  # its power rounds


@settings(deadline=None)
@given(arrays(float, (3, 4), elements=st.floats(-1e6, 1e6) | st.just(np.inf)),
       arrays(bool, 3), st.permutations(range(3)), st.floats(-3, 3))  # fmt: skip
def test_loops_rows_and_parts_of_arrays_are_those_of_python(values, which, order, factor):
    rows = Rows(values, which, np.array(order), factor)
    cubes = [np.arange(12.0).reshape(3, 2, 2) for _ in range(2)]
    out = np.zeros((2, 3))
    found = both(rows, out[0], cubes[0]), both.python(rows, out[1], cubes[1])
    np.testing.assert_array_equal(out[0], out[1])
    np.testing.assert_array_equal(cubes[0], cubes[1])
    np.testing.assert_allclose(*found, rtol=1e-15)  # a library's cosine may round otherwise


@machine_code
def unlucky(x: Vector) -> float:
    return sum(v for v in x)


@machine_code
def mistaken(x: Vector) -> int:
    return x[0]


def test_arrays_of_other_numbers_are_refused():
    with pytest.raises(TypeError, match="out is an array of int64 with shape .3,., and takes 1"):
        both(Rows(np.ones((3, 4)), np.zeros(3, bool), np.arange(3), 1.0),
             np.zeros(3, dtype=int), np.ones((3, 2, 2)))  # fmt: skip


twice = CFunction("i32", "double", "ptr", "i32")


@machine_code
def doubled(factor: float, numbers: int, count: int) -> int:
    at = vector_at(numbers, indices_at(count, 1)[0])
    for i in range(at.size):
        at[i] *= factor
    return at.size - 5


@machine_code
def calls_c(address: int, numbers: Vector, count: Indices) -> int:
    return twice(address, 2, numbers, 3) - count[0]


def test_functions_of_c_are_called_and_called_by():
    numbers, count = np.array([1.0, 2.5, -3.0]), np.array([3])
    back = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_double, ctypes.c_void_p, ctypes.c_void_p)(
        doubled.callback)
    assert back(2.0, numbers.ctypes.data, count.ctypes.data) == -2
    assert numbers.tolist() == [2.0, 5.0, -6.0]
    assert doubled.python(0.5, numbers.ctypes.data, count.ctypes.data) == -2
    assert numbers.tolist() == [1.0, 2.5, -3.0]

    @ctypes.CFUNCTYPE(ctypes.c_int32, ctypes.c_double, ctypes.POINTER(ctypes.c_double),
                      ctypes.c_int32)
    def scaled(factor, values, size):
        for i in range(size):
            values[i] *= factor
        return -size

    address = ctypes.cast(scaled, ctypes.c_void_p).value
    assert calls_c(address, numbers, count) == calls_c.python(address, numbers, count) == -6
    assert numbers.tolist() == [4.0, 10.0, -12.0]


class Ladder(NamedTuple):
    kind: int
    rungs: Vector


@machine_code
def climbed(ladder: Ladder) -> float:
    height = 0.0
    for i in range(ladder.rungs.size):
        height += ladder.rungs[i]
    return height


@machine_code
def height(ladder: Ladder, start: float) -> float:
    if ladder.kind == ROOM and start < 0.0:
        return start
    if ladder.kind != ROOM or not ladder.rungs.size:
        start += 1.0
    if start > 0.0 and ladder.rungs.size > 0:
        return start + climbed(ladder)
    return -start


@pytest.mark.parametrize("kind, rungs, start", [
    (ROOM, 0, -2.0), (ROOM, 0, 2.0), (ROOM, 3, 2.0), (1, 0, -0.5), (1, 3, 0.5), (1, 3, -3.0)])
def test_what_is_known_beforehand_leaves_out_what_cannot_be_reached(kind, rungs, start):
    ladder = Ladder(kind, np.arange(1.0, 1.0 + rungs))
    facts = {("Ladder", "kind"): kind} | ({} if rungs else {("Ladder", "rungs"): 0})
    quicker = height.knowing(facts)
    assert quicker is height.knowing(dict(facts))
    assert quicker(ladder, start) == height(ladder, start) == height.python(ladder, start)
    assert ("climbed" in translated(height, facts=facts)) == (rungs > 0)


@machine_code
def forgets_one(address: int, numbers: Vector) -> int:
    return twice(address, 2.0, numbers)


@pytest.mark.parametrize("function, options, text", [
    (unlucky, {}, r"unlucky, line {}: has no machine code: \(v for v in x\)"),
    (mistaken, {}, r"mistaken, line {}: .*double.*, not .*i64"),
    (forgets_one, {}, "takes an address and 3 arguments"),
    (sums, {"called_by_c": True}, "C gives and takes numbers alone")])
def test_what_has_no_machine_code_is_named_with_its_line(function, options, text):
    line = function.python.__code__.co_firstlineno + 2
    with pytest.raises(Untranslatable, match=text.replace("{}", str(line))):
        translated(function, **options)


def test_addresses_of_arrays_are_those_that_numpy_tells():
    whole = np.arange(12.0).reshape(3, 4)
    fixed = np.arange(3)
    fixed.flags.writeable = False
    for array in (whole, whole[1], whole[:, 2], whole[3:], fixed, np.zeros(0)):
        assert address_of(array) == array.ctypes.data
