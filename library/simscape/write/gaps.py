"""Which classes does a script need for what the library lacks: gaps, and laws of one block?

A gap is a stub with the ports of a block that has no counterpart; a law is a function that is
written in the diagram, as a class with one equation.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterable
from dataclasses import dataclass, field, replace
from typing import TypeAlias

import numpy as np

from ..file.diagram import Block, folded
from ..file.workspace import words_of
from ..matlab.python_text import MEMBERS, PythonNames, class_name, python_name, value_text
from ..physical.keywords import is_off
from ..physical.mapping import domain_here, law_of
from ..simulink.signal_part import SignalPart, one_or_many
from ..tables import content_of
from .plan import PortPlan, Stub, Written

__all__ = ["Gaps", "title_of"]

Writes: TypeAlias = Callable[[str, str, str], Written | None]
_LONGEST = 60  # signs of a value that is no number
_REGISTERED = ("A component of yours takes its place: library.simscape.add_counterpart({path!r}, "
               "YourComponent, parameters={{…}}, ports={{…}}) in the module of repairs.")


@dataclass
class Gaps:
    """Classes of a script by name, each made once for all blocks that are alike."""

    names: PythonNames
    classes: dict[str, Stub] = field(default_factory=dict)
    _known: dict[object, str] = field(default_factory=dict)

    def physical(self, block: Block, unit_of: Callable[[str], str], divisors: Collection[str],
                 why: str, value: Writes, form: str = "here"
                 ) -> tuple[str, dict[str, str], dict[str, str]]:
        """The class of a physical block without a counterpart, its ports by end, its keywords.

        ``unit_of`` gives the unit of a signal port by its end; ``divisors`` are the ends of outputs
        that something is divided by; ``why`` says why it has none and what to take; ``value`` gives
        that of a name, a text and a unit, None for one that is no number; ``form`` says whether it
        has no counterpart at all, or none ``"in this form"``.
        """
        ports, equations, found, leaks = [], [], {}, {}
        names = PythonNames(MEMBERS)
        for end, written in block.ports.items():
            port = names.make("".join(c if c.isalnum() else "_" for c in written))
            what = block.types.get(written, "")
            domain = domain_here(what)
            if what in ("input", "output"):
                unit = unit_of(end)
                ports.append(PortPlan(port, what.title(), unit))
                if what == "output":
                    one = f'quantity("1 {unit}")' if unit else "1"
                    equations.append(f"self.{port} == {one if end in divisors else 0}")
            elif domain:
                ports.append(PortPlan(port, "Port", domain))
                # so little passes that it changes nothing, and enough that no node floats; orifices
                # at rest let much pass, so fluids with a temperature ask for more
                leak = content_of("domains.json")[what]
                leaks[f"{domain}_leak"] = f'"{leak["coefficient"]}"'
                equations += [law.format(leak=f"self.{domain}_leak", port=f"self.{port}")
                              for law in leak["equations"]]
            else:
                continue
            found[end] = port
        made, keywords = self._with_values(
            (block.kind, why, tuple(port.text for port in ports), tuple(equations)), why,
            block.kind, Stub(title_of(block), f"A gap: {block.kind} has no counterpart {form}.",
                             ports, equations, f"stands for {block.kind}, which has no counterpart "
                             f"{form}: it lets next to nothing pass, and its outputs are 0"
                             f"{', or 1 as divisors' if divisors else ''}.", leaks),
            [(name, v.text, v.unit) for name, v in block.values.items() if v.specify is not False],
            value, names)
        return made, found, keywords

    def physical_law(self, block: Block, value: Writes
                     ) -> tuple[str, dict[str, str], dict[str, str]] | None:
        """The class of a block whose law is known whole, its ports by end, its keywords."""
        law = law_of(block.kind)
        if not law:
            return None
        used = {word for text in law["equations"] for word in re.findall(r"self\.(\w+)", text)}
        ports = [PortPlan(name, block.types[name].title(), law["units"].get(name, ""))
                 if block.types.get(name) in ("input", "output") else
                 PortPlan(name, "Port", domain_here(block.types.get(name, "")))
                 for name in block.ports.values()]
        own = {name: written.argument for name, v in block.values.items() if name in used
               and (written := value(name, v.text, v.unit)) is not None}
        there = {port.name: port.argument or port.kind != "Port" for port in ports}
        holds = all(is_off(block.values[name]) for name in law["off"] if name in block.values)
        if used != there.keys() | set(own) or not all(there.values()) or not holds:
            return None
        made, keywords = self._made((block.kind, tuple(own)), Stub(
            title_of(block), f"The block {block.kind}.", ports, law["equations"]), own)
        return made, dict(block.ports), keywords

    def signal(self, block: Block, inputs: Iterable[int], outputs: Iterable[int], why: str,
               options: Iterable[tuple[str, str]], value: Writes) -> SignalPart:
        """A stub for a Simulink block without a counterpart, with the ports that are used."""
        ins, outs = (one_or_many(word, max(used, default=0))
                     for word, used in (("u", inputs), ("y", outputs)))
        made, keywords = self._with_values(object(), why, "", Stub(
            block.name, f"A gap: the Simulink block {block.kind}.",
            [*(PortPlan(p, "Input", "") for p in ins), *(PortPlan(p, "Output", "") for p in outs)],
            [f"self.{p} == 0" for p in outs],
            f"stands for the Simulink block {block.kind}. {why} Its outputs are 0."),
            [(name, text, "") for name, text in options], value,
            PythonNames((*MEMBERS, *ins, *outs)))
        return SignalPart(made, keywords, ins, outs)

    def _with_values(self, key: object, why: str, path: str, stub: Stub,
                     values: Iterable[tuple[str, str, str]], value: Writes, names: PythonNames
                     ) -> tuple[str, dict[str, str]]:
        """A stub that holds the values of its block; those that differ from the first one's."""
        own, words = dict(stub.parameters), []
        for name, text, unit in values:
            written = value(name, text, unit)
            if written is not None:
                if words_of(written.python) & own.keys():  # in a class its names come first
                    written = Written(value_text(written.value), written.value,
                                      np.ndim(written.value) == 0, written.unit)
                own[names.make(name if name.isidentifier() else python_name(name))] = \
                    written.argument
            else:
                shown = text if len(text) < _LONGEST else f"{text[:_LONGEST]} …"
                words.append(f"{name} = {shown} {'' if unit == '1' else unit}".rstrip())
        more = ["" if why == "It has no counterpart here." else why,
                f"It holds as well: {'; '.join(words)}." if words else "",
                _REGISTERED.format(path=path) if path else ""]
        stub.doc = "\n\n".join([stub.doc, *filter(None, more)])
        return self._made(key, stub, own)

    def law(self, block: Block, part: SignalPart) -> str:
        """The class of a law, one for all blocks with the same one."""
        here = [part.here[p] for p in part.inputs]
        ports = [*(PortPlan(p, "Input", part.units.get(p, "")) for p in here),
                 *(PortPlan(part.here[p], "Output", part.units.get(part.here[p], ""))
                   for p in part.outputs)]
        made, part.keywords = self._made(
            (block.kind, part.equation, tuple(port.text for port in ports)),
            Stub(block.title or block.kind.rpartition("/")[2].rpartition(".")[2],
                 f"The block {folded(block.name)} of the model.", ports,
                 part.equation.splitlines()), part.keywords)
        return made

    def _made(self, key: object, stub: Stub, own: dict[str, str]) -> tuple[str, dict[str, str]]:
        """The class of a key, and those of a block's own values that are not its defaults.

        The ``stub`` is called as its block; it becomes the class where there is none yet.
        """
        if key not in self._known:
            name = self._known[key] = self.names.make(class_name(stub.name))
            self.classes[name] = replace(stub, name=name, parameters={})
        made = self._known[key]
        defaults = self.classes[made].parameters
        return made, {name: text for name, text in own.items()
                      if defaults.setdefault(name, text) != text}


def title_of(block: Block) -> str:
    """The name of a block in its library, without what stands in brackets, but for a fluid."""
    title = block.title or block.library.rpartition("/")[2] or block.kind.rpartition(".")[2]
    return re.sub(r"\s*\((?![A-Z0-9]{1,2}\)).*?\)", "", title)
