"""How is an FMU asked as if it were a function?

A run looks at a model at any time, forwards and backwards. An FMU remembers what its events have
made of it, so every such state has a number: 0 is that of its start, every other one follows from
another by an event, or a step, that is written down. An instance that is in the state which is
asked for answers, or has kept it; else the one that is nearest before it goes through what is
written down.
"""

from __future__ import annotations

import ctypes
import itertools
import shutil
import tempfile
import weakref
from collections import deque
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import cached_property
from threading import RLock
from typing import Any

from blocks.exceptions import SimulationError, optional_package

from .description import Description, Scalar

__all__ = ["Asked", "Exchanged", "Stepped"]

NEVER = 1e300  # s, of an event that is not known
MOST_ROUNDS = 1000  # of an event
INSTANCES = 2  # that are kept: one before an event and one behind it
SAVED = 8  # last states of an instance
LOGGED = 10  # last messages of an FMU that an error tells
ZERO = 1e-6  # of the largest value of an event indicator, below which it is zero behind an event
SEEN = 64  # last points that are remembered
SAME_STEP = 1e-9  # of the time, which a point is before an event at least, to be a step to it
SAME = 1e-12  # relative difference of instants that are the same
STEP = 2.0**-17  # of differences on both sides, in nominal values: the third root of the grain
LEAST_STATUS = 2  # of a message that is kept: discard, error, fatal


@dataclass(frozen=True)
class Record:
    """An event, or a step: when it was, with which states and inputs, and what is so from then."""

    before: int
    t: float
    x: tuple[float, ...]
    u: tuple[float, ...]
    step: tuple[float, tuple[float, ...]] | None = None  # the last point before it that was seen
    states: tuple[float, ...] = ()
    next: float = NEVER
    sides: tuple[float, ...] = ()
    outputs: tuple[float, ...] = ()
    since: float = 0.0  # when it was for the run


class Instance:
    """A running copy of an FMU.

    ``folder`` is where it was unpacked; ``log`` takes its messages.
    """

    def __init__(self, description: Description, folder: str, log: deque[str]) -> None:
        fmpy, d = optional_package("fmpy", "An FMU", "export"), description
        self.description, self.log = d, log
        self.exchanged = d.kind == "model exchange"
        self.p: tuple[float, ...] | None = None
        self.number, self.started = 0, 0.0
        self.is_new = True
        self.last: dict[str, float] = {}
        self.saved: dict[int, Any] = {}  # whole states by number
        kind = f"FMU{d.version}{'Model' if self.exchanged else 'Slave'}"
        module = getattr(__import__(f"fmpy.fmi{d.version}"), f"fmi{d.version}")
        self.fmu = getattr(module, kind)(
            guid=d.fmi.instantiationToken, unzipDirectory=folder, instanceName=d.name,
            modelIdentifier=d.means.modelIdentifier)
        if d.version == 2:
            self.callbacks = callbacks = module.fmi2CallbackFunctions()
            callbacks.logger = module.fmi2CallbackLoggerTYPE(
                lambda _, name, status, category, text: self._told(status, text))
            callbacks.allocateMemory = module.fmi2CallbackAllocateMemoryTYPE(fmpy.calloc)
            callbacks.freeMemory = module.fmi2CallbackFreeMemoryTYPE(fmpy.free)
            try:
                from fmpy.logging import addLoggerProxy

                addLoggerProxy(ctypes.byref(callbacks))
            except Exception:  # without it, messages are told as they are written
                pass
            self.fmu.instantiate(callbacks=callbacks, loggingOn=False)
        else:
            self.fmu.instantiate(logMessage=lambda _, status, category, text: self._told(
                status, text), loggingOn=False)

    def _told(self, status: int, text: Any) -> None:
        if status >= LEAST_STATUS:
            self.log.append(text.decode(errors="replace") if isinstance(text, bytes) else str(text))

    # -- variables -------------------------------------------------------------------------
    def put(self, variables: list[Scalar], values: Any) -> None:
        """Set those that have changed; values in SI units."""
        for v, value in zip(variables, values, strict=True):
            if self.last.get(v.name) != value:
                own = v.own(value)
                own = bool(own) if v.kind == "Boolean" else own
                getattr(self.fmu, f"set{v.kind}")([v.reference], [own])
                self.last[v.name] = value

    def got(self, variables: list[Scalar]) -> list[float]:
        """Read variables of the FMU; values in SI units."""
        if all(v.kind in ("Real", "Float64") for v in variables) and variables:
            values = getattr(self.fmu, f"get{variables[0].kind}")([v.reference for v in variables])
        else:
            values = [getattr(self.fmu, f"get{v.kind}")([v.reference])[0] for v in variables]
        return [v.si(float(value)) for v, value in zip(variables, values, strict=True)]

    def array(self, call: str, count: int) -> list[float]:
        """What a function fills an array with."""
        room = (ctypes.c_double * count)()
        if count:
            getattr(self.fmu, call)(room, count)
        return list(room)

    # -- its whole state -------------------------------------------------------------------
    def _of_state(self, verb: str, *given: Any) -> Any:
        name = "FMUstate" if self.description.version == 2 else "FMUState"
        return getattr(self.fmu, f"{verb}{name}")(*given)

    def save(self) -> None:
        """Keep the present state, where the FMU gives it away."""
        if self.description.means.canGetAndSetFMUstate and self.number not in self.saved:
            self.saved[self.number] = self._of_state("get")
            while len(self.saved) > SAVED:
                self._of_state("free", self.saved.pop(next(iter(self.saved))))

    def restore(self, number: int) -> None:
        """Be in a state that was kept."""
        self._of_state("set", self.saved[number])
        self.number, self.last = number, {}

    # -- a run -----------------------------------------------------------------------------
    def start(self, p: tuple[float, ...], t: float, u: tuple[float, ...]) -> None:
        """Begin anew."""
        d, two = self.description, self.description.version == 2
        if not self.is_new:
            self.fmu.reset()
        self.is_new, self.p, self.number, self.started = False, None, 0, t
        self.last = {}
        while self.saved:
            self._of_state("free", self.saved.popitem()[1])
        self.put(d.parameters, p)
        if two:
            self.fmu.setupExperiment(startTime=t)
            self.fmu.enterInitializationMode()
        else:
            self.fmu.enterInitializationMode(startTime=t)
        self.put(d.inputs, u)
        self.fmu.exitInitializationMode()
        self.p = p
        if self.exchanged:
            self.iterate()

    def iterate(self) -> float:
        """Let an event come to its end; when the next one is known to be, or NEVER."""
        for _ in range(MOST_ROUNDS):
            again, ends, _, _, defined, instant = (
                self.fmu.newDiscreteStates() if self.description.version == 2
                else self.fmu.updateDiscreteStates())
            if ends:
                raise RuntimeError("it asks for the end of the run (terminateSimulation)")
            if not again:
                self.fmu.enterContinuousTimeMode()
                return float(instant) if defined else NEVER
        raise RuntimeError("its events follow each other without end")

    def move(self, t: float, x: tuple[float, ...]) -> None:
        """Go to a time, with the states there in SI units."""
        d = self.description
        if self.last.get("\0t") != t:
            self.fmu.setTime(t)
            self.last["\0t"] = t
        if d.states and self.last.get("\0x") != x:
            own = [s.own(value) for s, value in zip(d.states, x, strict=True)]
            self.fmu.setContinuousStates((ctypes.c_double * len(own))(*own), len(own))
            self.last["\0x"] = x  # type: ignore[assignment]


class Asked:
    """An FMU of which a component asks values."""

    def __init__(self, description: Description) -> None:
        self.description = description
        self.owner: Callable[[], Any] = lambda: None  # the component, for messages
        self.lock, self.log = RLock(), deque[str](maxlen=LOGGED)
        self.records = [Record(0, 0.0, (), ())]
        self.numbers: dict[Any, int] = {}
        self.instances: list[Instance] = []  # the one asked last is the last

    @property
    def where(self) -> str:
        return getattr(self.owner(), "path", "") or f"FMU({self.description.file.name!r})"

    @cached_property
    def folder(self) -> str:
        folder: str = optional_package("fmpy", "An FMU", "export").extract(
            str(self.description.file), tempfile.mkdtemp(prefix="fmu"))
        weakref.finalize(self, shutil.rmtree, folder, True)
        return folder

    def failed(self, t: float, error: Exception) -> SimulationError:
        """What an FMU that fails is told as."""
        said = "; ".join(dict.fromkeys(line.strip() for line in self.log if line.strip()))
        self.log.clear()
        where = self.where
        self.instances.clear()  # they are in no state that is known
        return SimulationError(
            where, f"at t = {t:.9g} s its FMU {self.description.file.name} failed: {error}"
            .rstrip(".") + (f". It says: {said}" if said else "") + ".",
            "What it says is its author's; its inputs and parameters at that time may be beyond "
            "what it takes.", time=t, variables=(where,), code="fmu.failed")

    @contextmanager
    def asking(self, t: float) -> Iterator[None]:
        """Alone with the FMU; what fails is told with the time."""
        with self.lock:
            try:
                yield
            except Exception as error:
                raise self.failed(t, error) from error

    # -- states by number ------------------------------------------------------------------
    def at(self, number: int, p: tuple[float, ...], t: float) -> Instance:
        """An instance in the state of a number: the way leads from the nearest one before it."""
        way: list[int] = []
        while (best := self._with(number, p, way)) is None and number:
            way.append(number)
            number = self.records[number].before
        if best is None:
            best = self._free()
            first = self.records[way[-1]] if way else None
            best.start(p, first.t if first else t, first.u if first else tuple(
                v.si(v.start or 0.0) for v in self.description.inputs))
        elif best.number != number:
            best.restore(number)
        for k in reversed(way):
            self.go_through(best, self.records[k])
            best.number = k
        best.save()
        return self._last(best)

    def _last(self, one: Instance) -> Instance:
        """An instance, which is the one asked last from now on."""
        self.instances.remove(one)
        self.instances.append(one)
        return one

    def _with(self, number: int, p: tuple[float, ...], way: list[int]) -> Instance | None:
        """An instance that is in a state, or has kept it, and may go on from there."""
        return next((one for one in reversed(self.instances) if one.p == p and (
            number in one.saved or number == one.number) and (
                number or not way or one.started == self.records[way[-1]].t)), None)

    def _free(self) -> Instance:
        """An instance that may begin anew."""
        if len(self.instances) < (
                1 if self.description.means.canBeInstantiatedOnlyOncePerProcess else INSTANCES):
            self.instances.append(Instance(self.description, self.folder, self.log))
            return self.instances[-1]
        return self.instances[0]

    def begun(self, p: tuple[float, ...], record: Record) -> Instance:
        """An instance that starts when and with what its first record says."""
        one = self._free()
        one.start(p, record.t, record.u)
        return self._last(one)

    def go_through(self, one: Instance, record: Record) -> Any:
        raise NotImplementedError

    def kept(self, key: Any, made: Record) -> int:
        self.records.append(made)
        self.numbers[key] = len(self.records) - 1
        return self.numbers[key]


class Exchanged(Asked):
    """An FMU whose states are integrated by the run."""

    def __init__(self, description: Description) -> None:
        super().__init__(description)
        self.largest = [0.0] * description.margins  # indicators so far
        self.seen = deque[tuple[int, float, tuple[float, ...]]](maxlen=SEEN)

    def _given(self, given: tuple[float, ...], inputs: list[Scalar]) -> tuple[Any, ...]:
        """State number, time, parameters, states and inputs."""
        d, at = self.description, iter(given)
        number, t = int(next(at)), next(at)
        return (number, t, *(tuple(itertools.islice(at, len(group)))
                             for group in (d.parameters, d.states, inputs)))

    def starts(self, *p: float) -> list[float]:
        """States at the start."""
        d = self.description
        with self.asking(0.0):
            one = self.at(0, p, 0.0)
            own = one.array("getContinuousStates", len(d.states))
        return [s.si(value) for s, value in zip(d.states, own, strict=True)]

    def values(self, what: Any, inputs: list[Scalar], *given: float) -> list[float]:
        """Numbers that depend on some of the inputs.

        ``what`` is None for event indicators.
        """
        number, t, p, x, u = self._given(given, inputs)
        with self.asking(t):
            one = self.at(number, p, t)
            one.move(t, x)
            one.put(inputs, u)
            self.seen.append((number, t, x))
            return one.got(what) if what is not None else self._indicators(one, number, t, x)

    def _indicators(self, one: Instance, number: int, t: float, x: tuple[float, ...]
                    ) -> list[float]:
        """Event indicators. Right behind an event, what is zero is on the side that was found."""
        found = one.array("getEventIndicators", self.description.margins)
        self.largest = [max(a, abs(z)) for a, z in zip(self.largest, found, strict=True)]
        record = self.records[number]
        if number and (t, x) == (record.since, record.states):
            for k, (z, side, large) in enumerate(zip(found, record.sides, self.largest,
                                                     strict=True)):
                if abs(z) <= ZERO * large:
                    found[k] = large if side else -large
        return found

    def derivatives(self, what: Any, inputs: list[Scalar], place: int, *given: float
                    ) -> list[float]:
        """Derivatives of these numbers by one that is given: the FMU's, else by differences."""
        d = self.description
        first = 2 + len(d.parameters)
        known = [*d.states, *inputs][place - first] if place >= first else None
        if known is not None and what is not None and d.means.providesDirectionalDerivative:
            number, t, p, x, u = self._given(given, inputs)
            with self.asking(t):
                one = self.at(number, p, t)
                one.move(t, x)
                one.put(inputs, u)
                own = one.fmu.getDirectionalDerivative(
                    [v.reference for v in what], [known.reference], [1.0])
            return [w.factor * value / known.factor for w, value in zip(what, own, strict=True)]
        size = abs(known.nominal * known.factor) if known is not None else 0.0
        step = STEP * (max(size, abs(given[place])) or 1.0)
        above, below = (self.values(what, inputs, *given[:place], given[place] + s,
                                    *given[place + 1 :]) for s in (step, -step))
        return [(a - b) / (2 * step) for a, b in zip(above, below, strict=True)]

    def event(self, *given: float) -> list[float]:
        """What an event leads to: number, next instant, states, sides of indicators."""
        number, t, p, x, u = self._given(given, self.description.inputs)
        with self.asking(t):
            last = self.records[number]
            if number and abs(last.t - t) <= SAME * abs(t) and (last.x, last.u) == (x, u):
                self.numbers[given] = number  # several of its conditions at one instant
            if given not in self.numbers:
                due = self.records[number].next
                t = due if abs(t - due) <= SAME * abs(due) else t
                seen = [(at, there) for k, at, there in self.seen
                        if k == number and at < t - SAME_STEP * abs(t)]
                record = Record(number, t, x, u, max(seen, default=None))
                one = self.at(number, p, t) if number else self.begun(p, record)
                following = self.go_through(one, record)
                states = tuple(s.si(v) for s, v in zip(
                    self.description.states,
                    one.array("getContinuousStates", len(x)), strict=True))
                one.move(given[1], states)  # as the run looks at them next
                sides = tuple(float(z > 0) for z in one.array(
                    "getEventIndicators", self.description.margins))
                one.number = self.kept(given, replace(
                    record, states=states, next=following, sides=sides, since=given[1]))
                one.save()
            found = self.numbers[given]
            record = self.records[found]
        return [float(found), record.next, *record.states, *record.sides]

    def go_through(self, one: Instance, record: Record) -> float:
        """Carry an event out; when the next one is known to be."""
        if record.step is not None:
            one.move(*record.step)
            one.fmu.completedIntegratorStep()
        one.move(record.t, record.x)
        one.put([v for v in self.description.inputs if not v.is_discrete], [
            value for v, value in zip(self.description.inputs, record.u, strict=True)
            if not v.is_discrete])
        one.fmu.completedIntegratorStep()
        one.fmu.enterEventMode()
        one.put(self.description.inputs, record.u)
        following = one.iterate()
        one.last.pop("\0x", None)
        return following


class Stepped(Asked):
    """An FMU that takes its own steps between communication points."""

    def step(self, number: int, t: float, p: tuple[float, ...], u: tuple[float, ...],
             held: tuple[float, ...]) -> tuple[int, tuple[float, ...]]:
        """Number and outputs at a time.

        ``u`` are inputs now, for the start; ``held`` those since the last communication point.
        """
        given = number, t, p, held if number else u
        with self.asking(t):
            if given not in self.numbers:
                record = Record(number, t, (), given[-1])
                if number:
                    one = self.at(number, p, t)
                    self.go_through(one, record)
                else:
                    one = self.begun(p, record)
                outputs = tuple(one.got(self.description.outputs))
                one.number = self.kept(given, replace(record, outputs=outputs))
            found = self.numbers[given]
            return found, self.records[found].outputs

    def go_through(self, one: Instance, record: Record) -> None:
        """Take a step; the first record is the start, of which an instance comes."""
        if not record.before:
            return
        begun = self.records[record.before].t
        one.put(self.description.inputs, record.u)
        one.fmu.doStep(begun, record.t - begun)
