"""E1 to E8 timed: ours beside C by hand, ngspice and SciPy by hand, with an error near 1e-6.

``python -m benchmarks beyond [WORDS]``. Processor time, the best of several. The published column
is what the best C took on another machine (its own error near 1e-6, too); the C beside it is
compiled and run here, in turn with ours (E8: if SUNDIALS and KLU are installed), and so are
ngspice, if it is installed (:mod:`benchmarks.spice`), and SciPy (:mod:`benchmarks.cases.by_hand`).
"""

from __future__ import annotations

import shutil
import subprocess
import tempfile
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

from . import spice
from .cases import domains, models
from .cases.by_hand import BY_HAND
from .table import compiled_baseline

__all__ = ["PROBLEMS", "Problem", "Timed", "main", "timed"]

TOLERANCES = tuple(10.0 ** (-k / 6) for k in range(18, 49))  # 1e-3 to 1e-8
ERROR = 2e-6  # of the scales, that either side may have
Value = tuple[str, int | None, float, float]  # path, instance, reference, scale


@dataclass(frozen=True)
class Problem:
    """A model, what it comes to, and how C solves it.

    Attributes
    ----------
    ends : path, instance, value at ``at`` and its scale
    c : program (``baseline``, ``domains``, ``grid`` or none), problem and size
    published : seconds of the best C
    """

    name: str
    build: Callable[[], Any]
    duration: str
    ends: tuple[Value, ...]
    c: tuple[str, str, int] | None
    published: float
    at: str | None = None  # instead of the end
    method: str = "auto"
    error: float = ERROR


def _cells(path: str, n: int, middle: float, last: float, scale: float) -> tuple[Value, ...]:
    return ((path, n // 2 - 1, middle, scale), (path, n - 1, last, scale))


def _parts(**ends: tuple[float, float]) -> tuple[Value, ...]:
    return tuple((f"part.{name}", None, *pair) for name, pair in ends.items())


def _ladder(n: int, middle: float, last: float, published: float) -> Problem:
    return Problem(f"E1 ladder, N = {n:,}", lambda: domains.ladder(n), "3 ms",
                   _cells("capacitors.vc", n, middle, last, 5), ("domains", "ladder", n), published,
                   method="auto" if n == 10 else "rodas4")


def _rod(n: int, middle: float, last: float, published: float) -> Problem:
    return Problem(f"E5 rod, N = {n:,}", lambda: domains.rod(n), "600 s",
                   _cells("cells.T", n, middle, last, 700), ("domains", "rod", n), published)


PROBLEMS = (
    _ladder(10, -1.72605668566, -1.51060312998, 0.12e-3),
    _ladder(1_000, -1.81701533354, -1.70253803244, 14e-3),
    _ladder(10_000, -1.81788128217, -1.70431644280, 0.15),
    _ladder(100_000, -1.81796791452, -1.70449429592, 2.4),
    Problem("E2 bridge, 200 commutations", domains.bridge, "0.5 s",
            (("capacitor.vc", None, 14.7677848465, 17),), ("domains", "bridge", 1), 0.083e-3),
    Problem("E3 buck, 1,012 events", domains.buck, "10 ms",
            (("coil.current", None, 1.61762457195, 10), ("capacitor.vc", None, 11.2392811227, 10)),
            ("baseline", "buck", 1), 0.025e-3),
    # with ideal diodes and switches, which no C does; published is what it takes for lines
    Problem("E2 with ideal diodes", domains.ideal_bridge, "0.5 s",
            (("capacitor.vc", None, 16.1711176335, 17),), None, 0.083e-3),
    Problem("E3 with ideal elements", domains.ideal_buck, "10 ms",
            (("coil.current", None, 1.77572907898, 10), ("capacitor.vc", None, 11.8810733192, 10)),
            None, 0.025e-3),
    Problem("E4 motor, 10,000 edges", lambda: models.alone(models.Motor()), "1 s",
            _parts(i=(-0.340421302206, 1), w1=(0.322014908882, 1), twist=(0.0889853683611, 1),
                   w2=(0.0401749014563, 1), angle=(0.322807693177, 1)),
            ("baseline", "motor", 1), 4.1e-3),
    _rod(1_000, 754.291545867, 511.501100661, 7.1e-3),
    _rod(100_000, 754.294444078, 511.503230483, 1.07),
    Problem("E6 cylinder, 5 events", domains.cylinder, "2 s",
            _parts(pp=(12239995.3589, 1e7), pa=(5860552.91969, 1e7), pb=(2529050.53376, 1e7),
                   x=(0.255504954987, 0.1), v=(1.275123902e-4, 0.1)),
            ("domains", "cylinder", 1), 2.8e-3),
    Problem("E7 solenoid, 7 events", domains.solenoid, "0.1 s",
            _parts(flux=(9.58604516292e-5, 1e-4), x=(1.65839089786e-4, 1e-3),
                   v=(4.94160965414e-3, 1)), ("domains", "solenoid", 1), 0.11e-3, "50 ms"),
    Problem("E8 grid of 100 x 100", domains.grid, "2 ms",
            tuple(("nodes.V.v", i, v, 5.0) for i, v in (
                (99, -3.05624603), (4999, -3.05662805), (5050, -2.51204190), (9999, -3.05687173))),
            ("grid", "grid", 100), 2.7, error=5e-6),
)  # fmt: skip


@dataclass
class Timed:
    """The fastest run of either side that is exact enough."""

    problem: Problem
    rtol: float = np.nan
    whole: float = np.inf  # of the call of simulate
    solving: float = np.inf
    error: float = np.nan
    method: str = ""
    c: float = np.nan
    c_error: float = np.nan
    spice: float = np.nan
    spice_error: float = np.nan
    scipy: float = np.nan
    scipy_error: float = np.nan
    scipy_method: str = ""


def error_of(problem: Problem, result: Any) -> float:
    """The largest error of the values that are compared, in their scales."""
    def value(path: str, instance: int | None) -> float:
        series = result[path]
        found = (series.final if problem.at is None else series.at(problem.at)).to_base_units().m
        return float(found if instance is None else found[instance])

    return max(abs(value(p, k) - v) / scale for p, k, v, scale in problem.ends)


@cache
def _program(name: str) -> Path | None:
    if name == "baseline":
        return compiled_baseline()[0]
    compiler = shutil.which("cc") or shutil.which("gcc") or shutil.which("clang")
    if compiler is None:
        return None
    program = Path(tempfile.mkdtemp(prefix="domains-")) / name
    libraries = ["-lsundials_ida", "-lsundials_nvecserial", "-lsundials_sunmatrixsparse",
                 "-lsundials_sunlinsolklu"] if name == "grid" else []
    done = subprocess.run([compiler, "-O3", "-march=native", "-I/usr/include/suitesparse", "-o",
                           str(program), str(Path(__file__).with_name(f"{name}.c")), *libraries,
                           "-lm"], check=name == "domains", capture_output=name == "grid")
    return program if done.returncode == 0 else None


def _run_c(problem: Problem, rtol: float, repeats: int) -> tuple[float, float]:
    """Seconds and error of C; nan where there is none, or it finds no solution."""
    if problem.c is None or (program := _program(problem.c[0])) is None:
        return np.nan, np.nan
    name, which, size = problem.c
    words = [which, str(size), *(["dopri5"] if name == "baseline" else []), str(rtol), str(repeats)]
    done = subprocess.run([str(program), *words], check=False, capture_output=True, text=True)
    if done.returncode:
        return np.nan, np.nan
    found = np.array(done.stdout.split(), dtype=float)
    ends = np.array([[v, scale] for *_, v, scale in problem.ends])
    return float(found[0]), float(np.max(np.abs(found[2:] - ends[:, 0]) / ends[:, 1]))


def timed(problem: Problem, repeats: int) -> Timed:
    """Both sides, with every tolerance until one is exact enough, in turn."""
    out, model = Timed(problem), problem.build()
    model.compile()
    for rtol in TOLERANCES:
        result = model.simulate(problem.duration, rtol=rtol, method=problem.method)
        out.rtol, out.error = rtol, error_of(problem, result)
        out.method = result.statistics["method"] + (
            "" if problem.method == "auto" else ", chosen by us as C's is")
        if out.error <= problem.error:
            break
    c_rtol = next((r for r in TOLERANCES if _run_c(problem, r, 1)[1] <= problem.error), np.nan)
    warm = 3 if repeats > 3 else 1  # runs one after the other, of either side
    for _ in range(repeats):
        for _ in range(warm):
            began = time.process_time()
            result = model.simulate(problem.duration, rtol=out.rtol, method=problem.method)
            out.whole = min(out.whole, time.process_time() - began)
            out.solving = min(out.solving, result.statistics["time integrating"])
        if np.isfinite(c_rtol):
            seconds, out.c_error = _run_c(problem, c_rtol, warm)
            out.c = seconds if not np.isfinite(out.c) else min(out.c, seconds)
    if problem.name in spice.NETLISTS and spice.available():
        ends = np.array([[v, scale] for *_, v, scale in problem.ends])
        out.spice, out.spice_error = spice.run(
            spice.NETLISTS[problem.name](),
            lambda values: float(np.max(np.abs(values - ends[:, 0]) / ends[:, 1])), problem.error)
    if problem.name in BY_HAND:
        _run_scipy(out, warm)
    return out


def _run_scipy(out: Timed, repeats: int, patience: float = 60.0) -> None:
    """Seconds and error of the first tolerance that is exact enough, or of the last one."""
    problem, (values, out.scipy_method) = out.problem, BY_HAND[out.problem.name]
    ends = np.array([[v, scale] for *_, v, scale in problem.ends])
    for rtol in TOLERANCES[::2]:
        out.scipy = np.inf
        for _ in range(repeats):
            began = time.process_time()
            found = values(rtol)
            out.scipy = min(out.scipy, time.process_time() - began)
        out.scipy_error = float(np.max(np.abs(found - ends[:, 0]) / ends[:, 1]))
        if out.scipy_error <= problem.error or out.scipy > patience:
            break


def _lines(words: list[str], repeats: int) -> Iterator[Timed]:
    for problem in PROBLEMS:
        if not words or any(w in problem.name for w in words):
            yield timed(problem, repeats if problem.published < 0.1 else 3 if (
                problem.published < 1.0) else 1)


def main(words: list[str], repeats: int = 30) -> None:
    """Print the table."""
    print(f"{'problem':29}{'whole ms':>11}{'solving':>10}{'error':>7}{'C here':>10}{'error':>7}"
          f"{'ratio':>7}{'solving':>8}{'published C':>13}{'ngspice':>10}{'error':>7}{'SciPy':>10}"
          f"{'error':>7}  method; that of SciPy")  # fmt: skip
    for t in _lines(words, repeats):
        print(f"{t.problem.name:29}{t.whole * 1e3:11.2f}{t.solving * 1e3:10.2f}{t.error:7.0e}"
              f"{t.c * 1e3:10.3f}{t.c_error:7.0e}{t.whole / t.c:7.1f}{t.solving / t.c:8.1f}"
              f"{t.problem.published * 1e3:13.3f}{t.spice * 1e3:10.0f}{t.spice_error:7.0e}"
              f"{t.scipy * 1e3:10.0f}{t.scipy_error:7.0e}  {t.method}; {t.scipy_method or 'none'}",
              flush=True)  # fmt: skip
    print("ngspice is not waited for with 100,000 cells; nobody else takes ideal diodes exactly.")
