"""What do the parts of a composite source become?

To the converter of models they are blocks of a diagram: it knows their counterparts, and the units
of signals between them. Components of the same folder are classes of the same module.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from itertools import product

from blocks import Input, Output, Port, Variable, declarations

from ..file.diagram import Block, Diagram, End, System, Value
from ..file.nodes import name_ports
from ..matlab.syntax import Apply, Binary, Brace, Field, Name, NotUnderstood, Tree, dotted, parse
from ..matlab.values import Unknown, evaluate
from ..physical.converters import other_units
from ..physical.keywords import keywords_of
from ..physical.mapping import Counterpart, counterpart_of, keyword_of
from ..physical.node_units import NodeUnits
from ..physical.signals import is_physical_signal, physical_signal_part
from ..physical.units import unit_here
from ..simulink.block_parameters import BlockParameters
from ..simulink.signal_part import Unmapped
from ..write.plan import Scope, Written
from .expressions import SourceContext, number_of
from .source import Conditions, Declared, fields, made_of, pair
from .starts import priority_of

__all__ = ["Member", "Members", "Said"]

#: What a part is told of one of its names: ``value``, ``priority`` … by these words.
Said = dict[str, Tree]
_NOWHERE = Scope({})
_TERMINATOR = "foundation.signal.sinks.terminator"


@dataclass
class Member:
    """A part in Python: its class, keywords as texts, and its ports and variables here."""

    component: str
    keywords: dict[str, str]
    ports: dict[str, str]
    variables: dict[str, str] = field(default_factory=dict)


@dataclass
class _Values:
    """Writes the values of parts, which a diagram would hold as texts."""

    known: SourceContext
    trees: dict[str, Tree] = field(default_factory=dict)

    def kept(self, tree: Tree) -> str:
        """The text by which a value is asked for."""
        if isinstance(tree, Apply) and dotted(tree.of) in ("int32", "double"):
            tree = tree.arguments[0]
        text = dotted(tree) or self.known.text(tree)
        self.trees[text] = tree
        return text

    def of(self, written: str, scope: Scope, where: str, unit: str = "") -> Written:
        tree = self.trees[written] if written in self.trees else parse(written, where)
        here = unit_here(unit, where)
        try:
            value = evaluate(tree, scope.values, where)
        except (Unknown, NotUnderstood):
            text = self.known.text(tree)
            return Written(text, None, False, here or self.known.unit(tree),
                           self.known.quantity(tree, unit) if here else text)
        try:
            return Written(number_of(tree), value, True, here)
        except NotUnderstood:
            return Written(self.known.text(tree), value, False, here)

    def name(self, path: str, scope: Scope) -> str:
        return self.known.text(parse(path))


def _values_given(arguments: Iterable[Tree], known: SourceContext) -> dict[str, Said]:
    """What the parameters and variables of a part are given, by name."""
    found: dict[str, Said] = {}
    for argument in arguments:
        if not (isinstance(argument, Binary) and argument.sign == "=" and dotted(argument.left)):
            raise known.wrong("a value of a part is written name = value.")
        word, _, which = dotted(argument.left).partition(".")
        inner = {} if which else fields(argument.right)
        found.setdefault(word, {}).update(inner or {which or "value": argument.right})
    return found


class Members:
    """The parts of a composite.

    ``targets`` is what parts are told beside their own values: by part, and by name of a variable.
    """

    def __init__(self, known: SourceContext, targets: Mapping[str, Mapping[str, Said]]) -> None:
        self.known = known
        self.values = _Values(known)
        self.said: dict[Declared, dict[str, Said]] = {}
        self.blocks: dict[Declared, Block] = {}
        for declared in known.of("components"):
            known.place = declared.place
            path, arguments = made_of(declared)
            said = _values_given(arguments, known)
            for word, more in targets.get(declared.name, {}).items():
                said[word] = {**said.get(word, {}), **more}
            self.said[declared] = said
            self.blocks[declared] = self._block(declared, path, said)
        self.system = System({block.sid: block for block in self.blocks.values()},
                             [[self._end(tree) for tree in c.ports]
                              for c in known.source.connections])
        self.diagram = Diagram(known.path, "Subsystem", "", self.system, {}, {}, {}, {})
        self.units = NodeUnits(self.system)
        self._know_units()
        self.units.follow(self._asked)
        self.found: dict[str, Member] = {}

    # -- as a diagram ------------------------------------------------------------------
    def _block(self, declared: Declared, path: str, said: Mapping[str, Said]) -> Block:
        block = Block(declared.name, declared.name, path, "SimscapeBlock")
        for word, inner in said.items():
            if "value" not in inner:
                continue
            value, unit = pair(inner["value"]) or (inner["value"], "")
            priority = priority_of(inner).title()
            block.values[word] = Value(self.values.kept(value), unit, True if priority else None,
                                       priority)
        if is_physical_signal(block):
            name_ports(block)
            block.ports = {f"port{k}": name for k, name in enumerate(block.ports.values())}
        return block

    def _end(self, port: Tree) -> End:
        """The end of a line at a port of a part, or of the composite, which no block has."""
        member, _, name = dotted(port).partition(".")
        found = End("", member, 0)
        for block in self.blocks.values():
            if block.sid == member:
                names = [*block.ports.values(), name]
                found = End(member, "port", names.index(name))
                block.ports[found.name] = name
        return found

    def _know_units(self) -> None:
        """The units of signals of the composite, and of parts whose source is beside it."""
        for section in ("inputs", "outputs"):
            for declared in self.known.of(section):
                self.units.know(("", f"{declared.name}0"), self.known.units[declared.name])
        for block in self.blocks.values():
            here = self.known.parts.get(block.kind)
            if here is None:
                continue
            for end, name in block.ports.items():
                if (unit := here.units.get(here.called.get(name, name))) is not None:
                    self.units.know((block.sid, end), unit)

    def _asked(self, block: Block) -> BlockParameters:
        return BlockParameters(self.values, self.diagram, self.units.of, _NOWHERE, block,
                               self.known.source.name)

    # -- as parts ----------------------------------------------------------------------
    def written(self, declared: Declared) -> list[tuple[Conditions, Member]]:
        """What a part becomes under which conditions; nothing, and a remark, for a gap."""
        self.known.place, block = declared.place, self.blocks[declared]
        if block.kind == _TERMINATOR:
            return []
        try:
            made = [(condition, self._member(declared)) for condition in self._cases(declared)]
        except Unmapped as error:
            self.known.remarks.append(f"Its part {block.name} is left out ({block.kind}). {error}")
            return []
        if all(member == made[0][1] for _, member in made):
            made = [(declared.condition, made[0][1])]
        for _, member in made:
            before = self.found.setdefault(declared.name, member)
            before.variables.update(member.variables)
            if any(before.ports.setdefault(p, here) != here for p, here in member.ports.items()):
                raise self.known.wrong(f"{block.name} is declared twice, and its ports are called "
                                       "otherwise here each time.",
                                       "Give the two parts names of their own.")
        return made

    def _cases(self, declared: Declared) -> Iterator[Conditions]:
        """Options of the composite that a part is given, as every choice of them would be."""
        block, given = self.blocks[declared], self.said[declared]
        passed = {word: value.name for word, said in given.items()
                  if isinstance(value := said.get("value"), Name)
                  and value.name in self.known.options}
        if block.kind in self.known.parts:
            passed = {}  # these may be given an option as it is
        names = sorted({*passed.values()})
        options = (self.known.options[name] for name in names)
        for chosen in product(*(("true", "false") if isinstance(words, bool) else words
                                for words in options)):
            told = dict(zip(names, chosen, strict=True))
            for word, name in passed.items():
                block.values[word] = replace(block.values[word], text=told[name])
            yield (*declared.condition, *(self._is(name, word) for name, word in told.items()))

    def _is(self, option: str, word: str) -> tuple[Tree, bool]:
        """The condition that an option has a value."""
        if isinstance(self.known.options[option], bool):
            return Name(option), word == "true"
        return Binary("==", Name(option), Field(Name(option), word)), True

    def _member(self, declared: Declared) -> Member:
        block = self.blocks[declared]
        if block.kind in self.known.parts:
            return self._beside(declared, self.known.parts[block.kind])
        if is_physical_signal(block):
            return self._signal(block)
        counterpart = counterpart_of(block.kind, block.values)
        if counterpart is None or counterpart.component is None:
            raise Unmapped("It has no counterpart here.")
        return self._component(declared, counterpart)

    def _component(self, declared: Declared, counterpart: Counterpart) -> Member:
        block, component, name = self.blocks[declared], counterpart.component, declared.name
        assert component is not None
        keywords = keywords_of(block, counterpart, self.values, _NOWHERE,
                               f"{self.known.source.name}.{name}")
        instance = keywords.instance(component) or component()
        for lost in keywords.lost:
            raise self.known.wrong(lost.removesuffix(" The default here holds."))
        self.known.remarks += [f"{name}: {note}" for note in keywords.notes]
        if keywords.defaults:
            self.known.notes.append(f"{name} takes the defaults here of "
                                    f"{', '.join(keywords.defaults)}.")
        member = Member(self.known.imported(counterpart.module, counterpart.name), keywords.texts,
                        {})
        for word, said in self.said[declared].items():
            keyword, _ = keyword_of(counterpart, word)
            mine = declarations(instance).get(keyword)
            if isinstance(mine, Variable):
                member.variables[word] = keyword
            if mine is not None and not mine.exists(instance):
                self.known.notes.append(f"{name}.{word} has no meaning with the choices there.")
            self._beside_value(member, name, word, said)
        for written in block.ports.values():
            here = counterpart.port(written)
            port = declarations(instance).get(here)
            if isinstance(port, (Port, Input, Output)) and port.exists(instance):
                member.ports[written] = here
        return member

    def _beside_value(self, member: Member, name: str, word: str, said: Said) -> None:
        """What is told of a parameter or variable beside its value."""
        more = said.keys() - ({"value", "priority"} if "value" in said else {"value"})
        if more == {"priority"} and priority_of(said) == "none" and word in member.variables:
            member.keywords[member.variables[word]] = 'Target(priority="none")'
            return
        self.known.remarks += [f"{name}.{word}.{which} is left out: give it here."
                               for which in sorted(more)]

    def _signal(self, block: Block) -> Member:
        """A block for physical signals, in the units of what it is connected to."""
        try:
            made = physical_signal_part(block, self._asked(block))
        except NotUnderstood as error:
            raise Unmapped(error.problem) from None
        part = made.part
        if part.equation or part.before:
            raise Unmapped("It becomes no single component.")
        for unit in other_units(block, made, self.units).values():
            raise Unmapped(f"Its output is in {made.unit or 1}, and what it enters is in {unit}.")
        if part.note:
            self.known.remarks.append(f"{block.name}: {part.note}")
        module, _, name = part.component.rpartition(".")
        return Member(self.known.imported(f"library.{module}", name), dict(part.keywords),
                      part.here)

    def _beside(self, declared: Declared, beside: SourceContext) -> Member:
        """A component whose source is in the same folder."""
        member = Member(beside.class_name, {}, {})
        for word, said in self.said[declared].items():
            name = beside.called.get(word, word)
            variables = () if beside.members else [d.name for d in beside.of("variables")]
            parameters = [d.name for d in beside.of("parameters") if d.name not in beside.locals]
            value = said.get("value")
            if name in variables:
                member.variables[word] = name
                if value is not None:
                    text, priority = self._text(value), priority_of(said)
                    member.keywords[name] = text if priority in ("", "high") else \
                        f'Target({text}, priority="{priority}")'
            elif name in beside.options and value is not None:
                member.keywords[name] = self.known.text(value) if isinstance(value, Name) else \
                    f'"{dotted(value).rpartition(".")[2]}"'
            elif name in parameters and value is not None:
                member.keywords[name] = self._text(value)
            else:
                self.known.remarks.append(f"{declared.name}.{word} is left out: "
                                          f"{beside.class_name} takes no such value here.")
                continue
            self._beside_value(member, declared.name, word, said)
        ports = {d.name for section in ("nodes", "inputs", "outputs") for d in beside.of(section)}
        for written in self.blocks[declared].ports.values():
            here = beside.called.get(written, written)
            if here in ports - beside.gaps:
                member.ports[written] = here
        return member

    def _text(self, value: Tree) -> str:
        found = pair(value)
        if found is None and isinstance(value, Brace):
            raise self.known.wrong("a value of a part is written {value, 'unit'}.")
        return self.known.quantity(*found) if found is not None else self.known.text(value)
