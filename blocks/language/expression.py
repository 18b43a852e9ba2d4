"""What does a component's law say, as symbols with dimensions?

A thin layer over CasADi's SX scalars and vectors: every operation checks dimensions once, when a
component class is traced, and never again. Knows nothing of components; a *trace* (see
:mod:`blocks.language.kernel`) is told of derivatives, relations and the place for error messages.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Iterator
from contextvars import ContextVar
from dataclasses import dataclass
from fractions import Fraction
from functools import partial, reduce
from typing import TYPE_CHECKING, Any, ClassVar, NoReturn

import casadi as ca
import numpy as np

from ..exceptions import AngleFrequencyError, EquationError, UnknownName, WrongDimension, brief
from ..numerics.rewriting import alternatives, kinds, rewritten
from ..units import (
    SECOND,
    Unit,
    as_unit,
    as_written,
    describe,
    dimensionless,
    is_quantity,
    quantity,
    refuse_counted_turns,
    to_si,
    unit_of,
)
from .source_lines import line_now

if TYPE_CHECKING:
    from ..reading.dimension import Dimension

__all__ = ["TIME", "Condition", "Equation", "Expression", "abs_", "arccos", "arcsin", "arctan",
           "arctan2", "as_condition", "as_expression", "as_time", "cos", "cosh", "current_trace",
           "delayed", "der", "exp", "floor", "held", "log", "maximum", "minimum", "mod",
           "refuse_turns", "same_dimension", "sign", "sin", "sinh", "sqrt", "tan", "tanh", "time",
           "unguarded", "where"]

TIME = ca.SX.sym("time")
PARTIAL = {ca.OP_SQRT, ca.OP_LOG, ca.OP_POW, ca.OP_CONSTPOW, ca.OP_ASIN, ca.OP_ACOS}
FINITE = 1e300  # below which a number is one

# what is reading a component's equations, if anything: a Trace, or what stands for one
current_trace: ContextVar[Any] = ContextVar("current_trace", default=None)


def reading_place() -> str:
    """Which equation of which class is being read, for messages."""
    trace = current_trace.get()
    return trace.where() if trace is not None else ""


def _reading_trace(what: str) -> Any:
    trace = current_trace.get()
    if trace is None:
        raise EquationError("", f"{what} can only be used inside a component's equations().")
    return trace


TURNS, RADIANS = "turns", "radians"
NUMBER, ANGLE = "a dimensionless expression", "an angle"  # what functions are of


class Expression:
    """A symbolic value in SI base units together with its dimension.

    What comes from Hz counts turns, what comes from rad and rad/s radians. That is known as long as
    it is only added to others, differentiated or multiplied with time: whatever else it is
    multiplied with may convert it.
    """

    __slots__ = ("counts", "dimension", "sx")
    __array_priority__ = 1000

    def __init__(self, sx: ca.SX, dimension: Dimension = dimensionless, counts: str = "") -> None:
        self.sx, self.dimension, self.counts = sx, dimension, counts

    @classmethod
    def in_unit(cls, sx: ca.SX, u: Unit) -> Expression:
        """A value in SI units that was declared or given in a unit."""
        rate = u.dimension == dimensionless / SECOND.dimension
        counts = RADIANS if u.angular and (rate or not u.dimension) else (
            TURNS if u.frequency and rate else "")
        return cls(sx, u.dimension, counts)

    # -- arithmetic ----------------------------------------------------------
    def __add__(self, other: object) -> Expression:
        return _of_alike("+", operator.add, self, other)

    def __sub__(self, other: object) -> Expression:
        return _of_alike("-", operator.sub, self, other)

    def __rsub__(self, other: object) -> Expression:
        return -self + other

    def __mul__(self, other: object) -> Expression:
        other = _as_factor(other)
        by_time = next((rate for rate, t in ((self, other), (other, self))
                        if t.sx.is_scalar() and t.sx.__hash__() == TIME.__hash__()), None)
        return Expression(self.sx * other.sx, self.dimension * other.dimension,
                          "" if by_time is None else by_time.counts)

    def __truediv__(self, other: object) -> Expression:
        other = _as_factor(other)
        return Expression(self.sx / other.sx, self.dimension / other.dimension)

    def __rtruediv__(self, other: object) -> Expression:
        return _as_factor(other) / self

    __radd__, __rmul__ = __add__, __mul__

    def __neg__(self) -> Expression:
        return Expression(-self.sx, self.dimension, self.counts)

    def __pos__(self) -> Expression:
        return self

    def __abs__(self) -> Expression:
        return Expression(ca.fabs(self.sx), self.dimension, self.counts)

    def __pow__(self, power: object) -> Expression:
        if isinstance(power, (int, float, Fraction)):
            exponent = float(power)
            base = self.sx * self.sx if power == 2 else (
                _of_clipped(lambda sx: sx**exponent, self.sx))
            return Expression(base, self.dimension**power)
        power = as_expression(power)
        if self.dimension or power.dimension:
            _refuse("it raises {} [{}] to the power {} [{}]: both must be dimensionless.", self,
                    power)
        return Expression(self.sx**power.sx)

    def __rpow__(self, base: object) -> Expression:
        return as_expression(base) ** self

    def __floordiv__(self, other: object) -> Expression:
        return floor(self / other)

    def __mod__(self, other: object) -> Expression:
        return mod(self, other)

    def __rmod__(self, other: object) -> Expression:
        return mod(other, self)

    # -- relations -----------------------------------------------------------
    def __eq__(self, other: object) -> Equation:  # type: ignore[override]
        return Equation(self, as_expression(other))

    def __ne__(self, other: object) -> NoReturn:
        raise EquationError(reading_place(), "'!=' between expressions is no statement of physics.",
                            "Use '==' for an equation. Inside where(), x != 0 is abs_(x) > 0.")

    __hash__ = object.__hash__

    def __gt__(self, other: object) -> Condition:
        return Condition.relation(self, same_dimension(other, self, ">"))

    def __ge__(self, other: object) -> Condition:
        return Condition.relation(self, same_dimension(other, self, ">="), at_zero=True)

    def __lt__(self, other: object) -> Condition:
        return Condition.relation(same_dimension(other, self, "<"), self)

    def __le__(self, other: object) -> Condition:
        return Condition.relation(same_dimension(other, self, "<="), self, at_zero=True)

    def __bool__(self) -> bool:
        raise EquationError(
            reading_place(), "an expression has no truth value while equations are being written.",
            "Use where(condition, a, b) instead of 'if', and & | ~ instead of and/or/not.")

    # -- vectors ---------------------------------------------------------------
    def __getitem__(self, index: Any) -> Expression:
        try:
            return Expression(self.sx[index], self.dimension, self.counts)
        except RuntimeError:
            shape = " x ".join(map(str, self.sx.shape if self.sx.columns() > 1 else [len(self)]))
            raise EquationError(
                reading_place(), f"it asks for entry {index} of {shape}: {self.sx}.",
                "Entries are counted from 0.") from None

    def __getattr__(self, name: str) -> NoReturn:
        if name in _ELSEWHERE:
            raise UnknownName(reading_place(), f"{self.sx} stands for all its values and has no "
                              f".{name}.", _ELSEWHERE[name], name=name)
        raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}")

    @property
    def is_number(self) -> bool:
        """Whether it depends on nothing, such as the arrays of a long table."""
        return bool(self.sx.is_constant())

    def __len__(self) -> int:
        return int(self.sx.numel())

    def __iter__(self) -> Iterator[Expression]:
        return (self[i] for i in range(len(self)))

    def __repr__(self) -> str:
        return f"<{self.sx} in {describe(self.dimension)}>"

    def __array_ufunc__(self, ufunc: Any, method: str, *inputs: object, **kwargs: object) -> object:
        function = _UFUNCS.get(ufunc.__name__)
        if method != "__call__" or kwargs or function is None:
            return NotImplemented
        return function(as_expression(inputs[0]), *inputs[1:])


_WITH_UNITS = "Calculate with it as it is, units and all; quantity('1 N') gives a number a unit."
_ELSEWHERE = {"der": "Its time derivative is der(x).", "dot": "Its time derivative is der(x).",
              "pre": "Within when() and every() it is read as it was before the instant.",
              "start": "Its start is an initial target, Variable('m', '1 m', priority='high').",
              **dict.fromkeys(("magnitude", "m", "to", "value", "units", "u"), _WITH_UNITS)}


def as_expression(value: object) -> Expression:
    """An expression from an expression, a list of such, a quantity, a text with a unit, or a
    number."""
    if isinstance(value, Expression):
        return value
    if isinstance(value, (list, tuple)) and any(isinstance(one, Expression) for one in value):
        return reduce(partial(_of_alike, "list", ca.vertcat), value)
    if is_quantity(value):
        if isinstance(value.magnitude, Expression):  # pint multiplied before we could
            u = as_unit(value.units)
            inner = value.magnitude
            if u.angular:
                refuse_counted_turns(quantity(1.0, u), u, reading_place())
            return Expression(inner.sx * u.factor, inner.dimension * u.dimension)
        u = unit_of(value)
        if u.angular:
            refuse_counted_turns(value, u, reading_place())
        given = Expression.in_unit(ca.SX(np.asarray(to_si(value, u))), u)
        if given.counts == TURNS:
            given.counts = ""  # it may have been multiplied by 2 pi already
        return given
    if isinstance(value, str):
        given = as_expression(quantity(value))
        return Expression.in_unit(given.sx, unit_of(value))
    if isinstance(value, Condition):
        raise EquationError(reading_place(), "a condition was used as a number.",
                            "Write where(condition, 1, 0).")
    if value is None:
        raise EquationError(
            reading_place(), "None is part of it, which stands for what options switch off.",
            getattr(current_trace.get(), "switched_off", "") or "Leave it out.")
    try:
        return Expression(ca.SX(np.asarray(value, dtype=float)))
    except (TypeError, ValueError):
        raise EquationError(
            reading_place(), f"{brief(value)} ({type(value).__name__}) is no part of an equation.",
            "The time of the run is another one: from blocks import time." if getattr(
                value, "__name__", "") == "time" else
            "A list has one unit: quantity([0, 1.5], 'N')." if isinstance(value, (list, tuple)) else
            "Equations are made of variables, parameters, quantities and numbers.",
        ) from None


def _as_factor(value: object) -> Expression:
    """What multiplies or divides: not a temperature that counts from a zero of its own."""
    if not isinstance(value, Expression) and (is_quantity(value) or isinstance(value, str)) and (
            unit_of(quantity(value)).offset):
        raise WrongDimension(
            reading_place(), f"{as_written(value)}, a temperature that does not count from "
            "absolute zero, multiplies or divides something.", "Give it in K; a difference of "
            "temperatures is in K or delta_degC.", given=value)
    return as_expression(value)


def _is_zero(e: Expression) -> bool:
    return bool(e.sx.is_constant() and e.sx.is_zero())


def same_dimension(other: object, mine: Expression, operation: str) -> Expression:
    """The other operand, checked to have my dimension (a literal 0 has every one)."""
    other = as_expression(other)
    if other.dimension != mine.dimension and not _is_zero(other) and not _is_zero(mine):
        verb = {"+": "adds", "-": "subtracts", "list": "lists"}.get(
            operation, f"compares ({operation})")
        _refuse(f"it {verb} {{}} [{{}}] and {{}} [{{}}]: they have different dimensions.", mine,
                other)
    refuse_turns(mine, other)
    return other


def _of_alike(word: str, function: Callable[[ca.SX, ca.SX], ca.SX], a: object, b: object
              ) -> Expression:
    """A function of two values of one dimension, which it has as well."""
    a = as_expression(a)
    b = same_dimension(b, a, word)
    return Expression(function(a.sx, b.sx), a.dimension or b.dimension, a.counts or b.counts)


def refuse_turns(*sides: Expression) -> None:
    """Raise where turns and radians meet: 1 Hz is 2 pi rad/s, and dimensions do not show it."""
    counted = {side.counts: side for side in sides}
    if TURNS in counted and RADIANS in counted:
        turns, radians = (f"{counted[kind].sx}" for kind in (TURNS, RADIANS))
        raise AngleFrequencyError(
            reading_place(), f"{turns} counts turns, in Hz, and meets {radians}, which counts "
            "radians.", f"A turn is 2 pi rad: write 2 * pi * {turns}, or declare both in one unit.")


def as_time(value: object, what: str) -> Expression:
    """A duration or instant that a statement takes, refused where it is none."""
    given = as_expression(value)
    if given.dimension != time.dimension and not _is_zero(given):
        raise WrongDimension(
            reading_place(), f"{what} is a time, but is {given.sx} [{describe(given.dimension)}].",
            "Give it with a unit, such as '10 ms'.", left="s", right=describe(given.dimension))
    return given


def _refuse(problem: str, a: Expression, b: Expression) -> NoReturn:
    """Refuse two dimensions, with what they are of and what they are in four gaps of a text."""
    left, right = describe(a.dimension), describe(b.dimension)
    bare = [f"{one.sx} {unit}" for one, unit in ((a, right), (b, left))
            if one.is_number and not one.dimension]
    raise WrongDimension(
        reading_place(), problem.format(a.sx, left, b.sx, right),
        f"Write quantity('{bare[0]}') if that is what you mean." if bare else
        "Check the units of the parameters and variables in it.", left=left, right=right)


# -- equations and conditions ----------------------------------------------------
class Statement:
    """What is to be yielded from ``equations()``; who reads these knows all that are made."""

    __slots__ = ()
    word: ClassVar[str]

    def __post_init__(self) -> None:
        made = getattr(current_trace.get(), "made", None)
        if made is not None:
            made[id(self)] = self, line_now()


class Equation(Statement):
    """``left == right``; yielded from ``equations()``."""

    __slots__ = ("left", "right")
    word = "an equation"

    def __init__(self, left: Expression, right: Expression) -> None:
        if left.dimension != right.dimension and not _is_zero(left) and not _is_zero(right):
            _refuse("the two sides of  {0} == {2}  have different units: {1} on the left, {3} on "
                    "the right.", left, right)
        refuse_turns(left, right)
        self.left, self.right = left, right
        self.__post_init__()

    def __bool__(self) -> bool:
        raise EquationError(
            reading_place(), "'==' between expressions is an equation, which has no truth value.",
            "Yield it from equations(), or use where(a > b, …) to choose between two laws.")

    def __repr__(self) -> str:
        return f"<equation {self.left.sx} == {self.right.sx}>"


@dataclass(frozen=True)
class Condition:
    """A relation, or a combination of relations by ``&``, ``|`` and ``~``."""

    operator: str  # "relation", "and", "or", "not", "constant"
    operands: tuple[Any, ...]
    at_zero: bool = False

    @staticmethod
    def relation(greater: Expression, smaller: Expression, at_zero: bool = False) -> Condition:
        """The relation; that of a magnitude as two, of which none turns back within a step."""
        for (one, other), joined in (((greater, smaller), "or"), ((smaller, greater), "and")):
            if one.sx.is_scalar() and not one.sx.is_constant() and one.sx.is_op(ca.OP_FABS):
                sides = (Expression(way * one.sx.dep(0), one.dimension) for way in (1, -1))
                return Condition(joined, tuple(
                    Condition.relation(side, other, at_zero) if one is greater
                    else Condition.relation(other, side, at_zero) for side in sides))
        return Condition("relation", (greater.sx - smaller.sx,), at_zero)

    def __and__(self, other: Condition) -> Condition:
        return Condition("and", (self, as_condition(other)))

    def __or__(self, other: Condition) -> Condition:
        return Condition("or", (self, as_condition(other)))

    def __rand__(self, other: object) -> Condition:
        return as_condition(other) & self

    def __ror__(self, other: object) -> Condition:
        return as_condition(other) | self

    def __invert__(self) -> Condition:
        return Condition("not", (self,))

    def __bool__(self) -> bool:
        raise EquationError(
            reading_place(), "a condition has no truth value while equations are being written.",
            "Use where(condition, a, b), & | ~ instead of and/or/not, and maximum(a, b), "
            "minimum(a, b) instead of max(), min(). Loops are counted: for k in range(8).")

    def with_events(self, trace: Any) -> ca.SX:
        """The condition as an SX of relations that are held constant during a step."""
        return self._combined(lambda one: trace.relation(one.operands[0], one.at_zero))

    def without_events(self) -> ca.SX:
        """The condition as an SX that is evaluated at every call."""
        return self._combined(lambda relation: relation.operands[0] >= 0 if relation.at_zero
                              else relation.operands[0] > 0)

    def _combined(self, written: Callable[[Condition], ca.SX]) -> ca.SX:
        """The combination of its relations, each as it is ``written``."""
        if self.operator == "relation":
            return written(self)
        if self.operator == "constant":
            return ca.SX(float(self.operands[0]))
        operands = [p._combined(written) for p in self.operands]
        if self.operator == "not":
            return ca.logic_not(operands[0])
        return (ca.logic_and if self.operator == "and" else ca.logic_or)(*operands)


def as_condition(value: object) -> Condition:
    if isinstance(value, Condition):
        return value
    if isinstance(value, (bool, np.bool_)):
        return Condition("constant", (bool(value),))
    if isinstance(value, Equation):
        left, right = value.left.sx, value.right.sx
        raise EquationError(reading_place(), f"{left} == {right} is an equation, no condition.",
                            f"Ask between which values it is: ({left} > …) & ({left} < …); whole "
                            f"numbers are told apart half way, {left} > 0.5.")
    raise EquationError(reading_place(), f"a condition was expected, but {value!r} was given.",
                        "Write a relation such as  v > 0.")


def where(condition: object, then: object, otherwise: object, *, events: bool = True) -> Expression:
    """``then`` where the condition holds, ``otherwise`` elsewhere.

    Each relation in the condition is a zero crossing: it is held during a step
    and switched at the located instant, so the integrator never steps over the
    jump. With ``events=False`` the condition is evaluated at every call; take
    that only for expressions that are continuous across the switch.

    Raises
    ------
    WrongDimension
        If the two alternatives have different dimensions.
    """
    condition = as_condition(condition)
    then = as_expression(then)
    otherwise = same_dimension(otherwise, then, "where")
    mode = (condition.with_events(_reading_trace("where()")) if events
            else condition.without_events())
    return Expression(ca.if_else(mode, *_guarded(then.sx, otherwise.sx)),
                      otherwise.dimension if _is_zero(then) else then.dimension,
                      then.counts or otherwise.counts)


def _guarded(then: ca.SX, otherwise: ca.SX) -> tuple[ca.SX, ca.SX]:
    """Both alternatives; where one has no value, as a root beyond its crossing, it is the other.

    A step looks beyond a crossing before that is located.
    """
    def guarded(one: ca.SX, other: ca.SX) -> ca.SX:
        symbols = ca.symvar(one)
        partial = one.numel() == 1 and symbols and not kinds(
            ca.Function("branch", symbols, [one])).isdisjoint(PARTIAL)
        if not partial:
            return one
        kernel = getattr(current_trace.get(), "kernel", None)
        if kernel is not None:
            kernel.guarded = True
        return ca.if_else(ca.fabs(one) < FINITE, one, other)

    return guarded(then, otherwise), guarded(otherwise, then)


def is_guard(kind: int, operands: list[ca.SX]) -> bool:
    """Whether an operation is a condition that only says that an alternative is a number."""
    return kind == ca.OP_LT and operands[1].is_constant() and float(operands[1]) == FINITE


def unguarded(sx: ca.SX) -> ca.SX:
    """A scalar as it is written, with no value where one of its alternatives has none."""
    return rewritten(sx, lambda *operation: ca.SX(1) if is_guard(*operation) else None)


def held(condition: object) -> Expression:
    """1 while the condition holds, else 0, switched at its zero crossing."""
    return where(condition, 1.0, 0.0)


def der(value: object) -> Expression:
    """Differentiate a variable or an expression by time (chain rule)."""
    value = as_expression(value)
    trace = _reading_trace("der()")
    return Expression(trace.derivative(value.sx), value.dimension / SECOND.dimension, value.counts)


def delayed(value: object, delay: object, *, initial: object = 0) -> Expression:
    """Return ``value`` as it was a time ``delay`` ago, exactly.

    The value is taken from the course of the run, as accurate as this is. Where it jumps
    or bends at an event, it does so again a delay later, and the run stops there. Steps
    are no longer than the shortest delay: a delay much shorter than all motion is
    expensive, and better left out or taken as a first-order lag.

    Parameters
    ----------
    value : expression
    delay : parameter, quantity or expression of parameters
        Longer than 0 s.
    initial : expression of parameters and time
        What ``value`` was before the run; 0 by default.
    """
    value = as_expression(value)
    trace = _reading_trace("delayed()")
    lag, before = as_time(delay, "the delay of delayed()"), same_dimension(initial, value, "=")
    dimension = value.dimension or before.dimension
    return Expression(trace.delayed(value.sx, lag.sx, before.sx, dimension), dimension)


def before(value: object) -> Expression:
    """Return ``value`` just before the present event, for what ``when`` asks and assigns.

    Between events it stays what it was before the last one.
    """
    value = as_expression(value)
    trace = _reading_trace("before()")
    return Expression(trace.before(value.sx, value.dimension), value.dimension)


time = Expression(TIME, SECOND.dimension)


# -- functions -----------------------------------------------------------------
def _dimensionless_function(name: str, function: Callable[[ca.SX], ca.SX], of: str = NUMBER
                            ) -> Callable[[object], Expression]:
    def apply(x: object) -> Expression:
        x = as_expression(x)
        if of == ANGLE and x.counts == TURNS:
            raise AngleFrequencyError(
                reading_place(), f"{name}() takes an angle, but {x.sx} counts turns.",
                f"A turn is 2 pi rad: write {name}(2 * pi * {x.sx}), or declare the frequency in "
                "rad/s.")
        if x.dimension:
            unit = describe(x.dimension)
            raise WrongDimension(
                reading_place(), f"{name}() takes a dimensionless value or an angle, but {x.sx} is "
                f"in {unit}.", f"Divide it by a reference value: {name}(x / x_ref).",
                left="dimensionless", right=unit)
        return Expression(function(x.sx))

    apply.__name__, apply.__doc__ = name, f"{name} of {of}."
    return apply


sin, cos, tan = (_dimensionless_function(n, getattr(ca, n), ANGLE) for n in ("sin", "cos", "tan"))
sinh, cosh, tanh = (_dimensionless_function(n, getattr(ca, n)) for n in ("sinh", "cosh", "tanh"))
exp, arctan = _dimensionless_function("exp", ca.exp), _dimensionless_function("arctan", ca.atan)


def sqrt(x: object) -> Expression:
    """Square root; halves the dimension's exponents."""
    x = as_expression(x)
    root = _of_clipped(ca.sqrt, x.sx)
    return Expression(root, x.dimension ** Fraction(1, 2) if x.dimension else x.dimension)


def _of_clipped(function: Callable[[ca.SX], ca.SX], x: ca.SX) -> ca.SX:
    """A function of ``where(c, a, b)`` or ``maximum(a, 0)``, also times anything, as that of what
    holds: the other may have no value, and it has no slope however steep the function is."""
    choice = _choice(x) if x.numel() == 1 else None
    return ca.if_else(choice[0], *_guarded(*map(function, choice[1:]))) if choice else function(x)


def _choice(x: ca.SX) -> tuple[ca.SX, ca.SX, ca.SX] | None:
    """The condition and both alternatives of a value that is one of two."""
    of = [x.dep(k) for k in range(x.n_dep())]
    if x.op() == ca.OP_FMAX and any(one.is_constant() for one in of):
        return of[0] > of[1], of[0], of[1]
    for one, other in {ca.OP_MUL: [of, of[::-1]], ca.OP_DIV: [of]}.get(x.op(), []):
        if choice := _choice(one):
            a, b = (u * other if x.op() == ca.OP_MUL else u / other for u in choice[1:])
            return choice[0], a, b
    return alternatives(x)


log, arcsin, arccos = (_dimensionless_function(name, partial(_of_clipped, f)) for name, f in (
    ("log", ca.log), ("arcsin", ca.asin), ("arccos", ca.acos)))


def abs_(x: object) -> Expression:
    """Absolute value (continuous, so without an event)."""
    return abs(as_expression(x))


def minimum(a: object, b: object) -> Expression:
    """Return the smaller of two (continuous, so without an event)."""
    return _of_alike("minimum", ca.fmin, a, b)


def maximum(a: object, b: object) -> Expression:
    """Return the larger of two (continuous, so without an event)."""
    return _of_alike("maximum", ca.fmax, a, b)


def sign(x: object) -> Expression:
    """-1, 0 or 1, switched at the zero crossings of x."""
    x = as_expression(x)
    return where(x > 0, 1.0, where(x < 0, -1.0, 0.0))


def floor(x: object, *, events: bool = True) -> Expression:
    """Return the largest whole number not above x, which changes at located instants.

    A condition that reads one of time alone, ``mod(time, T) < duty``, sees it on both sides of its
    jumps. With ``events=False`` it is evaluated at every call; take that only for expressions
    that are continuous where it jumps.
    """
    x = as_expression(x)
    if x.dimension:
        raise WrongDimension(reading_place(), f"floor() takes a dimensionless value, not {x.sx}.",
                             "Divide it by its unit or period first.")
    trace = current_trace.get() if events else None
    return Expression(ca.floor(x.sx) if trace is None else trace.floors.of(x.sx))


def mod(a: object, b: object, *, events: bool = True) -> Expression:
    """a modulo b, in [0, b), which jumps at located instants; ``events`` as with :func:`floor`."""
    a = as_expression(a)
    b = same_dimension(b, a, "mod")
    return Expression(a.sx - floor(Expression(a.sx / b.sx), events=events).sx * b.sx, a.dimension)


def arctan2(y: object, x: object) -> Expression:
    """Return the angle of the point (x, y), from -pi to pi."""
    y = as_expression(y)
    x = same_dimension(x, y, "arctan2")
    return Expression(ca.atan2(y.sx, x.sx))


_UFUNCS: dict[str, Callable[..., Any]] = {
    "sin": sin, "cos": cos, "tan": tan, "sinh": sinh, "cosh": cosh, "tanh": tanh, "exp": exp,
    "log": log, "log10": lambda x: log(x) / np.log(10.0), "sqrt": sqrt, "square": lambda x: x**2,
    "absolute": abs_, "sign": sign, "minimum": minimum, "maximum": maximum, "floor": floor,
    "ceil": lambda x: -floor(-x), "remainder": mod, "hypot": lambda a, b: sqrt(a**2 + b * b),
    "arctan": arctan, "arcsin": arcsin, "arccos": arccos, "arctan2": arctan2,
    "positive": operator.pos, "negative": operator.neg, "add": operator.add,
    "subtract": operator.sub, "multiply": operator.mul, "power": operator.pow,
    "true_divide": operator.truediv, "divide": operator.truediv, "greater": operator.gt,
    "less": operator.lt, "greater_equal": operator.ge, "less_equal": operator.le,
    "equal": operator.eq}
