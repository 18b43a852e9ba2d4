"""Models of the reference cases of operating points and linear models, and comparisons."""

import json
import warnings
from functools import cache
from pathlib import Path

import numpy as np

import library.translational as tr
from benches import wire, wired
from blocks import Component, Parameter, Port, Target, Variable, cos, der, quantity, sin

DATA = Path(__file__).parents[1] / "data" / "analysis"


@cache
def book(name):
    """The cases of one book."""
    return json.loads((DATA / f"{name}.json").read_text())


def results(name, case):
    """Results of the case whose title begins so."""
    return next(v for k, v in book(name).items() if k.split()[0] == case)["results"]


def numbers(pairs):
    """Complex numbers of a book, ordered."""
    return ordered(np.array([complex(*p) for p in pairs], dtype=complex))


def ordered(values):
    return np.array(sorted(values, key=lambda p: (round(p.imag, 7), p.real)))


def assert_poles(found, expected, rtol=1e-9):
    """The same complex numbers, each to a relative tolerance."""
    expected = np.asarray(expected, dtype=complex)
    assert len(found) == len(expected), (found, expected)
    left = list(found)
    for p in expected:
        k = int(np.argmin([abs(q - p) for q in left]))
        assert abs(left[k] - p) <= rtol * max(abs(p), 1e-300), (left[k], p)
        left.pop(k)


def derivatives(model, duration, variable, *paths, **options):
    """Of a variable at the end of a run, in base units; there is nothing to warn of."""
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        found = model.simulate(duration, sensitivities=paths, **options).sensitivities
    assert found.notes == []
    return [found[variable, path].final.to_base_units().m for path in paths]


def newtons(value):
    return quantity(value, "N")


def chain(n):
    """Wall, then n times (spring beside damper, mass); a force on the last mass."""
    model, last = wired("chain", ground=tr.Reference()), "ground.V"
    for i in range(n):
        wire(model, f"m{i}.M s{i}.R d{i}.R", f"{last} s{i}.C d{i}.C", **{
            f"m{i}": tr.Mass(mass="2 kg"), f"s{i}": tr.Spring(stiffness="300 N/m"),
            f"d{i}": tr.Damper(damping="1.5 N*s/m")})
        last = f"m{i}.M"
    wire(model, f"push.R {last} sensor.R", "push.C ground.V", push=tr.ForceSource(force="0 N"),
         sensor=tr.MotionSensor(reference="absolute"))
    return model


def stribeck(coulomb, breakaway, velocity, viscous=0.0, law="stribeck"):
    """Exact friction with a falling curve, in SI units."""
    given = {} if law == "coulomb" else {"breakaway_velocity": quantity(velocity, "m/s")}
    return tr.TranslationalFriction(law=law, coulomb_force=newtons(coulomb),
                                    breakaway_force=newtons(breakaway),
                                    viscous_coefficient=quantity(viscous, "N*s/m"), **given)


def oscillator(belt=0.0, friction=None, x=0.0, damping=0.5):
    """1 kg on a spring and a damper, rubbed by a belt."""
    return wired("oscillator", "block.M spring.R damper.R friction.R push.R", "friction.C belt.R",
                 "spring.C damper.C push.C belt.C ground.V", block=tr.Mass(mass="1 kg"),
                 spring=tr.Spring(stiffness="100 N/m", x=quantity(x, "m")),
                 damper=tr.Damper(damping=quantity(damping, "N*s/m")), friction=friction
                 or stribeck(20, 25, 0.1), belt=tr.VelocitySource(velocity=quantity(belt, "m/s")),
                 push=tr.ForceSource(force="0 N"), ground=tr.Reference())


def block(force, friction=None, mass=4.0, **start):
    """A block on the floor under a force."""
    model = wired("block", "block.M push.R", "push.C ground.V",
                  block=tr.Mass(mass=quantity(mass, "kg"), **start), ground=tr.Reference(),
                  push=tr.ForceSource(force=newtons(force)))
    return model if friction is None else beside(model, friction=friction)


def beside(model, **parts):
    """The model with these between its block and the ground."""
    for name, part in parts.items():
        wire(model, f"{name}.R block.M", f"{name}.C ground.V", **{name: part})
    return model


class Pendulum(Component):
    """A point mass on a rod without mass, in Cartesian coordinates (index 3)."""

    M = Port(tr.translational)
    mass, length, drag = Parameter("1 kg"), Parameter("2 m"), Parameter("0 N*s/m")
    x, y = Variable("m", "0 m", priority="high"), Variable("m", "-2 m", priority="high")
    vx, vy, multiplier = Variable("m/s"), Variable("m/s"), Variable("N/m")

    def equations(self):
        yield der(self.x) == self.vx
        yield der(self.y) == self.vy
        yield self.M.v == self.vx
        yield self.mass * der(self.vx) == self.M.f - self.drag * self.vx - self.multiplier * self.x
        yield self.mass * der(self.vy) == (-self.mass * quantity("9.81 m/s^2")
                                           - self.drag * self.vy - self.multiplier * self.y)
        yield self.x**2 + self.y**2 == self.length**2


def pendulum(mass, length, drag, force, x, y):
    return wired("pendulum", "bob.M push.R", "push.C ground.V",
                 bob=Pendulum(mass=quantity(mass, "kg"), length=quantity(length, "m"),
                              drag=quantity(drag, "N*s/m"), x=quantity(x, "m"),
                              y=Target(quantity(y, "m"), priority="low")),
                 push=tr.ForceSource(force=newtons(force)), ground=tr.Reference())


class Shot(Component):
    """A ball shot at an angle without drag: its reach after a fixed time, and its height."""

    speed, angle = Parameter("10 m/s", above=0), Parameter("30 deg")
    x, y = Variable("m", "0 m", priority="high"), Variable("m", "0 m", priority="high")
    fall = Variable("m/s", "0 m/s", priority="high")

    def equations(self):
        yield der(self.x) == self.speed * cos(self.angle)
        yield der(self.fall) == quantity("9.81 m/s^2")
        yield der(self.y) == self.speed * sin(self.angle) - self.fall


def shot():
    return wired("shot", ball=Shot())
