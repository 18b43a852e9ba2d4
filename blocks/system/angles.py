"""How often does what is periodic in a state come again while the state moves on?

``sin(60 * angle)`` passes all its values within about a tenth of a radian. No error tells of that
where it decides on a condition and moves nothing: a step may be as long as the angle moves evenly.
What stands in a sine, a cosine or a tangent tells how many periods pass.
"""

from __future__ import annotations

import casadi as ca
import numpy as np

from ..assembly import Tape
from ..assembly.network import Family
from ..language.kernel import Kernel
from ..numerics.arrays import Flags

__all__ = ["angles_of", "moves_at_once"]

PERIODIC = {ca.OP_SIN, ca.OP_COS, ca.OP_TAN}


def angles_of(tape: Tape, families: list[Family]) -> ca.SX:
    """Return what sines, cosines and tangents are of, where it follows from states at once."""
    rows = ca.vertcat(ca.SX(0, 1), *(
        tape.writer.kernel_row(f, angle).T for f, family in enumerate(families)
        for angle in _angles_in(family.kernel)))
    if not rows.numel():
        return rows
    moves = moves_at_once(tape, rows)
    places = {row.__hash__(): k for k, row in enumerate(rows.elements())}
    return rows[[k for k in places.values() if moves[k]]]


def moves_at_once(tape: Tape, rows: ca.SX) -> Flags:
    """Whether rows move with the states, and need nothing that is solved for."""
    moves = np.array(ca.which_depends(rows, tape.x, 1, True), dtype=bool)
    return moves & ~np.array(
        ca.which_depends(rows, ca.vertcat(tape.z, tape.u), 1, True), dtype=bool)


def _angles_in(kernel: Kernel) -> list[ca.SX]:
    """What stands in them in the laws and conditions of a class."""
    expressions = [kernel.unfolded(sx) for sx in (
        *(law.residual for law in kernel.laws), *(crossing for crossing, _ in kernel.relations),
        *(sx for law in kernel.set_valued for sx in law.given))]
    function = ca.Function("said", ca.symvar(ca.veccat(ca.SX(), *expressions)), expressions)
    nodes = function.instructions_sx()
    return [nodes[k].dep(0) for k in range(function.n_instructions())
            if function.instruction_id(k) in PERIODIC]
