"""Which efforts and flows may be inputs together, by their coefficients?

Incidence alone does not see that the currents of two diodes add up to that of an inductor, where
this follows from several balances only. Elimination with the coefficients does: numbers modulo a
large prime, so that nothing is lost by rounding, and one drawn at random where a coefficient is
not constant.

References
----------
Murota, Matrices and Matroids for Systems Analysis, 2000, ch. 4 (mixed matrices).
"""

from __future__ import annotations

from heapq import heapify, heappop, heappush

import numpy as np

from ..numerics.arrays import Flags, Indices
from .dummy_derivatives import coefficients
from .flatten import Flat, Parameters
from .set_valued import SetValuedElements

__all__ = ["independent_choice", "is_regular"]

PRIME = 2**61 - 1
LARGE = 2000  # equations of a block from which it is taken for regular

Column = dict[int, int]  # entries by equation, modulo the prime


def is_regular(flat: Flat, equations: Indices, classes: Indices, parameters: Parameters) -> bool:
    """Whether as many equations determine a block's classes for nearly all coefficients."""
    if len(classes) < 2 or len(classes) > LARGE:
        return True
    columns = _columns(flat, equations, parameters)
    basis = _Basis()
    return all(basis.takes(columns.get(int(c), {})) for c in classes)


def independent_choice(flat: Flat, top: Indices, elements: SetValuedElements,
                       parameters: Parameters) -> Flags | None:
    """Which elements give their flow, as few as possible, so that the rest is determined.

    Parameters
    ----------
    flat : Flat
    top : equations that determine the highest derivatives
    elements : set-valued laws
    parameters : per family, parameter values as kernel arguments, (size, n) each

    Returns
    -------
    None where no choice does.
    """
    highest = flat.derivative < 0
    flows = np.where(elements.flows >= 0, elements.flows, 0)
    swaps = (elements.flows >= 0) & highest[flows]
    free = swaps & highest[elements.efforts]
    known = np.where(swaps & ~free, elements.flows, elements.efforts)[~free]
    mine = np.concatenate([elements.flows[free], elements.efforts[free]])
    others = np.setdiff1d(np.flatnonzero(highest), np.concatenate([known, mine]))
    columns, basis = _columns(flat, top, parameters), _Basis()
    if not all(basis.takes(columns.get(int(c), {})) for c in others):
        return None
    given = swaps.copy()
    for k in np.flatnonzero(free):  # where its flow follows from the rest, it takes its effort
        given[k] = not basis.takes(columns.get(int(elements.flows[k]), {}))
    for k in np.flatnonzero(given & free):
        if not basis.takes(columns.get(int(elements.efforts[k]), {})):
            return None
    return given


def _columns(flat: Flat, equations: Indices, parameters: Parameters) -> dict[int, Column]:
    """Coefficients of equations by class."""
    draw, columns = np.random.default_rng(11), dict[int, Column]()
    for row, of in enumerate(coefficients(flat, equations, parameters).values()):
        for c, value in of.items():
            if value is None or not np.isfinite(value):
                entry = int(draw.integers(1, PRIME))
            else:
                over, under = float(value).as_integer_ratio()
                entry = over * pow(under, -1, PRIME) % PRIME
            if entry:
                columns.setdefault(c, {})[row] = entry
    return columns


class _Basis:
    """Columns found independent, each with an entry 1 where all later ones have none."""

    def __init__(self) -> None:
        self.columns: list[Column] = []
        self.at: dict[int, int] = {}  # number of the column by its pivot's row
        self.pivots: list[int] = []

    def takes(self, column: Column) -> bool:
        """Add a column, unless it depends on those that are there."""
        rest = dict(column)
        open_ = [self.at[row] for row in rest if row in self.at]
        heapify(open_)
        while open_:
            k = heappop(open_)
            factor = rest.get(self.pivots[k], 0)
            if not factor:
                continue
            for row, value in self.columns[k].items():
                new = (rest.get(row, 0) - factor * value) % PRIME
                if new and row not in rest and row in self.at:
                    heappush(open_, self.at[row])
                if new:
                    rest[row] = new
                else:
                    rest.pop(row, None)
        if not rest:
            return False
        pivot = min(rest)
        inverse = pow(rest[pivot], -1, PRIME)
        self.at[pivot] = len(self.columns)
        self.pivots.append(pivot)
        self.columns.append({row: value * inverse % PRIME for row, value in rest.items()})
        return True
