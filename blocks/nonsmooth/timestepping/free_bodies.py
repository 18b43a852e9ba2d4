"""How do the bodies of a network move without their contacts, and under forces of these?

Slopes without any effort of set-valued laws, what contacts see of the bodies, and what forces on
these do at once; matrices are dense where the network is small.
"""

from __future__ import annotations

from typing import TypeAlias

import casadi as ca
import numpy as np
from scipy.sparse import csc_matrix, csr_matrix

from ...language.expression import TIME
from ...numerics.arrays import Array, Indices
from ...system.evaluator import Evaluator
from ...system.problem import Problem
from ...system.system import System
from ..complementarity.scaling import Matrix
from .bare_network import Bare

__all__ = ["FreeBodies"]

SMALL = 300  # classes up to which matrices of a network are dense
Arguments: TypeAlias = tuple[float, Array, Array, Array, Array]


class FreeBodies:
    """The network without its set-valued laws.

    Parameters
    ----------
    system : System
    bare : Bare
        The network without the components that have such laws.
    seen : classes that contacts look at

    Attributes
    ----------
    slope_of, seen_of : functions of (t, x, p, m, d): slopes, and what is seen
    slope_x_of, slope_w_of, seen_x_of : their derivatives by states and inputs of the bare network
    gathers : from values of classes that contacts compute to these inputs
    pushed : per state, 1 for velocities
    """

    def __init__(self, system: System, bare: Bare, seen: Indices) -> None:
        tape = system.tape
        self.small = max(bare.gathers.shape) <= SMALL
        self.classes, self.size_of_seen = system.flat.classes, len(seen)
        self.gathers = bare.gathers
        self._gathers: Matrix = bare.gathers.toarray() if self.small else bare.gathers
        w0 = ca.SX.zeros(bare.w.numel())
        free = [TIME, tape.x, tape.p, tape.m, tape.d]
        slope = ca.substitute(bare.slope, bare.w, w0)
        self.slope_of = Evaluator(ca.Function("slope", free, [ca.densify(slope)]))
        self.slope_x_of = _sparse(free, ca.jacobian(slope, tape.x))
        by_w = ca.substitute(ca.jacobian(bare.slope, bare.w), bare.w, w0)
        self.slope_w_of = _sparse(free, by_w)
        self.pushed = np.zeros(system.nx)  # 1 for velocities: what forces change at once
        self.pushed[np.array(by_w.sparsity().row(), dtype=int)] = 1.0
        values = tape.values[seen.tolist()]
        self.seen_of = Evaluator(ca.Function("seen", free, [ca.densify(values)]))
        self.seen_x_of = _sparse(free, ca.jacobian(values, tape.x))

    def slope(self, problem: Problem, t: float, y: Array) -> Array:
        """Slopes without any set-valued effort, scaled."""
        return self.slope_of(*_arguments(problem, t, y)) / problem.scale

    def jacobian(self, problem: Problem, t: float, y: Array) -> Matrix:
        """Their derivatives by the states, scaled."""
        if self.small:
            j = self.slope_x_of.dense(*_arguments(problem, t, y))
            return j * problem.scale / problem.scale[:, None]
        j = self.slope_x_of.sparse(*_arguments(problem, t, y))
        data = j.data * np.repeat(problem.scale, np.diff(j.indptr)) / problem.scale[j.indices]
        return csc_matrix((data, j.indices, j.indptr), shape=j.shape)

    def seen(self, problem: Problem, t: float, y: Array) -> Array:
        """Values of the classes that contacts look at."""
        return self.seen_of(*_arguments(problem, t, y))

    def by_velocity(self, problem: Problem, t: float, y: Array, by_seen: Matrix) -> Matrix:
        """Derivatives by the velocities, from those by what is seen."""
        seen_x = self._matrix_at(self.seen_x_of, problem, t, y)
        if self.small:
            return by_seen @ seen_x * self.pushed[None, :]
        by_x = csr_matrix(by_seen @ seen_x)
        by_x.data *= self.pushed[by_x.indices]
        return by_x

    def push(self, problem: Problem, t: float, y: Array, forces: Matrix) -> Matrix:
        """Change of the slopes by values of the classes that contacts compute."""
        return self._matrix_at(self.slope_w_of, problem, t, y) @ (self._gathers @ forces)

    def matrix(self, rows: list[Indices], columns: list[Indices], values: list[Array],
               shape: tuple[int, int]) -> Matrix:
        """Entries that are added."""
        at, entry = (np.concatenate(rows), np.concatenate(columns)), np.concatenate(values)
        if not self.small:
            return csc_matrix((entry, at), shape=shape)
        out = np.zeros(shape)
        np.add.at(out, at, entry)
        return out

    def _matrix_at(self, evaluator: Evaluator, problem: Problem, t: float, y: Array) -> Matrix:
        args = _arguments(problem, t, y)
        return evaluator.dense(*args) if self.small else evaluator.sparse(*args)


def _arguments(problem: Problem, t: float, y: Array) -> Arguments:
    if problem.delays is not None:
        problem.delays.fill(problem.d, t)
    return t, y * problem.scale, problem.p, problem.m, problem.d


def _sparse(arguments: list[ca.SX], expression: ca.SX) -> Evaluator:
    return Evaluator(ca.Function("jacobian", arguments, [expression]))
