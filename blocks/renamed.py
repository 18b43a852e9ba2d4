"""What is a public name of the version before called now?

The old name does what the new one does, and a warning tells the new one. An entry goes with the
version after the one that it came in.
"""

from __future__ import annotations

import sys
from collections.abc import Mapping
from importlib import import_module
from importlib.machinery import ModuleSpec
from types import ModuleType
from typing import Any
from warnings import warn

__all__ = ["ATTRIBUTES", "MODULES", "OPTIONS", "RenamedWarning", "current_attribute",
           "current_options", "file_first", "moved"]  # fmt: skip

ATTRIBUTES = {  # by class or module; a name with parentheses is a method that was a property
    "Model": {"start": "stepper"}, "Component": {"settled": "structure"},
    "Result": {"t": "time", "explore": "report", "to_pandas": "table"},
    "Series": {"unit": "units"},
    "EnergyBalance": {"turned_over": "throughput", "held": "peak_stored"},
    "LinearModel": {"dc_gain": "dcgain()"}, "blocks.results": {"Ledger": "EnergyBalance"},
}
OPTIONS = {  # by function
    "simulate": {"start": "start_time", "start_from": "initial"},
    "stepper": {"start": "start_time"},
    "sweep": {"start": "start_time"},
    "operating_point": {"wishes": "targets"},
    "fit": {"starts": "guesses"},
    "Parameter": {"settles": "structure"},
}


MODULES = {
    "blocks.harmonics": "blocks.analysis.describing",
    **{f"blocks.harmonics.{old}": f"blocks.analysis.describing.{new}" for old, new in {
        "describing": "elements", "prediction": "prediction", "sine_sweep": "sine_sweep"}.items()},
    **{f"blocks.analysis.{old}": f"blocks.analysis.{new}" for old, new in {
        "operating_point": "equilibrium.operating_point", "stuck_range": "equilibrium.stuck_range",
        "linear_model": "linear.linear_model", "linearise": "linear.linearise",
        "pictures": "linear.pictures", "optimisation": "design.optimisation",
        "pareto": "design.optimisation",
        "uncertainty": "design.uncertainty", "sensitivities": "sensitivity.sensitivities",
    }.items()},
    "blocks.results.ledger": "blocks.results",
    **{f"library.frictionlaws.{name}": f"library.friction_studies.{name}"
       for name in ("audit", "identification", "motion")},
}


class RenamedWarning(FutureWarning):
    """A public name that has another one now; the old one will go."""


def current_attribute(thing: object, name: str, level: int = 4) -> Any:
    """Return what an old attribute is now, with a warning; an AttributeError is for a name that
    none of the object's classes ever had."""
    for kind in (thing,) if isinstance(thing, ModuleType) else type(thing).__mro__:
        new = ATTRIBUTES.get(kind.__name__, {}).get(name)
        if new is not None:
            _tell(f"{kind.__name__}.{name}", f"{kind.__name__}.{new}", level)
            found = getattr(thing, new.removesuffix("()"))
            return found() if new.endswith("()") else found
    raise AttributeError(f"{type(thing).__name__!r} object has no attribute {name!r}", name=name,
                         obj=thing)


def current_options(function: str, given: Mapping[str, Any]) -> dict[str, Any]:
    """Return options by their present names, with a warning for each old one."""
    old = OPTIONS.get(function, {})
    for name in old.keys() & given.keys():
        if old[name] in given:
            raise TypeError(f"{function}() was given {name}= and {old[name]}=, which are one: "
                            f"leave out {name}=, the old name.")
        _tell(f"{function}({name}=…)", f"{function}({old[name]}=…)")
    return {old.get(name, name): value for name, value in given.items()}


def file_first(result: Mapping[str, Any], paths: tuple[Any, ...], save: Any
               ) -> tuple[tuple[Any, ...], Any]:
    """Return paths and file of ``report``, which took its file first."""
    first = paths[0] if paths and save is None else ""
    if first is None or str(first).lower().endswith((".html", ".htm")) and first not in result:
        _tell("report(file, …)", "report(…, save=file)", 5)
        return paths[1:], first
    return paths, save


def moved(module: str, name: str, there: str) -> Any:
    """Return what a module no longer has from where it is now, with a warning."""
    _tell(f"{module}.{name}", f"{there}.{name}")
    return getattr(import_module(there), name)


class _Moved:  # ``importlib.abc``, which has bases for it, loads thirty modules
    """Imports a module by its old name, where nothing else is found by it."""

    def find_spec(self, name: str, path: Any = None, target: Any = None) -> ModuleSpec | None:
        loader: Any = self
        return ModuleSpec(name, loader) if name in MODULES else None

    def create_module(self, spec: ModuleSpec) -> ModuleType:
        _tell(spec.name, MODULES[spec.name], 3)
        self.own = import_module(MODULES[spec.name]).__spec__
        return sys.modules[MODULES[spec.name]]

    def exec_module(self, module: ModuleType) -> None:
        module.__spec__ = self.own


sys.meta_path.insert(0, _Moved())  # before those that look into a moved package


def _tell(old: str, new: str, level: int = 4) -> None:
    warn(f"{old} is called {new} now. The old name goes with the next version.", RenamedWarning,
         stacklevel=level)
