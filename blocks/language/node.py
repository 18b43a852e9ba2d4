"""What does an expression call that is not written in its operations?

A node: a function of numbers that gives one number, and whose derivatives are expressions of nodes.
Tables (:mod:`.lookup`) and functions in Python (:mod:`.python_calls`) are nodes.
"""

from __future__ import annotations

from itertools import islice
from typing import Any

import casadi as ca
import numpy as np
from numpy.typing import ArrayLike

from ..numerics.arrays import Array
from ..numerics.rewriting import applied, instructions, kinds

__all__ = ["Node", "derivatives_written", "jacobian", "node_named"]


class Node(ca.Callback):  # type: ignore[misc]  # CasADi has no types
    """A function that expressions call.

    Parameters
    ----------
    name : by which it is found, in the text of machine code, too
    count : of numbers that it takes
    """

    def __init__(self, name: str, count: int) -> None:
        ca.Callback.__init__(self)
        self.count = count
        self.construct(name, {"never_inline": True})
        _known[name] = self

    def value(self, *given: float) -> float:
        """The reference for machine code."""
        raise NotImplementedError

    def values(self, *given: ArrayLike) -> Array:
        """Return the values of :meth:`value` for columns of arguments."""
        columns = np.broadcast_arrays(*given)
        rows = zip(*(c.ravel().tolist() for c in columns), strict=True)
        return np.array([self.value(*row) for row in rows]).reshape(columns[0].shape)

    def slopes(self, values: list[ca.SX]) -> list[ca.SX]:
        """Derivatives by all arguments; an empty entry where there is none."""
        raise NotImplementedError

    # -- what CasADi asks ------------------------------------------------------------------
    def get_n_in(self) -> int:
        return self.count

    def get_n_out(self) -> int:
        return 1

    def has_eval_buffer(self) -> bool:
        return True

    def eval_buffer(self, given: Any, results: Any) -> int:
        if results[0] is not None:
            results[0].cast("d")[0] = self.value(*[g.cast("d")[0] for g in given])
        return 0

    def has_forward(self, n: int) -> bool:
        return n == 1

    def get_forward(self, n: int, name: str, inputs: Any, outputs: Any, options: Any
                    ) -> ca.Function:
        values, changes = ([ca.SX.sym(word) for word in inputs[k : k + self.count]]
                           for k in (0, self.count + 1))  # fmt: skip
        return ca.Function(name, [*values, ca.SX.sym(inputs[self.count]), *changes],
                           [ca.dot(ca.vertcat(*self.slopes(values)), ca.vertcat(*changes))],
                           inputs, outputs)

    def has_reverse(self, n: int) -> bool:
        return n == 1

    def get_reverse(self, n: int, name: str, inputs: Any, outputs: Any, options: Any
                    ) -> ca.Function:
        values = [ca.SX.sym(word) for word in inputs[: self.count]]
        result, seed = ca.SX.sym(inputs[-2]), ca.SX.sym(inputs[-1])
        return ca.Function(name, [*values, result, seed],
                           [slope * seed for slope in self.slopes(values)], inputs, outputs)


_known: dict[str, Node] = {}


def node_named(name: str) -> Any:
    """The node with this name, if it is one."""
    return _known.get(name)


def derivatives_written(sx: ca.SX) -> ca.SX:
    """Return an expression with the derivatives of its nodes written as expressions of nodes.

    CasADi makes a call of a derivative, which hides that it is zero where its seed is.
    """
    if not _known:
        return sx
    function = ca.Function("written", [ca.vertcat(*ca.symvar(sx))], [sx])
    if ca.OP_CALL not in kinds(function):
        return sx
    symbols, nodes = function.sx_in(0), function.instructions_sx()
    work: dict[int, ca.SX] = {}
    entries: list[ca.SX] = [ca.SX(0)] * function.nnz_out(0)
    for op, given, outputs, k in instructions(function):
        if op == ca.OP_OUTPUT:
            entries[outputs[1]] = work[given[0]]
        elif op == ca.OP_INPUT:
            work[outputs[0]] = symbols.nz[given[1]]
        elif op == ca.OP_CONST:
            work[outputs[0]] = ca.SX(function.instruction_constant(k))
        elif op == ca.OP_CALL:
            values = _called(nodes[k].which_function(), [work[i] for i in given])
            work.update({out: v for out, v in zip(outputs, values, strict=True) if out >= 0})
        else:
            work[outputs[0]] = applied(op, [work[i] for i in given])
    column = ca.vertcat(*entries) if entries else ca.SX(0, 1)
    return ca.sparsify(ca.SX(function.sparsity_out(0), column))


def jacobian(expression: ca.SX, by: ca.SX) -> ca.SX:
    """Derivatives whose pattern shows what they depend on, tables or not."""
    return derivatives_written(ca.jacobian(expression, by))


def _called(function: ca.Function, given: list[ca.SX]) -> list[ca.SX]:
    """What a node gives; of a derivative the expression that it is."""
    if node_named(function.name()) is not None:
        return [function(*given)]
    parts = iter(given)
    arguments = [ca.SX(function.sparsity_in(i), ca.vertcat(ca.SX(0, 1), *islice(parts, n)))
                 for i, n in enumerate(function.nnz_in(i) for i in range(function.n_in()))]
    results = function.call(arguments, True, False)
    return [derivatives_written(ca.project(r, function.sparsity_out(i)).nz[e])
            for i, r in enumerate(results) for e in range(function.nnz_out(i))]
