"""What are the equations of a component source in Python?"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from .matlab import Apply, Name, NotUnderstood, Tree
from .source import Assertion, Choice, Equal, Let, Stated
from .source_expressions import Known
from .words import quoted

__all__ = ["Laws"]


@dataclass
class Laws:
    """Writes the equations of a component."""

    known: Known

    def lines(self) -> Iterator[str]:
        for name in self.known.ordered_locals():
            yield f"{name} = {self.known.text(self.known.locals[name])}"
        yield from self._balances()
        for stated in self.known.source.equations:
            yield from self._stated(stated)
        for event in self.known.source.events:
            pairs = ", ".join(f"self.{name}: {self.known.text(value)}"
                              for name, value in event.assigned)
            yield f"yield when({self.known.text(event.condition)}, {{{pairs}}})"

    def _balances(self) -> Iterator[str]:
        """What branches say of the through variables of ports."""
        sums: dict[str, list[str]] = {}
        nodes = {d.name: d.condition for d in self.known.of("nodes")}
        for branch in self.known.source.branches:
            for end, sign in ((branch.start, ""), (branch.end, "-")):
                if end is None:
                    continue
                port = self.known.text(end)
                beside = self.known.under(tuple(
                    c for c in branch.condition if c not in nodes.get(_node_of(port), ())))
                term = f"({{}}self.{branch.name} if {beside} else 0)" if beside else \
                    f"{{}}self.{branch.name}"
                sums.setdefault(port, []).append(term.format(sign))
        for port, terms in sums.items():
            text = terms[0] + "".join(f" - {t[1:]}" if t.startswith("-") else f" + {t}"
                                      for t in terms[1:])
            words = self.known.under(nodes.get(_node_of(port), ()))
            yield from _under(words, f"yield {port} == {text}")
        touched = {_node_of(port) for port in sums}
        for node in sorted(nodes.keys() - touched):
            self.known.remarks.append(f"Nothing is said there of what flows at {node}.")

    def _stated(self, stated: Stated) -> Iterator[str]:
        if isinstance(stated, Equal):
            yield f"yield {self.known.text(stated.left)} == {self.known.text(stated.right)}"
        elif isinstance(stated, Assertion):
            said = stated.message or "a condition of the component does not hold"
            yield f"yield require({self.known.text(stated.condition)}, {quoted(said)})"
        elif isinstance(stated, Let):
            self.known.locals |= dict(stated.names)
            for name, tree in stated.names:
                yield f"{name} = {self.known.text(tree)}"
            for inner in stated.body:
                yield from self._stated(inner)
        else:
            yield from self._choice(stated)

    def _structure(self, choice: Choice) -> Iterator[str]:
        """Equations that an enumeration chooses: conditions of Python."""
        word = "if"
        for condition, body in choice.cases:
            lines = [line for stated in body for line in self._stated(stated)]
            yield f"{word} {self.known.text(condition)}:" if condition is not None else "else:"
            yield from (f"    {line}" for line in lines or ["pass"])
            word = "elif"

    def _choice(self, choice: Choice) -> Iterator[str]:
        if all(c is None or self.known.is_structure(c) for c, _ in choice.cases):
            yield from self._structure(choice)
            return
        cases = [(condition, self._flat(body)) for condition, body in choice.cases]
        if len({len(equations) for _, equations in cases}) > 1 or cases[-1][0] is not None:
            raise NotUnderstood(self.known.source.name, "the cases of an if have unequal "
                                "numbers of equations, or there is no else.")
        first = cases[0][1]
        for k, equation in enumerate(first):
            found = [(c, _matching(eqs, equation, k)) for c, eqs in cases]
            if all(e.left == equation.left for _, e in found):
                yield (f"yield {self.known.text(equation.left)} == "
                       f"{self._where([(c, self.known.text(e.right)) for c, e in found])}")
            else:
                residuals = [(c, self._residual(e)) for c, e in found]
                yield f"yield {self._where(residuals)} == 0"

    def _flat(self, body: tuple[Stated, ...]) -> list[Equal]:
        out: list[Equal] = []
        for stated in body:
            if isinstance(stated, Equal):
                out.append(stated)
            elif isinstance(stated, Assertion):
                self.known.remarks.append(f"Not checked here, within an if: {stated.message}.")
            elif isinstance(stated, Choice):
                cases = [(c, self._flat(b)) for c, b in stated.cases]
                for k, equation in enumerate(cases[0][1]):
                    found = [(c, _matching(e, equation, k)) for c, e in cases]
                    right = found[-1][1].right
                    for condition, other in reversed(found[:-1]):
                        assert condition is not None
                        right = Apply(Name("where"), (condition, other.right, right))
                    out.append(Equal(equation.left, right))
            else:
                raise NotUnderstood(self.known.source.name, "let within if is not read.")
        return out

    def _where(self, cases: list[tuple[Tree | None, str]]) -> str:
        text = cases[-1][1]
        for condition, value in reversed(cases[:-1]):
            assert condition is not None
            text = f"where({self.known.text(condition)}, {value}, {text})"
        return text

    def _residual(self, equation: Equal) -> str:
        """An equation as a number that is zero, for cases that speak of different things."""
        unit = self.known.unit(equation.left)
        left, right = self.known.text(equation.left), self.known.text(equation.right)
        inside = f"{left} - ({right})" if any(s in right for s in "+-") else f"{left} - {right}"
        return f'({inside}) / quantity(1, "{unit}")' if unit else inside


def _node_of(port: str) -> str:
    """``"H"`` of ``"self.H.Q"``."""
    return port.split(".")[1]


def _under(words: str, line: str) -> list[str]:
    """A line of Python, under a condition where there is one."""
    return [f"if {words}:", f"    {line}"] if words else [line]


def _matching(equations: list[Equal], like: Equal, k: int) -> Equal:
    return next((e for e in equations if e.left == like.left), equations[k])
