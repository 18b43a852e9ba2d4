"""Which consistent state does the run start from?

Initial targets are met in the order: user's high, user's low, classes' default
high, default low; each level as closely as the levels before and the equations
leave it free (least squares in nominal units). A conflict among the user's
high targets is a warning with a compromise, as in Simscape; equations always
hold.
"""

from __future__ import annotations

import warnings
from bisect import bisect_right
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import casadi as ca
import numpy as np

from ..exceptions import InitialisationError
from ..system.evaluator import Evaluator
from ..system.failure import AlgebraicFailure
from ..system.problem import Problem
from ..system.system import System
from ..units import from_si, unit
from .nominal_values import Nominals, own_nominals

__all__ = ["InitialWarning", "Start", "TargetRow", "initialise"]

LEVELS = ("high", "low", "default high", "default low")
TOLERANCE = 1e-9
METRE = unit("m")
ENDLESS = 1e150  # of a constraint: one without a finite value
ATTEMPTS = 5  # starting points that are tried


class InitialWarning(UserWarning):
    """Initial targets that could not all be met."""


@dataclass(frozen=True)
class TargetRow:
    """What became of an initial target."""

    path: str
    priority: str
    target: Any
    start: Any
    met: bool


@dataclass
class Start:
    """A consistent start, and what became of the targets there."""

    system: System
    x: np.ndarray
    z: np.ndarray
    targets: _Targets
    reached: np.ndarray  # value of every target
    met: np.ndarray
    torn: np.ndarray  # default targets of high priority that keep each other from being met

    @cached_property
    def rows(self) -> list[TargetRow]:
        """One row per target."""
        return [self.row(k) for k in range(len(self.met))]

    @property
    def unmet(self) -> list[TargetRow]:
        """Targets of high priority, given by the user, that are not met."""
        return [self.row(int(k)) for k in np.flatnonzero(~self.met & (self.targets.levels == 0))]

    @property
    def compromised(self) -> list[TargetRow]:
        """Default targets of high priority that contradict each other, so that none is met."""
        return [self.row(int(k)) for k in self.torn]

    def row(self, k: int) -> TargetRow:
        slot, level = int(self.targets.slots[k]), int(self.targets.levels[k])
        flat = self.system.flat
        runs = self.system.slot_runs
        base, _, f, (i, _) = runs[bisect_right(runs, slot, key=lambda r: r[0]) - 1]
        family = flat.network.families[f]
        local = family.kernel.variables[i]
        shown = family.member(slot - base).__dict__.get("_written_in", {}).get(
            local.name, local.unit)
        return TargetRow(
            f"{family.path(slot - base)}.{local.name}",
            LEVELS[level] if level < 4 else "none",
            from_si(self.targets.values[k], shown),
            from_si(self.reached[k], shown),
            bool(self.met[k]),
        )


@dataclass
class _Targets:
    slots: np.ndarray
    values: np.ndarray
    levels: np.ndarray


def initialise(system: System, problem: Problem, nominals: Nominals, t: float) -> Start:
    """Find states that meet the targets and the equations.

    Raises
    ------
    InitialisationError
        If the equations alone have no solution near the targets; names the
        variables that could not be solved for.
    """
    targets = _collect(system)
    values = _direct(system, targets)
    problem.x[:] = values[system.tape.reduced.states]
    problem.z[:] = values[system.tape.z_classes]
    problem.tie(np.zeros(0, dtype=int))
    _settle(system, problem, targets, nominals, t)
    _refuse_dependent(system, problem, t)
    start = _start(system, problem, targets, nominals, t)
    if start.unmet:
        warnings.warn(
            f"High-priority initial targets conflict with each other or with the equations; the "
            f"closest compromise is used: {_listed(start.unmet)}. Give one of them "
            "priority='low'.", InitialWarning, stacklevel=5,
        )  # fmt: skip
    if start.compromised:
        warnings.warn(
            f"Initial values that classes preset conflict with each other; the closest compromise "
            f"is used: {_listed(start.compromised)}. Give one of these an initial target.",
            InitialWarning, stacklevel=5,
        )  # fmt: skip
    return start


def _listed(rows: list[TargetRow]) -> str:
    return ", ".join(f"{r.path} = {r.start:.6g~P} (target {r.target:.6g~P})" for r in rows)


def _collect(system: System) -> _Targets:
    slots, values, levels = [], [], []
    for f, family in enumerate(system.network.families):
        for i, local in enumerate(family.kernel.variables):
            base = system.flat.base[f].get((i, 0))
            if base is None or local.kind in ("across", "through", "shared"):
                continue
            declared = local.declared
            default = getattr(declared, "initial", None)
            for start, m in zip(family.starts, family.members, strict=True):
                given = m._targets.get(local.name)
                if given is not None:
                    value, priority = given
                    level = {"high": 0, "low": 1, "none": 4}[priority]
                elif default is not None:
                    value = default
                    level = {"high": 2, "low": 3, "none": 4}[declared.priority]  # type: ignore[attr-defined]
                else:
                    continue
                if value is None:
                    continue
                slots.append(np.arange(base + start, base + start + m.size))
                values.append(np.broadcast_to(value, (m.size,)))
                levels.append(np.full(m.size, level))
    if not slots:
        return _Targets(np.zeros(0, int), np.zeros(0), np.zeros(0, int))
    return _Targets(np.concatenate(slots), np.concatenate(values), np.concatenate(levels))


def _direct(system: System, targets: _Targets) -> np.ndarray:
    """Values of classes that have a target themselves, the strongest target winning."""
    flat = system.flat
    value = np.zeros(flat.classes)
    for k in np.argsort(-targets.levels, kind="stable"):
        slot = targets.slots[k]
        value[flat.class_of[slot]] = flat.sign_of[slot] * targets.values[k]
    return value


def _settle(system: System, problem: Problem, targets: _Targets, nominals: Nominals, t: float
            ) -> None:
    """Meet constraints and targets, level by level (Gauss-Newton)."""
    scale = problem.scale_x
    active = targets.levels < 4
    slots, wanted, levels = targets.slots[active], targets.values[active], targets.levels[active]
    classes, signs = system.flat.class_of[slots], system.flat.sign_of[slots]
    position = np.full(system.flat.classes, -1)
    position[system.tape.reduced.states] = np.arange(system.nx)
    direct = position[classes] >= 0
    nc = system.tape.constraints.numel()
    simple = direct.all() and not nc and not system.nz
    missed = np.abs(problem.x[position[classes]] * signs - wanted) if simple else np.ones(1)
    if not missed.any():
        return
    size = _sizes(system, slots, nominals)
    if simple and np.all(missed <= TOLERANCE * size):
        return
    outputs = _TargetFunctions.of(system, classes, signs)
    if nc:
        _near_targets(system, problem, targets, nominals, t)
        left = np.abs(system.residual(*problem.arguments(t))[system.nz:])
        if left.max() <= TOLERANCE * max(1.0, float(np.abs(problem.x).max(initial=0.0))):
            _refuse_dependent(system, problem, t)  # before it leads astray
    start_x, start_z = problem.x.copy(), problem.z.copy()
    for attempt in range(ATTEMPTS):
        if attempt:  # away from a point where the constraints are singular
            random = np.random.default_rng(attempt)
            problem.x[:] = start_x + random.uniform(-1, 1, system.nx) * scale
            problem.z[:] = start_z + random.uniform(-1, 1, system.nz) * problem.scale_z
        try:
            worst = _approach(system, problem, outputs, wanted, levels, size, t)
        except InitialisationError:
            if attempt == ATTEMPTS - 1:
                if not nc:
                    raise
                break
            continue
        if worst <= 1e-9 * max(1.0, float(np.max(np.abs(problem.x), initial=0.0))):
            return
    problem.x[:], problem.z[:] = start_x, start_z
    raise _unclosed(system, problem, t)


def _near_targets(system: System, problem: Problem, targets: _Targets, nominals: Nominals, t: float
                  ) -> None:
    """Go where targets and guesses are met, constraints or not: their branch is the one meant.

    Those count that are linear in the states (angles of joints): they cannot lead astray.
    """
    outputs = _TargetFunctions(
        system, system.flat.class_of[targets.slots], system.flat.sign_of[targets.slots])
    if not len(targets.slots):
        return
    size = _sizes(system, targets.slots, nominals)
    linear = ~np.array(ca.which_depends(outputs.expression, system.tape.x, 2, True), dtype=bool)
    if system.nz:
        linear &= ~np.array(ca.which_depends(outputs.expression, system.tape.z, 1, True),
                            dtype=bool)  # fmt: skip
    order = [(targets.levels == k) & linear for k in (0, 1, 4, 2, 3)]
    r = (outputs.values(problem, t) - targets.values) / size
    j = outputs.by_x.sparse(*problem.arguments(t)).toarray() / size[:, None] * problem.scale_x
    _, step = _lexicographic([None, *(j[k] if k.any() else None for k in order)],
                             [r[:0], *(r[k] for k in order)], system.nx)
    problem.x += step * problem.scale_x


def _unclosed(system: System, problem: Problem, t: float) -> InitialisationError:
    """The error for constraints without a solution: how near they come, and which."""
    from scipy.optimize import least_squares

    nz = system.nz

    def residual(y: np.ndarray) -> np.ndarray:
        problem.x[:] = y * problem.scale_x
        return np.nan_to_num(system.residual(*problem.arguments(t))[nz:], nan=ENDLESS)

    equations = [int(e) for cluster in system.clusters
                 for level, _ in cluster.levels for e in level]  # fmt: skip
    owners = [_owner(system, e) for e in equations]
    start = problem.x / problem.scale_x
    endless = np.flatnonzero(~(np.abs(residual(start)) < ENDLESS))
    if len(endless):
        paths = list(dict.fromkeys(owners[k] for k in endless))
        return InitialisationError(
            " and ".join(paths[:3]), f"{_equation(system.flat.group_of(equations[endless[0]])[0])} "
            "has no finite value at the start.",
            "Look for two ports of it that are connected to one and the same body, or give "
            "initial targets elsewhere.", variables=paths,
        )  # fmt: skip
    near = least_squares(residual, start, max_nfev=200, xtol=1e-15, ftol=1e-15, gtol=1e-15).x
    worst = int(np.argmax(np.abs(residual(near))))
    where = owners[worst]
    mine = np.array([o == owners[worst] for o in owners])
    weight = np.where(mine, 1.0, 1e3)  # all of the gap in one place
    near = least_squares(lambda y: weight * residual(y), near, max_nfev=400).x
    gap = float(np.linalg.norm(residual(near)[mine]))
    if gap <= 1e-9:  # they can be met, but not solved for
        _refuse_dependent(system, problem, t)
        return InitialisationError(
            where, "no start was found: positions that meet all constraints, those of "
            f"{where} among them, exist, but initial targets and guesses lead elsewhere.",
            "Look for guesses that contradict each other, such as angles that differ by a whole "
            "turn, and give initial targets closer to a possible position.", variables=[where],
        )  # fmt: skip
    group, _ = system.flat.group_of(equations[worst])
    size = f"{1e3 * gap:.4g} mm" if _is_length(group.law) else f"{gap:.4g} (SI)"
    return InitialisationError(
        where, "no position meets all constraints: where they come nearest to it, "
        f"{_equation(group)} of {where} is {size} from being met.",
        "Check the lengths and places of the parts around it, or give initial targets that are "
        "closer to a possible position.", variables=[where], gap=gap,
    )  # fmt: skip


def _owner(system: System, equation: int) -> str:
    """Path of the component that states an equation."""
    group, row = system.flat.group_of(equation)
    if group.law is None:
        return ""
    return system.network.families[group.family].path(int(group.instances[row]))


def _equation(group: Any) -> str:
    return "a balance" if group.law is None else group.law.text


def _is_length(law: Any) -> bool:
    """Whether the residual of a law is a length, by the variable it is linear in."""
    return law is not None and any(
        kind == "constant" and law.kernel.variables[i].unit.dimension == METRE.dimension
        for (i, order), kind in zip(law.arguments, law.slopes, strict=True) if order == 0)


def _refuse_dependent(system: System, problem: Problem, t: float) -> None:
    """Constraints that repeat each other leave forces open and cannot be solved."""
    if not system.clusters:
        return
    at = {int(c): i for i, c in enumerate(system.tape.reduced.states)}
    jacobian = system.residual_x.sparse(*problem.arguments(t))
    offset = system.nz
    for cluster in system.clusters:
        equations, classes = cluster.levels[0]
        columns = np.array([at[int(c)] for c in classes])
        rows = np.arange(offset, offset + len(equations))
        offset += sum(len(e) for e, _ in cluster.levels)
        u, s, _ = np.linalg.svd(jacobian[rows][:, columns].toarray() * problem.scale_x[columns])
        if s[-1] > 1e-9 * s[0]:
            continue
        named = [system.flat.group_of(int(e)) for e in equations[np.abs(u[:, -1]) > 1e-6]]
        paths = list(dict.fromkeys(
            system.network.families[g.family].path(int(g.instances[k])) for g, k in named
            if g.law is not None))  # fmt: skip
        raise InitialisationError(
            " and ".join(paths), f"demand{'s' if len(paths) == 1 else ''} the same thing twice: "
            "one of their constraints follows from the others, so that forces are not determined.",
            "Remove one of these joints or make it free in one direction; at a dead point, start "
            "elsewhere.", variables=paths, code="initial.redundant",
        )  # fmt: skip


def _approach(system: System, problem: Problem, outputs: _TargetFunctions, wanted: np.ndarray,
              levels: np.ndarray, size: np.ndarray, t: float) -> float:
    """Gauss-Newton from the problem's point; returns the largest constraint residual.

    Steps along the constraints are relaxed as Aitken's extrapolation says: where a
    target lies far off a curved constraint, full steps would overshoot.
    """
    scale, nc = problem.scale_x, system.tape.constraints.numel()
    relax, last = 1.0, None
    for _ in range(60):
        _solve_torn(problem, t)
        r = (outputs.values(problem, t) - wanted) / size
        _refuse_lost(system, outputs, r)
        c = problem.system.residual(*problem.arguments(t))[system.nz :]
        if not nc and np.all(np.abs(r) <= TOLERANCE):
            return 0.0
        slopes = [outputs.jacobian(problem, t, levels == k) if (levels == k).any() else None
                  for k in range(4)]
        for k, slope in enumerate(slopes):
            if slope is not None:
                _refuse_lost(system, outputs, slope.sum(axis=1), levels == k)
        back, step = _lexicographic(
            [outputs.constraint_jacobian(problem, t) * scale if nc else None]
            + [None if slope is None else slope * scale / size[levels == k][:, None]
               for k, slope in enumerate(slopes)],
            [c] + [r[levels == k] for k in range(4)], system.nx,
        )  # fmt: skip
        along = step - back
        if last is not None and (change := last - along) @ change > 0:
            relax = float(np.clip(relax * (last @ change) / (change @ change), 0.02, 1.0))
        last = along
        step = back + relax * along
        problem.x += step * scale
        reach = np.max(np.abs(problem.x / scale), initial=0.0)
        if np.max(np.abs(step), initial=0.0) <= 1e-13 * (1 + reach):
            break
    _solve_torn(problem, t)
    c = problem.system.residual(*problem.arguments(t))[system.nz :]
    return float(np.max(np.abs(c), initial=0.0))


def _refuse_lost(system: System, outputs: _TargetFunctions, values: np.ndarray,
                 rows: Any = slice(None)) -> None:
    """Raise where a variable with a target has no finite value, or no slope, to meet it by."""
    lost = outputs.classes[rows][~np.isfinite(values)]
    if len(lost):
        path = system.class_names[int(lost[0])]
        raise InitialisationError(
            "", f"no consistent start was found: {path}, which has an initial target, has no "
            "finite value, or does not follow from the states, where it is looked for.",
            "At a dead point start a little beside it; give targets closer to a possible state.",
            variables=(path,),
        )  # fmt: skip


def _sizes(system: System, slots: np.ndarray, nominals: Nominals) -> np.ndarray:
    """Nominal values that weigh targets against each other.

    Values nobody has given are levelled by dimension: they come from the targets
    themselves, and a larger target must not count for less.
    """
    classes = system.flat.class_of[slots]
    size, derived = nominals.value[classes].copy(), nominals.origin[classes] > 1
    groups: dict[Any, list[np.ndarray]] = {}
    for base, count, f, (i, _) in system.flat.slot_names():
        mine = np.flatnonzero((slots >= base) & (slots < base + count) & derived)
        if len(mine):
            dimension = system.network.families[f].kernel.variables[i].unit.dimension
            groups.setdefault(dimension, []).append(mine)
    for parts in groups.values():
        together = np.concatenate(parts)
        known = size[together][nominals.origin[classes[together]] == 2]
        size[together] = known.max() if len(known) else 1.0
    for base, count, f, (i, order) in system.flat.slot_names():
        if order:
            continue
        mine = np.flatnonzero((slots >= base) & (slots < base + count))
        own = own_nominals(system.network.families[f], i) if len(mine) else None
        if own is not None:  # joined variables may have been given different ones
            given = own[slots[mine] - base]
            size[mine] = np.where(given > 0, given, size[mine])
    return size


def _solve_torn(problem: Problem, t: float) -> None:
    if not problem.system.nz:
        return
    try:
        problem.solve_algebraic(t)  # no states are tied yet: constraints are met through them
    except AlgebraicFailure as failure:
        raise InitialisationError(
            failure.worst[0] if failure.worst else "",
            f"no consistent start was found: {failure}.",
            "Give initial targets (or guesses with priority='none') closer to a possible state.",
            variables=failure.worst,
        ) from failure


def _lexicographic(jacobians: list[Any], residuals: list[np.ndarray], n: int
                   ) -> tuple[np.ndarray, np.ndarray]:
    """Least squares level by level, each within the null space of those before.

    Returns the step of the first level (the constraints) and that of all.
    """
    step = first = np.zeros(n)
    null = np.eye(n)
    for level, (j, r) in enumerate(zip(jacobians, residuals, strict=True)):
        if level == 1:
            first = step
        if j is None or not null.shape[1]:
            continue
        reduced = j @ null
        u, s, vt = np.linalg.svd(reduced, full_matrices=True)
        rank = int(np.sum(s > 1e-10 * max(1.0, s[0] if len(s) else 0.0)))
        target = -(r + j @ step)
        y = vt[:rank].T @ ((u[:, :rank].T @ target) / s[:rank])
        step = step + null @ y
        null = null @ vt[rank:].T
    return first, step


class _TargetFunctions:
    """Values and derivatives of targeted variables with respect to the states."""

    def __init__(self, system: System, classes: np.ndarray, signs: np.ndarray) -> None:
        tape = system.tape
        self.system, self.classes = system, classes
        expression = ca.SX(0, 1)
        if len(classes):
            expression = tape.values[classes.tolist()] * ca.DM(signs.astype(float))
        self.expression = expression
        self.value: Evaluator = system.function("targets", expression)

    @classmethod
    def of(cls, system: System, classes: np.ndarray, signs: np.ndarray) -> _TargetFunctions:
        """The functions for these variables, made once for a system."""
        kept = system.cache.setdefault("target_functions", {})
        key = classes.tobytes() + signs.tobytes()
        if key not in kept:
            kept[key] = cls(system, classes, signs)
        return kept[key]

    @cached_property
    def by_x(self) -> Evaluator:
        return self.system.jacobian(self.expression, self.system.tape.x)

    @cached_property
    def by_z(self) -> Evaluator | None:
        tape = self.system.tape
        return self.system.jacobian(self.expression, tape.z) if self.system.nz else None

    def values(self, problem: Problem, t: float) -> np.ndarray:
        return self.value(*problem.arguments(t))

    def _total(self, by_x: Any, by_z: Any, problem: Problem, t: float) -> np.ndarray:
        args = problem.arguments(t)
        j = by_x.sparse(*args).toarray()
        if self.system.nz:
            n = self.system.nz
            gz = self.system.residual_z.sparse(*args).toarray()[:n]
            gx = self.system.residual_x.sparse(*args).toarray()[:n]
            j -= by_z.sparse(*args).toarray() @ np.linalg.solve(gz, gx)
        return j

    def jacobian(self, problem: Problem, t: float, rows: np.ndarray) -> np.ndarray:
        return self._total(self.by_x, self.by_z, problem, t)[rows]

    def constraint_jacobian(self, problem: Problem, t: float) -> np.ndarray:
        n = self.system.nz
        args = problem.arguments(t)
        return self.system.residual_x.sparse(*args).toarray()[n:]


def _start(system: System, problem: Problem, targets: _Targets, nominals: Nominals, t: float
           ) -> Start:
    flat = system.flat
    classes, signs = flat.class_of[targets.slots], flat.sign_of[targets.slots]
    reached = np.zeros(0)
    if len(classes):
        reached = _TargetFunctions.of(system, classes, signs).values(problem, t)
    size = np.maximum(nominals.value[classes], np.abs(targets.values))
    met = np.abs(reached - targets.values) <= 1e-7 * size
    torn = np.flatnonzero(~met & (targets.levels == 2))
    if len(torn):
        torn = torn[_free_one_by_one(system, problem, targets, torn, t)]
    return Start(system, problem.x.copy(), problem.z.copy(), targets, reached, met, torn)


def _free_one_by_one(system: System, problem: Problem, targets: _Targets, chosen: np.ndarray,
                     t: float) -> np.ndarray:
    """Whether each of some targets could be met by itself, after constraints and stronger ones."""
    scale = problem.scale_x
    outputs = _TargetFunctions.of(system, system.flat.class_of[targets.slots],
                                  system.flat.sign_of[targets.slots])
    before = [outputs.jacobian(problem, t, targets.levels < 2)]
    if system.tape.constraints.numel():
        before.append(outputs.constraint_jacobian(problem, t))
    stronger = np.concatenate(before) * scale
    size = np.linalg.norm(stronger, axis=1, keepdims=True)
    _, s, vt = np.linalg.svd(stronger / np.where(size > 0, size, 1.0), full_matrices=True)
    null = vt[int(np.sum(s > 1e-9)):].T
    rows = outputs.jacobian(problem, t, np.isin(np.arange(len(targets.levels)), chosen)) * scale
    length = np.linalg.norm(rows, axis=1)
    return (np.linalg.norm(rows @ null, axis=1) > 1e-6 * length) & (length > 0)
