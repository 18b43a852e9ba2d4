"""What does the compiled system look like? Sizes and equations, for people.

Reads a flat and a reduced system and writes text; changes nothing.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass

import casadi as ca

from ..assembly.flatten import Flat, Group
from ..assembly.network import Network
from ..assembly.redundant_constraints import redundant_constraints
from ..language.kernel import Kernel
from ..language.readable import readable
from .system import ClassNames, System

__all__ = ["Equations", "Structure", "equation_text"]


@dataclass(frozen=True)
class Structure:
    """Sizes of a model before and after reduction."""

    components: int
    unknowns_before: int
    equations_before: int
    unknowns: int
    states: int
    blocks: int
    largest_loop: int
    torn: int
    index: int

    @classmethod
    def of(cls, system: System) -> Structure:
        flat, tape = system.flat, system.tape
        loops = [len(s.equations) for s in tape.steps if s.group < 0]
        singles = sum(len(s.equations) for s in tape.steps if s.group >= 0)
        variables = sum(f.size for f, table in zip(flat.network.families, flat.base, strict=True)
                        for _, order in table if order == 0)  # fmt: skip
        return cls(
            sum(f.size for f in flat.network.families), variables, flat.equations_before,
            len(tape.reduced.unknowns), system.nx, singles + len(loops),
            max(loops, default=1 if singles else 0), system.nz, tape.reduced.index,
        )  # fmt: skip

    def __str__(self) -> str:
        return (
            f"{self.components} components, {self.unknowns_before} unknowns in "
            f"{self.equations_before} equations; after reduction {self.unknowns} unknowns in "
            f"{self.blocks} blocks, largest loop {self.largest_loop}, {self.torn} torn; "
            f"{self.states} states, index {self.index}"
        )


class Equations:
    """The flat and the reduced system as text."""

    def __init__(self, system: System) -> None:
        self._system = system

    @property
    def flat(self) -> list[str]:
        """Every equation of every component, with full paths, aliases included."""
        network = self._system.network
        lines = []
        for family in network.families:
            for i in range(family.size):
                lines += [_with_path(law.text, family.kernel, family.path(i))
                          for law in family.kernel.laws]
                for j, sx in family.kernel.observed.items():
                    text = f"{family.kernel.variables[j].name} == {readable(sx)}"
                    lines.append(_with_path(text, family.kernel, family.path(i)))
        lines += [f"0 == {' + '.join(members)}" for members in _balances(network)]
        for tie in redundant_constraints(network):  # these share evenly
            lines.append(" == ".join(
                f"{network.families[end.family].path(end.instance)}.{end.port}.{tie.through}"
                for end in (tie.again, tie.first)))
        return lines

    @property
    def reduced(self) -> list[str]:
        """What is integrated and what is solved, in the order of evaluation."""
        system = self._system
        flat, names = system.flat, system.class_names
        lines = []
        for c in system.tape.reduced.states:
            d = int(flat.derivative[c])
            sign = "-" if flat.derivative_sign[c] < 0 else ""
            lines.append(f"integrate {names[int(c)]} by {sign}{names[d]}")
        for step in system.tape.steps:
            texts = [self._text(int(e)) for e in step.equations]
            unknowns = [names[int(c)] for c in step.unknowns]
            if step.group >= 0:
                lines += [f"solve {a}  for {b}" for a, b in zip(texts, unknowns, strict=True)]
            else:
                kind = "linear" if step.linear else "nonlinear"
                lines.append(f"solve together ({kind}, {step.torn} torn) for "
                             f"{', '.join(unknowns)}:")
                lines += [f"    {t}" for t in texts]
        return lines

    @property
    def events(self) -> list[str]:
        """What is assigned when, with full paths: by ``every``, ``initially`` and ``when``."""
        families = self._system.network.families
        return [_with_path(f"{said}: {f.kernel.variables[j].name} becomes {readable(value)}",
                           f.kernel, f.path(i))
                for f in families for said, assigned in _occasions(f.kernel)
                for i in range(f.size) for j, value in assigned]

    def _text(self, equation: int) -> str:
        """An equation in the names of the unknowns, one for all that are equal."""
        flat, names = self._system.flat, self._system.class_names
        group, row = flat.group_of(equation)
        if group.law is None:
            return _sum_text(group, row, names.__getitem__)
        kernel, instance = group.law.kernel, int(group.instances[row])
        called = {}
        for i, local in enumerate(kernel.variables):
            slot = flat.base[group.family].get((i, 0))
            if slot is not None:
                name = names[int(flat.class_of[slot + instance])]
                called[local.name] = name if flat.sign_of[slot + instance] > 0 else f"(-{name})"
        path = flat.network.families[group.family].path(instance)
        text = _with_path(group.law.text, kernel, path, called)
        return re.sub(r"(^|== )\((-[\w.\[\]]+)\)(?=$| ==)", r"\1\2", text)

    def __str__(self) -> str:
        parts = {"Flat system": self.flat, "Reduced system": self.reduced, "Events": self.events}
        return "\n".join(line for title, texts in parts.items() if texts or title != "Events"
                         for line in (title, *("  " + t for t in texts)))

    __repr__ = __str__


def _occasions(kernel: Kernel) -> Iterator[tuple[str, list[tuple[int, ca.SX]]]]:
    """When a component assigns, and what."""
    for start, period, assigned in kernel.samplings:
        at = "the start" if start is None else readable(start)
        again = "" if period is None else f" and every {readable(period)} after"
        yield f"at {at}{again}", assigned
    for condition, assigned in kernel.resets:
        yield f"when {readable(condition)}", assigned


def equation_text(flat: Flat, equation: int) -> str:
    """A scalar equation with full paths."""
    group, row = flat.group_of(equation)
    if group.law is None:
        return _sum_text(group, row, ClassNames(flat).__getitem__)
    family = flat.network.families[group.family]
    return _with_path(group.law.text, group.law.kernel, family.path(int(group.instances[row])))


def _sum_text(group: Group, row: int, name: Callable[[int], str]) -> str:
    """An equation that adds up classes."""
    span = slice(group.starts[row], group.starts[row + 1])
    terms = [("-" if s < 0 else "") + name(int(c))
             for c, s in zip(group.classes[span], group.signs[span], strict=True)]
    return f"0 == {' + '.join(terms)}".replace("+ -", "- ")


def _with_path(text: str, kernel: Kernel, path: str, called: dict[str, str] | None = None) -> str:
    local = set(kernel.index) | {p.name for p in kernel.parameters}

    def name(match: re.Match[str]) -> str:
        word = match[0]
        if called and word in called:
            return called[word]
        stem = word.split("_")[0] if word not in local and word.rsplit("_", 1)[0] in local else word
        return f"{path}.{word}" if word in local or stem in local else word

    return re.sub(r"[A-Za-z_][\w.]*", name, text)


def _balances(network: Network) -> Iterable[list[str]]:
    """What adds up to zero at each node."""
    members: dict[tuple[int, str], list[str]] = {}
    for f, port, domain in network.leaf_ports():
        for i, number in enumerate(network.port_numbers(f, port)):
            for through in domain.through:
                members.setdefault((int(network.balance_of[number]), through), []).append(
                    f"{network.families[f].path(i)}.{port}.{through}"
                )
    return members.values()


