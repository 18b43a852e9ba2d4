"""Which method does a name stand for, and what takes its steps: machine code, or Python?"""

from __future__ import annotations

from .. import native
from ..exceptions import ParameterError, UnknownName, nearest, need_package, unknown_name
from ..native import COMPILED
from ..reading.foreign_words import method_elsewhere
from ..solvers import METHODS, Method
from ..system.problem import Problem

__all__ = ["NAMES", "chosen_method", "explicit_steps", "implicit_steps", "in_python",
           "is_full_jacobian_hopeless", "named_method", "refuse_fixed_steps",
           "refuse_full_jacobian", "refuse_idle_step", "running_method",
           "unknown_method"]  # fmt: skip

NAMES = "auto", *METHODS, *COMPILED, "moreau_jean"
TIGHT = 1e-8  # relative tolerance below which a method of higher order is better
HOPELESS = 1e9  # entries of a full Jacobian that are refused


def chosen_method(method: str, step: object) -> tuple[type[Method] | None, str]:
    """The method that a run begins with, and why; None where the equations decide on it."""
    if method != "auto":
        return named_method(method), "chosen by the user"
    return (None, "") if step is None else (
        native.compiled_method("trapezoidal"), "a fixed step was given")


def named_method(method: str) -> type[Method]:
    """The method of a name, whatever its case."""
    name = next((known for known in NAMES[1:] if known.lower() == str(method).lower()), "")
    if name == "moreau_jean":
        from ..native.moreau_jean import MoreauJean

        return MoreauJean
    if not name:
        raise unknown_method("simulate(method=…)", method)
    kind = native.compiled_method(name) if name in COMPILED else METHODS[name]
    if name in COMPILED and kind.fixed_step and not native.is_installed():
        raise need_package("llvmlite", f"method={name!r}")
    return kind


def explicit_steps(rtol: float) -> type[Method]:
    """The explicit one-step method whose steps cost least at a tolerance."""
    return native.compiled_method("DOP853" if rtol < TIGHT else "dopri5")


def implicit_steps() -> type[Method]:
    """The implicit method that ``auto`` takes."""
    return native.compiled_method("rodas4")


def running_method(kind: type[Method], problem: Problem, rtol: float) -> tuple[type[Method], str]:
    """What takes the steps of a method: machine code, if that can run a problem; else a method in
    Python, and why.

    Where nothing is integrated all that choose their steps are one.
    """
    if not problem.size and not kind.fixed_step:
        kind = explicit_steps(rtol)
    if kind.name == "moreau_jean":
        return native.compiled_steps(problem) or kind, ""
    reason = why_in_python(problem, kind.implicit) if kind.name in COMPILED else ""
    return (in_python(kind) if reason else kind), reason


def why_in_python(problem: Problem, implicit: bool) -> str:
    """What keeps steps from machine code, in a few words; empty where nothing does."""
    if not native.is_installed():
        return "llvmlite is not installed"
    why_not = native.why_not_implicit if implicit else native.why_not
    return why_not(problem.system, problem.laws) or native.unwritable(problem)


def in_python(kind: type[Method]) -> type[Method]:
    """A method in Python that takes the place of one in machine code."""
    return METHODS["Radau" if kind.implicit else "ode45"]


def unknown_method(where: str, method: str) -> UnknownName:
    """The error for a method that none is called: with the nearest one and a list of all."""
    said, near = method_elsewhere(str(method))
    near = near or next(iter(nearest(method, NAMES)), "")
    meant = f"{said} " if said else f"Did you mean {near!r}? " if near else ""
    return unknown_name(where, method, NAMES, "methods", (
        f"{meant}The methods are: {', '.join(NAMES)}.", near))


def refuse_idle_step(method: str, step: object, caller: str = "simulate") -> None:
    """Refuse a step that the method would not take, of who is called."""
    if step is not None and method != "auto" and not (chosen := named_method(method)).fixed_step:
        raise ParameterError(
            f"{caller}(step=…)", f"has no effect: method {chosen.name!r} chooses its steps itself.",
            "Leave it out. max_step= bounds such steps, every= says how far apart samples are, and "
            "method='trapezoidal' takes fixed ones.", code="parameter.idle", given=step)


def is_full_jacobian_hopeless(problem: Problem) -> bool:
    """Whether a matrix of all that is integrated would be larger than the memory."""
    n = problem.size
    return bool(problem.algebraic) and n * (n + problem.algebraic) > HOPELESS


def refuse_full_jacobian(kind: type[Method], problem: Problem) -> None:
    """An implicit method that would need a matrix larger than the memory."""
    n = problem.size
    if kind.implicit and not kind.looks_itself and is_full_jacobian_hopeless(problem):
        raise ParameterError(
            "simulate(method=…)", f"{kind.name!r} would need a full Jacobian of {n:,} x {n:,} "
            f"entries ({8e-9 * n * n:.3g} GB): every state acts on every other through "
            f"{problem.algebraic:,} algebraic unknowns.",
            "Take an explicit method like 'ode45', or 'rodas4' where machine code can run the "
            "model: that keeps them as unknowns.",
            method=kind.name, states=n, algebraic=problem.algebraic,
        )  # fmt: skip


def refuse_fixed_steps(kind: type[Method], problem: Problem) -> None:
    """Refuse fixed steps, which machine code alone takes, of a model that it cannot run."""
    if kind.name not in COMPILED or not kind.fixed_step:
        return
    if problem.size and (reason := why_in_python(problem, kind.implicit)):
        raise ParameterError(f"simulate(method={kind.name!r})", f"cannot run this model: {reason}.",
                             "Take method='auto', whose steps keep to a tolerance.",
                             method=kind.name)  # fmt: skip
