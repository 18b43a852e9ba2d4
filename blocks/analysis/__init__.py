"""What does an engineer ask of a model beside a run: where it rests, and how it answers there?

Operating points (:mod:`.operating_point`), linear models per mode of friction
(:mod:`.linearise`), frequency response (:mod:`.pictures`), motions that repeat
(:mod:`.limit_cycle`), sensitivities, fits and designs. Knows components by their paths alone;
derivatives are exact, by CasADi.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

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
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
