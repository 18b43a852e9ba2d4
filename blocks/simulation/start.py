"""What does a run decide at its start, before it moves?"""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np

from ..initialisation.initial_values import InitialWarning
from ..initialisation.nominal_values import find_nominals
from ..solvers import method_named
from ..system.problem import Problem
from ..system.system import System
from .driver import Driver, Settings
from .recording import RunRecording

__all__ = ["begun"]

MOMENT = 1e-9  # s of the run that are prepared for it


def begun(model: Any, system: System) -> tuple[Problem, np.ndarray]:
    """The problem at its start, relations and modes decided, and the slopes of all states there.

    Raises
    ------
    BlocksError, AlgebraicFailure
        What a run refuses of its start.
    """
    settings = Settings(0.0, MOMENT, method_named("DOP853"), 1e-6, np.zeros(0), np.inf, None, None)
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore", InitialWarning)
        problem, _ = model._start(system, find_nominals(system, model._nominal_table), 0.0, Problem)
        recording = RunRecording(model.name, system, problem, problem.p)
        Driver(system, problem, recording, settings, lambda p: np.ones(p.size)).begin(0.0)
        if system.clusters:
            problem.choose_states(0.0)
        slope = np.zeros(system.nx)
        slope[problem.free] = problem.slope(0.0, problem.start_vector())
    return problem, slope
