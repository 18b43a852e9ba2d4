"""Which signal block here does what a Simulink block does?

Numbers of Simulink carry no units: the blocks here are given none.
"""

from __future__ import annotations

from .asked import BlockParameters
from .data import content_of
from .diagram import Block
from .signal_part import SignalPart, Unmapped
from .simulink_dynamics import DYNAMICS
from .simulink_functions import FUNCTIONS
from .simulink_sampled import SAMPLED
from .simulink_sources import SOURCES

__all__ = ["SINKS", "UNSEEN", "signal_part"]

_TABLE = content_of("signal_blocks.json")
SINKS = {*_TABLE["sinks"]}  # what only shows or keeps a signal
UNSEEN = {*_TABLE["unseen"]}  # what has no part in the physics
# by type; masked blocks of Simulink's own library by the last part of their path
_BLOCKS = {**SOURCES, **FUNCTIONS, **DYNAMICS, **SAMPLED}


def signal_part(block: Block, asks: BlockParameters) -> SignalPart:
    """The counterpart of a Simulink block; Unmapped says why there is none."""
    if block.block_type in ("EnablePort", "TriggerPort", "ActionPort"):
        raise Unmapped("The subsystem is always on here, whatever switches it in the model: put a "
                       "Switch of library.signal behind its outputs where that matters.")
    if block.block_type == "Probe":
        raise Unmapped(f"It reads {asks.written('Variables', 'variables')} of a component by name, "
                       "without a line: connect a sensor instead.")
    made = _BLOCKS.get(block.block_type) or _BLOCKS.get(block.simulink_name)
    if made is None:
        # what exists here for blocks of libraries whose laws no file tells
        near = _TABLE["near"].get(block.kind.rpartition("/")[2], "")
        raise Unmapped(f"It has no counterpart here. {near}".rstrip())
    return made(asks)
