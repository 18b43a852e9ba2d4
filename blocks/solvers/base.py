"""The contract between an initial value problem and a step-able method.

Knows vectors and functions only: no components, units, events or results.

Rules for a method
------------------
1. A method is made at ``(t, y)`` and advances one accepted step at a time.
2. ``advance(t_stop)`` never passes ``t_stop``; it lands on it exactly when it
   would otherwise leave a sliver.
3. A step carries its own dense output, valid on ``[t_old, t]``.
4. Numerical trouble is a value (``Step.failure``), never an exception. The
   method stays at the last accepted point. An exception that the problem
   raises is trouble too: its text goes into the failure, itself into
   ``Step.cause``. ``KeyboardInterrupt`` passes through.
5. ``restart(t, y)`` forgets all history (after an event) and keeps counters.
6. All work is counted in ``method.work``.
7. A method knows nothing of events, modes, recording or progress, unless it says so
   (``steps_over_events``, ``looks_itself``): all that it may be asked for is below.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any, ClassVar, NamedTuple, Protocol

import numpy as np
from numpy.typing import ArrayLike

from ..numerics.arrays import Array, Indices

__all__ = ["KeptCourse", "Method", "Problem", "Step", "Work", "is_singular"]


class Problem(Protocol):
    """An initial value problem y' = slope(t, y)."""

    size: int

    def slope(self, t: float, y: Array) -> Array:
        """Derivative of every unknown."""

    def slope_jacobian(self, t: float, y: Array) -> Any:
        """d slope / d y as a scipy CSC matrix of fixed pattern with a full stored diagonal."""


@dataclass
class Work:
    """What a run has cost, in evaluations (never in seconds).

    A count that a library does not tell (rejected steps of Radau and BDF) stays 0.
    """

    steps: int = 0
    rejected: int = 0
    residuals: int = 0  # right-hand sides
    jacobians: int = 0
    factorizations: int = 0

    def add(self, steps: int, rejected: int, residuals: int, jacobians: int, factorizations: int
            ) -> None:
        """Count more of them."""
        self.steps += steps
        self.rejected += rejected
        self.residuals += residuals
        self.jacobians += jacobians
        self.factorizations += factorizations


class Step(NamedTuple):
    """One accepted step from ``t_old`` to ``t``, or the report of a failure."""

    t_old: float
    t: float
    y: Array
    dense: Callable[[ArrayLike], Array]  # (k,) times -> (n, k); scalar -> (n,)
    failure: str = ""  # empty when accepted
    worst: tuple[int, ...] = ()  # of a failure: the unknowns to look at, worst first
    cause: Exception | None = None
    clear: bool = False  # the method has looked itself: no relation crosses in it
    crossed: Indices | None = None  # or these, at its end

    @classmethod
    def failed(cls, t: float, y: Array, failure: str, worst: Iterable[int] = (),
               cause: Exception | None = None) -> Step:
        """The report of a step that could not be taken from ``(t, y)``."""
        if cause is not None:
            failure = f"{failure}: {type(cause).__name__}: {cause}"

        def stay(times: ArrayLike) -> Array:
            return np.repeat(y[:, None], np.size(times), axis=1).reshape(y.shape + np.shape(times))

        return cls(t, t, y.copy(), stay, failure, tuple(int(i) for i in worst), cause)

    @property
    def by_numbers(self) -> bool:
        """Whether it failed by what the equations come to, not by an exception of their own."""
        return self.cause is None or isinstance(self.cause, ArithmeticError) or is_singular(
            self.cause)


def is_singular(error: Exception) -> bool:
    """Whether a library of linear algebra complains of a matrix, singular or not finite."""
    text = str(error)
    return isinstance(error, np.linalg.LinAlgError) or "singular" in text or "infs or NaNs" in text


class KeptCourse(ABC):
    """The steps of an episode, or of several, as they are read.

    Attributes
    ----------
    start, end : the start is that of the episode, also where steps have been forgotten
    carries : whether states that constraints tie, and algebraic unknowns, are kept too
    """

    start: float
    end: float
    carries: bool = False

    @property
    @abstractmethod
    def size(self) -> int:
        """Number of unknowns."""

    @property
    @abstractmethod
    def t(self) -> Array:
        """Start and the end of every step that is still known as one."""

    @property
    @abstractmethod
    def nbytes(self) -> int:
        """Memory of what is kept."""

    def steps(self) -> tuple[Array, Array, Indices]:
        """Starts and ends of the steps, and the episodes that they are in.

        An episode without steps has one of no length.
        """
        t = self.t
        t = t if len(t) > 1 else t[[0, 0]]
        return t[:-1], t[1:], np.zeros(len(t) - 1, dtype=int)

    @abstractmethod
    def append(self, step: Step, until: float | None = None) -> None:
        """Add an accepted step, or its part up to an event at ``until``."""

    @abstractmethod
    def thin(self) -> float:
        """Give up about half of what is kept; returns by how much values are off from then on."""

    @abstractmethod
    def forget(self) -> None:
        """Give up all but the end: steps go on from there."""

    @abstractmethod
    def _values_at(self, times: Array) -> Array:
        """(k, n) values at times."""

    def states(self, times: Array, number: Indices) -> Array | None:
        """(k, n) all states, and algebraic unknowns where it carries them, in SI units.

        None where it keeps integrated unknowns alone; ``number`` is of the episode at each time.
        """
        return None

    def __call__(self, t: ArrayLike) -> Array:
        """Values at times ``t``, (n, k); a scalar time gives (n,).

        Raises
        ------
        ValueError
            For a time outside the range.
        """
        asked = np.asarray(t, dtype=float)
        return self._values_at(asked.reshape(-1)).T.reshape((self.size, *asked.shape))

    @staticmethod
    def _refuse_failed(step: Step) -> None:
        if step.failure:
            raise ValueError(f"a failed step has no course to keep: {step.failure}")


class Method(ABC):
    """A numerical method bound to a problem and a current point.

    Parameters
    ----------
    problem : Problem
    t, y : current time and unknowns
    t_end : end of the run, for the choice of the first step
    rtol : relative tolerance
    atol : (n,) absolute tolerance of every unknown
    first_step, max_step : optional bounds of an adaptive step
    step : the constant step of a fixed-step method
    """

    name: ClassVar[str]
    order: ClassVar[int]
    implicit: ClassVar[bool] = False
    fixed_step: ClassVar[bool] = False
    #: Its steps are those that others have published: over kinks of states, too.
    as_published: ClassVar[bool] = False
    #: Takes what sticks and touches from step to step: events are not searched for.
    steps_over_events: ClassVar[bool] = False
    #: Times the tolerances of a run, those beside tables over states and steep functions of time:
    #: each corner begins a method anew, and what its steps miss adds up over thousands of them.
    beside_bends: ClassVar[float] = 0.1
    #: Takes many steps in one call, and looks for crossings and at pieces of time in them:
    #: it is told which by :meth:`watch`, and restarted instead of made anew.
    looks_itself: ClassVar[bool] = False
    #: Carries events out itself, as it is told by :meth:`carry_out`.
    carries_out_events: ClassVar[bool] = False
    #: Of a system: set-valued laws of the method's own, instead of those decided at events.
    laws_of: ClassVar[Any] = None

    course: KeptCourse | None = None  # all of its steps, where it keeps them itself
    carries: bool = False  # follows states that constraints tie
    keeps_past: bool = False  # of delayed signals, as it goes
    unsure: bool = False  # may be no method for what comes: to be asked again
    free: Indices | tuple[()] = ()  # states that it integrates, of a method that looks itself
    #: Whether it has ended at a known instant that others must carry out.
    waits: bool = False
    #: Whether stability alone has just held its steps, at a point that is no solution.
    goes_nowhere: bool = False
    own_events: object = None  # what happens at events that it carries out itself, if any
    passed: Any = None  # the events that it has carried out in the last step, if any
    pieces: Array | None = None  # borders of pieces of time, of a method that looks itself

    def __init__(self, problem: Problem, t: float, y: Array, *, t_end: float, rtol: float,
                 atol: Array, first_step: float | None = None, max_step: float = np.inf,
                 step: float | None = None) -> None:
        self.problem = problem
        self.t = float(t)
        self.y = np.array(y, dtype=float)
        self.t_end = float(t_end)
        self.rtol = float(rtol)
        self.atol = np.asarray(atol, dtype=float)
        if self.atol.shape != (problem.size,):
            self.atol = np.broadcast_to(self.atol, (problem.size,))
        self.first_step = first_step
        self.max_step = max_step
        self.step_size = step
        self.work = Work()

    @classmethod
    def fits(cls, problem: Any, t: float) -> bool:
        """Whether the time up to the next event can be run by this method."""
        return True

    @classmethod
    def for_run(cls, problem: Any, t: float, y: Array, **options: Any) -> Method:
        """A method at the start of a run, or of a stretch of it that another one cannot take."""
        return cls(problem, t, y, **options)

    def rest(self) -> None:  # noqa: B027  # most have nothing to do then
        """Told when a run has come to its end: nobody asks the method any more."""

    def watch(self, known: Array, hints: Array, alone: Array, slack: Array, instant: float) -> None:
        """Told to a method that looks itself: relations that are not searched for, those that
        others must judge, those of no law, what margins may be below zero by, and from when on
        what others would judge is known."""
        raise NotImplementedError(f"{self.name} does not look for crossings itself")

    def carry_out(self, rules: Any) -> None:
        """Told to a method that looks itself: what it may carry out at events.

        Every event that it passes ends its course.
        """
        raise NotImplementedError(f"{self.name} does not carry out events")

    def usual_step(self, last: Step) -> float:
        """How long its steps have been lately, up to the last one."""
        return last.t - last.t_old

    @property
    def largest(self) -> Array | None:
        """The largest margins since the restart, of a method that looks itself."""
        return None

    @property
    def holds_itself(self) -> bool:
        """Whether nothing but its own errors bounded the last step, where that is told."""
        return False

    def _stopped(self, reason: str, worst: Iterable[int] = (), cause: Exception | None = None
                 ) -> Step:
        """The report of a step that could not be taken from the present point."""
        return Step.failed(self.t, self.y, f"{self.name} stopped at t = {self.t:.9g}: {reason}",
                           worst, cause)

    @abstractmethod
    def advance(self, t_stop: float) -> Step:
        """Take one accepted step, not beyond ``t_stop``."""

    @abstractmethod
    def restart(self, t: float, y: Array) -> None:
        """Continue from a new point without any memory of the old ones."""
