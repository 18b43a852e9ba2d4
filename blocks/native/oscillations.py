"""Which oscillations act on equations from outside?

The sine and the cosine of an angle that grows evenly in time, ``a + w t``, whatever its constants
come to. They obey linear equations themselves, ``s' = w c`` and ``c' = -w s``: what is linear in
them, too, can be stepped exactly, with both carried along behind the states.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import casadi as ca

from ..language.expression import TIME
from ..numerics.rewriting import applied, instructions, kinds
from .forms import MOST_STATES, is_solved_for

if TYPE_CHECKING:
    from ..system import System

__all__ = ["NONLINEAR", "Oscillations", "degree", "oscillations_in", "oscillations_of"]

SUMS = {ca.OP_ADD, ca.OP_SUB}
KEEP = {ca.OP_NEG, ca.OP_TWICE, ca.OP_ASSIGN}
NONLINEAR = 2
TIMES, MOVED = 0, (1, 2)  # arguments of a system's functions: time; states and unknowns
ALIKE = 20  # levels of operations over which angles are compared


@dataclass(frozen=True)
class Oscillations:
    """Expressions in which symbols stand for what oscillates.

    Attributes
    ----------
    angles : (m,)
    symbols : (2 m,) those of all sines, then of all cosines
    results : the expressions
    """

    angles: ca.SX
    symbols: ca.SX
    results: list[ca.SX]

    @classmethod
    def none(cls, results: Sequence[ca.SX]) -> Oscillations:
        """Expressions as they are."""
        return cls(ca.SX(0, 1), ca.SX(0, 1), list(results))

    @property
    def values(self) -> ca.SX:
        """What the symbols stand for."""
        return ca.vertcat(ca.sin(self.angles), ca.cos(self.angles))

    def rates(self, by_symbols: ca.SX) -> ca.SX:
        """How a result changes with time through what oscillates, for each symbol's value.

        Parameters
        ----------
        by_symbols : (n, 2 m) its derivatives by the symbols
        """
        m = self.angles.numel()
        speeds = ca.repmat(ca.jacobian(self.angles, TIME).T, by_symbols.shape[0], 1)
        sines, cosines = by_symbols[:, :m], by_symbols[:, m:]
        return ca.horzcat(-cosines * speeds, sines * speeds)

    def augmented(self, of_states: ca.SX, of_time: ca.SX) -> tuple[ca.SX, ca.SX, ca.SX]:
        """Linear equations for slopes and, behind them, what oscillates.

        Parameters
        ----------
        of_states, of_time : (n, n + 2 m) and (n, 1) derivatives of the slopes, of states and of the
            symbols, and of time

        Returns
        -------
        matrix : (n + 2 m, n + 2 m)
        of_time, now : (n + 2 m, 1) the constant part, and what oscillates at this time
        """
        n, m = of_states.shape[0], self.angles.numel()
        matrix = ca.vertcat(
            ca.horzcat(of_states[:, :n], self.rates(of_states[:, n:])),
            ca.horzcat(ca.SX(2 * m, n), self.rates(ca.SX.eye(2 * m))))
        return (self.resolved(matrix), self.resolved(ca.vertcat(of_time, ca.SX(2 * m, 1))),
                ca.vertcat(ca.SX(n, 1), self.values))

    def resolved(self, expression: ca.SX) -> ca.SX:
        """An expression with what oscillates in place of its symbols."""
        return ca.substitute(expression, self.symbols, self.values)


def oscillations_of(system: System, symbols: Sequence[ca.SX], slope: ca.SX) -> Oscillations:
    """What oscillates in slopes and residuals; nothing where Newton's method solves for unknowns,
    which has derivatives by states and time alone, or where states are too many for exact steps."""
    results = [slope, system.tape.residual]
    if system.nx > MOST_STATES or is_solved_for(system):
        return Oscillations.none(results)
    return oscillations_in(symbols, results)


def oscillations_in(symbols: Sequence[ca.SX], results: Sequence[ca.SX]) -> Oscillations:
    """What oscillates in expressions of a system: time, states and unknowns come first."""
    function = ca.Function("results", list(symbols), list(results))
    if not kinds(function) & {ca.OP_SIN, ca.OP_COS} or ca.OP_CALL in kinds(function):
        return Oscillations.none(results)
    room, grows = [ca.SX(0)] * function.sz_w(), [0] * function.sz_w()
    found = [[ca.SX(0)] * function.nnz_out(k) for k in range(function.n_out())]
    angles: list[ca.SX] = []
    pairs: list[tuple[ca.SX, ca.SX]] = []
    for operation, given, out, k in instructions(function):
        if operation == ca.OP_OUTPUT:
            found[out[0]][out[1]] = room[given[0]]
            continue
        place = out[0]
        if operation == ca.OP_INPUT:
            room[place] = symbols[given[0]].nz[given[1]]
            grows[place] = 1 if given[0] == TIMES else NONLINEAR if given[0] in MOVED else 0
        elif operation == ca.OP_CONST:
            room[place], grows[place] = ca.SX(function.instruction_constant(k)), 0
        elif operation in (ca.OP_SIN, ca.OP_COS) and grows[given[0]] == 1:
            angle = room[given[0]]
            which = next((i for i, a in enumerate(angles) if ca.is_equal(a, angle, ALIKE)), None)
            if which is None:
                which = len(angles)
                angles.append(angle)
                pairs.append((ca.SX.sym(f"sine {which}"), ca.SX.sym(f"cosine {which}")))
            room[place], grows[place] = pairs[which][operation == ca.OP_COS], NONLINEAR
        else:
            grows[place] = degree(operation, [grows[i] for i in given])
            room[place] = applied(operation, [room[i] for i in given])
    if not angles:
        return Oscillations.none(results)
    return Oscillations(
        ca.vertcat(*angles), ca.vertcat(*(pair[i] for i in (0, 1) for pair in pairs)),
        [ca.SX(function.sparsity_out(k), ca.vertcat(*one)) for k, one in enumerate(found)])


def degree(operation: int, given: list[int]) -> int:
    """The degree of a result, by those of the operands: 0, 1, or 2 for all that is not linear."""
    if operation in SUMS:
        return max(given)
    if operation in KEEP:
        return given[0]
    if operation == ca.OP_MUL:
        return min(sum(given), NONLINEAR)
    if operation == ca.OP_DIV and not given[1]:
        return given[0]
    if operation == ca.OP_IF_ELSE_ZERO and not given[0]:
        return given[1]
    return NONLINEAR if any(given) else 0
