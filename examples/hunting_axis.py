r"""A positioning axis hunts: friction measured, the hunting predicted, the controller cured.

    set point --(+)-- P + I ---(+)--> force --> [carriage 20 kg] ~~~ rail, sticks
                 |-             |-                  |    |
                 |              +--- D -- velocity -+    |
                 +---------------- position -------------+

Four steps, as an engineer would take them. A run-in of the rig at steady speeds tells the friction
law. The loop without friction is stable, and first harmonics foresee no oscillation; but the
motion that repeats, found by shooting, is there: the integral pulls until the rail lets go, the
carriage jumps past its place and sticks again. A dead zone in front of the integral, as
wide as half a jump, ends it: where the carriage sticks inside, nothing pulls any more.
"""

import numpy as np
import pandas as pd
from _show import show
from matplotlib.figure import Figure

from blocks import Model, quantity
from blocks.analysis.describing import predict_limit_cycles
from library.friction_studies.identification import identify_friction
from library.signal import Constant, DeadZone, Gain, Integrator, Sum
from library.translational import ForceSource, Mass, MotionSensor, Reference, TranslationalFriction

RAIL = {"coulomb_force": "12 N", "breakaway_force": "18 N", "breakaway_velocity": "0.5 mm/s",
        "viscous_coefficient": "30 N*s/m"}  # fmt: skip


def run_in(seed=5):
    """What the rig's force gauge showed at steady speeds; its noise is 0.1 N."""
    noise = np.random.default_rng(seed)
    v = np.concatenate([-np.geomspace(0.05, 60, 80), np.geomspace(0.05, 60, 80)])
    force = np.sign(v) * (12 + 6 * np.exp(-((v / 0.5) ** 2))) + 0.03 * v
    return pd.DataFrame({"v [mm/s]": v, "force [N]": force + noise.normal(0, 0.1, len(v))})


def axis(friction=None, dead_zone=None):
    """The axis under its controller, 5 mm beside its set point at the start."""
    model = Model("axis")
    model.carriage, model.rail = Mass(mass="20 kg"), Reference()
    model.sensor = MotionSensor(reference="absolute", x="-5 mm")
    model.motor, model.push = ForceSource(), ForceSource()
    model.wanted = Constant(value=quantity("0 mm"))
    model.error = Sum(signs="+-", unit="m")
    model.P, model.D = Gain(gain="10 kN/m", input="m"), Gain(gain="0.6 kN*s/m", input="m/s")
    model.sum, model.I = Integrator(input="m"), Gain(gain="37.5 kN/(m*s)", input="m*s")
    model.controller = Sum(signs="++-", unit="N")
    model.connect(model.carriage.M, model.sensor.R, model.motor.R, model.push.R)
    model.connect(model.rail.V, model.motor.C, model.push.C)
    model.connect(model.wanted.y, model.error.u[0])
    model.connect(model.sensor.P, model.error.u[1])
    model.connect(model.error.y, model.P.u)
    if dead_zone is None:
        model.connect(model.error.y, model.sum.u)
    else:
        model.dead_zone = DeadZone(upper=dead_zone, lower=-dead_zone)
        model.connect(model.error.y, model.dead_zone.u)
        model.connect(model.dead_zone.y, model.sum.u)
    model.connect(model.sum.y, model.I.u)
    model.connect(model.sensor.V, model.D.u)
    for k, part in enumerate((model.P, model.I, model.D)):
        model.connect(part.y, model.controller.u[k])
    model.connect(model.controller.y, model.motor.S)
    if friction is not None:
        model.friction = friction
        model.connect(model.friction.R, model.carriage.M)
        model.connect(model.friction.C, model.rail.V)
    return model


# 1. which friction has the rail?
choice = identify_friction(run_in(), "v [mm/s]", "force [N]")
print(choice)
found = TranslationalFriction(law=choice.law.law, **choice.law.parameters)

# 2. what do linear model and first harmonics say?
linear = axis().linearise("push.force", "carriage.v")
print(f"\nPoles without friction [1/s]: {np.round(linear.poles(), 3)}")
dry = {name: choice.law.parameters[name] for name in ("coulomb_force", "breakaway_force")}
print(predict_limit_cycles(linear, TranslationalFriction(law="coulomb", **dry),
                           ("1 mm/s", "0.1 m/s")))

# 3. the motion that repeats, with the friction that was found; and a run with that of the rig
hunting = axis(found)
cycle = hunting.limit_cycle(hunting.simulate("30 s"))
amplitude = cycle.amplitude("sensor.x").to("um")
truth = axis(TranslationalFriction(law="stribeck", **RAIL)).simulate("30 s", rtol=1e-7)
slips = [e.time for e in truth.events.of("friction") if "slides forward" in e.description]
late = truth["sensor.x"].at(quantity(np.linspace(20, 30, 2000), "s")).to("um").m
print(f"\nIt hunts every {cycle.period:.3f~P} by {amplitude:.1f~P}, says the model; "
      f"the rig every {slips[-1] - slips[-2]:.3f} s by {np.ptp(late) / 2:.1f} µm")

# 4. a dead zone of half a jump in front of the integral
dead_zone = round(1.3 * amplitude, -1)
cured = axis(TranslationalFriction(law="stribeck", **RAIL), dead_zone)
quiet = cured.simulate("30 s", rtol=1e-7)
error = abs(quiet["sensor.x"].final).to("um")
stops = max(e.time for e in quiet.events.of("friction"))
print(f"With a dead zone of {dead_zone:.0f~P} it stands still from {stops:.2f} s on, "
      f"{error:.1f~P} beside its place")

figure = Figure(figsize=(7, 6.4), layout="constrained")
map_axes, time_axes = figure.subplots(2, 1)
data = run_in()
map_axes.plot(data["v [mm/s]"], data["force [N]"], ".", color="0.6", label="run-in of the rig")
fine = np.linspace(0.01, 60, 1500)
p = choice.law.parameters
f_c, f_g, v_brk, c = (p[k].to(u).m for k, u in (
    ("coulomb_force", "N"), ("breakaway_force", "N"), ("breakaway_velocity", "mm/s"),
    ("viscous_coefficient", "N*s/mm")))
curve = f_c + (f_g - f_c) * np.exp(-((fine / v_brk) ** 2)) + c * fine
map_axes.plot(np.concatenate([-fine[::-1], fine]), np.concatenate([-curve[::-1], curve]),
              color="tab:orange", label=f"law that was found: {choice.law.law}")  # fmt: skip
map_axes.set(xlabel="velocity [mm/s]", ylabel="friction force [N]", xlim=(-20, 20),
             title="How much friction does the rail have?")  # fmt: skip
times = quantity(np.linspace(0, 30, 6000), "s")
for run, label in ((truth, f"hunts: {cycle.period:.2f~P}, {amplitude:.0f~P}, as predicted"),
                   (quiet, f"dead zone of {dead_zone:.0f~P} before the integral: stops")):
    time_axes.plot(times.m, run["sensor.x"].at(times).to("um").m, label=label)
time_axes.axhspan(-dead_zone.m, dead_zone.m, color="0.93", label="dead zone")
time_axes.set(xlabel="time [s]", ylabel="place beside the set point [µm]", ylim=(-1200, 1200),
              title="Does it hunt?")  # fmt: skip
for axes in (map_axes, time_axes):
    axes.grid(True, alpha=0.3)
    axes.legend(fontsize="small")
show(figure, "hunting_axis")
