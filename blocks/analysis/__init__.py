"""What does an engineer ask of a model beside a run: where it rests, and how it answers there?

Operating points (:mod:`.operating_point`), linear models per mode of friction
(:mod:`.linearise`), frequency response (:mod:`.pictures`), motions that repeat
(:mod:`.limit_cycle`), sensitivities, fits and designs. Knows components by their paths alone;
derivatives are exact, by CasADi.
"""

from __future__ import annotations

import sys
from importlib import import_module
from pkgutil import iter_modules
from types import ModuleType
from typing import TYPE_CHECKING, Any

from ..exceptions import did_you_mean, missing_in, nearest

if TYPE_CHECKING:
    from ..harmonics.describing import describing_function
    from .estimation import Fit, fit
    from .limit_cycle import LimitCycle
    from .limit_cycle import find_limit_cycle as limit_cycle
    from .linear_model import LinearModel
    from .linearise import LinearModels, linearise
    from .operating_point import OperatingPoint
    from .operating_point import find_operating_point as operating_point
    from .optimisation import Optimum, optimise
    from .pictures import bode, nyquist, root_locus, step
    from .uncertainty import first_order
    from .wishes import free

__all__ = ["Fit", "LimitCycle", "LinearModel", "LinearModels", "OperatingPoint", "Optimum", "bode",
           "describing_function", "first_order", "fit", "free", "limit_cycle", "linearise",
           "nyquist", "operating_point", "optimise", "root_locus", "step"]  # fmt: skip

HOMES = {"Fit": ".estimation_result", "LimitCycle": ".limit_cycle", "LinearModel": ".linear_model",
         "LinearModels": ".linearise", "OperatingPoint": ".operating_point",
         "Optimum": ".optimisation", "describing_function": "..harmonics.describing",
         "first_order": ".uncertainty", "fit": ".estimation", "free": ".wishes",
         "limit_cycle": ".limit_cycle", "linearise": ".linearise",
         "operating_point": ".operating_point", "optimise": ".optimisation",
         **dict.fromkeys(("bode", "nyquist", "root_locus", "step"), ".pictures"),
         }  # fmt: skip
CALLED = {"limit_cycle": "find_limit_cycle", "operating_point": "find_operating_point"}  # there


class _Package(ModuleType):
    """Keeps its names where a module of it that is called like a function has been imported."""

    def __setattr__(self, name: str, value: Any) -> None:
        if not (name in HOMES and isinstance(value, ModuleType)):
            super().__setattr__(name, value)


sys.modules[__name__].__class__ = _Package


def __getattr__(name: str) -> Any:
    """Each analysis is loaded when it is asked for: one does not wait for the others."""
    if name in HOMES:
        return getattr(import_module(HOMES[name], __name__), CALLED.get(name, name))
    if name == "pareto":
        raise missing_in(__name__, name, "Of two goals optimise one while the other is a limit, as "
                         "in examples/pareto_front.py.")
    for part in [] if name.startswith("_") else iter_modules(__path__, f"{__name__}."):
        if name in getattr(import_module(part.name), "__all__", ()):
            raise missing_in(__name__, name, f"Write from {part.name} import {name}.")
    if not name.startswith("_") and nearest(name, __all__):
        raise missing_in(__name__, name, did_you_mean(name, __all__))
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
