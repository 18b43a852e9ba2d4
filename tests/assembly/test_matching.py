"""Who is joined to whom, and which equation determines what, by brute force and by scipy."""

from itertools import combinations

import networkx as nx
import numpy as np
import pytest
from benches.parts import Ground, Resistor, final
from benches.translational import oscillator
from scipy.sparse import csr_matrix
from scipy.sparse.csgraph import connected_components, maximum_bipartite_matching

from blocks import Component, Model, Parameter
from blocks.assembly.matching import match
from blocks.exceptions import ConnectionRefused, NamingError, UnknownName
from library.translational import Damper, ForceSource, Mass, Spring


def random_pattern(seed):
    rng = np.random.default_rng(seed)
    n, m = rng.integers(1, 9, 2)
    return rng.random((n, m)) < rng.uniform(0.1, 0.6)


PATTERNS = [random_pattern(seed) for seed in range(150)]


def matched(pattern):
    return match(*np.nonzero(pattern), *pattern.shape)


def rank(pattern):
    """Size of a maximum matching, by scipy."""
    if not pattern.any():
        return 0
    return int((maximum_bipartite_matching(csr_matrix(pattern), perm_type="column") >= 0).sum())


def test_the_matching_is_one_and_as_large_as_scipy_finds():
    wrong = []
    for seed, pattern in enumerate(PATTERNS):
        m, size = matched(pattern), rank(pattern)
        pairs = {(i, j) for j, i in enumerate(m.equation_of) if i >= 0}
        found = pairs, len(pairs), all(pattern[pair] for pair in pairs), m.perfect
        wanted = ({(i, j) for i, j in enumerate(m.unknown_of) if j >= 0}, size, True,
                  pattern.shape == (size, size))
        wrong += [(seed, found, wanted)] * (found != wanted)
    assert wrong == []


def test_an_equation_is_spare_in_some_matching_exactly_if_it_is_over_determined():
    # without it the others can be matched as well: brute force over all rows and columns
    wrong = []
    for seed, pattern in enumerate(PATTERNS):
        m, full = matched(pattern), rank(pattern)
        found = sorted(m.over_equations), sorted(m.under_unknowns)
        wanted = tuple([k for k in range(pattern.shape[axis])
                        if rank(np.delete(pattern, k, axis)) == full] for axis in (0, 1))
        wrong += [(seed, found, wanted)] * (found != wanted)
    assert wrong == []


def test_parts_cover_everything_once():
    wrong = []
    for seed, pattern in enumerate(PATTERNS):
        m = matched(pattern)
        found = (sorted([*m.over_equations, *m.block_equations, *m.under_equations]),
                 sorted([*m.over_unknowns, *m.block_unknowns, *m.under_unknowns]))
        wanted = tuple(list(range(size)) for size in pattern.shape)
        wrong += [(seed, found, wanted)] * (found != wanted)
    assert wrong == []


@pytest.mark.parametrize("large", [False, True])
def test_an_equation_too_many_is_found_at_any_size(large, monkeypatch):
    monkeypatch.setattr("blocks.assembly.matching.BIG", 0 if large else 100)
    m = match(*np.nonzero(np.array([[1, 0, 0], [1, 0, 0], [0, 1, 1]])), 3, 3)
    assert sorted(m.over_equations) == [0, 1] and sorted(m.under_unknowns) == [1, 2]


@pytest.mark.parametrize("large", [False, True])
def test_blocks_are_the_strong_components_in_an_order_that_can_be_solved(large, monkeypatch):
    monkeypatch.setattr("blocks.assembly.matching.BIG", 0 if large else 100)
    wrong = []
    for seed in range(60):
        rng = np.random.default_rng(seed)
        n = int(rng.integers(2, 12))
        pattern = (rng.random((n, n)) < 0.2) | np.eye(n, dtype=bool)
        pattern = pattern[rng.permutation(n)][:, rng.permutation(n)]
        m = matched(pattern)
        graph = pattern[:, m.unknown_of]  # equation i needs the unknown of equation j
        count, _ = connected_components(csr_matrix(graph), connection="strong")
        known, early = set(), set()  # unknowns so far, and those of later blocks that are needed
        for a, b in zip(m.block_starts[:-1], m.block_starts[1:], strict=True):
            known |= set(m.block_unknowns[a:b].tolist())
            needed = np.flatnonzero(pattern[m.block_equations[a:b]].any(axis=0))
            early |= set(needed.tolist()) - known
        found, wanted = (m.perfect, len(m.block_starts) - 1, early), (True, count, set())
        wrong += [(seed, found, wanted)] * (found != wanted)
    assert wrong == []


def test_hall_violators_are_found():
    # three equations in two unknowns, beside one equation in two unknowns
    pattern = np.array([[1, 1, 0, 0], [1, 1, 0, 0], [0, 1, 0, 0], [0, 0, 1, 1]], dtype=bool)
    m = matched(pattern)
    assert sorted(m.over_equations) == [0, 1, 2]
    assert sorted(m.over_unknowns) == [0, 1]
    assert sorted(m.under_equations) == [3]
    assert sorted(m.under_unknowns) == [2, 3]
    violators = [rows for k in range(1, 5) for rows in combinations(range(4), k)
                 if pattern[list(rows)].any(axis=0).sum() < k]
    assert set(violators[0]) == set(m.over_equations)


# -- the network ------------------------------------------------------------------------------
def test_ports_joined_one_after_the_other_are_one_node():
    one, two = oscillator(), oscillator()
    for model in (one, two):
        model.damper = Damper(damping="1 N*s/m")
    one.connect(one.damper.R, one.spring.R)
    one.connect(one.damper.C, one.ground.V)
    two.connect(two.body.M, two.damper.R)
    two.connect(two.damper.C, two.spring.C)
    a, b = (m.simulate("1 s", rtol=1e-9)["spring.x"].final.magnitude for m in (one, two))
    assert a == pytest.approx(b, rel=1e-12)
    assert nx.is_isomorphic(one.graph, two.graph)


def test_the_graph_is_bipartite_between_components_and_nodes():
    graph = oscillator().graph
    kinds = nx.get_node_attributes(graph, "kind")
    assert sorted(n for n, k in kinds.items() if k == "component") == ["body", "ground", "spring"]
    assert sum(k == "node" for k in kinds.values()) == 2
    assert all(kinds[a] != kinds[b] for a, b in graph.edges())
    assert graph.nodes["ground"]["reference"]
    assert not graph.nodes["body"]["reference"]


def test_an_unconnected_port_takes_no_force():
    model = oscillator()
    model.extra = Spring()
    model.connect(model.extra.R, model.body.M)
    assert final(model.simulate("1 s", rtol=1e-9), "extra.f") == pytest.approx(0, abs=1e-12)


def test_removing_a_part_removes_its_connections():
    model = oscillator()
    model.damper = Damper()
    model.connect(model.body.M, model.damper.R)
    model.connect(model.damper.C, model.ground.V)
    del model.damper
    import numpy as np

    run = model.simulate("1 s", rtol=1e-10)
    assert final(run, "spring.x") == pytest.approx(np.sin(2) / 2, rel=1e-8)
    with pytest.raises(UnknownName):
        _ = model.damper


@pytest.mark.parametrize(("join", "words"), [
    (lambda m: m.connect(m.body.M), "at least two ports"),
    (lambda m: m.connect(m.body.M, m.body.M), "given twice"),
    (lambda m: m.connect(m.body.M, m.spring), "was given the component spring"),
    (lambda m: m.connect(m.body.M, m.body.v), "was given the variable body.v"),
    (lambda m: m.connect(m.body.M, m.r.R), "body.M is translational and r.R is electrical"),
    (lambda m: m.connect(m.body.M, Mass().M), "First write model.name = Component"),
    (lambda m: m.connect(m.body.M, m.push.S), "push.S is a signal and body.M a conserving")])
def test_a_connection_that_cannot_be_meant_is_refused(join, words):
    model = oscillator()
    model.r, model.g, model.push = Resistor(), Ground(), ForceSource()
    with pytest.raises(ConnectionRefused) as caught:
        join(model)
    assert words in str(caught.value)


@pytest.mark.parametrize(
    ("name", "words"),
    [("body", "already a Mass"), ("class", "cannot be used as a name"), ("_x", "cannot be used"),
     ("simulate", "reserved"), ("two words", "cannot be used"), ("connect", "reserved")],
)  # fmt: skip
def test_a_name_that_cannot_be_used_is_refused(name, words):
    model = oscillator()
    with pytest.raises(NamingError, match=words):
        model.add(name, Mass())


def test_a_component_belongs_to_one_place():
    model, other = oscillator(), Model("other")
    with pytest.raises(NamingError, match="already part of the model '.+' as 'body'"):
        other.body = model.body
    with pytest.raises(NamingError, match="composite"):
        other.inner = model


def test_a_leaf_has_no_parts():
    class Leaf(Component):
        k = Parameter("1 N")

    leaf = Leaf()
    with pytest.raises(NamingError, match="is not a composite"):
        leaf.part = Mass()
