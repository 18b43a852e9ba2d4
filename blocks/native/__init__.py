"""Runs in machine code, with the optional extra ``fast``.

::

    code        how an expression reads as machine code
    loops       how a large network reads as machine code
    solved      how efforts and linear unknowns that are solved for at every point read
    tied        how states that constraints tie, and nonlinear unknowns, do
    machine     how machine code comes to run
    equations   which machine code belongs to a compiled model
    stages      the arithmetic of a step
    dopri       the compiled steps of the explicit method
    lanes       the same for several runs at once
    kept        how they are kept on disk
    method      that method under the contract of all methods

numba and llvmlite are imported where a run is worth it or ``method="dopri5"`` is
asked for. The steps are compiled once, for all models, and kept on disk:
``python -m blocks.native`` does it now instead of during the first long run.
"""

from __future__ import annotations

import contextlib
import importlib.util
import sys
from contextvars import ContextVar
from functools import cache
from pathlib import Path
from typing import Any

__all__ = ["REACH", "compiled_method", "is_large", "loaded", "most_steps", "ready_for_solves",
           "unwritable", "why_not", "worth", "written_soon"]  # fmt: skip

REACH = 3.3  # step times fastest rate at the stability bound of the pair
LOADS = 5_000  # steps of a small model that are worth loading what was compiled before
COMPILES = 100_000  # and worth compiling it now
LARGE = 300  # unknowns above which laws are written as loops over their instances
MANY = 50  # runs with exact friction, contacts or tied states that are worth loading it
#: In a study: how many runs it has. Then the work alone decides, not what this process, or
#: another one on this machine, has done before.
study: ContextVar[int] = ContextVar("study", default=0)
TIGHT = 1e-8  # relative tolerance below which a method of higher order is better for short runs
MOST_UNKNOWNS = 50  # of algebraic loops
MOMENT = 1500  # operations of equations that are compiled in some tenths of a second
TIGHT_FOR_SOLVES = 1e-10  # and with exact friction, contacts or tied states


def why_not(system: Any, laws: Any = None) -> str:
    """Why a model cannot run in machine code, in a few words; empty if it can.

    ``laws`` are the model's set-valued laws, where they are known.
    """
    if system.nu and (laws is None or laws.together is None):
        return "its exact friction and contacts are decided in Python"
    if system.nz + system.tape.constraints.numel() > MOST_UNKNOWNS:
        return f"more than {MOST_UNKNOWNS} algebraic unknowns are solved for in Python"
    if system.nu and system.nz:
        return "algebraic unknowns beside exact friction or contacts are solved for in Python"
    if any(f.kernel.delays for f in system.network.families):
        return "delayed values are looked up in Python"
    if is_large(system) and (system.nz or system.clusters
                             or any(step.group < 0 for step in system.tape.steps)):
        return "a large network with algebraic loops is solved in Python"
    if not system.nx:
        return "there is nothing to integrate"
    return ""


def unwritable(problem: Any) -> str:
    """What keeps a problem from being written as machine code; empty once it is."""
    from .equations import equations_of
    from .expressions import Unwritable

    try:
        equations_of(problem.system, problem.p, problem.laws)
    except Unwritable as reason:
        return str(reason)
    return ""


def is_large(system: Any) -> bool:
    """Whether its laws are written as loops over their instances."""
    return sum(len(s.unknowns) for s in system.tape.steps) > LARGE


def most_steps(size: int) -> float:
    """Steps up to which the explicit method is cheaper than an implicit one in Python."""
    return 3e4 + 3e5 / (1 + size / 30)


def worth(steps: float, size: int, rtol: float) -> bool:
    """Whether about so many steps are worth loading the compiled method."""
    if not _installed():
        return False
    work = steps * (1 + size / 500)
    if runs := study.get():
        return work * (runs if rtol >= TIGHT else 1) > LOADS
    if loaded() and rtol >= TIGHT:
        return True
    return work > (LOADS if loaded() or _prepared() else COMPILES)


def ready_for_solves(rtol: float) -> bool:
    """Whether exact friction, contacts and tied states run in machine code: where it costs no
    loading, or little for all runs of a study.

    Slopes that need a solve cost so much in Python that also many more steps are cheap.
    """
    runs = study.get()
    return _installed() and rtol >= TIGHT_FOR_SOLVES and (runs >= MANY if runs else loaded())


def written_soon(problem: Any) -> bool:
    """Whether the laws of a problem are in machine code, or are so in a moment."""
    if "native" in problem.system.__dict__:
        return True
    if problem.laws is None:
        return problem.system.residual_w.function.n_instructions() <= MOMENT
    return getattr(problem.laws.together, "length", 0) <= MOMENT


def loaded() -> bool:
    """Whether this process has used the compiled method before."""
    return "blocks.native.dopri" in sys.modules


def compiled_method() -> Any:
    """The method's class.

    Raises
    ------
    ImportError
        Without the extra ``fast``.
    """
    from .method import Dopri5

    return Dopri5


def is_solved_for(system: Any) -> bool:
    """Whether Newton's method gives some of its states or unknowns at every point."""
    return bool(system.clusters) or (
        bool(system.nz) and not is_large(system) and not _are_linear(system))


def _are_linear(system: Any) -> bool:
    """Whether the algebraic unknowns are linear in their equations."""
    if "linear_loops" not in system.__dict__:
        import casadi as ca

        nonlinear = ca.which_depends(system.tape.residual, system.tape.z, 2, True)
        system.__dict__["linear_loops"] = not any(nonlinear)
    return system.__dict__["linear_loops"]


@cache
def _installed() -> bool:
    return all(importlib.util.find_spec(name) for name in ("numba", "llvmlite"))


@cache
def _prepared() -> bool:
    """Whether numba has kept the steps on disk: of this Python and of the steps as they are."""
    source = Path(__file__).with_name("dopri.py")
    python = f"py{sys.version_info.major}{sys.version_info.minor}"
    with contextlib.suppress(OSError):
        return any(file.stat().st_mtime >= source.stat().st_mtime for file in
                   source.with_name("__pycache__").glob(f"dopri.advance-*.{python}.nbi"))
    return False
