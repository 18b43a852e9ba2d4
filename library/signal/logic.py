"""Logic on signals: 1 is true, 0 is false, and anything above 0.5 counts as true."""

from functools import reduce
from operator import and_, or_

from blocks import Component, Input, Option, Output, where


class Compare(Component):
    """Whether one signal is greater or smaller than another.

    Equation: y = 1 while u1 relation u2 holds, else 0; switched at the located instant.

    Equality of signals that change continuously has no duration, so there is no "==".
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
    """True while all inputs are: y = 1 where each of u1, u2, ... is above 0.5, else 0."""

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
    """True while the input is false: y = 0 where u is above 0.5, else 1."""

    u = Input()
    y = Output()

    def equations(self):
        yield self.y == where(self.u > 0.5, 0, 1)
