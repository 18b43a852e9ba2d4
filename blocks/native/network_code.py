"""Functions of elements at nodes without mass, in held modes.

What elements take is found first, by products with the matrices that stand in ``q``, in loops; then
the function is evaluated. Written out, the products of many elements would be an operation per
entry, and their derivatives one per entry and state.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

import casadi as ca
import numpy as np

from ..language.expression import TIME
from ..machine.functions import MachineCode, machine_code
from ..machine.signatures import indices_at, vector_at
from ..numerics.arrays import Flags, Indices
from .expressions import Writer
from .text import Text

if TYPE_CHECKING:
    from ..nonsmooth.modes.held_network import HeldNetwork

__all__ = ["NetworkCode"]

K = 7  # number of the argument that the matrices are part of
DRIFTS, SIZE, STATES = range(3)  # entries of a table
FIRST = 3  # entry of it from which columns begin


class NetworkCode(Text):
    """Texts of functions of a network in held modes.

    Parameters
    ----------
    network : HeldNetwork
    arguments : of all expressions, of which the last ones are what is taken, and exact states
    places : of the others
    start : the first free entry of ``q``
    """

    def __init__(self, network: HeldNetwork, arguments: list[ca.SX],
                 places: Mapping[int, tuple[str, int]], start: int) -> None:
        super().__init__()
        n, nx = network.elements.size, network.system.nx
        self.network, self.arguments = network, arguments
        room = np.cumsum([start, 2 * n, n, nx, *_room_for_derivatives(n, nx)])
        self.alone, self.taken, self.without_drift, self.of_rows, self.of_slopes, self.by_taken = (
            int(i) for i in room[:6])
        self.start, self.end = start, int(room[-1])
        last = len(arguments) - 1
        self.places = {**places, last - 1: ("%q", self.taken)}
        #: Where equations without anything taken are looked at.
        self.there = {**self.places, last: ("%q", self.without_drift)}
        if network.drifts:
            self.places = self.there
            self.there = {**self.there, 1: ("%q", self.without_drift)}
        self.matrices = places[K][1] + 2 * n
        self._told = np.concatenate([[network.drifts, n, nx], _columns(network.together),
                                     _columns(network.corrected)]).astype(np.int64)

    def of(self, expression: ca.SX) -> str:
        """An expression."""
        w = Writer()
        self._take(w)
        self._give(w, "true", expression)
        return self._text(w)

    def of_function(self, function: ca.Function, more: Mapping[int, tuple[str, int]]) -> str:
        """A function of all arguments and of ``more``, which stand in places of their own."""
        w = Writer()
        self._take(w)
        self._put(w, w.values(function, {**self.places, **more}), "%out", 0)
        return self._text(w)

    def derivatives(self, slope: ca.SX) -> str:
        """Derivatives of slopes by the states, a row after the other, and by time."""
        w, network = Writer(), self.network
        self._take(w)
        states = network.exact if network.drifts else self.arguments[1]
        alone = ca.vertcat(*network.alone)
        self._clear(w, w.pointer("%q", self.of_rows), self.by_taken - self.of_rows)  # as it is left
        for value, by, entry, places in (
                (alone, self.arguments[1], self.of_rows, self.there),
                (slope, states, self.of_slopes, self.places)):
            self._fill(w, ca.horzcat(ca.jacobian(value, by), ca.jacobian(value, TIME)), entry,
                       places)
        self._fill(w, ca.jacobian(slope, network.taken), self.by_taken)
        self._call(w, fill_derivatives, self.of_rows, "%out")
        return self._text(w)

    def _take(self, w: Writer) -> None:
        """See to it that what is taken, and states without drift, stand where they are read."""
        alone = ca.vertcat(*self.network.alone)
        if self.network.drifts:
            self._fill(w, alone, self.alone)
            self._call(w, leave_drift, self.alone, "%x")
        self._fill(w, alone, self.alone, self.there)
        self._call(w, find_taken, self.alone)

    def _call(self, w: Writer, function: MachineCode, room: int, *more: str) -> None:
        w.call(function, w.table(self._told), w.pointer("%q", self.matrices),
               w.pointer("%q", room), *more)


def _room_for_derivatives(n: int, nx: int) -> list[int]:
    """Numbers of rows and of slopes by states and time, of slopes by what is taken, and of that;
    then of exact states, and of rows and slopes by these."""
    wide = nx + 1
    return [2 * n * wide, nx * wide, nx * n, n * wide, nx * wide, (2 * n + nx) * wide]


def _columns(pattern: Flags) -> Indices:
    """Where columns of a matrix begin, and the rows of its entries."""
    columns, rows = np.nonzero(pattern.T)
    starts = np.append(0, np.cumsum(np.bincount(columns, minlength=pattern.shape[1])))
    return np.concatenate([starts, rows])


@machine_code
def leave_drift(told: int, matrices: int, room: int, x: int) -> int:
    """States as they would be without drift, from what equations come to without anything taken."""
    sizes = indices_at(told, FIRST)
    n, nx = sizes[SIZE], sizes[STATES]
    alone, exact, states = vector_at(room, n), vector_at(room + 24 * n, nx), vector_at(x, nx)
    exact[:] = states
    pairs = indices_at(told, FIRST + n + 1)[FIRST + n]
    first = FIRST + n + 1 + pairs
    at = indices_at(told, first + n + 1)
    more = at[first + n]
    at = indices_at(told, first + n + 1 + more)
    entries = vector_at(matrices + 16 * pairs, more)
    for j in range(n):
        for k in range(at[first + j], at[first + j + 1]):
            exact[at[first + n + 1 + k]] -= entries[k] * alone[j]
    return 0


@machine_code
def find_taken(told: int, matrices: int, room: int) -> int:
    """What elements take, from what equations come to without it, and from the rates of that."""
    _multiply(told, matrices, room, room + 16 * indices_at(told, FIRST)[SIZE])
    return 0


@machine_code
def _multiply(told: int, matrices: int, given: int, out: int) -> None:
    """Products of the two matrices with values and with rates, and the sum of both."""
    n = indices_at(told, FIRST)[SIZE]
    pairs = indices_at(told, FIRST + n + 1)[FIRST + n]
    at = indices_at(told, FIRST + n + 1 + pairs)
    rows, taken, entries = vector_at(given, 2 * n), vector_at(out, n), vector_at(
        matrices, 2 * pairs)
    taken[:] = 0.0
    for j in range(n):
        value, rate = rows[j], rows[n + j]
        if value != 0.0 or rate != 0.0:
            for k in range(at[FIRST + j], at[FIRST + j + 1]):
                taken[at[FIRST + n + 1 + k]] += entries[k] * value + entries[pairs + k] * rate


@machine_code
def fill_derivatives(told: int, matrices: int, room: int, out: int) -> int:
    """Derivatives of slopes by states, row by row, and by time.

    What states without drift do comes first: where modes hold something constant that is zero, and
    differences of large numbers would leave of it what is none.
    """
    sizes = indices_at(told, FIRST)
    n, nx = sizes[SIZE], sizes[STATES]
    wide = nx + 1
    of_slopes = room + 16 * n * wide
    of_taken = of_slopes + 8 * nx * wide
    moved = of_taken + 8 * nx * n
    slopes, by_taken = vector_at(of_slopes, nx * wide), vector_at(of_taken, nx * n)
    taken, result = vector_at(moved, n * wide), vector_at(out, nx * wide)
    if sizes[DRIFTS] != 0:
        _move_with_exact(told, matrices, room, moved + 8 * n * wide)
    for c in range(wide):
        _multiply(told, matrices, room + 16 * n * c, moved + 8 * n * c)
        for j in range(n):
            by = taken[c * n + j]
            if by != 0.0:
                for i in range(nx):
                    slopes[c * nx + i] += by_taken[j * nx + i] * by
    for i in range(nx):
        for j in range(nx):
            result[i * nx + j] = slopes[j * nx + i]
        result[nx * nx + i] = slopes[nx * nx + i]
    return 0


@machine_code
def _move_with_exact(told: int, matrices: int, room: int, work: int) -> None:
    """Make derivatives of rows and slopes by states without drift those by states and time."""
    sizes = indices_at(told, FIRST)
    n, nx = sizes[SIZE], sizes[STATES]
    wide = nx + 1
    pairs = indices_at(told, FIRST + n + 1)[FIRST + n]
    first = FIRST + n + 1 + pairs
    more = indices_at(told, first + n + 1)[first + n]
    at = indices_at(told, first + n + 1 + more)
    entries = vector_at(matrices + 16 * pairs, more)
    rows, slopes = vector_at(room, 2 * n * wide), vector_at(room + 16 * n * wide, nx * wide)
    exact, moved = vector_at(work, nx * wide), vector_at(work + 8 * nx * wide, (2 * n + nx) * wide)
    exact[:], moved[:] = 0.0, 0.0
    for c in range(wide):
        if c < nx:
            exact[c * nx + c] = 1.0
        for j in range(n):
            by = rows[c * 2 * n + j]
            if by != 0.0:
                for k in range(at[first + j], at[first + j + 1]):
                    exact[c * nx + at[first + n + 1 + k]] -= entries[k] * by
        if c == nx:
            for i in range(2 * n):
                moved[c * (2 * n + nx) + i] = rows[c * 2 * n + i]
            for i in range(nx):
                moved[c * (2 * n + nx) + 2 * n + i] = slopes[c * nx + i]
        for j in range(nx):
            by = exact[c * nx + j]
            if by != 0.0:
                for i in range(2 * n):
                    moved[c * (2 * n + nx) + i] += rows[j * 2 * n + i] * by
                for i in range(nx):
                    moved[c * (2 * n + nx) + 2 * n + i] += slopes[j * nx + i] * by
    for c in range(wide):
        for i in range(2 * n):
            rows[c * 2 * n + i] = moved[c * (2 * n + nx) + i]
        for i in range(nx):
            slopes[c * nx + i] = moved[c * (2 * n + nx) + 2 * n + i]
