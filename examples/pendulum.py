r"""Pendulum in Cartesian coordinates: a system of index 3, written as in a textbook.

    pivot o
           \
            \  rod, 1 m, carries what keeps the length
             \
              O bob, 1 kg, let go at the height of the pivot

Equations of motion, and x^2 + y^2 = L^2: nobody solves for accelerations by hand.
The toolkit differentiates the constraint, chooses states, and chooses others where
the first choice degenerates. Watch length and energy stay constant.
"""

from math import pi

import numpy as np
from _show import show
from scipy.special import ellipk

from blocks import Component, Model, Parameter, Target, Variable, der


class Pendulum(Component):
    """Point mass at the end of a massless rod, in the plane.

    Equations: m x'' = -T x/L, m y'' = -T y/L - m g, x^2 + y^2 = L^2, with y upwards
    and T the tension of the rod.
    """

    mass = Parameter("1 kg", above=0, doc="Mass of the bob")
    length = Parameter("1 m", above=0, doc="Length of the rod")
    gravity = Parameter("9.81 m/s^2", doc="Gravitational acceleration")
    x = Variable("m", doc="to the right of the pivot")
    y = Variable("m", doc="above the pivot")
    vx = Variable("m/s", doc="velocity to the right")
    vy = Variable("m/s", doc="velocity upwards")
    tension = Variable("N", doc="tension of the rod")
    energy = Variable("J", doc="kinetic and potential energy")

    def equations(self):
        pull = self.tension / self.length
        yield der(self.x) == self.vx
        yield der(self.y) == self.vy
        yield self.mass * der(self.vx) == -pull * self.x
        yield self.mass * der(self.vy) == -pull * self.y - self.mass * self.gravity
        yield self.x**2 + self.y**2 == self.length**2
        yield self.energy == (
            self.mass * (self.vx**2 + self.vy**2) / 2 + self.mass * self.gravity * self.y
        )


model = Model("pendulum")
model.bob = Pendulum(x="1 m", y=Target("0 m", priority="low"), vy="0 m/s")

print(model.structure())
result = model.simulate("20 s", rtol=1e-8)

drift = np.ptp(np.hypot(result["bob.x"].m, result["bob.y"].m))
swing = np.ptp(result["bob.energy"].m)
print(f"length varies by {drift:.1e} m, energy by {swing:.1e} J in 20 s")

# By hand: at the bottom v^2 = 2 g L, so the tension is m g + m v^2/L = 3 m g = 29.43 N;
# a swing by 90 degrees takes 4 sqrt(L/g) K(1/2), a seventh and more longer than 2 pi sqrt(L/g).
period = 4 * ellipk(0.5) / np.sqrt(9.81)
back = result["bob.x"].at(f"{period} s")
tension = result["bob.tension"].at(f"{period / 4} s")
print(f"tension at the bottom {tension:.4f~P}, by hand 29.43 N")
print(f"after one period of {period:.4f} s (small swings: {2 * pi / np.sqrt(9.81):.4f} s) "
      f"x = {back:.6f~P}, by hand 1 m")  # fmt: skip

show(result.plot("bob.x", "bob.y", "bob.tension", every="20 ms"), "pendulum")
