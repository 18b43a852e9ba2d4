"""Which states do constraints tie to others, so that they are solved for: dummy derivatives?

Mattsson & Söderlind [SIAM J. Sci. Comput. 14(3), 1993], level by level from the highest
derivatives down. Constraints that are linear with constant coefficients are resolved once,
here: of the classes in them, those that least want to be states become dummies. Constraints
whose coefficients depend on the state are left as :class:`Cluster`.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from heapq import heapify, heappop, heappush

import numpy as np

from ..numerics.arrays import Array, Flags, Indices, distinct, grouped
from ..numerics.tolerances import DEPENDENT, DIAGONAL_PIVOT, PIVOT_NONE, TINY
from .flatten import Flat, Group, Parameters
from .matching import connected, match
from .reduced import Cluster, Singular

__all__ = ["Basis", "Column", "DummyDerivatives", "coefficients", "dummy_derivatives"]

Coefficients = dict[int, float | None]  # by class; None where not constant
Column = dict[int, float]  # entries by equation


@dataclass
class DummyDerivatives:
    """What has been chosen."""

    classes: list[int] = field(default_factory=list)  # states that are no states any more
    equations: list[int] = field(default_factory=list)  # the constraints that determine them
    clusters: list[Cluster] = field(default_factory=list)  # constraints left to the run


def dummy_derivatives(flat: Flat, derivative_of: Indices, height: Indices, preference: Array,
                      differential: Flags, parameters: Parameters) -> DummyDerivatives:
    """Choose dummy derivatives for all equations that have been differentiated.

    ``derivative_of`` is per equation the number of its time derivative, -1 where there is none. Per
    class ``height`` is how many derivatives exist above it, ``preference`` how much it wants to be
    a state, and ``differential`` whether the network itself asks for its derivative.
    """
    found = DummyDerivatives()
    lower = np.flatnonzero(derivative_of >= 0)
    integral_of = np.full(flat.equations, -1)
    integral_of[derivative_of[lower]] = lower
    preference = np.where(differential, preference, -1.0)  # auxiliaries never want to be states
    above = np.zeros(flat.equations, dtype=int)  # how often each has been differentiated
    for e in lower[::-1]:
        above[e] = above[derivative_of[e]] + 1
    once = lower[above[lower] == 1]
    rows = {e: {c: v for c, v in row.items() if height[c] == 1}
            for e, row in coefficients(flat, once, parameters).items()}
    _choose_at_top(found, rows, preference, differential)
    _choose_below(found, flat, integral_of, preference, parameters)
    if found.clusters:
        following = _following(found, flat, parameters)
        for cluster in found.clusters:
            _add_levels_below(cluster, flat, integral_of, parameters, following)
    return found


def _choose_at_top(found: DummyDerivatives, rows: dict[int, Coefficients], preference: Array,
                   differential: Flags) -> None:
    """Dummies of the equations closest to the highest derivatives; clusters where they vary."""
    for equations, classes in _connected_parts(rows):
        part = {e: rows[e] for e in equations}
        if not any(v is None for row in part.values() for v in row.values()):
            found.classes += _select(equations, classes, part, preference)
            found.equations += equations
            continue
        explicit = _explicit(part, differential, preference)
        found.classes += explicit.values()
        found.equations += explicit
        rest = [e for e in equations if e not in explicit]
        if rest:
            candidates = [c for c in classes if c not in set(explicit.values())]
            found.clusters.append(Cluster([(np.array(rest), np.array(candidates))]))


def _choose_below(found: DummyDerivatives, flat: Flat, integral_of: Indices, preference: Array,
                  parameters: Parameters) -> None:
    """Choose dummy derivatives level by level below the top: equations differentiated once less."""
    chosen, equations = found.classes, found.equations
    while True:
        below = [int(integral_of[e]) for e in equations if integral_of[e] >= 0]
        if not below:
            return
        candidates = set(flat.antiderivatives(np.array(sorted(set(chosen)), dtype=int)).tolist())
        rows = {e: {c: v for c, v in row.items() if c in candidates}
                for e, row in coefficients(flat, np.array(below), parameters).items()}
        chosen = [c for part in _connected_parts(rows) for c in _select(*part, rows, preference)]
        equations = below
        found.classes = found.classes + chosen
        found.equations = found.equations + below


def _following(found: DummyDerivatives, flat: Flat, parameters: Parameters
               ) -> dict[int, list[set[int]]]:
    """Return, of each class that is a state no more, the classes in each equation that has it."""
    beside: dict[int, list[set[int]]] = {c: [] for c in found.classes}
    for row in coefficients(flat, np.array(found.equations, dtype=int), parameters).values():
        for c in row:
            if c in beside:
                beside[c].append(set(row))
    return beside


def _add_levels_below(cluster: Cluster, flat: Flat, integral_of: Indices, parameters: Parameters,
                      following: dict[int, list[set[int]]]) -> None:
    """Add the constraints less often differentiated, with the states that they depend on.

    These may stand in them, or behind what is no state any more: the frame of a bar behind the
    angle of its joint, whichever of the two equations of a loop is taken to give the frame.
    """
    equations, classes = cluster.levels[0]
    while True:
        equations = integral_of[equations]
        equations = equations[equations >= 0]
        if not len(equations):
            return
        inside = {c for row in coefficients(flat, equations, parameters).values() for c in row}
        new, inside = inside, set()
        while new:
            inside |= new
            new = {k for c in new for row in following.get(c, ()) for k in row} - inside
        classes = np.array([c for c in flat.antiderivatives(classes) if c in inside], dtype=int)
        cluster.levels.append((equations, classes))


def coefficients(flat: Flat, equations: Indices, parameters: Parameters) -> dict[int, Coefficients]:
    """Coefficients of scalar equations by class; None where not constant."""
    found: dict[int, Coefficients] = {e: {} for e in equations.tolist()}

    def add(numbers: Indices, classes: Indices, values: list[float | None]) -> None:
        for e, c, value in zip(numbers.tolist(), classes.tolist(), values, strict=True):
            before = found[e].get(c, 0.0)
            found[e][c] = None if before is None or value is None else before + value

    of = flat.groups_of(equations)
    for g in distinct(of).tolist():
        group, numbers = flat.groups[g], equations[of == g]
        if group.law is None:
            which, classes, signs = group.terms(numbers - group.first)
            add(numbers[which], classes, signs.astype(float).tolist())
            continue
        law, instances = group.law, group.instances[numbers - group.first]
        values = [p[:, instances] for p in parameters[group.family]]
        for position, key in law.open_arguments:
            classes, signs = flat.argument(Group(group.family, law, instances), key)
            constant = law.slopes[position] in ("constant", "parameter")
            add(numbers, classes, (law.slopes_at(position, values) * signs).tolist()
                if constant else [None] * len(numbers))
    return found


def _explicit(rows: dict[int, Coefficients], differential: Flags, preference: Array
              ) -> dict[int, int]:
    """Per equation that gives a variable wherever the others may be, this variable.

    First equations that contain no other open variable, and variables that no other
    open equation contains, again and again: what they form is triangular, with constants
    on the diagonal (frames of an open chain of bodies follow from its joints). Then
    auxiliary variables, one only where the other equations can still be matched.
    """
    chosen: dict[int, int] = {}
    left = {e: dict(row) for e, row in rows.items()}
    while True:
        single = next((e for e, row in left.items() if len(row) == 1 and any(row.values())), None)
        if single is not None:
            (chosen[single],) = left.pop(single)
            for row in left.values():
                row.pop(chosen[single], None)
            continue
        users: dict[int, list[int]] = {}
        for e, row in left.items():
            for c in row:
                users.setdefault(c, []).append(e)
        alone = [(preference[c], -abs(left[es[0]][c] or 0.0), c, es[0])
                 for c, es in users.items() if len(es) == 1 and left[es[0]][c]]
        if not alone:
            break
        *_, c, e = min(alone)
        chosen[e] = c
        del left[e]
    for e, row in left.items():
        taken = set(chosen.values())
        options = [c for c, v in row.items() if not differential[c] and v and c not in taken]
        for c in sorted(options, key=lambda c: -abs(row[c] or 0.0)):
            trial = {**chosen, e: c}
            rest = {k: [x for x in r if x not in trial.values()]
                    for k, r in rows.items() if k not in trial}
            i, j, classes = _pairs(rest)
            if not rest or not len(match(i, j, len(rest), len(classes)).spare_equations):
                chosen = trial
                break
    return chosen


def _pairs(rows: Mapping[int, Iterable[int]]) -> tuple[Indices, Indices, list[int]]:
    """Places of equations, and of the classes in them, among these; all classes."""
    classes = sorted({c for row in rows.values() for c in row})
    at = {c: i for i, c in enumerate(classes)}
    pairs = [(i, at[c]) for i, row in enumerate(rows.values()) for c in row]
    return *np.array(pairs, dtype=int).reshape(-1, 2).T, classes  # type: ignore[return-value]


def _connected_parts(rows: dict[int, Coefficients]) -> list[tuple[list[int], list[int]]]:
    """Connected sets of equations and candidate classes."""
    equations, n, (i, j, classes) = list(rows), len(rows), _pairs(rows)
    parts = grouped(connected(i, n + j, n + len(classes)))
    return [([equations[k] for k in part if k < n], [classes[k - n] for k in part if k >= n])
            for part in sorted(parts, key=lambda part: part[0])]


def _select(rows: list[int], columns: list[int], entries: dict[int, Coefficients],
            preference: Array) -> list[int]:
    """Classes of a nonsingular square part, those that least want to be states."""
    scaled: dict[int, Column] = {c: {} for c in columns}
    for e in rows:
        size = max((abs(v or 0.0) for v in entries[e].values()), default=0.0)
        for c, v in entries[e].items():
            if v:
                scaled[c][e] = v / size
    largest = {c: max(map(abs, column.values()), default=TINY) for c, column in scaled.items()}
    basis = Basis(scaled.values())
    chosen = [c for c in sorted(columns, key=lambda c: (preference[c], -largest[c]))
              if basis.takes(scaled[c], DEPENDENT / largest[c])]
    if len(chosen) < len(rows):
        raise Singular(np.array(rows), np.array(columns), np.zeros(0, int), np.zeros(0, int),
                       "dependent")
    return chosen


class Basis:
    """Columns found independent, each with an entry 1 where all later ones have none.

    That stands in a row which few of the ``columns`` to come have, so that little is filled in.
    """

    def __init__(self, columns: Iterable[Column]) -> None:
        self.columns: list[tuple[int, Column]] = []  # row of the 1, and the other entries
        self.at: dict[int, int] = {}  # number of the column by this row
        self.to_come = Counter(row for column in columns for row in column)

    def takes(self, column: Column, least: float = PIVOT_NONE) -> bool:
        """Add a column, unless it depends on those that are there, but for a small rest."""
        self.to_come.subtract(column.keys())
        rest = dict(column)
        open_ = [self.at[row] for row in rest if row in self.at]
        heapify(open_)
        while open_:
            pivot, others = self.columns[heappop(open_)]
            factor = rest.pop(pivot)
            for row, value in others.items() if factor else ():
                if row not in rest and row in self.at:
                    heappush(open_, self.at[row])
                rest[row] = rest.get(row, 0.0) - factor * value
        size = max(map(abs, rest.values()), default=0.0)
        if not size > least * max(map(abs, column.values()), default=0.0):  # nor where it is nan
            return False
        pivot = min((row for row, value in rest.items() if abs(value) >= DIAGONAL_PIVOT * size),
                    key=self.to_come.__getitem__)
        own = rest.pop(pivot)
        self.at[pivot] = len(self.columns)
        self.columns.append((pivot, {row: value / own for row, value in rest.items()
                                     if abs(value) > PIVOT_NONE * abs(own)}))
        return True
