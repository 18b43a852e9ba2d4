"""Which initial targets have no effect, or contradict each other?"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np

from ..initialisation.start import TargetRow
from ..language.declarations import Variable
from ..numerics.arrays import Array
from ..numerics.tolerances import SAME_TARGET
from ..system.system import System
from ..units import from_si
from .findings import Finding, found
from .words import listed

__all__ = ["HighTarget", "compromise", "conflict", "contradictions",
           "given_targets", "given_way"]  # fmt: skip


class HighTarget(NamedTuple):
    """A user's target of high priority: class and slot of its variable, value in SI units."""

    unknown: int
    slot: int
    value: float


def given_targets(system: System) -> tuple[Array, list[HighTarget]]:
    """Per class the value that targets of one unknown give it, and the user's high ones."""
    flat = system.flat
    value = np.zeros(flat.classes)
    high: list[HighTarget] = []
    for f, family in enumerate(system.network.families):
        for i, local in enumerate(family.kernel.variables):
            slot = flat.base[f].get((i, 0))
            if slot is None or local.kind in ("across", "through", "shared"):
                continue
            slots = np.arange(slot, slot + family.size)
            wanted = np.zeros(family.size)
            for first, m in zip(family.starts, family.members, strict=True):
                if isinstance(local.declared, Variable):
                    usual = local.declared.initial_of(m)
                    wanted[first : first + m.size] = 0.0 if usual is None else usual
                given = m._targets.get(local.name) if m._targets else None
                if given is None or given[0] is None:
                    continue
                wanted[first : first + m.size] = given[0]
                if given[1] == "high":
                    high += [HighTarget(int(flat.class_of[s]), int(s), float(wanted[s - slot]))
                             for s in slots[first : first + m.size]]
            better = wanted != 0
            value[flat.class_of[slots[better]]] = (flat.sign_of[slots] * wanted)[better]
    return value, high


def contradictions(system: System, high: list[HighTarget]) -> Iterator[Finding]:
    """Different high targets for one and the same unknown."""
    sign = system.flat.sign_of
    first: dict[int, tuple[int, float]] = {}
    clashes = 0
    for c, slot, wanted in high:
        before = first.setdefault(c, (slot, wanted))
        gap = abs(sign[before[0]] * before[1] - sign[slot] * wanted)
        if gap <= SAME_TARGET * max(1.0, abs(wanted)):
            continue
        clashes += 1
        if clashes > 12:
            return
        rows = []
        for s, v in (before, (slot, wanted)):
            held = system.flat.at_slot(s)
            rows.append((held.name, from_si(v, held.local.unit), None))
        yield conflict(rows)


def conflict(unmet: list[tuple[str, Any, Any]], searched: bool = False) -> Finding:
    """High targets that are not met: path, target and start (None where it is not known).

    Where a start was ``searched`` for from several guesses, none is known to be possible or not.
    """
    paths = [path for path, _, _ in unmet]
    targets = listed((f"{path} = {target:.6g~P}" for path, target, _ in unmet), 6)
    got = "" if unmet[0][2] is None else (
        f" The run would start with {listed((f'{p} = {s:.6g~P}' for p, _, s in unmet), 6)}.")
    guess = ""
    if searched:
        one = len(unmet) == 1
        head = (f"No start was found that meets the initial target{'' if one else 's'} {targets}: "
                f"other high targets or the equations exclude {'it' if one else 'them'}, or what "
                f"{'it follows' if one else 'they follow'} from lies far from the guesses that "
                "were tried.")
        guess = "Give the states nearby a guess, such as v=Target('1 m/s', priority='none'). Or r"
    elif len(unmet) == 1:
        head = (f"The initial target {targets} cannot be met: other high targets or the equations "
                "of the network say otherwise.")
    else:
        head = (f"The initial targets {targets} cannot all be met, because the network ties these "
                "variables together.")
    value = f"{unmet[-1][1]:.6g~C}"
    return found(
        "initial.conflict", paths, head + got,
        f"{guess or 'R'}emove one of them or let it give way: {paths[-1].rpartition('.')[2]}="
        f"Target('{value}', priority='low').",
    )  # fmt: skip


def compromise(rows: list[TargetRow]) -> Finding:
    """Presets of classes that contradict each other."""
    said = listed((f"{r.path} = {r.target:.6g~P}" for r in rows), 6)
    got = listed((f"{r.path} = {r.start:.6g~P}" for r in rows), 6)
    path, value = rows[0].path, f"{rows[0].target:.6g~C}"
    return found(
        "initial.conflict", [r.path for r in rows],
        f"The initial values {said}, which their classes preset, cannot all be met, because the "
        f"network ties these variables together. The run would start with {got}.",
        f"Say which one is meant: model.{path} = '{value}'.",
    )  # fmt: skip


def given_way(rows: list[TargetRow]) -> Finding:
    """Presets of classes that the equations overrule."""
    said = listed((f"{r.path} = {r.start:.6g~P} instead of {r.target:.6g~P}" for r in rows), 3)
    return found(
        "initial.default", [r.path for r in rows[:20]],
        f"The run would start with {said}, which {'its class' if len(rows) == 1 else 'classes'} "
        f"preset{'s' if len(rows) == 1 else ''}: the network leaves no choice.",
        "That is as it should be where a source, or something rigid, is meant to prescribe it; "
        "otherwise something that gives way, such as a resistance or a damper, is missing between.",
    )  # fmt: skip
