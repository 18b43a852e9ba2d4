"""Models of Simscape as readable Python: read, converted and written, offline.

``convert("model.slx")`` gives a :class:`Converted` with the Python text of the model and an
account of what became of every block; ``source_text("part.ssc")`` gives the Python class of a
component source. ``python -m library.simscape model.slx`` writes either to a file.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from blocks.exceptions import FileError, ParameterError, told_how_to_call

from .convert import Conversion
from .file.diagram import read_diagram
from .physical.mapping import add_counterpart
from .ssc.text import source_text
from .write.plan import Entry, Script
from .write.text import python_text

__all__ = ["Converted", "add_counterpart", "convert", "source_text"]


@dataclass(frozen=True)
class Converted:
    """A converted model.

    Attributes
    ----------
    text : str
        The Python module.
    script : Script
        What it was written from; ``script.entries`` says what became of every block.
    modules : mapping of str to str
        Texts of further modules that it imports, by name: component sources beside the model.
    """

    text: str
    script: Script
    modules: Mapping[str, str] = field(default_factory=dict)

    @property
    def entries(self) -> list[Entry]:
        return self.script.entries


@told_how_to_call
def convert(path: str | Path, *, values: Mapping[str, object] | None = None,
            folders: Iterable[str | Path] = (), scripts: Iterable[str | Path] = ()) -> Converted:
    """Convert a Simscape model to Python.

    Parameters
    ----------
    path : path
        An ``.slx`` file, or an ``.mdl`` file of R2022a or later.
    values : mapping of str to str or number, optional
        Values for names of the workspace, in MATLAB's notation: ``{"m": "2*3", "k": 4}``.
    folders : iterable of paths, optional
        Where scripts, data and other models are looked for, beside the model's own folder.
    scripts : iterable of paths, optional
        Scripts of MATLAB's that give values; those that the model calls need not be named.

    Raises
    ------
    FileError
        For a file that cannot be read, naming the part; and for names that have no value,
        naming all of them.
    """
    if any(isinstance(one, (str, Path)) for one in (values, folders, scripts)):
        raise ParameterError("convert()", "takes values as a mapping, folders and scripts in "
                             "lists.", "Write values={'m': 2}, scripts=['data.m'].")
    diagram = read_diagram(path)
    if diagram.form == "Library":
        raise FileError(str(path), "it is a library, not a model.",
                        "Convert a model that uses it.", code="simscape.library")
    conversion = Conversion(diagram, [Path(f) for f in folders], _texts(values),
                            [Path(s) for s in scripts])
    missing = conversion.texts.missing
    if missing:
        places = "; ".join(f"{name} in {sorted(set(where))[0]}" for name, where in
                           sorted(missing.items()))
        said = " ".join(f"--set {name}=…" for name in sorted(missing))
        beside = conversion.workspace.scripts_beside(missing)
        if beside:
            said = f"{' '.join(f'--script {name}' for name in beside)}, or {said}"
        absent = " ".join(conversion.workspace.notes)
        advice = f"{absent} Give its folder by --path, or the values: {said}" if absent else \
            f"Give them: {said}"
        raise FileError(str(path), f"these names have no value: {places}.", advice,
                        names=sorted(missing), code="simscape.names")
    used = conversion.workspace.consulted | conversion.conditions.keys()
    conversion.script.remarks += [f"{name} was given a value, but nothing in this text uses it."
                                  for name in values or () if name.partition(".")[0] not in used]
    return Converted(python_text(conversion.script), conversion.script, conversion.modules)


def _texts(values: Mapping[str, object] | None) -> dict[str, str]:
    """Values as texts of MATLAB's: numbers may be given as numbers."""
    found = {}
    for name, value in (values or {}).items():
        if not isinstance(value, (str, int, float)):
            raise ParameterError(f"values[{name!r}]", f"it is {value!r}.",
                                 "Give a number, or a text in MATLAB's notation: '[1 2 3]'.")
        found[name] = value if isinstance(value, str) else repr(float(value))
    return found
