"""When is machine code of an output worth it? The model and the request alone say so."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..machine.compiling import is_installed

if TYPE_CHECKING:
    from ..system.evaluator import Evaluator

__all__ = ["is_installed", "is_written", "many_values"]

MANY_OPERATIONS = 3_000_000  # interpreted in a time in which their text can be compiled
LONGEST_OUTPUT = 3000  # operations of an output that is written


def many_values(function: Evaluator, points: int) -> bool:
    """Whether a function is evaluated at so many points that machine code is worth it."""
    return function.function.n_instructions() * points >= MANY_OPERATIONS and is_written(function)


def is_written(function: Evaluator) -> bool:
    """Whether a function of what a system's functions take is short enough for machine code."""
    return function.function.n_instructions() <= LONGEST_OUTPUT and is_installed()
