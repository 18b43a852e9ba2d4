"""Which signal block here does what a Simulink block does?

Numbers of Simulink carry no units: the blocks here are given none.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from functools import cache
from pathlib import Path

from .diagram import Block
from .signal_part import Asks, Lacks, SignalPart
from .simulink_choices import CHOICES, LINKED_CHOICES
from .simulink_dynamics import DYNAMICS, LINKED_DYNAMICS
from .simulink_functions import FUNCTIONS, LINKED_FUNCTIONS
from .simulink_sampled import SAMPLED
from .simulink_sources import LINKED_SOURCES, SOURCES

__all__ = ["SINKS", "UNSEEN", "defaults_of", "signal_part"]

# what only shows or keeps a signal
SINKS = {"Scope", "Display", "Terminator", "ToWorkspace", "ToFile", "XYGraph", "DashboardScope",
         "DisplayBlock", "Assertion", "Stop"}  # fmt: skip
# what has no part in the physics
UNSEEN = {"KnobBlock", "SliderBlock", "PanelWebBlock", "ToggleSwitchBlock", "RotarySwitchBlock",
          "RockerSwitchBlock", "SliderSwitchBlock", "LampBlock", "CircularGaugeBlock",
          "LinearGaugeBlock", "QuarterGaugeBlock", "SemiCircularGaugeBlock", "DashboardScope",
          "DisplayBlock", "EditField", "CheckBox", "ComboBox", "PushButtonBlock", "RadioButton",
          "CallbackButton", "MultiStateImageBlock", "SimscapeProbe"}  # fmt: skip

_BLOCKS: dict[str, Callable[[Asks], SignalPart]] = {
    **SOURCES, **FUNCTIONS, **CHOICES, **DYNAMICS, **SAMPLED}
# masked blocks of Simulink's own library, by the last part of their path
_LINKED: dict[str, Callable[[Asks], SignalPart]] = {
    **LINKED_SOURCES, **LINKED_FUNCTIONS, **LINKED_CHOICES, **LINKED_DYNAMICS}

_PID = ("{0} of library.signal is one (proportional = Kp, integral = Ki, derivative = Kd): by "
        "which rule this one integrates and what its limits hold, its file does not say.")
_PULSES = ("Compare of library.signal against RepeatingSequence makes pulses of one signal, one of "
           "them for every arm; PWMVoltage of library.electromechanical is their mean.")
# what exists here for blocks of libraries whose laws no file tells
_NEAR = {
    "PID Controller": _PID.format("PID"), "PI Controller": _PID.format("PID"),
    "Discrete PID Controller": _PID.format("DiscretePID"),
    "Discrete PI Controller": _PID.format("DiscretePID"), "PWM Generator": _PULSES,
    "PWM Generator (2-Level)": _PULSES, "PWM Generator (DC-DC)":
    "Compare of library.signal is one, with the duty cycle at u1 and RepeatingSequence from 0 to 1 "
    "over a period at u2.", "PWM Generator (Three-phase, Two-level)": _PULSES,
}  # fmt: skip


@cache
def defaults_of(block_type: str) -> dict[str, str]:
    """Values that files do not repeat, of a type of block."""
    text = Path(__file__).with_name("simulink_defaults.json").read_text(encoding="utf-8")
    found: dict[str, dict[str, str]] = json.loads(text)
    return found.get(block_type, {})


def signal_part(block: Block, asks: Asks) -> SignalPart:
    """The counterpart of a Simulink block; Lacks says why there is none."""
    if block.block_type in ("EnablePort", "TriggerPort", "ActionPort"):
        raise Lacks("The subsystem is always on here, whatever switches it in the model: put a "
                    "Switch of library.signal behind its outputs where that matters.")
    if block.block_type == "Probe":
        raise Lacks(f"It reads {asks.written('Variables', 'variables')} of a component by name, "
                    "without a line: connect a sensor instead.")
    made = _BLOCKS.get(block.block_type) or _LINKED.get(block.simulink_name)
    if made is None:
        near = _NEAR.get(block.kind.rpartition("/")[2], "")
        raise Lacks(f"It has no counterpart here. {near}".rstrip())
    return made(asks)
