"""Does a run get anywhere? It stops where its steps are too short to ever reach the end."""

from __future__ import annotations

from typing import Any

from ..exceptions import SimulationError
from ..numerics.tolerances import TINY

__all__ = ["Pace"]

STUCK = 1e10  # steps left, each as long as the last ones: no run ends so
LOOK, LOOK_COMPILED = 5_000, 1_000_000  # steps in between: seconds, and longer than a transient


class Pace:
    """How fast a run comes forward."""

    def __init__(self, start: float, end: float) -> None:
        self.end = end
        self._steps, self._t = 0, start  # at the last look

    def look(self, t: float, steps: int, kind: Any) -> None:
        """Look at the last steps, if there were many since the last look.

        Parameters
        ----------
        t, steps : where the run is, and how many steps it has taken
        kind : the class of its method

        Raises
        ------
        SimulationError
            If so many are left that the end is out of reach.
        """
        taken = steps - self._steps
        if taken < (LOOK_COMPILED if kind.looks_itself else LOOK):
            return
        length = max((t - self._t) / taken, TINY)
        self._steps, self._t = steps, t
        left = (self.end - t) / length
        if left > STUCK:
            raise SimulationError(
                "", f"at t = {t:.6g} s the last {taken:,} steps of {kind.name} were {length:.2g} s "
                f"long on average: it would need {left:.1g} more to the end of the run at "
                f"{self.end:.6g} s. Something is that fast" + (
                    "." if kind.implicit else
                    ", or an explicit method would become unstable with longer ones."),
                ("" if kind.implicit else "Take method='auto' or 'rodas4', whose steps "
                 "are long where all is calm. ")
                + "error.result.bottlenecks() says which variables hold the steps: where a "
                "parasitic element makes them so fast, leave that out.",
                code="simulation.stiff", time=float(t), variables=())  # fmt: skip
