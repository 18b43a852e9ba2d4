"""Which number of a run does a text ask for: ``"max(spring.f)"``, ``"at(spring.x, 1 s)"``?"""

from __future__ import annotations

import re

from ..exceptions import ParameterError, unknown_name
from ..units import SECOND, to_si
from .values.samples import NUMBERS

__all__ = ["KINDS", "reduction_of"]

KINDS = (*NUMBERS, "at")
CALL = re.compile(r"\s*(\w+)\s*\((.*)\)\s*", re.DOTALL)


def reduction_of(text: str, where: str) -> tuple[str, str, float] | None:
    """Return kind, path, and time in s (0 but for ``at``); None for a text that is no call.

    Raises
    ------
    UnknownName, ParameterError
        For another kind, and for a time that is missing, or that no other kind takes.
    """
    found = CALL.fullmatch(text)
    if found is None:
        return None
    kind, inside = found[1], found[2].strip()
    if kind not in KINDS:
        raise unknown_name(where, kind, KINDS, "reductions")
    path, comma, time = inside.partition(",")
    if kind == "at" and not comma:
        raise ParameterError(where, "says at, but not when.", f"Write 'at({inside[:200]}, 1.5 s)'.")
    if comma and kind != "at":
        raise ParameterError(where, f"is {text!r}.", "Only at(variable, time) takes a time.",
                             given=text)
    return kind, path.strip(), float(to_si(time.strip(), SECOND, where)) if comma else 0.0
