"""What may a method carry out by itself at events, and what of it is due?"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import NamedTuple

import casadi as ca
import numpy as np

from ..machine.functions import BoundCall, Kept, empty
from ..nonsmooth.complementarity.impact import collide, collision_of
from ..nonsmooth.modes.islands import IslandsWithMass, NetworkModes
from ..numerics.arrays import Array, Flags, Indices, Matrix, distinct, ranks
from .callbacks import Callbacks
from .equations import Equations
from .events import Passed
from .mode_rows import VALUES
from .next_branch import Switches
from .resets import ResetRules, Resets, resets_of
from .samples import Samplers, Samples, assigned_in_python, samples_of
from .set_valued_elements import SetValuedElements, set_valued_elements

__all__ = ["Ahead", "EventRules", "Given", "KeptRows", "NOTHING", "OwnEvents", "PassedEvents"]

BLOCK = 1 << 21  # numbers that are kept of the events of one call
MOST_EVENTS = 4096


class Ahead(NamedTuple):
    """Known instants to come."""

    times: Array  # (k,) ascending
    holds: Matrix  # (k, relations) what relations of time come to just after each
    slots: Indices  # places among the discrete values
    rows: Matrix  # (k, slots) what these come to at each, as rows of tables of time
    until: Array  # (k,) just before the next one


@dataclass(frozen=True)
class EventRules:
    """What happens at the events of a run, where a method may carry it out."""

    # at_zero, timed: relations that hold where they are zero, and those of time alone
    at_zero: Flags
    timed: Flags
    loops: Indices  # a number for each, the same of those that feel each other through unknowns
    duration: float  # of the run
    acting: Flags  # relations at whose change others act
    # the instants between two times, no more than so many
    ahead: Callable[[float, float, int], Ahead]
    samplers: Samplers | None = None  # what is assigned at regular instants
    resets: ResetRules | None = None  # what is assigned where a condition becomes true
    # what decisions on modes need; None where others decide
    islands: IslandsWithMass | NetworkModes | None = None
    # what comes of t, x, z, p, m, d, u; 1 for each condition that holds
    required: ca.Function | None = None
    # relations that are judged where modes are decided; None for none
    indirect: Flags | None = None
    # those of them that wait for modes that end as they cross; None for none
    resting: Flags | None = None


class Given(NamedTuple):
    """What machine code is given of events in one call."""

    switches: Kept
    samples: Kept
    resets: Kept
    set_valued: Kept
    network: Kept
    passed: Kept


NOTHING = Given(*(Kept(empty(kind)) for kind in (
    Switches, Samples, Resets, SetValuedElements, NetworkModes, Passed)))


class OwnEvents:
    """The events that a method carries out itself.

    ``rules`` say what happens; ``held`` is what is constant between two events; ``states`` is the
    number of values that a step moves, ``relations`` that of all margins, those of modes among
    them; ``restarts``: whether steps are found anew after a crossing.
    """

    def __init__(self, equations: Equations, rules: EventRules, held: Array, states: int,
                 relations: int, restarts: bool) -> None:
        self.equations, self.rules = equations, rules
        islands, required = rules.islands, rules.required
        # written first: they need room among the constants
        if isinstance(islands, NetworkModes):
            equations.of_elements, equations.coefficients  # noqa: B018
            equations.at_impacts, equations.sizes  # noqa: B018
        elif isinstance(islands, IslandsWithMass):
            equations.present  # noqa: B018
            equations.at_decisions("factors", islands.factors)
        if rules.samplers is not None:
            equations.assigned(rules.samplers.assigned)
        if rules.resets is not None:
            equations.at_events("resets", rules.resets.assigned)
        self._conditions = (0, np.zeros(0)) if required is None else (
            equations.at_events("required", required), np.empty(required.nnz_out(0)))
        self.q = equations.with_room(held)  # of all code that there is by now
        present = self.q[: held.size]
        self.resets = self._resets()
        assignments = self.resets.owner.size
        self.most = max(1, min(MOST_EVENTS, BLOCK // (held.size + states + 2 * assignments + 1)))
        most, nm = self.most, len(rules.timed)
        #: What is filled with the events of a call.
        self.passed = Passed(np.zeros(most, dtype=np.int64), np.zeros(most),
                             np.zeros((most, len(self.values_of("modes")) if islands else 0)),
                             np.empty((most, held.size)), np.empty((most, states)),
                             np.empty((most, assignments)), np.empty((most, assignments)), present,
                             np.array([restarts]), np.zeros(1, dtype=bool))
        self._room = (np.empty(nm), np.empty(nm, dtype=bool), np.empty(nm, dtype=bool),
                      np.empty(relations), np.empty(relations))
        self.set_valued = empty(SetValuedElements)
        #: What machine code calls by tables of their own.
        self.calls: list[BoundCall] = []
        if isinstance(islands, IslandsWithMass):
            self.set_valued, *self.calls = set_valued_elements(islands, self.q, equations, states)
        self.network = empty(NetworkModes)
        if isinstance(islands, NetworkModes):
            coefficients, places = equations.coefficients
            at_impacts, numbers = equations.at_impacts
            impact = np.empty(numbers + islands.kinds.size)
            bears, loops = len(islands.bears), len(islands.by_loops)
            first = numbers - (5 * bears + len(islands.scale) + loops) * (bears + loops)
            found = {}
            if bears:
                self.calls = [collide.bound(*map(Kept, collision_of(
                    islands.block, islands.by, islands.rest)), bears, -1)]
                found = self.calls[0].told("collides striking striking_counted impulses_found", "n")
            self.network = islands._replace(
                sizes_of_given=equations.sizes, at_impacts=at_impacts, impact=impact,
                impact_by=impact[max(first, 0) : numbers].reshape(-1, max(bears + loops, 1)),
                **found,
                coefficients=coefficients, changing=np.empty(len(places)), changing_at=places,
                modes=self.values_of("modes"), constants=self.values_of("K"),
                m=self.values_of("relations"), values=equations.of_elements,
                found=np.empty(VALUES * islands.members.size + states),
                exact=np.zeros(equations.system.tape.p.numel()))
        #: What machine code is given, as long as nothing is known to happen.
        self.given = Given(*(none if one is none.record else Kept(one) for one, none in zip((
            self._switches(nm), self._samples(), self.resets, self.set_valued, self.network,
            self.passed), NOTHING, strict=True)))
        self.announced: Ahead | None = None  # what machine code has been told lately

    def serves(self, rules: EventRules) -> bool:
        """Go by the rules of another run, where they differ in its instants and speeds alone."""
        mine, islands = self.rules, rules.islands
        alike = rules.samplers is None and rules.resets is None and all(
            getattr(rules, name) is getattr(mine, name) for name in (
                "at_zero", "timed", "loops", "samplers", "resets", "required"))
        if not alike or isinstance(islands, NetworkModes) or not (
                mine.islands is None if islands is None else islands.is_like(mine.islands)):
            return False
        self.rules = rules
        self.begin_with(0.0 if islands is None else islands.fast)
        return True

    def begin_with(self, fast: Array | float) -> None:
        """Take flows for the largest of each kind so far."""
        self.set_valued.fast[:] = fast

    @property
    def fast(self) -> Array:
        """The largest flow so far beside each element."""
        return self.set_valued.fast[self.set_valued.kinds]

    def announce(self, call: BoundCall, t: float, t_stop: float) -> float:
        """Tell machine code what is known to happen up to a time; how far it may go with that."""
        ahead = self.rules.ahead(t, t_stop, self.most)
        if ahead is not self.announced:
            self.announced = ahead
            for name, values in zip(ahead._fields, ahead, strict=True):
                call.put(f"switches.{name}", values)
        return t_stop if len(ahead.times) < self.most else float(ahead.times[-1])

    def is_known(self, t: float) -> bool:
        """Whether ``t`` is one of the instants that machine code was told of last."""
        return self.announced is not None and t in self.announced.times

    def _switches(self, nm: int) -> Switches:
        r, nobody = self.rules, np.zeros(nm, dtype=bool)
        joint = r.islands.joint if isinstance(r.islands, NetworkModes) else nobody
        indirect, resting = (nobody if flags is None else flags
                             for flags in (r.indirect, r.resting))
        none = empty(Switches)
        return Switches(self.values_of("relations"), r.at_zero, r.timed, r.acting, joint,
                        indirect, resting, none.times, none.holds, none.until,
                        self.values_of("discrete values"), none.slots, none.rows, r.loops,
                        r.duration, *self._room, *self._conditions)

    def values_of(self, which: str) -> Array:
        """What is constant now, and changes at events, as machine code reads it."""
        return self.q[self.equations.span_of(which)]

    def _samples(self) -> Samples:
        if (s := self.rules.samplers) is None:
            return empty(Samples)
        samples = samples_of(s, self.values_of("discrete values"),
                             self.equations.assigned(s.assigned))
        if s.in_python is None:
            return samples
        self._in_python = Callbacks()  # as long as addresses are known; Python asks for errors anew
        return samples._replace(in_python=self._in_python.address(
            assigned_in_python(s, samples), (1, None, None, None), 1))

    def _resets(self) -> Resets:
        if (r := self.rules.resets) is None:
            return empty(Resets)
        return resets_of(r, self.equations.system.nx, self.values_of("discrete values"),
                         self.equations.at_events("resets", r.assigned))


class KeptRows:
    """Rows of which each differs in few places from the one before: what changes is kept."""

    def __init__(self, rows: Array) -> None:
        bits = rows.view(np.int64)  # so 0 is not -0
        changed = np.flatnonzero(bits[1:] != bits[:-1])
        self._first, self.shape = rows[0].copy(), rows.shape
        self._values = rows[1:].reshape(-1)[changed]
        self._number, self._place = np.divmod(changed, max(rows.shape[1], 1))
        self.nbytes = self._first.nbytes + 3 * self._values.nbytes

    def row(self, number: int) -> Array:
        """One of the rows."""
        row, done = self._first.copy(), np.searchsorted(self._number, number)
        row[self._place[:done]] = self._values[:done]
        return row

    def take(self, numbers: Indices) -> tuple[Indices, Array]:
        """Which of some rows has each number, and these rows."""
        (place, count), row, done = ranks(numbers), self._first.copy(), 0
        out = np.empty((count, self.shape[1]))
        for k, end in enumerate(np.searchsorted(self._number, distinct(numbers)).tolist()):
            row[self._place[done:end]] = self._values[done:end]
            out[k], done = row, end
        return place, out


class PassedEvents:
    """Events that machine code has carried out in one call, in the order of time."""

    def __init__(self, own: OwnEvents, count: int) -> None:
        equations = own.equations
        self.equations = equations
        self.times = own.passed.times[:count].copy()  # (k,) of the events
        self.marks = own.passed.marks[:count].copy()
        # (k, elements) contacts that were struck at each
        self.struck = own.passed.struck[:count] > 0.0
        # acted: events, and assignments of ``when`` that have changed something there; changed,
        # given: in which round, and to which value
        self.acted = np.nonzero(own.passed.changed[:count] > 0)
        self.changed, self.given = own.passed.changed[self.acted], own.passed.given[self.acted]
        q, self.x = own.passed.q[:count], own.passed.x[:count].copy()
        # m, modes: (k, …) held relations and modes from each on; q: what is constant
        self.m, self.q = q[:, equations.span_of("relations")] > 0.5, KeptRows(q)
        self.modes = q[:, equations.span_of("modes")].astype(int) \
            if own.rules.islands is not None else None
        self.fast, self._whole = own.fast, own.q.copy()
        #: Whether what is required of the run does not hold from the last one on.
        self.broken = own.passed.broken.item()

    def __len__(self) -> int:
        return len(self.times)

    def constants(self, number: int) -> Array:
        """What machine code reads from an event on."""
        whole, held = self._whole.copy(), self.q.row(number)
        whole[: held.size] = held
        return whole

    def d(self, number: Indices) -> Array:
        """(k, …) discrete values from some events on."""
        place, rows = self.q.take(number)
        return rows[place, self.equations.span_of("discrete values")]
