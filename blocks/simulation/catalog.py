"""Under which path is every variable of a run found?"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

import numpy as np

from ..results.recording import VariableInfo
from ..system.system import System
from .element_modes import ElementModes

__all__ = ["Catalog"]


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
        """That of a system, made once."""
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
            getattr(local.declared, "doc", ""), self.first[f] + i * family.size + instance,
        )  # fmt: skip

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
