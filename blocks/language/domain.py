"""Which across and through variables does a kind of port carry?

A domain is data: the engine knows no domain by name. Across variables of
joined ports are equal; through variables, counted positive into the component,
sum to zero at every node. Across variables may come in pairs of a position and
its velocity; parameters of a domain are the same throughout a circuit.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from types import SimpleNamespace
from typing import Any

import casadi as ca

from ..exceptions import NamingError, UnitError, brief, told_how_to_call, unknown_name
from ..units import SECOND, Unit, describe, to_si, unit, unit_at, unit_given
from .expression import Expression, as_expression, current_trace

__all__ = ["Domain"]


class _Rates:
    """Stands for the trace while a power is read: ``der()`` gives a symbol, and adds no unknown."""

    def __init__(self, pairs: list[tuple[ca.SX, ca.SX]]) -> None:
        self.pairs = pairs

    def derivative(self, sx: ca.SX) -> ca.SX:
        symbol = ca.SX.sym(f"der({sx})")
        self.pairs.append((symbol, sx))
        return symbol


@dataclass(frozen=True, eq=False, init=False)
class Domain:
    """A physical domain.

    Parameters
    ----------
    name : str
        As shown in messages: ``"translational"``.
    across, through : mapping of str to unit text
        Variables of a conserving port, e.g. ``{"v": "m/s"}`` and ``{"f": "N"}``.
    power : function of the port, optional
        Power into a component through one port, for the balance of energy:
        ``lambda port: port.Q`` where the through variable is a heat flow. Without one it is
        the n-th across times the n-th through variable, which must be a power then.
        ``lambda port: 0`` where a circuit carries no energy. Where an energy is the
        product, the power is ``lambda port: port.mmf * der(port.phi)``: the balance
        differentiates the course of the run, the equations get nothing to differentiate.
    rates : mapping of str to str
        Across variables that are the time derivative of another one at every node:
        ``{"x": "v"}`` says der(x) == v, once for all ports that meet there.
    parameters : mapping of str to value with unit
        Values that all ports of a circuit share, ``{"gravity": "9.81 m/s^2"}``: read
        like the port's variables. A component with a port declared ``sets=True``
        states them by equations; where a circuit has none, these values hold.
    typical : mapping of str to value with unit
        Values of across variables that are ordinary where zero is not, ``{"T": "293.15 K"}``:
        where nothing else says one, a node's is sought from there and scaled by it (a flow is
        scaled alone). They count from a zero of their own: a store needs no reference then.
    reference : str
        Name of the component class that grounds a circuit, for the advice in
        messages; empty where circuits need no reference.
    alone : str
        What a circuit without a reference does, for messages: ``"it moves freely as a whole"``.
    storage, resistance : str
        What gives the across variable of a node a memory, and what lets it follow from the
        flow: ``"a capacitor"`` and ``"a resistor"``, for the advice in messages.
    assumed : str
        What the values of ``parameters`` stand for, and which component states others: said
        by ``check()`` of a circuit that has no such component; empty to say nothing.
    colour : str
        Matplotlib colour in drawings.
    doc : str
        Sign convention in a sentence.

    Two that are called alike and have the same variables, rates and parameters are equal, also
    when they are of different files: their ports may be joined.

    Examples
    --------
    >>> hydraulic = Domain("hydraulic", across={"p": "Pa"}, through={"q": "m**3/s"})
    >>> hydraulic.across["p"].text
    'Pa'
    """

    name: str
    across: Mapping[str, Unit]
    through: Mapping[str, Unit]
    reference: str
    rates: Mapping[str, str]
    parameters: Mapping[str, str]
    alone: str
    storage: str
    resistance: str
    assumed: str
    colour: str
    doc: str
    power: Callable[[Any], object] | None
    variables: dict[str, Unit] = field(repr=False)
    parameter_values: dict[str, tuple[Unit, float]] = field(repr=False)  # in SI units
    typical: dict[str, float] = field(repr=False)  # in SI units

    @told_how_to_call
    def __init__(self, name: str, across: Mapping[str, str], through: Mapping[str, str],
                 reference: str = "", rates: Mapping[str, str] | None = None,
                 parameters: Mapping[str, str] | None = None, colour: str = "tab:gray",
                 doc: str = "", power: Callable[[Any], object] | None = None,
                 alone: str = "", storage: str = "", resistance: str = "", assumed: str = "",
                 typical: Mapping[str, str] | None = None) -> None:
        for word, named in (("across", across), ("through", through)):
            if not isinstance(named, Mapping):
                raise UnitError(f"Domain {name}.{word}", f"takes names and units, but was given "
                                f"{brief(named)}.", f'Write {word}={{"v": "m/s"}}, with the names '
                                "and units of your own.")
        for both in across.keys() & through.keys():
            raise NamingError(f"Domain {name}", f"{both!r} is across and through.",
                              "Give the two different names.", name=both, code="name.taken")
        rates, parameters, typical = rates or {}, parameters or {}, typical or {}
        units = [{k: unit_at(u, f"Domain {name}.{k}") for k, u in variables.items()}
                 for variables in (across, through)]  # fmt: skip
        variables = units[0] | units[1]
        for usual in typical.keys() - variables.keys():
            raise unknown_name(f"Domain {name}.typical", usual, variables, "variables")
        given = {k: unit_given(v, f"Domain {name}.{k}") for k, v in parameters.items()}
        for attribute, value in {
            "name": name, "across": units[0], "through": units[1], "reference": reference,
            "rates": rates, "parameters": parameters, "colour": colour, "doc": doc,
            "power": power, "alone": alone or "nothing outside acts on it",
            "storage": storage or "a storage", "resistance": resistance or "a resistance",
            "assumed": assumed, "variables": variables,
            "parameter_values": {k: (u, float(to_si(parameters[k], u))) for k, u in given.items()},
            "typical": {k: float(to_si(v, variables[k], f"Domain {name}.{k}"))
                        for k, v in typical.items()},
        }.items():  # fmt: skip
            object.__setattr__(self, attribute, value)
        known = self.across
        # each is the time derivative of another across variable
        for position, velocity in self.rates.items():
            for name in (position, velocity):
                if name not in known:
                    raise unknown_name(f"Domain {self.name}.rates", name, known, "variables")
            if known[position].dimension != known[velocity].dimension * SECOND.dimension:
                raise UnitError(f"Domain {self.name}.rates",
                                f"{velocity} in {known[velocity]} is not the "
                                f"time derivative of {position} in {known[position]}.",
                                "Name a velocity that belongs to the position.")
        self._refuse_no_power()

    def _meaning(self) -> tuple[object, ...]:
        """What ports must have in common to be joined."""
        return self.name, self.across, self.through, self.rates, self.parameter_values

    def __eq__(self, other: object) -> bool:
        return self is other or isinstance(other, Domain) and self._meaning() == other._meaning()

    def __hash__(self) -> int:
        return hash((self.name, *self.variables))

    def power_into(self, port: Any, rates: list[tuple[ca.SX, ca.SX]] | None = None) -> Expression:
        """Power into a component through a port with these variables.

        Appends to ``rates`` the symbol of each derivative in it, and what is differentiated.
        """
        if self.power is not None:
            token = current_trace.set(_Rates([] if rates is None else rates))
            try:
                return as_expression(self.power(port))
            finally:
                current_trace.reset(token)
        pairs = [getattr(port, a) * getattr(port, t)
                 for a, t in zip(self.across, self.through, strict=False)]
        return sum(pairs[1:], pairs[0])

    def _refuse_no_power(self) -> None:
        """Raise where what is counted as energy is none."""
        if self.power is None and not (self.across and self.through):
            return
        names = {**self.variables, **{k: u for k, (u, _) in self.parameter_values.items()}}
        port = SimpleNamespace(**{
            name: Expression.in_unit(ca.SX.sym(name), u) for name, u in names.items()})
        try:
            power = self.power_into(port)
            found = describe(power.dimension)
        except UnitError as error:
            power, found = None, str(error)
        if power is None or not (power.dimension == unit("W").dimension or power.sx.is_zero()):
            products = ", ".join(f"{t} * {a}" for a, t in
                                 zip(self.across, self.through, strict=False))
            raise UnitError(
                f"Domain {self.name}.power", f"{'is' if self.power else products + ' is'} "
                f"no power, but {found}.", "State the power into a component through a port, "
                "power=lambda port: … in watts, or lambda port: 0 where there is none.")

    def __str__(self) -> str:
        return self.name
