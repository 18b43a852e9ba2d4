"""How does object code come into memory without LLVM?

Importing LLVM and making it ready takes 20 ms, and code that has been compiled before needs nothing
of it: its sections are copied into memory, and the addresses of what they refer to are written into
them. Code that may refer to any place in memory, as it is compiled here, does so in one way only on
x86-64. Object code in any other form is left to LLVM, as everything is on systems other than Linux.

References: Tool Interface Standard, Executable and Linking Format 1.2 (1995); System V
Application Binary Interface, AMD64 Architecture Processor Supplement 1.0 (2018), section 4.4.
"""

from __future__ import annotations

import ctypes
import mmap
import platform
import sys
from collections.abc import Mapping
from functools import cache

import numpy as np
from numpy.typing import DTypeLike

__all__ = ["placed", "processor"]

HEADER = b"\x7fELF\x02\x01\x01".ljust(16, b"\0") + bytes([1, 0, 62, 0])  # relocatable, x86-64
TABLE_AT, SECTIONS = slice(40, 48), slice(60, 62)  # where the file says where its sections are
PROGRAM, SYMBOLS, RELOCATIONS, HOW_TO_UNWIND = 1, 2, 4, 0x70000001  # types of sections
WRITABLE, IN_MEMORY = 1, 2  # flags of sections
UNDEFINED, SPECIAL = 0, 0xFF00  # sections of symbols: none, and from where on it is no section
WHOLE_ADDRESS = 1  # type of a relocation: eight bytes
ALIGNED = 64  # what constants of the widest vectors ask for

SECTION = np.dtype([("name", "<u4"), ("type", "<u4"), ("flags", "<u8"), ("address", "<u8"),
                    ("offset", "<i8"), ("size", "<i8"), ("link", "<u4"), ("info", "<u4"),
                    ("aligned", "<u8"), ("entry", "<u8")])  # fmt: skip
SYMBOL = np.dtype([("name", "<u4"), ("info", "u1"), ("other", "u1"), ("section", "<u2"),
                   ("value", "<i8"), ("size", "<u8")])  # fmt: skip
RELOCATION = np.dtype([("offset", "<i8"), ("type", "<u4"), ("symbol", "<u4"), ("addend", "<i8")])


class _NeedsLLVM(Exception):
    """What only LLVM can bring into memory."""


@cache
def processor() -> str:
    """Make, model and instructions of the processor, as Linux tells them; empty elsewhere.

    Code may be kept in a folder that machines share, and runs where all of this is the same:
    a virtual machine may hide some of the instructions that its processor has.
    """
    if not _is_linux_x86_64():
        return ""
    try:
        with open("/proc/cpuinfo", encoding="utf-8") as file:
            lines = file.read(8192).split("\n")
        of_first = [line.partition(":") for line in lines[: lines.index("")]]
        told = {key.strip(): value.strip() for key, _, value in of_first}
        return ", ".join(told[key] for key in ("vendor_id", "cpu family", "model", "flags"))
    except (OSError, ValueError, KeyError):
        return ""


def placed(object_code: bytes, name: str, addresses: Mapping[str, int]) -> int:
    """The address of a function in object code, which stays in memory; 0 if it is left to LLVM.

    ``addresses`` are those of what the code may refer to beside the functions of C.
    """
    if not _is_linux_x86_64() or not object_code.startswith(HEADER):
        return 0
    try:
        return _placed(object_code, name, addresses)
    except _NeedsLLVM:
        return 0


@cache
def _is_linux_x86_64() -> bool:
    return sys.platform == "linux" and platform.machine() == "x86_64" and sys.maxsize > 2**32


def _placed(object_code: bytes, name: str, addresses: Mapping[str, int]) -> int:
    file = _ObjectFile(object_code)
    sections = file.sections
    used = (sections["flags"] & IN_MEMORY != 0) & (sections["type"] != HOW_TO_UNWIND)
    if (sections["type"][used] != PROGRAM).any() or (sections["flags"][used] & WRITABLE).any() \
            or (sections["aligned"][used] > ALIGNED).any():
        raise _NeedsLLVM
    room = np.where(used, -(-sections["size"] // ALIGNED) * ALIGNED, 0)
    starts, size = np.cumsum(room) - room, int(room.sum())
    origin = _new_memory(size)
    memory = np.frombuffer(memoryview((ctypes.c_ubyte * size).from_address(origin)), np.uint8)
    for section, start in zip(sections[used], starts[used], strict=True):
        memory[start : start + section["size"]] = file.content(section, np.uint8)
    names, values = file.symbols(origin + starts, addresses)
    for section in sections[sections["type"] == RELOCATIONS]:
        if used[section["info"]]:
            relocations = file.content(section, RELOCATION)
            if (relocations["type"] != WHOLE_ADDRESS).any():
                raise _NeedsLLVM
            written = values[relocations["symbol"]] + relocations["addend"]
            places = starts[section["info"]] + relocations["offset"]
            memory[places[:, None] + np.arange(8)] = written.view(np.uint8).reshape(-1, 8)
    if _c().mprotect(origin, size, mmap.PROT_READ | mmap.PROT_EXEC) != 0:
        raise _NeedsLLVM  # some systems forbid it
    return int(values[names.index(name)])


class _ObjectFile:
    """The tables of an object file."""

    def __init__(self, object_code: bytes) -> None:
        self._bytes = object_code
        start, number = (int.from_bytes(object_code[k], "little") for k in (TABLE_AT, SECTIONS))
        self.sections = np.frombuffer(object_code, SECTION, number, start)

    def content(self, section: np.void, entries: DTypeLike) -> np.ndarray:
        """What stands in a section."""
        entry = np.dtype(entries)
        return np.frombuffer(self._bytes, entry, section["size"] // entry.itemsize,
                             section["offset"])

    def symbols(self, starts: np.ndarray, addresses: Mapping[str, int],
                ) -> tuple[list[str], np.ndarray]:
        """Names and addresses of all symbols, with sections that start at some address each."""
        (table,) = self.sections[self.sections["type"] == SYMBOLS]
        symbols = self.content(table, SYMBOL)
        texts = self.content(self.sections[table["link"]], np.uint8).tobytes()
        names = [texts[k : texts.index(b"\0", k)].decode() for k in symbols["name"]]
        inside = (symbols["section"] != UNDEFINED) & (symbols["section"] < SPECIAL)
        values = symbols["value"].copy()
        values[inside] += starts[symbols["section"][inside]]
        for k in np.flatnonzero(symbols["section"] == UNDEFINED)[1:]:  # the first is no symbol
            values[k] = addresses.get(names[k]) or _address_in_c(names[k])
        return names, values


@cache
def _c() -> ctypes.CDLL:
    """The functions of C in this process."""
    library = ctypes.CDLL(None)
    pointer, size, number = ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int
    library.mmap.restype = pointer
    library.mmap.argtypes = pointer, size, number, number, number, ctypes.c_long
    library.mprotect.argtypes = pointer, size, number
    return library


def _address_in_c(name: str) -> int:
    try:
        return ctypes.cast(getattr(_c(), name), ctypes.c_void_p).value or 0
    except AttributeError:
        raise _NeedsLLVM from None


def _new_memory(size: int) -> int:
    """The address of so many bytes, which stay there until the process ends."""
    address = _c().mmap(None, size, mmap.PROT_READ | mmap.PROT_WRITE,
                        mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS, -1, 0)
    if address in (None, ctypes.c_void_p(-1).value):
        raise _NeedsLLVM
    return int(address)

