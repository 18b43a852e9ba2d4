"""At which times is a run shown, if none are asked for?"""

from __future__ import annotations

import numpy as np

from ..numerics.arrays import Array, Indices
from ..numerics.tolerances import TINY
from .episode import StepTable

__all__ = ["times_of_steps"]

FEWEST_SAMPLES = 200  # also what the longest step has its share of
FEWEST_IN_STEP = 6
MANY_STEPS = 2000


def times_of_steps(table: StepTable, first: Indices, resolved: bool,
                   fewest_in_step: int = FEWEST_IN_STEP) -> tuple[Array, Indices]:
    """Ends of all steps and some times between, and their episodes.

    Parameters
    ----------
    table : of the steps of some runs, one run after the other
    first : (runs,) the first step of each
    resolved : whether steps are as short as curves need them; those without states only see
        every wave of the sources
    fewest_in_step : parts of every step that is not very short
    """
    run = np.repeat(np.arange(len(first)), np.diff(first, append=len(table.ends)))
    length = table.ends - table.starts
    steps = np.add.reduceat((length > 0).astype(np.int64), first)
    # high-order methods take long steps; the curve between is known
    fewest = np.maximum(fewest_in_step, np.ceil(FEWEST_SAMPLES / np.maximum(steps, 1)))
    whole = table.ends[np.append(first[1:], len(run)) - 1] - table.starts[first]
    short = np.where(resolved & (steps >= MANY_STEPS), whole / MANY_STEPS, 0.0)
    share = np.ceil(length / np.maximum(whole, TINY)[run] * FEWEST_SAMPLES)
    parts: Indices = np.maximum(fewest[run], share).astype(int)
    parts[length <= short[run]] = 1
    parts[length <= 0] = 0
    counts = parts + table.last.astype(np.int64)
    step = np.repeat(np.arange(len(counts)), counts)
    number = np.arange(len(step)) - np.repeat(np.cumsum(counts) - counts, counts)
    inside = table.starts[step] + (length / np.maximum(parts, 1))[step] * number
    times = np.where(number < parts[step], inside, table.ends[step])
    return times, table.which[step]
