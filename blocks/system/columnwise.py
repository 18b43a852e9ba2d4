"""A CasADi function at many points at once: every operation once, on arrays.

CasADi goes from point to point, which costs 0.2 microseconds each however short the function is,
and ten for every table it searches; here an operation costs half a microsecond, and some
nanoseconds a point. What IEEE 754 defines to the last bit NumPy carries out, tables are searched
for all points together, and all else is left to CasADi, a column at a time: the numbers are its.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cache
from typing import Any

import casadi as ca
import numpy as np

from ..language.lookup import CalledFunction, function_named
from ..numerics.arrays import Array
from ..numerics.rewriting import instructions, kinds

__all__ = ["Columnwise"]

BLOCK = 4096  # points whose intermediate results stay near the processor
LONGEST = 3000  # operations; to read those of very many takes longer than to carry them out
LANES = 256  # points at which CasADi carries out an operation together

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
#: What stands in no table: all other operations libraries round in their own ways.
GIVEN = {ca.OP_INPUT, ca.OP_OUTPUT, ca.OP_CONST, ca.OP_CALL}


class Columnwise:
    """The first result of a function, operation by operation.

    The function is of scalars, as :meth:`fits` says.
    """

    def __init__(self, function: ca.Function) -> None:
        self._room, self._rows = function.sz_w(), function.size1_out(0)
        self._row_of = function.sparsity_out(0).row()
        self._program = list(instructions(function))
        self._constants = {k: function.instruction_constant(k)
                           for op, *_, k in self._program if op == ca.OP_CONST}
        self._called = _called(function)
        self._rounded = {op: _Rounded(op, len(inputs)) for op, inputs, *_ in self._program
                         if op not in EXACT.keys() | TRUE.keys() | GIVEN}

    @staticmethod
    def fits(function: ca.Function) -> bool:
        """Whether all operations can be carried out, and are not too many."""
        if not function.is_a("SXFunction") or function.n_instructions() > LONGEST:
            return False
        return ca.OP_CALL not in kinds(function) or None not in _called(function).values()

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
            elif op == ca.OP_CALL:
                called = self._called[k]
                assert called is not None
                room[results[0]] = called.values(*(room[i] for i in inputs))
            else:
                carried_out = EXACT.get(op) or self._rounded[op]
                room[results[0]] = carried_out(*(room[i] for i in inputs))


class _Rounded:
    """An operation as CasADi carries it out, on columns."""

    def __init__(self, op: int, operands: int) -> None:
        self._buffer, self._trigger = _operation(op, operands).buffer()
        self._given = np.zeros((operands, LANES))
        self._result = np.zeros(LANES)
        for i, row in enumerate(self._given):
            self._buffer.set_arg(i, row.data)  # type: ignore[call-arg]  # a view knows its size
        self._buffer.set_res(0, self._result.data)  # type: ignore[call-arg]

    def __call__(self, *columns: Any) -> Array:
        given = np.broadcast_arrays(*(np.asarray(c, dtype=float) for c in columns))
        out = np.empty(given[0].size)
        for first in range(0, len(out), LANES):
            here = min(LANES, len(out) - first)
            for mine, column in zip(self._given, given, strict=True):
                mine[:here] = column.ravel()[first : first + here]
            self._trigger()
            out[first : first + here] = self._result[:here]
        return out.reshape(given[0].shape)


@cache
def _operation(op: int, operands: int) -> ca.Function:
    """An operation on so many columns."""
    symbols = [ca.SX.sym("a", LANES) for _ in range(operands)]
    combined = ca.SX.unary if operands == 1 else ca.SX.binary
    return ca.Function("operation", symbols, [ca.densify(combined(op, *symbols))])


def _called(function: ca.Function) -> dict[int, CalledFunction | None]:
    """By instruction, what a function calls; None for what is in its operations."""
    calls = [k for k in range(function.n_instructions())
             if function.instruction_id(k) == ca.OP_CALL]
    nodes: Any = function.instructions_sx() if calls else []
    return {k: function_named(nodes[k].which_function().name()) for k in calls}
