"""In which unit, and how, is a value shown?

Conversions for display, with messages worded for someone who looks at a
result, and the texts of units, numbers and labels.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Iterable, Mapping
from functools import cache
from typing import Any

import numpy as np

from ..exceptions import AngleFrequencyError, UnitError, UnknownUnit, WrongDimension, brief
from ..numerics.tolerances import ROUNDING
from ..reading.headings import heading_parts, with_unit
from ..units import SECOND, Unit, conversion, unit

__all__ = ["RAISED", "SECOND", "from_label", "in_plain_signs", "label", "listed", "measured",
           "number", "output_takes", "pretty", "printable", "time_unit", "unit_to_show"]

RAISED = str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹")
_LOWERED = {ord(sign): digit for sign, digit in zip("⁻⁰¹²³⁴⁵⁶⁷⁸⁹", "-0123456789", strict=True)}
_PLAIN = str.maketrans({"─": "-", "…": "...", "·": "*", "µ": "u", "°": "deg", "Ω": "ohm"})
_MICRO = re.compile(r"\bu(?=(?:m|s|g|N|J|W|A|V|C|F|H|S|T|Pa|Wb|ohm|rad)\b)")
_SYMBOLS = {"degC": "°C", "degF": "°F", "deg": "°", "degree": "°", "ohm": "Ω", "percent": "%"}

# unit, angular, what it is called, what lets it differ (across) or hold it (through)
_QUANTITIES = (
    ("m/s", False, "velocity", "a spring or a damper"),
    ("1/s", True, "angular velocity", "a spring or a damper"),
    ("m", False, "position", "a spring or a damper"),
    ("rad", True, "angle", "a spring or a damper"), ("N", False, "force", "a mass"),
    ("N*m", False, "torque", "an inertia"), ("V", False, "voltage", "a resistor"),
    ("A", False, "current", "a resistor"), ("Wb", False, "magnetic flux", "a reluctance"),
    ("Pa", False, "pressure", "a flow resistance"),
    ("m**3/s", False, "flow rate", "a flow resistance"), ("kg/s", False, "mass flow", "a chamber"),
    ("K", False, "temperature", "a thermal resistance"),
    ("W", False, "heat flow", "a thermal mass"))


@cache
def measured(name: str, u: Unit) -> tuple[str, str]:
    """What a variable's unit measures, ``"velocity"``, and a familiar component that lets it
    adjust itself; nothing where that is not known."""
    if name == "mmf":  # which shares its unit with others
        return "magnetomotive force", "a reluctance"
    return next(((word, example) for text, angular, word, example in _QUANTITIES
                 if unit(text).dimension == u.dimension and angular == u.angular), ("", ""))


def unit_to_show(source: Unit, target: str | Unit | None, path: str) -> Unit:
    """The unit to show ``path`` in: its declared one, or the one asked for, refused if it does not
    fit."""
    if target is None:
        return source
    try:
        return conversion(source, target, path)
    except AngleFrequencyError:
        problem = f"is in {source} and cannot be shown in {target}."
        advice = ("It counts periods: show it in Hz or kHz." if source.frequency else
                  "One turn is 2π rad: show it in turn/s, rpm or rad/s."
                  if source.dimension == unit("rad/s").dimension else
                  f"One turn is 2π rad: name {source} or a unit with as many turns or radians.")
        raise AngleFrequencyError(path, problem, advice, expected=source, given=target) from None
    except UnknownUnit as error:
        raise UnknownUnit(path, error.problem, error.advice, unit=target) from None
    except UnitError:
        kind = {"difference": ", a difference of temperatures,", "temperature": ", a temperature,"
                }.get(source.temperature, "")
        fits = "delta_degC" if source.temperature == "difference" else source
        raise WrongDimension(path, f"is in {source}{kind} and cannot be shown in {target}.",
                             f"Name {fits} or a unit convertible to it.", expected=source,
                             given=target) from None


def label(path: str, shown: Unit) -> str:
    """The heading of a column: ``"block.v [m/s]"``, ``"gear.ratio [1]"``."""
    return f"{path} [{shown}]"


def from_label(text: str, where: str = "") -> tuple[str, Unit]:
    """Path and unit of a heading, the inverse of :func:`label`."""
    path, shown = heading_parts(text)
    if shown is None or not path:
        raise UnknownUnit(where, f"the column {brief(text)} has no unit.", "Write the unit into "
                          f"the heading, such as {brief(with_unit(text))}, or '[1]' where there is "
                          "none.", column=text)
    try:
        return path, unit(shown)
    except UnknownUnit as error:
        raise UnknownUnit(where, f"the column {brief(text)}: {error.problem}", error.advice,
                          column=text, **error.data) from None  # fmt: skip


def pretty(shown: Unit) -> str:
    """A unit as set in print: ``"N·s/m"``, ``"m/s²"``, ``"°C"``."""
    text = _MICRO.sub("µ", _SYMBOLS.get(shown.text, shown.text))
    text = re.sub(r"(?:\*\*|\^)(?:\((-?\d+)\)|(-?\d+)(?![\d.]|/\d))",
                  lambda m: (m[1] or m[2]).translate(RAISED), text)
    text = re.sub(r"\b(?:hour|minute)\b", lambda m: {"hour": "h"}.get(m[0], "min"), text)
    return re.sub(r"\s*\*\s*", "·", text.replace("**", "^"))


def output_takes(text: str) -> bool:
    """Whether the encoding of ``sys.stdout`` has all signs of a text."""
    return _in_its_encoding(text) == text


def _in_its_encoding(text: str) -> str:
    """A text with question marks for signs that the encoding of ``sys.stdout`` lacks."""
    encoding = getattr(sys.stdout, "encoding", None) or "utf-8"
    return text.encode(encoding, "replace").decode(encoding)


def in_plain_signs(text: str) -> str:
    """A text in signs that every output takes: ``"N*s/m^2"``."""
    text = re.sub("[⁻⁰¹²³⁴⁵⁶⁷⁸⁹]+", lambda m: "^" + m[0].translate(_LOWERED), text)
    return _in_its_encoding(text.translate(_PLAIN))


def printable(text: str) -> str:
    """A text as it is, or in plain signs where ``sys.stdout`` does not take all of it."""
    return text if output_takes(text) else in_plain_signs(text)


def number(value: Any, shown: Unit | None = None, digits: int = 5, scale: float = 0.0) -> str:
    """A number with its unit for people: ``"0.25 m/s"``, ``"-12.5 °C"``.

    What is nothing but rounding beside the ``scale`` of its kin is shown as 0.
    """
    shown_value = 0.0 if abs(float(value)) < ROUNDING * scale else float(value) + 0.0
    text = f"{shown_value:.{digits}g}"
    return text if shown is None or not shown.text else f"{text} {pretty(shown)}"


def time_unit(span: float) -> Unit:
    """A unit in which a duration in s is a number of sensible size."""
    limits: Mapping[str, float] = {"ns": 1e-6, "us": 1e-3, "ms": 0.5, "s": 600, "min": 2e4,
                                   "hour": 4e5}  # fmt: skip
    if not np.isfinite(span) or span <= 0:
        return SECOND
    return unit(next((name for name, below in limits.items() if span < below), "day"))


def listed(names: Iterable[str], limit: int = 6, word: str = "and") -> str:
    """``"a, b and c"``; long lists are cut with the number of the rest."""
    names = list(dict.fromkeys(names))
    if len(names) > limit:
        return f"{', '.join(names[:limit])} {word} {len(names) - limit:,} more"
    return f" {word} ".join([", ".join(names[:-1]), names[-1]] if len(names) > 1 else names)
