"""Set-valued elements at nodes without mass: friction in series with a spring, a damper or another.

There an element cannot both take its flow and give its effort. Some take the effort and give the
flow (see :class:`blocks.assembly.index_reduction.Elements`); what holds the modes then is a small
system of equations (:mod:`blocks.nonsmooth.modes.mode_equations`). Modes come from the convex
problem of :mod:`blocks.nonsmooth.modes.node_velocities`, and are taken only if they hold
(:mod:`blocks.nonsmooth.modes.mode_search`).
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import cached_property
from itertools import chain, combinations, islice
from typing import TYPE_CHECKING

import casadi as ca
import numpy as np

from ...exceptions import StructureError
from ...numerics.arrays import Array, Flags, Indices
from ...numerics.copies import put_back
from ...numerics.tolerances import MODE_MARGIN_NONE, NOISE
from ...system import Problem, System
from ...system.points import Points
from ..contract import IndeterminateGroup, Laws
from ..mode_state import ModeState
from .carried_network import CarriedNetwork, held_network
from .elements import Change, Elements, elements_of, lack_mass
from .held_network import HeldNetwork
from .islands import NetworkModes
from .jumps import Jumps
from .kept_modes import KeptModes
from .law_expressions import expressions_of, one_sided
from .massless_contacts import MasslessContacts, follow_impulses
from .massless_efforts import MasslessEfforts
from .massless_margins import MasslessMargins, MasslessStress
from .mode_equations import ModeEquations
from .mode_search import ModeSearch
from .node_velocities import NodeVelocities
from .resting_relations import with_resting

if TYPE_CHECKING:
    from scipy.sparse import csc_matrix


__all__ = ["MasslessLaws", "refuse_massless", "without_mass"]


NOBODY = np.zeros(0, dtype=int)
MOST_SPLITS = 64  # ways to leave some of the closed diodes and switches without load


def refuse_massless(system: System) -> None:
    """Stop where laws act on a node without mass that could not be decided there.

    A StructureError names an element.
    """
    light = without_mass(system)
    if not light:
        return
    contacts = [system.network.families[f].path(i) for f, i in system.network.contacts]
    own = next((path for path in contacts if path in light), None)
    if own is not None:
        raise StructureError(
            own, "a rigid contact acts on a node without mass.", "Give both sides of the "
            "contact a mass; or let it yield (a spring with a damper).",
            code="structure.massless",
        )  # fmt: skip
    loaded = np.flatnonzero(follow_impulses(system)) if contacts else NOBODY
    if len(loaded):
        name = elements_of(system).name(int(loaded[0]))
        raise StructureError(
            contacts[0], f"a rigid contact may load {name}, friction at a node without mass, in an "
            "impact.",
            f"Give both sides of {name} a (small) mass, or let the contact yield (a spring with a "
            "damper).", code="structure.massless",
        )  # fmt: skip
    if system.nz and system.clusters:
        raise StructureError(
            light[0], "it acts on a node without mass, in one network with an algebraic loop and "
            "with states that constraints tie to others, which change during a run.",
            "Give the node a (small) mass.", code="structure.massless",
        )  # fmt: skip


def without_mass(system: System) -> list[str]:
    """Components with a set-valued element whose flow the states alone do not determine."""
    return system.once("without mass", lambda: elements_of(system).names(
        np.flatnonzero(lack_mass(system))))


class MasslessLaws(Laws):
    """Set-valued laws of a network with massless nodes, in one run."""

    massless = True
    held_modes: HeldNetwork | None

    def __init__(self, system: System, equations: ModeEquations | None = None) -> None:
        super().__init__(system, elements_of(system))
        refuse_massless(system)
        self.state = ModeState(self.elements.kinds)
        self.state.noise[:, self.elements.valve] = NOISE  # of nominal values
        self.equations, self.held_modes = _equations_of(system, self.elements, equations)
        self.carries_inputs = isinstance(self.held_modes, CarriedNetwork)
        self.efforts = MasslessEfforts(system, self.elements, self.equations, self.state)
        self.stress = MasslessStress(self.efforts)
        self.switching = MasslessMargins(self.efforts, self.stress)
        self.contacts = MasslessContacts(self.efforts)
        self.velocities = NodeVelocities(self.efforts, self.contacts)
        self.search = ModeSearch(self.efforts, self.switching, Jumps(
            self.efforts, self.switching, self.velocities), self.contacts)

    @cached_property
    def kept(self) -> KeptModes | None:
        """The modes of this run; readers, who decide on none, need no room for them."""
        return None if self.held_modes is None else KeptModes(self.held_modes, self.state)

    def fresh(self) -> MasslessLaws:
        return MasslessLaws(self.system, self.equations)

    def crossings(self, problem: Problem, g: Array, t: float) -> Array:
        return with_resting(self.system, g, self.state, *problem.arguments(t))

    def notice(self, margins: Array) -> None:
        says = ~self.elements.switch & np.isfinite(margins)
        moves = self.modes != 0  # else the room to an end of a range that has two is no effort
        self.state.notice(np.where(says & moves, margins, 0.0),
                          np.where(says & ~moves & self.equations.endless, margins, 0.0))

    # -- efforts ---------------------------------------------------------------------------
    def apply(self, problem: Problem, t: float) -> None:
        self.efforts.apply(problem, t)

    def jacobian_through_efforts(self, problem: Problem, t: float) -> csc_matrix:
        return self.efforts.jacobian(problem, t)

    def split_internal_stress(self, problem: Problem, t: float) -> None:
        self.stress.split(problem, t)

    def are_open(self, problem: Problem, points: Points) -> Flags:
        return self.stress.are_open(problem, points)

    def indeterminate_groups(self, problem: Problem, t: float) -> list[IndeterminateGroup]:
        return self.stress.groups(problem, t)

    # -- decisions -------------------------------------------------------------------------
    def margins(self, problem: Problem, t: float) -> Array:
        """Margins of the present modes; where laws are curves, of states as these hold them.

        What the integration lets go there ends no mode: machine code cannot go on with it, and
        every end would begin another stretch in Python.
        """
        if self.equations.constant:
            return self.switching.present(problem, t)
        with put_back(problem.x, problem.z, problem.u):
            if self.switching.missed(problem, t) <= self.state.drift:
                self.efforts.project(problem, t)
                self.efforts.apply(problem, t)
            return self.switching.present(problem, t)

    def start(self, problem: Problem, t: float) -> None:
        """Modes at the start of a run, from velocities and loads."""
        problem.u[:] = 0.0
        state, elements = self.state, self.elements
        self.contacts.refuse_overlap(problem, t)
        flow = self.equations.values(problem, t)[0]
        state.fast = np.maximum(state.largest_of_kinds(flow),
                                self.switching.least_speed(problem, t))
        state.strong = np.zeros(elements.size)
        state.modes = np.where(elements.gives_flow, 0, np.sign(flow)).astype(int)
        state.strong = self.switching.least_strength(problem, t)
        state.modes[elements.contact] = -1
        self.contacts.strike(problem, t, np.arange(elements.size))
        everyone = np.ones(elements.size, dtype=bool)
        at_rest = np.where(elements.valve, -1, 0)  # where all that lets current pass is open
        self.search.take_first(problem, t, everyone, chain(
            self.velocities.modes(problem, t, 0 * state.modes), [at_rest]))
        state.unloaded = self._unloaded(problem, t)

    def decide(self, problem: Problem, t: float, touched: Indices) -> list[Change]:
        """Choose the modes at an event."""
        before, state = self.modes.copy(), self.state
        if self.equations.constant:
            problem.u[:] = 0.0  # whoever looked last: it must not even matter for rounding
        hit, after = self.contacts.strike(problem, t, touched)
        largest = state.largest
        self.efforts.apply(problem, t, before)
        if self.switching.missed(problem, t) <= state.drift:
            self.efforts.project(problem, t)  # what the integration has let go
        margin, size = self.margins(problem, t), self.switching.sizes(problem, t)[0]
        # What a coil would do to a switch that has opened is large, and does not come to pass.
        state.largest = largest
        crossed = margin < -MODE_MARGIN_NONE * size  # by what else has switched at this instant
        # unless its margin was made of drift alone
        crossed[touched] |= (margin <= self.switching.at_end(size))[touched]
        _, effort, low, high, *_ = self.equations.values(problem, t)
        sign = np.where(high - effort <= effort - low, 1, -1)
        guess = np.where(crossed, np.where(before == 0, sign, 0), before)
        guess[hit] = after[hit]
        self.search.ended = crossed
        doubt = crossed | (np.abs(margin) <= MODE_MARGIN_NONE * size)
        asked = doubt | (self.equations.switched(problem, t, before) != before)
        asked = self.equations.islands_of(asked if asked.any() else ~asked)
        self.search.take_first(problem, t, doubt, self._proposals(problem, t, guess, asked))
        state.unloaded = self._unloaded(problem, t)
        self.go_on(problem, t)
        return self.elements.changes(before, self.modes, state.struck)

    def go_on(self, problem: Problem, t: float) -> None:
        if self.kept is not None:
            self.islands_join |= not self.kept.held.keeps_apart(problem, t, self.modes)
            self.kept.keep(problem, t)

    def _unloaded(self, problem: Problem, t: float) -> Flags:
        """Closed diodes and switches that need not bear anything of an effort whose split the
        motion leaves open, so that the others have one; nobody, where all have one, or this is not
        found.

        As many as there are splits: without one more, the others would no longer hold what all of
        them do, and the motion would be another one. Switches that are told come last: these bear
        what a diode cannot.
        """
        modes, nobody = self.modes, np.zeros(self.elements.size, dtype=bool)
        held = self.held_modes
        if held is None or held.fits(problem, t, modes) or not held.keeps_apart(problem, t, modes):
            return nobody
        splits = held.left_open(problem, t, modes).shape[1]
        if not splits or not held.is_solved_everywhere(problem, t, modes):
            return nobody
        told = np.any(self.equations.told(problem, t), axis=0)
        some = np.flatnonzero(self.elements.valve & (modes == 0))
        some = some[np.argsort(told[some], kind="stable")]
        for few in islice(combinations(some.tolist(), splits), MOST_SPLITS):
            unloaded = nobody.copy()
            unloaded[list(few)] = True
            solved = np.where(unloaded, -1, modes)
            if held.fits(problem, t, solved):
                leaving = self.search.leaving(problem, t, solved)
                if leaving is not None and not leaving[~unloaded].any():
                    return unloaded
        return nobody

    def _proposals(self, problem: Problem, t: float, guess: Indices, asked: Flags
                   ) -> Iterator[Indices]:
        before = self.modes.copy()
        yield guess
        yield from self.velocities.modes(problem, t, before, asked)
        yield before  # whose end may have been an error of the run
        if not asked.all():
            yield from self.velocities.modes(problem, t, before)

    # -- finished runs ---------------------------------------------------------------------
    def split_at(self, problem: Problem, points: Points) -> Flags:
        self.stress.split_at(problem, points)
        return super().split_at(problem, points)

    # -- machine code ----------------------------------------------------------------------
    def runs_compiled(self, problem: Problem, t: float) -> bool:
        return self.held_modes is not None and self.held_modes.fits(
            problem, t, self.state.solved_modes)

    def held_constants(self, problem: Problem, t: float) -> Array:
        assert self.held_modes is not None  # else nothing is compiled
        return np.concatenate([self.modes, self.held_modes.constants(problem, t, self.state),
                               np.ones(self.system.nx)])

    def decision_data(self, problem: Problem, t: float) -> NetworkModes | None:
        return None if self.kept is None else self.kept.for_run()

    def take_over(self, modes: Indices, fast: Array) -> None:
        assert self.kept is not None  # which has decided
        self.state.modes = modes.copy()
        self.kept.take_over()

    def margin_expressions(self) -> ca.SX:
        assert self.held_modes is not None
        return self.held_modes.margins


def _equations_of(system: System, elements: Elements, known: ModeEquations | None
                  ) -> tuple[ModeEquations, HeldNetwork | None]:
    """The equations of modes, those of its parameters if none are known, and held modes."""
    if "massless laws" not in system.cache:
        laws = one_sided(expressions_of(system))
        system.cache["massless laws"] = laws, ModeEquations(system, elements, laws), {}
    laws, general, held = system.cache["massless laws"]
    made: ModeEquations = known or general.at_parameters(system.parameters())
    if made.constant not in held:
        held[made.constant] = held_network(system, elements, laws, made)
    return made, held[made.constant]
