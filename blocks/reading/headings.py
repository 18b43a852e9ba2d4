"""Which name and which unit does the heading of a column say?"""

from __future__ import annotations

import re
from collections.abc import Sequence

from .unit import readable

__all__ = ["columns_named", "heading_parts", "is_time", "with_unit"]

SQUARE = re.compile(r"(.*?)\s*\[([^\[\]]*)\]")
ROUND = re.compile(r"(.*?)\s*\(([^()]*)\)")
PLAIN = {"-", "–", "1", ""}  # how headings write that a column is a plain number


def heading_parts(heading: object) -> tuple[str, str | None]:
    """Return the name and the unit of ``"F [kN]"`` or ``"F (kN)"``; None where it says none.

    What stands in round brackets counts where it is a unit.
    """
    text = str(heading).strip()
    found = SQUARE.fullmatch(text)
    if found is None:
        found = ROUND.fullmatch(text)
        if found is None or not (found[2].strip() in PLAIN or readable(found[2])):
            return text, None
    return found[1].strip(), "1" if found[2].strip() in PLAIN else found[2].strip()


def with_unit(heading: str) -> str:
    """Return a heading as it might be with its unit, for advice: ``"x [mm]"`` for ``"x, mm"``."""
    name, _, said = heading.rpartition(",")
    if name and readable(said):
        return f"{name.strip()} [{said.strip()}]"
    return f"{heading} [{'s' if is_time(heading) else 'm/s'}]"


def is_time(heading: object) -> bool:
    """Whether a heading is that of time: ``"time [s]"``, ``"Time (ms)"``, ``"t [s]"``."""
    return heading_parts(heading)[0].lower() in ("time", "t")


def columns_named(headings: Sequence[str], wanted: str) -> list[int]:
    """Places of the columns that are meant: by the heading, else by the name in it; any of time."""
    wanted, names = wanted.strip(), [heading_parts(heading)[0] for heading in headings]
    name = heading_parts(wanted)[0]
    for said, asked in (headings, wanted), (headings, name), (names, wanted), (names, name):
        if found := [k for k, one in enumerate(said) if one == asked]:
            return found
    return [k for k, one in enumerate(names) if is_time(one)] if is_time(name) else []
