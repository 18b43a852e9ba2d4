"""What do modes of elements at nodes without mass come to? Found without leaving machine code.

Each element states one equation (:mod:`blocks.nonsmooth.modes.mode_equations`), linear in what
elements take. They are reduced, the largest entry first; combinations of them that contain nothing
of that say something about the states, and give way to their rates. What then is open, or uncertain
by rounding, is left to others.
"""

from __future__ import annotations

import numpy as np

from ..machine.functions import machine_code
from ..nonsmooth.modes.islands import NetworkModes
from ..numerics.tolerances import MODE_MARGIN_NONE, SAFE_PIVOT, TERMS_ROUNDING

__all__ = ["EFFORT", "FLOW", "HIGH", "LOW", "MISSED", "OPEN", "TELLS", "UNSURE",
           "VALUES", "fill_row", "is_told", "note_idle", "refuse_impulses"]  # fmt: skip

FLOW, EFFORT, LOW, HIGH, MISSED = range(5)
VALUES = 5  # of an element, one row each
GIVEN, BACK, FORTH = range(3)  # blocks of rows of ``by_taken``; those of their rates come behind
RATES = 3
TELLS, OPEN, UNSURE = 1, 0, -1


@machine_code
def fill_row(network: NetworkModes, island: int, row: int, parasitic: float) -> int:
    """Fill a row with what an island's guessed modes come to: TELLS, or OPEN or UNSURE, where these
    leave something open, or others must say.

    ``parasitic`` is of what yields everywhere a little, in SI units such as ohm and siemens; 0.0
    for none. With it, the combinations that say something about states stay those of the row.
    """
    first, members = network.starts[island], network.members
    size, width = network.starts[island + 1] - first, network.own.shape[0]
    own, by_value, by_rate, by_missed = (
        network.own, network.by_value, network.by_rate, network.by_missed)
    for a in range(size):
        for b in range(size):
            own[a, b] = _change(network, members[first + a], members[first + b], 0)
            by_value[a, b] = 1.0 if a == b else 0.0
            by_rate[a, b] = by_missed[a, b] = 0.0
        if _follows(network, members[first + a]):
            own[a, a] -= parasitic
        network.pivot[a] = network.place[a] = network.combined[a] = -1
    if not _reduce(network, size):
        return UNSURE
    count = 0
    for a in range(size):
        if network.place[a] < 0:
            if not _differentiate(network, island, row, a, count):
                return UNSURE
            network.combined[a] = count
            count += 1
    for c in range(count, size if parasitic == 0.0 else 0):
        for b in range(size):
            network.weight[row, c * width + b] = 0.0
    if count > 0 and not _reduce(network, size):
        return UNSURE
    for b in range(size):
        if network.pivot[b] < 0:
            return OPEN
    states, slopes = network.scale.size, 2 * RATES * network.modes.size
    for i in range(states):
        for c in range(width):
            value = 0.0
            for b in range(size if c < count else 0):
                value += by_missed[network.pivot[b], c] * network.by_taken[
                    slopes + i, members[first + b]]
            network.move[row, i * width + c] = value
    network.measured[row] = False
    for a in range(size):
        e = members[first + a]
        network.kept_modes[row, a], network.noise[row, a] = network.guess[e], 0.0
        network.kept_constants[row, a] = 1.0 if network.switch[e] and is_told(network, e) else 0.0
        network.kept_constants[row, size + a] = 0.0  # put in where it is tried
    at = 2 * size
    for b in range(size):
        for a in range(size):
            value, rate = -by_value[network.pivot[a], b], -by_rate[network.pivot[a], b]
            if network.curved[0]:  # what is taken is solved for: by the same equations
                c = network.combined[a]
                value = 1.0 if c < 0 and a == b else 0.0
                rate = network.weight[row, c * width + b] if c >= 0 else 0.0
            network.kept_constants[row, at] = value
            network.kept_constants[row, at + size * size] = rate
            at += 1
    last = network.entry_starts[island + 1] - network.entry_starts[island]
    for k in range(at + size * size, last):
        network.kept_constants[row, k] = 0.0
    first = network.relation_starts[island]
    for k in range(first, network.relation_starts[island + 1]):
        network.kept_m[row, k - first] = network.guess_m[network.relations[k]]
    return TELLS


@machine_code
def note_idle(network: NetworkModes, island: int) -> None:
    """Note whose equations, of a row that was just filled, say nothing that others do not say;
    nobody where another mode of one element would not mend that."""
    first, left = network.starts[island], -1
    size = network.starts[island + 1] - first
    several = False
    for a in range(size):
        if network.place[a] < 0:
            several, left = left >= 0, a
    for b in range(size):
        network.idle[network.members[first + b]] = not several and (
            network.by_value[left, b] != 0.0 or network.by_rate[left, b] != 0.0)


@machine_code
def is_told(network: NetworkModes, e: int) -> bool:
    """Whether the bounds of a switch tell its mode: equal where it is open, none where closed."""
    low = network.found[LOW * network.modes.size + e]
    high = network.found[HIGH * network.modes.size + e]
    return low == high or low == -np.inf and high == np.inf


@machine_code
def refuse_impulses(network: NetworkModes, island: int, row: int) -> None:
    """Say who is against the modes of a row where states are not as these hold them: impulses would
    have to bring them there, which neither let what is open or slides go on in its sense, nor leave
    what sticks within its bounds.
    """
    first, members, n = network.starts[island], network.members, network.modes.size
    size, found, taken = network.starts[island + 1] - first, network.found, network.taken
    if not network.known[1] or fill_row(
            network, island, network.owner.size - network.present.size + island, 0.0) != TELLS:
        return
    for a in range(size):
        taken[a] = 0.0
        for b in range(size):
            taken[a] -= network.by_rate[network.pivot[a], b] * found[
                MISSED * n + members[first + b]]
    efforts = flows = 0.0
    for a in range(size):
        e, effort, flow = members[first + a], taken[a], 0.0
        for b in range(size):
            flow += network.by_taken[GIVEN * n + e, members[first + b]] * taken[b]
        if network.gives_flow[e]:
            effort, flow = flow, effort
        network.given[EFFORT, a], network.given[FLOW, a] = effort, flow
        efforts, flows = max(efforts, abs(effort)), max(flows, abs(flow))
    for a in range(size):
        e = members[first + a]
        effort, flow = network.given[EFFORT, a], network.given[FLOW, a]
        if network.kept_constants[row, a] != 0.0:
            continue  # a condition tells its mode
        if network.guess[e] != 0.0:
            network.against[e] = network.guess[e] * flow < -MODE_MARGIN_NONE * flows
        elif abs(effort) > MODE_MARGIN_NONE * efforts:
            bound = found[(HIGH if effort > 0.0 else LOW) * n + e]
            if np.isfinite(bound):
                network.against[e] = True
                found[EFFORT * n + e] = np.inf if effort > 0.0 else -np.inf


@machine_code
def _is_alike(network: NetworkModes, e: int) -> bool:
    """Whether the equation of an element in its guessed mode follows states by constants."""
    mode, alike = network.guess[e], network.alike
    return (not _follows(network, e) or alike[GIVEN, e] != 0.0) and (
        mode == 0.0 or alike[FORTH if mode > 0.0 else BACK, e] != 0.0)


@machine_code
def _change(network: NetworkModes, e: int, j: int, rates: int) -> float:
    """How the equation of an element in its guessed mode follows what another takes; or its rate,
    with ``rates`` = RATES."""
    n, mode, value = network.modes.size, network.guess[e], 0.0
    if _follows(network, e):
        value = network.by_taken[(rates + GIVEN) * n + e, j]
    elif e == j and rates == 0:
        value = 1.0
    if mode > 0.0:
        value -= network.by_taken[(rates + FORTH) * n + e, j]
    elif mode < 0.0:
        value -= network.by_taken[(rates + BACK) * n + e, j]
    return value


@machine_code
def _follows(network: NetworkModes, e: int) -> bool:
    """Whether the equation of an element in its guessed mode is about what it gives."""
    return network.gives_flow[e] == (network.guess[e] != 0.0)


@machine_code
def _reduce(network: NetworkModes, size: int) -> bool:
    """Make what rows have left to say that of one member each; False where rounding decides that.

    Rows and columns are measured by their largest entries.
    """
    own, sizes, pivot, place = network.own, network.sizes, network.pivot, network.place
    for b in range(size):
        sizes[b] = 0.0
    for a in range(size):
        largest = 0.0
        for b in range(size if place[a] < 0 else 0):
            if pivot[b] < 0:
                largest = max(largest, abs(own[a, b]))
        if largest > 0.0:
            _multiply(network, a, 1.0 / largest, size)
            for b in range(size):
                if pivot[b] < 0:
                    sizes[b] = max(sizes[b], abs(own[a, b]))
    while True:
        best, row, column = TERMS_ROUNDING, -1, -1
        for a in range(size):
            if place[a] < 0:
                for b in range(size):
                    if pivot[b] < 0 and abs(own[a, b]) > best * sizes[b]:
                        best, row, column = abs(own[a, b]) / sizes[b], a, b
        if row < 0:
            return True
        if best < SAFE_PIVOT:
            return False
        pivot[column], place[row] = row, column
        _multiply(network, row, 1.0 / own[row, column], size)
        for a in range(size):
            if a != row and own[a, column] != 0.0:
                _subtract(network, a, row, own[a, column], size)
                own[a, column] = 0.0


@machine_code
def _multiply(network: NetworkModes, a: int, factor: float, size: int) -> None:
    """Multiply a row."""
    for b in range(size):
        network.own[a, b] *= factor
        network.by_value[a, b] *= factor
        network.by_rate[a, b] *= factor
        network.by_missed[a, b] *= factor


@machine_code
def _subtract(network: NetworkModes, a: int, other: int, factor: float, size: int) -> None:
    """Take a multiple of another row away from a row."""
    for b in range(size):
        network.own[a, b] -= factor * network.own[other, b]
        network.by_value[a, b] -= factor * network.by_value[other, b]
        network.by_rate[a, b] -= factor * network.by_rate[other, b]
        network.by_missed[a, b] -= factor * network.by_missed[other, b]


@machine_code
def _differentiate(network: NetworkModes, island: int, row: int, a: int, number: int) -> bool:
    """Let a combination that contains nothing taken give way to its rate; False where elements of
    other islands move that."""
    first, members, own = network.starts[island], network.members, network.own
    size, width = network.starts[island + 1] - first, network.own.shape[0]
    largest = 0.0
    for b in range(size):
        largest = max(largest, abs(network.by_value[a, b]))
    for b in range(size):
        share = network.by_value[a, b]
        if abs(share) <= TERMS_ROUNDING * largest:
            share = 0.0
        if share != 0.0 and network.curved[0] and not _is_alike(network, members[first + b]):
            return False
        network.weight[row, number * width + b] = network.by_rate[a, b] = share
        network.by_value[a, b], own[a, b] = 0.0, 0.0
        network.by_missed[a, b] = 1.0 if b == number else 0.0
    for k in range(members.size):
        value, terms = 0.0, 0.0
        for b in range(size):
            share = network.by_rate[a, b]
            if share != 0.0:
                change = share * _change(network, members[first + b], members[k], RATES)
                value += change
                terms += abs(change)
        if abs(value) <= TERMS_ROUNDING * terms:
            value = 0.0
        if first <= k < first + size:
            own[a, k - first] = value
        elif value != 0.0:
            return False
    for b in range(size):
        if network.pivot[b] >= 0 and own[a, b] != 0.0:
            _subtract(network, a, network.pivot[b], own[a, b], size)
            own[a, b] = 0.0
    return True
