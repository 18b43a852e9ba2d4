"""Rodas4P in machine code: its order, and stiff models full of switches."""

import numpy as np
import pytest
from benches import wire, wired
from numpy.testing import assert_allclose
from scipy.integrate import solve_ivp

import blocks
import library.electrical as el
import library.translational as tr
from benchmarks.cases.circuits import rc_ladder
from benchmarks.cases.domains import cylinder, ladder
from benchmarks.cases.models import alone, block_on_belt
from blocks import Component, Discrete, Parameter, Variable, cos, der, quantity, sin, time
from blocks.native.rosenbrock import rosenbrock_polynomial
from blocks.native.stages import NEW, ROWS
from blocks.simulation import auto as auto_choice
from blocks.simulation.running_method import RunningMethod
from blocks.solvers import rosenbrock as rodas
from library.electromechanical import DCMotor
from library.rotational import Inertia, RotationalFriction, RotationalReference
from library.signal import Pulse
from library.translational.domain import TwoPort

PER_SECOND = quantity("1 1/s")


# -- smooth motions -----------------------------------------------------------------------------
class Bell(Component):
    """x' = -2 t x^2: x = 1 / (1 + t^2)."""

    x = Variable("1", 1, priority="high")

    def equations(self):
        yield der(self.x) == -2 * time * PER_SECOND**2 * self.x**2


class Follower(Component):
    """Drawn to cos t within a microsecond, the more the farther it is."""

    rate = Parameter("1e6 1/s")
    x = Variable("1", 0, priority="high")

    def equations(self):
        now = time * PER_SECOND
        away = cos(now) - self.x
        yield der(self.x) == self.rate * (away + away**3) - PER_SECOND * sin(now)


def test_the_error_falls_with_the_fourth_power_of_the_step_also_between_the_steps():
    t = np.linspace(0, 2, 501)
    ends, between = [], []
    for h in ("20 ms", "10 ms", "5 ms"):
        run = alone(Bell()).simulate("2 s", method="rodas4", rtol=0.9, atol=0.9, first_step=h,
                                  max_step=h)  # fmt: skip
        x = run["part.x"].at(quantity(t, "s")).magnitude
        ends.append(abs(x[-1] - 0.2))
        between.append(np.abs(x - 1 / (1 + t**2)).max())
    assert_allclose(np.log2(np.array(ends[:-1]) / ends[1:]), 4, atol=0.3)
    assert_allclose(np.log2(np.array(between[:-1]) / between[1:]), 4, atol=0.3)


@pytest.mark.parametrize("rtol", [1e-4, 1e-6, 1e-8])
def test_what_is_fast_is_damped_and_takes_no_steps(rtol):
    run = alone(Follower()).simulate("10 s", method="rodas4", rtol=rtol)
    t = np.linspace(1e-3, 10, 500)
    assert_allclose(run["part.x"].at(quantity(t, "s")).magnitude, np.cos(t), rtol=0, atol=5 * rtol)
    assert run.statistics["steps"] < 40 * rtol**-0.25
    assert run.statistics["factorizations"] == run.statistics["steps"] + run.statistics["rejected"]


def test_a_driven_ladder_takes_steps_by_the_fourth_root_of_the_tolerance():
    n, r, c, w, t = 60, 1000 / 60, 1e-6 / 60, 2e3 * np.pi, 3e-3
    rates = np.diag(np.full(n, -2.0)) + np.diag(np.ones(n - 1), 1) + np.diag(np.ones(n - 1), -1)
    rates[-1, -1] = -1
    rates, feed = rates / (r * c), np.zeros(n)
    feed[0] = 5 / (r * c)
    phasor = np.linalg.solve(1j * w * np.eye(n) - rates, feed)
    modes, vectors = np.linalg.eigh(rates)
    settling = vectors @ (np.exp(modes * t) * (vectors.T @ -phasor.imag))
    exact = (phasor * np.exp(1j * w * t)).imag + settling
    model, steps = rc_ladder(n), {}
    for rtol in (1e-5, 1e-8):
        run = model.simulate("3 ms", method="rodas4", rtol=rtol)
        steps[rtol] = run.statistics["steps"]
        assert_allclose(run["capacitors.vc"].final.to("V").m, exact, rtol=0, atol=2 * rtol)
    assert steps[1e-8] < 7 * steps[1e-5]


def test_the_energy_of_a_voltage_doubler_closes():
    model = wired("doubler", "source.p wire.p", "wire.n pump.p", "pump.n up.n over.p",
                  "over.n store.p load.p", "source.n up.p store.n load.n ground.V",
                  ground=el.ElectricalReference(), source=el.ACVoltageSource(amplitude="10 V"),
                  wire=el.Resistor(resistance="3 mohm"), load=el.Resistor(resistance="3 kohm"),
                  pump=el.Capacitor(capacitance="3 uF"), store=el.Capacitor(capacitance="3 uF"),
                  up=el.Diode(model="ideal"), over=el.Diode(model="ideal"))
    assert abs(model.simulate("60 ms", method="rodas4").energy().relative_residual) < 1e-4


# -- who takes it -------------------------------------------------------------------------------
class Sampled(Component):
    """A stiff actuator of 1e7 1/s that holds a cosine as it was at the last of 1,000 samples."""

    x = Variable("1", 0, priority="high")
    asked = Discrete("1", 1)

    def equations(self):
        yield blocks.every("1 ms", {self.asked: cos(time * PER_SECOND)})
        away = self.asked - self.x
        yield der(self.x) == quantity("1e7 1/s") * away * (1 + 0.1 * away**2)


def test_auto_takes_it_where_a_stiff_model_is_interrupted_often():
    run = alone(Sampled()).simulate("1 s")
    assert run.statistics["method"] == "rodas4"
    t = 1e-3 * np.arange(1, 1000) - 1e-6  # just before the next sample
    assert_allclose(run["part.x"].at(quantity(t, "s")).magnitude, np.cos(t - 0.999e-3), rtol=0,
                    atol=1e-6)  # fmt: skip
    assert alone(Sampled()).simulate("3 ms").statistics["method"] == "dopri5"
    exact = alone(Sampled()).simulate("1 s", rtol=1e-9)
    assert exact.statistics["method"] == "rodas4"
    assert_allclose(exact["part.x"].at(quantity(t, "s")).magnitude, np.cos(t - 0.999e-3), rtol=0,
                    atol=1e-12)  # fmt: skip
    assert alone(Follower()).simulate("10 s").statistics["method"] == "rodas4"


class Film(TwoPort):
    """A damper whose coefficient falls off with the velocity, stiff from 1 s on."""

    def equations(self):
        v = quantity("1 m/s")
        most = blocks.where(time > quantity("1 s"), quantity("1 MN"), quantity("1 N"))
        yield self.f == most * self.v / v / (1 + (self.v / v) ** 2)


def test_a_run_with_exact_friction_goes_on_with_it_when_it_becomes_stiff():
    def rider():
        model = block_on_belt()
        wire(model, "second.M film.R link.R", "block.M film.C link.C",
             second=tr.Mass(mass="1 kg"), film=Film(), link=tr.Spring(stiffness="10 N/m"))
        return model

    run = rider().simulate("5 s")
    assert run.statistics["method"] == "dopri5, then rodas4"
    assert run.statistics["steps"] < 6000  # instead of two million
    tight = rider().simulate("5 s", method="rodas4", rtol=1e-9)
    assert [e.description for e in run.events] == [e.description for e in tight.events]
    assert_allclose(run["spring.x"].final.magnitude, tight["spring.x"].final.magnitude, rtol=1e-5)


@pytest.mark.parametrize("rtol", [1e-3, 10 ** (-43 / 12), 10 ** (-44 / 12), 1e-5])
def test_that_a_run_is_stiff_does_not_hang_on_the_last_step_before_a_look(rtol, monkeypatch):
    monkeypatch.setattr(auto_choice, "REACH", np.inf)  # the run begins with explicit steps
    model = cylinder()  # steps at the bound of stability wiggle, and one may be far longer
    auto, implicit = (model.simulate("2 s", method=name, rtol=rtol).statistics
                      for name in ("auto", "rodas4"))
    assert auto["method"] == "dopri5, then rodas4"
    assert auto["steps"] < 5 * implicit["steps"]


class Settling(Component):
    """Follows sin(w t), from 1e4 times its rate after the start on ever more slowly."""

    frequency, fading = Parameter("1 rad/s"), Parameter("0 1/s")
    y = Variable("1", "0", priority="high", nominal="1")

    def equations(self):
        to_follow, w = sin(self.frequency * time), self.frequency
        rate = quantity("2e4 1/s") * blocks.exp(-self.fading * time) + quantity("1 1/s")
        yield der(self.y) == w * cos(w * time) - rate * (self.y - to_follow) * (1 + self.y**2)


@pytest.mark.parametrize(("frequency", "fading", "methods", "most"), [
    (1, 0, "rodas4", 0.1),  # explicit steps would be 60,000
    (300, 50, "rodas4, then dopri5", 1.5),  # what settled fast does not do so for long
])  # fmt: skip
def test_a_run_that_mostly_settles_at_its_start_begins_with_implicit_steps(
        frequency, fading, methods, most):
    model = alone(Settling(frequency=quantity(frequency, "rad/s"), fading=quantity(fading, "1/s")))
    run = model.simulate("10 s", rtol=1e-5)
    assert run.statistics["method"] == methods
    t = np.linspace(0, 10, 301)
    assert_allclose(run["part.y"].at(quantity(t, "s")).m, np.sin(frequency * t), atol=1e-4)
    explicit = model.simulate("10 s", rtol=1e-5, method="dopri5")
    assert run.statistics["steps"] < most * explicit.statistics["steps"]


def test_implicit_steps_that_are_no_longer_are_given_up_again(monkeypatch):
    trials = iter([np.inf, np.inf])  # the first one promises more than comes of it
    monkeypatch.setattr(RunningMethod, "tried", lambda *_: next(trials, 0.0))
    model = wired(  # each pulse switches on a current that settles within 3 us
        "motor on pulses", "ground.V source.n diode.p motor.n", "source.p switch.p",
        "switch.n diode.n motor.p", "pulse.y switch.vT", "motor.R rotor.I friction.R",
        "motor.C friction.C frame.W", source=el.DCVoltageSource(voltage="12 V"),
        switch=el.Switch(model="ideal"), diode=el.Diode(model="ideal"), motor=DCMotor(),
        pulse=Pulse(period="1 ms", width=0.5), rotor=Inertia(inertia="1e-4 kg*m^2"),
        friction=RotationalFriction(coulomb_torque="1 mN*m", breakaway_torque="1.2 mN*m"),
        ground=el.ElectricalReference(), frame=RotationalReference())
    run, explicit = (model.simulate("0.3 s", method=name) for name in ("auto", "dopri5"))
    assert run.statistics["method"] == "dopri5, then rodas4, then dopri5"
    assert run.statistics["steps"] < 1.05 * explicit.statistics["steps"]
    tight = model.simulate("0.3 s", method="dopri5", rtol=1e-9)
    assert_allclose(run["rotor.w"].final.m, tight["rotor.w"].final.m, rtol=1e-6)


def test_a_network_in_which_everyone_holds_everyone_swings_as_its_closed_form():
    ends = np.array([(i, k) for i in range(40) for k in range(i)])
    at = np.linspace(-1.0, 1.0, 40)
    apart = quantity(at[ends[:, 0]] - at[ends[:, 1]], "m")
    model = wired("everyone holds everyone", masses=tr.Mass(count=40, mass="2 kg"),
                  springs=tr.Spring(count=780, stiffness="5 N/m", x=apart), ground=tr.Reference())
    model.connect(model.springs.R, model.masses[ends[:, 0]].M)
    model.connect(model.springs.C, model.masses[ends[:, 1]].M)
    rate = np.sqrt(40 * 5.0 / 2.0)
    run = model.simulate(quantity(2.0 / rate, "s"), method="rodas4", rtol=1e-7)
    assert_allclose(run["masses.v"].final.m, -rate * np.sin(2.0) * at, atol=1e-5 * rate)


def test_what_it_cannot_run_it_runs_in_python():
    model = wired("blocks on each other", "friction.R masses.M", "friction[1:].C masses[:-1].M",
                  "friction[0].C spring.C ground.V", "spring.R masses[509].M",
                  masses=tr.Mass(count=510), spring=tr.Spring(), ground=tr.Reference(),
                  friction=tr.TranslationalFriction(count=510, law="coulomb"))
    run = model.simulate("10 ms", method="rodas4")
    assert "in Python, as more than 500 states" in run.statistics.why
    with pytest.raises(blocks.UnknownName, match="Did you mean 'rodas4'"):
        block_on_belt().simulate("1 s", method="rodas")


def test_the_polynomial_between_the_ends_of_a_step_has_an_error_of_fourth_order():
    t, x, part = 0.3, 1.2, 0.37  # of x' = sin t - x^2

    def slope(t, x):
        return np.sin(t) - x**2

    def error(h):
        rows = np.zeros((len(ROWS), 1))
        couplings, point = [(), *rodas.COUPLINGS], x
        for j, moment in enumerate((0.0, *rodas.STAGE_TIMES)):
            stages = rows[1 : j + 1, 0]
            point = x + np.dot(rodas.POINTS[j - 1][:j], stages) if j else x
            right = slope(t + moment * h, point) + h * rodas.TIME_WEIGHTS[j] * np.cos(t)
            right += np.dot(couplings[j], stages) / h
            rows[j + 1] = right / (1 / (rodas.GAMMA * h) + 2 * x)
        rows[NEW] = point + rows[6]
        out = np.empty(1)
        rosenbrock_polynomial(rows, part, np.array([x]), out)
        exact = solve_ivp(slope, (t, t + part * h), [x], rtol=1e-12, atol=1e-14).y[0, -1]
        return abs(out[0] - exact)

    assert error(0.1) < 1e-5
    assert error(0.05) < error(0.1) / 10  # order 3 and a half, between 8 and 16


@pytest.mark.parametrize("end", ["0.7 s", "0.8 s", "1.2 s"])
def test_no_first_step_strides_over_a_stop(end):
    """In free flight by a force that grows evenly no step has an error, nor do stages beyond it."""
    model = wired("bounce", "body.M stop.R force.R", "wall.V stop.C force.C",
                  body=tr.Mass(v="1.5 m/s"), wall=tr.Reference(),
                  stop=tr.HardStop(upper_bound="0.3 m", lower_bound="-10 m"),
                  force=tr.ForceSource(force=tr.table(["0 s", "2 s"], ["0 N", "-40 N"])))
    result, other = (model.simulate(end, method=m, rtol=1e-8) for m in ("rodas4", "Radau"))
    assert_allclose(result["body.v"].final.m, other["body.v"].final.m, rtol=1e-6)
    assert [e.description for e in result.events] == [e.description for e in other.events]
    assert abs(result.energy().residual.m) < 1e-6


def test_a_steep_ladder_at_a_tight_tolerance_is_followed_in_steps_of_its_source():
    """Time constants are a millionth of the source's period, whose values go through zero."""
    n, omega, end = 1000, 2e3 * np.pi, 0.006
    result = ladder(n).simulate(quantity(end, "s"), method="rodas4", rtol=1e-9)
    lines = 1000 / n, 1e-6 / n  # ohm and farad a cell
    admittance = 1j * omega * lines[1]
    impedance = 1 / admittance  # of the last cell, seen from its node
    gains = []
    for _ in range(n):
        gains.append(impedance / (impedance + lines[0]))
        impedance = 1 / (admittance + 1 / (impedance + lines[0]))
    voltages = 5 * np.cumprod(gains[::-1])
    assert_allclose(result["capacitors.v"].final.to("V").m,
                    (voltages * np.exp(1j * omega * end)).imag, atol=2e-6)
    assert result.statistics["steps"] < 3000  # the transient is left to some 5 exp(-15) V
