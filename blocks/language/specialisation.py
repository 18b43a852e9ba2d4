"""Which units and ports does one instance have?

Classes with declarations whose unit or number depends on the instance (a block in any unit, a
sum with as many inputs as signs, a law that brings parameters of its own) determine them when an
instance is made. Instances with the same options, units and array sizes share what is made of them.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Hashable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import numpy as np

from ..exceptions import NamingError, ParameterError, UnknownUnit
from ..units import Unit, as_unit, placed
from .captured_names import CapturedNames
from .declarations import Declaration, Option, Parameter, Port, Signal, Variable
from .derived_defaults import specialise_default
from .references import choices_with
from .replaceable import Replaceable, Replacement
from .structure import seen_by_structure

if TYPE_CHECKING:
    from .tree import TreeNode

__all__ = ["LONG", "MOST", "arrays_are_numbers", "declarations_of", "declared_by_laws",
           "is_structural", "refuse_idle", "refuse_of_other_law", "refuse_other_structure",
           "structure_key", "with_values_of_laws"]  # fmt: skip

MOST = 1000  # numbered ports or variables of one kind
LONG = 20  # entries of an array up to which its values are no matter of the equations
MOST_CHOICES = 4  # that a message names


def is_structural(declared: Declaration | None) -> bool:
    """Whether a value must be known before units and ports are."""
    if isinstance(declared, Parameter):
        return declared.any_unit or np.ndim(declared.default) > 0 and declared.unit_of is None
    return isinstance(declared, Option)


def with_values_of_laws(values: dict[str, Any]) -> dict[str, Any]:
    """The values given to a component, and those given to the laws among them."""
    for value in list(values.values()):
        if isinstance(value, Replacement):
            values = {**value.given, **values}
    return values


def structure_key(component: TreeNode) -> tuple[Hashable, ...]:
    """What the equations depend on: options, functions of time, array sizes, open units."""
    parts: list[tuple[Any, ...]] = []
    own, of_laws = type(component)._declared, None
    for name, value in component._values.items():
        declared = own.get(name)
        if declared is None:
            of_laws = declared_by_laws(component) if of_laws is None else of_laws
            declared = of_laws.get(name)
        if declared is None:  # of a law that has been replaced
            continue
        if isinstance(declared, Option) or callable(value):
            parts.append((name, value))
        elif isinstance(declared, Parameter) and declared.default_of is not None:
            parts.append((name, np.shape(value)))
        elif isinstance(declared, Parameter) and declared.dimensions:
            parts.append((name, np.shape(value)[-declared.dimensions:],
                          declared.structure and declared.structure(value)))
    if arrays_are_numbers(component):
        parts += [(name, hashlib.sha256(np.asarray(value).tobytes()).digest())
                  for name, value, _ in _arrays(component)]
    if component._open:
        parts += [(name, str(u)) for name, u in component._units.items()]
    return tuple(sorted(parts, key=lambda item: item[0]))


def arrays_are_numbers(component: TreeNode) -> bool:
    """Whether its arrays stand in the equations as numbers, because one of them is long.

    Expressions are then as short as if they had few entries (:func:`~blocks.interpolate`); other
    numbers make other equations.
    """
    sizes = [np.size(value) for _, value, _ in _arrays(component)]
    return max(sizes, default=0) > LONG and all(
        np.ndim(value) == dimensions for _, value, dimensions in _arrays(component))


def _arrays(component: TreeNode) -> Iterator[tuple[str, Any, int]]:
    """Names and values of its parameters that are arrays, and of how many dimensions."""
    for name, declared in component._declared.items():
        if isinstance(declared, Parameter) and declared.dimensions:
            value = component._values.get(name, None if declared.follows else declared.default)
            if value is not None and not callable(value):
                yield name, value, declared.dimensions


def declared_by_laws(component: TreeNode) -> dict[str, Declaration]:
    """What the chosen laws declare; what the class has by that name for other laws gives way."""
    found: dict[str, Declaration] = {}
    for declared in type(component)._declared.values():
        if isinstance(declared, Replaceable):
            found |= declared.chosen(component).declarations
    for name in found:
        own = type(component)._declared.get(name)
        if hasattr(type(component), name) and (own is None or own.exists(component)):
            raise NamingError(f"{component.path}.{name}", f"the law declares {name!r}, which "
                              f"{type(component).__name__} has already.",
                              "Choose another name for it in the law.", name=name,
                              code="name.taken")
    return found


def declarations_of(component: TreeNode) -> dict[str, Declaration]:
    """The declarations of an instance, with the units and numbers of ports its values fix."""
    key = structure_key(component)
    kept = type(component)._specialised
    if key not in kept or not kept[key][1].unchanged():
        declarations = type(component)._declared | declared_by_laws(component)
        special = dict(declarations)
        for name, declared in declarations.items():
            if isinstance(declared, Parameter) and declared.any_unit:
                special[name] = declared.with_unit(component._units.get(name, declared.unit))
        for name, declared in declarations.items():
            if isinstance(declared, Parameter):
                specialise_default(component, special, name)
        for declared in declarations.values():
            if declared.unit_of:
                _derive(special, declared, declared.unit_of, component)
        for name in list(special):
            specialise_default(component, special, name)
        functions = [function for declared in declarations.values()
                     for function in (declared.default_of, declared.unit_of, declared.when)]
        kept[key] = special, CapturedNames(*filter(callable, functions))
    return kept[key][0]


def _derive(special: dict[str, Declaration], declared: Declaration,
            unit_of: Callable[[TreeNode], Any], component: TreeNode) -> None:
    """Give a declaration its derived unit, or make numbered ones where there are several."""
    name = declared.name
    where = f"{component.path}.{name}"
    with placed(where), _placed_at_option(component):
        derived = unit_of(seen_by_structure(component, name, "its unit or number", special))
        if not isinstance(derived, (list, tuple)):
            special[name] = declared.with_unit(as_unit(derived))
            return
        if len(derived) > MOST:
            raise ParameterError(where, f"would be {len(derived):,} of a kind.",
                                 f"There may be {MOST:,}: take several components.",
                                 code="parameter.count")  # fmt: skip
        units = [as_unit(u) for u in derived]
    del special[name]
    for k, u in enumerate(units, 1):
        made = declared.with_unit(u)
        made.name, made.group = f"{name}{k}", name
        special[made.name] = made


@contextmanager
def _placed_at_option(component: TreeNode) -> Iterator[None]:
    """Say of a text that is no unit which option it was given for, if it was."""
    try:
        yield
    except UnknownUnit as error:
        for name, value in component._values.items():
            if isinstance(value, str) and value == error.data.get("unit"):
                error.where = error.where or f"{component.path}.{name}"
                if value[:1].isdigit():
                    error.advice = "Give a unit without a number, such as 'm'."
        raise


def refuse_other_structure(component: TreeNode, where: str, new: dict[str, Declaration]) -> None:
    """Raise where a change of values would change units or ports of a component that is made."""
    before = component._declared
    for name in {**before, **new}:
        old_one, new_one = before.get(name), new.get(name)
        if name not in type(component)._declared and not any(
            isinstance(d, (Port, Signal)) for d in (old_one, new_one)
        ):  # a law's own
            continue
        old_unit, new_unit = _unit(old_one), _unit(new_one)
        if old_one is None:
            change = "add"
        elif new_one is None:
            change = "remove"
        elif old_unit is not None and (new_unit is None
                                       or old_unit.dimension != new_unit.dimension):
            change = f"change the unit {old_unit} of"
        else:
            continue
        raise ParameterError(
            where, f"would {change} {name!r}, but ports and units are fixed when a "
            "component is made.", f"Make a new {type(component).__name__} and connect it.",
            code="parameter.form")


def _unit(declared: Declaration | None) -> Unit | None:
    return declared.unit if isinstance(declared, (Parameter, Variable)) else None


# -- what the options switch off -------------------------------------------------------
def refuse_idle(component: TreeNode, name: str) -> None:
    """A value for something that the chosen options switch off is a mistake."""
    declared = component._declared.get(name)
    if declared is None or declared.exists(component):
        return
    showing = list(choices_with(component, declared))
    options = [n for n, d in component._declared.items() if isinstance(d, Option)]
    chosen = ", ".join(f"{n}={getattr(component, n)!r}" for n in
                       dict.fromkeys(n for n, _ in showing) or options)  # fmt: skip
    others = [f"{n}={value!r}" for n, value in showing]
    if len(others) > MOST_CHOICES:
        others[MOST_CHOICES:] = ["…"]
    instead = " or ".join(others) or "other options"
    raise ParameterError(f"{component.path}.{name}", f"has no meaning with {chosen}.",
                         f"Leave it out, or choose {instead}.", code="parameter.idle", name=name)


def refuse_of_other_law(component: TreeNode, name: str) -> None:
    """A value for something that another law than the chosen one has is a mistake."""
    for choice, declared in type(component)._declared.items():
        owners = declared.owners(name) if isinstance(declared, Replaceable) else []
        if owners:
            raise ParameterError(f"{component.path}.{name}", f"has no meaning with {choice}="
                                 f"{getattr(component, choice)!r}.",
                                 f"It belongs to {choice}={' or '.join(map(repr, owners))}.",
                                 code="parameter.idle", name=name)
