"""What is a schematic made of? Parts with pins, and the nets that join them.

The seam between a model and its drawing: plain data, without component classes.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

from ...shapes import Symbol

__all__ = ["Net", "Part", "Pin", "all_parts"]


@dataclass(frozen=True)
class Pin:
    """A port or signal of a part."""

    name: str
    net: int  # number of the one that it is joined to
    signal: str = ""  # "", "in", "out"


@dataclass(frozen=True)
class Net:
    """What joins pins: a node of a domain, or a signal."""

    domain: str
    colour: str
    ports: tuple[str, ...] = ()  # paths of those that it joins
    #: Sign of the reference that holds it; such a net is not wired, each end gets the sign.
    ground: Symbol | None = None
    grounds: tuple[str, ...] = ()  # paths of these references


@dataclass(frozen=True)
class Part:
    """A component of a schematic, or a composite."""

    path: str
    type: str  # name of its class
    pins: tuple[Pin, ...] = ()
    symbol: Symbol | None = None  # a box where the class declares none
    count: int = 1  # instances of an array drawn as one
    values: tuple[str, ...] = ()  # given parameters, written beside the symbol on request
    hint: str = ""  # what is told when somebody points at it
    inside: tuple[Part, ...] = ()  # of a composite that is opened
    members: tuple[str, ...] = ()  # paths of the parts of a cluster

    @property
    def name(self) -> str:
        """The last part of the path."""
        return self.path.rpartition(".")[2] + (f" ×{self.count:,}" if self.count > 1 else "")

    def physical(self) -> list[Pin]:
        """Pins that are ports of a domain."""
        return [p for p in self.pins if not p.signal]

    def sides(self) -> tuple[list[Pin], list[Pin]]:
        """Its ports on the left and on the right of a box, as its symbol says, or half of them."""
        physical, symbol = self.physical(), self.symbol
        half = (len(physical) + 1) // 2
        if symbol is None or not (symbol.left or symbol.right):
            return physical[:half], physical[half:]
        left, right = ([p for name in names for p in physical if p.name == name]
                       for names in (symbol.left, symbol.right))
        return left, right

    def on(self, nets: dict[int, int]) -> Part:
        """The part with its nets renamed."""
        return replace(self, pins=tuple(replace(p, net=nets.get(p.net, p.net)) for p in self.pins),
                       inside=tuple(p.on(nets) for p in self.inside))  # fmt: skip


def all_parts(parts: tuple[Part, ...] | list[Part]) -> Iterator[Part]:
    """The parts, and those inside of opened ones."""
    for part in parts:
        yield part
        yield from all_parts(part.inside)
