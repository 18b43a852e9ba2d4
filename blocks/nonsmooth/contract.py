"""What does a run ask of laws of friction and contact?

One contract for all of them: those whose modes are decided at events
(:mod:`blocks.nonsmooth.modes`), with or without masses at their nodes and with laws that look at
the load around them, and those of time stepping (:mod:`blocks.nonsmooth.timestepping`). Problem,
driver, recording and machine code ask for nothing else. Which laws a network needs is said by
:mod:`blocks.nonsmooth.modes.load_laws`.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from hashlib import blake2b
from pickle import dumps, loads
from typing import TYPE_CHECKING

import numpy as np

from ..numerics.arrays import Array, Flags, Indices
from ..numerics.cache import Cache
from ..system import Problem, System
from ..system.points import Points
from .mode_state import ModeState

if TYPE_CHECKING:
    import casadi as ca
    from scipy.sparse import csc_matrix

    from .modes.elements import Change, Elements
    from .modes.held_network import HeldNetwork
    from .modes.islands import IslandsWithMass, NetworkModes
    from .modes.load_dependence import LoadDependence
    from .modes.load_functions import HeldLoads
    from .modes.solved_modes import SolvedModes

__all__ = ["IndeterminateGroup", "Laws"]

MOST_STARTS = 4  # that are kept of a system, each with all of its states

#: Labels of stuck elements that share internal stress, and their efforts.
IndeterminateGroup = tuple[list[str], Array]


class Laws(ABC):
    """All elements of a system whose laws have modes, and these modes in one run."""

    state: ModeState  # their modes
    watched: bool = True  # whether anything must be looked at during a step
    massless: bool = False  # whether any mode may make efforts jump, as at nodes without mass
    # efforts and slopes of the present modes in one or two evaluations, where that is so
    held_modes: SolvedModes | HeldNetwork | HeldLoads | None = None
    load: LoadDependence | None = None  # how bounds depend on efforts (mu N); None where none does
    # whether steps in machine code carry inputs along with the states, solved for at every point
    carries_inputs: bool = False
    # whether modes have tied islands of elements that equations were written apart for
    islands_join: bool = False
    # whether efforts are those of the run's steps, instead of following from the states
    recorded: bool = False

    def __init__(self, system: System, elements: Elements) -> None:
        # elements: who they are: owners, inputs, which ones are contacts
        # size: how many elements there are
        self.system, self.elements, self.size = system, elements, elements.size

    @property
    def modes(self) -> Indices:
        """0 stuck or closed, 1 sliding forward, -1 sliding backward or open, one per element."""
        return self.state.modes

    @modes.setter
    def modes(self, value: Indices) -> None:
        self.state.modes = value

    # -- who the elements are --------------------------------------------------------------
    def slack(self, problem: Problem, t: float, nothing: Array | float) -> Array:
        """What their margins may be below zero by, where machine code is to add it to them."""
        return np.zeros(0)

    @property
    def set_valued(self) -> Laws:
        """The set-valued laws without those of the load, which may be around them."""
        return self

    # -- modes -----------------------------------------------------------------------------
    def begin(self, problem: Problem, t: float) -> None:
        """Modes at the start of a run: those of :meth:`start`, or those that it has chosen at this
        very point before, for the check or for another run of the same model."""
        known: Cache[bytes, bytes] = self.system.once("starts", lambda: Cache(MOST_STARTS))

        def decided() -> bytes:
            self.start(problem, t)
            return dumps((problem.x, problem.z, problem.u, self.modes, vars(self.state)))

        key = blake2b(dumps((type(self), problem.arguments(t), problem.scale_x, self.modes,
                             vars(self.state)))).digest()
        problem.x[:], problem.z[:], problem.u[:], modes, state = loads(known.once(key, decided))
        vars(self.state).update(state)
        self.modes = modes
        self.go_on(problem, t)

    def go_on(self, problem: Problem, t: float) -> None:  # noqa: B027  # nothing to prepare
        """Prepare what a run needs beyond modes that are decided on at the present point."""

    @abstractmethod
    def start(self, problem: Problem, t: float) -> None:
        """Choose the modes at the start of a run, from flows, gaps and loads."""

    @abstractmethod
    def decide(self, problem: Problem, t: float, touched: Indices) -> list[Change]:
        """Choose the modes at an event, where the margins of ``touched`` became negative."""

    def margins(self, problem: Problem, t: float) -> Array:
        """Switching functions at the present point: negative where a mode no longer holds."""
        return np.full(self.size, np.inf)

    def crossings(self, problem: Problem, g: Array, t: float) -> Array:
        """Crossing functions of relations, exact where modes hold all they look at at zero."""
        return g

    def notice(self, margins: Array) -> None:  # noqa: B027  # a default: nothing to note
        """Take note of the largest margins of an episode, which tell speeds and efforts."""

    def no_flow(self, problem: Problem, t: float, nothing: Array | float) -> Array:
        """What flows of friction that slides may be below zero by: what rounding makes of states,
        or errors that are ``nothing`` of each."""
        return np.zeros(self.size)

    # -- efforts ---------------------------------------------------------------------------
    @property
    def restless(self) -> str:
        """An element whose efforts did not settle at the last point; empty where all did.

        Also where bounds depend on efforts: there a jam is watched for.
        """
        return ""

    def refuse_jam(self, problem: Problem, t: float) -> None:  # noqa: B027  # nothing jams
        """Stop by name where no unique motion obeys the laws."""

    @abstractmethod
    def apply(self, problem: Problem, t: float) -> None:
        """Set the problem's inputs to the efforts of the present modes."""

    def correct(self, slope: Array, problem: Problem, t: float) -> Array:
        """Slopes without the rounding of stuck elements: what sticks does not creep."""
        return slope

    def jacobian_through_efforts(self, problem: Problem, t: float) -> csc_matrix:
        """(d slope / d effort) (d effort / d x); nothing where efforts do not follow from x."""
        from scipy.sparse import csc_matrix

        return csc_matrix((self.system.nx, self.system.nx))

    # -- finished runs ---------------------------------------------------------------------
    @abstractmethod
    def fresh(self) -> Laws:
        """Return the laws with a state of their own: for another run, or to look at this one."""

    def split_at(self, problem: Problem, points: Points) -> Flags:
        """Let inputs that the motion leaves open be those that are shown; where that is done.

        ``problem`` has the parameters of the run; its point says nothing. ``points`` are states,
        modes, and inputs that hold these.
        """
        return np.ones(len(points), dtype=bool)

    def are_open(self, problem: Problem, points: Points) -> Flags:
        """At which points it may leave any of them open, in the modes that are held there."""
        return np.ones(len(points), dtype=bool)

    # -- static indeterminacy --------------------------------------------------------------
    def impulses(self, problem: Problem, t: float, struck: Flags) -> tuple[Array, Array] | None:
        """Impulses of elements where contacts are struck, and how they change states, if known."""
        return None

    def split_internal_stress(self, problem: Problem, t: float) -> None:  # noqa: B027
        """Where the motion leaves efforts open, take those that are shown."""

    def indeterminate_groups(self, problem: Problem, t: float) -> list[IndeterminateGroup]:
        """Groups of stuck elements whose split the motion leaves open, with their efforts."""
        return []

    # -- machine code ----------------------------------------------------------------------
    def runs_compiled(self, problem: Problem, t: float) -> bool:
        """Whether slopes and margins of the present modes are those of :attr:`held_modes`."""
        return False

    def held_constants(self, problem: Problem, t: float) -> Array:
        """What machine code is given of the present modes, constant between events."""
        raise NotImplementedError("only laws with held modes run in machine code")

    def decision_data(self, problem: Problem, t: float) -> IslandsWithMass | NetworkModes | None:
        """What machine code needs to decide on modes by itself; None where it cannot."""
        return None

    def take_over(self, modes: Indices, fast: Array) -> None:
        """Go on with modes that machine code has decided on; ``fast`` is the largest flow so far
        beside each element."""
        raise NotImplementedError("machine code decides on modes of parts alone")

    def margin_expressions(self) -> ca.SX:
        """Switching functions as functions of modes and states."""
        raise NotImplementedError("only laws with held modes run in machine code")

    # -- efforts of steps, where `recorded` ------------------------------------------------
    def efforts_at(self, t: Array, start: float) -> Array:
        """Inputs at times of an episode: those of the steps they are in."""
        return np.zeros((self.system.nu, len(t)))

    def acted(self) -> dict[int, Flags]:
        """Per family with such laws, the instances that had an effort in some step."""
        return {}
