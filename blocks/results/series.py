"""What are the values of one variable over the run, in which unit?

A :class:`Series` reads its values when they are first asked for and hands them
out as pint quantities in the declared unit.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
import pint

from ..exceptions import ParameterError
from ..units import Unit, from_si, quantity
from .formula import formula
from .modes import code_of, in_words, shares
from .recording import EnergyTerm, EventRecord, Recording, VariableInfo
from .runs import along, by_time, own_times, part, refuse_mixture, run_of
from .sheet import Sheet
from .shown import SECOND, label, number, unit_to_show
from .times import TIME, check_side, seconds_of, summits, within_run

__all__ = ["Series"]

MANY = 1000  # instances of an array of which single samples are read by themselves
FEW = 300  # and between whose samples the largest value is looked for


class Series:
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

    def __init__(
        self, recording: Recording, infos: VariableInfo | Sequence[VariableInfo], path: str
    ) -> None:
        self._recording = recording
        self.is_array = not isinstance(infos, VariableInfo)
        self.infos: tuple[VariableInfo, ...] = (
            (infos,) if isinstance(infos, VariableInfo) else tuple(infos)
        )
        self.path = path
        self._si: np.ndarray | None = None

    # -- what it is ------------------------------------------------------------------
    @property
    def unit(self) -> Unit:
        """The declared unit."""
        return self.infos[0].unit

    @property
    def units(self) -> Any:
        """The declared unit as pint's ``Unit``."""
        return self.unit.pint

    @property
    def kind(self) -> str:
        return self.infos[0].kind

    @property
    def doc(self) -> str:
        return self.infos[0].doc

    @property
    def time(self) -> Series:
        """Sample times. Two equal ones are the sides of an event."""
        return clock(self._recording)

    @property
    def shape(self) -> tuple[int, ...]:
        samples = len(self._recording.times)
        return (len(self.infos), samples) if self.is_array else (samples,)

    @property
    def ndim(self) -> int:
        return len(self.shape)

    def __len__(self) -> int:
        return self.shape[0]

    # -- values ----------------------------------------------------------------------
    @property
    def si(self) -> np.ndarray:
        """Values in SI base units, read once."""
        if self._si is None:
            self._si = self._shaped(self._recording.values([i.index for i in self.infos]))
        return self._si

    def _shaped(self, rows: Any) -> np.ndarray:
        rows = np.asarray(rows, dtype=float)
        return rows if self.is_array else rows[0]

    def to(self, units: str | Unit) -> Any:
        """All samples as a pint quantity in other units.

        Raises
        ------
        WrongDimension, AngleFrequencyError, UnknownUnit
        """
        return from_si(self.si, unit_to_show(self.unit, units, self.path))

    @property
    def quantity(self) -> Any:
        """All samples as a pint quantity in the declared unit."""
        return from_si(self.si, self.unit)

    @property
    def magnitude(self) -> np.ndarray:
        """All samples as numbers in the declared unit."""
        return self.quantity.magnitude

    m = magnitude

    def at(self, times: Any, side: str = "right") -> Any:
        """Values at given times, as exact as the solver's own interpolant.

        Parameters
        ----------
        times : str, quantity, or sequence of these
            ``"1.5 s"``, ``["1 s", "2 s"]``, ``quantity([1, 2], "ms")``.
        side : {"right", "left"}
            After or before an event that happens at such a time.

        Returns
        -------
        Quantity
            In the declared unit; a scalar for one variable at one time.

        Raises
        ------
        ParameterError
            For times outside the run.
        """
        where = f"{self.path}.at"
        return from_si(self._at(seconds_of(times, where), side, where), self.unit)

    def _at(self, seconds: np.ndarray, side: str, where: str) -> Any:
        check_side(side, where)
        inside = within_run(self._recording.times, seconds, where).ravel()
        order = np.argsort(inside, kind="stable")
        rows = np.empty((len(self.infos), len(inside)))
        indices = [i.index for i in self.infos]
        rows[:, order] = self._recording.values(indices, inside[order], side)
        found = rows.reshape(len(self.infos), *seconds.shape)
        return found if self.is_array else found[0] if seconds.ndim else float(found[0])

    def in_words(self, times: Any = None, side: str = "right") -> Any:
        """The words of a mode (``"stuck"``, ``"slides forward"``, ``"open"`` …).

        At given times as in :meth:`at`, or of all samples.
        """
        words = self._words()
        if times is None:
            return in_words(self.si, words)
        where = f"{self.path}.in_words"
        return in_words(self._at(seconds_of(times, where), side, where), words)

    def _words(self) -> Mapping[int, str]:
        words = self.infos[0].words
        if words is None:
            raise ParameterError(self.path, "is a number and has no words.",
                                 "Only modes of friction and contact have.", code="result.words")
        return words

    @property
    def initial(self) -> Any:
        """First sample."""
        return from_si(self._sample(0), self.unit)

    @property
    def final(self) -> Any:
        """Last sample."""
        return from_si(self._sample(-1), self.unit)

    def _sample(self, k: int) -> Any:
        """One sample, without reading the others of a large array."""
        if self._si is not None or len(self.infos) < MANY:
            return self._some()[..., k]
        times = np.asarray(self._recording.times)[[k]]
        return self._recording.values([i.index for i in self.infos], times)[:, 0]

    def max(self) -> Any:
        """Largest value, also between samples; for an array, that of every instance."""
        return from_si(self._shaped(self._largest(1)), self.unit)

    def min(self) -> Any:
        """Smallest value, also between samples; for an array, that of every instance."""
        return from_si(self._shaped(-self._largest(-1)), self.unit)

    def _largest(self, sign: int) -> np.ndarray:
        """The largest of all samples and of the summit they promise, as a row per variable.

        A parabola through three samples shows where a summit is, the solver's interpolant
        how high. Arrays of very many instances are left at their samples.
        """
        rows = sign * self._some().reshape(len(self.infos), -1)
        best = rows.max(axis=-1)
        if rows.shape[1] < 3 or len(rows) > FEW:
            return best
        times = np.asarray(self._recording.times)
        tops, heights = summits((times[:-2], times[1:-1], times[2:]),
                                (rows[:, :-2], rows[:, 1:-1], rows[:, 2:]))  # fmt: skip
        place = np.argmax(heights, axis=1)
        found = np.flatnonzero(heights[np.arange(len(rows)), place] > best)
        if not len(found):
            return best
        indices = [self.infos[int(i)].index for i in found]
        own = np.arange(len(found))
        top, place = tops[found, place[found]], place[found]

        def height(at: np.ndarray) -> np.ndarray:
            order = np.argsort(at, kind="stable")
            values = np.empty((len(found), at.size))
            values[:, order] = self._recording.values(indices, at[order])
            return sign * values[own, own]

        apart = (times[place + 2] - times[place]) / 16
        near = [np.clip(top + k * apart, times[place], times[place + 2]) for k in (-1, 0, 1)]
        seen = [height(at) for at in near]
        tops, heights = summits(near, seen)
        seen.append(height(np.where(np.isfinite(heights), tops, top)))
        best[found] = np.maximum(best[found], np.max(seen, axis=0))
        return best

    def mean(self) -> Any:
        """Mean over time, whatever the spacing of the samples; of every instance."""
        return from_si(self._over_time(lambda values: values), self.unit)

    def rms(self) -> Any:
        """Root mean square over time; of every instance."""
        return from_si(np.sqrt(self._over_time(np.square)), self.unit)

    def _over_time(self, function: Callable[[np.ndarray], np.ndarray]) -> Any:
        """Time average of a function of the values, by adaptive quadrature between samples."""
        from .quadrature import integrals

        whole, times = self._some(), np.asarray(self._recording.times, dtype=float)
        apart = np.diff(times) > 0
        if not apart.any():
            return function(whole[..., -1])
        indices = [i.index for i in self.infos]
        total, _, _ = integrals(lambda at: function(np.asarray(
            self._recording.values(indices, at))), times[:-1][apart], times[1:][apart])
        return self._shaped(total / np.diff(times).sum())

    def _some(self) -> np.ndarray:
        if not len(self._recording.times):
            raise ParameterError(self.path, "has no samples: the run ended before its first one.",
                                 "See result.message.", code="result.empty")  # fmt: skip
        return self.si

    def __getitem__(self, index: Any) -> Any:
        """Instances of an array as Series; samples of a variable as quantities.

        A time (``v["0.2 s"]``) is that of :meth:`at`; a slice of time gives the Series of that
        part of the run, or with a step (``v["0 s":"1 s":"10 ms"]``) of samples at equal
        distances.
        """
        if by_time(index):
            where = f"{self.path}[…]"
            if not isinstance(index, slice):
                return from_si(self._at(seconds_of(index, where), "right", where), self.unit)
            infos = self.infos if self.is_array else self.infos[0]
            return Series(part(self._recording, index, where), infos, self.path)
        if not self.is_array:
            return self.quantity[index]
        if isinstance(index, tuple):
            if by_time(index[1]):
                return self[index[0]][index[1]]
            return self[index[0]].quantity[(..., *index[1:])]
        chosen = np.arange(len(self.infos))[index]
        if np.ndim(chosen) == 0:
            info = self.infos[int(chosen)]
            return Series(self._recording, info, info.path)
        return Series(self._recording, [self.infos[k] for k in chosen], self.path)

    # -- the protocols of numpy and arithmetic ----------------------------------------
    def __array__(self, dtype: Any = None, copy: bool | None = None) -> np.ndarray:
        return np.array(self.magnitude, dtype=dtype)

    def to_numpy(self) -> np.ndarray:
        """Numbers in the declared unit (also what matplotlib draws)."""
        return np.array(self.magnitude)

    def __array_ufunc__(self, ufunc: Any, method: str, *inputs: Any, **kwargs: Any) -> Any:
        if method != "__call__":
            refuse_mixture(_series_in(inputs), f"np.{ufunc.__name__}.{method}")
            return getattr(ufunc, method)(*_quantities(inputs), **kwargs)
        return _made(ufunc, ufunc.__name__, inputs, kwargs)

    def __array_function__(self, func: Any, types: Any, args: Any, kwargs: Any) -> Any:
        refuse_mixture(_series_in((args, kwargs)), f"np.{func.__name__}")
        return func(*_quantities(args), **_quantities(kwargs))

    def _beside(self, other: Any) -> Any:
        """What stands beside this series: another one as it is at this one's samples."""
        if isinstance(other, str):
            words = self.infos[0].words
            return quantity(other) if words is None else code_of(other, words, self.path)
        if not isinstance(other, Series):
            return other
        if own_times(self._recording, other._recording):
            return other.quantity
        rows = along(other, np.asarray(self._recording.times), self.path)
        return from_si(other._shaped(rows), other.unit)

    def __neg__(self) -> Any:
        return _made(operator.neg, "-", (self,))

    def __abs__(self) -> Any:
        return _made(operator.abs, "abs", (self,))

    # -- looking -----------------------------------------------------------------------
    def to_pandas(self) -> Any:
        """A pandas Series (a DataFrame for an array) over time, units in the labels."""
        from .table import sample

        frame = sample(self._recording, [self]).to_pandas()
        return frame if self.is_array else frame.iloc[:, 0]

    def plot(self, units: str | None = None, **options: Any) -> Any:
        """Draw it over time; options as in ``Result.plot``."""
        from .plotting import plot

        return plot(self._recording, [self], units=units, **options)

    def _facts(self) -> Sheet:
        times = self._recording.times
        title = label(self.path, self.unit) + (f" × {len(self.infos)}" if self.is_array else "")
        rows: list[tuple[str, str]] = [("kind", self.kind)]
        if self.doc:
            rows.append(("meaning", self.doc))
        if len(times) and len(self.infos):
            rows.append(("samples", f"{len(times)} from {number(times[0], SECOND)} to "
                                    f"{number(times[-1], SECOND)}"))  # fmt: skip
            words = self.infos[0].words
            if words is not None:
                rows += [(word, f"{100 * share:.4g} % of the time")
                         for word, share in shares(self)]
                if not self.is_array:
                    rows += [("initial", in_words(self.si[0], words)),
                             ("final", in_words(self.si[-1], words))]
                return Sheet.of_facts(self.path, rows)
            worth = {"initial": self.initial, "final": self.final, "min": self.min(),
                     "max": self.max()}  # fmt: skip
            scale = max(np.max(np.abs(worth[w].magnitude)) for w in ("min", "max"))
            for word, value in worth.items():
                low, high = np.min(value.magnitude), np.max(value.magnitude)
                text = number(high, self.unit, scale=scale)
                spread = low != high and np.ndim(value.magnitude)
                rows.append((word, f"{number(low, scale=scale)} … {text}" if spread else text))
        return Sheet.of_facts(title, rows)

    def __repr__(self) -> str:
        return repr(self._facts())

    def _repr_html_(self) -> str | None:
        return self._facts()._repr_html_()


class Derived(Series):
    """What arithmetic makes of series: a Series, and also what a quantity of its samples is."""

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_"):
            raise AttributeError(name)
        return getattr(self.quantity, name)

    __hash__ = None  # type: ignore[assignment]


def _made(function: Callable[..., Any], name: str, operands: Sequence[Any],
          options: Mapping[str, Any] | None = None) -> Any:
    """A function of series and other things: a Series of what has a value at every time."""
    lead = _series_in(operands)[0]
    operands = [quantity(x) if isinstance(x, str) else x for x in operands]
    if not options and all(isinstance(x, Series) or not _series_in(x) for x in operands):
        found = formula(function, name, operands)
        if found is not None:
            recording, infos, array = found
            return Derived(recording, infos if array else infos[0], infos[0].path)
    return function(*(lead._beside(x) if isinstance(x, Series) else _quantities(x)
                      for x in operands), **(options or {}))  # fmt: skip


def _operator(name: str) -> Callable[[Series, Any], Any]:
    function = getattr(operator, name)

    def forward(self: Series, other: Any) -> Any:
        return _made(function, name, (self, other))

    forward.__name__ = name
    return forward


def _reflected(name: str) -> Callable[[Series, Any], Any]:
    function = getattr(operator, name)

    def backward(self: Series, other: Any) -> Any:
        return _made(function, name, (other, self))

    backward.__name__ = name
    return backward


def _comparison(name: str) -> Callable[[Series, Any], Any]:
    function = getattr(operator, name)

    def compare(self: Series, other: Any) -> Any:
        return function(self.quantity, self._beside(other))

    compare.__name__ = name
    return compare


for _name in ("add", "sub", "mul", "truediv", "pow"):
    setattr(Series, f"__{_name}__", _operator(_name))
    setattr(Series, f"__r{_name}__", _reflected(_name))
for _name in ("lt", "le", "gt", "ge", "eq", "ne"):
    setattr(Series, f"__{_name}__", _comparison(_name))


# Without this, quantity * series would take the series for a plain number without unit.
for _kind in (Series, Derived):
    pint.compat.upcast_type_map[f"{_kind.__module__}.{_kind.__qualname__}"] = _kind  # type: ignore[index]


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


class _Clock:
    """A recording of time itself."""

    def __init__(self, recording: Recording) -> None:
        self.recording, self.run = recording, run_of(recording)
        self.name, self.times = recording.name, recording.times
        self.catalog: Mapping[str, VariableInfo] = {TIME.path: TIME}
        self.events: Sequence[EventRecord] = ()
        self.statistics: Mapping[str, Any] = {}
        self.status, self.message = recording.status, recording.message

    def values(
        self, indices: Sequence[int], times: np.ndarray | None = None, side: str = "right"
    ) -> np.ndarray:
        return np.array([self.times if times is None else times], dtype=float)

    def energy_terms(self) -> Sequence[EnergyTerm]:
        return ()


def clock(recording: Recording) -> Series:
    """The sample times as a Series."""
    return Series(_Clock(recording), TIME, "time")
