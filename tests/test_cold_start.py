"""What is loaded before anything is asked for?"""

import json
import os
import subprocess
import sys
from pathlib import Path

IMPORTS = "import blocks, library.translational"
README = Path(__file__).parents[1] / "README.md"
FIRST = README.read_text(encoding="utf-8").partition("```python\n")[2].partition("```")[0]
SHOWN = f"{FIRST}\nresult['spring.x'].final"
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
    "matplotlib", "llvmlite"}  # fmt: skip


def test_an_import_loads_what_describes_models_and_a_run_what_it_needs(tmp_path):
    """A second process: the first on a machine compiles, and loads some 40 modules for that."""
    call = [sys.executable, "-c", COUNT, json.dumps([IMPORTS, FIRST, SHOWN])]
    for _ in range(2):
        run = subprocess.run(call, check=True, capture_output=True, text=True,
                             env={**os.environ, "BLOCKS_CACHE": str(tmp_path)})
    imported, first, shown = map(set, json.loads(run.stdout.splitlines()[-1]))
    assert not imported & LATER
    assert not first & {"networkx", "pandas", "xarray", "matplotlib"}
    ours = [{m for m in found if m.partition(".")[0] in ("blocks", "library")} for found in (
        imported, first)]
    assert len(ours[0]) <= 80 and len(imported) <= 295
    assert len(ours[1]) <= 320 and len(first) <= 550
    assert "pint" not in first and "pint" in shown  # with the first quantity
