"""What do converters between numbers and physical signals become?

A source that drives only converters of one unit is written with that unit, any other number passes
a gain that gives it its unit; a signal whose number is used passes one that takes it. In the end a
gain of 1 without a unit is a line, and one that gives a number a unit, or takes it, goes into the
gain before or behind it.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeGuard

from ..file.diagram import Block, End
from ..matlab.python_text import python_name
from ..simulink.signal_lines import TO_PHYSICAL, TO_SIMULINK
from ..simulink.signal_part import factor, with_unit
from ..write.plan import Part, PortPlan, PortRef, Stub, SystemContext
from .signals import Made, quotient
from .units import TEMPERATURES, alike, unit_here

if TYPE_CHECKING:
    from ..write.state import ConversionState
    from .node_units import NodeUnits

__all__ = ["Converters", "leave_out_idle_gains", "number_taken", "other_units"]

_GIVES = re.compile(r'"1 ([^"]+)"')
_OF_NUMBERS = {"signal.Constant": ("value",), "signal.Step": ("final", "initial"),
               "signal.Sine": ("amplitude", "bias"), "signal.Pulse": ("amplitude",)}  # fmt: skip
_FOLDED = {**_OF_NUMBERS, "signal.Ramp": ("initial",)}  # its slope is per second
_GIVES_UNIT = {**_OF_NUMBERS, "signal.Gain": ("gain",), **{f"signal.Table{k}D": ("values",)
                                                           for k in (1, 2, 3)}}  # fmt: skip


@dataclass
class Converters:
    """The physical signals of one system."""

    signals: Any  # SignalsOfLevel

    def node(self, ends: list[End], refs: list[PortRef]) -> None:
        level, conversion = self.signals.level, self.signals.conversion
        blocks = [block for end in ends if (block := level.block(end)) is not None]
        units = (conversion.units.of(end.sid, end.name) for end in ends)
        unit = next(filter(None, units), "")
        output = next((j for j in refs if j.kind == "output"), None)
        inputs: list[str] = []
        ports = [block for block in blocks if conversion.is_port(level, block)]
        for block in blocks:
            if block.kind == TO_PHYSICAL:
                output = self._to_physical(block, _unit_of(block) or unit)
        for block in ports:
            if output is None:  # it comes from outside
                port = level.add_port(block, "Input", unit)
                conversion.inputs.add(f"{level.within}{port.name}")
                output = PortRef(f"{level.owner}.{port.name}", "output", unit)
            else:
                port = level.add_port(block, "Output", output.unit or unit)
                level.driven[port.name] = self.signals.path_of(output)
                inputs.append(f"{level.owner}.{port.name}")
        if output is None:
            return
        for ref in refs:  # an input takes a signal in its unit, as far as both are known
            if ref.kind == "input" and (
                    not ref.unit or not output.unit or alike(ref.unit, output.unit)):
                inputs.append(ref.text)
            elif ref.kind == "input":
                self._take_number(ref, output)
        for block in blocks:
            if block.kind == TO_SIMULINK:
                inputs += self._to_simulink(block, PortRef(output.text, "output",
                                                           output.unit or unit))
        if inputs:
            self.signals.connect(output, inputs)

    def _take_number(self, ref: PortRef, output: PortRef) -> None:
        """Let an input take the number of a signal in another unit, and say so."""
        level = self.signals.level
        *_, part, port = ref.text.split(".")
        to = "" if ref.unit == "1" else ref.unit
        place = number_taken(level, f"{part}_{port}", output.text, output.unit, to)
        level.plan.connections.append([place, ref.text])
        self.signals.conversion.remarks.append(
            f"{level.within}{part}.{port} takes {ref.unit} and is given {output.unit}: the "
            "number is taken over.")

    def _to_physical(self, block: Block, unit: str) -> PortRef | None:
        """The output of a converter to a physical signal, or of the source it gives a unit."""
        level = self.signals.level
        driver = level.system.driver_of(block.sid)
        filtered = block.options.get("FilteringAndDerivatives") == "filter" or \
            block.options.get("InputFiltering") == "on"
        order = block.options.get("SimscapeFilterOrder", "1") if filtered else ""
        if driver is not None and not order:
            folded = self._folded(driver, block, unit)
            if folded is not None:
                self.signals.conversion.enter(level, block, "mapped", "the unit of its source")
                return folded
        part = self._converter(block, "", unit)
        level.refs[block.sid, "in1"] = PortRef(f"{level.owner}.{part.name}.u", "input")
        ref = PortRef(f"{level.owner}.{part.name}.y", "output", TEMPERATURES.get(unit, unit))
        if order:
            ref = self._filter(block, ref, order)
        self.signals.conversion.enter(level, block, "mapped", part.component,
                              ["Its filter is a lag of the same order."] if order else [])
        return ref

    def _filter(self, block: Block, before: PortRef, order: str) -> PortRef:
        level = self.signals.level
        written = block.options.get("InputFilterTimeConstant", "0.001")
        lag = self.signals.conversion.texts.of(written, level.scope, f"{level.path}/{block.name}")
        T = factor(lag.python)
        below = f"[{T}, 1]" if order == "1" else f"[{T}**2, 2 * {T}, 1]"
        return PortRef(level.through(before.text, "signal.TransferFunction", {
            "input": f'"{before.unit}"', "output": f'"{before.unit}"', "numerator": "[1]",
            "denominator": below}, f"{python_name(block.name)}_filter"), "output", before.unit)

    def _folded(self, driver: End, converter: Block, unit: str) -> PortRef | None:
        """A source that drives only converters of one unit is written in that unit."""
        known = self.signals.placed.get(driver.sid)
        if known is None or known.made.component not in _FOLDED:
            return None
        part, made = known.part, known.made
        consumers, shown = self.signals.lines.consumers(driver)
        blocks = [self.signals.level.block(c) for c in consumers]
        if shown or any(b is None or b.kind != TO_PHYSICAL or _unit_of(b) != _unit_of(converter)
                        for b in blocks) or (
                unit in TEMPERATURES and made.component != "signal.Constant"):
            return None
        if unit and unit not in part.note:
            part.keywords = {k: with_unit(_number_of(v), f"{unit}/s") if k == "slope" else
                             with_unit(v, unit) if k in _FOLDED[made.component] else v
                             for k, v in part.keywords.items()}
            part.note = unit
        self.signals.level.refs[converter.sid, "in1"] = PortRef("", "folded")
        return PortRef(f"{self.signals.level.owner}.{part.name}.y", "output",
                       TEMPERATURES.get(unit, unit))

    def _to_simulink(self, block: Block, source: PortRef) -> list[str]:
        """The input of a converter to a number, where something uses the number."""
        level = self.signals.level
        end = End(block.sid, "out", 1)
        consumers, shown = self.signals.lines.consumers(end)
        written = block.options.get("Unit", "1")
        unit = source.unit if written in ("1", "inherit", "") else _unit_of(block)
        self.signals.remember(source, end, unit)
        if shown:
            self.signals.plot(source)
        elif not consumers:
            self.signals.conversion.ended.append(self.signals.path_of(source))
        if not consumers:
            self.signals.conversion.enter(level, block, "mapped", "the signal itself")
            return []
        part = self._converter(block, unit, "")
        level.refs[block.sid, "out1"] = PortRef(f"{level.owner}.{part.name}.y", "output")
        self.signals.conversion.enter(level, block, "mapped", part.component)
        return [f"{level.owner}.{part.name}.u"]

    def _converter(self, block: Block, unit: str, to: str) -> Part:
        """A gain that gives a number a unit or takes it; for temperatures with their offset."""
        part = self.signals.level.add(block, "signal.Gain", {"gain": f'"1 {to}"'} if to else {})
        if (unit or to) in TEMPERATURES:
            scale, zero = ("K", 273.15) if (unit or to) == "degC" else ("delta_degF", 459.67)
            made = f"{'From' if unit else 'To'}{(unit or to)[3:]}"
            ports = [PortPlan("u", "Input", "K" if unit else ""),
                     PortPlan("y", "Output", "" if unit else "K")]
            law = f'self.y == self.u / quantity(1, "{scale}") - {zero}' if unit else \
                f'self.y == (self.u + {zero}) * quantity(1, "{scale}")'
            self.signals.conversion.gaps.classes.setdefault(made, Stub(
                made, f"The number of a temperature in {unit or to}." if unit else
                f"The temperature of a number in {unit or to}.", ports, [law]))
            part.component, part.keywords = made, {}
        elif unit:
            per = f"1/{unit}" if unit.isalpha() else f"1/({unit})"
            part.keywords = {"input": f'"{unit}"', "gain": f'"1 {per}"'}
        return part


def number_taken(level: SystemContext, name: str, place: str, unit: str, to: str) -> str:
    """A gain that gives the number of a signal another unit; its output."""
    gain = f'"1 {quotient(to, unit) if unit else to}"'
    return level.through(place, "signal.Gain", {
        **({"input": f'"{unit}"'} if unit else {}), "gain": gain}, f"{name}_unit")


def other_units(block: Block, made: Made, units: NodeUnits) -> dict[str, str]:
    """Outputs whose unit is neither that of what they enter nor can be, and that unit."""
    part = made.part
    wanted = {port: units.of(block.sid, end) or "" for end, port in block.ports.items()
              if port in part.outputs}
    other = {port: unit for port, unit in wanted.items()
             if not alike(made.units.get(port, made.unit), unit)}
    keywords = _GIVES_UNIT.get(part.component)
    if not other or made.unit or keywords is None or "input" in part.keywords:
        return other
    for keyword in {*keywords} & part.keywords.keys():  # the numbers are written in the unit
        part.keywords[keyword] = with_unit(part.keywords[keyword], *other.values())
    return {}


def _unit_of(converter: Block) -> str:
    """The unit of a converter's number; that of a difference, where no offset is added."""
    unit = unit_here(converter.options.get("Unit", "1"), converter.name)
    affine = converter.options.get("AffineConversion") == "on"
    return unit if affine else TEMPERATURES.get(unit, unit)


def _number_of(text: str) -> str:
    """The number in ``"1 1/s"`` or ``quantity(…, "1/s")``."""
    match = re.fullmatch(r'"(\S+) 1/s"|quantity\((.*), "1/s"\)', text)
    return (match[1] or match[2]) if match is not None else text


# -- gains that say nothing -----------------------------------------------------------------------
def leave_out_idle_gains(conversion: ConversionState, level: SystemContext) -> None:
    """Take gains without effect out of a system, and join those that only change the unit."""
    plan = level.plan
    parts = {f"{level.owner}.{part.name}": part for part in plan.parts}
    for place, part in list(parts.items()):
        if part.component != "signal.Gain":
            continue
        source = next((c[0] for c in plan.connections if f"{place}.u" in c[1:]), "")
        targets = [t for c in plan.connections if c[0] == f"{place}.y" for t in c[1:]]
        # an input of the system that would be an output of it asks for a block
        passed = source.count(".") == 1 and any(t.count(".") == 1 for t in targets)
        if not source or not targets or source == f"{place}.y" or passed:
            continue
        if not part.keywords or _into_source(parts, plan.connections, source, part) \
                or _into_targets(parts, targets, part):
            plan.connections[:] = [
                [t for t in ends if t != f"{place}.u"] + targets * (f"{place}.u" in ends)
                for ends in plan.connections if ends[0] != f"{place}.y"]
            conversion.fed[level.path_of(f"{place}.y")] = level.path_of(source)
            plan.parts.remove(part)
            del parts[place]


def _into_source(parts: dict[str, Part], connections: list[list[str]], source: str, part: Part
                 ) -> bool:
    """Let the gain before give its number the unit, where nothing else takes the number."""
    unit, before = _unit_given(part, "gain"), parts.get(source.rpartition(".")[0])
    taken = [t for c in connections if c[0] == source for t in c[1:]]
    if not unit or len(taken) != 1 or not _is_of_numbers(before):
        return False
    before.keywords["gain"] = with_unit(before.keywords.get("gain", "1"), unit)
    return True


def _into_targets(parts: dict[str, Part], targets: list[str], part: Part) -> bool:
    """Let the gains behind take the unit, where these are all that use the number."""
    unit = _unit_given(part, "gain", "input")
    behind = [gain for t in targets if _is_of_numbers(gain := parts.get(t.rpartition(".")[0]))]
    if not unit or len(behind) < len(targets):
        return False
    for gain in behind:
        text = with_unit(gain.keywords.get("gain", "1"), unit)
        gain.keywords = {"input": part.keywords["input"], "gain": text}
    return True


def _unit_given(part: Part, *keywords: str) -> str:
    """The unit that a gain of 1 with these keywords gives; empty of another one."""
    unit = _GIVES.fullmatch(part.keywords.get("gain", ""))
    return unit[1] if unit is not None and {*part.keywords} == {*keywords} else ""


def _is_of_numbers(part: Part | None) -> TypeGuard[Part]:
    """Whether it is a gain that takes a number and gives one."""
    return part is not None and part.component == "signal.Gain" and "input" not in part.keywords \
        and not part.keywords.get("gain", "").startswith(('"', "quantity("))
