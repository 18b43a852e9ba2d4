"""Which events Python carries out, in tests of machine code."""

from __future__ import annotations

from blocks.simulation.switching import Switching


def flips(monkeypatch) -> list[float]:
    """Instants that are carried out in Python from here on."""
    seen, flip = [], Switching.flip

    def noted(self, t, which):
        seen.append(t)
        flip(self, t, which)

    monkeypatch.setattr(Switching, "flip", noted)
    return seen
