"""Which elements of a network have a mode, and under which path is it read?

Elements are those of the set-valued laws, and those that a law of the load holds at rest, in the
order in which :class:`blocks.nonsmooth.modes.laws.SetValuedLaws` and
:class:`blocks.nonsmooth.modes.load_laws.LoadLaws` number them.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

import numpy as np

from ..assembly.network import Network
from ..numerics.arrays import Flags, Indices
from ..results.recording import VariableInfo
from ..results.values.modes import SLIDES, TOUCHES
from ..units import unit

__all__ = ["ElementModes", "rests"]

MODE = "mode"


@dataclass(frozen=True)
class Group:
    """The elements of one law in all instances of a family.

    ``name`` is ``"mode"`` where the law is the only one of its component and nothing else is
    called so, and ``long``, which no component can declare, otherwise.
    """

    family: int
    name: str
    long: str
    effort: str
    words: Mapping[int, str]
    first: int

    @property
    def doc(self) -> str:
        return (f"whether {self.effort} is open or closed" if self.words is TOUCHES
                else f"whether {self.effort} sticks or slides, and which way")


class ElementModes:
    """All elements of a network that have a mode."""

    def __init__(self, network: Network) -> None:
        self.network = network
        self.groups: list[Group] = []
        self.by_family: dict[int, list[Group]] = {}
        self.count = 0
        sets = [(f, family, law.effort, SLIDES if law.kind == "friction" else TOUCHES)
                for f, family, law in network.set_valued]
        rests = [(f, family, e, SLIDES) for f, family in enumerate(network.families)
                 for e, *_, band, _ in family.kernel.load_laws if band is not None]
        several = [f for f, *_ in sets + rests]
        for f, family, effort, words in sets + rests:
            name = family.kernel.variables[effort].name
            long = f"{name}.{MODE}"
            alone = several.count(f) == 1 and MODE not in family.kernel.index and (
                MODE not in family.members[0]._declared)
            group = Group(f, MODE if alone else long, long, name, words, self.count)
            self.groups.append(group)
            self.by_family.setdefault(f, []).append(group)
            self.count += family.size

    def find(self, f: int, name: str) -> Group | None:
        """The group that a family's components call so."""
        return next((g for g in self.by_family.get(f, ()) if name in (g.name, g.long)), None)

    def path(self, group: Group, instance: int) -> str:
        return f"{self.network.families[group.family].path(instance)}.{group.name}"

    def path_of(self, element: int) -> str:
        """The path of the mode of an element, by its number."""
        group = next(g for g in reversed(self.groups) if g.first <= element)
        return self.path(group, element - group.first)

    def paths_of(self, f: int, instance: int) -> Iterator[str]:
        """Paths of the modes of one instance."""
        return (self.path(group, instance) for group in self.by_family.get(f, ()))

    def info(self, group: Group, instance: int, before: int) -> VariableInfo:
        """The mode as a recorded variable; ``before`` is the number of all others."""
        owner = self.network.families[group.family].path(instance)
        return VariableInfo(f"{owner}.{group.name}", owner, group.name, unit(""), MODE, group.doc,
                            before + group.first + instance, group.words)  # fmt: skip

    def told(self, element: int, before: int, after: int) -> dict[str, str]:
        """What an event says of a change of mode."""
        group = next(g for g in reversed(self.groups) if g.first <= element)
        return {"element": self.path_of(element),
                "mode": group.words.get(after, ""), "previous": group.words.get(before, "")}


def rests(groups: list[Group], modes: Indices, instance: int) -> Flags:
    """Whether a component is at rest, episode by episode.

    All its frictions stick, or, where it has none, one of its contacts touches.
    """
    slides = [g for g in groups if g.words is SLIDES]
    at = [modes[:, g.first + instance] == 0 for g in slides or groups]
    return np.all(at, axis=0) if slides else np.any(at, axis=0)
