"""Examples of the Modelica Standard Library against their published results.

The examples are position-based: connectors carry positions, bodies have lengths,
springs an unstretched length. Here positions are integrals of velocities, so

* a part between ``flange_a`` and ``flange_b`` has C at flange_a and R at flange_b, and
  its deformation starts at x = s_rel - s_rel0;
* lengths of masses and rods only enter those start values;
* a position ``s`` is read by an absolute motion sensor that starts at s.

Data, licence and tolerances: ``tests/data/validation``.
"""

import json
from pathlib import Path

import numpy as np
import pytest
from benches import wire, wired
from numpy.testing import assert_allclose

from blocks import Model, quantity, sin
from library.translational import (
    AccelerationSource,
    Damper,
    ElastoGap,
    ForceSensor,
    ForceSource,
    Mass,
    MotionSensor,
    MultiSensor,
    Reference,
    Rod,
    Spring,
    SpringDamper,
)

DATA = Path(__file__).parent.parent / "data" / "validation"
CASES = {c["name"]: c for c in json.loads((DATA / "translational_cases.json").read_text())["cases"]}
SOLVER = {"rtol": 1e-8}


def published(name):
    """Column name -> values of a case, ``time`` among them."""
    file = DATA / CASES[name]["csv"]
    header = file.read_text().splitlines()[0].split(",")
    return dict(zip(header, np.loadtxt(file, delimiter=",", skiprows=1).T, strict=True))


def compare(name, run, columns):
    """Every column of a case against (path, unit, shift) of the run."""
    reference, signals = published(name), CASES[name]["signals"]
    assert set(columns) == set(signals)
    times = quantity(reference["time"], "s")
    for column, (path, unit, shift) in columns.items():
        ours = run[path].at(times).to(unit).magnitude + shift
        assert_allclose(ours, reference[column], rtol=0, atol=signals[column]["tolerance"],
                        err_msg=column)  # fmt: skip


def simulate(model, name):
    return model.simulate(quantity(CASES[name]["stop_time"], "s"), **SOLVER)


def position(model, name, body, start):
    """Watch the position of a body that starts at ``start``."""
    sensor = model.add(name, MotionSensor(reference="absolute", offset=start))
    model.connect(sensor.R, body.M)


def push(model, name, body, force):
    source = model.add(name, ForceSource(force=force))
    model.connect(source.R, body.M)
    model.connect(source.C, model.fixed.V)


def test_oscillator():
    model = wired("oscillator", fixed=Reference())
    omega = quantity(2 * np.pi * 15.9155, "rad/s")
    for i in "12":
        body = model.add(f"mass{i}", Mass(mass="1 kg", v="0 m/s"))
        spring = model.add(f"spring{i}", Spring(stiffness="10 kN/m", x="0 m"))  # s_rel = s_rel0 = 1
        model.connect(body.M, spring.C)
        model.connect(spring.R, model.fixed.V)
        push(model, f"force{i}", body, lambda t: quantity("1 N") * sin(omega * t))
    wire(model, "damper1.C mass2.M", "damper1.R fixed.V", damper1=Damper(damping="10 N*s/m"))
    position(model, "place", model.mass1, "-0.5 m")
    compare("translational_oscillator", simulate(model, "translational_oscillator"), {
        "mass1.s": ("place.P", "m", 0.0),
        "mass1.v": ("mass1.v", "m/s", 0.0),
        "damper1.s_rel": ("spring2.x", "m", 1.0),
        "damper1.v_rel": ("damper1.v", "m/s", 0.0),
    })  # fmt: skip


def test_accelerate():
    model = wired("accelerate", "accelerate.R mass.M", "accelerate.C ground.V",
                  accelerate=AccelerationSource(acceleration="1 m/s^2"), mass=Mass(mass="1 kg"),
                  ground=Reference())
    compare("translational_accelerate", simulate(model, "translational_accelerate"), {
        "accelerate.s": ("accelerate.x", "m", 0.0),
        "accelerate.v": ("accelerate.v", "m/s", 0.0),
    })  # fmt: skip


def test_damper():
    model = wired("damper", fixed=Reference())
    for i in "123":
        model.add(f"mass{i}", Mass(mass="1 kg", v="10 m/s"))
    # s_rel starts at 4.5 - (3 + 0.5) = 1, the unstretched length
    wire(model, "mass1.M damper1.C place1.C", "mass2.M damper2.C spring2.C",
         "mass3.M springDamper3.C",
         "damper1.R place1.R damper2.R spring2.R springDamper3.R fixed.V",
         damper1=Damper(damping="25 N*s/m"), damper2=Damper(damping="25 N*s/m"),
         spring2=Spring(stiffness="1 N/m", x="0 m"),
         springDamper3=SpringDamper(stiffness="1 N/m", damping="25 N*s/m", x="0 m"),
         place1=MotionSensor(offset="1 m"))
    compare("translational_damper", simulate(model, "translational_damper"), {
        "damper1.s_rel": ("place1.P", "m", 0.0),
        "damper1.v_rel": ("damper1.v", "m/s", 0.0),
        "damper2.s_rel": ("spring2.x", "m", 1.0),
        "damper2.v_rel": ("damper2.v", "m/s", 0.0),
        "springDamper3.s_rel": ("springDamper3.x", "m", 1.0),
        "springDamper3.v_rel": ("springDamper3.v", "m/s", 0.0),
    })  # fmt: skip


def walls(model):
    """Rods of 2 m from the ground to the walls at -2 m and +2 m."""
    wire(model, "fixed.V rod1.R rod2.C", fixed=Reference(), rod1=Rod(), rod2=Rod())
    return model.rod1.C, model.rod2.R


def test_elasto_gap():
    model = Model("elasto_gap")
    low, high = walls(model)
    model.mass1, model.mass2 = Mass(mass="1 kg"), Mass(mass="1 kg")  # at s = 2 m
    held = {"stiffness": "10 N/m", "damping": "1.5 N*s/m"}
    # s_rel starts at 4 and 0, unstretched lengths are 1 (spring-damper) and 1.5 m (gap)
    model.springDamper1 = SpringDamper(**held, x="3 m")
    model.springDamper2 = SpringDamper(**held, x="-1 m")
    model.elastoGap1 = ElastoGap(**held, free_length="1.5 m", x="4 m")
    model.elastoGap2 = ElastoGap(**held, free_length="1.5 m", x="0 m")
    model.connect(low, model.springDamper1.C, model.elastoGap1.C)
    model.connect(high, model.springDamper2.R, model.elastoGap2.R)
    wire(model, "mass1.M springDamper1.R springDamper2.C", "mass2.M elastoGap1.R elastoGap2.C")
    run = simulate(model, "translational_elastogap")
    compare("translational_elastogap", run, {
        "elastoGap1.v_rel": ("elastoGap1.v", "m/s", 0.0),
        "elastoGap2.s_rel": ("elastoGap2.x", "m", 0.0),
        "springDamper1.v_rel": ("springDamper1.v", "m/s", 0.0),
        "springDamper2.s_rel": ("springDamper2.x", "m", 1.0),
    })  # fmt: skip
    switched = [quantity(e.time, "s").to("s").magnitude for e in run.events]
    assert_allclose(switched, CASES["translational_elastogap"]["event_times"], atol=1e-4)


def test_sensors():
    model = Model("sensors")
    model.mass, model.fixed = Mass(mass="1 kg", v="0 m/s"), Reference()
    model.force = ForceSource(
        force=lambda t: quantity("10 N") * sin(quantity(8 * np.pi, "rad/s") * t)
    )
    wire(model, "force.C fixed.V", "force.R forceSensor.R", "forceSensor.C multiSensor.R",
         "multiSensor.C mass.M", forceSensor=ForceSensor(), multiSensor=MultiSensor())
    position(model, "place", model.mass, "0 m")
    position(model, "flange_a", model.mass, "-0.5 m")
    run = simulate(model, "translational_sensors")
    compare("translational_sensors", run, {
        "mass.s": ("place.P", "m", 0.0),
        "mass.v": ("mass.v", "m/s", 0.0),
    })  # fmt: skip
    t, w = run.time.to("s").magnitude, 8 * np.pi
    force, speed = 10 * np.sin(w * t), 10 / w * (1 - np.cos(w * t))
    assert_allclose(run["forceSensor.F"].to("N").magnitude, force, atol=1e-9)
    assert_allclose(run["multiSensor.P"].to("W").magnitude, force * speed, atol=1e-5)
    assert_allclose(run["flange_a.P"].to("m").magnitude,
                    10 / w * (t - np.sin(w * t) / w) - 0.5, atol=1e-6)  # fmt: skip


def test_initial_conditions():
    model = wired("initial_conditions", fixed=Reference())
    # chain 1: s1.s_rel = 0.5 (unstretched 1), sd1.s_rel = 1 = unstretched, sd1.v_rel = 0
    wire(model, "fixed.V s1.C", "s1.R m1.M sd1.C", "sd1.R m2.M",
         s1=Spring(stiffness="1 kN/m", x="-0.5 m"), m1=Mass(mass="1 kg", v="0 m/s"),
         m2=Mass(mass="1 kg"),
         sd1=SpringDamper(stiffness="111 N/m", damping="1 N*s/m", x="0 m", v="0 m/s"))
    # chain 2 is in equilibrium: m3.s = 4.5 makes s2.s_rel = 2, m4.s = 12.5 makes sd2.s_rel = 4
    wire(model, "fixed.V s2.C", "s2.R m3.M sd2.C", "sd2.R m4.M",
         s2=Spring(stiffness="1 kN/m", x="0 m"), m3=Mass(mass="1 kg", v="0 m/s"),
         m4=Mass(mass="1 kg", v="0 m/s"),
         sd2=SpringDamper(stiffness="111 N/m", damping="1 N*s/m", x="0 m"))
    position(model, "place1", model.m1, "0 m")  # -1 + 0.5 + half of 1
    position(model, "place3", model.m3, "4.5 m")
    run = simulate(model, "translational_initial_conditions")
    compare("translational_initial_conditions", run, {
        "m1.s": ("place1.P", "m", 0.0),
        "m1.v": ("m1.v", "m/s", 0.0),
        "m3.s": ("place3.P", "m", 0.0),
        "m3.v": ("m3.v", "m/s", 0.0),
        "sd1.s_rel": ("sd1.x", "m", 1.0),
        "sd1.v_rel": ("sd1.v", "m/s", 0.0),
        "sd2.s_rel": ("sd2.x", "m", 4.0),
        "sd2.v_rel": ("sd2.v", "m/s", 0.0),
    })  # fmt: skip


def test_the_missing_initial_value_follows_from_the_given_ones():
    model = wired("follows", "sd1.C m1.M", "sd1.R m2.M",
                  m1=Mass(mass="1 kg", v="3 m/s"), m2=Mass(mass="1 kg"),
                  sd1=SpringDamper(x="0 m", v="0 m/s"))
    run = model.simulate("1 ms", **SOLVER)
    assert_allclose(run["m2.v"].initial.to("m/s").magnitude, 3.0, rtol=1e-10)


def test_sign_convention():
    model = wired("sign_convention", fixed=Reference())
    columns = {}
    for i in "123":  # whichever flange is pushed: a body has one node
        body = model.add(f"mass{i}", Mass(mass="1 kg", v="0 m/s"))
        push(model, f"force{i}", body, "1 N")
        position(model, f"place{i}", body, "0 m")
        columns[f"mass{i}.s"] = (f"place{i}.P", "m", 0.0)
        columns[f"mass{i}.v"] = (f"mass{i}.v", "m/s", 0.0)
    compare(
        "translational_sign_convention", simulate(model, "translational_sign_convention"), columns
    )


@pytest.mark.parametrize("name", CASES)
def test_the_copied_reference_is_complete(name):
    columns = published(name)
    assert set(columns) == {"time", *CASES[name]["signals"]}
    assert len(columns["time"]) == CASES[name]["rows"]
    assert columns["time"][-1] == CASES[name]["stop_time"]
