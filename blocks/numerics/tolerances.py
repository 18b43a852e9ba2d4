"""The table of numerical tolerances: every one has a name, and a reason to be as large as it is.

They are relative to what is compared unless their name or reason says otherwise. A tolerance
that a user sets (``rtol``, ``atol``) is none of these.
"""

from __future__ import annotations

# -- language, assembly, units ----------------------------------------------------------------
TINY = 1e-300  # guards a division by zero, and changes no number that is none
AFFINE_UNIT = 1e-9  # a unit whose conversion bends more than this is logarithmic
PIVOT = 1e-9  # of a scaled row of constraints: smaller ones are rounding, the row is dependent
CANCELLED = 1e-14  # of a scaled row: what elimination leaves of terms that cancel

# -- the system and its start -----------------------------------------------------------------

# -- events and the run -----------------------------------------------------------------------

# -- modes of set-valued laws -----------------------------------------------------------------

# -- complementarity problems -----------------------------------------------------------------

# -- time stepping ----------------------------------------------------------------------------

# -- methods and machine code -----------------------------------------------------------------

# -- diagnostics ------------------------------------------------------------------------------
SAME_TARGET = 1e-9  # two initial targets of one unknown within this do not contradict each other
STATED = 1e-9  # singular values and weights of a class's laws below this say nothing
OUTSIDE = 100 * STATED  # distance of a statement from the row space of the laws that follow it
DEPENDENT = 1e-9  # singular value of equations that depend on each other, coefficients by values
DEPENDENT_EXACTLY = 1e-14  # the same of coefficients at a point, which are known to rounding
TAKES_PART = 1e-6  # weight of an equation in a dependence, from which it is named

# -- results and studies ----------------------------------------------------------------------
