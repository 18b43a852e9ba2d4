"""What does a function that is given for a parameter depend on?

Of time, where the parameter is declared ``varying``, or of variables of the component, which the
function names as its arguments: ``coulomb_force=lambda temperature: …``.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any

import casadi as ca

from ..exceptions import EquationError, ParameterError
from ..units import is_quantity
from .declarations import Declaration, Parameter, Variable

if TYPE_CHECKING:
    from .kernel import Kernel, Law
    from .tree import TreeNode

__all__ = ["depends_on", "refuse_function", "refuse_moving_instants", "refuse_stored"]

OF_TIME = ("t", "time")  # also where a torque t is a variable
ANY = (inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD)


def depends_on(component: TreeNode, declared: Parameter, function: Callable[..., Any]
               ) -> tuple[str, ...]:
    """Names of the variables that a function given for a parameter takes; none if it takes time."""
    names = _arguments(function)
    known = component._declared
    if declared.varying and len(names) <= 1 and (
            not names or names[0] in OF_TIME or not isinstance(known.get(names[0]), Variable)):
        return ()
    return names


def refuse_function(component: TreeNode, name: str, value: Any = None) -> None:
    """Raise where a parameter was given a function of something that the component has not."""
    declared = component._declared.get(name)
    value = component._values.get(name) if value is None else value
    if not isinstance(declared, Parameter) or is_quantity(value) or not callable(value):
        return
    names = depends_on(component, declared, value)
    if not names and declared.varying:
        return
    here = {n: d for n, d in component._declared.items() if isinstance(d, Variable)}
    strange = next((n for n in names if n not in here), None)
    missing = next((n for n in names if n in here and not here[n].exists(component)), None)
    where = f"{component.path}.{name}"
    if names and strange is None and missing is not None:
        raise ParameterError(
            where, f"was given a function of {missing}, which this {type(component).__name__} "
            "does not have.", _condition(here[missing], missing, declared), given=value,
            code="parameter.function")
    if strange is None and names:
        return
    usable = [n for n, d in here.items() if d.exists(component)]
    of, advice = "a function", ("Functions of time belong to signal blocks and to sources whose "
                                "value may vary.")  # fmt: skip
    if strange not in (None, *OF_TIME) and usable:
        of = f"a function of {strange!r}"
        advice = ("It may depend on variables of the component, by their names: "
                  f"{', '.join(usable)}. {advice}")
    raise ParameterError(where, f"takes a constant, but was given {of}.", advice, given=value,
                         code="parameter.function")


def refuse_stored(component: TreeNode, kernel: Kernel, laws: list[Law]) -> None:
    """Raise where stored energy would change because a coefficient in it does.

    Other energies in its law are parts of it, and looked at as well.
    """
    stored = kernel.index.get("energy_stored")
    if not kernel.dependent or stored is None:
        return
    energies = {kernel.symbols[i, 0].__hash__() for i, local in enumerate(kernel.variables)
                if local.unit.text == "J"}
    seen, new = set[int](), {kernel.symbols[stored, 0].__hash__()}
    terms: set[int] = set()
    while new:
        inside = {part for law in laws
                  if new & {s.__hash__() for s in ca.symvar(law.residual)}
                  for part in _parts(law.residual)}
        seen |= new
        terms |= inside
        new = (inside & energies) - seen
    name = next((n for n, sx in kernel.dependent.items() if sx.__hash__() in terms), None)
    if name is not None:
        raise EquationError(
            f"{component.path}.{name}", "was given a function, but energy is stored by it: energy "
            "would come from nowhere when it changes.", "Give a constant. Where a force follows a "
            "curve, take a law that reads a table, or write a component of your own.",
            code="parameter.function")


def refuse_moving_instants(component: TreeNode, kernel: Kernel) -> None:
    """Raise where instants that are announced before the run follow from what changes in it."""
    announced = [("breakpoints()", sx) for pair in kernel.breaks for sx in pair]
    announced += [("every()", sx) for start, period, _ in kernel.samplings
                  for sx in (start, period)]
    for word, sx in announced:
        free = [] if sx is None else [
            s for s in ca.symvar(sx) if s.__hash__() not in kernel.parameter_hashes]
        if not free:
            continue
        assert sx is not None  # it has symbols
        parts = set(_parts(sx))
        for name, given in kernel.dependent.items():
            if given.__hash__() in parts:
                raise EquationError(
                    f"{component.path}.{name}", "was given a function, but the instants of "
                    f"{word} follow from it, which are known before the run.", "Give a constant; "
                    "what changes in the run is given by a signal.", code="parameter.function")
        raise EquationError(
            kernel.name, f"{word} depends on {free[0].name()}.", "Instants are known before the "
            "run: they may depend on parameters only. For others write where() or when().",
            code="equation.instants")


def _parts(sx: ca.SX) -> Iterator[int]:
    """The expressions that an expression is made of."""
    yield sx.__hash__()
    for k in range(sx.n_dep()):
        yield from _parts(sx.dep(k))


def _condition(variable: Declaration, name: str, declared: Parameter) -> str:
    """Which option gives a component a variable."""
    if isinstance(variable.when, str):
        return f"Make it with {variable.when}=True, which gives it {name}."
    return f"Choose the options that give it {name}, or a constant {declared.name}."


def _arguments(function: Callable[..., Any]) -> tuple[str, ...]:
    """Names of the arguments that a function cannot do without; none where they are unknown."""
    try:
        signature = inspect.signature(function)
    except (TypeError, ValueError):  # written in C
        return ()
    return tuple(n for n, p in signature.parameters.items()
                 if p.kind in ANY and p.default is p.empty)
