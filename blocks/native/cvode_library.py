"""The C functions of CVODE in the shared library that scikit-sundae brings along.

Its wheel carries SUNDIALS; the symbols of what its extension module depends on are found through
that module. Where they are not, :func:`loaded_sundials` gives None.

The steps of an integration are read where CVODE keeps them: in its Nordsieck array, row j of which
is h^j / j! times the j-th derivative at the end of the step. CVODE tells where the first two rows
are; the others follow in the same table, which is looked for in its memory. Whether all is as
assumed is seen once in a process, by running y' = -y and comparing the rows with the derivatives
that CVODE itself interpolates.

A. C. Hindmarsh et al., "SUNDIALS: Suite of Nonlinear and Differential/Algebraic Equation Solvers",
ACM Trans. Math. Softw. 31(3), 2005.
"""

from __future__ import annotations

import contextlib
import ctypes
import importlib.util
import math
import weakref
from dataclasses import dataclass
from functools import cache
from importlib.machinery import EXTENSION_SUFFIXES
from pathlib import Path

import numpy as np

from ..numerics.arrays import Array, Indices
from ..numerics.tolerances import ROW_AS_TOLD

__all__ = ["ADAMS", "BDF", "ONE_STEP", "Band", "Integration", "Library", "loaded_sundials"]

ADAMS, BDF = 1, 2  # numbers that stand for formulae,
ONE_STEP = 2  # and for a task of CVode()
MOST_ROWS = {ADAMS: 13, BDF: 6}  # of the Nordsieck array: orders are at most 12 and 5
SEARCHED = 64  # addresses at the beginning of CVODE's memory among which the rows stand
TRIAL = 25  # steps of y' = -y
LONG_RUN = 10**9  # steps of one call

_POINTER, _INT, _INDEX, _REAL = ctypes.c_void_p, ctypes.c_int, ctypes.c_int64, ctypes.c_double
#: Numbers of evaluations, as CVODE tells them.
_COUNTERS = ("CVodeGetNumRhsEvals", "CVodeGetNumLinRhsEvals", "CVodeGetNumJacEvals",
             "CVodeGetNumLinSolvSetups", "CVodeGetNumErrTestFails", "CVodeGetNumStepSolveFails")
#: What C functions return and take. Where an index has 32 bits, the lower half is read.
_SIGNATURES: dict[str, tuple[object, ...]] = {
    "SUNContext_Create": (_INT, _INT, _POINTER),
    "SUNContext_ClearErrHandlers": (_INT, _POINTER),
    "SUNContext_Free": (_INT, _POINTER),
    "N_VMake_Serial": (_POINTER, _INDEX, _POINTER, _POINTER),
    "N_VGetArrayPointer": (_POINTER, _POINTER),
    "N_VDestroy": (None, _POINTER),
    "SUNDenseMatrix": (_POINTER, _INDEX, _INDEX, _POINTER),
    "SUNDenseMatrix_Data": (_POINTER, _POINTER),
    "SUNLinSol_Dense": (_POINTER, _POINTER, _POINTER, _POINTER),
    "SUNBandMatrix": (_POINTER, _INDEX, _INDEX, _INDEX, _POINTER),
    "SUNBandMatrix_Data": (_POINTER, _POINTER),
    "SUNLinSol_Band": (_POINTER, _POINTER, _POINTER, _POINTER),
    "SUNMatDestroy": (None, _POINTER),
    "SUNLinSolFree": (_INT, _POINTER),
    "CVodeCreate": (_POINTER, _INT, _POINTER),
    "CVodeInit": (_INT, _POINTER, _POINTER, _REAL, _POINTER),
    "CVodeReInit": (_INT, _POINTER, _REAL, _POINTER),
    "CVodeFree": (None, _POINTER),
    "CVodeSVtolerances": (_INT, _POINTER, _REAL, _POINTER),
    "CVodeSetUserData": (_INT, _POINTER, _POINTER),
    "CVodeSetLinearSolver": (_INT, _POINTER, _POINTER, _POINTER),
    "CVodeSetJacFn": (_INT, _POINTER, _POINTER),
    "CVodeSetMaxNumSteps": (_INT, _POINTER, ctypes.c_long),
    "CVodeSetMaxHnilWarns": (_INT, _POINTER, _INT),
    "CVodeSetInitStep": (_INT, _POINTER, _REAL),
    "CVodeSetMinStep": (_INT, _POINTER, _REAL),
    "CVodeSetMaxStep": (_INT, _POINTER, _REAL),
    "CVodeSetStopTime": (_INT, _POINTER, _REAL),
    "CVodeSetProjFn": (_INT, _POINTER, _POINTER),
    "CVodeSetProjErrEst": (_INT, _POINTER, _INT),
    "CVode": (_INT, _POINTER, _REAL, _POINTER, _POINTER, _INT),
    "CVodeGetDky": (_INT, _POINTER, _REAL, _INT, _POINTER),
    "CVodeGetLastOrder": (_INT, _POINTER, _POINTER),
    "CVodeGetLastStep": (_INT, _POINTER, _POINTER),
    "CVodeGetCurrentTime": (_INT, _POINTER, _POINTER),
    "CVodeGetNumSteps": (_INT, _POINTER, _POINTER),
    "CVodeGetNonlinearSystemData": (_INT, *[_POINTER] * 9),
    **dict.fromkeys(_COUNTERS, (_INT, _POINTER, _POINTER)),
}


class Library:
    """Functions of SUNDIALS by name, and where CVODE keeps the rows of its Nordsieck array.

    Raises
    ------
    AttributeError
        Where a function is not found.
    """

    def __init__(self, handle: ctypes.CDLL) -> None:
        for name, (returns, *takes) in _SIGNATURES.items():
            function = getattr(handle, name)
            function.restype, function.argtypes = returns, takes
            setattr(self, name, function)
        self.counter_addresses = np.array([self.address(name) for name in _COUNTERS])
        self.first_row = 0  # where the rows stand among the addresses in CVODE's memory

    def __getattr__(self, name: str) -> ctypes._NamedFuncPointer:
        raise AttributeError(name)  # those that exist are attributes

    def address(self, name: str) -> int:
        """Where a function stands."""
        return int(ctypes.cast(getattr(self, name), _POINTER).value or 0)


@cache
def loaded_sundials() -> Library | None:
    """The functions, if they can be reached in this process and are as assumed."""
    package = importlib.util.find_spec("sksundae")
    for folder in (package and package.submodule_search_locations) or ():
        for suffix in EXTENSION_SUFFIXES:
            # loaded as a library alone: importing the package would take half a second
            with contextlib.suppress(OSError, AttributeError):
                found = Library(ctypes.CDLL(str(Path(folder, f"_cy_cvode{suffix}"))))
                if _is_as_assumed(found):
                    return found
    return None


@dataclass(frozen=True)
class Band:
    """How far the entries of a matrix are from its diagonal, above and below."""

    upper: int
    lower: int

    @property
    def height(self) -> int:
        """Numbers that SUNDIALS stores for a column, with room for the pivots' fill."""
        return self.upper + 2 * self.lower + 1

    def place(self, i: int, j: int, size: int) -> int:
        """Where an entry stands in the matrix."""
        stored = min(size - 1, self.upper + self.lower)  # diagonals above
        return j * (stored + self.lower + 1) + stored + i - j


class Integration:
    """CVODE's own objects for one initial value problem; freed with this one.

    Parameters
    ----------
    sundials : the functions
    t, y : the start; ``y`` is where CVODE writes the present point
    slope : address of a function of C, as CVODE calls it
    rtol, atol : relative tolerance, and absolute ones of all unknowns
    band : of the Jacobian; None for a full one
    jacobian : address of a function of C; 0 for differences of slopes
    projection : the same of one that brings the end of a step back onto its constraints; 0: none
    user : what these functions are given
    formula : :data:`BDF`, or :data:`ADAMS`, which knows no projection
    """

    def __init__(self, sundials: Library, t: float, y: Array, slope: int, rtol: float, atol: Array,
                 band: Band | None = None, jacobian: int = 0, projection: int = 0,
                 user: Indices | None = None, formula: int = BDF) -> None:
        self.sundials, self.y, self.user = sundials, y, user
        self.count = MOST_ROWS[formula]  # of rows of the Nordsieck array
        s, n, made = sundials, y.size, ctypes.c_void_p()
        s.SUNContext_Create(0, ctypes.byref(made))
        context = made.value or 0
        s.SUNContext_ClearErrHandlers(context)  # what fails is told by its number
        self.vector = s.N_VMake_Serial(n, y.ctypes.data, context)
        self.memory = s.CVodeCreate(formula, context)
        s.CVodeInit(self.memory, slope, t, self.vector)
        tolerances = s.N_VMake_Serial(n, atol.ctypes.data, context)
        s.CVodeSVtolerances(self.memory, rtol, tolerances)  # which copies them
        s.N_VDestroy(tolerances)
        if user is not None:
            s.CVodeSetUserData(self.memory, user.ctypes.data)
        s.CVodeSetMaxNumSteps(self.memory, LONG_RUN)
        s.CVodeSetMaxHnilWarns(self.memory, -1)
        if band is None:
            matrix = s.SUNDenseMatrix(n, n, context)
            solver = s.SUNLinSol_Dense(self.vector, matrix, context)
        else:
            matrix = s.SUNBandMatrix(n, band.upper, band.lower, context)
            solver = s.SUNLinSol_Band(self.vector, matrix, context)
        s.CVodeSetLinearSolver(self.memory, solver, matrix)
        if jacobian:
            s.CVodeSetJacFn(self.memory, jacobian)
        if projection:
            s.CVodeSetProjFn(self.memory, projection)
            s.CVodeSetProjErrEst(self.memory, 0)  # errors are those of the step before
        weakref.finalize(self, _free, s, context, self.memory, solver, matrix, self.vector)

    def restart(self, t: float, first_step: float, max_step: float) -> None:
        """Begin anew at what ``y`` holds now."""
        s = self.sundials
        s.CVodeReInit(self.memory, t, self.vector)
        s.CVodeSetInitStep(self.memory, first_step)
        s.CVodeSetMinStep(self.memory, 0.0)  # that of another run is none for this
        s.CVodeSetMaxStep(self.memory, max_step if np.isfinite(max_step) else 0.0)

    def first_rows(self) -> tuple[int, int]:
        """The vectors that are the first two rows of the Nordsieck array."""
        told = [ctypes.c_void_p() for _ in range(8)]
        self.sundials.CVodeGetNonlinearSystemData(self.memory, *map(ctypes.byref, told))
        return told[1].value or 0, told[6].value or 0

    def row_addresses(self) -> Indices:
        """Where the numbers of the rows stand."""
        begin = self.memory + 8 * self.sundials.first_row
        vectors = (ctypes.c_void_p * self.count).from_address(begin)
        return np.array([self.sundials.N_VGetArrayPointer(v) for v in vectors], dtype=np.int64)


def _free(s: Library, context: int, memory: int, solver: int, matrix: int, vector: int) -> None:
    s.CVodeFree(ctypes.byref(ctypes.c_void_p(memory)))
    s.SUNLinSolFree(solver)
    s.SUNMatDestroy(matrix)
    s.N_VDestroy(vector)
    s.SUNContext_Free(ctypes.byref(ctypes.c_void_p(context)))


def _is_as_assumed(s: Library) -> bool:
    """Find the rows in CVODE's memory; whether they are what CVODE says of y' = -y."""
    def decay(t: float, y: int, slope: int, user: int) -> int:
        here = ctypes.c_double.from_address(s.N_VGetArrayPointer(y))
        ctypes.c_double.from_address(s.N_VGetArrayPointer(slope)).value = -here.value
        return 0

    callback = ctypes.CFUNCTYPE(_INT, _REAL, _POINTER, _POINTER, _POINTER)(decay)
    run = Integration(s, 0.0, np.ones(1), ctypes.cast(callback, _POINTER).value or 0, 1e-6,
                      np.full(1, 1e-9))
    words = list((ctypes.c_size_t * SEARCHED).from_address(run.memory))
    first = run.first_rows()
    places = [k for k in range(SEARCHED - run.count) if tuple(words[k : k + 2]) == first]
    if len(places) != 1 or 0 in words[places[0] : places[0] + run.count]:
        return False
    s.first_row = places[0]
    t, h, order = _REAL(), _REAL(), _INT()
    for _ in range(TRIAL):
        if s.CVode(run.memory, 100.0, run.vector, ctypes.byref(t), ONE_STEP) < 0:
            return False
    s.CVodeGetLastStep(run.memory, ctypes.byref(h))
    s.CVodeGetLastOrder(run.memory, ctypes.byref(order))
    rows = [ctypes.c_double.from_address(int(a)).value for a in run.row_addresses()]
    for j in range(order.value + 1):
        s.CVodeGetDky(run.memory, t.value, j, run.vector)
        told = h.value**j / math.factorial(j) * float(run.y[0])
        if not abs(rows[j] - told) <= ROW_AS_TOLD * abs(told):
            return False
    return order.value > 1 and abs(rows[0] - math.exp(-t.value)) < 1e-3
