"""Does a part of a model move far less than its nominal values expect?

Then the absolute tolerances that follow from them hide its motion. A body that creeps on friction,
or that only rounding moves, moves as little, but what acts on it is no smaller than elsewhere: in
a circuit that is small altogether all flows are, too.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from ..exceptions import warn_user
from ..language.domain import Domain
from ..numerics.arrays import Array, Indices
from ..results.recording import NominalWarning
from ..units import Quantity, from_si, quantity

if TYPE_CHECKING:

    from .recording import RunRecording

__all__ = ["warn_of_unresolved_motion"]

RESOLVED = 100.0  # absolute tolerances: a motion of so many is followed to a percent of itself
ROUNDING = 1e-3  # the same of what may be rounding
MOST, TIMES = 1000, 100  # flows of a circuit, and times, that are looked at
SMALL = 1e-4  # of 1 in SI units: flows below that are far from what nominal values expect


def warn_of_unresolved_motion(recording: RunRecording, x: Array) -> None:
    """Warn of states (states, times) that stay within a few absolute tolerances.

    Of those alone in whose circuits all flows are small as well.
    """
    if recording.accuracy is None:
        return
    allowed = recording.accuracy[1].of_states(recording.problem)
    largest = np.abs(x).max(axis=1, initial=0.0)
    small = np.flatnonzero((largest < RESOLVED * allowed) & (largest > ROUNDING * allowed))
    circuits = _Circuits(recording)
    owners = {int(i): owner for i in small if (owner := _owner(recording, int(i))) is not None}
    unresolved = [i for i, (family, instance, _) in owners.items()
                  if circuits.are_small(family, instance)]
    if not unresolved:
        return
    worst = min(unresolved, key=lambda i: largest[i] / allowed[i])
    motion, error = (_shown(v[worst], owners[worst][2]) for v in (largest, allowed))
    more = f", like {len(unresolved) - 1} more," if len(unresolved) > 1 else ""
    warn_user(
        f"{recording.name}: {recording.system.state_name(worst)}{more} never exceeds {motion}, "
        f"and may be off by {error}: that absolute tolerance follows from its nominal value. "
        f"Say how large it is expected to be, such as model.nominal_values('{motion}'), or give "
        f"simulate(atol=…).", NominalWarning,
    )  # fmt: skip


class _Circuits:
    """Circuits of a run, each looked at once."""

    def __init__(self, recording: RunRecording) -> None:
        self.recording, self.network = recording, recording.system.network
        self.labels: dict[Domain, Indices] = {}  # of nodes
        self.found: dict[tuple[Domain, int], bool] = {}

    def are_small(self, family: int, instance: int) -> bool:
        """Whether all flows of all circuits of a component are small, and some are not zero."""
        network, own = self.network, set()
        for port, (domain, _) in network.families[family].kernel.ports.items():
            if domain not in self.labels:
                self.labels[domain] = network.circuits(domain)
            node = network.node_of[network.port_numbers(family, port)[instance]]
            own.add((domain, int(self.labels[domain][node])))
        for one in own - self.found.keys():
            self.found[one] = self._is_small(*one)
        return bool(own) and all(self.found[one] for one in own)

    def _is_small(self, domain: Domain, circuit: int) -> bool:
        recording, network, flows = self.recording, self.network, []
        for f, family in enumerate(network.families):
            for port, (of, _) in family.kernel.ports.items():
                if of == domain:
                    labels = self.labels[domain][network.node_of[network.port_numbers(f, port)]]
                    flows += [recording.catalog.info(
                        f, family.kernel.index[f"{port}.{flow}"], int(i)).index
                        for flow in domain.through for i in np.flatnonzero(labels == circuit)]
        if len(flows) > MOST:  # a wave may not have got to all of them
            return False
        times = recording.times
        largest = np.abs(recording.values(flows, times[:: 1 + len(times) // TIMES]))
        return bool(0.0 < largest.max(initial=0.0) < SMALL)


def _owner(recording: RunRecording, state: int) -> tuple[int, int, Quantity] | None:
    """Family and instance of the component that a state is named after, and 1 in SI units of it;
    None where no component declares it."""
    system = recording.system
    if (slot := system.class_names.slot.get(int(system.tape.reduced.states[state]))) is None:
        return None
    held = system.flat.at_slot(slot)
    one = from_si(1.0, held.local.unit) / quantity("1 s") ** held.order
    return held.number, held.instance, one


def _shown(size: float, one: Quantity) -> str:
    shown = (one * float(f"{size:.2g}")).to_compact()
    return f"{shown.magnitude:.6g} {shown.units:~P}"
