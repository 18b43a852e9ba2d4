"""Moreau-Jean time stepping in machine code: many steps in a call.

A step whose efforts are not found there is taken in Python.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property
from typing import Any, TypeVar

import casadi as ca
import numpy as np

from ..nonsmooth.timestepping.active_contacts import ActiveContacts
from ..nonsmooth.timestepping.contact_kinds import Point
from ..nonsmooth.timestepping.free_bodies import FreeBodies
from ..nonsmooth.timestepping.moreau_jean import MoreauJean
from ..nonsmooth.timestepping.step_laws import StepLaws
from ..numerics.arrays import Array, Flags, Indices, distinct
from ..solvers import Step
from ..system.evaluator import Evaluator
from ..system.problem import Problem
from .contact_matrix import act, gaps
from .contact_steps import CHANGED, NOT_SOLVED, advance
from .expressions import Unwritable, Writer
from .functions import BoundCall, Kept
from .machine import compiled
from .sparse_lu import factors_of
from .step_problem import problem_of
from .step_records import Bodies, Kinds, Record, Room

__all__ = ["CompiledMoreauJean", "steps_compiled"]

STEPS = 256  # in a call,
NUMBERS = 1 << 20  # and numbers that these fill
STATES = 150  # that act on each other, up to which their matrix is full
MOST = 3000  # elements that act at once
ENTRIES = 250_000  # of their matrix, and of what they do to states
FILLED = 4  # times so many of its factors
LONGEST = 20_000  # operations of a function that is worth machine code


def steps_compiled(problem: Problem) -> bool:
    """Whether there is machine code for the steps of a problem, or for its contacts."""
    laws = problem.laws
    return isinstance(laws, StepLaws) and _ContactCode.of(laws) is not None


def _bodies_of(problem: Any) -> _BodyCode | None:
    """Machine code of the bodies, where whole steps are taken there."""
    laws = problem.laws
    if problem.delays is not None:
        return None
    return _once(laws, "machine code of bodies", lambda: _BodyCode(
        laws.bodies, _forces(laws.contacts)))


class _ContactCode:
    """Machine code of a system's contacts, and the tables that do not move."""

    def __init__(self, contacts: ActiveContacts, forces: Indices, is_contact: Flags) -> None:
        self.kinds = kinds = contacts.kinds
        counts = np.array([len(k.instances) for k in kinds])
        gap, law = ([_written(f.sx_in(), f.call(f.sx_in())[0]) for f in functions]
                    for functions in zip(*((k.gap_of.one, k.laws_of.one) for k in kinds),
                                         strict=True))
        seen, laws, gaps, force, width = (np.array(a, dtype=np.int64) for a in (
            [k.seen.shape[1] for k in kinds], [k.elements.shape[1] for k in kinds],
            [k.contact.sum() for k in kinds], [k.forces.shape[1] for k in kinds],
            [k.arguments.numel() for k in kinds]))
        alone = np.array([(~k.contact & ~k.follows).any() for k in kinds], dtype=np.int64)
        bent = np.array([k.bent for k in kinds], dtype=np.int64)
        results = np.array([k.laws_of.width for k in kinds])
        self.gaps, self.results, self.instances = int(counts @ gaps), int(results.max()), int(
            counts.sum())
        self.laws, self.elements = int(laws.max()), int(counts @ laws)
        self.tables = [
            np.array(gap), np.array(law), counts, seen, laws, gaps, force, width, results, alone,
            bent, _end_to_end([k.seen_at for k in kinds], np.int64),
            _end_to_end([k.seen_sign for k in kinds], float),
            _end_to_end([np.searchsorted(forces, k.forces) for k in kinds], np.int64),
            _end_to_end([k.force_sign for k in kinds], float),
            _end_to_end([k.elements for k in kinds], np.int64),
            *(np.cumsum(counts * n) - counts * n for n in (seen, force, laws, width, gaps)),
            np.array(is_contact, dtype=bool)]

    @classmethod
    def of(cls, laws: StepLaws) -> _ContactCode | None:
        """Of a system; None where it has operations that machine code does not know."""
        return _once(laws, "machine code of contacts", lambda: cls(
            laws.contacts, _forces(laws.contacts), laws.contact))


class _BodyCode:
    """Machine code of the network without its contacts."""

    def __init__(self, bodies: FreeBodies, forces: Indices) -> None:
        symbols = bodies.slope_of.function.sx_in()

        def at(evaluator: Evaluator) -> ca.SX:
            return evaluator.function.call(symbols)[0]

        slope_x, seen_x = at(bodies.slope_x_of), at(bodies.seen_x_of).T
        slope_w = at(bodies.slope_w_of)
        self.blocks = _blocks(slope_x)
        self.widest = int(np.diff(self.blocks[1]).max(initial=1))
        if self.widest > STATES:
            raise Unwritable("many states act on each other")
        self.addresses = [_written(symbols, e) for e in (
            at(bodies.slope_of), slope_x, at(bodies.seen_of), seen_x, slope_w)]
        given = bodies.gathers[:, forces]
        self.patterns = [*(pattern for e in (slope_x, seen_x, slope_w) for pattern in _pattern(e)),
                         given.indptr.astype(np.int64), given.indices.astype(np.int64), given.data]
        self.nonzeros = [e.nnz() for e in (slope_x, seen_x, slope_w)]
        self.pushed, self.seen = bodies.pushed, bodies.size_of_seen


def _blocks(slope_x: ca.SX) -> list[Indices]:
    """States that act on each other: per state its block; the states of blocks; their places."""
    from scipy.sparse import csc_matrix
    from scipy.sparse.csgraph import connected_components

    starts, rows = _pattern(slope_x)
    n = len(starts) - 1
    count, block = connected_components(csc_matrix((np.ones(len(rows)), rows, starts),
                                                   shape=(n, n)), directed=False)
    states = np.argsort(block, kind="stable")
    ends = np.concatenate([[0], np.cumsum(np.bincount(block, minlength=count))])
    row = np.empty(n, dtype=np.int64)
    row[states] = np.arange(n)
    return [block.astype(np.int64), ends.astype(np.int64), states, row]


Made = TypeVar("Made")


def _once(laws: StepLaws, name: str, make: Callable[[], Made]) -> Made | None:
    def made() -> Made | None:
        try:
            return make()
        except Unwritable:
            return None

    return laws.system.once(name, made)


def _forces(contacts: ActiveContacts) -> Indices:
    """Classes of forces that contacts compute."""
    return distinct(np.concatenate([k.forces.ravel() for k in contacts.kinds]))


def _written(symbols: list[ca.SX], expression: Any) -> int:
    """Address of a function that stores an expression's nonzeros, column by column."""
    function = ca.Function("f", symbols, [expression.nz[:]])
    if function.n_instructions() > LONGEST:
        raise Unwritable("it is long")
    w = Writer()
    values = w.values(function, {i: (f"%a{i}", 0) for i in range(len(symbols))})
    for k, value in enumerate(values):
        w.store(value, "%out", k)
    arguments = ", ".join(f"ptr noalias %a{i}" for i in range(len(symbols)))
    return compiled("\n".join([
        *sorted(w.declared), f"define void @main({arguments}, ptr noalias %out) {{", *w.lines,
        "  ret void", "}"]), parallel=False)  # fmt: skip


def _pattern(expression: ca.SX) -> tuple[Indices, Indices]:
    """Where columns begin among the nonzeros, and the rows of these."""
    pattern = expression.sparsity()
    return np.array(pattern.colind(), dtype=np.int64), np.array(pattern.row(), dtype=np.int64)


def _end_to_end(parts: list[Any], kind: Any) -> Any:
    return np.concatenate([np.ascontiguousarray(p).ravel() for p in parts]).astype(kind)


class _Contacts:
    """The contacts of a run.

    Attributes
    ----------
    behind, ahead : gaps at the start of a step and at its end without contacts
    kind, row : instances that act
    """

    def __init__(self, code: _ContactCode, p: Array) -> None:
        self.code = code
        tables = [k.table_at(p) for k in code.kinds]
        table = _end_to_end(tables, float)
        ends = np.cumsum([t.size for t in tables])[:-1]
        self._tables = [part.reshape(t.shape) for part, t in zip(
            np.split(table, ends), tables, strict=True)]  # views, kind by kind
        self.record = Kept(Kinds._make([*code.tables, table]))
        self.behind, self.ahead = np.zeros((2, code.gaps))
        self.kind, self.row = np.zeros((2, code.instances), dtype=np.int64)

    def hold(self, m: Array, d: Array) -> None:
        """Take relations and discrete values from now on."""
        for kind, table in zip(self.code.kinds, self._tables, strict=True):
            kind.hold(table, m, d, kind.instances)

    def candidates(self, before: Point, after: Point) -> list[Indices]:
        """Per kind, the instances that can act between two points."""
        self.hold(before.m, before.d)
        for point, found in ((before, self.behind), (after, self.ahead)):
            gaps(self.record, float(point.t), point.seen, found)
        count = act(self.record, self.behind, self.ahead, self.kind, self.row)
        ends = np.searchsorted(self.kind[:count], np.arange(1, len(self.code.kinds)))
        return np.split(self.row[:count].copy(), ends)


class _Run:
    """The arrays of a run's steps, and the call that takes them."""

    def __init__(self, contacts: _Contacts, code: _BodyCode, problem: Any) -> None:
        laws, n = problem.laws, problem.size
        self.contacts = contacts
        self.y, self.last = np.zeros(n), np.zeros(laws.size)
        self.modes, self.begun = np.zeros((2, laws.size), dtype=np.int64)
        self.m, self.d = np.array(problem.m, dtype=float), np.array(problem.d, dtype=float)
        scale, p = np.array(problem.scale, dtype=float), np.array(problem.p, dtype=float)
        bodies = Bodies._make([*code.addresses, *code.patterns, *code.blocks, code.pushed, scale, p,
                               self.m, self.d])
        self.steps = min(STEPS, 1 + NUMBERS // (n + laws.size))
        self.record = Record(np.empty(self.steps), np.empty((self.steps, n)),
                             np.empty((self.steps, laws.size)))
        self.room = _room(contacts, code, n)
        most = len(self.room.element)
        entries = min(most * most, ENTRIES)
        self.call: BoundCall = advance.bound(
            Kept(bodies), contacts.record, Kept(problem_of(most, entries)),
            Kept(factors_of(most, FILLED * entries)), Kept(self.room), Kept(self.record), 0.0, 0.0,
            0.0, self.y, self.last, self.modes, self.begun)
        self.t, self.step, self.t_stop, self.ends = (
            self.call.place[name] for name in ("t", "step", "t_stop", "record.ends"))

    def __call__(self, problem: Any, t: float, y: Array, step: float, t_stop: float, most: int
                 ) -> tuple[int, int]:
        """Up to so many steps: why they have ended, and how many there are."""
        laws, call = problem.laws, self.call
        self.y[:], self.last[:], self.modes[:] = y, laws.efforts.last, laws.modes
        self.begun[:] = laws.modes
        self.m[:], self.d[:] = problem.m, problem.d
        self.contacts.hold(self.m, self.d)
        self.room.counts[:2] = 0
        call.numbers[self.t], call.numbers[self.step], call.numbers[self.t_stop] = t, step, t_stop
        call.table[self.ends + 1] = most
        call()
        why, taken = call.results.tolist()
        return why, taken


def _room(contacts: _Contacts, code: _BodyCode, n: int) -> Room:
    """Where the steps of ``n`` states are worked out."""
    laws, results = contacts.code.laws, contacts.code.results
    most = min(contacts.code.elements, MOST) + 1
    acted = min(most * n, ENTRIES)  # states that elements act on

    def whole(size: int) -> Indices:
        return np.zeros(size, dtype=np.int64)

    return Room._make([
        np.zeros(1), *np.zeros((6, n)), np.ones(n), whole(n), np.zeros(code.nonzeros[0]),
        np.zeros((n, code.widest)), *np.zeros((3, code.seen)), np.zeros(code.nonzeros[1]),
        np.zeros(code.nonzeros[2]), contacts.behind, contacts.ahead, contacts.kind, contacts.row,
        np.zeros(results), whole(most + 1), whole(most + 1), whole(acted), np.zeros((laws, acted)),
        whole(most + 1), whole(acted), np.zeros((laws, acted)), np.full(n, -1), whole(n + 1),
        whole(acted), whole(acted), whole(most), whole(most), whole(most), *np.zeros((7, most)),
        *np.zeros((2, most, laws)), np.zeros(most), np.zeros(contacts.code.elements),
        *np.zeros((2, most), dtype=bool), whole(most), np.array([0, 0, -1])])


class CompiledMoreauJean(MoreauJean):
    """The same steps, many in a call."""

    hard = False  # the next step is for Python

    @property
    def run(self) -> _Run | None:
        """What takes whole steps of the run, if something does."""
        machine: _Run | None = self._machine[1]
        return machine

    @cached_property
    def _machine(self) -> tuple[_Contacts, _Run | None]:
        """The arrays of the run, made with its first episode."""
        problem, laws = self.problem, self.problem.laws
        if laws.machine is None:
            code, bodies = _ContactCode.of(laws), _bodies_of(problem)
            assert code is not None  # or another method would have been taken
            contacts = _Contacts(code, problem.p)
            laws.machine = contacts, _Run(contacts, bodies, problem) if bodies else None
        made: tuple[_Contacts, _Run | None] = laws.machine
        return made

    def _candidates(self, laws: StepLaws, t: float, y: Array, end: Array, h: float
                    ) -> list[Indices]:
        contacts = laws.contacts
        contacts.look_at(self.problem, t + h, end)
        after = contacts.point
        contacts.look_at(self.problem, t, y)
        return self._machine[0].candidates(contacts.point, after)

    def advance(self, t_stop: float) -> Step:
        assert self.step_size is not None
        problem, t, y = self.problem, self.t, self.y
        if self.run is not None and not self.hard:
            most = 1 if problem.system.nm else self.run.steps  # relations are looked at after each
            why, taken = self.run(problem, t, y, self.step_size, t_stop, most)
            self.hard = why == NOT_SOLVED
            if taken:
                return self._taken(taken, why)
        self.hard = False
        return super().advance(t_stop)

    def _taken(self, taken: int, why: int) -> Step:
        run, laws = self.run, self.problem.laws
        assert run is not None
        ends, rows, efforts = (a[:taken] for a in run.record)
        residuals, jacobians = run.room.counts[:2].tolist()
        self.work.steps += taken
        self.work.residuals += residuals
        self.work.jacobians += jacobians
        self.work.factorizations += jacobians
        before = self.t if taken == 1 else float(ends[-2])
        self.course.extend(ends, rows)
        laws.keep(self.problem, ends, efforts)
        if why == CHANGED:
            laws.modes = run.modes.astype(np.int8)
        self.t, self.y = float(ends[-1]), rows[-1].copy()
        return Step(before, self.t, self.y, self.course)
