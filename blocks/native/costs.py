"""When is machine code worth it?"""

from __future__ import annotations

import contextlib
import importlib.util
import sys
from contextvars import ContextVar
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

from ..numerics.tolerances import TIGHT, TIGHT_FOR_SOLVES
from .disk_cache import newest_source

if TYPE_CHECKING:
    from ..system import Problem

__all__ = ["LOADS", "REACH", "TIGHT", "compiles_quickly", "loaded", "most_steps", "pays_off",
           "ready_for_solves", "study"]  # fmt: skip

REACH = 3.3  # step times fastest rate at the stability bound of the pair
LOADS = 5_000  # steps of a small model that are worth loading what was compiled before
COMPILES = 100_000  # and worth compiling it now
MANY = 50  # runs with exact friction, contacts or tied states that are worth loading it
#: In a study: how many runs it has. Then the work alone decides, not what this process, or
#: another one on this machine, has done before.
study: ContextVar[int] = ContextVar("study", default=0)
MOMENT = 1500  # operations of equations that are compiled in some tenths of a second


def most_steps(size: int) -> float:
    """Steps up to which the explicit method is cheaper than an implicit one in Python."""
    return 3e4 + 3e5 / (1 + size / 30)


def pays_off(steps: float, size: int, rtol: float) -> bool:
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


def compiles_quickly(problem: Problem) -> bool:
    """Whether the laws of a problem are in machine code already, or short enough to be compiled in
    some tenths of a second."""
    if "native" in problem.system.cache:
        return True
    if problem.laws is None:
        return problem.system.residual_w.function.n_instructions() <= MOMENT
    held = problem.laws.held_modes
    return held is None or held.length <= MOMENT


def loaded() -> bool:
    """Whether this process has used the compiled method before."""
    return "blocks.native.dopri" in sys.modules


@cache
def _installed() -> bool:
    return all(importlib.util.find_spec(name) for name in ("numba", "llvmlite"))


@cache
def _prepared() -> bool:
    """Whether numba has kept the steps on disk: of this Python and of the steps as they are."""
    folder = Path(__file__).with_name("__pycache__")
    python = f"py{sys.version_info.major}{sys.version_info.minor}"
    with contextlib.suppress(OSError):
        return any(file.stat().st_mtime >= newest_source() for file in
                   folder.glob(f"dopri.advance-*.{python}.nbi"))
    return False
