"""A body dragged over a rough floor through a spring: stick-slip with the exact law.

The problem of T. Piatkowski's comparison of friction models, and variants in which the
friction at rest exceeds that of sliding.
"""

import numpy as np
import pytest
from benches.friction import dragged, happened, missing_energy, reference, value, values
from numpy.testing import assert_allclose
from scipy.integrate import solve_ivp

from blocks import Parameter, Variable, abs_, dry_friction, interpolate, quantity
from library.translational import TranslationalFriction, TwoPort

BELT = reference()["belt"]


@pytest.mark.parametrize("method, rtol", [("DOP853", 1e-12), ("ode45", 1e-11)])
def test_the_published_problem_is_solved_exactly(method, rtol):
    case = BELT["P1"]
    run = dragged(case).simulate("4 s", rtol=rtol, method=method)
    assert_allclose(value(run, "sensor.x"), case["x"], rtol=0, atol=1e-9)
    assert_allclose(value(run, "friction.f"), case["force"], rtol=0, atol=1e-8)
    assert_allclose([value(run, "sensor.x", 2), value(run, "body.v", 2)], case["at_2"],
                    rtol=0, atol=1e-9)  # fmt: skip
    events = happened(run, "friction")
    assert_allclose(events[0][0], case["slips"][0], rtol=0, atol=1e-9)
    assert_allclose(events[-1][0], case["sticks"][0][0], rtol=0, atol=1e-9)
    assert (events[0][2], events[-1][2]) == ("slides forward", "sticks")
    # it grazes v = 0 twice with the load at the bound: at most a stop and a start each
    assert len(events) <= 2 + 2 * len(case["grazes"])
    for time, x in case["grazes"]:
        assert_allclose(value(run, "sensor.x", time), x, rtol=0, atol=1e-9)
        assert_allclose(value(run, "body.v", time), 0, atol=1e-8)
    assert missing_energy(run) < 1e-9


def test_a_micrometre_on_four_metres_takes_no_more_than_600_evaluations():
    case, t = BELT["P1"], np.linspace(0, 4, 401)
    run = dragged(case).simulate("4 s", rtol=2e-6, method="DOP853")
    exact = dragged(case).simulate("4 s", rtol=1e-12, method="DOP853")
    ours, truth = values(run, ["sensor.x"], t), values(exact, ["sensor.x"], t)
    assert abs(value(run, "sensor.x") - case["x"]) < 1e-6
    assert np.abs(ours - truth).max() < 1e-6
    assert run.statistics["residuals"] <= 600


@pytest.mark.parametrize("name", ["P6-A", "P6-B", "P6-D"])
def test_stick_slip_follows_the_reference(name):
    case = BELT[name]
    run = dragged(case).simulate(f"{case['end']} s", rtol=1e-12)
    events = happened(run, "friction")
    assert [e[2] for e in events] == ["slides forward", "sticks"] * len(case["sticks"])
    assert_allclose([e[0] for e in events[::2]], case["slips"], rtol=0, atol=1e-8)
    for (time, *_), (stick, x) in zip(events[1::2], case["sticks"], strict=True):
        assert_allclose(time, stick, rtol=0, atol=1e-8)
        if x is not None:
            assert_allclose(value(run, "sensor.x", time), x, rtol=0, atol=1e-8)
    assert_allclose(value(run, "sensor.x"), case["x"], rtol=0, atol=1e-8)
    if "force" in case:
        assert_allclose(value(run, "friction.f"), case["force"], rtol=0, atol=1e-8)


def stick_slip(case, kinetic):
    """Independent solution: event times and the final position."""
    m, k, static = case["mass"], case["stiffness"], case["static"]

    def end_of_spring(t):
        return case["speed"] * min(t, case["until"])

    def slope(t, y):
        return [y[1], (k * (end_of_spring(t) - y[0]) - kinetic(y[1])) / m]

    def stop(t, y):
        return y[1]

    stop.terminal, stop.direction = True, -1
    t, x, times = 0.0, 0.0, []
    while True:
        load = k * (case["speed"] * np.array([t, case["until"]]) - x)
        if load[1] <= static:
            return times, x
        t = max(t, (static / k + x) / case["speed"])
        times.append(t)
        y = [x, 0.0]
        while True:  # one piece up to the end of the drive, another after it
            last = case["until"] if t < case["until"] else case["end"]
            # leave v = 0 before watching for it
            piece = solve_ivp(slope, (t, last), y, method="DOP853", rtol=1e-13, atol=1e-15,
                              events=stop if t not in times else None, max_step=0.02,
                              first_step=1e-4)  # fmt: skip
            if t in times:
                h = t + 1e-3
                start = solve_ivp(slope, (t, h), y, method="DOP853", rtol=1e-13, atol=1e-15)
                t, y = h, start.y[:, -1]
                continue
            if piece.t_events[0].size:
                t, x = piece.t_events[0][0], piece.y_events[0][0][0]
                times.append(t)
                break
            t, y = last, piece.y[:, -1]


CURVE = {"mass": 1, "stiffness": 90, "kinetic": 10, "static": 15, "speed": 0.5, "until": 3,
         "end": 4}  # fmt: skip


def test_a_stribeck_curve_with_exact_sticking_agrees_with_an_independent_solution():
    law = TranslationalFriction(
        law="stribeck", coulomb_force="10 N", breakaway_force="15 N", breakaway_velocity="0.2 m/s",
        viscous_coefficient="3 N*s/m",
    )  # fmt: skip
    run = dragged(CURVE, law).simulate("4 s", rtol=1e-12)
    times, x = stick_slip(CURVE, lambda v: 10 + 5 * np.exp(-((v / 0.2) ** 2)) + 3 * v)
    assert len(times) >= 6
    assert_allclose([e[0] for e in happened(run, "friction")], times, rtol=0, atol=1e-8)
    assert_allclose(value(run, "sensor.x"), x, rtol=0, atol=1e-8)


SPEEDS, FORCES = [0.0, 0.1, 0.4, 1.0, 10.0], [14.0, 11.0, 10.0, 10.5, 30.0]


class TableFriction(TwoPort):
    """Exact friction whose kinetic force is a table over the speed."""

    static = Parameter("15 N")
    power_dissipated = Variable("W")

    def equations(self):
        speeds, forces = quantity(SPEEDS, "m/s"), quantity(FORCES, "N")
        kinetic = interpolate(abs_(self.v), speeds, forces)
        yield dry_friction(self.f, self.v, static=self.static, kinetic=kinetic)
        yield self.power_dissipated == self.f * self.v


def test_a_table_of_friction_over_speed_agrees_with_an_independent_solution():
    run = dragged(CURVE, TableFriction()).simulate("4 s", rtol=1e-11, max_step="10 ms")
    times, x = stick_slip(CURVE, lambda v: np.interp(abs(v), SPEEDS, FORCES))
    assert_allclose([e[0] for e in happened(run, "friction")], times, rtol=0, atol=1e-8)
    assert_allclose(value(run, "sensor.x"), x, rtol=0, atol=1e-8)
