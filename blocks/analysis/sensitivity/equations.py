"""How do slopes, algebraic unknowns and efforts change with states and parameters?

The derivatives of the reduced system in given relations and modes, exact. Torn unknowns and
set-valued efforts are eliminated by the implicit function theorem: what sticks has no rate, what
slides has its kinetic effort, what is open has none.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property
from typing import Any, NamedTuple, NoReturn

import casadi as ca
import numpy as np
from scipy.sparse import csr_matrix

from ...exceptions import ParameterError
from ...language.expression import TIME
from ...nonsmooth.modes.law_expressions import expressions_of
from ...numerics.arrays import Array, Flags, Indices
from ...numerics.blas_threads import threads_for
from ...numerics.sparse_solves import equilibrated
from ...system.evaluator import Evaluator
from ...system.points import Points
from ...system.problem import Problem
from ..linear.derivatives import elements_of_system

__all__ = ["Derivatives", "SensitivityEquations"]

NOTHING = np.zeros(0)
SINGULAR = 1e-11  # singular values below this part of the largest are none


class Derivatives(NamedTuple):
    """Rows of expressions and their total derivatives at several points."""

    value: Array  # (points, rows)
    x: Array  # (points, rows, …), as the next three: by states
    p: Array  # by chosen parameters
    d: Array  # by discrete values
    t: Array  # by time
    past: Array  # by discrete values before the event, where rows see these

    def along(self, k: int, x: Array, p: Array, d: Array, rows: Any = slice(None)) -> Array:
        """The change of the rows at point ``k`` with given changes of states, ..."""
        return self.x[k][rows] @ x + self.p[k][rows] @ p + self.d[k][rows] @ d

    def in_time(self, slope: Array) -> Array:
        """How fast the rows change, (points, rows), where states do with (points, states) rates."""
        return np.asarray((self.x @ slope[:, :, None])[..., 0] + self.t)

    def rows(self, which: slice | Indices) -> Derivatives:
        """Some of the rows."""
        return Derivatives(*(one[:, which] for one in self))

    def beside(self, other: Derivatives) -> Derivatives:
        """Return these rows and others, at the same points."""
        return Derivatives(*(np.concatenate(pair, axis=1)
                             for pair in zip(self, other, strict=True)))

    def some(self, which: Any) -> Derivatives:
        """Return the derivatives at some of the points."""
        return Derivatives(*(one[which] for one in self))


class Made(NamedTuple):
    """A function of points: values of rows, and their derivatives' entries that are not zero."""

    function: Evaluator
    row: Indices  # where these entries stand, with ``column``
    column: Indices
    rows: int  # how many there are
    past: int  # how many discrete values before the event they see


class SensitivityEquations:
    """Derivatives of a system with its modes held.

    Those parameters move that ``entries`` of the parameter vector are; ``where`` is for messages.
    """

    def __init__(self, problem: Problem, entries: Indices, where: str) -> None:
        self.system, tape = problem.system, problem.system.tape
        self.entries, self.where = entries, where
        self.elements = elements_of_system(self.system)  # of set-valued laws
        self.modes = ca.SX.sym("modes", self.elements.size)
        held, moving, room = self._of_elements()
        self._w = ca.vertcat(tape.z, tape.u)
        self._held = ca.vertcat(tape.residual, held)
        self._algebraic = self._jacobian(self._held)
        self._slope = self._jacobian(tape.slope)
        #: Guards: relations, then room to the upper and to the lower bound, then flow or gap.
        guards = ca.vertcat(tape.crossings, room, moving)
        self._guards = self._jacobian(guards)
        #: Whether efforts were met that are not determined by what is held.
        self.singular = False
        self._rows: dict[str, Made] = {}

    @classmethod
    def of(cls, problem: Problem, entries: Indices, where: str) -> SensitivityEquations:
        """Return the equations of a system, made once for the parameters that move."""
        refuse(problem, where)
        key = f"sensitivities by {entries.tolist()}"
        return problem.system.once(key, lambda: cls(problem, entries, where))

    def _of_elements(self) -> tuple[ca.SX, ca.SX, ca.SX]:
        """What holds the modes; what moves where they move, and the room to their bounds."""
        laws, tape, elements = expressions_of(self.system), self.system.tape, self.elements
        at_once = ca.which_depends(laws.flow, ca.vertcat(tape.u, tape.z), 1, True)
        rows = []
        for k in range(elements.size):
            kinetic = ca.if_else(self.modes[k] > 0, laws.forth[k], laws.back[k])
            taken = tape.u[int(elements.column[k])] / elements.unit[k]
            # at a node without mass the effort gives the flow itself
            of_states = laws.flow[k] if at_once[k] else laws.rate[k]
            stuck = taken if elements.gives_flow[k] else of_states
            rows.append(ca.if_else(self.modes[k] == 0, stuck, laws.effort[k] - kinetic))
        contact = ca.DM(elements.contact.astype(float))
        moving = ca.if_else(contact, laws.gap, laws.flow)
        room = ca.vertcat(laws.high - laws.effort, laws.effort - laws.low)
        return ca.vertcat(*rows), moving, room

    # -- functions -------------------------------------------------------------------------
    def _jacobian(self, rows: ca.SX, past: ca.SX | None = None) -> Made:
        """Values of rows and the entries of their derivatives that are not always zero."""
        tape, n = self.system.tape, rows.numel()
        p = tape.p[self.entries.tolist()]
        past = ca.SX.sym("past", 0) if past is None else past
        by = ca.vertcat(tape.x, tape.z, tape.u, p, tape.d, TIME, past)
        j = ca.jacobian(rows, by)
        row, column = (np.array(k, dtype=int) for k in j.sparsity().get_triplet())
        entries = ca.vertcat(ca.densify(rows), ca.vertcat(*j.nonzeros()))  # type: ignore[call-overload]  # its stubs know no entries
        function = ca.Function("derivatives", [*self.system.arguments, self.modes, past],
                               [ca.densify(entries)])
        return Made(Evaluator(function), row, column, n, past.numel())

    def _partial(self, made: Made, points: Points, past: Array = NOTHING
                 ) -> tuple[Array, list[Array]]:
        """Values of rows; derivatives by states, w, parameters, discrete values, time, the past."""
        s, count, n = self.system, len(points), made.rows
        widths = [s.nx, s.nz + s.nu, len(self.entries), s.nd, 1, made.past]
        full = np.zeros((count, n, sum(widths)))
        out = self._values(made, points, past)
        full[:, made.row, made.column] = out[:, n:]
        return out[:, :n], np.split(full, np.cumsum(widths)[:-1], axis=2)

    def _values(self, made: Made, points: Points, past: Array = NOTHING) -> Array:
        """Values of rows, (points, rows), and after them entries of their derivatives."""
        if not made.rows or not len(points):
            return np.zeros((len(points), made.rows + len(made.row)))
        modes = points.mode_columns() if self.modes.numel() else np.zeros((0, len(points)))
        if not len(past):
            past = np.zeros((0, len(points)))
        return made.function.at_columns(*points.columns(), modes.astype(float), past).T

    # -- total derivatives -----------------------------------------------------------------
    def slopes(self, points: Points) -> Derivatives:
        """Slopes of the states."""
        return self._total(self._slope, points, self.following(points))

    def guards(self, points: Points) -> Derivatives:
        """What says when an event happens."""
        return self._total(self._guards, points, self.following(points))

    def guards_by_shares(self, point: Points) -> Array:
        """Guards at a point by efforts that nothing determines there, (guards, efforts)."""
        _, (_, matrix, *_) = self._partial(self._algebraic, point)
        matrix, _, columns = equilibrated(matrix)
        _, s, vt = np.linalg.svd(matrix[0])
        some = s <= SINGULAR * s.max(initial=0.0)
        _, (_, guards, *_) = self._partial(self._guards, point)
        return np.asarray(guards[0] @ (vt[some] / columns[0]).T)

    def guard_values(self, points: Points) -> Array:
        """What says when an event happens, (guards, points)."""
        return self._values(self._guards, points)[:, : self._guards.rows].T

    def rows(self, key: str, expression: ca.SX | Callable[[], ca.SX], points: Points,
             past: tuple[ca.SX, Array] | None = None) -> Derivatives:
        """Other expressions; their function is made once for each key.

        ``past`` are symbols of discrete values before the event, and these, a column for each
        point.
        """
        symbols, values = past or (None, NOTHING)
        made = self._made(key, expression, symbols)
        through = self.following(points) if self._of_w(made).any() else []
        return self._total(made, points, through, values)

    def partial(self, key: str, expression: ca.SX, point: Points) -> csr_matrix:
        """Return derivatives of expressions at a point by states, torn unknowns and efforts."""
        made, width = self._made(key, expression), self.system.nx + self._w.numel()
        mine = made.column < width
        return csr_matrix((self._values(made, point)[0, made.rows :][mine],
                           (made.row[mine], made.column[mine])), shape=(made.rows, width))

    def _made(self, key: str, expression: ca.SX | Callable[[], ca.SX],
              past: ca.SX | None = None) -> Made:
        if key not in self._rows:
            self._rows[key] = self._jacobian(expression() if callable(expression) else expression,
                                             past)
        return self._rows[key]

    def _of_w(self, made: Made) -> Flags:
        """Which entries are derivatives by torn unknowns and efforts."""
        nx = self.system.nx
        return (made.column >= nx) & (made.column < nx + self._w.numel())

    def _total(self, made: Made, points: Points, through: list[Array], values: Array = NOTHING
               ) -> Derivatives:
        value, (x, w, p, d, t, past) = self._partial(made, points, values)
        if through:  # rows see few of them: one sparse matrix of all points
            of_w, (count, n, nw) = self._of_w(made), w.shape
            row, column = made.row[of_w], made.column[of_w] - self.system.nx
            each = np.arange(count)[:, None]
            w = csr_matrix((w[:, row, column].ravel(), ((row + n * each).ravel(), (
                column + nw * each).ravel())), shape=(count * n, count * nw))
            x, p, d, t = (own + (w @ by.reshape(count * nw, -1)).reshape(own.shape)
                          for own, by in zip((x, p, d, t), through, strict=True))
        return Derivatives(value, x, p, d, t[:, :, 0], past)

    def following(self, points: Points) -> list[Array]:
        """Torn unknowns and efforts by states, parameters, discrete values and time."""
        _, (x, w, p, d, t, _) = self._partial(self._algebraic, points)
        if not w.shape[2]:
            return []
        right = np.concatenate([x, p, d, t], axis=2)
        with threads_for(w.shape[1]):
            out, known = self._solved(w, right)
        if not known.all():
            out[~known] = self._solved_with_rates(points.some(np.flatnonzero(~known)), w[~known],
                                                  right[~known])
        out, s = -out, self.system
        return np.split(out, np.cumsum([s.nx, len(self.entries), s.nd]), axis=2)

    def _solved(self, matrix: Array, right: Array) -> tuple[Array, Flags]:
        """Solutions of linear equations, and whether there is one; the least one, where efforts
        share what they hold."""
        matrix, rows, columns = equilibrated(matrix)
        right = right / rows
        with np.errstate(all="ignore"):
            try:
                inverse = np.linalg.inv(matrix)
            except np.linalg.LinAlgError:
                inverse = np.full_like(matrix, np.nan)
        # a bound of all condition numbers, which is quickly found
        if not matrix.shape[1] ** 2 * np.abs(inverse).max(initial=0.0) < 1 / SINGULAR:
            sizes = np.linalg.svd(matrix, compute_uv=False)
            inverse = np.linalg.pinv(matrix, rcond=SINGULAR)
            if (sizes[:, -1] <= SINGULAR * sizes[:, 0]).any():
                self.singular, out = True, inverse @ right
                return out / columns.mT, _is_met(matrix @ out, right)
        return inverse @ right / columns.mT, np.ones(len(matrix), dtype=bool)

    def _solved_with_rates(self, points: Points, matrix: Array, right: Array) -> Array:
        """Solutions where some of the equations hold for states alone, as that of a coil behind
        an open diode: what nothing else tells follows from their rates, which are zero, too."""
        n = matrix.shape[1]
        matrix, rows, columns = equilibrated(matrix)
        inverse = np.linalg.pinv(matrix, rcond=SINGULAR)
        at_rest, _ = self._partial(self._rates, points, np.zeros((n, len(points))))
        rate = -(inverse @ (at_rest[:, :, None] / rows)) / columns.mT
        # the rates of what these leave open must not matter
        aside = rate + (np.eye(n) - inverse @ matrix) @ np.ones((n, 1)) / columns.mT
        found = []
        for rates in (rate, aside):
            _, (x, w, p, d, t, _) = self._partial(self._rates, points, rates[:, :, 0].T)
            of_w = w / rows / columns
            size = np.abs(of_w).max(axis=(1, 2), keepdims=True)
            size[size == 0] = 1.0
            whole = np.concatenate([np.concatenate([matrix, np.zeros_like(matrix)], axis=2),
                                    np.concatenate([of_w / size, matrix], axis=2)], axis=1)
            asked = np.concatenate([matrix @ inverse @ (right / rows),
                                    np.concatenate([x, p, d, t], axis=2) / rows / size], axis=1)
            out = np.linalg.pinv(whole, rcond=SINGULAR) @ asked
            if not _is_met(whole @ out, asked).all():
                self._refuse_unknown()
            found.append(out[:, :n])
        if not _is_met(*found).all():
            self._refuse_unknown()
        return np.asarray(found[0] / columns.mT)

    @cached_property
    def _rates(self) -> Made:
        """How rows of what is held change in time, by the rates of torn unknowns and efforts."""
        rates, tape = ca.SX.sym("rates", self._w.numel()), self.system.tape
        return self._jacobian(
            ca.jtimes(self._held, tape.x, tape.slope) + ca.jacobian(self._held, TIME)
            + ca.jtimes(self._held, self._w, rates), rates)

    def _refuse_unknown(self) -> NoReturn:
        raise ParameterError(
            self.where, "meets elements, such as friction at points without mass, whose efforts "
            "follow from the states through second time derivatives: their derivatives are not "
            "known.", "Give these points a small mass, or compare two runs.",
            code="sensitivities.massless")  # fmt: skip


def _is_met(value: Array, asked: Array) -> Flags:
    """Whether equations hold, for each of several systems of them."""
    missed, size = (np.abs(a).max(axis=(1, 2), initial=0.0) for a in (value - asked, asked))
    return np.asarray(missed <= 1e-6 * (1.0 + size))


def refuse(problem: Problem, where: str) -> None:
    """Say what has no sensitivities yet."""
    laws = problem.laws
    if problem.delays is not None:
        what = "a model with delays: what a delayed signal was depends on the parameters, too"
    elif laws is not None and laws.recorded:
        what = "time stepping, whose steps do not end at events"
    elif laws is not None and laws.set_valued is not laws:
        what = "friction laws that look at the load around them (Karnopp, Quinn, Kikuuwe, …)"
    else:
        return
    raise ParameterError(where, f"cannot be found of {what}.",
                         "Compare two runs with slightly different values instead.",
                         code="sensitivities.unknown")  # fmt: skip
