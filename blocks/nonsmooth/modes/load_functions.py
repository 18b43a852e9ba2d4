"""What do laws of the load evaluate? Compiled once for a system.

Each takes its load P among the inputs, beside its effort lambda. Alone in its part of the network
an element has P = b / D whatever its effort: then all efforts are expressions of the states.
"""

from __future__ import annotations

from dataclasses import dataclass

import casadi as ca
import numpy as np

from ...assembly.network import Family
from ...language.expression import TIME
from ...language.kernel import LocalLoadLaw
from ...numerics.arrays import Array, Flags, Indices
from ...numerics.tolerances import NOTHING_AT_ALL
from ...system import System
from .elements import ElementInputs, inputs_of

__all__ = ["ENDLESS", "HeldLoads", "LoadElements", "LoadFunctions", "load_laws_of"]

ENDLESS = 1e100  # the load on such an element


@dataclass(frozen=True, eq=False)
class LoadElements(ElementInputs):
    """Elements whose effort is a law of their load."""

    load_at: Indices  # load_at, load_sign: where that stands among the inputs
    load_sign: Array
    resting: Indices  # elements that a band of velocity may hold at rest

    def loads_of(self, u: Array) -> Array:
        """Loads on the elements from inputs."""
        return u[self.load_at] * self.load_sign


def load_laws_of(system: System) -> list[tuple[int, Family, LocalLoadLaw]]:
    """Laws of the load, with their families and the numbers of these."""
    return [(f, family, law) for f, family in enumerate(system.network.families)
            for law in family.kernel.load_laws]  # fmt: skip


def load_elements_of(system: System) -> LoadElements:
    """The elements of a system's laws of the load."""
    laws = load_laws_of(system)
    held = [law.band is not None for _, family, law in laws for _ in range(family.size)]

    def at(variables: list[int]) -> tuple[Indices, Array]:
        """Where a variable of each law stands among the inputs, and its sign there."""
        slots = [system.flat.base[f][k, 0] + np.arange(family.size)
                 for (f, family, _), k in zip(laws, variables, strict=True)]
        return inputs_of(system, np.concatenate([np.zeros(0, dtype=int), *slots]))

    return LoadElements([(f, i) for f, family, _ in laws for i in range(family.size)],
                        *at([law.effort for *_, law in laws]),
                        *at([law.load for *_, law in laws]), np.flatnonzero(held))


class LoadFunctions:
    """Functions of the laws of the load of a system."""

    def __init__(self, system: System) -> None:
        self.elements = elements = load_elements_of(system)
        tape = system.tape
        flow, law, band, strength, apart = _expressions(system)
        # flows, bands of rest and strengths in them
        self.flow = system.function("flow", ca.densify(ca.vertcat(flow, band, strength)))
        self.flow_x = system.jacobian(flow, tape.x)  # how flows follow states
        # flows that are none where all states are: not those against what a source moves
        still = ca.vertsplit(ca.substitute(flow, tape.x, ca.SX.zeros(system.nx)))
        self.from_rest: Flags = np.array([v.is_zero() for v in still], dtype=bool)
        rate = ca.jtimes(flow, tape.x, tape.slope) + ca.jacobian(flow, TIME)
        effort = tape.u[elements.column.tolist()]
        d = -ca.jacobian(rate, effort) @ ca.diag(ca.SX(elements.unit))
        affine = not any(ca.which_depends(rate, tape.u, 2, True)) and not system.nz
        own = not any(ca.which_depends(law, effort, 1, True))
        alone = not (system.network.set_valued or ca.tril(d, False).nnz() + ca.triu(d, False).nnz())
        # inputs: all efforts and loads of explicit laws, through: how slopes follow states through
        # them; else None
        # held: slopes and margins of explicit laws in one function of the states; else None
        # coupled: functions of laws that are solved together; else None
        self.inputs = self.through = self.coupled = self.held = None
        if affine and own and alone:
            inputs = ca.densify(_explicit_inputs(system, elements, rate, law, ca.diag(d)))
            self.inputs = system.function("inputs", inputs)
            self.through = system.function("through", ca.jacobian(tape.slope, tape.u) @ ca.jacobian(
                inputs, tape.x))
            if not system.clusters:
                self.held = HeldLoads(system, elements, inputs, [flow, band, strength])
        else:
            self.coupled = CoupledFunctions(system, elements, rate, law, apart)


class CoupledFunctions:
    """Rates and laws of elements that feel each other, and their derivatives."""

    def __init__(self, system: System, elements: LoadElements, rate: ca.SX, law: ca.SX,
                 apart: ca.SX) -> None:
        tape = system.tape
        self.rate = system.function("rate", ca.densify(rate))
        self.law = system.function("law", ca.densify(law))
        self.apart = system.function("law", ca.densify(apart))  # of flows in place of efforts
        self.rate_u = system.jacobian(rate, tape.u)
        load = tape.u[elements.load_at.tolist()]
        by_load = ca.diag(ca.jacobian(law, load)) * ca.SX(elements.load_sign)
        self.law_load = system.function("law_load", ca.densify(by_load))
        self.law_u = system.jacobian(law, tape.u)
        self.law_x = system.jacobian(law, tape.x)
        self.rate_x = system.jacobian(rate, tape.x)
        self.rate_z = system.jacobian(rate, tape.z) if system.nz else None


def _expressions(system: System) -> list[ca.SX]:
    """Flows, laws, bands of rest and strengths in them, and laws of flows in place of efforts."""
    rows: list[list[ca.SX]] = [[] for _ in range(5)]
    for f, family, (effort, _, flow, law, *of_rest) in load_laws_of(system):
        given = flow if flow.is_symbolic() else ca.SX.sym("none")
        apart = ca.substitute(law, given, family.kernel.symbols[effort, 0])
        for row, sx in zip(rows, (flow, law, *of_rest, apart), strict=True):
            row.append(system.tape.writer.kernel_row(f, ca.SX(0) if sx is None else sx).T)
    return [ca.vertcat(*row) for row in rows]


def _explicit_inputs(system: System, elements: LoadElements, rate: ca.SX, law: ca.SX, d: ca.SX
                     ) -> ca.SX:
    """Every effort and load as an expression of the states and the set-valued efforts."""
    tape, effort_at, load_at = system.tape, elements.column.tolist(), elements.load_at.tolist()
    free = ca.substitute(rate, tape.u[effort_at], ca.SX.zeros(elements.size))
    size = ca.mmax(ca.densify(d))
    driven = ca.densify(ca.if_else(d > NOTHING_AT_ALL * size, free / d, ca.sign(free) * ENDLESS))
    given = ca.substitute(law, tape.u[load_at], driven * ca.SX(elements.load_sign))
    inputs = ca.SX(tape.u)
    inputs[effort_at] = given * ca.SX(elements.unit)
    inputs[load_at] = driven * ca.SX(elements.load_sign)
    return inputs


class HeldLoads:
    """Slopes, crossing functions and margins of explicit laws, as functions of states and modes.

    ``inputs`` are all efforts and loads, as expressions of the states, ``of_laws`` flows, bands of
    rest and strengths in them, an element each.
    """

    length = entries = 0  # nothing is solved for at every point, and there are no constants
    has_derivatives = True

    def __init__(self, system: System, elements: LoadElements, inputs: ca.SX,
                 of_laws: list[ca.SX]) -> None:
        tape, resting = system.tape, elements.resting.tolist()
        modes, loads = ca.SX.sym("modes", len(resting)), inputs[elements.load_at.tolist()]
        load, *of_laws = (ca.reshape(e[resting], len(resting), 1) for e in (loads, *of_laws))
        slope, crossings, exponents, flow, band, strength = ca.substitute(
            [tape.slope, tape.crossings, tape.exponents, *of_laws], [tape.u], [inputs])
        # time, states, unknowns, parameters, relations, discrete values, modes; no constants
        self.symbols = [*system.arguments[:-1], modes, ca.SX.sym("constants", 0)]
        self.expressions = {"slope": slope, "crossings": crossings, "exponents": exponents,
                            "inputs": inputs}
        room = strength - ca.fabs(load)
        # how far bands of rest are from the end of their mode
        self.margins = ca.if_else(modes == 0, room, ca.fmax(ca.fabs(flow) - band, -room))
