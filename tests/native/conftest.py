"""What tests of machine code have in common."""

from importlib.util import find_spec

import pytest

from blocks.nonsmooth.modes.mode_search import ModeSearch
from blocks.simulation import method_choice

collect_ignore_glob = [] if find_spec("llvmlite") else ["test_*"]


@pytest.fixture
def searches(monkeypatch):
    """When Python has searched for modes."""
    seen, search = [], ModeSearch.take_first

    def noted(self, problem, t, *args):
        seen.append(t)
        return search(self, problem, t, *args)

    monkeypatch.setattr(ModeSearch, "take_first", noted)
    return seen


@pytest.fixture(autouse=True)
def dop853_steps_in_python(request, monkeypatch):
    """What machine code is compared with here."""
    if request.module.__name__ != "test_high_order":
        others = tuple(name for name in method_choice.EXPLICIT if name != "DOP853")
        monkeypatch.setattr(method_choice, "EXPLICIT", others)
