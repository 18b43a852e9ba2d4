"""Elements of which machine code predicts modes: what it knows of them, and room for the search."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from ..machine.functions import filled
from ..numerics.arrays import Array, Cube, Flags, Indices, Matrix, Vector
from .joint_choice import AT_REST

if TYPE_CHECKING:
    from ..nonsmooth.modes.parts import PredictedParts

__all__ = ["BACK", "EFFORT", "FLOW", "FORTH", "GAP", "HIGH", "LOW", "MOST_PREDICTED", "OWN", "RATE",
           "VALUES", "PredictedElements", "predicted_elements"]  # fmt: skip

FLOW, LOW, HIGH, BACK, FORTH, RATE, EFFORT, GAP, OWN = range(9)
VALUES = 9  # of an element, one row each
MOST_PREDICTED = 4  # elements whose bounds move with efforts: up to 3^4 determinants


class PredictedElements(NamedTuple):
    """Elements of set-valued laws whose efforts depend on each other."""

    modes: Vector  # which machine code reads
    guess: Vector  # efforts that a solution begins with, which it reads
    free: Vector  # 0 for states that stuck elements hold, which it reads
    whole: Vector  # (2 parts + 1,) determinants, of all and of what slides, and the allowed gap
    slack: Vector  # efforts that closed contacts may pull with, likewise
    present: int  # address of what fills ``room``
    room: Vector  # everything that elements come to: what follows are parts of it
    found: Matrix  # (VALUES, elements)
    d: Matrix  # change of rates, by efforts, with its sign turned
    bounds: Cube  # (4, …) change of the bounds low, high, back, forth, by efforts
    push: Matrix  # (elements, states) change of slopes by efforts
    share: Vector  # (3 parts,) those at the present modes, or pivots, and of what sticks
    part: Indices  # (elements,) of the parts of the equations that efforts are solved from
    leader: Indices  # (elements,) who decides; NOBODY where nothing ever moves
    sense: Indices  # (elements,) 1, or -1 where a leader's flow has the other sign
    contact: Flags
    holds: Flags  # elements that hold states where they are stuck
    dependent: Flags  # (1,) whether some bounds depend on efforts
    in_a_circle: Flags  # (1,) whether what slides may load itself
    bends: Flags  # (elements,) whether bounds bend as efforts change
    bent_by: Matrix  # (elements, elements) 1 where they may do so with an effort
    flow_starts: Indices  # (elements + 1,) where the states of a flow begin
    flow_states: Indices  # states that a flow depends on
    reach: Vector  # size of the change of the flow by each of them
    positions: Indices  # states that gaps are made of
    scale: Vector  # (states,) nominal values
    kinds: Indices  # (elements,) who are compared with each other
    fast: Vector  # (kinds,) their largest flow so far
    last: Vector  # (1,) time of the last decision
    members: Indices  # (elements,) room: those of the part that is decided on
    sizes: Indices  # (MOST_PREDICTED,) room: how many rows there are to choose from
    chosen: Indices  # (MOST_PREDICTED,) room: which of them is taken
    rows: Cube  # (MOST_PREDICTED, 3, MOST_PREDICTED) room: these rows
    matrix: Matrix  # (elements, elements) room
    right: Vector  # (elements,) room
    unit: Vector  # (elements,) ones
    order: Indices  # (elements,) room: the order of the matrix's rows
    work: Vector  # (elements,) room
    block: Matrix  # (elements, elements) room: d of what rests in a part
    rest: Matrix  # (AT_REST, elements) room: what rests
    still: Indices  # (elements,) room: which these are
    doubtful: Indices  # (elements,) room: 1 for those that have come to the end of their modes
    passing: Indices  # (elements,) room: 1 for those that pass a dead centre
    taken: Indices  # (elements,) room
    own: Vector  # (elements,) room


def predicted_elements(parts: PredictedParts, q: Array, present: int, start: int
                       ) -> PredictedElements:
    """Elements as machine code decides on them.

    Parameters
    ----------
    parts : what is known of them
    q : what is constant between two events; modes and what follows stand from ``start`` on
    present : address of what they come to
    """
    n, nx, count = len(parts.contact), len(parts.scale), int(parts.part.max()) + 1
    modes, guess, free, whole, slack = np.split(
        q[start : start + 3 * n + nx + 2 * count + 1], np.cumsum([n, n, nx, 2 * count + 1]))
    sizes = [VALUES * n, n * n, 4 * n * n, n * nx, 3 * count]
    room = np.empty(sum(sizes))
    found, d, bounds, push, share = np.split(room, np.cumsum(sizes)[:-1])
    number = np.zeros(MOST_PREDICTED, dtype=np.int64)
    return filled(
        PredictedElements, parts, modes=modes, guess=guess, free=free, whole=whole, slack=slack,
        present=present, room=room, found=found.reshape(VALUES, n), d=d.reshape(n, n),
        bounds=bounds.reshape(4, n, n), push=push.reshape(n, nx), share=share,
        dependent=np.array([parts.dependent]), in_a_circle=np.array([parts.in_a_circle]),
        fast=parts.fast.copy(), last=np.array([-np.inf]),
        members=np.zeros(n, dtype=np.int64), sizes=number,
        chosen=number.copy(), rows=np.empty((MOST_PREDICTED, 3, MOST_PREDICTED)),
        matrix=np.empty((n, n)), right=np.empty(n), unit=np.ones(n),
        order=np.zeros(n, dtype=np.int64), work=np.empty(n), block=np.empty((n, n)),
        rest=np.empty((AT_REST, n)), still=np.zeros(n, dtype=np.int64),
        doubtful=np.zeros(n, dtype=np.int64), passing=np.zeros(n, dtype=np.int64),
        taken=np.zeros(n, dtype=np.int64), own=np.empty(n))
