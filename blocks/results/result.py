"""What did a run record?

The one object a user holds after a run: a mapping of dotted path to values with units, from which
tables, files, plots, the energy balance and plain sentences are made. Knows the :class:`Recording`
it is given, and nothing of solvers or components.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, Never, TypeVar, Unpack, overload

from ..exceptions import ParameterError, UnknownName, WrongCall, calls_told
from ..reading.foreign_words import attribute_elsewhere
from ..renamed import file_first
from ..units import Quantity, from_si
from .formatting import SECOND
from .lookup import collapsed, exists, find, grouped
from .recording import Recording, refuse_no_result
from .values.series import Series, time_of

if TYPE_CHECKING:  # imported with the first look
    from matplotlib.animation import FuncAnimation
    from matplotlib.figure import Figure
    from pandas import DataFrame
    from xarray import Dataset

    from .bottlenecks import Bottlenecks
    from .energy_balance import EnergyBalance
    from .page.run_page import Page
    from .parameters import Parameters
    from .plots.plotting import PlotOptions
    from .report import Events, Statistics, Variables
    from .sensitivities import Sensitivities
    from .sheet import Sheet
    from .sticking import Sticking
    from .values.sampling import Options
    from .values.table import Table

__all__ = ["Result"]

COMPLETED = 5000  # paths that are offered behind ``result["``, arrays by their common name

_D = TypeVar("_D")


@calls_told
class Result(Mapping[str, Series]):
    """What a run has recorded: a mapping of dotted path to :class:`Series`; equal only to itself.

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

    _sensitivities: Any = None

    def __init__(self, recording: Recording) -> None:
        self._recording = recording

    @property
    def recording(self) -> Recording:
        """What the engine has handed over."""
        return self._recording

    def __getitem__(self, path: str) -> Series:
        try:
            infos = find(self._recording.catalog, path, self._recording.name)
        except UnknownName as error:
            if isinstance(path, str) and path in self._recording.made_with().parameters:
                error.problem = f"{path!r} is a parameter, which has one value in a run."
                error.advice = f"Write result.parameters[{path!r}]."
            raise
        return Series(self._recording, infos, path)

    def __setitem__(self, path: str, value: Any) -> None:
        raise WrongCall("result[…]", "is what a run has recorded, which is not changed.",
                        f"Give the model another value and run it anew, or calculate with "
                        f"result[{path!r}].")

    if not TYPE_CHECKING:  # which would take every name for one
        def __getattr__(self, name: str) -> Any:
            parts = [] if name.startswith("_") else sorted(  # of a component, or an array of them
                (p for p in self if collapsed(p).startswith(f"{name}.")),
                key=lambda p: p.count("."))
            if not parts:
                return attribute_elsewhere(self, name, "result", "name", "a run has")
            raise UnknownName(self._recording.name, "the parts of a run are no attributes of it, "
                              f"as {name!r} is of the model.", f"Write result[{parts[0]!r}].",
                              name=name, known=parts, nearest=parts[:3])

    @overload
    def get(self, path: str) -> Series | None: ...

    @overload
    def get(self, path: str, default: _D) -> Series | _D: ...

    def get(self, path: str, default: object = None) -> object:
        """Return the series of a path, or the default where there is none."""
        if path not in self:
            return default
        return self[path]

    def __contains__(self, path: object) -> bool:
        return exists(self._recording.catalog, path)

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
        some = islice(self._recording.catalog, COMPLETED)
        return list(dict.fromkeys(map(collapsed, some)))

    def _chosen(self, paths: Iterable[Any]) -> list[Series]:
        """Series of paths, and of lists of them; of everything where none is named."""
        if not paths:
            found = grouped(self._recording.catalog, self._recording.catalog)
            return [Series(self._recording, infos, path) for path, infos in found]
        chosen = []
        for given in paths:
            if isinstance(given, (list, tuple)):
                chosen += self._chosen(given) if given else []
            else:
                chosen.append(given if isinstance(given, Series) else self[given])
        return chosen

    @property
    def time(self) -> Series:
        """Sample times. Two equal ones are the sides of an event."""
        return time_of(self._recording)

    @property
    def duration(self) -> Quantity:
        """Simulated time as a quantity."""
        times = self._recording.close_times
        return from_si(float(times[-1] - times[0]) if len(times) else 0.0, SECOND)

    @property
    def variables(self) -> Variables:
        """The recorded variables with unit, kind and description."""
        from .report import Variables

        return Variables(self._recording)

    # -- what happened -------------------------------------------------------------------
    @property
    def name(self) -> str:
        """Name of the model."""
        return self._recording.name

    @property
    def status(self) -> str:
        """``"finished"``, ``"failed"``, ``"interrupted"``, or ``"until block.x > 1 m"`` where that
        was met."""
        return self._recording.status

    @property
    def message(self) -> str:
        """Why the run ended."""
        return self._recording.message

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

    @property
    def parameters(self) -> Parameters:
        """Parameters and options of all components, as they were when the run began.

        A mapping of path to quantity (``result.parameters["block.mass"]``) or to the value of
        an option; ``parameters.starts`` and ``parameters.settings`` hold initial targets and
        the options of ``simulate``.
        """
        from .parameters import Parameters

        return Parameters(self._recording.made_with(), self.name)

    @property
    def sensitivities(self) -> Sensitivities:
        """Derivatives by parameters, where they were asked for: ``simulate(sensitivities=[…])``.

        Raises
        ------
        ParameterError
            For a run without them, as one that was loaded from a file is.
        """
        if self._sensitivities is None:
            from .files.saved import SavedRecording

            loaded = isinstance(self._recording, SavedRecording)
            raise ParameterError(
                "result.sensitivities", "are not kept in a file." if loaded else
                "were not asked for with this run.", ("Read them before the run is saved, or make "
                "it again: " if loaded else "Ask for them: ")
                + "model.simulate('4 s', sensitivities=['spring.stiffness']).")
        return self._sensitivities

    @sensitivities.setter
    def sensitivities(self, found: Any) -> None:
        self._sensitivities = found

    def differences(self, other: Result) -> Sheet:
        """Compare what another run was made with to what this one was, as a table.

        Parameters, options, initial targets and options of ``simulate`` that are not equal,
        in whatever unit they were given; components that only one of them has.
        """
        from .parameters import differences_sheet

        refuse_no_result(other, "differences()")
        return differences_sheet(("this run", "the other"), [
            result.recording.made_with() for result in (self, other)])

    def draw(self, *times: Any, save: str | Path | None = None) -> Figure:
        """Draw the components that have a shape, with their forces, at some instants.

        Where none has one, 1-D mechanics is lined up along its axis: masses shift by what they
        have travelled since the start, springs and dampers stretch, discs turn.

        Parameters
        ----------
        times : str or quantity
            One panel each; the end of the run if none is given.
        save : path, optional

        Returns
        -------
        matplotlib Figure
        """
        from .plots.scene import draw

        return draw(self._recording, times, save)

    def animate(self, save: str | Path | None = None, *, fps: int = 25, speed: float = 1.0
                ) -> FuncAnimation:
        """A film of what :meth:`draw` shows.

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
        from .plots.scene import animate

        return animate(self._recording, save, fps, speed)

    def energy(self) -> EnergyBalance:
        """Work, stored, dissipated and supplied energy per component, and what is missing.

        Warns
        -----
        EnergyWarning
            Where more is missing than the tolerance of the run explains; names the components
            with the largest part of it.
        """
        from .energy_balance import EnergyBalance

        balance = EnergyBalance(self._recording.energy_terms(), self.name)
        balance.warn(self._recording.energy_tolerance)
        return balance

    def sticking(self) -> Sticking:
        """Share of time stuck, break-aways and losses of every component that rubs or touches."""
        from .sticking import Sticking

        record = self._recording
        return Sticking(record.sticking_terms(), self.name, record.shared_loads())

    def bottlenecks(self) -> Bottlenecks:
        """Find what made the run slow, component by component: steps, events, iterations, advice.

        Notes
        -----
        Shares are found from the record, so they cost the run nothing. Of up to 400 steps all over
        the run it is asked what a polynomial through the five steps before misses of every state
        at the end: the state that it misses by most, in units of its tolerance, decided the step.
        The step is counted for the component whose term in the slope of that state is missed by
        most: a stiff spring, say, rather than the mass that it moves. Where less than a hundredth
        of a tolerance is missed, something else did: the stability of an explicit method,
        ``max_step``, a known instant, a program that drives the run. Events are counted by the
        component whose relation or mode has changed. Nonlinear loops are solved again at up to 40
        steps, from where these began; the iterations count for the components in them whose
        equations are not linear.

        Raises
        ------
        ParameterError
            For a run that was loaded from a file or keeps chosen variables alone.
        """
        from .bottlenecks import Bottlenecks

        found = self._recording.bottleneck_terms()
        if found is None:
            raise ParameterError("result.bottlenecks()", "was asked of a run from a file, which "
                                 "holds samples and no steps.", "Ask it before the run is saved.")
        return Bottlenecks(*found, self.name)

    def explain(self, path: str) -> str:
        """Meaning, sign convention, unit and course of a variable, in sentences."""
        from .explain import explain

        return explain(self[path])

    # -- tables and files ------------------------------------------------------------------
    def sample(self, *paths: str | Series, every: Any = None, times: Any = None,
               units: str | Mapping[str, str] | None = None,
               side: Literal["right", "left"] = "right", **unknown: Never) -> Table:
        """Variables at chosen times, as arrays with units.

        Parameters
        ----------
        *paths : str, Series, or lists of these
            Everything, where none is named; an array as one. A series of another run is
            read at the times of this one, and its column says of which run it is.
        every : str or quantity, optional
            Sample at equal distances from the start, such as ``"10 ms"``.
        times : sequence of str, or quantity, optional
            Sample at these times. Without both: the recorded samples, two of them at every event.
        units : mapping of path to unit text, or str, optional
            Units other than the declared ones; ``"time"`` may be among them. One text is
            for all of them.
        side : {"right", "left"}
            After or before an event at a sample time.
        """
        from .values.sampling import sample

        return sample(self._recording, self._chosen(paths), every=every, times=times,
                      units=units, side=side, **unknown)  # fmt: skip

    def table(self, *paths: str | Series, **options: Unpack[Options]) -> DataFrame:
        """A pandas DataFrame over time with headings such as ``"block.v [m/s]"``.

        Options are those of :meth:`sample`.
        """
        return self.sample(*paths, **options).to_pandas()

    def to_xarray(self, *paths: str | Series, **options: Unpack[Options]) -> Dataset:
        """An xarray Dataset over time; attributes ``units`` and ``long_name``."""
        return self.sample(*paths, **options).to_xarray()

    def to_csv(self, file: str | Path, *paths: str | Series, **options: Unpack[Options]) -> None:
        """Write a CSV file, units in its first row (``read_csv`` reads it back)."""
        self.sample(*paths, **options).to_csv(file)

    def to_parquet(self, file: str | Path, *paths: str | Series, **options: Unpack[Options]
                   ) -> None:
        """Write a Parquet file (``read_parquet`` reads it back)."""
        self.sample(*paths, **options).to_parquet(file)

    def to_netcdf(self, file: str | Path, *paths: str | Series, **options: Unpack[Options]) -> None:
        """Write a NetCDF file (``read_netcdf`` reads it back)."""
        self.sample(*paths, **options).to_netcdf(file)

    def save(self, file: str | Path, *paths: str | Series) -> None:
        """Keep the run in a file, from which :func:`blocks.load` makes a result again.

        Parameters
        ----------
        file : path
            ``"run.nc"`` (NetCDF) or ``"run.parquet"``.
        *paths : str, Series, or lists of these
            Variables that are kept; all where none is named.

        Notes
        -----
        Samples are kept so close that what is read between them is off by no more than the
        relative tolerance of the run, as a part of the largest value of the same dimension.
        Also kept are units, events, parameters, energy, sticking, shapes, statistics and the
        versions of what made the run. Of parameters that are functions of time, only the name is.

        Raises
        ------
        FileError
            For a file that cannot be written.
        """
        from .files.saved import save_result

        save_result(self._recording, self._chosen(paths), file)

    @property
    def versions(self) -> dict[str, str]:
        """Versions of Python and of the packages that the run was made with."""
        return dict(self._recording.versions)

    # -- pictures and words -------------------------------------------------------------------
    def plot(self, *paths: str | Series, units: str | Mapping[str, str] | None = None,
             **options: Unpack[PlotOptions]) -> Figure:
        """Draw variables over time, one axes per dimension, and return the Figure.

        Parameters
        ----------
        *paths : str, Series, or lists of these
            Without any: the states where the run names them, else outputs and
            variables of components that change, eight at most. A series of another run is
            drawn over its own times, and named by its run.
        units : mapping of path to unit text, or str, optional
        every, save, title, events
            See :func:`blocks.results.plots.plotting.plot`.
        """
        from .plots.plotting import plot
        from .plots.selection import drawn_by_default

        chosen = self._chosen(paths) if paths else drawn_by_default(self._recording)
        return plot(self._recording, chosen, units=units, **options)

    def report(self, *paths: str | Series, save: str | Path | None = None,
               page: Page | None = None) -> Page:
        """Make one page of the run for a browser: network, curves to zoom, tables, energy flow.

        Parameters
        ----------
        *paths : str, Series, or lists of these
            Curves; without any, those that :meth:`plot` draws, more of them.
        save : path, optional
            ``"run.html"``: one file that needs no server and no network.
        page : Page, optional
            What :meth:`Model.page <blocks.Model.page>` gives: the report holds it, and a reader
            moves its sliders there.

        Returns
        -------
        Page
            Shown by notebooks.
        """
        from .page.run_page import LISTED, page_of
        from .plots.selection import drawn_by_default

        paths, save = file_first(self, paths, save)
        every = self._chosen(paths) if paths else drawn_by_default(self._recording, LISTED)
        report = page_of(self._recording, every, page, bool(paths))
        if save is not None:
            report.save(save)
        return report

    def summary(self) -> Sheet:
        """Name, span, status and counts as a small table."""
        from .report import summary

        return summary(self._recording)

    def __repr__(self) -> str:
        return repr(self.summary())

    def _repr_html_(self) -> str:
        return self.summary()._repr_html_()
