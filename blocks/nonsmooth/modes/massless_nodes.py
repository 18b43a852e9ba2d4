"""Set-valued elements at nodes without mass: friction in series with a spring, a damper or another.

There an element cannot both take its flow and give its effort. Some take the effort and give the
flow (see :class:`blocks.assembly.Elements`); what holds the modes then is a small system of
equations (:mod:`blocks.nonsmooth.modes.held_rows`). Modes come from the convex problem of
:mod:`blocks.nonsmooth.modes.node_velocities`, and are taken only if they hold, at the instant and
an instant later. Where none do the run stops: a guess is no answer.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import suppress
from itertools import product
from typing import Any

import casadi as ca
import numpy as np
from scipy.sparse import csc_matrix

from ...exceptions import SimulationError, StructureError
from ...system.failure import AlgebraicFailure
from ...system.problem import Problem
from ...system.system import System
from .held_rows import HeldRows, without_rounding
from .laws import Change, SetValuedLaws
from .node_velocities import NodeVelocities

__all__ = ["MixedLaws", "refuse_massless", "without_mass"]

MOST_IN_DOUBT = 5  # elements whose combinations are all tried, where no better way led on
ROUNDS = 25  # of Newton's method, where laws are not linear
NEAR = 1e-7  # of its size: a margin that is none
ROUNDED = 1e-13  # of the largest effort or flow: one that is none
PROOF = 1e-6  # of the bounds: room that is left for sure
MISSED = 1e-6  # of its size: what a mode holds constant may be off by that much
INSTANT = 1e-7  # of the time in which something changes


def refuse_massless(system: System) -> None:
    """Stop where laws act on a node without mass that could not be decided there.

    Raises
    ------
    StructureError
        Naming an element.
    """
    light = without_mass(system)
    if not light:
        return
    contacts = [family.path(0) for family in system.network.families
                for law in family.kernel.set_valued if law.is_contact]  # fmt: skip
    if contacts:
        raise StructureError(
            next((path for path in contacts if path in light), contacts[0]),
            "a rigid contact acts on a node without mass, or in one network with friction that "
            "does.", "Give both sides of the contact, and every node between frictions, a mass; or "
            "let the contact yield (a spring with a damper).", code="structure.massless",
        )  # fmt: skip
    if system.nz:
        raise StructureError(
            light[0], "set-valued friction acts on a massless node inside an algebraic "
            "loop that is solved by iteration.", "Give the node a (small) mass.",
            code="structure.massless",
        )  # fmt: skip


def without_mass(system: System) -> list[str]:
    """Components with a set-valued element whose flow the states alone do not determine."""
    tape, out, first = system.tape, [], 0
    fast = ca.vertcat(tape.u, tape.z)
    for f, family in enumerate(system.network.families):
        for law in family.kernel.set_valued:
            gives = tape.reduced.gives_flow[first : first + family.size]
            free = ca.which_depends(tape.writer.kernel_row(f, law.flow).T, fast, 1, True)
            out += [family.path(int(i)) for i in np.flatnonzero(gives | np.array(free, dtype=bool))]
            first += family.size
    return list(dict.fromkeys(out))


class MixedLaws(SetValuedLaws):
    """Set-valued laws of a network with massless nodes."""

    def _compile(self, flow: Any, low: Any, high: Any, back: Any, forth: Any, gap: Any,
                 restitution: Any) -> None:
        system, tape = self.system, self.system.tape
        refuse_massless(system)
        effort = ca.vertcat(*self._effort_rows)
        self.rows = HeldRows(self, flow, effort, low, high, back, forth)
        self._slope_u = system.jacobian(tape.slope, tape.u)
        self._flow_x = system.jacobian(flow, tape.x)
        self._nodes = NodeVelocities(self)
        self._strength = 0.0  # the largest effort so far
        self._stress_of: tuple[np.ndarray, Any] | None = None

    def _push_of(self, problem: Problem, t: float) -> np.ndarray:
        """Change of the states' slopes per change of what the elements take."""
        return self._slope_u.sparse(*problem.arguments(t)).toarray()[:, self.column] * self.sign

    def _move(self, problem: Problem, change: np.ndarray) -> None:
        """Change what the elements take."""
        problem.u[self.column] += change * self.sign

    # -- evaluation --------------------------------------------------------------------
    def apply(self, problem: Problem, t: float) -> None:
        """Set the problem's inputs to those of the present modes.

        Raises
        ------
        AlgebraicFailure
            If they have no solution there, or Newton's method does not find it.
        """
        last, first = np.inf, 0.0
        for k in range(ROUNDS):
            held = self.rows.at(problem, t, self.modes)
            step = held.step()
            if step is None:
                break
            first = max(first, held.error)
            self._move(problem, -step)
            size = np.abs(step).max(initial=0.0) / max(np.abs(problem.u).max(initial=0.0), 1e-300)
            if size <= 1e-14 or (self.rows.affine and k) or (size < 1e-9 and size > 0.5 * last):
                if not held.null.shape[1] or self._agrees(problem, t, first):
                    return
                break
            last = size
        worst = np.argsort(-np.abs(held.residual))[:3]
        raise AlgebraicFailure(t, [self.label(int(i)) for i in worst],
                               "nodes without mass do not come to a balance")

    def _agrees(self, problem: Problem, t: float, first: float) -> bool:
        """Whether equations that leave inputs open are fulfilled, beside errors of ``first``."""
        taken = float(np.abs(problem.u).max(initial=0.0))
        bounds = np.abs(self.rows.look(problem, t)[2:])
        largest = float(bounds[np.isfinite(bounds)].max(initial=0.0))
        error = self.rows.at(problem, t, self.modes).error
        return error <= 1e-9 * (first + taken) + 1e-12 * largest

    def correct(self, slope: np.ndarray, problem: Problem, t: float) -> np.ndarray:
        return slope

    def along(self, problem: Problem, t: np.ndarray, x: np.ndarray, share: bool) -> None:
        """Every time needs a search of its own."""

    # -- internal stress -----------------------------------------------------------------
    def _stress(self, problem: Problem, t: float) -> list[Any]:
        """Groups of stuck elements that share internal stress: members, efforts, inputs.

        Elements in parallel, say: efforts can be added that change no flow at all.
        """
        from ..complementarity import stress_groups

        held = self.rows.at(problem, t, self.modes)
        if not held.null.shape[1]:
            return []
        kept = self._stress_of
        if kept is None or kept[0] is not held.null:
            efforts, _ = self.rows.along(problem, t, held.null)
            groups = [(m, basis[m], held.null @ np.linalg.lstsq(efforts, basis, rcond=None)[0])
                      for m, basis in stress_groups(efforts)]  # fmt: skip
            kept = self._stress_of = held.null, groups
        return kept[1]

    def share(self, problem: Problem, t: float) -> None:
        """Where the motion leaves efforts open, take the smallest largest share of the bounds."""
        from ..complementarity import even_split

        for members, basis, inputs in self._stress(problem, t):
            _, effort, low, high, *_ = self.rows.look(problem, t)[:, members]
            step = even_split(low, high, effort, basis) - effort
            self._move(problem, inputs @ np.linalg.lstsq(basis, step, rcond=None)[0])

    def shared(self, problem: Problem, t: float) -> list[Any]:
        """Groups of stuck elements whose split the motion leaves open, with their efforts."""
        effort = self.rows.look(problem, t)[1]
        return [([self.label(int(i)) for i in members], effort[members])
                for members, *_ in self._stress(problem, t)]

    def grain(self, problem: Problem, t: float) -> np.ndarray:
        """Their flows follow from efforts as well as from states."""
        return np.zeros(self.size)

    def margins(self, problem: Problem, t: float) -> np.ndarray:
        """Negative where a mode no longer holds: sliding backwards, or over a bound."""
        from ..complementarity import largest_share, least_share

        flow, effort, low, high, *_ = self.rows.look(problem, t)
        self._speed = max(self._speed, float(np.abs(flow).max(initial=0.0)))
        self._strength = max(self._strength, float(np.abs(effort).max(initial=0.0)))
        stuck = self.modes == 0
        out = np.where(stuck, np.minimum(high - effort, effort - low), self.modes * flow)
        # at a bound, or with no flow, for good: rounding ends no mode
        out += ROUNDED * np.where(stuck, self._strength, self._speed)
        for members, basis, _ in self._stress(problem, t):
            at = low[members], high[members], effort[members]
            share = largest_share(*at)
            if share > 1 - PROOF:  # a split within the bounds would be proof
                share = least_share(*at, basis)
            width = np.where(np.isfinite(high - low), high - low, np.abs(effort))[members]
            out[members] = (1 - share) * np.maximum(width, 1e-300) / 2
        return out

    # -- decisions -----------------------------------------------------------------------
    def start(self, problem: Problem, t: float) -> None:
        """Modes at the start of a run, from velocities and loads."""
        problem.u[:] = 0.0
        flow = self.rows.look(problem, t)[0]
        self._speed, self._strength = float(np.abs(flow).max(initial=0.0)), 0.0
        self.modes = np.where(self.gives_flow, 0, np.sign(flow)).astype(int)
        everyone = np.ones(self.size, dtype=bool)
        self._settle(problem, t, everyone, self._nodes.modes(problem, t, 0 * self.modes))

    def decide(self, problem: Problem, t: float, touched: np.ndarray) -> list[Change]:
        """Choose the modes at an event."""
        before = self.modes.copy()
        self._project(problem, t)  # what the integration has let go
        crossed = np.zeros(self.size, dtype=bool)
        crossed[touched] = True
        _, effort, low, high, *_ = self.rows.look(problem, t)
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
        flow, effort, low, high, *_ = self.rows.look(problem, t)
        far = np.maximum(np.abs(problem.x), 1e-3 * problem.scale_x)
        rounded = 1e-6 * abs(self._flow_x.sparse(*problem.arguments(t))) @ far
        fast = max(float(np.abs(flow).max(initial=0.0)), self._speed,
                   float(rounded.max(initial=0.0)), 1e-300)  # fmt: skip
        width = np.where(np.isfinite(high - low), high - low, self._strength)
        strong = max(float(np.abs(effort).max(initial=0.0)), self._strength)
        width = np.maximum(width, 1e-6 * strong + 1e-300)
        return np.where(self.modes == 0, width, fast), np.where(self.modes == 0, fast, width)

    def _holds(self, problem: Problem, t: float, modes: np.ndarray) -> bool:
        """Whether modes fulfil all laws at an instant and, where that is close, also after it."""
        kept = self.modes, problem.x.copy(), problem.u.copy()
        known = self._speed, self._strength
        try:
            self.modes = modes
            self.apply(problem, t)
            held = self.rows.at(problem, t, modes)
            if held.null.shape[1] and not self._is_stress(problem, t, held.null):
                return False
            size, equal = self._sizes(problem, t)
            if np.any(np.abs(held.violation) > MISSED * (np.abs(held.weight) @ equal)):
                return False
            margin = self.margins(problem, t)
            if not np.all(margin >= -NEAR * size):
                return False
            h = self._step_on(problem, t)
            self.apply(problem, t + h)
            later = self.margins(problem, t + h)
            close = margin <= NEAR * size
            return not np.any(close & (later - margin < -1e-3 * h * size))
        except AlgebraicFailure:
            return False
        finally:
            self.modes, problem.x[:], problem.u[:] = kept
            self._speed, self._strength = known

    def _step_on(self, problem: Problem, t: float) -> float:
        """Move the states on by an instant; returns how long it is."""
        slope = self.system.slope(*problem.arguments(t))
        fast = float(np.abs(slope).max(initial=0.0))
        far = max(1e-6, float(np.abs(problem.x).max(initial=0.0)))
        h = min(INSTANT * far / fast if fast > 0 else 1.0, 1e-6)
        problem.x += h * slope
        return h

    def _is_stress(self, problem: Problem, t: float, null: np.ndarray) -> bool:
        """Whether inputs that the modes leave open change efforts at rest, but no motion."""
        flows = self.rows.along(problem, t, null)[1]
        push, top = self._push_of(problem, t), np.abs(null).max()
        return bool(np.all(np.abs(flows) <= 1e-9 * top) and np.all(
            np.abs(push @ null) <= 1e-9 * top * np.abs(push).sum(axis=1)[:, None]))

    def open_flows(self, problem: Problem, t: float) -> np.ndarray | None:
        """Flows that the present modes leave open, one way to change them; None if none are."""
        null = self.rows.at(problem, t, self.modes).null
        if not null.shape[1]:
            return None
        flows = self.rows.along(problem, t, null)[1]
        size = np.abs(flows).max(axis=0, initial=0.0)
        k = int(np.argmax(size / np.abs(null).max(axis=0)))
        return flows[:, k] if size[k] > 1e-9 * np.abs(null[:, k]).max() else None

    def _undecided(self, problem: Problem, t: float, doubt: np.ndarray) -> SimulationError:
        """The error where no modes obey the laws: who is pulled harder than it can hold."""
        kept = self.modes
        self.modes = np.zeros(self.size, dtype=int)
        with suppress(AlgebraicFailure):
            self.apply(problem, t)
        self.modes = kept
        _, effort, low, high, back, forth, *_ = self.rows.look(problem, t)
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
        held = self.rows.at(problem, t, self.modes)
        if not np.any(held.violation):
            return
        missed_x = self.rows.by_x(problem, t, self.modes)[1]
        push = self._push_of(problem, t)
        problem.x -= push @ np.linalg.lstsq(
            without_rounding(missed_x, push), held.violation, rcond=1e-12)[0]

    # -- derivatives -----------------------------------------------------------------------
    def jacobian_through_efforts(self, problem: Problem, t: float) -> csc_matrix:
        held = self.rows.at(problem, t, self.modes)
        by_x = self.rows.by_x(problem, t, self.modes)[0]
        taken = -np.linalg.lstsq(held.matrix, by_x, rcond=1e-12)[0]
        return csc_matrix(self._push_of(problem, t) @ taken)
