"""What do efforts and slopes come to while no mode changes, in one evaluation?

Between two events the modes of set-valued laws are held. Efforts that slide are then functions of
the states, and those that stick follow linearly from them: with D the matrix of the rates per
effort and S the elements that stick, lambda_S = D_SS^-1 b_S. Where D is constant this and the
slopes are one function of the states, the modes and K, which is D_SS^-1 on S and 0 elsewhere.
Where it is not, see :mod:`blocks.nonsmooth.modes.solved_modes`; what a general network needs is in
:mod:`blocks.nonsmooth.modes.laws`.
"""

from __future__ import annotations

import copy
from typing import Any

import casadi as ca
import numpy as np

from ...system.evaluator import Evaluator
from ...system.problem import Problem

__all__ = ["HeldModes"]

MOST = 24  # elements; K is dense


class HeldModes:
    """Efforts, flows, bounds and slopes of elements whose D is constant.

    Parameters
    ----------
    system : System
        Without algebraic unknowns.
    column, sign : where the elements' efforts stand among its inputs
    flow, low, high, back, forth, rate, gap : expressions, one row per element
    """

    length = 0  # operations of what is solved for at every point

    def __init__(self, system: Any, column: np.ndarray, sign: np.ndarray, flow: Any, low: Any,
                 high: Any, back: Any, forth: Any, rate: Any, gap: Any) -> None:
        n, tape = len(column), system.tape
        modes, k = ca.SX.sym("modes", n), ca.SX.sym("K", n, n)
        sliding = ca.if_else(modes > 0, forth, ca.if_else(modes < 0, back, 0))
        place = ca.DM.triplet(column.tolist(), list(range(n)), ca.DM(sign), system.nu, n)
        of_sliding = ca.densify(ca.mtimes(place, sliding))
        unheld = ca.substitute(rate, tape.u, of_sliding)
        # none may be a zero of the structure: what replaces the inputs has their pattern
        inputs = ca.densify(of_sliding + ca.mtimes(place, ca.mtimes(k, unheld)))
        slope = ca.substitute(tape.slope, tape.u, inputs)
        everything = ca.vertcat(inputs, flow, low, high, back, forth, unheld, gap, slope)
        arguments = [*system.arguments[:-1], modes, k]
        self.symbols = arguments
        effort = inputs[column.tolist()] * ca.DM(sign)
        self.expressions = {"slope": slope, "effort": effort, "flow": flow, "low": low,
                            "high": high, "back": back, "forth": forth, "gap": gap}  # fmt: skip
        self.evaluate = Evaluator(ca.Function("held", arguments, [ca.densify(everything)]))
        crossings = ca.substitute(tape.crossings, tape.u, inputs)
        self.expressions["crossings"] = crossings
        looks = ca.vertcat(inputs, flow, low, high, back, forth, unheld, gap, crossings)
        self._several = ca.Function("several", arguments, [ca.densify(looks)])
        self._mapped: dict[int, Evaluator] = {}  # by the number of times
        self.size, self.inputs = n, system.nu
        self.slope = np.zeros(system.nx)  # at the last evaluation
        self._out: np.ndarray | None = None  # all of it
        self._known: dict[bytes, np.ndarray] = {}
        self._matrix: Any = None

    def __call__(self, problem: Problem, t: float, modes: np.ndarray, solver: Any, d: np.ndarray
                 ) -> None:
        """Set the problem's inputs, and keep what there is besides."""
        out = self.evaluate(*problem.arguments(t)[:-1], modes, self._inverse(modes, solver, d))
        problem.u[:] = out[: self.inputs]
        self.slope = out[self.inputs + 7 * self.size :]
        self._out = out

    def looks(self, problem: Problem, t: float, modes: np.ndarray) -> np.ndarray | None:
        """Flows, bounds, efforts, rates and gaps of the last evaluation, if it was here."""
        last, at = self.evaluate.arguments, problem.arguments(t)[1:-1]
        if self._out is None or last[0][0] != t or not np.array_equal(last[6], modes) \
                or any(a.tobytes() != b.tobytes() for a, b in zip(last[1:6], at, strict=True)):
            return None
        return self._out[self.inputs : self.inputs + 7 * self.size].reshape(7, self.size)

    def at(self, problem: Problem, t: np.ndarray, x: np.ndarray, modes: np.ndarray, solver: Any,
           d: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Inputs, what elements look at, and crossing functions at several times, as columns."""
        if len(t) not in self._mapped:
            same = [2, 3, 4, 5, 6, 7]  # all but time and states
            self._mapped[len(t)] = Evaluator(
                self._several.map("several", "serial", len(t), same, []))
        out = self._mapped[len(t)](t, x.T.ravel(), problem.z, problem.p, problem.m, problem.d,
                                   modes, self._inverse(modes, solver, d))  # fmt: skip
        out, inner = out.reshape(len(t), -1).T, self.inputs + 7 * self.size
        looks = out[self.inputs : inner].reshape(7, self.size, len(t))
        return out[: self.inputs], looks, out[inner:]

    def fresh(self) -> HeldModes:
        """The same for another run, without what is known of this one."""
        new = copy.copy(self)
        new._out, new._known, new._matrix = None, {}, None
        return new

    def constants(self, modes: np.ndarray, solver: Any, d: np.ndarray) -> np.ndarray:
        """Modes and K in one row."""
        return np.concatenate([modes, self._inverse(modes, solver, d)])

    def _inverse(self, modes: np.ndarray, solver: Any, d: np.ndarray) -> np.ndarray:
        """K, column by column, for the elements that stick."""
        if d is not self._matrix:
            self._known, self._matrix = {}, d
        key = modes.tobytes()
        if key not in self._known:
            stuck = np.flatnonzero(modes == 0)
            k = np.zeros((self.size, self.size))
            if len(stuck):
                k[np.ix_(stuck, stuck)] = solver(d[np.ix_(stuck, stuck)])(np.eye(len(stuck)))
            self._known[key] = k.T.ravel()
        return self._known[key]
