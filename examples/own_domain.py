r"""A domain of your own: two tanks level out through a thin pipe.

    left tank (p = 20 kPa)         right tank (p = 0)
      |                               |
      +-------- pipe (laminar) -------+

A domain is data: which variables are equal where ports meet, and which add up to
zero. Pressures in Pa, flows in m^3/s; checks, units, tables and plots follow.
"""

from math import exp

from _show import show

from blocks import Branch, Component, Domain, Model, Parameter, Port, Variable, der

hydraulic = Domain("hydraulic", across={"p": "Pa"}, through={"q": "m^3/s"}, colour="tab:cyan",
                   doc="p is the gauge pressure, q the flow into the component.")  # fmt: skip


class Tank(Component):
    """Open tank: capacity dp/dt = flow into A. Initial target: p (high, 0 Pa)."""

    A = Port(hydraulic, doc="bottom of the tank")
    capacity = Parameter("1e-5 m^3/Pa", above=0, doc="area / (density * gravity)")
    p = Variable("Pa", "0 Pa", priority="high", doc="pressure at the bottom")

    def equations(self):
        yield self.p == self.A.p
        yield self.capacity * der(self.p) == self.A.q


class Pipe(Branch, domain=hydraulic):
    """Laminar pipe from R to C: p = resistance q, with p = p_R - p_C."""

    resistance = Parameter("2e6 Pa*s/m^3", above=0, doc="Resistance")

    def equations(self):
        yield self.p == self.resistance * self.q


model = Model("two tanks")
model.left = Tank(p="20 kPa")
model.pipe = Pipe()
model.right = Tank()

model.connect(model.left.A, model.pipe.R)
model.connect(model.pipe.C, model.right.A)

print(model.check())
result = model.simulate("50 s")

# By hand: two equal tanks in series make a time constant R C / 2 = 10 s.
difference = result["pipe.p"].at("10 s").to("kPa")
print(f"Pressure difference after 10 s {difference:.4f~P}, by hand 20 kPa / e = "
      f"{20 * exp(-1):.4f} kPa")  # fmt: skip

show(result.plot("left.p", "right.p", "pipe.q", units={"left.p": "kPa", "right.p": "kPa"}),
     "own_domain")  # fmt: skip
