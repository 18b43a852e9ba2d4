"""Pages of the public names that are not components."""

from __future__ import annotations

import importlib
import inspect
from collections.abc import Iterator

__all__ = ["api_pages", "public_names"]

#: Heading, what the page is about, and the modules whose public names it shows.
PAGES = {
    "models": ("Models, runs and values", "What is imported for nearly every model.",
               ["blocks.model", "blocks.results.comparison", "blocks.units"]),
    "components": ("Declaring components", "What a component class is made of.",
                   ["blocks.language.component", "blocks.language.branch",
                    "blocks.language.declarations", "blocks.language.domain",
                    "blocks.language.replaceable", "blocks.reading.foreign_words"]),
    "equations": ("Writing equations", "What `equations()` is written with.",
                  ["blocks.language.expression", "blocks.language.calculus",
                   "blocks.language.interpolation", "blocks.language.python_calls",
                   "blocks.language.statements"]),
    "errors": ("Errors and warnings", "What each code means is told by [messages](../messages.md).",
               ["blocks.exceptions", "blocks.initialisation.initial_values",
                "blocks.results.recording", "blocks.simulation.lasting_conditions"]),
}  # fmt: skip
#: What calls of a model give back.
RETURNED = {
    "results": ("Results", "What `model.simulate()` gives, and what is got from it.",
                ["blocks.results"]),
    "findings": ("Findings", "What `model.check()` gives; every code is on the page "
                 "[messages](../messages.md).", ["blocks.diagnostics"]),
    "analyses": ("Analyses", "What `model.operating_point()` and its like give, and describing "
                 "functions.", ["blocks.analysis", "blocks.analysis.describing"]),
    "estimation": ("Estimation and design", "See [estimation](../estimation.md).",
                   ["blocks.analysis.sensitivity.sensitivities", "blocks.analysis.estimation",
                    "blocks.analysis.design.optimisation", "blocks.analysis.design.uncertainty"]),
    "studies": ("Studies", "See [parameter studies](../sweeps.md).", ["blocks.studies"]),
    "shapes": ("Shapes and symbols", "How a component looks.", ["blocks.shapes"]),
    "friction_laws": ("Friction laws", "Laws by class; which one to take: "
                      "[friction laws](../friction_laws.md).", ["library.frictionlaws",
                                                       "library.friction_studies"]),
    "for_components": ("Shared by components", "For components of your own: heat that leaves, "
                       "friction, contact, tables, measured data.",
                       ["library.heat", "library.friction", "library.contact", "library.tables",
                        "library.measurements"]),
    "simscape": ("Simscape files", "Reading model files: [coming from Simscape]"
                 "(../coming_from_simscape.md).", ["library.simscape"]),
    "fmus": ("FMUs", "Models of other tools as components: [handing on a model]"
             "(../handing_on_a_model.md).", ["library.fmu"]),
}  # fmt: skip


def public_names() -> dict[str, list[tuple[str, str]]]:
    """Names of every page, each with the module that it is imported from."""
    import blocks

    pages: dict[str, list[tuple[str, str]]] = {page: [] for page in (*PAGES, *RETURNED)}
    for name in blocks.__all__:
        home = getattr(blocks, name).__module__ if name != "time" else "blocks.language.expression"
        page = next((p for p, (_, _, modules) in PAGES.items() if home in modules), "models")
        pages[page].append(("blocks", name))
    shown: dict[int, tuple[str, tuple[str, str]]] = {}  # on the last page that names it
    for page, (_, _, modules) in RETURNED.items():
        for module in map(importlib.import_module, modules):
            for name in module.__all__:
                if name not in blocks.__all__ or page == "studies":
                    shown[id(getattr(module, name))] = page, (module.__name__, name)
    for page, entry in shown.values():
        pages[page].append(entry)
    return pages


def _entry(module: str, name: str) -> str:
    value = getattr(importlib.import_module(module), name)
    if inspect.isclass(value):
        directive, options = "autoclass", "   :members:\n"
    elif callable(value) and hasattr(value, "__doc__") and hasattr(value, "__name__"):
        directive, options = "autofunction", ""
    else:
        return f"`{module}.{name}`: {type(value).__name__}"
    return f"```{{eval-rst}}\n.. {directive}:: {module}.{name}\n{options}```"


def api_pages() -> Iterator[tuple[str, str]]:
    """Name and text of every page."""
    heads = {page: (title, about) for page, (title, about, _) in {**PAGES, **RETURNED}.items()}
    for page, names in public_names().items():
        title, about = heads[page]
        yield page, "\n\n".join([f"# {title}", about, *(_entry(m, n) for m, n in names)]) + "\n"
