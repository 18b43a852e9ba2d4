"""What has become of the initial targets at a consistent start?"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from ..numerics import sparse as sp
from ..numerics.arrays import Array, Flags, Indices
from ..numerics.tolerances import CLEAR, DEPENDENT, TARGET_MET
from ..results.formatting import listed
from ..system.problem import Problem
from ..system.system import System
from ..units import Quantity, from_si
from .nominal_values import Nominals
from .targets import LEVELS, NO_TARGET, USERS, TargetFunctions, Targets

__all__ = ["Start", "TargetRow", "held_defaults", "reached_start"]


@dataclass(frozen=True)
class TargetRow:
    """What became of an initial target."""

    path: str
    priority: str
    target: Quantity
    start: Quantity
    met: bool


@dataclass
class Start:
    """A consistent start, and what became of the targets there."""

    system: System
    x: Array
    z: Array
    targets: Targets
    reached: Array  # value of every target
    met: Flags
    torn: Indices  # default targets of high priority that keep each other from being met
    searched: bool = False  # whether starts were tried elsewhere to meet what is not met

    @cached_property
    def rows(self) -> list[TargetRow]:
        """One row per target."""
        return [self.row(k) for k in range(len(self.met))]

    @cached_property
    def unmet(self) -> list[TargetRow]:
        """Targets of high priority, given by the user, that are not met."""
        return [self.row(int(k)) for k in np.flatnonzero(~self.met & (self.targets.levels == 0))]

    @property
    def missed_by_user(self) -> Flags:
        """Which targets are not met that a user gave."""
        return ~self.met & (self.targets.levels < USERS)

    @cached_property
    def compromised(self) -> list[TargetRow]:
        """Default targets of high priority that contradict each other, so that none is met."""
        return [self.row(int(k)) for k in self.torn]

    def compromises(self) -> Iterator[tuple[list[str], str, str]]:
        """Paths of targets that contradict each other, what is wrong and what to do."""
        if self.unmet:
            yield _conflict(self.unmet, self.searched)
        if rows := self.compromised:
            said, got = _said(rows)
            yield ([r.path for r in rows], f"The initial values {said}, which their classes "
                   "preset, cannot all be met, because the network ties these variables together. "
                   f"The run starts with {got}.", f"Say which one is meant: model.{rows[0].path} = "
                   f"'{rows[0].target:.6g~C}'.")

    def row(self, k: int) -> TargetRow:
        slot, level = int(self.targets.slots[k]), int(self.targets.levels[k])
        held = self.system.flat.at_slot(slot)
        shown = held.family.member(held.instance)._written_in.get(held.local.name, held.local.unit)
        return TargetRow(held.name, LEVELS[level] if level < NO_TARGET else "none",
                         from_si(self.targets.values[k], shown), from_si(self.reached[k], shown),
                         bool(self.met[k]))


def reached_start(system: System, problem: Problem, targets: Targets, nominals: Nominals, t: float,
                  decided: bool = False) -> Start:
    """The start at the problem's present point; with its efforts, if they are ``decided``."""
    reached = np.zeros(0)
    if len(targets.slots):
        reached = TargetFunctions.of(system, targets.slots).values(problem, t)
    size = np.maximum(nominals.value[system.flat.class_of[targets.slots]], np.abs(targets.values))
    met = np.abs(reached - targets.values) <= TARGET_MET * size
    torn = np.flatnonzero(~met & (targets.levels == 2))
    if len(torn):
        kept = (targets.levels < USERS) | (met & (targets.levels == USERS))
        torn = torn[_free_one_by_one(system, problem, targets, torn, kept, t, decided)]
    return Start(system, problem.x.copy(), problem.z.copy(), targets, reached, met, torn)


def _said(rows: list[TargetRow]) -> tuple[str, str]:
    """Targets, and what the run starts with instead."""
    said, got = (listed((f"{r.path} = {value:.6g~P}" for r, value in zip(rows, of, strict=True)), 6)
                 for of in ([r.target for r in rows], [r.start for r in rows]))
    return said, got


def _conflict(unmet: list[TargetRow], searched: bool) -> tuple[list[str], str, str]:
    """Paths of high targets that are not met, what is wrong and what to do.

    Where a start was ``searched`` for from several guesses, none is known to be possible or not.
    """
    (said, got), one, last = _said(unmet), len(unmet) == 1, unmet[-1]
    remove = f"emove {'it' if one else 'one of them'} or let it give way"
    if searched:
        head = (f"No start was found that meets the initial target{'' if one else 's'} {said}: "
                f"other high targets or the equations exclude {'it' if one else 'them'}, or what "
                f"{'it follows' if one else 'they follow'} from lies far from the guesses that "
                "were tried.")
        advice = ("Give the states nearby a guess, such as v=Target('1 m/s', priority='none'). Or "
                  f"r{remove}")
    elif one:
        head, advice = (f"The initial target {said} cannot be met: other high targets or the "
                        "equations of the network say otherwise."), f"R{remove}"
    else:
        head, advice = (f"The initial targets {said} cannot all be met, because the network ties "
                        "these variables together."), f"R{remove}"
    return [r.path for r in unmet], f"{head} The run starts with {got}.", (
        f"{advice}: {last.path.rpartition('.')[2]}=Target('{last.target:.6g~C}', priority='low').")


def held_defaults(problem: Problem, start: Start, t: float) -> list[TargetRow]:
    """Default targets of high priority that give way to equations, not to what a user asked for.

    Such as that of a capacitor across a source.
    """
    targets = start.targets
    presets = ~start.met & (targets.levels == 2)
    presets[start.torn] = False
    unmet = np.flatnonzero(presets)
    if not len(unmet):
        return []
    nothing = np.zeros(len(start.met), dtype=bool)
    free = _free_one_by_one(start.system, problem, targets, unmet, nothing, t)
    return [start.row(int(k)) for k in unmet[~free]]


def _free_one_by_one(system: System, problem: Problem, targets: Targets, chosen: Indices,
                     stronger_ones: Flags, t: float, decided: bool = False) -> Flags:
    """Whether each of some targets could be met by itself, after constraints and stronger ones."""
    outputs = TargetFunctions.of(system, targets.slots)
    slopes = outputs.slopes(problem, t, decided)
    before = [slopes[stronger_ones]]
    if system.nc:
        before.append(outputs.constraint_slopes(problem, t))
    scale = sp.diags_array(problem.scale_x)
    stronger, rows = sp.csr_array(sp.vstack(before) @ scale), sp.csr_array(slopes[chosen] @ scale)
    size, length = (np.sqrt(a.power(2).sum(axis=1)) for a in (stronger, rows))
    stronger = sp.diags_array(1.0 / np.where(size > 0, size, 1.0)) @ stronger
    row, column = (np.abs(stronger) > DEPENDENT).nonzero()
    open_ = np.ones(system.nx, dtype=bool)
    while True:  # what has one entry left holds that state: most targets are those of states
        left = open_[column]
        count = np.bincount(row[left], minlength=len(size))
        if not (alone := left & (count[row] == 1)).any():
            break
        open_[column[alone]] = False
    touched = np.unique(column[left])
    _, s, vt = np.linalg.svd(stronger[count > 0][:, touched].toarray(), full_matrices=True)
    moved = rows[:, touched] @ vt[int(np.sum(s > DEPENDENT)):].T
    open_[touched] = False
    way = np.sqrt(rows[:, open_].power(2).sum(axis=1) + np.sum(moved**2, axis=1))
    return (way > CLEAR * length) & (length > 0)
