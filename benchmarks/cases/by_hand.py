"""E1 to E8 as somebody would write them for SciPy: equations by hand, its fastest method.

Each takes a relative tolerance and gives the values that :mod:`benchmarks.beyond` compares. Where
something switches at known instants the run is cut there; kinks that a method strides over as
quickly as it finds them (E2) are left to it. SciPy has no method for the algebraic nodes of E8:
they are eliminated, those with a diode by Newton's method.
"""

from __future__ import annotations

from collections.abc import Callable
from math import exp, pi, sin, sqrt, tanh
from typing import Any, NamedTuple

import numpy as np

from .circuits import diode_nodes

__all__ = ["BY_HAND", "ByHand"]

FORWARD, ON, LEAK = 0.6, 0.3, 1e-8  # of a diode of two lines
OFFSET = FORWARD * (1 - ON * LEAK) / ON


class ByHand(NamedTuple):
    """Values at the end by relative tolerance, and the method that SciPy is told to take."""

    values: Callable[[float], Any]
    method: str


def _solved(slope: Any, end: tuple[float, float], start: Any, rtol: float, scale: Any, method: str,
            **options: Any) -> Any:
    from scipy.integrate import solve_ivp

    done = solve_ivp(slope, end, start, method=method, rtol=rtol, atol=0.01 * rtol * scale,
                     t_eval=[end[1]] if "events" not in options else None, **options)
    if not done.success:
        raise RuntimeError(done.message)
    return done


def _line(slope: Any, n: int, end: float, start: float, rtol: float, scale: float,
          diagonals: tuple[Any, ...]) -> Any:
    """A chain: a band for LSODA, which fails where it is long; then sparse BDF."""
    from scipy.sparse import diags_array

    y = np.full(n, start)
    if n <= 1000:
        return _solved(slope, (0.0, end), y, rtol, scale, "LSODA", lband=1, uband=1).y[:, -1]
    matrix = diags_array(diagonals, offsets=[-1, 0, 1], shape=(n, n)).tocsc()
    return _solved(slope, (0.0, end), y, rtol, scale, "BDF", jac=lambda t, y: matrix).y[:, -1]


def ladder(n: int) -> ByHand:
    """E1."""
    rate = n * n * 1000.0

    def slope(t: float, y: Any) -> Any:
        flow = np.empty(n + 1)
        flow[0], flow[n] = 5 * sin(2000 * pi * t) - y[0], 0.0
        flow[1:n] = y[:-1] - y[1:]
        return rate * (flow[:-1] - flow[1:])

    middle = np.full(n, -2 * rate)
    middle[-1] = -rate
    one = np.full(n - 1, rate)

    def values(rtol: float) -> Any:
        return _line(slope, n, 3e-3, 0.0, rtol, 5.0, (one, middle, one))[[n // 2 - 1, n - 1]]

    return ByHand(values, "LSODA, band" if n <= 1000 else "BDF, sparse")


def bridge(rtol: float) -> Any:
    """E2."""
    ends = (0, 2), (1, 2), (3, 0), (3, 1)  # of diodes: nodes a, b, p and ground
    modes = [False] * 4

    def slope(t: float, y: Any) -> Any:
        p, source = y[0], 17 * sin(100 * pi * t) / 0.1
        for _ in range(8):  # until all diodes are as they should be
            g = [1 / ON if on else LEAK for on in modes]
            c = [OFFSET if on else 0.0 for on in modes]
            aa, bb = 10 + g[0] + g[2], 10 + g[1] + g[3]
            ra = source + g[0] * p + c[0] - c[2]
            rb = -source + g[1] * p + c[1] - c[3]
            det = aa * bb - 100
            at = (bb * ra + 10 * rb) / det, (aa * rb + 10 * ra) / det, p, 0.0
            wanted = [at[i] - at[k] > FORWARD for i, k in ends]
            if wanted == modes:
                break
            modes[:] = wanted
        flow = sum(g[k] * (at[k] - p) - c[k] for k in range(2))
        return [(flow - p / 100) / 1e-3]

    return _solved(slope, (0.0, 0.5), [0.0], rtol, 17.0, "LSODA", max_step=1e-3).y[:, -1]


def buck(rtol: float) -> Any:
    """E3."""
    y = np.zeros(2)
    for edge in range(1000):
        closed = 100.0 if edge % 2 == 0 else LEAK

        def slope(t: float, y: Any, closed: float = closed) -> Any:
            v = (closed * 24 - y[0]) / (closed + LEAK)  # of the switched node, if no diode conducts
            if -v > FORWARD:
                v = (closed * 24 - OFFSET - y[0]) / (closed + 1 / ON)
            return [(v - 0.05 * y[0] - y[1]) / 1e-4, (y[0] - y[1] / 5) / 1e-4]

        y = _solved(slope, (edge * 1e-5, (edge + 1) * 1e-5), y, rtol, 10.0, "LSODA").y[:, -1]
    return y


def motor(rtol: float) -> Any:
    """E4."""
    y, bell, leak = np.zeros(5), sqrt(2 * exp(1.0)) * 0.3, 1 / 0.01 + 1e-8
    high = 24 * (1 / 0.01 - 1e-8) / leak
    for edge in range(10_000):
        start = edge // 2 / 5000 + (0.525 / 5000 if edge % 2 else 0.0)
        end = (edge // 2 + 1) / 5000 if edge % 2 else edge // 2 / 5000 + 0.525 / 5000

        def slope(t: float, y: Any, v: float = high if edge % 2 == 0 else -high) -> Any:
            i, w1, twist, w2, _ = y
            s, shaft = w2 / (sqrt(2.0) * 0.1), 10 * twist + 0.002 * (w1 - w2)
            friction = bell * exp(-s * s) * s + 0.7 * tanh(100 * w2) + 0.01 * w2
            return [(v - 2 / leak * i - i - w1) / 1e-3, (i - shaft) / 0.01, w1 - w2,
                    (shaft - friction) / 0.01, w2]

        y = _solved(slope, (start, end), y, rtol, 1.0, "RK45").y[:, -1]
    return y


def rod(n: int) -> ByHand:
    """E5."""
    length = 0.1 / n
    g, c = 50 * 1e-4 / length, 7850.0 * 447 * 1e-4 * length

    def slope(t: float, y: Any) -> Any:
        flow = np.empty(n + 1)
        flow[0], flow[n] = g * (1000 - y[0]), 4e-10 * (y[-1] ** 4 - 300.0**4)
        flow[1:n] = g * (y[:-1] - y[1:])
        return (flow[:-1] - flow[1:]) / c

    middle, one = np.full(n, -2 * g / c), np.full(n - 1, g / c)
    middle[-1] = -(g + 1.6e-9 * 600.0**3) / c  # about: Newton's method corrects the rest

    def values(rtol: float) -> Any:
        return _line(slope, n, 600.0, 300.0, rtol, 700.0, (one, middle, one))[[n // 2 - 1, n - 1]]

    return ByHand(values, "LSODA, band" if n <= 1000 else "BDF, sparse")


def cylinder(rtol: float) -> Any:
    """E6."""
    tank, beta = 101325.0, 1.2e9
    bell = sqrt(2 * exp(1.0)) * 200

    def flow(s: float, p: float) -> float:
        least = pi / 4 * 850 / (2 * s) * s * (150 * 1.8e-5 / 0.64) ** 2 / s
        return float(0.64 * s * sqrt(2 / 850.0) * p / (p * p + least * least) ** 0.25)

    def slope(t: float, y: Any) -> Any:
        pp, pa, pb, x, v = y
        area, over = 1e-10 + 8e-6 * sin(pi * t) ** 2, pp - tank
        relief = min(max(1e-10 + (2e-5 - 1e-10) * (over - 12e6) / 2e6, 1e-10), 2e-5)
        qa, qb, qr = flow(area, pp - pa), flow(area, pb - tank), flow(relief, over)
        u = v / (sqrt(2.0) * 0.002)
        force = bell * u * exp(-u * u) + 500 * tanh(10 * v / 0.002) + 200 * v
        return [beta / 1e-5 * (1.5e-4 - qa - qr), beta / (5e-5 + 1e-3 * x) * (qa - 1e-3 * v),
                beta / (5e-5 + 6e-4 * (0.3 - x)) * (6e-4 * v - qb), v,
                ((pa - tank) * 1e-3 - (pb - tank) * 6e-4 - 4000 - force) / 50]

    return _solved(slope, (0.0, 2.0), [tank, tank + 4e6, tank, 0.02, 0.0], rtol,
                   np.array([1e7, 1e7, 1e7, 0.1, 0.1]), "LSODA", max_step=0.02).y[:, -1]


def solenoid(rtol: float) -> Any:
    """E7: the values at 50 ms of a run to 100 ms."""
    scale, air = np.array([1e-4, 1e-3, 1.0]), 4e-7 * pi * 1e-4
    y, t, out = np.array([0.0, 2e-3 + 2.4e-6, 0.0]), 0.0, np.empty(3)

    def low(t: float, y: Any, *volts: float) -> float:
        return float(y[1] - 2e-4)

    def high(t: float, y: Any, *volts: float) -> float:
        return float(y[1] - 2e-3)

    low.terminal = high.terminal = True  # type: ignore[attr-defined]
    below, above = False, True
    for stop, volts in ((0.04, 12.0), (0.05, 0.0), (0.1, 0.0)):
        while t < stop:
            def slope(t: float, y: Any, volts: float = volts, below: bool = below,
                      above: bool = above) -> Any:
                flux, x, v = y
                force = 1e6 * (2e-4 - x) - 150 * v if below else 0.0
                if above:
                    force -= 1e6 * (x - 2e-3) + 150 * v
                current = flux * (x / air + 2e6) / 1000
                return [(volts - 20 * current) / 1000, v,
                        (-flux * flux / (2 * air) + 400 * (8e-3 - x) - 0.5 * v + force) / 0.02]

            low.direction, high.direction = 2 * below - 1, 1 - 2 * above  # type: ignore[attr-defined]
            done = _solved(slope, (t, stop), y, rtol, scale, "RK45", events=(low, high),
                           max_step=2e-3)
            t, y = done.t[-1], done.y[:, -1]
            if done.status == 1:
                below ^= len(done.t_events[0]) > 0
                above ^= len(done.t_events[1]) > 0
        if stop == 0.05:
            out = y
    return out


def grid(rtol: float) -> Any:
    """E8."""
    from scipy.sparse import coo_array, diags_array

    n, g = 100, 0.01
    number = np.arange(n * n).reshape(n, n)
    pairs = np.concatenate([np.column_stack([number[:, :-1].ravel(), number[:, 1:].ravel()]),
                            np.column_stack([number[:-1].ravel(), number[1:].ravel()])])
    both = np.concatenate([pairs, pairs[:, ::-1]])
    near = coo_array((np.full(len(both), g), both.T), shape=(n * n, n * n)).tocsr()
    feed = np.where(number.ravel() % n == 0, g, 0.0)
    diagonal = near.sum(axis=1) + feed
    even = (np.arange(n)[:, None] + np.arange(n)).ravel() % 2 == 0
    stores, others = np.flatnonzero(even), np.flatnonzero(~even)
    diodes = np.searchsorted(others, np.sort(diode_nodes(n, 50)))
    there, back = near[others][:, stores], near[stores][:, others]
    held = np.zeros(len(others))

    def algebraic(t: float, v: Any) -> Any:
        push = there @ v + feed[others] * 5 * sin(2000 * pi * t)
        at = push / diagonal[others]
        u, sums, d = held[diodes], push[diodes], diagonal[others][diodes]
        for _ in range(50):
            current = 1e-12 * np.exp(u / 0.025)
            change = (d * u - sums + current - 1e-12) / (d + current / 0.025)
            u = u - np.clip(change, -0.05, 0.05)
            if np.max(np.abs(change)) < 1e-13:
                break
        at[diodes] = held[diodes] = u
        return at

    def slope(t: float, v: Any) -> Any:
        source = 5 * sin(2000 * pi * t)
        flow = back @ algebraic(t, v) + feed[stores] * source - diagonal[stores] * v
        return flow / 1e-9

    def jacobian(t: float, v: Any) -> Any:
        at, d = algebraic(t, v), diagonal[others].copy()
        d[diodes] += 4e-11 * np.exp(at[diodes] / 0.025)
        return ((back @ diags_array(1 / d) @ there - diags_array(diagonal[stores])) / 1e-9).tocsc()

    v = np.zeros(n * n)
    v[stores] = _solved(slope, (0.0, 2e-3), v[stores], rtol, 5.0, "BDF", jac=jacobian).y[:, -1]
    v[others] = algebraic(2e-3, v[stores])
    return v[[99, 4999, 5050, 9999]]


#: By the beginning of a problem's name.
BY_HAND = {
    "E1 ladder, N = 10": ladder(10), "E1 ladder, N = 1,000": ladder(1000),
    "E1 ladder, N = 10,000": ladder(10_000), "E1 ladder, N = 100,000": ladder(100_000),
    "E2 bridge, 200 commutations": ByHand(bridge, "LSODA over the kinks"),
    "E3 buck, 1,012 events": ByHand(buck, "LSODA, edge by edge"),
    "E4 motor, 10,000 edges": ByHand(motor, "RK45, edge by edge"),
    "E5 rod, N = 1,000": rod(1000), "E5 rod, N = 100,000": rod(100_000),
    "E6 cylinder, 5 events": ByHand(cylinder, "LSODA"),
    "E7 solenoid, 7 events": ByHand(solenoid, "RK45 with events"),
    "E8 grid of 100 x 100": ByHand(grid, "BDF, sparse, algebraic nodes eliminated"),
}  # fmt: skip
