"""Which signal block here does what a Simulink block does?

Numbers of Simulink carry no units: the blocks here are given none.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Protocol

from .diagram import Block

__all__ = ["SINKS", "Asks", "SignalPart", "UNSEEN", "defaults_of", "signal_part"]

# what only shows or keeps a signal
SINKS = {"Scope", "Display", "Terminator", "ToWorkspace", "ToFile", "XYGraph", "DashboardScope",
         "DisplayBlock", "Outport", "Assertion", "Stop"} - {"Outport"}  # fmt: skip
# what has no part in the physics
UNSEEN = {"KnobBlock", "SliderBlock", "PanelWebBlock", "ToggleSwitchBlock", "RotarySwitchBlock",
          "RockerSwitchBlock", "SliderSwitchBlock", "LampBlock", "CircularGaugeBlock",
          "LinearGaugeBlock", "QuarterGaugeBlock", "SemiCircularGaugeBlock", "DashboardScope",
          "DisplayBlock", "EditField", "CheckBox", "ComboBox", "PushButtonBlock", "RadioButton",
          "CallbackButton", "SimscapeProbe"}  # fmt: skip


@dataclass
class SignalPart:
    """A component for a Simulink block: keywords as texts, ports by number."""

    component: str  # "signal.Gain"
    keywords: dict[str, str] = field(default_factory=dict)
    inputs: tuple[str, ...] = ("u",)
    outputs: tuple[str, ...] = ("y",)
    note: str = ""


class Asks(Protocol):
    """Gives the values of a block's parameters as Python text."""

    def text(self, name: str, default: str) -> str: ...
    def written(self, name: str, default: str) -> str: ...
    def number(self, name: str, default: str) -> float | None: ...


@cache
def defaults_of(block_type: str) -> dict[str, str]:
    """Values that files do not repeat, of a type of block."""
    text = Path(__file__).with_name("simulink_defaults.json").read_text(encoding="utf-8")
    found: dict[str, dict[str, str]] = json.loads(text)
    return found.get(block_type, {})


def _many(word: str, count: int) -> tuple[str, ...]:
    return tuple(f"{word}{k}" for k in range(1, count + 1))


def _seconds(text: str) -> str:
    return f'quantity({text}, "s")' if not _plain(text) else f'"{text} s"'


def _plain(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True


def _constant(a: Asks) -> SignalPart:
    return SignalPart("signal.Constant", {"value": a.text("Value", "1")}, ())


def _step(a: Asks) -> SignalPart:
    keywords = {"final": a.text("After", "1"), "start": _seconds(a.text("Time", "1"))}
    if a.number("Before", "0") != 0:
        keywords["initial"] = a.text("Before", "0")
    return SignalPart("signal.Step", keywords, ())


def _sine(a: Asks) -> SignalPart | None:
    if "Sample based" in a.written("SineType", "Time based"):
        return None
    turns = _per_turn(a.text("Frequency", "1"))
    keywords = {"amplitude": a.text("Amplitude", "1"),
                "frequency": f'"{turns} Hz"' if _plain(turns) else f'quantity({turns}, "Hz")'}
    if a.number("Bias", "0") != 0:
        keywords["bias"] = a.text("Bias", "0")
    if a.number("Phase", "0") != 0:
        keywords["phase"] = f'quantity({a.text("Phase", "0")}, "rad")'
    return SignalPart("signal.Sine", keywords, ())


def _per_turn(text: str) -> str:
    if text.startswith("2 * np.pi * "):
        return text.removeprefix("2 * np.pi * ")
    whole = text if text.replace(".", "").isalnum() else f"({text})"
    return f"{whole} / (2 * np.pi)"


def _clock(a: Asks) -> SignalPart:
    return SignalPart("signal.Ramp", {"slope": '"1 1/s"'}, ())


def _ramp(a: Asks) -> SignalPart:
    keywords = {"slope": f'quantity({a.text("slope", "1")}, "1/s")',
                "start": _seconds(a.text("start", "0"))}
    if a.number("InitialOutput", "0") != 0:
        keywords["initial"] = a.text("InitialOutput", "0")
    return SignalPart("signal.Ramp", keywords, ())


def _gain(a: Asks) -> SignalPart | None:
    if a.written("Multiplication", "Element-wise(K.*u)").startswith("Matrix"):
        return None
    return SignalPart("signal.Gain", {"gain": a.text("Gain", "1")})


def _signs(a: Asks, default: str, one: str) -> str:
    written = a.written("Inputs", default).replace("|", "").replace(" ", "").strip("'\"")
    return one * int(written) if written.isdigit() else written


def _sum(a: Asks) -> SignalPart | None:
    signs = _signs(a, "++", "+")
    if not signs or set(signs) - {"+", "-"} or len(signs) == 1:
        return None
    return SignalPart("signal.Sum", {"signs": f'"{signs}"'}, _many("u", len(signs)))


def _product(a: Asks) -> SignalPart | None:
    signs = _signs(a, "2", "*")
    if signs == "*/":
        return SignalPart("signal.Divide", {}, ("u1", "u2"))
    if set(signs) != {"*"} or len(signs) < 2:
        return None
    units = ", ".join(["1"] * len(signs))
    keywords = {"units": f'"{units}"'} if len(signs) > 2 else {}
    return SignalPart("signal.Product", keywords, _many("u", len(signs)))


def _integrator(a: Asks) -> SignalPart | None:
    if a.written("ExternalReset", "none") != "none" or a.written("LimitOutput", "off") == "on" \
            or a.written("InitialConditionSource", "internal") != "internal":
        return None
    keywords = {"numerator": "[1]", "denominator": "[1, 0]"}
    if a.number("InitialCondition", "0") != 0:
        keywords["x1"] = f'quantity({a.text("InitialCondition", "0")}, "")'
    return SignalPart("signal.TransferFunction", keywords)


def _transfer(a: Asks) -> SignalPart:
    return SignalPart("signal.TransferFunction", {
        "numerator": _listed(a.text("Numerator", "[1]")),
        "denominator": _listed(a.text("Denominator", "[1 1]"))})  # fmt: skip


def _listed(text: str) -> str:
    return text if text.startswith(("[", "np.")) or text.isidentifier() else f"[{text}]"


def _saturation(a: Asks) -> SignalPart:
    return SignalPart("signal.Saturation", {"upper": a.text("UpperLimit", "0.5"),
                                            "lower": a.text("LowerLimit", "-0.5")})


def _dead_zone(a: Asks) -> SignalPart:
    return SignalPart("signal.DeadZone", {"upper": a.text("UpperValue", "0.5"),
                                          "lower": a.text("LowerValue", "-0.5")})


def _relation(a: Asks) -> SignalPart | None:
    sign = a.written("Operator", "<=")
    if sign not in (">", ">=", "<", "<="):
        return None
    return SignalPart("signal.Compare", {"relation": f'"{sign}"'}, ("u1", "u2"))


def _logic(a: Asks) -> SignalPart | None:
    word, count = a.written("Operator", "AND"), int(a.written("Inputs", "2") or 2)
    if word == "NOT":
        return SignalPart("signal.Not")
    if word not in ("AND", "OR"):
        return None
    keywords = {"inputs": str(count)} if count != 2 else {}
    return SignalPart(f"signal.{word.title()}", keywords, _many("u", count))


def _switch(a: Asks) -> SignalPart | None:
    if a.written("Criteria", "u2 >= Threshold") != "u2 >= Threshold":
        return None
    return SignalPart("signal.Switch", {"threshold": a.text("Threshold", "0")},
                      ("u1", "control", "u2"))


def _table(a: Asks) -> SignalPart | None:
    if a.written("NumberOfTableDimensions", "2") != "1":
        return None
    keywords = {"x": _listed(a.text("BreakpointsForDimension1", "[10,22,31]")),
                "values": _listed(a.text("Table", "[4 5 6]"))}
    if a.written("ExtrapMethod", "Linear") == "Clip":
        keywords["extrapolation"] = '"hold"'
    return SignalPart("signal.Table1D", keywords)


def _delay(a: Asks) -> SignalPart:
    keywords = {"delay": _seconds(a.text("DelayTime", "1"))}
    if a.number("InitialOutput", "0") != 0:
        keywords["initial_output"] = a.text("InitialOutput", "0")
    return SignalPart("signal.Delay", keywords)


def _sampled(name: str) -> Callable[[Asks], SignalPart | None]:
    def made(a: Asks) -> SignalPart | None:
        period = a.number("SampleTime", "-1")
        if period is None or period <= 0:
            return None
        return SignalPart(name, {"sample_time": _seconds(a.text("SampleTime", "-1"))})

    return made


def _minmax(a: Asks) -> SignalPart | None:
    count = int(a.written("Inputs", "1") or 1)
    name = "Maximum" if a.written("Function", "min") == "max" else "Minimum"
    keywords = {"inputs": str(count)} if count != 2 else {}
    return SignalPart(f"signal.{name}", keywords, _many("u", count)) if count > 1 else None


def _function(name: str, choice: str, default: str) -> Callable[[Asks], SignalPart | None]:
    def made(a: Asks) -> SignalPart | None:
        from ..signal import MathFunction

        written = a.written(choice, default)
        word = {"asin": "arcsin", "acos": "arccos", "atan": "arctan"}.get(written, written)

        allowed = MathFunction._declared["function"].choices  # type: ignore[attr-defined]
        if word not in allowed:
            return None
        return SignalPart(name, {"function": f'"{word}"'})

    return made


def _pulse(a: Asks) -> SignalPart | None:
    if a.written("PulseType", "Time based") != "Time based":
        return None
    return SignalPart("signal.Pulse", {
        "amplitude": a.text("Amplitude", "1"), "period": _seconds(a.text("Period", "10")),
        "width": f'{a.text("PulseWidth", "5")} / 100',
        "start": _seconds(a.text("PhaseDelay", "0"))}, ())  # fmt: skip


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


def _passed(a: Asks) -> SignalPart:
    return SignalPart("signal.Gain", {})


_BLOCKS: dict[str, Callable[[Asks], SignalPart | None]] = {
    "Constant": _constant, "Step": _step, "Sin": _sine, "Clock": _clock, "DigitalClock": _clock,
    "Gain": _gain, "Sum": _sum, "Product": _product, "Integrator": _integrator,
    "TransferFcn": _transfer, "Saturate": _saturation, "DeadZone": _dead_zone,
    "RelationalOperator": _relation, "Logic": _logic, "Switch": _switch, "Lookup_n-D": _table,
    "TransportDelay": _delay, "ZeroOrderHold": _sampled("signal.ZeroOrderHold"),
    "UnitDelay": _sampled("signal.UnitDelay"), "MinMax": _minmax,
    "Math": _function("signal.MathFunction", "Operator", "exp"),
    "Sqrt": _function("signal.MathFunction", "Operator", "sqrt"),
    "Trigonometry": _function("signal.MathFunction", "Operator", "sin"),
    "DiscretePulseGenerator": _pulse, "DataTypeConversion": _passed, "RateTransition": _passed,
    "SignalConversion": _passed, "SignalSpecification": _passed,
    "Abs": lambda a: SignalPart("signal.Abs"), "Signum": lambda a: SignalPart("signal.Sign"),
    "Ground": lambda a: SignalPart("signal.Constant", {"value": "0"}, ()),
}  # fmt: skip

# masked blocks of Simulink's own library, by the last part of their path
_LINKED: dict[str, Callable[[Asks], SignalPart | None]] = {
    "Ramp": _ramp, "PID Controller": _pid,
}  # fmt: skip


def signal_part(block: Block, asks: Asks) -> SignalPart | None:
    """The counterpart of a Simulink block; None where there is none for its settings."""
    made = _BLOCKS.get(block.block_type)
    if made is None and block.kind.startswith("simulink"):
        made = _LINKED.get(block.kind.rpartition("/")[2])
    return made(asks) if made is not None else None
