"""What do the options of a run come to, and which are refused?"""

from __future__ import annotations

from typing import Any

import numpy as np

from ..exceptions import ParameterError
from ..units import to_si, unit

__all__ = ["end_of_run", "positive_time", "sample_times"]

LOST = 0.5  # part of a duration that rounding may take


def positive_time(value: Any, name: str) -> float:
    number = to_si(value, unit("s"), f"simulate({name}=…)")
    if not (np.ndim(number) == 0 and np.isfinite(number) and number > 0):
        raise ParameterError(f"simulate({name}=…)", f"must be a positive time, but is {value}.",
                             "Write for example '4 s'.", given=value)
    return float(number)


def end_of_run(t0: float, duration: float) -> float:
    """When a run ends that can be told apart from its start."""
    t1 = t0 + duration
    if not t1 - t0 > LOST * duration:
        raise ParameterError("simulate(start=…)", f"is {t0:g} s, where times are told apart by "
                             f"{np.spacing(t0):.2g} s: a run of {duration:g} s is lost there.",
                             "Begin nearer to 0 s.", given=t0)  # fmt: skip
    return t1


def sample_times(every: Any, times: Any, t0: float, t1: float) -> np.ndarray | None:
    if times is not None:
        seconds = to_si(times, unit("s"), "simulate(times=…)")
        chosen = np.atleast_1d(np.asarray(seconds, dtype=float))
        outside = (chosen < t0) | (chosen > t1)
        if outside.any():
            raise ParameterError("simulate(times=…)", f"{chosen[outside][0]:g} s is outside the "
                                 f"run from {t0:g} s to {t1:g} s.", given=times)
        for k in np.flatnonzero(np.diff(chosen) < 0)[:1]:
            raise ParameterError("simulate(times=…)", f"must increase, but {chosen[k + 1]:g} s "
                                 f"comes after {chosen[k]:g} s.", given=times)
        return chosen
    if every is None:
        return None
    h = positive_time(every, "every")
    return np.append(np.arange(t0, t1 - 1e-9 * h, h), t1)
