"""Which initial targets do variables have, and how do these follow from the states?"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import casadi as ca
import numpy as np

from ..language.declarations import Variable
from ..numerics import sparse as sp
from ..numerics.arrays import Array, Flags, Indices
from ..numerics.tolerances import DIRECTION_STEP
from ..system.evaluator import Evaluator
from ..system.problem import Problem
from ..system.system import System
from .lexicographic import lexicographic_step
from .nominal_values import Nominals, own_nominals

__all__ = ["LEVELS", "NO_TARGET", "USERS", "Trials", "TargetFunctions", "Targets", "class_values",
           "collect_targets", "idle_targets", "least_values", "target_sizes"]  # fmt: skip

LEVELS = ("high", "low", "default high", "default low")  # in the order in which they are met
USERS = 2  # levels below are those of targets that users gave
NO_TARGET = len(LEVELS)  # level of a guess


@dataclass
class Trials:
    """Points that a search for a start may still try."""

    left: int = 250

    def refused(self) -> None:
        """Count one where no run begins for what it costs: all its modes were tried in vain."""
        self.left -= 32


@dataclass
class Targets:
    """Initial targets of all variables that have one."""

    slots: Indices  # the variables
    values: Array  # in SI units
    levels: Indices  # place in ``LEVELS``, or ``NO_TARGET`` for a guess

    @property
    def given(self) -> Targets:
        """Return the targets that are to be met, without guesses."""
        active = self.levels < NO_TARGET
        return Targets(self.slots[active], self.values[active], self.levels[active])


def collect_targets(system: System) -> Targets:
    """The targets that users gave and classes declare."""
    slots, values, levels = [np.zeros(0, int)], [np.zeros(0)], [np.zeros(0, int)]
    for f, family in enumerate(system.network.families):
        for i, local in enumerate(family.kernel.variables):
            base = system.flat.base[f].get((i, 0))
            if base is None or local.kind in ("across", "through", "domain"):
                continue
            declared = local.declared
            for first, m in zip(family.firsts, family.members, strict=True):
                given = m._targets.get(local.name)
                if given is not None:
                    value, priority = given
                    level = {"high": 0, "low": 1, "none": NO_TARGET}[priority]
                elif isinstance(declared, Variable):
                    value = declared.initial_of(m)
                    level = {"high": 2, "low": 3, "none": NO_TARGET}[declared.priority]
                else:
                    continue
                if value is None:
                    continue
                slots.append(np.arange(base + first, base + first + m.size))
                values.append(np.broadcast_to(value, (m.size,)))
                levels.append(np.full(m.size, level))
    return Targets(np.concatenate(slots), np.concatenate(values), np.concatenate(levels))


def idle_targets(system: System) -> Iterator[tuple[list[str], str, str]]:
    """Paths of targets for what is computed for results only, what is wrong, and advice."""
    for family in system.network.families:
        for name in (family.kernel.variables[i].name for i in family.kernel.observed):
            given = ((m, m._targets.get(name)) for m in family.members)
            if paths := [f"{m.path}.{name}" for m, target in given if target
                         and target[0] is not None and target[1] != "none"]:
                yield (paths[:20], f"The initial target of {', '.join(paths[:3])} has no effect: "
                       f"{name} only follows from other variables, for the results.",
                       "Give the target to the variables it follows from.")


def least_values(system: System) -> tuple[Indices, Array]:
    """Variables whose class says what they are never below, as 0 K, and that in SI units."""
    slots, values = [np.zeros(0, dtype=int)], [np.zeros(0)]
    for f, family in enumerate(system.network.families):
        for i, local in enumerate(family.kernel.variables):
            base = system.flat.base[f].get((i, 0))
            declared = local.declared
            if base is None or not isinstance(declared, Variable) or declared.minimum is None:
                continue
            slots.append(np.arange(base, base + family.size))
            values.append(np.full(family.size, declared.minimum))
    return np.concatenate(slots), np.concatenate(values)


def class_values(system: System, targets: Targets) -> Array:
    """Values of classes: of those with a target the strongest one, else what is typical, or 0."""
    flat = system.flat
    value = np.zeros(flat.classes)
    for f, family in enumerate(system.network.families):
        for (i, order), base in flat.base[f].items():
            local = family.kernel.variables[i]
            if local.typical is not None and local.kind == "across" and not order:
                mine = slice(base, base + family.size)
                value[flat.class_of[mine]] = flat.sign_of[mine] * local.typical
    weakest_first = np.argsort(-targets.levels, kind="stable")
    slots = targets.slots[weakest_first]
    value[flat.class_of[slots]] = flat.sign_of[slots] * targets.values[weakest_first]
    return value


def target_sizes(system: System, slots: Indices, nominals: Nominals) -> Array:
    """Nominal values that weigh targets against each other.

    Values nobody has given are levelled by dimension: they come from the targets
    themselves, and a larger target must not count for less.
    """
    classes = system.flat.class_of[slots]
    size, derived = nominals.value[classes].copy(), nominals.origin[classes] > 1
    groups: dict[object, list[Indices]] = {}  # by dimension
    for base, count, f, (i, _) in system.flat.slot_runs:
        mine = np.flatnonzero((slots >= base) & (slots < base + count) & derived)
        if len(mine):
            dimension = system.network.families[f].kernel.variables[i].unit.dimension
            groups.setdefault(dimension, []).append(mine)
    for parts in groups.values():
        alike = np.concatenate(parts)
        known = size[alike][nominals.origin[classes[alike]] == 2]
        size[alike] = known.max() if len(known) else 1.0
    for base, count, f, (i, order) in system.flat.slot_runs:
        if order:
            continue
        mine = np.flatnonzero((slots >= base) & (slots < base + count))
        family = system.network.families[f]
        own = own_nominals(family, family.kernel.variables[i]) if len(mine) else None
        if own is not None:  # joined variables may have been given different ones
            given = own[slots[mine] - base]
            size[mine] = np.where(given > 0, given, size[mine])
    return size


class TargetFunctions:
    """Values and derivatives of targeted variables with respect to the states."""

    def __init__(self, system: System, slots: Indices) -> None:
        self.system, self.classes = system, system.flat.class_of[slots]
        expression = ca.SX(0, 1)
        if len(slots):
            expression = system.tape.values[self.classes.tolist()] * ca.DM(
                system.flat.sign_of[slots].astype(float))
        self.expression = expression
        self.value: Evaluator = system.function("targets", expression)

    @classmethod
    def of(cls, system: System, slots: Indices) -> TargetFunctions:
        """The functions for these variables, made once for a system."""
        made: dict[bytes, TargetFunctions] = system.cache.setdefault("target_functions", {})
        key = slots.tobytes()
        if key not in made:
            made[key] = cls(system, slots)
        return made[key]

    @cached_property
    def need_torn(self) -> bool:
        """Whether torn unknowns have a say in the targets or in what constrains the states."""
        tape = self.system.tape
        return bool(self.system.nz) and any(ca.which_depends(
            ca.vertcat(self.expression, tape.constraints), tape.z, 1, True))

    @cached_property
    def see_efforts(self) -> Flags:
        """Which of them follow from efforts that laws of friction, contact or diodes decide on."""
        tape = self.system.tape
        sees = np.zeros(self.expression.numel(), dtype=bool)
        if not self.system.nu or self._are_states:
            return sees
        sees |= ca.which_depends(self.expression, tape.u, 1, True)
        if self.system.nz and ca.depends_on(tape.residual, tape.u):
            sees |= ca.which_depends(self.expression, tape.z, 1, True)
        return sees

    @cached_property
    def nonlinear(self) -> Flags:
        """Which of them follow from the states by more than straight lines."""
        tape = self.system.tape
        nonlinear = self.see_efforts.copy()
        if self._are_states:
            return nonlinear
        unknowns = ca.vertcat(tape.x, tape.z)
        nonlinear |= ca.which_depends(self.expression, unknowns, 2, True)
        if self.system.nm:
            nonlinear |= ca.which_depends(self.expression, tape.m, 1, True)
        if self.system.nz and (ca.depends_on(tape.residual, tape.m) or any(
                ca.which_depends(tape.residual, unknowns, 2, True))):
            nonlinear |= ca.which_depends(self.expression, tape.z, 1, True)
        return nonlinear

    @cached_property
    def _are_states(self) -> bool:
        return bool(np.isin(self.classes, self.system.tape.reduced.states).all())

    @cached_property
    def by_x(self) -> Evaluator:
        return self.system.jacobian(self.expression, self.system.tape.x)

    @cached_property
    def by_z(self) -> Evaluator:
        return self.system.jacobian(self.expression, self.system.tape.z)

    def values(self, problem: Problem, t: float) -> Array:
        return self.value(*problem.arguments(t))

    def slopes(self, problem: Problem, t: float, decided: bool = False) -> Any:
        """d value / d x, sparse, torn unknowns following from the states.

        So do efforts, where laws have ``decided`` on their modes.
        """
        args = problem.arguments(t)
        j = self.by_x.sparse(*args).tocsr()
        if self.need_torn:
            gx = self.system.residual_x.sparse(*args).toarray()[: self.system.nz]
            j = sp.csr_array(j - self.by_z.sparse(*args).toarray() @ self.torn_for(problem, t, gx))
        if decided and self.see_efforts.any():
            j = self._through_efforts(j, problem, t)
        return j

    def _through_efforts(self, slopes: Any, problem: Problem, t: float) -> Any:
        """Complete slopes by differences where targets follow from efforts, modes held."""
        rows = np.flatnonzero(self.see_efforts)
        x, z, u = problem.x.copy(), problem.z.copy(), problem.u.copy()

        def values_at(states: Array) -> Array:
            problem.x[:], problem.z[:], problem.u[:] = states, z, u
            problem.update(t)
            problem.laws.split_internal_stress(problem, t)
            return self.values(problem, t)[rows]

        here, by_x = values_at(x), np.zeros((len(rows), len(x)))
        for k, size in enumerate(np.maximum(problem.scale_x, np.abs(x))):
            beside = x.copy()
            beside[k] += DIRECTION_STEP * size
            by_x[:, k] = (values_at(beside) - here) / (beside[k] - x[k])
        values_at(x)
        whole = slopes.tolil()
        whole[rows] = by_x
        return whole.tocsr()

    def torn_for(self, problem: Problem, t: float, residuals: Array) -> Array:
        """Changes of the torn unknowns that make up for residuals, no states being tied yet."""
        args = problem.arguments(t)
        if problem.unknowns.may_stay_open:
            return problem.unknowns.solver(args)(residuals)
        gz = self.system.residual_z.sparse(*args).toarray()[: self.system.nz]
        try:
            return np.asarray(np.linalg.solve(gz, residuals))
        except np.linalg.LinAlgError:  # where some of them are open, the least change
            return np.asarray(np.linalg.lstsq(gz, residuals)[0])

    def step(self, problem: Problem, t: float, slopes: Any, missed: Array, size: Array,
             levels: Sequence[Flags]) -> tuple[Array, Array]:
        """Gauss-Newton steps in nominal values: one closes constraints, one meets targets, too.

        These are ``missed`` in units of ``size``, level by level.
        """
        scales, nc = sp.diags_array(problem.scale_x), self.system.nc
        slopes = sp.diags_array(1 / size) @ slopes @ scales
        return lexicographic_step([self.constraint_slopes(problem, t) @ scales if nc else None,
                                   *(slopes[mine] for mine in levels)],
                                  [self.system.residual(*problem.arguments(t))[self.system.nz :],
                                   *(missed[mine] for mine in levels)], self.system.nx)

    def constraint_slopes(self, problem: Problem, t: float) -> Any:
        """d constraint / d x, sparse."""
        return self.system.residual_x.sparse(*problem.arguments(t)).tocsr()[self.system.nz :]
