"""How does machine code come to run?

Compiles LLVM text in this process with llvmlite, once for a text, and keeps what was compiled
in the user's cache folder, from where the next process takes it.
Nothing depends on that: where no folder can be written, or what is kept there is damaged, it is
compiled anew.
"""

from __future__ import annotations

import contextlib
import hashlib
import importlib.util
import itertools
import os
from collections.abc import Callable, Sequence
from functools import cache
from pathlib import Path
from threading import Lock
from typing import Any

import numpy as np

from ..exceptions import MissingPackage
from .operations import HEADER

__all__ = ["compiled", "compiled_from_source", "emitted", "emitted_for", "external",
           "folder",
           "is_installed", "name_of_code", "names_of_code", "table",
           "table_named", "text_of_code"]  # fmt: skip

#: Passes that make a text quick to emit, and loops that are a tenth slower than all passes do.
QUICK = ("always_inliner", "sroa", "instruction_combine", "simplify_cfg", "dead_arg_elimination",
         "new_gvn", "simplify_cfg")  # fmt: skip
LEAST = tuple(name for name in QUICK if name != "instruction_combine")  # ten seconds of the LONGEST
VERY_LONG = 6_000  # lines of a text that takes longer to compile well than it saves
LONGEST = 40_000  # lines of one that takes a second or more to emit for a little speed
OLDEST = (0, 45)  # version of llvmlite whose LLVM reads pointers without types
MOST_KEPT = 10_000  # objects on disk, some 70 MB; the ones not used for longest go first


@cache
def is_installed() -> bool:
    """Whether LLVM can be had on this machine."""
    return importlib.util.find_spec("llvmlite") is not None


def _new_target(effort: int) -> Any:
    import llvmlite.binding as llvm

    for start in ("initialize", "initialize_native_target", "initialize_native_asmprinter"):
        try:
            getattr(llvm, start)()
        except (AttributeError, RuntimeError):  # newer versions start by themselves
            if start != "initialize":
                raise
    return llvm.Target.from_default_triple().create_target_machine(
        cpu=llvm.get_host_cpu_name(), features=llvm.get_host_cpu_features().flatten(), opt=effort,
        codemodel="jitdefault", jit=True,
    )  # fmt: skip


_target = cache(_new_target)


@cache
def _engine() -> Any:
    import llvmlite.binding as llvm

    return llvm.create_mcjit_compiler(llvm.parse_assembly(""), _new_target(3))  # its own


def external(name: str, address: int) -> str:
    """The name by which machine code finds what stands at an address in this process.

    The address itself would be another one in every process, and so would the code.
    """
    _symbols[name] = address
    return f"@{name}"


def table(entries: np.ndarray) -> str:
    """The name of a table of integers, which stays where it is from then on."""
    name = "table" + hashlib.sha256(entries.tobytes()).hexdigest()[:32]
    if name not in _tables:
        _tables[name] = entries
        external(name, entries.ctypes.data)
    return f"@{name}"


def name_of_code(address: int) -> str:
    """The name of compiled code, for other code to call it."""
    return _names[address]


def names_of_code() -> dict[int, str]:
    """Names of all compiled code by its address."""
    return dict(_names)


def text_of_code(name: str) -> str:
    """The text of compiled code, whose function has its name."""
    return _texts[name]().replace("@main", f"@{name}")


def table_named(name: str) -> np.ndarray:
    """A table of integers that code refers to."""
    return _tables[name]


_addresses: dict[str, int] = {}  # of texts, of their keys, and of functions of the package
_symbols: dict[str, int] = {}  # addresses of what code refers to, as yet unknown to LLVM
_names: dict[int, str] = {}
_tables: dict[str, np.ndarray] = {}
_texts: dict[str, Callable[[], str]] = {}  # of code, by its name
_kept = itertools.count()  # objects that this process has put on disk
_lock = Lock()  # runs of a study may begin at once in several threads


def compiled(text: str, parallel: bool = True, quick: bool | None = None) -> int:
    """Address of the function ``@main`` of an LLVM text; the same text is compiled once.

    Without ``parallel``, equal operations are not sought, which takes long in a long text. What is
    to be compiled ``quick`` is made in a third of the time: a text without loops, which is as fast,
    and a very long one, which is a tenth slower.
    """
    if quick is None:
        quick = " phi " not in text or text.count("\n") > VERY_LONG
    with _lock:
        if text not in _addresses:
            _addresses[text] = _address(_key(text, parallel, quick), lambda: text, parallel, quick)
        return _addresses[text]


def compiled_from_source(name: str, text: Callable[[], str], quick: bool = True) -> int:
    """Compile a function of this package, whose text its source files give.

    Where these are as they were when it was compiled, the text is not made again; where the text
    is as it was, it is not compiled again.
    """
    with _lock:
        source = f"{name} of {_sources()}"
        if source not in _addresses:
            file = _file(f"t{_key(source, True, quick)}")
            key = _read(file).decode()
            if not key:
                made = text()
                key, text = _key(made, True, quick), lambda: made
                _keep(file, key.encode())
            _addresses[source] = _address(key, text, True, quick)
        return _addresses[source]


@cache
def _sources() -> str:
    """Which source files the package is made of: their names, sizes and times of last change."""
    root = Path(__file__).parents[1]
    archive = next(place for place in (root, *root.parents) if place.exists())
    found = [f"{archive} {archive.stat().st_mtime_ns}"] * (archive != root)
    for folder, inner, files in os.walk(root):
        inner.sort()
        for name in sorted(files):
            if name.endswith(".py"):
                status = os.stat(os.path.join(folder, name))
                found.append(f"{folder} {name} {status.st_size} {status.st_mtime_ns}")
    return hashlib.sha256("\n".join(found).encode()).hexdigest()


def _address(key: str, text: Callable[[], str], parallel: bool, quick: bool) -> int:
    """The address of what a text with a key is compiled to."""
    if key not in _addresses:
        name = f"f{key}"
        file = _file(name)
        object_code = _read(file)
        address = _loaded(object_code, name) if object_code else 0
        if not address:
            object_code = _emitted(text().replace("@main", f"@{name}"), parallel, quick)
            address = _loaded(object_code, name)
            _keep(file, object_code)
        _addresses[key], _names[address] = address, external(name, address)
        _texts[name] = cache(text)  # several exports ask for it
    return _addresses[key]


def _loaded(object_code: bytes, name: str) -> int:
    """The address of a function in object code; 0 if it cannot be used."""
    import llvmlite.binding as llvm

    while _symbols:
        llvm.add_symbol(*_symbols.popitem())
    try:
        _engine().add_object_file(llvm.ObjectFileRef.from_data(object_code))
        _engine().finalize_object()
    except RuntimeError:
        return 0
    return int(_engine().get_function_address(name))


def _emitted(text: str, parallel: bool, quick: bool) -> bytes:
    long = text.count("\n") > LONGEST
    machine = _target(0 if long else 1 if quick else 3)
    return emitted(text, machine, parallel, () if not quick else LEAST if long else QUICK)


def emitted(text: str, machine: Any, parallel: bool = True, names: Sequence[str] = QUICK) -> bytes:
    """Object code of a text for a machine, one of llvmlite's targets, by passes with these names,
    or by all there are."""
    import llvmlite.binding as llvm

    module = llvm.parse_assembly(HEADER + text)
    module.triple = machine.triple
    module.data_layout = str(machine.target_data)
    options = llvm.create_pipeline_tuning_options(speed_level=3)
    options.loop_vectorization = options.slp_vectorization = parallel
    builder = llvm.create_pass_builder(machine, options)
    if names:
        passes = llvm.create_new_module_pass_manager()
        for name in names:
            getattr(passes, f"add_{name}_pass")()
    else:
        passes = builder.getModulePassManager()
    passes.run(module, builder)
    return machine.emit_object(module)


def emitted_for(machine: Any, text: str, kind: str) -> bytes:
    """Object code of a text for another machine, of such a kind, kept on disk as well."""
    file = _file(f"x{_key(f'{machine.triple} {kind} {text}', True, True)}")
    object_code = _read(file)
    if not object_code:
        object_code = emitted(text, machine)
        _keep(file, object_code)
    return object_code


# -- on disk ----------------------------------------------------------------------------------
@cache
def folder() -> Path | None:
    """Where object code is kept; none if nothing can be written there.

    The environment variable ``BLOCKS_CACHE`` names another place, and switches it off if empty.
    """
    from platformdirs import user_cache_path

    given = os.environ.get("BLOCKS_CACHE")
    if given == "":
        return None
    place = Path(given) if given else user_cache_path("blocks-toolkit", appauthor=False)
    try:
        place.mkdir(parents=True, exist_ok=True)
        return place if os.access(place, os.W_OK) else None
    except OSError:
        return None


def _file(name: str) -> Path | None:
    place = folder()
    return place / f"{name}.o" if place else None


def _key(source: str, parallel: bool, quick: bool) -> str:
    made_by = (*made_for(), str(parallel), str(quick), source)
    return hashlib.sha256("\0".join(made_by).encode()).hexdigest()[:32]


@cache
def made_for() -> tuple[str, ...]:
    """What compiles, and for which processor: what was kept is used where both are the same."""
    import llvmlite

    if tuple(int(part) for part in llvmlite.__version__.split(".")[:2]) < OLDEST:
        raise MissingPackage(
            "", f"machine code needs llvmlite {'.'.join(map(str, OLDEST))} or newer, and "
            f"{llvmlite.__version__} is installed, as an older numba may ask for.",
            "Install it with: pip install --upgrade llvmlite", package="llvmlite", extra="")
    import llvmlite.binding as llvm

    return (llvmlite.__version__, _target(3).triple, llvm.get_host_cpu_name(),
            llvm.get_host_cpu_features().flatten())


def _read(file: Path | None) -> bytes:
    """What is kept in a file, if it is whole: it begins with its own hash."""
    with contextlib.suppress(OSError):
        if file is not None:
            content = file.read_bytes()
            if hashlib.sha256(content[32:]).digest() == content[:32]:
                os.utime(file)
                return content[32:]
    return b""


def _keep(file: Path | None, object_code: bytes) -> None:
    if file is None:
        return
    with contextlib.suppress(OSError), contextlib.ExitStack() as undone:
        undone.callback(file.unlink, missing_ok=True)
        file.write_bytes(hashlib.sha256(object_code).digest() + object_code)
        undone.pop_all()  # what another process reads before that is not whole, and not used
        if next(_kept) % (MOST_KEPT // 10):
            return  # to look through all others takes as long as to write one
        with os.scandir(file.parent) as entries:
            kept = [entry for entry in entries if entry.name.endswith(".o")]
        if len(kept) > MOST_KEPT:
            for old in sorted(kept, key=lambda f: f.stat().st_mtime)[: MOST_KEPT // 10]:
                os.unlink(old)
