"""Laws of dry friction, for forces and torques alike.

=======================  =====================================================
``stribeck``             continuous curve of a velocity; creeps, never sticks
``sliding``              kinetic effort at a speed, for exact dry friction
``load_friction``        exact friction whose bounds depend on the load it
                         transmits, as in gears and screws
=======================  =====================================================

Exact friction with bounds that do not depend on efforts is a statement of the
language: ``blocks.dry_friction`` and ``blocks.set_valued``.
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
    effort: Any, flow: Any, mode: Any, moving: Any, trial: Any, *, forward: Any, backward: Any,
    per_rate: Any, rest: tuple[Any, Any] | None = None,
) -> Iterator[Any]:
    """Exact friction with bounds of its own for each direction: yield from it.

    Sliding forward the effort is ``forward``, sliding backward ``backward``. At rest
    the flow stays and the effort is what keeps it so, until it would leave the
    interval ``rest``, by default from ``backward`` to ``forward``.
    The bounds may depend on any unknown, so also on the load that is transmitted.
    Write them without relations between such unknowns: take ``maximum`` and
    ``minimum``, not ``where``.

    Equations: with a held mode and a curve parameter s, effort = s and d flow/dt = 0
    in mode 0; effort = bound and d flow/dt = (s - bound) / per_rate in modes 1
    (forward) and -1 (backward). Rest ends where s leaves the interval, also at the
    start of a run. It begins where a flow that moves in the sense of the mode changes
    its sign, or where one that has not begun to move is no longer driven.

    Parameters
    ----------
    effort, flow : expressions
        The effort opposes the flow; the flow is a velocity of bodies with inertia.
    mode, moving : Discrete variables
        The mode, and 1 once the flow has its sign, whatever rounding it had at rest.
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
    still = 1 - mode**2  # products with modes, not where(): they follow the modes at once
    bound = mode * ((1 + mode) * forward - (1 - mode) * backward) / 2
    drive = mode * (trial - bound)
    yield effort == still * trial + mode**2 * bound
    yield per_rate * der(flow) == mode * drive
    # once it slips, the smaller effort of sliding decides whether it goes on
    ahead = (trial > upper) | ((mode > 0.5) & (trial > forward))
    back = (trial < lower) | ((mode < -0.5) & (trial < backward))
    sense = where(flow > 0, 1.0, where(flow < 0, -1.0, 0.0))
    yield initially({
        moving: sense**2,
        mode: sense + (1 - sense**2) * where(ahead, 1.0, where(back, -1.0, 0.0)),
    })  # fmt: skip
    yield when(still * (trial - upper) > 0, {mode: 1.0})
    yield when(still * (lower - trial) > 0, {mode: -1.0})
    yield when((1 - moving) * mode * flow > 0, {moving: 1.0})
    yield when(moving * mode * flow < 0, {mode: 0.0, moving: 0.0})
    yield when((1 - moving) * drive < 0, {mode: 0.0})
