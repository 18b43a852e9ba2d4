"""Friction laws that look at the load, the effort with which everything else drives an element.

It is not a quantity of any one body: it follows from efforts and rates of the network
(:mod:`blocks.nonsmooth.modes.load_efforts`). Set-valued laws of the same network are inside.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import casadi as ca
import numpy as np

from ...exceptions import StructureError
from ...language.kernel import VALVES
from ...numerics import sparse as sp
from ...numerics.arrays import Array, Flags, Indices
from ...numerics.sparse_solves import inverse_by_parts
from ...numerics.tolerances import UNIT_PIVOT
from ...system import Problem, System
from ..contract import IndeterminateGroup, Laws
from ..mode_state import ModeState
from .elements import Change, Elements
from .law_functions import LawFunctions
from .laws import SetValuedLaws
from .load_efforts import LoadEfforts
from .load_functions import LoadElements, LoadFunctions, load_laws_of
from .massless_nodes import MasslessLaws, without_mass

if TYPE_CHECKING:
    from scipy.sparse import csc_matrix

__all__ = ["LoadLaws", "laws_of", "refuse_loads_without_mass", "set_valued_laws"]


def refuse_loads_without_mass(system: System) -> None:
    """Stop where a law of the load, or exact friction beside one, acts on a node without mass.

    A StructureError names an element.
    """
    if not (laws := load_laws_of(system)):
        return
    light, fast = [*without_mass(system)], ca.vertcat(system.tape.u, system.tape.z)
    for f, family, law in laws:
        flow = system.tape.writer.kernel_row(f, law.flow).T
        light += map(family.path, np.flatnonzero(ca.which_depends(flow, fast, 1, True)).tolist())
    if light:
        raise StructureError(
            light[0], "an ideal diode or switch, or friction on a node without mass, is in one "
            "network with a law that looks at the load.", "Give both sides a mass or a "
            "capacitance, or take exact friction for all there (law='coulomb').",
            code="structure.massless",
        )  # fmt: skip


def set_valued_laws(system: System) -> Laws:
    """The set-valued laws of a system, at the start of a run."""
    if any(law.kind in VALVES for *_, law in system.network.set_valued) or without_mass(system):
        return MasslessLaws(system)
    return SetValuedLaws(system.once("laws", lambda: LawFunctions.of(system)))


def laws_of(system: System) -> Laws:
    """The laws of a system: set-valued ones, and those of the load where there are any."""
    refuse_loads_without_mass(system)
    laws = set_valued_laws(system)
    loaded = load_laws_of(system)
    return LoadLaws(system, laws) if loaded and isinstance(laws, SetValuedLaws) else laws


class LoadLaws(Laws):
    """Laws of the load, around the set-valued ones of the same network.

    To the outside one set of laws: modes of the set-valued elements come first, then
    those of elements that are held at rest by a band of velocity (0 held, else moving).
    """

    def __init__(self, system: System, set_valued: SetValuedLaws) -> None:
        functions = system.once("laws of the load", lambda: LoadFunctions(system))
        super().__init__(system, _joined(set_valued.elements, functions.elements, system))
        self._set_valued = set_valued
        self.efforts = LoadEfforts(system, functions, set_valued)
        self.bands = _RestBands(functions, set_valued, self.elements)
        self.held_modes = functions.held
        self.watched = self.size > 0

    @property
    def state(self) -> ModeState:  # type: ignore[override]  # theirs
        return self._set_valued.state

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
        through, free = self.efforts.jacobian(problem, t), self._free(problem, t)
        own = self.system.slope_x.sparse(*problem.arguments(t))
        # what is held stays, whatever drives it
        return sp.csc_matrix(sp.diags_array(free) @ through - sp.diags_array(1.0 - free) @ own)

    def _free(self, problem: Problem, t: float) -> Array:
        """1 for every state, 0 where an element is held that it is the flow of."""
        return self.bands.stop(np.ones(self.system.nx), problem, t)

    def fresh(self) -> LoadLaws:
        return LoadLaws(self.system, self._set_valued.fresh())

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
    contact, gives_flow, switch, valve = (np.append(flags, nothing) for flags in (
        elements.contact, elements.gives_flow, elements.switch, elements.valve))
    return Elements(
        [*elements.owners, *(mine.owners[i] for i in rest)],
        np.append(elements.column, mine.column[rest]), np.append(elements.unit, mine.unit[rest]),
        system.network, contact, gives_flow, switch, valve,
        [*elements.effort_names, *[""] * len(rest)],
        np.append(elements.kinds, np.full(len(rest), elements.kinds.max(initial=-1) + 1)),
        [*elements.twins, *[False] * len(rest)],
    )  # fmt: skip


class _RestBands:
    """Elements that a band of velocity holds at rest, as long as the load is below a strength."""

    def __init__(self, functions: LoadFunctions, exact: SetValuedLaws, joined: Elements) -> None:
        self.functions, self.elements = functions, functions.elements
        self.exact, self.joined = exact, joined  # exact laws, and elements of these before its own
        self.index = self.elements.resting
        self.size = len(self.index)
        # 0 where they are held, else the way in which they moved off
        self.modes: Indices = np.ones(self.size, dtype=int)

    @property
    def held(self) -> Flags:
        """Which of them are held."""
        return self.modes == 0

    def margins(self, problem: Problem, t: float) -> Array:
        """Negative where a mode no longer holds."""
        flow, load, band, strength = self._values(problem, t)
        room = strength - np.abs(load)
        return np.where(self.held, room, np.maximum(np.abs(flow) - band, -room))

    def start(self, problem: Problem, t: float) -> None:
        """Hold what is within its band and loaded less than its strength."""
        flow, load, band, strength = self._values(problem, t)
        held = (np.abs(flow) <= band) & (np.abs(load) < strength)
        self._take(problem, t, np.where(held, 0, np.where(flow < 0, -1, 1)))

    def switch(self, problem: Problem, t: float, touched: Indices) -> None:
        """Let go what is held of the elements touched, and hold what is not."""
        modes, way = self.modes.copy(), np.where(self._values(problem, t)[1] < 0, -1, 1)
        modes[touched] = np.where(self.held, way, 0)[touched]
        self._take(problem, t, modes)

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

    def _take(self, problem: Problem, t: float, modes: Indices) -> None:
        """Take these modes; flows of what was not held before, and is now, are set to zero.

        What exact friction holds it goes on holding: it would bear what slows the flow down.
        """
        new, self.modes = bool(np.any(self.modes[modes == 0])), modes
        if not new:
            return
        args, held = problem.arguments(t), np.append(self.exact.modes, modes) == 0
        column, unit = self.joined.column[held], self.joined.unit[held]
        push = problem.system.slope_u.sparse(*args)[:, column].multiply(unit).tocsc()
        flow_x = sp.vstack([self.exact.functions.flow_x.sparse(*args),
                            self.functions.flow_x.sparse(*args).tocsr()[self.index]]).tocsr()[held]
        flow = np.append(np.zeros(self.exact.size), self._values(problem, t)[0])[held]
        d = -(flow_x @ push)
        problem.x += push @ (inverse_by_parts(d.tocsr(), UNIT_PIVOT) @ flow)
        problem.x[self._held_states(problem, t)] = 0.0
        problem.solve_algebraic(t)

    def _held_states(self, problem: Problem, t: float) -> Indices:
        """States that are, alone, the flow of an element that is held."""
        held = self.index[self.held & self.functions.from_rest[self.index]]
        rows = self.functions.flow_x.sparse(*problem.arguments(t)).tocsr()[held]
        single = np.flatnonzero(np.diff(rows.indptr) == 1)
        return rows.indices[rows.indptr[single]]
