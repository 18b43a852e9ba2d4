"""Which components of a model have a source beside it, and what are their classes?

A source ``+my_library/+parts/piston.ssc`` is the component ``my_library.parts.piston``. It becomes
a module beside the model's text, and its class the counterpart of the component.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Iterable
from pathlib import Path
from types import ModuleType
from typing import Any

from blocks import BlocksError, Component

from .diagram import Diagram
from .mapping import add_counterpart, counterpart_of, forget_counterpart, why_none
from .python_text import python_name
from .source_text import source_class

__all__ = ["loaded_class", "use_sources"]

_NUMBER = re.compile(r"\d+(\.0*)?")  # of parts or ports


def use_sources(diagram: Diagram, folders: Iterable[Path], remarks: list[str]) -> dict[str, str]:
    """Register the classes of sources that the components of a diagram have.

    Returns the texts of their modules, by name.

    Parameters
    ----------
    diagram : Diagram
    folders : iterable of paths
        Where packages of sources are looked for, before the model's own folder.
    remarks : list of str
        What cannot be read is added here, with its line and reason.
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
            numbers = {word: value.text for b in diagram.root.walk() if b.kind == kind
                       for word, value in b.values.items() if _NUMBER.fullmatch(value.text)}
            written = source_class(source, numbers, others=True)
            found = loaded_class(module, written.text, name)
            if found is None:
                continue
            found()  # refuses what it cannot be made of
            add_counterpart(kind, found)
        except BlocksError as error:
            remarks.append(f"{kind} has a source beside the model that is not read: {error}")
            continue
        made[module] = written.text
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
