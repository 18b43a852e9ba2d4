"""When does any of some functions of time alone cross zero?

They are looked at so closely that none changes much from one look to the next; where one has
another sign there, or comes so near to zero that it may have had, the instant is searched until
times cannot be told apart. Knows neither a system nor its parameters.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence

import numpy as np

from ..numerics.arrays import Array, Flags, Indices
from ..numerics.instants import same_instants

__all__ = ["crossings_of_time"]

NEAR = 0.2  # of its change between looks, by which a function may miss zero between them
NARROWER = (3 - 5**0.5) / 2  # of an interval is left out where the least value is looked for
SEARCHES = 40  # that makes it narrower 1e8 times: where it is least, a function is as flat as that
MOST_VALUES = 1 << 22  # that are looked at at once
ANNOUNCED = 1e3  # times what makes two times one instant: a crossing that is known already


def crossings_of_time(values: Sequence[Callable[[Array], Array]], looks: Iterable[Array],
                      known: Array, least: float) -> Iterator[Array]:
    """Instants at which functions of time cross zero, part by part, but for those that are known.

    ``values`` are of some of the functions each at some times, (functions, times); ``looks`` are
    ascending times, part by part, ``known`` ascending instants that are stepped onto anyway;
    ``least`` is by how much times about zero may differ and be one instant, s.
    """
    for times in _parts(looks, max(len(some(np.zeros(1))) for some in values)):
        yield np.concatenate([_crossings(some, times, known, least) for some in values])


@np.errstate(all="ignore")
def _crossings(values: Callable[[Array], Array], times: Array, known: Array, least: float) -> Array:
    """Return the crossings between some ascending times."""
    g = values(times)
    rows = np.array(list({one.tobytes(): k for k, one in enumerate(g)}.values()))  # one of equals
    g = g[rows]

    def of(row: Indices, t: Array) -> Array:
        return values(t)[rows[row], np.arange(len(t))]

    changed, k = np.nonzero((g[:, 1:] > 0) != (g[:, :-1] > 0))
    near, j = _touches(g)
    side = np.where(g[near, j] > 0, 1.0, -1.0)
    top = _nearest(of, near, side, times[j - 1], times[j + 1])
    through = (of(near, top) > 0) != (side > 0)
    near, j, top = near[through], j[through], top[through]
    return _between(
        of, np.concatenate([changed, near, near]),
        np.concatenate([times[k], times[j - 1], top]),
        np.concatenate([times[k + 1], top, times[j + 1]]), known, least)


def _parts(looks: Iterable[Array], functions: int) -> Iterator[Array]:
    """Looks that are taken at once; each part begins with the last four of the one before."""
    last = np.zeros(0)
    for whole in looks:
        for part in np.array_split(whole, 1 + whole.size * functions // MOST_VALUES):
            times = np.concatenate([last, part])
            last = times[-4:]
            yield times


def _touches(g: Array) -> tuple[Indices, Indices]:
    """Functions, and looks next to which they may reach zero without another sign at a look."""
    size, kept = np.abs(g), (g[:, 1:] > 0) == (g[:, :-1] > 0)
    a, b, c = size[:, :-2], size[:, 1:-1], size[:, 2:]
    change = np.maximum(a, c)  # and two looks away: at the border of two pieces one is hardly away
    change[:, 1:-1] = np.maximum(change[:, 1:-1], np.maximum(change[:, :-2], change[:, 2:]))
    low = kept[:, :-1] & kept[:, 1:] & (b <= a) & (b <= c) & (b < NEAR * (change - b))
    row, k = np.nonzero(low)
    return row, k + 1


def _nearest(of: Callable[[Indices, Array], Array], row: Indices, side: Array, low: Array,
             high: Array) -> Array:
    """Where functions come nearest to zero between two times, or are beyond it: by golden
    sections, all at once."""
    for _ in range(SEARCHES if len(row) else 0):
        part = NARROWER * (high - low)
        first = side * of(row, low + part) < side * of(row, high - part)
        low, high = np.where(first, low, low + part), np.where(first, high - part, high)
    return low + (high - low) / 2


def _between(of: Callable[[Indices, Array], Array], row: Indices, low: Array, high: Array,
             known: Array, least: float) -> Array:
    """Crossings of functions between two times each, without those that are known."""
    if not len(row):
        return np.zeros(0)
    began = of(row, low) > 0
    at = np.append(known, np.inf)[np.searchsorted(
        known, low - ANNOUNCED * same_instants(low, least))]
    announced = at <= high + ANNOUNCED * same_instants(high, least)
    at = np.where(announced, at, low)
    away = ANNOUNCED * same_instants(at, least)
    announced &= (of(row, np.maximum(at - away, low)) > 0) == began
    announced &= (of(row, np.minimum(at + away, high)) > 0) != began
    left: Flags = ~announced
    row, low, high, began = row[left], low[left], high[left], began[left]
    while len(row):  # all at once, until times cannot be told apart
        middle = low + (high - low) / 2
        if not ((middle > low) & (middle < high)).any():
            break
        same = (of(row, middle) > 0) == began
        low, high = np.where(same, middle, low), np.where(same, high, middle)
    away = ANNOUNCED * same_instants(high, least)
    at = np.append(known, np.inf)[np.searchsorted(known, high - away)]
    return high[at > high + away]  # no known instant announces it
