"""What can be evaluated, once a network has been reduced?

The functions of the reduced system, the problem that a solver sees, functions of time.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from .evaluator import Evaluator
    from .failure import AlgebraicFailure
    from .problem import Problem
    from .system import System

__all__ = ["AlgebraicFailure", "Evaluator", "Problem", "System"]

_FILES = {"AlgebraicFailure": "failure", "Evaluator": "evaluator",
          "Problem": "problem", "System": "system"}  # fmt: skip


if not TYPE_CHECKING:  # which would take every name for one
    def __getattr__(name: str) -> Any:
        """What stands in its files is imported with the first look."""
        if name not in _FILES:
            raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
        return getattr(import_module(f".{_FILES[name]}", __name__), name)
