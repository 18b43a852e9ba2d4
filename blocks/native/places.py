"""Where do values of a network stand in the arrays that machine code is given?"""

from __future__ import annotations

import numpy as np

from ..numerics.arrays import Array, Indices
from .expressions import Unwritable
from .loop_text import Operand

__all__ = ["OUT", "P", "Q", "ROOM", "T", "X", "Places"]

X, Q, P, OUT, T, ROOM = range(6)  # the arrays, see ``loop_text.BASES``


class Places:
    """Per class of unknowns, the array and entry in which its value stands, and a factor.

    There are so many ``classes``.
    """

    def __init__(self, classes: int) -> None:
        self._base, self._entry = np.full((2, classes), -1)
        self._factor = np.ones(classes)

    def put(self, classes: Indices, base: int, entries: Indices, factors: Array | float = 1.0
            ) -> None:
        """Give classes their places."""
        self._base[classes], self._entry[classes] = base, entries
        self._factor[classes] = factors

    def operand(self, classes: Indices, factors: Array | float = 1.0) -> Operand:
        """Values of classes times factors."""
        if (self._base[classes] < 0).any():
            raise Unwritable("a value is needed before it is known")
        return Operand(self._base[classes], self._entry[classes], self._factor[classes] * factors)
