"""Set-valued laws of time stepping: efforts of a run are those of its steps.

They are constant over a step, and kept for the results; nothing is decided at events.
"""

from __future__ import annotations

import copy

import casadi as ca
import numpy as np

from ...numerics.arrays import Array, Flags, Indices
from ...numerics.tolerances import FLOW_NONE, NEAR_GAP, TINY
from ...system.problem import Problem
from ...system.system import System
from ..contract import Laws
from ..mode_state import ModeState
from ..modes.elements import Change, Elements, elements_of
from ..modes.gaps import largest_position, refuse_overlap
from .bare_network import FreeBodies, bare_network, whole_network
from .contact_kinds import Kind, kinds_of

__all__ = ["StepLaws", "step_laws"]


def step_laws(system: System) -> StepLaws | None:
    """The laws of a system for time stepping; None where they need the general way."""
    made = system.once("step laws", lambda: _made(system))
    return None if made is None else made.fresh()


def _made(system: System) -> StepLaws | None:
    kernels = [family.kernel for family in system.network.families]
    if not any(k.set_valued for k in kernels) or any(k.load_laws for k in kernels) or (
            system.nz or system.clusters or system.tape.reduced.gives_flow.any()):
        return None
    if (kinds := kinds_of(system)) is None:
        return None
    seen = np.unique(np.concatenate([k.seen.ravel() for k in kinds]))
    if ca.depends_on(system.tape.values[seen.tolist()], system.tape.u):
        return None
    bare = bare_network(system.tape, sorted({k.family for k in kinds}))
    if bare is not None:
        taken = np.diff(bare.gathers.indptr) > 0  # by the bodies, from what components compute
        if any(taken[k.forces[:, k.own]].any() for k in kinds):
            bare = None
    if bare is None and not any(k.loaded for k in kinds):  # a jam is found the general way
        bare = whole_network(system.tape)
    if bare is None:
        return None
    for kind in kinds:
        kind.seen_at = np.searchsorted(seen, kind.seen)
    return StepLaws(system, FreeBodies(system, bare, seen), kinds)


class StepEfforts:
    """Efforts of the steps of a run."""

    def __init__(self, elements: Elements) -> None:
        self._elements = elements
        self.last = np.zeros(elements.size)  # those of the last step, of all elements
        self._ends: list[Array] = [np.zeros(0)]  # of all steps
        self._numbers: list[Indices] = [np.zeros(0, dtype=int)]  # of efforts, in each
        self._acting: list[Indices] = [np.zeros(0, dtype=int)]  # elements of these efforts,
        self._efforts: list[Array] = [np.zeros(0)]  # and the efforts themselves

    def extend(self, ends: Array, efforts: Array) -> None:
        """Add steps: their ends, and the efforts of all elements in each."""
        step, element = np.nonzero(efforts)
        self._ends.append(np.array(ends))
        self._numbers.append(np.bincount(step, minlength=len(ends)))
        self._acting.append(element)
        self._efforts.append(efforts[step, element])
        self.last = np.array(efforts[-1])

    def _gathered(self) -> tuple[Array, Indices, Indices, Array]:
        for kept in (self._ends, self._numbers, self._acting, self._efforts):
            kept[:] = [np.concatenate(kept)]  # type: ignore[arg-type, list-item]
        return self._ends[0], self._numbers[0], self._acting[0], self._efforts[0]

    def inputs_at(self, t: Array, start: float, inputs: int) -> Array:
        """Inputs at times of an episode: those of the steps they are in."""
        u = np.zeros((inputs, len(t)))
        ends, numbers, acting, efforts = self._gathered()
        if not len(ends):
            return u
        k = np.searchsorted(ends, np.maximum(t, np.nextafter(start, np.inf)))
        k = np.minimum(k, len(ends) - 1)
        several, firsts = numbers[k], np.cumsum(numbers) - numbers
        column = np.repeat(np.arange(len(t)), several)
        skipped = firsts[k] - (np.cumsum(several) - several)
        one = np.arange(len(column)) + np.repeat(skipped, several)
        element = acting[one]
        u[self._elements.column[element], column] = efforts[one] * self._elements.unit[element]
        return u

    def any_of(self) -> Flags:
        """Elements that had an effort in some step."""
        ever = np.zeros(self._elements.size, dtype=bool)
        ever[self._gathered()[2]] = True
        return ever


class StepLaws(Laws):
    """All set-valued elements of a system, for :class:`blocks.native.moreau_jean.MoreauJean`."""

    watched = False
    recorded = True  # its efforts are those of the run's steps

    def __init__(self, system: System, bodies: FreeBodies, kinds: list[Kind]) -> None:
        super().__init__(system, elements_of(system))
        # bodies: the network without efforts; kinds: the components that have them
        self.bodies, self.kinds = bodies, kinds
        self.efforts = StepEfforts(self.elements)  # efforts of the steps so far
        self.state = self._open()

    def fresh(self) -> StepLaws:
        """Return the laws for the start of another run, with efforts and state of their own."""
        new = copy.copy(self)
        new.efforts, new.state = StepEfforts(self.elements), self._open()
        return new

    def _open(self) -> ModeState:
        """Modes before the start: contacts are open."""
        state = ModeState(self.elements.kinds)
        state.modes = np.where(self.elements.contact, -1, 0).astype(np.int8)  # type: ignore[assignment]
        return state

    def keep(self, problem: Problem, ends: Array, efforts: Array) -> None:
        """Take efforts of all elements, a row per step, as those of the steps that end then."""
        self.efforts.extend(ends, efforts)
        self.elements.put(problem.u, self.efforts.last)

    # -- what the driver and the results ask for --------------------------------------------
    def start(self, problem: Problem, t: float) -> None:
        """Modes at the start, from flows; contacts that touch and do not part are closed."""
        seen = self.bodies.seen(problem, t, problem.solver_vector())
        gaps, flow = np.zeros((2, self.size))
        for kind in self.kinds:
            gaps[kind.elements[:, kind.contact]], flow[kind.elements] = kind.gaps_and_flows(
                problem, t, seen)
        far = largest_position(problem)
        refuse_overlap(self.system, self.elements, gaps[self.elements.contact],
                       np.flatnonzero(self.elements.contact), far)  # fmt: skip
        small = FLOW_NONE * (self.state.largest_of_kinds(flow) + TINY)
        rests = np.abs(flow) <= small
        touches = (gaps <= NEAR_GAP * far) & (flow >= -small)
        self.modes = np.where(self.elements.contact, np.where(touches, 0, -1),
                              np.where(rests, 0, np.sign(flow))).astype(np.int8)

    def decide(self, problem: Problem, t: float, touched: Indices) -> list[Change]:
        """Decide nothing at known instants: the next step does."""
        return []

    def apply(self, problem: Problem, t: float) -> None:
        """Efforts are those of the step; nothing follows from the present point."""

    def efforts_at(self, t: Array, start: float) -> Array:
        """Inputs at times of an episode: those of the steps they are in."""
        return self.efforts.inputs_at(t, start, self.system.nu)

    def acted(self) -> dict[int, Flags]:
        """Per family with such laws, the instances that had an effort in some step."""
        ever = self.efforts.any_of()
        out: dict[int, Flags] = {}
        for kind in self.kinds:
            size = self.system.network.families[kind.family].size
            mine = out.setdefault(kind.family, np.zeros(size, dtype=bool))
            mine[kind.instances] = ever[kind.elements].any(axis=1)
        return out
