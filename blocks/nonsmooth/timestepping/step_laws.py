"""Set-valued laws of time stepping: efforts of a run are those of its steps.

They are constant over a step, and kept for the results; nothing is decided at events.
"""

from __future__ import annotations

import copy

import casadi as ca
import numpy as np

from ...numerics.arrays import Array, Flags, Indices
from ...numerics.tolerances import NO_FLOW, TINY, TOUCHES
from ...system.problem import Problem
from ...system.system import System
from ..contract import Laws
from ..mode_state import ModeState
from ..modes.elements import Change, Elements, elements_of
from ..modes.gaps import refuse_overlap
from .active_contacts import ActiveContacts
from .bare_network import bare_network
from .contact_kinds import kinds_of
from .free_bodies import FreeBodies

__all__ = ["StepLaws", "step_laws"]


def step_laws(system: System) -> StepLaws | None:
    """The laws of a system with contacts for time stepping; None where they need the general way.
    """
    made = system.once("step laws", lambda: _made(system))
    return None if made is None else made.fresh()


def _made(system: System) -> StepLaws | None:
    kernels = [family.kernel for family in system.network.families]
    touches = any(law.is_contact for k in kernels for law in k.set_valued)
    if not touches or system.nz or system.clusters or system.tape.reduced.gives_flow.any() \
            or any(k.load_laws for k in kernels):
        return None
    kinds = kinds_of(system)
    if kinds is None:
        return None
    seen = np.unique(np.concatenate([k.seen.ravel() for k in kinds]))
    if ca.depends_on(system.tape.values[seen.tolist()], system.tape.u):
        return None
    bare = bare_network(system.tape, sorted({k.family for k in kinds}))
    if bare is None:
        return None
    bodies = FreeBodies(system, bare, seen)
    return StepLaws(system, bodies, ActiveContacts(kinds, bodies, seen))


class StepEfforts:
    """Efforts of the steps of a run.

    Parameters
    ----------
    elements : Elements
    """

    def __init__(self, elements: Elements) -> None:
        self._elements = elements
        self._ends: list[float] = []  # of every step
        self._steps: list[tuple[Indices, Array]] = []  # elements with an effort, and the efforts

    def append(self, t: float, elements: Indices, efforts: Array) -> None:
        """Those of the step that ends at ``t``."""
        some = efforts != 0
        self._ends.append(t)
        self._steps.append((elements[some], efforts[some]))

    def last(self) -> Array:
        """Those of the last step, of all elements."""
        out = np.zeros(self._elements.size)
        if self._steps:
            elements, efforts = self._steps[-1]
            out[elements] = efforts
        return out

    def inputs_at(self, t: Array, start: float, inputs: int) -> Array:
        """Inputs at times of an episode: those of the steps they are in."""
        u = np.zeros((inputs, len(t)))
        if not self._ends:
            return u
        k = np.searchsorted(self._ends, np.maximum(t, np.nextafter(start, np.inf)))
        for column, step in enumerate(np.minimum(k, len(self._ends) - 1)):
            elements, efforts = self._steps[step]
            u[self._elements.column[elements], column] = efforts * self._elements.sign[elements]
        return u

    def any_of(self) -> Flags:
        """Elements that had an effort in some step."""
        ever = np.zeros(self._elements.size, dtype=bool)
        for elements, _ in self._steps:
            ever[elements] = True
        return ever


class StepLaws(Laws):
    """All set-valued elements of a system, for
    :class:`blocks.nonsmooth.timestepping.moreau_jean.MoreauJean`.

    Attributes
    ----------
    bodies : FreeBodies
        The network without efforts.
    contacts : ActiveContacts
        Who can act in a step.
    efforts : StepEfforts
        Efforts of the steps so far.
    """

    watched = False
    recorded = True  # its efforts are those of the run's steps

    def __init__(self, system: System, bodies: FreeBodies, contacts: ActiveContacts) -> None:
        super().__init__(system, elements_of(system))
        self.bodies, self.contacts = bodies, contacts
        self.efforts = StepEfforts(self.elements)
        self.state = self._open()

    def fresh(self) -> StepLaws:
        """The same laws at the start of another run."""
        new = copy.copy(self)
        new.contacts, new.efforts = self.contacts.fresh(), StepEfforts(self.elements)
        new.state = self._open()
        return new

    def _open(self) -> ModeState:
        """Modes before the start: contacts are open."""
        state = ModeState(self.size)
        state.modes = np.where(self.contact, -1, 0).astype(np.int8)  # type: ignore[assignment]
        return state

    def keep(self, problem: Problem, t: float, elements: Indices, efforts: Array) -> None:
        """Take efforts as those of the step that ends at ``t``."""
        self.efforts.append(t, elements, efforts)
        problem.u[:] = 0.0
        problem.u[self.elements.column[elements]] = efforts * self.elements.sign[elements]

    # -- what the driver and the results ask for --------------------------------------------
    def start(self, problem: Problem, t: float) -> None:
        """Modes at the start, from flows; contacts that touch and do not part are closed."""
        self.contacts.look_at(problem, t, problem.start_vector())
        gaps, flow = self.contacts.gaps_and_flows(self.size)
        far = float(np.maximum(np.abs(problem.x), problem.scale_x).max(initial=0.0))
        refuse_overlap(self.system, self.elements, gaps[self.contact],
                       np.flatnonzero(self.contact), far)  # fmt: skip
        small = NO_FLOW * max(float(np.abs(flow).max()), TINY)
        rests = np.abs(flow) <= small
        touches = (gaps <= TOUCHES * far) & (flow >= -small)
        self.modes = np.where(self.contact, np.where(touches, 0, -1),
                              np.where(rests, 0, np.sign(flow))).astype(np.int8)

    def decide(self, problem: Problem, t: float, touched: Indices) -> list[Change]:
        """At known instants the next step decides."""
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
        for kind in self.contacts.kinds:
            size = self.system.network.families[kind.family].size
            mine = out.setdefault(kind.family, np.zeros(size, dtype=bool))
            mine[kind.instances] = ever[kind.elements].any(axis=1)
        return out
