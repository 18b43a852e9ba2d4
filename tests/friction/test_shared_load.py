"""Frictions that share what they hold: gears, brakes and clutches, beside switches and fast shafts.

What a gear can hold follows how the load is shared: a train at rest breaks away where no way to
share it is left."""

import numpy as np
import pytest
from benches import few, wire, wired
from benches.friction import dry, push
from numpy.testing import assert_allclose

import library.mechanisms as mech
import library.translational as tr
from blocks import Model, quantity
from library.electrical import DCVoltageSource, Diode, ElectricalReference, Inductor, Switch
from library.electromechanical import DCMotor
from library.rotational import Inertia, RotationalFriction, RotationalReference, TorqueSource
from library.signal import Constant, Pulse, Step, TimeTable
from library.thermal import ThermalMass

# -- gears with losses ------------------------------------------------------------------------
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
        "gear": mech.LossyGear(ratio=RATIO, forward_efficiency=DRIVING, backward_efficiency=DRIVEN,
                               forward_bearing_torque=quantity(BEARING, "N*m"),
                               backward_bearing_torque=quantity(BEARING, "N*m")),
        "brake": friction(BRAKE), "bearing": friction(FRICTION), "pull": TorqueSource(),
        "ramp": TimeTable(times=quantity(np.array([0.0, 1.0]), "s"),
                          values=quantity(np.array([0.0, sense * RISE]), "N*m"))}  # fmt: skip
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


@few(1, ("order", "at", "sense"), [
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
    wire(model, "hold.R load.I", "hold.C frame.W", hold=mech.OneWayClutch())
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
                  pull=TorqueSource(torque=quantity(pull, "N*m")), hold=mech.OneWayClutch(),
                  brake=friction(BRAKE), bearing=friction(FRICTION),
                  gear=mech.LossyGear(ratio=RATIO, forward_efficiency=DRIVING,
                                      backward_efficiency=DRIVEN),
                  load=Inertia(inertia="0.02 kg*m^2"), last=friction(0.4))
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
        gear = model.add(f"gear{k}", mech.LossyGear(
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


# -- frictions that hold one another ----------------------------------------------------------
def shafts(inertias, speeds, heated=False):
    """Two discs, each with 0.5 N*m of friction against the frame, and a clutch between them."""
    model = wired("shafts", frame=RotationalReference(), clutch=mech.DiscClutch())
    for k in (0, 1):
        model.add(f"disc{k}", Inertia(inertia=quantity(inertias[k], "kg*m^2"),
                                      w=quantity(speeds[k], "rad/s")))
        model.add(f"friction{k}", RotationalFriction(
            law="coulomb", coulomb_torque="0.5 N*m", breakaway_torque="0.6 N*m",
            thermal_port=heated and k == 0))
    wire(model, "disc0.I friction0.R clutch.R", "disc1.I friction1.R clutch.C",
         "friction0.C friction1.C frame.W")
    return model


def chopper(model):
    """An ideal switch and diode at a coil, beside what else the model does."""
    wire(model, "source.p switch.p", "switch.n coil.p diode.n", "source.n coil.n diode.p earth.V",
         "clock.y switch.vT",
         source=DCVoltageSource(voltage="24 V"), earth=ElectricalReference(),
         switch=Switch(model="ideal"), diode=Diode(model="ideal"),
         coil=Inductor(inductance="10 mH"), clock=Pulse(period="10 ms", width=0.5))


@pytest.mark.parametrize("method", ["dopri5", "DOP853"])
@pytest.mark.parametrize("speeds", [(2.0, -1.0), (-1.0, 2.0)])
def test_a_clutch_that_closes_between_shafts_at_rest_loads_nothing(speeds, method):
    model = shafts([0.013, 0.0047], speeds)
    wire(model, "push.y clutch.N", "disc1.I rack.P", "rack.R mass.M guide.R", "guide.C rail.V",
         push=TimeTable(times=quantity(np.array([0, 0.2, 0.3]), "s"), interpolation="held",
                        values=quantity(np.array([0.0, 50.0, 50.0]), "N")),
         rack=mech.RackAndPinion(radius="0.0178 m"), mass=tr.Mass(mass="1.7 kg"),
         guide=dry(0.3, 0.4), rail=tr.Reference())
    run = model.simulate("0.3 s", method=method)
    efforts = [run[f"{name}"].at("0.25 s").m
               for name in ("clutch.t", "friction0.t", "friction1.t", "guide.f")]
    assert_allclose(efforts, 0.0, atol=1e-9)


def test_a_train_at_rest_beside_a_chopper_is_not_moved_by_the_heat_of_its_friction():
    model = shafts([0.013, 0.0047], (2.0, 2.0), heated=True)
    model.push, model.housing = Constant(value="50 N"), ThermalMass(mass="10 g", T="300 K")
    chopper(model)
    wire(model, "push.y clutch.N", "disc1.I drive.R", "drive.C frame.W", "friction0.H housing.M",
         drive=TorqueSource(torque="0.1 N*m"))
    run = model.simulate("0.1 s", rtol=1e-9)
    assert run["disc0.w"].at("0.05 s").m == pytest.approx(0.0, abs=1e-12)
    held = [run[f"friction{k}.t"].at("0.08 s").m for k in (0, 1)]
    assert sum(held) == pytest.approx(0.1, rel=1e-9) and min(held) > 0.04
    turned = 0.5 * (0.013 + 0.0047) * 2.0**2 / (2 * 0.5 - 0.1)
    warmer = 0.5 * turned / (0.01 * model.housing.specific_heat.m_as("J/(kg*K)"))
    assert run["housing.T"].at("0.1 s").m - 300 == pytest.approx(warmer, rel=1e-6)


@pytest.mark.parametrize("flipped", [False, True])
def test_frictions_of_a_shaft_and_its_rack_come_to_rest_together_beside_a_chopper(flipped):
    # only one of them is announced at rest: the other one, on the rack, stops with it
    model, radius, load = Model("rack"), 0.0178, 0.05
    parts = {
        "disc": Inertia(inertia="0.013 kg*m^2", w="2 rad/s"),
        "bearing": RotationalFriction(law="coulomb", coulomb_torque="0.2 N*m",
                                      breakaway_torque="0.25 N*m"),
        "guide": dry(3, 4),
        "rack": mech.RackAndPinion(radius=quantity(radius, "m")), "mass": tr.Mass(mass="1.7 kg")}
    for name in sorted(parts, reverse=flipped):
        model.add(name, parts[name])
    chopper(model)
    wire(model, "disc.I bearing.R drive.R rack.P", "rack.R mass.M guide.R",
         "bearing.C drive.C frame.W", "guide.C rail.V",
         frame=RotationalReference(), rail=tr.Reference(),
         drive=TorqueSource(torque=quantity(load, "N*m")))
    run = model.simulate("0.3 s", rtol=1e-9)
    ranges = np.array([0.25, 4.0])
    share = load / (ranges @ [1.0, radius])
    held = [abs(run[name].at("0.29 s").m) for name in ("bearing.t", "guide.f")]
    assert_allclose(held, share * ranges, rtol=1e-6)
    assert [run[f"{name}.mode"].at("0.29 s").m for name in ("bearing", "guide")] == [0, 0]


@pytest.mark.parametrize("speed", [4e-15, 1e-11])
@pytest.mark.parametrize("method", ["auto", "dopri5", "DOP853", "rodas4"])
def test_a_clutch_that_closes_on_a_difference_of_speeds_that_is_rounding_sticks(method, speed):
    model = wired("closing", "push.y clutch.N", "one.I clutch.R", "other.I clutch.C",
                  one=Inertia(inertia="8 g*m^2"), clutch=mech.DiscClutch(),
                  other=Inertia(inertia="2 g*m^2", w=quantity(speed, "rad/s")),
                  push=Step(final="18 N", start="0.1 s"))
    run = model.simulate("0.2 s", method=method)
    assert [e.description for e in run.events if e.component == "clutch"] == ["sticks"]
    assert run["one.w"].final.m == pytest.approx(speed * 2 / 10, rel=1e-6)


@pytest.mark.parametrize("strengths, method", [((1.0, 1.0), "auto"), ((0.4, 1.6), "rodas4")])
def test_a_clutch_without_strength_beside_brakes_that_share_a_load_changes_nothing(
        strengths, method):
    """A shaft under 1 N*m, held by two brakes, and a disc behind a clutch that is open at times."""
    model = wired("shift", "press.y clutch.N", "shaft.I load.R clutch.R", "clutch.C disc.I",
                  "load.C frame.W",
                  frame=RotationalReference(), shaft=Inertia(), disc=Inertia(inertia="0.03 kg*m^2"),
                  load=TorqueSource(torque="1 N*m"), clutch=mech.DiscClutch(),
                  press=TimeTable(times=quantity(np.array([0, 0.25, 0.5]), "s"),
                                  values=quantity(np.array([0.0, 5.0, 0.0]), "N"),
                                  interpolation="held"))
    for k, strength in enumerate(strengths):
        brake = model.add(f"brake{k}", RotationalFriction(
            law="coulomb", coulomb_torque=quantity(strength, "N*m"),
            breakaway_torque=quantity(strength, "N*m")))
        model.connect(brake.R, model.shaft.I)
        model.connect(brake.C, model.frame.W)
    run = model.simulate("1 s", method=method)
    times = quantity([0.2, 0.4, 0.9], "s")
    for name in ("shaft.w", "disc.w"):
        assert_allclose(run[name].at(times).m, 0.0, atol=1e-15)
    for k, strength in enumerate(strengths):
        assert_allclose(run[f"brake{k}.t"].at(times).m, strength / sum(strengths), rtol=1e-9)
    assert len(run.events) < 10


@pytest.mark.parametrize("method", ["dopri5", "DOP853"])
def test_a_condition_on_a_force_that_is_shared_is_met_where_that_force_is(method):
    """Two bodies rub on the ground and on each other; a load grows by 1 N/s on the first.

    Forces f1 - f3 = load, f2 + f3 = 0 of least sum of sqrt(D) f^2/range, D of 1, 1/2 and 3/2 kg^-1.
    """
    model = wired("shared", ground=tr.Reference(), a=tr.Mass(mass="1 kg"), b=tr.Mass(mass="2 kg"))
    for name, strength, one, other in (("f1", 1.0, model.a.M, model.ground.V),
                                       ("f2", 2.0, model.b.M, model.ground.V),
                                       ("f3", 0.7, model.b.M, model.a.M)):
        rub = model.add(name, dry(0.8 * strength, strength))
        model.connect(one, rub.R)
        model.connect(rub.C, other)
    wire(model, "push.R a.M", "push.C ground.V", push=push(lambda t: t))
    run = model.simulate("2 s", method=method, until="f1.f > 0.5 N")
    first, second, third = np.sqrt([1.0, 0.5, 1.5]) / [1.0, 2.0, 0.7]
    share = 1 - first / (first + second + third)
    assert_allclose(run.time[-1].to("s").m, 0.5 / share, rtol=1e-9)
    assert_allclose(run["f1.f"].final.to("N").m, 0.5, rtol=1e-9)


# -- a motor on a switch ----------------------------------------------------------------------
def winch(law):
    return wired("winch", "source.p switch.p", "switch.n diode.n motor.p",
                 "source.n diode.p motor.n ground.V", "pulse.y switch.vT",
                 "motor.R friction.R gear.S", "motor.C friction.C frame.W", "gear.O drum.A",
                 "drum.P rope.R", "rope.C load.M weight.R", "weight.C base.V",
                 source=DCVoltageSource(voltage="24 V"), ground=ElectricalReference(),
                 switch=Switch(), diode=Diode(model="ideal"), pulse=Pulse(period="2 ms", width=0.6),
                 motor=DCMotor(), frame=RotationalReference(),
                 friction=RotationalFriction(law=law, breakaway_torque="2 mN*m",
                                             coulomb_torque="1.5 mN*m"),
                 gear=mech.GearBox(ratio=20), drum=mech.WheelAndAxle(radius="0.05 m"),
                 rope=tr.Spring(stiffness="2e4 N/m"), load=tr.Mass(), base=tr.Reference(),
                 weight=tr.ForceSource(force="-3 N"))


@pytest.mark.parametrize("law", ["coulomb", "stribeck"])
def test_it_goes_on_where_switch_and_diode_are_open(law):
    model, times = winch(law), quantity(np.linspace(0, 5, 200), "ms")
    taken, other = (model.simulate("5 ms", rtol=1e-10, method=m) for m in ("auto", "rodas4"))
    assert [e.component for e in taken.events] == [e.component for e in other.events]
    for name, largest in (("motor.i", 6.0), ("load.v", 0.02), ("rope.f", 3.0)):
        difference = (taken[name].at(times) - other[name].at(times)).to_base_units().m
        assert np.abs(difference).max() < 1e-6 * largest


# -- slow bodies beside fast shafts -----------------------------------------------------------
METHODS = [{"method": "auto"}, {"method": "rodas4"}, {"method": "rk4", "step": "1 ms"}]


def beside_a_shaft(speed, **bodies):
    """Bodies of 1 kg at 1 um/s, each with what acts on it, and a shaft on its bearing."""
    model = wired("slow bodies", frame=tr.Reference(), house=RotationalReference())
    for name, (velocity, part) in bodies.items():
        body = tr.Mass(mass="1 kg", v=velocity)
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
         gear=mech.LossyGear(ratio=2.0, forward_efficiency=0.9, backward_efficiency=0.9))


def guide(force):
    return tr.TranslationalFriction(law="coulomb", coulomb_force=force, breakaway_force=force)


@pytest.mark.parametrize("geared", [False, True])
@few(3, "method", METHODS)
def test_a_body_slides_on_while_another_stops_beside_a_shaft_of_any_speed(method, geared):
    # v = v0 - F/m t: 1 um/s that 1 uN brakes stops after 1 s, though 4 uN stop the other in 0.25 s
    model = beside_a_shaft(1e7, slow=("1 um/s", guide("1 uN")), braked=("1 um/s", guide("4 uN")))
    if geared:
        turn_a_gear(model)
    run = model.simulate("2 s", **method)
    assert_allclose(run["slow.v"].at("0.5 s").m, 0.5e-6, rtol=1e-6)
    assert_allclose([e.time for e in run.events.of("slow_part")], [1.0], rtol=1e-6)
    again = model.simulate("2 s", **method)  # by the method that has served the first run
    assert np.array_equal(again["slow.v"].m, run["slow.v"].m)


@pytest.mark.parametrize("method", METHODS)
def test_a_slow_ball_rebounds_beside_a_shaft_of_any_speed(method):
    # after 1 s at 1 um/s it strikes, and goes back at half the speed (Newton's law)
    stop = tr.HardStop(model="restitution", restitution=0.5, lower_bound="-1 um", upper_bound="1 m")
    run = beside_a_shaft(1e7, ball=("-1 um/s", stop)).simulate("2 s", **method)
    assert_allclose(run["ball.v"].at("1.5 s").m, 0.5e-6, rtol=1e-6)
