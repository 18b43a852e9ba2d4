"""In which line of whose file is a mistake in a component class?"""

from __future__ import annotations

import linecache
import os
import sys
from traceback import walk_tb
from types import FrameType
from typing import Any, TypeVar

from ..exceptions import BlocksError

__all__ = ["Place", "line_now", "line_of_function", "line_of_generator", "line_where_raised",
           "tell_line", "told_line"]  # fmt: skip

#: Packages in which no author of a component writes equations.
OTHERS = {"blocks", "casadi", "numpy", "pint", "scipy", *sys.stdlib_module_names}

Place = tuple[str, int]  # file and line
_Error = TypeVar("_Error", bound=BlocksError)


def line_where_raised(error: BaseException) -> Place | None:
    """The last line of an author's own that was run before an error."""
    return next(((frame.f_code.co_filename, line) for frame, line in
                 reversed([*walk_tb(error.__traceback__)]) if _is_an_authors(frame)), None)


def _is_an_authors(frame: FrameType) -> bool:
    return str(frame.f_globals.get("__name__")).partition(".")[0] not in OTHERS


def line_now() -> Place | None:
    """The line of an author's own that is being run."""
    frame: FrameType | None = sys._getframe(1)
    while frame is not None and not _is_an_authors(frame):
        frame = frame.f_back
    return None if frame is None else (frame.f_code.co_filename, frame.f_lineno)


def line_of_generator(generator: Any) -> Place | None:
    """Where a generator stands: the statement that it has just yielded."""
    frame = getattr(generator, "gi_frame", None)
    return None if frame is None else (frame.f_code.co_filename, frame.f_lineno)


def line_of_function(function: Any) -> Place | None:
    """Where a function is written that is no part of the toolkit."""
    code = getattr(function, "__code__", None)
    inherited = str(getattr(function, "__module__", "")).partition(".")[0] in OTHERS
    return None if code is None or inherited else (code.co_filename, code.co_firstlineno)


def tell_line(error: _Error, place: Place | None) -> _Error:
    """Add file and line to an error, as ``error.file`` and ``error.line``, and to its advice."""
    if place and "line" not in error.data and (told := told_line(place)):
        error.data["file"], error.data["line"] = place
        error.advice += told
    return error


def told_line(place: Place | None) -> str:
    """``"model.py, line 7: yield self.f == …"`` on a line of its own; nothing if unknown."""
    text = linecache.getline(*place).strip() if place else ""
    if not place or not text:
        return ""  # typed where nothing can be read again
    file, line = place
    return f"\n{_shown(file)}, line {line}: {text}" if os.path.exists(file) else (
        f"\nLine {line}: {text}")


def _shown(file: str) -> str:
    """The path from here, where that is shorter."""
    try:
        near = os.path.relpath(file)
    except ValueError:  # another drive
        return file
    return min(near, file, key=len)
