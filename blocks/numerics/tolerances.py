"""The table of numerical tolerances: every one has a name, and a reason to be as large as it is.

They are relative to what is compared unless their name or reason says otherwise. A tolerance
that a user sets (``rtol``, ``atol``) is none of these.
"""

from __future__ import annotations

# -- language, assembly, units ----------------------------------------------------------------
TINY = 1e-300  # keeps a divisor from zero

# -- the system and its start -----------------------------------------------------------------

# -- events and the run -----------------------------------------------------------------------

# -- modes of set-valued laws -----------------------------------------------------------------

# -- complementarity problems -----------------------------------------------------------------

# -- time stepping ----------------------------------------------------------------------------

# -- methods and machine code -----------------------------------------------------------------

# -- diagnostics ------------------------------------------------------------------------------

# -- results and studies ----------------------------------------------------------------------
SAME_TIME = 1e-12  # of the times of a run: times that differ by no more are the same
LAST_SAMPLE = 1e-9  # of the spacing: a sample that lies no farther beyond the end is the end
ROUNDING = 1e-12  # of the largest of its kin: what is smaller is shown as 0, and not drawn unasked
STANDS = 1e-9  # in m or rad: what moves no farther stands; no drawn scene is smaller
NO_FORCE = 1e-6  # of the largest force: a smaller one has no arrow
UNRESOLVED = 1e-9  # of all that is integrated: values are no smoother than a run's tolerance
