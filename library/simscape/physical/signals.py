"""Which signal block here does what a block for physical signals does, and in which units?"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import partial
from math import prod
from typing import Any

from blocks import quantity

from ..file.diagram import Block
from ..simulink import signal_part
from ..simulink.block_parameters import BlockParameters
from ..simulink.signal_part import SignalPart, Unmapped, edge, factor, many, one_or_many, reset_on
from ..tables import content_of
from ..write.plan import Written
from .units import alike, unit_here

__all__ = ["SIGNALS", "is_physical_signal", "physical_signal_part",
           "unit_expected"]  # fmt: skip

_SIGNAL = "foundation.signal."
_TWO = ("I1", "I2")


def product(*units: str) -> str:
    """The unit of a product, as short as pint writes it."""
    return _unit_of(prod((quantity(1.0, unit) for unit in units), start=quantity(1.0, "")))


def quotient(a: str, b: str) -> str:
    """The unit of a quotient."""
    return _unit_of(quantity(1.0, a) / quantity(1.0, b))


def _unit_of(made: Any) -> str:
    return f"{made.units:~C}".replace("**", "^") if not made.unitless else ""


def _named(unit: str, word: str = "unit") -> dict[str, str]:
    return {word: f'"{unit}"'} if unit else {}


@dataclass
class Made:
    """A part, the unit of its output, or of several by port, and in which unit it takes inputs."""

    part: SignalPart
    unit: str
    units: dict[str, str] = field(default_factory=dict)
    takes: dict[str, str] = field(default_factory=dict)


def _made(component: str, keywords: dict[str, str], unit: str, inputs: tuple[str, ...] = ("I",),
          outputs: tuple[str, ...] = ("O",), note: str = "", here: tuple[str, ...] = (),
          **units: dict[str, str]) -> Made:
    """A part whose ports are called u, or u1, u2 …, and y, or as in ``here``."""
    names = here or (*one_or_many("u", len(inputs)), "y")
    return Made(SignalPart(component, keywords, inputs, outputs, note,
                           ports=dict(zip((*inputs, *outputs), names, strict=True))), unit, **units)


def _gain(a: BlockParameters) -> Made:
    gain, unit = a.value("gain", "1"), a.unit("I")
    return _made("signal.Gain", {**_named(unit, "input"), "gain": gain.argument},
                 product(gain.unit, unit))


def _of_two(a: BlockParameters, component: str, unit: Callable[[str, str], str]) -> Made:
    units = a.unit("I1"), a.unit("I2")
    keywords = {"units": f'"{units[0] or 1}, {units[1] or 1}"'} if any(units) else {}
    return _made(component, keywords, unit(*units), _TWO)


def _constant(a: BlockParameters) -> Made:
    value = a.value("constant", "1")
    return _made("signal.Constant", {"value": value.argument}, value.unit, ())


def _ramp(a: BlockParameters) -> Made:
    slope = a.value("slope", "1")
    slope = slope.times(slope.unit or "1/s")
    return _made("signal.Ramp", {
        "slope": slope.argument, "start": a.value("start_time").argument,
        **a.unless_zero(initial="initial_output")}, product(slope.unit, "s"), ())


def _sine(a: BlockParameters) -> Made:
    amplitude, phase = a.value("amplitude", "1"), a.value("phase")
    keywords = {"amplitude": amplitude.argument}
    if a.choice("frequency_spec").endswith("si") or a.choice("frequency_spec") == "1":
        keywords["frequency"] = a.value("frequency_SI", "1").argument
    else:
        turns = a.value("frequency_angular", "1")
        factor = quantity(1.0, turns.unit or "rad/s").to("rad/s").magnitude
        scaled = turns.python if factor == 1 else f"{turns.python} * {factor:g}"
        keywords["frequency"] = f'quantity(({scaled}) / (2 * np.pi), "Hz")'
    if phase.value != 0:
        keywords["phase"] = phase.times(phase.unit or "rad").argument
    return _made("signal.Sine", keywords | a.unless_zero(bias="bias"), amplitude.unit, ())


def _step(a: BlockParameters) -> Made:
    final = a.value("final_value", "1")
    return _made("signal.Step", {
        "final": final.argument, "start": a.value("step_time", "1").argument,
        **a.unless_zero(initial="initial_value")}, final.unit, ())


def _limits(a: BlockParameters, name: str) -> Made:
    upper, lower = a.value("upper_limit", "0.5"), a.value("lower_limit", "-0.5")
    infinite = [w for w in (upper, lower) if w.value in (float("inf"), -float("inf"))]
    for w in infinite:
        w.python, w.literal = ("1e30" if w.value > 0 else "-1e30"), True
    unit = upper.unit or lower.unit
    return _made(name, {"upper": upper.argument, "lower": lower.argument}, unit, takes={"I": unit},
                 note="A limit that is infinite is 1e30 here." if infinite else "")


def _alike(a: BlockParameters, name: str, inputs: tuple[str, ...] = ("I",)) -> Made:
    """A part that gives its output in the unit of its inputs; the sign is a number."""
    unit = next(filter(None, map(a.unit, inputs)), "")
    return _made(name, _named(unit), "" if name == "signal.Sign" else unit, inputs,
                 takes=dict.fromkeys(inputs, unit))


def _integrator(a: BlockParameters) -> Made:
    reset, limits = a.choice("reset_method"), a.choice("saturation_spec")
    starts = [p for p in a.ports("input") if p.upper() == "X0"]
    resets = [p for p in a.ports("input") if p != "I" and p not in starts]
    if len(resets) > 1 or bool(resets) != (reset in signal_part.RESETS) or starts and (
            limits not in _NO or reset == "level"):
        raise Unmapped("Limits that are signals, and a start from a signal beside limits or a "
                       "reset by level, have no counterpart here.")
    unit = a.unit("I")
    whole = product(unit, "s")
    initial = a.value("x0")
    initial = initial.times(initial.unit or whole)
    keywords, here, before = _named(unit, "input"), ["u"], []
    if limits not in _NO:
        keywords |= {"limited": "True", "lower": _bound(a, "xl", "upper" in limits, -1, whole),
                     "upper": _bound(a, "xu", "lower" in limits, 1, whole)}
    if resets:
        keywords |= {"external_reset": "True", **reset_on(reset)}
        here.append("reset")
        before.append(edge(reset, a.unit(resets[0])))
    if starts:
        keywords["external_start"] = "True"
        here.append("start")
    elif initial.value != 0:
        keywords |= dict.fromkeys(("x", *(["reset_value"] if resets else [])), initial.argument)
    made = _made("signal.Integrator", keywords, whole, ("I", *resets, *starts), here=(*here, "y"))
    made.part.before = tuple(before)
    return made


_NO = ("", "1", "none")


def _bound(a: BlockParameters, name: str, free: bool, side: int, unit: str) -> str:
    """A limit; one that is free or infinite is a number that nothing reaches."""
    limit = a.value(name, "inf" if side > 0 else "-inf")
    if free or isinstance(limit.value, float) and abs(limit.value) > 1e30:
        limit.python, limit.literal = ("1e30" if side > 0 else "-1e30"), True
    return limit.times(limit.unit or unit).argument


def _lag(a: BlockParameters) -> Made:
    kind, unit = a.choice("transfer_function_type"), a.unit("U")
    if len(a.ports("input")) > 1:
        raise Unmapped("A start or a reset by a signal has no counterpart here.")
    keywords = {**_named(unit, "input"), **_named(unit, "output")}
    if kind in ("leadlag", "lead_lag", "2"):
        above, below = (f"[{in_seconds(a.value(name, '1'))}, 1]" for name in ("T1", "T2"))
        keywords |= {"numerator": above, "denominator": below}
        return _made("signal.TransferFunction", keywords, unit, ("U",), ("Y",),
                     "It starts at rest, and not from its initial output.")
    if kind not in ("lag", "1"):
        raise Unmapped(f"A transfer function of the kind {kind!r} has no counterpart here.")
    keywords |= {"numerator": "[1]", "denominator": f"[{in_seconds(a.value('T', '1'))}, 1]"}
    start = a.value("y0")
    if start.value != 0:  # its state is the output, as a number in its unit
        keywords["x1"] = start.python
    return _made("signal.TransferFunction", keywords, unit, ("U",), ("Y",))


def in_seconds(lag: Written) -> str:
    """A time as a number of seconds."""
    if lag.unit in ("", "s"):
        return lag.python
    return f"{lag.python} * {quantity(1.0, lag.unit).to('s').magnitude:g}"


def _table(a: BlockParameters) -> Made:
    x, f = _points(a, "x"), _points(a, "f")
    keywords = {"x": x.argument, "values": f.argument, **_reading(a)}
    return _made("signal.Table1D", keywords, f.unit, takes={"I": x.unit})


def _table_of_several(a: BlockParameters, count: int) -> Made:
    f = _points(a, "f", "[0 1; 1 2]")
    keywords = {axis: _points(a, axis).argument for axis in many("x", count)}
    keywords |= {"values": f.argument, **_reading(a)}
    return _made(f"signal.Table{count}D", keywords, f.unit, many("I", count))


def _points(a: BlockParameters, name: str, default: str = "[0 1]") -> Written:
    found = a.value(name, default)
    if isinstance(found.value, (int, float)):
        raise Unmapped(f"Its {name} is one number, and takes a list of them.")
    return found


def _reading(a: BlockParameters) -> dict[str, str]:
    """How a table is read between its points and outside."""
    return {word: f'"{other}"' for word, choice, other in (
        ("interpolation", "interp_method", "smooth"), ("extrapolation", "extrap_method", "nearest"))
        if a.choice(choice) in (other, "2")}


_EXPONENTS = {"square": 2.0, "cube": 3.0, "sqrt": 0.5, "reciprocal": -1.0}
_FUNCTIONS = ("sin", "cos", "exp", "log", "10^u", "log10", "square", "sqrt", "reciprocal", "tanh",
              "pow")  # in the documented order


def _function(a: BlockParameters) -> Made:
    word, unit, v = a.choice("fcn_choice"), a.unit("I"), a.number("v", "1")
    if word.isdigit():
        word = _FUNCTIONS[int(word) - 1] if 0 < int(word) <= len(_FUNCTIONS) else ""
    if word == "pow":
        word = next((w for w, p in _EXPONENTS.items() if p == v), "pow")
    if word == "pow":
        return _to_the_power(a.value("v", "1"), unit)
    if "10" in word and "log" not in word:
        return _law("10 ** self.u", "")
    if word not in _FUNCTIONS and word != "cube":
        raise Unmapped(f"The function {a.choice('fcn_choice')!r} has no counterpart here.")
    keywords = {"function": f'"{word}"', **_named(unit)}
    if word == "square":
        del keywords["function"]
    return _made("signal.MathFunction", keywords, _power(unit, _EXPONENTS.get(word, 0.0)))


def _law(equation: str, unit: str, units: Mapping[str, str] | None = None) -> Made:
    made = _made("", {}, unit)
    made.part.equation, made.part.units = f"self.y == {equation}", dict(units or {})
    return made


def _to_the_power(v: Written, unit: str) -> Made:
    """The power with any exponent, of a number or of a quantity."""
    if not isinstance(v.value, (int, float)):
        raise Unmapped("Its exponent has no value.")
    result = _power(unit, v.value)
    exponent = factor(v.python)
    return _law(f'(self.u / quantity("1 {unit}")) ** {exponent} * quantity("1 {result}")'
                if unit else f"self.u ** {exponent}", result, {"u": unit, "y": result})


def _power(unit: str, exponent: float) -> str:
    return _unit_of(quantity(1.0, unit) ** exponent)


def _switch(a: BlockParameters) -> Made:
    unit, threshold = a.unit("I1") or a.unit("I3"), a.value("Threshold", "0.5")
    threshold = threshold.times(threshold.unit or a.unit("I2"))
    return _made("signal.Switch", {**_named(unit), "threshold": threshold.argument}, unit,
                 ("I1", "I2", "I3"), here=("u1", "control", "u2", "y"),
                 takes={"I1": unit, "I3": unit})


def _rms(a: BlockParameters) -> Made:
    unit = a.unit("I")
    return _made("signal.PeriodicRMS", {
        **_named(unit), "frequency": a.value("f0", "60").argument}, unit)


def _harmonic(a: BlockParameters, amplitude: bool) -> Made:
    unit, outputs = a.unit("I"), a.ports("output")
    if len(outputs) != 2:
        raise Unmapped("Its two outputs are not both known.")
    keywords = {**_named(unit), "frequency": a.value("f0", "60").argument}
    if a.number("n", "1") != 1:
        keywords["harmonic"] = f'{a.number("n", "1"):g}'
    if amplitude:
        least = a.value("amplMin", "0.001")
        keywords["minimum_amplitude"] = least.times(least.unit or unit).argument
    here = ("u", "amplitude", "phase") if amplitude else ("u", "real", "imaginary")
    return _made("signal.HarmonicEstimator", keywords, unit, outputs=tuple(outputs), here=here,
                 note="The phase counts from a sine; that Simscape's does is not verified.",
                 units={outputs[1]: "rad" if amplitude else unit})


def _sum_of_elements(a: BlockParameters) -> Made:
    inputs = tuple(a.ports("input"))
    if len(inputs) < 2:
        raise Unmapped("It adds the elements of a vector that is not known here.")
    made = _alike(a, "signal.Sum", inputs)
    made.part.keywords["signs"] = f'"{"+" * len(inputs)}"'
    return made


def _rounding(a: BlockParameters, function: str) -> Made:
    unit = a.unit("I")
    return _made("signal.Rounding", {"function": f'"{function}"',
                                     **_named(unit and f"1 {unit}", "step")}, unit)


SIGNALS: dict[str, Callable[[BlockParameters], Made]] = {
    "functions.gain": _gain, "sources.constant": _constant, "sources.ramp": _ramp,
    "sources.sine_wave": _sine, "sources.step": _step, "linear.integrator": _integrator,
    "linear.transfer_function": _lag, "functions.math_function": _function,
    "nonlinear.controlled_switch": _switch, "functions.sum_of_elements": _sum_of_elements,
    "periodic_operators.RMS": _rms, "lookup_tables.one_dimensional": _table,
    "lookup_tables.two_dimensional": partial(_table_of_several, count=2),
    "lookup_tables.three_dimensional": partial(_table_of_several, count=3),
    "functions.product": partial(_of_two, component="signal.Product", unit=product),
    "functions.divide": partial(_of_two, component="signal.Divide", unit=quotient),
    "nonlinear.saturation": partial(_limits, name="signal.Saturation"),
    "nonlinear.dead_zone": partial(_limits, name="signal.DeadZone"),
    **{name: partial(_alike, name=f"signal.{here}", inputs=inputs) for name, here, inputs in (
        ("functions.add", "Sum", _TWO), ("functions.subtract", "Subtract", _TWO),
        ("nonlinear.max", "Maximum", _TWO), ("nonlinear.min", "Minimum", _TWO),
        ("nonlinear.abs", "Abs", ("I",)), ("nonlinear.sign", "Sign", ("I",)))},
    **{f"periodic_operators.harmonic_estimator_{name}": partial(_harmonic, amplitude=amplitude)
       for name, amplitude in (("amplitude_phase", True), ("real_imag", False))},
    **{f"nonlinear.{name}": partial(_rounding, function=name) for name in ("ceil", "floor", "fix")},
}  # fmt: skip


def unit_expected(block: Block, port: str) -> str:
    """The unit in which a block takes an input, where one of its parameters says it."""
    kind = block.kind.removeprefix(_SIGNAL)
    said = content_of("signal_blocks.json")["same unit"].get(kind, {})
    value = block.values.get(said.get(port, ""))
    unit = "" if value is None else unit_here(value.unit, block.name)
    return quotient(unit, "s") if unit and kind == "linear.integrator" else unit


def is_physical_signal(block: Block) -> bool:
    """Whether this is a block for physical signals."""
    return block.kind.startswith(_SIGNAL) and "sinks" not in block.kind


def physical_signal_part(block: Block, asks: BlockParameters) -> Made:
    """The counterpart of a block for physical signals; ``Unmapped`` is raised where there is none.

    Inputs that come in another kind of unit than the block takes are taken as numbers in that one,
    as blocks of the legacy library, which know no units, take them.
    """
    makes = SIGNALS.get(block.kind.removeprefix(_SIGNAL))
    if makes is None:
        raise Unmapped("It has no counterpart here.")
    made = makes(asks)
    for port, unit in made.takes.items():
        comes, part = asks.unit(port), made.part
        if not alike(comes, unit):
            part.before += ((part.inputs.index(port), "number", SignalPart("signal.Gain", {
                **_named(comes, "input"), "gain": f'"1 {quotient(unit, comes or "1")}"'})),)
            if comes:
                said = (f"Its input {port} is in {comes}, and it calculates with "
                        f"{unit or 'plain numbers'}: the number is taken over.")
                part.note = f"{part.note} {said}".strip()
    return made
