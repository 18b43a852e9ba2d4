"""Which name and which unit does the heading of a column say?"""

from __future__ import annotations

import re

from .unit import readable

__all__ = ["heading_parts", "is_time"]

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


def is_time(heading: object) -> bool:
    """Whether a heading is that of time: ``"time [s]"``, ``"Time (ms)"``, ``"t [s]"``."""
    return heading_parts(heading)[0].lower() in ("time", "t")
