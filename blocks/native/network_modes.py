"""Which modes follow in a network without mass at its nodes? Decided without leaving machine code.

What has followed the present modes before is taken where it holds now and an instant later, as
:class:`blocks.nonsmooth.modes.mode_search.ModeSearch` judges it; else Python searches, and what it
finds is tried from then on.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

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
from .functions import filled, machine_code
from .signatures import run_code
from .stages import WORK
from .steps import Code, Workspace
from .zero_crossings import LARGEST, SPARE, Relations

__all__ = ["NetworkModes", "choose_network_modes", "network_modes", "notice_margins"]  # fmt: skip

FLOW, EFFORT, LOW, HIGH, MISSED = range(5)
VALUES = 5  # of an element, one row each
MARGIN, SIZE, EQUAL = range(3)  # rows of room
ROOM = 3


class NetworkModes(NamedTuple):
    """Modes of a network, as machine code decides on them."""

    modes: Vector  # which machine code reads
    constants: Vector  # what efforts and slopes follow by, which it reads
    m: Vector  # relations, which it reads
    values: int  # address of what fills ``found``
    found: Vector  # what elements come to, then the slopes
    relations: Indices  # those that what is kept depends on, or that depend on what is taken
    joint: Flags  # all relations: whether they do, and are decided on with modes
    kept_m: Matrix  # of all modes that are kept: these relations
    kept_modes: Matrix
    kept_constants: Matrix
    weight: Matrix  # combinations of equations that say something about states
    move: Matrix  # what brings these to their values
    noise: Matrix  # what rounding makes of margins
    present: Indices  # (2,) which row holds now, and how many there are
    links: Indices  # (1,) how many modes have followed others
    source: Indices  # which one
    target: Indices  # followed which
    brief: Flags  # whether it then held for less than an instant
    largest: Vector  # (2,) the largest flow and effort so far
    farthest: Vector  # (all relations,) the largest crossing function so far
    noise_so_far: Matrix  # what rounding may make of every margin, stuck and not
    drift: Vector  # (1,) share of its size by which what modes hold constant may be off
    least_flow: Vector  # less does not end a mode
    room: Matrix  # (ROOM, elements)


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
    n = len(modes)
    return filled(NetworkModes, parts, modes=modes, constants=constants, m=m, values=values,
                  found=np.empty(VALUES * n + states), kept_m=parts.m, kept_modes=parts.modes,
                  kept_constants=parts.constants, room=np.empty((ROOM, n)))


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
        if told == 0.0 and np.isfinite(largest[first + e]):
            which = 1 if network.modes[e] == 0.0 else 0
            network.largest[which] = max(network.largest[which], largest[first + e])


@machine_code
def choose_network_modes(code: Code, work: Workspace, relations: Relations, network: NetworkModes,
                         t: float, x: Vector, crossed: bool) -> bool:
    """Choose the modes at an event; False where others must decide, with modes changed.

    Parameters
    ----------
    x : the point; states that modes hold are brought to their values
    crossed : whether margins have become negative; else a known instant has changed something
    """
    before, ended, n = network.present[0], False, network.modes.size
    for e in range(n):
        if crossed and relations.wrong[relations.wrong.size - n + e]:
            ended = True
    for r in range(network.joint.size):
        if crossed and network.joint[r] and relations.wrong[r]:
            ended = True
    if before < 0 or not network.largest[0] > 0.0:
        return False
    _look(code, work, network, t, x)
    _measure(network)
    if not _missed(network, before) <= network.drift[0]:
        return False
    _bring(network, x, before)  # what the integration has let go
    if not ended and _goes_with_relations(network, before) and _holds(
            code, work, relations, network, t, x, before, before, False):
        return _take(code, work, relations, network, t, x, before)
    for k in range(network.links[0]):
        following = network.target[k]
        if network.source[k] != before or following == before:
            continue
        if not _goes_with_relations(network, following):
            continue
        row = _at_rest(network, before, following)  # which it takes, where it can
        if row < 0:
            return False
        if not _holds(code, work, relations, network, t, x, row, before if ended else row,
                      network.brief[k]):
            if row == following:
                continue
            row = following
            if not _holds(code, work, relations, network, t, x, row, before if ended else row,
                          network.brief[k]):
                continue
        return _take(code, work, relations, network, t, x, row)
    return False


@machine_code
def _at_rest(network: NetworkModes, before: int, following: int) -> int:
    """The row in which what turns round from one row to another is at rest; -1 if none is kept.

    Friction that is larger at rest than in motion may do both where its flow is zero.
    """
    modes, n = network.kept_modes, network.modes.size
    turns = False
    for e in range(n):
        turns |= modes[before, e] * modes[following, e] < 0.0
    if not turns:
        return following
    for row in range(network.present[1]):
        same = True
        for e in range(n):
            rests = modes[before, e] * modes[following, e] < 0.0
            same &= modes[row, e] == (0.0 if rests else modes[following, e])
        for k in range(network.relations.size):
            same &= network.kept_m[row, k] == network.kept_m[following, k]
        if same:
            return row
    return -1


@machine_code
def _missed(network: NetworkModes, row: int) -> float:
    """The largest share of its size by which what the modes of a row hold constant is off."""
    n, found, worst = network.modes.size, network.found, 0.0
    for c in range(n):
        missed, size = 0.0, 0.0
        for e in range(n):
            share = network.weight[row, c * n + e]
            if share != 0.0:
                missed += share * found[MISSED * n + e]
                size += abs(share) * network.room[EQUAL, e]
        if np.isnan(missed):
            return np.inf
        if abs(missed) > worst * size:
            worst = abs(missed) / size
    return worst


@machine_code
def _bring(network: NetworkModes, x: Vector, row: int) -> None:
    """Bring what the modes of a row hold constant to its value, as it was found last."""
    n, found = network.modes.size, network.found
    for c in range(n):
        missed = 0.0
        for e in range(n):
            missed += network.weight[row, c * n + e] * found[MISSED * n + e]
        if missed != 0.0:
            for i in range(network.move.shape[1] // n):
                x[i] -= network.move[row, i * n + c] * missed


@machine_code
def _goes_with_relations(network: NetworkModes, row: int) -> bool:
    """Whether what is kept in a row is that of the present relations."""
    for k in range(network.relations.size):
        r = network.relations[k]
        if network.kept_m[row, k] != network.m[r] and not network.joint[r]:
            return False
    return True


@machine_code
def _put(network: NetworkModes, row: int) -> None:
    """Make the modes of a row the present ones, with the relations that go with them."""
    network.modes[:] = network.kept_modes[row]
    for k in range(network.relations.size):
        network.m[network.relations[k]] = network.kept_m[row, k]
    network.constants[:] = network.kept_constants[row]
    n = network.modes.size
    for e in range(n):
        slack, kind = MARGIN_ROUNDING * network.largest[0] + network.least_flow[e], 1
        if network.modes[e] == 0.0:
            slack, kind = MARGIN_ROUNDING * network.largest[1], 0
        network.constants[n + e] = slack + network.noise_so_far[kind, e]


@machine_code
def _look(code: Code, work: Workspace, network: NetworkModes, t: float, x: Vector) -> None:
    """What elements come to in the present modes."""
    work.at[0] = t
    run_code(network.values, work.at, x, code.p, code.q, network.found)


@machine_code
def _crossing_functions(code: Code, work: Workspace, network: NetworkModes, t: float, x: Vector,
                        out: Vector) -> None:
    """Crossing functions, positive where relations are as they are held."""
    work.at[0] = t
    run_code(code.crossings, work.at, x, code.p, code.q, out)
    for r in range(network.joint.size):
        if network.m[r] <= 0.5:
            out[r] = -out[r]


@machine_code
def _holds(code: Code, work: Workspace, relations: Relations, network: NetworkModes, t: float,
           x: Vector, row: int, before: int, brief: bool) -> bool:
    """Whether modes obey all laws at an instant and, where that is close, also after it.

    For less than that will do where they are ``brief``; and an element that has ended the mode it
    had in the row ``before`` may only go on in it where it leads away from its end.
    """
    n, found, room, point = network.modes.size, network.found, network.room, work.k[WORK]
    _put(network, row)
    _look(code, work, network, t, x)
    for i in range(found.size):
        if np.isnan(found[i]):
            return False
    _measure(network)
    if not _missed(network, row) <= MODE_MISSED:
        return False
    for e in range(n):
        room[MARGIN, e] = _margin(network, e)
        if not room[MARGIN, e] >= -MODE_MARGIN_CLEAR * room[SIZE, e] - network.noise[row, e]:
            return False
    now, later = relations.looks[SPARE], relations.looks[SPARE + 1]
    _crossing_functions(code, work, network, t, x, now)
    for r in range(network.joint.size):
        if network.joint[r] and not now[r] >= -MODE_MARGIN_NONE * network.farthest[r]:
            return False
    fast, far = 0.0, LEAST_DISTANCE
    for i in range(network.move.shape[1] // n):
        fast = max(fast, abs(found[VALUES * n + i]))
        far = max(far, abs(x[i]))
    h = LONGEST_INSTANT
    if fast > 0.0:
        h = min(INSTANT * far / fast, h)
    for i in range(x.size):
        point[i] = x[i] + h * found[VALUES * n + i]
    _look(code, work, network, t + h, point)
    for e in range(n):
        margin, size = room[MARGIN, e], room[SIZE, e]
        close = network.noise[row, e] if brief else MODE_MARGIN_NONE * size
        least = LATER_MARGIN
        if before != row and relations.wrong[relations.wrong.size - n + e] and (
                network.kept_modes[before, e] == network.kept_modes[row, e]):
            least = ENDED_MARGIN
        if margin <= close and (
                _margin(network, e) - margin < -least * h * size - network.noise[row, e]):
            return False
    _crossing_functions(code, work, network, t + h, point, later)
    for r in range(network.joint.size):
        size = network.farthest[r]
        if network.joint[r] and now[r] <= MODE_MARGIN_NONE * size and (
                later[r] - now[r] < -LATER_MARGIN * h * size):
            return False
    return True


@machine_code
def _measure(network: NetworkModes) -> None:
    """What counts as large: for the margin of every element, and for what its mode holds."""
    n, found, room = network.modes.size, network.found, network.room
    fast, strong = network.largest[0], network.largest[1]
    for e in range(n):
        fast = max(fast, abs(found[FLOW * n + e]))
        strong = max(strong, abs(found[EFFORT * n + e]))
    for e in range(n):
        width = found[HIGH * n + e] - found[LOW * n + e]
        if not width < np.inf:
            width = network.largest[1]
        width = max(width, LEAST_RANGE * strong + TINY)
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
          x: Vector, row: int) -> bool:
    """Take modes that hold: the states that they hold are brought to their values."""
    n, found = network.modes.size, network.found
    _look(code, work, network, t, x)
    _bring(network, x, row)
    for e in range(n):
        network.largest[0] = max(network.largest[0], abs(found[FLOW * n + e]))
        network.largest[1] = max(network.largest[1], abs(found[EFFORT * n + e]))
        kind = 0 if network.kept_modes[row, e] == 0.0 else 1
        network.noise_so_far[kind, e] = max(network.noise_so_far[kind, e], network.noise[row, e])
    _put(network, row)
    for r in range(network.joint.size):
        if network.joint[r]:
            relations.held[r], relations.slack[r] = network.m[r], 0.0
            network.farthest[r] = max(network.farthest[r], abs(relations.looks[SPARE, r]))
    network.present[0] = row
    return True
