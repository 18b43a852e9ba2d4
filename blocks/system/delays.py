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
from bisect import bisect_right, insort
from collections.abc import Callable
from typing import TYPE_CHECKING

import casadi as ca
import numpy as np

from ..assembly.network import Family
from ..exceptions import EquationError, ParameterError
from ..language.expression import TIME
from ..numerics.arrays import Array, Flags, Indices
from ..numerics.tolerances import HANDED_ON, SAME_INSTANT
from ..solvers.base import Step
from ..solvers.interpolation import NodalPolynomial, chebyshev_nodes
from ..solvers.trajectory import Trajectory
from .system import System

if TYPE_CHECKING:
    from .problem import Problem

__all__ = ["Delays", "delays_of"]

PROBES = np.array([-0.71, 0.13, 0.83])  # of [-1, 1], away from the nodes
HALVINGS = 12  # of a step, until polynomials follow what is delayed
AGREES = 1e-3  # of the tolerance of the run


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
        offset = {(f, i): o for f, i, o in system.tape.discrete_layout}
        slots, values, lags, before = [], [], [], []
        for f, family in enumerate(system.network.families):
            for i, value, lag, initial in family.kernel.delays:
                slots.append(offset[f, i] + np.arange(family.size))
                values.append(system.tape.writer.kernel_row(f, value).T)
                lags.append(system.tape.writer.kernel_row(f, lag).T)
                before.append(system.tape.writer.kernel_row(f, initial).T)
                self._refuse(family, lags[-1], system, p)
        self.p = p
        self.slots = np.concatenate(slots)
        self._refuse_flows(system)
        self.fed_back = _feeds_back(system, self.slots, ca.vertcat(*values))
        self.values = system.function("delayed", ca.densify(ca.vertcat(*values)))
        self.initial = ca.Function("before", [TIME, system.tape.p], [ca.vertcat(*before)])
        found = np.array(ca.Function("lags", [TIME, system.tape.p], [ca.vertcat(*lags)])(0, p))
        self.lags, self.group = np.unique(found.ravel(), return_inverse=True)
        self.shortest = float(self.lags[0])
        self.pieces: list[Trajectory] = []
        self.starts: list[float] = []
        self.chosen = np.full(len(self.lags), -1)  # piece that every lag reads, -1 before the run
        self.stops: list[tuple[float, int]] = []  # when and how often delayed already
        self.tiny, self.rtol, self.nodes, self.t_end = 0.0, 1e-6, 9, 0.0
        self.largest = np.zeros(len(self.slots))

    def _refuse(self, family: Family, lag: ca.SX, system: System, p: Array) -> None:
        found = np.array(ca.Function("lag", [TIME, system.tape.p], [lag])(0, p)).ravel()
        wrong = np.flatnonzero(~(found > 0))
        if len(wrong):
            raise ParameterError(family.path(int(wrong[0])), f"delays by {found[wrong[0]]:g} s.",
                                 "A delay must be longer than 0 s; without one, join the signals "
                                 "directly.", code="parameter.delay")  # fmt: skip

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
        """The same past, of which other pieces may be chosen."""
        new = copy.copy(self)
        new.chosen = self.chosen.copy()
        return new

    # -- reading -----------------------------------------------------------------------
    def select(self, t: float) -> None:
        """From now on read what belongs to the time just after ``t``."""
        for k, lag in enumerate(self.lags):
            self.chosen[k] = bisect_right(self.starts, t - lag + 4 * self.tiny) - 1

    def fill(self, d: Array, t: float) -> None:
        """Bring the delayed values among the discrete ones up to date."""
        d[self.slots] = self._past(np.array([t]))[:, 0]

    def discrete_values(self, d: Array, start: float, t: Array) -> Array:
        """Discrete values at many times of the episode from ``start``, as columns."""
        self.select(start)
        out = np.repeat(d[:, None], len(t), axis=1)
        out[self.slots] = self._past(t)
        return out

    def _past(self, t: Array) -> Array:
        """The delayed signals at times, as columns."""
        out = np.empty((len(self.slots), len(t)))
        for k, lag in enumerate(self.lags):
            mine = self.group == k
            if self.chosen[k] < 0:
                out[mine] = np.array(self.initial((t - lag)[None, :], self.p))[mine]
            else:
                piece = self.pieces[self.chosen[k]]
                out[mine] = piece(np.clip(t - lag, piece.start, piece.end))[mine]
        return out

    # -- keeping -----------------------------------------------------------------------
    def start(self, t_start: float, t_end: float, order: int, rtol: float) -> None:
        """Settle what depends on the run."""
        self.tiny = SAME_INSTANT * max(abs(t_end), abs(t_start), t_end - t_start)
        self.t_end, self.nodes, self.rtol = t_end, max(order + 1, 5), rtol

    def begin(self, problem: Problem, t: float) -> None:
        """The run starts (afresh) at ``t``: what is delayed may jump or bend here."""
        self.select(t)
        if self.starts and t <= self.starts[-1]:
            return
        problem.update(t)
        now = self.values(*problem.arguments(t))
        level = min((n + 1 for at, n in self.stops if abs(at - t) <= 4 * self.tiny), default=0)
        if level and self.pieces:  # a jump that is only handed on stays a jump
            jump = np.abs(now - self.pieces[-1](self.pieces[-1].end))
            level = 0 if np.any(jump > HANDED_ON * self.largest) else level
        if self.pieces and level > (self.nodes if self.fed_back else 0):
            return  # smoother than the method can tell, or no business of what is delayed
        self.starts.append(t)
        self.pieces.append(Trajectory(t, now, order=self.nodes - 1))
        for lag in self.lags:
            if t + lag < self.t_end - 4 * self.tiny:
                insort(self.stops, (t + float(lag), level))

    def after(self, t: float) -> float:
        """The next instant at which something delayed jumps or bends."""
        k = bisect_right(self.stops, (t + self.tiny, np.inf))
        return self.stops[k][0] if k < len(self.stops) else np.inf

    def keep(self, problem: Problem, step: Step, until: float) -> None:
        """Remember what the delayed signals were in a step, up to an event."""
        def course(t: Array) -> Array:
            out = np.empty((len(self.slots), len(t)))
            for k, at in enumerate(t):
                problem.solve(at, step.dense(at))
                out[:, k] = self.values(*problem.arguments(at))
            return out

        self._keep(course, step.t_old, until, HALVINGS)

    def _keep(self, course: Callable[[Array], Array], start: float, end: float, halvings: int
              ) -> None:
        """Keep a course between two instants as polynomials, halved until they follow it."""
        middle, half = (start + end) / 2, (end - start) / 2
        values = course(middle + half * chebyshev_nodes(self.nodes))
        self.largest = np.maximum(self.largest, np.abs(values).max(axis=1))
        if halvings and start < middle < end:
            at = middle + half * PROBES
            error = np.abs(NodalPolynomial(start, end, values)(at) - course(at)).max(axis=1)
            if np.any(error > AGREES * self.rtol * self.largest):
                self._keep(course, start, middle, halvings - 1)
                self._keep(course, middle, end, halvings - 1)
                return
        self.pieces[-1].append(Step(start, end, values[:, -1], lambda t: values[:, 1:-1]))


def _feeds_back(system: System, slots: Indices, values: ca.SX) -> bool:
    """Whether what is delayed follows, directly or through states, from delayed values."""
    tape = system.tape
    if system.nz or system.nu:  # they tie everything to everything
        return True
    past = ca.vertcat(*(tape.d[int(i)] for i in slots))
    moved = _depends(tape.slope, past).any(axis=1)
    by_states = _depends(tape.slope, tape.x)
    while True:
        further = moved | (by_states & moved).any(axis=1)
        if np.array_equal(further, moved):
            break
        moved = further
    return bool(_depends(values, past).any() or (_depends(values, tape.x) & moved).any())


def _depends(expression: ca.SX, on: ca.SX) -> Flags:
    """Which rows depend on which symbols."""
    pattern = ca.jacobian(expression, on).sparsity()
    out = np.zeros(pattern.shape, dtype=bool)
    out[pattern.row(), np.repeat(np.arange(pattern.size2()), np.diff(pattern.colind()))] = True
    return out
