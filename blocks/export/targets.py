"""How does machine code become a shared library for a machine, this one or another?

Texts of LLVM are compiled for a target by llvmlite, which carries all of LLVM's back-ends; what
is written in C around them, and the linking, by the compiler in the package ``ziglang``, which
brings the headers and libraries of all targets, or by the compiler of this machine for itself.
"""

from __future__ import annotations

import importlib.util
import platform
import re
import shutil
import subprocess
import sys
from collections.abc import Iterable, Mapping
from contextlib import suppress
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

from ..exceptions import MissingPackage, ParameterError
from ..machine.compiling import emitted_for, table_named, text_of_code

__all__ = ["PLATFORMS", "Platform", "here", "library"]

SOURCES = Path(__file__).parent
REFERENCE = re.compile(r"@(f[0-9a-f]{32}|table[0-9a-f]{32}|lapack_\w+)")
#: What texts have of one processor alone: numbers below 1e-308 are not flushed to zero elsewhere.
OF_X86 = "@llvm.x86."
#: Calls of functions in Python. No run that is exported gets to them: memory may name code of
#: another model of this process, by what it held before.
OF_PYTHON = "call double @python"


class Platform(NamedTuple):
    """A kind of machine.

    Attributes
    ----------
    fmi2, fmi3 : its folder in an FMU
    triple : by LLVM's name
    zig : by that of ``zig cc``
    suffix : of a shared library
    """

    fmi2: str
    fmi3: str
    triple: str
    zig: str
    suffix: str


PLATFORMS = {one.fmi3: one for one in (
    Platform("linux64", "x86_64-linux", "x86_64-unknown-linux-gnu", "x86_64-linux-gnu.2.17",
             ".so"),
    Platform("aarch64-linux", "aarch64-linux", "aarch64-unknown-linux-gnu",
             "aarch64-linux-gnu.2.17", ".so"),
    Platform("win64", "x86_64-windows", "x86_64-pc-windows-gnu", "x86_64-windows-gnu", ".dll"),
    Platform("darwin64", "x86_64-darwin", "x86_64-apple-macosx11.0", "x86_64-macos", ".dylib"),
    Platform("aarch64-darwin", "aarch64-darwin", "arm64-apple-macosx11.0", "aarch64-macos",
             ".dylib"))}


def here() -> Platform:
    """The kind of this machine."""
    processor = {"amd64": "x86_64", "arm64": "aarch64"}.get(
        platform.machine().lower(), platform.machine().lower())
    return PLATFORMS[f"{processor}-{platform.system().lower()}"]


def library(target: Platform, code: Iterable[str], header: str, main: str,
            defined: Mapping[str, object], folder: Path) -> Path:
    """A shared library.

    Parameters
    ----------
    target : where it runs
    code : names of compiled functions, which others call in turn
    header : what a source in C includes as ``model.h``
    main : that source, one of this folder
    defined : macros
    folder : to work in
    """
    command = _compiler(target)
    (folder / "model.h").write_text(header, encoding="utf-8")
    objects = [folder / f"{name}.o" for name in _written(code, target, folder)]
    made = folder / f"model{target.suffix}"
    done = subprocess.run(
        [*command, "-shared", "-fPIC", "-O2", "-std=gnu11", "-fvisibility=hidden", "-w",
         f"-I{folder}", *(f"-D{name}={value}" for name, value in defined.items()),
         str(SOURCES / main), str(SOURCES / "lapack.c"), *(str(o) for o in objects),
         "-o", str(made), "-lm"],
        capture_output=True, text=True)
    if done.returncode:
        raise ParameterError("export_fmu()", f"could not be linked for {target.fmi3}: "
                             f"{done.stderr[-2000:]}", "Tell the authors of blocks.",
                             code="export.linker")
    return made


def _compiler(target: Platform) -> list[str]:
    """What compiles C and links for a target."""
    if importlib.util.find_spec("ziglang") is not None:
        return [sys.executable, "-m", "ziglang", "cc", "-target", target.zig,
                "-fno-sanitize=undefined"]
    own = shutil.which("cc") or shutil.which("gcc") or shutil.which("clang")
    if target == here() and own:
        return [own]
    raise MissingPackage(
        "", f"to export for {target.fmi3}, a compiler is needed that makes programs for it.",
        "Install it with: pip install 'blocks-toolkit[export]'", package="ziglang", extra="export")


def _written(code: Iterable[str], target: Platform, folder: Path) -> list[str]:
    """Write object code of some functions, and of those that they call; their names."""
    machine, names, open_ = _machine(target.triple), dict[str, None](), list(code)
    while open_:
        name = open_.pop()
        if name in names:
            continue
        names[name] = None
        if name.startswith("lapack_"):
            continue  # stands in C
        text = _table(name) if name.startswith("table") else text_of_code(name)
        if OF_PYTHON in text or OF_X86 in text and not target.triple.startswith("x86_64"):
            text = text[text.index("define") : text.index("{") + 1] + "\n  ret void\n}\n"
        open_ += REFERENCE.findall(text)
        text = re.sub(r"(?m)^define (\w+ @f)", r"define hidden \1", text)
        (folder / f"{name}.o").write_bytes(emitted_for(machine, text))
    return [name for name in names if not name.startswith("lapack_")]


def _table(name: str) -> str:
    """The text of a table of numbers, bit by bit."""
    entries = table_named(name)
    entries = entries.view(f"u{entries.itemsize}")
    kind = f"i{8 * entries.itemsize}"
    content = ", ".join(f"{kind} {n}" for n in entries.ravel().tolist())
    return f"@{name} = hidden constant [{entries.size} x {kind}] [{content}]\n"


@cache
def _machine(triple: str) -> Any:
    import llvmlite.binding as llvm

    for start in ("initialize_all_targets", "initialize_all_asmprinters"):
        with suppress(AttributeError, RuntimeError):  # newer versions start by themselves
            getattr(llvm, start)()
    return llvm.Target.from_triple(triple).create_target_machine(
        opt=2, reloc="pic", codemodel="default")
