"""How is a model kept as text, and made again from it?

JSON that a person reads and version control compares: components by module and name of their
class, values with units, one line for each connection. There is no code in it. What reads it
imports the modules that it names, which have to be installed, and makes their components: open
files of those whose modules you would import yourself.
"""

from __future__ import annotations

import inspect
import json
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from importlib import import_module
from pathlib import Path
from types import FunctionType
from typing import Any, NoReturn

import numpy as np

from ..exceptions import BlocksError, FileError, brief, did_you_mean
from ..numerics.arrays import Indices
from ..results.files import known_ending, name_of, reading, writing
from ..results.parameters import versions
from ..units import Unit, describe, is_quantity, quantity, unit
from .assignment import is_same
from .component import Component
from .declarations import Parameter, Port, Signal, Target, Variable
from .references import PortRef
from .replaceable import Replacement

__all__ = ["load_model", "save_model"]

FORMAT, VERSION = "blocks model", 1


# -- writing -------------------------------------------------------------------------------------
def save_model(model: Any, file: str | Path) -> None:
    """Write a model; see ``Model.save``."""
    nominal = [f"{_text(value / unit.factor)} {unit.text}"
               for value, unit in model._nominal_table.values()]
    facts = {"format": FORMAT, "version": VERSION,
             "written by": f"blocks-toolkit {versions().get('blocks-toolkit', '')}".strip(),
             "name": model.name, **({"nominal values": nominal} if nominal else {}),
             "parts": {name: _part(child) for name, child in model._children.items()},
             "connections": [", ".join(map(_port_text, refs)) for refs in model._connections]}
    text = json.dumps(facts, indent=2, ensure_ascii=False)
    known_ending(file, "a file that keeps a model", ".json")
    with writing(file) as place:
        place.write_text(f"{text}\n", encoding="utf-8")


def _part(component: Component) -> dict[str, Any]:
    """A part of the model, with all that was given to it."""
    told: dict[str, Any] = {"class": _name_of(type(component), component.path)}
    if component._count is not None:
        told["count"] = component._count
    told |= _given(component)
    if component.is_composite:
        inside = dict(_changed_inside(component))
        if inside:
            told["inside"] = inside
    return told


def _given(component: Component, but: Component | None = None) -> dict[str, Any]:
    """Values and initial targets of a component, where they are not those of another one."""
    values = {
        name: _value(component, name, value) for name, value in component._values.items()
        if but is None or name not in but._values or not is_same(but._values[name], value)
    }
    starts = {}
    for name in dict.fromkeys([*component._targets, *component._nominals]):
        tables = [(c._targets.get(name), c._nominals.get(name)) for c in (component, but) if c]
        if len(tables) < 2 or not all(map(is_same, *tables)):
            starts[name] = _start(component, name)
    return {word: told for word, told in (("values", values), ("start", starts)) if told}


def _value(component: Component, name: str, value: Any) -> Any:
    """A parameter or option as text."""
    declared = component._declared[name]
    if isinstance(value, type) and issubclass(value, Replacement):
        return {"class": _name_of(value, f"{component.path}.{name}")}
    if isinstance(value, FunctionType):
        return {"function": _name_of(value, f"{component.path}.{name}")}
    if callable(value):
        return _made_of(value, f"{component.path}.{name}")
    if isinstance(declared, Parameter):
        return exact(value, declared.unit)
    if hasattr(value, "dimensionality"):
        return f"{value:~C}"
    if isinstance(value, tuple):
        return {"tuple": list(value)}
    if not isinstance(value, (str, int, float, bool, list, type(None))):
        _refuse_value(f"{component.path}.{name}", f"is {brief(value)}")
    return value


def _made_of(thing: Any, where: str) -> dict[str, Any]:
    """An object by its class and the arguments that it was made with, kept under their names."""
    told: dict[str, Any] = {}
    for name in inspect.signature(type(thing)).parameters:
        value = getattr(thing, name, thing)
        if is_quantity(value):
            told[name] = {"values": np.asarray(value.magnitude).tolist(),
                          "unit": f"{value.units:~C}"}
        elif isinstance(value, (str, int, float, bool, type(None))):
            told[name] = value
        else:
            _refuse_value(where, f"is {brief(thing)}")
    return {"object": _name_of(type(thing), where), "arguments": told}


def _start(component: Component, name: str) -> Any:
    declared = component._declared[name]
    assert isinstance(declared, Variable)
    value, priority = component._targets.get(name, (None, "high"))
    told: dict[str, Any] = {}
    if value is not None:
        told["value"] = exact(value, component._written_in.get(name, declared.unit))
    if priority != "high":
        told["priority"] = priority
    if name in component._nominals:
        told["nominal"] = exact(component._nominals[name], declared.unit.as_difference)
    return told["value"] if list(told) == ["value"] else told


def _changed_inside(composite: Component) -> Iterator[tuple[str, dict[str, Any]]]:
    """What was given to parts of a composite after it was built."""
    built, mine = composite._rebuilt()._parts(), composite._parts()
    changed = [path for path in {**built, **mine} if path not in built or path not in mine
               or type(built[path]) is not type(mine[path])]  # fmt: skip
    wired = [path for path, part in mine.items() if path not in changed and part.is_composite
             and len(part._connections) != len(built[path]._connections)]  # fmt: skip
    for path in [*changed, *wired]:
        _refuse_value(f"{composite.path}.{path}", f"is not as {type(composite).__name__} builds it",
                      "Make a class of the changed composite, or build it of its parts in the "
                      "model.")  # fmt: skip
    for path, part in mine.items():
        told = _given(part, built[path])
        if told:
            yield path, told


def _name_of(thing: Any, where: str) -> str:
    """Module and name of a class or function, by which it can be imported."""
    module, name = thing.__module__, thing.__qualname__
    if "<" in name:
        _refuse_value(where, "is a function without a name" if "<lambda>" in name else
                      f"is {name.rpartition('.')[2]}, which is made within a function",
                      "Define it at the top of a module and give it by name.")
    if module == "__main__":
        _refuse_value(where, f"is {name} of the program that is running, which nothing else can "
                      "import", "Put it into a module of its own and import it from there.")
    parent = module
    while "." in parent:  # the package that offers it rather than the file it stands in
        parent = parent.rpartition(".")[0]
        if getattr(sys.modules.get(parent), name, None) is thing:
            module = parent
            break
    return f"{module}:{name}"


def _refuse_value(where: str, problem: str, advice: str = "") -> NoReturn:
    raise FileError(where, f"{problem}, and cannot be written as text.",
                    advice or "Keep the model with Python's pickle instead.", code="file.text")


def _port_text(ref: PortRef) -> str:
    """``"masses[0:9].M"``: a port, with the instances that are meant."""
    if ref.index is None:
        return ref.path
    numbers = [int(k) for k in ref.index]
    steps = set(np.diff(numbers).tolist())
    if len(numbers) > 2 and len(steps) == 1 and (step := steps.pop()) > 0:
        chosen = f"{numbers[0]}:{numbers[-1] + 1}" + (f":{step}" if step > 1 else "")
    else:
        chosen = " ".join(map(str, numbers))
    return f"{ref.component.path}[{chosen}].{ref.port.name}"


# -- reading -------------------------------------------------------------------------------------
def load_model(file: str | Path, model_class: Any) -> Any:
    """The model in a file that ``Model.save`` has written.

    Raises
    ------
    FileError
        For a file that is missing, damaged, of another kind, of a newer version, or that names
        what is not installed.
    """
    name = name_of(file)
    with reading(file, "a saved model"):
        facts = json.loads(Path(file).read_text(encoding="utf-8"))
        if not isinstance(facts, dict) or facts.get("format") != FORMAT:
            raise FileError(name, "is no saved model.", "Models are written by model.save(…).",
                            file=name, code="file.other")
        if facts["version"] > VERSION:
            raise FileError(
                name, f"was written by a newer version (format {facts['version']}, "
                f"{facts.get('written by', 'unknown')}); this one reads formats up to {VERSION}.",
                "Update it: pip install -U blocks-toolkit.", file=name, code="file.newer")
        return _Reader(name).model(facts, model_class)


class _Reader:
    """Makes a model of what a file says, and names the place of what it cannot make."""

    def __init__(self, file: str) -> None:
        self.file = file

    def model(self, facts: Mapping[str, Any], model_class: Any) -> Any:
        model = model_class(self._of(facts, "name", "the model"))
        for name, told in self._of(facts, "parts", "the model").items():
            with self._at(f"parts.{name}"):
                model.add(name, self._made(name, told))
        for path, told, part in self._inside(model, facts["parts"]):
            with self._at(path):
                for name, value in self._given(told, path).items():
                    setattr(part, name, value)
        for line in self._of(facts, "connections", "the model"):
            with self._at(f"the connection {line!r}"):
                model.connect(*(self._port(model, text.strip()) for text in line.split(",")))
        if "nominal values" in facts:
            model._set_nominal_values(facts["nominal values"])
        return model

    def _inside(self, model: Any, parts: Mapping[str, Any]) -> Iterator[tuple[str, Any, Any]]:
        for name, told in parts.items():
            known = model._children[name]._parts()
            for path, given in told.get("inside", {}).items():
                if path not in known:
                    self._refuse(f"parts.{name}.inside", f"there is no part {path!r} in it",
                                 did_you_mean(path, known, "parts"))
                yield f"parts.{name}.inside.{path}", given, known[path]

    def _made(self, name: str, told: Mapping[str, Any]) -> Component:
        """A part with its values and initial targets."""
        where = f"parts.{name}"
        kind = self._imported(self._of(told, "class", where), where)
        if not (isinstance(kind, type) and issubclass(kind, Component)):
            self._refuse(where, f"{told['class']!r} is no component")
        return kind(count=told.get("count"), **self._given(told, where))

    def _given(self, told: Mapping[str, Any], where: str) -> dict[str, Any]:
        """Values and initial targets of a part."""
        values: dict[str, Any] = {}
        for name, value in told.get("values", {}).items():
            if isinstance(value, dict) and "tuple" in value:
                values[name] = tuple(value["tuple"])
            elif isinstance(value, dict) and "object" in value:
                kind = self._imported(value["object"], f"{where}.values.{name}")
                values[name] = kind(**{k: read_value(v) for k, v in value["arguments"].items()})
            elif isinstance(value, dict) and (found := value.get("class", value.get("function"))):
                values[name] = self._imported(found, f"{where}.values.{name}")
            else:
                values[name] = read_value(value)
        for name, value in told.get("start", {}).items():
            parts = value if isinstance(value, dict) and "values" not in value else {"value": value}
            values[name] = Target(**{k: v if k == "priority" else read_value(v)
                                     for k, v in parts.items()})
        return values

    def _imported(self, text: str, where: str) -> Any:
        """What a file names as ``module:name``."""
        module, _, name = str(text).partition(":")
        try:
            found: Any = import_module(module)
        except (ImportError, ValueError) as error:
            self._refuse(where, f"it is {text!r}, but there is no module {module!r} here ({error})",
                         "Install it, or run where it can be imported.")
        for part in name.split("."):
            try:
                found = getattr(found, part)
            except (AttributeError, ImportError):  # a package may say it in its own words
                self._refuse(where, f"it is {text!r}, but {module} has no {name!r}",
                             did_you_mean(name, dir(found), "names"))
        return found

    def _port(self, model: Any, text: str) -> PortRef:
        owner, _, name = text.rpartition(".")
        path, bracket, chosen = owner.partition("[")
        component: Component = model[path] if path else model
        declared = component._declared.get(name)
        if not isinstance(declared, (Port, Signal)):
            ports = [n for n, d in component._declared.items() if isinstance(d, (Port, Signal))]
            self._refuse(text, f"{type(component).__name__} has no port {name!r}",
                         did_you_mean(name, ports, "ports"))
        ref = PortRef(component, declared)
        return ref[_instances(chosen.rstrip("]"))] if bracket else ref

    @contextmanager
    def _at(self, where: str) -> Iterator[None]:
        """Say of what is refused inside where in the file it stands."""
        try:
            yield
        except FileError:
            raise
        except BlocksError as error:
            self._refuse(where, str(error))

    def _of(self, told: Mapping[str, Any], key: str, where: str) -> Any:
        if not isinstance(told, dict) or key not in told:
            self._refuse(where, f"there is no {key!r}")
        return told[key]

    def _refuse(self, where: str, problem: str, advice: str = "") -> NoReturn:
        raise FileError(self.file, f"{where}: {problem.rstrip('.')}.", advice, file=self.file,
                        code="file.content")  # fmt: skip


def _instances(chosen: str) -> slice | Indices:
    """Which instances ``"0:9"``, ``"0:9:2"`` or ``"0 3 5"`` are."""
    if ":" in chosen:
        return slice(*map(int, chosen.split(":")))
    return np.array([int(k) for k in chosen.split()])


def exact(value: Any, shown: Unit) -> Any:
    """A number as text with its unit; of several a list and a unit.

    In the given unit where a decimal number of it gives back the same binary one, else in SI.
    """
    flat = np.ravel(np.asarray(value, dtype=float)).tolist()
    for u in (shown, _coherent(shown)):
        numbers = [None if u is None else _number(v, u) for v in flat]
        if None not in numbers:
            break
    else:
        u, numbers = shown, [(v - shown.offset) / shown.factor for v in flat]
    assert u is not None
    if np.ndim(value) == 0:
        number = numbers[0]
        assert number is not None
        return f"{_text(number)} {u.text}" if u.text else number
    found = np.array(numbers, dtype=float).reshape(np.shape(value)).tolist()
    return {"values": found, "unit": u.text} if u.text else {"values": found}


def read_value(told: Any) -> Any:
    """The quantity of what :func:`exact` has written; anything else as it is."""
    if isinstance(told, dict) and "values" in told:
        return quantity(np.array(told["values"], dtype=float), told.get("unit", ""))
    return told


def _number(si: float, u: Unit) -> float | None:
    """The shortest number of a unit that means a value in SI exactly; None where there is none."""
    about = (si - u.offset) / u.factor
    nearby = [float(f"{about:.{digits}g}") for digits in (12, 15, 16, 17)]
    for number in (*nearby, np.nextafter(about, np.inf), np.nextafter(about, -np.inf)):
        if number * u.factor + u.offset == si:
            return float(number)
    return None


def _coherent(u: Unit) -> Unit | None:
    """The unit of SI of the same dimension."""
    if u.angular or u.frequency or not u.text:
        return None
    found = unit(describe(u.dimension))
    return found if found.factor == 1 and found.offset == 0 else None


def _text(number: float) -> str:
    return str(int(number)) if number.is_integer() and abs(number) < 1e15 else repr(number)
