"""In which order are mistakes looked for, and when is enough known?

Values, classes, network, signals, assembly, start: each stage runs as far as
the stages before allow, so that one check names as many mistakes as possible.
"""

from __future__ import annotations

import re
from collections import UserDict
from collections.abc import Iterable, Iterator
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from ..assembly.flatten import Flat
from ..assembly.network import Family, Network
from ..assembly.reduced import Singular
from ..exceptions import BlocksError, StructureError
from ..language.assignment import aim
from ..language.component import Component
from ..language.declarations import Parameter, Variable
from ..language.dependence import depends_on
from ..language.kernel import Kernel
from ..language.references import VariableRef
from ..language.tracing import Kernels, kernel_of, usual_value
from ..numerics.arrays import Flags
from ..system.system import System
from ..units import is_quantity
from .at_start import Starting, begin_findings, event_findings, locked_findings, start_findings
from .classes import class_findings
from .findings import Finding, Findings, error_of, first_few, found
from .network import network_findings
from .one_way import has_one_way, one_way_findings
from .signals import signal_findings
from .singular import singular_findings
from .topology import Topology

if TYPE_CHECKING:
    from ..language.compiled_model import CompiledModel

__all__ = ["check_model", "has_relations", "relation_findings", "structure_error"]


def check_model(model: CompiledModel, starting: Starting) -> Findings:
    """Every mistake of a model that can be found without integrating, until something changes.

    ``starting`` solves for the start of a run, and decides relations and modes there.
    """
    made, state = model.compiled, model.compiled.state()
    if made.findings is None or made.checked != state:
        findings, causes = _check(model, starting)
        made.findings = Findings(first_few(findings), model.name, causes)
        made.checked = state
    return made.findings


def _check(model: CompiledModel, starting: Starting
           ) -> tuple[list[Finding], dict[Finding, BlocksError]]:
    if all(part.is_composite for part in model.parts.values()):
        return [found("model.empty", [], "The model has no components.",
                      "Add some: model.block = Mass().")], {}
    causes: dict[Finding, BlocksError] = {}
    findings = [*relation_findings(model.parts.values(), Kernels())]
    violated = {path for finding in findings for path in finding.where}
    findings += _advice(model.parts.values())
    try:
        system = model.compile()
    except StructureError as error:
        findings += error.data.get("findings", ()) or [_of_error(error, causes)]
        return findings, causes
    except BlocksError as error:
        findings += (f for f in _unreadable(model, error, causes) if not violated >= set(f.where))
        return findings, causes
    findings += system.once("findings", lambda: [  # values change more often
        *_on_network(system.network, _integrated(system)), *event_findings(system)])
    told_still = {path for f in findings if f.code == "network.locked" for path in f.where}
    findings += (f for f in system.once("locked", lambda: list(locked_findings(system)))
                 if not told_still >= set(f.where))
    if has_one_way(system.network.families):
        findings += one_way_findings(Topology(system.network))
    if violated:  # what such values start from says nothing
        return findings, causes
    told = {(f.code, f.where) for f in findings}  # such as a contact of a node with itself
    loose = any(f.code == "reference.missing" for f in findings)  # what starts from there is open
    try:
        findings += (f for f in start_findings(system, starting)
                     if (f.code, f.where) not in told and not (loose and f.severity == "error"))
    except BlocksError as error:
        if not loose:
            findings.append(_of_error(error, causes))
    if not any(f.severity == "error" for f in findings):
        findings += (f if isinstance(f, Finding) else _of_error(f, causes)
                     for f in begin_findings(system, starting))
    return findings, causes


def _of_error(error: BlocksError, causes: dict[Finding, BlocksError]) -> Finding:
    """The finding that says what an error says."""
    where = [w for part in error.where.split(" and ") for w in part.split(", ") if w]
    finding = found(error.code, where, error.statement, error.advice)
    causes[finding] = error
    return finding


def _integrated(system: System) -> list[Flags]:
    """Return, for every family, which instances have a state."""
    flat = system.flat
    return [np.any([np.isin(flat.class_of[slot : slot + family.size], system.tape.reduced.states)
                    for slot in flat.base[f].values()] or [np.zeros(family.size, dtype=bool)],
                   axis=0)
            for f, family in enumerate(system.network.families)]


def _on_network(network: Network, integrated: list[Flags] | None = None) -> Iterator[Finding]:
    """Findings about classes, circuits and signals."""
    wrong: set[str] = set()
    for family in network.families:
        for finding in class_findings(family.kernel, family.members):
            wrong.update(family.paths)
            yield finding
    for finding in network_findings(Topology(network), integrated):
        if finding.severity != "error" or not wrong & set(finding.where):
            yield finding  # what a wrong class seems to prescribe is no conflict
    yield from signal_findings(network)


def structure_error(flat: Flat, singular: Singular) -> StructureError:
    """The error for a network without a unique solution; ``findings`` says why."""
    findings = list(_on_network(flat.network))
    errors = [f for f in findings if f.severity == "error"]
    if not any(f.code.startswith("equation.") for f in errors):
        leaves = set(flat.network.place)
        explained = {w if re.sub(r"\[\d+\]$", "", w) in leaves else w.rpartition(".")[0]
                     for f in errors for w in f.where}
        rest = list(singular_findings(flat, singular, explained))
        findings += rest or (() if errors else singular_findings(flat, singular, set()))
    collected = Findings(first_few(findings), flat.network.name)
    errors = list(collected.errors)
    if len(errors) == 1:
        return error_of(errors[0], StructureError, collected)
    lines = "".join(f"\n  {i}. {f}" for i, f in enumerate(errors, 1))
    return StructureError("", f"the network has no unique solution, for {len(errors)} reasons:"
                          f"{lines}", findings=collected)


# -- values -----------------------------------------------------------------------------------
def has_relations(component: Component, kernels: Kernels) -> bool:
    """Whether values of a component must fit each other, whatever each of them is."""
    return (type(component).verify is not Component.verify or any(_bounded_defaults(component))
            or _demanding(component, kernels) is not None)


def _demanding(component: Component, kernels: Kernels) -> Kernel | None:
    """The kernel of a component whose parameters must fulfil what its laws demand."""
    if component.is_composite:
        return None
    try:
        kernel = kernels.of(component)
    except BlocksError:
        return None  # told of the class
    return kernel if kernel.demands else None


def _demand_findings(component: Component, kernels: Kernels) -> Iterator[Finding]:
    """What its laws demand of parameters and these do not fulfil."""
    kernel = _demanding(component, kernels)
    if kernel is None:
        return
    family = Family(kernel)
    family.add(component, component.path)
    parameters = [family.parameter(p.name).T for p in kernel.parameters]
    sides = iter([np.array(side) for side in kernel.demanded.call(parameters)])
    for one, lower, upper in zip(kernel.demands, sides, sides, strict=True):
        for instance in range(component.size):
            problem = one.complaint(lower[:, instance], upper[:, instance])
            if problem is not None:
                path = family.path(instance)
                yield found("parameter.relation", [path], f"{path}: {problem}", one.advice)
                return


def _bounded_defaults(component: Component) -> Iterator[Parameter | Variable]:
    """Parameters and initial targets within bounds that follow from others."""
    for name, declared in component._declared.items():
        if declared.follows and declared.exists(component) and (
                declared.bounds and name not in component._values
                if isinstance(declared, Parameter) else isinstance(declared, Variable)
                and declared.minimum is not None and name not in component._targets):
            yield declared  # type: ignore[misc]  # nothing else follows


def relation_findings(components: Iterable[Component], kernels: Kernels) -> Iterator[Finding]:
    """What the components' own ``verify`` and their laws object to, and defaults out of bounds."""
    for component in components:
        if has_relations(component, kernels):
            objections = list(_objections(component))
            yield from objections or _demand_findings(component, kernels)


def _objections(component: Component) -> Iterator[Finding]:
    """What ``verify`` of instances objects to, and bounds of defaults that follow."""
    for instance in _instances(component):
        for declared in _bounded_defaults(instance):
            try:
                where = f"{instance.path}.{declared.name}"
                if isinstance(declared, Variable):
                    aim(declared, VariableRef(instance, declared).initial, None, where)
                elif is_quantity(value := declared.read(instance)):
                    declared.accept(value, where)
            except BlocksError as error:
                yield found(error.code, [instance.path], error.statement,
                            "It follows from other parameters: change these, or give it.")
        try:
            given = instance.verify()
            texts = [f"its verify() returns {given!r}, but is a generator: yield a sentence for "
                     "what is wrong"] if isinstance(given, (bool, str)) else list(given or ())
        except Exception as error:  # an author's mistake must not hide the other findings
            texts = [f"its verify() raised {type(error).__name__}: {error}"]
        for text in texts:
            sentence = text if text.endswith("?") else f"{text.rstrip('.')}."
            yield found("parameter.relation", [instance.path],
                        f"{instance.path}: {sentence}", "Change one of these parameters.")


def _advice(components: Iterable[Component]) -> Iterator[Finding]:
    """What the components' own ``advise`` warns of."""
    for component in components:
        if type(component).advise is Component.advise:
            continue
        for instance in _instances(component):
            for text in instance.advise():
                yield found("parameter.advice", [instance.path], f"{instance.path}: {text}")


def _instances(component: Component) -> Iterator[Component]:
    """A component, or instances of an array as single ones: those that differ in what is read of
    an instance before the next one is asked for."""
    usual = _with_usual_values(component)
    if usual is None:
        return
    component, count = usual, usual._count
    arrays = {k: v for k, v in component._values.items()
              if count is not None and np.ndim(v) == 1
              and not np.ndim(getattr(component._declared[k], "default", 0.0))}  # fmt: skip
    if not arrays or count is None:
        yield component
        return
    looked_at: dict[frozenset[str], set[tuple[float, ...]]] = {}
    for k in range(count):
        if any(tuple(float(arrays[n][k]) for n in names) in rows
               for names, rows in looked_at.items()):
            continue
        values = _NotedReads({**component._values, **{n: float(v[k]) for n, v in arrays.items()}})
        yield component._reader(**{**vars(component), "_count": None, "_values": values,
                                   "_name": f"{component._name}[{k}]"})
        names = frozenset(values.read & arrays.keys())
        if not names:
            return
        looked_at.setdefault(names, set()).add(tuple(float(arrays[n][k]) for n in names))


class _NotedReads(UserDict[str, Any]):
    """Values by name, and which of them somebody has asked for."""

    def __init__(self, values: dict[str, Any]) -> None:
        super().__init__(values)
        self.read = set[str]()

    def __getitem__(self, name: str) -> Any:
        self.read.add(name)
        return super().__getitem__(name)


def _with_usual_values(component: Component) -> Component | None:
    """A component with numbers where functions of its variables are given; None where they fail."""
    numbers = {}
    for name, value in component._values.items():
        declared = component._declared.get(name)
        if isinstance(declared, Parameter) and callable(value) and depends_on(
                component, declared, value):
            try:
                numbers[name] = usual_value(component, name)
            except BlocksError:
                return None  # told of the class
    if not numbers:
        return component
    return component._reader(**{**vars(component), "_values": {**component._values, **numbers}})


# -- classes that cannot be read ----------------------------------------------------------------
def _unreadable(model: CompiledModel, error: BlocksError, causes: dict[Finding, BlocksError]
                ) -> Iterator[Finding]:
    """One finding per class whose equations cannot be traced."""
    told: dict[str, tuple[BlocksError, list[str]]] = {}
    for leaf in model.parts.values():
        try:
            if not leaf.is_composite:
                kernel_of(leaf)
        except BlocksError as problem:
            told.setdefault(str(problem), (problem, []))[1].append(leaf.path)
    if not told:
        yield _of_error(error, causes)
    for cause, paths in told.values():
        finding = replace(_of_error(cause, causes), where=tuple(paths[:20]))
        causes[finding] = cause
        yield finding
