"""Which parts does a model file hold, and what XML is in them?

Files come from anywhere: sizes and depth are bounded, entities are refused, nothing is
written to disk and nothing is run.
"""

from __future__ import annotations

import base64
import binascii
import zipfile
import zlib
from collections.abc import Iterator
from dataclasses import dataclass, field
from io import BytesIO
from pathlib import Path
from xml.etree.ElementTree import Element, TreeBuilder
from xml.parsers import expat

from blocks import FileError

__all__ = ["Package", "open_package", "text_of"]

LARGEST = 1 << 28  # bytes of all parts that are read
LARGEST_TEXT = 1 << 22  # bytes of a source that are read
MOST_PARTS = 50_000
DEEPEST = 300  # elements inside each other; a subsystem takes three

_TEXT_PACKAGE = b"# MathWorks OPC Text Package"


@dataclass
class Package:
    """The parts of a model file by name, without a leading slash."""

    path: Path
    parts: dict[str, bytes] = field(repr=False)

    def xml(self, name: str) -> Element:
        """The root element of a part.

        Raises
        ------
        FileError
            Naming the part, where it is missing, damaged, too deep or has entities.
        """
        if name not in self.parts:
            raise FileError(str(self.path), f"it has no part {name!r}.",
                            "The file may be damaged: save it again.", code="simscape.part")
        return _parsed(self.parts[name], self.path, name)

    def named(self, *names: str) -> Element | None:
        return next((self.xml(name) for name in names if name in self.parts), None)


def open_package(path: str | Path) -> Package:
    """Read the parts of an ``.slx`` or ``.mdl`` file.

    Raises
    ------
    FileError
        For a file that is missing, of another kind, locked by a password, damaged or too large.
    """
    path = Path(path)
    content = _content_of(path, "an .slx or .mdl file")
    if content.startswith(b"PK"):
        return Package(path, dict(_zipped(content, path)))
    if content.startswith(_TEXT_PACKAGE):
        return Package(path, dict(_written(content, path)))
    raise FileError(str(path), f"it is no Simulink model: {_kind(content)}.",
                    "Open it in Simulink and save it as .slx." if content.strip(b"\0") else
                    "Take another copy of it.", code="simscape.kind")


def _content_of(path: Path, kind: str, most: int = -1) -> bytes:
    """Return what a file of some kind holds; of one that is longer than ``most``, the beginning."""
    try:
        with path.open("rb") as opened:
            return opened.read(most)
    except OSError as error:
        raise FileError(str(path), f"it cannot be read: {error.strerror or error}.",
                        f"Give the path of {kind}.", code="simscape.file") from error


def text_of(path: Path, kind: str) -> str:
    """Return the text of a source or a script."""
    return _content_of(path, kind, LARGEST_TEXT).decode("utf-8", "replace")


def _kind(content: bytes) -> str:
    if not content.strip(b"\0"):
        return "it is empty" if not content else "all its bytes are zero"
    if content.lstrip()[:5] in (b"Model", b"Libra"):
        return "it is a model in the old text format"
    if content.startswith((b"\x89HDF", b"MATLAB")):
        return "it is a file of data (.mat)"
    return "it begins with neither a zip archive nor a text package"


def _zipped(content: bytes, path: Path) -> Iterator[tuple[str, bytes]]:
    try:
        with zipfile.ZipFile(BytesIO(content)) as archive:
            members = [m for m in archive.infolist() if not m.is_dir()]
            if len(members) > MOST_PARTS or sum(m.file_size for m in members) > LARGEST:
                raise _too_large(path)
            left = LARGEST
            for member in members:
                if member.flag_bits & 1:
                    raise FileError(str(path), f"its part {member.filename!r} is locked by a "
                                    "password.", "Save the model without protection.",
                                    code="simscape.locked")  # fmt: skip
                with archive.open(member) as opened:
                    data = opened.read(left + 1)  # a header may lie about sizes
                left -= len(data)
                if left < 0:
                    raise _too_large(path)
                yield member.filename.lstrip("/"), data
    except FileError:
        raise
    except (zipfile.BadZipFile, zlib.error, EOFError, NotImplementedError, OSError) as error:
        raise _damaged(str(path), f"its archive is damaged: {error}.") from error


def _damaged(where: str, what: str) -> FileError:
    return FileError(where, what, "Take another copy, or save the model again.",
                     code="simscape.damaged")


def _too_large(path: Path) -> FileError:
    return FileError(str(path), f"it holds more than {LARGEST >> 20} MB or {MOST_PARTS:,} parts.",
                     "A model of this size is not read.", code="simscape.size")


def _written(content: bytes, path: Path) -> Iterator[tuple[str, bytes]]:
    """The parts of a text package: what stands between the lines that begin a part."""
    if len(content) > LARGEST:
        raise _too_large(path)
    _, *pieces = content.replace(b"\r\n", b"\n").split(b"\n__MWOPC_PART_BEGIN__ ")
    for piece in pieces:
        head, _, body = piece.partition(b"\n")
        body = body.partition(b"\n__MWOPC_PACKAGE_END__")[0]
        words = head.decode("utf-8", "replace").split()
        if words[-1] == "BASE64":
            try:
                body = base64.b64decode(body)
            except (binascii.Error, ValueError):
                continue  # a picture or a binary array: nothing that is read here
        yield words[0].lstrip("/"), body


def _parsed(data: bytes, path: Path, part: str) -> Element:
    where = f"{path} ({part})"
    builder, depth = TreeBuilder(), 0
    parser = expat.ParserCreate()
    parser.buffer_text = True

    def refuse(*_: object) -> None:
        raise FileError(where, "it declares entities, which no model needs.",
                        "Do not open files of unknown origin.", code="simscape.entities")

    def begin(name: str, attributes: dict[str, str]) -> None:
        nonlocal depth
        depth += 1
        if depth > DEEPEST:
            raise FileError(where, f"its elements are more than {DEEPEST} deep.",
                            "A model of this depth is not read.", code="simscape.size")
        builder.start(name, attributes)

    def end(name: str) -> None:
        nonlocal depth
        depth -= 1
        builder.end(name)

    parser.StartDoctypeDeclHandler = refuse
    parser.StartElementHandler, parser.EndElementHandler = begin, end
    parser.CharacterDataHandler = builder.data
    try:
        parser.Parse(data.lstrip(), True)
    except expat.ExpatError as error:
        raise _damaged(where, f"its XML is damaged: {error}.") from error
    return builder.close()
