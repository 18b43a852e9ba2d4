"""Logic on signals: 1 is true, 0 is false, and anything above 0.5 counts as true."""

from __future__ import annotations

from functools import reduce
from operator import and_, or_

from blocks import Component, Input, Option, Output, where

__all__ = ["And", "Compare", "Not", "Or"]


class Compare(Component):
    """Whether one signal is greater or smaller than another.

    Equation: y = 1 while u1 relation u2 holds, else 0; switched at the located instant.

    Equality of signals that change continuously has no duration, so there is no "==".
    Ports: inputs u1 and u2, output y.
    """

    relation = Option(">", choices=[">", ">=", "<", "<="], doc="How u1 compares with u2")
    unit = Option("1", doc="Unit of both inputs")
    u1 = Input(lambda c: c.unit)
    u2 = Input(lambda c: c.unit)
    y = Output()

    def equations(self):
        condition = {">": self.u1 > self.u2, ">=": self.u1 >= self.u2, "<": self.u1 < self.u2,
                     "<=": self.u1 <= self.u2}[self.relation]
        yield self.y == where(condition, 1, 0)


class And(Component):
    """True while all inputs are.

    Ports: inputs u1, u2, ..., output y.
    """

    inputs = Option(2, minimum=1, doc="Number of inputs")
    u = Input(lambda c: [""] * c.inputs)
    y = Output()

    _join = staticmethod(and_)

    def equations(self):
        yield self.y == where(reduce(self._join, [u > 0.5 for u in self.u]), 1, 0)


class Or(And):
    """True while any input is; else as :class:`And`."""

    _join = staticmethod(or_)


class Not(Component):
    """True while the input is false. Ports: input u, output y."""

    u = Input()
    y = Output()

    def equations(self):
        yield self.y == where(self.u > 0.5, 0, 1)
