"""What changes at events: the modes of a run, and what its rounding is measured against."""

from __future__ import annotations

import numpy as np

from ..numerics.arrays import Array, Flags, Indices
from ..numerics.tolerances import ABSOLUTE_SHARE, DRIFT_TOLERANCES, MODE_MISSED, MOST_DRIFT

__all__ = ["ModeState"]


class ModeState:
    """Modes of all elements in one run.

    Elements are compared with those of their kind alone: a body is not at rest because a shaft
    beside it turns a million times as fast in rad/s, nor is a current small because another part
    of the model bears a large force.
    """

    def __init__(self, kinds: Indices) -> None:
        size, self.kinds = len(kinds), kinds  # kinds: the number of each element's kind
        self._alike = not kinds.any()
        # 0 stuck or closed, 1 sliding forward, -1 sliding backward or open
        self.modes: Indices = np.zeros(size, dtype=int)
        # 1 and -1 where an element sticks at its bound, held there by others, else 0; None where
        # machine code has decided on them
        self.ends: Indices | None = np.zeros(size, dtype=int)
        self.decided = False  # whether anybody has decided on them yet
        # (n,) the largest flow so far of all elements of its kind; at nodes without mass its effort
        self.fast, self.strong = np.zeros((2, size))
        # efforts beyond their bounds that end no mode: friction at its bound by rounding sticks
        # until its load is that much larger, closed contacts may pull with so much
        self.slack: Array | float = 0.0
        # of states, what no step is shortened for: flows may be so far beyond zero at its event
        self.nothing: Array | float = 0.0
        # what rounding alone may make of every margin, where that is measured: while the element is
        # stuck or closed, and while it is not, whose margins have different units
        self.noise = np.zeros((2, size))
        self.grain: Array | float = 0.0  # of the modes that were found last
        # closed diodes that bear nothing of an effort whose split the motion leaves open: with
        # these the others share it in one way, whichever is shown
        self.unloaded: Flags = np.zeros(size, dtype=bool)
        # contacts that were struck at the last decision, at nodes without mass beside others
        self.struck: Flags = np.zeros(size, dtype=bool)
        self.approach = 0.0  # the fastest impact so far there
        # drift: share of its size by which the run's error may put off what modes hold constant
        # least_flow: the absolute error of a flow that the run allows: less closes no diode
        self.drift, self.least_flow = MODE_MISSED, 0.0

    @property
    def solved_modes(self) -> Indices:
        """The modes whose equations are solved: what bears nothing is as good as open."""
        return np.where(self.unloaded, -1, self.modes)

    def allow_error(self, rtol: float) -> None:
        """Take note of the tolerance of the run, which bounds its errors."""
        self.least_flow = ABSOLUTE_SHARE * rtol
        self.drift = min(max(MODE_MISSED, DRIFT_TOLERANCES * rtol), MOST_DRIFT)

    @property
    def largest(self) -> Array:
        """The largest flow and the largest effort so far by kind, a row each."""
        return np.stack([self.fast, self.strong])

    @largest.setter
    def largest(self, value: Array) -> None:
        self.fast, self.strong = value

    def largest_of_kinds(self, values: Array) -> Array:
        """For each element the largest of its kind."""
        if self._alike:
            return np.zeros(len(self.kinds)) + np.abs(values).max(initial=0.0)
        return self.by_kind(values)[self.kinds]

    def by_kind(self, values: Array) -> Array:
        """The largest of each kind."""
        largest = np.zeros(int(self.kinds.max(initial=0)) + 1)
        np.maximum.at(largest, self.kinds, np.abs(values))
        return largest

    def notice_flow(self, flow: Array) -> None:
        """Take note of the largest flows."""
        self.fast = np.maximum(self.fast, self.largest_of_kinds(flow))

    def notice(self, flow: Array, effort: Array) -> None:
        """Take note of the largest flows and efforts."""
        self.notice_flow(flow)
        self.strong = np.maximum(self.strong, self.largest_of_kinds(effort))
