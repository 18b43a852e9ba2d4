"""Functions of Python that plain loops call by address, as they call machine code.

Slower by the time Python takes: for equations that have no machine code, and as the reference that
machine code is compared with.
"""

from __future__ import annotations

import ctypes
from collections.abc import Callable

import numpy as np
from numpy.typing import ArrayLike

from ..machine.signatures import vector_at

__all__ = ["Callbacks"]


class Callbacks:
    """Functions of a run, and the first error that one of them has raised."""

    def __init__(self) -> None:
        self._kept: list[object] = []  # or they would be gone when they are called
        self._error: BaseException | None = None

    def address(self, function: Callable[..., ArrayLike], sizes: tuple[int | None, ...],
                result: int, place: int = -1) -> int:
        """Return the address of a function of vectors of these sizes, its result's place the last.

        It is not told of vectors without a size, one of which may have the ``place`` of the result.
        Where one raises an error no other is called, and results are not finite until
        :meth:`check`.
        """
        def called(*places: int) -> None:
            out = vector_at(places[place], result)
            try:
                if self._error is None:
                    given = (vector_at(p, n) for p, n in zip(places, sizes, strict=False)
                             if n is not None)
                    out[:] = function(*given)
                    return
            except BaseException as error:  # nothing else could tell of it from here
                self._error = error
            out[:] = np.nan

        made = ctypes.CFUNCTYPE(None, *[ctypes.c_void_p] * (len(sizes) + (place < 0)))(called)
        self._kept.append(made)
        return ctypes.cast(made, ctypes.c_void_p).value or 0

    def check(self) -> None:
        """Raise the error, if there is one."""
        error, self._error = self._error, None
        if error is not None:
            raise error
