"""How do the derivatives of slopes read as machine code?

A function ``f(t, x, p, q, out)`` that fills in df/dx, a row after the other, and then df/dt. What
is always zero is not written: ``out`` holds zeros there.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import casadi as ca

from .expressions import Writer

__all__ = ["write_derivatives"]


def write_derivatives(w: Writer, arguments: Sequence[ca.SX], of_states: ca.SX, of_time: ca.SX,
                      places: Mapping[int, tuple[str, int]]) -> None:
    """Append the function.

    Parameters
    ----------
    w : takes the lines
    arguments : symbols, and where they stand
    of_states, of_time : (n, n) and (n, 1), sparse
    """
    n = of_time.numel()
    function = ca.Function("derivatives", arguments, [of_states, of_time])
    rows, columns = of_states.sparsity().get_triplet()
    entries = [[row * n + column for row, column in zip(rows, columns, strict=True)],
               [n * n + row for row in of_time.sparsity().row()]]  # fmt: skip

    def read(argument: int, i: int) -> str:
        base, offset = places[argument]
        return w.load(base, offset + i)

    def keep(result: int, i: int, value: str) -> None:
        w.store(value, "%out", entries[result][i])

    w.write(function, read, keep)
