"""Signals that a model keeps as objects of MATLAB's, in itself or in a file, become tables."""

import numpy as np
import pytest
from mat_writer import Thing, mat_file, part
from numpy.testing import assert_allclose
from simscape_corpus import built
from slx_writer import Drawn, converted, note_of, simulink

T = np.linspace(0, 3, 31) + 0.05
RAMP = [0, 1, 1, 2], [0, 2, 5, 3]  # with a jump, and continued from 2 s on
FLAT = [0, 4], [1, 1]


def ramp(t):
    return np.where(t < 1, 2 * t, 5 - 2 * (t - 1))


def series(name, times, values):
    about = {"Length": len(times)}
    steps = np.diff(times)
    if len(set(steps)) == 1:
        about |= {"Start_": times[0], "Increment_": steps[0], "Time_": []}
    else:
        about |= {"Time_": np.reshape(times, (-1, 1))}
    return Thing("timeseries", {"Name": name, "Data_": np.reshape(values, (-1, 1)),
                                "TimeInfo": Thing("tsdata.timemetadata", about)})


def dataset(**signals):
    return Thing("Simulink.SimulationData.Dataset", {"any": {"Name": "set", "Elements": [
        series(name, *rows) for name, rows in signals.items()]}}, saved=True)


def group(name, **signals):
    return Thing("SigSuiteGroup", {"Name": name, "Signals": [
        Thing("SigSuiteSignal", {"Name": n, "XData": x, "YData": y})
        for n, (x, y) in signals.items()]})


def builder(data, outputs=("a", "b")):
    """A Signal Builder as Simulink draws it, with a difference behind it."""
    inner = [Drawn("FromWorkspace", "FromWs", options={"VariableName": "tuvar",
                                                       "SigBuilderData": data}, outputs=("v",)),
             simulink("Demux", "Demux", "v", "p q", Outputs="2"), simulink("Outport", "first", "p"),
             simulink("Outport", "second", "q", Port="2")]
    return [Drawn("SubSystem", "Demand", outputs=outputs, inner=inner), *difference(outputs)]


def editor(**options):
    return [Drawn("SignalEditorBlockLib/Signal Editor", "Demand", outputs=("a", "b"), options={
        "FileName": "demand.mat", "ActiveSignal": "speed", **options}), *difference(("a", "b"))]


def difference(inputs):
    return [Drawn("Sum", "last", options={"Inputs": "+-"}, inputs=inputs, outputs=("y",)),
            simulink("Scope", "scope", "y")]


def output(made, folder):
    assert {e.outcome for e in made.entries} == {"mapped"}, made.entries
    run = built(made.text, folder).simulate("4 s", rtol=1e-9, times=[f"{t} s" for t in T])
    return np.interp(T, run.time.to("s").m, run["last.y"].to_numpy())


def test_a_signal_builder_gives_the_signals_of_its_active_group(tmp_path):
    data = part({"dataSetIdx": 2.0, "sbobj": Thing("SigSuite", {"ActiveGroup": 2.0, "Groups": [
        group("idle", up=FLAT, level=FLAT), group("drive", up=RAMP, level=FLAT)]})})
    made = converted(tmp_path, builder(data), "R2016b")
    assert_allclose(output(made, tmp_path), ramp(T) - 1, rtol=1e-6, atol=1e-9)
    assert "/Demand has 2 groups; 'drive', the active one, is taken, and not 'idle'." in \
        made.script.remarks
    assert "self.up = TimeTable(" in made.text


@pytest.mark.parametrize("active", ["drive", "2"])
def test_a_signal_editor_gives_the_signals_of_its_active_scenario(active, tmp_path):
    (tmp_path / "demand.mat").write_bytes(mat_file(
        idle=dataset(speed=FLAT, level=FLAT), drive=dataset(speed=RAMP, level=FLAT)))
    made = converted(tmp_path, editor(ActiveScenario=active), "R2024a")
    assert_allclose(output(made, tmp_path), ramp(T) - 1, rtol=1e-6, atol=1e-9)
    assert any("has 2 scenarios; 'drive', the active one" in said for said in made.script.remarks)


def test_a_time_series_of_a_file_is_read_from_the_workspace(tmp_path):
    (tmp_path / "demand.mat").write_bytes(mat_file(up=series("up", *RAMP), gain=3.0))
    blocks = [simulink("FromWorkspace", "up", "", "a", VariableName="up"),
              simulink("Constant", "gain", "", "b", Value="gain"), *difference(("a", "b"))]
    made = converted(tmp_path, blocks, "R2024a", PreLoadFcn="load('demand.mat');")
    assert_allclose(output(made, tmp_path), ramp(T) - 3, rtol=1e-6, atol=1e-9)


@pytest.mark.parametrize(("content", "why"), [
    (None, "demand.mat was not found."),
    (b"MATLAB 7.3 MAT-file".ljust(124) + b"\x00\x02IM", "save it by save(…, '-v7')"),
    (mat_file(drive=Thing("timetable", {"any": 1.0}, saved=True)),
     "drive is no Dataset of time series in demand.mat."),
    (mat_file(drive={"speed": Thing("timetable", {"any": 1.0}, saved=True)}),
     "drive is no Dataset of time series in demand.mat."),
], ids=["no file", "another format", "no Dataset", "structure of objects"])  # fmt: skip
def test_an_editor_whose_file_cannot_be_read_says_what_it_is(content, why, tmp_path):
    if content is not None:
        (tmp_path / "demand.mat").write_bytes(content)
    _, note = note_of(converted(tmp_path, editor(ActiveScenario="drive"), "R2024a"), "/Demand")
    assert why in note
    assert "take TimeTable" in note


def test_a_builder_whose_signals_are_not_known_is_a_gap(tmp_path):
    made = converted(tmp_path, builder(part({"channels": 1.0})), "R2016b")
    assert note_of(made, "/Demand/FromWs")[0] == "missing"


@pytest.mark.parametrize(("block", "options", "hint"), [
    ("powerlib_extras/Discrete  Control Blocks/Discrete PI Controller",
     {"Kp": "10", "Ki": "78", "Par_Limits": "[0.99 0]", "Ts": "1e-4"}, "DiscretePID of"),
    ("powerlib_meascontrol/Pulse & Signal Generators/PWM Generator (2-Level)", {"Fc": "1620"},
     "Compare of library.signal against RepeatingSequence")], ids=["PI", "PWM"])
def test_a_controller_whose_law_no_file_tells_is_refused_with_its_values(block, options, hint,
                                                                         tmp_path):
    blocks = [simulink("Clock", "clock", "", "t"),
              Drawn("Reference", "it", options={"SourceBlock": block, **options}, inputs=("t",),
                    outputs=("y",)), simulink("Scope", "scope", "y")]
    made = converted(tmp_path, blocks)
    outcome, note = note_of(made, "/it")
    assert outcome == "missing"
    assert hint in note
    assert all(f"{name} = Parameter(" in made.text for name in options)
    assert not made.script.remarks  # a library of theirs is not looked for beside the model
