"""Folders that are damaged, full or not to be written, and functions that are not the same."""

import errno
import functools
import json
import os
import shutil
import sys
from pathlib import Path

import numpy as np
import pandas as pd
import pyarrow.parquet as parquet
import pytest
from numpy.testing import assert_allclose

from blocks import ParameterError, quantity
from blocks.studies import load
from blocks.studies.store import Store

from . import bench

SPEEDS = quantity(np.linspace(1, 4, 6), "m/s")
LEFT = np.linspace(1, 4, 6) * np.exp(-0.75)  # after half a second, v0 exp(-d t / m)
FACTOR = 1


def study(folder, **changed):
    asked = {"outputs": ["final(mass.v)"], "method": "rodas4", **changed}  # one by one
    return bench.coasting().sweep({"mass.v": SPEEDS}, "0.5 s", store=folder, **asked)


@pytest.fixture(scope="module")
def finished(tmp_path_factory):
    folder = tmp_path_factory.mktemp("finished") / "study"
    return folder, study(folder)


@pytest.fixture
def kept(finished, tmp_path):
    """A copy of a finished study."""
    return shutil.copytree(finished[0], tmp_path / "study")


@pytest.fixture(autouse=True)
def restored(monkeypatch):
    monkeypatch.setattr(sys.modules[__name__], "FACTOR", FACTOR)


@pytest.mark.parametrize("content", [b"", b"PAR1", b"nothing of the kind"])
def test_runs_of_a_damaged_file_are_made_again(content, kept, finished, runs):
    next(kept.glob("*.parquet")).write_bytes(content)
    with pytest.warns(UserWarning, match="cannot be read .* count as not made"):
        unfinished = load(kept)
    assert (unfinished.status == "not run").all()
    with pytest.warns(UserWarning, match="cannot be read .* count as not made"):
        again = study(kept)
    assert sorted(runs) == list(range(6))
    assert again.identical(finished[1])
    assert len(pd.read_parquet(kept)) == 6  # the damaged file is out of the way


def test_a_run_that_stands_in_two_files_is_gathered_once(kept, runs):
    file = next(kept.glob("*.parquet"))
    file.with_name("run-00000000.parquet").write_bytes(file.read_bytes())
    parquet.write_table(parquet.read_table(file).slice(0, 3), file)
    study(kept)
    assert runs == []
    assert pd.read_parquet(kept)["run"].tolist() == list(range(6))


def test_a_study_is_read_while_its_files_are_gathered(kept, finished, monkeypatch):
    file = next(kept.glob("*.parquet"))
    rows = parquet.read_table(file)
    for k in range(6):
        parquet.write_table(rows.slice(k, 1), file.with_name(f"run-{k:08d}.parquet"))
    file.unlink()
    read = Store._table
    gathered = []

    def meanwhile(self, file):
        if not gathered:
            gathered.append(True)
            Store(kept, json.loads((kept / "_study.json").read_text())).finish()
        return read(self, file)

    monkeypatch.setattr(Store, "_table", meanwhile)
    assert load(kept).identical(finished[1])


@pytest.mark.parametrize("content", [
    '{"format"', "[]", "{}", "[" * 100000, "[1, 2]", "7", '"text"', "9" * 5000, "{", "\0"])
def test_a_damaged_head_is_named(content, kept):
    (kept / "_study.json").write_text(content)
    for attempt in (study, load):
        with pytest.raises(ParameterError, match=r"_study\.json' cannot be read") as caught:
            attempt(kept)
        assert caught.value.code == "sweep.store"


def test_a_folder_that_cannot_be_made_is_refused_before_the_first_run(tmp_path, runs):
    (tmp_path / "file").write_text("")
    with pytest.raises(ParameterError, match="cannot be used: Not a directory"):
        study(tmp_path / "file" / "study")
    assert runs == []


def test_a_study_goes_on_where_the_disk_is_full(tmp_path, monkeypatch, runs):
    replace = os.replace

    def full(source, target):
        if Path(target).name.startswith("run-") and len(runs) > 2:
            raise OSError(errno.ENOSPC, "No space left on device")
        replace(source, target)

    with monkeypatch.context() as patched:
        patched.setattr(os, "replace", full)
        with pytest.warns(UserWarning, match="No space left on device") as told:
            data = study(tmp_path / "study")
    assert len(told) == 1
    assert_allclose(data["final(mass.v)"], LEFT, rtol=1e-5)
    assert not list((tmp_path / "study").glob(".*"))  # nothing half written
    runs.clear()
    again = study(tmp_path / "study")
    assert sorted(runs) == [2, 3, 4, 5]
    assert again.identical(data)


class Scaled:
    """A function with a memory."""

    def __init__(self, factor):
        self.factor = factor

    def __call__(self, result):
        return self.factor * result["mass.v"].final

    def method(self, result):
        return self.factor * result["mass.v"].final


def closure(factor):
    return lambda result: factor * result["mass.v"].final


def default(factor):
    def left(result, factor=factor):
        return factor * result["mass.v"].final
    return left


def applied(factor):
    return functools.partial(lambda factor, result: factor * result["mass.v"].final, factor)


def quantities(factor):
    scale = quantity(factor, "kg")
    return lambda result: scale * result["mass.v"].final


def edited(factor):
    space = {}
    exec(f"def left(result):\n    return {factor} * result['mass.v'].final", space)
    return space["left"]


def beside(factor):
    """Uses a value of its module."""
    sys.modules[__name__].FACTOR = factor
    return uses_factor


def uses_factor(result):
    return scaled_by_factor(result["mass.v"].final)


def scaled_by_factor(speed):
    return FACTOR * speed


@pytest.mark.parametrize("make", [
    Scaled, lambda k: Scaled(k).method, closure, default, applied, quantities, edited, beside,
], ids=["object", "method", "closure", "default", "partial", "quantity", "text", "module"])
def test_a_function_that_uses_another_value_is_another_function(make, tmp_path):
    first = study(tmp_path / "study", outputs={"left": make(2.0)})
    assert_allclose(first["left"], 2 * LEFT, rtol=1e-5)
    assert study(tmp_path / "study", outputs={"left": make(2.0)}).identical(first)
    with pytest.raises(ParameterError, match="'left' was computed by a function that said"):
        study(tmp_path / "study", outputs={"left": make(3.0)})


def test_a_function_is_known_again_in_another_process(tmp_path):
    """Sets and addresses differ between processes; what a function computes does not."""
    from multiprocessing import get_context

    with get_context("spawn").Pool(1) as pool:
        assert pool.map(described, [0]) == [described(0)]


def described(_):
    from blocks.studies.identity import _function

    words = {"one", "two", "three"}
    return json.dumps([_function(f) for f in (
        uses_factor, closure(3.0), Scaled(2), max, lambda result: result in words)])  # fmt: skip


# -- what others, or a failing disk, wrote into a study ------------------------------------


def put(*path):
    """An edit of a study's description: the last of a path is the value put there."""
    *steps, last, value = path

    def edit(study):
        place = study
        for step in steps:
            place = place[step]
        place[last] = value

    return edit


EDITS = [
    put("outputs", 0, "shape", [10**13]),
    put("outputs", 0, "shape", ["many"]),
    put("outputs", 0, "dims", ["x", "y"]),
    put("outputs", 0, "unit", "8**8**8**8*m"),
    put("outputs", 0, "unit", "kg*" * 300000),
    put("outputs", 0, "unit", ["m"]),
    put("outputs", 0, "name", None),
    put("outputs", {"a": 1}),
    put("axes", "mass.v"),
    put("axes", 0, "unit", "m/s)"),
    put("axes", 0, "values", [[1.0]] * 6),
    put("axes", 0, "values", [1.0]),
    put("axes", 0, "values", 2, 9.0),
    put("axes", 0, "dim", "other"),
    put("dimensions", {"mass.v": 10**12}),
    put("dimensions", {"mass.v": 6.5}),
    put("dimensions", {f"d{k}": 2 for k in range(60)}),
    put("options", [1, 2]),
    put("name", {}),
    lambda study: study["outputs"][0].pop("doc"),
    lambda study: study.pop("options"),
    lambda study: study["axes"].append(study["axes"][0]),
    lambda study: study["outputs"].append(study["outputs"][0])]


@pytest.mark.parametrize("edit", EDITS, ids=range(len(EDITS)))
def test_a_description_that_no_study_wrote_is_refused_in_few_words(edit, kept):
    head = kept / "_study.json"
    said = json.loads(head.read_text())
    edit(said)
    head.write_text(json.dumps(said))
    for read in (load, study):
        with pytest.raises(ParameterError, match=r"_study\.json' cannot be read") as caught:
            read(kept)
        assert caught.value.code == "sweep.store"
        assert len(str(caught.value)) < 700


def test_a_study_of_another_version_says_so(kept):
    head = kept / "_study.json"
    head.write_text(head.read_text().replace("blocks study 1", "blocks study 7"))
    with pytest.raises(ParameterError, match="has the format 'blocks study 7', not 'blocks stud"):
        load(kept)


RUNS = [
    ({"run": [0, 1, 2, 3, 4, 10**15]}, "it holds other runs"),
    ({"run": [-1, 1, 2, 3, 4, 5]}, "it holds other runs"),
    ({"status": ["finished"] * 5 + [None]}, "it has gaps"),
    ({"run": list("abcdef")}, "its columns are of other types"),
    ({"message": [1] * 6}, "its columns are of other types"),
    ({"final(mass.v) [m/s]": list("abcdef")}, "'final(mass.v)' is no number"),
    ({"final(mass.v) [m/s]": [[1.0]] * 6}, "'final(mass.v)' is no number"),
    ({"final(mass.v) [7**7**7*m]": [1.0] * 6}, "'7**7**7*m' is not a unit"),
    ({"max(mass.v) [m/s]": [1.0] * 6}, "which the study does not keep")]


@pytest.mark.parametrize(("columns", "reason"), RUNS, ids=range(len(RUNS)))
def test_runs_that_the_study_cannot_have_written_count_as_not_made(columns, reason, kept):
    file = next(kept.glob("*.parquet"))
    frame = parquet.read_table(file).to_pandas()
    for name, values in columns.items():
        frame[name] = values
    frame.to_parquet(file, index=False)
    with pytest.warns(UserWarning, match="count as not made") as caught:
        data = load(kept)
    assert reason in str(caught[0].message)
    assert (data.status == "not run").all()


def test_a_study_of_more_numbers_than_can_be_held_is_refused_before_it_begins():
    axes = {"mass.v": quantity(np.ones(20000), "m/s"), "mass.mass": quantity(np.ones(20000), "kg")}
    with pytest.raises(ParameterError, match="of 400,000,000 runs would keep 800,000,000 numbers"):
        bench.coasting().sweep(axes, "1 s", outputs="final(mass.v)")


def test_texts_of_a_study_are_read_by_the_same_grammar():
    def refused(over=None, **asked):
        asked = {"outputs": ["final(mass.v)"], **asked}
        with pytest.raises(ValueError) as caught:
            bench.coasting().sweep({"mass.v": SPEEDS} if over is None else over, "0.5 s", **asked)
        assert len(str(caught.value)) < 700
        return str(caught.value)

    assert "'**7**7 s' is not a unit" in refused(outputs="at(mass.v, 7**7**7 s)")
    assert "'ms' is a unit without a number" in refused(outputs="at(mass.v, ms)")
    assert "too long" in refused(outputs=f"at(mass.v, {'1' * 10**6} s)")
    assert "mass.v: " in refused({"mass.v": ["1 m/s", "{v} m/s"]})
    assert "mass.v: was given '2 m/s.'" in refused({"mass.v": ["1 m/s", "2 m/s."]})
    assert "column 'mass.v': 'm/sec.' is not" in refused(pd.DataFrame({"mass.v [m/sec.]": [1.0]}))
    assert "'–1 s' begins with '–'" in refused(outputs="mass.v", every="–1 s")
