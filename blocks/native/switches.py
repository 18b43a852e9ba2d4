"""Which relations hold after an event? Decided in plain loops, for steps of all methods.

Relations switch, and are evaluated until they agree with the equations that they switch. Where the
solution ends that the run has followed, it goes on with another one (:mod:`.next_branch`). Steps in
Python call this by :mod:`blocks.simulation.switching`, which tries relations where nothing agrees.
"""

from __future__ import annotations

import numpy as np

from ..machine.functions import machine_code
from ..numerics.arrays import Vector
from ..numerics.instants import MOST_ROUNDS
from ..numerics.tolerances import (
    DIRECTION_STEP,
    JUST_SWITCHED,
    LAST_BITS,
    LEAST_ERROR,
    NEVER_LEFT,
    NOISE_FACTOR,
    ROUNDING,
    TINY,
)
from ..solvers.looks import SCATTER
from .next_branch import OF_TOLERANCE, Switches, is_on_next_branch
from .resets import Resets, assign_risen
from .samples import CHANGED, FAILED, UNCHANGED, Samples, assign_due
from .stages import ATOL, WORK
from .step_control import is_any
from .steps import Code, Workspace, has_slope, project_in_place, slope_at, values_at
from .zero_crossings import LARGEST, SPARE, Relations

__all__ = ["follow_modes", "look_back", "meets_requirements", "others_act_on_none",
           "settle_relations"]  # fmt: skip

MOVED = SPARE + 1  # of ``looks``: by how much crossing functions change with states
PART_AHEAD = 1e-3  # of a step: as far as it is looked where a relation is going


@machine_code
def look_back(code: Code, work: Workspace, relations: Relations, switches: Switches,
              samples: Samples, resets: Resets, t: float, x: Vector) -> int:
    """Note what is just before an event; CHANGED if that is other than before the last one.

    Relations that look at it are then as they are just before the event, and no longer crossed,
    and conditions of ``when`` that have ended so are forgotten: they may become true again.
    """
    m, n = switches.m, resets.before.size + resets.owner.size
    if not resets.noted.size:
        return UNCHANGED
    found, old = UNCHANGED, relations.looks[SPARE]
    if m.size:
        _crossing_functions(code, work, relations, t, x, old)
    project_in_place(code, work, t, x)
    values_at(code, work, resets.assigned, t, x, resets.values)
    for k in range(resets.noted.size):
        if switches.d[resets.noted[k]] != resets.values[n + k]:
            switches.d[resets.noted[k]], found = resets.values[n + k], CHANGED
    if found == CHANGED and m.size:
        _crossing_functions(code, work, relations, t, x, switches.now)
        for r in range(m.size):
            if switches.now[r] != old[r]:
                relations.wrong[r] = False
                m[r] = 1.0 if switches.now[r] > 0.0 or (
                    switches.now[r] == 0.0 and switches.at_zero[r]) else 0.0
        values_at(code, work, resets.assigned, t, x, resets.values)
        for i in range(resets.before.size):
            resets.before[i] = min(resets.before[i], resets.values[i])
    return found


@machine_code
def settle_relations(code: Code, work: Workspace, relations: Relations, switches: Switches,
                     samples: Samples, resets: Resets, t: float, x: Vector, step: float,
                     instant: int, again: bool, mode_ended: bool) -> bool:
    """Switch relations and assign until all agree; False where others must judge.

    ``step`` is the length that the next one would have; ``instant`` is which of the known ones it
    is, -1 where relations have crossed; ``mode_ended``: whether modes end, too. ``again``: whether
    that is at the instant of the last event: then it is rounding that crosses, as it is where a
    margin was never larger, since that event, than what it is past its crossing. Such a margin may
    be below zero by a few times that from now on, and so crosses no more.
    """
    m, crossed = switches.m, False
    for r in range(m.size):
        switches.before[r] = m[r]
        switches.frozen[r] = False
        if switches.timed[r]:
            if instant >= 0:
                m[r] = switches.holds[instant, r]
        elif relations.wrong[r] and not switches.joint[r] and not (
                mode_ended and switches.resting[r]):
            m[r] = 1.0 - m[r]
            switches.frozen[r], crossed = True, True
            relations.slack[r] = 0.0
    if instant >= 0:
        for j in range(switches.slots.size):
            switches.d[switches.slots[j]] = switches.rows[instant, j]
    if m.size:
        _crossing_functions(code, work, relations, t, x, switches.first)
        switches.now[:] = switches.first
        _let_opposites_wait(code, work, relations, switches, t, x, step)
    acted = _agree(code, work, relations, switches, samples, resets, t, x, step, False)
    ended, switched = acted == FAILED, acted != UNCHANGED or not crossed
    for r in range(m.size):
        switched |= m[r] != switches.before[r]
    for r in range(0 if switched else m.size):  # does either side of what has crossed hold?
        ended |= switches.frozen[r] and not _passes(code, work, relations, switches, t, x, step, r)
    if ended and not (crossed and _goes_on_elsewhere(code, work, relations, switches, samples,
                                                     resets, t, x, step)):
        return False
    for r in range(m.size):
        relations.held[r] = m[r]
        if switches.frozen[r] and m[r] != switches.before[r]:
            past = NEVER_LEFT * abs(switches.first[r])
            if again:  # by rounding, or it has jumped, and is watched as ever
                _move(code, work, relations, switches, t, x, OF_TOLERANCE * JUST_SWITCHED,
                      1.0 / OF_TOLERANCE)
                relations.slack[r] = min(max(past, NEVER_LEFT * abs(switches.now[r])),
                                         NEVER_LEFT * relations.looks[MOVED, r])
            elif 0.0 < relations.looks[LARGEST, r] <= past:
                _move_by_last_bits(code, work, relations, switches, t, x)
                relations.slack[r] = min(past, relations.looks[MOVED, r])
    if crossed:
        _let_dust_be(code, work, relations, switches, resets, t, x, step)
    return True


@machine_code
def _goes_on_elsewhere(code: Code, work: Workspace, relations: Relations, switches: Switches,
                       samples: Samples, resets: Resets, t: float, x: Vector, step: float) -> bool:
    """Whether relations agree on another solution of the same equations, where the one that the run
    has followed ends."""
    if not is_on_next_branch(code, work, relations, switches, t, x):
        return False
    _crossing_functions(code, work, relations, t, x, switches.first)
    switches.now[:] = switches.first
    switches.frozen[:] = False
    return _agree(code, work, relations, switches, samples, resets, t, x, step, False) != FAILED


@machine_code
def _let_opposites_wait(code: Code, work: Workspace, relations: Relations, switches: Switches,
                        t: float, x: Vector, step: float) -> None:
    """At zero neither ``x > 0`` nor ``x < 0`` holds, or both ``x >= 0`` and ``x <= 0``: of those
    that cross at one instant, what turns true, or false, waits until x has left zero, if
    ``sign(x)`` of 0 lets it rest there, or a law has no value at zero."""
    m, frozen, first = switches.m, switches.frozen, switches.first
    for r in range(m.size):
        for s in range(m.size if frozen[r] and m[r] > 0.5 else 0):
            if frozen[s] and m[s] < 0.5 and first[s] == -first[r] and (
                    switches.at_zero[s] or not switches.at_zero[r]):
                _move_by_last_bits(code, work, relations, switches, t, x)
                late = s if switches.at_zero[r] else r
                turned = 0.0 if switches.at_zero[r] else 1.0
                m[late], relations.slack[late] = 1.0 - turned, relations.looks[MOVED, late]
                _look_ahead(code, work, relations, t, x, step)
                ahead = relations.looks[SPARE, late] * (2.0 * turned - 1.0)
                m[late] = turned
                if ahead > relations.slack[late] and has_slope(code, work, t, x):
                    relations.slack[late] = 0.0
                else:
                    m[late] = 1.0 - turned


@machine_code
def follow_modes(code: Code, work: Workspace, relations: Relations, switches: Switches,
                 samples: Samples, resets: Resets, t: float, x: Vector, step: float) -> int:
    """Bring what follows efforts in line with modes that have been decided: CHANGED if anything
    has, UNCHANGED or FAILED."""
    m, changed = switches.m, False
    if not (is_any(switches.indirect) or is_any(samples.late) or is_any(resets.late)):
        return UNCHANGED
    project_in_place(code, work, t, x)
    if m.size:
        _crossing_functions(code, work, relations, t, x, switches.now)
    _let_move(code, work, relations, switches, t, x)
    for r in range(m.size):
        beyond = abs(switches.now[r])
        if switches.indirect[r] and _is_wrong(switches, relations, r) and not (
                switches.frozen[r] and beyond <= _as_zero(switches, relations, r)) and not (
                _has_rested(switches, r) and 0.0 < beyond <= relations.slack[r]):
            m[r] = 1.0 - m[r]
            switches.frozen[r] = False
    acted = _agree(code, work, relations, switches, samples, resets, t, x, step, True)
    for r in range(m.size):
        changed |= m[r] != relations.held[r]
        relations.held[r] = m[r]
    return CHANGED if changed and acted != FAILED else acted


@machine_code
def _agree(code: Code, work: Workspace, relations: Relations, switches: Switches,
           samples: Samples, resets: Resets, t: float, x: Vector, step: float, decided: bool
           ) -> int:
    """Switch relations and assign until all agree: CHANGED if anything has been assigned, UNCHANGED
    or FAILED.

    What follows efforts is looked at only where modes are ``decided``.
    """
    m, due, acted, looked = switches.m, is_any(samples.due), UNCHANGED, False
    for k in range(MOST_ROUNDS + m.size + resets.before.size + samples.owner.size):  # in a row
        moved, changed = UNCHANGED, False
        if due:
            samples.waits[0] = not decided or k > 0
            assigned = assign_due(code, work, samples, t, x)
            if assigned == FAILED:
                return FAILED
            changed = assigned == CHANGED
        if resets.before.size and not changed:  # samples that agree come first
            resets.waits[0], looked = not decided or looked, True
            moved = assign_risen(code, work, resets, t, x)
            if moved == FAILED:
                return FAILED
            if moved == CHANGED and due:
                _keep_from_samplers(samples, resets)
        if m.size and (changed or moved == CHANGED or k > 0):
            last = relations.looks[SPARE]
            last[:] = switches.now
            _crossing_functions(code, work, relations, t, x, switches.now)
            if moved == CHANGED:  # relations that this has moved are judged anew
                changed = True
                for r in range(m.size):
                    moved_by = abs(switches.now[r] - last[r])  # loops are solved for anew
                    switches.frozen[r] &= switches.indirect[r] or moved_by <= _as_zero(
                        switches, relations, r)
        wrong = _switch_wrong(code, work, relations, switches, t, x, step)
        if wrong == 0 and not changed:
            return acted
        if changed:
            acted = CHANGED
    return FAILED


@machine_code
def _keep_from_samplers(samples: Samples, resets: Resets) -> None:
    """Once `when` has assigned something nothing is sampled anew, but what waited for modes; nor is
    what it has assigned."""
    for j in range(samples.owner.size):
        samples.kept[samples.target[j]] |= not samples.late[j]
    for j in range(resets.owner.size):
        if resets.done[j] and resets.target[j] >= resets.states:
            samples.kept[resets.target[j] - resets.states] = True


@machine_code
def others_act_on_none(switches: Switches) -> bool:
    """Whether none has switched at whose change others act."""
    for r in range(switches.m.size):
        if switches.acting[r] and switches.m[r] != switches.before[r]:
            return False
    return True


@machine_code
def meets_requirements(code: Code, work: Workspace, switches: Switches, t: float, x: Vector
                       ) -> bool:
    """Whether all that is required of the run holds; what does not, Python tells."""
    if switches.conditions.size:
        values_at(code, work, switches.required, t, x, switches.conditions)
        for k in range(switches.conditions.size):
            if switches.conditions[k] < 0.5:
                return False
    return True


@machine_code
def _crossing_functions(code: Code, work: Workspace, relations: Relations, t: float, x: Vector,
                        out: Vector) -> None:
    """Crossing functions at an event; at a known instant behind what jumps there."""
    values_at(code, work, code.crossings, t + max(0.0, t - relations.instant[0]), x, out)


@machine_code
def _move_by_last_bits(code: Code, work: Workspace, relations: Relations, switches: Switches,
                       t: float, x: Vector) -> None:
    """Fill in what last bits of states and time make of crossing functions, and some more."""
    _move(code, work, relations, switches, t, x, OF_TOLERANCE * LAST_BITS * NOISE_FACTOR,
          1.0 / OF_TOLERANCE)


@machine_code
def _move(code: Code, work: Workspace, relations: Relations, switches: Switches, t: float,
          x: Vector, part: float, relative: float) -> None:
    """Fill in by how much crossing functions change with states that are moved, beside jumps."""
    moved, near, far = relations.looks[MOVED], relations.looks[SPARE], relations.looks[MOVED + 1]
    moved[:] = 0.0
    for side in range(2):
        _moved_by(code, work, relations, t, x, part, relative, side, near)
        _moved_by(code, work, relations, t, x, 2.0 * part, relative, side, far)
        for r in range(switches.m.size):
            moved[r] = max(moved[r], abs(far[r] - near[r]))


@machine_code
def _moved_by(code: Code, work: Workspace, relations: Relations, t: float, x: Vector, part: float,
              relative: float, side: int, found: Vector) -> None:
    """Crossing functions near a point: states higher by a part of their tolerances, or (side 1)
    each by another share of it, up or down; and the time later by its last bits."""
    point, share = work.k[WORK], 1.0
    for i in range(x.size):
        if side == 1:
            share = 2.0 * (SCATTER * i - int(SCATTER * i)) - 1.0
        point[i] = x[i]
        if relative > 0.0 or work.k[ATOL, i] < np.inf:  # else it follows from the others
            point[i] += share * part * max(relative * abs(x[i]), work.k[ATOL, i])
    t += abs(share) * part * relative * abs(t)  # behind what jumps just here
    _crossing_functions(code, work, relations, t, point, found)


@machine_code
def _let_dust_be(code: Code, work: Workspace, relations: Relations, switches: Switches,
                 resets: Resets, t: float, x: Vector, step: float) -> None:
    """Let relations be beyond zero by what states make of them that move by nothing.

    These are relations that have just crossed, and have been no farther from zero since the last
    event; and both their sides lead to the same there, but for nothing within a step. Nothing is an
    error that no step is shortened for.
    """
    allowed, some = relations.looks[MOVED], False
    _move(code, work, relations, switches, t, x, LEAST_ERROR, 0.0)
    for r in range(switches.m.size):
        if switches.indirect[r] or not (switches.frozen[r] and allowed[r] < np.inf and (
                relations.looks[LARGEST, r] <= NEVER_LEFT * allowed[r])):
            allowed[r] = 0.0
        some |= allowed[r] > 0.0
    if not some:
        return
    part = 1.0
    for _ in range(2):  # where slopes differ by more, they do so by less nearer to zero
        apart = _apart(code, work, relations, switches, resets, t, x, part, step)
        if apart <= LEAST_ERROR:
            for r in range(switches.m.size):
                relations.slack[r] = max(relations.slack[r], part * allowed[r])
            break
        part *= 0.5 * LEAST_ERROR / apart


@machine_code
def _apart(code: Code, work: Workspace, relations: Relations, switches: Switches, resets: Resets,
           t: float, x: Vector, part: float, step: float) -> float:
    """How far the sides of relations lead from each other near a point within a step, in units of
    tolerances; inf where a condition of ``when`` becomes true on the other one."""
    here, there, worst = work.k[0], work.k[1], 0.0
    for side in range(2):
        _moved_by(code, work, relations, t, x, part * LEAST_ERROR, 0.0, side,
                  relations.looks[SPARE])
        work.k[2, :] = work.k[3, :] = work.k[WORK]
        project_in_place(code, work, t, work.k[2])
        slope_at(code, work, t, work.k[2], here)
        _turn(relations, switches)
        project_in_place(code, work, t, work.k[3])
        slope_at(code, work, t, work.k[3], there)
        if resets.before.size:
            values_at(code, work, resets.assigned, t, work.k[3], resets.values)
        _turn(relations, switches)
        for i in range(resets.before.size):
            if resets.values[i] > 0.5 and not resets.before[i] > 0.5:
                worst = np.inf
        for i in range(x.size):
            change = step * abs(there[i] - here[i]) / work.k[ATOL, i]
            if not change <= worst:
                worst = change if change < np.inf else np.inf
    return worst


@machine_code
def _turn(relations: Relations, switches: Switches) -> None:
    """Hold the other side of relations that may be beyond zero, or the side before."""
    for r in range(switches.m.size):
        if relations.looks[MOVED, r] > 0.0:
            switches.m[r] = 1.0 - switches.m[r]


@machine_code
def _passes(code: Code, work: Workspace, relations: Relations, switches: Switches, t: float,
            x: Vector, step: float, r: int) -> bool:
    """Whether a relation is on a side by rounding only, and on its way to the one that it holds.

    Where a piecewise law is continuous, both of its branches agree on where it goes; where several
    switch together (the diodes of a bridge), each is zero but for rounding. As long as the mode is
    held, rounding may go on to put it on the wrong side.
    """
    _move(code, work, relations, switches, t, x, OF_TOLERANCE * JUST_SWITCHED, 1.0 / OF_TOLERANCE)
    doubt = max(relations.looks[MOVED, r], ROUNDING * relations.looks[LARGEST, r])
    if not abs(switches.now[r]) <= doubt:
        return False
    _look_ahead(code, work, relations, t, x, step)
    if abs(relations.looks[SPARE, r] - switches.now[r]) <= doubt:  # which rounding may tell
        _look_ahead(code, work, relations, t, x, step / PART_AHEAD)
    going = relations.looks[SPARE, r] - switches.now[r]
    if switches.m[r] > 0.5 and going > 0.0 or switches.m[r] < 0.5 and going < 0.0:
        relations.slack[r] = doubt
        return True
    return False


@machine_code
def _look_ahead(code: Code, work: Workspace, relations: Relations, t: float, x: Vector, step: float
                ) -> None:
    """Fill in, as SPARE, crossing functions a little later."""
    k, h = work.k, PART_AHEAD * step
    slope, point, atol = k[0], k[WORK], k[ATOL]
    slope_at(code, work, t, x, slope)
    for i in range(x.size):
        most = DIRECTION_STEP * max(abs(x[i]), OF_TOLERANCE * atol[i])
        if abs(slope[i]) * h > most:
            h = most / abs(slope[i])
    for i in range(x.size):
        point[i] = x[i] + h * slope[i]
    _crossing_functions(code, work, relations, t + h, point, relations.looks[SPARE])


@machine_code
def _switch_wrong(code: Code, work: Workspace, relations: Relations, switches: Switches, t: float,
                  x: Vector, step: float) -> int:
    """Switch relations that do not hold as assumed; how many.

    What has just crossed stays as it is while it is zero but for rounding.
    """
    turns, count = switches.turns, 0
    for r in range(switches.m.size):
        turns[r] = not (switches.timed[r] or switches.joint[r] or switches.indirect[r]) and (
            _is_wrong(switches, relations, r))
        if turns[r] and switches.frozen[r]:
            size = max(JUST_SWITCHED, abs(switches.first[r]))
            turns[r] = abs(switches.now[r]) > JUST_SWITCHED * size and not _passes(
                code, work, relations, switches, t, x, step, r)
    for r in range(switches.m.size):
        if turns[r]:
            switches.m[r] = 1.0 - switches.m[r]
            count += 1
    return count


@machine_code
def _is_wrong(switches: Switches, relations: Relations, r: int) -> bool:
    """Whether a relation does not hold as assumed."""
    g, holds = switches.now[r], switches.m[r] > 0.5
    if g == 0.0:
        return holds != switches.at_zero[r]
    return (g if holds else -g) < -max(relations.slack[r],
                                       ROUNDING * (abs(switches.first[r]) + TINY))


@machine_code
def _let_move(code: Code, work: Workspace, relations: Relations, switches: Switches, t: float,
              x: Vector) -> None:
    """Allow relations that have rested so far to be as far from zero as rounding has left them."""
    slack, moved, some = relations.slack, relations.looks[MOVED], False
    for r in range(switches.m.size):
        some |= _has_rested(switches, r)
    if not some:
        return
    _move_by_last_bits(code, work, relations, switches, t, x)
    for r in range(switches.m.size):
        if _has_rested(switches, r):
            slack[r] = 0.0 if abs(switches.now[r]) > moved[r] else moved[r]  # it has jumped


@machine_code
def _has_rested(switches: Switches, r: int) -> bool:
    """Whether a relation looks at what a mode has held at zero up to now."""
    return switches.resting[r] and switches.first[r] == 0.0


@machine_code
def _as_zero(switches: Switches, relations: Relations, r: int) -> float:
    """How much of a crossing function may be rounding."""
    return max(JUST_SWITCHED * max(JUST_SWITCHED, abs(switches.first[r])),
               ROUNDING * relations.looks[LARGEST, r])
