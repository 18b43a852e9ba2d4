"""How does machine code come to run?

Compiles LLVM text in this process with llvmlite (part of the extra ``fast``) and
keeps what was compiled.
"""

from __future__ import annotations

from functools import cache
from typing import Any

from .expressions import HEADER

__all__ = ["compiled", "function_of_lapack", "target_name"]


@cache
def _target() -> Any:
    import llvmlite.binding as llvm

    for start in ("initialize", "initialize_native_target", "initialize_native_asmprinter"):
        try:
            getattr(llvm, start)()
        except (AttributeError, RuntimeError):  # newer versions start by themselves
            if start != "initialize":
                raise
    return llvm.Target.from_default_triple().create_target_machine(
        cpu=llvm.get_host_cpu_name(), features=llvm.get_host_cpu_features().flatten(), opt=3,
    )  # fmt: skip


def target_name() -> str:
    """The processor and system that code is made for, ``x86_64-…``."""
    return str(_target().triple)


@cache
def _engine() -> Any:
    import llvmlite.binding as llvm

    return llvm.create_mcjit_compiler(llvm.parse_assembly(""), _target())


@cache
def function_of_lapack(name: str) -> int:
    """Address of a function of LAPACK, with 32-bit integers by reference."""
    from numba.extending import get_cython_function_address

    return get_cython_function_address("scipy.linalg.cython_lapack", name)


_addresses: dict[str, int] = {}


def compiled(text: str, parallel: bool = True) -> int:
    """Address of the function ``@main`` of an LLVM text; the same text is compiled once.

    Without ``parallel``, equal operations are not sought, which takes long in a long text.
    """
    if text in _addresses:
        return _addresses[text]
    import llvmlite.binding as llvm

    name = f"blocks_{len(_addresses)}"
    machine, engine = _target(), _engine()
    module = llvm.parse_assembly(HEADER + text.replace("@main", f"@{name}"))
    module.triple = machine.triple
    module.data_layout = str(machine.target_data)
    options = llvm.create_pipeline_tuning_options(speed_level=3)
    options.loop_vectorization = options.slp_vectorization = parallel
    builder = llvm.create_pass_builder(machine, options)
    builder.getModulePassManager().run(module, builder)
    engine.add_module(module)
    engine.finalize_object()
    _addresses[text] = engine.get_function_address(name)
    return _addresses[text]
