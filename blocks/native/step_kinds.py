"""How does a step differ between the explicit and the implicit method? Compiled.

All that runs, searches and reads steps asks here, and does not know the method. The implicit one
is taken where the code has derivatives.
"""

from __future__ import annotations

from ..numerics.arrays import Indices, Vector
from .functions import machine_code
from .rosenbrock import ROOT as ROOT_IMPLICIT
from .rosenbrock import take_rosenbrock_stages
from .signatures import run_code
from .stages import EXTENSION, NEW, ROOT
from .steps import Code, Workspace, settle_at, slope_at, take_stages

__all__ = ["arrive", "root_of", "take_step", "values_inside"]


@machine_code
def root_of(code: Code) -> float:
    """1 / order of the method."""
    return ROOT if code.linear == 0 else ROOT_IMPLICIT


@machine_code
def take_step(code: Code, work: Workspace, t: float, h: float, x: Vector, again: bool,
              counts: Indices) -> None:
    """The stages of a step, and its end in the row of the new point.

    A step is taken ``again`` from the same point where another length was too long.
    """
    counts[2] += 6
    if code.linear == 0:
        take_stages(code, work, t, h, x)
        return
    counts[2] -= 1
    counts[3] += 0 if again else 1
    counts[4] += 1
    take_rosenbrock_stages(code, work, work.k, t, h, x, again)


@machine_code
def arrive(code: Code, work: Workspace, end: float, x: Vector, settles: bool, counts: Indices
           ) -> None:
    """Move to the end of a step, back onto its constraints; the slope there."""
    k = work.k
    x[:] = k[NEW]
    moved = False
    if code.settle != 0 and settles:
        settle_at(code, work, end, k[NEW], x)
        moved = _differ(x, k[NEW])
    if moved or code.linear != 0:
        slope_at(code, work, end, x, k[0])
        counts[2] += 1
    else:  # the last stage is the slope at the end
        k[0, :] = k[6]


@machine_code
def _differ(a: Vector, b: Vector) -> bool:
    for i in range(a.size):  # noqa: SIM110
        if a[i] != b[i]:
            return True
    return False


@machine_code
def values_inside(code: Code, work: Workspace, t: float, theta: float, h: float, x: Vector,
                  out: Vector) -> None:
    """Values at the part ``theta`` of the step from (t, x) that has just been taken.

    Of the explicit method its continuous extension. The implicit one steps over what is much
    faster than the step, and no polynomial shows that: it takes a step of that part of the
    length, which stays within the tolerance.
    """
    if code.linear == 0:
        work.step[0], work.step[1] = h, theta
        run_code(code.arithmetic[EXTENSION], x, work.k, out, work.size, work.step)
    elif theta <= 0.0:
        out[:] = x
    else:
        work.inner[0, :] = work.k[0]
        take_rosenbrock_stages(code, work, work.inner, t, theta * h, x, True)
        out[:] = work.inner[NEW]
