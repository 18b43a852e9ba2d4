"""Are the equations of a model linear, with constant coefficients?

While relations, modes and discrete values are held: x' = A x + b + c t, and sines of time. Read
off the expressions; what looks linear at some points only, as a sign or a floor does, is not.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, TypeVar

import casadi as ca
import numpy as np

from ..language.expression import TIME
from ..numerics.rewriting import applied, instructions
from ..system.evaluator import Evaluator
from .forms import MOST_STATES, is_large, why_no_derivatives, why_not
from .oscillations import NONLINEAR, Oscillations, degree, oscillations_in, oscillations_of

if TYPE_CHECKING:
    from ..language.kernel import Kernel
    from ..numerics.arrays import Array
    from ..system import Problem, System

__all__ = ["degrees", "exact_steps_to_follow", "has_linear_slopes", "has_steady_derivatives",
           "why_not_linear"]  # fmt: skip

Made = TypeVar("Made")
MOVING, PARAMETERS = (0, 1, 2), 3  # arguments of a system's functions: time, states, unknowns
SPECIAL = np.array([-2.0, -1.0, -0.5, 0.0, 0.5, 1.0, 2.0])  # factors, terms and exponents


def why_not_linear(system: System, laws: Any = None, p: Array | None = None) -> str:
    """Why steps of a model cannot be exact, in a few words; empty if they can.

    Parameters
    ----------
    laws : the model's set-valued laws, where they are known
    p : values of parameters: a coefficient that is zero makes its term vanish
    """
    if reason := why_not(system, laws) or why_no_derivatives(system, laws):
        return reason
    if system.nx > MOST_STATES:
        return f"more than {MOST_STATES} states need a sparse matrix"
    if is_large(system) and system.nz:
        return "algebraic loops are solved side by side at every point"
    if laws is not None and laws.held_modes.length:
        from ..nonsmooth.modes.large_network import LargeNetwork

        return ("what so many ideal elements take is found at every point"
                if isinstance(laws.held_modes, LargeNetwork) else
                "efforts are solved for at every point")
    if system.nx + _acting(system, laws)[1].symbols.numel() > MOST_STATES:
        return f"more than {MOST_STATES} states, with all that oscillates from outside"
    states, of_time = _once(system, "nonlinear states", laws,
                            lambda: _nonlinear_states(system, laws, None))
    if states and p is not None:
        states, of_time = _with_parameters(system, laws, p)
    if not states:
        return ""
    culprit = "a function of time" if of_time else system.once(
        "nonlinear law", lambda: _nonlinear_law(system))
    return (f"der({system.state_name(states[0])}) is not linear with constant coefficients"
            + (f", by {culprit}" if culprit else ""))


def _once(system: System, name: str, laws: Any, make: Callable[[], Made]) -> Made:
    """What has been made for a system before, with laws or without; else it is made now."""
    return system.once(f"{name} {'alone' if laws is None else 'with laws'}", make)


def _with_parameters(system: System, laws: Any, p: Array) -> tuple[list[int], bool]:
    """The same for values of parameters: found once for those with the same special ones.

    Terms vanish or become simpler only where what parameters come to is 0, 1, 2 or so.
    """
    factors, known, last = _once(system, "special parameters", laws, lambda: (
        Evaluator(ca.Function("factors", [system.tape.p], [
            ca.densify(_factors(*_symbols_and_results(system, laws)))])),
        dict[bytes, Any](), dict[bytes, Any]()))
    if p.tobytes() in last:
        return last[p.tobytes()]
    values = factors(p)
    kinds = np.searchsorted(SPECIAL, values)
    kinds += (np.append(SPECIAL, np.nan)[kinds] == values) * (1 + len(SPECIAL))
    if kinds.tobytes() not in known:
        known[kinds.tobytes()] = _nonlinear_states(system, laws, p)
    found: tuple[list[int], bool] = known[kinds.tobytes()]
    last.clear()
    last[p.tobytes()] = found
    return found


def has_steady_derivatives(system: System) -> bool:
    """Whether the derivatives of slopes by states change at events alone: every law is linear."""
    return bool(system.once("steady derivatives", lambda: not (
        system.nu or system.clusters or why_no_derivatives(system) or _nonlinear_law(system))))


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
        moving = {s.__hash__() for _, by in held.slopes_by for s in ca.symvar(by)}
        moving.add(TIME.__hash__())
        return not any(s.__hash__() in moving for of, by in held.slopes_by
                       for s in ca.symvar(ca.jacobian(of, by).nz[:]))

    return bool(system.once("linear slopes", linear))


def exact_steps_to_follow(problem: Problem, t: float, span: float, rtol: float, fastest: float
                          ) -> tuple[int, float]:
    """About how many exact steps follow what oscillates in a time, and how many unknowns they have.

    Parameters
    ----------
    problem : without set-valued laws
    fastest : oscillation of the system itself, in rad/s
    """
    from .steps import times_tolerance

    symbols, found = _acting(problem.system, None)
    acting = np.zeros(found.angles.numel())
    if acting.size:
        speeds = problem.system.once("speeds", lambda: Evaluator(ca.Function("speeds", symbols, [
            ca.densify(ca.jacobian(found.angles, TIME))])))
        acting = np.abs(speeds(*problem.arguments(t)))
    turned = 4.0 * (1.5 * times_tolerance.python(rtol) * rtol) ** 0.25  # rad, in a step
    return problem.size + 2 * acting.size, span * float(np.max(acting, initial=fastest)) / turned


def _acting(system: System, laws: Any) -> tuple[list[ca.SX], Oscillations]:
    """What slopes and residuals are functions of, and both, with all that oscillates in them."""
    symbols, slope = system.arguments, system.tape.slope
    if laws is not None:
        symbols, slope = laws.held_modes.symbols, laws.held_modes.expressions["slope"]
    return _once(system, "acting", laws, lambda: (
        symbols, oscillations_of(system, symbols, slope)))


def _symbols_and_results(system: System, laws: Any) -> tuple[list[ca.SX], list[ca.SX]]:
    """The same as symbols, of which the last ones are what oscillates, and results."""
    symbols, found = _acting(system, laws)
    return [*symbols, found.symbols], found.results


def _factors(symbols: list[ca.SX], results: list[ca.SX]) -> ca.SX:
    """The largest expressions of parameters alone that other operands meet."""
    function = ca.Function("slope", symbols, results)
    room: list[Any] = [None] * function.sz_w()  # expressions of parameters; None for all else
    found: list[ca.SX] = []
    for operation, given, out, k in instructions(function):
        if operation == ca.OP_INPUT:
            room[out[0]] = symbols[PARAMETERS][given[1]] if given[0] == PARAMETERS else None
        elif operation == ca.OP_CONST:
            room[out[0]] = ca.SX(function.instruction_constant(k))
        elif operation != ca.OP_OUTPUT:
            operands = [room[i] for i in given]
            known = [o for o in operands if o is not None]
            room[out[0]] = None
            if len(known) < len(operands):
                found += [o for o in known if not o.is_constant()]
            else:
                room[out[0]] = applied(operation, known)
    return ca.vertcat(*found)


def _nonlinear_states(system: System, laws: Any, p: Array | None) -> tuple[list[int], bool]:
    """States whose slopes, or all of them if the torn unknowns, are not linear; if not in time."""
    symbols, results = _symbols_and_results(system, laws)
    function = ca.Function("slope", symbols, results)
    if p is not None:
        given: list[Any] = [*symbols[:PARAMETERS], ca.DM(p), *symbols[PARAMETERS + 1 :]]
        free = [*symbols[:PARAMETERS], *symbols[PARAMETERS + 1 :]]
        function = ca.Function("slope", free, function.call(given))
    moving = *MOVING, function.n_in() - 1
    slopes, residuals = degrees(function, moving)
    of_time = any((rows >= NONLINEAR).any()
                  for rows in degrees(function, (*MOVING[:1], function.n_in() - 1)))
    if (residuals >= NONLINEAR).any():
        return list(range(system.nx)), of_time
    return [int(i) for i in np.flatnonzero(slopes >= NONLINEAR)], of_time


def degrees(function: ca.Function, moving: Sequence[int]) -> list[np.ndarray]:
    """The degree of every result in the inputs ``moving``: 0, 1, or 2 for all that is not linear.

    Numbers, and inputs that do not move, are constants.
    """
    room = np.zeros(function.sz_w(), dtype=int)
    out = [np.zeros(function.nnz_out(k), dtype=int) for k in range(function.n_out())]
    for operation, given, results, _ in instructions(function):
        if operation == ca.OP_INPUT:
            room[results[0]] = int(given[0] in moving)
        elif operation == ca.OP_OUTPUT:
            out[results[0]][results[1]] = room[given[0]]
        elif operation == ca.OP_CONST:
            room[results[0]] = 0
        else:
            room[results[0]] = degree(operation, [int(room[i]) for i in given])
    return out


def _nonlinear_law(system: System) -> str:
    """An equation that is not linear, and of which component; empty if none shows it alone."""
    for family in system.network.families:
        kernel = family.kernel
        shown = _shown_only(kernel)
        for law in kernel.laws:
            if not shown & {i for i, _ in law.arguments} and _bends(kernel, law.residual):
                return f"{law.text} of {family.path(0)}"
        for set_valued in kernel.set_valued:
            if any(_bends(kernel, sx) for sx in set_valued.given):
                return f"the set-valued law of {family.path(0)}"
    return ""


def _shown_only(kernel: Kernel) -> set[int]:
    """Variables that are calculated for the reader: in one law only, and at no port."""
    count = Counter(i for law in kernel.laws for i in {i for i, _ in law.arguments})
    at_ports = {i for _, members in kernel.ports.values() for i in members.values()}
    return {i for i, n in count.items() if n == 1 and i not in at_ports
            and (i, 1) not in kernel.symbols}  # fmt: skip


def _bends(kernel: Kernel, expression: ca.SX) -> bool:
    """Whether an expression of a class is not linear in its variables and time."""
    held = [s for (i, _), s in kernel.symbols.items() if kernel.variables[i].kind == "discrete"]
    fixed = {s.__hash__() for s in [*held, *kernel.relation_symbols]} | kernel.parameter_hashes
    now = TIME.__hash__()
    moving = [s for s in ca.symvar(expression) if s.__hash__() not in fixed | {now}]
    others = [s for s in ca.symvar(expression) if s.__hash__() in fixed]
    symbols = [TIME, ca.vertcat(*moving), ca.SX(0, 1), ca.vertcat(*others)]
    found = oscillations_in(symbols, [expression])
    function = ca.Function("law", [*symbols, found.symbols], found.results)
    return bool((degrees(function, (0, 1, 4))[0] >= NONLINEAR).any())
