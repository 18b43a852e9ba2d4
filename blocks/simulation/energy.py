"""How much energy did every component take in, store, lose and supply?

Works on three variable names a component may declare: ``energy_stored`` (J),
``power_dissipated`` (W) and ``power_supplied`` (W). The work done on a component
is the integral of the power that the domains of its conserving ports state; derivatives in
it are those of the recorded course, and where that jumps, the mean over the jump times the
jump. What ideal sources (``supplies = True``) give at their ports is supplied. A power that a
port carries away (``Port(carries=…)``) is work there, and counted nowhere else. At an impact
stored energy jumps: the jump is work at the ports, and what is lost in all is
dissipated by the contacts that were struck. Where sources prescribe a motion that contacts strike,
their impulses are found again, and what these do at the ports of every component.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial, reduce
from typing import TYPE_CHECKING

import casadi as ca
import numpy as np

from ..language.kernel import Kernel
from ..numerics.arrays import Array, Indices
from ..numerics.tolerances import IMPACT_REPEATED, LEDGER_NEGLIGIBLE, LEDGER_ROUNDING
from ..results.recording import EnergyTerm
from ..results.values.quadrature import NODES, integrals, rates_at_nodes
from ..system.evaluator import Evaluator
from ..system.system import System
from .episode import StepTable

if TYPE_CHECKING:
    from .recording import RunRecording

__all__ = ["energy_terms"]

FLOWS = ("work", "power_dissipated", "power_supplied", "carried")
MOST_POWERS = 1 << 18  # steps times powers that are integrated at once: they fit a cache
LARGE = 1e9  # of the impulses, as forces: the work of those is large beside all others


@dataclass
class _Rows:
    """Where the components of the energy balance stand in its vectors."""

    families: list[int]
    rate: Evaluator  # of those of its rows that are not always 0, then the factors and courses
    live: list[int]  # numbers of these, per family: `FLOWS` of all instances
    count: int  # of all such rows
    stored: Evaluator  # of all instances, and then its largest term
    offsets: list[int]
    rated: Indices  # numbers of the rows that derivatives are part of
    factors: Evaluator  # of these derivatives, and then the courses that are differentiated
    gives_impulses: bool  # whether what is supplied depends on forces of contacts

    def of(self, family: int, instance: int) -> int | None:
        return self.offsets[self.families.index(family)] + instance \
            if family in self.families else None


def energy_terms(recording: RunRecording) -> list[EnergyTerm]:
    """Energy of every leaf component over the run, by adaptive quadrature in every step."""
    rows = recording.system.once("energy", lambda: _functions(recording.system))
    if rows is None:
        return []
    network = recording.system.network
    sizes = [network.families[f].size for f in rows.families]
    flows = np.zeros(rows.count)
    exchanged, unsure = np.zeros(len(flows)), np.zeros(len(flows))
    stored = np.zeros(sum(sizes))
    jump_work, jump_loss = np.zeros(len(stored)), np.zeros(len(stored))
    episodes = recording.episodes
    both = recording.evaluate_unsplit(
        rows.stored, np.column_stack([episodes.starts, episodes.ends]).ravel(),
        np.repeat(np.arange(len(episodes)), 2))
    ends, largest = np.split(both, [len(stored)])
    held = np.maximum(0.0, largest.max(axis=1))
    jumps = ends[:, 2::2] - ends[:, 1:-1:2]
    stored = (ends[:, 1::2] - ends[:, ::2]).sum(axis=1) + jumps.sum(axis=1)
    jumping = np.flatnonzero(jumps.any(axis=0)).tolist()
    struck = episodes.struck if jumping else []
    for k in jumping:
        given = _impulse_work(recording, rows.rate, k, struck[k + 1]) \
            if struck[k + 1] and rows.gives_impulses else None
        if given is None:
            _jump(recording, rows, struck[k + 1], jumps[:, k], jump_work, jump_loss)
        else:
            _impact(recording, rows, struck[k + 1], jumps[:, k], given[: len(rows.live)],
                    (flows, jump_work, jump_loss))
    negligible = max(LEDGER_NEGLIGIBLE * recording.energy_tolerance, LEDGER_ROUNDING)
    table = episodes.steps
    moving = np.flatnonzero(table.ends > table.starts)
    parts = -(-len(moving) * len(rows.live) // MOST_POWERS)
    for some in np.array_split(moving, parts) if parts else ():
        allowed = negligible * parts / len(np.unique(table.which[some]))  # about as of them all
        found = integrals(partial(_powers, recording, rows, table, some),
                          table.starts[some], table.ends[some], allowed,
                          LEDGER_ROUNDING * held.sum() / len(episodes))
        for sums, more in zip((flows, exchanged, unsure), found, strict=True):
            sums[rows.live] += more
    _add_jumps(recording, rows, flows, exchanged)
    terms = []
    a = b = 0
    for f, n in zip(rows.families, sizes, strict=True):
        family = network.families[f]
        mine = slice(a, a + len(FLOWS) * n)
        work, lost, given, carried = flows[mine].reshape(-1, n)
        moved = exchanged[a : a + n]
        error = unsure[mine].reshape(-1, n)[:-1].sum(axis=0)  # what is carried away is work, too
        for i in range(n):
            terms.append(EnergyTerm(
                family.path(i), family.kernel.name, float(work[i] + jump_work[b + i]),
                float(stored[b + i]), float(lost[i] + jump_loss[b + i]), float(given[i]),
                float(moved[i]), float(held[b + i]), float(error[i]), float(carried[i])))
        a = mine.stop
        b += n
    return terms


def _powers(recording: RunRecording, rows: _Rows, table: StepTable, some: Indices, at: Array
            ) -> Array:
    """Powers at the nodes of intervals inside some steps."""
    step = np.searchsorted(table.starts[some], at[:: len(NODES)], side="right") - 1
    step = np.repeat(some[np.maximum(step, 0)], len(NODES))
    powers, factors, courses = np.split(
        recording.evaluate_unsplit(rows.rate, at, table.which[step]),
        [len(rows.live), len(rows.live) + len(rows.rated)])
    if rows.rated.size:
        np.add.at(powers, np.searchsorted(rows.live, rows.rated),
                  factors * rates_at_nodes(courses, at))
    return powers


def _add_jumps(recording: RunRecording, rows: _Rows, flows: Array, exchanged: Array) -> None:
    """Add the work where something jumps whose derivative is part of a power."""
    episodes = recording.episodes
    if not rows.rated.size or len(episodes) == 1:
        return
    at = np.column_stack([episodes.ends[:-1], episodes.starts[1:]]).ravel()
    which = np.column_stack([np.arange(len(episodes) - 1), np.arange(1, len(episodes))]).ravel()
    factors, course = np.split(recording.evaluate_unsplit(rows.factors, at, which), 2)
    work = (factors[:, ::2] + factors[:, 1::2]) / 2 * (course[:, 1::2] - course[:, ::2])
    np.add.at(flows, rows.rated, work.sum(axis=1))
    np.add.at(exchanged, rows.rated, np.abs(work).sum(axis=1))


def _functions(system: System) -> _Rows | None:
    rates, stored, held, families, offsets = [], [], [], [], []
    rated: list[int] = []
    factors, courses = [], []
    writer = system.tape.writer
    count = 0
    for f, family in enumerate(system.network.families):
        kernel = family.kernel
        if not kernel.ports:
            continue
        power, terms = _without_rates(kernel)
        parts = {"work": power, "carried": ca.SX(0)}
        for name in (*FLOWS[1:-1], "energy_stored"):
            i = kernel.index.get(name)
            parts[name] = ca.SX(0) if i is None else kernel.symbols[i, 0]
            if i in kernel.carried.values():  # it has left through a port
                parts["carried"], parts[name] = parts["carried"] + parts[name], ca.SX(0)
        if kernel.supplies:
            parts["power_supplied"] -= power
        first = len(FLOWS) * count
        for factor, course in terms:
            for row, sign in ((0, 1), (2, -1))[: 1 + kernel.supplies]:
                rated += range(first + row * family.size, first + (row + 1) * family.size)
                factors.append(writer.kernel_row(f, sign * factor).T)
                courses.append(writer.kernel_row(f, course).T)
        rates += [writer.kernel_row(f, parts[name]).T for name in FLOWS]
        stored.append(writer.kernel_row(f, parts["energy_stored"]).T)
        whole = parts["energy_stored"]
        if "energy_stored" in kernel.index:
            whole = kernel.observed.get(kernel.index["energy_stored"], whole)
        held.append(writer.kernel_row(f, reduce(ca.fmax, map(ca.fabs, _terms(whole)))).T)
        families.append(f)
        offsets.append(count)
        count += family.size
    if not families:
        return None
    tape = system.tape
    given = ca.vertcat(*rates[FLOWS.index("power_supplied") :: len(FLOWS)])
    gives = any(ca.which_depends(given, ca.vertcat(tape.u, tape.z), 1, True))
    rate = ca.vertcat(*rates)
    live = sorted({*ca.sparsify(rate).sparsity().row(), *rated})
    return _Rows(families, system.function("rates", ca.vertcat(rate[live], *factors, *courses)),
                 live, rate.numel(), system.function("stored", ca.vertcat(*stored, *held)), offsets,
                 np.array(rated, dtype=int),
                 system.function("factors_of_rates", ca.vertcat(*factors, *courses)), gives)


def _without_rates(kernel: Kernel) -> tuple[ca.SX, list[tuple[ca.SX, ca.SX]]]:
    """The power without its derivatives, and their factors with what is differentiated."""
    power = sum((into().sx for into in kernel.powers), ca.SX(0))
    symbols = ca.vertcat(ca.SX(0, 1), *(symbol for symbol, _ in kernel.power_rates))
    factors = ca.jacobian(power, symbols)
    return (ca.substitute(power, symbols, ca.SX.zeros(symbols.shape)),
            [(factors[0, k], course) for k, (_, course) in enumerate(kernel.power_rates)])


def _terms(sx: ca.SX) -> list[ca.SX]:
    """The terms that an expression adds or subtracts."""
    if sx.is_constant() or sx.is_symbolic():
        return [sx]
    if sx.op() in (ca.OP_ADD, ca.OP_SUB):
        return _terms(sx.dep(0)) + _terms(sx.dep(1))
    return _terms(sx.dep(0)) if sx.op() == ca.OP_NEG else [sx]


def _jump(recording: RunRecording, rows: _Rows, contacts: Sequence[tuple[int, int]], jump: Array,
          work: Array, loss: Array) -> None:
    """Account for stored energy that changed at an event, at which contacts were struck or not."""
    network = recording.system.network
    own = np.zeros(len(jump), dtype=bool)  # changed by its own `when`, not through its ports
    for f, offset in zip(rows.families, rows.offsets, strict=True):
        if network.families[f].kernel.resets:
            own[offset : offset + network.families[f].size] = True
    loss[own] -= jump[own]
    passed = np.where(own, 0.0, jump)
    struck = [k for k in (rows.of(f, i) for f, i in contacts) if k is not None]
    if struck:
        work += passed
        work[struck] -= passed.sum() / len(struck)
        loss[struck] -= passed.sum() / len(struck)


def _impact(recording: RunRecording, rows: _Rows, contacts: Sequence[tuple[int, int]], jump: Array,
            given: Array, sums: tuple[Array, Array, Array]) -> None:
    """Account for an impact whose impulses do known work on every component."""
    flows, work, loss = sums
    flows[rows.live] += given
    for f, i in contacts:  # what a contact loses, an impact states by its normal impulse alone
        k = rows.of(f, i)
        if k is None:
            continue
        own = np.zeros(rows.count)
        own[rows.live] = given
        first = len(FLOWS) * rows.offsets[rows.families.index(f)]
        size = recording.system.network.families[f].size
        taken, lost = own[first + i], own[first + size + i]
        loss[k] += taken - jump[k] - lost


def _impulse_work(recording: RunRecording, powers: Evaluator, number: int,
                  struck: Sequence[tuple[int, int]]) -> Array | None:
    """Powers integrated over the impact at the end of an episode.

    They are linear in the forces of a contact, so the work of its impulse is their change by it,
    at the mean of the states before and after: an impulse moves along at the mean of both
    velocities. So what a prescribed motion gives to what it hits is known, too.

    None where other impulses than those of ``struck`` have changed the states, too.
    """
    replay, episodes = recording.replay, recording.episodes
    after = replay.solved_at(number + 1, float(episodes.starts[number + 1])).x.copy()
    t = float(episodes.ends[number])
    problem = replay.solved_at(number, t)
    laws, before = problem.laws, problem.x.copy()
    owned = np.array([owner in struck for owner in laws.elements.owners])
    if (found := laws.impulses(problem, t, owned & laws.elements.contact)) is None:
        return None
    impulse, change = found
    if np.any(np.abs(before + change - after) > IMPACT_REPEATED * np.abs(change).max()):
        return None
    problem.x[:] = (before + after) / 2
    work = []
    for factor in (LARGE, 0.0):
        laws.elements.put(problem.u, factor * impulse)
        problem.solve_algebraic(t)
        work.append(powers(*problem.arguments(t)))
    return np.asarray(work[0] - work[1]).ravel() / LARGE
