"""In which order do unknowns stand for an implicit method, and how are its matrices stored?"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import casadi as ca
import numpy as np

from ..numerics.arrays import Indices

if TYPE_CHECKING:
    from scipy.sparse import csc_matrix

    from ..system import System
    from .cvode_library import Band

__all__ = ["LinearAlgebra", "band_of", "linear_algebra_of", "sparse_form"]

DENSE = 50  # unknowns up to which a full Jacobian is cheaper than a band
MOST_DENSE = 150  # unknowns of a full Jacobian; beyond, a sparse one in Python is cheaper
SMALL_LOOP = 3  # unknowns of a loop through which slopes depend on few states
WIDEST = 50  # diagonals on either side
MOST_ENTRIES = 50  # of a column of a sparse matrix, on average
NARROW = 10  # diagonals in all that differences of slopes are worth finding for every step


@dataclass(frozen=True)
class LinearAlgebra:
    """In which order unknowns stand for CVODE, and how its matrices are stored."""

    order: Indices  # which unknown of the model stands where; empty: as they are
    band: Band | None = None  # None: a full matrix


def linear_algebra_of(system: System) -> LinearAlgebra | None:
    """What suits the Jacobian of a system; None if neither a full matrix nor a band does."""
    return system.once("cvode matrices", lambda: _linear_algebra(system))


def _linear_algebra(system: System) -> LinearAlgebra | None:
    n, as_they_are = system.nx, np.zeros(0, dtype=np.int64)
    if n > DENSE and max(system.tape.loops, default=0) <= SMALL_LOOP:
        order, band = _narrowest(system)
        if max(band.upper, band.lower) <= WIDEST and 2 * band.height < n:
            return LinearAlgebra(order, band)
    return LinearAlgebra(as_they_are) if n <= MOST_DENSE else None


def sparse_form(system: System) -> Indices | None:
    """The fronts of a Jacobian; None where every state acts on many others."""
    return system.once("fronts", lambda: _sparse_form(system))


def _sparse_form(system: System) -> Indices | None:
    if max(system.tape.loops, default=0) > SMALL_LOOP:
        return None
    graph = _graph(system).tocsc()
    graph.sort_indices()
    if graph.nnz > MOST_ENTRIES * system.nx:
        return None
    from .front_lists import form_of

    return form_of(graph)


def _graph(system: System) -> csc_matrix:
    """Where slopes depend on states."""
    graph = _pattern(system.tape.slope, system.tape.x)
    return graph + _through_loops(system) if system.nz else graph


def _narrowest(system: System) -> tuple[Indices, Band]:
    """The order of unknowns after Cuthill and McKee, and the band that they then make."""
    from scipy.sparse.csgraph import reverse_cuthill_mckee

    from .cvode_library import Band

    graph = _graph(system)
    row, column = graph.nonzero()
    order = reverse_cuthill_mckee((graph + graph.T).tocsr(), symmetric_mode=True)
    place = np.empty(system.nx, dtype=np.int64)
    place[order] = np.arange(system.nx)
    below = place[row] - place[column]
    band = Band(int(max(0, -below.min(initial=0))), int(max(0, below.max(initial=0))))
    return order.astype(np.int64), band


def _pattern(of: ca.SX, by: ca.SX) -> csc_matrix:
    """Ones where expressions depend on symbols."""
    from scipy.sparse import csc_matrix

    pattern = ca.jacobian_sparsity(of, by)
    row, column = (np.array(k, dtype=np.int64) for k in pattern.get_triplet())
    return csc_matrix((np.ones(len(row)), (row, column)), shape=pattern.shape)


def _through_loops(system: System) -> csc_matrix:
    """Ones where slopes depend on states by unknowns that are solved for, loop after loop."""
    from scipy.sparse import csc_matrix

    tape = system.tape
    loop = np.repeat(np.arange(len(tape.loops)), tape.loops)
    member = csc_matrix((np.ones(len(loop)), (np.arange(len(loop)), loop)))
    together = member @ member.T
    reach, others = together @ _pattern(tape.residual, tape.x), _pattern(tape.residual, tape.z)
    before = -1
    while reach.nnz > before:
        before = reach.nnz
        reach = ((reach + together @ (others @ reach)) != 0).astype(float)
    return _pattern(tape.slope, tape.z) @ reach


def band_of(system: System, directions: bool = False) -> LinearAlgebra | None:
    """The order that makes a Jacobian a band, where it has to be one.

    That is where it is too large to be full, if the band is narrow; and where it is found by
    derivatives in ``directions``.
    """
    if system.nx <= DENSE:
        return LinearAlgebra(*system.once("narrowest", lambda: _narrowest(system))) \
            if directions else None
    found = linear_algebra_of(system)
    narrow = found is not None and found.band is not None and (
        found.band.upper + found.band.lower < NARROW)
    return found if narrow else None
