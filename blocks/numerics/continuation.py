"""Along which curve do n equations in n + 1 unknowns hold?

Pseudo-arclength continuation: a step along the tangent, then Newton's method in the plane across
it, so that the curve is followed around its folds. Knows functions and vectors only.

References
----------
H. B. Keller, "Numerical solution of bifurcation and nonlinear eigenvalue problems", in P. H.
Rabinowitz (ed.), "Applications of Bifurcation Theory", Academic Press 1977, 359-384. E. L. Allgower
and K. Georg, "Introduction to Numerical Continuation Methods", SIAM 2003, ch. 2 and 6.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

import numpy as np

from .arrays import Array
from .arrays import length as length_of
from .tolerances import NEWTON_CONVERGES, SHORTEST_ARC

__all__ = ["curve", "passes"]

FIRST = 1e-3  # of the point's size: length of the first step
MOST_ROUNDS = 8  # of Newton's method in a step
CONTRACTS = 0.1  # of the correction before: a step that leads to another part of the curve does not
STRAIGHT = 0.98  # cosine between two tangents
GROWS = 1.6
MOST_STEPS = 4000
SAME = 1e-6  # of a point's size: how near to another one it is the same
WIDE, LEAST = 0.1, 0.01  # of the point's size, and of the first one's: the longest step


def curve(residual: Callable[[Array], Array], jacobian: Callable[[Array], Array], start: Array,
          sense: Array) -> Iterator[tuple[Array, Array]]:
    """Points of the curve of n + 1 numbers through ``start`` along which n residuals are zero, and
    its unit tangents there, of which the first has a positive product with ``sense``.

    It ends where the curve cannot be followed any more; ``jacobian`` is (n, n + 1).
    """
    point, size = start, length_of(start)
    length = FIRST * size + SHORTEST_ARC
    direction = np.linalg.svd(jacobian(point))[2][-1]
    direction = direction if direction @ sense >= 0 else -direction
    for _ in range(MOST_STEPS):
        found = _next_point(residual, jacobian, point, direction, length)
        if found is None:
            length /= 2
            if length < SHORTEST_ARC:
                return
            continue
        point, direction = found
        yield point, direction
        length = min(GROWS * length, WIDE * (length_of(point) + LEAST * size))


def passes(residual: Callable[[Array], Array], jacobian: Callable[[Array], Array], last: Array,
           point: Array, place: Array) -> bool:
    """Whether the curve goes through a place between two neighbouring points."""
    across = (point - last) / length_of(point - last)
    ahead = float((place - last) @ across)
    if not 0 <= ahead <= length_of(point - last):
        return False
    found = _next_point(residual, jacobian, last, across, ahead)
    return found is not None and length_of(found[0] - place) <= SAME * (1.0 + length_of(place))


def _next_point(residual: Callable[[Array], Array], jacobian: Callable[[Array], Array],
                point: Array, direction: Array, length: float) -> tuple[Array, Array] | None:
    """The next point and its tangent; None where a shorter step is to be tried."""
    new, last = point + length * direction, length
    try:
        for _ in range(MOST_ROUNDS):
            matrix = np.vstack([jacobian(new), direction])
            change = np.linalg.solve(matrix, np.append(residual(new), 0.0))
            size = length_of(change)
            exact = size <= NEWTON_CONVERGES * (1.0 + length_of(new))
            if not exact and not size <= CONTRACTS * last:
                return None
            new, last = new - change, size
            if exact:
                break
        else:
            return None
        turned = np.linalg.solve(np.vstack([jacobian(new), direction]), np.eye(len(point))[-1])
    except np.linalg.LinAlgError:
        return None
    turned = turned / length_of(turned)
    return (new, turned) if turned @ direction >= STRAIGHT else None
