"""How is what numba compiles kept on disk?

As numba does it, except that nothing depends on it: where no folder can be written, or
what is kept there is damaged, functions are compiled anew.
"""

from __future__ import annotations

import contextlib
from functools import cache
from pathlib import Path
from typing import Any

__all__ = ["compiled", "newest_source"]

OPTIONS: Any = {"fastmath": {"contract"}, "nogil": True, "error_model": "numpy",
                "forceinline": True}  # fmt: skip


@cache
def newest_source() -> float:
    """When the youngest file was written that compiled functions may be made of.

    They contain each other, and constants, across files.
    """
    blocks = Path(__file__).parents[1]
    files = [*blocks.glob("native/*.py"), blocks / "solvers" / "looks.py",
             blocks / "numerics" / "tolerances.py"]  # fmt: skip
    return max(file.stat().st_mtime for file in files)


def compiled(function: Any) -> Any:
    """A function in machine code, once it is called."""
    from numba import njit

    try:
        made = njit(cache=True, **OPTIONS)(function)
    except RuntimeError:  # no folder to keep it in can be written
        return njit(**OPTIONS)(function)
    kept = made._cache
    kept._cache_file._source_stamp = *kept._cache_file._source_stamp, newest_source()
    load, save = kept.load_overload, kept.save_overload

    def loaded(signature: Any, target: Any) -> Any:
        try:
            return load(signature, target)
        except Exception:  # whatever a damaged file, or a full disk, makes of it
            with contextlib.suppress(Exception):
                kept.flush()
            return None

    def saved(signature: Any, data: Any) -> None:
        with contextlib.suppress(Exception):
            save(signature, data)

    kept.load_overload, kept.save_overload = loaded, saved
    return made
