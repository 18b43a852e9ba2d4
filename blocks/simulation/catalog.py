"""Under which path is every variable of a run found?"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

import numpy as np

from ..assembly.network import Network
from ..numerics.arrays import Flags, Indices
from ..results.recording import VariableInfo
from ..results.values.modes import SLIDES, TOUCHES
from ..system.system import System
from ..units import unit

__all__ = ["Catalog", "ElementModes", "rests"]

MODE = "mode"


class Catalog(Mapping[str, VariableInfo]):
    """All recorded variables by dotted path, as they were called when it was compiled."""

    def __init__(self, system: System) -> None:
        self.network = system.network
        self.first: list[int] = []
        count = 0
        for family in self.network.families:
            self.first.append(count)
            count += len(family.kernel.variables) * family.size
        self.count = count
        self.elements = ElementModes(self.network)  # their modes come after all else

    @classmethod
    def of(cls, system: System) -> Catalog:
        """Return the catalog of a system, made once."""
        return system.once("catalog", lambda: cls(system))

    def __getitem__(self, path: str) -> VariableInfo:
        network, parts = self.network, path.split(".")
        owner = number = ""  # which may stand at any level of an array of composites
        for k, part in enumerate(parts):
            name, _, given = part.partition("[")
            owner = f"{owner}.{name}" if k else name
            if given and (number or owner not in network.arrays or not (
                    given[-1:] == "]" and given[:-1].isdecimal() and len(given) < 10)):
                raise KeyError(path)
            number = given or number
            if owner in network.place:
                return self._info(path, owner, number, ".".join(parts[k + 1 :]))
        raise KeyError(path)

    def _info(self, path: str, owner: str, number: str, name: str) -> VariableInfo:
        f, start = self.network.place[owner]
        kernel = self.network.families[f].kernel
        group = None if name in kernel.index else self.elements.find(f, name)
        if (name not in kernel.index and group is None) or (
                bool(number) != (owner in self.network.arrays)):
            raise KeyError(path)
        offset = int(number.rstrip("]")) if number else 0
        if not 0 <= offset < self.network.arrays.get(owner, 1):
            raise KeyError(path)
        if group is not None:
            return self.elements.info(group, start + offset, self.count)
        return self.info(f, kernel.index[name], start + offset)

    def info(self, f: int, i: int, instance: int) -> VariableInfo:
        family = self.network.families[f]
        local = family.kernel.variables[i]
        owner = family.path(instance)
        return VariableInfo(
            f"{owner}.{local.name}", owner, local.name, local.unit, local.kind,
            getattr(local.declared, "doc", ""), self.first[f] + i * family.size + instance)

    def locate(self, index: int) -> tuple[int, int, int]:
        """(family, local variable, instance) of a handle."""
        f = int(np.searchsorted(self.first, index, side="right")) - 1
        i, instance = divmod(index - self.first[f], self.network.families[f].size)
        return f, i, instance

    def __iter__(self) -> Iterator[str]:
        for f, family in enumerate(self.network.families):
            for instance in range(family.size):
                owner = family.path(instance)
                for local in family.kernel.variables:
                    yield f"{owner}.{local.name}"
                yield from self.elements.paths_of(f, instance)

    def __len__(self) -> int:
        return self.count + self.elements.count


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
    """All elements of a network that have a mode.

    Those of the set-valued laws, and those that a law of the load holds at rest, in the order in
    which :class:`blocks.nonsmooth.modes.laws.SetValuedLaws` and
    :class:`blocks.nonsmooth.modes.load_laws.LoadLaws` number them.
    """

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
