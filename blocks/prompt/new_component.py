"""The files of a new component: its class with a model to try it in, and its test.

Written as the guide recommends; they run as they are.
"""

from __future__ import annotations

import json
import keyword
import re
from pathlib import Path
from typing import Any

from ..exceptions import FileError, NamingError
from ..results.files import writing

__all__ = ["DOMAINS", "write_component"]

#: By domain: what stands for the words of the templates, which are files beside this one, too.
DOMAINS: dict[str, dict[str, Any]] = json.loads(
    Path(__file__).with_suffix(".json").read_text(encoding="utf-8"))


def write_component(name: str, domain: str, folder: str) -> list[Path]:
    """Write the class and its test; refused are a name that is none of a class, and files that
    exist."""
    if not re.fullmatch(r"[A-Za-z][A-Za-z0-9_]*", name) or keyword.iskeyword(name):
        raise NamingError(name, "cannot be the name of a class.",
                          "Take letters and digits, such as AirDrag.", name=name)
    name = "".join(part[0].upper() + part[1:] for part in name.split("_") if part)
    words = re.sub(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])", " ", name).lower()
    file, values = words.replace(" ", "_"), DOMAINS[domain]
    told = {**values, "name": name, "domain": domain, "words": words, "file": file,
            "joined": "\n".join(f"    model.connect({ports})" for ports in values["joins"])}
    templates = {Path(folder, f"{file}.py"): "new_component.txt",
                 Path(folder, f"test_{file}.py"): "new_component_test.txt"}
    for path in templates:
        if path.exists():
            raise FileError(str(path), "is there already.",
                            "Take another name or folder, or move it away.")
    for path, template in templates.items():
        text = Path(__file__).with_name(template).read_text(encoding="utf-8")
        with writing(path) as place:
            place.write_text(text.format(**told), encoding="utf-8")
    return list(templates)
