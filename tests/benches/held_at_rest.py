"""Break-aways, landings and heat of bodies at rest, by hand."""

import numpy as np
from scipy.optimize import brentq


def switches(amplitude, kinetic, static, period, end):
    """(time, mode) at which a body of 1 kg under amplitude sin(2 pi t/period) starts and stops.

    Stuck, it lets go where the load outgrows ``static``. Then its velocity is the integral of the
    load less ``kinetic``; where it is zero again it sticks, or goes the other way at once.
    """
    w = 2 * np.pi / period
    found, t, mode = [], 0.0, 0
    while True:
        if mode == 0:
            if amplitude <= static:
                return found
            first = np.arcsin(static / amplitude) / w
            t = first + np.ceil((t - first) / (period / 2) + 1e-9) * period / 2
            mode = int(np.sign(np.sin(w * t)))
        else:
            t = _rest(t, mode, amplitude, kinetic, w)
            load = amplitude * np.sin(w * t)
            mode = 0 if abs(load) <= static else int(np.sign(load))
        if t >= end:
            return found
        found.append((t, mode))


def _rest(since, mode, amplitude, kinetic, w):
    """When a body that began to slide is at rest again."""
    def speed(t):
        push = amplitude / w * (np.cos(w * since) - np.cos(w * t))
        return mode * push - kinetic * (t - since)

    times = since + 2 * np.pi / w * np.geomspace(1e-6, 3, 40_000)
    speeds = speed(times)
    moves = int(np.argmax(speeds > 0))
    k = moves + int(np.argmax(speeds[moves:] < 0))
    return brentq(speed, times[k - 1], times[k], xtol=1e-15)


def lifts(amplitude, weight, end):
    """When a body of 1 kg on a floor, under amplitude sin(t) - weight, lifts off and lands."""
    found, t = [], 0.0
    rises = np.arcsin(weight / amplitude)
    while True:
        t = rises + 2 * np.pi * np.ceil((t - rises) / (2 * np.pi) + 1e-9)
        if t >= end:
            return found
        found.append((t, "opens"))

        def height(x, since=t):
            s = x - since
            swing = s * np.cos(since) - (np.sin(x) - np.sin(since))
            return amplitude * swing - weight * s**2 / 2

        times = t + np.geomspace(1e-3, 20, 40_000)
        heights = height(times)
        up = int(np.argmax(heights > 0))
        k = up + int(np.argmax(heights[up:] < 0))
        t = brentq(height, times[k - 1], times[k], xtol=1e-15)
        if t >= end:
            return found
        found.append((t, "closes"))
