"""Is every circuit referenced and every port connected?

Goes through circuits and ports; contradictions between sources are found in :mod:`.conflicts`.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from itertools import chain

import numpy as np

from ..assembly.redundant_constraints import End, redundant_constraints
from ..language.domain import Domain
from ..numerics.arrays import Flags, Indices
from .conflicts import across_conflicts, through_conflicts
from .findings import Finding, found
from .meters import meter_findings
from .one_way import graph_of, reached, references, ways
from .topology import PortRow, Topology
from .words import article, example_word, listed, outer_path, quantity_word

__all__ = ["network_findings"]

def network_findings(topology: Topology, integrated: list[Flags] | None = None
                     ) -> Iterator[Finding]:
    """Mistakes that can be seen from who is joined to whom.

    ``integrated`` says of every family which instances have a state, once that is known.
    """
    amplifiers = list(feedback_findings(topology))
    yield from amplifiers
    open_loops = {path for f in amplifiers for path in f.where}
    explained: set[str] = set()
    for domain in topology.domains:
        for name in domain.across:
            yield from (f for f in across_conflicts(topology, domain, name)
                        if not open_loops & set(f.where) and not any(
                            path in f.problem.split() for path in open_loops))
        for finding in through_conflicts(topology, domain):
            explained.update(finding.where)
            yield finding
        if domain.reference:
            yield from _references(topology, domain, integrated)
            yield from _led_to_datums(topology, domain)
        if domain.parameters:
            yield from _stated_twice(topology, domain)
        if domain.assumed:
            yield from _assumed(topology, domain)
    for finding in _nowhere(topology):
        explained.update(finding.where)
        yield finding
    yield from _repeated(topology)
    yield from _shorted(topology)
    yield from meter_findings(topology)
    yield from _unconnected(topology, explained)


# -- references --------------------------------------------------------------------------------
def _references(topology: Topology, domain: Domain, integrated: list[Flags] | None
                ) -> Iterator[Finding]:
    label = topology.circuits(domain)
    size = int(label.max()) + 1
    grounded, held = np.zeros(size, dtype=bool), np.zeros(topology.count, dtype=bool)
    stores = np.zeros(size, dtype=bool)  # of what is measured from zero
    rows = topology.of(domain)
    for r in rows:
        if r.of.is_reference or any(tie.ports == (r.name,) for tie in r.traits.ties):
            grounded[label[r.nodes]] = True
        elif domain.name not in r.traits.conserves:
            held[r.nodes] = True
            stores[label[r.nodes]] |= bool(domain.typical) and r.name not in r.of.kernel.carried
    firm, ends = np.zeros((2, size), dtype=bool)
    lonely = np.zeros(size, dtype=int)
    for r in rows:
        np.logical_or.at(firm, label[r.nodes], held[r.nodes])
        np.logical_or.at(ends, label[r.nodes], ~held[r.nodes] & (topology.degree[r.nodes] == 1))
        np.add.at(lonely, label[r.nodes], 1)
    firm &= ~ends | stores  # else what ends in the air was meant to be held there
    open_circuits = np.flatnonzero((lonely > 0) & ~grounded & (~firm | (lonely > 1)))
    locked = _without_motion(rows, label, integrated) if integrated else np.zeros(size, dtype=bool)
    for circuit in np.flatnonzero(locked):
        yield _locked(domain, rows, label == circuit)
    for circuit in open_circuits[~locked[open_circuits]]:
        yield _reference(domain, rows, label == circuit, bool(firm[circuit]))


def _without_motion(rows: list[PortRow], label: Indices, integrated: list[Flags]) -> Flags:
    """Return which circuits of masses and gears have ratios that leave nothing to integrate."""
    masses, moves, yields, geared = np.zeros((4, int(label.max()) + 1), dtype=bool)
    count = Counter(r.family for r in rows)
    for r in rows:
        inside = label[r.nodes]
        np.logical_or.at(moves, inside, integrated[r.family])
        yields[inside] |= count[r.family] < len(r.of.kernel.ports)  # driven from elsewhere
        if count[r.family] == 1:
            masses[inside] |= any(order > 0 for _, order in r.of.kernel.symbols)
        elif r.domain.name not in r.traits.conserves:
            geared[inside] = True
        else:  # a spring, a rigid link or a source of velocities
            yields[inside] |= r.prescribed is None
    return masses & geared & ~moves & ~yields


def _locked(domain: Domain, rows: list[PortRow], inside: Flags) -> Finding:
    parts = list(dict.fromkeys(path for r in rows for path, _ in r.at(inside)))
    word = quantity_word(*next(iter(domain.across.items())))
    return found(
        "network.locked", parts[:20],
        f"The {domain} circuit of {listed(parts)} is locked by its own constraints: no {word} in "
        "it can change, as where two gears of different ratios join two shafts.",
        "Nothing to do if that is meant; otherwise remove one of the constraints (a gear, a "
        "reference).")


def _reference(domain: Domain, rows: list[PortRow], inside: Flags, firm: bool) -> Finding:
    ports = [port for r in rows for port in r.at(inside)]
    parts = list(dict.fromkeys(p for p, _ in ports))
    word, kind = quantity_word(*next(iter(domain.across.items()))), domain.reference
    lacks = f"The {domain} circuit of {listed(parts)} has no {kind}"
    if firm:
        return found("reference.free", parts[:20], f"{lacks}: {domain.alone}.",
                     f"Nothing to do if that is meant; otherwise add {article(kind)}.")
    return found("reference.missing", parts[:20],
                 f"{lacks}, so nothing says what its {word} is measured against.",
                 f"Add one: model.ground = {kind}(); then connect it, for example to "
                 f"{'.'.join(ports[-1])}.")


def _led_to_datums(topology: Topology, domain: Domain) -> Iterator[Finding]:
    """Flows that go to a reference that is meant to be measured against.

    A class says so by ``datum = (what it is, what is probably meant)``.
    """
    datums: dict[int, tuple[str, tuple[str, str]]] = {}
    for r in topology.of(domain):
        if words := getattr(type(r.of.members[0]), "datum", None):
            datums.update((int(n), (r.path(i), words)) for i, n in enumerate(r.nodes))
    leads: dict[int, list[str]] = {}
    for rows in topology.groups(domain) if datums else ():
        conducts = len(rows) == 2 and not rows[0].traits.ties and rows[0].prescribed is None
        if conducts or any(r.name in r.of.kernel.carried for r in rows):
            for r in rows:
                for i in np.flatnonzero(np.isin(r.nodes, list(datums))):
                    leads.setdefault(int(r.nodes[i]), []).append(r.path(i))
    through = quantity_word(*next(iter(domain.through.items())))
    for node, paths in leads.items():
        path, (what, meant) = datums[node]
        yield found(
            "network.datum", [*paths[:19], path],
            f"{listed(paths)} {'leads' if len(paths) == 1 else 'lead'} {through} to {path}, which "
            f"{what}.", f"Nothing to do if that is meant; {meant}.")


# -- parameters of a circuit ---------------------------------------------------------------------
def _stated_twice(topology: Topology, domain: Domain) -> Iterator[Finding]:
    """Parameters that a circuit has once, and two components state."""
    circuit = topology.network.circuits(domain)
    givers: dict[int, dict[str, list[str]]] = {}  # with those of its own that it gives them by
    for r in topology.of(domain):
        if r.states:
            own = [name for name in domain.parameters if hasattr(type(r.of.members[0]), name)]
            for i, node in enumerate(r.nodes):
                givers.setdefault(int(circuit[node]), {})[r.path(i)] = own
    for of_circuit in givers.values():
        names, stated = list(of_circuit), listed(chain(*of_circuit.values()))
        if len(names) > 1:
            between = _between(topology, domain, *names[:2])
            way = f"which {listed(between)} join{'s' * (len(between) == 1)}" if between else (
                "where they meet at one node")
            yield found(
                "conflict.parameter", names[:20],
                f"{listed(names)} {'both' if len(names) == 2 else 'all'} state what "
                f"{article(str(domain))} circuit has once{f' ({stated})' * bool(stated)}, and "
                f"belong to the same circuit, {way}.",
                "Keep one of them, or separate the circuits: look for a connection that joins "
                "them by mistake.")


def _between(topology: Topology, domain: Domain, start: str, end: str) -> list[str]:
    """Components on the shortest way from one component of a circuit to another."""
    import networkx as nx

    joined = nx.Graph((r.path(i), int(node))
                      for r in topology.of(domain) for i, node in enumerate(r.nodes))
    return nx.shortest_path(joined, start, end)[2:-2:2]


# -- powers that leave ----------------------------------------------------------------------------
def _nowhere(topology: Topology) -> Iterator[Finding]:
    """Nodes to which power is carried, and where nothing is that could take it."""
    carries = [r.name in r.of.kernel.carried for r in topology.rows]
    taken = np.zeros(topology.count, dtype=bool)
    for r, brings in zip(topology.rows, carries, strict=True):
        if not brings and r.prescribed is None:
            taken[r.nodes] = True
    shown: set[str] = set()
    for r, brings in zip(topology.rows, carries, strict=True):
        for i in np.flatnonzero(~taken[r.nodes]) if brings else ():
            port = outer_path(r.of, int(i), r.name)
            if port in shown:  # of several parts of a composite
                continue
            shown.add(port)
            local = r.of.kernel.variables[r.of.kernel.carried[r.name]]
            word = local.declared.doc or local.name  # type: ignore[attr-defined]
            across, through = (next(iter(d.items())) for d in (r.domain.across, r.domain.through))
            left = "is left open" if topology.degree[r.nodes[i]] == 1 else (
                "is joined to nothing that takes it up")
            yield found(
                "network.nowhere", [port],
                f"The {r.domain} port {port} {left}: the {word} of {port.rpartition('.')[0]} has "
                "nowhere to go.",
                f"Connect it to what takes it up{example_word(*through)}, or to a fixed "
                f"{quantity_word(*across)}; or leave the option out that shows the port.")


# -- parameters that nobody states -------------------------------------------------------------
def _assumed(topology: Topology, domain: Domain) -> Iterator[Finding]:
    """Circuits in which the domain's own values of its parameters hold.

    Meant, perhaps, where nothing in the model states any; forgotten where another circuit does.
    """
    circuit = topology.network.circuits(domain)
    rows, stated = topology.of(domain), np.zeros(topology.count, dtype=bool)
    who: list[str] = []
    for r in rows:
        if r.states:
            stated[circuit[r.nodes]] = True
            who += [r.path(i) for i in range(len(r.nodes))]
    open_ = {int(c) for r in rows for c in circuit[r.nodes] if not stated[c]}
    groups = [list(dict.fromkeys(path for r in rows for path, _ in r.at(circuit == k)))
              for k in sorted(open_)]
    problem, _, advice = domain.assumed.partition(". ")
    # an open port alone holds nothing that flows
    forgotten = [parts for parts in groups if len(parts) > 1] if stated.any() else []
    for parts in forgotten:
        yield found("network.forgotten", parts[:20],
                    f"The {domain} circuit of {listed(parts)} {problem}, while "
                    f"{listed(who)} {'says' if len(who) == 1 else 'say'} so for another "
                    "circuit: what separates the two separates this, too.",
                    advice)
    names = list(dict.fromkeys(p for parts in groups if parts not in forgotten for p in parts))
    if names:
        which = "The" if len(open_) == 1 + len(forgotten) else "Every"
        yield found("network.assumed", names[:20],
                    f"{which} {domain} circuit of {listed(names)} {problem}.", advice)


# -- elements that repeat each other --------------------------------------------------------------
def _repeated(topology: Topology) -> Iterator[Finding]:
    """Elements that share evenly what they carry, as nothing says how."""
    who: dict[tuple[End, Domain, str], list[str]] = {}
    for r in redundant_constraints(topology.network):
        first, again = (topology.path(end.family, end.instance) for end in (r.first, r.again))
        who.setdefault((r.first, r.domain, r.through), [first]).append(again)
    shares: dict[tuple[Domain, tuple[str, ...]], list[str]] = {}
    for (_, domain, through), every in who.items():
        shares.setdefault((domain, tuple(every)), []).append(through)
    for (domain, names), throughs in shares.items():
        words = listed(quantity_word(t, domain.through[t]) for t in throughs)
        across = next(iter(domain.across.items()))
        part = "half" if len(names) == 2 else f"1/{len(names)}"
        yield found(
            "network.repeated", names[:20],
            f"{listed(names)} repeat each other: {'both' if len(names) == 2 else 'all'} tie the "
            f"same two nodes, and nothing says how they share the {words} ({listed(throughs)}) "
            f"that this takes. Each takes {part} of it.",
            "Nothing to do if that is meant. Where the shares matter, put an element that gives "
            f"way{example_word(*across)} in series with each.")


# -- lone and shorted ports -----------------------------------------------------------------------
def _shorted(topology: Topology) -> Iterator[Finding]:
    groups = [rows for domain in topology.domains for rows in topology.groups(domain)
              if len(rows) > 1 and all(set(tie.ports) != {r.name for r in rows}
                                       for tie in rows[0].traits.ties)]  # else told as a conflict
    for rows in groups:
        first, second = rows[0], rows[-1]
        same = np.all([r.nodes == first.nodes for r in rows], axis=0)
        for i in np.flatnonzero(same):
            path, names = first.path(i), listed(r.name for r in rows)
            kernel, forces = first.of.kernel, first.domain.through.values()
            touches = any(law.is_contact and kernel.variables[law.effort].unit.dimension
                          == u.dimension for law in kernel.set_valued for u in forces)
            if touches:
                told = (f"Both ports of {path} ({first.name} and {second.name}) are connected to "
                        "the same body, which cannot touch itself.",
                        "Connect its two ports to two different bodies.")
            elif kernel.ports.keys() - kernel.carried.keys() - {r.name for r in rows}:
                # it acts elsewhere, as a transformer or a machine does
                told = (f"{names} of {path} are connected to the same node: it is shorted there.",
                        "Nothing to do if that is meant, as of a winding in a short-circuit test; "
                        "otherwise connect them to different nodes.")
            else:  # what stands on a housing of its own acts on a single node, too
                does = ("so it joins nothing" if first.domain.name in first.traits.conserves else
                        "which it holds still, unless its ratio is 1")
                told = (f"{'Both' if len(rows) == 2 else 'All'} ports of {path} ({names}) are "
                        f"connected to the same node, {does}.",
                        "Connect them to different nodes, or remove it.")
            yield found("contact.rigid" if touches else "network.shorted", [path], *told)
    yield from _between_references(topology, groups)


def _between_references(topology: Topology, groups: list[list[PortRow]]) -> Iterator[Finding]:
    """Elements between references without values of their own: nothing can happen across them."""
    held: dict[int, str] = {}
    for r in topology.rows:
        if (f := r.of).is_reference and not f.kernel.parameters:
            held.update((int(n), r.path(i)) for i, n in enumerate(r.nodes))
    both = [(r[0], r[1], int(i)) for r in groups if len(r) == 2
            for i in np.flatnonzero((r[0].nodes != r[1].nodes) & np.isin(
                r[0].nodes, list(held)) & np.isin(r[1].nodes, list(held)))]  # fmt: skip
    for first, second, i in both:
        path = first.path(i)
        yield found(
            "network.shorted", [path],
            f"Both ports of {path} are held by references: {first.name} by "
            f"{held[int(first.nodes[i])]}, {second.name} by {held[int(second.nodes[i])]}. So it "
            "has no effect.",
            "Remove the reference that is too many, or connect it where it was meant to be.")


def _unconnected(topology: Topology, explained: set[str]) -> Iterator[Finding]:
    for r in topology.rows:
        lonely = np.flatnonzero(topology.degree[r.nodes] == 1)
        if not len(lonely):
            continue
        through = listed(quantity_word(t, u) for t, u in r.domain.through.items())
        for first, member in zip(r.of.firsts, r.of.members, strict=True):
            low, high = np.searchsorted(lonely, [first, first + member.size])
            if low == high:
                continue
            ports = [outer_path(r.of, int(i), r.name) for i in lonely[low : min(high, low + 20)]]
            if explained & set(ports):
                continue
            rest = "" if high - low <= 3 else f" ({high - low:,} in all)"
            verb = "is" if high - low == 1 else "are"
            yield found(
                "network.unconnected", ports,
                f"{listed(ports, 3)}{rest} {verb} connected to nothing, so the {through} there "
                "is 0.",
                "Nothing to do if that is meant.")


def feedback_findings(topology: Topology) -> Iterator[Finding]:
    """Amplifiers without feedback, and with none but a positive one."""
    families = topology.network.families
    amplifiers: list[tuple[int, tuple[str, str, str]]] = [
        (f, ports) for f, family in enumerate(families)
        if (ports := getattr(type(family.members[0]), "nullor", None))]
    if not amplifiers or any(v.kind == "input" for f in families for v in f.kernel.variables):
        return
    import networkx as nx

    node = {(r.family, r.name): r.nodes for r in topology.rows}
    held = _held(topology)
    passive = [e for e in ways(topology) if e.tail not in held and e.head not in held]
    through = [(start, int(node[f, out][i])) for f, (*inputs, out) in amplifiers
               for i in range(families[f].size) for port in inputs
               if (start := int(node[f, port][i])) not in held]
    outputs = {end for _, end in through}
    near = graph_of(passive)
    near.remove_edges_from(list(near.in_edges(outputs)))  # other outputs do not move
    far = nx.DiGraph([*near.edges, *through])
    circle = {k: number for number, nodes in enumerate(nx.strongly_connected_components(far))
              for k in nodes}
    for f, (plus, minus, out) in amplifiers:
        for i in range(families[f].size):
            path = families[f].path(i)
            at, p, n = (int(node[f, port][i]) for port in (out, plus, minus))
            ways_back = {k for k in (p, n) if k not in held and (
                k == at or circle.get(k) == circle.get(at, -1))}
            if not ways_back:
                yield found(
                    "network.feedback", [path],
                    f"{path} has no feedback: no way leads from {path}.{out} back to "
                    f"{path}.{minus}, so nothing makes its two inputs equal, as an ideal amplifier "
                    "does.",
                    f"Connect {path}.{out} to {path}.{minus}, directly or through a resistor. For "
                    "a comparator take LimitedOpAmp.")
            elif n not in ways_back and p in (
                    directly := reached(near, at)) and directly == reached(far, at):
                yield found(
                    "network.positive", [path],
                    f"{path} has positive feedback only: ways lead from {path}.{out} back to "
                    f"{path}.{plus}, and none to {path}.{minus}. Its equations have a solution, "
                    "which no amplifier stays at.",
                    f"Exchange what is connected to {path}.{plus} and {path}.{minus}. For a "
                    "Schmitt trigger take LimitedOpAmp.")


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
