"""Hard stop with restitution against the closed form of the bouncing ball."""

import numpy as np
import pytest
from benches import wired
from numpy.testing import assert_allclose

from blocks import Model, ParameterError, quantity
from library.isothermal_liquid import ConstantVolumeChamber
from library.translational import ForceSource, HardStop, Mass, Reference, TranslationalFriction

G, H, E = 9.81, 1.0, 0.5


def dropped(mass: str = "2 kg", restitution: float = E) -> Model:
    return wired("dropped", "ball.M floor.R weight.R", "floor.C weight.C ground.V",
                 ball=Mass(mass=mass),
                 floor=HardStop(model="restitution", lower_bound="0 m", upper_bound="5 m",
                                restitution=restitution, x=f"{H} m"), ground=Reference(),
                 weight=ForceSource(force=f"{-G * float(mass.split()[0])} N"))


@pytest.mark.parametrize("method", ["auto", "DOP853", "RK45", "ode45", "Radau"])
def test_a_ball_rebounds_at_the_closed_form_times_to_the_heights_and_comes_to_rest(method):
    run = dropped().simulate("3 s", rtol=1e-9, method=method)
    times = run.events.of("floor").to_pandas()["time [s]"].to_numpy()
    first = np.sqrt(2 * H / G)
    bounces = first * (1 + 2 * np.cumsum(E ** np.arange(1, 6)))
    assert_allclose(times[0], first, rtol=1e-8)
    assert_allclose(times[1:6], bounces, rtol=1e-8)
    tops = quantity((times[:3] + times[1:4]) / 2, "s")
    assert_allclose(run["floor.x"].at(tops).to("m").m, E ** (2 * np.arange(1, 4)), rtol=1e-7)
    assert_allclose(times[-1], first * (1 + 2 * E / (1 - E)), rtol=1e-7)  # sum of all bounces
    assert len(times) < 60 and run["ball.v"].final.m == 0
    assert abs(run["floor.x"].final.to("m").m) < 1e-12
    assert_allclose(run["floor.lower_force"].final.to("N").m, 2 * G, rtol=1e-12)
    assert_allclose(run["floor.f"].final.to("N").m, -2 * G, rtol=1e-12)


def test_what_the_rebounds_lose_is_dissipated_by_the_stop():
    energy = dropped().simulate("3 s", rtol=1e-10).energy()
    assert_allclose(energy["floor"].dissipated, 2 * G * H, rtol=1e-8)
    assert energy.relative_residual < 1e-9


def test_an_elastic_ball_bounces_back_to_its_height():
    run = dropped(restitution=1.0).simulate("4 s", rtol=1e-10)
    period = 2 * np.sqrt(2 * H / G)
    assert_allclose(run["floor.x"].at(f"{4 * period} s").to("m").m, H, rtol=1e-7)
    assert abs(run["floor.x"].min().to("m").m) < 1e-8


def test_the_upper_stop_holds_what_presses_up():
    model = dropped()
    model.weight.force = "7 N"
    run = model.simulate("8 s", rtol=1e-8)
    assert_allclose(run["floor.x"].final.to("m").m, 5.0, rtol=1e-12)
    assert_allclose(run["floor.upper_force"].final.to("N").m, 7.0, rtol=1e-10)
    assert_allclose(run["floor.f"].final.to("N").m, 7.0, rtol=1e-10)


def test_an_elastic_stop_has_no_coefficient_of_restitution():
    with pytest.raises(ParameterError, match="has no meaning with model='smooth'"):
        HardStop(restitution=0.5)


@pytest.mark.parametrize("method", ["auto", "dopri5", "DOP853"])
def test_low_rebounds_turn_back_whatever_else_is_in_the_model(method):
    """A gap is compared with positions: beside a pressure of 2e7 Pa 4 um were taken for none.

    With 50 N and a friction of 10 N the block approaches at 20 m/s² and is slowed down at 30.
    """
    model = wired("low rebounds", "push.R block.M rub.R stop.R", "push.C rub.C stop.C ground.V",
                  block=Mass(mass="2 kg"), ground=Reference(), push=ForceSource(force="50 N"),
                  rub=TranslationalFriction(law="coulomb", coulomb_force="10 N",
                                            breakaway_force="10 N"),
                  stop=HardStop(model="restitution", restitution=0.3, upper_bound="20 mm"),
                  aside=ConstantVolumeChamber(p_I="20 MPa"))
    run = model.simulate("0.1 s", method=method)
    speed = np.sqrt(2 * 20 * 0.02)
    time, turns, heights = speed / 20, [], []
    for _ in range(6):
        time += 0.3 * speed / 30
        turns.append(time)
        heights.append((0.3 * speed) ** 2 / (2 * 30))
        time += np.sqrt(2 * heights[-1] / 20)
        speed = np.sqrt(2 * 20 * heights[-1])
    gaps = 0.02 - run["stop.x"].at(quantity(np.array(turns), "s")).to("m").m
    assert_allclose(gaps, heights, rtol=1e-6, atol=1e-13)
    assert abs(run["stop.x"].final.to("m").m - 0.02) < 1e-12


def test_wagons_are_pulled_along_one_after_the_other():
    """Each plastic impact is told once: couplings that are taut pass it on, and close no more."""
    n, slack = 8, 0.06  # m, from 0.02 m to the upper bound
    model = wired("train", "coupling.R wagon[:-1].M", "coupling.C wagon[1:].M", "pull.R wagon[0].M",
                  "pull.C ground.V",
                  ground=Reference(), wagon=Mass(count=n, mass="10 kg", v="0 m/s"),
                  coupling=HardStop(count=n - 1, model="restitution", restitution=0,
                                    lower_bound="0 m", upper_bound="80 mm", x="20 mm"),
                  pull=ForceSource(force=f"{20 * n} N"))
    run = model.simulate("2 s")
    v, t, instants = 0.0, 0.0, []
    for moving in range(1, n):
        a = 2.0 * n / moving
        taken = (np.sqrt(v * v + 2 * slack * a) - v) / a
        t, v = t + taken, (v + a * taken) * moving / (moving + 1)
        instants.append(t)
    assert [e.description for e in run.events] == (n - 1) * ["closes (upper_force)"]
    assert_allclose([e.time for e in run.events], instants, rtol=1e-9)
    assert_allclose(run["wagon[0].v"].final.m, v + 2.0 * (2.0 - t), rtol=1e-9)
