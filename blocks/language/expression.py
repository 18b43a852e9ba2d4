"""What does a component's law say, as symbols with dimensions?

A thin layer over CasADi's SX scalars and vectors: every operation checks
dimensions once, when a component class is traced, and never again. Knows
nothing of components; a *trace* (see :mod:`blocks.language.kernel`) is told of
derivatives, relations and the place for error messages.
"""

from __future__ import annotations

from collections.abc import Callable
from contextvars import ContextVar
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import casadi as ca
import numpy as np
import pint

from ..exceptions import EquationError, WrongDimension
from ..units import SECOND, as_unit, describe, dimensionless, quantity, to_si, unit_of

__all__ = [
    "Condition", "Equation", "Expression", "Reset", "SetValued", "abs_", "arctan", "arctan2",
    "breakpoints", "cos", "cosh", "contact", "delayed", "der", "dry_friction", "every", "exp",
    "floor", "initially", "interpolate", "load_law", "log", "maximum", "minimum", "mod", "require",
    "reset",
    "set_valued", "sign", "sin", "sinh", "sqrt", "tan", "tanh", "time", "when", "where", "held",
]  # fmt: skip

TIME = ca.SX.sym("time")
_TIME_DIMENSION = SECOND.dimension

# the trace that is reading a component's equations, if any
current_trace: ContextVar[Any] = ContextVar("current_trace", default=None)


def _where() -> str:
    trace = current_trace.get()
    return trace.where() if trace is not None else ""


def _trace(what: str) -> Any:
    trace = current_trace.get()
    if trace is None:
        raise EquationError("", f"{what} can only be used inside a component's equations().")
    return trace


class Expression:
    """A symbolic value in SI base units together with its dimension."""

    __slots__ = ("dimension", "sx")
    __array_priority__ = 1000

    def __init__(self, sx: Any, dimension: Any = dimensionless) -> None:
        self.sx = sx
        self.dimension = dimension

    # -- arithmetic ----------------------------------------------------------
    def __add__(self, other: Any) -> Expression:
        other = _like(other, self, "+")
        return Expression(self.sx + other.sx, self.dimension if self.dimension else other.dimension)

    def __sub__(self, other: Any) -> Expression:
        other = _like(other, self, "-")
        return Expression(self.sx - other.sx, self.dimension if self.dimension else other.dimension)

    def __rsub__(self, other: Any) -> Expression:
        return -self + other

    def __mul__(self, other: Any) -> Expression:
        other = as_expression(other)
        return Expression(self.sx * other.sx, self.dimension * other.dimension)

    def __truediv__(self, other: Any) -> Expression:
        other = as_expression(other)
        return Expression(self.sx / other.sx, self.dimension / other.dimension)

    def __rtruediv__(self, other: Any) -> Expression:
        return as_expression(other) / self

    __radd__ = __add__
    __rmul__ = __mul__

    def __neg__(self) -> Expression:
        return Expression(-self.sx, self.dimension)

    def __pos__(self) -> Expression:
        return self

    def __abs__(self) -> Expression:
        return Expression(ca.fabs(self.sx), self.dimension)

    def __pow__(self, power: Any) -> Expression:
        if isinstance(power, (int, float, Fraction)):
            base = self.sx * self.sx if power == 2 else self.sx ** float(power)
            return Expression(base, self.dimension**power)
        power = as_expression(power)
        if self.dimension or power.dimension:
            _refuse("raises", self, "to the power", power, "both must be dimensionless")
        return Expression(self.sx**power.sx)

    def __rpow__(self, base: Any) -> Expression:
        return as_expression(base) ** self

    def __mod__(self, other: Any) -> Expression:
        return mod(self, other)

    def __rmod__(self, other: Any) -> Expression:
        return mod(other, self)

    # -- relations -----------------------------------------------------------
    def __eq__(self, other: Any) -> Equation:  # type: ignore[override]
        return Equation(self, as_expression(other))

    def __ne__(self, other: Any) -> Any:
        raise EquationError(_where(), "'!=' between expressions is no statement of physics.",
                            "Use '==' for an equation, or < and > inside where().")

    __hash__ = object.__hash__

    def __gt__(self, other: Any) -> Condition:
        return Condition.relation(self, _like(other, self, ">"))

    def __ge__(self, other: Any) -> Condition:
        return Condition.relation(self, _like(other, self, ">="), at_zero=True)

    def __lt__(self, other: Any) -> Condition:
        return Condition.relation(_like(other, self, "<"), self)

    def __le__(self, other: Any) -> Condition:
        return Condition.relation(_like(other, self, "<="), self, at_zero=True)

    def __bool__(self) -> bool:
        raise EquationError(
            _where(),
            "an expression has no truth value while equations are being written.",
            "Use where(condition, a, b) instead of 'if', and & | ~ instead of and/or/not.",
        )

    # -- vectors ---------------------------------------------------------------
    def __getitem__(self, index: Any) -> Expression:
        return Expression(self.sx[index], self.dimension)

    def __len__(self) -> int:
        return int(self.sx.numel())

    def __iter__(self) -> Any:
        return (self[i] for i in range(len(self)))

    def __repr__(self) -> str:
        return f"<{self.sx} in {describe(self.dimension)}>"

    def __array_ufunc__(self, ufunc: Any, method: str, *inputs: Any, **kwargs: Any) -> Any:
        function = _UFUNCS.get(ufunc.__name__)
        if method != "__call__" or kwargs or function is None:
            return NotImplemented
        return function(*inputs)


def as_expression(value: Any) -> Expression:
    """An expression from an expression, a quantity, a text with a unit, or a number."""
    if isinstance(value, Expression):
        return value
    if hasattr(value, "magnitude") and hasattr(value, "units"):
        if isinstance(value.magnitude, Expression):  # pint multiplied before we could
            u = as_unit(value.units)
            inner = value.magnitude
            return Expression(inner.sx * u.factor, inner.dimension * u.dimension)
        u = unit_of(value)
        return Expression(ca.SX(np.asarray(to_si(value, u))), u.dimension)
    if isinstance(value, str):
        return as_expression(quantity(value))
    if isinstance(value, Condition):
        raise EquationError(_where(), "a condition was used as a number.",
                            "Write where(condition, 1, 0).")
    try:
        return Expression(ca.SX(np.asarray(value, dtype=float)))
    except (TypeError, ValueError):
        raise EquationError(
            _where(), f"{value!r} ({type(value).__name__}) cannot be part of an equation.",
            "Equations are made of variables, parameters, quantities and numbers.",
        ) from None


def _is_zero(e: Expression) -> bool:
    return bool(e.sx.is_constant() and e.sx.is_zero())


def _like(other: Any, mine: Expression, operation: str) -> Expression:
    """The other operand, checked to have my dimension (a literal 0 has every one)."""
    other = as_expression(other)
    if other.dimension != mine.dimension and not _is_zero(other) and not _is_zero(mine):
        verb = {"+": "adds", "-": "subtracts"}.get(operation, f"compares ({operation})")
        _refuse(verb, mine, "and", other, "they have different dimensions")
    return other


def _refuse(verb: str, a: Expression, word: str, b: Expression, why: str) -> None:
    left, right = describe(a.dimension), describe(b.dimension)
    raise WrongDimension(
        _where(),
        f"it {verb} {a.sx} [{left}] {word} {b.sx} [{right}]: {why}.",
        "Check the units of the parameters and variables in it.",
        left=left,
        right=right,
    )


# -- equations and conditions ----------------------------------------------------


class Equation:
    """``left == right``; yielded from ``equations()``."""

    __slots__ = ("left", "right")

    def __init__(self, left: Expression, right: Expression) -> None:
        if left.dimension != right.dimension and not _is_zero(left) and not _is_zero(right):
            a, b = describe(left.dimension), describe(right.dimension)
            raise WrongDimension(
                _where(),
                f"the two sides of  {left.sx} == {right.sx}  have different units: "
                f"{a} on the left, {b} on the right.",
                "Check the units of the parameters and variables in it.",
                left=a,
                right=b,
            )
        self.left, self.right = left, right

    def __bool__(self) -> bool:
        raise EquationError(
            _where(),
            "'==' between expressions makes an equation, which has no truth value.",
            "Yield it from equations(), or use where(a > b, …) to choose between two laws.",
        )

    def __repr__(self) -> str:
        return f"<equation {self.left.sx} == {self.right.sx}>"


@dataclass(frozen=True)
class Condition:
    """A relation, or a combination of relations by ``&``, ``|`` and ``~``."""

    operator: str  # "relation", "and", "or", "not", "constant"
    parts: tuple[Any, ...]
    at_zero: bool = False

    @staticmethod
    def relation(greater: Expression, smaller: Expression, at_zero: bool = False) -> Condition:
        return Condition("relation", (greater.sx - smaller.sx,), at_zero)

    def __and__(self, other: Condition) -> Condition:
        return Condition("and", (self, _condition(other)))

    def __or__(self, other: Condition) -> Condition:
        return Condition("or", (self, _condition(other)))

    def __invert__(self) -> Condition:
        return Condition("not", (self,))

    def __bool__(self) -> bool:
        raise EquationError(
            _where(), "a condition has no truth value while equations are being written.",
            "Use where(condition, a, b), and & | ~ instead of and/or/not.",
        )

    def held(self, trace: Any) -> Any:
        """The condition as an SX of relations held constant during a step."""
        if self.operator == "relation":
            return trace.relation(self.parts[0], self.at_zero)
        if self.operator == "constant":
            return ca.SX(float(self.parts[0]))
        parts = [p.held(trace) for p in self.parts]
        if self.operator == "not":
            return ca.logic_not(parts[0])
        return (ca.logic_and if self.operator == "and" else ca.logic_or)(*parts)

    def plain(self) -> Any:
        """The condition as an SX evaluated at every call, without events."""
        if self.operator == "relation":
            return self.parts[0] >= 0 if self.at_zero else self.parts[0] > 0
        if self.operator == "constant":
            return ca.SX(float(self.parts[0]))
        parts = [p.plain() for p in self.parts]
        if self.operator == "not":
            return ca.logic_not(parts[0])
        return (ca.logic_and if self.operator == "and" else ca.logic_or)(*parts)


def _condition(value: Any) -> Condition:
    if isinstance(value, Condition):
        return value
    if isinstance(value, (bool, np.bool_)):
        return Condition("constant", (bool(value),))
    raise EquationError(_where(), f"a condition was expected, but {value!r} was given.",
                        "Write a relation such as  v > 0.")


@dataclass(frozen=True)
class Reset:
    """A state change at an event; see :func:`when`."""

    condition: Condition
    assignments: tuple[tuple[Expression, Expression], ...]


@dataclass(frozen=True)
class Breakpoints:
    """Known discontinuity times ``start + k period``; see :func:`breakpoints`."""

    start: Expression
    period: Expression | None


@dataclass(frozen=True)
class Sampling:
    """Assignments at ``start + k period``; see :func:`every` and :func:`initially`."""

    start: Expression | None  # None: the start of the run
    period: Expression | None  # None: once
    assignments: tuple[tuple[Expression, Expression], ...]


@dataclass(frozen=True)
class SetValued:
    """A set-valued law between an effort and a flow; see :func:`set_valued`."""

    effort: Expression
    flow: Expression
    static: tuple[Expression, Expression]
    kinetic: tuple[Expression, Expression]
    gap: Expression | None = None
    restitution: Expression | None = None


def set_valued(effort: Any, flow: Any, *, static: tuple[Any, Any], kinetic: tuple[Any, Any]
               ) -> SetValued:
    """A law that gives an effort for every flow, and a whole interval at rest.

    Yield it from ``equations()`` as the law of ``effort``::

        flow > 0:  effort == kinetic[1]
        flow < 0:  effort == kinetic[0]
        flow == 0: static[0] <= effort <= static[1], whatever keeps the flow at zero

    An infinite bound (``-inf`` or ``inf``) is a rigid stop: the flow never takes
    that sign. Dry friction is symmetric, a freewheel has one infinite bound.

    Parameters
    ----------
    effort : variable of the component
    flow : expression
        Relative velocity, of variables that are integrated.
    static, kinetic : pairs of expressions
        Lower and upper values, ``static[0] <= kinetic[0]`` and
        ``kinetic[1] <= static[1]``. They may depend on the flow, on normal
        forces and on time.
    """
    effort, flow = as_expression(effort), as_expression(flow)

    def pair(values: tuple[Any, Any]) -> tuple[Expression, Expression]:
        return tuple(_bound(v, effort) for v in values)  # type: ignore[return-value]

    return SetValued(effort, flow, pair(static), pair(kinetic))


def _bound(value: Any, effort: Expression) -> Expression:
    if isinstance(value, (int, float)) and not np.isfinite(value):
        return Expression(ca.SX(value), effort.dimension)
    return _like(value, effort, "set-valued law")


def dry_friction(effort: Any, flow: Any, *, static: Any, kinetic: Any) -> SetValued:
    """Exact dry friction: yield it from ``equations()`` as the law of ``effort``.

    While sliding, ``effort == kinetic * sign(flow)``; at rest, ``flow == 0`` and the
    effort is whatever keeps it so, as long as ``|effort| <= static``. The toolkit
    finds sticking efforts of the whole network together; nothing creeps.

    Parameters
    ----------
    effort : variable of the component
        The force (or torque) that opposes the flow.
    flow : expression
        Relative velocity, of variables that are integrated.
    static : expression
        Largest sticking effort, F_G >= 0.
    kinetic : expression
        Sliding effort at the present speed, 0 <= F_kin <= F_G; it may depend on
        ``abs_(flow)``, normal forces and time.
    """
    static, kinetic = as_expression(static), as_expression(kinetic)
    return set_valued(effort, flow, static=(-static, static), kinetic=(-kinetic, kinetic))


def contact(effort: Any, gap: Any, approach: Any = None, *, restitution: Any = 0.0) -> SetValued:
    """A unilateral contact: yield it from ``equations()`` as the law of ``effort``.

    ``gap > 0`` is open, with no effort; at ``gap == 0`` the effort is whatever keeps
    the contact from closing further, and never negative. Arriving with a velocity is
    an impact by Newton's law, ``approach_after == -restitution * approach_before``,
    carried through the network; energy never grows.

    Parameters
    ----------
    effort : variable of the component
        Force that presses the two sides apart, >= 0.
    gap : expression
        Distance, of variables that are integrated.
    approach : expression, optional
        Velocity at which the gap closes; ``-der(gap)`` where it is left out.
    restitution : expression or number
        0 (plastic) to 1 (elastic).
    """
    effort, gap = as_expression(effort), as_expression(gap)
    approach = -der(gap) if approach is None else as_expression(approach)
    none = Expression(ca.SX(0.0), effort.dimension)
    endless = Expression(ca.SX(np.inf), effort.dimension)
    return SetValued(effort, approach, (none, endless), (none, none), gap,
                     as_expression(restitution))


@dataclass(frozen=True)
class LoadLaw:
    """An effort that depends on the load; see :func:`load_law`."""

    effort: Expression
    flow: Expression
    load: Expression
    law: Expression
    rest: tuple[Expression, Expression] | None


def load_law(effort: Any, flow: Any, load: Any, law: Any, *, rest: tuple[Any, Any] | None = None
             ) -> LoadLaw:
    """An effort that depends on the load: yield it from ``equations()`` as its law.

    The load P is the effort with which everything else drives the element: the one
    that would keep the flow as it is, ``P == effort + der(flow) / D``, where 1/D is
    the inertia that the element feels. The toolkit finds it for the whole network;
    nobody has to add up forces. Where an element moves nothing (D = 0, across a
    prescribed motion) the load is endless in the direction of ``der(flow)``.

    Parameters
    ----------
    effort : variable of the component
        The force (or torque) that opposes the flow.
    flow : expression
        Relative velocity, of variables that are integrated.
    load : variable of the component
        P, in the unit of the effort; determined by this statement.
    law : expression
        The effort, of ``load``, ``flow`` and whatever else; evaluated anew at every
        call, so conditions in it are to be written with ``events=False``.
    rest : (band, strength), optional
        Set the flow to zero, through the network, whenever ``|flow| <= band`` and
        ``|load| < strength``, and hold it there while the latter is true.
    """
    effort, flow, load = as_expression(effort), as_expression(flow), as_expression(load)
    held = None if rest is None else (_like(rest[0], flow, "load law"),
                                      _like(rest[1], effort, "load law"))
    return LoadLaw(effort, flow, _like(load, effort, "load law"), _like(law, effort, "load law"),
                   held)


def where(condition: Any, then: Any, otherwise: Any, *, events: bool = True) -> Expression:
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
    condition = _condition(condition)
    then = as_expression(then)
    otherwise = _like(otherwise, then, "where")
    mode = condition.held(_trace("where()")) if events else condition.plain()
    return Expression(
        ca.if_else(mode, then.sx, otherwise.sx),
        otherwise.dimension if _is_zero(then) else then.dimension,
    )


def when(condition: Any, assignments: dict[Expression, Any]) -> Reset:
    """At the instant the condition becomes true, give variables new values.

    Yield it from ``equations()``. The values on the right are those just
    before the event. Variables that can be assigned are ``Discrete`` ones and
    those that are integrated.
    """
    return Reset(_condition(condition), _pairs(assignments))


def every(period: Any, assignments: dict[Expression, Any], start: Any = 0) -> Sampling:
    """At the instants ``start + k period`` give Discrete variables new values.

    Yield it from ``equations()``. On the right, the component's own Discrete
    variables have their values just before the instant, everything else the
    value it has once all samplers of that instant have acted: ``{self.n:
    self.n + 1}`` counts, ``{self.held: self.u}`` passes through a chain of
    sample-and-holds without delay, and ``{self.y: self.last, self.last: self.u}``
    delays by one period. The solver steps onto the instants.

    Parameters
    ----------
    period, start : parameter, quantity or text
        May depend on parameters only; the period must be positive.
    """
    instant = Expression(TIME, _TIME_DIMENSION)
    return Sampling(_like(start, instant, "="), _like(period, instant, "="), _pairs(assignments))


def initially(assignments: dict[Expression, Any]) -> Sampling:
    """When the run starts, give Discrete variables values that depend on others."""
    return Sampling(None, None, _pairs(assignments))


def _pairs(assignments: dict[Expression, Any]) -> tuple[tuple[Expression, Expression], ...]:
    return tuple((variable, _like(value, variable, "=")) for variable, value in assignments.items())


def reset(variable: Expression, value: Any) -> dict[Expression, Any]:
    """One assignment for :func:`when`."""
    return {variable: value}


@dataclass(frozen=True)
class Requirement:
    """Something that must hold during a run; see :func:`require`."""

    condition: Condition
    message: str


def require(condition: Any, message: str) -> Requirement:
    """Stop the run, naming the component, at the instant a condition ceases to hold.

    Yield it from ``equations()`` for what a parameter's bounds cannot say, such as a
    signal that must not be negative. Leave room for rounding: a signal that is zero
    may be -1e-16.

    Parameters
    ----------
    condition : relation or combination of relations
    message : str
        What is wrong and what to do, as a sentence after the component's name.
    """
    return Requirement(_condition(condition), message)


def breakpoints(start: Any, period: Any = None) -> Breakpoints:
    """Tell the solver of discontinuities at known times.

    It steps exactly onto ``start`` (and ``start + k period``) instead of
    searching for them. Both may depend on parameters only.
    """
    first = _like(start, Expression(TIME, _TIME_DIMENSION), "=")
    again = None if period is None else _like(period, Expression(TIME, _TIME_DIMENSION), "=")
    return Breakpoints(first, again)


def held(condition: Any) -> Expression:
    """1 while the condition holds, else 0, switched at its zero crossing."""
    return where(condition, 1.0, 0.0)


def der(value: Any) -> Expression:
    """The time derivative of a variable or of an expression (chain rule)."""
    value = as_expression(value)
    trace = _trace("der()")
    return Expression(trace.derivative(value.sx), value.dimension / _TIME_DIMENSION)


def delayed(value: Any, delay: Any, *, initial: Any = 0) -> Expression:
    """What ``value`` was a time ``delay`` ago, exactly.

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
    instant = Expression(TIME, _TIME_DIMENSION)
    trace, lag, before = _trace("delayed()"), _like(delay, instant, "="), _like(initial, value, "=")
    dimension = value.dimension or before.dimension
    return Expression(trace.delayed(value.sx, lag.sx, before.sx, dimension), dimension)


time = Expression(TIME, _TIME_DIMENSION)


# -- functions -----------------------------------------------------------------


def _plain_function(name: str, function: Callable[[Any], Any]) -> Callable[[Any], Any]:
    def apply(x: Any) -> Expression:
        x = as_expression(x)
        if x.dimension:
            raise WrongDimension(
                _where(),
                f"{name}() takes a dimensionless value or an angle, but {x.sx} is in "
                f"{describe(x.dimension)}.",
                f"Divide it by a reference value: {name}(x / x_ref).",
                left="dimensionless",
                right=describe(x.dimension),
            )
        return Expression(function(x.sx))

    apply.__name__ = name
    apply.__doc__ = f"{name} of a dimensionless expression."
    return apply


sin, cos, tan = (_plain_function(n, getattr(ca, n)) for n in ("sin", "cos", "tan"))
sinh, cosh, tanh = (_plain_function(n, getattr(ca, n)) for n in ("sinh", "cosh", "tanh"))
exp, log = _plain_function("exp", ca.exp), _plain_function("log", ca.log)
arctan, arcsin, arccos = (
    _plain_function("arctan", ca.atan),
    _plain_function("arcsin", ca.asin),
    _plain_function("arccos", ca.acos),
)


def sqrt(x: Any) -> Expression:
    """Square root; halves the dimension's exponents."""
    x = as_expression(x)
    return Expression(ca.sqrt(x.sx), x.dimension ** Fraction(1, 2) if x.dimension else x.dimension)


def abs_(x: Any) -> Expression:
    """Absolute value (continuous, so without an event)."""
    return abs(as_expression(x))


def minimum(a: Any, b: Any) -> Expression:
    """The smaller of two (continuous, so without an event)."""
    a = as_expression(a)
    b = _like(b, a, "minimum")
    return Expression(ca.fmin(a.sx, b.sx), a.dimension or b.dimension)


def maximum(a: Any, b: Any) -> Expression:
    """The larger of two (continuous, so without an event)."""
    a = as_expression(a)
    b = _like(b, a, "maximum")
    return Expression(ca.fmax(a.sx, b.sx), a.dimension or b.dimension)


def sign(x: Any) -> Expression:
    """-1, 0 or 1, switched at the zero crossings of x."""
    x = as_expression(x)
    return where(x > 0, 1.0, where(x < 0, -1.0, 0.0))


def floor(x: Any) -> Expression:
    """The largest whole number not above x; announce its jumps with :func:`breakpoints`."""
    x = as_expression(x)
    if x.dimension:
        raise WrongDimension(_where(), f"floor() takes a dimensionless value, not {x.sx}.",
                             "Divide it by its unit or period first.")
    return Expression(ca.floor(x.sx))


def mod(a: Any, b: Any) -> Expression:
    """a modulo b, in [0, b); announce its jumps with :func:`breakpoints`."""
    a = as_expression(a)
    b = _like(b, a, "mod")
    return Expression(a.sx - ca.floor(a.sx / b.sx) * b.sx, a.dimension)


def arctan2(y: Any, x: Any) -> Expression:
    """The angle of the point (x, y)."""
    y = as_expression(y)
    x = _like(x, y, "arctan2")
    return Expression(ca.atan2(y.sx, x.sx))


def interpolate(x: Any, xs: Any, ys: Any, *, hold: bool = False) -> Expression:
    """Linear interpolation in a table; continued by its last segments.

    Parameters
    ----------
    x : expression
    xs, ys : vector expressions, quantities or numbers of equal length
        Table points with ``xs`` strictly increasing.
    hold : bool
        Hold the end values outside the table instead of extrapolating.
    """
    x, ys = as_expression(x), as_expression(ys)
    xs = _like(xs, x, "interpolate")
    n = xs.sx.numel()
    if n != ys.sx.numel() or n < 2:
        raise EquationError(_where(), f"a table needs at least two points and as many y as x, but "
                            f"was given {n} x and {ys.sx.numel()} y.")
    at = ca.fmin(ca.fmax(x.sx, xs.sx[0]), xs.sx[n - 1]) if hold else x.sx
    return Expression(ca.pw_lin(at, xs.sx, ys.sx), ys.dimension)


_UFUNCS: dict[str, Callable[..., Any]] = {
    "sin": sin, "cos": cos, "tan": tan, "sinh": sinh, "cosh": cosh, "tanh": tanh, "exp": exp,
    "log": log, "sqrt": sqrt, "absolute": abs_, "sign": sign, "minimum": minimum,
    "maximum": maximum, "floor": floor, "arctan": arctan, "arcsin": arcsin, "arccos": arccos,
    "arctan2": arctan2, "remainder": mod, "hypot": lambda a, b: sqrt(as_expression(a) ** 2 + b * b),
    "log10": lambda x: log(x) / np.log(10.0), "positive": lambda x: x, "negative": lambda x: -x,
    "square": lambda x: x**2,
    "add": lambda a, b: as_expression(a) + b, "subtract": lambda a, b: as_expression(a) - b,
    "multiply": lambda a, b: as_expression(a) * b, "power": lambda a, b: as_expression(a) ** b,
    "true_divide": lambda a, b: as_expression(a) / b, "divide": lambda a, b: as_expression(a) / b,
    "greater": lambda a, b: as_expression(a) > b, "less": lambda a, b: as_expression(a) < b,
    "greater_equal": lambda a, b: as_expression(a) >= b,
    "less_equal": lambda a, b: as_expression(a) <= b,
    "equal": lambda a, b: as_expression(a) == b,
}  # fmt: skip

# pint then leaves  quantity * expression  to the expression, as it does for xarray and pandas
# (its annotation says Mapping, but its documentation has users extend it)
pint.compat.upcast_type_map["blocks.language.expression.Expression"] = Expression  # type: ignore[index]
