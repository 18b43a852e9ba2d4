"""What can be evaluated, once a network has been reduced?

The functions of the reduced system, the problem that a solver sees, functions of time.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from .system import AlgebraicFailure, DaeProblem, Evaluator, Problem, System

__all__ = ["AlgebraicFailure", "DaeProblem", "Evaluator", "Problem", "System"]


def __getattr__(name: str) -> Any:
    """What stands in its files is imported with the first look."""
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(".system", __name__), name)
