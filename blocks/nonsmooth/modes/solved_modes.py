"""What do efforts and slopes come to while no mode changes, by one small solve?

Between two events the modes of set-valued laws are held, and the efforts lambda satisfy as many
equations as there are elements: ``rate(lambda) == 0`` for what sticks, ``lambda ==
kinetic(lambda)`` for what slides. Where the matrix of the rates moves with the states (arms
of a planar contact) or bounds depend on efforts (friction loaded by a normal force), they are
solved at every point: residuals and their matrix are one function, slopes and whatever the
laws look at another. Rows of what sticks are divided by the own rate per effort, so that
determinants have no unit. Where nothing moves with the states,
:mod:`blocks.nonsmooth.modes.held_modes` does with one function.
"""

from __future__ import annotations

import copy
from typing import Any

import casadi as ca
import numpy as np
from scipy.linalg.lapack import dgesv

from ...system.evaluator import Evaluator
from ...system.problem import Problem
from .gaps import positions_of

__all__ = ["SolvedModes"]

ROUNDS = 25  # of Newton's method, where bounds have kinks
PIVOT = 1e-9  # of a row: a smaller one is left to the general way
SURE = 1e-6  # determinant of what sticks, above which nothing is undetermined
FAR = 1e-2  # determinant per that of what sticks, above which no paradox is near
DEAD = 1e-14  # of the largest rate per effort: an element that moves nothing


class SolvedModes:
    """Efforts, flows, bounds and slopes of elements whose equations are solved at every point.

    Parameters
    ----------
    system : System
        Without algebraic unknowns.
    column, sign : where the elements' efforts stand among its inputs
    load : LoadDependence, or None
        Which elements' bounds move with efforts.
    flow, low, high, back, forth, rate, gap : expressions, one row per element
    """

    def __init__(self, system: Any, column: np.ndarray, sign: np.ndarray, load: Any, flow: Any,
                 low: Any, high: Any, back: Any, forth: Any, rate: Any, gap: Any) -> None:
        n, tape = len(column), system.tape
        modes, effort = ca.SX.sym("modes", n), ca.SX.sym("effort", n)
        place = ca.DM.triplet(column.tolist(), list(range(n)), ca.DM(sign), system.nu, n)
        inputs = ca.densify(ca.mtimes(place, effort))
        looks = ca.vertcat(flow, low, high, back, forth, rate, gap)
        looks, slope, crossings = ca.substitute(
            [looks, tape.slope, tape.crossings], [tape.u], [inputs])
        flow, low, high, back, forth, rate, gap = ca.vertsplit(looks, n)
        own = -ca.jacobian(rate, effort)
        diagonal = ca.densify(ca.diag(own))
        scale = ca.if_else(diagonal > 0, 1 / diagonal, 1)
        kinetic = ca.if_else(modes > 0, forth, ca.if_else(modes < 0, back, 0))
        stuck = modes == 0
        residual = ca.if_else(stuck, -scale * rate, effort - kinetic)
        matrix = ca.if_else(ca.repmat(stuck, 1, n), ca.repmat(scale, 1, n) * own,
                            ca.SX.eye(n) - ca.jacobian(kinetic, effort))  # fmt: skip
        self.affine = not any(ca.which_depends(residual, effort, 2, True))
        self.dependent = np.zeros(n, dtype=bool) if load is None else load.dependent
        self.in_a_circle = load is not None and load.in_a_circle
        self.symbols = [*system.arguments[:-1], modes, effort]
        self.expressions = {
            "slope": slope, "effort": effort, "flow": flow, "low": low, "high": high, "back": back,
            "forth": forth, "gap": gap, "crossings": crossings, "matrix": ca.densify(matrix),
            "residual": ca.densify(residual)}  # fmt: skip
        equations = ca.vertcat(ca.vec(ca.densify(matrix)), residual, diagonal)
        self._equations = ca.Function("equations", self.symbols, [ca.densify(equations)])
        self.length = self._equations.n_instructions()
        self._several = ca.Function("several", self.symbols, [ca.densify(
            ca.vertcat(looks, crossings))])  # fmt: skip
        self._solve = Evaluator(self._equations)
        self.evaluate = Evaluator(ca.Function("solved", self.symbols, [ca.densify(
            ca.vertcat(looks, slope))]))  # fmt: skip
        self._mapped: dict[int, tuple[Evaluator, Evaluator]] = {}  # by the number of times
        self.size, self.column, self.sign, self._all = n, column, sign, np.arange(n)
        self.positions = positions_of(system)
        self.slope = np.zeros(system.nx)  # at the last evaluation
        self._out: np.ndarray | None = None  # what elements look at
        self._matrix: Any = None  # with the own rates per effort

    def fresh(self) -> SolvedModes:
        """The same for another run, without what is known of this one."""
        new = copy.copy(self)
        new._out = new._matrix = None
        return new

    # -- one point ---------------------------------------------------------------------
    def __call__(self, problem: Problem, t: float, modes: np.ndarray) -> bool:
        """Set the problem's inputs, and keep what there is besides; False where that is unsafe."""
        given = problem.arguments(t)[:-1]
        effort = problem.u[self.column] * self.sign
        found = self._efforts(given, modes, np.zeros(self.size) if self.affine else effort)
        self._out = None
        if found is None:
            return False
        problem.u[self.column] = found * self.sign
        out = self.evaluate(*given, modes, found)
        self._out, self.slope = out[: 7 * self.size].copy(), out[7 * self.size :]
        return True

    def _efforts(self, given: tuple[Any, ...], modes: np.ndarray, effort: np.ndarray
                 ) -> np.ndarray | None:
        n, last = self.size, np.inf
        exact = (modes != 0) & ~self.dependent  # such as no effort of an open contact
        for _ in range(1 if self.affine else ROUNDS):
            out = self._solve(*given, modes, effort)
            matrix, residual = out[: n * n].reshape(n, n).T, out[n * n : n * n + n]
            self._matrix = matrix, out[n * n + n :]
            lu, _, step, failed = dgesv(matrix, residual)
            if failed or not (np.abs(lu.diagonal()) > PIVOT).all():
                return None
            step[exact] = residual[exact]
            effort = effort - step
            size, whole = np.abs(step).max(), np.abs(effort).max()
            if self.affine or size <= 1e-14 * whole or (size > 0.5 * last and size < 1e-9 * whole):
                return effort
            last = size
        return None

    def looks(self, problem: Problem, t: float, modes: np.ndarray) -> np.ndarray | None:
        """Flows, bounds, efforts, rates and gaps of the last evaluation, if it was here."""
        last = self.evaluate.arguments
        if self._out is None or last[0][0] != t or (last[6] != modes).any() or any(
                a.size and a.tobytes() != b.tobytes()
                for a, b in zip(last[1:6], problem.arguments(t)[1:-1], strict=True)):
            return None
        return self._out.reshape(7, self.size)

    def determinants(self, modes: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Of the equations at the last evaluation, and of those of what slides."""
        matrix = self._matrix[0][None]
        return np.linalg.det(matrix), _determinant(matrix, np.flatnonzero(modes))

    def holds(self, flow: np.ndarray) -> bool:
        """Whether these are the flows of the last evaluation."""
        return flow.base is not None and flow.base is self._out

    def reserve(self, modes: np.ndarray) -> float:
        """What :meth:`reserves` gives at the last evaluation."""
        matrix, diagonal = self._matrix
        return float(self.reserves(matrix[None], diagonal[None], modes)[0])

    # -- several points ------------------------------------------------------------------
    def at(self, problem: Problem, t: np.ndarray, x: np.ndarray, modes: np.ndarray
           ) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray] | None:
        """Efforts, what elements look at, crossing functions and reserves, as columns."""
        n, k = self.size, len(t)
        if k not in self._mapped:
            same = [2, 3, 4, 5, 6]  # all but time, states and efforts
            self._mapped[k] = tuple(Evaluator(f.map("several", "serial", k, same, []))
                                    for f in (self._equations, self._several))  # type: ignore
        solve, look = self._mapped[k]
        given = t, x.T.ravel(), problem.z, problem.p, problem.m, problem.d, modes
        effort = np.zeros((k, n))
        if not self.affine:
            effort += problem.u[self.column] * self.sign
        exact = (modes != 0) & ~self.dependent
        for _ in range(1 if self.affine else ROUNDS):
            out = solve(*given, effort.ravel()).reshape(k, -1)
            matrix, residual = out[:, : n * n].reshape(k, n, n).transpose(0, 2, 1), out[
                :, n * n : n * n + n]
            reserves = self.reserves(matrix, out[:, n * n + n :], modes)
            if not (reserves > 0).all():
                return None
            step = np.linalg.solve(matrix, residual[..., None])[..., 0]
            step[:, exact] = residual[:, exact]
            effort = effort - step
            if self.affine or np.abs(step).max() <= 1e-13 * np.abs(effort).max():
                break
        else:
            return None
        out = look(*given, effort.ravel()).reshape(k, -1).T
        return effort.T, out[: 7 * n].reshape(7, n, k), out[7 * n :], reserves

    def reserves(self, matrix: np.ndarray, diagonal: np.ndarray, modes: np.ndarray) -> np.ndarray:
        """Determinants per that of what sticks; 0 where no quick look can tell.

        Far from 0 what sticks has no undetermined efforts, and what slides no paradox.
        """
        stuck, slides = np.flatnonzero(modes == 0), np.flatnonzero(modes)
        alone = _determinant(matrix, stuck)
        whole = _determinant(matrix, self._all) if self.dependent.any() else alone
        sure = (alone > SURE) & (diagonal.min(axis=1) > DEAD * diagonal.max(axis=1))
        share = np.divide(whole, alone, out=np.zeros(len(whole)), where=sure)
        if self.in_a_circle:  # what slides may jam by itself
            own = _determinant(matrix, slides)
            share = np.minimum(own, np.divide(share, own, out=np.zeros(len(own)), where=own > FAR))
        return np.where(share > FAR, share, 0.0)


def _determinant(matrix: np.ndarray, elements: np.ndarray) -> np.ndarray:
    """Of the rows and columns of some elements, for every matrix."""
    if len(elements) == 0:
        return np.ones(len(matrix))
    i, j = elements[0], elements[-1]
    if len(elements) == 1:
        return matrix[:, i, i]
    if len(elements) == 2:
        return matrix[:, i, i] * matrix[:, j, j] - matrix[:, i, j] * matrix[:, j, i]
    return np.linalg.det(matrix[:, elements[:, None], elements])
