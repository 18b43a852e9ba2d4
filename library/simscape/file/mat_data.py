"""Which values does a file of data, or a binary part of a model, hold?

Both are read by SciPy, array by array. Time series and Datasets become structures; other objects
are named, not read. SciPy gives an object as a reference into a hidden array of bytes. Those are a
stream of their own, of one cell array: first a table of names, classes, objects and properties,
then the values of properties, last the defaults of every class. The layout is from public files up
to R2023b.
"""

from __future__ import annotations

import struct
from collections.abc import Iterator, Mapping
from io import BytesIO
from typing import Any

import numpy as np

__all__ = ["file_values", "stream_value", "workspace_values"]

# what a stream of MATLAB's begins with when it is a file
_HEADER = b"MATLAB 5.0 MAT-file".ljust(116) + bytes(8) + b"\x00\x01IM"
_STREAM = _HEADER[-4:]
_OWN = "__header__", "__version__", "__globals__"
_HIDDEN = "__function_workspace__"
CLASS = "(class)"  # under which an object's structure holds the name of its class

_MARK = 0xDD000000  # begins a reference: number of dimensions, dimensions, objects, class
_VALUES = 2  # cells before the values of properties
_DEEPEST = 40


def file_values(content: bytes) -> tuple[dict[str, Any], list[str]]:
    """Values by name of a ``.mat`` file, and the names of what is no number, text or structure.

    Exceptions of many kinds are raised, as SciPy does, for a file that is not what it seems.
    """
    from scipy.io import loadmat

    if content.startswith(b"MATLAB 7.3"):
        raise ValueError("it is of version 7.3, which is not read: save it by save(…, '-v7')")
    if content[124:128] != _STREAM:  # of another version, or order of bytes
        whole = loadmat(BytesIO(content), struct_as_record=False, squeeze_me=True)
        return _split({name: _plain(value, None) for name, value in whole.items()
                       if name not in _OWN})
    arrays = list(_arrays(content[128:]))
    objects = _objects(arrays)
    return _split({np.ravel(value)[0]["s0"].decode() if _is_object(value) else name:
                   _plain(value, objects) for name, value in arrays if name != _HIDDEN})


def workspace_values(content: bytes) -> tuple[dict[str, Any], list[str]]:
    """Return values and remarks of a model's binary workspace, a stream of one structure."""
    return _split(stream_value(content))


def stream_value(content: bytes) -> Any:
    """The value that a binary part of a model holds; behind it are the objects it refers to."""
    arrays = list(_arrays(content[8:]))
    (_, value), *rest = arrays
    return _plain(value, _objects(rest))


def _arrays(stream: bytes) -> Iterator[tuple[str, Any]]:
    """Names and values one by one: SciPy gives all objects of a file one name."""
    from scipy.io import loadmat

    at = 0
    while at + 8 < len(stream):
        end = at + 8 + struct.unpack_from("<I", stream, at + 4)[0]
        read = loadmat(BytesIO(_HEADER + stream[at:end]), struct_as_record=False, squeeze_me=True)
        yield from ((name, value) for name, value in read.items() if name not in _OWN)
        at = end


def _objects(arrays: list[tuple[str, Any]]) -> Objects | None:
    for name, value in arrays:
        if name == _HIDDEN and value.dtype == np.uint8:
            (_, held), *_ = _arrays(value.tobytes()[8:])
            return Objects(np.ravel(held.item().MCOS if isinstance(held, np.ndarray) else
                                    held.MCOS)[0]["arr"])
    return None


def _is_object(value: Any) -> bool:
    return isinstance(value, np.ndarray) and bool(value.dtype.names)


def _split(content: dict[str, Any]) -> tuple[dict[str, Any], list[str]]:
    values = {name: _as_float(value) for name, value in content.items() if _is_value(value)}
    return values, [name for name in content if name not in values]


def _plain(value: Any, objects: Objects | None) -> Any:
    """A structure as a dict, with those in it; a time series and a Dataset as structures."""
    if _is_object(value):
        try:
            return value if objects is None else signals_of(objects.value(value))
        except (LookupError, TypeError, ValueError):  # of a layout that is not known
            return value
    if isinstance(value, np.ndarray) and value.dtype == object:
        if value.size == 1:
            return _plain(value.item(), objects)
        if all(hasattr(one, "_fieldnames") for one in value.flat):  # structures, by their number
            return {str(k): _plain(one, objects) for k, one in enumerate(value.flat, 1)}
    if hasattr(value, "_fieldnames"):
        return {name: _plain(getattr(value, name), objects) for name in value._fieldnames}
    return value


def _is_value(value: Any) -> bool:
    if isinstance(value, dict):
        return bool(value) and CLASS not in value and all(_is_value(v) for v in value.values())
    return isinstance(value, (int, float, str)) or (
        isinstance(value, np.ndarray) and value.dtype.kind in "biuf" and value.ndim <= 2)


def _as_float(value: Any) -> Any:
    if isinstance(value, dict):
        return {k: _as_float(v) for k, v in value.items()}
    return value if isinstance(value, str) else float(value) if np.ndim(value) == 0 else \
        np.atleast_2d(np.asarray(value, dtype=float))


# -- objects --------------------------------------------------------------------------------------
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
            return {name: self.value(getattr(value, name), depth + 1) for name in value._fieldnames}
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
    return name if name and isinstance(name, str) else f"signal{number}"
