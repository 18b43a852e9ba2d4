r"""At which speeds does a dragged block stick and slip? A map from 96 runs.

    belt (V) --/\/\/-- block (1 kg) --[friction]-- floor
             1 kN/m                 10 N*s/m

It takes 25 N to start the block and less to keep it going; the drop of the force and
the speed of the belt are varied. On fast belts the block slides steadily: damping
takes the energy that the drop gives. You can find the border by hand: the block sticks again if
its speed, V - dy/dt, comes back to 0 within one oscillation of the spring y.
"""

from math import sqrt
from pathlib import Path
from tempfile import TemporaryDirectory

import matplotlib.pyplot as plt
import numpy as np
from _show import show

from blocks import Model, quantity
from library.translational import Mass, Reference, Spring, TranslationalFriction, VelocitySource

model = Model("stick and slip")
model.belt = VelocitySource(velocity="140 mm/s")
model.spring = Spring(stiffness="1 kN/m", x="25 mm")  # about to start
model.block = Mass(mass="1 kg")
model.friction = TranslationalFriction(law="coulomb", breakaway_force="25 N",
                                       viscous_coefficient="10 N*s/m")  # fmt: skip
model.floor = Reference()

model.connect(model.belt.R, model.spring.R)
model.connect(model.spring.C, model.block.M, model.friction.R)
model.connect(model.friction.C, model.belt.C, model.floor.V)


def swing(result):
    """Peak to peak extension of the spring in the last second."""
    x = result["spring.x"].at(quantity(np.linspace(1, 2, 300), "s"))
    return (x.max() - x.min()).to("mm")


drops = quantity(np.linspace(0, 20, 8), "N")
speeds = quantity(np.arange(40, 340, 25), "mm/s")

with TemporaryDirectory() as folder:  # a sweep that is stopped goes on from such a folder
    study = model.sweep(
        {"friction.coulomb_force": quantity("25 N") - drops, "belt.velocity": speeds},
        "2 s", outputs=[swing], rtol=1e-4, store=Path(folder) / "study",
    )  # fmt: skip
print(study)

omega, zeta = sqrt(1000 / 1), 10 / (2 * sqrt(1000 * 1))
phase, own = np.linspace(3, 7, 2000), sqrt(1 - zeta**2)
for ratio in np.arange(0.5, 3, 0.001):  # drop / (V sqrt(k m)), until the peak of dy/dt is V
    wave = np.cos(own * phase) - (ratio - zeta) / own * np.sin(own * phase)
    if np.max(np.exp(-zeta * phase) * wave) >= 1:
        break
border = (drops / quantity(ratio * sqrt(1000 * 1), "N*s/m")).to("mm/s")

last = [max(speeds.m[row], default=0.0) for row in (study.swing > 3).values]
print("\ndrop / N   last speed that slips   border by hand / (mm/s)")
for drop, found, hand in zip(drops.m, last, border.m, strict=True):
    print(f"{drop:8.1f} {found:23.0f} {hand:25.0f}")

figure, axes = plt.subplots(figsize=(7, 4.5), layout="constrained")
picture = axes.pcolormesh(speeds.m, drops.m, study.swing, shading="nearest", cmap="magma_r")
figure.colorbar(picture, label="swing of the spring [mm]")
axes.plot(border.m, drops.m, "--", color="tab:cyan", lw=2, label="border by hand")
axes.set(xlabel="speed of the belt [mm/s]", ylabel="drop of the friction force [N]",
         xlim=(27.5, 327.5), title="Where a dragged block sticks and slips")  # fmt: skip
axes.legend(loc="lower right")

show(figure, "sweep_friction")
