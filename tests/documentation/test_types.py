"""Does an editor know what a user's script gets?

A type checker reads the code of the README and of three examples, and a script that takes its
values apart; what it calls an error, or cannot tell the type of, an editor cannot complete.
"""

import os
import shutil
import subprocess
import sys
from importlib.util import find_spec

from test_readme import ROOT, blocks

EXAMPLES = "_show", "mass_spring_damper", "dry_friction", "own_component"
TYPES = {  # what is revealed of each expression
    'model.simulate("1 s")': "Result",
    'result["spring.x"]': "Series",
    'result["spring.x"].at("1 s").to("mm")': "Quantity",
    "result.table()": "DataFrame",
    "result.report()": "Page",
    "model.check()": "Findings",
    "model.draw()": "Schematic",
    'model.linearise("push.force", "spring.x")': "LinearModel",
    'model.linearise(modes="all")': "LinearModels",
    "model.operating_point()": "OperatingPoint",
    'model.sweep({"block.mass": ["1 kg"]}, "1 s", outputs="max(spring.f)")': "Dataset",
    "model.stepper()": "SteppedRun",
    "model.limit_cycle(result)": "LimitCycle"}
CHECKERS = (  # the second, which editors use, where it is installed
    ("mypy", "--ignore-missing-imports", "--cache-dir", str(ROOT / ".mypy_cache")),
    ("pyright", "--pythonpath", sys.executable))
SCRIPT = """
from blocks import Model
from library.translational import ForceSource, Mass, Spring

model = Model("oscillator")
model.block, model.spring = Mass(mass="2 kg"), Spring(stiffness="200 N/m")
model.push = ForceSource(force="1 N")
model.connect(model.block.M, model.spring.R, model.push.R)
model.block.mass = "3 kg"
model["block.mass"] = "4 kg"
result = model.simulate("1 s")
number = result["spring.x"].at("1 s").to("mm").m + 1.0
"""


def test_scripts_of_users_have_types(tmp_path):
    (tmp_path / "readme.py").write_text("\n".join(
        code for language, code, *_ in blocks(ROOT / "README.md") if language == "python"))
    for name in EXAMPLES:
        shutil.copy(ROOT / "examples" / f"{name}.py", tmp_path)
    (tmp_path / "script.py").write_text(
        SCRIPT + "".join(f"reveal_type({expression})\n" for expression in TYPES))
    for checker in CHECKERS:
        if checker[0] == "mypy" or find_spec(checker[0]):
            check_types(checker, tmp_path)


def check_types(checker, folder):
    run = subprocess.run([sys.executable, "-m", *checker, "."], cwd=folder, check=False,
                         capture_output=True, text=True, env=os.environ | {
                             "MYPYPATH": str(ROOT), "PYTHONPATH": str(ROOT)})
    assert run.returncode == 0, run.stdout + run.stderr
    told = [line for line in run.stdout.splitlines() if "Revealed type" in line or "Type of" in line
            ]
    for line, wanted in zip(told, TYPES.values(), strict=True):
        assert wanted in line.rpartition(" is ")[2], line
