"""How large and how late is the answer to a sine, at many frequencies?"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from scipy.linalg import hessenberg, solve_banded
from scipy.sparse import csc_matrix, csr_matrix, identity
from scipy.sparse.csgraph import reverse_cuthill_mckee
from scipy.sparse.linalg import splu

from ..exceptions import ParameterError
from ..numerics.arrays import Array
from ..units import Unit, to_si, unit, unit_given

__all__ = ["angular_frequency", "transfer"]

WIDE = 60  # diagonals from which general sparse elimination is faster


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
    if not len(b):
        out[:] = d
        return out
    if not isinstance(a, np.ndarray):
        solve = _sparse_solver(a, b)
        for k, at in enumerate(s):
            out[k] = c @ solve(at) + d
        return out
    h, q = hessenberg(a, calc_q=True)
    left, right, eye = c @ q, q.T @ b, np.eye(len(a))
    for k, at in enumerate(s):
        out[k] = left @ np.linalg.solve(at * eye - h, right) + d
    return out


def _sparse_solver(a: Any, b: Array) -> Callable[[complex], Array]:
    """(s - A)^-1 b by s: in a narrow band, as of a chain, where one order of states gives one."""
    n, right = a.shape[0], b.astype(complex)
    order = reverse_cuthill_mckee(csr_matrix(abs(a) + abs(a.T)), symmetric_mode=True)
    ordered = a.tocsr()[order][:, order].tocoo()
    offset = ordered.row - ordered.col
    below, above = (max(0, int(side.max(initial=0))) for side in (offset, -offset))
    if below + above > WIDE:
        eye, whole = identity(n, format="csc"), csc_matrix(a)
        return lambda s: np.asarray(splu(s * eye - whole).solve(right))
    band = np.zeros((below + above + 1, n), dtype=complex)
    band[above + offset, ordered.col] = -ordered.data
    diagonal, sorted_right, back = band[above].copy(), right[order], np.argsort(order)

    def solve(s: complex) -> Array:
        band[above] = diagonal + s
        return np.asarray(solve_banded((below, above), band, sorted_right))[back]

    return solve
