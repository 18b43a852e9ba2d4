"""Mistakes in a sweep, damaged or full folders, and functions that are not the same."""

import errno
import functools
import json
import os
import shutil
import sys
from functools import cache
from pathlib import Path

import numpy as np
import pandas as pd
import pyarrow.parquet as parquet
import pytest
from benches import wired
from numpy.testing import assert_allclose
from scipy import stats

from blocks import ParameterError, StructureError, UnitError, UnknownName, native, quantity
from blocks.exceptions import MissingPackage
from blocks.studies import load
from blocks.studies.runner import Runner
from blocks.studies.store import Store
from library.signal import Constant, Table1D
from library.translational import Mass, Reference, VelocitySource

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


# -- mistakes are named before the first run --------------------------------------------------
OVER = {"friction.coulomb_force": ["15 N", "20 N"]}
SAMPLED = {"over": {"block.mass": (stats.norm(1, 0.1), "kg")}, "samples": 2}


@pytest.fixture(autouse=True)
def no_runs(monkeypatch):
    """None of these sweeps begins."""

    def run_one(*given):
        raise AssertionError("a run was made")

    monkeypatch.setattr(Runner, "run_one", run_one)


stick_slip = cache(bench.stick_slip)  # no mistake changes it


def said(kind, over=OVER, model=None, **asked):
    asked = {"outputs": ["final(block.v)"], **asked}
    with pytest.raises(kind) as caught:
        (model or stick_slip()).sweep(over, asked.pop("duration", "0.1 s"), **asked)
    return str(caught.value)


@pytest.mark.parametrize("over, text", [
    ({"friction.coulom_force": ["1 N"]},
     "sweep(): there is no 'friction.coulom_force' among its parameters, options and initial "),
    ({"fiction.coulomb_force": ["1 N"]}, "Did you mean 'friction.coulomb_force'"),
    ({"block": ["1 kg"]}, "Did you mean 'block."),
    ({"spring.k": ["1 N/m"]}, "What is often called k is stiffness here."),
    ({"methd": ["BDF"]}, "Did you mean 'method'?"),
    ({"method": ["radu"]}, "'radu' among its methods. Did you mean 'Radau'?"),
    ({"friction.law": ["coulom"]}, "friction.law: there is no 'coulom' among its laws."),
    ({"block[0].mass": ["1 kg"]}, "'block[0].mass' numbers an instance, but block is no array."),
])  # fmt: skip
def test_misspelt_names_are_answered_with_the_nearest(over, text):
    assert text in said(UnknownName, over)


@pytest.mark.parametrize("outputs, text", [
    (["max(block.w)"], "there is no 'block.w' among its variables. Did you mean 'block.v'"),
    (["maxi(block.v)"], "'maxi' among its reductions. Did you mean 'max' or 'min'?")])  # fmt: skip
def test_misspelt_outputs_are_answered_with_the_nearest(outputs, text):
    assert text in said(UnknownName, outputs=outputs)


def test_misspelt_options_are_answered_with_the_nearest():
    assert "Did you mean 'rtol' or 'atol'?" in said(UnknownName, rtoll=1e-3)
    assert "Did you mean 'executor'" in said(UnknownName, excutor=2)
    assert "Did you mean 'rodas4'" in said(UnknownName, method="cvode")


@pytest.mark.parametrize("over, text", [
    ({"friction.coulomb_force": ["1 m"]}, "friction.coulomb_force: takes N or any unit"),
    ({"friction.coulomb_force": [1.0]},
     "friction.coulomb_force: takes N, but was given the bare number 1.0. Write '1 N'"),
    ({"friction.coulomb_force": np.array([1.0, 2.0])}, "Write quantity([…], 'N') if that is what"),
    ({"block.v": ["1 m"]}, "block.v: takes m/s or any unit convertible to it, but was given 1 m."),
    ({"friction.coulomb_force": (stats.norm(20, 1), "m")}, "friction.coulomb_force: takes N or"),
    ({"friction.coulomb_force": stats.norm(20, 1)},
     "friction.coulomb_force: takes N, but was given the bare number")])  # fmt: skip
def test_wrong_units_name_the_parameter_and_both_units(over, text):
    samples = 3 if not any(isinstance(v, (list, np.ndarray)) for v in over.values()) else None
    assert text in said(UnitError, over, samples=samples)


@pytest.mark.parametrize("over, text", [
    ({"friction.coulomb_force": ["15 N", "-1 N"]},
     "friction.coulomb_force: must be at least 0 N, but is -1 N."),
    ({"friction.coulomb_force": "1 N"}, "is varied, so it takes a list of values"),
    ({"rtol": 1e-3}, "is varied, so it takes a list of values"),
    ({"friction.coulomb_force": quantity("1 N")}, "is varied, so it takes a list of values"),
    ({"friction.coulomb_force": quantity([[1.0]], "N")}, "takes a plain list of values"),
    ({"friction.coulomb_force": {"1 N", "2 N"}}, "is varied over a set, which has no order"),
    ({3: ["1 N"]}, "sweep(): varies 3, which is no path."),
    ([["1 N"]], "sweep(): point 0: is ['1 N'], not a mapping of paths to values."),
    ([{"block.v": "1 m/s"}, {}], "sweep(): point 1: has nothing, but point 0 has block.v."),
    (pd.DataFrame({"block.mass [kg]": ["1 kg"]}),
     "block.mass: has a column in kg, but not all of its values are numbers."),
    (pd.DataFrame({"block.mass [kg]": [1], "block.mass [g]": [2]}),
     "was given a table with two columns of block.mass."),
    ({"friction.coulomb_force": []}, "was given an empty list"),
    ({"pull.velocity": [lambda t: t]}, "cannot be varied over functions of time"),
    ({"friction.breakaway_velocity": ["1 m/s"]}, "has no meaning with law='coulomb'"),
    ({"rtol": [2.0]}, "sweep(rtol=…): must be a number between 0 and 1"),
    ({}, "was given nothing to vary"),
    ([], "was given nothing to vary"),
    ("block.v", "takes a mapping, a list of points or a table"),
    ([{"block.v": "1 m/s"}, {"block.mass": "1 kg"}],
     "sweep(): point 1: has block.mass, but point 0 has block.v.")])  # fmt: skip
def test_values_that_do_not_fit_are_refused(over, text):
    assert text in said(ParameterError, over)


@pytest.mark.parametrize("asked, text", [
    ({"outputs": []}, "is empty, so nothing of the runs would be kept"),
    ({"outputs": ["block.v"]}, "so the times to keep must be given. Say every='10 ms'"),
    ({"every": "10 ms"}, "samples whole courses, but every output is a single number"),
    ({"outputs": ["at(block.v)"]}, "says at, but not when. Write 'at(block.v, 1.5 s)'."),
    ({"outputs": ["at(block.v, 3 s)"]}, "3 s is outside the run, which covers 0 s to 0.1 s"),
    ({"outputs": {"status": "final(block.v)"}}, "has the name of a coordinate of the study"),
    ({"outputs": ["block.v"], "every": "1 ms", "over": {"block.v": ["1 m/s"]}},
     "has the name of a coordinate of the study. Give it one of its own: outputs={'kept': 'blo"),
    ({"samples": 10}, "belongs to distributions, but there is none"),
    ({"over": {"block.mass": (stats.norm(1, 0.1), "kg")}}, "must say how many samples"),
    ({"executor": "threads"}, "is 'threads', which cannot run anything"),
    ({"duration": "-1 s"}, "must be a positive time"),
    ({"outputs": None}, "is None, so nothing of the runs would be kept"),
    ({"store": 3}, "sweep(store=…): is 3, which is no path."),
    ({**SAMPLED, "samples": 2.5}, "must say how many samples of the distributions to take"),
    ({**SAMPLED, "samples": "many"}, "must say how many samples of the distributions to take"),
    ({**SAMPLED, "seed": None}, "sweep(seed=…): must be a whole number from 0 on, but is None."),
    ({**SAMPLED, "seed": -1}, "sweep(seed=…): must be a whole number from 0 on, but is -1."),
    ({"rtol": 2}, "must be a number between 0 and 1"),
    ({"atol": ["1 kg"]}, "simulate(atol=…): no variable of the model is in kg"),
    ({"start_time": "1e16 s"},
     "simulate(start_time=…): is 1e+16 s, where times are told apart by 2 s"),
    ({"max_step": "0 s"}, "must be a positive time"),
    ({"method": "rk4"}, "sweep(step=…): method 'rk4' takes fixed steps."),
    ({"method": "moreau_jean"}, "sweep(step=…): method 'moreau_jean' takes fixed steps."),
])  # fmt: skip
def test_requests_that_make_no_sense_are_refused(asked, text):
    assert text in said(ParameterError, **asked)


def test_a_list_parameter_and_an_option_of_a_composite_cannot_be_varied():
    model = wired("table", "u.y table.u",
                  table=Table1D(x=[0, 1, 2], values=[0, 1, 4]), u=Constant(value=1))
    text = said(ParameterError, {"table.x": [[0, 1, 2], [0, 2, 3]]}, model,
                outputs=["final(table.y)"])  # fmt: skip
    assert "table.x: is a list of values; a sweep varies single numbers." in text
    model = wired("shaker", shaker=bench.Shaker())
    assert "is an option of a composite" in said(ParameterError, {"shaker.linked": [True]}, model,
                                                           outputs=["final(shaker.one.v)"])


def test_a_broken_model_is_refused_before_any_run():
    model = wired("floating", "second.R ground.V", "second.C ground.V",
                  mass=Mass(), ground=Reference(), second=VelocitySource())
    found = said(StructureError, {"mass.mass": ["1 kg"]}, model, outputs=["final(mass.v)"])
    assert "second" in found


def test_what_cannot_be_sent_to_a_process_is_named(monkeypatch):
    monkeypatch.setitem(sys.modules, "cloudpickle", None)
    text = said(ParameterError, outputs={"speed": lambda r: r["block.v"].final}, executor=2)
    assert "something of this study cannot be sent to a worker" in text
    assert "at the top of a module, or install cloudpickle" in text
    model = bench.stick_slip()
    model.pull.velocity = lambda t: bench.ramp(t)
    assert said(ParameterError, model=model, executor=2).startswith("pull.velocity: is a lambda")


def test_machine_code_that_is_asked_for_and_missing_is_told_before_any_run(monkeypatch):
    def missing(name):
        raise ImportError("No module named 'llvmlite'")

    monkeypatch.setattr(native, "compiled_method", missing)
    assert "pip install llvmlite" in said(MissingPackage, method="dopri5")


@pytest.mark.parametrize("package, asked", [("xarray", {}), ("pyarrow", {"store": "study"})])
def test_a_missing_package_is_named_with_its_extra(package, asked, monkeypatch, tmp_path):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setitem(sys.modules, package, None)
    text = said(MissingPackage, **asked)
    assert package in text
    assert "blocks-toolkit[sweep]" in text
