"""What do slopes come to where every law of the load is alone in its part of the network?

Its load is then an expression of the states, and so is its effort: slopes and margins are functions
of the states, as machine code wants them.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import casadi as ca

from ...numerics.arrays import Array
from ...system import System

if TYPE_CHECKING:
    from .load_functions import LoadElements

__all__ = ["HeldLoads"]


class HeldLoads:
    """Slopes, crossing functions and margins, as functions of states and modes.

    ``inputs`` are all efforts and loads, as expressions of the states, ``of_laws`` flows, bands of
    rest and strengths in them, an element each.
    """

    length = entries = 0  # nothing is solved for at every point, and there are no constants
    has_derivatives = True
    slope: Array | None = None  # slopes at the last evaluation; not kept

    def __init__(self, system: System, elements: LoadElements, inputs: ca.SX,
                 of_laws: list[ca.SX]) -> None:
        tape, resting = system.tape, elements.resting.tolist()
        modes, loads = ca.SX.sym("modes", len(resting)), inputs[elements.load_at.tolist()]
        load, *of_laws = (ca.reshape(e[resting], len(resting), 1) for e in (loads, *of_laws))
        slope, crossings, exponents, flow, band, strength = ca.substitute(
            [tape.slope, tape.crossings, tape.exponents, *of_laws], [tape.u], [inputs])
        # time, states, unknowns, parameters, relations, discrete values, modes; no constants
        self.symbols = [*system.arguments[:-1], modes, ca.SX.sym("constants", 0)]
        # of slopes and crossing functions
        self.expressions = {"slope": slope, "crossings": crossings, "exponents": exponents,
                            "inputs": inputs}
        room = strength - ca.fabs(load)
        # how far bands of rest are from the end of their mode
        self.margins = ca.if_else(modes == 0, room, ca.fmax(ca.fabs(flow) - band, -room))
