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
from functools import cached_property
from math import comb
from typing import Any, Self

import numpy as np
from numpy.polynomial import legendre, polynomial
from scipy.sparse import csc_matrix
from scipy.sparse.linalg import SuperLU, splu

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


def _halved() -> tuple[Array, Array, Array]:
    """Eigenvalues of the method's matrix, its eigenvectors and their inverse; one of each pair."""
    values, vectors = np.linalg.eig(MATRIX)
    half = values.imag > 0
    return values[half], vectors[:, half], np.linalg.inv(vectors)[half]


NODES, BASIS, INTEGRALS = _radau()
MATRIX = np.array([[polynomial.polyval(c, i) for i in INTEGRALS] for c in NODES])
EIGENVALUES, FROM_EIGEN, TO_EIGEN = _halved()
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
        constant = np.all(whole == whole[:, :1], axis=(1, 2, 3))
        slopes = np.empty_like(right)
        for some, solve in ((constant, _solved_apart), (~constant, _solved_together)):
            if some.any():
                slopes[some] = solve(whole[some], length[some], right[some])
        cuts = np.cumsum([whole.shape[2], b.shape[3]])
        return cls(start, length, which, *np.split(slopes, cuts, axis=3))

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


def _solved_together(a: Array, length: Array, right: Array) -> Array:
    """Slopes at all stages from one matrix for each step."""
    count, _, n, columns = right.shape
    matrix = np.eye(STAGES * n) - (
        (MATRIX[None, :, None, :, None] * length[:, None, None, None, None]) * a[:, :, :, None, :]
    ).reshape(count, STAGES * n, STAGES * n)
    found = np.linalg.solve(matrix, right.reshape(count, STAGES * n, columns))
    return np.asarray(found.reshape(right.shape))


def _solved_apart(a: Array, length: Array, right: Array) -> Array:
    """Return the changes at the stages where A is constant, by combinations of the stages.

    These are the eigenvectors of the method's matrix [Hairer & Wanner II, IV.8]; of a conjugate
    pair one is solved for, twice its real part counts.
    """
    (count, _, *shape), a = right.shape, a[:, 0]
    size, pairs = shape[0] * shape[1], len(EIGENVALUES)
    given = (TO_EIGEN @ right.reshape(count, STAGES, size)).reshape(count, pairs, *shape)
    matrix = np.eye(a.shape[1]) - (length[:, None] * EIGENVALUES)[:, :, None, None] * a[:, None]
    found = np.linalg.solve(matrix, given).reshape(count, pairs, size)
    return np.asarray(2.0 * (FROM_EIGEN @ found).real).reshape(right.shape)


# -- many states -------------------------------------------------------------------------------
class _Pattern:
    """Where matrices have entries: what their equations at stages are made of.

    ``row``, ``column`` and ``size`` are those of A; the diagonal is added.
    """

    def __init__(self, row: Indices, column: Indices, size: int) -> None:
        self.size = n = size
        given = column * n + row
        number = np.union1d(given, np.arange(n) * (n + 1))
        # where the entries that were given stand among those by columns
        self.place: Indices = np.searchsorted(number, given)
        self.column, self.row = np.divmod(number, n)
        self.first = np.searchsorted(self.column, np.arange(n + 1))
        self.diagonal: Indices = np.flatnonzero(self.row == self.column)
        self._by_rows = np.argsort(self.row, kind="stable")
        self._rows = np.searchsorted(self.row[self._by_rows], np.arange(n))

    def holds(self, other: _Pattern) -> bool:
        """Whether another is the same."""
        return np.array_equal(self.row, other.row) and np.array_equal(self.first, other.first)

    def product(self, a: Array, x: Array) -> Array:
        """Matrices of given entries, (matrices, entries), times one with few columns."""
        return np.add.reduceat((a[:, :, None] * x[self.column])[:, self._by_rows], self._rows,
                               axis=1)

    def factors(self, values: Array) -> SuperLU:
        """Return factors of the identity less a matrix of given entries."""
        values = -values
        values[self.diagonal] += 1.0
        return _factors(self._apart, values)

    @cached_property
    def _apart(self) -> csc_matrix:
        return _empty(self.row, self.first)

    @cached_property
    def _together(self) -> tuple[csc_matrix, Indices, Indices]:
        """The matrix of all stages, stage by stage for each state; where its entries stand,
        (entries, stages, stages), and its diagonal."""
        count, each = np.diff(self.first), np.arange(STAGES)
        inner = np.arange(len(self.row)) - self.first[self.column]
        begin = STAGES * (STAGES * self.first[self.column] + inner)
        place: Indices = np.asarray(begin[:, None, None] + each + (
            STAGES * count[self.column][:, None, None] * each[:, None]), dtype=int)
        rows = np.empty(place.size, dtype=int)
        rows[place] = (STAGES * self.row)[:, None, None] + np.broadcast_to(each, place.shape)
        first = np.append((STAGES**2 * self.first[:-1, None] + STAGES * count[:, None] * each
                           ).ravel(), place.size)
        diagonal: Indices = place[self.diagonal][:, each, each]
        return _empty(rows, first), place, diagonal

    def factors_together(self, values: Array, length: float) -> SuperLU:
        """Return factors of the matrix of all stages; ``values`` of A are (stages, entries)."""
        matrix, place, diagonal = self._together
        whole = np.empty(place.size)
        whole[place] = values.T[:, None, :] * (-length * MATRIX.T)
        whole[diagonal] += 1.0
        return _factors(matrix, whole)


def _empty(row: Indices, first: Indices) -> csc_matrix:
    n = len(first) - 1
    return csc_matrix((np.zeros(len(row)), row.astype(np.int32), first.astype(np.int32)), (n, n))


def _factors(matrix: csc_matrix, values: Array) -> SuperLU:
    matrix.data = values
    return splu(matrix)


@dataclass
class _Sparse(Steps):
    """Steps of which slopes at the stages are solved for one after the other."""

    pattern: _Pattern
    a: Array  # (steps, stages, entries of the pattern), the next two (steps, stages, states, …)
    b: Array
    d: Array
    factors: Array  # of the equations at the stages, lists; None where they are not known

    @classmethod
    def of(cls, start: Array, length: Array, which: Indices, a: Entries, b: Array,
           d: Array) -> _Sparse:
        """Return the steps, from coefficients at their stages."""
        pattern = _Pattern(a.row, a.column, a.size)
        values = np.zeros((len(a.values), len(pattern.row)))
        values[:, pattern.place] = a.values
        return cls(start, length, which, pattern, values.reshape(len(start), STAGES, -1), b, d,
                   np.full(len(start), None))

    @property
    def size(self) -> int:
        return self.a.size + self.b.size

    def joined(self, other: _Sparse) -> _Sparse:
        if self.pattern.holds(other.pattern):
            return super().joined(other)
        return self._with(other.pattern).joined(other._with(self.pattern))

    def _with(self, other: _Pattern) -> _Sparse:
        """Return these equations with room for entries of another pattern."""
        mine = self.pattern
        whole = _Pattern(np.append(mine.row, other.row), np.append(mine.column, other.column),
                         mine.size)
        a = np.zeros((*self.a.shape[:2], len(whole.row)))
        a[:, :, whole.place[: len(mine.row)]] = self.a
        return replace(self, pattern=whole, a=a)

    def along(self, mine: slice, x: Array, d: Array, begin: Array, slopes: Array) -> Array:
        for k in range(mine.start, mine.stop):
            begin[k] = x
            right = self.pattern.product(self.a[k], x) + self.b[k] + self.d[k] @ d
            slopes[k] = self._solved(k, right)
            x = x + self.length[k] * np.tensordot(MATRIX[-1], slopes[k], 1)
        return x

    def _solved(self, k: int, right: Array) -> Array:
        """Slopes at the stages of a step."""
        if not (np.isfinite(right).all() and np.isfinite(self.a[k]).all()):
            return np.full_like(right, np.nan)
        factors = self.factors[k] or self._made(k)
        if len(factors) == 1:
            found = factors[0].solve(right.transpose(1, 0, 2).reshape(-1, right.shape[2]))
            return np.asarray(found.reshape(-1, *right[:, 0].shape).transpose(1, 0, 2))
        parts = np.tensordot(TO_EIGEN, right, 1)  # see _solved_apart
        found = np.array([one.solve(part) for one, part in zip(factors, parts, strict=True)])
        return np.asarray(2.0 * np.tensordot(FROM_EIGEN, found, 1).real)

    def _made(self, k: int) -> list[SuperLU]:
        a, length = self.a[k], float(self.length[k])
        if (a == a[0]).all():
            made = [self.pattern.factors(length * value * a[0]) for value in EIGENVALUES]
        else:
            made = [self.pattern.factors_together(a, length)]
        if len(self) * sum(one.nnz for one in made) <= MOST_KEPT:
            self.factors[k] = made
        return made
