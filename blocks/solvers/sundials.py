"""CVODE and IDA of SUNDIALS, one internal step at a time.

scikit-sundae runs the library. What it does not offer is made here:

dense output
    It exposes no ``GetDky``, but in its "normal" mode a time inside the last
    step is answered from SUNDIALS' own interpolating polynomial without a step
    or an evaluation. That polynomial has the degree of the current order, so
    sampling it at Chebyshev-Lobatto nodes gives all of it: six nodes for BDF;
    for Adams five nodes, doubled until the last coefficients no longer matter.
trial points outside the domain
    Its callbacks know no recoverable error, so a slope that is not finite ends
    a call. The step is repeated from the last accepted point, forgetting the
    history: a fresh start takes small first steps, so it comes closer. When
    already its first step fails, the trouble is at the point itself.
slivers
    It refuses an interval of a few units in the last place of t, as it lies
    between an event and a stop that mean the same time. Over it the unknowns
    are held.
silence
    It prints the library's complaints; they become the text of the failure.
safety
    Freed before its first sparse factorization it takes the process along, so
    such a solver is kept for good. The pattern of a sparse matrix is told once:
    entries that were zero then and no longer are need a new solver.

References
----------
A. C. Hindmarsh et al., "SUNDIALS: Suite of Nonlinear and Differential/Algebraic
Equation Solvers", ACM Trans. Math. Softw. 31(3), 2005.
"""

from __future__ import annotations

import ctypes
import re
import sys
import threading
import warnings
from abc import abstractmethod
from typing import Any, ClassVar

import numpy as np

from ..exceptions import need_package
from ..numerics.arrays import Indices
from ..numerics.tolerances import LEAST_RTOL, SMALLEST_STEP
from .base import Array, Method, Step
from .interpolation import NodalPolynomial, basis, chebyshev_nodes
from .trouble import SLIVER, NotFinite, finite, finite_derivatives

try:
    from sksundae import cvode, ida
except ImportError as error:
    raise need_package("scikit-sundae", "A method of SUNDIALS (cvode, adams, ida)", "sundials",
                       ", or take method='rodas4', or 'Radau' or 'BDF' of SciPy") from error

__all__ = ["CVODE", "IDA", "Adams"]

TIME_AWAY = 1e-9  # of what is left: the difference that stands for a derivative by time
GROWN = 2.0  # times the time at which a solver was made: one that begins later is made anew
TOO_SHORT = -3  # the library's answer where no step is short enough
DENSE_LIMIT = 50  # unknowns up to which a dense factorization is the faster one

_REASONS = {
    -1: "too many steps",
    -2: "the tolerance asked for is below what the numbers can hold",
    -3: "the error stays above the tolerance however small the step",
    -4: "the corrector does not converge however small the step",
    -5: "the linear solver could not be set up",
    -6: "the iteration matrix could not be factorized",
    -7: "the linear system could not be solved",
    -8: "the equations failed",
    -9: "the equations failed on the first call",
    -10: "the equations failed again and again",
    -11: "the equations failed and no smaller step helped",
    -15: "a constraint cannot be met",
    -20: "no memory",
    -22: "an input is not legal",
    -27: "start and end are too close together",
}


class _PatternHasGrown(Exception):
    """A Jacobian has entries where the pattern that was told has none."""


class SundialsMethod(Method):
    """Common part of the multistep methods."""

    implicit = True
    max_degree: ClassVar[int] = 5

    def __init__(self, *args: Any, **options: Any) -> None:
        super().__init__(*args, **options)
        self._solver: Any = None
        self._pattern: Any = None
        self._least = 0.0  # step of the solver: shorter ones may leave t where it is
        self._kept = False  # whether the solver must not be freed yet
        self._started = False  # since the last restart, failure or fresh start

    def restart(self, t: float, y: Array) -> None:
        self.t, self.y = float(t), np.array(y, dtype=float)
        self._started = False

    def advance(self, t_stop: float) -> Step:
        if t_stop - self.t <= SLIVER * np.spacing(max(abs(self.t), abs(t_stop))):
            return self._hold(float(t_stop))
        had_history = self._started
        step = self._attempt(t_stop)
        if had_history and isinstance(step.cause, NotFinite):
            step = self._attempt(t_stop)
        return step

    def _hold(self, t_stop: float) -> Step:
        values = np.column_stack([self.y, self.y])
        step = Step(self.t, t_stop, self.y.copy(), NodalPolynomial(self.t, t_stop, values))
        self.t = t_stop
        self.work.steps += 1
        return step

    def _attempt(self, t_stop: float) -> Step:
        """One step; after a failure the history is gone."""
        try:
            with _the_listener as heard:
                if not self._started:
                    self._start()
                result = self._internal_step(t_stop)
                if result.status < 0:
                    return self._failure(result.status, heard.text)
                if result.t - self.t <= SMALLEST_STEP * abs(result.t):  # for ever, if it is let
                    return self._failure(TOO_SHORT, "")
                self._let_go()
                dense = self._sample(result)
        except _PatternHasGrown:
            self._solver, self._kept, self._started = None, False, False
            return self._attempt(t_stop)
        except Exception as error:  # raised by the problem: a failure of this step
            self._started = False
            worst = error.worst if isinstance(error, NotFinite) else ()
            return self._stopped("the equations failed", worst, error)
        step = Step(self.t, float(result.t), result.y, dense)
        self.t, self.y = step.t, step.y.copy()
        self.work.steps += 1
        return step

    def _internal_step(self, t_stop: float) -> Any:
        # After a look back into a step the library may first repeat its end.
        for _ in range(3):
            result = self._solver.step(t_stop, "onestep", t_stop)
            if result.status < 0 or result.t > self.t:
                break
        return result

    def _sample(self, result: Any) -> NodalPolynomial:
        """The library's interpolating polynomial on the last step."""
        t_old, t, ends = self.t, float(result.t), (self.y, result.y)
        count = 6 if self.max_degree <= 5 else 5
        values = self._query(t_old, t, ends, count)
        while count <= self.max_degree and not self._resolved(values, ends):
            finer = 2 * count - 1
            values = self._query(t_old, t, ends, finer, known=values)
            count = finer
        self._solver.step(t, "normal")  # leaves the library at the end of its step
        return NodalPolynomial(t_old, t, values)

    def _query(
        self,
        t_old: float,
        t: float,
        ends: tuple[Array, Array],
        count: int,
        known: Array | None = None,
    ) -> Array:
        values = np.empty((self.y.size, count))
        values[:, 0], values[:, -1] = ends
        if known is not None:  # every second node is an old one
            values[:, ::2] = known
        middle, half = 0.5 * (t_old + t), 0.5 * (t - t_old)
        nodes = chebyshev_nodes(count)
        for j in range(1, count - 1, 1 if known is None else 2):
            values[:, j] = self._solver.step(middle + half * nodes[j], "normal").y
        return values

    def _resolved(self, values: Array, ends: tuple[Array, Array]) -> bool:
        """Is every second node enough to tell the others, within a tenth of the tolerance?"""
        count = values.shape[1]
        told = values[:, ::2] @ basis(chebyshev_nodes(count), (count + 1) // 2).T
        # The half grid errs by its first missing coefficient; the full one by far less.
        allowed = self.rtol * np.maximum(np.abs(ends[0]), np.abs(ends[1])) + self.atol
        return bool((np.abs(values - told).max(axis=1) <= 0.1 * allowed).all())

    def _failure(self, status: int, complaint: str) -> Step:
        self._started = False
        reason = _REASONS.get(status, "the library failed")
        detail = f" ({complaint})" if complaint else ""
        return self._stopped(f"{reason}{detail}")

    @abstractmethod
    def _make(self, options: dict[str, Any]) -> Any:
        """The solver object of scikit-sundae."""

    @abstractmethod
    def _initialize(self) -> None:
        """Tell the solver object the point to start from."""

    @abstractmethod
    def _matrix(self, t: float, y: Array) -> Any:
        """A matrix with the pattern of the Jacobian."""

    def _start(self) -> None:
        least = 4.0 * np.finfo(float).eps * abs(self.t)
        if self._solver is None or least > GROWN * self._least:
            self._least = least
            self._solver = self._make(self._options())
            self._kept = self._pattern is not None
            if self._kept:
                ctypes.pythonapi.Py_IncRef(ctypes.py_object(self._solver))
        self._initialize()
        self._started = True

    def _let_go(self) -> None:
        """Release the solver, which has factorized a matrix and may be freed."""
        if self._kept:
            self._kept = False
            ctypes.pythonapi.Py_DecRef(ctypes.py_object(self._solver))

    def _options(self) -> dict[str, Any]:
        options: dict[str, Any] = {
            "rtol": max(self.rtol * self.share, LEAST_RTOL),
            "atol": self.atol * self.share,
            "first_step": self.first_step or 0.0,
            "max_step": min(self.max_step, 1e300),
            "min_step": min(self._least, self.max_step),
        }
        if self.problem.size > DENSE_LIMIT:
            if self._pattern is None:
                self._grow(self._matrix(self.t, self.y))
            options |= {"linsolver": "sparse", "sparsity": self._pattern}
        return options

    def _grow(self, matrix: Any) -> None:
        """Let the pattern have all entries of a matrix."""
        entries = matrix.tocsc().copy()
        entries.data[:] = 1.0
        pattern = entries if self._pattern is None else (self._pattern + entries).tocsc()
        pattern.sort_indices()
        pattern.data[:] = 1.0
        self._pattern = pattern

    def _store(self, matrix: Any, out: Array) -> None:
        """Write a Jacobian where the library wants it."""
        self.work.jacobians += 1
        if self._pattern is None:
            out[:] = matrix.toarray()
            return
        matrix = matrix.tocsc()
        if not matrix.has_sorted_indices:
            matrix = matrix.sorted_indices()
        pattern = self._pattern
        if matrix.nnz == pattern.nnz and np.array_equal(matrix.indices, pattern.indices):
            out[:] = matrix.data
            return
        here, there = _places(matrix), _places(pattern)
        found = np.minimum(np.searchsorted(there, here), len(there) - 1)
        if not np.array_equal(there[found], here):
            self._grow(matrix)
            raise _PatternHasGrown
        out[:] = 0.0
        out[found] = matrix.data


def _places(matrix: Any) -> Indices:
    """One number for the place of every entry, column after column."""
    columns = np.repeat(np.arange(matrix.shape[1]), np.diff(matrix.indptr))
    return np.asarray(columns * matrix.shape[0] + matrix.indices)


class CVODE(SundialsMethod):
    """Variable-order, variable-step BDF (order 1 to 5) with Newton. For stiff ODE.

    The first choice for a mechanical model. Each restart begins at order 1 with
    small steps: with very many events a one-step method may be cheaper.
    """

    name, order = "cvode", 5
    formula: ClassVar[str] = "BDF"

    def _make(self, options: dict[str, Any]) -> Any:
        def slope(t, y, out):
            self.work.residuals += 1
            out[:] = finite(t, self.problem.slope(t, y))

        def jacobian(t, y, slope_there, out):
            self._store(finite_derivatives(self.problem.slope_jacobian, t, y, self.atol), out)

        with warnings.catch_warnings():  # a pattern beside a Jacobian: that is what we want
            warnings.simplefilter("ignore")
            return cvode.CVODE(slope, jacfn=jacobian, method=self.formula, **options)

    def _initialize(self) -> None:
        self._solver.init_step(self.t, self.y.copy())

    def _matrix(self, t: float, y: Array) -> Any:
        return self.problem.slope_jacobian(t, y)


class Adams(CVODE):
    """Variable-order, variable-step Adams-Moulton (order 1 to 12) with Newton.

    For smooth systems that are not stiff and expensive to evaluate.
    """

    name, order = "adams", 12
    formula = "Adams"
    max_degree = 12


class IDA(SundialsMethod):
    """Variable-order, variable-step BDF (order 1 to 5) for residual(t, y, y') = 0.

    Of index 1; the start must be consistent. Algebraic unknowns are in the error
    test, so they keep their tolerance too.
    """

    name, order, solves_dae = "ida", 5, True

    def _make(self, options: dict[str, Any]) -> Any:
        def residual(t, y, slope, out):
            self.work.residuals += 1
            out[:] = finite(t, self.problem.residual(t, y, slope))

        def jacobian(t, y, slope, residual_there, c, out):
            self._store(finite_derivatives(
                self.problem.residual_jacobian, t, y, self.atol, slope, c), out)

        algebraic = [int(i) for i in np.flatnonzero(~np.asarray(self.problem.differential))]
        with warnings.catch_warnings():  # a pattern beside a Jacobian: that is what we want
            warnings.simplefilter("ignore")
            return ida.IDA(residual, jacfn=jacobian, algebraic_idx=algebraic or None, **options)

    def _initialize(self) -> None:
        self.work.residuals += 1
        slope = np.array(finite(self.t, self.problem.slope(self.t, self.y)), dtype=float)
        algebraic = np.flatnonzero(~np.asarray(self.problem.differential))
        if len(algebraic):
            slope[algebraic] = self._slope_of(algebraic, slope)
        self._solver.init_step(self.t, self.y.copy(), slope)

    def _slope_of(self, algebraic: Indices, slope: Array) -> Array:
        """How fast algebraic unknowns change at the start; zeros where that cannot be told.

        Without it the first step is as wrong as it is long, and its length is guessed from the
        other slopes, which may be nothing.
        """
        from scipy.sparse.linalg import splu

        self.work.residuals += 1
        t, y, away = self.t, self.y, TIME_AWAY * max(abs(self.t), self.t_end - self.t)
        missed = self.problem.residual(t + away, y + away * slope, slope)[algebraic] / away
        self.work.jacobians += 1
        matrix = self.problem.residual_jacobian(t, y, slope, 1.0).tocsc()
        try:
            rates = splu(matrix[:, algebraic][algebraic]).solve(-missed)
        except RuntimeError:  # singular
            return np.zeros(len(algebraic))
        return rates if np.isfinite(rates).all() else np.zeros(len(algebraic))

    def _matrix(self, t: float, y: Array) -> Any:
        return self.problem.residual_jacobian(t, y, np.zeros_like(y), 1.0)


class _Listener:
    """Stands in for sys.stdout and keeps the complaints that SUNDIALS prints.

    All threads share one; everything else goes through to the real stdout.
    """

    complaint = re.compile(r"\s*\[\w+, Error: -?\d+\]\s*(.*?)\s*$", re.DOTALL)

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._local = threading.local()
        self._depth = 0
        self._stdout: Any = None

    def __enter__(self) -> _Listener:
        with self._lock:
            if self._depth == 0:
                self._stdout, sys.stdout = sys.stdout, self
            self._depth += 1
        self._local.text = ""
        return self

    def __exit__(self, *exception: object) -> None:
        with self._lock:
            self._depth -= 1
            if self._depth == 0 and sys.stdout is self:
                sys.stdout = self._stdout

    @property
    def text(self) -> str:
        return self._local.text

    def write(self, text: str) -> int:
        said = self.complaint.match(text)
        if said:
            self._local.text = " ".join(said[1].split())
        elif text != "\n" or not self._local.__dict__.get("text"):  # print's line end
            self._stdout.write(text)
        return len(text)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._stdout, name)


_the_listener = _Listener()
