"""How far are the stuck elements from breaking away?

The stick margin is s = min{ s : D_II lambda_I = b_I, |lambda_i| <= s F_i } for the stuck elements
I, one per connected part. Stick ends where s reaches 1. Where D_II is regular this is
max |lambda_i|/F_i; where it is singular (brakes in parallel, geared, in loops) the efforts are not
determined and taking any one split reports break-away too early: two brakes of 1 N and 3 N in
parallel hold 4 N, a least-norm split says 3.33 N.

Bounds may be lopsided or one-sided: a bound is at distance s = 1 and s falls
linearly inward, to 0 in the middle of a two-sided range, or little
inside a one-sided one. So s passes 1 exactly where no effort in the box holds.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from ...numerics import sparse as sp
from ...numerics.arrays import Array, Indices, grouped
from ...numerics.tolerances import CONSISTENT, TIE
from .minimax import Rows, half_range, kernel, minimise_rows, rows_of
from .scaling import Matrix, MatrixLike, as_bounds, as_matrix, block, scale

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


class MarginProblem:
    """Stick margin as a function of the load, with everything else prepared.

    Parameters
    ----------
    D : (n, n) array_like or scipy.sparse
    lower, upper : array_like
        Bounds of all n efforts.
    stuck : int array_like
        Elements at rest. Those with equal bounds are left out.

    Attributes
    ----------
    parts : list of int arrays
        Elements of each connected part, in the order of the margins.

    Examples
    --------
    >>> brakes = MarginProblem([[1, 1], [1, 1]], [-1, -3], [1, 3], [0, 1])
    >>> brakes.margin([3.5, 3.5]).value.round(12).tolist()
    [0.875]
    """

    def __init__(self, D: MatrixLike, lower: ArrayLike, upper: ArrayLike, stuck: ArrayLike
                 ) -> None:
        n = np.shape(D)[0]
        low, high = as_bounds(lower, upper, n)
        index = np.asarray(stuck, dtype=int)
        index = index[low[index] < high[index]]
        low, high = low[index], high[index]
        nothing = np.zeros(len(index))
        box, d = scale(block(as_matrix(D, n), index, index), nothing, low, high, nothing)
        members = grouped(box.group)
        self.parts = [index[i] for i in members]
        self._parts = [_Part(block(box.D, i, i), d[i], low[i], high[i]) for i in members]

    def margin(self, b: ArrayLike) -> Margin:
        """Margins, and the elements that come to their bound first.

        Parameters
        ----------
        b : (n,) array_like
            Rates without the efforts of the stuck elements.
        """
        rate = np.asarray(b, dtype=float)
        found = [part.margin(rate[index])
                 for part, index in zip(self._parts, self.parts, strict=True)]
        return Margin(np.array([value for value, _ in found]), tuple(
            index[first] for index, (_, first) in zip(self.parts, found, strict=True)))


class _Part:
    """Elements that act on each other: what their rates make of their ratios, however split."""

    rows: Rows

    def __init__(self, D: Matrix, d: Array, low: Array, high: Array) -> None:
        dense = sp.dense(D)
        free, inverse = kernel(dense)
        half = half_range(low, high)
        self.rows = rows_of(low, high, half)
        # An orthonormal basis in ratios: no stress is small beside another.
        shape, _ = np.linalg.qr((d / half)[:, None] * free)
        self._turn = (self.rows.slope * half[self.rows.element])[:, None] * shape[
            self.rows.element]
        self._inverse = d[:, None] * inverse * d  # rates -> a particular effort
        lost = kernel(dense.T)[0]
        self._residue = lost @ (lost.T * d)  # rates that no effort can balance
        self._d = d

    def margin(self, rate: Array) -> tuple[float, Indices]:
        """The margin, and who comes to a bound first."""
        nobody = np.empty(0, dtype=np.intp)
        if np.max(np.abs(self._residue @ rate)) > CONSISTENT * np.max(np.abs(self._d * rate)):
            return np.inf, np.arange(len(self._d))
        ratios = self.rows.ratios(self._inverse @ rate)
        if not len(ratios):
            return -np.inf, nobody
        value, _, weight = minimise_rows(ratios, self._turn)
        return value, np.unique(self.rows.element[weight > TIE])
