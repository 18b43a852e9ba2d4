"""Many runs of one model: what is asked for, and in which order is it done?

Checks everything that can be checked before the first run, then lets a runner
make the runs that are missing, and keeps what comes.
"""

from __future__ import annotations

import logging
from collections.abc import Callable
from typing import Any

import numpy as np

from ..exceptions import ParameterError, UnknownName, warn_user
from ..language.compiled_model import CompiledModel
from ..simulation.interrupts import forget_interrupt, terminable
from ..simulation.method_choice import named_method
from ..simulation.progress import Progress
from ..simulation.settings import end_of_run, options_named, positive_time, refuse_unknown_options
from ..simulation.tolerances import Tolerances
from ..simulation.until import model_until
from ..system import System
from ..units import to_si, unit
from .axes import plan
from .dataset import Gathered, need_xarray
from .executors import runner_for
from .identity import describe
from .outputs import outputs_of
from .runner import Outcomes, Recipe
from .settings import RTOL, SOLVER, Setting
from .store import Store

__all__ = ["sweep"]

LOG = logging.getLogger("blocks.studies")


def sweep(model: CompiledModel, over: Any, duration: Any, *, outputs: Any, every: Any = None,
          samples: int | None = None, seed: int = 0, executor: Any = None, store: Any = None,
          progress: bool | None = None, start_time: Any = "0 s", until: Any = None,
          **options: Any) -> Any:
    """Run a model at many points; see :meth:`blocks.Model.sweep`."""
    need_xarray()
    refuse_unknown_options(options, [*options_named(sweep), *SOLVER], "sweep(over, {0}, outputs=…)")

    t0 = float(to_si(start_time, unit("s"), "sweep(start_time=…)"))
    length = positive_time(duration, "duration")
    end = end_of_run(t0, length)
    if any(finding.code != "parameter.relation" for finding in model.check().errors):
        model.check().raise_errors()  # relations between parameters may hold at the points
    system = model.compile()
    if until is not None:
        model_until(model, until)  # mistakes in it are told before the first run
        options["until"] = until
    points, settings = plan(model, over, samples, seed)
    for setting in settings:
        if setting.component is None and setting.path in options:
            raise UnknownName("sweep()", f"{setting.path} is both varied and given.", "Leave one "
                              "out.", name=setting.path, known=[], nearest=[])
    _refuse_bad(options, system, {s.path for s in settings})
    chosen = outputs_of(outputs, model, system, (t0, end), every, [a.path for a in points.axes])
    study = describe(model, system, points, chosen,
                     {**{k: v if v is None or SOLVER.get(k) != "s" else float(np.asarray(
                         to_si(v, unit("s"), "sweep()"))) for k, v in options.items()},
                      "duration": length, "start": t0})
    gathered = Gathered(study)
    folder = None if store is None else Store.open(store, study)
    for outcome in folder.outcomes() if folder is not None else ():
        gathered.add(outcome)
    done = gathered.done
    missing = [n for n in points.order(settings) if n not in done]
    recipe = Recipe(tuple(s.path for s in settings), chosen, duration,
                    {"start_time": start_time, **options})
    if missing:
        runner = runner_for(model, recipe, executor, points)
        LOG.info("%s: %d runs, %d of them kept before", model.name, len(points), len(done))
        with Progress(progress, len(done), len(points), "runs", counts=True) as tell, (
                terminable()):
            _collect(runner.run(points, missing), gathered, folder, tell)
        gathered.execution = runner.execution
        LOG.info("%s: runs were made %s", model.name, runner.execution)
    else:
        gathered.execution = "not at all: every run was kept before"
    if folder is not None and len(gathered.done) == len(points):
        folder.finish()
    return gathered.to_xarray()


def _collect(outcomes: Outcomes, gathered: Gathered, folder: Store | None,
             tell: Callable[[float], None] | None) -> None:
    """Take in outcomes until there are no more, or Ctrl-C."""
    try:
        for outcome in outcomes:
            gathered.add(outcome)
            if folder is not None:
                folder.add(outcome)
            if tell is not None:
                tell(len(gathered.done))
    except KeyboardInterrupt:
        forget_interrupt()
        warn_user(f"Interrupted: {len(gathered.done)} of {gathered.size} runs were made. The "
                  "others have the status 'not run'.")
    finally:
        if folder is not None:
            folder.flush()
        outcomes.close()


def _refuse_bad(options: dict[str, Any], system: System, varied: set[str]) -> None:
    """Values that every run would refuse."""
    for name in ("step", "max_step", "first_step"):
        if options.get(name) is not None:
            positive_time(options[name], name)
    tolerances = Tolerances(system, options.get("rtol", RTOL), options.get("atol"))
    _ = tolerances.by_class if tolerances.by_dimension else None  # or refused
    if "method" not in options:
        return
    Setting("method", None).accept(options["method"])
    name = options["method"].lower()
    fixed = name != "auto" and named_method(name).fixed_step
    if fixed and options.get("step") is None and "step" not in varied:
        raise ParameterError("sweep(step=…)", f"method {options['method']!r} takes fixed steps.",
                             "Give the step, such as step='1 ms'.")  # fmt: skip
