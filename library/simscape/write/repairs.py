"""Where does what a person changes live, so that converting again keeps it?

In a module of its own beside the text, ``model_repairs.py``: written once, imported by every text
that is converted after. It may register counterparts, give values and replace parts.
"""

from __future__ import annotations

import importlib.util
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from blocks import FileError

from ..tables import filled

__all__ = ["read_repairs", "repairs_of", "write_repairs"]


def repairs_of(output: Path) -> Path:
    """The module of repairs that belongs to a text."""
    return output.with_name(f"{output.stem}_repairs.py")


def write_repairs(output: Path) -> bool:
    """Write an empty module of repairs, where there is none; whether it was written."""
    path = repairs_of(output)
    if path.exists():
        return False
    path.write_text(filled("repairs.txt", name=output.stem), encoding="utf-8")
    return True


def read_repairs(output: Path) -> Mapping[str, Any]:
    """Import the module of repairs, which registers counterparts; the values that it gives.

    Raises
    ------
    FileError
        For a module that cannot be imported, or whose values are no mapping.
    """
    path = repairs_of(output)
    if not path.is_file():
        return {}
    spec = importlib.util.spec_from_file_location(path.stem, path)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module  # what the text imports by this name
    try:
        spec.loader.exec_module(module)
    except Exception as error:  # whatever a person's module may raise
        raise FileError(str(path), f"this module cannot be imported: {type(error).__name__}: "
                        f"{error}.", "Correct it, or rename it and convert again.",
                        code="simscape.repairs") from error
    values = getattr(module, "VALUES", {})
    if not isinstance(values, Mapping):
        raise FileError(str(path), f"VALUES is {values!r:.60}.",
                        'Give a mapping of names to texts: VALUES = {"m": "2*3"}.',
                        code="simscape.repairs")
    return values
