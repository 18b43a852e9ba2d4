"""Which contacts can close at all, how far have closed ones drifted apart?

Closed contacts are held by their efforts: gaps keep their rates, and errors of the
integration add up. When a gap has grown beyond what is allowed, positions are moved as
impulses of the contacts would move them, velocities are stopped likewise, and the
integration starts afresh. Knows contacts as gaps of states only.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import casadi as ca
import numpy as np
from scipy.sparse import csc_matrix, issparse

from ...exceptions import InitialisationError
from ...system.newton import DENSE
from ...system.problem import Problem
from ...units import unit
from ..unsettled import unsettled
from .delassus import solver

__all__ = ["APART", "RIGID", "TWO_BODIES", "Contacts", "allowed_gap", "immovable",
           "overlaps", "positions_of", "refuse_overlap"]  # fmt: skip

ALLOWED = 2e-12  # of the largest position, or its nominal value: a gap that is left alone
APART = ("Move the bodies apart; where there are several places of contact, a guess tells which is "
         "meant.")  # fmt: skip
RIGID = ("touches from one part to the same part, or to one that cannot move against it, so it can "
         "never open or close.")  # fmt: skip
TWO_BODIES = "Connect its two ports to two different bodies."
OVERLAP = 1e-6  # of the largest position: a gap that is no rounding at the start
LEFT = 1e3  # times what is allowed: a gap that could not be closed
ROUNDS = 4  # of Newton's method, with the first matrix


class Contacts:
    """The contacts among set-valued laws.

    Parameters
    ----------
    laws : SetValuedLaws
    """

    def __init__(self, laws: Any) -> None:
        self.laws, system = laws, laws.system
        self.of = np.flatnonzero(laws.contact)  # element of every gap
        self.active = bool(len(self.of))
        if not self.active:
            return
        if "contacts" not in system.cache:
            gaps = _gaps_of(system)
            system.cache["contacts"] = (
                system.function("gaps", ca.densify(gaps)),
                system.jacobian(gaps, system.tape.x), positions_of(system))
        self.gaps, self.by_x, self.positions = system.cache["contacts"]

    def refuse_impossible(self, problem: Problem, t: float) -> None:
        """Contacts of parts that overlap at the start, or cannot move against each other.

        Raises
        ------
        InitialisationError
            Naming the contact.
        """
        if not self.active:
            return
        for path in immovable(self.laws, problem, t):
            raise InitialisationError(path, RIGID, TWO_BODIES, code="contact.rigid")
        far = np.maximum(np.abs(problem.x), problem.scale_x)[self.positions].max(initial=0.0)
        refuse_overlap(self.laws, self._of(problem, t), self.of, far)

    def close(self, problem: Problem, t: float) -> bool:
        """Close gaps that have drifted open; whether there were any."""
        if not self.active:
            return False
        closed = np.flatnonzero(self.laws.modes[self.of] == 0)
        if not len(closed):
            return False
        allowed = allowed_gap(problem, self.positions)
        if np.abs(self._of(problem, t)[closed]).max() <= allowed:
            return False
        stuck = np.flatnonzero(self.laws.modes == 0)
        push, slope_x, by_x = self._matrices(problem, t, stuck)
        way = slope_x[self.positions] @ push[:, np.searchsorted(stuck, self.of[closed])]
        inverse = np.linalg.pinv(by_x[closed][:, self.positions] @ way, rcond=1e-10)
        for _ in range(ROUNDS):
            gap = self._of(problem, t)[closed]
            if np.abs(gap).max() <= 0.01 * allowed:
                break
            problem.x[self.positions] -= way @ (inverse @ gap)
            if problem.algebraic:
                problem.solve_algebraic(t)
        if np.abs(self._of(problem, t)[closed]).max() > LEFT * allowed:
            raise unsettled((self.laws.name(int(k)) for k in self.of[closed]), t, "positions",
                            "Look for bodies that touch in more places than they can move.")
        d = self.laws.delassus(problem, t)[stuck][:, stuck]
        flow = self.laws.look(problem, t).flow[stuck]
        problem.x += push @ solver(csc_matrix(d) if issparse(d) else d)(flow)
        problem.settle(t)
        return True

    def _matrices(self, problem: Problem, t: float, elements: np.ndarray
                  ) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """d slope / d effort of some elements, d slope / d x and d gap / d x, all dense."""
        system, args = problem.system, problem.arguments(t)
        push = self.laws._push(problem, t, elements)
        push = push.toarray() if issparse(push) else push
        if system.nz or system.nx > DENSE:
            return push, system.slope_x.sparse(*args).toarray(), self.by_x.sparse(*args).toarray()
        return push, system.slope_x.dense(*args), self.by_x.dense(*args)

    def _of(self, problem: Problem, t: float) -> np.ndarray:
        return self.gaps(*problem.arguments(t))


def allowed_gap(problem: Problem, positions: np.ndarray) -> float:
    """How far closed contacts may drift apart."""
    sizes = np.maximum(np.abs(problem.x), problem.scale_x)[positions]
    return ALLOWED * float(sizes.max(initial=0.0))


def positions_of(system: Any) -> np.ndarray:
    """States that efforts change by way of velocities only."""
    pushed = ca.which_depends(system.tape.slope, system.tape.u, 1, True)
    return np.flatnonzero(~np.array(pushed, dtype=bool))


def refuse_overlap(laws: Any, gaps: np.ndarray, elements: np.ndarray, far: float) -> None:
    """Contacts of parts that overlap at the start.

    Raises
    ------
    InitialisationError
        Naming the contact.
    """
    for k in np.flatnonzero(gaps < -OVERLAP * far):
        f = laws.owners[int(elements[k])][0]
        raise InitialisationError(
            laws.name(int(elements[k])),
            f"its two sides overlap by {_size(laws.system, f, -gaps[k])} at the start.", APART,
            code="contact.overlap", depth=float(-gaps[k]),
        )  # fmt: skip


def overlaps(system: Any, problem: Problem, t: float) -> Iterator[tuple[str, str]]:
    """Contacts whose sides overlap at a point, and by how much."""
    gaps = _gaps_of(system)
    if not gaps.numel():
        return
    values = system.function("gaps", ca.densify(gaps))(*problem.arguments(t))
    far = np.maximum(np.abs(problem.x), problem.scale_x)[positions_of(system)].max(initial=0.0)
    owners = [(f, i) for f, family in enumerate(system.network.families)
              for law in family.kernel.set_valued if law.is_contact
              for i in range(family.size)]  # fmt: skip
    for k in np.flatnonzero((values < -OVERLAP * far) & np.isfinite(values)):
        f, i = owners[k]
        yield system.network.families[f].path(i), _size(system, f, -values[k])


def immovable(laws: Any, problem: Problem, t: float) -> list[str]:
    """Contacts whose effort moves nothing: between parts that cannot move against each other."""
    dead = laws.contact & laws._dead(laws.delassus(problem, t))
    return [laws.name(int(k)) for k in np.flatnonzero(dead)]


def _gaps_of(system: Any) -> Any:
    """All gaps, as a column."""
    return ca.vertcat(ca.SX(0, 1), *(
        system.tape.writer.kernel_row(f, law.gap).T
        for f, family in enumerate(system.network.families)
        for law in family.kernel.set_valued if law.is_contact))  # fmt: skip


def _size(system: Any, f: int, depth: float) -> str:
    """An overlap in mm; in mrad for the contacts whose effort is a torque."""
    kernel = system.network.families[f].kernel
    efforts = {kernel.variables[law.effort].unit.dimension for law in kernel.set_valued
               if law.is_contact}  # fmt: skip
    return f"{1e3 * depth:.4g} {'mrad' if efforts == {unit('N*m').dimension} else 'mm'}"
