r"""A disc let go inside a fixed circle: it slides, and what then?

          .-----------.
        /               \
       |        +       (O   disc, 1 kg, radius 0.25 m, from the height of the centre
        \       |       /
          '-----------'      circle, radius 1 m; friction 0.01, 0.1, 0.2

Worked example of a Romanian paper on curves that roll with sliding. Its equations give the
slip velocity, the angle and the normal force until the slip vanishes; from there, it says,
the disc rolls. Whether it does is decided here: rolling needs a friction force of
m g |cos xi|/3 at the angle xi from the horizontal, and friction gives up to mu N.
"""

from math import cos

from _show import show

from blocks import Component, Model, Port, Variable, arctan2
from library.planar import Body, Circle, Contact, Ground, planar


class Protractor(Component):
    """The angle below the horizontal at which the disc is, seen from the circle's centre."""

    P = Port(planar)
    xi = Variable("rad", doc="angle below the horizontal")

    def equations(self):
        yield self.xi == arctan2(-self.P.y, self.P.x)
        yield self.P.fx == 0
        yield self.P.fy == 0
        yield self.P.t == 0


def disc_in_circle(friction):
    model = Model(f"disc in a circle, friction {friction}")
    model.ground, model.protractor = Ground(), Protractor()
    model.disc = Body(mass="1 kg", inertia="31.25 g*m^2", x="0.75 m", y="0 m", phi="0 rad",
                      vx="0 m/s", vy="0 m/s", w="0 rad/s")  # fmt: skip
    model.touch = Contact(curve=Circle("0.25 m"), base=Circle("1 m", inside=True),
                          friction=friction)  # fmt: skip
    model.connect(model.ground.P, model.touch.B)
    model.connect(model.disc.P, model.touch.F, model.protractor.P)
    return model


print("friction  slip ends  at the angle   rolling needs   friction has   so the disc")
for friction in (0.01, 0.1, 0.2):
    model = disc_in_circle(friction)
    result = model.simulate("1 s", rtol=1e-9)
    end = result.events[0]
    xi = result["protractor.xi"].at(f"{end.time} s").to("rad").m
    needs = 9.81 * abs(cos(xi)) / 3
    has = friction * result["touch.N"].at(f"{end.time} s").to("N").m
    print(f"{friction:8}  {end.time:7.4f} s  {xi * 57.2958:8.2f} deg  {needs:11.4f} N  "
          f"{has:11.4f} N   {'rolls' if end.description == 'sticks' else 'slips back'}")

print("\nThe paper says that pure rolling begins when the slip velocity vanishes: for 0.01 and "
      "0.1\nthat is wrong, friction is too weak and the slip turns round. It takes more than "
      "0.11867.")  # fmt: skip

result = disc_in_circle(0.2).simulate("3 s", rtol=1e-9)
print(result.events)
print(f"normal force between {result['touch.N'].min():.3f~P} and {result['touch.N'].max():.3f~P}; "
      f"energy unaccounted for: {abs(result.energy().residual.to('nJ')):.2g~P}")

figure = result.plot("protractor.xi", "touch.slip", "touch.N", "touch.T")
show(figure, "rolling_disc", result, fps=15)
