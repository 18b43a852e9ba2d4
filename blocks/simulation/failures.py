"""What is said of a run that cannot go on?"""

from __future__ import annotations

from collections.abc import Iterable
from typing import NoReturn

import casadi as ca
import numpy as np

from ..diagnostics.at_start import on_loose_nodes, undetermined
from ..diagnostics.not_finite import breakdown, slope_equation
from ..exceptions import SimulationError, warn_user
from ..numerics.arrays import Array, Flags
from ..numerics.rewriting import kinds
from ..numerics.tolerances import LAST_DIGITS, SAME_INSTANT, SHORT_TIME
from ..solvers import Method, Step
from ..system.failure import STEEP
from ..system.problem import Problem
from ..system.system import System
from ..system.time_functions import ACROSS, TimeFunctions, driven
from .progress import time_in_words
from .recording import RunRecording

__all__ = ["TURN_BACK", "has_roots", "on_switching", "refuse_corner", "refuse_standstill",
           "refuse_undetermined", "refuse_unstable", "refuse_wiggling", "stop_at_failed_step",
           "tell_many_steps"]

BEYOND_MEASURE = 1e100  # in SI units, which nothing comes to that is meant
BLOWN_UP = 1e6  # nominal values, beyond which it is asked whether steps were too long
TURN_BACK = ("State a stop or an impact as contact(…) with its restitution, as "
             "library.translational.HardStop does: that comes to rest. Any other `when` asks for "
             "the direction, too, (h < 0) & (v < 0), and ends what it turns back before that "
             "becomes too small; one that switches to and fro has a hysteresis or a least time.")
TAKE = "Take method='auto' or 'rodas4', which come to rest there. "
ROOTS = {ca.OP_SQRT, ca.OP_POW, ca.OP_CONSTPOW, ca.OP_ASIN, ca.OP_ACOS}
STABLE = 2.0  # fastest rate times the step, up to which a decay is one in steps: 2.8 for rk4


def stop_at_failed_step(recording: RunRecording, step: Step, t_start: float) -> NoReturn:
    """The method has found no way on: say which unknowns, and which equation has no value."""
    problem, system = recording.problem, recording.system
    names: list[str] = [problem.name_of(i) for i in step.worst[:3]]
    if problem.failure is None and step.by_numbers:  # machine code does not say why
        ahead, rate = SAME_INSTANT * max(abs(step.t), SHORT_TIME), problem.slope(step.t, step.y)
        if problem.laws is not None:
            problem.slope(step.t + ahead, step.y + ahead * np.nan_to_num(rate))
            problem.laws.refuse_jam(problem, step.t + ahead)
    reason = step.failure
    if problem.failure is not None:
        names, reason = list(problem.failure.worst), str(problem.failure)
    if not names and step.by_numbers:
        names = _steepest(problem, step)
    recording.fail(reason)
    told = problem.failure is not None or not step.by_numbers
    broken = None if told else breakdown(system, problem, step.t, step.y, t_start)
    owners = ", ".join(dict.fromkeys(filter(None, (
        n.rpartition(".")[0].removeprefix("der(") for n in names))))
    unsolved = f" Unsolved: {', '.join(names)}{f' (of {owners})' if owners else ''}."
    other = ("a shorter step or method='auto'" if recording.accuracy is None else  # of fixed steps
             "a smaller max_step, a looser rtol or nominal values that fit")
    slope = slope_equation(system, "".join(names[:1]))
    rooted = any(has_roots(system, name.rpartition(".")[0]) for name in names)
    where = f"there, as in  {slope} " if slope else "there"
    advice = f"Look for a value that grows without bound {where}; {other} may help."
    if problem.failure is not None:
        loose = on_loose_nodes(system, names) if problem.failure.singular else ""
        advice = problem.failure.advice or loose or advice + f" {STEEP}" * rooted
    if broken is None and not told and rooted:
        advice = TAKE * ("rodas4" not in recording.statistics["method"]) + _steep(slope)
    grown = _beyond_measure(problem, np.asarray(step.y))
    if broken is not None:
        advice = broken[1]
    if grown is not None:
        advice, broken = grown[1], (grown[0].rpartition(".")[0], "")
    raise SimulationError(
        broken[0] if broken else "",
        f"the run stopped at t = {step.t:.9g} s: {reason.rstrip('.')}.{unsolved * bool(names)}",
        f"{advice} Everything before is in error.result.",
        time=step.t, variables=tuple(names), system=system.network.name,
    ) from step.cause  # fmt: skip


def _steep(equation: str) -> str:
    """What is said of a law as steep as a root, and the equation that it stands in, if known."""
    return STEEP + f" It stands in  {equation} ." * bool(equation)


def _beyond_measure(problem: Problem, y: Array) -> tuple[str, str] | None:
    """The unknown that has grown beyond anything meant, and what to do; None if none has."""
    size = np.where(np.isfinite(y), np.abs(y * problem.scale), 0.0)
    if not size.size or size.max() < BEYOND_MEASURE:
        return None
    name = problem.name_of(int(size.argmax()))
    return name, (f"{name} has grown to {size.max():.2g} in SI units: look for what feeds it, such "
                  "as a source, or a damper or a resistor of the wrong sign.")


def _steepest(problem: Problem, step: Step) -> list[str]:
    """The unknowns that change fastest where a step failed."""
    slope = np.abs(problem.slope(step.t, step.y))
    order = np.argsort(-np.nan_to_num(slope, nan=np.inf, posinf=np.inf))
    return [problem.name_of(int(i)) for i in order[:3]]


def has_roots(system: System, component: str) -> bool:
    """Whether a law of a component has a root or a power: where these begin they are steep."""
    laws = ca.vertcat(ca.SX(0, 1), *(
        law.residual for family in system.network.families for law in family.kernel.laws
        if component in map(family.path, range(family.size))))
    return not kinds(ca.Function("laws", ca.symvar(laws), [laws])).isdisjoint(ROOTS)


def refuse_undetermined(recording: RunRecording, t: float) -> None:
    """A run whose last values are no numbers is not finished."""
    if (found := undetermined(recording.system, recording.problem, t)) is not None:
        _refuse_open(found, t)


def _refuse_open(found: tuple[list[str], str, str], t: float) -> NoReturn:
    """Stop at what nothing determines: its unknowns, what is wrong, and what to do."""
    paths, problem, advice = found
    raise SimulationError(", ".join(paths), problem, advice, says_where=True, time=t,
                          code="simulation.undetermined", variables=tuple(paths))


def refuse_corner(problem: Problem, t: float, y: Array, rests: Flags) -> None:
    """A run in which states rest within rounding of a law's corner, behind which nothing determines
    what moves, as a stop that pressed nothing away: its steps would stay as short as that is close.
    """
    beside = problem.copy_for_reading()
    ahead = LAST_DIGITS * rests * np.sign(np.nan_to_num(problem.slope(t, y))) * (1.0 + np.abs(y))
    beside.m[:] = beside.crossings(t, y + ahead) > 0
    if (problem.m != beside.m).any() and (
            found := undetermined(problem.system, beside, t)) is not None:
        _refuse_open(found, t)


def refuse_wiggling(problem: Problem, method: Method, step: Step) -> NoReturn:
    """Steps that go to and fro within the tolerance, with more of them left than anyone awaits."""
    names = _steepest(problem, step)
    raise SimulationError(
        names[0].rpartition(".")[0], f"at t = {step.t:.6g} s steps of {method.name} are "
        f"{method.usual_step(step):.2g} s long, and {names[0]} stays within its tolerance: a law "
        "is as steep there as a root where it begins.",
        f"{TAKE * (method.name != 'rodas4')}{_steep(slope_equation(problem.system, names[0]))} "
        "Everything before is in error.result.", says_where=True,
        code="simulation.stiff", time=step.t, variables=tuple(names[:1]))


def tell_many_steps(problem: Problem, functions: TimeFunctions, method: Method, step: Step,
                    left: tuple[float, float], length: float) -> None:
    """Say why a run has so many steps: warn where they take long, refuse it where it cannot end.

    ``left`` are steps to the end of the run, and seconds that they take; ``length`` is that of a
    step, on average.
    """
    steps, seconds = float(f"{left[0]:.1g}"), left[1]
    fastest = [f"{name} changes so fast" for name in _steepest(problem, step)[:1]]
    by_time = functions.pieces_left(step.t) >= ACROSS * left[0]
    if by_time or len(functions.pieces) and functions.limit(step.t) - step.t < ACROSS * length:
        fastest = [f"{driven(problem.system)}, which depends on time, varies so fast"]
    elif not method.implicit:
        fastest.append("an explicit method would become unstable with longer ones")
    why = ", or ".join(fastest) or "something is so fast"
    told = f"at t = {step.t:.3g} s steps of {method.name} were {length:.2g} s long, as {why}"
    if seconds == np.inf:
        raise SimulationError(
            "", f"{told}: it would need {steps:.1g} more to the end of the run.",
            ("" if method.implicit else "Take method='auto' or 'rodas4', whose steps are long "
             "where all is calm. ") + "error.result.bottlenecks() says which variables hold the "
            "steps: where a parasitic element makes them so fast, leave that out.",
            code="simulation.stiff", time=float(step.t), variables=())  # fmt: skip
    warn_user(f"{problem.system.network.name}: {told}. Some {steps:,.0f} more are left to the end "
              f"of the run, which take {time_in_words(seconds)}. Ctrl-C ends it; what it has "
              "reached is in the error's result.")


def refuse_unstable(recording: RunRecording, method: str, step: float, t: float) -> None:
    """A run that has grown without bound is not finished, be it by explicit steps of fixed length
    or by itself: powers of what is beyond measure are no numbers."""
    problem = recording.problem
    y = np.abs(problem.solver_vector())
    if method in ("euler", "rk4") and y.max(initial=0.0) >= BLOWN_UP and (
            rate := problem.fastest_rate(t, problem.solver_vector())) * step >= STABLE:
        name = problem.name_of(int(y.argmax()))
        recording.fail("steps too long")
        raise SimulationError(
            name.rpartition(".")[0], f"{name} has grown to {y.max():.2g} times its nominal value: "
            f"steps of {step:.3g} s are too long for {method}, as something moves within "
            f"{1 / rate:.2g} s.",
            f"Take steps shorter than {STABLE / rate:.2g} s, or a method that this does not hold "
            "up: 'auto', or 'backward_euler' for fixed steps. Everything is in error.result.",
            says_where=True, code="simulation.stiff", time=t, variables=(name,))
    if (grown := _beyond_measure(problem, y)) is not None:
        recording.fail("beyond measure")
        raise SimulationError(
            grown[0].rpartition(".")[0], "the run ends with a value whose powers and energies are "
            "no numbers.", f"{grown[1]} Everything is in error.result.", time=t,
            variables=grown[:1])


def refuse_standstill(recording: RunRecording, t: float, episodes: int, last: Iterable[str]
                      ) -> NoReturn:
    """Episode after episode has made no progress; ``last`` are the components that switched."""
    recording.fail("no progress in time")
    names = list(dict.fromkeys(last))
    raise SimulationError(
        ", ".join(names), f"the run makes no progress at t = {t:.12g} s: {episodes} events in a "
        f"row at one instant{', the last of ' + ', '.join(names) if names else ''}.",
        on_switching(recording, names,
                     "A condition that switches the quantity it looks at needs a hysteresis."),
        says_where=True, time=t, variables=tuple(names),
    )  # fmt: skip


def on_switching(recording: RunRecording, names: Iterable[str], otherwise: str) -> str:
    """What to do about components that switch for ever: contacts, those of ``when``, or others."""
    network = recording.system.network
    if any(family.path(i) in names for family in network.families if family.kernel.resets
           for i in range(family.size)):
        return TURN_BACK
    touching = {network.families[f].path(i) for f, i in network.contacts}
    if touching.isdisjoint(names):
        return otherwise
    return ("Contacts that touch at once may strike each other for ever in one instant: "
            "method='moreau_jean' with a step decides on all of them together, once a step.")
