"""How large and how late is the answer to a sine, at many frequencies?"""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.linalg import hessenberg
from scipy.sparse import csc_matrix, identity
from scipy.sparse.linalg import splu

from ..exceptions import ParameterError
from ..numerics.arrays import Array
from ..units import Unit, to_si, unit, unit_given

__all__ = ["angular_frequency", "transfer"]


def angular_frequency(frequency: Any, where: str) -> Any:
    """rad/s of a frequency in Hz or rad/s, whichever its unit says.

    Raises
    ------
    MissingUnit, ParameterError
        For a bare number, which could be either, and what is not positive.
    """
    given: Unit = unit_given(frequency, where)
    if given.is_dimensionless and not given.angular:
        to_si(frequency, unit("Hz"), where)  # says what is missing
    wanted = "Hz" if given.frequency else "rad/s"
    number = np.asarray(to_si(frequency, unit(wanted), where), dtype=float)
    omega = number * (2 * np.pi if given.frequency else 1.0)
    if not (np.isfinite(omega).all() and (omega > 0).all()):
        raise ParameterError(where, "takes frequencies above 0.", "Write for example '2 Hz'.",
                             given=frequency)  # fmt: skip
    return omega if omega.ndim else float(omega)


def transfer(a: Any, b: Array, c: Array, d: Array, s: Array) -> Array:
    """C (s - A)^-1 B + D at many s, (values, outputs, inputs)."""
    out = np.empty((len(s), *d.shape), dtype=complex)
    if not isinstance(a, np.ndarray):
        eye = identity(a.shape[0], format="csc")
        whole = csc_matrix(a)
        for k, at in enumerate(s):
            out[k] = c @ splu(at * eye - whole).solve(b.astype(complex)) + d
        return out
    if not len(a):
        out[:] = d
        return out
    h, q = hessenberg(a, calc_q=True)
    left, right, eye = c @ q, q.T @ b, np.eye(len(a))
    for k, at in enumerate(s):
        out[k] = left @ np.linalg.solve(at * eye - h, right) + d
    return out
