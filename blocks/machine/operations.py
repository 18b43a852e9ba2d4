"""How are operations named in machine code?

LLVM's intrinsics, functions of the C library and comparisons, by CasADi's operations.
"""

from __future__ import annotations

import struct

import casadi as ca

__all__ = ["ARITHMETIC", "COMPARE", "HEADER", "INTRINSIC", "LIBRARY", "number"]

# LLVM intrinsics and functions of the C library by CasADi's operation
INTRINSIC = {
    ca.OP_SQRT: "sqrt", ca.OP_FABS: "fabs", ca.OP_FLOOR: "floor", ca.OP_CEIL: "ceil",
    ca.OP_EXP: "exp", ca.OP_LOG: "log", ca.OP_SIN: "sin", ca.OP_COS: "cos",
    ca.OP_FMIN: "minnum", ca.OP_FMAX: "maxnum", ca.OP_COPYSIGN: "copysign",
}  # fmt: skip
_OF_ONE = {
    ca.OP_TAN: "tan", ca.OP_ASIN: "asin", ca.OP_ACOS: "acos", ca.OP_ATAN: "atan",
    ca.OP_SINH: "sinh", ca.OP_COSH: "cosh", ca.OP_TANH: "tanh", ca.OP_ASINH: "asinh",
    ca.OP_ACOSH: "acosh", ca.OP_ATANH: "atanh", ca.OP_ERF: "erf", ca.OP_LOG1P: "log1p",
    ca.OP_EXPM1: "expm1",
}  # fmt: skip
_OF_TWO = {ca.OP_ATAN2: "atan2", ca.OP_FMOD: "fmod", ca.OP_HYPOT: "hypot",
           ca.OP_REMAINDER: "remainder"}  # fmt: skip
LIBRARY = _OF_ONE | _OF_TWO
COMPARE = {ca.OP_LT: "olt", ca.OP_LE: "ole", ca.OP_EQ: "oeq", ca.OP_NE: "une"}
ARITHMETIC = {ca.OP_ADD: "fadd", ca.OP_SUB: "fsub", ca.OP_MUL: "fmul", ca.OP_DIV: "fdiv"}

HEADER = "".join(f"declare double @{name}({takes}) nounwind\n" for takes, names in (
    ("double", _OF_ONE), ("double, double", _OF_TWO)) for name in names.values())


def number(value: float) -> str:
    """A double as LLVM writes it, to the last bit."""
    return f"0x{struct.unpack('>Q', struct.pack('>d', float(value)))[0]:016X}"
