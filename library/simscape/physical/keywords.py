"""What are the keywords of the component that a physical block becomes?"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

import blocks
from blocks import Component, Input, Option, Output, Parameter, Port, Variable, declarations
from blocks.exceptions import BlocksError

from ..file.diagram import Block, Value
from ..matlab.syntax import NotUnderstood
from ..simulink.block_parameters import WritesValues
from ..tables import rows_of
from ..write.plan import Scope, Written
from .mapping import AS_HERE, MINUS, WITHOUT, Counterpart, is_word, keyword_of, word_of, words_of

__all__ = ["SETTINGS", "Keywords", "is_off", "keywords_of", "port_kind", "said_of_what_is_off",
           "signal_unit"]  # fmt: skip

# words of enumerations that say the same, in all generations of files
_ON = {"1", "true", "on", "yes", "enabled", "enable", "include"}
_OFF = {"0", "false", "off", "no", "disabled", "disable", "none", "exclude"}
_SAME = (_ON, _OFF, {"1", "positive", "same", "same direction", "forward"},
         {"-1", "negative", "opposite", "reverse", "reversed", "opposite direction"})
# rules of the table of counterparts, and whether a number that is not known follows them
_RULES: tuple[tuple[str, Callable[[Any], Any], bool], ...] = (
    ("> 0", lambda x: x > 0, True), ("zero", lambda x: np.asarray(x) == 0, False),
    ("finite", np.isfinite, True))
SETTINGS = {"num_ports", "ZeroCross"}


@dataclass
class Keywords:
    """Texts by keyword, the values they stand for, and what is to be said of them."""

    texts: dict[str, str] = field(default_factory=dict)
    values: dict[str, Any] = field(default_factory=dict)
    notes: list[str] = field(default_factory=list)
    defaults: list[str] = field(default_factory=list)  # not in the file: the default here holds
    lost: list[str] = field(default_factory=list)  # values that could not be read
    told: list[str] = field(default_factory=list)  # notes that the text tells as well
    unknown: list[str] = field(default_factory=list)  # choices that the table does not know
    chosen: set[str] = field(default_factory=set)  # what the table of counterparts knows
    silent: set[str] = field(default_factory=set)  # what says nothing with that
    negative: set[str] = field(default_factory=set)  # what counts negatively with that

    def instance(self, component: type[Component]) -> Component | None:
        """A component with these values, where they are known and fit."""
        try:
            return component(**{k: v for k, v in self.values.items() if v is not None})
        except BlocksError as error:
            self.notes.append(f"{error.problem}")
            return None

    def option(self, keyword: str, value: Any, option: Any) -> None:
        if value != option.default:
            self.texts[keyword] = repr(value).replace("'", '"')
            self.values[keyword] = value

    def lacks(self, name: str, value: Value) -> None:
        """Note that a value of the file has no counterpart."""
        said = f"{name} = {value.text} {'' if value.unit == '1' else value.unit}".rstrip()
        self.notes.append(f"{said} has no counterpart here.")
        self.told += self.notes[-1:] * is_word(value)


def keywords_of(block: Block, counterpart: Counterpart, texts: WritesValues, scope: Scope,
                where: str) -> Keywords:
    """The keywords of a block's counterpart."""
    component = counterpart.component
    assert component is not None
    found = Keywords()

    def number(value: Value) -> Any:
        try:
            return texts.of(value.text, scope, where).value
        except NotUnderstood:
            return None

    _choose(block, counterpart, declarations(component), found, number)
    _fit_ports(block, counterpart, found)
    chosen = found.instance(component) or component()
    # with the parameters of the laws that were chosen
    declared = declarations(chosen)
    given: set[str] = set()
    for name, value in block.values.items():
        if name in found.silent:
            continue
        keywords, note = keyword_of(counterpart, name)
        keyword, *others = keywords.split() or [""]
        mine = declared.get(keyword)
        if mine is None or isinstance(mine, Option):
            if value.specify is False or name in SETTINGS or name in found.chosen:
                continue
            if note:
                found.notes.append(f"{name}: {note}")
            elif not keyword and not is_off(value):
                found.lacks(name, value)
            continue
        if not mine.exists(chosen) or value.specify is False:
            continue
        if name in found.negative:
            value = replace(value, text=f"-({value.text})")
        given |= {keyword, *others}
        try:
            for each in (keyword, *others):
                _take(each, declared[each], value, found,
                      texts.of(value.text, scope, f"{where}.{name}", value.unit))
        except NotUnderstood as error:
            found.lost.append(f"{where}.{name} = {value.text} {value.unit}: {error.problem} "
                              "The default here holds.")
    for word, keyword in words_of(counterpart):
        mine = declared.get(keyword)
        if isinstance(mine, Parameter) and mine.exists(chosen) and word not in block.values \
                and keyword not in {*given, *found.defaults}:
            found.defaults.append(keyword)
    return found


def _choose(block: Block, counterpart: Counterpart, declared: Mapping[str, Any],
            found: Keywords, number: Callable[[Value], Any]) -> None:
    """Options first: which parameters there are depends on them."""
    found.silent |= {name for name in said_of_what_is_off(block)
                     if not keyword_of(counterpart, name)[0]}
    for name in {**counterpart.choices, **block.values}:
        keyword, _ = keyword_of(counterpart, name)
        option = declared.get(keyword)
        choices, value = counterpart.choices.get(name, {}), block.values.get(name)
        here: Any = _said_here(choices, value, number)
        why = ""
        if here is None and value is not None and isinstance(option, Option):
            here = _same_word(option, value)
            why = f"{keyword} may be {', '.join(map(repr, option.choices or (True, False)))}."
        elif here is None and value is not None and choices and is_word(value):
            found.chosen.add(name)
            why = "put other components in its place."
            if word_of(value) in _ON:
                found.lacks(name, replace(value, unit="1"))
                continue
        if here is None:
            if why and value is not None:
                found.unknown.append(f"{name} = {value.text}: this choice is not known here; {why}")
            continue
        found.chosen.add(name)
        if isinstance(here, str):
            here, _, silent = here.partition(WITHOUT)
            here, found.silent = here.strip(), found.silent | {*silent.split()}
        if here in ("", AS_HERE):
            continue
        if str(here).startswith(MINUS):
            found.negative.add(str(here).removeprefix(MINUS))
            continue
        other, sign, wanted = str(here).partition("=")  # one parameter may choose another option
        if sign:
            keyword, here = other, True if wanted == "True" else wanted
        option = declared.get(keyword)
        if isinstance(option, Option):
            same = (c for c in option.choices or () if str(c) == here)  # numbers, too
            found.option(keyword, next(same, here), option)


def said_of_what_is_off(block: Block) -> set[str]:
    """Parameters that say something of a feature alone which the block has switched off."""
    return {other for row in rows_of("features.csv") for name in block.values
            if re.fullmatch(row["switch"], name) and is_off(block.values[name])
            for other in block.values if re.fullmatch(row["says"], other)
            and not re.fullmatch(row["switch"], other)}


def is_off(value: Value) -> bool:
    return word_of(value) in _OFF


def _fit_ports(block: Block, counterpart: Counterpart, found: Keywords) -> None:
    """Take the one other choice that gives the ports which the block has, where there is one.

    Which ports a block has is a fact of its file; the choice that shows them may not be in it, and
    one that is holds.
    """
    component = counterpart.component
    assert component is not None
    wanted = {counterpart.port(written) for written in block.ports.values()}
    if not wanted or _fits(component, found.values, wanted):
        return
    told = {keyword_of(counterpart, name)[0] for name in block.values}
    for keyword, option in declarations(component).items():
        if keyword in told:
            continue
        for value in option.choices or (True, False) if isinstance(option, Option) else ():
            if _fits(component, {**found.values, keyword: value}, wanted):
                found.texts.pop(keyword, None)
                found.values.pop(keyword, None)
                found.option(keyword, value, option)
                return


def _fits(component: type[Component], values: Mapping[str, Any], wanted: set[str]) -> bool:
    """Whether a component has these ports, and no other one that must be connected."""
    try:
        made = component(**values)
    except BlocksError:
        return False
    there = {name: declared for name, declared in declarations(made).items()
             if isinstance(declared, (Port, Input, Output)) and declared.exists(made)}
    return wanted <= there.keys() and all(
        name in wanted for name, declared in there.items() if isinstance(declared, Port))


def _said_here(choices: Mapping[str, str], value: Value | None, number: Callable[[Value], Any]
               ) -> str | None:
    """What the table of counterparts says of a written value, or of one that is absent."""
    if value is None:
        return choices.get("")
    word = word_of(value)
    if word in choices or "*" in choices:
        return choices.get(word, choices.get("*"))
    if choices and not is_word(value):  # a choice may be computed: 3-2*(2)
        known = number(value)
        if isinstance(known, (int, float)) and f"{known:g}" in choices:
            return choices[f"{known:g}"]
    for same in _SAME if choices else ():
        if word in same and (known := next((c for c in choices if c in same), None)) is not None:
            return choices[known]
    for rule, holds, unknown in _RULES:
        if rule in choices:
            known = number(value)
            if unknown if known is None else np.all(holds(known)):
                return choices[rule]
    return None


def _same_word(option: Any, value: Value) -> Any:
    if isinstance(option.default, bool):
        return {**dict.fromkeys(_ON, True), **dict.fromkeys(_OFF, False)}.get(word_of(value))
    wanted = {word_of(value), word_of(value).replace("_", " ")}
    wanted |= next((same for same in _SAME[2:] if wanted & same), set())
    return next((c for c in option.choices or () if str(c).lower() in wanted), None)


def _take(keyword: str, mine: Any, value: Value, found: Keywords, written: Written) -> None:
    """A parameter, or the target of a variable."""
    default: Any = getattr(mine, "initial" if isinstance(mine, Variable) else "default", None)
    if isinstance(mine, Parameter) and np.ndim(mine.default) and np.ndim(written.value) == 0 \
            and written.value is not None:
        written.python, written.literal = f"[{written.python}]", False
        written.value = np.atleast_1d(written.value)
    if written.literal and written.value == 0 and np.ndim(default) == 0 and default == 0 \
            and value.priority in ("", "High"):
        return  # as it is here without being said
    text = written.argument
    number = None if written.value is None else blocks.quantity(
        np.ravel(written.value) if 1 in np.shape(written.value) else written.value,
        written.unit or None)
    if isinstance(mine, Variable) and value.priority in ("Low", "None") and value.specify:
        text, number = f'Target({text}, priority="{value.priority.lower()}")', None
    found.texts[keyword], found.values[keyword] = text, number


def port_kind(instance: Component | type[Component], port: str) -> tuple[str, str]:
    """``"input"`` or ``"output"`` and the unit of a signal port; of others the domain.

    An input that takes plain numbers has the unit 1.
    """
    declared = declarations(instance).get(port)
    if isinstance(declared, Port):
        return declared.domain.name, ""
    kind, unit = signal_unit(instance, port)
    plain = isinstance(declared, Input) and not declared.open and not unit
    return kind, "1" if plain else unit


def signal_unit(instance: Component | type[Component], port: str) -> tuple[str, str]:
    """``"input"`` or ``"output"`` and the unit of a signal port; nothing for other ports."""
    declared = declarations(instance).get(port)
    if isinstance(declared, (Input, Output)):
        kind = "input" if isinstance(declared, Input) else "output"
        return kind, "" if declared.open else declared.unit.text
    return "", ""
