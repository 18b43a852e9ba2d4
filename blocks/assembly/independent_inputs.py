"""Which efforts and flows may be inputs together, by their coefficients?

Incidence alone does not see that the currents of two diodes add up to that of an inductor, where
this follows from several balances only, nor that a voltage which follows from a current through
1e-9 S has lost its digits. Elimination with the coefficients does, rows and columns of even size,
the largest entry of each column as its pivot: what has none is dependent, and what has a small one
only (a parasitic conductance or resistance) had better be an input.

References
----------
Chua, Lin, Computer-Aided Analysis of Electronic Circuits, 1975, ch. 6 (hybrid matrices).
Ruiz, A scaling algorithm to equilibrate both rows and columns norms in matrices, RAL-TR-2001-034.
"""

from __future__ import annotations

import numpy as np

from ..numerics.arrays import Flags, Indices
from ..numerics.tolerances import PARASITIC_PIVOT, PIVOT_NONE
from .algebraic_loops import equilibrate
from .dummy_derivatives import Basis, Column, coefficients
from .flatten import Flat, Parameters
from .matching import connected, match
from .reduced import SetValuedElements

__all__ = ["LARGE", "has_parasitics", "independent_choice", "is_regular", "parasitic_pairs"]

LARGE = 2000  # equations from which a block is taken for regular, and a network for even


def is_regular(flat: Flat, equations: Indices, classes: Indices, parameters: Parameters) -> bool:
    """Whether as many equations determine a block's classes."""
    if len(classes) < 2 or len(classes) > LARGE:
        return True
    columns = _columns(flat, equations, parameters)
    given = [columns.get(c, {}) for c in classes.tolist()]
    basis = Basis(given)
    return all(basis.takes(column) for column in sorted(given, key=len))  # little is filled in


def has_parasitics(flat: Flat, top: Indices, parameters: Parameters) -> bool:
    """Whether coefficients of equations are so small that nothing had better follow from them."""
    return len(top) <= LARGE and bool(parasitic_pairs(flat, top, parameters))


def parasitic_pairs(flat: Flat, equations: Indices, parameters: Parameters) -> set[tuple[int, int]]:
    """Equations, and classes that had better not follow from them: by so small a coefficient."""
    return {(int(equations[row]), c)
            for c, column in _columns(flat, equations, parameters).items()
            for row, value in column.items() if abs(value) < PARASITIC_PIVOT}


def independent_choice(flat: Flat, top: Indices, elements: SetValuedElements,
                       parameters: Parameters) -> Flags | None:
    """Which elements give their flow, as few as possible, so that the rest is determined; None
    where no choice does. The ``top`` equations determine the highest derivatives."""
    highest = flat.derivative < 0
    flows = np.where(elements.flows >= 0, elements.flows, 0)
    swaps = (elements.flows >= 0) & highest[flows]
    free = swaps & highest[elements.efforts]
    known = np.where(swaps & ~free, elements.flows, elements.efforts)[~free]
    efforts, flows = elements.efforts[free], elements.flows[free]
    mine = np.setdiff1d(np.concatenate([flows, efforts]), known)
    others = np.setdiff1d(np.flatnonzero(highest), np.concatenate([known, mine]))
    columns = _columns(flat, top, parameters)
    basis = Basis(columns.values())
    if not all(basis.takes(columns.get(int(c), {})) for c in others):
        return None
    # Elements in series have one current: of classes that laws tie, each law knows one
    part = connected(efforts, flows, flat.classes)
    left = np.bincount(part[mine], minlength=flat.classes) - np.bincount(
        part[efforts], minlength=flat.classes)
    found = []
    for wanted, least in ((flows, PARASITIC_PIVOT), (efforts, PIVOT_NONE)):
        for c in wanted.tolist():  # efforts only where no flow follows
            if left[part[c]] > 0 and basis.takes(columns.get(c, {}), least):
                left[part[c]] -= 1
                found.append(c)
    if left.any():
        return None
    given = swaps.copy()
    given[free] = _knows_flow(efforts, flows, np.setdiff1d(mine, found))
    return given


def _knows_flow(efforts: Indices, flows: Indices, known: Indices) -> Flags:
    """Which elements know their flow, where every one knows a class of its own."""
    pairs = np.stack([efforts, flows])
    element, side = np.nonzero(np.isin(pairs, known).T)
    column = np.searchsorted(known, pairs[side, element])
    taken = match(element, column, len(efforts), len(known)).unknown_of
    return known[taken] == flows


def _columns(flat: Flat, equations: Indices, parameters: Parameters) -> dict[int, Column]:
    """Coefficients of equations by class, rows and columns with a largest entry of about one.

    Those that are not constant count as ones of that size.
    """
    draw = np.random.default_rng(11)
    rows, classes, values = (np.array(v) for v in zip(*(
        (row, c, np.nan if value is None else value)
        for row, of in enumerate(coefficients(flat, equations, parameters).values())
        for c, value in of.items() if value != 0), strict=True))
    known = np.isfinite(values)
    size = np.where(known, np.abs(values), 0.0)
    size = equilibrate(rows, classes, size)
    entries = np.where(known, np.sign(np.where(known, values, 1.0)) * size,
                       draw.uniform(0.5, 1.0, len(values)))
    columns: dict[int, Column] = {}
    for row, c, entry in zip(rows.tolist(), classes.tolist(), entries.tolist(), strict=True):
        columns.setdefault(c, {})[row] = entry
    return columns
