"""Which values does a file of data, or the binary workspace of a model, hold?

Both are read by SciPy; objects of classes are named, not read.
"""

from __future__ import annotations

import struct
from collections.abc import Iterator
from io import BytesIO
from typing import Any

import numpy as np

__all__ = ["file_values", "workspace_values"]

# what a stream of MATLAB's begins with when it is a file
_HEADER = b"MATLAB 5.0 MAT-file".ljust(116) + bytes(8) + b"\x00\x01IM"


def file_values(content: bytes) -> tuple[dict[str, Any], list[str]]:
    """Values by name of a ``.mat`` file, and the names of what is no number, text or structure.

    Raises
    ------
    Exception
        Of many kinds, as SciPy does for a file that is not what it seems.
    """
    from scipy.io import loadmat

    return _split(loadmat(BytesIO(content), simplify_cells=True))


def workspace_values(content: bytes) -> tuple[dict[str, Any], list[str]]:
    """The same of a model's binary workspace: a stream without header that holds one structure.

    What stands behind the structure are the objects that it refers to.
    """
    from scipy.io import loadmat

    size = struct.unpack("<I", content[12:16])[0]
    whole = loadmat(BytesIO(_HEADER + content[8:16 + size]), struct_as_record=False,
                    squeeze_me=True)
    found = next(value for value in map(_plain, whole.values()) if isinstance(value, dict))
    return _split(found)


def _split(content: dict[str, Any]) -> tuple[dict[str, Any], list[str]]:
    named = {name: value for name, value in content.items() if not name.startswith("__")}
    values = {name: _as_float(value) for name, value in named.items() if _is_value(value)}
    return values, [name for name in named if name not in values]


def _plain(value: Any) -> Any:
    """A structure as a dict, with those in it."""
    if isinstance(value, np.ndarray) and value.dtype == object and value.size == 1:
        value = value.item()
    if hasattr(value, "_fieldnames"):
        return dict(_fields(value))
    return value


def _fields(record: Any) -> Iterator[tuple[str, Any]]:
    for name in record._fieldnames:
        yield name, _plain(getattr(record, name))


def _is_value(value: Any) -> bool:
    if isinstance(value, dict):
        return bool(value) and all(_is_value(v) for v in value.values())
    return isinstance(value, (int, float, str)) or (
        isinstance(value, np.ndarray) and value.dtype.kind in "biuf" and value.ndim <= 2)


def _as_float(value: Any) -> Any:
    if isinstance(value, dict):
        return {k: _as_float(v) for k, v in value.items()}
    if isinstance(value, str):
        return value
    return float(value) if np.ndim(value) == 0 else np.atleast_2d(np.asarray(value, dtype=float))
