"""Which modes has a network without mass at its nodes been in, and what followed?

A converter goes through the same few modes in every period. What was decided once, by the search
of :mod:`blocks.nonsmooth.modes.mode_search`, is kept with all that it takes to judge whether it
holds again; machine code tries what has followed before, and asks for a search where none of it
holds.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from ...numerics.arrays import Array
from .parts import NetworkParts

if TYPE_CHECKING:
    from ...system import Problem
    from ..mode_state import ModeState
    from .held_network import HeldNetwork

__all__ = ["KeptModes"]

MOST_MODES = 1024
MOST_NUMBERS = 1 << 24  # of all modes together; memory is taken as it is filled
MOST_LINKS = 16  # times as many: what followed


class KeptModes:
    """The modes of one run, and what followed them.

    Parameters
    ----------
    held : efforts and slopes in held modes
    state : the present modes
    """

    def __init__(self, held: HeldNetwork, state: ModeState) -> None:
        self.held, self.state = held, state
        n, nx = held.elements.size, held.system.nx
        most = max(1, min(MOST_MODES, MOST_NUMBERS // (held.entries + n * (n + nx + 2))))
        self.parts = NetworkParts(
            held.relations, held.joint, np.zeros((most, len(held.relations))),
            np.zeros((most, n)),
            np.zeros((most, held.entries)), np.zeros((most, n * n)), np.zeros((most, nx * n)),
            np.zeros((most, n)), np.zeros(2, dtype=np.int64), np.zeros(1, dtype=np.int64),
            np.zeros(MOST_LINKS * most, dtype=np.int64),
            np.zeros(MOST_LINKS * most, dtype=np.int64),
            np.zeros(MOST_LINKS * most, dtype=bool), np.zeros(2),
            np.zeros(len(held.joint)), np.zeros((2, n)), np.zeros(1), np.zeros(n),
            held.decided_by)
        self._number: dict[tuple[bytes, ...], int] = {}
        self._links: dict[tuple[int, int], int] = {}

    def keep(self, problem: Problem, t: float, noise: Array | float) -> None:
        """Keep the present modes, which were decided on at a point, and that they follow."""
        parts, state = self.parts, self.state
        before = int(parts.present[0])
        parts.largest[:] = state.speed, state.strength
        parts.noise_so_far[:] = state.noise
        parts.drift[0] = state.drift
        parts.least_flow[:] = self.held.elements.valve * state.least_flow
        now = parts.present[0] = self._kept(problem, t, noise)
        count, link = int(parts.links[0]), (before, int(now))
        if before >= 0 and now >= 0 and link not in self._links and count < len(parts.source):
            self._links[link] = count
            parts.source[count], parts.target[count] = link
            parts.links[0] = count + 1
        if link in self._links:
            parts.brief[self._links[link]] |= state.brief

    def _kept(self, problem: Problem, t: float, noise: Array | float) -> int:
        """Number of the present modes; -1 where they cannot be kept."""
        parts, modes = self.parts, self.state.solved_modes
        m = problem.m[parts.relations]
        key = modes.tobytes(), self.state.modes.tobytes(), m.tobytes()
        if key in self._number:
            k = self._number[key]
            parts.noise[k] = np.maximum(parts.noise[k], noise)
            return k
        k = int(parts.present[1])
        if k == len(parts.modes) or not self.held.fits(problem, t, modes) or not self.held.decides(
                modes, self.held.equations.matrices(problem, t, modes).weight):
            return -1
        weight, move = self.held.projection(problem, t, modes)
        parts.m[k], parts.modes[k], parts.noise[k] = m, self.state.modes, noise
        parts.constants[k] = self.held.constants(problem, t, self.state)
        parts.weight[k], parts.move[k] = weight.ravel(), move.ravel()
        parts.present[1] = k + 1
        self._number[key] = k
        return k

    def take_over(self) -> None:
        """Take note of what machine code has seen."""
        speed, strength = self.parts.largest.tolist()
        state = self.state
        state.speed, state.strength = max(state.speed, speed), max(state.strength, strength)
        state.noise = np.maximum(state.noise, self.parts.noise_so_far)
        state.unloaded = self.held.unloaded(self.parts.constants[self.parts.present[0]])
