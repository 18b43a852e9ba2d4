"""How is what numba compiles kept on disk?

As numba does it, except that nothing depends on it: where no folder can be written, or
what is kept there is damaged, functions are compiled anew.
"""

from __future__ import annotations

import contextlib
from typing import Any

from numba import njit

__all__ = ["compiled"]

OPTIONS: Any = {"fastmath": {"contract"}, "nogil": True, "error_model": "numpy"}


def compiled(function: Any) -> Any:
    """A function in machine code, once it is called."""
    try:
        made = njit(cache=True, **OPTIONS)(function)
    except RuntimeError:  # no folder to keep it in can be written
        return njit(**OPTIONS)(function)
    cache = made._cache
    load, save = cache.load_overload, cache.save_overload

    def loaded(signature: Any, target: Any) -> Any:
        try:
            return load(signature, target)
        except Exception:  # whatever a damaged file, or a full disk, makes of it
            with contextlib.suppress(Exception):
                cache.flush()
            return None

    def saved(signature: Any, data: Any) -> None:
        with contextlib.suppress(Exception):
            save(signature, data)

    cache.load_overload, cache.save_overload = loaded, saved
    return made
