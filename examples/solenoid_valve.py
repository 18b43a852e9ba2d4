r"""A solenoid closes a valve against its spring, and lets it open again.

    12 V for 40 ms -- coil (20 ohm, 1000 turns)
                         )))  <-- gap 2 mm --> armature 20 g --/\/\/-- frame
                                               rigid stops at 0.2 mm and 2 mm

Watch the current: it rises, dips as the armature moves (the moving gap induces a voltage), has a
kink where the armature lands, and rises again with the larger inductance of the closed gap.
That dip is how a controller knows that the valve has closed.
"""

from math import pi, sqrt

from _show import show

from blocks import Model, quantity
from library.electrical import ControlledVoltageSource, ElectricalReference, table
from library.electromechanical import Solenoid
from library.translational import Damper, HardStop, Mass, Reference, Spring

OPEN, CLOSED = quantity("2 mm"), quantity("0.2 mm")
model = Model("solenoid valve")
model.driver = ControlledVoltageSource(
    voltage=table(["0 s", "40 ms", "40 ms"], ["12 V", "12 V", "0 V"]))
model.earth, model.frame = ElectricalReference(), Reference()
model.solenoid = Solenoid(resistance="20 ohm", turns=1000, area="1 cm^2", x=OPEN,
                          core_reluctance="2e6 1/H")  # fmt: skip
model.valve = Mass(mass="20 g")
model.spring = Spring(stiffness="400 N/m", x=OPEN - quantity("8 mm"))  # pushes open: 2.4 N
model.damper = Damper(damping="0.5 N*s/m")
model.seat = HardStop(model="restitution", restitution=0.2, lower_bound=CLOSED, upper_bound=OPEN,
                      x=OPEN)  # fmt: skip

model.connect(model.driver.p, model.solenoid.p)
model.connect(model.driver.n, model.solenoid.n, model.earth.V)
model.connect(model.solenoid.R, model.valve.M, model.spring.R, model.damper.R, model.seat.R)
model.connect(model.solenoid.C, model.frame.V, model.spring.C, model.damper.C, model.seat.C)

print(model.check())
result = model.simulate("100 ms", rtol=1e-8, every="0.1 ms")
print(result.events, result.energy(), sep="\n\n")

# By hand: the armature lets go of its stop when phi^2 / (2 mu0 A) is the 2.4 N of the spring,
# where the current is phi (x / (mu0 A) + R_core) / N.
flux = sqrt(2 * 4e-7 * pi * 1e-4 * 2.4)
current = flux * (2e-3 / (4e-7 * pi * 1e-4) + 2e6) / 1000
starts = result.events.of("seat")[0].time
print(f"\nCurrent as the valve starts to move: {result['solenoid.i'].at(f'{starts} s'):.5f~P}, "
      f"by hand {current:.5f} A")
lands = next(e.time for e in result.events.of("seat") if e.time > starts)
print(f"The valve closes after {lands * 1e3:.2f} ms")

show(result.plot("solenoid.i", "solenoid.x", "solenoid.f", "seat.lower_force",
                 units={"solenoid.x": "mm"}, events=False), "solenoid_valve")
