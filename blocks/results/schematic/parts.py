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
    """A port or signal of a part.

    Attributes
    ----------
    name : str
    net : int
        Number of the net it is joined to.
    signal : {"", "in", "out"}
    """

    name: str
    net: int
    signal: str = ""


@dataclass(frozen=True)
class Net:
    """What joins pins: a node of a domain, or a signal.

    Attributes
    ----------
    domain, colour : str
    ports : tuple of str
        Paths of the ports it joins.
    ground : Symbol or None
        Sign of the reference that holds it; such a net is not wired, each end gets the sign.
    grounds : tuple of str
        Paths of these references.
    """

    domain: str
    colour: str
    ports: tuple[str, ...] = ()
    ground: Symbol | None = None
    grounds: tuple[str, ...] = ()


@dataclass(frozen=True)
class Part:
    """A component of a schematic, or a composite.

    Attributes
    ----------
    path, type : str
        Dotted path and class name.
    pins : tuple of Pin
    symbol : Symbol or None
        A box where the class declares none.
    count : int
        Instances of an array drawn as one.
    values : tuple of str
        Given parameters, as they are written beside the symbol on request.
    hint : str
        What is told when somebody points at it.
    inside : tuple of Part
        Parts of a composite that is opened.
    members : tuple of str
        Paths of the parts of a cluster.
    """

    path: str
    type: str
    pins: tuple[Pin, ...] = ()
    symbol: Symbol | None = None
    count: int = 1
    values: tuple[str, ...] = ()
    hint: str = ""
    inside: tuple[Part, ...] = ()
    members: tuple[str, ...] = ()

    @property
    def name(self) -> str:
        """The last part of the path."""
        return self.path.rpartition(".")[2] + (f" ×{self.count:,}" if self.count > 1 else "")

    def physical(self) -> list[Pin]:
        """Pins that are ports of a domain."""
        return [p for p in self.pins if not p.signal]

    def on(self, nets: dict[int, int]) -> Part:
        """The part with its nets renamed."""
        return replace(self, pins=tuple(replace(p, net=nets.get(p.net, p.net)) for p in self.pins),
                       inside=tuple(p.on(nets) for p in self.inside))  # fmt: skip


def all_parts(parts: tuple[Part, ...] | list[Part]) -> Iterator[Part]:
    """The parts, and those inside of opened ones."""
    for part in parts:
        yield part
        yield from all_parts(part.inside)
