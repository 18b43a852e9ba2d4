"""Which motion does a model repeat for ever, and does it come back to it when disturbed?

Shooting: states at which a run of one period ends where it began. The run goes through its events,
so that sticking, impacts and switching are part of the cycle; the derivative of the map over one
period is found by runs from neighbouring states, and its eigenvalues are the Floquet multipliers.
What is driven by time repeats with its drive: the period is given then, and runs begin with it.

References
----------
R. I. Leine, H. Nijmeijer, Dynamics and Bifurcations of Non-Smooth Mechanical Systems, Springer
2004, chapter 4.
M. A. Branch, T. F. Coleman, Y. Li, SIAM J. Sci. Comput. 21 (1999) 1-23 (the trust region of SciPy's
``least_squares``).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from ..exceptions import ParameterError, SimulationError
from ..language.compiled_model import CompiledModel
from ..numerics.arrays import Array, Indices
from ..results import Result
from ..results.plots.figures import Figure, bare_figure, finished_figure
from ..results.sheet import Sheet, Tabulated
from ..simulation.run import run
from ..simulation.settings import Options
from ..system.system import System
from ..system.time_functions import driven_by_time
from ..units import Quantity, from_si, quantity, to_si, unit
from .linear.derivatives import derivatives_of
from .linear.point import Point, initial_point, run_point
from .linear.reduction import reduce

__all__ = ["LimitCycle", "find_limit_cycle"]

TOLERANCE = 1e-11  # of the runs
CLOSED = 1e-9  # of the size of the states
FARTHEST = 0.3  # of the sizes of states and period, in one step
AT_REST = 1e-3  # of the sizes of states: a motion that is none
AGAIN = 1e-5  # of the sizes of states, by which the end of a second period may be another
MOST_STEPS = 25
SETTLES = 20, 200  # periods after which a motion is looked for that was not found at once
PARTS = range(6, 1, -1)  # of what is repeated, by which it may repeat already
TOLD = 6
BRIEF = 1e-9  # of the time of a run: two events that are one
LOOKS = 4000  # instants of a run in which a return is looked for
NEAR = 0.05  # of the size of the states: a return
WHERE = "limit_cycle()"


class LimitCycle(Tabulated):
    """A motion that repeats.

    Attributes
    ----------
    period : quantity
    multipliers : complex ndarray
        Floquet multipliers by modulus, without the one of moving along the cycle; a motion that is
        driven by time has none such.
    run : Result
        One period.

    Examples
    --------
    ::

        cycle = model.limit_cycle(model.simulate("60 s"))
        cycle.period, cycle.amplitude("spring.x"), cycle.is_stable
        cycle.plot("spring.x", "block.v")    # the orbit; cycle.run.plot("spring.x") over time
    """

    def __init__(self, name: str, period: float, run: Result, multipliers: Array) -> None:
        self.name, self.run, self.multipliers = name, run, multipliers
        self.period = quantity(period, "s")

    @property
    def is_stable(self) -> bool:
        """Whether disturbances die out."""
        return bool((np.abs(self.multipliers) < 1).all())

    def amplitude(self, path: str) -> Quantity:
        """Half the distance between the largest and the smallest value of a variable."""
        series = self.run[path]
        return (series.max() - series.min()) / 2

    def plot(self, x: str, y: str, save: Any = None) -> Figure:
        """Draw the orbit of two variables, ``y`` over ``x``; ``save`` to a file."""
        figure = bare_figure("A limit cycle's picture", figsize=(6.4, 4.4), layout="constrained")
        axes = figure.subplots()
        shown = [self.run[path] for path in (x, y)]
        axes.plot(*(series.m for series in shown))
        axes.set_xlabel(f"{x} [{shown[0].declared_unit}]")
        axes.set_ylabel(f"{y} [{shown[1].declared_unit}]")
        axes.grid(alpha=0.3)
        course = "die out" if self.is_stable else "grow"
        return finished_figure(figure, save, f"Limit cycle of {self.name}: "
                               f"period {self.period:.6g~P}, disturbances {course}")

    def _sheet(self) -> Sheet:
        return Sheet.of_facts(f"Limit cycle of {self.name}", [
            ("period", f"{self.period:.10g~P}"),
            ("frequency", f"{1 / self.period.magnitude:.8g} Hz"),
            ("Floquet multipliers", ", ".join(f"{m:.6g}" if m.imag else f"{m.real:.6g}"
                                              for m in self.multipliers) or "none"),
            ("disturbances", "die out" if self.is_stable else "grow")])


@dataclass(frozen=True, eq=False)
class _Map:
    """Runs of a model from given states."""

    model: CompiledModel
    point: Point
    free: Indices  # states that are moved
    follow: Array  # how all states follow these, such as the elongations of a spring beside another
    size: Array

    def run(self, x: Array, period: float) -> Result:
        start = self.point.x + self.follow @ (x - self.point.x[self.free])
        start[self.free] = x
        return run(self.model, quantity(period, "s"), Options(
            rtol=TOLERANCE, progress=False, max_step=quantity(period / 20, "s"),
            initial=(start, self.point.z, self.point.m, np.full(len(self.point.d), np.nan))))

    def end(self, x: Array, period: float) -> Array:
        """The moved states after a time."""
        return run_point(self.model, self.run(x, period), None).x[self.free]

    def slope(self, x: Array) -> Array:
        """How they change at the start."""
        short = self.run(x, 1e-9 * max(1.0, float(np.abs(self.size).max())))
        point = run_point(self.model, short, None)
        return point.system.slope(*point.arguments)[self.free]


def find_limit_cycle(model: CompiledModel, guess: Any = None, period: Any = None) -> LimitCycle:
    """See :meth:`blocks.Model.limit_cycle`."""
    drives = _drives(model.compile())
    if drives and period is None:
        raise ParameterError(
            WHERE, f"{', '.join(drives[:TOLD])}{', …' * (len(drives) > TOLD)} acts in time by "
            "itself: what this drives repeats with it, whatever it looks like before.",
            "Give the period of the drive: model.limit_cycle(run, period='2 s').",
            code="analysis.cycle")  # fmt: skip
    point, length, size = _guess(model, guess, period, bool(drives))
    shooting = _map(model, point, size)
    try:
        shooting, x, length, matrix, run = _closed(shooting, length, bool(drives))
    except SimulationError as far:
        shooting, x, length, matrix, run = _after_periods(shooting, length, bool(drives), far)
    multipliers = np.asarray(np.linalg.eigvals(matrix), dtype=complex)
    if not drives:  # one is that of the motion itself
        multipliers = np.delete(multipliers, int(np.argmin(np.abs(multipliers - 1))))
    multipliers = multipliers[np.argsort(-np.abs(multipliers))]
    away = np.abs(shooting.end(x, 2 * length) - x) / shooting.size
    if away.max() > AGAIN * max(1.0, float(np.abs(multipliers).max(initial=0.0))):
        raise SimulationError(  # what closes once by chance is another motion the next time
            WHERE, f"a motion that comes back after {length:.6g} s is another one after that.",
            f"Give a period after which {', '.join(drives[:TOLD])} repeats." if drives else
            "What it remembers in Discrete variables does not come back with the states: no limit "
            "cycle is found with it. Look at a long run instead.", code="analysis.cycle")
    return LimitCycle(model.name, length, run, multipliers)


def _map(model: CompiledModel, point: Point, size: Array) -> _Map:
    free, follow = _moving_states(point)
    return _Map(model, point, free, follow, np.maximum(size[free], 1e-12 * point.scale_x[free]))


_Found = tuple[_Map, Array, float, Array, Any]


def _closed(shooting: _Map, length: float, driven: bool) -> _Found:
    """The motion that repeats near a point: states, period, derivative of the map, and a run."""
    x, length, matrix = _shoot(shooting, shooting.point.x[shooting.free].copy(), length, driven)
    run = shooting.run(x, length)
    moved = np.ptp(_states(run, 0.0)[1][shooting.free], axis=1) / 2
    if (moved <= AT_REST * shooting.size).all():  # which repeats, too, whatever the period
        raise SimulationError(WHERE, "only a state of rest was found near the guess.",
                              "Give a run that has settled to the motion that repeats, and its "
                              "period.", code="analysis.cycle")  # fmt: skip
    if not driven:
        for parts in PARTS:
            there = run_point(shooting.model, run, quantity(length / parts, "s"))
            if (np.abs(there.x[shooting.free] - x) <= AGAIN * shooting.size).all():
                x, length, matrix = _shoot(shooting, x, length / parts, driven)
                return shooting, x, length, matrix, shooting.run(x, length)
    return shooting, x, length, matrix, run


def _after_periods(shooting: _Map, length: float, driven: bool, far: SimulationError) -> _Found:
    """Return the motion that repeats after a run of many periods, to which what is stable comes;
    ``far`` says why none was found at once."""
    model, start = shooting.model, shooting.point.x[shooting.free]
    for periods in SETTLES:
        try:
            run = shooting.run(start, periods * length)
            guess = _guess(model, run, quantity(length, "s") if driven else None, driven)
            return _closed(_map(model, guess[0], guess[2]), guess[1], driven)
        except (ParameterError, SimulationError):
            continue  # at rest, or not there yet
    raise far


def _drives(system: System) -> list[str]:
    """Components that act in time by themselves: sources, tables, samplers."""
    sampled = [f for f in system.network.families
               if any(start is not None for start, *_ in f.kernel.samplings)]
    return list(dict.fromkeys(f.path(i) for f in (*driven_by_time(system), *sampled)
                              for i in range(f.size)))


def _moving_states(point: Point) -> tuple[Indices, Array]:
    """States that no constraint determines, and that something depends on; how all follow them."""
    free_modes = point.with_modes(np.where(point.modes == 0, 1, point.modes))
    at = derivatives_of(point.system, [], [])
    reduced = reduce(free_modes, at.at(free_modes))
    used = np.asarray(at.pattern[:, : point.system.nx].sum(axis=0)).ravel() > 0
    some, follow = used[reduced.states], reduced.by_states
    whole = follow if isinstance(follow, np.ndarray) else follow.toarray()
    return reduced.states[some], whole[:, some]


def _shoot(shooting: _Map, x: Array, period: float, driven: bool) -> tuple[Array, float, Array]:
    """States and period that close, and the derivative of the map there.

    Where it is driven, the period is that of the drive; else states stay in the plane through the
    first ones across the motion, in whose direction any of them would do.
    """
    from scipy.optimize import least_squares

    n, size = len(x), shooting.size
    along = shooting.slope(x) / size if not driven else None

    def ends(y: Array) -> tuple[Array, float]:
        return x + y[:n] * size, period * (1 + y[n]) if along is not None else period

    def missed(y: Array) -> Array:
        states, length = ends(y)
        try:
            left = (shooting.end(states, length) - states) / size
        except SimulationError:  # too far
            left = np.full(n, np.nan)
        return left if along is None else np.append(
            left, along @ y[:n] / (np.linalg.norm(along) or 1.0))

    try:
        found = least_squares(missed, np.zeros(n + (not driven)), "3-point", x_scale=FARTHEST,
                              gtol=CLOSED / 10, xtol=CLOSED / 10, ftol=None, max_nfev=MOST_STEPS)
    except (ValueError, np.linalg.LinAlgError):  # no run from there, or from beside it
        found = None
    if found is not None and np.abs(found.fun[:n]).max() <= CLOSED:
        return *ends(found.x), found.jac[:n, :n] + np.eye(n)
    raise SimulationError(WHERE, "no motion that repeats was found near the guess: a period of "
                          f"{period if found is None else ends(found.x)[1]:.6g} s still misses its "
                          "start.", "Give a run that has settled, or another period.",
                          code="analysis.cycle")


def _guess(model: CompiledModel, guess: Any, period: Any,
           driven: bool) -> tuple[Point, float, Array]:
    """Where to begin, about how long a period is, and how large the states become.

    Where it is driven, a whole number of periods after the start.
    """
    from ..results import Result

    length = None if period is None else float(to_si(period, unit("s"), f"{WHERE}: period"))
    if guess is None and length is not None:
        point = initial_point(model)
        run = model.simulate(quantity(length, "s"), progress=False)
        _, states = _states(run, 0.0)
        return point, length, np.ptp(states, axis=1) / 2 + 0.0
    if not isinstance(guess, Result):
        raise ParameterError(WHERE, "takes a run that comes near a motion that repeats, or a "
                             "period about the initial state.",
                             "Write model.limit_cycle(model.simulate('60 s')), or "
                             "model.limit_cycle(period='1.4 s').")  # fmt: skip
    t, every = _states(guess, 0.5, discrete=True)  # a relay comes back when it has switched back
    if length is None:
        length = _return_time(t, every, np.ptp(every, axis=1) / 2)
    size = np.ptp(_states(guess, 0.5)[1], axis=1) / 2
    begin = (1 + 1e-12) * t[-1] // length * length if driven else _while_moving(guess, t)
    point = run_point(model, guess, from_si(min(begin, float(t[-1])), unit("s")))
    return point, length, size


def _states(run: Result, fraction: float, discrete: bool = False) -> tuple[Array, Array]:
    """States of a run after a part of it, as columns, and perhaps its discrete values."""
    record: Any = run.recording
    first, last = record.episodes[0].start, record.episodes[-1].end
    t = np.linspace(first + fraction * (last - first), last, LOOKS)
    points, _ = record.replay.interpolated(t, record._episode_numbers(t, "right"))
    return t, np.concatenate([points.x, points.d]) if discrete else points.x


def _return_time(t: Array, states: Array, size: Array) -> float:
    """When the last state was passed before."""
    some = size > 1e-9 * np.abs(states).max(axis=1) + 1e-300
    if not some.any():
        raise ParameterError(WHERE, "the run is at rest at its end: nothing repeats.",
                             "Start it farther away, or give a period.", code="analysis.cycle")
    far = np.abs((states[some] - states[some][:, -1:]) / size[some][:, None]).max(axis=0)
    left = np.flatnonzero(far > 0.5)
    before = far[: left[-1]] if len(left) else far[:0]
    back = np.flatnonzero(before < NEAR)
    if not len(back):
        raise ParameterError(WHERE, "the run does not come back to where it ends.",
                             "Simulate longer, or give period='…'.", code="analysis.cycle")
    last = np.split(back, np.flatnonzero(np.diff(back) > 1) + 1)[-1]
    return float(t[-1] - t[last[np.argmin(before[last])]])


def _while_moving(run: Result, t: Array) -> float:
    """A late instant in the middle of an episode in which nothing sticks, if there is one."""
    record: Any = run.recording
    modes = record.episodes.modes
    starts = np.append(record.episodes.starts, record.episodes[-1].end)
    moving = np.flatnonzero((modes != 0).all(axis=1) & (np.diff(starts) > BRIEF * t[-1]))
    if len(modes) == 1 or not len(moving):
        return float(t[-1])
    k = moving[-2:][0]  # the last one may have been cut off
    return float((starts[k] + starts[k + 1]) / 2)
