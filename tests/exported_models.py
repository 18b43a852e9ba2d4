"""Models that are exported, and their exports."""

from __future__ import annotations

from functools import cache
from pathlib import Path
from tempfile import mkdtemp

import numpy as np

from blocks import Model
from library.electrical import (
    Capacitor,
    DCVoltageSource,
    Diode,
    ElectricalReference,
    Inductor,
    Resistor,
    Switch,
)
from library.electromechanical import DCMotor, HBridge, Solenoid
from library.rotational import Inertia, RotationalFriction, RotationalReference
from library.signal import Constant, Delay, DiscretePID, Gain, Pulse, Step, Subtract
from library.translational import (
    Damper,
    ForceSource,
    HardStop,
    Mass,
    MotionSensor,
    Reference,
    Spring,
    TranslationalFriction,
    VelocitySource,
)


def stick_slip(law="coulomb"):
    model = Model("stick-slip")
    model.pull, model.ground = VelocitySource(velocity="0.1 m/s"), Reference()
    model.block, model.spring = Mass(mass="1 kg"), Spring(stiffness="1 kN/m")
    model.friction = TranslationalFriction(law=law, coulomb_force="20 N", breakaway_force="25 N")
    model.connect(model.pull.R, model.spring.R)
    model.connect(model.spring.C, model.block.M, model.friction.R)
    model.connect(model.friction.C, model.pull.C, model.ground.V)
    return model


def oscillator():
    """With a force from outside, 1 kg, 2 N*s/m and 50 N/m."""
    model = Model("oscillator")
    model.push, model.floor = ForceSource(), Reference()
    model.mass = Mass(mass="1 kg")
    model.spring, model.damper = Spring(stiffness="50 N/m"), Damper(damping="2 N*s/m")
    model.connect(model.mass.M, model.push.R, model.spring.R, model.damper.R)
    model.connect(model.floor.V, model.push.C, model.spring.C, model.damper.C)
    return model


def dropped():
    model = Model("bouncing")
    model.mass, model.floor = Mass(mass="1 kg"), Reference()
    model.stop = HardStop(model="restitution", restitution=0.7, lower_bound="0 m",
                          upper_bound="10 m", x="1 m")
    model.weight = ForceSource(force="-9.81 N")
    model.connect(model.mass.M, model.stop.R, model.weight.R)
    model.connect(model.stop.C, model.weight.C, model.floor.V)
    return model


def valve():
    """An armature that a solenoid draws onto its seat, with ever shorter flights of some us."""
    model = Model("valve")
    model.source, model.earth, model.frame = DCVoltageSource(), ElectricalReference(), Reference()
    model.source.voltage = "12 V"
    model.solenoid = Solenoid(resistance="20 ohm", turns=1000, area="1 cm^2", x="2 mm",
                              core_reluctance="2e6 1/H")
    model.armature, model.spring = Mass(mass="20 g"), Spring(stiffness="400 N/m", x="-6 mm")
    model.damper = Damper(damping="0.5 N*s/m")
    model.seat = HardStop(model="restitution", restitution=0.2, lower_bound="0.2 mm",
                          upper_bound="2 mm", x="2 mm")
    model.connect(model.source.p, model.solenoid.p)
    model.connect(model.source.n, model.solenoid.n, model.earth.V)
    model.connect(model.solenoid.R, model.armature.M, model.spring.R, model.damper.R, model.seat.R)
    model.connect(model.solenoid.C, model.frame.V, model.spring.C, model.damper.C, model.seat.C)
    return model


def servo():
    """A mass whose speed a controller holds at 1 m/s that samples every ms."""
    model = Model("servo")
    model.mass, model.floor, model.push = Mass(mass="2 kg"), Reference(), ForceSource()
    model.damper, model.sensor = Damper(damping="3 N*s/m"), MotionSensor()
    model.wanted, model.error = Constant(value="1 m/s"), Subtract(unit="m/s")
    model.pid = DiscretePID(input="m/s", proportional="40 N*s/m", integral="200 N/m",
                            sample_time="1 ms")
    model.connect(model.mass.M, model.push.R, model.damper.R, model.sensor.R)
    model.connect(model.floor.V, model.push.C, model.damper.C, model.sensor.C)
    model.connect(model.wanted.y, model.error.u1)
    model.connect(model.sensor.V, model.error.u2)
    model.connect(model.error.y, model.pid.u)
    model.connect(model.pid.y, model.push.S)
    return model


def buck(driven=True):
    """Its switch is driven by a pulse, or left to others."""
    model = Model("buck converter")
    model.source = DCVoltageSource(voltage="24 V")
    model.switch, model.diode = Switch(model="ideal"), Diode(model="ideal")
    model.coil = Inductor(inductance="100 uH", i_L="4.224 A")
    model.store = Capacitor(capacitance="100 uF", vc="9.6 V")
    model.load, model.ground = Resistor(resistance="2 ohm"), ElectricalReference()
    model.drive = Pulse(period="20 us", width=0.4)
    model.connect(model.source.p, model.switch.p)
    model.connect(model.switch.n, model.diode.n, model.coil.p)
    model.connect(model.coil.n, model.store.p, model.load.p)
    model.connect(model.source.n, model.diode.p, model.store.n, model.load.n, model.ground.V)
    if driven:
        model.connect(model.drive.y, model.switch.vT)
    return model


def motor():
    """One on a bridge that switches at 1 kHz, whose load sticks at first."""
    model = Model("motor")
    model.supply, model.earth = DCVoltageSource(voltage="24 V"), ElectricalReference()
    model.bridge = HBridge(model="switched", duty=0.6, frequency="1 kHz", on_resistance="0.1 ohm")
    model.motor, model.load = DCMotor(), Inertia(inertia="1e-7 kg*m^2")
    model.friction = RotationalFriction(law="coulomb", coulomb_torque="1 N*mm",
                                        breakaway_torque="1.5 N*mm")
    model.frame = RotationalReference()
    model.connect(model.supply.p, model.bridge.p)
    model.connect(model.supply.n, model.bridge.n, model.earth.V)
    model.connect(model.bridge.a, model.motor.p)
    model.connect(model.bridge.b, model.motor.n)
    model.connect(model.motor.R, model.load.I, model.friction.R)
    model.connect(model.motor.C, model.friction.C, model.frame.W)
    return model


def chain():
    """1,000 masses on springs, the last of which is pushed."""
    model = Model("chain")
    model.wall, model.masses = Reference(), Mass(count=1000)
    model.springs, model.dampers = Spring(count=1000), Damper(count=1000, damping="1 N*s/m")
    model.push = ForceSource(force="10 N")
    model.connect(model.springs.R, model.dampers.R, model.masses.M)
    model.connect(model.springs[1:].C, model.dampers[1:].C, model.masses[:-1].M)
    model.connect(model.springs[0].C, model.dampers[0].C, model.push.C, model.wall.V)
    model.connect(model.masses[-1].M, model.push.R)
    return model


def example(name):
    """The model of an example, before it is simulated."""
    text = (Path(__file__).parents[1] / "examples" / f"{name}.py").read_text(encoding="utf-8")
    made = {}
    exec(text[: text.index("result = ")].replace("from _show import show", ""), made)
    return made["model"]


def late():
    """A mass that rubs and is held at a place, which is told 0.1 s late, and lets it swing."""
    model = Model("late")
    model.mass, model.floor = Mass(mass="1 kg"), Reference()
    model.friction = TranslationalFriction(law="coulomb", breakaway_force="1 N",
                                           coulomb_force="0.8 N")
    model.push, model.sensor = ForceSource(), MotionSensor()
    model.step, model.late = Step(final="1 m", start="0.2 s"), Delay(unit="m", delay="0.1 s")
    model.away, model.gain = Subtract(unit="m"), Gain(input="m", gain="20 N/m")
    model.connect(model.mass.M, model.friction.R, model.push.R, model.sensor.R)
    model.connect(model.floor.V, model.friction.C, model.push.C, model.sensor.C)
    model.connect(model.step.y, model.away.u1)
    model.connect(model.sensor.P, model.late.u)
    model.connect(model.late.y, model.away.u2)
    model.connect(model.away.y, model.gain.u)
    model.connect(model.gain.y, model.push.S)
    return model


MODELS = {"stick-slip": (stick_slip, ["block.v", "friction.f", "spring.f"], "2 s"),
          "simscape": (lambda: stick_slip("simscape"), ["block.v", "friction.f"], "1 s"),
          "oscillator": (oscillator, ["mass.v", "spring.f"], "3 s"),
          "bouncing": (dropped, ["stop.x", "mass.v"], "3 s"),
          "valve": (valve, ["solenoid.i", "solenoid.x"], "20 ms"),
          "late": (late, ["mass.v", "late.y"], "1.5 s"),
          "servo": (servo, ["mass.v", "push.f"], "1 s"),
          "buck": (buck, ["coil.i", "load.v"], "0.1 ms"),
          "motor": (motor, ["motor.i", "load.w"], "20 ms"),
          "chain": (chain, ["masses[999].v", "masses[990].v"], "1 s"),
          "brake": (lambda: example("brake_fade"), ["vehicle.w", "disc.T"], "100 s"),
          "clutches": (lambda: example("two_clutches"), ["engine.w", "vehicle.w"], "6 s"),
          "cylinder": (lambda: example("cylinder_hunts"), ["load.v", "cylinder.p_A"], "6 s")}
#: Of runs; one that starts 1e-8 of its place farther on is off by 2e-4 of its range at its end.
RTOL = {"cylinder": 1e-11}


@cache
def exported(name, version="3.0"):
    """The file of a model."""
    make, outputs, duration = MODELS[name]
    more = {"inputs": ["push.S"], "parameters": ["spring.stiffness", "damper.damping"]} \
        if name == "oscillator" else {}
    return make().export_fmu(Path(mkdtemp()) / "model.fmu", outputs=outputs, version=version,
                             duration=duration, rtol=RTOL.get(name, 1e-8), **more)


def response(stiffness=50.0, damping=2.0, force=5.0):
    """Of the oscillator at rest to a force from the start on, in a function of time."""
    rate, own = damping / 2, np.sqrt(stiffness - damping**2 / 4)
    return lambda t: force / own * np.exp(-rate * t) * np.sin(own * t)
