"""Which components are to blame where a network has no unique solution?

Splits the over- and under-determined parts of the Dulmage-Mendelsohn decomposition into connected
faults and names their equations and unknowns; for constraints that are dependent by their numbers
only, the left null vector of their coefficients says which.
"""

from __future__ import annotations

import copy
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from random import Random

import casadi as ca
import numpy as np

from ..assembly.dummy_derivatives import coefficients
from ..assembly.flatten import Flat
from ..assembly.index_reduction import MAX_DIFFERENTIATIONS
from ..assembly.matching import connected
from ..assembly.reduced import Singular
from ..assembly.writer import Writer
from ..numerics import sparse as sp
from ..numerics.arrays import Array
from ..numerics.blas_threads import threads_for
from ..numerics.tolerances import CLEAR, DEPENDENT, DEPENDENT_EXACTLY
from ..system.problem import Problem
from ..system.system import System
from .findings import Finding, found
from .topology import Topology, sources
from .words import Names, enumerated, example_word, listed, plural, quantity_word, several

__all__ = ["MOST_TOGETHER", "POLE", "ceased_equations", "dependence", "dependent_equations",
           "dependent_rows", "equation_coefficients", "in_terms_of",
           "singular_findings", "zero_parameters"]  # fmt: skip

MOST_TOGETHER = 400  # equations solved together that are looked at
POLE = 1e3  # by which a value grows just before a pole


@dataclass
class _Fault:
    """A connected part: equations, unknown classes, and the components in it by involvement."""

    over: list[int] = field(default_factory=list)
    under: list[int] = field(default_factory=list)
    owners: Counter = field(default_factory=Counter)


def singular_findings(flat: Flat, singular: Singular, explained: set[str]) -> Iterator[Finding]:
    """Faults of a singular system that are not explained by known components."""
    names = Names(flat)
    if singular.reason == "dependent":
        every = singular.over_equations.tolist()
        finding = dependence(names, "structure.dependent", dependent_equations(
            flat, every, singular.over_classes) or every)
        if not _is_explained(finding.where, explained):
            yield finding
        return
    faults = _faults(flat, names, singular)
    for fault in faults:
        if not _is_explained(fault.owners, explained):
            yield _finding(names, fault, singular.reason)


def _is_explained(owners: Iterable[str], explained: set[str]) -> bool:
    """Whether a component, or a composite around it, is in an earlier finding."""
    steps = (path.split(".") for path in owners)
    return any(".".join(s[:k]) in explained for s in steps for k in range(1, len(s) + 1))


def _faults(flat: Flat, names: Names, singular: Singular) -> list[_Fault]:
    """Over-equations that share an unknown, and unknowns that share an equation, are one fault."""
    over, under = singular.over_equations[:200], singular.under_classes[:200]
    chain, n = flat.chains(), flat.equations
    rows, classes = flat.incidence_of(np.arange(n))
    columns = chain[classes]
    keep = np.isin(rows, singular.over_equations)
    keep |= np.isin(rows, singular.under_equations) & np.isin(columns, chain[under])
    label = connected(rows[keep], n + columns[keep], n + int(chain.max(initial=-1)) + 1)
    faults: dict[int, _Fault] = {}
    for e in over.tolist():
        fault = faults.setdefault(label[e], _Fault())
        fault.over.append(e)
        fault.owners.update(_owners(names, e))
    for c in under.tolist():
        fault = faults.setdefault(label[n + chain[c]], _Fault())
        fault.under.append(c)
        fault.owners.update(names.owners(c))
    return _join_by_owner(list(faults.values()))


def _join_by_owner(faults: list[_Fault]) -> list[_Fault]:
    """Over- and under-determined parts of the same components are one fault."""
    out = [p for p in faults if p.over]
    for p in (p for p in faults if not p.over):
        best = max(out, key=lambda q: len(set(q.owners) & set(p.owners)), default=None)
        if best is not None and best.over and set(best.owners) & set(p.owners):
            best.under += p.under
            best.owners += p.owners
        else:
            out.append(p)
    return out


def _owners(names: Names, equation: int) -> list[str]:
    owner = names.owner(equation)
    return [owner] if owner else [p.rpartition(".")[0] for p in names.ports_of(equation)]


def _finding(names: Names, fault: _Fault, reason: str) -> Finding:
    parts = sorted(fault.owners, key=lambda name: (-fault.owners[name], name))[:20]
    equations = enumerated([names.equation(e) for e in fault.over])
    unknowns = listed((names.unknown(c) for c in fault.under), 8)
    who, s = listed(parts), "s" if len(parts) == 1 else ""
    if reason == "endless":
        stated = enumerated([_stated(names, e) for e in fault.over])
        return found("structure.endless", parts,
                     f"What {who} prescribe{s} acts through so many integrations in a row that it "
                     f"had to be differentiated more than {MAX_DIFFERENTIATIONS - 1} times:"
                     f"{stated}",
                     "Prescribe a quantity nearer to the one that is to follow, such as an "
                     "acceleration instead of a position.")
    if reason == "input":
        return found("structure.input", parts,
                     f"{who} leave{s} no freedom for a force that is set by a friction or contact "
                     f"law:{equations}",
                     "Give the node between them a mass, or remove one of the laws.")
    if fault.over and fault.under:
        return _both(names, fault, parts, equations, unknowns)
    if fault.over:
        return found("structure.singular", parts,
                     f"{who} are over-determined: {plural(len(fault.over), 'equation')} for fewer "
                     f"unknowns:{equations}", "Remove the component that repeats what the others "
                     f"say: look first at {listed(parts, 3, 'or')}.")
    return found("structure.singular", parts,
                 f"Nothing determines {unknowns}: an equation is missing among {who}.",
                 "Connect a component that determines them, or state the missing equation."
                 + _without_reference(names, set(parts)))


def _without_reference(names: Names, parts: set[str]) -> str:
    """Advice where a domain does not say which component its circuits are measured against."""
    topology = Topology(names.flat.network)
    for domain in topology.domains:
        if not domain.reference and any(r.path(0) in parts for r in topology.of(domain)):
            name, u = next(iter(domain.across.items()))
            return (f" Where nothing says what the {quantity_word(name, u)} of this {domain} "
                    "circuit is measured against, connect a component that does, with yield "
                    f"self.P.{name} == 0 or another value; the domain names its class by "
                    "reference='…'.")
    return ""


def _stated(names: Names, equation: int) -> str:
    """An equation as it was before it was differentiated."""
    group, _ = names.flat.group_of(equation)
    order = group.order if group.law is None else group.law.order
    text = names.equation(equation)
    for _ in range(order):
        text = text.removeprefix("der(").removesuffix(")")
    return text


def _both(names: Names, fault: _Fault, parts: list[str], equations: str, unknowns: str) -> Finding:
    """Too many equations for some unknowns, too few for others, of the same components."""
    owners = {names.owner(e) for e in fault.over}
    topology = Topology(names.flat.network)
    given = [s for s in sources(topology) if s[0] in owners]
    loose = topology.open_ports(parts)
    connect = (f"Connect {listed(loose)}, which {'is' if len(loose) == 1 else 'are'} connected to "
               "nothing. Otherwise ") if loose else ""
    if not given:
        return found("structure.singular", parts,
                     f"{listed(parts)} {'is' if len(parts) == 1 else 'are'} over- and "
                     "under-determined at once. These equations determine too few unknowns:"
                     f"{equations}\nwhile nothing determines {unknowns}.",
                     f"{connect}{'two' if loose else 'Two'} of these equations say the same, or "
                     f"one contradicts the others: look first at {listed(parts[:3], word='or')}.")
    kind, u = given[0][1:]
    givers = list(dict.fromkeys(s[0] for s in given if s[1] == kind))
    rest = [p for p in parts if p not in givers]
    word = quantity_word("", u)
    free = f"that the {several(word)} may differ" if kind == "across" else f"whose {word} is free"
    return found(
        "structure.singular", [*givers, *rest],
        f"{listed(givers)} prescribe{'s' if len(givers) == 1 else ''} more {several(word)} than "
        f"{listed(rest)} leave{'s' if len(rest) == 1 else ''} free. These equations contradict or "
        f"repeat each other:{equations}\nwhile nothing determines {unknowns}.",
        f"{connect}{'remove' if loose else 'Remove'} one of "
        f"{_less(topology, givers, owners, kind)} {free}{example_word('', u)}.")


def _less(topology: Topology, givers: list[str], owners: set[str], kind: str) -> str:
    """Which of the components that state too much to remove, or what to put beside which."""
    references = {family.path(i) for family in topology.network.families if family.is_reference
                  for i in range(family.size)}
    rigid = sorted(owners - references - set(givers) - {""})
    put = "put an element next to {} so" if kind == "across" else "connect a component next to {}"
    if len(givers) > 1 or not rigid:
        return f"{listed(givers)}, or {put.format('it')}"
    apart = f"; or, if {listed(rigid)} do not repeat each other," if len(rigid) > 1 else ", or"
    return f"{listed([*givers, *rigid])}{apart} {put.format(givers[0])}"


# -- dependent by numbers -------------------------------------------------------------------------
def dependent_equations(flat: Flat, equations: Iterable[int], unknowns: Iterable[int]) -> list[int]:
    """Equations whose rows of coefficients add up to zero with the present parameters.

    Coefficients that are not constant count as arbitrary, so that nothing is
    said of equations that are dependent at one state only.
    """
    equations, parameters = list(equations), flat.network.parameters()
    at = {int(c): j for j, c in enumerate(unknowns)}
    if len(equations) > MOST_TOGETHER or not equations:
        return []
    chance = Random(0)
    matrix = np.zeros((len(equations), len(at)))
    for i, of in enumerate(coefficients(flat, np.array(equations), parameters).values()):
        for c, v in of.items():
            if c in at:
                matrix[i, at[c]] = chance.uniform(0.5, 1.5) if v is None else v
    return dependent_rows(equations, matrix, DEPENDENT)


def dependent_rows(equations: list[int], matrix: np.ndarray, tolerance: float = DEPENDENT_EXACTLY
                   ) -> list[int]:
    """Equations whose rows of coefficients add up to zero, but for rounding."""
    if not np.isfinite(matrix).all():
        return []
    for axis in (0, 1):  # small and large coefficients mean nothing
        scale = np.max(np.abs(matrix), axis=axis, keepdims=True, initial=0.0)
        matrix = matrix / np.where(scale > 0, scale, 1.0)
    with threads_for(len(matrix)):
        u, s, _ = np.linalg.svd(matrix)
    rank = int(np.sum(s > tolerance))
    if rank == len(equations):
        return []
    weight = np.max(np.abs(u[:, rank:]), axis=1)
    return [e for e, w in zip(equations, weight, strict=True) if w > CLEAR]


def in_terms_of(system: System, unknowns: list[int]) -> tuple[Writer, ca.SX]:
    """A writer of a system's expressions by some of its unknowns, and the symbols of these."""
    writer, given = copy.copy(system.tape.writer), ca.SX.sym("v", len(unknowns))
    writer.values = ca.SX(system.tape.values)
    writer.values[unknowns] = given
    return writer, given


def equation_coefficients(problem: Problem, t: float, equations: list[int], unknowns: list[int]
                          ) -> sp.csc_matrix:
    """The coefficients of unknowns in equations, at a problem's present point."""
    system = problem.system
    writer, given = in_terms_of(system, unknowns)
    of = ca.Function("block", [*system.arguments, given], [
        ca.jacobian(writer.residuals_of(np.array(equations)), given)])
    values = system.values(*problem.arguments(t))[unknowns]
    return of(*problem.arguments(t), values).sparse()


def ceased_equations(here: Array, before: Array, equations: list[int]) -> list[int]:
    """Equations that no longer determine their unknowns, by their coefficients at a point and
    before it; none where something else is wrong with them."""
    size, usual = np.linalg.slogdet(here)[1], np.linalg.slogdet(before)[1]
    if np.isfinite(here).all() and size < usual - np.log(POLE):
        return dependent_rows(equations, here, CLEAR) or equations
    return []


def zero_parameters(flat: Flat, paths: Iterable[str]) -> list[str]:
    """Coefficients of unknowns that are zero in given components: ``"block.mass"``."""
    wanted, out = set(paths), []
    for family in flat.network.families:
        kernel = family.kernel
        factors = {s.__hash__() for law in kernel.laws for p in law.partials for s in ca.symvar(p)}
        for parameter, symbol in zip(kernel.parameters, kernel.parameter_symbols, strict=True):
            if parameter.size != 1 or symbol.__hash__() not in factors:
                continue
            if np.all(parameter.declared.default == 0):
                continue  # what is zero by itself is no mistake
            zero = np.flatnonzero(family.parameter(parameter.name)[:, 0] == 0)
            out += [f"{p}.{parameter.name}" for p in map(family.path, zero.tolist()) if p in wanted]
    return out


def dependence(names: Names, code: str, equations: list[int],
               where: str = "with the present parameters", circle: bool = False) -> Finding:
    """The finding for equations that depend on each other by their numbers."""
    owners = list(dict.fromkeys(o for e in equations for o in _owners(names, e)))
    states = [o for e in equations if (o := names.owner(e))] or owners
    zero = zero_parameters(names.flat, owners)
    lines = enumerated([names.equation(e) for e in equations])
    cure = "Check the equations" if len(set(states)) == 1 else "Remove one"
    advice = f"{cure} of {listed(dict.fromkeys(states))}, or change its parameters."
    if len(equations) == 1:
        head = f"An equation of {listed(owners)} determines nothing {where}:"
    elif len(owners) == 1:
        head = f"Equations of {owners[0]} repeat or contradict each other {where}:"
    else:
        head = (f"The equations of {listed(owners)} depend on each other {where}, so they do "
                "not determine all unknowns, such as how a load is shared:")
    if zero:
        advice = f"Give {listed(zero)} a value other than zero, or remove the component."
    if circle or not zero and len(set(owners)) > 1 and not any(  # components with signals alone
            f.kernel.ports for f in names.flat.network.families
            if not {f.path(i) for i in range(f.size)}.isdisjoint(owners)):
        head = (f"The signals of {listed(owners)} run in a circle whose gain is 1 {where}, so "
                "nothing determines their values:")
        advice = (f"Change the gain of {'one of ' * (len(owners) > 1)}{listed(owners)}, or break "
                  "the circle with an integrator, a filter or a memory.")
    loose = Topology(names.flat.network).open_ports(owners)
    if loose:
        if len(equations) == 1:
            head = (f"{listed(loose)} {'is' if len(loose) == 1 else 'are'} connected to nothing, "
                    f"so an equation of {listed(owners)} determines nothing:")
        advice = (f"Connect {listed(loose, word='or')}: nothing acts on a port that is connected "
                  f"to nothing. Otherwise {advice[0].lower()}{advice[1:]}")
    return found(code, owners[:20], head + lines, advice)
