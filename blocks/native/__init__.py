"""Runs in machine code.

::

    forms           in which form a system is written, if it can be
    expressions     how an expression reads as machine code
    instance_loops  how a large network reads as machine code
    places          where values of a network stand
    loop_text       how a loop over instances reads as LLVM text
    delayed         how delayed signals are read
    text            what functions that solve equations have in common
    solved_modes    how efforts that are solved for at every point read
    tied_states     how states that constraints tie, and algebraic unknowns, do
    equations       which machine code belongs to a compiled model
    stages          the arithmetic of a step
    step_control    how long steps are
    steps           what steps have in common, and those of explicit methods
    high_order      those of order 8
    lu              small systems of linear equations
    fronts          large ones whose matrix is sparse
    front_lists     in which order these are eliminated
    bordered        those with rows of unknowns beside states, whose pivots are chosen
    network_code    what elements at nodes without mass take, in loops over two matrices
    sparse_factors  those of a model's own equations, block by block, as text
    newton          how unknowns of nonlinear ones are found
    matrices        which entries a step's matrix has
    step_matrix     the matrix of a step that is implicit
    rosenbrock      a step of the implicit method
    newton_steps    one of fixed length that Newton's method solves for
    step_kinds      how steps of the methods differ
    zero_crossings  where a relation crosses within a step
    pulses          whether a step goes over a pulse that its stages have not seen
    active_set      which modes follow at an event: of what rests, shares loads or strikes
    one_step        the steps of all of them
    lanes           those of the explicit pair for several runs at once
    method          these methods under the contract of all methods
    free_steps      Moreau-Jean time stepping: a step of bodies alone
    contact_matrix  who can act in it on whom
    contact_steps   such steps, one after the other
    step_equations  what they evaluate: machine code, or called back in Python
    callbacks       functions of Python that plain loops call by address
    moreau_jean     the same under the contract of all methods

llvmlite is imported with the first run. The steps are
compiled once, for all models, and kept on disk: ``python -m blocks.native`` does it now.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..machine.compiling import is_installed
from .forms import MOST_STATES, is_large, why_not
from .matrices import why_not_implicit

if TYPE_CHECKING:
    from ..system import Problem
    from .method import OneStep
    from .moreau_jean import CompiledMoreauJean

__all__ = ["COMPILED", "MOST_STATES", "compiled_method", "compiled_steps", "is_installed",
           "is_large", "unwritable", "why_not", "why_not_implicit"]  # fmt: skip

#: Names of the methods.
COMPILED = ("dopri5", "RK45", "RK23", "DOP853", "rodas4", "euler", "rk4", "backward_euler",
            "trapezoidal")


def unwritable(problem: Problem) -> str:
    """What keeps a problem from being written as machine code; empty once it is."""
    from .equations import equations_of
    from .expressions import Unwritable

    try:
        equations_of(problem.system, problem.laws)
    except Unwritable as reason:
        return str(reason)
    return ""


def compiled_method(name: str = "dopri5") -> type[OneStep]:
    """A method's class."""
    from .method import METHODS

    return METHODS[name]


def compiled_steps(problem: Problem) -> type[CompiledMoreauJean] | None:
    """Moreau-Jean time stepping where all that a step evaluates is machine code."""
    from .moreau_jean import CompiledMoreauJean
    from .step_equations import is_machine_code

    return CompiledMoreauJean if is_machine_code(problem) else None

