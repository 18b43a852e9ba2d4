"""Does the output of an ideal amplifier act back on its inputs?

A class whose output takes whatever makes its two inputs equal says
``nullor = ("p", "n", "out")``: the inputs, the inverting one second, and the output. Ways lead
through components; none leads on from a node that a reference or a given source holds. Nothing is
told where signals act on a domain: what they carry back is not seen here.
"""

from __future__ import annotations

from collections.abc import Iterator

from .findings import Finding, found
from .one_way import Edge, references, ways, ways_to
from .topology import Topology

__all__ = ["feedback_findings"]


def feedback_findings(topology: Topology) -> Iterator[Finding]:
    """Amplifiers without feedback, and with none but a positive one."""
    families = topology.network.families
    amplifiers: list[tuple[int, tuple[str, str, str]]] = [
        (f, ports) for f, family in enumerate(families)
        if (ports := getattr(type(family.members[0]), "nullor", None))]
    if not amplifiers or any(v.kind == "input" for f in families for v in f.kernel.variables):
        return
    node = {(r.family, r.name): r.nodes for r in topology.rows}
    held = _held(topology)
    passive = [e for e in ways(topology) if e.start not in held and e.end not in held]
    through = [(start, int(node[f, out][i])) for f, (*inputs, out) in amplifiers
               for i in range(families[f].size) for port in inputs
               if (start := int(node[f, port][i])) not in held]
    outputs = {end for _, end in through}
    for f, (plus, minus, out) in amplifiers:
        for i in range(families[f].size):
            path = families[f].path(i)
            at, p, n = (int(node[f, port][i]) for port in (out, plus, minus))
            near = _driven(at, passive, outputs)
            after = set(near)
            while more := {end for start, end in through if start in after} - after:
                after |= set().union(*(_driven(k, passive, outputs) for k in more))
            ways_back = after & {p, n} - held
            if not ways_back:
                yield found(
                    "network.feedback", [path],
                    f"{path} has no feedback: no way leads from {path}.{out} back to "
                    f"{path}.{minus}, so nothing makes its two inputs equal, as an ideal amplifier "
                    "does.",
                    f"Connect {path}.{out} to {path}.{minus}, directly or through a resistor. For "
                    "a comparator take LimitedOpAmp.")
            elif n not in after and p in near and after == near:
                yield found(
                    "network.positive", [path],
                    f"{path} has positive feedback only: ways lead from {path}.{out} back to "
                    f"{path}.{plus}, and none to {path}.{minus}. Its equations have a solution, "
                    "which no amplifier stays at.",
                    f"Exchange what is connected to {path}.{plus} and {path}.{minus}. For a "
                    "Schmitt trigger take LimitedOpAmp.")


def _driven(output: int, passive: list[Edge], outputs: set[int]) -> set[int]:
    """Nodes that an output acts on; other outputs do not move."""
    others = outputs - {output}
    return ways_to(output, [e for e in passive if not {e.start, e.end} & others])


def _held(topology: Topology) -> set[int]:
    """Nodes at which references and given sources leave nothing open."""
    held = set(references(topology).tolist())
    pairs = [ends for f, traits in enumerate(topology.traits) for tie in traits.ties
             if tie.given and len(tie.ports) == 2
             for ends in zip(*(r.nodes.tolist() for name in tie.ports for r in topology.rows
                               if r.family == f and r.name == name), strict=True)]
    while more := {k for a, b in pairs if (a in held) != (b in held) for k in (a, b)} - held:
        held |= more
    return held
