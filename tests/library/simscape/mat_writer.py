"""Writes MATLAB's arrays and objects as they stand in files and in binary parts of models.

An object is a reference into a hidden array of bytes, which is a stream of its own: see the table
that ``hidden`` writes.
"""

import struct
from dataclasses import dataclass, field

import numpy as np

HEADER = b"MATLAB 5.0 MAT-file".ljust(116) + bytes(8) + b"\x00\x01IM"
_STREAM = b"\x00\x01IM\x00\x00\x00\x00"


@dataclass
class Thing:
    """An object: its class, and its properties; of one saved by itself they are in ``any``."""

    kind: str
    properties: dict = field(default_factory=dict)
    saved: bool = False


def _element(kind, data):
    return struct.pack("<2I", kind, len(data)) + data + bytes(-len(data) % 8)


def _matrix(code, shape, name, *parts):
    shape = _element(5, struct.pack(f"<{len(shape)}i", *shape)) if shape else b""
    return _element(14, _element(6, struct.pack("<2I", code, 0)) + shape
                    + _element(1, name.encode()) + b"".join(parts))


def _opaque(kind, content, name=""):
    texts = b"".join(_element(1, text.encode()) for text in ("MCOS", kind))
    return _matrix(17, (), name, texts, content)


class Writer:
    """Writes one file or stream, whose objects stand in one table."""

    def __init__(self):
        self.names, self.classes, self.cells, self.objects = [], [], [], []

    def array(self, value, name=""):
        if isinstance(value, Thing):
            self.objects.append(None)  # its number is that of its turn
            number = len(self.objects)
            self.objects[number - 1] = self._described(value)
            return _opaque(value.kind, self._reference([number]), name)
        if isinstance(value, str):
            return _matrix(4, (1, len(value)), name, _element(16, value.encode()))
        if isinstance(value, dict):
            titles = b"".join(key.encode().ljust(32, b"\0") for key in value)
            return _matrix(2, (1, 1), name, struct.pack("<HHI", 5, 4, 32), _element(1, titles),
                           *(self.array(part) for part in value.values()))
        if isinstance(value, list):
            return _matrix(1, (1, len(value)), name, *map(self.array, value))
        value = np.atleast_2d(value)
        code, kind = {"u1": (9, 2), "u4": (13, 6)}.get(value.dtype.str[1:], (6, 9))
        value = value if code != 6 else value.astype("<f8")
        return _matrix(code, value.shape, name, _element(kind, value.tobytes(order="F")))

    def _reference(self, numbers):
        return self.array(np.array([[0xDD000000], [2], [1], [len(numbers)], *([n] for n in numbers),
                                    [1]], dtype="<u4"))

    def _known(self, among, what):
        if what not in among:
            among.append(what)
        return among.index(what) + 1

    def _described(self, thing):
        package, _, name = thing.kind.rpartition(".")
        kind = self._known(self.classes, (self._known(self.names, package) if package else 0,
                                          self._known(self.names, name)))
        rows = []
        for key, value in thing.properties.items():
            if isinstance(value, list) and value and isinstance(value[0], Thing):
                numbers = []
                for one in value:
                    self.array(one)
                    numbers.append(len(self.objects) - self._inner(one))
                held = self._reference(numbers)
            else:
                held = self.array(value)
            self.cells.append(held)
            rows.append((self._known(self.names, key), 1, len(self.cells) - 1))
        return kind, thing.saved, rows

    def _inner(self, thing):
        """How many objects were written after one, within it."""
        return sum(1 + self._inner(one) for value in thing.properties.values()
                   for one in (value if isinstance(value, list) else [value])
                   if isinstance(one, Thing))

    def hidden(self):
        """The array of bytes that all objects stand in."""
        texts = b"".join(name.encode() + b"\0" for name in self.names)
        texts += bytes(-len(texts) % 8)
        saved, plain, rows = [bytes(8)], [bytes(8)], [bytes(24)]
        for kind, by_itself, properties in self.objects:
            block = struct.pack(f"<{1 + 3 * len(properties)}I", len(properties),
                                *(number for row in properties for number in row))
            among = saved if by_itself else plain
            among.append(block + bytes(-len(block) % 8))
            place = (len(among) - 1, 0) if by_itself else (0, len(among) - 1)
            rows.append(struct.pack("<6I", kind, 0, 0, *place, 0))
        parts = [b"".join([bytes(16), *(struct.pack("<4I", *n, 0, 0) for n in self.classes)]),
                 b"".join(saved), b"".join(rows), b"".join(plain), bytes(8)]
        ends = np.cumsum([40 + len(texts), *map(len, parts)])
        table = struct.pack("<2I8I", 4, len(self.names), *ends, *([ends[-1]] * 2))
        table = table[:40] + texts + b"".join(parts)
        usual = [{} for _ in range(len(self.classes) + 1)]
        cells = [self.array(np.frombuffer(table, "u1")), self.array([]), *self.cells,
                 self.array(usual)]
        wrapper = _opaque("FileWrapper__", _matrix(1, (len(cells), 1), "", *cells))
        stream = _STREAM + _matrix(2, (1, 1), "", struct.pack("<HHI", 5, 4, 32),
                                   _element(1, b"MCOS".ljust(32, b"\0")), wrapper)
        return self.array(np.frombuffer(stream, "u1"))


def mat_file(**values):
    """The bytes of a ``.mat`` file."""
    writer = Writer()
    arrays = [writer.array(value, name) for name, value in values.items()]
    return HEADER + b"".join(arrays) + writer.hidden()


def part(value):
    """The bytes of a binary part of a model."""
    writer = Writer()
    return _STREAM + writer.array(value) + writer.hidden()
