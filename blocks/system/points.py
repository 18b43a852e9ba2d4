"""Where was a system at many times? States, unknowns and inputs as columns."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from ..numerics.arrays import Array, Indices, distinct, grouped
from .evaluator import Evaluator

if TYPE_CHECKING:
    from .problem import Problem

__all__ = ["Points", "modes_in"]


@dataclass(frozen=True)
class Points:
    """What the functions of a system take, at many times."""

    t: Array  # (k,) times
    x: Array  # x, z, m, d, u: a column per time
    z: Array
    # parameters, the same at all times; or a column per time, where these are of several runs
    p: Array
    m: Array
    d: Array
    u: Array
    # of set-valued laws: modes that were held, and the columns in which they were
    modes: tuple[tuple[Indices, Indices], ...] = ()

    def __len__(self) -> int:
        return len(self.t)

    def values(self, function: Evaluator, inputs: Array | None = None) -> Array:
        """A function of what the system's functions take, (rows, times).

        ``inputs`` stand in for ``u``; one column of them serves for all times.
        """
        *most, u = self.columns()
        return function.at_columns(*most, u if inputs is None else inputs)

    def columns(self) -> list[Array]:
        """What the functions of a system take, as columns."""
        p = self.p if self.p.ndim == 2 else self.p[:, None]
        return [self.t[None, :], self.x, self.z, p, self.m, self.d, self.u]

    def put(self, column: int, problem: Problem) -> float:
        """Take a problem, a copy for reading, to one of them; returns the time there."""
        problem.x, problem.z, problem.u, problem.m, problem.d = (
            np.ascontiguousarray(a[:, column]) for a in (self.x, self.z, self.u, self.m, self.d))
        return float(self.t[column])

    def alike(self, columns: Indices) -> list[Indices]:
        """Some columns, those with the same relations together."""
        _, kind = np.unique(self.m[:, columns], axis=1, return_inverse=True)
        return [columns[same] for same in grouped(kind.ravel())]

    def mode_columns(self) -> Indices:
        """Modes of all elements, a column per time."""
        size = len(self.modes[0][0]) if self.modes else 0
        out = np.zeros((size, len(self)), dtype=int)
        for held, columns in self.modes:
            out[:, columns] = held[:, None]
        return out

    def some(self, columns: Indices) -> Points:
        """The points of some columns, which ascend."""
        if len(columns) == len(self):
            return self
        kept, place = [], np.full(len(self), -1)
        place[columns] = np.arange(len(columns))
        for held, mine in self.modes:
            found = place[mine]
            found = found[found >= 0]
            if len(found):
                kept.append((held, found))
        return Points(self.t[columns], self.x[:, columns], self.z[:, columns], self.p,
                      self.m[:, columns], self.d[:, columns], self.u[:, columns], tuple(kept))


def modes_in(every: Indices, which: Indices) -> tuple[tuple[Indices, Indices], ...]:
    """Modes, and the columns in which they were held.

    ``every``, (episodes, elements), are modes in all episodes, ``which``, (k,), is the episode of
    every column.
    """
    number = distinct(which)
    different, kind = np.unique(every[number], axis=0, return_inverse=True)
    of_time = kind.ravel()[np.searchsorted(number, which)]
    return tuple(zip(different, grouped(of_time), strict=True))
