"""Gap functions of unilateral contacts: which ones overlap, how far may closed ones drift apart?

Knows contacts as gaps of states only. Gaps that have drifted open are closed by
:mod:`blocks.nonsmooth.modes.drift_correction`.
"""

from __future__ import annotations

from collections.abc import Iterator

import casadi as ca
import numpy as np

from ...exceptions import InitialisationError
from ...numerics.arrays import Array, Indices
from ...numerics.tolerances import ALLOWED_DRIFT, CLEAR
from ...system import Evaluator, Problem, System
from ...units import unit
from .elements import Elements

__all__ = [
    "APART", "RIGID", "TWO_BODIES", "allowed_gap", "gap_function", "gap_states",
    "gaps_of", "largest_position", "open_gap", "overlaps", "positions_of", "refuse_overlap",
]  # fmt: skip

APART = ("Start with the bodies apart, a stop between its lower_bound and upper_bound; of several "
         "places of contact a guess tells which is meant.")  # fmt: skip
RIGID = ("lies between parts that cannot move towards each other, that are one and the same, or "
         "whose motion is prescribed: no force of the contact can keep them apart.")  # fmt: skip
TWO_BODIES = "Connect it to two bodies that forces can move, let it yield, or leave it out."


def largest_position(problem: Problem) -> float:
    """What gaps are compared with: the largest position, or its nominal value."""
    states = gap_states(problem.system)
    return float(np.maximum(np.abs(problem.x[states]), problem.scale_x[states]).max(initial=0.0))


def allowed_gap(problem: Problem) -> float:
    """How far closed contacts may drift apart."""
    return ALLOWED_DRIFT * largest_position(problem)


def open_gap(gap: ca.SX, flow: ca.SX) -> ca.SX:
    """How far an open contact is from its end: one that parts overlaps by the error of steps, and
    is as near as can be. Where steps have gone through it, looks beside that see a dip."""
    return ca.if_else(ca.logic_and(gap <= 0, flow <= 0), np.finfo(float).tiny, gap)


def gap_states(system: System) -> Indices:
    """States that gaps are made of: a pressure or a heat beside them tells nothing of a gap's size.

    Where gaps follow unknowns they are all that may be positions.
    """
    return system.once("gap states", lambda: _gap_states(system))


def _gap_states(system: System) -> Indices:
    gaps, tape = ca.densify(gaps_of(system)), system.tape
    if system.nz and any(ca.which_depends(gaps, tape.z, 1, False)):
        return positions_of(system)
    return np.flatnonzero(np.array(ca.which_depends(gaps, tape.x, 1, False), dtype=bool))


def positions_of(system: System) -> Indices:
    """States that efforts change by way of velocities only."""
    return system.once("positions", lambda: np.flatnonzero(~np.array(
        ca.which_depends(system.tape.slope, system.tape.u, 1, True), dtype=bool)))


def refuse_overlap(system: System, elements: Elements, gaps: Array, index: Indices, far: float
                   ) -> None:
    """Stop at contacts ``index`` of parts that overlap at the start, with given gaps.

    An InitialisationError names the contact.
    """
    for k in np.flatnonzero(gaps < -CLEAR * far):
        f = elements.owners[int(index[k])][0]
        raise InitialisationError(
            elements.name(int(index[k])),
            f"its two sides overlap by {_size(system, f, -gaps[k])} at the start.", APART,
            code="contact.overlap", depth=float(-gaps[k]),
        )  # fmt: skip


def overlaps(system: System, problem: Problem, t: float) -> Iterator[tuple[str, str]]:
    """Contacts whose sides overlap at a point, and by how much."""
    values, far = gap_function(system)(*problem.arguments(t)), largest_position(problem)
    for k in np.flatnonzero((values < -CLEAR * far) & np.isfinite(values)):
        f, i = system.network.contacts[k]
        yield system.network.families[f].path(i), _size(system, f, -values[k])


def gap_function(system: System) -> Evaluator:
    """Return the gaps of a system's contacts as a compiled function."""
    return system.once("gaps", lambda: system.function("gaps", ca.densify(gaps_of(system))))


def gaps_of(system: System) -> ca.SX:
    """All gaps, as a column."""
    return ca.vertcat(ca.SX(0, 1), *(
        system.tape.writer.kernel_row(f, law.gap).T
        for f, _, law in system.network.set_valued if law.gap is not None))


def _size(system: System, f: int, depth: float) -> str:
    """An overlap in mm; in mrad for the contacts whose effort is a torque."""
    kernel = system.network.families[f].kernel
    efforts = {kernel.variables[law.effort].unit.dimension for law in kernel.set_valued
               if law.is_contact}  # fmt: skip
    return f"{1e3 * depth:.4g} {'mrad' if efforts == {unit('N*m').dimension} else 'mm'}"
