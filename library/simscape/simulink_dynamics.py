"""Which dynamic block here does what one of Simulink's does: integrals, lags, delays, limits?"""

from __future__ import annotations

from functools import partial

from .asked import Asked
from .signal_part import (
    RESETS,
    Lacks,
    Makes,
    SignalPart,
    edge,
    limit,
    limits_of,
    listed,
    per_second,
    reset_on,
    seconds,
)
from .simulink_pid import PID_BLOCKS, controller
from .simulink_sampled import matrices_of, ports_of, zeros_and_poles

__all__ = ["DYNAMICS"]


def _integrator(a: Asked) -> SignalPart:
    reset = a.written("ExternalReset", "none")
    if reset not in ("none", *RESETS):
        raise Lacks(f"Its reset {reset!r} has no counterpart here.")
    outside = a.written("InitialConditionSource", "internal") != "internal"
    limits = limits_of(a)
    if a.written("WrapState", "off") == "on":
        raise Lacks("Its state is wrapped, which has no counterpart here.")
    if outside and (limits or reset == "level"):
        raise Lacks("A start from a signal goes neither with limits nor with a reset by level "
                    "here.")
    start = a.text("InitialCondition", "0")
    begins = {} if outside or a.number("InitialCondition", "0") == 0 else {"x": start}
    if not (reset != "none" or limits or outside):
        return SignalPart("signal.TransferFunction", {
            "numerator": "[1]", "denominator": "[1, 0]", **({"x1": start} if begins else {})})
    keywords, inputs, before = {"input": '"1/s"', **limits}, ["u"], [per_second()]
    if reset != "none":
        keywords |= {"external_reset": "True", **({"reset_value": start} if begins else {}),
                     **reset_on(reset)}
        inputs.append("reset")
        before.append(edge(reset))
    if outside:
        keywords |= {"external_start": "True"}
        inputs.append("start")
    return SignalPart("signal.Integrator", keywords | begins, tuple(inputs), before=tuple(before))


def _state_space(a: Asked) -> SignalPart:
    names = matrices_of(a)
    if a.number("D", "1") == 0:
        del names["D"]
    starts = a.elements("InitialCondition", "0")
    if set(starts) != {"0"}:
        states = max(a.shape("A", "1"), default=1)
        starts = starts * states if len(starts) == 1 else starts
        names |= {f"x{k}": start for k, start in enumerate(starts, 1)}
    return SignalPart("signal.StateSpace", names, *ports_of(a))


def _rate_limiter(a: Asked) -> SignalPart:
    if (a.number("SampleTime", "0") or 0) > 0:
        raise Lacks("It is sampled; a rate is limited continuously here.")
    return SignalPart("signal.RateLimiter", {
        "rising": f'quantity({a.text("RisingSlewLimit", "1")}, "1/s")',
        "falling": f'quantity({a.text("FallingSlewLimit", "-1")}, "1/s")'},
        note="Where its limits do not act it lags by 1 ms here.")  # fmt: skip


DYNAMICS: dict[str, Makes] = {
    "Integrator": _integrator, "StateSpace": _state_space, "RateLimiter": _rate_limiter,
    "Derivative": lambda a: SignalPart(
        "signal.Derivative", {"input": '"s"'}, before=(per_second('"1 s"'),),
        note="The derivative is filtered here, with 1 ms."),
    "TransferFcn": lambda a: SignalPart("signal.TransferFunction", {
        "numerator": listed(a.text("Numerator", "[1]")),
        "denominator": listed(a.text("Denominator", "[1 1]"))}),
    "ZeroPole": lambda a: SignalPart("signal.TransferFunction", zeros_and_poles(a, "1", "[0 -1]")),
    "Saturate": lambda a: SignalPart("signal.Saturation", {
        "upper": limit(a, "UpperLimit", "0.5"), "lower": limit(a, "LowerLimit", "-0.5")}),
    "DeadZone": lambda a: SignalPart("signal.DeadZone", {
        "upper": a.text("UpperValue", "0.5"), "lower": a.text("LowerValue", "-0.5")}),
    "Relay": lambda a: SignalPart("signal.Relay", {
        "switch_on": a.text("OnSwitchValue", "eps"), "switch_off": a.text("OffSwitchValue", "eps"),
        "on_value": a.text("OnOutputValue", "1"), "off_value": a.text("OffOutputValue", "0")}),
    "Backlash": lambda a: SignalPart("signal.Backlash", {
        "width": a.text("BacklashWidth", "1"), "given_start": "True",
        "initial_output": a.text("InitialOutput", "0")}),
    "TransportDelay": lambda a: SignalPart("signal.Delay", {
        "delay": seconds(a.text("DelayTime", "1")),
        **a.unless_zero(initial_output="InitialOutput")}),
    **{name: partial(controller, name=name) for name in PID_BLOCKS},
}  # fmt: skip
