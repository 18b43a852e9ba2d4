"""Which laws does a network need: those of nodes with inertia, or those of nodes without mass?"""

from __future__ import annotations

from typing import TYPE_CHECKING

from ...language.kernel import VALVES
from ..contract import Laws
from .law_functions import LawFunctions
from .laws import SetValuedLaws
from .massless_nodes import MasslessLaws, without_mass
from .no_elements import NoElements

if TYPE_CHECKING:
    from ...system import System

__all__ = ["set_valued_laws"]


def set_valued_laws(system: System) -> Laws:
    """The set-valued laws of a system, at the start of a run."""
    if not any(family.kernel.set_valued for family in system.network.families):
        return NoElements(system)
    if "laws" not in system.cache:  # compiled functions, or None where nodes have no mass
        system.cache["laws"] = None if without_mass(system) or any(
            law.kind in VALVES for family in system.network.families
            for law in family.kernel.set_valued) else LawFunctions.of(system)
    functions: LawFunctions | None = system.cache["laws"]
    return MasslessLaws(system) if functions is None else SetValuedLaws(functions)
