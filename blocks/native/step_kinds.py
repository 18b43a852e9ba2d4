"""How does a step differ between explicit and implicit methods? Compiled.

All that runs, searches and reads steps asks here, and does not know the method.
"""

from __future__ import annotations

import numpy as np

from ..machine.functions import machine_code
from ..machine.signatures import run_code
from ..numerics.arrays import Indices, Vector
from .high_order import high_order_inside, take_high_order_stages
from .newton_steps import take_newton_step
from .rosenbrock import error_at_end, rosenbrock_polynomial, take_rosenbrock_stages
from .stages import ATOL, EXTENSION, NEW
from .step_control import next_step
from .steps import (
    HIGH_ORDER,
    IMPLICIT,
    ROOTS,
    Code,
    Workspace,
    are_finite,
    by_newton,
    first_stage,
    is_explicit,
    is_fixed,
    project_at,
    slope_at,
    take_stages,
)

__all__ = ["about_inside", "arrive", "following_step", "root_of", "take_step",
           "values_inside"]  # fmt: skip


@machine_code
def root_of(code: Code) -> float:
    """1 / order of the method."""
    return ROOTS[code.kind]


@machine_code
def following_step(code: Code, h: float, proposed: float, error: float, old_error: float,
                   rejected: bool) -> float:
    """The step after one that was accepted, as :func:`~blocks.native.step_control.next_step`."""
    if is_fixed(code):
        return proposed
    return next_step(h, proposed, error, old_error, rejected, root_of(code))


@machine_code
def take_step(code: Code, work: Workspace, t: float, h: float, x: Vector, again: bool,
              counts: Indices) -> None:
    """The stages of a step, and its end in the row of the new point.

    A step is taken ``again`` from the same point where another length was too long.
    """
    if code.kind == HIGH_ORDER:
        counts[2] += 12
        take_high_order_stages(code, work, t, h, x)
        return
    if is_explicit(code):
        counts[2] += 6 - first_stage(code)
        take_stages(code, work, t, h, x)
        return
    if by_newton(code):
        take_newton_step(code, work, t, h, x, counts)
        return
    counts[3] += 0 if again else 1
    counts[2] += 5
    counts[4] += 1
    take_rosenbrock_stages(code, work, work.k, t, h, x, again)


@machine_code
def arrive(code: Code, work: Workspace, end: float, x: Vector, projects: bool, goes_on: bool,
           counts: Indices) -> None:
    """Move to the end of a step, back onto its constraints; the slope there, if it ``goes_on``.

    The last stage is the slope at the end, unless the end is moved.
    """
    k = work.k
    x[:] = k[NEW]
    moved = False
    if code.project != 0 and projects:
        project_at(code, work, end, k[NEW], x)
        for i in range(x.size):  # slopes do not follow from what is carried along
            moved |= x[i] != k[NEW, i] and k[ATOL, i] < np.inf
    if not moved:
        k[0, :] = k[6]
    elif goes_on or is_explicit(code):
        slope_at(code, work, end, x, k[0])
        counts[2] += 1


@machine_code
def values_inside(code: Code, work: Workspace, t: float, theta: float, h: float, x: Vector,
                  out: Vector) -> None:
    """Values at the part ``theta`` of the step from (t, x) that has just been taken.

    Of explicit methods their continuous extension. The implicit one steps over what is much
    faster than the step, and no polynomial shows that: it takes a step of that part of the
    length, which stays within the tolerance; the polynomial where one of its stages comes to a
    point at which loops have no solution, as the step itself did not.
    """
    if code.kind == HIGH_ORDER:
        high_order_inside(code, work, t, theta, h, x, out)
    elif is_explicit(code) or by_newton(code):
        work.step[0], work.step[1] = h, theta
        run_code(code.arithmetic[EXTENSION], x, work.k, out, work.size, work.step)
    elif theta <= 0.0:
        out[:] = x
    else:
        work.inner[0, :] = work.k[0]
        take_rosenbrock_stages(code, work, work.inner, t, theta * h, x, True)
        error_at_end(code, work, work.inner, t, theta * h, x)
        out[:] = work.inner[NEW]
        if not are_finite(out):
            rosenbrock_polynomial(work.k, theta, x, out)


@machine_code
def about_inside(code: Code, work: Workspace, t: float, theta: float, h: float, x: Vector,
                 out: Vector) -> bool:
    """About the same, cheaply; whether it was less than the values themselves."""
    if code.kind == IMPLICIT:
        rosenbrock_polynomial(work.k, theta, x, out)
        return True
    values_inside(code, work, t, theta, h, x, out)
    return False
