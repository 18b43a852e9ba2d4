"""Where do tables and other functions of states bend, or turn, and what is periodic in the states?

A step that goes over such a point is not sure to feel what lies there: no error tells of a tooth
between two stages, and little of a corner, be it one of the slope or of the curvature. Where it is
a weak one, only points are told at which a table turns; the error of a step tells of the rest.
Of ``abs``, ``minimum`` and ``maximum`` it tells too, but for some places in a step next to nothing.
"""

from __future__ import annotations

from itertools import zip_longest

import casadi as ca
import numpy as np

from ..assembly import Tape
from ..assembly.network import Family, Network
from ..language.expression import TIME, unguarded
from ..language.interpolation import pieces_between
from ..language.kernel import Kernel
from ..language.lookup import StateTable
from ..language.sign_choices import ROOTS
from ..numerics.arrays import Array, Flags, Matrix, Vector
from .evaluator import Evaluator

__all__ = ["KINKS", "StateTables", "angles_of"]

OFF = 1e-7  # of the area of a table: what steps may miss of it over corners that are left out
#: What the pair of order 5 misses at most over a jump of the slope, and of its derivative: times
#: the square, and the cube, of a step.
BY_BEND, BY_CURVATURE = 1 / 45, 1 / 900
ROUNDING = 1e-9  # of the largest slope of a table, of what is written as straight
KINKS = {ca.OP_FABS, ca.OP_FMIN, ca.OP_FMAX}
PERIODIC = {ca.OP_SIN, ca.OP_COS, ca.OP_TAN}
NEAR = 1e-6  # of the least distance of such points: what does not matter


class StateTables:
    """Tables and kinks of a system that are read at what follows from its states at once.

    Attributes
    ----------
    places : where each table is read; behind them what is zero at each kink
    tables : how many there are
    """

    def __init__(self, network: Network, tape: Tape) -> None:
        self._tables, places, numbers = [], [], []
        for f, family in enumerate(network.families):
            for table in family.kernel.state_tables:
                if not _is_known(family.kernel, table):
                    continue
                rows = tape.writer.kernel_row(f, table.x).T
                which = np.flatnonzero(moves_at_once(tape, rows))
                if which.size:
                    self._tables.append((table, len(which)))
                    places.append(rows[which.tolist()])
                    numbers.append(tape.writer.kernel_row(
                        f, ca.veccat(table.points, table.heights), which))
        self.tables = sum(count for _, count in self._tables)
        self.places = ca.vertcat(ca.SX(0, 1), *places, _stand_in(KINKS, tape, network.families))
        self._numbers = Evaluator(ca.Function("tables", [tape.p], [
            ca.veccat(ca.SX(0, 1), *numbers)]))

    def borders(self, p: Array) -> Matrix:
        """Where they bend or turn, a row for each; first how far beyond is near, 0 for kinks; last
        inf."""
        if not self.places.numel():
            return np.zeros((0, 2))
        rows, values = [], np.array(self._numbers(p)).ravel()
        for table, count in self._tables:
            size = count * (table.points.numel() + table.heights.numel())
            said, values = values[:size].reshape(count, -1), values[size:]
            alike = {one.tobytes(): one for one in said}
            found = {key: _borders(one, table) for key, one in alike.items()}
            rows += [found[one.tobytes()] for one in said]
        rows += [np.array([0.0, 0.0, np.inf])] * (self.places.numel() - self.tables)
        return np.array([*zip_longest(*rows, fillvalue=np.inf)]).T.copy()

    def bend(self, p: Array) -> bool:
        """Whether any table bends or turns."""
        return bool(np.isfinite(self.borders(p)[: self.tables, 1:]).any())


def _is_known(kernel: Kernel, table: StateTable) -> bool:
    """Whether its points are parameters, or numbers, and it is read at variables or at a time."""
    said = {s.__hash__() for s in ca.symvar(ca.veccat(table.points, table.heights))}
    return said <= kernel.parameter_hashes and all(
        kernel.key_of(s) is not None or s.__hash__() in kernel.parameter_hashes | {TIME.__hash__()}
        for s in ca.symvar(table.x))


def _borders(said: Vector, table: StateTable) -> Vector:
    """As above, of a table by its points and, column by column, heights.

    Over a corner a step adds up an area that is off: of a torque over an angle, energy. Corners
    are left out, the least ones first, as long as that is little.
    """
    points, *columns = said.reshape(-1, table.points.numel())
    heights = np.transpose(columns)
    length, widths = points[-1] - points[0], np.diff(points)
    slopes = pieces_between(points, heights, table.hold, "")[..., 1]
    before, after = slopes[:, :-1], slopes[:, 1:]
    bend, ways = np.abs(after - before), np.concatenate([[length], widths, [length]])
    kept = ((before * after <= 0.0) & (bend > ROUNDING * np.abs(slopes).max())).any(axis=0)
    far = np.maximum(ways[:-1], ways[1:])
    off = BY_BEND * bend * far**2
    if table.shape:
        curve = pieces_between(points, heights, table.hold, table.shape)
        off = BY_CURVATURE * far**3 * 2 * np.abs(
            curve[:, 1:, 2] - curve[:, :-1, 2] - 3 * curve[:, :-1, 3] * ways[:-1])
    off = off.max(axis=0)
    least = np.argsort(off)
    area = (np.abs(heights[1:]) + np.abs(heights[:-1])).T @ widths / 2
    kept[least] |= np.sqrt(np.cumsum(off[least] ** 2)) > OFF * area.max()
    near = NEAR * np.diff(points[kept]).min(initial=length)
    return np.concatenate([[near], np.sort(np.where(kept, points, np.inf)), [np.inf]])


def angles_of(tape: Tape, families: list[Family]) -> ca.SX:
    """Return what sines, cosines and tangents are of, where it follows from states at once.

    ``sin(60 * angle)`` passes all its values within about a tenth of a radian. No error tells of
    that where it decides on a condition and moves nothing: a step may be as long as the angle moves
    evenly. What stands in a sine, a cosine or a tangent tells how many periods pass.
    """
    return _stand_in(PERIODIC, tape, families)


def _stand_in(operations: set[int], tape: Tape, families: list[Family]) -> ca.SX:
    """What stands in some operations and follows from states at once; of two operands, the
    difference."""
    rows = ca.vertcat(ca.SX(0, 1), *(
        tape.writer.kernel_row(f, value).T for f, family in enumerate(families)
        for value in _operands_in(family.kernel, operations)))
    if not rows.numel():
        return rows
    moves = moves_at_once(tape, rows)
    places = {row.__hash__(): k for k, row in enumerate(rows.elements())}
    return ca.vertcat(ca.SX(0, 1), *(rows[k] for k in places.values() if moves[k]))


def moves_at_once(tape: Tape, rows: ca.SX) -> Flags:
    """Whether rows move with the states, and need nothing that is solved for."""
    moves = np.array(ca.which_depends(rows, tape.x, 1, True), dtype=bool)
    return moves & ~np.array(
        ca.which_depends(rows, ca.vertcat(tape.z, tape.u), 1, True), dtype=bool)


def _operands_in(kernel: Kernel, operations: set[int]) -> list[ca.SX]:
    """What stands in these in the laws of a class; of angles in its conditions, too."""
    said = [law.residual for law in kernel.laws]
    if operations is PERIODIC:
        said += [crossing for crossing, _ in kernel.relations]
        said += [sx for law in kernel.set_valued for sx in law.given]
    said = [unguarded(kernel.unfolded(sx)) for sx in said]
    function = ca.Function("said", ca.symvar(ca.veccat(ca.SX(), *said)), said)
    every = function.instructions_sx()
    nodes = [(function.instruction_id(k), every[k]) for k in range(function.n_instructions())]
    steep = {node.dep(0).__hash__() for kind, node in nodes if kind in ROOTS}  # errors tell of that
    return [node.dep(0) - node.dep(1) if node.n_dep() > 1 else node.dep(0) for kind, node in nodes
            if kind in operations and node.__hash__() not in steep]
