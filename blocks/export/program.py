"""What is a model's run, once nothing in it is Python any more?

A run of a compiled method is a few functions of machine code over arrays. Here it is begun, its
instants up to a last time are written down, and memory and functions are taken as an image of what
then goes on anywhere.

What this asks of the core, and all that it asks:

- ``prepared(…, driven=True)`` and ``driver.integration.begin`` bring a run to its start;
- ``method.machine_code(given)`` takes the steps and passes the events of the run, where the method
  ``looks_itself``, with ``method.arguments(given)``; it returns a status, steps and events, without
  Python;
- ``method.own_events`` is there where it decides on all events, and ``given`` is what these take;
- ``equations.at_points(function)`` is the address of any function of the point, with all that is
  solved for;
- ``time_events`` tells instants known beforehand, and ``functions`` how finely time is looked at;
- code is known by its address, and its text by its name (:mod:`blocks.machine.compiling`).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from itertools import product
from types import SimpleNamespace
from typing import Any

import casadi as ca
import numpy as np

from .. import native
from ..exceptions import ParameterError, WrongCall, unknown_name
from ..initialisation.nominal_values import ORIGINS, find_nominals
from ..machine.compiling import is_installed
from ..machine.functions import Kept, machine_code
from ..native.equations import equations_of
from ..native.events import pass_event
from ..native.forms import candidates
from ..native.moreau_jean import CompiledMoreauJean, MoreauJean
from ..native.one_step import Steps, between
from ..native.own_events import NOTHING as NOTHING_HAPPENS
from ..native.own_events import Ahead
from ..native.steps import Code, Workspace, known_of, project_in_place, slope_at, values_at
from ..native.zero_crossings import Relations, margins_at
from ..nonsmooth.modes.islands import NetworkModes
from ..numerics.arrays import Array, Indices, Matrix, Vector
from ..reading.unit import Unit, describe, unit
from ..results.recording import VariableInfo
from ..simulation.catalog import Catalog
from ..simulation.driven_inputs import DrivenInput, driven_copy
from ..simulation.driver import Driver
from ..simulation.run import prepared
from ..simulation.settings import Options
from ..simulation.time_events import TimeEvents
from ..simulation.wanted import VariableFunctions
from ..units import from_si
from .chosen_states import advance as choosing
from .chosen_states import choice_of, constraints_of, may_leave
from .image import Image, Prepared
from .time_steps import EVENTS_KEPT, LOOKS, STEPS_KEPT, TimeSteps

__all__ = ["Instants", "Program", "Variable", "coherent", "constants_of_modes", "listed"]

#: What is filled with the course of a run.
COURSE = ("course.ends", "course.rows", "course.efforts",
          "record.ends", "record.sizes", "record.rows", "passed.marks", "passed.times",
          "passed.struck", "passed.q", "passed.x", "passed.changed", "passed.given")  # fmt: skip
NOTHING = np.zeros(0, dtype=np.int64)
#: What is known of modes, and of what they come to.
LEARNED = ("owner", "kept_m", "kept_modes", "kept_constants", "weight", "move", "noise",
           "measured", "by_taken", "known_m")  # fmt: skip
#: Bounds of parameters, as an FMU calls them.
SIDES = {"above": "min", "minimum": "min", "below": "max", "maximum": "max"}
ADVICE = "Simulate it here, or leave that component out of what is exported."
TOLD = 3  # components in an error
ENDLESS = 1e300  # s, a time that no run comes to
PIECES_TOLD = 2048  # new values of inputs within the longest delay,
STEPS_TOLD = 4  # and steps after each, until they are long again
CHANGED = 1.001  # times a parameter, to see what follows it


@machine_code
def look(code: Code, work: Workspace, relations: Relations, reads: int, at: Vector,
         point: Vector, slope: Vector, margins: Vector, values: Vector) -> None:
    """Slopes, margins and variables at a point, which is brought back onto its constraints.

    ``reads`` is the address of what gives variables, ``at`` (1,) the time; ``slope``, ``margins``
    and ``values`` are filled.
    """
    project_in_place(code, work, at[0], point)
    slope_at(code, work, at[0], point, slope)
    if margins.size:
        margins_at(code, relations, work.at, at[0], point, margins)
    if values.size:
        values_at(code, work, reads, at[0], point, values)


@dataclass(frozen=True)
class Instants:
    """What is known beforehand of a run."""

    times: Array  # (k,) instants
    holds: Matrix  # (k, relations) what relations of time come to after each
    rows: Matrix  # (k, tables) likewise rows of tables of time
    until: Array  # (k + 1,) just before the first one, and just before the one after each
    # borders of the pieces in which time is looked at, a stretch of the run after the other
    pieces: Array
    starts: Indices  # where each stretch begins among them
    ends: Array  # (stretches,) when each stretch ends; inf for the last one
    least: float  # times about zero that differ by less are one instant, s

    @classmethod
    def of(cls, times: TimeEvents, t: float, t_end: float) -> Instants:
        ahead = times.ahead(t, t_end, len(times.times) + 1)
        stretches, ends, at = [], [], t
        while True:
            stretches.append(times.functions.around(at).copy())
            ends.append(times.functions.end)
            if not ends[-1] < t_end:
                break
            at = ends[-1]
        return cls(ahead.times, ahead.holds, ahead.rows,
                   np.append(times.known_from(t), ahead.until), np.concatenate(stretches),
                   np.cumsum([0, *map(len, stretches)]), np.array(ends), times.least)

    def are(self, others: Instants) -> bool:
        """Whether they are the same as others."""
        return all(np.array_equal(a, b, equal_nan=True) for a, b in zip(
            vars(self).values(), vars(others).values(), strict=True))


@dataclass(frozen=True)
class Variable:
    """A variable that others see."""

    info: VariableInfo  # what it is
    start: float  # its value at the start, in SI units
    place: int  # among inputs, parameters or values
    # of a parameter, in SI units, as texts, by ``min`` and ``max``
    bounds: Mapping[str, str] = field(default_factory=dict)


def listed(given: Any) -> Any:
    """A list of texts, which one text alone stands for."""
    return [given] if isinstance(given, str) else given


def coherent(declared: Unit) -> Unit:
    """The unit of SI for the same as a declared one, without a factor."""
    if declared.factor == 1 and not declared.offset:
        return declared
    if not declared.angular:
        return unit(describe(declared.dimension)) if declared.dimension else unit("1")
    base = declared.pint._REGISTRY.Quantity(1, declared.pint).to_base_units().units
    return unit(f"{base:~C}")


def constants_of_modes(method: Any) -> list[Array]:
    """What decisions on modes take of parameters, as it was when the run began."""
    if isinstance(method, TimeSteps):
        return [method.table]
    return [np.asarray(getattr(method.own_events.set_valued, name)).ravel()
            for name in ("d", "push", "reach", "scale")]


class Program:
    """A run at its start, as an image.

    Parameters
    ----------
    inputs : paths of inputs, or mapping of path to value
    outputs : paths of variables; None for states
    parameters : paths of parameters that may be changed
    duration : up to when instants are known
    options : of the run
    caller : what was called, for messages
    most_events : that a step may pass between two known instants, where that is bounded: then
        others cannot integrate
    inside : whether it is to be read between the ends of steps, too
    """

    def __init__(self, model: Any, inputs: Iterable[str] | Mapping[str, Any],
                 outputs: Sequence[str] | None, parameters: Sequence[str], duration: Any,
                 options: Options, caller: str = "export_fmu", most_events: int = 0,
                 inside: bool = False) -> None:
        if not is_installed():
            raise WrongCall(f"{caller}()", "compiles models with llvmlite, which there is none of "
                            "for this machine.")  # fmt: skip
        self.most_events = most_events
        made, driven = driven_copy(model, inputs) if inputs else (model, [])
        self.name = str(made.name)
        # where errors say they are of
        self.where, self._reads_inside = f"{self.name}.{caller}()", inside
        driver = prepared(made, duration, options._replace(driven=True)).driver
        self.driver, self.system = driver, driver.recording.system
        self.catalog = Catalog.of(self.system)
        self.t_start, self.t_end = driver.settings.t_start, driver.settings.t_end  # s
        driver.begin_steps()
        driver.events.time_events.find(self.t_start, self.t_end)
        problem: Any = driver.problem
        self._refuse_python(driver.settings.method)
        shown = driver.recording.states if outputs is None else outputs
        infos = [info for path in shown for info in self._infos(path)]
        stepped = issubclass(driver.settings.method, MoreauJean)
        # of time steps; 0 for other methods
        self.step = float(driver.settings.step or 0.0) if stepped else 0.0
        if self.system.clusters and not (stepped or native.unwritable(problem)):
            self._constraints = equations_of(self.system, problem.laws).at_points(
                constraints_of(self.system))
        reads = 0 if stepped else self._reads(problem, infos)  # may need room among constants
        with driver.failures():
            driver.integration.begin(self.t_start, driver.events.take_struck())
        self.method = driver.integration.method
        # whether states are chosen anew in the run
        self.chooses = not stepped and may_leave(driver)
        # whether others can take the steps
        self.may_be_integrated = not (self.chooses or stepped or most_events or problem.delays)
        self._refuse_what_stays([*(one.path for one in driven), *parameters])
        self._again = made, duration, options
        self.instants, self.is_endless = self._instants()  # whether a run may go on beyond that
        self._list_told(problem, driven)
        if stepped:
            self._bind_time_steps(infos)
        else:
            self._rehearse()
            self._bind(infos, reads)
        self.outputs = [Variable(info, float(value), k)
                        for k, (info, value) in enumerate(zip(infos, self.values, strict=True))]
        # states, state_infos and nominals: places of states among all that a step moves, what they
        # are, and their nominal values
        self.states = np.arange(len(self.method.x))[self.method.places]
        self.state_infos = [self._state(int(i), k) for i, k in zip(
            problem.free, self.states, strict=True)]
        self.nominals = problem.scale
        self._nominals = find_nominals(self.system, made.compiled.nominal_table)
        self.relations = self._relations(problem)  # names of all that is watched
        self.parameters = [self._tunable(path) for path in parameters]

    def _refuse_what_stays(self, told: Sequence[str]) -> None:
        """Name what cannot leave Python, or cannot be told from outside."""
        method = self.method
        called = [family.path(0) for family in self.system.network.families
                  if family.kernel.calls_python]
        if called:
            raise self.refused(f"cannot export what Python works out: {', '.join(called)}.")
        self._refuse_python(method)
        if method.own_events is None and not (self.chooses or self.step):
            raise self.refused("exports what decides on its events in machine code, and in this "
                               f"model Python has to: {self._who_decides()}.")
        if self.chooses and told:
            raise self.refused(f"cannot let {', '.join(told)} be given from outside: in the run it "
                               f"is decided {self._who_decides()}.",
                               "Leave out inputs and parameters.")

    def refused(self, problem: str, advice: str = ADVICE) -> ParameterError:
        """The error for what cannot leave."""
        return ParameterError(self.where, problem, advice, code="export.refused")

    def _refuse_python(self, method: Any) -> None:
        if not (method.looks_itself or self._steps_in_time(method)):
            who = f" ({elements})" if (elements := self._elements()) else ""
            raise self.refused(
                f"exports what is run in machine code, and this run is taken by {method.name} in "
                f"Python: {self.driver.recording.statistics['why']}{who}.")

    def _steps_in_time(self, method: Any) -> bool:
        """Whether nobody but time steps, which are machine code, has to do with a run."""
        kind = method if isinstance(method, type) else type(method)
        return issubclass(kind, CompiledMoreauJean if kind is not method else MoreauJean) and not (
            self.system.nm or self.driver.events.time_events.expected)

    def _elements(self) -> str:
        """The first elements that have modes, by name."""
        laws: Any = self.driver.problem.laws
        return "" if laws is None else ", ".join(
            map(laws.elements.name, range(min(laws.size, TOLD))))

    def _who_decides(self) -> str:
        """Who needs Python at events."""
        events, laws = self.driver.events, self.driver.problem.laws
        if laws is not None and laws.watched and laws.decision_data(
                self.driver.problem, self.t_start) is None:
            return f"on {self._elements()}"
        if events.requirements.values is not None:
            return "on what is required of the run"
        if events.jumps.are_possible(self.driver.problem, events.time_events, self.t_end):
            names = ", ".join(f"{w.path}.{w.local.name}" for w in events.jumps.watched[:TOLD])
            return f"on whether {names} would jump, which no finite effort could make"
        if self.system.clusters:
            owners = dict.fromkeys(self.system.state_name(k).rpartition(".")[0]
                                   for k in candidates(self.system))
            return (f"on which states of {', '.join([*owners][:TOLD])} are integrated, as "
                    "constraints tie them")
        return "on what is assigned at events"

    def _rehearse(self) -> None:
        """Let the run learn what modes come to where it cannot find that by itself.

        In networks without mass at their nodes, as of ideal diodes, Python may search for the modes
        that follow, and machine code takes what was found before. One run here finds those of it.
        """
        parts: Any = self.own.rules.islands
        if not isinstance(parts, NetworkModes):
            return
        learned = self.learned({})
        for name in LEARNED:
            getattr(parts, name)[...] = getattr(learned, name)

    def learned(self, values: Mapping[str, float]) -> Any:
        """What a run has learned of modes, with other values of parameters in SI units."""
        driver = self._ran(values)
        return driver.problem.laws.decision_data(driver.problem, self.t_end)

    def _ran(self, values: Mapping[str, float]) -> Driver:
        """A whole run here, with other values of parameters in SI units."""
        driver = self._other(values, driven=False)
        driver.run()
        return driver

    # -- the image -----------------------------------------------------------------------
    def _reads(self, problem: Any, infos: Sequence[VariableInfo]) -> int:
        """The address of what gives variables; 0 for none."""
        function, _ = VariableFunctions.of(self.system, self.catalog).function(
            tuple(info.index for info in infos))
        if not infos or native.unwritable(problem):
            return 0
        return equations_of(self.system, problem.laws).at_points(function.function)

    def _list_told(self, problem: Any, driven: Sequence[DrivenInput]) -> None:
        """What is told to a run in its course: rows of tables at known instants, and inputs."""
        slots = [one.slots(self.system) for one in driven]
        # places of inputs among the discrete values
        self.told = np.concatenate([NOTHING, *slots])
        self.slots = np.append(self.system.tables.slots, self.told)
        self.now = Ahead(np.zeros(1), problem.m[None, :].copy(), self.slots,
                         problem.d[self.slots][None, :], self.instants.until[:1].copy())
        self.inputs = [Variable(info, float(problem.d[slot]), k) for k, (info, slot) in enumerate(
            (info, slot) for one, places in zip(driven, slots, strict=True)
            for info, slot in zip(self._infos(one.path), places, strict=True))]

    def _bind(self, infos: Sequence[VariableInfo], reads: int) -> None:
        """Take the functions with all that they are given."""
        method, own, now = self.method, self.own, self.now
        switches = own.given.switches.record._replace(**now._asdict())
        given = own.given._replace(switches=Kept(switches))
        code, arguments = method.machine_code(given), method.arguments(given)
        if self.chooses:
            code = choosing.knowing(code.facts)
            self.choice = choice_of(self.driver, self._constraints)
            arguments += self.choice, method.q
        advance = Prepared(code.bound(*arguments))
        self.point = method.x.copy()
        self.slope, self.margins = np.zeros_like(self.point), np.zeros(method.held.size)
        self.values, self.at = np.zeros(len(infos)), np.array([self.t_start])
        # where nobody else integrates, a point is on its constraints already
        at_point = method.code._replace(project=0) if self.most_events else method.code
        seen = Prepared(look.bound(at_point, method.work_space, method.watched, reads, self.at,
                                   self.point, self.slope, self.margins, self.values))
        called = dict(zip((name for name, _ in code.parameters), arguments, strict=True))
        bound = {"advance": advance, "look": seen}
        if self.may_be_integrated:
            bound["event"] = Prepared(pass_event.knowing(code.facts).bound(*(
                called.get(name, 0) for name, _ in pass_event.parameters)))
        self._shorten(bound)
        bound |= {f"inner_{k}": Prepared(call) for k, call in enumerate(own.calls)}
        if self._reads_inside:
            bound["inside"] = self._inside()
        self.image = Image(bound, [method.p, method.q, *self._past()],
                           (*COURSE, "slope", "margins", "values"))
        if self.image.lost or advance.call.table[advance.fields["samples.in_python"][1]]:
            raise self.refused("uses functions in Python that machine code calls: "
                               f"{', '.join(self.image.lost) or 'where values are sampled'}.",
                               "Write them with expressions of the model.")
        seen.call()

    def _past(self) -> list[Any]:
        """What is told of signals that are delayed, with twice the room that a run here needs, and
        what inputs may add that come in short steps."""
        delays = self.driver.problem.delays
        if delays is None:
            return []
        pieces, steps = self._ran({}).problem.delays.room()  # type: ignore[union-attr]
        step, events = self.driver.settings.step, self.most_events or EVENTS_KEPT
        if len(self.told):  # each new value begins a piece
            events += int(delays.lags[-1] / step) + 1 if step else PIECES_TOLD
        past: list[Any] = delays.leave(2 * pieces + events, 2 * steps + STEPS_TOLD * events,
                                       ENDLESS if self.is_endless else self.t_end)
        return past

    def _shorten(self, bound: Mapping[str, Prepared]) -> None:
        """Give the course of a call the room that it needs."""
        rows = ((self.most_events + 1, self.most_events + 2) if self.most_events
                else (EVENTS_KEPT, STEPS_KEPT))  # one more, and the step after the last
        for one, name in product(bound.values(), COURSE):
            one.shorten(name, rows[not name.startswith("passed")])

    def _bind_time_steps(self, infos: Sequence[VariableInfo]) -> None:
        """Take time steps, with the room that they need in a run here."""
        self._stepper = self._ran({}).integration.method.stepper
        steps = self.method_of(self.driver)
        self.method, self.point = steps, steps.x.copy()
        self.margins, self.values = steps.held, np.zeros(len(infos))
        self.at = np.array([self.t_start])
        bound = steps.functions(VariableFunctions.of(self.system, self.catalog).expression(
            tuple(info.index for info in infos)), self.at, self.point, self.values)
        self._shorten(bound)
        self.image = Image(bound, [steps.p, steps.q], (*COURSE, "values"))
        bound["look"].call()

    @property
    def own(self) -> Any:
        """What happens at events that machine code carries out; nothing where there are none."""
        return self.method.own_events or SimpleNamespace(
            given=NOTHING_HAPPENS, calls=[], passed=SimpleNamespace(present=np.zeros(0)),
            rules=SimpleNamespace(islands=None, resets=None))

    def method_of(self, driver: Driver) -> Any:
        """The method of a run like this one at its start."""
        method: Any = driver.integration.method
        return TimeSteps(method, self._stepper, self.now, self.slots) if self.step else method

    def _inside(self) -> Prepared:
        """What takes one step again, for values inside of it."""
        method, n = self.method, len(self.method.x)
        step = Steps(np.zeros(1), np.zeros(1), np.zeros(1, dtype=np.int64), np.zeros((1, n)),
                     np.zeros(1, dtype=np.int64), np.zeros((1, 0)))
        return Prepared(between.knowing(known_of(method.code)).bound(
            method.code, method.common.work, step, np.zeros(LOOKS, dtype=np.int64), np.zeros(LOOKS),
            np.zeros(0), np.zeros(n), np.zeros(5, dtype=np.int64),
            np.zeros((LOOKS, n))))

    def _infos(self, path: str) -> list[VariableInfo]:
        """What a path names: one variable, or those of all instances of an array."""
        catalog = self.catalog
        if path in catalog:
            return [catalog[path]]
        owner, _, name = path.rpartition(".")
        count = self.system.network.arrays.get(owner, 0)
        found = [f"{owner}[{k}].{name}" for k in range(count)]
        if not found or found[0] not in catalog:
            raise unknown_name(self.where, path, catalog, "variables")
        return [catalog[one] for one in found]

    def _instants(self) -> tuple[Instants, bool]:
        """What is known beforehand; and whether that is nothing, however long a run goes on."""
        times = self.driver.events.time_events
        found = Instants.of(times, self.t_start, self.t_end)
        if times.expected:
            return found, False
        return replace(found, until=np.full(1, np.inf)), True

    def _state(self, i: int, place: int) -> Variable:
        """A state, under the name that it has among all variables."""
        name = self.system.state_name(i)
        return Variable(self.catalog[name], float(self.method.x[place]), place)

    def expression(self, info: VariableInfo) -> ca.SX:
        """A variable as an expression."""
        return VariableFunctions.of(self.system, self.catalog).expression((info.index,))

    def is_state(self, info: VariableInfo, i: int) -> bool:
        """Whether a variable is one of the states, with the same sign."""
        return bool(ca.is_equal(self.expression(info), self.system.tape.x[i], 2))

    def _relations(self, problem: Any) -> list[str]:
        """Names of what is watched: relations, elements of laws, the reserve."""
        relations, laws = self.driver.events.time_events.relations, problem.laws
        names = [relations.condition(r) for r in range(self.system.nm)]
        if laws is not None:
            names += [laws.elements.name(k) for k in range(laws.size)]
        return names + ["which states are integrated"] * (len(self.margins) - len(names))

    def sizes(self, info: VariableInfo) -> dict[str, str]:
        """What is known of how large a variable is, in SI units: ``nominal`` and ``min``."""
        network, flat = self.system.network, self.system.flat
        f, instance = network.place.get(info.component, (-1, 0))
        kernel = network.families[f].kernel
        i = kernel.index.get(info.name, -1) if f >= 0 else -1
        if (i, 0) not in (flat.base[f] if f >= 0 else ()):
            return {}
        nominals, c = self._nominals, flat.class_of[flat.base[f][i, 0] + instance]
        known = {"nominal": nominals.value[c]} if ORIGINS[nominals.origin[c]] != "default" else {}
        least = getattr(kernel.variables[i].declared, "minimum", None)
        return {word: repr(float(size)) for word, size in {**known, "min": least}.items()
                if size is not None}

    # -- parameters ----------------------------------------------------------------------
    def parameter(self, path: str) -> Variable:
        """A parameter that is one number."""
        known = self._known_parameters()
        if path not in known:
            raise unknown_name(self.where, path, known, "parameters")
        declared, place = self._declared(path), known[path]
        owner, _, name = path.rpartition(".")
        info = VariableInfo(path, owner, name, declared.unit, "parameter", declared.doc, place)
        bounds = {side: repr(float(declared.bounds[word])) for word, side in SIDES.items()
                  if word in declared.bounds}
        return Variable(info, float(self.driver.problem.p[place]), place, bounds)

    def _tunable(self, path: str) -> Variable:
        """A parameter that may be changed once the model has left."""
        one = self.parameter(path)
        if self._start_follows(path, one.start):
            raise self.refused(f"cannot let {path} be tunable: where the run starts, or when it is "
                               "known beforehand that something happens, depends on it.",
                               "Leave it out, and export the model once for each value.")
        return one

    def _known_parameters(self) -> dict[str, int]:
        """Places of parameters that are one number each."""
        network, found = self.system.network, dict[str, int]()
        for (f, name), (offset, width) in self.system.tape.parameter_layout.items():
            family = network.families[f]
            if width == 1 and not (self.method.equations.large and family.size > 1):
                found |= {f"{family.path(k)}.{name}": offset + k for k in range(family.size)}
        return found

    @property
    def restarts_at_instants(self) -> bool:
        """Whether steps are found anew at known instants in a run of the model here.

        Where nothing but known instants happens, Python carries them out.
        """
        return bool(self.driver.events.rules(self.t_start) is None)

    def restarted(self, values: Mapping[str, float]) -> Driver:
        """The run before its first step, with other values of parameters in SI units."""
        driver = self._other(values, driven=True)
        driver.begin_steps()
        driver.events.time_events.find(self.t_start, self.t_end)
        return driver

    def _other(self, values: Mapping[str, float], driven: bool) -> Driver:
        made, duration, options = self._again
        with made.values({path: from_si(value, self._declared(path).unit)
                          for path, value in values.items()}):
            return prepared(made, duration, options._replace(driven=driven)).driver

    def _declared(self, path: str) -> Any:
        network, (owner, _, name) = self.system.network, path.rpartition(".")
        return next(one.declared for one in network.families[network.place[owner][0]]
                    .kernel.parameters if one.name == name)

    def _start_follows(self, path: str, value: float) -> bool:
        """Whether another value of a parameter leads to another start or other instants."""
        for changed in (CHANGED * value if value else CHANGED - 1.0, value / CHANGED):
            with suppress(ParameterError):
                driver = self.restarted({path: changed})
                break
        times, problem = driver.events.time_events, self.driver.problem
        driver.integration.begin(self.t_start, driver.events.take_struck())
        method = self.method_of(driver)
        return not (np.array_equal(driver.problem.x, problem.x) and method.own_events is not None
                    and all(map(np.array_equal, constants_of_modes(method),
                                constants_of_modes(self.method)))
                    and np.array_equal(driver.problem.d, problem.d, equal_nan=True)
                    and np.array_equal(times.ahead(
                        self.t_start, self.t_end, len(times.times) + 1).times,
                        self.instants.times))
