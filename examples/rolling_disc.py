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

from itertools import pairwise
from math import cos

import matplotlib.pyplot as plt
import numpy as np
from _show import show

from blocks import Component, Model, Port, Variable, arctan2, quantity
from library.planar import Body, Circle, Contact, Ground, planar


class Protractor(Component):
    """The angle of the disc below the horizontal, seen from the circle's centre."""

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


results = {friction: disc_in_circle(friction).simulate("3 s", rtol=1e-9)
           for friction in (0.01, 0.1, 0.2)}  # fmt: skip
print("friction  slip ends  at the angle   rolling needs   friction has   so the disc")
for friction, result in results.items():
    end = result.events[0]
    xi = result["protractor.xi"].at(f"{end.time} s").to("rad").m
    needs = 9.81 * abs(cos(xi)) / 3
    has = friction * result["touch.N"].at(f"{end.time} s").to("N").m
    print(f"{friction:8}  {end.time:7.4f} s  {xi * 57.2958:8.2f} deg  {needs:11.4f} N  "
          f"{has:11.4f} N   {'rolls' if end.description == 'sticks' else 'slips back'}")

print("\nThe paper says that pure rolling begins when the slip velocity vanishes: for 0.01 and "
      "0.1\nthat is wrong, friction is too weak and the slip turns round. It takes more than "
      "0.11867.")  # fmt: skip
result = results[0.2]
print(result.events)
print(f"normal force between {result['touch.N'].min():.3f~P} and {result['touch.N'].max():.3f~P}; "
      f"energy unaccounted for: {abs(result.energy().residual.to('nJ')):.2g~P}")

# The paper's figures: angle, slip velocity and normal force; shaded while the disc rolls.
figure, axes = plt.subplots(3, 3, figsize=(11, 7), sharex=True, sharey="row")
t = np.linspace(0, 3, 1501)
for column, (friction, result) in zip(axes.T, results.items(), strict=True):
    column[0].set_title(f"friction {friction}")
    for ax, path, unit in zip(column, ("protractor.xi", "touch.slip", "touch.N"),
                              ("deg", "m/s", "N"), strict=True):  # fmt: skip
        ax.plot(t, result[path].at(t * quantity("1 s")).to(unit).m)
        ax.grid(color="0.9")
        for event, after in pairwise([*result.events, None]):
            end = after.time if after else 3
            ax.axvline(event.time, color="0.6", linestyle=":")
            if event.description == "sticks":
                ax.axvspan(event.time, end, color="tab:green", alpha=0.15, lw=0, label="rolls")
for ax, text in zip(axes[:, 0], ("angle [deg]", "slip velocity [m/s]", "normal force [N]"),
                    strict=True):  # fmt: skip
    ax.set_ylabel(text)
axes[0, 2].legend(*(part[:1] for part in axes[0, 2].get_legend_handles_labels()))
for ax in axes[2]:
    ax.set_xlabel("time [s]")
figure.tight_layout()
show(figure, "rolling_disc", results[0.2], fps=15)
