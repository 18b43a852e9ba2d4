"""Which equations must be differentiated, and which variables stay states?

Pantelides' algorithm [SIAM J. Sci. Stat. Comput. 9(2), 1988] on the
over-determined part only, then dummy derivatives [Mattsson & Söderlind, SIAM
J. Sci. Comput. 14(3), 1993]. Constraints that are linear with constant
coefficients (gears, levers, rigid joints) are resolved once, here. Constraints
whose coefficients depend on the state (a pendulum) are handed on as *clusters*:
which of their variables are integrated is chosen during the run.

Knows incidence, coefficients and priorities; no users, units or solvers.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from .flatten import Flat, Group
from .matching import Matching, connected, distinct, match

__all__ = ["Cluster", "Elements", "Reduced", "Singular", "reduce_index"]

MAX_DIFFERENTIATIONS = 8
DENSE = 40  # constraints of a rigid part up to which its elimination is dense


class Singular(Exception):
    """The system has no unique solution; equations and classes of the parts at fault."""

    def __init__(self, over_equations: np.ndarray, over_classes: np.ndarray,
                 under_equations: np.ndarray, under_classes: np.ndarray, reason: str) -> None:
        super().__init__(reason)
        self.over_equations, self.over_classes = over_equations, over_classes
        self.under_equations, self.under_classes = under_equations, under_classes
        self.reason = reason


@dataclass
class Cluster:
    """Constraints between states whose coefficients change during the run.

    ``levels[0]`` are the equations closest to the accelerations (velocity
    level) with their candidate classes, ``levels[1]`` the level below, …
    """

    levels: list[tuple[np.ndarray, np.ndarray]]


@dataclass
class Reduced:
    """A system of index one: what is integrated and what is solved for.

    Attributes
    ----------
    flat : Flat
        With the differentiated equations added.
    states : classes that are known when derivatives are evaluated
    unknowns : classes to be solved for
    equations : equations that determine them
    dummies : static dummy derivatives, among ``unknowns``
    clusters : constraints that are resolved during the run
    index : structural index of the flat system
    """

    flat: Flat
    states: np.ndarray
    unknowns: np.ndarray
    equations: np.ndarray
    dummies: np.ndarray
    clusters: list[Cluster] = field(default_factory=list)
    index: int = 0
    matching: Matching | None = None
    gives_flow: np.ndarray = field(default_factory=lambda: np.zeros(0, dtype=bool))
    inputs: np.ndarray = field(default_factory=lambda: np.zeros(0, dtype=int))


@dataclass(frozen=True)
class Elements:
    """Set-valued laws as the structure sees them: each ties one effort to one flow.

    An element normally gives its effort and takes its flow. Where a node without
    mass makes that impossible (friction in series with a spring or with another
    friction), it takes the effort and gives the flow.
    """

    efforts: np.ndarray  # class of each element's effort
    flows: np.ndarray  # class of its flow, -1 where that is no variable of its own

    @property
    def size(self) -> int:
        return len(self.efforts)

    def incidence(self, first: int) -> tuple[np.ndarray, np.ndarray]:
        """(row, class) pairs, rows counted from ``first``."""
        rows = np.arange(first, first + self.size)
        own = self.flows >= 0
        return (np.concatenate([rows, rows[own]]),
                np.concatenate([self.efforts, self.flows[own]]))


def reduce_index(flat: Flat, preference: np.ndarray, parameters: list[list[np.ndarray]],
                 elements: Elements) -> Reduced:
    """Differentiate what must be and select states.

    Parameters
    ----------
    flat : Flat
        Is extended in place.
    preference : (classes,) array
        How much each class wants to be a state (larger: more).
    parameters : per family, parameter values as kernel arguments, (size, n) each
    elements : set-valued laws
    """
    _refuse_singular(flat, elements)
    original = flat.derivative >= 0
    child, rounds = _pantelides(flat, elements)
    gives_flow = _causality(flat, np.flatnonzero(child < 0), elements)
    known = distinct(np.where(gives_flow, elements.flows, elements.efforts))
    height = flat.heights()
    preference = np.concatenate([preference, np.full(flat.classes - len(preference), -1.0)])
    native = np.concatenate([original, np.zeros(flat.classes - len(original), dtype=bool)])
    lower = np.flatnonzero(child >= 0)
    dummies, static_equations, clusters = _dummies(
        flat, child, lower, height, preference, native, parameters
    )
    is_state = height >= 1
    is_state[dummies] = False
    is_state[known] = False
    unknown = ~is_state
    unknown[known] = False
    top = np.flatnonzero(child < 0)
    equations = np.concatenate([top, static_equations]).astype(int)
    differential = np.any(height >= 1)
    has_algebraic = np.any(unknown & (height == 0))
    return Reduced(
        flat,
        states=np.flatnonzero(is_state),
        unknowns=np.flatnonzero(unknown),
        equations=equations,
        dummies=dummies,
        clusters=clusters,
        index=rounds + 1 if rounds else int(differential and has_algebraic),
        gives_flow=gives_flow,
        inputs=known,
    )


def _refuse_singular(flat: Flat, elements: Elements) -> None:
    """Every chain of a variable and its derivatives needs an equation of its own."""
    chain = flat.chains()
    rows, columns = _all_incidence(flat, np.arange(flat.equations))
    more_rows, more_columns = elements.incidence(flat.equations)
    m = match(np.concatenate([rows, more_rows]), chain[np.concatenate([columns, more_columns])],
              flat.equations + elements.size, int(chain.max(initial=-1)) + 1)
    if not m.perfect:
        names = np.unique(chain, return_index=True)[1]  # the first class of every chain
        raise Singular(_real(m.over_equations, flat), names[m.over_unknowns],
                       _real(m.under_equations, flat), names[m.under_unknowns], "structure")


def _real(equations: np.ndarray, flat: Flat) -> np.ndarray:
    """Equations proper, without the rows of set-valued laws."""
    return equations[equations < flat.equations]


def _all_incidence(flat: Flat, equations: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    pairs = [flat.incidence(g) for g in flat.groups]
    rows = np.concatenate([np.zeros(0, dtype=int), *(p[0] for p in pairs)])
    columns = np.concatenate([np.zeros(0, dtype=int), *(p[1] for p in pairs)])
    if len(equations) == flat.equations:
        return rows, columns
    keep = np.zeros(flat.equations, dtype=bool)
    keep[equations] = True
    inside = keep[rows]
    return rows[inside], columns[inside]


def _pantelides(flat: Flat, elements: Elements) -> tuple[np.ndarray, int]:
    """Differentiate over-determined parts until all highest derivatives are matched."""
    child = np.full(flat.equations, -1)
    for rounds in range(MAX_DIFFERENTIATIONS):
        top = np.flatnonzero(child < 0)
        classes = np.flatnonzero(flat.derivative < 0)
        rows, columns = _pairs(flat, top, classes, elements)
        m = match(rows, columns, len(top) + elements.size, len(classes))
        over = m.over_equations[m.over_equations < len(top)]
        if not len(m.over_equations):
            return child, rounds
        if len(over) < len(m.over_equations):
            raise Singular(top[over], classes[m.over_unknowns], np.zeros(0, int), np.zeros(0, int),
                           "input")
        unknowns = classes[m.over_unknowns]
        flat.derivative[unknowns] = flat.grow(len(unknowns))
        child = _differentiate(flat, top[over], child)
    raise Singular(top[over], unknowns, _real(top[m.under_equations[m.under_equations < len(top)]],
                                              flat), classes[m.under_unknowns], "endless")


def _pairs(flat: Flat, equations: np.ndarray, classes: np.ndarray, elements: Elements
           ) -> tuple[np.ndarray, np.ndarray]:
    """Incidence of equations, then elements, with classes, numbered compactly."""
    rows, columns = _all_incidence(flat, equations)
    row_of = np.full(flat.equations + elements.size, -1)
    row_of[equations] = np.arange(len(equations))
    row_of[flat.equations :] = len(equations) + np.arange(elements.size)
    column_of = np.full(flat.classes, -1)
    column_of[classes] = np.arange(len(classes))
    more_rows, more_columns = elements.incidence(flat.equations)
    rows = np.concatenate([rows, more_rows])
    columns = np.concatenate([columns, more_columns])
    keep = column_of[columns] >= 0
    return row_of[rows[keep]], column_of[columns[keep]]


def _causality(flat: Flat, top: np.ndarray, elements: Elements) -> np.ndarray:
    """Which elements must give their flow, as few as possible.

    Starts from every element giving its effort and repairs, by augmenting paths,
    what that leaves unmatched.
    """
    gives_flow = np.zeros(elements.size, dtype=bool)
    if not elements.size:
        return gives_flow
    classes = np.flatnonzero(flat.derivative < 0)
    at = {int(c): k for k, c in enumerate(classes)}
    none = Elements(np.zeros(0, dtype=int), np.zeros(0, dtype=int))
    others = np.setdiff1d(classes, elements.efforts)
    m = match(*_pairs(flat, top, others, none), len(top), len(others))
    owner = np.full(len(classes), -1)  # row that determines each class
    matched = np.flatnonzero(m.equation_of >= 0)
    owner[[at[int(c)] for c in others[matched]]] = m.equation_of[matched]
    waiting = m.spare_equations.tolist()
    for k, c in enumerate(elements.efforts):
        row = len(top) + k
        if int(c) in at and owner[at[int(c)]] < 0:
            owner[at[int(c)]] = row
        else:
            waiting.append(row)
    if waiting:
        rows, columns = _pairs(flat, top, classes, elements)
        order = np.argsort(rows, kind="stable")
        starts = np.searchsorted(rows[order], np.arange(len(top) + elements.size + 1))
        for row in waiting:
            _augment(row, columns[order], starts, owner)
    effort_of = np.array([at.get(int(c), -1) for c in elements.efforts])
    for c, row in enumerate(owner):
        if row >= len(top) and effort_of[row - len(top)] != c:
            gives_flow[row - len(top)] = True
    return gives_flow


def _augment(row: int, columns: np.ndarray, starts: np.ndarray, owner: np.ndarray) -> None:
    """Find a class for one more row along the shortest alternating path."""
    came: dict[int, int] = {}
    front = [row]
    while front:
        following = []
        for r in front:
            for c in columns[starts[r] : starts[r + 1]].tolist():
                if c in came:
                    continue
                came[c] = r
                if owner[c] < 0:
                    while True:  # flip the path back to the start
                        previous = came[c]
                        taken = [k for k in columns[starts[previous] : starts[previous + 1]]
                                 if owner[k] == previous]
                        owner[c] = previous
                        if previous == row:
                            return
                        c = int(taken[0])
                following.append(int(owner[c]))
        front = following


def _differentiate(flat: Flat, equations: np.ndarray, child: np.ndarray) -> np.ndarray:
    equations = np.sort(equations)
    for group in list(flat.groups):
        mine = equations[(equations >= group.first) & (equations < group.first + group.size)]
        if not len(mine):
            continue
        rows = mine - group.first
        if group.law is not None:
            kernel = group.law.kernel
            kernel.refuse_delayed(group.law.residual, f"{kernel.name}: {group.law.text}")
            law = group.law.derivative
            new = Group(group.family, law, group.instances[rows])
            for key in law.unknowns:
                flat.argument(new, key, create=True)
        else:
            picked = [np.arange(group.starts[r], group.starts[r + 1]) for r in rows]
            every = np.concatenate(picked)
            classes, signs = flat.follow(group.classes[every], group.signs[every], 1, create=True)
            starts = np.concatenate([[0], np.cumsum([len(x) for x in picked])])
            new = Group(-1, None, np.zeros(0, dtype=int), classes=classes, signs=signs,
                        starts=starts, nodes=group.nodes[rows], order=group.order + 1)
        flat.add(new)
        child = np.concatenate([child, np.full(new.size, -1)])
        child[mine] = np.arange(new.first, new.first + new.size)
    return child


def _dummies(flat: Flat, child: np.ndarray, lower: np.ndarray, height: np.ndarray,
             preference: np.ndarray, native: np.ndarray, parameters: list[list[np.ndarray]]
             ) -> tuple[np.ndarray, np.ndarray, list[Cluster]]:
    if not len(lower):
        return np.zeros(0, int), np.zeros(0, int), []
    remaining = np.zeros(flat.equations, dtype=int)
    for e in lower[::-1]:
        remaining[e] = remaining[child[e]] + 1
    parent_equation = np.full(flat.equations, -1)
    parent_equation[child[lower]] = lower
    dummies: list[int] = []
    used: list[int] = []
    clusters: list[Cluster] = []
    first = lower[remaining[lower] == 1]
    entries = {int(e): _entries(flat, int(e), parameters) for e in first}
    candidates = {e: {c: v for c, v in row.items() if height[c] == 1} for e, row in entries.items()}
    preference = np.where(native, preference, -1.0)  # auxiliary variables never want to be states
    for rows, columns in _components(candidates):
        part = {e: candidates[e] for e in rows}
        if not any(v is None for row in part.values() for v in row.values()):
            dummies += _select(rows, columns, part, preference)
            used += rows
            continue
        peeled = _peel(part, native, preference)
        dummies += peeled.values()
        used += peeled
        rest = [e for e in rows if e not in peeled]
        if rest:
            open_classes = [c for c in columns if c not in set(peeled.values())]
            clusters.append(Cluster([(np.array(rest), np.array(open_classes))]))
    # the same choice one level below: equations once less differentiated
    level_dummies = set(dummies)
    level_equations = list(used)
    while True:
        below = [int(parent_equation[e]) for e in level_equations if parent_equation[e] >= 0]
        allowed = set(flat.antiderivatives(np.array(sorted(level_dummies), dtype=int)).tolist())
        if not below:
            break
        rows_entries = {
            e: {c: v for c, v in _entries(flat, e, parameters).items() if c in allowed}
            for e in below
        }
        chosen = []
        for rows, columns in _components(rows_entries):
            chosen += _select(rows, columns, rows_entries, preference)
        dummies += chosen
        used += below
        level_dummies, level_equations = set(chosen), below
    for cluster in clusters:
        equations = cluster.levels[0][0]
        classes = cluster.levels[0][1]
        while True:
            equations = parent_equation[equations]
            equations = equations[equations >= 0]
            if not len(equations):
                break
            inside = {c for e in equations for c in _entries(flat, int(e), parameters)}
            classes = np.array([c for c in flat.antiderivatives(classes) if c in inside], dtype=int)
            cluster.levels.append((equations, classes))
    return np.array(dummies, dtype=int), np.array(used, dtype=int), clusters


def _entries(flat: Flat, equation: int, parameters: list[list[np.ndarray]]
             ) -> dict[int, float | None]:
    """Coefficients of a scalar equation by class; None where not constant."""
    group, row = flat.group_of(equation)
    out: dict[int, float | None] = {}
    if group.law is None:
        for k in range(group.starts[row], group.starts[row + 1]):
            c = int(group.classes[k])
            out[c] = (out.get(c) or 0.0) + float(group.signs[k])
        return out
    law, instance = group.law, group.instances[row : row + 1]
    one = Group(group.family, law, instance)
    values = [p[:, instance] for p in parameters[group.family]]
    for position, key in enumerate(law.arguments):
        if law.kernel.variables[key[0]].kind == "discrete":
            continue
        (c,), (s,) = flat.argument(one, key)
        kind = law.slopes[position]
        if kind in ("constant", "parameter"):
            slope = float(np.ravel(law.slopes_at(position, values))[0]) * s
            before = out.get(int(c), 0.0)
            out[int(c)] = None if before is None else before + slope
        else:
            out[int(c)] = None
    return out


def _peel(rows: dict[int, dict[int, float | None]], native: np.ndarray, preference: np.ndarray
          ) -> dict[int, int]:
    """Equations that give a variable explicitly wherever the others may be: solve them for it.

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
        options = [c for c, v in row.items() if not native[c] and v and c not in taken]
        for c in sorted(options, key=lambda c: -abs(row[c] or 0.0)):
            trial = {**chosen, e: c}
            rest = {k: [x for x in r if x not in trial.values()]
                    for k, r in rows.items() if k not in trial}
            if _can_match(rest):
                chosen = trial
                break
    return chosen


def _can_match(rows: dict[int, list[int]]) -> bool:
    classes = sorted({c for r in rows.values() for c in r})
    at = {c: i for i, c in enumerate(classes)}
    pairs = [(i, at[c]) for i, r in enumerate(rows.values()) for c in r]
    i = np.array([p[0] for p in pairs], dtype=int)
    j = np.array([p[1] for p in pairs], dtype=int)
    return not len(rows) or not len(match(i, j, len(rows), len(classes)).spare_equations)


def _components(rows: dict[int, dict[int, float | None]]) -> list[tuple[list[int], list[int]]]:
    """Connected sets of equations and candidate classes."""
    equations = list(rows)
    classes = sorted({c for row in rows.values() for c in row})
    if not equations:
        return []
    at = {c: i for i, c in enumerate(classes)}
    pairs = [(i, len(equations) + at[c]) for i, e in enumerate(equations) for c in rows[e]]
    size = len(equations) + len(classes)
    a = np.array([p[0] for p in pairs], dtype=int)
    b = np.array([p[1] for p in pairs], dtype=int)
    label = connected(a, b, size)
    groups: dict[int, tuple[list[int], list[int]]] = {}
    for i, e in enumerate(equations):
        groups.setdefault(int(label[i]), ([], []))[0].append(e)
    for i, c in enumerate(classes):
        groups.setdefault(int(label[len(equations) + i]), ([], []))[1].append(c)
    return [g for g in groups.values() if g[0]]


def _select(rows: list[int], columns: list[int], entries: dict[int, dict[int, float | None]],
            preference: np.ndarray) -> list[int]:
    """Columns of a nonsingular square part, those that least want to be states."""
    if len(rows) > DENSE:
        return _select_sparse(rows, columns, entries, preference)
    g = np.zeros((len(rows), len(columns)))
    at = {c: j for j, c in enumerate(columns)}
    for i, e in enumerate(rows):
        for c, v in entries[e].items():
            g[i, at[c]] = v or 0.0
    scale = np.max(np.abs(g), axis=1, keepdims=True, initial=0.0)
    g /= np.where(scale > 0, scale, 1.0)
    chosen: list[int] = []
    free_rows = np.ones(len(rows), dtype=bool)
    free_columns = np.ones(len(columns), dtype=bool)
    want = preference[columns]
    for _ in rows:
        size = np.where(free_rows[:, None] & free_columns[None, :], np.abs(g), 0.0)
        good = size.max(axis=0, initial=0.0) > 1e-9
        if not good.any():
            raise Singular(np.array(rows), np.array(columns), np.zeros(0, int), np.zeros(0, int),
                           "dependent")
        least = want[good].min()
        j = max((k for k in np.flatnonzero(good) if want[k] == least),
                key=lambda k: size[:, k].max())
        i = int(np.argmax(size[:, j]))
        others = free_rows.copy()
        others[i] = False
        g[others] -= np.outer(g[others, j] / g[i, j], g[i])
        free_rows[i] = False
        free_columns[j] = False
        chosen.append(columns[j])
    return chosen


def _select_sparse(rows: list[int], columns: list[int],
                   entries: dict[int, dict[int, float | None]], preference: np.ndarray
                   ) -> list[int]:
    """The same by sparse elimination, column after column, for large rigid parts."""
    left: dict[int, dict[int, float]] = {}
    users: dict[int, set[int]] = {c: set() for c in columns}
    for e in rows:
        size = max((abs(v or 0.0) for v in entries[e].values()), default=0.0) or 1.0
        left[e] = {c: v / size for c, v in entries[e].items() if v}
        for c in left[e]:
            users[c].add(e)
    largest = {c: max((abs(left[e][c]) for e in users[c]), default=0.0) for c in columns}
    chosen: list[int] = []
    for c in sorted(columns, key=lambda c: (preference[c], -largest[c])):
        pivot = max((e for e in users[c]), key=lambda e: abs(left[e][c]), default=None)
        if pivot is None or abs(left[pivot][c]) <= 1e-9:
            continue
        row = left.pop(pivot)
        for k in row:
            users[k].discard(pivot)
        for e in list(users[c]):
            factor = left[e][c] / row[c]
            for k, v in row.items():
                new = left[e].get(k, 0.0) - factor * v
                if k == c or abs(new) <= 1e-14:
                    left[e].pop(k, None)
                    users[k].discard(e)
                else:
                    left[e][k] = new
                    users[k].add(e)
        chosen.append(c)
    if left:
        raise Singular(np.array(rows), np.array(columns), np.zeros(0, int), np.zeros(0, int),
                       "dependent")
    return chosen
