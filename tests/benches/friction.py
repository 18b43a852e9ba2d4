"""Benches for exact dry friction: wiring, events, and work of a run."""

import json
from functools import cache
from pathlib import Path

import numpy as np
from scipy.integrate import solve_ivp

import blocks
import library.translational as tr
from benches import wire, wired
from blocks import Component, Parameter, Variable, der, quantity, sin, time, where
from library.signal import Sine

FILE = Path(__file__).parents[1] / "data" / "friction" / "networks.json"


@cache
def reference():
    """Reference numbers, with their source in the file."""
    return json.loads(FILE.read_text())


def dry(kinetic, static=None, **more):
    """Exact Coulomb friction, forces in N."""
    return tr.TranslationalFriction(
        law="coulomb", coulomb_force=quantity(kinetic, "N"),
        breakaway_force=quantity(kinetic if static is None else static, "N"), **more)


def push(force):
    """A force from the ground; ``force`` takes seconds and gives newtons."""
    return tr.ForceSource(force=lambda t: quantity("1 N") * force(t / quantity("1 s")))


def place(model, name, port):
    """Add a sensor of the position of a port."""
    model.connect(model.add(name, tr.MotionSensor(reference="absolute")).R, port)


def value(run, path, time=None, side="right"):
    """SI value of a variable at a time (s), or at the end."""
    index = run.recording.catalog[path].index
    times = run.recording.times[[-1]] if time is None else np.array([float(time)])
    return float(run.recording.values([index], times, side)[0, 0])


def values(run, paths, times):
    """SI values, one row per path."""
    catalog = run.recording.catalog
    return run.recording.values([catalog[p].index for p in paths], np.asarray(times, dtype=float))


def happened(run, *components):
    """(time, component, what) of the events of some components, or of all friction."""
    return [(e.time, e.component, e.description) for e in run.events
            if (e.component in components if components else e.description.startswith(
                ("sticks", "slides", "closes", "opens", "rebounds")))]  # fmt: skip


def times_of(run, *words, component=None):
    """Times of events whose text begins with one of the words."""
    return [e.time for e in run.events if e.description.startswith(words)
            and component in (None, e.component)]  # fmt: skip


def missing_energy(run):
    """Largest energy missing in a component, per energy that went through the busiest one."""
    terms = run.recording.energy_terms()
    size = max(max(abs(t.exchanged), abs(t.stored), abs(t.work_in)) for t in terms)
    return max(abs(t.work_in - t.stored - t.dissipated + t.supplied) for t in terms) / (size or 1)


def oscillator(kinetic=1.0, static=None, x0=2.5, amplitude=0.0, frequency=1.0, friction=None):
    """x'' + x = f + amplitude sin(frequency t), in SI units."""
    return wired("oscillator", "body.M spring.R friction.R load.R",
                 "spring.C friction.C load.C ground.V",
                 body=tr.Mass(), spring=tr.Spring(stiffness="1 N/m", x=quantity(x0, "m")),
                 friction=friction or dry(kinetic, static), ground=tr.Reference(),
                 load=push(lambda t: amplitude * sin(frequency * t)))


def dragged(case, friction=None):
    """A body on a rough floor, pulled through a spring whose end stops after a while."""
    model = wired("dragged body", body=tr.Mass(mass=quantity(case["mass"], "kg")),
                  spring=tr.Spring(stiffness=quantity(case["stiffness"], "N/m")))
    model.friction = friction or dry(case["kinetic"], case["static"])
    speed, until = quantity(case["speed"], "m/s"), quantity(case["until"], "s")
    wire(model, "body.M spring.C friction.R", "spring.R drive.R", "drive.C friction.C ground.V",
         drive=tr.VelocitySource(velocity=lambda t: where(t < until, speed, quantity("0 m/s"))),
         ground=tr.Reference())
    place(model, "sensor", model.body.M)
    return model


class PulledSpring(tr.TwoPort):
    """Spring from R, at x, to an end that moves as speed min(t, until).

    Its state is the position of R and its drive has no event, as in the published runs, and no
    kink that is stepped onto, as that of minimum() would be.
    """

    stiffness, speed, until = Parameter("90 N/m"), Parameter("2 m/s"), Parameter("2 s")
    x = Variable("m", "0 m", priority="high")

    def equations(self):
        yield der(self.x) == self.v
        driven = where(time < self.until, time, self.until, events=False)
        yield self.f == self.stiffness * (self.x - self.speed * driven)


def pulled(law, band, **more):
    """The published problem with a law of a band (m/s): 1 kg, 90 N/m, friction of 10 N."""
    model = wired("pulled body", body=tr.Mass(), spring=PulledSpring(), ground=tr.Reference())
    model.friction = tr.TranslationalFriction(law=law, coulomb_force="10 N",
                                              band=quantity(band, "m/s"), **more)
    if "breakaway" in model.friction.kind.uses:
        model.friction.breakaway_force = "10 N"
    wire(model, "body.M spring.R friction.R", "spring.C friction.C ground.V")
    return model


def moved(friction, speed):
    """Friction driven at a speed: seconds to m/s."""
    return wired("driven friction", "drive.R friction.R", "drive.C friction.C ground.V",
                 drive=tr.VelocitySource(velocity=lambda t: quantity("1 m/s")
                                         * speed(t / quantity("1 s"))),
                 friction=friction, ground=tr.Reference())


def loaded(friction, force, **body):
    """A body of 1 kg on friction under a force: seconds to N."""
    model = wired("loaded body", "body.M friction.R load.R", "friction.C load.C ground.V",
                  body=tr.Mass(**body), friction=friction, ground=tr.Reference(), load=push(force))
    place(model, "sensor", model.body.M)
    return model


def torn_loose():
    """1 kg under 1.3 N sin(1 rad/s t) on a floor: breaks away at 1.25 N, slides at 1 N."""
    return wired("torn loose", "sine.y load.S", "block.M rub.R load.R", "floor.V rub.C load.C",
                 block=tr.Mass(), floor=tr.Reference(), load=tr.ForceSource(),
                 sine=Sine(amplitude="1.3 N", frequency=f"{1 / (2 * np.pi)} Hz"),
                 rub=dry(1, 1.25, viscous_coefficient="0 N*s/m"))


def train(n=12):
    """Wagons between draught gear that rubs, the first of them pulled and pushed."""
    random = np.random.default_rng(3)
    return wired(
        "train", "springs.R gear.R wagons[1:].M", "springs.C gear.C wagons[:-1].M",
        "pull.R wagons[0].M", "pull.C rail.V", rail=tr.Reference(),
        wagons=tr.Mass(count=n, mass=quantity(random.uniform(20, 80, n), "t")),
        springs=tr.Spring(count=n - 1, stiffness="10 MN/m"), gear=tr.TranslationalFriction(
            count=n - 1, law="coulomb", coulomb_force=quantity(random.uniform(20, 40, n - 1), "kN"),
            breakaway_force=quantity(random.uniform(40, 60, n - 1), "kN")),
        pull=tr.ForceSource(force=lambda t: quantity("300 kN") * sin(quantity("2 rad/s") * t)))


class BrakedPendulum(Component):
    """Point mass on a massless rod in Cartesian coordinates, with friction in the joint.

    The rod's pull is the multiplier of x² + y² = l²; the joint brakes with a torque.
    """

    x, y = Variable("m", "1 m", priority="high"), Variable("m", "0 m")
    u, v = Variable("m/s", "0 m/s", priority="high"), Variable("m/s")
    pull, brake = Variable("N/m"), Variable("N*m")
    torque, static = Parameter("0.5 N*m"), Parameter("0.8 N*m")
    mass, length, gravity = Parameter("1 kg"), Parameter("1 m"), Parameter("9.81 m/s^2")

    def strengths(self):
        """At rest and in motion."""
        return self.static, self.torque

    def equations(self):
        yield der(self.x) == self.u
        yield der(self.y) == self.v
        # the joint's torque acts on the mass as a force along the path
        yield self.mass * der(self.u) == -self.pull * self.x + self.brake * self.y / self.length**2
        yield self.mass * der(self.v) == (-self.pull * self.y - self.brake * self.x / self.length**2
                                          - self.mass * self.gravity)  # fmt: skip
        yield self.x**2 + self.y**2 == self.length**2
        turning = (self.x * self.v - self.y * self.u) / self.length**2
        static, kinetic = self.strengths()
        yield blocks.dry_friction(self.brake, turning, static=static, kinetic=kinetic)


def stops_of_pendulum(torque, holds):
    """Turning points and the angle at rest of theta'' = -9.81 cos(theta) - torque sign.

    ``torque`` and ``holds`` take the angle and the speed, and the angle.
    """
    theta, w, t, stops, sense = 0.0, 0.0, 0.0, [], -1.0
    tight = {"rtol": 1e-13, "atol": 1e-14, "method": "DOP853"}
    while True:
        def slope(_, s, sense=sense):
            return [s[1], -9.81 * np.cos(s[0]) - sense * torque(*s)]

        def stop(_, s):
            return s[1]

        stop.terminal, stop.direction = True, -sense
        go = solve_ivp(slope, (t, t + 1e-2), [theta, w], **tight)
        piece = solve_ivp(slope, (go.t[-1], 60.0), go.y[:, -1], events=stop, **tight)
        t, theta, w = piece.t_events[0][0], piece.y_events[0][0][0], 0.0
        stops.append((t, theta))
        if abs(9.81 * np.cos(theta)) <= holds(theta):
            return stops
        sense = -sense
