"""How does a network move when some components are taken off and their forces are given?

The components that are taken off enter by what they add to the balances of nodes, and
by what other equations read of them; both are inputs of the bare network. With tens of
thousands of contacts between a few bodies the bare network is small, and so are its
derivatives. Components that do more than give an effort (the spring in a stop, the pressure in a
cylinder) stay where they are: inputs are the efforts themselves then.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import casadi as ca
import numpy as np
from scipy.sparse import csc_matrix

from ...assembly.flatten import Group
from ...assembly.reduced import Reduced, Singular
from ...assembly.tape import Tape, write_tape
from ...assembly.writer import Writer
from ...language.expression import TIME
from ...numerics.arrays import Array, Indices
from ...system.evaluator import Evaluator
from ...system.problem import Problem
from ...system.system import System

__all__ = ["FreeBodies", "bare_network", "whole_network"]


class Bare(NamedTuple):
    """Expressions of a bare network."""

    w: Any  # inputs, one per balance that has lost terms, then one per class that others read
    slope: Any  # d x / d t as expression of x, w and what else the tape depends on
    # sparse matrix (inputs, classes), from values of classes taken off to ``w``
    gathers: csc_matrix


class FreeBodies:
    """How bodies move without their contacts, and under forces of these.

    ``bare`` is the network without the components that have such laws, ``seen`` are classes that
    contacts look at.
    """

    def __init__(self, system: System, bare: Bare, seen: Indices) -> None:
        tape = system.tape
        self.gathers = bare.gathers  # from values of classes that contacts compute to these inputs
        w0 = ca.SX.zeros(bare.w.numel())
        free = [TIME, tape.x, tape.p, tape.m, tape.d]
        slope = ca.substitute(bare.slope, bare.w, w0)
        # slope_of, seen_of: functions of (t, x, p, m, d): slopes, and what is seen
        self.slope_of = Evaluator(ca.Function("slope", free, [ca.densify(slope)]))
        # slope_x_of, slope_w_of, seen_x_of: derivatives by states and inputs of the bare network
        self.slope_x_of = _sparse(free, ca.jacobian(slope, tape.x))
        by_w = ca.substitute(ca.jacobian(bare.slope, bare.w), bare.w, w0)
        self.slope_w_of = _sparse(free, by_w)
        self.pushed = np.zeros(system.nx)  # per state, 1 for velocities: what forces change at once
        self.pushed[np.array(by_w.sparsity().row(), dtype=int)] = 1.0
        values = tape.values[seen.tolist()]
        self.seen_of = Evaluator(ca.Function("seen", free, [ca.densify(values)]))
        self.seen_x_of = _sparse(free, ca.jacobian(values, tape.x))

    def seen(self, problem: Problem, t: float, y: Array) -> Array:
        """Values of the classes that contacts look at."""
        if problem.delays is not None:
            problem.delays.fill(problem.d, t)
        return self.seen_of(t, y * problem.scale, problem.p, problem.m, problem.d)


def bare_network(tape: Tape, families: list[int]) -> Bare | None:
    """The network without some families; None where these cannot be taken off."""
    reduced = tape.reduced
    lost = _computed_by(tape, families)
    writer = _BareWriter(reduced, tape.writer.parameters, set(families), lost)
    try:
        bare = write_tape(writer)
    except Singular:
        return None
    if bare.z.numel() or ca.depends_on(bare.slope, writer.hole):
        return None
    old = ca.vertcat(bare.x, bare.p, bare.m, bare.d)
    new = ca.vertcat(tape.x, tape.p, tape.m, tape.d)
    return Bare(writer.w, ca.substitute(bare.slope, old, new), writer.gathers)


def whole_network(tape: Tape) -> Bare | None:
    """The network with efforts as inputs; None where slopes are no affine functions of them."""
    if tape.u.numel() and any(ca.which_depends(tape.slope, tape.u, 2, True)):
        return None
    inputs = tape.reduced.inputs
    gathers = csc_matrix((np.ones(len(inputs)), (np.arange(len(inputs)), inputs)),
                         shape=(len(inputs), tape.reduced.flat.classes))
    return Bare(tape.u, tape.slope, gathers)


def _computed_by(tape: Tape, families: list[int]) -> np.ndarray:
    """Per class, whether it is an input or computed by an equation of some families."""
    flat = tape.reduced.flat
    lost = np.zeros(flat.classes, dtype=bool)
    lost[tape.reduced.inputs] = True
    for step in tape.steps:
        if step.group >= 0:
            group = flat.groups[step.group]
            if group.law is not None and group.family in families:
                lost[step.unknowns] = True
    return lost


class _BareWriter(Writer):
    def __init__(self, reduced: Reduced, parameters: list[list[np.ndarray]], families: set[int],
                 lost: np.ndarray) -> None:
        super().__init__(reduced, parameters)
        self.families, self.lost = families, lost
        flat = self.flat
        read = np.zeros(flat.classes, dtype=bool)
        for group in flat.groups:
            if group.law is not None and group.family not in families:
                for key in group.law.unknowns:
                    read[flat.argument(group, key)[0]] = True
        direct = np.flatnonzero(read & lost)
        self.dropped = lost.copy()
        self.dropped[direct] = False
        rows, classes, signs, first = [], [], [], 0
        self.input_of: dict[int, np.ndarray] = {}  # per group of balances, the input of each
        for group in flat.groups:
            if group.law is None:
                which = np.repeat(np.arange(group.size), np.diff(group.starts))
                mine = self.dropped[group.classes]
                hit = np.unique(which[mine])
                number = self.input_of[group.first] = np.full(group.size, -1)
                number[hit] = first + np.arange(len(hit))
                first += len(hit)
                rows.append(number[which[mine]])
                classes.append(group.classes[mine])
                signs.append(group.signs[mine])
        rows.append(first + np.arange(len(direct)))
        classes.append(direct)
        signs.append(np.ones(len(direct)))
        count = first + len(direct)
        self.gathers = csc_matrix(
            (np.concatenate(signs).astype(float), (np.concatenate(rows), np.concatenate(classes))),
            shape=(count, flat.classes))
        self.w = ca.SX.sym("w", count)
        self.first_input = flat.classes  # as if they were classes of their own
        self.values = ca.vertcat(self.values, self.w)
        self.hole = ca.SX.sym("hole")  # stands for what nobody may look at
        self.values[np.flatnonzero(self.dropped).tolist()] = self.hole
        if len(direct):
            self.values[direct.tolist()] = self.w[first:]

    def terms(self, group: Group, rows: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        which, classes, signs = group.terms(rows)
        number = self.input_of[group.first][rows]
        at = np.flatnonzero(number >= 0)
        kept = ~self.dropped[classes]
        return (np.concatenate([which[kept], at]),
                np.concatenate([classes[kept], self.first_input + number[at]]),
                np.concatenate([signs[kept], np.ones(len(at), dtype=int)]))

    def assign(self, group: Group, rows: np.ndarray, position: int, unknowns: np.ndarray,
               in_loop: bool = False) -> None:
        if group.law is None or group.family not in self.families:
            super().assign(group, rows, position, unknowns, in_loop)


def _sparse(arguments: list[ca.SX], expression: ca.SX) -> Evaluator:
    return Evaluator(ca.Function("jacobian", arguments, [expression]))
