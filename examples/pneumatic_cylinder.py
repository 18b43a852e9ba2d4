r"""A pneumatic cylinder pushes a load, and its exhaust holds it back.

    supply --- valve --- [ A |piston| B ] --- throttle --- outside
                              |
                             load

Air of 7 bar fills the side A through a valve that opens at once; the side B lets its air out
through a throttle (meter-out). The load of 10 kg first jumps ahead, compresses the air before
it, and then follows the throttle at an almost constant speed: sonic flow out of a volume at a
constant pressure takes away a constant volume.
"""

from __future__ import annotations

from math import sqrt

from _show import show

from blocks import Model
from library.gas import LocalRestriction, Reservoir, TranslationalMechanicalConverter
from library.translational import Mass, Reference

model = Model("meter out")
model.supply, model.outside = Reservoir(pressure_spec="specified", pressure="0.7 MPa"), Reservoir()
model.valve = LocalRestriction(restriction_type="fixed", area="10 mm^2")
model.throttle = LocalRestriction(restriction_type="fixed", area="1 mm^2")
model.front = TranslationalMechanicalConverter(interface_area="20 cm^2", dead_volume="10 ml")
model.back = TranslationalMechanicalConverter(
    interface_area="20 cm^2", dead_volume="1.2 l", mech_orientation="negative", p_I="0.5 MPa")
model.load, model.case = Mass(mass="10 kg"), Reference()

model.connect(model.supply.A, model.valve.A)
model.connect(model.valve.B, model.front.A)
model.connect(model.back.A, model.throttle.A)
model.connect(model.throttle.B, model.outside.A)
model.connect(model.front.R, model.load.M, model.back.R)
model.connect(model.front.C, model.case.V, model.back.C)

result = model.simulate("3 s", rtol=1e-8)
print(result.energy())
T = result["back.T_I"].at("2.5 s").m
speed = (result["front.x"].at("3 s") - result["front.x"].at("2 s")).to("mm").m
print(f"from 2 s to 3 s it moves by {speed:.1f} mm, the back is at {T:.0f} K")

# By hand, by sonic flow: Cd A sqrt(gamma R T) (2/(gamma + 1))^((gamma + 1)/(2 (gamma - 1)))
by_hand = 0.64 * 1e-6 * sqrt(1.4025 * 287 * T) * 0.5786 / 20e-4 * 1e3
print(f"by hand {by_hand:.1f} mm/s")

show(result.plot("front.x", "load.v", "front.p_I", "back.p_I"), "pneumatic_cylinder")
