"""Which gains of a converted system say nothing, or nothing that the block beside them cannot say?

A gain of 1 without a unit is a line. One that gives a number a unit, or takes it, goes into the
gain before or behind it.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, TypeGuard

from .signal_part import with_unit

if TYPE_CHECKING:
    from .convert import Conversion
    from .levels import Level
    from .plan import Part

__all__ = ["leave_out_idle_gains"]

_GIVES = re.compile(r'"1 ([^"]+)"')


def leave_out_idle_gains(conversion: Conversion, level: Level) -> None:
    """Take gains without effect out of a system, and join those that only change the unit."""
    plan = level.plan
    parts = {f"{level.owner}.{part.name}": part for part in plan.parts}
    for place, part in list(parts.items()):
        if part.component != "signal.Gain":
            continue
        source = next((c[0] for c in plan.connections if f"{place}.u" in c[1:]), "")
        targets = [t for c in plan.connections if c[0] == f"{place}.y" for t in c[1:]]
        # an input of the system that would be an output of it asks for a block
        passed = source.count(".") == 1 and any(t.count(".") == 1 for t in targets)
        if not source or not targets or source == f"{place}.y" or passed:
            continue
        if not part.keywords or _into_source(parts, plan.connections, source, part) \
                or _into_targets(parts, targets, part):
            _dissolve(conversion, level, place, source, targets)
            plan.parts.remove(part)
            del parts[place]


def _into_source(parts: dict[str, Part], connections: list[list[str]], source: str, part: Part
                 ) -> bool:
    """Let the gain before give its number the unit, where nothing else takes the number."""
    unit = _GIVES.fullmatch(part.keywords.get("gain", "")) if set(part.keywords) == {"gain"} \
        else None
    before = parts.get(source.rpartition(".")[0])
    taken = [t for c in connections if c[0] == source for t in c[1:]]
    if unit is None or len(taken) != 1 or not _is_of_numbers(before):
        return False
    before.keywords["gain"] = with_unit(before.keywords.get("gain", "1"), unit[1])
    return True


def _into_targets(parts: dict[str, Part], targets: list[str], part: Part) -> bool:
    """Let the gains behind take the unit, where these are all that use the number."""
    unit = _GIVES.fullmatch(part.keywords.get("gain", "")) if set(part.keywords) == {
        "gain", "input"} else None
    behind = [parts.get(t.rpartition(".")[0]) for t in targets]
    if unit is None or not all(map(_is_of_numbers, behind)):
        return False
    for gain in filter(None, behind):
        text = with_unit(gain.keywords.get("gain", "1"), unit[1])
        gain.keywords = {"input": part.keywords["input"], "gain": text}
    return True


def _is_of_numbers(part: Part | None) -> TypeGuard[Part]:
    """Whether it is a gain that takes a number and gives one."""
    return part is not None and part.component == "signal.Gain" and "input" not in part.keywords \
        and not part.keywords.get("gain", "").startswith(('"', "quantity("))


def _dissolve(conversion: Conversion, level: Level, place: str, source: str, targets: list[str]
              ) -> None:
    """Connect what drives a gain with what it drives."""
    kept = []
    for connection in level.plan.connections:
        if connection[0] == f"{place}.y":
            continue
        rest = [t for t in connection if t != f"{place}.u"]
        if len(rest) < len(connection):
            rest += targets
        kept.append(rest)
    level.plan.connections[:] = kept

    def path(text: str) -> str:
        return f"{level.within}{text.removeprefix(f'{level.owner}.')}"

    conversion.fed[path(f"{place}.y")] = path(source)
