"""What has no finite value, at a point or where a run broke down, and what is to be done?"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

import numpy as np

from ..language.domain import Domain
from ..numerics.arrays import Array, Flags, Indices, all_finite
from ..system.failure import AlgebraicFailure
from ..system.problem import Problem
from ..system.system import System
from ..units import from_si
from .findings import Finding, found
from .singular import (
    POLE,
    ceased_equations,
    dependence,
    dependent_equations,
    equation_coefficients,
    zero_parameters,
)
from .topology import PortRow, Topology
from .words import Names, enumerated, listed, quantity_word

__all__ = ["advice_on_loose_nodes", "breakdown", "dependent_block", "derivative_findings",
           "neighbours", "not_finite", "slope_equation"]  # fmt: skip

AHEAD = np.concatenate([[0.0], np.logspace(-9, -1.5, 16)])  # of the time since the start, or 1 s
BEFORE = 1e-6  # of that time


def not_finite(system: System, problem: Problem, t: float = 0.0) -> tuple[list[int], list[int]]:
    """The first equations, as evaluated, without a finite value, and their unknowns."""
    values = system.values(*problem.arguments(t))
    return ([], []) if all_finite(values) else first_equations(system, ~np.isfinite(values))


def first_equations(system: System, wrong: Flags) -> tuple[list[int], list[int]]:
    """The first equations, as evaluated, that give one of these values, and their unknowns."""
    wrong = np.append(wrong, np.zeros(system.flat.classes - len(wrong), dtype=bool))
    for step in system.tape.steps:
        hit = wrong[step.unknowns]
        if hit.any():
            equations = step.equations[hit] if step.group >= 0 else step.equations
            return [int(e) for e in equations], [int(c) for c in step.unknowns[hit]]
    return [], []


def derivative_findings(system: System, problem: Problem, slope: Array) -> Iterator[Finding]:
    """Derivatives of states that are not finite at the start, and where that comes from."""
    bad = np.flatnonzero(~np.isfinite(slope))
    if not len(bad):
        return
    cause = dependent_block(system)
    if cause is not None:
        yield cause
        return
    names, states = Names(system.flat), system.tape.reduced.states
    paths = [names.unknown(int(states[i])) for i in bad[:20]]
    equations, unknowns = not_finite(system, problem)
    culprits = [o for e in equations if (o := names.owner(e))]
    owners = list(dict.fromkeys(
        culprits + [o for c in unknowns for o in names.owners(c)]
        + [o for i in bad[:20] for o in names.owners(int(states[i]))]))
    lines = enumerated([names.equation(e) for e in equations])
    origin = f", because this has no finite value there:{lines}" if lines else "."
    many = len(bad) > 1
    yield found(
        "initial.derivative", paths,
        f"The {'derivatives' if many else 'derivative'} of {listed(paths)} "
        f"{'are' if many else 'is'} not a finite number at the start ({float(slope[bad[0]]):g})"
        f"{origin}",
        _derivative_advice(system, names, problem.x, bad, owners, culprits, "/" in origin))


def _derivative_advice(system: System, names: Names, x: Array, bad: Indices,
                       owners: list[str], culprits: list[str], divides: bool) -> str:
    if zero := zero_parameters(system.flat, owners):
        return f"Give {listed(zero)} a value other than zero."
    if loose := advice_on_loose_nodes(system, owners, culprits):
        return loose
    states = system.tape.reduced.states
    values = listed((f"{names.unknown(int(states[i]))} = "
                     f"{_shown(system, int(states[i]), x[i])}" for i in bad[:4]), 4)
    return (f"Look for a division by zero, a root or logarithm of a negative number, or a node "
            f"that nothing moves or holds, at {listed(owners, 4)} ({values})."
            + divides * " Where it is 0 / 0, say what it comes to: sign(d) * sqrt(abs_(d)) for "
            "d / sqrt(abs_(d)), and where(abs_(x) > 0, sin(x) / x, 1) for sin(x) / x.")


def advice_on_loose_nodes(system: System, owners: list[str], culprits: list[str]) -> str:
    """What to do about a port or node that nothing moves or holds, if there is one."""
    topology = Topology(system.network)
    lone = [(p, r.domain) for r in topology.rows
            for i in np.flatnonzero(topology.degree[r.nodes] == 1) if (p := r.path(i)) in owners]
    if lone:
        domain = lone[0][1]
        across, through = (quantity_word(*next(iter(of.items())))
                           for of in (domain.across, domain.through))
        return (f"A port of {listed(p for p, _ in lone)} is connected to nothing, which leaves its "
                f"{across} open while it carries no {through}: connect it.")
    light, of_node = _massless_node(system, topology, owners)
    if of_node is None or not culprits:
        return ""
    there = [port.rpartition(".")[0] for port in light.split(" = ")]
    idle = next((path for path in culprits if path in there), there[0])
    return (f"Nothing determines the node {light} while {idle} carries nothing. Give the node "
            f"{of_node.storage}, or put {of_node.resistance} in parallel with {idle}: a very small "
            "one will do.")


def neighbours(system: System, owners: list[str]) -> list[str]:
    """Some components, and those that meet one of them alone at a node."""
    topology = Topology(system.network)
    meet: dict[int, set[str]] = {}
    ports: Counter[str] = Counter()
    for row in topology.rows:
        for i, node in enumerate(row.nodes):
            path = row.path(i)
            meet.setdefault(int(node), set()).add(path)
            ports[path] += 1
    pairs = [paths for paths in meet.values() if len(paths) == 2 and paths & set(owners)
             and all(ports[path] > 1 or path in owners for path in paths)]  # no mass, no reference
    return [*owners, *sorted(set().union(*pairs) - set(owners))]


def _massless_node(system: System, topology: Topology, owners: list[str]
                   ) -> tuple[str, Domain | None]:
    """A node at which only some given components meet that do not hold it, as its ports, and its
    domain."""
    mine: dict[int, list[str]] = {}
    domains: dict[int, Domain] = {}
    for row in topology.rows:
        holds = _holds(system, row)
        for i, node in enumerate(row.nodes):
            if not holds[i] and (path := row.path(i)) in owners:
                mine.setdefault(int(node), []).append(f"{path}.{row.name}")
                domains[int(node)] = row.domain
    for node, ports in mine.items():
        if len(ports) > 1 and len(ports) == topology.degree[node]:
            return " = ".join(ports), domains[node]
    return "", None


def _holds(system: System, row: PortRow) -> Flags:
    """Per instance of a port, whether its component has a state of the kind that nodes share."""
    flat, family = system.flat, row.of
    kernel = family.kernel
    shared = {kernel.variables[kernel.ports[row.name][1][name]].unit.dimension
              for name in row.domain.across}
    elsewhere = {i for name, (_, table) in kernel.ports.items() if name != row.name
                 for i in table.values()}
    slots = [first for (i, order), first in flat.base[row.family].items() if not order
             and i not in elsewhere and kernel.variables[i].unit.dimension in shared]
    classes = flat.class_of[np.add.outer(np.arange(family.size), np.array(slots, dtype=int))]
    return np.asarray(np.isin(classes, system.tape.reduced.states).any(axis=1), dtype=bool)


def dependent_block(system: System) -> Finding | None:
    """Equations solved together that depend on each other with the present parameters."""
    for step in system.tape.steps:
        if step.group >= 0:
            continue
        chosen = dependent_equations(system.flat, (int(e) for e in step.equations),
                                     (int(c) for c in step.unknowns))
        if chosen:
            return dependence(Names(system.flat), "initial.dependent", chosen)
    return None


def _shown(system: System, c: int, value: float) -> str:
    slot = int(np.flatnonzero(system.flat.class_of == c)[0])
    local = system.flat.at_slot(slot).local
    return f"{from_si(float(value) * system.flat.sign_of[slot], local.unit):.6g~P}"


def breakdown(system: System, problem: Problem, t: float, y: Array, since: float
              ) -> tuple[str, str] | None:
    """(component, what is wrong and what to do) of equations without a value just after a point.

    The motion is continued in a straight line, until an equation has no value. Steps end short of
    a pole: a value there is large, and was not a little before.
    """
    problem, span = problem.copy_for_reading(), (t - since) or 1.0
    try:
        with np.errstate(all="ignore"):
            slope = problem.slope(t, y)
            slope = np.where(np.isfinite(slope), slope, 0.0)
            earlier = t - BEFORE * span, y - BEFORE * np.sign(slope) * (np.abs(y) + 1.0)
            for h in AHEAD * span:
                problem.solve(t + h, y + h * slope)
                equations, unknowns = not_finite(system, problem, t + h)
                if equations:
                    return _broken(problem, t + h, earlier, equations, unknowns)
            problem.solve(t, y)
            near = np.abs(system.values(*problem.arguments(t)))
            problem.solve(*earlier)
            before = np.abs(system.values(*problem.arguments(earlier[0])))
            problem.solve(t, y)
            grown = (before > 0) & (near > POLE * before)
            return _broken(problem, t, earlier, *first_equations(system, grown))
    except AlgebraicFailure:
        return None


def _broken(problem: Problem, t: float, earlier: tuple[float, Array], equations: list[int],
            unknowns: list[int]) -> tuple[str, str] | None:
    """(component, what is wrong and what to do) of equations that give no value where it is."""
    names = Names(problem.system.flat)
    owned = [e for e in equations if names.owner(e)]
    if not owned:
        return None
    step = next(s for s in problem.system.tape.steps if equations[0] in s.equations)
    if step.group < 0:  # all of them are solved for together
        unknowns = step.unknowns.tolist()
    here = equation_coefficients(problem, t, equations, unknowns).toarray()
    problem.solve(*earlier)
    before = equation_coefficients(problem, earlier[0], equations, unknowns).toarray()
    ceased = ceased_equations(here, before, equations)
    end = "or end the run before that by until=…."
    if len(ceased) > 1:
        finding = dependence(names, "simulation.value", ceased, "there")
        return names.owner(owned[0]), f"{finding.problem}\n{finding.advice[:-1]}, {end}"
    if ceased:
        return names.owner(owned[0]), (
            f"There  {names.equation(ceased[0])}  does not determine "
            f"{names.unknown(unknowns[equations.index(ceased[0])])} any more: what it is "
            "multiplied by, as a ratio, a mass or 1 minus a gain, has come to 0. Keep that away "
            f"from 0, {end}")
    return names.owner(owned[0]), (
        f"There  {names.equation(owned[0])}  has no finite value: look for a division by zero, or "
        "a root or logarithm of a negative number. Where that is reached on purpose, as by a tank "
        "that runs empty, guard it: where(x > 0, sqrt(x), 0).")


def slope_equation(system: System, name: str) -> str:
    """The equation that a state's slope is solved from, alone, or one of those for an unknown."""
    for step in system.tape.steps if name else ():
        for e, c in zip(step.equations, step.unknowns, strict=True):
            if system.class_names[int(c)] in (name, f"der({name})" * (step.group >= 0)):
                return Names(system.flat).equation(int(e))
    return ""
