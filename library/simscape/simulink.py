"""Which signal block here does what a Simulink block does?

Numbers of Simulink carry no units: the blocks here are given none.
"""

from __future__ import annotations

from .asked import Asked
from .diagram import Block
from .signal_part import Lacks, SignalPart
from .simulink_choices import CHOICES
from .simulink_dynamics import DYNAMICS
from .simulink_functions import FUNCTIONS
from .simulink_sampled import SAMPLED
from .simulink_sources import SOURCES

__all__ = ["SINKS", "UNSEEN", "signal_part"]

# what only shows or keeps a signal
SINKS = {"Scope", "Display", "Terminator", "ToWorkspace", "ToFile", "XYGraph", "DashboardScope",
         "DisplayBlock", "Assertion", "Stop"}  # fmt: skip
# what has no part in the physics
UNSEEN = {"KnobBlock", "SliderBlock", "PanelWebBlock", "ToggleSwitchBlock", "RotarySwitchBlock",
          "RockerSwitchBlock", "SliderSwitchBlock", "LampBlock", "CircularGaugeBlock",
          "LinearGaugeBlock", "QuarterGaugeBlock", "SemiCircularGaugeBlock", "DashboardScope",
          "DisplayBlock", "EditField", "CheckBox", "ComboBox", "PushButtonBlock", "RadioButton",
          "CallbackButton", "MultiStateImageBlock", "SimscapeProbe"}  # fmt: skip

# by type; masked blocks of Simulink's own library by the last part of their path
_BLOCKS = {**SOURCES, **FUNCTIONS, **CHOICES, **DYNAMICS, **SAMPLED}

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


def signal_part(block: Block, asks: Asked) -> SignalPart:
    """The counterpart of a Simulink block; Lacks says why there is none."""
    if block.block_type in ("EnablePort", "TriggerPort", "ActionPort"):
        raise Lacks("The subsystem is always on here, whatever switches it in the model: put a "
                    "Switch of library.signal behind its outputs where that matters.")
    if block.block_type == "Probe":
        raise Lacks(f"It reads {asks.written('Variables', 'variables')} of a component by name, "
                    "without a line: connect a sensor instead.")
    made = _BLOCKS.get(block.block_type) or _BLOCKS.get(block.simulink_name)
    if made is None:
        near = _NEAR.get(block.kind.rpartition("/")[2], "")
        raise Lacks(f"It has no counterpart here. {near}".rstrip())
    return made(asks)
