"""What can be evaluated, once a network has been reduced?

CasADi functions of the reduced system. Knows names only through the catalog of variables; knows
no user input, no solver and no events beyond crossing functions.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property
from operator import attrgetter, methodcaller
from typing import TYPE_CHECKING, Any, TypeVar

import casadi as ca
import numpy as np

from ..assembly import Tape
from ..assembly.flatten import Flat
from ..assembly.network import Family, Network
from ..exceptions import StructureError
from ..language.expression import TIME
from ..numerics.arrays import Array, Flags, Indices, distinct
from ..numerics.rewriting import cut_jacobian
from ..units import unit
from .evaluator import Evaluator
from .state_tables import StateTables, angles_of

if TYPE_CHECKING:
    from ..language.component import Component
    from ..language.kernel import Local

__all__ = ["DENSE", "ClassNames", "System"]

Made = TypeVar("Made")

DENSE = 60  # unknowns up to which matrices are dense


def _function(of: str) -> cached_property[Evaluator]:
    """Expressions of a system, such as ``"tape.slope"``, as a function that is made when it is
    asked for."""
    return cached_property(lambda system: system.function(
        of.rpartition(".")[2], attrgetter(of)(system)))


def _derivatives(of: str, by: str, diagonal: bool = False) -> cached_property[Evaluator]:
    """Derivatives of such expressions by symbols of the system."""
    return cached_property(lambda system: system.jacobian(
        attrgetter(of)(system), attrgetter(by)(system), diagonal))


class System:
    """The compiled reduced system of a model.

    Every function takes ``(t, x, z, p, m, d, u)``: time, states, torn
    unknowns, parameters, held relations, discrete values, set-valued efforts.
    """

    def __init__(self, network: Network, tape: Tape) -> None:
        self.network, self.tape = network, tape
        self.flat = tape.reduced.flat
        self.nx, self.nz = tape.x.numel(), tape.z.numel()
        self.nm, self.nd, self.nu = tape.m.numel(), tape.d.numel(), tape.u.numel()
        self.parameter_count, self.nc = tape.p.numel(), tape.constraints.numel()
        self.clusters = tape.reduced.clusters
        #: What is made of a system once, by those who use it: laws, machine code, functions.
        self.cache: dict[str, Any] = {}
        self.linear = tape.linear
        #: How long it took to make, in s.
        self.seconds = 0.0
        #: Whether its model has been compiled anew since, from another structure.
        self.superseded = False

    def __reduce__(self) -> tuple[Any, ...]:
        """Pickled as its model: assembling it again is cheaper than storing expressions."""
        if self.superseded:
            raise StructureError(
                "", "this compiled system is older than the structure of its model, and cannot be "
                "pickled.", "Pickle model.compile(), the present one.", code="structure.stale",
            )  # fmt: skip
        return methodcaller("compile"), (self.network.root,)

    @property
    def arguments(self) -> list[ca.SX]:
        """The symbols that every function takes."""
        t = self.tape
        return [TIME, t.x, t.z, t.p, t.m, t.d, t.u]

    def function(self, name: str, expression: ca.SX) -> Evaluator:
        """An expression of the system as a function."""
        return Evaluator(ca.Function(name, self.arguments, [expression]))

    def jacobian(self, expression: ca.SX, variable: ca.SX, diagonal: bool = False) -> Evaluator:
        """Sparse Jacobian; with ``diagonal`` its whole diagonal is stored."""
        j = ca.jacobian(expression, variable)
        if diagonal:
            pattern = j.sparsity() + ca.Sparsity.diag(*j.shape)
            j = ca.project(j, pattern)
        return self.function("jacobian", j)

    def once(self, name: str, make: Callable[[], Made]) -> Made:
        """What has been made for this system before, under a name; else it is made now."""
        if name not in self.cache:
            self.cache[name] = make()
        made: Made = self.cache[name]
        return made

    @cached_property
    def tables(self) -> TimeTables:
        """The system's tables of time."""
        return TimeTables(self.network, self.tape)

    @cached_property
    def of_dimension(self) -> tuple[Indices, Indices]:
        """Per state, and per discrete value, a number that all of the same dimension share."""
        flat, second = self.flat, unit("s").dimension
        numbers: dict[object, int] = {}
        of_class, discrete = np.zeros(flat.classes, dtype=int), np.zeros(self.nd, dtype=int)
        for base, count, f, (i, order) in flat.slot_runs:
            dimension = self.network.families[f].kernel.variables[i].unit.dimension / second**order
            number = numbers.setdefault(dimension, len(numbers))
            of_class[flat.class_of[base : base + count]] = number
        for (f, i), first in self.tape.discrete_layout.items():
            family = self.network.families[f]
            dimension = family.kernel.variables[i].unit.dimension
            discrete[first : first + family.size] = numbers.setdefault(dimension, len(numbers))
        return of_class[self.tape.reduced.states], discrete

    @property
    def residuals(self) -> ca.SX:
        """What is zero where torn unknowns and constraints are met."""
        return ca.vertcat(self.tape.residual, self.tape.constraints)

    @cached_property
    def cut_slope_x(self) -> ca.SX:
        """Derivatives of slopes by states, then of parts of slopes that follow many of these."""
        return cut_jacobian(self.tape.slope, self.tape.x)

    @cached_property
    def angles(self) -> ca.SX:
        """Angles of what is periodic in the states, where anything is watched in steps."""
        return angles_of(self.tape, self.network.families) if (
            self.nm or self.nu or self.state_tables.places.numel()) else ca.SX(0, 1)

    @cached_property
    def state_tables(self) -> StateTables:
        """Tables that are read at the states."""
        return StateTables(self.network, self.tape)

    values = _function("tape.values")  # everything that the equations determine
    slope, residual = _function("tape.slope"), _function("residuals")
    crossings, exponents = _function("tape.crossings"), _function("tape.exponents")
    angles_now, places_now = _function("angles"), _function("state_tables.places")

    slope_x = _derivatives("tape.slope", "tape.x", diagonal=True)
    slope_z, slope_u = _derivatives("tape.slope", "tape.z"), _derivatives("tape.slope", "tape.u")
    residual_x = _derivatives("residuals", "tape.x")
    residual_z = _derivatives("residuals", "tape.z")
    residual_u = _derivatives("residuals", "tape.u")

    @cached_property
    def residual_by_all(self) -> Evaluator:
        """Derivatives of the residuals by states and torn unknowns."""
        return self.jacobian(self.residuals, ca.vertcat(self.tape.x, self.tape.z))

    # -- parameters ------------------------------------------------------------------
    def parameters(self) -> Array:
        """The parameter vector from the components' present values."""
        out = np.empty(self.parameter_count)
        for name, place, family, alone, default in self._parameter_places:
            value = None if alone is None else alone._values.get(name, default)
            # one number may give it for all instances
            out[place] = value if type(value) is float else family.parameter(name).ravel()
        return out

    def parameter_names(self) -> list[tuple[str, str]]:
        """The component of every entry of the parameter vector, and the parameter."""
        return [(path, name) for (f, name), (_, width) in self.tape.parameter_layout.items()
                for path in map(self.network.families[f].path, range(self.network.families[f].size))
                for _ in range(width)]

    @cached_property
    def _parameter_places(self) -> list[tuple[str, slice, Family, Component | None, Any]]:
        """A parameter's name, place, family, the only component of that, and the default."""
        found = []
        for (f, name), (offset, width) in self.tape.parameter_layout.items():
            family = self.network.families[f]
            alone = family.members[0] if len(family.members) == 1 else None
            found.append((name, slice(offset, offset + width * family.size), family, alone,
                          family.default(name)))
        return found

    def still_valid(self, p: Array | None = None) -> Flags:
        """Per row of parameters, whether it can be solved in its order, keeping its digits.

        With the components' present values, if none are given.
        """
        validity = self.tape.validity
        if not validity.decide:
            return np.ones(1 if p is None else len(p), dtype=bool)
        return validity.still_valid(self.parameters()[None] if p is None else p)

    # -- names -----------------------------------------------------------------------
    @cached_property
    def class_names(self) -> ClassNames:
        return ClassNames(self.flat)

    def state_name(self, i: int) -> str:
        return self.class_names[int(self.tape.reduced.states[i])]

    def discrete_place(self, i: int) -> tuple[Family, int, Local]:
        """Return the family, the instance and the variable of a discrete value."""
        first, f, k = max((first, *key) for key, first in self.tape.discrete_layout.items()
                          if first <= i)
        family = self.network.families[f]
        return family, i - first, family.kernel.variables[k]

    def discrete_name(self, i: int) -> str:
        family, instance, local = self.discrete_place(i)
        return f"{family.path(instance)}.{local.name}"

    @cached_property
    def has_linear_loops(self) -> bool:
        """Whether torn unknowns are linear in their equations while no relation changes."""
        tape = self.tape
        return tape.linear or not any(ca.which_depends(tape.residual, tape.z, 2, True))

    def torn_name(self, i: int) -> str:
        return self.class_names[int(self.tape.z_classes[i])]


class ClassNames:
    """The most telling variable path of every class, made when asked for."""

    def __init__(self, flat: Flat) -> None:
        self.flat = flat
        rank = np.empty(flat.slots, dtype=int)
        for base, size, f, (i, order) in flat.slot_runs:
            kind = flat.network.families[f].kernel.variables[i].kind
            of_port = kind in ("across", "through", "domain")
            rank[base : base + size] = order * 4 + of_port * 2 + (kind == "input")
        ranked = np.lexsort((np.arange(flat.slots), rank, flat.class_of))
        first = np.unique(flat.class_of[ranked], return_index=True)
        #: The slot that names a class.
        self.slot: dict[int, int] = dict(
            zip(first[0].tolist(), ranked[first[1]].tolist(), strict=True))

    def __getitem__(self, c: int) -> str:
        if c in self.slot:
            return self.flat.at_slot(self.slot[c]).name
        parents = np.flatnonzero(self.flat.derivative == c)
        if len(parents):
            return f"der({self[int(parents[0])]})"
        raise KeyError(c)


class TimeTables:
    """The tables of time of a system."""

    def __init__(self, network: Network, tape: Tape) -> None:
        self._tables = [(f, table) for f, family in enumerate(network.families)
                        for table in family.kernel.tables]
        self._sizes = [network.families[f].size for f, _ in self._tables]
        places = [np.concatenate([tape.discrete_layout[f, i] + np.arange(size) for i in table.row])
                  for (f, table), size in zip(self._tables, self._sizes, strict=True)]
        # places of their rows among the discrete values
        self.slots: Indices = np.concatenate([np.zeros(0, dtype=int), *places])
        smooth = [at for at, (_, table) in zip(places, self._tables, strict=True)
                  if table.is_continuous]
        # those of tables without steps
        self.continuous: Indices = np.concatenate([np.zeros(0, dtype=int), *smooth])

    def rows(self, t: Array) -> Array:
        """What holds from times on, (slots, times)."""
        found = [np.repeat(table(t), size, axis=0)
                 for (_, table), size in zip(self._tables, self._sizes, strict=True)]
        return np.concatenate([np.zeros((0, len(t))), *found])

    def fill(self, d: Array, t: float) -> None:
        """Bring the discrete values in line with what holds from ``t`` on."""
        if self._tables:
            d[self.slots] = self.rows(np.array([t]))[:, 0]

    def instants(self, start: float, end: float) -> Array:
        """Times between two others at which another row begins to hold."""
        every = distinct(np.concatenate(
            [np.zeros(0), *(table.starts for _, table in self._tables)]))
        return every[(every > start) & (every < end)]
