"""What ``when`` assigns where its condition has just become true, in plain loops.

All that is assigned counts with the values before, and conditions are looked at again after what
they have changed. Steps in Python call this by :mod:`blocks.simulation.switching`.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import casadi as ca
import numpy as np

from ..machine.functions import filled, machine_code
from ..numerics.arrays import Array, Flags, Indices, Vector
from .samples import CHANGED, FAILED, UNCHANGED
from .steps import Code, Workspace, project_in_place, values_at

__all__ = ["ResetRules", "Resets", "assign_risen", "begin_resets", "give_resets_up",
           "has_moved_states", "resets_of", "rounds_of"]  # fmt: skip

LATER = 0.5  # a condition that is true, and looked at again after what others assign


@dataclass(frozen=True)
class ResetRules:
    """What is assigned where a condition becomes true."""

    before: Array  # (conditions,) what each was when it was looked at last; 1 where it held
    late: Flags  # (conditions,) whether one follows efforts, and waits for modes to be decided
    # owner, target: (assignments,) the condition, and the place among the states and, behind them,
    # the discrete values
    owner: Indices
    target: Indices
    sign: Array  # (assignments,) of the variable there
    # (k,) places among the discrete values that hold what something was before an event
    noted: Indices
    # what comes of t, x, z, p, m, d, u: conditions, what would be assigned, and what is noted
    # before an event
    assigned: ca.Function


class Resets(NamedTuple):
    """What is assigned where a condition becomes true, as machine code is given it."""

    before: Vector
    late: Flags
    owner: Indices
    target: Indices
    contested: Flags  # (assignments,) whether others assign the same
    sign: Vector
    noted: Indices
    states: int  # how many of them there are
    assigned: int  # address
    d: Vector  # the discrete values, which machine code reads
    values: Vector  # (conditions + assignments + noted) room
    at_first: Vector  # (conditions,) room: what they were before the event
    waits: Flags  # (1,) room: whether modes are not decided yet
    done: Flags  # (assignments,) room: what has been assigned at the event
    changed: Vector  # (assignments,) room: where that was another value, in which round; else 0
    given: Vector  # (assignments,) room: and which, as it stands in its place


def resets_of(rules: ResetRules, states: int, d: Array, assigned: int) -> Resets:
    """What machine code is given of rules whose functions stand at an address."""
    n = len(rules.owner)
    return filled(
        Resets, rules, states=states, d=d, assigned=assigned,
        contested=np.bincount(rules.target, minlength=1)[rules.target] > 1,
        values=np.zeros(rules.assigned.nnz_out(0)), at_first=np.zeros(len(rules.before)),
        waits=np.zeros(1, dtype=bool), done=np.zeros(n, dtype=bool), changed=np.zeros(n),
        given=np.zeros(n))


@machine_code
def begin_resets(resets: Resets) -> None:
    """Begin an event: nothing has been assigned yet."""
    resets.at_first[:] = resets.before
    resets.changed[:] = 0.0
    resets.done[:] = False


@machine_code
def give_resets_up(resets: Resets) -> None:
    """Others carry the event out: nothing has been looked at."""
    resets.before[:] = resets.at_first


@machine_code
def rounds_of(resets: Resets) -> float:
    """In how many rounds of the event something has been assigned another value."""
    last = 0.0
    for j in range(resets.owner.size):
        last = max(last, resets.changed[j])
    return last


@machine_code
def has_moved_states(resets: Resets) -> bool:
    """Whether a state has been assigned another value at the event."""
    for j in range(resets.owner.size):
        if resets.changed[j] > 0.0 and resets.target[j] < resets.states:
            return True
    return False


@machine_code
def assign_risen(code: Code, work: Workspace, resets: Resets, t: float, x: Vector) -> int:
    """Assign where a condition has become true: CHANGED if any has, UNCHANGED, or FAILED where two
    give one state other values, which belongs to several components.

    Of several that assign one discrete value the first that is written acts now; the others are
    looked at again after it, and find what it has assigned.
    """
    values, count, found, before = resets.values, resets.before.size, UNCHANGED, rounds_of(resets)
    project_in_place(code, work, t, x)
    values_at(code, work, resets.assigned, t, x, values)
    for i in range(count):
        if resets.waits[0] and resets.late[i]:
            values[i] = resets.before[i]
    for j in range(resets.owner.size):
        for k in range(j if resets.contested[j] and _rises(resets, j) else 0):
            if resets.target[k] == resets.target[j] and resets.owner[k] != resets.owner[j] and (
                    _rises(resets, k)):
                if resets.target[j] >= resets.states:
                    values[resets.owner[j]] = LATER
                elif resets.sign[k] * values[count + k] != resets.sign[j] * values[count + j]:
                    return FAILED
    for j in range(resets.owner.size):
        if _rises(resets, j) and values[resets.owner[j]] != LATER:
            place, new, found = resets.target[j], resets.sign[j] * values[count + j], CHANGED
            old = x[place] if place < resets.states else resets.d[place - resets.states]
            if new != old and not (np.isnan(new) and np.isnan(old)):
                resets.changed[j], resets.given[j] = before + 1.0, new
            if place < resets.states:
                x[place] = new
            else:
                resets.d[place - resets.states] = new
            resets.done[j] = True
    for i in range(count):
        resets.before[i] = 0.0 if values[i] == LATER else values[i]
    return found


@machine_code
def _rises(resets: Resets, j: int) -> bool:
    """Whether the condition of an assignment has just become true."""
    return resets.values[resets.owner[j]] >= LATER and not resets.before[resets.owner[j]] > 0.5
