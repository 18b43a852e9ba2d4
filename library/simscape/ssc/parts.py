"""What are the parts and connections of a composite source in Python?"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from itertools import groupby

from ..matlab.syntax import Field, Name, Tree, dotted, names_in
from ..matlab.words import quoted
from .expressions import SourceContext
from .members import Members, Said
from .source import Assertion, Conditions, Equal, Let
from .starts import equal_at_start, said_of, under_conditions

__all__ = ["Parts"]


@dataclass
class Parts:
    """Writes the parts of a composite."""

    known: SourceContext

    @cached_property
    def stated(self) -> list[tuple[Conditions, Equal | Assertion | Let]]:
        return list(under_conditions(self.known.source.equations))

    def _aliased(self, name: str) -> Tree | None:
        """The variable of a part that one of the composite names."""
        sides = [pair for stated in self.known.source.equations if isinstance(stated, Equal)
                 for pair in ((stated.left, stated.right), (stated.right, stated.left))]
        return next((other for one, other in sides
                     if one == Name(name) and self._is_of_part(other)), None)

    def _is_of_part(self, tree: Tree) -> bool:
        return isinstance(tree, Field) and dotted(tree).partition(".")[0] in self.known.members

    def lines(self) -> Iterator[str]:
        inner = {name for name, tree in self.known.locals.items()
                 if names_in(tree) & self.known.members}
        for name in self.known.in_order(self.known.locals):
            if name in inner:
                self.known.notes.append(f"{name} is a variable of its parts and left out: look "
                                        "at theirs in a result.")
            else:
                yield f"{name} = {self.known.text(self.known.locals[name])}"
        aliases = {d.name: tree for d in self.known.of("variables")
                   if (tree := self._aliased(d.name)) is not None}
        members = Members(self.known, self._targets(aliases))
        yield from self._under_conditions(self._members(members))
        for declared in self.known.of("variables"):
            part, _, variable = dotted(aliases.get(declared.name, Name(""))).partition(".")
            if part in members.found:
                variable = members.found[part].variables.get(variable, variable)
            if part:
                self.known.notes.append(f"{declared.name} is {part}.{variable}.")
            else:
                self.known.remarks.append(f"The variable {declared.name} is left out: a composite "
                                          "here has parts only.")
        yield from self._under_conditions(self._connections(members))
        if any(isinstance(stated, Let) or isinstance(stated, Equal) and not aliases.keys() & {
                side.name for side in (stated.left, stated.right) if isinstance(side, Name)}
               for _, stated in self.stated):
            self.known.remarks.append("A composite here has parts only: equations beside them are "
                                      "left out.")

    def _under_conditions(self, written: Iterator[tuple[Conditions, str]]) -> Iterator[str]:
        for words, lines in groupby(written, lambda each: self.known.under(each[0])):
            if words:
                yield f"if {words}:"
            yield from (f"    {line}" if words else line for _, line in lines)

    def _members(self, members: Members) -> Iterator[tuple[Conditions, str]]:
        for declared in self.known.of("components"):
            for condition, made in members.written(declared):
                given = ", ".join(f"{name}={text}" for name, text in made.keywords.items())
                yield condition, f"self.{declared.name} = {made.component}({given})"
        self.known.gaps |= self.known.members - members.found.keys()

    def _connections(self, members: Members) -> Iterator[tuple[Conditions, str]]:
        for connection in self.known.source.connections:
            self.known.place = connection.place
            ports = [text for tree in connection.ports if (text := self._port(tree, members))]
            if len(ports) > 1:
                yield connection.condition, f"self.connect({', '.join(ports)})"

    def _port(self, tree: Tree, members: Members) -> str:
        """A port in Python; empty for one that is left out."""
        name, _, port = dotted(tree).partition(".")
        if name in members.found:
            here = members.found[name].ports.get(port)
            if here is None:
                self.known.remarks.append(f"What is connected to {name}.{port} is left out: "
                                          "it has no such port here.")
                return ""
            return f"self.{name}.{here}"
        if name in self.known.gaps:
            return ""
        if port or name not in {d.name for section in ("nodes", "inputs", "outputs")
                                for d in self.known.of(section)}:
            raise self.known.wrong(f"{dotted(tree) or 'this'} is no port that can be connected.",
                                   "Name a port of the component, or of one of its parts.")
        return self.known.text(tree)

    # -- starts ------------------------------------------------------------------------
    def _targets(self, aliases: Mapping[str, Tree]) -> dict[str, dict[str, Said]]:
        """What variables and equations of the start tell the variables of parts."""
        found: dict[str, dict[str, Said]] = {}

        def tell(of: Tree, value: Tree, priority: str) -> None:
            member, _, variable = dotted(of).partition(".")
            found.setdefault(member, {})[variable] = {"value": value, "priority": Name(priority)}

        for declared in self.known.of("variables"):
            value, priority = said_of(declared)
            if declared.name in aliases and priority != "none":
                tell(aliases[declared.name], value, priority)
        for condition, equation in equal_at_start(self.known):
            sides = [aliases.get(side.name, side) if isinstance(side, Name) else side
                     for side in (equation.left, equation.right)]
            target, value = sides if self._is_of_part(sides[0]) else reversed(sides)
            if condition or not self._is_of_part(target) or names_in(value) & self.known.members:
                self.known.remarks.append("An equation of the start is left out: a composite here "
                                          "has parts only.")
            else:
                tell(target, value, "high")
        return found

    # -- what must hold ----------------------------------------------------------------
    def checks(self, stops: bool) -> Iterator[str]:
        """Assertions on parameters: those of ``verify()``, or those that stop no run."""
        lines, names = [], set[str]()
        changing = {"time", *self.known.members, *(
            d.name for section in ("inputs", "outputs", "variables")
            for d in self.known.of(section))}
        for under, stated in self.stated:
            if not isinstance(stated, Assertion) or stated.stops != stops:
                continue
            said = stated.message or "a condition of the component does not hold"
            every = (*under, (stated.condition, False))
            used = self._needed(set().union(*(names_in(tree) for tree, _ in every)))
            if used & changing:
                self.known.remarks.append(f"Not checked here: {said}.")
                continue
            names |= used
            self.known.place = stated.place
            lines += [f"if {self.known.under(every)}:", f"    yield {quoted(said)}"]
        yield from (f"{name} = {self.known.text(self.known.locals[name])}"
                    for name in self.known.in_order(self.known.locals) if name in names)
        yield from lines

    def _needed(self, names: set[str]) -> set[str]:
        more = set().union(*(names_in(self.known.locals[n]) for n in names
                             if n in self.known.locals)) - names
        return self._needed(names | more) if more else names
