"""Which events Python carries out, in tests of machine code."""

from blocks.simulation.switching import Switching


def flips(monkeypatch) -> list[float]:
    """Instants that are carried out in Python from here on."""
    seen, flip = [], Switching.flip

    def noted(self, t, which, with_modes):
        seen.append(t)
        flip(self, t, which, with_modes)

    monkeypatch.setattr(Switching, "flip", noted)
    return seen
