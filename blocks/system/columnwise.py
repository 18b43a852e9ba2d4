"""A CasADi function at many points at once: every operation once, on arrays.

CasADi goes from point to point, which costs 0.2 microseconds each however short the function is;
here an operation costs half a microsecond, and a nanosecond a point. Only operations that IEEE 754
defines to the last bit are carried out so: the numbers are CasADi's.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import casadi as ca
import numpy as np

from ..numerics.arrays import Array

__all__ = ["Columnwise"]

BLOCK = 4096  # points whose intermediate results stay near the processor
LONGEST = 3000  # operations; to read those of very many takes longer than to carry them out

EXACT: dict[int, Callable[..., Any]] = {
    ca.OP_ASSIGN: lambda a: a, ca.OP_ADD: np.add, ca.OP_SUB: np.subtract, ca.OP_MUL: np.multiply,
    ca.OP_DIV: np.divide, ca.OP_NEG: np.negative, ca.OP_SQ: np.square,
    ca.OP_TWICE: lambda a: a + a, ca.OP_INV: np.reciprocal, ca.OP_SQRT: np.sqrt,
    ca.OP_FABS: np.absolute, ca.OP_FLOOR: np.floor, ca.OP_CEIL: np.ceil, ca.OP_SIGN: np.sign,
    ca.OP_FMIN: np.fmin, ca.OP_FMAX: np.fmax,
    ca.OP_IF_ELSE_ZERO: lambda a, b: np.where(a, b, 0.0),
}  # fmt: skip
TRUE: dict[int, Callable[..., Any]] = {
    ca.OP_LT: np.less, ca.OP_LE: np.less_equal, ca.OP_EQ: np.equal, ca.OP_NE: np.not_equal,
    ca.OP_NOT: np.logical_not, ca.OP_AND: np.logical_and, ca.OP_OR: np.logical_or,
}
EVERY = {*EXACT, *TRUE, ca.OP_INPUT, ca.OP_OUTPUT, ca.OP_CONST}


class Columnwise:
    """The first result of a function whose operations are exact, operation by operation.

    Parameters
    ----------
    function : of scalars, as :meth:`fits` says
    """

    def __init__(self, function: ca.Function) -> None:
        self._room, self._rows = function.sz_w(), function.size1_out(0)
        self._row_of = function.sparsity_out(0).row()
        self._program = [(function.instruction_id(k), function.instruction_input(k),
                          function.instruction_output(k), k) for k in range(
                              function.n_instructions())]
        self._constants = {k: function.instruction_constant(k)
                           for op, *_, k in self._program if op == ca.OP_CONST}

    @staticmethod
    def fits(function: ca.Function) -> bool:
        """Whether all operations are exact, and not too many."""
        return function.is_a("SXFunction") and function.n_instructions() <= LONGEST and all(
            function.instruction_id(k) in EVERY for k in range(function.n_instructions()))

    def __call__(self, given: Sequence[Array], count: int) -> Array:
        """(rows, points); what is given are columns, or one for all points."""
        out = np.zeros((count, self._rows))
        with np.errstate(all="ignore"):
            for first in range(0, count, BLOCK):
                some = slice(first, first + BLOCK)
                self._run([a[:, some] if a.shape[1] > 1 else a for a in given], out[some])
        return out.T

    def _run(self, given: Sequence[Array], out: Array) -> None:
        room: list[Any] = [0.0] * self._room
        for op, inputs, results, k in self._program:
            if op == ca.OP_OUTPUT:
                if results[0] == 0:
                    out[:, self._row_of[results[1]]] = room[inputs[0]]
            elif op == ca.OP_INPUT:
                room[results[0]] = given[inputs[0]][inputs[1]]
            elif op == ca.OP_CONST:
                room[results[0]] = self._constants[k]
            elif op in TRUE:
                room[results[0]] = TRUE[op](*(room[i] for i in inputs)).astype(float)
            else:
                room[results[0]] = EXACT[op](*(room[i] for i in inputs))
