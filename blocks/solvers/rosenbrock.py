"""Coefficients of Rodas4P, whose steps :mod:`blocks.native.rosenbrock` takes.

A Rosenbrock method of order 4(3) with six stages, stiffly accurate and L-stable, of the family of
RODAS [E. Hairer and G. Wanner, "Solving Ordinary Differential Equations II", 2nd ed., sec. IV.7 and
IV.10], with the coefficients of G. Steinebach ["Order-reduction of ROW-methods for DAEs and method
of lines applications", preprint 1741, TH Darmstadt, 1995]. They keep the order where what is fast
is driven, as a ladder or a rectifier by its source, where those of RODAS fall to less than 2. For
y' = f(t, y), J = df/dy, and U_i the stages in its transformed form::

    (1/(gamma h) - J) U_i = f(t + c_i h, y + sum_j a_ij U_j) + sum_j C_ij U_j / h + d_i h df/dt
    new = y + sum_j a_5j U_j + U_5 + U_6, and U_6 is the error
"""

from __future__ import annotations

__all__ = ["BETWEEN", "BETWEEN_TIMES_S", "COUPLINGS", "GAMMA", "POINTS", "STAGE_TIMES",
           "TIME_WEIGHTS"]  # fmt: skip

GAMMA = 0.25
STAGE_TIMES = (0.75, 0.21, 0.63, 1.0, 1.0)  # of stages 2 to 6
TIME_WEIGHTS = (0.25, -0.5, -0.023504, -0.0362, 0.0, 0.0)
#: Rows of a_ij for stages 2 to 6, and for the new point.
FOURTH = (2.304376582692669, -0.05249275245743001, -1.176798761832782)
FIFTH = (-7.170454962423024, -4.741636671481785, -16.31002631330971, -1.062004044111401)
POINTS = ((3.0,), (1.831036793486759, 0.4955183967433795), FOURTH, FIFTH, (*FIFTH, 1.0),
          (*FIFTH, 1.0, 1.0))
#: Rows of C_ij for stages 2 to 6.
COUPLINGS = (
    (-12.0,), (-8.791795173947035, -2.207865586973518),
    (10.81793056857153, 6.780270611428266, 19.5348594464241),
    (34.19095006749676, 15.49671153725963, 54.7476087596413, 14.16005392148534),
    (34.62605830930532, 15.30084976114473, 56.99955578662667, 18.40807009793095,
     -5.714285714285717),
)  # fmt: skip
#: The polynomial between the ends of a step: with s the part of it,
#: x (1 - s) + s (new + (1 - s) (c + s d)), and c and d the sums of the stages 1 to 5 by these.
BETWEEN = (25.09876703708589, 11.62013104361867, 28.49148307714626, -5.664021568594133, 0.0)
BETWEEN_TIMES_S = (1.638054557396973, -0.7373619806678748, 8.47791821923899, 15.9925314877952,
                   -1.882352941176471)
