"""Where does a run touch the end of a mode without crossing it? There it has no derivative."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import numpy as np

from ...numerics.arrays import Array, Indices

__all__ = ["touches"]

TOUCHED = 1e-9  # of its largest value, below which a guard is zero in any run
NEAR = 0.2  # of its neighbours, below which a least value is looked at
ROUNDS = 6


def touches(times: Array, which: Indices, values: Array,
            guards: Callable[[Array, Indices], Array], rtol: float
            ) -> Iterator[tuple[float, int, int]]:
    """Instants at which a guard comes to zero and turns back, which one does, and the episode.

    Parameters
    ----------
    times, which : ascending looks, and the numbers of their episodes
    values : guards at these, (guards, times); inf for those that are not watched
    guards : gives them at other times
    rtol : of the run, whose guards are known to so much of their largest values
    """
    value, touched = np.abs(values), max(TOUCHED, rtol)
    if len(times) < 3 or not value.size:
        return
    finite = np.where(np.isfinite(value), value, 0.0)
    largest = finite.max(axis=1)
    inner = (which[:-2] == which[2:])[None, :]
    least = inner & (value[:, 1:-1] <= value[:, :-2]) & (value[:, 1:-1] <= value[:, 2:])
    beside = np.minimum(value[:, :-2], value[:, 2:])
    with np.errstate(invalid="ignore"):
        bottom = value[:, 1:-1] - np.abs(value[:, 2:] - value[:, :-2])
        close = least & (bottom <= NEAR * np.maximum(beside, TOUCHED)) & (beside > 0)
    for g, k in zip(*np.nonzero(close & np.isfinite(beside)), strict=True):
        t, lowest = _lowest(times[k : k + 3], value[g, k : k + 3], int(g), int(which[k]), guards,
                             float(touched * largest[g]))
        if lowest <= touched * largest[g]:
            yield t, int(g), int(which[k])


def _lowest(t: Array, value: Array, guard: int, episode: int,
            guards: Callable[[Array, Indices], Array], zero: float) -> tuple[float, float]:
    """The least value between three looks, by parabolas through the three least.

    Where a parabola has foretold a value well above ``zero``, it is not sought further.
    """
    which = np.array([episode])
    for _ in range(ROUNDS):
        before, after = t[1] - t[0], t[2] - t[1]
        left, right = (value[1] - value[0]) / before, (value[2] - value[1]) / after
        bend = (right - left) / (before + after)
        if not bend > 0:
            break
        at = np.clip(t[1] - (left * after + right * before) / (2 * bend * (before + after)),
                     t[0], t[2])
        if np.any(at == t):
            break
        new = float(np.abs(guards(np.array([at]), which))[guard, 0])
        foretold = value[1] + (at - t[1]) * ((left * after + right * before) / (before + after)
                                             + bend * (at - t[1]))
        clear = new > 100 * zero and abs(foretold - new) < 0.1 * new
        order = np.argsort(np.append(value, new))[:3]
        t, value = np.append(t, at)[order], np.append(value, new)[order]
        order = np.argsort(t)
        t, value = t[order], value[order]
        if clear:
            break
    best = int(np.argmin(value))
    return float(t[best]), float(value[best])
