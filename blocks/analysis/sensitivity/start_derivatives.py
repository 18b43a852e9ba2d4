"""How does the start of a run change with parameters and initial targets?

Directly, where states start at their own targets; by the equations of the start, where these are
met; else by differences of consistent starts, extrapolated.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache
from typing import Any

import casadi as ca
import numpy as np
from scipy.interpolate import KroghInterpolator

from ...exceptions import BlocksError, ParameterError, brief
from ...initialisation.lexicographic import lexicographic_step
from ...initialisation.nominal_values import Nominals, find_nominals
from ...initialisation.targets import (
    LEVELS,
    TargetFunctions,
    class_values,
    collect_targets,
    target_sizes,
)
from ...language.compiled_model import CompiledModel
from ...numerics.arrays import Array, Flags, Indices
from ...numerics.tolerances import BLOCK_SINGULAR, FULFILLED
from ...simulation.actions import Resets, Samplings
from ...simulation.recording import RunRecording
from ...simulation.run_start import RunStart, given_discrete_values
from ...simulation.time_events import TimeEvents
from ...studies.settings import Setting, find_setting
from ...system import System
from ...system.evaluator import Evaluator
from ...system.problem import Problem
from ...units import from_si, to_si

__all__ = ["StartDerivatives", "given_values", "moved_settings", "start_derivatives", "varied"]

STEP = 1e-3  # of a value, or of 1 in its unit where it is zero
FACTORS = 1.0, 0.5, -1.0, -0.5  # of it, to either side
JUMP = 1e-9  # of a value: what a start changes by less does not jump
LINEAR = 1e-13  # of a value: what is off the middle between two others by no more


@dataclass(frozen=True)
class StartDerivatives:
    """Derivatives of the parameter vector, and of states and discrete values at the start."""

    p: Array  # a column per setting, as x and d
    x: Array
    d: Array
    kinks: list[str]  # settings with which the start changes its modes
    sampled: Flags  # settings of which ``d`` says only what is before the first samples


def moved_settings(model: CompiledModel, paths: Sequence[str], where: str) -> list[Setting]:
    """The parameters and initial targets of these paths."""
    if isinstance(paths, str):
        paths = [paths]
    if not isinstance(paths, Sequence) or not all(isinstance(path, str) for path in paths):
        raise ParameterError(where, "takes paths of parameters and initial values, but is "
                             f"{brief(paths)}.", 'Write for example ["spring.stiffness", '
                             '"block.v"].', given=paths)  # fmt: skip
    out = []
    for path in paths:
        setting = find_setting(model, path, paths, where)
        if setting.kind not in ("parameter", "target"):
            raise ParameterError(where, f"names {path}, which is no number of the model that could "
                                 "change by a little.", "Name parameters or initial values.")
        part: Any = setting.component
        if len(setting.instances) > 1 and setting.kind == "target" and np.ndim(
                part._targets.get(setting.declared.name, (0.0, ""))[0]):
            raise ParameterError(where, f"names {path}, which has a value per instance.",
                                 "Name one of them by its number, or give all one value.")
        if setting.kind == "target" and _target_of(setting) is None:
            raise ParameterError(where, f"names {path}, which has no initial value: the start "
                                 "follows from others.", f"Give it one ({path} = …), or name "
                                 "values that have been given.")  # fmt: skip
        if setting.kind == "parameter" and callable(part._values.get(setting.declared.name)):
            raise ParameterError(where, f"names {path}, which is a function of time.",
                                 "Name a parameter that has one value.")
        out.append(setting)
    return out


def given_values(settings: Sequence[Setting]) -> Array:
    """The present values of the settings, in SI units."""
    out = []
    for setting in settings:
        part: Any = setting.component
        name, unit = setting.declared.name, setting.declared.unit
        value = _target_of(setting) if setting.kind == "target" else to_si(
            getattr(part, name), unit, setting.path)
        value = np.broadcast_to(0.0 if value is None else value, part.size)
        out.append(float(value[setting.instances[0]]))
    return np.array(out)


def _target_of(setting: Setting) -> Any:
    """The initial value of a variable in SI units, given or its own; None where it has none."""
    part: Any = setting.component
    value = part._targets.get(setting.declared.name, (None, ""))[0]
    return setting.declared.initial_of(part) if value is None else value


@contextmanager
def varied(model: CompiledModel) -> Iterator[Callable[[Setting, float], None]]:
    """Give settings values in SI units for a while."""
    def give(setting: Setting, value: float) -> None:
        setting.apply(from_si(value, setting.declared.unit))

    with model.compiled.restored([model, *model.parts.values()]):
        yield give


def start_derivatives(model: CompiledModel, settings: Sequence[Setting], recording: RunRecording
                      ) -> StartDerivatives:
    """How parameters, states and discrete values at the start of a run follow settings."""
    system, first = recording.system, recording.episodes[0]
    sampled = system.nd > len(system.tables.slots)
    # targets follow from efforts that the start decides on, beside its equations
    hangs = bool(TargetFunctions.of(system, collect_targets(system).given.slots).see_efforts.any())
    # discrete values follow from more than expressions
    acts = sampled and (Resets.of(system).active or bool(Samplings(
        system, TimeEvents(system, recording.p, 0.0, 0.0)).in_python))
    unseen = acts or hangs or _strikes(model, recording)
    seen = None if unseen else _seen_by_states(system, first.x)
    equations = cache(lambda: _equations(model, recording))
    base: list[Any] | None = None
    columns: list[tuple[Array, ...]] = []
    kinks, before_samples = [], []
    for setting in settings:
        value = float(given_values([setting])[0])
        column = None if seen is None else _implicit_column(model, equations, setting, value, seen)
        before_samples.append(sampled and column is not None)
        if column is None:
            base = base or _start(model, first.start)
            free = np.zeros(0, dtype=int) if hangs else _held(recording, base)
            column, kink = _column(model, setting, value, base, first.start, free)
            if kink:
                kinks.append(setting.path)
        columns.append(column)
    sizes = len(recording.p), system.nx, system.nd
    p, x, d = (np.array([c[k] for c in columns]).T.reshape(n, len(columns))
               for k, n in enumerate(sizes))
    return StartDerivatives(p, x, d, kinks, np.array(before_samples, dtype=bool))


def _held(recording: RunRecording, base: list[Any]) -> Indices:
    """Elements that stick or touch at a start, and beside it do so again at once."""
    laws = recording.problem.laws
    return np.zeros(0, dtype=int) if laws is None else np.flatnonzero(
        (base[3] == 0) & ~laws.elements.valve)


def _strikes(model: CompiledModel, recording: RunRecording) -> bool:
    """Whether a run starts with an impact, after which states are others."""
    laws, first = recording.problem.laws, recording.episodes[0]
    if laws is None or not laws.elements.contact.any():
        return False
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        problem, _ = RunStart(model, first.start).consistent()
    return bool(np.any(np.abs(problem.x - first.x) > JUMP * problem.scale_x))


def _seen_by_states(system: System, x: Array) -> ca.SX:
    """What the states at the start follow from: nothing, where each starts at its own target.

    Those that constraints tie follow from these and from the targets, whatever else there is.
    """
    targets, tape = collect_targets(system), system.tape
    slots, states = targets.given.slots, tape.reduced.states
    classes = system.flat.class_of[slots]
    if not system.clusters and set(classes.tolist()) <= set(states.tolist()) and np.array_equal(
            class_values(system, targets)[states], x):
        return ca.SX(0, 1)
    wanted = TargetFunctions.of(system, slots).expression
    seen = ca.vertcat(tape.constraints, wanted)
    return ca.vertcat(seen, tape.residual) if ca.depends_on(seen, tape.z) else seen


def _equations(model: CompiledModel, recording: RunRecording) -> StartEquations:
    """Return the equations of the start of a run."""
    problem, t = recording.replay.at_start(), recording.episodes[0].start
    problem.tie(np.zeros(0, dtype=int))
    return StartEquations(problem, t, find_nominals(recording.system, model.compiled.nominal_table))


def _given(system: System) -> list[Array]:
    """Parameters, targets and discrete values as they are given."""
    return [system.parameters(), collect_targets(system).given.values,
            given_discrete_values(system)]


def _implicit_column(model: CompiledModel, equations: Callable[[], StartEquations],
                     setting: Setting, value: float, seen: ca.SX) -> tuple[Array, ...] | None:
    """The derivatives by one setting, where the start meets its equations."""
    system, step = model.compile(), STEP * (abs(value) or 1.0)
    base, beside = _given(system), dict[float, list[Array]]()
    for factor in FACTORS:
        with varied(model) as give:
            try:
                give(setting, value + factor * step)
                if model.compile() is not system:
                    return None
                beside[factor] = _given(system)
            except BlocksError:  # beyond a bound, say
                continue
        if factor == 0.5 and len(beside) == 2 and all(
                np.allclose(far + here, 2 * near, rtol=LINEAR, atol=0)
                for far, near, here in zip(beside[1.0], beside[0.5], base, strict=True)):
            break  # they lie on lines
    p, targets, d = (_difference({f: one[k] for f, one in beside.items()}, base[k], step)
                     for k in range(3))
    x = _moved_directly(system, p, targets, seen)
    if x is None:
        if not equations().met:
            return None
        x = equations().moved(p, targets)
    return p, x, d


def _moved_directly(system: System, p: Array, targets: Array, seen: ca.SX) -> Array | None:
    """How states follow parameters and their own targets; None where others have a say."""
    if seen.numel():
        sees = ca.depends_on(seen, system.tape.p[np.flatnonzero(p).tolist()])
        return None if sees or targets.any() else np.zeros(system.nx)
    slots, x = collect_targets(system).given.slots, np.zeros(system.nx)
    classes = system.flat.class_of[slots]
    for k in np.flatnonzero(targets):
        if np.count_nonzero(classes == classes[k]) > 1:
            return None
        x[system.tape.reduced.states == classes[k]] = targets[k] * system.flat.sign_of[slots[k]]
    return x


def _column(model: CompiledModel, setting: Setting, value: float, base: list[Any], t: float,
            free: Indices) -> tuple[tuple[Array, ...], bool]:
    """The derivatives by one setting, and whether the start decides otherwise beside it, but on
    elements that are ``free`` to.

    Nan where it does on both sides, and jumps.
    """
    starts = dict[float, list[Any]]()
    step = STEP * (abs(value) or 1.0)
    for factor in FACTORS:
        with varied(model) as give:
            try:
                give(setting, value + factor * step)
                starts[factor] = _start(model, t, (base[1], base[4]))
            except BlocksError:  # beyond a bound, say
                continue
    steady = {f: s for f, s in starts.items() if not _jumps(starts, base, f)}
    fine = {f: s for f, s in steady.items()
            if np.array_equal(np.delete(s[3], free), np.delete(base[3], free))}
    kink = len(fine) < len(starts)
    p, x, d = (_difference({f: s[k] for f, s in (fine or steady or starts).items()}, base[k], step)
               for k in range(3))
    return (p, x, d) if steady or not starts else (p, x * np.nan, d), kink


def _jumps(starts: dict[float, list[Any]], base: list[Any], side: float) -> bool:
    """Whether states or discrete values jump beside a start: half a step moves them as far."""
    far, near = (starts.get(np.sign(side) * part, base) for part in (1.0, 0.5))
    one, half, here = (np.concatenate(start[1:3]) for start in (far, near, base))
    moved = np.abs(one - here)
    real = moved > JUMP * np.maximum(1e-3, np.maximum(np.abs(one), np.abs(here)))
    return bool(np.any(real & (np.abs(one - 2 * half + here) > 0.5 * moved)))


def _difference(values: dict[float, Array], base: Array, step: float) -> Array:
    """The slope at a start of the polynomial through it and those beside it, on both sides or one;
    nothing where none has both of its points."""
    beside = [part * side for side in (1.0, -1.0) for part in (1.0, 0.5)
              if {side, 0.5 * side} <= values.keys()]
    polynomial = KroghInterpolator(step * np.array([0.0, *beside]),
                                   [base, *(values[factor] for factor in beside)])
    return np.asarray(polynomial.derivative(0.0)) if beside else np.zeros(len(base))


def _start(model: CompiledModel, t: float, near: tuple[Array, Array] | None = None) -> list[Any]:
    """Parameters, states, discrete values; modes, which do not change by little; torn unknowns."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # the run itself tells them
        problem, _ = RunStart(model, t, near=near).decided()
    modes = np.zeros(0) if problem.laws is None else problem.laws.modes.copy()
    return [problem.p.copy(), problem.x.copy(), problem.d.copy(), modes, problem.z.copy()]


class StartEquations:
    """Constraints and targets at a start, to first order.

    ``nominals`` weigh targets against each other.
    """

    def __init__(self, problem: Problem, t: float, nominals: Nominals) -> None:
        self._system, self._scale = problem.system, problem.scale_x
        system, targets = self._system, collect_targets(problem.system).given
        outputs = TargetFunctions.of(system, targets.slots)
        self._size = target_sizes(system, targets.slots, nominals)
        self._levels = [targets.levels == k for k in range(len(LEVELS))]
        self._by_p, self._constraints_by_p = self._by_parameters(problem, t, outputs)
        of_targets = outputs.slopes(problem, t).toarray() * self._scale / self._size[:, None]
        missed = (outputs.values(problem, t) - targets.values) / self._size
        constrained = bool(system.tape.constraints.numel())
        self._jacobians = [
            outputs.constraint_slopes(problem, t).toarray() * self._scale if constrained else None,
            *(of_targets[mine] if mine.any() else None for mine in self._levels)]
        # whether all targets that have a say are met: a compromise follows otherwise
        self.met = self._are_met([np.zeros(0), *(missed[mine] for mine in self._levels)])

    def _by_parameters(self, problem: Problem, t: float, outputs: TargetFunctions
                       ) -> tuple[Array, Array]:
        """Derivatives of targets and of constraints by all parameters, torn unknowns following."""
        system, at = self._system, problem.arguments(t)

        def made() -> Evaluator:
            return system.jacobian(ca.vertcat(outputs.expression, system.tape.residual,
                                              system.tape.constraints), system.tape.p)

        count, nz = len(outputs.classes), system.nz
        rows = system.once(f"start by parameters {outputs.classes.tolist()}", made).sparse(*at)
        by_p: Array = rows[:count].toarray()
        if nz:
            by_p -= outputs.by_z.sparse(*at).toarray() @ outputs.torn_for(
                problem, t, rows[count : count + nz].toarray())
        return by_p, rows[count + nz :].toarray()

    def _are_met(self, missed: list[Array]) -> bool:
        """Whether no target is off that could move the start."""
        null = np.eye(self._system.nx)
        for j, r in zip(self._jacobians, missed, strict=True):
            if j is None or not null.shape[1]:
                continue
            reduced = j @ null
            moves = np.abs(reduced).max(axis=1) > np.sqrt(BLOCK_SINGULAR)
            if len(r) and (np.abs(r[moves]) > 10 * FULFILLED).any():
                return False
            _, s, vt = np.linalg.svd(reduced)
            null = null @ vt[int(np.sum(s > BLOCK_SINGULAR * max(1.0, s.max(initial=0.0)))) :].T
        return True

    def moved(self, p: Array, targets: Array) -> Array:
        """Change of the states with small changes of the parameters and of what targets ask."""
        off = (self._by_p @ p - targets) / self._size
        _, step = lexicographic_step(
            self._jacobians, [self._constraints_by_p @ p, *(off[mine] for mine in self._levels)],
            self._system.nx)
        return step * self._scale
