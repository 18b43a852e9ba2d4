"""What are the values of one variable over the run, in which unit, and beside those of others?

A series knows its run. Where several meet, one of them says the times, and every other is
read at these by the interpolant of its own run; where it does not cover them, or where there
is no time to go by, they are refused.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from ...exceptions import ParameterError, calls_told, unknown_name
from ...numerics.arrays import Array
from ...units import Quantity, Unit, from_si, in_unit, quantity, to_si, unit_of
from ..formatting import SECOND, number, unit_to_show
from ..recording import Curves, VariableInfo
from .extremes import largest
from .rows import Rows
from .times import seconds_of, within_run
from .views import both_limits, run_of, same_samples

if TYPE_CHECKING:
    import pint

__all__ = ["KINDS", "NUMBERS", "OVER_TIME", "Samples", "headings", "reduction_of", "refuse_mixture",
           "refuse_times_not_covered", "rows_at", "unit_of_number"]  # fmt: skip

OVER_TIME = "mean", "rms", "integral"
NUMBERS = "initial", "final", "max", "min", *OVER_TIME  # that a variable has in a run
KINDS = *NUMBERS, "at"
CALL = re.compile(r"\s*(\w+)\s*\((.*)\)\s*", re.DOTALL)


@calls_told
class Samples:
    """Values of a recorded variable over time, or of all instances of an array, with units.

    Parameters
    ----------
    source : what they are read from, when they are first asked for
    infos : the variable, or the instances of an array
    path : str

    Attributes
    ----------
    rows : Rows
        The bare numbers, one row per instance.
    """

    def __init__(self, source: Curves, infos: VariableInfo | Sequence[VariableInfo],
                 path: str) -> None:
        self.is_array = not isinstance(infos, VariableInfo)
        self.infos = (infos,) if isinstance(infos, VariableInfo) else tuple(infos)
        self.path = path
        self.rows = Rows(source, [i.index for i in self.infos], path)

    # -- what it is ------------------------------------------------------------------
    @property
    def declared_unit(self) -> Unit:
        """The declared unit, with the text it was written in."""
        return self.infos[0].unit

    @property
    def units(self) -> pint.Unit:
        """The declared unit as pint's ``Unit``."""
        return self.declared_unit.pint

    @property
    def kind(self) -> str:
        return self.infos[0].kind

    @property
    def doc(self) -> str:
        return self.infos[0].doc

    @property
    def shape(self) -> tuple[int, ...]:
        samples = len(self.rows.source.times)
        return (len(self.infos), samples) if self.is_array else (samples,)

    @property
    def ndim(self) -> int:
        return len(self.shape)

    def __len__(self) -> int:
        return self.shape[0]

    def shaped(self, rows: Array) -> Array:
        """Rows of all instances as they are handed out: without that of a single variable."""
        return rows if self.is_array else rows[0]

    # -- samples -----------------------------------------------------------------------
    @property
    def si(self) -> Array:
        """Values in SI base units, read once."""
        return self.shaped(self.rows.samples())

    def to(self, units: str | Unit) -> Quantity:
        """All samples as a pint quantity in other units; of one value, ``series.final.to(…)``.

        Raises
        ------
        WrongDimension, AngleFrequencyError, UnknownUnit
        """
        return from_si(self.si, unit_to_show(self.declared_unit, units, self.path))

    @property
    def quantity(self) -> Quantity:
        """All samples as a pint quantity in the declared unit."""
        return from_si(self.si, self.declared_unit)

    @property
    def magnitude(self) -> Array:
        """All samples as numbers in the declared unit."""
        return in_unit(self.si, self.declared_unit)

    m = magnitude

    @property
    def initial(self) -> Quantity:
        """First sample."""
        return from_si(self.shaped(self.rows.sample(0)), self.declared_unit)

    @property
    def final(self) -> Quantity:
        """Last sample."""
        return from_si(self.shaped(self.rows.sample(-1)), self.declared_unit)

    # -- more than the samples -----------------------------------------------------------
    def at(self, times: Any, side: str = "right") -> Quantity:
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
        return from_si(self.si_at(seconds_of(times, where), side, where), self.declared_unit)

    def si_at(self, seconds: Array, side: str, where: str) -> Array | float:
        """Values in SI base units at times in s; ``where`` is what messages call the place."""
        found = self.shaped(self.rows.at(seconds, side, where))
        return found if self.is_array or seconds.ndim else float(found)

    def max(self) -> Quantity:
        """Largest value, also between samples; for an array, that of every instance."""
        return from_si(self.shaped(largest(self.rows)[0]), self.declared_unit)

    def min(self) -> Quantity:
        """Smallest value, also between samples; for an array, that of every instance."""
        return from_si(self.shaped(-largest(self.rows, -1)[0]), self.declared_unit)

    def mean(self) -> Quantity:
        """Mean over time, whatever the spacing of the samples; of every instance."""
        return from_si(self.shaped(self.rows.average(lambda values: values)), self.declared_unit)

    def rms(self) -> Quantity:
        """Root mean square over time; of every instance."""
        return from_si(np.sqrt(self.shaped(self.rows.average(np.square))), self.declared_unit)

    def integral(self) -> Quantity:
        """Integral over the time of the run, in the unit times s; of every instance."""
        return from_si(self.shaped(self.rows.integral(lambda values: values)),
                       unit_of_number("integral", self.declared_unit))

    def number(self, name: str) -> Quantity:
        """One of ``NUMBERS`` by its name."""
        found = getattr(self, name)
        return found() if callable(found) else found


def unit_of_number(name: str, unit: Unit) -> Unit:
    """The unit in which such a number of a variable is; other names than ``NUMBERS`` keep it."""
    if name != "integral":
        return unit
    absolute = (1.0 * unit.pint).to_base_units().units if unit.offset else unit.pint
    return unit_of(quantity(1.0, absolute) * quantity("1 s"))


def reduction_of(text: str, where: str) -> tuple[str, str, float] | None:
    """Return kind, path and time in s (0 but for ``at``) of ``"max(spring.f)"``; None for no call.

    Refused are other kinds, and a time that is missing, or that no other kind takes.
    """
    found = CALL.fullmatch(text)
    if found is None:
        return None
    kind, inside = found[1], found[2].strip()
    if kind not in KINDS:
        raise unknown_name(where, kind, KINDS, "reductions")
    path, comma, time = inside.partition(",")
    if kind == "at" and not comma:
        raise ParameterError(where, "says at, but not when.", f"Write 'at({inside[:200]}, 1.5 s)'.")
    if comma and kind != "at":
        raise ParameterError(where, f"is {text!r}.", "Only at(variable, time) takes a time.",
                             given=text)
    return kind, path.strip(), float(to_si(time.strip(), SECOND, where)) if comma else 0.0


# -- beside others --------------------------------------------------------------------------
def rows_at(series: Samples, times: Array, beside: str, side: str | None = None) -> Array:
    """Rows of a series at the times of something else, by the interpolant of its own run.

    Without a side, two equal times are the sides of an event.
    """
    inside = refuse_times_not_covered(series, times, beside)
    source, indices = series.rows.source, series.rows.indices
    return both_limits(source, indices, inside) if side is None else np.asarray(
        source.values(indices, inside, side), dtype=float)


def refuse_times_not_covered(series: Samples, times: Array, beside: str) -> Array:
    """The times at which a series of another run is wanted, refused where it has none."""
    if series.kind == "time":
        raise ParameterError(
            f"{beside} and time", "belong to different runs, and the sample times of one say "
            "nothing of the other.", "Take the time of the same run.", code="result.runs")
    try:
        return within_run(series.rows.source.times, times, series.path)
    except ParameterError as error:
        covers = " to ".join(number(t, SECOND, 9) for t in error.data.get("bound", ()))
        raise ParameterError(
            f"{beside} and {series.path}", "belong to different runs or parts of one: "
            f"{series.path} is wanted at {number(error.data.get('given', np.nan), SECOND, 9)}, "
            f"but covers {covers or 'nothing'}.",
            "Take the part of time that both cover, such as series['0 s':'1 s'].",
            code="result.runs", given=error.data.get("given"),
            bound=error.data.get("bound"),
        ) from None  # fmt: skip


def refuse_mixture(found: Sequence[Samples], what: str) -> None:
    """Refuse series that do not share their samples where nothing says how to align them."""
    for other in found[1:]:
        if not same_samples(found[0].rows.source, other.rows.source):
            raise ParameterError(
                f"{found[0].path} and {other.path}", "belong to different runs or parts of one, "
                f"and {what} does not say how their samples belong together.",
                "Read them at common times first, a.at(times) and b.at(times), or give their "
                "quantities as they are: a.quantity, b.quantity.", code="result.runs")


def headings(asked: Curves, chosen: Sequence[Samples]) -> list[str]:
    """What every series is called beside others: its path, and its run if that is another.

    Runs are named by their model, and where that does not tell them apart they are counted:
    the run asked is the first.
    """
    every = [run_of(asked), *(run_of(series.rows.source) for series in chosen)]
    runs = {id(run): run.name for run in every}
    if len(set(runs.values())) < len(runs):
        runs = {run: f"run {k}" for k, run in enumerate(runs, 1)}
    return [s.path if run is every[0] else f"{s.path} ({runs[id(run)]})"
            for s, run in zip(chosen, every[1:], strict=True)]
