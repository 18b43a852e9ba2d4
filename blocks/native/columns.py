"""A function of what a system's functions take, at many points at once: outputs, powers, energies.

The same instructions as everywhere (:mod:`blocks.native.expressions`), eight points at a time.
"""

from __future__ import annotations

import casadi as ca
import numpy as np

from ..machine.compiling import compiled
from ..machine.signatures import run_code
from ..numerics.arrays import Array
from ..system.evaluator import Evaluator
from ..system.points import Points
from .expressions import Unwritable, Writer

__all__ = ["column_values"]

LANES = 8


def column_values(function: Evaluator, points: Points, *more: Array) -> Array:
    """(rows, points) of a function; at least as many points as are looked at at a time."""
    given = points.columns(*more)
    moving = tuple(a.shape[1] > 1 for a in given)
    try:
        if moving not in function.machine_code:
            function.machine_code[moving] = compiled(_text(function.function, moving))
    except Unwritable:
        return function.at_columns(*given)
    out = np.empty((function.function.size1_out(0), len(points)))
    run_code(function.machine_code[moving], *(np.ascontiguousarray(a) for a in given),
             np.array([len(points)]), out)
    return out


def _text(function: ca.Function, moving: tuple[bool, ...]) -> str:
    """A loop over the points; its last turn begins so early that it ends with the last one."""
    w = Writer(LANES)
    rows, of_result = function.size1_out(0), function.sparsity_out(0).row()

    def place(base: str, row: int) -> str:
        first = w.new(f"mul i64 %count, {row}")
        return w.new(f"getelementptr double, ptr {base}, i64 {w.new(f'add i64 {first}, %i')}")

    def read(argument: int, entry: int) -> str:
        base = f"%a{argument}"
        if moving[argument]:
            return w.new(f"load {w.type}, ptr {place(base, entry)}, align 8")
        return w.spread(w.new(f"getelementptr double, ptr {base}, i64 {entry}"))

    def keep(_: int, entry: int, value: str) -> None:
        store(of_result[entry], value)

    def store(row: int, value: str) -> None:
        w.lines.append(f"  store {w.type} {value}, ptr {place('%out', row)}, align 8")

    w.write(function, read, keep)
    for row in set(range(rows)) - set(of_result):
        store(row, w.constant(0.0))
    arguments = ", ".join(f"ptr noalias %a{i}" for i in range(function.n_in()))
    return "\n".join([
        *sorted(w.declared), f"define void @main({arguments}, ptr noalias %n, ptr noalias %out) {{",
        "entry:", "  %count = load i64, ptr %n", f"  %last = sub i64 %count, {LANES}",
        "  br label %loop", "loop:", "  %i = phi i64 [ 0, %entry ], [ %next, %loop ]", *w.lines,
        f"  %ahead = add i64 %i, {LANES}", "  %late = icmp sgt i64 %ahead, %last",
        "  %next = select i1 %late, i64 %last, i64 %ahead", "  %done = icmp sge i64 %i, %last",
        "  br i1 %done, label %end, label %loop", "end:", "  ret void", "}"])  # fmt: skip
