"""Who is joined to whom, and what the network's graph says of it."""

import networkx as nx
import pytest
from benches import wired
from benches.parts import Ground, Resistor, final

from blocks import Component, Model, Parameter
from blocks.exceptions import ConnectionRefused, NamingError, UnknownName
from library.translational import Damper, ForceSource, Mass, Reference, Spring


def oscillator():
    return wired("oscillator", "body.M spring.R", "spring.C ground.V",
                 body=Mass(mass="2 kg", v="1 m/s"), spring=Spring(stiffness="8 N/m"),
                 ground=Reference())


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
