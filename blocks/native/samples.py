"""Discrete values that are assigned at regular instants, without leaving machine code.

As :class:`blocks.simulation.actions.Samplings` does it: values are assigned until they agree, and
count with what they were before the instant.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import casadi as ca
import numpy as np

from ..numerics.arrays import Array, Flags, Indices, Vector
from ..solvers.samples import is_due as _is_due
from ..solvers.samples import sample_number as _sample_number
from .functions import machine_code
from .signatures import run_code
from .steps import Code, Workspace, settle_in_place

__all__ = ["Samplers", "Samples", "assign_due", "begin_samples", "count_samples"]

is_due, sample_number = machine_code(_is_due), machine_code(_sample_number)


@dataclass(frozen=True)
class Samplers:
    """What is assigned at regular instants, and when.

    Attributes
    ----------
    start, period, last : (samplers,) first instant, period, number of the last sample taken
    owner, target : (assignments,) which sampler assigns, and which discrete value
    assigned : what comes of t, x, z, p, m, d, u and the discrete values before the instant
    tiny : times that differ by less are one instant
    """

    start: Array
    period: Array
    last: Array
    owner: Indices
    target: Indices
    assigned: ca.Function
    tiny: float


class Samples(NamedTuple):
    """The same as machine code is given it."""

    start: Vector
    period: Vector
    last: Vector
    owner: Indices
    target: Indices
    assigned: int  # address
    tiny: float
    due: Flags  # (samplers,) room
    values: Vector  # (assignments + discrete values) room: what is assigned, and what was before
    d: Vector  # the discrete values, which machine code reads


@machine_code
def begin_samples(samples: Samples, t: float) -> bool:
    """Find who samples at an instant, and remember the values before; whether anyone does."""
    samples.values[samples.owner.size :] = samples.d
    found = False
    for i in range(samples.due.size):
        samples.due[i] = is_due(t, samples.start[i], samples.period[i], samples.last[i],
                                samples.tiny)
        found |= samples.due[i]
    return found


@machine_code
def assign_due(code: Code, work: Workspace, samples: Samples, t: float, x: Vector) -> bool:
    """Assign with the present values of everything else; whether anything changed."""
    d, values, changed = samples.d, samples.values, False
    settle_in_place(code, work, t, x)
    work.at[0] = t
    run_code(samples.assigned, work.at, x, code.p, code.q, values)
    for j in range(samples.owner.size):
        if samples.due[samples.owner[j]]:
            new, old = values[j], d[samples.target[j]]
            changed |= new != old and not (np.isnan(new) and np.isnan(old))
            d[samples.target[j]] = new
    return changed


@machine_code
def count_samples(samples: Samples, t: float) -> None:
    """The samples that were due have been taken."""
    for i in range(samples.due.size):
        if samples.due[i]:
            samples.last[i] = sample_number(t, samples.start[i], samples.period[i])
