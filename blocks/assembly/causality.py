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

    Chosen by incidence; where that leaves a block singular, whatever the values, or where parasitic
    elements had to say what is large, by coefficients. What a stop that is not touched would
    determine is determined otherwise, if it can be.
    """
    if not elements.size:
        return np.zeros(0, dtype=bool)
    given, complete = _by_incidence(flat, top, elements, _fading(flat))
    if not complete:
        given, _ = _by_incidence(flat, top, elements, np.zeros(0, dtype=int))
    inputs = np.where(given, elements.flows, elements.efforts)
    unknowns = np.setdiff1d(np.flatnonzero(flat.derivative < 0), inputs)
    m = match(*flat.compact_incidence(top, unknowns), len(top), len(unknowns))
    starts, ends = m.block_starts[:-1], m.block_starts[1:]
    together = [slice(*ends_of) for ends_of in np.column_stack([starts, ends])[ends - starts > 1]]
    if all(is_regular(flat, top[m.block_equations[b]], unknowns[m.block_unknowns[b]], parameters)
           for b in together) and not has_parasitics(flat, top, parameters):
        return given
    choice = independent_choice(flat, top, elements, parameters)
    return given if choice is None else choice


def _fading(flat: Flat) -> Indices:
    """Pairs of equations and classes that conditions may take out, as numbers."""
    fading, firm = [np.zeros(0, dtype=int)], [np.zeros(0, dtype=int)]
    for group in flat.groups:
        law = group.law
        if law is None or not any(law.fading):
            continue
        numbers = group.first + np.arange(group.size)
        for key, fades in zip(law.arguments, law.fading, strict=True):
            if key in law.unknowns:
                (fading if fades else firm).append(
                    numbers * flat.classes + flat.argument(group, key)[0])
    return np.setdiff1d(np.concatenate(fading), np.concatenate(firm))


def _by_incidence(flat: Flat, top: Indices, elements: SetValuedElements, fading: Indices
                  ) -> tuple[Flags, bool]:
    """Which give their flow, and whether all is matched so: starts from every element giving
    its effort and repairs, by augmenting paths, what that leaves unmatched.
    """
    flow_given = np.zeros(elements.size, dtype=bool)
    classes = np.flatnonzero(flat.derivative < 0)
    at = {int(c): k for k, c in enumerate(classes)}
    others = np.setdiff1d(classes, elements.efforts)
    rows, columns = flat.compact_incidence(top, others)
    stays = ~np.isin(top[rows] * flat.classes + others[columns], fading)
    m = match(rows[stays], columns[stays], len(top), len(others))
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
    complete = True
    if waiting:
        rows, columns = compact_incidence(flat, top, classes, elements)
        laws = rows < len(top)
        numbers = top[np.where(laws, rows, 0)] * flat.classes + classes[columns]
        stays = ~laws | ~np.isin(numbers, fading)
        rows, columns = rows[stays], columns[stays]
        order = np.argsort(rows, kind="stable")
        starts = np.searchsorted(rows[order], np.arange(len(top) + elements.size + 1))
        for row in waiting:
            complete &= _augment(row, columns[order], starts, owner)
    effort_of = np.array([at.get(int(c), -1) for c in elements.efforts])
    for c, row in enumerate(owner):
        if row >= len(top) and effort_of[row - len(top)] != c:
            flow_given[row - len(top)] = True
    return flow_given, complete


def _augment(row: int, columns: Indices, starts: Indices, owner: Indices) -> bool:
    """Find a class for one more row along the shortest alternating path; whether there is one."""
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
                            return True
                        c = int(taken[0])
                following.append(int(owner[c]))
        front = following
    return False


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
