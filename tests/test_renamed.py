"""Old names do what the new ones do, and say so."""

import importlib
import sys

import pytest
from benches import wired

from blocks.renamed import MODULES, RenamedWarning
from library.translational import ForceSource, Mass, Reference, Spring


@pytest.fixture(scope="module")
def model():
    return wired("row", "block.M spring.R push.R", "floor.V spring.C push.C",
                 block=Mass(), spring=Spring(), push=ForceSource(force="1 N"), floor=Reference())


@pytest.mark.parametrize("old, told", [
    (lambda m: m.start(), "Model.stepper"),
    (lambda m: m.simulate("1 ms", start="1 s").time, r"simulate\(start_time=…\)"),
    (lambda m: m.simulate("1 ms", start_from=None), r"simulate\(initial=…\)"),
    (lambda m: m.stepper(start="1 s"), r"stepper\(start_time=…\)"),
    (lambda m: m.operating_point(wishes={}), r"operating_point\(targets=…\)"),
    (lambda m: m.simulate("1 ms").t, "Result.time"),
    (lambda m: m.simulate("1 ms").to_pandas("block.v"), "Result.table"),
    (lambda m: m.simulate("1 ms").explore("block.v"), "Result.report"),
    (lambda m: m.simulate("1 ms").report(None, "block.v"), r"report\(…, save=file\)"),
    (lambda m: m.simulate("1 ms")["block.v"].unit, "Series.units"),
    (lambda m: m.linearise("push.force", "spring.x").dc_gain, r"LinearModel.dcgain")])
def test_an_old_name_answers_with_the_new_one(model, old, told):
    with pytest.warns(RenamedWarning, match=rf"called {told}") as caught:
        assert old(model) is not None
    assert caught[0].filename == __file__


@pytest.mark.parametrize("old", sorted(MODULES))
def test_a_module_is_found_by_its_old_name(old):
    sys.modules.pop(old, None)
    with pytest.warns(RenamedWarning, match=f"{old} is called {MODULES[old]} now"):
        moved = importlib.import_module(old)
    assert moved is importlib.import_module(MODULES[old])
    assert moved.__spec__.name == MODULES[old]


def test_a_report_takes_variables_first_and_its_file_by_name(model, tmp_path):
    page = model.simulate("1 ms").report("block.v", save=tmp_path / "run.html")
    assert (tmp_path / "run.html").read_text() == page.html
