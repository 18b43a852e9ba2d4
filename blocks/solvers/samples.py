"""Which sample of a sampler is due at an instant?

Knows numbers only. Compiled for machine code as it stands, and used on arrays too.
"""

from __future__ import annotations

import numpy as np

__all__ = ["MOST_ROUNDS", "is_due", "sample_number"]

MOST_ROUNDS = 50  # of the fixpoint of what happens at one instant


def sample_number(t: float, start: float, period: float) -> float:
    """Number of the sample whose instant is nearest; nan where there are none."""
    number: float = np.floor((t - start) / period + 0.5)
    return number


def is_due(t: float, start: float, period: float, last: float, tiny: float) -> bool:
    """Whether a sample after number ``last`` is at an instant, which is known to ``tiny``."""
    number = np.floor((t - start) / period + 0.5)
    due: bool = abs(start + number * period - t) <= tiny
    due &= number >= 0.0
    due &= number > last
    return due
