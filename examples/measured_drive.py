r"""Measured drive: where does a sled come to rest that a measured force pushes over a rough floor?

    measured_drive.csv -- force -- sled (5 kg) --[friction, sticks up to 25 N]-- floor

The file has 401 rows of time in ms and force in N; its headings say so. A second sled without
friction must have the velocity that the impulse of the force gives. Watch the first one stick
whenever the force is too small, and slide at its peaks.
"""

from pathlib import Path

import numpy as np
from _show import show

from blocks import Model
from library.tables import table
from library.translational import ForceSource, Mass, MotionSensor, Reference, TranslationalFriction

measured = table(Path(__file__).with_name("measured_drive.csv"), time="t [ms]", value="F [N]",
                 ends="refused")

model = Model("measured drive")
model.sled, model.ghost = Mass(mass="5 kg"), Mass(mass="5 kg")
model.ram, model.twin = ForceSource(force=measured), ForceSource(force=measured)
model.friction = TranslationalFriction(law="coulomb", breakaway_force="25 N", coulomb_force="18 N")
model.way, model.floor = MotionSensor(), Reference()

model.connect(model.sled.M, model.ram.R, model.friction.R, model.way.R)
model.connect(model.ghost.M, model.twin.R)
model.connect(model.ram.C, model.twin.C, model.friction.C, model.way.C, model.floor.V)

result = model.simulate("4 s", rtol=1e-9)

# By hand: the area under straight lines between the measured points, over the mass.
t, force = measured.times.to("s").magnitude, measured.values.to("N").magnitude
by_hand = np.sum((force[1:] + force[:-1]) / 2 * np.diff(t)) / 5
print(f"Without friction: {result['ghost.v'].final.to('mm/s').m:.4f} mm/s, "
      f"by hand {1000 * by_hand:.4f} mm/s")
print(f"With friction the sled stops at {result['way.P'].final.to('mm').m:.2f} mm, "
      f"after {sum(e.component == 'friction' for e in result.events)} changes of stick and slip")

show(result.plot("ram.S", "friction.f", "sled.v", units={"sled.v": "mm/s"}, events=False),
     "measured_drive")
