"""Friction that presses itself: wedges, guides, ladders and blocks pushed at an angle.

Classical statics of friction, e.g. Meriam and Kraige, Engineering Mechanics: Statics, ch. 6.
"""

import numpy as np
import pytest
from benches import wired
from benches.friction import happened, missing_energy, times_of, value, values
from benches.rigid_bodies import G, wedge
from numpy.testing import assert_allclose
from scipy.integrate import solve_ivp

from blocks import (
    Component,
    Model,
    Parameter,
    SimulationError,
    Variable,
    abs_,
    contact,
    cos,
    der,
    dry_friction,
    quantity,
    sin,
)


class Pushed(Component):
    """A block on a rough floor, pushed down at an angle against the horizontal."""

    mass = Parameter("1 kg")
    friction = Parameter(0.5)
    angle = Parameter("30 deg")
    push = Parameter("0 N", varying=True)
    x, y = Variable("m", "0 m", priority="high"), Variable("m", "0 m", priority="high")
    v, w = Variable("m/s", "0 m/s", priority="high"), Variable("m/s", "0 m/s", priority="high")
    N, T = Variable("N"), Variable("N")

    def equations(self):
        yield der(self.x) == self.v
        yield der(self.y) == self.w
        yield self.mass * der(self.v) == self.push * cos(self.angle) - self.T
        yield self.mass * der(self.w) == (
            self.N - self.push * sin(self.angle) - self.mass * quantity(G, "m/s^2"))
        yield contact(self.N, self.y)
        yield dry_friction(self.T, self.v, static=self.friction * self.N,
                           kinetic=self.friction * self.N)


class Ladder(Component):
    """A ladder of length 2 l between a rough floor and a rough wall; it leans at ``angle``."""

    mass, l = Parameter("10 kg"), Parameter("2 m")
    floor, wall = Parameter(0.4), Parameter(0.3)
    x, y = Variable("m", "0 m", priority="high"), Variable("m", "0 m", priority="high")
    angle = Variable("rad", "60 deg", priority="high")
    vx, vy = Variable("m/s", "0 m/s", priority="high"), Variable("m/s", "0 m/s", priority="high")
    w = Variable("rad/s", "0 rad/s", priority="high")
    below, beside = Variable("m"), Variable("m")
    base, top = Variable("m/s"), Variable("m/s")
    N1, T1, N2, T2 = Variable("N"), Variable("N"), Variable("N"), Variable("N")

    def equations(self):
        m, (s, c) = self.mass, (self.l * sin(self.angle), self.l * cos(self.angle))
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
            yield contact(n, gap)
            yield dry_friction(t, slip, static=mu * n, kinetic=mu * n)


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
    limit = np.arctan((1 - floor * wall) / (2 * floor))
    angle = limit + side * 1e-4
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
class Bearing(Component):
    """A pendulum in Cartesian coordinates whose bearing rubs with the pull of the rod."""

    x, y = Variable("m", "1 m", priority="high"), Variable("m", "0 m")
    u, v = Variable("m/s", "0 m/s", priority="high"), Variable("m/s")
    pull, brake = Variable("N/m"), Variable("N*m")
    grip = Parameter("0.1 m", doc="coefficient of friction times radius")
    mass, length = Parameter("1 kg"), Parameter("1 m")

    def equations(self):
        torque = self.grip * abs_(self.pull) * self.length
        yield der(self.x) == self.u
        yield der(self.y) == self.v
        yield self.mass * der(self.u) == -self.pull * self.x + self.brake * self.y / self.length**2
        yield self.mass * der(self.v) == (-self.pull * self.y - self.brake * self.x / self.length**2
                                          - self.mass * quantity(G, "m/s^2"))  # fmt: skip
        yield self.x**2 + self.y**2 == self.length**2
        turning = (self.x * self.v - self.y * self.u) / self.length**2
        yield dry_friction(self.brake, turning, static=torque, kinetic=torque)


def test_a_pendulum_in_a_bearing_that_rubs_with_its_own_pull_stops_where_the_angle_equation_does():
    grip, theta, w, t, sense, stops = 0.08, 0.0, 0.0, 0.0, -1.0, []
    while True:  # theta'' = -g cos(theta) - sense grip (w^2 - g sin(theta)), rod 1 m, mass 1 kg
        def slope(_, s, sense=sense):
            return [s[1], -G * np.cos(s[0]) - sense * grip * abs(s[1]**2 - G * np.sin(s[0]))]

        def stop(_, s):
            return s[1]

        stop.terminal, stop.direction = True, -sense
        start = solve_ivp(slope, (t, t + 1e-2), [theta, w], rtol=1e-13, atol=1e-14, method="DOP853")
        piece = solve_ivp(slope, (start.t[-1], 60), start.y[:, -1], rtol=1e-13, atol=1e-14,
                          method="DOP853", events=stop)  # fmt: skip
        t, theta, w = piece.t_events[0][0], piece.y_events[0][0][0], 0.0
        stops.append((t, theta))
        if abs(np.cos(theta)) <= grip * abs(np.sin(theta)):
            break
        sense = -sense
    assert len(stops) > 3
    model = wired("pendulum", p=Bearing(grip=quantity(grip, "m")))
    run = model.simulate(quantity(t + 1, "s"), rtol=1e-10)
    assert [e[0] for e in happened(run)] == pytest.approx([t for t, _ in stops], abs=1e-6)
    assert_allclose(np.arctan2(value(run, "p.y"), value(run, "p.x")), theta, rtol=0, atol=1e-6)
