"""Whose variables decided the steps of a run, whose relations its events, whose loops iterate?

Found from the record, after the run: it costs the run nothing.

The error of a step is about what a polynomial through the steps before misses of its end
[E. Hairer, S. P. Norsett and G. Wanner, "Solving Ordinary Differential Equations I", 2nd ed.,
sec. III.5: Milne's device]. Whatever the method was, the state that misses it by most, in units
of its tolerance, is the one whose course the steps had to follow.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING

import casadi as ca
import numpy as np

from ..language.kernel import Kernel
from ..numerics.arrays import Array, Indices
from ..numerics.rewriting import contained
from ..results.bottlenecks import Bottleneck, StepShares
from ..system.points import Points
from .wanted import Wanted

if TYPE_CHECKING:
    from .recording import RunRecording

__all__ = ["bottleneck_terms"]

SAMPLED = 400  # steps that are looked at, of all
LOOPED = 40  # and those at which loops are solved again
BEFORE = 5  # ends of steps that the polynomial goes through, at most
FEWEST = 3  # and at least
LEAST = 0.01  # of its tolerance: what is missed by less decided nothing
ROUNDING = 1e-9  # of a term: it does not change
MOST_STATES = 50  # of which it is asked what moves them
MOST_ITERATIONS = 20
EVENTFUL = 0.2  # of all steps: so many events are worth a word
RUBS = "damping; method='moreau_jean' does not stop at contacts and frictions"
#: What makes fewer events, by the sort of law they are of.
FEWER_EVENTS = {
    "friction": RUBS, "contact": RUBS,
    "valve": "a model averaged over its switchings, where these are of no interest",
    "": "a hysteresis; where it is read in periods a ZeroOrderHold before it",
}


def bottleneck_terms(recording: RunRecording) -> tuple[list[Bottleneck], StepShares]:
    """What components did to the pace of a run, the worst first, and what nobody decided."""
    table = recording.episodes.steps
    taken = np.flatnonzero(table.ends > table.starts)
    starts, ends, which = table.starts[taken], table.ends[taken], table.which[taken]
    events = Counter(event.component for event in recording.events)
    iterations = _iterations(recording, ends, which)
    steps, shares = _decided(recording, starts, ends, which)
    count, terms = len(taken), []
    laws = {family.path(k): law.words for family in recording.system.network.families
            for law in family.kernel.set_valued[:1] for k in range(family.size)}
    for name in {*(mover for mover, _, _ in steps if mover), *events, *iterations}:
        spans = [h for mover, _, h in steps if mover == name]
        moved = Counter(state for mover, state, _ in steps if mover == name)
        share = len(spans) / max(len(steps), 1) * shares[0]
        length = float(np.median(spans)) if spans else np.nan
        iterated = iterations.get(name, 0.0)
        terms.append(Bottleneck(
            name, share, length, moved.most_common(1)[0][0] if moved else "",
            events[name], iterated,
            _advice(recording, laws.get(name, ""), share, events[name] / max(count, 1), iterated)))
    terms.sort(key=lambda x: (-max(x.steps, x.events / max(count, 1), 0.01 * x.iterations),
                              x.component))
    return terms, StepShares(count, shares[1], shares[2])


# -- steps ---------------------------------------------------------------------------------
@dataclass(frozen=True)
class _Step:
    """A step that is looked at."""

    length: float  # in s
    weights: Array  # of the ends of steps before it, in a polynomial's value at its end
    points: list[int]  # where these ends, and its own, stand among all times that are asked for

    def missed(self, values: Array) -> Array:
        """By how much the polynomials through rows of values miss the last one."""
        out: Array = np.abs(values[:, self.points[:-1]] @ self.weights - values[:, self.points[-1]])
        return out


def _decided(recording: RunRecording, starts: Array, ends: Array, which: Indices
             ) -> tuple[list[tuple[str, str, float]], tuple[float, float, float]]:
    """Whose motion decided some of the steps, by which state, and how long they were; "" where
    none did.

    Also the shares of all steps that were looked at, followed a restart, or were cut short.
    """
    first = np.append(True, np.diff(which) != 0) if len(which) else np.zeros(0, dtype=bool)
    begun = np.maximum.accumulate(np.where(first, np.arange(len(which)), 0))
    place = np.arange(len(which)) - begun  # of a step in its episode
    able = np.flatnonzero(place >= FEWEST - 1)
    part = len(able) / max(len(which), 1)
    if not len(able) or not recording.system.nx or recording.accuracy is None:
        return [], (0.0, 1.0 - part, part)
    if len(able) > SAMPLED:
        able = able[np.linspace(0, len(able) - 1, SAMPLED).astype(int)]
    steps, times, episodes = _sample_times(starts, ends, which, able, place[able])
    x = recording.replay.interpolated(times, episodes)[0].x
    rtol, tolerances = recording.accuracy
    absolute = tolerances.of_states(recording.problem)
    missed = np.nan_to_num([s.missed(x) / (absolute + rtol * np.abs(x[:, s.points[-1]]))
                            for s in steps])
    worst = np.argmax(missed, axis=1)
    clear = missed.max(axis=1) > LEAST
    states = [int(i) if ok else -1 for i, ok in zip(worst, clear, strict=True)]
    names = _movers(recording, steps, states, times, episodes)
    found = [(name, recording.system.state_name(i) if i >= 0 else "", step.length)
             for name, i, step in zip(names, states, steps, strict=True)]
    return found, (part, 1.0 - part, part * float(np.mean(~clear)))


def _sample_times(starts: Array, ends: Array, which: Indices, chosen: Indices, place: Indices
                  ) -> tuple[list[_Step], Array, Indices]:
    """Some steps with those before them; times at which they are looked at, and their episodes."""
    spans = [(int(which[k]), [float(starts[k - before]), *ends[k - before : k + 1].tolist()])
             for k, before in zip(chosen.tolist(), np.minimum(place, BEFORE - 1).tolist(),
                                  strict=True)]
    asked = sorted({(episode, t) for episode, times in spans for t in times})
    number = {one: j for j, one in enumerate(asked)}
    steps = [_Step(times[-1] - times[-2], _extrapolation(np.array(times)),
                   [number[episode, t] for t in times]) for episode, times in spans]
    return steps, np.array([t for _, t in asked]), np.array([e for e, _ in asked])


def _extrapolation(times: Array) -> Array:
    """Lagrange's weights of all times but the last, for the value there."""
    before, at = times[:-1], times[-1]
    return np.array([np.prod([(at - b) / (a - b) for b in before if b != a]) for a in before])


def _movers(recording: RunRecording, steps: list[_Step], states: list[int], times: Array,
            episodes: Indices) -> list[str]:
    """The component that moves the state of each step so, "" where there is none (-1).

    The slope of a mass is a sum over what acts on it. What is multiplied by a parameter or an
    effort belongs to the component of that: of these terms the one that polynomials miss by most.
    Where there is none, the state's own component.
    """
    system = recording.system
    owners = {i: _component(recording, system.state_name(i)) for i in {*states} - {-1}}
    often = [i for i, _ in Counter(i for i in states if i >= 0).most_common(MOST_STATES)]
    factors = ca.vertcat(system.tape.p, system.tape.u)
    by_factor = ca.jacobian(system.tape.slope[often], factors)
    row, column = (np.array(k, dtype=int) for k in by_factor.sparsity().get_triplet())
    if not len(row):
        return [owners.get(i, "") for i in states]
    terms = ca.vec(by_factor.nz[:]) * factors[column.tolist()]
    values = recording.evaluate(system.function("terms", terms), Wanted.by(system, terms), times,
                                episodes)
    whose = _owners_of_factors(recording)
    names = []
    for step, i in zip(steps, states, strict=True):
        mine = np.flatnonzero(row == often.index(i)) if i in often else np.zeros(0, dtype=int)
        others = [k for k in mine if whose[column[k]] not in (owners[i], "")]
        missed = step.missed(values[others]) if others else np.zeros(1)
        moves = missed.max() > ROUNDING * np.abs(values[others]).max(initial=0.0)
        names.append(whose[column[others[int(np.argmax(missed))]]] if moves else owners.get(i, ""))
    return names


def _owners_of_factors(recording: RunRecording) -> list[str]:
    """Components of all parameters, and of all set-valued efforts."""
    system, laws = recording.system, recording.problem.laws
    out = [path for path, _ in system.parameter_names()] + [""] * system.nu
    if laws is not None:
        for e, place in enumerate(laws.elements.column.tolist()):
            f, i = laws.elements.owners[e]
            out[len(recording.p) + place] = system.network.families[f].path(i)
    return out


# -- loops ---------------------------------------------------------------------------------
def _iterations(recording: RunRecording, ends: Array, which: Indices) -> dict[str, float]:
    """Share of the Newton iterations by the components that make loops nonlinear.

    Some of the steps are solved again at their ends, block by block, from where they began.
    """
    system = recording.system
    if not system.nz or system.linear or len(ends) < 2:
        return {}
    some = np.unique(np.linspace(1, len(ends) - 1, LOOPED).astype(int))
    some = some[which[some] == which[some - 1]]
    if not len(some):
        return {}
    wanted = Wanted.all_of(system, split=False)
    now, before = (recording.replay.points(ends[k], which[k], wanted) for k in (some, some - 1))
    spent: dict[str, float] = {}
    for span in recording.problem.unknowns.blocks():
        needed = sum(_needed(recording, now, before, j, span) for j in range(len(some)))
        owners = _benders(recording, span)
        for name in owners:
            spent[name] = spent.get(name, 0.0) + needed * (span.stop - span.start) / len(owners)
    whole = sum(spent.values())
    return {name: n / whole for name, n in spent.items()} if whole else {}


def _benders(recording: RunRecording, span: slice) -> set[str]:
    """Components with nonlinear equations whose parameters stand in a loop; else those of its
    unknowns."""
    system = recording.system
    inside = np.flatnonzero(contained(system.tape.p, system.tape.residual[span]))
    bent = {family.path(i) for family in system.network.families if _is_bent(family.kernel)
            for i in range(family.size)}
    whose = _owners_of_factors(recording)
    return {whose[k] for k in inside} & bent or {
        _component(recording, system.torn_name(i)) for i in range(span.start, span.stop)}


def _is_bent(kernel: Kernel) -> bool:
    """Whether an equation of a class is not linear in its variables."""
    variables = ca.vertcat(*kernel.symbols.values())
    residuals = ca.vertcat(*(law.residual for law in kernel.laws))
    slopes = ca.vec(ca.jacobian(residuals, variables).nz[:])
    return bool(ca.jacobian(slopes, variables).nnz())


def _needed(recording: RunRecording, now: Points, before: Points, j: int, span: slice) -> int:
    """Iterations of Newton's method for a block, from the values at the step's start."""
    z = now.z[:, j].copy()
    z[span] = before.z[span, j]
    return recording.problem.unknowns.solve_block((
        float(now.t[j]), now.x[:, j], z, recording.p, now.m[:, j], now.d[:, j], now.u[:, j]),
        span) or MOST_ITERATIONS


# -- words ---------------------------------------------------------------------------------
def _component(recording: RunRecording, path: str) -> str:
    """Path of the component that a variable belongs to."""
    path = path.removeprefix("der(").removesuffix(")")
    info = recording.catalog.get(path)
    return path.rpartition(".")[0] if info is None else info.component


def _advice(recording: RunRecording, law: str, share: float, eventful: float, iterated: float
            ) -> str:
    """What would help."""
    told = []
    if share > 0.1:
        told.append("method='rodas4' if its quick motion is of no interest; else make it "
                    "softer, or rigid" if recording.is_explicit else
                    "a larger rtol, or make it softer, slower or damped")
    if eventful > EVENTFUL:
        told.append(FEWER_EVENTS[law])
    if iterated > 0.1:
        told.append("a small mass, inductance or capacity in the loop makes it a state")
    return "; ".join(told)
