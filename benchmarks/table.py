"""The table of the README: our times beside plain C, at the same error.

C is compiled here (``baseline.c``, with the compiler ``cc``, and with SUNDIALS where
``SUNDIALS_ROOT`` says where it is installed). For every problem C runs with several
methods and tolerances; what counts is its fastest run that is as exact as ours.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

from . import models
from .cases import IMPORTS, as_installed

__all__ = ["HOW_TO_GET_C", "Row", "compiled_baseline", "load", "peak_memory", "rows"]

HOW_TO_GET_C = ("There is no C compiler, so there is nothing to compare with: install one (Debian: "
                "apt install gcc; macOS: xcode-select --install). For CVODE beside it: apt install "
                "libsundials-dev, or build SUNDIALS and set SUNDIALS_ROOT.")  # fmt: skip
TOLERANCES = (1e-4, 1e-5, 1e-6, 1e-7, 1e-8, 1e-9)
SUNDIALS = ["sundials_cvode", "sundials_nvecserial", "sundials_sunlinsoldense",
            "sundials_sunmatrixdense", "sundials_sunnonlinsolfixedpoint", "sundials_core"]


@dataclass
class Row:
    """One line: what was run, how long it took, what C took, and what was hoped for."""

    name: str
    seconds: float
    reference: float = np.nan  # seconds
    against: str = ""
    goal: str = ""
    reached: bool | None = None
    error: float = np.nan
    where: dict[str, float] = field(default_factory=dict)  # seconds by part of the work
    size: int = 0  # for the picture of growth
    group: str = ""

    @property
    def ratio(self) -> float:
        return self.seconds / self.reference


# -- C ---------------------------------------------------------------------------------------
@cache
def compiled_baseline() -> tuple[Path | None, bool]:
    """The compiled program, or None without a compiler; and whether it has CVODE."""
    compiler = shutil.which("cc") or shutil.which("gcc") or shutil.which("clang")
    if compiler is None:
        return None, False
    program = Path(tempfile.mkdtemp(prefix="baseline-")) / "baseline"
    command = [compiler, "-O3", "-march=native", "-o", str(program),
               str(Path(__file__).with_name("baseline.c"))]  # fmt: skip
    root = os.environ.get("SUNDIALS_ROOT", "/usr")
    places = [f"-I{root}/include", f"-L{root}/lib", f"-L{root}/lib64"]
    with_cvode = [*command, "-DWITH_CVODE", *places, *(f"-l{n}" for n in SUNDIALS), "-lm"]
    if subprocess.run(with_cvode, capture_output=True).returncode == 0:
        return program, True
    subprocess.run([*command, "-lm"], check=True)
    return program, False


def _c(problem: str, size: int, method: str, rtol: float, repeats: int
       ) -> tuple[float, np.ndarray]:
    program, _ = compiled_baseline()
    out = subprocess.run([str(program), problem, str(size), method, str(rtol), str(repeats)],
                         check=True, capture_output=True, text=True).stdout.split()  # fmt: skip
    return float(out[0]), np.array(out[2:], dtype=float)


@cache
def _exact(problem: str, size: int) -> np.ndarray:
    return _c(problem, size, "dopri5", 1e-12, 1)[1]


@cache
def fastest_c(problem: str, size: int, error: float, repeats: int = 5) -> tuple[float, str]:
    """Seconds of the fastest run in C with no larger error, and which it was."""
    program, cvode = compiled_baseline()
    if program is None:
        return np.nan, "no C compiler"
    methods = ["dopri5", *(["adams", "bdf"] if cvode and size <= 100 else
                           ["adams"] if cvode else [])]  # fmt: skip
    best = np.inf, "none as exact"
    for method in methods:
        for rtol in TOLERANCES:
            seconds, y = _c(problem, size, method, rtol, 1)
            if np.max(np.abs(y - _exact(problem, size))) <= error:
                seconds = min(seconds, _c(problem, size, method, rtol, repeats)[0])
                best = min(best, (seconds, f"C, {method}, rtol {rtol:g}"))
                break
    return best


# -- ours ------------------------------------------------------------------------------------
def _parts(result: Any) -> dict[str, float]:
    s = result.statistics
    parts = {k: s[f"time {k}"] for k in ("compiling", "checking", "initialising", "integrating")}
    if parts["checking"] > parts["compiling"]:  # the first check compiles
        return {**parts, "checking": parts["checking"] - parts["compiling"]}
    return {k: v for k, v in parts.items() if k != "compiling"}


def _best(run: Callable[[], Any], repeats: int) -> tuple[float, Any]:
    """The run that integrated fastest, and its time."""
    results = [run() for _ in range(repeats + 1)]
    best = min(results[1:], key=lambda r: r.statistics["time integrating"])
    return best.statistics["time integrating"], best


def _process(code: str) -> float:
    start = time.perf_counter()
    subprocess.run([sys.executable, "-c", code], check=True, stdout=subprocess.DEVNULL,
                   env=as_installed())
    return time.perf_counter() - start


def _cold(repeats: int) -> Iterator[Row]:
    pairs = [(_process(models.COLD), _process(IMPORTS)) for _ in range(3 * repeats)]
    ours, imports = (min(p) for p in zip(*pairs, strict=True))
    yield Row("P1 cold process", ours, imports, IMPORTS, "<= 0.5 s, <= 1.6 x",
              ours <= 0.5 and ours <= 1.6 * imports)  # fmt: skip


def _solved(name: str, problem: str, size: int, model: Any, duration: str, order: Callable,
            goal: float, repeats: int) -> Row:  # fmt: skip
    seconds, result = _best(lambda: model.simulate(duration), repeats)
    error = float(np.max(np.abs(order(result) - _exact(problem, size)))
                  ) if compiled_baseline()[0] else np.nan  # fmt: skip
    reference, against = fastest_c(problem, size, error)
    return Row(name, seconds, reference, against, f"<= {goal:g} x C", seconds <= goal * reference,
               error, _parts(result), size, name.split()[0])  # fmt: skip


def _dragged(result: Any) -> np.ndarray:
    return np.array([result["block.v"].final.m, result["spring.x"].final.m])


def _chained(result: Any) -> np.ndarray:
    """Velocities, and positions as sums of deformations."""
    return np.concatenate([result["masses.v"].final.m, np.cumsum(result["springs.x"].final.m)])


def _build(n: int) -> Row:
    start = time.perf_counter()
    models.chain_of_arrays(n).compile()
    seconds = time.perf_counter() - start
    goal = {10: 0.2, 1_000: 0.4, 10_000: 1.5, 100_000: 10.0}[n]
    return Row(f"P3 build and compile, N = {n:,}", seconds, goal=f"<= {goal:g} s",
               reached=seconds <= goal, size=n, group="build")  # fmt: skip


_HUGE = """
import json
import numpy as np
from benchmarks import table
model = table.models.chain_of_arrays(100_000)
table.models.stick_slip().simulate("1 ms", method="dopri5")
model.compile()
runs = [model.simulate("2 s") for _ in range(2)]
best = min(runs, key=lambda r: r.statistics["time integrating"])
peak = table.peak_memory()
np.save(FILE, table._chained(best))
print(json.dumps([best.statistics["time integrating"], peak, table._parts(best)]))
"""


def peak_memory() -> float:
    """Of this process, in GiB; nan where the system does not tell.

    Not ``ru_maxrss``: that begins with the memory of the process this one was started by.
    """
    status = Path("/proc/self/status")
    if not status.exists():
        return np.nan
    line = next(li for li in status.read_text().splitlines() if li.startswith("VmHWM"))
    return int(line.split()[1]) / 2**20


def _huge() -> Row:
    """The chain of 100,000 in a process of its own, for its memory."""
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "state.npy"
        out = subprocess.run([sys.executable, "-c", _HUGE.replace("FILE", repr(str(file)))],
                             check=True, capture_output=True, text=True).stdout  # fmt: skip
        state = np.load(file)
    seconds, peak, parts = json.loads(out.splitlines()[-1])
    n = 100_000
    error = float(np.max(np.abs(state - _exact("chain", n)))) if compiled_baseline()[0] else np.nan
    reference, against = fastest_c("chain", n, error, 2)
    reached = seconds <= 1.5 * reference and not peak > 1.0
    return Row(f"P3 chain, N = {n:,} ({peak:.2f} GiB)", seconds, reference, against,
               "<= 1.5 x C, <= 1 GiB", reached, error, parts, n, "P3")  # fmt: skip


def _chains(repeats: int) -> Iterator[Row]:
    for n in (10, 1_000, 10_000, 100_000):
        yield _build(n)
    for n in (10, 1_000, 10_000):
        yield _solved(f"P3 chain, N = {n:,}", "chain", n, models.chain_of_arrays(n), "2 s",
                      _chained, 5.0 if n < 1000 else 1.5, repeats)  # fmt: skip
    yield _huge()


@contextmanager
def on_cores(count: int) -> Iterator[None]:
    """This process, and what it starts, on so many cores; where the system can say so."""
    if not hasattr(os, "sched_setaffinity"):
        yield
        return
    allowed = os.sched_getaffinity(0)
    os.sched_setaffinity(0, sorted(allowed)[:count])
    try:
        yield
    finally:
        os.sched_setaffinity(0, allowed)


def _sweep(repeats: int) -> Iterator[Row]:
    force = np.linspace(15, 24, 1000).tolist()
    points = [{"friction.coulomb_force": f"{f} N", "friction.breakaway_force": f"{f + 5} N"}
              for f in force]  # fmt: skip
    model = models.stick_slip()
    reference = _c("sweep", 1000, "dopri5", 1e-6, 2)[0] if compiled_baseline()[0] else np.nan
    alone = np.inf
    for workers, goal in ((1, 0.5), (2, 1 / 1.7)):
        times = []
        with on_cores(workers):
            for _ in range(repeats + 1):
                start = time.perf_counter()
                model.sweep(points, "4 s", outputs=["final(spring.x)"], executor=workers,
                            progress=False)  # fmt: skip
                times.append(time.perf_counter() - start)
        best = min(times[1:])
        if workers == 1:
            alone = best
            yield Row("P5 1,000 runs, one core", best, reference, "C, dopri5, rtol 1e-06",
                      f"<= {goal:g} x C", best <= goal * reference)  # fmt: skip
        else:
            yield Row("P5 1,000 runs, two threads", best, alone, "one core", f"<= {goal:.2f} x",
                      best <= goal * alone)  # fmt: skip


def _belt(repeats: int) -> Iterator[Row]:
    model = models.block_on_belt()
    exact = model.simulate("2 s", method="DOP853", rtol=1e-12)
    seconds, result = _best(lambda: model.simulate("2 s", rtol=1e-8), repeats)
    error = max(abs((result[p].final - exact[p].final).m) for p in ("block.v", "spring.x"))
    yield Row("P6 exact Coulomb friction", seconds, 5e-3, "5 ms", "<= 5 ms at 1e-8",
              seconds <= 5e-3 and error <= 1e-8, error, _parts(result))  # fmt: skip


def _networks() -> Iterator[Row]:
    for n in (100, 1_000, 10_000):
        start = time.perf_counter()
        result = models.random_network(n).simulate("2 s")
        seconds = time.perf_counter() - start
        goal = ("<= 10 s", seconds <= 10) if n == 10_000 else ("", None)
        yield Row(f"P7 random network, N = {n:,}", seconds, goal=goal[0], reached=goal[1],
                  where=_parts(result), size=n, group="P7")  # fmt: skip


def _grids(n: int) -> Iterator[Row]:
    start = time.perf_counter()
    result = models.grid(n).simulate("20 ms")
    seconds = time.perf_counter() - start
    yield Row(f"P8 grid of {n} x {n}", seconds, goal="<= 30 s at 300 x 300",
              reached=n >= 300 and seconds <= 30, where=_parts(result))  # fmt: skip


def load() -> None:
    """Load the compiled method, as the first long run of a session does."""
    models.stick_slip().simulate("1 ms", method="dopri5")


def rows(repeats: int, grid: int) -> Iterator[Row]:
    """All rows, one after the other."""
    load()
    yield from _cold(repeats)
    yield _solved("P2 stick-slip", "stick_slip", 1, models.stick_slip(), "4 s", _dragged, 1.5,
                  5 * repeats)  # fmt: skip
    yield from _chains(repeats)
    yield _solved("P4 friction chain, N = 1,000", "friction_chain", 1000,
                  models.friction_chain(1000), "2 s", _chained, 1.5, repeats)  # fmt: skip
    yield from _sweep(repeats)
    yield from _belt(5 * repeats)
    yield from _networks()
    yield from _grids(grid)

