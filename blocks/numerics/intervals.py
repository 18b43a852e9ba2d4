"""Within which bounds does an expression stay while its arguments stay within theirs?

Interval arithmetic on the operations of a CasADi function, for many intervals at once: what is
returned encloses every value, so nothing between two points is overlooked. Where one quantity
occurs twice in an expression the bounds are wider than need be, the less so the narrower the
intervals are. Knows expressions only.

References
----------
R. E. Moore, R. B. Kearfott and M. J. Cloud, "Introduction to Interval Analysis", SIAM, 2009.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import TypeAlias

import casadi as ca
import numpy as np
from numpy.typing import ArrayLike

from .arrays import Array
from .rewriting import instructions

__all__ = ["BOUNDED", "Bounds", "enclosed", "enclosure"]

Bounds: TypeAlias = tuple[Array, Array]  # lower and upper ends
ONE = np.ones(1)


def enclosure(op: int, *operands: Bounds) -> Bounds:
    """Bounds of the result of one of the operations ``BOUNDED``."""
    with np.errstate(all="ignore"):
        if op in _INCREASING:
            low, high = operands[0]
            return _INCREASING[op](low), _INCREASING[op](high)
        return _RULES[op](*operands)


def enclosed(function: ca.Function, arguments: Sequence[Bounds]) -> Bounds:
    """Bounds of a function of numbers that gives one; endless where nothing is known."""
    known: dict[int, Bounds] = {}
    anything = np.full(1, -np.inf), np.full(1, np.inf)
    for op, given, (out, *_), k in instructions(function):
        if op == ca.OP_OUTPUT:
            return known[given[0]]
        if op == ca.OP_CONST:
            known[out] = (np.full(1, function.instruction_constant(k)),) * 2
        elif op == ca.OP_INPUT:
            known[out] = arguments[given[0]]
        elif op in BOUNDED:
            low, high = enclosure(op, *(known[i] for i in given))
            known[out] = (np.where(np.isnan(low), -np.inf, low),
                          np.where(np.isnan(high), np.inf, high))
        else:
            known[out] = anything
    return anything


def _hull(first: Array, *others: Array) -> Bounds:
    low = high = first  # one by one: they would be copied to be reduced together
    for one in others:
        low, high = np.minimum(low, one), np.maximum(high, one)
    return low, high


def _corners(rule: Callable[[Array, Array], Array], a: Bounds, b: Bounds) -> Bounds:
    """Between which values an operation stays that is monotonic in both of its operands."""
    ends = [(x, y) for x in _ends(a) for y in _ends(b)]
    return _hull(*(rule(x, y) for x, y in ends))


def _ends(a: Bounds) -> tuple[Array, ...]:
    """Both ends; one of what is known."""
    return a[:1] if a[0] is a[1] else a


def _product(a: Bounds, b: Bounds) -> Bounds:
    low, high = _corners(np.multiply, a, b)
    if not np.isnan(low.sum()):
        return low, high
    return np.where(np.isnan(low), -np.inf, low), np.where(np.isnan(high), np.inf, high)


def _quotient(a: Bounds, b: Bounds) -> Bounds:
    through = (b[0] <= 0) & (b[1] >= 0)
    low, high = _corners(np.divide, a, b)
    return np.where(through, -np.inf, low), np.where(through, np.inf, high)


def _even(rule: Callable[[Array], Array], a: Bounds) -> Bounds:
    """Return the bounds of a square or a magnitude, which is least at zero."""
    through = (a[0] < 0) & (a[1] > 0)
    low, high = _hull(rule(a[0]), rule(a[1]))
    return np.where(through, 0.0, low), high


def _power(a: Bounds, b: Bounds) -> Bounds:
    low, high = _corners(np.power, a, b)
    through = (a[0] < 0) & (a[1] > 0)  # an even power has its least value between
    low = np.where(through & (low > 0), 0.0, low)
    pole = (a[0] <= 0) & (a[1] >= 0) & (b[0] < 0)
    return np.where(pole, -np.inf, low), np.where(pole, np.inf, high)


def _sine(a: Bounds, shift: float = 0.0) -> Bounds:
    """sin(a + shift), which is 1 at pi/2 + 2 pi k and -1 at -pi/2 + 2 pi k."""
    low, high = _hull(np.sin(a[0] + shift), np.sin(a[1] + shift))
    turns = (a[0] + shift) / (2 * np.pi), (a[1] + shift) / (2 * np.pi)
    top = np.ceil(turns[0] - 0.25) <= np.floor(turns[1] - 0.25)
    bottom = np.ceil(turns[0] + 0.25) <= np.floor(turns[1] + 0.25)
    return np.where(bottom, -1.0, low), np.where(top, 1.0, high)


def _tangent(a: Bounds) -> Bounds:
    pole = np.ceil(a[0] / np.pi - 0.5) <= np.floor(a[1] / np.pi - 0.5)
    return np.where(pole, -np.inf, np.tan(a[0])), np.where(pole, np.inf, np.tan(a[1]))


def _remainder(a: Bounds, b: Bounds) -> Bounds:
    same = (np.trunc(a[0] / b[0]) == np.trunc(a[1] / b[0])) & (b[0] == b[1])
    size = np.maximum(np.abs(b[0]), np.abs(b[1]))
    return (np.where(same, np.fmod(a[0], b[0]), np.where(a[0] < 0, -size, 0.0)),
            np.where(same, np.fmod(a[1], b[0]), np.where(a[1] > 0, size, 0.0)))


def _truth(surely: ArrayLike, perhaps: ArrayLike) -> Bounds:
    return np.asarray(surely, dtype=float), np.asarray(perhaps, dtype=float)


def _if_else_zero(condition: Bounds, value: Bounds) -> Bounds:
    always, never = condition[0] * condition[1] != 0, (condition[0] == 0) & (condition[1] == 0)
    low = np.where(always, value[0], np.minimum(value[0], 0.0))
    high = np.where(always, value[1], np.maximum(value[1], 0.0))
    return np.where(never, 0.0, low), np.where(never, 0.0, high)


_INCREASING: dict[int, Callable[[Array], Array]] = {
    ca.OP_ASSIGN: lambda a: a, ca.OP_TWICE: lambda a: 2 * a, ca.OP_EXP: np.exp, ca.OP_LOG: np.log,
    ca.OP_SQRT: np.sqrt, ca.OP_FLOOR: np.floor, ca.OP_CEIL: np.ceil, ca.OP_SIGN: np.sign,
    ca.OP_ASIN: np.arcsin, ca.OP_ATAN: np.arctan, ca.OP_SINH: np.sinh, ca.OP_TANH: np.tanh,
    ca.OP_ASINH: np.arcsinh, ca.OP_ACOSH: np.arccosh, ca.OP_ATANH: np.arctanh,
    ca.OP_LOG1P: np.log1p, ca.OP_EXPM1: np.expm1,
}  # fmt: skip

_RULES: dict[int, Callable[..., Bounds]] = {
    ca.OP_ADD: lambda a, b: (a[0] + b[0], a[1] + b[1]),
    ca.OP_SUB: lambda a, b: (a[0] - b[1], a[1] - b[0]), ca.OP_MUL: _product,
    ca.OP_NEG: lambda a: (-a[1], -a[0]), ca.OP_INV: partial(_quotient, (ONE, ONE)),
    ca.OP_DIV: _quotient, ca.OP_SQ: partial(_even, np.square), ca.OP_FABS: partial(_even, np.abs),
    ca.OP_POW: _power, ca.OP_CONSTPOW: _power, ca.OP_SIN: _sine,
    ca.OP_COS: lambda a: _sine(a, np.pi / 2), ca.OP_TAN: _tangent,
    ca.OP_ACOS: lambda a: (np.arccos(a[1]), np.arccos(a[0])),
    ca.OP_COSH: lambda a: (*np.cosh(_even(np.abs, a)),),
    ca.OP_FMIN: lambda a, b: (np.minimum(a[0], b[0]), np.minimum(a[1], b[1])),
    ca.OP_FMAX: lambda a, b: (np.maximum(a[0], b[0]), np.maximum(a[1], b[1])),
    ca.OP_FMOD: _remainder,
    ca.OP_LT: lambda a, b: _truth(a[1] < b[0], a[0] < b[1]),
    ca.OP_LE: lambda a, b: _truth(a[1] <= b[0], a[0] <= b[1]),
    ca.OP_EQ: lambda a, b: _truth((a[0] == a[1]) & (b[0] == b[1]) & (a[0] == b[0]),
                                  np.maximum(a[0], b[0]) <= np.minimum(a[1], b[1])),
    ca.OP_NOT: lambda a: _truth((a[0] == 0) & (a[1] == 0), a[0] * a[1] <= 0),
    ca.OP_AND: lambda a, b: _truth((a[0] * a[1] > 0) & (b[0] * b[1] > 0),
                                   ((a[0] != 0) | (a[1] != 0)) & ((b[0] != 0) | (b[1] != 0))),
    ca.OP_OR: lambda a, b: _truth((a[0] * a[1] > 0) | (b[0] * b[1] > 0),
                                  (a[0] != 0) | (a[1] != 0) | (b[0] != 0) | (b[1] != 0)),
    ca.OP_IF_ELSE_ZERO: _if_else_zero,
}  # fmt: skip

BOUNDED = frozenset(_INCREASING) | frozenset(_RULES)
