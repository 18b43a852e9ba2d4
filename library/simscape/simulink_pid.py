"""Which controller here does what Simulink's PID Controller does, continuous or sampled?

In the ideal form P is a factor of the sum of all three parts, so their states and gains here are P
times those there.
"""

from __future__ import annotations

from .asked import Asked
from .diagram import Block
from .signal_part import Lacks, SignalPart, factor, limits_of, seconds
from .simulink_sampled import RULES, period_of

__all__ = ["PID_BLOCKS", "controller", "samples"]

PID_BLOCKS = ("PID Controller", "Discrete PID Controller")
_DISCRETE = "Discrete-time"

# options that must be at their usual value, with what is otherwise so
_USUAL = {
    "ControllerParametersSource": ("internal", "its gains come from signals"),
    "InitialConditionSource": ("internal", "its start comes from a signal"),
    "ExternalReset": ("none", "a signal resets it"),
    "SatLimitsSource": ("internal", "its limits come from signals"),
    "TrackingMode": ("off", "it tracks another signal"),
    "UseExternalTs": ("off", "its sample time comes from a signal"),
    "UseExternalDerivativeSource": ("off", "its derivative is that of another signal"),
    "UseKiTs": ("off", "its integral gain contains the sample time"),
    "LimitIntegrator": ("off", "its integral has limits of its own"),
}  # fmt: skip


def samples(block: Block) -> bool:
    """Whether a block is a controller that samples."""
    name = block.simulink_name
    return name in PID_BLOCKS and block.options.get("TimeDomain", _usual_domain(name)) == _DISCRETE


def _usual_domain(name: str) -> str:
    return _DISCRETE if name.startswith("Discrete") else "Continuous-time"


def controller(a: Asked, name: str) -> SignalPart:
    """The counterpart of a PID controller that is called so in Simulink's library."""
    kind, discrete = a.written("Controller", "PID"), a.written(
        "TimeDomain", _usual_domain(name)) == _DISCRETE
    if kind not in ("PID", "PI", "PD", "P", "I"):
        raise Lacks(f"A controller of the kind {kind!r} has no counterpart here.")
    for option, (usual, why) in _USUAL.items():
        if option == "UseKiTs" and not (discrete and "I" in kind):
            continue
        if a.written(option, usual) != usual:
            raise Lacks(f"There {why} ({option} = {a.written(option, usual)}); that has no "
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


def _rule(a: Asked, name: str) -> str:
    return RULES[a.written(name, "Forward Euler").split()[0]]


def _derivative(a: Asked, times: str, discrete: bool, method: str) -> dict[str, str]:
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
        raise Lacks("Its derivative is not filtered; a continuous one always is here.")
    if a.number("D", "0") != 0:
        if a.number(start, "0") != 0:
            keywords["f"] = f"{factor(a.text(start, '0'))} / {factor(gain)}"
        elif not discrete:
            keywords["f"] = "0"
    return keywords


def _anti_windup(a: Asked, times: str, discrete: bool) -> dict[str, str]:
    mode = a.written("AntiWindupMode", "none")
    if mode == "back-calculation" and a.number("Kb", "1") == 0:
        mode = "none"
    if mode == "none":
        return {"anti_windup": '"none"' if discrete else "False"}
    if mode == "clamping":
        return {} if discrete else {"anti_windup": '"clamping"', "tracking_time": '"1 ms"'}
    if mode != "back-calculation":
        raise Lacks(f"Its AntiWindupMode {mode!r} has no counterpart here.")
    kept = {"anti_windup": '"back-calculation"'} if discrete else {}
    back = f"{times}{factor(a.text('Kb', '1'))}"
    return kept | {"tracking_time": seconds(f"1 / {factor(back)}")}
