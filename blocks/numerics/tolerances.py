"""The table of numerical tolerances: every one has a name, and a reason to be as large as it is.

They are relative to what is compared unless their name or reason says otherwise. A tolerance
that a user sets (``rtol``, ``atol``) is none of these.
"""

from __future__ import annotations

# -- language, assembly, units ----------------------------------------------------------------
TINY = 1e-300  # keeps a divisor from zero
AFFINE_UNIT = 1e-9  # a unit whose conversion bends more than this is logarithmic
PIVOT = 1e-9  # of a scaled row of constraints: smaller ones are rounding, the row is dependent
CANCELLED = 1e-14  # of a scaled row: what elimination leaves of terms that cancel

# -- the system and its start -----------------------------------------------------------------
NEWTON_CONVERGES = 1e-9  # of an unknown: a step after which Newton's method has its solution
NEWTON_EXACT = 1e-15  # of an unknown: a step after which there is nothing left to gain
DIRECTION_STEP = 1e-7  # of all unknowns: the difference that stands for a derivative
SAME_INSTANT = 1e-12  # of a run: times that are one instant
HANDED_ON = 1e-6  # of a delayed signal's largest value: a change that is a jump
PIECE_EDGE = 1e-6  # of a piece of time: left out at its ends, where something may jump
CONSTRAINT_MET = 1e-9  # of the largest state, and of a target's size: what need not be closed
TARGET_MET = 1e-7  # of a target's size: how far from it a start may be that meets it
GAUSS_NEWTON_STEP = 1e-13  # of the states: a step after which a start is as near as it gets
LEAST_SQUARES = 1e-15  # where the constraints come nearest: as near as rounding allows
RANK_OF_TARGETS = 1e-10  # of the largest singular value: directions that targets leave free
DEPENDENT = 1e-9  # of the largest singular value: equations that say the same
INVOLVED = 1e-6  # of a unit vector: entries that take part in a dependence

# -- events and the run -----------------------------------------------------------------------
ROOT_XTOL = 4e-16  # of times: as near as two of them are told apart
ROOT_RTOL = 8.9e-16  # the least that SciPy's search for a root takes
CROSSED_TOO = 1e-6  # of the margin at the look: others that are zero at the same crossing
WRONG_SIDE = 1e-12  # of a crossing function: on the wrong side by no more is rounding
JUST_SWITCHED = 1e-9  # of a crossing function: where it switched, within which it stays so
LAST_DIGITS = 1e-11  # of a state: what rounding leaves unknown after a few operations
LOOK_AHEAD = 1e-7  # of a state: how far it moves to see where a relation is going
LEDGER_NEGLIGIBLE = 1e-4  # of what a balance may miss: what the integral over a step may
LEDGER_ROUNDING = 1e-10  # of energies: less is not asked of an integral, powers are noisy
CLOSES_AT_BEST = 1e-8  # of energies: how well a balance closes, whatever the tolerance
LAST_SAMPLE = 1e-9  # of the spacing: a sample so near the end is the end

# -- modes of set-valued laws -----------------------------------------------------------------

# -- complementarity problems -----------------------------------------------------------------

# -- time stepping ----------------------------------------------------------------------------

# -- methods and machine code -----------------------------------------------------------------

# -- diagnostics ------------------------------------------------------------------------------
SAME_TARGET = 1e-9  # two initial targets of one unknown within this do not contradict each other
STATED = 1e-9  # singular values and weights of a class's laws below this say nothing
OUTSIDE = 100 * STATED  # distance of a statement from the row space of the laws that follow it
DEPENDENT_EXACTLY = 1e-14  # the same of coefficients at a point, which are known to rounding

# -- results and studies ----------------------------------------------------------------------
