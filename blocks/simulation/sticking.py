"""Which frictions stuck, for how long, how far did they creep, and what did they share?

Exact frictions have modes. Others come near to sticking: of these, the variables are looked at
that a friction component declares for the purpose, ``strength_at_rest``, ``band_of_rest`` and,
where it knows it, ``load``.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

import numpy as np

from ..numerics.arrays import Array, Flags
from ..numerics.tolerances import TINY
from ..results.sticking import SharedLoad, StickTerm
from .catalog import rests

if TYPE_CHECKING:
    from ..results.recording import EnergyTerm
    from .recording import RunRecording

__all__ = ["shared_loads", "sticking_terms"]


def sticking_terms(recording: RunRecording, energy: Sequence[EnergyTerm]) -> list[StickTerm]:
    """Sticking of every friction over a run, exact or nearly."""
    lost = {t.component: t.dissipated + t.carried for t in energy}
    exact = list(_exact_terms(recording, lost))
    named = {term.component for term in exact}
    return exact + [t for t in _creep_terms(recording, lost) if t.component not in named]


def _exact_terms(recording: RunRecording, lost: dict[str, float]) -> Iterator[StickTerm]:
    """One term for every component whose laws have modes."""
    laws = recording.problem.laws
    if laws is None or not laws.size:
        return
    episodes = recording.episodes
    spans, modes = episodes.ends - episodes.starts, episodes.modes
    for f, groups in recording.catalog.elements.by_family.items():
        family = recording.system.network.families[f]
        for instance in range(family.size):
            stuck = rests(groups, modes, instance)
            away = int(np.sum(stuck[:-1] & ~stuck[1:]))
            name = family.path(instance)
            share = float(spans[stuck].sum() / spans.sum()) if spans.sum() else float(stuck[-1])
            yield StickTerm(name, share, away, _longest(stuck, spans), lost.get(name, 0.0))


def _creep_terms(recording: RunRecording, lost: dict[str, float]) -> Iterator[StickTerm]:
    """What frictions that do not stick did at rest, from the recorded times."""
    times = recording.times
    for f, family in enumerate(recording.system.network.families):
        index = family.kernel.index
        domain = getattr(family.members[0], "_branch_domain", None)
        if domain is None or not {"strength_at_rest", "band_of_rest"} <= index.keys():
            continue
        effort, flow = next(iter(domain.through)), next(iter(domain.across))
        names = [effort, flow, "strength_at_rest", "band_of_rest",
                 "load" if "load" in index else effort,
                 *({"energy_stored"} & index.keys())]  # fmt: skip
        for instance in range(family.size):
            rows = [recording.catalog.info(f, index[name], instance).index for name in names]
            yield _creep_term(family.path(instance), times, recording.values(rows), lost)


def _creep_term(path: str, t: Array, rows: Array, lost: dict[str, float]) -> StickTerm:
    effort, flow, strength, band, load, *energy = rows
    bears, span, whole = np.abs(load) < strength, np.diff(t), t[-1] - t[0]
    rest = bears & (np.abs(flow) <= band)
    still = span * (rest[1:] & rest[:-1])
    power = np.minimum(effort * flow, 0.0)
    way, gave = still @ (flow[1:] + flow[:-1]) / 2, -still @ (power[1:] + power[:-1]) / 2
    # bristles that bear the strength F at z have stored F z/2; beyond it a slip is above z/10
    most = 4 * np.max(energy, initial=0.0) / max(strength.max(), TINY)
    rest = _with_springing(rest, t, flow, np.where(bears, most, most / 20))
    still = rest[1:] & rest[:-1]
    share = float(span[still].sum() / whole) if whole else float(rest[-1])
    return StickTerm(path, share, int(np.sum(rest[:-1] & ~rest[1:])), _longest(still, span),
                     lost.get(path, 0.0), float(way), float(gave))


def _with_springing(rest: Flags, t: Array, flow: Array, way: Array) -> Flags:
    """When a friction rests, or springs on its bristles by no more than a ``way`` in between that
    its load allows; what has let go rests no more as long as it gets faster."""
    rest, slows = rest.copy(), np.flatnonzero(np.diff(np.abs(flow)) < 0) + 1
    place = np.append(0.0, np.cumsum(np.diff(t) * (flow[1:] + flow[:-1]) / 2))
    leaves = np.flatnonzero(rest[:-1] & ~rest[1:])
    comes = np.append(np.flatnonzero(~rest[:-1] & rest[1:]) + 1, len(rest))
    for begin, end in zip(leaves, comes[np.searchsorted(comes, leaves, "right")], strict=True):
        if np.abs(place[begin : end + 1] - place[begin]).max() <= way[begin + 1]:
            rest[begin:end] = True
        else:
            rest[end : np.append(slows, len(rest))[np.searchsorted(slows, end)]] = False
    return rest


def _longest(held: Flags, spans: Array) -> float:
    """The longest time without a break."""
    longest = run = 0.0
    for at_rest, span in zip(held, spans, strict=True):
        run = run + span if at_rest else 0.0
        longest = max(longest, run)
    return float(longest)


def shared_loads(recording: RunRecording) -> list[SharedLoad]:
    """Efforts at rest that the motion does not determine."""
    found: list[SharedLoad] = []
    last: dict[tuple[str, ...], int] = {}
    if recording.problem.laws is None:
        return found
    starts, ends = recording.episodes.starts, recording.episodes.ends
    middles = (starts + ends) / 2
    for begun, ended, middle, groups in zip(
            starts.tolist(), ends.tolist(), middles.tolist(),
            recording.indeterminate_groups(middles), strict=True):
        present = {}
        for names, efforts in groups:
            members = tuple(names)
            k = present[members] = last.get(members, len(found))
            start = found[k].start if members in last else begun
            shared = SharedLoad(members, start, ended, middle, tuple(efforts.tolist()))
            found[k:k + 1] = [shared]
        last = present
    return found
