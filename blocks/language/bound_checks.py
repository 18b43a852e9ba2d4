"""Does what is given for a parameter stay within its bounds, however it varies?

A function is enclosed in interval arithmetic, for all times and between all points of its tables.
What leaves a bound at such a point is refused before a run; what stays within them for sure needs
no look in it.
"""

from __future__ import annotations

from collections.abc import Iterator

import casadi as ca
import numpy as np

from ..numerics.arrays import Array
from ..numerics.intervals import Bounds, enclosed
from ..units import from_si
from .declarations import BOUNDS, Parameter
from .expression import TIME, Expression
from .kernel import Kernel
from .statements import Requirement

__all__ = ["bounds_to_watch"]

#: Of the declared unit: by so much a function may miss a bound that it is allowed to come to.
ROUNDING = 1e-9
#: Of the default: so near to a bound that is not allowed a run stops, since no step ends on it.
NEAR = 1e-12
FAR = 1e15  # s: further than any run goes; what never ends has no product with nothing


def bounds_to_watch(kernel: Kernel, declared: Parameter, value: ca.SX, where: str
                    ) -> Iterator[Requirement]:
    """What a run must look at, so that a function given for a parameter keeps its bounds.

    ``value`` is what the function gives, in SI units; a ParameterError says where, in ``where``
    (component and parameter), it leaves a bound at a point of a table of time.
    """
    for entry in (value[i] for i in range(value.numel() if declared.bounds else 0)):
        yield from _of_number(kernel, declared, entry, where)


def _of_number(kernel: Kernel, declared: Parameter, value: ca.SX, where: str
               ) -> Iterator[Requirement]:
    """Yield what a run must look at, so that one number keeps the bounds of its parameter."""
    pieces, points, instants = _enclosures(kernel, value)
    for word, bound in declared.bounds.items():
        kind, relation = BOUNDS[word]
        rounding = ROUNDING * declared.unit.factor
        near = NEAR * float(np.abs(declared.default - bound).min())
        loose = bound + {"minimum": -rounding, "maximum": rounding}.get(word, 0.0)
        limit = loose + {"above": near, "below": -near}.get(word, 0.0)
        worst, best = (0, 1) if word in ("minimum", "above") else (1, 0)
        for k in np.flatnonzero(~relation(points[best], loose))[:1]:
            number = float(points[best][k])
            declared.keep_bounds(number, f"{from_si(number, declared.unit):.6g~C} at "
                                 f"{instants[k]:.6g} s", where)
        if not relation(pieces[worst], loose).all():
            yield Requirement(
                relation(Expression(value, declared.unit.dimension),
                         Expression(ca.SX(limit), declared.unit.dimension)),
                f"{declared.name} is no longer {kind} {from_si(bound, declared.unit):~P}, by the "
                "function given for it. Limit the function, with maximum() or minimum(), to where "
                "it holds.")  # fmt: skip


def _enclosures(kernel: Kernel, value: ca.SX) -> tuple[Bounds, Bounds, Array]:
    """Bounds of a value between the points of its tables of time, bounds at these, and when."""
    symbols = ca.symvar(value)
    function = ca.Function("given", symbols, [value])
    free = {s.__hash__() for s in symbols}
    tables = [table for table in kernel.tables
              if any(kernel.symbols[i, 0].__hash__() in free for i in table.row)]
    times = np.unique(np.concatenate([np.zeros(0), *(table.starts for table in tables)]))
    times = times[np.isfinite(times)]
    conditions = {s.__hash__() for s in kernel.relation_symbols}

    def bounds(start: Array, end: Array, row_from: Array) -> Bounds:
        known = {kernel.symbols[i, 0].__hash__(): (row, row) for table in tables
                 for i, row in zip(table.row, table(row_from), strict=True)}
        known |= dict.fromkeys(conditions, (np.zeros(1), np.ones(1)))
        known[TIME.__hash__()] = start, end
        anything = np.full(1, -np.inf), np.full(1, np.inf)
        low, high = enclosed(function, [known.get(s.__hash__(), anything) for s in symbols])
        return np.broadcast_to(low, start.shape), np.broadcast_to(high, start.shape)

    start, end = np.append(-FAR, times), np.append(times, FAR)
    twice = np.append(times, times)  # where a piece starts, and where the one before it ends
    return (bounds(start, end, start), bounds(twice, twice, np.append(times, start[:-1])), twice)
