"""Gears with losses that start, stop and turn round with a brake, without Python."""

import numpy as np
from carried_out_in_python import flips
from numpy.testing import assert_allclose
from scipy.integrate import solve_ivp

from blocks import Model, quantity, sin
from library.mechanisms import LossyGear
from library.rotational import (
    Inertia,
    RotationalFriction,
    RotationalReference,
    RotationalSpring,
    TorqueSource,
)

J, OUT, RATIO, FORWARD, BACKWARD, BRAKE = 0.01, 0.02, 2.0, 0.9, 0.8, 0.3
END = 4.0


def torque(t):
    return np.sin(6 * t) + 0.2


def braked_gear():
    """A torque on a shaft with a brake, whose gear turns a load."""
    model = Model("braked")
    model.ground = RotationalReference()
    model.motor, model.load = Inertia(inertia=quantity(J, "kg*m^2")), Inertia(
        inertia=quantity(OUT, "kg*m^2"))
    model.gear = LossyGear(ratio=RATIO, forward_efficiency=FORWARD, backward_efficiency=BACKWARD)
    model.brake = RotationalFriction(law="coulomb", coulomb_torque=quantity(BRAKE, "N*m"),
                                     breakaway_torque=quantity(BRAKE, "N*m"))
    model.drive = TorqueSource(torque=lambda t: quantity("1 N*m") * sin(
        quantity("6 rad/s") * t) + quantity("0.2 N*m"))
    model.connect(model.motor.I, model.gear.S, model.brake.R, model.drive.R)
    model.connect(model.gear.O, model.load.I)
    model.connect(model.brake.C, model.drive.C, model.ground.W)
    return model


def acceleration(t, way):
    """Of the shaft; the load drives the gear while it slows down."""
    left = torque(t) - way * BRAKE
    keeps = FORWARD if way * left > 0 else 1 / BACKWARD
    return left / (J + OUT / (RATIO**2 * keeps))


def gives_way(t, y, way):
    return abs(torque(t)) - BRAKE


def stops(t, y, way):
    return way * y[0]


gives_way.terminal = stops.terminal = True
gives_way.direction, stops.direction = 1, -1


def slope(t, y, way):
    return [acceleration(t, way) if way else 0.0]


def by_hand():
    """Instants at which the brake takes another mode, and the speed at the end."""
    t, speed, way, times = 0.0, 0.0, 0.0, []
    while t < END:
        run = solve_ivp(slope, (t, END), [speed], args=(way,), events=stops if way else gives_way,
                        rtol=1e-11, atol=1e-13, max_step=0.05)
        t, speed = run.t[-1], run.y[0, -1]
        if t < END:
            times.append(t)
            rests = way and abs(torque(t)) <= BRAKE
            speed, way = 0.0, 0.0 if rests else np.sign(torque(t))
    return times, speed


def test_a_gear_and_a_brake_stick_and_slide_together_without_python(monkeypatch):
    times, speed = by_hand()
    model = braked_gear()
    seen = flips(monkeypatch)
    run = model.simulate(quantity(END, "s"), method="dopri5", rtol=1e-10, progress=False)
    assert not seen
    assert len(times) > 5
    assert_allclose([e.time for e in run.events.of("brake")], times, rtol=1e-8)
    assert_allclose([e.time for e in run.events.of("gear")], times, rtol=1e-8)
    assert_allclose(run["motor.w"].final.m, speed, rtol=1e-7)
    # at rest both are at the same share of their ranges, and the gear has none
    assert_allclose(run["gear.loss"].at("10 ms").m, 0.0, atol=1e-12)
    assert_allclose(run["brake.t"].at("10 ms").m, torque(0.01), rtol=1e-9)


def test_a_wave_in_a_chain_of_gears_with_losses_has_no_events_but_their_starts():
    n = 6
    model = Model("chain")
    model.ground, model.drive = RotationalReference(), TorqueSource(
        torque=lambda t: quantity("3 N*m") * sin(quantity("9 rad/s") * t))
    model.wheels = Inertia(count=n + 1)
    model.gears = LossyGear(count=n, ratio=1.0, forward_efficiency=FORWARD,
                            backward_efficiency=BACKWARD)
    model.springs = RotationalSpring(count=n, stiffness="500 N*m/rad")
    model.connect(model.drive.R, model.wheels[0].I)
    model.connect(model.drive.C, model.ground.W)
    model.connect(model.wheels[:-1].I, model.gears.S)
    model.connect(model.gears.O, model.springs.R)
    model.connect(model.springs.C, model.wheels[1:].I)
    run = model.simulate("0.5 s", progress=False)
    starts = [e.component for e in run.events if "slides forward" in e.description]
    assert sorted(starts) == [f"gears[{k}]" for k in range(n)]
    assert len(run.events) == n
