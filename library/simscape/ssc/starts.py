"""What does a component source say of the start of a run, in Python?

A number is the target of its variable. What is computed, and what an equation of the start states,
holds by a variable of its own: the difference of the two sides, whose target is zero.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field

from ..matlab.python_text import PythonNames
from ..matlab.syntax import Binary, Name, NotUnderstood, Number, Tree, dotted
from ..physical.units import unit_here
from .expressions import SourceContext, number_of
from .source import Assertion, Choice, Conditions, Declared, Equal, Let, Stated, fields, pair

__all__ = ["Starts", "equal_at_start", "literal", "priority_of", "said_of", "under_conditions"]


def said_of(declared: Declared) -> tuple[Tree, str]:
    """The value of a variable, and the priority of its target."""
    said = fields(declared.value)
    return said.get("value", declared.value), priority_of(said) or "none"


def priority_of(said: Mapping[str, Tree]) -> str:
    return dotted(said["priority"]).rpartition(".")[2] if "priority" in said else ""


def literal(value: Tree) -> tuple[str, str] | None:
    """Number and unit of a value that is not computed."""
    number, unit = pair(value) or (value, "1")
    try:
        return number_of(number), unit
    except NotUnderstood:
        return None


def under_conditions(stated: Iterable[Stated], under: Conditions = ()
                     ) -> Iterator[tuple[Conditions, Equal | Assertion | Let]]:
    """Equations and assertions one by one, each with the conditions under which it holds."""
    for each in stated:
        if not isinstance(each, Choice):
            yield under, each
            continue
        before = under
        for condition, body in each.cases:
            here = before if condition is None else (*before, (condition, True))
            yield from under_conditions(body, here)
            if condition is not None:
                before = (*before, (condition, False))


def equal_at_start(known: SourceContext) -> Iterator[tuple[Conditions, Equal]]:
    """The equations of the start, and the conditions under which they hold."""
    for under, each in under_conditions(known.source.initial):
        if isinstance(each, Equal):
            yield under, each
        elif isinstance(each, Let):
            known.place = each.place
            raise known.wrong("let among equations of the start is not read.",
                              "Write out what its names stand for.")
        else:
            known.remarks.append("Not checked here, at the start: "
                                 f"{each.message or 'a condition'}.")


@dataclass
class _Start:
    """Something that is zero when a run starts."""

    name: str
    unit: str
    difference: Tree
    condition: Conditions
    priority: str = "high"


@dataclass
class Starts:
    """Writes what holds when a run of a component starts."""

    known: SourceContext
    # and units that initial equations give variables
    numbers: dict[str, tuple[str, str]] = field(default_factory=dict)
    _zero: list[_Start] = field(default_factory=list)
    _held: list[tuple[str, Tree, Conditions]] = field(default_factory=list)  # of Discrete ones

    def __post_init__(self) -> None:
        known = self.known
        names = PythonNames(known.source.names)
        self.variables = {d.name: d for d in known.of("variables")}
        for declared in self.variables.values():
            known.place = declared.place
            value, priority = said_of(declared)
            if literal(value) is not None:
                continue
            if self.is_held(declared.name):
                self._held.append((declared.name, value, declared.condition))
            elif priority == "none":
                known.remarks.append(f"The value from which {declared.name} is sought at the start "
                                     "is computed there; give it here.")
            else:
                self._add(names, Equal(Name(declared.name), value), declared.condition, priority)
        for condition, equation in equal_at_start(known):
            known.place = equation.place
            name, value = self._given(equation)
            number = literal(value)
            if name and number is not None and not condition:
                self.numbers[name] = number
            elif name and self.is_held(name):
                self._held.append((name, value, condition))
            else:
                self._add(names, equation, condition)

    def is_held(self, name: str) -> bool:
        """Whether a variable changes at events only."""
        return name in self.variables and self.variables[name].is_event or any(
            name in dict(event.assigned) for event in self.known.source.events)

    def _given(self, equation: Equal) -> tuple[str, Tree]:
        """The variable that an equation gives a value, and that; nothing for another one."""
        for one, other in ((equation.left, equation.right), (equation.right, equation.left)):
            if isinstance(one, Name) and one.name in self.variables:
                return one.name, other
        return "", equation.right

    def _add(self, names: PythonNames, equation: Equal, condition: Conditions,
             priority: str = "high") -> None:
        left, right = equation.left, equation.right
        unit = self.known.unit(left) or self.known.unit(right)
        unit = {"degC": "K", "degF": "K"}.get(unit_here(unit), unit)  # of a difference
        is_zero = isinstance(right, Number) and right.value == 0
        name = names.make(f"{left.name}_start" if isinstance(left, Name) else "start")
        self._zero.append(_Start(name, unit, left if is_zero else Binary("-", left, right),
                                 condition, priority))

    def declarations(self) -> Iterator[str]:
        for start in self._zero:
            about = self.known.when(Declared(start.name, Number(0, "0"), condition=start.condition))
            yield (f'{start.name} = Variable("{start.unit}", "{f"0 {start.unit}".strip()}", '
                   f'priority="{start.priority}"{about}, doc="zero at the start")')

    def equations(self) -> Iterator[str]:
        for start in self._zero:
            yield from self.known.guarded(
                f"yield self.{start.name} == {self.known.text(start.difference)}", start.condition)
        for name, value, condition in self._held:
            yield from self.known.guarded(
                f"yield initially({{self.{name}: {self.known.text(value)}}})", condition)
