"""Under which path is every variable of a run found?"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np

from ..language.component import Component
from ..results.recording import VariableInfo
from ..system.system import System
from .element_modes import ElementModes

__all__ = ["Catalog"]


class Catalog(Mapping[str, VariableInfo]):
    """All recorded variables by dotted path, looked up by walking the model's tree."""

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
        node: Any = self.network.root
        parts = path.split(".")
        number = ""  # may stand at any level of an array of composites
        for k, part in enumerate(parts):
            name, _, given = part.partition("[")
            if name not in node._children or (given and number):
                raise KeyError(path)
            number = given or number
            node = node._children[name]
            if given and (node._count is None or not (given[-1:] == "]" and given[:-1].isdecimal()
                                                       and len(given) < 10)):
                raise KeyError(path)
            if not node.is_composite:
                return self._info(path, node, number, ".".join(parts[k + 1 :]))
        raise KeyError(path)

    def _info(self, path: str, component: Component, number: str, name: str) -> VariableInfo:
        where = self.network.place.get(id(component))
        if where is None:
            raise KeyError(path)
        f, start = where
        kernel = self.network.families[f].kernel
        group = None if name in kernel.index else self.elements.find(f, name)
        if (name not in kernel.index and group is None) or (
                bool(number) != (component._count is not None)):
            raise KeyError(path)
        offset = int(number.rstrip("]")) if number else 0
        if not 0 <= offset < component.size:
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
