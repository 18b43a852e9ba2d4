"""Events that machine code carries out itself: relations, samples and modes, and what it keeps.

Where more happens, or an answer is not sure, everything is as it was before, and Python decides.
"""

from __future__ import annotations

from typing import NamedTuple

from ..machine.functions import machine_code
from ..nonsmooth.modes.islands import NetworkModes
from ..numerics.arrays import Flags, Indices, Matrix, Vector
from ..numerics.instants import MOST_ROUNDS
from ..numerics.tolerances import LEAST_ERROR, SAME_INSTANT
from .active_set import decide_modes, notice_speeds, stuck_ones_rest
from .delayed import begin_piece, is_kept_up_to, read_from
from .network_modes import choose_network_modes, ends_by_rounding, notice_margins
from .next_branch import Switches
from .resets import Resets, begin_resets, give_resets_up, has_moved_states
from .samples import CHANGED, FAILED, Samples, begin_samples, count_samples
from .set_valued_elements import SetValuedElements
from .step_control import is_any
from .steps import Code, Workspace, has_slope, project_in_place
from .switches import (
    follow_modes,
    look_back,
    meets_requirements,
    others_act_on_none,
    settle_relations,
)
from .zero_crossings import LARGEST, Relations

__all__ = ["BENDS", "COUNT", "CROSSING", "ENTRIES", "KNOWN", "LAST_ERROR", "LOOKED", "NOWHERE",
           "PRESSED", "SINCE", "STEP", "TIME", "Passed", "pass_event"]  # fmt: skip

#: Entries of ``state``. What follows depends on them alone, not on where one call ended and the
#: next began; ``SINCE`` counts steps since the start or the last event, ``COUNT`` all of them.
TIME, STEP, LAST_ERROR, LOOKED, NOWHERE, KNOWN, SINCE, PRESSED, COUNT = range(9)
ENTRIES = 9
CROSSING, BENDS = -1, -2  # instead of the number of a known instant; what is delayed bends


class Passed(NamedTuple):
    """What is kept of events that were carried out, one row each."""

    marks: Indices  # the steps that were taken up to it
    times: Vector
    struck: Matrix  # 1 for contacts that were struck at each, of all elements
    q: Matrix  # what is constant from it on
    x: Matrix  # the values from it on
    changed: Matrix  # the round in which an assignment of ``when`` has changed a value, or 0
    given: Matrix  # which value that is
    present: Vector  # what is constant now, which machine code reads
    restarts: Flags  # (1,) whether the next step is found anew after a crossing
    broken: Flags  # (1,) whether something that is required of the run does not hold from it on


@machine_code
def pass_event(code: Code, work: Workspace, relations: Relations, switches: Switches,
               samples: Samples, resets: Resets, set_valued: SetValuedElements,
               network: NetworkModes, passed: Passed, x: Vector, state: Vector, counts: Indices,
               number: int, taken: int, instant: int) -> bool:
    """Carry an event out; False, with everything as it was, where others must.

    ``number`` is that of the event, the row that is filled; ``taken`` are the steps up to it;
    ``instant`` is which of the known ones it is, ``CROSSING`` or ``BENDS``.
    """
    q, t = passed.present, state[TIME]
    if code.past != 0 and not is_kept_up_to(code, t):
        return False
    passed.q[number, :] = q
    passed.x[number, :] = x
    if code.past != 0:
        read_from(code, t)
    if instant != CROSSING:
        relations.wrong[:] = False
    begin_resets(resets)
    look_back(code, work, relations, switches, samples, resets, t, x)
    begin_samples(samples, t)
    if set_valued.modes.size:
        notice_speeds(relations, set_valued)
    if network.modes.size:
        notice_margins(relations, network)
    decides = set_valued.modes.size > 0 or network.modes.size > 0
    mode_ended = instant == CROSSING and is_any(relations.wrong[switches.m.size:])
    done = decides or not mode_ended
    if network.modes.size and instant == CROSSING and not mode_ended and _waits_for_modes(
            relations, switches):
        mode_ended = ends_by_rounding(code, work, relations, network, t, x)
    again = instant == CROSSING and number > 0 and (
        t - passed.times[number - 1] <= SAME_INSTANT * abs(t))
    if done:
        done = settle_relations(code, work, relations, switches, samples, resets, t, x,
                                state[STEP], instant, again, mode_ended)
    followed = done and decides
    crossed = instant == CROSSING
    for _ in range(MOST_ROUNDS):
        if not followed:
            break
        done = _choose(code, work, relations, resets, set_valued, network, t, x, crossed)
        found = FAILED
        if done:
            found = follow_modes(code, work, relations, switches, samples, resets, t, x,
                                 state[STEP])
        done, followed, crossed = found != FAILED, found == CHANGED, False
    done &= not followed
    if done:
        done = others_act_on_none(switches)
    if done:  # what is solved for has perhaps jumped
        project_in_place(code, work, t, x)
    if done:
        passed.broken[0] = not meets_requirements(code, work, switches, t, x)
    if done:  # maybe further than full steps of Newton's method lead
        counts[2] += 1
        done = has_slope(code, work, t, x)
    if done and code.past != 0:
        done = begin_piece(code, work, t, x)
    if not done:
        q[:] = passed.q[number]
        x[:] = passed.x[number]
        give_resets_up(resets)
        relations.held[: switches.m.size] = switches.m
        return False
    relations.looks[LARGEST, :] = 0.0
    count_samples(samples, t)
    passed.marks[number], passed.times[number], passed.struck[number, :] = taken, t, 0.0
    if set_valued.modes.size:
        passed.struck[number, :] = set_valued.struck
    elif network.modes.size:
        passed.struck[number, :] = network.struck
    passed.q[number, :] = q
    passed.x[number, :] = x
    passed.changed[number, :] = resets.changed
    passed.given[number, :] = resets.given
    if instant >= 0:
        relations.instant[0] = switches.until[instant]
    elif instant == CROSSING and passed.restarts[0]:
        state[STEP] = 0.0
    state[LAST_ERROR], state[LOOKED], state[SINCE], state[PRESSED] = LEAST_ERROR, 0.0, 0.0, 0.0
    return True


@machine_code
def _choose(code: Code, work: Workspace, relations: Relations, resets: Resets,
            set_valued: SetValuedElements, network: NetworkModes, t: float, x: Vector,
            crossed: bool) -> bool:
    """Choose modes; False where others must."""
    moved = has_moved_states(resets)
    if network.modes.size:
        return not moved and choose_network_modes(code, work, relations, network, t, x, crossed)
    if set_valued.modes.size:
        return (not moved or stuck_ones_rest(code, work, set_valued, t, x)) and decide_modes(
            code, work, relations, set_valued, t, x, crossed)
    return True


@machine_code
def _waits_for_modes(relations: Relations, switches: Switches) -> bool:
    """Whether a relation has crossed that looks at nothing but what modes may hold at zero."""
    waits = False
    for r in range(switches.m.size):
        waits |= relations.wrong[r] and switches.resting[r]
    return waits
