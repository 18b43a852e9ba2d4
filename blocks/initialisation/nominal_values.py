"""How large is each variable expected to be?

Nominal values scale unknowns, residuals and absolute tolerances. They come, in
this order, from the variable (class or instance), the model's table by
dimension, parameters and initial targets of the same dimension in the same
component, what is typical at a port, and last 1 SI unit. A target that is no more than
rounding of what else the model holds of its dimension, such as 1 m/s times sin(pi), is none, nor
is an angle of 1e-17 rad, nor anything below ``LEAST`` SI units, as a speed that has died out.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import ArrayLike

from ..assembly.network import Family
from ..language.kernel import Local
from ..numerics.arrays import Array, Indices
from ..numerics.tolerances import NOTHING_AT_ALL
from ..system.system import System
from ..units import Unit, from_si, unit

__all__ = ["Nominals", "find_nominals", "own_nominals"]

#: A family; its parameters with a unit: name and dimension; its variables: which, their classes,
#: dimension, and whether they can be given values of their own.
_Plan: TypeAlias = tuple[Family, list[tuple[str, Any]], list[tuple[Local, Indices, Any, bool]]]

LEAST = 1e-20  # SI units: the charge of an electron is larger
ORIGINS = ("variable", "model", "parameters and targets", "default")


@dataclass(frozen=True)
class Nominals:
    """Per class the nominal value in SI units and where it comes from."""

    value: Array
    origin: Indices  # index into ORIGINS

    def power_of_two(self, classes: Indices) -> Array:
        """Scale factors that cost no rounding."""
        factors: Array = np.exp2(np.round(np.log2(self.value[classes])))
        return factors


def find_nominals(system: System, table: dict[Any, tuple[float, Unit]]) -> Nominals:
    """Nominal values of all classes."""
    flat = system.flat
    value = np.ones(flat.classes)
    origin = np.full(flat.classes, 3)

    def offer(classes: Indices, amount: ArrayLike, rank: int) -> None:
        size = np.broadcast_to(np.abs(amount), classes.shape)
        better = (size > 0) & np.isfinite(size) & (
            (rank < origin[classes]) | ((rank == origin[classes]) & (size > value[classes]))
        )
        value[classes[better]] = size[better]
        origin[classes[better]] = rank

    plan = system.once("nominal plan", lambda: _plan(system))
    largest = _largest_targets(plan)
    for family, sized, variables in plan:
        known: dict[Any, Array] = {}
        for name, dimension in sized:
            size = np.abs(family.parameter(name)[:, 0])
            known[dimension] = np.maximum(known.get(dimension, 0.0), size)
        for local, classes, dimension, settable in variables:
            if settable:
                own = own_nominals(family, local)
                if own is not None:
                    offer(classes, own, 0)
                targets = _targets(family, local)
                if targets is not None:
                    traces = np.abs(targets) <= max(NOTHING_AT_ALL * largest[dimension], LEAST)
                    offer(classes, np.where(traces, 0.0, targets), 2)
            if local.typical is not None and dimension == local.unit.dimension:
                offer(classes, local.typical, 2)
            if dimension in table:
                offer(classes, table[dimension][0], 1)
            if dimension in known and local.kind == "variable":
                offer(classes, known[dimension], 2)
    return Nominals(value, origin)


def _largest_targets(plan: list[_Plan]) -> dict[Any, float]:
    """The largest initial target of every dimension; of angles no less than 1 rad."""
    largest: dict[Any, float] = {unit("rad").dimension: 1.0}
    for family, _, variables in plan:
        for local, _, dimension, settable in variables:
            targets = _targets(family, local) if settable else None
            if targets is not None:
                largest[dimension] = max(largest.get(dimension, 0.0), np.abs(targets).max())
    return largest


def _plan(system: System) -> list[_Plan]:
    """What is asked of every family."""
    flat, second = system.flat, unit("s").dimension
    plan: list[_Plan] = []
    for f, family in enumerate(system.network.families):
        sized = [(p.name, p.unit.dimension) for p in family.kernel.parameters
                 if p.size == 1 and not p.unit.is_dimensionless]
        variables = []
        for (i, order), base in flat.base[f].items():
            local = family.kernel.variables[i]
            dimension = local.unit.dimension / second**order if order else local.unit.dimension
            settable = order == 0 and local.kind in ("variable", "output", "input")
            classes = flat.class_of[base : base + family.size]
            variables.append((local, classes, dimension, settable))
        plan.append((family, sized, variables))
    return plan


def own_nominals(family: Family, local: Local) -> Array | None:
    """Nominal values that a variable was given itself, 0 where it has none."""
    declared: float | None = local.declared.nominal  # type: ignore[attr-defined]
    if declared is None and not any(local.name in m._nominals for m in family.members):
        return None
    return np.repeat([m._nominals.get(local.name, declared or 0.0) for m in family.members],
                     [m.size for m in family.members])


def _targets(family: Family, local: Local) -> Array | None:
    given = [m._targets.get(local.name, (None, ""))[0] for m in family.members]
    return None if not any(value is not None for value in given) else np.concatenate([
        np.broadcast_to(0.0 if value is None else value, (m.size,))
        for value, m in zip(given, family.members, strict=True)])


def nominal_rows(system: System, nominals: Nominals) -> list[tuple[str, Any, str]]:
    """(path, nominal quantity, origin) of every variable that is solved for or integrated."""
    flat = system.flat
    classes = np.concatenate([system.tape.reduced.states, system.tape.z_classes])
    rows = []
    for c in classes:
        slot = system.class_names.slot.get(int(c))
        if slot is not None:
            held = flat.at_slot(slot)
            rows.append((held.name, from_si(nominals.value[c], held.local.unit),
                         ORIGINS[nominals.origin[c]]))
    return rows
