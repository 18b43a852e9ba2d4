"""The variables of a run by path."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from itertools import islice
from typing import TYPE_CHECKING, Any, TypeVar, overload

from ..exceptions import UnknownName, WrongCall
from ..reading.foreign_words import result_elsewhere
from ..renamed import ATTRIBUTES, current_attribute
from ..units import from_si
from .lookup import collapsed, exists, find, grouped
from .recording import Recording
from .shown import SECOND
from .values.series import Series, time_of

if TYPE_CHECKING:
    from pint import Quantity

    from .report import Variables

__all__ = ["Recorded"]

COMPLETED = 5000  # paths that are offered behind ``result["``, arrays by their common name

_D = TypeVar("_D")


class Recorded(Mapping[str, Series]):
    """A mapping of dotted path to :class:`Series`; equal only to itself.

    Parameters
    ----------
    recording : Recording
    """

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

    def __getattr__(self, name: str) -> Any:
        parts = () if name.startswith("_") else sorted(  # of a component, or of an array of them
            (p for p in self if collapsed(p).startswith(f"{name}.")), key=lambda p: p.count("."))
        sentence, here = ("", "") if name in ATTRIBUTES["Result"] else result_elsewhere(name)
        if not parts and sentence:
            raise UnknownName(self._recording.name, f"a run has no {name!r}.", sentence, name=name,
                              nearest=[here] if here else [])
        if not parts:
            return current_attribute(self, name)
        raise UnknownName(self._recording.name, f"the parts of a run are no attributes of it, as "
                          f"{name!r} is of the model.", f"Write result[{parts[0]!r}].",
                          name=name, known=list(parts), nearest=list(parts[:3]))

    @overload
    def get(self, path: str) -> Series | None: ...

    @overload
    def get(self, path: str, default: _D) -> Series | _D: ...

    def get(self, path: str, default: object = None) -> object:
        """The series of a path, or the default where there is none."""
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
