"""In which units do the elements of a network weigh the same?

Behind ten gears of ratio 5 the same motion is ten million times slower, and the same power a
torque ten million times as large: what is small there is large here, and no tolerance that
compares elements says anything. So effort and flow of an element are counted in units of its own,
such that its own rate per effort D_ii is about that of all others; their product stays the power.
Units are powers of two, which leave every digit as it is.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import casadi as ca
import numpy as np

from ...language.lookup import jacobian
from ...numerics.arrays import Array
from ...numerics.tolerances import TERMS_ROUNDING

if TYPE_CHECKING:
    from .elements import Elements
    from .law_functions import LawExpressions

__all__ = ["effort_units"]


def effort_units(elements: Elements, laws: LawExpressions) -> Array:
    """What one of each effort is, at the parameters that the model has at present.

    Of elements whose own rate is not known before the run it is 1; so it is beside contacts, whose
    gaps are compared with positions.
    """
    system, units = laws.system, np.ones(elements.size)
    if elements.contact.any() or system.nz:
        return units
    columns = elements.column.tolist()
    push = jacobian(system.tape.slope, system.tape.u)[:, columns]
    terms = jacobian(laws.flow, system.tape.x).T * push  # of D's diagonal, state by state
    own, size = ca.sum1(terms).T, ca.sum1(ca.fabs(terms)).T
    known = ca.Function("own_rates", [system.tape.p], [ca.densify(own), ca.densify(size)],
                        {"allow_free": True})
    if known.get_free():
        return units
    rate, terms_of = (np.abs(np.array(v)).ravel() for v in known(system.parameters()))
    live = np.isfinite(rate) & (rate > TERMS_ROUNDING * terms_of)
    if live.any():
        power = np.zeros(len(rate))
        power[live] = np.round(np.log2(rate[live]) / 2)
        units[live] = 2.0 ** (np.median(power[live]).round() - power[live])
    return units
