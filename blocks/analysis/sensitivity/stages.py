"""What do small changes of states come to within steps? Collocation at the Radau points.

Changes S obey ``S' = A(t) S + B(t)`` with known coefficients. Slopes at the stages of a step (Radau
IIA with eight, order 15, L-stable [Hairer & Wanner II, IV.5]) are linear in where it begins. Of few
states they are found as matrices, of many steps at once; of many states A is mostly zeros, and they
are solved for step after step.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from math import comb
from typing import Any, Self

import numpy as np
from numpy.polynomial import legendre, polynomial
from scipy.sparse import csr_array, eye_array, kron
from scipy.sparse.linalg import splu

from ...numerics.arrays import Array, Indices

__all__ = ["BEGIN", "INTEGRALS", "LAST_TERM", "MATRIX", "NODES", "STAGES", "Coefficients",
           "Entries", "Steps", "Stretches", "steps_along", "weighted"]  # fmt: skip

STAGES = 8
FEW = 16  # states of which matrices are quicker than solving step after step
MOST_KEPT = 1e7  # entries of factors that are kept for another round


def _radau() -> tuple[Array, Array, Array]:
    """Nodes in (0, 1]; per node the coefficients of its polynomial and of its integral."""
    one, two = np.zeros(STAGES + 1), np.zeros(STAGES)
    one[STAGES], two[STAGES - 1] = 1.0, 1.0
    nodes = np.sort(np.real(legendre.legroots(np.append(two, 0.0) - one)))  # P_s - P_{s-1}
    nodes = (nodes + 1) / 2
    nodes[-1] = 1.0
    basis = np.array([polynomial.polyfromroots(others) / np.prod(node - others)  # Lagrange's
                      for j, node in enumerate(nodes) for others in [np.delete(nodes, j)]])
    return nodes, basis, np.array([polynomial.polyint(b) for b in basis])


NODES, BASIS, INTEGRALS = _radau()
MATRIX = np.array([[polynomial.polyval(c, i) for i in INTEGRALS] for c in NODES])
#: What the values at the nodes give of the last Legendre polynomial, and where the step begins.
LAST_TERM, BEGIN = BASIS[:, -1] / comb(2 * STAGES - 2, STAGES - 1), BASIS[:, 0]


@dataclass(frozen=True)
class Entries:
    """Square matrices by the entries that are not zero in all of them."""

    values: Array  # (matrices, entries)
    row: Indices  # where they stand, with ``column``
    column: Indices
    size: int  # of each matrix

    @classmethod
    def of(cls, matrices: Array) -> Entries:
        """Return the entries of full matrices."""
        row, column = np.nonzero((matrices != 0).any(axis=0))
        return cls(matrices[:, row, column], row, column, matrices.shape[1])

    @classmethod
    def joined(cls, parts: Sequence[Entries]) -> Entries:
        """The matrices of several, with room for the entries of all."""
        size = parts[0].size
        numbers = [part.row * size + part.column for part in parts]
        every = np.unique(np.concatenate(numbers))
        values = [np.zeros((len(part.values), len(every))) for part in parts]
        for mine, part, number in zip(values, parts, numbers, strict=True):
            mine[:, np.searchsorted(every, number)] = part.values
        return cls(np.concatenate(values), *np.divmod(every, size), size)

    def full(self) -> Array:
        """The matrices with all their zeros."""
        out = np.zeros((len(self.values), self.size, self.size))
        out[:, self.row, self.column] = self.values
        return out

    def largest(self) -> Array:
        """Return how large each entry is at most."""
        return replace(self, values=np.abs(self.values).max(axis=0, keepdims=True)).full()[0]


@dataclass(frozen=True)
class Coefficients:
    """A and B at points, (points, states, …), and B of what is constant between events."""

    a: Entries
    b: Array
    d: Array

    @classmethod
    def joined(cls, parts: Sequence[Coefficients]) -> Coefficients:
        """Those at the points of several, one after the other."""
        return cls(Entries.joined([part.a for part in parts]),
                   np.concatenate([part.b for part in parts]),
                   np.concatenate([part.d for part in parts]))


@dataclass
class Stretches:
    """Steps."""

    start: Array
    length: Array
    which: Indices  # the numbers of their episodes

    def __len__(self) -> int:
        return len(self.start)


class Steps(Stretches):
    """Steps of which all coefficients are known."""

    @property
    @abstractmethod
    def size(self) -> int:
        """How many numbers they are made of."""

    def _of_each(self, change: Callable[[str, Array], Any]) -> Self:
        """Return steps with what ``change`` makes of each array, by its name."""
        return replace(self, **{name: change(name, value) for name, value in vars(self).items()
                                if isinstance(value, np.ndarray)})

    def some(self, which: Indices) -> Self:
        """Some of them, in another order."""
        return self._of_each(lambda _, value: value[which])

    def joined(self, other: Self) -> Self:
        """These steps and others together, in the order of time."""
        both = self._of_each(lambda name, value: np.concatenate([value, getattr(other, name)]))
        return both.some(np.lexsort([both.start, both.which]))

    @abstractmethod
    def along(self, mine: slice, x: Array, d: Array, begin: Array, slopes: Array) -> Array:
        """Changes of the states at the end of some steps, from those before, ``x``.

        ``begin`` and ``slopes`` are filled in: changes where each step begins, and their slopes at
        its stages.
        """


def steps_along(start: Array, length: Array, which: Indices,
                coefficients: Callable[[Array, Indices], Coefficients]) -> Steps:
    """Steps with their coefficients, which are given at times in episodes."""
    times = (start[:, None] + length[:, None] * NODES).ravel()
    given = coefficients(times, np.repeat(which, STAGES))
    n = given.b.shape[1]
    kind: Any = _Full if n <= FEW else _Sparse
    with np.errstate(invalid="ignore"):
        return kind.of(start, length, which, given.a, *(
            one.reshape(len(start), STAGES, n, one.shape[2]) for one in (given.b, given.d)))


def weighted(weights: Array, stages: Array) -> Array:
    """Sums over the stages of every step."""
    count, s, *shape = stages.shape
    return np.asarray(weights[:, None] @ stages.reshape(count, s, np.prod(shape, dtype=int))
                      ).reshape(count, *shape)


# -- few states --------------------------------------------------------------------------------
@dataclass
class _Full(Steps):
    """Steps with their slopes at the stages as matrices."""

    of_states: Array  # (steps, stages, states, …), as the next two
    of_parameters: Array
    of_discrete: Array

    @classmethod
    def of(cls, start: Array, length: Array, which: Indices, a: Entries, b: Array,
           d: Array) -> _Full:
        """Return the steps, from coefficients at their stages."""
        whole = a.full().reshape(len(start), STAGES, b.shape[2], b.shape[2])
        right = np.concatenate([whole, b, d], axis=3)
        count, n = len(start), whole.shape[2]
        matrix = np.eye(STAGES * n) - (
            (MATRIX[None, :, None, :, None] * length[:, None, None, None, None])
            * whole[:, :, :, None, :]).reshape(count, STAGES * n, STAGES * n)
        slopes = np.linalg.solve(matrix, right.reshape(count, STAGES * n, right.shape[3]))
        cuts = np.cumsum([n, b.shape[3]])
        return cls(start, length, which, *np.split(slopes.reshape(right.shape), cuts, axis=3))

    @property
    def size(self) -> int:
        return self.of_states.size + self.of_parameters.size

    def along(self, mine: slice, x: Array, d: Array, begin: Array, slopes: Array) -> Array:
        weights = self.length[mine, None] * MATRIX[-1]
        pushed = self.of_parameters[mine] + self.of_discrete[mine] @ d
        ahead = np.eye(len(x)) + weighted(weights, self.of_states[mine])
        for k, (step, push) in enumerate(zip(ahead, weighted(weights, pushed), strict=True),
                                         mine.start):
            begin[k] = x
            x = step @ x + push
        slopes[mine] = self.of_states[mine] @ begin[mine, None] + pushed
        return x


# -- many states -------------------------------------------------------------------------------
@dataclass
class _Sparse(Steps):
    """Steps of which slopes at the stages are solved for one after the other."""

    a: Array  # (steps,) sparse matrices, those of all stages along the diagonal
    b: Array  # (steps, stages, states, …), as the next one
    d: Array
    factors: Array  # of the equations at the stages; None where they are not known

    @classmethod
    def of(cls, start: Array, length: Array, which: Indices, a: Entries, b: Array,
           d: Array) -> _Sparse:
        """Return the steps, from coefficients at their stages."""
        first = a.size * np.arange(STAGES)[:, None]
        places = (first + a.row).ravel(), (first + a.column).ravel()
        every, size = np.empty(len(start), dtype=object), STAGES * a.size
        for k, values in enumerate(a.values.reshape(len(start), -1)):
            every[k] = csr_array((values, places), shape=(size, size))
        return cls(start, length, which, every, b, d, np.full(len(start), None))

    @property
    def size(self) -> int:
        return sum(one.nnz for one in self.a) + self.b.size

    def along(self, mine: slice, x: Array, d: Array, begin: Array, slopes: Array) -> Array:
        for k in range(mine.start, mine.stop):
            begin[k] = x
            right = self.a[k] @ np.tile(x, (STAGES, 1)) + (self.b[k] + self.d[k] @ d).reshape(
                -1, x.shape[1])
            slopes[k] = self._solved(k, right).reshape(STAGES, *x.shape)
            x = x + self.length[k] * np.tensordot(MATRIX[-1], slopes[k], 1)
        return x

    def _solved(self, k: int, right: Array) -> Array:
        """Slopes at the stages of a step."""
        if not (np.isfinite(right).all() and np.isfinite(self.a[k].data).all()):
            return np.full_like(right, np.nan)
        factors = self.factors[k]
        if factors is None:
            size = len(right)
            by_slopes = kron(self.length[k] * MATRIX, eye_array(size // STAGES))
            factors = splu((eye_array(size) - self.a[k] @ by_slopes).tocsc())
            if len(self) * factors.nnz <= MOST_KEPT:
                self.factors[k] = factors
        return np.asarray(factors.solve(right))
