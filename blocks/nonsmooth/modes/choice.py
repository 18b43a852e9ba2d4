"""Which laws does a network need: plain ones, or those of nodes without mass?"""

from __future__ import annotations

from typing import Any

from ...system.system import System
from .laws import SetValuedLaws
from .massless_nodes import MixedLaws, without_mass

__all__ = ["set_valued_laws"]


def set_valued_laws(system: System) -> SetValuedLaws:
    """The laws of a system: the plain ones where every flow is determined by states."""
    kept: Any = system.cache.get("laws")
    if kept is None:
        kept = (MixedLaws if without_mass(system) else SetValuedLaws)(system)
        if type(kept) is SetValuedLaws and kept.size:
            system.cache["laws"] = kept  # never run itself
    made: SetValuedLaws = kept
    return made.fresh() if system.cache.get("laws") is made else made
