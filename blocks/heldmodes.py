"""What do efforts and slopes come to while no mode changes, in one evaluation?

Between two events the modes of set-valued laws are held. Efforts that slide are then
functions of the states, and those that stick follow linearly from them: with D the
matrix of the rates per effort and S the elements that stick, lambda_S = D_SS^-1 b_S. Where
D is constant this and the slopes are one function of the states, the modes and K, which
is D_SS^-1 on S and 0 elsewhere. What a general network needs is in
:mod:`blocks.setvalued`.
"""

from __future__ import annotations

from typing import Any

import casadi as ca
import numpy as np

from .system import Evaluator, Problem

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

    def __init__(self, system: Any, column: np.ndarray, sign: np.ndarray, flow: Any, low: Any,
                 high: Any, back: Any, forth: Any, rate: Any, gap: Any) -> None:
        n, tape = len(column), system.tape
        modes, k = ca.SX.sym("modes", n), ca.SX.sym("K", n, n)
        sliding = ca.if_else(modes > 0, forth, ca.if_else(modes < 0, back, 0))
        place = ca.DM.triplet(column.tolist(), list(range(n)), ca.DM(sign), system.nu, n)
        of_sliding = ca.mtimes(place, sliding)
        unheld = ca.substitute(rate, tape.u, of_sliding)
        inputs = of_sliding + ca.mtimes(place, ca.mtimes(k, unheld))
        slope = ca.substitute(tape.slope, tape.u, inputs)
        everything = ca.vertcat(inputs, flow, low, high, back, forth, unheld, gap, slope)
        self.evaluate = Evaluator(ca.Function(
            "held", [*system.arguments[:-1], modes, k], [ca.densify(everything)]))
        self.size, self.inputs = n, system.nu
        self.slope = np.zeros(system.nx)  # at the last evaluation
        self._known: dict[bytes, np.ndarray] = {}
        self._matrix: Any = None

    def __call__(self, problem: Problem, t: float, modes: np.ndarray, solver: Any, d: np.ndarray
                 ) -> np.ndarray:
        """Set the problem's inputs; returns flows, bounds, efforts, rates and gaps, a row each."""
        out = self.evaluate(*problem._arguments(t)[:-1], modes, self._inverse(modes, solver, d))
        inner = self.inputs + 7 * self.size
        problem.u[:] = out[: self.inputs]
        self.slope = out[inner:]
        return out[self.inputs : inner].reshape(7, self.size)

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
