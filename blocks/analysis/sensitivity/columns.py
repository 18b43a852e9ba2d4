"""Slopes with their derivatives, and guards, at many points of a run at once.

While modes are held, torn unknowns and efforts w often are where ``r(w) = r(0) + R w`` is zero,
with R that sees neither them nor the states: then they need not be found at points first. What is
left is one expression of states, parameters and modes, evaluated at many points at a time.
"""

from __future__ import annotations

import casadi as ca
import numpy as np

from ...language.expression import TIME
from ...numerics.arrays import Array, Indices
from ...simulation.wanted import Wanted
from ...system.evaluator import Evaluator
from ...system.points import Points
from ...system.system import System
from .stages import Entries

__all__ = ["Columns"]

MOST_UNKNOWNS = 24  # that depend on each other and are solved for in an expression


class Columns:
    """Functions of points of which only states, discrete values, relations and modes are known.

    Parameters ``entries`` move, and ``held`` is zero while ``modes`` are held; ``guards`` say when
    an event happens.
    """

    def __init__(self, system: System, modes: ca.SX, held: ca.SX, entries: ca.SX, guards: ca.SX
                 ) -> None:
        self.system, tape = system, system.tape
        w, r = ca.vertcat(tape.z, tape.u), ca.vertcat(tape.residual, held)
        by = ca.vertcat(tape.x, entries, tape.d)
        matrix = ca.jacobian(r, w)
        #: Whether all is as the first lines of this file say.
        self.serves = ca.sprank(matrix) == w.numel() and not ca.depends_on(
            matrix, ca.vertcat(w, tape.x, TIME)) and np.diff(
                matrix.sparsity().btf()[3]).max(initial=0) <= MOST_UNKNOWNS  # of its blocks
        if not self.serves:
            return
        slopes, found = ca.jacobian(tape.slope, by), w
        if w.numel():
            found = -ca.solve(matrix, ca.substitute(r, w, ca.DM.zeros(w.numel())))
            through = ca.jacobian(tape.slope, w)
            slopes -= ca.mtimes(through, ca.solve(matrix, ca.jacobian(r, by)))
        self._widths = np.cumsum([system.nx, entries.numel(), system.nd])
        self.row, self.column = (np.array(k, dtype=int) for k in slopes.sparsity().get_triplet())
        given = [*system.arguments, modes]
        values, looks = (ca.substitute(one, w, found) if w.numel() else one for one in (
            ca.vec(ca.SX(slopes.nz[:])), guards))
        # contacts that have drifted apart by rounding need not be closed anew
        wanted = [Wanted.by(system, one) for one in (values, looks)]
        self.serves = not any(one.of_efforts or one.unknowns for one in wanted)
        self._slopes, self._guards = (Evaluator(ca.Function("columns", given, [ca.densify(one)]))
                                      for one in (values, looks))

    def slopes(self, points: Points, modes: Indices) -> tuple[Entries, Array, Array]:
        """Derivatives of slopes by states, parameters and discrete values, (points, states, …).

        ``modes`` are those that are held, a column per point.
        """
        values, nx = self._values(self._slopes, points, modes).T, self.system.nx
        of_x = self.column < nx
        others = np.zeros((len(points), nx, self._widths[-1] - nx))
        others[:, self.row[~of_x], self.column[~of_x] - nx] = values[:, ~of_x]
        p, d = np.split(others, self._widths[1:-1] - nx, axis=2)
        return Entries(values[:, of_x], self.row[of_x], self.column[of_x], nx), p, d

    def guards(self, points: Points, modes: Indices) -> Array:
        """What says when an event happens, (guards, points)."""
        return self._values(self._guards, points, modes)

    def _values(self, function: Evaluator, points: Points, modes: Indices) -> Array:
        return function.at_columns(*points.columns(), modes.astype(float))
