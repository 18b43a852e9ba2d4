"""Which block here calculates as one of Simulink's does: sums, functions, tables, decisions?"""

from __future__ import annotations

import math
import re
from typing import Any

from ...signal import MathFunction
from ..matlab.python_text import python_of
from ..matlab.syntax import Apply, Binary, Name, Number, Tree, Unary, changed, parse
from ..tables import content_of
from .block_parameters import BlockParameters
from .signal_part import Makes, SignalPart, Unmapped, law, listed, many, one_or_many

__all__ = ["FUNCTIONS"]


def _gain(a: BlockParameters) -> SignalPart:
    if a.written("Multiplication", "Element-wise(K.*u)").startswith("Matrix") \
            or a.shape("Gain", "1"):
        raise Unmapped("Its gain is a matrix or a vector; signals are scalars here.")
    return SignalPart("signal.Gain", {"gain": a.text("Gain", "1")})


def _signs(a: BlockParameters, default: str, one: str) -> str:
    written = a.written("Inputs", default).replace("|", "").replace(" ", "").strip("'\"")
    return one * int(written) if written.isdigit() else written


def _sum(a: BlockParameters) -> SignalPart:
    signs = _signs(a, "++", "+")
    if not signs or set(signs) - {"+", "-"} or len(signs) == 1:
        raise Unmapped("It adds the elements of a vector that is not known here.")
    return SignalPart("signal.Sum", {"signs": f'"{signs}"'}, many("u", len(signs)))


def _product(a: BlockParameters) -> SignalPart:
    signs = _signs(a, "2", "*")
    if signs == "/":
        return SignalPart("signal.MathFunction", {"function": '"reciprocal"'})
    if signs == "*/":
        return SignalPart("signal.Divide", {}, ("u1", "u2"))
    if len(signs) < 2 or set(signs) - {"*", "/"} or a.written(
            "Multiplication", "Element-wise(.*)").startswith("Matrix"):
        raise Unmapped("It multiplies matrices, or the elements of a vector that is not known "
                       "here.")
    if "/" in signs:
        ports = many("u", len(signs))
        text = "".join(f" {sign} self.{port}" for sign, port in zip(signs, ports, strict=True))
        return law(f"1{text}" if signs[0] == "/" else text[3:], ports)
    units = ", ".join(["1"] * len(signs))
    keywords = {"units": f'"{units}"'} if len(signs) > 2 else {}
    return SignalPart("signal.Product", keywords, many("u", len(signs)))


_LAWS = content_of("signal_blocks.json")["functions"]  # that the library has no block for
_SAME = {"atan": "arctan", "magnitude^2": "square"}


def _function(a: BlockParameters) -> SignalPart:
    written = a.written("Operator", "")
    if written == "sincos":
        return SignalPart("", outputs=("y1", "y2"),
                          equation="self.y1 == sin(self.u)\nself.y2 == cos(self.u)")
    if written in _LAWS:
        return law(_LAWS[written], one_or_many("u", 1 + ("self.u2" in _LAWS[written])))
    word = _SAME.get(written, written)
    if word not in MathFunction.function.choices:
        raise Unmapped(f"The function {written!r} has no counterpart here.")
    return SignalPart("signal.MathFunction", {"function": f'"{word}"'})


_BETWEEN = {"Flat": "held", "Cubic spline": "cubic", "Akima spline": "smooth"}


def _table(a: BlockParameters) -> SignalPart:
    count = int(a.number("NumberOfTableDimensions", "2") or 0)
    if count not in (1, 2, 3) or a.written("BreakpointsSpecification", "Explicit values") != \
            "Explicit values" or a.written("DataSpecification", "Table and breakpoints") != \
            "Table and breakpoints":
        raise Unmapped("It has more than three inputs, or its points are not given as vectors.")
    keywords = {axis: listed(a.text(f"BreakpointsForDimension{k}", "[10,22,31]"))
                for k, axis in enumerate(one_or_many("x", count), 1)}
    keywords["values"] = listed(a.text("Table", "[4 5 6]"))
    between = a.written("InterpMethod", "Linear")
    if not between.startswith("Linear"):
        if between not in _BETWEEN or count > 1 and _BETWEEN[between] == "cubic":
            raise Unmapped(f"{between!r} between its points has no counterpart here.")
        keywords["interpolation"] = f'"{_BETWEEN[between]}"'
    if a.written("ExtrapMethod", "Linear") == "Clip":
        keywords["extrapolation"] = '"nearest"'
    return SignalPart(f"signal.Table{count}D", keywords, one_or_many("u", count))


def _written_law(a: BlockParameters) -> SignalPart:
    """A block whose law is written in it, of one signal or of the elements of a vector."""
    text = re.sub(r"\bu[(\[](\d+)[)\]]", r"u(\1)", a.written("Expr", "sin(u[1])"))
    used = max((int(n) for n in re.findall(r"\bu\((\d+)\)", text)), default=1)
    inputs = one_or_many("u", used)
    text = re.sub(r"\bu\((\d+)\)", lambda m: inputs[int(m[1]) - 1], text)
    text = re.sub(r"!(?!=)", "~", text.replace("!=", "~=").replace("sgn(", "sign("))
    written = python_of(_of_numbers(parse(text)),
                        lambda path: f"self.{path}" if path in inputs else a.name(path))
    return law(written.replace("np.pi", repr(math.pi)).replace("np.abs(", "abs_(").replace(
        "np.", ""), inputs)


def _of_numbers(tree: Any) -> Any:
    """An expression whose conditions are the numbers 1 and 0, as in Simulink."""
    made = changed(tree, _of_numbers)
    if isinstance(made, Unary) and made.sign == "~":
        return Binary("-", _ONE, _truth(made.of))
    if not isinstance(made, Binary):
        return made
    left, right, sign = made.left, made.right, made.sign
    if sign in ("<", "<=", ">", ">="):
        return Apply(Name("where"), (Binary(sign, left, right), _ONE, Number(0, "0")))
    if sign in ("==", "~="):
        same = Binary("*", *(_of_numbers(Binary(s, left, right)) for s in ("<=", ">=")))
        return same if sign == "==" else Binary("-", _ONE, same)
    if sign in ("&&", "&"):
        return Binary("*", _truth(left), _truth(right))
    if sign in ("||", "|"):
        return Apply(Name("sign"), (Binary("+", _truth(left), _truth(right)),))
    return made


_ONE = Number(1, "1")


def _truth(number: Tree) -> Tree:
    """1 of a number that is not zero."""
    if isinstance(number, Apply) and number.of == Name("where"):
        return number
    return Apply(Name("sign"), (Apply(Name("abs"), (number,)),))


_ROUNDED = {"Floor": "floor(self.u)", "Ceiling": "-floor(-self.u)",
            "Zero": "sign(self.u) * floor(abs_(self.u))"}  # fmt: skip


def _type(a: BlockParameters) -> SignalPart:
    """A conversion to another type of numbers: to whole ones, or to 1 and 0."""
    written = a.written("OutDataTypeStr", "Inherit: Inherit via back propagation")
    if written == "boolean":
        return law("where((self.u > 0) | (self.u < 0), 1, 0)")
    match = re.fullmatch(r"(u?)int(8|16|32|64)", written)
    if match is None:
        passed = SignalPart("signal.Gain")
        if not written.startswith("Inherit") and written not in ("double", "single"):
            passed.note = f"Its type {written} is not mapped: the number is passed as it is."
        return passed
    count = 2 ** int(match[2])
    lowest = 0 if match[1] else -count // 2
    whole = _ROUNDED.get(a.written("RndMeth", "Zero"), "floor(self.u + 0.5)")
    if a.written("SaturateOnIntegerOverflow", "on") == "on":
        return law(f"maximum(minimum({whole}, {lowest + count - 1}), {lowest})")
    return law(f"mod({whole} - ({lowest}), {count}) + ({lowest})")


# -- comparisons, decisions and choices -----------------------------------------------------------
_EQUALITY = {"==": "1, 0", "~=": "0, 1"}


def _equality(sign: str, other: str, inputs: tuple[str, ...], **parameters: str) -> SignalPart:
    """Whether a signal equals another: of signals that change continuously never for long."""
    own = f"self.{inputs[0]}"
    made = law(f"where(({own} >= {other}) & ({own} <= {other}), {_EQUALITY[sign]})", inputs,
               **parameters)
    made.note = "Signals that change continuously are equal for no time at all here."
    return made


def _sign(a: BlockParameters, name: str) -> str:
    sign = a.written(name, "<=")
    if sign not in (*_EQUALITY, ">", ">=", "<", "<="):
        raise Unmapped(f"The comparison {sign!r} has no counterpart here.")
    return sign


def _relation(a: BlockParameters) -> SignalPart:
    sign = _sign(a, "Operator")
    if sign in _EQUALITY:
        return _equality(sign, "self.u2", ("u1", "u2"))
    return SignalPart("signal.Compare", {"relation": f'"{sign}"'}, ("u1", "u2"))


def _compare_to(a: BlockParameters, default: str) -> SignalPart:
    sign, level = _sign(a, "relop"), a.text("const", default)
    if sign in _EQUALITY:
        return _equality(sign, "self.level", ("u",), level=level)
    return law(f"where(self.u {sign} self.level, 1, 0)", level=level)


def _logic(a: BlockParameters) -> SignalPart:
    word, count = a.written("Operator", "AND"), int(a.written("Inputs", "2") or 2)
    if word == "NOT":
        return SignalPart("signal.Not")
    ports = many("u", count)
    true = [f"(self.{port} > 0.5)" for port in ports]
    if word in ("NAND", "NOR"):
        return law(f"where({(' & ' if word == 'NAND' else ' | ').join(true)}, 0, 1)", ports)
    if word in ("XOR", "NXOR"):
        ones = " + ".join(f"where(self.{port} > 0.5, 1, 0)" for port in ports)
        return law(f"where(mod({ones}, 2) > 0.5, {'1, 0' if word == 'XOR' else '0, 1'})", ports)
    if word not in ("AND", "OR"):
        raise Unmapped(f"The operator {word!r} has no counterpart here.")
    return _of_many(word.title(), count)


def _switch(a: BlockParameters) -> SignalPart:
    inputs, threshold = ("u1", "control", "u2"), a.text("Threshold", "0")
    criteria = a.written("Criteria", "u2 >= Threshold")
    if criteria == "u2 >= Threshold":
        return SignalPart("signal.Switch", {"threshold": threshold}, inputs)
    sign = f"> {threshold}" if criteria == "u2 > Threshold" else "!= 0"
    condition = f"self.control {sign}" if ">" in sign else "(self.control > 0) | (self.control < 0)"
    return law(f"where({condition}, self.u1, self.u2)", inputs)


def _manual_switch(a: BlockParameters) -> SignalPart:
    port = "u1" if a.written("CurrentSetting", a.written("sw", "1")) == "1" else "u2"
    return law(f"self.{port}", ("u1", "u2"))


def _multiport_switch(a: BlockParameters) -> SignalPart:
    count, order = int(a.number("Inputs", "3") or 0), a.written("DataPortOrder", "One-based")
    ports = many("u", count)
    if a.written("zeroidx", "off") == "on" or order.startswith("Zero-based"):
        text = f"self.{ports[-1]}"
        for k in range(count - 2, -1, -1):
            text = f"where(self.control < {k + 0.5}, self.{ports[k]}, {text})"
        return law(text, ("control", *ports))
    if order.startswith("Specify") or count < 2:
        raise Unmapped("Which number chooses which input is given by a list, or they are one "
                       "vector.")
    return SignalPart("signal.MultiportSwitch", {"inputs": str(count)} if count != 3 else {},
                      ("control", *ports))


def _minmax(a: BlockParameters) -> SignalPart:
    count = int(a.written("Inputs", "1") or 1)
    name = "Maximum" if a.written("Function", "min") == "max" else "Minimum"
    return SignalPart("signal.Gain") if count == 1 else _of_many(name, count)


def _of_many(component: str, count: int) -> SignalPart:
    return SignalPart(f"signal.{component}", {"inputs": str(count)} if count != 2 else {},
                      many("u", count))


FUNCTIONS: dict[str, Makes] = {
    "UnaryMinus": lambda a: SignalPart("signal.Gain", {"gain": "-1"}),
    "Gain": _gain, "Sum": _sum, "Product": _product,
    **dict.fromkeys(("Math", "Sqrt", "Trigonometry"), _function),
    "Rounding": lambda a: SignalPart("signal.Rounding", {
        "function": f'"{a.written("Operator", "floor")}"'}),
    "Quantizer": lambda a: SignalPart("signal.Rounding", {
        "function": '"round"', "step": a.text("QuantizationInterval", "0.5")}),
    "Lookup_n-D": _table, "Fcn": _written_law,
    "Bias": lambda a: law("self.u + self.bias", bias=a.text("Bias", "0")),
    "Abs": lambda a: SignalPart("signal.Abs"), "Signum": lambda a: SignalPart("signal.Sign"),
    "DataTypeConversion": _type, **dict.fromkeys(
        ("RateTransition", "SignalConversion", "SignalSpecification"),
        lambda a: SignalPart("signal.Gain")),
    "Slider Gain": lambda a: SignalPart("signal.Gain", {"gain": a.text("gain", "1")}),
    "Radians to Degrees": lambda a: SignalPart("signal.Gain", {"gain": "180 / np.pi"}),
    "Degrees to Radians": lambda a: SignalPart("signal.Gain", {"gain": "np.pi / 180"}),
    "RelationalOperator": _relation, "Logic": _logic, "Switch": _switch,
    "ManualSwitch": _manual_switch, "Manual Switch": _manual_switch,
    "MultiPortSwitch": _multiport_switch, "MinMax": _minmax,
    "Compare To Constant": lambda a: _compare_to(a, "3"),
    "Compare To Zero": lambda a: _compare_to(a, "0"),
    "Saturation Dynamic": lambda a: law("maximum(minimum(self.u, self.upper), self.lower)",
                                        ("upper", "u", "lower")),
}  # fmt: skip
