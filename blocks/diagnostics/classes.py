"""Does a component class state as many equations as it has unknowns?

The class is matched with the richest surroundings it could have: one equation
per port and through variable on all its port variables. What is singular even
then is singular in every network. Knows no instances.
"""

from __future__ import annotations

from collections.abc import Iterator

import casadi as ca
import numpy as np

from ..assembly.matching import match
from ..language.branch import Branch
from ..language.component import Component
from ..language.kernel import Kernel, Law
from ..language.source_lines import line_of_function, told_line
from .findings import Finding, found
from .words import enumerated, listed, plural, shortened, tidy

__all__ = ["class_findings"]


def class_findings(kernel: Kernel, members: list[Component]) -> Iterator[Finding]:
    """Missing, surplus and misplaced equations of a class with some instances."""
    if any(len(d.across) - len(d.rates) != len(d.through) for d, _ in kernel.ports.values()):
        return  # such a domain's own equations decide
    unknown = {i: n for n, i in enumerate(
        i for i, v in enumerate(kernel.variables)
        if v.kind not in ("input", "discrete") and i not in kernel.observed
        and (v.kind != "domain" or v.declared.sets))}  # type: ignore[attr-defined]  # fmt: skip
    statements = _statements(kernel)
    own, outside = len(statements), sum(len(d.through) for d, _ in kernel.ports.values())
    places = [(row, unknown[i]) for row, (arguments, _) in enumerate(statements)
              for i in arguments & set(unknown)]
    places += [(own + k, unknown[i]) for k in range(outside)
               for _, table in kernel.ports.values() for i in table.values()]
    rows, columns = np.array(places, dtype=int).reshape(-1, 2).T
    m = match(rows, columns, own + outside, len(unknown))
    if m.perfect:
        return
    local = {n: i for i, n in unknown.items()}
    names = [kernel.variables[local[int(n)]].name for n in m.under_unknowns]
    surplus = sorted((statements[e] for e in m.over_equations if e < own),
                     key=lambda s: sum(kernel.variables[i].port != "" for i in s[0]))
    yield _finding(kernel, members, len(unknown) - outside, own, names,
                   [said if isinstance(said, str) else shortened(tidy(said.text))
                    for _, said in surplus])


def _statements(kernel: Kernel) -> list[tuple[set[int], Law | str]]:
    """The variables in every equation and set-valued law, and the equation or a text."""
    out: list[tuple[set[int], Law | str]] = [
        ({i for i, _ in law.arguments}, law) for law in kernel.laws]
    for one in kernel.set_valued:
        keys = [kernel.key_of(s) for s in ca.symvar(one.flow)]
        name = kernel.variables[one.effort].name
        out.append(({one.effort, *(k[0] for k in keys if k)},
                    f"{name} by a set-valued law of {one.flow}"))
    for position, velocity in kernel.rates:
        names = [kernel.variables[i].name for i in (position, velocity)]
        out.append(({position, velocity}, f"der({names[0]}) == {names[1]} of the domain"))
    for law in kernel.load_laws:
        keys = [kernel.key_of(s) for sx in law.given for s in ca.symvar(sx)]
        effort, load = (kernel.variables[i].name for i in (law.effort, law.load))
        every = {law.effort, law.load, *(k[0] for k in keys if k)}
        out += [(every, f"{effort} by a law of the load {load}"), (every, f"{load}, the load")]
    return out


def _finding(kernel: Kernel, members: list[Component], unknowns: int, equations: int,
             free: list[str], surplus: list[str]) -> Finding:
    """The words for a class with free unknowns, surplus equations, or both."""
    where = [m.path for m in members[:20]]
    used = set().union(*(arguments for arguments, _ in _statements(kernel)))
    absent = [v.name for i, v in enumerate(kernel.variables) if i not in used
              and i not in kernel.observed and v.kind in ("variable", "output", "through")]
    ports = sum(len(d.through) for d, _ in kernel.ports.values())
    observed = len(kernel.observed)
    counted = plural(unknowns + observed, "unknown")
    own = [v.name for v in kernel.variables if v.kind in ("variable", "output")]
    each = listed([*own, *(f"one of port {p}" for p in kernel.ports)], 8)
    counted += f" ({each})" if ports or own else ""
    from_base = ""
    if isinstance(members[0], Branch) and (domain := members[0]._branch_domain) is not None:
        base = next(c for c in type(members[0]).__mro__ if "_branch_domain" in vars(c))
        from_base = (f" ({len(domain.across) + 2 * len(domain.through)} of them from its base "
                     f"{base.__name__})")
    head = f"{kernel.name} has {counted} but {plural(equations + observed, 'equation')}{from_base}"
    used_by = f" It is used by {listed(where, 4)}." if where != [kernel.name] else ""
    line = told_line(line_of_function(type(members[0]).equations))
    missing = unknowns - equations
    if missing > 0:
        verb = "is" if missing == 1 else "are"
        hint = f"variables that appear in no equation: {listed(absent, 8)}" if absent else (
            f"nothing determines {listed(free, 8)}")
        return found(
            "equation.missing", where,
            f"{head}: {plural(missing, 'equation')} {verb} missing; {hint}.{used_by}",
            f"Yield {plural(missing, 'more equation')} from {kernel.name}.equations(), or remove "
            f"{'the variable' if missing == 1 else 'variables'} that {kernel.name} does not need."
            + line)
    if missing < 0:
        verb = "is" if missing == -1 else "are"
        return found(
            "equation.surplus", where,
            f"{head}: {plural(-missing, 'equation')} {verb} too many, among these:"
            f"{enumerated(surplus)}{used_by and chr(10) + used_by.strip()}",
            f"Remove {'it' if missing == -1 else 'them'} from {kernel.name}.equations(), or declare"
            f" the {'variable' if missing == -1 else 'variables'} meant to be determined.{line}")
    return found(
        "equation.unbalanced", where,
        f"{kernel.name} has as many equations as unknowns, but these determine too few of them:"
        f"{enumerated(surplus)}\nwhile nothing determines {listed(absent or free, 8)}.{used_by}",
        f"Check for an equation stated twice and for one that lacks a variable.{line}")
