"""One step of the Dormand-Prince pair, compiled: stages, error, values inside.

The equations come as addresses of machine code ``f(t, x, p, q, out)`` (pointers to doubles),
so what is compiled here serves all models.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numba import types
from numba.extending import intrinsic

from .disk_cache import compiled
from .stages import ERROR_NORM, EXTENSION, NEW, STAGE_TIMES, WORK

__all__ = ["Code", "addresses", "call", "crossings_at", "error_of_step", "run_code", "settle_at",
           "slope_at", "take_stages", "values_inside", "workspace"]  # fmt: skip

#: Entries of work space: a time, length of a step, tolerance or part of the step, largest error,
#: sum of errors, number of unknowns (an integer).
AT, LENGTH, SECOND, LARGEST_ERROR, SUM, SIZE = range(6)


class Code(NamedTuple):
    """Addresses of machine code, and of the constants that it reads; no arrays: these are counted
    whenever they are taken out of a tuple."""

    stages: tuple[int, int, int, int, int, int]  # weighted sums, from x and the slopes so far
    error: int
    extension: int
    slope: int
    crossings: int
    settle: int  # what brings the end of a step back onto its constraints, or 0
    p: int
    q: int


@intrinsic
def run_code(context, address, t, x, p, q, out):  # type: ignore[no-untyped-def]
    """Call machine code by its address."""
    from llvmlite import ir

    def generate(context, builder, signature, given):  # type: ignore[no-untyped-def]
        pointer = ir.IntType(8).as_pointer()
        kind = ir.FunctionType(ir.VoidType(), [pointer] * 5)
        function = builder.inttoptr(given[0], kind.as_pointer())
        builder.call(function, [builder.inttoptr(g, pointer) for g in given[1:]])
        return context.get_dummy_value()

    return types.void(*[types.intp] * 6), generate


@compiled
def call(function, t, x, p, q, out):
    """Machine code at the address ``function``, on arrays."""
    run_code(function, t.ctypes.data, x.ctypes.data, p.ctypes.data, q.ctypes.data, out.ctypes.data)


@compiled
def addresses(arithmetic, slope, crossings, settle, p, q):
    """The :class:`Code` of a model; ``arithmetic`` as of :mod:`blocks.native.stages`."""
    a = arithmetic
    return Code((a[0], a[1], a[2], a[3], a[4], a[5]), a[ERROR_NORM], a[EXTENSION], slope,
                crossings, settle, p, q)


@compiled
def workspace(n):
    """Numbers that machine code reads and fills, for ``n`` unknowns."""
    work = np.empty(6)
    work.view(np.int64)[SIZE] = n
    return work


@compiled
def _entry(work, i):
    """Address of an entry."""
    return work.ctypes.data + 8 * i


@compiled
def slope_at(code, work, t, x, out):
    """f(t, x)."""
    work[AT] = t
    run_code(code.slope, _entry(work, AT), x.ctypes.data, code.p, code.q, out.ctypes.data)


@compiled
def settle_at(code, work, t, x, out):
    """The end of a step, brought back onto its constraints."""
    work[AT] = t
    run_code(code.settle, _entry(work, AT), x.ctypes.data, code.p, code.q, out.ctypes.data)


@compiled
def crossings_at(code, work, t, x, out):
    """Crossing functions, their signs as they come."""
    work[AT] = t
    run_code(code.crossings, _entry(work, AT), x.ctypes.data, code.p, code.q, out.ctypes.data)


@compiled
def take_stages(code, work, t, h, x, k):
    """Stages 2 to 7 of a step from k1 = f(t, x); the end of the step goes into its row."""
    here, rows, inner = x.ctypes.data, k.ctypes.data, k[WORK].ctypes.data
    moment, n, pair = _entry(work, AT), _entry(work, SIZE), _entry(work, LENGTH)
    work[LENGTH] = h
    for j in range(6):
        out = k[NEW].ctypes.data if j == 5 else inner
        run_code(code.stages[j], here, rows, out, n, pair)
        work[AT] = t + STAGE_TIMES[j] * h
        run_code(code.slope, moment, out, code.p, code.q, k[j + 1].ctypes.data)


@compiled
def error_of_step(code, work, h, rtol, x, k):
    """The largest error of all unknowns in units of their tolerance; nan if one is nan."""
    work[LENGTH], work[SECOND] = h, rtol
    run_code(code.error, x.ctypes.data, k.ctypes.data, _entry(work, LARGEST_ERROR),
             _entry(work, SIZE), _entry(work, LENGTH))
    return work[LARGEST_ERROR] if np.isfinite(work[SUM]) else np.nan


@compiled
def values_inside(code, work, theta, h, x, k, out):
    """The continuous extension at the part ``theta`` of a step."""
    work[LENGTH], work[SECOND] = h, theta
    run_code(code.extension, x.ctypes.data, k.ctypes.data, out.ctypes.data, _entry(work, SIZE),
             _entry(work, LENGTH))
