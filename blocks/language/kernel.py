"""What does a component class say, as symbols? Traced once per class.

A kernel is the class's law on its own local symbols: variables (ports
included), their derivatives, parameters, held relations and discrete values.
Instances are index arrays elsewhere; nothing here knows how many there are or
what they are connected to.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import casadi as ca
import numpy as np

from ..exceptions import BlocksError, EquationError, UnitError, unknown_name
from ..units import Unit, describe
from .component import Component
from .declarations import Declaration, Discrete, Input, Option, Output, Parameter, Port, Variable
from .domain import Domain
from .expression import (
    TIME,
    Breakpoints,
    Equation,
    Expression,
    LoadLaw,
    Requirement,
    Reset,
    Sampling,
    SetValued,
    as_expression,
    current_trace,
)
from .expression import time as time_expression
from .readable import readable

__all__ = ["Kernel", "Law", "Local", "kernel_of"]


@dataclass(frozen=True)
class Local:
    """A local unknown of a kernel: a variable, or one of a port."""

    name: str  # "v" or "R.v"
    unit: Unit
    kind: str  # "variable", "across", "through", "shared", "input", "output", "discrete"
    declared: Declaration
    port: str = ""  # name of the conserving port it belongs to


@dataclass(frozen=True)
class Local_Parameter:
    name: str
    unit: Unit
    size: int
    declared: Parameter


@dataclass(frozen=True, eq=False)
class SetValuedLaw:
    """A set-valued law between an effort and a flow, on local symbols."""

    effort: int  # number of its variable
    flow: Any
    low: Any  # static bounds
    high: Any
    back: Any  # kinetic efforts, sliding backward and forward
    forth: Any
    gap: Any | None = None  # of a unilateral contact
    restitution: Any | None = None

    @property
    def is_contact(self) -> bool:
        return self.gap is not None

    @property
    def expressions(self) -> list[Any]:
        """Flow, bounds and efforts, gap and restitution; None for those that it lacks."""
        return [self.flow, self.low, self.high, self.back, self.forth, self.gap, self.restitution]

    @property
    def given(self) -> list[Any]:
        """The expressions that it has."""
        return [sx for sx in self.expressions if sx is not None]


class Law:
    """One scalar equation ``residual == 0`` on local symbols.

    ``arguments`` lists what it depends on as (local variable, derivative order).
    """

    def __init__(self, kernel: Kernel, residual: Any, text: str, order: int = 0,
                 alias: tuple[Any, Any, int] | None = None) -> None:
        self.kernel, self.residual, self.text, self.order = kernel, residual, text, order
        self.alias = alias
        inside = {s.__hash__() for s in ca.symvar(residual)}
        self.arguments: list[tuple[int, int]] = [
            key for key, s in kernel.symbols.items() if s.__hash__() in inside
        ]

    @property
    def symbols(self) -> list[Any]:
        return [self.kernel.symbols[a] for a in self.arguments]

    @property
    def unknowns(self) -> list[tuple[int, int]]:
        """The arguments without discrete values, which nothing solves for."""
        kinds = self.kernel.variables
        return [a for a in self.arguments if kinds[a[0]].kind != "discrete"]

    @cached_property
    def partials(self) -> list[Any]:
        """d residual / d argument, as SX."""
        if not self.arguments:
            return []
        gradient = ca.jacobian(self.residual, ca.vertcat(*self.symbols))
        return [gradient[0, i] for i in range(len(self.arguments))]

    @cached_property
    def slopes(self) -> list[str]:
        """Per argument how the residual depends on it.

        ``"constant"`` (a nonzero number), ``"parameter"`` (linear, coefficient
        of parameters only), ``"variable"`` (linear in it, coefficient of other
        unknowns or time), ``"nonlinear"``.
        """
        kinds = []
        for symbol, slope in zip(self.symbols, self.partials, strict=True):
            if slope.is_constant():
                kinds.append("constant" if float(slope) != 0 else "nonlinear")
                continue
            free = {s.__hash__() for s in ca.symvar(slope)}
            if symbol.__hash__() in free:
                kinds.append("nonlinear")
            elif free <= self.kernel.parameter_hashes:
                kinds.append("parameter")
            else:
                kinds.append("variable")
        return kinds

    def slopes_at(self, position: int, parameters: list[np.ndarray]) -> np.ndarray | float:
        """The coefficient of an argument for instances with given parameters, (size, n) each."""
        if self.slopes[position] == "constant":
            return float(self.partials[position])
        key = ("slope", position)
        if key not in self._functions:
            self._functions[key] = ca.Function(
                "slope", self.kernel.parameter_symbols, [self.partials[position]]
            )
        n = parameters[0].shape[1]
        return np.array(self._functions[key].map(n)(*parameters)).ravel()

    @cached_property
    def _functions(self) -> dict[Any, ca.Function]:
        return {}

    def solved(self, position: int) -> ca.Function:
        """The argument at ``position`` as an explicit function of all the others."""
        key = ("solved", position)
        if key not in self._functions:
            symbol = self.symbols[position]
            rest = ca.substitute(self.residual, symbol, ca.SX(0))
            slope = self.partials[position]
            if slope.is_constant() and float(slope) in (1.0, -1.0):
                value = -rest if float(slope) == 1.0 else rest
            else:
                value = -rest / slope
            self._functions[key] = self.kernel.function("solved", self.symbols, ca.simplify(value))
        return self._functions[key]

    @cached_property
    def value(self) -> ca.Function:
        """The residual as a function of all arguments."""
        return self.kernel.function("residual", self.symbols, self.residual)

    @cached_property
    def derivative(self) -> Law:
        """The law differentiated with respect to time."""
        kernel = self.kernel
        tangent = kernel.total_derivative(self.residual)
        return Law(kernel, tangent, f"der({self.text})", self.order + 1)

    def __repr__(self) -> str:
        return f"<law {self.kernel.name}: {self.text}>"


class Kernel:
    """A component class traced with given options and array sizes.

    Attributes
    ----------
    variables : list of Local
    parameters : list of Local_Parameter
    ports : dict of str to (Domain, {variable name: index into variables})
    laws : list of Law
    relations : list of (SX, bool)
        Crossing functions, positive where the relation holds; the flag says
        whether it holds at zero.
    resets, breaks
        State changes at events, known discontinuity times.
    samplings : list of (start, period, [(variable, value), ...])
        Assignments at known instants; no start means that of the run.
    observed : dict of int to SX
        Variables that are only assigned and never used: they are computed for
        results and take no part in the solution.
    """

    def __init__(self, name: str) -> None:
        self.name = name
        self.variables: list[Local] = []
        self.parameters: list[Local_Parameter] = []
        self.parameter_symbols: list[Any] = []
        self.symbols: dict[tuple[int, int], Any] = {}
        self.ports: dict[str, tuple[Domain, dict[str, int]]] = {}
        self.laws: list[Law] = []
        self.relations: list[tuple[Any, bool]] = []
        self.relation_symbols: list[Any] = []
        self.resets: list[tuple[Any, list[tuple[int, Any]]]] = []
        self.breaks: list[tuple[Any, Any]] = []
        self.samplings: list[tuple[Any, Any, list[tuple[int, Any]]]] = []
        self.observed: dict[int, Any] = {}
        self.defaults: dict[int, Any] = {}  # of unconnected inputs
        self.rates: list[tuple[int, int]] = []  # position and velocity at a port
        self.shared: dict[int, float] = {}  # domain parameters at ports, with the domain's values
        self.requirements: list[tuple[Any, str]] = []  # condition that must hold, message
        self.set_valued: list[SetValuedLaw] = []
        self.delays: list[tuple[int, Any, Any, Any]] = []  # variable, value, delay, initial
        # effort, load, flow, law, band and strength of rest
        self.load_laws: list[tuple[Any, ...]] = []
        self.index: dict[str, int] = {}
        self.own_keys: frozenset[tuple[int, int]] = frozenset()  # symbols the class itself uses

    # -- symbols -------------------------------------------------------------------
    def add_variable(self, local: Local) -> Any:
        i = len(self.variables)
        self.variables.append(local)
        self.index[local.name] = i
        self.symbols[i, 0] = ca.SX.sym(local.name)
        return self.symbols[i, 0]

    def derivative_symbol(self, i: int, order: int) -> Any:
        key = (i, order)
        if key not in self.symbols:
            name = self.variables[i].name
            self.symbols[key] = ca.SX.sym("der(" * order + name + ")" * order)
            self.__dict__.pop("_key_of", None)
        return self.symbols[key]

    @cached_property
    def parameter_hashes(self) -> set[int]:
        return {
            p[i].__hash__() for p in self.parameter_symbols for i in range(p.numel())
        }

    @property
    def _key_by_hash(self) -> dict[int, tuple[int, int]]:
        if "_key_of" not in self.__dict__:
            self.__dict__["_key_of"] = {s.__hash__(): k for k, s in self.symbols.items()}
        return self.__dict__["_key_of"]

    def key_of(self, symbol: Any) -> tuple[int, int] | None:
        """(variable, derivative order) of a symbol, None where it is none of them."""
        return self._key_by_hash.get(symbol.__hash__())

    def highest_orders(self) -> dict[int, int]:
        """The highest derivative of each variable that anything in the class uses."""
        used = [law.residual for law in self.laws] + list(self.observed.values())
        used += [crossing for crossing, _ in self.relations]
        used += [sx for c, pairs in self.resets for sx in (c, *(v for _, v in pairs))]
        used += [v for _, _, pairs in self.samplings for _, v in pairs]
        used += [sx for law in self.set_valued for sx in law.given]
        used += [value for _, value, *_ in self.delays]
        used += [sx for _, _, *sxs in self.load_laws for sx in sxs if sx is not None]
        highest: dict[int, int] = {position: 1 for position, _ in self.rates}
        for s in {s.__hash__(): s for sx in used for s in ca.symvar(sx)}.values():
            key = self.key_of(s)
            if key is not None:
                highest[key[0]] = max(highest.get(key[0], 0), key[1])
        return highest

    def total_derivative(self, sx: Any) -> Any:
        """d sx / d time by the chain rule; relations and parameters are constant."""
        seeds, tangents = [], []
        for s in ca.symvar(sx):
            if s.__hash__() == TIME.__hash__():
                seeds.append(s)
                tangents.append(ca.SX(1))
                continue
            key = self.key_of(s)
            if key is not None and self.variables[key[0]].kind != "discrete":
                seeds.append(s)
                tangents.append(self.derivative_symbol(key[0], key[1] + 1))
        if not seeds:
            return ca.SX(0)
        return ca.jtimes(sx, ca.vertcat(*seeds), ca.vertcat(*tangents))

    def refuse_delayed(self, sx: Any, where: str) -> None:
        """Raise where the derivative of something delayed would be needed."""
        past = {self.symbols[i, 0].__hash__() for i, *_ in self.delays}
        if past & {s.__hash__() for s in ca.symvar(sx)}:
            raise EquationError(
                where, "needs the derivative of a delayed signal, which is not known.",
                "Delay the derivative instead, delayed(der(x), T), or let a body follow the "
                "delayed motion through a spring and a damper.", code="equation.delayed",
            )  # fmt: skip

    def function(self, name: str, symbols: list[Any], value: Any) -> ca.Function:
        """A CasADi function of symbols, time, relations and parameters, in this order."""
        return ca.Function(
            name, [*symbols, TIME, *self.relation_symbols, *self.parameter_symbols], [value]
        )

    def default_law(self, i: int) -> Law:
        """``input == default`` where nothing is connected, or a domain's own parameter value."""
        laws = self.__dict__.setdefault("_default_laws", {})
        if i not in laws:
            default = self.defaults[i] if i in self.defaults else ca.SX(self.shared[i])
            residual = self.symbols[i, 0] - default
            text = f"{self.variables[i].name} == {readable(default)}"
            laws[i] = Law(self, residual, text)
        return laws[i]

    @property
    def discrete(self) -> list[int]:
        return [i for i, v in enumerate(self.variables) if v.kind == "discrete"]

    def __repr__(self) -> str:
        return f"<kernel {self.name}: {len(self.variables)} variables, {len(self.laws)} equations>"


@dataclass
class PortSymbols:
    """``self.R`` while equations are read: ``self.R.v`` is a symbol."""

    kernel: Kernel
    name: str
    variables: dict[str, int] = field(repr=False)

    def __getattr__(self, name: str) -> Expression:
        if name.startswith("__") or name not in self.variables:
            raise unknown_name(f"{self.kernel.name}.{self.name}", name, self.variables, "variables")
        i = self.variables[name]
        local = self.kernel.variables[i]
        return Expression(self.kernel.symbols[i, 0], local.unit.dimension)


class Trace:
    """Reads the equations of one class into a kernel."""

    def __init__(self, component: Component) -> None:
        self.component = component
        self.kernel = Kernel(type(component).__name__)
        self.cache: dict[str, Any] = {}
        self.current = ""  # which equation is read
        self.reading = ""  # which function of time is called
        for name, declared in component._declared.items():
            if declared.exists(component):
                self._declare(name, declared)
            else:
                self.cache[name] = None
            if declared.group:
                self.cache.setdefault(declared.group, []).append(self.cache[name])
        for name in type(component)._declared:
            self.cache.setdefault(name, []) if name not in component._declared else None

    def _declare(self, name: str, declared: Declaration) -> None:
        kernel = self.kernel
        if isinstance(declared, Port):
            indices = {}
            domain: Any = declared.domain  # its unit texts have become units
            for kind, group in (("across", domain.across), ("through", domain.through)):
                for variable, u in group.items():
                    kernel.add_variable(Local(f"{name}.{variable}", u, kind, declared, name))
                    indices[variable] = kernel.index[f"{name}.{variable}"]
            kernel.ports[name] = (declared.domain, indices)
            for position, velocity in domain.rates.items():
                kernel.derivative_symbol(indices[position], 1)
                kernel.rates.append((indices[position], indices[velocity]))
            shared = {}
            for parameter, (u, value) in domain.shared.items():
                kernel.add_variable(Local(f"{name}.{parameter}", u, "shared", declared, name))
                shared[parameter] = kernel.index[f"{name}.{parameter}"]
                kernel.shared[shared[parameter]] = value
            self.cache[name] = PortSymbols(kernel, name, {**indices, **shared})
        elif isinstance(declared, Variable):
            kinds = {Input: "input", Output: "output", Discrete: "discrete"}
            kind = kinds.get(type(declared), "variable")
            symbol = kernel.add_variable(Local(name, declared.unit, kind, declared))
            self.cache[name] = Expression(symbol, declared.unit.dimension)
        elif isinstance(declared, Option):
            self.cache[name] = declared.read(self.component)
        elif isinstance(declared, Parameter):
            value = self.component._values.get(name, declared.default)
            if not callable(value):
                size = int(np.size(value)) if np.ndim(declared.default) else 1
                symbol = ca.SX.sym(name, size)
                kernel.parameters.append(Local_Parameter(name, declared.unit, size, declared))
                kernel.parameter_symbols.append(symbol)
                if np.ndim(declared.default) == 2:  # stored row by row; of 3 dimensions: flat
                    rows, columns = np.shape(value)
                    symbol = ca.reshape(symbol, columns, rows).T
                self.cache[name] = Expression(symbol, declared.unit.dimension)

    def read_defaults(self) -> None:
        """Expressions that stand in for inputs nothing is connected to."""
        for i, local in enumerate(self.kernel.variables):
            if local.kind == "input" and local.declared.default is not None:  # type: ignore[attr-defined]
                default = local.declared.default  # type: ignore[attr-defined]
                declared = self.component._declared.get(default)
                if not isinstance(declared, Parameter):
                    raise EquationError(
                        f"{self.kernel.name}.{local.name}", f"its default {default!r} is no "
                        "parameter of the component.", "Name the parameter that is used while "
                        "nothing is connected.",
                    )
                self.kernel.defaults[i] = as_expression(self.symbol(declared)).sx

    # -- called while equations are read ---------------------------------------------
    def symbol(self, declared: Declaration) -> Any:
        name = declared.name
        if name not in self.cache:  # a parameter given as a function of time
            declared = self.component._declared[name]
            assert isinstance(declared, Parameter)
            self.cache[name] = self._function_value(name, declared)
        return self.cache[name]

    def _function_value(self, name: str, declared: Parameter) -> Expression:
        function = self.component._values[name]
        where = f"{self.component.path}.{name}"
        self.reading = f"{where}, the function of time given for it"
        try:
            value = as_expression(function(time_expression))
        except BlocksError:
            raise
        except Exception as error:
            raise EquationError(
                where, f"the function of time given for it failed: {error}",
                "It is called once, with time as an expression; use the functions of blocks or "
                "numpy (sin, where, …) in it, and where() instead of 'if'.",
            ) from error  # fmt: skip
        finally:
            self.reading = ""
        if value.dimension != declared.unit.dimension:
            raise EquationError(
                where,
                f"the function of time given for it returns {describe(value.dimension)}, but "
                f"{declared.unit} is needed.",
                f"Multiply with a quantity, such as quantity('1 {declared.unit}') * sin(…).",
                code="unit.dimension",
            )
        return value

    def where(self) -> str:
        return self.reading or f"{self.kernel.name}{self.current}"

    def relation(self, crossing: Any, at_zero: bool) -> Any:
        kernel = self.kernel
        for known, symbol in zip(kernel.relations, kernel.relation_symbols, strict=True):
            if known[1] == at_zero and ca.is_equal(known[0], crossing, 5):
                return symbol
        symbol = ca.SX.sym(f"{readable(crossing)} > 0")
        kernel.relations.append((crossing, at_zero))
        kernel.relation_symbols.append(symbol)
        return symbol

    def derivative(self, sx: Any) -> Any:
        self.kernel.refuse_delayed(sx, self.where())
        self._refuse_constant(sx)
        return self.kernel.total_derivative(sx)

    def _refuse_constant(self, sx: Any) -> None:
        """``der()`` of what never changes is a slip; of a value that may be a function, 0."""
        kernel, symbols = self.kernel, {s.__hash__() for s in ca.symvar(sx)}
        held = {kernel.symbols[i, 0].__hash__() for i in kernel.discrete}
        fixed = {p[i].__hash__() for p, local in zip(
            kernel.parameter_symbols, kernel.parameters, strict=True)
            if not local.declared.varying for i in range(p.numel())}
        if symbols - held - fixed:
            return
        why = ("a constant does not change with time" if not symbols else
               "a parameter does not change with time" if not symbols & held else
               "a Discrete value is held between events")
        raise EquationError(
            self.where(), f"der({readable(sx)}) is always 0: {why}.",
            "Differentiate a variable of the component, or leave the derivative out. A parameter "
            "that may be a function of time is declared with varying=True.",
            code="equation.constant",
        )  # fmt: skip

    def delayed(self, value: Any, delay: Any, initial: Any, dimension: Any) -> Any:
        kernel = self.kernel
        allowed = kernel.parameter_hashes
        for sx, may, what in ((delay, allowed, "the delay"),
                              (initial, allowed | {TIME.__hash__()}, "what was before the run")):
            free = [s for s in ca.symvar(sx) if s.__hash__() not in may]
            if free:
                raise EquationError(
                    self.where(), f"delayed(): {what} depends on {free[0].name()}.",
                    "It may depend on parameters" + (" only." if sx is delay else " and time."),
                    code="equation.delayed",
                )  # fmt: skip
        text = describe(dimension)
        text = "1" if text == "dimensionless" else text
        declared = Discrete(text, doc="a delayed signal")
        name = f"delayed{len(kernel.delays) + 1}"
        symbol = kernel.add_variable(Local(name, declared.unit, "discrete", declared))
        kernel.delays.append((kernel.index[name], value, delay, initial))
        return symbol


def kernel_of(component: Component) -> Kernel:
    """The traced kernel of a leaf component (cached on its class).

    Raises
    ------
    WrongDimension, EquationError
        Naming the class, the equation and both sides' units.
    """
    key = component._structure_key()
    cls = type(component)
    if key not in cls._kernels:
        cls._kernels[key] = (_trace(component), key)
    return cls._kernels[key][0]


def _trace(component: Component) -> Kernel:
    reader = object.__new__(type(component))
    trace = Trace(component)
    reader.__dict__.update(
        _trace=trace, _declared=component._declared, _parent=None, _name="", _children={}
    )
    kernel = trace.kernel
    token = current_trace.set(trace)
    try:
        statements = list(_statements(reader, trace))
        trace.read_defaults()
    except UnitError as error:
        error.where = error.where or trace.where()
        raise
    except (BlocksError, KeyboardInterrupt):
        raise
    except Exception as error:
        raise EquationError(
            trace.where(), f"its equations() raised {type(error).__name__}: {error}",
            "Equations may use the class's own declarations, quantities and the functions of "
            "blocks.",
        ) from error  # fmt: skip
    finally:
        current_trace.reset(token)
    trace.current = ""
    equations: list[tuple[Any, str]] = []
    for statement in statements:
        if isinstance(statement, Equation):
            residual = statement.left.sx - statement.right.sx
            sizes = {statement.left.sx.numel(), statement.right.sx.numel()}
            if len(sizes) > 1:
                raise EquationError(
                    kernel.name, f"{statement.left.sx} == {statement.right.sx} has "
                    f"{statement.left.sx.numel()} values on the left and "
                    f"{statement.right.sx.numel()} on the right.",
                    "Write one equation for every variable.",
                )
            if residual.numel() != 1:
                for i in range(residual.numel()):
                    equations.append((residual[i], f"{readable(statement.left.sx[i])} == "
                                                   f"{readable(statement.right.sx[i])}"))
            else:
                equations.append((residual, f"{readable(statement.left.sx)} == "
                                            f"{readable(statement.right.sx)}"))
        elif isinstance(statement, Reset):
            _add_reset(kernel, trace, statement)
        elif isinstance(statement, Sampling):
            start, period = (None if t is None else t.sx
                             for t in (statement.start, statement.period))  # fmt: skip
            word = "every()" if statement.period is not None else "initially()"
            kernel.samplings.append((start, period, _assigned(kernel, word, statement)))
        elif isinstance(statement, Requirement):
            token = current_trace.set(trace)
            kernel.requirements.append((statement.condition.held(trace), statement.message))
            current_trace.reset(token)
        elif isinstance(statement, SetValued):
            _add_set_valued(kernel, statement)
        elif isinstance(statement, LoadLaw):
            _add_load_law(kernel, statement)
        elif isinstance(statement, Breakpoints):
            kernel.breaks.append(
                (statement.start.sx, None if statement.period is None else statement.period.sx)
            )
        else:
            raise EquationError(
                f"{kernel.name}.equations()", f"yields {statement!r}, which is no equation.",
                "Write  yield left == right ; a plain True or False means that no variable is "
                "in it.",
            )  # fmt: skip
    _take_observed(kernel, equations)
    for residual, text in equations:
        law = Law(kernel, residual, text)
        law.alias = _alias(law)
        kernel.laws.append(law)
    kernel.own_keys = frozenset(kernel.symbols)
    return kernel


def _statements(reader: Component, trace: Trace) -> Iterator[Any]:
    for name in ("port_equations", "equations"):
        trace.current = "" if name == "equations" else ".port_equations()"
        generator = getattr(reader, name)()
        if not isinstance(generator, Iterable):
            given = "nothing" if generator is None else f"{generator!r}"
            raise EquationError(f"{trace.kernel.name}.{name}()", f"returns {given}.",
                                "Write it as a generator: yield left == right.")
        count = 0
        iterator = iter(generator)
        while True:
            if name == "equations":
                trace.current = f", equation {count + 1}"
            try:
                statement = next(iterator)
            except StopIteration:
                break
            count += 1
            yield statement


def _add_set_valued(kernel: Kernel, statement: SetValued) -> None:
    key = kernel.key_of(statement.effort.sx) if statement.effort.sx.is_symbolic() else None
    if key is None or key[1] != 0:
        raise EquationError(kernel.name, "a set-valued law needs a variable as effort, but was "
                            f"given {statement.effort.sx}.", "Declare a Variable for that force.")
    more = [None if e is None else e.sx for e in (statement.gap, statement.restitution)]
    bounds = [e.sx for e in (*statement.static, *statement.kinetic)]
    kernel.set_valued.append(SetValuedLaw(key[0], statement.flow.sx, *bounds, *more))


def _add_load_law(kernel: Kernel, statement: LoadLaw) -> None:
    numbers = []
    for word, e in (("effort", statement.effort), ("load", statement.load)):
        key = kernel.key_of(e.sx) if e.sx.is_symbolic() else None
        if key is None or key[1] != 0:
            raise EquationError(kernel.name, f"a law of the load needs a variable as {word}, but "
                                f"was given {e.sx}.", "Declare a Variable for it.")
        numbers.append(key[0])
    rest = (None, None) if statement.rest is None else tuple(e.sx for e in statement.rest)
    kernel.load_laws.append((*numbers, statement.flow.sx, statement.law.sx, *rest))


def _add_reset(kernel: Kernel, trace: Trace, statement: Reset) -> None:
    token = current_trace.set(trace)
    try:
        condition = statement.condition.held(trace)
    finally:
        current_trace.reset(token)
    kernel.resets.append((condition, _assigned(kernel, "when()", statement)))


def _assigned(kernel: Kernel, word: str, statement: Reset | Sampling) -> list[tuple[int, Any]]:
    """(variable, value) of the assignments of a statement."""
    held_only = isinstance(statement, Sampling)
    pairs = []
    for variable, value in statement.assignments:
        key = kernel.key_of(variable.sx) if variable.sx.is_symbolic() else None
        if key is None or key[1] != 0 or (
            held_only and kernel.variables[key[0]].kind != "discrete"
        ):
            raise EquationError(
                kernel.name, f"{word} assigns to {variable.sx}, which is not a "
                f"{'Discrete' if held_only else 'variable'} of the component.",
                f"Assign to a {'Discrete' if held_only else 'Variable or Discrete'}.",
            )  # fmt: skip
        pairs.append((key[0], value.sx))
    return pairs


def _take_observed(kernel: Kernel, equations: list[tuple[Any, str]]) -> None:
    """Move equations that only assign an otherwise unused variable out of the system."""
    used: dict[int, int] = {}
    for residual, _ in equations:
        for s in ca.symvar(residual):
            used[s.__hash__()] = used.get(s.__hash__(), 0) + 1
    outside = [c for c, _ in kernel.relations]
    outside += [c for c, _ in kernel.resets] + [v for _, p in kernel.resets for _, v in p]
    outside += [v for _, _, p in kernel.samplings for _, v in p]
    outside += [value for _, value, *_ in kernel.delays]
    for law in kernel.set_valued:
        outside += [kernel.symbols[law.effort, 0], *law.given]
    for effort, load, *sxs in kernel.load_laws:
        outside += [kernel.symbols[effort, 0], kernel.symbols[load, 0]]
        outside += [sx for sx in sxs if sx is not None]
    busy = {s.__hash__() for sx in outside for s in ca.symvar(sx)}
    busy |= {kernel.symbols[i, 0].__hash__() for _, p in kernel.resets for i, _ in p}
    free = {
        kernel.symbols[i, 0].__hash__(): i
        for i, v in enumerate(kernel.variables)
        if v.kind == "variable" and (i, 1) not in kernel.symbols
        and v.declared.initial is None and kernel.symbols[i, 0].__hash__() not in busy  # type: ignore[attr-defined]
    }  # fmt: skip
    kept = []
    for residual, text in equations:
        if _alias(Law(kernel, residual, text)) is not None:
            kept.append((residual, text))  # costs nothing, and may be given an initial target
            continue
        for s in ca.symvar(residual):
            i = free.get(s.__hash__())
            if i is None or used[s.__hash__()] != 1:
                continue
            slope = ca.jacobian(residual, s)
            if not slope.is_constant() or float(slope) == 0:
                continue
            kernel.observed[i] = ca.simplify(-ca.substitute(residual, s, ca.SX(0)) / slope)
            break
        else:
            kept.append((residual, text))
    equations[:] = kept


def _alias(law: Law) -> tuple[Any, Any, int] | None:
    """((variable, order), (variable, order), sign) where the law says a == ±b."""
    if len(law.arguments) != 2 or law.kernel is None:
        return None
    if law.slopes != ["constant", "constant"]:
        return None
    a, b = map(float, law.partials)
    rest = ca.substitute(law.residual, ca.vertcat(*law.symbols), ca.SX.zeros(2))
    if abs(a) != abs(b) or not (rest.is_constant() and float(rest) == 0):
        return None
    kinds = {law.kernel.variables[i].kind for i, _ in law.arguments}
    if "discrete" in kinds:
        return None
    return law.arguments[0], law.arguments[1], (1 if a == -b else -1)
