"""What does a component class declare, and what has a user made of it?

Declarations (parameters, variables, ports, signals) and the instances that carry values, initial
targets and connections. A *leaf* component states its law in ``equations()``; a *composite* builds
and connects others in ``compose()``. Knows nothing of solvers, matrices or results.

Declarations are in :mod:`blocks.language.declarations`, the tree of parts in
:mod:`blocks.language.tree`.
"""

from __future__ import annotations

import copy
from collections.abc import Hashable, Iterator, Mapping
from contextvars import ContextVar
from typing import TYPE_CHECKING, Any, ClassVar, Self

import numpy as np

from ..exceptions import (
    BlocksError,
    EquationError,
    ModelError,
    NamingError,
    ParameterError,
    WrongCall,
    brief,
    nearest,
    told_how_to_call,
    unknown_name,
)
from ..reading.foreign_words import keyword_elsewhere, method_nearest, part_elsewhere
from ..reading.paths import steps_of
from ..renamed import ATTRIBUTES, current_attribute
from ..results.formatting import printable
from ..units import Unit, from_si, unit_given
from .assignment import Builds, accept_count, aim, are_parts, pass_on, refuse_as_part, shaped
from .declarations import Declaration, Option, Parameter, Port, Signal, Variable
from .dependence import refuse_function
from .documentation import (
    Documentation,
    Entry,
    Signature,
    call_of,
    contents_of,
    nameless_values,
    parts_of,
    table_of,
)
from .pickling import (
    ClassMemory,
    PickledFunction,
    pickled_port,
    refuse_other_options,
    refuse_other_values,
    said_by_class,
)
from .references import PortGroup, PortRef
from .replaceable import Replacement
from .source_lines import line_where_raised, tell_line
from .specialisation import (
    arrays_are_numbers,
    declarations_of,
    is_structural,
    refuse_idle,
    refuse_of_other_law,
    refuse_other_structure,
    with_values_of_laws,
)
from .tree import TreeNode
from .view import View
from .wiring import one_by_one, ports_without, refuse_assigned, refuse_connection

if TYPE_CHECKING:
    from .kernel import Kernel

__all__ = ["Component", "Part"]

#: What an author of components defines, and a model does not.
HOOKS = "compose", "port_equations", "verify", "at_samples", "shapes", "advise"

# instances of the composite that is building its parts
_composing: ContextVar[int | None] = ContextVar("composing", default=None)


class Part(TreeNode):
    """What models and components have in common: values, parts, ports and connections."""

    _declared: dict[str, Declaration] = {}  # of the class; of an instance, as it has them
    _kernels: ClassVar[dict[tuple[Hashable, ...], Kernel]] = ClassMemory()
    _specialised: ClassVar[dict[tuple[Hashable, ...], Any]] = ClassMemory()
    _said: ClassVar[dict[int, Any]] = ClassMemory()  # by id of declarations, which are kept beside
    _open: ClassVar[bool] = False  # whether units or ports depend on the instance
    _own_keywords: ClassVar[bool] = False  # whether the class says itself what it takes
    _trace: Any = None  # the Trace of a reader of equations
    __signature__ = Signature()

    def __init_subclass__(cls, **kwargs: Any) -> None:
        super().__init_subclass__(**kwargs)
        declared = _declarations_of(cls)
        mine = [hook for hook in HOOKS if cls._is_root and hook in vars(cls)]
        if mine:
            raise EquationError(
                cls.__name__, f"is a model, which has no {mine[0]}().",
                "Add its parts in __init__(), after super().__init__(), or derive it from "
                "Component to make it a part.",
            )
        cls._declared = declared
        cls.__doc__ = Documentation(cls.__dict__.get("__doc__"))  # type: ignore[assignment]
        cls._kernels, cls._specialised, cls._said = ClassMemory(), ClassMemory(), ClassMemory()
        cls._open = any(d.open for d in declared.values())
        cls._own_keywords = cls._own_keywords or "__init__" in vars(cls)

    def __init__(self, *nameless: Any, count: Any = None, **values: Any) -> None:
        if nameless:
            raise nameless_values(type(self), nameless)
        if count is not None:
            count = accept_count(f"{type(self).__name__}.count", count)
        super().__init__(_composing.get() if count is None else count, count is not None)
        self._values: dict[str, Any] = {}  # of parameters and options; in SI units
        self._targets: dict[str, tuple[Any, str]] = {}  # initial targets and their priority
        self._nominals: dict[str, Any] = {}
        self._written_in: dict[str, Unit] = {}  # units that initial targets were given in
        self._units: dict[str, Unit] = {}  # of parameters that take the unit of their value
        self._connections: list[tuple[PortRef, ...]] = []
        self._built = self._initialised = False
        rest = self._specialise(values) if self._open else values
        chosen = {n: v for n, v in rest.items() if isinstance(self._declared.get(n), Option)}
        for name, value in chosen.items():
            setattr(self, name, value)
        for name, value in rest.items():
            if name not in chosen:
                refuse_idle(self, name)
                setattr(self, name, value)
        for name in values:
            refuse_function(self, name)
        self._initialised = True
        if self.is_composite:
            self._compose()
            self._built, self._builds = not self._is_root, Builds()

    def _compose(self) -> None:
        """Build and connect the parts; errors tell where in ``compose()`` they are."""
        if not isinstance(self, Component):
            return  # a model's parts are added from outside
        token = _composing.set(self._count)
        try:
            self.compose()
        except BlocksError as error:
            tell_line(error, line_where_raised(error))
            raise
        except RecursionError:
            raise EquationError(
                type(self).__name__, "its compose() adds a part that adds such a part again, "
                "without end.", "Add parts of other classes, or end by an Option "
                "that counts down.") from None
        except Exception as error:
            raise tell_line(EquationError(
                type(self).__name__, f"its compose() raised {type(error).__name__}: {error}",
                "Parameters are quantities in compose(). One that was given a function of time can "
                "be added to others and multiplied, and goes to a parameter that is varying, too."),
                line_where_raised(error)) from error
        finally:
            _composing.reset(token)

    @property
    def _is_composing(self) -> bool:
        return self.is_composite and self._initialised and "_builds" not in vars(self)

    def _specialise(self, values: dict[str, Any]) -> dict[str, Any]:
        """Take the values that set units and numbers of ports; returns the others."""
        values = with_values_of_laws(values)
        first = [name for name in values if is_structural(self._declared.get(name))]
        for name in first:
            setattr(self, name, values[name])
        self._declared = declarations_of(self)
        return {n: v for n, v in values.items() if n not in first}

    def _as_declared(self, declared: Declaration) -> Any:
        """A declaration of the class as this instance has it; of numbered ports all of them."""
        numbered = [d for d in self._declared.values() if d.group == declared.name]
        if ports := tuple(PortRef(self, d) for d in numbered if isinstance(d, (Port, Signal))):
            return PortGroup(ports)
        if declared.name not in self._declared:
            raise unknown_name(self.path, declared.name, [d.name for d in numbered],
                               "numbered ports")
        return self._declared[declared.name]

    @classmethod
    def _reader(cls, **state: Any) -> Self:
        """An instance with this state that is no part of anything: for reading, never for runs."""
        reader = object.__new__(cls)
        reader.__dict__.update(state)
        return reader

    # -- values ----------------------------------------------------------------
    def __setattr__(self, name: str, value: Any) -> None:
        if name in self._declared:
            self._declared[name].__set__(self, value)
        elif name.startswith("_") and not isinstance(value, Part):
            object.__setattr__(self, name, value)
        elif isinstance(value, Part):
            self._attach(name, value)  # type: ignore[arg-type]  # a model is refused
        else:
            refuse_of_other_law(self, name)
            known = [n for n, d in self._declared.items() if not isinstance(d, Port)]
            made_of_parts = self.is_composite or not self._declared
            if name in self._children or made_of_parts and not known or are_parts(value, Part):
                refuse_as_part(f"{self.path}.{name}".lstrip("."), name, value)
            raise unknown_name(self.path, name, known, "parameters and variables",
                               keyword_elsewhere(self, name))

    def _assign(self, declared: Declaration, value: Any) -> None:
        """Take the value of a parameter or option, or the initial target of a variable."""
        where = f"{self.path}.{declared.name}"
        if self._initialised:
            refuse_idle(self, declared.name)
            refuse_function(self, declared.name, value)
        if isinstance(declared, (Parameter, Option)):
            self._assign_value(declared, value, where)
        else:
            refuse_assigned(self, declared, value)
            assert isinstance(declared, Variable)
            self._assign_target(declared, value, where)

    def _assign_value(self, declared: Parameter | Option, value: Any, where: str) -> None:
        before = self._values.copy(), self._units.copy()
        if isinstance(declared, Parameter) and declared.any_unit and not callable(value):
            own = type(self)._declared[declared.name]
            assert isinstance(own, Parameter)
            declared = own.with_unit(unit_given(value, where))
        accepted = declared.accept(value, where)
        if self._built and isinstance(declared, Option) and accepted != declared.read(self):
            raise ParameterError(where, "a composite's options cannot change once it is built.",
                                 f"Make a new {type(self).__name__} with this option.",
                                 code="parameter.structure")
        as_built = self._builds.present(self) if self._built else None
        if isinstance(declared, Parameter) and not callable(accepted):
            accepted = shaped(declared, accepted, self._count, where)
        structure = self._changes_equations(declared, accepted)
        self._values[declared.name] = accepted
        if isinstance(declared, Parameter) and declared.any_unit:
            self._units[declared.name] = declared.unit
        if structure and "_declared" in vars(self):  # an open class, made
            self._specialise_anew(where, *before)
            if isinstance(value, Replacement):
                for name, given in value.given.items():
                    setattr(self, name, given)
        if as_built is not None:
            try:
                pass_on(self, where, as_built, self._builds.present(self))
            except ModelError:
                self._values, self._units = before
                raise
        self._changed(structure)

    def _changes_equations(self, declared: Parameter | Option, accepted: Any) -> bool:
        """Whether a new value makes other equations, not only other numbers in them."""
        if isinstance(declared, Option):
            return True
        present = self._values.get(declared.name, declared.default)
        if callable(accepted) or callable(present):
            return True
        if declared.default_of is not None and declared.name not in self._values:
            return True
        found = declared.structure
        if np.ndim(declared.default) and (
                np.shape(accepted) != np.shape(present)
                or found and found(accepted) != found(present)
                or arrays_are_numbers(self) and not np.array_equal(accepted, present)):
            return True
        return declared.any_unit and self._units.get(declared.name) != declared.unit

    def _specialise_anew(self, where: str, old_values: dict[str, Any],
                         old_units: dict[str, Unit]) -> None:
        """The declarations after a change of structure; other units or ports are refused."""
        try:
            new = declarations_of(self)
            refuse_other_structure(self, where, new)
        except ModelError:
            self._values, self._units = old_values, old_units
            raise
        self._declared = new
        for table in self._value_tables().values():
            for name in [n for n in table if n not in new and n not in type(self)._declared]:
                del table[name]  # belonged to a law that has been replaced

    def _assign_target(self, declared: Variable, value: Any, where: str) -> None:
        name = declared.name
        known = name in self._targets
        if value is None:  # as if it had never been aimed at
            guess = self._targets.pop(name, (None, ""))[1] == "none"
            self._nominals.pop(name, None)
            self._written_in.pop(name, None)
            self._changed(guess)
            return
        given = aim(declared, value, self._count, where)
        if given.nominal is not None:
            self._nominals[name] = given.nominal
        if given.written_in is not None:
            self._targets[name] = (given.value, given.priority)
            self._written_in[name] = given.written_in
        elif given.priority == "none":
            self._targets[name] = (None, "none")
        guess = self._targets.get(name, (None, ""))[1] == "none"
        self._changed(guess and not known)  # loops are torn where there are guesses

    def _value_tables(self) -> dict[str, dict[str, Any]]:
        """All that was given: values, initial targets and nominal values, each by name."""
        return {"_values": self._values, "_targets": self._targets, "_nominals": self._nominals}

    def _restore_values(self, tables: dict[str, dict[str, Any]]) -> None:
        """Be given again what :meth:`_value_tables` told, in tables of its own."""
        self._values, self._targets, self._nominals = (
            tables[name].copy() for name in ("_values", "_targets", "_nominals"))

    def _rebuilt(self) -> Self:
        """A composite as it is built from the present parameters."""
        given = {}
        for name, value in self._values.items():
            declared = self._declared[name]
            number = isinstance(declared, Parameter) and not callable(value)
            given[name] = from_si(value, declared.unit) if number else value  # type: ignore[attr-defined]
        return type(self)(count=self._count, **given)

    # -- names -------------------------------------------------------------------------
    def __getattr__(self, name: str) -> Any:
        children = self.__dict__.get("_children", {})
        if name in children:
            return children[name]
        if name.startswith("_"):
            if "_children" not in self.__dict__ and not name.startswith("__"):
                raise ModelError(type(self).__name__, "its __init__() does not call the one that "
                                 "it inherits.", "Call super().__init__() there first.")
            raise AttributeError(name)
        if self._trace is not None and name in self._trace.symbols:  # numbered, of a law
            return self._trace.symbols[name]
        if name in self._declared:  # a numbered port, or a law's own
            return self._declared[name].__get__(self, type(self))
        if any(name in ATTRIBUTES.get(kind.__name__, ()) for kind in type(self).__mro__):
            return current_attribute(self, name)
        known = [*children, *self._declared] or ["(nothing)"]
        instead = part_elsewhere(name) if self._is_root else keyword_elsewhere(self, name)
        if self._is_root and not instead[0] and not nearest(name, known):
            instead = method_nearest(type(self), name)
        if self._trace and not instead[0].endswith(" here.") and not nearest(name, known):
            instead = f"Declare it in the class, such as  {name} = Variable('m').", ""
        raise unknown_name(self.path, name, known, "parts" if children else "names", instead)

    def __delattr__(self, name: str) -> None:
        if name not in self._children:
            raise unknown_name(self.path, name, self._children, "parts")
        child = self._children.pop(name)
        left = (ports_without(child, self, refs) for refs in self._connections)
        self._connections[:] = [refs for refs in left if refs]
        child._place("", None)
        self._changed(True)

    def __dir__(self) -> list[str]:
        return sorted({*super().__dir__(), *self._children, *self._declared})

    # -- pickling and copying ------------------------------------------------------
    def __copy__(self) -> Self:
        """As ``copy.deepcopy`` copies: no part belongs to two models."""
        return copy.deepcopy(self)

    def __getstate__(self) -> dict[str, Any]:
        """What the component was made of; what follows from it is made anew.

        A part is pickled without its surroundings. Values go with what the class says
        of them, since it may have changed when they are read. Raises ParameterError for a
        function of time that cannot be pickled.
        """
        state = {k: v for k, v in vars(self).items() if k not in ("_parent", "_declared")}
        state["_values"] = {
            n: PickledFunction(v, f"{self.path}.{n}") if callable(v) else v
            for n, v in self._values.items()
        }
        state["_said"] = said_by_class(self)
        state["_connections"] = [
            [(None if r.component is self else r.component, r.port.name, r.index) for r in refs]
            for refs in self._connections
        ]
        return state

    def __setstate__(self, state: dict[str, Any]) -> None:
        """Be what was pickled; refuses by name what the class has no place for now."""
        said = state.pop("_said")
        self.__dict__.update(state, _parent=None)
        self._values = {
            n: v.function if isinstance(v, PickledFunction) else v for n, v in self._values.items()
        }
        if self._open:
            refuse_other_options(self)
            self._declared = declarations_of(self)
        if said != said_by_class(self):
            refuse_other_values(self, said)
        for name, child in self._children.items():
            child._place(name, self)
        self._connections = [
            tuple(pickled_port(c or self, name, index) for c, name, index in refs)
            for refs in state["_connections"]
        ]

    # -- parts and instances -----------------------------------------------------------
    @property
    def is_composite(self) -> bool:
        """Whether it is made of parts, and not of equations."""
        return True

    @told_how_to_call
    def add(self, name: str, component: Component) -> Component:
        """Add a part under a computed name; returns it."""
        if not isinstance(component, Part):
            refuse_as_part(f"{self.path}.{name}".lstrip("."), name, component)
        self._attach(name, component)
        return component

    def _attach(self, name: str, part: Component) -> None:
        if not self.is_composite:
            raise NamingError(f"{self.path}.{name}".lstrip("."),
                              f"{type(self).__name__} is not a composite and has no parts.",
                              "Add the component to the model instead.", name=name,
                              code="name.parts")
        self._adopt(name, part)

    def __getitem__(self, index: Any) -> Any:
        if isinstance(index, str):
            node: Any = self
            for name, instances in steps_of(index):
                node = getattr(node, name)
                if instances is not None:
                    node = node[instances]
            return node
        if self._is_root:
            raise NamingError("model[…]", f"takes a path, but was given {brief(index)}.",
                              "Write for example model['block.mass'].", name=str(index))
        return View(self, self._indices(index, None))

    def __setitem__(self, path: str, value: Any) -> None:
        if not isinstance(path, str):
            raise WrongCall(f"[{brief(path)}]", "is no path.", "Write model['a.mass'] = '3 kg'.")
        owner, _, name = path.rpartition(".")
        setattr(self[owner] if owner else self, name, value)

    @property
    def parts(self) -> Mapping[str, Component]:
        """All parts below it by path; shown as a table."""
        return parts_of(self)

    @property
    def parameters(self) -> Mapping[str, Entry]:
        """Parameters and options, those of all parts too, with unit, default, value and doc."""
        return contents_of(self, "parameters")

    @property
    def variables(self) -> Mapping[str, Entry]:
        """Variables, those of all parts too, with unit, initial target and doc."""
        return contents_of(self, "variables")

    @property
    def ports(self) -> Mapping[str, Entry]:
        """Ports and signals, those of all parts too, with domain or unit and doc."""
        return contents_of(self, "ports")

    def __iter__(self) -> Iterator[View]:
        return (View(self, np.array([k])) for k in range(len(self)))

    def connect(self, *ports: PortRef) -> None:
        """Join ports to one node, or one output to inputs.

        Any number of conserving ports of one domain; arrays join element by
        element, and a single port joins every element of an array. Numbered
        ports (``total.u`` for u1, u2, …) are joined with as many elements.

        Raises
        ------
        ConnectionRefused
            Naming both ports, for different domains, foreign models, a port
            given twice, several outputs, or arrays of different size.
        """
        joined = one_by_one(ports)
        for refs in joined:
            refuse_connection(self, refs)
        self._connections += joined
        self._changed(True)

    def __repr__(self) -> str:
        return printable(call_of(self))

    def _repr_html_(self) -> str | None:
        from ..results.sheet import Sheet

        title = ": ".join(dict.fromkeys([self.path, type(self).__name__]))  # alone: its class
        several = f", {self._count} of them" if self._count else ""
        return Sheet(f"{title}{several}", table_of(self))._repr_html_()


def _declarations_of(cls: type[Part]) -> dict[str, Declaration]:
    """What a class and its bases declare; raises where names clash or values are faulty."""
    declared: dict[str, Declaration] = {}
    for base in reversed(cls.__mro__):
        for name, value in vars(base).items():
            if isinstance(value, Declaration):
                value.refuse_faults()
                if name in _RESERVED:
                    raise NamingError(f"{cls.__name__}.{name}",
                                      "this name is reserved by Component.",
                                      "Choose another name for the declaration.", name=name,
                                      code="name.reserved")
                hidden = declared.get(name)
                if isinstance(hidden, Port) and not isinstance(value, Port):
                    raise NamingError(
                        f"{cls.__name__}.{name}", f"hides the port {name!r} of its base.",
                        f"Choose another name for the {type(value).__name__.lower()}, or name the "
                        "ports of the base otherwise: Branch(domain=…, ports=(…, …)).", name=name,
                        code="name.taken")
                if isinstance(value, Parameter) and base is cls:
                    value.refuse_default(f"{cls.__name__}.{name}")
                declared[name] = value
            elif name in declared:
                raise NamingError(
                    f"{cls.__name__}.{name}",
                    f"hides the {type(declared[name]).__name__.lower()} {name!r} of a base.",
                    "Rename one of the two.", name=name, code="name.taken")
    return declared


class Component(Part):
    """Base of all components.

    A subclass declares :class:`Parameter`, :class:`Variable`, :class:`Port` …
    as class attributes and states its law in ``equations()`` (or builds a
    network of others in ``compose()``). Instances take parameter values,
    options and initial targets by keyword; ``count=n`` makes n of them.

    Raises
    ------
    UnknownName, UnitError, ParameterError
        For keywords that are misspelt or values that do not fit.
    """

    def __init_subclass__(cls, **kwargs: Any) -> None:
        super().__init_subclass__(**kwargs)
        if cls.compose is not Component.compose and cls.equations is not Component.equations:
            raise EquationError(
                cls.__name__, "has both compose() and equations().",
                "A composite has parts and connections only: put the equations into a component "
                "of its own and make that a part.",
            )

    @property
    def is_composite(self) -> bool:
        return type(self).compose is not Component.compose

    # -- what authors write ----------------------------------------------------
    def equations(self) -> Iterator[Any]:
        """Yield the law: equations, ``when`` and ``breakpoints`` statements."""
        return iter(())

    def port_equations(self) -> Iterator[Any]:
        """Equations a base class adds to those of ``equations()``."""
        return iter(())

    def compose(self) -> None:
        """Build and connect the parts of a composite."""

    def verify(self) -> Iterator[str]:
        """Relations between parameters that must hold; yields what is violated."""
        return iter(())

    def at_samples(self, t: float, instance: int, now: dict[str, float],
                   before: dict[str, float]) -> dict[str, float]:
        """Values of Discrete variables that Python works out where ``every`` samples.

        Numbers by name, in SI units: ``now`` as the assignments of ``every`` have left them,
        ``before`` as they were before the instant. May be called several times at one instant,
        until all samplers agree.
        """
        return {}

    def shapes(self) -> Iterator[Any]:
        """Yield what it looks like in pictures of a run: shapes of :mod:`blocks.shapes`."""
        return iter(())

    def advise(self) -> Iterator[str]:
        """Yield, for ``check()``, a sentence on all that is allowed but rarely meant."""
        return iter(())

    def structure(self, name: str) -> Any:
        """Return what the equations depend on of a parameter's value, its ``structure``."""
        declared = self._declared[name]
        assert isinstance(declared, Parameter)
        component = self if self._trace is None else self._trace.component
        return declared.structure and declared.structure(declared.value(component))


_RESERVED = {n for n in dir(Component) if not n.startswith("__")} | {"time", "count"}
