"""What ideal elements and frictions hold at zero is zero for conditions, not its last digits."""

import numpy as np
import pytest
from benches import wire, wired
from scipy.integrate import solve_ivp

from blocks import Component, Discrete, Input, Model, quantity, sin, when
from library.electrical import (
    ACVoltageSource,
    CurrentSensor,
    DCVoltageSource,
    Diode,
    ElectricalReference,
    Inductor,
    Resistor,
)
from library.rotational import (
    Inertia,
    RotationalDamper,
    RotationalFriction,
    RotationalMotionSensor,
    RotationalReference,
    TorqueSource,
)

METHODS = pytest.mark.parametrize("method", ["dopri5", "rodas4", "DOP853"])


class Signs(Component):
    """How often a signal begins to be positive, and negative."""

    up = Discrete("", "0")
    down = Discrete("", "0")

    def equations(self):
        yield when(self.u > 0, {self.up: self.up + 1})
        yield when(self.u < 0, {self.down: self.down + 1})


class CurrentSigns(Signs):
    u = Input("A")


class SpeedSigns(Signs):
    u = Input("rad/s")


def counts(run, *names):
    return [(run[f"{n}.up"].final.m, run[f"{n}.down"].final.m) for n in names]


@pytest.mark.parametrize("coils", [0, 1, 2])
@METHODS
def test_a_rectifier_conducts_once_a_period(method, coils):
    model = wired("rectifier", "source.p diode.p", "diode.n sensor.p", "sensor.I signs.u",
                  source=ACVoltageSource(amplitude="10 V"), ground=ElectricalReference(),
                  diode=Diode(model="ideal"), sensor=CurrentSensor(), signs=CurrentSigns())
    ends = [model.source.n, model.ground.V]
    starts = [model.sensor.n]
    for k in range(max(coils, 1)):
        load = model.add(f"load{k}", Resistor(resistance=f"{k + 1} ohm"))
        ends.append(load.n)
        if coils:
            coil = model.add(f"coil{k}", Inductor(inductance="3 mH", parasitic=False))
            model.connect(coil.n, load.p)
            starts.append(coil.p)
        else:
            starts.append(load.p)
    model.connect(*starts)
    model.connect(*ends)
    run = model.simulate("95 ms", method=method)  # 5.7 periods of 60 Hz
    assert counts(run, "signs") == [(6, 0)]


@METHODS
def test_a_bridge_charges_a_battery_in_pulses(method):
    """Where the coil rests, any two diodes of one side may be those that hold it."""
    model = wired("bridge", source=ACVoltageSource(amplitude="20 V"), ground=ElectricalReference())
    for name in "abcd":
        model.add(name, Diode(model="ideal"))
    wire(model, "source.p alternating.p", "alternating.n a.p b.n", "source.n c.p d.n",
         "a.n c.n direct.p", "direct.n coil.p", "coil.n resistor.p", "resistor.n battery.p",
         "battery.n b.p d.p ground.V", "direct.I pulses.u", "alternating.I signs.u",
         coil=Inductor(inductance="1 mH", parasitic=False), battery=DCVoltageSource(voltage="12 V"),
         resistor=Resistor(resistance="0.5 ohm"), direct=CurrentSensor(),
         alternating=CurrentSensor(), pulses=CurrentSigns(), signs=CurrentSigns())
    run = model.simulate("50 ms", method=method)  # three periods
    assert counts(run, "pulses", "signs") == [(6, 0), (3, 3)]


RECTIFIERS = (  # three sources (V, Hz, rad), their resistances, the loads, the coil of the first
    ((6.0, 71.0, 1.6), (6.0, 79.0, 3.8), (12.0, 65.0, 5.3)), (0.9, 0.6, 0.8), (0.7, 1.1), 3e-3)


def pulses_by_hand(end):
    """How often each of two rectifiers that share a source conducts, by SciPy."""
    sources, (q0, q1, q2), (r0, r1), coil = RECTIFIERS

    def levels(t):
        return [a * np.sin(2 * np.pi * f * t + p) for a, f, p in sources]

    def second(t, i):
        _, u1, u2 = levels(t)
        return np.maximum(0.0, (u1 + u2 - q1 * i) / (q1 + q2 + r1))

    def slope(t, i):
        u0, u1, _ = levels(t)
        rate = (u0 + u1 - (q0 + q1 + r0) * i - q1 * second(t, i)) / coil
        return np.where((i > 0) | (rate > 0), rate, 0.0)

    run = solve_ivp(slope, (0, end), [0.0], max_step=2e-5)
    return [int(np.sum((i[1:] > 1e-3) & (i[:-1] <= 1e-3)))
            for i in (run.y[0], second(run.t, run.y[0]))]


@METHODS
def test_rectifiers_that_share_a_source_count_each_pulse_once(method):
    """A current that ends beside a coil without one: an instant shows less than rounding."""
    sources, inner, loads, coil = RECTIFIERS
    model = wired("rectifiers", ground=ElectricalReference())
    for k in range(3):
        amplitude, frequency, phase = sources[k]
        model.add(f"source{k}", ACVoltageSource(
            amplitude=quantity(amplitude, "V"), frequency=quantity(frequency, "Hz"),
            phase=quantity(phase, "rad")))
        model.add(f"inner{k}", Resistor(resistance=quantity(inner[k], "ohm")))
        model.connect(model[f"source{k}"].p, model[f"inner{k}"].p)
    for k in range(2):
        model.add(f"diode{k}", Diode(model="ideal"))
        model.add(f"sensor{k}", CurrentSensor())
        model.add(f"signs{k}", CurrentSigns())
        model.add(f"load{k}", Resistor(resistance=quantity(loads[k], "ohm")))
        model.connect(model[f"diode{k}"].n, model[f"sensor{k}"].p)
        model.connect(model[f"sensor{k}"].I, model[f"signs{k}"].u)
    wire(model, "sensor0.n coil.p", "coil.n load0.p", "sensor1.n load1.p",
         "load0.n source0.n ground.V", "inner0.n source1.n load1.n", "inner1.n source2.n diode0.p",
         "inner2.n diode1.p", coil=Inductor(inductance=quantity(coil, "H"), parasitic=False))
    run = model.simulate("40 ms", method=method, rtol=1e-8)
    first, second = pulses_by_hand(0.04)
    assert counts(run, "signs0", "signs1") == [(first, 0), (second, 0)]


@pytest.mark.parametrize(("torque", "slips"), [("3 N*m", (0, 0)), ("27 N*m", (5, 5))])
@METHODS
def test_a_clutch_that_sticks_does_not_slip(method, torque, slips):
    """Held at 20 N m and more, it carries inertia b and damper; slides once a half turn, or not."""
    model = Model("clutch")
    model.drive = TorqueSource(torque=lambda t: quantity(torque) * sin(quantity("2 rad/s") * t) * 2)
    model.a, model.b = Inertia(inertia="0.3 kg*m^2"), Inertia(inertia="30 kg*m^2")
    model.clutch = RotationalFriction(law="coulomb", coulomb_torque="20 N*m",
                                      breakaway_torque="25 N*m")
    model.damper, model.ground = RotationalDamper(damping="0.5 N*m*s/rad"), RotationalReference()
    model.sensor, model.signs = RotationalMotionSensor(), SpeedSigns()
    model.connect(model.drive.R, model.a.I, model.clutch.R, model.sensor.R)
    model.connect(model.clutch.C, model.b.I, model.sensor.C, model.damper.R)
    model.connect(model.drive.C, model.damper.C, model.ground.W)
    model.connect(model.sensor.W, model.signs.u)
    run = model.simulate(f"{5 * np.pi - 0.01} s", method=method)
    assert counts(run, "signs") == [slips]
