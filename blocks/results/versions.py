"""With which versions was a run made?"""

from __future__ import annotations

import platform
from functools import cache

__all__ = ["versions"]

PACKAGES = "blocks-toolkit", "numpy", "scipy", "casadi", "llvmlite"


@cache
def versions() -> dict[str, str]:
    """Return the versions of Python and of the packages that a run's numbers depend on."""
    from importlib import metadata  # which loads thirty modules, for e-mail among others

    found = {"python": platform.python_version()}
    for name in PACKAGES:
        try:
            found[name] = metadata.version(name)
        except metadata.PackageNotFoundError:  # not installed, or run from a folder
            continue
    return found
