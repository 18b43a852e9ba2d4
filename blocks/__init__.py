"""Acausal component modelling: wire components, check units, simulate.

The way through the house, one wing per step; each step's output is a plain
object that can be printed, tested and drawn alone::

    read        reading, units                           -> numbers in SI units
    describe    language                                 -> kernel (once per class)
    connect     assembly.network                         -> families and nodes
    flatten     assembly.flatten                         -> slots, classes, equations
    reduce      assembly.index_reduction, assembly.tape  -> explicit ODE or index-1 DAE
    compile     system                                   -> CasADi functions
    initialise  initialisation                           -> consistent start
    check       diagnostics                              -> findings
    solve       solvers, native, nonsmooth, simulation   -> episodes of a trajectory
    look        results                                  -> values with units

What a user needs is exported here; components live in the package ``library``
or in the user's own modules.
"""

import sys
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any

from .exceptions import (
    BlocksError,
    ConnectionRefused,
    EquationError,
    FileError,
    InitialisationError,
    Interrupted,
    ModelError,
    NamingError,
    ParameterError,
    SimulationError,
    StructureError,
    UnitError,
    UnknownName,
)
from .language.branch import Branch
from .language.calculus import partial, sample
from .language.component import Component
from .language.declarations import (
    Discrete,
    Input,
    Option,
    Output,
    Parameter,
    Port,
    Target,
    Variable,
    declarations,
)
from .language.domain import Domain
from .language.expression import (
    abs_,
    arccos,
    arcsin,
    arctan,
    arctan2,
    before,
    cos,
    cosh,
    delayed,
    der,
    exp,
    floor,
    held,
    log,
    maximum,
    minimum,
    mod,
    sign,
    sin,
    sinh,
    sqrt,
    tan,
    tanh,
    where,
)
from .language.expression import time as time  # not among what * imports: it would hide the module
from .language.interpolation import integral_of_table, interpolate, interpolate_grid
from .language.replaceable import Replaceable, Replacement
from .language.statements import (
    breakpoints,
    contact,
    dry_friction,
    every,
    ideal_diode,
    ideal_switch,
    initially,
    load_law,
    require,
    reset,
    set_valued,
    when,
)
from .model import Model, load
from .reading.foreign_words import foreign_words
from .results.recording import EnergyWarning, NominalWarning, RecordWarning
from .units import quantity

if TYPE_CHECKING:
    from .initialisation.initial_values import InitialWarning
    from .language.python_calls import call_python
    from .results.comparison import compare
    from .simulation.lasting_conditions import LastingWarning

__all__ = ["BlocksError", "Branch", "Component", "ConnectionRefused", "Discrete", "Domain",
           "EnergyWarning", "EquationError", "FileError", "InitialWarning", "InitialisationError",
           "Input", "Interrupted", "LastingWarning", "Model", "ModelError", "NamingError",
           "NominalWarning", "Option", "Output", "Parameter", "ParameterError", "Port",
           "RecordWarning", "Replaceable", "Replacement", "SimulationError", "StructureError",
           "Target", "UnitError", "UnknownName", "Variable", "abs_", "arccos", "arcsin", "arctan",
           "arctan2", "before", "breakpoints", "call_python", "compare", "contact", "cos", "cosh",
           "declarations", "delayed", "der", "dry_friction", "every", "exp", "floor",
           "foreign_words", "held", "ideal_diode", "ideal_switch", "initially", "integral_of_table",
           "interpolate", "interpolate_grid", "load", "load_law", "log", "maximum", "minimum",
           "mod", "partial", "quantity", "require", "reset", "sample", "set_valued", "sign", "sin",
           "sinh", "sqrt", "tan", "tanh", "when", "where"]

_LATER = {"InitialWarning": ".initialisation.initial_values", "compare": ".results.comparison",
          "LastingWarning": ".simulation.lasting_conditions",
          "call_python": ".language.python_calls"}  # fmt: skip


if not TYPE_CHECKING:  # which would take every name for one
    def __getattr__(name: str) -> Any:
        """Load a name when it is asked for; answer names that other tools use, and those of
        components, by saying what they are called here, or where they are.
        """
        if name in _LATER:
            return globals().setdefault(name, getattr(import_module(_LATER[name], __name__), name))
        from .exceptions import missing_in

        if name in ("Composite", "Subsystem", "System", "Block"):
            raise missing_in("blocks", name, "What is made of parts is a Component, too, that adds "
                             "and connects them in compose(): from blocks import Component.")
        submodule = any(Path(__path__[0], name + end).exists() for end in ("", ".py"))
        if not submodule and (advice := _elsewhere(name)):
            raise missing_in("blocks", name, advice)
        raise AttributeError(f"module 'blocks' has no attribute {name!r}", name=name)


def __dir__() -> list[str]:
    return sorted({*__all__, "time", *(n for n in globals() if f"{__name__}.{n}" in sys.modules)})


def _elsewhere(name: str) -> str:
    """Advice on what is an analysis, or a method of a model or of a result; or nothing."""
    from .analysis import HOMES
    from .reading.foreign_words import part_elsewhere
    from .results.result import Result

    known = {name: f"Write from blocks.analysis import {name}." for name in HOMES}
    known |= {method: f"It is a method: {kind.__name__.lower()}.{method}(…)."
              for kind in (Result, Model) for method in vars(kind) if not method.startswith("_")}
    known |= {kind: f"Write from blocks.results import {kind}." for kind in ("Result", "Series")}
    if name[:1].isupper():
        return known.get(name, "Components are in the packages of library: from "
                         "library.translational import Mass.")
    return known.get(name.replace("iz", "is"), part_elsewhere(name)[0])
