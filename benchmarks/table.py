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

from .cases import models
from .timing import IMPORTS, as_installed, plain_installation, process_seconds

__all__ = ["HOW_TO_GET_C", "Row", "compiled_baseline", "load", "peak_memory", "rows"]

HOW_TO_GET_C = ("There is no C compiler, so there is nothing to compare with: install one (Debian: "
                "apt install gcc; macOS: xcode-select --install). For CVODE beside it: apt install "
                "libsundials-dev, or build SUNDIALS and set SUNDIALS_ROOT.")  # fmt: skip
SHORT = 0.05  # s that a case is repeated for at least
TOLERANCES = (1e-4, 1e-5, 1e-6, 1e-7, 1e-8, 1e-9)
SUNDIALS = ["sundials_cvode", "sundials_nvecserial", "sundials_sunlinsoldense",
            "sundials_sunmatrixdense", "sundials_sunlinsolband", "sundials_sunmatrixband",
            "sundials_sunnonlinsolfixedpoint"]


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
    for more in ([], ["-lsundials_core"]):  # from version 7 on
        if subprocess.run([*with_cvode, *more], capture_output=True).returncode == 0:
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
                more = max(repeats, int(SHORT / seconds))
                seconds = min(seconds, _c(problem, size, method, rtol, more)[0])
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


def _repeated(run: Callable[[], Any], repeats: int) -> list[tuple[float, Any]]:
    """Seconds and results of so many runs after the first one, and of more where they are short.

    The first dozen find neither memory nor the processor as later ones do, in C as here.
    """
    run()
    done: list[tuple[float, Any]] = []
    spent = 0.0
    while len(done) < repeats or spent < SHORT:
        start = time.perf_counter()
        result = run()
        done.append((time.perf_counter() - start, result))
        spent += done[-1][0]
    return done


def _best(run: Callable[[], Any], repeats: int) -> tuple[float, Any]:
    """The run that integrated fastest, and its time."""
    best = min((result for _, result in _repeated(run, repeats)),
               key=lambda r: r.statistics["time integrating"])
    return best.statistics["time integrating"], best


def _cold(repeats: int) -> Iterator[Row]:
    """Fresh processes, as plainly installed and with all that is installed here."""
    plain, here = plain_installation(), ""
    for folder, said in ((plain, ""), (here, ", with all extras")):
        pairs = [(process_seconds(models.COLD, folder), process_seconds(IMPORTS, folder))
                 for _ in range(3 * repeats)]
        ours, imports = (min(p) for p in zip(*pairs, strict=True))
        yield Row(f"P1 cold process{said}", ours, imports, IMPORTS, "<= 0.4 s", ours <= 0.4)
    for folder, said in ((plain_installation("plot"), ""), (here, ", with all extras")):
        seconds = min(process_seconds(models.COLD_PICTURE, folder) for _ in range(repeats))
        yield Row(f"P1 cold stick-slip by exact friction, with its picture{said}", seconds,
                  goal="<= 1.2 s", reached=seconds <= 1.2)


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
    """The shorter of two: what a process loads for a first one has rows of its own."""
    seconds = np.inf
    for _ in range(2):
        start = time.perf_counter()
        models.chain_of_arrays(n).compile()
        seconds = min(seconds, time.perf_counter() - start)
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
    reached = seconds <= 1.1 * reference and not peak > 1.0
    return Row(f"P3 chain, N = {n:,} ({peak:.2f} GiB)", seconds, reference, against,
               "<= 1.1 x C, <= 1 GiB", reached, error, parts, n, "P3")  # fmt: skip


def _chains(repeats: int) -> Iterator[Row]:
    for n in (10, 1_000, 10_000, 100_000):
        yield _build(n)
    for n in (10, 1_000, 10_000):
        yield _solved(f"P3 chain, N = {n:,}", "chain", n, models.chain_of_arrays(n), "2 s",
                      _chained, 2.0 if n < 1000 else 1.2, repeats)  # fmt: skip
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
    for workers, goal in ((1, 0.25), (2, 1 / 1.7)):
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


def _whole(model: Any, duration: str, repeats: int, **options: Any) -> tuple[float, Any]:
    """The shortest of several calls of ``simulate``, and its result; the first one apart."""
    return min(_repeated(lambda: model.simulate(duration, **options), repeats),
               key=lambda run: run[0])


def _stiff(repeats: int) -> Iterator[Row]:
    """The stiff chain, in whatever process: the first run counts."""
    code = ("from benchmarks import table\nfrom benchmarks.cases import models\n"
            "import time\nm = models.stiff_chain(10_000)\n"
            "m.compile()\nb = time.perf_counter()\nm.simulate('2 s')\n"
            "print(time.perf_counter() - b, table.peak_memory())")  # fmt: skip
    found = [np.array(subprocess.run([sys.executable, "-c", code], check=True, text=True,
                                     capture_output=True, env=as_installed()).stdout.split(),
                      dtype=float) for _ in range(repeats + 1)]  # fmt: skip
    seconds, peak = min(found, key=lambda pair: float(pair[0]))
    yield Row(f"P3 stiff chain, N = 10,000, a process each ({peak:.2f} GiB)", float(seconds),
              goal="<= 0.5 s, <= 0.4 GiB", reached=bool(seconds <= 0.5 and peak <= 0.4))


def _belt(repeats: int) -> Iterator[Row]:
    model = models.block_on_belt()
    exact = model.simulate("2 s", method="DOP853", rtol=1e-12)
    seconds, result = _best(lambda: model.simulate("2 s", rtol=1e-8), repeats)
    error = max(abs((result[p].final - exact[p].final).m) for p in ("block.v", "spring.x"))
    yield Row("P6 exact Coulomb friction, three events", seconds, goal="<= 0.5 ms at 1e-8",
              reached=seconds <= 5e-4 and error <= 1e-8, error=error, where=_parts(result))
    points = [{"belt.velocity": f"{v} m/s"} for v in np.linspace(0.1, 0.3, 300)]
    times = []
    for _ in range(2):
        start = time.perf_counter()
        model.sweep(points, "20 s", outputs=["max(spring.f)"], executor=1, progress=False)
        times.append(time.perf_counter() - start)
    yield Row("P5 300 runs of a block on a belt, 20 s, exact friction", min(times),
              goal="<= 0.3 s", reached=min(times) <= 0.3)
    for n, duration in ((50, "25 s"), (1000, "1 s")):
        seconds, result = _whole(models.blocks_on_belt(n), duration, 2)
        events = result.statistics["events"]
        each = 0.3 / 2300 if n == 50 else 0.3e-3
        yield Row(f"P6 {n:,} blocks, {events:,} events, an event", seconds / events,
                  goal=f"<= {each * 1e3:.2g} ms", reached=seconds / events <= each,
                  where=_parts(result))


def _switched(repeats: int) -> Iterator[Row]:
    """Converters and motors full of edges, and what a controller samples."""
    ends = {"buck": {"i": 1.61762457195, "vc": 11.2392811227},
            "motor": {"i": -0.340421302206, "w1": 0.322014908882, "twist": 0.0889853683611,
                      "w2": 0.0401749014563, "angle": 0.322807693177}}  # fmt: skip
    for name, part, duration, title in (
            ("buck", models.Buck(), "10 ms", "E3 buck converter, 1,012 events"),
            ("motor", models.Motor(), "1 s", "E4 motor on an H-bridge, 10,000 edges")):
        seconds, result = _whole(models.alone(part), duration, repeats)
        error = max(abs(result[f"part.{k}"].final.to_base_units().m - v)
                    for k, v in ends[name].items())
        reference, against = np.nan, "no C compiler"
        if compiled_baseline()[0]:
            reference, against = _c(name, 1, "dopri5", 1e-5, 200 * repeats)[0], (
                "C, exactly" if name == "buck" else "C, dopri5, rtol 1e-05")
        yield Row(title, seconds, reference, against, "<= 3 x C", seconds <= 3 * reference, error,
                  _parts(result))
    seconds, result = _whole(models.alone(models.Positioning()), "5 s", repeats)
    yield Row("controller sampled at 1 ms, 5 s", seconds, goal="<= 0.1 s", reached=seconds <= 0.1,
              where=_parts(result))


def _read() -> Iterator[Row]:
    """What is looked at after an exact run."""
    result = models.blocks_on_belt(6).simulate("18 s", every="1 ms")
    start = time.perf_counter()
    for info in list(result.variables)[:46]:
        result[info.path].si  # noqa: B018  # reading it is what is timed
    result.energy()
    result.sticking()
    seconds = time.perf_counter() - start
    yield Row("reading 46 variables, energy and sticking, 18,000 samples", seconds,
              goal="<= 0.2 s", reached=seconds <= 0.2)


def _disc(repeats: int) -> Iterator[Row]:
    from .cases import planar

    seconds, result = _whole(planar.disc(), f"{planar.END:.15g} s", repeats, rtol=1e-9)
    yield Row("D1 disc in a circle, 28 events", seconds, goal="<= 4 ms", reached=seconds <= 4e-3,
              where=_parts(result))


def _many_bodies(repeats: int) -> Iterator[Row]:
    """Moreau-Jean steps, and a drivetrain beside SciPy by hand."""
    from .cases import drivetrain, planar

    n = 2000
    seconds, _ = _whole(planar.disc(), f"{n} ms", repeats, method="moreau_jean", step="1 ms")
    yield Row("D1 a Moreau-Jean step of one body", seconds / n, goal="<= 20 us",
              reached=seconds / n <= 20e-6)
    poured = planar.pour(200)
    for name, each, goal in (("poured", poured.falling, 20e-3), ("at rest", poured.resting, 5e-3)):
        yield Row(f"D1 200 discs {name}, a step", each, goal=f"<= {goal * 1e3:g} ms",
                  reached=each <= goal)
    sides = drivetrain.toolkit, drivetrain.by_hand
    ours, other = (min(side(drivetrain.loosest(side))[0] for _ in range(repeats)) for side in sides)
    yield Row("six-speed drivetrain, 60 s", ours, other, "LSODA by hand, SciPy", "<= 0.05 x",
              ours <= 0.05 * other, drivetrain.ERROR)


def _networks() -> Iterator[Row]:
    for n in (100, 1_000, 10_000):
        start = time.perf_counter()
        result = models.random_network(n).simulate("2 s")
        seconds = time.perf_counter() - start
        goal = ("<= 2 s", seconds <= 2) if n == 10_000 else ("", None)
        yield Row(f"P7 random network, N = {n:,}", seconds, goal=goal[0], reached=goal[1],
                  where=_parts(result), size=n, group="P7")  # fmt: skip
    plane = models.plane_graph(20_000)
    seconds, result = _best(lambda: plane.simulate("2 s"), 2)
    yield Row("P7 plane graph, N = 20,000, solved", seconds, goal="<= 0.5 s",
              reached=seconds <= 0.5, where=_parts(result))


def _consumers() -> Iterator[Row]:
    from .cases.consumers import district

    for n in (10, 30, 100):
        start = time.perf_counter()
        model = district(n)
        model.check()
        checked = time.perf_counter()
        yield Row(f"district of {n} houses, built and checked", checked - start, size=n)
        seconds, result = _whole(model, "100 s", 1)
        yield Row(f"district of {n} houses, 100 s, {result.statistics['steps']} steps", seconds,
                  where=_parts(result), size=n, group="district")  # fmt: skip


def _grids(n: int) -> Iterator[Row]:
    for shape, goal, whole in (((n, n), 8, (300, 300)), ((2 * n // 15,) * 3, 30, (40,) * 3)):
        start = time.perf_counter()
        result = models.lattice(*shape).simulate("20 ms")
        seconds = time.perf_counter() - start
        yield Row(f"P8 {' x '.join(map(str, shape))} massless nodes", seconds,
                  goal=f"<= {goal} s at {' x '.join(map(str, whole))}",
                  reached=shape >= whole and seconds <= goal, where=_parts(result))  # fmt: skip


def load() -> None:
    """Load the compiled method, as the first long run of a session does."""
    models.stick_slip().simulate("1 ms", method="dopri5")


def rows(repeats: int, grid: int) -> Iterator[Row]:
    """All rows, one after the other."""
    load()
    yield from _cold(repeats)
    yield _solved("P2 stick-slip", "stick_slip", 1, models.stick_slip(), "4 s", _dragged, 1.2,
                  5 * repeats)  # fmt: skip
    yield from _chains(repeats)
    yield _solved("P4 friction chain, N = 1,000", "friction_chain", 1000,
                  models.friction_chain(1000), "2 s", _chained, 1.2, repeats)  # fmt: skip
    yield from _sweep(repeats)
    yield from _stiff(repeats)
    yield from _belt(5 * repeats)
    yield from _switched(repeats)
    yield from _read()
    yield from _disc(repeats)
    yield from _many_bodies(repeats)
    yield from _networks()
    yield from _consumers()
    yield from _grids(grid)

