"""Which relations wait for modes, and which look at nothing but what modes hold at zero?

A relay on a voltage behind a bridge, a comparator that gates a switch: what they look at jumps with
any mode, so they are judged once modes are decided. A relation that equations contain, such as the
piece of a diode, is decided together with the modes.

The current behind an open diode and the slip of a clutch that sticks are zero, but computed from
other values, so that their last digits go up and down: a ``when(i > 0, …)`` would count rounding.
Where a crossing function is a combination of flows and efforts, it is exactly what is left without
these while all of them are held at zero. Only those are looked at that no equation contains.
"""

from __future__ import annotations

from dataclasses import dataclass

import casadi as ca
import numpy as np

from ...numerics.arrays import Array, Flags, Indices
from ...numerics.rewriting import contained, symbols_in
from ...system import System
from ..complementarity import components
from ..mode_state import ModeState
from .elements import elements_of
from .law_expressions import expressions_of

__all__ = ["RestingRelations", "indirect_relations", "relations_of_efforts", "with_resting"]

DRAWS = 3  # sets of parameters for which a combination must be one
SPREAD = 0.61803398875  # its multiples modulo 1 fill an interval evenly
MISSED = 1e-9  # of a row: what a combination may miss
MOST_SOLVES = 200  # for one relation
MOST_ENTRIES = 2_000_000  # of the matrix of all flows and efforts: beyond it none are looked for


def relations_of_efforts(system: System) -> Flags:
    """Relations that follow set-valued efforts, at once or through loops."""
    tape = system.tape
    return system.once("relations of efforts", lambda: np.array(ca.which_depends(
        tape.crossings, ca.vertcat(tape.u, tape.z), 1, True), dtype=bool))


def indirect_relations(system: System) -> Flags:
    """Relations that follow set-valued efforts and that no equation contains."""
    return system.once("indirect relations", lambda: (
        relations_of_efforts(system) & _looked_at_alone(system)))


def _looked_at_alone(system: System) -> Flags:
    """Relations that no equation contains."""
    tape, laws = system.tape, expressions_of(system)
    return ~contained(tape.m, ca.vertcat(
        tape.slope, tape.residual, tape.constraints, laws.flow, laws.effort, laws.bounds))


@dataclass(frozen=True, eq=False)
class RestingRelations:
    """Relations that are combinations of flows and efforts of elements."""

    which: Indices  # their numbers; the same several times, where it may rest in several ways
    flows: Flags  # flows, efforts: (which, elements) what it is a combination of
    efforts: Flags
    at_rest: ca.SX  # what its crossing function is while all of that is zero

    @classmethod
    def of(cls, system: System) -> RestingRelations:
        """Return the relations of a system that combine flows and efforts of elements."""
        return system.once("resting relations", lambda: _found(system))

    def resting(self, modes: Indices) -> Flags:
        """Which of them rest in some modes."""
        moves: Flags = (self.flows & (modes != 0) | self.efforts & (modes == 0)).any(axis=1)
        return ~moves

    def put_in(self, crossings: ca.SX, modes: ca.SX) -> ca.SX:
        """Replace the crossing functions of relations that rest in these modes, as expressions."""
        if not len(self.which):
            return crossings
        out = ca.vertsplit(crossings)
        for k, r in enumerate(self.which.tolist()):
            moves = ca.SX(0)
            for e in np.flatnonzero(self.flows[k]).tolist():
                moves = ca.logic_or(moves, modes[e] != 0)
            for e in np.flatnonzero(self.efforts[k]).tolist():
                moves = ca.logic_or(moves, modes[e] == 0)
            out[r] = ca.if_else(moves, out[r], self.at_rest[k])
        return ca.vertcat(*out)


def with_resting(system: System, g: Array, state: ModeState, t: float, *point: Array) -> Array:
    """Crossing functions, with those that rest in the present modes as they are there."""
    if not state.decided:
        return g
    known = RestingRelations.of(system)
    rests = known.resting(state.solved_modes)
    if rests.any():
        at_rest = system.once("crossings at rest", lambda: system.function(
            "resting", ca.densify(known.at_rest)))(t, *point)
        g = g.copy()
        g[known.which[rests]] = at_rest[rests]
    return g


def _found(system: System) -> RestingRelations:
    from scipy.sparse import csr_array

    tape, n = system.tape, elements_of(system).size
    moving = ca.vertcat(tape.x, tape.z, tape.u)
    nothing = np.zeros((0, n), dtype=bool)
    none = RestingRelations(np.zeros(0, dtype=int), nothing, nothing, ca.SX(0, 1))
    if not (n and system.nm):
        return none
    laws, mine = expressions_of(system), np.flatnonzero(_looked_at_alone(system))
    if not len(mine) or 2 * n * moving.numel() > MOST_ENTRIES:
        return none
    given = ca.vertcat(laws.flow, laws.effort)
    # an effort is none while its element is open: that of a diode, a switch, a contact
    none_open = [b.is_zero() and (f.is_zero() or f.is_inf()) for b, f in zip(
        ca.vertsplit(laws.back), ca.vertsplit(laws.forth), strict=True)]
    constant = symbols_in(tape.p)
    straight, rows = _straight(tape.crossings[mine.tolist()], moving, constant)
    usable, of_elements = _straight(given, moving, constant)
    usable &= np.append(np.ones(n, dtype=bool), none_open)
    if (matrices := _drawn(tape.p, rows, of_elements)) is None:
        return none
    wanted, others = matrices
    still = ca.DM.zeros(moving.numel())
    alone, left = (ca.substitute(e, moving, still) for e in (tape.crossings[mine.tolist()], given))
    which, uses, at_rest = [], [], []
    entries = others.any(axis=0) & usable[:, None]
    graph = csr_array(entries.astype(float))
    part = components(graph.T @ graph)[1]
    for k in np.flatnonzero(straight).tolist():
        near = np.isin(part, part[wanted[:, k].any(axis=0)])  # what shares something with it
        row, linked = wanted[:, k, near], others[:, :, near]
        for used in _supports(row, linked, np.flatnonzero(entries[:, near].any(axis=1))):
            weights = _combinations(row, linked[:, used])
            value = None if weights is None else _at_rest(alone[k], left[used.tolist()], weights)
            if value is not None:
                which.append(mine[k])
                uses.append(np.isin(np.arange(2 * n), used))
                at_rest.append(value)
    if not which:
        return none
    flows, efforts = np.hsplit(np.array(uses), 2)
    return RestingRelations(np.array(which), flows, efforts, ca.vertcat(*at_rest))


def _straight(rows: ca.SX, moving: ca.SX, constant: set[int]) -> tuple[Flags, ca.SX]:
    """Which rows follow what moves linearly, by parameters alone, and the derivatives of these."""
    linear, depend = (np.array(ca.which_depends(rows, moving, order, True), dtype=bool)
                      for order in (2, 1))
    by = ca.jacobian(rows, moving)
    known = np.array([depend[k] and not linear[k] and symbols_in(by[k, :]) <= constant
                      for k in range(rows.numel())], dtype=bool)
    return known, ca.mtimes(ca.diag(ca.DM(known.astype(float))), by)


def _drawn(p: ca.SX, rows: ca.SX, of_elements: ca.SX) -> tuple[Array, Array] | None:
    """Derivatives of relations and of elements, (sets of parameters, rows, moving)."""
    function = ca.Function("rows", [p], [ca.densify(rows), ca.densify(of_elements)])
    drawn = [0.5 + SPREAD * (k + 1) * np.arange(1, p.numel() + 1) % 1.0 for k in range(DRAWS)]
    found = [[matrix.full() for matrix in function(values)] for values in drawn]
    wanted, given = (np.array(matrices) for matrices in zip(*found, strict=True))
    if not (np.isfinite(wanted).all() and np.isfinite(given).all()):
        return None
    return wanted, given


def _supports(wanted: Array, given: Array, usable: Indices) -> list[Indices]:
    """The least sets of rows that a row is a combination of, as far as they are soon found.

    Those of flows alone and of efforts alone, or else of both.
    """
    usable = usable[np.abs(given[0, usable]).max(axis=1, initial=0.0) > 0]
    efforts = usable >= given.shape[1] // 2
    return [used for some in (usable[efforts], usable[~efforts])
            for used in _least(wanted[0], given[0], some)] or _least(wanted[0], given[0], usable)


def _least(wanted: Array, given: Array, usable: Indices) -> list[Indices]:
    found: list[Indices] = []
    waiting, tried, solves = [usable], set(), 0
    while waiting and solves < MOST_SOLVES:
        every = waiting.pop(0)
        if every.tobytes() in tried:
            continue
        tried.add(every.tobytes())
        solves += 1
        weights = _combination(wanted, given[every])
        if weights is None:
            continue
        some = every[np.abs(weights) > MISSED * np.abs(weights).max()]
        for e in some[::-1].tolist():  # none may be left out
            solves += 1
            if _combination(wanted, given[rest := some[some != e]]) is not None:
                some = rest
        if not any(np.array_equal(some, one) for one in found):
            found.append(some)
        waiting += [every[every != e] for e in some]
    return found


def _combination(wanted: Array, given: Array) -> Array | None:
    """What a row takes of others; None where it is no combination of them."""
    if not len(given):
        return None
    size = np.abs(given).max(axis=1, keepdims=True)
    weights: Array = np.linalg.lstsq((given / size).T, wanted, rcond=MISSED)[0] / size[:, 0]
    missed = np.abs(wanted - weights @ given).max()
    return weights if missed <= MISSED * np.abs(wanted).max() else None


def _combinations(wanted: Array, given: Array) -> Array | None:
    """What a row takes of others, (sets of parameters, others); None where a set has none."""
    found = [_combination(*pair) for pair in zip(wanted, given, strict=True)]
    return np.array(found) if all(weights is not None for weights in found) else None


def _at_rest(alone: ca.SX, left: ca.SX, weights: Array) -> ca.SX | None:
    """What is left of a relation that moves ``alone`` by nothing, where elements have ``left`` what
    does not move; None where how much of that depends on parameters."""
    if left.is_zero():
        return alone
    if np.ptp(weights, axis=0).max() > MISSED:
        return None
    whole = np.round(weights[0])
    weights = np.where(np.abs(weights[0] - whole) <= MISSED, whole, weights[0])
    return alone - ca.dot(ca.DM(weights), left)
