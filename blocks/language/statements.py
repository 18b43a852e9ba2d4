"""What may a class state beside equations: set-valued laws, events, requirements?

Each function checks what it is given and returns a statement to be yielded from
``equations()``; :mod:`blocks.language.tracing` reads it into a kernel. What values must fulfil for
a law to hold is demanded wherever they are known before a run: of numbers when equations are read,
of parameters of every instance by ``check()``.
"""

from __future__ import annotations

from dataclasses import dataclass

import casadi as ca
import numpy as np

from ..exceptions import EquationError
from ..numerics.arrays import Array
from ..units import describe
from .expression import (
    Condition,
    Expression,
    Statement,
    as_condition,
    as_expression,
    as_time,
    current_trace,
    der,
    reading_place,
    same_dimension,
)

__all__ = ["Breakpoints", "Demand", "LoadLaw", "Requirement", "Reset", "Sampling", "SetValued",
           "breakpoints", "contact", "demand", "dry_friction", "every", "ideal_diode",
           "ideal_switch", "initially", "load_law", "require", "reset", "set_valued", "when"]

EQUAL = 1e-12  # relative difference of values that are meant to be the same


@dataclass(frozen=True)
class Reset(Statement):
    """A state change at an event; see :func:`when`."""

    word = "a when()"
    condition: Condition
    assignments: tuple[tuple[Expression, Expression], ...]


@dataclass(frozen=True)
class Breakpoints(Statement):
    """Known discontinuity times ``start + k period``; see :func:`breakpoints`."""

    word = "breakpoints()"
    start: Expression
    period: Expression | None


@dataclass(frozen=True)
class Sampling(Statement):
    """Assignments at ``start + k period``; see :func:`every` and :func:`initially`."""

    word = "an every() or initially()"
    start: Expression | None  # None: the start of the run
    period: Expression | None  # None: once
    assignments: tuple[tuple[Expression, Expression], ...]


@dataclass(frozen=True)
class SetValued(Statement):
    """A set-valued law between an effort and a flow; see :func:`set_valued`."""

    word = "a law"
    effort: Expression
    flow: Expression
    static: tuple[Expression, Expression]
    kinetic: tuple[Expression, Expression]
    gap: Expression | None = None
    restitution: Expression | None = None
    kind: str = "friction"  # "contact", "diode", "gated diode", "switch"
    closed: Condition | None = None  # of a switch or a gated diode: whether it may be closed


def set_valued(effort: object, flow: object, *, static: tuple[object, object],
               kinetic: tuple[object, object]) -> SetValued:
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
        Lower and upper values, ``static[0] <= kinetic[0] <= kinetic[1] <= static[1]``. They
        may depend on the flow, on normal forces and on time.
    """
    effort, flow = as_expression(effort), as_expression(flow)
    (low, high), (back, forth) = at_rest, moving = _bounds(static, effort), _bounds(kinetic, effort)
    for one, name, other, of in (
        (low, "static[0]", high, "static[1]"), (back, "kinetic[0]", forth, "kinetic[1]"),
        (low, "static[0]", back, "kinetic[0]"), (forth, "kinetic[1]", high, "static[1]")):
        demand(one, other, f"set_valued() takes {name} <= {of}, but {name} is {{lower}} and {of} "
               "is {upper}.", "Change one of the two.")
    return SetValued(effort, flow, at_rest, moving)


def _bounds(values: tuple[object, object], effort: Expression) -> tuple[Expression, Expression]:
    lower, upper = values
    return _bound(lower, effort), _bound(upper, effort)


def _bound(value: object, effort: Expression) -> Expression:
    if isinstance(value, (int, float)) and not np.isfinite(value):
        return Expression(ca.SX(value), effort.dimension)
    return same_dimension(value, effort, "set-valued law")


def dry_friction(effort: object, flow: object, *, static: object, kinetic: object) -> SetValued:
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
    effort, flow = as_expression(effort), as_expression(flow)
    static, kinetic = _bound(static, effort), _bound(kinetic, effort)
    none = Expression(ca.SX(0.0), effort.dimension)
    for name, strength in (("static", static), ("kinetic", kinetic)):
        demand(none, strength, f"dry_friction() takes {name} >= 0, but it is {{upper}}.",
               "A strength has no sign: the friction opposes the flow by itself.")
    demand(kinetic, static, "dry_friction() takes kinetic <= static, but kinetic is {lower} and "
           "static is {upper}.", "What slides is held by no less: raise static, or lower kinetic.")
    return SetValued(effort, flow, (-static, static), (-kinetic, kinetic))


def contact(effort: object, gap: object, approach: object = None, *, restitution: object = 0.0
            ) -> SetValued:
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
    restitution, nothing, all_of_it = map(as_expression, (restitution, 0.0, 1.0))
    demand(nothing, restitution, "contact() takes a restitution from 0 to 1, but it is {upper}.",
           "0 is plastic.")
    demand(restitution, all_of_it, "contact() takes a restitution from 0 to 1, but it is {lower}.",
           "1 is elastic; more would bring in energy.")
    return SetValued(effort, approach, (none, endless), (none, none), gap, restitution, "contact")


def ideal_diode(effort: object, flow: object, *, enabled: object = None) -> SetValued:
    """A valve for one direction: yield it from ``equations()`` as the law of ``effort``.

    ``effort >= 0``, ``flow <= 0``, and one of them is zero. For an electrical diode the
    effort is its current and the flow its voltage: it conducts at no voltage and blocks at
    no current. A freewheel is the same between torque and speed. All diodes and switches
    of a network are decided together.

    Parameters
    ----------
    effort : variable of the component
    flow : expression
        Of variables that are integrated or not; a variable by itself (``self.v``) lets the
        network decide which of the two follows from the other. A forward voltage and a
        resistance belong into a variable of their own,
        ``self.v == self.u + self.forward_voltage + self.resistance * self.i``.
    enabled : relation or combination of relations, optional
        While it does not hold the effort is zero, whatever the flow: a transistor that
        conducts one way, if its gate says so.
    """
    effort, flow = as_expression(effort), as_expression(flow)
    none, endless = (Expression(ca.SX(x), effort.dimension) for x in (0.0, np.inf))
    kind, closed = ("diode", None) if enabled is None else ("gated diode", as_condition(enabled))
    return SetValued(effort, flow, (none, endless), (none, endless), kind=kind, closed=closed)


def ideal_switch(effort: object, flow: object, *, closed: object) -> SetValued:
    """A switch: yield it from ``equations()`` as the law of ``effort``.

    While ``closed`` holds, ``flow == 0`` and the effort is whatever that takes; otherwise
    ``effort == 0`` and the flow is free. Of an electrical switch the effort is the current
    and the flow the voltage, of a dog clutch they are torque and speed. Where the network
    would have to jump as it switches (a capacitor put on a source, the current of an
    inductor interrupted), the run stops and names who jumps.

    Parameters
    ----------
    effort : variable of the component
    flow : expression
        A variable by itself (``self.v``), wherever there is one.
    closed : relation or combination of relations
        Such as ``self.gate > self.threshold``.
    """
    effort, flow = as_expression(effort), as_expression(flow)
    none, endless = (Expression(ca.SX(x), effort.dimension) for x in (0.0, np.inf))
    return SetValued(effort, flow, (-endless, endless), (none, none), kind="switch",
                     closed=as_condition(closed))


@dataclass(frozen=True)
class LoadLaw(Statement):
    """An effort that depends on the load; see :func:`load_law`."""

    word = "a load_law()"
    effort: Expression
    flow: Expression
    load: Expression
    law: Expression
    rest: tuple[Expression, Expression] | None


def load_law(effort: object, flow: object, load: object, law: object, *,
             rest: tuple[object, object] | None = None) -> LoadLaw:
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
    held = None if rest is None else (same_dimension(rest[0], flow, "load law"),
                                      same_dimension(rest[1], effort, "load law"))
    return LoadLaw(effort, flow, same_dimension(load, effort, "load law"),
                   same_dimension(law, effort, "load law"), held)


def when(condition: object, assignments: dict[Expression, object]) -> Reset:
    """At the instant the condition becomes true, give variables new values.

    Yield it from ``equations()``. The values on the right are those just
    before the event. Variables that can be assigned are ``Discrete`` ones and
    those that are integrated. Several that assign one ``Discrete`` at one instant act one
    after the other as written, each on what the one before has left, and after
    :func:`every`; so all events are counted. Two values of one state stop the run.

    What is true when the run starts, once the first samples of :func:`every` are taken, has not
    become true: it acts when it has been false and is true again. Nor does what would become true
    at the last instant of a run act: the run ends just before.
    """
    return Reset(as_condition(condition), _pairs(assignments))


def every(period: object, assignments: dict[Expression, object], start: object = 0) -> Sampling:
    """At the instants ``start + k period`` give Discrete variables new values.

    Yield it from ``equations()``. On the right, the component's own Discrete variables have their
    values just before the instant, everything else the value it has once all samplers of that
    instant have acted: ``{self.n: self.n + 1}`` counts, ``{self.held: self.u}`` passes through a
    chain of sample-and-holds without delay, and ``{self.y: self.last, self.last: self.u}`` delays
    by one period. The solver steps onto the instants. A sample at the start of a run belongs to
    what it starts from, so no :func:`when` acts on it; one at its last instant is not taken, the
    run ends just before. Two that give one variable different values at one instant stop the run.
    What is integrated jumps by :func:`when`, at regular instants
    ``when(mod(time, period) < period / 2, {…})``.

    Parameters
    ----------
    period, start : parameter, quantity or text
        May depend on parameters only; the period must be positive.
    """
    return Sampling(as_time(start, "the start of every()"),
                    as_time(period, "the period of every()"), _pairs(assignments))


def initially(assignments: dict[Expression, object]) -> Sampling:
    """When the run starts, give Discrete variables values that depend on others."""
    return Sampling(None, None, _pairs(assignments))


def _pairs(assignments: dict[Expression, object]) -> tuple[tuple[Expression, Expression], ...]:
    if not isinstance(assignments, dict) or not all(
            isinstance(variable, Expression) for variable in assignments):
        raise EquationError(reading_place(), f"assignments are {assignments!r}.",
                            "Give variables with their new values: {self.n: self.n + 1}.")
    return tuple((variable, same_dimension(value, variable, "="))
                 for variable, value in assignments.items())


def reset(variable: Expression, value: object) -> dict[Expression, object]:
    """One assignment for :func:`when`."""
    if not isinstance(variable, Expression):
        raise EquationError(reading_place(), "reset() takes a variable and its new value.",
                            "Write  yield when(condition, reset(self.v, 0))")
    return {variable: value}


@dataclass(frozen=True)
class Requirement(Statement):
    """Something that must hold during a run; see :func:`require`."""

    word = "a require()"
    condition: Condition
    message: str


def require(condition: object, message: str) -> Requirement:
    """Stop the run, naming the component, at the instant a condition ceases to hold.

    Yield it from ``equations()`` for what a parameter's bounds cannot say, such as a signal that
    must not be negative. Leave room for rounding: a signal that is zero may be -1e-16.

    Parameters
    ----------
    condition : relation or combination of relations
    message : str
        What is wrong and what to do, as a sentence after the component's name.
    """
    return Requirement(as_condition(condition), message)


def breakpoints(start: object, period: object = None) -> Breakpoints:
    """Tell the solver of discontinuities at known times.

    It steps exactly onto ``start`` (and ``start + k period``) instead of
    searching for them. Both may depend on parameters only.
    """
    first = as_time(start, "the start of breakpoints()")
    again = None if period is None else as_time(period, "the period of breakpoints()")
    return Breakpoints(first, again)


@dataclass(frozen=True, eq=False)
class Demand:
    """``lower <= upper``, entry by entry; see :func:`demand`."""

    lower: ca.SX
    upper: ca.SX
    unit: str
    says: str
    advice: str
    strict: bool

    def complaint(self, lower: Array, upper: Array) -> str | None:
        """What is wrong with values, in SI units; None where nothing is."""
        wrong = ~(lower < upper) if self.strict else lower > upper + EQUAL * np.abs(upper)
        for k in np.flatnonzero(wrong)[:1]:
            one, other = (f"{side[k]:.6g} {self.unit}".rstrip() for side in (lower, upper))
            return self.says.format(lower=one, upper=other)
        return None


def demand(lower: Expression, upper: Expression, says: str, advice: str, *, strict: bool = False
           ) -> None:
    """State that ``lower <= upper``, entry by entry; of what changes in a run nothing is known.

    ``says`` is what is wrong where it does not hold, with ``{lower}`` and ``{upper}`` for the
    values; by ``strict`` they may not be equal.
    """
    shown = describe(lower.dimension or upper.dimension)
    made = Demand(lower.sx, upper.sx, "" if shown == "dimensionless" else shown, says, advice,
                  strict)
    if lower.is_number and upper.is_number:
        complaint = made.complaint(*(np.array(ca.DM(sx), dtype=float).ravel()
                                     for sx in (lower.sx, upper.sx)))
        if complaint is not None:
            raise EquationError(reading_place(), complaint, advice)
    elif (trace := current_trace.get()) is not None:
        trace.demand(made)
