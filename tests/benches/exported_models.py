"""Models that are exported, and their exports."""

from functools import cache
from pathlib import Path
from tempfile import mkdtemp

import numpy as np

import library.electrical as el
import library.translational as tr
from benches import wire, wired
from benches.electrical import ring
from library.electromechanical import DCMotor, HBridge, Solenoid
from library.rotational import Inertia, RotationalFriction, RotationalReference
from library.signal import Constant, Delay, DiscretePID, Gain, Pulse, Step, Subtract


def stick_slip(law="coulomb"):
    return wired(
        "stick-slip", "pull.R spring.R", "spring.C block.M friction.R",
        "friction.C pull.C ground.V", pull=tr.VelocitySource(velocity="0.1 m/s"),
        ground=tr.Reference(), block=tr.Mass(mass="1 kg"), spring=tr.Spring(stiffness="1 kN/m"),
        friction=tr.TranslationalFriction(law=law, coulomb_force="20 N", breakaway_force="25 N"))


def oscillator():
    """With a force from outside, 1 kg, 2 N*s/m and 50 N/m."""
    return wired("oscillator", "mass.M push.R spring.R damper.R",
                 "floor.V push.C spring.C damper.C",
                 push=tr.ForceSource(), floor=tr.Reference(), mass=tr.Mass(mass="1 kg"),
                 spring=tr.Spring(stiffness="50 N/m"), damper=tr.Damper(damping="2 N*s/m"))


def dropped():
    return wired("bouncing", "mass.M stop.R weight.R", "stop.C weight.C floor.V",
                 mass=tr.Mass(mass="1 kg"), floor=tr.Reference(),
                 stop=tr.HardStop(model="restitution", restitution=0.7, lower_bound="0 m",
                               upper_bound="10 m", x="1 m"), weight=tr.ForceSource(force="-9.81 N"))


def valve():
    """An armature that a solenoid draws onto its seat, with ever shorter flights of some us."""
    model = wired("valve", source=el.DCVoltageSource(), earth=el.ElectricalReference(),
                  frame=tr.Reference())
    model.source.voltage = "12 V"
    wire(model, "source.p solenoid.p", "source.n solenoid.n earth.V",
         "solenoid.R armature.M spring.R damper.R seat.R",
         "solenoid.C frame.V spring.C damper.C seat.C",
         solenoid=Solenoid(resistance="20 ohm", turns=1000, area="1 cm^2", x="2 mm",
                           core_reluctance="2e6 1/H"), armature=tr.Mass(mass="20 g"),
         spring=tr.Spring(stiffness="400 N/m", x="-6 mm"), damper=tr.Damper(damping="0.5 N*s/m"),
         seat=tr.HardStop(model="restitution", restitution=0.2, lower_bound="0.2 mm",
                          upper_bound="2 mm", x="2 mm"))
    return model


def servo():
    """A mass whose speed a controller holds at 1 m/s that samples every ms."""
    return wired("servo", "mass.M push.R damper.R sensor.R", "floor.V push.C damper.C sensor.C",
                 "wanted.y error.u1", "sensor.V error.u2", "error.y pid.u", "pid.y push.S",
                 mass=tr.Mass(mass="2 kg"), floor=tr.Reference(), push=tr.ForceSource(),
                 damper=tr.Damper(damping="3 N*s/m"), sensor=tr.MotionSensor(),
                 wanted=Constant(value="1 m/s"), error=Subtract(unit="m/s"), pid=DiscretePID(
                     input="m/s", proportional="40 N*s/m", integral="200 N/m", sample_time="1 ms"))


def buck(driven=True, switch="ideal"):
    """Its switch is driven by a pulse, or left to others."""
    model = wired(
        "buck converter", "source.p switch.p", "switch.n diode.n coil.p",
        "coil.n store.p load.p", "source.n diode.p store.n load.n ground.V",
        source=el.DCVoltageSource(voltage="24 V"), switch=el.Switch(model=switch),
        diode=el.Diode(model="ideal"), coil=el.Inductor(inductance="100 uH", i_L="4.224 A"),
        store=el.Capacitor(capacitance="100 uF", vc="9.6 V"), load=el.Resistor(resistance="2 ohm"),
        ground=el.ElectricalReference(), drive=Pulse(period="20 us", width=0.4))
    if driven:
        model.connect(model.drive.y, model.switch.vT)
    return model


def interrupted():
    """A switch that nothing but the current of a coil goes through: once closed, it cannot open."""
    return ring(el.DCVoltageSource(voltage="24 V"), el.Resistor(resistance="2 ohm"),
                switch=el.Switch(model="ideal"), coil=el.Inductor(inductance="100 uH"))


def motor():
    """One on a bridge that switches at 1 kHz, whose load sticks at first."""
    return wired(
        "motor", "supply.p bridge.p", "supply.n bridge.n earth.V", "bridge.a motor.p",
        "bridge.b motor.n", "motor.R load.I friction.R", "motor.C friction.C frame.W",
        supply=el.DCVoltageSource(voltage="24 V"), earth=el.ElectricalReference(),
        bridge=HBridge(model="switched", duty=0.6, frequency="1 kHz", on_resistance="0.1 ohm"),
        motor=DCMotor(), load=Inertia(inertia="1e-7 kg*m^2"),
        friction=RotationalFriction(law="coulomb", coulomb_torque="1 N*mm",
                                    breakaway_torque="1.5 N*mm"), frame=RotationalReference())


def chain():
    """1,000 masses on springs, the last of which is pushed."""
    return wired(
        "chain", "springs.R dampers.R masses.M", "springs[1:].C dampers[1:].C masses[:-1].M",
        "springs[0].C dampers[0].C push.C wall.V", "masses[-1].M push.R",
        wall=tr.Reference(), masses=tr.Mass(count=1000), springs=tr.Spring(count=1000),
        dampers=tr.Damper(count=1000, damping="1 N*s/m"), push=tr.ForceSource(force="10 N"))


def example(name):
    """The model of an example, before it is simulated."""
    text = (Path(__file__).parents[2] / "examples" / f"{name}.py").read_text(encoding="utf-8")
    made = {}
    exec(text[: text.index("result = ")].replace("from _show import show", ""), made)
    return made["model"]


def late():
    """A mass that rubs and is held at a place, which is told 0.1 s late, and lets it swing."""
    return wired("late", "mass.M friction.R push.R sensor.R", "floor.V friction.C push.C sensor.C",
                 "step.y away.u1", "sensor.P late.u", "late.y away.u2", "away.y gain.u",
                 "gain.y push.S", mass=tr.Mass(mass="1 kg"), floor=tr.Reference(),
                 friction=tr.TranslationalFriction(law="coulomb", breakaway_force="1 N",
                                                   coulomb_force="0.8 N"), push=tr.ForceSource(),
                 sensor=tr.MotionSensor(), step=Step(final="1 m", start="0.2 s"),
                 late=Delay(unit="m", delay="0.1 s"), away=Subtract(unit="m"),
                 gain=Gain(input="m", gain="20 N/m"))


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
