"""Discrete values that are assigned at regular instants, without leaving machine code.

Values are assigned until they agree, and count with what they were before the instant. Steps in
Python call this by :mod:`blocks.simulation.switching`.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import NamedTuple

import casadi as ca
import numpy as np

from ..machine.functions import filled, machine_code
from ..numerics.arrays import Array, Flags, Indices, Vector
from ..numerics.instants import same_instant as _same_instant
from .steps import Code, Workspace, project_in_place, values_at

__all__ = ["Samplers", "Samples", "assign_due", "assigned_in_python", "begin_samples",
           "count_samples", "samples_of"]  # fmt: skip

same_instant = machine_code(_same_instant)
UNCHANGED, CHANGED, FAILED = 0, 1, -1  # by what is assigned


@dataclass(frozen=True)
class Samplers:
    """What is assigned at regular instants, and when."""

    # start, period, last: (samplers,) first instant, period, number of the last sample taken
    start: Array
    period: Array
    last: Array
    late: Flags  # (assignments,) whether one follows efforts, and waits for modes to be decided
    owner: Indices  # owner, target: (assignments,) which sampler assigns, and which discrete value
    target: Indices
    rival: Indices  # (assignments,) the one before of the same discrete value, or negative
    # what comes of t, x, z, p, m, d, u and the discrete values before the instant
    assigned: ca.Function
    least: float  # times about zero that differ by less are one instant, s
    # changes new values to what functions in Python give at a time; it is told who is due, and the
    # values before; None where there are none
    in_python: Callable[[float, Flags, Vector, Vector], None] | None = None


class Samples(NamedTuple):
    """What is assigned at regular instants, and when, as machine code is given it."""

    start: Vector
    period: Vector
    last: Vector
    late: Flags
    owner: Indices
    target: Indices
    rival: Indices
    assigned: int  # address
    least: float
    due: Flags  # (samplers,) room
    waits: Flags  # (1,) room: whether modes are not decided yet
    values: Vector  # (assignments + discrete values) room: what is assigned, and what was before
    d: Vector  # the discrete values, which machine code reads
    kept: Flags  # (discrete values,) room: what is assigned no more at this instant
    in_python: int  # address of what assigns where functions in Python take part; 0 else
    answer: Vector  # (1,) room: what that comes to, as of :func:`assign_due`; nan where it fails


@machine_code
def _nearest_sample(samples: Samples, i: int, t: float) -> tuple[float, float]:
    """Number and instant of a sampler's sample that is nearest; nan where there are none."""
    number = np.floor((t - samples.start[i]) / samples.period[i] + 0.5)
    return number, samples.start[i] + number * samples.period[i]


@machine_code
def begin_samples(samples: Samples, t: float) -> bool:
    """Find who samples at an instant, and remember the values before; whether anyone does."""
    samples.values[samples.owner.size :] = samples.d
    samples.kept[:] = False
    found = False
    for i in range(samples.due.size):
        number, at = _nearest_sample(samples, i, t)
        samples.due[i] = abs(at - t) <= same_instant(t, samples.least) and (
            number >= 0.0 and number > samples.last[i])
        found |= samples.due[i]
    return found


@machine_code
def assign_due(code: Code, work: Workspace, samples: Samples, t: float, x: Vector) -> int:
    """Assign with the present values of everything else: CHANGED, UNCHANGED or FAILED."""
    d, values, changed = samples.d, samples.values, UNCHANGED
    project_in_place(code, work, t, x)
    values_at(code, work, samples.assigned, t, x, values)
    if _are_at_odds(samples):
        return FAILED
    if samples.in_python != 0:
        values_at(code, work, samples.in_python, t, x, samples.answer)
        return FAILED if np.isnan(samples.answer[0]) else int(samples.answer[0])
    for j in range(samples.owner.size):
        if samples.due[samples.owner[j]] and not samples.kept[samples.target[j]] and not (
                samples.waits[0] and samples.late[j]):
            new, old = values[j], d[samples.target[j]]
            if new != old and not (np.isnan(new) and np.isnan(old)):
                changed = CHANGED
            d[samples.target[j]] = new
    return changed


@machine_code
def _are_at_odds(samples: Samples) -> bool:
    """Whether two regular samplers of this instant give one variable other values: Python tells
    whose."""
    for j in range(samples.owner.size):
        k = samples.rival[j] if _is_regular(samples, samples.owner[j]) else -1
        while k >= 0:
            if _is_regular(samples, samples.owner[k]) and samples.values[k] != samples.values[j]:
                return True
            k = samples.rival[k]
    return False


@machine_code
def _is_regular(samples: Samples, i: int) -> bool:
    """Whether a sampler is due, and not at the start alone."""
    return samples.due[i] and not np.isnan(samples.start[i])


@machine_code
def count_samples(samples: Samples, t: float) -> None:
    """The samples that were due have been taken."""
    for i in range(samples.due.size):
        if samples.due[i]:
            samples.last[i], _ = _nearest_sample(samples, i, t)


def samples_of(rules: Samplers, d: Vector, assigned: int) -> Samples:
    """What machine code is given of rules whose function stands at an address, but for functions in
    Python."""
    return filled(
        Samples, rules, assigned=assigned, in_python=0, due=np.zeros(len(rules.start), dtype=bool),
        waits=np.zeros(1, dtype=bool), values=np.zeros(len(rules.owner) + d.size), d=d,
        kept=np.zeros(d.size, dtype=bool), answer=np.zeros(1))


def assigned_in_python(rules: Samplers, samples: Samples) -> Callable[[Vector], list[int]]:
    """Assigns as :func:`assign_due` does, with what functions in Python give, at a time.

    Where one fails nothing is assigned.
    """
    rule, owner, target = rules.in_python, samples.owner, samples.target
    d, before = samples.d, samples.values[owner.size :]
    assert rule is not None

    def assign(at: Vector) -> list[int]:
        new, mine = d.copy(), samples.due[owner] & ~(samples.waits[0] & samples.late)
        mine &= ~samples.kept[target]
        new[target[mine]] = samples.values[: owner.size][mine]
        rule(float(at[0]), samples.due, before, new)
        if np.array_equal(new, d, equal_nan=True):
            return [UNCHANGED]
        d[:] = new
        return [CHANGED]

    return assign
