"""That unknowns could not be solved for, and which."""

from __future__ import annotations

from collections.abc import Sequence

__all__ = ["AlgebraicFailure"]


class AlgebraicFailure(ArithmeticError):
    """The algebraic unknowns could not be solved for; ``worst`` names them.

    ``advice`` is what may help, where more is known of it than of others.
    """

    def __init__(self, t: float, worst: Sequence[str], reason: str, singular: bool = False,
                 advice: str = "") -> None:
        super().__init__(f"at t = {t:.9g} s the algebraic unknowns {', '.join(worst)} could not "
                         f"be solved for: {reason}")
        self.t, self.worst, self.reason, self.singular = t, tuple(worst), reason, singular
        self.advice = advice
