"""Can the run start: are the initial targets consistent and the derivatives finite?

Solves for the start exactly as a run would, where the model is small enough
for that to be quick, and evaluates the derivatives there.
"""

from __future__ import annotations

import warnings
from collections import Counter
from collections.abc import Callable, Iterator
from itertools import islice
from typing import Any

import numpy as np

from ..exceptions import BlocksError, InitialisationError
from ..initialisation.initial_values import InitialWarning
from ..initialisation.nominal_values import find_nominals
from ..system.finite_values import ADVICE, FiniteValues, no_value
from ..system.system import AlgebraicFailure, Problem, System
from ..units import from_si
from .findings import SEVERITIES, Finding, found
from .singular import (
    dependence,
    dependent_equations,
    dependent_rows,
    linear_blocks,
    zero_parameters,
)
from .topology import Topology
from .words import Names, enumerated, listed

__all__ = ["begin_findings", "event_findings", "start_findings", "undetermined"]

MOST = 10  # contacts that overlap, told one by one
MOST_LAWS = 60  # set-valued efforts up to which the first decision on them is tried
ELSEWHERE = ("At a dead point start a little beside it, or give the parts that are held there some "
             "play; where no force or flow is left, give the node a mass or put a damper beside.")
LARGEST = 1500  # states and torn unknowns up to which the start is solved for


def event_findings(system: System) -> Iterator[Finding]:
    """Assignments of ``when`` to variables that are not integrated."""
    flat = system.flat
    states = system.tape.reduced.states
    for f, family in enumerate(system.network.families):
        kernel = family.kernel
        for i in sorted({i for _, pairs in kernel.resets for i, _ in pairs}):
            local = kernel.variables[i]
            if local.kind == "discrete":
                continue
            slot = flat.base[f].get((i, 0))
            classes = flat.class_of[slot : slot + family.size] if slot is not None else None
            wrong = np.arange(family.size) if classes is None else np.flatnonzero(
                ~np.isin(classes, states))
            if not len(wrong):
                continue
            paths = [f"{family.path(int(k))}.{local.name}" for k in wrong[:20]]
            yield found(
                "event.target", paths,
                f"A when() in {kernel.name} assigns {listed(paths, 3)}, which is not integrated "
                "but follows from equations, so the new value would be lost at once.",
                f"Assign a variable whose der() appears in an equation, or declare {local.name} "
                "as Discrete.",
            )  # fmt: skip


def start_findings(model: Any, system: System) -> Iterator[Finding]:
    """Targets without effect or in conflict, and derivatives that are not finite."""
    yield from _computed(system)
    _refuse_massless(system)
    if system.nx + system.nz > LARGEST:
        yield from _quick(system)
        return
    try:
        with warnings.catch_warnings(), np.errstate(all="ignore"):
            warnings.simplefilter("ignore", InitialWarning)
            none = None if system.nm or system.nu <= MOST_LAWS else _no_laws
            problem, start = model._start(system, find_nominals(system, model._nominal_table),
                                          0.0, Problem, none)
            slope = system.slope(*problem._arguments(0.0))
    except (InitialisationError, AlgebraicFailure) as error:
        yield _failed(system, error)
        return
    except np.linalg.LinAlgError:
        yield _dependent_block(system) or _singular(system)
        return
    unmet = [(r.path, r.target, r.start) for r in start.unmet]
    if unmet and np.isfinite(slope).all():
        yield _conflict(unmet)
    if start.compromised and np.isfinite(slope).all():
        yield _compromise(start.compromised)
    yield from _derivatives(system, problem, slope)
    if any(law.is_contact for f in system.network.families for law in f.kernel.set_valued):
        yield from _overlaps(system, problem)
    if np.isfinite(slope).all():
        yield from _without_value(system, problem, decided=not system.nu)


def begin_findings(model: Any, system: System, begun: Callable[[Any, System], Any]
                   ) -> Iterator[Finding | BlocksError]:
    """What a run refuses of a start that is consistent, before it moves.

    ``begun`` decides relations and modes as a run does.
    """
    if system.nx + system.nz > LARGEST or system.nu > MOST_LAWS:
        return
    if not (system.nu or system.nm or system.nd):
        return  # nothing is decided
    try:
        problem, slope = begun(model, system)
    except AlgebraicFailure as failure:
        yield InitialisationError("", str(failure), "Give initial targets closer to a possible "
                                  "state.", variables=failure.worst, code="initial.failed")
    except BlocksError as error:
        yield error
    else:
        if problem.failure is None:
            yield from _derivatives(system, problem, slope)
        if np.isfinite(slope).all():  # relations may have changed since
            yield from _without_value(system, problem)


def _without_value(system: System, problem: Problem, decided: bool = True) -> Iterator[Finding]:
    """What has no value at the start although every derivative has: no motion depends on it.

    Before laws of friction and contact have ``decided``, forces may be open.
    """
    lost = FiniteValues.of(system).lost(problem, 0.0)[:MOST]
    for path, equation in lost:
        yield found("initial.value", [path], f"At the start {path} has no value: "
                    f"{no_value(equation)}.", ADVICE)
    if lost:
        return
    if not_finite(system, problem)[0]:
        if not decided:
            return
        cause = _dependent_block(system)
        told = None if cause else undetermined(system, problem, 0.0)
        if cause is not None:
            yield cause
        elif told is not None:
            yield found("initial.undetermined", *told)
        return
    cause = _dependent_here(system, problem)
    if cause is not None:
        yield cause


def _singular(system: System) -> Finding:
    """A start at which unknowns do not follow from the states."""
    names = [system.torn_name(i) for i in range(min(system.nz, MOST))]
    said = f" for {listed(names, 3)}" if names else ""
    return found(
        "initial.failed", names, "No consistent start was found: the equations that are solved "
        f"together{said} do not determine them there.",
        "At a dead point start a little beside it; give a node without mass a mass, or put a "
        "damper in parallel.",
    )  # fmt: skip


def _dependent_here(system: System, problem: Problem) -> Finding | None:
    """Linear equations solved together that do not determine their unknowns at the start."""
    with np.errstate(all="ignore"):
        for equations, matrix in linear_blocks(system, problem):
            chosen = dependent_rows(equations, matrix)
            if chosen:
                return dependence(Names(system.flat), "initial.dependent", chosen)
    return None


def undetermined(system: System, problem: Problem, t: float
                 ) -> tuple[list[str], str, str] | None:
    """Unknowns without a finite value, what is wrong and what to do; None in large models."""
    if system.nx + system.nz > LARGEST:
        return None
    equations, unknowns = not_finite(system, problem, t)
    if not unknowns:
        return None
    names = Names(system.flat)
    paths = [names.unknown(c) for c in unknowns[:20]]
    lines = enumerated([names.equation(e) for e in equations])
    return paths, (f"At t = {t:.9g} s nothing determines {listed(paths, 3)}, so no finite value "
                   f"can be given{f':{lines}' if lines else '.'}"), ELSEWHERE


def _refuse_massless(system: System) -> None:
    """Laws at nodes without mass that no run could decide."""
    if system.nu:
        from ..nonsmooth.modes.load_laws import refuse_loads_without_mass
        from ..nonsmooth.modes.massless_nodes import refuse_massless

        refuse_massless(system)
        refuse_loads_without_mass(system)


def _overlaps(system: System, problem: Problem) -> Iterator[Finding]:
    """Contacts of rigidly joined parts, and those whose two sides overlap."""
    from ..nonsmooth.modes.choice import set_valued_laws
    from ..nonsmooth.modes.drift_correction import immovable
    from ..nonsmooth.modes.gaps import APART, RIGID, TWO_BODIES, overlaps

    rigid = immovable(set_valued_laws(system), problem, 0.0)
    for path in rigid[:MOST]:
        yield found("contact.rigid", [path], f"{path} {RIGID}", TWO_BODIES)
    apart = (o for o in overlaps(system, problem, 0.0) if o[0] not in rigid)
    for path, depth in islice(apart, MOST):
        yield found("contact.overlap", [path],
                    f"The two sides of {path} overlap by {depth} at the start.", APART)


def _no_laws(system: System) -> None:
    """Where nothing is asked of set-valued laws they are not made."""


def _computed(system: System) -> Iterator[Finding]:
    """Targets for variables that are computed for results only."""
    for family in system.network.families:
        for i in family.kernel.observed:
            name = family.kernel.variables[i].name
            paths = [f"{m.path}.{name}" for m in family.members
                     if (m._targets.get(name) or (None, "none"))[0] is not None
                     and m._targets[name][1] != "none"]  # fmt: skip
            if paths:
                yield found(
                    "initial.computed", paths[:20],
                    f"The initial target of {listed(paths, 3)} has no effect: {name} only follows "
                    "from other variables, for the results.",
                    "Give the target to the variables it follows from.",
                )  # fmt: skip


def _quick(system: System) -> Iterator[Finding]:
    """The same for large models: targets of one unknown, nothing solved for."""
    flat = system.flat
    value = np.zeros(flat.classes)
    high: list[tuple[int, int, float]] = []  # class, slot, value of the user's high targets
    for f, family in enumerate(system.network.families):
        for i, local in enumerate(family.kernel.variables):
            slot = flat.base[f].get((i, 0))
            if slot is None or local.kind in ("across", "through", "shared"):
                continue
            slots = np.arange(slot, slot + family.size)
            wanted = np.full(family.size, getattr(local.declared, "initial", None) or 0.0)
            for first, m in zip(family.starts, family.members, strict=True):
                given = m._targets.get(local.name) if m._targets else None
                if given is None or given[0] is None:
                    continue
                wanted[first : first + m.size] = given[0]
                if given[1] == "high":
                    high += [(int(flat.class_of[s]), int(s), float(wanted[s - slot]))
                             for s in slots[first : first + m.size]]
            better = wanted != 0
            value[flat.class_of[slots[better]]] = (flat.sign_of[slots] * wanted)[better]
    yield from _contradictions(system, high)
    for c, s, number in high:
        value[c] = flat.sign_of[s] * number
    if system.nz or system.clusters or system.nm or system.nd:
        return
    problem = Problem(system, system.parameters(), np.ones(system.nx), np.ones(0))
    problem.x[:] = value[system.tape.reduced.states]
    with np.errstate(all="ignore"):
        slope = system.slope(*problem._arguments(0.0))
    yield from _derivatives(system, problem, slope)


def _contradictions(system: System, high: list[tuple[int, int, float]]) -> Iterator[Finding]:
    """Different high targets for one and the same unknown."""
    sign, names = system.flat.sign_of, None
    told: dict[int, tuple[int, float]] = {}
    clashes = 0
    for c, slot, wanted in high:
        before = told.setdefault(c, (slot, wanted))
        if abs(sign[before[0]] * before[1] - sign[slot] * wanted) <= 1e-9 * max(1.0, abs(wanted)):
            continue
        clashes += 1
        if clashes > 12:
            return
        names = names or Names(system.flat)
        rows = []
        for s, v in (before, (slot, wanted)):
            family, instance, local, _ = names.slot(s)
            rows.append((f"{family.path(instance)}.{local.name}", from_si(v, local.unit), None))
        yield _conflict(rows)


def _conflict(unmet: list[tuple[str, Any, Any]]) -> Finding:
    paths = [path for path, _, _ in unmet]
    targets = listed((f"{path} = {target:.6g~P}" for path, target, _ in unmet), 6)
    got = "" if unmet[0][2] is None else (
        f" The run would start with {listed((f'{p} = {s:.6g~P}' for p, _, s in unmet), 6)}.")
    if len(unmet) == 1:
        head = (f"The initial target {targets} cannot be met: other high targets or the equations "
                "of the network say otherwise.")
    else:
        head = (f"The initial targets {targets} cannot all be met, because the network ties these "
                "variables together.")
    value = f"{unmet[-1][1]:.6g~C}"
    return found(
        "initial.conflict", paths, head + got,
        f"Remove one of them or let it give way: {paths[-1].rpartition('.')[2]}="
        f"Target('{value}', priority='low').",
    )  # fmt: skip


def _compromise(rows: list[Any]) -> Finding:
    """Presets of classes that contradict each other."""
    said = listed((f"{r.path} = {r.target:.6g~P}" for r in rows), 6)
    got = listed((f"{r.path} = {r.start:.6g~P}" for r in rows), 6)
    path, value = rows[0].path, f"{rows[0].target:.6g~C}"
    return found(
        "initial.conflict", [r.path for r in rows],
        f"The initial values {said}, which their classes preset, cannot all be met, because the "
        f"network ties these variables together. The run would start with {got}.",
        f"Say which one is meant: model.{path} = '{value}'.",
    )  # fmt: skip


def _derivatives(system: System, problem: Problem, slope: np.ndarray) -> Iterator[Finding]:
    bad = np.flatnonzero(~np.isfinite(slope))
    if not len(bad):
        return
    cause = _dependent_block(system)
    if cause is not None:
        yield cause
        return
    names, states = Names(system.flat), system.tape.reduced.states
    paths = [names.unknown(int(states[i])) for i in bad[:20]]
    equations, unknowns = not_finite(system, problem)
    owners = list(dict.fromkeys(
        [o for e in equations if (o := names.owner(e))]
        + [o for c in unknowns for o in names.owners(c)]
        + [o for i in bad[:20] for o in names.owners(int(states[i]))]))
    lines = enumerated([names.equation(e) for e in equations])
    origin = f", because this has no finite value there:{lines}" if lines else "."
    many = len(bad) > 1
    yield found(
        "initial.derivative", paths,
        f"The {'derivatives' if many else 'derivative'} of {listed(paths)} "
        f"{'are' if many else 'is'} not a finite number at the start ({float(slope[bad[0]]):g})"
        f"{origin}",
        _derivative_advice(system, names, problem.x, bad, owners,
                           [o for e in equations if (o := names.owner(e))]),
    )  # fmt: skip


def _derivative_advice(system: System, names: Names, x: np.ndarray, bad: np.ndarray,
                       owners: list[str], culprits: list[str]) -> str:
    zero = zero_parameters(system.flat, owners)
    if zero:
        return f"Give {listed(zero)} a value other than zero."
    loose = _loose_advice(system, owners, culprits)
    if loose:
        return loose
    states = system.tape.reduced.states
    values = listed((f"{names.unknown(int(states[i]))} = "
                     f"{_shown(system, names, int(states[i]), x[i])}" for i in bad[:4]), 4)
    return (f"Look for a division by zero, a root or logarithm of a negative number, or a node "
            f"that nothing moves or holds, at {listed(owners, 4)} ({values}).")


def _loose_advice(system: System, owners: list[str], culprits: list[str]) -> str:
    """What to do about a port or node that nothing moves or holds, if there is one."""
    topology = Topology(system.network)
    lone = [p for f in topology.rows for i in np.flatnonzero(topology.degree[f.nodes] == 1)
            if (p := topology.path(f.family, i)) in owners]  # fmt: skip
    if lone:
        return (f"A port of {listed(lone)} is connected to nothing, which leaves its motion open "
                "while it carries no force: connect it.")
    light = _massless_node(topology, owners)
    if not light or not culprits:
        return ""
    return (f"Nothing moves or holds the node {light} while {culprits[0]} carries nothing. "
            f"Give the node a mass, or put a damper in parallel with {culprits[0]}: a very "
            "small one will do.")


def _neighbours(system: System, owners: list[str]) -> list[str]:
    """Some components, and those that meet one of them alone at a node."""
    topology = Topology(system.network)
    meet: dict[int, set[str]] = {}
    ports: Counter[str] = Counter()
    for row in topology.rows:
        for i, node in enumerate(row.nodes):
            path = topology.path(row.family, i)
            meet.setdefault(int(node), set()).add(path)
            ports[path] += 1
    pairs = [paths for paths in meet.values() if len(paths) == 2 and paths & set(owners)
             and all(ports[path] > 1 for path in paths)]  # fmt: skip  # no mass, no reference
    return [*owners, *sorted(set().union(*pairs) - set(owners))]


def _massless_node(topology: Topology, owners: list[str]) -> str:
    """A node at which only some given components meet, as its ports."""
    mine: dict[int, list[str]] = {}
    for row in topology.rows:
        for i, node in enumerate(row.nodes):
            if (path := topology.path(row.family, i)) in owners:
                mine.setdefault(int(node), []).append(f"{path}.{row.name}")
    for node, ports in mine.items():
        if len(ports) > 1 and len(ports) == topology.degree[node]:
            return " = ".join(ports)
    return ""


def not_finite(system: System, problem: Problem, t: float = 0.0) -> tuple[list[int], list[int]]:
    """The first equations, as evaluated, without a finite value, and their unknowns."""
    with np.errstate(all="ignore"):
        values = system.values(*problem._arguments(t))
    if np.isfinite(values).all():
        return [], []
    values = np.append(values, np.zeros(system.flat.classes - len(values)))  # of no equation
    for step in system.tape.steps:
        wrong = ~np.isfinite(values[step.unknowns])
        if wrong.any():
            equations = step.equations[wrong] if step.group >= 0 else step.equations
            return [int(e) for e in equations], [int(c) for c in step.unknowns[wrong]]
    return [], []


def _shown(system: System, names: Names, c: int, value: float) -> str:
    slot = int(np.flatnonzero(system.flat.class_of == c)[0])
    local = names.slot(slot)[2]
    return f"{from_si(float(value) * system.flat.sign_of[slot], local.unit):.6g~P}"


def _dependent_block(system: System) -> Finding | None:
    """Equations solved together that depend on each other with the present parameters."""
    for step in system.tape.steps:
        if step.group >= 0:
            continue
        chosen = dependent_equations(system.flat, (int(e) for e in step.equations),
                                     (int(c) for c in step.unknowns))
        if chosen:
            return dependence(Names(system.flat), "initial.dependent", chosen)
    return None


def _failed(system: System, error: BlocksError | AlgebraicFailure | None) -> Finding:
    cause = _dependent_block(system)
    if cause is not None:
        return cause
    names = tuple(getattr(error, "variables", ()) or getattr(error, "worst", ()))
    problem = getattr(error, "problem", str(error or "the equations have no solution"))
    advice = getattr(error, "advice", "")
    if error is not None and getattr(error.__cause__ or error, "singular", False):
        owners = list(dict.fromkeys(name.rpartition(".")[0] for name in names))
        advice = _loose_advice(system, _neighbours(system, owners), owners) or advice
    code = getattr(error, "code", "") if getattr(error, "code", "") in SEVERITIES else \
        "initial.failed"
    where = getattr(error, "where", "")
    if where and code != "initial.failed":
        problem = f"at the start {where} {problem}"
    return found(
        code, names, f"{problem[0].upper()}{problem[1:]}",
        advice or "Give initial targets closer to a possible state.",
    )  # fmt: skip
