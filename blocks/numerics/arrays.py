"""Types of arrays, as signatures name them, how long a vector is, and whether it is finite."""

from __future__ import annotations

from typing import Any, TypeAlias, TypeVar

import numpy as np
from numpy.typing import NDArray

__all__ = ["Array", "Complexes", "Cube", "Flags", "IndexMatrix", "Indices", "Matrix", "Vector",
           "all_finite", "distinct", "grouped", "length", "python_number", "ranks"]

Array: TypeAlias = NDArray[np.float64]
Complexes: TypeAlias = NDArray[np.complex128]
Vector: TypeAlias = Array  # of one dimension; machine code asks for it by this name
Matrix: TypeAlias = Array  # of two
Cube: TypeAlias = Array  # of three
Indices: TypeAlias = NDArray[np.int_]
IndexMatrix: TypeAlias = Indices  # of two dimensions
Flags: TypeAlias = NDArray[np.bool_]


_Number = TypeVar("_Number", bound=np.generic)


def python_number(value: Any) -> Any:
    """A number or truth value of NumPy as Python's own; anything else as it is."""
    return value.item() if isinstance(value, np.generic) else value


def distinct(values: NDArray[_Number]) -> NDArray[_Number]:
    """Sorted distinct values; unlike numpy's own it does not load masked arrays first."""
    values = np.sort(values, axis=None)
    first = np.ones(len(values), dtype=bool)
    first[1:] = values[1:] != values[:-1]
    return values[first]


def ranks(numbers: Indices) -> tuple[Indices, int]:
    """Return the place of each number among the distinct ones, and how many these are.

    Counted, not sorted: in proportion to the largest number.
    """
    place = np.zeros(int(numbers.max(initial=-1)) + 1, dtype=np.int_)
    place[numbers] = 1
    ends = np.cumsum(place)
    return ends[numbers] - 1, int(ends[-1]) if len(ends) else 0


def grouped(labels: NDArray[np.integer]) -> list[Indices]:
    """The places of equal labels together, those of the lowest first."""
    order = np.argsort(labels, kind="stable")
    return np.split(order, np.flatnonzero(np.diff(labels[order])) + 1) if len(order) else []


def length(v: Vector) -> float:
    """The Euclidean norm, in one thread: those of BLAS wait for work longer than they add up."""
    return float(np.sqrt(np.sum(v * v)))


def all_finite(v: Vector) -> bool:
    """Whether all numbers are finite; of a few in half the time that ``.all()`` takes."""
    return bool(np.logical_and.reduce(np.isfinite(v)))
