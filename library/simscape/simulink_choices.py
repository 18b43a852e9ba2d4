"""Which block here compares, decides or chooses as one of Simulink's does?"""

from __future__ import annotations

from .asked import Asked
from .signal_part import Lacks, Makes, SignalPart, law, many

__all__ = ["CHOICES"]

_EQUALITY = {"==": "1, 0", "~=": "0, 1"}


def _equality(sign: str, other: str, inputs: tuple[str, ...], **parameters: str) -> SignalPart:
    """Whether a signal equals another: of signals that change continuously never for long."""
    own = f"self.{inputs[0]}"
    made = law(f"where(({own} >= {other}) & ({own} <= {other}), {_EQUALITY[sign]})", inputs,
               **parameters)
    made.note = "Signals that change continuously are equal for no time at all here."
    return made


def _sign(a: Asked, name: str) -> str:
    sign = a.written(name, "<=")
    if sign not in (*_EQUALITY, ">", ">=", "<", "<="):
        raise Lacks(f"The comparison {sign!r} has no counterpart here.")
    return sign


def _relation(a: Asked) -> SignalPart:
    sign = _sign(a, "Operator")
    if sign in _EQUALITY:
        return _equality(sign, "self.u2", ("u1", "u2"))
    return SignalPart("signal.Compare", {"relation": f'"{sign}"'}, ("u1", "u2"))


def _compare_to(a: Asked, default: str) -> SignalPart:
    sign, level = _sign(a, "relop"), a.text("const", default)
    if sign in _EQUALITY:
        return _equality(sign, "self.level", ("u",), level=level)
    return law(f"where(self.u {sign} self.level, 1, 0)", level=level)


def _logic(a: Asked) -> SignalPart:
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
        raise Lacks(f"The operator {word!r} has no counterpart here.")
    keywords = {"inputs": str(count)} if count != 2 else {}
    return SignalPart(f"signal.{word.title()}", keywords, ports)


def _switch(a: Asked) -> SignalPart:
    inputs, threshold = ("u1", "control", "u2"), a.text("Threshold", "0")
    criteria = a.written("Criteria", "u2 >= Threshold")
    if criteria == "u2 >= Threshold":
        return SignalPart("signal.Switch", {"threshold": threshold}, inputs)
    sign = f"> {threshold}" if criteria == "u2 > Threshold" else "!= 0"
    condition = f"self.control {sign}" if ">" in sign else "(self.control > 0) | (self.control < 0)"
    return law(f"where({condition}, self.u1, self.u2)", inputs)


def _manual_switch(a: Asked) -> SignalPart:
    port = "u1" if a.written("CurrentSetting", a.written("sw", "1")) == "1" else "u2"
    return law(f"self.{port}", ("u1", "u2"))


def _multiport_switch(a: Asked) -> SignalPart:
    count, order = int(a.number("Inputs", "3") or 0), a.written("DataPortOrder", "One-based")
    ports = many("u", count)
    if a.written("zeroidx", "off") == "on" or order.startswith("Zero-based"):
        text = f"self.{ports[-1]}"
        for k in range(count - 2, -1, -1):
            text = f"where(self.control < {k + 0.5}, self.{ports[k]}, {text})"
        return law(text, ("control", *ports))
    if order.startswith("Specify") or count < 2:
        raise Lacks("Which number chooses which input is given by a list, or they are one vector.")
    return SignalPart("signal.MultiportSwitch", {"inputs": str(count)} if count != 3 else {},
                      ("control", *ports))


def _minmax(a: Asked) -> SignalPart:
    count = int(a.written("Inputs", "1") or 1)
    name = "Maximum" if a.written("Function", "min") == "max" else "Minimum"
    if count == 1:
        return SignalPart("signal.Gain")
    keywords = {"inputs": str(count)} if count != 2 else {}
    return SignalPart(f"signal.{name}", keywords, many("u", count))


CHOICES: dict[str, Makes] = {
    "RelationalOperator": _relation, "Logic": _logic, "Switch": _switch,
    "ManualSwitch": _manual_switch, "Manual Switch": _manual_switch,
    "MultiPortSwitch": _multiport_switch, "MinMax": _minmax,
    "Compare To Constant": lambda a: _compare_to(a, "3"),
    "Compare To Zero": lambda a: _compare_to(a, "0"),
    "Saturation Dynamic": lambda a: law("maximum(minimum(self.u, self.upper), self.lower)",
                                        ("upper", "u", "lower")),
}
