"""Which equations must be differentiated (Pantelides), and which variables stay states?

Pantelides' algorithm [SIAM J. Sci. Stat. Comput. 9(2), 1988] on the
over-determined part only; :mod:`.dummy_derivatives` then selects states.

Knows incidence and priorities; no users, units or solvers.
"""

from __future__ import annotations

import numpy as np

from ..language.declarations import Variable
from ..numerics.arrays import Array, Flags, Indices, distinct
from .dummy_derivatives import dummy_derivatives
from .flatten import Flat, Group, Parameters
from .hidden_constraints import hidden_constraints
from .independent_inputs import has_parasitics, independent_choice, is_regular
from .matching import match
from .network import Network
from .reduced import Reduced, SetValuedElements, Singular

__all__ = ["MAX_DIFFERENTIATIONS", "reduce_index", "state_priorities"]

MAX_DIFFERENTIATIONS = 8
HIGHEST, REPLACED = -1, -2  # of an equation: not differentiated; no longer among them


def reduce_index(flat: Flat, preference: Array, parameters: Parameters,
                 elements: SetValuedElements) -> Reduced:
    """Differentiate what must be, in place, and select states, of the classes most preferred."""
    original = flat.derivative >= 0
    derivative_of, rounds = _pantelides(flat, elements)
    top = np.flatnonzero(derivative_of == HIGHEST)
    flow_given = gives_flow(flat, top, elements, parameters)
    known = distinct(np.where(flow_given, elements.flows, elements.efforts))
    height = flat.heights()
    new = flat.classes - len(original)
    preference = np.concatenate([preference, np.full(flat.classes - len(preference), -1.0)])
    differential = np.concatenate([original, np.zeros(new, dtype=bool)])
    chosen = dummy_derivatives(flat, derivative_of, height, preference, differential, parameters)
    dummies = np.array(chosen.classes, dtype=int)
    is_state = height >= 1
    is_state[dummies] = False
    is_state[known] = False
    unknown = ~is_state
    unknown[known] = False
    has_algebraic = np.any(unknown & (height == 0))
    return Reduced(
        flat,
        states=np.flatnonzero(is_state),
        unknowns=np.flatnonzero(unknown),
        equations=np.concatenate([top, np.array(chosen.equations, dtype=int)]).astype(int),
        clusters=chosen.clusters,
        index=rounds + 1 if rounds else int(np.any(height >= 1) and has_algebraic),
        gives_flow=flow_given,
        inputs=known, )


def _refuse_singular(flat: Flat, top: Indices, elements: SetValuedElements) -> None:
    """Every chain of a variable and its derivatives needs an equation of its own."""
    chain = flat.chains()
    rows, columns = flat.compact_incidence(top, np.arange(flat.classes), elements)
    m = match(rows, chain[columns], len(top) + elements.size, int(chain.max(initial=-1)) + 1)
    if not m.perfect:
        names = np.unique(chain, return_index=True)[1]  # the first class of every chain
        raise Singular(_real(m.over_equations, top), names[m.over_unknowns],
                       _real(m.under_equations, top), names[m.under_unknowns], "structure")


def _real(equations: Indices, top: Indices) -> Indices:
    """Equations proper, without the rows of set-valued laws."""
    return top[equations[equations < len(top)]]


def _pantelides(flat: Flat, elements: SetValuedElements) -> tuple[Indices, int]:
    """Differentiate over-determined parts until all highest derivatives are matched."""
    derivative_of = np.full(flat.equations, HIGHEST)
    rounds, refused = 0, False
    while rounds < MAX_DIFFERENTIATIONS:
        top = np.flatnonzero(derivative_of == HIGHEST)
        classes = np.flatnonzero(flat.derivative < 0)
        if elements.size:
            rows, columns = flat.compact_incidence(top, classes, elements)
            m = match(rows, columns, len(top) + elements.size, len(classes))
        else:
            m = flat.matching(top, classes)
        if not (refused or m.perfect):  # derivatives are of the chains that their equations have
            _refuse_singular(flat, top, elements)
            refused = True
        over = m.over_equations[m.over_equations < len(top)]
        if not len(m.over_equations):
            hidden = hidden_constraints(flat, top, classes, m)
            if not hidden:
                return derivative_of, rounds
            for equation, group in hidden.items():
                flat.add(group)
                derivative_of[equation] = REPLACED
            derivative_of = np.append(derivative_of, np.full(len(hidden), HIGHEST))
            refused = False
            continue
        if len(over) < len(m.over_equations):
            raise Singular(top[over], classes[m.over_unknowns], np.zeros(0, int), np.zeros(0, int),
                           "input")
        unknowns = classes[m.over_unknowns]
        flat.derivative[unknowns] = flat.grow(len(unknowns))
        derivative_of = _differentiate(flat, top[over], derivative_of)
        rounds += 1
    raise Singular(top[over], unknowns, _real(m.under_equations, top), classes[m.under_unknowns],
                   "endless")


def _differentiate(flat: Flat, equations: Indices, derivative_of: Indices) -> Indices:
    """Add the derivatives of equations; returns ``derivative_of`` with them."""
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
            _, classes, signs = group.terms(rows)
            new = Group.sums(*flat.follow(classes, signs, 1, create=True),
                             np.diff(group.starts)[rows], group.nodes[rows], group.order + 1)
        flat.add(new)
        derivative_of = np.concatenate([derivative_of, np.full(new.size, HIGHEST)])
        derivative_of[mine] = new.numbers
    return derivative_of


def gives_flow(flat: Flat, top: Indices, elements: SetValuedElements, parameters: Parameters
               ) -> Flags:
    """Which elements must give their flow instead of their effort, as few as possible.

    Chosen by incidence; where that leaves a block singular, whatever the values, or where parasitic
    elements had to say what is large, by coefficients. What a stop that is not touched would
    determine is determined otherwise, if it can be.
    """
    if not elements.size:
        return np.zeros(0, dtype=bool)
    given = _by_incidence(flat, top, elements, _fading(flat))
    if given is None:
        given = _by_incidence(flat, top, elements, np.zeros(0, dtype=int))
    assert given is not None  # all have been matched before
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
        for key, fades in zip(law.arguments, law.fading, strict=True):
            if key in law.unknowns:
                (fading if fades else firm).append(
                    group.numbers * flat.classes + flat.argument(group, key)[0])
    return np.setdiff1d(np.concatenate(fading), np.concatenate(firm))


def _by_incidence(flat: Flat, top: Indices, elements: SetValuedElements, fading: Indices
                  ) -> Flags | None:
    """Which give their flow, as few as can be; None where something is left undetermined."""
    equations = np.append(top, np.full(elements.size, flat.equations))  # laws have no fading pairs

    def firm(classes: Indices, laws: SetValuedElements | None = None) -> tuple[Indices, Indices]:
        rows, columns = flat.compact_incidence(top, classes, laws)
        stays = ~np.isin(equations[rows] * flat.classes + classes[columns], fading)
        return rows[stays], columns[stays]

    classes = np.flatnonzero(flat.derivative < 0)
    others, n = np.setdiff1d(classes, elements.efforts), len(classes)
    if match(*firm(others), len(top), len(others)).perfect:
        return np.zeros(elements.size, dtype=bool)
    from scipy.sparse import csr_matrix
    from scipy.sparse.csgraph import min_weight_full_bipartite_matching

    rows, columns = firm(classes, elements)
    rows, columns = np.divmod(distinct(rows * n + columns), n)
    flows = (rows >= len(top)) & (classes[columns] != np.append(top, elements.efforts)[rows])
    try:
        given = min_weight_full_bipartite_matching(csr_matrix(
            (1.0 + flows, (rows, columns)), (len(equations), n)))[1][len(top):]
    except ValueError:
        return None
    return np.asarray(classes[given] != elements.efforts)


def state_priorities(network: Network, flat: Flat) -> Array:
    """How much every class wants to be a state, from its targets' priorities."""
    want = np.zeros(flat.classes)
    for f, family in enumerate(network.families):
        for i, local in enumerate(family.kernel.variables):
            base = flat.base[f].get((i, 0))
            if base is None or local.kind != "variable":
                continue
            declared = local.declared
            assert isinstance(declared, Variable)
            default = {"high": 2.0, "low": 1.0}.get(declared.priority, 0.0) \
                if declared.has_initial else 0.0
            classes = flat.class_of[base : base + family.size]
            np.maximum.at(want, classes, default)
            for first, m in zip(family.firsts, family.members, strict=True):
                if local.name in m._targets:
                    level = {"high": 4.0, "low": 3.0, "none": 0.0}[m._targets[local.name][1]]
                    np.maximum.at(want, classes[first : first + m.size], level)
    return want
