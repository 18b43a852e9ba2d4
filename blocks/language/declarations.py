"""What may a component class declare?

Parameters, options, variables, ports and signals, as class attributes.
Knows units, bounds and names; nothing of trees, equations or solvers.

Which declaration or base to take
---------------------------------
=================  ====================================================
``Parameter``      a number with unit that may change between runs
``Option``         a structural choice: law name, count, flag
``Variable``       an unknown; may carry an initial target
``Discrete``       a value held between events
``Port``           conserving port of a domain
``Input/Output``   a signal with a unit
``Branch``         base of two-ports: through from the first port to the second
``Component``      everything else
=================  ====================================================

Units that depend on the instance
---------------------------------
Blocks that work in any unit declare where it comes from. ``unit="any"`` lets a
parameter take the unit of the value it is given; a function of the component
derives a unit from its options and from the units of other parameters, and one
that returns a list declares as many numbered variables or signals::

    class Gain(Component):
        input = Option("1", doc="Unit of the input")
        gain = Parameter("1", unit="any")
        u = Input(lambda c: c.input)
        y = Output(lambda c: c.gain.units * quantity(1, c.input).units)

    class Sum(Component):
        unit = Option("1")
        signs = Option("++")
        u = Input(lambda c: [c.unit] * len(c.signs))      # ports u1, u2, ...
        y = Output(lambda c: c.unit)

Such functions may read options, units and array sizes; values are refused. Units and
ports are fixed when a component is made and cannot change afterwards.
"""

from __future__ import annotations

import copy
import sys
from collections.abc import Callable, Hashable, Iterable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from operator import ge, gt, le, lt
from typing import TYPE_CHECKING, Any, Self, TypeAlias

import numpy as np

from ..exceptions import (
    ConnectionRefused,
    EquationError,
    ModelError,
    ParameterError,
    UnitError,
    UnknownUnit,
    brief,
    told_how_to_call,
    unknown_name,
)
from ..numerics.arrays import python_number
from ..units import (
    Unit,
    as_unit,
    as_written,
    from_si,
    is_quantity,
    quantity,
    size_in_si,
    to_si,
    unit_given,
)
from .domain import Domain
from .expression import Expression
from .references import OfTime, PortRef, VariableRef
from .structure import Structure, UnitAndSize, seen_by_structure

if TYPE_CHECKING:
    from .tree import TreeNode

#: A function of the component that an author gives; it reads options, units and array sizes.
OfComponent: TypeAlias = Callable[[Any], Any]

__all__ = ["Declaration", "Discrete", "Input", "Option", "Output", "Parameter", "Port", "Signal",
           "Target", "Variable", "declarations"]

PRIORITIES = ("high", "low", "none")
#: What a bound asks of a value, in words.
BOUNDS: dict[str, tuple[str, Callable[[Any, Any], Any]]] = {
    "minimum": ("at least", ge), "maximum": ("at most", le), "above": ("greater than", gt),
    "below": ("less than", lt)}


class Declaration:
    """Something a component class declares; ``when`` makes it conditional.

    ``when`` is the name of an :class:`Option` that must be true, or a function of the component.
    """

    name: str = ""
    when: str | OfComponent | None = None
    group: str = ""  # name of the declaration that this is a numbered one of
    owner: str = ""  # name of the class it stands in
    open: bool = False  # whether the unit depends on the instance
    any_unit: bool = False  # whether the unit is that of the value given
    unit_of: OfComponent | None = None  # derives the unit from the component
    default_of: OfComponent | None = None  # gives the default, or the initial target, by others
    #: Of an instance, where that follows from parameters (:mod:`.followed`), the present one.
    follows: Callable[[TreeNode], Any] | None = None
    unit: Unit
    _given: tuple[Any, ...]  # what the author wrote: the default or initial target, and others
    _faulty: bool = False

    def __set_name__(self, owner: type, name: str) -> None:
        self.name, self.owner = name, owner.__name__

    def _declare(self) -> None:
        """Read the values and units that the author wrote."""

    def _declare_now(self) -> None:
        """Read what the author wrote; within a class, complain when names are known."""
        try:
            self._declare()
        except ModelError:
            if not _in_class_body():
                raise
            self._faulty = True

    def refuse_faults(self) -> None:
        """Complain of what the author wrote, naming class and declaration."""
        if not self._faulty:
            return
        try:
            self._declare()
        except ModelError as error:
            raise type(error)(error.where or self._place(), error.problem, error.advice,
                              **error.data) from None  # fmt: skip

    def _place(self, word: str = "") -> str:
        """Where in the code this is, or one of its words."""
        name = f"{self.owner}.{self.name}".strip(".")
        return f"{name} ({word})" if name and word else name or word

    def exists(self, component: TreeNode) -> bool:
        """Whether the declaration applies to this instance's options."""
        if self.when is None:
            return True
        seen = seen_by_structure(component, self.name, "whether it exists")
        return bool(self.when(seen) if callable(self.when) else getattr(seen, self.when))

    def for_structure(self, component: TreeNode, reader: Structure) -> Any:
        """Return what functions see that determine units, sizes and what exists."""
        return self.read(component)

    def __get__(self, component: Any, owner: type) -> Any:
        if component is None:
            return self
        if component._trace is not None:
            return component._trace.symbol(self)
        made = component._as_declared(self) if self.open else self
        return made.read(component) if isinstance(made, Declaration) else made

    def __set__(self, component: TreeNode, value: object) -> None:
        if component._trace is not None:
            raise EquationError(component._trace.where(), f"assigns to self.{self.name}.",
                                f"State the law as an equation: yield self.{self.name} == …")
        component._assign(self, value)

    def read(self, component: TreeNode) -> Any:
        raise NotImplementedError

    def _take_unit(self, u: Unit) -> None:
        """Take what the author wrote as being in a unit."""

    def with_unit(self, u: Unit) -> Self:
        """This declaration for an instance whose unit is known."""
        made = copy.copy(self)
        made.open = False
        made._take_unit(u)
        return made

    def with_default(self, default: Any) -> Self:
        """This declaration for an instance whose options give the default or initial target."""
        made = copy.copy(self)
        made.open, made.default_of, made._given = False, None, (default, *self._given[1:])
        made._take_unit(self.unit)
        return made

    def following(self, shape: tuple[int, ...], follows: Callable[[TreeNode], Any]) -> Self:
        """This declaration for an instance whose other parameters give that."""
        made = copy.copy(self)
        made.open, made.follows = False, follows
        return made


class Parameter(Declaration):
    """A value with a unit that is constant during a run.

    Parameters
    ----------
    default : str, quantity, number or sequence, or function of the component
        Its unit is the declared one. A bare number declares a dimensionless
        parameter. A function of options and other parameters is followed where no value is
        given, ``Parameter(lambda c: pi * c.radius**2, "m^2")``; it needs ``unit``.
    unit : str, Unit or function of the component, optional
        Declared unit, where the default does not show it; ``"any"`` takes the unit of the value
        given, a function derives it (default and bounds are then plain numbers in that unit).
    minimum, maximum : same forms as ``default``, or 0, optional
        Bounds that are allowed themselves.
    above, below : optional
        Bounds that are not allowed themselves.
    varying : bool
        Whether a function of time (``lambda t: …``) may be given. Any parameter that is one
        number takes a function of variables of the component, by their names:
        ``coulomb_force=lambda temperature: …``.
    advice : str or mapping of unit to str
        A hint shown when a value of another dimension is given, or one for every
        dimension that is likely: ``{"N*s/m": "A damping belongs to Damper(damping=…)."}``.
    structure : function of the value in SI, optional
        Something hashable that the equations depend on, such as where a table jumps;
        ``self.structure(name)`` reads it in ``equations()``.
    doc : str
        One line for people.
    """

    @told_how_to_call
    def __init__(self, default: object, unit: str | Unit | OfComponent | None = None, *,
                 minimum: object = None, maximum: object = None, above: object = None,
                 below: object = None, varying: bool = False, advice: str | Mapping[str, str] = "",
                 structure: Callable[[Any], Hashable] | None = None,
                 when: str | OfComponent | None = None, doc: str = "") -> None:
        self.varying, self.advice, self.when, self.doc = varying, advice, when, doc
        self.structure = structure
        if structure is not None and not callable(structure):
            raise ParameterError("Parameter(structure=…)", f"is {brief(structure)}, no function.",
                                 "Write a function of the value, such as structure=len.")
        bounds = {"minimum": minimum, "maximum": maximum, "above": above, "below": below}
        self._given = default, {word: b for word, b in bounds.items() if b is not None}
        self.any_unit = unit == "any"
        self.default_of = default if callable(default) else None
        self.open = self.any_unit or callable(unit) or callable(default)
        self.unit_of = unit if callable(unit) else None
        if self.default_of is not None and (self.any_unit or callable(unit)):
            raise ParameterError("Parameter()", "has a default and a unit that are both fixed "
                                 "elsewhere.", "Write the unit: Parameter(lambda c: …, \"m^2\").")
        self._text = None if callable(unit) or self.any_unit else unit
        self._declare_now()

    def _declare(self) -> None:
        if self.default_of is not None:  # until the component's options are known
            self._given = f"0 {self._text}", self._given[1]
        default = self._given[0]
        self._take_unit(unit_given(default, self._place("default")) if self._text is None
                        else self._unit_declared())  # fmt: skip
        if self.default_of is None:
            self.keep_bounds(self.default, default, self._place("default"))

    def _unit_declared(self) -> Unit:
        try:
            return as_unit(self._text)
        except UnknownUnit as error:
            with suppress(ModelError):  # unless it is a value, in the place of that of a variable
                unit_given(self._text, "")
                error.advice = (f"The default of a parameter comes first, and shows its unit: "
                                f"Parameter({self._text!r}).")
            raise

    def _take_unit(self, u: Unit) -> None:
        default, bounds = self._given
        self.unit = u
        self.default = to_si(self._in_unit(default), u, self._place("default"))
        self.bounds = {word: self._bound(bound, word) for word, bound in bounds.items()}

    def _in_unit(self, number: Any) -> Any:
        """A plain number is one in the declared unit where that is not known beforehand."""
        if self.unit_of is None or isinstance(number, str):
            return number
        if isinstance(number, (int, float)) and self.unit.text:
            return f"{number!r} {self.unit}"
        return number if not self.unit.text else quantity(number, self.unit)

    def _bound(self, bound: Any, word: str) -> float:
        if isinstance(bound, (int, float)) and (bound == 0 or self.unit.is_dimensionless):
            return float(bound)
        return float(to_si(self._in_unit(bound), self.unit, self._place(word)))

    @property
    def dimensions(self) -> int:
        """Number of dimensions of its value: 0 of a number, 1 of a list."""
        return 0 if type(self.default) is float else np.ndim(self.default)

    def with_default(self, default: Any) -> Self:
        made = super().with_default(default)
        made.refuse_default(made._place())
        return made

    def following(self, shape: tuple[int, ...], follows: Callable[[TreeNode], Any]) -> Self:
        made = super().following(shape, follows)
        made.default = np.zeros(shape) if shape else 0.0
        return made

    def value(self, component: TreeNode) -> Any:
        """Return its value for a component in SI units, or the function that it was given."""
        if self.follows is not None and self.name not in component._values:
            return self.follows(component)
        return component._values.get(self.name, self.default)

    def with_unit(self, u: Unit) -> Self:
        if self.unit_of or not (self.any_unit or u.dimension != self.unit.dimension):
            return super().with_unit(u)
        made = copy.copy(self)
        made.open, made.unit = False, u
        made.bounds = {word: made._bound(b, word) for word, b in self._given[1].items()}
        return made

    def read(self, component: TreeNode) -> Any:
        value = self.value(component)
        if callable(value):
            return OfTime.of(value) if component._is_composing else value
        return from_si(value, self.unit)

    def for_structure(self, component: TreeNode, reader: Structure) -> UnitAndSize:
        dimensions = np.ndim(self.default)
        shape = np.shape(component._values.get(self.name, self.default)) if dimensions else ()
        return UnitAndSize(self.name, self.unit, shape[-dimensions:], reader)

    def refuse_default(self, where: str) -> None:
        """Raise where the class's own default is not allowed by its bounds."""
        if self.default_of is not None:
            return  # not known before an instance is
        try:
            self._finite_in_bounds(self.default, where)
        except ParameterError as error:
            raise ParameterError(where, f"its own default {error.problem}", "Change the default "
                                 "or the bound in the class.", **error.data) from None

    def accept(self, value: Any, where: str) -> Any:
        """Check a value against unit and bounds, and return it in SI units."""
        value = value.plain if isinstance(value, OfTime) else value
        if callable(value) and not is_quantity(value):
            if not self.varying and (self.any_unit or np.ndim(self.default)):
                raise ParameterError(where, "takes a constant, but was given a function.",
                                     "Functions of time belong to signal blocks and to "
                                     "sources whose value may vary.", given=value,
                                     code="parameter.function")
            gives = getattr(value, "gives", None)
            if is_quantity(gives) and not self.any_unit:  # a table: in a unit, as a value is
                to_si(gives, self.unit, where, self.advice)
            return value  # of what, the component says: `dependence.refuse_function`
        if isinstance(value, Expression):
            raise ParameterError(
                where, f"was given {value}, an expression as in equations, not a value.",
                "Give a function of time, lambda t: …, instead." if self.varying else
                "It takes a constant, or a function of a variable of the component.",
                given=value, code="parameter.function")
        try:
            number = to_si(value, self.unit, where, self.advice)
        except UnitError:
            for i, one in enumerate(() if is_quantity(value) or np.ndim(value) != 1 else value):
                to_si(one, self.unit, f"{where}[{i}]", self.advice)  # says which it is
            raise
        return self._finite_in_bounds(number, where, value)

    def _finite_in_bounds(self, number: Any, where: str, value: Any = None) -> Any:
        """The number in SI units, given as ``value`` where that is another one."""
        if not np.all(np.isfinite(number)):
            given = from_si(number, self.unit) if value is None else value
            raise ParameterError(where, f"is {as_written(given)}, which is not a finite number.",
                                 f"Give a value in {self.unit}.", given=given,
                                 code="parameter.finite")
        self.keep_bounds(number, value, where)
        return number

    def keep_bounds(self, number: Any, value: Any, where: str) -> None:
        """Raise where a number in SI units, given as ``value``, is beyond a bound."""
        for word, bound in self.bounds.items():
            rule, relation = BOUNDS[word]
            if not np.all(relation(number, bound)):
                limit = from_si(bound, self.unit)
                value = from_si(number, self.unit) if value is None else value
                none = isinstance(self.when, str) and word == "above" and bound == 0 and np.any(
                    number == 0)  # fmt: skip
                raise ParameterError(
                    where, f"must be {rule} {limit.magnitude:g} {self.unit.text}".rstrip()
                    + f", but is {as_written(value)}.",
                    f"For none choose {self.when}=False." if none else
                    f"Check the sign, the size and the unit of {self.name}"
                    + (f" ({self.doc})." if self.doc.lower() not in ("", self.name) else "."),
                    given=value, bound=limit, rule=word, code="parameter.bounds")


def _in_class_body() -> bool:
    """Whether a declaration is just being made in the body of a class."""
    frame = sys._getframe(2)
    while frame.f_back is not None and frame.f_code.co_name in ("__init__", "called"):
        frame = frame.f_back
    return {"__module__", "__qualname__"} <= set(frame.f_locals)


class Option(Declaration):
    """A structural choice; another value makes another set of equations.

    Parameters
    ----------
    default : bool, int or str
    choices : sequence, optional
        Allowed values; misspelt ones are answered with the nearest.
    minimum : int, optional
        For counts.
    """

    def __init__(self, default: Any, choices: Iterable[Any] | None = None, *,
                 minimum: int | None = None, doc: str = "") -> None:
        self.default, self.minimum, self.doc = default, minimum, doc
        self.choices = None if choices is None else tuple(choices)
        self._declare_now()

    def _declare(self) -> None:
        self.accept(self.default, self._place("default"))

    def read(self, component: TreeNode) -> Any:
        return component._values.get(self.name, self.default)

    def accept(self, value: Any, where: str) -> Any:
        value = python_number(value)
        if self.choices is None and isinstance(self.default, str) and not (
                isinstance(value, str) or hasattr(value, "dimensionality")):
            raise ParameterError(where, f"takes a text, but was given {value!r:.100}.",
                                 f"The default is {self.default!r}.", given=value,
                                 code="parameter.choice")
        if self.choices is not None and not any(
                isinstance(value, type(c)) and value == c for c in self.choices):
            raise unknown_name(where, value, [str(c) for c in self.choices], "choices")
        if self.choices is None and isinstance(self.default, bool) and not isinstance(value, bool):
            raise ParameterError(where, f"is a switch, but was given {brief(value)}.",
                                 "Give True or False.", given=value, code="parameter.choice")
        if self.minimum is not None and (isinstance(value, bool) or not isinstance(value, int)
                                         or value < self.minimum):
            raise ParameterError(where, f"must be a whole number of at least {self.minimum}, but "
                                 f"is {brief(value)}.", given=value, code="parameter.count")
        return value


@dataclass(frozen=True)
class Target:
    """An initial target: ``Mass(v=Target("1 m/s", priority="low"))``.

    Parameters
    ----------
    value : str or quantity
    priority : {"high", "low", "none"}
        High targets are met exactly, low ones as closely as possible, none
        makes the value a mere guess for the solver.
    nominal : str or quantity, optional
        Nominal value of the variable in this instance.
    """

    value: Any = None
    priority: str = "high"
    nominal: Any = None

    def __post_init__(self) -> None:
        if self.priority not in PRIORITIES:
            raise unknown_name("Target.priority", self.priority, PRIORITIES, "priorities")


class Variable(Declaration):
    """An unknown of the component.

    Parameters
    ----------
    unit : str or function of the component
        A function that returns a list declares numbered variables ``x1, x2, …``;
        ``self.x`` in ``equations()`` is then the list of them.
    initial : str, quantity or function of the component, optional
        Default initial target (a plain number where the unit is a function). A function of
        parameters and options is followed where no target is given: ``lambda c: c.charge``.
    priority : {"high", "low", "none"}
        Priority of the default target.
    nominal : str or quantity, optional
        Expected magnitude, for scaling and tolerances.
    minimum : str or quantity, optional
        Least value that a target may have, such as absolute zero.
    """

    def __init__(self, unit: str | Unit | OfComponent = "", initial: Any = None, *,
                 priority: str = "none", nominal: Any = None, minimum: Any = None,
                 when: str | OfComponent | None = None, doc: str = "") -> None:
        if priority not in PRIORITIES:
            raise unknown_name("Variable.priority", priority, PRIORITIES, "priorities")
        self.open = callable(unit) or callable(initial)
        self.unit_of = unit if callable(unit) else None
        self.default_of = initial if callable(initial) else None
        self._given = None if callable(initial) else initial, nominal, minimum
        self.initial = self.nominal = self.minimum = None
        self.priority, self.when, self.doc = priority, when, doc
        self._unit_given = "" if callable(unit) else unit
        self._declare_now()

    def _declare(self) -> None:
        self.unit = as_unit(self._unit_given)
        if self.unit_of is None:
            self._take_unit(self.unit)

    def _take_unit(self, u: Unit) -> None:
        self.unit = u
        initial, nominal, minimum = (
            quantity(v, u) if isinstance(v, (int, float)) and self.unit_of else v
            for v in self._given
        )
        self.initial = None if initial is None else to_si(initial, u, self._place("initial"))
        self.nominal = None if nominal is None else size_in_si(nominal, u, self._place("nominal"))
        self.minimum = None if minimum is None else to_si(minimum, u, self._place("minimum"))

    @property
    def has_initial(self) -> bool:
        """Whether it has an initial target, if none is given."""
        return self.initial is not None or self.default_of is not None

    def initial_of(self, component: TreeNode) -> Any:
        """Return the initial target of a component's variable where none is given, in SI units."""
        value = self.initial if self.follows is None else self.follows(component)
        if callable(value):
            raise ParameterError(
                f"{component.path}.{self.name}", "has an initial target that follows from a "
                "parameter which was given a function.", "Give the target itself, or a constant.")
        return value

    def read(self, component: TreeNode) -> VariableRef:
        return VariableRef(component, self)


class Discrete(Variable):
    """A value held between events; changed by ``when``, ``every`` and ``initially`` only."""


class Signal(Variable):
    """Base of :class:`Input` and :class:`Output`."""

    def read(self, component: TreeNode) -> Any:
        return PortRef(component, self)


class Input(Signal):
    """A signal taken from one output.

    Parameters
    ----------
    unit : str
    default : str, optional
        Name of the parameter that is used while nothing is connected; without
        one, an unconnected input is a finding of ``check()``.
    """

    def __init__(self, unit: str | OfComponent = "", *, default: str | None = None,
                 when: str | OfComponent | None = None, doc: str = "") -> None:
        super().__init__(unit, when=when, doc=doc)
        self.default = default


class Output(Signal):
    """A signal given to any number of inputs."""


class Port(Declaration):
    """A conserving port of a domain.

    Parameters
    ----------
    domain : Domain
    sets : bool
        The component states the domain's parameters for the whole circuit, by
        equations such as ``self.P.gravity == self.strength``.
    carries : str
        Name of a variable in W whose power leaves through this port, as
        ``carries="power_dissipated"`` at a thermal port. The equation is the language's:
        the power into the component here is minus that variable. The balance of energy
        counts it at the port, and no longer as dissipated.
    """

    def __init__(self, domain: Domain, *, sets: bool = False, carries: str = "",
                 when: str | OfComponent | None = None, doc: str = "") -> None:
        if not isinstance(domain, Domain):
            raise ConnectionRefused(
                "Port()", f"takes a Domain, but was given {brief(domain)}.", "Import the domain, "
                "such as  from library.translational import translational, and write "
                "Port(translational).", code="connection.domain")  # fmt: skip
        self.domain, self.sets, self.carries, self.when, self.doc = (
            domain, sets, carries, when, doc)

    def read(self, component: TreeNode) -> PortRef:
        return PortRef(component, self)


def declarations(component: Any) -> Mapping[str, Any]:
    """Return what a component, or its class, declares: parameters, variables, ports, by name."""
    return dict(component._declared)
