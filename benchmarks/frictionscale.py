"""Many blocks that rub: what an event costs, and a time step (``python -m benchmarks friction``).

Burridge and Knopoff's chain: blocks on a rough floor, each pulled by a spring from a drive and
by its neighbours. Event by event up to 1,000 blocks, where an event moves one block and nothing
but that block's friction is decided anew; by Moreau-Jean up to 10,000. The drive starts with
the springs near the limit, so that blocks slip from the first second on.

References
----------
Burridge, Knopoff, Bull. Seismol. Soc. Am. 57 (1967) 341-371.
"""

from __future__ import annotations

import time as clock
from dataclasses import dataclass
from typing import Any

import numpy as np

__all__ = ["Cost", "blocks_on_springs", "cost_of_events", "cost_of_steps", "report"]


@dataclass(frozen=True)
class Cost:
    """What one run took."""

    blocks: int
    seconds: float
    count: int  # of events, or of steps
    evaluations: int

    @property
    def each(self) -> float:
        """Seconds per event or step."""
        return self.seconds / max(self.count, 1)


def blocks_on_springs(n: int, stretch: float = 0.0) -> Any:
    """The chain of ``n`` blocks of 1 kg on springs of 1 N/m, pulled by ``stretch`` m at first."""
    from blocks import Model, quantity
    from library.translational import Mass, Reference, Spring, TranslationalFriction, VelocitySource

    kinetic = 1 + 0.2 * np.random.default_rng(5).random(n)
    model = Model("chain")
    model.ground, model.drive = Reference(), VelocitySource(velocity="0.1 m/s")
    model.mass = Mass(count=n)
    model.pull = Spring(count=n, stiffness="1 N/m", x=quantity(stretch, "m"))
    model.link = Spring(count=n - 1, stiffness="1 N/m")
    model.friction = TranslationalFriction(
        count=n, law="coulomb", coulomb_force=quantity(kinetic, "N"),
        breakaway_force=quantity(1.5 * kinetic, "N"),
    )  # fmt: skip
    model.connect(model.drive.C, model.ground.V)
    for i in range(n):
        model.connect(model.mass[i].M, model.friction[i].R, model.pull[i].C)
        model.connect(model.pull[i].R, model.drive.R)
        model.connect(model.friction[i].C, model.ground.V)
    for i in range(n - 1):
        model.connect(model.mass[i].M, model.link[i].C)
        model.connect(model.mass[i + 1].M, model.link[i].R)
    return model


def cost_of_events(n: int, seconds: float = 2.5) -> Cost:
    """Event-driven, with the default method."""
    model = blocks_on_springs(n, 1.45)
    model.compile()
    began = clock.perf_counter()
    run = model.simulate(f"{seconds} s", rtol=1e-6)
    took = clock.perf_counter() - began
    return Cost(n, took, len(run.events), run.statistics["residuals"])


def cost_of_steps(n: int, steps: int = 100) -> Cost:
    """Moreau-Jean with fixed steps of 10 ms, from where the first blocks slip."""
    model = blocks_on_springs(n, 1.5)
    model.compile()
    model.simulate("10 ms", method="moreau_jean", step="10 ms")  # what the first run prepares
    began = clock.perf_counter()
    run = model.simulate(f"{10 * steps} ms", method="moreau_jean", step="10 ms")
    took = clock.perf_counter() - began
    return Cost(n, took, steps, run.statistics["residuals"])


def report(largest: int = 1000, steps_of: int = 10_000) -> None:
    """Run all and print a table."""
    print(f"{'chain of blocks on dry friction':44}{'time':>10}{'each':>12}")
    cost_of_events(2)  # imports
    before: Cost | None = None
    for n in (10, 100, 1000):
        if n > largest:
            break
        cost = cost_of_events(n)
        growth = "" if before is None else (
            f"   run grows with blocks to the {np.log10(cost.seconds / before.seconds):.2f}")
        print(f"{f'{n:,} blocks, {cost.count:,} events':44}{cost.seconds:>8.2f} s"
              f"{1e3 * cost.each:>9.2f} ms{growth}", flush=True)
        before = cost
    for n in (1000, steps_of):
        if n <= steps_of:
            cost = cost_of_steps(n)
            print(f"{f'{n:,} blocks, {cost.count} Moreau-Jean steps':44}{cost.seconds:>8.2f} s"
                  f"{1e3 * cost.each:>9.2f} ms", flush=True)
