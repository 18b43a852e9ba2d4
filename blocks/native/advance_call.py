"""The call of machine code by which a method advances, bound to the method's arrays once.

It takes some three hundred numbers and addresses, of which a call changes ten.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from ..numerics.arrays import Indices
from .own_events import Given

if TYPE_CHECKING:
    from .method import OneStep

__all__ = ["AdvanceCall"]


class AdvanceCall:
    """Calls from the beginning of the record on.

    They do not hold the method, whose memory is free for the next one as soon as a run is over.
    """

    def __init__(self) -> None:
        self._counts = np.zeros(5, dtype=np.int64)
        self._given: Given | None = None

    def _bind(self, method: OneStep, given: Given) -> None:
        """Take the machine code for those who decide at events, with the arrays of the method."""
        self._code, self._given, self._pieces = method.machine_code(given), given, method.pieces
        self._call = method.advance_call(given, self._counts, np.zeros(2, dtype=np.int64))
        self._p, self._q, self._stop, self._rtol, self._longest, self._end, self._review = (
            self._call.place[name] for name in ("code.p", "code.q", "limits.t_stop", "limits.rtol",
                                                "limits.max_step", "limits.t_end", "limits.review"))

    def _give(self, method: OneStep, given: Given) -> None:
        """Take other records of events; other machine code, where others decide at these."""
        if self._given is None or method.machine_code(given) is not self._code:
            self._bind(method, given)
            return
        for name, record, before in zip(Given._fields, given, self._given, strict=True):
            if record is not before:
                self._call.give(name, record)
        self._given = given

    def __call__(self, method: OneStep, given: Given, t_stop: float, counts: Indices
                 ) -> tuple[int, int, int]:
        """The status, how many steps there are, and how many events."""
        if given is not self._given:
            self._give(method, given)
        call = self._call
        call.table[self._p], call.table[self._q] = method.code.p, method.code.q
        call.table[self._review], call.numbers[self._review + 1] = method.review
        call.numbers[self._end] = method.t_end
        call.numbers[self._stop], call.numbers[self._rtol] = t_stop, method.rtol
        call.numbers[self._longest] = method.longest
        if method.pieces is not self._pieces:
            call.put("limits.pieces", method.pieces)
            self._pieces = method.pieces
        self._counts[:] = 0
        call()
        counts += self._counts
        status, taken, events = call.results.tolist()
        return status, taken, events
