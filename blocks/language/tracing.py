"""How is a component class read into a kernel, once for all its instances?"""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import cache, cached_property, partial
from itertools import chain, count
from typing import TYPE_CHECKING, Any

import casadi as ca
import numpy as np

from ..exceptions import BlocksError, EquationError, UnitError, unknown_name
from ..numerics.arrays import Array
from ..numerics.rewriting import symbols_in
from ..units import SECOND, describe, unit
from .captured_names import CapturedNames
from .component import Component
from .declarations import Declaration, Discrete, Input, Option, Output, Parameter, Port, Variable
from .dependence import depends_on, refuse_moving_instants, refuse_stored
from .derived_defaults import default_of, refuse_circle, symbol_of
from .expression import (
    TIME,
    Equation,
    Expression,
    Statement,
    as_expression,
    current_trace,
    refuse_turns,
)
from .expression import time as time_expression
from .floors import Floors
from .kernel import (
    Kernel,
    Law,
    Local,
    LocalLoadLaw,
    LocalParameter,
    SetValuedLaw,
    TimeTable,
    polynomial,
)
from .lookup import derivatives_written
from .readable import condition_text, readable
from .references import choices_with
from .sign_choices import follow_flows, with_zeros
from .source_lines import Place, line_of_function, line_of_generator, line_where_raised, tell_line
from .specialisation import arrays_are_numbers, structure_key
from .statements import Breakpoints, Demand, LoadLaw, Requirement, Reset, Sampling, SetValued

if TYPE_CHECKING:
    from ..reading.dimension import Dimension

__all__ = ["Kernels", "Trace", "kernel_of", "usual_value"]

ROW_OF_TABLE = ("start", "value", "slope", "square", "cube")  # words for a table of time's numbers


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
        return Expression.in_unit(self.kernel.symbols[i, 0], local.unit)


class Trace:
    """Reads the equations of one class into a kernel."""

    def __init__(self, component: Component) -> None:
        self.component = component
        self.kernel = Kernel(type(component).__name__)
        self.kernel.supplies = getattr(type(component), "supplies", False)
        self.symbols: dict[str, Any] = {}  # what names of the class stand for while it is read
        self.made: dict[int, tuple[Statement, Place | None]] = {}  # and is yet to be yielded
        self.current = ""  # which equation is read
        self.reading = ""  # which function of time is called
        self.following: set[str] = set()  # parameters whose defaults are being found
        self.floors = Floors(self.kernel, self._relation)
        self.arrays_are_numbers = arrays_are_numbers(component)
        for name, declared in component._declared.items():
            if declared.exists(component):
                self._declare(name, declared)
            else:
                self.symbols[name] = None
            if declared.group:
                self.symbols.setdefault(declared.group, []).append(self.symbols[name])
        for name in type(component)._declared.keys() - component._declared.keys():
            self.symbols.setdefault(name, [])  # numbered ones, of which there are none

    def _declare(self, name: str, declared: Declaration) -> None:
        if isinstance(declared, Port):
            self._declare_port(name, declared)
        elif isinstance(declared, Variable):
            kinds = {Input: "input", Output: "output", Discrete: "discrete"}
            kind = kinds.get(type(declared), "variable")
            symbol = self.kernel.add_variable(Local(name, declared.unit, kind, declared))
            self.symbols[name] = Expression.in_unit(symbol, declared.unit)
        elif isinstance(declared, Option):
            self.symbols[name] = declared.read(self.component)
        elif isinstance(declared, Parameter):
            value = self.component._values.get(name, declared.default)
            if not callable(value) and (name in self.component._values or not declared.follows):
                self._declare_parameter(name, declared, value)

    def _declare_port(self, name: str, declared: Port) -> None:
        kernel, domain = self.kernel, declared.domain
        indices = {}
        for kind, group in (("across", domain.across), ("through", domain.through)):
            for variable, u in group.items():
                full = f"{name}.{variable}"
                kernel.add_variable(Local(full, u, kind, declared, name,
                                          domain.typical.get(variable)))
                indices[variable] = kernel.index[full]
        kernel.ports[name] = (domain, indices)
        for position, velocity in domain.rates.items():
            kernel.derivative_symbol(indices[position], 1)
            kernel.rates.append((indices[position], indices[velocity]))
        parameters = {}
        for parameter, (u, value) in domain.parameter_values.items():
            kernel.add_variable(Local(f"{name}.{parameter}", u, "domain", declared, name))
            parameters[parameter] = kernel.index[f"{name}.{parameter}"]
            kernel.domain_values[parameters[parameter]] = value
        port = self.symbols[name] = PortSymbols(kernel, name, {**indices, **parameters})
        if indices:
            kernel.powers.append(cache(partial(domain.power_into, port, kernel.power_rates)))

    def _declare_parameter(self, name: str, declared: Parameter, value: Any) -> None:
        if np.ndim(declared.default) and self.arrays_are_numbers:
            flat = np.ravel(value) if np.ndim(declared.default) > 2 else np.asarray(value)
            self.symbols[name] = Expression.in_unit(ca.SX(ca.DM(flat)), declared.unit)
            return
        column, symbol = symbol_of(name, np.shape(value) if np.ndim(declared.default) else ())
        self.kernel.parameters.append(LocalParameter(name, declared.unit, column.numel(), declared))
        self.kernel.parameter_symbols.append(column)
        self.symbols[name] = Expression.in_unit(symbol, declared.unit)

    def read_defaults(self) -> None:
        """Expressions that stand in for inputs nothing is connected to."""
        for i, local in enumerate(self.kernel.variables):
            default = local.declared.default if isinstance(local.declared, Input) else None
            if default is None:
                continue
            declared = self.component._declared.get(default)
            if not isinstance(declared, Parameter):
                raise EquationError(f"{self.kernel.name}.{local.name}",
                                    f"its default {default!r} is no parameter of the component.",
                                    "Name the parameter that is used while "
                                    "nothing is connected.")
            self.kernel.defaults[i] = as_expression(self.symbol(declared)).sx

    def carried_away(self) -> Iterator[Equation]:
        """The equations of ports that carry away a power of the component."""
        kernel = self.kernel
        for name, declared in self.component._declared.items():
            if not (isinstance(declared, Port) and declared.carries and name in kernel.ports):
                continue
            power = self.symbols.get(declared.carries)
            if not isinstance(power, Expression) or declared.carries not in kernel.index:
                raise unknown_name(f"{kernel.name}.{name} (carries)", declared.carries,
                                   [v.name for v in kernel.variables if v.kind == "variable"],
                                   "variables")
            if power.dimension != unit("W").dimension:
                raise EquationError(
                    f"{kernel.name}.{name}", f"carries {declared.carries}, which is no power, but "
                    f"{describe(power.dimension)}.", "Name a variable in W.", code="unit.dimension")
            kernel.carried[name] = kernel.index[declared.carries]
            yield Equation(declared.domain.power_into(self.symbols[name]), -power)

    # -- called while equations are read ---------------------------------------------
    def symbol(self, declared: Declaration) -> Any:
        name = declared.name
        if name not in self.symbols:  # a parameter given as a function, or by that of its default
            declared = self.component._declared[name]
            assert isinstance(declared, Parameter)
            self.symbols[name] = (self._function_value if name in self.component._values
                                  else self._followed_value)(name, declared)
        return self.symbols[name]

    def _followed_value(self, name: str, declared: Parameter) -> Expression:
        if name in self.following:
            refuse_circle(self.component, name)
        self.following.add(name)
        value: Expression = default_of(declared, self.reader, f"{self.kernel.name}.{name}")
        self.following.discard(name)
        return value

    @cached_property
    def reader(self) -> Component:
        """The component as ``equations()`` sees it."""
        return self.component._reader(_trace=self, _declared=self.component._declared,
                                      _parent=None, _name="", _children={})

    def _function_value(self, name: str, declared: Parameter) -> Expression:
        """A parameter given as a function of time, or of variables of the component."""
        function = self.component._values[name]
        where = f"{self.component.path}.{name}"
        of = depends_on(self.component, declared, function)
        given = [self.symbols[n] for n in of] or [time_expression]
        kind = ", ".join(of) or "time"
        self.reading = f"{where}, the function of {kind} given for it"
        try:
            returned = function(*given)
            value = as_expression(0 if returned is None else returned)
            refuse_turns(value, Expression.in_unit(ca.SX.sym(name), declared.unit))
        except BlocksError as error:
            tell_line(error, line_where_raised(error))
            raise
        except Exception as error:
            raise tell_line(EquationError(
                where, f"the function of {kind} given for it failed: {error}",
                f"It is called once, with {kind} as an expression; use the functions of blocks or "
                "numpy (sin, where, …) in it, and where() instead of 'if'.",
            ), line_where_raised(error)) from error  # fmt: skip
        finally:
            self.reading = ""
        if returned is None:
            raise tell_line(EquationError(
                where, f"the function of {kind} given for it returns nothing.",
                "Let it end with return and a value."), line_of_function(function))
        if value.dimension != declared.unit.dimension:
            raise tell_line(EquationError(
                where, f"the function of {kind} given for it returns {describe(value.dimension)}, "
                f"but {declared.unit} is needed.",
                f"Multiply with a quantity, such as quantity('1 {declared.unit}') * sin(…)."
                if not of else f"Begin with a quantity, such as quantity('1 {declared.unit}') * …",
                code="unit.dimension"), line_of_function(function))
        if value.sx.numel() > 1 and not declared.dimensions:
            raise tell_line(EquationError(
                where, f"the function of {kind} given for it returns {value.sx.numel()} values, "
                "but all instances share one.", "Make a part for each value.",
                code="parameter.function"), line_of_function(function))
        if of:
            self._show_dependent(name, declared, value)
        from .bound_checks import bounds_to_watch

        for requirement in bounds_to_watch(self.kernel, declared,
                                           self.floors.evaluated(value.sx), where):
            self.read_statement(requirement)
        return value

    def _show_dependent(self, name: str, declared: Parameter, value: Expression) -> None:
        """Make a parameter that follows a variable one of the results."""
        kernel = self.kernel
        shown = Variable(declared.unit, doc=declared.doc)
        kernel.add_variable(Local(name, declared.unit, "variable", shown))
        kernel.observed[kernel.index[name]] = value.sx
        kernel.dependent[name] = value.sx

    @property
    def switched_off(self) -> str:
        """What the component declares and its options switch off, as advice."""
        told = []
        for name, declared in self.component._declared.items():
            if declared.exists(self.component):
                continue
            by = " or ".join(f"{option}={value!r}" for option, value in
                             choices_with(self.component, declared)) or "other options"
            told.append(f"{name} exists only with {by}")
        return f"{'; '.join(told[:4])}. Put its equations under 'if'." if told else ""

    def where(self) -> str:
        return self.reading or f"{self.kernel.name}{self.current}"

    def relation(self, crossing: ca.SX, at_zero: bool) -> ca.SX:
        return self._relation(self.floors.of_time_evaluated(crossing), at_zero)

    def _relation(self, crossing: ca.SX, at_zero: bool) -> ca.SX:
        kernel = self.kernel
        for known, symbol in zip(kernel.relations, kernel.relation_symbols, strict=True):
            if known[1] == at_zero and ca.is_equal(known[0], crossing, 5):
                return symbol
        symbol = ca.SX.sym(f"{readable(crossing)} > 0")
        kernel.relations.append((crossing, at_zero))
        kernel.relation_symbols.append(symbol)
        return symbol

    def derivative(self, sx: ca.SX) -> ca.SX:
        self.kernel.refuse_delayed(sx, self.where())
        self._refuse_constant(sx)
        return self.kernel.total_derivative(sx)

    def _refuse_constant(self, sx: ca.SX) -> None:
        """``der()`` of what never changes is a slip; of a value that may be a function, 0."""
        kernel, symbols = self.kernel, symbols_in(sx)
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
            code="equation.constant")

    def delayed(self, value: ca.SX, delay: ca.SX, initial: ca.SX, dimension: Dimension) -> ca.SX:
        kernel = self.kernel
        allowed = kernel.parameter_hashes
        for sx, may, what in ((delay, allowed, "the delay"),
                              (initial, allowed | {TIME.__hash__()}, "what was before the run")):
            free = [s for s in ca.symvar(sx) if s.__hash__() not in may]
            if free:
                raise EquationError(
                    self.where(), f"delayed(): {what} depends on {free[0].name()}.",
                    "It may depend on parameters" + (" only." if sx is delay else " and time."),
                    code="equation.delayed")
        i, symbol = kernel.add_discrete(f"delayed{len(kernel.delays) + 1}", dimension,
                                        "a delayed signal")
        kernel.delays.append((i, value, delay, initial))
        return symbol

    def before(self, value: ca.SX, dimension: Dimension) -> ca.SX:
        """What stands for a value as it was before the last event."""
        kernel = self.kernel
        i, symbol = kernel.add_discrete(f"before{len(kernel.previous) + 1}", dimension,
                                        "before the last event")
        kernel.previous.append((i, self.floors.evaluated(value)))
        return symbol

    def refuse_before(self, residual: ca.SX) -> None:
        """Refuse what was before an event where none is: in an equation."""
        previous = {self.kernel.symbols[i, 0].__hash__() for i, _ in self.kernel.previous}
        if previous and previous & symbols_in(residual):
            raise EquationError(self.kernel.name, "before() stands in an equation.",
                                "It is for what when() asks and assigns: let it assign a Discrete, "
                                "and take that here.")

    def tabulated(self, starts: Array, rows: Array, dimension: Dimension) -> ca.SX:
        """The value of a table of time now, from the row of the table that holds.

        From ascending ``starts`` ``rows`` hold, (1 + powers, instants): the start of each
        polynomial, and its coefficients.
        """
        kernel, number = self.kernel, len(self.kernel.tables) + 1
        of_powers = (dimension / SECOND.dimension**k for k in range(len(rows) - 1))
        row, symbols = zip(*(
            kernel.add_discrete(f"table{number}_{word}", of, "of a table of time")
            for word, of in zip(ROW_OF_TABLE, (SECOND.dimension, *of_powers), strict=False)),
            strict=True)
        kernel.tables.append(TimeTable(row, starts, rows))
        return polynomial(symbols, TIME)

    def demand(self, demand: Demand) -> None:
        """Remember what parameters must fulfil."""
        if symbols_in(ca.veccat(demand.lower, demand.upper)) <= self.kernel.parameter_hashes:
            self.kernel.demands.append(demand)

    # -- statements ------------------------------------------------------------------
    def read_statement(self, statement: object) -> None:
        """Take a statement of ``equations()``, other than an equation, into the kernel."""
        kernel = self.kernel
        self.made.pop(id(statement), None)
        if isinstance(statement, Reset):
            with self.reading_equations():
                condition = statement.condition.with_events(self)
            kernel.resets.append((condition, self._assigned("when()", statement)))
        elif isinstance(statement, Sampling):
            start, period = (None if t is None else t.sx
                             for t in (statement.start, statement.period))  # fmt: skip
            word = "every()" if statement.period is not None else "initially()"
            kernel.samplings.append((start, period, self._assigned(word, statement)))
        elif isinstance(statement, Requirement):
            with self.reading_equations():
                kernel.requirements.append((statement.condition.with_events(self),
                                            statement.message))
        elif isinstance(statement, SetValued):
            effort = self._variable(statement.effort, "a set-valued law", "effort",
                                    "Declare a Variable for that force.")
            gap, restitution = (None if e is None else e.sx
                                for e in (statement.gap, statement.restitution))  # fmt: skip
            low, high, back, forth = (e.sx for e in (*statement.static, *statement.kinetic))
            if statement.closed is not None:  # no effort at all, where it does not hold
                with self.reading_equations():
                    holds = statement.closed.with_events(self)
                low, high = (ca.if_else(holds, bound, 0.0) for bound in (low, high))
            kernel.set_valued.append(SetValuedLaw(effort, statement.flow.sx, low, high, back, forth,
                                                  gap, restitution, statement.kind))
        elif isinstance(statement, LoadLaw):
            effort, load = (self._variable(e, "a law of the load", word, "Declare a Variable for "
                                           "it.")
                            for word, e in (("effort", statement.effort), ("load", statement.load)))
            rest = (None, None) if statement.rest is None else tuple(e.sx for e in statement.rest)
            kernel.load_laws.append(
                LocalLoadLaw(effort, load, statement.flow.sx, statement.law.sx, *rest))
        elif isinstance(statement, Breakpoints):
            kernel.breaks.append((statement.start.sx,
                                  None if statement.period is None else statement.period.sx))
        elif isinstance(statement, dict):
            raise EquationError(f"{kernel.name}.equations()", "yields assignments alone.",
                                "Say when they are made: yield when(condition, {…}).")
        else:
            raise EquationError(f"{kernel.name}.equations()", f"yields {condition_text(statement)},"
                                " which is no equation.", "Write  yield left == right ; a plain "
                                "True or False means that no variable is in it.")

    @contextmanager
    def reading_equations(self) -> Iterator[None]:
        """Derivatives, relations and messages of expressions are this trace's meanwhile."""
        token = current_trace.set(self)
        try:
            yield
        finally:
            current_trace.reset(token)

    def _variable(self, given: Expression, law: str, word: str, advice: str) -> int:
        """The number of a variable that a law is stated for."""
        key = self.kernel.key_of(given.sx) if given.sx.is_symbolic() else None
        if key is None or key[1] != 0:
            raise EquationError(self.kernel.name, f"{law} needs a variable as {word}, but was "
                                f"given {given.sx}.", advice)
        return key[0]

    def _assigned(self, word: str, statement: Reset | Sampling) -> list[tuple[int, ca.SX]]:
        """(variable, value) of the assignments of a statement."""
        kernel, held_only = self.kernel, isinstance(statement, Sampling)
        pairs = []
        for variable, value in statement.assignments:
            key = kernel.key_of(variable.sx) if variable.sx.is_symbolic() else None
            if key is None or key[1] != 0 or (
                held_only and kernel.variables[key[0]].kind != "discrete"
            ):
                advice = f"Assign to a {'Discrete' if held_only else 'Variable or Discrete'}."
                if word == "initially()":
                    advice += (" What is integrated starts at its initial target, which may follow "
                               "from parameters: Variable('m', lambda c: c.x0, priority='high').")
                if word == "every()":
                    advice += (" What is integrated is given new values by when(mod(time, period) "
                               "< period / 2, {…}).")
                raise EquationError(
                    kernel.name, f"{word} assigns to {variable.sx}, which is not a "
                    f"{'Discrete' if held_only else 'variable'} of the component.", advice)
            now = self.floors.evaluated(value.sx)
            pairs.append((key[0], self._as_before(now) if held_only else now))
        return pairs

    def _as_before(self, sx: ca.SX) -> ca.SX:
        """What is sampled, where relations that look at the component's own Discrete variables are
        comparisons of their own: they find these as they were before the instant, not as held."""
        kernel = self.kernel
        for (crossing, at_zero), symbol in zip(kernel.relations, kernel.relation_symbols,
                                               strict=True):
            if ca.depends_on(sx, symbol):
                now = self._as_before(self.floors.evaluated(crossing))
                if any(self._is_own(s) for s in ca.symvar(now)):
                    sx = ca.substitute(sx, symbol, now >= 0 if at_zero else now > 0)
        return sx

    def _is_own(self, symbol: ca.SX) -> bool:
        """Whether a symbol is a Discrete variable that the class declares."""
        key = self.kernel.key_of(symbol)
        return key is not None and key[1] == 0 and isinstance(
            self.component._declared.get(self.kernel.variables[key[0]].name), Discrete)


class Kernels:
    """Kernels of leaf components at one moment: their surroundings are looked at once."""

    def __init__(self) -> None:
        self._seen: set[int] = set()

    def of(self, component: Component) -> Kernel:
        """The traced kernel of a component (kept by its class, while what it uses stands).

        Errors name the class, the equation and both sides' units.
        """
        key, kernels = structure_key(component), type(component)._kernels
        kernel = kernels.get(key)
        if kernel is None or not (id(kernel) in self._seen or kernel.captured.unchanged()):
            kernel = kernels[key] = _traced(component)
        self._seen.add(id(kernel))
        return kernel


def kernel_of(component: Component) -> Kernel:
    """The kernel of one component; see :meth:`Kernels.of`."""
    return Kernels().of(component)


def usual_value(component: Component, name: str) -> float:
    """What a parameter given as a function of variables is where these have their targets, in SI.

    A variable without a target counts with its nominal value, or as 0.
    """
    declared = component._declared[name]
    trace = Trace(component)
    with trace.reading_equations():
        value = trace.floors.evaluated(trace.symbol(declared).sx)
    kernel = trace.kernel
    symbols = [kernel.symbols[i, 0] for i in range(len(kernel.variables))]
    numbers = []
    for local in kernel.variables:
        aimed, _ = component._targets.get(local.name, (None, ""))
        if isinstance(local.declared, Variable):
            for usual in (local.declared.initial_of(component), local.declared.nominal):
                aimed = usual if aimed is None else aimed
        numbers.append(float(np.ravel(0.0 if aimed is None else aimed)[0]))
    for (crossing, _), symbol in zip(kernel.relations, kernel.relation_symbols, strict=True):
        value = ca.substitute(value, symbol, crossing > 0)
    return float(ca.Function("usual", symbols, [value])(*numbers))


def _traced(component: Component) -> Kernel:
    trace = Trace(component)
    kernel = trace.kernel
    laws: list[Law] = []
    carried = ((equation, None) for equation in trace.carried_away())
    for statement, place in chain(_statements_of(component, trace), carried):
        try:
            if isinstance(statement, Equation):
                trace.made.pop(id(statement), None)
                for residual, wording in _scalars(kernel, statement):
                    trace.floors.hold(residual)
                    trace.refuse_before(residual)
                    laws.append(Law(kernel, residual, wording))
            else:
                trace.read_statement(statement)
        except BlocksError as error:
            tell_line(error, place)
            raise
    for forgotten, place in trace.made.values():
        raise tell_line(EquationError(
            f"{kernel.name}.equations()", f"makes {forgotten.word} that it does not yield: it "
            "would count for nothing.", "Write  yield  before it, or leave it out."), place)
    trace.floors.hold(ca.vertcat(ca.SX(), *kernel.beside_equations(), *kernel.observed.values(),
                                 *kernel.defaults.values()))
    refuse_stored(component, kernel, laws)
    refuse_moving_instants(component, kernel)
    laws = with_zeros(kernel, laws, trace.relation)
    kernel.laws += _without_observed(kernel, follow_flows(kernel, laws))
    kernel.captured = CapturedNames.of_equations(component)
    return kernel


def _statements_of(component: Component, trace: Trace) -> list[tuple[object, Place | None]]:
    """All that ``equations()`` yields, while the names of the class stand for symbols.

    Errors tell the file and line of the equation in which they are.
    """
    try:
        with trace.reading_equations():
            statements = list(_yielded(trace.reader, trace))
            trace.read_defaults()
    except BlocksError as error:
        if isinstance(error, UnitError):
            error.where = error.where or trace.where()
        tell_line(error, line_where_raised(error))
        raise
    except Exception as error:
        raise tell_line(EquationError(
            trace.where(), f"its equations() raised {type(error).__name__}: {error}",
            "The functions of the module math take numbers only: take those of blocks or numpy."
            if isinstance(error, TypeError) and "not Expression" in str(error) else
            "Write  from blocks import time  after  import time." if "'module'" in str(error) else
            "NoneType" in str(error) and trace.switched_off or
            isinstance(error, NameError) and (
                f"Write self.{error.name}." if error.name in component._declared else
                f"Import it, as by  from blocks import {error.name}."
                if error.name in dir(sys.modules["blocks"]) else
                f"Define {error.name} where the class is, or import it.") or
            "Equations may use the class's own declarations, quantities and the functions of "
            "blocks: floor(x + 0.5) is round(x), minimum(maximum(x, a), b) clips, interpolate() "
            "reads a table.",
        ), line_where_raised(error)) from error  # fmt: skip
    trace.current = ""
    return statements


def _yielded(reader: Component, trace: Trace) -> Iterator[tuple[object, Place | None]]:
    """The statements, one after the other, with the place of each; the trace knows it, too."""
    for name in ("port_equations", "equations"):
        trace.current = "" if name == "equations" else ".port_equations()"
        generator = getattr(reader, name)()
        if not isinstance(generator, Iterable):
            given = "nothing" if generator is None else f"{generator!r}"
            raise tell_line(EquationError(
                f"{trace.kernel.name}.{name}()", f"returns {given}.", "Write it as a generator: "
                "yield left == right."), line_of_function(getattr(type(reader), name)))
        iterator = iter(generator)
        for number in count(1):
            if name == "equations":
                trace.current = f", equation {number}"
            try:
                statement = next(iterator)
            except StopIteration:
                break
            yield statement, line_of_generator(iterator)


def _scalars(kernel: Kernel, equation: Equation) -> Iterator[tuple[ca.SX, Callable[..., str]]]:
    """Residual and wording of every scalar equation in an equation."""
    left, right = equation.left.sx, equation.right.sx
    residual = left - right
    if left.numel() != right.numel():
        raise EquationError(kernel.name,
                            f"{left} == {right} has {left.numel()} values on the left and "
                            f"{right.numel()} on the right.",
                            "Write one equation for every variable.")
    for i in range(residual.numel()):
        yield residual[i], lambda *longest, of=(left[i], right[i]): " == ".join(
            readable(side, *longest) for side in of)


def _without_observed(kernel: Kernel, laws: list[Law]) -> list[Law]:
    """The laws without those that only assign an otherwise unused variable.

    These are put into ``kernel.observed``.
    """
    used = Counter(h for law in laws for h in symbols_in(law.residual))
    busy = set[int]().union(*map(symbols_in, kernel.beside_equations()))
    busy |= {kernel.symbols[i, 0].__hash__() for _, p in kernel.resets for i, _ in p}
    free = {
        kernel.symbols[i, 0].__hash__(): i
        for i, v in enumerate(kernel.variables)
        if v.kind == "variable" and (i, 1) not in kernel.symbols
        and isinstance(v.declared, Variable) and not v.declared.has_initial
        and kernel.symbols[i, 0].__hash__() not in busy}
    rest = []
    for law in laws:
        if law.alias is not None:
            rest.append(law)  # costs nothing, and may be given an initial target
            continue
        for s in ca.symvar(law.residual):
            i = free.get(s.__hash__())
            if i is None or used[s.__hash__()] != 1:
                continue
            slope = derivatives_written(ca.jacobian(law.residual, s))
            if not slope.is_constant() or float(slope) == 0:
                continue
            kernel.observed[i] = ca.simplify(-ca.substitute(law.residual, s, ca.SX(0)) / slope)
            break
        else:
            rest.append(law)
    return rest
