"""How does the start of a run change with parameters and initial targets?

By differences of consistent starts, extrapolated.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.interpolate import KroghInterpolator

from ...exceptions import BlocksError, ParameterError, brief
from ...initialisation.targets import TargetFunctions, collect_targets
from ...language.compiled_model import CompiledModel
from ...numerics.arrays import Array, Indices
from ...simulation.actions import Resets, Samplings
from ...simulation.recording import RunRecording
from ...simulation.run_start import RunStart, given_discrete_values
from ...simulation.time_events import TimeEvents
from ...studies.settings import Setting, find_setting
from ...units import from_si, to_si

__all__ = ["StartDerivatives", "given_values", "moved_settings", "start_derivatives", "varied"]

STEP = 1e-3  # of a value, or of 1 in its unit where it is zero
FACTORS = 1.0, 0.5, -1.0, -0.5  # of it, to either side
JUMP = 1e-9  # of a value: what a start changes by less does not jump


@dataclass(frozen=True)
class StartDerivatives:
    """Derivatives of the parameter vector, and of states and discrete values at the start."""

    p: Array  # a column per setting, as x and d
    x: Array
    d: Array
    kinks: list[str]  # settings with which the start changes its modes
    sampled: bool  # whether ``d`` says only what is before the first samples


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
    # targets follow from efforts that the start decides on, beside its equations
    hangs = bool(TargetFunctions.of(system, collect_targets(system).given.slots).see_efforts.any())
    # first samples are differentiated apart, where nothing else assigns discrete values
    before = system.nd > len(system.tables.slots) and not (
        Resets.of(system).active or Samplings(
            system, TimeEvents(system, recording.p, 0.0, 0.0)).in_python)
    base = _start(model, first.start, before)
    free = np.zeros(0, dtype=int) if hangs else _held(recording, base)
    columns, kinks = [], []
    for setting in settings:
        value = float(given_values([setting])[0])
        column, kink = _column(model, setting, value, base, first.start, before, free)
        if kink:
            kinks.append(setting.path)
        columns.append(column)
    sizes = len(recording.p), system.nx, system.nd
    p, x, d = (np.array([c[k] for c in columns]).T.reshape(n, len(columns))
               for k, n in enumerate(sizes))
    return StartDerivatives(p, x, d, kinks, bool(before))


def _held(recording: RunRecording, base: list[Any]) -> Indices:
    """Elements that stick or touch at a start, and beside it do so again at once."""
    laws = recording.problem.laws
    return np.zeros(0, dtype=int) if laws is None else np.flatnonzero(
        (base[3] == 0) & ~laws.elements.valve)


def _column(model: CompiledModel, setting: Setting, value: float, base: list[Any], t: float,
            before: bool, free: Indices) -> tuple[tuple[Array, ...], bool]:
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
                starts[factor] = _start(model, t, before, (base[1], base[4]))
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


def _start(model: CompiledModel, t: float, before: bool, near: tuple[Array, Array] | None = None
           ) -> list[Any]:
    """Parameters, states, discrete values, those ``before`` the first samples where it is so said;
    modes, which do not change by little; torn unknowns."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # the run itself tells them
        problem, _ = RunStart(model, t, near=near).decided()
    modes = np.zeros(0) if problem.laws is None else problem.laws.modes.copy()
    d = given_discrete_values(problem.system) if before else problem.d.copy()
    return [problem.p.copy(), problem.x.copy(), d, modes, problem.z.copy()]
