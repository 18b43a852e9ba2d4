"""What does each method cost, and how far is it off, from a rough to a very tight tolerance?

``python -m benchmarks tolerances [WORDS]``: processor time of the best of three runs, and the
largest deviation over 50 instants from a run by ``rodas4`` at 1e-12, in the scales of
:mod:`benchmarks.beyond`.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from blocks import BlocksError, quantity

from .beyond import PROBLEMS, Problem

__all__ = ["main", "rows"]

METHODS = "auto", "rodas4", "BDF", "Radau", "DOP853"
TOLERANCES = 1e-4, 1e-6, 1e-8, 1e-10, 1e-11
REFERENCE = 1e-12
SMALL = "E1 ladder, N = 10", "E2 bridge", "E3 buck, 1,012", "E6 cylinder", "E7 solenoid"
PATIENCE = 4.0  # seconds of a run, after which it is not repeated, nor its method tried at less


@dataclass(frozen=True)
class Row:
    """A problem by a method at a tolerance; what has no finite time was not run, or stopped."""

    problem: str
    method: str
    rtol: float
    seconds: float
    deviation: float


def _course(problem: Problem, result: Any) -> Any:
    """The values that are compared, in their scales, at 50 instants."""
    times = quantity(np.linspace(0.0, 1.0, 51)[1:] * quantity(problem.duration).to("s").m, "s")
    values = []
    for path, k, _, scale in problem.ends:
        found = np.asarray(result[path].at(times).to_base_units().m)
        values.append((found if k is None else found[:, k]) / scale)
    return np.array(values)


def rows(problem: Problem, methods: tuple[str, ...] = METHODS,
         tolerances: tuple[float, ...] = TOLERANCES, repeats: int = 3) -> Iterator[Row]:
    """A problem by methods at tolerances."""
    model = problem.build()
    reference = _course(problem, model.simulate(problem.duration, rtol=REFERENCE, method="rodas4"))
    for method in methods:
        longest = 0.0
        for rtol in tolerances:
            if longest > PATIENCE:
                yield Row(problem.name, method, rtol, np.nan, np.nan)
                continue
            seconds, off = np.inf, np.nan
            for _ in range(repeats):
                began = time.process_time()
                try:
                    result = model.simulate(problem.duration, rtol=rtol, method=method)
                except BlocksError:
                    break
                seconds = min(seconds, time.process_time() - began)
                if seconds > PATIENCE:
                    break
            if np.isfinite(seconds):
                longest = seconds
                off = float(np.abs(_course(problem, result) - reference).max())
            yield Row(problem.name, method, rtol, seconds, off)


def main(words: list[str]) -> None:
    """Print the table: milliseconds and deviation, a line a method."""
    print(" " * 24 + "".join(f"{rtol:>17.0e}" for rtol in TOLERANCES))
    for problem in PROBLEMS:
        if not problem.name.startswith(SMALL) or words and not any(
                w in problem.name for w in words):
            continue
        found: dict[str, list[Row]] = {}
        for row in rows(problem):
            found.setdefault(row.method, []).append(row)
            if len(found[row.method]) == len(TOLERANCES):
                print(f"{problem.name[:15]:16}{row.method:8}" + "".join(
                    f"{r.seconds * 1e3:9.1f} {r.deviation:7.0e}" for r in found[row.method]),
                    flush=True)
