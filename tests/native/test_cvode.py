"""CVODE called from machine code: closed forms, dense output, events, and the same in Python."""

from __future__ import annotations

import gc

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.integrate import solve_ivp
from scipy.optimize import brentq

import blocks.native
from benchmarks.models import stick_slip
from blocks import Component, Model, SimulationError, Variable, der, quantity, sqrt, where
from library.planar import Body, Circle, Contact, Ground
from library.thermal import ConductingRod, RadiativeHeatTransfer, TemperatureSource
from library.translational import (
    Damper,
    ForceSource,
    Mass,
    Reference,
    Spring,
    TranslationalFriction,
    VelocitySource,
)

pytest.importorskip("llvmlite")

from blocks.native import cvode  # noqa: E402
from blocks.native.cvode_course import CvodeCourse  # noqa: E402
from blocks.native.cvode_library import Band, loaded_sundials  # noqa: E402
from blocks.native.matrices import linear_algebra_of  # noqa: E402

pytestmark = pytest.mark.skipif(loaded_sundials() is None,
                                reason="no C functions of SUNDIALS to be found")


def oscillator():
    """1 kg on 100 N/m: 10 rad/s."""
    model = Model("oscillator")
    model.block, model.spring, model.ground = (
        Mass(mass="1 kg", v="1 m/s"), Spring(stiffness="100 N/m", x="0 m"), Reference())
    model.connect(model.block.M, model.spring.R)
    model.connect(model.spring.C, model.ground.V)
    return model


def chain(n):
    """n masses in a row; the last one is pushed."""
    model = Model("chain")
    model.ground, model.masses = Reference(), Mass(count=n)
    model.springs = Spring(count=n, stiffness="1 kN/m")
    model.dampers = Damper(count=n, damping="1 N*s/m")
    model.push = ForceSource(force="1 N")
    model.connect(model.springs.R, model.dampers.R, model.masses.M)
    model.connect(model.springs[1:].C, model.dampers[1:].C, model.masses[:-1].M)
    model.connect(model.springs[0].C, model.dampers[0].C, model.ground.V, model.push.C)
    model.connect(model.push.R, model.masses[-1].M)
    return model


def courses(run):
    return [e.trajectory for e in run._recording.episodes]


def in_python(model, duration, monkeypatch, **options):
    with monkeypatch.context() as patch:
        patch.setattr(blocks.native, "compiled_cvode", lambda *_: None)
        return model.simulate(duration, method="cvode", **options)


@pytest.mark.parametrize("method", ["cvode", "adams"])
@pytest.mark.parametrize("rtol", [1e-4, 1e-7, 1e-10])
def test_an_oscillator_is_followed_at_all_times(method, rtol):
    run = oscillator().simulate("3 s", method=method, rtol=rtol, atol=rtol * 1e-2)
    assert all(isinstance(c, CvodeCourse) for c in courses(run))
    assert run.statistics.why == "chosen by the user, in machine code"
    times = np.linspace(0, 3, 2001)
    speed = run["block.v"].at(quantity(times, "s")).to("m/s").magnitude
    assert_allclose(speed, np.cos(10 * times), atol=1000 * rtol)


def test_steps_of_adams_that_are_put_together_keep_their_order():
    run = oscillator().simulate("30 s", method="adams", rtol=1e-9)
    (course,) = courses(run)
    times = np.linspace(0, 30, 5001)
    before = course(times)
    off = course.thin()
    assert 0 < off < 1e-6
    assert_allclose(course(times), before, atol=2 * off)


def test_adams_finds_where_friction_sticks_and_breaks_away():
    model = Model("dragged")
    model.pull, model.block, model.ground = VelocitySource(velocity="0.1 m/s"), Mass(), Reference()
    model.spring = Spring(stiffness="1 kN/m")
    model.rub = TranslationalFriction(law="coulomb", coulomb_force="20 N", breakaway_force="25 N")
    model.connect(model.pull.R, model.spring.R)
    model.connect(model.spring.C, model.block.M, model.rub.R)
    model.connect(model.rub.C, model.pull.C, model.ground.V)
    run = model.simulate("1 s", method="adams", rtol=1e-9)
    assert all(isinstance(c, CvodeCourse) for c in courses(run))
    w, v, drop = np.sqrt(1000.0), 0.1, 5.0 / 1000.0  # of the force, as it breaks away at 25 N
    t = np.linspace(0, 0.05, 11)
    moved = v * t - v / w * np.sin(w * t) + drop * (1 - np.cos(w * t))
    assert_allclose(run["block.v"].at(quantity(0.25 + t, "s")).to("m/s").magnitude,
                    v * (1 - np.cos(w * t)) + drop * w * np.sin(w * t), atol=1e-6)
    assert_allclose(run["spring.f"].at(quantity(0.25 + t, "s")).to("N").magnitude,
                    25 + 1000 * (v * t - moved), atol=1e-5)


def test_values_inside_steps_are_as_good_as_at_their_ends():
    run = oscillator().simulate("3 s", method="cvode", rtol=1e-8, atol=1e-10)
    (course,) = courses(run)
    ends = course.t
    parts = np.linspace(0, 1, 11)[1:-1]
    inner = (ends[:-1, None] + np.diff(ends)[:, None] * parts).ravel()
    row = int(np.argmax(course(0.0)))  # the velocity, 1 m/s at the start
    scale = course(0.0)[row]
    at_ends = np.abs(course(ends)[row] / scale - np.cos(10 * ends)).max()
    inside = np.abs(course(inner)[row] / scale - np.cos(10 * inner)).max()
    assert inside < 1.5 * at_ends < 1e-5


def test_steps_are_those_of_the_same_method_in_python(monkeypatch):
    model = stick_slip()
    compiled = model.simulate("4 s", method="cvode", rtol=1e-8)
    plain = in_python(model, "4 s", monkeypatch, rtol=1e-8)
    for count in ("steps", "jacobians"):
        of_both = getattr(compiled.statistics, count), getattr(plain.statistics, count)
        assert abs(of_both[0] - of_both[1]) < 0.05 * of_both[1]
    times = quantity(np.linspace(0, 4, 301), "s")
    assert_allclose(compiled["spring.x"].at(times).magnitude, plain["spring.x"].at(times).magnitude,
                    atol=1e-5)


def test_a_long_chain_has_a_band_and_agrees_with_the_explicit_method():
    model = chain(200)
    matrices = linear_algebra_of(model.compile())
    assert matrices.band == Band(2, 2)
    assert sorted(matrices.order.tolist()) == list(range(400))
    run = model.simulate("2 s", method="cvode", rtol=1e-8)
    other = model.simulate("2 s", method="DOP853", rtol=1e-9)
    for name in ("masses[199].v", "masses[150].v"):
        assert_allclose(run[name].at(quantity([0.5, 1.1, 2.0], "s")).magnitude,
                        other[name].at(quantity([0.5, 1.1, 2.0], "s")).magnitude, atol=1e-8)
    assert run.statistics.residuals < 1.5 * run.statistics.steps


def test_an_analytic_jacobian_in_a_band_is_that_of_differences(monkeypatch):
    model = chain(40)
    matrices = linear_algebra_of(model.compile())
    assert matrices.band is not None
    exact = model.simulate("2 s", method="cvode")
    system = model.compile()
    system.cache["native"]._jacobian = 0  # by differences
    other = model.simulate("2 s", method="cvode")
    assert exact.statistics.steps == pytest.approx(other.statistics.steps, rel=0.02)
    assert exact.statistics.residuals < other.statistics.residuals
    assert_allclose(exact["masses[39].v"].final.magnitude, other["masses[39].v"].final.magnitude,
                    atol=1e-7)


class Bouncing(Component):
    """Flies at 1 m/s, and turns on a spring of 1e4 1/s^2 from x = 0.5 m on."""

    x = Variable("m", "0 m", priority="high")
    v = Variable("m/s", "1 m/s", priority="high")

    def equations(self):
        wall = quantity("0.5 m")
        push = quantity("1e4 1/s^2") * (self.x - wall)
        yield der(self.x) == self.v
        yield der(self.v) == where(self.x > wall, -push, 0 * push)


@pytest.mark.parametrize("rtol", [1e-6, 1e-9])
def test_crossings_are_located_on_the_polynomials_of_steps(rtol):
    model = Model("bouncing")
    model.ball = Bouncing()
    run = model.simulate("1 s", method="cvode", rtol=rtol, atol=rtol * 1e-3)
    touches, leaves = (float(e.time) for e in run.events)
    assert_allclose(touches, 0.5, rtol=1e-9)
    assert_allclose(leaves, 0.5 + np.pi / 100, rtol=100 * rtol)
    assert_allclose(run["ball.v"].final.magnitude, -1.0, rtol=1000 * rtol)
    assert len(courses(run)) == 3 and all(isinstance(c, CvodeCourse) for c in courses(run))


@pytest.mark.parametrize("rtol", [1e-5, 1e-7])
def test_exact_friction_takes_its_part_of_every_swing(rtol):
    model = oscillator()
    model.block.v, model.spring.x = "0 m/s", "0.1 m"
    model.rub = TranslationalFriction(law="coulomb", breakaway_force="1.2 N", coulomb_force="1 N")
    model.connect(model.block.M, model.rub.R)
    model.connect(model.rub.C, model.ground.V)
    run = model.simulate("2 s", method="cvode", rtol=rtol)
    assert all(isinstance(c, CvodeCourse) for c in courses(run))
    half = np.pi / 10  # every swing ends 2 F / k = 2 cm nearer: 10, -8, 6, -4, 2, 0 cm
    turns = run["spring.x"].at(quantity(half * np.arange(6), "s")).to("cm").m
    assert_allclose(turns, [10, -8, 6, -4, 2, 0], atol=2000 * rtol)
    stuck = run["block.v"].at(quantity(np.linspace(6 * half, 2, 5), "s")).m
    assert_allclose(stuck, 0.0, atol=0)


def test_friction_on_a_curve_at_a_node_without_mass():
    model = Model("node")
    model.ground, model.block, model.far = Reference(), Mass(mass="1 kg", v="2 m/s"), Spring(
        stiffness="300 N/m")
    model.near, model.rub = Spring(stiffness="100 N/m"), TranslationalFriction(
        law="stribeck", breakaway_force="5.2 N", coulomb_force="5 N", breakaway_velocity="0.5 m/s",
        viscous_coefficient="20 N*s/m")
    model.connect(model.block.M, model.far.R)
    model.connect(model.far.C, model.near.R, model.rub.R)
    model.connect(model.near.C, model.ground.V, model.rub.C)
    run = model.simulate("0.3 s", method="cvode", rtol=1e-8)
    assert all(isinstance(c, CvodeCourse) for c in courses(run))

    def node(pull):  # the velocity at which friction takes this
        if abs(pull) <= 5.2:
            return 0.0
        return np.sign(pull) * brentq(
            lambda v: 5 + 0.2 * np.exp(-((v / 0.5) ** 2)) + 20 * v - abs(pull), 0.0, 100.0)

    def slope(t, y):
        v, far, near = y
        w = node(300 * far - 100 * near)
        return [-300 * far, v - w, w]

    by_hand = solve_ivp(slope, (0, 0.3), [2.0, 0.0, 0.0], rtol=1e-9, atol=1e-11, max_step=1e-3)
    found = [run["block.v"].final.m, run["far.x"].final.m, run["near.x"].final.m]
    assert_allclose(found, by_hand.y[:, -1], rtol=1e-6, atol=1e-8)


class Arm(Component):
    """A pendulum of 1 m in Cartesian coordinates, whose constraint ties its states."""

    x, y = Variable("m", "0.6 m", priority="high"), Variable("m", "-0.8 m")
    vx, vy = Variable("m/s"), Variable("m/s")
    pull = Variable("m/s^2", nominal="10 m/s^2")

    def equations(self):
        g, one = quantity("9.81 m/s^2"), quantity("1 m")
        yield der(self.x) == self.vx
        yield der(self.y) == self.vy
        yield der(self.vx) == -self.pull * self.x / one
        yield der(self.vy) == -self.pull * self.y / one - g
        yield self.x**2 + self.y**2 == one**2


@pytest.mark.parametrize("record", ["whole", "thinned"])
def test_tied_states_keep_their_constraint_and_energy(record):
    model = Model("arm")
    model.arm = Arm()
    run = model.simulate("3 s", method="cvode", rtol=1e-8)
    (course,) = {type(c) for c in courses(run)}
    assert course is CvodeCourse
    if record == "thinned":
        for one in courses(run):
            one.thin()
    times = quantity(np.linspace(0, 3, 301), "s")
    x, y, vx, vy = (run[f"arm.{name}"].at(times).m for name in ("x", "y", "vx", "vy"))
    assert_allclose(np.hypot(x, y), 1.0, rtol=0, atol=1e-9)
    assert_allclose(x * vx + y * vy, 0.0, atol=1e-8)
    assert_allclose((vx**2 + vy**2) / 2 + 9.81 * (y + 0.8), 0.0, atol=5e-6)


def test_a_body_on_a_curve_stays_there_without_beginning_anew():
    model = Model("disc inside a circle")
    model.ground, model.touch = Ground(), Contact(
        curve=Circle("0.25 m"), base=Circle("1 m", inside=True), friction=0.0)
    model.disc = Body(mass="1 kg", inertia="31.25 g*m^2", x="0.75 m", y="0 m", vx="0 m/s",
                      vy="0 m/s", w="0 rad/s")
    model.connect(model.ground.P, model.touch.B)
    model.connect(model.disc.P, model.touch.F)
    run = model.simulate("3 s", method="cvode", rtol=1e-8)
    (course,) = courses(run)  # one episode
    assert isinstance(course, CvodeCourse)
    t = np.linspace(0, 3, 101)
    x, y = (run[f"disc.{name}"].at(quantity(t, "s")).m for name in "xy")
    assert_allclose(np.hypot(x, y), 0.75, rtol=0, atol=1e-9)

    def pendulum(t, s):  # angle below the horizontal, and its rate
        return [s[1], 9.81 / 0.75 * np.cos(s[0])]

    angle = solve_ivp(pendulum, (0, 3), [0.0, 0.0], method="DOP853", rtol=1e-12, atol=1e-12,
                      t_eval=t).y[0]
    assert_allclose(x, 0.75 * np.cos(angle), rtol=0, atol=2e-6)


class Bent(Component):
    """x' = -z with z + z**3 = x: what follows a loop."""

    x, z = Variable("1", "2", priority="high"), Variable("1", 1.0)

    def equations(self):
        yield der(self.x) == -self.z * quantity("1 1/s")
        yield self.z + self.z**3 == self.x


def test_nonlinear_loops_are_solved_for_in_machine_code():
    model = Model("bent")
    model.bent = Bent()
    run = model.simulate("2 s", method="cvode", rtol=1e-8)
    assert all(isinstance(c, CvodeCourse) for c in courses(run))
    # (1 + 3 z**2) z' = -z, so log(z) + 3/2 (z**2 - 1) = -t
    times = np.array([0.5, 1.0, 2.0])
    z = [brentq(lambda z, t=t: np.log(z) + 1.5 * (z**2 - 1) + t, 0.01, 1.0, xtol=1e-14)
         for t in times]
    assert_allclose(run["bent.z"].at(quantity(times, "s")).m, z, rtol=1e-6)


def test_a_rod_that_radiates_from_a_node_without_mass_has_a_band():
    model = Model("rod")
    model.furnace, model.walls = (TemperatureSource(temperature="1000 K"),
                                  TemperatureSource(temperature="300 K"))
    model.rod = ConductingRod(segments=100, length="0.1 m", area="1 cm^2", density="7850 kg/m^3",
                              thermal_conductivity="50 W/(m*K)", specific_heat="447 J/(kg*K)")
    model.end = RadiativeHeatTransfer(area="100 cm^2")
    model.connect(model.furnace.A, model.rod.A)
    model.connect(model.rod.B, model.end.A)
    model.connect(model.end.B, model.walls.A)
    run = model.simulate("3000 s", method="cvode", rtol=1e-7)
    assert all(isinstance(c, CvodeCourse) for c in courses(run))
    assert run.statistics["residuals"] < 6000
    balance = brentq(lambda T: 0.05 * (1000 - T) - 4e-10 * (T**4 - 300**4), 300, 1000)
    assert_allclose(run["end.A.T"].final.to("K").m, balance, rtol=1e-6)


def test_a_burst_of_a_thousandth_of_the_run_is_not_overlooked():
    model = Model("burst")
    model.block, model.ground = Mass(mass="1 kg"), Reference()
    model.push = ForceSource(force=lambda t: where(
        (t > quantity("5 s")) & (t < quantity("5.01 s")), quantity("1 kN"), quantity("0 N")))
    model.connect(model.block.M, model.push.R)
    model.connect(model.push.C, model.ground.V)
    run = model.simulate("10 s", method="cvode")
    assert all(isinstance(c, CvodeCourse) for c in courses(run))
    assert_allclose(run["block.v"].final.to("m/s").magnitude, 10.0, rtol=1e-6)


class Root(Component):
    """x' = -sqrt(x) - 0.1 has no value once x is negative."""

    x = Variable("1", "1", priority="high")

    def equations(self):
        yield der(self.x) == -(sqrt(self.x) + 0.1) * quantity("1 1/s")


def test_the_end_of_the_domain_is_told():
    model = Model("root")
    model.root = Root()
    with pytest.raises(SimulationError, match="cvode stopped at t = ") as caught:
        model.simulate("10 s", method="cvode")
    run = caught.value.data["result"]
    # until x = 0: with s = sqrt(x), t = 2 (1 - 0.1 log(11))
    end = 2 * (1 - 0.1 * np.log(11))
    assert run.time.to("s").magnitude[-1] == pytest.approx(end, abs=1e-3)


def test_what_has_another_form_runs_in_python():
    model = chain(3)
    problem = model.compile()
    assert linear_algebra_of(problem).band is None
    run = stick_slip().simulate("0.1 s", method="ida")
    assert not isinstance(courses(run)[0], CvodeCourse)


def test_without_the_library_python_serves(monkeypatch):
    monkeypatch.setattr("blocks.native.cvode_method.loaded_sundials", lambda: None)
    run = oscillator().simulate("1 s", method="cvode")
    assert not isinstance(courses(run)[0], CvodeCourse)
    assert run.statistics.why == "chosen by the user"
    assert_allclose(run["block.v"].final.to("m/s").magnitude, np.cos(10), atol=1e-4)


def test_results_outlive_the_objects_of_the_library():
    run = oscillator().simulate("1 s", method="cvode", rtol=1e-8)
    gc.collect()
    assert_allclose(run["block.v"].at("0.5 s").to("m/s").magnitude, np.cos(5), atol=1e-5)


def test_two_runs_give_the_same_to_the_last_bit():
    model = stick_slip()
    first, second = (model.simulate("2 s", method="cvode") for _ in range(2))
    assert (courses(first)[0].t == courses(second)[0].t).all()
    values = [course(course.t) for course in (courses(first)[0], courses(second)[0])]
    assert (values[0] == values[1]).all()


def test_polynomials_are_read_as_in_python():
    rng = np.random.default_rng(1)
    first = np.array([0, 6, 18, 21])
    values, which = rng.normal(size=21), np.array([0, 1, 1, 2])
    parts, out, plain = rng.uniform(-1, 0, 4), np.empty((4, 3)), np.empty((4, 3))
    cvode.values_between(values, first, which, parts, out)
    cvode.values_between.python(values, first, which, parts, plain)
    assert_allclose(out, plain, rtol=1e-14)
    assert_allclose(out[0], values[:3] + parts[0] * values[3:6], rtol=1e-14)


def test_a_thinned_course_tells_what_it_costs():
    (full,) = courses(oscillator().simulate("3 s", method="cvode", rtol=1e-8, atol=1e-10))
    (course,) = courses(oscillator().simulate("3 s", method="cvode", rtol=1e-8, atol=1e-10))
    times, end = np.linspace(0, 3, 1000), full(3.0)
    off = [course.thin() for _ in range(3)]
    assert off == sorted(off) and off[-1] < 1e-6
    assert course.nbytes < 0.4 * full.nbytes
    assert len(course.t) < len(full.t) / 7
    assert_allclose(course(course.t), full(course.t), atol=1e-12)
    assert_allclose(course(times), full(times), atol=3 * off[-1])
    course.forget()
    assert list(course.t) == [3.0]
    assert_allclose(course(3.0), end, rtol=1e-15)
