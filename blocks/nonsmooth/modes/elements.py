"""Who are the elements of set-valued laws, what do they come to, and how do they change?"""

from __future__ import annotations

from dataclasses import dataclass

import casadi as ca
import numpy as np

from ...assembly.network import Network
from ...exceptions import SimulationError
from ...language.kernel import VALVES
from ...numerics.arrays import Array, Flags, Indices, distinct
from ...system import System

__all__ = ["MOST_INVERTED", "MOST_TOGETHER", "MOST_WRITTEN", "Change", "ElementInputs", "Elements",
           "LawValues", "elements_of", "inputs_of", "lack_mass"]

MOST_TOGETHER = 2000  # elements that machine code solves for: full matrices, of 32 MB each
MOST_INVERTED = 300  # that act on each other by an inverse, all new at an event: Python is as fast
MOST_WRITTEN = 100  # that act on each other by a text of every pair: half a minute to compile


@dataclass(frozen=True)
class Change:
    """An element changed its mode."""

    element: int
    before: int
    after: int
    impact: bool = False


@dataclass(frozen=True)
class LawValues:
    """Flows, static bounds, kinetic efforts, rates and gaps of all elements at a point."""

    flow: Array
    low: Array
    high: Array
    back: Array
    forth: Array
    rate: Array
    gap: Array

    @property
    def idle(self) -> Flags:
        """Elements without a choice: the same effort at rest and in both directions."""
        return (self.low == self.high) & (self.back == self.forth)

    def sliding(self, modes: Indices) -> Array:
        """Efforts while sliding (0 where stuck)."""
        return np.where(modes > 0, self.forth, np.where(modes < 0, self.back, 0.0))


@dataclass(frozen=True, eq=False)
class ElementInputs:
    """Elements whose efforts stand among the inputs ``u`` of the reduced system."""

    owners: list[tuple[int, int]]  # family and instance of every element
    # column, unit: where its effort stands, and what one of it is there; of its flow, where it is
    # that which is given
    column: Indices
    unit: Array

    @property
    def size(self) -> int:
        return len(self.owners)

    def efforts_of(self, u: Array) -> Array:
        """Efforts of the elements from inputs, at one time or at several."""
        return (u[self.column].T / self.unit).T

    def columns_of(self, by_inputs: Array) -> Array:
        """Derivatives by the efforts of the elements, taken from those by all inputs."""
        return by_inputs[:, self.column] * self.unit

    def put(self, u: Array, effort: Array) -> None:
        """Write efforts of the elements into inputs."""
        u[self.column] = effort * self.unit


@dataclass(frozen=True, eq=False)
class Elements(ElementInputs):
    """The elements of a network, numbered class by class, law by law, instance by instance."""

    network: Network  # the network whose families they belong to
    contact: Flags  # whether it is a unilateral contact
    gives_flow: Flags  # whether it takes the effort and gives the flow (at nodes without mass)
    # whether a condition tells its mode: its bounds are equal, or endless on both sides
    switch: Flags
    valve: Flags  # whether it is a switch or a diode, which open and close
    effort_names: list[str]  # name of its effort in its component
    kinds: Indices  # a number, the same for elements whose efforts are of one dimension
    twins: list[bool]  # whether its component has another law of the kind

    def name(self, element: int) -> str:
        """Path of the component an element belongs to."""
        f, i = self.owners[element]
        return self.network.families[f].path(i)

    def label(self, element: int) -> str:
        """Path of an element: of its component, or of its effort where that has several."""
        f, _ = self.owners[element]
        several = len(self.network.families[f].kernel.set_valued) > 1
        return self.name(element) + f".{self.effort_names[element]}" * several

    def names(self, some: Indices) -> list[str]:
        """Paths of the components that some elements belong to, each once."""
        return list(dict.fromkeys(map(self.name, some.tolist())))

    def labels(self, some: Indices) -> list[str]:
        """Paths of some elements."""
        return list(map(self.label, some.tolist()))

    def error(self, t: float, who: Indices, what: str, advice: str, code: str,
              most: int | None = None) -> SimulationError:
        """The error for elements at which a run stops, of which no more than so many are named."""
        return SimulationError(
            ", ".join(self.names(who[:most])), f"at t = {t:.9g} s {what}", advice, code=code,
            time=float(t), variables=tuple(self.labels(who)))

    def words(self, change: Change) -> str:
        """What a change is called."""
        if self.valve[change.element]:
            word = "closes" if change.after == 0 else "opens"
        elif self.contact[change.element]:
            word = {0: "closes", -1: "rebounds" if change.impact else "opens"}[change.after]
        else:
            word = {0: "sticks", 1: "slides forward", -1: "slides backward"}[change.after]
        return f"{word} ({self.effort_names[change.element]})" if self.twins[change.element] \
            else word

    def changes(self, before: Indices, after: Indices, struck: Flags | bool = False
                ) -> list[Change]:
        """Which elements have changed their modes, or were struck."""
        hit = np.broadcast_to(struck, self.size)
        return [Change(int(i), int(before[i]), int(after[i]), bool(hit[i]))
                for i in np.flatnonzero((after != before) | hit)]

    def pushed(self, by_inputs: ca.SX) -> ca.SX:
        """Derivatives by efforts as expressions, taken from those by all inputs."""
        return ca.mtimes(by_inputs[:, self.column.tolist()], ca.diag(ca.DM(self.unit)))

    def inputs_of(self, effort: Array, count: int) -> Array:
        """Efforts of the elements as columns of that many inputs."""
        u = np.zeros((count, effort.shape[1]))
        u[self.column] = effort * self.unit[:, None]
        return u


def elements_of(system: System) -> Elements:
    """The elements of a system's set-valued laws; those of laws of the load come after them."""
    flat, laws = system.flat, system.network.set_valued
    sizes = np.array([family.size for _, family, _ in laws], dtype=int)
    gives_flow, slots = system.tape.reduced.gives_flow[: sizes.sum()], [np.zeros(0, dtype=int)]
    for (f, family, law), first in zip(laws, np.cumsum(sizes) - sizes, strict=True):
        every, swapped = np.arange(family.size), gives_flow[first : first + family.size]
        slots.append(flat.base[f][law.effort, 0] + every)
        if swapped.any():
            key = family.kernel.key_of(law.flow)
            assert key is not None  # else the index reduction had not swapped it
            slots[-1] = np.where(swapped, flat.base[f][key] + every, slots[-1])
    efforts = [family.kernel.variables[law.effort] for _, family, law in laws]
    twins = [sum(other.words == law.words for other in family.kernel.set_valued) > 1
             for _, family, law in laws]
    kind, dimension = (np.repeat(np.array(words, dtype=str), sizes) for words in (
        [law.kind for *_, law in laws], [str(effort.unit.dimension) for effort in efforts]))
    return Elements(
        [(f, i) for f, family, _ in laws for i in range(family.size)],
        *inputs_of(system, np.concatenate(slots)), system.network, kind == "contact", gives_flow,
        np.isin(kind, ("switch", "gated diode")), np.isin(kind, VALVES),
        np.repeat([effort.name for effort in efforts], sizes).tolist(),
        np.unique(dimension, return_inverse=True)[1], np.repeat(twins, sizes).tolist())


def lack_mass(system: System) -> Flags:
    """Set-valued elements whose flow the states alone do not determine."""
    return system.once("elements without mass", lambda: _lack_mass(system))


def _lack_mass(system: System) -> Flags:
    tape, first = system.tape, 0
    fast = ca.vertcat(tape.u, tape.z)
    laws = system.network.set_valued
    read = [tape.writer.classes_read(f, law.flow) for f, _, law in laws]
    every = distinct(np.concatenate([np.zeros(0, dtype=int), *(r.ravel() for r in read)]))
    follows = np.zeros(system.flat.classes, dtype=bool)
    follows[every] = ca.which_depends(tape.values[every.tolist()], fast, 1, True)
    out = tape.reduced.gives_flow[: sum(family.size for _, family, _ in laws)].copy()
    for (f, family, law), classes in zip(laws, read, strict=True):
        some = np.flatnonzero(follows[classes].any(axis=0))  # unless it cancels
        if len(some):
            out[first + some] |= np.array(ca.which_depends(
                tape.writer.kernel_row(f, law.flow, some).T, fast, 1, True), dtype=bool)
        first += family.size
    return out


def inputs_of(system: System, slots: Indices) -> tuple[Indices, Array]:
    """Where variables stand among the inputs of a system, and with which sign."""
    flat = system.flat
    at = {int(c): k for k, c in enumerate(system.tape.writer.inputs)}
    return (np.array([at[int(c)] for c in flat.class_of[slots]], dtype=int),
            flat.sign_of[slots].astype(float))
