"""The files of a new component: its class with a model to try it in, and its test.

Written as the guide recommends; they run as they are.
"""

from __future__ import annotations

import keyword
import re
from pathlib import Path
from typing import Any

from ..exceptions import FileError, NamingError
from ..results.files import writing

__all__ = ["DOMAINS", "write_component"]

#: By domain: what stands for the words of the templates, which are text files beside this one.
DOMAINS: dict[str, dict[str, Any]] = {
    "translational": {
        "store": "Mass", "made": 'mass="1 kg", v="1 m/s"', "body": "mass", "ground": "Reference",
        "unit": "N*s/m", "through": "f", "across": "v", "one": "R", "other": "C",
        "joins": ["model.mass.M, model.part.R", "model.part.C, model.ground.V"],
        "begins": "1 m/s", "carries": "force"},
    "rotational": {
        "store": "Inertia", "made": 'inertia="1 kg*m^2", w="1 rad/s"', "body": "inertia",
        "ground": "RotationalReference", "unit": "N*m*s/rad", "through": "t", "across": "w",
        "one": "R", "other": "C",
        "joins": ["model.inertia.I, model.part.R", "model.part.C, model.ground.W"],
        "begins": "1 rad/s", "carries": "torque"},
    "electrical": {
        "store": "Capacitor", "made": 'capacitance="1 F", v="1 V"', "body": "store",
        "ground": "ElectricalReference", "unit": "S", "through": "i", "across": "v",
        "one": "p", "other": "n",
        "joins": ["model.store.p, model.part.p", "model.store.n, model.part.n, model.ground.V"],
        "begins": "1 V", "carries": "current"},
}  # fmt: skip


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
