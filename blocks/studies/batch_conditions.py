"""Which studies can be run many points at once, and what have all their runs in common?

Those of models that run in machine code and have no events, where only parameters and
initial values of single components are varied. With exact friction beside nothing else that is
decided or solved for, they are run one after the other without what they have in common.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from .. import native
from ..initialisation.nominal_values import find_nominals
from ..language.compiled_model import CompiledModel
from ..language.declarations import Variable, declarations
from ..numerics.arrays import Array, Indices
from ..results.values.samples import OVER_TIME
from ..simulation.actions import Requirements, Resets
from ..simulation.auto import PLAINLY, REACH
from ..simulation.run_start import consistent_start
from ..simulation.settings import positive_time
from ..simulation.tolerances import Tolerances
from ..system import Problem, System
from ..system.finite_values import FiniteValues
from ..system.time_functions import TimeFunctions
from ..units import to_si, unit
from .runner import Recipe
from .settings import RTOL, Setting

__all__ = ["Common", "NotBatchable", "common_of", "parameter_entries", "refuse_decisions",
           "refuse_request", "refuse_structure", "refuse_varied"]

BETWEEN = 2000  # steps, after which it is asked whether stability limits them
MOST = 300_000  # steps of a run that may be stiff
LONGER = 4  # times the steps that still pay: then a run is made by itself
KNOWN = {"start_time", "method", "rtol", "atol", "max_step"}


class NotBatchable(Exception):
    """Why the runs of a study cannot be made at once, in a few words."""


@dataclass(frozen=True)
class Common:
    """What all runs have in common."""

    problem: Problem  # the run as the model stands
    p: Array  # parameters
    x: Array  # states at the start
    unknowns: Array  # algebraic ones at the start
    t0: float  # start in s
    t1: float  # end in s
    rtol: float
    max_step: float
    most_steps: int  # of a run, before it is made by itself
    stiff_steps: float  # so many that stability limits are left to one that is
    pieces: Array  # times in s between which no function of time changes much
    atol: float  # absolute tolerance as a fraction of a nominal value
    given_atol: Array  # absolute tolerances of the states, nan where none is given


def refuse_structure(system: System) -> None:
    """Refuse a model that has to decide something in a run, or to solve for something."""
    if system.nu:
        raise NotBatchable("the model has exact friction or contacts")
    if reason := native.why_not(system):
        raise NotBatchable(reason)
    if system.state_tables.tables:
        raise NotBatchable("steps end at the corners of tables over states")
    values = FiniteValues.of(system)
    if len(values.told) > len(values.moving):  # single runs say where these have no value
        raise NotBatchable("what no motion depends on may have no value")
    refuse_decisions(system)


def refuse_decisions(system: System) -> None:
    """Refuse a model that solves for something, or decides on anything but friction."""
    if system.nz or system.clusters:
        raise NotBatchable("algebraic loops and constraints are solved one run at a time")
    if system.nm or system.nd or Resets.of(system).active or Requirements.of(system).values:
        raise NotBatchable("the model has events")
    if any(f.kernel.breaks for f in system.network.families):
        raise NotBatchable("something happens at known times")  # which may depend on what is varied


def refuse_request(recipe: Recipe, *methods: str) -> None:
    """Refuse methods that are not among these, other options, and outputs that need a result."""
    if set(recipe.options) - KNOWN or _method(recipe) not in methods:
        raise NotBatchable("another method was asked for")
    if any(o.reduction == "function" for o in recipe.outputs):
        raise NotBatchable("an output is a function of the result")
    if any(o.reduction in OVER_TIME for o in recipe.outputs):
        raise NotBatchable("an output is an integral over time")


def _method(recipe: Recipe) -> str:
    return str(recipe.options.get("method", "auto")).lower()


def refuse_varied(settings: list[Setting]) -> None:
    """Refuse what is varied and is not one number."""
    for setting in settings:
        part = setting.component
        if setting.kind not in ("parameter", "target") or part is None or part.is_composite:
            raise NotBatchable(f"{setting.path} is not a number of a single component")
        if setting.kind == "parameter" and any(
                isinstance(d, Variable) and d.follows and n not in part._targets
                for n, d in declarations(part).items()):
            raise NotBatchable(f"initial targets follow {setting.path}")
        if setting.instance is not None:
            raise NotBatchable(f"{setting.path} is a number of one of several")
        if setting.kind == "parameter" and np.ndim(setting.declared.default):
            raise NotBatchable(f"{setting.path} is a list")


def common_of(model: CompiledModel, system: System, recipe: Recipe, settings: list[Setting]
              ) -> Common:
    """What all runs have in common, unless it makes them unfit to be made at once."""
    options = recipe.options
    t0 = float(to_si(options.get("start_time", "0 s"), unit("s"), "sweep(start_time=…)"))
    t1 = t0 + positive_time(recipe.duration, "duration")
    rtol, limit = options.get("rtol", RTOL), options.get("max_step")
    max_step = np.inf if limit is None else positive_time(limit, "max_step")
    problem = _begun(model, system, t0)
    if not system.nu:  # of friction the rate at the start says little
        with np.errstate(all="ignore"):
            rate = problem.fastest_rate(t0, problem.solver_vector())
        steps = rate * (t1 - t0) / REACH
        if steps > MOST:
            raise NotBatchable("the model is stiff")
    p, x = problem.p.copy(), problem.x.copy()
    unknowns = np.concatenate([problem.z, np.zeros(1)])
    pieces = _pieces(system, problem, t0, t1, settings)
    tolerances = Tolerances(system, rtol, options.get("atol"))
    given = tolerances.by_class[system.tape.reduced.states]
    return Common(problem, p, x, unknowns, t0, t1, rtol, max_step,
                  int(LONGER * max(MOST, (t1 - t0) / max_step)),
                  PLAINLY if _method(recipe) == "auto" else np.inf, pieces,
                  tolerances.factor, given)


def _begun(model: CompiledModel, system: System, t0: float) -> Problem:
    """The problem at its start; no initial value may be solved for."""
    with np.errstate(all="ignore"):
        problem, start = consistent_start(system, find_nominals(
            system, model.compiled.nominal_table), t0)
    given = start.targets.levels < 4
    classes = system.flat.class_of[start.targets.slots[given]]
    if not np.isin(classes, system.tape.reduced.states).all() or not start.met[given].all():
        raise NotBatchable("initial values have to be solved for")
    return problem


def _pieces(system: System, problem: Problem, t0: float, t1: float, settings: list[Setting]
            ) -> Array:
    """The pieces of the functions of time, which must be the same in all runs."""
    functions = TimeFunctions(system, problem.p, t0, t1, np.zeros(0))
    if functions.end < np.inf:
        raise NotBatchable("its functions of time have too many periods")
    if any(np.isin(parameter_entries(system, s), functions.parameters).any() for s in settings
           if s.kind == "parameter"):
        raise NotBatchable("its functions of time are varied")
    return functions.pieces


def parameter_entries(system: System, setting: Setting) -> Indices:
    """Entries of the parameter vector that a setting fills; none that no equation uses."""
    part: Any = setting.component
    f, first = system.network.place[part.path]
    offset, _ = system.tape.parameter_layout.get((f, setting.declared.name), (None, 0))
    return np.zeros(0, dtype=int) if offset is None else offset + first + setting.instances
