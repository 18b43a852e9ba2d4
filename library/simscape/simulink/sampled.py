"""Which sampled block here does what a discrete Simulink block does?

Inherited sample times have been written into the blocks before; one that is still -1 is that of
signals without a sample time, and such a block becomes a gap.
"""

from __future__ import annotations

from . import signal_part
from .block_parameters import BlockParameters
from .signal_part import Makes, SignalPart, Unmapped, factor, limits_of, listed, many, seconds

__all__ = ["RULES", "SAMPLED", "TRIGGERED", "matrices_of", "period_of", "ports_of",
           "zeros_and_poles"]  # fmt: skip

RULES = {"Forward": "forward", "Backward": "backward", "Trapezoidal": "trapezoidal"}
TRIGGERED = "triggered"  # in place of the sample time of a block in a triggered subsystem


def period_of(a: BlockParameters, default: str = "-1") -> dict[str, str]:
    """The sample time."""
    if a.written("SampleTime", default) == TRIGGERED:
        raise Unmapped("It samples whenever its subsystem is triggered, which has no counterpart "
                       "here.")
    value = a.number("SampleTime", default)
    if value is None or value <= 0:
        raise Unmapped("Its sample time is that of the blocks before it, none of which has one. "
                       "Give it one in the model, or to the block that you put in its place.")
    return {"sample_time": seconds(a.text("SampleTime", default))}


def _delay(a: BlockParameters) -> SignalPart:
    keywords, length = period_of(a), a.number("DelayLength", "2")
    if not length or a.written("DelayLengthSource", "Dialog") != "Dialog":
        raise Unmapped("Its length is 0, or comes from a signal.")
    _starts_at_rest(a, "InitialCondition")
    return SignalPart("signal.DiscreteTransferFunction", {
        **keywords, "numerator": "[1]", "denominator": f"[1{', 0' * int(length)}]"})


def _integrator(a: BlockParameters) -> SignalPart:
    keywords = period_of(a, "1")
    method = a.written("IntegratorMethod", "Integration: Forward Euler")
    kind, _, rule = method.partition(": ")
    if kind not in ("Integration", "Accumulation"):
        raise Unmapped(f"Its method {method!r} has no counterpart here.")
    for name, usual in (("ExternalReset", "none"), ("InitialConditionSource", "internal")):
        if a.written(name, usual) != usual:
            raise Unmapped(f"Its {name} is {a.written(name, usual)!r}; a sampled integrator knows "
                           f"{usual!r} here.")
    word = RULES[rule.split()[0]]
    if word != "forward":
        keywords["method"] = f'"{word}"'
    keywords |= limits_of(a) | a.unless_zero(x="InitialCondition")
    gain = "" if a.number("gainval", "1") == 1 else a.text("gainval", "1.0")
    if kind == "Accumulation":  # a sum, without the time between samples
        gain = f"{factor(gain or '1')} / {factor(a.text('SampleTime', '1'))}"
    return SignalPart("signal.DiscreteIntegrator", {"input": '"1/s"', **keywords}, before=(
        signal_part.per_second(f'quantity({gain}, "1/s")') if gain else signal_part.per_second(),))


def _transfer(a: BlockParameters) -> SignalPart:
    keywords = period_of(a)
    _starts_at_rest(a, "InitialStates")
    return SignalPart("signal.DiscreteTransferFunction", {
        **keywords, "numerator": listed(a.text("Numerator", "[1]")),
        "denominator": listed(a.text("Denominator", "[1 0.5]"))})  # fmt: skip


def _filter(a: BlockParameters, *names: tuple[str, str]) -> SignalPart:
    """A filter in powers of 1/z: as many powers of z above and below."""
    _starts_at_rest(a, "InitialStates")
    if a.written("CoefSource", "Dialog parameters") == "Input port":
        raise Unmapped("Its coefficients come from a signal.")
    texts = [listed(a.text(*name)) for name in names]
    sizes = [max(a.shape(*name), default=1) for name in names]
    zeros = [", 0" * (max(sizes) - size) for size in sizes]  # behind the shorter one
    above, below = (text if not more else f"{text[:-1]}{more}]" if text.startswith("[") else
                    f"[*{text}{more}]" for text, more in zip(texts, zeros, strict=True))
    return SignalPart("signal.DiscreteTransferFunction", {
        **period_of(a), "numerator": above, "denominator": below})


def _starts_at_rest(a: BlockParameters, name: str) -> None:
    if a.number(name, "0") != 0:
        raise Unmapped(f"It starts from {name} = {a.written(name, '0')}; here it starts from 0.")


def _space(a: BlockParameters) -> SignalPart:
    keywords = period_of(a)
    _starts_at_rest(a, "InitialCondition")
    return SignalPart("signal.DiscreteStateSpace", keywords | matrices_of(a), *ports_of(a))


def ports_of(a: BlockParameters) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """The inputs and outputs of a state space: u1, u2, … and y1, y2, …."""
    inputs, outputs = ((*a.shape(name, "1"), 1, 1)[at] for name, at in (("B", 1), ("C", 0)))
    return many("u", inputs), many("y", outputs)


def matrices_of(a: BlockParameters) -> dict[str, str]:
    """Matrices of a state space; of one input and output B is a column, C a row."""
    return {name: matrix(a.text(name, "1"), a.shape(name, "1"), name == "B") for name in "ABCD"}


def matrix(text: str, shape: tuple[int, ...], column: bool = False) -> str:
    """A matrix as rows, also where it is written as a number, a row or a column."""
    if not shape:
        return f"[[{text}]]"
    if 1 not in shape or text.startswith("[["):
        return text
    column = shape[0] > 1 or column and shape == (1, 1)
    if column and text.startswith("[") and "(" not in text:
        return f"[{', '.join(f'[{entry.strip()}]' for entry in text.strip('[]').split(','))}]"
    return f"[[x] for x in {text}]" if column else f"[{text}]"


def zeros_and_poles(a: BlockParameters, zeros: str, poles: str) -> dict[str, str]:
    """The fraction of a block that is given by its zeros, its poles and a gain."""
    given = {"Zeros": zeros, "Poles": poles, "Gain": "1"}
    shapes = {name: a.shape(name, default) for name, default in given.items()}
    if any(min(shape, default=1) > 1 for shape in shapes.values()):
        raise Unmapped("It has several outputs; here one block has one.")
    above, below = ("" if 0 in shapes[name] else f"np.poly({listed(a.text(name, given[name]))})"
                    for name in ("Zeros", "Poles"))
    gain = a.text("Gain", "1")
    return {"numerator": f"{factor(gain)} * {above}" if above else f"[{gain}]",
            "denominator": below or "[1]"}


def _random(a: BlockParameters, name: str, keywords: dict[str, str]) -> SignalPart:
    """A random sequence; its start is at least 1 here."""
    value = a.number("Seed", "0")
    keywords["seed"] = a.text("Seed", "0") if value is not None and value >= 1 else "1"
    return SignalPart(f"signal.{name}", keywords, (),
                      note="It gives other random numbers than there.")


def _normal(a: BlockParameters) -> SignalPart:
    variance = a.text("Variance", "1")
    return _random(a, "RandomNumber", {
        **period_of(a), "mean": a.text("Mean", "0"),
        "deviation": "1" if variance == "1" else f"({variance})**0.5"})


SAMPLED: dict[str, Makes] = {
    "ZeroOrderHold": lambda a: SignalPart("signal.ZeroOrderHold", period_of(a, "1")),
    "UnitDelay": lambda a: SignalPart("signal.UnitDelay", {
        **period_of(a, "1"), **a.unless_zero(stored="InitialCondition")}),
    "DiscreteZeroPole": lambda a: SignalPart("signal.DiscreteTransferFunction", {
        **period_of(a, "1"), **zeros_and_poles(a, "[1]", "[0 0.5]")}), "Delay": _delay,
    "DiscreteIntegrator": _integrator, "DiscreteTransferFcn": _transfer,
    "DiscreteStateSpace": _space, "DiscreteFilter":
    lambda a: _filter(a, ("Numerator", "[1]"), ("Denominator", "[1 0.5]")),
    "DiscreteFir": lambda a: _filter(a, ("Coefficients", "[0.5 0.5]"), ("", "1")),
    "UniformRandomNumber": lambda a: _random(a, "UniformRandomNumber", {
        **period_of(a), "minimum": a.text("Minimum", "-1"), "maximum": a.text("Maximum", "1")}),
    "RandomNumber": _normal,
}  # fmt: skip
