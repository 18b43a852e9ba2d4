"""Floors in the equations of a class: values that are held, and change where they jump.

A condition reads floors of time alone as they are: it is a function of time then, whose changes
are known before the run.
"""

from __future__ import annotations

from collections.abc import Callable

import casadi as ca

from ..units import dimensionless
from .expression import TIME
from .kernel import Kernel
from .readable import readable

__all__ = ["Floors"]

LAST_BITS = 16 * 2.0**-52  # of a number whose floor is taken


class Floors:
    """What stands for the floors of a class, while its equations are read.

    Its kernel takes Discrete values for them, and what assigns these; ``relation`` gives the symbol
    of a relation by its crossing function.
    """

    def __init__(self, kernel: Kernel, relation: Callable[[ca.SX, bool], ca.SX]) -> None:
        self.kernel, self.relation = kernel, relation
        self._known: dict[int, tuple[ca.SX, ca.SX]] = {}  # by hash: what stands for it, of what

    def of(self, sx: ca.SX) -> ca.SX:
        """What stands for the floor of ``sx`` until it is known whether an equation reads it."""
        if not any(s.__hash__() in (TIME.__hash__(), *self._known) or self.kernel.moving(s)
                   for s in ca.symvar(sx)):
            return ca.floor(sx)
        for symbol, of in self._known.values():
            if ca.is_equal(of, sx, 5):
                return symbol
        symbol = ca.SX.sym(f"floor{len(self._known) + 1}")
        self._known[symbol.__hash__()] = symbol, sx
        return symbol

    def hold(self, sx: ca.SX) -> None:
        """Make floors that an expression reads Discrete values, which change where they jump."""
        kernel = self.kernel
        for s in ca.symvar(sx) if self._known else ():
            if s.__hash__() not in self._known or kernel.key_of(s) is not None:
                continue
            symbol, of = self._known[s.__hash__()]
            i, _ = kernel.add_discrete(symbol.name(), dimensionless, f"floor({readable(of)})",
                                       symbol)
            self.hold(of)
            now = self.evaluated(ca.floor(of))
            if self._is_of_time(of):
                kernel.floors_of_time[i] = now
            least = LAST_BITS * (1 + ca.fabs(symbol))  # that neither undoes the other by rounding
            above = self.relation(of - symbol - 1, True)
            below = self.relation(symbol - of - least, False)
            kernel.resets.append((above, [(i, ca.fmax(symbol + 1, now))]))
            kernel.resets.append((below, [(i, ca.fmin(symbol - 1, now))]))
            kernel.samplings.append((None, None, [(i, now)]))

    def evaluated(self, sx: ca.SX) -> ca.SX:
        """An expression that is looked at in one instant: its floors are those of that."""
        return self._with(sx, lambda of: True)

    def of_time_evaluated(self, sx: ca.SX) -> ca.SX:
        """Return an expression in which floors of time alone are evaluated."""
        return self._with(sx, self._is_of_time)

    def _is_of_time(self, of: ca.SX) -> bool:
        """Whether nothing but time changes it between events."""
        return not any(map(self.kernel.moving, ca.symvar(self.evaluated(of))))

    def _with(self, sx: ca.SX, meant: Callable[[ca.SX], bool]) -> ca.SX:
        """An expression with some floors as they are at any time."""
        while inside := [(symbol, of) for s in ca.symvar(sx)
                         if (h := s.__hash__()) in self._known
                         for symbol, of in [self._known[h]] if meant(of)]:
            sx = ca.substitute(sx, ca.vertcat(*(symbol for symbol, _ in inside)),
                               ca.vertcat(*(ca.floor(of) for _, of in inside)))
        return sx
