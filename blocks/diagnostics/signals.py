"""Does every input have one source, and do signals run in a circle?"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from ..assembly.network import Family, Network
from ..language.component import Component
from ..language.declarations import Input, Parameter
from ..numerics.arrays import distinct
from .findings import Finding, found
from .traits import traits_of
from .words import listed, outer_path, outer_port

__all__ = ["signal_findings"]


def signal_findings(network: Network) -> Iterator[Finding]:
    """Open inputs, lines with several outputs, loops without a state."""
    yield from _lines(network)
    yield from _loops(network)


def _nodes(network: Network, kind: str) -> list[tuple[int, int, np.ndarray]]:
    """(family, variable, nodes) of all inputs or outputs."""
    return [(f, i, network.nodes_at(f, v.name)) for f, family in enumerate(network.families) for i,
            v in enumerate(family.kernel.variables) if v.kind == kind]


def _lines(network: Network) -> Iterator[Finding]:
    outputs = np.zeros(network.nodes, dtype=int)
    for _, _, nodes in _nodes(network, "output"):
        np.add.at(outputs, nodes, 1)
    for (f, i, k), _ in network.reads:
        outputs[network.nodes_at(f, network.families[f].kernel.variables[i].name)[k]] += 1
    for f, i, nodes in _nodes(network, "input"):
        family = network.families[f]
        local = family.kernel.variables[i]
        lonely = np.flatnonzero(outputs[nodes] == 0)
        if not len(lonely):
            continue
        if i in family.kernel.defaults:
            yield from _assumed(family, local.name, lonely)
            continue
        paths = list(dict.fromkeys(outer_path(family, int(k), local.name) for k in lonely[:20]))
        rest = "" if len(lonely) <= 3 else f" ({len(lonely):,} in all)"
        unit_text = f" in {local.unit}" if local.unit.text else " without unit"
        one = len(lonely) == 1
        yield found(
            "signal.unconnected", paths,
            f"The {'input' if one else 'inputs'} {listed(paths, 3)}{rest} "
            f"{'is' if one else 'are'} connected to nothing and {'has' if one else 'have'} no "
            "default.",
            f"Connect an output{unit_text} to it: model.connect(…, model.{paths[0]}).")
    for node in np.flatnonzero(outputs > 1):
        sources = _members(network, "output", int(node))
        sinks = _members(network, "input", int(node))
        target = f"{listed(sinks)} {'is' if len(sinks) == 1 else 'are'}" if sinks else "One line is"
        yield found(
            "signal.outputs", [*sources, *sinks][:20],
            f"{target} connected to {len(sources)} outputs at once: {listed(sources)}.",
            "Keep one of them, or combine them in a block first (such as a sum).")


def _assumed(family: Family, name: str, lonely: np.ndarray) -> Iterator[Finding]:
    """Inputs for which a parameter stands in, though nobody has said that it should.

    They are those of a composite, which says nothing of a default; or the only input of a
    component that stays at zero, since its parameter was not given either.
    """
    alone = sum(v.kind == "input" for v in family.kernel.variables) == 1
    starts = np.array(family.firsts)
    for m in distinct(np.searchsorted(starts, lonely, side="right") - 1):
        member = family.members[m]
        composite, outer = outer_port(member, name)
        declared, own = composite._declared[outer], member._declared[name]
        if composite is not member and isinstance(declared, Input) and declared.default is None:
            yield found(
                "signal.assumed", [f"{composite.path}.{outer}"],
                f"The input {composite.path}.{outer} is connected to nothing, so "
                f"{getattr(own, 'default', 'a value')} of {member.path} stands in for it.",
                f"Connect an output to it: model.connect(…, model.{composite.path}.{outer}).")
        elif composite is member and alone and _left_at_zero(member, own):
            zero = f"0 {own.unit.text}".strip()
            yield found(
                "signal.default", [f"{member.path}.{name}"],
                f"The input {member.path}.{name} is connected to nothing and {own.default} was not "
                f"given, so it stays at {zero}.",
                f"Nothing to do if that is meant; otherwise connect an output to it: "
                f"model.connect(…, model.{member.path}.{name}), or give {own.default} a value.")


def _left_at_zero(component: Component, declared: Any) -> bool:
    """Whether the parameter that stands in for an input is zero because nobody gave it."""
    name = declared.default
    if not isinstance(name, str) or name in component._values:
        return False
    preset = component._declared[name]
    return isinstance(preset, Parameter) and not np.any(np.asarray(preset.default))


def _members(network: Network, kind: str, node: int) -> list[str]:
    return [f"{network.families[f].path(int(k))}.{network.families[f].kernel.variables[i].name}"
            for f, i, nodes in _nodes(network, kind) for k in np.flatnonzero(nodes == node)]


def _loops(network: Network) -> Iterator[Finding]:
    """Strongly connected lines through blocks whose output follows the input at once."""
    feeds = [(f, feed) for f, family in enumerate(network.families)
             for feed in traits_of(family.kernel).feeds]
    if not feeds:
        return
    from scipy.sparse import coo_matrix
    from scipy.sparse.csgraph import connected_components

    tail, head = (np.concatenate([network.nodes_at(f, feed[end]) for f, feed in feeds])
                  for end in (0, 1))
    lines = coo_matrix((np.ones(len(tail)), (tail, head)), shape=(network.nodes,) * 2)
    label = connected_components(lines, connection="strong")[1]
    inside = (label[tail] == label[head]) & ((np.bincount(label)[label[tail]] > 1) | (tail == head))
    if not inside.any():
        return
    import networkx as nx

    blocks = [(network.families[f], k) for f, _ in feeds for k in range(network.families[f].size)]
    circles = nx.DiGraph((tail[e], head[e], {"by": blocks[e]}) for e in np.flatnonzero(inside))
    for part in nx.strongly_connected_components(circles):
        circle = nx.find_cycle(circles.subgraph(part))
        names = [family.path(k) for family, k in (circles.edges[e]["by"] for e in circle)]
        yield found(
            "signal.loop", names,
            f"The signals run in a circle without any delay: {' -> '.join([*names, names[0]])}. "
            "Their values are the solution of a system of equations at every instant.",
            "If that is not meant, break the circle with an integrator, a filter or a memory.")
