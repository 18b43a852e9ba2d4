"""Object code is brought into memory without LLVM where that is possible, and does the same."""

import ctypes
import math
import sys

import numpy as np
import pytest

from blocks.machine import compiling, object_code

llvm = pytest.importorskip("llvmlite.binding")

if not object_code.processor():
    pytest.skip("for x86-64 under Linux", allow_module_level=True)

TEXT = """
@numbers = external global [4 x double]
declare double @llvm.sin.f64(double)
declare double @twice(double)
@weights = internal constant [4 x double] [double 1.0, double 10.0, double 100.0, double 1000.0]

define double @{name}(i64 %k) {{
  %at = getelementptr [4 x double], ptr @numbers, i64 0, i64 %k
  %number = load double, ptr %at
  %by = getelementptr [4 x double], ptr @weights, i64 0, i64 %k
  %weight = load double, ptr %by
  %sine = call double @llvm.sin.f64(double %number)
  %doubled = call double @twice(double %sine)
  %result = fmul double %weight, %doubled
  ret double %result
}}
"""
TWICE = """
define double @twice(double %x) {
  %sum = fadd double %x, %x
  ret double %sum
}
"""
SINE = """
declare double @llvm.sin.f64(double)

define double @sine(double %x) {
  %result = call double @llvm.sin.f64(double %x)
  ret double %result
}
"""
NUMBERS = np.array([0.1, 0.2, 0.3, 0.4])


def emitted(text, model="jitdefault"):
    compiling._target(3)  # which makes LLVM ready
    target = llvm.Target.from_default_triple().create_target_machine(codemodel=model, jit=True)
    return target.emit_object(llvm.parse_assembly(text))


@pytest.fixture
def symbols(monkeypatch):
    found = {"numbers": NUMBERS.ctypes.data}
    found["twice"] = object_code.placed(emitted(TWICE), "twice", {})
    monkeypatch.setattr(compiling, "_symbols", found)
    return found


def values(address):
    function = ctypes.CFUNCTYPE(ctypes.c_double, ctypes.c_int64)(address)
    return [function(k) for k in range(4)]


def test_code_refers_to_constants_to_tables_to_other_code_and_to_functions_of_c(symbols):
    exact = [2 * 10**k * math.sin(x) for k, x in enumerate(NUMBERS)]
    code = emitted(TEXT.format(name="placed_alone"))
    address = object_code.placed(code, "placed_alone", symbols)
    assert address and values(address) == pytest.approx(exact, rel=1e-15)
    assert values(compiling._loaded_by_llvm(code, "placed_alone")) == values(address)


def test_code_that_refers_in_another_way_is_left_to_llvm():
    code = emitted(SINE, model="small")
    assert object_code.placed(code, "sine", {}) == 0
    sine = ctypes.CFUNCTYPE(ctypes.c_double, ctypes.c_double)(compiling._loaded(code, "sine"))
    assert sine(0.5) == pytest.approx(math.sin(0.5), rel=1e-15)


def test_a_function_that_nobody_knows_is_left_to_llvm():
    code = emitted(TEXT.format(name="without_table"))
    assert object_code.placed(code, "without_table", {}) == 0


@pytest.mark.parametrize("function, failure", [
    ("mmap", ctypes.c_void_p(-1).value), ("mprotect", -1)], ids=["mmap", "mprotect"])  # fmt: skip
def test_where_memory_must_not_be_executed_it_is_left_to_llvm(function, failure, monkeypatch):
    monkeypatch.setattr(object_code._c(), function, lambda *given: failure)
    assert object_code.placed(emitted(TWICE), "twice", {}) == 0


def test_what_was_kept_is_taken_without_llvm(tmp_path, monkeypatch):
    monkeypatch.setattr(compiling, "folder", lambda: tmp_path)
    text = "define i64 @main() {\n  ret i64 1729\n}\n"
    for _ in range(2):
        monkeypatch.setattr(compiling, "_addresses", {})
        assert ctypes.CFUNCTYPE(ctypes.c_int64)(compiling.compiled(text))() == 1729
        monkeypatch.setitem(sys.modules, "llvmlite.binding", None)


def test_code_is_kept_for_one_kind_of_processor(monkeypatch):
    here = compiling._made_for.__wrapped__()
    monkeypatch.setattr(compiling, "processor", lambda: object_code.processor() + " avx1024")
    there = compiling._made_for.__wrapped__()
    monkeypatch.setattr(compiling, "processor", lambda: "")  # where LLVM is asked
    assert len({here, there, compiling._made_for.__wrapped__()}) == 3
