"""What does a component class declare, and what has a user made of it?

Declarations (parameters, variables, ports, signals) and the instances that
carry values, initial targets and connections. A *leaf* component states its
law in ``equations()``; a *composite* builds and connects others in
``compose()``. Knows nothing of solvers, matrices or results.

Declarations are in :mod:`blocks.language.declarations`.
"""

from __future__ import annotations

import keyword
import pickle
from collections.abc import Iterable, Iterator
from contextvars import ContextVar
from typing import Any, ClassVar, cast

import numpy as np

from ..exceptions import (
    ConnectionRefused,
    EquationError,
    ModelError,
    NamingError,
    ParameterError,
    brief,
    unknown_name,
)
from ..reading.foreign_words import keyword_elsewhere, part_elsewhere
from ..units import Unit, alike, as_unit, as_written, from_si, placed, quantity, to_si, unit_given
from .declarations import (
    Declaration,
    Option,
    Output,
    Parameter,
    Port,
    PortRef,
    Signal,
    Target,
    Variable,
    VariableRef,
)
from .documentation import Documentation, Signature
from .domain import Domain
from .replaceable import Replaceable, Replacement

__all__ = ["Branch", "Component", "View"]

# instances of the composite that is building its parts
_composing: ContextVar[int | None] = ContextVar("composing", default=None)


class _Memory(dict):
    """What a class remembers of itself; not carried along when the class is pickled."""

    def __reduce__(self) -> tuple[Any, ...]:
        return _Memory, ()


class _Carried:
    """A function of time on its way through pickle: by its name, else by cloudpickle."""

    def __init__(self, function: Any, where: str) -> None:
        self.function, self.where = function, where

    def __deepcopy__(self, memo: Any) -> _Carried:
        return self

    def __reduce__(self) -> tuple[Any, ...]:
        try:
            return pickle.loads, (pickle.dumps(self.function),)
        except (pickle.PicklingError, AttributeError, TypeError):
            pass
        try:
            import cloudpickle
        except ImportError:
            raise ParameterError(
                self.where, "is a lambda or inner function, which Python's pickle cannot store.",
                "Define the function at the top of a module and give it by name, or install "
                "cloudpickle.", given=self.where, code="parameter.pickle",
            ) from None  # fmt: skip
        return cloudpickle.loads, (cloudpickle.dumps(self.function),)


class Component:
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

    _declared: ClassVar[dict[str, Declaration]] = {}
    __signature__ = Signature()

    def __init_subclass__(cls, **kwargs: Any) -> None:
        super().__init_subclass__(**kwargs)
        declared: dict[str, Declaration] = {}
        for base in reversed(cls.__mro__):
            for name, value in vars(base).items():
                if isinstance(value, Declaration):
                    value.refuse_faults()
                    if name in _RESERVED:
                        raise NamingError(
                            f"{cls.__name__}.{name}", "this name is reserved by Component.",
                            "Choose another name for the declaration.", name=name,
                            code="name.reserved",
                        )  # fmt: skip
                    if isinstance(value, Parameter) and base is cls:
                        value.refuse_default(f"{cls.__name__}.{name}")
                    declared[name] = value
                elif name in declared:
                    raise NamingError(
                        f"{cls.__name__}.{name}",
                        f"hides the {type(declared[name]).__name__.lower()} {name!r} of a base.",
                        "Rename one of the two.", name=name, code="name.taken",
                    )  # fmt: skip
        if cls.compose is not Component.compose and cls.equations is not Component.equations:
            raise EquationError(
                cls.__name__, "has both compose() and equations().",
                "A composite has parts and connections only: put the equations into a component "
                "of its own and make that a part.",
            )
        cls._declared = declared
        cls.__doc__ = Documentation(cls.__dict__.get("__doc__"))  # type: ignore[assignment]
        cls._kernels, cls._forms = _Memory(), _Memory()
        cls._open = any(d.open for d in declared.values())

    _kernels: ClassVar[dict[Any, Any]] = _Memory()
    _forms: ClassVar[dict[Any, dict[str, Declaration]]] = _Memory()
    _open: ClassVar[bool] = False

    def __init__(self, *nameless: Any, count: int | None = None, **values: Any) -> None:
        if nameless:
            from .documentation import nameless_values

            raise nameless_values(type(self), nameless)
        if count is not None and (
            not isinstance(count, int) or isinstance(count, bool) or count < 1
        ):
            raise ParameterError(f"{type(self).__name__}.count", "must be a whole number of at "
                                 f"least 1, but is {brief(count)}.", given=count,
                                 code="parameter.count")
        if count is not None and count > MOST_INSTANCES:
            raise ParameterError(f"{type(self).__name__}.count", f"is {brief(count)}, but may be "
                                 f"{MOST_INSTANCES:,} at most.", given=count,
                                 code="parameter.count")  # fmt: skip
        self.__dict__.update(
            _name="", _parent=None, _count=_composing.get() if count is None else count,
            _values={}, _targets={}, _nominals={}, _children={}, _connections=[], _revision=0,
            _built=False,
        )  # fmt: skip
        if self._open:
            values = self._take_structure(values)
        for name, value in values.items():
            setattr(self, name, value)
        self._refuse_idle(values)
        self.__dict__["_made"] = True
        if self.is_composite:
            token = _composing.set(self._count)
            try:
                self.compose()
            finally:
                _composing.reset(token)
            self.__dict__["_built"] = not self._is_root

    def _refuse_idle(self, values: Iterable[str]) -> None:
        """A value for something that the chosen options switch off is a mistake."""
        for name in values:
            declared = self._declared.get(name)
            if declared is None or declared.exists(self):
                continue
            chosen = ", ".join(f"{n}={getattr(self, n)!r}" for n, d in self._declared.items()
                               if isinstance(d, Option))  # fmt: skip
            raise ParameterError(
                f"{self.path}.{name}", f"has no meaning with {chosen}.",
                "Leave it out, or choose other options.", code="parameter.idle", name=name,
            )  # fmt: skip

    def _refuse_foreign(self, name: str) -> None:
        """A value for something that another law than the chosen one has is a mistake."""
        for choice, declared in type(self)._declared.items():
            owners = declared.owners(name) if isinstance(declared, Replaceable) else []
            if owners:
                raise ParameterError(
                    f"{self.path}.{name}", f"has no meaning with {choice}={getattr(self, choice)!r}"
                    ".", f"It belongs to {choice}={' or '.join(map(repr, owners))}.",
                    code="parameter.idle", name=name,
                )  # fmt: skip

    # -- what authors write ----------------------------------------------------
    def equations(self) -> Iterator[Any]:
        """The law: yields equations, ``when`` and ``breakpoints`` statements."""
        return iter(())

    def port_equations(self) -> Iterator[Any]:
        """Equations a base class adds to those of ``equations()``."""
        return iter(())

    def compose(self) -> None:
        """Build and connect the parts of a composite."""

    def verify(self) -> Iterator[str]:
        """Relations between parameters that must hold; yields what is violated."""
        return iter(())

    def shapes(self) -> Iterator[Any]:
        """What it looks like in pictures of a run; yields shapes of :mod:`blocks.shapes`."""
        return iter(())

    def advise(self) -> Iterator[str]:
        """What is allowed, but rarely meant; yields it as sentences, for ``check()``."""
        return iter(())

    # -- declarations whose unit depends on the instance ---------------------------
    def _take_structure(self, values: dict[str, Any]) -> dict[str, Any]:
        """Take what sets units and numbers of ports, settle the form; returns the rest."""
        def sets_structure(name: str) -> bool:
            declared = self._declared.get(name)
            return isinstance(declared, Option) or isinstance(declared, Parameter) and (
                declared.any_unit or np.ndim(declared.default) > 0 and declared.unit_of is None
            )

        self.__dict__["_units"] = {}
        for value in list(values.values()):
            if isinstance(value, Replacement):
                values = {**value.given, **values}
        first = {n: v for n, v in values.items() if sets_structure(n)}
        for name, value in first.items():
            setattr(self, name, value)
        self.__dict__["_declared"] = self._make_form()
        return {n: v for n, v in values.items() if n not in first}

    def _structure_key(self) -> tuple[Any, ...]:
        """What the equations depend on: options, functions of time, array sizes, open units."""
        parts: list[Any] = []
        for name, value in self._values.items():
            declared: Any = type(self)._declared.get(name) or self._brought().get(name)
            if declared is None:  # of a law that has been replaced
                continue
            if isinstance(declared, Option) or callable(value):
                parts.append((name, value))
            elif np.ndim(declared.default):
                parts.append((name, np.shape(value)[-np.ndim(declared.default):],
                              _settles(declared, value)))
        if self._open:
            parts += [(name, str(u)) for name, u in self._units.items()]
        return tuple(sorted(parts, key=lambda item: item[0]))

    def settled(self, name: str) -> Any:
        """What the value of a parameter ``settles`` for the equations."""
        trace = self.__dict__.get("_trace")
        values = (self if trace is None else trace.component)._values
        declared: Any = self._declared[name]
        return _settles(declared, values.get(name, declared.default))

    def _brought(self) -> dict[str, Declaration]:
        """What the chosen laws declare."""
        brought: dict[str, Declaration] = {}
        for declared in type(self)._declared.values():
            if isinstance(declared, Replaceable):
                brought |= declared.chosen(self).declarations
        for name in brought:
            if hasattr(type(self), name):
                raise NamingError(f"{self.path}.{name}", f"the law declares {name!r}, which "
                                  f"{type(self).__name__} has already.",
                                  "Choose another name for it in the law.", name=name,
                                  code="name.taken")
        return brought

    def _make_form(self) -> dict[str, Declaration]:
        """The declarations of this instance, with units and numbers of ports."""
        key = self._structure_key()
        if key not in self._forms:
            declarations = type(self)._declared | self._brought()
            form = dict(declarations)
            before = self.__dict__.get("_declared")
            self.__dict__["_declared"] = form  # functions below read options and parameters of it
            try:
                for name, declared in declarations.items():
                    if declared.any_unit:
                        form[name] = declared.with_unit(self._units.get(name, declared.unit))  # type: ignore[attr-defined]
                for name, declared in declarations.items():
                    if getattr(declared, "default_of", None):
                        form[name] = declared.with_default(declared.default_of(self))  # type: ignore[attr-defined]
                        form[name].refuse_default(f"{type(self).__name__}.{name}")  # type: ignore[attr-defined]
                for name, declared in declarations.items():
                    if declared.unit_of:
                        self._derive(form, name, declared)
            finally:
                if before is None:
                    del self.__dict__["_declared"]
                else:
                    self.__dict__["_declared"] = before
            self._forms[key] = form
        return self._forms[key]

    def _derive(self, form: dict[str, Declaration], name: str, declared: Any) -> None:
        with placed(f"{self.path}.{name}"):
            derived = declared.unit_of(self)
            if not isinstance(derived, (list, tuple)):
                form[name] = declared.with_unit(as_unit(derived))
                return
            if len(derived) > MOST:
                raise ParameterError(f"{self.path}.{name}", f"would be {len(derived):,} of a kind.",
                                     f"There may be {MOST:,}: take several components.",
                                     code="parameter.count")  # fmt: skip
            units = [as_unit(u) for u in derived]
        del form[name]
        for k, u in enumerate(units, 1):
            made = declared.with_unit(u)
            made.name, made.group = f"{name}{k}", name
            form[made.name] = made

    def _form_of(self, declared: Declaration) -> Declaration:
        """The declaration in the form it has for this instance."""
        made = self._declared.get(declared.name)
        if made is None:
            numbered = [n for n, d in self._declared.items() if d.group == declared.name]
            raise unknown_name(self.path, declared.name, numbered, "numbered ports")
        return made

    def _reform(self, where: str, old_values: dict[str, Any], old_units: dict[str, Unit]) -> None:
        """Settle the form anew after a structural change; refuse other units or ports."""
        before = self._declared
        try:
            new = self._make_form()
            for name in {**before, **new}:
                both_declared = before.get(name), new.get(name)
                if name not in type(self)._declared and not any(
                    isinstance(d, (Port, Signal)) for d in both_declared
                ):  # a law's own
                    continue
                both: list[Any] = [getattr(f.get(name), "unit", None) for f in (before, new)]
                old_unit, new_unit = both
                if name not in before or name not in new or (
                    old_unit is not None and old_unit.dimension != new_unit.dimension
                ):
                    change = "add" if name not in before else "remove"
                    if name in before and name in new:
                        change = f"change the unit {old_unit} of"
                    raise ParameterError(
                        where, f"would {change} {name!r}, but ports and units are settled when a "
                        "component is made.", f"Make a new {type(self).__name__} and connect it.",
                        code="parameter.form",
                    )  # fmt: skip
        except ModelError:
            self.__dict__.update(_values=old_values, _units=old_units)
            raise
        self.__dict__["_declared"] = new
        for table in (self._values, self._targets, self._nominals):
            for name in [n for n in table if n not in new and n not in type(self)._declared]:
                del table[name]  # belonged to a law that has been replaced

    # -- values ----------------------------------------------------------------
    def _assign(self, declared: Declaration, value: Any) -> None:
        where = f"{self.path}.{declared.name}"
        if "_made" in self.__dict__:
            self._refuse_idle((declared.name,))
        if isinstance(declared, (Parameter, Option)):
            old = (self._values.copy(), self._units.copy()) if self._open else ({}, {})
            if declared.any_unit and not callable(value):
                given = unit_given(value, where)
                declared = cast(Parameter, type(self)._declared[declared.name]).with_unit(given)
            accepted = declared.accept(value, where)
            if self._built and isinstance(declared, Option) and accepted != declared.read(self):
                raise ParameterError(where, "a composite's options cannot change once it is built.",
                                     f"Make a new {type(self).__name__} with this option.",
                                     code="parameter.structure")
            twin = self._twin() if self._built else None
            if isinstance(declared, Parameter) and not callable(accepted):
                accepted = self._shaped(declared, accepted, where)
            present = self._values.get(declared.name, declared.default)
            structure = isinstance(declared, Option) or callable(accepted) or callable(present)
            if not structure and np.ndim(declared.default):
                structure = np.shape(accepted) != np.shape(present) or (
                    _settles(declared, accepted) != _settles(declared, present))
            self._values[declared.name] = accepted
            if isinstance(declared, Parameter) and declared.any_unit:
                structure = structure or self._units.get(declared.name) != declared.unit
                self._units[declared.name] = declared.unit
            if structure and "_declared" in self.__dict__:
                self._reform(where, *old)
                if isinstance(value, Replacement):
                    for name, given in value.given.items():
                        setattr(self, name, given)
            if twin is not None:
                self._pass_on(twin)
            self._changed(structure)
        elif isinstance(declared, Port) or not isinstance(declared, Variable):
            raise ConnectionRefused(where, "a port cannot be assigned.",
                                    "Join ports with model.connect(a, b).",
                                    code="connection.assigned")
        else:
            known = declared.name in self._targets
            self._aim(declared, value, where)
            guess = self._targets.get(declared.name, (None, ""))[1] == "none"
            self._changed(guess and not known)  # loops are torn where there are guesses

    def _shaped(self, declared: Parameter, values: Any, where: str) -> Any:
        """Rows are instances, columns the elements of an array parameter."""
        wanted, shape = np.ndim(declared.default), np.shape(values)
        if not wanted:
            return self._fits(np.asarray(values), where) if shape else values
        if len(shape) == wanted and (np.size(values) or not np.size(declared.default)):
            return np.asarray(values)
        given = ("a single number" if not shape else "an empty list" if not np.size(values)
                 else f"an array of {len(shape)} dimensions")
        raise ParameterError(
            where,
            f"takes {_ARRAYS[wanted]}, but was given {given}.",
            "Give a plain list." if wanted == 1 else "Give a list of rows." if wanted == 2
            else f"Give lists within lists, {wanted} deep, or an array.",
            given=values,
            code="parameter.size",
        )

    def _fits(self, values: np.ndarray, where: str) -> np.ndarray:
        """Values that are one per instance."""
        if self._count is not None and values.shape == (self.size,):
            return values
        raise ParameterError(
            where,
            f"was given {values.size} values, but "
            + (f"there are {self.size} instances." if self._count else "takes a single value."),
            "Give one value, or as many as count says.",
            given=values,
            code="parameter.size",
        )

    def _aim(self, declared: Variable, value: Any, where: str) -> None:
        target = value if isinstance(value, Target) else Target(value)
        size = declared.unit.of_any_temperature
        for given, u in ((target.value, declared.unit), (target.nominal, size)):
            if given is not None and np.ndim(to_si(given, u, where)):
                self._fits(to_si(given, u, where), where)
        if target.nominal is not None:
            self._nominals[declared.name] = abs(to_si(target.nominal, size, where))
        if target.value is not None:
            number = to_si(target.value, declared.unit, where)
            if not np.all(np.isfinite(number)):
                raise ParameterError(where, f"has the initial target {as_written(target.value)}, "
                                     "which is not a finite number.",
                                     f"Give a value in {declared.unit}.", code="parameter.finite")
            self._targets[declared.name] = (number, target.priority)
            self.__dict__.setdefault("_written_in", {})[declared.name] = unit_given(
                target.value, where)
        elif target.priority == "none":
            self._targets[declared.name] = (None, "none")

    def _changed(self, structure: bool) -> None:
        """Tell the model that values (or the structure) are new."""
        root = self
        while root._parent is not None:
            root = root._parent
        root.__dict__["_revision"] += 1
        if structure:
            root.__dict__["_structure_revision"] = root.__dict__.get("_structure_revision", 0) + 1

    def _twin(self) -> Component:
        """A composite as it is built from the present parameters."""
        return type(self)(count=self._count, **{
            k: v if not isinstance(self._declared[k], Parameter) or callable(v)
            else from_si(v, self._declared[k].unit)  # type: ignore[attr-defined]
            for k, v in self._values.items()
        })  # fmt: skip

    def _pass_on(self, before: Component) -> None:
        """Give the parts of a composite what its new parameters change in them."""
        old, new = before._parts(), self._twin()._parts()
        for path, part in self._parts().items():
            if path not in old or path not in new:
                continue  # added by the user
            for table in ("_values", "_targets", "_nominals"):
                was, now = getattr(old[path], table), getattr(new[path], table)
                mine = getattr(part, table)
                for name in was.keys() | now.keys():
                    if name not in now:
                        mine.pop(name, None)
                    elif name not in was or not _same(was[name], now[name]):
                        mine[name] = now[name]

    def _parts(self) -> dict[str, Component]:
        """All parts below a composite by their path in it."""
        parts: dict[str, Component] = {}
        for name, child in self._children.items():
            parts[name] = child
            parts.update({f"{name}.{path}": part for path, part in child._parts().items()})
        return parts

    def __setattr__(self, name: str, value: Any) -> None:
        if name in self._declared:
            self._declared[name].__set__(self, value)
        elif name.startswith("_") and not isinstance(value, Component):
            object.__setattr__(self, name, value)
        elif isinstance(value, Component):
            self._attach(name, value)
        else:
            self._refuse_foreign(name)
            known = [n for n, d in self._declared.items() if not isinstance(d, Port)]
            raise unknown_name(self.path, name, known, "parameters and variables",
                               keyword_elsewhere(self, name))

    def __getattr__(self, name: str) -> Any:
        children = self.__dict__.get("_children", {})
        if name in children:
            return children[name]
        if name.startswith("_"):
            raise AttributeError(name)
        trace = self.__dict__.get("_trace")
        if trace is not None and name in trace.cache:  # numbered variables of a law
            return trace.cache[name]
        if name in self._declared:  # a numbered port, or a law's own
            return self._declared[name].__get__(self, type(self))
        known = [*children, *self._declared] or ["(nothing)"]
        instead = part_elsewhere(name) if self._is_root else keyword_elsewhere(self, name)
        raise unknown_name(self.path, name, known, "parts" if children else "names", instead)

    def __delattr__(self, name: str) -> None:
        if name not in self._children:
            raise unknown_name(self.path, name, self._children, "parts")
        child = self._children.pop(name)
        self._connections[:] = [
            c for c in self._connections if not any(_is_inside(r.component, child) for r in c)
        ]
        child.__dict__.update(_parent=None, _name="")
        self._changed(True)

    def __dir__(self) -> list[str]:
        return sorted({*super().__dir__(), *self._children, *self._declared})

    # -- pickling and copying ------------------------------------------------------
    def __getstate__(self) -> dict[str, Any]:
        """What the component was made of; what follows from it is made anew.

        A part is pickled without its surroundings. Raises ParameterError for a
        function of time that cannot be pickled.
        """
        state = {k: v for k, v in self.__dict__.items()
                 if k not in ("_parent", "_declared")}
        state["_values"] = {
            n: _Carried(v, f"{self.path}.{n}") if callable(v) else v
            for n, v in self._values.items()
        }
        state["_connections"] = [
            [(None if r.component is self else r.component, r.port.name, r.index) for r in refs]
            for refs in self._connections
        ]
        return state

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state, _parent=None)
        self.__dict__["_values"] = {
            n: v.function if isinstance(v, _Carried) else v for n, v in self._values.items()
        }
        if self._open:
            self.__dict__["_declared"] = self._make_form()
        for child in self._children.values():
            child.__dict__["_parent"] = self
        self.__dict__["_connections"] = [
            tuple(PortRef(c or self, (c or self)._declared[name], index)  # type: ignore[arg-type]
                  for c, name, index in refs)
            for refs in self._connections
        ]  # fmt: skip

    # -- the tree ----------------------------------------------------------------
    @property
    def path(self) -> str:
        """Dotted path below the model; the class name while unattached."""
        names = []
        node: Component | None = self
        while node is not None and node._parent is not None:
            names.append(node._name)
            node = node._parent
        if names:
            return ".".join(reversed(names))
        return "" if self._is_root else type(self).__name__

    @property
    def size(self) -> int:
        """Number of instances."""
        return self._count or 1

    @property
    def is_composite(self) -> bool:
        return type(self).compose is not Component.compose or self._is_root

    _is_root: ClassVar[bool] = False

    def add(self, name: str, component: Component) -> Component:
        """Add a part under a computed name; returns it."""
        self._attach(name, component)
        return component

    def _attach(self, name: str, part: Component) -> None:
        where = f"{self.path}.{name}".lstrip(".")
        if not self.is_composite:
            raise NamingError(where, f"{type(self).__name__} is not a composite and has no parts.",
                              "Add the component to the model instead.", name=name,
                              code="name.parts")
        if not name.isidentifier() or keyword.iskeyword(name) or name.startswith("_"):
            raise NamingError(where, f"{name!r} cannot be used as a name.",
                              "Names are Python identifiers that do not start with '_'.",
                              name=name, code="name.invalid")
        if hasattr(type(self), name):
            raise NamingError(where, f"the name {name!r} is reserved by {type(self).__name__}.",
                              "Choose another name.", name=name, code="name.reserved")
        if name in self._children:
            raise NamingError(where, f"there is already a {type(self._children[name]).__name__} of "
                              "this name.", "Choose another name, or del the first one.", name=name,
                              code="name.taken")
        if part._parent is not None:
            raise NamingError(where, f"this component is already part of the model as "
                              f"{part.path!r}.", "Make a second one for a second place.", name=name,
                              code="name.used")
        if part._is_root:
            raise NamingError(where, "a model cannot be part of another.",
                              "Write a composite component instead.", name=name,
                              code="name.parts")
        if self._count is not None:
            part._spread(self._count)
        part.__dict__.update(_name=name, _parent=self)
        self._children[name] = part
        self._changed_tree()

    def _changed_tree(self) -> None:
        root = self
        while root._parent is not None:
            root = root._parent
        root.__dict__["_structure_revision"] = root.__dict__.get("_structure_revision", 0) + 1

    def _spread(self, count: int) -> None:
        if self._count not in (None, count):
            raise NamingError(self.path, "an array cannot be part of an array of composites.",
                              "Give the count to one of the two.", code="parameter.count")
        self.__dict__["_count"] = count
        for child in self._children.values():
            child._spread(count)

    def _leaves(self) -> Iterator[Component]:
        if self.is_composite:
            for child in self._children.values():
                yield from child._leaves()
        else:
            yield self

    def __getitem__(self, index: Any) -> Any:
        if isinstance(index, str):
            node: Any = self
            for name in index.split("."):
                node = getattr(node, name)
            return node
        return View(self, self._indices(index, None))

    def __len__(self) -> int:
        if self._count is None:
            raise TypeError(f"{self.path} is a single component, not an array; "
                            f"{type(self).__name__}(count=…) makes one")
        return self._count

    def __iter__(self) -> Iterator[View]:
        return (View(self, np.array([k])) for k in range(len(self)))

    def __bool__(self) -> bool:
        return True

    def _indices(self, index: Any, inside: Any) -> np.ndarray:
        every = np.arange(self.size) if inside is None else np.asarray(inside)
        try:
            return np.atleast_1d(every[index])
        except IndexError:
            there = [f"0 to {self.size - 1}"]
            raise unknown_name(self.path, str(index), there, "instances") from None

    # -- wiring --------------------------------------------------------------------
    def connect(self, *ports: PortRef) -> None:
        """Join ports to one node, or one output to inputs.

        Any number of conserving ports of one domain; arrays join element by
        element, and a single port joins every element of an array.

        Raises
        ------
        ConnectionRefused
            Naming both ports, for different domains, foreign models, a port
            given twice, several outputs, or arrays of different size.
        """
        if len(ports) < 2:
            raise ConnectionRefused(self.path, "connect() takes at least two ports.",
                                    "Write model.connect(a.R, b.C).", code="connection.ports")
        for ref in ports:
            if not isinstance(ref, PortRef):
                raise ConnectionRefused(
                    self.path, f"connect() takes ports, but was given {_named(ref)}.",
                    _port_hint(ref), given=ref, code="connection.ports",
                )  # fmt: skip
            if not _is_inside(ref.component, self):
                self._refuse_other_model(ref, ports)
                raise ConnectionRefused(
                    ref.path,
                    "this port belongs to another model or to a component that is not part of "
                    f"{self.path or 'the model'} yet, so it cannot be joined to "
                    f"{next((p.path for p in ports if p is not ref), '')}.",
                    "First write model.name = Component(…), then connect.",
                    code="connection.foreign",
                )
        self._agree(ports)
        self._connections.append(tuple(ports))
        self._changed_tree()

    def _refuse_other_model(self, ref: PortRef, ports: tuple[PortRef, ...]) -> None:
        """Name both models where a port is of another one."""
        mine, other = _root_of(self), _root_of(ref.component)
        if mine is other or not other._is_root:
            return
        names = [getattr(m, "name", "") for m in (mine, other)]
        also = "another model that is also called" if names[0] == names[1] else "the model"
        own = next((p.path for p in ports if _root_of(p.component) is mine), "a part")
        raise ConnectionRefused(
            ref.path, f"belongs to {also} {names[1]!r}, and cannot be joined to {own} of the "
            f"model {names[0]!r}.",
            "Make a component of its own for each model, and connect the parts of one.",
            models=names, code="connection.foreign",
        )  # fmt: skip

    def _agree(self, ports: tuple[PortRef, ...]) -> None:
        first = ports[0]
        signal = isinstance(first.port, Signal)
        for ref in ports[1:]:
            if isinstance(ref.port, Signal) != signal:
                a, b = (first, ref) if signal else (ref, first)
                raise ConnectionRefused(
                    f"{first.path} and {ref.path}",
                    f"{a.path} is a signal and {b.path} a conserving port.",
                    "Sources turn signals into physical quantities, sensors the reverse.",
                    code="connection.kind",
                )
            if not signal and ref.port.domain is not first.port.domain:  # type: ignore[union-attr]
                raise ConnectionRefused(
                    f"{first.path} and {ref.path}",
                    f"{first.path} is {first.port.domain} and {ref.path} is "  # type: ignore[union-attr]
                    f"{ref.port.domain}.",  # type: ignore[union-attr]
                    "Join them through a component that converts one domain into the other.",
                    code="connection.domain",
                )
            if signal and not alike(ref.port.unit, first.port.unit):  # type: ignore[union-attr]
                raise ConnectionRefused(
                    f"{first.path} and {ref.path}",
                    f"{first.path} is in {first.port.unit} and {ref.path} in "  # type: ignore[union-attr]
                    f"{ref.port.unit}.",  # type: ignore[union-attr]
                    "A gain with a unit can convert between them.",
                    code="connection.unit",
                )
        keys = [(id(r.component), r.port.name, None if r.index is None else tuple(r.index))
                for r in ports]
        for k, ref in zip(keys, ports, strict=True):
            if keys.count(k) > 1:
                raise ConnectionRefused(ref.path, "this port is given twice: it cannot be "
                                        "connected to itself.", "Name two different ports.",
                                        code="connection.self")
        if signal:
            sources = [r for r in ports if isinstance(r.port, Output) != (r.component is self)]
            if len(sources) != 1:
                names = ", ".join(r.path for r in sources) or "none"
                raise ConnectionRefused(
                    " and ".join(r.path for r in ports),
                    f"a signal line has exactly one output, but here are {len(sources)} ({names}).",
                    "Give the output first, then the inputs.",
                    code="connection.signal",
                )
        sizes = {r.size for r in ports} - {1}
        if len(sizes) > 1:
            raise ConnectionRefused(
                " and ".join(f"{r.path} ({r.size})" for r in ports),
                "arrays of different size cannot be joined element by element.",
                "Take slices of equal length, such as model.masses[1:].M.",
                code="connection.size",
            )

    def __repr__(self) -> str:
        shown = ", ".join(
            f"{n}={getattr(self, n):~P}" if hasattr(getattr(self, n), "units")
            and np.ndim(getattr(self, n).magnitude) == 0 else f"{n}=…"
            for n, d in self._declared.items() if isinstance(d, Parameter) and d.exists(self)
        )  # fmt: skip
        count = f", count={self._count}" if self._count else ""
        return f"{type(self).__name__}({shown}{count})"


MOST = 1000  # numbered ports or variables of one kind
MOST_INSTANCES = 100_000_000
_ARRAYS = {1: "a list of values", 2: "a matrix", 3: "an array of 3 dimensions"}
_RESERVED = {n for n in dir(Component) if not n.startswith("__")} | {"time", "count"}


def _settles(declared: Any, value: Any) -> Any:
    """What a parameter's value settles for the equations."""
    return None if declared.settles is None else declared.settles(value)


def _same(a: Any, b: Any) -> bool:
    """Whether two values (or targets) of a part are the same."""
    if isinstance(a, tuple) and isinstance(b, tuple):
        return len(a) == len(b) and all(map(_same, a, b))
    return a is b or (not callable(a) and np.array_equal(a, b))


class View:
    """Some instances of a component array: ``model.masses[1:]``.

    Values may be read and set as those of the whole: ``model.masses[-1].v = "1 m/s"``.
    """

    component: Component
    index: np.ndarray

    def __init__(self, component: Component, index: np.ndarray) -> None:
        self.__dict__.update(component=component, index=index)

    def __len__(self) -> int:
        return len(self.index)

    def __iter__(self) -> Iterator[View]:
        return (View(self.component, self.index[k : k + 1]) for k in range(len(self)))

    def __getitem__(self, index: Any) -> View:
        return View(self.component, self.component._indices(index, self.index))

    def __getattr__(self, name: str) -> Any:
        ref = getattr(self.component, name)
        if isinstance(ref, PortRef):
            return PortRef(ref.component, ref.port, self.index)
        if isinstance(ref, Component):
            return View(ref, self.index)
        if hasattr(ref, "magnitude"):
            values = np.broadcast_to(ref.magnitude, (self.component.size,))[self.index]
            values = values[0] if len(values) == 1 else values
            return quantity(values, ref.units)
        return ref

    def __setattr__(self, name: str, value: Any) -> None:
        component = self.component
        declared = component._declared.get(name)
        where = f"{self.path}.{name}"
        if isinstance(declared, Parameter) and np.ndim(declared.default) == 0:
            present = component._values.get(name, declared.default)
            if not (callable(present) or callable(value)):
                setattr(component, name, self._among(present, value, declared, where))
                return
        elif isinstance(declared, Variable) and not isinstance(declared, Signal):
            self._aim(declared, value, where)
            return
        elif declared is None or isinstance(declared, (Port, Signal)):
            setattr(component, name, value)  # says what there is
        raise ParameterError(where, "is the same for all instances.", f"Set it for all: "
                             f"{component.path}.{name} = …", name=name, code="parameter.size")

    @property
    def path(self) -> str:
        """Path with the instance number, where it is one."""
        if self.component._count is None:
            return self.component.path
        number = str(self.index[0]) if len(self.index) == 1 else "…"
        return f"{self.component.path}[{number}]"

    def _among(self, present: Any, value: Any, declared: Any, where: str) -> Any:
        """Values of all instances, new for those of the view."""
        whole = np.array(np.broadcast_to(present, (self.component.size,)), dtype=float)
        given = to_si(value, declared.unit, where)
        if np.ndim(given) and np.shape(given) != (len(self.index),):
            raise ParameterError(where, f"was given {np.size(given)} values for {len(self.index)} "
                                 "instances.", "Give one value, or one for each.", given=value,
                                 code="parameter.size")
        whole[self.index] = given
        return from_si(whole if self.component._count is not None else float(whole[0]),
                       declared.unit)

    def _aim(self, declared: Variable, value: Any, where: str) -> None:
        """An initial target of some instances, with the priority that all have."""
        component = self.component
        target = value if isinstance(value, Target) else Target(value)
        present, priority = component._targets.get(
            declared.name, (declared.initial, declared.priority))
        single = component.size == len(self.index)
        if not single and (present is None or target.nominal is not None or target.value is None
                           or (isinstance(value, Target) and target.priority != priority)):
            raise ParameterError(
                where, "is aimed at together with all other instances, which have no target yet."
                if present is None else "has one priority and nominal value for all instances.",
                f"Set all at once: {component.path}.{declared.name} = Target([…]).",
                name=declared.name, code="parameter.size",
            )  # fmt: skip
        if single:
            setattr(component, declared.name, value)
            return
        whole = self._among(present, target.value, declared, where)
        setattr(component, declared.name, Target(whole, priority))


class Branch(Component):
    """Base of two-ports of a domain with ports R and C.

    A domain's base is made once, ``class TwoPort(Branch, domain=translational)``,
    and gives its subclasses the ports R and C, one variable per through
    variable (positive from R to C) and one per across variable (R minus C).
    """

    def __init_subclass__(cls, domain: Domain | None = None, **kwargs: Any) -> None:
        if domain is not None:
            made: dict[str, Declaration] = {
                "R": Port(domain, doc="rod side, positive end"),
                "C": Port(domain, doc="case side"),
            }
            for name, u in domain.across.items():
                made[name] = Variable(u, doc=f"{name} of R minus {name} of C")
            for name, u in domain.through.items():
                made[name] = Variable(u, doc=f"{name} carried from R to C")
            for name, declaration in made.items():
                if name not in vars(cls):
                    declaration.name = name
                    setattr(cls, name, declaration)
            cls._branch_domain = domain
        super().__init_subclass__(**kwargs)

    _branch_domain: ClassVar[Domain | None] = None

    def port_equations(self) -> Iterator[Any]:
        domain = self._branch_domain
        if domain is None:
            raise EquationError(type(self).__name__, "this branch has no domain.",
                                "Write class MyBranch(Branch, domain=translational).")
        for name in domain.across:
            yield getattr(self, name) == getattr(self.R, name) - getattr(self.C, name)
        for name in domain.through:
            yield getattr(self.R, name) == getattr(self, name)
            yield getattr(self.C, name) == -getattr(self, name)


def _root_of(component: Component) -> Component:
    while component._parent is not None:
        component = component._parent
    return component


def _is_inside(component: Component, ancestor: Component) -> bool:
    node: Component | None = component
    while node is not None:
        if node is ancestor:
            return True
        node = node._parent
    return False


def _named(thing: Any) -> str:
    if isinstance(thing, Component):
        return f"the component {thing.path}"
    if isinstance(thing, VariableRef):
        return f"the variable {thing.path}"
    return repr(thing)


def _port_hint(thing: Any) -> str:
    component = thing if isinstance(thing, Component) else getattr(thing, "component", None)
    if component is None:
        return "Ports are attributes of components, such as model.spring.R."
    ports = [n for n, d in component._declared.items() if isinstance(d, (Port, Signal))]
    return f"Its ports are: {', '.join(ports)}."


