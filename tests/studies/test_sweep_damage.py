"""Folders that are damaged, full or not to be written, and functions that are not the same."""

from __future__ import annotations

import errno
import functools
import json
import os
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
    asked = {"outputs": ["final(mass.v)"], **changed}
    return bench.coasting().sweep({"mass.v": SPEEDS}, "0.5 s", store=folder, **asked)


@pytest.fixture(autouse=True)
def restored(monkeypatch):
    monkeypatch.setattr(sys.modules[__name__], "FACTOR", FACTOR)


@pytest.mark.parametrize("content", [b"", b"PAR1", b"nothing of the kind"])
def test_runs_of_a_damaged_file_are_made_again(content, tmp_path, runs):
    whole = study(tmp_path / "study")
    file = next((tmp_path / "study").glob("*.parquet"))
    file.write_bytes(content)
    runs.clear()
    with pytest.warns(UserWarning, match="cannot be read .* count as not made"):
        unfinished = load(tmp_path / "study")
    assert (unfinished.status == "not run").all()
    with pytest.warns(UserWarning, match="cannot be read .* count as not made"):
        again = study(tmp_path / "study")
    assert sorted(runs) == list(range(6))
    assert again.identical(whole)
    assert len(pd.read_parquet(tmp_path / "study")) == 6  # the damaged file is out of the way


def test_a_run_that_stands_in_two_files_is_gathered_once(tmp_path, runs):
    study(tmp_path / "study")
    file = next((tmp_path / "study").glob("*.parquet"))
    file.with_name("run-00000000.parquet").write_bytes(file.read_bytes())
    parquet.write_table(parquet.read_table(file).slice(0, 3), file)
    runs.clear()
    study(tmp_path / "study")
    assert runs == []
    assert pd.read_parquet(tmp_path / "study")["run"].tolist() == list(range(6))


def test_a_study_is_read_while_its_files_are_gathered(tmp_path, monkeypatch):
    whole = study(tmp_path / "study")
    file = next((tmp_path / "study").glob("*.parquet"))
    rows = parquet.read_table(file)
    for k in range(6):
        parquet.write_table(rows.slice(k, 1), file.with_name(f"run-{k:08d}.parquet"))
    file.unlink()
    read = Store._table
    gathered = []

    def meanwhile(self, file):
        if not gathered:
            gathered.append(True)
            head = json.loads((tmp_path / "study" / "_study.json").read_text())
            Store(tmp_path / "study", head).finish()
        return read(self, file)

    monkeypatch.setattr(Store, "_table", meanwhile)
    assert load(tmp_path / "study").identical(whole)


@pytest.mark.parametrize("content", ['{"format"', "[]", "{}"])
def test_a_damaged_head_is_named(content, tmp_path):
    study(tmp_path / "study")
    (tmp_path / "study" / "_study.json").write_text(content)
    for attempt in (study, load):
        with pytest.raises(ParameterError, match=r"_study\.json' cannot be read") as caught:
            attempt(tmp_path / "study")
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


def beside(factor):
    """Uses a value of its module."""
    sys.modules[__name__].FACTOR = factor
    return uses_factor


def uses_factor(result):
    return scaled_by_factor(result["mass.v"].final)


def scaled_by_factor(speed):
    return FACTOR * speed


@pytest.mark.parametrize("make", [
    Scaled, lambda k: Scaled(k).method, closure, default, applied, quantities, beside,
], ids=["object", "method", "closure", "default", "partial", "quantity", "module"])  # fmt: skip
def test_a_function_that_uses_another_value_is_another_function(make, tmp_path):
    first = study(tmp_path / "study", outputs={"left": make(2.0)})
    assert_allclose(first["left"], 2 * LEFT, rtol=1e-5)
    assert study(tmp_path / "study", outputs={"left": make(2.0)}).identical(first)
    with pytest.raises(ParameterError, match="'left' was computed by a function that said"):
        study(tmp_path / "study", outputs={"left": make(3.0)})


def test_a_function_is_known_again_in_another_process(tmp_path):
    """Sets and addresses differ between processes; what a function computes does not."""
    from multiprocessing import get_context

    with get_context("spawn").Pool(2) as pool:
        said = pool.map(described, [0, 0])
    assert said[0] == said[1] == described(0)


def described(_):
    from blocks.studies.identity import _function

    words = {"one", "two", "three"}
    return json.dumps([_function(f) for f in (
        uses_factor, closure(3.0), Scaled(2), max, lambda result: result in words)])  # fmt: skip
