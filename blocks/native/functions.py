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

from .machine import compiled
from .signatures import Kind, Record, Signature
from .translation import translated

__all__ = ["MachineCode", "machine_code"]

STORED = {"double": np.dtype(float), "i64": np.dtype(np.int64), "i1": np.dtype(np.bool_)}
FROM = {"i64": int, "i1": bool}
PASSED = {"double": ctypes.c_double, "i64": ctypes.c_int64, "i1": ctypes.c_bool}


class MachineCode(Signature):
    """A function that Python calls as machine code, with NumPy arrays and named tuples of these."""

    def __call__(self, *given: Any) -> Any:
        return self.entry(*given)

    @cached_property
    def callback(self) -> int:
        """Its address as a function of C, of numbers and addresses alone."""
        return compiled(translated(self, called_by_c=True), quick=True)

    @cached_property
    def entry(self) -> Callable[..., Any]:
        """Compiled, and given what Python gives."""
        kinds: list[tuple[str, Kind]] = []
        records: list[bool] = []
        for name, kind in self.parameters:
            records.append(isinstance(kind, Record))
            kinds += [(f"{name}.{field}", k) for field, k in kind.fields] if (
                isinstance(kind, Record)) else [(name, kind)]
        types: list[Any] = [ctypes.c_void_p]
        for _, of_value in kinds:
            types += [ctypes.c_void_p] + [ctypes.c_int64] * of_value.dimensions if (
                of_value.dimensions) else [PASSED[of_value.scalar]]
        entry = ctypes.CFUNCTYPE(None, *types)(compiled(translated(self), quick=True))
        returns = [k.scalar for k in self.returns]

        def call(*given: Any) -> Any:
            values: list[Any] = []
            for value, record in zip(given, records, strict=True):
                values += value if record else (value,)
            results = np.empty(len(returns))
            shown: list[Any] = [results.__array_interface__["data"][0]]
            for value, (name, kind) in zip(values, kinds, strict=True):
                if kind.dimensions:
                    shown += _array(value, name, kind)
                else:
                    shown.append(value)
            entry(*shown)
            whole = results.view(np.int64)
            found = tuple(float(results[k]) if scalar == "double" else FROM[scalar](whole[k])
                          for k, scalar in enumerate(returns))
            return found[0] if len(found) == 1 else found or None

        return call


def machine_code(function: Callable[..., Any]) -> MachineCode:
    """Declare that a function can be written as machine code."""
    return MachineCode(function)


def _array(value: np.ndarray, name: str, kind: Kind) -> tuple[int, ...]:
    """Address and shape of an array, as machine code is given them."""
    if value.dtype != STORED[kind.scalar] or value.ndim != kind.dimensions or not (
            value.flags.c_contiguous):
        raise TypeError(f"{name} is an array of {value.dtype} with shape {value.shape}, and "
                        f"takes {kind.dimensions} contiguous dimensions of {STORED[kind.scalar]}")
    return (value.__array_interface__["data"][0], *value.shape)
