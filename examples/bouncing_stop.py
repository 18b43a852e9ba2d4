r"""Hard stop: what happens between a falling mass and the floor?

    mass (1 kg, dropped from 1 m) --- hard stop --- floor

There are two answers. With a coefficient of restitution the mass rebounds ever faster and
then rests. An elastic stop is pressed in by the weight.
"""

from math import sqrt

from _show import show

from blocks import Model
from library.translational import ForceSource, HardStop, Mass, Reference


def dropped(stop: HardStop) -> Model:
    model = Model("bouncing")
    model.mass = Mass(mass="1 kg")
    model.stop = stop
    model.weight = ForceSource(force="-9.81 N")
    model.floor = Reference()
    model.connect(model.mass.M, model.stop.R, model.weight.R)
    model.connect(model.stop.C, model.weight.C, model.floor.V)
    return model


bounds = {"lower_bound": "0 m", "upper_bound": "10 m", "x": "1 m"}
rigid = dropped(HardStop(model="restitution", restitution=0.7, **bounds)).simulate("4 s")
soft = dropped(HardStop(lower_stiffness="10 kN/m", lower_damping="30 N*s/m", **bounds)
               ).simulate("4 s")

# By hand: the flights last e, e^2, e^3 … times the first, so they end after
# t1 (1 + 2 e / (1 - e)) with t1 = sqrt(2 h / g).
end = sqrt(2 / 9.81) * (1 + 2 * 0.7 / 0.3)
rest = rigid.events[-1].time
print(f"{len(rigid.events)} rebounds, at rest after {rest:.4f} s, by hand {end:.4f} s")
print(f"The elastic stop gives way by {soft['stop.x'].final.to('mm'):.3f~P}")
print(rigid.energy())

figure = rigid.plot("stop.x", "mass.v", events=False, title="restitution 0.7")
show(figure, "bouncing_stop")
