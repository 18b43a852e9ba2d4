"""Set-valued elements at nodes without mass: friction in series with a spring, a damper or another.

There an element cannot both take its flow and give its effort. Some take the
effort and give the flow (see :class:`blocks.assembly.Elements`); each mode of
the elements then is a small system for the inputs ``u``::

                 gives its effort            gives its flow
    sliding      u == kinetic effort         effort == kinetic effort
    stuck        flow == 0                   u == 0

Where an equation on the right side does not depend on ``u`` its time derivative
takes its place. Modes are those that hold at the instant and an instant later;
they are searched among the elements that are in doubt, the present ones first.
"""

from __future__ import annotations

from itertools import product
from typing import Any

import casadi as ca
import numpy as np
from scipy.sparse import csc_matrix

from .exceptions import StructureError
from .expression import TIME
from .setvalued import Change, SetValuedLaws
from .system import Problem

__all__ = ["MixedLaws"]

MOST_IN_DOUBT = 7  # elements whose modes are searched together
ZERO = 1e-9


class MixedLaws(SetValuedLaws):
    """Set-valued laws of a network with massless nodes."""

    def _compile(self, flow: Any, low: Any, high: Any, back: Any, forth: Any, gap: Any,
                 restitution: Any) -> None:
        system, tape = self.system, self.system.tape
        if self.contact.any():
            raise StructureError(
                self.name(int(np.flatnonzero(self.contact)[0])),
                "a contact acts on a node without mass.",
                "Give both sides of the contact a mass.", code="structure.massless",
            )  # fmt: skip
        if system.nz:
            raise StructureError(
                self.name(0), "set-valued friction acts on a massless node inside a nonlinear "
                "algebraic loop.", "Give the node a (small) mass.", code="structure.massless",
            )  # fmt: skip
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
        for _ in range(4):
            residual, matrix, _, _ = self._rows(problem, t, self.modes)
            step = np.linalg.lstsq(matrix, residual, rcond=1e-12)[0]
            problem.u -= step
            if np.abs(step).max(initial=0.0) <= 1e-14 * (1 + np.abs(problem.u).max(initial=0.0)):
                break

    def correct(self, slope: np.ndarray, problem: Problem, t: float) -> np.ndarray:
        return slope

    def along(self, problem: Problem, t: np.ndarray, x: np.ndarray, share: bool) -> None:
        """Every time needs a search of its own."""

    def share(self, problem: Problem, t: float) -> None:
        """Efforts are unique wherever modes are."""

    def shared(self, problem: Problem, t: float) -> list[Any]:
        """No group of elements leaves its efforts open."""
        return []

    def grain(self, problem: Problem, t: float) -> np.ndarray:
        """Their flows follow from efforts as well as from states."""
        return np.zeros(self.size)

    def margins(self, problem: Problem, t: float) -> np.ndarray:
        flow, effort, low, high, *_ = self._see(problem, t)
        return np.where(self.modes == 0, np.minimum(high - effort, effort - low), self.modes * flow)

    # -- decisions -----------------------------------------------------------------------
    def start(self, problem: Problem, t: float) -> None:
        problem.u[:] = 0.0
        flow = self._see(problem, t)[0]
        self.modes = np.where(self.gives_flow, 0, np.sign(flow)).astype(int)
        self.apply(problem, t)
        self._settle(problem, t, self._touched(problem, t))

    def decide(self, problem: Problem, t: float, touched: np.ndarray) -> list[Change]:
        before = self.modes.copy()
        crossed = np.zeros(self.size, dtype=bool)
        crossed[touched] = True
        self._settle(problem, t, crossed)
        changed = np.flatnonzero(self.modes != before)
        return [Change(int(i), int(before[i]), int(self.modes[i])) for i in changed]

    def _touched(self, problem: Problem, t: float) -> np.ndarray:
        return self.margins(problem, t) < 0

    def _settle(self, problem: Problem, t: float, crossed: np.ndarray) -> None:
        """Find modes that hold now and an instant later."""
        flow, effort, low, high, *_ = self._see(problem, t)
        sign = np.where(high - effort <= effort - low, 1, -1)
        guess = np.where(crossed, np.where(self.modes == 0, sign, 0), self.modes)
        sizes = self._sizes(problem, t)
        doubt = crossed | (np.abs(self.margins(problem, t)) <= 1e-7 * sizes)
        for trial in self._trials(guess, doubt):
            if self._holds(problem, t, trial, sizes):
                break
        else:
            everyone = np.ones(self.size, dtype=bool)
            for trial in self._trials(guess, everyone):
                if self._holds(problem, t, trial, sizes):
                    break
            else:
                trial = guess
        self.modes = trial
        self._project(problem, t)
        self.apply(problem, t)

    def _trials(self, guess: np.ndarray, doubt: np.ndarray) -> Any:
        index = np.flatnonzero(doubt)[:MOST_IN_DOUBT]
        options = list(product((0, 1, -1), repeat=len(index)))
        options.sort(key=lambda o: int(np.sum(np.array(o) != guess[index])))
        for option in options:
            trial = guess.copy()
            trial[index] = option
            yield trial

    def _sizes(self, problem: Problem, t: float) -> np.ndarray:
        """What counts as large for every element's margin."""
        flow, _, low, high, *_ = self._see(problem, t)
        fastest = max(float(np.abs(flow).max(initial=0.0)),
                      float(np.abs(problem.x).max(initial=0.0)), 1e-9)  # fmt: skip
        return np.where(self.modes == 0, np.maximum(high - low, 1e-300), fastest)

    def _holds(self, problem: Problem, t: float, modes: np.ndarray, sizes: np.ndarray) -> bool:
        kept_modes, x, u = self.modes, problem.x.copy(), problem.u.copy()
        try:
            self.modes = modes
            self.apply(problem, t)
            residual, matrix, blind, violation = self._rows(problem, t, modes)
            if np.linalg.matrix_rank(matrix, tol=1e-11) < len(residual):
                return False
            scale = self._sizes(problem, t)
            other = np.where(self.gives_flow, self._see(problem, t)[3] - self._see(problem, t)[2],
                             np.maximum(scale, sizes))
            if np.any(np.abs(violation) > 1e-6 * np.maximum(other, 1e-9)):
                return False
            margin = self.margins(problem, t)
            if np.any(margin < -1e-7 * scale):
                return False
            slope = self.system.slope(*problem._arguments(t))
            fast = float(np.abs(slope).max(initial=0.0))
            h = 1e-7 * (max(1e-6, float(np.abs(x).max(initial=0.0))) / fast if fast > 0 else 1.0)
            h = min(h, 1e-6)
            problem.x += h * slope
            self.apply(problem, t + h)
            later = self.margins(problem, t + h)
            close = margin <= 1e-7 * scale
            return not np.any(close & (later - np.maximum(margin, 0.0) < -1e-3 * h * scale))
        finally:
            self.modes = kept_modes
            problem.x[:], problem.u[:] = x, u

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
        by_x = -np.linalg.lstsq(matrix, rows, rcond=1e-12)[0]
        return csc_matrix(self._slope_u.sparse(*args).toarray() @ by_x)
