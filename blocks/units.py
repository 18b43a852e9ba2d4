"""What number, in SI base units, does the user mean?

The border between quantities (strings, pint quantities) and the plain SI
floats inside. Knows pint; knows nothing of components or equations.

Dimensions are pint ``UnitsContainer`` objects of base dimensions; angles are
dimensionless, as in pint, except for one trap that is handled by name: Hz and
rad/s have the same dimension and pint converts one into the other without 2π.
Here a frequency is refused where an angular unit is declared, and the reverse.
"""

from __future__ import annotations

import contextlib
import re
from dataclasses import dataclass, field, replace
from functools import cache, lru_cache
from typing import Any

import numpy as np
import pint
from pint.registry import LazyRegistry

from .exceptions import AngleFrequencyError, MissingUnit, UnitError, UnknownUnit, WrongDimension

__all__ = ["SECOND", "Unit", "dimensionless", "magnitude_of", "quantity", "registry", "to_si",
           "unit"]  # fmt: skip

_HOW_UNITS_ARE_WRITTEN = "Units are written as pint reads them: 'N*s/m', 'kg*m^2', 'mm/s', 'rpm'."
_NUMBER = re.compile(r"\s*([-+]?(?:\d+\.?\d*|\.\d+)(?:[eE][-+]?\d+)?)\s*(.*)$", re.DOTALL)
_ANGLES = {"radian", "degree", "revolution", "turn", "revolutions_per_minute", "arcminute",
           "arcsecond", "grade", "cycle", "rpm"}
_FREQUENCIES = {"hertz", "counts_per_second", "frame"}
_FAMILIAR = ["N", "N*m", "N/m", "N*s/m", "m/s", "m/s**2", "m", "s", "kg", "kg*m**2", "1/s", "Pa",
             "W", "V", "A", "ohm", "F", "H", "Wb", "K", "W/K", "J/K", "m**2", "m**3", "m**3/s",
             "N*s", "N*m*s", "kg/m**3", "m/s**3", "kg/s", "T"]  # fmt: skip


def registry() -> Any:
    """pint's application registry, the one every quantity here belongs to.

    Where nobody has made or set it yet, it is made with pint's cache on disk, which saves
    most of the time it takes to read the definitions of units.
    """
    _cached_registry()
    return pint.get_application_registry()


@cache
def _cached_registry() -> None:
    if isinstance(pint.get_application_registry().get(), LazyRegistry):
        with contextlib.suppress(OSError):  # no folder to keep it in
            pint.set_application_registry(pint.UnitRegistry(cache_folder=":auto:"))


@dataclass(frozen=True)
class Unit:
    """A unit with its conversion to SI: ``si = factor * x + offset``."""

    text: str
    dimension: Any
    factor: float
    offset: float
    angular: bool
    frequency: bool
    pint: Any = field(compare=False, repr=False)

    def __str__(self) -> str:
        return self.text or "1"

    @property
    def is_dimensionless(self) -> bool:
        return not self.dimension


@cache
def unit(text: str) -> Unit:
    """Read a unit text such as ``"N*s/m"``, ``"rpm"`` or ``"degC"``."""
    if text.strip() in ("Nm", "Ns/m"):  # some versions of pint read metres with a prefix
        raise UnknownUnit("", f"{text!r} is not a unit.", _unit_hint(text.strip()), unit=text)
    ureg = registry()
    try:
        parsed = ureg.Unit("dimensionless" if text.strip() in ("", "1") else text)
    except Exception as error:
        raise UnknownUnit(
            "", f"{text!r} is not a unit.", _unit_hint(text), unit=text
        ) from error
    return replace(_unit_of(parsed), text="" if parsed == ureg.dimensionless else text.strip())


@cache
def _unit_of(parsed: Any) -> Unit:
    ureg = registry()
    zero, one = ureg.Quantity(np.array([0.0, 1.0]), parsed).to_base_units().magnitude
    names = {ureg.parse_unit_name(n)[0][1] for n in parsed._units}  # without prefixes
    return Unit(
        text=f"{parsed:~C}",
        dimension=parsed.dimensionality,
        factor=float(one - zero),
        offset=float(zero),
        angular=bool(names & _ANGLES),
        frequency=bool(names & _FREQUENCIES),
        pint=parsed,
    )


dimensionless = pint.util.UnitsContainer()
# made without the registry, which takes longer to load than the rest of the package
SECOND = Unit("s", pint.util.UnitsContainer({"[time]": 1}), 1.0, 0.0, False, False, "s")


def quantity(value: Any, units: str | Unit | None = None) -> Any:
    """A pint quantity of the application registry from a text, quantity or number.

    Examples
    --------
    >>> quantity("2 kN").to("N").magnitude
    2000.0
    >>> quantity(3, "rpm").units == quantity("1 rpm").units
    True
    """
    if units is not None:
        u = unit(units) if isinstance(units, str) else units
        return registry().Quantity(value, u.pint)
    if isinstance(value, str):
        number, u = _parse(value)
        return registry().Quantity(number, u.pint)
    if _is_quantity(value):
        ureg = registry()
        if value._REGISTRY is ureg or value._REGISTRY is getattr(ureg, "_registry", ureg):
            return value
        return ureg.Quantity(value.magnitude, str(value.units))
    return registry().Quantity(value)


def unit_of(value: Any) -> Unit:
    """The unit of a text such as ``"2 kN"`` (as it is written there) or of a quantity."""
    if isinstance(value, str):
        return _parse(value)[1]
    return _unit_of(quantity(value).units)


def magnitude_of(value: Any) -> Any:
    """The number of a text or quantity, in its own unit."""
    return _parse(value)[0] if isinstance(value, str) else quantity(value).magnitude


def _is_quantity(value: Any) -> bool:
    return hasattr(value, "magnitude") and hasattr(value, "units")


@lru_cache(maxsize=65536)
def _parse(text: str) -> tuple[float, Unit]:
    match = _NUMBER.match(text)
    if match is not None and not match[2].startswith(("/", "*", "+", "-", "^")):
        return float(match[1]), unit(match[2].strip())
    try:
        parsed = registry().Quantity(text)
        return float(parsed.magnitude), _unit_of(parsed.units)
    except Exception as error:
        raise UnknownUnit(
            "",
            f"{text!r} cannot be read as a quantity.",
            "Write a number and a unit, such as '5 N' or '0.1 m/s'.",
            given=text,
        ) from error


def to_si(value: Any, expected: Unit, where: str = "", advice: str = "") -> Any:
    """Convert a user's value to SI base units, or say precisely why not.

    Parameters
    ----------
    value : str, quantity, number, or a sequence of these
        A number is accepted only where the expected unit is dimensionless.
    expected : Unit
        The declared unit.
    where : str
        What is being given, for the message (``"rail.damper.damping"``).
    advice : str
        A component author's extra hint for a wrong dimension.

    Returns
    -------
    float or ndarray
    """
    number: float | np.ndarray
    if isinstance(value, str):
        number, given = _parse_at(value, where, expected)
        return _convert(number, given, expected, where, value, advice)
    if _is_quantity(value):
        given = _unit_of(quantity(value).units)
        magnitude = value.magnitude
        number = float(magnitude) if np.ndim(magnitude) == 0 else np.asarray(magnitude, dtype=float)
        if given.dimension == expected.dimension and given.angular == expected.angular \
                and given.frequency == expected.frequency:
            return number * given.factor + given.offset  # its text is not needed
        return _convert(number, given, expected, where, f"{value:~C}", advice)
    if isinstance(value, bool) or value is None:
        raise MissingUnit(where, f"takes {_article(expected)}, but was given {value!r}.",
                          _example(expected), expected=expected, given=value)
    if isinstance(value, (list, tuple)):
        return np.array([to_si(v, expected, where, advice) for v in value], dtype=float)
    if isinstance(value, np.ndarray) and value.dtype.kind in "OU":
        return np.array([to_si(v, expected, where, advice) for v in value.ravel()]).reshape(
            value.shape
        )
    try:
        number = float(value) if np.ndim(value) == 0 else np.asarray(value, dtype=float)
    except (TypeError, ValueError):
        raise UnknownUnit(
            where,
            f"takes {_article(expected)}, but was given {value!r}, which is no quantity.",
            _example(expected),
            expected=expected,
            given=value,
        ) from None
    if expected.is_dimensionless and not expected.angular and expected.factor == 1.0:
        return number
    shown = number if np.ndim(number) == 0 else np.ravel(number)[0] if np.size(number) else 1
    example = f"'{shown:g} {expected}'" if np.ndim(number) == 0 else f"quantity([…], '{expected}')"
    raise MissingUnit(
        where,
        f"takes {_article(expected)}, but was given the bare number "
        f"{value if np.ndim(number) == 0 else '[…]'}.",
        f"Write {example} if that is what you mean.",
        expected=expected,
        given=value,
    )


def _parse_at(text: str, where: str, expected: Unit) -> tuple[float, Unit]:
    try:
        return _parse(text)
    except UnitError as error:
        advice = error.advice or _example(expected)
        raise UnknownUnit(where, f"was given {text!r}: {error.problem}", advice,
                          given=text, expected=expected) from None


def _convert(number: Any, given: Unit, expected: Unit, where: str, shown: str, advice: str) -> Any:
    if given.dimension != expected.dimension:
        if given.is_dimensionless and not given.angular:
            raise MissingUnit(
                where,
                f"takes {_article(expected)}, but was given {shown!r} without a unit.",
                f"Write '{shown} {expected}' if that is what you mean.",
                expected=expected,
                given=shown,
            )
        raise WrongDimension(
            where,
            f"takes {_article(expected)}{_or_convertible(expected)}, but was given {shown}.",
            _unit_hint(shown.split()[-1], "") or advice
            or (f"Give it in {expected}." if expected.text else _example(expected)),
            expected=expected,
            given=shown,
        )
    if given.frequency and expected.angular:
        raise AngleFrequencyError(
            where,
            f"is an angular quantity in {expected}, but was given {shown}.",
            f"One turn is 2π rad: write '{_plain(number * given.factor)} turn/s', or the angular "
            "value in rad/s."
            if np.ndim(number) == 0
            else "Use turn/s or rad/s.",
            expected=expected,
            given=shown,
        )
    if given.angular and expected.frequency:
        hertz = number * given.factor / (2 * np.pi)
        raise AngleFrequencyError(
            where,
            f"is a frequency in {expected}, but was given the angular value {shown}.",
            f"Write '{_plain(hertz)} Hz' (one turn per period)."
            if np.ndim(number) == 0
            else "Divide by 2π and give it in Hz.",
            expected=expected,
            given=shown,
        )
    return number * given.factor + given.offset


def _plain(number: Any) -> str:
    return f"{float(number):.6g}"


def _article(expected: Unit) -> str:
    return "a plain number" if not str(expected.text) else str(expected)


def _or_convertible(expected: Unit) -> str:
    return " or any unit convertible to it" if str(expected.text) else ""


def _example(expected: Unit) -> str:
    return f"Write for example '1 {expected}'." if str(expected.text) else "Give it without a unit."


def describe(dimension: Any) -> str:
    """A dimension in words a person knows: ``"N*s/m"`` rather than ``"[mass]/[time]"``."""
    if not dimension:
        return "dimensionless"
    for name in _FAMILIAR:
        if unit(name).dimension == dimension:
            return str(unit(name))
    ureg = registry()
    base = {"[length]": "m", "[mass]": "kg", "[time]": "s", "[current]": "A",
            "[temperature]": "K", "[substance]": "mol", "[luminosity]": "cd"}  # fmt: skip
    text = "*".join(f"{base.get(k, k)}**{e:g}" for k, e in sorted(dimension.items()))
    try:
        return f"{ureg.Unit(text):~C}"
    except Exception:
        return text


def from_si(number: Any, target: Unit) -> Any:
    """A pint quantity in ``target`` units from SI base units."""
    if isinstance(number, float):
        return registry().Quantity(float((number - target.offset) / target.factor), target.pint)
    values = (np.asarray(number, dtype=float) - target.offset) / target.factor
    return registry().Quantity(values if np.ndim(number) else float(values), target.pint)


def conversion(source: Unit, target: str | Unit, where: str) -> Unit:
    """The unit to show a value of ``source`` in, refused if it does not fit."""
    wanted = unit(target) if isinstance(target, str) else target
    _convert(0.0, source, wanted, where, str(source), f"It can be shown in {source}.")
    return wanted


_MISSPELT = {"Nm": "N*m", "Ns/m": "N*s/m", "kgm^2": "kg*m^2", "N-m": "N*m", "kph": "km/hour",
             "sec": "s", "newtons": "N", "Rpm": "rpm", "RPM": "rpm", "rev": "turn",
             "rev/s": "turn/s", "rev/min": "rpm", "U/min": "rpm"}  # fmt: skip


def _unit_hint(text: str, otherwise: str = _HOW_UNITS_ARE_WRITTEN) -> str:
    if text.startswith(","):
        return "Write decimals with a point: '1.5 N'."
    if text in _MISSPELT:
        return f"Did you mean '{_MISSPELT[text]}'?"
    return otherwise
