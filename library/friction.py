"""Laws of dry friction, for forces and torques alike.

=======================  =====================================================
``stribeck``             continuous curve of a velocity; creeps, never sticks
``sliding``              kinetic effort at a speed, for exact dry friction
``load_friction``        exact friction whose bounds depend on the load it
                         transmits, or differ between the two directions
=======================  =====================================================

Exact friction with bounds that do not depend on the effort itself is a statement
of the language, ``blocks.dry_friction``.
"""

from __future__ import annotations

from collections.abc import Iterator
from math import e, sqrt
from typing import Any

from blocks import abs_, der, exp, initially, tanh, when, where

__all__ = ["load_friction", "sliding", "stribeck"]


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


def load_friction(
    effort: Any, flow: Any, mode: Any, trial: Any, *, forward: Any, backward: Any, per_rate: Any,
    rest: tuple[Any, Any] | None = None,
) -> Iterator[Any]:
    """Exact friction with bounds of its own for each direction: yield from it.

    Sliding forward the effort is ``forward``, sliding backward ``backward``. At rest
    the flow stays and the effort is what keeps it so, until it would leave the
    interval ``rest``, by default from ``backward`` to ``forward``.
    The bounds may depend on any unknown, so also on the load that is transmitted.
    Write them without relations between such unknowns: take ``maximum`` and
    ``minimum``, not ``where``.

    Equations: with a held mode of 1, 0 or -1 and a curve parameter s,
    effort = s and d flow/dt = 0 in mode 0; effort = bound and
    d flow/dt = (s - bound) / per_rate in modes 1 and -1. Rest begins where the flow
    crosses zero; it ends where s leaves the interval. The parameter says at the
    start, too, which way an element at rest sets off.

    Parameters
    ----------
    effort, flow : expressions
        The effort opposes the flow; the flow is a velocity of bodies with inertia.
    mode : Discrete variable
    trial : Variable
        The curve parameter s, in the unit of the effort.
    per_rate : quantity
        Any positive effort per rate of the flow; it has no influence on the motion.

    References
    ----------
    Otter, Elmqvist, Mattsson, "Hybrid Modeling in Modelica based on the Synchronous
    Data Flow Principle", IEEE Symposium on Computer Aided Control System Design, 1999:
    friction as a parametric curve.
    """
    lower, upper = (backward, forward) if rest is None else rest
    ahead, back = mode > 0.5, mode < -0.5
    bound = where(ahead, forward, backward)
    yield effort == where(ahead | back, bound, trial)
    yield per_rate * der(flow) == where(ahead | back, trial - bound, 0)
    # once it slips, the smaller effort of sliding decides whether it goes on
    starts_ahead = (trial > upper) | (ahead & (trial > forward))
    starts_back = (trial < lower) | (back & (trial < backward))
    at_rest = where(starts_ahead, 1.0, where(starts_back, -1.0, 0.0))
    yield initially({mode: where(flow > 0, 1.0, where(flow < 0, -1.0, at_rest))})
    yield when(flow < 0, {mode: where(ahead, 0.0, mode)})
    yield when(flow > 0, {mode: where(back, 0.0, mode)})
    yield when(~(ahead | back) & (trial > upper), {mode: 1.0})
    yield when(~(ahead | back) & (trial < lower), {mode: -1.0})
