"""Which machine code belongs to a compiled model?

Slopes and crossing functions of a :class:`~blocks.system.System` as functions
``f(t, x, p, q, out)`` of pointers: time, states, parameters, and everything that
is constant between two events (held relations, discrete values).
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from functools import cached_property
from typing import TYPE_CHECKING, Any, NamedTuple

import casadi as ca
import numpy as np

from ..language.expression import TIME
from ..machine.compiling import compiled
from ..machine.signatures import address_of, run_code
from ..numerics.arrays import Array, Indices, Matrix
from ..system.delays import delayed_signals
from .expressions import Unwritable, Writer
from .forms import is_large
from .front_lists import COLUMN_GROUPS
from .instance_loops import Loops
from .loop_text import LoopText
from .matrices import bordered_matrix, sparse_lists, why_differences
from .repetitions import Repetitions
from .stages import ARITHMETIC
from .steps import (
    BACKWARD_EULER,
    EULER,
    EXPLICIT,
    RUNGE_KUTTA,
    TRAPEZOIDAL,
    Code,
    solves_with_derivatives,
    values_after_events,
)
from .text import Beginning, function_of

if TYPE_CHECKING:
    from ..machine.functions import MachineCode
    from ..nonsmooth.contract import Laws
    from ..nonsmooth.modes.carried_network import CarriedNetwork
    from ..system import Problem, System
    from .network_code import NetworkCode
    from .solved_modes import SolvedCode
    from .tied_states import Tied, TiedCode

__all__ = ["Equations", "HeldConstants", "equations_of", "written"]

LONGEST_LOOPS = 16_000  # lines of loops over instances, which are worth more care
LONG = 3000  # lines of a text in which equal operations are not sought: that takes long
REPEATS = 500  # operations from which equal patterns are sought, and written as loops


def equations_of(system: System, laws: Laws | None = None) -> Equations:
    """The machine code of a system."""
    return system.once("native", lambda: Equations(system, laws))


def written(writer: Writer | LoopText, beginning: Beginning, quick: bool | None = None) -> int:
    """The address of a function whose lines are written, after those it begins with."""
    return compiled(function_of(writer, beginning), quick=quick,
                    parallel=isinstance(writer, LoopText) or len(writer.lines) <= LONG)


class HeldConstants(NamedTuple):
    """What functions read at many points that is constant between events."""

    first: Array  # all that they read at some point
    which: Indices  # the row of ``held`` of each point
    held: Matrix  # what ``first`` begins with from each event on
    p: Array | None  # parameters; None where they are what ``first`` begins with


class Equations:
    """Addresses of a system's slopes and crossings."""

    def __init__(self, system: System, laws: Laws | None = None) -> None:
        self.system, self._laws = system, laws
        self.relations = system.nm
        #: Whether the address of a plan of delayed signals stands behind the discrete values, and
        #: the time just after which what they read begins.
        self.delayed = any(f.kernel.delays for f in system.network.families)
        self.offsets = np.cumsum([0, system.nz, system.nm, system.nd + 2 * self.delayed, system.nu])
        self.beginning = Beginning()
        if self.delayed:
            from .delayed import reading_of_past

            self.beginning = reading_of_past(system, int(self.offsets[2]))
        #: Numbers of scratch behind what is constant between events, and where the part of it ends
        #: in which solutions stay.
        self.scratch, self._solutions_end = 0, 0
        self.project = 0  # closes contacts that have drifted open
        self.reserve = False  # whether the last margin is that of the solved equations
        #: What knows of tied and torn unknowns, where they stand in x.
        self.carried: Tied | None = None
        #: Solves for unknowns, and knows their derivatives.
        self._solved: NetworkCode | SolvedCode | TiedCode | None = None
        self._decided_by = ca.SX(0, 1)  # expressions of what modes are decided by, in held modes
        self._present: Callable[[], str] | None = None  # text of what efforts are decided by
        self._with_all: Callable[[ca.SX], str] | None = None  # and where they are carried along
        self._held: dict[str, ca.SX] | None = None  # expressions while modes are held
        self._inputs: ca.SX | None = None  # of elements, in held modes
        #: Whether differences of slopes stand for derivatives.
        self.differences = bool(why_differences(system, laws))
        #: Symbols and the slopes whose derivatives an implicit method asks for.
        self.explicit = system.arguments, system.tape.slope
        if laws is not None:
            self._with_laws(laws)
            return
        self.large = is_large(system)
        if system.nz or system.clusters:
            self._with_tied()
            return
        self.slope = self._looped() if self.large else self._of(system.tape.slope)
        self.crossings = system.nm and self._of(system.tape.crossings)

    def _with_tied(self, network: CarriedNetwork | None = None) -> None:
        """Slopes and crossings of all states, those that constraints tie among them."""
        from .tied_states import TiedCode

        system = self.system
        code = TiedCode(system, self._places, int(self.offsets[-1]), network)
        self._solve_by(code)
        self.carried, self._with_all = code.tied, code.with_slopes
        self.slope, self.project = (compiled(text, parallel=False)
                                   for text in (code.slope(), code.project()))
        self.reserve = bool(system.clusters)
        self.relations += self.reserve
        self.crossings = self.relations and compiled(code.crossings(), parallel=False)

    def _with_laws(self, laws: Laws) -> None:
        """Slopes and margins while the modes of set-valued laws are held."""
        from ..nonsmooth.modes.carried_network import CarriedNetwork
        from ..nonsmooth.modes.held_network import HeldNetwork
        from ..nonsmooth.modes.solved_modes import SolvedModes
        from .solved_modes import SolvedCode

        held, free = laws.held_modes, ca.SX.sym("free", self.system.nx)
        n = laws.size
        self._held = None if held is None else held.expressions
        if isinstance(held, SolvedModes) and held.kept is None:
            self.large, start = False, int(self.offsets[3])
            self.relations, self.reserve = self.relations + n + 1, True
            code = SolvedCode(laws, self._places, start)
            self._solve_by(code)
            self.carried = code.tied
            self.explicit = code.arguments, held.expressions["slope"] * code.free
            self._inputs = held.expressions["inputs"]
            self.slope, self.crossings = (
                compiled(text, parallel=False) for text in (code.slope(), code.margins()))
            if laws.elements.contact.any() or self.carried is not None:
                self.project = compiled(code.project(), parallel=False, quick=True)
            self._present = code.present
            return
        assert held is not None  # else the system is not written
        if isinstance(held, HeldNetwork):
            self._inputs, self._decided_by = held.inputs, held.decided_by
        else:
            self._inputs = held.expressions["inputs"]
        kept = isinstance(held, SolvedModes)
        slack = ca.SX.sym("slack", n * kept)
        ends = np.cumsum([n, held.entries, self.system.nx, n * kept])  # of modes, K, free, slack
        self.offsets = np.concatenate([self.offsets[:4], self.offsets[3] + ends])
        self.relations += n
        self.large = False
        if isinstance(held, CarriedNetwork):
            self.explicit = held.symbols, held.expressions["slope"]
            self._with_tied(held)
            return
        slope = held.expressions["slope"] * free
        margins = laws.margin_expressions()
        margins = ca.vertcat(held.expressions["crossings"], margins + slack if kept else margins)
        if not isinstance(held, HeldNetwork):
            self.explicit = [*held.symbols, free, slack], slope
            self._decided_by = held.present if isinstance(held, SolvedModes) else ca.SX(0, 1)
            self.slope, self.crossings = self._plain(slope), self._plain(margins)
            return
        from .network_code import NetworkCode  # loaded with what it is for

        *known, taken = held.symbols
        network = NetworkCode(held, [*known, free, taken], self._places, int(self.offsets[-1]))
        self._solve_by(network)
        self.explicit, self._with_all = (network.arguments, slope), network.of
        self.slope, self.crossings = self._of(slope), self._of(margins)

    def _solve_by(self, code: NetworkCode | SolvedCode | TiedCode) -> None:
        """Let values be what they are once unknowns are solved for."""
        code.beginning, self._solved, self.scratch = self.beginning, code, code.end - code.first
        self._solutions_end = code.end

    @property
    def _places(self) -> dict[int, tuple[str, int]]:
        z, m, *rest = (int(o) for o in self.offsets)
        return {0: ("%t", 0), 1: ("%x", 0), 2: ("%q", z), 3: ("%p", 0), 4: ("%q", m),
                **{k: ("%q", o) for k, o in enumerate(rest, 5)}}  # fmt: skip

    @property
    def _places_at_events(self) -> dict[int, tuple[str, int]]:
        """Places of arguments at events: what is carried along stands, solved, behind states."""
        if self.carried is None:
            return self._places
        nx, nz = self.system.nx, self.system.nz
        taken = {len(self.explicit[0]) - 1: ("%x", nx + nz)} if (
            self._inputs is not None and self._with_all is not None) else {}
        return {**self._places, 2: ("%x", nx), **taken}

    def code(self, p: Array, q: Array, kind: int = EXPLICIT) -> Code:
        """Addresses for steps of a kind; the caller keeps ``p`` and ``q`` alive."""
        # nothing shortens a fixed step
        without = RUNGE_KUTTA, EULER, BACKWARD_EULER, TRAPEZOIDAL
        exponents, places = (0, 0) if kind in without else (self.exponents, self.places)
        return Code(ARITHMETIC[kind](), self.slope, int(self.crossings), exponents, self.angles,
                    places, self.project, self.linear(kind), kind, address_of(p), address_of(q),
                    self.past, int(self.offsets[2] + self.system.nd))

    def linear(self, kind: int) -> int:
        """Address of the derivatives that steps of a kind need; 0 for none, or differences.

        To be asked before :meth:`constants`: they may need room there.
        """
        if not solves_with_derivatives(kind) or self.differences:
            return 0
        if bordered_matrix(self.system, self._laws) is not None:
            return self.bordered
        lists = sparse_lists(self.system, self._laws)
        if lists is not None and not lists[COLUMN_GROUPS]:
            return self.entries
        if lists is None:
            return self.derivatives
        return self.in_direction if self._solved is not None else 0

    @cached_property
    def in_direction(self) -> int:
        """Address of derivatives in a direction, of which a sparse matrix is made."""
        from .derivatives import derive_in_direction

        return self._through_unknowns(derive_in_direction)

    @cached_property
    def bordered(self) -> int:
        """Address of the entries of a matrix with rows of other values, and df/dt."""
        if self._solved is None:
            return self._plain(ca.vertcat(
                self.system.cut_slope_x.nz[:], ca.jacobian(self.system.tape.slope, TIME)))
        from .derivatives import derive_bordered

        return self._through_unknowns(derive_bordered)

    def _through_unknowns(self, fill: MachineCode) -> int:
        """Address of derivatives through what is solved for."""
        code, (_, slope) = self._solved, self.explicit
        assert code is not None
        address = compiled(code.derivatives(slope, fill), parallel=False)
        self.scratch = max(self.scratch, code.end - code.first)
        return address

    @cached_property
    def derivatives(self) -> int:
        """Address of df/dx and df/dt."""
        if self._solved is not None:
            from .derivatives import derive

            return self._through_unknowns(derive)
        _, slope = self.explicit
        return self._plain(ca.vertcat(
            ca.vec(ca.jacobian(slope, self.system.tape.x).T), ca.jacobian(slope, TIME)))

    @cached_property
    def entries(self) -> int:
        """Address of the entries of df/dx that are not always zero, column by column, and df/dt."""
        _, slope = self.explicit
        return self._plain(ca.vertcat(
            ca.jacobian(slope, self.system.tape.x).nz[:], ca.jacobian(slope, TIME)))

    @cached_property
    def exponents(self) -> int:
        """Address of the exponents in the equations; 0 where there are none."""
        expression = self.system.tape.exponents
        if not expression.numel():
            return 0
        if self._held is not None:
            expression = self._held["exponents"]
        return self._of(expression)

    @cached_property
    def angles(self) -> int:
        """Address of the angles of what is periodic in the states; 0 where there are none."""
        return self._of_point(self.system.angles)

    @cached_property
    def places(self) -> int:
        """Address of where tables of the states are read; 0 where there are none."""
        return self._of_point(self.system.state_tables.places)

    def _of_point(self, values: ca.SX) -> int:
        """Address of what follows from time and states at once; 0 for nothing."""
        return self._straight(ca.Function("values", self.system.arguments[:6], [values])) \
            if values.numel() else 0

    @cached_property
    def past(self) -> int:
        """Address of what is delayed; 0 where nothing is, or it needs more than the states."""
        if not self.delayed:
            return 0
        values, tape = ca.densify(delayed_signals(self.system).values), self.system.tape
        return 0 if ca.depends_on(values, tape.u) else self._of(values)

    def carried_values(self, problem: Problem) -> Array:
        """What is carried along behind the states."""
        return np.zeros(0) if self.carried is None else self.carried.values(problem)

    def give_back(self, problem: Problem, x: Array) -> None:
        """Make states, and what is carried along behind them, those of the problem."""
        problem.x[:], values = np.split(x, [len(problem.x)])
        if self.carried is not None:
            self.carried.give_back(problem, values)

    def constants(self, problem: Problem, t: float) -> Array:
        """What ``q`` points to at the present point of a problem, with room for scratch."""
        q = self.with_room(self.held(problem, t))
        if self.carried is not None:
            self.carried.fill(q, problem)
            if self.reserve:
                margins = np.empty(self.relations)
                x, p = np.concatenate([problem.x, problem.z]), np.array(problem.p, dtype=float)
                run_code(self.crossings, np.array([t]), x, p, q, margins)
                self.carried.refer(q, self.carried.size(q))
        return q

    @staticmethod
    def held(problem: Problem, t: float) -> Array:
        """What is constant between two events."""
        efforts = (problem.u if problem.laws is None
                   else problem.laws.held_constants(problem, t))  # fmt: skip
        plan = [] if problem.delays is None else [
            np.array([problem.delays.plan.ctypes.data]).view(float), [problem.delays.origin]]
        return np.concatenate([problem.z, problem.m, problem.d, *plan, efforts])

    def with_room(self, held: Array) -> Array:
        """A copy of what is constant between two events, with room for scratch behind it."""
        q = np.zeros(held.size + self.scratch + 1)  # what is never touched takes no memory
        q[: held.size] = held
        return q

    @cached_property
    def of_elements(self) -> int:
        """What elements at nodes without mass come to in held modes."""
        assert self._with_all is not None
        return compiled(self._with_all(self._decided_by), parallel=False)

    @cached_property
    def coefficients(self) -> tuple[int, Indices]:
        """How their equations follow what is taken, where that changes; and where the entries of
        that stand."""
        laws: Any = self._laws
        values, places = laws.held_modes.coefficients
        return 0 if values is None else self._of(values), places

    @cached_property
    def sizes(self) -> int:
        """How large what they give may be, by sizes of states, which stand behind the result."""
        laws: Any = self._laws
        function: ca.Function = laws.held_modes.sizes
        return self._straight(function, places={
            **self._places_at_events, function.n_in() - 1: ("%out", laws.size)})

    @cached_property
    def at_impacts(self) -> tuple[int, int]:
        """What contacts among them and what they load come to there, if elements take what stands
        behind that; and how many numbers."""
        laws: Any = self._laws
        values, _ = laws.held_modes.at_impacts
        if values is None:
            return 0, 0
        given = ca.Function("impacts", self.explicit[0], [values])
        places = {**self._places_at_events, given.n_in() - 1: ("%out", values.numel())}
        return self._straight(given, places=places), values.numel()

    def at_decisions(self, which: str, values: ca.SX | None) -> int:
        """What decisions on modes look at; 0 for nothing."""
        return 0 if values is None else self.system.once(
            f"{which} at decisions", lambda: self._plain(values))

    @cached_property
    def present(self) -> int:
        """What elements whose efforts are solved for come to, and all that follows from efforts."""
        if self._present is None:
            return self._plain(self._decided_by, quick=True)
        return compiled(self._present(), parallel=False, quick=True)  # at events only

    @property
    def keeps_factors(self) -> bool:
        """Whether constants hold what decides on modes, K."""
        return len(self.offsets) > 5

    def span_of(self, which: str) -> slice:
        """Where something stands in ``q``: held relations, discrete values, modes, K, free."""
        k = ("relations", "discrete values", "modes", "K", "free").index(which) + 1
        end = self.offsets[k] + self.system.nd if k == 2 else self.offsets[k + 1]
        return slice(int(self.offsets[k]), int(end))

    def assigned(self, function: ca.Function) -> int:
        """What samples assign; of all that is kept in ``out`` behind it, what was before."""
        here = self._in_modes(function)
        more = {here.n_in() - 1: ("%out", function.nnz_out(0))}
        return self.system.once("assigned", lambda: self._compiled_at_events(here, more))

    def at_points(self, function: ca.Function) -> int:
        """A function of what the system's functions take, with all that is solved for at a point;
        what is carried along stands behind the states there."""
        known, efforts = self.explicit[0], self._inputs
        if efforts is None:
            efforts = self.system.tape.u
        return self._of(ca.densify(function(*known[: len(self.system.arguments) - 1], efforts)))

    @cached_property
    def inputs(self) -> int:
        """Address of the inputs in held modes."""
        assert self._inputs is not None
        return self._of(ca.densify(self._inputs))

    def held_at(self, times: Array, x: Array, z: Array, given: HeldConstants
                ) -> tuple[Array, Array]:
        """States with closed contacts and inputs in held modes at points, as columns."""
        rows = np.vstack([x, z]).T.copy() if self.carried else x.T.copy()
        if self.project and self._laws is not None and self._laws.elements.contact.any():
            rows = self.evaluated(self.project, rows.shape[1], times, rows, given)
        return rows[:, : len(x)].T, self.evaluated(
            self.inputs, self.system.nu, times, rows, given).T

    def evaluated(self, function: int, size: int, times: Array, rows: Array, given: HeldConstants
                  ) -> Array:
        """(k, size) values of a function, at an address, at times and states of many points."""
        room, out = self.with_room(given.first), np.empty((len(times), size))
        p, q = address_of(room if given.p is None else given.p), address_of(room)
        values_after_events(
            function, times, rows, given.which, given.held, room[: given.held.shape[1]], p,
            q + 8 * self.system.parameter_count * (given.p is None), np.empty(1), out)
        return out

    def at_events(self, which: str, function: ca.Function) -> int:
        """A function of what there is at events: what is required of a run, or assigned there."""
        return self.system.once(f"{which} at events", lambda: self._compiled_at_events(
            self._in_modes(function)))

    def _compiled_at_events(self, function: ca.Function,
                            more: dict[int, tuple[str, int]] | None = None) -> int:
        """A function of what there is at events, and of ``more``."""
        if self._solved is not None and not self._solved.stands_solved:
            return compiled(self._solved.of_function(function, more or {}), parallel=False)
        return self._straight(function, places={**self._places_at_events, **(more or {})})

    def _in_modes(self, function: ca.Function) -> ca.Function:
        """A function of modes instead of efforts, where these follow by them."""
        if self._inputs is None:
            return function
        known, given = self.explicit[0], len(self.system.arguments)
        more = [ca.SX.sym(f"more{k}", function.size1_in(k)) for k in range(given, function.n_in())]
        value = function(*known[: given - 1], self._inputs, *more)
        return ca.Function(function.name(), [*known, *more], [value])

    def in_lanes(self, lanes: int, outputs: ca.SX) -> tuple[int, int, int]:
        """Slopes, some expressions and exponents, for several runs at once."""
        tape = self.system.tape
        return (self._plain(tape.slope, lanes), self._plain(outputs, lanes),
                self._plain(tape.exponents, lanes))

    def _looped(self) -> int:
        """Slopes, written as loops over the instances of laws."""
        start = int(self.offsets[-1])
        loops = Loops(self.system, self.offsets.tolist(), start)
        loops.slope()
        self.scratch = loops.scratch - start
        return self._compiled(loops.text, quick=len(loops.text.lines) > LONGEST_LOOPS)

    def _of(self, expression: ca.SX) -> int:
        """An expression, after what is solved for before it."""
        if self._solved is None:
            return self._plain(expression)
        return compiled(self._solved.of(expression), parallel=False)

    def _plain(self, expression: ca.SX, lanes: int = 1, quick: bool | None = None) -> int:
        """An expression of what the equations are given."""
        return self._straight(ca.Function("value", self.explicit[0], [expression]), lanes,
                              quick=quick)

    def _straight(self, function: ca.Function, lanes: int = 1,
                  places: dict[int, tuple[str, int]] | None = None, quick: bool | None = None
                  ) -> int:
        places, start = places or self._places, max(int(self.offsets[-1]), self._solutions_end)
        if lanes == 1 and function.n_instructions() > REPEATS:
            with suppress(Unwritable):  # equal patterns as loops
                text = LoopText()
                end = Repetitions(function).write(text, places, start)
                self.scratch = max(self.scratch, end - int(self.offsets[-1]))
                return self._compiled(text, quick)
        writer = Writer(lanes)
        for i, value in enumerate(writer.values(function, places)):
            writer.store(value, "%out", i)
        return self._compiled(writer, quick)

    def _compiled(self, writer: Writer | LoopText, quick: bool | None = None) -> int:
        return written(writer, self.beginning, quick)
