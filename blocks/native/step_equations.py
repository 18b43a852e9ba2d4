"""Equations of Moreau-Jean steps, as plain loops are given them.

Functions are machine code; where they have none (no LLVM, an operation that it does not know, a
long expression, delays, a system as a whole) they are called back in Python.
"""

from __future__ import annotations

from contextlib import suppress
from typing import Any, NamedTuple

import casadi as ca
import numpy as np
from scipy.sparse import csc_matrix

from ..machine import compiling
from ..machine.compiling import compiled
from ..nonsmooth.timestepping.contact_kinds import Kind
from ..nonsmooth.timestepping.step_laws import StepLaws
from ..nonsmooth.timestepping.whole_system import WholeSystem
from ..numerics.arrays import Array, Indices, distinct
from ..system.evaluator import Evaluator
from .callbacks import Callbacks
from .expressions import Unwritable, Writer
from .front_lists import lists_of
from .fronts import lists_with
from .step_records import Bodies, Kinds

__all__ = ["ComponentSteps", "WholeSteps", "is_machine_code", "written"]

STEPS = 256  # in a call
LONGEST = 20_000  # operations of a function that is worth machine code


class _Function(NamedTuple):
    """A function, and the address of its machine code; 0 where it has none."""

    function: ca.Function
    code: int


def is_machine_code(problem: Any) -> bool:
    """Whether steps of a problem, and all that they evaluate, are machine code."""
    laws = problem.laws
    if not compiling.is_installed() or not isinstance(laws, StepLaws) or problem.delays is not None:
        return False
    parts = _parts_of(laws)
    return all(f.code for f in (*parts.gap, *parts.law, *parts.of_bodies))


class _Parts:
    """What is the same in all runs of a system with components that can be taken off."""

    def __init__(self, laws: StepLaws) -> None:
        kinds, bodies = laws.kinds, laws.bodies
        self.gap = [_function(k.gap_of.function) for k in kinds]
        self.law = [_function(k.laws_of.function) for k in kinds]
        forces = distinct(np.concatenate([k.forces.ravel() for k in kinds]))
        self.kinds = _kinds(kinds, forces, laws.elements.contact)
        symbols = bodies.slope_of.function.sx_in()
        by_rows = ca.Function("seen_x", symbols, [bodies.seen_x_of.function.call(symbols)[0].T])
        self.of_bodies = [_function(f) for f in (
            bodies.slope_of.function, bodies.slope_x_of.function, bodies.seen_of.function, by_rows,
            bodies.slope_w_of.function)]
        slope_x, seen_x, slope_w = (self.of_bodies[k].function.sparsity_out(0) for k in (1, 3, 4))
        given = bodies.gathers[:, forces]
        starts, rows = _pattern(slope_x)
        self.front_lists = _front_lists(starts, rows)
        self.patterns = [starts, rows, *_pattern(seen_x), *_pattern(slope_w),
                         given.indptr.astype(np.int64), given.indices.astype(np.int64), given.data,
                         bodies.pushed]


def _parts_of(laws: StepLaws) -> _Parts:
    parts: _Parts = laws.system.once("parts of time steps", lambda: _Parts(laws))
    return parts


class ComponentSteps:
    """Equations of components with set-valued laws, and of the bodies between them, in a run."""

    def __init__(self, problem: Any, callbacks: Callbacks) -> None:
        parts, delays = _parts_of(problem.laws), problem.delays
        compiled_code = compiling.is_installed()
        self._kinds: list[Kind] = problem.laws.kinds
        # relations and discrete values of the bodies
        self.m, self.d = np.array(problem.m, dtype=float), np.array(problem.d, dtype=float)
        # steps that may be taken without anybody looking
        self.most = 1 if problem.system.nm or delays is not None else STEPS

        def address(f: _Function, of_bodies: bool = False) -> int:
            delayed = of_bodies and delays is not None
            if f.code and compiled_code and not delayed:
                return f.code
            function = f.function
            evaluator = Evaluator(function)

            def at(t: Array, x: Array, p: Array, m: Array, d: Array) -> Array:
                delays.fill(d, float(t[0]))
                self.hold(m, d)
                return evaluator(t, x, p, m, d)

            return callbacks.address(at if delayed else evaluator, tuple(
                function.nnz_in(i) for i in range(function.n_in())), function.nnz_out(0))

        tables = [k.table_at(problem.p) for k in self._kinds]
        table = _end_to_end(tables, float)
        ends = np.cumsum([t.size for t in tables])[:-1]
        self._tables = [part.reshape(t.shape) for part, t in zip(
            np.split(table, ends), tables, strict=True)]  # views, kind by kind
        gap, law = (np.array([address(f) for f in fs], dtype=np.int64)
                    for fs in (parts.gap, parts.law))
        # kinds, bodies: as plain loops take them
        self.kinds = Kinds._make([gap, law, *parts.kinds, table])
        self.bodies = Bodies._make([
            *(address(f, True) for f in parts.of_bodies), *parts.patterns,
            np.array(problem.scale, dtype=float), np.array(problem.p, dtype=float), self.m, self.d,
            lists_with(parts.front_lists, problem.size)])

    def begin(self, problem: Any, t: float, y: Array) -> None:
        """Take relations and discrete values from now on."""
        self.m[:], self.d[:] = problem.m, problem.d
        self.hold(self.m, self.d)

    def hold(self, m: Array, d: Array) -> None:
        """Write them into the tables of arguments."""
        for kind, table in zip(self._kinds, self._tables, strict=True):
            kind.hold(table, m, d, kind.instances)


class WholeSteps:
    """Equations of a system as a whole: one component, which sees all states."""

    most = 1

    def __init__(self, problem: Any, callbacks: Callbacks) -> None:
        whole = self.whole = WholeSystem(problem, problem.laws)
        n, e = problem.size, whole.size
        contact = np.zeros(0, dtype=bool) if e == 0 else np.asarray(problem.laws.elements.contact)
        every, width = np.arange(n), n + e + 1
        starts, rows = np.arange(n + 1) * n, np.tile(every, n)
        if not whole.full:
            starts, rows = _pattern(problem.system.slope_x.function.sparsity_out(0))
        point = 1, n, len(problem.p), len(problem.m), len(problem.d)

        def body(function: Any, result: int) -> int:
            return callbacks.address(lambda t, x, p, m, d: function(float(t[0]), x), point, result)

        def of_row(function: Any, result: int, efforts: bool) -> int:
            def at(row: Array) -> Array:
                return function(float(row[-1]), row[:n], *[row[n:-1]][: efforts])

            return callbacks.address(at, (width,), result)

        one = np.ones(1 if e else 0, dtype=np.int64)
        none, identity = 0 * one, (np.arange(n + 1), every)
        results = e * (6 + n + 4 * e + n)
        bent = e > 0 and problem.laws.load is not None and problem.laws.load.pieces
        # kinds, bodies, most: as those of components
        self.kinds = Kinds(
            one * of_row(whole.gaps, int(contact.sum()), False),
            one * of_row(whole.values, results, True), one, n * one, e * one,
            int(contact.sum()) * one, n * one, width * one, results * one, one, bent * one, every,
            np.ones(n), every, np.ones(n), np.arange(e), none, none, none, none, none, contact,
            np.zeros(width))
        ones = body(lambda t, x: 1.0, n)
        self.bodies = Bodies._make([
            body(whole.slope, n), body(whole.jacobian, len(rows)), body(lambda t, x: x, n), ones,
            ones, starts, rows, *identity, *identity, *identity, np.ones(n), np.ones(n), np.ones(n),
            np.array(problem.p, dtype=float), np.array(problem.m, dtype=float),
            np.array(problem.d, dtype=float), lists_with(_front_lists(starts, rows), n)])

    def begin(self, problem: Any, t: float, y: Array) -> None:
        """Look for what has no motion."""
        self.whole.begin(t, y)


def _kinds(kinds: list[Kind], forces: Indices, is_contact: Any) -> list[Any]:
    """What plain loops are given of kinds, but for functions and arguments."""
    counts = np.array([len(k.instances) for k in kinds])
    seen, laws, gaps, force, width = (np.array(a, dtype=np.int64) for a in (
        [k.seen.shape[1] for k in kinds], [k.elements.shape[1] for k in kinds],
        [k.contact.sum() for k in kinds], [k.forces.shape[1] for k in kinds],
        [k.arguments.numel() for k in kinds]))
    return [
        counts, seen, laws, gaps, force, width,
        np.array([k.laws_of.function.nnz_out(0) for k in kinds], dtype=np.int64),
        np.array([(~k.contact & ~k.follows).any() for k in kinds], dtype=np.int64),
        np.array([k.bent for k in kinds], dtype=np.int64),
        _end_to_end([k.seen_at for k in kinds], np.int64),
        _end_to_end([k.seen_sign for k in kinds], float),
        _end_to_end([np.searchsorted(forces, k.forces) for k in kinds], np.int64),
        _end_to_end([k.force_sign for k in kinds], float),
        _end_to_end([k.elements for k in kinds], np.int64),
        *(np.cumsum(counts * n) - counts * n for n in (seen, force, laws, width, gaps)),
        np.array(is_contact, dtype=bool)]


def _front_lists(starts: Indices, rows: Indices) -> Indices:
    """The lists of the factors of a matrix, from where its columns begin and the rows of these."""
    n = len(starts) - 1
    return lists_of(csc_matrix((np.ones(len(rows)), rows, starts), shape=(n, n)))


def _function(function: ca.Function) -> _Function:
    """Return a function with machine code that stores its nonzeros by column, if it has some."""
    symbols = function.sx_in()
    flat = ca.Function("f", symbols, [function.call(symbols)[0].nz[:]])
    code = 0
    if compiling.is_installed() and flat.n_instructions() <= LONGEST:
        with suppress(Unwritable):
            code = written(flat)
    return _Function(function, code)


def written(function: ca.Function) -> int:
    """The address of its machine code, which takes vectors and fills the last one."""
    w, count = Writer(), function.n_in()
    for k, value in enumerate(w.values(function, {i: (f"%a{i}", 0) for i in range(count)})):
        w.store(value, "%out", k)
    arguments = ", ".join(f"ptr noalias %a{i}" for i in range(count))
    return compiled("\n".join([
        *sorted(w.declared), f"define void @main({arguments}, ptr noalias %out) {{", *w.lines,
        "  ret void", "}"]), parallel=False)  # fmt: skip


def _pattern(pattern: ca.Sparsity) -> tuple[Indices, Indices]:
    """Where columns begin among the nonzeros, and the rows of these."""
    return np.array(pattern.colind(), dtype=np.int64), np.array(pattern.row(), dtype=np.int64)


def _end_to_end(parts: list[Any], kind: Any) -> Any:
    return np.concatenate([np.ascontiguousarray(p).ravel() for p in parts]).astype(kind)
