"""Where do tables over states bend, or turn, and what is periodic in the states?

A step that goes over such a point is not sure to feel what lies there: no error tells of a tooth
between two stages, and little of a corner. Where a table bends by little, only points are told at
which it turns; the error of a step tells of the rest.
"""

from __future__ import annotations

import casadi as ca
import numpy as np

from ..assembly import Tape
from ..assembly.network import Family, Network
from ..language.expression import TIME
from ..language.kernel import Kernel
from ..language.lookup import StateTable
from ..numerics.arrays import Array, Flags, Matrix
from .evaluator import Evaluator

__all__ = ["StateTables", "angles_of"]

BEND = 0.02  # of the largest slope of a table of lines: less is no corner
ROUNDING = 1e-9  # likewise, of what is written as straight
PERIODIC = {ca.OP_SIN, ca.OP_COS, ca.OP_TAN}
NEAR = 1e-6  # of the least distance of such points: what does not matter


class StateTables:
    """Tables of a system that are read at what follows from its states at once."""

    def __init__(self, network: Network, tape: Tape) -> None:
        writer, families = tape.writer, network.families
        said = [(f, family.size, table) for f, family in enumerate(families)
                for table in family.kernel.state_tables if _is_known(family.kernel, table)]
        rows = ca.vertcat(ca.SX(0, 1), *(writer.kernel_row(f, table.x).T for f, _, table in said))
        moves = moves_at_once(tape, rows) if rows.numel() else np.zeros(0, dtype=bool)
        self.places = rows[np.flatnonzero(moves).tolist()]  # where each of them is read
        self._tables, numbers, begin = [], [], 0
        for f, size, table in said:
            which = np.flatnonzero(moves[begin : begin + size])
            begin += size
            if which.size:
                self._tables.append((table, len(which)))
                numbers += [writer.kernel_row(f, sx, which) for sx in (
                    table.points, ca.vec(table.heights))]
        self._numbers = Evaluator(ca.Function("tables", [tape.p], [
            ca.veccat(ca.SX(0, 1), *numbers)]))

    def borders(self, p: Array) -> Matrix:
        """Where they bend or turn, a row for each; first how far beyond is near, last inf."""
        if not self._tables:
            return np.zeros((0, 2))
        rows, values = [], np.array(self._numbers(p)).ravel()
        for table, count in self._tables:
            n, columns = table.points.numel(), table.heights.shape[1]
            points, values = values[: n * count].reshape(count, n), values[n * count :]
            size = n * columns * count
            heights = values[:size].reshape(count, columns, n)
            values = values[size:]
            rows.append(_borders(points, heights, table))
        widest = max((row.shape[1] for row in rows), default=1)
        found = np.full((sum(map(len, rows)), widest), np.inf)
        begin = 0
        for row in rows:
            found[begin : begin + len(row), : row.shape[1]] = row
            begin += len(row)
        return found


def _is_known(kernel: Kernel, table: StateTable) -> bool:
    """Whether its points are parameters, or numbers, and it is read at variables or at a time."""
    said = {s.__hash__() for s in ca.symvar(ca.veccat(table.points, table.heights))}
    return said <= kernel.parameter_hashes and all(
        kernel.key_of(s) is not None or s.__hash__() in kernel.parameter_hashes | {TIME.__hash__()}
        for s in ca.symvar(table.x))


def _borders(points: Array, heights: Array, table: StateTable) -> Matrix:
    slopes = np.diff(heights) / np.diff(points)[:, None]
    beyond = [slopes[..., :1], slopes[..., -1:]]
    before, after = (np.concatenate(parts, axis=2) for parts in (
        [beyond[0] * (not table.hold), slopes], [slopes, beyond[1] * (not table.hold)]))
    steep, bend = np.abs(slopes).max(axis=(1, 2), keepdims=True), np.abs(after - before)
    kept = (before * after <= 0.0) & (bend > ROUNDING * steep)
    if not table.smooth:
        kept |= bend > BEND * steep
    borders = np.where(kept.any(axis=1), points, np.inf)
    borders.sort(axis=1)
    with np.errstate(invalid="ignore"):
        gaps = np.diff(borders)
    least = np.where(np.isfinite(gaps), gaps, np.inf).min(axis=1, initial=np.inf)
    width = points[:, -1] - points[:, 0]
    return np.column_stack([NEAR * np.minimum(least, width), borders, np.full(len(points), np.inf)])


def angles_of(tape: Tape, families: list[Family]) -> ca.SX:
    """Return what sines, cosines and tangents are of, where it follows from states at once.

    ``sin(60 * angle)`` passes all its values within about a tenth of a radian. No error tells of
    that where it decides on a condition and moves nothing: a step may be as long as the angle moves
    evenly. What stands in a sine, a cosine or a tangent tells how many periods pass.
    """
    rows = ca.vertcat(ca.SX(0, 1), *(
        tape.writer.kernel_row(f, angle).T for f, family in enumerate(families)
        for angle in _angles_in(family.kernel)))
    if not rows.numel():
        return rows
    moves = moves_at_once(tape, rows)
    places = {row.__hash__(): k for k, row in enumerate(rows.elements())}
    return rows[[k for k in places.values() if moves[k]]]


def moves_at_once(tape: Tape, rows: ca.SX) -> Flags:
    """Whether rows move with the states, and need nothing that is solved for."""
    moves = np.array(ca.which_depends(rows, tape.x, 1, True), dtype=bool)
    return moves & ~np.array(
        ca.which_depends(rows, ca.vertcat(tape.z, tape.u), 1, True), dtype=bool)


def _angles_in(kernel: Kernel) -> list[ca.SX]:
    """What stands in them in the laws and conditions of a class."""
    expressions = [kernel.unfolded(sx) for sx in (
        *(law.residual for law in kernel.laws), *(crossing for crossing, _ in kernel.relations),
        *(sx for law in kernel.set_valued for sx in law.given))]
    function = ca.Function("said", ca.symvar(ca.veccat(ca.SX(), *expressions)), expressions)
    nodes = function.instructions_sx()
    return [nodes[k].dep(0) for k in range(function.n_instructions())
            if function.instruction_id(k) in PERIODIC]
