"""What is a default of a parameter, or an initial target, that follows from other parameters?

Its function is called with expressions: when equations are read, so that whatever changes the
other parameters changes it there, and once for all components of a structure, for the number.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, NoReturn

import casadi as ca
import numpy as np

from ..exceptions import BlocksError, EquationError, ParameterError
from ..units import describe
from .declarations import Declaration, Option, Parameter, Variable
from .expression import Expression, as_expression, current_trace, refuse_turns

if TYPE_CHECKING:
    from .tree import TreeNode

__all__ = ["default_of", "refuse_circle", "specialise_default", "symbol_of"]


def symbol_of(name: str, shape: tuple[int, ...]) -> tuple[ca.SX, ca.SX]:
    """A parameter as a column of symbols, and as equations see it.

    A matrix stands in the column row by row; what has three dimensions stays a column.
    """
    column = ca.SX.sym(name, int(np.prod(shape)))
    return column, ca.reshape(column, *reversed(shape)).T if len(shape) == 2 else column


def default_of(declared: Parameter | Variable, reader: TreeNode, where: str) -> Any:
    """What the default's function gives: an expression, or a value where it reads options only."""
    assert declared.default_of is not None
    try:
        given = declared.default_of(reader)
    except BlocksError:
        raise
    except Exception as error:
        raise EquationError(
            where, f"the function of its {_word(declared)} raised {type(error).__name__}: {error}",
            "It is called with expressions, as equations() is: take the functions of blocks or "
            "numpy, and where() instead of 'if'.") from error  # fmt: skip
    several = isinstance(given, (list, tuple))
    if not any(isinstance(one, Expression) for one in (given if several else [given])):
        return given
    listed = [as_expression(one) for one in (given if several else [given])]
    wanted = Expression.in_unit(ca.SX.sym(declared.name), declared.unit)
    for one in listed:
        refuse_turns(one, wanted)
        if one.dimension != declared.unit.dimension:
            raise ParameterError(
                where, f"its {_word(declared)} is a value in {describe(one.dimension)}, but "
                f"{declared.unit} is declared.", "Change the function, or the unit.",
                code="unit.dimension")
    return Expression.in_unit(ca.vertcat(*(one.sx for one in listed)), declared.unit)


def specialise_default(component: TreeNode, known: dict[str, Declaration], name: str) -> None:
    """Put among declarations a default, or an initial target, that is given by a function."""
    declared = known[name]
    if not isinstance(declared, (Parameter, Variable)) or declared.default_of is None or (
            declared.follows is not None):
        return
    where = f"{type(component).__name__}.{name}"
    known[name] = declared.following((), declared.default_of)  # for those that read each other
    symbols = _Symbols(component, known, where, _word(declared))
    reader = component._reader(**{**vars(component), "_declared": known, "_trace": symbols})
    token = current_trace.set(symbols)
    try:
        given = default_of(declared, reader, where)
    finally:
        current_trace.reset(token)
    if isinstance(given, Expression):
        symbols.refuse_others(given.sx)
        if isinstance(declared, Parameter) and declared.structure is not None:
            raise ParameterError(where, "decides on equations, so its default cannot follow "
                                 "from the values of others.", "Let it depend on options only.",
                                 code="parameter.structure")
        rows, columns = given.sx.shape
        shape = (rows, columns) if columns > 1 else (rows,) if rows > 1 else ()
        known[name] = declared.following(shape, _Present(declared, symbols.columns, given, shape))
    else:
        known[name] = declared.with_default(given)


def refuse_circle(component: TreeNode, name: str) -> NoReturn:
    """Raise where a default follows from itself."""
    raise ParameterError(f"{component.path}.{name}", "follows from itself, by the functions of "
                         "defaults.", "Give it a value, or one of those that it follows from.")


def _word(declared: Parameter | Variable) -> str:
    return "default" if isinstance(declared, Parameter) else "initial target"


class _Symbols:
    """Stands for names of a component while the function of a default is called once."""

    def __init__(self, component: TreeNode, known: dict[str, Declaration], where: str,
                 word: str) -> None:
        self.component, self.known, self.place, self.word = component, known, where, word
        self.symbols: dict[str, Expression] = {}
        self.columns: dict[str, ca.SX] = {}
        self.floors = self

    def where(self) -> str:
        return self.place

    def symbol(self, declared: Declaration) -> Any:
        specialise_default(self.component, self.known, declared.name)
        declared = self.known[declared.name]
        if isinstance(declared, Option):
            return declared.read(self.component)
        if not isinstance(declared, Parameter):
            raise EquationError(self.place, f"its {self.word} reads {declared.name}, which is "
                                "no parameter or option.", "It is known before the run.")
        shape = np.shape(declared.default)
        if shape:
            shape = np.shape(self.component._values.get(declared.name, declared.default))
        if declared.name not in self.symbols:
            self.columns[declared.name], seen = symbol_of(declared.name, shape)
            self.symbols[declared.name] = Expression.in_unit(seen, declared.unit)
        return self.symbols[declared.name]

    def refuse_others(self, value: ca.SX) -> None:
        """Raise where a default depends on more than parameters, such as time."""
        known = {s.__hash__() for column in self.columns.values() for s in ca.symvar(column)}
        for symbol in ca.symvar(value):
            if symbol.__hash__() not in known:
                raise EquationError(self.place, f"its {self.word} depends on {symbol.name()}.",
                                    "It is known before the run: it may depend on "
                                    "parameters and options.")

    @staticmethod
    def relation(crossing: ca.SX, at_zero: bool) -> ca.SX:
        return crossing >= 0 if at_zero else crossing > 0

    @staticmethod
    def of(value: ca.SX) -> ca.SX:
        """The floor of a value."""
        return ca.floor(value)

    def demand(self, demand: object) -> None:
        """Values are looked at where equations use the default."""

    def derivative(self, value: ca.SX) -> ca.SX:
        raise EquationError(self.place, f"its {self.word} differentiates, but parameters are "
                            "constant.",
                            "State what changes as an equation.", code="equation.constant")


class _Present:
    """The present default of a parameter, from those of the others."""

    def __init__(self, declared: Parameter | Variable, columns: Mapping[str, ca.SX],
                 value: Expression, shape: tuple[int, ...]) -> None:
        self._declared, self._names, self._shape = declared, tuple(columns), shape
        self._function = ca.Function("default", list(columns.values()), [ca.vec(value.sx.T)])
        self._asked = False

    def __call__(self, component: TreeNode) -> Any:
        """The default in SI units; where one of the others is a function, what gives it."""
        if self._asked:
            refuse_circle(component, self._declared.name)
        self._asked = True
        try:
            values = [component._declared[name].value(component) for name in self._names]  # type: ignore[attr-defined]
        finally:
            self._asked = False
        if any(map(callable, values)):
            function = self._declared.default_of
            return function(component).plain if component._is_composing else function  # type: ignore[misc]
        wanted = [np.ndim(component._declared[name].default) for name in self._names]  # type: ignore[attr-defined]
        columns = [np.reshape(v, (component.size, -1)).T if np.ndim(v) > n else
                   np.reshape(v, (-1, 1)) for v, n in zip(values, wanted, strict=True)]
        instances = max(c.shape[1] for c in columns)
        found = np.array(self._function.map(instances).call(
            [np.repeat(c, instances // c.shape[1], axis=1) for c in columns])[0])
        if instances == 1:
            return found.reshape(self._shape) if self._shape else float(found[0, 0])
        return found.T.reshape(instances, *self._shape)
