"""How high does everything in the columns of a schematic stand?

Slots (parts, and wires that pass a column) are ordered by the mean height of their neighbours
(K. Sugiyama, S. Tagawa, M. Toda, 1981), then placed so that vertical wires are as short as they
can be: a linear programme, whose solutions make chains exactly straight.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import combinations, pairwise
from typing import TypeAlias

import numpy as np

from ...numerics.arrays import Array

__all__ = ["Sides", "Slot", "ends_of", "place"]

GAP, LANE = 14.0, 12.0  # pixels between parts, and between a wire and its neighbours
ROUNDS = 12
Sides: TypeAlias = tuple[list[float], list[float]]


@dataclass
class Slot:
    """Something that needs room in a column."""

    column: int
    height: float
    #: Net, channel, and height where a wire leaves it; channel c lies to the left of column c.
    ends: list[tuple[int, int, float]] = field(default_factory=list)
    part: int = -1  # its number; -1 for a wire that passes


def place(slots: Sequence[Slot], straight: Mapping[int, float]) -> Array:
    """Top of every slot; ``straight`` tells how much a net is worth to be straight."""
    columns: dict[int, list[int]] = {}
    for k, slot in enumerate(slots):
        columns.setdefault(slot.column, []).append(k)
    order = _ordered(slots, columns)
    return _lowest(slots, order, straight)


def _stacked(slots: Sequence[Slot], order: Mapping[int, list[int]]) -> Array:
    top = np.zeros(len(slots))
    for members in order.values():
        heights = np.array([slots[k].height + GAP for k in members])
        top[members] = np.cumsum(heights) - heights - heights.sum() / 2
    return top


def _crossings(slots: Sequence[Slot], top: Array) -> float:
    """Crossings of wires, each channel by itself, and a little for their length."""
    count, length = 0, 0.0
    for nets in ends_of(slots, top).values():
        length += sum(np.ptp([*left, *right]) for left, right in nets.values())
        for a, b in combinations(nets.values(), 2):
            count += sum((p - q) * (r - s) < 0 for p in a[0] for q in b[0]
                         for r in a[1] for s in b[1])  # fmt: skip
    return count + 1e-4 * length


def ends_of(slots: Sequence[Slot], top: Array) -> dict[int, dict[int, Sides]]:
    """Heights of ends on the left and on the right of a channel, by channel and net."""
    found: dict[int, dict[int, Sides]] = {}
    for k, slot in enumerate(slots):
        for net, channel, dy in slot.ends:
            sides = found.setdefault(channel, {}).setdefault(net, ([], []))
            sides[slot.column == channel].append(float(top[k]) + dy)
    return found


def _ordered(slots: Sequence[Slot], columns: dict[int, list[int]]) -> dict[int, list[int]]:
    order = {c: list(m) for c, m in sorted(columns.items())}
    joined: dict[tuple[int, int], list[tuple[int, float]]] = {}
    for k, slot in enumerate(slots):
        for net, channel, dy in slot.ends:
            joined.setdefault((net, channel), []).append((k, dy))
    best, least = {c: list(m) for c, m in order.items()}, _crossings(slots, _stacked(slots, order))
    for sweep in range(ROUNDS):
        for column in sorted(order, reverse=bool(sweep % 2)):
            top = _stacked(slots, order)
            wish = {k: _wish(slots[k], k, joined, top, sweep) for k in order[column]}
            order[column] = sorted(order[column], key=lambda k, w=wish: w[k])  # type: ignore[misc]
        _exchanged(slots, order)
        cost = _crossings(slots, _stacked(slots, order))
        if cost < least - 1e-9:
            best, least = {c: list(m) for c, m in order.items()}, cost
    return best


def _wish(slot: Slot, k: int, joined: Mapping[tuple[int, int], list[tuple[int, float]]],
          top: Array, sweep: int) -> float:
    """Mean height of what it is joined to, on the side looked at; of both in the last sweeps."""
    heights = []
    for net, channel, dy in slot.ends:
        if sweep < ROUNDS - 2 and (channel == slot.column) != (sweep % 2 == 0):
            continue
        heights += [top[j] + d - dy for j, d in joined[net, channel] if j != k]
    return float(np.mean(heights)) if heights else float(top[k])


def _exchanged(slots: Sequence[Slot], order: dict[int, list[int]]) -> None:
    """Exchange neighbours where fewer wires cross then."""
    if len(slots) > 150:
        return
    least = _crossings(slots, _stacked(slots, order))
    for members in order.values():
        for i in range(len(members) - 1):
            members[i], members[i + 1] = members[i + 1], members[i]
            cost = _crossings(slots, _stacked(slots, order))
            if cost < least - 1e-9:
                least = cost
            else:
                members[i], members[i + 1] = members[i + 1], members[i]


def _worth(parts: Sequence[int]) -> float:
    """How much it matters that a wire is straight: between two parts, within a long wire."""
    if len(parts) != 2:
        return 1.0
    return {0: 2.0, 1: 1.5, 2: 4.0}[sum(p < 0 for p in parts)]


def _lowest(slots: Sequence[Slot], order: Mapping[int, list[int]],
            straight: Mapping[int, float]) -> Array:
    """Minimise the sum over nets and channels of their vertical extents."""
    from scipy.optimize import linprog
    from scipy.sparse import coo_array

    ends: dict[tuple[int, int], list[int]] = {}
    for slot in slots:
        for net, channel, _ in slot.ends:
            ends.setdefault((net, channel), []).append(slot.part)
    extents = {key: i for i, key in enumerate(ends)}
    n, m = len(slots), len(extents)
    rows: list[tuple[list[int], list[float], float]] = []
    for k, slot in enumerate(slots):
        for net, channel, dy in slot.ends:
            low, high = n + extents[net, channel], n + m + extents[net, channel]
            rows.append(([low, k], [1, -1], dy))
            rows.append(([k, high], [1, -1], -dy))
    for members in order.values():
        for a, b in pairwise(members):
            gap = GAP if slots[a].part >= 0 and slots[b].part >= 0 else LANE
            rows.append(([a, b], [1, -1], -slots[a].height - gap))
    worth = np.array([straight.get(net, 1.0) * _worth(of) for (net, _), of in ends.items()])
    cost = np.concatenate([np.full(n, 1e-3), -worth, worth])
    entries = [(i, j, v) for i, (js, vs, _) in enumerate(rows) for j, v in zip(js, vs, strict=True)]
    if not entries:
        return np.zeros(n)
    i, j, v = (np.array(x) for x in zip(*entries, strict=True))
    found = linprog(cost, A_ub=coo_array((v, (i, j)), shape=(len(rows), n + 2 * m)).tocsr(),
                    b_ub=[limit for *_, limit in rows], method="highs-ds")  # fmt: skip
    return np.asarray(np.round(found.x[:n], 3))
