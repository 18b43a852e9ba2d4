"""Runs begin whatever rounding a velocity starts with; what stands still tells no length."""

import numpy as np
import pytest
from benches import wired
from benches.friction import dry, push
from scipy.linalg import expm
from scipy.optimize import brentq

from blocks import Model, maximum, quantity, sin
from library.electrical import Capacitor, ElectricalReference, Resistor, TwoPort
from library.translational import Damper, Mass, Reference, Spring
from library.translational import TwoPort as BetweenNodes


class OneWay(BetweenNodes):
    """A damper that acts in one direction only."""

    def equations(self):
        yield self.f == quantity("30 N*s/m") * maximum(self.v, 0)


TRACES = [0.0, 1e-19, 1e-18, 2e-17, 4e-16, 1e-14, 1e-12]  # m/s


def sled(trace, drag="1 N*s/m"):
    """A body with another one at 1 m/s ahead, which pulls it along through a damper."""
    model = wired("sled", "tug.M damper.R", "damper.C body.M drag.R",
                  body=Mass(mass="1 kg", v=quantity(trace, "m/s")), damper=Damper(damping=drag),
                  tug=Mass(mass="1 kg", v="1 m/s"), drag=Damper(), ground=Reference())
    model.drag.damping = "1 N*s/m"
    model.connect(model.drag.C, model.ground.V)
    return model


def exact(t):
    """Both velocities after ``t``: of v' = -A v, with A = [[2, -1], [-1, 1]]."""
    rates, ways = np.linalg.eigh([[2.0, -1.0], [-1.0, 1.0]])
    return ways @ (np.exp(-rates * t) * (ways.T @ [0.0, 1.0]))


@pytest.mark.parametrize("method", ["auto", "dopri5", "DOP853", "rodas4", "Radau"])
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


class SquareLoad(TwoPort):
    """Takes 0.1 mA at 1 V, and four times as much at 2 V."""

    def equations(self):
        yield self.i == quantity("1e-4 A/V^2") * self.v**2


@pytest.mark.parametrize("method", ["auto", "rodas4", "Radau"])
def test_what_dies_out_at_once_is_followed_in_a_run_of_a_month(method):
    """A store of 1000 F at 2 V fills 1 nF through 1 ohm, and runs down by dv/dt = -1e-7 v^2."""
    model = wired("store", "fast.p lead.p", "lead.n store.p load.p",
                  "earth.V fast.n store.n load.n",
                  fast=Capacitor(capacitance="1 nF", v="1 V"),
                  store=Capacitor(capacitance="1000 F", v="2 V"), lead=Resistor(resistance="1 ohm"),
                  load=SquareLoad(), earth=ElectricalReference())
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
    model.ground, joints = Reference(), []
    for i, (speed, rate) in enumerate([(-0.5, 1.3), (0.0, 2.0)]):
        body = model.add(f"b{i}", Mass(mass="0.5 kg", v=quantity(speed, "m/s")))
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
                  body=Mass(mass="1 kg", v="1 m/s"), spring=Spring(stiffness="100 N/m"),
                  damper=OneWay(), ground=Reference())
    run = model.simulate("0.3 s", method=method, rtol=1e-8)
    v, x = expm(0.3 * np.array([[0.0, -100.0], [1.0, -100.0 / 30.0]])) @ [1.0, 0.0]
    assert run["body.v"].final.magnitude == pytest.approx(v, rel=1e-5)
    assert run["spring.x"].final.magnitude == pytest.approx(x, rel=1e-5)
