"""Curves over time as a table of rows: polynomials through consecutive ones.

Each is the polynomial through K rows at the Chebyshev-Lobatto points of its span; where the
next one continues it, both share the row between them. Rows hold any numbers: unknowns of a
solver, or variables of a model.
"""

from __future__ import annotations

from array import array
from collections.abc import Iterator
from typing import Protocol

import numpy as np

from ..numerics.arrays import Array, Flags, Indices, distinct
from .interpolation import basis, chebyshev_nodes, places_between, unit_interval

__all__ = ["Polynomials", "RowBlocks", "Rows", "chunks"]

CHUNK = 1 << 21  # numbers gathered at a time by a query
BLOCK = 1 << 17  # numbers of a block of rows
FIRST = 4  # rows of the first block


def chunks(count: int, width: int) -> Iterator[slice]:
    """Parts of so many rows, or one, that have no more numbers than are gathered at a time."""
    length = max(1, CHUNK // max(1, width))
    return (slice(k, k + length) for k in range(0, count, length))


class Rows(Protocol):
    """Rows of numbers that are added in order and read by number."""

    @property
    def count(self) -> int: ...

    @property
    def nbytes(self) -> int:
        """Memory held by them."""

    def append(self, times: Array, rows: Array) -> None:
        """Add (k, width) rows, and the times (k,) that they are of."""

    def take(self, numbers: Indices, columns: Indices | None = None) -> Array:
        """Some rows, (k, width), or some columns of them."""


class RowBlocks:
    """Rows in memory, in blocks that stay where they are when there are more.

    ``rows`` are the first ones, and become its own.
    """

    def __init__(self, rows: Array) -> None:
        (self.count, self.width), self.nbytes = rows.shape, rows.nbytes
        self._blocks = [rows]
        self._first = [0]  # rows before each block
        self._room = 0  # rows that fit into the last one

    def append(self, times: Array, rows: Array) -> None:
        done = 0
        while done < len(rows):
            if not self._room:
                most = max(1, BLOCK // max(self.width, 1))
                size = max(min(max(FIRST, self.count // 4), most), min(len(rows) - done, most))
                self._blocks.append(np.empty((size, self.width)))
                self._first.append(self.count)
                self._room = size
                self.nbytes += self._blocks[-1].nbytes
            some = min(self._room, len(rows) - done)
            at = self.count - self._first[-1]
            self._blocks[-1][at : at + some] = rows[done : done + some]
            done, self._room, self.count = done + some, self._room - some, self.count + some

    def take(self, numbers: Indices, columns: Indices | None = None) -> Array:
        of_block = np.searchsorted(self._first, numbers, side="right") - 1
        out = np.empty((len(numbers), self.width if columns is None else len(columns)))
        for b in distinct(of_block):
            here = of_block == b
            rows = numbers[here] - self._first[b]
            out[here] = (self._blocks[b][rows] if columns is None
                         else self._blocks[b][rows[:, None], columns])
        return out

    def drop_before(self, number: int) -> None:
        """Free blocks whose rows all stand before one; these are not read again."""
        for b, first in enumerate(self._first[1:]):
            if first <= number and self._blocks[b].size:
                self.nbytes -= self._blocks[b].nbytes
                self._blocks[b] = np.empty((0, self.width))


class Polynomials:
    """Polynomials over time, one after the other.

    Parameters
    ----------
    width : numbers of a row
    nodes : K
    rows : where rows are kept; in memory by default

    Examples
    --------
    >>> import numpy as np
    >>> parabola = Polynomials(1, 3)
    >>> parabola.append(np.array([0.0]), np.array([2.0]), np.array([[[0.0], [1.0], [4.0]]]))
    >>> parabola(np.array([1.5]))
    array([[2.25]])
    """

    def __init__(self, width: int, nodes: int, rows: Rows | None = None) -> None:
        self.width, self.nodes = width, nodes
        self.rows: Rows = RowBlocks(np.empty((0, width))) if rows is None else rows
        self._times = array("d")  # of the rows
        self._ends = array("q")  # the row at the end of every one
        self._steps = array("q")  # that one stands for

    def __len__(self) -> int:
        return len(self._ends)

    @property
    def times(self) -> Array:
        """Return the times of the rows; where stretches meet, one is there twice."""
        return np.array(self._times)

    @property
    def _last(self) -> Indices:
        return np.array(self._ends)

    @property
    def starts(self) -> Array:
        return self.times[self._last - (self.nodes - 1)]

    @property
    def ends(self) -> Array:
        return self.times[self._last]

    @property
    def nbytes(self) -> int:
        """Memory of what is kept."""
        return self.rows.nbytes + sum(
            kept.itemsize * len(kept) for kept in (self._times, self._ends, self._steps))

    def append(self, starts: Array, ends: Array, values: Array, joined: Flags | None = None,
               steps: int | Indices = 1) -> None:
        """Add polynomials.

        Parameters
        ----------
        starts, ends : (k,) in order
        values : (k, K, width) at the nodes
        joined : (k,) whether one continues the one before; by default all but the very first
        steps : that one stands for
        """
        k = len(starts)
        if joined is None:
            joined = np.ones(k, dtype=bool)
            joined[:1] = len(self) > 0
        at = places_between(starts, ends, chebyshev_nodes(self.nodes))
        new = np.ones((k, self.nodes), dtype=bool)
        new[:, 0] = ~joined
        self._ends.frombytes((len(self._times) - 1 + np.cumsum(new.sum(axis=1))).tobytes())
        self._times.frombytes(at[new].tobytes())
        self.rows.append(at[new], values.reshape(new.size, self.width)[new.ravel()])
        self._steps.frombytes(np.full(k, steps, dtype=np.int64).tobytes())

    def __call__(self, times: Array, side: str = "right", columns: Indices | None = None) -> Array:
        """(k, width) values at times; where two stretches meet, ``side`` tells which is meant."""
        which = np.searchsorted(self.starts, times, side=side) - 1  # type: ignore[call-overload]
        return self.within(np.clip(which, 0, None), times, columns)

    def within(self, which: Indices, times: Array, columns: Indices | None = None) -> Array:
        """Return values at times (times, columns), given the one that each time is in."""
        width = self.width if columns is None else len(columns)
        out = np.empty((len(times), width))
        starts, ends, last = self.starts, self.ends, self._last
        before = np.arange(1 - self.nodes, 1)
        for some in chunks(len(times), width * self.nodes):
            mine, t = which[some], times[some]
            weights = basis(unit_interval(t, starts[mine], ends[mine]), self.nodes)
            rows = self.rows.take((last[mine][:, None] + before).ravel(), columns)
            out[some] = np.einsum("kj,kjn->kn", weights, rows.reshape(len(t), self.nodes, width))
        return out

    # -- thinning ----------------------------------------------------------------------------
    def thinned(self, steps: int) -> tuple[Polynomials, Array]:
        """Return the curves in fewer polynomials, of about so many steps each.

        Of what is given up only the rows between remain known: the new polynomial goes through
        K of the old curve's values. Rows of the old ones are freed on the way.

        Returns
        -------
        Polynomials, and by how much (width,) values at ends of old ones differ at most
        """
        new, off = Polynomials(self.width, self.nodes), np.zeros(self.width)
        first, last = self._groups(steps)
        starts, ends, count, final = self.starts, self.ends, np.array(self._steps), self._last
        together = np.add.reduceat(count, first) if len(first) else count
        follows = self._follows()
        for some in chunks(len(first), self.width * self.nodes):
            a, b = first[some], last[some]
            low, high = starts[a], ends[b]
            at = places_between(low, high, chebyshev_nodes(self.nodes))
            which = np.searchsorted(starts, at.ravel(), side="right") - 1
            which = np.clip(which.reshape(at.shape), a[:, None], b[:, None]).ravel()
            values = self.within(which, at.ravel()).reshape(len(a), self.nodes, self.width)
            new.append(low, high, values, follows[a], together[some])
            inner = np.setdiff1d(np.arange(a[0], b[-1]), b)
            for part in chunks(len(inner), self.width):
                missed = new(ends[inner[part]]) - self.rows.take(final[inner[part]])
                off = np.fmax(off, np.abs(missed).max(axis=0, initial=0.0))
            if isinstance(self.rows, RowBlocks):
                self.rows.drop_before(int(final[b[-1]]))
        return new, off

    def _follows(self) -> Flags:
        """Whether each continues the one before."""
        follows = np.diff(self._last, prepend=-1) == self.nodes - 1
        follows[:1] = False
        return follows

    def _groups(self, steps: int) -> tuple[Indices, Indices]:
        """First and last polynomials of groups of about so many steps, within their stretches."""
        count, begins = np.array(self._steps), ~self._follows()
        before = np.cumsum(count) - count
        before -= np.maximum.accumulate(np.where(begins, before, 0))
        first = np.flatnonzero(begins | (np.diff(before // steps, prepend=0) != 0))
        return first, np.append(first[1:], len(self)) - 1
