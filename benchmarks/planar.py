"""A disc in a circle until the dimensionless time 60, and discs poured into a box.

The disc is solved with exact friction and contact, and by hand: the reduced equations of
the source in one angle and the spin, modes and their ends thought through by a person,
scipy's DOP853 with its events between them. The discs fall without friction by Moreau-Jean
time stepping with every pair a contact; ``python -m benchmarks.planar`` prints the time of a
step over their number.
"""

from __future__ import annotations

import time as clock
from collections.abc import Iterator
from typing import Any

import numpy as np

from blocks import Model, quantity
from library.planar import Body, Circle, Contact, Ground, Line

from .cases import Case

__all__ = ["cases", "disc", "disc_by_hand", "poured"]

G, R, r, FRICTION = 9.81, 1.0, 0.25, 0.1
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


def poured(n: int, smooth: bool = False) -> Model:
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
    for name, side in (("floor", Line()), ("left", Line("-90 deg", x="-0.2 m")),
                       ("right", Line("90 deg", x=right))):  # fmt: skip
        wall = model.add(name, Contact(count=n, curve=shape, base=side, smooth=smooth))
        model.connect(model.ground.P, wall.B)
        model.connect(wall.F, model.discs.P)
    first, second = np.triu_indices(n, 1)
    pairs = model.pairs = Contact(count=len(first), curve=shape, base=shape,
                                  smooth=smooth)  # fmt: skip
    model.connect(pairs.B, model.discs[first].P)
    model.connect(pairs.F, model.discs[second].P)
    return model


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


def main() -> None:
    print(f"{'discs':>6}{'contacts':>10}{'compile':>10}{'time a step':>14}")
    for n in (4, 8, 16, 32):
        model = poured(n, smooth=True)
        compiled = _timed(model.compile)
        steps = 60
        took = _timed(lambda m=model: m.simulate("0.3 s", method="moreau_jean", step="5 ms",
                                                 every="0.3 s"))  # fmt: skip
        contacts = n * (n - 1) // 2 + 3 * n
        print(f"{n:>6}{contacts:>10}{compiled:>8.2f} s{took / steps * 1e3:>11.1f} ms")


if __name__ == "__main__":
    main()
