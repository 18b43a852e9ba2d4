"""A disc in a circle until the dimensionless time 60, and discs poured into a box.

The disc is solved with exact friction and contact, and by hand: the reduced equations of
the source in one angle and the spin, modes and their ends thought through by a person,
scipy's DOP853 with its events between them. The discs fall by Moreau-Jean time stepping,
with every pair a contact; ``python -m benchmarks.cases.planar`` prints the time of a step over
their number.
"""

from __future__ import annotations

import time as clock
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np

from blocks import Model, quantity
from library.planar import Body, Circle, Contact, Ground, Line

from ..timing import Case

__all__ = ["Pour", "cases", "disc", "disc_by_hand", "pour", "poured"]

G, R, r, FRICTION = 9.81, 1.0, 0.25, 0.1
SIDES = ("pairs", "floor", "left", "right")
END = 60 / np.sqrt(G / (R - r))


def disc(friction: float = FRICTION) -> Model:
    """The disc of source 001, let go at the height of the circle's centre."""
    model = Model("disc in a circle")
    model.ground = Ground()
    model.disc = Body(inertia=quantity(r**2 / 2, "kg*m^2"), x="0.75 m", y="0 m", phi="0 rad",
                      vx="0 m/s", vy="0 m/s", w="0 rad/s")  # fmt: skip
    model.touch = Contact(curve=Circle("0.25 m"), base=Circle("1 m", inside=True),
                          friction=friction)  # fmt: skip
    model.connect(model.ground.P, model.touch.B)
    model.connect(model.disc.P, model.touch.F)
    return model


def disc_by_hand(end: float = END, rtol: float = 1e-9, mu: float = FRICTION
                 ) -> list[tuple[float, int]]:
    """Times at which the mode changes, and the new one: the sign of the slip, 0 for rolling."""
    from scipy.integrate import solve_ivp

    arm = R - r

    def load(y: np.ndarray) -> float:
        return G * np.sin(y[0]) + arm * y[1] ** 2

    def sliding(sign: int) -> Any:
        return lambda t, y: [y[1], (G * np.cos(y[0]) - sign * mu * load(y)) / arm,
                             -2 * sign * mu * load(y) / r]  # fmt: skip

    def rolling(t: float, y: np.ndarray) -> list[float]:
        a = 2 / 3 * G * np.cos(y[0]) / arm
        return [y[1], a, -arm * a / r]

    def slip(t: float, y: np.ndarray) -> float:
        return arm * y[1] + r * y[2]

    def reserve(t: float, y: np.ndarray) -> float:
        return mu * load(y) - G * abs(np.cos(y[0])) / 3

    slip.terminal = reserve.terminal = True  # type: ignore[attr-defined]
    t, y, mode = 0.0, np.zeros(3), 1
    changes: list[tuple[float, int]] = []
    while True:
        law, event = (rolling, reserve) if mode == 0 else (sliding(mode), slip)
        if mode:
            slip.direction = -mode  # type: ignore[attr-defined]
        run = solve_ivp(law, (t, end), y, method="DOP853", rtol=rtol, atol=rtol / 100, events=event)
        t, y = run.t[-1], run.y[:, -1]
        if run.status != 1:
            return changes
        if mode == 0:
            mode = 1 if np.cos(y[0]) > 0 else -1
        else:
            y[2] = -arm * y[1] / r
            mode = 0 if reserve(t, y) > 0 else -mode
        changes.append((t, mode))


def poured(n: int, smooth: bool = False, friction: float = 0.3) -> Model:
    """n discs above each other in columns of a box, every pair a contact."""
    model = Model(f"{n} discs")
    model.ground = Ground()
    rng = np.random.default_rng(0)
    width = max(2, int(np.sqrt(n)))
    x = 0.25 * (np.arange(n) % width) + rng.uniform(-0.02, 0.02, n)
    y = 0.15 + 0.25 * (np.arange(n) // width)
    model.discs = Body(count=n, inertia="5 g*m^2", x=quantity(x, "m"), y=quantity(y, "m"),
                       phi="0 rad", vx="0 m/s", vy="0 m/s", w="0 rad/s")  # fmt: skip
    shape, right = Circle("0.1 m"), f"{0.25 * (width - 1) + 0.2} m"
    law = {"smooth": True} if smooth else {"friction": friction}
    for name, side in (("floor", Line()), ("left", Line("-90 deg", x="-0.2 m")),
                       ("right", Line("90 deg", x=right))):  # fmt: skip
        wall = model.add(name, Contact(count=n, curve=shape, base=side, **law))
        model.connect(model.ground.P, wall.B)
        model.connect(wall.F, model.discs.P)
    first, second = np.triu_indices(n, 1)
    pairs = model.pairs = Contact(count=len(first), curve=shape, base=shape, **law)
    model.connect(pairs.B, model.discs[first].P)
    model.connect(pairs.F, model.discs[second].P)
    return model


@dataclass(frozen=True)
class Pour:
    """What pouring some discs took, and what became of them."""

    discs: int
    contacts: int  # possible ones
    prepared: float  # seconds: checked, compiled, and the first step made
    falling: float  # seconds a step, until they rest
    resting: float  # the same, from there on, as long again
    touching: int  # contacts with a force at the end
    weight: float  # what floor, walls and friction carry at the end, over the weight
    fastest: float  # m/s, at the end
    deepest: float  # m, of all gaps at the end


def pour(n: int, smooth: bool = False, end: float = 3.0) -> Pour:
    """Pour discs and let them come to rest; steps of 5 ms."""
    model = poured(n, smooth)

    def run(length: float) -> Any:
        return model.simulate(quantity(length, "s"), method="moreau_jean", step="5 ms",
                              every=quantity(length, "s"))  # fmt: skip

    prepared = _timed(lambda: run(5e-3))
    run(end)
    result, longer = run(end), run(2 * end)
    steps, seconds = ([r.statistics[what] for r in (result, longer)]
                      for what in ("steps", "time integrating"))
    at = quantity(end, "s")
    forces = {name: result[f"{name}.N"].at(at).to("N").m for name in SIDES}
    lift = np.zeros(n)
    for name in SIDES[1:]:
        lift -= result[f"{name}.F.fy"].at(at).to("N").m
    speed = np.hypot(*(result[f"discs.{v}"].at(at).to("m/s").m for v in ("vx", "vy")))
    gaps = [result[f"{name}.gap"].at(at).to("m").m.min() for name in SIDES]
    return Pour(n, n * (n - 1) // 2 + 3 * n, prepared, seconds[0] / steps[0],
                (seconds[1] - seconds[0]) / (steps[1] - steps[0]),
                sum(int((force > 0).sum()) for force in forces.values()),
                float(lift.sum()) / (n * G), float(speed.max()), -min(gaps))


def _timed(run: Any) -> float:
    start = clock.perf_counter()
    run()
    return clock.perf_counter() - start


def cases() -> Iterator[Case]:
    """The benchmark, with the hand-written program as reference."""
    model = disc()
    model.compile()
    yield Case("planar: disc in a circle, 60 units", lambda: _timed(
        lambda: model.simulate(f"{END} s", rtol=1e-9, every=f"{END} s")), "by hand, DOP853",
        lambda: _timed(disc_by_hand))
    kept = cache(pour)  # pours last minutes, their steps at rest milliseconds
    yield Case("planar: a step of 200 discs at rest, Moreau-Jean", lambda: kept(200).resting,
               "without friction", lambda: kept(200, True).resting, goal=0.05)


def main() -> None:
    print(f"{'discs':>6}{'friction':>10}{'possible':>10}{'touching':>10}{'prepared':>11}"
          f"{'a step':>11}{'at rest':>11}{'weight':>8}{'fastest':>12}{'overlap':>10}")
    for smooth in (False, True):
        runs = []
        for n in (25, 50, 100, 200):
            p = pour(n, smooth)
            runs.append(p)
            print(f"{p.discs:>6}{'no' if smooth else '0.3':>10}{p.contacts:>10}{p.touching:>10}"
                  f"{p.prepared:>9.2f} s{1e3 * p.falling:>8.1f} ms{1e3 * p.resting:>8.1f} ms"
                  f"{p.weight:>8.4f}{1e3 * p.fastest:>7.2g} mm/s{1e3 * p.deepest:>7.2g} mm",
                  flush=True)
        order = np.polyfit(np.log([p.touching for p in runs]),
                           np.log([p.resting for p in runs]), 1)[0]
        print(f"a step at rest grows with the number of touching contacts to the {order:.2f}")


if __name__ == "__main__":
    main()
