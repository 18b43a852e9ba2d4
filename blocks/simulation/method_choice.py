"""Which method takes a run, and why?"""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

import numpy as np

from .. import native
from ..exceptions import ParameterError, UnknownName, nearest, need_package, unknown_name
from ..native import COMPILED
from ..numerics.arrays import Array
from ..reading.foreign_words import method_elsewhere
from ..solvers import METHODS, Method, UnknownMethod, method_named
from ..system.problem import Problem
from ..system.system import System
from .quasistatic import Quasistatic
from .settings import Settings

__all__ = ["by_stiffness", "chosen_method", "compiled_method", "explicit_steps",
           "implicit_one_step", "in_machine_code", "in_python", "refuse_full_jacobian",
           "refuse_idle_step", "refuse_uncompiled", "tries_implicit_first"]  # fmt: skip

T = TypeVar("T")

MILD = 2000.0  # fastest rate times duration up to which explicit steps are taken in Python
MOST_BULKY = 10_000  # explicit steps that cost less than some two thousand of IDA's
SMALL = 8  # states up to which implicit steps, with full matrices, cost little more than explicit
SETTLING = 3e4  # explicit steps that only follow what settles: implicit ones are tried first
AGAINST = 30.0  # times as fast as the fastest oscillation it settles there
STATIC = "nothing is integrated: steps follow the waves of the sources"
EXPLICIT = "DOP853", "RK45", "RK23", "rk4", "euler"  # of which there is machine code, too
IMPLICIT_STEPS = "backward_euler", "trapezoidal"
NAMES = "auto", *METHODS, *COMPILED, "moreau_jean"
HOPELESS = 1e9  # entries of a full Jacobian that are refused


def chosen_method(method: str, system: System, step: object) -> tuple[type[Method], str]:
    """The method that a run begins with, by its name or by the structure of the system."""
    if method != "auto":
        return _named(method), "chosen by the user"
    if step is not None:
        return method_named("trapezoidal"), "a fixed step was given"
    if system.clusters or system.nu:
        return method_named("DOP853"), "one-step: cheap to restart after events"
    if system.nz > 20 and not system.linear and (
            not native.is_installed() or native.why_not(system)):
        return _for_large_loops(), "large nonlinear algebraic loops"
    return method_named("Radau"), "implicit, one-step: safe for stiff models"


def _for_large_loops() -> type[Method]:
    """IDA, which keeps the unknowns of loops; without SUNDIALS one that solves for them."""
    try:
        return method_named("ida")
    except ImportError:
        return method_named("Radau")


def _named(method: str) -> type[Method]:
    if str(method).lower() == "moreau_jean":
        from ..native.moreau_jean import MoreauJean

        return MoreauJean
    if str(method).lower() in COMPILED:
        return compiled_method(str(method).lower())
    try:
        return method_named(method)
    except UnknownMethod:
        raise unknown_method("simulate(method=…)", method) from None


def unknown_method(where: str, method: str) -> UnknownName:
    """The error for a method that none is called: with the nearest one and a list of all."""
    near = [method_elsewhere(str(method))]
    near = near if near[0] else nearest(method, NAMES)[:1]
    meant = f"Did you mean {near[0]!r}? " if near else ""
    return unknown_name(where, method, NAMES, "methods", (
        f"{meant}The methods are: {', '.join(NAMES)}.", near[0] if near else ""))


def refuse_idle_step(method: str, step: object) -> None:
    """Refuse a step that the method would not take."""
    if step is not None and method != "auto" and not (chosen := _named(method)).fixed_step:
        raise ParameterError(
            "simulate(step=…)", f"has no effect: method {chosen.name!r} chooses its steps itself.",
            "Leave it out. max_step= bounds such steps, every= says how far apart samples are, and "
            "method='trapezoidal' takes fixed ones.", code="parameter.idle", given=step)


def refuse_full_jacobian(problem: Problem, name: str) -> None:
    """An implicit method that would need a matrix larger than the memory."""
    n = problem.size
    if problem.algebraic and n * (n + problem.algebraic) > HOPELESS:
        raise ParameterError(
            "simulate(method=…)", f"{name!r} would need a full Jacobian of {n:,} x {n:,} entries "
            f"({8e-9 * n * n:.3g} GB): every state acts on every other through "
            f"{problem.algebraic:,} algebraic unknowns.",
            "Take method='ida', which keeps them as unknowns, or an explicit one such as 'ode45'.",
            method=name, states=n, algebraic=problem.algebraic,
        )  # fmt: skip


def refuse_uncompiled(name: str, problem: Problem) -> None:
    """A model that a method cannot run in machine code."""
    if not problem.system.nx:  # nothing is integrated then, by any method
        return
    why_not = native.why_not_implicit if name == "rodas4" else native.why_not
    reason = why_not(problem.system, problem.laws) or native.unwritable(problem)
    if reason:
        raise ParameterError(f"simulate(method={name!r})", f"cannot run this model: {reason}.",
                             "Take method='auto' or another name listed in blocks.solvers.")


def compiled_method(name: str) -> type[Method]:
    """A method in machine code, or a word on what is missing."""
    try:
        method: type[Method] = native.compiled_method(name)
        return method
    except ImportError as error:
        raise need_package("llvmlite", f"method={name!r}") from error


def explicit_steps(rtol: float) -> type[Method]:
    """The explicit one-step method in machine code whose steps cost least at a tolerance."""
    return compiled_method("DOP853" if rtol < native.TIGHT else "dopri5")


def _why_in_python(problem: Problem) -> str:
    """What keeps explicit steps from machine code, in a few words; empty where nothing does."""
    if not native.is_installed():
        return "llvmlite is not installed"
    return native.why_not(problem.system, problem.laws) or native.unwritable(problem)


def implicit_one_step(problem: Problem) -> type[Method] | None:
    """The implicit one-step method in machine code, where it can run a problem."""
    if not native.is_installed() or native.why_not_implicit(problem.system, problem.laws) \
            or native.unwritable(problem):
        return None
    method: type[Method] = native.compiled_method("rodas4")
    return method


def _at_start(what: str, problem: Problem, *asked: float, make: Callable[[Array], T]) -> T:
    """What is found at the start of a run, kept for the next one that starts at the same point."""
    y, cache = problem.start_vector(), problem.system.cache
    here = *asked, *(a.tobytes() for a in (y, problem.z, problem.p, problem.m, problem.d))
    if what not in cache or cache[what][0] != here:
        cache[what] = here, make(y)
    found: T = cache[what][1]
    return found


def _motions_at_start(problem: Problem, t0: float) -> tuple[float, float]:
    """The fastest rate and the fastest oscillation."""
    return _at_start("motions at start", problem, t0,
                     make=lambda y: problem.fastest_motions(t0, y))


def tries_implicit_first(problem: Problem, t0: float, t1: float, rtol: float) -> bool:
    """Whether a run of few states begins with implicit steps that must turn out longer.

    Where explicit ones would, if all stays as it is at the start, mostly follow what has settled
    long ago: a change of methods takes as long as hundreds of such steps.
    """
    if problem.size > SMALL or rtol < native.TIGHT:
        return False
    rate, oscillation = _motions_at_start(problem, t0)
    steps = rate * (t1 - t0) / native.REACH
    return AGAINST * oscillation < rate and steps > SETTLING and (
        implicit_one_step(problem) is not None)


def in_machine_code(kind: type[Method], problem: Problem, settings: Settings) -> type[Method]:
    """The same method as machine code, where there is one that can run a problem.

    Where nothing is integrated, all methods are one; in Python where states are tied to others.
    """
    if not problem.size:
        return Quasistatic if problem.system.nx or _why_in_python(problem) else (
            explicit_steps(settings.rtol))
    if kind.name in EXPLICIT and not _why_in_python(problem) and (
            not kind.fixed_step or native.keeps_to_steps(problem, kind)):
        return compiled_method(kind.name)
    if kind.name in IMPLICIT_STEPS and native.keeps_to_steps(problem, kind) and (
            implicit_one_step(problem) is not None):
        return compiled_method(kind.name)
    if kind.name == "moreau_jean":
        return native.compiled_steps(problem) or kind
    return kind


def in_python(kind: type[Method], problem: Problem) -> type[Method]:
    """A method in Python that takes the place of one in machine code."""
    if not problem.size:
        return Quasistatic
    return METHODS.get(kind.name) or method_named("Radau" if kind.implicit else "DOP853")


def by_stiffness(problem: Problem, t0: float, t1: float, rtol: float, stiff: type[Method],
                 why: str) -> tuple[type[Method], str]:
    """An explicit method where the fastest motion at the start is worth resolving."""
    static = not problem.system.nx
    if not problem.size and not static:
        return stiff, why
    reason = _why_in_python(problem)
    in_python = f"; in Python, as {reason}"
    if static:
        return (stiff, STATIC + in_python) if reason else (explicit_steps(rtol), STATIC)
    if problem.system.nu or problem.system.clusters:  # the rates at the start say little
        return (stiff, why + in_python) if reason else (
            explicit_steps(rtol), "explicit, in machine code: cheap to restart after events")
    rate, _ = _motions_at_start(problem, t0)
    if not reason:
        steps = rate * (t1 - t0) / native.REACH
        if tries_implicit_first(problem, t0, t1, rtol):
            return native.compiled_method("rodas4"), (
                f"implicit, one-step, in machine code: {steps:.2g} explicit steps would follow "
                f"what settles fastest at the start ({rate:.3g} 1/s)")
        if steps <= min(native.most_steps(problem.size), MOST_BULKY if problem.bulky else np.inf):
            return explicit_steps(rtol), (
                f"explicit, in machine code: about {steps:.2g} steps follow the fastest motion "
                f"({rate:.3g} 1/s)")
        if kind := implicit_one_step(problem):
            return kind, f"implicit, one-step, in machine code: stiff at the start ({rate:.3g} 1/s)"
    if rate * (t1 - t0) > MILD:
        if stiff.implicit and problem.bulky:
            return _for_large_loops(), "sparse: stiff, with large algebraic loops"
        return stiff, why
    return method_named("DOP853"), (
        f"explicit: not stiff at the start (fastest rate {rate:.3g} 1/s){in_python}")
