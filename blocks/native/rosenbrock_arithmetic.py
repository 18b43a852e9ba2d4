"""The coefficients of RODAS, and its arithmetic over all unknowns as machine code.

A Rosenbrock method of order 4(3) with six stages, stiffly accurate and L-stable [E. Hairer and
G. Wanner, "Solving Ordinary Differential Equations II", 2nd ed., sec. IV.7 and IV.10, the method of
their code RODAS]. For x' = f(t, x), J = df/dx, and U_i the stages in its transformed form::

    (1/(gamma h) - J) U_i = f(t + c_i h, x + sum_j a_ij U_j) + sum_j C_ij U_j / h + d_i h df/dt
    new = x + sum_j a_5j U_j + U_5 + U_6, and U_6 is the error

The rows of ``k`` (:data:`~blocks.native.stages.ROWS`) hold f(t, x) and then U_1 to U_6.
"""

from __future__ import annotations

from functools import cache

from ..numerics.arrays import Indices
from .stages import addresses

__all__ = ["BETWEEN", "BETWEEN_TIMES_S", "COUPLINGS", "GAMMA", "POINTS", "STAGE_TIMES",
           "TIME_WEIGHTS", "rosenbrock_arithmetic"]  # fmt: skip

GAMMA = 0.25
STAGE_TIMES = (0.386, 0.21, 0.63, 1.0, 1.0)  # of stages 2 to 6
TIME_WEIGHTS = (0.25, -0.1043, 0.1035, -0.03620000000000023, 0.0, 0.0)
#: Rows of a_ij for stages 2 to 6, and for the new point.
FOURTH = (3.314825187068521, 2.896124015972201, 0.9986419139977817)
FIFTH = (1.221224509226641, 6.019134481288629, 12.53708332932087, -0.6878860361058950)
POINTS = ((1.544,), (0.9466785280815826, 0.2557011698983284), FOURTH, FIFTH, (*FIFTH, 1.0),
          (*FIFTH, 1.0, 1.0))
#: Rows of C_ij for stages 2 to 6, one after the other.
COUPLINGS = (
    -5.6688,
    -2.430093356833875, -0.2063599157091915,
    -0.1073529058151375, -9.594562251023355, -20.47028614809616,
    7.496443313967647, -10.24680431464352, -33.99990352819905, 11.70890893206160,
    8.083246795921522, -7.981132988064893, -31.52159432874371, 16.31930543123136,
    -6.058818238834054,
)  # fmt: skip
#: The polynomial between the ends of a step [subroutine CONTRO of RODAS]: with s the part of it,
#: x (1 - s) + s (new + (1 - s) (c + s d)), and c and d the sums of the stages 1 to 5 by these.
BETWEEN = (10.12623508344586, -7.487995877610167, -34.80091861555747, -7.992771707568823,
           1.025137723295662)
BETWEEN_TIMES_S = (-0.6762803392801253, 6.087714651680015, 16.43084320892478, 24.76722511418386,
                   -6.594389125716872)


@cache
def rosenbrock_arithmetic() -> Indices:
    """Addresses as :func:`blocks.native.stages.arithmetic` has them for the explicit pair."""
    sums = [(0.0, *row) for row in POINTS]  # the first row is f(t, x)
    return addresses(sums, (0.0,) * 6 + (1.0,), 0, per_time=False)
