r"""A component of your own: a sky diver falls until air drag carries the weight.

    diver (80 kg)  <-- weight
      |
    drag: f = c v |v|
      |
    ground (the still air)

The whole component is one parameter and one equation; ports, signs, units and the
energy balance come from the base. Watch the speed approach its terminal value.
"""

from math import sqrt

from _show import show

from blocks import Model, Parameter, Variable, abs_
from library.translational import ForceSource, Mass, Reference, TwoPort


class AirDrag(TwoPort):
    """Turbulent drag between a body at R and the air at C.

    Equation: f = drag v |v|; dissipates f v >= 0.
    """

    drag = Parameter("0.24 kg/m", minimum=0, doc="density * drag coefficient * area / 2")
    power_dissipated = Variable("W", doc="heat in the air")

    def equations(self):
        yield self.f == self.drag * self.v * abs_(self.v)
        yield self.power_dissipated == self.f * self.v


model = Model("sky diver")
model.diver = Mass(mass="80 kg")
model.weight = ForceSource(force="784.8 N")  # 80 kg * 9.81 m/s^2; downwards is positive
model.drag = AirDrag()
model.air = Reference()

model.connect(model.diver.M, model.weight.R, model.drag.R)
model.connect(model.drag.C, model.weight.C, model.air.V)

result = model.simulate("60 s")

speed = result["diver.v"].final
print(f"Speed after 60 s {speed:.3f~P}, by hand sqrt(784.8 / 0.24) = {sqrt(784.8 / 0.24):.3f} m/s")
print(result.energy())

show(result.plot("diver.v", "drag.f", units={"diver.v": "km/hour"}), "own_component")
