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
from typing import Any

import casadi as ca
import numpy as np
from scipy.linalg.lapack import dgesv

from ...language.expression import TIME
from ...system.problem import Problem

__all__ = ["Held", "HeldRows", "without_rounding"]

SINGULAR = 1e-10  # of the largest singular value, rows and columns of size 1

ROUNDING = 1e-12  # of the terms of a sum: one that is none


@dataclass
class Held:
    """The equations of some modes at one point.

    Attributes
    ----------
    residual, matrix : of as many equations as there are inputs
    violation : what combinations without inputs miss
    weight : their weights, a row each
    null : directions of the inputs that no equation determines, as columns
    """

    residual: np.ndarray
    matrix: np.ndarray
    violation: np.ndarray
    weight: np.ndarray
    null: np.ndarray

    def step(self) -> np.ndarray | None:
        """Change of the inputs that solves the equations, the least one; None if not finite."""
        if not (np.isfinite(self.matrix).all() and np.isfinite(self.residual).all()):
            return None
        even, rows, columns = _even(self.matrix)
        right = self.residual / rows
        if not self.null.shape[1]:
            _, _, step, failed = dgesv(even, right)
            return None if failed else step / columns
        return np.linalg.lstsq(even, right, rcond=SINGULAR)[0] / columns

    @property
    def error(self) -> float:
        """The largest residual, with rows of the matrix scaled to 1."""
        return float(np.abs(self.residual / _even(self.matrix)[1]).max(initial=0.0))


class HeldRows:
    """Equations of modes, their derivatives, and what elements look at.

    Parameters
    ----------
    laws : MixedLaws
    flow, effort, low, high, back, forth : expressions, one row per element
    """

    def __init__(self, laws: Any, flow: Any, effort: Any, low: Any, high: Any, back: Any,
                 forth: Any) -> None:
        self.laws, system, tape = laws, laws.system, laws.system.tape
        self.size = n = laws.size
        gives = laws.gives_flow.tolist()
        output = ca.vertcat(*(effort[k] if g else flow[k] for k, g in enumerate(gives)))

        def rate(e: Any) -> Any:
            return ca.jtimes(e, tape.x, tape.slope) + ca.jacobian(e, TIME)

        rows = [output, back, forth, rate(output), rate(back), rate(forth)]
        looks = [flow, effort, low, high]
        self._looks = system.function("looks", ca.densify(ca.vertcat(*looks, *rows)))
        inputs = laws.column.tolist()
        by_u = [ca.densify(ca.jacobian(e, tape.u)[:, inputs]) for e in rows]
        self._by_u = system.function("rows_u", ca.horzcat(*(b.T for b in by_u)))
        self._by_x = system.function("rows_x", ca.horzcat(
            *(ca.densify(ca.jacobian(e, tape.x)).T for e in rows)))
        everything = ca.vertcat(*looks, *rows)
        self.affine = not any(ca.which_depends(everything, tape.u, 2, True))
        self._everyone = np.arange(n)
        self._known: tuple[bytes, np.ndarray, Any] | None = None
        self._reduced: tuple[np.ndarray, np.ndarray] | None = None

    def look(self, problem: Problem, t: float) -> np.ndarray:
        """Flows, efforts, bounds at rest and in motion, a row each."""
        out = self._looks(*problem.arguments(t)).reshape(10, self.size)
        return out[[0, 1, 2, 3, 5, 6]]

    def given(self, problem: Problem, t: float) -> tuple[np.ndarray, np.ndarray]:
        """What the elements give, and its rate."""
        out = self._looks(*problem.arguments(t)).reshape(10, self.size)
        return out[4], out[7]

    def by_inputs(self, problem: Problem, t: float) -> np.ndarray:
        """Given, back, forth and their rates by what the elements take."""
        n = self.size
        return self._by_u(*problem.arguments(t)).reshape(6, n, n) * self.laws.sign

    def at(self, problem: Problem, t: float, modes: np.ndarray) -> Held:
        """The equations of some modes."""
        out = self._looks(*problem.arguments(t)).reshape(10, self.size)
        value, rate = self._equations(modes, out[4:7], out[7:])
        by_u = self.by_inputs(problem, t)
        matrix, rate_u = self._equations(modes, by_u[:3], by_u[3:])
        direct = self._direct(modes)
        taken = problem.u[self.laws.column] * self.laws.sign
        value[direct] += taken[direct]
        matrix[direct, self._everyone[direct]] += 1.0
        span, weight = self._combinations(modes, matrix)
        reduced = matrix
        if len(weight):
            reduced = np.vstack([without_rounding(span, matrix), without_rounding(weight, rate_u)])
        residual = np.concatenate([span @ value, weight @ rate]) if len(weight) else value
        return Held(residual, reduced, weight @ value, weight, self._null(reduced))

    def by_x(self, problem: Problem, t: float, modes: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
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

    def along(self, problem: Problem, t: float, taken: np.ndarray
              ) -> tuple[np.ndarray, np.ndarray]:
        """Changes of efforts and flows per change of what is taken."""
        through = self.by_inputs(problem, t)[0] @ taken
        gives = self.laws.gives_flow[:, None]
        return np.where(gives, through, taken), np.where(gives, taken, through)

    def _direct(self, modes: np.ndarray) -> np.ndarray:
        """Elements whose equation is about what they take."""
        return self.laws.gives_flow != (modes != 0)

    def _equations(self, modes: np.ndarray, values: np.ndarray, rates: np.ndarray
                   ) -> tuple[np.ndarray, np.ndarray]:
        """What the equations come to but for what is taken, and their rates.

        From given, back and forth; or from the rows of their derivatives.
        """
        shape = (self.size, *[1] * (values.ndim - 2))
        ahead, slides = (modes > 0).reshape(shape), (modes != 0).reshape(shape)
        follows = ~self._direct(modes).reshape(shape)
        out = [np.where(follows, given, 0.0) - np.where(slides, np.where(ahead, forth, back), 0.0)
               for given, back, forth in (values, rates)]  # fmt: skip
        return out[0], out[1]

    def _combinations(self, modes: np.ndarray, matrix: np.ndarray) -> tuple[Any, Any]:
        """Combinations of equations that contain inputs, and those that do not."""
        kept = self._known
        if kept is None or kept[0] != modes.tobytes() or not np.array_equal(kept[1], matrix):
            even, rows, _ = _even(matrix)
            if np.isfinite(even).all():
                left, values, _ = np.linalg.svd(even)
                rank = int(np.sum(values > SINGULAR * values.max(initial=0.0)))
            else:
                left, rank = np.eye(self.size), self.size
            left = np.where(np.abs(left) > ROUNDING * np.abs(left).max(axis=0), left, 0.0)
            parts = left[:, :rank].T / rows, left[:, rank:].T / rows
            kept = self._known = modes.tobytes(), matrix.copy(), parts
        return kept[2]

    def _null(self, matrix: np.ndarray) -> np.ndarray:
        kept = self._reduced
        if kept is None or not np.array_equal(kept[0], matrix):
            even, _, columns = _even(matrix)
            null = np.zeros((self.size, 0))
            if np.isfinite(even).all():
                _, values, right = np.linalg.svd(even)
                rank = int(np.sum(values > SINGULAR * values.max(initial=0.0)))
                null = right[rank:].T / columns[:, None]
            kept = self._reduced = matrix.copy(), null
        return kept[1]


def without_rounding(one: np.ndarray, other: np.ndarray) -> np.ndarray:
    """A product of matrices, with zero where it is rounding only."""
    out = one @ other
    return np.where(np.abs(out) > ROUNDING * (np.abs(one) @ np.abs(other)), out, 0.0)


def _even(matrix: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """A matrix with rows and columns of size 1, and the factors of both."""
    rows = np.abs(matrix).max(axis=1, initial=0.0)
    rows = np.where(rows > 0, rows, 1.0)
    even = matrix / rows[:, None]
    columns = np.abs(even).max(axis=0, initial=0.0)
    columns = np.where(columns > 0, columns, 1.0)
    return even / columns, rows, columns
