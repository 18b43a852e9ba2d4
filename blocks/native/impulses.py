"""How do impulses change the states, and which of them bring what rests to rest?"""

from __future__ import annotations

from ..machine.functions import machine_code
from ..numerics.arrays import Vector
from ..numerics.tolerances import FLOW_NONE, PROXIMAL_POINT
from .kept_factors import solve_kept
from .lu import factorize, solve
from .set_valued_elements import FLOW, SetValuedElements, is_shared
from .steps import Code, Workspace, project_in_place, values_at

__all__ = ["drifts", "push", "stop_island"]


@machine_code
def drifts(elements: SetValuedElements, count: int) -> bool:
    """Whether what rests in an island moves by the error of steps.

    Who is let go would be off by it, and may be beyond the end of what comes.
    """
    for k in range(count):
        i = elements.members[k]
        if elements.modes[i] == 0.0 and abs(elements.found[FLOW, i]) > (
                FLOW_NONE * elements.fast[elements.kinds[i]]):
            return True
    return False


@machine_code
def stop_island(code: Code, work: Workspace, elements: SetValuedElements, t: float, x: Vector,
                e: int, count: int) -> bool:
    """Bring the flows of what rests in the island of an element to zero; whether that can be."""
    index, matrix, right, modes = elements.members, elements.matrix, elements.right, elements.modes
    right[:] = 0.0
    if elements.k.size > 0:
        island, flows = elements.part[e], elements.work
        start, size = elements.starts[island], elements.starts[island + 1] - elements.starts[island]
        for a in range(size):
            i = elements.parted[start + a]
            sticks = modes[i] == 0.0 and elements.moves[i]
            flows[a] = elements.found[FLOW, i] if sticks else 0.0
        solve_kept(elements, island, flows)
        for a in range(size):
            right[elements.parted[start + a]] = flows[a]
        push(code, work, elements, t, x)
        return True
    rests, shared = 0, is_shared(elements, e)
    for k in range(count):
        if modes[index[k]] == 0.0:
            elements.own[rests] = elements.found[FLOW, index[k]]
            column = 0
            for a in range(count):
                if modes[index[a]] == 0.0:
                    matrix[rests, column] = elements.d[index[k], index[a]]
                    column += 1
            if shared:  # where several have one flow
                matrix[rests, rests] *= 1.0 + PROXIMAL_POINT
            rests += 1
    if factorize(matrix, elements.unit[:rests], elements.order) == 0.0:
        return False
    solve(matrix, elements.order, elements.own[:rests], elements.work)
    rests = 0
    for k in range(count):
        if modes[index[k]] == 0.0:
            right[index[k]] = elements.own[rests]
            rests += 1
    push(code, work, elements, t, x)
    return True


@machine_code
def push(code: Code, work: Workspace, elements: SetValuedElements, t: float, x: Vector) -> None:
    """Change the states as impulses of the elements do, which stand in ``right``.

    What follows work, such as a temperature, does so at the mean of the flows before and after, as
    in :mod:`blocks.nonsmooth.modes.impacts`.
    """
    if elements.turns[0]:
        elements.before[:] = x
        _push_by(elements, x, 0.5)
        values_at(code, work, elements.present, t, x, elements.room)
        x[:] = elements.before
    _push_by(elements, x, 1.0)
    project_in_place(code, work, t, x)


@machine_code
def _push_by(elements: SetValuedElements, x: Vector, fraction: float) -> None:
    """Change the states as a share of these impulses does, by the pushes that are known."""
    for e in range(elements.modes.size):
        impulse = fraction * elements.right[e]
        if impulse != 0.0:
            for i in range(elements.free.size):
                x[i] += impulse * elements.push[e, i]
