"""Which frictions need no decision of their own? Those that rub along with another, or never move.

A seal and a guide on one rod have one flow, brakes on shafts of a gear train proportional ones:
they stick together and slide together, and at rest the motion tells the sum of their efforts
only, each times the ratio of its flow. One of them, the first, stands for all, with the sum of
their bounds; while they stick, each takes the same share of its range, which keeps within its
bounds as long as any split does. A friction whose flow is always zero (between gears in a loop)
has no influence on anything. Where bounds depend on efforts (gears with losses) they may depend on
the split of their own group; where others feel it, each decides, but those that move alike still
move together.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property

import casadi as ca
import numpy as np

from ...numerics.arrays import Array, Flags, Indices, Matrix
from ...numerics.rewriting import kinds
from ...numerics.tolerances import ROUNDING
from ...system import Evaluator
from .delassus import is_singular
from .elements import Elements
from .law_expressions import LawExpressions

__all__ = ["SAME", "Companions", "companions_of"]

HUGE = 1e300  # what is larger is no bound
SAME = 10  # digits in which flows at points without any meaning agree
POINTS = 4
PRODUCTS = {ca.OP_INPUT, ca.OP_OUTPUT, ca.OP_CONST, ca.OP_MUL, ca.OP_DIV, ca.OP_NEG, ca.OP_INV,
            ca.OP_SQ, ca.OP_TWICE}  # fmt: skip


@dataclass(frozen=True, eq=False)
class Companions:
    """Frictions that move as others do."""

    alike: list[Indices]  # elements with proportional flows, in groups
    groups: list[Indices]  # those of which the first decides for all, as nobody else feels a split
    # (elements,) ratio of the flow to others of its group, as functions of the parameters
    flows: ca.SX
    parameters: ca.SX  # their symbols
    moves: Flags  # (elements,) not those whose flow is always zero

    @cached_property
    def leader(self) -> Indices:
        """Who decides: an element itself, or the first of its group."""
        out = np.arange(len(self.moves))
        for group in self.groups:
            out[group] = group[0]
        return out

    @property
    def ratio(self) -> ca.SX:
        """Ratio of each flow to that of the element that decides for it, (elements,)."""
        out = ca.SX.ones(len(self.moves))
        for group in self.groups:
            out[group.tolist()] = self.flows[group.tolist()]
        return out

    @property
    def decides(self) -> Flags:
        """Elements whose modes are decided on."""
        return self.moves & (self.leader == np.arange(len(self.leader)))

    @cached_property
    def _flows(self) -> ca.Function:
        return ca.Function("flows", [self.parameters], [ca.densify(self.flows)])

    def _alike(self, p: Array) -> Indices:
        """1, or -1 where a flow has the other sign than the first's, 0 where it is zero."""
        if not self.alike:
            return np.ones(len(self.moves), dtype=int)
        return np.sign(np.array(self._flows(p)).ravel()).astype(int)

    def sense(self, p: Array) -> Indices:
        """Sign of each flow relative to that of the element that decides for it, (elements,)."""
        out = np.ones(len(self.moves), dtype=int)
        for group in self.groups:
            out[group] = self._alike(p)[group]
        return out

    def leading(self, p: Array) -> Indices:
        """Who decides on each; -1 where nothing moves."""
        return np.where(self.moves & (self.sense(p) != 0), self.leader, -1)

    def room(self, margin: Array, modes: Indices, p: Array) -> Array:
        """Margins, of groups at rest that of the sum of all efforts, which is their first's."""
        held = [group for group in self.groups if modes[group[0]] == 0]
        if held:
            margin, flows = margin.copy(), np.abs(np.array(self._flows(p)).ravel())
            for group in held:
                margin[group[0]] = flows[group] @ margin[group]
                margin[group[1:]] = np.inf
        return margin

    def join(self, modes: Indices, idle: Flags, p: Array) -> None:
        """Let those that move together have one mode, where one of them has moved.

        Elements that are ``idle`` have no strength at present: their mode says nothing.
        """
        sense = self._alike(p)
        for group in (g[sense[g] != 0] for g in self.alike):
            able = group[~idle[group]]
            tell = able if len(able) else group[:1]
            moved = tell[modes[tell] != 0]
            if len(moved):
                modes[group] = sense[group] * (sense[moved[0]] * modes[moved[0]])
            elif self.leader[group[-1]] == group[0]:  # else what has no strength holds nothing
                modes[group] = 0

    # -- as expressions --------------------------------------------------------------------
    def held_in_motion(self, elements: Elements, laws: LawExpressions) -> LawExpressions:
        """Laws of which rest ends where motion goes on, rather than stops at once.

        A friction on the nut of a self-locking screw bears some of its load, and takes more from
        the friction in the thread: the larger it is, the less both hold together. Breaking away,
        when it falls to its kinetic force, both would hold again. Such a one has its kinetic bounds
        at rest, too.
        """
        low, high, inputs = ca.SX(laws.low), ca.SX(laws.high), laws.system.tape.u
        changed = False
        for group in self.groups:
            members, ratio = group.tolist(), self.ratio[group.tolist()]
            along = self._along(group, laws.low, laws.high)
            if not ca.depends_on(ca.vertcat(*along), inputs):
                continue
            resting, moving = map(np.array, _at_rest(laws, laws.flow[members[0]], *(
                ca.horzcat(*(e[members] for e in side))
                for side in ((laws.low, laws.high), (laws.back, laws.forth)))))
            weaker = np.flatnonzero(~np.isclose(resting, moving, ROUNDING, 0.0).all(axis=1))
            if not len(weaker):
                continue
            changed = True
            place = ca.diag(ca.DM(elements.unit[group]) / ratio)
            for way, bounds in enumerate(along):
                by_effort = ca.mtimes(ca.jacobian(
                    bounds, inputs[elements.column[group].tolist()]), place)
                # how all together change with each one's own bound, through one after the other
                holds = _eliminated(ca.SX.eye(len(group)) - by_effort.T)
                for k in weaker.tolist():
                    e, is_low = members[k], (ratio[k] > 0) == (way == 0)
                    low[e] = ca.if_else(ca.logic_and(holds[k] < 0, is_low), laws.back[e], low[e])
                    high[e] = ca.if_else(ca.logic_and(holds[k] < 0, ca.logic_not(is_low)),
                                         laws.forth[e], high[e])
        return replace(laws, low=low, high=high) if changed else laws

    def modes(self, modes: ca.SX) -> ca.SX:
        """Modes of all elements, by those that decide."""
        joined = modes[self.leader.tolist()] * ca.sign(self.ratio)
        return joined * ca.DM(self.moves.astype(float))

    def together(self, low: ca.SX, high: ca.SX) -> tuple[ca.SX, ca.SX]:
        """Bounds (or twice the effort), a leader's being those of the sum of all efforts."""
        whole = ca.SX(low), ca.SX(high)
        for group in self.groups:
            for out, all_ in zip(whole, self._along(group, low, high), strict=True):
                out[int(group[0])] = ca.sum1(all_)
        return whole

    def shared(self, low: ca.SX, high: ca.SX) -> ca.SX:
        """The largest bound in which shares are counted: no split is known beyond its last bits."""
        largest = ca.SX(0)
        for e in (int(e) for group in self.groups for e in group):
            for bound in (ca.fabs(low[e]), ca.fabs(high[e])):
                largest = ca.fmax(largest, ca.if_else(bound < HUGE, bound, 0))
        return largest

    def split(self, effort: ca.SX, modes: ca.SX, low: ca.SX, high: ca.SX) -> ca.SX:
        """Efforts of what rests, 0 for others; a leader's ``effort`` is the sum of all."""
        out = ca.SX(effort)
        for group in self.groups:
            members, e = group.tolist(), int(group[0])
            first, last = self._along(group, low, high)
            width, whole = last - first, ca.sum1(last - first)
            share = ca.if_else(whole > 0, width / whole, 1 / len(members))
            own = first + share * (effort[e] - ca.sum1(first))
            ratio = self.ratio[members]
            held = ca.if_else(ratio == 0, 0, own / ca.if_else(ratio == 0, 1, ratio))
            out[members] = ca.if_else(modes[e] == 0, held, 0)
        for e in np.flatnonzero(~self.moves).tolist():
            out[e] = ca.fmin(ca.fmax(0, low[e]), high[e])
        return out

    def _along(self, group: Indices, low: ca.SX, high: ca.SX) -> tuple[ca.SX, ca.SX]:
        """Bounds of what the members of a group do to their leader."""
        ratio, members = self.ratio[group.tolist()], group.tolist()
        same = ratio > 0
        first, last = ratio * low[members], ratio * high[members]
        return ca.if_else(same, first, last), ca.if_else(same, last, first)


def companions_of(elements: Elements, laws: LawExpressions, values: Evaluator, varies: Flags
                  ) -> Companions:
    """Find the frictions of a system that move as others do.

    ``values`` are what the laws come to, compiled; ``varies``: elements whose flow is no constant
    combination of states.
    """
    n, tape = elements.size, laws.system.tape
    ratio, moves = ca.SX.ones(n), np.ones(n, dtype=bool)
    nobody = Companions([], [], ratio, tape.p, moves)
    fast = ca.vertcat(tape.u, tape.z)
    loaded = any(ca.which_depends(laws.bounds, fast, 1, True))
    friction = ~elements.contact
    for e in np.flatnonzero(friction).tolist():
        moves[e] = not laws.flow[e].is_zero() or loaded
    by_x, by_fast = (ca.which_depends(laws.flow, by, 1, True) for by in (tape.x, fast))
    friction &= moves & ~varies & np.array(by_x, dtype=bool) & ~np.array(by_fast, dtype=bool)
    if np.count_nonzero(friction) < 2:
        return nobody
    alike: list[Indices] = []
    groups: list[Indices] = []
    for group in _alike(laws, values, friction):
        by_state = ca.jacobian(laws.flow[group], tape.x)
        coefficient = by_state[:, int(by_state.sparsity().get_col()[0])]
        # no leader may come to stand still by the values of parameters
        constant = [k for k in range(len(group)) if coefficient[k].is_constant()]
        first = constant[0] if constant else 0
        ratios = [coefficient[k] / coefficient[first] for k in range(len(group))]
        led = [k for k, r in enumerate(ratios)
               if r.is_constant() or constant and _is_product(r, tape.p)]
        if len(led) > 1:
            unfelt = _is_split_unfelt(laws, elements, group, first, ca.vertcat(*ratios))
            led = [k for k in led if unfelt[k]]
        if len(led) > 1 and (len(led) == len(group) or not loaded):  # whose bounds feel it all lead
            own, members = group[first], [group[k] for k in led]
            groups.append(np.array([own, *(e for e in members if e != own)]))
            for k in led:
                ratio[group[k]] = ratios[k]
            alike.append(groups[-1])
        elif loaded:  # nobody leads: senses are those of the state
            ratio[group] = coefficient
            alike.append(np.array(group))
    return Companions(alike, groups, ratio, tape.p, moves)


def _is_split_unfelt(laws: LawExpressions, elements: Elements, group: list[int], first: int,
                     ratios: ca.SX) -> Flags:
    """Elements whose load the first may bear instead, motion and bounds of others staying the same.

    At some point where nothing flows, as efforts are split at rest only: there is no heat. Loops
    may take other values: they are solved for.
    """
    tape, nz = laws.system.tape, laws.system.nz
    flow = laws.flow[group[first]]
    others = np.ones(4 * elements.size, dtype=bool)
    others.reshape(4, -1)[:, group] = False
    felt = ca.vertcat(tape.slope, tape.constraints, laws.bounds[np.flatnonzero(others).tolist()])
    columns, loops = elements.column[group].tolist(), tape.residual[:nz]
    share = ca.diag(ca.DM(elements.unit[group]) / ratios)
    effect, on_loops = map(np.array, _at_rest(laws, flow, *(
        ca.mtimes(ca.jacobian(e, tape.u)[:, columns], share) for e in (felt, loops))))
    left = on_loops - on_loops[:, [first]]
    if np.abs(left).max(initial=0.0) > ROUNDING * np.abs(on_loops).max(initial=0.0):
        from scipy.sparse.linalg import splu

        felt_z, loops_z = (a.sparse().tocsc() for a in _at_rest(
            laws, flow, ca.jacobian(felt, tape.z), ca.jacobian(loops, tape.z)))
        if is_singular(loops_z):
            return np.arange(len(group)) == first
        effect = effect - felt_z @ splu(loops_z).solve(on_loops)
    change = effect - effect[:, [first]]
    unfelt: Flags = np.abs(change).max(axis=0) <= ROUNDING * np.abs(effect).max()
    return unfelt


def _eliminated(matrix: ca.SX) -> list[ca.SX]:
    """What times a matrix is all ones; pivots stay on the diagonal, as orthogonal factors would be
    expressions ten times as long."""
    n, rows, x = matrix.shape[0], ca.horzsplit(ca.densify(matrix.T)), [ca.SX(1)] * matrix.shape[0]
    for k in range(n):
        for i in range(k + 1, n):
            if not rows[i][k].is_zero():
                factor = rows[i][k] / rows[k][k]
                rows[i][k + 1 :] -= factor * rows[k][k + 1 :]
                x[i] -= factor * x[k]
    for k in reversed(range(n)):
        x[k] = (x[k] - ca.dot(rows[k][k + 1 :], ca.vertcat(*x[k + 1 :]))) / rows[k][k]
    return x


def _at_rest(laws: LawExpressions, flow: ca.SX, *asked: ca.SX) -> list[ca.DM]:
    """Values of expressions at some point where a flow is zero."""
    tape, arguments = laws.system.tape, laws.system.arguments
    by_x = ca.jacobian(flow, tape.x).T
    rest = tape.x - by_x * flow / ca.sumsqr(by_x)
    draw = np.random.default_rng(0)
    point = [draw.uniform(0.5, 1.5, a.numel()) for a in arguments]
    there = ca.Function("there", arguments, ca.substitute(asked, [tape.x], [rest]))
    values: list[ca.DM] = there.call(point)
    return values


def _is_product(ratio: ca.SX, parameters: ca.SX) -> bool:
    """Whether parameters are multiplied and divided only."""
    return kinds(ca.Function("ratio", [parameters], [ratio])) <= PRODUCTS


def _alike(laws: LawExpressions, values: Evaluator, which: Flags) -> list[list[int]]:
    """Elements with proportional flows."""
    known: dict[bytes, list[int]] = {}
    courses, bounded = _samples(laws, values)
    for e in np.flatnonzero(which & bounded).tolist():
        known.setdefault(courses[e].tobytes(), []).append(e)
    return [group for group in known.values() if len(group) > 1]


def _samples(laws: LawExpressions, values: Evaluator) -> tuple[Matrix, Flags]:
    """How flows change from point to point, a row per element; which elements are bounded there.

    Flows with the same row are proportional, by ratios that depend on parameters only.
    """
    draw, rows, bounded = np.random.default_rng(0), [], np.ones(laws.flow.numel(), dtype=bool)
    t, *others = (draw.uniform(0.5, 1.5, a.numel()) for a in laws.system.arguments)
    x = draw.uniform(0.5, 1.5, (POINTS, laws.system.nx))
    for _ in range(2):  # values of parameters
        others[2] = draw.uniform(0.5, 1.5, len(others[2]))
        out = np.array([values(t, x[k], *others[1:]) for k in range(POINTS)]).reshape(POINTS, 7, -1)
        bounded &= ~np.isinf(out[:, 1:5]).any(axis=(0, 1)) & (out[:, 0] != 0).all(axis=0)
        with np.errstate(all="ignore"):
            rows.append(np.round(out[1:, 0] / out[0, 0], SAME))
    courses = np.ascontiguousarray(np.concatenate(rows).T) + 0.0
    return courses, bounded & np.isfinite(courses).all(axis=1)
