"""Which signal block here does what a Simulink block does?

Numbers of Simulink carry no units: the blocks here are given none.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Callable
from functools import cache
from pathlib import Path

from .diagram import Block
from .matlab import parse
from .python_text import python_of
from .signal_part import Asks, SignalPart, is_number, law, limit, listed, many, per_second, seconds
from .simulink_sampled import SAMPLED, has_vectors, matrices_of

__all__ = ["SINKS", "UNSEEN", "defaults_of", "signal_part"]

# what only shows or keeps a signal
SINKS = {"Scope", "Display", "Terminator", "ToWorkspace", "ToFile", "XYGraph", "DashboardScope",
         "DisplayBlock", "Outport", "Assertion", "Stop"} - {"Outport"}  # fmt: skip
# what has no part in the physics
UNSEEN = {"KnobBlock", "SliderBlock", "PanelWebBlock", "ToggleSwitchBlock", "RotarySwitchBlock",
          "RockerSwitchBlock", "SliderSwitchBlock", "LampBlock", "CircularGaugeBlock",
          "LinearGaugeBlock", "QuarterGaugeBlock", "SemiCircularGaugeBlock", "DashboardScope",
          "DisplayBlock", "EditField", "CheckBox", "ComboBox", "PushButtonBlock", "RadioButton",
          "CallbackButton", "SimscapeProbe"}  # fmt: skip


@cache
def defaults_of(block_type: str) -> dict[str, str]:
    """Values that files do not repeat, of a type of block."""
    text = Path(__file__).with_name("simulink_defaults.json").read_text(encoding="utf-8")
    found: dict[str, dict[str, str]] = json.loads(text)
    return found.get(block_type, {})


def _constant(a: Asks) -> SignalPart | None:
    if a.shape("Value", "1"):
        return None
    return SignalPart("signal.Constant", {"value": a.text("Value", "1")}, ())


def _step(a: Asks) -> SignalPart:
    keywords = {"final": a.text("After", "1"), "start": seconds(a.text("Time", "1"))}
    if a.number("Before", "0") != 0:
        keywords["initial"] = a.text("Before", "0")
    return SignalPart("signal.Step", keywords, ())


def _sine(a: Asks) -> SignalPart | None:
    if "Sample based" in a.written("SineType", "Time based"):
        return None
    turns = _per_turn(a.text("Frequency", "1"), a.number("Frequency", "1"))
    keywords = {"amplitude": a.text("Amplitude", "1"),
                "frequency": f'"{turns} Hz"' if is_number(turns) else f'quantity({turns}, "Hz")'}
    if a.number("Bias", "0") != 0:
        keywords["bias"] = a.text("Bias", "0")
    if a.number("Phase", "0") != 0:
        keywords["phase"] = f'quantity({a.text("Phase", "0")}, "rad")'
    return SignalPart("signal.Sine", keywords, ())


def _per_turn(text: str, value: float | None) -> str:
    """A frequency in turns, of one in radians."""
    if text.startswith("2 * np.pi * "):
        return text.removeprefix("2 * np.pi * ")
    if value is not None and not re.search(r"[A-Za-z_]", text.replace("np.pi", "")) and \
            float(f"{value / 2 / math.pi:.6g}") * 2 * math.pi == value:
        return f"{value / 2 / math.pi:.6g}"
    whole = text if text.replace(".", "").isalnum() else f"({text})"
    return f"{whole} / (2 * np.pi)"


def _clock(a: Asks) -> SignalPart:
    return SignalPart("signal.Ramp", {"slope": '"1 1/s"'}, ())


def _ramp(a: Asks) -> SignalPart:
    keywords = {"slope": f'quantity({a.text("slope", "1")}, "1/s")',
                "start": seconds(a.text("start", "0"))}
    if a.number("InitialOutput", "0") != 0:
        keywords["initial"] = a.text("InitialOutput", "0")
    return SignalPart("signal.Ramp", keywords, ())


def _gain(a: Asks) -> SignalPart | None:
    if a.written("Multiplication", "Element-wise(K.*u)").startswith("Matrix") \
            or a.shape("Gain", "1"):
        return None
    return SignalPart("signal.Gain", {"gain": a.text("Gain", "1")})


def _signs(a: Asks, default: str, one: str) -> str:
    written = a.written("Inputs", default).replace("|", "").replace(" ", "").strip("'\"")
    return one * int(written) if written.isdigit() else written


def _sum(a: Asks) -> SignalPart | None:
    signs = _signs(a, "++", "+")
    if not signs or set(signs) - {"+", "-"} or len(signs) == 1:
        return None
    return SignalPart("signal.Sum", {"signs": f'"{signs}"'}, many("u", len(signs)))


def _product(a: Asks) -> SignalPart | None:
    signs = _signs(a, "2", "*")
    if signs == "/":
        return SignalPart("signal.MathFunction", {"function": '"reciprocal"'})
    if signs == "*/":
        return SignalPart("signal.Divide", {}, ("u1", "u2"))
    if len(signs) < 2 or set(signs) - {"*", "/"} or a.written(
            "Multiplication", "Element-wise(.*)").startswith("Matrix"):
        return None
    if "/" in signs:
        ports = many("u", len(signs))
        text = "".join(f" {sign} self.{port}" for sign, port in zip(signs, ports, strict=True))
        return law(f"1{text}" if signs[0] == "/" else text[3:], ports)
    units = ", ".join(["1"] * len(signs))
    keywords = {"units": f'"{units}"'} if len(signs) > 2 else {}
    return SignalPart("signal.Product", keywords, many("u", len(signs)))


def _integrator(a: Asks) -> SignalPart | None:
    reset = a.written("ExternalReset", "none")
    edge = {"rising": "1, 0", "falling": "0, 1"}.get(reset)
    if reset != "none" and edge is None or a.written("WrapState", "off") == "on" \
            or a.written("InitialConditionSource", "internal") != "internal":
        return None
    start = a.text("InitialCondition", "0")
    begins = {} if a.number("InitialCondition", "0") == 0 else {"x": start}
    if reset == "none" and a.written("LimitOutput", "off") != "on":
        return SignalPart("signal.TransferFunction", {
            "numerator": "[1]", "denominator": "[1, 0]", **({"x1": start} if begins else {})})
    keywords = {"input": '"1/s"'}
    if a.written("LimitOutput", "off") == "on":
        keywords |= {"limited": "True", "lower": limit(a, "LowerSaturationLimit", "-inf"),
                     "upper": limit(a, "UpperSaturationLimit", "inf")}
    before = [per_second()]
    if edge is not None:
        keywords |= {"external_reset": "True"} | ({"reset_value": start} if begins else {})
        before.append((1, "edge", law(f"where(self.u > 0, {edge})")))
    return SignalPart("signal.Integrator", keywords | begins,
                      ("u",) if edge is None else ("u", "reset"), before=tuple(before))


def _derivative(a: Asks) -> SignalPart:
    return SignalPart("signal.Derivative", {"input": '"s"'}, before=(per_second('"1 s"'),),
                      note="The derivative is filtered here, with 1 ms.")


def _state_space(a: Asks) -> SignalPart | None:
    if has_vectors(a):
        return None
    names = matrices_of(a)
    if a.number("D", "1") == 0:
        del names["D"]
    start = a.text("InitialCondition", "0")
    if a.number("InitialCondition", "0") not in (0, None):
        names["x1"] = start
    return SignalPart("signal.StateSpace", names, ("u1",), ("y1",))


def _transfer(a: Asks) -> SignalPart:
    return SignalPart("signal.TransferFunction", {
        "numerator": listed(a.text("Numerator", "[1]")),
        "denominator": listed(a.text("Denominator", "[1 1]"))})  # fmt: skip


def _saturation(a: Asks) -> SignalPart:
    return SignalPart("signal.Saturation", {"upper": limit(a, "UpperLimit", "0.5"),
                                            "lower": limit(a, "LowerLimit", "-0.5")})


def _dead_zone(a: Asks) -> SignalPart:
    return SignalPart("signal.DeadZone", {"upper": a.text("UpperValue", "0.5"),
                                          "lower": a.text("LowerValue", "-0.5")})


_EQUALITY = {"==": "1, 0", "~=": "0, 1"}


def _equality(sign: str, other: str, inputs: tuple[str, ...]) -> SignalPart:
    """Whether a signal equals another: of signals that change continuously never for long."""
    own = f"self.{inputs[0]}"
    made = law(f"where(({own} >= {other}) & ({own} <= {other}), {_EQUALITY[sign]})", inputs)
    made.note = "Signals that change continuously are equal for no time at all here."
    return made


def _relation(a: Asks) -> SignalPart | None:
    sign = a.written("Operator", "<=")
    if sign in _EQUALITY:
        return _equality(sign, "self.u2", ("u1", "u2"))
    if sign not in (">", ">=", "<", "<="):
        return None
    return SignalPart("signal.Compare", {"relation": f'"{sign}"'}, ("u1", "u2"))


def _logic(a: Asks) -> SignalPart | None:
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
        return None
    keywords = {"inputs": str(count)} if count != 2 else {}
    return SignalPart(f"signal.{word.title()}", keywords, ports)


def _switch(a: Asks) -> SignalPart:
    inputs, threshold = ("u1", "control", "u2"), a.text("Threshold", "0")
    criteria = a.written("Criteria", "u2 >= Threshold")
    if criteria == "u2 >= Threshold":
        return SignalPart("signal.Switch", {"threshold": threshold}, inputs)
    sign = f"> {threshold}" if criteria == "u2 > Threshold" else "!= 0"
    condition = f"self.control {sign}" if ">" in sign else "(self.control > 0) | (self.control < 0)"
    return law(f"where({condition}, self.u1, self.u2)", inputs)


def _manual_switch(a: Asks) -> SignalPart:
    port = "u1" if a.written("sw", "1") == "1" else "u2"
    return law(f"self.{port}", ("u1", "u2"))


def _multiport_switch(a: Asks) -> SignalPart | None:
    count, order = int(a.number("Inputs", "3") or 0), a.written("DataPortOrder", "One-based")
    ports = many("u", count)
    if a.written("zeroidx", "off") == "on" or order.startswith("Zero-based"):
        text = f"self.{ports[-1]}"
        for k in range(count - 2, -1, -1):
            text = f"where(self.control < {k + 0.5}, self.{ports[k]}, {text})"
        return law(text, ("control", *ports))
    if order.startswith("Specify") or count < 2:
        return None
    return SignalPart("signal.MultiportSwitch", {"inputs": str(count)} if count != 3 else {},
                      ("control", *ports))


def _relay(a: Asks) -> SignalPart:
    return SignalPart("signal.Relay", {
        "switch_on": a.text("OnSwitchValue", "eps"), "switch_off": a.text("OffSwitchValue", "eps"),
        "on_value": a.text("OnOutputValue", "1"), "off_value": a.text("OffOutputValue", "0")})


def _backlash(a: Asks) -> SignalPart:
    return SignalPart("signal.Backlash", {"width": a.text("BacklashWidth", "1")})


def _compare_to(default: str) -> Callable[[Asks], SignalPart | None]:
    def made(a: Asks) -> SignalPart | None:
        sign = a.written("relop", "<=")
        if sign in _EQUALITY:
            return _equality(sign, a.text("const", default), ("u",))
        if sign not in (">", ">=", "<", "<="):
            return None
        return law(f"where(self.u {sign} {a.text('const', default)}, 1, 0)")

    return made


def _chirp(a: Asks) -> SignalPart:
    return SignalPart("signal.Chirp", {
        "initial_frequency": f'quantity({a.text("f1", "0.1")}, "Hz")',
        "final_frequency": f'quantity({a.text("f2", "1")}, "Hz")',
        "sweep_time": seconds(a.text("T", "100")), "phase": '"-90 deg"'}, ())  # fmt: skip


def _repeating(a: Asks) -> SignalPart:
    return SignalPart("signal.RepeatingSequence", {
        "times": f'quantity({listed(a.text("rep_seq_t", "[0 2]"))}, "s")',
        "values": listed(a.text("rep_seq_y", "[0 2]"))}, ())  # fmt: skip


def _from_workspace(a: Asks) -> SignalPart | None:
    rows = a.text("VariableName", "simulink_input")
    after = {"Extrapolation": "continued", "Holding final value": "held"}.get(
        a.written("OutputAfterFinalValue", "Extrapolation"))
    if after is None or not rows.isidentifier() or rows == "None":
        return None
    keywords = {"times": f'quantity([row[0] for row in {rows}], "s")',
                "values": f"[row[1] for row in {rows}]"}
    return SignalPart("signal.TimeTable", keywords | ({} if after == "held" else
                                                      {"ends": f'"{after}"'}), ())


_ROUNDING = {"floor": "floor", "ceil": "ceil", "round": "round", "fix": "fix"}


def _rounding(a: Asks) -> SignalPart:
    return SignalPart("signal.Rounding",
                      {"function": f'"{_ROUNDING[a.written("Operator", "floor")]}"'})


def _quantizer(a: Asks) -> SignalPart:
    return SignalPart("signal.Rounding", {"function": '"round"',
                                          "step": a.text("QuantizationInterval", "0.5")})


_LAWS = {  # functions that the library has no block for
    "asin": ("arcsin(self.u)", 1), "acos": ("arccos(self.u)", 1),
    "atan2": ("arctan2(self.u1, self.u2)", 2), "pow": ("self.u1 ** self.u2", 2),
    "hypot": ("sqrt(self.u1**2 + self.u2**2)", 2), "mod": ("mod(self.u1, self.u2)", 2),
    "10^u": ("10 ** self.u", 1), "signedSqrt": ("sign(self.u) * sqrt(abs_(self.u))", 1),
    "rSqrt": ("1 / sqrt(self.u)", 1), "asinh": ("log(self.u + sqrt(self.u**2 + 1))", 1),
    "acosh": ("log(self.u + sqrt(self.u**2 - 1))", 1),
    "atanh": ("log((1 + self.u) / (1 - self.u)) / 2", 1),
    "rem": ("sign(self.u1) * mod(abs_(self.u1), abs_(self.u2))", 2), "conj": ("self.u", 1),
    "transpose": ("self.u", 1), "hermitian": ("self.u", 1),
}  # fmt: skip
_SAME = {"atan": "arctan", "magnitude^2": "square"}


def _function(choice: str, default: str) -> Callable[[Asks], SignalPart | None]:
    def made(a: Asks) -> SignalPart | None:
        from ..signal import MathFunction

        written = a.written(choice, default)
        if written in _LAWS:
            text, count = _LAWS[written]
            return law(text, ("u",) if count == 1 else many("u", count))
        word = _SAME.get(written, written)
        allowed = MathFunction._declared["function"].choices  # type: ignore[attr-defined]
        return SignalPart("signal.MathFunction", {"function": f'"{word}"'}) if word in allowed \
            else None

    return made


_BETWEEN = {"Flat": "held", "Cubic spline": "cubic", "Akima spline": "smooth"}


def _table(a: Asks) -> SignalPart | None:
    count = int(a.number("NumberOfTableDimensions", "2") or 0)
    if count not in (1, 2, 3) or a.written("BreakpointsSpecification", "Explicit values") != \
            "Explicit values" or a.written("DataSpecification", "Table and breakpoints") != \
            "Table and breakpoints":
        return None
    axes = ("x",) if count == 1 else many("x", count)
    keywords = {axis: listed(a.text(f"BreakpointsForDimension{k}", "[10,22,31]"))
                for k, axis in enumerate(axes, 1)}
    keywords["values"] = listed(a.text("Table", "[4 5 6]"))
    between = a.written("InterpMethod", "Linear")
    if not between.startswith("Linear"):
        if between not in _BETWEEN or count > 1 and _BETWEEN[between] == "cubic":
            return None
        keywords["interpolation"] = f'"{_BETWEEN[between]}"'
    if a.written("ExtrapMethod", "Linear") == "Clip":
        keywords["extrapolation"] = '"nearest"'
    return SignalPart(f"signal.Table{count}D", keywords, ("u",) if count == 1 else
                      many("u", count))


def _delay(a: Asks) -> SignalPart:
    keywords = {"delay": seconds(a.text("DelayTime", "1"))}
    if a.number("InitialOutput", "0") != 0:
        keywords["initial_output"] = a.text("InitialOutput", "0")
    return SignalPart("signal.Delay", keywords)


def _minmax(a: Asks) -> SignalPart:
    count = int(a.written("Inputs", "1") or 1)
    name = "Maximum" if a.written("Function", "min") == "max" else "Minimum"
    keywords = {"inputs": str(count)} if count != 2 else {}
    if count == 1:
        return _passed(a)
    return SignalPart(f"signal.{name}", keywords, many("u", count))


def _pulse(a: Asks) -> SignalPart:
    period, width, delay = (a.text(*word) for word in (
        ("Period", "10"), ("PulseWidth", "5"), ("PhaseDelay", "0")))
    if a.written("PulseType", "Time based") == "Time based":
        return SignalPart("signal.Pulse", {
            "amplitude": a.text("Amplitude", "1"), "period": seconds(period),
            "width": f"{width} / 100", "start": seconds(delay)}, ())  # fmt: skip
    sample = a.text("SampleTime", "1")  # counted in samples
    return SignalPart("signal.Pulse", {
        "amplitude": a.text("Amplitude", "1"), "period": seconds(f"{period} * {sample}"),
        "width": f"{width} / {period}", "start": seconds(f"{delay} * {sample}")}, ())  # fmt: skip


def _pid(a: Asks) -> SignalPart | None:
    if a.written("Controller", "PID") not in ("PID", "PI", "PD", "P", "I") or \
            a.written("TimeDomain", "Continuous-time") != "Continuous-time" or \
            a.written("LimitOutput", "off") == "on" or a.written("Form", "Parallel") != "Parallel":
        return None
    kind = a.written("Controller", "PID")
    keywords = {"proportional": a.text("P", "1") if "P" in kind else "0"}
    if "I" in kind:
        keywords["integral"] = f'quantity({a.text("I", "1")}, "1/s")'
    if "D" in kind:
        keywords["derivative"] = f'quantity({a.text("D", "0")}, "s")'
        keywords["filter_time"] = f'quantity(1 / ({a.text("N", "100")}), "s")'
    return SignalPart("signal.PID", keywords)


def _written_law(a: Asks) -> SignalPart | None:
    """A block whose law is written in it, of one signal or of the elements of a vector."""
    text = re.sub(r"\bu[(\[](\d+)[)\]]", r"u(\1)", a.written("Expr", "sin(u[1])"))
    used = max((int(n) for n in re.findall(r"\bu\((\d+)\)", text)), default=1)
    inputs = ("u",) if used == 1 else many("u", used)
    text = re.sub(r"\bu\((\d+)\)", lambda m: inputs[int(m[1]) - 1], text)
    tree = parse(re.sub(r"\bsgn\(", "sign(", text))
    written = python_of(tree, lambda path: f"self.{path}" if path in inputs else a.name(path))
    if re.search(r"[<>]|[=!]=|\b(and|or|not)\b", written):
        return None  # a condition that is used as a number
    return law(written.replace("np.pi", repr(math.pi)).replace("np.abs(", "abs_(").replace(
        "np.", ""), inputs)


def _passed(a: Asks) -> SignalPart:
    return SignalPart("signal.Gain", {})


_BLOCKS: dict[str, Callable[[Asks], SignalPart | None]] = {
    "Constant": _constant, "Step": _step, "Sin": _sine, "Clock": _clock, "DigitalClock": _clock,
    "Gain": _gain, "Sum": _sum, "Product": _product, "Integrator": _integrator,
    "TransferFcn": _transfer, "Saturate": _saturation, "DeadZone": _dead_zone,
    "RelationalOperator": _relation, "Logic": _logic, "Switch": _switch, "Lookup_n-D": _table,
    "TransportDelay": _delay, "MinMax": _minmax, "Math": _function("Operator", "exp"),
    "Sqrt": _function("Operator", "sqrt"), "Trigonometry": _function("Operator", "sin"),
    "Derivative": _derivative, "StateSpace": _state_space, "ManualSwitch": _manual_switch,
    "MultiPortSwitch": _multiport_switch, "Relay": _relay, "Backlash": _backlash,
    "Fcn": _written_law, "FromWorkspace": _from_workspace, "Rounding": _rounding,
    "Quantizer": _quantizer,
    "Bias": lambda a: law(f"self.u + {a.text('Bias', '0')}"), **SAMPLED,
    "DiscretePulseGenerator": _pulse, "DataTypeConversion": _passed, "RateTransition": _passed,
    "SignalConversion": _passed, "SignalSpecification": _passed,
    "Abs": lambda a: SignalPart("signal.Abs"), "Signum": lambda a: SignalPart("signal.Sign"),
    "Ground": lambda a: SignalPart("signal.Constant", {"value": "0"}, ()),
}  # fmt: skip

_SOURCES = ("Sin", "Step", "DigitalClock")  # that may be sampled

# masked blocks of Simulink's own library, by the last part of their path
_LINKED: dict[str, Callable[[Asks], SignalPart | None]] = {
    "Ramp": _ramp, "PID Controller": _pid, "Compare To Constant": _compare_to("3"),
    "Compare To Zero": _compare_to("0"), "Chirp Signal": _chirp,
    "Repeating Sequence": _repeating, "Repeating table": _repeating,
    "Manual Switch": _manual_switch,
    "Slider Gain": lambda a: SignalPart("signal.Gain", {"gain": a.text("gain", "1")}),
    "Saturation Dynamic": lambda a: law("maximum(minimum(self.u, self.upper), self.lower)",
                                        ("upper", "u", "lower")),
}  # fmt: skip


def signal_part(block: Block, asks: Asks) -> SignalPart | None:
    """The counterpart of a Simulink block; None where there is none for its settings."""
    made = _BLOCKS.get(block.block_type)
    if made is None and block.kind.startswith("simulink"):
        made = _LINKED.get(block.kind.rpartition("/")[2])
    part = made(asks) if made is not None else None
    if part is not None and block.block_type in _SOURCES and (
            asks.number("SampleTime", "0") or 0) > 0:
        part.note = part.note or "Its sample time is not taken: it is continuous here."
    return part
