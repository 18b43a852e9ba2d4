"""What the plain loops of Moreau-Jean steps are given, and where they work."""

from __future__ import annotations

from typing import NamedTuple

from ..numerics.arrays import Flags, Indices, Matrix, Vector

__all__ = ["Bodies", "Kinds", "Record", "Room"]


class Bodies(NamedTuple):
    """The network without its set-valued laws: functions of (t, x, p, m, d).

    ``…_starts`` say where columns or rows begin among nonzeros of derivatives, ``…_rows`` and
    ``…_columns`` the numbers of what they hold.
    """

    slope: int  # what bodies do
    slope_x: int  # its derivatives by states, column by column
    seen: int  # what contacts see of bodies
    seen_x: int  # its derivatives by states, row by row
    slope_w: int  # derivatives of slopes by inputs, column by column
    slope_starts: Indices
    slope_rows: Indices
    seen_starts: Indices
    seen_columns: Indices
    slope_w_starts: Indices
    slope_w_rows: Indices
    # input_starts, inputs, input_signs: per force that contacts compute, the inputs it adds to
    input_starts: Indices
    inputs: Indices
    input_signs: Vector
    pushed: Vector  # 1 for velocities, which forces change at once
    scale: Vector
    p: Vector
    m: Vector
    d: Vector
    front_lists: Indices  # of factors (:mod:`blocks.native.front_lists`)


class Kinds(NamedTuple):
    """Components with set-valued laws, kind by kind; what is of instances stands end to end."""

    gap: Indices  # gap, law: functions of a row of the table of arguments: gaps, and all else
    law: Indices
    # number, seen, laws, contacts, forces, width, results: per kind, how many instances it has,
    # what an instance sees, its laws, those with a gap, forces, arguments, and values of ``law``
    number: Indices
    seen: Indices
    laws: Indices
    contacts: Indices
    forces: Indices
    width: Indices
    results: Indices
    # alone, bent: whether instances act without a contact that presses, and whether bounds are no
    # affine functions of efforts
    alone: Indices
    bent: Indices
    seen_at: Indices  # seen_at, seen_sign, force_at, force_sign, element: of instances
    seen_sign: Vector
    force_at: Indices
    force_sign: Vector
    element: Indices
    # first_seen, first_force, first_element, first_argument, first_gap: where a kind's begin
    first_seen: Indices
    first_force: Indices
    first_element: Indices
    first_argument: Indices
    first_gap: Indices
    is_contact: Flags  # of elements
    table: Vector  # arguments of all instances


class Room(NamedTuple):
    """Where a step is worked out.

    ``kind`` and ``row`` are those of the instances that act, ``first`` is the first element of
    each, ``flow_states`` and ``pushed_states`` are the velocities that its flows depend on and the
    states that it acts on, with values law by law; ``columns`` say who acts on a state. What is of
    elements that act has their number: the ``element``, its ``flow`` before and at the end, its
    gap, bounds at no effort and so on. ``terms`` are those of the series that has led an instance's
    push through smooth forces, ``neighbours`` the instances that act on each other (``linked``),
    ``ordered`` the instances, with their terms, of the last order of elimination. ``counts`` are
    evaluations of slopes and of Jacobians, factorizations, and how many instances are ordered;
    ``length`` is that of the step of the present factors.
    """

    at: Vector
    x: Vector
    end: Vector
    start: Vector
    slope: Vector
    step: Vector
    work: Vector
    jacobian: Vector
    new_jacobian: Vector
    length: Vector
    fronts: Vector
    given: Matrix
    term: Matrix
    next_term: Matrix
    terms: Indices
    seen: Vector
    seen_between: Vector
    seen_ahead: Vector
    seen_x: Vector
    slope_w: Vector
    behind: Vector
    ahead: Vector
    kind: Indices
    row: Indices
    values: Vector
    first: Indices
    flow_starts: Indices
    flow_states: Indices
    flow_values: Matrix
    push_starts: Indices
    pushed_states: Indices
    push_values: Matrix
    slot: Indices
    column_starts: Indices
    columns: Indices
    entries: Indices
    linked: Flags
    neighbour_starts: Indices
    neighbours: Indices
    offset: Indices
    ordered: Indices
    element: Indices
    flow_before: Vector
    flow: Vector
    gap: Vector
    restitution: Vector
    rebound: Vector
    low: Vector
    high: Vector
    by_low: Matrix
    by_high: Matrix
    effort: Vector
    last: Vector
    closed: Flags
    apart: Flags
    modes: Indices
    counts: Indices


class Record(NamedTuple):
    """Ends of steps, and efforts of all elements over them."""

    ends: Vector
    rows: Matrix
    efforts: Matrix
