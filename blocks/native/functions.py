"""Functions in plain loops, run as machine code; compiled when first called.

Those that are declared by :func:`machine_code` are as :mod:`blocks.native.translation` says; the
attribute ``python`` is the function as it stands, with which machine code is compared.
"""

from __future__ import annotations

import ctypes
from collections.abc import Callable
from functools import cached_property
from typing import Any

import numpy as np

from .machine import compiled, compiled_from_source
from .signatures import Kind, Record, Signature
from .translation import translated

__all__ = ["Kept", "MachineCode", "machine_code"]

STORED = {"double": np.dtype(float), "i64": np.dtype(np.int64), "i1": np.dtype(np.bool_)}
FROM = {"i64": int, "i1": bool}
PACKAGE = __name__.partition(".")[0] + "."
PASSED = {"double": ctypes.c_double, "i64": ctypes.c_int64, "i1": ctypes.c_bool}


class Kept:
    """A named tuple of arrays that stay where they are, as machine code is given it.

    What is asked of its arrays is asked once, not in every call.
    """

    def __init__(self, record: tuple[Any, ...]) -> None:
        self.record = record
        self._kinds: Record | None = None
        self._shown: list[Any] = []

    def shown(self, kinds: Record) -> list[Any]:
        """Numbers, and addresses and shapes of arrays."""
        if self._kinds is not kinds and self._kinds != kinds:
            self._kinds, self._shown = kinds, _shown(self.record, kinds.fields)
        return self._shown


class MachineCode(Signature):
    """A function that Python calls as machine code, with NumPy arrays and named tuples of these."""

    def __call__(self, *given: Any) -> Any:
        return self.entry(*given)

    def _compiled(self, called_by_c: bool = False) -> int:
        """Its address; one of this package is translated only where that has not been done yet."""
        def text() -> str:
            return translated(self, called_by_c)

        if self.python.__module__.startswith(PACKAGE):
            return compiled_from_source(self.symbol + " called by C" * called_by_c, text)
        return compiled(text(), quick=True)

    @cached_property
    def callback(self) -> int:
        """Its address as a function of C, of numbers and addresses alone."""
        return self._compiled(called_by_c=True)

    @cached_property
    def entry(self) -> Callable[..., Any]:
        """Compiled, and given what Python gives."""
        kinds = [(name, kind) for name, kind in self.parameters]
        types: list[Any] = [ctypes.c_void_p]
        for _, kind in kinds:
            for of_value in [k for _, k in kind.fields] if isinstance(kind, Record) else [kind]:
                types += [ctypes.c_void_p] + [ctypes.c_int64] * of_value.dimensions if (
                    of_value.dimensions) else [PASSED[of_value.scalar]]
        entry = ctypes.CFUNCTYPE(None, *types)(self._compiled())
        returns = [k.scalar for k in self.returns]

        def call(*given: Any) -> Any:
            results = np.empty(len(returns))
            shown: list[Any] = [_address(results)]
            for value, (name, kind) in zip(given, kinds, strict=True):
                if not isinstance(kind, Record):
                    shown += _array(value, name, kind) if kind.dimensions else (value,)
                elif isinstance(value, Kept):
                    shown += value.shown(kind)
                else:
                    shown += _shown(value, kind.fields)
            entry(*shown)
            whole = results.view(np.int64)
            found = tuple(float(results[k]) if scalar == "double" else FROM[scalar](whole[k])
                          for k, scalar in enumerate(returns))
            return found[0] if len(found) == 1 else found or None

        return call


def machine_code(function: Callable[..., Any]) -> MachineCode:
    """Declare that a function can be written as machine code."""
    return MachineCode(function)


def _shown(record: tuple[Any, ...], fields: tuple[tuple[str, Kind], ...]) -> list[Any]:
    """A named tuple as machine code is given it."""
    shown: list[Any] = []
    for value, (name, kind) in zip(record, fields, strict=True):
        if kind.dimensions:
            shown += _array(value, f"{type(record).__name__}.{name}", kind)
        else:
            shown.append(value)
    return shown


def _array(value: np.ndarray, name: str, kind: Kind) -> tuple[int, ...]:
    """Address and shape of an array, as machine code is given them."""
    if value.dtype != STORED[kind.scalar] or value.ndim != kind.dimensions or not (
            value.flags.c_contiguous):
        raise TypeError(f"{name} is an array of {value.dtype} with shape {value.shape}, and "
                        f"takes {kind.dimensions} contiguous dimensions of {STORED[kind.scalar]}")
    return (_address(value), *value.shape)


def _address(value: np.ndarray) -> int:
    if value.nbytes and value.flags.writeable:  # the quickest way, where there is a buffer
        return ctypes.addressof(ctypes.c_char.from_buffer(value))  # type: ignore[arg-type]
    return int(value.__array_interface__["data"][0])
