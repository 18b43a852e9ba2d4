"""Which inputs does a signal of a diagram drive, and does something show it?"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from ..file.diagram import Block, End, Signal, System
from ..tables import content_of
from ..write.plan import SystemContext
from .vectors import JOINING, SPLITTING

__all__ = ["SignalLines", "TO_PHYSICAL", "TO_SIMULINK", "UNSEEN", "is_converter", "is_shown",
           "is_signal_block", "name_read_probes"]  # fmt: skip

TO_PHYSICAL = "nesl_utility/Simulink-PS Converter"
TO_SIMULINK = "nesl_utility/PS-Simulink Converter"
_SINKS = {*content_of("signal_blocks.json")["sinks"]}  # what only shows or keeps a signal
UNSEEN = {*content_of("signal_blocks.json")["unseen"]}  # what has no part in the physics
_VECTORS = (*JOINING, *SPLITTING)
_LINES = ("Inport", "Outport", "PMIOPort", "ConnectionLabel", "Goto", "From", "GotoTagVisibility",
          *_VECTORS)  # fmt: skip


def is_converter(block: Block) -> bool:
    return block.kind in (TO_PHYSICAL, TO_SIMULINK)


def is_shown(block: Block) -> bool:
    """Whether it only shows or keeps a signal."""
    return block.block_type in _SINKS or block.block_type in UNSEEN


def is_signal_block(block: Block) -> bool:
    """Whether it becomes a part, rather than a line, a component or nothing."""
    return block.system is None and not is_shown(block) and block.block_type not in _LINES and \
        not block.is_component and not block.kind.startswith("nesl_utility")


def name_read_probes(system: System) -> None:
    """Make probes whose outputs something reads blocks of their own, which are gaps here."""
    for signal in system.signals:
        block = system.blocks.get(signal.source.sid)
        readers = [b for t in signal.targets if (b := system.blocks.get(t.sid)) is not None]
        if block is not None and block.block_type == "SimscapeProbe" and not all(
                map(is_shown, readers)):
            block.block_type = block.kind = "Probe"


@dataclass
class SignalLines:
    """The signal lines of one system, tags and vectors followed."""

    level: SystemContext

    def __post_init__(self) -> None:
        self._by_source: dict[End, list[Signal]] = {}
        for signal in self.level.system.signals:
            self._by_source.setdefault(signal.source, []).append(signal)

    def consumers(self, source: End) -> tuple[list[End], bool]:
        """Inputs that a signal drives, and whether something shows it."""
        ends = list(self._ends(source, set()))
        return [end for end in ends if end is not None], None in ends

    def _ends(self, source: End, seen: set[End]) -> Iterator[End | None]:
        """Inputs that a signal drives in the end, and None for what shows it.

        ``seen`` holds the signals that have been followed: lines may join again and again.
        """
        targets = [] if source in seen else [
            t for signal in self._by_source.get(source, ()) for t in signal.targets]
        seen.add(source)
        for target in targets:
            block = self.level.block(target)
            kind = "" if block is None else block.block_type
            if block is None or kind == "Terminator":
                continue
            if is_shown(block) or kind == "Outport" and self.level.owner == "model":
                yield None
            elif kind == "Goto":
                for inner in self.level.system.of_type("From", block.tag):
                    yield from self._ends(End(inner.sid, "out", 1), seen)
            elif kind in _VECTORS:
                behind = [end for s in list(self._by_source) if s.sid == block.sid
                          for end in self._ends(s, seen)]
                yield from {target if end is not None else None for end in behind}
            else:
                yield target

    def used_ports(self, block: Block) -> tuple[list[int], list[int]]:
        """Numbers of the inputs and outputs of a block that lines end at."""
        signals = self.level.system.signals
        return ([t.index for s in signals for t in s.targets
                 if t.sid == block.sid and t.port == "in"],
                [s.source.index for s in signals if s.source.sid == block.sid])
