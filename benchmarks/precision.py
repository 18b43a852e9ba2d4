"""How exact is a friction law, and for how many evaluations?

A block on a rough floor is pulled through a spring whose end stops after a while: four
problems with a known end. Every law and both exact solvers run on them; written down are
the evaluations of the right-hand side, the largest error of the place against the exact
motion, and the drift in the last second, when nothing should move.

``python -m benchmarks precision [WORDS] [--save FILE] [--csv FILE]`` runs the laws whose
name has one of the words (all without any), prints a table and makes the picture. A law
that takes more than ``--limit`` seconds of the processor on a problem is given up, and said
to be not finished.
"""

from __future__ import annotations

import _thread
import argparse
import threading
import time
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np

from blocks import Model, SimulationError, quantity, where
from blocks.results import Sheet
from blocks.simulation.interrupts import forget_interrupt
from library.frictionlaws import LAWS
from library.translational import (
    Mass,
    MotionSensor,
    Reference,
    Spring,
    TranslationalFriction,
    VelocitySource,
)

__all__ = ["PROBLEMS", "Point", "Problem", "main", "points"]


@dataclass(frozen=True)
class Problem:
    """A pulled block, in SI units, and where it ends under exact friction."""

    name: str
    mass: float
    stiffness: float
    kinetic: float
    static: float
    speed: float
    until: float
    end: float
    place: float


PROBLEMS = (  # the published problem, and three with more friction at rest than in motion
    Problem("F_G = F_C", 1, 90, 10, 10, 2, 2, 4, 3.973261817376106),
    Problem("F_G = 1.5 F_C", 1, 90, 10, 15, 2, 2, 4, 3.98111404254525),
    Problem("heavy", 2, 50, 8, 12, 1, 3, 5, 3.128818885962959),
    Problem("slow", 1, 90, 10, 15, 0.3, 2, 4, 0.4863695982092865),
)
FAMILIES = {"exact": "black", "velocity": "tab:orange", "load": "tab:blue", "memory": "tab:green"}
SETTLED = 1e-6  # m in the last second


@dataclass(frozen=True)
class Point:
    """One run."""

    problem: str
    family: str
    law: str
    method: str
    setting: str
    evaluations: int
    error: float  # m, the largest over the run
    end_error: float  # m
    drift: float  # m
    seconds: float  # of the processor, so that a busy machine does not count
    ended: str = "finished"  # or "failed" or "not finished"


def model_of(problem: Problem, friction: TranslationalFriction) -> Model:
    """The block on some friction."""
    model = Model(problem.name)
    model.body, model.ground = Mass(mass=quantity(problem.mass, "kg")), Reference()
    model.spring = Spring(stiffness=quantity(problem.stiffness, "N/m"))
    model.friction, model.place = friction, MotionSensor()
    speed, until = quantity(problem.speed, "m/s"), quantity(problem.until, "s")
    model.drive = VelocitySource(velocity=lambda t: where(t < until, speed, 0 * speed))
    model.connect(model.body.M, model.spring.C, model.friction.R, model.place.R)
    model.connect(model.spring.R, model.drive.R)
    model.connect(model.drive.C, model.friction.C, model.place.C, model.ground.V)
    return model


def friction_of(problem: Problem, law: str, **more: Any) -> TranslationalFriction:
    """A law with the strengths of a problem; those that know none are made to fit."""
    uses = LAWS[law].uses
    if "coulomb" in uses:
        more["coulomb_force"] = quantity(problem.kinetic, "N")
    if "breakaway" in uses:
        more["breakaway_force"] = quantity(problem.static, "N")
    if "viscous" in uses:
        more["viscous_coefficient"] = "0 N*s/m"
    if law == "table":
        more |= {"speeds": ["0 m/s", "9 m/s"], "levels": quantity([problem.kinetic] * 2, "N"),
                 "peak": problem.static / problem.kinetic}  # fmt: skip
    if law == "reset_integrator":
        more |= {"reach": quantity(problem.kinetic / 1e5, "m"), "damping": "300 N*s/m",
                 "bonding": problem.static / problem.kinetic - 1}  # fmt: skip
    return TranslationalFriction(law=law, **more)


def settings(law: str) -> Iterator[tuple[str, str, str, dict[str, Any], dict[str, Any]]]:
    """(family, method, setting, parameters, options) of the runs of a law."""
    kind = LAWS[law]
    if kind.exact:
        scale = {"breakaway_velocity": "1 mm/s"} if "breakaway_velocity" in kind.uses else {}
        for rtol in (1e-3, 1e-6, 1e-9):
            yield "exact", "DOP853", f"rtol {rtol:g}", scale, {"rtol": rtol}
        for step in ("10 ms", "4 ms"):
            yield "exact", "moreau_jean", step, scale, {"step": step}
        return
    if kind.memory:
        scale = {"breakaway_velocity": "1 mm/s"} if "breakaway_velocity" in kind.uses else {}
        yield "memory", "Radau", "rtol 0.0001", scale, {"rtol": 1e-4}
        return
    name = "band" if "band" in kind.declarations else "breakaway_velocity"
    family = "load" if "load" in kind.declarations else "velocity"
    for band, method in (("10 mm/s", "ode45"), ("10 mm/s", "Radau"), ("1 mm/s", "Radau")):
        if not (law == "simscape" and method == "ode45"):  # its slope is ten times that of others
            yield family, method, band, {name: band}, {"rtol": 1e-6}


def points(problem: Problem, laws: Sequence[str], limit: float = np.inf) -> Iterator[Point]:
    """The runs of some laws on a problem, none over ``limit`` seconds of the processor."""
    t = np.linspace(0, problem.end, 401)
    exact = friction_of(problem, "coulomb")
    truth = _places(model_of(problem, exact).simulate(quantity(problem.end, "s"), rtol=1e-12), t)
    for law in laws:
        if LAWS[law].memory and problem != PROBLEMS[0]:
            continue  # they ring at rest
        left = limit
        for family, method, setting, parameters, options in settings(law):
            model = model_of(problem, friction_of(problem, law, **parameters))
            began = time.process_time()
            ended, run = _run(model, quantity(problem.end, "s"), left, method=method, **options)
            seconds = time.process_time() - began
            left -= seconds
            figures = 0, np.nan, np.nan, np.nan
            if run is not None:
                x = _places(run, t)
                figures = (int(run.statistics["residuals"]), float(np.abs(x - truth).max()),
                           float(x[-1] - problem.place),
                           float(abs(x[-1] - np.interp(problem.end - 1, t, x))))  # fmt: skip
            yield Point(problem.name, family, law, method, setting, *figures, seconds, ended)


def _run(model: Model, duration: Any, limit: float, **options: Any) -> tuple[str, Any]:
    """How a run ended, and its result if it was finished within the limit."""
    end = time.process_time() + limit
    done, late = threading.Event(), threading.Event()  # clocks of two threads may differ

    def watch() -> None:
        while not done.wait(min(max(end - time.process_time(), 0.01), 1.0)):
            if time.process_time() >= end:
                late.set()
                _thread.interrupt_main()
                return

    if limit <= 0:
        return "not finished", None
    watcher = threading.Thread(target=watch, daemon=True)
    try:
        try:
            watcher.start()  # which may interrupt at once, where little time is left
            result = model.simulate(duration, **options)
        finally:
            done.set()
            watcher.join()
            time.sleep(0)  # an interrupt that came with the end is raised here
        if result.status != "interrupted" and not late.is_set():
            return "finished", result
    except SimulationError:
        return "failed", None
    except (KeyboardInterrupt, NotImplementedError):
        forget_interrupt()  # before the first step, or after the last; CasADi changes its type
    if not late.is_set():
        raise KeyboardInterrupt("not by the watch")
    return "not finished", None


def _places(run: Any, t: np.ndarray) -> np.ndarray:
    return run["place.x"].at(quantity(t, "s")).to("m").magnitude


def table(done: Sequence[Point]) -> Sheet:
    """All runs, one a row."""
    return Sheet("Work and precision of friction laws", {
        "problem": [p.problem for p in done], "law": [p.law for p in done],
        "method": [p.method for p in done], "setting": [p.setting for p in done],
        "evaluations": [p.evaluations if p.evaluations else p.ended for p in done],
        "largest error [m]": [f"{p.error:.2e}" for p in done],
        "drift [m]": [f"{p.drift:.1e}" for p in done],
        "processor [s]": [f"{p.seconds:.2f}" for p in done],
    })  # fmt: skip


def picture(done: Sequence[Point]) -> Any:
    """Error over evaluations, a panel for each problem; hollow where the block drifts."""
    from matplotlib import pyplot
    from matplotlib.lines import Line2D

    figure, axes = pyplot.subplots(2, 2, figsize=(11, 9), layout="constrained", sharex=True,
                                   sharey=True)  # fmt: skip
    for axis, problem in zip(axes.flat, PROBLEMS, strict=True):
        best: dict[str, Point] = {}
        for p in (p for p in done if p.problem == problem.name and p.evaluations):
            colour = FAMILIES[p.family]
            marker = {"ode45": "o", "Radau": "s", "DOP853": "*", "moreau_jean": "D"}[p.method]
            axis.loglog(p.evaluations, max(p.error, 1e-12), marker, color=colour, ms=8,
                        mfc=colour if p.drift < SETTLED else "none", alpha=0.8)  # fmt: skip
            if p.law not in best or p.error < best[p.law].error:
                best[p.law] = p
        named: list[np.ndarray] = []
        for p in (p for p in best.values() if p.family != "exact"):
            at = np.log10([p.evaluations, p.error])
            if any(np.all(np.abs(at - other) < (0.3, 0.15)) for other in named):
                continue  # names on top of each other cannot be read
            named.append(at)
            axis.annotate(p.law, (p.evaluations, p.error), (6, 3), textcoords="offset points",
                          fontsize=7, color=FAMILIES[p.family])  # fmt: skip
        axis.set_title(problem.name)
        axis.grid(alpha=0.3)
    for axis in axes[1]:
        axis.set_xlabel("evaluations of the right-hand side")
    for axis in axes[:, 0]:
        axis.set_ylabel("largest error of the place [m]")
    handles = [Line2D([], [], color=c, marker="o", ls="", label=f"{name} law")
               for name, c in FAMILIES.items()]  # fmt: skip
    for marker, method in zip("*Dos", ("exact, DOP853", "exact, Moreau–Jean", "ode45", "Radau"),
                              strict=True):
        handles.append(Line2D([], [], color="grey", marker=marker, ls="", label=method))
    handles.append(Line2D([], [], color="grey", marker="o", mfc="none", ls="",
                          label="drifts at rest"))  # fmt: skip
    figure.legend(handles=handles, loc="outside lower center", ncols=5)
    return figure


def main(arguments: Sequence[str]) -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks precision", description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("words", nargs="*", help="run only laws whose name has one of these")
    parser.add_argument("--save", type=Path, metavar="FILE", help="save the picture here")
    parser.add_argument("--csv", type=Path, metavar="FILE", help="write all figures to a file")
    parser.add_argument("--limit", type=float, default=60.0, metavar="SECONDS",
                        help="of the processor, for a law on a problem (default: %(default)g)")
    options = parser.parse_args(arguments)
    laws = [law for law in LAWS if law != "bristle"  # a mean, not a motion
            and (not options.words or any(w in law for w in options.words))]  # fmt: skip
    done: list[Point] = []
    for problem in PROBLEMS:
        runs = points(problem, laws, options.limit)
        while some := list(islice(runs, 25)):
            print(table(some), flush=True)
            done += some
    if options.csv:
        import csv

        with options.csv.open("w", newline="", encoding="utf-8") as file:
            writer = csv.DictWriter(file, list(asdict(done[0])))
            writer.writeheader()
            writer.writerows(map(asdict, done))
    figure = picture(done)
    if options.save:
        figure.savefig(options.save, dpi=110)
    else:
        from matplotlib import pyplot

        pyplot.show()
