"""Constraints and nonlinear loops in machine code: pendulums, linkages, dampers in series."""

import numpy as np
import pytest
from benches import wire, wired
from numpy.testing import assert_allclose
from scipy.integrate import solve_ivp
from scipy.special import ellipk

from blocks import (
    Component,
    Model,
    Parameter,
    SimulationError,
    Target,
    Variable,
    abs_,
    cos,
    der,
    quantity,
    sin,
    time,
    where,
)
from library.isothermal_liquid import ConstantVolumeChamber, FlowResistance
from library.translational import Mass, Reference, Spring, TranslationalFriction, TwoPort

G = 9.81


class Pendulum(Component):
    """1 kg on a rod of 1 m, in Cartesian coordinates; its pivot may shake, a spring may stop it."""

    swing, stop = Parameter("0 m", doc="amplitude of the pivot"), Parameter("2 m")
    x, y = Variable("m"), Variable("m")
    vx, vy = Variable("m/s"), Variable("m/s")
    pull, energy = Variable("N/m"), Variable("J")

    def equations(self):
        g, m, k = quantity("9.81 m/s^2"), quantity("1 kg"), quantity("500 N/m")
        pivot = self.swing * sin(quantity("3 rad/s") * time)
        over = where(self.x > self.stop, self.x - self.stop, quantity("0 m"))
        yield der(self.x) == self.vx
        yield der(self.y) == self.vy
        yield m * der(self.vx) == -self.pull * (self.x - pivot) - k * over
        yield m * der(self.vy) == -self.pull * self.y - m * g
        yield (self.x - pivot) ** 2 + self.y**2 == quantity("1 m^2")
        yield self.energy == (m * (self.vx**2 + self.vy**2) + k * over**2) / 2 + m * g * self.y


def pendulum(angle=np.pi / 2, speed=0.0, **values):
    """Let go at an angle from straight down with an angular speed."""
    model = Model("pendulum")
    x, y = np.sin(angle), -np.cos(angle)
    model.bob = Pendulum(x=quantity(x, "m"), y=Target(quantity(y, "m"), priority="low"), **values)
    if abs(y) > abs(x):
        model.bob.vx = quantity(-y * speed, "m/s")
    else:
        model.bob.vy = quantity(x * speed, "m/s")
    return model


def places(run, seconds):
    return tuple(run[f"bob.{n}"].at(quantity(seconds, "s")).m for n in ("x", "y"))


def test_a_pendulum_swings_with_the_period_of_the_elliptic_integral():
    period = 4 * ellipk(0.5) / np.sqrt(G)
    run = pendulum().simulate("20 s", method="dopri5", rtol=1e-11)
    assert run.statistics.method == "dopri5"
    for k in range(1, 9):
        x, y = places(run, k * period)
        assert_allclose([x, y], [1, 0], atol=3e-8)
    assert_allclose(run["bob.pull"].at(quantity(period / 4, "s")).m, 3 * G, rtol=1e-9)
    assert np.ptp(run["bob.energy"].m) < 1e-7


def test_a_pendulum_that_turns_over_stays_on_its_circle_at_every_time():
    speed = 8.0  # at the bottom; over the top from 2 sqrt(9.81) = 6.26 1/s on
    run = pendulum(0.0, speed).simulate("30 s", method="dopri5", rtol=1e-11)
    t = np.random.default_rng(0).uniform(0, 30, 400)
    x, y = places(run, t)
    assert_allclose(np.hypot(x, y), 1, atol=1e-14)
    assert_allclose(run["bob.energy"].m, speed**2 / 2 - G, rtol=1e-7)
    modulus = 4 * G / speed**2  # a whole turn takes 4 K(k^2)/speed, k^2 = 4 g/(l speed^2)
    turn = 4 * ellipk(modulus) / speed
    x, y = places(run, turn * np.arange(1, int(30 / turn)))
    assert_allclose(x, 0, atol=1e-6)
    assert_allclose(y, -1, atol=1e-9)


def test_a_shaken_pivot_moves_the_pendulum_as_its_angle_does():
    def angle(t, y):
        push = 0.3 * 9 * np.sin(3 * t)  # the pivot's acceleration, reversed
        return y[1], -G * np.sin(y[0]) + push * np.cos(y[0])

    model = pendulum(0.5, swing="0.3 m")
    model.bob.vx = quantity(0.9, "m/s")  # that of the pivot: the rod does not turn
    run = model.simulate("6 s", method="dopri5", rtol=1e-11)
    exact = solve_ivp(angle, (0, 6), [0.5, 0], method="DOP853", rtol=1e-12, atol=1e-12,
                      t_eval=[1, 2.5, 6])  # fmt: skip
    x, y = places(run, exact.t)
    assert_allclose(x, 0.3 * np.sin(3 * exact.t) + np.sin(exact.y[0]), atol=1e-8)
    assert_allclose(y, -np.cos(exact.y[0]), atol=1e-8)


@pytest.mark.parametrize("duration", ["3 s", pytest.param("5 s", marks=pytest.mark.slow)])
def test_an_event_of_a_tied_state_is_located(duration):
    runs = [pendulum(stop="0.5 m").simulate(duration, method=m, rtol=1e-12)
            for m in ("dopri5", "DOP853")]  # fmt: skip
    fast, slow = ([e.time for e in run.events] for run in runs)
    assert len(fast) > 4
    assert_allclose(fast, slow, rtol=1e-9)
    assert_allclose(runs[0]["bob.x"].at(quantity(fast, "s")).m, 0.5, atol=1e-12)
    assert np.ptp(runs[0]["bob.energy"].m) < 1e-7


class FourBar(Component):
    """Crank 1, coupler 3, rocker 2.5, base 2.5 (in m), driven by a torque-free crank's speed."""

    theta, phi, psi = Variable("rad"), Variable("rad"), Variable("rad")
    turned = Variable("rad")

    def equations(self):
        a, b, c, d = (quantity(v, "m") for v in (1.0, 3.0, 2.5, 2.5))
        yield der(self.theta) == quantity("2 rad/s")
        yield a * cos(self.theta) + b * cos(self.phi) == d + c * cos(self.psi)
        yield a * sin(self.theta) + b * sin(self.phi) == c * sin(self.psi)
        yield der(self.turned) == der(self.psi)


def test_a_driven_linkage_stays_on_its_branch():
    model = Model("linkage")
    model.bar = FourBar(theta="0 rad", phi=Target("1 rad", priority="low"),
                        psi=Target("1.5 rad", priority="low"), turned="0 rad")  # fmt: skip
    run = model.simulate("20 s", method="dopri5", rtol=1e-9)
    t = quantity(np.linspace(0, 20, 301), "s")
    theta, phi, psi = (run[f"bar.{n}"].at(t).m for n in ("theta", "phi", "psi"))
    gap = np.exp(1j * theta) + 3 * np.exp(1j * phi) - 2.5 - 2.5 * np.exp(1j * psi)
    assert_allclose(np.abs(gap), 0, atol=1e-13)
    # rocker's angle by the law of cosines: from the base's diagonal to the crank's end
    reach = np.exp(1j * theta) - 2.5
    inner = np.arccos((2.5**2 + np.abs(reach) ** 2 - 9) / (5 * np.abs(reach)))
    assert_allclose(np.exp(1j * psi), np.exp(1j * (np.angle(reach) - inner)), atol=1e-12)
    assert_allclose(run["bar.turned"].at(t).m, psi - psi[0], atol=1e-6)


class Turbulent(TwoPort):
    """f = drag v |v|."""

    drag = Parameter("2 N*s^2/m^2")

    def equations(self):
        yield self.f == self.drag * self.v * abs_(self.v)


def test_turbulent_dampers_in_series_brake_as_one():
    model = wired("series", block=Mass(mass="2 kg", v="3 m/s"), ground=Reference())
    last = model.block.M
    for k, drag in enumerate((2.0, 5.0, 0.5)):
        part = model.add(f"d{k}", Turbulent(drag=quantity(drag, "N*s^2/m^2")))
        model.connect(last, part.R)
        last = part.C
    model.connect(last, model.ground.V)
    whole = sum(drag**-0.5 for drag in (2.0, 5.0, 0.5)) ** -2
    run = model.simulate("20 s", method="dopri5", rtol=1e-10)
    t = np.linspace(0, 20, 41)
    v = 3 / (1 + whole * 3 / 2 * t)
    assert_allclose(run["block.v"].at(quantity(t, "s")).m, v, rtol=1e-8)
    assert_allclose(run["d1.v"].at(quantity(t, "s")).m, v * np.sqrt(whole / 5), rtol=1e-8)


class Bounded(Component):
    """y^2 = x, and x falls: there is no y after 1 s."""

    x, y = Variable("1", "1", priority="high"), Variable("1", "1")

    def equations(self):
        yield der(self.x) == quantity("-1 1/s")
        yield self.y**2 == self.x


def test_a_loop_without_a_root_is_named_and_keeps_what_was_computed():
    model = wired("bounded", part=Bounded())
    with pytest.raises(SimulationError, match="part.y could not be solved for") as caught:
        model.simulate("3 s", method="dopri5")
    assert_allclose(caught.value.result.time.m[-1], 1, atol=1e-3)


def test_a_study_of_pendulums_gives_what_single_runs_give():
    pytest.importorskip("xarray")
    model = pendulum()
    data = model.sweep({"bob.stop": ["0.5 m", "2 m"]}, "5 s", method="dopri5", rtol=1e-9,
                       outputs=["final(bob.x)"])  # fmt: skip
    for stop, x in zip(("0.5 m", "2 m"), data["final(bob.x)"].values, strict=True):
        model.bob.stop = stop
        assert_allclose(model.simulate("5 s", method="dopri5", rtol=1e-9)["bob.x"].final.m, x)


class StiffLoop(Component):
    """x' = -y with y + y^3 = x, and z that follows y within a microsecond."""

    x, y = Variable("1", "1", priority="high"), Variable("1")
    z = Variable("1", "0", priority="high")

    def equations(self):
        yield der(self.x) == -self.y / quantity("1 s")
        yield self.y + self.y**3 == self.x
        yield der(self.z) == (self.y - self.z) / quantity("1 us")


@pytest.mark.parametrize("rtol", [1e-5, 1e-8])
def test_the_implicit_method_follows_a_nonlinear_loop_however_stiff_the_rest_is(rtol):
    model = wired("loop", part=StiffLoop())
    run = model.simulate("1 s", method="rodas4", rtol=rtol, atol=rtol / 100)
    y = run["part.y"].at(quantity([0, 0.3, 1], "s")).m  # (1 + 3 y^2) y' = -y
    assert_allclose(np.log(y[0] / y[1:]) + 1.5 * (y[0] ** 2 - y[1:] ** 2), [0.3, 1], atol=50 * rtol)
    assert_allclose(run["part.z"].final.m, y[-1], atol=1e-6)
    assert run.statistics.steps < 400


def test_the_implicit_method_swings_a_pendulum_and_is_of_order_four():
    period = 4 * ellipk(0.5) / np.sqrt(G)
    errors, steps = [], []
    for rtol in (1e-6, 1e-10):
        run = pendulum().simulate("20 s", method="rodas4", rtol=rtol)
        assert run.statistics.method == "rodas4"
        errors.append(np.abs(np.subtract(places(run, 8 * period), [1, 0])).max())
        steps.append(run.statistics.steps)
    assert errors[0] < 2e-5
    assert errors[1] < 2e-9
    assert errors[0] / errors[1] > 0.2 * (steps[1] / steps[0]) ** 4


def test_derivatives_are_those_through_the_constraint():
    """Against differences of the slopes, with tied states solved for at every point."""
    from blocks.machine.signatures import run_code
    from blocks.native.method import Rodas4

    model = pendulum(0.7, 0.4, swing="0.3 m")
    problem = model.simulate("1 ms", method="dopri5", rtol=1e-8).recording.problem
    y = problem.solver_vector()
    method = Rodas4(problem, 0.2, y, t_end=1.0, rtol=1e-6, atol=np.full(y.size, 1e-8))
    n = method.x.size
    found, one, other = np.zeros((n + 1, n)), np.empty(n), np.empty(n)
    at, code = np.array([0.2]), method.code
    run_code(code.linear, at, method.x, code.p, code.q, found)
    for j in range(n):
        step = 1e-6 * (np.arange(n) == j)
        run_code(code.slope, at, method.x + step, code.p, code.q, one)
        run_code(code.slope, at, method.x - step, code.p, code.q, other)
        assert_allclose(found[:n, j], (one - other) / 2e-6, rtol=1e-6, atol=1e-7)
    run_code(code.slope, at + 1e-6, method.x, code.p, code.q, one)
    run_code(code.slope, at - 1e-6, method.x, code.p, code.q, other)
    assert_allclose(found[n], (one - other) / 2e-6, rtol=1e-6, atol=1e-7)


def test_an_unknown_beside_dry_friction_is_what_its_law_says_wherever_it_is_read(monkeypatch):
    """Whatever stood before in the memory that it is written to."""
    model = wired("leak and friction", "full.A leak.A", "leak.B empty.A", "body.M rub.R",
                  "rub.C wall.V",
                  full=ConstantVolumeChamber(p_I="5 MPa"), empty=ConstantVolumeChamber(p_I="4 MPa"),
                  leak=FlowResistance(pressure_drop="1 MPa", mass_flow="0.05 kg/s"),
                  body=Mass(v="1 m/s"), wall=Reference(), rub=TranslationalFriction(law="coulomb"))
    run = model.simulate("0.1 s", method="dopri5")
    monkeypatch.setattr(np, "empty_like", lambda rows: np.full_like(rows, np.nan))
    drop = run["leak.p"].to("MPa").m
    share = np.sign(drop) * np.sqrt((np.sqrt(1e-8 + 4 * drop**2) - 1e-4) / 2)
    # drop = s sqrt(s² + 0.01²)
    assert_allclose(run["leak.mdot"].to("kg/s").m, 0.05 * share, rtol=1e-5, atol=1e-7)


@pytest.mark.parametrize("friction", [False, True])
def test_a_pendulum_swings_beside_thousands_of_states_as_it_does_alone(friction):
    """What it takes to start it, to write it and to choose its states does not grow with them."""
    lone, beside = pendulum(), pendulum()
    n = 1500
    wire(beside, "links.R row[1:].M", "links.C row[:-1].M",
         row=Mass(count=n, mass="1 kg", v="0.01 m/s"),
         links=Spring(count=n - 1, stiffness="10 N/m"))
    if friction:
        wire(beside, "brake.R row[0].M", "brake.C wall.V",
             brake=TranslationalFriction(law="coulomb", coulomb_force="1 mN",
                                         breakaway_force="2 mN"), wall=Reference())
    ends = [model.simulate("1 s", method="dopri5", rtol=1e-8)["bob.x"].final.m
            for model in (lone, beside)]
    assert_allclose(*ends, rtol=1e-6)
