"""Functions of elements at nodes without mass, in held modes.

What elements take is found first, by products with the matrices that stand in ``q``, in loops; then
the function is evaluated. Written out, the products of many elements would be an operation per
entry, and their derivatives one per entry and state.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import casadi as ca
import numpy as np

from ..machine.functions import MachineCode, machine_code
from ..machine.signatures import indices_at, vector_at
from ..numerics.arrays import Flags, Indices
from .derivatives import SolvedText, multiply
from .expressions import Writer

if TYPE_CHECKING:
    from ..nonsmooth.modes.held_network import HeldNetwork

__all__ = ["NetworkCode"]

K = 7  # number of the argument that the matrices are part of
DRIFTS, SIZE, STATES = range(3)  # entries of a table
FIRST = 3  # entry of it from which columns begin


class NetworkCode(SolvedText):
    """Texts of functions of a network in held modes.

    ``arguments`` are those of all expressions, of which the last ones are what is taken, and exact
    states; ``places`` are those of the others, ``first`` is the first free entry of ``q``.
    """

    def __init__(self, network: HeldNetwork, arguments: list[ca.SX],
                 places: Mapping[int, tuple[str, int]], first: int) -> None:
        super().__init__()
        n, nx = network.elements.size, network.system.nx
        self.network, self.arguments = network, arguments
        self.first, room = first, np.cumsum([first, 2 * n, n, nx])
        self.alone, self.taken, self.without_drift, self.end = (int(i) for i in room)
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

    def of_function(self, function: ca.Function, more: Mapping[int, tuple[str, int]]) -> str:
        """A function of all arguments and of ``more``, which stand in places of their own."""
        w = Writer()
        self._solve_all(w)
        self._put(w, w.values(function, {**self.places, **more}), "%out", 0)
        return self._text(w)

    def derivatives(self, slope: ca.SX, fill: MachineCode) -> str:
        x, exact = self.arguments[1], self.network.exact
        return super().derivatives(
            ca.substitute(slope, exact, x) if self.network.drifts else slope, fill)

    def _unknowns(self, w: Writer) -> tuple[ca.SX, list[Any], int]:
        """What states without drift do comes first: where modes hold something constant that is
        zero, and differences of large numbers would leave of it what is none."""
        self._solve_all(w)
        network, x = self.network, self.arguments[1]
        return ca.vertcat(x, network.taken), [self], x.numel()

    @property
    def rows(self) -> ca.SX:
        """What is taken follows from these."""
        return ca.vertcat(*self.network.alone)

    def move(self, w: Writer, room: str, first: int, *given: str) -> None:
        """Append what lets it move with states, as :meth:`.derivatives.Unknowns.move` does."""
        w.call(move_taken, *given, room, w.table(self._told), w.pointer("%q", self.matrices))

    def _solve_all(self, w: Writer) -> str:
        """See to it that what is taken, and states without drift, stand where they are read."""
        alone = ca.vertcat(*self.network.alone)
        if self.network.drifts:
            self._fill(w, alone, self.alone)
            self._call(w, leave_drift, self.alone, "%x")
        self._fill(w, alone, self.alone, self.there)
        self._call(w, find_taken, self.alone)
        return "true"

    def _call(self, w: Writer, function: MachineCode, room: int, *more: str) -> None:
        w.call(function, w.table(self._told), w.pointer("%q", self.matrices),
               w.pointer("%q", room), *more)


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
    """What elements take, from what equations come to without it, and from the rates of that: the
    sum of the products of the two matrices with these."""
    n = indices_at(told, FIRST)[SIZE]
    pairs = indices_at(told, FIRST + n + 1)[FIRST + n]
    at = indices_at(told, FIRST + n + 1 + pairs)
    rows, taken, entries = vector_at(room, 2 * n), vector_at(room + 16 * n, n), vector_at(
        matrices, 2 * pairs)
    taken[:] = 0.0
    for j in range(n):
        value, rate = rows[j], rows[n + j]
        if value != 0.0 or rate != 0.0:
            for k in range(at[FIRST + j], at[FIRST + j + 1]):
                taken[at[FIRST + n + 1 + k]] += entries[k] * value + entries[pairs + k] * rate
    return 0


@machine_code
def move_taken(told: int, matrix: int, moves: int, room: int, of: int, matrices: int) -> int:
    """Let states without drift, and what is taken, move with states."""
    sizes = indices_at(of, FIRST)
    n, nx = sizes[SIZE], sizes[STATES]
    moved, exact, taken = (vector_at(moves, nx + n), vector_at(room + 24 * n, nx),
                           vector_at(room + 16 * n, n))
    if sizes[DRIFTS] != 0:
        multiply(told, matrix, moves, room, 0, n)
        leave_drift(of, matrices, room, moves)
        moved[:nx] = exact
    multiply(told, matrix, moves, room, 0, 2 * n)
    find_taken(of, matrices, room)
    moved[nx:] = taken
    return 0
