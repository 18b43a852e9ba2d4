"""What does a variable mean, which sign has it, and what did it do?

The conventions are those of the language: a through variable of a port counts
positive into its component, one of a two-port positive from R to C, and an
across variable of a two-port is R minus C.
"""

from __future__ import annotations

import re
from collections.abc import Mapping

import numpy as np

from ..units import in_unit
from .formatting import SECOND, label, measured, number, pretty
from .recording import VariableInfo
from .sheet import Sheet
from .values.extremes import largest
from .values.modes import history, in_words, shares
from .values.samples import Samples

__all__ = ["explain", "facts"]

_CARRIED = re.compile(r"\bfrom (\w+) to (\w+)\b")
_MINUS = re.compile(r"\b(?:(\w+) of )?(\w+) minus (?:\w+ of )?(\w+)\b")
_CONSTANT = {"parameter": "It is a parameter, constant during a run.",
             "discrete": "It is held between events and changes only at them.",
             "input": "It is an input signal: its value is that of the output connected to it.",
             "output": "It is an output signal, to be connected to any number of inputs."}


def explain(series: Samples) -> str:
    """A few sentences on meaning, sign, unit, range over the run and last value."""
    info = series.infos[0]
    sentences = [_meaning(series)]
    if series.is_array:
        sentences.append(f"There are {len(series.infos):,} instances, {series.infos[0].path} to "
                         f"{series.infos[-1].path}.")  # fmt: skip
    sentences += [s for s in (_sign(info), _CONSTANT.get(info.kind, "")) if s]
    sentences.append(_history(series))
    return " ".join(sentences)


def facts(series: Samples) -> Sheet:
    """Kind, meaning, samples and range of a series as a small table."""
    times, words = series.rows.source.times, series.infos[0].words
    rows: list[tuple[str, str]] = [("kind", series.kind)]
    if series.doc:
        rows.append(("meaning", series.doc))
    if len(times) and len(series.infos):
        rows.append(("samples", f"{len(times)} from {number(times[0], SECOND)} to "
                                f"{number(times[-1], SECOND)}"))  # fmt: skip
        rows += _range(series) if words is None else _modes(series, words)
        if words is not None:
            return Sheet.of_facts(series.path, rows)
    many = f" × {len(series.infos)}" if series.is_array else ""
    return Sheet.of_facts(label(series.path, series.declared_unit) + many, rows)


def _modes(series: Samples, words: Mapping[int, str]) -> list[tuple[str, str]]:
    """Shares of the modes, and the first and the last."""
    rows = [(word, f"{100 * share:.4g} % of the time") for word, share in shares(series)]
    if not series.is_array:
        rows += [("initial", in_words(series.si[0], words)),
                 ("final", in_words(series.si[-1], words))]
    return rows


def _range(series: Samples) -> list[tuple[str, str]]:
    """First, last, smallest and largest value; of an array the range of each."""
    rows, unit = series.rows, series.declared_unit
    values = {word: in_unit(si, unit) for word, si in {
        "initial": rows.sample(0), "final": rows.sample(-1), "min": -largest(rows, -1)[0],
        "max": largest(rows)[0]}.items()}
    scale = max(np.max(np.abs(values[w])) for w in ("min", "max"))
    found = []
    for word, value in values.items():
        low, high = np.min(value), np.max(value)
        text = number(high, unit, scale=scale)
        found.append((word, f"{number(low, scale=scale)} … {text}" if low < high else text))
    return found


def _meaning(series: Samples) -> str:
    info = series.infos[0]
    doc = info.doc.strip().rstrip(".")
    if not doc:
        doc = {"across": f"the across variable at port {_port(info)}",
               "through": f"the flow into {info.component} at port {_port(info)}"}.get(
                   info.kind, f"a variable of {info.component or 'the model'}")  # fmt: skip
    elif not re.match(r"(?i)(the|a|an|whether|how)\b", doc):
        doc = f"the {_lower(_named_quantity(doc, info.name, series))}"
    else:
        doc = _lower(doc)
    if info.words is not None:
        codes = ", ".join(f"{code} for {word}" for code, word in info.words.items())
        return f"{series.path} says {doc}: {codes}."
    measure = f"in {pretty(info.unit)}" if info.unit.text else "a number without unit"
    return f"{series.path} is {doc}, {measure}."


def _named_quantity(doc: str, name: str, series: Samples) -> str:
    """``"f carried from R to C"`` reads better with what f is."""
    if re.match(rf"{re.escape(name)}\b", doc) and series.declared_unit.text:
        word, _ = measured(name, series.declared_unit)
        if word and _CARRIED.search(doc):
            return word + doc[len(name):]
        if word and _MINUS.search(doc):
            minus = _MINUS.search(doc)
            return f"{word} of {minus[2]} minus that of {minus[3]}"  # type: ignore[index]
    return doc


def _lower(text: str) -> str:
    return text[0].lower() + text[1:] if text[1:2].islower() or text[1:2] == " " else text


def _port(info: VariableInfo) -> str:
    return f"{info.component}.{info.name.rsplit('.', 1)[0]}"


def _sign(info: VariableInfo) -> str:
    carried, minus = _CARRIED.search(info.doc), _MINUS.search(info.doc)
    if carried:
        a, b = carried.groups()
        return f"It is positive when it goes from {a} to {b}, negative from {b} to {a}."
    if minus:
        _, a, b = minus.groups()
        return f"It is positive when {a} is ahead of {b}." if info.unit.text == "m" else (
            f"It is positive when the value at {a} is greater than the one at {b}.")  # fmt: skip
    if info.kind == "through":
        return (f"It is positive when it flows through port {_port(info)} into "
                f"{info.component}; over all ports joined there it sums to zero.")  # fmt: skip
    if info.kind == "across":
        return "All ports joined to this one have the same value, counted from the reference."
    return ""


def _history(series: Samples) -> str:
    if not len(series.rows.times):
        return "The run ended before its first sample."
    if series.infos[0].words is not None:
        return history(series)
    u, (times, curve) = series.declared_unit, series.rows.curve()
    span = f"from {number(times[0], SECOND)} to {number(times[-1], SECOND)}"
    extremes = []  # value, instant, which instance
    for sign in (-1, 1):
        found, when = largest(series.rows, sign)
        k = int(found.argmax())
        extremes.append((float(in_unit(sign * found[k], u)), when[k], series.infos[k]))
    low, high = (value for value, _, _ in extremes)
    if low == high:
        return f"Over the run, {span}, it is {number(low, u)} throughout."
    scale = max(abs(low), abs(high))
    below, above = (f"{number(value, u, scale=scale)} (at {number(at, SECOND)}"
                    f"{f' in {info.path}' * series.is_array})" for value, at, info in extremes)
    text = f"Over the run, {span}, it lies between {below} and {above}"
    last = np.asarray(in_unit(curve[:, -1], u))
    if not series.is_array:
        return f"{text} and ends at {number(last[0], u, scale=scale)}."
    return f"{text} and ends between {number(last.min(), u)} and {number(last.max(), u)}."
