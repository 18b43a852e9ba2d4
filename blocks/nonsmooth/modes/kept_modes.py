"""Which modes has a network without mass at its nodes been in?

A converter goes through the same few modes in every period, and many of them side by side through
few each, though together they are hardly ever in the same ones. What was decided once, by the
search of :mod:`blocks.nonsmooth.modes.mode_search`, is kept by island with all that it takes to
judge whether it holds again, as is what machine code finds out by itself.
"""

from __future__ import annotations

import numpy as np

from ...machine.functions import filled
from ...numerics.arrays import Array, Indices
from ...system import Problem
from ..mode_state import ModeState
from .gaps import gap_states
from .held_network import HeldNetwork
from .islands import UNLOADED, NetworkModes
from .massless_contacts import followed

__all__ = ["KeptModes"]

MOST_MODES = 1024
MOST_NUMBERS = 1 << 24  # of all modes together; memory is taken as it is filled


class KeptModes:
    """The modes of one run, island by island."""

    def __init__(self, held: HeldNetwork, state: ModeState) -> None:
        self.held, self.state = held, state
        nx, size = held.system.nx, max(map(len, held.islands))
        relations, entries = (max(map(len, of)) for of in (held.relations_of, held.entries_of))
        # of each island one for present modes, one for those that are tried, one that is free, and
        # at the end one as the room of trials
        most = 4 * len(held.islands) + min(
            MOST_MODES, MOST_NUMBERS // (entries + size * (size + nx + 2)))
        n, count, elements = held.elements.size, len(held.islands), held.elements
        nm, kinds, (_, bears) = len(held.joint), len(state.by_kind(state.fast)), held.at_impacts
        b, nz, curved = len(bears), held.system.nz, not held.equations.constant
        bounded = 0 if elements.contact[bears].all() else b
        sizes = {
            "kept_m": (most, relations), "kept_modes noise": (most, size), "measured": most,
            "kept_constants": (most, entries), "weight": (most, size * size),
            "move": (most, nx * size), "largest largest_now": (2, kinds), "noise_so_far": (2, n),
            "room": (3, n), "at_sizes": n + nx, "scale": nx, "by_loops": (nz, nz),
            "loop_side": (3, nz), "loop_order": nz, "block": (b, b), "by": (2, bounded, bounded),
            "rest": (7, b), "takes_part": b, "impact_by": (0, 1),
            "by_taken": (6 * n + nx + nz, n + curved * (nx + nz)),
            "least_flow guess yields unloads idles idle against struck hit hit_mode": n,
            "farthest known_m before guess_m turned": nm, "drift approach turn entered": 1,
            "row last_row other ended holds searched yielding": count,
            "own by_value by_rate by_missed": (size, size), "given": (2, size),
            "sizes taken pivot place combined": size}
        (starts, members), (entry_starts, entries_of), (relation_starts, relations_of) = map(
            _listed, (held.islands, held.entries_of, held.relations_of))
        # of every member its island, and where it stands in that
        self._island = np.repeat(np.arange(count), np.diff(starts))
        self._place = np.arange(n) - starts[self._island]
        # what machine code reads, and says of a point, are put in where it begins
        self.islands = filled(
            NetworkModes, elements, sizes, starts=starts, members=members,
            entry_starts=entry_starts, entries=entries_of,
            relation_starts=relation_starts, relations=relations_of,
            joint=held.joint, owner=np.full(most, -1), present=np.full(count, -1),
            kinds=state.kinds, endless=held.equations.endless,
            friction=~(elements.valve | elements.switch | elements.contact), bears=bears,
            follows=followed(held.system)[np.ix_(bears, bears)].astype(float),
            positions=gap_states(held.system), by_relations=held.equations.by_relations,
            curved=np.array([curved]), known=np.ones(2, dtype=bool),
            alike=held.alike.astype(float))

    def keep(self, problem: Problem, t: float) -> None:
        """Keep the present modes, which were decided on at a point."""
        islands, state = self.islands, self.state
        islands.largest[:, state.kinds] = state.largest
        islands.noise_so_far[:] = state.noise
        islands.approach[0], islands.scale[:] = state.approach, problem.scale_x
        equations = self.held.equations
        islands.known_m[:] = problem.m
        if equations.constant:  # others depend on the point
            by_inputs = equations.by_inputs(problem, t).reshape(-1, self.held.elements.size)
            islands.by_taken[:] = np.vstack([by_inputs, equations.slope_by_taken(problem, t)])
        self._find_rows(problem, t, np.broadcast_to(state.grain, self.held.elements.size))

    def for_run(self) -> NetworkModes:
        """What machine code decides by, with the errors that the run allows."""
        islands, state = self.islands, self.state
        islands.drift[0] = state.drift
        islands.least_flow[:] = self.held.elements.valve * state.least_flow
        return islands

    def _find_rows(self, problem: Problem, t: float, noise: Array) -> None:
        """Make the rows of the present modes the present ones, new ones where there are none."""
        islands, held, state, new = self.islands, self.held, self.state, []
        solved = state.solved_modes
        for i, members in enumerate(held.islands):
            k = islands.present[i] = self._row(i, problem.m)
            if k < 0:
                new.append(i)
            else:
                known = islands.noise[k, : len(members)]
                known[:] = np.maximum(known, noise[members])
        if not held.fits(problem, t, solved) or not held.decides(
                solved, held.equations.matrices(problem, t, solved).weight):
            return  # what cannot be kept has no row
        shared = held.splits(problem, t, solved)
        if not new and not shared:
            return
        constants = held.constants(problem, t, state)
        for i, members in enumerate(held.islands):  # whose loads are shared anew
            if islands.present[i] >= 0 and any(split.members[0] in members for split in shared):
                islands.kept_constants[islands.present[i], : len(held.entries_of[i])] = constants[
                    held.entries_of[i]]
        projections = held.equations.projections(problem, t, solved, [held.islands[i] for i in new])
        for i, projection in zip(new, projections, strict=True):
            free = islands.owner[: -len(held.islands)] < 0
            if not free.any():  # all but those that are needed now; others are found again
                free[:], free[islands.present] = True, False
            k = islands.present[i] = int(np.argmax(free))
            self._fill(k, i, problem.m, constants, noise, *projection)

    def _row(self, i: int, m: Array) -> int:
        """The row of the present modes of an island, and who bears nothing in them; -1 for none."""
        islands, state, members = self.islands, self.state, self.held.islands[i]
        n, relations = len(members), self.held.relations_of[i]
        some = np.flatnonzero(islands.owner == i)
        unloaded = islands.kept_constants[some, :n] == UNLOADED
        some = some[(islands.kept_modes[some, :n] == state.modes[members]).all(axis=1)
                    & (islands.kept_m[some, : len(relations)] == m[relations]).all(axis=1)
                    & (unloaded == state.unloaded[members]).all(axis=1)]
        return int(some[0]) if len(some) else -1

    def _fill(self, k: int, i: int, m: Array, constants: Array, noise: Array, weight: Array,
              move: Array) -> None:
        """Fill a row with what there is of an island."""
        islands, held = self.islands, self.held
        members, size = held.islands[i], islands.kept_modes.shape[1]
        n, count = len(members), len(weight)
        islands.owner[k], islands.measured[k] = i, True
        islands.kept_m[k, : len(held.relations_of[i])] = m[held.relations_of[i]]
        islands.kept_modes[k, :n], islands.noise[k, :n] = self.state.modes[members], noise[members]
        islands.kept_constants[k, : len(held.entries_of[i])] = constants[held.entries_of[i]]
        islands.weight[k].reshape(size, size)[:count, :n] = weight[:, members]
        islands.move[k].reshape(-1, size)[:, :count] = move

    def take_over(self) -> None:
        """Take note of what machine code has seen."""
        state = self.state
        state.notice(*self.islands.largest[:, state.kinds])
        state.approach = self.islands.approach.item()
        state.noise = np.maximum(state.noise, self.islands.noise_so_far)
        rows, members = self.islands.present[self._island], self.islands.members
        state.unloaded[members] = self.islands.kept_constants[rows, self._place] == UNLOADED


def _listed(groups: list[Indices]) -> tuple[Indices, Indices]:
    """Where each of some groups begins, and their members one after the other."""
    starts = np.append(0, np.cumsum([len(group) for group in groups]))
    return starts.astype(np.int64), np.concatenate(groups).astype(np.int64)
