"""Component sources that lie beside a model stand in place of gaps."""

import runpy

import numpy as np
import pytest
from slx_writer import Drawn, write
from test_source_loops import CHAIN

from library.simscape.__main__ import main

SLED = """component drag
% Drag of snow
nodes
  R = foundation.mechanical.translational.translational; % R:left
  C = foundation.mechanical.translational.translational; % C:right
end
parameters
  k = {2, 'N*s/m'}; % stickiness
end
variables
  f = {0, 'N'};
end
branches
  f : R.f -> C.f;
end
equations
  f == k*(R.v - C.v);
end
end
"""


@pytest.mark.parametrize("place", ["beside", "--path"])
def test_a_source_beside_the_model_takes_the_place_of_a_gap(place, tmp_path, capsys, monkeypatch):
    monkeypatch.chdir(tmp_path)
    home = tmp_path / "lib" if place == "--path" else tmp_path
    (home / "+snowy" / "+parts").mkdir(parents=True)
    source = home / "+snowy" / "+parts" / "drag.ssc"
    source.write_text(SLED, encoding="utf-8")
    TR = "foundation.mechanical.translational."
    file = write(tmp_path / "sled.slx", [
        Drawn(f"{TR}mass", "mass", {"M": "a"}, {"mass": ("2", "kg"), "v": ("1", "m/s", "High")}),
        Drawn("snowy.parts.drag", "drag", {"R": "a", "C": "g"}, {"k": ("3", "N*s/m")},
              sides=(["R"], ["C"])),
        Drawn(f"{TR}reference", "ground", {"V": "g"}),
        Drawn("nesl_utility/Solver Configuration", "solver", {"P": "g"})], "R2022b")
    more = ["--path", str(home)] if place == "--path" else []
    for _ in range(2):  # also when it is converted again
        assert main([str(file), *more]) == 0
        assert "builds, checks, runs." in capsys.readouterr().out
        assert (tmp_path / "snowy_parts_drag.py").is_file()
    run = runpy.run_path(str(tmp_path / "sled.py"))["build"]().simulate("1 s", rtol=1e-9)
    assert run["mass.v"].final.to("m/s").m == pytest.approx(np.exp(-1.5), rel=1e-6)
    source.write_text(SLED.replace("f == k", "f == ) k"), encoding="utf-8")
    assert main([str(file), *more, "--report"]) == 0
    said = " ".join(capsys.readouterr().out.split())
    assert "snowy.parts.drag has a source beside the model that is not read: drag.ssc" in said
    part = ("components(ExternalAccess=none)\n  d = foundation.mechanical.translational.damper(D = "
            "R.rho);\nend\nconnections\n  connect(R, d.R);\n  connect(C, d.C);\nend\nend\n")
    source.write_text(SLED.split("parameters")[0] + part, encoding="utf-8")  # no port has a rho
    assert main([str(file), *more, "--report"]) == 0
    said = " ".join(capsys.readouterr().out.split())
    assert "1 missing" in said
    assert "snowy.parts.drag has a source beside the model that is not read" in said


def test_every_number_of_parts_that_blocks_ask_for_has_its_class(tmp_path, capsys, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "+my").mkdir()
    (tmp_path / "+my" / "chain.ssc").write_text(CHAIN, encoding="utf-8")
    E = "foundation.electrical."
    for numbers in (("6", "3"), ("n", "3"), ("4", "4")):
        chains = [Drawn("my.chain", f"chain{k}", {"p": "a", "n": "g"}, {
            "N": (number, "1"), "R0": ("1", "Ohm")}, sides=(["p"], ["n"]))
            for k, number in enumerate(numbers)]
        file = write(tmp_path / "chains.slx", [
            *chains, Drawn(f"{E}sources.dc_voltage", "source", {"p": "a", "n": "g"},
                           {"v0": ("12", "V")}),
            Drawn(f"{E}elements.reference", "ground", {"V": "g"}),
            Drawn("nesl_utility/Solver Configuration", "solver", {"P": "g"})],
            "R2022b", {"StopTime": "1", "InitFcn": "n = 5;"})
        assert main([str(file)]) == 0
        assert "builds, checks, runs." in capsys.readouterr().out
        run = runpy.run_path(str(tmp_path / "chains.py"))["build"]().simulate("1 s")
        counts = [5 if number == "n" else int(number) for number in numbers]
        assert abs(run["source.i"].final.to("A").m) == pytest.approx(
            sum(12 / (n * (n + 1) / 2) for n in counts))
