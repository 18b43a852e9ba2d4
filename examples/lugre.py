r"""What the LuGre law shows that Coulomb's does not.

Four experiments with one friction (F_C = 1 N, F_S = 1.5 N, v_s = 1 mm/s):

1. a load that rises to 1.425 N and turns: micrometres of sliding before break-away;
2. a speed that swings about 2 mm/s: the force lags behind;
3. a body pulled by a spring: stick-slip, period 6.3627 s;
4. loads that grow at 0.5 to 50 N/s: the faster, the earlier it breaks away.
"""

import numpy as np
from _show import show
from matplotlib import pyplot

from blocks import Model, quantity, sin, where
from library.translational import (
    ForceSource,
    Mass,
    MotionSensor,
    Reference,
    Spring,
    TranslationalFriction,
    VelocitySource,
)

NEWTON, SPEED, SECOND = quantity("1 N"), quantity("1 mm/s"), quantity("1 s")


def bench(**parts):
    """A model with the friction between a given part and the floor."""
    model = Model("LuGre")
    model.friction = TranslationalFriction(
        law="lugre", coulomb_force="1 N", breakaway_force="1.5 N", breakaway_velocity="1 mm/s",
        stiffness="1e5 N/m", damping=quantity(np.sqrt(1e5), "N*s/m"),
        viscous_coefficient="0.4 N*s/m")  # fmt: skip
    model.floor = Reference()
    for name, part in parts.items():
        model.add(name, part)
    model.connect(model.friction.C, model.floor.V)
    return model


def pushed(load, duration):
    """A body of 1 kg under a load: seconds to newtons."""
    model = bench(body=Mass(mass="1 kg"), place=MotionSensor(),
                  push=ForceSource(force=lambda t: NEWTON * load(t / SECOND)))
    model.connect(model.body.M, model.push.R, model.friction.R, model.place.R)
    model.connect(model.floor.V, model.push.C, model.place.C)
    return model.simulate(quantity(duration, "s"), rtol=1e-8)


def moved(speed, duration):
    """Driven at a speed: seconds to mm/s."""
    model = bench(drive=VelocitySource(velocity=lambda t: SPEED * speed(t / SECOND)))
    model.connect(model.drive.R, model.friction.R)
    model.connect(model.floor.V, model.drive.C)
    return model.simulate(quantity(duration, "s"), rtol=1e-8)


figure, axes = pyplot.subplots(2, 2, figsize=(10, 8), layout="constrained")
(loop, lag), (slip, away) = axes

result = pushed(lambda t: where(t < 2.85, t / 2, where(t < 8.55, 2.85 - t / 2, t / 2 - 5.7)), 14.25)
loop.plot(result["place.x"].to("um").m, result["push.S"].to("N").m)
loop.set(title="sliding before break-away", xlabel="place [um]", ylabel="load [N]")
print(f"turns at {result['place.x'].at('2.85 s').to('um'):.5f~P}, reference 44.78184 um")

for w in (1, 10, 25, 100):
    period = 2 * np.pi / w
    result = moved(lambda t, w=w: 2 * (1 + 0.9 * sin(w * t)), 3 * period)
    t = quantity(np.linspace(2 * period, 3 * period, 400), "s")
    lag.plot(result["friction.v"].at(t).to("mm/s").m, result["friction.f"].at(t).to("N").m,
             label=f"{w} rad/s")  # fmt: skip
lag.set(title="force lags behind speed", xlabel="speed [mm/s]", ylabel="friction [N]")
lag.legend()

model = bench(body=Mass(mass="1 kg"), spring=Spring(stiffness="2 N/m"), place=MotionSensor(),
              drive=VelocitySource(velocity="0.1 m/s"))  # fmt: skip
model.connect(model.drive.R, model.spring.R)
model.connect(model.spring.C, model.body.M, model.friction.R, model.place.R)
model.connect(model.floor.V, model.drive.C, model.place.C)
result = model.simulate("40 s", rtol=1e-7)
slip.plot(result["place.x"].time.to("s").m, result["place.x"].to("m").m, label="block")
slip.plot([0, 40], [0, 4], "k:", label="end of the spring")
slip.set(title="stick-slip", xlabel="time [s]", ylabel="place [m]")
slip.legend()
t = np.linspace(0, 40, 40_001)
v = result["body.v"].at(quantity(t, "s")).to("m/s").m
fast = np.flatnonzero((v[1:] >= 0.02) & (v[:-1] < 0.02))
starts = t[fast] + (t[1] - t[0]) * (0.02 - v[fast]) / (v[fast + 1] - v[fast])
print(f"slips every {np.mean(np.diff(starts)):.3f} s, reference 6.363 s")

rates = [0.5, 1, 2, 5, 10, 20, 30, 50]
reference = [1.457044, 1.432415, 1.394416, 1.313209, 1.219952, 1.098614, 1.024485, 1.007469]
peaks = []
for rate in rates:
    result = pushed(lambda t, rate=rate: rate * t, 2 / rate)
    f = result["friction.f"].at(quantity(np.linspace(0, 2 / rate, 4000), "s")).to("N").m
    peaks.append(f[1 + np.flatnonzero((f[1:-1] > f[:-2]) & (f[1:-1] >= f[2:]))[0]])
away.semilogx(rates, peaks, "o-", label="here")
away.semilogx(rates, reference, "kx", label="reference")
away.set(title="break-away", xlabel="rate of the load [N/s]", ylabel="largest friction [N]")
away.legend()
print(f"breaks away at {peaks[0]:.6f} N for 0.5 N/s, reference 1.457044 N")

for axis in axes.flat:
    axis.grid(alpha=0.3)
show(figure, "lugre")
