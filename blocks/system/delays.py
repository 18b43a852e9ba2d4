"""What were signals a while ago?

Keeps the course of everything that is delayed, step by step, and gives it back as
discrete values that are brought up to date at every evaluation: to the equations the
past is known (the method of steps). A step never reaches beyond what is known, and
what jumps or bends at an instant does so again a delay later, where the run stops and
starts afresh. Knows no method and no components.

References
----------
Bellen and Zennaro, Numerical Methods for Delay Differential Equations, Oxford 2003,
chapter 4 (discontinuities and their propagation).
"""

from __future__ import annotations

import copy
from collections.abc import Callable
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, Protocol, TypeAlias

import casadi as ca
import numpy as np

from ..assembly.network import Family
from ..exceptions import EquationError, ParameterError
from ..language.expression import TIME
from ..numerics.arrays import Array, Indices
from ..numerics.instants import same_instant
from ..numerics.tolerances import CLEAR, LAST_BITS, TIME_GRAIN
from ..solvers.interpolation import barycentric_weights, basis, chebyshev_nodes
from .evaluator import Arguments, Evaluator
from .past import Past, may_miss
from .system import System

Course: TypeAlias = Callable[[Array], Array]

__all__ = ["Delays", "DelayedSignals", "delayed_signals", "delays_of"]

PROBES = np.array([-0.71, 0.13, 0.83])  # of [-1, 1], away from the nodes
HALVINGS = 12  # of a step, until polynomials follow what is delayed
AGREES = 1e-3  # of the tolerance of the run
#: Entries of a plan: numbers of signals and nodes, of different lags, and the level up to which
#: what bends begins a piece; addresses of where signals stand among the discrete values, of what is
#: told of the past, of the lag of each signal, of different lags, of nodes and their weights, and
#: of room for as many numbers; of what polynomials are looked at by between nodes, of the largest
#: values so far, of limits, and of room for the values at a time.
(SIGNALS, NODES, DIFFERENT, ROUGHEST, SLOTS, PAST, LAGS, DIFFERENT_LAGS, POINTS, WEIGHTS, TERMS,
 BETWEEN, LARGEST, LIMITS, NOW) = range(15)
PLAN = 15
#: Limits: how far a polynomial may be off, as a part of the largest value; times about zero that
#: are one instant; the end of the run; and whether what nobody reads any more may be forgotten.
OFF, LEAST_TIME_APART, UNTIL, FORGETS = range(4)


class Evaluated(Protocol):
    """What is read of a :class:`~blocks.system.problem.Problem`: its present point."""

    x: Array
    z: Array
    m: Array
    d: Array
    u: Array
    scale_x: Array
    algebraic: int

    def arguments(self, t: float) -> Arguments: ...
    def update(self, t: float) -> object: ...
    def solve(self, t: float, y: Array) -> object: ...


@dataclass(frozen=True)
class DelayedSignals:
    """All delayed signals of a system, as expressions."""

    slots: Indices  # where they stand among the discrete values
    # values, lags, before: signals, by how much each is delayed, and what it was before the run
    values: ca.SX
    lags: ca.SX
    before: ca.SX
    owner: list[tuple[Family, int]]  # family of each

    @property
    def lagged(self) -> ca.SX:
        """What delayed signals are, at a time, as long as they come from before the run."""
        return ca.vertcat(*(ca.substitute(before, TIME, TIME - lag) for before, lag in zip(
            ca.vertsplit(self.before), ca.vertsplit(self.lags), strict=True)))


def delayed_signals(system: System) -> DelayedSignals:
    """What is delayed in a system."""
    slots: list[Indices] = []
    rows: list[list[ca.SX]] = [[], [], []]
    owner: list[tuple[Family, int]] = []
    for f, family in enumerate(system.network.families):
        for i, *expressions in family.kernel.delays:
            slots.append(system.tape.discrete_layout[f, i] + np.arange(family.size))
            owner += [(family, k) for k in range(family.size)]
            for row, expression in zip(rows, expressions, strict=True):
                row.append(system.tape.writer.kernel_row(f, expression).T)
    values, lags, before = (ca.vertcat(*row) for row in rows)
    return DelayedSignals(np.concatenate(slots), values, lags, before, owner)


def delays_of(system: System, p: Array) -> Delays | None:
    """The delayed signals of a system, if there are any."""
    families = system.network.families
    return Delays(system, p) if any(f.kernel.delays for f in families) else None


class Delays:
    """The past of all delayed signals of one run.

    The past is cut where the run was cut. A piece of the past is known to be smooth, and
    between two stops of the run every delayed signal reads one piece only: the one that
    belongs to the instant just after the first stop.
    """

    def __init__(self, system: System, p: Array) -> None:
        signals = system.once("delayed", lambda: delayed_signals(system))
        lags, self.initial, self.values = system.once("functions of delayed signals", lambda: (
            ca.Function("lags", [system.tape.p], [ca.substitute(signals.lags, TIME, 0)]),
            Evaluator(ca.Function("before", [TIME, system.tape.p], [ca.densify(signals.lagged)])),
            system.function("delayed", ca.densify(signals.values))))
        self.p, self.slots, found = p, signals.slots, np.array(lags(p)).ravel()
        _refuse_lags(found, signals)
        self._refuse_flows(system)
        self.fed_back = system.once("fed back", lambda: _feeds_back(system, signals))
        self.of_efforts = bool(ca.depends_on(signals.values, system.tape.u))
        self.lags, self.group = np.unique(found, return_inverse=True)
        self.shortest = float(self.lags[0])
        of_states, of_discrete = system.of_dimension
        self.of_dimension = np.concatenate([of_states, of_discrete[self.slots]])
        self.unbroken = -np.inf  # a time at which a run begins anew, though nothing has happened
        self.origin = 0.0  # the time just after which lags read the pieces that are chosen
        self.chosen = np.full(len(self.lags), -1)  # piece that every lag reads, -1 before the run
        self.largest = np.zeros(len(self.slots))
        self.start(0.0, 0.0, 8, 1e-6)

    def _refuse_flows(self, system: System) -> None:
        """Friction at rest needs the derivatives of both velocities."""
        past = {system.tape.d[int(i)].__hash__() for i in self.slots}
        for f, family in enumerate(system.network.families):
            for law in family.kernel.set_valued:
                row = system.tape.writer.kernel_row(f, law.flow)
                for instance in range(family.size):
                    if past & {s.__hash__() for s in ca.symvar(row[0, instance])}:
                        raise EquationError(
                            family.path(instance), "has a relative velocity that is a delayed "
                            "signal, whose derivative it needs at rest and which is not known.",
                            "Let a body follow the delayed motion through a spring and a damper.",
                            code="equation.delayed",
                        )  # fmt: skip

    def copy_for_reading(self) -> Delays:
        """Return a copy that shares the past, of which it chooses pieces of its own."""
        new = copy.copy(self)
        new.chosen = self.chosen.copy()
        return new

    # -- reading -----------------------------------------------------------------------
    def select(self, t: float) -> None:
        """From now on read what belongs to the time just after ``t``."""
        self.origin = t
        self.chosen[:] = self.past.starts.searchsorted(
            t - self.lags + 4 * same_instant(t, self.least), side="right") - 1

    def fill(self, d: Array, t: float) -> None:
        """Bring the delayed values among the discrete ones up to date."""
        d[self.slots] = self._past(np.array([t]))[:, 0]

    def discrete_values(self, d: Array, start: Array, t: Array) -> Array:
        """Discrete values at many times, each of the episode from its ``start``, as columns."""
        out = np.array(np.broadcast_to(d, (len(d), len(t))))
        cuts = [0, *(np.flatnonzero(np.diff(start)) + 1), len(t)]
        for first, last in pairwise(cuts):
            if last > first:
                self.select(float(start[first]))
                out[self.slots, first:last] = self._past(t[first:last])
        return out

    def _past(self, t: Array) -> Array:
        """The delayed signals at times, as columns."""
        out = np.empty((len(self.slots), len(t)))
        chosen = self.chosen[self.group]
        for piece in np.unique(self.chosen):
            mine, lags = np.flatnonzero(chosen == piece), np.flatnonzero(self.chosen == piece)
            if piece < 0:
                out[mine] = self.initial.at_columns(t[None, :], self.p)[mine]
            else:
                out[mine] = self.past.signals(int(piece), t - self.lags[lags, None], mine,
                                              np.searchsorted(lags, self.group[mine]))
        return out

    @property
    def _points(self) -> Array:
        """Return points of [-1, 1]: nodes of a polynomial, and where it is tested between them."""
        return np.concatenate([chebyshev_nodes(self.nodes), PROBES])

    # -- keeping -----------------------------------------------------------------------
    def start(self, t_start: float, t_end: float, order: int, rtol: float) -> None:
        """Settle what depends on the run."""
        self.least = TIME_GRAIN * (t_end - t_start)
        self.t_end, self.nodes, self.rtol = t_end, max(order + 1, 5), rtol
        self.roughest = self.nodes if self.fed_back else 0  # level up to which a piece begins
        self.past = Past(len(self.slots), self.nodes)
        self._told: tuple[np.ndarray, ...] = (  # alive, as machine code reads it
            self.slots, self.past.shown, self.lags[self.group], self.lags, self._points,
            barycentric_weights(self.nodes), np.empty(self.nodes), basis(PROBES, self.nodes),
            self.largest, np.array([AGREES * self.rtol, self.least, self.t_end, 0.0]),
            np.empty(len(self.slots)))
        #: What machine code is told.
        self.plan = np.array([len(self.slots), self.nodes, len(self.lags), self.roughest,
                              *(k.ctypes.data for k in self._told)])

    def room(self) -> list[int]:
        """How many pieces and steps there were at most within the longest delay."""
        return [int((np.arange(1, len(t) + 1) - t.searchsorted(t - self.lags[-1])).max(initial=0))
                for t in (self.past.starts, self.past.ends)]

    def leave(self, pieces: int, steps: int, until: float) -> list[Any]:
        """All that machine code is told, with room for so many more pieces and steps; what is
        older than any delay may be forgotten, in a run up to then."""
        self._told[LIMITS - SLOTS][[UNTIL, FORGETS]] = until, 1.0
        self.past.make_room(pieces, steps)
        return [self.plan, *self._told, *self.past.arrays()]

    def begin(self, problem: Evaluated, t: float) -> None:
        """The run starts (afresh) at ``t``: what is delayed may jump or bend here."""
        self.select(t)
        starts = self.past.starts
        if len(starts) and (t <= starts[-1] or t == self.unbroken):
            return
        problem.update(t)
        now = self.values(*problem.arguments(t))
        self._allow_rounding(problem, now)
        level = 0
        if len(starts):
            near = 4 * same_instant(t, self.least)
            k = np.minimum(starts.searchsorted(t - self.lags - near), len(starts) - 1)
            arrive = np.abs(starts[k] + self.lags - t) <= near
            level = 1 + min(self.past.levels[k[arrive]].tolist(), default=-1)
        if level:  # a jump that is only handed on stays a jump
            jump = np.abs(now - self.past.last)
            level = 0 if np.any(jump > CLEAR * self.largest) else level
        if level <= self.roughest:  # else smoother than the method can tell, or no business of it
            self.past.begin(t, level)

    def after(self, t: float) -> float:
        """The next instant at which something delayed jumps or bends."""
        starts = self.past.starts
        k = starts.searchsorted(t + same_instant(t, self.least) - self.lags, side="right")
        following = (starts[k[k < len(starts)]] + self.lags[k < len(starts)]).min(initial=np.inf)
        end = self.t_end - 4 * same_instant(self.t_end, self.least)
        return float(following) if following < end else np.inf

    def keep(self, problem: Evaluated, course: Course, ends: Array) -> None:
        """Remember what the delayed signals were in steps, which end at these times or earlier.

        ``course`` gives the integrated unknowns at times, as columns. Machine code may have kept
        some of them already.
        """
        self._allow_rounding(problem, self.largest)
        known = self.past.end
        borders = np.append(known, ends[ends > known])
        if len(borders) > 1:
            self._keep(lambda t: self._signals(problem, course, t), borders[:-1], borders[1:],
                       HALVINGS)
        self.past.make_room(1, 1)

    def _allow_rounding(self, problem: Evaluated, now: Array) -> None:
        """What is nothing but the rounding of values of its dimension is no signal to follow."""
        largest = np.zeros(self.of_dimension.max() + 1)
        np.maximum.at(largest, self.of_dimension, np.abs(np.concatenate([problem.x, now])))
        known = LAST_BITS / (AGREES * self.rtol) * largest[self.of_dimension[len(problem.x) :]]
        np.maximum(self.largest, known, out=self.largest)

    def _signals(self, problem: Evaluated, course: Course, t: Array) -> Array:
        """What is delayed, as it is at times, as columns."""
        if self.of_efforts or problem.algebraic:
            out = np.empty((len(self.slots), len(t)))
            for k, (at, y) in enumerate(zip(t, course(t).T, strict=True)):
                problem.solve(at, y)
                out[:, k] = self.values(*problem.arguments(at))
            return out
        x, d = course(t) * problem.scale_x[:, None], np.repeat(problem.d[:, None], len(t), axis=1)
        d[self.slots] = self._past(t)
        return self.values.at_columns(t[None, :], x, problem.z, self.p, problem.m, d, problem.u)

    def _keep(self, signals: Callable[[Array], Array], starts: Array, ends: Array, halvings: int
              ) -> None:
        """Keep steps as polynomials; those that do not follow the signals are halved."""
        middle, half = (starts + ends) / 2, (ends - starts) / 2
        at = middle[:, None] + half[:, None] * self._points
        at[:, 0], at[:, self.nodes - 1] = starts, ends
        found = signals(at.ravel()).reshape(len(self.slots), *at.shape)
        values = found[:, :, : self.nodes]
        np.maximum(self.largest, np.abs(values).max(axis=(1, 2), initial=0.0), out=self.largest)
        off = np.abs(values @ basis(PROBES, self.nodes).T - found[:, :, self.nodes :]).max(axis=2)
        spread = values.max(axis=2) - values.min(axis=2)
        wrong = (off > may_miss(  # of all at once
            AGREES * self.rtol, self.largest[:, None], spread, starts, ends,  # type: ignore[arg-type]
        )).any(axis=0)
        wrong &= (starts < middle) & (middle < ends) & (halvings > 0)
        values = values.transpose(1, 2, 0)
        if not wrong.any():
            self.past.extend(ends, values)
            return
        for k, too_long in enumerate(wrong.tolist()):
            if too_long:
                self._keep(signals, np.array([starts[k], middle[k]]),
                           np.array([middle[k], ends[k]]), halvings - 1)
            else:
                self.past.extend(ends[k : k + 1], values[k : k + 1])


def _refuse_lags(lags: Array, signals: DelayedSignals) -> None:
    wrong = np.flatnonzero(~(lags > 0))
    if len(wrong):
        family, instance = signals.owner[int(wrong[0])]
        raise ParameterError(family.path(instance), f"delays by {lags[wrong[0]]:g} s.",
                             "A delay must be longer than 0 s; without one, join the signals "
                             "directly.", code="parameter.delay")  # fmt: skip


def _feeds_back(system: System, signals: DelayedSignals) -> bool:
    """Whether what is delayed follows, directly or through states, from delayed values."""
    from scipy.sparse import csr_matrix
    from scipy.sparse.csgraph import breadth_first_order

    tape, n, values = system.tape, system.nx, signals.values
    past = ca.vertcat(*(tape.d[int(i)] for i in signals.slots))
    tied = [tape.x] * bool(system.nz or system.nu)  # then everything follows from everything
    if ca.depends_on(values, ca.vertcat(past, tape.z, tape.u, *tied)):
        return True
    moved, by = ca.jacobian_sparsity(tape.slope, tape.x).get_triplet()
    first, last = (ca.jacobian_sparsity(*of) for of in ((tape.slope, past), (values, tape.x)))
    origin = [*by, *[n] * first.nnz(), *last.get_triplet()[1]]  # delayed values are a node as well,
    target = [*moved, *first.row(), *[n + 1] * last.nnz()]  # and what is delayed is the last one
    links = csr_matrix((np.ones(len(origin)), (origin, target)), shape=(n + 2, n + 2))
    return n + 1 in breadth_first_order(links, n, return_predecessors=False)
