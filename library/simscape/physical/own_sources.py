"""Which components of a model have a source beside it, and what are their classes?

A source ``+my_library/+parts/piston.ssc`` is the component ``my_library.parts.piston``. It becomes
a module beside the model's text, and its class the counterpart of the component.
"""

from __future__ import annotations

import sys
from collections.abc import Iterable, Mapping
from pathlib import Path
from types import ModuleType
from typing import Any

from blocks import BlocksError, Component

from ..file.diagram import Diagram
from ..matlab.python_text import python_name
from ..matlab.values import value_of
from ..ssc.text import source_class
from .mapping import add_counterpart, counterpart_of, forget_counterpart, why_none, word_of

__all__ = ["loaded_class", "use_sources"]


def use_sources(diagram: Diagram, folders: Iterable[Path], names: Mapping[str, Any],
                remarks: list[str]) -> dict[str, str]:
    """Register the classes of sources that the components of a diagram have.

    Returns the texts of their modules, by name. Packages of sources are looked for in ``folders``
    before the model's own; numbers of parts or ports may follow from ``names``, the values of the
    workspace. To ``remarks`` is added what cannot be read, with its line and reason.
    """
    made: dict[str, str] = {}
    places = [*folders, diagram.path.parent, diagram.path.parent.parent]
    for kind in dict.fromkeys(b.kind for b in diagram.root.walk() if b.is_component):
        known, module = counterpart_of(kind), python_name(kind.replace(".", "_"))
        if "/" in kind or why_none(kind, {}) or known is not None and known.module != module:
            continue  # a counterpart that is said goes first
        forget_counterpart(kind)
        *packages, name = kind.split(".")
        inside = Path(*(f"+{package}" for package in packages), f"{name}.ssc")
        source = next((p / inside for p in places if packages and (p / inside).is_file()), None)
        if source is None:
            continue
        try:
            made |= _converted(kind, source, diagram, names, remarks)
        except BlocksError as error:
            remarks.append(f"{kind} has a source beside the model that is not read: {error}")
    return made


def _converted(kind: str, source: Path, diagram: Diagram, names: Mapping[str, Any],
               remarks: list[str]) -> dict[str, str]:
    """The modules of a source, one for each number of parts or ports that its blocks ask for."""
    made, known = dict[str, str](), dict[tuple[str, ...], type[Component]]()
    for block in (b for b in diagram.root.walk() if b.kind == kind):
        numbers = {word: f"{value:.15g}" for word, said in block.values.items()
                   if isinstance(value := value_of(said.text, names), float)}
        written = source_class(source, numbers, others=True)
        asked = tuple(numbers.get(name, "") for name in written.held)
        if asked in known:
            continue
        module = "_".join([python_name(kind.replace(".", "_")), *(asked if known else ())])
        found = loaded_class(module, written.text, kind.rpartition(".")[2])
        if found is None:
            return {}
        found()  # refuses what it cannot be made of
        form = " ".join([kind, *(f"{name}={word_of(block.values[name])}" for name in written.held
                                 if name in block.values and known)])
        add_counterpart(form, found)
        known[asked], made[module] = found, written.text
        remarks += [f"{kind}: {remark}" for remark in written.remarks]
    return made


def loaded_class(name: str, text: str, component: str) -> type[Component] | None:
    """The class of a component in a module of this text; None of a domain."""
    module: Any = ModuleType(name)
    exec(compile(text, f"{name}.py", "exec"), module.__dict__)
    sys.modules[name] = module
    wanted = component.replace("_", "").lower()
    return next((value for key, value in vars(module).items() if isinstance(value, type)
                 and issubclass(value, Component) and value.__module__ == name
                 and key.replace("_", "").lower() == wanted), None)
