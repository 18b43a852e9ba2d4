"""Which properties have the objects that MATLAB keeps in a file of data?

SciPy gives an object as a reference into a hidden array of bytes. Those are a stream of their own,
of one cell array: first a table of names, classes, objects and properties, then the values of
properties, last the defaults of every class. The layout is from public files up to R2023b.
"""

from __future__ import annotations

import struct
from collections.abc import Mapping
from typing import Any

import numpy as np

__all__ = ["CLASS", "Objects", "signals_of"]

CLASS = "(class)"  # under which an object's structure holds the name of its class

_MARK = 0xDD000000  # begins a reference: number of dimensions, dimensions, objects, class
_VALUES = 2  # cells before the values of properties
_DEEPEST = 40


class Objects:
    """The objects of one stream, of what its hidden array of bytes holds."""

    def __init__(self, cells: Any) -> None:
        self._cells = np.ravel(cells)
        table = np.ravel(self._cells[0]).astype(np.uint8).tobytes()
        at = struct.unpack_from("<8I", table, 8)
        self._names = [b"", *table[40:at[0]].split(b"\0")]
        words = [np.frombuffer(table[i:j], "<u4") for i, j in zip(at[:4], at[1:5], strict=True)]
        self._classes, self._objects = words[0].reshape(-1, 4), words[2].reshape(-1, 6)
        self._properties = _blocks(words[1]), _blocks(words[3])

    def value(self, value: Any, depth: int = 0) -> Any:
        """A value with its objects as structures of their properties, several as a list."""
        if depth > _DEEPEST:
            return None
        if isinstance(value, np.ndarray) and value.dtype.names:
            return self.value(np.ravel(value)[0]["arr"], depth)
        if isinstance(value, np.ndarray) and value.dtype == np.uint32 and value.size > 3 and \
                value.flat[0] == _MARK:
            found = [self._object(int(k), depth) for k in value.ravel()[2 + value.flat[1]:-1]]
            return found[0] if len(found) == 1 else found
        if isinstance(value, np.ndarray) and value.dtype == object:
            return [self.value(one, depth + 1) for one in value.ravel()]
        if hasattr(value, "_fieldnames"):
            return {name: self.value(getattr(value, name), depth + 1)
                    for name in value._fieldnames}
        return value

    def _object(self, number: int, depth: int) -> dict[str, Any]:
        kind, _, _, saved, plain, _ = self._objects[number]
        found: dict[str, Any] = {CLASS: self._name(self._classes[kind][1])}
        usual = np.ravel(self._cells[-1])[kind]
        defaults = self.value(usual, depth + 1)
        found |= defaults if isinstance(defaults, dict) else {}
        for name, way, where in self._properties[not saved][saved or plain]:
            found[self._name(name)] = self._name(where) if way == 0 else bool(where) if way == 2 \
                else self.value(self._cells[_VALUES + where], depth + 1)
        saved_as = found.pop("any", None)  # what an object says of itself when it is saved
        return found | saved_as if isinstance(saved_as, dict) else \
            found | saved_as[0] if isinstance(saved_as, list) and saved_as else found

    def _name(self, number: int) -> str:
        return self._names[number].decode("utf-8", "replace")


def _blocks(words: Any) -> list[Any]:
    """Properties of one object after another: name, way and where of each, on even words."""
    found, at = [], 0
    while at < len(words):
        end = at + 1 + 3 * int(words[at])
        found.append(words[at + 1:end].reshape(-1, 3))
        at = end + end % 2
    return found


def signals_of(value: Any) -> Any:
    """A time series as a structure of ``Time`` and ``Data``, a Dataset as one of its elements."""
    if not isinstance(value, Mapping):
        return value
    if value.get(CLASS) == "timeseries":
        about = value.get("TimeInfo") or {}
        times = np.ravel(value.get("Time_", ()))
        times = times if times.size else np.ravel(about.get("Time_", ()))
        if not times.size:  # a uniform time
            times = float(about["Start_"]) + float(about["Increment_"]) * np.arange(
                int(about["Length"]))
        data = np.asarray(value["Data_"], dtype=float)
        if data.ndim > 1 and data.shape[0] != len(times) and data.shape[-1] == len(times):
            data = np.moveaxis(data, -1, 0)
        return {"Time": times, "Data": data.reshape(len(times), -1)}
    if value.get(CLASS) == "Dataset":
        held = value.get("Storage") or value
        elements = held.get("Elements", ())
        return {_title(one, k): signals_of(one)
                for k, one in enumerate(elements if isinstance(elements, list) else [elements], 1)}
    if value.get(CLASS) == "Signal" and "Values" in value:  # of a logged signal
        return signals_of(value["Values"])
    return value


def _title(element: Any, number: int) -> str:
    name = element.get("Name") if isinstance(element, Mapping) else ""
    name = name if isinstance(name, str) else ""
    return name or f"signal{number}"
