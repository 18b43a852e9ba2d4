"""Where does a run start, and what does it decide there before it moves?"""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

from ..initialisation.initial_values import InitialWarning, initialise
from ..initialisation.nominal_values import Nominals, find_nominals
from ..initialisation.start import Start
from ..numerics.arrays import Array
from ..solvers import method_named
from ..system.problem import Problem
from ..system.system import System
from .driver import Driver
from .recording import RunRecording
from .settings import Settings
from .time_events import TimeEvents

if TYPE_CHECKING:
    from ..model import Model

__all__ = ["consistent_start", "first_decisions", "start_of"]

MOMENT = 1e-9  # s of the run that are prepared for it
MOST_ROUNDS = 20  # of relations and initial values that depend on each other


def consistent_start(system: System, nominals: Nominals, t: float, kind: type[Problem] = Problem,
                     laws: Callable[[System], Any] | None = None) -> tuple[Problem, Start]:
    """A problem at its consistent start, and what became of the initial targets.

    Parameters
    ----------
    system, nominals : what is run, and how large its variables are
    t : when
    kind : Problem or DaeProblem
    laws : of a system: its set-valued laws, where a method has its own

    Raises
    ------
    InitialisationError
        If the equations alone have no solution near the targets.
    """
    problem = kind(system, system.parameters(),
                   nominals.power_of_two(system.tape.reduced.states),
                   nominals.power_of_two(system.tape.z_classes))
    _give_discrete_values(system, problem)
    system.tables.fill(problem.d, t)
    if system.nu:
        problem.laws = (laws or _laws_at_events)(system)
    for _ in range(MOST_ROUNDS):  # relations and initial values depend on each other
        start = initialise(system, problem, nominals, t)
        if not system.nm:
            break
        time_events = TimeEvents(system, problem.p, t, t)
        holding = time_events.holding(problem.crossings_here(t), t)
        if np.array_equal(holding, problem.m):
            break
        problem.m[:] = holding
    return problem, start


def start_of(model: Model) -> tuple[Problem, Start]:
    """The same of a model as it is, at 0 s."""
    system = model.compile()
    return consistent_start(system, find_nominals(system, model._nominal_table), 0.0)


def _give_discrete_values(system: System, problem: Problem) -> None:
    """Discrete variables start at their targets, or at what is declared."""
    for f, i, offset in system.tape.discrete_layout:
        family = system.network.families[f]
        local = family.kernel.variables[i]
        for start, m in zip(family.starts, family.members, strict=True):
            value = m._targets.get(local.name, (local.declared.initial or 0.0, ""))[0]  # type: ignore[attr-defined]
            problem.d[offset + start : offset + start + m.size] = value


def _laws_at_events(system: System) -> Any:
    """Set-valued laws that are decided at events."""
    from ..nonsmooth.modes.choice import set_valued_laws
    from ..nonsmooth.modes.load_laws import with_loads

    return with_loads(system, set_valued_laws(system))


def first_decisions(model: Model, system: System) -> tuple[Problem, Array]:
    """The problem at its start, relations and modes decided, and the slopes of all states there.

    Raises
    ------
    BlocksError, AlgebraicFailure
        What a run refuses of its start.
    """
    settings = Settings(0.0, MOMENT, method_named("DOP853"), 1e-6)
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore", InitialWarning)
        problem, _ = start_of(model)
        recording = RunRecording(model.name, system, problem, problem.p)
        Driver(recording, settings, lambda p: np.ones(p.size)).begin(0.0)
        if system.clusters:
            problem.choose_states(0.0)
        slope = np.zeros(system.nx)
        slope[problem.free] = problem.slope(0.0, problem.start_vector())
    return problem, slope
