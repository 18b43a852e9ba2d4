"""How are unknowns solved for from where exponents are far too high?

Down an exponential every step of Newton's method takes the exponent down by one, however high it
is; where cells in series share a voltage, a first guess gives one of them all of it. So every
exponent is an unknown of its own for a while: equations are linearised at exponents that only grow
as their logarithm, and what they are to be equal to follows [Nagel, "SPICE2", 1975, sec. 4.2;
Albersmeyer and Diehl, "The lifted Newton method", SIAM J. Optim. 20, 2010].
"""

from __future__ import annotations

import casadi as ca
import numpy as np

from ..numerics.arrays import Array, Indices
from ..numerics.rewriting import lifted
from .evaluator import Arguments
from .system import System

__all__ = ["approached"]

MOST_STEPS = 200
AGREES = 0.1  # by which exponents may differ from what they stand for: Newton's method goes on
MOST_UNKNOWNS = 500  # whose matrices are full here
LOW = 1.0  # exponents up to which equations are linearised anywhere


def approached(system: System, arguments: Arguments, tied: Indices) -> bool:
    """Take tied states and torn unknowns to where Newton's method finds a solution.

    Whether exponents agree there with what they stand for; else the arguments are anywhere.
    """
    _, x, z, *_ = arguments
    nt, size = len(tied), len(tied) + len(z)
    if size > MOST_UNKNOWNS:
        return False
    function = system.once("lifted residuals", lambda: _functions(system))
    if function is None:
        return False
    first = system.nx if system.nc else 0
    columns = np.concatenate([tied, first + np.arange(len(z))]).astype(int)
    with np.errstate(all="ignore"):
        exponents = np.minimum(_exponents(function, arguments), LOW)
        for _ in range(MOST_STEPS):
            r, by_w, by_e, meant, meant_w = (np.array(a) for a in function(*arguments, exponents))
            by_e, meant_w = by_e[:size], meant_w[:, columns]
            apart = meant[:, 0] - exponents
            try:
                step = np.linalg.solve(by_w[:size, columns] + by_e @ meant_w,
                                       -r[:size, 0] - by_e @ apart)
            except np.linalg.LinAlgError:
                return False
            if not np.isfinite(step).all():
                return False
            x[tied] += step[:nt]
            z += step[nt:]
            exponents = _limited(exponents, exponents + apart + meant_w @ step)
            if np.abs(_exponents(function, arguments) - exponents).max() <= AGREES:
                return True
    return False


def _limited(before: Array, now: Array) -> Array:
    """Exponents after a step that would take them to others: upwards only by their logarithm."""
    base = np.maximum(before, 0.0)
    rise = np.maximum(now - base, 0.0)
    return np.where((now > LOW) & (rise > LOW), base + np.log1p(rise), now)


def _exponents(function: ca.Function, arguments: Arguments) -> Array:
    """What the exponents stand for."""
    found: Array = np.array(function(*arguments, 0.0)[3])[:, 0]
    return found


def _functions(system: System) -> ca.Function | None:
    """Residuals and what exponents stand for, with their derivatives; None without exponents."""
    tape = system.tape
    (residual,), symbols, exponents = lifted([ca.vertcat(tape.residual, tape.constraints)])
    if not symbols:
        return None
    e, meant = ca.vertcat(*symbols), ca.vertcat(*exponents)
    w = ca.vertcat(tape.x, tape.z) if system.nc else tape.z  # none is tied without constraints
    results = [residual, ca.jacobian(residual, w), ca.jacobian(residual, e), meant,
               ca.jacobian(meant, w)]
    return ca.Function("lifted", [*system.arguments, e], [ca.densify(r) for r in results])
