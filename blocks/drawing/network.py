"""Which parts and nets does the schematic of a model have?

Turns components into the plain parts that ``blocks.results.schematic`` draws: composites closed
or opened, arrays instance by instance where they are short, references as signs of their nets.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator
from typing import Any

import numpy as np

from ..assembly.network import Network
from ..exceptions import ParameterError, unknown_name
from ..language.component import Component
from ..language.declarations import Output, Parameter, Port, Signal, declarations
from ..results.formatting import number
from ..results.parameters import said
from ..results.schematic.parts import Net, Part, Pin
from ..shapes import Symbol, line

__all__ = ["drawn_network"]

MOST = 60  # parts up to which arrays are drawn instance by instance
EXPANDED = 12  # instances of an array up to which each is drawn
PREFIXED = {"henry", "farad", "volt", "ampere", "second", "meter", "newton", "watt", "pascal",
            "hertz", "ohm", "joule", "tesla", "weber"}  # fmt: skip
GROUND = Symbol(line((-1.1, 0), (1.1, 0)), line((-0.7, -0.4), (0.7, -0.4)),
                line((-0.3, -0.8), (0.3, -0.8)), half=(1.1, 0.9))  # fmt: skip


def drawn_network(network: Network, root: Any, opened: Any = ()
                  ) -> tuple[list[Part], dict[int, Net]]:
    """Parts and nets of a model, whose ``root`` is as it was when the network was made; ``opened``
    are paths of composites whose parts are shown."""
    composites = {path for path, part in root._parts().items() if part.is_composite}
    if isinstance(opened, bool):
        opened = composites if opened else ()
    wanted = {opened} if isinstance(opened, str) else set(opened)
    for path in sorted(wanted - composites):
        if path in network.place:
            raise ParameterError(f"draw(open={path!r})", "has no parts to show.",
                                 "Name a composite, or open=True for all.")  # fmt: skip
        raise unknown_name("draw(open=…)", path, sorted(composites), "composites")
    leaves = sum(family.size for family in network.families)
    reading = _Reading(network, wanted, EXPANDED if leaves <= MOST else 1)
    parts = list(reading.parts(root))
    return [p.on(reading.merged) for p in parts], reading.nets()


class _Reading:
    """A walk through a model's tree."""

    def __init__(self, network: Network, opened: Collection[str], expanded: int) -> None:
        self.network, self.opened, self.expanded = network, opened, expanded
        self.domains: dict[int, tuple[str, str]] = {}
        self.members: dict[int, list[str]] = {}
        self.grounds: dict[int, list[Component]] = {}
        self.merged: dict[int, int] = {}  # nets of an array that is drawn as one part

    def parts(self, owner: Component) -> Iterator[Part]:
        for child in owner._children.values():
            if not child.is_composite and getattr(type(child), "grounds", False) and not any(
                    isinstance(d, (Parameter, Signal)) and d.exists(child)
                    for d in declarations(child).values()) and self._grounded(child):
                continue  # nothing but a reference, without values of its own
            if child._count is None or child.size > self.expanded or child.is_composite:
                yield self._part(child, None)
            else:
                for i in range(child.size):
                    yield self._part(child, i)

    def _grounded(self, child: Component) -> bool:
        """Note a reference; whether its nets join anything that carries its sign."""
        pins = [self._pin(child, d, None) for d in _ports(child)]
        for pin in pins:
            self.grounds.setdefault(pin.net, []).append(child)
        return all(np.count_nonzero(self.network.node_of == p.net) > 1 for p in pins)

    def _part(self, child: Component, instance: int | None) -> Part:
        path = child.path if instance is None else f"{child.path}[{instance}]"
        pins = tuple(self._pin(child, d, instance) for d in _ports(child))
        opened = child.is_composite and child.path in self.opened
        inside = tuple(self.parts(child)) if opened else ()
        symbol = getattr(type(child), "symbol", None)
        if inside or not (isinstance(symbol, Symbol) and symbol.strokes):
            symbol = None
        values = list(_values(child, instance))
        told = "\n".join([f"{path}: {type(child).__name__}", *(f"{n} = {v}" for n, v, _ in values)])
        given = tuple(f"{n} {v}" if v.replace(".", "").replace("-", "").isdigit() else v
                      for n, v, is_given in values if is_given)  # fmt: skip
        return Part(path, type(child).__name__, pins, symbol, child.size if instance is None else 1,
                    given, told, inside)

    def _pin(self, child: Component, declared: Port | Signal, instance: int | None) -> Pin:
        numbers = self.network.numbers(child.path, declared.name)
        nodes = [int(n) for n in self.network.node_of[numbers]]
        nodes = nodes if instance is None else nodes[instance : instance + 1]
        for node in nodes:
            if isinstance(declared, Port):
                self.domains[node] = declared.domain.name, declared.domain.colour
            else:
                self.domains.setdefault(node, ("signal", ""))
            self.members.setdefault(node, []).append(f"{child.path}.{declared.name}")
        if len(set(nodes)) > 1:
            old = {self.merged.get(n, n) for n in nodes}
            self.merged.update({n: min(old) for n in {*self.domains, *nodes}
                                if self.merged.get(n, n) in old})  # fmt: skip
        signal = "out" if isinstance(declared, Output) else "in"
        return Pin(declared.name, nodes[0], "" if isinstance(declared, Port) else signal)

    def nets(self) -> dict[int, Net]:
        found: dict[int, Net] = {}
        for node, (domain, colour) in self.domains.items():
            kept = self.merged.get(node, node)
            grounds = self.grounds.get(node, [])
            before = found.get(kept, Net(domain, colour))
            sign = next((getattr(type(g), "symbol", GROUND) for g in grounds), before.ground)
            found[kept] = Net(domain, colour,
                              (*before.ports, *dict.fromkeys(self.members.get(node, []))), sign,
                              (*before.grounds, *(g.path for g in grounds)))  # fmt: skip
        return found


def _ports(component: Component) -> list[Any]:
    return [d for d in declarations(component).values()
            if isinstance(d, (Port, Signal)) and d.exists(component)]  # fmt: skip


def _values(component: Component, instance: int | None) -> Iterator[tuple[str, str, bool]]:
    """Name, value as text, and whether it was given, of every parameter that is a number."""
    for name, declared in declarations(component).items():
        if not isinstance(declared, Parameter) or not declared.exists(component):
            continue
        value = getattr(component, name)
        magnitude = getattr(value, "magnitude", None)
        if magnitude is None:
            continue
        given = name in component._values
        if np.ndim(magnitude) == 1 and instance is not None and len(magnitude) == component.size:
            value = value[instance]
        elif np.ndim(magnitude):
            yield name, f"{np.size(magnitude):,} values", False
            continue
        yield name, _written(value, declared), given


def _written(value: Any, declared: Parameter) -> str:
    """A value as engineers write it: with a prefix, or in the unit of its declaration."""
    units = list(value.unit_items())
    if len(units) == 1 and units[0][1] == 1 and units[0][0] in PREFIXED:
        value = (value * (1 + 1e-12)).to_compact()  # 1e-3 is a milli, not a thousand micros
    elif not declared.open:
        return number(value.magnitude, declared.unit, 6)
    return said(value)
