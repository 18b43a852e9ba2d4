"""How large and how late is the answer to a sine, at many frequencies?"""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.sparse import csc_matrix, identity
from scipy.sparse.linalg import splu

from ...exceptions import ParameterError
from ...numerics.arrays import Array, Complexes
from ...units import Unit, to_si, unit, unit_given

__all__ = ["angular_frequency", "transfer"]

EPS = float(np.finfo(float).eps)


def angular_frequency(frequency: Any, where: str) -> Any:
    """rad/s of a frequency in Hz or rad/s, whichever its unit says.

    Refused are a bare number, which could be either, and what is not positive.
    """
    given: Unit = unit_given(frequency, where)
    if given.is_dimensionless and not given.angular:
        to_si(frequency, unit("Hz"), where)  # says what is missing
    wanted = "Hz" if given.frequency else "rad/s"
    number = np.asarray(to_si(frequency, unit(wanted), where), dtype=float)
    omega = number * (2 * np.pi if given.frequency else 1.0)
    if not (np.isfinite(omega).all() and (omega > 0).all()):
        raise ParameterError(where, "takes frequencies above 0.", "Write for example '2 Hz'; what "
                             "a model does at rest is its gains().", given=frequency)
    return omega if omega.ndim else float(omega)


def transfer(a: Any, b: Array, c: Array, d: Array, s: Complexes) -> Complexes:
    """C (s - A)^-1 B + D at many s, (values, outputs, inputs)."""
    out = np.empty((len(s), *d.shape), dtype=complex)
    if not len(b):
        out[:] = d
        return out
    eye, whole, right = identity(len(b), format="csc"), csc_matrix(a), b.astype(complex)
    for k, at in enumerate(s):
        try:
            answer = splu(at * eye - whole).solve(right)
        except RuntimeError:  # a pole to the last bit
            answer = splu(at * (1 + 2 * EPS) * eye - whole).solve(right)
        out[k] = c @ answer + d
    return out
