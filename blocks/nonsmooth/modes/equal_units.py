"""In which units do the elements of a network weigh the same?

Behind ten gears of ratio 5 the same motion is ten million times slower, and the same power a
torque ten million times as large: what is small there is large here, and no tolerance that
compares elements says anything. So effort and flow of an element are counted in units of its own,
such that its own rate per effort D_ii is about that of all others; their product stays the power.
Units are powers of two, which leave every digit as it is.
"""

from __future__ import annotations

import casadi as ca
import numpy as np

from ...language.lookup import jacobian
from ...numerics.arrays import Array
from ...numerics.tolerances import TERMS_ROUNDING
from .elements import Elements
from .law_expressions import LawExpressions

__all__ = ["effort_units"]


def effort_units(elements: Elements, laws: LawExpressions) -> Array:
    """What one of each effort is, at the parameters that the model has at present.

    Of elements whose own rate is not known before the run it is 1; so it is beside contacts, whose
    gaps are compared with positions.
    """
    tape, units = laws.system.tape, np.ones(elements.size)
    if elements.size < 2 or elements.contact.any():
        return units
    matrices = [laws.flow_x, laws.slope_u, *(jacobian(given, by) for given, by in (
        (tape.slope, tape.z), (tape.residual, tape.u), (tape.residual, tape.z)))]
    known = ca.Function("matrices", [tape.p], matrices, {"allow_free": True})
    if known.get_free():
        return units
    flow_x, push, by_z, by_u, loops = known(laws.system.parameters())
    if laws.system.nz:  # unknowns of loops follow along
        push -= ca.mtimes(by_z, ca.solve(loops, by_u))
    terms = flow_x.T * push[:, elements.column.tolist()]  # of D's diagonal, state by state
    own, size = (np.abs(np.array(ca.densify(ca.sum1(m))).ravel()) for m in (terms, ca.fabs(terms)))
    live = np.isfinite(own) & (own > TERMS_ROUNDING * size)
    if live.any():
        power = np.zeros(len(own))
        power[live] = np.round(np.log2(own[live]) / 2)
        units[live] = 2.0 ** (np.round(np.median(power[live])) - power[live])
    return units
