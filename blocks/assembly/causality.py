"""Which set-valued laws give their effort, and which their flow?"""

from __future__ import annotations

import numpy as np

from ..numerics.arrays import Flags, Indices
from .flatten import Flat, Parameters
from .independent_inputs import has_parasitics, independent_choice, is_regular
from .matching import match
from .set_valued import SetValuedElements

__all__ = ["compact_incidence", "gives_flow"]


def gives_flow(flat: Flat, top: Indices, elements: SetValuedElements, parameters: Parameters
               ) -> Flags:
    """Which elements must give their flow instead of their effort, as few as possible.

    Chosen by incidence; where that leaves a block singular, or where parasitic elements had to say
    what is large, by coefficients.
    """
    if not elements.size:
        return np.zeros(0, dtype=bool)
    given = _by_incidence(flat, top, elements)
    inputs = np.where(given, elements.flows, elements.efforts)
    unknowns = np.setdiff1d(np.flatnonzero(flat.derivative < 0), inputs)
    m = match(*flat.compact_incidence(top, unknowns), len(top), len(unknowns))
    parts = zip(np.split(m.block_equations, m.block_starts[1:-1]),
                np.split(m.block_unknowns, m.block_starts[1:-1]), strict=True)
    if all(is_regular(flat, top[e], unknowns[u], parameters) for e, u in parts) \
            and not has_parasitics(flat, top, parameters):
        return given
    choice = independent_choice(flat, top, elements, parameters)
    return given if choice is None else choice


def _by_incidence(flat: Flat, top: Indices, elements: SetValuedElements) -> Flags:
    """Which give their flow: starts from every element giving its effort and repairs, by
    augmenting paths, what that leaves unmatched.
    """
    flow_given = np.zeros(elements.size, dtype=bool)
    classes = np.flatnonzero(flat.derivative < 0)
    at = {int(c): k for k, c in enumerate(classes)}
    others = np.setdiff1d(classes, elements.efforts)
    m = match(*flat.compact_incidence(top, others), len(top), len(others))
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
        rows, columns = compact_incidence(flat, top, classes, elements)
        order = np.argsort(rows, kind="stable")
        starts = np.searchsorted(rows[order], np.arange(len(top) + elements.size + 1))
        for row in waiting:
            _augment(row, columns[order], starts, owner)
    effort_of = np.array([at.get(int(c), -1) for c in elements.efforts])
    for c, row in enumerate(owner):
        if row >= len(top) and effort_of[row - len(top)] != c:
            flow_given[row - len(top)] = True
    return flow_given


def _augment(row: int, columns: Indices, starts: Indices, owner: Indices) -> None:
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


def compact_incidence(flat: Flat, equations: Indices, classes: Indices,
                      elements: SetValuedElements) -> tuple[Indices, Indices]:
    """Incidence of equations, then elements, with classes, numbered compactly."""
    rows, columns = flat.compact_incidence(equations, classes)
    more_rows, more_columns = elements.incidence(len(equations))
    column_of = np.full(flat.classes, -1)
    column_of[classes] = np.arange(len(classes))
    inside = column_of[more_columns] >= 0
    return (np.concatenate([rows, more_rows[inside]]),
            np.concatenate([columns, column_of[more_columns[inside]]]))
