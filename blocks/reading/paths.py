"""What does a path name, step by step: ``"masses[2].v"``, ``"masses[::10].v"``?

Knows no models: whoever holds what is named looks each step up.
"""

from __future__ import annotations

from collections.abc import Iterator

from ..exceptions import UnknownName

__all__ = ["steps_of"]


def steps_of(path: str) -> Iterator[tuple[str, int | slice | None]]:
    """Yield each name of a path, with the instance or the instances of it that are named.

    UnknownName is for brackets without a number or a slice.
    """
    for step in path.split("."):
        name, bracket, inside = step.partition("[")
        yield name, _instances(inside.removesuffix("]")) if bracket else None


def _instances(text: str) -> int | slice:
    try:
        if ":" not in text:
            return int(text)
        found = slice(*(int(n) if n else None for n in text.split(":")))
        range(1)[found]  # which refuses a step of 0
    except (TypeError, ValueError):
        raise UnknownName(f"[{text[:200]}]", "numbers no instance.",
                          "Write for example masses[2].v or masses[0:3].v.", name=text) from None
    return found
