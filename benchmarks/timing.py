"""What is timed, against what, and the goal."""

from __future__ import annotations

import gc
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cache, partial
from importlib.metadata import distribution
from pathlib import Path
from typing import Any

from packaging.requirements import Requirement

__all__ = ["CASES", "IMPORTS", "Case", "Measurement", "as_installed", "measure",
           "plain_installation", "process_seconds"]  # fmt: skip


@dataclass(frozen=True)
class Case:
    """Something to time; ``run`` and ``reference`` give seconds."""

    name: str
    run: Callable[[], float]
    against: str
    reference: Callable[[], float]
    goal: float | None = None  # seconds


@dataclass(frozen=True)
class Measurement:
    """Smallest of several times, of a case and of its reference, alternating."""

    name: str
    seconds: float
    against: str
    reference_seconds: float
    goal: float | None

    @property
    def ratio(self) -> float:
        return self.seconds / self.reference_seconds


def measure(case: Case, repeats: int) -> Measurement:
    """Alternate a case and its reference, so that a busy machine slows both."""
    mine, other = [], []
    for _ in range(repeats):
        gc.collect()
        mine.append(case.run())
        gc.collect()
        other.append(case.reference())
    return Measurement(case.name, min(mine), case.against, min(other), case.goal)


# -- processes -----------------------------------------------------------------------------
def process_seconds(code: str, folder: str = "") -> float:
    """How long a fresh process takes; with what is installed here, or lies in a folder."""
    start = time.perf_counter()
    subprocess.run([sys.executable, *(["-S"] if folder else []), "-c", code], check=True,
                   stdout=subprocess.DEVNULL,
                   env=as_installed() | ({"PYTHONPATH": folder} if folder else {}))
    return time.perf_counter() - start


IMPORTS = "import numpy, scipy.integrate"


@cache
def as_installed() -> dict[str, str]:
    """An environment in which sources are compiled once, as those of installed packages are.

    Where bytecode must not be written (``PYTHONDONTWRITEBYTECODE``, common in containers), a
    checkout is compiled at every start, which NumPy and SciPy are not. It is kept aside here.
    """
    kept = {k: v for k, v in os.environ.items() if k != "PYTHONDONTWRITEBYTECODE"}
    return {**kept, "PYTHONPYCACHEPREFIX": tempfile.mkdtemp(prefix="bytecode-")}


@cache
def plain_installation(*extras: str) -> str:
    """A folder with what ``pip install blocks-toolkit`` brings, and its extras where named.

    Pint imports Dask and Babel where it finds them, which takes longer than the toolkit itself.
    """
    folder = tempfile.mkdtemp(prefix="plain-")
    home = Path(__file__).parents[1]
    for package in ("blocks", "library"):
        os.symlink(home / package, Path(folder, package))
    left, known = [("blocks-toolkit", extra) for extra in ("", *extras)], set()
    while left:
        name, extra = left.pop()
        if (name, extra) in known:
            continue
        known.add((name, extra))
        found = distribution(name)
        for text in found.requires or []:
            needed = Requirement(text)
            if needed.marker is None or needed.marker.evaluate({"extra": extra}):
                left += [(needed.name, e) for e in ("", *needed.extras)]
        for top in {file.parts[0] for file in found.files or []} - {"..", "__pycache__"}:
            link = Path(folder, top)
            if name != "blocks-toolkit" and not link.exists():
                os.symlink(found.locate_file(top), link)
    return folder


# -- assembly ------------------------------------------------------------------------------
def _compiled(build: Callable[[int], Any], n: int) -> Callable[[], float]:
    def run() -> float:
        start = time.perf_counter()
        build(n).compile()
        return time.perf_counter() - start

    return run


# -- solving -------------------------------------------------------------------------------
def _solved(model: Any, duration: str, **options: Any) -> Callable[[], float]:
    made = cache(model)
    return lambda: made().simulate(duration, **options).statistics["time integrating"]


def _by_hand(problem: Callable[[], tuple[Any, Any]], end: float, **options: Any
             ) -> Callable[[], float]:  # fmt: skip
    def run() -> float:
        from scipy.integrate import solve_ivp

        slope, start = problem()
        began = time.perf_counter()
        done = solve_ivp(slope, (0.0, end), start, rtol=1e-6, atol=1e-8, **options)
        assert done.success, done.message
        return time.perf_counter() - began

    return run


def _cases() -> Iterator[Case]:
    from .cases import models

    imports = IMPORTS, partial(process_seconds, IMPORTS)
    yield Case("cold process: mass-spring-damper", partial(process_seconds, models.COLD), *imports,
               1.0)
    yield Case("import blocks", partial(process_seconds, "import blocks"), *imports, 0.5)
    for n, goal in ((1_000, 0.5), (10_000, 2.5)):
        yield Case(f"chain of {n:,}: build and compile arrays",
                   _compiled(models.chain_of_arrays, n), *imports, goal)  # fmt: skip
        yield Case(f"chain of {n:,}: build and compile parts",
                   _compiled(models.chain_of_parts, n), *imports, goal)  # fmt: skip
    hand = _by_hand(lambda: (models.stick_slip_by_hand, [0.0, 0.0]), 4.0, method="LSODA")
    for method in ("auto", "DOP853"):
        yield Case(f"stick-slip 4 s: solve, {method}", _solved(models.stick_slip, "4 s",
                   method=method), "LSODA, hand-written", hand)  # fmt: skip
    banded = _by_hand(lambda: models.chain_by_hand(1000), 2.0, method="LSODA", lband=3, uband=3)
    for method in ("auto", "DOP853"):
        yield Case(f"chain of 1,000: solve 2 s, {method}",
                   _solved(lambda: models.chain_of_arrays(1000), "2 s", method=method),
                   "LSODA banded, hand-written", banded)  # fmt: skip


CASES = _cases
