"""What does an engineer ask of a model beside a run: where it rests, and how it answers there?

Operating points (:mod:`.operating_point`), linear models per mode of friction
(:mod:`.linearise`), frequency response (:mod:`.pictures`), motions that repeat
(:mod:`.limit_cycle`), sensitivities, fits and designs. Knows components by their paths alone;
derivatives are exact, by CasADi.
"""

from __future__ import annotations

from importlib import import_module
from pkgutil import iter_modules
from typing import TYPE_CHECKING, Any

from ..exceptions import missing_in

if TYPE_CHECKING:
    from .limit_cycle import LimitCycle
    from .linear_model import LinearModel
    from .linearise import LinearModels
    from .operating_point import OperatingPoint
    from .pictures import root_locus
    from .wishes import free

__all__ = ["LimitCycle", "LinearModel", "LinearModels", "OperatingPoint", "free", "root_locus"]

HOMES = {"LimitCycle": ".limit_cycle", "LinearModel": ".linear_model",
         "LinearModels": ".linearise", "OperatingPoint": ".operating_point",
         "root_locus": ".pictures", "free": ".wishes"}  # fmt: skip


def __getattr__(name: str) -> Any:
    """Each analysis is loaded when it is asked for: one does not wait for the others."""
    if name in HOMES:
        return getattr(import_module(HOMES[name], __name__), name)
    for part in [] if name.startswith("_") else iter_modules(__path__, f"{__name__}."):
        if name in getattr(import_module(part.name), "__all__", ()):
            raise missing_in(__name__, name, f"Write from {part.name} import {name}.")
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
