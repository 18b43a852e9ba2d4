"""Which sampled block here does what a discrete Simulink block does?

Inherited sample times have been written into the blocks before; one that is still -1 is that of
signals without a sample time, and such a block becomes a gap.
"""

from __future__ import annotations

from collections.abc import Callable

from .signal_part import Asks, SignalPart, limit, listed, per_second, seconds

__all__ = ["SAMPLED", "has_vectors", "matrices_of"]

_RULES = {"Forward": "forward", "Backward": "backward", "Trapezoidal": "trapezoidal"}
_OTHER_NUMBERS = "It gives other random numbers than there."


def _period(a: Asks, default: str = "-1") -> dict[str, str] | None:
    """The sample time; None where it is inherited."""
    value = a.number("SampleTime", default)
    if value is None or value <= 0:
        return None
    return {"sample_time": seconds(a.text("SampleTime", default))}


def _held(a: Asks) -> SignalPart | None:
    keywords = _period(a, "1")
    return None if keywords is None else SignalPart("signal.ZeroOrderHold", keywords)


def _unit_delay(a: Asks) -> SignalPart | None:
    keywords = _period(a, "1")
    if keywords is None:
        return None
    if a.number("InitialCondition", "0") != 0:
        keywords["stored"] = a.text("InitialCondition", "0")
    return SignalPart("signal.UnitDelay", keywords)


def _delay(a: Asks) -> SignalPart | None:
    keywords, length = _period(a), a.number("DelayLength", "2")
    if keywords is None or not length or a.written("DelayLengthSource", "Dialog") != "Dialog" \
            or a.number("InitialCondition", "0") != 0:
        return None
    zeros = ", ".join(["0"] * int(length))
    return SignalPart("signal.DiscreteTransferFunction",
                      {**keywords, "numerator": "[1]", "denominator": f"[1, {zeros}]"})


def _integrator(a: Asks) -> SignalPart | None:
    keywords = _period(a, "1")
    method = a.written("IntegratorMethod", "Integration: Forward Euler")
    kind, _, rule = method.partition(": ")
    if keywords is None or kind != "Integration" or a.written("ExternalReset", "none") != "none" \
            or a.written("InitialConditionSource", "internal") != "internal":
        return None
    word = _RULES[rule.split()[0]]
    if word != "forward":
        keywords["method"] = f'"{word}"'
    if a.written("LimitOutput", "off") == "on":
        keywords |= {"limited": "True", "lower": limit(a, "LowerSaturationLimit", "-inf"),
                     "upper": limit(a, "UpperSaturationLimit", "inf")}
    if a.number("InitialCondition", "0") != 0:
        keywords["x"] = a.text("InitialCondition", "0")
    gain = a.text("gainval", "1.0")
    return SignalPart("signal.DiscreteIntegrator", {"input": '"1/s"', **keywords},
                      before=(per_second(f'quantity({gain}, "1/s")') if a.number("gainval", "1")
                              != 1 else per_second(),))


def _transfer(a: Asks) -> SignalPart | None:
    keywords = _period(a)
    if keywords is None or a.number("InitialStates", "0") != 0:
        return None
    return SignalPart("signal.DiscreteTransferFunction", {
        **keywords, "numerator": listed(a.text("Numerator", "[1]")),
        "denominator": listed(a.text("Denominator", "[1 0.5]"))})  # fmt: skip


def _space(a: Asks) -> SignalPart | None:
    keywords = _period(a)
    if keywords is None or a.number("InitialCondition", "0") != 0 or has_vectors(a):
        return None
    matrices = matrices_of(a)
    return SignalPart("signal.DiscreteStateSpace", {**keywords, **matrices}, ("u1",), ("y1",))


def has_vectors(a: Asks) -> bool:
    """Whether a state space has more than one input or output."""
    return a.shape("B", "1")[1:] not in ((), (1,)) or a.shape("C", "1")[:1] not in ((), (1,))


def matrices_of(a: Asks) -> dict[str, str]:
    """Matrices of a state space of one input and one output: B is a column, C a row."""
    found = {name: matrix(a.text(name, "1")) for name in "ACD"}
    column = a.text("B", "1")
    if column.startswith("[") and not column.startswith("[["):
        rows = ", ".join(f"[{entry.strip()}]" for entry in column.strip("[]").split(","))
        column = f"[{rows}]"
    return {"A": found["A"], "B": matrix(column), "C": found["C"], "D": found["D"]}


def matrix(text: str) -> str:
    """A matrix, also where it is written as a number or as one row."""
    if text.startswith("[["):
        return text
    return f"[{text}]" if text.startswith("[") else text if text.isidentifier() else f"[[{text}]]"


def _seed(a: Asks) -> str:
    """The start of a random sequence: at least 1 here."""
    value = a.number("Seed", "0")
    return a.text("Seed", "0") if value is not None and value >= 1 else "1"


def _uniform(a: Asks) -> SignalPart | None:
    keywords = _period(a)
    if keywords is None:
        return None
    return SignalPart("signal.UniformRandomNumber", {
        **keywords, "minimum": a.text("Minimum", "-1"), "maximum": a.text("Maximum", "1"),
        "seed": _seed(a)}, (), note=_OTHER_NUMBERS)  # fmt: skip


def _random(a: Asks) -> SignalPart | None:
    keywords = _period(a)
    if keywords is None:
        return None
    variance = a.text("Variance", "1")
    return SignalPart("signal.RandomNumber", {
        **keywords, "mean": a.text("Mean", "0"),
        "deviation": "1" if variance == "1" else f"({variance})**0.5",
        "seed": _seed(a)}, (), note=_OTHER_NUMBERS)  # fmt: skip


SAMPLED: dict[str, Callable[[Asks], SignalPart | None]] = {
    "ZeroOrderHold": _held, "UnitDelay": _unit_delay, "Delay": _delay,
    "DiscreteIntegrator": _integrator, "DiscreteTransferFcn": _transfer,
    "DiscreteStateSpace": _space, "UniformRandomNumber": _uniform, "RandomNumber": _random,
}  # fmt: skip
