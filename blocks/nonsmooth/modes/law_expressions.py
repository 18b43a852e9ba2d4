"""Set-valued laws of a system as expressions of its point."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property

import casadi as ca
import numpy as np

from ...language.expression import TIME
from ...language.lookup import jacobian
from ...numerics.arrays import Array, Flags
from ...numerics.rewriting import rewritten
from ...numerics.tolerances import ROUNDING, TERMS_ROUNDING, TINY
from ...system import System
from .elements import Elements
from .gaps import open_gap

__all__ = ["LawExpressions", "effort_units", "expressions_of", "held_in_motion", "one_sided"]

DEPTH = 20  # of expressions that are compared
THROUGH = 3  # bounds that follow each other, one after the other


@dataclass(frozen=True, eq=False)
class LawExpressions:
    """Set-valued laws as columns of expressions, a row per element."""

    system: System
    flow: ca.SX
    low: ca.SX
    high: ca.SX
    back: ca.SX
    forth: ca.SX
    gap: ca.SX
    restitution: ca.SX
    effort: ca.SX

    @cached_property
    def rate(self) -> ca.SX:
        """Time derivative of the flow."""
        tape = self.system.tape
        return ca.jtimes(self.flow, tape.x, tape.slope) + ca.jacobian(self.flow, TIME)

    @cached_property
    def flow_x(self) -> ca.SX:
        """How flows follow states."""
        return jacobian(self.flow, self.system.tape.x)

    @cached_property
    def rate_u(self) -> ca.SX:
        """How rates follow inputs."""
        return jacobian(self.rate, self.system.tape.u)

    @cached_property
    def slope_u(self) -> ca.SX:
        """What inputs push."""
        return jacobian(self.system.tape.slope, self.system.tape.u)

    def in_units(self, units: Array) -> LawExpressions:
        """Return the laws with efforts counted in ``units`` and flows such that powers stay."""
        if (units == 1).all():
            return self
        unit = ca.DM(units)
        return replace(self, flow=self.flow * unit, low=self.low / unit, high=self.high / unit,
                       back=self.back / unit, forth=self.forth / unit, effort=self.effort / unit)

    @property
    def sides(self) -> ca.SX:
        """What has the sign of the mode of what slides or is open: flows, and gaps of contacts."""
        contact = [law.is_contact for _, family, law in self.system.network.set_valued
                   for _ in range(family.size)]
        return ca.vertcat(*(-open_gap(self.gap[k], self.flow[k]) if contact[k] else self.flow[k]
                            for k in range(len(contact))))

    @property
    def bounds(self) -> ca.SX:
        """Lower and upper static, lower and upper kinetic bounds, one after the other."""
        return ca.vertcat(self.low, self.high, self.back, self.forth)

    @property
    def endless(self) -> Flags:
        """Elements whose bounds at rest are endless on one side at least."""
        ends = zip(*map(ca.vertsplit, (self.low, self.high)), strict=True)
        return np.array([any(b.is_constant() and np.isinf(float(b)) for b in pair)
                         for pair in ends], dtype=bool)

    @property
    def values(self) -> ca.SX:
        """What :class:`~blocks.nonsmooth.modes.elements.LawValues` holds, in its order."""
        return ca.vertcat(self.flow, self.low, self.high, self.back, self.forth, self.rate,
                          self.gap)  # fmt: skip


def expressions_of(system: System) -> LawExpressions:
    """The set-valued laws of a system, in the order of its elements."""
    writer = system.tape.writer
    rows: list[list[ca.SX]] = [[] for _ in range(8)]
    for f, family, law in system.network.set_valued:
        of_law = [*law.expressions, family.kernel.symbols[law.effort, 0]]
        for row, sx in zip(rows, of_law, strict=True):
            row.append(writer.kernel_row(f, ca.SX(0) if sx is None else sx).T)
    return LawExpressions(system, *(ca.vertcat(*row) for row in rows))


def effort_units(elements: Elements, laws: LawExpressions) -> Array:
    """What one of each effort is, at the parameters that the model has at present.

    Behind ten gears of ratio 5 the same motion is ten million times slower, and the same power a
    torque ten million times as large: what is small there is large here, and no tolerance that
    compares elements says anything. So effort and flow of an element are counted in units of its
    own, such that its own rate per effort D_ii is about that of all others; their product stays
    the power. Units are powers of two, which leave every digit as it is.

    Of elements whose own rate is not known before the run it is 1; so it is beside contacts, whose
    gaps are compared with positions.
    """
    tape, units = laws.system.tape, np.ones(elements.size)
    if elements.size < 2 or elements.contact.any():
        return units
    matrices = [laws.flow_x, laws.slope_u, *(jacobian(given, by) for given, by in (
        (tape.slope, tape.z), (tape.residual, tape.u), (tape.residual, tape.z)))]
    known = ca.Function("matrices", [tape.p], matrices, {"allow_free": True})
    if known.get_free():
        return units
    flow_x, push, by_z, by_u, loops = known(laws.system.parameters())
    if laws.system.nz:  # unknowns of loops follow along
        push -= ca.mtimes(by_z, ca.solve(loops, by_u))
    terms = flow_x.T * push[:, elements.column.tolist()]  # of D's diagonal, state by state
    own, size = (np.abs(np.array(ca.densify(ca.sum1(m))).ravel()) for m in (terms, ca.fabs(terms)))
    live = np.isfinite(own) & (own > TERMS_ROUNDING * size)
    if live.any():
        power = np.zeros(len(own))
        power[live] = np.round(np.log2(own[live]) / 2)
        units[live] = 2.0 ** (np.round(np.median(power[live])) - power[live])
    return units


def one_sided(laws: LawExpressions) -> LawExpressions:
    """Write each law in motion for its own way of sliding.

    There ``abs_(flow)`` is the flow itself, or its negative: so the law has no kink where the
    sliding begins and ends, its derivative there is that of the motion, and viscous friction is
    linear.
    """
    back, forth = (ca.vertcat(*(_with(law, flow, sense) for law, flow in zip(
        ca.vertsplit(all_laws), ca.vertsplit(laws.flow), strict=True)))
        for all_laws, sense in ((laws.back, -1), (laws.forth, 1)))
    return replace(laws, back=back, forth=forth)


def held_in_motion(elements: Elements, laws: LawExpressions, varies: Flags) -> LawExpressions:
    """Laws of which rest ends where motion goes on, rather than stops at once.

    A friction on the nut of a self-locking screw bears some of its load, and takes more from
    the friction in the thread: the larger it is, the less both hold together. Breaking away,
    when it falls to its kinetic force, both would hold again. Such a one has its kinetic bounds
    at rest, too. Elements that ``varies`` says have flows that are no constant combinations of
    states do not count.
    """
    tape, low, high = laws.system.tape, ca.SX(laws.low), ca.SX(laws.high)
    columns, flow_x = elements.column.tolist(), laws.flow_x
    look = ca.Function("look", [tape.p], [ca.densify(flow_x)], {"allow_free": True})
    if not elements.size or look.get_free():
        return laws
    flows = np.array(look(np.random.default_rng(0).uniform(0.5, 1.5, tape.p.shape)))
    flows[varies | elements.contact] = 0.0
    sizes = np.linalg.norm(flows, axis=1, keepdims=True)
    alike = np.abs(flows @ flows.T) >= (1 - ROUNDING) * sizes * np.maximum(sizes, TINY).T
    unit, changed = elements.unit, False
    for k in np.flatnonzero(sizes[:, 0] > 0).tolist():
        group = np.flatnonzero(alike[k] & (sizes[:, 0] > 0))
        if k != group[0] or len(group) < 2:
            continue
        first, members = int(np.flatnonzero(flows[k])[0]), group.tolist()
        ratio = flow_x[members, first] / flow_x[k, first]
        pair = ratio * laws.low[members], ratio * laws.high[members]
        for below in (True, False):  # what all do to the first together, either way
            bounds = ca.if_else(ratio > 0, pair[not below], pair[below])
            by = ca.mtimes(ca.jacobian(bounds, tape.u[[columns[e] for e in members]]),
                           ca.diag(ca.DM(unit[group]) / ratio))
            if not by.nnz():
                continue
            # how all together change with each one's own bound, through one after the other
            holds = ca.SX.ones(len(group))
            for _ in range(THROUGH):
                holds = 1 + ca.mtimes(by.T, holds)
            for i, e in enumerate(members):
                weaker = not (ca.is_equal(laws.low[e], laws.back[e], DEPTH) and ca.is_equal(
                    laws.high[e], laws.forth[e], DEPTH))
                if weaker and not holds[i].is_constant():
                    changed, same = True, ratio[i] > 0 if below else ratio[i] < 0
                    less = holds[i] < 0
                    low[e] = ca.if_else(ca.logic_and(less, same), laws.back[e], low[e])
                    high[e] = ca.if_else(ca.logic_and(less, ca.logic_not(same)), laws.forth[e],
                                         high[e])
    return replace(laws, low=low, high=high) if changed else laws


def _with(law: ca.SX, flow: ca.SX, sense: int) -> ca.SX:
    """A law with ``sense * flow`` for every ``|flow|``."""
    def motion(operation: int, given: list[ca.SX]) -> ca.SX | None:
        same = operation == ca.OP_FABS and ca.is_equal(given[0], flow, DEPTH)
        return sense * flow if same else None

    return rewritten(law, motion)
