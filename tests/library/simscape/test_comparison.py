"""A run that was logged elsewhere is compared with the converted model, signal by signal."""

import numpy as np
import pytest
import scipy.io
from mat_writer import Thing, mat_file
from slx_writer import Drawn, write

from library.simscape.__main__ import main

TR = "foundation.mechanical.translational."
T = np.linspace(0, 2, 41)
SPEED = np.exp(-1.5 * T)  # 2 kg on 3 N*s/m from 1 m/s


def coasting(folder):
    return write(folder / "sledge.slx", [
        Drawn(f"{TR}mass", "Big Mass", {"M": "a"}, {"mass": ("2", "kg"), "v": (
            "1", "m/s", "High")}),
        Drawn(f"{TR}damper", "snow", {"R": "a", "C": "g"}, {"D": ("3", "N*s/m")}),
        Drawn("foundation.mechanical.sensors.velocity", "meter", {
            "R": "a", "C": "g", "V": "v", "P": "open"}),
        Drawn("nesl_utility/PS-Simulink Converter", "out", {"I": "v"}, options={"Unit": "mm/s"},
              outputs=("speed",)),
        Drawn("ToWorkspace", "keep", options={"VariableName": "simout"}, inputs=("speed",)),
        Drawn(f"{TR}reference", "ground", {"V": "g"}),
        Drawn("nesl_utility/Solver Configuration", "solver", {"P": "g"})], "R2022b")


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
                                 "TimeInfo": Thing("tsdata.timemetadata", {
                                     "Time_": T[:, None]})})
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
    assert main([str(coasting(tmp_path)), "--compare", str(log(tmp_path))]) == 0
    said = capsys.readouterr().out
    row = next(line for line in said.splitlines() if line.lower().startswith((
        "big", "sim", "speed", "logs")))
    assert "0.25 m" in row or "250 mm/s" in row
    assert (tmp_path / "sledge_compared.png").stat().st_size > 1000


def test_a_signal_that_is_not_there_is_named(tmp_path, capsys, monkeypatch):
    monkeypatch.chdir(tmp_path)
    log = table(tmp_path, **{"wheel.w": SPEED, "snow.f [N]": 3 * SPEED})
    assert main([str(coasting(tmp_path)), "--compare", str(log)]) == 0
    said = capsys.readouterr().out
    assert "Not in the converted model: wheel.w. Name columns by the path" in said
    largest = next(line for line in said.splitlines() if line.startswith("snow.f")).split()[2]
    assert float(largest) < 1e-4


@pytest.mark.parametrize("content", [b"time\n1\n", b"", b"MATLAB 5.0 MAT-file"])
def test_a_log_without_a_signal_is_refused(content, tmp_path, capsys, monkeypatch):
    monkeypatch.chdir(tmp_path)
    log = tmp_path / ("logged.mat" if content.startswith(b"MATLAB") else "logged.csv")
    log.write_bytes(content)
    assert main([str(coasting(tmp_path)), "--compare", str(log)]) == 1
    assert f"{log}: it" in capsys.readouterr().err
