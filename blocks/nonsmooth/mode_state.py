"""What changes at events: the modes of a run, and what its rounding is measured against."""

from __future__ import annotations

import numpy as np

from ..numerics.arrays import Array, Flags, Indices
from ..numerics.tolerances import ABSOLUTE_SHARE, DRIFT_TOLERANCES, MODE_MISSED, MOST_DRIFT

__all__ = ["ModeState"]


class ModeState:
    """Modes of all elements in one run.

    Attributes
    ----------
    modes : 0 stuck or closed, 1 sliding forward, -1 sliding backward or open
    decided : whether anybody has decided on them yet
    speed : the largest flow so far
    strength : the largest effort so far, where that is asked for
    slack : efforts beyond their bounds that end no mode: friction at its bound by rounding sticks
        until its load is that much larger, closed contacts may pull with so much
    noise : what rounding alone may make of every margin, where that is measured: while the element
        is stuck or closed, and while it is not, whose margins have different units
    brief : whether the modes were taken though they hold for less than an instant
    drift : share of its size by which the run's error may put off what modes hold constant
    overlap : share of the largest position by which a contact that parts may overlap for that error
    unloaded : closed diodes that bear nothing of an effort whose split the motion leaves open:
        with these the others share it in one way, whichever is shown
    least_flow : the absolute error of a flow that the run allows: less closes no diode
    struck : contacts that were struck at the last decision, at nodes without mass beside others
    approach : the fastest impact so far there
    """

    def __init__(self, size: int) -> None:
        self.modes: Indices = np.zeros(size, dtype=int)
        self.decided = False
        self.speed = self.strength = 0.0
        self.slack: Array | float = 0.0
        self.noise = np.zeros((2, size))
        self.unloaded: Flags = np.zeros(size, dtype=bool)
        self.brief = False
        self.struck: Flags = np.zeros(size, dtype=bool)
        self.approach = 0.0
        self.drift, self.overlap, self.least_flow = MODE_MISSED, 0.0, 0.0

    @property
    def solved_modes(self) -> Indices:
        """The modes whose equations are solved: what bears nothing is as good as open."""
        return np.where(self.unloaded, -1, self.modes)

    def allow_error(self, rtol: float) -> None:
        """Take note of the tolerance of the run, which bounds its errors."""
        self.least_flow, self.overlap = ABSOLUTE_SHARE * rtol, rtol
        self.drift = min(max(MODE_MISSED, DRIFT_TOLERANCES * rtol), MOST_DRIFT)

    def notice_flow(self, flow: Array) -> None:
        """Take note of the largest flow."""
        self.speed = max(self.speed, float(np.abs(flow).max(initial=0.0)))

    def notice_effort(self, effort: Array) -> None:
        """Take note of the largest effort."""
        self.strength = max(self.strength, float(np.abs(effort).max(initial=0.0)))
