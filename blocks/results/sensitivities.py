"""How does a variable of a run change with a parameter, and when would an event come then?"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ..exceptions import ParameterError, unknown_name
from ..numerics.arrays import Array
from ..units import Unit, from_si, unit
from .lookup import find_one
from .recording import VariableInfo
from .sheet import Sheet
from .values.series import Series
from .values.views import View, both_limits

__all__ = ["Sensitivities"]


class Sensitivities:
    """Derivatives of all variables of a run by some of its parameters and initial values.

    Parameters
    ----------
    recording : of the run
    settings : what is varied, with paths and units
    where : for messages

    Attributes
    ----------
    parameters : paths of what is varied

    Examples
    --------
    ::

        run = model.simulate("5 s", sensitivities=["friction.breakaway_force"])
        run.sensitivities["spring.x", "friction.breakaway_force"].final   # in m/N
        run.sensitivities.events()      # how instants move
        run.sensitivities.table("spring.x")
    """

    def __init__(self, recording: Any, settings: Sequence[Any], where: str) -> None:
        self._recording, self._settings, self._where = recording, list(settings), where
        self.parameters: list[str] = [s.path for s in settings]

    @property
    def notes(self) -> list[str]:
        """Where derivatives do not exist, or are those of one side; empty for a smooth run."""
        raise NotImplementedError

    @property
    def event_times(self) -> tuple[Array, Array]:
        """Instants of all events in s, and their derivatives in SI units, a row each."""
        raise NotImplementedError

    def values(self, indices: Sequence[int], times: Array, side: str = "right",
               rates: bool = False) -> Array:
        """SI derivatives of variables, (variables, parameters, times).

        ``rates`` adds, as one more parameter, the derivative by time.
        """
        raise NotImplementedError

    def __getitem__(self, key: tuple[str, str]) -> Series:
        """The derivative of a variable by a parameter, as a series: ``[variable, parameter]``."""
        if not (isinstance(key, tuple) and len(key) == 2):
            raise ParameterError("sensitivities[…]", f"got {key!r}.", "Give a variable and a "
                                 'parameter: ["spring.x", "spring.stiffness"].')
        path, parameter = key
        if parameter not in self.parameters:
            raise unknown_name(self._where, parameter, self.parameters, "parameters that were "
                               "asked for")
        info = find_one(self._recording.catalog, path, self._recording.name)
        if info.index >= self._recording.catalog.count:
            raise ParameterError(path, "is a whole number that changes at events: it has no "
                                 "derivative.", "Look at sensitivities.events(), which says how "
                                 "their instants move.")
        k, name = self.parameters.index(parameter), f"d {path} / d {parameter}"
        return Series(_Derivative(self, info.index, k), VariableInfo(
            name, info.component, name, _quotient(info.unit, self._settings[k].unit), "variable",
            f"{path} by {parameter}", 0), name)

    def table(self, *paths: str, at: Any = None) -> Sheet:
        """Derivatives of variables at a time (the end of the run), with units."""
        rows: dict[str, list[str]] = {"parameter": list(self.parameters)}
        for path in paths:
            series = [self[path, p] for p in self.parameters]
            rows[path] = [f"{s.final if at is None else s.at(at):.6g~P}" for s in series]
        return Sheet(f"Sensitivities of {self._recording.name}", rows)

    def __repr__(self) -> str:
        return (f"Sensitivities of {self._recording.name} by {', '.join(self.parameters)}; "
                "table('spring.x') shows those of a variable")

    def events(self) -> Sheet:
        """How the instants of all events move, in s per unit of every parameter."""
        times, moved = self.event_times
        rows: dict[str, list[Any]] = {"t [s]": [f"{t:.9g}" for t in times]}
        for k, setting in enumerate(self._settings):
            shown = _quotient(unit("s"), setting.unit)
            rows[f"by {setting.path}"] = [f"{from_si(v, shown):.6g~P}" for v in moved[:, k]]
        return Sheet(f"Events of {self._recording.name}", rows)


def _quotient(of: Unit, by: Unit | None) -> Unit:
    """The unit of a derivative."""
    assert by is not None
    number = by.text in ("", "1")
    return of if number else unit(f"{of.text or '1'}/({by.text})")


class _Derivative(View):
    """A derivative over the run, read like a recording."""

    def __init__(self, of: Sensitivities, index: int, parameter: int) -> None:
        recording = of._recording
        super().__init__(recording, recording.times, recording.close_times, sampled=recording,
                         knots=recording.knots)
        self.of, self.index, self.parameter = of, index, parameter

    def values(self, indices: Sequence[int], times: Array | None = None, side: str = "right"
               ) -> Array:
        if times is None:
            return both_limits(self, indices, self.times)
        return self.of.values([self.index], times, side)[:, self.parameter]
