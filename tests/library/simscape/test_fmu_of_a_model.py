"""A Simscape model goes straight to an FMU."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from slx_writer import Drawn, write

from library.simscape.__main__ import main

fmpy = pytest.importorskip("fmpy", reason="FMPy runs what is exported: pip install FMPy")
pytest.importorskip("llvmlite", reason="models are exported as machine code")
TR = "foundation.mechanical.translational."


def coasting(folder):
    """2 kg on 3 N*s/m from 1 m/s."""
    return write(folder / "sledge.slx", [
        Drawn(f"{TR}mass", "Big Mass", {"M": "a"}, {"mass": ("2", "kg"), "v": (
            "1", "m/s", "High")}),
        Drawn(f"{TR}damper", "snow", {"R": "a", "C": "g"}, {"D": ("3", "N*s/m")}),
        Drawn("foundation.mechanical.sensors.velocity", "meter", {
            "R": "a", "C": "g", "V": "v", "P": "open"}),
        Drawn("nesl_utility/PS-Simulink Converter", "out", {"I": "v"}, options={"Unit": "mm/s"},
              outputs=("speed",)),
        Drawn("Scope", "look", inputs=("speed",)), Drawn(f"{TR}reference", "ground", {"V": "g"}),
        Drawn("nesl_utility/Solver Configuration", "solver", {"P": "g"})], "R2022b")


def test_what_its_scopes_show_are_outputs(tmp_path, capsys):
    model = coasting(tmp_path)
    assert main([str(model), "--fmu", str(tmp_path / "sledge.fmu")]) == 0
    assert capsys.readouterr().out.splitlines()[-1] == str(tmp_path / "sledge.fmu")
    run = fmpy.simulate_fmu(str(tmp_path / "sledge.fmu"), stop_time=2.0, output_interval=0.1)
    (name,) = set(run.dtype.names) - {"time"}
    assert_allclose(run[name], np.exp(-1.5 * run["time"]), atol=1e-5)  # m/s, whatever is shown

