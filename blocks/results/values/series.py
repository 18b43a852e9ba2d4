"""One variable of a run, to calculate with and to look at.

A :class:`Series` reads its values when they are first asked for and hands them
out as pint quantities in the declared unit.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Unpack, overload

import numpy as np

from ...exceptions import MissingUnit, ParameterError, WrongCall, WrongDimension, brief, calls_told
from ...numerics.arrays import Array, Flags
from ...reading.foreign_words import attribute_elsewhere
from ...units import Quantity, as_written, from_si, quantity
from ..recording import Curves
from ..sheet import Tabulated
from .formula import Formula
from .modes import code_of, in_words
from .samples import Samples, refuse_mixture, rows_at
from .times import TIME, by_time, seconds_of
from .views import TimeAxis, same_samples, stretch

if TYPE_CHECKING:
    import pandas
    from matplotlib.figure import Figure

    from ..plots.plotting import PlotOptions
    from ..sheet import Sheet

__all__ = ["Series"]


def _arithmetic(name: str) -> tuple[Callable[[Any, Any], Series], Callable[[Any, Any], Series]]:
    """An operator with a series on its left, and with one on its right."""
    function = getattr(operator, name)

    def forward(self: Series, other: Any) -> Series:
        return _applied(function, name, (self, other))

    def backward(self: Series, other: Any) -> Series:
        return _applied(function, name, (other, self))

    return forward, backward


def _comparison(name: str) -> Callable[[Any, Any], Flags]:
    function = getattr(operator, name)

    def compare(self: Series, other: Any) -> Flags:
        from pint import DimensionalityError

        beside, unit = _at_samples_of(self, other), self.declared_unit
        try:
            return function(self.quantity, beside)
        except DimensionalityError:
            raise WrongDimension(
                self.path, f"is in {unit} and cannot be compared with {as_written(beside)}.",
                f"Name {unit} or a unit convertible to it.", given=other) from None
        except ValueError:  # pint's, of a number without a unit
            raise MissingUnit(
                self.path, f"is in {unit} and cannot be compared with {brief(other)}.",
                f"Write its unit: '{brief(other)} {unit}'.", given=other) from None

    return compare


@calls_told
class Series(Tabulated, Samples):
    """Values of a recorded variable, or of all instances of an array of them.

    Its numbers are in the declared unit wherever no other is asked for. An
    array has one row per instance and one column per sample.

    Examples
    --------
    ::

        v = result["block.v"]
        v.to("mm/s")            # quantity array in mm/s
        v.at("1.5 s")           # interpolated by the solver, in the declared unit
        v.at(["1 s", "2 s"], side="left")
        v.final, v.max()        # scalar quantities
        v.mean(), v.rms()       # averages over time, not over samples
        v.integral()            # over time: of a velocity, the way
        (v * result["friction.f"]).mean()    # arithmetic gives series
        v["0.2 s":"0.4 s"].max()    # a part of the run
        result["friction.mode"].in_words("1.5 s")    # "stuck"
        np.asarray(v)           # bare numbers in the declared unit

    Notes
    -----
    Sums, products and other functions of series that go sample by sample are series, with a
    value at every time. Of several runs, the samples are those of the series on the left:
    the others are read at these by the interpolants of their own runs, before and after an
    event of the left one. A run that does not cover these times is refused, and so are
    functions of numpy that do not go sample by sample. What :meth:`to`, ``quantity`` and ``m``
    give are plain arrays, which know no run.
    """

    __hash__ = None  # type: ignore[assignment]  # == compares sample by sample

    if not TYPE_CHECKING:  # which would take every name for one
        def __getattr__(self, name: str) -> Any:
            return attribute_elsewhere(self, name, "series", "path", "values have")

    @property
    def time(self) -> Series:
        """Sample times. Two equal ones are the sides of an event."""
        return time_of(self.rows.source)

    def in_words(self, times: Any = None, side: str = "right") -> str | Array:
        """Return the words of a mode (``"stuck"``, ``"slides forward"``, ``"open"`` …).

        At given times as in :meth:`at`, or of all samples.
        """
        words = self.infos[0].words
        if words is None:
            raise ParameterError(self.path, "is a number and has no words.",
                                 "Only modes of friction and contact have.", code="result.words")
        if times is None:
            return in_words(self.si, words)
        where = f"{self.path}.in_words"
        return in_words(self.si_at(seconds_of(times, where), side, where), words)

    @overload
    def __getitem__(self, index: str | Quantity) -> Quantity: ...
    @overload
    def __getitem__(self, index: slice[str | Quantity, Any, Any] | slice[Any, str | Quantity, Any]
                    ) -> Series: ...
    @overload
    def __getitem__(self, index: Any) -> Series | Quantity: ...
    def __getitem__(self, index: Any) -> Series | Quantity:
        """Instances of an array as Series; samples of a variable as quantities.

        A time (``v["0.2 s"]``) is that of :meth:`at`; a slice of time gives the Series of that part
        of the run, or with a step (``v["0 s":"1 s":"10 ms"]``) of samples at equal distances.
        """
        source = self.rows.source
        if by_time(index):
            where = f"{self.path}[…]"
            if not isinstance(index, slice):
                at = seconds_of(index, where)
                return from_si(self.si_at(at, "right", where), self.declared_unit)
            infos = self.infos if self.is_array else self.infos[0]
            return Series(stretch(source, index, where), infos, self.path)
        if not self.is_array:
            return self.quantity[index]
        if isinstance(index, tuple):
            if by_time(index[1]):
                return self[index[0]][index[1]]
            return self[index[0]].quantity[(..., *index[1:])]
        chosen = np.arange(len(self.infos))[index]
        if np.ndim(chosen) == 0:
            info = self.infos[int(chosen)]
            return Series(source, info, info.path)
        return Series(source, [self.infos[k] for k in chosen], self.path)

    # -- arithmetic, and the protocols of numpy --------------------------------------------
    __add__, __radd__ = _arithmetic("add")
    __sub__, __rsub__ = _arithmetic("sub")
    __mul__, __rmul__ = _arithmetic("mul")
    __truediv__, __rtruediv__ = _arithmetic("truediv")
    __pow__, __rpow__ = _arithmetic("pow")
    __lt__, __le__ = _comparison("lt"), _comparison("le")
    __gt__, __ge__ = _comparison("gt"), _comparison("ge")
    __eq__, __ne__ = _comparison("eq"), _comparison("ne")  # type: ignore[assignment]

    def __neg__(self) -> Series:
        return _applied(operator.neg, "-", (self,))

    def __abs__(self) -> Series:
        return _applied(operator.abs, "abs", (self,))

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> np.ndarray:
        return np.array(self.magnitude, dtype=dtype)

    def to_numpy(self) -> Array:
        """Numbers in the declared unit (also what matplotlib draws)."""
        return np.array(self.magnitude)

    def __array_ufunc__(self, ufunc: Any, method: str, *inputs: Any, **kwargs: Any) -> Any:
        if method != "__call__":
            refuse_mixture(_series_in(inputs), f"np.{ufunc.__name__}.{method}")
            return getattr(ufunc, method)(*_quantities(inputs), **kwargs)
        return _applied(ufunc, ufunc.__name__, inputs, kwargs)

    def __array_function__(self, func: Any, types: Any, args: Any, kwargs: Any) -> Any:
        refuse_mixture(_series_in((args, kwargs)), f"np.{func.__name__}")
        from pint import DimensionalityError

        name = f"np.{f'{func.__module__}.'.partition('.')[2]}{func.__name__}"
        try:
            return func(*_quantities(args), **_quantities(kwargs))
        except DimensionalityError as error:
            raise WrongDimension(name, f"meets different units: {error}.", "Give units to all, or "
                                 f"bare numbers: {self.path!r} has its in .m.") from None
        except TypeError as error:
            if "no implementation found" not in str(error):
                raise
            raise WrongCall(
                name, "is not known for values with units.", "Hand it bare numbers, of samples at "
                f"equal distances where it takes them to be: result.sample({self.path!r}, "
                f"every='1 ms')[{self.path!r}].m.") from None

    # -- looking -----------------------------------------------------------------------
    def to_pandas(self) -> pandas.Series | pandas.DataFrame:  # type: ignore[override]
        """A pandas Series (a DataFrame for an array) over time, units in the labels."""
        from .sampling import sample

        frame = sample(self.rows.source, [self]).to_pandas()
        return frame if self.is_array else frame.iloc[:, 0]

    def plot(self, units: str | None = None, **options: Unpack[PlotOptions]) -> Figure:
        """Draw it over time; options as in ``Result.plot``."""
        from ..plots.plotting import plot

        return plot(self.rows.source, [self], units=units, **options)

    def _sheet(self) -> Sheet:
        from ..explain import facts

        return facts(self)


class Derived(Series):
    """What arithmetic makes of series: a Series, and also what a quantity of its samples is."""

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_"):
            raise AttributeError(name)
        return getattr(self.quantity, name)


def time_of(source: Curves) -> Series:
    """The sample times as a Series."""
    return Series(TimeAxis(source), TIME, "time")


def _applied(function: Callable[..., Any], name: str, operands: Sequence[Any],
             options: Mapping[str, Any] | None = None) -> Any:
    """A function of series and other things: a Series of what has a value at every time."""
    lead = _series_in(operands)[0]
    operands = [quantity(x) if isinstance(x, str) else x for x in operands]
    if not options and all(isinstance(x, Series) or not _series_in(x) for x in operands):
        made = Formula.of(function, name, operands)
        if made is not None:
            return Derived(made, made.infos if made.is_array else made.infos[0], made.infos[0].path)
    return function(*(_at_samples_of(lead, x) if isinstance(x, Series) else _quantities(x)
                      for x in operands), **(options or {}))  # fmt: skip


def _at_samples_of(lead: Series, other: Any) -> Any:
    """What stands beside a series: another one as it is at this one's samples."""
    if isinstance(other, str):
        words = lead.infos[0].words
        return quantity(other) if words is None else code_of(other, words, lead.path)
    if not isinstance(other, Series):
        return other
    if same_samples(lead.rows.source, other.rows.source):
        return other.quantity
    rows = rows_at(other, np.asarray(lead.rows.source.times), lead.path)
    return from_si(other.shaped(rows), other.declared_unit)


def _series_in(things: Any) -> list[Series]:
    """All series in nested arguments, in order."""
    if isinstance(things, Series):
        return [things]
    inner = things.values() if isinstance(things, dict) else things
    if isinstance(things, (dict, tuple, list)):
        return [s for thing in inner for s in _series_in(thing)]
    return []


def _quantities(things: Any) -> Any:
    if isinstance(things, Series):
        return things.quantity
    if isinstance(things, dict):
        return {k: _quantities(v) for k, v in things.items()}
    if isinstance(things, (tuple, list)):
        return type(things)(_quantities(v) for v in things)
    return things
