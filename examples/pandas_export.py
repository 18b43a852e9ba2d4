r"""From a run to pandas and back: how much heat does a shaken damper make?

    shaker (0.1 m/s * sin 2 pi 5 Hz t) --[=--- damper (100 N*s/m) --- ground

The table carries its units in the headings, in memory and in the file.
"""

from math import pi
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
from _show import show

from blocks import Model, quantity, sin
from blocks.results import read_csv
from library.translational import Damper, Mass, Reference, VelocitySource

model = Model("shaken damper")
model.shaker = VelocitySource(
    velocity=lambda t: quantity("0.1 m/s") * sin(2 * pi * quantity("5 1/s") * t))  # fmt: skip
model.damper = Damper(damping="100 N*s/m")
model.table = Mass(mass="3 kg")
model.ground = Reference()

model.connect(model.shaker.R, model.damper.R, model.table.M)
model.connect(model.damper.C, model.shaker.C, model.ground.V)

result = model.simulate("2 s")

frame = result.table("damper.f", "damper.power_dissipated", "shaker.f", every="1 ms",
                     units={"damper.power_dissipated": "mW"})  # fmt: skip
frame = frame.iloc[:-1]  # whole cycles: 200 samples of 1 ms each
per_cycle = frame.groupby(np.arange(len(frame)) // 200).agg(["mean", "max"]).round(3)
print(per_cycle.rename_axis("cycle").head(3).to_string())

with TemporaryDirectory() as folder:
    file = Path(folder) / "run.csv"
    result.to_csv(file, "damper.f", every="50 ms")
    print("\nThe file begins:", *file.read_text().splitlines()[:3], sep="\n    ")
    largest = read_csv(file)["damper.f"].max()
print(f"Read back, the largest damper force is {largest:.3f~P}, by hand 10 N")

mean = frame["damper.power_dissipated [mW]"].mean()
print(f"Mean heat {mean:.2f} mW, by hand 100 N*s/m * (0.1 m/s)^2 / 2 = 500 mW")

show(result.plot("damper.f", "shaker.f", "damper.power_dissipated",
                 units={"damper.power_dissipated": "W"}, every="2 ms"),
     "pandas_export")  # fmt: skip
