"""Which times are asked for, and does the run cover them?"""

from __future__ import annotations

import numpy as np

from ...exceptions import ParameterError, brief, unknown_name
from ...numerics.arrays import Array
from ...numerics.tolerances import SAME_INSTANT, STEP_REST
from ...units import is_quantity, quantity, to_si
from ..formatting import SECOND, number
from ..recording import Instant, VariableInfo

__all__ = ["TIME", "by_time", "check_side", "grid", "sample_times", "seconds_of", "within_run"]

SIDES = ("left", "right")
TIME = VariableInfo("time", "", "time", SECOND, "time", "time of the run", 0)
MOST = 50_000_000  # samples of an equidistant grid


def check_side(side: str, where: str) -> None:
    """Refuse a side of an event that is neither left nor right."""
    if side not in SIDES:
        raise unknown_name(where, str(side), SIDES, "sides")


def seconds_of(times: object, where: str) -> Array:
    """Times as given by a user (texts, quantities, times of events, a series of time) in s."""
    given = getattr(times, "quantity", times)
    if isinstance(given, Instant):
        return np.asarray(float(given))
    if isinstance(given, (list, tuple)):
        given = [quantity(float(t), SECOND) if isinstance(t, Instant) else t for t in given]
    return np.asarray(to_si(given, SECOND, where), dtype=float)


def within_run(times: Array, wanted: Array, where: str) -> Array:
    """The wanted times, refused if one is outside the run by more than rounding."""
    if not len(times):
        raise ParameterError(where, "the run ended before its first sample.",
                             "See result.message.", code="result.empty")  # fmt: skip
    start, end = float(times[0]), float(times[-1])
    slack = SAME_INSTANT * max(abs(start), abs(end))
    outside = ~((wanted >= start - slack) & (wanted <= end + slack))
    if np.any(outside):
        first = np.ravel(wanted)[np.ravel(outside)][0]
        raise ParameterError(where, f"{number(first, SECOND, 12)} is outside the run, which covers "
                             f"{number(start, SECOND, 12)} to {number(end, SECOND, 12)}.",
                             "Take a time in that range.", given=first, bound=(start, end),
                             code="result.time")
    return np.clip(wanted, start, end)


def by_time(index: object) -> bool:
    """Whether what stands between brackets is a time, or a slice of time, and no number."""
    if isinstance(index, slice):
        return any(by_time(part) for part in (index.start, index.stop, index.step))
    return isinstance(index, (str, float, Instant)) or is_quantity(index)


def sample_times(recorded: Array, every: object, times: object, asked: str = "table"
                 ) -> Array | None:
    """Times in s to sample at, None for the recorded ones, of which the first and the last count.

    ``every`` and ``times`` are as given by a user, who has asked for a ``table``, say.
    """
    if times is None:
        return None if every is None else grid(recorded, every, f"{asked}(every=…)")
    if every is not None:
        raise ParameterError(asked, "takes either every or times, but was given both.",
                             "Leave one of them out.")  # fmt: skip
    where = f"{asked}(times=…)"
    seconds = np.atleast_1d(seconds_of(times, where))
    if not seconds.size or seconds.ndim > 1:
        raise ParameterError(where, "takes one time or a list of times, but was given "
                             f"{brief(times)}.", "Write for example times=['1 s', '2 s'].",
                             given=times)  # fmt: skip
    inside = within_run(recorded, seconds, where)
    for k in np.flatnonzero(np.diff(inside) < 0)[:1]:
        raise ParameterError(where, f"must not decrease, but {number(inside[k + 1], SECOND, 9)} "
                             f"comes after {number(inside[k], SECOND, 9)}.", "Sort them.",
                             given=times)  # fmt: skip
    return inside


def grid(recorded: Array, every: object, where: str = "every") -> Array:
    """Times in s at equal distances, from the first to at most the last recorded one."""
    step = to_si(every, SECOND, where)
    if np.ndim(step) or not np.isfinite(step) or step <= 0:
        raise ParameterError(where, f"must be greater than 0 s, but is {every}.",
                             "Write for example every='10 ms'.", given=every)  # fmt: skip
    if not len(recorded):
        return np.empty(0)
    start, end = float(recorded[0]), float(recorded[-1])
    count = int(np.floor((end - start) / step * (1 + SAME_INSTANT) + STEP_REST)) + 1
    if count > MOST:
        raise ParameterError(where, f"of {every} makes {count:,} samples.",
                             "Take a longer one.", given=every, code="result.size")  # fmt: skip
    return np.minimum(start + step * np.arange(count), end)
