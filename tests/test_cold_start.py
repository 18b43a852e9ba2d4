"""What is loaded before anything is asked for?"""

import json
import subprocess
import sys

IMPORTS = "import blocks, library.translational"
FIRST = """
from blocks import Model
from library.translational import Mass, Reference, Spring
model = Model("oscillator")
model.block, model.spring = Mass(mass="2 kg", v="1 m/s"), Spring(stiffness="200 N/m")
model.ground = Reference()
model.connect(model.block.M, model.spring.R)
model.connect(model.ground.V, model.spring.C)
model.check()
print(model.simulate("3 s")["spring.x"].m[-1])
"""
SHOWN = FIRST.replace(".m[-1]", ".final")
COUNT = """
import json, sys
counts = []
for script in json.loads(sys.argv[1]):
    exec(script, {})
    counts.append(sorted(sys.modules))
print(json.dumps(counts))
"""
LATER = {
    "blocks.assembly", "blocks.system", "blocks.simulation", "blocks.native", "blocks.analysis",
    "blocks.studies", "networkx", "scipy.sparse", "scipy.integrate", "pandas", "xarray",
    "matplotlib", "llvmlite",
}  # fmt: skip


def test_an_import_loads_what_describes_models_and_a_run_what_it_needs():
    call = [sys.executable, "-c", COUNT, json.dumps([IMPORTS, FIRST, SHOWN])]
    run = subprocess.run(call, check=True, capture_output=True, text=True)
    imported, first, shown = map(set, json.loads(run.stdout.splitlines()[-1]))
    assert not imported & LATER
    assert not first & {"networkx", "pandas", "xarray", "matplotlib"}
    ours = [{m for m in found if m.partition(".")[0] in ("blocks", "library")} for found in (
        imported, first)]
    assert len(ours[0]) <= 80 and len(imported) <= 320
    assert len(ours[1]) <= 320 and len(first) <= 600
    assert "pint" not in first and "pint" in shown  # with the first quantity
