"""What did someone mean who wrote a wrong unit?

Advice made from what was given: near names for a unit that does not exist, and
for one of another dimension what it measures and which small slip leads to it.
Knows words and names; is asked only when something is refused.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from itertools import combinations
from typing import Protocol

__all__ = ["ambiguous", "in_cases", "marked", "meant_name", "meant_texts", "meant_unit", "measures",
           "misread", "spelt_out", "written"]

_MEANT = {"kgm^2": "kg*m^2", "kgm²": "kg*m^2", "kmh": "km/hour", "kmph": "km/hour", "mps": "m/s",
          "revs": "turn", "U/min": "rpm", "U/s": "turn/s",
          "min-1": "1/min", "s-1": "1/s", "deg C": "degC", "deg F": "degF", "degrees C": "degC",
          "degrees F": "degF", "Celsius": "degC", "Kelvin": "K", "°K": "K", "degK": "K",
          "mtr": "m", "mtrs": "m", "gr": "g", "gm": "g", "gms": "g", "Amp": "A", "Amps": "A",
          "amp": "A", "amps": "A", "-": "1", "NM": "N*m", "lpm": "l/min", "LPM": "l/min",
          "gpm": "gallon/min", **dict.fromkeys(("AT", "Aturn", "Aturns", "A-turn", "A-turns",
          "ampere-turn", "ampere-turns", "amp-turns"), "A")}  # fmt: skip
_FAMILIAR = ("N", "kN", "mN", "MN", "kg", "g", "mg", "t", "m", "mm", "cm", "km", "um", "nm", "s",
             "ms", "us", "ns", "min", "hour", "day", "Pa", "kPa", "MPa", "GPa", "bar", "J", "kJ",
             "W", "kW", "MW", "V", "mV", "kV", "A", "mA", "ohm", "kohm", "Mohm", "mohm", "F", "mF",
             "uF", "nF", "pF", "H", "mH", "uH", "nH", "T", "mT", "Wb", "mWb", "C", "S", "K", "degC",
             "degF", "delta_degC", "Hz", "kHz", "rad", "mrad", "deg", "turn", "rpm", "mol", "liter",
             "inch", "foot", "mile", "pound", "newton", "kilonewton", "meter", "metre",
             "millimeter", "kilometer", "second", "millisecond", "minute", "kilogram", "gram",
             "radian", "degree", "joule", "watt", "kilowatt", "pascal", "volt", "ampere", "kelvin",
             "hertz", "percent", "coulomb", "farad", "henry", "tesla", "celsius", "fahrenheit")
_PER_KELVIN = re.compile(r"([^/]{1,20})/\(?(kg|m(?:\^?2|²)?) ?(K|degC)\)?$")
_SHORT = re.compile(r"([+-]?\d+(?:\.\d*)?)( ?)(meg|[GMkKmunp])(\d*)")  # 10k, 4k7, 100n
_PREFIXED = ("ohm", "S", "F", "H", "V", "A", "W", "Hz")  # units that circuits leave out behind them
_MARKED = re.compile(r"(\S+?)[ _]?(?:\((\w+|p-p)\)|(gauge|abs|rms|RMS|eff|AC|DC|pp|p-p|pk|p|g|a))")
_MARKS = {"Pa": {"g": "gauge", "gauge": "gauge", "a": "plain", "abs": "plain"},
          "V": {"rms": "rms", "RMS": "rms", "eff": "rms", "AC": "rms", "pp": "span", "p-p": "span",
                "p": "plain", "pk": "plain", "DC": "plain"}}
_AMBIGUOUS = {  # names of pint that mean one thing here, another there
    "ton": ("a metric or a short ton", "t (1000 kg)", "short_ton (907.185 kg)"),
    "force_ton": ("the weight of a metric or of a short ton", "tf (9.80665 kN)",
                  "kip (half of a short ton's, 4.44822 kN)"),
    "mil": ("a thousandth of an inch or an angle", "thou (25.4 um)", "mrad (0.001 rad)"),
    "barrel": ("a barrel of oil or of dry goods", "oil_bbl (158.987 l)", "dry_barrel (115.627 l)")}
MANY = 5  # names in a unit, above which no slip is looked for
# an angle tells a torsional stiffness from a torque
_MEASURES = (
    ("N", "a force"), ("N*m", "a torque or an energy"), ("N/m", "a stiffness"),
    ("N*s/m", "a damping"), ("N*m/rad", "a torsional stiffness"),
    ("N*m*s/rad", "a torsional damping"), ("N*m*s", "an angular momentum"), ("kg", "a mass"),
    ("kg*m^2", "a moment of inertia"), ("m", "a length"), ("m/s", "a velocity"),
    ("m/s^2", "an acceleration"), ("m/s^3", "a jerk"), ("rad", "an angle"),
    ("rad/s", "an angular velocity"), ("rad/s^2", "an angular acceleration"), ("s", "a time"),
    ("1/s", "a rate or a frequency"), ("W", "a power"), ("Pa", "a pressure"), ("m^2", "an area"),
    ("m^3", "a volume"), ("m^3/s", "a volume flow"), ("kg/s", "a mass flow"),
    ("kg/m^3", "a density"), ("kg/m", "a mass per length"), ("N*s", "an impulse"),
    ("N/s", "a force per time"), ("K", "a temperature"), ("A", "a current"), ("V", "a voltage"),
    ("ohm", "a resistance"), ("F", "a capacitance"), ("H", "an inductance"), ("C", "a charge"),
    ("Wb", "a magnetic flux"), ("T", "a flux density"), ("J/K", "a heat capacity"),
    ("W/K", "a thermal conductance"), ("J/(kg*K)", "a specific heat"), ("1", "a plain number"))


def glued(name: str) -> str:
    """Two units written together, "kNm", taken apart: "kN*m"; empty where they are not."""
    first = "[kMGmunµμ]?[NWAVJ]|kg"
    match = re.fullmatch(f"({first})(m)(s)", name) or re.fullmatch(
        f"({first})([mcnuµμk]?[ms]|h)", name)  # fmt: skip
    if match is None or name in ("kgs", "kgh") or name.endswith("Wh"):
        return ""
    return "*".join(match.groups())


def misread(name: str) -> bool:
    """Whether pint takes it for something else: Nm for a measure of yarn, kmph for 1000 mph."""
    return name == "kmph" or name.endswith(("Nm", "Nms")) and bool(glued(name))


def ambiguous(name: str) -> tuple[str, str]:
    """What one of pint's names may mean, and what to write for either; empty where it is plain."""
    words, *choices = _AMBIGUOUS.get(name, ("",))
    return words, f"Write {' or '.join(choices)}." if words else ""


def meant_texts(text: str) -> Iterator[str]:
    """What may be meant by a text that is no unit, the likeliest first."""
    if text in _MEANT:
        yield _MEANT[text]
    yield from (f"{over}/({re.sub('[²2]', '^2', length.replace('^', ''))}*{kelvin})"
                for over, length, kelvin in _PER_KELVIN.findall(text[:40]))  # W/mK
    joined = re.sub(r"(?<=\w)[.\-](?=[^\W\d])", "*", text)  # N.m, N-m
    raised = re.sub(r"(?<=[^\W\d_])([2-9])(?!\w)", r"^\1", joined)  # kg.m2
    yield from (other for other in (joined, raised, re.sub(r"\s+per\s+", "/", text),
                                    "".join(text.split())) if other != text)  # fmt: skip


def spelt_out(text: str, unit: str) -> str:
    """A value as circuits are labelled, "4k7" or "100n", with its unit; empty where it is none."""
    match = _SHORT.fullmatch(text.strip()) if len(text) < 20 else None
    if match is None or unit not in _PREFIXED:
        return ""
    number, space, prefix, decimals = match.groups()
    if prefix == "m" and space or decimals and not number.lstrip("+-").isdigit():
        return ""
    prefix = {"meg": "M", "K": "k"}.get(prefix, prefix)
    return f"{number}{'.' * bool(decimals)}{decimals} {prefix}{unit}"


def marked(text: str, measured: str) -> tuple[str, str]:
    """A unit with a mark behind it that says how values count, "barg" or "Vrms", taken apart.

    ``measured``: "Pa", "V" or "A", what is wanted. The mark is "gauge" (above the atmosphere),
    "rms", "span" (peak to peak) or "plain"; empty where there is none.
    """
    match = _MARKED.fullmatch(text.strip()) if len(text) < 20 else None
    marks = _MARKS.get("V" if measured == "A" else measured, {})
    meaning = marks.get(match[2] or match[3], "") if match else ""
    return (match[1], meaning) if match and meaning else ("", "")


def meant_name(name: str, exists: Callable[[str], bool]) -> str:
    """The name that one which does not exist is nearest to; empty where none is near."""
    if name in _MEANT or glued(name):
        return _MEANT.get(name) or glued(name)
    power = re.fullmatch(r"([^\W\d]+?)([2-4])", name)
    if power and (base := glued(power[1]) or power[1] * exists(power[1])):
        return f"{base}^{power[2]}"
    for other in _other_cases(name):
        if other in _FAMILIAR or len(other) > 3 and exists(other):
            return other
    if len(name) > 30:
        return ""
    from difflib import get_close_matches

    near = get_close_matches(name, _FAMILIAR, n=1, cutoff=0.75)
    return near[0] if near else ""


def in_cases(typed: str, meant: str, fits: Callable[[str], bool]) -> list[str]:
    """What was meant; milli and mega where only cases are wrong, the one that was typed first."""
    other = meant[:1].swapcase() + meant[1:]
    if meant[:1] not in "mM" or meant.lower() != typed.lower() or not fits(other):
        return [meant]
    return sorted((meant, other), key=lambda name: name[0] != typed[0])


def _other_cases(name: str) -> Iterator[str]:
    """The name in other cases and without the s of a plural."""
    bare = name.rstrip("s.")
    for other in (name.lower(), name[:1].lower() + name[1:], bare, bare.lower(), name.upper()):
        if other and other != name:
            yield other
    yield from (known for known in _FAMILIAR if known != name and known.lower() in (
        name.lower(), bare.lower()))  # fmt: skip


class Measured(Protocol):
    """What a unit says of the quantity in it."""

    @property
    def dimension(self) -> object: ...
    @property
    def angular(self) -> bool: ...


def measures(given: Measured, unit: Callable[[str], Measured]) -> str:
    """What a unit measures, "a torque or an energy"; empty where it has no name."""
    return next((words for text, words in _MEASURES if (known := unit(text)).angular
                 == given.angular and known.dimension == given.dimension), "")


def meant_unit(factors: Mapping[str, float], fits: Callable[[str], bool], squares: bool) -> str:
    """The unit, written almost alike, that has the dimension wanted; empty where none has.

    ``squares``: a square may have been forgotten, or one too many written.
    """
    return next(filter(fits, _almost(dict(factors), squares)), "")


#: What people mean by units that they take for others: forces by those of mass, and the other way
#: round.
_TAKEN_FOR = {"lb": "lbf", "kg": "kgf", "g": "gf", "oz": "ozf", "t": "tf", "pound": "lbf"}
_TAKEN_FOR |= {force: mass for mass, force in reversed(_TAKEN_FOR.items())}


def _almost(factors: dict[str, float], squares: bool) -> Iterator[str]:
    """Units that one slip turns into the given one."""
    for name in factors.keys() & _TAKEN_FOR.keys():  # lb for lbf
        yield written({_TAKEN_FOR[name] if n == name else n: p for n, p in factors.items()})
    if len(factors) == 1:
        ((name, power),) = factors.items()
        yield written({f"deg{name}": power})
        yield glued(name.capitalize())  # nm for a torque
        if name == "deg":
            yield "degC"
        yield from (written({other: power}) for other in _other_cases(name))
        return
    if len(factors) > MANY:
        return
    if all(power == 1 for power in factors.values()):  # "k N"
        yield "".join(factors)
    for name, power in factors.items():  # * for /
        yield written({**factors, name: -power})
    for name in factors:  # N/M
        for other in _other_cases(name):
            yield written({other if n == name else n: p for n, p in factors.items()})
    for a, b in combinations(factors, 2):  # m/s for s/m
        yield written({**factors, a: factors[b], b: factors[a]})
    for name, power in factors.items() if squares else ():
        for near in (power + 1, power - 1):
            if near and near * power > 0 and max(abs(near), abs(power)) <= 2:
                yield written({**factors, name: near})


def written(factors: Mapping[str, float]) -> str:
    """A unit as people write it: what multiplies, then what divides."""
    over = [_raised(n, p) for n, p in factors.items() if p > 0]
    under = [_raised(n, -p) for n, p in factors.items() if p < 0]
    below = f"/({'*'.join(under)})" if len(under) > 1 else f"/{under[0]}" if under else ""
    return ("*".join(over) or "1") + below


def _raised(name: str, power: float) -> str:
    return name if power == 1 else f"{name}^{power:g}"
