"""Which source here does what a Simulink source does?

One with a sample time is followed by a hold: its value changes at samples alone.
"""

from __future__ import annotations

import math
import re

from .block_parameters import BlockParameters
from .signal_part import Makes, SignalPart, Unmapped, factor, law, listed, seconds, with_unit

__all__ = ["SOURCES"]


def _constant(a: BlockParameters) -> SignalPart:
    if a.shape("Value", "1"):
        raise Unmapped("Its value is a vector, which is not taken apart here.")
    return SignalPart("signal.Constant", {"value": a.text("Value", "1")}, ())


def _sampled(a: BlockParameters, source: SignalPart, default: str = "0", name: str = "SampleTime"
             ) -> SignalPart:
    """A source, held from sample to sample where it has a sample time."""
    if (a.number(name, default) or 0) <= 0:
        return source
    return SignalPart("signal.ZeroOrderHold", {"sample_time": seconds(a.text(name, default))},
                      before=((0, "source", source),))


def _time_from_outside(a: BlockParameters) -> bool:
    return a.written("TimeSource", "Use simulation time") != "Use simulation time"


def _sine(a: BlockParameters) -> SignalPart:
    by_samples = "Sample based" in a.written("SineType", "Time based")
    if _time_from_outside(a):
        if by_samples:
            raise Unmapped("It counts samples, and its time comes from a signal.")
        amplitude, turns, phase = (factor(a.text(*word)) for word in (
            ("Amplitude", "1"), ("Frequency", "1"), ("Phase", "0")))
        return law(f"{amplitude} * sin({turns} * self.u + {phase}) + {a.text('Bias', '0')}")
    if by_samples:
        samples, period = a.text("Samples", "10"), a.text("SampleTime", "0")
        frequency = f'quantity(1 / ({samples} * {period}), "Hz")'
    else:
        turns = _per_turn(a.text("Frequency", "1"), a.number("Frequency", "1"))
        frequency = with_unit(turns, "Hz")
    keywords = {"amplitude": a.text("Amplitude", "1"), "frequency": frequency,
                **a.unless_zero(bias="Bias")}
    if by_samples and a.number("Offset", "0") != 0:
        keywords["phase"] = f'quantity(2 * np.pi * {a.text("Offset", "0")} / {samples}, "rad")'
    elif not by_samples and a.number("Phase", "0") != 0:
        keywords["phase"] = f'quantity({a.text("Phase", "0")}, "rad")'
    return _sampled(a, SignalPart("signal.Sine", keywords, ()))


def _per_turn(text: str, value: float | None) -> str:
    """A frequency in turns, of one in radians."""
    if text.startswith("2 * np.pi * "):
        return text.removeprefix("2 * np.pi * ")
    if value is not None and not re.search(r"[A-Za-z_]", text.replace("np.pi", "")) and \
            float(f"{value / 2 / math.pi:.6g}") * 2 * math.pi == value:
        return f"{value / 2 / math.pi:.6g}"
    return f"{factor(text)} / (2 * np.pi)"


def _clock(a: BlockParameters) -> SignalPart:
    return SignalPart("signal.Ramp", {"slope": '"1 1/s"'}, ())


def _sequence(times: str, values: str) -> SignalPart:
    return SignalPart("signal.RepeatingSequence", {
        "times": f'quantity({times}, "s")', "values": values}, ())


def _repeating(a: BlockParameters) -> SignalPart:
    return _sequence(*(listed(a.text(name, "[0 2]")) for name in ("rep_seq_t", "rep_seq_y")))


def _stair(a: BlockParameters) -> SignalPart:
    """Values for one sample each: a sequence that is read at samples alone."""
    period, values = a.text("tsamp", "-1"), a.elements("OutValues", "[3 1 4 2 1]'")
    if (a.number("tsamp", "-1") or 0) <= 0:
        raise Unmapped("Its sample time is that of what it drives.")
    return _sampled(a, _sequence(f"[k * {factor(period)} for k in range({len(values) + 1})]",
                                 f"[{', '.join([*values, values[0]])}]"), "-1", "tsamp")


def _editor(a: BlockParameters) -> SignalPart:
    """One whose signals were not read."""
    raise Unmapped(f"{a.written('unread', 'Its signals are not known')} Write them in MATLAB as a "
                   "table, [t, y] in a .csv file, and take TimeTable.")


def _ideal_pwm(a: BlockParameters) -> SignalPart:
    """Pulses as wide as the duty cycle at their beginning: it is held over the period."""
    period = a.text("Period", "1")
    if a.number("InitialDelay", "0"):
        raise Unmapped("Its first pulse begins later. Delay of library.signal behind Compare does "
                       "it.")
    return SignalPart("signal.Compare", {"relation": '">"'}, ("u1", "u2"), before=(
        (0, "held", SignalPart("signal.ZeroOrderHold", {"sample_time": seconds(period)})),
        (1, "carrier", _sequence(f"[0, {factor(period)}]", "[0, 1]"))))


def _pwm(a: BlockParameters) -> SignalPart:
    """Pulses: high while the duty cycle is above a carrier between 0 and 1."""
    period, count = a.text("Tper", "1/1000"), a.written("CarrCount", "Up")
    times, values = {"Up": ("0, 1", "0, 1"), "Down": ("0, 1", "1, 0"),
                     "Up-Down": ("0, 0.5, 1", "0, 1, 0")}.get(count, ("", ""))
    if not times or a.number("Tdelay", "0"):
        raise Unmapped(f"Its carrier counts {count!r}, or begins later.")
    scaled = ", ".join(t if t == "0" else factor(period) if t == "1" else f"{t} * {factor(period)}"
                       for t in times.split(", "))
    return SignalPart("signal.Compare", {"relation": '">"'}, ("u1", "u2"),
                      before=((1, "carrier", _sequence(f"[{scaled}]", f"[{values}]")),),
                      note="Its duty cycle is read at all times, and not at samples.")


def _from_workspace(a: BlockParameters) -> SignalPart:
    if a.written("VariableName", "simulink_input").strip() == "tuvar":
        _editor(a)
    rows = a.text("VariableName", "simulink_input")
    after = {"Extrapolation": "continued", "Holding final value": "held"}.get(
        a.written("OutputAfterFinalValue", "Extrapolation"))
    if after is None:
        raise Unmapped(f'{a.written("OutputAfterFinalValue", "")!r} after the last value is not '
                       "known here.")
    between = {}
    if a.written("Interpolate", "on") == "off":
        between, after = {"interpolation": '"held"'}, "held"
    written = a.written("VariableName", "simulink_input").strip()
    times, values = f"{written}.time", f"{written}.signals.values"
    if a.rank(f"{written}.Time") == 1:  # a time series
        times, values = f"{written}.Time", f"{written}.Data"
    if a.rank(times) == a.rank(values) == 1:  # a structure with time
        keywords = {"times": f'quantity({a.name(times)}, "s")', "values": a.name(values)}
    elif rows.isidentifier() and a.rank(written) in (None, 2):
        keywords = {"times": f'quantity([row[0] for row in {rows}], "s")',
                    "values": f"[row[1] for row in {rows}]"}
    elif a.rank(written) == 2:
        instants = a.column("VariableName", 0)
        keywords = {"times": f'quantity({instants}, "s")', "values": a.column("VariableName", 1)}
        numbers = instants.strip("[]").split(", ")
        if len(numbers) > 1 and (numbers[0] == numbers[1] or numbers[-1] == numbers[-2]):
            after = "held"  # it jumps at an end
    else:
        raise Unmapped(f"{written} is neither a matrix with a column of times and one of values, "
                       "nor a structure with time of one signal.")
    ends = {} if after == "held" else {"ends": f'"{after}"'}
    return _sampled(a, SignalPart("signal.TimeTable", keywords | between | ends, ()))


def _pulse(a: BlockParameters) -> SignalPart:
    if _time_from_outside(a):
        raise Unmapped("Its time comes from a signal.")
    period, width, delay = (a.text(*word) for word in (
        ("Period", "10"), ("PulseWidth", "5"), ("PhaseDelay", "0")))
    whole = "100"
    if a.written("PulseType", "Time based") != "Time based":  # counted in samples
        sample, whole = a.text("SampleTime", "1"), period
        period, delay = f"{period} * {sample}", f"{delay} * {sample}"
    return SignalPart("signal.Pulse", {
        "amplitude": a.text("Amplitude", "1"), "period": seconds(period),
        "width": f"{width} / {whole}", "start": seconds(delay)}, ())  # fmt: skip


SOURCES: dict[str, Makes] = {
    "Constant": _constant, "Sin": _sine, "Clock": _clock,
    "Step": lambda a: _sampled(a, SignalPart("signal.Step", {
        "final": a.text("After", "1"), "start": seconds(a.text("Time", "1")),
        **a.unless_zero(initial="Before")}, ())),
    "DigitalClock": lambda a: _sampled(a, _clock(a), "1"), "FromWorkspace": _from_workspace,
    "DiscretePulseGenerator": _pulse,
    "Ground": lambda a: SignalPart("signal.Constant", {"value": "0"}, ()),
    "Ramp": lambda a: SignalPart("signal.Ramp", {
        "slope": f'quantity({a.text("slope", "1")}, "1/s")',
        "start": seconds(a.text("start", "0")), **a.unless_zero(initial="InitialOutput")}, ()),
    "Repeating Sequence": _repeating,
    "Chirp Signal": lambda a: SignalPart("signal.Chirp", {
        "initial_frequency": f'quantity({a.text("f1", "0.1")}, "Hz")',
        "final_frequency": f'quantity({a.text("f2", "1")}, "Hz")',
        "sweep_time": seconds(a.text("T", "100")), "phase": '"-90 deg"'}, ()),
    "Repeating table": _repeating, "Signal Editor": _editor, "PWM Generator": _pwm,
    "PWM": _ideal_pwm, "Repeating Sequence Stair": _stair,
}  # fmt: skip
