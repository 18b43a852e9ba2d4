"""Which friction law does a measured motion with reversals speak for?

A map of force over velocity cannot tell a law with memory from one without. In a motion that turns
round it shows: before it slides, a contact bends as a spring does. LuGre's deflection is integrated
along the measured velocity, and its values are found by least squares from several starts; laws
without memory are fitted as :mod:`.identification` does. All are ranked by how well they predict
stretches of the motion that were held out.
"""

from __future__ import annotations

from itertools import product
from typing import Any

import numpy as np

from blocks import quantity
from blocks.exceptions import ParameterError

from . import identification
from .identification import FrictionChoice, FrictionFit, condition_of, fitted_curve, measured_column

__all__ = ["identify_friction_motion"]

STEPS = 6  # of the deflection between two measured points
LUGRE = 6  # parameters; the deflection at the start is one more value
BEST = 3  # of the starts that are followed
WHERE = "identify_friction_motion()"


def identify_friction_motion(data: Any, time: str, velocity: str, force: str) -> FrictionChoice:
    """Compare friction laws, LuGre's among them, with a measured motion.

    Parameters
    ----------
    data : pandas DataFrame
        In the order of time, which may be irregular.
    time, velocity, force : str
        Its columns, with units, ``"time [ms]"``, ``"velocity [mm/s]"``, ``"force [N]"``. The force
        is that of friction alone: of a rig, motor force less mass times acceleration.

    Returns
    -------
    FrictionChoice

    Raises
    ------
    ParameterError
        For columns that are not there, without unit, or with too few values, and for times that go
        back.
    """
    columns = [measured_column(data, name, kinds, WHERE) for name, kinds in (
        (time, ("s",)), (velocity, identification.VELOCITIES), (force, identification.FORCES))]
    (t, t_unit), (v, v_unit), (f, f_unit) = columns
    kept = np.isfinite(t) & np.isfinite(v) & np.isfinite(f)
    t, v, f = t[kept] * quantity(1.0, t_unit).to("s").m, v[kept], f[kept]
    if (np.diff(t) <= 0).any():
        row = int(np.argmax(np.diff(t) <= 0))
        raise ParameterError(WHERE, f"goes back in time after row {row}.", "Sort the rows by time.")
    if len(v) < 8 * LUGRE:
        raise ParameterError(WHERE, f"has {len(v)} values.", f"Measure at least {8 * LUGRE}.",
                             code="friction.few")
    fits = [_LuGre(t, v, f).fitted(v_unit, f_unit)]
    fits += [fitted_curve(*curve, v, f, v_unit, f_unit, parts=_stretches(len(v)))
             for curve in identification.CURVES]
    return identification.choice(fits, lambda law, _: _notes(law, v), (v, f, v_unit, f_unit))


def _stretches(count: int) -> np.ndarray:
    """Which part of the data a point belongs to: each part is several stretches of time."""
    return (np.arange(count) * 4 * identification.PARTS // count) % identification.PARTS


class _LuGre:
    """Forces of LuGre's law along a measured velocity, in the units of the columns and seconds.

    Values are searched as they stand here: logarithms of sigma_0, v_s, F_C and of F_G / F_C - 1,
    then sigma_1, c, and the force of the deflection at the start.
    """

    def __init__(self, t: np.ndarray, v: np.ndarray, f: np.ndarray) -> None:
        from scipy.interpolate import PchipInterpolator

        self.t, self.v, self.f = t, v, f
        fine = np.append((t[:-1, None] + np.diff(t)[:, None] * np.arange(STEPS) / STEPS).ravel(),
                         t[-1])
        self.h = np.diff(fine)
        self.between = PchipInterpolator(t, v)((fine[:-1] + fine[1:]) / 2)

    def forces(self, y: np.ndarray) -> np.ndarray:
        """Forces of the law at the measured points, in the unit of their column."""
        stiffness, speed, low, rise = np.exp(y[:4])

        def level(v: np.ndarray) -> np.ndarray:
            return np.asarray(low * (1 + rise * np.exp(-((v / speed) ** 2))))

        full = level(self.between)
        stays = np.exp(-stiffness * np.abs(self.between) / full * self.h)
        goes = np.sign(self.between) * full * (1 - stays)
        bent = [float(y[6])]
        for stay, go in zip(stays.tolist(), goes.tolist(), strict=True):
            bent.append(bent[-1] * stay + go)  # exact while the velocity is constant
        at = np.array(bent[::STEPS])
        rate = self.v - np.abs(self.v) * at / level(self.v)
        return np.asarray(at + y[4] * rate + y[5] * self.v)

    def _guesses(self) -> list[np.ndarray]:
        """Values on a grid of stiffness and velocity, the best first."""
        speeds = np.abs(self.v)
        low = float(np.median(np.abs(self.f[speeds > np.median(speeds)])))
        rise = max(float(np.quantile(np.abs(self.f), 0.98)) / low - 1, 0.05)
        travel = float(speeds.mean() * (self.t[-1] - self.t[0]))
        grid = [np.array([np.log(low / travel * 10.0**s), np.log(speeds.max() * 10.0**-u),
                          np.log(low), np.log(rise), 0.0, 0.0, self.f[0]])
                for s, u in product(np.linspace(0.5, 5, 10), (0.2, 0.6, 1.0, 1.5, 2.0))]
        return sorted(grid, key=lambda y: float(np.sum((self.f - self.forces(y)) ** 2)))

    def _searched(self, start: np.ndarray, seen: np.ndarray, free: int) -> Any:
        """Least squares of the points that are seen; the first so many values move."""
        from scipy.optimize import least_squares

        bounds = np.array([[-50, -50, -50, -9, 0, 0, -np.inf],
                           [50, 50, 50, 3, np.inf, np.inf, np.inf]])[:, :free]
        inside = np.clip(start[:free], bounds[0] + 1e-9, bounds[1])
        return least_squares(lambda y: (self.f - self.forces(np.append(y, start[free:])))[seen],
                             inside, bounds=bounds, x_scale="jac", xtol=1e-8, ftol=1e-8, gtol=1e-8)

    def fitted(self, v_unit: str, f_unit: str) -> FrictionFit:
        """The best values, and how well stretches are predicted that were left out."""
        whole = np.ones(len(self.t), dtype=bool)
        found = min((self._searched(start, whole, LUGRE + 1) for start in self._guesses()[:BEST]),
                    key=lambda one: float(one.cost))
        part = _stretches(len(self.t))
        missed = np.empty(len(self.t))
        for k in range(identification.PARTS):
            other = self._searched(found.x, part != k, LUGRE)  # the start is not the law's
            missed[part == k] = (self.f - self.forces(np.append(other.x, found.x[LUGRE:])))[
                part == k]
        squares, count = 2 * float(found.cost), len(self.t)
        stiffness, speed, low, rise = np.exp(found.x[:4])
        per_length, per_speed = f"({f_unit})/(({v_unit})*s)", f"({f_unit})/({v_unit})"
        values = {"coulomb_force": quantity(low, f_unit),
                  "breakaway_force": quantity(low * (1 + rise), f_unit),
                  "breakaway_velocity": quantity(speed, v_unit),
                  "viscous_coefficient": quantity(found.x[5], per_speed),
                  "stiffness": quantity(stiffness, per_length),
                  "damping": quantity(found.x[4], per_speed)}
        return FrictionFit("lugre", values, quantity(float(np.sqrt(np.mean(missed**2))), f_unit),
                           quantity(float(np.sqrt(squares / count)), f_unit),
                           count * float(np.log(squares / count)) + (LUGRE + 1) * np.log(count),
                           condition_of(found.jac[:, :4]))


def _notes(law: FrictionFit, v: np.ndarray) -> list[str]:
    """What the motion cannot tell."""
    notes = []
    if not ((v[1:] > 0) & (v[:-1] <= 0)).any() or not ((v[1:] < 0) & (v[:-1] >= 0)).any():
        notes.append("The motion does not turn round in both directions: motion before sliding, "
                     "the stiffness of the contact, is not told.")
    if law.law == "lugre":
        notes.append("The force depends on what went before, as bristles do: laws of the velocity "
                     "alone miss it at reversals.")
    else:
        notes.append("No memory is seen: stiffness and damping of bristles are not told. Turn "
                     "round more slowly, or measure more densely there.")
    return notes
