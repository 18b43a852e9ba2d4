"""Friction laws that look at the load, the effort with which everything else drives an element.

It is not a quantity of any one body: it follows from efforts and rates of the network
(:mod:`blocks.nonsmooth.modes.load_efforts`). Set-valued laws of the same network are inside.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import casadi as ca
import numpy as np

from ...exceptions import StructureError
from ...numerics.arrays import Array, Flags, Indices
from ...numerics.sparse_solves import inverse_by_parts
from ...numerics.tolerances import UNIT_PIVOT
from ...system import Problem, System
from ...system.points import Points
from ..contract import IndeterminateGroup, Laws
from .elements import Change, Elements
from .laws import SetValuedLaws
from .load_efforts import LoadEfforts
from .load_functions import LoadElements, LoadFunctions, load_elements_of, load_laws_of
from .massless_nodes import without_mass

if TYPE_CHECKING:
    from scipy.sparse import csc_matrix

__all__ = ["LoadLaws", "refuse_loads_without_mass", "with_loads"]


def refuse_loads_without_mass(system: System) -> None:
    """Stop where a law of the load, or exact friction beside one, acts on a node without mass.

    A StructureError names an element.
    """
    laws = load_laws_of(system)
    if laws and (light := without_mass(system)):
        raise StructureError(
            light[0], "exact friction acts on a node without mass, in one network with a law "
            "that looks at the load.", "Give that node a mass.", code="structure.massless",
        )  # fmt: skip
    for f, family, (_, _, flow, *_) in laws:
        fast = ca.vertcat(system.tape.u, system.tape.z)
        free = ca.which_depends(system.tape.writer.kernel_row(f, flow).T, fast, 1, True)
        for i in np.flatnonzero(free):
            raise StructureError(
                family.path(int(i)),
                "a friction law that looks at the load acts on a node without mass.",
                "Give both sides a mass, or take exact friction (law='coulomb').",
                code="structure.massless",
            )  # fmt: skip


def with_loads(system: System, laws: Laws) -> Laws:
    """The laws of a system: set-valued ones, and those of the load where there are any."""
    if not load_laws_of(system):
        return laws
    refuse_loads_without_mass(system)
    return LoadLaws(system, laws)


class LoadLaws(Laws):
    """Laws of the load, around the set-valued ones of the same network.

    To the outside one set of laws: modes of the set-valued elements come first, then
    those of elements that are held at rest by a band of velocity (0 held, else moving).
    """

    def __init__(self, system: System, set_valued: Laws, functions: LoadFunctions | None = None
                 ) -> None:
        mine = load_elements_of(system)
        super().__init__(system, _joined(set_valued.elements, mine, system))
        self._set_valued = set_valued
        functions = functions or LoadFunctions(system, mine, beside=set_valued.size > 0)
        self.efforts = LoadEfforts(
            system, functions, set_valued if isinstance(set_valued, SetValuedLaws) else None)
        self.bands, self.held_modes = _RestBands(functions), functions.held
        self.watched = self.size > 0

    @property
    def set_valued(self) -> Laws:
        return self._set_valued

    @property
    def modes(self) -> Indices:
        return np.concatenate([self._set_valued.modes, self.bands.modes])

    @modes.setter
    def modes(self, value: Indices) -> None:
        n = self._set_valued.size
        self._set_valued.modes, self.bands.modes = value[:n], value[n:]

    def crossings(self, problem: Problem, g: Array, t: float) -> Array:
        return self._set_valued.crossings(problem, g, t)

    # -- efforts ---------------------------------------------------------------------------
    def apply(self, problem: Problem, t: float) -> None:
        self.efforts.apply(problem, t)

    def correct(self, slope: Array, problem: Problem, t: float) -> Array:
        return self.bands.stop(self._set_valued.correct(slope, problem, t), problem, t)

    def jacobian_through_efforts(self, problem: Problem, t: float) -> csc_matrix:
        through = self.efforts.jacobian(problem, t)
        if not self.bands.held.any():
            return through
        from scipy.sparse import diags

        free = self._free(problem, t)  # what is held stays, whatever drives it
        own = self.system.slope_x.sparse(*problem.arguments(t))
        return diags(free) @ through - diags(1.0 - free) @ own

    def _free(self, problem: Problem, t: float) -> Array:
        """1 for every state, 0 where an element is held that it is the flow of."""
        return self.bands.stop(np.ones(self.system.nx), problem, t)

    def fresh(self) -> LoadLaws:
        return LoadLaws(self.system, self._set_valued.fresh(), self.efforts.functions)

    def inputs_at(self, problem: Problem, points: Points, split: bool
                  ) -> tuple[Array, Flags] | None:
        if (function := self.efforts.functions.inputs) is None:
            return None
        u = points.values(function, np.zeros(self.system.nu))
        return u, np.ones(len(points), dtype=bool)

    # -- machine code ----------------------------------------------------------------------
    def runs_compiled(self, problem: Problem, t: float) -> bool:
        return self.held_modes is not None

    def held_constants(self, problem: Problem, t: float) -> Array:
        return np.concatenate([self.modes, self._free(problem, t)])

    def margin_expressions(self) -> ca.SX:
        assert self.efforts.functions.held is not None
        return self.efforts.functions.held.margins

    def split_internal_stress(self, problem: Problem, t: float) -> None:
        self._set_valued.split_internal_stress(problem, t)

    def indeterminate_groups(self, problem: Problem, t: float) -> list[IndeterminateGroup]:
        return self._set_valued.indeterminate_groups(problem, t)

    # -- modes -----------------------------------------------------------------------------
    def margins(self, problem: Problem, t: float) -> Array:
        return np.concatenate([self._set_valued.margins(problem, t),
                               self.bands.margins(problem, t)])

    def start(self, problem: Problem, t: float) -> None:
        self.efforts.refuse_several(problem, t)
        self._set_valued.start(problem, t)
        self.apply(problem, t)
        self.bands.start(problem, t)
        self.apply(problem, t)

    def decide(self, problem: Problem, t: float, touched: Indices) -> list[Change]:
        before, n = self.modes, self._set_valued.size
        changes = self._set_valued.decide(problem, t, touched[touched < n])
        self.bands.switch(problem, t, touched[touched >= n] - n)
        self.apply(problem, t)
        return changes + [c for c in self.elements.changes(before, self.modes) if c.element >= n]


def _joined(elements: Elements, mine: LoadElements, system: System) -> Elements:
    """Set-valued elements, and after them those that a band holds at rest."""
    rest, nothing = mine.resting, np.zeros(len(mine.resting), dtype=bool)
    return Elements(
        [*elements.owners, *(mine.owners[i] for i in rest)],
        np.concatenate([elements.column, mine.column[rest]]),
        np.concatenate([elements.unit, mine.unit[rest]]), system.network,
        np.concatenate([elements.contact, nothing]),
        np.concatenate([elements.gives_flow, nothing]),
        np.concatenate([elements.switch, nothing]), np.concatenate([elements.valve, nothing]),
        [*elements.effort_names, *[""] * len(rest)],
        np.append(elements.kinds, np.full(len(rest), elements.kinds.max(initial=-1) + 1)),
        [*elements.twins, *[False] * len(rest)],
    )  # fmt: skip


class _RestBands:
    """Elements that a band of velocity holds at rest, as long as the load is below a strength."""

    def __init__(self, functions: LoadFunctions) -> None:
        self.functions, self.elements = functions, functions.elements
        self.index = self.elements.resting
        self.size = len(self.index)
        self.held: Flags = np.zeros(self.size, dtype=bool)  # which of them are held
        self._way: Indices = np.ones(self.size, dtype=int)  # in which they moved off

    @property
    def modes(self) -> Indices:
        """0 where they are held, else the way in which they moved off."""
        return np.where(self.held, 0, self._way)

    @modes.setter
    def modes(self, value: Indices) -> None:
        self.held, self._way = value == 0, np.where(value == 0, self._way, value)

    def margins(self, problem: Problem, t: float) -> Array:
        """Negative where a mode no longer holds."""
        if not self.size:
            return np.zeros(0)
        flow, load, band, strength = self._values(problem, t)
        room = strength - np.abs(load)
        return np.where(self.held, room, np.maximum(np.abs(flow) - band, -room))

    def start(self, problem: Problem, t: float) -> None:
        """Hold what is within its band and loaded less than its strength."""
        flow, load, band, strength = self._values(problem, t)
        self._hold(problem, t, (np.abs(flow) <= band) & (np.abs(load) < strength))
        self._way = np.where(self.held, 1, np.where(flow < 0, -1, 1))

    def switch(self, problem: Problem, t: float, touched: Indices) -> None:
        """Let go what is held of the elements touched, and hold what is not."""
        own = np.zeros(self.size, dtype=bool)
        own[touched] = True
        load = self._values(problem, t)[1]
        self._way = np.where(self.held & own, np.where(load < 0, -1, 1), self._way)
        self._hold(problem, t, self.held ^ own)

    def stop(self, slope: Array, problem: Problem, t: float) -> Array:
        """Slopes with the rounding of what is held removed."""
        if self.held.any():
            slope[self._held_states(problem, t)] = 0.0
        return slope

    def _values(self, problem: Problem, t: float) -> tuple[Array, Array, Array, Array]:
        """Flows, loads, bands and strengths."""
        flow, band, strength = self.functions.flow(*problem.arguments(t)).reshape(3, -1)
        load = self.elements.loads_of(problem.u)
        return flow[self.index], load[self.index], band[self.index], strength[self.index]

    def _hold(self, problem: Problem, t: float, held: Flags) -> None:
        """Hold these elements; flows of those that were not held before are set to zero."""
        new, self.held = bool(np.any(held & ~self.held)), held
        if not new:
            return
        index = self.index[held]
        args = problem.arguments(t)
        by_u = problem.system.slope_u.sparse(*args)[:, self.elements.column]
        push = by_u.multiply(self.elements.unit).tocsc()
        d = -(self.functions.flow_x.sparse(*args) @ push)[index][:, index]
        flow = self.functions.flow(*args)[index]
        problem.x += push[:, index] @ (inverse_by_parts(d.tocsr(), UNIT_PIVOT) @ flow)
        problem.x[self._held_states(problem, t)] = 0.0
        problem.solve_algebraic(t)

    def _held_states(self, problem: Problem, t: float) -> Indices:
        """States that are, alone, the flow of an element that is held."""
        rows = self.functions.flow_x.sparse(*problem.arguments(t)).tocsr()[self.index[self.held]]
        single = np.flatnonzero(np.diff(rows.indptr) == 1)
        return rows.indices[rows.indptr[single]]
