"""How does machine code become a library for a machine, this one or another?

Texts of LLVM are compiled for a target by llvmlite, which carries all of LLVM's back-ends; what
is written in C around them, and the linking, by the compiler in the package ``ziglang``, which
brings the headers and libraries of all targets, or by the compiler of this machine for itself.
"""

from __future__ import annotations

import base64
import importlib.util
import platform
import re
import shutil
import subprocess
import sys
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from decimal import Decimal, localcontext
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from ..exceptions import ParameterError, need_package
from ..machine.compiling import emitted_for, table_named, text_of_code

__all__ = ["BROWSER", "OWN", "PLATFORMS", "TARGETS", "Contents", "Platform", "filled", "here",
           "library", "prototype", "static_library"]  # fmt: skip

OWN = "native"  # with all instructions of this machine's processor, as code that runs here
SOURCES = Path(__file__).parent
OPTIONS = "-O2", "-std=gnu11", "-fvisibility=hidden", "-ffp-contract=off", "-w"
REFERENCE = re.compile(r"@(f[0-9a-f]{32}|table[0-9a-f]{32})")
#: What texts have of one processor alone: numbers below 1e-308 are not flushed to zero elsewhere.
OF_X86 = "@llvm.x86."
#: Calls of functions in Python. No run that is exported gets to them: memory may name code of
#: another model of this process, by what it held before.
OF_PYTHON = "call double @python"
OF_LINKER = {"_GLOBAL_OFFSET_TABLE_"}  # what every linker makes
#: Of object code in ELF, for 32 and 64 bits: the first bytes, where the header tells of sections,
#: a section, and a symbol.
NAME = [("name", "<u4")]
PLACE = [("info", "<u2"), ("section", "<u2")]
ELF = {1: (32, 48, ", ".join(["<u4"] * 10), [*NAME, ("value", "<u4"), ("size", "<u4"), *PLACE]),
       2: (40, 60, "<u4, <u4, <u8, <u8, <u8, <u8, <u4, <u4, <u8, <u8",
           [*NAME, *PLACE, ("value", "<u8"), ("size", "<u8")])}
SYMBOLS, IN_MEMORY, IS_CODE = 2, 2, 4  # a type of section, and flags
BARE = "-DBARE", "-ffreestanding"
#: By suffixes. Windows has its own library of C. A browser has functions, of the names in a file.
LINKED = {".dll": ("-shared", "-nostdlib", "-lucrtbase", "-lcompiler_rt"),
          ".wasm": ("--no-entry", "--strip-all", "-z", "stack-size=1048576",
                    f"--allow-undefined-file={SOURCES / 'page_math.txt'}")}
#: Folders of musl that its sources of functions include from, and what they ask of its others.
OF_MUSL = ("src/math", "src/include", "src/internal", "arch/generic", "include",
           "../include/generic-musl")  # fmt: skip
ASKED = "-D_ATOMIC_H", "-Da_clz_64=__builtin_clzll", "-Dfabs=__builtin_fabs", "-D__FP_FAST_FMA"
#: S. Nagy's table of logarithms (Arm's Optimized Routines; MIT) has 1/c for a c about the middle
#: of each of 128 pieces of [11/16, 11/8), chosen such that log(c) is nearly a number: by so many
#: last digits beside it.
CHOSEN = (
    "EuCe/hZtkPyJVQjyHMSR+JSaIgH6O6b4Cdsg4jbUaRTmYwTygC1sA1AunR6qSaTxTZYTBc5NtQEnUe4Q8RhrFJX86/s4"
    "QF7rGvmg+jySV+T0+wER5xPS4kAkaha0O9MCpcy/5oqhcfANlggUqp+3GkuPMAmIT7IaI9dgDtaX7eaWEvvydMc5+i40"
    "u/PqCw7q+sBt6yqtleGTIbccMDd6DPYmlxkxWewAGcZdGqZaGOeLsFwEqNO1Hpg6Rx4Lfv4E4KexE4wuCQlM64MWidzR"
    "C7+PzQysGmHrI546FQZs2AwYCUzy4kQm+DLm0wzZ/0/kFIop7CiL/hYuOSPoC21FDy8kgxwRRpsUvT+oB+cG9wypVlf2"
    "HEqXEdmP8PH9gd37GT6VBR58vO+mg3oFy8e6Aa1lbg/ACAIXEfmY8RWxEwT6GQcXYvBfGHm94AMYo8v45YVLC8CvEf63"
    "uwX9Qn8uCTi6XuvOndcIeRFe6BzqheaDg2IGB20m4hutpQwrfjsSfg5Q7HD/jPq0WWYARlhTEAVLbeEnUDDivYHxHKYN"
    "RO8gX14GpVHYAU53ou5B6aDnhy7mCLdSkvnu028NtqByGzANCeXH08DiUhtMHhHCZR1eoA4UQgFpH3I5veRChWLt9JM7"
    "6rWZ4uZa6pMVDFSGEjG0ruU37OD7SkB84J+d1Bk=")
TYPES = {"ptr": "void *", "double": "double", "i64": "long long", "i32": "int", "void": "void"}


class Platform(NamedTuple):
    """A kind of machine."""

    fmi2: str  # its folder in an FMU, as fmi3
    fmi3: str
    triple: str  # by LLVM's name
    zig: str  # by that of ``zig cc``
    suffix: str  # of a shared library; "" where there are none, and code stays where it is put
    # by LLVM's name; "" for what all of them have in common, ``OWN`` for this machine's
    processor: str = ""
    features: str = ""  # that any of its processors has, by LLVM's names


PLATFORMS = {one.fmi3: one for one in (
    Platform("linux64", "x86_64-linux", "x86_64-unknown-linux-gnu", "x86_64-linux-gnu.2.17",
             ".so"),
    Platform("aarch64-linux", "aarch64-linux", "aarch64-unknown-linux-gnu",
             "aarch64-linux-gnu.2.17", ".so"),
    Platform("win64", "x86_64-windows", "x86_64-pc-windows-gnu", "x86_64-windows-gnu", ".dll"),
    Platform("darwin64", "x86_64-darwin", "x86_64-apple-macosx11.0", "x86_64-macos", ".dylib"),
    Platform("aarch64-darwin", "aarch64-darwin", "arm64-apple-macosx11.0", "aarch64-macos",
             ".dylib"))}
#: By the names under which compilers know them.
TARGETS = {one.zig.removesuffix(".2.17"): one for one in PLATFORMS.values()} | {
    "thumbv7em-none-eabihf": Platform("", "", "thumbv7em-unknown-none-eabihf",
                                      "thumb-freestanding-eabihf", "", "cortex-m4", "+vfp4d16sp")}
BROWSER = Platform("", "browser", "wasm32-unknown-unknown", "wasm32-freestanding", ".wasm", "",
                   "+bulk-memory")


def filled(file: str, **words: str) -> str:
    """A text of this folder, with words in place of their names, ``{{NAME}}``."""
    text = (SOURCES / file).read_text(encoding="utf-8")
    return re.sub(r"\{\{(\w+)\}\}", lambda found: words[found[1]], text)


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
    if target is BROWSER:
        objects.append(_functions(command, folder))
    made, main_object = folder / f"model{target.suffix}", folder / "main.o"
    options = ["-mbulk-memory", *BARE] if target is BROWSER else ["-fPIC"]
    _run([*command, "-c", *options, *OPTIONS, f"-I{folder}",
          *(f"-D{name}={value}" for name, value in defined.items()), SOURCES / main,
          "-o", main_object], target)
    link = [*command[: command.index("cc")], "wasm-ld"] if target is BROWSER else command
    _run([*link, main_object, *objects, "-o", made,
          *LINKED.get(target.suffix, ("-shared", "-lm"))], target)
    return made


class Contents(NamedTuple):
    """What object code consists of."""

    code: int  # bytes, as constants
    constants: int
    missing: list[str]  # names of what it calls and does not bring


def static_library(target: Platform, code: Iterable[str], main: str, folder: Path, made: Path
                   ) -> Contents | None:
    """Write a static library; what is in it, where that can be told.

    As :func:`library`; the headers are in ``folder``, and ``made`` is the file.
    """
    command = _compiler(target)
    options = [*OPTIONS, *(["-fPIC"] if target.suffix else []), *BARE,
               "-fno-strict-aliasing", "-fno-stack-protector", f"-I{folder}"]
    objects = [folder / main.replace(".c", ".o")]
    _run([*command, "-c", *options, SOURCES / main, "-o", objects[0]], target)
    # only now, as LLVM ends the process where it does not know a processor
    objects += [folder / f"{name}.o" for name in _written(code, target, folder)]
    made.unlink(missing_ok=True)  # else its old members stay
    zig = command[: command.index("cc")] if "ziglang" in command else []
    _run([*zig, "ar", "rcs", made, *objects], target)
    return _contents([file.read_bytes() for file in objects])


def _contents(objects: Iterable[bytes]) -> Contents | None:
    """What is in object code; None where it is not in ELF."""
    code = constants = 0
    missing, known = set[str](), set[str]()
    for content in objects:
        if content[:4] != b"\x7fELF":
            return None
        at, count_at, section, symbol = ELF[content[4]]
        start = int.from_bytes(content[at : at + content[4] * 4], "little")
        count = int.from_bytes(content[count_at : count_at + 2], "little")
        sections = np.frombuffer(content, section, count, start)
        for _, kind, flags, _, offset, size, link, *_ in sections.tolist():
            if flags & IN_MEMORY:
                code, constants = ((code + size, constants) if flags & IS_CODE
                                   else (code, constants + size))
            if kind == SYMBOLS:
                names = int(sections[link][4])
                every = np.frombuffer(content, symbol, size // np.dtype(symbol).itemsize, offset)
                for one in every[1:]:
                    begin = names + int(one["name"])
                    name = content[begin : content.index(b"\0", begin)].decode()
                    (known if one["section"] else missing).add(name)
    return Contents(code, constants, sorted(missing - known - OF_LINKER))


def _run(command: Iterable[object], target: Platform) -> None:
    """Run a compiler, which succeeds where nothing is wrong here."""
    done = subprocess.run(list(map(str, command)), capture_output=True, text=True)
    if done.returncode:
        raise ParameterError("export", f"could not be compiled for {target.triple}: "
                             f"{done.stderr[-2000:]}", "Where nothing of that was given, tell the "
                             "authors of blocks.", code="export.linker")


def _functions(command: Sequence[str], folder: Path) -> Path:
    """Object code of functions for a browser.

    The compiler finds what is to be fused, and takes it apart where instructions for that are
    wanting: between the two it is made calls.
    """
    spec: Any = importlib.util.find_spec("ziglang")
    musl = Path(spec.origin).parent / "lib" / "libc" / "musl"
    text, made = folder / "functions.ll", folder / "functions.o"
    _run([*command, *OPTIONS, "-ffp-contract=on", "-g0", *ASKED, f"-DLOGARITHMS={_logarithms()}",
          *(f"-I{musl / one}" for one in OF_MUSL), "-S", "-emit-llvm",
          SOURCES / "page_functions.c", "-o", text], BROWSER)
    text.write_text(text.read_text().replace("call double @llvm.fmuladd.f64", "call double @fma"))
    _run([*command, "-O2", "-w", "-c", text, "-o", made], BROWSER)
    return made


def _logarithms() -> str:
    """1/c and log(c), piece by piece."""
    ends = ((0x3FE6 << 48) + (np.arange(129) << 45)).view(float)
    middles = (2 / (ends[:-1] + ends[1:])).view(np.int64)
    inverse = (middles + np.frombuffer(base64.b64decode(CHOSEN), "<i4")).view(float).tolist()
    with localcontext(prec=40):
        return ",".join(f"{one.hex()},{float(-Decimal(one).ln()).hex()}" for one in inverse)


def _compiler(target: Platform) -> list[str]:
    """What compiles C and links for a target; it knows its processors by their names."""
    name = target.processor if target.processor != OWN else ""
    if importlib.util.find_spec("ziglang") is not None:
        options = [f"-mcpu={name.replace('-', '_')}{target.features}"] if name else []
        return [sys.executable, "-m", "ziglang", "cc", "-target", target.zig, *options,
                "-fno-sanitize=undefined"]
    own = shutil.which("cc") or shutil.which("gcc") or shutil.which("clang")
    if target.triple == here().triple and own:
        option = "-march" if target.triple.startswith("x86_64") else "-mcpu"
        return [own, *([f"{option}={name}"] if name else [])]
    raise need_package("ziglang", f"Exporting for {target.triple}, without a compiler for it,",
                       "export")


def _written(code: Iterable[str], target: Platform, folder: Path) -> list[str]:
    """Write object code of some functions, and of those that they call; their names."""
    machine, names, open_ = _machine(target), dict[str, None](), list(code)
    while open_:
        name = open_.pop()
        if name in names:
            continue
        names[name] = None
        text = _table(name) if name.startswith("table") else text_of_code(name)
        if OF_PYTHON in text or OF_X86 in text and not target.triple.startswith("x86_64"):
            text = text[text.index("define") : text.index("{") + 1] + "\n  ret void\n}\n"
        open_ += REFERENCE.findall(text)
        text = re.sub(r"(?m)^define (\w+ @f)", r"define hidden \1", text)
        (folder / f"{name}.o").write_bytes(emitted_for(machine, text, " ".join(target[-3:])))
    return list(names)


def _table(name: str) -> str:
    """The text of a table of numbers, bit by bit."""
    entries = table_named(name)
    entries = entries.view(f"u{entries.itemsize}")
    kind = f"i{8 * entries.itemsize}"
    content = ", ".join(f"{kind} {n}" for n in entries.ravel().tolist())
    return f"@{name} = hidden constant [{entries.size} x {kind}] [{content}]\n"


@cache
def _machine(target: Platform) -> Any:
    import llvmlite.binding as llvm

    for start in ("initialize_all_targets", "initialize_all_asmprinters"):
        with suppress(AttributeError, RuntimeError):  # newer versions start by themselves
            getattr(llvm, start)()
    own = target.processor == OWN
    return llvm.Target.from_triple(target.triple).create_target_machine(
        cpu=llvm.get_host_cpu_name() if own else target.processor,
        features=llvm.get_host_cpu_features().flatten() if own else target.features, opt=2,
        reloc="pic" if target.suffix and target is not BROWSER else "static", codemodel="default")


def prototype(name: str) -> str:
    """The declaration in C of a compiled function: WebAssembly calls functions by their types."""
    result, given = re.findall(rf"define (\w+) @{name}\(([^)]*)\)", text_of_code(name))[0]
    takes = [TYPES[one.split()[0]] for one in given.split(",") if one.strip()]
    return f"extern {TYPES[result]} {name}({', '.join(takes) or 'void'});"
