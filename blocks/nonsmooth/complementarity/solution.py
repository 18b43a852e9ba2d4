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
    """Efforts, rates and modes of all elements.

    Attributes
    ----------
    effort : array
        The efforts, within their bounds. Where D is singular other efforts
        may give the same rates: see `undetermined_groups`, `minimal_splits`.
    rate : array
        b - D effort; exactly 0.0 for every element whose state is 0.
    state : int8 array
        +1 at the upper bound and moving forward, -1 at the lower bound and
        moving backward, 0 at rest. For an element of fixed effort (equal
        bounds) the sign of its rate.
    fixed : bool array
        Elements whose bounds are equal: they had nothing to decide.
    grazing : bool array
        At rest with the effort at a bound: the next derivative decides.
    converged : bool
        Whether the natural residual of every connected part is within tol.
    residual : float
        Largest natural residual |x - clip(x + rate)| in units of the largest
        rate of its part (rounding of D times the bounds discounted).
    status : Status
    unique : bool or None
        Whether the rates are the only possible ones; None where not decided
        (large parts without symmetry).
    suspects : int array
        Elements of parts that are unsolved or not unique.
    method : str
        What solved it, joined by " + ": see :func:`.solving.solve`.
    iterations : int
        Steps of all methods, mostly one linear system each; the closed form is one.
    """

    effort: Array
    rate: Array
    state: NDArray[int8]
    fixed: Flags
    grazing: Flags
    converged: bool
    residual: float
    status: Status
    unique: bool | None
    suspects: Indices
    method: str
    iterations: int

    @property
    def stuck(self) -> Flags:
        """Elements that decided to rest (or to stay closed)."""
        return (self.state == 0) & ~self.fixed
