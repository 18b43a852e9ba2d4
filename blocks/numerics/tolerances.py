"""The table of numerical tolerances: every one has a name, and a reason to be as large as it is.

They are relative to what is compared unless their name or reason says otherwise. A tolerance
that a user sets (``rtol``, ``atol``) is none of these.
"""

from __future__ import annotations

# -- language, assembly, units ----------------------------------------------------------------
TINY = 1e-300  # keeps a division from being one by zero

# -- the system and its start -----------------------------------------------------------------

# -- events and the run -----------------------------------------------------------------------

# -- modes of set-valued laws -----------------------------------------------------------------

# -- complementarity problems -----------------------------------------------------------------
SYMMETRIC = 1e-12  # of entries in equal units: a difference that leaves a matrix symmetric
PIVOT = 1e-13  # of a unit diagonal: a pivot that counts as zero
SAFE_PIVOT = 1e-8  # of a unit diagonal: a pivot that is no rounding
SEMIDEFINITE = 1e-11  # of a unit diagonal: added before a matrix is asked to be positive
P_MATRIX = 1e-12  # of a unit diagonal: a principal minor that counts as positive
PROXIMAL_BLOCK = 1e-8  # of a unit diagonal: weight of the point that a singular block stays near
PROXIMAL_POINT = 1e-6  # of a unit diagonal: least weight of the last efforts
SHORTEST_SEARCH = 1e-6  # of a Newton step: a line search ends there
RANK = 1e-11  # singular values that count as zero, beside those of size 1
LEAST_SQUARES = 1e-12  # the same where a solution of least norm is looked for
STRESS_RANK = 1e-9  # the same for directions of internal stress
PSEUDO_INVERSE = 1e-13  # the same for the dual problem of massless nodes
NO_INERTIA = 1e-14  # of the largest entry: a diagonal that counts as zero
CANCELLATION = 1e-15  # of terms that cancel: what is left is noise
CUT_OFF = 1e-13  # of the largest rate of its part: noise of an element that is cut out of it
SELF_CARRYING = 1e-12  # determinant below which friction carries itself
AT_BOUND = 1e-9  # of its size: an effort at its bound, a rate that is none
OWN_ROUNDING = 1e-14  # of the effort that stops the largest rate of the part: none at all
GUESSED_MODE = 1e-8  # of the largest rate: what tells a mode from the end of Lemke's path
ENUMERATED_ERROR = 1e-9  # residual of a combination of modes that is a solution
SAME_RATES = 1e-7  # of the largest rate: two motions that are the same
RATE_ROUNDING = 1e-12  # of the terms of a rate
NO_SPEED = 1e-13  # of the largest: a basic unknown that stays where it is on Lemke's path
RISING = 1e-11  # of the largest entry of its column: one that may be the pivot
TIED_RATIO = 1e-12  # ratios of a pivot's rows that are the same
LEAVING = 1e-12  # the same where the artificial variable may leave
TIE = 1e-9  # of the largest: elements that reach a bound, or collide, at once
CONSISTENT = 1e-9  # of a load: the share that stick cannot carry, which is rounding
TIGHT_ROW = 1e-9  # weight, or distance to a bound in units of half a range: at its limit
FLAT_ROW = 1e-12  # slope of a row in equal units that counts as none
NO_STRESS = 1e-9  # entries of a projector, spans of an effort: not open
NO_RESIDUAL = 1e-12  # of a unit vector: it is in the cone
NO_LAST_ENTRY = 1e-13  # the same for the entry that the solution is divided by
NO_EFFORT = 1e-200  # N: efforts that are rounding only, whose share of each other says nothing
LINEAR_PROGRAM = 1e-10  # feasibility asked of linear programs
VERTEX_DETERMINANT = 1e-13  # of rows in equal units: no vertex
VERTEX_WEIGHT = 1e-12  # a weight that is negative by rounding only
VERTEX_BALANCE = 1e-10  # of rows in equal units: what a vertex leaves unbalanced
VERTEX_LIST = 1e-8  # of the value: a list of vertices that misses none
MOVED_BY_STRESS = 1e-8  # of its terms: a rate that internal stress changes
APPROACH = 1e-12  # of the largest first velocity: an approach that is none
ENERGY_GAIN = 1e-12  # of the work of an impulse: a gain that is rounding
DAMPED = 1e-12  # of the largest damping: a direction that is damped
BOUND_ROUNDING = 4e-16  # of the bounds at massless nodes
SLIPPING = 1e-11  # of the largest flow per velocity: a direction in which something slips
SMOOTHING = 1e-9  # of the largest rate: roundness of corners to begin with
SHARPEST = 1e-14  # of that: roundness at which smoothing ends

# -- time stepping ----------------------------------------------------------------------------

# -- methods and machine code -----------------------------------------------------------------
FIRST_STEP = 1e-6  # s: where nothing is known of how fast the motion is
NEARLY_STILL = 1e-5  # times its tolerance: values and slopes that tell nothing of the first step
NEARLY_NO_SLOPE = 1e-15  # the same for both derivatives together
LEAST_ERROR = 1e-4  # times the tolerance: an error that controls the next step as if it were this
SMALLEST_STEP = 4e-16  # of the time: a step that no longer moves it
SMALLEST_TRIAL = 1e-14  # of the time: a step whose values are not finite is shortened down to it
TIME_GRAIN = 2.220446049250313e-16  # of the time: instants that are told apart
ZERO_MARGIN = 1e-6  # of its size before: a margin that counts as crossed
EXTREME_ROUNDING = 1e-12  # of an output: an extreme between looks that is no rounding

# -- diagnostics ------------------------------------------------------------------------------

# -- results and studies ----------------------------------------------------------------------
