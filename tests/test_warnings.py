"""Every warning points at the line that its reader wrote; old names do what new ones do."""

import ast
import importlib
import os
import sys
import warnings
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path

import pytest
from benches import wired

import blocks
from blocks import Parameter
from blocks.renamed import MODULES, RenamedWarning
from library.translational import ForceSource, Mass, Reference, Spring
from tests.studies import bench

ROOT = Path(blocks.__file__).parent


def two_speeds():
    """Two masses that are one, and are to start at 1 and 2 m/s."""
    return wired("welded", "one.M two.M", one=Mass(v="1 m/s"), two=Mass(v="2 m/s"))


def faint():
    """A microgram that a nanonewton swings by nanometres."""
    return wired("faint", "push.R block.M spring.R", "push.C spring.C wall.V",
                 push=ForceSource(force="1 nN"), block=Mass(mass="1 ug"), wall=Reference(),
                 spring=Spring(stiffness="0.4 N/m"))


def broken_executor(tmp_path):
    with ProcessPoolExecutor(1) as pool:
        bench.coasting().sweep({"mass.v": ["1 m/s", "3 m/s"]}, "0.1 s", outputs=bench.die,
                               executor=pool)


def interrupted_study(tmp_path):
    def stop(result):
        raise KeyboardInterrupt

    bench.coasting().sweep({"mass.v": ["1 m/s"]}, "0.1 s", outputs={"left": stop})


def damaged_store(tmp_path):
    def study():
        return bench.coasting().sweep({"mass.v": ["1 m/s"]}, "0.1 s", outputs="final(mass.v)",
                                      store=tmp_path / "study")

    study()
    for file in (tmp_path / "study").glob("*.parquet"):
        file.write_bytes(b"no table")
    study()


def full_disk(tmp_path):
    folder = tmp_path / "study"

    def remove(result):
        for file in folder.iterdir():
            file.unlink()
        folder.rmdir()
        return result["mass.v"].final

    bench.coasting().sweep({"mass.v": ["1 m/s"]}, "0.1 s", outputs={"left": remove}, store=folder)


WARN = {
    "targets, of a run": lambda path: two_speeds().simulate("1 s"),
    "targets, of a table": lambda path: two_speeds().initial_values(),
    "targets, of a driven run": lambda path: two_speeds().start(),
    "faint motion": lambda path: faint().simulate("10 ms", method="dopri5")["spring.x"].to("nm"),
    "an executor": broken_executor,
    "an interrupt": interrupted_study,
    "a damaged file": damaged_store,
    "a full disk": full_disk}


@pytest.mark.parametrize("name", WARN)
def test_a_warning_points_at_the_line_of_the_user(name, tmp_path):
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        WARN[name](tmp_path)
    found = [w for w in told if not issubclass(w.category, DeprecationWarning)]
    assert found
    assert {os.path.realpath(w.filename) for w in found} == {os.path.realpath(__file__)}, [
        (w.filename, w.lineno, str(w.message)) for w in found]


def test_no_wing_counts_by_itself_how_far_above_the_user_is():
    asks = {}
    for file in ROOT.rglob("*.py"):
        for node in ast.walk(ast.parse(file.read_text())):
            if isinstance(node, ast.Attribute) and node.attr == "warn" and (
                    isinstance(node.value, ast.Name) and node.value.id == "warnings"):
                asks[file.relative_to(ROOT).as_posix()] = node.lineno
    assert list(asks) == ["exceptions.py"]


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
    (lambda m: m.linearise("push.force", "spring.x").dc_gain, r"LinearModel.dcgain"),
    (lambda m: m.block.settled("mass") or "nothing", "Component.structure"),
    (lambda m: m.simulate("1 ms").energy().turned_over, "EnergyBalance.throughput"),
    (lambda m: m.simulate("1 ms").energy().held, "EnergyBalance.peak_stored"),
    (lambda m: blocks.results.Ledger, "blocks.results.EnergyBalance"),
    (lambda m: Parameter("1 kg", settles=round), r"Parameter\(structure=")])
def test_an_old_name_answers_with_the_new_one(model, old, told):
    with pytest.warns(RenamedWarning, match=rf"called {told}") as caught:
        assert old(model) is not None
    assert caught[0].filename == __file__


def test_an_option_by_both_its_names_is_refused(model):
    with pytest.raises(TypeError, match="start= and start_time="):
        model.simulate("1 ms", start="1 s", start_time="2 s")
    with pytest.raises(TypeError, match="wishes= and targets="):
        model.operating_point(wishes={}, targets={})


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
