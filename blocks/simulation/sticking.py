"""How far did frictions creep where exact friction would have held?

Looks at the variables that a friction component declares for the purpose:
``strength_at_rest``, ``band_of_rest`` and, where it knows it, ``load``.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from ..results.sticking import StickTerm

__all__ = ["creep_terms"]


def creep_terms(recording: Any, lost: dict[str, float]) -> Iterator[StickTerm]:
    """What frictions that do not stick did at rest, from the recorded times.

    Parameters
    ----------
    recording : RunRecording
    lost : energy dissipated, by component
    """
    times = recording.times
    for f, family in enumerate(recording.system.network.families):
        index = family.kernel.index
        domain = getattr(family.members[0], "_branch_domain", None)
        if domain is None or not {"strength_at_rest", "band_of_rest"} <= index.keys():
            continue
        effort, flow = next(iter(domain.through)), next(iter(domain.across))
        names = [effort, flow, "strength_at_rest", "band_of_rest",
                 "load" if "load" in index else effort]  # fmt: skip
        for instance in range(family.size):
            rows = [recording.catalog.info(f, index[name], instance).index for name in names]
            yield _term(family.path(instance), times, recording.values(rows), lost)


def _term(path: str, t: np.ndarray, rows: np.ndarray, lost: dict[str, float]) -> StickTerm:
    effort, flow, strength, band, load = rows
    rest = (np.abs(flow) <= band) & (np.abs(load) < strength)
    span = np.diff(t)
    still = rest[1:] & rest[:-1]
    whole = t[-1] - t[0]
    way = np.sum(np.where(still, span * (flow[1:] + flow[:-1]) / 2, 0.0))
    power = np.minimum(effort * flow, 0.0)
    gave = -np.sum(np.where(still, span * (power[1:] + power[:-1]) / 2, 0.0))
    longest = run = 0.0
    for held, dt in zip(still, span, strict=True):
        run = run + dt if held else 0.0
        longest = max(longest, run)
    share = float(span[still].sum() / whole) if whole else float(rest[-1])
    return StickTerm(path, share, int(np.sum(rest[:-1] & ~rest[1:])), float(longest),
                     lost.get(path, 0.0), float(way), float(gave))
