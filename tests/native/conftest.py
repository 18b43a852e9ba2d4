"""What tests of machine code have in common."""

from __future__ import annotations

import pytest

from blocks.nonsmooth.modes.mode_search import ModeSearch


@pytest.fixture
def searches(monkeypatch):
    """When Python has searched for modes."""
    seen, search = [], ModeSearch.take_first

    def noted(self, problem, t, *args):
        seen.append(t)
        return search(self, problem, t, *args)

    monkeypatch.setattr(ModeSearch, "take_first", noted)
    return seen
