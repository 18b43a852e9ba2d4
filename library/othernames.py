"""What are the components and parameters of this library called elsewhere?

``other_words.csv`` says it, and where the words are from.
"""

from __future__ import annotations

import sys
from pathlib import Path
from types import SimpleNamespace

from blocks import foreign_words

__all__ = ["WORDS", "tell_what_is_missing"]

WORDS = foreign_words(Path(__file__).with_name("other_words.csv"))
PACKAGES = tuple(f"library.{name}" for name in (
    "translational", "rotational", "mechanisms", "planar", "signal", "electrical",
    "magnetic", "electromechanical", "thermal", "isothermal_liquid", "thermal_liquid",
    "gas", "two_phase", "moist_air"))  # fmt: skip


def _elsewhere(name: str, *_: object) -> None:
    """Say of a package that is imported by another name what it is called here."""
    word = WORDS.component(name[8:], "library") if name.startswith("library.") else None
    if word and sys._getframe(2).f_code.co_filename == "<frozen importlib._bootstrap>":
        raise ModuleNotFoundError(f"there is no {name}. {word.sentence()}", name=name)


sys.meta_path.append(SimpleNamespace(find_spec=_elsewhere))


def tell_what_is_missing(home: str) -> None:
    """Have a package say what a name that it lacks is called here; type checkers see none of it."""
    vars(sys.modules[home])["__getattr__"] = WORDS.missing(home, PACKAGES)
