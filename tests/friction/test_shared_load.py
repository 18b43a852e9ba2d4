"""Gears with losses that share a load with brakes beside ideal switches: what they hold together.

What a gear can hold follows how the load is shared: a train at rest breaks away where no way to
share it is left.
"""

import numpy as np
import pytest
from benches import wire, wired
from numpy.testing import assert_allclose

from blocks import Model, quantity
from library.electrical import DCVoltageSource, Diode, ElectricalReference, Switch
from library.electromechanical import DCMotor
from library.mechanisms import LossyGear, OneWayClutch
from library.rotational import Inertia, RotationalFriction, RotationalReference, TorqueSource
from library.signal import Constant, TimeTable

RATIO, DRIVING, DRIVEN, BEARING = 2.0, 0.8, 0.6, 0.05
BRAKE, FRICTION = 0.3, 0.5  # of the input and of the output shaft, in N*m
RISE = 4.0  # of the torque, in N*m/s


def friction(torque):
    return RotationalFriction(law="coulomb", coulomb_torque=quantity(torque, "N*m"),
                              breakaway_torque=quantity(torque, "N*m"))


def servo(order, at="motor", sense=1.0):
    """A motor at an open ideal switch; a brake, a gear and a friction hold against a ramp."""
    model = Model("servo")
    parts = {
        "frame": RotationalReference(), "earth": ElectricalReference(),
        "source": DCVoltageSource(voltage="24 V"), "switch": Switch(model="ideal"),
        "diode": Diode(model="ideal"), "open": Constant(value=0.0), "motor": DCMotor(),
        "shaft": Inertia(inertia="0.01 kg*m^2"), "load": Inertia(inertia="0.02 kg*m^2"),
        "gear": LossyGear(ratio=RATIO, forward_efficiency=DRIVING, backward_efficiency=DRIVEN,
                          forward_bearing_torque=quantity(BEARING, "N*m"),
                          backward_bearing_torque=quantity(BEARING, "N*m")),
        "brake": friction(BRAKE), "bearing": friction(FRICTION), "pull": TorqueSource(),
        "ramp": TimeTable(times=quantity(np.array([0.0, 1.0]), "s"),
                          values=quantity(np.array([0.0, sense * RISE]), "N*m")),
    }  # fmt: skip
    names = list(parts)
    for name in np.random.default_rng(order).permutation(names) if order else names:
        model.add(str(name), parts[name])
    wire(model, "open.y switch.vT", "source.p switch.p", "switch.n motor.p diode.n",
         "source.n motor.n diode.p earth.V", "ramp.y pull.S")
    input_shaft = [model.motor.R, model.shaft.I, model.gear.S, model.brake.R]
    output_shaft = [model.gear.O, model.load.I, model.bearing.R]
    (input_shaft if at == "motor" else output_shaft).append(model.pull.R)
    model.connect(*input_shaft)
    model.connect(*output_shaft)
    model.connect(model.brake.C, model.bearing.C, model.pull.C, model.motor.C, model.frame.W)
    return model


def strength(at):
    """The torque that begins to turn the train: its efforts are at all their bounds."""
    if at == "motor":
        return BRAKE + (FRICTION / RATIO + BEARING) / DRIVING
    return FRICTION + RATIO * (BRAKE / DRIVEN + BEARING)


@pytest.mark.parametrize(("order", "at", "sense"), [
    (0, "motor", 1.0), (1, "motor", -1.0), (2, "load", 1.0)])
def test_a_train_with_a_lossy_gear_beside_a_switch_breaks_away_by_hand(order, at, sense):
    run = servo(order, at, sense).simulate("0.6 s", rtol=1e-8)
    turning = [e for e in run.events if e.component in ("brake", "gear", "bearing")]
    begins = turning[0].time.to("s").m
    assert begins == pytest.approx(strength(at) / RISE, rel=1e-9)
    assert [e.description for e in turning] == 3 * [
        "slides forward" if sense > 0 else "slides backward"]
    times = quantity(np.linspace(0.01, 0.99, 9) * begins, "s")
    brake, loss, bearing, into = (run[name].at(times).m for name in (
        "brake.t", "gear.loss", "bearing.t", "gear.S.t"))
    by_input, by_output = (1 - DRIVING) * into, (1 - 1 / DRIVEN) * into
    room = 1e-9
    assert (np.abs(brake) <= BRAKE + room).all() and (np.abs(bearing) <= FRICTION + room).all()
    assert (loss >= np.minimum(by_input, by_output) - BEARING - room).all()
    assert (loss <= np.maximum(by_input, by_output) + BEARING + room).all()
    pull = sense * RISE * times.to("s").m
    on_input, on_output = (pull, 0.0) if at == "motor" else (0.0, pull)
    assert_allclose(brake + into, on_input, atol=1e-9)
    assert_allclose(bearing, on_output + RATIO * (into - loss), atol=1e-9)


def test_a_one_way_clutch_that_holds_a_train_leaves_brakes_room():
    """Its strength of 1e6 N*m is no range to share: brakes would be loaded to their ends."""
    model = servo(0, sense=-1.0)
    wire(model, "hold.R load.I", "hold.C frame.W", hold=OneWayClutch())
    run = model.simulate("0.6 s", rtol=1e-8)
    times = quantity(np.linspace(0.05, 0.55, 6), "s")
    assert_allclose(run["shaft.w"].at(times).m, 0.0, atol=1e-12)
    brake, bearing = run["brake.t"].at(times).m, run["bearing.t"].at(times).m
    assert np.all(np.abs(brake) < 0.9 * BRAKE)
    assert np.all(np.abs(bearing) < 0.9 * FRICTION)
    into, loss = run["gear.S.t"].at(times).m, run["gear.loss"].at(times).m
    pull = -RISE * times.to("s").m
    assert_allclose(into + brake, pull, atol=1e-9)
    assert_allclose(RATIO * (into - loss), bearing + run["hold.t"].at(times).m, atol=1e-9)


@pytest.mark.parametrize("method", ["auto", "rodas4"])
@pytest.mark.parametrize("pull", [0.2, -0.2, -2.0])
def test_brakes_beside_a_one_way_clutch_share_in_proportion_to_their_ranges(pull, method):
    """A body, two brakes and a lossy gear: a clutch of 1e6 N*m bears what it can, not brakes."""
    model = wired("held body", "shaft.I pull.R hold.R brake.R bearing.R gear.S",
                  "gear.O load.I last.R", "frame.W pull.C hold.C brake.C bearing.C last.C",
                  shaft=Inertia(inertia="0.01 kg*m^2"), frame=RotationalReference(),
                  pull=TorqueSource(torque=quantity(pull, "N*m")), hold=OneWayClutch(),
                  brake=friction(BRAKE), bearing=friction(FRICTION),
                  gear=LossyGear(ratio=RATIO, forward_efficiency=DRIVING,
                                 backward_efficiency=DRIVEN), load=Inertia(inertia="0.02 kg*m^2"),
                  last=friction(0.4))
    run = model.simulate("1 s", method=method)
    assert_allclose(run["shaft.w"].final.m, 0.0, atol=1e-12)
    brake, bearing, hold = (run[f"{name}.t"].final.m for name in ("brake", "bearing", "hold"))
    assert_allclose(brake + bearing + hold + run["gear.S.t"].final.m, pull, atol=1e-9)
    assert_allclose(brake / BRAKE, bearing / FRICTION, atol=1e-6)
    # without losses all brakes together would bear the pull at this share of their ranges; what
    # the clutch bears the way it locks takes load from them
    least = abs(pull) / (BRAKE + FRICTION + 0.4 / RATIO)
    assert hold <= 0.0 and abs(brake) <= 1.1 * min(least, 0.5) * BRAKE


@pytest.mark.parametrize("seed", [0, 1, *(
    pytest.param(seed, marks=pytest.mark.slow) for seed in range(2, 40))])
def test_random_trains_of_lossy_gears_and_brakes_break_away_by_hand(seed):
    """One to four gears, up to two brakes on every shaft, driven from one of the ends."""
    rng = np.random.default_rng(seed)
    n, driving = int(rng.integers(1, 5)), rng.random() < 0.6
    ratio, efficiency, loss = rng.uniform(0.5, 4, n), rng.uniform(0.5, 0.98, n), rng.uniform(
        0, 0.1, n)
    brakes = [rng.uniform(0.05, 1, rng.integers(0, 3)) for _ in range(n + 1)]
    order = range(n - 1, -1, -1) if driving else range(n)
    begins = brakes[n if driving else 0].sum()
    for k in order:
        begins = (brakes[k].sum() + (begins / ratio[k] + loss[k]) / efficiency[k] if driving else
                  brakes[k + 1].sum() + ratio[k] * (begins / efficiency[k] + loss[k]))
    model = Model("train")
    model.frame, model.pull, model.ramp = RotationalReference(), TorqueSource(), TimeTable(
        times=quantity(np.array([0.0, 2.0]), "s"),
        values=quantity(np.array([0.0, 2.0 * begins]), "N*m"))
    shafts = [[model.add(f"shaft{k}", Inertia(
        inertia=quantity(rng.uniform(0.01, 0.1), "kg*m^2"))).I] for k in range(n + 1)]
    for k, strengths in enumerate(brakes):
        for j, strength_ in enumerate(strengths):
            brake = model.add(f"brake{k}_{j}", friction(strength_))
            shafts[k].append(brake.R)
            model.connect(brake.C, model.frame.W)
    for k in range(n):
        gear = model.add(f"gear{k}", LossyGear(
            ratio=ratio[k], forward_efficiency=efficiency[k], backward_efficiency=efficiency[k],
            forward_bearing_torque=quantity(loss[k], "N*m"),
            backward_bearing_torque=quantity(loss[k], "N*m")))
        shafts[k].append(gear.S)
        shafts[k + 1].append(gear.O)
    shafts[0 if driving else n].append(model.pull.R)
    wire(model, "ramp.y pull.S", "pull.C frame.W")
    for ports in shafts:
        model.connect(*ports)
    run = model.simulate("1.2 s", rtol=1e-9)
    slides = [e for e in run.events if e.description.startswith("slides")]
    assert slides and slides[0].time.to("s").m == pytest.approx(1.0, rel=1e-8)
