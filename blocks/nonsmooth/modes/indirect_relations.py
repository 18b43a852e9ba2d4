"""Which relations follow efforts at nodes without mass, and act on these only through others?

A relay on a voltage behind a bridge, a comparator that gates a switch: what they look at jumps with
any mode, so they are judged once modes are decided. A relation that equations contain, such as the
piece of a diode, is decided together with the modes.
"""

from __future__ import annotations

import casadi as ca
import numpy as np

from ...numerics.arrays import Flags
from ...system import System
from .law_expressions import expressions_of
from .mode_equations import symbols_in

__all__ = ["indirect_relations", "relations_of_efforts"]


def relations_of_efforts(system: System) -> Flags:
    """Relations that follow set-valued efforts, at once or through loops."""
    tape = system.tape
    return np.array(ca.which_depends(
        tape.crossings, ca.vertcat(tape.u, tape.z), 1, True), dtype=bool)


def indirect_relations(system: System) -> Flags:
    """Those of them that no equation contains."""
    return system.once("indirect relations", lambda: _indirect(system))


def _indirect(system: System) -> Flags:
    tape, laws = system.tape, expressions_of(system)
    seen = symbols_in(ca.vertcat(tape.slope, tape.residual, laws.flow, laws.effort, laws.bounds))
    read = np.array([s.__hash__() in seen for s in ca.vertsplit(tape.m)], dtype=bool)
    return relations_of_efforts(system) & ~read
