"""What is slow beside a shaft that turns fast in rad/s: metres a second are no radians a second."""

import numpy as np
import pytest
from benches import wire, wired
from numpy.testing import assert_allclose

from library.mechanisms import LossyGear
from library.rotational import Inertia, RotationalFriction, RotationalReference
from library.translational import HardStop, Mass, Reference, TranslationalFriction

METHODS = [{"method": "auto"}, {"method": "rodas4"}, {"method": "rk4", "step": "1 ms"}]


def beside_a_shaft(speed, **bodies):
    """Bodies of 1 kg at 1 um/s, each with what acts on it, and a shaft on its bearing."""
    model = wired("slow bodies", frame=Reference(), house=RotationalReference())
    for name, (velocity, part) in bodies.items():
        body = Mass(mass="1 kg", v=velocity)
        setattr(model, name, body)
        setattr(model, f"{name}_part", part)
        model.connect(body.M, part.R)
        model.connect(part.C, model.frame.V)
    wire(model, "shaft.I bearing.R", "bearing.C house.W",
         shaft=Inertia(inertia="1 kg*m^2", w=f"{speed} rad/s"),
         bearing=RotationalFriction(law="coulomb", coulomb_torque="1 uN*m",
                                    breakaway_torque="1 uN*m"))
    return model


def turn_a_gear(model):
    """A gear with losses on the shaft, whose friction follows the load."""
    wire(model, "shaft.I gear.S", "gear.O wheel.I",
         wheel=Inertia(inertia="1 kg*m^2"),
         gear=LossyGear(ratio=2.0, forward_efficiency=0.9, backward_efficiency=0.9))


def guide(force):
    return TranslationalFriction(law="coulomb", coulomb_force=force, breakaway_force=force)


@pytest.mark.parametrize("geared", [False, True])
@pytest.mark.parametrize("method", METHODS)
def test_a_body_slides_on_while_another_stops_beside_a_shaft_of_any_speed(method, geared):
    # v = v0 - F/m t: 1 um/s that 1 uN brakes stops after 1 s, though 4 uN stop the other in 0.25 s
    model = beside_a_shaft(1e7, slow=("1 um/s", guide("1 uN")), braked=("1 um/s", guide("4 uN")))
    if geared:
        turn_a_gear(model)
    run = model.simulate("2 s", **method)
    assert_allclose(run["slow.v"].at("0.5 s").m, 0.5e-6, rtol=1e-6)
    stops = [e.time for e in run.events.of("slow_part")]
    assert_allclose(stops, [1.0], rtol=1e-6)
    again = model.simulate("2 s", **method)  # by the method that has served the first run
    assert np.array_equal(again["slow.v"].m, run["slow.v"].m)


@pytest.mark.parametrize("method", METHODS)
def test_a_slow_ball_rebounds_beside_a_shaft_of_any_speed(method):
    # after 1 s at 1 um/s it strikes, and goes back at half the speed (Newton's law)
    stop = HardStop(model="restitution", restitution=0.5, lower_bound="-1 um", upper_bound="1 m")
    model = beside_a_shaft(1e7, ball=("-1 um/s", stop))
    run = model.simulate("2 s", **method)
    assert_allclose(run["ball.v"].at("1.5 s").m, 0.5e-6, rtol=1e-6)
