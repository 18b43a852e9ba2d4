"""Which variables and parameters do the paths of a user name, and as which expressions?

An output is a variable, or a derivative ``"der(block.v)"``. An input is a number that a parameter
holds, ``"push.force"``, or a variable that is just that: an unconnected input ``"push.S"``, the
output of a constant. Knows no derivatives by these, and no points.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import chain, combinations, islice

import casadi as ca
import numpy as np

from ...exceptions import ParameterError, UnknownName, brief, unknown_name
from ...language.expression import TIME
from ...language.kernel import Kernel, LocalParameter
from ...reading.paths import steps_of
from ...results.lookup import find_all
from ...simulation.catalog import Catalog
from ...simulation.wanted import VariableFunctions
from ...system.system import System
from ...units import Unit, as_unit, from_si, unit

__all__ = ["InputSignal", "OutputSignal", "Signals", "ratio_unit", "signals_of"]

_DERIVATIVE = re.compile(r"der\((?P<inner>.+)\)")


@dataclass(frozen=True, eq=False)
class OutputSignal:
    """A variable that is looked at: its path, the unit it is shown in, its expression in SI."""

    path: str
    unit: Unit
    expression: ca.SX


@dataclass(frozen=True, eq=False)
class InputSignal:
    """A number that is given to the model: an entry of the parameter vector.

    ``sign`` is -1 where the named variable is the negative of that entry.
    """

    path: str
    unit: Unit
    place: int
    sign: float = 1.0


class Signals:
    """Finds variables and inputs of a compiled system by their paths."""

    def __init__(self, system: System) -> None:
        self.system = system
        self.catalog = Catalog.of(system)
        self.functions = VariableFunctions.of(system, self.catalog)

    # -- outputs ---------------------------------------------------------------------------
    def outputs(self, paths: Iterable[str], where: str) -> list[OutputSignal]:
        """Variables by path; an array gives all its instances."""
        found = [one for path in paths for one in self.output(path, where)]
        for name, count in Counter(one.path for one in found).items():
            if count > 1:
                raise _named_twice(name, where)
        return found

    def output(self, path: str, where: str) -> list[OutputSignal]:
        """One variable or derivative by path, or all instances of an array."""
        if not isinstance(path, str):
            raise ParameterError(where, f"takes paths of variables, but was given {brief(path)}.",
                                 'Write for example "block.v" or ["block.v", "spring.f"].')
        derivative = _DERIVATIVE.fullmatch(path.strip())
        if derivative is not None:
            return [self._derived(one, where) for one in self.output(derivative["inner"], where)]
        try:
            infos = find_all(self.catalog, path, where)
        except UnknownName as error:
            self._refuse_parameter(path, where)
            raise UnknownName(where, f"there is no variable {brief(path, 200)} in the model.",
                              error.advice, **error.data) from None  # fmt: skip
        for info in infos:
            if info.kind == "mode":
                raise ParameterError(where, f"{info.path} is a mode, which has no derivative.",
                                     "Modes are told by the linear model itself: linear.modes_held."
                                     )  # fmt: skip
        return [OutputSignal(i.path, i.unit, self.functions.expression((i.index,))) for i in infos]

    def _refuse_parameter(self, path: str, where: str) -> None:
        """A parameter is given, not answered."""
        owner, _, name = path.rpartition(".")
        found = self._instance(owner)
        if found is not None and _named(self.system.network.families[found[0]].kernel, name):
            own = sorted((p for p in self.catalog if p.startswith(f"{owner}.")),
                         key=lambda p: p.count("."))
            raise UnknownName(where, f"{path} is a parameter: it is given, and answers nothing.",
                              f"Name a variable, such as {', '.join(own[:3]) or 'block.v'}.")

    def _derived(self, signal: OutputSignal, where: str) -> OutputSignal:
        tape, sx = self.system.tape, signal.expression
        if ca.depends_on(sx, ca.vertcat(tape.z, tape.u)):
            raise ParameterError(
                where, f"der({signal.path}) is not known: {signal.path} follows from an algebraic "
                "loop, or from friction.",
                "Ask for the derivative of a state, such as der(block.v).")
        rate = ca.jtimes(sx, tape.x, tape.slope) + ca.jacobian(sx, TIME)
        return OutputSignal(f"der({signal.path})", ratio_unit(signal.unit, unit("s")), rate)

    # -- inputs ----------------------------------------------------------------------------
    def inputs(self, paths: Iterable[str], where: str) -> list[InputSignal]:
        """Inputs by path."""
        found = [self.input(path, where) for path in paths]
        for other, one in combinations(found, 2):
            if one.path == other.path:
                raise _named_twice(one.path, where)
            if one.place == other.place:
                raise ParameterError(where, f"{other.path} and {one.path} are the same input.",
                                     "Name it once.")  # fmt: skip
        return found

    def input(self, path: str, where: str) -> InputSignal:
        """The input that a path names."""
        if not isinstance(path, str):
            raise ParameterError(where, f"takes paths of inputs, but was given {brief(path)}.",
                                 'Write for example "push.force" or ["push.force"].')
        found = self._parameter(path, where) or self._variable(path, where)
        self._refuse_differentiated(found, where)
        return found

    def _parameter(self, path: str, where: str) -> InputSignal | None:
        """The parameter of a path; None where there is none."""
        owner, _, name = path.rpartition(".")
        found = self._instance(owner)
        if found is None:
            return None
        f, instance = found
        family = self.system.network.families[f]
        local = _named(family.kernel, name)
        if local is None:
            if callable(family.member(instance)._values.get(name)):
                raise _function_of_time(path, where)
            return None
        if local.size != 1:
            raise ParameterError(where, f"{path} is a list of values, and no single number.",
                                 "Name a parameter that is one number.")  # fmt: skip
        offset, _ = self.system.tape.parameter_layout[f, name]
        return InputSignal(path, local.unit, offset + instance)

    def _instance(self, path: str) -> tuple[int, int] | None:
        """Family and instance of the component of a path, of an array the first; or None."""
        network = self.system.network
        names, numbers = zip(*steps_of(path), strict=True)
        plain, given = ".".join(names), [n for n in numbers if n is not None]
        count, k = network.arrays.get(plain, 1), given[0] if given else 0
        if plain not in network.place or len(given) > 1 or k not in range(-count, count):
            return None
        f, first = network.place[plain]
        return f, first + k % count

    def _variable(self, path: str, where: str) -> InputSignal:
        """A variable that is nothing but a parameter."""
        known = chain(self.parameters(varying=True), self.parameters(varying=False))
        try:
            signals = self.output(path, where)
        except UnknownName:
            raise unknown_name(where, path, known, "inputs") from None
        if len(signals) != 1:
            raise ParameterError(where, f"{path} names {len(signals)} variables.",
                                 f'Name one of them, "{signals[0].path}".')  # fmt: skip
        signal = signals[0]
        symbols = ca.symvar(signal.expression)
        places = {s.__hash__(): k for k, s in enumerate(ca.symvar(self.system.tape.p))}
        if len(symbols) == 1 and symbols[0].__hash__() in places:
            for sign in (1.0, -1.0):
                if ca.is_equal(ca.simplify(signal.expression - sign * symbols[0]), ca.SX(0), 3):
                    return InputSignal(path, signal.unit, places[symbols[0].__hash__()], sign)
        if {s.__hash__() for s in symbols} == {TIME.__hash__()}:
            raise _function_of_time(path, where)
        raise ParameterError(
            where, f"{path} is no input: it follows from the equations.",
            "An input is a parameter, such as the force of a ForceSource or the value of a "
            f"Constant. This model has: {', '.join(islice(known, 6)) or 'none'}.",
            code="analysis.input")

    def parameters(self, varying: bool) -> Iterator[str]:
        """Yield the paths of parameters that may vary with time, as of sources, or of others."""
        for family in self.system.network.families:
            for parameter in family.kernel.parameters:
                if parameter.declared.varying == varying:
                    yield from (f"{family.path(k)}.{parameter.name}" for k in range(family.size))

    def _refuse_differentiated(self, signal: InputSignal, where: str) -> None:
        """An input whose derivative the equations need cannot be one: a number has none."""
        symbol = ca.symvar(self.system.tape.p)[signal.place]
        values = self.system.tape.values[np.flatnonzero(self.system.flat.derivative >= 0).tolist()]
        if not ca.depends_on(values, symbol):
            return
        for value in ca.vertsplit(values):
            if any(ca.is_equal(one, symbol) for one in (value, -value)):
                raise ParameterError(
                    where, f"{signal.path} is a motion whose derivative the model needs.",
                    "Take the derivative as input: a VelocitySource in place of a PositionSource; "
                    "or let the source act through a spring and a damper.", code="analysis.input")


def _named(kernel: Kernel, name: str) -> LocalParameter | None:
    """The parameter of a class that has a name."""
    return next((p for p in kernel.parameters if p.name == name), None)


def _named_twice(path: str, where: str) -> ParameterError:
    return ParameterError(where, f"{path} is named twice.", "Name it once.")


def _function_of_time(path: str, where: str) -> ParameterError:
    return ParameterError(where, f"{path} is given as a function of time.",
                          "Give it a number, about which the model is linearised.",
                          code="analysis.input")  # fmt: skip


def signals_of(system: System) -> Signals:
    """Return the signals of a system, made once."""
    return system.once("signals", lambda: Signals(system))


def ratio_unit(over: Unit, under: Unit) -> Unit:
    """The unit of a ratio: of a gain, a derivative."""
    if over == under:
        return unit("")
    whole = from_si(1.0, over.as_difference) / from_si(1.0, under.as_difference)
    return as_unit(whole.units)
