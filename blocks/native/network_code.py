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

from ..machine.functions import machine_code
from ..machine.signatures import indices_at, vector_at
from ..numerics.arrays import Flags, Indices
from .derivatives import SolvedText, multiply
from .expressions import Writer

if TYPE_CHECKING:
    from ..nonsmooth.modes.held_network import HeldNetwork

__all__ = ["NetworkCode"]

K = 7  # number of the argument that the matrices are part of
FIRST = 1  # entry of a table, behind the number of elements, from which columns begin


class NetworkCode(SolvedText):
    """Texts of functions of a network in held modes.

    ``arguments`` are those of all expressions, of which the last one is what is taken; ``places``
    are those of the others, ``first`` is the first free entry of ``q``.
    """

    def __init__(self, network: HeldNetwork, arguments: list[ca.SX],
                 places: Mapping[int, tuple[str, int]], first: int) -> None:
        super().__init__()
        n = network.elements.size
        self.network, self.arguments, self.first = network, arguments, first
        self.rows = network.alone  # what is taken follows from these
        self.alone, self.taken, self.end = first, first + 2 * n, first + 3 * n
        self.places = {**places, len(arguments) - 1: ("%q", self.taken)}
        self.matrices = places[K][1] + 2 * n
        self._told = np.append(n, _columns(network.together)).astype(np.int64)

    def _unknowns(self, w: Writer) -> tuple[ca.SX, list[Any], int]:
        self._solve_all(w)
        network, x = self.network, self.arguments[1]
        return ca.vertcat(x, network.taken), [self], x.numel()

    def move(self, w: Writer, room: str, first: int, *given: str) -> None:
        """Append what lets it move with states, as :meth:`.derivatives.Unknowns.move` does."""
        w.call(move_taken, *given, room, w.table(self._told), w.pointer("%q", self.matrices))

    def _solve_all(self, w: Writer) -> str:
        """See to it that what is taken stands where it is read."""
        self._fill(w, self.rows, self.alone)
        w.call(find_taken, w.table(self._told), w.pointer("%q", self.matrices),
               w.pointer("%q", self.alone))
        return "true"


def _columns(pattern: Flags) -> Indices:
    """Where columns of a matrix begin, and the rows of its entries."""
    columns, rows = np.nonzero(pattern.T)
    starts = np.append(0, np.cumsum(np.bincount(columns, minlength=pattern.shape[1])))
    return np.concatenate([starts, rows])


@machine_code
def find_taken(told: int, matrices: int, room: int) -> int:
    """What elements take, from what equations come to without it, and from the rates of that: the
    sum of the products of the two matrices with these."""
    n = indices_at(told, FIRST)[0]
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
    """Let what is taken move with states."""
    n, columns = indices_at(of, FIRST)[0], indices_at(told, 2)[1]
    nx = columns - n - 1  # states, what is taken, and time move
    moved, taken = vector_at(moves, columns), vector_at(room + 16 * n, n)
    multiply(told, matrix, moves, room, 0, 2 * n)
    find_taken(of, matrices, room)
    moved[nx : nx + n] = taken
    return 0
