"""The models that are timed, and the same problems written by hand."""

from __future__ import annotations

from math import e, exp, sqrt, tanh
from typing import Any

import numpy as np

from blocks import (
    Component,
    Discrete,
    Model,
    Parameter,
    Variable,
    breakpoints,
    der,
    every,
    quantity,
    sin,
    where,
)
from blocks import exp as exponential
from blocks import tanh as hyperbolic
from blocks import time as now
from library.mechanisms import Lever
from library.translational import (
    Damper,
    ForceSource,
    FreeEnd,
    Mass,
    Reference,
    Rod,
    Spring,
    TranslationalFriction,
    VelocitySource,
)

__all__ = ["Buck", "Motor", "Positioning", "alone", "blocks_on_belt", "chain_by_hand",
           "chain_of_arrays", "chain_of_parts", "stick_slip",
           "stick_slip_by_hand"]  # fmt: skip

SPRING, DAMPER = "1 kN/m", "1 N*s/m"

COLD = """
from blocks import Model
from library.translational import Damper, Mass, Reference, Spring
model = Model("cold start")
model.block = Mass(mass="1 kg", v="1 m/s")
model.spring = Spring(stiffness="1 kN/m")
model.damper = Damper(damping="10 N*s/m")
model.ground = Reference()
model.connect(model.block.M, model.spring.R, model.damper.R)
model.connect(model.spring.C, model.damper.C, model.ground.V)
model.check()
print(model.simulate("1 s")["spring.x"].final)
"""
COLD_PICTURE = """
import io
from blocks import Model
from library.translational import Mass, Reference, Spring, TranslationalFriction, VelocitySource
model = Model("cold stick-slip")
model.block = Mass(mass="1 kg")
model.spring = Spring(stiffness="1 kN/m")
model.friction = TranslationalFriction(law="coulomb", coulomb_force="10 N", breakaway_force="15 N")
model.belt, model.wall = VelocitySource(velocity="0.1 m/s"), Reference()
model.connect(model.block.M, model.spring.R, model.friction.R)
model.connect(model.friction.C, model.belt.R)
model.connect(model.spring.C, model.belt.C, model.wall.V)
result = model.simulate("4 s")
result.plot("block.v", "spring.f").savefig(io.BytesIO())
"""


def push_of_time(t: Any) -> Any:
    return quantity("1 N") * sin(quantity("10 rad/s") * t)


def chain_of_arrays(n: int) -> Model:
    """n masses joined by springs and dampers, three component arrays; force on the last."""
    model = Model(f"chain of {n}")
    model.ground = Reference()
    model.masses = Mass(count=n)
    model.springs = Spring(count=n, stiffness=SPRING)
    model.dampers = Damper(count=n, damping=DAMPER)
    model.push = ForceSource(force=push_of_time)
    model.connect(model.springs.R, model.dampers.R, model.masses.M)
    model.connect(model.springs[1:].C, model.dampers[1:].C, model.masses[:-1].M)
    model.connect(model.springs[0].C, model.dampers[0].C, model.ground.V, model.push.C)
    model.connect(model.push.R, model.masses[-1].M)
    return model


def chain_of_parts(n: int) -> Model:
    """The same chain, every component added and connected by itself."""
    model = Model(f"chain of {n}")
    model.ground = Reference()
    model.push = ForceSource(force=push_of_time)
    before = model.ground.V
    model.connect(before, model.push.C)
    for i in range(n):
        mass = model.add(f"mass{i}", Mass())
        spring = model.add(f"spring{i}", Spring(stiffness=SPRING))
        damper = model.add(f"damper{i}", Damper(damping=DAMPER))
        model.connect(mass.M, spring.R, damper.R)
        model.connect(before, spring.C, damper.C)
        before = mass.M
    model.connect(before, model.push.R)
    return model


def chain_by_hand(n: int) -> tuple[Any, np.ndarray]:
    """Right-hand side and start of the chain; velocities and positions interleaved."""
    forces = np.empty(n + 1)

    def slope(t: float, y: np.ndarray) -> np.ndarray:
        v, x = y[0::2], y[1::2]
        forces[0] = 1000 * x[0] + v[0]
        forces[1:n] = 1000 * np.diff(x) + np.diff(v)
        forces[n] = np.sin(10 * t)
        out = np.empty_like(y)
        out[0::2] = np.diff(forces)
        out[1::2] = v
        return out

    return slope, np.zeros(2 * n)


def stick_slip() -> Model:
    """1 kg dragged at 0.1 m/s through a spring over Simscape's friction."""
    model = Model("stick-slip")
    model.pull = VelocitySource(velocity="0.1 m/s")
    model.spring = Spring(stiffness="1 kN/m")
    model.block = Mass(mass="1 kg")
    model.friction = TranslationalFriction(
        breakaway_force="25 N", coulomb_force="20 N", breakaway_velocity="1 cm/s",
        viscous_coefficient="10 N*s/m",
    )  # fmt: skip
    model.floor = Reference()
    model.connect(model.pull.R, model.spring.R)
    model.connect(model.spring.C, model.block.M, model.friction.R)
    model.connect(model.friction.C, model.pull.C, model.floor.V)
    return model


def stick_slip_by_hand(t: float, y: Any) -> tuple[float, float]:
    """The same as a right-hand side: velocity of the block, deformation of the spring."""
    v, x = y
    u = v / 0.01
    friction = sqrt(e) * 5 * exp(-u * u / 2) * u + 20 * tanh(10 * u) + 10 * v
    return 1000 * x - friction, 0.1 - v


def friction_chain(n: int) -> Model:
    """The chain of arrays with Simscape's friction between every mass and the ground."""
    model = chain_of_arrays(n)
    model.frictions = TranslationalFriction(
        count=n, breakaway_force="25 mN", coulomb_force="20 mN", breakaway_velocity="1 cm/s",
        viscous_coefficient="0.1 N*s/m",
    )  # fmt: skip
    model.push.force = lambda t: quantity("5 N") * sin(quantity("10 rad/s") * t)
    model.connect(model.frictions.R, model.masses.M)
    model.connect(model.frictions.C, model.ground.V)
    return model


def block_on_belt() -> Model:
    """Exact Coulomb friction: 1 kg on a spring of 100 N/m, dragged by a belt at 0.2 m/s."""
    model = Model("block on a belt")
    model.belt = VelocitySource(velocity="0.2 m/s")
    model.block = Mass(mass="1 kg")
    model.spring = Spring(stiffness="100 N/m")
    model.friction = TranslationalFriction(law="coulomb", coulomb_force="5 N")
    model.frame = Reference()
    model.connect(model.belt.R, model.friction.R)
    model.connect(model.friction.C, model.block.M, model.spring.R)
    model.connect(model.spring.C, model.belt.C, model.frame.V)
    return model


def blocks_on_belt(n: int) -> Model:
    """n such blocks beside each other, each on a spring of its own."""
    model = Model(f"{n} blocks on a belt")
    model.belt, model.frame = VelocitySource(velocity="0.2 m/s"), Reference()
    model.blocks = Mass(count=n, mass="1 kg")
    model.springs = Spring(count=n, stiffness=quantity(np.linspace(80, 120, n), "N/m"))
    model.frictions = TranslationalFriction(count=n, law="coulomb", coulomb_force="5 N",
                                            breakaway_force="6 N")
    model.connect(model.belt.R, model.frictions.R)
    model.connect(model.frictions.C, model.blocks.M)
    model.connect(model.springs.R, model.blocks.M)
    model.connect(model.springs.C, model.belt.C, model.frame.V)
    return model


def stiff_chain(n: int) -> Model:
    """The chain of arrays with springs of 1 N/m and 1 MN/m in turn."""
    model = chain_of_arrays(n)
    model.springs.stiffness = quantity(np.where(np.arange(n) % 2, 1e6, 1.0), "N/m")
    return model


class Buck(Component):
    """A two-state buck converter at 50 kHz, its diode piecewise linear."""

    i = Variable("A", "0 A", priority="high", nominal="10 A")
    vc = Variable("V", "0 V", priority="high", nominal="10 V")
    v = Variable("V", "0 V", nominal="10 V")
    frequency = Parameter("50 kHz")
    on, leak, closed = Parameter("0.3 ohm"), Parameter("1e-8 1/ohm"), Parameter("0.01 ohm")
    forward = Parameter("0.6 V")

    def equations(self) -> Any:
        phase = now * self.frequency
        yield breakpoints(0 / self.frequency, 0.5 / self.frequency)
        conductance = where(phase - np.floor(phase) < 0.5, 1 / self.closed, self.leak)
        diode = where(-self.v > self.forward,
                      (-self.v - self.forward * (1 - self.on * self.leak)) / self.on,
                      -self.leak * self.v)
        yield conductance * (quantity("24 V") - self.v) + diode == self.i
        yield quantity("100 uH") * der(self.i) == (
            self.v - quantity("0.05 ohm") * self.i - self.vc)
        yield quantity("100 uF") * der(self.vc) == self.i - self.vc / quantity("5 ohm")


class Motor(Component):
    """A motor on an H-bridge at 5 kHz, a shaft, and a load that sticks and slips."""

    i = Variable("A", "0 A", priority="high")
    w1 = Variable("rad/s", "0 rad/s", priority="high")
    twist = Variable("rad", "0 rad", priority="high")
    w2 = Variable("rad/s", "0 rad/s", priority="high")
    angle = Variable("rad", "0 rad", priority="high")
    frequency = Parameter("5 kHz")

    def equations(self) -> Any:
        phase = now * self.frequency
        yield breakpoints(0 / self.frequency, 1 / self.frequency)
        yield breakpoints(0.525 / self.frequency, 1 / self.frequency)
        high = quantity(24 * (1 / 0.01 - 1e-8) / (1 / 0.01 + 1e-8), "V")
        bridge = where(phase - np.floor(phase) < 0.525, 1.0, -1.0) * high - quantity(
            2 / (1 / 0.01 + 1e-8), "ohm") * self.i
        shaft = quantity("10 N*m/rad") * self.twist + quantity("2 mN*m*s/rad") * (
            self.w1 - self.w2)
        s = self.w2 / quantity(np.sqrt(2) * 0.1, "rad/s")
        friction = (quantity(np.sqrt(2 * np.e) * 0.3, "N*m") * exponential(-s**2) * s
                    + quantity("0.7 N*m") * hyperbolic(10 * self.w2 / quantity("0.1 rad/s"))
                    + quantity("0.01 N*m*s/rad") * self.w2)
        yield quantity("1 mH") * der(self.i) == (
            bridge - quantity("1 ohm") * self.i - quantity("1 V*s/rad") * self.w1)
        yield quantity("0.01 kg*m^2") * der(self.w1) == quantity("1 N*m/A") * self.i - shaft
        yield der(self.twist) == self.w1 - self.w2
        yield quantity("0.01 kg*m^2") * der(self.w2) == shaft - friction
        yield der(self.angle) == self.w2


class Positioning(Component):
    """1 kg that a sampled PD controller brings to 1 m."""

    x, v = Variable("m", "0 m"), Variable("m/s", "0 m/s")
    force = Discrete("N")
    period = Parameter("1 ms")

    def equations(self) -> Any:
        yield der(self.x) == self.v
        yield quantity("1 kg") * der(self.v) == self.force
        yield every(self.period, {self.force: quantity("20 N/m") * (quantity("1 m") - self.x)
                                  - quantity("6 N*s/m") * self.v})


def alone(part: Component) -> Model:
    """A model of one component."""
    model = Model(type(part).__name__.lower())
    model.part = part
    return model


def random_network(n: int, seed: int = 1) -> Model:
    """n masses, mean degree 3: springs with dampers, every tenth link a rigid rod or a lever.

    A rod joins two masses, a lever makes one move twice as far as the other.
    """
    rng = np.random.default_rng(seed)
    model = Model(f"random network of {n:,}")
    model.ground = Reference()
    model.masses = Mass(count=n, mass=quantity(rng.uniform(0.5, 2, n), "kg"))
    tree = np.array([(int(rng.integers(max(0, i - 40), i)), i) for i in range(1, n)])
    other = rng.integers(0, n, size=(n // 2, 2))
    kind = rng.random(len(tree))
    rods, levers = tree[kind < 0.075], tree[(kind >= 0.075) & (kind < 0.15)]
    soft = np.concatenate([tree[kind >= 0.15], other[other[:, 0] != other[:, 1]]])
    _join_masses(model, soft, levers, rng)
    model.rods = Rod(count=len(rods))
    model.connect(model.rods.R, model.masses[rods[:, 0]].M)
    model.connect(model.rods.C, model.masses[rods[:, 1]].M)
    return model


def _join_masses(model: Model, soft: np.ndarray, levers: np.ndarray, rng: np.random.Generator
                 ) -> None:
    """Springs with dampers between some masses, levers between others; the first is pushed."""
    masses = model.masses
    model.springs = Spring(count=len(soft),
                           stiffness=quantity(rng.uniform(500, 2000, len(soft)), "N/m"))
    model.dampers = Damper(count=len(soft),
                           damping=quantity(rng.uniform(0.5, 2, len(soft)), "N*s/m"))
    for parts in (model.springs, model.dampers):
        model.connect(parts.R, masses[soft[:, 0]].M)
        model.connect(parts.C, masses[soft[:, 1]].M)
    model.levers = Lever(count=len(levers))
    model.connect(model.levers.B, model.ground.V)  # v_C = v_A / 2
    model.connect(model.levers.A, masses[levers[:, 1]].M)
    model.connect(model.levers.C, masses[levers[:, 0]].M)
    model.push = ForceSource(force=push_of_time)
    model.connect(model.push.R, masses[0].M)
    model.connect(model.push.C, model.ground.V)


def plane_graph(n: int, seed: int = 1) -> Model:
    """n masses, those near each other joined by springs with dampers; every twentieth link a lever.

    Random points, and the edges of their Delaunay triangulation.
    """
    from scipy.sparse import coo_array
    from scipy.sparse.csgraph import minimum_spanning_tree
    from scipy.spatial import Delaunay

    rng = np.random.default_rng(seed)
    corners = Delaunay(rng.random((n, 2))).simplices
    ends = np.unique(np.sort(np.concatenate([corners[:, [0, 1]], corners[:, [1, 2]],
                                             corners[:, [0, 2]]]), axis=1), axis=0)
    length = coo_array((rng.random(len(ends)) + 0.1, ends.T), shape=(n, n))
    tree = minimum_spanning_tree(length).tocoo()  # no lever follows from others
    number = tree.row * n + tree.col
    rigid = np.isin(ends @ [n, 1], number[rng.random(n - 1) < len(ends) / (20 * n)])
    model = Model(f"plane graph of {n:,}")
    model.ground = Reference()
    model.masses = Mass(count=n, mass=quantity(rng.uniform(0.5, 2, n), "kg"))
    _join_masses(model, ends[~rigid], ends[rigid], rng)
    return model


def lattice(*shape: int) -> Model:
    """Nodes of a grid or a cube joined by dampers and springs, masses on the rim only: one
    algebraic block."""
    model = Model(f"lattice of {' x '.join(map(str, shape))}")
    number = np.arange(np.prod(shape)).reshape(shape)
    ends = np.concatenate([
        np.column_stack([np.delete(number, -1, axis).ravel(), np.delete(number, 0, axis).ravel()])
        for axis in reversed(range(len(shape)))
    ])  # fmt: skip
    rim = np.ones(shape, dtype=bool)
    rim[(slice(1, -1),) * len(shape)] = False
    model.ground, model.masses = Reference(), Mass(count=int(rim.sum()), mass="1 kg")
    model.springs = Spring(count=len(ends), stiffness="100 N/m")
    model.dampers = Damper(count=len(ends), damping="1 N*s/m")
    model.joints = FreeEnd(count=number.size)  # a node with a name
    for parts in (model.springs, model.dampers):
        model.connect(parts.R, model.joints[ends[:, 0]].V)
        model.connect(parts.C, model.joints[ends[:, 1]].V)
    model.connect(model.masses.M, model.joints[number[rim]].V)
    model.holder = Damper(damping="1 N*s/m")
    model.connect(model.holder.R, model.joints[0].V)
    model.connect(model.holder.C, model.ground.V)
    model.push = ForceSource(force=push_of_time)
    model.connect(model.push.R, model.joints[number.size - 1].V)
    model.connect(model.push.C, model.ground.V)
    return model
