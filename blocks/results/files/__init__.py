"""What is said of a file that cannot be read or written?

The libraries that read and write files fail in their own words, or in the
system's. Here they become a :class:`FileError` that names the file and the reason.
"""

from __future__ import annotations

import contextlib
import os
import shutil
from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from ...exceptions import BlocksError, FileError, WrongCall, brief

__all__ = ["known_ending", "name_of", "reading", "whole", "writing", "writing_on"]


@contextlib.contextmanager
def reading(file: Any, kind: str, advice: str = "It is damaged, or a file of another kind."
            ) -> Iterator[None]:
    """Read a file of a kind ("a CSV file"), or say why not."""
    try:
        yield
    except BlocksError:
        raise
    except Exception as error:  # of whatever kind: the file may hold anything
        name = name_of(file)
        if _is_path(file) and not os.path.exists(file):
            raise FileError(name, f"there is no such file{_folder(file)}.",
                            "Check the name and the folder.", file=name,
                            code="file.missing") from error  # fmt: skip
        raise FileError(name, f"cannot be read as {kind} ({_reason(error)}).", advice, file=name,
                        code="file.unreadable") from error


def known_ending(file: Any, what: str, *endings: str) -> str:
    """The ending of a name, refused where it is none of what is read or written."""
    if not isinstance(file, (str, os.PathLike)):
        raise WrongCall(brief(file), "is no name, and this takes the name of a file.",
                        f"Write for example 'run{endings[0]}'.")
    ending = Path(file).suffix.lower()
    if ending not in endings:
        told = f"the ending {brief(ending)}" if ending else "no ending"
        raise FileError(name_of(file), f"has {told}, but {what} ends with {' or '.join(endings)}.",
                        f"Name it {brief(Path(str(file)).stem + endings[0])}.", file=name_of(file),
                        code="file.ending")
    return ending


@contextlib.contextmanager
def writing(file: Any, what: str = "", *endings: str) -> Iterator[Any]:
    """Where to write a file, as by :func:`whole`, or to say why not."""
    named = isinstance(file, (str, os.PathLike))
    if os.path.isdir(file) if named else not hasattr(file, "write"):
        what = "a folder" if named else "no name"
        raise FileError(name_of(file), f"cannot be written: it is {what}.",
                        "Give the name of a file.", file=name_of(file), code="file.unwritable")
    if what and named:
        known_ending(file, what, *endings)
    with writing_on(file), whole(file) if _is_path(file) else contextlib.nullcontext(file) as place:
        yield place


@contextlib.contextmanager
def whole(file: str | os.PathLike[str]) -> Iterator[Path]:
    """Where to write a file that replaces the one of this name once it is whole.

    Until then, and where that fails, what was there stays as it was.
    """
    target = Path(os.path.realpath(file))  # a link stays one
    device = target.exists() and not target.is_file()
    if device or not os.access(target.parent, os.W_OK):  # nothing can stand beside it
        yield target
        return
    with TemporaryDirectory(dir=target.parent, prefix=".", ignore_cleanup_errors=True) as beside:
        draft = Path(beside, target.name)
        yield draft
        if target.is_file():
            shutil.copymode(target, draft)
        os.replace(draft, target)


@contextlib.contextmanager
def writing_on(file: Any) -> Iterator[None]:
    """Go on writing a file, or say why not."""
    try:
        yield
    except BlocksError:
        raise
    except Exception as error:
        name = name_of(file)
        missing = _folder(file) if _is_path(file) else ""
        raise FileError(
            name, f"cannot be written{missing}." if missing
            else f"cannot be written ({_reason(error)}).",
            "Make the folder first, or name another." if missing
            else "Give a name whose ending is a known format." if isinstance(error, ValueError)
            else "Give a name in a folder that can be written.", file=name, code="file.unwritable",
        ) from error  # fmt: skip


def _is_path(file: Any) -> bool:
    return isinstance(file, (str, os.PathLike)) and "://" not in str(file) and "\0" not in str(file)


def name_of(file: Any) -> str:
    """A file as messages call it."""
    text = str(file) if isinstance(file, (str, os.PathLike)) else brief(file)
    return text if len(text) < 300 else f"{text[:280]}…"


def _folder(file: Any) -> str:
    folder = Path(file).parent
    return f": there is no folder {brief(str(folder), 200)}" if not os.path.isdir(folder) else ""


def _reason(error: Exception) -> str:
    """The first line of what a library says."""
    said = getattr(error, "strerror", None) or str(error) or type(error).__name__
    line = str(said).strip().splitlines()[0].rstrip(".")
    return line if len(line) < 160 else f"{line[:150]}…"
