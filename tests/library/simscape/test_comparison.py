"""A run that was logged elsewhere is compared with the converted model; an FMU is made of it."""

import numpy as np
import pytest
import scipy.io
from mat_writer import Thing, mat_file
from numpy.testing import assert_allclose
from slx_writer import Drawn, coasting, from_ps, simulink, write

from library.simscape.__main__ import main

T = np.linspace(0, 2, 41)
SPEED = np.exp(-1.5 * T)  # 2 kg on 3 N*s/m from 1 m/s


def sledge(folder, shown=None):
    shown = shown or simulink("ToWorkspace", "keep", "speed", VariableName="simout")
    return write(folder / "sledge.slx", [
        *coasting(name="Big Mass"), Drawn("foundation.mechanical.sensors.velocity", "meter", {
            "R": "a", "C": "g", "V": "v", "P": "open"}),
        from_ps("v", "speed", Unit="mm/s"), shown], "R2022b")


def table(folder, **columns):
    lines = [",".join(["time", *columns])]
    lines += [",".join(map(repr, map(float, row))) for row in zip(
        T, *columns.values(), strict=True)]
    path = folder / "logged.csv"
    path.write_text("\n".join(lines), encoding="utf-8")
    return path


def data(folder, **values):
    path = folder / "logged.mat"
    scipy.io.savemat(path, values)
    return path


def logged_objects(folder):
    path = folder / "logged.mat"
    speed = Thing("timeseries", {"Name": "speed", "Data_": 1000 * (SPEED[:, None] + 0.25),
                                 "TimeInfo": Thing("tsdata.timemetadata", {"Time_": T[:, None]})})
    path.write_bytes(mat_file(logsout=Thing("Simulink.SimulationData.Dataset", {"any": {
        "Elements": [Thing("Simulink.SimulationData.Signal", {"Name": "speed", "Values": speed})]}},
        saved=True)))
    return path


@pytest.mark.parametrize("log", [
    lambda folder: table(folder, **{"Big_Mass.v": SPEED + 0.25}),
    lambda folder: table(folder, **{"Big Mass.v.series [mm/s]": 1000 * (SPEED + 0.25)}),
    lambda folder: data(folder, simlog={"Big_Mass": {"v": {"time": T, "values": SPEED + 0.25}}}),
    lambda folder: data(folder, tout=T, simout=1000 * (SPEED + 0.25)),
    lambda folder: data(folder, tout=T, yout={"time": T, "signals": [
        {"values": 1000 * (SPEED + 0.25), "label": "speed"}, {"values": T, "label": "clock"}]}),
    lambda folder: logged_objects(folder),
], ids=["names", "units", "structure", "arrays", "structure with time", "Dataset"])  # fmt: skip
def test_a_difference_is_said_in_the_unit_of_the_log(log, tmp_path, capsys, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert main([str(sledge(tmp_path)), "--compare", str(log(tmp_path))]) == 0
    said = capsys.readouterr().out
    row = next(line for line in said.splitlines() if line.lower().startswith((
        "big", "sim", "speed", "logs")))
    assert "0.25 m" in row or "250 mm/s" in row
    assert (tmp_path / "sledge_compared.png").stat().st_size > 1000


def test_a_signal_that_is_not_there_is_named(tmp_path, capsys, monkeypatch):
    monkeypatch.chdir(tmp_path)
    log = table(tmp_path, **{"wheel.w": SPEED, "snow.f [N]": 3 * SPEED})
    assert main([str(sledge(tmp_path)), "--compare", str(log)]) == 0
    said = capsys.readouterr().out
    assert "Not in the converted model: wheel.w. Name columns by the path" in said
    largest = next(line for line in said.splitlines() if line.startswith("snow.f")).split()[2]
    assert float(largest) < 1e-4


@pytest.mark.parametrize("content", [b"time\n1\n", b"", b"MATLAB 5.0 MAT-file"])
def test_a_log_without_a_signal_is_refused(content, tmp_path, capsys, monkeypatch):
    monkeypatch.chdir(tmp_path)
    log = tmp_path / ("logged.mat" if content.startswith(b"MATLAB") else "logged.csv")
    log.write_bytes(content)
    assert main([str(sledge(tmp_path)), "--compare", str(log)]) == 1
    assert f"{log}: it" in capsys.readouterr().err


def test_what_its_scopes_show_are_outputs_of_an_fmu(tmp_path, capsys):
    fmpy = pytest.importorskip("fmpy", reason="FMPy runs what is exported: pip install FMPy")
    pytest.importorskip("llvmlite", reason="models are exported as machine code")
    model = sledge(tmp_path, simulink("Scope", "look", "speed"))
    assert main([str(model), "--fmu", str(tmp_path / "sledge.fmu")]) == 0
    assert capsys.readouterr().out.splitlines()[-1] == str(tmp_path / "sledge.fmu")
    run = fmpy.simulate_fmu(str(tmp_path / "sledge.fmu"), stop_time=2.0, output_interval=0.1)
    (name,) = set(run.dtype.names) - {"time"}
    assert_allclose(run[name], np.exp(-1.5 * run["time"]), atol=1e-5)  # m/s, whatever is shown
