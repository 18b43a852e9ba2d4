"""What do a network without mass at its nodes and its elements come to while no mode changes?

Where the equations of modes (:mod:`blocks.nonsmooth.modes.mode_equations`) are linear in what
elements take, with coefficients that depend on parameters and relations alone, it follows from
their values and rates without anything taken, by two matrices that are constant between events.
So efforts, slopes and margins are functions of the states, of the modes and of what is taken, which
whoever evaluates them multiplies out first: machine code in loops
(:mod:`blocks.native.network_code`). Others are solved for at every point
(:mod:`blocks.nonsmooth.modes.carried_network`).
"""

from __future__ import annotations

from functools import cached_property
from typing import Any, NamedTuple

import casadi as ca
import numpy as np

from ...language.expression import TIME
from ...language.lookup import jacobian
from ...numerics.arrays import Array, Flags, Indices, grouped
from ...numerics.cache import Cache
from ...numerics.copies import put_back
from ...numerics.rewriting import contained, dependent_pairs
from ...numerics.tolerances import FULFILLED, NOISE
from ...system import Problem, System
from ..complementarity import Island, Stress, kept, share_of, stress_groups
from ..mode_state import ModeState
from .elements import Elements
from .islands import UNLOADED
from .law_expressions import LawExpressions
from .massless_contacts import bear_impulses
from .mode_equations import MOST_KEPT, ModeEquations, rows_of, told_sliding
from .resting_relations import RestingRelations, indirect_relations, relations_of_efforts

__all__ = ["HeldNetwork", "filled", "rounding_of", "slack_of"]

TRIED = 3  # points at which equations that leave inputs open are solved
GOLDEN = 0.6180339887498949  # its multiples modulo 1 fill the interval evenly


class _Sharing(NamedTuple):
    """How efforts that modes leave open are shared."""

    # what shares a load evenly, to be multiplied by what is taken. Where stuck elements of a
    # constant strength F have one motion, of which only the sum c.u of what they take is told, each
    # takes the same share of its strength: u = F sgn(c) c.u / (F.abs(c)). So all come to their
    # bounds together, when nothing else could hold them either
    even: Array
    split: list[Stress]  # groups of these, whose split is sought where modes are decided on
    open: Array  # directions of what is taken that remain open, as columns


class _Split(NamedTuple):
    """How some elements share efforts e: ``change @ e + level`` is what they take more, with
    the same effect; ``ends`` are not 0 of those at their bounds, which others hold there."""

    members: Indices
    change: Array
    level: Array
    ends: Indices


class HeldNetwork:
    """Efforts, flows, bounds and slopes, as functions of modes and of what elements take.

    Parameters
    ----------
    system, elements, laws, equations : of the network
    islands : elements of which those of different ones feel each other in no modes that are held,
        as :attr:`ModeEquations.islands` do where :attr:`ModeMatrices.alone` says so

    Attributes
    ----------
    symbols : time, states, unknowns, parameters, relations, discrete values, modes, constants, and
        what follows
    taken : symbols of what elements take
    expressions : of slopes, crossing functions and elements
    entries : of the constants: whether a switch is told or who bears nothing, what rounding may
        make, two matrices, and of what may share internal stress what it takes whatever is carried
    inputs : of the network
    joint : which relations equations contain, and depend on what elements take
    islands : joined where such a relation ties them
    relations_of : of each island those, and others that its matrices depend on
    entries_of : of each island its constants
    decided_by : flow, effort, low, high, what the mode's equations miss, and the slopes
    length : operations of what is solved for at every point
    """

    has_derivatives = True

    def __init__(self, system: System, elements: Elements, laws: LawExpressions,
                 equations: ModeEquations, islands: list[Indices]) -> None:
        self.system, self.elements, self.equations = system, elements, equations
        self.laws = laws
        n, tape = elements.size, system.tape
        self.joint = relations_of_efforts(system) & ~indirect_relations(system)
        rows = rows_of(system, elements, laws)
        self._follow = ca.vertcat(*rows, tape.slope)
        #: What follows states and inputs by constants, or states alone, whatever these are.
        self.alike = _fixed_rows(rows[:3], tape) | np.array([
            _untaken(row, ca.vertcat(tape.u, tape.z)) for row in rows[:3]])
        self.alike[1:, told_sliding(rows, elements, tape)] = True  # what they follow is not asked
        #: Elements whose bounds at rest are the same as long as no relation changes.
        self._strong = _constants(laws.low, tape) & _constants(laws.high, tape)
        self._even: Cache[tuple[bytes, bytes, bytes], _Sharing] = Cache(MOST_KEPT)
        #: Elements that may share internal stress with a friction, in any split.
        self._level = np.flatnonzero(self._strong & ~elements.gives_flow)
        if elements.valve[self._level].all():
            self._level = self._level[:0]
        island = np.empty(n, dtype=int)
        for k, members in enumerate(islands):
            island[members] = k
        by_relation = _relations_of_islands(rows, system, laws, island)
        asks = np.full((system.nm, system.nu), bool(system.nz))
        asks[dependent_pairs(tape.crossings, tape.u)] = True
        self.islands, by_relation = _joined(
            islands, by_relation, asks[:, elements.column] & self.joint[:, None])
        self.relations_of = [np.flatnonzero(column) for column in by_relation.T]
        for k, members in enumerate(self.islands):
            island[members] = k
        self.together = together = island[:, None] == island
        pairs = int(together.sum())
        self.entries = 2 * n + 2 * pairs + len(self._level)
        owner = island[np.concatenate([*2 * [np.arange(n)], *2 * [np.nonzero(together.T)[0]],
                                       self._level])]
        self.entries_of = [np.flatnonzero(owner == k) for k in range(len(self.islands))]
        modes, constants = ca.SX.sym("modes", n), ca.SX.sym("constants", self.entries)
        told, slack, by_value, by_rate, own = ca.vertsplit(
            constants, np.cumsum([0, n, n, pairs, pairs, len(self._level)]).tolist())
        level = ca.SX(n, 1)
        level[self._level.tolist()] = own
        gives = ca.DM(elements.gives_flow.astype(float))
        solved = ca.if_else(told == UNLOADED, -1, modes)
        direct = ca.if_else(gives, solved == 0, solved != 0)
        value, rate = _equations_of(rows, solved, direct)
        #: What the equations come to without anything taken, and the rates of that.
        self.alone = ca.substitute(
            ca.vertcat(value, rate), tape.u, ca.DM.zeros(system.nu, 1))
        self.symbols = [*system.arguments[:-1], modes, constants]
        self.taken = ca.SX.sym("taken", n)
        taken = self.taken + level
        place = ca.DM.triplet(elements.column.tolist(), list(range(n)), ca.DM(elements.unit),
                              system.nu, n)
        inputs = self.inputs = ca.densify(ca.mtimes(place, taken))
        value = value + ca.if_else(direct, taken, 0)
        slope, crossings, exponents, flow, effort, low, high, missed, rate, loops = ca.substitute(
            [tape.slope, RestingRelations.of(system).put_in(tape.crossings, solved),
             tape.exponents, laws.sides, laws.effort, laws.low,
             laws.high, value, rate, tape.residual], [tape.u], [inputs])
        self._miss([by_value, by_rate], [missed, rate], loops)
        self.expressions = {"slope": slope, "crossings": crossings, "exponents": exponents,
                            "flow": flow, "effort": effort, "low": low, "high": high}
        self.decided_by = ca.densify(ca.vertcat(flow, effort, low, high, missed, slope))
        room = ca.fmin(high - effort, effort - low)
        self.margins = ca.if_else(told, 1.0, ca.if_else(modes == 0, room, modes * flow) + slack)
        self._pose()

    def _pose(self) -> None:
        """Complete the symbols, and make what is looked at in Python."""
        self.length = 2 * int(self.together.sum())
        self.symbols = [*self.symbols, self.taken]

    def _miss(self, matrices: list[ca.SX], missed: list[ca.SX], loops: ca.SX) -> None:
        """Take note of what the equations miss, where inputs are solved for."""

    @cached_property
    def coefficients(self) -> tuple[ca.SX | None, Indices]:
        """How equations, and slopes, follow what is taken, where relations or states change that:
        entries that are not always zero, and their places, row by row.

        Where states do, residuals of loops are rows, too, and states and unknowns are columns."""
        tape, equations = self.system.tape, self.equations
        if equations.constant and not equations.by_relations.any():
            return None, np.zeros(0, dtype=np.int64)
        follow = self._follow if equations.constant else ca.vertcat(self._follow, tape.residual)
        by = self.elements.pushed(jacobian(follow, tape.u))
        if not equations.constant:
            loops = ca.SX(self._follow.numel(), tape.x.numel())
            by = ca.horzcat(by, ca.vertcat(loops, jacobian(tape.residual, tape.x)),
                            jacobian(follow, tape.z))
        by = ca.sparsify(ca.substitute(by, tape.u, self.inputs))
        rows, columns = np.array(by.sparsity().get_triplet(), dtype=np.int64)
        return by.nz[:], rows * by.size2() + columns

    @cached_property
    def sizes(self) -> ca.Function:
        """How large what is given may be by the sizes of states, of time, states, unknowns,
        parameters, relations, discrete values, and these sizes."""
        system, far = self.system, ca.SX.sym("far", self.system.nx)
        by_states = ca.fabs(jacobian(ca.substitute(
            self._follow[: self.elements.size], system.tape.u, ca.DM.zeros(system.nu, 1)),
            system.tape.x))
        return ca.Function("sizes", [*system.arguments[:-1], far], [
            ca.densify(ca.mtimes(by_states, far))])

    @cached_property
    def at_impacts(self) -> tuple[ca.SX | None, Indices]:
        """What machine code tells impacts from, and who bears these: contacts, then others.

        Of these their flows, restitution and static and kinetic bounds; then how rates, the same
        bounds, slopes and residuals of loops follow what they take and unknowns of loops, row by
        row. Nothing where there are no contacts, or bounds bend as impulses grow, beside loops.
        """
        tape, laws, contact = self.system.tape, self.laws, self.elements.contact
        nobody = np.zeros(0, dtype=np.int64)
        if not contact.any():
            return None, nobody
        bears = np.concatenate([np.flatnonzero(contact), np.flatnonzero(
            bear_impulses(self.system) & ~contact)]).astype(np.int64)
        bounds = [side[bears.tolist()] for side in (laws.low, laws.high, laws.back, laws.forth)]
        taken = tape.u[self.elements.column[bears].tolist()]
        if self.system.nz and any(ca.which_depends(
                ca.vertcat(*bounds), ca.vertcat(taken, tape.z), 2, True)):
            return None, nobody
        rows = ca.vertcat(laws.rate[bears.tolist()], *bounds, tape.slope, tape.residual)
        by = ca.horzcat(jacobian(rows, taken) @ ca.diag(ca.DM(self.elements.unit[bears])),
                        jacobian(rows, tape.z))
        values = [laws.flow[bears.tolist()], laws.restitution[bears.tolist()], *bounds]
        return ca.substitute(ca.densify(ca.vertcat(*values, ca.vec(by.T))),
                             tape.u, self.inputs), bears

    # -- constants -------------------------------------------------------------------------
    def decides(self, modes: Indices, weight: Array) -> bool:
        """Whether what holds some modes can be judged from kept matrices.

        The combinations that say something about the states are the same wherever these are.
        """
        direct = self.elements.gives_flow != (modes != 0)
        given, back, forth = self.alike
        fixed = (direct | given) & np.where(modes > 0, forth, (modes == 0) | back)
        return bool((fixed | (np.abs(weight).max(axis=0, initial=0.0) == 0.0)).all())

    def fits(self, problem: Problem, t: float, modes: Indices) -> bool:
        """Whether some modes have efforts and flows, and these are the only ones.

        The share of each of several open switches in what they interrupt does not matter.
        """
        made = self.equations.matrices(problem, t, modes)
        if not self.keeps_apart(problem, t, modes):
            return False
        if made.solver is None or not made.null.shape[1]:
            return made.solver is not None
        open_ = self.left_open(problem, t, modes)
        decided = ~np.any(self.equations.told(problem, t), axis=0)
        return (not open_.shape[1] or self.equations.changes_nothing(
            problem, t, open_, decided, decided)) and self.is_solved_everywhere(problem, t, modes)

    def keeps_apart(self, problem: Problem, t: float, modes: Indices) -> bool:
        """Whether no part of elements feels another one in some modes."""
        return len(self.islands) == 1 or self.equations.matrices(problem, t, modes).alone

    def left_open(self, problem: Problem, t: float, modes: Indices) -> Array:
        """Directions of what is taken that modes leave open, and no split says, as columns."""
        return self._sharing(problem, t, modes).open

    def _sharing(self, problem: Problem, t: float, modes: Indices) -> _Sharing:
        key = modes.tobytes(), problem.m.tobytes(), problem.p.tobytes()
        return self._even.once(key, lambda: self._shared(problem, t, modes))

    def _shared(self, problem: Problem, t: float, modes: Indices) -> _Sharing:
        null, n = self.equations.matrices(problem, t, modes).null, self.elements.size
        even, split, open_ = np.eye(n), [], [np.zeros((n, 0))]
        everyone = np.ones(n, dtype=bool)
        _, _, low, high, *_ = self.equations.values(problem, t)
        strong = self._strong & (modes == 0) & ~self.elements.gives_flow
        for members, basis in stress_groups(null):
            others = ~np.isin(np.arange(n), members)
            if not strong[members].all() or not self.equations.changes_nothing(
                    problem, t, basis, others, everyone):  # else they bear it alone
                open_.append(basis)
                continue
            strength, direction = high[members], np.linalg.svd(basis[members].T)[2][-1]
            total = strength @ np.abs(direction)
            if ((low[members] == -strength).all() and 0.0 < total < np.inf
                    and basis.shape[1] == len(members) - 1):
                even[np.ix_(members, members)] = np.outer(
                    strength * np.sign(direction), direction / total)
            elif self.elements.valve[members].all() or (low == high)[members].any():
                open_.append(basis)
            else:
                split.append(Stress(members, basis[members]))
        return _Sharing(even, split, np.hstack(open_))

    def splits(self, problem: Problem, t: float, modes: Indices) -> list[_Split]:
        """Splits of efforts by which all hold for a while, of groups that hold in many ways."""
        null = self.equations.matrices(problem, t, modes).null
        if not len(self._level) or not null.shape[1]:
            return []
        groups = self._sharing(problem, t, modes).split
        if not groups:
            return []
        _, _, low, high, *_ = self.equations.values(problem, t)
        taken = self._taken(problem, t, modes, *self.by_rows(problem, t, modes))
        return [_split(group, taken, low, high) for group in groups]

    def is_solved_everywhere(self, problem: Problem, t: float, modes: Indices) -> bool:
        """Whether equations that leave inputs open contradict each other nowhere: at points."""
        x = problem.x.copy()
        with put_back(problem.x, problem.u):
            for k in range(1, TRIED + 1):
                spread = GOLDEN * k * np.arange(1, len(x) + 1) % 1.0 - 0.5
                problem.x[:] = x + spread * (np.abs(x) + problem.scale_x)
                problem.u[:] = 0.0
                found = self.equations.at(problem, t + k * GOLDEN * max(abs(t), 1.0), modes)
                if not found.error(lasting=True) <= FULFILLED * found.error():
                    return False
        return True

    def _taken(self, problem: Problem, t: float, modes: Indices, by_value: Array, by_rate: Array
               ) -> Array:
        """What elements take in some modes, by two matrices."""
        values = self.equations.all_values(*problem.arguments(t)[:-1], 0.0 * problem.u).reshape(
            10, self.elements.size)
        value, rate = self.equations.held_rows(modes, values[4:7], values[7:])
        taken: Array = by_value @ value + by_rate @ rate
        return taken

    def by_rows(self, problem: Problem, t: float, modes: Indices) -> tuple[Array, Array]:
        """What is taken by values and by rates, without anything taken, of the equations."""
        made = self.equations.matrices(problem, t, modes)
        solver = made.solver
        assert solver is not None  # as it fits
        if made.null.shape[1]:
            solver = self._sharing(problem, t, modes).even @ solver
        by_value, by_rate = np.zeros((2, *solver.shape))
        parts = self.islands if made.alone else [np.arange(len(solver))]
        for own, free in ((np.ix_(part, part), made.free[part]) for part in parts):
            by_value[own] = -(solver[own] * ~free) @ made.combine[own]
            by_rate[own] = -(solver[own] * free) @ made.combine[own]
        return by_value, by_rate

    def constants(self, problem: Problem, t: float, state: ModeState) -> Array:
        """The constants of the present modes in one row."""
        by_value, by_rate, level, ends = self.taken_by(problem, t, state.solved_modes)
        told = np.where(state.unloaded, UNLOADED, np.any(
            self.equations.told(problem, t), axis=0) | (ends != 0))
        return np.concatenate([
            told, slack_of(state, self.elements), by_value.T[self.together.T],
            by_rate.T[self.together.T], level[self._level]])

    def taken_by(self, problem: Problem, t: float, modes: Indices
                 ) -> tuple[Array, Array, Array, Indices]:
        """What is taken by values and by rates, as far as the present split holds, and without;
        who is at its bound as long as it holds."""
        by_value, by_rate = self.by_rows(problem, t, modes)
        level, ends = np.zeros(len(modes)), np.zeros(len(modes), dtype=int)
        for members, change, own, theirs in self.splits(problem, t, modes):
            by_value[members] += change @ by_value[members]
            by_rate[members] += change @ by_rate[members]
            level[members], ends[members] = own, theirs
        return by_value, by_rate, level, ends


def _split(group: Stress, taken: Array, lower: Array, upper: Array) -> _Split:
    """How a group shares what it takes."""
    members, basis = group
    low, high, q = lower[members], upper[members], np.linalg.qr(basis)[0]
    felt, none = np.eye(len(members)) - q @ q.T, np.zeros((len(members),) * 2)
    island = Island(felt, felt @ taken[members], low, high, none, none)
    found = share_of(island)
    level, by = kept(island, found.ends, island.weights)
    ends = np.where(found.loose.any(), 0, found.ends)
    return _Split(members, by @ felt - np.eye(len(members)), level, ends)


def _relations_of_islands(rows: list[ca.SX], system: System, laws: LawExpressions,
                          island: Indices) -> Flags:
    """(all relations, islands) those that the matrices of an island depend on, by that of each
    element."""
    tape, n = system.tape, len(island)
    mine, loops = ca.vertcat(*rows), tape.residual
    of_values = mine if system.nz else mine[: 3 * n]  # rates by states are no part of them
    out = np.zeros((system.nm, island.max(initial=-1) + 1), dtype=bool)
    for by in (jacobian(mine, tape.u), jacobian(of_values, tape.x), jacobian(mine, tape.z),
               ca.SX(laws.low), ca.SX(laws.high)):
        entries, relations = dependent_pairs(by.nz[:], tape.m)
        out[relations, island[np.array(by.sparsity().row(), dtype=int)[entries] % n]] = True
    out[contained(tape.m, ca.veccat(*(jacobian(loops, by) for by in (tape.u, tape.z, tape.x))))
        ] = True
    return out


def _joined(islands: list[Indices], relations: Flags, inputs: Flags) -> tuple[list[Indices], Flags]:
    """Islands, with those together that a relation ties which their efforts move.

    ``relations``, (all relations, islands), are those that islands depend on, ``inputs``, (all
    relations, elements), where they depend on what elements take.
    """
    from scipy.sparse import csr_matrix
    from scipy.sparse.csgraph import connected_components

    moved = np.array([inputs[:, one].any(axis=1) for one in islands]).T
    ties = csr_matrix((relations + moved) * np.any(moved, axis=1, keepdims=True), dtype=float)
    which = connected_components(ties.T @ ties + csr_matrix((len(islands), len(islands))),
                                 directed=False)[1]
    groups = grouped(which)
    relations[moved] = True
    joined: Flags = np.stack([relations[:, group].any(axis=1) for group in groups], axis=1)
    return [np.sort(np.concatenate([islands[i] for i in group])) for group in groups], joined


def filled(pattern: Flags, entries: ca.SX) -> ca.SX:
    """A matrix of some entries, column after column."""
    columns, rows = np.nonzero(pattern.T)
    height, width = pattern.shape
    return ca.SX(ca.Sparsity.triplet(height, width, rows.tolist(), columns.tolist()), entries)


def _fixed_rows(rows: list[ca.SX], tape: Any) -> Flags:
    """Which entries of some rows follow states and inputs alone, by constants."""
    out = []
    for row in rows:
        by = jacobian(row, ca.vertcat(tape.x, tape.u))
        fixed = _untaken(row, tape.z)
        fixed[np.array(by.sparsity().row(), dtype=int)[~_constants(by.nz[:], tape)]] = False
        out.append(fixed)
    return np.array(out)


def _constants(values: ca.SX, tape: Any) -> Flags:
    """Which of some values depend on parameters and relations alone."""
    return _untaken(values, ca.vertcat(TIME, tape.x, tape.z, tape.d, tape.u))


def _untaken(values: ca.SX, symbols: ca.SX) -> Flags:
    """Which of some values follow none of some symbols."""
    out = np.ones(values.numel(), dtype=bool)
    out[dependent_pairs(values, symbols)[0]] = False
    return out


def slack_of(state: ModeState, elements: Elements) -> Array:
    """What rounding may make of the margins of present modes, and what a diode does not notice."""
    return rounding_of(state) + np.where(state.modes == 0, 0.0, elements.valve * state.least_flow)


def rounding_of(state: ModeState) -> Array:
    """What rounding may make of the margins of present modes."""
    stuck = state.modes == 0
    return NOISE * np.where(stuck, state.strong, state.fast) + np.where(stuck, *state.noise)


def _equations_of(rows: list[ca.SX], modes: ca.SX, direct: ca.SX) -> tuple[ca.SX, ca.SX]:
    """What the equations of modes come to but for what is taken directly, and their rates."""
    out = [ca.if_else(direct, 0, given) - ca.if_else(modes > 0, forth, ca.if_else(
        modes < 0, back, 0)) for given, back, forth in (rows[:3], rows[3:])]
    return out[0], out[1]
