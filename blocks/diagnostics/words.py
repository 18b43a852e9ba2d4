"""How are equations, unknowns and physical quantities named to a person?"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Sequence
from typing import TYPE_CHECKING, cast

import numpy as np

from ..assembly.flatten import Flat, Slot
from ..assembly.network import Family, Network
from ..results.formatting import listed, measured
from ..units import Unit

if TYPE_CHECKING:
    from ..language.component import Component

__all__ = [
    "Names", "article", "enumerated", "example_word", "listed", "outer_path", "plural", "ports_at",
    "quantity_word", "several", "shortened", "tidy"]

MOST_LINES = 6  # of an indented list


def quantity_word(name: str, u: Unit) -> str:
    """What a variable's unit measures: ``"velocity"``; else its name and unit."""
    return measured(name, u)[0] or f"variable {name} (in {u})"


def several(word: str) -> str:
    """``"velocities"``, ``"forces"``, ``"variables z (in m^2)"``."""
    if word.startswith("variable "):
        return word.replace("variable", "variables", 1)
    return f"{word[:-1]}ies" if word.endswith("y") else f"{word}s"


def example_word(name: str, u: Unit) -> str:
    """A familiar component that lets the quantity adjust itself, in brackets, or nothing."""
    example = measured(name, u)[1]
    return f" ({example})" if example else ""


def plural(count: int, word: str) -> str:
    """``"one equation"``, ``"3 equations"``."""
    return f"one {word}" if count == 1 else f"{count:,} {word}s" if count else f"no {word}s"


def article(word: str) -> str:
    """``"an Inertia"``, ``"a Mass"``."""
    return f"an {word}" if word[:1].lower() in "aeio" else f"a {word}"


def tidy(text: str) -> str:
    """An equation without the outer brackets of its sides."""
    return " == ".join(_bare(side.strip()) for side in text.split(" == "))


def _bare(side: str) -> str:
    if not (side.startswith("(") and side.endswith(")")):
        return side
    depth = 0
    for k, letter in enumerate(side):
        depth += (letter == "(") - (letter == ")")
        if depth == 0 and k < len(side) - 1:
            return side
    return side[1:-1]


def shortened(text: str, limit: int = 160) -> str:
    """A long equation, cut."""
    return text if len(text) <= limit else text[: limit - 1] + "…"


class Names:
    """Paths of the unknowns and equations of a flat system."""

    def __init__(self, flat: Flat) -> None:
        self.flat, self.owner = flat, flat.owner

    def _held(self, c: int) -> list[Slot]:
        """What the slots of a class hold; of many, some."""
        return [self.flat.at_slot(int(s)) for s in np.flatnonzero(self.flat.class_of == c)[:200]]

    def unknown(self, c: int) -> str:
        """The most telling path of a class: a component's variable before a port's."""
        every = self._held(c)
        if not every:
            parents = np.flatnonzero(self.flat.derivative == c)
            return f"der({self.unknown(int(parents[0]))})" if len(parents) else f"unknown {c}"
        rank = {"variable": 0, "output": 1, "input": 2}
        return min(every, key=lambda held: (held.order, rank.get(held.local.kind, 3))).name

    def owners(self, c: int) -> list[str]:
        """Components that have the unknown as one of their own variables."""
        every = self._held(c)
        own = [s for s in every if s.local.kind not in ("across", "through", "domain")] or every
        return [s.family.path(s.instance) for s in own]

    def ports_of(self, equation: int) -> list[str]:
        """Ports at the node whose balance an equation is."""
        group, row = self.flat.group_of(equation)
        node = int(group.nodes[row]) if len(group.nodes) else -1
        return ports_at(self.flat.network, node) if node >= 0 else []

    def equation(self, equation: int) -> str:
        """An equation with full paths; the balance of a node in words."""
        from ..system.description import equation_text

        ports = self.ports_of(equation)
        if not ports:
            text = tidy(equation_text(self.flat, equation))
            return shortened(text if "@" not in text else self._gist(equation, text))
        group, row = self.flat.group_of(equation)
        locals_ = [held.local for held in self._held(int(group.classes[group.starts[row]]))]
        word = next((quantity_word(v.name, v.unit) for v in locals_ if v.kind == "through"), "")
        balance = f"{word} balance" if word and not group.order else "balance"
        return f"the {balance} at the node of {listed(ports, 4)}"

    def _gist(self, equation: int, text: str) -> str:
        """A long equation by what is in it."""
        group, _ = self.flat.group_of(equation)
        left = text.split(" == ")[0]
        assert group.law is not None
        variables = group.law.kernel.variables
        inside = [f"{self.owner(equation)}.{variables[i].name}" for i, _ in group.law.arguments]
        inside = [name for name in inside if name != left]
        return f"{'0' if '@' in left else left} == an expression of {listed(inside)}"


def outer_path(family: Family, instance: int, port: str) -> str:
    """Path of a port as the user can reach it: the composite's, where that passes it on."""
    m = bisect_right(family.firsts, instance) - 1
    number = f"[{instance - family.firsts[m]}]" if family.members[m]._count is not None else ""
    component, name = outer_port(family.members[m], port)
    return f"{component.path}{number}.{name}"


def outer_port(component: Component, name: str) -> tuple[Component, str]:
    """The outermost component that passes a port on, and what it calls it."""
    while component._parent is not None:
        passed = [
            ref for refs in component._parent._connections
            if any(r.component is component and r.port.name == name for r in refs)
            for ref in refs if ref.component is component._parent
        ] if not component._parent._is_root else []  # fmt: skip
        if not passed:
            break
        component, name = cast("Component", passed[0].component), passed[0].port.name
    return component, name


def ports_at(network: Network, node: int) -> list[str]:
    """Paths of the conserving ports at a node."""
    paths = []
    for f, name, _ in network.leaf_ports():
        family = network.families[f]
        hits = np.flatnonzero(network.nodes_at(f, name) == node)
        paths += [f"{family.path(int(i))}.{name}" for i in hits]
    return paths


def enumerated(lines: Sequence[str]) -> str:
    """Lines of an indented list, cut with the number of the rest."""
    shown = [f"\n    {line}" for line in lines[:MOST_LINES]]
    if len(lines) > MOST_LINES:
        shown.append(f"\n    … and {len(lines) - MOST_LINES:,} more")
    return "".join(shown)
