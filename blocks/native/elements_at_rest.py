"""Which of those that rest begin to move? All of a part are decided on together."""

from __future__ import annotations

import numpy as np

from ..machine.functions import machine_code
from ..machine.signatures import run_code
from ..nonsmooth.complementarity.decide import FOUND
from ..nonsmooth.complementarity.moving import DOWN, LET_GO, MOVED, STATE, UNCLEAR, UNSURE, UP
from ..numerics.arrays import Vector
from ..numerics.tolerances import AT_BOUND, CLEAR
from .elements_at_point import largest_effort, look, look_ahead, moves, pose, room_of
from .impulses import stop_island
from .kept_factors import keep_factors
from .set_valued_elements import FLOW, HIGH, LOW, SetValuedElements, is_held, is_shared, no_flow
from .shared_loads import share
from .steps import Code, Workspace

__all__ = ["ask", "choose", "others_keep", "rests_now"]


@machine_code
def ask(elements: SetValuedElements, e: int, count: int) -> None:
    """Note which of a part are decided on together: those that rest, or may."""
    for k in range(count):
        i = elements.members[k]
        rests = elements.modes[i] == 0.0 or i == e or elements.leaves[i] != 0
        elements.asked_now[i] = 1 if rests else 0


@machine_code
def choose(code: Code, work: Workspace, elements: SetValuedElements, t: float, x: Vector,
            e: int, count: int, rested: bool) -> bool:
    """Choose the modes of all in a part that rest, as efforts are now that modes are guessed."""
    modes, rest, still = elements.modes, elements.rest, elements.still
    solved, shared, changed = elements.k.size == 0, is_shared(elements, e), False
    size, clear = _answer(code, work, elements, t, x, e, count)
    if size == 0:
        return False
    waits = shared or elements.answer[0] == UNCLEAR  # until a load is clear
    for a in range(size):
        i = still[a]
        changed |= modes[i] != rest[STATE, a]
        modes[i] = rest[STATE, a]
        elements.leaves[i] = 0
        if rest[MOVED, a] != 0.0:
            elements.leaves[i] = 2 if rest[MOVED, a] == LET_GO else 1
        if not rested and solved and (i == e or elements.doubtful[i] != 0) and (
                modes[i] * elements.found[FLOW, i] < -no_flow(work, elements, x, i)):
            return False  # it has not turned, and cannot be stopped
        if modes[i] == 0.0 and _is_powerless(elements, a, size):
            modes[i], elements.leaves[i], changed = 1.0, 2, True
    if shared and share(code, work, elements, t, x, e, count) < 0:
        return False
    if not rested and solved:  # now that what rests has efforts
        changed = True
        if not stop_island(code, work, elements, t, x, e, count) or shared and share(
                code, work, elements, t, x, e, count) != 0:
            return False
    if not shared and changed and not look(code, work, elements, t, x):
        return False
    for k in range(count):
        i = elements.members[k]
        if modes[i] != 0.0 and elements.asked_now[i] != 0 and (
                elements.leaves[i] != 2) and clear and not moves(elements, i, modes[i]):
            return False
        if modes[i] == 0.0 and not elements.contact[i] and not is_held(elements, i):
            width = elements.found[HIGH, i] - elements.found[LOW, i]
            at_bound = width < np.inf and room_of(elements.found, i) <= AT_BOUND * width
            elements.slack[i] = AT_BOUND * width if waits and at_bound else 0.0
    return not clear or others_keep(elements, count)


@machine_code
def _answer(code: Code, work: Workspace, elements: SetValuedElements, t: float, x: Vector,
            e: int, count: int) -> tuple[int, bool]:
    """Choose among those that are asked, of whom rounding tells at the next instant; among how
    many, 0 where there is no answer, and whether that is clear now."""
    size = _answer_now(elements, e, count)
    clear = elements.answer[0] == FOUND
    if size > 0 and not clear:
        elements.before[:], rest = x, elements.rest
        for a in range(size):  # what leaves its bound and moves does so
            moves_on = rest[STATE, a] != 0.0 and elements.leaves[elements.still[a]] != 0
            elements.own[a] = rest[STATE, a] if rest[UNSURE, a] == 0.0 or moves_on else np.nan
        later = look_ahead(code, work, elements, t, x)
        size = _answer_now(elements, e, count) if look(code, work, elements, later, x) else 0
        x[:] = elements.before
        for a in range(size):
            if abs(elements.own[a]) <= 1.0:
                rest[STATE, a] = elements.own[a]
        if not look(code, work, elements, t, x):
            return 0, False
    return size, clear


@machine_code
def _answer_now(elements: SetValuedElements, e: int, count: int) -> int:
    """Choose as elements are found; among how many, 0 where there is no answer."""
    size = pose(elements, e, count, False)
    elements.asked[elements.counted] = size
    if size > 0:
        run_code(elements.chooses, elements.asked)
    return size if elements.answer[0] == FOUND or elements.answer[0] == UNCLEAR else 0


@machine_code
def _is_powerless(elements: SetValuedElements, a: int, size: int) -> bool:
    """Whether friction holds nothing, not even by rounding: what presses it is open, or it has come
    to the end of its mode without any strength."""
    rest, e = elements.rest, elements.still[a]
    ends = elements.doubtful[e] != 0 and not elements.contact[e]
    for b in range(size if elements.dependent[0] else 0):
        if elements.by[0, a, b] != 0.0 or elements.by[1, a, b] != 0.0:
            if rest[STATE, b] == 0.0 or not elements.contact[elements.still[b]]:
                return False
            ends = True
    return ends and rest[UP, a] <= rest[DOWN, a]


@machine_code
def others_keep(elements: SetValuedElements, count: int) -> bool:
    """Whether those of a part that rest are within their bounds, or held."""
    found, enough = elements.found, CLEAR * largest_effort(elements, count)
    for k in range(count):
        i = elements.members[k]
        width = found[HIGH, i] - found[LOW, i]
        if elements.modes[i] == 0.0 and not is_held(elements, i) and not (
                room_of(found, i) > (-AT_BOUND * width if width < np.inf else enough)):
            return False
    return True


@machine_code
def rests_now(code: Code, work: Workspace, elements: SetValuedElements, t: float, x: Vector,
               e: int, count: int) -> bool:
    """Let an element rest that has come to a stop; whether there are such efforts.

    What is left of its flow, by the error of steps, is taken away where D is constant; at a dead
    point (a piston's) that would take all motion there is.
    """
    elements.modes[e] = 0.0
    if elements.k.size > 0 and not (keep_factors(code, work, elements, x) and stop_island(
            code, work, elements, t, x, e, count)):
        return False
    return look(code, work, elements, t, x)
