"""Models and output functions of the tests on sweeps; workers must be able to import them."""

import os
import time
from pathlib import Path

from benches import wired
from benches.parts import Explosion

import library.translational as tr
from blocks import Component, Model, Option, Parameter, quantity


class Shaker(Component):
    """A composite: two masses on a damper, the second as heavy as the first."""

    weight = Parameter("2 kg", above=0)
    linked = Option(True)

    def compose(self):
        self.one = tr.Mass(mass=self.weight, v="1 m/s")
        self.two = tr.Mass(mass=self.weight)
        if not self.linked:
            return
        self.link = tr.Damper(damping="3 N*s/m")
        self.connect(self.one.M, self.link.R)
        self.connect(self.link.C, self.two.M)


def coasting() -> Model:
    """v = v0 exp(-d t / m) with m = 2 kg, d = 3 N*s/m, v0 = 5 m/s."""
    return wired("coasting", "mass.M damper.R", "damper.C ground.V",
                 mass=tr.Mass(mass="2 kg", v="5 m/s"), damper=tr.Damper(damping="3 N*s/m"),
                 ground=tr.Reference())


def stick_slip() -> Model:
    """A block pulled over a rough floor through a spring."""
    return wired("stick slip", "pull.R spring.R", "spring.C block.M friction.R",
                 "friction.C pull.C ground.V",
                 pull=tr.VelocitySource(velocity="0.1 m/s"), block=tr.Mass(mass="1 kg"),
                 spring=tr.Spring(stiffness="1 kN/m"),
                 friction=tr.TranslationalFriction(law="coulomb", viscous_coefficient="5 N*s/m"),
                 ground=tr.Reference())


def explosion() -> Model:
    return wired("explosion", cell=Explosion(x=0.5))


def ramp(t):
    """A function of time that pickle knows by its name."""
    return quantity("0.1 m/s**2") * t


def swing(result):
    """Peak to peak extension of the spring."""
    x = result["spring.x"]
    return x.max() - x.min()


def slow_final(result):
    """Final velocity; a line in a log, and time to be killed in where that is wanted."""
    with Path(os.environ["SWEEP_LOG"]).open("a") as log:
        log.write(f"{result['mass.v'].final.m!r}\n")
    time.sleep(float(os.environ.get("SWEEP_PAUSE", "0")))
    return result["mass.v"].final


def endless(result):
    """Final velocity, but of fast masses not today."""
    if result["mass.v"].initial.m > 2.5:
        Path(os.environ["SWEEP_LOG"]).touch()
        time.sleep(86400)
    return result["mass.v"].final


def fickle(result):
    """A speed, in another unit (or as a length) where the mass was fast."""
    v = result["mass.v"]
    if v.initial.m > 3.5:
        return quantity("1 m")
    return v.final.to("cm/s") if v.initial.m > 2.5 else v.final


def die(result):
    """Kills its process in one of the runs."""
    if result["mass.v"].initial.m > 2.5:
        os._exit(1)
    return result["mass.v"].final


def bad(result):
    """Fails where the mass was fast."""
    if result["mass.v"].initial.m > 2.5:
        raise ZeroDivisionError("no such quotient")
    return 2 * result["mass.v"].final
