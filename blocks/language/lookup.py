"""How is a long table a node of an expression?

As piecewise polynomials, found by search when an expression is evaluated: what an expression
costs does not depend on how many points its tables have. Derivatives are nodes of the same kind.
Machine code finds the same numbers by :mod:`blocks.native.nodes`; what stands here is the
reference.
"""

from __future__ import annotations

import hashlib
from bisect import bisect_right
from functools import cached_property
from typing import NamedTuple

import casadi as ca
import numpy as np
from numpy.typing import ArrayLike

from ..numerics.arrays import Array, Indices
from .node import Node, node_named

__all__ = ["Choice", "Lookup", "StateTable", "lookup"]


class Choice(NamedTuple):
    """An axis along which a row of polynomials is chosen.

    The row is that of the last point (the last but one at most) that is not above the value,
    and ``step`` more as far as there are rows; there is one for every point.
    """

    points: Array
    step: int

    def place(self, value: float) -> int:
        """Which row."""
        found = bisect_right(self.points, value) - 1  # type: ignore[type-var]
        last = len(self.points) - 1
        return min(max(min(max(found, 0), last - 1) + self.step, 0), last)

    def places(self, values: Array) -> Indices:
        """The rows of many values."""
        found, last = np.searchsorted(self.points, values, side="right") - 1, len(self.points) - 1
        return np.clip(np.minimum(np.maximum(found, 0), last - 1) + self.step, 0, last)


class StateTable(NamedTuple):
    """A table over what may move with the states, on local symbols."""

    x: ca.SX
    points: ca.SX
    heights: ca.SX  # a row for every point
    hold: bool  # whether the end values hold beyond
    smooth: bool


class Lookup(Node):
    """Piecewise polynomials of a first value; further ones choose among rows of these.

    Made by :func:`lookup`.

    Parameters
    ----------
    name : of the node
    breaks : (n,) increasing
        The first piece ends and the last begins here.
    coefficients : (rows, n + 1, width)
        Of 1, s, s², … with s from the break at the left, of the first piece at its right.
    choices : of Choice
        One for each further value; rows of the last one follow each other.
    """

    def __init__(self, name: str, breaks: Array, coefficients: Array, choices: tuple[Choice, ...]
                 ) -> None:
        self.breaks, self.coefficients, self.choices = breaks, coefficients, choices
        self._ends = breaks.tolist()  # numbers that Python's search compares quickly
        super().__init__(name, 1 + len(choices))

    @cached_property
    def derivative(self) -> Lookup:
        """By the first value."""
        width = self.coefficients.shape[2]
        lower = self.coefficients[:, :, 1:] * np.arange(1.0, width)
        return lookup(self.breaks, lower if width > 1 else 0.0 * self.coefficients, self.choices)

    @property
    def is_stepwise(self) -> bool:
        """Whether it is constant between its breaks."""
        return bool(self.coefficients.shape[2] == 1)

    def value(self, first: float, *further: float) -> float:  # type: ignore[override]
        """The reference for machine code."""
        row = 0
        for choice, value in zip(self.choices, further, strict=True):
            row = row * len(choice.points) + choice.place(value)
        piece = bisect_right(self._ends, first)
        powers = self.coefficients[row, piece].tolist()
        s, out = first - self._ends[max(piece - 1, 0)], 0.0
        for power in reversed(powers):
            out = out * s + power
        return float(out)

    def values(self, first: ArrayLike, *further: ArrayLike) -> Array:  # type: ignore[override]
        """Return the values of :meth:`value` for columns of arguments."""
        at, *others = np.broadcast_arrays(first, *further)
        row = np.zeros(at.shape, dtype=int)
        for choice, value in zip(self.choices, others, strict=True):
            row = row * len(choice.points) + choice.places(value)
        piece = np.searchsorted(self.breaks, at, side="right")
        s, out = at - self.breaks[np.maximum(piece - 1, 0)], np.zeros(at.shape)
        for power in reversed(range(self.coefficients.shape[2])):
            out = out * s + self.coefficients[row, piece, power]
        return out

    def slopes(self, values: list[ca.SX]) -> list[ca.SX]:
        first = ca.SX(0) if self.is_stepwise else self.derivative(*values)
        return [first, *[ca.SX(1, 1)] * len(self.choices)]


def lookup(breaks: Array, coefficients: Array, choices: tuple[Choice, ...] = ()) -> Lookup:
    """The node of a table; the same one for the same numbers.

    See :class:`Lookup` for the parameters.
    """
    arrays = [np.ascontiguousarray(a, dtype=float) for a in (breaks, coefficients)]
    digest = hashlib.sha256()
    for part in (*arrays, *(c.points for c in choices)):
        digest.update(repr(part.shape).encode() + part.tobytes())
    digest.update(repr([c.step for c in choices]).encode())
    name = f"lookup{digest.hexdigest()[:24]}"
    return node_named(name) or Lookup(name, arrays[0], arrays[1], choices)
