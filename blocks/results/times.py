"""Which times are asked for, and does the run cover them?"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ..exceptions import ParameterError, unknown_name
from ..units import quantity, to_si
from .recording import Instant, VariableInfo
from .shown import SECOND, number

__all__ = ["TIME", "check_side", "grid", "seconds_of", "summits", "within_run"]

SIDES = ("left", "right")
TIME = VariableInfo("time", "", "time", SECOND, "time", "time of the run", 0)
MOST = 50_000_000  # samples of an equidistant grid


def check_side(side: str, where: str) -> None:
    """Refuse a side of an event that is neither left nor right."""
    if side not in SIDES:
        raise unknown_name(where, str(side), SIDES, "sides")


def seconds_of(times: Any, where: str) -> np.ndarray:
    """Times as given by a user (texts, quantities, times of events, a series of time) in s."""
    given = getattr(times, "quantity", times)
    if isinstance(given, Instant):
        return np.asarray(float(given))
    if isinstance(given, (list, tuple)):
        given = [quantity(float(t), SECOND) if isinstance(t, Instant) else t for t in given]
    return np.asarray(to_si(given, SECOND, where), dtype=float)


def within_run(times: np.ndarray, wanted: np.ndarray, where: str) -> np.ndarray:
    """The wanted times, refused if one is outside the run by more than rounding."""
    if not len(times):
        raise ParameterError(where, "the run ended before its first sample.",
                             "See result.message.", code="result.empty")  # fmt: skip
    start, end = float(times[0]), float(times[-1])
    slack = 1e-12 * max(abs(start), abs(end))
    outside = ~((wanted >= start - slack) & (wanted <= end + slack))
    if np.any(outside):
        first = np.ravel(wanted)[np.ravel(outside)][0]
        raise ParameterError(
            where,
            f"{number(first, SECOND, 9)} is outside the run, which covers "
            f"{number(start, SECOND, 9)} to {number(end, SECOND, 9)}.",
            "Take a time in that range.",
            given=first,
            bound=(start, end),
            code="result.time",
        )
    return np.clip(wanted, start, end)


def grid(recorded: np.ndarray, every: Any, times: Any) -> np.ndarray | None:
    """Times in s to sample at, None for the recorded ones."""
    if times is not None:
        if every is not None:
            raise ParameterError("table", "takes either every or times, but was given both.",
                                 "Leave one of them out.")  # fmt: skip
        inside = within_run(recorded, np.atleast_1d(seconds_of(times, "times")), "times")
        if np.any(np.diff(inside) < 0):
            raise ParameterError("times", "must not decrease.", "Sort them.")
        return inside
    if every is None:
        return None
    step = to_si(every, SECOND, "every")
    if np.ndim(step) or not np.isfinite(step) or step <= 0:
        raise ParameterError("every", f"must be greater than 0 s, but is {every}.",
                             "Write for example every='10 ms'.", given=every)  # fmt: skip
    if not len(recorded):
        return np.empty(0)
    start, end = float(recorded[0]), float(recorded[-1])
    count = int(np.floor((end - start) / step * (1 + 1e-12) + 1e-9)) + 1
    if count > MOST:
        raise ParameterError("every", f"of {every} makes {count:,} samples.",
                             "Take a longer one.", given=every, code="result.size")  # fmt: skip
    return np.minimum(start + step * np.arange(count), end)


def summits(times: Sequence[np.ndarray], values: Sequence[np.ndarray]
            ) -> tuple[np.ndarray, np.ndarray]:
    """Times and heights of parabolas through three values; -inf where none has its summit there."""
    (t0, t1, t2), (a, b, c) = times, values
    with np.errstate(all="ignore"):
        rise, last = (b - a) / (t1 - t0), (c - b) / (t2 - t1)
        bend = (last - rise) / (t2 - t0)
        top = (t0 + t1) / 2 - rise / (2 * bend)
        height = a + (top - t0) * rise + (top - t0) * (top - t1) * bend
        there = (bend < 0) & (t0 < t1) & (t1 < t2) & (t0 <= top) & (top <= t2)
    return np.where(there, top, t1), np.where(there & np.isfinite(height), height, -np.inf)
