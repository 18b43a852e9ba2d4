"""What are unknowns of loops and efforts of friction in a mode, at given states?"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from ...exceptions import InitialisationError
from ...initialisation.targets import TargetFunctions, least_values
from ...numerics.arrays import Array, Flags, Indices
from ...numerics.tolerances import SETTLED
from ...simulation.actions import Requirements
from ...units import from_si
from ..linear.derivatives import Derivatives, DerivativesAt, elements_of_system
from ..linear.point import Point
from ..linear.signals import InputSignal
from .targets import OperatingSpec

__all__ = ["LAWS", "algebraic_rows", "held_rows", "mode_residuals", "mode_rows", "out_of_bounds",
           "solved_in_mode", "why_inadmissible"]

ROUNDING = 1e-9  # of a value that is as large as its bound
FOUND = "in the solution that was found"
IMPOSSIBLE = ("Give initial targets near another solution. There may be none, as where what is "
              "heated gives off less than it takes up.")
LAWS = "flow", "rate", "effort", "forth", "back"  # of an element
ROUNDS = 25
SINGULAR = 1e-11


def mode_rows(point: Point, at: DerivativesAt) -> tuple[Array, Array]:
    """What is zero while modes are held, a row per element, and its derivatives.

    Where efforts have no say in what a mode holds, this is its rate.
    """
    value, whole, of_states = _laws(point, at)
    by_x = whole[of_states][:, at.by.columns["x"]]
    value[of_states], whole[of_states] = by_x @ at.value["slope"], by_x @ at.whole("slope")
    return value, whole


def algebraic_rows(point: Point, at: DerivativesAt) -> tuple[Array, Array]:
    """Equations of loops and modes and their derivatives, by what each changes with unknowns."""
    rows, by = mode_rows(point, at)
    whole = np.concatenate([at.whole("residual"), by])
    size = np.abs(whole[:, at.by.unknowns]).max(axis=1, initial=0.0)
    size = np.where(size > 0, size, 1.0)
    return np.concatenate([at.value["residual"], rows]) / size, whole / size[:, None]


def held_rows(point: Point, at: DerivativesAt, some: Flags) -> tuple[Array, Array]:
    """What modes of some elements hold of the states, and its derivatives: stuck parts have no
    flow, closed contacts no gap, and a coil behind an open diode has no current."""
    value, whole, of_states = _laws(point, at)
    stuck, law = some & (point.modes == 0), some & of_states
    closed = stuck & elements_of_system(point.system).contact
    return (np.concatenate([at.value["flow"][stuck], at.value["gap"][closed], value[law]]),
            np.concatenate([at.whole("flow")[stuck], at.whole("gap")[closed], whole[law]]))


def _laws(point: Point, at: DerivativesAt) -> tuple[Array, Array, Flags]:
    """:func:`mode_residuals`, their derivatives, and where they follow from states alone."""
    laws = [at.whole(n) for n in LAWS]

    def sees_efforts(rows: Array) -> Flags:
        return (rows[:, at.by.unknowns] != 0).any(axis=1)

    direct = sees_efforts(laws[0])
    whole = mode_residuals(point.modes, direct, *laws)
    value = mode_residuals(point.modes, direct, *(at.value[n] for n in LAWS))
    return value, whole, (point.modes != 0) & ~sees_efforts(whole)


def mode_residuals(modes: Indices, direct: Flags, *laws: Array) -> Array:
    """Return what is zero of elements while modes are held, or its derivatives, by :data:`LAWS`.

    Stuck: the flow, where efforts act on it at once (``direct``), or else its rate. In motion: the
    effort less what the law says.
    """
    flow, rate, effort, forth, back = laws
    column = (slice(None), None) if rate.ndim > 1 else slice(None)
    sliding = effort - np.where((modes > 0)[column], forth, back)
    return np.where((modes == 0)[column], np.where(direct[column], flow, rate), sliding)


def solved_in_mode(point: Point, derivatives: Derivatives) -> Point:
    """Return the point with unknowns of loops and efforts solved for in its modes."""
    nz = point.system.nz
    for _ in range(ROUNDS if nz or point.system.nu else 0):
        at = derivatives.at(point)
        value, whole = algebraic_rows(point, at)
        step = np.linalg.lstsq(whole[:, at.by.unknowns], -value, rcond=SINGULAR)[0]  # the least
        point = replace(point, z=point.z + step[:nz], u=point.u + step[nz:])
        size = np.abs(np.concatenate([point.z, point.u])).max(initial=0.0)
        if np.abs(step).max(initial=0.0) <= SETTLED * size:
            break
    return point


def why_inadmissible(point: Point, spec: OperatingSpec) -> InitialisationError | None:
    """What forbids to be there; None where nothing does."""
    broken = Requirements.of(point.system).broken(point.arguments)
    if broken is not None:
        path, message = broken
        return InitialisationError(path, f"{FOUND}, {message}", IMPOSSIBLE,
                                   code="analysis.impossible")
    return _below_least(point) or out_of_bounds(point, spec)


def _below_least(point: Point) -> InitialisationError | None:
    """The error of a variable below what it can be, such as a temperature below 0 K."""
    system = point.system
    slots, least = least_values(system)
    value = TargetFunctions.of(system, slots).value(*point.arguments)
    below = np.flatnonzero(value < least - ROUNDING * np.abs(least))
    if not len(below):
        return None
    k = int(below[0])
    slot = system.flat.at_slot(int(slots[k]))
    return InitialisationError(
        slot.name, f"would be {from_si(float(value[k]), slot.local.unit):.6g~P} {FOUND}, but is "
        f"never below {from_si(float(least[k]), slot.local.unit):.6g~P}.", IMPOSSIBLE,
        code="analysis.impossible")  # fmt: skip


def out_of_bounds(point: Point, spec: OperatingSpec) -> InitialisationError | None:
    """The error of the first bound of the targets that is not kept."""
    for bound in spec.bounds:
        one = bound.signal
        value = one.sign * float(point.p[one.place]) if isinstance(one, InputSignal) else float(
            point.system.function("value", one.expression)(*point.arguments)[0])
        size = ROUNDING * abs(value)
        if bound.low - size <= value <= bound.high + size:
            continue
        limit, word = (bound.low, "at least") if value < bound.low else (bound.high, "at most")
        return InitialisationError(
            one.path, f"is {from_si(value, one.unit):.6g~P} {FOUND}, but shall be {word} "
            f"{from_si(limit, one.unit):.6g~P}.",
            "Give up one of the targets, widen the bounds, or give initial targets near another "
            "solution.", code="analysis.bounds", needed=from_si(value, one.unit),
            limit=from_si(limit, one.unit))
    return None
