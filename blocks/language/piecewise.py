"""The pieces of a piecewise law as relations: which holds is decided at events, not in between.

``minimum``, ``maximum``, ``abs_`` and ``sign`` are of two pieces each. Where a law is solved
together with others, each combination of pieces may have a solution of its own; as relations, one
is held until it ends.
"""

from __future__ import annotations

import copy

import casadi as ca

from ..numerics.rewriting import kinds, rewritten
from .kernel import Kernel, Law
from .readable import readable

__all__ = ["PIECEWISE", "pieces_of", "with_pieces"]

PIECEWISE = {ca.OP_FMIN, ca.OP_FMAX, ca.OP_FABS, ca.OP_SIGN}


def pieces_of(law: Law) -> bool:
    """Whether a law has pieces that depend on its variables."""
    symbols = ca.symvar(law.residual)
    if not symbols:
        return False
    function = ca.Function("law", symbols, [law.residual])
    if kinds(function).isdisjoint(PIECEWISE):
        return False
    return len(_Pieces(law.kernel).of(law.residual)[1]) > 0


def with_pieces(kernel: Kernel, laws: set[int]) -> Kernel:
    """Return the kernel with the pieces of some laws as relations."""
    new = copy.copy(kernel)
    new.symbols, new._key_by_hash = dict(kernel.symbols), dict(kernel._key_by_hash)
    new.relations, new.relation_symbols = list(kernel.relations), list(kernel.relation_symbols)
    new._default_laws = {}
    residuals = []
    for k, law in enumerate(kernel.laws):
        residual = law.residual
        if k in laws:
            residual, found = _Pieces(new).of(residual)
            for crossing, symbol in found:
                new.relations.append((crossing, False))
                new.relation_symbols.append(symbol)
        residuals.append(residual)
    new.pieces = set(range(len(kernel.relations), len(new.relations)))
    new.laws = [Law(new, residual, law.wording, law.order)
                for law, residual in zip(kernel.laws, residuals, strict=True)]
    return new


class _Pieces:
    """Writes an expression anew, its pieces chosen by relations."""

    def __init__(self, kernel: Kernel) -> None:
        self.moving = {s.__hash__() for s in kernel.symbols.values()}
        self.found: list[tuple[ca.SX, ca.SX]] = []  # crossing function and symbol

    def of(self, expression: ca.SX) -> tuple[ca.SX, list[tuple[ca.SX, ca.SX]]]:
        return rewritten(expression, self._value), self.found

    def _value(self, operation: int, given: list[ca.SX]) -> ca.SX | None:
        piecewise = operation in PIECEWISE and any(
            s.__hash__() in self.moving for one in given for s in ca.symvar(one))
        return self._chosen(operation, given) if piecewise else None

    def _chosen(self, operation: int, given: list[ca.SX]) -> ca.SX:
        a, b = given[0], given[-1]
        if operation == ca.OP_FMIN:
            crossing, then, otherwise = b - a, a, b
        elif operation == ca.OP_FMAX:
            crossing, then, otherwise = a - b, a, b
        elif operation == ca.OP_FABS:
            crossing, then, otherwise = a, a, -a
        else:
            crossing, then, otherwise = a, ca.SX(1), ca.SX(-1)
        symbol = next((s for known, s in self.found if ca.is_equal(known, crossing, 5)), None)
        if symbol is None:
            symbol = ca.SX.sym(f"{readable(crossing)} > 0")
            self.found.append((crossing, symbol))
        return ca.if_else(symbol, then, otherwise)
