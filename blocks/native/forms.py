"""In which form is a system written as machine code, if it can be?"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import casadi as ca

if TYPE_CHECKING:
    from ..system import System

__all__ = ["MOST_STATES", "candidates", "is_large", "why_no_derivatives", "why_not"]

LARGE = 300  # unknowns above which laws are written as loops over their instances
MOST_UNKNOWNS = 100  # of algebraic loops, up to which all are solved together
MOST_OF_ZEROS = 20000  # of them, where their matrix is mostly zeros
MOST_AT_ONCE = 1000  # of these by explicit steps, where Python factors a linear one once
MOST_BESIDE_FRICTION = 200  # of those beside exact friction, which Python would decide on, too
MOST_STATES = 50  # of an implicit method, whose matrix is full
MOST_TORN = 8  # unknowns of each of the loops of which there may be as many as one likes


def why_not(system: System, laws: Any = None, implicit: bool = False) -> str:
    """Why a model cannot run in machine code, in a few words; empty if it can.

    ``laws`` are the model's set-valued laws, where they are known.
    """
    if system.nu and (laws is None or laws.held_modes is None):
        return "its exact friction and contacts are decided in Python"
    if system.nz + system.nc > (most := _most_unknowns(system, implicit)):
        return f"more than {most} algebraic unknowns are solved for in Python"
    return ""


def why_no_derivatives(system: System, laws: Any = None) -> str:
    """Why slopes have no derivatives in machine code but differences; empty if they have."""
    if any(f.kernel.delays for f in system.network.families):
        return "what was a while ago is no straight line in time"
    if laws is not None and not laws.held_modes.has_derivatives:
        return "efforts that loops follow at once have no derivatives there"
    return ""


def is_large(system: System) -> bool:
    """Whether its laws are written as loops over their instances."""
    steps = system.tape.steps
    return sum(len(s.unknowns) for s in steps) > LARGE and all(s.block is None for s in steps)


def _most_unknowns(system: System, implicit: bool) -> int:
    """How many unknowns of algebraic loops and tied states are solved for together."""
    most = MOST_BESIDE_FRICTION if system.nu else MOST_UNKNOWNS
    if system.nz + system.nc <= most:
        return most
    if _has_small_loops(system):
        return MOST_OF_ZEROS
    zeros = MOST_AT_ONCE if system.has_linear_loops and not implicit else MOST_OF_ZEROS
    if system.nz + system.nc <= zeros and system.once(
            "loops mostly zeros", lambda: _is_mostly_zeros(system)):
        return zeros
    return most


def _is_mostly_zeros(system: System) -> bool:
    """Whether the matrix of algebraic unknowns and tied states is."""
    from .sparse_factors import is_mostly_zeros, pattern_of_choice  # loaded with what it is for

    tape = system.tape
    entries = [*candidates(system), *range(system.nx, system.nx + system.nz)]
    pattern = ca.jacobian_sparsity(
        ca.vertcat(tape.residual, tape.constraints), ca.vertcat(tape.x, tape.z))
    every = list(range(system.nz + system.nc))
    dense = tape.carried.any() and (system.clusters or system.nu)
    return not dense and is_mostly_zeros(
        pattern_of_choice(pattern.sub(every, entries)[0], system.nz))


def candidates(system: System) -> list[int]:
    """The states that may be tied to others, in order."""
    states = {int(c): i for i, c in enumerate(system.tape.reduced.states)}
    return sorted({states[int(c)] for cluster in system.clusters for _, classes in cluster.levels
                   for c in classes})


def _has_small_loops(system: System) -> bool:
    """Whether algebraic loops are few unknowns each, with one solution."""
    tape = system.tape
    return not (system.clusters or tape.switched_loops or tape.carried.any()) and max(
        tape.loops) <= MOST_TORN
