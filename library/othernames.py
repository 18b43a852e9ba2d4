"""What are the components and parameters of this library called elsewhere?

``other_words.csv`` says it, and where the words are from.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

from blocks import foreign_words

__all__ = ["WORDS", "missing"]

WORDS = foreign_words(Path(__file__).with_name("other_words.csv"))
PACKAGES = tuple(f"library.{name}" for name in (
    "translational", "rotational", "mechanisms", "planar", "signal", "electrical",
    "magnetic", "electromechanical", "thermal", "isothermal_liquid", "thermal_liquid",
    "gas", "two_phase", "moist_air"))  # fmt: skip


def missing(home: str) -> Callable[[str], Any]:
    """The ``__getattr__`` of a package: it says what a missing name is called here."""
    return WORDS.missing(home, PACKAGES)
