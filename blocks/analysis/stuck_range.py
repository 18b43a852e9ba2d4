"""Between which values of an input does everything stay stuck that is?

What can move follows slowly: it rests for the present value, whatever it does at the point that is
given.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from ..exceptions import ParameterError
from ..units import from_si
from .derivatives import derivatives_of, elements_of_system
from .equilibrium import Equations
from .loads import follow_slowly, interval, limits_of
from .point import Point, point_of
from .reduction import reduce
from .signals import signals_of
from .wishes import Wishes

if TYPE_CHECKING:
    from ..model import Model

__all__ = ["stuck_range"]

WHERE = "stuck_range()"
TOLD = 6


def stuck_range(model: Model, path: str, at: Any) -> tuple[Any, Any]:
    """See :meth:`blocks.Model.stuck_range`."""
    point = point_of(model, at)
    signal = signals_of(point.system).input(path, WHERE)
    if elements_of_system(point.system) is None or not (point.modes == 0).any():
        raise ParameterError(WHERE, "nothing sticks here.", "Exact friction sticks: "
                             "law='coulomb' or 'stribeck'; give at=… a point at rest.",
                             code="analysis.modes")  # fmt: skip
    point = _at_rest(point)
    at_point = derivatives_of(point.system, [signal], []).at(point)
    by_state = follow_slowly(reduce(point, at_point))
    if not np.isfinite(by_state).all():
        raise ParameterError(WHERE, f"{path} accelerates something that is free: there "
                             "is no equilibrium for it.", "Hold it by a spring or friction.",
                             code="analysis.conflict")  # fmt: skip
    low, high, *_ = interval(limits_of(point, at_point, by_state), 0)
    present = signal.sign * float(point.p[signal.place])
    return from_si(present + low, signal.unit), from_si(present + high, signal.unit)


def _at_rest(point: Point) -> Point:
    """Where everything rests in the modes of a point."""
    equations = Equations(point.system, Wishes(), at_rest=True)
    solution = equations.solve(equations.with_sources(point))
    if solution.met:
        return solution.point
    missed = [equations.soft[int(k)] for k in np.flatnonzero(solution.missed)[:TOLD]]
    raise ParameterError(WHERE, f"{' and '.join(missed) or 'rest'} is not possible in the modes at "
                         f"{point.title}.", "Hold what moves by a spring or friction, or give "
                         "at=model.operating_point(…).", code="analysis.conflict")  # fmt: skip
