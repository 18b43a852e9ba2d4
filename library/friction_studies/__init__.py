"""What do friction laws do that friction does not, and which one do measurements speak for?

Audits of laws on small models (:mod:`.audit`), laws from a measured map of force over velocity
(:mod:`.identification`) and from a measured motion with reversals (:mod:`.motion`).
"""

from .audit import Audit, audit, compared
from .identification import identify_friction
from .motion import identify_friction_motion

__all__ = ["Audit", "audit", "compared", "identify_friction", "identify_friction_motion"]
