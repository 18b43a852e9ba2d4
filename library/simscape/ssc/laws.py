"""What are the equations of a component source in Python?"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from importlib import import_module

from ..matlab import syntax as ml
from ..matlab.syntax import Binary, NotUnderstood, Tree, Unary, dotted
from ..matlab.words import quoted
from ..physical.mapping import DOMAINS
from .expressions import SourceContext, linear
from .source import Assertion, Branch, Choice, Connection, Declared, Equal, Let, Stated

__all__ = ["Laws"]


@dataclass
class Laws:
    """Writes the equations of a component."""

    known: SourceContext

    def lines(self) -> Iterator[str]:
        for name in self.known.in_order(self.known.locals):
            self.known.place = self.known.place_of(name)
            yield f"{name} = {self.known.text(self.known.locals[name])}"
        yield from self._balances()
        for connection in self.known.source.connections:
            yield from self._referred(connection)
        for stated in self.known.source.equations:
            yield from self._stated(stated)
        for event in self.known.source.events:
            self.known.place = event.place
            last = self.known.last_of(event)
            values = [(name, self.known.text(value)) for name, value in event.assigned]
            pairs = ", ".join([*(
                f"self.{name}: where(self.{last} < time, {value}, self.{name}, events=False)"
                if event.case else f"self.{name}: {value}" for name, value in values),
                *([f"self.{last}: time"] if last else [])])
            yield from self.known.guarded(
                f"yield when({self.known.text(event.edge)}, {{{pairs}}})", event.condition)
        for name, (_, rate) in self.known.integrals.items():
            yield f"yield der(self.{name}) == {rate}"

    def _balances(self) -> Iterator[str]:
        """What branches say of the through variables of ports."""
        nodes = {node.name: node for node in self.known.of("nodes")}
        sums: dict[tuple[str, str], list[str]] = {}
        for branch in self.known.source.branches:
            self.known.place = branch.place
            for end, sign in ((branch.start, ""), (branch.end, "-")):
                if end is not None:
                    node = dotted(end).partition(".")[0]
                    term = f"{sign}{self._flow(branch, nodes.get(node))}"
                    sums.setdefault((node, self.known.text(end)), []).append(term)
        for (node, port), terms in sums.items():
            text = " + ".join(terms).replace(" + -", " - ")
            yield from self.known.guarded(f"yield {port} == {text}",
                                          nodes[node].condition if node in nodes else ())
        referred = {dotted(port) for c in self.known.source.connections for port in c.ports}
        for node in sorted(nodes.keys() - referred - {node for node, _ in sums}):
            self.known.remarks.append(f"Nothing is said there of what flows at {node}.")

    def _referred(self, connection: Connection) -> Iterator[str]:
        """What ``connect(p, *)`` says: a node has the across variables of the reference."""
        self.known.place = connection.place
        names = {dotted(port) for port in connection.ports}
        nodes = {node.name: node for node in self.known.of("nodes")}
        ends = {dotted(end).partition(".")[0] for branch in self.known.source.branches
                for end in (branch.start, branch.end) if end is not None}
        if "*" not in names or not names <= {"*", *(nodes.keys() - ends)}:
            raise self.known.wrong("connect(…) of its own nodes is read as connect(p, *) alone, "
                                   "and where no branch ends at p.", "Write it as an equation.")
        for name in sorted(names - {"*"}):
            for across in self._across(nodes[name]):
                yield from self.known.guarded(f"yield self.{name}.{across} == 0",
                                              connection.condition)

    def _across(self, node: Declared) -> list[str]:
        """The across variables of a node; none of one whose domain there is not here."""
        path = dotted(node.value)
        if (name := DOMAINS.get(path)) is not None:
            return list(getattr(import_module(f"library.{name}"), name).across)
        found = self.known.own_domains.get(path.rpartition(".")[2])
        return [] if found is None else [d.name for d in found.sections.get("variables", ())
                                         if not d.is_balanced]

    def _flow(self, branch: Branch, node: Declared | None) -> str:
        """The through variable of a branch, nothing where the node has no such branch."""
        more = tuple(c for c in branch.condition if node is None or c not in node.condition)
        exists = self.known.under(more)
        return f"(self.{branch.name} if {exists} else 0)" if exists else f"self.{branch.name}"

    def _stated(self, stated: Stated) -> Iterator[str]:
        self.known.place = stated.place
        if isinstance(stated, Equal):
            left, right = self.known.text(stated.left), self.known.text(stated.right)
            self.known.refuse_arrays(stated.left, stated.right)
            yield f"yield {left} == {right}"
        elif isinstance(stated, Assertion) and not stated.stops:
            self.known.remarks.append("Not checked here, as it stops no run there: "
                                      f"{stated.message or 'a condition'}.")
        elif isinstance(stated, Assertion):
            said = stated.message or "a condition of the component does not hold"
            try:
                yield f"yield require({self.known.text(stated.condition)}, {quoted(said)})"
            except NotUnderstood as error:
                self.known.remarks.append(f"Not checked here: {said.rstrip('.')} ({error.where}: "
                                          f"{error.problem.rstrip('.')}).")
        elif isinstance(stated, Let):
            yield from self._names(stated)
            for inner in stated.body:
                yield from self._stated(inner)
        elif stated.cases[0][0] is None or self.known.is_structure(stated.cases[0][0]):
            yield from self._structure(stated)
        else:
            yield from self._choice(stated)

    def _names(self, let: Let) -> Iterator[str]:
        self.known.place = let.place
        given = dict(let.names)
        self.known.locals |= given
        for name in self.known.in_order(given):
            yield f"{name} = {self.known.text(given[name])}"

    def _structure(self, choice: Choice) -> Iterator[str]:
        """Equations that options choose: conditions of Python, until one is on values."""
        for k, (condition, body) in enumerate(choice.cases):
            self.known.place = choice.place
            rest = condition is not None and not self.known.is_structure(condition)
            inside = (replace(choice, cases=choice.cases[k:]),) if rest else body
            lines = [line for stated in inside for line in self._stated(stated)]
            yield "else:" if condition is None or rest else \
                f"{'elif' if k else 'if'} {self.known.text(condition)}:"
            yield from (f"    {line}" for line in lines or ["pass"])
            if rest:
                return

    def _choice(self, choice: Choice) -> Iterator[str]:
        """Equations that conditions on values choose among."""
        yield from self._beside_equations(choice, None)
        for law in self._chosen(choice):
            self.known.place = choice.place
            left = _left(law)
            if left is not None:
                right = self.known.text(_tree(law, lambda equation: equation.right))
                yield f"yield {self.known.text(left)} == {right}"
            else:
                yield f"yield {self.known.text(_tree(law, self._residual))} == 0"

    def _beside_equations(self, choice: Choice, above: Tree | None) -> Iterator[str]:
        """The names and assertions of an if; ``above`` is what must hold around it."""
        for condition, body in choice.cases:
            yield from self._beside(body, _both(above, condition))
            if condition is not None:
                above = _both(above, Unary("~", condition))

    def _beside(self, body: tuple[Stated, ...], above: Tree | None) -> Iterator[str]:
        for stated in body:
            if isinstance(stated, Let):
                yield from self._names(stated)
                yield from self._beside(stated.body, above)
            elif isinstance(stated, Choice):
                yield from self._beside_equations(stated, above)
            elif isinstance(stated, Assertion):
                condition = stated.condition if above is None else \
                    Binary("||", Unary("~", above), stated.condition)
                yield from self._stated(replace(stated, condition=condition))

    def _laws(self, body: tuple[Stated, ...]) -> Iterator[Equal | _Chosen]:
        for stated in body:
            if isinstance(stated, Equal):
                self.known.place = stated.place
                self.known.refuse_arrays(stated.left, stated.right)
                yield stated
            elif isinstance(stated, Let):
                yield from self._laws(stated.body)
            elif isinstance(stated, Choice):
                yield from self._chosen(stated)

    def _chosen(self, choice: Choice) -> list[_Chosen]:
        """As many laws as each case has equations; each law takes one of every case."""
        first, *others = [list(self._laws(body)) for _, body in choice.cases]
        if any(len(laws) != len(first) for laws in others) or first and choice.cases[-1][0]:
            self.known.place = choice.place
            raise self.known.wrong("the cases of an if have unequal numbers of equations, or there "
                                   "is no else.")
        rows = zip(first, *(_matched(first, laws) for laws in others), strict=True)
        conditions = [condition for condition, _ in choice.cases]
        return [_Chosen(tuple(zip(conditions, row, strict=True))) for row in rows]

    def _residual(self, equation: Equal) -> Tree:
        """An equation as a number that is zero, for cases that speak of different things."""
        unit = linear(self.known.unit(equation.left))
        difference = Binary("-", equation.left, equation.right)
        return Binary("/", difference, ml.Brace(((ml.Number(1.0, "1"), ml.Text(unit)),))) if unit \
            else difference


@dataclass(frozen=True)
class _Chosen:
    """Equations of which conditions choose one."""

    cases: tuple[tuple[Tree | None, Equal | _Chosen], ...]


def _left(law: Equal | _Chosen) -> Tree | None:
    """The left side, where it is the same in all cases."""
    if isinstance(law, Equal):
        return law.left
    first, *others = [_left(inner) for _, inner in law.cases]
    return first if all(other == first for other in others) else None


def _tree(law: Equal | _Chosen, part: Callable[[Equal], Tree]) -> Tree:
    """One expression of a part of all its equations."""
    if isinstance(law, Equal):
        return part(law)
    *chosen, (_, last) = law.cases
    tree = _tree(last, part)
    for condition, inner in reversed(chosen):
        assert condition is not None
        tree = ml.Apply(ml.Name("if"), (condition, _tree(inner, part), tree))
    return tree


def _matched(like: list[Equal | _Chosen], laws: list[Equal | _Chosen]) -> list[Equal | _Chosen]:
    """The laws in another order: beside those of the same left side where there are such."""
    waiting, found = list(laws), list[Equal | _Chosen | None]()
    for one in like:
        found.append(next((law for law in waiting if _left(law) is not None
                           and _left(law) == _left(one)), None))
        waiting = [law for law in waiting if law is not found[-1]]
    return [waiting.pop(0) if law is None else law for law in found]


def _both(one: Tree | None, other: Tree | None) -> Tree | None:
    return Binary("&&", one, other) if one is not None and other is not None else one or other
