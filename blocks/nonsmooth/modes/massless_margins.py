"""How far are elements at nodes without mass from the end of their modes?

Where the modes leave inputs open, elements at rest share internal stress as those of bodies do
(:mod:`blocks.nonsmooth.complementarity.islands_at_rest`); what their efforts can change is what is
not open. Beside ideal elements what a gear with losses can hold follows what a brake on its shaft
bears.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from ...numerics.arrays import Array, Flags, Indices
from ...numerics.copies import put_back
from ...numerics.tolerances import (
    CLEAR,
    LAST_BITS,
    LEAST_SIZE,
    MODE_MARGIN_NONE,
    NOISE_FACTOR,
    ROUNDING,
    SAME_AS_BEFORE,
    TERMS_ROUNDING,
    TINY,
)
from ...system import Problem
from ...system.points import Points
from ..complementarity import Island, share_of, shares_at_times, stress_groups
from ..complementarity.scaling import dense_block
from ..contract import IndeterminateGroup
from .bound_functions import BoundFunctions, bounds_by_taken
from .held_network import rounding_of, slack_of
from .islands import LEAST_SHARE
from .massless_efforts import MasslessEfforts

__all__ = ["MasslessMargins", "MasslessStress"]

ENDLESS = 1e4  # times the largest effort: as good as no bound
LOOKS = 5  # points at which groups are looked for, which may turn with the states
ROUNDS = 25  # until bounds no longer change their pieces


@dataclass(frozen=True)
class StressGroup:
    """Elements that share internal stress: efforts, and the inputs that change them."""

    members: Indices
    efforts: Array
    inputs: Array

    @cached_property
    def felt(self) -> Array:
        """What changes of efforts do beside internal stress."""
        basis = np.linalg.qr(self.efforts)[0]
        felt = np.eye(len(self.members)) - basis @ basis.T
        none = felt.diagonal() <= TERMS_ROUNDING  # across one node, say
        felt[none], felt[:, none] = 0.0, 0.0
        return np.asarray(felt)

    def by(self, change: Array) -> Array:
        """What has to be taken more for a change of efforts."""
        return np.asarray(self.inputs @ np.linalg.lstsq(self.efforts, change)[0])


class MasslessStress:
    """Internal stress of stuck elements: in parallel, say, where efforts change no flow at all."""

    def __init__(self, efforts: MasslessEfforts) -> None:
        self.efforts, self.equations = efforts, efforts.equations
        self.elements, self.state = efforts.elements, efforts.state
        self.system = efforts.system
        self._last: tuple[Array, list[StressGroup]] | None = None  # by directions left open

    def of_modes(self, problem: Problem, t: float) -> list[StressGroup]:
        """Groups of stuck elements that share internal stress in the present modes."""
        null = self.equations.open_inputs(problem, t, self.state.modes)
        if not null.shape[1]:
            return []
        if self._last is None or self._last[0] is not null:
            efforts, _ = self.equations.by_taken(problem, t, null)
            acts = np.abs(efforts).max(axis=0) > SAME_AS_BEFORE * np.abs(null).max(axis=0)
            null, whole, efforts = null[:, acts], null, efforts[:, acts]
            self._last = whole, [
                StressGroup(members, basis[members],
                             null @ np.linalg.lstsq(efforts, basis, rcond=None)[0])
                for members, basis in stress_groups(efforts)]  # fmt: skip
        return self._last[1]

    @cached_property
    def bounds(self) -> BoundFunctions:
        """How bounds follow what elements take."""
        return bounds_by_taken(self.system)

    def follow(self, group: StressGroup) -> bool:
        """Whether bounds of a group follow anything that elements take."""
        return bool(self.bounds.dependent[group.members].any())

    def split(self, problem: Problem, t: float) -> None:
        """Where the motion leaves efforts open, let them be as they are shared."""
        for group in self.of_modes(problem, t):
            self.take(problem, t, group)

    def margin(self, problem: Problem, t: float, group: StressGroup) -> float:
        """The share of half the range that is left to a group, whatever the split."""
        with put_back(problem.u, problem.z):
            return self.take(problem, t, group)

    def take(self, problem: Problem, t: float, group: StressGroup) -> float:
        """Leave the problem at the shares of a group; returns its margin."""
        pieces: Array | None = None
        for _ in range(ROUNDS):
            island, effort = self._island(problem, t, group)
            slopes = np.stack([island.L, island.H])
            if pieces is not None and np.allclose(slopes, pieces, SAME_AS_BEFORE, ROUNDING):
                break
            found, pieces = share_of(island), slopes
            self.efforts.change(problem, group.by(found.effort - effort))
            if not slopes.any():
                break
            problem.solve_algebraic(t)
        low, high = island.bounds(found.effort)
        half = (high - low) / 2
        half = np.maximum(TINY, np.where(np.isfinite(half), half, np.abs(found.effort).max()))
        if found.loose.any():
            return -float((np.abs(island.rate - island.D @ found.effort) / half.max()).max())
        inside = found.ends == 0
        margin = np.minimum(high - found.effort, found.effort - low) / half
        return float(margin[inside].min(initial=np.inf))

    def _island(self, problem: Problem, t: float, group: StressGroup) -> tuple[Island, Array]:
        """What a group shares, and present efforts."""
        effort, low, high = self.bounded(self.equations.values(problem, t)[:, group.members])
        L, H = np.zeros((2, *group.felt.shape))
        if self.follow(group):
            every, inverse = np.arange(self.elements.size), np.linalg.pinv(group.efforts)
            L, H = (dense_block(s, group.members, every) @ group.inputs @ inverse
                    for s in self.bounds.slopes(problem, t)[:2])
        return Island(group.felt, group.felt @ effort, low - L @ effort, high - H @ effort, L, H
                      ), effort

    def split_at(self, problem: Problem, points: Points) -> None:
        """Share the internal stress of stuck elements at many points, whose inputs are changed."""
        at, whole = problem.copy_for_reading(), None
        for modes, every in points.modes:
            self.state.modes = modes
            for columns in points.alike(every):
                groups = self.of_modes(at, points.put(columns[0], at))
                if not groups:
                    continue
                if not self.equations.constant or any(map(self.follow, groups)):
                    for column in columns:
                        self.split(at, points.put(column, at))
                        points.u[:, column] = at.u
                    continue
                if whole is None:
                    whole = points.values(self.equations.all_values).reshape(
                        10, self.elements.size, -1)
                for group in groups:
                    values = whole[:4, group.members][:, :, columns]
                    effort, low, high = self.bounded(values)
                    none = np.zeros(group.felt.shape)
                    step = shares_at_times(Island(
                        group.felt, group.felt @ effort, low, high, none, none)) - effort
                    points.u[self.elements.column[:, None], columns] += (
                        group.by(step) * self.elements.unit[:, None])

    def are_open(self, problem: Problem, points: Points) -> Flags:
        """At which points there may be such groups, as some of those with the same modes tell."""
        at, out = problem.copy_for_reading(), np.zeros(len(points), dtype=bool)
        for modes, every in points.modes:
            self.state.modes = modes
            for columns in points.alike(every) if (modes == 0).any() else ():
                few = np.linspace(0, len(columns) - 1, LOOKS).astype(int)
                out[columns] = any(self.of_modes(at, points.put(k, at)) for k in columns[few])
        return out

    @staticmethod
    def bounded(values: Array) -> tuple[Array, Array, Array]:
        """Efforts of a group and their bounds; far ones where there are none on either side."""
        _, effort, low, high, *_ = values
        far = ENDLESS * np.maximum(np.abs(effort).max(axis=0, initial=0.0), TINY)
        closed = np.isinf(low) & np.isinf(high)
        return effort, np.where(closed, -far, low), np.where(closed, far, high)

    def groups(self, problem: Problem, t: float) -> list[IndeterminateGroup]:
        """Groups of stuck elements whose split the motion leaves open, with their efforts."""
        effort = self.equations.values(problem, t)[1]
        return [(self.elements.labels(group.members), effort[group.members])
                for group in self.of_modes(problem, t)]


class MasslessMargins:
    """Switching functions of the present modes, and what counts as large."""

    def __init__(self, efforts: MasslessEfforts, stress: MasslessStress) -> None:
        self.efforts, self.stress = efforts, stress
        self.equations, self.state = efforts.equations, efforts.state
        system = efforts.system
        self._flow_x = system.once("flow by states", lambda: system.jacobian(
            self.equations.side, system.tape.x))

    def present(self, problem: Problem, t: float) -> Array:
        """Negative where a mode no longer holds: sliding backwards, or over a bound."""
        state = self.state
        flow, effort, low, high, *_ = self.equations.values(problem, t)
        state.notice(flow, effort)
        stuck = state.modes == 0
        out = np.where(stuck, np.minimum(high - effort, effort - low), state.modes * flow)
        # at a bound, or with no flow, for good: rounding ends no mode
        out += slack_of(state, self.efforts.elements)
        for group in self.stress.of_modes(problem, t):
            members = group.members
            _, *bounds = self.stress.bounded(np.stack([flow, effort, low, high])[:, members])
            # of the group: who bears nothing in this split is not at its end
            width = np.where(np.isfinite(high - low)[members], (high - low)[members],
                             np.abs(effort[members]).max())
            half = np.maximum(width, TINY) / 2
            margin = float((np.minimum(bounds[1] - effort[members], effort[members] - bounds[0])
                          / half).min())
            if margin <= CLEAR:  # a split within the bounds would be proof
                margin = self.stress.margin(problem, t, group)
            out[members] = margin * half
        if self.efforts.elements.switch.any():
            opened, closed = self.equations.told(problem, t)
            out[opened | closed] = 1.0  # whatever it is, it does not change
        return out

    def at_end(self, size: Array) -> Array:
        """Margins up to which the present modes are at their end: a current that is rounding, and
        falls, has died out."""
        return MODE_MARGIN_NONE * size + 2.0 * rounding_of(self.state)

    def noise(self, problem: Problem, t: float) -> Array:
        """What the last digits of states, parameters, time and inputs make of every margin.

        The voltage of a diode between two halves of a bridge that are alike is nothing but that;
        so is that beside a closed switch, which the rest of a current through 1e-8 S tells of.
        """
        x, p, stuck = problem.x.copy(), problem.p.copy(), self.state.modes == 0

        def given(last_digits: float) -> Array:
            for values, exact in ((problem.x, x), (problem.p, p)):
                values[:] = exact * (1.0 + last_digits * (-1.0) ** np.arange(len(exact)))
            self.efforts.apply(problem, t * (1.0 + last_digits))
            problem.u *= 1.0 + last_digits * (-1.0) ** np.arange(len(problem.u))
            flow, effort, *_ = self.equations.values(problem, t * (1.0 + last_digits))
            return np.where(stuck, effort, flow)

        with put_back(problem.x, problem.p, problem.u):
            return NOISE_FACTOR * np.abs(given(LAST_BITS) - given(-LAST_BITS))

    def missed(self, problem: Problem, t: float) -> float:
        """The largest share of its size by which the present modes miss what they hold constant.

        What the problem takes is that of the present modes.
        """
        held = self.equations.at(problem, t, self.state.modes)
        if not np.any(held.violation):
            return 0.0
        far = np.maximum(np.abs(problem.x), LEAST_SHARE * problem.scale_x)
        by_x = self.equations.by_x(problem, t, self.state.modes)[1]
        size = np.maximum(np.abs(held.made.weight) @ self.sizes(problem, t)[1], np.abs(by_x) @ far)
        return float((np.abs(held.violation) / np.maximum(size, TINY)).max())

    def least_strength(self, problem: Problem, t: float) -> Array:
        """What counts as an effort at all: a small part of what the states may come to."""
        far = np.maximum(np.abs(problem.x), LEAST_SHARE * problem.scale_x)
        by_states = self.stress.efforts.by_states(problem, t)
        return LEAST_SIZE * self.state.largest_of_kinds(by_states @ far)

    def least_speed(self, problem: Problem, t: float) -> Array:
        """What counts as a flow at all, likewise."""
        far = np.maximum(np.abs(problem.x), LEAST_SHARE * problem.scale_x)
        by_states = abs(self._flow_x.sparse(*problem.arguments(t)))
        return LEAST_SIZE * self.state.largest_of_kinds(by_states @ far)

    def sizes(self, problem: Problem, t: float) -> tuple[Array, Array]:
        """What counts as large: for every element's margin, and for what it gives."""
        state = self.state
        flow, effort, low, high, *_ = self.equations.values(problem, t)
        fast = np.maximum(state.largest_of_kinds(flow), np.maximum(
            state.fast, self.least_speed(problem, t) + TINY))
        width = np.where(np.isfinite(high - low), high - low, state.strong)
        strong = np.maximum(state.largest_of_kinds(effort), state.strong)
        width = np.maximum(width, LEAST_SIZE * strong + TINY)
        stuck = state.modes == 0
        return np.where(stuck, width, fast), np.where(stuck, fast, width)
