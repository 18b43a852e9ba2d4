"""Which ports may be joined?"""

from __future__ import annotations

from typing import Any

from ..exceptions import AngleFrequencyError, ConnectionRefused, UnitError
from ..reading.foreign_words import keyword_elsewhere
from ..units import alike, as_written, conversion, is_quantity, unit_given
from .declarations import Declaration, Input, Output, Parameter, Port, Signal, Variable
from .references import PortGroup, PortRef, VariableRef
from .tree import TreeNode

__all__ = ["one_by_one", "ports_without", "refuse_assigned", "refuse_connection"]

MOST_MEANT = 3  # parameters that a message names


def refuse_assigned(component: TreeNode, declared: Declaration, value: object) -> None:
    """Raise ConnectionRefused where a value is given to a port, or to an input that a parameter
    stands in for: the parameter of that unit is meant."""
    if isinstance(declared, Input) and declared.default:
        if value is None:
            return
        problem, meant = "is a signal, which takes no value.", [declared.default]
        advice = "Join an output to it with model.connect(a, b)."
    elif isinstance(declared, Variable):
        return
    else:
        problem, advice = "a port cannot be assigned.", "Join ports with model.connect(a, b)."
        here = keyword_elsewhere(component, declared.name)[1]
        meant = [here] if isinstance(component._declared.get(here), Parameter) else (
            _parameters_in_unit_of(component, value))
    if 0 < len(meant) <= MOST_MEANT:
        advice += f" A value belongs to {' or '.join(f'{name}=…' for name in meant)}."
    raise ConnectionRefused(f"{component.path}.{declared.name}", problem, advice, given=value,
                            code="connection.assigned")


def _parameters_in_unit_of(component: TreeNode, value: object) -> list[str]:
    """Names of parameters that a value could be given to; none for what is no text or quantity."""
    if not isinstance(value, str) and not is_quantity(value):
        return []
    try:
        given = unit_given(value, "")
    except UnitError:
        return []
    return [name for name, d in component._declared.items()
            if isinstance(d, Parameter) and not d.open and d.unit.dimension == given.dimension]


def refuse_connection(owner: TreeNode, ports: tuple[Any, ...]) -> None:
    """Raise ConnectionRefused where a component cannot join these ports inside it."""
    if len(ports) < 2:
        raise ConnectionRefused(owner.path, "connect() takes at least two ports.",
                                "Write model.connect(a.R, b.C), without a list.",
                                code="connection.ports")
    for ref in ports:
        if not isinstance(ref, PortRef):
            raise ConnectionRefused(owner.path,
                                    f"connect() takes ports, but was given {_named(ref)}.",
                                    _ports_of(ref), given=ref, code="connection.ports")
        if not ref.component._is_inside(owner):
            _refuse_other_model(owner, ref, ports)
            raise ConnectionRefused(
                ref.path,
                "this port belongs to another model or to a component that is not part of "
                f"{owner.path or 'the model'} yet, so it cannot be joined to "
                f"{next((p.path for p in ports if p is not ref), '')}.",
                "First write model.name = Component(…), then connect.",
                code="connection.foreign",
            )
    first = ports[0]
    for ref in ports[1:]:
        _refuse_other_kind(first, ref)
    _refuse_twice(ports)
    if isinstance(first.port, Signal):
        _refuse_outputs(owner, ports)
    _refuse_sizes(ports)


def one_by_one(ports: tuple[Any, ...]) -> list[tuple[Any, ...]]:
    """What is joined where numbered ports are among what is given."""
    groups = [p for p in ports if isinstance(p, PortGroup)]
    if not groups:
        return [ports]
    count = len(groups[0])
    of_arrays = [g for g in groups if g.ports[0].size > 1]
    sizes = [(g.path, len(g)) for g in groups] + [
        (p.path, p.size) for p in ports if isinstance(p, PortRef) and p.size > 1]
    if of_arrays or any(size != count for _, size in sizes):
        raise ConnectionRefused(
            " and ".join(f"{path} ({size})" for path, size in sizes),
            "the numbered ports of an array are joined one by one." if of_arrays
            else "numbered ports are joined with as many elements.",
            "Take one of them, such as .u1." if of_arrays else
            "Take slices of equal length, such as total.u[1:3].", code="connection.size")

    def element(given: Any, k: int) -> Any:
        many = isinstance(given, PortGroup) or isinstance(given, PortRef) and given.size > 1
        return given[k] if many else given

    return [tuple(element(p, k) for p in ports) for k in range(count)]


def _refuse_other_model(owner: TreeNode, ref: PortRef, ports: tuple[PortRef, ...]) -> None:
    """Name both models where a port is of another one."""
    mine, other = owner._root, ref.component._root
    if mine is other or not other._is_root:
        return
    names = [getattr(m, "name", "") for m in (mine, other)]
    also = "another model that is also called" if names[0] == names[1] else "the model"
    own = next((p.path for p in ports if p.component._root is mine), "a part")
    raise ConnectionRefused(
        ref.path, f"belongs to {also} {names[1]!r}, and cannot be joined to {own} of the "
        f"model {names[0]!r}.",
        "Make a component of its own for each model, and connect the parts of one.",
        models=names, code="connection.foreign")


def _refuse_other_kind(first: PortRef, ref: PortRef) -> None:
    """Signals are joined with signals of like unit, ports with ports of the same domain."""
    a, b = first.port, ref.port
    both = f"{first.path} and {ref.path}"
    if isinstance(a, Signal) != isinstance(b, Signal):
        signal, port = (first, ref) if isinstance(a, Signal) else (ref, first)
        raise ConnectionRefused(
            both, f"{signal.path} is a signal and {port.path} a conserving port.",
            "Sources turn signals into physical quantities, sensors the reverse.",
            code="connection.kind")
    if isinstance(a, Port) and isinstance(b, Port) and a.domain != b.domain:
        raise ConnectionRefused(
            both, f"{first.path} is {a.domain} and {ref.path} is {b.domain}.",
            "They are two domains of one name: write the Domain once and import it in both places."
            if a.domain.name == b.domain.name else
            "Join them through a component that converts one domain into the other.",
            code="connection.domain")
    if isinstance(a, Signal) and isinstance(b, Signal) and not alike(b.unit, a.unit):
        bare = next((r for r, s in ((first, a), (ref, b)) if not s.unit.text), None)
        told = (f"{bare.path} has no unit, {(ref if bare is first else first).path} is in "
                f"{(b if bare is first else a).unit}." if bare else
                f"{first.path} is in {a.unit} and {ref.path} in {b.unit}.")
        given, taken, reader = ((a.unit.text, b.unit.text, ref.component) if isinstance(a, Output)
                                else (b.unit.text, a.unit.text, first.component))
        option = next((o for o in ("input", "unit") if o in reader._declared), "")
        advice = (f'Give {reader.path} {option}="{given}".' if option and not taken else
                  f"{_gain(given, taken)} between them converts.")
        raise ConnectionRefused(both, told, advice, code="connection.unit")
    if isinstance(a, Signal) and isinstance(b, Signal) and isinstance(a, Output) != isinstance(
            b, Output):
        source, wanted = (a.unit, b.unit) if isinstance(a, Output) else (b.unit, a.unit)
        try:
            conversion(source, wanted, both)
        except AngleFrequencyError:
            raise ConnectionRefused(
                both, f"{first.path} is in {a.unit} and {ref.path} in {b.unit}, and a turn is 2π "
                "rad.", f"Give the signal in {wanted}; what counts turns or periods is no angle.",
                code="connection.unit") from None  # fmt: skip


def _gain(given: str, taken: str) -> str:
    """How to write the gain of 1 from a signal in one unit to one in another."""
    if not given:
        return f'Gain(gain="1 {taken}")'
    below = f"({given})" if "*" in given or "/" in given else given
    return f'Gain(gain="1 {taken or 1}/{below}", input="{given}")'


def _refuse_twice(ports: tuple[PortRef, ...]) -> None:
    keys = [(id(r.component), r.port.name, None if r.index is None else tuple(r.index))
            for r in ports]
    for k, ref in zip(keys, ports, strict=True):
        if keys.count(k) > 1:
            raise ConnectionRefused(ref.path, "this port is given twice: it cannot be "
                                    "connected to itself.", "Name two different ports.",
                                    code="connection.self")


def ports_without(part: TreeNode, owner: TreeNode, ports: tuple[PortRef, ...]
                  ) -> tuple[PortRef, ...]:
    """What of a connection stays joined without a part; nothing where its signal came from it."""
    left = tuple(r for r in ports if not r.component._is_inside(part))
    if len(left) < 2 or isinstance(left[0].port, Signal) and len(_sources(owner, left)) != 1:
        return ()
    if all(r.size > 1 for r in left) and not all(r.size > 1 for r in ports):
        return tuple(r[k] for r in left for k in range(r.size))  # a single port had joined them all
    return left


def _sources(owner: TreeNode, ports: tuple[PortRef, ...]) -> list[PortRef]:
    """Where signals come from; of a composite's own signals, its inputs are sources inside."""
    return [r for r in ports if isinstance(r.port, Output) != (r.component is owner)]


def _refuse_outputs(owner: TreeNode, ports: tuple[PortRef, ...]) -> None:
    """A signal line has one source."""
    sources = _sources(owner, ports)
    if len(sources) != 1:
        names = ", ".join(r.path for r in sources) or "none"
        raise ConnectionRefused(
            " and ".join(r.path for r in ports),
            f"a signal line has exactly one output, but here are {len(sources)} ({names}).",
            "Give the output first, then the inputs.",
            code="connection.signal",
        )


def _refuse_sizes(ports: tuple[PortRef, ...]) -> None:
    if len({r.size for r in ports} - {1}) > 1:
        raise ConnectionRefused(" and ".join(f"{r.path} ({r.size})" for r in ports),
                                "arrays of different size cannot be joined element by element.",
                                "Take slices of equal length, such as model.masses[1:].M.",
                                code="connection.size")


def _named(thing: object) -> str:
    if isinstance(thing, TreeNode):
        return f"the component {thing.path}"
    if isinstance(thing, VariableRef):
        return f"the variable {thing.path}"
    return f"the value {as_written(thing)}" if is_quantity(thing) else repr(thing)


def _ports_of(thing: object) -> str:
    """The ports of what was given instead of one."""
    owner = thing if isinstance(thing, TreeNode) else getattr(thing, "component", None)
    if is_quantity(thing) or isinstance(thing, (int, float)):
        return ("A value, such as that of a parameter, is no port. What follows a signal is an "
                "input, such as vT of a Switch; help(Switch) names it.")
    if owner is None:
        return "Ports are attributes of components, such as model.spring.R."
    ports = [n for n, d in owner._declared.items() if isinstance(d, (Port, Signal))]
    return f"Its ports are: {', '.join(ports)}."
