"""What are the values of one variable over the run, in which unit?"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from ...numerics.arrays import Array
from ...units import Unit, from_si, in_unit, quantity, unit_of
from ..recording import Curves, VariableInfo
from ..shown import unit_to_show
from .extremes import largest
from .rows import Rows
from .times import seconds_of

if TYPE_CHECKING:
    import pint
    from pint import Quantity

__all__ = ["NUMBERS", "OVER_TIME", "Samples", "unit_of_number"]

OVER_TIME = "mean", "rms", "integral"
NUMBERS = "initial", "final", "max", "min", *OVER_TIME  # that a variable has in a run


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
