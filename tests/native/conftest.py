"""What tests of machine code have in common."""

from importlib.util import find_spec
from pathlib import Path

import pytest

from blocks.nonsmooth.modes.mode_search import ModeSearch
from blocks.simulation import method_choice

#: What most tests of these look at is the same in Python.
WITHOUT_MACHINE_CODE = {
    "test_contact_steps", "test_friction_at_a_stop", "test_given_rows", "test_many_states",
    "test_methods_serve_runs", "test_open_splits", "test_sparse_factors",
    "test_steps_of_all_elements"}


def pytest_collection_modifyitems(items):
    if not find_spec("llvmlite"):
        for item in items:
            if item.path.parent == Path(__file__).parent and (
                    item.path.stem not in WITHOUT_MACHINE_CODE):
                item.add_marker(pytest.mark.skip(reason="machine code needs llvmlite"))


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
