"""Which equations hold the modes of elements at nodes without mass?

Every element states one equation: a kinetic effort where it slides, no flow where it sticks.
What it takes is among the inputs ``u``, what it gives follows from states and inputs::

                 gives its effort            gives its flow
    sliding      u == kinetic effort         effort == kinetic effort
    stuck        flow == 0                   u == 0

Where a combination of them does not contain ``u`` it says something about the states (the
force of a spring between two that slide, the velocity of a body that sticks), and its time
derivative takes its place.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import casadi as ca
import numpy as np

from ...language.expression import TIME
from ...numerics.arrays import Array, Flags, Indices
from ...numerics.tolerances import BLOCK_SINGULAR, SUM_ROUNDING
from .elements import Elements

if TYPE_CHECKING:
    from ...system import Problem, System
    from .law_functions import LawExpressions

__all__ = ["LinearEquations", "ModeEquations", "without_rounding"]



@dataclass
class LinearEquations:
    """The equations of some modes at one point, linearised in the inputs.

    Attributes
    ----------
    residual, matrix : of as many equations as there are inputs
    violation : what combinations without inputs miss
    weight : their weights, a row each
    null : directions of the inputs that no equation determines, as columns
    """

    residual: Array
    matrix: Array
    violation: Array
    weight: Array
    null: Array

    def step(self) -> Array | None:
        """Change of the inputs that solves the equations, the least one; None if not finite."""
        if not (np.isfinite(self.matrix).all() and np.isfinite(self.residual).all()):
            return None
        even, rows, columns = _even(self.matrix)
        right = self.residual / rows
        if not self.null.shape[1]:
            from scipy.linalg.lapack import dgesv

            _, _, step, failed = dgesv(even, right)
            return None if failed else step / columns
        return np.linalg.lstsq(even, right, rcond=BLOCK_SINGULAR)[0] / columns

    @property
    def error(self) -> float:
        """The largest residual, with rows of the matrix scaled to 1."""
        return float(np.abs(self.residual / _even(self.matrix)[1]).max(initial=0.0))


class ModeEquations:
    """Equations of modes, their derivatives, and what elements come to.

    Parameters
    ----------
    system : System
    elements : Elements
    laws : their expressions

    Attributes
    ----------
    flow : expressions of the flows
    affine : whether all of it is linear in the inputs
    """

    def __init__(self, system: System, elements: Elements, laws: LawExpressions) -> None:
        tape, self.elements, self.flow = system.tape, elements, laws.flow
        self.size = n = elements.size
        gives = elements.gives_flow.tolist()
        output = ca.vertcat(*(laws.effort[k] if g else laws.flow[k] for k, g in enumerate(gives)))

        def rate(e: ca.SX) -> ca.SX:
            return ca.jtimes(e, tape.x, tape.slope) + ca.jacobian(e, TIME)

        rows = [output, laws.back, laws.forth, rate(output), rate(laws.back), rate(laws.forth)]
        looks = [laws.flow, laws.effort, laws.low, laws.high]
        self._values = system.function("looks", ca.densify(ca.vertcat(*looks, *rows)))
        inputs = elements.column.tolist()
        by_u = [ca.densify(ca.jacobian(e, tape.u)[:, inputs]) for e in rows]
        self._by_u = system.function("rows_u", ca.horzcat(*(b.T for b in by_u)))
        self._by_x = system.function("rows_x", ca.horzcat(
            *(ca.densify(ca.jacobian(e, tape.x)).T for e in rows)))
        everything = ca.vertcat(*looks, *rows)
        self.affine = not any(ca.which_depends(everything, tape.u, 2, True))
        self._everyone = np.arange(n)
        self._has_switches = bool(elements.switch.any())
        self._last: tuple[bytes, Array, tuple[Array, Array]] | None = None  # combinations
        self._reduced: tuple[Array, Array] | None = None  # matrix, and what it leaves open

    def values(self, problem: Problem, t: float) -> Array:
        """Flows, efforts, bounds at rest and in motion, a row each."""
        out = self._values(*problem.arguments(t)).reshape(10, self.size)
        return out[[0, 1, 2, 3, 5, 6]]

    def given(self, problem: Problem, t: float) -> tuple[Array, Array]:
        """What the elements give, and its rate."""
        out = self._values(*problem.arguments(t)).reshape(10, self.size)
        return out[4], out[7]

    def by_inputs(self, problem: Problem, t: float) -> Array:
        """Given, back, forth and their rates by what the elements take."""
        n = self.size
        return self._by_u(*problem.arguments(t)).reshape(6, n, n) * self.elements.sign

    def at(self, problem: Problem, t: float, modes: Indices) -> LinearEquations:
        """The equations of some modes."""
        out = self._values(*problem.arguments(t)).reshape(10, self.size)
        value, rate = self._equations(modes, out[4:7], out[7:])
        by_u = self.by_inputs(problem, t)
        matrix, rate_u = self._equations(modes, by_u[:3], by_u[3:])
        direct = self._direct(modes)
        taken = self.elements.efforts_of(problem.u)
        value[direct] += taken[direct]
        matrix[direct, self._everyone[direct]] += 1.0
        span, weight = self._combinations(modes, matrix)
        reduced = matrix
        if len(weight):
            reduced = np.vstack([without_rounding(span, matrix), without_rounding(weight, rate_u)])
        residual = np.concatenate([span @ value, weight @ rate]) if len(weight) else value
        return LinearEquations(residual, reduced, weight @ value, weight, self._null(reduced))

    def by_x(self, problem: Problem, t: float, modes: Indices) -> tuple[Array, Array]:
        """Derivatives of the equations by the states, and those of what is missed."""
        n = self.size
        by_x = self._by_x(*problem.arguments(t)).reshape(6, n, -1)
        value, rate = self._equations(modes, by_x[:3], by_x[3:])
        by_u = self.by_inputs(problem, t)
        matrix = self._equations(modes, by_u[:3], by_u[3:])[0]
        direct = self._direct(modes)
        matrix[direct, self._everyone[direct]] += 1.0
        span, weight = self._combinations(modes, matrix)
        whole = np.vstack([span @ value, weight @ rate]) if len(weight) else value
        return whole, without_rounding(weight, value)

    def by_taken(self, problem: Problem, t: float, taken: Array) -> tuple[Array, Array]:
        """Changes of efforts and flows per change of what is taken."""
        through = self.by_inputs(problem, t)[0] @ taken
        gives = self.elements.gives_flow[:, None]
        return np.where(gives, through, taken), np.where(gives, taken, through)

    def switched(self, problem: Problem, t: float, modes: Indices) -> Indices:
        """Modes with those of switches as their conditions say."""
        if not self._has_switches:
            return modes
        low = self.values(problem, t)[2]
        return np.where(self.elements.switch, np.where(low < 0, 0, -1), modes)

    def _direct(self, modes: Indices) -> Flags:
        """Elements whose equation is about what they take."""
        return self.elements.gives_flow != (modes != 0)

    def _equations(self, modes: Indices, values: Array, rates: Array
                   ) -> tuple[Array, Array]:
        """What the equations come to but for what is taken, and their rates.

        From given, back and forth; or from the rows of their derivatives.
        """
        shape = (self.size, *[1] * (values.ndim - 2))
        ahead, slides = (modes > 0).reshape(shape), (modes != 0).reshape(shape)
        follows = ~self._direct(modes).reshape(shape)
        out = [np.where(follows, given, 0.0) - np.where(slides, np.where(ahead, forth, back), 0.0)
               for given, back, forth in (values, rates)]  # fmt: skip
        return out[0], out[1]

    def _combinations(self, modes: Indices, matrix: Array) -> tuple[Array, Array]:
        """Combinations of equations that contain inputs, and those that do not."""
        last = self._last
        if last is None or last[0] != modes.tobytes() or not np.array_equal(last[1], matrix):
            even, rows, _ = _even(matrix)
            if np.isfinite(even).all():
                left, values, _ = np.linalg.svd(even)
                rank = int(np.sum(values > BLOCK_SINGULAR * values.max(initial=0.0)))
            else:
                left, rank = np.eye(self.size), self.size
            left = np.where(np.abs(left) > SUM_ROUNDING * np.abs(left).max(axis=0), left, 0.0)
            parts = left[:, :rank].T / rows, left[:, rank:].T / rows
            last = self._last = modes.tobytes(), matrix.copy(), parts
        return last[2]

    def _null(self, matrix: Array) -> Array:
        """Directions of the inputs that a matrix leaves open, as columns."""
        last = self._reduced
        if last is None or not np.array_equal(last[0], matrix):
            even, _, columns = _even(matrix)
            null = np.zeros((self.size, 0))
            if np.isfinite(even).all():
                _, values, right = np.linalg.svd(even)
                rank = int(np.sum(values > BLOCK_SINGULAR * values.max(initial=0.0)))
                null = right[rank:].T / columns[:, None]
            last = self._reduced = matrix.copy(), null
        return last[1]


def without_rounding(one: Array, other: Array) -> Array:
    """A product of matrices, with zero where it is rounding only."""
    out = one @ other
    return np.where(np.abs(out) > SUM_ROUNDING * (np.abs(one) @ np.abs(other)), out, 0.0)


def _even(matrix: Array) -> tuple[Array, Array, Array]:
    """A matrix with rows and columns of size 1, and the factors of both."""
    rows = np.abs(matrix).max(axis=1, initial=0.0)
    rows = np.where(rows > 0, rows, 1.0)
    even = matrix / rows[:, None]
    columns = np.abs(even).max(axis=0, initial=0.0)
    columns = np.where(columns > 0, columns, 1.0)
    return even / columns, rows, columns
