"""What does a component class say, as symbols? Traced once per class.

A kernel is the class's law on its own local symbols: variables (ports included), their derivatives,
parameters, held relations and discrete values. Instances are index arrays elsewhere; nothing here
knows how many there are or what they are connected to.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import cached_property
from itertools import chain, pairwise, product
from typing import TYPE_CHECKING, Any, NamedTuple

import casadi as ca
import numpy as np

from ..exceptions import EquationError
from ..numerics.arrays import Array
from ..numerics.rewriting import lifted, symbols_in
from ..numerics.tolerances import SAME_AS_BEFORE
from ..units import Unit, describe
from .captured_names import CapturedNames
from .declarations import Declaration, Discrete, Parameter
from .domain import Domain
from .expression import TIME, Expression, unguarded
from .lookup import StateTable, derivatives_written
from .readable import readable
from .statements import Demand

if TYPE_CHECKING:
    from ..reading.dimension import Dimension

__all__ = ["Key", "Kernel", "Law", "Local", "LocalParameter", "SetValuedLaw", "TimeTable", "VALVES",
           "polynomial"]

MOST_CONDITIONS = 8  # of a law, of which all combinations are tried
VALVES = "switch", "gated diode", "diode"  # kinds of set-valued laws that open and close

Key = tuple[int, int]  # number of a local variable, order of its derivative


@dataclass(frozen=True)
class Local:
    """A local unknown of a kernel: a variable, or one of a port."""

    name: str  # "v" or "R.v"
    unit: Unit
    kind: str  # "variable", "across", "through", "domain", "input", "output", "discrete"
    declared: Declaration
    port: str = ""  # name of the conserving port it belongs to
    typical: float | None = None  # of an across variable whose zero is far from what occurs


@dataclass(frozen=True)
class LocalParameter:
    """A parameter of a kernel, a number or as many as ``size``."""

    name: str
    unit: Unit
    size: int
    declared: Parameter


@dataclass(frozen=True, eq=False)
class SetValuedLaw:
    """A set-valued law between an effort and a flow, on local symbols."""

    effort: int  # number of its variable
    flow: ca.SX
    low: ca.SX  # static bounds
    high: ca.SX
    back: ca.SX  # kinetic efforts, sliding backward and forward
    forth: ca.SX
    gap: ca.SX | None = None  # of a unilateral contact
    restitution: ca.SX | None = None
    kind: str = "friction"  # "contact", or one of VALVES

    @property
    def words(self) -> str:
        """The kind whose words its changes are told in."""
        return "valve" if self.kind in VALVES else self.kind

    @property
    def is_contact(self) -> bool:
        return self.gap is not None

    @property
    def expressions(self) -> list[ca.SX | None]:
        """Flow, bounds and efforts, gap and restitution; None for those that it lacks."""
        return [self.flow, self.low, self.high, self.back, self.forth, self.gap, self.restitution]

    @property
    def given(self) -> list[ca.SX]:
        """The expressions that it has."""
        return [sx for sx in self.expressions if sx is not None]


class LocalLoadLaw(NamedTuple):
    """An effort that depends on the load, on local symbols."""

    effort: int  # numbers of their variables
    load: int
    flow: ca.SX
    law: ca.SX
    band: ca.SX | None  # of rest: largest flow
    strength: ca.SX | None  # and largest load there

    @property
    def given(self) -> list[ca.SX]:
        """The expressions that it has."""
        return [sx for sx in self[2:] if sx is not None]


@dataclass(frozen=True, eq=False)
class TimeTable:
    """A table of time, a polynomial between two of its points, on local symbols.

    Its value is ``value + slope * (time - start) + …`` with the row that holds: discrete variables
    that change at its points.
    """

    row: tuple[int, ...]  # numbers of the variables start, value, slope, …
    starts: Array  # ascending instants from which rows hold; the first holds before, too
    rows: Array  # (variables, instants)

    def __call__(self, t: Array | float) -> Array:
        """The rows that hold from times on, (variables, times)."""
        at = np.searchsorted(self.starts, np.atleast_1d(t), side="right") - 1
        return self.rows[:, np.maximum(at, 0)]

    @cached_property
    def is_continuous(self) -> bool:
        """Whether its value goes on without steps at all of its points."""
        left, right = (polynomial(rows, self.starts[1:])
                       for rows in (self.rows[:, :-1], self.rows[:, 1:]))
        largest = np.abs(self.rows[1]).max()
        return bool(np.all(np.abs(left - right) <= SAME_AS_BEFORE * largest))


def polynomial(row: Iterable[Any], t: Any) -> Any:
    """The value of a row of a table of time: numbers, symbols, or many rows and times at once."""
    start, *powers = row
    value = 0
    for power in reversed(powers):
        value = power + (t - start) * value
    return value


MANY_NODES = 100  # of an equation, in which what occurs several times is looked for


def _with_common_terms(expression: ca.SX) -> ca.SX:
    """Return an expression in which what occurs several times is evaluated once."""
    return ca.cse(expression) if ca.n_nodes(expression) > MANY_NODES else expression


class Law:
    """One scalar equation ``residual == 0`` on local symbols.

    ``arguments`` lists what it depends on as (local variable, derivative order). ``wording``
    gives its text, which hardly anybody reads, and which of a long law takes long to write.
    """

    def __init__(self, kernel: Kernel, residual: ca.SX, wording: Callable[..., str],
                 order: int = 0) -> None:
        self.kernel, self.residual = kernel, _with_common_terms(residual)
        self.wording, self.order = wording, order
        self.arguments = kernel.keys_in(residual)
        self._functions: dict[tuple[str, int], ca.Function] = {}

    @cached_property
    def text(self) -> str:
        """The equation for a person to read."""
        return self.wording()

    @property
    def symbols(self) -> list[ca.SX]:
        return [self.kernel.symbols[a] for a in self.arguments]

    @property
    def open_arguments(self) -> list[tuple[int, Key]]:
        """Places and keys of the arguments but discrete values, which nothing solves for."""
        return [(k, key) for k, key in enumerate(self.arguments)
                if self.kernel.variables[key[0]].kind != "discrete"]

    @property
    def unknowns(self) -> list[Key]:
        """Keys of the arguments that something solves for."""
        return [key for _, key in self.open_arguments]

    @cached_property
    def partials(self) -> list[ca.SX]:
        """d residual / d argument, as SX."""
        if not self.arguments:
            return []
        gradient = derivatives_written(ca.jacobian(self.residual, ca.vertcat(*self.symbols)))
        return [gradient[0, i] for i in range(len(self.arguments))]

    @cached_property
    def gradient(self) -> ca.Function:
        """All of these as a function of all arguments."""
        return self.kernel.function("gradient", self.symbols,
                                    ca.densify(ca.vertcat(*self.partials)))

    @cached_property
    def _inside(self) -> list[dict[int, ca.SX]]:
        """Per argument the symbols that its slope is made of, by their hashes."""
        slopes = ca.vertcat(*self.partials)
        symbols = ca.symvar(slopes)
        by_hash = [(s.__hash__(), s) for s in symbols]
        pattern = ca.jacobian_sparsity(slopes, ca.vertcat(*symbols)).T  # column by column
        starts, rows = pattern.colind(), pattern.row()
        return [dict(by_hash[j] for j in rows[a:b]) for a, b in pairwise(starts)]

    @cached_property
    def slopes(self) -> list[str]:
        """Per argument how the residual depends on it.

        ``"constant"`` (a nonzero number), ``"parameter"`` (linear, coefficient of parameters only),
        ``"variable"`` (linear in it, coefficient of other unknowns or time), ``"nonlinear"``.
        """
        kinds = []
        for symbol, slope, free in zip(self.symbols, self.partials, self._inside, strict=True):
            if slope.is_constant():
                kinds.append("constant" if float(slope) != 0 else "nonlinear")
            elif symbol.__hash__() in free:
                kinds.append("nonlinear")
            elif free.keys() <= self.kernel.parameter_hashes:
                kinds.append("parameter")
            else:
                kinds.append("variable")
        return kinds

    @cached_property
    def bends(self) -> list[bool]:
        """Per argument whether its coefficient changes with it, or by conditions."""
        switches = {s.__hash__() for s in self.kernel.relation_symbols}
        return [kind == "nonlinear" or not switches.isdisjoint(free)
                for kind, free in zip(self.slopes, self._inside, strict=True)]

    @cached_property
    def fading(self) -> list[bool]:
        """Per argument whether the residual does not depend on it while conditions say so.

        As a stop depends on its velocity only where it is touched: that is tried with numbers.
        """
        out = []
        for slope, free in zip(self.partials, self._inside, strict=True):
            inside = dict(free)
            told = [s for s in self.kernel.relation_symbols if inside.pop(s.__hash__(), None)
                    is not None]  # fmt: skip
            if not told or len(told) > MOST_CONDITIONS:
                out.append(False)
                continue
            function = ca.Function("slope", [ca.vertcat(*told), ca.vertcat(*inside.values())],
                                   [slope])
            numbers = np.random.default_rng(3).uniform(0.5, 1.5, len(inside))
            out.append(any(float(function(case, numbers)) == 0.0
                           for case in product((0.0, 1.0), repeat=len(told))))
        return out

    @cached_property
    def conditional(self) -> list[bool]:
        """Per argument whether its coefficient follows from parameters and conditions alone.

        Not where these choose a piece of a law in a loop: there they are what is looked for.
        """
        pieces = {self.kernel.relation_symbols[r].__hash__() for r in self.kernel.pieces}
        told = {s.__hash__() for s in self.kernel.relation_symbols} - pieces
        return [0 < len(told & free.keys()) <= MOST_CONDITIONS
                and free.keys() <= told | self.kernel.parameter_hashes for free in self._inside]

    @cached_property
    def alias(self) -> tuple[Key, Key, int] | None:
        """Two arguments and a sign where the law says a == ±b, else None."""
        if not len(self.arguments) == len(self.unknowns) == 2 or (
                self.slopes != ["constant", "constant"]):
            return None
        a, b = map(float, self.partials)
        rest = ca.substitute(self.residual, ca.vertcat(*self.symbols), ca.SX.zeros(2))
        if abs(a) != abs(b) or not (rest.is_constant() and float(rest) == 0):
            return None
        return self.arguments[0], self.arguments[1], (1 if a == -b else -1)

    def slopes_at(self, position: int, parameters: list[Array]) -> Array | float:
        """The coefficient of an argument for instances with given parameters, (size, n) each."""
        if self.slopes[position] == "constant":
            return float(self.partials[position])
        key = ("slope", position)
        if key not in self._functions:
            self._functions[key] = ca.Function("slope", self.kernel.parameter_symbols,
                                               [self.partials[position]])
        n = parameters[0].shape[1]
        return np.array(self._functions[key].map(n)(*parameters)).ravel()

    def coefficients_at(self, position: int, parameters: list[Array]) -> tuple[Array, Array]:
        """The least and the largest size of the coefficient of an argument, whichever conditions
        hold, for instances with given parameters; the least is 0 where its sign changes."""
        key = ("coefficients", position)
        if key not in self._functions:
            slope, switches = self.partials[position], self.kernel.relation_symbols
            told = [s for s in switches if ca.depends_on(slope, s)]
            cases = [ca.substitute(slope, ca.vertcat(*told), ca.DM(case))
                     for case in product((0.0, 1.0), repeat=len(told))] if told else [slope]
            self._functions[key] = ca.Function(
                "coefficients", self.kernel.parameter_symbols, [ca.vertcat(*cases)])
        n = parameters[0].shape[1] if parameters else 1
        found = np.array(self._functions[key].map(n).call(parameters)[0]).reshape(-1, n)
        size, one_way = np.abs(found), (found > 0).all(axis=0) | (found < 0).all(axis=0)
        return np.where(one_way, size.min(axis=0), 0.0), size.max(axis=0)

    def solved(self, position: int, in_loop: bool = False) -> ca.Function:
        """The argument at ``position`` as an explicit function of all the others."""
        key = ("solved in a loop" if in_loop else "solved", position)
        if key not in self._functions:
            symbol = self.symbols[position]
            rest = ca.substitute(self._open if in_loop else self.residual, symbol, ca.SX(0))
            slope = self.partials[position]
            if slope.is_constant() and float(slope) in (1.0, -1.0):
                value = -rest if float(slope) == 1.0 else rest
            else:
                value = -rest / slope
            self._functions[key] = self.kernel.function(
                "solved", self.symbols, _with_common_terms(ca.simplify(value)))
        return self._functions[key]

    @cached_property
    def value(self) -> ca.Function:
        """The residual as a function of all arguments."""
        return self.kernel.function("residual", self.symbols, self._open)

    @cached_property
    def _open(self) -> ca.SX:
        """The residual in a loop, which must not go on where its law is infinitely steep."""
        return unguarded(self.residual) if self.kernel.guarded else self.residual

    @cached_property
    def derivative(self) -> Law:
        """The law differentiated with respect to time."""
        kernel = self.kernel
        tangent = kernel.total_derivative(self.residual)
        return Law(kernel, tangent, lambda: f"der({self.text})", self.order + 1)

    def __repr__(self) -> str:
        return f"<law {self.kernel.name}: {self.text}>"


class Kernel:
    """A component class traced with given options and array sizes."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.variables: list[Local] = []
        self.index: dict[str, int] = {}  # of variables by name
        self.parameters: list[LocalParameter] = []
        self.parameter_symbols: list[ca.SX] = []
        self.symbols: dict[Key, ca.SX] = {}
        self.ports: dict[str, tuple[Domain, dict[str, int]]] = {}  # numbers of their variables
        self.powers: list[Callable[[], Expression]] = []  # into it through conserving ports
        self.power_rates: list[tuple[ca.SX, ca.SX]] = []  # derivatives in these, and of what
        self.supplies = False  # whether the energy that leaves through the ports is supplied
        self.laws: list[Law] = []
        #: Crossing functions, positive where the relation holds, and whether it does at zero.
        self.relations: list[tuple[ca.SX, bool]] = []
        self.relation_symbols: list[ca.SX] = []
        self.pieces: set[int] = set()  # of these, those that choose a piece of a law in a loop
        self.root_signs: set[int] = set()  # hashes of those that are the sign of what is rooted
        self.free_signs: dict[int, ca.SX] = {}  # of these, those that may be free, and of what
        self.resets: list[tuple[ca.SX, list[tuple[int, ca.SX]]]] = []  # of states, at events
        self.breaks: list[tuple[ca.SX, ca.SX | None]] = []  # instants known beforehand
        #: Start (None: that of the run), period, and what variables are assigned then.
        self.samplings: list[tuple[ca.SX | None, ca.SX | None, list[tuple[int, ca.SX]]]] = []
        #: Which Discrete values are floors of time alone, as expressions of it.
        self.floors_of_time: dict[int, ca.SX] = {}
        #: Only assigned and never used: computed for results, no part of the solution.
        self.observed: dict[int, ca.SX] = {}
        self.defaults: dict[int, ca.SX] = {}  # of unconnected inputs
        self.dependent: dict[str, ca.SX] = {}  # parameters given as functions of variables
        self.rates: list[tuple[int, int]] = []  # position and velocity at a port
        self.carried: dict[str, int] = {}  # port and the power that leaves there, a variable
        self.domain_values: dict[int, float] = {}  # of parameters of domains, at ports
        self.requirements: list[tuple[ca.SX, str]] = []  # condition that must hold, message
        self.demands: list[Demand] = []
        self.set_valued: list[SetValuedLaw] = []
        self.load_laws: list[LocalLoadLaw] = []
        self.delays: list[tuple[int, ca.SX, ca.SX, ca.SX]] = []  # variable, value, delay, initial
        self.previous: list[tuple[int, ca.SX]] = []  # variable, what it is before each event
        self.tables: list[TimeTable] = []
        self.calls_python = False
        self.state_tables: list[StateTable] = []
        self.guarded = False  # whether an alternative of its laws has no value everywhere
        self.captured = CapturedNames()  # what its equations use beside the class
        self._key_by_hash: dict[int, Key] = {}  # of symbols
        self._default_laws: dict[int, Law] = {}

    # -- symbols -------------------------------------------------------------------
    def add_variable(self, local: Local, symbol: ca.SX | None = None) -> ca.SX:
        i = len(self.variables)
        self.variables.append(local)
        self.index[local.name] = i
        return self._add_symbol((i, 0), local.name, symbol)

    def add_discrete(self, name: str, dimension: Dimension, doc: str, symbol: ca.SX | None = None
                     ) -> tuple[int, ca.SX]:
        """Number and symbol of a value held between events that the class does not declare."""
        declared = Discrete(describe(dimension) if dimension else "", doc=doc)
        while name in self.index:  # one of the class's own
            name += "_"
        symbol = self.add_variable(Local(name, declared.unit, "discrete", declared), symbol)
        return len(self.variables) - 1, symbol

    def derivative_symbol(self, i: int, order: int) -> ca.SX:
        if (i, order) in self.symbols:
            return self.symbols[i, order]
        return self._add_symbol((i, order), "der(" * order + self.variables[i].name + ")" * order)

    def _add_symbol(self, key: Key, name: str, symbol: ca.SX | None = None) -> ca.SX:
        symbol = self.symbols[key] = ca.SX.sym(name) if symbol is None else symbol
        self._key_by_hash[symbol.__hash__()] = key
        return symbol

    @cached_property
    def parameter_hashes(self) -> set[int]:
        return {p[i].__hash__() for p in self.parameter_symbols for i in range(p.numel())}

    def unfolded(self, sx: ca.SX) -> ca.SX:
        """An expression without observed variables."""
        while self.observed:
            inside = symbols_in(sx)
            observed = [i for i in self.observed if self.symbols[i, 0].__hash__() in inside]
            if not observed:
                break
            sx = ca.substitute(sx, ca.vertcat(*(self.symbols[i, 0] for i in observed)),
                               ca.vertcat(*(self.observed[i] for i in observed)))
        return sx

    @cached_property
    def says_time(self) -> bool:
        """Whether anything that the class says between events depends on time explicitly."""
        said = ca.veccat(ca.SX(), *(law.residual for law in self.laws), *(
            crossing for crossing, _ in self.relations), *self.beside_laws())
        return TIME.__hash__() in symbols_in(said)

    def beside_laws(self) -> list[ca.SX]:
        """What the class says between events beside its equations and conditions."""
        return [*self.defaults.values(), *self.observed.values(),
                *(sx for law in self.set_valued for sx in law.given),
                *(sx for load_law in self.load_laws for sx in load_law.given)]

    def key_of(self, symbol: ca.SX) -> Key | None:
        """(variable, derivative order) of a symbol, None where it is none of them."""
        return self._key_by_hash.get(symbol.__hash__())

    def keys_in(self, sx: ca.SX) -> list[Key]:
        """Keys of what stands in an expression, in the order in which they were made."""
        inside = {self.key_of(s) for s in ca.symvar(sx)}
        return [key for key in self.symbols if key in inside]

    def moving(self, symbol: ca.SX) -> Key | None:
        """(variable, derivative order) of what may change between events, None of all else."""
        key = self.key_of(symbol)
        return None if key is None or self.variables[key[0]].kind == "discrete" else key

    def beside_equations(self) -> list[ca.SX]:
        """All expressions in what is stated beside equations, with the efforts stated for."""
        used = [crossing for crossing, _ in self.relations]
        used += [sx for c, pairs in self.resets for sx in (c, *(v for _, v in pairs))]
        used += [v for _, _, pairs in self.samplings for _, v in pairs]
        used += [value for _, value, *_ in self.delays]
        used += [value for _, value in self.previous]
        for law in self.set_valued:
            used += [self.symbols[law.effort, 0], *law.given]
        for load_law in self.load_laws:
            used += [self.symbols[load_law.effort, 0], self.symbols[load_law.load, 0],
                     *load_law.given]  # fmt: skip
        return used

    def highest_orders(self) -> dict[int, int]:
        """The highest derivative of each variable that anything in the class uses."""
        beside = ca.veccat(ca.SX(), *self.observed.values(), *self.beside_equations())
        highest: dict[int, int] = {position: 1 for position, _ in self.rates}
        for i, order in chain(self.keys_in(beside), *(law.arguments for law in self.laws)):
            highest[i] = max(highest.get(i, 0), order)
        return highest

    def total_derivative(self, sx: ca.SX) -> ca.SX:
        """d sx / d time by the chain rule; relations and parameters are constant."""
        pairs = []
        for s in ca.symvar(sx):
            if s.__hash__() == TIME.__hash__():
                pairs.append((s, ca.SX(1)))
            elif key := self.moving(s):
                pairs.append((s, self.derivative_symbol(key[0], key[1] + 1)))
        if not pairs:
            return ca.SX(0)
        return derivatives_written(ca.jtimes(sx, *(ca.vertcat(*of) for of in zip(
            *pairs, strict=True))))

    def refuse_delayed(self, sx: ca.SX, where: str) -> None:
        """Raise where the derivative of something delayed would be needed."""
        if symbols_in(sx) & {self.symbols[i, 0].__hash__() for i, *_ in self.delays}:
            raise EquationError(
                where, "needs the derivative of a delayed signal, which is not known.",
                "Delay the derivative instead, delayed(der(x), T), or let a body follow the "
                "delayed motion through a spring and a damper.", code="equation.delayed")

    @cached_property
    def demanded(self) -> ca.Function:
        """The sides of all demands, by parameters."""
        return ca.Function("demanded", self.parameter_symbols, [
            side for one in self.demands for side in (one.lower, one.upper)])

    def function(self, name: str, symbols: list[ca.SX], value: ca.SX) -> ca.Function:
        """A CasADi function of symbols, time, relations and parameters, in this order."""
        return ca.Function(name, [*symbols, TIME, *self.relation_symbols, *self.parameter_symbols],
                           [value])

    @cached_property
    def exponents(self) -> list[ca.SX]:
        """Exponents in laws, and in what follows from them, that depend on variables."""
        *_, found = lifted([law.residual for law in self.laws] + [
            one for law in self.set_valued for one in law.given])
        return [e for e in found if any(map(self.moving, ca.symvar(e)))]

    def default_law(self, i: int) -> Law:
        """``input == default`` where nothing is connected, a domain's own parameter value, or the
        law of an observed variable that others read."""
        laws = self._default_laws
        if i not in laws:
            given: dict[int, Any] = {**self.domain_values, **self.defaults, **self.observed}
            default = self.unfolded(ca.SX(given[i]))
            residual = self.symbols[i, 0] - default
            name = self.variables[i].name
            laws[i] = Law(self, residual,
                          lambda *longest: f"{name} == {readable(default, *longest)}")
        return laws[i]

    @property
    def followed(self) -> set[int]:
        """Discrete variables that are no memory: what is delayed, and rows of tables of time."""
        return {i for i, *_ in self.delays} | {i for table in self.tables for i in table.row}

    @property
    def discrete(self) -> list[int]:
        return [i for i, v in enumerate(self.variables) if v.kind == "discrete"]

    def __repr__(self) -> str:
        return f"<kernel {self.name}: {len(self.variables)} variables, {len(self.laws)} equations>"
