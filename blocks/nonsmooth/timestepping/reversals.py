"""Which rests of a run in fixed steps are only the step in which the motion turned round?

Time stepping decides once a step. Friction that turns from one direction to the other may
have no flow at the end of the step between; a rest that is no longer than this, with
sliding the opposite ways on either side, is no rest that the method can tell.
"""

from __future__ import annotations

from dataclasses import replace
from itertools import islice
from typing import Any

import numpy as np

from ...results.values.modes import SLIDES

__all__ = ["forget_reversals"]


def forget_reversals(recording: Any) -> None:
    """Take rests of one step in a reversal out of a recording's modes and events."""
    episodes = recording.episodes
    if len(episodes) < 3 or episodes[0].modes is None:
        return
    elements = recording.catalog.elements
    slides = np.concatenate([
        np.full(elements.network.families[g.family].size, g.words is SLIDES)
        for g in elements.groups])  # fmt: skip
    gone: dict[tuple[float, str], str] = {}  # by time and element: the mode before the reversal
    for before, here, after in zip(*(islice(episodes, k, None) for k in range(3)), strict=False):
        if len(here.trajectory.t) > 2:
            continue
        turned = slides & (here.modes == 0) & (before.modes * after.modes < 0)
        for element in np.flatnonzero(turned):
            here.modes[element] = before.modes[element]
            told = elements.told(element, int(before.modes[element]), int(after.modes[element]))
            gone[here.start, told["element"]] = told["previous"]
            gone[after.start, told["element"]] = told["previous"]
    if gone:
        told_now = (_told(event, gone) for event in recording.events)
        recording.log[:] = [event for event in told_now if event is not None]


def _told(event: Any, gone: dict[tuple[float, str], str]) -> Any:
    """An event as it is told then, or nothing."""
    if (previous := gone.get((event.time, event.element))) is None:
        return event
    return None if event.mode == SLIDES[0] else replace(event, previous=previous)
