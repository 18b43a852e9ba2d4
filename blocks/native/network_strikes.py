"""What becomes of contacts that close beside nodes without mass? They rebound, or stay.

The impact goes through the bodies alone, as :mod:`blocks.nonsmooth.modes.massless_contacts` says;
what it lets elements do is what the search for modes begins with.
"""

from __future__ import annotations

import numpy as np

from ..machine.functions import machine_code
from ..machine.signatures import run_code
from ..nonsmooth.complementarity.impact import FULL, PUSH, ROUNDS, SPEED
from ..nonsmooth.modes.islands import NetworkModes
from ..numerics.arrays import Vector
from ..numerics.tolerances import NEAR_GAP, SAME_AS_BEFORE, SETTLED
from .elements_at_point import largest_position
from .mode_rows import EFFORT, FLOW
from .steps import Code, Workspace, project_in_place, values_at
from .strikes import pose_one
from .through_loops import eliminate_loops
from .zero_crossings import Relations

__all__ = ["BROUGHT", "strike_beside"]

BROUGHT = 1  # row of the work space: states as they were, or as modes that are tried hold them

SPEEDS, RESTITUTION, LOW, HIGH = range(4)  # of each, one row after the other; of LOW static first
BOUNDS, SLOPES = 1, 5  # where rows of ``impact_by`` begin, in numbers of those that bear impulses
LAST = 6  # row of ``rest``: impulses of the round before


@machine_code
def strike_beside(code: Code, work: Workspace, relations: Relations, network: NetworkModes,
                  t: float, x: Vector) -> bool:
    """Let open contacts that have come to their end strike, with those that touch and the friction
    that they load: each rebounds, or stays. False where others must tell.

    What elements come to in their present modes has been found.
    """
    bears, first = network.bears, relations.wrong.size - network.modes.size
    far, ended, closes = largest_position(network.positions, network.scale, x), False, False
    for e in range(network.modes.size):
        if network.contact[e] and network.modes[e] != 0.0 and relations.wrong[first + e]:
            ended = True
            if not _touches(network, e, far):
                _begin_with(network, e, -1.0)
                relations.wrong[first + e] = False
    if not ended:
        return True
    if network.at_impacts == 0 or not _look(code, work, network, t, x, 0):
        return False
    for a in range(bears.size):
        e, approach = bears[a], network.impact[a]
        if network.contact[e] and network.modes[e] != 0.0 and relations.wrong[first + e] and (
                approach > 0.0):
            network.approach[0], closes = max(network.approach[0], approach), True
    if not closes:
        return True
    size = _pose_impact(network, far)
    if not _find_impulses(code, work, network, t, x, size) or not _push(
            code, work, network, t, x, size):
        return False
    for k in range(size):
        a, e = network.takes_part[k], bears[network.takes_part[k]]
        if network.rest[PUSH, k] != 0.0:
            network.struck[e] = 1.0 if network.contact[e] else 0.0
            _begin_with(network, e, _mode_after(network, a))
    for k in range(size):
        a, e = network.takes_part[k], bears[network.takes_part[k]]
        network.hit[e] &= network.hit_mode[e] != 0.0 or _holds(network, a)
    return True


@machine_code
def _touches(network: NetworkModes, e: int, far: float) -> bool:
    """Whether the sides of a contact touch."""
    return -network.found[FLOW * network.modes.size + e] <= NEAR_GAP * far


@machine_code
def _begin_with(network: NetworkModes, e: int, mode: float) -> None:
    """Let the search begin with a mode of an element."""
    network.hit[e], network.hit_mode[e] = True, mode


@machine_code
def _look(code: Code, work: Workspace, network: NetworkModes, t: float, x: Vector, size: int
          ) -> bool:
    """What those that bear impulses come to, and how all that follows what they take, with unknowns
    of loops, where as many as take part take impulses, as forces; whether that is told."""
    n = network.modes.size
    taken = network.impact[network.impact.size - n :]
    for e in range(n):
        taken[e] = network.found[(FLOW if network.gives_flow[e] else EFFORT) * n + e]
    for k in range(size):
        taken[network.bears[network.takes_part[k]]] = FULL * network.rest[PUSH, k]
    values_at(code, work, network.at_impacts, t, x, network.impact)
    return eliminate_loops(network, network.impact_by)


@machine_code
def _pose_impact(network: NetworkModes, far: float) -> int:
    """Fill in who takes part in an impact, and an impulse of each contact; how many there are."""
    bears, impact, rest, size = network.bears, network.impact, network.rest, 0
    count, takes_part = bears.size, network.takes_part
    for a in range(count):
        e = bears[a]
        contact, side = network.contact[e], 0 if network.modes[e] == 0.0 else 2
        takes = _touches(network, e, far) if contact else side == 0
        for b in range(0 if contact else count):
            takes |= network.follows[a, b] != 0.0
        if takes:
            low, high = impact[(LOW + side) * count + a], impact[(HIGH + side) * count + a]
            pose_one(rest, size, contact, impact[a], impact[RESTITUTION * count + a], low, high)
            takes_part[size], rest[PUSH, size] = a, 1.0 if contact else 0.0
            size += 1
    for k in range(size):
        for j in range(size):
            network.block[k, j] = -network.impact_by[takes_part[k], takes_part[j]]
    return size


@machine_code
def _find_impulses(code: Code, work: Workspace, network: NetworkModes, t: float, x: Vector,
                   size: int) -> bool:
    """Find impulses with the slopes of bounds that they themselves lead to, which bend (gears with
    losses), by repetition; whether they are found."""
    rest, change, largest = network.rest, np.inf, 0.0
    for again in range(ROUNDS if network.by.size > 0 else 1):
        if network.by.size > 0:
            if not _look(code, work, network, t, x, size):
                return False
            if _take_slopes(network, size) and again > 0:
                return True
        for k in range(size):
            rest[SPEED, k], rest[LAST, k] = network.impact[network.takes_part[k]], rest[PUSH, k]
        network.striking[network.striking_counted] = size
        run_code(network.collides, network.striking)
        if network.impulses_found[0] == 0:
            return False
        change = largest = 0.0
        for k in range(size):
            change = max(change, abs(rest[PUSH, k] - rest[LAST, k]))
            largest = max(largest, abs(rest[PUSH, k]))
        if network.by.size == 0 or change <= SETTLED * largest:
            return True
    return change <= SAME_AS_BEFORE * largest


@machine_code
def _take_slopes(network: NetworkModes, size: int) -> bool:
    """Take the slopes of bounds where it was looked last; whether they are as they were."""
    same, count = True, network.bears.size
    for k in range(size):
        a = network.takes_part[k]
        side = 0 if network.modes[network.bears[a]] == 0.0 else 2
        for j in range(size):
            for way in range(2):
                by = network.impact_by[
                    (BOUNDS + side + way) * count + a, network.takes_part[j]]
                same &= network.by[way, k, j] == by
                network.by[way, k, j] = by
    return same


@machine_code
def _push(code: Code, work: Workspace, network: NetworkModes, t: float, x: Vector, size: int
          ) -> bool:
    """Change the states as impulses do, at the mean of the flows before and after, and look again;
    whether that is told."""
    before, first = work.k[BROUGHT], SLOPES * network.bears.size
    before[:] = x
    for half in range(2):
        for i in range(network.scale.size):
            change = 0.0
            for k in range(size):
                change += network.rest[PUSH, k] * network.impact_by[
                    first + i, network.takes_part[k]]
            x[i] = before[i] + (0.5 + 0.5 * half) * change
        if half == 1:
            project_in_place(code, work, t, x)
        if not _look(code, work, network, t, x, 0):
            return False
    return True


@machine_code
def _mode_after(network: NetworkModes, a: int) -> float:
    """The mode that an impact leads one to that has borne it."""
    e, flow = network.bears[a], network.impact[a]
    fast = network.approach[0] if network.contact[e] else network.largest[0, network.kinds[e]]
    if abs(flow) <= SAME_AS_BEFORE * fast:
        return 0.0
    return 1.0 if flow > 0.0 and not network.contact[e] else -1.0


@machine_code
def _holds(network: NetworkModes, a: int) -> bool:
    """Whether one at rest holds anything, by itself or by contacts that are closed now."""
    count = network.bears.size
    holds = network.impact[LOW * count + a] < network.impact[HIGH * count + a]
    for b in range(count):
        e = network.bears[b]
        closed = network.hit_mode[e] == 0.0 if network.hit[e] else network.modes[e] == 0.0
        holds |= network.follows[a, b] != 0.0 and network.contact[e] and closed
    return holds
