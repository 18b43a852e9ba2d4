"""How are series of several runs put side by side?

A series knows its run. Where several meet, one of them says the times, and every other is
read at these by the interpolant of its own run; where it does not cover them, or where there
is no time to go by, they are refused.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ...exceptions import ParameterError
from ...numerics.arrays import Array
from ..recording import Curves
from ..shown import SECOND, number
from .samples import Samples
from .times import within_run
from .views import both_limits, run_of, same_samples

__all__ = ["headings", "refuse_mixture", "refuse_times_not_covered", "rows_at"]


def rows_at(series: Samples, times: Array, beside: str, side: str | None = None) -> Array:
    """Rows of a series at the times of something else, by the interpolant of its own run.

    Without a side, two equal times are the sides of an event.
    """
    inside = refuse_times_not_covered(series, times, beside)
    source, indices = series.rows.source, series.rows.indices
    return both_limits(source, indices, inside) if side is None else np.asarray(
        source.values(indices, inside, side), dtype=float)


def refuse_times_not_covered(series: Samples, times: Array, beside: str) -> Array:
    """The times at which a series of another run is wanted, refused where it has none."""
    if series.kind == "time":
        raise ParameterError(
            f"{beside} and time", "belong to different runs, and the sample times of one say "
            "nothing of the other.", "Take the time of the same run.", code="result.runs",
        )  # fmt: skip
    try:
        return within_run(series.rows.source.times, times, series.path)
    except ParameterError as error:
        covers = " to ".join(number(t, SECOND, 9) for t in error.data.get("bound", ()))
        raise ParameterError(
            f"{beside} and {series.path}", "belong to different runs or parts of one: "
            f"{series.path} is wanted at {number(error.data.get('given', np.nan), SECOND, 9)}, "
            f"but covers {covers or 'nothing'}.",
            "Take the part of time that both cover, such as series['0 s':'1 s'].",
            code="result.runs", given=error.data.get("given"),
            bound=error.data.get("bound"),
        ) from None  # fmt: skip


def refuse_mixture(found: Sequence[Samples], what: str) -> None:
    """Refuse series that do not share their samples where nothing says how to align them."""
    for other in found[1:]:
        if not same_samples(found[0].rows.source, other.rows.source):
            raise ParameterError(
                f"{found[0].path} and {other.path}", "belong to different runs or parts of one, "
                f"and {what} does not say how their samples belong together.",
                "Read them at common times first, a.at(times) and b.at(times), or give their "
                "quantities as they are: a.quantity, b.quantity.", code="result.runs",
            )  # fmt: skip


def headings(asked: Curves, chosen: Sequence[Samples]) -> list[str]:
    """What every series is called beside others: its path, and its run if that is another.

    Runs are named by their model, and where that does not tell them apart they are counted:
    the run asked is the first.
    """
    every = [run_of(asked), *(run_of(series.rows.source) for series in chosen)]
    runs = {id(run): run.name for run in every}
    if len(set(runs.values())) < len(runs):
        runs = {run: f"run {k}" for k, run in enumerate(runs, 1)}
    return [s.path if run is every[0] else f"{s.path} ({runs[id(run)]})"
            for s, run in zip(chosen, every[1:], strict=True)]
