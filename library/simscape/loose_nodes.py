"""Which hard stops have a side that nothing moves while they are open?

A spring in series with a stop leaves the place between them open: in the gap no equation
determines its velocity. Simscape's implicit steps find one; here a very small damper
in parallel with the stop does, and the report says so.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from .diagram import Block
from .python_text import number_text

__all__ = ["NOTE", "loose_stop", "small_damper"]

_STOPS = {"foundation.mechanical.translational.hardstop": ("translational.Damper", "N*s/m", 1e-3),
          "foundation.mechanical.rotational.hardstop": ("rotational.RotationalDamper",
                                                        "N*m*s/rad", 1e-5)}  # fmt: skip
_ELASTIC = {*_STOPS, "foundation.mechanical.translational.spring",
            "foundation.mechanical.rotational.spring"}  # fmt: skip
_UNSEEN = "nesl_utility/Solver Configuration"
_SHARE = 0.01  # of the stop's own damping

NOTE = ("Nothing but springs and stops hangs on one side of it, whose velocity nothing determines "
        "while the stop is open: a damper of a hundredth of its damping stands in parallel.")


def loose_stop(blocks: Iterable[Block]) -> Block | None:
    """The stop of a node that only springs and stops are connected to."""
    found = [b for b in blocks if b.kind != _UNSEEN]
    stops = [b for b in found if b.kind in _STOPS]
    return stops[0] if stops and all(b.kind in _ELASTIC for b in found) else None


def small_damper(block: Block, damping: Any) -> tuple[str, dict[str, str]]:
    """Component and keywords of the damper for a stop, whose own damping may be told."""
    component, unit, least = _STOPS[block.kind]
    own = 0.0 if damping is None else float(damping.to(unit).magnitude)
    return component, {"damping": f'"{number_text(own * _SHARE or least)} {unit}"'}
