"""The table of numerical tolerances: every one has a name, and a reason to be as large as it is.

They are relative to what is compared unless their name or reason says otherwise. A tolerance
that a user sets (``rtol``, ``atol``) is none of these.
"""

from __future__ import annotations

# -- language, assembly, units ----------------------------------------------------------------
TINY = 1e-300  # keeps a divisor from zero
AFFINE_UNIT = 1e-9  # a unit whose conversion bends more than this is logarithmic
PIVOT = 1e-9  # of a scaled row of constraints: smaller ones are rounding, the row is dependent
CANCELLED_PIVOT = 1e-12  # of a column of even size: what elimination leaves of terms that cancel
PARASITIC_PIVOT = 1e-5  # of a column of even size: a pivot that belongs to a parasitic element
CANCELLED = 1e-14  # of a scaled row: what elimination leaves of terms that cancel

# -- the system and its start -----------------------------------------------------------------
NEWTON_CONVERGES = 1e-9  # of an unknown: a step after which Newton's method has its solution
NEWTON_STALLED = 1e-6  # of an unknown: steps that no longer shrink are rounding, badly conditioned
NO_SHORTER = 0.6  # of the step before: Newton steps that do not get smaller by more are rounding
FALLS_NO_MORE = 0.5  # of a residual: what a Newton step leaves of it where all else is rounding
NEWTON_EXACT = 1e-15  # of an unknown: a step after which there is nothing left to gain
BESIDE_ZERO = 1e-8  # nominal values: a law that rises with a power has a slope there
OPEN_UNKNOWN = 1e-14  # of the largest pivot, rows scaled to 1: an unknown that is left open
OPEN_CONSISTENT = 1e-9  # of its terms: what an equation may miss that says nothing new
CEASED_FLOW = 1e-10  # in SI units: a flow that is none but for rounding, of either direction
DIRECTION_STEP = 1e-7  # of all unknowns: the difference that stands for a derivative
SAME_INSTANT = 1e-12  # of a time: what happens within it happens at once
INSTANTS_APART = 2.0**-44  # of a time, 256 of its last digits: times that are one instant
DIAGONAL_PIVOT = 0.1  # of a column: a diagonal entry so large is the pivot, rounding grows little
HANDED_ON = 1e-6  # of a delayed signal's largest value: a change that is a jump
PIECE_EDGE = 1e-6  # of a piece of time: left out at its ends, where something may jump
CONSTRAINT_MET = 1e-9  # of the largest state, and of a target's size: what need not be closed
TARGET_MET = 1e-7  # of a target's size: how far from it a start may be that meets it
GAUSS_NEWTON_STEP = 1e-13  # of the states: a step after which a start is as near as it gets
LEAST_SQUARES = 1e-15  # where the constraints come nearest: as near as rounding allows
ROUNDING_OF_TARGETS = 1e-14  # of the largest of their dimension: those that are rounding, no size
RANK_OF_TARGETS = 1e-10  # of the largest singular value: directions that targets leave free
DEPENDENT = 1e-9  # of the largest singular value: equations that say the same
INVOLVED = 1e-6  # of a unit vector: entries that take part in a dependence

# -- events and the run -----------------------------------------------------------------------
WRONG_SIDE = 1e-12  # of a crossing function: on the wrong side by no more is rounding
ON_CURVE = 1e-9  # of a point: a correction after which it is on the curve of solutions
SHORTEST_ARC = 1e-12  # in nominal values: where a curve cannot be followed by shorter steps
AT_FOLD = 1e-6  # of the time in which states change: how near to a fold it is known as one
ON_PATH = 1e-6  # of a crossing function: where a piece of a path ends
JUST_SWITCHED = 1e-9  # of a crossing function: where it switched, within which it stays so
NEVER_LEFT = 10.0  # times what a margin is past its crossing: it has been no larger, it is rounding
LAST_DIGITS = 1e-11  # of a state: what rounding leaves unknown after a few operations
LOOK_AHEAD = 1e-7  # of a state: how far it moves to see where a relation is going
LEDGER_NEGLIGIBLE = 1e-4  # of what a balance may miss: what the integral over a step may
LEDGER_ROUNDING = 1e-10  # of energies: less is not asked of an integral, powers are noisy
CLOSES_AT_BEST = 1e-8  # of energies: how well a balance closes, whatever the tolerance
LAST_SAMPLE = 1e-9  # of the spacing: a sample so near the end is the end

# -- modes of set-valued laws -----------------------------------------------------------------

# efforts
EFFORTS_EXACT = 1e-12  # of the largest effort or impulse: a change that ends a repetition
EFFORTS_STALLED = 1e-9  # of the largest effort: changes below it that no longer shrink are rounding
EFFORTS_SETTLED = 1e-9  # of the largest effort: a change in the last round that is none
EFFORT_NONE = 1e-12  # of the largest effort: one that is rounding
LAST_NEWTON_STEP = 1e-14  # of the largest effort: it could not be any less
LAST_NEWTON_STEP_AT_TIMES = 1e-13  # the same for several times at once, which differ in rounding
LOADS_EXACT = 1e-13  # of the largest effort: what laws of the load may miss
# the Delassus operator, and what it solves
WITHOUT_EFFECT = 1e-14  # of the largest own rate per effort: an element that moves nothing
DELASSUS_SINGULAR = 1e-11  # of the largest pivot or singular value, own rates scaled to 1
OWN_RATE_NONE = 1e-7  # of the largest, of square roots of own rates: 1e-14 of the rates
PROXIMAL_WEIGHT = 1e-8  # of own rates: small, and the operator becomes regular
BLOCK_SINGULAR = 1e-10  # of the largest singular value: one that is zero
LEAST_CHANGE = 1e-12  # the same, where efforts of the least change are sought for held modes
LEAST_CHANGE_LOADED = 1e-13  # the same for efforts that depend on each other through laws
HELD_PIVOT = 1e-9  # of a row of the held modes' equations: a smaller one is left to the general way
FAR_FROM_PARADOX = 1e-2  # determinant per that of what sticks, above which no paradox is near
SURELY_DETERMINED = 1e-6  # determinant of what sticks, above which nothing is undetermined
# flows and rates that are rounding
FLOW_NONE = 1e-12  # of the fastest flow of its kind: one that is at rest
FLOW_NONE_AT_START = 1e-13  # of what the states could make: rounding of a consistent start
FLOW_ROUNDING = 8.881784197001252e-16  # of what the states could make: four last bits
FLOW_TURNED = 1e-6  # of the fastest flow of its kind: one that is no rounding
REBOUND_RESTS = 1e-9  # of the fastest impact of its kind: a slower rebound is none
RATE_ROUNDING = 1e-12  # of the rates of all states that a flow is made of
RATE_ROUNDING_OF_NORMALS = 1e-15  # of the same where normals turn: it is in either direction
RATE_ROUNDING_OF_TURNING = 1e-14  # of speed squared by distance: what turning normals make
# gaps
GAP_ROUNDING = 1e-15  # of the largest position: a gap that is none
CLOSED_GAP = 1e-12  # of the largest position: a gap that is none
NEAR_GAP = 1e-9  # of the largest position: a contact that takes part in an impact beside it
LEAST_POSITION = 1e-9  # m or rad: a smaller largest position is that of a model at its origin
ALLOWED_DRIFT = 2e-12  # of the largest position, or its nominal value: a gap that is left alone
OVERLAP = 1e-6  # of the largest position: a gap that is no rounding at the start
# decisions
MODE_ENDED = 1e-11  # of its size: a margin that is at its end at an event
AT_BOUND = 1e-9  # of the range: an effort at its bound
EQUAL_BOUNDS = 1e-9  # of a bound at rest: no smaller one in motion is the same
GRAZES = 1e-10  # of the drive: a rate that a bound just holds, or just does not
CLEAR_RATE = 1e-8  # of the drive: one that moves for sure, where D's eigenvalues are no less
LAST_DIGIT = 9e-16  # of an effort: four roundings
NO_RANGE = 1e-7  # of the largest effort: a range that is too narrow to tell a sense from
CLEAR_ROOM = 1e-6  # of the range or the largest effort: room to a bound that is left for sure
DECIDED_AGAIN = 1e-9  # of the time: decisions in so quick a succession are about rounding
LEAST_TIME = 1e-6  # s: the same at the beginning of time
INSTANT = 1e-7  # of the time in which something changes: a look ahead
LONGEST_INSTANT = 1e-6  # s: a look ahead is no longer
SHORTEST_INSTANT = 1e-12  # s: nor shorter
# friction that depends on efforts
PARADOX = 1e-6  # share of its value without friction at which a matrix counts as singular
SEVERAL_MOTIONS = 1e-6  # of the largest effort or slope: a difference that is another motion
PIECE_SLOPE, PIECE_SLOPE_NONE = 1e-9, 1e-12  # relative and absolute: slopes of the same piece
# static indeterminacy
RATE_OF_STRESS = 1e-8  # of all efforts: what elements that others hold may move by
RATE_UNHELD = 1e-11  # of the rate of the range: one that no effort holds
# nodes without mass
SUM_ROUNDING = 1e-12  # of the terms of a sum: one that is zero
MODE_MARGIN_NONE = 1e-7  # of its size: a margin that may be of either sign
MODE_MARGIN_CLEAR = 1e-10  # the same where there is a choice
IMPACT_REPEATED = 1e-6  # of the largest change of a state: an impact that is found again
LEAST_JUMP = 1e-9  # of its nominal or largest value: less is rounding, and no jump
LATER_MARGIN = 1e-3  # of its size, a second: a margin at zero that falls faster ends a mode
ENDED_MARGIN = 1e-9  # the same of an element that has ended its mode and is to lead away from it
MODE_MISSED = 1e-6  # of its size: what a mode holds constant may be off by that much
ABSOLUTE_SHARE = 1e-2  # of the relative tolerance: the absolute one of what is as large as nominal
DRIFT_TOLERANCES = 100.0  # relative tolerances of a run: what it may make that drift to
MOST_DRIFT = 1e-2  # of its size, whatever the tolerance: more is a jump
LAST_BITS = 2e-15  # of states, parameters and times: what rounding leaves unknown of them
NOISE_FACTOR = 32.0  # times what that makes of a margin: rounding, whatever comes later
MARGIN_ROUNDING = 1e-13  # of the largest effort or flow so far: rounding ends no mode
BALANCED = 1e-9  # of the largest input and first error: an equation that is fulfilled
LOOKS_ROUNDING = 1e-12  # of the largest flow, effort or bound: the same
UNCHANGED_FLOW = 1e-9  # of the change of inputs: a flow that it leaves as it is
LEAST_FLOW = 1e-6  # of what positions could make: a flow that counts as large in any case
LEAST_RANGE = 1e-6  # of the largest effort: a range that counts as large in any case
LEAST_DISTANCE = 1e-6  # m or rad: the same of positions
TRIAL_INSTANTS = 1e-6, 1e-4, 1e-8, 1e-2, 1e-10, 1e-12, 0.0  # s over which these are sought
TRIAL_LOOKS_AHEAD = 1e-6, 1e-4, 1e-3  # s, where a load is exactly at a bound

# -- complementarity problems -----------------------------------------------------------------
SYMMETRIC = 1e-12  # of entries in equal units: a difference that leaves a matrix symmetric
UNIT_PIVOT = 1e-13  # of a unit diagonal: a pivot that counts as zero
SAFE_PIVOT = 1e-8  # of a unit diagonal: a pivot that is no rounding
SEMIDEFINITE = 1e-11  # of a unit diagonal: added before a matrix is asked to be positive
P_MATRIX = 1e-12  # of a unit diagonal: a principal minor that counts as positive
STEP_EXACT = 1e-12  # of the largest rate: what one dense solve leaves, so that stuck stays stuck
PROXIMAL_POINT = 1e-6  # of a unit diagonal: least weight of the last efforts
RANK = 1e-11  # singular values that count as zero, beside those of size 1
STRESS_RANK = 1e-9  # the same for directions of internal stress
CANCELLATION = 1e-15  # of terms that cancel: what is left is noise
CUT_OFF = 1e-13  # of the largest rate of its part: noise of an element that is cut out of it
SELF_CARRYING = 1e-12  # smallest pivot below which friction carries itself
BOUND_BAND = 1e-9  # of its size: an effort at its bound, a rate that is none
OWN_ROUNDING = 1e-14  # of the effort that stops the largest rate of the part: none at all
GUESSED_MODE = 1e-8  # of the largest rate: what tells a mode from the end of Lemke's path
ENUMERATED_ERROR = 1e-9  # residual of a combination of modes that is a solution
SAME_RATES = 1e-7  # of the largest rate: two motions that are the same
TERMS_ROUNDING = 1e-12  # of the terms of a rate
NO_SPEED = 1e-13  # of the largest: a basic unknown that stays where it is on Lemke's path
RISING = 1e-11  # of the largest entry of its column: one that may be the pivot
TIED_RATIO = 1e-12  # ratios of a pivot's rows that are the same
TIE = 1e-9  # of the largest: elements that reach a bound, or collide, at once
CONSISTENT = 1e-9  # of a load: the share that stick cannot carry, which is rounding
NO_STRESS = 1e-9  # entries of a projector, spans of an effort: not open
MOVED_BY_STRESS = 1e-8  # of its terms: a rate that internal stress changes
APPROACH = 1e-12  # of the largest first velocity: an approach that is none
ENERGY_GAIN = 1e-12  # of the work of an impulse: a gain that is rounding
INTERIOR_WEIGHT = 1e-9  # of a unit diagonal: weight of the point before, of interior points
LEAST_CENTRING = 1e-8  # of the products of distances and multipliers: the next ones
NEARLY_SOLVED = 1e-6  # residual of efforts whose pieces are tried

# -- time stepping ----------------------------------------------------------------------------
TOUCHES = 1e-9  # of the largest position: a gap that is none at the start
NO_FLOW = 1e-12  # of the largest flow of its kind: at rest at the start
STEP_RESIDUAL = 1e-8  # of the flows at the end of a step, in units of the fastest: sought
ACCEPTED_RESIDUAL = 1e-5  # and accepted from hundreds of contacts that jam
SAME_IMPULSES = 1e-6  # of the largest impulse: a change that is none within a step
NO_CHANGE = 1e-12  # of the largest effort: a repetition that has settled
STEP_CORRECTION = 1e-12  # of the unknowns: Newton's method over the smooth forces has converged
SERIES_TERM = 1e-15  # of the sum: a term of the inverse's series that no longer counts

# -- methods and machine code -----------------------------------------------------------------
FIRST_STEP = 1e-6  # s: where nothing is known of how fast the motion is
NEARLY_STILL = 1e-5  # times its tolerance: values and slopes that tell nothing of the first step
NEARLY_NO_SLOPE = 1e-15  # the same for both derivatives together
LEAST_ERROR = 1e-4  # times the tolerance: an error that controls the next step as if it were this
SMALLEST_STEP = 4e-16  # of the time: a step that no longer moves it
SMALLEST_TRIAL = 1e-14  # of the time: a step whose values are not finite is shortened down to it
TIME_GRAIN = 2.220446049250313e-16  # of the time: instants that are told apart
ZERO_MARGIN = 1e-6  # of its size before: a margin that counts as crossed
STEP_REST = 1e-9  # of a fixed step: a shorter rest is not left over
BAND_DIFFERENCE = 1e-8  # of an unknown: the difference that stands for an entry of a band
TIME_DIFFERENCE = 1e-3  # of a step: the first of two differences behind a derivative by time
TIED_SOLVED = 1e-9  # of an unknown: its change after which it has converged (squared it is 0)
AS_PREDICTED = 1e-3  # of its change in a step: what a loop's unknown misses of what was expected
HALF_AS_FAR = 0.25  # of the same: what it may miss of the mean half the way there
HALF_OF_ALL = 0.01  # of its size: the same
LEAST_BRANCH = 1e-6  # of its size and nominal value: a distance that tells no branches apart
SOLVED_ALREADY = 1e-15  # change by a solution, per value, that is rounding
NO_DIP = 1e-12  # of the largest margin in a step: below zero by rounding
EXTREME_ROUNDING = 1e-12  # of an output: an extreme between looks that is no rounding

# -- diagnostics ------------------------------------------------------------------------------
SAME_TARGET = 1e-9  # two initial targets of one unknown within this do not contradict each other
STATED = 1e-9  # singular values and weights of a class's laws below this say nothing
OUTSIDE = 100 * STATED  # distance of a statement from the row space of the laws that follow it
DEPENDENT_EXACTLY = 1e-14  # the same of coefficients at a point, which are known to rounding

# -- results and studies ----------------------------------------------------------------------
SAME_TIME = 1e-12  # of the times of a run: times that differ by no more are the same
ROUNDING = 1e-12  # of the largest of its kin: what is smaller is shown as 0, and not drawn unasked
STANDS = 1e-9  # in m or rad: what moves no farther stands; no drawn scene is smaller
NO_FORCE = 1e-6  # of the largest force: a smaller one has no arrow
UNRESOLVED = 1e-9  # of all that is integrated: values are no smoother than a run's tolerance
