"""What tests of machine code have in common."""

from importlib.util import find_spec
from pathlib import Path

import pytest

from blocks.nonsmooth.modes.decisions import Decisions
from blocks.nonsmooth.modes.mode_search import ModeSearch
from blocks.simulation.switching import Switching

#: What most tests of these look at is the same in Python.
WITHOUT_MACHINE_CODE = {"test_friction_at_a_stop", "test_methods_serve_runs",
                        "test_resting_in_many_ways", "test_steps_of_all_elements"}


def pytest_collection_modifyitems(items):
    if not find_spec("llvmlite"):
        for item in items:
            if item.path.parent == Path(__file__).parent and (
                    item.path.stem not in WITHOUT_MACHINE_CODE):
                item.add_marker(pytest.mark.skip(reason="machine code needs llvmlite"))


def noted(monkeypatch, *methods):
    """Instants at which Python calls methods of classes, from here on."""
    seen = []
    for of, name in methods:
        monkeypatch.setattr(of, name, _noted(getattr(of, name), seen))
    return seen


def _noted(method, seen):
    def called(self, *args):
        seen.append(next(t for t in args if isinstance(t, float)))
        return method(self, *args)

    return called


@pytest.fixture
def searches(monkeypatch):
    """When Python has searched for modes."""
    return noted(monkeypatch, (ModeSearch, "take_first"))


@pytest.fixture
def in_python(monkeypatch):
    """When Python has carried out an event, or decided on modes."""
    return noted(monkeypatch, (Switching, "flip"), (Decisions, "decide"))
