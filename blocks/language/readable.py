"""How is an expression written so that a person can read it?

``m*der(v) == f - k*x`` rather than CasADi's ``((m*der(v))==(f-(k*x)))``. Knows
CasADi's scalar operations and nothing of models.
"""

from __future__ import annotations

import math
from collections.abc import Mapping

import casadi as ca

from ..numerics.rewriting import alternatives
from ..units import Unit, from_si
from .expression import Condition, is_guard

__all__ = ["condition_text", "crossing", "readable"]

LONGEST = 400  # characters; what is longer is cut unless a reader asks for more
DEEPEST = 60  # nested operations
RESULT_OF_CALL = -1  # what CasADi says of a result of a node that is a function

SUM, MINUS, PRODUCT, POWER, ATOM = 1, 2, 3, 4, 5  # how tightly an operation binds
_INFIX = {ca.OP_ADD: (" + ", SUM), ca.OP_SUB: (" - ", SUM), ca.OP_MUL: ("*", PRODUCT),
          ca.OP_DIV: ("/", PRODUCT), ca.OP_LT: (" < ", 0), ca.OP_LE: (" <= ", 0),
          ca.OP_EQ: (" == ", 0), ca.OP_NE: (" != ", 0), ca.OP_AND: (" & ", 0), ca.OP_OR: (" | ", 0)}
#: Of others, how they are written, how tightly what is in them has to bind, and they themselves.
_FORMS = {ca.OP_NEG: ("-{}", PRODUCT, MINUS), ca.OP_TWICE: ("2*{}", PRODUCT, PRODUCT),
          ca.OP_INV: ("1/{}", POWER, PRODUCT), ca.OP_SQ: ("{}^2", ATOM, POWER),
          ca.OP_POW: ("{}^{}", ATOM, POWER), ca.OP_CONSTPOW: ("{}^{}", ATOM, POWER),
          ca.OP_NOT: ("~({})", 0, ATOM)}
_NAMES = {ca.OP_FABS: "abs_", ca.OP_FMIN: "minimum", ca.OP_FMAX: "maximum", ca.OP_ATAN: "arctan",
          ca.OP_ASIN: "arcsin", ca.OP_ACOS: "arccos", ca.OP_ATAN2: "arctan2", ca.OP_CALL: "table"}
_NAMES |= {
    getattr(ca, name): name[3:].lower() for name in dir(ca)
    if name.startswith("OP_") and getattr(ca, name) not in _NAMES
}


def readable(sx: ca.SX, longest: int = LONGEST) -> str:
    """A scalar expression as text, cut where a part of it has more characters than ``longest``.

    Examples
    --------
    >>> x, k = ca.SX.sym("x"), ca.SX.sym("k")
    >>> readable(-k * (x - 2) ** 2 / 2)
    '-k*(x - 2)^2/2'
    """
    return _text(ca.SX(sx), {}, 0, longest)[0]


def condition_text(given: object) -> str:
    """A condition as its author wrote it, in SI units, or what stands in its place."""
    if not isinstance(given, Condition):
        return repr(given)
    if given.operator != "relation":
        parts = [f"({condition_text(one)})" for one in given.operands]
        return "~" * (given.operator == "not") + f" {given.operator} ".join(parts)
    (sx,) = given.operands
    sides = [sx.dep(0), sx.dep(1)] if sx.is_scalar() and sx.is_op(ca.OP_SUB) else [sx, ca.SX(0)]
    return f" {'>=' if given.at_zero else '>'} ".join(map(readable, sides))


def crossing(sx: ca.SX, holds: bool, known: set[int], units: Mapping[str, Unit]) -> str:
    """What has happened where an expression has become positive, or has ceased to be.

    ``known`` are hashes of symbols that are no news: parameters; ``units`` those of variables.

    Examples
    --------
    >>> x, k = ca.SX.sym("x"), ca.SX.sym("k")
    >>> crossing(k - x, True, {k.__hash__()}, {})
    'x falls below k'
    """
    left, right = sx, ca.SX(0)
    if not sx.is_constant() and not sx.is_symbolic():
        if sx.op() == ca.OP_SUB:
            left, right = sx.dep(0), sx.dep(1)
        elif sx.op() == ca.OP_ADD and sx.dep(0).is_constant():
            left, right = sx.dep(1), -sx.dep(0)
        elif sx.op() == ca.OP_NEG:
            left, right = ca.SX(0), sx.dep(0)
    up = holds
    if {s.__hash__() for s in ca.symvar(left)} <= known:
        left, right, up = right, left, not up
    verb = "rises above" if up else "falls below"
    bound = readable(right)
    if right.is_constant() and left.is_symbolic() and left.name() in units:
        own = units[left.name()]
        bound = f"{from_si(float(right), own).magnitude:.6g} {own.text}".rstrip()
    if left.is_symbolic() and left.name() == "time":
        return f"time reaches {bound}"
    return f"{readable(left)} {verb} {bound}"


def _text(sx: ca.SX, known: dict[int, tuple[str, int]], depth: int,
          longest: int) -> tuple[str, int]:
    key = sx.__hash__()
    if key not in known:
        text, binding = _written(sx, known, depth, longest) if depth < DEEPEST else ("…", ATOM)
        known[key] = (text, binding) if len(text) <= longest else (text[:longest] + "…", ATOM)
    return known[key]


def _written(sx: ca.SX, known: dict[int, tuple[str, int]], depth: int,
             longest: int) -> tuple[str, int]:
    if sx.is_constant():
        value = float(sx)
        return f"{value:.6g}", ATOM if value >= 0 else SUM
    if sx.is_symbolic():
        return sx.name(), ATOM
    operation = sx.op()
    if operation == RESULT_OF_CALL:
        return _written(sx.dep(0), known, depth, longest)
    parts = [sx.dep(i) for i in range(sx.n_dep())]
    chosen = alternatives(sx)
    if chosen is not None:
        condition = chosen[0]
        if is_guard(condition.op(), [condition.dep(i) for i in range(condition.n_dep())]):
            return _text(chosen[1], known, depth, longest)  # nobody wrote it
        inside = ", ".join(_text(p, known, depth + 1, longest)[0] for p in chosen)
        return f"where({inside})", ATOM
    texts = [_text(p, known, depth + 1, longest) for p in parts]

    def at_least(i: int, binding: int) -> str:
        text, own = texts[i]
        return text if own >= binding else f"({text})"

    if operation == ca.OP_POW and parts[0].is_constant() and float(parts[0]) == math.e:
        return f"exp({texts[1][0]})", ATOM
    if operation in _INFIX:
        word, binding = _INFIX[operation]
        right = binding + (operation in (ca.OP_SUB, ca.OP_DIV))
        if operation == ca.OP_ADD and texts[1][0].startswith("-") and texts[1][1] == MINUS:
            return f"{at_least(0, SUM)} - {texts[1][0][1:]}", SUM
        if operation in (ca.OP_AND, ca.OP_OR):  # relations in them are in brackets
            return at_least(0, SUM) + word + at_least(1, SUM), binding
        return at_least(0, binding) + word + at_least(1, right), binding
    if operation in _FORMS:
        pattern, inner, binding = _FORMS[operation]
        return pattern.format(*(at_least(i, inner) for i in range(len(texts)))), binding
    return f"{_NAMES[operation]}({', '.join(t for t, _ in texts)})", ATOM
