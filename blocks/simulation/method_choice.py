"""Which method does a name stand for, and which one runs a model under it?"""

from __future__ import annotations

from typing import Any

import numpy as np

from .. import native
from ..exceptions import ParameterError, UnknownName, nearest, unknown_name
from ..native import COMPILED
from ..numerics.arrays import Array
from ..reading.foreign_words import method_elsewhere
from ..solvers import METHODS, Method, Step, method_named
from ..system.failure import AlgebraicFailure
from ..system.problem import Problem
from .auto import explicit_steps, why_in_python
from .settings import Settings

__all__ = ["chosen_method", "in_machine_code", "in_python", "named_method", "refuse_fixed_steps",
           "refuse_full_jacobian", "refuse_idle_step"]  # fmt: skip

EXPLICIT = "dopri5", "DOP853", "RK45", "RK23", "rk4", "euler"  # that machine code has, too
IMPLICIT = "rodas4", "backward_euler", "trapezoidal"
NAMES = "auto", *METHODS, *(n for n in COMPILED if n not in METHODS), "moreau_jean"
HOPELESS = 1e9  # entries of a full Jacobian that are refused


def chosen_method(method: str, step: object) -> tuple[type[Method] | None, str]:
    """The method that a run begins with, and why; None where the equations decide on it."""
    if method != "auto":
        return named_method(method), "chosen by the user"
    return (None, "") if step is None else (
        native.compiled_method("trapezoidal"), "a fixed step was given")


def named_method(method: str) -> type[Method]:
    """The method of a name."""
    name = str(method).lower()
    if name == "moreau_jean":
        from ..native.moreau_jean import MoreauJean

        return MoreauJean
    compiled = next((known for known in COMPILED if known.lower() == name), "")
    if compiled and (native.is_installed() or compiled not in ("dopri5", "RK45", "RK23", "rodas4")):
        return native.compiled_method(compiled)
    try:
        return method_named("DOP853" if compiled and compiled != "rodas4" else method)
    except UnknownName:
        raise unknown_method("simulate(method=…)", method) from None


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


def refuse_full_jacobian(problem: Problem, name: str) -> None:
    """An implicit method that would need a matrix larger than the memory."""
    n = problem.size
    if problem.algebraic and n * (n + problem.algebraic) > HOPELESS:
        raise ParameterError(
            "simulate(method=…)", f"{name!r} would need a full Jacobian of {n:,} x {n:,} entries "
            f"({8e-9 * n * n:.3g} GB): every state acts on every other through "
            f"{problem.algebraic:,} algebraic unknowns.",
            "Take method='rodas4', which keeps them as unknowns, or an explicit one like 'ode45'.",
            method=name, states=n, algebraic=problem.algebraic,
        )  # fmt: skip


def refuse_fixed_steps(kind: type[Method], problem: Problem) -> None:
    """Refuse fixed steps, which machine code alone takes, of a model that it cannot run."""
    reason = kind.name in COMPILED and kind.fixed_step and problem.size and why_in_python(
        problem, kind.implicit)
    if reason:
        raise ParameterError(f"simulate(method={kind.name!r})", f"cannot run this model: {reason}.",
                             "Take method='auto', whose steps keep to a tolerance.",
                             method=kind.name)  # fmt: skip


def in_machine_code(kind: type[Method], problem: Problem, settings: Settings
                    ) -> tuple[type[Method], str]:
    """Return a method as machine code, if that can run a problem; else in Python, and why.

    Where nothing is integrated all that choose their steps are one.
    """
    if not problem.size and not kind.fixed_step:
        reason = why_in_python(problem)
        return (Quasistatic if reason else explicit_steps(settings.rtol)), reason
    if kind.name == "moreau_jean":
        return native.compiled_steps(problem) or kind, ""
    if kind.name not in EXPLICIT + IMPLICIT:
        return kind, ""
    reason = why_in_python(problem, kind.implicit)
    return (in_python(kind, problem), reason) if reason else (native.compiled_method(kind.name), "")


def in_python(kind: type[Method], problem: Problem) -> type[Method]:
    """A method in Python that takes the place of one in machine code."""
    if not problem.size:
        return Quasistatic
    return method_named("rodas4" if kind.implicit else "DOP853")


class Quasistatic(Method):
    """A model without states: its steps are as long as they may be."""

    name, order = "quasistatic", 1
    problem: Problem

    def __init__(self, problem: Problem, t: float, y: Array, **options: Any) -> None:
        super().__init__(problem, t, y, **options)
        self.h = self.max_step or np.inf

    def restart(self, t: float, y: Array) -> None:
        self.t, self.y = t, y

    def advance(self, t_stop: float) -> Step:
        old, self.t = self.t, t_stop if self.t + 1.5 * self.h >= t_stop else self.t + self.h
        self.work.steps += 1
        try:
            self.problem.solve(self.t, self.y)
        except AlgebraicFailure as failure:
            self.problem.failure = failure
            return Step.failed(old, self.y, str(failure))
        return Step(old, self.t, self.y, lambda t: np.zeros((0, *np.shape(t))))
