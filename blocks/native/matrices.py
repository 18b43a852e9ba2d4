"""Which entries have the matrices of an implicit method, and how are they stored?"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import casadi as ca
import numpy as np

from ..language.expression import TIME
from ..numerics.arrays import Indices
from ..numerics.rewriting import dependent_pairs
from .forms import MOST_STATES, why_no_derivatives, why_not

if TYPE_CHECKING:
    from scipy.sparse import csc_matrix

    from ..nonsmooth.contract import Laws
    from ..system import System
    from .bordered import Bordered

__all__ = ["bordered_matrix", "slope_of_states", "sparse_lists", "why_differences",
           "why_not_implicit"]  # fmt: skip

MOST_DENSE = 150  # unknowns of a full Jacobian; beyond, a sparse one in Python is cheaper,
MOST_WITH_LAWS = 500  # but where events are decided there, too
MOST_ENTRIES = 50  # of a column of a sparse matrix, on average, or all that a full one may have
MOST_GROUPS = 16  # of columns that share no row, or entries of a row: else equations have parts
MOST_WRITTEN = 40_000  # entries of these, which are written out


def bordered_matrix(system: System, laws: Laws | None = None) -> Bordered | None:
    """A large matrix with rows of what is solved for at every point, or of parts of slopes that
    follow many states; None where it has none of these."""
    if system.nx <= MOST_STATES or laws is not None or why_no_derivatives(system):
        return None
    return system.once("bordered matrix", lambda: _bordered_matrix(system))


def _bordered_matrix(system: System) -> Bordered | None:
    few = _of_few_entries(system, None)
    if few is not None and np.bincount(few.indices).max(initial=0) <= MOST_GROUPS:
        return None
    return (_with_unknowns if system.nz or system.clusters else _with_parts)(system)


def _with_unknowns(system: System) -> Bordered | None:
    tape, n = system.tape, system.nx
    rows = ca.vertcat(tape.residual, tape.constraints, tape.slope)
    pattern = ca.jacobian_sparsity(rows, ca.vertcat(tape.x, tape.z, TIME)).T
    if pattern.nnz() > max(MOST_ENTRIES * rows.numel(), MOST_DENSE**2):
        return None
    from .bordered import Bordered

    row, zeros = np.array(pattern.get_col()), rows.numel() - n
    carried = np.append(tape.carried, np.zeros(system.nc, dtype=bool)), tape.carried
    return Bordered(np.where(row < zeros, row + n, row - zeros), np.array(pattern.row()), n, zeros,
                    carried)


def _with_parts(system: System) -> Bordered | None:
    pattern, none = system.cut_slope_x.sparsity(), np.zeros(0, dtype=bool)
    if pattern.nnz() > MOST_WRITTEN:
        return None
    from .bordered import Bordered

    return Bordered(np.array(pattern.row()), np.array(pattern.get_col()), system.nx,
                    pattern.size1() - system.nx, (none, none))


def sparse_lists(system: System, laws: Laws | None = None) -> Indices | None:
    """The fronts of a large Jacobian; None where every state acts on many others.

    Where slopes are expressions in the states while modes are held, so are its entries; those
    through what is solved for, and differences, are found by groups of columns that share no row,
    unless a row has so many entries that there would be many of these.
    """
    return system.once("fronts", lambda: _sparse_lists(system, laws))


def _sparse_lists(system: System, laws: Laws | None) -> Indices | None:
    if system.nx <= MOST_STATES:
        return None
    few = _of_few_entries(system, laws)
    if few is None:
        return None
    from .front_lists import lists_of

    return lists_of(few, in_groups=slope_of_states(system, laws) is None or bool(
        why_no_derivatives(system, laws)))


def _of_few_entries(system: System, laws: Laws | None) -> csc_matrix | None:
    """Where slopes depend on states; None where most act on many others."""
    graph = _graph(system, laws)
    if graph is None or graph.nnz > _most_few(system):
        return None
    few = graph.tocsc()
    few.sort_indices()
    return few


def _most_few(system: System) -> int:
    """Entries up to which a Jacobian is sparse, or so small that it does not matter."""
    return max(MOST_ENTRIES * system.nx, MOST_DENSE**2)


def slope_of_states(system: System, laws: Laws | None = None) -> ca.SX | None:
    """Slopes as expressions in the states, while modes are held.

    None where something is solved for at every point.
    """
    if laws is None:
        return None if system.nz or system.clusters else system.tape.slope
    held = laws.held_modes
    return None if held is None or held.length else held.expressions["slope"]


def why_not_implicit(system: System, laws: Laws | None = None) -> str:
    """Why a model cannot run in machine code by a Rosenbrock method; empty if it can.

    That takes a full matrix, or a sparse one.
    """
    if reason := why_not(system, laws, implicit=True):
        return reason
    most = _most_dense(laws)
    if (system.nx <= most or bordered_matrix(system, laws) is not None
            or sparse_lists(system, laws) is not None):
        return ""
    return f"more than {most} states need a sparse matrix"


def _most_dense(laws: Laws | None) -> int:
    """Unknowns up to which a Jacobian may be full."""
    return MOST_DENSE if laws is None else MOST_WITH_LAWS


def why_differences(system: System, laws: Laws | None = None) -> str:
    """Why differences of slopes stand for derivatives in machine code; empty if they do not.

    Of many states the text of a full Jacobian would be long, unless it goes through unknowns that
    are solved for: then entries of sparse matrices are all that is written.
    """
    many = laws is not None and MOST_STATES < system.nx <= MOST_WITH_LAWS
    if many and sparse_lists(system, laws) is None:
        return "derivatives of many states by each other are long"
    return why_no_derivatives(system, laws)


def _graph(system: System, laws: Laws | None) -> csc_matrix | None:
    """Where slopes depend on states, while modes are held; None where that may be everywhere."""
    if (slope := slope_of_states(system, laws)) is not None:
        return _pattern(slope, system.tape.x)
    if laws is not None:
        return _through_elements(laws.held_modes, system.tape.x)
    if system.clusters:
        return None
    graph = _pattern(system.tape.slope, system.tape.x)
    if not system.nz:
        return graph
    through = _through_loops(system)
    return None if through is None else graph + through


def _pattern(of: ca.SX, by: ca.SX) -> csc_matrix:
    """Ones where expressions depend on symbols."""
    from scipy.sparse import csc_matrix

    pairs = dependent_pairs(of, by)
    return csc_matrix((np.ones(len(pairs[0])), pairs), shape=(of.numel(), by.numel()))


def _through_elements(held: Any, x: ca.SX) -> csc_matrix | None:
    """Ones where slopes depend on states at once, or by what elements without mass take."""
    from scipy.sparse import csc_matrix

    from ..nonsmooth.modes.held_network import HeldNetwork

    if not isinstance(held, HeldNetwork) or not held.equations.constant:
        return None
    slope, n = held.expressions["slope"], held.elements.size
    by_states, taken = _pattern(held.alone, x).tocsr(), _pattern(slope, held.taken)
    together = csc_matrix(held.together, dtype=float)
    return _pattern(slope, x) + taken @ together @ (by_states[:n] + by_states[n:])


def _through_loops(system: System) -> csc_matrix | None:
    """Ones where slopes depend on states by unknowns that are solved for, loop after loop; None
    where one loop alone lets too many act on each other."""
    from scipy.sparse import csc_matrix

    tape = system.tape
    loop = np.repeat(np.arange(len(tape.loops)), tape.loops)
    member = csc_matrix((np.ones(len(loop)), (np.arange(len(loop)), loop)))
    reach = member.T @ _pattern(tape.residual, tape.x)
    others = member.T @ _pattern(tape.residual, tape.z) @ member
    before = -1
    while reach.nnz > before:
        before = reach.nnz
        reach = ((reach + others @ reach) != 0).astype(float)
    by_loop = _pattern(tape.slope, tape.z) @ member
    pairs = np.diff(by_loop.tocsc().indptr).astype(float) * np.diff(reach.tocsr().indptr)
    return by_loop @ reach if pairs.max() <= _most_few(system) else None
