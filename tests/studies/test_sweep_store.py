"""A study that was stopped goes on where it stopped."""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from benches import wire, wired
from numpy.testing import assert_allclose

import library.translational as tr
from blocks import Parameter, ParameterError, dry_friction, quantity
from blocks.studies import load, store
from blocks.studies.runner import Runner

from . import bench

SPEEDS = quantity(np.linspace(1, 4, 20), "m/s")
OVER = {"mass.v": SPEEDS}
TESTS = Path(__file__).resolve().parent.parent


def study(folder, over=OVER, model=None, **changed):
    asked = {"outputs": ["final(mass.v)"], "method": "rodas4", **changed}  # one by one
    duration = asked.pop("duration", "0.5 s")
    return (model or bench.coasting()).sweep(over, duration, store=folder, **asked)


SCRIPT = """
import sys, warnings
warnings.simplefilter("ignore")
sys.path[:0] = [{root!r}, {tests!r}]
import numpy as np
from blocks import quantity
from studies import bench
data = bench.coasting().sweep({{"mass.v": quantity(np.linspace(1, 4, 20), "m/s")}}, "0.5 s",
                       outputs=["final(mass.v)", "damper.f", bench.slow_final], every="0.1 s",
                       method="rodas4", executor={executor}, store={folder!r})
print(data.attrs["runs finished"])
"""


def deaf():
    signal.signal(signal.SIGINT, signal.SIG_IGN)


def started(tmp_path, monkeypatch, executor, runs=5, **how):
    """A study in a process (group) of its own that has finished some runs."""
    folder = tmp_path / "study"
    monkeypatch.setenv("SWEEP_LOG", str(tmp_path / "log"))
    script = SCRIPT.format(root=str(TESTS.parent), tests=str(TESTS), folder=str(folder),
                           executor=executor)  # fmt: skip
    process = subprocess.Popen([sys.executable, "-c", script], start_new_session=True, text=True,
                               stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                               env={**os.environ, "SWEEP_PAUSE": "0.5"}, **how)  # fmt: skip
    deadline = time.monotonic() + 120
    while len(list(folder.glob("run-*.parquet"))) < runs and time.monotonic() < deadline:
        time.sleep(0.01)
    return process, folder


@pytest.mark.parametrize("executor", [pytest.param(None, marks=pytest.mark.slow), 2])
def test_a_killed_study_goes_on_and_repeats_nothing(executor, tmp_path, monkeypatch):
    process, folder = started(tmp_path, monkeypatch, executor)
    log = tmp_path / "log"
    os.killpg(process.pid, signal.SIGKILL)
    assert process.wait() == -signal.SIGKILL
    before = load(folder)
    kept = before.attrs["runs finished"]
    assert 5 <= kept < 20
    assert before.attrs["runs not run"] == 20 - kept
    made = len(log.read_text().splitlines())
    assert made - kept <= (executor or 1) + 2  # what was under way
    data = study(folder, outputs=["final(mass.v)", "damper.f", bench.slow_final], every="0.1 s")
    assert len(log.read_text().splitlines()) == made + 20 - kept
    assert data.attrs["runs finished"] == 20
    exact = SPEEDS.m * np.exp(-0.75)
    assert_allclose(data["final(mass.v)"], exact, rtol=1e-4)
    whole = study(None, outputs=["final(mass.v)", "damper.f", bench.slow_final], every="0.1 s")
    assert data.identical(whole)
    assert [f.name for f in folder.iterdir() if f.suffix == ".parquet"] == ["many-000001.parquet"]


@pytest.mark.parametrize(("executor", "options", "by"), [
    (None, {}, []), pytest.param(2, {}, [], marks=pytest.mark.slow),
    # as by nohup, which does not heed the first
    pytest.param(None, {"preexec_fn": deaf}, [signal.SIGTERM], marks=pytest.mark.slow),
    (2, {"preexec_fn": deaf}, [signal.SIGTERM])])
def test_ctrl_c_or_sigterm_ends_a_study_with_what_is_finished(
        executor, options, by, tmp_path, monkeypatch):
    process, folder = started(tmp_path, monkeypatch, executor, **options)
    os.killpg(process.pid, signal.SIGINT)  # what a terminal does
    for one in by:
        process.send_signal(one)
    printed, said = process.communicate(timeout=120)
    assert (process.returncode, said) == (0, "")
    assert 5 <= int(printed) < 20
    assert load(folder).attrs["runs finished"] == int(printed)


def test_a_finished_study_is_not_run_again(tmp_path, runs):
    first = study(tmp_path / "study")
    assert sorted(runs) == list(range(20))
    runs.clear()
    again = study(tmp_path / "study")
    assert runs == []
    assert again.identical(first)
    assert load(tmp_path / "study").identical(first)


def test_failed_runs_are_kept_with_their_message(tmp_path, runs):
    over = {"cell.x": [0.25, 2.0]}
    asked = {"outputs": ["final(cell.x)"], "method": "rodas4", "store": tmp_path / "s"}
    first = bench.explosion().sweep(over, "1 s", **asked)
    again = bench.explosion().sweep(over, "1 s", **asked)
    assert len(runs) == 2
    assert again.identical(first)
    assert "the run stopped" in str(again.message[1].values)


def test_an_interrupted_study_goes_on(tmp_path, runs, monkeypatch):
    run = Runner.run_one

    def interrupted(self, number, values):
        if number == 5:
            raise KeyboardInterrupt
        return run(self, number, values)

    with monkeypatch.context() as patch:
        patch.setattr(Runner, "run_one", interrupted)
        with pytest.warns(UserWarning, match="5 of 20"):
            study(tmp_path / "study")
    runs.clear()
    assert study(tmp_path / "study").attrs["runs finished"] == 20
    assert runs == list(range(5, 20))


def test_many_files_become_few_and_lose_nothing(tmp_path, monkeypatch):
    monkeypatch.setattr(store, "MANY", 7)
    whole = study(tmp_path / "study", outputs=["final(mass.v)", "damper.f"], every="0.1 s")
    frame = pd.read_parquet(tmp_path / "study")
    assert list(frame["run"]) == list(range(20))
    assert_allclose(frame["final(mass.v) [m/s]"], whole["final(mass.v)"])
    assert load(tmp_path / "study").identical(whole)


def test_a_file_that_was_being_written_is_ignored(tmp_path):
    whole = study(tmp_path / "study")
    (tmp_path / "study" / ".run-00000003.parquet.1234").write_bytes(b"PAR1 half a file")
    assert load(tmp_path / "study").identical(whole)


def heavier():
    model = bench.coasting()
    model.mass.mass = "3 kg"
    return model


def rewired():
    model = bench.coasting()
    model.second = tr.Damper()
    wire(model, "second.R mass.M", "second.C ground.V")
    return model


def turned():
    return wired("coasting", "mass.M damper.C", "damper.R ground.V",  # the other way round
                 mass=tr.Mass(mass="2 kg", v="5 m/s"), damper=tr.Damper(damping="3 N*s/m"),
                 ground=tr.Reference())


@pytest.mark.parametrize("changed, words", [
    ({"over": {"mass.v": SPEEDS[:-1]}}, "the axis 'mass.v' of this study has values ["),
    ({"over": {"mass.v": SPEEDS, "mass.mass": ["1 kg"]}},
     "this study has the axis 'mass.mass', the one kept there has not"),
    ({"over": {"mass.mass": ["1 kg"]}}, "this study has no axis 'mass.v', the one kept there has"),
    ({"outputs": ["max(mass.v)"]},
     "this study has no output 'final(mass.v)', the one kept there has"),
    ({"outputs": {"final(mass.v)": "max(mass.v)"}},
     "of this study has reduction max, of the one kept there final"),
    ({"outputs": {"final(mass.v)": bench.bad}}, "has reduction function, of the one kept there"),
    ({"rtol": 1e-8}, "this study has rtol=1e-08, the one kept there no rtol="),
    ({"duration": "0.6 s"}, "this study has duration=0.6, the one kept there duration=0.5"),
    ({"model": heavier()}, "the model 'coasting' was another one there"),
    ({"model": turned()}, "the model 'coasting' was another one there"),
    ({"model": rewired()}, "the model 'coasting' was another one there")])  # fmt: skip
def test_another_study_is_refused_in_words(changed, words, tmp_path, runs):
    study(tmp_path / "study", {"mass.v": SPEEDS})
    runs.clear()
    with pytest.raises(ParameterError) as caught:
        study(tmp_path / "study", **changed)
    assert "holds another study: " in str(caught.value)
    assert words in str(caught.value)
    assert "Choose another folder" in str(caught.value)
    assert runs == []


def test_an_edited_function_of_time_is_another_model(tmp_path):
    def pulled(factor):
        model = bench.stick_slip()
        model.pull.velocity = lambda t: factor * quantity("0.1234567 m/s**2") * t
        return model

    asked = {"outputs": "final(block.v)", "store": tmp_path / "study"}
    over = {"block.mass": ["1 kg", "2 kg"]}
    pulled(1).sweep(over, "0.1 s", **asked)
    pulled(1).sweep(over, "0.1 s", **asked)
    with pytest.raises(ParameterError, match="the model 'stick slip' was another one"):
        pulled(1 + 1e-9).sweep(over, "0.1 s", **asked)


def test_an_edited_friction_law_is_another_model(tmp_path):
    def rubbed(factor):
        class Rub(tr.TwoPort):
            limit = Parameter("20 N")

            def equations(self):
                yield dry_friction(self.f, self.v, static=self.limit, kinetic=factor * self.limit)

        return wired("rubbing", "mass.M rub.R", "rub.C ground.V",
                     mass=tr.Mass(), rub=Rub(), ground=tr.Reference())

    asked = {"outputs": "final(mass.v)", "store": tmp_path / "study"}
    rubbed(0.8).sweep({"mass.v": ["1 m/s"]}, "0.1 s", **asked)
    with pytest.raises(ParameterError, match="the model 'rubbing' was another one"):
        rubbed(0.7).sweep({"mass.v": ["1 m/s"]}, "0.1 s", **asked)


def test_courses_of_an_array_come_back_in_their_places(tmp_path):
    model = wired("free masses", masses=tr.Mass(count=3, v=quantity([1.0, 2.0, 3.0], "m/s")))
    data = model.sweep({"masses.mass": ["1 kg", "2 kg"]}, "1 s", outputs="masses.v", every="0.5 s",
                       store=tmp_path / "study")  # fmt: skip
    assert data["masses.v"].shape == (2, 3, 3)
    assert_allclose(data["masses.v"][1], np.array([[1.0] * 3, [2.0] * 3, [3.0] * 3]))
    assert load(tmp_path / "study").identical(data)


def test_a_crash_while_a_run_is_written_leaves_no_half_file(tmp_path, monkeypatch):
    write = Path.write_bytes

    def half(self, content):
        if self.suffix != ".json" and "run-00000002" in self.name:
            write(self, bytes(content)[:100])
            raise MemoryError("no memory left")
        return write(self, content)

    with monkeypatch.context() as patch:
        patch.setattr(Path, "write_bytes", half)
        with pytest.raises(MemoryError, match="no memory"):
            study(tmp_path / "study")
    assert load(tmp_path / "study").attrs["runs finished"] == 2
    assert study(tmp_path / "study").attrs["runs finished"] == 20


def test_a_swept_value_of_the_model_itself_does_not_matter(tmp_path, runs):
    study(tmp_path / "study")
    runs.clear()
    model = bench.coasting()
    model.mass.v = "9 m/s"  # swept anyway
    study(tmp_path / "study", model=model, duration="500 ms")
    assert runs == []


def test_other_files_are_left_alone(tmp_path):
    (tmp_path / "notes.txt").write_text("mine")
    with pytest.raises(ParameterError, match="exists and is no study"):
        study(tmp_path)
    with pytest.raises(ParameterError, match="Write store='study'"):
        study("study.zarr")
    with pytest.raises(ParameterError, match="there is no study in"):
        load(tmp_path)
