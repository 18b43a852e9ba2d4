"""How does the cost of a model grow with its size? ``python -m benchmarks cliffs [WORDS]``.

Each family of models is built, checked and run twice in three sizes, the second time with all
compiled, in processor time. Growth is told as an exponent: 1 doubles with the size. The last line
answers another question: how much longer does a chain of 3,000 masses take with one element of any
class in it?
"""

from __future__ import annotations

import argparse
import time
import warnings
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np

from blocks import BlocksError, Component, Model, Variable, der, quantity, sin
from library import electrical as E  # noqa: N812
from library import gas as G  # noqa: N812
from library import isothermal_liquid as L  # noqa: N812
from library import magnetic as B  # noqa: N812
from library import mechanisms as M  # noqa: N812
from library import moist_air as A  # noqa: N812
from library import planar as P  # noqa: N812
from library import rotational as R  # noqa: N812
from library import signal as S  # noqa: N812
from library import translational as T  # noqa: N812
from library import two_phase as F  # noqa: N812
from library.electromechanical import HBridge

from .cases import models
from .cases.circuits import rc_ladder
from .cases.consumers import district

__all__ = ["FAMILIES", "Family", "Growth", "chain_with", "main", "measure"]


@dataclass(frozen=True)
class Family:
    """Models of one kind.

    Attributes
    ----------
    goal : of the largest, an event in ms (``"event"``) or a run in s (``"run"``)
    grows : the largest exponent that is no cliff
    """

    name: str
    make: Callable[[int], Model]
    sizes: tuple[int, ...]
    duration: str
    of: str = "run"
    goal: float = np.inf
    grows: float = 1.3
    options: dict[str, Any] = field(default_factory=dict)


@dataclass
class Growth:
    """What a family has cost: s of every size; ``first`` is how much longer a first run takes."""

    family: Family
    build: list[float] = field(default_factory=list)
    check: list[float] = field(default_factory=list)
    first: list[float] = field(default_factory=list)
    run: list[float] = field(default_factory=list)
    events: list[int] = field(default_factory=list)

    def exponent(self, seconds: list[float]) -> float:
        """Of the growth with the size, from the smallest size to the largest."""
        sizes = self.family.sizes[: len(seconds)]
        if len(sizes) < 2:
            return np.nan
        return float(np.log(seconds[-1] / seconds[0]) / np.log(sizes[-1] / sizes[0]))

    @property
    def counted(self) -> list[float]:
        """Seconds a run, or an event of it."""
        if self.family.of == "run":
            return self.run
        return [s / max(n, 1) for s, n in zip(self.run, self.events, strict=True)]

    def __str__(self) -> str:
        unit = "ms an event" if self.family.of == "event" else "ms a run"
        largest = self.counted[-1] * 1e3
        exponents = [self.exponent(s) for s in (self.build, self.check, self.first, self.counted)]
        missed = largest > 1e3 * self.family.goal or any(
            grown > self.family.grows for grown in exponents)
        return (f"{self.family.name:44}{'/'.join(map(str, self.family.sizes)):>18}  build "
                f"{exponents[0]:5.2f}  check {exponents[1]:5.2f}  first {exponents[2]:5.2f}  "
                f"{self.family.of} {exponents[3]:5.2f}  {largest:9.4g} {unit}, "
                f"{self.events[-1]} events{'  MISSED' * missed}")


# -- families --------------------------------------------------------------------------------
def rubbing(n: int) -> Model:
    """Masses in a row on a floor that moves, each rubbing on it and on the one before."""
    m = Model("row")
    m.ground, m.drive = T.Reference(), T.VelocitySource(
        velocity=lambda t: quantity("0.3 m/s") * sin(quantity("7 rad/s") * t))
    m.masses, m.springs = T.Mass(count=n), T.Spring(count=n, stiffness="100 N/m")
    strength = quantity(np.linspace(1, 2, n), "N")
    m.floor = T.TranslationalFriction(count=n, law="coulomb", coulomb_force=strength,
                                      breakaway_force=1.2 * strength)
    m.sides = T.TranslationalFriction(count=n - 1, law="coulomb", coulomb_force="0.3 N",
                                      breakaway_force="0.4 N")
    m.connect(m.floor.R, m.springs.R, m.masses.M)
    m.connect(m.sides.R, m.masses[1:].M)
    m.connect(m.sides.C, m.masses[:-1].M)
    m.connect(m.floor.C, m.drive.R)
    m.connect(m.springs.C, m.drive.C, m.ground.V)
    return m


def delayed(n: int) -> Model:
    """A chain of masses whose last one's position is handed on 10 ms later."""
    m = models.chain_of_arrays(n)
    m.sensor, m.delay = T.MotionSensor(), S.Delay(unit="m", delay="10 ms")
    m.connect(m.sensor.R, m.masses[-1].M)
    m.connect(m.sensor.C, m.ground.V)
    m.connect(m.sensor.P, m.delay.u)
    return m


def lossy_train(n: int) -> Model:
    """Gears with losses, stiffly one after the other."""
    m, turn = Model("train"), None
    m.frame, m.drive = R.RotationalReference(), R.TorqueSource(
        torque=lambda t: quantity("3 N*m") * sin(quantity("9 rad/s") * t))
    m.motor, m.load = R.Inertia(), R.Inertia()
    m.connect(m.drive.R, m.motor.I)
    m.connect(m.drive.C, m.frame.W)
    turn = m.motor.I
    for k in range(n):
        gear = m.add(f"gear{k}", M.LossyGear(ratio=1.1 if k % 2 else 1 / 1.1,
                                             forward_efficiency=0.99, backward_efficiency=0.98))
        m.connect(turn, gear.S)
        turn = gear.O
    m.connect(turn, m.load.I)
    return m


def braked_train(n: int) -> Model:
    """The same with a brake at its load."""
    m = lossy_train(n)
    m.brake = R.RotationalFriction(law="coulomb", coulomb_torque="1 N*m",
                                   breakaway_torque="1.2 N*m")
    m.connect(m.brake.R, m.load.I)
    m.connect(m.brake.C, m.frame.W)
    return m


def lossy_chain(n: int) -> Model:
    """Masses that turn on springs, a gear with losses to each next one."""
    m = Model("chain of gears")
    m.frame, m.drive = R.RotationalReference(), R.TorqueSource(
        torque=lambda t: quantity("3 N*m") * sin(quantity("9 rad/s") * t))
    m.wheels, m.gears = R.Inertia(count=n + 1), M.LossyGear(
        count=n, ratio=1.0, forward_efficiency=0.97, backward_efficiency=0.95)
    m.springs = R.RotationalSpring(count=n, stiffness="500 N*m/rad")
    m.connect(m.drive.R, m.wheels[0].I)
    m.connect(m.drive.C, m.frame.W)
    m.connect(m.wheels[:-1].I, m.gears.S)
    m.connect(m.gears.O, m.springs.R)
    m.connect(m.springs.C, m.wheels[1:].I)
    return m


def clutched_wheels(n: int) -> Model:
    """Wheels in a row, a spring and a one-way clutch from each to the next."""
    m = Model("wheels and clutches")
    m.frame, m.drive = R.RotationalReference(), R.TorqueSource(
        torque=lambda t: quantity("3 N*m") * sin(quantity("9 rad/s") * t))
    m.wheels, m.clutches = R.Inertia(count=n + 1), M.OneWayClutch(count=n)
    m.springs = R.RotationalSpring(count=n, stiffness="500 N*m/rad")
    m.connect(m.drive.R, m.wheels[0].I)
    m.connect(m.drive.C, m.frame.W)
    m.connect(m.wheels[:-1].I, m.clutches.R, m.springs.R)
    m.connect(m.wheels[1:].I, m.clutches.C, m.springs.C)
    return m


def shunted_ladder(part: Callable[..., Component], above: str, below: str, **kind: Any
                   ) -> Callable[[int], Model]:
    """An RC ladder with a part from every node to ground, by these of its ports."""
    def make(n: int) -> Model:
        m = rc_ladder(n)
        m.shunts = part(count=n, **kind)
        m.connect(getattr(m.shunts, above), m.capacitors.p)
        m.connect(getattr(m.shunts, below), m.ground.V)
        return m

    return make


def held_ladder(n: int) -> Model:
    """An RC ladder with a source across one of its capacitors, which starts at another voltage."""
    m = rc_ladder(n)
    m.hold = E.DCVoltageSource(voltage="1 V")
    m.connect(m.hold.p, m.capacitors[n // 2].p)
    m.connect(m.hold.n, m.ground.V)
    return m


def coil_ladder(n: int) -> Model:
    """Resistors in a row, a coil to ground at every node: each current follows all others."""
    m = Model("ladder of coils")
    m.ground, m.source = E.ElectricalReference(), E.ACVoltageSource(amplitude="10 V",
                                                                     frequency="1 kHz")
    m.resistors = E.Resistor(count=n, resistance="10 ohm")
    m.coils = E.Inductor(count=n, inductance="1 mH")
    m.connect(m.source.n, m.ground.V, m.coils.n)
    m.connect(m.source.p, m.resistors[0].p)
    m.connect(m.resistors.n, m.coils.p)
    m.connect(m.resistors[1:].p, m.coils[:-1].p)
    return m


def hub(n: int) -> Model:
    """A mass that springs and dampers tie to many."""
    m = Model("hub")
    m.hub, m.masses = T.Mass(), T.Mass(count=n)
    m.springs, m.dampers = T.Spring(count=n, stiffness="1 kN/m"), T.Damper(count=n)
    m.push, m.ground = T.ForceSource(force=lambda t: quantity("50 N") * sin(
        quantity("20 rad/s") * t)), T.Reference()
    m.connect(m.springs.R, m.dampers.R, m.masses.M)
    m.connect(m.springs.C, m.dampers.C, m.push.R, m.hub.M)
    m.connect(m.push.C, m.ground.V)
    return m


def behind_sine(block: Callable[[int], Component], beside: bool = False) -> Callable[[int], Model]:
    """Signal blocks one after the other behind a sine, or all beside each other."""
    def make(n: int) -> Model:
        m = Model("behind a sine")
        m.source, m.blocks = S.Sine(amplitude="1", frequency="1 Hz"), block(n)
        m.connect(m.source.y, m.blocks.u if beside else m.blocks[0].u)
        if not beside:
            m.connect(m.blocks[:-1].y, m.blocks[1:].u)
        return m

    return make


def between(n: int) -> Any:
    """Levels that a sine passes one after the other."""
    return quantity(np.linspace(0.1, 0.9, n), "")


def tied_capacitors(n: int) -> Model:
    """A tree of voltage sources with a capacitor to ground at every node, discharged at one."""
    m = Model("tied capacitors")
    m.ground, m.load = E.ElectricalReference(), E.Resistor()
    m.capacitors, m.sources = E.Capacitor(count=n + 1), E.DCVoltageSource(count=n)
    m.connect(m.capacitors.n, m.load.n, m.ground.V)
    m.connect(m.capacitors[0].p, m.load.p)
    draw = np.random.default_rng(1)
    for k in range(n):
        ends = draw.permutation([int(draw.integers(k + 1)), k + 1]).tolist()
        m.connect(m.capacitors[ends[0]].p, m.sources[k].p)
        m.connect(m.capacitors[ends[1]].p, m.sources[k].n)
    return m


def cascade(n: int) -> Model:
    """A voltage cascade (Villard, Cockcroft-Walton) of n diodes."""
    m = Model("cascade")
    m.ground, m.source = E.ElectricalReference(), E.ACVoltageSource(amplitude="10 V",
                                                                     frequency="50 Hz")
    m.connect(m.source.n, m.ground.V)
    ends = [m.source.p, m.ground.V]
    last = m.ground.V
    for k in range(n):
        capacitor, diode = E.Capacitor(capacitance="10 uF"), E.Diode()
        m.add(f"capacitor{k}", capacitor)
        m.add(f"diode{k}", diode)
        m.connect(ends[k % 2], capacitor.n)
        m.connect(last, diode.p)
        m.connect(diode.n, capacitor.p)
        ends[k % 2] = last = capacitor.p
    m.load = E.Resistor(resistance="100 kohm")
    m.connect(last, m.load.p)
    m.connect(m.load.n, m.ground.V)
    return m


def bridges(n: int) -> Model:
    """H-bridges on one supply that switch at the same instants."""
    m = Model("bridges")
    m.ground, m.supply = E.ElectricalReference(), E.DCVoltageSource(voltage="24 V")
    m.line, m.link = E.Resistor(resistance="10 mohm"), E.Capacitor(capacitance="1 mF", v="24 V")
    m.bridges = HBridge(count=n, model="switched", duty=0.6, frequency="2 kHz",
                        on_resistance="50 mohm")
    m.coils = E.Inductor(count=n, inductance="1 mH")
    m.loads = E.Resistor(count=n, resistance="2 ohm")
    m.connect(m.supply.p, m.line.p)
    m.connect(m.line.n, m.link.p, m.bridges.p)
    m.connect(m.supply.n, m.link.n, m.bridges.n, m.ground.V)
    m.connect(m.bridges.a, m.coils.p)
    m.connect(m.coils.n, m.loads.p)
    m.connect(m.loads.n, m.bridges.b)
    return m


def cores(n: int) -> Model:
    """Resistors in a row, a coil on a core that saturates to ground at every node."""
    m = Model("cores")
    m.ground, m.frame = E.ElectricalReference(), B.MagneticReference()
    m.source = E.ACVoltageSource(amplitude="10 V", frequency="50 Hz")
    m.resistors = E.Resistor(count=n, resistance="1 ohm")
    m.coils = B.ElectromagneticConverter(count=n, turns=100)
    m.cores = B.Reluctance(count=n, material="saturating", length="0.2 m", area="4 cm^2")
    m.connect(m.source.n, m.ground.V, m.coils.n)
    m.connect(m.source.p, m.resistors[0].p)
    m.connect(m.resistors.n, m.coils.p)
    m.connect(m.resistors[1:].p, m.coils[:-1].p)
    m.connect(m.coils.N, m.cores.N)
    m.connect(m.coils.S, m.cores.S, m.frame.M)
    return m


def pipes(n: int) -> Model:
    """Pipes of compressible liquid in a row, the first one fed."""
    m = Model("pipes")
    m.tank, m.pump = L.Reservoir(), L.FlowRateSource(mass_flow="0.1 kg/s")
    m.low, m.pipes = L.Reservoir(), L.Pipe(
        count=n, length="1 m", area="1 cm^2", hydraulic_diameter="1 cm",
        dynamic_compressibility=True)
    m.connect(m.tank.A, m.pump.A)
    m.connect(m.pump.B, m.pipes[0].A)
    m.connect(m.pipes[:-1].B, m.pipes[1:].A)
    m.connect(m.pipes[n - 1].B, m.low.A)
    return m


def restrictions(n: int) -> Model:
    """A tree of restrictions without chambers between a pump and reservoirs."""
    m = Model("tree")
    m.source, m.tank = L.PressureSource(pressure_difference=lambda t: quantity("1 MPa") * (
        1.5 + sin(quantity("20 rad/s") * t))), L.Reservoir()
    m.low = L.Reservoir()
    m.connect(m.source.A, m.low.A)
    before = m.source.B
    for k in range(n):
        pipe, branch = (L.LocalRestriction(restriction_type="fixed") for _ in range(2))
        m.add(f"pipe{k}", pipe)
        m.add(f"branch{k}", branch)
        m.connect(before, pipe.A)
        m.connect(pipe.B, branch.A)
        m.connect(branch.B, m.tank.A)
        before = pipe.B
    m.chamber = L.ConstantVolumeChamber()
    m.connect(before, m.chamber.A)
    return m


def chambers(n: int) -> Model:
    """Chambers of gas in a square, joined by restrictions, one of them at a higher pressure."""
    side = round(n**0.5)
    number = np.arange(side**2).reshape(side, side)
    ends = [np.concatenate([a.ravel(), b.ravel()]) for a, b in (
        (number[:, :-1], number[:-1]), (number[:, 1:], number[1:]))]
    m = Model("chambers")
    m.chambers = G.ConstantVolumeChamber(count=side**2, p_I=quantity(
        np.where(number.ravel() == 0, 0.3, 0.1), "MPa"))
    m.ways = G.LocalRestriction(count=len(ends[0]), restriction_type="fixed", area="10 mm^2")
    m.connect(m.ways.A, m.chambers[ends[0]].A)
    m.connect(m.ways.B, m.chambers[ends[1]].A)
    return m


def in_a_row(fluid: ModuleType) -> Callable[[int], Model]:
    """Chambers of a fluid in a row, joined by restrictions, the first one at a higher pressure."""
    def make(n: int) -> Model:
        m = Model("row")
        m.chambers = fluid.ConstantVolumeChamber(count=n, p_I=quantity(
            np.where(np.arange(n) == 0, 0.3, 0.1), "MPa"))
        m.ways = fluid.LocalRestriction(count=n - 1, restriction_type="fixed", area="10 mm^2")
        m.connect(m.ways.A, m.chambers[:-1].A)
        m.connect(m.ways.B, m.chambers[1:].A)
        return m

    return make


def written_by_hand(n: int) -> Model:
    """One component with so many states, each beside the next."""
    def equations(self: Any) -> Iterator[Any]:
        x, second = [getattr(self, f"x{k}") for k in range(n)], quantity("1 s")
        for k in range(n):
            yield second * der(x[k]) == x[k - 1] - 2 * x[k] + x[(k + 1) % n] + 0.1 * sin(x[k])

    named = {f"x{k}": Variable("1", 0.1 * k / n, priority="high") for k in range(n)}
    m = Model("hand")
    m.one = type("One", (Component,), {**named, "equations": equations})()
    return m


def rubbed(law: str, **strength: Any) -> Callable[[int], Model]:
    """A chain with a law of friction on every mass."""
    def make(n: int) -> Model:
        m = models.chain_of_arrays(n)
        m.rub = T.TranslationalFriction(count=n, law=law, **strength)
        m.connect(m.rub.R, m.masses.M)
        m.connect(m.rub.C, m.ground.V)
        return m

    return make


def brushed(n: int) -> Model:
    """Masses that a spring draws along each, over bristles of their own."""
    m = Model("brushes")
    m.ground, m.drive = T.Reference(), T.VelocitySource(velocity="5 mm/s")
    m.masses, m.springs = T.Mass(count=n, v="5 mm/s"), T.Spring(count=n, stiffness="1 kN/m")
    m.rub = T.TranslationalFriction(
        count=n, law="bristle", stiffness="1e4 N/m", reach="0.1 mm", largest_offset=0.5,
        seed=quantity(np.arange(1.0, n + 1), ""))
    m.connect(m.masses.M, m.springs.R, m.rub.R)
    m.connect(m.springs.C, m.drive.R)
    m.connect(m.drive.C, m.rub.C, m.ground.V)
    return m


def boxes(n: int) -> Model:
    """Boxes on a floor, each on two feet, that slide at different speeds and come to rest."""
    m = Model("boxes")
    m.ground = P.Ground()
    for k in range(n):
        body = m.add(f"box{k}", P.Body(
            inertia="0.1 kg*m^2", mass="1 kg", x="0 m", y="0.2 m", phi="0 rad", vy="0 m/s",
            w="0 rad/s", vx=quantity(1 + 2 * k / n, "m/s")))
        for side in (-0.3, 0.3):
            foot = m.add(f"foot{k}{'r' if side > 0 else 'l'}", P.Contact(
                curve=P.Corner(f"{side} m", "-0.2 m"), base=P.Line(), friction=0.3,
                static_friction=0.3))
            m.connect(foot.F, body.P)
            m.connect(foot.B, m.ground.P)
    return m


def sprung(n: int) -> Model:
    """Masses on springs, each pulled at, with a friction of its own behind another spring."""
    m = Model("sprung")
    m.ground, m.masses = T.Reference(), T.Mass(count=n, mass="1 kg")
    m.springs, m.dampers = T.Spring(count=n, stiffness="1 kN/m"), T.Damper(count=n)
    m.joints = T.Spring(count=n, stiffness="500 N/m")
    strength = quantity(1.0 + np.arange(n) / n, "N")
    m.sliders = T.TranslationalFriction(count=n, law="coulomb", coulomb_force=strength,
                                        breakaway_force=strength)
    m.pulls = T.ForceSource(count=n, force=lambda t: quantity("8 N") * sin(quantity(
        "9 rad/s") * t))
    m.connect(m.masses.M, m.springs.R, m.dampers.R, m.joints.R, m.pulls.R)
    m.connect(m.joints.C, m.sliders.R)
    m.connect(m.sliders.C, m.springs.C, m.dampers.C, m.pulls.C, m.ground.V)
    return m


def sensed(block: Callable[[int], Component]) -> Callable[[int], Model]:
    """A chain with a signal block on the position of every mass."""
    def make(n: int) -> Model:
        m = models.chain_of_arrays(n)
        m.sensors, m.blocks = T.MotionSensor(count=n), block(n)
        m.connect(m.sensors.R, m.masses.M)
        m.connect(m.sensors.C, m.ground.V)
        m.connect(m.sensors.P, m.blocks.u)
        return m

    return make


FAMILIES = (
    Family("chain of masses", models.chain_of_arrays, (300, 3000, 30000), "0.2 s"),
    Family("chain of masses, each by itself", models.chain_of_parts, (100, 300, 1000), "0.2 s"),
    Family("row that rubs on floor and neighbours", rubbing, (5, 10, 20), "2 s", "event", 1e-3),
    Family("a delay in a chain", delayed, (400, 800, 1600), "0.2 s", goal=1.0),
    Family("boxes that come to rest on two feet", boxes, (5, 20, 80), "1.2 s", "event", 5e-3),
    Family("gears with losses in a stiff train", lossy_train, (5, 20, 80), "2 s", "event", 1e-3),
    Family("gears with losses and a brake", braked_train, (3, 6, 12), "2 s", "event", 1e-3),
    Family("a gear with losses at every wheel", lossy_chain, (5, 10, 20), "0.5 s", "event", 1e-3),
    Family("one-way clutches beside springs in a row", clutched_wheels, (100, 300, 1000), "0.2 s",
           "event", 2e-2),
    Family("ladder with diodes, piecewise linear", shunted_ladder(E.Diode, "p", "n"),
           (10, 30, 100), "2 ms", goal=0.2),
    Family("ladder with diodes, ideal", shunted_ladder(E.Diode, "p", "n", model="ideal"),
           (30, 100, 300), "2 ms", "event", 5e-3),
    Family("ladder with thyristors, none fired", shunted_ladder(E.Thyristor, "A", "K"),
           (50, 150, 450), "2 ms", goal=3.0),
    Family("ladder with transistors", shunted_ladder(E.MOSFET, "D", "S"),
           (100, 300, 1000), "2 ms", "event", 5e-2),
    Family("ladder with a source in its middle", held_ladder, (300, 1000, 3000), "2 ms", goal=0.2),
    Family("ladder of resistors and coils", coil_ladder, (100, 300, 1000), "2 ms", goal=0.2),
    Family("springs from many masses to one, rodas4", hub, (300, 1000, 3000), "0.2 s", goal=0.2,
           options={"method": "rodas4"}),
    Family("plays in a row", behind_sine(lambda n: S.Backlash(count=n, width="0.01")),
           (30, 100, 300), "2 s", "event", 5e-3),
    Family("root mean squares in a row", behind_sine(lambda n: S.RunningRMS(count=n)),
           (75, 150, 300), "0.2 s", goal=0.2),
    Family("limiters in a row", behind_sine(lambda n: S.Saturation(
        count=n, upper=between(n)[::-1], lower=-between(n)[::-1])), (30, 100, 300), "2 s",
        goal=0.2),
    Family("relays beside each other", behind_sine(lambda n: S.Relay(
        count=n, switch_on=between(n), switch_off=-between(n)), beside=True), (100, 300, 1000),
        "2 s", "event", 5e-3),
    Family("capacitors that sources tie in a tree", tied_capacitors, (100, 300, 900), "1 ms",
           goal=0.2),
    Family("friction behind a spring at every mass", sprung, (100, 300, 1000), "1 s", "event",
           2e-3),
    Family("voltage cascade of default diodes", cascade, (6, 20, 60), "0.1 s", "event", 5e-3),
    Family("H-bridges on one supply", bridges, (5, 20, 80), "10 ms", goal=1.0),
    Family("coils on cores that saturate", cores, (25, 75, 225), "20 ms", goal=1.0,
           options={"method": "rodas4"}),
    Family("pipes of liquid in a row", pipes, (30, 100, 300), "10 ms", goal=3.0),
    Family("restrictions without chambers", restrictions, (10, 100, 400), "20 ms", goal=1.0),
    Family("chambers of gas in a square", chambers, (25, 100, 400), "1 s", goal=3.0,
           options={"method": "rodas4"}),
    *(Family(f"chambers of {name} in a row", in_a_row(fluid), sizes, "0.1 s", goal=3.0,
             options={"method": "rodas4"}) for name, fluid, sizes in (
        ("gas", G, (30, 100, 300)), ("moist air", A, (10, 30, 100)),
        ("two phases", F, (5, 10, 30)))),
    Family("states of one component", written_by_hand, (75, 150, 300), "0.2 s", goal=0.2),
    Family("district heated by water, a pipe to every house", district, (30, 100, 300), "1 ms",
           goal=10.0),
    Family("Dahl's friction on every mass", rubbed("dahl", coulomb_force="0.1 N"),
           (100, 300, 1000), "0.5 s", goal=3.0),
    Family("LuGre's friction on every mass", rubbed(
        "lugre", coulomb_force="0.1 N", breakaway_force="0.15 N"), (100, 300, 1000), "0.5 s",
        goal=3.0),
    Family("sliders of Maxwell's on every mass", rubbed(
        "gms", coulomb_force="0.1 N", breakaway_force="0.15 N"), (100, 300, 1000), "0.5 s",
        goal=3.0),
    Family("bristles under masses that are drawn", brushed, (10, 30, 100), "0.2 s", "event", 5e-4),
    Family("backlash behind every mass", sensed(lambda n: S.Backlash(count=n, width="1 mm")),
           (100, 300, 1000), "0.5 s", goal=3.0),
    Family("relay behind every mass", sensed(lambda n: S.Relay(
        count=n, switch_on="0.1 mm", switch_off="-0.1 mm")), (100, 300, 1000), "0.5 s", goal=3.0),
    Family("ladder of cells, rodas4 at 1e-9", rc_ladder, (250, 500, 1000), "3 ms", goal=0.5,
           options={"method": "rodas4", "rtol": 1e-9}),
    Family("ladder of cells, auto", rc_ladder, (1000, 3000, 10000), "3 ms", goal=0.2),
)


# -- one element of any class ----------------------------------------------------------------
def chain_with(cls: type[Component] | None, n: int) -> Model:
    """The chain of n masses with one element between its middle and the ground."""
    m = models.chain_of_arrays(n)
    if cls is None:
        return m
    part = m.one = cls()
    ports = [getattr(part, name) for name, one in part.ports.items() if one.unit == "translational"]
    m.connect(ports[0], m.masses[n // 2].M)
    for port in ports[1:]:
        m.connect(port, m.ground.V)
    return m


# -- measuring -------------------------------------------------------------------------------
def measure(family: Family) -> Growth:
    """Build, check and run every size."""
    found = Growth(family)
    for n in family.sizes:
        start = time.process_time()
        model = family.make(n)
        built = time.process_time()
        model.check()
        checked = time.process_time()
        model.simulate(family.duration, **family.options)
        begun = time.process_time()
        result = model.simulate(family.duration, **family.options)
        found.run.append(time.process_time() - begun)
        found.build.append(built - start)
        found.check.append(checked - built)
        found.first.append(max(begun - checked - found.run[-1], 1e-3))
        found.events.append(result.statistics["events"])
    return found


def _elements(n: int) -> Iterator[tuple[str, float]]:
    """Time of a run with one element of each class, over that of the chain without."""
    def seconds(cls: type[Component] | None) -> float:
        model = chain_with(cls, n)
        model.simulate("0.1 s")
        start = time.process_time()
        model.simulate("0.1 s")
        return time.process_time() - start

    alone = seconds(None)
    for name in T.__all__:
        cls = getattr(T, name)
        if isinstance(cls, type) and issubclass(cls, Component) and name != "TwoPort":
            try:
                yield name, seconds(cls) / alone
            except BlocksError as error:  # it cannot stand between a mass and the ground
                print(f"    {name}: {str(error).splitlines()[0][:90]}")


def _draw(found: list[Growth], path: Path) -> None:
    """Time of an event or run of every family over its size, on logarithmic axes."""
    import matplotlib.pyplot as plt

    figure, axes = plt.subplots(figsize=(9, 6), layout="constrained")
    for k, growth in enumerate(found):
        axes.loglog(growth.family.sizes, growth.counted, "o-" if growth.family.of == "run" else
                    "s--", color=plt.get_cmap("tab20")(k % 20), label=growth.family.name)
    axes.set(xlabel="number of elements", ylabel="processor time, s a run (s an event: dashed)")
    axes.grid(alpha=0.3)
    figure.legend(loc="outside right upper", fontsize=8)
    figure.savefig(path, dpi=130)


def main(arguments: list[str]) -> None:
    """Print a line a family; ``--picture FILE`` draws them."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks cliffs", description=__doc__)
    parser.add_argument("words", nargs="*", help="only families whose name has one of these")
    parser.add_argument("--picture", type=Path, metavar="FILE", help="draw the families here")
    options = parser.parse_args(arguments)
    found = []
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for family in FAMILIES:
            if not options.words or any(word in family.name for word in options.words):
                try:
                    found.append(measure(family))
                    print(found[-1], flush=True)
                except Exception as error:
                    print(f"{family.name:44}{type(error).__name__}: {str(error)[:200]}", flush=True)
        if not options.words or "element" in options.words:
            ratios = sorted(_elements(3000), key=lambda pair: -pair[1])
            print("one element in a chain of 3,000, times the chain alone: "
                  + ", ".join(f"{name} {ratio:.1f}" for name, ratio in ratios[:8]))
    if options.picture:
        _draw(found, options.picture)
