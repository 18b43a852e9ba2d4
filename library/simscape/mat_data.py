"""Which values does a file of data, or a binary part of a model, hold?

Both are read by SciPy, array by array. Time series and Datasets become structures; other objects
are named, not read.
"""

from __future__ import annotations

import struct
from collections.abc import Iterator
from io import BytesIO
from typing import Any

import numpy as np

from .mat_objects import CLASS, Objects, signals_of

__all__ = ["file_values", "stream_value", "workspace_values"]

# what a stream of MATLAB's begins with when it is a file
_HEADER = b"MATLAB 5.0 MAT-file".ljust(116) + bytes(8) + b"\x00\x01IM"
_STREAM = _HEADER[-4:]
_OWN = "__header__", "__version__", "__globals__"
_HIDDEN = "__function_workspace__"


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
    """What the hidden array among some holds."""
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
    if isinstance(value, np.ndarray) and value.dtype == object and value.size == 1:
        value = value.item()
    if isinstance(value, np.ndarray) and value.dtype == object and all(
            hasattr(one, "_fieldnames") for one in value.flat):  # of structures, by their number
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
    if isinstance(value, str):
        return value
    return float(value) if np.ndim(value) == 0 else np.atleast_2d(np.asarray(value, dtype=float))
