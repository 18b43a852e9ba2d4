"""What are the parts and connections of a composite source in Python?"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from blocks import Option

from .mapping import counterpart_of, keyword_of
from .matlab import Apply, Binary, Field, Name, Number, dotted
from .source import Assertion, Declared, Equal, Stated, fields, pair
from .source_expressions import Known, names_in, number_of

__all__ = ["Parts"]


@dataclass
class Parts:
    """Writes the parts of a composite."""

    known: Known

    def is_alias(self, name: str) -> bool:
        """Whether a variable only names one of a member's."""
        return self._aliased(name) is not None

    def _aliased(self, name: str) -> Field | None:
        for stated in self.known.source.equations:
            if isinstance(stated, Equal):
                for one, other in ((stated.left, stated.right), (stated.right, stated.left)):
                    if one == Name(name) and isinstance(other, Field) and \
                            dotted(other).partition(".")[0] in self.known.members:
                        return other
        return None

    def lines(self) -> Iterator[str]:
        inner = {name for name, tree in self.known.locals.items()
                 if names_in(tree) & self.known.members}
        for name in self.known.ordered_locals():
            if name in inner:
                self.known.remarks.append(f"{name} is a variable of its parts and left out: look "
                                          "at theirs in a result.")
            else:
                yield f"{name} = {self.known.text(self.known.locals[name])}"
        targets: dict[str, dict[str, str]] = {}
        for declared in self.known.of("variables"):
            alias = self._aliased(declared.name)
            if alias is None:
                self.known.remarks.append(f"The variable {declared.name} is left out: a composite "
                                          "here has parts only.")
            else:
                said = fields(declared.value)
                found = pair(said.get("value", declared.value))
                member, _, variable = dotted(alias).partition(".")
                if found is not None and "high" in dotted(said.get("priority", Name(""))):
                    targets.setdefault(member, {})[variable] = self.known.quantity(*found)
                self.known.remarks.append(f"{declared.name} is {dotted(alias)}.")
        for declared in self.known.of("components"):
            yield from self._member(declared, targets.get(declared.name, {}))
        for connection in self.known.source.connections:
            kept = [p for p in connection.ports if dotted(p).partition(".")[0] not in self.known.gaps]
            if len(kept) > 1:
                yield f"self.connect({', '.join(self.known.text(p) for p in kept)})"
        for stated in self.known.source.equations:
            if not (isinstance(stated, Equal) and any(
                    isinstance(s, Name) and self.is_alias(s.name)
                    for s in (stated.left, stated.right))):
                self._left_out(stated)

    def _left_out(self, stated: Stated) -> None:
        """Say what of the source is not in the class."""
        if isinstance(stated, Assertion):
            self.known.remarks.append(f"Not checked here: {stated.message}." if stated.message
                                      else "Some conditions are not checked here.")
            return
        self.known.remarks.append("A composite here has parts only: equations beside them are left "
                                  "out.")

    def _member(self, declared: Declared, targets: Mapping[str, str]) -> Iterator[str]:
        call = declared.value
        path = dotted(call.of if isinstance(call, Apply) else call)
        counterpart = counterpart_of(path)
        component = counterpart.component if counterpart is not None else None
        if counterpart is None or component is None:
            self.known.gaps.add(declared.name)
            self.known.remarks.append(f"Its part {declared.name} is left out: {path} has no "
                                      "counterpart here.")
            return
        self.known.homes.setdefault(counterpart.module, set()).add(counterpart.name)
        given: dict[str, str] = {}
        for argument in call.arguments if isinstance(call, Apply) else ():
            if isinstance(argument, Binary) and argument.sign == "=":
                self._argument(argument, counterpart, component, given)
        text = ", ".join(f"{k}={v}" for k, v in {**given, **targets}.items())
        yield f"self.{declared.name} = {counterpart.name}({text})"

    def _argument(self, argument: Binary, counterpart: object, component: type,
                  given: dict[str, str]) -> None:
        word = dotted(argument.left)
        keyword, _ = keyword_of(counterpart, word)  # type: ignore[arg-type]
        declared = component._declared.get(keyword)  # type: ignore[attr-defined]
        if declared is None or "." in word:
            return
        if isinstance(declared, Option):
            value = argument.right
            number = value.arguments[0] if isinstance(value, Apply) else value
            written = number_of(number) if isinstance(number, Number) else dotted(number)
            choices = counterpart.choices.get(word, {})  # type: ignore[attr-defined]
            here = choices.get(written.rpartition(".")[2])
            if here is not None and here != declared.default:
                given[keyword] = f'"{here}"'
            return
        said = fields(argument.right)
        found = pair(said.get("value", argument.right))
        given[keyword] = self.known.quantity(*found) if found is not None else \
            self.known.text(said.get("value", argument.right))
