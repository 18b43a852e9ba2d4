"""Which modes follow in a network without mass at its nodes? Decided without leaving machine code.

Whatever has come to the end of its mode changes it, then whatever breaks its law or is about to,
one time after the other, until all hold now and an instant later, as
:class:`blocks.nonsmooth.modes.mode_search.ModeSearch` judges it. Where such modes leave something
open (diodes in series that block in any share), one diode is in another mode. Else Python searches.
What modes come to is found by :mod:`.mode_rows`, or was found by the search, and kept.
"""

from __future__ import annotations

import numpy as np

from ..machine.functions import machine_code
from ..machine.signatures import vector_at
from ..nonsmooth.modes.islands import LEAST_SHARE, UNLOADED, NetworkModes
from ..numerics.arrays import Vector
from ..numerics.tolerances import (
    CLEAR,
    ENDED_MARGIN,
    INSTANT,
    LAST_BITS,
    LATER_MARGIN,
    LEAST_SIZE,
    MODE_MARGIN_CLEAR,
    MODE_MARGIN_NONE,
    MODE_MISSED,
    NOISE,
    NOISE_FACTOR,
    SHORT_TIME,
    TERMS_ROUNDING,
    TINY,
)
from .mode_rows import (
    EFFORT,
    FLOW,
    HIGH,
    LOW,
    MISSED,
    OPEN,
    TELLS,
    UNSURE,
    VALUES,
    fill_row,
    is_told,
    note_idle,
    refuse_impulses,
)
from .network_strikes import BROUGHT, strike_beside
from .stages import WORK
from .step_control import is_any
from .steps import Code, Workspace, are_finite, values_at
from .through_loops import follow_loops
from .zero_crossings import LARGEST, SPARE, Relations

__all__ = ["choose_network_modes", "ends_by_rounding", "enters_new_modes", "notice_margins"]

MARGIN, SIZE, EQUAL = range(3)  # rows of room
PARASITIC = 1e-6  # in SI units, such as ohm and siemens
MOST_EXCHANGES = 12  # of all that leave a mode, one time after the other
#: Shares of sizes by which margins may be negative, and what modes hold may be off: none but for
#: rounding; the same where modes hold for less than an instant; little; the run's own error, too.
DEGREES, BRIEF, LITTLE, DRIFT = 4, 1, 2, 3
FARTHER = 100.0  # times as far ahead is looked again, and times rounding is clear of it


@machine_code
def notice_margins(relations: Relations, network: NetworkModes) -> None:
    """Take note of the largest flows, efforts and crossing functions since the last event."""
    largest, n = relations.looks[LARGEST], network.modes.size
    network.struck[:], network.hit[:] = 0.0, False
    for r in range(network.joint.size):
        if network.joint[r] and np.isfinite(largest[r]):
            network.farthest[r] = max(network.farthest[r], largest[r])
    first = largest.size - n
    for e in range(n):
        told = network.constants[e]
        which, kind = 1 if network.modes[e] == 0.0 else 0, network.kinds[e]
        if told == 0.0 and np.isfinite(largest[first + e]) and (which == 0 or network.endless[e]):
            network.largest[which, kind] = max(network.largest[which, kind], largest[first + e])


@machine_code
def choose_network_modes(code: Code, work: Workspace, relations: Relations, network: NetworkModes,
                         t: float, x: Vector, crossed: bool) -> bool:
    """Choose the modes at an event; False where others must decide, with modes changed.

    ``x`` is the point: states that modes hold are brought to their values. ``crossed``: whether
    margins have become negative; else a known instant has changed something.
    """
    islands = network.present.size
    for island in range(islands):
        if network.present[island] < 0:
            return False
    _evaluate(code, work, network, t, x)
    if crossed and not strike_beside(code, work, relations, network, t, x):
        return False
    _look_at_sizes(code, work, network, t, x)
    _evaluate(code, work, network, t, x)
    _measure(network)
    for island in range(islands):
        if _missed(network, island, network.present[island]) <= network.drift[0]:
            _bring(network, x, island, network.present[island])  # what the integration has let go
        network.ended[island] = crossed and _has_ended(relations, network, island)
    network.before[:], network.known[:] = network.m, not network.curved[0]
    for degree in range(DEGREES):
        if _exchange(code, work, relations, network, t, x, crossed, degree):
            return True
    return False


@machine_code
def _exchange(code: Code, work: Workspace, relations: Relations, network: NetworkModes, t: float,
              x: Vector, crossed: bool, degree: int) -> bool:
    """Take modes that follow the present ones by exchanges, as a degree allows; whether such are
    found.

    Where closed diodes have come to the end of one split of what they bear, another one may hold.
    """
    islands = network.present.size
    if _rest_at_end(code, work, relations, network, t, x, crossed):
        _take(code, work, relations, network, t, x)
        return True
    for island in range(islands):
        if network.other[island] == 0:
            _spare(network, island)
            _let_share(network, island)
    for _ in range(MOST_EXCHANGES + network.modes.size):
        _leave(network)
        network.m[:] = network.guess_m
        _know_coefficients(code, work, network, t, x)
        if is_any(network.switch):
            _evaluate(code, work, network, t, x)
            _obey_conditions(network)
        for island in range(islands):
            row = network.row[island]
            if not (network.searched[island] or network.other[island] >= 0 or _is_guessed(
                    network, island, row, True)):
                row = _found_row(network, island)
                network.searched[island] = row < 0
                if row < 0:
                    row = _row_of(network, island, -1, False)
            if row < 0:
                return False
            network.row[island] = row
        if _all_hold(code, work, relations, network, t, x, degree):
            if not _let_idle_rest(code, work, relations, network, t, x, degree):
                return False
            _take(code, work, relations, network, t, x)
            return True
        if not _try_another(network):
            return False
    return False


@machine_code
def _let_idle_rest(code: Code, work: Workspace, relations: Relations, network: NetworkModes,
                   t: float, x: Vector, degree: int) -> bool:
    """Let friction rest that others keep from moving in modes that hold, if that holds too: both
    carry the load then. False where others must tell."""
    some, last = False, network.last_row
    last[:] = network.row
    for island in range(network.present.size):
        first, rests = network.starts[island], False
        for k in range(first, network.starts[island + 1]):
            e = network.members[k]
            network.guess[e] = network.kept_modes[network.row[island], k - first]
            if network.idles[e]:
                network.guess[e], rests = 0.0, True
        if rests:
            row, found = _told_row(network, island)
            if found != TELLS:
                return False
            network.row[island], some = row, True
    if some and not _all_hold(code, work, relations, network, t, x, degree):
        network.row[:] = last
        for island in range(network.present.size):
            _put(network, island, last[island])
    return True


@machine_code
def _rest_at_end(code: Code, work: Workspace, relations: Relations, network: NetworkModes, t: float,
                 x: Vector, crossed: bool) -> bool:
    """Name who leaves the present modes: what has come to its end, and what comes to it with that;
    whether all of it rests there, as what carries nothing does, and has done so since its last
    event."""
    n, first = network.modes.size, relations.wrong.size - network.modes.size
    for island in range(network.present.size):
        network.row[island], network.searched[island] = network.present[island], False
        network.other[island] = -1
        _put(network, island, network.row[island])
    network.m[:] = network.before
    network.guess[:], network.guess_m[:] = network.modes, network.before
    _evaluate(code, work, network, t, x)
    _measure(network)
    known, near, rests = True, False, crossed
    for island in range(network.present.size):
        known &= _is_guessed(network, island, network.row[island], True)
        for k in range(network.starts[island], network.starts[island + 1]):
            e = network.members[k]
            slides, wrong = network.modes[e] != 0.0, crossed and relations.wrong[first + e]
            near |= network.ended[island] and slides and not wrong and (
                _margin(network, e) <= _at_end(network, e, MODE_MARGIN_CLEAR))
            rests &= not wrong or not slides and (
                relations.looks[LARGEST, first + e] <= 2.0 * network.constants[n + e])
            if network.ended[island] and network.constants[e] == UNLOADED:
                network.other[island] = 0  # another split of what is borne may hold
    for r in range(network.m.size):
        rests &= not (network.joint[r] and relations.wrong[r])
    network.against[:], network.turned[:] = False, False
    if known and (near or rests) and _all_hold(code, work, relations, network, t, x, 0) and (
            rests):
        return True
    for e in range(n):
        network.against[e] |= crossed and relations.wrong[first + e]
        if network.hit[e]:
            network.guess[e], network.against[e] = network.hit_mode[e], False
    for r in range(network.m.size):
        network.turned[r] |= crossed and network.joint[r] and relations.wrong[r]
    return False


@machine_code
def _leave(network: NetworkModes) -> None:
    """Guess the modes that those elements and relations enter which leave theirs."""
    for e in range(network.modes.size):
        if network.against[e]:
            network.guess[e] = _entered(network, e, network.guess[e])
    for r in range(network.m.size):
        if network.turned[r]:
            network.guess_m[r] = 1.0 - network.guess_m[r]


@machine_code
def _entered(network: NetworkModes, e: int, mode: float) -> float:
    """The mode that an element enters which leaves one."""
    n, found = network.modes.size, network.found
    if mode != 0.0:
        return 0.0
    effort = found[EFFORT * n + e]
    return 1.0 if found[HIGH * n + e] - effort <= effort - found[LOW * n + e] else -1.0


@machine_code
def _know_coefficients(code: Code, work: Workspace, network: NetworkModes, t: float, x: Vector
                       ) -> None:
    """Find what equations follow of what is taken, where guessed relations change that, or the
    point does and a row is missing."""
    others = False
    for island in range(0 if network.known[0] else network.present.size):
        others |= network.other[island] < 0 and not network.searched[island] and (
            _row_of(network, island, -1, True) < 0)
    for r in range(network.known_m.size if network.known[0] and network.coefficients != 0 else 0):
        others |= network.by_relations[r] and network.guess_m[r] != network.known_m[r]
    if others:
        network.known_m[:], network.known[0] = network.guess_m, True
        values_at(code, work, network.coefficients, t, x, network.changing)
        by, width = network.by_taken, network.by_taken.shape[1]
        if network.curved[0]:
            by[:, :] = 0.0
        for k in range(network.changing.size):
            by[network.changing_at[k] // width, network.changing_at[k] % width] = (
                network.changing[k])
        network.known[1] = are_finite(network.changing) and follow_loops(network)


@machine_code
def _obey_conditions(network: NetworkModes) -> None:
    """Guess the modes of switches as their conditions say."""
    n, found = network.modes.size, network.found
    for e in range(n):
        if network.switch[e] and is_told(network, e):
            network.guess[e] = -1.0 if found[LOW * n + e] == found[HIGH * n + e] else 0.0


@machine_code
def _is_guessed(network: NetworkModes, island: int, row: int, modes: bool) -> bool:
    """Whether a row is of an island, in its guessed relations and, if asked, ``modes``."""
    first = network.starts[island]
    if network.owner[row] != island:
        return False
    for k in range(first, network.starts[island + 1] if modes else first):
        if network.kept_modes[row, k - first] != network.guess[network.members[k]]:
            return False
    first = network.relation_starts[island]
    for k in range(first, network.relation_starts[island + 1]):
        if network.kept_m[row, k - first] != network.guess_m[network.relations[k]]:
            return False
    return True


@machine_code
def _row_of(network: NetworkModes, island: int, after: int, modes: bool) -> int:
    """The next row of an island in its guessed relations and, if asked, ``modes``; or -1."""
    for row in range(after + 1, network.owner.size - network.present.size):
        if _is_guessed(network, island, row, modes):
            return row
    return -1


@machine_code
def _found_row(network: NetworkModes, island: int) -> int:
    """A row of an island in its guessed modes, filled where none was kept; -1 where that fails.

    Where modes leave something open it is the last but so many rows, with parasitics everywhere: it
    says who is against these modes, if they contradict the states.
    """
    row, found = _told_row(network, island)
    if found == OPEN:
        note_idle(network, island)
        trial = network.owner.size - network.present.size + island
        network.weight[trial, :] = network.weight[row]
        row, found = trial, fill_row(network, island, trial, PARASITIC)
    return row if found == TELLS else -1


@machine_code
def _let_share(network: NetworkModes, island: int) -> None:
    """Look for splits of what an island bears in its guessed modes."""
    if network.known[1]:
        fill_row(network, island, network.owner.size - network.present.size + island, 0.0)
        note_idle(network, island)
    network.row[island] = _next_beside_guess(network, island)


@machine_code
def _told_row(network: NetworkModes, island: int) -> tuple[int, int]:
    """A row of an island in its guessed modes, kept or filled now, and what that comes to."""
    row, found = _row_of(network, island, -1, True), TELLS
    if row < 0:
        found = UNSURE
        if network.known[1]:
            row = _free_row(network)
            found = fill_row(network, island, row, 0.0)
            if found == TELLS:
                network.owner[row] = island
    return row, found


@machine_code
def _next_beside_guess(network: NetworkModes, island: int) -> int:
    """The next row in which modes are those that ``yields`` has, or one diode or friction is in
    another mode than guessed, and nothing is left open; behind the last of them the first row of
    the island in any modes: all may be tried."""
    first, n, found, row = network.starts[island], network.modes.size, network.found, -1
    if network.yielding[island]:
        network.yielding[island] = False
        _swap_with_yields(network, island)
        row, tells = _told_row(network, island)
        _swap_with_yields(network, island)
        if tells == TELLS:
            return row
        row = -1
    while row < 0 and network.other[island] < 2 * (network.starts[island + 1] - first):
        e, forth = network.members[first + network.other[island] // 2], network.other[island] % 2
        network.other[island] += 1
        low, high, guess = found[LOW * n + e], found[HIGH * n + e], network.guess[e]
        may = np.isfinite(high) if forth == 1 else np.isfinite(low)
        if guess != 0.0:
            may = forth == 0
        if network.idle[e] and not network.contact[e] and may:
            network.guess[e] = 0.0 if guess != 0.0 else 1.0 if forth == 1 else -1.0
            row, tells = _told_row(network, island)
            if tells != TELLS:
                row = -1
            network.guess[e] = guess
    if row < 0:
        network.other[island], network.searched[island] = -1, True
        row = _row_of(network, island, -1, False)
    return row


@machine_code
def _swap_with_yields(network: NetworkModes, island: int) -> None:
    """Exchange the guessed modes of an island for those that yielding says."""
    for k in range(network.starts[island], network.starts[island + 1]):
        e = network.members[k]
        network.guess[e], network.yields[e] = network.yields[e], network.guess[e]


@machine_code
def _free_row(network: NetworkModes) -> int:
    """A row that nobody needs: an empty one, or else in turn one that is kept."""
    last = network.owner.size - network.present.size
    for row in range(last):
        if network.owner[row] < 0:
            return row
    used = True
    while used:
        network.turn[0] = (network.turn[0] + 1) % last
        used = False
        for island in range(network.present.size):
            used |= network.turn[0] == network.present[island] or (
                network.turn[0] == network.row[island])
    network.owner[network.turn[0]] = -1
    return network.turn[0]


@machine_code
def _spare(network: NetworkModes, island: int) -> None:
    """Nobody of an island is to change its mode."""
    for k in range(network.starts[island], network.starts[island + 1]):
        network.against[network.members[k]] = False
    for k in range(network.relation_starts[island], network.relation_starts[island + 1]):
        network.turned[network.relations[k]] = False


@machine_code
def _try_another(network: NetworkModes) -> bool:
    """Whether there is more to try: another row of the same modes for one that does not hold, or
    modes without those who are against them. Of one whose guessed modes nobody knows, or does not
    say who is against, all rows.
    """
    more, named = False, is_any(network.against) or is_any(network.turned)
    for island in range(network.present.size):
        if not network.holds[island] and network.other[island] >= 0:
            network.row[island], more = _next_beside_guess(network, island), True
            _spare(network, island)
        elif not network.holds[island]:
            other = _row_of(network, island, network.row[island], not network.searched[island])
            if other < 0 and not named and not network.searched[island]:
                network.searched[island] = True
                other = _row_of(network, island, -1, False)
            if other >= 0 or network.searched[island]:
                network.row[island], more = other, more or other >= 0
                _spare(network, island)
    return more or is_any(network.against) or is_any(network.turned)


@machine_code
def enters_new_modes(network: NetworkModes) -> bool:
    """Whether modes have been entered that nobody else has seen; told once."""
    new = network.entered.size > 0 and network.entered[0]
    if new:
        network.entered[0] = False
    return new


@machine_code
def _has_ended(relations: Relations, network: NetworkModes, island: int) -> bool:
    """Whether an element of an island has come to the end of its mode, or a relation beside it."""
    ended = False
    for k in range(network.starts[island], network.starts[island + 1]):
        ended |= relations.wrong[relations.wrong.size - network.modes.size + network.members[k]]
    for k in range(network.relation_starts[island], network.relation_starts[island + 1]):
        r = network.relations[k]
        ended |= network.joint[r] and relations.wrong[r]
    return ended


@machine_code
def ends_by_rounding(code: Code, work: Workspace, relations: Relations, network: NetworkModes,
                     t: float, x: Vector) -> bool:
    """Name the elements that have come to the end of their mode but for rounding; whether any has.

    A margin may be below zero by rounding before the mode ends, and a condition on what the element
    takes, which is the same value, crosses a little before that.
    """
    n, first, ended = network.modes.size, relations.wrong.size - network.modes.size, False
    _evaluate(code, work, network, t, x)
    for e in range(n):
        near = 2.0 * network.constants[n + e]
        at_end = network.constants[e] == 0.0 and _margin(network, e) <= near and (
            relations.looks[LARGEST, first + e] > FARTHER * near)  # and has not been there before
        relations.wrong[first + e] = at_end
        ended |= at_end
    return ended


@machine_code
def _missed(network: NetworkModes, island: int, row: int) -> float:
    """The largest share of its size by which what the modes of an island hold constant is off."""
    found, worst, first = network.found, 0.0, network.starts[island]
    n, width = network.starts[island + 1] - first, network.kept_modes.shape[1]
    for c in range(n):
        missed, size = 0.0, 0.0
        for a in range(n):
            share = network.weight[row, c * width + a]
            if share != 0.0:
                e = network.members[first + a]
                missed += share * found[MISSED * network.modes.size + e]
                size += abs(share) * max(network.room[EQUAL, e], network.at_sizes[e])
        if np.isnan(missed):
            return np.inf
        if abs(missed) > worst * size:
            worst = abs(missed) / size
    return worst


@machine_code
def _bring(network: NetworkModes, x: Vector, island: int, row: int) -> None:
    """Bring what the modes of an island hold constant to its value, as it was found last."""
    found, first = network.found, network.starts[island]
    n, width = network.starts[island + 1] - first, network.kept_modes.shape[1]
    for c in range(n):
        missed = 0.0
        for a in range(n):
            missed += network.weight[row, c * width + a] * found[
                MISSED * network.modes.size + network.members[first + a]]
        if missed != 0.0:
            for i in range(network.move.shape[1] // width):
                x[i] -= network.move[row, i * width + c] * missed


@machine_code
def _put(network: NetworkModes, island: int, row: int) -> None:
    """Make the modes of a row those of an island, with the relations that go with them."""
    n, first = network.modes.size, network.relation_starts[island]
    for k in range(first, network.relation_starts[island + 1]):
        network.m[network.relations[k]] = network.kept_m[row, k - first]
    first = network.entry_starts[island]
    for k in range(first, network.entry_starts[island + 1]):
        network.constants[network.entries[k]] = network.kept_constants[row, k - first]
    first = network.starts[island]
    for k in range(first, network.starts[island + 1]):
        e = network.members[k]
        network.modes[e] = network.kept_modes[row, k - first]
        fast, strong = network.largest[0, network.kinds[e]], network.largest[1, network.kinds[e]]
        slack, row_of = NOISE * fast + network.least_flow[e], 1
        if network.modes[e] == 0.0:
            slack, row_of = NOISE * strong, 0
        network.constants[n + e] = slack + network.noise_so_far[row_of, e]


@machine_code
def _evaluate(code: Code, work: Workspace, network: NetworkModes, t: float, x: Vector) -> None:
    """What elements come to in the present modes."""
    values_at(code, work, network.values, t, x, network.found)


@machine_code
def _crossing_functions(code: Code, work: Workspace, network: NetworkModes, t: float, x: Vector,
                        out: Vector) -> None:
    """Crossing functions, positive where relations are as they are held."""
    values_at(code, work, code.crossings, t, x, out)
    for r in range(network.joint.size):
        if network.m[r] <= 0.5:
            out[r] = -out[r]


@machine_code
def _all_hold(code: Code, work: Workspace, relations: Relations, network: NetworkModes, t: float,
              given: Vector, degree: int) -> bool:
    """Whether the rows that are tried obey all laws at an instant and, where that is close, also
    after it; says so island by island, and who does not.

    For less than that will do where they may be brief; and an element that has ended its mode may
    only go on in it where it leads away from its end. Where what modes hold constant is off, they
    are judged with that brought to its value.
    """
    n, found, room, point = network.modes.size, network.found, network.room, work.k[WORK]
    x, allowed, off = work.k[BROUGHT], MODE_MISSED, False
    if degree == DRIFT:
        allowed = network.drift[0]
    x[:] = given
    for island in range(network.present.size):
        _put(network, island, network.row[island])
    _evaluate(code, work, network, t, x)
    _measure(network)
    for island in range(network.present.size):
        missed = _missed(network, island, network.row[island])
        network.holds[island] = missed <= allowed
        if network.holds[island] and missed > TERMS_ROUNDING:
            _bring(network, x, island, network.row[island])
            off = True
    if off:
        _evaluate(code, work, network, t, x)
    for e in range(n):
        room[MARGIN, e] = _margin(network, e)
        network.against[e] = network.unloads[e] = False
    for r in range(network.m.size):
        network.turned[r] = False
    now, later = relations.looks[SPARE], relations.looks[SPARE + 1]
    _crossing_functions(code, work, network, t, x, now)
    hold = True
    for i in range(found.size):
        hold &= not np.isnan(found[i])
    for island in range(network.present.size):
        network.holds[island] = hold and _holds_now(network, island, now, degree)
    for island in range(network.present.size):
        hold &= network.holds[island]
    if not hold:
        return False
    fast, far = 0.0, LEAST_SIZE
    for i in range(network.move.shape[1] // network.kept_modes.shape[1]):
        fast = max(fast, abs(found[VALUES * n + i]))
        far = max(far, abs(x[i]))
    h = SHORT_TIME
    if fast > 0.0:
        h = min(INSTANT * far / fast, h)
    for i in range(x.size):
        point[i] = x[i] + h * found[VALUES * n + i]
    _evaluate(code, work, network, t + h, point)
    _crossing_functions(code, work, network, t + h, point, later)
    for island in range(network.present.size):
        network.holds[island] = _holds_later(relations, network, island, h, now, later, degree)
        hold &= network.holds[island]
    hold = hold and _lead_away(code, work, relations, network, t, x, h)
    for island in range(network.present.size if hold else 0):
        network.holds[island] = _is_unloaded(network, island)
        hold &= network.holds[island]
    return hold


@machine_code
def _lead_away(code: Code, work: Workspace, relations: Relations, network: NetworkModes, t: float,
               x: Vector, h: float) -> bool:
    """Whether elements that have ended their mode and are to go on in it lead away from its end,
    and those that are as good as closed stay there.

    Where rounding is all that an instant ``h`` shows, as beside a coil without a current, it is
    looked farther ahead.
    """
    n, found, point = network.modes.size, network.found, work.k[WORK]
    away, looking = True, True
    while looking:
        unseen = False
        for island in range(network.present.size):
            first = network.starts[island]
            for k in range(first, network.starts[island + 1]):
                e, noise = network.members[k], network.noise[network.row[island], k - first]
                change = _margin(network, e) - network.room[MARGIN, e]
                rebounds = network.contact[e] and network.modes[e] != 0.0
                goes_on = not rebounds and _goes_on(relations, network, island, k) and (
                    network.room[MARGIN, e] <= _at_end(network, e, MODE_MARGIN_NONE))
                if goes_on or network.unloads[e]:
                    network.against[e] = change < -noise or network.unloads[e] and change > noise
                    network.holds[island] &= not network.against[e]
                    unseen |= abs(change) <= noise
            away &= network.holds[island]
        looking = unseen and away and h < SHORT_TIME
        if looking:
            h = min(FARTHER * h, SHORT_TIME)
            for i in range(x.size):
                point[i] = x[i] + h * found[VALUES * n + i]
            _evaluate(code, work, network, t + h, point)
    return away


@machine_code
def _goes_on(relations: Relations, network: NetworkModes, island: int, k: int) -> bool:
    """Whether a member of an island has ended its mode and is to go on in it, in the row tried."""
    first, modes = network.starts[island], network.kept_modes
    crossed = relations.wrong[relations.wrong.size - network.modes.size + network.members[k]]
    return network.ended[island] and crossed and (
        modes[network.present[island], k - first] == modes[network.row[island], k - first])


@machine_code
def _holds_now(network: NetworkModes, island: int, now: Vector, degree: int) -> bool:
    """Whether an island obeys its laws in the row that is tried; not where that is no number."""
    row, first, room = network.row[island], network.starts[island], network.room
    holds, allowed = network.holds[island], MODE_MARGIN_CLEAR
    if degree >= LITTLE:
        allowed = MODE_MARGIN_NONE
    tried = network.owner[row] != island  # which says something where states are contradicted alone
    if tried and holds:  # what is left open, what yields a little may say, or another mode of one
        for k in range(first, network.starts[island + 1]):
            e = network.members[k]
            network.yields[e] = network.guess[e]
            if room[MARGIN, e] < -CLEAR * PARASITIC * room[SIZE, e]:
                network.yields[e] = _entered(network, e, network.guess[e])
                network.yielding[island] = True
        network.other[island] = 0
        return False
    if not holds and not tried:
        refuse_impulses(network, island, row)
    for k in range(first, network.starts[island + 1] if holds or tried else first):
        e = network.members[k]
        network.against[e] = not room[MARGIN, e] >= (
            -allowed * room[SIZE, e] - network.noise[row, k - first])
    return holds and not _is_anyone_against(network, island, now, now, 0.0)


@machine_code
def _holds_later(relations: Relations, network: NetworkModes, island: int, h: float, now: Vector,
                 later: Vector, degree: int) -> bool:
    """Whether what is close to its end in an island leads away from there within an instant."""
    row, first, room = network.row[island], network.starts[island], network.room
    n, found = network.modes.size, network.found
    # what is closed here shares, but where closed switches carry it all
    shares = network.searched[island] or network.other[island] >= 0
    for k in range(first, network.starts[island + 1]):
        shares &= not (network.constants[network.members[k]] == 1.0 and (
            network.modes[network.members[k]] == 0.0))
    for k in range(first, network.starts[island + 1]):
        e, noise = network.members[k], network.noise[row, k - first]
        margin, size = room[MARGIN, e], room[SIZE, e]
        close = noise if degree == BRIEF else _at_end(network, e, MODE_MARGIN_NONE)
        least = ENDED_MARGIN if _goes_on(relations, network, island, k) else LATER_MARGIN
        change = _margin(network, e) - margin
        network.against[e] = margin <= close and change < -least * h * size - noise
        unloaded = network.kept_constants[network.present[island], k - first] == UNLOADED
        network.unloads[e] = shares and network.modes[e] != 0.0 and network.guess[e] == 0.0 and (
            not unloaded and margin <= _at_end(network, e, MODE_MARGIN_NONE)) and (
            change <= ENDED_MARGIN * h * size + noise)  # it is as good as closed: it shares
        network.against[e] |= network.unloads[e] and abs(change) > noise
        network.idles[e] = network.friction[e] and network.modes[e] != 0.0 and (
            found[LOW * n + e] < found[HIGH * n + e] and margin <= _at_end(
                network, e, MODE_MARGIN_NONE)) and (
            abs(change) <= ENDED_MARGIN * h * size + noise)
    holds = not _is_anyone_against(network, island, now, later, h)
    if not holds and network.other[island] >= 0:  # whoever leaves these enters another one
        network.yielding[island] = True
        for k in range(first, network.starts[island + 1]):
            e = network.members[k]
            network.yields[e] = network.modes[e]
            if network.against[e]:
                network.yields[e] = _entered(network, e, network.modes[e])
    return holds


@machine_code
def _is_unloaded(network: NetworkModes, island: int) -> bool:
    """Whether closed diodes of an island may bear nothing that are as good as open, so that others
    have a split: the row that is tried says so then."""
    first, last, row = network.starts[island], network.starts[island + 1], network.row[island]
    some, alike, found = False, True, TELLS
    for k in range(first, last):
        e = network.members[k]
        if network.unloads[e]:
            network.guess[e], some = -1.0, True
        alike &= network.kept_modes[row, k - first] == network.guess[e]
    if some:
        row, found = _free_row(network), UNSURE
    if some and alike and network.known[1]:
        found = fill_row(network, island, row, 0.0)
    for k in range(first, last):
        e = network.members[k]
        if network.unloads[e]:
            network.guess[e], network.kept_modes[row, k - first] = 0.0, 0.0
            network.kept_constants[row, k - first] = UNLOADED
    if found == TELLS:
        network.owner[row], network.row[island] = island, row
    return found == TELLS


@machine_code
def _is_anyone_against(network: NetworkModes, island: int, now: Vector, later: Vector, h: float
                       ) -> bool:
    """Whether an element of an island is against modes, or a relation that they decide on: now, or,
    where it is close to its end, within an instant ``h``."""
    against = False
    for k in range(network.starts[island], network.starts[island + 1]):
        against |= network.against[network.members[k]]
    for k in range(network.relation_starts[island], network.relation_starts[island + 1]):
        r = network.relations[k]
        near = MODE_MARGIN_NONE * network.farthest[r]
        wrong = not now[r] >= -near
        if h > 0.0:
            wrong = now[r] <= near and later[r] - now[r] < (-LATER_MARGIN * h * network.farthest[r])
        network.turned[r] |= network.joint[r] and wrong
        against |= network.turned[r]
    return against


@machine_code
def _look_at_sizes(code: Code, work: Workspace, network: NetworkModes, t: float, x: Vector) -> None:
    """Find how large what elements give may be by the sizes of states."""
    for i in range(network.scale.size):
        network.at_sizes[network.modes.size + i] = max(
            abs(x[i]), LEAST_SHARE * network.scale[i])
    values_at(code, work, network.sizes_of_given, t, x, network.at_sizes)


@machine_code
def _measure(network: NetworkModes) -> None:
    """What counts as large: for the margin of every element, and for what its mode holds."""
    n, found, room, now = network.modes.size, network.found, network.room, network.largest_now
    now[:, :] = network.largest
    for e in range(n):
        kind = network.kinds[e]
        now[0, kind] = max(now[0, kind], abs(found[FLOW * n + e]))
        now[1, kind] = max(now[1, kind], abs(found[EFFORT * n + e]))
    for e in range(n):
        kind = network.kinds[e]
        fast, width = now[0, kind] + TINY, found[HIGH * n + e] - found[LOW * n + e]
        if not width < np.inf:
            width = network.largest[1, kind]
        width = max(width, LEAST_SIZE * now[1, kind] + TINY)
        stuck = network.modes[e] == 0.0 and network.constants[e] != UNLOADED
        room[SIZE, e] = width if stuck else fast
        room[EQUAL, e] = fast if stuck else width


@machine_code
def _margin(network: NetworkModes, e: int) -> float:
    """How far an element is from the end of its mode."""
    n, found = network.modes.size, network.found
    if network.constants[e] != 0.0:
        return 1.0
    margin = network.modes[e] * found[FLOW * n + e]
    if network.modes[e] == 0.0:
        effort = found[EFFORT * n + e]
        margin = min(found[HIGH * n + e] - effort, effort - found[LOW * n + e])
    return margin + network.constants[n + e]


@machine_code
def _measure_noise(code: Code, work: Workspace, network: NetworkModes, t: float, x: Vector) -> None:
    """What the last digits of states, parameters, time and what is taken make of margins in rows
    that are new."""
    new, n, found, point = False, network.modes.size, network.found, work.k[WORK]
    for island in range(network.present.size):
        new |= not network.measured[network.row[island]]
    network.entered[0] |= new
    p, exact = vector_at(code.p, network.exact.size), network.exact
    exact[:] = p
    for side in range(2 if new else 0):
        digits = LAST_BITS if side == 0 else -LAST_BITS
        for i in range(x.size):
            point[i] = x[i] * (1.0 + digits if i % 2 == 0 else 1.0 - digits)
        for i in range(exact.size):
            p[i] = exact[i] * (1.0 + digits if i % 2 == 0 else 1.0 - digits)
        _evaluate(code, work, network, t * (1.0 + digits), point)
        for island in range(network.present.size):
            row, first = network.row[island], network.starts[island]
            for k in range(first, network.starts[island + 1]):
                e = network.members[k]
                given = found[(EFFORT if network.modes[e] == 0.0 else FLOW) * n + e]
                if side == 0:
                    network.room[MARGIN, e] = given
                elif not network.measured[row]:
                    network.noise[row, k - first] = NOISE_FACTOR * (
                        abs(given - network.room[MARGIN, e]) + 2.0 * LAST_BITS * abs(given))
            if side == 1:
                network.measured[row] = True
    p[:] = exact


@machine_code
def _at_end(network: NetworkModes, e: int, fraction: float) -> float:
    """The margin up to which the mode of an element is at its end, a share of its size: a current
    that is rounding, and falls, has died out."""
    rounding = network.constants[network.modes.size + e]
    if network.modes[e] != 0.0:
        rounding -= network.least_flow[e]
    return fraction * network.room[SIZE, e] + 2.0 * rounding


@machine_code
def _take(code: Code, work: Workspace, relations: Relations, network: NetworkModes, t: float,
          x: Vector) -> None:
    """Take modes that hold: the states that they hold are brought to their values."""
    n, found = network.modes.size, network.found
    _evaluate(code, work, network, t, x)
    for e in range(n):
        kind = network.kinds[e]
        network.largest[0, kind] = max(network.largest[0, kind], abs(found[FLOW * n + e]))
        network.largest[1, kind] = max(network.largest[1, kind], abs(found[EFFORT * n + e]))
        short = -_margin(network, e)
        if short > 0.0:  # what is allowed below zero here is to end no mode
            network.noise_so_far[0 if network.modes[e] == 0.0 else 1, e] += 2.0 * short
    for island in range(network.present.size):
        _bring(network, x, island, network.row[island])
    _measure_noise(code, work, network, t, x)
    for island in range(network.present.size):
        row, first = network.row[island], network.starts[island]
        for k in range(first, network.starts[island + 1]):
            e, kind = network.members[k], 0 if network.kept_modes[row, k - first] == 0.0 else 1
            network.noise_so_far[kind, e] = max(network.noise_so_far[kind, e],
                                                network.noise[row, k - first])
        _put(network, island, row)
        network.present[island] = row
    for r in range(network.joint.size):
        if network.joint[r]:
            relations.held[r], relations.slack[r] = network.m[r], 0.0
            network.farthest[r] = max(network.farthest[r], abs(relations.looks[SPARE, r]))
