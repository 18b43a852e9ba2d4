"""Which options of a Simulink block has nothing read, although they may change what it gives?

A block is mapped by what is read of it. Of what is left, names and pictures, checks, types of
numbers beside ``double`` that are not there, code generation and numerical settings change
nothing here, as ``simulink_options.csv`` says; any other option that is not at its default is said.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping

from .data import content_of, rows_of
from .diagram import Block

__all__ = ["defaults_of", "unread_options"]


def defaults_of(block_type: str) -> dict[str, str]:
    """Values that files do not repeat, of a type of block."""
    found: dict[str, str] = content_of("simulink_defaults.json").get(block_type, {})
    return found


def unread_options(block: Block, read: Collection[str], usual: Mapping[str, str]
                   ) -> list[tuple[str, str]]:
    """Names and values that a block holds, that nothing has read and that may matter.

    ``usual`` are the values that are usual for its type.
    """
    kind = block.simulink_name or block.block_type
    return [(name, value) for name, value in block.options.items()
            if name not in read and value != usual.get(name) and not any(
                all(not row[word] or re.fullmatch(row[word], given) for word, given in (
                    ("block", kind), ("option", name), ("value", value)))
                for row in rows_of("simulink_options.csv"))]
