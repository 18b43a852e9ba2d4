"""What is a block of equations that must be solved together, and how is it torn?

Knows which unknowns of a block occur in which of its equations, where those are
linear, and Cramer's rule for the small ones; evaluates nothing.
"""

from __future__ import annotations

from dataclasses import dataclass

import casadi as ca
import numpy as np

from ..numerics.arrays import Array, Flags, Indices, Matrix, Vector, distinct, ranks
from ..numerics.copies import shallow_copy
from .flatten import Flat, Group, Parameters
from .reduced import Reduced

__all__ = ["MOST", "Block", "BlockIncidence", "amplify", "classes_with_guesses",
           "coefficients_at", "cramer", "entries", "equilibrate", "equilibrated", "pairs_within",
           "solvable", "torn_block"]

GROWTH = 2.0  # of rounding errors by an assignment, whose terms are of one size
MOST = GROWTH**20  # amplification of rounding errors by assignments in a row
WIDE = GROWTH**12  # the same, assumed of a term that bends: it is passed once
LARGE = 2000  # equations of a block from which sparse rows are worth more than few unknowns
EVEN_ROUNDS = 10  # of making rows and columns of equal size


@dataclass(frozen=True)
class Block:
    """A torn block."""

    equations: Indices
    unknowns: Indices
    solved: Indices  # per explicit assignment: its equation, unknown, argument and depth
    assigned: Indices
    position: Indices
    depth: Indices
    torn: Indices
    leftover: Indices
    linear: bool  # in all of its unknowns, with coefficients of parameters only


class BlockIncidence:
    """Equations, classes, positions (-1: not solvable), linearity, and whether the equation is a
    node's balance, block by block; the sizes of coefficients as pivots and as terms, rows and
    columns made even."""

    def __init__(self, pairs: Indices, sizes: Matrix, block: Indices) -> None:
        order = np.lexsort((pairs[1], pairs[0], block))
        pairs, sizes, block = pairs[:, order], sizes[:, order], block[order]
        new = np.ones(len(block), dtype=bool)  # a class may occur at several arguments
        new[1:] = (np.diff(pairs[0]) != 0) | (np.diff(pairs[1]) != 0)
        starts = np.flatnonzero(new)
        self.pairs = pairs[:, starts]
        if len(starts):
            self.pairs[2, np.diff(np.append(starts, len(new))) > 1] = -1
            self.pairs[3] = np.minimum.reduceat(pairs[3], starts)
            sizes = np.maximum.reduceat(sizes, starts, axis=1)
        self.block = block[starts]
        self.sizes = sizes

    @property
    def conditional(self) -> Flags:
        """Mask of the pairs that can be solved for by a coefficient that conditions choose."""
        found: Flags = (self.pairs[2] >= 0) & (self.pairs[3] == 0)
        return found

    def without_conditional(self) -> BlockIncidence:
        """Return the pairs with nothing solved for by a coefficient that conditions choose."""
        new = shallow_copy(self)
        new.pairs = self.pairs.copy()
        new.pairs[2, self.conditional] = -1
        return new

    def of_block(self, b: int) -> slice:
        return slice(*np.searchsorted(self.block, [b, b + 1]))


def pairs_within(reduced: Reduced, parameters: Parameters, block_of: Indices,
                 column_block: Indices, hard: Flags) -> BlockIncidence:
    """Which unknowns of its own block occur in every equation of a block to be torn."""
    flat = reduced.flat
    home = np.full(flat.equations, -1)
    home[reduced.equations] = np.where(hard[block_of], block_of, -1)
    block_of_class = np.full(flat.classes, -2)
    block_of_class[reduced.unknowns] = column_block
    found, sizes = [np.zeros((5, 0), dtype=int)], [np.zeros((2, 0))]

    def keep(numbers: Indices, classes: Indices, position: Indices, linear: Indices,
             balance: int, size: Matrix) -> None:
        inside = np.flatnonzero(home[numbers] == block_of_class[classes])
        found.append(np.stack([numbers[inside], classes[inside], position[inside], linear[inside],
                               np.full(len(inside), balance)]))
        sizes.append(size[:, inside])

    for group in flat.groups:
        numbers = group.numbers
        if not (home[numbers] >= 0).any():
            continue
        if group.law is None:
            which, classes, _ = group.terms(np.arange(group.size))
            every = np.ones(len(which), dtype=int)
            keep(numbers[which], classes, 0 * every, every, 1, np.ones((2, len(which))))
            continue
        for k, key in group.law.open_arguments:
            position, linear, size = solvable(group, k, parameters)
            keep(numbers, flat.argument(group, key)[0], position, linear, 0, size)
    pairs, (least, size) = np.concatenate(found, axis=1), np.concatenate(sizes, axis=1)
    even = equilibrate(pairs[0], pairs[1], np.where(np.isfinite(size), size, 0.0))
    share = np.divide(least, size, out=np.zeros(len(size)), where=np.isfinite(size) & (size > 0))
    sizes_made_even = np.where(np.isfinite(size), [share * even, even],
                               np.where(np.isnan(size), 1.0, WIDE))
    return BlockIncidence(pairs, sizes_made_even, home[pairs[0]])


def solvable(group: Group, k: int, parameters: Parameters) -> tuple[Indices, Indices, Matrix]:
    """Per row of a group: the position k, or -1 where the law cannot be solved for it
    explicitly; whether it is linear there, with a coefficient of parameters only; and the size of
    that, the least and the largest where conditions choose it: not a number where others decide,
    infinite where it bends."""
    law = group.law
    assert law is not None
    linear = law.slopes[k] in ("constant", "parameter")
    known = linear or law.conditional[k]
    size = np.full((2, group.size), np.inf if law.bends[k] else np.nan)
    if known:
        values = [p[:, group.instances] for p in parameters[group.family]]
        size[:] = law.coefficients_at(k, values)
    least, largest = size
    good = known & (least > 0) & np.isfinite(largest) & (GROWTH * largest <= MOST * least)
    return np.where(good, k, -1), np.full(group.size, int(linear)), size


def coefficients_at(flat: Flat, group: Group, rows: Indices, parameters: Parameters, values: Vector,
                    choice: int, chance: np.random.Generator, alike: bool = False
                    ) -> tuple[Indices, Indices, Vector]:
    """Equations of some rows of a group, classes and their coefficients at values of all classes.

    Conditions do not hold by choice 0, hold by 1, and hold by chance by others, ``alike`` in all
    rows or not.
    """
    law, n = group.law, len(rows)
    if law is None:
        which, of, sums = group.terms(rows)
        return group.first + rows[which], of, sums.astype(float)
    some = Group(group.family, law, group.instances[rows])
    at = [k for k, _ in law.open_arguments]
    classes, signs = np.array([flat.argument(some, key) for _, key in law.open_arguments],
                              dtype=int).reshape(-1, 2, n).swapaxes(0, 1)
    given = np.ones((len(law.arguments) + 1, n))
    given[at], given[-1] = signs * values[classes], 0.0  # the time
    conditions = len(law.kernel.relation_symbols)
    holds = np.full((conditions, n), choice)
    if choice > 1:
        holds[:] = chance.integers(0, 2, (conditions, 1 if alike else n))
    slopes = np.array(law.gradient.map(n).call([
        *(ca.DM(row[None].astype(float)) for row in (*given, *holds)),
        *(ca.DM(p[:, some.instances]) for p in parameters[group.family])])[0])
    return np.tile(group.first + rows, len(at)), classes.ravel(), (signs * slopes[at]).ravel()


def equilibrate(rows: Indices, columns: Indices, sizes: Vector) -> Vector:
    """Sizes of entries, with rows and columns that have a largest one of about one [Ruiz, 2001]."""
    sizes = sizes.copy()
    row, column = ranks(rows), ranks(columns)
    for _ in range(EVEN_ROUNDS):
        for index, count in (row, column):
            largest = np.zeros(count)
            np.maximum.at(largest, index, sizes)
            sizes /= np.sqrt(np.where(largest > 0, largest, 1.0))[index]
    return sizes


def torn_block(equations: Indices, unknowns: Indices, pairs: Indices, wanted: Flags,
               sizes: Matrix | None = None) -> Block:
    """Tear a block.

    Large ones first as in nodal analysis: no balance of a node is solved for anything. Where the
    balances are all that is left, what is iterated are the velocities of the nodes, and the matrix
    is that of the graph: sparse, and of symmetric pattern.

    ``pairs`` are the first of :class:`BlockIncidence`; classes that are ``wanted`` are torn before
    others; ``sizes`` are of the coefficients as pivots and as terms, where these differ.
    """
    size = len(equations)
    equations, unknowns = np.sort(equations), np.sort(unknowns)
    rows, classes, position, linear, balance = pairs
    places = np.searchsorted(equations, rows), np.searchsorted(unknowns, classes)
    torn = None
    if size >= LARGE:
        torn = tear(*places, (position >= 0) & (balance == 0), size, wanted[unknowns], MOST, sizes)
        if len(torn.leftover) > len(distinct(rows[balance > 0])):
            torn = None
    if torn is None:
        torn = tear(*places, position >= 0, size, wanted[unknowns], MOST, sizes)
    return Block(equations, unknowns, rows[torn.pairs], classes[torn.pairs], position[torn.pairs],
                 torn.depth, unknowns[torn.torn], equations[torn.leftover], bool(linear.all()))


def amplify(blocks: list[Block], pairs: BlockIncidence) -> Flags:
    """Blocks whose chains of assignments lose too many digits of what they begin with.

    The error of what is assigned is that of the largest term of its equation, divided by the
    coefficient of what it is solved for: along a ladder of 100 ohm in series and 1 mohm to
    ground, solved from its end, it grows by 1e5 at every rung.
    """
    many = [len(b.solved) for b in blocks]
    block = np.repeat(np.arange(len(blocks)), many)
    equations, classes, depth = (np.concatenate([getattr(b, name) for b in blocks])
                                 for name in ("solved", "assigned", "depth"))
    order = np.argsort(pairs.pairs[0], kind="stable")
    row, column = pairs.pairs[:2, order]
    pivot, size = pairs.sizes[:, order]
    starts, ends = (np.searchsorted(row, equations, side) for side in ("left", "right"))
    error = np.ones(int(column.max(initial=0)) + 1)
    bad = np.zeros(len(blocks), dtype=bool)
    for d in range(1, int(depth.max(initial=0)) + 1):
        now = np.flatnonzero(depth == d)
        lengths = ends[now] - starts[now]
        first = np.cumsum(lengths) - lengths
        places = np.repeat(starts[now] - first, lengths) + np.arange(lengths.sum())
        solved = column[places] == np.repeat(classes[now], lengths)
        term = np.where(solved, 0.0, size[places] * error[column[places]])
        error[classes[now]] = GROWTH * np.maximum.reduceat(term, first) / pivot[places[solved]]
        bad[block[now[error[classes[now]] > MOST]]] = True
    return bad


def classes_with_guesses(flat: Flat) -> Flags:
    """Per class, whether users gave it a value to start from: good unknowns to iterate on."""
    found = np.zeros(flat.classes, dtype=bool)
    for f, family in enumerate(flat.network.families):
        for first, m in zip(family.firsts, family.members, strict=True):
            for name in m._targets:
                base = flat.base[f].get((family.kernel.index.get(name, -1), 0))
                if base is not None:
                    found[flat.class_of[base + first : base + first + m.size]] = True
    return found


def entries(matrix: ca.SX, rows: Indices, columns: Indices) -> ca.SX:
    """Entries of a sparse matrix as a column, those that are not stored as zeros."""
    places = np.array(matrix.sparsity().get_nz((rows + columns * matrix.shape[0]).tolist()))
    stored = np.flatnonzero(places >= 0)
    out = ca.SX.zeros(len(rows), 1)
    if len(stored):
        out[stored.tolist()] = matrix.nz[places[stored].tolist()]
    return out


def cramer(a: list[list[ca.SX]], b: list[ca.SX]) -> list[ca.SX]:
    """Cramer's rule, entry by entry: at most three unknowns, no pivot to choose at run time."""
    determinant = _determinant(a)
    return [
        _determinant([[b[i] if k == j else e for k, e in enumerate(row)]
                      for i, row in enumerate(a)]) / determinant
        for j in range(len(b))]


def equilibrated(matrix: Array) -> Array:
    """A matrix whose rows and columns have a largest entry of about one [Ruiz, 2001]."""
    out, (rows, columns) = np.zeros(matrix.shape), np.nonzero(matrix)
    values = matrix[rows, columns]
    out[rows, columns] = np.sign(values) * equilibrate(rows, columns, np.abs(values))
    return out


def _determinant(a: list[list[ca.SX]]) -> ca.SX:
    if len(a) == 1:
        return a[0][0]
    total = ca.SX(0)
    for j, factor in enumerate(a[0]):
        minor = _determinant([row[:j] + row[j + 1 :] for row in a[1:]])
        total = total + (factor * minor if j % 2 == 0 else -factor * minor)
    return total


@dataclass(frozen=True)
class Tearing:
    """Torn unknowns, explicit assignments in order, and the equations left as residuals."""

    torn: Indices
    pairs: Indices  # per assignment, its place among the pairs given
    depth: Indices  # per assignment, the longest chain of assignments that ends with it
    leftover: Indices


def tear(rows: Indices, columns: Indices, solvable: Flags, size: int, wanted: Flags,
         most: float, sizes: Matrix | None = None) -> Tearing:
    """Tear a block greedily.

    Whenever no equation has a single open unknown it can be solved for, the unknown in most open
    equations is torn [Elmqvist & Otter 1994], first what no equation can be solved for.

    ``rows`` and ``columns`` are equation and unknown of every pair that occurs, ``solvable`` those
    that can be solved, and ``sizes`` their coefficients as pivots and as terms, ones if not given;
    no pair is there twice, rows ascend. Unknowns that are ``wanted`` are torn before all others; a
    chain of assignments may amplify rounding errors of torn unknowns ``most`` times.
    """
    sizes = np.ones((2, len(rows))) if sizes is None else sizes
    degree = np.bincount(columns, minlength=size)
    explicit = np.bincount(columns, weights=solvable, minlength=size) > 0
    preferred = np.lexsort((np.arange(size), explicit, -degree, ~wanted)).tolist()
    pairs_of = np.argsort(columns, kind="stable").tolist()
    first = np.concatenate([[0], np.cumsum(degree)]).tolist()
    left = np.bincount(rows, minlength=size)
    # per equation the sum of the numbers of its open pairs: in the end the number of the last one
    total = np.bincount(rows, weights=np.arange(len(rows)), minlength=size).astype(
        np.int64).tolist()
    ready = np.flatnonzero(left == 1).tolist()
    left = left.tolist()
    equation, unknown, good = rows.tolist(), columns.tolist(), solvable.tolist()
    pivot, weight = sizes.tolist()
    depth, deepest = [-1] * size, [0] * size  # of unknowns, and of the deepest in an equation
    largest = [1.0] * size  # error of what is known in an equation
    torn, pairs = list[int](), list[int]()

    def close(c: int, deep: int, error: float) -> None:
        depth[c] = deep
        for k in pairs_of[first[c] : first[c + 1]]:
            e = equation[k]
            left[e] -= 1
            total[e] -= k
            if deep > deepest[e]:  # for max(), which takes three times as long
                deepest[e] = deep
            known = weight[k] * error
            if known > largest[e]:
                largest[e] = known
            if left[e] == 1:
                ready.append(e)

    for c in preferred:
        for e in ready:  # which grows meanwhile
            at = total[e]
            if left[e] != 1 or not good[at]:
                continue
            error = GROWTH * largest[e] / pivot[at]
            if error <= most:
                pairs.append(at)
                close(unknown[at], deepest[e] + 1, error)
            else:
                torn.append(unknown[at])
                close(unknown[at], 0, 1.0)
        ready.clear()
        if depth[c] < 0:
            torn.append(c)
            close(c, 0, 1.0)
    order = np.array(pairs, dtype=int)
    deep = np.array(depth, dtype=int)[columns[order]]
    leftover = np.delete(np.arange(size), rows[order])
    return Tearing(np.array(torn, dtype=int), order, deep, leftover)
