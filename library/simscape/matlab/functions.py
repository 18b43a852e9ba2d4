"""Which functions of MATLAB's language are known, and what do they give?

Values are numbers and arrays of rows by columns; a function of a matrix works along its columns.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

__all__ = ["FUNCTIONS", "MAKERS", "REAL"]


def _row(n: Any, m: Any = None) -> tuple[int, int]:
    return (int(n), int(n if m is None else m)) if np.size(n) == 1 else (
        int(np.ravel(n)[0]), int(np.ravel(n)[1]))


def _filled(value: float) -> Callable[..., Any]:
    return lambda n=1, m=None: np.full(_row(n, m), value)


def _along(function: Callable[..., Any]) -> Callable[..., Any]:
    """A function of each column, or of a row."""
    def applied(a: Any, axis: Any = None) -> Any:
        array = np.atleast_2d(a)
        along = (1 if array.shape[0] == 1 else 0) if axis is None else int(axis) - 1
        made = function(array, axis=along)
        return made if made.ndim == 2 else np.expand_dims(made, along)
    return applied


def _greatest(of_all: Callable[..., Any], of_two: Callable[..., Any]) -> Callable[..., Any]:
    return lambda a, b=None: _along(of_all)(a) if b is None else of_two(a, b)


def _size(a: Any, axis: Any = None) -> Any:
    shape = np.array([np.atleast_2d(a).shape], dtype=float)
    return shape if axis is None else shape[0, int(axis) - 1]


def _reshape(a: Any, *sizes: Any) -> Any:
    shape = [-1 if np.size(n) == 0 else int(n) for n in (
        np.ravel(sizes[0]) if len(sizes) == 1 else sizes)]
    return np.reshape(a, shape, order="F")


def _interpolated(x: Any, y: Any, at: Any) -> Any:
    inside = (np.min(x) <= at) & (at <= np.max(x))
    if not np.all(inside) or np.any(np.diff(np.ravel(x)) <= 0):
        raise ValueError("a place outside the table, or places that do not grow")
    return np.interp(at, np.ravel(x), np.ravel(y))


def _root(x: Any, n: Any) -> Any:
    return np.sign(x) * np.abs(x) ** (1 / n)


def _rounded(x: Any, places: Any = 0) -> Any:
    """Halves away from zero, as in MATLAB; Python's go to the even number."""
    return np.copysign(np.floor(np.abs(x) * 10.0**places + 0.5), x) / 10.0**places


def _whole(signed: bool, bits: int) -> Callable[[Any], Any]:
    """The nearest whole number of so many bits."""
    lowest = -(2.0 ** (bits - 1)) if signed else 0.0
    return lambda x: np.clip(_rounded(x), lowest, lowest + 2.0**bits - 1)


def _in_degrees(function: Callable[..., Any]) -> Callable[..., Any]:
    """Exact where the angle is a whole number of right angles, as MATLAB's."""
    return lambda a: np.round(function(np.deg2rad(a)), 15)


def _joined(axis: Any, *parts: Any) -> Any:
    return np.concatenate([np.atleast_2d(p) for p in parts], axis=int(axis) - 1)


def _integral(x: Any, y: Any) -> Any:
    """Integral by trapezoids, up to each place of a column or row."""
    areas = np.diff(np.ravel(x)) * (np.ravel(y)[1:] + np.ravel(y)[:-1]) / 2
    return np.concatenate([[0.0], np.cumsum(areas)]).reshape(np.atleast_2d(y).shape)


FUNCTIONS: dict[str, Callable[..., Any]] = {
    **{name: getattr(np, name) for name in (
        "sqrt", "exp", "log", "log10", "log2", "sin", "cos", "tan", "sinh", "cosh", "tanh", "abs",
        "floor", "ceil", "sign", "mod", "power", "hypot", "deg2rad", "rad2deg")},
    **{f"{name}d": _in_degrees(getattr(np, name)) for name in ("sin", "cos", "tan")},
    "asin": np.arcsin, "acos": np.arccos, "atan": np.arctan, "atan2": np.arctan2,
    "asind": lambda a: np.rad2deg(np.arcsin(a)), "acosd": lambda a: np.rad2deg(np.arccos(a)),
    "atand": lambda a: np.rad2deg(np.arctan(a)), "nthroot": _root, "fix": np.trunc,
    "round": _rounded, "rem": np.fmod,
    "max": _greatest(np.max, np.maximum), "min": _greatest(np.min, np.minimum),
    "sum": _along(np.sum), "prod": _along(np.prod), "mean": _along(np.mean),
    "cumsum": _along(np.cumsum), "diff": _along(np.diff), "sort": _along(np.sort),
    "any": lambda a: _along(np.any)(a) * 1.0, "all": lambda a: _along(np.all)(a) * 1.0,
    "norm": np.linalg.norm, "dot": lambda a, b: float(np.ravel(a) @ np.ravel(b)),
    "numel": np.size, "length": lambda a: float(max(np.shape(a), default=1)), "size": _size,
    "isempty": lambda a: float(np.size(a) == 0), "isnan": lambda a: np.isnan(a) * 1.0,
    "linspace": lambda a, b, n=100: np.linspace(a if n > 1 else b, b, int(n)).reshape(1, -1),
    "logspace": lambda a, b, n=50: np.logspace(a, b, int(n)).reshape(1, -1),
    "ones": _filled(1.0), "zeros": _filled(0.0), "true": _filled(1.0), "false": _filled(0.0),
    "nan": _filled(np.nan), "NaN": _filled(np.nan), "inf": _filled(np.inf), "Inf": _filled(np.inf),
    "eye": lambda n, m=None: np.eye(*_row(n, m)), "inv": lambda a: np.linalg.inv(np.atleast_2d(a)),
    "cat": _joined, "vertcat": lambda *parts: _joined(1, *parts),
    "horzcat": lambda *parts: _joined(2, *parts), "cumtrapz": _integral,
    "trapz": lambda x, y: _integral(x, y).ravel()[-1],
    "polyfit": lambda x, y, n: np.polyfit(np.ravel(x), np.ravel(y), int(n)).reshape(1, -1),
    "repmat": lambda a, n, m=None: np.tile(np.atleast_2d(a), _row(n, m)), "reshape": _reshape,
    "interp1": _interpolated, "polyval": lambda c, x: np.polyval(np.ravel(c), x),
    "double": lambda a: a, "single": lambda a: a,
    "logical": lambda a: np.not_equal(a, 0) * 1.0,
    **{f"{sign}int{bits}": _whole(sign == "", bits) for sign in ("", "u")
       for bits in (8, 16, 32, 64)},
    "fliplr": lambda a: np.atleast_2d(a)[:, ::-1], "flipud": lambda a: np.atleast_2d(a)[::-1],
    "flip": lambda a: np.atleast_2d(a)[:, ::-1] if np.atleast_2d(a).shape[0] == 1 else a[::-1],
    "diag": lambda a: np.diag(np.ravel(a) if 1 in np.shape(a) else a),
}  # fmt: skip
MAKERS = (  # their last arguments are sizes
    "ones", "zeros", "repmat", "linspace", "logspace", "eye", "nan", "NaN", "inf", "Inf",
           "true", "false")  # fmt: skip
REAL = ("sqrt", "log", "log10", "log2", "asin", "acos", "asind", "acosd", "power")  # or complex
