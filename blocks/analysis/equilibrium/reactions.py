"""What do stuck elements bear, how much more could they, and which forces are not determined?

The motion determines reactions up to splits among stuck elements (internal stress). All splits
that keep every element within its bounds are a polytope; intervals of single reactions and the
smallest possible largest share of the bounds are linear programs.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.optimize import linprog

from ...numerics.arrays import Array, Flags, Indices
from ..linear.derivatives import DerivativesAt, elements_of_system
from ..linear.loads import open_splits
from ..linear.point import Point

__all__ = ["Reactions", "reactions_of"]

OPEN = 1e-9  # of the largest entry: a reaction that a split changes


@dataclass(frozen=True, eq=False)
class Reactions:
    """Efforts of all elements, in SI units."""

    effort: Array  # those of one split, the one with the smallest largest share
    least: Array  # over all admissible splits; ``most`` where it is determined
    most: Array
    low: Array  # the bound at rest
    high: Array
    # smallest possible largest share of the bounds of stuck elements; above 1 they slip
    share: float
    determined: Flags  # per element, whether the motion determines its effort

    @property
    def holds(self) -> bool:
        """Whether what sticks can stick."""
        return bool(self.share <= 1 + 1e-9)


def reactions_of(point: Point, at: DerivativesAt) -> Reactions:
    """The reactions at a point in its modes."""
    v, contact = at.value, elements_of_system(point.system).contact
    effort, low, high = v["effort"], v["low"], v["high"]
    stuck = np.flatnonzero((point.modes == 0) & ~contact)
    split = at.by["effort", "u"].toarray() @ open_splits(point, at)
    split = np.where(np.abs(split) > OPEN, split, 0.0)
    determined = ~(split != 0).any(axis=1)
    closed = np.flatnonzero((point.modes == 0) & contact)
    share, best = _smallest_share(effort, low, high, split, stuck, closed)
    effort = effort.copy() if best is None else effort + split @ best
    least, most = effort.copy(), effort.copy()
    if share <= 1 + 1e-9:
        for k in np.flatnonzero(~determined):
            least[k], most[k] = (_extreme(v["effort"], low, high, split, stuck, closed, int(k), s)
                                 for s in (1.0, -1.0))
    return Reactions(effort, least, most, low, high, share, determined)


def _smallest_share(effort: Array, low: Array, high: Array, split: Array, stuck: Indices,
                    closed: Indices) -> tuple[float, Array | None]:
    """Smallest largest share of the bounds among stuck elements, and the split that has it."""
    bounded = np.isfinite(low[stuck]), np.isfinite(high[stuck])
    finite = stuck[bounded[0] & bounded[1]]
    above = np.append(closed, stuck[bounded[0] & ~bounded[1]])  # as a diode that conducts
    below = stuck[bounded[1] & ~bounded[0]]
    least = np.append(np.zeros(len(closed)), low[above[len(closed):]])
    middle, half = (high[finite] + low[finite]) / 2, (high[finite] - low[finite]) / 2
    size = 1e-9 * np.abs(effort).max(initial=1e-300)
    pulled = np.append(effort[above] < least - size, effort[below] > high[below] + size)
    if not split.shape[1]:
        off = np.abs(effort[finite] - middle)
        if (off[half == 0] > 0).any() or pulled.any():
            return np.inf, None
        return float((off[half > 0] / half[half > 0]).max(initial=0.0)), None
    c = np.append(np.zeros(split.shape[1]), 1.0)
    a = np.concatenate([np.column_stack([split[finite], -half]),
                        np.column_stack([-split[finite], -half]),
                        np.column_stack([-split[above], np.zeros(len(above))]),
                        np.column_stack([split[below], np.zeros(len(below))])])
    b = np.concatenate([middle - effort[finite], effort[finite] - middle,
                        effort[above] - least, high[below] - effort[below]])
    found = linprog(c, A_ub=a, b_ub=b, bounds=[(None, None)] * split.shape[1] + [(0, None)])
    return (float(found.x[-1]), found.x[:-1]) if found.status == 0 else (np.inf, None)


def _extreme(effort: Array, low: Array, high: Array, split: Array, stuck: Indices,
             closed: Indices, k: int, sign: float) -> float:
    """Least (sign 1) or largest (-1) effort of an element over all admissible splits."""
    top, bottom = stuck[np.isfinite(high[stuck])], stuck[np.isfinite(low[stuck])]
    a = np.concatenate([split[top], -split[bottom], -split[closed]])
    b = np.concatenate([high[top] - effort[top], effort[bottom] - low[bottom], effort[closed]])
    found = linprog(sign * split[k], A_ub=a, b_ub=b + 1e-12 * np.abs(b).max(initial=0.0),
                    bounds=(None, None))
    reached = effort[k] + split[k] @ found.x if found.status == 0 else -sign * np.inf
    return float(max(reached, 0.0) if k in closed else reached)  # it pulls by rounding only
