"""What work does an impact do on every component?

Powers are linear in the forces of a contact, so the work of its impulse is their change by it, at
the mean of the states before and after: an impulse moves along at the mean of both velocities. So
what a prescribed motion gives to what it hits is known, too.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from ..numerics.arrays import Array
from ..numerics.tolerances import IMPACT_REPEATED
from ..system.evaluator import Evaluator

if TYPE_CHECKING:
    from .recording import RunRecording

__all__ = ["impulse_work"]

LARGE = 1e9  # of the impulses, as forces: the work of those is large beside all others


def impulse_work(recording: RunRecording, powers: Evaluator, number: int,
                 struck: Sequence[tuple[int, int]]) -> Array | None:
    """Powers integrated over the impact at the end of an episode.

    None where other impulses than those of ``struck`` have changed the states, too.
    """
    replay, episodes = recording.replay, recording.episodes
    after = replay.solved_at(number + 1, float(episodes.starts[number + 1])).x.copy()
    t = float(episodes.ends[number])
    problem = replay.solved_at(number, t)
    laws, before = problem.laws, problem.x.copy()
    owned = np.array([owner in struck for owner in laws.elements.owners])
    found = laws.impulses(problem, t, owned & laws.elements.contact)
    if found is None:
        return None
    impulse, change = found
    if np.any(np.abs(before + change - after) > IMPACT_REPEATED * np.abs(change).max()):
        return None
    problem.x[:] = (before + after) / 2
    work = []
    for factor in (LARGE, 0.0):
        laws.elements.put(problem.u, factor * impulse)
        problem.solve_algebraic(t)
        work.append(powers(*problem.arguments(t)))
    return np.asarray(work[0] - work[1]).ravel() / LARGE
