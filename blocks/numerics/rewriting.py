"""An expression, read and written anew operation by operation."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

import casadi as ca
import numpy as np

from .arrays import Flags, Indices

__all__ = ["alternatives", "applied", "contained", "cut_jacobian", "dependent_pairs",
           "instructions", "kinds", "lifted", "replayed", "rewritten", "symbols_in"]

POWERS = ca.OP_EXP, ca.OP_EXPM1
FEW = 8  # symbols that an expression follows, or parts of it become symbols


def symbols_in(expression: ca.SX) -> set[int]:
    """What an expression is made of, as hashes."""
    return {s.__hash__() for s in ca.symvar(expression)}


def contained(symbols: ca.SX, expression: ca.SX) -> Flags:
    """Which of some symbols stand in an expression."""
    inside = symbols_in(expression)
    return np.array([s.__hash__() in inside for s in ca.vertsplit(symbols)], dtype=bool)


def dependent_pairs(values: ca.SX, symbols: ca.SX) -> tuple[Indices, Indices]:
    """Which of some values follow which symbols: pairs of both."""
    values_at, symbols_at = ca.jacobian_sparsity(values, symbols).get_triplet()
    return np.array(values_at, dtype=int), np.array(symbols_at, dtype=int)


def instructions(function: ca.Function) -> Iterator[tuple[int, list[int], list[int], int]]:
    """What a function of expressions does in turn: kind (a ``casadi.OP_``), work entries that are
    taken and filled, and number of every instruction.

    Of an input, what is taken is which one and its entry; of an output, what is filled is. Entries
    that nobody asks for are negative.
    """
    for k in range(function.n_instructions()):
        yield (function.instruction_id(k), function.instruction_input(k),
               function.instruction_output(k), k)


def kinds(function: ca.Function) -> set[int]:
    """All kinds of operations that a function has."""
    return {function.instruction_id(k) for k in range(function.n_instructions())}


def applied(kind: int, operands: Sequence[ca.SX]) -> ca.SX:
    """An operation on one operand or two."""
    return (ca.SX.unary if len(operands) == 1 else ca.SX.binary)(kind, *operands)


def alternatives(sx: ca.SX) -> tuple[ca.SX, ca.SX, ca.SX] | None:
    """Condition and both values of ``if_else``, which CasADi writes as a sum of two cases."""
    if sx.op() == ca.OP_IF_ELSE_ZERO:
        return sx.dep(0), sx.dep(1), ca.SX(0)
    of = [sx.dep(k) for k in range(2)] if sx.op() == ca.OP_ADD else []
    if of and all(one.op() == ca.OP_IF_ELSE_ZERO for one in of):
        (c, a), (other, b) = ((one.dep(0), one.dep(1)) for one in of)
        return (c, a, b) if ca.is_equal(other, ca.logic_not(c), 6) else None
    return None


def replayed(function: ca.Function, arguments: Sequence[ca.SX],
             operate: Callable[[int, list[ca.SX], int], Sequence[ca.SX]]) -> list[ca.SX]:
    """Results of a function of expressions, written anew operation by operation.

    ``operate`` gives the results of one (a ``casadi.OP_``) on these operands; its last argument is
    the number of the instruction.
    """
    room: dict[int, ca.SX] = {}
    entries = [[ca.SX(0)] * function.nnz_out(i) for i in range(function.n_out())]
    for kind, given, out, k in instructions(function):
        if kind == ca.OP_OUTPUT:
            entries[out[0]][out[1]] = room[given[0]]
        elif kind == ca.OP_INPUT:
            room[out[0]] = arguments[given[0]].nz[given[1]]
        elif kind == ca.OP_CONST:
            room[out[0]] = ca.SX(function.instruction_constant(k))
        else:
            room.update(zip(out, operate(kind, [room[i] for i in given], k), strict=True))
    return [ca.SX(function.sparsity_out(i), ca.vertcat(ca.SX(0, 1), *e))
            for i, e in enumerate(entries)]


def rewritten(expression: ca.SX, operate: Callable[[int, list[ca.SX]], ca.SX | None]) -> ca.SX:
    """A scalar expression with some of its operations replaced; the expression itself where it
    calls another function, whose operations are not seen.

    ``operate`` gives what stands for an operation (a ``casadi.OP_``) on these operands, which are
    written anew already; None where it stays.
    """
    symbols = ca.symvar(expression)
    function = ca.Function("expression", symbols, [expression])
    if ca.OP_CALL in kinds(function):
        return expression

    def operated(kind: int, operands: list[ca.SX], number: int) -> list[ca.SX]:
        replaced = operate(kind, operands)
        return [applied(kind, operands) if replaced is None else replaced]

    return replayed(function, symbols, operated)[0]


def lifted(expressions: Sequence[ca.SX]) -> tuple[list[ca.SX], list[ca.SX], list[ca.SX]]:
    """Put a symbol in place of every exponent of e in some expressions.

    A power of e rises and falls within a fraction of the time in which its exponent does, so a
    pulse of it may lie between all points that a method looks at. Where it is highest can be told
    from the exponent alone, which is as smooth as the rest. Behind the expressions with these
    symbols come the symbols, and what each stands for: every exponent, once.
    """
    symbols = ca.symvar(ca.veccat(ca.SX(), *expressions))
    function = ca.Function("expressions", symbols, list(expressions))
    if kinds(function).isdisjoint(POWERS):
        return list(expressions), [], []
    nodes = function.instructions_sx()
    meant: dict[int, ca.SX] = {}  # exponents, by their hashes
    stands: dict[int, ca.SX] = {}  # the symbol of each

    def operated(kind: int, operands: list[ca.SX], k: int) -> list[ca.SX]:
        if kind in POWERS:
            exponent = nodes[k].dep(0)
            node = exponent.__hash__()
            meant[node] = exponent
            operands = [stands.setdefault(node, ca.SX.sym(f"exponent{len(stands) + 1}"))]
        return [_operated(nodes[k], kind, operands)]

    found = replayed(function, symbols, operated)
    return found, list(stands.values()), list(meant.values())


def cut_jacobian(expression: ca.SX, symbols: ca.SX) -> ca.SX:
    """Derivatives by symbols, kept sparse by rows and columns for parts that follow many of them.

    So each of the voltages along a ladder, which are sums of all before, is a few numbers. Behind
    the rows of the expression stand those of what the parts are, less the parts themselves.
    """
    given = ca.vertcat(*ca.symvar(expression))
    function = ca.Function("expression", [given], [expression])
    nodes = function.instructions_sx()
    new, stands_for, values = list[ca.SX](), list[ca.SX](), list[ca.SX]()
    followed = {s.__hash__(): (s, {s.__hash__()}) for s in ca.vertsplit(symbols)}

    def operated(kind: int, operands: list[ca.SX], k: int) -> list[ca.SX]:
        found = _operated(nodes[k], kind, operands)
        of = set[int]().union(*(followed[o.__hash__()][1] for o in operands
                                if o.__hash__() in followed))
        if len(of) > FEW and kind != ca.OP_CALL:
            stands_for.append(found)
            values.append(nodes[k])
            found = ca.SX.sym("part")
            new.append(found)
            of = {found.__hash__()}
        followed[found.__hash__()] = found, of
        return [found]

    rows, = replayed(function, [given], operated)
    parts, told, known = (ca.vertcat(ca.SX(0, 1), *of) for of in (new, stands_for, values))
    derivatives = ca.jacobian(ca.vertcat(rows, told - parts), ca.vertcat(symbols, parts))
    return ca.substitute(derivatives, parts, known)


def _operated(node: ca.SX, kind: int, operands: list[ca.SX]) -> ca.SX:
    """The operation of a node on others, by what is called where that is a table."""
    return node.which_function()(*operands) if kind == ca.OP_CALL else applied(kind, operands)
