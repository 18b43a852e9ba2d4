"""Frictions that hold one another: more of them stick in a train than bodies can move."""

import numpy as np
import pytest
from benches import wire, wired
from benches.friction import dry, push
from numpy.testing import assert_allclose

from blocks import Model, quantity
from library.electrical import DCVoltageSource, Diode, ElectricalReference, Inductor, Switch
from library.mechanisms import DiscClutch, RackAndPinion
from library.rotational import Inertia, RotationalFriction, RotationalReference, TorqueSource
from library.signal import Constant, Pulse, Step, TimeTable
from library.thermal import ThermalMass
from library.translational import Mass, Reference, TranslationalFriction


def shafts(inertias, speeds, heated=False):
    """Two discs, each with 0.5 N*m of friction against the frame, and a clutch between them."""
    model = wired("shafts", frame=RotationalReference(), clutch=DiscClutch())
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
         rack=RackAndPinion(radius="0.0178 m"), mass=Mass(mass="1.7 kg"),
         guide=TranslationalFriction(law="coulomb", coulomb_force="0.3 N", breakaway_force="0.4 N"),
         rail=Reference())
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
        "guide": TranslationalFriction(law="coulomb", coulomb_force="3 N",
                                       breakaway_force="4 N"),
        "rack": RackAndPinion(radius=quantity(radius, "m")), "mass": Mass(mass="1.7 kg"),
    }
    for name in sorted(parts, reverse=flipped):
        model.add(name, parts[name])
    chopper(model)
    wire(model, "disc.I bearing.R drive.R rack.P", "rack.R mass.M guide.R",
         "bearing.C drive.C frame.W", "guide.C rail.V",
         frame=RotationalReference(), rail=Reference(),
         drive=TorqueSource(torque=quantity(load, "N*m")))
    run = model.simulate("0.3 s", rtol=1e-9)
    ranges = np.array([0.25, 4.0])
    share = load / (ranges @ [1.0, radius])
    held = [abs(run[name].at("0.29 s").m) for name in ("bearing.t", "guide.f")]
    assert_allclose(held, share * ranges, rtol=1e-6)
    stuck = [run[f"{name}.mode"].at("0.29 s").m for name in ("bearing", "guide")]
    assert stuck == [0, 0]


@pytest.mark.parametrize("speed", [4e-15, 1e-11])
@pytest.mark.parametrize("method", ["auto", "dopri5", "DOP853", "rodas4"])
def test_a_clutch_that_closes_on_a_difference_of_speeds_that_is_rounding_sticks(method, speed):
    model = wired("closing", "push.y clutch.N", "one.I clutch.R", "other.I clutch.C",
                  one=Inertia(inertia="8 g*m^2"), clutch=DiscClutch(),
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
                  load=TorqueSource(torque="1 N*m"), clutch=DiscClutch(),
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
    model = wired("shared", ground=Reference(), a=Mass(mass="1 kg"), b=Mass(mass="2 kg"))
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
