"""What are the expressions of a component source in Python?"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from functools import partial, reduce
from pathlib import Path
from typing import get_args

from blocks import quantity

from ..matlab import syntax as ml
from ..matlab.python_text import SIGNS, STRENGTH, PythonNames, number_text, python_of
from ..matlab.syntax import NotUnderstood, Tree, dotted, subtrees
from ..physical.units import unit_here
from .declarations import chosen
from .files import enumeration_beside
from .source import SIZE, Conditions, Declared, Event, Source, fields, given_by_name, pair

__all__ = ["FUNCTIONS", "SourceContext", "imported_as", "linear", "number_of"]

FUNCTIONS = {
    "sqrt": "sqrt", "abs": "abs_", "exp": "exp", "log": "log", "sin": "sin", "cos": "cos",
    "tan": "tan", "asin": "arcsin", "acos": "arccos", "atan": "arctan", "atan2": "arctan2",
    "sinh": "sinh", "cosh": "cosh", "tanh": "tanh", "max": "maximum", "min": "minimum",
    "sign": "sign", "mod": "mod", "floor": "floor",
}  # fmt: skip
_OF_TWO = ("atan2", "max", "min", "mod")
_STRENGTH = {**STRENGTH, "|": 1, "&": 2}
_SIGNS = {**SIGNS, "||": "|", "&&": "&", "~=": "~="}
_WORDS = {"||": "or", "|": "or", "&&": "and", "&": "and", "~=": "!="}  # of values
_LOGIC = ("&&", "||", "&", "|")
_CONSTANTS = {"true": True, "false": False}
_AFFINE = {"affine": True, "absolute": True, "linear": False, "relative": False}
_TABLES = {"interpolation": {"linear": "", "smooth": ", smooth=True"},
           "extrapolation": {"linear": "", "nearest": ", hold=True", "error":
                             ', stop="a table ends here: give it more points."'}}  # fmt: skip
_TREES = get_args(Tree)
_HIDDEN = {"access=private", "externalaccess=none"}
_ENUMERATIONS = {"simscape.enum.onoff": ["off", "on"]}


@dataclass
class SourceContext:
    """A source, what its names are, and what was found while it was written."""

    source: Source
    path: Path
    homes: dict[str, set[str]] = field(default_factory=dict)  # imports by module
    own_domains: dict[str, Source] = field(default_factory=dict)
    units: dict[str, str] = field(default_factory=dict)  # of declared names
    locals: dict[str, Tree] = field(default_factory=dict)  # names that stand for expressions
    # parameters that choose equations: enumerations with their words, switches with True or False
    options: dict[str, list[str] | bool] = field(default_factory=dict)
    # members and their numbers, where the enumeration is beside the source
    numbered: dict[str, dict[str, int]] = field(default_factory=dict)
    # what is not in the class: ``check()`` warns of it
    remarks: list[str] = field(default_factory=list)
    members: set[str] = field(default_factory=set)
    gaps: set[str] = field(default_factory=set)  # ports and parts that are left out
    notes: list[str] = field(default_factory=list)  # what else is to be known of the class
    class_name: str = ""
    called: dict[str, str] = field(default_factory=dict)  # names of the source that are others here
    # names of the module that nothing imported may have
    taken: set[str] = field(default_factory=set)
    numbers: bool = False  # whether expressions are of values, in ``compose()``, not of symbols
    # variables that integrals are in: unit and rate
    integrals: dict[str, tuple[str, str]] = field(default_factory=dict)
    # of each ``when`` with several cases: the name of the instant at which one acted last
    instants: dict[str, str] = field(default_factory=dict)
    # names of the points of tables, which have to increase
    axes: dict[str, None] = field(default_factory=dict)
    lengths: dict[str, int] = field(default_factory=dict)  # how many entries parameters must have
    # parameters and their numbers that say how many parts, ports or values there are
    held: dict[str, float] = field(default_factory=dict)
    # names of the entries of ports that are arrays
    ports: dict[str, tuple[str, ...]] = field(default_factory=dict)
    # what parts are of, by path, whose source is beside it
    parts: dict[str, SourceContext] = field(default_factory=dict)
    place: str = ""  # of what is being written, for messages

    def __post_init__(self) -> None:
        self._know_names()
        self.numbers = bool(self.members)

    def imported(self, module: str, name: str) -> str:
        """A name of a module as it is called here."""
        self.homes.setdefault(module, set()).add(name)
        return imported_as(name, self.taken)

    def wrong(self, what: str, advice: str = "") -> NotUnderstood:
        return NotUnderstood(self.place or self.source.name, what, advice)

    def of(self, section: str) -> list[Declared]:
        return self.source.sections.get(section, [])

    def _know_names(self) -> None:
        for declared in self.of("parameters"):
            if isinstance(declared.value, ml.Field):
                self.place = declared.place
                self.options[declared.name] = self._words(declared.name, declared.value)
            elif isinstance(declared.value, ml.Name) and declared.value.name in _CONSTANTS:
                self.options[declared.name] = _CONSTANTS[declared.value.name]
        self._know_units("inputs", "outputs", "parameters")
        for section in ("parameters", "intermediates"):
            for name in dict.fromkeys(d.name for d in self.of(section)):
                if name not in self.options:
                    self._know_computed(name, [d for d in self.of(section) if d.name == name],
                                        section == "parameters")
        self.in_order(self.locals)  # refuses those that follow from themselves
        self._know_units("variables")
        self.members = {d.name for d in self.of("components")}
        self.place = ""

    def _know_units(self, *sections: str) -> None:
        for section in sections:
            for declared in self.of(section):
                self.place = declared.place
                value = fields(declared.value).get("value", declared.value)
                found = pair(value)
                self.units[declared.name] = self._unit_here(found[1]) if found else self.unit(value)

    def _know_computed(self, name: str, rows: list[Declared], given: bool) -> None:
        """A name that follows from others, or from the conditions of its declarations."""
        if given and len(rows) == 1 and ml.is_constant(rows[0].value):
            return
        self.locals[name] = chosen([(declared.condition, declared.value) for declared in rows])
        if given and any(not _HIDDEN & {each.lower() for each in row.attributes} for row in rows):
            self.notes.append(f"{name} follows from other parameters and cannot be given.")

    def place_of(self, name: str) -> str:
        """Where a computed name is declared, if not where the writing is."""
        return next((declared.place for section in ("parameters", "intermediates")
                     for declared in self.of(section) if declared.name == name), self.place)

    def _words(self, name: str, default: ml.Field) -> list[str]:
        """What an enumeration parameter may be, its default first."""
        members = enumeration_beside(dotted(default.of), self.path)
        if members is not None:
            self.numbered[name] = members
            return list(dict.fromkeys([self._member(name, default), *members]))
        compared = [other.name for tree in subtrees(self.source) if isinstance(tree, ml.Binary)
                    and tree.sign in ("==", "~=")
                    for one, other in ((tree.left, tree.right), (tree.right, tree.left))
                    if one == ml.Name(name) and isinstance(other, ml.Field)]
        words = [default.name, *compared, *_ENUMERATIONS.get(dotted(default.of), [])]
        if {*compared}.issuperset(words):
            words.append("other")
            self.notes.append(f'{name} is "other" where it is none of the words that it is '
                              "compared with there.")
        return list(dict.fromkeys(words))

    def _member(self, name: str, said: ml.Field | ml.Number) -> str:
        """The member of an enumeration that a word or a number says."""
        members = self.numbered.get(name)
        word = said.name if isinstance(said, ml.Field) else next(
            (word for word, number in (members or {}).items() if number == said.value), "")
        if members is not None and word not in members:
            what = said.name if isinstance(said, ml.Field) else f"{said.value:g}"
            raise self.wrong(f"{what} is no member of the enumeration of {name}.",
                             f"It has {', '.join(f'{w} ({n})' for w, n in members.items())}.")
        return word

    # -- structure ---------------------------------------------------------------------
    def is_structure(self, condition: Tree) -> bool:
        """Whether a condition is on options only: it chooses equations, not values."""
        if isinstance(condition, ml.Name):
            return isinstance(self.options.get(condition.name), bool)
        if isinstance(condition, ml.Unary):
            return condition.sign == "~" and self.is_structure(condition.of)
        return isinstance(condition, ml.Binary) and (
            self.is_structure(condition.left) and self.is_structure(condition.right)
            if condition.sign in _LOGIC else self._compared(condition) is not None)

    def _compared(self, tree: ml.Binary) -> tuple[str, str | bool] | None:
        """An option and what it is compared with."""
        for one, other in ((tree.left, tree.right), (tree.right, tree.left)):
            if tree.sign in ("==", "~=") and isinstance(one, ml.Name) and one.name in self.options:
                if isinstance(other, ml.Field) or isinstance(other, ml.Number) and \
                        one.name in self.numbered:
                    return one.name, self._member(one.name, other)
                if isinstance(other, ml.Name) and other.name in _CONSTANTS:
                    return one.name, _CONSTANTS[other.name]
        return None

    def under(self, conditions: Conditions) -> str:
        """When something exists; empty if it always does.

        NotUnderstood is raised for a condition on values, except among parts, where these are
        numbers.
        """
        if not self.numbers:
            self._refuse_values(conditions)
        every = [one if holds else ml.Unary("~", one) for one, holds in conditions]
        return self.text(reduce(partial(ml.Binary, "&&"), every)) if every else ""

    def guarded(self, line: str, conditions: Conditions) -> list[str]:
        words = self.under(conditions)
        return [f"if {words}:", f"    {line}"] if words else [line]

    def _refuse_values(self, condition: Conditions) -> None:
        if not all(self.is_structure(tree) for tree, _ in condition):
            raise self.wrong("values choose which sections there are.",
                             "Let an enumeration choose them.")

    def when(self, declared: Declared) -> str:
        """The keyword that makes a declaration exist under its conditions."""
        self._refuse_values(() if declared in self.of("parameters") else declared.condition)
        words = self.under(tuple(c for c in declared.condition if self.is_structure(c[0])))
        return f", when=lambda c: {words.replace('self.', 'c.')}" if words else ""

    def in_order(self, trees: Mapping[str, Tree]) -> list[str]:
        """Names of expressions, each after those that stand in its own.

        NotUnderstood is raised for a name that follows from itself.
        """
        def circle(name: str) -> None:
            self.place = self.place_of(name)
            raise self.wrong(f"{name} follows from itself.")

        return ml.in_order(trees, circle)

    # -- values ------------------------------------------------------------------------
    def quantity(self, value: Tree, unit: str) -> str:
        """A value with its unit, as a declaration or a part takes it."""
        here = self._unit_here(unit)
        try:
            number = number_of(value)
        except NotUnderstood:
            return self._measured(value, unit)[0]
        return f'"{number} {here}"' if here else number

    def _unit_here(self, unit: str) -> str:
        return unit_here(unit, self.place or self.source.name)

    def _measured(self, value: Tree, unit: str) -> tuple[str, int]:
        """A value with its unit in an expression, and how strongly it binds."""
        here = self._unit_here(unit)
        if not here:
            return self._strong(value)
        if ml.is_constant(value):
            return f'quantity({self.text(value)}, "{here}")', 11
        text, strength = self._strong(value)
        text = f'{text if strength >= 7 else f"({text})"} * quantity(1, "{linear(here)}")'
        return (f'{text} + quantity(0, "{here}")', 6) if linear(here) != here else (text, 7)

    def unit(self, tree: Tree) -> str:
        """The unit of an expression, as far as it is told by declarations."""
        if isinstance(tree, ml.Name):
            return self.unit(self.locals[tree.name]) if tree.name in self.locals else \
                self.units.get(tree.name, "")
        if isinstance(tree, ml.Field) and tree.name == "der":
            rate = quantity(1.0, linear(self.unit(tree.of))) / quantity(1.0, "s")
            return f"{rate.units:~C}"
        if isinstance(tree, ml.Binary) and tree.sign in ("*", ".*", "/", "./"):
            a, b = (quantity(1.0, linear(self.unit(t))) for t in (tree.left, tree.right))
            made = a * b if "*" in tree.sign else a / b
            return "" if made.unitless else f"{made.units:~C}"
        if isinstance(tree, (ml.Binary, ml.Unary)):
            return self.unit(tree.left if isinstance(tree, ml.Binary) else tree.of)
        found = pair(tree)
        return unit_here(found[1]) if found is not None else ""

    # -- expressions -------------------------------------------------------------------
    def text(self, tree: Tree) -> str:
        text, strength = self._strong(tree)
        return f"({text})" if strength == 0 else text

    def _strong(self, tree: Tree) -> tuple[str, int]:
        """Text, and how strongly it binds."""
        found = pair(tree)
        if found is not None:
            return self._measured(*found)
        if isinstance(tree, ml.Name):
            return self._name(tree.name), 11
        if isinstance(tree, ml.Field):
            if tree.name == "der":
                return f"der({self.text(tree.of)})", 11
            if self.numbers:
                return self._of_domain(tree)
            return f"{self.text(tree.of)}.{tree.name}", 11
        if isinstance(tree, ml.Unary):
            inner, strength = self._strong(tree.of)
            if tree.sign == "~" and self._of_values(tree):
                return f"not {inner if strength >= 3 else f'({inner})'}", 3
            return f"{tree.sign}{inner if strength >= 8 else f'({inner})'}", 8
        if isinstance(tree, ml.Binary) and tree.sign in _STRENGTH:
            return self._binary(tree)
        if isinstance(tree, ml.Apply) and tree.of == ml.Name("if"):
            return self._conditional(*tree.arguments)
        if isinstance(tree, ml.Apply):
            return self._applied(tree), 11
        if isinstance(tree, ml.Transposed):
            return self._strong(tree.of)
        if isinstance(tree, ml.Matrix) and len(tree.rows) == 1 and len(tree.rows[0]) == 1:
            return self._strong(tree.rows[0][0])
        if ml.names_in(tree) & {*self.units, *self.locals}:
            raise self.wrong("an array of values that follow from others is not read.",
                             "Give it as a parameter.")
        return python_of(tree, self._name), 11

    def _of_domain(self, tree: ml.Field) -> tuple[str, int]:
        """A parameter of the domain of a port: its default, as parts know no circuit."""
        node = next((d for d in self.of("nodes") if tree.of == ml.Name(d.name)), None)
        path = "" if node is None else dotted(node.value)
        found = self.own_domains.get(path.rpartition(".")[2])
        value = None if found is None else next(
            (d.value for d in found.sections.get("parameters", ()) if d.name == tree.name), None)
        if value is None:
            raise self.wrong(f"{dotted(tree) or 'a part of a value'} has no value that parts can "
                             "be given here.", "Give it as a parameter.")
        self.remarks.append(f"Its parts take {dotted(tree)} as the domain {found.name} has it by "
                            "default, whatever the circuit says." if found else "")
        return self._measured(*(pair(value) or (value, "1")))

    def is_array(self, tree: Tree) -> bool:
        """Whether an expression is of several numbers, as far as declarations tell."""
        if isinstance(tree, ml.Name):
            given = [self.locals[tree.name]] if tree.name in self.locals else \
                [d.value for d in self.of("parameters") if d.name == tree.name]
            return any(map(self.is_array, given))
        if isinstance(tree, ml.Matrix):
            return len(tree.rows) > 1 or any(len(row) > 1 for row in tree.rows)
        if isinstance(tree, ml.Apply):
            return isinstance(tree.of, ml.Name) and tree.of.name in {
                *FUNCTIONS, "log10", "value", "if"} and any(map(self.is_array, tree.arguments))
        if (found := pair(tree)) is not None:
            return self.is_array(found[0])
        return isinstance(tree, ml.Range) or any(
            self.is_array(of) for of in vars(tree).values() if isinstance(of, _TREES))

    def refuse_arrays(self, *trees: Tree) -> None:
        if any(self.is_array(tree) for tree in trees):
            raise self.wrong("equations and conditions of arrays are not read.",
                             "Write one for each entry, as x(1).")

    def _name(self, name: str) -> str:
        if name in ("pi", "inf"):
            return name if name in self.locals else f"np.{name}"
        if name in _CONSTANTS and name not in self.locals:
            return str(_CONSTANTS[name])
        return name if name in self.locals or name == "time" else f"self.{name}"

    def _of_values(self, condition: Tree) -> bool:
        """Whether a condition is true or false in Python, not a relation of symbols."""
        return self.numbers or self.is_structure(condition)

    def _binary(self, tree: ml.Binary) -> tuple[str, int]:
        compared = self._compared(tree)
        if compared is not None:
            option, value = compared
            if isinstance(value, bool):
                holds = value == (tree.sign == "==")
                return (f"self.{option}", 11) if holds else (f"not self.{option}", 3)
            return f'self.{option} {_WORDS.get(tree.sign, "==")} "{value}"', 5
        own, of_values = _STRENGTH[tree.sign], self._of_values(tree)
        left, right = self.is_array(tree.left), self.is_array(tree.right)
        if own <= 5:
            self.refuse_arrays(tree.left, tree.right)
        if {"*": left and right, "/": right, "^": left or right}.get(tree.sign, False):
            raise self.wrong("products of matrices are not read.", f"Those of entries are written "
                             f".{tree.sign}")
        parts = []
        for side, of in enumerate((tree.left, tree.right)):
            text, strength = self._strong(of)
            if isinstance(of, ml.Matrix) and text.startswith("["):
                text = f"np.array({text})"
            weak = strength < own or strength == own and (side == 1 or own in (5, 9)) or (
                own <= 2 and strength <= 5 and not of_values)
            parts.append(f"({text})" if weak else text)
        sign = _SIGNS.get(tree.sign, tree.sign)
        if of_values:
            sign = _WORDS.get(tree.sign, sign)
        elif sign in ("==", "~="):  # relations of symbols are no identities
            less, both, more, strength = ("<=", "&", ">=", 2) if sign == "==" else (
                "<", "|", ">", 1)
            return f"({f' {less} '.join(parts)}) {both} ({f' {more} '.join(parts)})", strength
        return (sign if sign == "**" else f" {sign} ").join(parts), own

    def _conditional(self, condition: Tree, value: Tree, *otherwise: Tree) -> tuple[str, int]:
        """One of several values; none where the last condition has no other case."""
        if self._of_values(condition):
            other = self._strong(otherwise[0])[0] if otherwise else "None"
            return f"{self.text(value)} if {self.text(condition)} else {other}", 0
        if not otherwise:  # asked for under its condition only
            return self._strong(value)
        given = ", ".join(self.text(tree) for tree in (condition, value, *otherwise))
        return f"where({given}{', events=False' if _of_equality(condition) else ''})", 11

    def _applied(self, tree: ml.Apply) -> str:
        name = tree.of.name if isinstance(tree.of, ml.Name) else ""
        named = given_by_name(tree.arguments)
        plain = [a for a in tree.arguments if not (isinstance(a, ml.Binary) and a.sign == "=")]
        given = [self.text(a) for a in plain]
        if name in {*FUNCTIONS, "log10"}:
            if len(given) != 1 + (name in _OF_TWO):
                raise self.wrong(f"{name}(…) of {len(given)} values is not known here.")
            if self.numbers:
                return f"np.{FUNCTIONS.get(name, name).rstrip('_')}({', '.join(given)})"
            return f"(log({given[0]}) / {2.302585092994046})" if name == "log10" else \
                f"{FUNCTIONS[name]}({', '.join(given)})"
        if name == "value":
            return self._value(plain)
        if name == "tablelookup" and len(plain) in (3, 5, 7, 9) and not self.numbers:
            return self._table(plain, given, named)
        if name in ("int32", "double"):
            return given[0]
        if name in ("der", SIZE):
            return f"{name}({given[0]})"
        if name in ("delay", "integ") and not self.numbers and len(given) in (1, 2):
            return self._past(name, plain[0], given, named)
        if isinstance(tree.of, ml.Name) and self.is_array(tree.of):
            return f"{self._name(name)}[{self._place_in(name, plain)}]"
        raise self.wrong(f"{name or 'a call'}(…) is not known here.",
                         "Write out what it gives, or give that as a parameter.")

    def _past(self, name: str, of: Tree, given: list[str], named: dict[str, Tree]) -> str:
        """``delay(u, tau, History = u0)``, ``integ(u)`` and ``integ(u, tau)``."""
        before = named.pop("History", None)
        named.pop("MaximumDelay", None)  # a delay is a parameter here, and never longer
        if named or name == "integ" and before is not None or name == "delay" and len(given) < 2:
            raise self.wrong(f"{name}(…) is not known here with these arguments.")
        if name == "delay":
            history = f", initial={self.text(before)}" if before is not None else ""
            return f"delayed({', '.join(given)}{history})"
        rate = quantity(1.0, linear(self.unit(of))) * quantity(1.0, "s")
        here = self._free_name("integral")
        self.integrals[here] = f"{rate.units:~C}", given[0]
        window = f" - delayed(self.{here}, {given[1]})" if len(given) == 2 else ""
        return f"(self.{here}{window})" if window else f"self.{here}"

    def _free_name(self, wanted: str) -> str:
        return PythonNames({*self.source.names, *self.locals, *self.integrals,
                            *self.instants.values()}).make(wanted)

    def last_of(self, event: Event) -> str:
        """The name of the instant at which a case of a ``when`` acted last, if it has several."""
        if sum(other.of == event.of for other in self.source.events) < 2:
            return ""
        return self.instants.setdefault(event.of, self._free_name("acted_last"))

    def _place_in(self, name: str, given: list[Tree]) -> str:
        """The place of an entry, counted from 0."""
        places = [of.value for of in given if isinstance(of, ml.Number)]
        if len(places) != len(given) or any(k < 1 or k % 1 for k in places) or len(places) > 2:
            raise self.wrong(f"an entry of {name} is asked for by one whole number from 1 on.")
        return ", ".join(str(int(k) - 1) for k in places)

    def _table(self, plain: list[Tree], given: list[str], named: dict[str, Tree]) -> str:
        """``tablelookup(x1d, x2d, …, fd, x1, x2, …)``."""
        words = {}
        for keyword, known in _TABLES.items():
            word = dotted(named.pop(keyword, ml.Name("linear"))).rpartition(".")[2]
            if word not in known:
                raise self.wrong(f"the {keyword} of a table is {word or 'computed'}, but "
                                 f"{', '.join(known)} are known here.")
            words[keyword] = known[word]
        if named:
            raise self.wrong(f"a table with {', '.join(named)} is not known here.")
        count = len(plain) // 2
        axes, values, at = given[:count], given[count], given[count + 1:]
        self.axes |= {axis.name: None for axis in plain[:count] if isinstance(axis, ml.Name)}
        name, table = ("interpolate", f"{at[0]}, {axes[0]}") if count == 1 else \
            ("interpolate_grid", f"[{', '.join(at)}], [{', '.join(axes)}]")
        return f"{name}({table}, {values}{''.join(words.values())})"

    def _value(self, given: list[Tree]) -> str:
        """``value(a, 'unit', 'type')``: what number it is in the unit."""
        of, *words = given
        unit, kind = (t.value if isinstance(t, ml.Text) else ""
                      for t in (*words, ml.Text("affine"))[:2])
        if kind not in _AFFINE or len(words) > 2 or not all(isinstance(w, ml.Text) for w in words):
            raise self.wrong("value(…) is read with a unit and 'affine' or 'linear'.")
        here = self._unit_here(unit)
        zero = here if _AFFINE[kind] else self.unit(of)  # a linear one changes the degree alone
        text, strength = self._strong(of)
        if linear(zero) != zero:
            text, strength = f'{text} - quantity(0, "{zero}")', 6
        text = text if strength >= 7 else f"({text})"
        return f'({text} / quantity(1, "{linear(here)}"))' if here else f"({text})"


def imported_as(name: str, taken: Collection[str]) -> str:
    """What a name of the library is called beside one that is the same."""
    if name not in taken:
        return name
    return f"Library{name}" if name[0].isupper() else f"library_{name}"


def number_of(tree: Tree) -> str:
    if isinstance(tree, ml.Number):
        return number_text(tree.value, tree.text)
    if isinstance(tree, ml.Unary) and tree.sign == "-":
        return f"-{number_of(tree.of)}"
    raise NotUnderstood("", "a number is missing.")


def _of_equality(condition: Tree) -> bool:
    """Whether a condition asks for equal numbers only.

    What moves passes such a value in no time: no instant is to be located, and the other case,
    as sin(x)/x beside x == 0, is never asked there.
    """
    if isinstance(condition, ml.Unary):
        return _of_equality(condition.of)
    return isinstance(condition, ml.Binary) and (
        _of_equality(condition.left) and _of_equality(condition.right)
        if condition.sign in _LOGIC else condition.sign in ("==", "~="))


def linear(unit: str) -> str:
    """The unit of differences, where a unit has a zero of its own."""
    return f"delta_{unit}" if unit and quantity(0.0, unit).to_base_units().magnitude else unit
