"""Loops of capacitors and cuts of inductors that only sums of several equations show.

They stand beside an ideal diode, in all of whose states they hold.
"""

import numpy as np
from benches import wire, wired
from scipy.integrate import solve_ivp

from blocks import Model, quantity
from library.electrical import (
    ACVoltageSource,
    Capacitor,
    DCVoltageSource,
    Diode,
    ElectricalReference,
    Inductor,
    Resistor,
)


def test_capacitors_over_a_floating_source_with_a_diode_between_them():
    """Only resistors join the source to the ground; the diode joins the middle to it."""
    model = wired("floating", "s.p a.p q.p", "s.n b.n r.p", "a.n b.p d.p", "d.n r.n q.n g.V",
                  s=ACVoltageSource(amplitude="1 V", frequency=quantity(1 / (2 * np.pi), "Hz")),
                  a=Capacitor(capacitance="1 F"), b=Capacitor(capacitance="2 F"),
                  r=Resistor(resistance="1 ohm"), q=Resistor(resistance="3 ohm"),
                  d=Diode(model="ideal"), g=ElectricalReference())
    run = model.simulate("10 s", rtol=1e-9)
    # v1 + v2 = sin t; open: v1' = 2 v2', the middle at 3/4 sin t - v1 <= 0;
    # closed: v1' - 2 v2' = i = v2/1 - v1/3 >= 0
    t, v1, closed = 0.0, 0.0, False
    ends = [run[f"{p}.vc"].at(quantity(run.time.to("s").m, "s")).to("V").m for p in "ab"]
    assert np.abs(sum(ends) - np.sin(run.time.to("s").m)).max() < 1e-7

    def current(s, v):
        return np.sin(s) - v[0] - v[0] / 3

    def middle(s, v):
        return 0.75 * np.sin(s) - v[0]

    while t < 10:
        rate = (lambda s, v: [(2 * np.cos(s) + current(s, v)) / 3]) if closed else (
            lambda s, v: [2 * np.cos(s) / 3])
        over = (lambda s, v: current(s, v)) if closed else (lambda s, v: middle(s, v))
        over.terminal, over.direction = True, -1 if closed else 1
        part = solve_ivp(rate, (t, 10), [v1], events=over, rtol=1e-11, atol=1e-13)
        t, v1, closed = part.t[-1], part.y[0, -1], not closed
    assert abs(run["a.vc"].final.m - v1) < 1e-6
    assert run.energy().relative_residual < 1e-6


def test_inductors_around_a_bridge_of_resistors_carry_one_current():
    """One rate for both: the resistance of the bridge over the sum of the inductances."""
    model = Model("bridge")
    model.s, model.g = DCVoltageSource(voltage="10 V"), ElectricalReference()
    model.d = Diode(model="ideal")
    model.a, model.b = Inductor(inductance="1 H"), Inductor(inductance="2 H")
    ohms = {"r1": (1, "p", "b"), "r2": (2, "b", "q"), "r3": (3, "p", "c"), "r4": (1, "c", "q"),
            "r5": (1, "b", "c")}
    for name, (value, *_) in ohms.items():
        model.add(name, Resistor(resistance=quantity(value, "ohm")))
    wire(model, "s.p d.p", "d.n a.p", "b.n s.n g.V")
    at = {"p": [model.a.n], "q": [model.b.p], "b": [], "c": []}
    for name, (_, p, n) in ohms.items():
        at[p].append(getattr(model, name).p)
        at[n].append(getattr(model, name).n)
    for ports in at.values():
        model.connect(*ports)
    run = model.simulate("1 s", rtol=1e-9)
    y = np.zeros((4, 4))  # nodes p, b, c, q; q at the ground
    for value, p, n in ohms.values():
        i, j = "pbcq".index(p), "pbcq".index(n)
        y[[i, j], [i, j]] += 1 / value
        y[[i, j], [j, i]] -= 1 / value
    resistance = np.linalg.inv(y[:3, :3])[0, 0]
    exact = 10 / resistance * (1 - np.exp(-resistance / 3))
    assert abs(run["b.i_L"].final.to("A").m - exact) < 1e-7
    assert run.statistics["states"] == 1
