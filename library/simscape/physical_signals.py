"""Which signal block here does what a block for physical signals does, and in which units?

Physical signals carry units that the file does not say: they follow from the ports and
converters that a signal touches, over all levels of the diagram.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

from blocks import BlocksError, quantity

from .diagram import Block, System
from .mapping import counterpart_of
from .matlab import NotUnderstood
from .nodes import Groups, inner_port, name_ports, nodes_of
from .physical import signal_unit
from .signal_part import SignalPart
from .units import unit_here

if TYPE_CHECKING:
    from .texts import Written

__all__ = ["NodeUnits", "SIGNALS", "is_physical_signal", "physical_signal_part"]

Key = tuple[str, str]
_SIGNAL = "foundation.signal."


class AsksUnits(Protocol):
    """Gives values of a block, and the units of what its ports are connected to."""

    def value(self, name: str, default: str = "0") -> Written: ...
    def choice(self, name: str) -> str: ...
    def unit(self, port: str) -> str: ...
    def number(self, name: str, default: str) -> float | None: ...


def product(*units: str) -> str:
    """The unit of a product, as short as pint writes it."""
    made = quantity(1.0, "")
    for unit in units:
        made = made * quantity(1.0, unit)
    return f"{made.units:~C}".replace("**", "^") if not made.unitless else ""


def quotient(a: str, b: str) -> str:
    """The unit of a quotient."""
    made = quantity(1.0, a) / quantity(1.0, b)
    return f"{made.units:~C}".replace("**", "^") if not made.unitless else ""


def _named(unit: str, word: str = "unit") -> dict[str, str]:
    return {word: f'"{unit}"'} if unit else {}


@dataclass
class Made:
    """A part, and the unit of its output."""

    part: SignalPart
    unit: str


def _gain(a: AsksUnits) -> Made:
    gain, unit = a.value("gain", "1"), a.unit("I")
    return Made(SignalPart("signal.Gain", {**_named(unit, "input"), "gain": gain.argument},
                           ("I",), ("O",)), product(gain.unit, unit))


def _sum(signs: str) -> Callable[[AsksUnits], Made]:
    def made(a: AsksUnits) -> Made:
        unit = a.unit("I1") or a.unit("I2")
        name = "signal.Subtract" if signs == "+-" else "signal.Sum"
        return Made(SignalPart(name, _named(unit), ("I1", "I2"), ("O",)), unit)

    return made


def _product(a: AsksUnits) -> Made:
    units = a.unit("I1"), a.unit("I2")
    keywords = {"units": f'"{units[0] or 1}, {units[1] or 1}"'} if any(units) else {}
    return Made(SignalPart("signal.Product", keywords, ("I1", "I2"), ("O",)), product(*units))


def _divide(a: AsksUnits) -> Made:
    units = a.unit("I1"), a.unit("I2")
    keywords = {"units": f'"{units[0] or 1}, {units[1] or 1}"'} if any(units) else {}
    return Made(SignalPart("signal.Divide", keywords, ("I1", "I2"), ("O",)), quotient(*units))


def _constant(a: AsksUnits) -> Made:
    value = a.value("constant", "1")
    return Made(SignalPart("signal.Constant", {"value": value.argument}, (), ("O",)), value.unit)


def _ramp(a: AsksUnits) -> Made:
    slope, initial = a.value("slope", "1"), a.value("initial_output")
    keywords = {"slope": slope.times(slope.unit or "1/s").argument,
                "start": a.value("start_time").argument}
    if initial.value != 0:
        keywords["initial"] = initial.argument
    return Made(SignalPart("signal.Ramp", keywords, (), ("O",)), product(slope.unit or "1/s", "s"))


def _sine(a: AsksUnits) -> Made:
    amplitude, bias = a.value("amplitude", "1"), a.value("bias")
    keywords = {"amplitude": amplitude.argument}
    if a.choice("frequency_spec").endswith("SI") or a.choice("frequency_spec") == "1":
        keywords["frequency"] = a.value("frequency_SI", "1").argument
    else:
        turns = a.value("frequency_angular", "1")
        keywords["frequency"] = f'quantity(({turns.python}) / (2 * np.pi), "Hz")'
    phase = a.value("phase")
    if phase.value != 0:
        keywords["phase"] = phase.times(phase.unit or "rad").argument
    if bias.value != 0:
        keywords["bias"] = bias.argument
    return Made(SignalPart("signal.Sine", keywords, (), ("O",)), amplitude.unit)


def _step(a: AsksUnits) -> Made:
    final, initial = a.value("final_value", "1"), a.value("initial_value")
    keywords = {"final": final.argument, "start": a.value("step_time", "1").argument}
    if initial.value != 0:
        keywords["initial"] = initial.argument
    return Made(SignalPart("signal.Step", keywords, (), ("O",)), final.unit)


def _limits(name: str) -> Callable[[AsksUnits], Made]:
    def made(a: AsksUnits) -> Made:
        upper, lower = a.value("upper_limit", "0.5"), a.value("lower_limit", "-0.5")
        infinite = [w for w in (upper, lower) if w.value in (float("inf"), -float("inf"))]
        for w in infinite:
            w.python, w.literal = ("1e30" if w.value > 0 else "-1e30"), True
        note = "A limit that is infinite is 1e30 here." if infinite else ""
        return Made(SignalPart(name, {"upper": upper.argument, "lower": lower.argument}, ("I",),
                               ("O",), note), upper.unit or lower.unit)

    return made


def _alike(name: str, inputs: tuple[str, ...] = ("I",)) -> Callable[[AsksUnits], Made]:
    def made(a: AsksUnits) -> Made:
        unit = next((u for u in map(a.unit, inputs) if u), "")
        return Made(SignalPart(name, _named(unit), inputs, ("O",)),
                    "" if name == "signal.Sign" else unit)

    return made


def _integrator(a: AsksUnits) -> Made | None:
    if a.choice("reset_method") not in ("", "1", "None") or \
            a.choice("saturation_spec") not in ("", "1", "None"):
        return None
    unit, initial = a.unit("I"), a.value("x0")
    keywords = _named(unit, "input")
    if initial.value != 0:
        keywords["x"] = initial.times(initial.unit or product(unit, "s")).argument
    return Made(SignalPart("signal.Integrator", keywords, ("I",), ("O",)), product(unit, "s"))


def _lag(a: AsksUnits) -> Made | None:
    if a.choice("transfer_function_type") not in ("lag", "1"):
        return None
    unit, lag = a.unit("U"), a.value("T", "1")
    keywords = {**_named(unit, "input"), **_named(unit, "output"), "numerator": "[1]",
                "denominator": f"[{in_seconds(lag)}, 1]"}
    start = a.value("y0")
    if start.value != 0:  # its state is the output, as a number in its unit
        keywords["x1"] = start.python
    return Made(SignalPart("signal.TransferFunction", keywords, ("U",), ("Y",)), unit)


def in_seconds(lag: Written) -> str:
    """A time as a number of seconds."""
    if lag.unit in ("", "s"):
        return lag.python
    return f"{lag.python} * {quantity(1.0, lag.unit).to('s').magnitude:g}"


def _table(a: AsksUnits) -> Made:
    x, f = a.value("x", "[0 1]"), a.value("f", "[0 1]")
    keywords = {"x": x.argument, "values": f.argument, **_reading(a)}
    return Made(SignalPart("signal.Table1D", keywords, ("I",), ("O",)), f.unit)


def _table_of_several(count: int) -> Callable[[AsksUnits], Made]:
    def made(a: AsksUnits) -> Made:
        f = a.value("f", "[0 1; 1 2]")
        keywords = {f"x{k}": a.value(f"x{k}", "[0 1]").argument for k in range(1, count + 1)}
        keywords |= {"values": f.argument, **_reading(a)}
        return Made(SignalPart(f"signal.Table{count}D", keywords,
                               tuple(f"I{k}" for k in range(1, count + 1)), ("O",)), f.unit)

    return made


def _reading(a: AsksUnits) -> dict[str, str]:
    """How a table is read between its points and outside."""
    found = {}
    if a.choice("interp_method") in ("smooth", "2"):
        found["interpolation"] = '"smooth"'
    if a.choice("extrap_method") in ("nearest", "2"):
        found["extrapolation"] = '"nearest"'
    return found


_UNIT_OF = {"square": 2.0, "cube": 3.0, "sqrt": 0.5, "reciprocal": -1.0}


def _function(a: AsksUnits) -> Made | None:
    from ..signal import MathFunction

    word, unit = a.choice("fcn_choice"), a.unit("I")
    if word == "pow" and a.number("v", "1") in (2.0, 3.0, 0.5, -1.0):
        word = next(w for w, p in _UNIT_OF.items() if p == a.number("v", "1"))
    if word not in MathFunction._declared["function"].choices:  # type: ignore[attr-defined]
        return None
    keywords = {"function": f'"{word}"', **_named(unit)}
    if word == "square":
        del keywords["function"]
    return Made(SignalPart("signal.MathFunction", keywords, ("I",), ("O",)),
                _power(unit, _UNIT_OF.get(word, 0.0)))


def _power(unit: str, exponent: float) -> str:
    made = quantity(1.0, unit) ** exponent
    return f"{made.units:~C}".replace("**", "^") if not made.unitless else ""


def _switch(a: AsksUnits) -> Made:
    unit, threshold = a.unit("I1") or a.unit("I3"), a.value("Threshold", "0.5")
    threshold = threshold.times(threshold.unit or a.unit("I2"))
    return Made(SignalPart("signal.Switch", {**_named(unit), "threshold": threshold.argument},
                           ("I1", "I2", "I3"), ("O",),
                           ports={"I1": "u1", "I2": "control", "I3": "u2"}), unit)


def _rms(a: AsksUnits) -> Made:
    unit = a.unit("I")
    return Made(SignalPart("signal.PeriodicRMS", {
        **_named(unit), "frequency": a.value("f0", "60").argument}, ("I",), ("O",)), unit)


def _rounding(function: str) -> Callable[[AsksUnits], Made]:
    def made(a: AsksUnits) -> Made:
        unit = a.unit("I")
        keywords = {"function": f'"{function}"'} | ({"step": f'"1 {unit}"'} if unit else {})
        return Made(SignalPart("signal.Rounding", keywords, ("I",), ("O",)), unit)

    return made


SIGNALS: dict[str, Callable[[AsksUnits], Made | None]] = {
    "functions.gain": _gain, "functions.add": _sum("++"), "functions.subtract": _sum("+-"),
    "functions.product": _product, "functions.divide": _divide, "sources.constant": _constant,
    "sources.ramp": _ramp, "sources.sine_wave": _sine, "sources.step": _step,
    "nonlinear.saturation": _limits("signal.Saturation"),
    "nonlinear.dead_zone": _limits("signal.DeadZone"), "nonlinear.abs": _alike("signal.Abs"),
    "nonlinear.sign": _alike("signal.Sign"),
    "nonlinear.max": _alike("signal.Maximum", ("I1", "I2")),
    "nonlinear.min": _alike("signal.Minimum", ("I1", "I2")), "linear.integrator": _integrator,
    "linear.transfer_function": _lag, "lookup_tables.one_dimensional": _table,
    "lookup_tables.two_dimensional": _table_of_several(2),
    "lookup_tables.three_dimensional": _table_of_several(3),
    "functions.math_function": _function, "nonlinear.controlled_switch": _switch,
    "periodic_operators.RMS": _rms, "nonlinear.ceil": _rounding("ceil"),
    "nonlinear.floor": _rounding("floor"), "nonlinear.fix": _rounding("fix"),
}  # fmt: skip


def is_physical_signal(block: Block) -> bool:
    """Whether this is a block for physical signals."""
    return block.kind.startswith(_SIGNAL) and "sinks" not in block.kind


def physical_signal_part(block: Block, asks: AsksUnits) -> Made | None:
    """The counterpart of a block for physical signals; None where there is none."""
    made = SIGNALS.get(block.kind.removeprefix(_SIGNAL))
    return made(asks) if made is not None else None


class NodeUnits:
    """The unit of every physical signal of a diagram.

    Parameters
    ----------
    root : System
    """

    def __init__(self, root: System) -> None:
        self.groups: Groups[Key] = Groups()
        self.units: dict[Key, str] = {}  # by the first of a node
        self.blocks: list[Block] = []
        self._join(root)
        self._known_units(root)

    def of(self, sid: str, end: str) -> str | None:
        """The unit of the node at an end; None where nothing says it."""
        return self.units.get(self.groups.find((sid, end)))

    def _join(self, system: System) -> None:
        for block in system.blocks.values():
            name_ports(block)
        for node in nodes_of(system):
            self.groups.join((end.sid, end.name) for end in node)
            for end in node:
                outer = system.blocks.get(end.sid)
                inside = inner_port(outer, end) if outer is not None else None
                if inside is not None:
                    self.groups.join([(end.sid, end.name), (inside.sid, "rconn1")])
        for block in system.blocks.values():
            if block.system is not None:
                self._join(block.system)

    def _set(self, key: Key, unit: str) -> None:
        self.units.setdefault(self.groups.find(key), unit)

    def _known_units(self, root: System) -> None:
        inputs: list[tuple[Key, str]] = []
        for block in root.walk():
            if is_physical_signal(block):
                self.blocks.append(block)
            elif block.kind.startswith("nesl_utility/Simulink-PS"):
                written = block.options.get("Unit", "1")
                if written not in ("1", "", "inherit"):
                    self._set((block.sid, "rconn1"), unit_here(written, block.name))
            elif block.kind.startswith("nesl_utility/PS-Simulink"):
                written = block.options.get("Unit", "1")
                if written not in ("1", "", "inherit"):
                    inputs.append(((block.sid, "lconn1"), unit_here(written, block.name)))
            else:
                inputs += self._of_component(block)
        for key, unit in inputs:
            self._set(key, unit)

    def _of_component(self, block: Block) -> list[tuple[Key, str]]:
        counterpart = counterpart_of(block.kind)
        component = counterpart.component if counterpart is not None else None
        inputs = []
        if counterpart is not None and component is not None:
            for end, written in block.ports.items():
                kind, unit = signal_unit(component, counterpart.port(written))
                if kind == "output":
                    self._set((block.sid, end), unit)
                elif kind == "input":
                    inputs.append(((block.sid, end), unit))
        return inputs

    def follow(self, asked: Callable[[Block], AsksUnits]) -> None:
        """Find units of outputs from those of inputs, until nothing more follows.

        Parameters
        ----------
        asked : function of a block
            Its parameters.
        """
        waiting = list(self.blocks)
        while waiting:
            rest = []
            for block in waiting:
                ends = {port: end for end, port in block.ports.items()}
                inputs = [self.of(block.sid, end) for port, end in ends.items()
                          if block.types.get(port) == "input"]
                if any(unit is None for unit in inputs):
                    rest.append(block)
                    continue
                try:
                    made = physical_signal_part(block, asked(block))
                except (NotUnderstood, BlocksError):
                    made = None
                for port, end in ends.items():
                    if block.types.get(port) == "output":
                        self._set((block.sid, end), made.unit if made is not None else "")
            if len(rest) == len(waiting):  # a loop: what nothing says has no unit
                block = rest[0]
                for end, port in block.ports.items():
                    if block.types.get(port) == "input" and self.of(block.sid, end) is None:
                        self._set((block.sid, end), "")
            waiting = rest
