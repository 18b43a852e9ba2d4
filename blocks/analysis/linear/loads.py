"""For which values of an input does a mode hold?

At an equilibrium all that can move follows the input slowly, as far as there is an equilibrium for
it; elsewhere the states are those of the point. Every stuck reaction stays within its bounds,
every sliding velocity keeps its sign, what is about to slide is pushed that way, and gaps stay
open. All of that is taken along its tangent, so it is linear in the input; where the motion leaves
reactions open, any admissible split will do, which is a linear program.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ...nonsmooth.modes.elements import Elements
from ...numerics.arrays import Array, Flags
from ..equilibrium.solve_in_mode import algebraic_rows
from .derivatives import DerivativesAt, elements_of_system
from .linear_model import Load, Named
from .point import Point
from .poles import drop_rounding, steady_response
from .reduction import Reduced
from .signals import signals_of

__all__ = ["TOUCHES", "Limits", "begins", "follow_slowly", "interval", "limits_of", "loads_of",
           "open_splits"]  # fmt: skip

AT_REST = 1e-12  # of the nominal velocity
TOUCHES = 1e-12  # of the nominal position
HELD = 1e-9  # of what a rate is made of: it is zero
SINGULAR = 1e-9


@dataclass(frozen=True)
class Limits:
    """What must not become negative, per unit of an input and of each open split."""

    margin: Array  # at present
    by_input: Array  # its change per input, in columns
    by_split: Array  # its change per split of reactions that the motion leaves open, in columns
    words: list[str]  # what happens beyond


def loads_of(point: Point, at: DerivativesAt, reduced: Reduced, inputs: list[Named],
             resting: bool) -> list[Load]:
    """Per input the values for which the mode holds; ``resting`` where it is an equilibrium."""
    if not (inputs and elements_of_system(point.system).size):
        return []
    limits = [limits_of(point, at)] * len(inputs)
    if resting and not begins(point, at):
        steady = follow_slowly(reduced)
        moved = limits_of(point, at, np.nan_to_num(steady))
        limits = [moved if np.isfinite(column).all() else limits[0] for column in steady.T]
    out = []
    for k, one in enumerate(inputs):
        signal = signals_of(point.system).input(one.path, "")
        present = signal.sign * float(point.p[signal.place]) / signal.unit.factor
        low, high, first, last = interval(limits[k], k)
        ends = present + np.array([low, high]) / one.unit.factor
        low, high = drop_rounding(ends, abs(present)).tolist()
        out.append(Load(one, low, high, first, last))
    return out


def begins(point: Point, at: DerivativesAt) -> bool:
    """Whether anything begins to slide, or to open, at this point."""
    return bool(_about_to(point, at, elements_of_system(point.system)).any())


def _about_to(point: Point, at: DerivativesAt, elements: Elements) -> Flags:
    """What does."""
    apart = elements.contact & (np.abs(at.value["gap"]) > TOUCHES)
    return np.asarray((point.modes != 0) & ~apart & (np.abs(at.value["flow"]) <= AT_REST))


def follow_slowly(reduced: Reduced) -> Array:
    """How all states follow lasting changes of the inputs; nan where there is no equilibrium."""
    a = reduced.a if isinstance(reduced.a, np.ndarray) else reduced.a.toarray()
    if not len(a):
        return np.array(reduced.by_inputs, dtype=float)
    states, _, reached = steady_response(a, reduced.b)
    found = np.asarray(reduced.by_states @ states) + reduced.by_inputs
    found[:, ~reached] = np.nan
    return found


def limits_of(point: Point, at: DerivativesAt, by_state: Array | None = None) -> Limits:
    """Margins of all modes as functions of the inputs.

    ``by_state`` says how the states follow the inputs; by default they stay.
    """
    elements, v = elements_of_system(point.system), at.value
    w_p, null = _follow(point, at, by_state)

    def change(row: str) -> tuple[Array, Array]:
        by_w = np.column_stack([at.by[row, "z"].toarray(), at.by[row, "u"].toarray()])
        direct = at.by[row, "p"].toarray()
        by_p, made_of = direct + by_w @ w_p, np.abs(direct) + np.abs(by_w) @ np.abs(w_p)
        if by_state is not None:
            by_p = by_p + at.by[row, "x"] @ by_state
            made_of = made_of + abs(at.by[row, "x"]) @ np.abs(by_state)
        return drop_rounding(by_p, made_of), by_w @ null

    changes = {row: change(row) for row in (
        "effort", "low", "high", "rate", "flow", "slope", "gap")}
    begins = _about_to(point, at, elements)
    held = np.abs(v["rate"]) <= HELD * (abs(at.by["rate", "u"]) @ np.abs(point.u))
    margin, by_input, by_split, words = [], [], [], []

    def add(k: int, value: float, row: Array, split: Array, word: str) -> None:
        if np.isfinite(value):
            margin.append(value)
            by_input.append(row)
            by_split.append(split)
            words.append(f"{elements.label(k)} {word}")

    def excess(k: int, upper: str, lower: str) -> tuple[float, Array, Array]:
        """By how much one is above the other; at a bound that states alone tell, its rate."""
        value = v[upper][k] - v[lower][k]
        by, split = (changes[upper][i][k] - changes[lower][i][k] for i in (0, 1))
        if value == 0 and not by.any() and not split.any():
            along = (at.by[upper, "x"][[k]] - at.by[lower, "x"][[k]]).toarray().ravel()
            value = along @ v["slope"]
            by, split = (along @ changes["slope"][i] for i in (0, 1))
        return float(value), by, split

    for k in range(elements.size):
        mode, s = int(point.modes[k]), 1.0 if point.modes[k] > 0 else -1.0
        contact = bool(elements.contact[k])
        if mode == 0:
            ends = "opens" if contact or elements.valve[k] else ""
            add(k, *excess(k, "high", "effort"), ends or "slides forward")
            add(k, *excess(k, "effort", "low"), ends or "slides backward")
        elif begins[k]:
            by, split = (change[k] for change in changes["rate"])
            never = held[k] and not by.any() and not split.any()  # others hold it still
            add(k, -1.0 if never else s * v["rate"][k], s * by, s * split,
                "closes" if contact else "sticks")
        else:
            row, sign, word = ("gap", 1.0, "closes") if contact else ("flow", s, "sticks")
            by, split = (change[k] for change in changes[row])
            add(k, sign * v[row][k], sign * by, sign * split, word)
    count = at.by["slope", "p"].shape[1]
    return Limits(np.array(margin), np.array(by_input).reshape(-1, count),
                  np.array(by_split).reshape(len(margin), null.shape[1]), words)


def _follow(point: Point, at: DerivativesAt, by_state: Array | None) -> tuple[Array, Array]:
    """Torn unknowns and efforts by the inputs, and their splits that nothing determines."""
    _, whole = algebraic_rows(point, at)
    u, s, vt, rank = _unknowns_told(whole, at)
    right = whole[:, at.by.columns["p"]]
    if by_state is not None:
        right = right + whole[:, at.by.columns["x"]] @ by_state
    columns, rows = vt[:rank].T / s[:rank], u[:, :rank].T
    inverse = drop_rounding(columns @ rows, np.abs(columns) @ np.abs(rows))
    return drop_rounding(-inverse @ right, np.abs(inverse) @ np.abs(right)), vt[rank:].T


def _unknowns_told(whole: Array, at: DerivativesAt) -> tuple[Array, Array, Array, int]:
    """What equations of loops and modes tell of unknowns: singular vectors, values, their rank."""
    u, s, vt = np.linalg.svd(whole[:, at.by.unknowns])
    return u, s, vt, int(np.count_nonzero(s > SINGULAR * s.max(initial=0.0)))


def open_splits(point: Point, at: DerivativesAt) -> Array:
    """Changes of efforts (columns of inputs u) that the motion leaves open."""
    *_, vt, rank = _unknowns_told(algebraic_rows(point, at)[1], at)
    return vt[rank:].T[point.system.nz :]


def interval(limits: Limits, k: int) -> tuple[float, float, str, str]:
    """Least and largest change of input k for which no margin is negative, and what limits it."""
    if limits.by_split.shape[1] and np.abs(limits.by_split).max(initial=0.0) > 0:
        return _interval_of_splits(limits, k)
    low, high, first, last = -np.inf, np.inf, "", ""
    for margin, slope, word in zip(limits.margin, limits.by_input[:, k], limits.words, strict=True):
        if abs(slope) <= 1e-300:
            if margin < -1e-9:
                return np.inf, -np.inf, word, word
        elif slope > 0 and -margin / slope > low:
            low, first = -margin / slope, word
        elif slope < 0 and -margin / slope < high:
            high, last = -margin / slope, word
    return low, high, first, last


def _interval_of_splits(limits: Limits, k: int) -> tuple[float, float, str, str]:
    """Return the interval of :func:`interval` where reactions may be split, by a linear program."""
    from scipy.optimize import linprog

    matrix = -np.column_stack([limits.by_input[:, k], limits.by_split])
    ends: list[float] = []
    words: list[str] = []
    for sign in (1.0, -1.0):
        cost = np.zeros(matrix.shape[1])
        cost[0] = sign
        found = linprog(cost, A_ub=matrix, b_ub=limits.margin, bounds=(None, None))
        if found.status == 2:
            return np.inf, -np.inf, "", ""
        if found.status == 3:
            ends.append(-sign * np.inf)
            words.append("")
            continue
        ends.append(float(found.x[0]))
        active = [w for w, s in zip(limits.words, found.slack, strict=True) if abs(s) < 1e-9]
        words.append(", ".join(active[:3]))
    return ends[0], ends[1], words[0], words[1]
