"""Which dynamic block here does what one of Simulink's does: integrals, lags, controllers, limits?

In the ideal form of a PID controller P is a factor of the sum of all three parts, so their states
and gains here are P times those there.
"""

from __future__ import annotations

from functools import partial

from ..file.diagram import Block
from ..tables import content_of
from . import signal_part
from .block_parameters import BlockParameters
from .sampled import RULES, matrices_of, period_of, ports_of, zeros_and_poles
from .signal_part import Makes, SignalPart, Unmapped, factor, limits_of, listed, per_second, seconds

__all__ = ["DYNAMICS", "PID_BLOCKS", "samples"]

PID_BLOCKS = ("PID Controller", "Discrete PID Controller")
_DISCRETE = "Discrete-time"

# options that must be at their usual value, with what is otherwise so
_USUAL_OF_PID = content_of("signal_blocks.json")["PID"]


def _integrator(a: BlockParameters) -> SignalPart:
    reset = a.written("ExternalReset", "none")
    if reset not in ("none", *signal_part.RESETS):
        raise Unmapped(f"Its reset {reset!r} has no counterpart here.")
    outside = a.written("InitialConditionSource", "internal") != "internal"
    limits = limits_of(a)
    if a.written("WrapState", "off") == "on":
        raise Unmapped("Its state is wrapped, which has no counterpart here.")
    if outside and (limits or reset == "level"):
        raise Unmapped("A start from a signal goes neither with limits nor with a reset by level "
                       "here.")
    start = a.text("InitialCondition", "0")
    begins = {} if outside or a.number("InitialCondition", "0") == 0 else {"x": start}
    if not (reset != "none" or limits or outside):
        return SignalPart("signal.TransferFunction", {
            "numerator": "[1]", "denominator": "[1, 0]", **({"x1": start} if begins else {})})
    keywords, inputs, before = {"input": '"1/s"', **limits}, ["u"], [per_second()]
    if reset != "none":
        keywords |= {"external_reset": "True", **({"reset_value": start} if begins else {}),
                     **signal_part.reset_on(reset)}
        inputs.append("reset")
        before.append(signal_part.edge(reset))
    if outside:
        keywords |= {"external_start": "True"}
        inputs.append("start")
    return SignalPart("signal.Integrator", keywords | begins, tuple(inputs), before=tuple(before))


def _state_space(a: BlockParameters) -> SignalPart:
    names = matrices_of(a)
    if a.number("D", "1") == 0:
        del names["D"]
    starts = a.elements("InitialCondition", "0")
    if set(starts) != {"0"}:
        states = max(a.shape("A", "1"), default=1)
        starts = starts * states if len(starts) == 1 else starts
        names |= {f"x{k}": start for k, start in enumerate(starts, 1)}
    return SignalPart("signal.StateSpace", names, *ports_of(a))


def _rate_limiter(a: BlockParameters) -> SignalPart:
    if (a.number("SampleTime", "0") or 0) > 0:
        raise Unmapped("It is sampled; a rate is limited continuously here.")
    return SignalPart("signal.RateLimiter", {
        "rising": f'quantity({a.text("RisingSlewLimit", "1")}, "1/s")',
        "falling": f'quantity({a.text("FallingSlewLimit", "-1")}, "1/s")'},
        note="Where its limits do not act it lags by 1 ms here.")  # fmt: skip


# -- controllers ----------------------------------------------------------------------------------
def samples(block: Block) -> bool:
    """Whether a block is a controller that samples."""
    name = block.simulink_name
    return name in PID_BLOCKS and block.options.get("TimeDomain", _usual_domain(name)) == _DISCRETE


def _usual_domain(name: str) -> str:
    return _DISCRETE if name.startswith("Discrete") else "Continuous-time"


def _controller(a: BlockParameters, name: str) -> SignalPart:
    """The counterpart of a PID controller that is called so in Simulink's library."""
    kind, discrete = a.written("Controller", "PID"), a.written(
        "TimeDomain", _usual_domain(name)) == _DISCRETE
    if kind not in ("PID", "PI", "PD", "P", "I"):
        raise Unmapped(f"A controller of the kind {kind!r} has no counterpart here.")
    for option, (usual, why) in _USUAL_OF_PID.items():
        if option == "UseKiTs" and not (discrete and "I" in kind):
            continue
        if a.written(option, usual) != usual:
            raise Unmapped(f"There {why} ({option} = {a.written(option, usual)}); that has no "
                           "counterpart here.")
    parallel = a.written("Form", "Parallel") == "Parallel" or kind in ("P", "I")
    times = "" if parallel else f"{factor(a.text('P', '1'))} * "  # before I and D
    keywords = {"proportional": a.text("P", "1") if "P" in kind else "0"}
    notes: list[str] = []
    if discrete:
        keywords |= period_of(a, "-1")
    if "I" in kind:
        keywords["integral"] = f'quantity({times}{factor(a.text("I", "1"))}, "1/s")'
        if a.number("InitialConditionForIntegrator", "0") != 0:
            keywords["x"] = times + factor(a.text("InitialConditionForIntegrator", "0"))
        if discrete and (rule := _rule(a, "IntegratorMethod")) != "forward":
            keywords["method"] = f'"{rule}"'
    if "D" in kind:
        keywords |= _derivative(a, times, discrete, keywords.get("method", '"forward"'))
    limits = limits_of(a)
    if limits and "I" in kind:
        limits |= _anti_windup(a, times, discrete)
        if limits.get("anti_windup") == '"clamping"':
            notes.append("Its integral comes to rest within 1 ms here.")
        if "method" in keywords and a.written("AntiWindupMode", "none") != "none":
            notes.append("There its anti-windup acts on the integral within the sample, here "
                         "from the next one on.")
    return SignalPart(f"signal.{'Discrete' if discrete else ''}PID", keywords | limits,
                      note=" ".join(notes))


def _rule(a: BlockParameters, name: str) -> str:
    return RULES[a.written(name, "Forward Euler").split()[0]]


def _derivative(a: BlockParameters, times: str, discrete: bool, method: str) -> dict[str, str]:
    """Gain, filter and start of the derivative; states there are D times those here."""
    if a.written("UseFilter", "on") != "off" and a.number("N", "100") == 0:
        return {}  # a filter that never follows lets nothing pass
    gain, start = a.text("D", "0"), "InitialConditionForFilter"
    keywords = {"derivative": f'quantity({times}{factor(gain)}, "s")'}
    if a.written("UseFilter", "on") != "off":
        keywords["filter_time"] = f'quantity(1 / {factor(a.text("N", "100"))}, "s")'
        if discrete and (rule := _rule(a, "FilterMethod")) != method.strip('"'):
            keywords["filter_method"] = f'"{rule}"'
    elif discrete:
        keywords["filter_method"] = '"none"'
        start = "DifferentiatorICPrevScaledInput"
    else:
        raise Unmapped("Its derivative is not filtered; a continuous one always is here.")
    if a.number("D", "0") != 0:
        if a.number(start, "0") != 0:
            keywords["f"] = f"{factor(a.text(start, '0'))} / {factor(gain)}"
        elif not discrete:
            keywords["f"] = "0"
    return keywords


def _anti_windup(a: BlockParameters, times: str, discrete: bool) -> dict[str, str]:
    mode = a.written("AntiWindupMode", "none")
    if mode == "back-calculation" and a.number("Kb", "1") == 0:
        mode = "none"
    if mode == "none":
        return {"anti_windup": '"none"' if discrete else "False"}
    if mode == "clamping":
        return {} if discrete else {"anti_windup": '"clamping"', "tracking_time": '"1 ms"'}
    if mode != "back-calculation":
        raise Unmapped(f"Its AntiWindupMode {mode!r} has no counterpart here.")
    kept = {"anti_windup": '"back-calculation"'} if discrete else {}
    back = f"{times}{factor(a.text('Kb', '1'))}"
    return kept | {"tracking_time": seconds(f"1 / {factor(back)}")}


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
        "upper": signal_part.limit(a, "UpperLimit", "0.5"),
        "lower": signal_part.limit(a, "LowerLimit", "-0.5")}),
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
    **{name: partial(_controller, name=name) for name in PID_BLOCKS},
}  # fmt: skip
