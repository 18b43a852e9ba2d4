"""What does machine code need in memory, wherever it runs?

Functions that are bound to their arguments read these from tables of numbers and addresses, and
what stands there may hold further addresses. An image is all of that memory as one piece, with a
list of the words in it that are addresses: of other places in it, or of code. Copied to another
place, and these words set right, it is a second instance.
"""

from __future__ import annotations

import ctypes
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from math import prod

import numpy as np

from ..machine.compiling import names_of_code
from ..machine.functions import BoundCall
from ..machine.signatures import Kind, Record, address_of
from ..numerics.arrays import Array, Flags, Indices

__all__ = ["Prepared", "Image"]

WORD = 8  # bytes
ALIGNED = 8  # words to which a piece of memory is aligned
SIZES = {"double": 8, "i64": 8, "i8": 1}
HIGH = 1 << 32  # whole numbers beyond it, among what machine code is given, are addresses


class Prepared:
    """A function that is bound to its arguments, and where these stand in its table."""

    def __init__(self, call: BoundCall) -> None:
        self.call = call
        #: Fields by name, with their kind and their place in the table.
        self.fields: dict[str, tuple[Kind, int]] = {}
        for name, kind in call.function.parameters:
            inner = ([(f"{name}.{f}", k) for f, k in kind.fields]
                     if isinstance(kind, Record) else [(name, kind)])
            self.fields |= {one: (k, self.call.place[one]) for one, k in inner}
        for name, (kind, place) in self.fields.items():
            if kind.dimensions and not prod(self.shape(name)):
                self.call.table[place] = 0  # where nothing is, nobody looks

    def shorten(self, name: str, rows: int) -> None:
        """Let an array, if it is one of the arguments, have no more than so many rows."""
        if name not in self.fields:
            return
        place = self.fields[name][1]
        self.call.table[place + 1] = min(self.call.table[place + 1], rows)

    def shape(self, name: str) -> tuple[int, ...]:
        kind, place = self.fields[name]
        return tuple(self.call.table[place + 1 : place + 1 + kind.dimensions].tolist())

    def address(self, name: str) -> int:
        return int(self.call.table[self.fields[name][1]])

    def segments(self) -> list[tuple[int, int]]:
        """Addresses and bytes of all arrays, the table among them."""
        found = [(address_of(a), a.nbytes) for a in (self.call.table, self.call.results)]
        for name, (kind, _) in self.fields.items():
            if kind.dimensions:
                size = SIZES[kind.stored] * prod(self.shape(name))
                found.append((self.address(name), size))
        return found


@dataclass(frozen=True)
class _Segment:
    """A segment of memory in this process, and where it comes to stand in the image, in bytes."""

    address: int
    end: int
    at: int


class Image:
    """The memory of some bound functions.

    Functions find ``arrays`` by addresses of their own; names in ``empty`` are of what is only
    filled, and starts with zeros.
    """

    def __init__(self, bound: Mapping[str, Prepared], arrays: Sequence[Array],
                 empty: Sequence[str] = ()) -> None:
        self.bound, self._arrays = bound, arrays  # these stay where they are
        segments = [segment for one in bound.values() for segment in one.segments()]
        segments += [(address_of(a), max(a.nbytes, 1)) for a in arrays]  # one is pointed to anyway
        blank = {one.address(name) for one in bound.values() for name in empty
                 if name in one.fields}
        self._segments: list[_Segment] = []
        words, place = [], 0
        for start, end in _apart(segments):
            self._segments.append(_Segment(start, end, place * WORD))
            count = -(-(end - start) // WORD)
            content = np.zeros(count + -count % ALIGNED, dtype=np.uint64)
            if start not in blank:
                content.view(np.uint8)[: end - start] = np.frombuffer(
                    ctypes.string_at(start, end - start), dtype=np.uint8)
            words.append(content)
            place += len(content)
        self._words = np.concatenate(words)
        self.size = len(self._words)
        self._addresses = np.array([p.address for p in self._segments], dtype=np.uint64)

    def place_of(self, address: int) -> int | None:
        """Where an address of this process stands in the image, in bytes; None outside."""
        k = int(self._addresses.searchsorted(np.uint64(address), side="right")) - 1
        if k < 0 or address > self._segments[k].end:
            return None
        return self._segments[k].at + address - self._segments[k].address

    def place_of_array(self, array: Array | Indices) -> int:
        """Where an array stands in the image, in bytes; 0 for one without entries."""
        place = self.place_of(address_of(array)) if array.size else 0
        assert place is not None
        return place

    def place(self, function: str, name: str = "") -> int:
        """Where what a function is given stands: a number itself, an array's first entry.

        Without a name, its table.
        """
        bound = self.bound[function]
        at = address_of(bound.call.table)
        if name:
            kind, entry = bound.fields[name]
            at = bound.address(name) if kind.dimensions else at + WORD * entry
        place = self.place_of(at)
        return 0 if place is None else place

    def entry(self, function: str, name: str) -> int:
        """Where the table of a function tells an argument: a number, or an array's address."""
        at = self.place_of_array(self.bound[function].call.table)
        return at + WORD * self.bound[function].fields[name][1]

    def results(self, function: str) -> int:
        """Where a function leaves the whole numbers that it returns."""
        return self.place_of_array(self.bound[function].call.results)

    @cached_property
    def code(self) -> dict[str, int]:
        """Names of the functions that are called, with a number each."""
        known = names_of_code()
        names = [known[one.call.address] for one in self.bound.values()]
        names += [known[int(self._words[k])] for k in np.flatnonzero(self._is_code)]
        return {name: k for k, name in enumerate(dict.fromkeys(n.lstrip("@") for n in names))}

    @property
    def _is_code(self) -> Flags:
        return np.isin(self._words, np.fromiter(names_of_code(), dtype=np.uint64))

    @cached_property
    def addresses_of_code(self) -> Indices:
        """(words, 2) which words are addresses of code, and of which."""
        known = names_of_code()
        return np.array([(k, self.code[known[int(self._words[k])].lstrip("@")])
                         for k in np.flatnonzero(self._is_code)], dtype=np.int64).reshape(-1, 2)

    @cached_property
    def addresses(self) -> Indices:
        """(words, 2) which words are addresses of other places, and the bytes before these.

        A word is one if it reads as an address of what is here: as a number it would be so small
        that no model has it, 1e-310.
        """
        likely = np.flatnonzero((self._words >= self._addresses[0])
                                & (self._words <= np.uint64(self._segments[-1].end)))
        found = [(int(k), at) for k in likely
                 if (at := self.place_of(int(self._words[k]))) is not None]
        return np.array(found, dtype=np.int64).reshape(-1, 2)

    @property
    def lost(self) -> list[str]:
        """Names of addresses that are neither in the image nor of code."""
        known = names_of_code()
        return [name for one in self.bound.values() for name, (kind, place) in one.fields.items()
                if kind.scalar == "i64" and not kind.dimensions
                and abs(at := int(one.call.table[place])) >= HIGH
                and at not in known and self.place_of(at) is None]

    @cached_property
    def words(self) -> np.ndarray:
        """The content, without addresses."""
        content = self._words.copy()
        for table in (self.addresses, self.addresses_of_code):
            content[table[:, 0]] = 0
        return content


def _apart(segments: Sequence[tuple[int, int]]) -> list[tuple[int, int]]:
    """Beginnings and ends of what pieces of memory cover, those that overlap as one."""
    found: list[tuple[int, int]] = []
    for start, size in sorted(set(segments)):
        if not size:
            continue
        if found and start < found[-1][1]:
            found[-1] = found[-1][0], max(found[-1][1], start + size)
        else:
            found.append((start, start + size))
    return found
