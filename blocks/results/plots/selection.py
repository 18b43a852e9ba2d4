"""What is drawn of a run when nothing is named?"""

from __future__ import annotations

from itertools import islice

import numpy as np

from ...numerics.tolerances import ROUNDING
from ..lookup import grouped
from ..recording import Recording
from ..values.series import Series

__all__ = ["drawn_by_default"]

CROWD = 10  # instances of an array that are looked at


def drawn_by_default(recording: Recording, most: int = 8) -> list[Series]:
    """What to draw when nothing is named.

    The states, where the recording names them; otherwise outputs, then the variables of components
    (not of ports) that change, of the first thousand. The instances of an array count as one.
    """
    if recording.states:
        found = grouped(recording.catalog, islice(recording.states, 1000))
        return [Series(recording, infos, path) for path, infos in islice(found, most)]
    found = grouped(recording.catalog, islice(recording.catalog, 1000))
    every = [Series(recording, infos, path) for path, infos in found]
    candidates = [s for s in every if s.kind in ("output", "variable")][:200] or every[:most]
    candidates.sort(key=lambda s: s.kind != "output")
    moving = (s for s in candidates if _moves(s))
    return list(islice(moving, most)) or candidates[:most]


def _moves(series: Series) -> bool:
    some = series.si if len(series.infos) <= CROWD else series[:CROWD].si
    return bool(some.size and np.any(np.ptp(some, axis=-1) > ROUNDING * np.max(np.abs(some))))
