"""Set-valued elements at nodes without mass: friction in series with a spring, a damper or another.

There an element cannot both take its flow and give its effort. Some take the
effort and give the flow (see :class:`blocks.assembly.Elements`); each mode of
the elements then is a small system for the inputs ``u``::

                 gives its effort            gives its flow
    sliding      u == kinetic effort         effort == kinetic effort
    stuck        flow == 0                   u == 0

Where an equation on the right side does not depend on ``u`` its time derivative
takes its place. Modes come from the convex problem of :mod:`blocks.nodevelocities`, and
are taken only if they hold, at the instant and an instant later. Where none do the run
stops: a guess is no answer.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import product
from typing import Any

import casadi as ca
import numpy as np
from scipy.linalg.lapack import dgesv
from scipy.sparse import csc_matrix

from .exceptions import SimulationError, StructureError
from .expression import TIME
from .nodevelocities import NodeVelocities
from .setvalued import Change, SetValuedLaws, is_plain
from .system import AlgebraicFailure, Problem, System

__all__ = ["MixedLaws", "refuse_massless"]

MOST_IN_DOUBT = 5  # elements whose combinations are all tried, where no better way led on
ROUNDS = 25  # of Newton's method, where laws are not linear
SINGULAR = 1e-10  # of the largest singular value, rows and columns of size 1
NEAR = 1e-7  # of its size: a margin that is none
MISSED = 1e-6  # of its size: what a mode holds constant may be off by that much
INSTANT = 1e-7  # of the time in which something changes


def refuse_massless(system: System) -> None:
    """Stop where laws act on a node without mass that could not be decided there.

    Raises
    ------
    StructureError
        Naming an element.
    """
    if is_plain(system):
        return
    kinds = [(family, law[-2] is not None) for family in system.network.families
             for law in family.kernel.set_valued]  # fmt: skip
    contacts = [family.path(0) for family, contact in kinds if contact]
    if contacts:
        raise StructureError(
            contacts[0], "a rigid contact acts on a node without mass, or in one network with "
            "friction that does.", "Give both sides of the contact, and every node between "
            "frictions, a mass; or let the contact yield (a spring with a damper).",
            code="structure.massless",
        )  # fmt: skip
    if system.nz:
        raise StructureError(
            kinds[0][0].path(0), "set-valued friction acts on a massless node inside an algebraic "
            "loop that is solved by iteration.", "Give the node a (small) mass.",
            code="structure.massless",
        )  # fmt: skip


class MixedLaws(SetValuedLaws):
    """Set-valued laws of a network with massless nodes."""

    def _compile(self, flow: Any, low: Any, high: Any, back: Any, forth: Any, gap: Any,
                 restitution: Any) -> None:
        system, tape = self.system, self.system.tape
        refuse_massless(system)
        effort = ca.vertcat(*self._effort_rows)
        gives = self.gives_flow.tolist()
        output = ca.vertcat(*(effort[k] if g else flow[k] for k, g in enumerate(gives)))

        def rate(e: Any) -> Any:
            return ca.jtimes(e, tape.x, tape.slope) + ca.jacobian(e, TIME)

        everything = [flow, effort, low, high, back, forth, rate(output), rate(back), rate(forth)]
        self._all = system.function("mixed", ca.densify(ca.vertcat(*everything)))
        dense = [ca.densify(ca.jacobian(e, tape.u)) for e in (output, rate(output), back, forth)]
        self._by_u4 = system.function("mixed_u", ca.vertcat(*dense))
        dense = [ca.densify(ca.jacobian(e, tape.x)) for e in (output, rate(output), back, forth)]
        self._by_x4 = system.function("mixed_x", ca.vertcat(*dense))
        self._slope_u = system.jacobian(tape.slope, tape.u)
        self._flow_x = system.jacobian(flow, tape.x)
        self._few = False
        self.affine = not any(ca.which_depends(ca.vertcat(*everything), tape.u, 2, True))
        self._nodes = NodeVelocities(self)
        self._stress_of: tuple[bytes, np.ndarray, Any] | None = None

    # -- evaluation --------------------------------------------------------------------
    def _see(self, problem: Problem, t: float) -> np.ndarray:
        return self._all(*problem._arguments(t)).reshape(9, self.size)

    def _rows(self, problem: Problem, t: float, modes: np.ndarray) -> Any:
        """Residuals of the modes' equations, their matrix by u, and which are differentiated."""
        n = self.size
        flow, effort, _, _, back, forth, rate, back_rate, forth_rate = self._see(problem, t)
        blocks = self._by_u4(*problem._arguments(t)).reshape(-1, 4 * n).T.reshape(4, n, -1)
        output_u, rate_u, back_u, forth_u = blocks
        sliding = modes != 0
        kinetic = np.where(modes > 0, forth, back)
        kinetic_rate = np.where(modes > 0, forth_rate, back_rate)
        kinetic_u = np.where((modes > 0)[:, None], forth_u, back_u)
        direct = self.gives_flow != sliding  # u itself is given
        own = np.zeros_like(output_u)
        own[np.arange(n), self.column] = self.sign
        residual = np.where(sliding, effort - kinetic, flow)
        matrix = np.where(direct[:, None], own, output_u)
        matrix = np.where(sliding[:, None], matrix - kinetic_u, matrix)
        active = np.unique(self.column[~direct])
        blind = ~direct & (np.abs(matrix[:, active]).max(axis=1, initial=0.0) <= 1e-12)
        violation = np.where(blind, residual, 0.0)
        residual = np.where(blind, rate - np.where(sliding, kinetic_rate, 0.0), residual)
        matrix = np.where(blind[:, None], rate_u, matrix)
        return residual, matrix, blind, violation

    def apply(self, problem: Problem, t: float) -> None:
        """Set the problem's inputs to those of the present modes.

        Raises
        ------
        AlgebraicFailure
            If they have no solution there, or Newton's method does not find it.
        """
        last = np.inf
        for k in range(ROUNDS):
            residual, matrix, *_ = self._rows(problem, t, self.modes)
            step = _solved(matrix, residual)
            if step is None:
                break
            problem.u -= step
            size = np.abs(step).max(initial=0.0) / max(np.abs(problem.u).max(initial=0.0), 1e-300)
            if size <= 1e-14 or (self.affine and k) or (size < 1e-9 and size > 0.5 * last):
                return
            last = size
        worst = np.argsort(-np.abs(residual))[:3]
        raise AlgebraicFailure(t, [self.label(int(i)) for i in worst],
                               "nodes without mass do not come to a balance")

    def correct(self, slope: np.ndarray, problem: Problem, t: float) -> np.ndarray:
        return slope

    def along(self, problem: Problem, t: np.ndarray, x: np.ndarray, share: bool) -> None:
        """Every time needs a search of its own."""

    # -- internal stress -----------------------------------------------------------------
    def _stress(self, problem: Problem, t: float) -> list[Any]:
        """Groups of stuck elements that share internal stress: members, efforts, inputs.

        Elements in parallel, say: efforts can be added that change no flow at all.
        """
        from .nonsmooth import stress_groups

        matrix = self._rows(problem, t, self.modes)[1]
        kept = self._stress_of
        if kept is None or kept[0] != self.modes.tobytes() or not np.array_equal(kept[1], matrix):
            null = _null(matrix)
            efforts, _ = self._along_inputs(problem, t, null)
            groups = stress_groups(efforts) if null.shape[1] else []
            inputs = [null @ np.linalg.lstsq(efforts, basis, rcond=None)[0]
                      for _, basis in groups]  # fmt: skip
            found = [(m, basis[m], u) for (m, basis), u in zip(groups, inputs, strict=True)]
            kept = self._stress_of = self.modes.tobytes(), matrix.copy(), found
        return kept[2]

    def _along_inputs(self, problem: Problem, t: float, du: np.ndarray
                      ) -> tuple[np.ndarray, np.ndarray]:
        """Changes of efforts and flows per change of the inputs."""
        blocks = self._by_u4(*problem._arguments(t)).reshape(-1, 4 * self.size).T
        through = blocks[: self.size] @ du
        own = du[self.column] * self.sign[:, None]
        gives = self.gives_flow[:, None]
        return np.where(gives, through, own), np.where(gives, own, through)

    def share(self, problem: Problem, t: float) -> None:
        """Where the motion leaves efforts open, take the smallest largest share of the bounds."""
        from .nonsmooth import even_split

        for members, basis, inputs in self._stress(problem, t):
            _, effort, low, high, *_ = self._see(problem, t)[:, members]
            step = even_split(low, high, effort, basis) - effort
            problem.u += inputs @ np.linalg.lstsq(basis, step, rcond=None)[0]

    def shared(self, problem: Problem, t: float) -> list[Any]:
        """Groups of stuck elements whose split the motion leaves open, with their efforts."""
        effort = self._see(problem, t)[1]
        return [([self.label(int(i)) for i in members], effort[members])
                for members, *_ in self._stress(problem, t)]

    def margins(self, problem: Problem, t: float) -> np.ndarray:
        """Negative where a mode no longer holds: sliding backwards, or over a bound."""
        from .nonsmooth import least_share

        flow, effort, low, high, *_ = self._see(problem, t)
        self._speed = max(self._speed, float(np.abs(flow).max(initial=0.0)))
        out = np.where(self.modes == 0, np.minimum(high - effort, effort - low), self.modes * flow)
        for members, basis, _ in self._stress(problem, t):
            share = least_share(low[members], high[members], effort[members], basis)
            width = np.where(np.isfinite(high - low), high - low, np.abs(effort))[members]
            out[members] = (1 - share) * np.maximum(width, 1e-300) / 2
        return out

    # -- decisions -----------------------------------------------------------------------
    def start(self, problem: Problem, t: float) -> None:
        """Modes at the start of a run, from velocities and loads."""
        problem.u[:] = 0.0
        flow = self._see(problem, t)[0]
        self._speed = float(np.abs(flow).max(initial=0.0))
        self.modes = np.where(self.gives_flow, 0, np.sign(flow)).astype(int)
        everyone = np.ones(self.size, dtype=bool)
        self._settle(problem, t, everyone, self._nodes.modes(problem, t, 0 * self.modes))

    def decide(self, problem: Problem, t: float, touched: np.ndarray) -> list[Change]:
        """Choose the modes at an event."""
        before = self.modes.copy()
        crossed = np.zeros(self.size, dtype=bool)
        crossed[touched] = True
        _, effort, low, high, *_ = self._see(problem, t)
        sign = np.where(high - effort <= effort - low, 1, -1)
        guess = np.where(crossed, np.where(before == 0, sign, 0), before)
        doubt = crossed | (np.abs(self.margins(problem, t)) <= NEAR * self._sizes(problem, t)[0])
        moved = np.where(before == 0, guess, before)
        self._settle(problem, t, doubt, self._proposals(problem, t, guess, moved))
        return self.changes(before)

    def _proposals(self, problem: Problem, t: float, guess: np.ndarray, moved: np.ndarray
                   ) -> Iterator[np.ndarray]:
        yield guess  # what nearly always follows
        yield from self._nodes.modes(problem, t, moved)

    def _settle(self, problem: Problem, t: float, doubt: np.ndarray,
                proposals: Iterable[np.ndarray]) -> None:
        """Take the first modes that hold now and an instant later.

        Raises
        ------
        SimulationError
            If none do.
        """
        tried: list[np.ndarray] = []
        for trial in proposals:
            if not any(np.array_equal(trial, other) for other in tried):
                tried.append(trial)
                if self._adopts(problem, t, trial):
                    return
        for trial in self._combinations(tried[-1] if tried else self.modes, doubt):
            if self._adopts(problem, t, trial):
                return
        raise self._undecided(problem, t, doubt)

    def _combinations(self, guess: np.ndarray, doubt: np.ndarray) -> Iterator[np.ndarray]:
        """All modes of few elements in doubt, those that differ least from a guess first."""
        index = np.flatnonzero(doubt)
        if len(index) > MOST_IN_DOUBT:
            return
        for option in sorted(product((0, 1, -1), repeat=len(index)),
                             key=lambda o: int(np.sum(np.array(o) != guess[index]))):
            trial = guess.copy()
            trial[index] = option
            yield trial

    def _adopts(self, problem: Problem, t: float, trial: np.ndarray) -> bool:
        """Take modes if they hold."""
        if not self._holds(problem, t, trial):
            return False
        self.modes = trial
        self._project(problem, t)
        self.apply(problem, t)
        return True

    def _sizes(self, problem: Problem, t: float) -> tuple[np.ndarray, np.ndarray]:
        """What counts as large: for every element's margin, and for what it gives."""
        flow, effort, low, high, *_ = self._see(problem, t)
        nominal = abs(self._flow_x.sparse(*problem._arguments(t))) @ problem.scale_x
        fast = max(float(np.abs(flow).max(initial=0.0)), self._speed,
                   1e-9 * float(nominal.max(initial=0.0)), 1e-300)  # fmt: skip
        width = np.where(np.isfinite(high - low), high - low, np.abs(effort))
        width = np.maximum(width, 1e-6 * float(np.abs(effort).max(initial=0.0)) + 1e-300)
        return np.where(self.modes == 0, width, fast), np.where(self.gives_flow, width, fast)

    def _holds(self, problem: Problem, t: float, modes: np.ndarray) -> bool:
        """Whether modes fulfil all laws at an instant and, where that is close, also after it."""
        kept = self.modes, problem.x.copy(), problem.u.copy(), self._speed
        try:
            self.modes = modes
            self.apply(problem, t)
            residual, matrix, _, violation = self._rows(problem, t, modes)
            null = _null(matrix)
            if null.shape[1] and not self._is_stress(problem, t, null):
                return False
            size, given = self._sizes(problem, t)
            if np.any(np.abs(violation) > MISSED * given):
                return False
            margin = self.margins(problem, t)
            if not np.all(margin >= -NEAR * size):
                return False
            h = self._step_on(problem, t)
            self.apply(problem, t + h)
            later = self.margins(problem, t + h)
            close = margin <= NEAR * size
            return not np.any(close & (later - np.maximum(margin, 0.0) < -1e-3 * h * size))
        except AlgebraicFailure:
            return False
        finally:
            self.modes, problem.x[:], problem.u[:], self._speed = kept

    def _step_on(self, problem: Problem, t: float) -> float:
        """Move the states on by an instant; returns how long it is."""
        slope = self.system.slope(*problem._arguments(t))
        fast = float(np.abs(slope).max(initial=0.0))
        far = max(1e-6, float(np.abs(problem.x).max(initial=0.0)))
        h = min(INSTANT * far / fast if fast > 0 else 1.0, 1e-6)
        problem.x += h * slope
        return h

    def _is_stress(self, problem: Problem, t: float, null: np.ndarray) -> bool:
        """Whether inputs that the modes leave open change efforts at rest, but no motion."""
        flows = self._along_inputs(problem, t, null)[1]
        push = self._slope_u.sparse(*problem._arguments(t)).toarray()
        along, whole = np.abs(push @ null), np.abs(push) @ np.abs(null)
        return bool(np.all(np.abs(flows) <= 1e-9 * np.abs(null).max())
                    and np.all(along <= 1e-9 * whole))

    def open_flows(self, problem: Problem, t: float) -> np.ndarray | None:
        """Flows that the present modes leave open, one way to change them; None if none are."""
        null = _null(self._rows(problem, t, self.modes)[1])
        if not null.shape[1]:
            return None
        flows = self._along_inputs(problem, t, null)[1]
        size = np.abs(flows).max(axis=0, initial=0.0)
        k = int(np.argmax(size / np.abs(null).max(axis=0)))
        return flows[:, k] if size[k] > 1e-9 * np.abs(null[:, k]).max() else None

    def _undecided(self, problem: Problem, t: float, doubt: np.ndarray) -> SimulationError:
        """The error where no modes obey the laws: who is pulled harder than it can hold."""
        kept = self.modes
        self.modes = np.zeros(self.size, dtype=int)
        try:
            self.apply(problem, t)
        except AlgebraicFailure:
            pass
        self.modes = kept
        _, effort, low, high, back, forth, *_ = self._see(problem, t)
        jumps = (effort > high + MISSED * np.abs(high)) | (effort < low - MISSED * np.abs(low))
        drops = (forth < high * (1 - MISSED)) | (back > low * (1 - MISSED))
        index = np.flatnonzero(self.gives_flow & jumps)
        if not len(index):
            index = np.flatnonzero(doubt & drops) if (doubt & drops).any() else np.flatnonzero(
                doubt if doubt.any() else np.ones(self.size, dtype=bool))
            what = ("no combination of sticking and sliding obeys the laws of dry friction: "
                    "with no mass at a node between, its velocity, or the force of a spring "
                    "there, would have to jump" + (
                        ", as friction that breaks away is at once smaller than before."
                        if drops[index].any() else "."))
        else:
            what = ("a spring, or another part that cannot give way at once, pulls at a node "
                    "without mass harder than the dry friction there can hold: the node would "
                    "have to jump.")
        return SimulationError(
            ", ".join(dict.fromkeys(self.name(int(i)) for i in index[:5])),
            f"at t = {t:.9g} s {what}",
            "Give the nodes beside it a (small) mass, or put a damper in parallel"
            + (": what friction cannot hold must accelerate something." if jumps.any() else "."),
            code="simulation.massless", time=float(t),
            variables=tuple(dict.fromkeys(self.label(int(i)) for i in index)),
        )  # fmt: skip

    def _project(self, problem: Problem, t: float) -> None:
        """Bring what the modes hold constant onto its value exactly."""
        self.apply(problem, t)
        _, _, blind, violation = self._rows(problem, t, self.modes)
        if not blind.any() or not np.any(violation):
            return
        args = problem._arguments(t)
        n = self.size
        output_x, _, back_x, forth_x = self._by_x4(*args).reshape(-1, 4 * n).T.reshape(4, n, -1)
        kinetic_x = np.where((self.modes > 0)[:, None], forth_x, back_x)
        rows = np.where((self.modes != 0)[:, None], output_x - kinetic_x, output_x)[blind]
        push = self._slope_u.sparse(*args).toarray()
        problem.x -= push @ np.linalg.lstsq(rows @ push, violation[blind], rcond=1e-12)[0]

    # -- derivatives -----------------------------------------------------------------------
    def jacobian_through_efforts(self, problem: Problem, t: float) -> csc_matrix:
        args = problem._arguments(t)
        n = self.size
        _, matrix, blind, _ = self._rows(problem, t, self.modes)
        by_x4 = self._by_x4(*args).reshape(-1, 4 * n).T.reshape(4, n, -1)
        output_x, rate_x, back_x, forth_x = by_x4
        sliding = self.modes != 0
        kinetic_x = np.where((self.modes > 0)[:, None], forth_x, back_x)
        direct = self.gives_flow != sliding
        rows = np.where(direct[:, None], 0.0, output_x)
        rows = np.where(sliding[:, None], rows - kinetic_x, rows)
        rows = np.where(blind[:, None], rate_x, rows)
        by_x = -np.linalg.lstsq(matrix, rows, rcond=1e-12)[0]  # internal stress moves nothing
        return csc_matrix(self._slope_u.sparse(*args).toarray() @ by_x)


def _even(matrix: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """A matrix with rows and columns of size 1, and the factors of both."""
    rows = np.abs(matrix).max(axis=1, initial=0.0)
    rows = np.where(rows > 0, rows, 1.0)
    even = matrix / rows[:, None]
    columns = np.abs(even).max(axis=0, initial=0.0)
    columns = np.where(columns > 0, columns, 1.0)
    return even / columns, rows, columns


def _null(matrix: np.ndarray) -> np.ndarray:
    """Directions that a matrix maps to nothing, as columns."""
    even, _, columns = _even(matrix)
    _, values, right = np.linalg.svd(even)
    return right[int(np.sum(values > SINGULAR * values.max(initial=0.0))):].T / columns[:, None]


def _solved(matrix: np.ndarray, residual: np.ndarray) -> np.ndarray | None:
    """The solution of least change; None where there is none."""
    if not (np.isfinite(matrix).all() and np.isfinite(residual).all()):
        return None
    even, rows, columns = _even(matrix)
    right = residual / rows
    lu, _, step, failed = dgesv(even, right)
    if failed or np.abs(lu.diagonal()).min(initial=1.0) <= SINGULAR:
        step = np.linalg.lstsq(even, right, rcond=SINGULAR)[0]
        if np.abs(even @ step - right).max(initial=0.0) > 1e-9 * np.abs(right).max(initial=0.0):
            return None
    return step / columns
