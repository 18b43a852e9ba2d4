"""What does a solver see? An initial value problem in units of nominal values.

States, the algebraic unknowns that go with them, set-valued efforts, delayed signals: brought in
line with each other wherever a solver asks. Knows no solver, and no events beyond crossing
functions.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

from ..numerics.arrays import Array, Indices, length
from ..numerics.copies import shallow_copy
from ..numerics.tolerances import DIRECTION_STEP, TINY
from .delays import Delays, delays_of
from .evaluator import Arguments, Evaluator
from .failure import AlgebraicFailure
from .newton import DENSE, MANY, AlgebraicUnknowns
from .system import System

if TYPE_CHECKING:
    from scipy.sparse import csc_matrix  # imported with the first Jacobian, not with the package

__all__ = ["Problem", "spectral_radius"]

ROUNDS = 24  # of the power iteration; the second half counts
ALIKE, SETTLED = 8, 1e-3  # so many rounds in a row that have grown alike are enough


class Problem:
    """What a solver sees: ``y' = slope(t, y)`` in units of nominal values.

    ``y`` holds the states that are integrated. The rest of ``x`` (states tied by constraints whose
    coefficients change) and ``z`` follow from the residuals by Newton's method, started from the
    last solution. ``p`` is the parameter vector; ``scale_x`` and ``scale_z`` are nominal values,
    powers of two.
    """

    def __init__(self, system: System, p: Array, scale_x: Array, scale_z: Array) -> None:
        self.system, self.p = system, p
        # nominal values, powers of two
        self.scale_x, self.scale_z, self.scale_u = scale_x, scale_z, np.ones(system.nu)
        self.m = np.zeros(system.nm)
        self.d = np.zeros(system.nd)
        self.u = np.zeros(system.nu)
        # x, z, m, d, u: the present point: states, torn unknowns, held relations, discrete values,
        # set-valued efforts
        self.x = np.zeros(system.nx)
        self.z = np.zeros(system.nz)
        # torn unknowns at the last event, from which Newton's method starts once more where it
        # fails: a trial point far away may have left them far away
        self.z_at_event = self.z
        # where Newton's method starts from for what is solved for, at a time; None: from there
        self.guess: Callable[[float], Array] | None = None
        self.failure: AlgebraicFailure | None = None  # the last one that made a slope nan
        self.laws: Any = None  # set-valued laws that give u, if there are any
        # what takes steps, of a method that keeps it from episode to episode
        self.stepper: Any = None
        self.delays: Delays | None = delays_of(system, p)
        # how often each state was integrated and then had to be tied
        self.given_up = np.zeros(system.nx, dtype=int)
        self.preferred = np.zeros(system.nx, dtype=bool)  # states that are rather integrated
        self.tie(np.zeros(0, dtype=int))

    def copy_for_reading(self) -> Problem:
        """Return a copy of the problem with a point, modes and delays of its own."""
        new = shallow_copy(self)
        new.x, new.z, new.u = self.x.copy(), self.z.copy(), self.u.copy()
        new.m, new.d = self.m.copy(), self.d.copy()
        new.failure = None
        if self.laws is not None and not self.laws.recorded:
            new.laws = self.laws.fresh()
            new.laws.modes = self.laws.modes.copy()
        if self.delays is not None:
            new.delays = self.delays.copy_for_reading()
        new.guess, new.unknowns = None, self.unknowns.afresh()
        return new

    # -- which states are integrated ---------------------------------------------------
    def tie(self, tied: Indices) -> None:
        """Solve for these states, and integrate the others."""
        # tied, free: states that constraints determine, and those that are integrated
        self.tied, self.guess = tied, None
        free = np.ones(self.system.nx, dtype=bool)
        free[tied] = False
        self.free = np.flatnonzero(free)
        # size, scale: number and nominal values of the solver's unknowns
        self.size = len(self.free)
        self.scale = self.scale_x[self.free]
        self.unknowns = AlgebraicUnknowns(
            self.system, tied, np.concatenate([self.scale_x[tied], self.scale_z]))
        # algebraic: number of tied states and torn unknowns
        self.algebraic = self.unknowns.size

    def choose_states(self, t: float) -> bool:
        """Choose which states of each cluster to integrate; True when the choice is new."""
        if not self.system.clusters:
            return False
        from .state_selection import tied_states

        tied = tied_states(self.system, self.arguments(t), self.scale_x, self.tied, self.given_up,
                           self.preferred)
        if np.array_equal(tied, self.tied):
            return False
        if len(self.tied):
            self.given_up = self.given_up.copy()
            self.given_up[np.intersect1d(self.free, tied)] += 1
        self.tie(tied)
        return True

    @property
    def iterates(self) -> bool:
        """Whether slopes follow from efforts that are solved for."""
        return self.laws is not None

    @property
    def solved_for(self) -> Array:
        """Tied states and torn unknowns at the present point."""
        return np.append(self.x[self.tied], self.z)

    @solved_for.setter
    def solved_for(self, values: Array) -> None:
        self.x[self.tied], self.z[:] = np.split(values, [len(self.tied)])

    # -- evaluation ---------------------------------------------------------------------
    def arguments(self, t: float) -> Arguments:
        """What the system's functions take at the present point."""
        if self.delays is not None:
            self.delays.fill(self.d, t)
        return t, self.x, self.z, self.p, self.m, self.d, self.u

    def solve(self, t: float, y: Array) -> tuple[Array, Array]:
        """Full states and torn unknowns at integrated states ``y`` (scaled)."""
        self.x[self.free] = y * self.scale
        if self.guess is not None:  # the same branch, whatever was evaluated before
            self.solved_for = self.guess(t)
        try:
            self.update(t)
        except AlgebraicFailure:
            if self.guess is not None or np.array_equal(self.z, self.z_at_event):
                raise
            self.z[:] = self.z_at_event
            self.update(t)
        return self.x, self.z

    def update(self, t: float) -> None:
        """Bring algebraic unknowns and set-valued efforts in line with the present states."""
        self.solve_algebraic(t)
        if self.laws is not None:
            self.laws.apply(self, t)

    def solve_algebraic(self, t: float) -> None:
        """Bring tied states and torn unknowns in line with the states that are integrated.

        Raises AlgebraicFailure, naming the unknowns with the largest residuals.
        """
        if self.algebraic:
            self.unknowns.solve(self.arguments(t))

    def update_anew(self, t: float) -> None:
        """Solve the algebraic unknowns after relations or states have changed, maybe by far."""
        self.unknowns.forget()
        self.update(t)
        self.z_at_event = self.z.copy()

    def slope(self, t: float, y: Array) -> Array:
        """y' in scaled units; nan where the algebraic unknowns have no solution."""
        try:
            self.solve(t, y)
        except AlgebraicFailure as failure:
            self.failure = failure
            return np.full(self.size, np.nan)
        if self.laws is not None and self.laws.restless:
            self.failure = AlgebraicFailure(t, [self.laws.restless],
                                            "efforts that depend on each other do not settle")
            return np.full(self.size, np.nan)
        slope = self.system.slope(*self.arguments(t))
        if self.laws is not None:
            slope = self.laws.correct(slope, self, t)
        return slope[self.free] / self.scale

    def slope_jacobian(self, t: float, y: Array) -> csc_matrix:
        """d slope / d y, its whole diagonal stored."""
        from scipy.sparse import csc_matrix

        self.solve(t, y)
        args = self.arguments(t)
        j = self.system.slope_x.sparse(*args)
        if self.laws is not None:
            stored = np.full(j.nnz, TINY), j.indices, j.indptr
            pattern = csc_matrix(stored, shape=j.shape)
            j = csc_matrix(j + pattern + self.laws.jacobian_through_efforts(self, t))
        if self.algebraic:
            free, tied = self.free, self.tied
            rx, whole = self.system.residual_x.dense(*args), j.toarray()
            inner = self.unknowns.solver(args)(-rx[:, free])  # d(tied, z)/dy
            whole = (whole[:, free] + whole[:, tied] @ inner[: len(tied)]
                     + self.system.slope_z.sparse(*args) @ inner[len(tied):])
            j = csc_matrix(whole[free])
        data = j.data * np.repeat(self.scale, np.diff(j.indptr)) / self.scale[j.indices]
        return csc_matrix((data, j.indices, j.indptr), shape=j.shape)

    def fastest_rate(self, t: float, y: Array) -> float:
        """The largest modulus of an eigenvalue of the Jacobian, in 1/s; about, if it is large.

        Nothing changes by that, not even the last bits of unknowns that are solved for.
        """
        if not self.size:
            return 0.0
        beside = self.copy_for_reading()
        if self.size <= DENSE and not self.algebraic and self.laws is None:
            beside.solve(t, y)
            full = self.system.slope_x.dense(*beside.arguments(t))
            if not np.isfinite(full).all():
                return np.inf
            return float(np.max(np.abs(np.linalg.eigvals(full))))
        return spectral_radius(beside._jacobian_product(t, y), self.size)

    def _jacobian_product(self, t: float, y: Array) -> Callable[[Array], Array]:
        """What multiplies a vector by the Jacobian."""
        if self.laws is not None or self.size + self.algebraic <= MANY:
            product: Callable[[Array], Array] = self.slope_jacobian(t, y).__matmul__
            return product
        base = self.slope(t, y)  # differences: derivatives would be written for all unknowns
        start = self.x.copy(), self.z.copy()
        h = DIRECTION_STEP * max(1.0, length(y))

        def difference(v: Array) -> Array:
            size = length(v)
            ahead = self.slope(t, y + h / size * v)
            self.x[:], self.z[:] = start  # the run goes on from there
            return (ahead - base) * (size / h)

        return difference

    # -- relations -----------------------------------------------------------------------
    def values(self, function: Evaluator, t: float, y: Array) -> Array:
        """What a function of the system comes to at integrated states ``y``."""
        self.solve(t, y)
        return function(*self.arguments(t))

    def crossings(self, t: float, y: Array) -> Array:
        """Crossing functions at integrated states ``y``."""
        return self._exact(self.values(self.system.crossings, t, y), t)

    def crossings_here(self, t: float, behind: float | None = None) -> Array:
        """Crossing functions at the present point, algebraic unknowns brought up to date.

        What jumps in time is as it is ``behind`` that point.
        """
        self.update_anew(t)
        _, *point = self.arguments(t)
        behind = t if behind is None else behind
        return self._exact(self.system.crossings(behind, *point), behind)

    def _exact(self, crossings: Array, t: float) -> Array:
        return crossings if self.laws is None else self.laws.crossings(self, crossings, t)

    # -- the solver's unknowns -------------------------------------------------------------
    def solver_vector(self) -> Array:
        """The solver's unknowns at the present point."""
        return self.x[self.free] / self.scale

    def name_of(self, i: int) -> str:
        """Path of a solver unknown."""
        return self.system.state_name(int(self.free[i]))


def spectral_radius(product: Callable[[Array], Array], n: int) -> float:
    """About the largest modulus of an eigenvalue of an n x n matrix, given as its product with
    a vector, by power iteration; inf where it is not finite."""
    v = np.random.default_rng(0).standard_normal(n)
    growth = []
    for _ in range(ROUNDS):
        v = product(v)
        size = length(v)
        if not (np.isfinite(size) and size > 0):
            return np.inf if not np.isfinite(size) else 0.0
        v /= size
        growth.append(np.log(size))
        if len(growth) >= ALIKE and np.ptp(growth[-ALIKE:]) <= SETTLED:
            break
    return float(np.exp(np.mean(growth[len(growth) // 2:])))
