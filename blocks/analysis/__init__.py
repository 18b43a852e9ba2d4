"""What does an engineer ask of a model beside a run: where it rests, and how it answers there?

Operating points (:mod:`.equilibrium`), linear models per mode of friction and their pictures
(:mod:`.linear`), motions that repeat (:mod:`.limit_cycles`), answers to sines
(:mod:`.describing`), sensitivities of runs (:mod:`.sensitivity`), fits (:mod:`.estimation`) and
designs (:mod:`.design`). Knows components by their paths alone; derivatives are exact, by CasADi.
"""

from __future__ import annotations

from importlib import import_module
from pkgutil import walk_packages
from typing import TYPE_CHECKING, Any

from ..exceptions import did_you_mean, missing_in, nearest
from ..reading.foreign_words import part_elsewhere

if TYPE_CHECKING:
    from .describing import describing_function, predict_limit_cycles, swept_response
    from .design.optimisation import Optimum, optimise, pareto
    from .design.uncertainty import first_order
    from .equilibrium.operating_point import OperatingPoint
    from .equilibrium.operating_point import find_operating_point as operating_point
    from .equilibrium.targets import free
    from .estimation import Fit, fit
    from .limit_cycles import LimitCycle
    from .limit_cycles import find_limit_cycle as limit_cycle
    from .linear.linear_model import LinearModel
    from .linear.linearise import LinearModels, linearise
    from .linear.pictures import bode, nyquist, root_locus, step

__all__ = ["Fit", "LimitCycle", "LinearModel", "LinearModels", "OperatingPoint", "Optimum", "bode",
           "describing_function", "first_order", "fit", "free", "limit_cycle", "linearise",
           "nyquist", "operating_point", "optimise", "pareto", "predict_limit_cycles", "root_locus",
           "step", "swept_response"]

HOMES = {name: f".{home}" for home, names in {
    "describing": "describing_function predict_limit_cycles swept_response",
    "design.optimisation": "Optimum optimise pareto", "design.uncertainty": "first_order",
    "equilibrium.operating_point": "OperatingPoint operating_point", "equilibrium.targets": "free",
    "estimation": "Fit fit", "limit_cycles": "LimitCycle limit_cycle",
    "linear.linear_model": "LinearModel", "linear.linearise": "LinearModels linearise",
    "linear.pictures": "bode nyquist root_locus step"}.items() for name in names.split()}
CALLED = {"limit_cycle": "find_limit_cycle", "operating_point": "find_operating_point"}  # there


def __dir__() -> list[str]:
    return __all__


if not TYPE_CHECKING:  # which would take every name for one
    def __getattr__(name: str) -> Any:
        """Each analysis is loaded when it is asked for: one does not wait for the others."""
        if name in HOMES:
            return getattr(import_module(HOMES[name], __name__), CALLED.get(name, name))
        for part in [] if name.startswith("_") else walk_packages(__path__, f"{__name__}."):
            if name in getattr(import_module(part.name), "__all__", ()):
                raise missing_in(__name__, name, f"Write from {part.name} import {name}.")
        said = "" if name.startswith("_") else part_elsewhere(name)[0] or (
            did_you_mean(name, __all__) if nearest(name, __all__) else "")
        if said:
            raise missing_in(__name__, name, said)
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
