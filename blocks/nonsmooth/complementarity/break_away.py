"""How far are the stuck elements from breaking away?

The stick margin is s = min{ s : D_II lambda_I = b_I - D_IS lambda_S,
|lambda_i| <= s F_i } for the stuck elements I, one per connected part. Stick
ends where s reaches 1. Where D_II is regular this is max |lambda_i|/F_i; where
it is singular (brakes in parallel, geared, in loops) the efforts are not
determined and taking any one split reports break-away too early: two brakes
of 1 N and 3 N in parallel hold 4 N, a least-norm split says 3.33 N.

Bounds may be lopsided or one-sided: a bound is at distance s = 1 and s falls
linearly inward, to 0 in the middle of a two-sided range, or ``scale`` newtons
inside a one-sided one. So s passes 1 exactly where no effort in the box holds.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from ...numerics import sparse as sp
from ...numerics.arrays import Array, Indices
from ...numerics.tolerances import CONSISTENT, TIE
from .linear_solves import Solve, factorise
from .minimax import Rows, half_range, kernel, minimise_rows, rows_of, vertices
from .scaling import DENSE_LIMIT, Matrix, MatrixLike, as_bounds, as_matrix, block, scale

__all__ = ["Margin", "MarginProblem"]


@dataclass(frozen=True)
class Margin:
    """Stick margins of the connected parts of the stuck elements.

    Attributes
    ----------
    value : array
        One per part: below 1 stuck, 1 at break-away, inf where no effort can
        hold, -inf where nothing can break away.
    first : tuple of int arrays
        Per part, the elements that come to their bound first.
    """

    value: Array
    first: tuple[Indices, ...]

    @property
    def worst(self) -> float:
        return float(np.max(self.value, initial=-np.inf))


@dataclass(frozen=True)
class _Singular:
    """A part whose efforts are not determined."""

    index: Indices  # into the stuck elements
    number: int
    inverse: Array  # rates -> a particular effort
    residue: Array  # rates -> what no effort can balance; scaled
    rows: Rows
    G: Array
    vertex: Array | None


class MarginProblem:
    """Stick margin as a function of the load, with everything else prepared.

    Parameters
    ----------
    D : (n, n) array_like or scipy.sparse
    lower, upper : array_like
        Bounds of all n efforts.
    stuck : (n,) bool or index array_like
        Elements at rest. Those with equal bounds are left out.
    scale : array_like, optional
        Effort that means 1 for elements with a one-sided bound; 1 by default.

    Attributes
    ----------
    parts : tuple of int arrays
        Elements of each connected part, in the order of the margins.
    size : int
        Number of parts.

    Notes
    -----
    Regular parts share one factorisation. Singular ones up to about a dozen
    elements are maxima of prepared linear functions; larger ones need a linear
    program an evaluation (scipy's HiGHS, about 2 ms), and parts of more than
    256 elements must be regular.

    Examples
    --------
    >>> brakes = MarginProblem([[1, 1], [1, 1]], [-1, -3], [1, 3], [0, 1])
    >>> brakes.value([3.5, 3.5]).round(12).tolist()
    [0.875]
    """

    def __init__(
        self,
        D: MatrixLike,
        lower: ArrayLike,
        upper: ArrayLike,
        stuck: ArrayLike,
        *,
        scale: ArrayLike | None = None,
    ) -> None:
        n = np.shape(D)[0]
        matrix = as_matrix(D, n)
        low, high = as_bounds(lower, upper, n)
        mask = np.zeros(n, dtype=bool)
        mask[np.asarray(stuck) if len(np.atleast_1d(stuck)) else []] = True
        mask &= low < high
        self._stuck = np.flatnonzero(mask)
        self._known = np.flatnonzero(~mask)
        self._coupling = block(matrix, self._stuck, self._known)
        half = half_range(low, high, scale)[self._stuck]
        self._prepare(block(matrix, self._stuck, self._stuck), low[mask], high[mask], half)

    def _prepare(self, D: Matrix, low: Array, high: Array, half: Array) -> None:
        m = len(low)
        box, d = scale(D, np.zeros(m), low, high, np.zeros(m))
        order = np.argsort(box.group, kind="stable")
        ends = np.cumsum(np.bincount(box.group, minlength=box.groups))
        members = np.split(order, ends[:-1]) if m else []
        self.size = box.groups if m else 0
        self.parts: tuple[Indices, ...] = tuple(self._stuck[i] for i in members)
        self._group = box.group
        self._d = d
        self._row_set = rows_of(low, high, half)
        regular = np.zeros(m, dtype=bool)
        diagonal = np.asarray(box.D.diagonal())
        self._singular: list[_Singular] = []
        for number, index in enumerate(members):
            if len(index) == 1 and diagonal[index[0]] != 0:
                regular[index] = True
                continue
            part = block(box.D, index, index)
            if factorise(part, symmetric=box.symmetric) is not None:
                # Cholesky may pass where the rank decision of `kernel` is stricter.
                dense = part.toarray() if sp.issparse(part) else part
                if len(index) > DENSE_LIMIT or kernel(dense)[0].shape[1] == 0:
                    regular[index] = True
                    continue
            self._singular.append(self._singular_part(part, index, number, d, low, high, half))
        self._regular = np.flatnonzero(regular)
        self._solve: Solve | None = None
        if len(self._regular):
            self._solve = self._factorised(block(box.D, self._regular, self._regular))
        self._live_rows = np.isin(self._row_set.element, self._regular)

    def _factorised(self, D: Matrix) -> Solve:
        if sp.issparse(D) and D.nnz == D.shape[0]:
            diagonal = D.diagonal()
            return lambda r: r / diagonal
        solve = factorise(D, symmetric=False)
        if solve is None:  # cannot be: every part was found regular
            raise ValueError("the matrix of the stuck elements is singular")
        return solve

    def _singular_part(
        self, part: Matrix, index: Indices, number: int, d: Array, low: Array, high: Array,
        half: Array,
    ) -> _Singular:
        if len(index) > DENSE_LIMIT:
            raise ValueError(
                f"{len(index)} coupled stuck elements have no unique efforts; "
                f"margins of such parts are limited to {DENSE_LIMIT} elements"
            )
        dense = part.toarray() if sp.issparse(part) else part
        free, inverse = kernel(dense)
        rows = rows_of(low[index], high[index], half[index])
        scaled = d[index]
        # An orthonormal basis in ratios: no stress is small beside another.
        shape, _ = np.linalg.qr((scaled / half[index])[:, None] * free)
        G = (rows.slope * half[index][rows.element])[:, None] * shape[rows.element]
        return _Singular(
            index,
            number,
            scaled[:, None] * inverse * scaled,
            (np.eye(len(index)) - dense @ inverse) * scaled,
            rows,
            G,
            vertices(G),
        )

    def value(self, b: ArrayLike, effort: ArrayLike | None = None) -> Array:
        """Margins of all parts; see `margin`."""
        return self._evaluate(b, effort, None)

    def margin(self, b: ArrayLike, effort: ArrayLike | None = None) -> Margin:
        """Margins, and the elements that come to their bound first.

        Parameters
        ----------
        b : (n,) array_like
            Rates without the set-valued efforts.
        effort : (n,) array_like, optional
            Efforts; only those of elements that are not stuck are read.
            Needed only where there are such elements.
        """
        first: list[Indices] = [np.empty(0, dtype=np.intp)] * self.size
        value = self._evaluate(b, effort, first)
        return Margin(value, tuple(first))

    def _evaluate(self, b: ArrayLike, effort: ArrayLike | None, first: list[Indices] | None
                  ) -> Array:
        rate = np.asarray(b, dtype=float)[self._stuck]
        if len(self._known):
            if effort is None:
                raise ValueError("the efforts of the elements that are not stuck are needed")
            rate = rate - self._coupling @ np.asarray(effort, dtype=float)[self._known]
        value = np.full(self.size, -np.inf)
        if self._solve is not None:
            held = np.zeros(len(self._stuck))
            d = self._d[self._regular]
            held[self._regular] = d * self._solve(d * rate[self._regular])
            rows = self._row_set
            ratio = np.where(self._live_rows, rows.ratios(held), -np.inf)
            np.maximum.at(value, self._group[rows.element], ratio)
            if first is not None:
                self._regular_first(value, ratio, first)
        for part in self._singular:
            value[part.number], bound = self._of_singular(part, rate[part.index], first is None)
            if first is not None:
                first[part.number] = self._stuck[part.index[bound]]
        return value

    def _regular_first(self, value: Array, ratio: Array, first: list[Indices]) -> None:
        element = self._row_set.element
        top = value[self._group[element]]
        with np.errstate(invalid="ignore"):
            tight = np.isfinite(ratio) & (ratio >= top - TIE * np.maximum(1.0, np.abs(top)))
        hit = np.unique(element[tight])
        order = np.argsort(self._group[hit], kind="stable")
        hit = hit[order]
        numbers, begin = np.unique(self._group[hit], return_index=True)
        for number, members in zip(numbers, np.split(hit, begin[1:]), strict=True):
            first[number] = self._stuck[members]

    def _of_singular(self, part: _Singular, rate: Array, brief: bool) -> tuple[float, Indices]:
        nothing = np.empty(0, dtype=np.intp)
        d = self._d[part.index]
        if np.max(np.abs(part.residue @ rate)) > CONSISTENT * np.max(np.abs(d * rate), initial=0.0):
            return np.inf, np.arange(len(part.index))
        a = part.rows.ratios(part.inverse @ rate)
        if not len(a):
            return -np.inf, nothing
        if part.vertex is None:
            value, _, weight = minimise_rows(a, part.G)
            return value, np.unique(part.rows.element[weight > TIE])
        if not len(part.vertex):
            return -np.inf, nothing
        heights = part.vertex @ a
        value = float(heights.max())
        if brief:
            return value, nothing
        best = part.vertex[heights >= value - TIE * max(1.0, abs(value))]
        return value, np.unique(part.rows.element[np.any(best > TIE, axis=0)])
