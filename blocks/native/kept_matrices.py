"""Where do the matrices stand that are kept of linear equations with constant coefficients?

Of every mode, which is what its coefficients are, an array (matrices, n * n) and a row of numbers.
"""

from __future__ import annotations

__all__ = ["CAME", "GROWTH", "IN_TIME", "KEPT_FOR", "KEY", "KNOWN", "LENGTH", "LEVEL", "LEVELS",
           "LEVEL_IN_TIME", "LOOKED_AT", "MADE", "MARKS", "MATRICES", "OLDEST", "PRESENT",
           "PRODUCT", "RATE", "READS", "REPLACED", "SHORTEST", "SPAN", "SPANS", "TERM",
           "UNITS", "most_modes"]  # fmt: skip

LEVELS = 64  # lengths that are powers of two times the shortest
SPANS = 12  # steps whose matrices are kept, by their length
LOOKED_AT = 5  # places in a step: its quarters, and one aside
#: Matrices of a mode: A, G of the longest level, room, and in one row the units of the unknowns;
#: then P and Q of levels, and of all places in the steps that are kept.
KEY, GROWTH, TERM, PRODUCT, UNITS, LEVEL = range(6)
LEVEL_IN_TIME = LEVEL + LEVELS
SPAN = LEVEL_IN_TIME + LEVELS
MATRICES = SPAN + 2 * LOOKED_AT * SPANS
#: Numbers of a mode: levels made, shortest length, rate, whether df/dt counts, the step to be
#: replaced next; then lengths of steps, how often they came in this run, and for which length
#: matrices stand there: those of the run before serve as they are.
MADE, SHORTEST, RATE, IN_TIME, OLDEST, LENGTH = range(6)
CAME = LENGTH + SPANS
KEPT_FOR = CAME + SPANS
MARKS = KEPT_FOR + SPANS
#: Entries of ``present``: which mode, how many are known, how many have made room for others; and
#: whether steps are taken again for a reader, who must find the same in whatever order: without
#: kept steps.
PRESENT, KNOWN, REPLACED, READS = range(4)
MOST, ROOM = 64, 1 << 22  # modes, and numbers in all


def most_modes(n: int) -> int:
    """How many modes are kept of ``n`` states; memory is taken when one is met."""
    return max(4, min(MOST, ROOM // (MATRICES * n * n)))
