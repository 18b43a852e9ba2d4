"""The table of numerical tolerances: every one has a name, and a reason to be as large as it is.

A name is an idea, and used wherever that idea is meant. They are relative to what is compared
unless their name or reason says otherwise. A tolerance that a user sets (``rtol``, ``atol``) is
none of these.
"""

from __future__ import annotations

# -- what is rounding -------------------------------------------------------------------------
TINY = 1e-300  # keeps a divisor from zero
ROUNDING = 1e-12  # of the largest of its kind, or of those that are compared: none but for rounding
TERMS_ROUNDING = 1e-12  # of the terms of a sum, or of what a rate is made of: one that is zero
NOISE = 1e-13  # of the largest of its kind: rounding for sure, whatever it would lead to
NOTHING_AT_ALL = 1e-14  # of the largest of its kind: no size, no effect, no further step to gain
CANCELLATION = 1e-15  # of terms that cancel: what is left is noise, in either direction
FOUR_LAST_BITS = 8.881784197001252e-16  # of an effort, or of what states could make: four roundings
LAST_BITS = 2e-15  # of states, parameters and times: what rounding leaves unknown of them
NOISE_FACTOR = 32.0  # times what that makes of a margin: rounding, whatever comes later
LAST_DIGITS = 1e-11  # of a state: what rounding leaves unknown after a few operations
CLEAR = 1e-6  # of the largest of its kind: a difference that is no rounding for sure
LEAST_SIZE = 1e-6  # of the largest flow or effort, m or rad: what counts as large in any case
LEDGER_NEGLIGIBLE = 1e-4  # of what a balance may miss: what the integral over a step may
LEDGER_ROUNDING = 1e-10  # of energies: less is not asked of an integral, powers are noisy
CLOSES_AT_BEST = 1e-8  # of energies: how well a balance closes, whatever the tolerance

# -- equations that are solved, and those that say the same -----------------------------------
FULFILLED = 1e-9  # of its terms, or of the largest state or target: what an equation may miss
SAME_AS_BEFORE = 1e-9  # of its nominal value or the largest of its kind: a change that is none
DIRECTION_STEP = 1e-7  # of all unknowns: the difference that stands for a derivative
DEPENDENT = 1e-9  # of the largest singular value, of a scaled row: equations that say the same
OUTSIDE = 100 * DEPENDENT  # distance of a statement from the row space of the laws that follow it
DEPENDENT_EXACTLY = 1e-14  # the same of coefficients at a point, which are known to rounding
PIVOT_NONE = 1e-12  # of a diagonal, or column, of size 1: what elimination leaves of zero
UNIT_PIVOT = 1e-13  # the same of coefficients that are themselves a few sums
SAFE_PIVOT = 1e-8  # of a unit diagonal: a pivot that is no rounding
PARASITIC_PIVOT = 1e-5  # of a column of even size: a pivot that belongs to a parasitic element
DIAGONAL_PIVOT = 0.1  # of a column: a diagonal entry so large is the pivot, rounding grows little
BLOCK_SINGULAR = 1e-10  # of the largest singular value: one that is zero, a direction left free
DELASSUS_SINGULAR = 1e-11  # of singular values or a column, rates scaled to 1: one that is zero
AFFINE_UNIT = 1e-9  # a unit whose conversion bends more than this is logarithmic

# -- the system and its start -----------------------------------------------------------------
NEWTON_CONVERGES = 1e-9  # of an unknown: a step after which Newton's method has its solution
NEWTON_STALLED = 1e-6  # of an unknown: steps that no longer shrink are rounding, badly conditioned
NO_SHORTER = 0.6  # of the step before: Newton steps that do not get smaller by more are rounding
FALLS_NO_MORE = 0.5  # of a residual: what a Newton step leaves of it where all else is rounding
SETTLED = 1e-12  # of the largest unknown: a change after which a repetition has settled
LAST_STEP = 1e-13  # of the largest unknown: a step after which it is as near as it gets
BESIDE_ZERO = 1e-8  # nominal values: a law that rises with a power has a slope there
CEASED_FLOW = 1e-10  # in SI units: a flow that is none but for rounding, of either direction
TARGET_MET = 1e-7  # of a target's size: how far from it a start may be that meets it

# -- events and the run -----------------------------------------------------------------------
SAME_INSTANT = 1e-12  # of a time: what happens within it happens at once
INSTANTS_APART = 2.0**-44  # of a time, 256 of its last digits: times that are one instant
SHORT_TIME = 1e-6  # s: a first step, a look ahead are no longer
PIECE_EDGE = 1e-6  # of a piece of time: left out at its ends, where something may jump
SHORTEST_ARC = 1e-12  # in nominal values: where a curve cannot be followed by shorter steps
AT_FOLD = 1e-3  # of an unknown: what changes by less goes on, however near to a fold
JUST_SWITCHED = 1e-9  # of a crossing function: where it switched, within which it stays so
NEVER_LEFT = 10.0  # times what a margin is past its crossing: it has been no larger, it is rounding

# -- modes of set-valued laws -----------------------------------------------------------------
# the Delassus operator, and what it solves
OWN_RATE_NONE = 1e-7  # of the largest, of square roots of own rates: 1e-14 of the rates
PROXIMAL_WEIGHT = 1e-8  # of own rates: small, and the operator becomes regular
FAR_FROM_PARADOX = 1e-2  # determinant per that of what sticks, above which no paradox is near
# flows and gaps
FLOW_NONE = 1e-12  # of the fastest flow of its kind: one that is at rest
NEAR_GAP = 1e-9  # of the largest position: none at the start, or beside an impact
LEAST_POSITION = 1e-9  # m or rad: what moves no farther stands, no model and no scene is smaller
ALLOWED_DRIFT = 2e-12  # of the largest position, or its nominal value: a gap that is left alone
# decisions
MODE_ENDED = 1e-11  # of its size: a margin that is at its end at an event
AT_BOUND = 1e-9  # of the range or size: an effort at its bound, and others that get there at once
GRAZES = 1e-10  # of the drive: a rate that a bound just holds, or just does not
CLEAR_RATE = 1e-8  # of the drive: one that moves for sure, where D's eigenvalues are no less
INSTANT = 1e-7  # of the time in which something changes: a look ahead
SHORTEST_INSTANT = 1e-12  # s: no look ahead is shorter
# friction that depends on efforts
PARADOX = 1e-6  # share of its value without friction at which a matrix counts as singular
ANOTHER_SOLUTION = 1e-6  # of the largest effort, slope or nominal value: a distance to another one
# static indeterminacy
RATE_OF_STRESS = 1e-8  # of all efforts or terms: what internal stress may move
RATE_UNHELD = 1e-11  # of the rate of the range: one that no effort holds
# nodes without mass
MODE_MARGIN_NONE = 1e-7  # of its size: a margin that may be of either sign
MODE_MARGIN_CLEAR = 1e-10  # the same where there is a choice
IMPACT_REPEATED = 1e-6  # of the largest change of a state, or impulse: one that is found again
LATER_MARGIN = 1e-3  # of its size, a second: a margin at zero that falls faster ends a mode
ENDED_MARGIN = 1e-9  # the same of an element that has ended its mode and is to lead away from it
MODE_MISSED = 1e-6  # of its size: what a mode holds constant may be off by that much
ABSOLUTE_SHARE = 1e-2  # of the relative tolerance: the absolute one of what is as large as nominal
DRIFT_TOLERANCES = 100.0  # relative tolerances of a run: what it may make that drift to
MOST_DRIFT = 1e-2  # of its size, whatever the tolerance: more is a jump
TRIAL_INSTANTS = 1e-6, 1e-4, 1e-8, 1e-2, 1e-10, 1e-12, 0.0  # s over which these are sought
TRIAL_LOOKS_AHEAD = 1e-6, 1e-4, 1e-3  # s, where a load is exactly at a bound

# -- complementarity problems -----------------------------------------------------------------
SEMIDEFINITE = 1e-11  # of a unit diagonal: added before a matrix is asked to be positive
PROXIMAL_POINT = 1e-6  # of a unit diagonal: least weight of the last efforts
SAME_RATES = 1e-7  # of the largest rate: two motions that are the same
SMOOTH_WEIGHT = 1e-9  # of a unit diagonal: weight of the point before, of smooth laws
NEARLY_SOLVED = 1e-6  # residual of efforts whose pieces are tried

# -- time stepping ----------------------------------------------------------------------------
STEP_RESIDUAL = 1e-8  # of the flows at the end of a step, in units of the fastest: sought
ACCEPTED_RESIDUAL = 1e-5  # and accepted from hundreds of contacts that jam

# -- methods and machine code -----------------------------------------------------------------
NEARLY_STILL = 1e-5  # times its tolerance: values and slopes that tell nothing of the first step
NEARLY_NO_SLOPE = 1e-15  # the same for both derivatives together
LEAST_ERROR = 1e-4  # times the tolerance: an error that controls the next step as if it were this
SMALLEST_STEP = 4e-16  # of the time: a step that no longer moves it
SMALLEST_TRIAL = 1e-14  # of the time: a step whose values are not finite is shortened down to it
TIME_GRAIN = 2.220446049250313e-16  # of the time: instants that are told apart
ZERO_MARGIN = 1e-6  # of its size before: a margin that counts as crossed, a path as at its end
STEP_REST = 1e-9  # of a fixed step, or of samples' spacing: a shorter rest is not left over
BAND_DIFFERENCE = 1e-8  # of an unknown: the difference that stands for an entry of a matrix
TIME_DIFFERENCE = 1e-3  # of a step: the first of two differences behind a derivative by time
AS_PREDICTED = 1e-3  # of its change in a step: what a loop's unknown misses of what was expected
HALF_AS_FAR = 0.25  # of the same: what it may miss of the mean half the way there
HALF_OF_ALL = 0.01  # of its size: the same

# -- results and studies ----------------------------------------------------------------------
NO_FORCE = 1e-6  # of the largest force: a smaller one has no arrow
UNRESOLVED = 1e-9  # of all that is integrated: values are no smoother than a run's tolerance
