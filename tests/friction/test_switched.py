"""Ideal switches and diodes as statements: in mechanics, beside loops, and in odd company."""

import numpy as np
import pytest
from benches import wire, wired
from benches.friction import missing_energy, values
from numpy.testing import assert_allclose

from blocks import Model, Parameter, SimulationError, ideal_diode, ideal_switch, quantity, time
from library.electrical import ACVoltageSource, Capacitor, ElectricalReference, Inductor, Resistor
from library.electrical import TwoPort as TwoPin
from library.rotational import Inertia, RotationalReference, TorqueSource
from library.rotational import TwoPort as Shafts


class Coupling(Shafts):
    """Closed between two instants."""

    start, end = Parameter("1 s"), Parameter("2 s")

    def equations(self):
        yield ideal_switch(self.t, self.w, closed=(time > self.start) & (time < self.end))


class Diode(TwoPin):
    """Ideal."""

    def equations(self):
        yield ideal_diode(self.i, self.v)


def coupled(speed):
    return wired("coupled", "one.I coupling.R", "coupling.C other.I load.C", "load.R ground.W",
                 one=Inertia(inertia="1 kg*m^2", w=quantity(speed, "rad/s")),
                 other=Inertia(inertia="3 kg*m^2"), coupling=Coupling(),
                 load=TorqueSource(torque="1 N*m"), ground=RotationalReference())


def test_a_coupling_that_closes_at_equal_speeds_carries_its_share_of_the_torque():
    model = coupled(-1.0 / 3)  # the other comes to this speed as the coupling closes
    run = model.simulate("3 s", rtol=1e-10)
    # 1 N m from the ground to the other: it slows down by 1/3, then both by 1/4 rad/s2
    t = np.array([0.5, 1.5, 2.5])
    exact = [[-1 / 3, -1 / 3 - 0.5 / 4, -1 / 3 - 1 / 4],
             [-0.5 / 3, -1 / 3 - 0.5 / 4, -1 / 3 - 1 / 4 - 0.5 / 3]]
    assert_allclose(values(run, ["one.w", "other.w"], t), exact, rtol=1e-8)
    assert_allclose(abs(values(run, ["coupling.t"], t)[0]), [0, 0.25, 0], rtol=0, atol=1e-9)


def test_a_coupling_that_closes_at_unequal_speeds_would_need_a_jump():
    with pytest.raises(SimulationError, match="would have to jump") as error:
        coupled(5.0).simulate("3 s")
    assert error.value.code == "simulation.jump"
    assert error.value.time == pytest.approx(1.0)
    assert "one.w from 5" in str(error.value)
    assert "a damper" in str(error.value)


def test_diodes_beside_a_mesh_of_resistors_that_is_solved_as_a_loop():
    # a balanced ladder: by symmetry the diode between equal nodes carries nothing, the one along
    # the ladder half a period
    model = Model("mesh")
    model.source, model.ground = ACVoltageSource(amplitude="10 V", frequency="50 Hz"), \
        ElectricalReference()
    n = 6
    at = {k: [] for k in range(n + 1)}
    for k in range(n):
        for row in "ab":
            part = model.add(f"{row}{k}", Resistor(resistance="1 ohm"))
            model.add(f"{row}{k}d", Resistor(resistance="2 ohm"))
            at[k].append(part.p)
            at[k + 1].append(part.n)
            at[k].append(getattr(model, f"{row}{k}d").p)
            at[k + 1].append(getattr(model, f"{row}{k}d").n)
    model.diode = Diode()
    model.connect(model.source.p, *at[0])
    for k in range(1, n):
        model.connect(*at[k])
    model.connect(*at[n], model.diode.p)
    model.connect(model.diode.n, model.source.n, model.ground.V)
    run = model.simulate("20 ms", rtol=1e-10)
    t = np.linspace(0.0005, 0.0195, 20)
    exact = np.maximum(10 * np.sin(100 * np.pi * t), 0) / (n / 3)  # 1, 1, 2, 2 ohm in parallel
    assert_allclose(values(run, ["diode.i"], t)[0], exact, rtol=0, atol=1e-9)


@pytest.mark.parametrize(("method", "duration"), [
    ("auto", "30 ms"), ("auto", "22 ms"), ("dopri5", "22 ms"), ("rodas4", "22 ms"),
    ("rodas4", "60 ms")])
def test_coils_on_both_sides_of_a_bridge_commutate_while_all_diodes_conduct(method, duration):
    # overlap: the current of the source's coil goes from -i to i at a constant rate
    model = wired("overlap",
                  source=ACVoltageSource(amplitude="10 V", frequency="50 Hz"),
                  ground=ElectricalReference(), stray=Inductor(inductance="1 mH"),
                  coil=Inductor(inductance="1 H", i_L="2 A"), load=Resistor(resistance="3 ohm"))
    for name in ("one", "two", "three", "four"):
        model.add(name, Diode())
    wire(model, "source.p stray.p", "stray.n one.p three.n", "source.n two.p four.n",
         "one.n two.n coil.p", "coil.n load.p", "load.n three.p four.p ground.V")
    run = model.simulate(duration, rtol=1e-10, method=method)
    times = np.linspace(0, 0.022, 301)
    currents = {n: values(run, [f"{n}.i"], times)[0] for n in ("one", "two", "three", "four")}
    assert min(c.min() for c in currents.values()) > -1e-9
    coil = values(run, ["coil.i"], times)[0]
    assert_allclose(currents["one"] + currents["two"], coil, rtol=0, atol=1e-8)
    # after the zero crossing at 10 ms: di/dt = 10 sin / L from +i to -i, i as of the coil there
    i0 = values(run, ["coil.i"], [0.01])[0][0]
    w = 100 * np.pi
    angle = np.arccos(1 - w * 1e-3 * 2 * i0 / 10)  # within 1e-3 of the coil's own change
    ends = [e.time for e in run.events if e.description == "opens" and e.time > 0.0101]
    assert ends[0] == pytest.approx(0.01 + angle / w, rel=2e-3)
    assert any(abs(t - 0.02 - angle / w) < 5e-5 for t in ends)  # likewise half a period later
    assert missing_energy(run) < 1e-7


def test_capacitors_in_series_behind_diodes_share_by_their_charges():
    model = wired("charges", "source.p diode.p", "diode.n one.p", "one.n two.p",
                  "two.n source.n ground.V",
                  source=ACVoltageSource(amplitude="9 V", frequency="50 Hz"),
                  ground=ElectricalReference(), diode=Diode(), one=Capacitor(capacitance="1 uF"),
                  two=Capacitor(capacitance="2 uF"))
    run = model.simulate("20 ms", rtol=1e-10)
    t = np.array([0.0025, 0.005, 0.012])
    whole = 9 * np.array([np.sin(np.pi / 4), 1, 1])
    assert_allclose(values(run, ["one.v", "two.v"], t), [whole * 2 / 3, whole / 3], rtol=1e-9)
