r"""Piston engine: a slider-crank and a flywheel that evens out its speed.

    gas force -- piston (0.5 kg) -- slider-crank -- flywheel (0.1 kg*m^2) -- load

The gas pushes during half of every turn, by a small component written here; the load
takes a torque that grows with speed. Watch the flywheel's speed rise to an even mean
with a ripple, and the piston swing between its dead centres.
"""

from _show import show

from blocks import Input, Model, Parameter, Variable, sin, where
from library.mechanisms import SliderCrank
from library.rotational import (
    Inertia,
    RotationalDamper,
    RotationalMotionSensor,
    RotationalReference,
)
from library.translational import Mass, Reference, TwoPort


class GasForce(TwoPort):
    """Pushes R towards C while the crank turns from the outer to the inner dead centre."""

    peak = Parameter("2 kN", minimum=0, doc="Force at mid-stroke")
    A = Input("rad", doc="crank angle")
    power_supplied = Variable("W", doc="work of the gas")

    def equations(self):
        stroke = sin(self.A)
        yield self.f == where(stroke > 0, self.peak * stroke, 0)
        yield self.power_supplied == -self.f * self.v


model = Model("engine")
model.gas = GasForce(peak="2 kN")
model.piston = Mass(mass="0.5 kg")
model.crank = SliderCrank(crank="40 mm", rod="140 mm", phi="0 rad")
model.flywheel = Inertia(inertia="0.1 kg*m^2", w="600 rpm")
model.load = RotationalDamper(damping="0.35 N*m*s/rad")
model.block = Reference()
model.housing = RotationalReference()
model.angle = RotationalMotionSensor()

model.connect(model.gas.R, model.piston.M, model.crank.P)
model.connect(model.gas.C, model.block.V)
model.connect(model.crank.A, model.flywheel.I, model.load.R, model.angle.R)
model.connect(model.load.C, model.angle.C, model.housing.W)
model.connect(model.angle.A, model.gas.A)

result = model.simulate("1.5 s", rtol=1e-8)
x = result["crank.x"]

# By hand: the gas does 2 kN * 2 * 40 mm * pi/4 of work a turn (about, the rod is not
# endless), and the piston moves between rod + crank and rod - crank.
print(f"Stroke {(x.max() - x.min()).to('mm'):.3f~P}, by hand {2 * 40} mm")
print(result.energy())

show(result.plot("flywheel.w", "piston.v", "crank.x", units={"flywheel.w": "rpm"},
                 events=False), "engine_crank")
