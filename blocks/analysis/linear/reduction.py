"""Which linear differential equations are left, in a mode, of a system at a point?

Unknowns of algebraic loops and efforts of friction are eliminated by the implicit function
theorem. Stuck friction, closed contacts and constraints between states tie states to others; what
can never change (the place of what is stuck, one of the elongations of springs between two walls)
is no state either. So what is left has exactly the degrees of freedom of the mode: nothing is
told from a pole by its size.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.linalg import qr
from scipy.sparse import csc_matrix, csr_matrix, identity, vstack
from scipy.sparse.linalg import splu

from ...exceptions import SimulationError
from ...numerics.arrays import Array, Flags, Indices
from ...system.system import System
from ..equilibrium.solve_in_mode import LAWS, mode_residuals
from .derivatives import DerivativesAt, elements_of_system
from .point import Point

__all__ = ["Reduced", "positional_states", "reduce"]

RANK = 1e-9  # pivot of equal rows, relative to the largest
NOTHING = 1e-12  # of what a row is made of: a sum that cancels
SOONER = 1e3  # weight of what is dropped first
MANY = 600  # states from which matrices are not searched for what depends on each other


@dataclass(frozen=True, eq=False)
class Reduced:
    """``y' = A y + B w``, ``outputs = C y + D w`` in SI units, y some of the states."""

    a: Array | csc_matrix  # sparse where it is large
    b: Array
    c: Array
    d: Array
    states: Indices  # numbers of the states in y
    tied: Indices  # numbers of states that others or the inputs determine
    # states that are sums of others, whose factors are given, or none and never change
    redundant: dict[int, dict[int, float]]
    by_states: Array | csc_matrix  # how all states follow from y
    by_inputs: Array  # and from the inputs
    undetermined: int  # how many combinations of efforts the motion leaves open


class _Eliminated:
    """All rows by states and inputs alone: unknowns of loops and efforts follow from them."""

    def __init__(self, point: Point, at: DerivativesAt) -> None:
        self.system, self.at = point.system, at
        self.modes = point.modes
        self._follow_loops()
        self._follow_modes(elements_of_system(point.system).contact)

    def _follow_loops(self) -> None:
        """Torn unknowns by states, efforts and inputs."""
        by, n = self.at.by, self.system.nz
        self.z_by = {}
        if n:
            try:
                solver = splu(by["residual", "z"].tocsc())
            except RuntimeError:
                raise SimulationError(
                    self.system.torn_name(0), "an algebraic loop has no unique solution at this "
                    "point, so the model has no linear model there.",
                    "Linearise beside this point.", code="analysis.singular",
                ) from None  # fmt: skip
            for argument in ("x", "u", "p"):
                self.z_by[argument] = -solver.solve(by["residual", argument].toarray())

    def partial(self, row: str, argument: str) -> csr_matrix:
        """A row's derivative, torn unknowns following."""
        direct = self.at.by[row, argument]
        if not self.system.nz:
            return direct
        return csr_matrix(direct + csr_matrix(self.at.by[row, "z"] @ self.z_by[argument]))

    def _follow_modes(self, contact: Flags) -> None:
        """Efforts by states and inputs, while modes are held."""
        stuck = self.modes == 0
        flow_u = self.partial("flow", "u")
        direct = np.asarray(abs(flow_u).sum(axis=1)).ravel() > 0
        self.held = [("flow", stuck & ~direct), ("gap", stuck & contact)]
        parts = {a: mode_residuals(self.modes, direct, *(
            self.partial(n, a).toarray() for n in LAWS)) for a in ("x", "u", "p")}
        law = ~stuck & ~parts["u"].any(axis=1)  # of states alone: efforts keep it as it is
        self.laws = csr_matrix(parts["x"][law]), parts["p"][law]
        for argument in parts:
            parts[argument][law] = self.laws[0] @ self.partial("slope", argument).toarray()
        size = np.abs(parts["u"]).max(axis=1, initial=0.0)
        size = np.where(size > 0, size, 1.0)[:, None]
        matrix = parts["u"] / size
        u, s, vt = np.linalg.svd(matrix, full_matrices=False)
        keep = s > RANK * s.max(initial=0.0)
        self.undetermined = int(np.count_nonzero(~keep))
        inverse = (vt[keep].T / s[keep]) @ u[:, keep].T
        self.u_x, self.u_p = -inverse @ (parts["x"] / size), -inverse @ (parts["p"] / size)

    def total(self, row: str) -> tuple[csr_matrix, Array]:
        """A row by states and by inputs."""
        by_x, by_p = self.partial(row, "x"), self.partial(row, "p").toarray()
        if self.system.nu:
            by_u = self.partial(row, "u")
            by_x = csr_matrix(by_x + csr_matrix(by_u @ self.u_x))
            by_p = by_p + by_u @ self.u_p
        return csr_matrix(by_x), by_p

    def constraints(self) -> tuple[csr_matrix, Array]:
        """What ties states in this mode."""
        found = [self.total("constraints"), self.laws]
        for name, mine in self.held:
            by_x, by_p = self.total(name)
            found.append((by_x[mine], by_p[mine]))
        return vstack([x for x, _ in found]).tocsr(), np.concatenate([p for _, p in found])


def reduce(point: Point, at: DerivativesAt) -> Reduced:
    """The linear model of a mode, with as few states as it has."""
    system, rows = point.system, _Eliminated(point, at)
    constraint_x, constraint_p = rows.constraints()
    free, by_y, by_p = _ties(constraint_x, constraint_p, point.scale_x)
    slope_x, slope_p = rows.total("slope")
    output_x, output_p = rows.total("outputs")
    mine = slope_x[free]
    a, b = mine @ by_y, slope_p[free] + mine @ by_p
    sizes = abs(mine) @ abs(by_y)
    position = positional_states(system)[free]
    redundant: dict[int, dict[int, float]] = {}
    states = free
    while len(states):
        unused = np.asarray(abs(slope_x[:, states]).sum(axis=0)).ravel() == 0
        found = _redundant(a, b, sizes, position, unused, point.scale_x[states])
        if found is None:
            break
        kept, dropped, follow = found
        redundant |= {int(states[k]): {
            int(states[j]): float(f) for j, f in zip(kept, row, strict=True) if f}
            for k, row in zip(dropped, follow, strict=True)}
        lift = np.zeros((len(states), len(kept)))
        lift[kept, np.arange(len(kept))] = 1.0
        lift[dropped] = follow
        a, b = a[kept] @ lift, b[kept]
        sizes = sizes[kept] @ np.abs(lift)
        by_y, states, position = by_y @ lift, states[kept], position[kept]
    dense = not (hasattr(a, "toarray") and len(states) > MANY)
    return Reduced(_dense(a) if dense else csc_matrix(a), np.asarray(b), _dense(output_x @ by_y),
                   output_p + output_x @ by_p, states, np.setdiff1d(np.arange(system.nx), free),
                   redundant, by_y, by_p, rows.undetermined)


def _ties(constraint: csr_matrix, by_inputs: Array, scale: Array
          ) -> tuple[Indices, csc_matrix | Array, Array]:
    """States that stay free, and how all states follow from these and from the inputs."""
    n = len(scale)
    c = constraint.toarray() * scale
    size = np.abs(c).max(axis=1, initial=0.0)
    some = size > 0
    if np.abs(by_inputs[~some]).max(initial=0.0) > RANK:
        raise _moves_what_is_held()
    if not some.any():
        return np.arange(n), identity(n, format="csc"), np.zeros((n, by_inputs.shape[1]))
    c, right = c[some] / size[some, None], by_inputs[some] / size[some, None]
    q, r, order = qr(c, mode="economic", pivoting=True)
    diagonal = np.abs(np.diag(r))
    rank = int(np.count_nonzero(diagonal > RANK * diagonal.max(initial=0.0)))
    tied, free = order[:rank], np.sort(order[rank:])
    turned = q.T @ right
    if np.abs(turned[rank:]).max(initial=0.0) > RANK * max(np.abs(right).max(initial=0.0), 1e-300):
        raise _moves_what_is_held()
    whole = np.linalg.solve(r[:rank, :rank], np.column_stack([r[:rank], turned[:rank]]))
    of_states = np.zeros((rank, n))
    of_states[:, order] = whole[:, :n]
    by_y = np.zeros((n, len(free)))
    by_y[free, np.arange(len(free))] = 1.0
    by_y[tied] = -of_states[:, free] / scale[free] * scale[tied][:, None]
    by_p = np.zeros((n, right.shape[1]))
    by_p[tied] = -whole[:, n:] * scale[tied][:, None]
    return free, by_y, by_p


def _moves_what_is_held() -> SimulationError:
    return SimulationError(
        "", "an input moves something that is stuck or tied to something that does not move.",
        "Take an input that this mode leaves free, or another mode.", code="analysis.tied")


def _redundant(a: Array, b: Array, sizes: Array, position: Flags, unused: Flags, scale: Array
               ) -> tuple[Indices, Indices, Array] | None:
    """Positions whose combinations never change: kept states, dropped ones, and how these follow.

    Those that nothing depends on, such as what sensors show, are dropped first.
    """
    candidates = np.flatnonzero(position)
    if not len(candidates):
        return None
    if len(position) > MANY:
        moves = np.asarray(abs(csr_matrix(a)).sum(axis=1)).ravel() + np.abs(b).sum(axis=1)
        dropped = candidates[moves[candidates] == 0]
        kept = np.setdiff1d(np.arange(len(position)), dropped)
        return (kept, dropped, np.zeros((len(dropped), len(kept)))) if len(dropped) else None
    rows = _dense(a)[candidates] * scale
    whole = np.column_stack([rows, b[candidates]])
    made_of = np.column_stack([_dense(sizes)[candidates] * scale, np.abs(b[candidates])])
    whole = np.where(np.abs(whole) > NOTHING * made_of.max(axis=1, keepdims=True), whole, 0.0)
    size = np.abs(whole).max(axis=1)
    size = np.where(size > 0, size, 1.0)
    left, s, _ = np.linalg.svd(whole / size[:, None])
    rank = int(np.count_nonzero(s > RANK * s.max(initial=0.0)))
    never = left[:, rank:].T / size  # combinations (rows) of the candidates that do not change
    if not len(never):
        return None
    count = len(never)
    wanted = np.where(unused[candidates], SOONER, 1.0)
    order = qr(never * wanted, mode="r", pivoting=True)[1]
    factors = -np.linalg.solve(never[:, order[:count]], never[:, order[count:]])
    dropped = candidates[order[:count]]
    kept = np.setdiff1d(np.arange(len(position)), dropped)
    follow = np.zeros((count, len(position)))
    follow[:, candidates[order[count:]]] = np.where(np.abs(factors) > RANK, factors, 0.0)
    return kept, dropped, follow[:, kept]


def positional_states(system: System) -> Flags:
    """States whose derivative is a variable by itself, as a position's is a velocity.

    A velocity's is none, whatever a sensor shows of it: the momentum of free bodies is a state,
    although nothing changes it.
    """
    flat = system.flat
    named = np.zeros(flat.classes, dtype=bool)
    for base, size, f, (i, order) in flat.slot_runs:
        if order == 0 and flat.network.families[f].kernel.variables[i].kind in (
                "variable", "across"):
            named[flat.class_of[base : base + size]] = True
    rate = flat.derivative[system.tape.reduced.states]
    return (rate >= 0) & named[rate]


def _dense(matrix: Array | csc_matrix) -> Array:
    return matrix.toarray() if hasattr(matrix, "toarray") else np.asarray(matrix)
