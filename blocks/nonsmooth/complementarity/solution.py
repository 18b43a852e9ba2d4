"""What a complementarity problem comes to: efforts, rates and modes, and how sure they are."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from numpy import int8
from numpy.typing import NDArray

from ...numerics.arrays import Array, Flags, Indices

__all__ = ["Solution", "Status"]


class Status(StrEnum):
    """How the search ended."""

    SOLVED = "solved"
    NOT_UNIQUE = "no unique solution (Painlevé)"
    NO_SOLUTION = "no solution: an effort would have to be infinite"
    WORK_BOUND = "not solved within the bound on work"


@dataclass(frozen=True)
class Solution:
    """Efforts, rates and modes of all elements."""

    # the efforts, within their bounds. Where D is singular other efforts may give the same rates:
    # see `undetermined_groups`, `shares`.
    effort: Array
    rate: Array  # b - D effort; exactly 0.0 for every element whose state is 0
    # +1 at the upper bound and moving forward, -1 at the lower bound and moving backward, 0 at
    # rest. For an element of fixed effort (equal bounds) the sign of its rate.
    state: NDArray[int8]
    grazing: Flags  # at rest with the effort at a bound: the next derivative decides
    status: Status
    suspects: Indices  # elements of parts that are unsolved or not unique
    iterations: int  # steps of all methods, mostly one linear system each; the closed form is one

    @property
    def converged(self) -> bool:
        """Whether the efforts obey all laws, be they the only ones that do or not."""
        return self.status in (Status.SOLVED, Status.NOT_UNIQUE)
