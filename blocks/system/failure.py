"""That unknowns could not be solved for, and which."""

from __future__ import annotations

from collections.abc import Sequence

__all__ = ["STEEP", "AlgebraicFailure"]

#: What may help where a derivative is infinite.
STEEP = ("A root or a power is infinitely steep where it begins: sign(d) * sqrt(abs_(d)) rests "
         "there between states; else go on by a straight line, d / sqrt(e), where abs_(d) < e.")


class AlgebraicFailure(ArithmeticError):
    """The algebraic unknowns could not be solved for; ``worst`` names them.

    ``advice`` is what may help, where more is known of it than of others.
    """

    def __init__(self, t: float, worst: Sequence[str], reason: str, singular: bool = False,
                 advice: str = "") -> None:
        super().__init__(f"at t = {t:.9g} s the algebraic unknowns {', '.join(worst)} could not "
                         f"be solved for: {reason}")
        self.t, self.worst = t, tuple(worst)
        self.singular, self.advice = singular, advice
