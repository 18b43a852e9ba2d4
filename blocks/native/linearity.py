"""Are the equations of a model linear in its states, with coefficients that events alone change?

Read off the expressions; what looks linear at some points only, as a sign or a floor does, is not.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any
from weakref import WeakKeyDictionary

import casadi as ca
import numpy as np

from ..language.expression import TIME
from ..numerics.rewriting import instructions, symbols_in
from .forms import why_no_derivatives

if TYPE_CHECKING:
    from ..language.kernel import Kernel
    from ..system import System

__all__ = ["has_linear_slopes", "has_steady_derivatives", "kinds_of_dependence"]

_known: WeakKeyDictionary[Kernel, bool] = WeakKeyDictionary()  # as long as the kernel lives

#: How an expression depends on what moves: not at all, on time alone, linearly with constant
#: coefficients (and on time in any way beside that), or otherwise.
CONSTANT, OF_TIME, LINEAR, NONLINEAR = range(4)
SUMS = {ca.OP_ADD, ca.OP_SUB}
KEEP = {ca.OP_NEG, ca.OP_TWICE, ca.OP_ASSIGN}


def has_steady_derivatives(system: System) -> bool:
    """Whether the derivatives of slopes by states change at events alone: every law is linear."""
    return not (system.nu or system.clusters or why_no_derivatives(system)
                or any(_has_nonlinear_law(f.kernel) for f in system.network.families))


def has_linear_slopes(system: System, laws: Any = None) -> bool:
    """Whether slopes are linear in the states while modes are held, plus a function of time."""
    if laws is None:
        return has_steady_derivatives(system)
    from ..nonsmooth.modes.carried_network import CarriedNetwork
    from ..nonsmooth.modes.held_network import HeldNetwork

    held = laws.held_modes
    if not isinstance(held, HeldNetwork) or isinstance(held, CarriedNetwork):
        return False

    def linear() -> bool:
        moving = symbols_in(ca.vertcat(TIME, *(by for _, by in held.slopes_by)))
        return all(moving.isdisjoint(symbols_in(ca.jacobian(of, by))) for of, by in held.slopes_by)

    return bool(system.once("linear slopes", linear))


def kinds_of_dependence(function: ca.Function, time: int, moving: Sequence[int]) -> np.ndarray:
    """How the first result of a function depends on its input ``time`` and the inputs ``moving``.

    Numbers, and inputs that do not move, are constants.
    """
    room = np.zeros(function.sz_w(), dtype=int)
    out = np.zeros(function.nnz_out(0), dtype=int)
    for operation, given, results, _ in instructions(function):
        if operation == ca.OP_INPUT:
            room[results[0]] = (OF_TIME if given[0] == time else
                                LINEAR if given[0] in moving else CONSTANT)
        elif operation == ca.OP_OUTPUT:
            out[results[1]] = room[given[0]]
        elif operation == ca.OP_CONST:
            room[results[0]] = CONSTANT
        else:
            room[results[0]] = _kind(operation, [int(room[i]) for i in given])
    return out


def _kind(operation: int, given: list[int]) -> int:
    """How a result depends on what moves, by how its operands do."""
    if operation in SUMS:
        return max(given)
    if operation in KEEP:
        return given[0]
    most = max(given, default=CONSTANT)
    if most < LINEAR:
        return most  # any function of time
    if operation == ca.OP_MUL and min(given) == CONSTANT:
        return most
    if operation == ca.OP_DIV and given[1] == CONSTANT:
        return most
    if operation == ca.OP_IF_ELSE_ZERO and given[0] == CONSTANT:
        return most
    return NONLINEAR


def _has_nonlinear_law(kernel: Kernel) -> bool:
    """Whether an equation is not linear, of those that show nothing alone; found once a class."""
    if kernel not in _known:
        shown = _shown_only(kernel)
        stated = [law.residual for law in kernel.laws if not shown & {i for i, _ in law.arguments}]
        stated += [sx for set_valued in kernel.set_valued for sx in set_valued.given]
        _known[kernel] = any(_bends(kernel, sx) for sx in stated)
    return _known[kernel]


def _shown_only(kernel: Kernel) -> set[int]:
    """Variables that are calculated for the reader: in one law only, and at no port."""
    count = Counter(i for law in kernel.laws for i in {i for i, _ in law.arguments})
    at_ports = {i for _, members in kernel.ports.values() for i in members.values()}
    return {i for i, n in count.items() if n == 1 and i not in at_ports
            and (i, 1) not in kernel.symbols}  # fmt: skip


def _bends(kernel: Kernel, expression: ca.SX) -> bool:
    """Whether an expression of a class is not linear in its variables, coefficients constant."""
    held = [s for (i, _), s in kernel.symbols.items() if kernel.variables[i].kind == "discrete"]
    fixed = {s.__hash__() for s in [*held, *kernel.relation_symbols]} | kernel.parameter_hashes
    symbols = [TIME, *(s for s in ca.symvar(expression) if s.__hash__() != TIME.__hash__())]
    moving = [k for k, s in enumerate(symbols) if k and s.__hash__() not in fixed]
    function = ca.Function("law", symbols, [expression])
    return bool((kinds_of_dependence(function, 0, moving) == NONLINEAR).any())
