"""The table of numerical tolerances: every one has a name, and a reason to be as large as it is.

They are relative to what is compared unless their name or reason says otherwise. A tolerance
that a user sets (``rtol``, ``atol``) is none of these.
"""

from __future__ import annotations

# -- language, assembly, units ----------------------------------------------------------------

# -- the system and its start -----------------------------------------------------------------

# -- events and the run -----------------------------------------------------------------------

# -- modes of set-valued laws -----------------------------------------------------------------

# -- complementarity problems -----------------------------------------------------------------

# -- time stepping ----------------------------------------------------------------------------

# -- methods and machine code -----------------------------------------------------------------

# -- diagnostics ------------------------------------------------------------------------------

# -- results and studies ----------------------------------------------------------------------
