"""At which point is a model linearised: states, unknowns, inputs and modes?"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from ...exceptions import ParameterError, brief
from ...language.compiled_model import CompiledModel
from ...numerics.arrays import Array, Indices
from ...results import Result
from ...system.evaluator import Arguments
from ...system.problem import Problem
from ...system.system import System
from ...units import to_si, unit

__all__ = ["Point", "initial_point", "of_problem", "point_of", "run_point"]


@dataclass(frozen=True, eq=False)
class Point:
    """Where a system is, and in which modes."""

    system: System
    t: float  # this and the next six are what its functions take
    x: Array
    z: Array
    p: Array
    m: Array
    d: Array
    u: Array
    # of the elements of set-valued laws: 0 stuck or closed, 1 forward, -1 backward or open
    modes: Indices
    scale_x: Array  # nominal values of states
    scale_z: Array  # of torn unknowns
    title: str  # where that is, in words
    sides: Array | None = None  # of kinks, where they are not those that the point shows

    @property
    def arguments(self) -> Arguments:
        return self.t, self.x, self.z, self.p, self.m, self.d, self.u

    def with_modes(self, modes: Indices) -> Point:
        """Return the point with other modes."""
        return replace(self, modes=np.array(modes, dtype=int))


def of_problem(problem: Problem, t: float, title: str) -> Point:
    """Where a problem is at present."""
    for family in problem.system.network.families:
        if family.kernel.load_laws:
            raise ParameterError(
                family.path(0), "its friction depends on the load that acts on it, which has no "
                "linear model.", "Take law='stribeck' or law='coulomb', which are exact.",
                code="analysis.load")  # fmt: skip
    if problem.delays is not None:
        raise ParameterError(
            "", "the model has delayed signals, which no finite number of states describes.",
            "Take PadeDelay in place of Delay.", code="analysis.delay")  # fmt: skip
    _, x, z, p, m, d, u = problem.arguments(t)
    modes = np.zeros(0, dtype=int) if problem.laws is None else problem.laws.modes
    return Point(problem.system, t, x.copy(), z.copy(), p.copy(), m.copy(), d.copy(), u.copy(),
                 modes.copy(), problem.scale_x, problem.scale_z, title)


def point_of(model: CompiledModel, at: Any) -> Point:
    """The point that a user means: nothing, an operating point, a result, or one with a time."""
    from ...results import Result

    if at is None:
        return initial_point(model)
    if hasattr(at, "point") and isinstance(at.point, Point):
        point: Point = at.point
        _refuse_other(model, point.system)
        return point
    if isinstance(at, Result):
        return run_point(model, at, None)
    if isinstance(at, tuple) and len(at) == 2 and isinstance(at[0], Result):
        return run_point(model, *at)
    raise ParameterError(
        "linearise(at=…)", f"takes an operating point, or an instant of a run, but was given "
        f"{brief(at)}.", "Write at=model.operating_point(…), at=(result, '1.5 s'), or leave it "
        "out for the initial state.", given=at)


def initial_point(model: CompiledModel) -> Point:
    """The start of a run."""
    from ...simulation.run_start import RunStart

    try:
        problem, _ = RunStart(model).decided()
    except np.linalg.LinAlgError:
        model.check().raise_errors()  # which say what is not determined
        raise
    return of_problem(problem, 0.0, "the initial state")


def run_point(model: CompiledModel, result: Result, time: Any) -> Point:
    """An instant of a run; after an event that happens then."""
    from ...simulation.recording import RunRecording

    record = result.recording
    if not isinstance(record, RunRecording):
        raise ParameterError("linearise(at=…)", "was given a run from a file, which holds samples "
                             "and no steps.", "Take the result of model.simulate() itself, or find "
                             "an operating point.")
    if record.chosen is not None:
        raise ParameterError("linearise(at=…)", "this result does not hold all of its run.",
                             "Take the result of model.simulate() without record=….")
    _refuse_other(model, record.system)
    first, last = record.episodes[0].start, record.episodes[-1].end
    t = last if time is None else float(to_si(time, unit("s"), "linearise(at=…)"))
    if not first <= t <= last:
        raise ParameterError("linearise(at=…)", f"{t:g} s is outside the run from {first:g} s to "
                             f"{last:g} s.", given=time)  # fmt: skip
    number = int(record._episode_numbers(np.array([t]), "right")[0])
    problem = record.replay.solved_at(number, t)
    return of_problem(problem, t, f"t = {t:g} s of the run")


def _refuse_other(model: CompiledModel, system: System) -> None:
    if system is not model.compile():
        raise ParameterError("linearise(at=…)", "is of another model, or of this one before its "
                             "structure was changed, or values that it is solved by in another "
                             "order.", "Run the model again, or find its operating point again.")
