"""Which modes follow in a network without mass at its nodes? Decided without leaving machine code.

What has followed the present modes before is taken where it holds now and an instant later, as
:class:`blocks.nonsmooth.modes.mode_search.ModeSearch` judges it; else Python searches, and what it
finds is tried from then on.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ..machine.functions import filled, machine_code
from ..nonsmooth.modes.parts import UNLOADED, NetworkParts
from ..numerics.arrays import Array, Flags, Indices, Matrix, Vector
from ..numerics.tolerances import (
    ENDED_MARGIN,
    INSTANT,
    LATER_MARGIN,
    LEAST_DISTANCE,
    LEAST_RANGE,
    LONGEST_INSTANT,
    MARGIN_ROUNDING,
    MODE_MARGIN_CLEAR,
    MODE_MARGIN_NONE,
    MODE_MISSED,
    TINY,
)
from .stages import WORK
from .steps import Code, Workspace, values_at
from .zero_crossings import LARGEST, SPARE, Relations

__all__ = ["NetworkModes", "choose_network_modes", "ends_by_rounding", "network_modes",
           "notice_margins"]  # fmt: skip

FLOW, EFFORT, LOW, HIGH, MISSED = range(5)
VALUES = 5  # of an element, one row each
MARGIN, SIZE, EQUAL = range(3)  # rows of room
ROOM = 3
NO_LINK = -1
FARTHER = 100.0  # times as far ahead is looked again, and times rounding is clear of it


class NetworkModes(NamedTuple):
    """Modes of a network, as machine code decides on them."""

    modes: Vector  # which machine code reads
    constants: Vector  # what efforts and slopes follow by, which it reads
    m: Vector  # relations, which it reads
    values: int  # address of what fills ``found``
    found: Vector  # what elements come to, then the slopes
    starts: Indices  # (parts + 1,) where the members of a part begin
    members: Indices  # (elements,) part by part
    entry_starts: Indices  # (parts + 1,) where those of the constants begin that belong to a part
    entries: Indices  # which these are
    relation_starts: Indices  # (parts + 1,) where the relations of a part begin
    relations: Indices  # those that what is kept depends on, or that depend on what is taken
    joint: Flags  # all relations: whether they do, and are decided on with modes
    owner: Indices  # (rows,) whose modes are kept in it; -1 for nobody's
    kept_m: Matrix  # of a part's modes that are kept: these relations
    kept_modes: Matrix
    kept_constants: Matrix
    weight: Matrix  # combinations of equations that say something about states
    move: Matrix  # what brings these to their values
    noise: Matrix  # what rounding makes of margins
    present: Indices  # (parts,) which row holds now
    links: Indices  # (1,) how many modes have followed others
    source: Indices  # which one
    target: Indices  # followed which
    brief: Flags  # whether it then held for less than an instant
    kinds: Indices  # (elements,) who are compared with each other
    largest: Matrix  # (2, kinds) their largest flow and effort so far
    endless: Flags  # (elements,) whose bounds are so on one side at least
    farthest: Vector  # (all relations,) the largest crossing function so far
    noise_so_far: Matrix  # what rounding may make of every margin, stuck and not
    drift: Vector  # (1,) share of its size by which what modes hold constant may be off
    least_flow: Vector  # less does not end a mode
    largest_now: Matrix  # the same as ``largest`` with what is at the point that is looked at
    room: Matrix  # (ROOM, elements)
    row: Indices  # (parts,) which row is tried
    link: Indices  # (parts,) what followed when; ``NO_LINK`` while that is the present one
    turns: Flags  # (parts,) whether it is that in which what turns round is at rest
    ended: Flags  # (parts,) whether the mode of an element has come to its end
    holds: Flags  # (parts,) whether the row that is tried obeys all laws


def network_modes(parts: NetworkParts, modes: Array, constants: Array, m: Array, values: int,
                  states: int) -> NetworkModes:
    """Modes as machine code decides on them.

    Parameters
    ----------
    parts : what is kept
    modes, constants, m : which machine code reads
    values : address of what elements come to
    states : how many there are
    """
    n, count = len(modes), len(parts.present)
    row, ended = np.zeros(count, dtype=np.int64), np.zeros(count, dtype=bool)
    return filled(NetworkModes, parts, modes=modes, constants=constants, m=m, values=values,
                  found=np.empty(VALUES * n + states), kept_m=parts.m, kept_modes=parts.modes,
                  kept_constants=parts.constants, largest_now=np.empty_like(parts.largest),
                  room=np.empty((ROOM, n)), row=row,
                  link=row.copy(), turns=ended, ended=ended.copy(), holds=ended.copy())


@machine_code
def notice_margins(relations: Relations, network: NetworkModes) -> None:
    """Take note of the largest flows, efforts and crossing functions since the last event."""
    largest, n = relations.looks[LARGEST], network.modes.size
    for r in range(network.joint.size):
        if network.joint[r] and np.isfinite(largest[r]):
            network.farthest[r] = max(network.farthest[r], largest[r])
    first = largest.size - n
    for e in range(n):
        told = network.constants[e]
        which, kind = 1 if network.modes[e] == 0.0 else 0, network.kinds[e]
        if told == 0.0 and np.isfinite(largest[first + e]) and (which == 0 or network.endless[e]):
            network.largest[which, kind] = max(network.largest[which, kind], largest[first + e])


@machine_code
def choose_network_modes(code: Code, work: Workspace, relations: Relations, network: NetworkModes,
                         t: float, x: Vector, crossed: bool) -> bool:
    """Choose the modes at an event; False where others must decide, with modes changed.

    Parameters
    ----------
    x : the point; states that modes hold are brought to their values
    crossed : whether margins have become negative; else a known instant has changed something
    """
    parts = network.present.size
    for part in range(parts):
        if network.present[part] < 0:
            return False
    _look(code, work, network, t, x)
    _measure(network)
    for part in range(parts):
        if not _missed(network, part, network.present[part]) <= network.drift[0]:
            return False
    for part in range(parts):
        _bring(network, x, part, network.present[part])  # what the integration has let go
    for part in range(parts):
        network.row[part], network.link[part] = network.present[part], NO_LINK
        network.turns[part] = False
        network.ended[part] = crossed and _has_ended(relations, network, part)
        if (network.ended[part] or not _goes_with_relations(network, part, network.row[part])) and (
                not _next_row(network, part)):
            return False
    while not _all_hold(code, work, relations, network, t, x):
        for part in range(parts):
            if not network.holds[part] and not _next_row(network, part):
                return False
    _take(code, work, relations, network, t, x)
    return True


@machine_code
def _has_ended(relations: Relations, network: NetworkModes, part: int) -> bool:
    """Whether an element of a part has come to the end of its mode, or a relation beside it."""
    ended = False
    for k in range(network.starts[part], network.starts[part + 1]):
        ended |= relations.wrong[relations.wrong.size - network.modes.size + network.members[k]]
    for k in range(network.relation_starts[part], network.relation_starts[part + 1]):
        r = network.relations[k]
        ended |= network.joint[r] and relations.wrong[r]
    return ended


@machine_code
def ends_by_rounding(code: Code, work: Workspace, relations: Relations, network: NetworkModes,
                     t: float, x: Vector) -> bool:
    """Name the elements that have come to the end of their mode but for rounding; whether any has.

    A margin may be below zero by rounding before the mode ends, and a condition on what the element
    takes, which is the same value, crosses a little before that.
    """
    n, first, ended = network.modes.size, relations.wrong.size - network.modes.size, False
    _look(code, work, network, t, x)
    for e in range(n):
        near = 2.0 * network.constants[n + e]
        at_end = network.constants[e] == 0.0 and _margin(network, e) <= near and (
            relations.looks[LARGEST, first + e] > FARTHER * near)  # and has not been there before
        relations.wrong[first + e] = at_end
        ended |= at_end
    return ended


@machine_code
def _next_row(network: NetworkModes, part: int) -> bool:
    """Go on to the next row that has followed the present one of a part; whether there is one.

    Before it comes that in which what turns round is at rest, where it can.
    """
    before = network.present[part]
    if network.turns[part]:
        network.turns[part] = False
        network.row[part] = network.target[network.link[part]]
        return True
    for k in range(network.link[part] + 1, network.links[0]):
        following = network.target[k]
        if network.source[k] == before and _goes_with_relations(network, part, following):
            row = _at_rest(network, part, before, following)
            network.link[part], network.row[part] = k, row
            network.turns[part] = row != following
            return row >= 0
    return False


@machine_code
def _at_rest(network: NetworkModes, part: int, before: int, following: int) -> int:
    """The row in which what turns round from one row to another is at rest; -1 if none is kept.

    Friction that is larger at rest than in motion may do both where its flow is zero.
    """
    modes, n = network.kept_modes, network.starts[part + 1] - network.starts[part]
    turns = False
    for a in range(n):
        turns |= modes[before, a] * modes[following, a] < 0.0
    if not turns:
        return following
    relations = network.relation_starts[part + 1] - network.relation_starts[part]
    for row in range(network.owner.size):
        same = network.owner[row] == part
        for a in range(n):
            rests = modes[before, a] * modes[following, a] < 0.0
            same &= modes[row, a] == (0.0 if rests else modes[following, a])
        for a in range(relations):
            same &= network.kept_m[row, a] == network.kept_m[following, a]
        if same:
            return row
    return -1


@machine_code
def _missed(network: NetworkModes, part: int, row: int) -> float:
    """The largest share of its size by which what the modes of a part hold constant is off."""
    found, worst, first = network.found, 0.0, network.starts[part]
    n, width = network.starts[part + 1] - first, network.kept_modes.shape[1]
    for c in range(n):
        missed, size = 0.0, 0.0
        for a in range(n):
            share = network.weight[row, c * width + a]
            if share != 0.0:
                e = network.members[first + a]
                missed += share * found[MISSED * network.modes.size + e]
                size += abs(share) * network.room[EQUAL, e]
        if np.isnan(missed):
            return np.inf
        if abs(missed) > worst * size:
            worst = abs(missed) / size
    return worst


@machine_code
def _bring(network: NetworkModes, x: Vector, part: int, row: int) -> None:
    """Bring what the modes of a part hold constant to its value, as it was found last."""
    found, first = network.found, network.starts[part]
    n, width = network.starts[part + 1] - first, network.kept_modes.shape[1]
    for c in range(n):
        missed = 0.0
        for a in range(n):
            missed += network.weight[row, c * width + a] * found[
                MISSED * network.modes.size + network.members[first + a]]
        if missed != 0.0:
            for i in range(network.move.shape[1] // width):
                x[i] -= network.move[row, i * width + c] * missed


@machine_code
def _goes_with_relations(network: NetworkModes, part: int, row: int) -> bool:
    """Whether what is kept in a row of a part is that of the present relations."""
    first = network.relation_starts[part]
    for k in range(first, network.relation_starts[part + 1]):
        r = network.relations[k]
        if network.kept_m[row, k - first] != network.m[r] and not network.joint[r]:
            return False
    return True


@machine_code
def _put(network: NetworkModes, part: int, row: int) -> None:
    """Make the modes of a row those of a part, with the relations that go with them."""
    n, first = network.modes.size, network.relation_starts[part]
    for k in range(first, network.relation_starts[part + 1]):
        network.m[network.relations[k]] = network.kept_m[row, k - first]
    first = network.entry_starts[part]
    for k in range(first, network.entry_starts[part + 1]):
        network.constants[network.entries[k]] = network.kept_constants[row, k - first]
    first = network.starts[part]
    for k in range(first, network.starts[part + 1]):
        e = network.members[k]
        network.modes[e] = network.kept_modes[row, k - first]
        fast, strong = network.largest[0, network.kinds[e]], network.largest[1, network.kinds[e]]
        slack, row_of = MARGIN_ROUNDING * fast + network.least_flow[e], 1
        if network.modes[e] == 0.0:
            slack, row_of = MARGIN_ROUNDING * strong, 0
        network.constants[n + e] = slack + network.noise_so_far[row_of, e]


@machine_code
def _look(code: Code, work: Workspace, network: NetworkModes, t: float, x: Vector) -> None:
    """What elements come to in the present modes."""
    values_at(code, work, network.values, t, x, network.found)


@machine_code
def _crossing_functions(code: Code, work: Workspace, network: NetworkModes, t: float, x: Vector,
                        out: Vector) -> None:
    """Crossing functions, positive where relations are as they are held."""
    values_at(code, work, code.crossings, t, x, out)
    for r in range(network.joint.size):
        if network.m[r] <= 0.5:
            out[r] = -out[r]


@machine_code
def _all_hold(code: Code, work: Workspace, relations: Relations, network: NetworkModes, t: float,
              x: Vector) -> bool:
    """Whether the rows that are tried obey all laws at an instant and, where that is close, also
    after it; says so part by part.

    For less than that will do where any of them is ``brief``; and an element that has ended its
    mode may only go on in it where it leads away from its end.
    """
    n, found, room, point = network.modes.size, network.found, network.room, work.k[WORK]
    for part in range(network.present.size):
        _put(network, part, network.row[part])
    _look(code, work, network, t, x)
    _measure(network)
    for e in range(n):
        room[MARGIN, e] = _margin(network, e)
    now, later = relations.looks[SPARE], relations.looks[SPARE + 1]
    _crossing_functions(code, work, network, t, x, now)
    hold = True
    for i in range(found.size):
        hold &= not np.isnan(found[i])
    for part in range(network.present.size):
        network.holds[part] = hold and _holds_now(network, part, now)
    for part in range(network.present.size):
        hold &= network.holds[part]
    if not hold:
        return False
    fast, far = 0.0, LEAST_DISTANCE
    for i in range(network.move.shape[1] // network.kept_modes.shape[1]):
        fast = max(fast, abs(found[VALUES * n + i]))
        far = max(far, abs(x[i]))
    h = LONGEST_INSTANT
    if fast > 0.0:
        h = min(INSTANT * far / fast, h)
    for i in range(x.size):
        point[i] = x[i] + h * found[VALUES * n + i]
    _look(code, work, network, t + h, point)
    _crossing_functions(code, work, network, t + h, point, later)
    brief = False  # another part's mode ends behind this event, too
    for part in range(network.present.size):
        brief |= network.link[part] != NO_LINK and network.brief[network.link[part]]
    for part in range(network.present.size):
        network.holds[part] = _holds_later(relations, network, part, h, now, later, brief)
        hold &= network.holds[part]
    return hold and _lead_away(code, work, relations, network, t, x, h)


@machine_code
def _lead_away(code: Code, work: Workspace, relations: Relations, network: NetworkModes, t: float,
               x: Vector, h: float) -> bool:
    """Whether elements that have ended their mode and are to go on in it lead away from its end.

    Where rounding is all that an instant ``h`` shows, as beside a coil without a current, it is
    looked farther ahead.
    """
    n, found, point = network.modes.size, network.found, work.k[WORK]
    away, looking = True, True
    while looking:
        unseen = False
        for part in range(network.present.size):
            first = network.starts[part]
            for k in range(first, network.starts[part + 1]):
                if _goes_on(relations, network, part, k):
                    e, noise = network.members[k], network.noise[network.row[part], k - first]
                    change = _margin(network, e) - network.room[MARGIN, e]
                    network.holds[part] &= not change < -noise
                    unseen |= abs(change) <= noise
            away &= network.holds[part]
        looking = unseen and away and h < LONGEST_INSTANT
        if looking:
            h = min(FARTHER * h, LONGEST_INSTANT)
            for i in range(x.size):
                point[i] = x[i] + h * found[VALUES * n + i]
            _look(code, work, network, t + h, point)
    return away


@machine_code
def _goes_on(relations: Relations, network: NetworkModes, part: int, k: int) -> bool:
    """Whether a member of a part has ended its mode and is to go on in it, in the row tried."""
    first, modes = network.starts[part], network.kept_modes
    crossed = relations.wrong[relations.wrong.size - network.modes.size + network.members[k]]
    return network.ended[part] and crossed and (
        modes[network.present[part], k - first] == modes[network.row[part], k - first])


@machine_code
def _holds_now(network: NetworkModes, part: int, now: Vector) -> bool:
    """Whether a part obeys its laws in the row that is tried; not where it comes to no number."""
    row, first, room = network.row[part], network.starts[part], network.room
    if not _missed(network, part, row) <= MODE_MISSED:
        return False
    for k in range(first, network.starts[part + 1]):
        e = network.members[k]
        if not room[MARGIN, e] >= -MODE_MARGIN_CLEAR * room[SIZE, e] - network.noise[
                row, k - first]:
            return False
    for k in range(network.relation_starts[part], network.relation_starts[part + 1]):
        r = network.relations[k]
        if network.joint[r] and not now[r] >= -MODE_MARGIN_NONE * network.farthest[r]:
            return False
    return True


@machine_code
def _holds_later(relations: Relations, network: NetworkModes, part: int, h: float, now: Vector,
                 later: Vector, brief: bool) -> bool:
    """Whether what is close to its end in a part leads away from there within an instant."""
    row, first, room = network.row[part], network.starts[part], network.room
    n = network.modes.size
    for k in range(first, network.starts[part + 1]):
        e, noise = network.members[k], network.noise[row, k - first]
        margin, size = room[MARGIN, e], room[SIZE, e]
        rounding = network.constants[n + e]
        if network.modes[e] != 0.0:
            rounding -= network.least_flow[e]
        close = noise if brief else MODE_MARGIN_NONE * size + 2.0 * rounding
        least = ENDED_MARGIN if _goes_on(relations, network, part, k) else LATER_MARGIN
        if margin <= close and _margin(network, e) - margin < -least * h * size - noise:
            return False
    for k in range(network.relation_starts[part], network.relation_starts[part + 1]):
        r = network.relations[k]
        size = network.farthest[r]
        if network.joint[r] and now[r] <= MODE_MARGIN_NONE * size and (
                later[r] - now[r] < -LATER_MARGIN * h * size):
            return False
    return True


@machine_code
def _measure(network: NetworkModes) -> None:
    """What counts as large: for the margin of every element, and for what its mode holds."""
    n, found, room, now = network.modes.size, network.found, network.room, network.largest_now
    now[:, :] = network.largest
    for e in range(n):
        kind = network.kinds[e]
        now[0, kind] = max(now[0, kind], abs(found[FLOW * n + e]))
        now[1, kind] = max(now[1, kind], abs(found[EFFORT * n + e]))
    for e in range(n):
        kind = network.kinds[e]
        fast, width = now[0, kind] + TINY, found[HIGH * n + e] - found[LOW * n + e]
        if not width < np.inf:
            width = network.largest[1, kind]
        width = max(width, LEAST_RANGE * now[1, kind] + TINY)
        stuck = network.modes[e] == 0.0 and network.constants[e] != UNLOADED
        room[SIZE, e] = width if stuck else fast
        room[EQUAL, e] = fast if stuck else width


@machine_code
def _margin(network: NetworkModes, e: int) -> float:
    """How far an element is from the end of its mode."""
    n, found = network.modes.size, network.found
    if network.constants[e] != 0.0:
        return 1.0
    margin = network.modes[e] * found[FLOW * n + e]
    if network.modes[e] == 0.0:
        effort = found[EFFORT * n + e]
        margin = min(found[HIGH * n + e] - effort, effort - found[LOW * n + e])
    return margin + network.constants[n + e]


@machine_code
def _take(code: Code, work: Workspace, relations: Relations, network: NetworkModes, t: float,
          x: Vector) -> None:
    """Take modes that hold: the states that they hold are brought to their values."""
    n, found = network.modes.size, network.found
    _look(code, work, network, t, x)
    for e in range(n):
        kind = network.kinds[e]
        network.largest[0, kind] = max(network.largest[0, kind], abs(found[FLOW * n + e]))
        network.largest[1, kind] = max(network.largest[1, kind], abs(found[EFFORT * n + e]))
    for part in range(network.present.size):
        row, first = network.row[part], network.starts[part]
        _bring(network, x, part, row)
        for k in range(first, network.starts[part + 1]):
            e, kind = network.members[k], 0 if network.kept_modes[row, k - first] == 0.0 else 1
            network.noise_so_far[kind, e] = max(network.noise_so_far[kind, e],
                                                network.noise[row, k - first])
        _put(network, part, row)
        network.present[part] = row
    for r in range(network.joint.size):
        if network.joint[r]:
            relations.held[r], relations.slack[r] = network.m[r], 0.0
            network.farthest[r] = max(network.farthest[r], abs(relations.looks[SPARE, r]))
