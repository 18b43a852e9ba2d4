"""When is machine code worth it? The model and the request alone say so."""

from __future__ import annotations

from contextvars import ContextVar
from typing import TYPE_CHECKING

import casadi as ca

from ..machine.compiling import is_installed

if TYPE_CHECKING:
    from ..system.evaluator import Evaluator
    from ..system.problem import Problem

__all__ = ["LOADS", "REACH", "TIGHT", "compiles_quickly", "is_installed",
           "is_written", "many_in_loops", "many_values", "most_steps", "pays_off",
           "steps_to_compile", "study", "weight_of_steps"]  # fmt: skip

REACH = 3.3  # step times fastest rate at the stability bound of the pair
LOADS = 30  # steps of a small model that take as long in Python as loading machine code does
#: In a study: how many runs it has.
study: ContextVar[int] = ContextVar("study", default=1)
TIGHT = 1e-8  # relative tolerance below which a method of higher order is better
SOLVES = 30  # times the work of a step whose slopes need an algebraic solution
FEW_UNKNOWNS = 40  # of such a solution; of more it takes longer
LOOKED_UP = 2  # tables that take as long in Python as all else of a step of a small model
COUNTED = 20_000  # operations among which tables are counted
MOMENT = 1500  # operations of equations that are compiled in some tenths of a second
MOMENT_OF_MODES = 10_000  # of held modes: in a second or so, which 20 steps in Python take as well
PER_OPERATION = 0.3  # steps of a small model in Python: to compile what is solved for
MANY_OPERATIONS = 3_000_000  # interpreted in a time in which their text can be compiled
MANY_LOOPED = 20_000_000  # the same where patterns become loops: to compile these,
MANY_POINTS = 2000  # and to look for them
LONGEST_OUTPUT = 3000  # operations of an output that is written


def weight_of_steps(problem: Problem) -> int:
    """How many times the work of a step of a small model one is in Python.

    Where unknowns are solved for or modes are looked at at every point, and where tables are
    looked up, which is done in Python there.
    """
    if problem.algebraic or problem.laws is not None:
        return SOLVES * max(problem.algebraic, FEW_UNKNOWNS) // FEW_UNKNOWNS
    return 1 + problem.system.once(
        "looked up", lambda: _calls(problem.system.slope)) // LOOKED_UP


def _calls(function: Evaluator) -> int:
    """How often a function calls others, among its first operations."""
    f = function.function
    if not f.find_functions():  # quicker than to look at all operations
        return 0
    return sum(f.instruction_id(k) == ca.OP_CALL for k in range(min(f.n_instructions(), COUNTED)))


def most_steps(size: int) -> float:
    """Steps up to which the explicit method is cheaper than an implicit one in Python."""
    return 3e4 + 3e5 / (1 + size / 30)


def pays_off(steps: float, size: int, switches: bool = False) -> bool:
    """Whether machine code saves more time in about so many steps than it takes to load.

    A few events do, where anything ``switches``: each costs milliseconds in Python. A step of 100
    unknowns costs twice as much there as one of none.
    """
    return is_installed() and (switches or steps * study.get() * (1 + size / 100) > LOADS)


def steps_to_compile(problem: Problem) -> float:
    """Steps of a small model that take as long in Python as to compile what is solved for."""
    held = problem.laws.held_modes if problem.laws is not None else None
    return 0.0 if held is None else PER_OPERATION * held.length


def compiles_quickly(problem: Problem) -> bool:
    """Whether the equations of a problem are compiled in less time than a short run takes.

    Without states and laws they are, however many: a run solves for all unknowns some thousand
    times in Python, which takes longer.
    """
    if problem.laws is None:
        return not problem.system.nx or (
            problem.system.residual_w.function.n_instructions() <= MOMENT)
    held = problem.laws.held_modes
    return held is None or held.length <= MOMENT_OF_MODES


def many_values(function: Evaluator, points: int) -> bool:
    """Whether a function is evaluated at so many points that machine code is worth it."""
    return function.function.n_instructions() * points >= MANY_OPERATIONS and is_written(function)


def many_in_loops(function: Evaluator, points: int) -> bool:
    """Whether a long function is evaluated at so many points that its patterns are looked for."""
    operations = function.function.n_instructions()
    return is_installed() and operations > LONGEST_OUTPUT and (
        points >= MANY_POINTS + MANY_LOOPED / operations)


def is_written(function: Evaluator) -> bool:
    """Whether a function of what a system's functions take is short enough for machine code."""
    return function.function.n_instructions() <= LONGEST_OUTPUT and is_installed()
