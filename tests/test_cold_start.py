"""What is loaded before anything is asked for?"""

import ast
import os
import subprocess
import sys
from pathlib import Path

IMPORTS = "import blocks, library.translational"
README = Path(__file__).parents[1] / "README.md"
FIRST = README.read_text(encoding="utf-8").partition("```python\n")[2].partition("```")[0]
SHOWN = f"{FIRST}\nresult['spring.x'].final"
COUNT = """
import sys
counts = []
for script in sys.argv[1:]:
    exec(script, {})
    counts.append(sorted(sys.modules))
print(counts)
"""
LATER = {
    "blocks.assembly", "blocks.system", "blocks.simulation", "blocks.native", "blocks.analysis",
    "blocks.studies", "networkx", "scipy.sparse", "scipy.integrate", "pandas", "xarray",
    "matplotlib", "llvmlite"}  # fmt: skip


def test_an_import_loads_what_describes_models_and_a_run_what_it_needs(tmp_path):
    told = subprocess.check_output([sys.executable, "-c", COUNT, IMPORTS, FIRST, SHOWN], text=True,
                                   env={**os.environ, "BLOCKS_CACHE": str(tmp_path)})
    imported, first, shown = map(set, ast.literal_eval(told.splitlines()[-1]))
    assert not imported & LATER
    assert not first & {"networkx", "pandas", "xarray", "matplotlib"}
    ours = [{m for m in found if m.partition(".")[0] in ("blocks", "library")} for found in (
        imported, first)]
    assert len(ours[0]) <= 80 and len(imported) <= 295
    assert len(ours[1]) <= 320 and len(first) <= 550
    assert "pint" not in first and "pint" in shown  # with the first quantity
