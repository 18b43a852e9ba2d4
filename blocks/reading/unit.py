"""What is a unit: its name, its dimension and its conversion to SI?

Units are read by :mod:`blocks.reading.grammar`; pint is only ever asked for single names.
Dimensions are powers of base dimensions, as pint's are; angles are
dimensionless, as in pint, so a unit also says whether it is angular or a frequency,
and whether it is of temperatures or of their differences.
"""

from __future__ import annotations

import contextlib
import math
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field, replace
from functools import cache, cached_property, lru_cache
from typing import TYPE_CHECKING, Any

import numpy as np

from ..exceptions import UnitError, UnknownUnit, brief
from ..numerics.tolerances import AFFINE_UNIT
from .dimension import Dimension
from .grammar import ANY_UNIT, factors_of
from .slips import ambiguous, in_cases, meant_name, meant_texts, misread, written

if TYPE_CHECKING:
    import pint

__all__ = ["SECOND", "Unit", "alike", "as_unit", "describe", "dimensionless", "of_pint", "placed",
           "readable", "registry", "unit", "unit_at", "without_turns"]  # fmt: skip

_ANGLES = {"radian", "degree", "revolution", "turn", "revolutions_per_minute", "arcminute",
           "arcsecond", "grade", "cycle", "rpm"}
_FREQUENCIES = {"hertz", "counts_per_second", "frame"}
_FAMILIAR = ["N", "N*m", "N/m", "N*s/m", "m/s", "m/s**2", "m", "s", "kg", "kg*m**2", "1/s", "Pa",
             "W", "V", "A", "ohm", "F", "H", "Wb", "K", "W/K", "J/K", "m**2", "m**3", "m**3/s",
             "N*s", "N*m*s", "kg/m**3", "m/s**3", "kg/s", "T", "N*m/rad", "N*m*s/rad", "rad/s",
             "rad/s**2"]  # fmt: skip


_ORDER = "[mass] [length] [current] [temperature] [time]"  # of units of one dimension

#: Types that pint leaves quantity * value to, as it does with those of xarray and pandas.
AS_ARRAYS = ("blocks.language.expression.Expression", "blocks.language.references.OfTime",
             "blocks.results.values.series.Series", "blocks.results.values.series.Derived")


@cache
def registry() -> Any:
    """Return the registry that every quantity here belongs to: pint's application registry.

    It stays the one that was found first, whatever is set later: names that it has read are
    unknown to another. Where nobody has made or set it yet, it is made with pint's cache on disk,
    which saves most of the time it takes to read the definitions of units.
    """
    import pint
    from pint.registry import LazyRegistry

    for name in AS_ARRAYS:
        pint.compat.upcast_type_map.setdefault(name, None)  # type: ignore[attr-defined]
    if isinstance(pint.get_application_registry().get(), LazyRegistry):
        with contextlib.suppress(OSError):  # no folder to keep it in
            pint.set_application_registry(pint.UnitRegistry(cache_folder=":auto:"))
        pint.get_application_registry().get().formatter.default_sort_func = _as_usually_written
    return pint.get_application_registry().get()


def _as_usually_written(units: Iterable[tuple[str, Any, str]], known: Any
                        ) -> list[tuple[str, Any, str]]:
    """Units of a product in the order in which engineers write it: N·m, V·s, W/m²/K, A·h."""
    def order(of: tuple[str, Any, str]) -> tuple[int, int, str]:
        dimension = known.get_dimensionality(of[2])
        return -len(dimension), min(map(_ORDER.find, dimension), default=0), of[0]

    return sorted(units, key=order)


def _pint_unit(powers: dict[str, Any]) -> pint.Unit:
    from pint.util import UnitsContainer

    for name in powers:
        _full_name(name)  # pint knows a name with a prefix after it has read it
    return registry().Unit(UnitsContainer(powers))


@dataclass(frozen=True)
class Unit:
    """A unit with its conversion to SI: ``si = factor * x + offset``."""

    text: str
    dimension: Dimension
    factor: float
    offset: float
    angular: bool
    frequency: bool
    source: Any = field(compare=False, repr=False)  # pint's unit, or powers by pint's names
    temperature: str = ""  # "temperature" or "difference" where the unit says which

    def __str__(self) -> str:
        return self.text or "1"

    @cached_property
    def pint(self) -> pint.Unit:
        return _pint_unit(self.source) if isinstance(self.source, dict) else self.source

    @property
    def is_dimensionless(self) -> bool:
        return not self.dimension

    @property
    def as_difference(self) -> Unit:
        """This unit for differences between values in it."""
        if self.dimension != KELVIN or self.temperature == "difference":
            return self
        if self.offset:
            return unit(_difference_of(self.text.replace("°", "deg")))
        return replace(self, temperature="difference")

    @property
    def as_temperature(self) -> Unit:
        """This unit for temperatures: K, which says by itself neither that nor a difference."""
        return replace(self, temperature="temperature") if self.dimension == KELVIN else self

    @property
    def of_any_temperature(self) -> Unit:
        """This unit where a temperature may be meant as well as a difference."""
        return replace(self, temperature="") if self.temperature else self


def unit(text: str) -> Unit:
    """Read a unit text such as ``"N*s/m"``, ``"rpm"`` or ``"degC"``.

    Raises
    ------
    UnknownUnit
    """
    if not isinstance(text, str):
        raise UnknownUnit("", f"{brief(text)} is not a unit.", "Write it as a text, 'm/s'.",
                          unit=text)  # fmt: skip
    return _read(text)


@cache
def _read(text: str) -> Unit:
    stripped = text.strip()
    factors: dict[str, float] = {}
    try:
        for typed, power in factors_of(text).items():
            name = _name(typed, stripped)
            factors[name] = factors.get(name, 0) + power
    except UnknownUnit as error:
        error.data["unit"] = text
        meant = next(filter(readable, meant_texts(stripped)), "") if len(text) < 60 else ""
        if meant:
            error.problem, error.advice = f"{text!r} is not a unit.", f"Did you mean '{meant}'?"
        raise
    factors = {name: power for name, power in factors.items() if name and power}
    if len(factors) > 1 or list(factors.values()) != [1]:
        factors = {_difference_of(n): power for n, power in factors.items()}
    if not factors:
        return _NONE
    if found := _SI.get(min(factors)) if list(factors.values()) == [1] else None:
        return replace(found, text=stripped)
    return _product(factors, factors, stripped) or _converted(_pint_unit(factors), stripped)


_SIGNS = {"°": "degree", "℃": "degC", "℉": "degF", "rev": "turn"}  # as they are written


@lru_cache(maxsize=4096)
def _name(name: str, text: str) -> str:
    """pint's name of a unit in a text."""
    if name in _SI_NAMES:
        return _SI_NAMES[name]
    typed = name
    if name.endswith("Ohm"):  # as the unit of a person's name would be written
        name = f"{name[:-3]}ohm"
    full = None
    if not misread(name):
        with contextlib.suppress(Exception):  # of several kinds
            full = _full_name(_SIGNS.get(name, name))
    if full is not None:
        words, advice = ambiguous(registry().parse_unit_name(full)[0][1]) if full else ("", "")
        if words and typed not in advice.split():
            raise UnknownUnit("", f"{brief(typed)} may be {words}.", advice, unit=text, piece=typed)
        return full
    meant = meant_name(name, _exists)
    better = [text.replace(typed, one, 1) for one in in_cases(typed, meant, _exists)]
    if meant and readable(better[0]):
        raise UnknownUnit("", f"{text!r} is not a unit.", f"Did you mean "
                          f"{' or '.join(map(repr, better))}?", unit=text, piece=typed)
    raise UnknownUnit("", f"{brief(text)} is not a unit.", ANY_UNIT if typed == text else
                      f"There is no unit {brief(typed)}. {ANY_UNIT}", unit=text, piece=typed)


@cache
def _full_name(name: str) -> str:
    return str(registry().get_name(name))


def _exists(name: str) -> bool:
    try:
        _full_name(name)
    except Exception:
        return False
    return True


def _difference_of(name: str) -> str:
    """Degrees in a product are differences: W/degC."""
    if name in _SI:
        return name
    return f"delta_{name}" if not registry()._units[name].is_multiplicative and _exists(
        f"delta_{name}") else name  # fmt: skip


@cache
def of_pint(parsed: pint.Unit) -> Unit:
    """A unit from one of pint's; the familiar one where it is the same: W rather than m*N/s."""
    if parsed._REGISTRY is not registry():
        return unit(str(parsed))
    found = _converted(parsed, f"{parsed:~C}")
    if found.factor != 1 or len(parsed._units) < 2 or found.frequency:
        return found
    same = (u for u in map(unit, _FAMILIAR) if u.dimension == found.dimension
            and (u.angular == found.angular or u.text == "W"))  # fmt: skip
    return next((u for u in same if len(u.pint._units) == 1 or u.pint == parsed), found)


def _product(powers: dict[str, float], source: object, text: str) -> Unit | None:
    """A product from its factors, each of which pint converts once; None where that is not all."""
    if list(powers.values()) in ([], [1]):
        return None
    try:
        parts = [(_single(name), power) for name, power in powers.items()]
        over = math.prod(one.factor**power for one, power in parts if power > 0)
        factor = over / math.prod(one.factor**-power for one, power in parts if power < 0)
    except (UnknownUnit, OverflowError, ZeroDivisionError):
        return None
    if any(one.offset for one, _ in parts) or not (factor and math.isfinite(factor)):
        return None
    dimension = Dimension()
    for one, power in parts:
        dimension *= one.dimension**power
    return Unit(text, dimension, factor, 0.0, any(one.angular for one, _ in parts),
                any(one.frequency for one, _ in parts), source)


@cache
def _single(name: str) -> Unit:
    return _SI.get(name) or _converted(_pint_unit({name: 1}), name)


def _converted(parsed: pint.Unit, text: str) -> Unit:
    """The unit with its conversion to SI."""
    from pint import DimensionalityError

    ureg = registry()
    try:
        zero, one, two = map(float, ureg.Quantity(np.arange(3.0), parsed).to_base_units().magnitude)
    except OverflowError:
        zero, one, two = 0.0, np.inf, np.inf
    except DimensionalityError:  # what is logarithmic has no products
        zero, one, two = 0.0, 1.0, 4.0
    if not (np.isfinite(two) and two != zero):
        raise UnknownUnit("", f"{brief(text)} is too large or too small a unit.",
                          "Take one nearer to SI's.", unit=text, piece=text)  # fmt: skip
    if abs(two - 2 * one + zero) > AFFINE_UNIT * abs(two - zero):
        raise UnknownUnit("", f"{brief(text)} is a logarithmic unit.",
                          "Give the plain ratio, or the quantity itself.", unit=text, piece=text)
    names = {ureg.parse_unit_name(n)[0][1] for n in parsed._units}  # without prefixes
    difference = list(parsed._units.values()) == [1] and min(names).startswith("delta_")
    return Unit(text=text, dimension=Dimension(parsed.dimensionality), factor=one - zero,
                offset=zero, angular=bool(names & _ANGLES), frequency=bool(names & _FREQUENCIES),
                source=parsed,
                temperature="temperature" if zero else "difference" if difference else "")


def as_unit(given: object) -> Unit:
    """A :class:`Unit` from a text, a pint unit or itself."""
    if isinstance(given, Unit):
        return given
    if hasattr(given, "_units") and hasattr(given, "dimensionality") and not hasattr(
            given, "magnitude"):
        return of_pint(given)  # type: ignore[arg-type]
    return unit(given)  # type: ignore[arg-type]  # says so where it is no text


dimensionless = Dimension()
KELVIN = Dimension({"[temperature]": 1})
_L, _M, _T, _I = "[length]", "[mass]", "[time]", "[current]"
_COHERENT: dict[str, tuple[str, dict[str, int]]] = {
    "m": ("meter", {_L: 1}), "kg": ("kilogram", {_M: 1}), "s": ("second", {_T: 1}),
    "A": ("ampere", {_I: 1}), "K": ("kelvin", {"[temperature]": 1}), "rad": ("radian", {}),
    "Hz": ("hertz", {_T: -1}), "N": ("newton", {_L: 1, _M: 1, _T: -2}),
    "Pa": ("pascal", {_L: -1, _M: 1, _T: -2}), "J": ("joule", {_L: 2, _M: 1, _T: -2}),
    "W": ("watt", {_L: 2, _M: 1, _T: -3}), "V": ("volt", {_L: 2, _M: 1, _T: -3, _I: -1}),
    "ohm": ("ohm", {_L: 2, _M: 1, _T: -3, _I: -2}), "F": ("farad", {_L: -2, _M: -1, _T: 4, _I: 2}),
    "H": ("henry", {_L: 2, _M: 1, _T: -2, _I: -2}), "T": ("tesla", {_M: 1, _T: -2, _I: -1}),
    "Wb": ("weber", {_L: 2, _M: 1, _T: -2, _I: -1})}
#: Units of SI by pint's names, and these by what is typed: known without pint, which takes longer
#: to load than a model to describe.
_SI_NAMES = {short + typed: word + name for short, word in (("", ""), ("m", "milli"), ("k", "kilo"))
             for typed, (name, _) in _COHERENT.items() if not short or typed != "kg"}
_SI = {word + name: Unit(name, Dimension(powers), factor, 0.0, name == "radian", name == "hertz",
                         {word + name: 1})
       for word, factor in (("", 1.0), ("milli", 1e-3), ("kilo", 1e3))
       for name, powers in _COHERENT.values()}  # fmt: skip
_NONE = Unit("", dimensionless, 1.0, 0.0, False, False, {})
SECOND = unit("s")


@contextlib.contextmanager
def placed(where: str) -> Iterator[None]:
    """Say of an error about units where it was made."""
    try:
        yield
    except UnitError as error:
        raise type(error)(error.where or where, error.problem, error.advice, **error.data) from None


def unit_at(text: object, where: str) -> Unit:
    """A unit, or the error that says where it stands."""
    with placed(where):
        return as_unit(text)


def alike(a: Unit, b: Unit) -> bool:
    """Whether values in one unit may be taken for values in the other."""
    return a.dimension == b.dimension and {a.temperature, b.temperature} != {
        "temperature", "difference"}


def without_turns(given: Unit) -> Unit:
    """The unit without the turns in it: A of A*turns, mm of mm/rev."""
    factors = factors_of(given.text) if given.angular else {}
    left = {name: power for name, power in factors.items() if "turn" not in unit(name).pint._units}
    return given if len(left) == len(factors) else unit(written(left) if left else "")


def readable(text: str) -> str:
    """The text, where it is a unit."""
    try:
        return unit(text).text
    except UnitError:
        return ""


def describe(dimension: Dimension) -> str:
    """A dimension in words a person knows: ``"N*s/m"`` rather than ``"[mass]/[time]"``."""
    if not dimension:
        return "dimensionless"
    for name in _FAMILIAR:
        if unit(name).dimension == dimension:
            return str(unit(name))
    base = {"[length]": "meter", "[mass]": "kilogram", "[time]": "second", "[current]": "ampere",
            "[temperature]": "kelvin", "[substance]": "mole", "[luminosity]": "candela"}
    if not set(dimension) <= set(base):
        return "*".join(f"{k}**{e:g}" for k, e in sorted(dimension.items()))
    return f"{_pint_unit({base[k]: e for k, e in dimension.items()}):~C}"
