"""Friction that presses itself, or is pressed by others: wedges, guides, ladders, rings.

Classical statics of friction, e.g. Meriam and Kraige, Engineering Mechanics: Statics, ch. 6."""

from __future__ import annotations

from typing import ClassVar

import benches.friction as bench
import numpy as np
import pytest
from benches import few, wired
from benches.friction import BrakedPendulum, happened, missing_energy, times_of, value, values
from benches.rigid_bodies import G, wedge
from numpy.testing import assert_allclose

import blocks
from blocks import Component, Model, Parameter, SimulationError, Variable, der, quantity


class Pushed(Component):
    """A block on a rough floor, pushed down at an angle against the horizontal."""

    mass, friction, angle = Parameter("1 kg"), Parameter(0.5), Parameter("30 deg")
    push = Parameter("0 N", varying=True)
    x, y = Variable("m", "0 m", priority="high"), Variable("m", "0 m", priority="high")
    v, w = Variable("m/s", "0 m/s", priority="high"), Variable("m/s", "0 m/s", priority="high")
    N, T = Variable("N"), Variable("N")

    def equations(self):
        yield der(self.x) == self.v
        yield der(self.y) == self.w
        yield self.mass * der(self.v) == self.push * blocks.cos(self.angle) - self.T
        yield self.mass * der(self.w) == (
            self.N - self.push * blocks.sin(self.angle) - self.mass * quantity(G, "m/s^2"))
        yield blocks.contact(self.N, self.y)
        yield blocks.dry_friction(self.T, self.v, static=self.friction * self.N,
                                  kinetic=self.friction * self.N)


class Ladder(Component):
    """A ladder of length 2 l between a rough floor and a rough wall; it leans at ``angle``."""

    mass, l, floor, wall = Parameter("10 kg"), Parameter("2 m"), Parameter(0.4), Parameter(0.3)
    x, y = Variable("m", "0 m", priority="high"), Variable("m", "0 m", priority="high")
    angle = Variable("rad", "60 deg", priority="high")
    vx, vy = Variable("m/s", "0 m/s", priority="high"), Variable("m/s", "0 m/s", priority="high")
    w, below, beside = Variable("rad/s", "0 rad/s", priority="high"), Variable("m"), Variable("m")
    base, top = Variable("m/s"), Variable("m/s")
    N1, T1, N2, T2 = Variable("N"), Variable("N"), Variable("N"), Variable("N")

    def equations(self):
        m, (s, c) = self.mass, (self.l * blocks.sin(self.angle), self.l * blocks.cos(self.angle))
        yield der(self.x) == self.vx
        yield der(self.y) == self.vy
        yield der(self.angle) == self.w
        yield m * der(self.vx) == self.N2 - self.T1
        yield m * der(self.vy) == self.N1 - self.T2 - m * quantity(G, "m/s^2")
        # counted so that the angle grows; the base is right of the centre, the top left
        yield m * self.l**2 / 3 * der(self.w) == -(
            c * self.N1 - s * self.T1 - s * self.N2 + c * self.T2)
        yield self.below == self.y - s
        yield self.beside == self.x - c
        yield self.base == self.vx - s * self.w
        yield self.top == self.vy + c * self.w
        for n, t, gap, slip, mu in ((self.N1, self.T1, self.below, self.base, self.floor),
                                    (self.N2, self.T2, self.beside, self.top, self.wall)):
            yield blocks.contact(n, gap)
            yield blocks.dry_friction(t, slip, static=mu * n, kinetic=mu * n)


# -- wedges ------------------------------------------------------------------------------
@pytest.mark.parametrize("angle, mu", [(20, 0.2), (10, 0.1), (30, 0.5)])
def test_a_wedge_starts_to_lift_at_the_tangent_of_both_angles_together(angle, mu):
    a, r = np.deg2rad(angle), np.arctan(mu)
    rise = 10 * np.tan(a + r)
    run = wedge(angle, mu, lambda t: rise * (0.5 + 0.5 * t)).simulate("1.5 s", rtol=1e-10)
    assert_allclose(times_of(run, "slides forward"), [1.0], rtol=0, atol=1e-9)
    n, t = values(run, ["wedge.N", "wedge.T"], [1.2])[:, 0]
    assert_allclose(t, mu * n, rtol=1e-12)
    assert missing_energy(run) < 1e-9


@pytest.mark.parametrize("angle, mu, slides", [
    (20, 0.3, True), (20, 0.4, False), (10, 0.1763, False), (10, 0.1764, False), (11, 0.19, True)])
def test_a_wedge_slides_back_under_its_load_unless_it_is_self_locking(angle, mu, slides):
    mu = mu if slides else max(mu, np.tan(np.deg2rad(angle)) * 1.0001)
    run = wedge(angle, mu, lambda t: 0 * t).simulate("0.5 s", rtol=1e-10)
    speed = value(run, "driver.v")
    if slides:
        a, r = np.deg2rad(angle), np.arctan(mu)
        # N sin(a - r)/cos(r) drives 1 kg; the load of 1 kg rides on N cos(a - r)/cos(r)
        n = 10 / (np.cos(a - r) / np.cos(r) + np.tan(a) * np.sin(a - r) / np.cos(r))
        assert_allclose(value(run, "wedge.N"), n, rtol=1e-9)
        assert_allclose(speed, -0.5 * n * np.sin(a - r) / np.cos(r), rtol=1e-9)
    else:
        assert speed == 0


@pytest.mark.parametrize("over", [0.98, 1.02])
def test_a_moving_wedge_jams_where_its_friction_angle_and_slope_reach_a_right_angle(over):
    # driver much heavier than the load: cos a - mu sin a + (m2/m1) tan a (sin a + mu cos a) = 0
    angle, ratio = 60, 0.01
    a = np.deg2rad(angle)
    mu = (np.cos(a) + ratio * np.tan(a) * np.sin(a)) / (np.sin(a) - ratio * np.tan(a) * np.cos(a))
    model = wedge(angle, over * mu, lambda t: 0 * t, v=1.0, masses=(1.0, ratio))
    if over < 1:
        run = model.simulate("1 ms", rtol=1e-9)
        left = np.cos(a) - over * mu * np.sin(a) + ratio * np.tan(a) * (
            np.sin(a) + over * mu * np.cos(a))
        assert_allclose(value(run, "wedge.N", 0), 10 / left, rtol=1e-9)
    else:
        with pytest.raises(SimulationError) as caught:
            model.simulate("1 s")
        assert caught.value.code == "simulation.paradox"
        assert caught.value.where == "wedge"


def test_a_wedge_that_could_jam_on_its_other_face_is_refused_as_well():
    # sliding back, each face has a motion of its own above the same critical friction
    angle, ratio = 60, 0.01
    model = wedge(angle, 0.63, lambda t: 0 * t, v=-1.0, masses=(1.0, ratio))
    with pytest.raises(SimulationError, match="several motions obey"):
        model.simulate("1 s")
    run = wedge(angle, 0.4, lambda t: 0 * t, v=-1.0, masses=(1.0, ratio)).simulate("1 ms")
    assert value(run, "wedge.N", 0) > 0


# -- a block pushed at an angle --------------------------------------------------------------
@pytest.mark.parametrize("angle, mu", [(0, 0.5), (30, 0.5), (30, 1.5), (60, 0.3), (-20, 0.5)])
def test_a_block_pushed_downwards_at_an_angle_slides_at_the_classical_force(angle, mu):
    a = np.deg2rad(angle)
    model = Model("pushed")
    model.block = Pushed(angle=quantity(angle, "deg"), friction=mu,
                         push=lambda t: quantity("10 N/s") * t)  # fmt: skip
    limit = mu * G / (np.cos(a) - mu * np.sin(a)) / 10
    run = model.simulate(quantity(1.2 * limit, "s"), rtol=1e-10)
    assert_allclose(times_of(run, "slides forward"), [limit], rtol=0, atol=1e-9)


@pytest.mark.parametrize("angle, mu", [(50, 0.9), (64, 0.5)])
def test_a_block_pushed_more_steeply_than_its_friction_angle_never_slides(angle, mu):
    model = Model("pushed")
    model.block = Pushed(angle=quantity(angle, "deg"), friction=mu,
                         push=lambda t: quantity("1 kN/s") * t)  # fmt: skip
    run = model.simulate("10 s", rtol=1e-9)
    assert happened(run) == []
    assert value(run, "block.v") == 0


# -- ladders ---------------------------------------------------------------------------------
@pytest.mark.parametrize("floor, wall", [(0.4, 0.3), (0.5, 0.0), (0.3, 0.9), (0.6, 0.6)])
@pytest.mark.parametrize("side", [1, -1])
def test_a_ladder_stands_above_its_classical_angle_and_slides_below(floor, wall, side):
    angle = np.arctan((1 - floor * wall) / (2 * floor)) + side * 1e-4
    model = Model("ladder")
    model.ladder = Ladder(floor=floor, wall=wall, angle=quantity(angle, "rad"),
                          x=quantity(2 * np.cos(angle), "m"), y=quantity(2 * np.sin(angle), "m"))
    run = model.simulate("0.2 s", rtol=1e-9)
    n1, t1, n2, t2 = values(run, [f"ladder.{k}" for k in ("N1", "T1", "N2", "T2")], [0.0])[:, 0]
    if side > 0:
        assert happened(run) == []
        assert abs(value(run, "ladder.w")) < 1e-14
        assert_allclose([n1 - t2, n2 - t1], [10 * G, 0], rtol=1e-9, atol=1e-9)
        assert abs(t1) <= floor * n1 * (1 + 1e-9)
        assert abs(t2) <= wall * n2 * (1 + 1e-9) + 1e-8
    else:
        assert value(run, "ladder.w") < 0
        assert_allclose([t1, t2], [floor * n1, -wall * n2], rtol=1e-12, atol=1e-12)


# -- a bearing loaded by the swing itself ---------------------------------------------------
class Bearing(BrakedPendulum):
    """Its joint rubs with the pull of the rod."""

    grip = Parameter("0.1 m", doc="coefficient of friction times radius")

    def strengths(self):
        torque = self.grip * blocks.abs_(self.pull) * self.length
        return torque, torque


def test_a_pendulum_in_a_bearing_that_rubs_with_its_own_pull_stops_where_the_angle_equation_does():
    grip = 0.08
    stops = bench.stops_of_pendulum(  # rod 1 m, mass 1 kg
        lambda theta, w: grip * abs(w**2 - G * np.sin(theta)),
        lambda theta: grip * abs(G * np.sin(theta)))
    assert len(stops) > 3
    model = wired("pendulum", p=Bearing(grip=quantity(grip, "m")))
    run = model.simulate(quantity(stops[-1][0] + 1, "s"), rtol=1e-10)
    assert [e[0] for e in happened(run)] == pytest.approx([t for t, _ in stops], abs=1e-6)
    angle = np.arctan2(value(run, "p.y"), value(run, "p.x"))
    assert_allclose(angle, stops[-1][1], rtol=0, atol=1e-6)


# -- rings that leave open who bears what -----------------------------------------------------
END = 4.0  # s
METHODS = ["auto", "dopri5", "DOP853", "rodas4", "Radau"]


class Ring(Component):
    """Bodies on springs to the frame, -1, and frictions between them."""

    bodies: ClassVar[list] = []  # mass in kg, stiffness in N/m, load in N, its rate in 1/s, phase
    frictions: ClassVar[list] = []  # ends, strength in N, and by what share of whose effort

    def equations(self):
        x, v, f, w = ([getattr(self, f"{name}{k}") for k in range(count)] for name, count in (
            ("x", len(self.bodies)), ("v", len(self.bodies)),
            ("f", len(self.frictions)), ("w", len(self.frictions))))
        force = [quantity(load, "N") * blocks.sin(quantity(rate, "1/s") * blocks.time + phase)
                 - quantity(k, "N/m") * x_
                 for x_, (_, k, load, rate, phase) in zip(x, self.bodies, strict=True)]
        v.append(0 * v[0])
        force.append(0 * f[0])
        for k, (a, b, strength, share, on) in enumerate(self.frictions):
            yield w[k] == v[a] - v[b]
            force[a], force[b] = force[a] - f[k], force[b] + f[k]
            most = quantity(strength, "N") + (share * blocks.abs_(f[on]) if share else 0)
            yield blocks.dry_friction(f[k], w[k], static=most, kinetic=most)
        for k, (mass, *_) in enumerate(self.bodies):
            yield quantity(mass, "kg") * der(v[k]) == force[k]
            yield der(x[k]) == v[k]


def ring(bodies, frictions, speeds):
    names = {f"x{k}": Variable("m", "0 m", priority="high") for k in range(len(bodies))}
    names |= {f"v{k}": Variable("m/s", quantity(v, "m/s"), priority="high")
              for k, v in enumerate(speeds)}
    names |= {f"f{k}": Variable("N") for k in range(len(frictions))}
    names |= {f"w{k}": Variable("m/s") for k in range(len(frictions))}
    kind = type("Ring", (Ring,), names | {"bodies": bodies, "frictions": frictions,
                                          "__doc__": Ring.__doc__})
    return wired("ring", ring=kind())


def obeys_all_laws(run, bodies, frictions):
    """Of frictions and of motion, away from events."""
    t = np.linspace(0, END, 48)[1:-1]
    events = np.array([e.time.to("s").m for e in run.events] or [-1.0])
    t = t[np.abs(t[:, None] - events).min(axis=1) > 1e-4]
    assert len(t) > 30
    of = lambda name, at=t: run[f"ring.{name}"].at(quantity(at, "s")).m  # noqa: E731
    f = np.array([of(f"f{k}") for k in range(len(frictions))])
    for k, (_, _, strength, share, on) in enumerate(frictions):
        w, most = of(f"w{k}"), strength + share * np.abs(f[on])
        rests = np.abs(w) <= 1e-9
        assert (np.abs(f[k]) - most)[rests].max(initial=0.0) <= 1e-7
        assert np.abs(f[k] - np.sign(w) * most)[~rests].max(initial=0.0) <= 1e-7
    h = 1e-5
    for k, (mass, stiffness, load, rate, phase) in enumerate(bodies):
        force = load * np.sin(rate * t + phase) - stiffness * of(f"x{k}")
        for j, (a, b, *_) in enumerate(frictions):
            force += f[j] * ((b == k) - int(a == k))
        moved = mass * (of(f"v{k}", t + h) - of(f"v{k}", t - h)) / (2 * h)
        np.testing.assert_allclose(moved, force, atol=2e-3 * load)


TWO_BODIES = [(0.5, 1.0, 5.0, 1.3, 0.0), (2.0, 4.0, 3.0, 2.0, 0.0)]
FIRST_THREE = [(0, 1, 2.0, 0.0, 0), (0, -1, 0.1, 0.4, 0), (1, -1, 2.0, 0.0, 0)]


@pytest.mark.parametrize("last", [[(0, 1), (0, -1)], [(0, -1), (0, 1)]])
def test_a_ring_whose_split_moves_what_slides_is_told_so(last):
    """Both frictions between the bodies bear what they hold; one of them alone presses another."""
    frictions = [*FIRST_THREE, (*last[0], 0.1, 0.2, 1), (*last[1], 0.1, 0.2, 3)]
    with pytest.raises(SimulationError, match=r"several motions.*friction yield") as told:
        ring(TWO_BODIES, frictions, [0.0, 0.0]).simulate("4 s")
    assert told.value.code == "simulation.paradox"
    assert set(told.value.variables) <= {f"ring.f{k}" for k in range(5)}
    assert 0.203 < told.value.time < 0.208


def test_a_ring_of_which_all_slides_alike_goes_on():
    frictions = [*FIRST_THREE, (0, -1, 0.1, 0.2, 1), (0, -1, 0.1, 0.2, 3)]
    run = ring(TWO_BODIES, frictions, [0.0, 0.0]).simulate("4 s", rtol=1e-8)
    obeys_all_laws(run, TWO_BODIES, frictions)


def test_what_slides_follows_the_split_that_is_shown():
    """Two frictions on the floor hold a body of which each presses one that slides: their sum
    passes zero, and so do both."""
    bodies = [(1.0, 10.0, 3.0, 2.0, 0.0), (0.5, 10.0, 1.0, 2.0, 1.0)]
    frictions = [(1, -1, 0.5, 0.0, 0), (0, -1, 2.0, 0.0, 0), (0, -1, 0.1, 0.6, 1),
                 (1, 0, 0.0, 0.6, 2), (1, 0, 0.1, 0.6, 1)]
    run = ring(bodies, frictions, [-0.5, 0.0]).simulate("4 s", rtol=1e-8)
    obeys_all_laws(run, bodies, frictions)
    assert run.statistics["steps"] < 300


def test_where_no_efforts_hold_any_longer_is_told_by_name():
    """0.4 + 0.6 + 0.12 of what a friction bears pulls on it: more than all, the other way."""
    bodies = [(1.0, 10.0, 5.0, 0.7, 1.0), (0.5, 1.0, 1.0, 0.7, 0.0), (0.5, 1.0, 3.0, 1.3, 0.0)]
    frictions = [(-1, 2, 2.0, 0.0, 0), (0, 2, 0.1, 0.4, 0), (2, 0, 0.5, 0.6, 0),
                 (0, 2, 0.5, 0.2, 2)]
    with pytest.raises(SimulationError, match="no unique motion") as told:
        ring(bodies, frictions, [1.0, 0.0, 0.0]).simulate("4 s")
    # where the floor's effort comes to zero
    assert told.value.result["ring.f0"].final.m == pytest.approx(0.0, abs=1e-4)


@few(3, "method", METHODS)
def test_two_bodies_that_move_alike_press_nothing(method):
    """Friction between them bears nothing, so that others have no strength: forced oscillation."""
    bodies = [(1.0, 4.0, 3.0, 0.7, 0.0)] * 2
    frictions = [(1, 0, 0.5, 0.0, 0), (1, -1, 0.0, 0.6, 0), (-1, 0, 0.0, 0.2, 1)]
    run = ring(bodies, frictions, [0.0, 0.0]).simulate("4 s", rtol=1e-8, method=method)
    t = np.linspace(0, END, 48)
    swing = 3 / (4 - 0.7**2) * (np.sin(0.7 * t) - 0.35 * np.sin(2 * t))
    for k in range(2):
        np.testing.assert_allclose(run[f"ring.x{k}"].at(quantity(t, "s")).m, swing, atol=2e-8)
    for k in range(3):
        np.testing.assert_allclose(run[f"ring.f{k}"].at(quantity(t, "s")).m, 0.0, atol=1e-12)
    assert len(run.events) <= 4  # both begin to move, and turn once, at 2 pi / 2.7 s


@pytest.mark.parametrize("method", METHODS)
def test_a_wedge_that_may_hold_or_let_go_is_told_whoever_asks(method):
    """F loads each of two bodies: either nothing moves (f0 = -3 F, f1 = F, f2 = -F), or the first
    one does (f0 = -F, f1 = f2 = -0.4 F)."""
    bodies = [(1.0, 4.0, 5.0, 2.0, 0.0)] * 2
    frictions = [(-1, 1, 1.0, 0.0, 0), (-1, 1, 0.0, 0.4, 0), (1, 0, 0.0, 0.4, 0)]
    with pytest.raises(SimulationError, match="several motions") as told:
        ring(bodies, frictions, [0.0, 0.0]).simulate("4 s", rtol=1e-8, method=method)
    assert told.value.code == "simulation.paradox"
    assert set(told.value.variables) <= {"ring.f0", "ring.f1", "ring.f2"}
    assert told.value.time <= 1e-7  # the instant after the start: at the start there is no load


@few(2, "method", METHODS)
@pytest.mark.parametrize("strength, phase", [(0.5, 0.0), (2.0, -0.5)])
def test_a_floor_whose_effort_all_acts_on_its_body_is_told_so(method, strength, phase):
    """0.4 + 0.6 of what the floor bears pull on the body that it holds: with the floor against a
    load to one side, and against the floor where that has passed zero. There any effort, with
    another motion of the other body, holds no load, and none holds more."""
    bodies = [(0.5, 1.0, 3.0, 0.7, phase), (1.0, 4.0, 5.0, 0.7, 1.0)]
    frictions = [(0, -1, strength, 0.0, 0), (0, 1, 0.0, 0.4, 0), (0, 1, 0.0, 0.6, 0)]
    with pytest.raises(SimulationError, match="no unique motion") as told:
        ring(bodies, frictions, [0.0, 0.0]).simulate("4 s", rtol=1e-8, method=method)
    assert told.value.code == "simulation.paradox"
    assert set(told.value.variables) == {"ring.f0", "ring.f1", "ring.f2"}
    assert told.value.time == pytest.approx(-phase / 0.7, abs=1e-9)


@few(2, "method", METHODS)
def test_rest_that_ends_where_another_motion_began_is_told_so(method):
    """Above 0.22 N the heavier body may move, held by 0.1 N and 0.12 N where f0 bears nothing; it
    may rest as well, where f0 and f4 press each other."""
    bodies, frictions, speeds = random_ring(247)
    with pytest.raises(SimulationError, match="no unique motion|several motions") as told:
        ring(bodies, frictions, speeds).simulate("4 s", rtol=1e-8, method=method)
    assert told.value.code == "simulation.paradox"
    assert set(told.value.variables) <= {f"ring.f{k}" for k in range(5)}
    assert 3 * np.sin(1.3 * told.value.time) > 0.22


def random_ring(seed):
    rng = np.random.default_rng(seed)
    pick = lambda *values: float(rng.choice(values))  # noqa: E731
    size = 1 + seed % 3
    ends = lambda: map(int, rng.permutation(np.arange(-1, size))[:2])  # noqa: E731
    bodies = [(pick(0.5, 1.0, 2.0), pick(1.0, 4.0, 10.0), pick(1.0, 3.0, 5.0), pick(0.7, 1.3, 2.0),
               pick(0.0, 1.0)) for _ in range(size)]
    frictions = [(*ends(), pick(0.5, 1.0, 2.0), 0.0, 0) for _ in range(rng.integers(1, 3))]
    for _ in range(rng.integers(2, 5)):
        frictions.append((*ends(), pick(0.0, 0.1, 0.5), pick(0.2, 0.4, 0.6),
                          int(rng.integers(len(frictions)))))
    return bodies, frictions, [pick(0.0, 0.0, 1.0, -0.5) for _ in bodies]


@pytest.mark.parametrize("count", [9, pytest.param(60, marks=pytest.mark.slow)])
def test_random_rings_obey_their_laws_or_are_refused_by_name(count):
    ended = 0
    for seed in range(count):
        bodies, frictions, speeds = random_ring(seed)
        try:
            run = ring(bodies, frictions, speeds).simulate(quantity(END, "s"), rtol=1e-8)
        except SimulationError as told:
            assert told.code == "simulation.paradox", (seed, told)
            continue
        obeys_all_laws(run, bodies, frictions)
        ended += 1
    assert ended > count / 2  # a third are of one body
