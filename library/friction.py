"""Laws of dry friction, for forces and torques alike.

=======================  =====================================================
``stribeck``             continuous curve of a velocity; creeps, never sticks
``sliding``              kinetic effort at a speed, for exact dry friction
=======================  =====================================================

Exact friction itself is a statement of the language: ``blocks.dry_friction`` and
``blocks.set_valued``.
"""

from __future__ import annotations

from math import e, sqrt
from typing import Any

from blocks import abs_, exp, tanh

__all__ = ["sliding", "stribeck"]


def stribeck(v: Any, breakaway: Any, coulomb: Any, viscous: Any, breakaway_velocity: Any) -> Any:
    """Continuous Stribeck, Coulomb and viscous friction force (or torque) at velocity v.

    sqrt(2e) (F_brk - F_C) exp(-(v/v_St)²) v/v_St + F_C tanh(v/v_Coul) + f v, with
    v_St = sqrt(2) v_brk and v_Coul = v_brk/10.
    """
    u = v / breakaway_velocity
    rise = sqrt(e) * (breakaway - coulomb) * exp(-(u**2) / 2) * u
    return rise + coulomb * tanh(10 * u) + viscous * v


def sliding(v: Any, coulomb: Any, viscous: Any, breakaway: Any = None, decay: Any = None) -> Any:
    """Sliding effort at velocity v: F_C + c |v|, and (F_brk - F_C) exp(-(v/v_s)²) with a decay."""
    level = coulomb + viscous * abs_(v)
    if decay is None:
        return level
    return level + (breakaway - coulomb) * exp(-((v / decay) ** 2))
