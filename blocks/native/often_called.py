"""A long function of a system that one run calls again and again, at one point each.

Its equal patterns become loops (:mod:`.repetitions`), which takes as long as some thousand
interpreted calls; so it is done in a run that has called it often, and kept for the next ones.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from ..machine.signatures import run_code
from ..numerics.arrays import Array
from .equations import written
from .expressions import Unwritable
from .loop_text import LoopText
from .repetitions import Repetitions
from .text import Beginning

if TYPE_CHECKING:
    from ..system import System
    from ..system.evaluator import Evaluator

__all__ = ["OftenCalled"]

CALLS = 1000  # of a run, which are interpreted


class OftenCalled:
    """A function, whose result is one dense column, as one run calls it."""

    def __init__(self, system: System, function: Evaluator) -> None:
        self._system, self._function = system, function
        self._left = CALLS
        self._code = 0
        self._q = np.zeros(0)

    def __call__(self, t: float, x: Array, z: Array, p: Array, m: Array, d: Array, u: Array
                 ) -> Array:
        if self._left:
            self._left -= 1
            if not self._left:
                self._code, size = self._system.once("often called", self._written)
                self._q = np.zeros(size)
        if not self._code:
            return self._function(t, x, z, p, m, d, u)
        held = np.concatenate([z, m, d, u])
        self._q[: len(held)] = held
        out = np.empty(self._function.function.size1_out(0))
        run_code(self._code, np.array([t]), x, p, self._q, out)
        return out

    def _written(self) -> tuple[int, int]:
        """The address of the code, or 0; and how many numbers it needs beside its results."""
        system, text = self._system, LoopText()
        m, d, u, end = np.cumsum([system.nz, system.nm, system.nd, system.nu]).tolist()
        places = {0: ("%t", 0), 1: ("%x", 0), 2: ("%q", 0), 3: ("%p", 0), 4: ("%q", m),
                  5: ("%q", d), 6: ("%q", u)}  # fmt: skip
        try:
            end = Repetitions(self._function.function).write(text, 0, places, end)
            return written(text, Beginning()), end
        except Unwritable:
            return 0, end
