"""The models that are timed, and the same problems written by hand."""

from __future__ import annotations

from math import e, exp, sqrt, tanh
from typing import Any

import numpy as np

from blocks import Model, quantity, sin
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

__all__ = ["chain_by_hand", "chain_of_arrays", "chain_of_parts", "stick_slip",
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


def _push(t: Any) -> Any:
    return quantity("1 N") * sin(quantity("10 rad/s") * t)


def chain_of_arrays(n: int) -> Model:
    """n masses joined by springs and dampers, three component arrays; force on the last."""
    model = Model(f"chain of {n}")
    model.ground = Reference()
    model.masses = Mass(count=n)
    model.springs = Spring(count=n, stiffness=SPRING)
    model.dampers = Damper(count=n, damping=DAMPER)
    model.push = ForceSource(force=_push)
    model.connect(model.springs.R, model.dampers.R, model.masses.M)
    model.connect(model.springs[1:].C, model.dampers[1:].C, model.masses[:-1].M)
    model.connect(model.springs[0].C, model.dampers[0].C, model.ground.V, model.push.C)
    model.connect(model.push.R, model.masses[-1].M)
    return model


def chain_of_parts(n: int) -> Model:
    """The same chain, every component added and connected by itself."""
    model = Model(f"chain of {n}")
    model.ground = Reference()
    model.push = ForceSource(force=_push)
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
    model.springs = Spring(count=len(soft),
                           stiffness=quantity(rng.uniform(500, 2000, len(soft)), "N/m"))
    model.dampers = Damper(count=len(soft),
                           damping=quantity(rng.uniform(0.5, 2, len(soft)), "N*s/m"))
    model.rods = Rod(count=len(rods))
    model.levers = Lever(count=len(levers))
    masses = model.masses
    for parts, ends in ((model.springs, soft), (model.dampers, soft), (model.rods, rods)):
        model.connect(parts.R, masses[ends[:, 0]].M)
        model.connect(parts.C, masses[ends[:, 1]].M)
    model.connect(model.levers.B, model.ground.V)  # v_C = v_A / 2
    model.connect(model.levers.A, masses[levers[:, 1]].M)
    model.connect(model.levers.C, masses[levers[:, 0]].M)
    model.push = ForceSource(force=_push)
    model.connect(model.push.R, masses[0].M)
    model.connect(model.push.C, model.ground.V)
    return model


def grid(n: int) -> Model:
    """n x n nodes joined by dampers and springs, masses on the rim only: one algebraic block."""
    model = Model(f"grid of {n} x {n}")
    number = np.arange(n * n).reshape(n, n)
    ends = np.concatenate([
        np.column_stack([number[:, :-1].ravel(), number[:, 1:].ravel()]),
        np.column_stack([number[:-1].ravel(), number[1:].ravel()]),
    ])  # fmt: skip
    rim = np.ones((n, n), dtype=bool)
    rim[1:-1, 1:-1] = False
    model.ground, model.masses = Reference(), Mass(count=int(rim.sum()), mass="1 kg")
    model.springs = Spring(count=len(ends), stiffness="100 N/m")
    model.dampers = Damper(count=len(ends), damping="1 N*s/m")
    model.joints = FreeEnd(count=n * n)  # a node with a name
    for parts in (model.springs, model.dampers):
        model.connect(parts.R, model.joints[ends[:, 0]].V)
        model.connect(parts.C, model.joints[ends[:, 1]].V)
    model.connect(model.masses.M, model.joints[number[rim]].V)
    model.holder = Damper(damping="1 N*s/m")
    model.connect(model.holder.R, model.joints[0].V)
    model.connect(model.holder.C, model.ground.V)
    model.push = ForceSource(force=_push)
    model.connect(model.push.R, model.joints[n * n - 1].V)
    model.connect(model.push.C, model.ground.V)
    return model
