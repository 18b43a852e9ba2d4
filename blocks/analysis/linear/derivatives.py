"""How do slopes, residuals and friction change with states, unknowns, efforts and inputs?

Exact derivatives of everything that the reduced system says, evaluated at a point. What they come
to in a mode is the matter of :mod:`.reduction`.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import product

import casadi as ca
import numpy as np
from scipy.sparse import csc_matrix

from ...assembly.multiple_solutions import PIECES
from ...language.expression import TIME
from ...nonsmooth.modes.elements import Elements, elements_of
from ...nonsmooth.modes.law_expressions import expressions_of
from ...numerics.arrays import Array, Flags, Indices
from ...numerics.rewriting import applied, kinds, replayed
from ...system.system import System
from .point import Point
from .sampled import SampledValues, some_of
from .signals import InputSignal, OutputSignal

__all__ = ["LAW_ROWS", "Blocks", "Derivatives", "DerivativesAt", "derivatives_of",
           "elements_of_system"]

TIE = 1e-10  # of what a difference is made of
KINKED = PIECES.keys() - {ca.OP_SIGN}
#: What is differentiated of set-valued laws, a row per element.
LAW_ROWS = ("flow", "low", "high", "back", "forth", "gap", "effort", "rate")


@dataclass(frozen=True, eq=False)
class DerivativesAt:
    """Values and derivatives at a point, in SI units.

    ``value[name]`` and the sparse matrices ``by[name, argument]``: of ``"slope"``, ``"residual"``,
    ``"constraints"``, ``"outputs"``, ``"sampled"`` and the names in :data:`LAW_ROWS`, by ``"x"``,
    ``"z"``, ``"u"``, ``"d"``, the unknown sampled values, and ``"p"``, the chosen inputs.
    """

    value: dict[str, Array]
    by: Blocks

    def whole(self, row: str) -> Array:
        """Derivatives by all arguments, side by side."""
        return self.by.strip(row)


class Blocks:
    """Parts of a sparse matrix by the names of their rows and columns, cut out when asked for.

    Cutting takes longer than to find the derivatives, and who looks for a rest needs few of them.
    """

    def __init__(self, matrix: csc_matrix, rows: dict[str, slice], columns: dict[str, slice]
                 ) -> None:
        # the latter of torn unknowns and efforts
        self.columns, self.unknowns = columns, slice(columns["z"].start, columns["u"].stop)
        self._by_row, self._rows = matrix.tocsr(), rows
        self._cut: dict[tuple[str, str], csc_matrix] = {}
        self._strips: dict[str, Array] = {}

    def __getitem__(self, key: tuple[str, str]) -> csc_matrix:
        if key not in self._cut:
            row, column = key
            self._cut[key] = self._by_row[self._rows[row], self.columns[column]].tocsc()
        return self._cut[key]

    def strip(self, row: str) -> Array:
        """The derivatives of ``row`` by all arguments, as a full matrix, to be read only."""
        if row not in self._strips:
            self._strips[row] = self._by_row[self._rows[row]].toarray()
        return self._strips[row]

    def __iter__(self) -> Iterator[tuple[str, str]]:
        return product(self._rows, self.columns)


class Derivatives:
    """Derivatives of a system by its states, unknowns, efforts and chosen inputs.

    With ``sampled`` what passes through samples is unknown, too.
    """

    def __init__(self, system: System, inputs: list[InputSignal], outputs: list[OutputSignal],
                 sampled: bool = False) -> None:
        self.system, tape = system, system.tape
        places = [s.place for s in inputs]
        rows = {"slope": tape.slope, "residual": tape.residual, "constraints": tape.constraints,
                "outputs": ca.vertcat(*(s.expression for s in outputs)) if outputs else ca.SX(0, 1)}
        laws = expressions_of(system)
        rows |= {name: ca.densify(ca.SX(getattr(laws, name))) for name in LAW_ROWS}
        samples = SampledValues.of(system)
        # whether discrete values are sampled, and the rows depend on them
        self.used = samples.used(ca.vertcat(*rows.values(), tape.crossings))
        # whether they are sampled, and follow states or inputs
        self.moving = samples.moving(places)
        unknown = self.passing & ~samples.in_python if sampled else np.zeros(system.nd, dtype=bool)
        self.sampled: Indices = np.flatnonzero(unknown)  # numbers of those that are unknown
        mine = np.flatnonzero(unknown[samples.places])
        # of the rows ``"sampled"``, which of them each is about
        self.assigned: Indices = samples.places[mine]
        rows["sampled"] = some_of(samples.rows, mine)
        arguments = {"x": tape.x, "z": tape.z, "u": tape.u, "d": some_of(tape.d, self.sampled),
                     "p": some_of(tape.p, places)}
        self._rows, self._columns = _places(rows), _places(arguments)
        whole = ca.vertcat(*(ca.densify(sx) for sx in rows.values()))
        every = ca.vertcat(*arguments.values())
        whole, sides, gaps = without_kinks(whole, system.arguments)
        whole = ca.densify(whole)
        self._function = ca.Function("derivatives", [*system.arguments, sides],
                                     [whole, ca.jacobian(whole, every)])
        known = ca.vertcat(TIME, tape.x, tape.z, tape.u, tape.p)
        self._gaps = ca.Function("gaps", system.arguments, [gaps, ca.jacobian(gaps, known)])
        #: Which rows may depend on which arguments.
        self.pattern: csc_matrix = csc_matrix(
            ca.DM(self._function.sparsity_out(1), 1).sparse() != 0)
        self._signs = np.array([s.sign for s in inputs])
        self._last: tuple[Point, DerivativesAt] | None = None

    @property
    def passing(self) -> Flags:
        """Discrete values that are sampled, and through which states or inputs act on the rows."""
        return self.used & self.moving

    def sides(self, point: Point) -> tuple[Array, Flags]:
        """The side of every kink that counts at a point, and which of them stand on their edge."""
        if not self._gaps.numel_out(0):
            return np.zeros(0), np.zeros(0, dtype=bool)
        found = self._gaps(*point.arguments)
        gap, slope = np.array(found[0]).ravel(), found[1].sparse()
        at = np.concatenate([[point.t], point.x, point.z, point.u, point.p])
        tied = np.abs(gap) <= TIE * (np.abs(slope) @ np.abs(at))  # zero but for rounding
        side = np.where(gap >= 0, 1.0, 0.0) if point.sides is None else point.sides
        return side, tied

    def at(self, point: Point) -> DerivativesAt:
        """Values of the derivatives at a point; those at the last one are kept."""
        if self._last is None or self._last[0] is not point:
            self._last = point, self._evaluated(point)
        return self._last[1]

    def _evaluated(self, point: Point) -> DerivativesAt:
        value, matrix = self._function(*point.arguments, self.sides(point)[0])
        found = csc_matrix(matrix.sparse() if hasattr(matrix, "sparse") else matrix)
        of_inputs = slice(found.indptr[self._columns["p"].start], None)  # the last columns
        found.data[of_inputs] *= np.repeat(self._signs, np.diff(found.indptr)[self._columns["p"]])
        tall = np.array(value).ravel()
        return DerivativesAt({name: tall[where] for name, where in self._rows.items()},
                             Blocks(found, self._rows, self._columns))


def _places(expressions: dict[str, ca.SX]) -> dict[str, slice]:
    """Where what stands, one after the other."""
    ends = np.cumsum([0, *(sx.numel() for sx in expressions.values())]).tolist()
    return {name: slice(*ends[k : k + 2]) for k, name in enumerate(expressions)}


def derivatives_of(system: System, inputs: list[InputSignal], outputs: list[OutputSignal],
                   sampled: bool = False) -> Derivatives:
    """Return the derivatives of a system by these inputs and outputs; the last ones are kept."""
    key = tuple((s.path, s.sign) for s in inputs), tuple(s.path for s in outputs), sampled
    kept = system.cache.get("derivatives")
    if kept is None or kept[0] != key:
        kept = system.cache["derivatives"] = key, Derivatives(system, inputs, outputs, sampled)
    return kept[1]


def elements_of_system(system: System) -> Elements:
    """The elements of a system's set-valued laws, made once."""
    return system.once("analysis elements", lambda: elements_of(system))


def without_kinks(expression: ca.SX, arguments: list[ca.SX]) -> tuple[ca.SX, ca.SX, ca.SX]:
    """Expressions that stay the same while kinks keep their sides; symbols of these, and gaps.

    The symbols are 1 on the first side of each kink, where the gaps are positive.
    """
    function = ca.Function("kinked", arguments, [expression])
    codes = kinds(function)
    if not KINKED & codes or ca.OP_CALL in codes:
        return expression, ca.SX(0, 1), ca.SX(0, 1)
    sides: list[ca.SX] = []
    gaps: list[ca.SX] = []

    def operated(kind: int, operands: list[ca.SX], number: int) -> list[ca.SX]:
        if kind not in KINKED:
            return [applied(kind, operands)]
        gap, first, second = PIECES[kind](operands[0], operands[-1])
        sides.append(ca.SX.sym("side"))
        gaps.append(gap)
        return [ca.if_else(sides[-1], first, second)]

    (rebuilt,) = replayed(function, arguments, operated)
    # gaps of kinks within kinks are those of what these are
    _, gaps = ca.substitute_inplace(sides, [gap >= 0 for gap in gaps], gaps)
    return rebuilt, ca.vertcat(*sides), ca.vertcat(*gaps)
