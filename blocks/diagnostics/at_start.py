"""Can the run start: are the initial targets consistent and the derivatives finite?

Solves for the start exactly as a run would, which then begins with it, and evaluates the
derivatives there.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Protocol

import numpy as np

from ..exceptions import BlocksError, InitialisationError
from ..initialisation.start import TargetRow, held_defaults
from ..initialisation.targets import class_values, collect_targets, idle_targets
from ..numerics.arrays import Array, Indices
from ..numerics.tolerances import NEWTON_CONVERGES, NEWTON_STALLED
from ..system.failure import AlgebraicFailure
from ..system.finite_values import ADVICE, FiniteValues, no_value
from ..system.problem import Problem
from ..system.system import System
from .circles import open_circle
from .findings import SEVERITIES, Finding, found
from .not_finite import (
    advice_on_loose_nodes,
    dependent_block,
    derivative_findings,
    neighbours,
    not_finite,
)
from .singular import MOST_TOGETHER, dependence, dependent_rows, equation_coefficients
from .topology import Topology
from .words import Names, enumerated, listed, ports_at, quantity_word

if TYPE_CHECKING:
    from ..initialisation.start import Start

__all__ = ["Starting", "begin_findings", "event_findings", "locked_findings", "on_loose_nodes",
           "start_findings", "undetermined"]

SEEN = 1e-3  # of a state, that it is moved by to see what follows
MOST = 10  # names that are told
MOST_LAWS = 60  # set-valued efforts up to which the first decision on them is tried
ELSEWHERE = ("At a dead point start a little beside it, or give the parts that are held there some "
             "play; where no force or flow is left, give the node a mass or put a damper beside.")


class Starting(Protocol):
    """The start of a run at 0 s, as the run itself finds it."""

    def consistent(self) -> tuple[Problem, Start]:
        """The problem at its consistent start, and what became of the initial targets."""
        ...

    def decided(self) -> tuple[Problem, Array]:
        """The problem with relations and modes decided, and the slopes of all states there."""
        ...

    def refuse_broken(self) -> None:
        """Raise for what is required of a run and does not hold there."""
        ...


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
            wrong = np.arange(family.size) if slot is None else np.flatnonzero(
                ~np.isin(flat.class_of[slot : slot + family.size], states))
            if not len(wrong):
                continue
            paths = [f"{family.path(int(k))}.{local.name}" for k in wrong[:20]]
            yield found(
                "event.target", paths,
                f"A when() in {kernel.name} assigns {listed(paths, 3)}, which is not integrated "
                "but follows from equations, so the new value would be lost at once.",
                f"Assign a variable whose der() appears in an equation, or declare {local.name} "
                "as Discrete.")


def locked_findings(system: System) -> Iterator[Finding]:
    """What has no solution but zero, though a component integrates it.

    As two racks of different radii on one shaft and one rod, whatever states, inputs and time are,
    or the third member of a planetary gear of which two stand still.
    """
    flat, values, names = system.flat, system.tape.values, system.class_names
    for equations, unknowns in _held_together(system):
        still = [names[c] for c in unknowns.tolist()
                 if flat.derivative[c] >= 0 and values[c].is_zero()]
        if still:
            parts = list(dict.fromkeys(filter(None, map(flat.owner, equations.tolist()))))
            hold = ("hold each other, as where gears of different ratios join the same two shafts"
                    if len(parts) > 1 else "allows nothing else, as all else that it joins is zero")
            yield found(
                "network.locked", parts[:20],
                f"{listed(still, 4)} can only be zero: {listed(parts, 8)} {hold}.",
                "Nothing to do if that is meant; otherwise remove one of the constraints (a gear, "
                "a rod), or let one of them yield.")


def _held_together(system: System) -> Iterator[tuple[Indices, Indices]]:
    """Equations and unknowns of loops, and of what one law of three ports, or more, determines."""
    for step in system.tape.steps:
        if step.block is not None:
            if len(step.unknowns) > 1:
                yield step.equations, step.unknowns
        elif (group := system.flat.groups[step.group]).law is not None:
            kernel = system.network.families[group.family].kernel
            if len(kernel.ports.keys() - kernel.carried.keys()) > 2:
                yield from zip(step.equations[:, None], step.unknowns[:, None], strict=True)


def start_findings(system: System, starting: Starting) -> Iterator[Finding]:
    """Targets without effect or in conflict, and derivatives that are not finite."""
    yield from (found("initial.computed", *told) for told in idle_targets(system))
    if system.nu:  # laws at nodes without mass that no run could decide
        from ..nonsmooth.modes.load_laws import refuse_loads_without_mass
        from ..nonsmooth.modes.massless_nodes import refuse_massless

        refuse_massless(system)
        refuse_loads_without_mass(system)
    try:
        with np.errstate(all="ignore"):
            problem, start = starting.consistent()
            slope = system.slope(*problem.arguments(0.0))
    except (InitialisationError, AlgebraicFailure) as error:
        yield _failed(system, error)
        return
    except np.linalg.LinAlgError:
        yield dependent_block(system) or _singular(system)
        return
    if np.isfinite(slope).all():
        yield from (found("initial.conflict", *told) for told in start.compromises())
    if held := held_defaults(problem, start, 0.0):
        yield given_way(held)
    if not np.isfinite(slope).all():  # such as where a volume that must be above zero is not
        starting.refuse_broken()
    yield from derivative_findings(system, problem, slope)
    if system.network.contacts:
        yield from _overlaps(system, problem)
    if np.isfinite(slope).all():
        yield from _without_value(system, problem, starting, decided=not system.nu)


def begin_findings(system: System, starting: Starting) -> Iterator[Finding | BlocksError]:
    """What a run refuses of a start that is consistent, before it moves."""
    if system.nu > MOST_LAWS or not (system.nu or system.nm or system.nd):
        return  # nothing is decided
    try:
        with np.errstate(all="ignore"):
            problem, slope = starting.decided()
    except AlgebraicFailure as failure:
        yield InitialisationError("", str(failure), "Give initial targets closer to a possible "
                                  "state.", variables=failure.worst, code="initial.failed")
    except BlocksError as error:
        yield error
    else:
        if problem.failure is None:
            yield from derivative_findings(system, problem, slope)
        if np.isfinite(slope).all():  # relations may have changed since
            yield from _without_value(system, problem, starting)


def _without_value(system: System, problem: Problem, starting: Starting, decided: bool = True
                   ) -> Iterator[Finding]:
    """What has no value at the start although every derivative has: no motion depends on it.

    Before laws of friction and contact have ``decided``, forces may be open.
    """
    if lost := FiniteValues.of(system).lost(problem, 0.0):
        starting.refuse_broken()
        for path, equation in lost:
            yield found("initial.value", [path], f"At the start {path} has no value: "
                        f"{no_value(equation)}.", ADVICE)
        return
    if not_finite(system, problem)[0]:
        if not decided:
            return
        cause = dependent_block(system)
        if cause is None and (told := undetermined(system, problem, 0.0)):
            cause = found("initial.undetermined", *told)
    else:
        cause = (_dependent_here(system, problem) or _flat_beside(system, problem)
                 or open_circle(problem, "initial.dependent")
                 or open_circle(problem, "signal.undetermined", anyhow=True))
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
        "damper in parallel.")


@np.errstate(all="ignore")
def _dependent_here(system: System, problem: Problem) -> Finding | None:
    """Linear equations solved together that do not determine their unknowns at the start."""
    steps = [step for step in system.tape.steps if step.linear and step.group < 0
             and not step.torn and len(step.equations) <= MOST_TOGETHER]
    if not steps:
        return None
    matrix = equation_coefficients(problem, 0.0, *(np.concatenate(some).tolist() for some in (
        [step.equations for step in steps], [step.unknowns for step in steps])))
    end = 0
    for step in steps:
        mine = slice(end, end := end + len(step.equations))
        if chosen := dependent_rows(step.equations.tolist(), matrix[mine, mine].toarray()):
            return dependence(Names(system.flat), "initial.dependent", chosen)
    return None


@np.errstate(all="ignore")
def _dependent_anywhere(system: System) -> Finding | None:
    """Equations solved together that depend on each other wherever their unknowns are."""
    problem, among = _unsolved(system), np.random.default_rng(0)
    for step in system.tape.steps:
        if step.group >= 0 or step.linear or len(step.equations) > MOST_TOGETHER:
            continue
        equations, chosen = step.equations.tolist(), [0]
        for sign in (1.0, -1.0, 1.0, -1.0):
            problem.z[:] = sign * problem.scale_z * among.uniform(0.1, 2.0, system.nz)
            chosen = chosen and dependent_rows(equations, equation_coefficients(
                problem, 0.0, equations, step.unknowns.tolist()).toarray())
        if chosen:
            return dependence(Names(system.flat), "initial.dependent", chosen)
    return None


@np.errstate(all="ignore")
def _flat_beside(system: System, problem: Problem) -> Finding | None:
    """Unknowns that follow a law's corner wherever the states go, and are open on one side of it.

    A damper that gives way at a force that nothing withstands: any faster motion is as good.
    """
    trial, y = problem.copy_for_reading(), problem.solver_vector()
    flat, moves = np.ones(system.nz, dtype=bool), np.zeros(system.nz, dtype=bool)
    for part in (0.0, SEEN, -SEEN):
        if not flat.any():
            return None
        try:
            trial.solve(0.0, y + part * (1.0 + np.abs(y)))
        except AlgebraicFailure:  # beyond the end of the law
            continue
        (t, x, z, *others), size = trial.arguments(0.0), trial.scale_z + np.abs(trial.z)
        moves |= np.abs(z - problem.z) > NEWTON_CONVERGES * size
        less, more = np.sort([
            np.asarray(abs(system.residual_z.sparse(t, x, beside, *others)).sum(axis=0)).ravel()
            for beside in (z + NEWTON_STALLED * size, z - NEWTON_STALLED * size)], axis=0)
        flat &= less < NEWTON_STALLED * more
    paths = [system.torn_name(int(i)) for i in np.flatnonzero(flat & moves)[:MOST]]
    return found("initial.undetermined", paths,
                 f"At the start nothing determines {listed(paths, 3)}: whatever is on one side of "
                 "the value found fulfils the equations as well.",
                 on_loose_nodes(system, paths) or ELSEWHERE) if paths else None


def undetermined(system: System, problem: Problem, t: float) -> tuple[list[str], str, str] | None:
    """Unknowns without a finite value, what is wrong and what to do."""
    equations, unknowns = not_finite(system, problem, t)
    if not unknowns:
        return None
    names = Names(system.flat)
    paths = [names.unknown(c) for c in unknowns[:20]]
    lines = enumerated([names.equation(e) for e in equations])
    return paths, (f"At t = {t:.9g} s nothing determines {listed(paths, 3)}, so no finite value "
                   f"can be given{f':{lines}' if lines else '.'}"), _elsewhere(names, equations)


def _elsewhere(names: Names, equations: list[int]) -> str:
    """What to do about equations that give no value, in the words of their domain."""
    flat = names.flat
    stated = [group for group, _ in map(flat.group_of, equations) if group.law is not None]
    ports = flat.network.families[stated[0].family].kernel.ports if stated else {}
    for domain in {d.name: d for d, _ in ports.values()}.values():
        across, through = (quantity_word(*next(iter(of.items())))
                           for of in (domain.across, domain.through))
        if through not in ("force", "torque"):
            owner = next(filter(None, map(names.owner, equations)))
            return (f"Where nothing limits the {through} of {owner}, put "
                    f"{domain.resistance} in series with it; where nothing determines the {across} "
                    f"of one of its ports, put {domain.resistance} in parallel.")
    return ELSEWHERE


def _overlaps(system: System, problem: Problem) -> Iterator[Finding]:
    """Contacts of rigidly joined parts, and those whose two sides overlap.

    Of many elements, which need how all act on all, the former are left to the run.
    """
    from ..nonsmooth.modes.drift_correction import immovable
    from ..nonsmooth.modes.gaps import APART, RIGID, TWO_BODIES, overlaps
    from ..nonsmooth.modes.load_laws import set_valued_laws

    rigid = [] if system.nu > MOST_LAWS else immovable(set_valued_laws(system), problem, 0.0)
    for path in rigid:
        yield found("contact.rigid", [path], f"{path} {RIGID}", TWO_BODIES)
    apart = (o for o in overlaps(system, problem, 0.0) if o[0] not in rigid)
    for path, depth in apart:
        yield found("contact.overlap", [path],
                    f"The two sides of {path} overlap by {depth} at the start.", APART)


def _unsolved(system: System) -> Problem:
    """The problem at the initial values that classes and users state, with nothing solved for."""
    problem = Problem(system, system.parameters(), np.ones(system.nx), np.ones(system.nz))
    problem.x[:] = class_values(system, collect_targets(system))[system.tape.reduced.states]
    return problem


def _component(system: System, path: str) -> str:
    """The component that has a variable, which may be one of its ports'."""
    components = {member.path.partition("[")[0] for family in system.network.families
                  for member in family.members}
    while path and path.partition("[")[0] not in components:
        path = path.rpartition(".")[0]
    return path


def on_loose_nodes(system: System, names: Sequence[str]) -> str:
    """What to do about a port or node that leaves unknowns of these names open, if there is one."""
    owners = list(dict.fromkeys(filter(None, (_component(system, name) for name in names))))
    return advice_on_loose_nodes(system, neighbours(system, owners), owners)


def _on_nodes(system: System, paths: Sequence[str]) -> str:
    """What to look at where the unknown is what the ports of a node have in common; or nothing."""
    topology = Topology(system.network)
    for row in topology.rows:
        across, through = (next(iter(of.items()), ("", None)) for of in (
            row.domain.across, row.domain.through))
        for i, node in enumerate(row.nodes):
            if through[1] is None or (f"{row.path(i)}.{row.name}.{across[0]}" not in paths):
                continue
            ports, carried = ports_at(system.network, int(node))[:4], quantity_word(*through)
            return (f"See whether the {carried} that is driven into the node {' = '.join(ports)} "
                    f"has a way out: {row.domain.storage} there, or {row.domain.resistance} in "
                    "parallel, would be one. ")
    return ""


def _failed(system: System, error: BlocksError | AlgebraicFailure) -> Finding:
    cause = dependent_block(system) or open_circle(_unsolved(system), "initial.dependent")
    if cause is not None:
        return cause
    names = tuple(getattr(error, "variables", ()) or getattr(error, "worst", ()))
    problem, advice, code, where = (getattr(error, name, "")
                                    for name in ("problem", "advice", "code", "where"))
    problem = problem or str(error)
    if getattr(error.__cause__ or error, "singular", False):
        if not (loose := on_loose_nodes(system, names)) and (
                cause := _dependent_anywhere(system)) is not None:
            return cause
        advice = loose or advice
    elif isinstance(error.__cause__, AlgebraicFailure):
        advice = f"{_on_nodes(system, names)}{advice}"
    code = code if code in SEVERITIES else "initial.failed"
    if where and code != "initial.failed":
        problem = f"at the start {where} {problem}"
    return found(
        code, names, f"{problem[0].upper()}{problem[1:]}",
        advice or "Give initial targets closer to a possible state.")


def given_way(rows: list[TargetRow]) -> Finding:
    """Presets of classes that the equations overrule."""
    said = listed((f"{r.path} = {r.start:.6g~P} instead of {r.target:.6g~P}" for r in rows), 3)
    return found(
        "initial.default", [r.path for r in rows[:20]],
        f"The run would start with {said}, which {'its class' if len(rows) == 1 else 'classes'} "
        f"preset{'s' if len(rows) == 1 else ''}: the network leaves no choice.",
        "That is as it should be where a source, or something rigid, is meant to prescribe it; "
        "otherwise something that gives way, such as a resistance or a damper, is missing between.")
