"""Which laws does a network need: those of nodes with inertia, or those of nodes without mass?"""

from __future__ import annotations

from ...language.kernel import VALVES
from ...system import System
from ..contract import Laws
from .law_functions import LawFunctions
from .laws import SetValuedLaws
from .massless_nodes import MasslessLaws, without_mass
from .no_elements import NoElements

__all__ = ["set_valued_laws"]


def set_valued_laws(system: System) -> Laws:
    """The set-valued laws of a system, at the start of a run."""
    if not system.network.set_valued:
        return NoElements(system)
    functions = system.once("laws", lambda: _functions(system))
    return MasslessLaws(system) if functions is None else SetValuedLaws(functions)


def _functions(system: System) -> LawFunctions | None:
    """Compiled functions; None where nodes have no mass."""
    valves = any(law.kind in VALVES for *_, law in system.network.set_valued)
    return None if valves or without_mass(system) else LawFunctions.of(system)
