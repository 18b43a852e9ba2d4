"""What number, in SI base units, does the user mean?

The border between quantities (strings, pint quantities) and the plain SI
floats inside. Knows pint; knows nothing of components or equations. A text is
read by :mod:`blocks.reading.grammar`; pint is only ever asked for single names.

Dimensions are powers of base dimensions, as pint's are; angles are dimensionless, as in pint,
except for one trap that is handled by name: Hz and rad/s have the same dimension and pint converts
one into the other without 2π. Here a frequency is refused where an angular unit is declared, and
the reverse; so are turns (A*turn, mm/rev) where none is: they count, and are no 2π. Likewise a
temperature (degC, degF) is refused where a difference of temperatures (delta_degC, delta_degF) is
declared, and the reverse; K may be either.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from functools import lru_cache
from typing import TYPE_CHECKING, Any, NoReturn, TypeGuard

import numpy as np
from numpy.typing import ArrayLike

from .exceptions import (
    AngleFrequencyError,
    MissingUnit,
    ParameterError,
    UnitError,
    UnknownUnit,
    WrongDimension,
    brief,
)
from .numerics.arrays import Array
from .reading.grammar import factors_of, number_and_unit
from .reading.headings import columns_named, heading_parts
from .reading.slips import in_cases, marked, meant_texts, meant_unit, measures, spelt_out
from .reading.unit import (
    SECOND,
    Unit,
    alike,
    as_unit,
    describe,
    dimensionless,
    of_pint,
    placed,
    readable,
    registry,
    unit,
    unit_at,
    without_turns,
)

if TYPE_CHECKING:
    import pint

    class Quantity(pint.Quantity[Any]):
        """Pint's, of a number or an array; of many methods pint does not say what they return."""

        def to(self, other: Any = None, *contexts: Any, **values: Any) -> Quantity: ...
        def __getitem__(self, key: Any) -> Quantity: ...
        def __iter__(self) -> Iterator[Quantity]: ...
        def __add__(self, other: Any) -> Quantity: ...
        def __neg__(self) -> Quantity: ...
        def __abs__(self) -> Quantity: ...
else:
    Quantity = Any  # which annotations name: pint is loaded with the first quantity

__all__ = ["Quantity", "SECOND", "Unit", "alike", "as_unit", "as_written", "columns_named",
           "conversion", "describe", "dimensionless", "from_si", "heading_parts", "in_unit",
           "is_quantity", "magnitude_of", "placed", "quantity", "refuse_counted_turns", "registry",
           "size_in_si", "sizes_by_dimension", "to_si", "unit", "unit_at", "unit_given", "unit_of"]


def quantity(value: object, units: object = None) -> Quantity:
    """A pint quantity from a text, quantity or number.

    Examples
    --------
    >>> quantity("2 kN").to("N").magnitude
    2000.0
    >>> quantity(3, "rpm").units == quantity("1 rpm").units
    True
    """
    if units is not None:
        return _made(value, as_unit(units).pint)
    if isinstance(value, str):
        number, u = _parse(value)
        return _made(number, u.pint)
    if is_quantity(value):
        if getattr(value, "_REGISTRY", None) is registry():  # what only looks like one has none
            return value
        return registry().Quantity(value.magnitude, unit(str(value.units)).pint)
    return _made(value)


def _made(value: Any, units: pint.Unit | str | None = None) -> Quantity:
    """A quantity of numbers; pint would evaluate a text."""
    try:
        if not (_holds_text(value) or np.iscomplexobj(getattr(value, "magnitude", value))):
            return registry().Quantity(value, units)
    except (TypeError, ValueError):
        pass
    raise UnknownUnit("quantity()", f"was given {brief(value)} where real numbers belong.",
                      "Write quantity('5 N') or quantity(5, 'N').", given=value)  # fmt: skip


def _holds_text(value: object) -> bool:
    if isinstance(value, (list, tuple)):
        return not {*map(type, value)} <= {float, int} and any(map(_holds_text, value))
    if isinstance(value, np.ndarray):
        return value.dtype.kind in "US" or (
            value.dtype.kind == "O" and any(map(_holds_text, value.ravel())))
    return isinstance(value, (str, bytes))


def unit_of(value: object) -> Unit:
    """Return the unit of a text such as ``"2 kN"`` (as written there) or of a quantity."""
    return _parse(value)[1] if isinstance(value, str) else of_pint(quantity(value).units)


def magnitude_of(value: object) -> Any:
    """Return the number of a text or quantity, in its own unit."""
    return _parse(value)[0] if isinstance(value, str) else quantity(value).magnitude


def as_written(value: Any) -> str:
    """A value as its giver wrote it, cut where it is long."""
    text = (f"{value:~C}" if is_quantity(value) and hasattr(value, "_REGISTRY")
            else str(value) if np.ndim(value) == 0 else "")
    return text if 0 < len(text) < 60 else brief(value)


def is_quantity(value: object) -> TypeGuard[Any]:
    """Whether a value is a number or array with a unit, of any registry."""
    return hasattr(value, "magnitude") and hasattr(value, "units")


@lru_cache(maxsize=65536)
def _parse(text: str) -> tuple[float, Unit]:
    try:
        number, rest = number_and_unit(text)
    except UnknownUnit:
        if named := readable(text):
            raise UnknownUnit("", f"{named!r} is a unit without a number.",
                              f"Write '1 {named}' if that is what you mean.", given=text,
                              piece=named) from None  # fmt: skip
        raise
    return number, unit(rest)


def unit_given(value: object, where: str) -> Unit:
    """Return the unit of a user's value; that of a plain number is dimensionless."""
    first = value
    while isinstance(first, (list, tuple)) and len(first):
        first = first[0]
    if not isinstance(first, str) and not hasattr(first, "units"):
        return unit("")
    with placed(where):
        return unit_of(first)


def to_si(value: object, expected: Unit, where: str = "", advice: str | Mapping[str, str] = ""
          ) -> Any:
    """Convert a user's value to SI base units, or say precisely why not.

    Parameters
    ----------
    value : str, quantity, number, or a sequence of these
        A number is accepted only where the expected unit is dimensionless.
    expected : Unit
        The declared unit.
    where : str
        What is being given, for the message (``"rail.damper.damping"``).
    advice : str or mapping of unit to str
        A component author's hint for a wrong dimension, or one for each.

    Returns
    -------
    float or ndarray
    """
    if isinstance(value, str):
        number, given = _parse_at(value, where, expected)
        if not given.text and expected.angular and expected.is_dimensionless:
            raise _missing_unit(number, expected, where, value)
        return _convert(number, given, expected, where, value, advice)
    if is_quantity(value):
        own = getattr(value, "_units", None)
        if own is not None and own is getattr(expected.pint, "_units", None) and isinstance(
                value.magnitude, float):  # the very same unit
            return float(value.magnitude) * expected.factor + expected.offset
        given = unit_given(value, where)
        number = _plain_number(value.magnitude, where, expected, value)
        kinds = [(u.dimension, u.angular, u.frequency, u.temperature) for u in (given, expected)]
        if kinds[0] == kinds[1]:
            return number * given.factor + given.offset  # its text is not needed
        return _convert(number, given, expected, where, as_written(value), advice)
    if isinstance(value, (bool, np.bool_)) or value is None:
        plain = value is not None and not str(expected.text)
        raise MissingUnit(where, f"takes {_article(expected)}, but was given {value!r}.",
                          f"Write {value:d}." if plain else _example(expected),
                          expected=expected, given=value)
    if hasattr(value, "index") and hasattr(value, "to_numpy"):  # a column of a table
        value = value.to_numpy()
    if isinstance(value, np.ndarray) and value.dtype.kind in "OU":
        value = value.tolist()
    if isinstance(value, (list, tuple)):
        if any(map(callable, value)):
            raise ParameterError(where, f"takes {_article(expected)}, but was given a list of "
                                 "functions.", "All instances share one function of time: make a "
                                 "part for each.", given=value, code="parameter.function")
        return _stacked([to_si(v, expected, where, advice) for v in value], where, value)
    number = _plain_number(value, where, expected, value)
    if expected.is_dimensionless and not expected.angular and expected.factor == 1.0:
        return number
    raise _missing_unit(number, expected, where, value)


def _missing_unit(number: Any, expected: Unit, where: str, given: object) -> MissingUnit:
    """The error for plain numbers where a unit has to say what they count."""
    single = np.ndim(number) == 0
    example = f"'{number:g} {expected}'" if single else f"quantity([…], '{expected}')"
    advice = f"Write {example} if that is what you mean."
    if single and str(expected) == "rad":
        advice = f"Write {example}, or '{number:g} deg', if that is what you mean."
    if single and not np.isfinite(number):
        advice = f"It is not a finite number. {_example(expected)}"
    if expected.is_dimensionless and not expected.angular:  # such as %: a fraction may be meant
        whole = f"'{number / expected.factor:g} {expected}'" if single else "quantity([…], '')"
        advice = f"Write {whole} if a fraction is meant, {example} if it counts {expected}."
    return MissingUnit(
        where, f"takes {_article(expected)}, but was given the bare number "
        f"{as_written(given) if single else '[…]'}.", advice, expected=expected, given=given)


def _plain_number(value: Any, where: str, expected: Unit, given: object) -> Any:
    """A float or an array of floats, of what is one."""
    try:
        return float(value) if np.ndim(value) == 0 else np.asarray(value, dtype=float)
    except OverflowError:
        raise ParameterError(where, f"was given {brief(given)}, which is too large a number.",
                             "Numbers go up to 1.8e308.", given=given,
                             code="parameter.finite") from None  # fmt: skip
    except (TypeError, ValueError):
        if callable(given):
            raise ParameterError(
                where, f"takes {_article(expected)}, but was given a function.",
                "Functions of time belong to signal blocks and to parameters that may vary, such "
                "as those of sources.", given=given, code="parameter.function") from None
        raise UnknownUnit(where,
                          f"takes {_article(expected)}, but was given {brief(given)}, which is "
                          f"{'a complex number' if np.iscomplexobj(value) else 'no quantity'}.",
                          _example(expected), expected=expected, given=given) from None


def _stacked(rows: list[Any], where: str, given: object) -> Array:
    try:
        return np.array(rows, dtype=float)
    except ValueError:
        raise ParameterError(where, f"was given rows of different lengths, {brief(given)}.",
                             "Give every row as many values.", given=given,
                             code="parameter.size") from None  # fmt: skip


def _parse_at(text: str, where: str, expected: Unit) -> tuple[float, Unit]:
    try:
        return _parse(text)
    except UnitError as error:
        data = {k: v for k, v in error.data.items() if k == "piece"}
        meant = spelt_out(text, expected.text)
        raise UnknownUnit(where, f"was given {brief(text)}: {error.problem}",
                          f"Did you mean {meant!r}?" if meant else _counted(text, expected) or
                          error.advice or _example(expected), given=text, expected=expected,
                          **data) from None  # fmt: skip


def _counted(text: str, expected: Unit) -> str:
    """Advice for a value whose unit says how it counts, such as "5 barg" or "230 Vrms"."""
    try:
        number, rest = number_and_unit(text)
    except UnitError:
        return ""
    measured = next((m for m in ("Pa", "V", "A") if expected.dimension == unit(m).dimension), "")
    name, mark = marked(rest, measured)
    if not name or not _fits(name, expected):
        return ""
    as_it_is = f"'{_six_digits(number)} {name}'"
    if mark == "gauge":
        above = number + unit("atm").factor / unit(name).factor
        return (f"That is counted from the pressure of the atmosphere, pressures here from vacuum: "
                f"write '{above:.8g} {name}' for that pressure, {as_it_is} for a "
                "difference of pressures.")
    if mark == "plain":
        return f"Write {as_it_is}{': pressures here are absolute' * (measured == 'Pa')}."
    times, word = (2**0.5, "√2 times its root mean square") if mark == "rms" else (
        0.5, "half of what it is from peak to peak")
    return f"The amplitude of a sine is {word}: write '{_six_digits(number * times)} {name}'."


def _convert(number: Any, given: Unit, expected: Unit, where: str, shown: str,
             advice: str | Mapping[str, str]) -> Any:
    if given.dimension != expected.dimension:
        _refuse_dimension(given, expected, where, shown, advice)
    facts: dict[str, Any] = {"expected": expected, "given": shown}
    single = np.ndim(number) == 0

    def refuse(problem: str, advice: str) -> NoReturn:
        raise AngleFrequencyError(where, problem, advice, **facts)

    if not alike(given, expected):
        raise WrongDimension(where, *_temperatures(number, given, expected, shown), **facts)
    if given.frequency and expected.angular:
        refuse(f"is an angular quantity in {expected}, but was given {shown}.",
               f"One turn is 2π rad: write '{_six_digits(number * given.factor)} turn/s', or the "
               "angular value in rad/s." if single and given.dimension == unit("Hz").dimension
               else "Use turn/s or rad/s.")
    if expected.angular and not given.angular and given.dimension == unit("1/s").dimension \
            and given.factor < 1:
        refuse(f"is an angular quantity in {expected}, but was given {shown}, which may count "
               "turns or radians.", f"Write '{_six_digits(60 * number * given.factor)} rpm' if "
               "turns are meant." if single else "Use rpm or rad/s.")
    if "turn" in expected.text and not given.angular and given.text:
        refuse(f"takes {expected}, but was given {shown}, which may be per turn or per radian.",
               f"Write '{shown}/turn' or '{shown}/rad'." if single else "Say which in its unit.")
    if expected.angular and expected.is_dimensionless and given.text == "%":
        slope = float(np.degrees(np.arctan(number * given.factor))) if single else 0.0
        refuse(f"is an angle in {expected}, but was given {shown}.",
               f"A slope of {shown} is '{_six_digits(slope)} deg'." if single else
               "Give angles: of a slope its inverse tangent.")
    if given.angular and expected.frequency:
        refuse(f"is a frequency in {expected}, but was given the angular value {shown}.",
               _turns(number * given.factor) if single else "Divide by 2π and give it in Hz.")
    counted = given if expected.angular else without_turns(given)
    if counted is not given:
        refuse(f"takes {_article(expected)}, but was given {shown}, in which a turn is 2π rad.",
               _two_readings(number, given, counted))
    if given.angular and expected.is_dimensionless and not expected.angular and given.factor != 1:
        arc = number * given.factor
        refuse(f"takes {_article(expected)}, but was given the angle {shown}.",
               f"Write '{_six_digits(np.tan(arc))}' if a slope is meant, '{_six_digits(arc)}' if "
               "the angle in radians is." if single else "Give slopes, or angles in radians, as "
               "plain numbers.")
    return number * given.factor + given.offset


def size_in_si(value: object, expected: Unit, where: str) -> Any:
    """How large something is, in SI units, greater than 0, such as a tolerance or a nominal value;
    a difference of temperatures."""
    size = to_si(value, expected.as_difference, where)
    if not np.all(np.isfinite(size)):
        raise ParameterError(where, f"is {as_written(value)}, which is not a finite number.",
                             "Give a finite size.", given=value, code="parameter.finite")
    if not np.all(size > 0):
        raise ParameterError(where, f"must be greater than 0, but is {as_written(value)}.",
                             "Check its sign and size.", given=value, code="parameter.bounds")
    return size


def sizes_by_dimension(values: Iterable[object], where: str) -> dict[Any, tuple[float, Unit]]:
    """Sizes for all that is of one dimension, in SI units, with the unit that each was given in."""
    sizes: dict[Any, tuple[float, Unit]] = {}
    for given in values:
        u = unit_given(given, where)
        if u.dimension in sizes:
            raise ParameterError(where, f"was given {as_written(given)} after another one of the "
                                 "same dimension.", "Give one of each dimension.", given=given)
        sizes[u.dimension] = float(size_in_si(given, u, where)), u
    return sizes


def refuse_counted_turns(value: Quantity, given: Unit, where: str) -> None:
    """Refuse a quantity of an equation whose turns multiply something, as in A*turns.

    Nothing says of an equation what it expects, but angles stand alone, over a time or under what
    they multiply: a turn of nothing else is 2π rad.
    """
    counted = without_turns(given)
    if counted is given:
        return
    left, turns = factors_of(counted.text), factors_of(given.text)
    if any(power > 0 for power in left.values()) and any(
            power > 0 for name, power in turns.items() if name not in left):
        raise AngleFrequencyError(where, f"{as_written(value)} stands in an equation, in which a "
                                  "turn is 2π rad.", _two_readings(value.magnitude, given, counted),
                                  given=value)


def _two_readings(number: Any, given: Unit, counted: Unit) -> str:
    """Advice for a number in a unit with turns: what it is without them, either way."""
    if np.ndim(number):
        return "Leave the turns out if they are counted, or give the angle in rad."
    plain, turned = (f"'{_six_digits(n)} {counted.text}'".replace(" '", "'")
                     for n in (number, number * given.factor / counted.factor))
    return f"Write {plain} if turns are counted, {turned} if an angle is meant."


def _refuse_dimension(given: Unit, expected: Unit, where: str, shown: str,
                      advice: str | Mapping[str, str]) -> NoReturn:
    """Refuse another dimension, with advice made from the one that was given."""
    if given.is_dimensionless and not given.angular:
        raise MissingUnit(
            where, f"takes {_article(expected)}, but was given {shown!r} without a unit.",
            f"Give it in {expected}, not as a share." if given.text else
            f"Write '{shown} {expected}' if that is what you mean.", expected=expected, given=shown,
        )  # fmt: skip
    said = advice if isinstance(advice, str) else next(
        (sentence for text, sentence in advice.items()
         if unit(text).dimension == given.dimension), "")  # fmt: skip
    factors = factors_of(given.text)
    said = _counted(shown, expected) or said
    slip = spelt_out(shown, expected.text)
    slip = slip or next(filter(lambda text: _fits(text, expected), meant_texts(given.text)), "")
    slip = slip or meant_unit(factors, lambda text: _fits(text, expected), squares=not said)
    meant = " or ".join(map(repr, in_cases(given.text, slip, lambda text: _fits(text, expected))))
    plain = len(factors) == 1  # needs no explanation
    words = "" if plain or said and not slip else measures(given, unit)
    words *= words.rpartition(" ")[2] not in said  # which may say so itself
    sentences = [f"That is {words}." if words else "", f"Did you mean {meant}?" if slip else "",
                 said or ("" if slip else f"Give it in {expected}." if expected.text
                          else _example(expected))]
    raise WrongDimension(
        where, f"takes {_article(expected)}"
        f"{' or any unit convertible to it' * bool(expected.text)}, but was given {shown}.",
        " ".join(filter(None, sentences)), expected=expected, given=shown,
    )  # fmt: skip


def _fits(text: str, expected: Unit) -> bool:
    try:
        found = unit(text)
    except UnitError:
        return False
    return found.dimension == expected.dimension and (found.frequency, found.angular) == (
        expected.frequency, expected.angular)


def _temperatures(number: Any, given: Unit, expected: Unit, shown: str) -> tuple[str, str]:
    """What is said where a temperature was given for a difference, or the reverse."""
    what = {"temperature": "a temperature", "difference": "a difference of temperatures"}
    other = str(given).replace("Δ", "delta_").replace("°", "deg")
    other = f"delta_{other}" if given.temperature == "temperature" else other[6:]
    example = f"'{_six_digits(number)} {other}'" if np.ndim(number) == 0 else f"{other}"
    return (f"is {what[expected.temperature]} in {expected}, but was given {shown}, "
            f"{what[given.temperature]}.", f"Write {example} if that is what you mean.")


def _turns(rate: float) -> str:
    """Advice for a frequency that was given as an angular value in rad/s."""
    hertz = rate / (2 * np.pi)
    if float(_six_digits(hertz)) * 2 * np.pi == rate:
        return f"Write '{_six_digits(hertz)} Hz' (one turn per period)."
    return (f"Write '{float(hertz)!r} Hz', which is {_six_digits(rate)}/(2π) Hz (one turn per "
            "period).")


def _six_digits(number: float) -> str:
    return f"{float(number):.6g}"


def _article(expected: Unit) -> str:
    return "a plain number" if not str(expected.text) else str(expected)


def _example(expected: Unit) -> str:
    return f"Write for example '1 {expected}'." if str(expected.text) else "Give it without a unit."


def from_si(number: ArrayLike, target: Unit) -> Quantity:
    """A pint quantity in ``target`` units from SI base units."""
    return registry().Quantity(in_unit(number, target), target.pint)


def in_unit(number: ArrayLike, target: Unit) -> Any:
    """Numbers in ``target`` units from SI base units."""
    values = (np.asarray(number, dtype=float) - target.offset) / target.factor
    values = values + 0.0  # of -0.0 nobody asks a sign
    return values if np.ndim(number) else float(values)


def conversion(source: Unit, target: str | Unit, where: str) -> Unit:
    """Return the unit to show a value of ``source`` in, refused if it does not fit."""
    wanted = as_unit(target)
    _convert(0.0, source, wanted, where, str(source), f"It can be shown in {source}.")
    return wanted
