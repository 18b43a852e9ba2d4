"""For which values of an input does a mode hold?

At an equilibrium all that can move follows the input slowly, as far as there is an equilibrium for
it; elsewhere the states are those of the point. Every stuck reaction stays within its bounds,
every sliding velocity keeps its sign, what is about to slide is pushed that way, and gaps stay
open. All of that is taken along its tangent, so it is linear in the input; where the motion leaves
reactions open, any admissible split will do, which is a linear program.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from ...numerics.arrays import Array, Flags
from ..equilibrium.solve_in_mode import mode_rows
from .derivatives import DerivativesAt, elements_of_system
from .linear_model import Load, Named
from .point import Point
from .poles import drop_rounding, steady_response
from .reduction import Reduced

if TYPE_CHECKING:
    from ...nonsmooth.modes.elements import Elements

__all__ = ["TOUCHES", "Limits", "begins", "follow_slowly", "interval", "limits_of", "loads_of",
           "open_splits"]  # fmt: skip

AT_REST = 1e-12  # of the nominal velocity
TOUCHES = 1e-12  # of the nominal position
HELD = 1e-9  # of what a rate is made of: it is zero
SINGULAR = 1e-9


@dataclass(frozen=True)
class Limits:
    """What must not become negative, per unit of an input and of each open split.

    Attributes
    ----------
    margin : at present
    by_input : its change per input, in columns
    by_split : its change per split of reactions that the motion leaves open, in columns
    words : what happens beyond
    """

    margin: Array
    by_input: Array
    by_split: Array
    words: list[str]


def loads_of(point: Point, at: DerivativesAt, reduced: Reduced, inputs: list[Named],
             resting: bool) -> list[Load]:
    """Per input the values for which the mode holds; ``resting`` where it is an equilibrium."""
    elements = elements_of_system(point.system)
    if elements is None or not inputs:
        return []
    about_to = _about_to(point, at, elements)
    steady = follow_slowly(reduced) if resting and not about_to.any() else None
    fixed, moved = limits_of(point, at), None if steady is None else limits_of(
        point, at, np.nan_to_num(steady))
    present = _present(point, inputs)
    out = []
    for k, one in enumerate(inputs):
        follows = moved is not None and steady is not None and np.isfinite(steady[:, k]).all()
        low, high, first, last = interval(moved if follows and moved is not None else fixed, k)
        ends = present[k] + np.array([low, high]) / one.unit.factor
        low, high = drop_rounding(ends, abs(present[k])).tolist()
        out.append(Load(one, low, high, first, last))
    return out


def begins(point: Point, at: DerivativesAt) -> bool:
    """Whether anything begins to slide, or to open, at this point."""
    elements = elements_of_system(point.system)
    return elements is not None and bool(_about_to(point, at, elements).any())


def _about_to(point: Point, at: DerivativesAt, elements: Elements) -> Flags:
    """What does."""
    apart = elements.contact & (np.abs(at.value["gap"]) > TOUCHES)
    return np.asarray((point.modes != 0) & ~apart & (np.abs(at.value["flow"]) <= AT_REST))


def follow_slowly(reduced: Reduced) -> Array:
    """How all states follow lasting changes of the inputs; nan where there is no equilibrium."""
    a = reduced.a if isinstance(reduced.a, np.ndarray) else reduced.a.toarray()
    if not len(a):
        return np.array(reduced.by_inputs, dtype=float)
    steady = steady_response(a, reduced.b)
    found = np.asarray(reduced.by_states @ steady.states) + reduced.by_inputs
    found[:, ~steady.reached] = np.nan
    return found


def _present(point: Point, inputs: list[Named]) -> list[float]:
    from .signals import signals_of

    signals = signals_of(point.system)
    found = [signals.input(n.path, "") for n in inputs]
    return [s.sign * float(point.p[s.place]) / s.unit.factor for s in found]


def limits_of(point: Point, at: DerivativesAt, by_state: Array | None = None) -> Limits:
    """Margins of all modes as functions of the inputs.

    ``by_state`` says how the states follow the inputs; by default they stay.
    """
    elements = elements_of_system(point.system)
    assert elements is not None
    w_p, null = _follow(point, at, by_state)
    v = at.value

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

    def room(k: int, upper: str, lower: str) -> tuple[float, Array, Array]:
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
            add(k, *room(k, "high", "effort"), ends or "slides forward")
            add(k, *room(k, "effort", "low"), ends or "slides backward")
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
    _, by = mode_rows(point, at)
    matrix, size = _matrix(at, by)
    right = np.concatenate([at.by["residual", "p"].toarray(), by["p"]])
    if by_state is not None:
        right = right + np.concatenate([at.by["residual", "x"].toarray(), by["x"]]) @ by_state
    u, s, vt = np.linalg.svd(matrix)
    keep = s > SINGULAR * s.max(initial=0.0)
    columns, rows = vt[: len(s)][keep].T / s[keep], u[:, : len(s)][:, keep].T
    inverse = drop_rounding(columns @ rows, np.abs(columns) @ np.abs(rows))
    loose = np.concatenate([~keep, np.ones(vt.shape[0] - len(s), dtype=bool)])
    right = right / size
    return drop_rounding(-inverse @ right, np.abs(inverse) @ np.abs(right)), vt[loose].T


def _matrix(at: DerivativesAt, by: dict[str, Array]) -> tuple[Array, Array]:
    """Equations of loops and modes by torn unknowns and efforts, rows scaled; their sizes."""
    matrix = np.block([[at.by["residual", "z"].toarray(), at.by["residual", "u"].toarray()],
                       [by["z"], by["u"]]])
    size = np.abs(matrix).max(axis=1, initial=0.0)[:, None]
    size = np.where(size > 0, size, 1.0)
    return matrix / size, size


def open_splits(point: Point, at: DerivativesAt) -> Array:
    """Changes of efforts (columns of inputs u) that the motion leaves open."""
    _, by = mode_rows(point, at)
    matrix, _ = _matrix(at, by)
    _, s, vt = np.linalg.svd(matrix)
    keep = np.zeros(vt.shape[0], dtype=bool)
    keep[: len(s)] = s > SINGULAR * s.max(initial=0.0)
    return vt[~keep].T[point.system.nz :]


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
