"""The stages of DOP853, compiled: the explicit method of order 8(5,3) by Dormand and Prince.

Twelve slopes a step, three more for its continuous extension of order 7, which are evaluated when
somebody first looks between the ends of the step, and one for the defect of that. Coefficients are
SciPy's (:func:`~blocks.native.stages.high_order_arithmetic`).

E. Hairer, S. P. Norsett and G. Wanner, "Solving Ordinary Differential Equations I", 2nd ed.,
sec. II.5 and II.6.
"""

from __future__ import annotations

import numpy as np

from ..machine.functions import machine_code
from ..machine.signatures import run_code
from ..numerics.arrays import Vector
from .stages import DEFECT, EXTENSION, FURTHER, FURTHER_ROW, INSIDE, LOOKED_AT, NEW, WITHIN, WORK
from .steps import Code, Workspace, slope_at

__all__ = ["STAGE_TIMES", "high_order_inside", "shows_what_is_between",
           "take_high_order_stages"]  # fmt: skip

#: Of stages 2 to 12, of the end, and of the stages of the extension.
STAGE_TIMES = (0.05260015195876773, 0.0789002279381516, 0.1183503419072274, 0.2816496580927726,
               1 / 3, 1 / 4, 4 / 13, 127 / 195, 3 / 5, 6 / 7, 1.0, 1.0, 1 / 10, 1 / 5, 7 / 9)
LAST, END = 10, 11  # the sum of the last stage, and of the end
EXTENSION_ROW = FURTHER_ROW + 6
LARGEST_DEFECT = 100.0  # in tolerances: smooth problems stay below


@machine_code
def take_high_order_stages(code: Code, work: Workspace, t: float, h: float, x: Vector) -> None:
    """All stages from k1 = f(t, x), and the slope at the end; the end goes into its row."""
    k = work.k
    work.step[0] = h
    work.extended[0] = 0
    for j in range(12):
        out, row, address = k[WORK], j + 1, j
        if j >= 6:
            address = FURTHER + j - 6
        if j >= 4:
            row = FURTHER_ROW + j - 4
        if j == LAST:
            row = 5
        if j == END:
            out, row = k[NEW], 6
        run_code(code.arithmetic[address], x, k, out, work.size, work.step)
        slope_at(code, work, t + STAGE_TIMES[j] * h, out, k[row])


@machine_code
def high_order_inside(code: Code, work: Workspace, t: float, theta: float, h: float, x: Vector,
                      out: Vector) -> None:
    """The continuous extension at the part ``theta`` of the step from (t, x) taken last."""
    k = work.k
    work.step[0] = h
    if work.extended[0] == 0:
        for j in range(3):
            run_code(code.arithmetic[FURTHER + 6 + j], x, k, k[INSIDE], work.size, work.step)
            slope_at(code, work, t + STAGE_TIMES[12 + j] * h, k[INSIDE], k[EXTENSION_ROW + j])
        work.extended[0] = 1
    work.step[1] = theta
    run_code(code.arithmetic[EXTENSION], x, k, out, work.size, work.step)


@machine_code
def shows_what_is_between(code: Code, work: Workspace, t: float, h: float, rtol: float, x: Vector
                          ) -> bool:
    """Whether the continuous extension satisfies the equations inside the step taken last.

    Near the limit of stability, and where a law bends within the step, its end may be right and
    the polynomial thousands of tolerances off.
    """
    k = work.k
    high_order_inside(code, work, t, LOOKED_AT, h, x, k[INSIDE])
    slope_at(code, work, t + LOOKED_AT * h, k[INSIDE], k[WITHIN])
    work.step[1] = rtol
    run_code(code.arithmetic[DEFECT], x, k, work.error, work.size, work.step)
    return np.isfinite(work.error[1]) and work.error[0] <= LARGEST_DEFECT
