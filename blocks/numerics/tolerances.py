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
