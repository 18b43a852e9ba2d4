"""In which fronts is a sparse matrix factored? Its symbolic factorisation, once for a pattern.

See :mod:`blocks.native.fronts`; also which columns share no row, so that one evaluation tells them.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING

import casadi as ca
import numpy as np

from ..numerics.arrays import Indices

if TYPE_CHECKING:
    from scipy.sparse import csc_matrix

__all__ = [
    "AT", "BEHIND", "BEHIND_STARTS", "BORDERED", "CHILDREN", "CHILD_STARTS", "COLUMN_GROUPS",
    "COLUMN_ROWS", "COLUMN_STARTS", "ENTRIES", "ENTRIES_OF", "ENTRY_PLACES", "ENTRY_STARTS",
    "FACTORIZE", "FACTORS_AT", "FIRST", "FRONT", "FRONTS", "GROUPS", "GROUP_STARTS", "HEAD",
    "IN_PARENT", "LEFT", "LEFT_AT", "NUMBERS", "SIZE", "SOLVE", "UNKNOWNS", "joined_lists",
    "lists_of", "room_of"]  # fmt: skip

#: The lists of a matrix are one array of whole numbers, lists end to end. First stands where each
#: list begins.
LISTS = ("first", "behind_starts", "behind", "in_parent", "child_starts", "children", "left_at",
         "factors_at", "entry_starts", "entries", "entry_places", "at", "group_starts", "groups",
         "column_starts", "column_rows")  # fmt: skip
(FIRST, BEHIND_STARTS, BEHIND, IN_PARENT, CHILD_STARTS, CHILDREN, LEFT_AT, FACTORS_AT, ENTRY_STARTS,
 ENTRIES_OF, ENTRY_PLACES, AT, GROUP_STARTS, GROUPS, COLUMN_STARTS, COLUMN_ROWS) = range(len(LISTS))
#: Then how many fronts, unknowns, groups of columns and entries there are, how many numbers factors
#: take with the room behind them, where that room begins (a front, what is left of others); and, of
#: the process, how many numbers a vector has and the addresses of what factors and solves.
(FRONTS, UNKNOWNS, COLUMN_GROUPS, ENTRIES, NUMBERS, FRONT, LEFT, SIZE, FACTORIZE, SOLVE, HEAD) = (
    range(len(LISTS), len(LISTS) + 11))

BORDERED = -1  # in place of the number of fronts: unknowns have rows beside states
SMALL = 8  # pivots of a front up to which all that lead to one are taken together
SPARE = 0.25  # part of a front's pivot rows that may be zero


def lists_of(pattern: csc_matrix, in_groups: bool = True) -> Indices:
    """The lists of matrices with these entries.

    The ``pattern`` is (n, n), its entries column after column with ascending rows; ``in_groups``:
    whether entries are found by groups of columns that share no row.
    """
    n, groups = pattern.shape[0], _groups(pattern) if in_groups else []
    order = _chain(pattern)
    lists, sizes = _in_fronts(pattern) if order is None else _in_three(pattern, order)
    lists |= {"group_starts": _starts([len(g) for g in groups]), "groups": _joined(groups),
              "column_starts": pattern.indptr, "column_rows": pattern.indices}
    sizes[0] += n + 1  # for a vector, and the reciprocal of the diagonal
    return joined_lists(lists, [len(lists["first"]) - 1, n, len(groups), pattern.nnz, *sizes])


def joined_lists(lists: Mapping[str, Indices], head: Sequence[int]) -> Indices:
    """Lists end to end, behind where each begins and the ``head``, up to what is of a process."""
    parts = [lists.get(name, np.zeros(0, dtype=np.int64)) for name in LISTS]
    starts = HEAD + _starts([len(part) for part in parts])[:-1]
    return _joined([starts, head, np.zeros(HEAD - SIZE, dtype=np.int64), *parts])


def _chain(pattern: csc_matrix) -> Indices | None:
    """An order in which each unknown acts on its neighbours alone, where there is one."""
    from scipy.sparse.csgraph import reverse_cuthill_mckee

    n = pattern.shape[0]
    if pattern.nnz == 0:
        return np.arange(n)
    if pattern.nnz > 3 * n:
        return None
    order = reverse_cuthill_mckee((pattern + pattern.T).tocsr(), symmetric_mode=True)
    place = np.argsort(order)
    row, column = pattern.nonzero()
    apart = np.abs(place[row] - place[column])
    return order.astype(np.int64) if apart.max(initial=0) <= 1 else None


def _in_three(pattern: csc_matrix, order: Indices) -> tuple[dict[str, Indices], list[int]]:
    """The lists of a matrix of three diagonals in some order, which needs no fronts."""
    n, place = len(order), np.argsort(order)
    row, column = (place[k] for k in (pattern.indices, np.repeat(
        np.arange(n), np.diff(pattern.indptr))))
    entries = np.full(3 * n, -1)  # of each unknown its own, that below it, and that beside it
    entries[3 * np.minimum(row, column) + np.where(row > column, 1, 2 * (row < column))] = (
        np.arange(pattern.nnz))
    return {"first": np.zeros(1, dtype=np.int64), "entries": entries, "at": order}, [3 * n, 0, 0]


def _in_fronts(pattern: csc_matrix) -> tuple[dict[str, Indices], list[int]]:
    """The lists of fronts, and how many numbers factors take, with where their room begins."""
    n = pattern.shape[0]
    order, parent, reach = _elimination(pattern)
    first = _fronts(parent, reach)
    place = np.empty(n, dtype=np.int64)
    place[order] = np.arange(n)
    count = len(first) - 1
    front_of = np.repeat(np.arange(count), np.diff(first))
    behind = [_behind(reach, first[s], first[s + 1]) for s in range(count)]
    sizes = np.array([len(b) for b in behind])
    parent_front = np.array([front_of[b[0]] if len(b) else -1 for b in behind])
    in_parent = [_places(b, first[p], first[p + 1], behind[p]) if len(b) else b
                 for b, p in zip(behind, parent_front, strict=True)]
    pivots = np.diff(first)
    children: list[list[int]] = [[] for _ in range(count)]
    for c in np.flatnonzero(parent_front >= 0).tolist():
        children[parent_front[c]].append(c)
    left_at, most = np.zeros(count, dtype=np.int64), 0
    for s in range(count):  # where those of its children stand, which it takes up
        top = left_at[s - 1] + sizes[s - 1] ** 2 if s else 0
        left_at[s] = left_at[children[s][0]] if children[s] else top
        most = max(most, int(left_at[s] + sizes[s] ** 2))
    factors = pivots * (pivots + 2 * sizes)
    entries, entry_places, entry_starts = _entries(pattern, place, first, front_of, behind)
    lists = {
        "first": first, "behind_starts": _starts(sizes), "behind": _joined(behind),
        "in_parent": _joined(in_parent), "child_starts": _starts([len(c) for c in children]),
        "children": _joined(children), "left_at": left_at, "factors_at": _starts(factors),
        "entry_starts": entry_starts, "entries": entries, "entry_places": entry_places,
        "at": order,
    }  # fmt: skip
    largest, factored = int(np.max(pivots + sizes)) ** 2, int(factors.sum())
    return lists, [factored + largest + most, factored, factored + largest]


def room_of(lists: Indices) -> tuple[int, int]:
    """How many entries a matrix has, and numbers its factors take."""
    return int(lists[ENTRIES]), int(lists[NUMBERS])


def _starts(sizes: object) -> Indices:
    return np.concatenate([[0], np.cumsum(np.asarray(sizes, dtype=np.int64))]).astype(np.int64)


def _joined(lists: Iterable[Sequence[int] | Indices]) -> Indices:
    return np.concatenate([np.zeros(0, dtype=np.int64), *lists]).astype(np.int64)


def _elimination(pattern: csc_matrix) -> tuple[Indices, Indices, list[Indices]]:
    """Who is eliminated when; of every place its parent in the tree, and all places it acts on."""
    n = pattern.shape[0]
    entries = _sparsity(pattern)
    upper, order = (entries + entries.T + ca.Sparsity.diag(n)).ldl()
    filled = upper.T
    reach = np.split(np.array(filled.row(), dtype=np.int64), filled.colind()[1:-1])
    parent = np.array([behind.min(initial=n) for behind in reach])
    after = _postorder(parent)
    place = np.append(np.argsort(after), -1)  # the last for those without a parent
    return np.array(order)[after], place[parent[after]], [np.sort(place[reach[j]]) for j in after]


def _postorder(parent: Indices) -> Indices:
    """An order in which all that lead to a node stand just before it; n is no parent."""
    from scipy.sparse import csr_matrix
    from scipy.sparse.csgraph import depth_first_order

    n = len(parent)
    tree = csr_matrix((np.ones(n), (parent, np.arange(n))), shape=(n + 1, n + 1))
    after: Indices = depth_first_order(tree, n, return_predecessors=False)[:0:-1]
    return after


def _fronts(parent: Indices, reach: list[Indices]) -> Indices:
    """The first pivot of every front, and their number at the end."""
    n = len(parent)
    size = np.ones(n, dtype=np.int64)  # of the tree below and with a pivot
    for j in range(n):
        if parent[j] >= 0:
            size[parent[j]] += size[j]
    firsts: list[int] = []
    for j in range(n):
        if size[j] <= SMALL and (parent[j] < 0 or size[parent[j]] > SMALL):
            firsts.append(j - size[j] + 1)
        elif size[j] > SMALL:
            firsts.append(j)
    fronts: list[tuple[int, int]] = []  # first and last pivot
    for begin, end in zip(firsts, [*firsts[1:], n], strict=True):
        a, b = begin, end - 1
        while fronts and parent[fronts[-1][1]] == a:
            before, last = fronts[-1]
            full = (a - before) * (b - before + 1 + len(reach[b]))
            held = sum(len(reach[i]) + 1 for i in range(before, last + 1))
            spare = full - held - (a - before) * (a - before - 1) // 2
            if spare > SPARE * full:
                break
            a = before
            fronts.pop()
        fronts.append((a, b))
    return np.array([a for a, _ in fronts] + [n], dtype=np.int64)


def _behind(reach: list[Indices], begin: int, end: int) -> Indices:
    """What the pivots of a front act on behind it."""
    found = np.unique(np.concatenate([reach[j] for j in range(begin, end)]))
    return found[found >= end]


def _places(of: Indices, begin: int, end: int, behind: Indices) -> Indices:
    """Where unknowns stand in a front."""
    return np.where(of < end, of - begin, end - begin + np.searchsorted(behind, of))


def _entries(pattern: csc_matrix, place: Indices, first: Indices, front_of: Indices,
             behind: list[Indices]) -> tuple[Indices, Indices, Indices]:
    """Which entries a front takes, where it has them, and where those of each front begin."""
    row = place[pattern.indices]
    column = place[np.repeat(np.arange(pattern.shape[1]), np.diff(pattern.indptr))]
    front = front_of[np.minimum(row, column)]
    entries = np.argsort(front, kind="stable")
    starts = np.searchsorted(front[entries], np.arange(len(behind) + 1))
    places = np.empty(len(entries), dtype=np.int64)
    for s, after in enumerate(behind):
        part = slice(starts[s], starts[s + 1])
        of = entries[part]
        size = first[s + 1] - first[s] + len(after)
        places[part] = _places(row[of], first[s], first[s + 1], after) * size + _places(
            column[of], first[s], first[s + 1], after)
    return entries, places, starts.astype(np.int64)


def _groups(pattern: csc_matrix) -> list[Indices]:
    """Columns that share no row, first come first served."""
    groups = _sparsity(pattern).uni_coloring()
    return np.split(np.array(groups.row(), dtype=np.int64), groups.colind()[1:-1])


def _sparsity(pattern: csc_matrix) -> ca.Sparsity:
    rows, columns = pattern.shape
    return ca.Sparsity(rows, columns, pattern.indptr.tolist(), pattern.indices.tolist())
