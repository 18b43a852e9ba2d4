"""What did a run record?

The one object a user holds after a run: a mapping of dotted path to values
with units, from which tables, files, plots, the energy balance and plain
sentences are made. Knows the :class:`Recording` it is given, and nothing of
solvers or components.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ..units import from_si
from .lookup import exists, find, grouped
from .recording import Recording
from .series import Series, clock
from .sheet import Sheet
from .shown import SECOND, number

if TYPE_CHECKING:  # imported with the first look
    from .ledger import Ledger
    from .report import Events, Statistics, Variables
    from .sticking import Sticking
    from .table import Table

__all__ = ["Result"]


class Result(Mapping[str, Series]):
    """What a run has recorded: a mapping of dotted path to :class:`Series`.

    Parameters
    ----------
    recording : Recording

    Examples
    --------
    ::

        result["block.v"].to("mm/s")        # quantity array
        result["masses.v"]                  # all instances, one row each
        result["masses[::10].v"]            # some of them
        result["friction.f"].at("1.5 s")
        result.table("block.v", every="10 ms", units={"block.v": "mm/s"})
        result.plot("block.v", "friction.f", save="run.png")
        result.events, result.energy(), result.statistics
        print(result.explain("spring.f"))
    """

    def __init__(self, recording: Recording) -> None:
        self._recording = recording

    @property
    def recording(self) -> Recording:
        """What the engine has handed over."""
        return self._recording

    # -- the mapping -------------------------------------------------------------------
    def __getitem__(self, path: str) -> Series:
        return Series(self._recording, find(self._recording, path), path)

    def get(self, path: str, default: Any = None) -> Any:
        """The series of a path, or the default where there is none."""
        if path not in self:
            return default
        return self[path]

    def __contains__(self, path: object) -> bool:
        return exists(self._recording, path)

    def __iter__(self) -> Iterator[str]:
        return iter(self._recording.catalog)

    def __len__(self) -> int:
        return len(self._recording.catalog)

    def __bool__(self) -> bool:
        return True

    __hash__ = object.__hash__

    def __eq__(self, other: object) -> bool:
        return self is other

    def _ipython_key_completions_(self) -> list[str]:
        from .report import completions

        return completions(self._recording)

    # -- what happened -------------------------------------------------------------------
    @property
    def name(self) -> str:
        """Name of the model."""
        return self._recording.name

    @property
    def status(self) -> str:
        """``"finished"``, ``"failed"`` or ``"interrupted"``."""
        return self._recording.status

    @property
    def message(self) -> str:
        """Why the run ended."""
        return self._recording.message

    @property
    def time(self) -> Series:
        """Sample times. Two equal ones are the sides of an event."""
        return clock(self._recording)

    t = time

    @property
    def duration(self) -> Any:
        """Simulated time as a quantity."""
        times = self._recording.times
        return from_si(float(times[-1] - times[0]) if len(times) else 0.0, SECOND)

    @property
    def variables(self) -> Variables:
        """The recorded variables with unit, kind and description."""
        from .report import Variables

        return Variables(self._recording)

    @property
    def events(self) -> Events:
        """Time, component and kind of every event."""
        from .report import Events

        return Events(self._recording.events)

    @property
    def statistics(self) -> Statistics:
        """Counters, the method taken and why, and the time it took."""
        from .report import Statistics

        return Statistics(self._recording.statistics)

    def draw(self, *times: Any, save: str | Path | None = None) -> Any:
        """Draw the components that have a shape, with their forces, at some instants.

        Parameters
        ----------
        times : str or quantity
            One panel each; the end of the run if none is given.
        save : path, optional

        Returns
        -------
        matplotlib Figure
        """
        from .scene import draw

        return draw(self._recording, times, save)

    def animate(self, save: str | Path | None = None, *, fps: int = 25, speed: float = 1.0
                ) -> Any:
        """A film of the components that have a shape, with their forces.

        Parameters
        ----------
        save : path, optional
            ``"run.gif"``, or ``"run.html"`` for a film with controls in a browser.
        fps : int
            Pictures a second.
        speed : float
            1 is real time, 0.1 slow motion.

        Returns
        -------
        matplotlib animation
        """
        from .scene import animate

        return animate(self._recording, save, fps, speed)

    def energy(self) -> Ledger:
        """Work, stored, dissipated and supplied energy per component, and what is missing.

        Warns
        -----
        EnergyWarning
            Where more is missing than the tolerance of the run explains; names the components
            with the largest part of it.
        """
        from .ledger import Ledger

        ledger = Ledger(self._recording.energy_terms(), self.name)
        ledger.warn(getattr(self._recording, "energy_tolerance", None))
        return ledger

    def sticking(self) -> Sticking:
        """Share of time stuck, break-aways and losses of every component that rubs or touches."""
        from .sticking import Sticking

        terms = getattr(self._recording, "sticking_terms", list)
        shared = getattr(self._recording, "shared_loads", list)
        return Sticking(terms(), self.name, shared())

    def explain(self, path: str) -> str:
        """Meaning, sign convention, unit and course of a variable, in sentences."""
        from .explain import explain

        return explain(self[path])

    # -- tables and files ------------------------------------------------------------------
    def sample(
        self,
        *paths: str | Series,
        every: Any = None,
        times: Any = None,
        units: str | Mapping[str, str] | None = None,
        side: str = "right",
        **unknown: Any,
    ) -> Table:
        """Variables at chosen times, as arrays with units.

        Parameters
        ----------
        *paths : str, Series, or lists of these
            Everything, where none is named; an array as one. A series of another run is
            read at the times of this one, and its column says of which run it is.
        every : str or quantity, optional
            Sample at equal distances from the start, such as ``"10 ms"``.
        times : sequence of str, or quantity, optional
            Sample at these times. Without both: the recorded samples, two of
            them at every event.
        units : mapping of path to unit text, or str, optional
            Units other than the declared ones; ``"time"`` may be among them. One text is
            for all of them.
        side : {"right", "left"}
            After or before an event at a sample time.
        """
        from .table import sample

        return sample(self._recording, self._chosen(paths), every=every, times=times,
                      units=units, side=side, **unknown)  # fmt: skip

    def _chosen(self, paths: Iterable[Any]) -> list[Series]:
        """Series of paths, and of lists of them; of everything where none is named."""
        if not paths:
            found = grouped(self._recording, self._recording.catalog)
            return [Series(self._recording, infos, path) for path, infos in found]
        chosen = []
        for given in paths:
            if isinstance(given, (list, tuple)):
                chosen += self._chosen(given) if given else []
            else:
                chosen.append(given if isinstance(given, Series) else self[given])
        return chosen

    def table(self, *paths: str | Series, **options: Any) -> Any:
        """A pandas DataFrame over time with headings such as ``"block.v [m/s]"``.

        Options are those of :meth:`sample`.
        """
        return self.sample(*paths, **options).to_pandas()

    to_pandas = table

    def to_xarray(self, *paths: str | Series, **options: Any) -> Any:
        """An xarray Dataset over time; attributes ``units`` and ``long_name``."""
        return self.sample(*paths, **options).to_xarray()

    def to_csv(self, file: str | Path, *paths: str | Series, **options: Any) -> None:
        """Write a CSV file, units in its first row (``read_csv`` reads it back)."""
        self.sample(*paths, **options).to_csv(file)

    def to_parquet(self, file: str | Path, *paths: str | Series, **options: Any) -> None:
        """Write a Parquet file (``read_parquet`` reads it back)."""
        self.sample(*paths, **options).to_parquet(file)

    def to_netcdf(self, file: str | Path, *paths: str | Series, **options: Any) -> None:
        """Write a NetCDF file (``read_netcdf`` reads it back)."""
        self.sample(*paths, **options).to_netcdf(file)

    # -- pictures and words -------------------------------------------------------------------
    def plot(self, *paths: str | Series, **options: Any) -> Any:
        """Draw variables over time, one axes per dimension, and return the Figure.

        Parameters
        ----------
        *paths : str, Series, or lists of these
            Without any: the states where the run names them, else outputs and
            variables of components that change, eight at most. A series of another run is
            drawn over its own times, and named by its run.
        units : mapping of path to unit text, or str, optional
        every, save, title, events
            See :func:`blocks.results.plotting.plot`.
        """
        from .plotting import plot
        from .selection import worth_drawing

        chosen = self._chosen(paths) if paths else worth_drawing(self._recording)
        return plot(self._recording, chosen, **options)

    def summary(self) -> Sheet:
        """Name, span, status and counts as a small table."""
        record = self._recording
        rows: list[tuple[str, str]] = [("status", record.status)]
        if record.message:
            rows.append(("message", record.message))
        if len(record.times):
            rows.append(("time", f"{number(record.times[0], SECOND)} to "
                                 f"{number(record.times[-1], SECOND)}"))  # fmt: skip
        rows += [("variables", f"{len(record.catalog):,}"),
                 ("samples", f"{len(record.times):,}"),
                 ("events", f"{len(record.events):,}")]  # fmt: skip
        steps = record.statistics.get("steps")
        if steps is not None:
            rejected = record.statistics.get("rejected") or 0
            tail = f" ({rejected:,} rejected)" if rejected else ""
            rows.insert(-1, ("steps", f"{steps:,}{tail}"))
        if "method" in record.statistics:
            rows.insert(-2, ("method", str(record.statistics["method"])))
        return Sheet.of_facts(f"Result of {self.name}".removesuffix(" of "), rows)

    def __repr__(self) -> str:
        return repr(self.summary())

    def _repr_html_(self) -> str | None:
        return self.summary()._repr_html_()
