"""A function of what a system's functions take, at many points at once: outputs, powers, energies.

The same instructions as everywhere (:mod:`blocks.native.expressions`), eight points at a time. In a
long function those of equal components become loops (:mod:`.repetitions`).
"""

from __future__ import annotations

import casadi as ca
import numpy as np

from ..machine.compiling import compiled
from ..machine.signatures import run_code
from ..numerics.arrays import Array
from ..system.evaluator import Evaluator
from ..system.points import Points
from .equations import written
from .expressions import Unwritable, Writer
from .loop_text import LoopText
from .repetitions import Repetitions
from .text import Beginning

__all__ = ["column_values", "values_in_loops"]

LANES = 8


def column_values(function: Evaluator, points: Points, *more: Array) -> Array:
    """(rows, points) of a function; at least as many points as are looked at at a time."""
    given = points.columns(*more)
    moving = tuple(a.shape[1] > 1 for a in given)
    try:
        address = _address(function, moving)
    except Unwritable:
        return function.at_columns(*given)
    out = np.empty((function.function.size1_out(0), len(points)))
    run_code(address, *(np.ascontiguousarray(a) for a in given), np.array([len(points)]), out)
    return out


def values_in_loops(function: Evaluator, points: Points, *more: Array) -> Array:
    """The same of a long function, any number of points."""
    given, count = points.columns(*more), len(points)
    moving = tuple(a.shape[1] > 1 for a in given)
    if moving not in function.loops:
        function.loops[moving] = _loops(function.function, moving)
    loops = function.loops[moving]
    if loops is None:
        return function.at_columns(*given)
    address, scratch = loops
    blocks = -(-count // LANES)
    columns = np.concatenate([a for a, moves in zip(given, moving, strict=True) if moves])
    columns = np.pad(columns, ((0, 0), (0, blocks * LANES - count)), "edge")
    x = np.ascontiguousarray(columns.reshape(-1, blocks, LANES).transpose(1, 0, 2))
    same = [a for a, moves in zip(given, moving, strict=True) if not moves]
    p = np.repeat(np.concatenate([*same, np.zeros((0, 1))]), LANES)
    q, out = np.empty(scratch * LANES), np.empty((blocks, function.function.size1_out(0), LANES))
    for here, found in zip(x, out, strict=True):
        run_code(address, here, here, p, q, found)
    return out.transpose(1, 0, 2).reshape(-1, blocks * LANES)[:, :count]


def _loops(function: ca.Function, moving: tuple[bool, ...]) -> tuple[int, int] | None:
    """The address of loops, and how many numbers they need for each point; None for none."""
    text, places = LoopText(LANES), dict[int, tuple[str, int]]()
    rows = dict.fromkeys(("%x", "%p"), 0)
    for i, moves in enumerate(moving):
        base = "%x" if moves else "%p"
        places[i] = base, rows[base]
        rows[base] += function.size1_in(i)
    try:
        scratch = Repetitions(function).write(text, 0, places, 0)
        return written(text, Beginning()), scratch
    except Unwritable:
        return None


def _address(function: Evaluator, moving: tuple[bool, ...]) -> int:
    """Of the code, kept with the function."""
    if moving not in function.machine_code:
        function.machine_code[moving] = compiled(_text(function.function, moving))
    return function.machine_code[moving]


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
