"""Discrete values that are assigned at regular instants, without leaving machine code.

At an instant at which nothing but samples is due, values are assigned as
:class:`blocks.simulation.actions.Samplings` does, and integration goes on. Where a relation or a
mode no longer holds afterwards, or values do not settle, everything is as it was before, and Python
decides.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import casadi as ca
import numpy as np

from ..numerics.arrays import Array, Flags, Indices, Matrix, Vector
from ..solvers.samples import MOST_ROUNDS
from ..solvers.samples import is_due as _is_due
from ..solvers.samples import sample_number as _sample_number
from .functions import machine_code
from .signatures import run_code
from .steps import Code, Workspace
from .zero_crossings import Relations, margins_at

__all__ = ["NO_SAMPLES", "Samplers", "Samples", "take_samples"]

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
    """The same as machine code is given it, with the instants ahead."""

    times: Vector  # at which nothing but samples is due
    start: Vector
    period: Vector
    last: Vector
    owner: Indices
    target: Indices
    assigned: int  # address
    tiny: float
    due: Flags  # (samplers,) room
    values: Vector  # (assignments + discrete values) room: what is assigned, and what was before
    q: Vector  # what is constant between two events
    d: Vector  # the discrete values in it
    marks: Indices  # (times,) filled with the steps that were taken up to each instant
    kept: Matrix  # (times, q) filled with q after it


def _no_samples() -> Samples:
    none, number = np.zeros(0), np.zeros(0, dtype=np.int64)
    return Samples(none, none, none, none, number, number, 0, 0.0, np.zeros(0, dtype=bool), none,
                   none, none, number, np.zeros((0, 0)))


NO_SAMPLES = _no_samples()


@machine_code
def take_samples(code: Code, work: Workspace, relations: Relations, samples: Samples, t: float,
                 x: Vector) -> bool:
    """Assign what is due at an instant; False, with everything as it was, where more happens.

    Margins after it are left in the first row of the looks.
    """
    d, values, due, count = samples.d, samples.values, samples.due, samples.owner.size
    values[count:] = d
    for i in range(due.size):
        due[i] = is_due(t, samples.start[i], samples.period[i], samples.last[i], samples.tiny)
    calm = False
    for _ in range(MOST_ROUNDS):
        work.at[0] = t
        run_code(samples.assigned, work.at, x, code.p, code.q, values)
        calm = True
        for j in range(count):
            if due[samples.owner[j]]:
                new, old = values[j], d[samples.target[j]]
                if new != old and not (np.isnan(new) and np.isnan(old)):
                    calm = False
                d[samples.target[j]] = new
        if calm:
            break
    if calm and relations.held.size:
        first = relations.looks[0]
        margins_at(code, relations, work.at, t, x, first)
        for r in range(first.size):
            if not first[r] > 0.0:  # it switches, or is for others to judge
                calm = False
    if not calm:
        d[:] = values[count:]
        return False
    for i in range(due.size):
        if due[i]:
            samples.last[i] = sample_number(t, samples.start[i], samples.period[i])
    return True
