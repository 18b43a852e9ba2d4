"""Motions of rounding size: what is far below its tolerance begins, crosses nothing and is told."""

import warnings
from collections import Counter

import numpy as np
import pytest
from benches import few, wire, wired
from benches.friction import dry, push
from benches.translational import OneWay
from numpy.testing import assert_allclose
from scipy.integrate import solve_ivp
from scipy.linalg import expm
from scipy.optimize import brentq

import blocks
import library.electrical as el
import library.translational as tr
from blocks import Component, Discrete, Model, NominalWarning, Variable, abs_, der, quantity, sin
from library.electrical import TwoPort as Element
from library.electromechanical import TranslationalElectromechanicalConverter
from library.signal import Backlash, Relay


# -- far below its nominal values -------------------------------------------------------------
def resonator(force="1 nN", spring=None):
    """1 ug on 0.4 N/m, which a constant force swings by nanometres."""
    return wired("resonator", "push.R spring.R block.M", "push.C spring.C ground.V",
                 block=tr.Mass(mass="1 ug"), spring=spring or tr.Spring(stiffness="0.4 N/m"),
                 push=tr.ForceSource(force=force), ground=tr.Reference())


def swing(t):
    """Its closed form: the source pulls R towards C."""
    return 1e-9 / 0.4 * (1 - np.cos(np.sqrt(0.4 / 1e-9) * t))


def error(run):
    t = np.linspace(0, 1e-2, 400)
    return np.abs(np.abs(run["spring.x"].at(quantity(t, "s")).m) - swing(t)).max() / 5e-9


def test_a_swing_of_nanometres_where_metres_are_expected_is_told():
    model = resonator()
    with pytest.warns(NominalWarning, match=r"resonator: spring\.x never exceeds 5 nm") as told:
        model.simulate("10 ms", method="dopri5")["spring.x"].to("nm")
    assert told[0].filename == __file__
    assert "may be off by 10 nm" in str(told[0].message)
    assert "model.nominal_values('5 nm')" in str(told[0].message)


@pytest.mark.parametrize("how", ["nominal", "atol"])
def test_its_advice_gives_the_closed_form(how):
    model = resonator()
    options = {"atol": ["1 fm", "1 pm/s"]} if how == "atol" else {}
    if how == "nominal":
        model.nominal_values("5 nm")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        run = model.simulate("10 ms", method="dopri5", rtol=1e-7, **options)
        assert run["spring.x"].max().m > 0
    assert error(run) < 1e-4


def test_a_small_machine_beside_a_usual_circuit_is_told():
    model = resonator("0 N")
    wire(model, "supply.p wire.p", "wire.n coil.p", "coil.n supply.n earth.V", "coil.R block.M",
         "coil.C ground.V",
         coil=TranslationalElectromechanicalConverter(constant="1 nN/A"),
         supply=el.DCVoltageSource(voltage="1 V"), wire=el.Resistor(resistance="1 ohm"),
         earth=el.ElectricalReference())
    with pytest.warns(NominalWarning, match=r"spring\.x never exceeds"):
        model.simulate("10 ms", method="rodas4")["coil.f"].max()


def test_a_charge_of_picoamperes_is_told():
    model = wired("integrator", "source.p store.n earth.V", "source.n store.p",
                  source=el.DCCurrentSource(current="0.1 pA"), earth=el.ElectricalReference(),
                  store=el.Capacitor(capacitance="1 uF"))
    with pytest.warns(NominalWarning, match=r"store\.\w+ never exceeds 100 nV"):
        model.simulate("1 s", method="BDF").table("store.v")


class InMillimetres(tr.TwoPort):
    """A spring that counts in mm."""

    x = Variable("mm", "0 mm", priority="high")

    def equations(self):
        yield der(self.x) == self.v
        yield self.f == quantity("0.4 N/m") * self.x


def test_sizes_are_told_in_any_unit():
    model = resonator(spring=InMillimetres())
    with pytest.warns(NominalWarning, match=r"spring\.x never exceeds 5 nm, .* off by 10 nm"):
        model.simulate("10 ms", method="dopri5")["block.v"].max()


def at_rest_on_friction():
    return wired("creeps", "block.M rub.R push.R spring.R hold.R",
                 "ground.V rub.C push.C spring.C hold.C",
                 block=tr.Mass(mass="1 kg"), ground=tr.Reference(),
                 rub=tr.TranslationalFriction(law="simscape", coulomb_force="10 N",
                                              breakaway_force="12 N"),
                 push=tr.ForceSource(force="1 mN"), spring=tr.Spring(stiffness="1 MN/m"),
                 hold=tr.ForceSource(force="3 N"))


def a_wave_in_a_chain():
    model = wired("chain", "masses[:-1].M springs.R dampers.R", "masses[1:].M springs.C dampers.C",
                  masses=tr.Mass(count=60),
                  springs=tr.Spring(count=59, stiffness="1 kN/m"),
                  dampers=tr.Damper(count=59, damping="1 N*s/m"))
    model.masses.v = quantity(np.eye(60)[0], "m/s")
    return model


def nothing_moves():
    return resonator("0 N")


@pytest.mark.parametrize(("make", "method", "path"), [
    (at_rest_on_friction, "auto", "block.v"), (at_rest_on_friction, "dopri5", "spring.x"),
    (a_wave_in_a_chain, "dopri5", "masses.v"), (nothing_moves, "dopri5", "spring.x")])  # fmt: skip
def test_what_creeps_rests_or_has_not_begun_is_not(make, method, path):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert np.isfinite(make().simulate("20 ms", method=method)[path].m).all()


# -- where a run begins -----------------------------------------------------------------------
TRACES = [0.0, 1e-19, 1e-18, 2e-17, 4e-16, 1e-14, 1e-12]  # m/s


def sled(trace, drag="1 N*s/m"):
    """A body with another one at 1 m/s ahead, which pulls it along through a damper."""
    model = wired("sled", "tug.M damper.R", "damper.C body.M drag.R",
                  body=tr.Mass(mass="1 kg", v=quantity(trace, "m/s")),
                  damper=tr.Damper(damping=drag), tug=tr.Mass(mass="1 kg", v="1 m/s"),
                  drag=tr.Damper(), ground=tr.Reference())
    model.drag.damping = "1 N*s/m"
    model.connect(model.drag.C, model.ground.V)
    return model


def exact(t):
    """Both velocities after ``t``: of v' = -A v, with A = [[2, -1], [-1, 1]]."""
    rates, ways = np.linalg.eigh([[2.0, -1.0], [-1.0, 1.0]])
    return ways @ (np.exp(-rates * t) * (ways.T @ [0.0, 1.0]))


@few(4, "method", ["auto", "dopri5", "Radau", "DOP853", "rodas4"])
def test_a_run_begins_with_any_trace_of_a_velocity(method):
    model = sled(0.0)
    for trace in TRACES:
        model.body.v = quantity(trace, "m/s")
        for duration in (1.0, 30.0, 1000.0):
            run = model.simulate(quantity(duration, "s"), method=method, rtol=1e-6)
            ends = [run[f"{name}.v"].si[-1] for name in ("body", "tug")]
            np.testing.assert_allclose(ends, exact(duration), rtol=0, atol=1e-5)


def test_so_do_runs_of_a_study():
    study = sled(0.0).sweep({"body.v": quantity(TRACES, "m/s")}, "30 s", rtol=1e-11,
                            outputs=["final(body.v)", "final(tug.v)"])
    for name, end in zip(("body", "tug"), exact(30.0), strict=True):
        np.testing.assert_allclose(study[f"final({name}.v)"].values, end, rtol=0, atol=1e-10)


class SquareLoad(Element):
    """Takes 0.1 mA at 1 V, and four times as much at 2 V."""

    def equations(self):
        yield self.i == quantity("1e-4 A/V^2") * self.v**2


@pytest.mark.parametrize("method", ["auto", "rodas4", "Radau"])
def test_what_dies_out_at_once_is_followed_in_a_run_of_a_month(method):
    """A store of 1000 F at 2 V fills 1 nF through 1 ohm, and runs down by dv/dt = -1e-7 v^2."""
    model = wired("store", "fast.p lead.p", "lead.n store.p load.p",
                  "earth.V fast.n store.n load.n",
                  fast=el.Capacitor(capacitance="1 nF", v="1 V"),
                  store=el.Capacitor(capacitance="1000 F", v="2 V"),
                  lead=el.Resistor(resistance="1 ohm"), load=SquareLoad(),
                  earth=el.ElectricalReference())
    run = model.simulate("30 day", method=method, rtol=1e-7)
    exact = 1 / (1 / 2 + 1e-7 * 30 * 86400)
    np.testing.assert_allclose(run["store.v"].final.m, exact, rtol=1e-5)
    found = run["fast.v"].at(quantity([1.0, 5.0], "ns")).m
    np.testing.assert_allclose(found, 2 - np.exp([-1.0, -5.0]), rtol=0, atol=1e-5)


def impulse(begin, end, *pushes):
    """Of 3 N sin(rate t + 1) for every rate, from one time to another."""
    return sum(3 / rate * (np.cos(rate * begin + 1) - np.cos(rate * end + 1)) for rate in pushes)


@pytest.mark.parametrize("method", ["dopri5", "DOP853", "rodas4"])
def test_a_run_goes_on_from_velocities_that_an_event_leaves_as_rounding(method):
    """A body is braked to rest beside another one at rest, and both are pushed on together.

    Both weigh 0.5 kg and are pushed by 3 N sin(1.3 t + 1) and 3 N sin(2 t + 1). Until the first
    one, which begins with -0.5 m/s, stops, frictions of 1 N at the other and twice 1 N at the
    ground brake it as well; then the other's 2 N and its own twice 1 N hold both back.
    """
    model = Model("two bodies")
    model.ground, joints = tr.Reference(), []
    for i, (speed, rate) in enumerate([(-0.5, 1.3), (0.0, 2.0)]):
        body = model.add(f"b{i}", tr.Mass(mass="0.5 kg", v=quantity(speed, "m/s")))
        joints.append(body.M)
        part = model.add(f"p{i}", push(lambda t, w=rate: 3 * sin(w * t + 1)))
        model.connect(body.M, part.R)
        model.connect(part.C, model.ground.V)
    ends = [(*joints, 1.0, 1.0), (joints[0], model.ground.V, 1.0, 1.5),
            (joints[1], model.ground.V, 2.0, 2.0), (joints[0], model.ground.V, 1.0, 1.0)]
    for i, (one, other, kinetic, static) in enumerate(ends):
        friction = model.add(f"f{i}", dry(kinetic, static))
        model.connect(one, friction.R)
        model.connect(friction.C, other)
    rest = brentq(lambda t: -0.25 + impulse(0, t, 1.3) + 3 * t, 0.0, 0.1, xtol=1e-15)
    for end in (0.9, 1.5, 4.0):
        for rtol in (1e-6, 1e-10, 1e-12):
            run = model.simulate(quantity(end, "s"), method=method, rtol=rtol)
            exact = impulse(rest, 0.9, 1.3, 2.0) - 4 * (0.9 - rest)
            both = [run[f"b{i}.v"].at("0.9 s").m for i in (0, 1)]
            np.testing.assert_allclose(both, exact, rtol=0, atol=max(10 * rtol, 1e-11))


@pytest.mark.parametrize("method", ["auto", "dopri5", "DOP853", "rodas4", "Radau", "BDF"])
def test_a_run_begins_where_a_law_bends(method):
    """m v' = -k x and x' = v - k x / d from x = 0, as long as the spring is pressed."""
    model = wired("one way", "body.M spring.R", "spring.C damper.R", "damper.C ground.V",
                  body=tr.Mass(mass="1 kg", v="1 m/s"), spring=tr.Spring(stiffness="100 N/m"),
                  damper=OneWay(), ground=tr.Reference())
    run = model.simulate("0.3 s", method=method, rtol=1e-8)
    v, x = expm(0.3 * np.array([[0.0, -100.0], [1.0, -100.0 / 30.0]])) @ [1.0, 0.0]
    assert run["body.v"].final.magnitude == pytest.approx(v, rel=1e-5)
    assert run["spring.x"].final.magnitude == pytest.approx(x, rel=1e-5)


# -- what crosses within dust -----------------------------------------------------------------
STIFFNESS, STRENGTH = 1e5, 0.1  # of the law
LAWS = {"dahl": {"coulomb_force": "0.1 N"},
        "lugre": {"coulomb_force": "0.1 N", "breakaway_force": "0.15 N"}}


def chain(n, part):
    """Masses of 1 kg with springs of 1 kN/m and dampers of 1 N s/m, pushed at the last one."""
    m = wired("chain", "springs.R dampers.R masses.M", "springs[1:].C dampers[1:].C masses[:-1].M",
              "springs[0].C dampers[0].C ground.V push.C", "push.R masses[-1].M",
              ground=tr.Reference(), masses=tr.Mass(count=n),
              springs=tr.Spring(count=n, stiffness="1 kN/m"),
              dampers=tr.Damper(count=n, damping="1 N*s/m"),
              push=tr.ForceSource(force=lambda t: quantity("1 N") * sin(quantity("10 rad/s") * t)))
    if part in LAWS:
        wire(m, "rub.R masses.M", "rub.C ground.V",
             rub=tr.TranslationalFriction(count=n, law=part, **LAWS[part]))
        return m
    wire(m, "sensor.R masses.M", "sensor.C ground.V", sensor=tr.MotionSensor(count=n))
    m.block = (Backlash(count=n, width="1 mm") if part == "backlash" else
               Relay(count=n, switch_on="0.1 mm", switch_off="-0.1 mm"))
    m.connect(m.sensor.P, m.block.u)
    return m


def by_hand(n, end):
    """Positions and speeds of the chain with Dahl's friction by SciPy, and when speeds turn."""
    def slope(t, y):
        x, v, f = y.reshape(3, n)
        pull = np.append(1000 * np.diff(x, prepend=0) + np.diff(v, prepend=0), np.sin(10 * t))
        return np.concatenate([v, np.diff(pull) - f, STIFFNESS * (v - np.abs(v) * f / STRENGTH)])

    return solve_ivp(slope, (0, end), np.zeros(3 * n), method="LSODA", rtol=1e-9, atol=1e-13)


@pytest.mark.parametrize("method", ["auto", "dopri5", "rodas4", "Radau"])
def test_a_push_through_masses_on_dahls_friction_switches_where_it_has_arrived(method):
    """Two conditions tell of each reversal, of being set in motion one."""
    n, end = 12, 0.25
    run = chain(n, "dahl").simulate(f"{end} s", method=method)
    v = by_hand(n, end).y[n : 2 * n]
    assert_allclose(run["masses.v"].final.m, v[:, -1], rtol=0, atol=1e-6)
    told, most = Counter(event.component for event in run.events), 0
    for k in range(n):
        seen = v[k][np.abs(v[k]) > 1e-6]  # hundred absolute tolerances
        turns = np.count_nonzero(np.diff(np.sign(seen)))
        assert told[f"rub[{k}]"] >= turns
        most += 2 * turns + 3
    assert run.statistics["events"] <= most


def test_a_hundred_masses_on_dahls_friction_have_few_events_each():
    assert chain(100, "dahl").simulate("0.3 s").statistics["events"] <= 300


@pytest.mark.parametrize("method", ["auto", "rodas4"])
def test_unknowns_of_a_loop_beside_the_chain_add_no_events(method):
    m = chain(12, "dahl")
    alone = m.simulate("0.3 s", method=method).statistics["events"]
    wire(m, "source.p resistor.p", "resistor.n diode.p", "diode.n source.n earth.V",
         earth=el.ElectricalReference(), source=el.DCVoltageSource(voltage="1 V"),
         resistor=el.Resistor(), diode=el.Diode(model="exponential"))
    assert m.simulate("0.3 s", method=method).statistics["events"] <= 1.2 * alone <= 60


@pytest.mark.parametrize(("part", "method"), [
    ("lugre", "auto"), ("backlash", "rodas4"), ("relay", "auto"), ("relay", "rodas4")])
def test_masses_that_nothing_has_reached_add_no_events(part, method):
    events = [chain(n, part).simulate("0.3 s", method=method).statistics["events"]
              for n in (20, 40)]
    assert events[0] == events[1] <= 20


class Oscillating(Component):
    """A motion beside one that counts, which its sign may change."""

    x, v = Variable("m", "1e-20 m", priority="high"), Variable("m/s", "0 m/s", priority="high")
    large, side = Variable("m", "1 m", priority="high"), Variable("")

    def equations(self):
        yield der(self.x) == self.v
        yield der(self.v) == -quantity("1e4 1/s^2") * self.x
        yield self.side == blocks.sign(self.x)
        yield der(self.large) == self.speed()

    def speed(self):
        return quantity("0.5 m/s") + quantity("1 m/s") * self.x / quantity("1 m") * self.side


@pytest.mark.parametrize("method", ["auto", "rodas4", "Radau"])
def test_what_swings_within_dust_switches_nothing(method):
    run = wired("dust", part=Oscillating()).simulate("2 s", method=method, max_step="10 ms")
    assert run.statistics["events"] <= 2  # the first crossing


@few(2, "method", ["auto", "Radau", "rodas4"])
def test_what_swings_by_its_tolerance_switches_as_ever(method):
    """200/(2 pi) periods of 100 rad/s over 2 s, two zeros each."""
    run = wired("no dust", part=Oscillating(x="1 um")).simulate("2 s", method=method, atol=1e-12)
    times = np.unique([event.time.to("s").m for event in run.events])  # sign is two relations
    assert_allclose(times, (np.arange(64) + 0.5) * np.pi / 100, atol=2e-5)


class Counting(Oscillating):
    """The same that moves while the other one is on its positive side."""

    def speed(self):
        return blocks.where(self.x > 0, quantity("1 m/s"), quantity("0 m/s"))


@few(2, "method", ["auto", "Radau", "rodas4"])
def test_the_least_motion_crosses_where_its_sides_lead_elsewhere(method):
    """It is positive for a quarter of a period, and for every other half of one after that."""
    model = wired("counted", part=Counting(large="0 m"))
    run = model.simulate(quantity(20.25 * np.pi / 50, "s"), method=method, max_step="1 ms")
    assert run["part.large"].final.m == pytest.approx(10.25 * np.pi / 50, rel=1e-3)


@pytest.mark.parametrize("method", ["auto", "rodas4", "RK45"])
@pytest.mark.parametrize("more", [1e-3, 1e-4, 1e-5, 1e-6])
def test_what_slides_less_than_its_tolerance_before_it_sticks_does_stick(more, method):
    """A load a little beyond what friction bears falls: v = t (t - more) comes to rest at once,
    and the other way the body slides when the load has become 1 N."""
    model = Model("released")
    model.body, model.floor = tr.Mass(mass="1 kg"), tr.Reference()
    model.rub = dry(1)
    model.load = tr.ForceSource(force=lambda t: quantity(-1 - more, "N") + quantity("2 N/s") * t)
    model.connect(model.body.M, model.rub.R, model.load.R)
    model.connect(model.rub.C, model.load.C, model.floor.V)
    run = model.simulate("1.5 s", method=method)
    assert [event.description for event in run.events] == ["sticks", "slides forward"]
    assert_allclose([event.time for event in run.events], [more, 1 + more / 2], atol=2e-6)
    left = 0.5 - more / 2
    assert_allclose(run["body.v"].final.m, left**2, rtol=1e-5)


@few(3, "rtol", [1e-6, 1e-9])
@pytest.mark.parametrize("method", ["auto", "dopri5", "rodas4", "DOP853", "Radau", "RK23", "ode45"])
@pytest.mark.parametrize(("start", "at", "power"), [
    ("0", 0, 8), ("0", 0, 10), ("0", 0, 12), ("-1", 1, 6), ("-1e4", 1, 10)])
def test_what_crosses_flatly_crosses_once(start, at, power, method, rtol):
    """x rises all the time, by |t - t0|^n: between the ends of a step alone it is seen to fall."""
    size = quantity(abs(float(start)) or 1.0, "")

    class Flat(Component):
        x, n = Variable("", start, priority="high"), Discrete("", "0")

        def equations(self):
            away = abs_(blocks.time / quantity("1 s") - at)
            yield der(self.x) == size * power * away ** (power - 1) / quantity("1 s")
            yield blocks.when(self.x > 0, {self.n: self.n + 1})

    run = wired("flat", part=Flat()).simulate("2 s", method=method, rtol=rtol)
    assert run["part.n"].final.m == 1
