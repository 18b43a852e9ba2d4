"""Which relations follow efforts at nodes without mass, and act on these only through others?

A relay on a voltage behind a bridge, a comparator that gates a switch: what they look at jumps with
any mode, so they are judged once modes are decided. A relation that equations contain, such as the
piece of a diode, is decided together with the modes.
"""

from __future__ import annotations

import casadi as ca
import numpy as np

from ...numerics.arrays import Flags
from ...numerics.rewriting import contained
from ...system import System
from .law_expressions import expressions_of

__all__ = ["indirect_relations", "looked_at_alone", "relations_of_efforts"]


def relations_of_efforts(system: System) -> Flags:
    """Relations that follow set-valued efforts, at once or through loops."""
    tape = system.tape
    return np.array(ca.which_depends(
        tape.crossings, ca.vertcat(tape.u, tape.z), 1, True), dtype=bool)


def indirect_relations(system: System) -> Flags:
    """Relations that follow set-valued efforts and that no equation contains."""
    return system.once("indirect relations", lambda: (
        relations_of_efforts(system) & looked_at_alone(system)))


def looked_at_alone(system: System) -> Flags:
    """Relations that no equation contains."""
    tape, laws = system.tape, expressions_of(system)
    return ~contained(tape.m, ca.vertcat(
        tape.slope, tape.residual, tape.constraints, laws.flow, laws.effort, laws.bounds))
