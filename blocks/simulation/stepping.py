"""How does a program drive a run, step by step?

Between two steps the program reads outputs and sets inputs; what it sets holds until it sets it
anew. Every step ends an episode of the run, so the record is that of any other run.
"""

from __future__ import annotations

from array import array
from collections import deque
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from math import isfinite
from typing import Any

import numpy as np

from ..assembly.network import Family, Network
from ..exceptions import ParameterError, SimulationError, brief, told_how_to_call, unknown_name
from ..language.component import Component
from ..native.courses import Course, PassedCourses
from ..native.events import Passed
from ..native.one_step import Record
from ..numerics.arrays import Array
from ..numerics.tolerances import SAME_INSTANT
from ..results import Result
from ..solvers.trajectory import Trajectory
from ..system.evaluator import Evaluator
from ..system.system import System
from ..units import SECOND, Quantity, Unit, from_si, to_si
from .catalog import Catalog
from .driven_inputs import DrivenInput, driven_copy
from .driven_steps import DrivenSteps
from .driver import Driver
from .episode import Episode
from .passed_events import PassedEpisodes
from .recording import RunRecording
from .run import prepared
from .settings import Options, positive_time
from .wanted import VariableFunctions, Wanted

__all__ = ["RunState", "SteppedRun", "started"]

NO_SLOTS = np.zeros(0, dtype=np.int64)
ADVANCED, SAVED = -1, -2
SAME_STATE = 1e-3  # nominal values by which processors of another kind may come out elsewhere


def started(model: Any, inputs: Iterable[str] | Mapping[str, Any], outputs: Iterable[str],
            duration: Any, options: Options) -> SteppedRun:
    """A run at its start; see ``Model.stepper``."""
    made, driven = driven_copy(model, inputs)

    def begin() -> Driver:
        return prepared(made, duration, options._replace(driven=True)).driver

    return SteppedRun(begin, driven, tuple(outputs) if not isinstance(outputs, str) else outputs)


@dataclass(frozen=True)
class RunState:
    """Where a run was when it was saved.

    In its own process it brings the run back at once. Pickled it holds what the run was told, with
    which another one that was started in the same way gets there: to the bit on the same kind of
    processor.

    Attributes
    ----------
    name : of the model
    t : in s
    told : what the run had been told until then, see :class:`SteppedRun`
    x : states
    run, steps, memory : in the process of the run
    """

    name: str
    t: float
    told: Array
    x: Array
    run: SteppedRun | None = None
    steps: DrivenSteps | None = None
    memory: Memory | None = None

    def __reduce__(self) -> tuple[Any, ...]:
        return RunState, (self.name, self.t, self.told, self.x)

    def __repr__(self) -> str:
        return f"<state of the run of {self.name!r} at {self.t:.6g} s>"


class SteppedRun:
    """A run that goes on when it is told to; ``Model.stepper`` makes it.

    Attributes
    ----------
    name : of the model
    inputs, outputs : tuples of paths
        In the order in which :meth:`step` takes and gives their numbers.
    input_units, output_units : tuples of str

    Examples
    --------
    ::

        run = model.stepper(inputs=["motor.S"], outputs=["load.w"])
        while run.time < quantity("10 s"):
            run.set("motor.S", control(run["load.w"]))
            run.advance("1 ms")
        run.result().plot("load.w")
    """

    def __init__(self, begin: Callable[[], Driver], driven: list[DrivenInput],
                 outputs: Sequence[str]) -> None:
        driver = begin()
        self._driver, self._begin = driver, begin
        #: What was told, and how far the run went on: pairs of a number of a told value and that
        #: value, of ADVANCED and a time, of SAVED and 0.
        self._told = array("d")
        self._recording: RunRecording = driver.recording
        self._driven = {one.path: one for one in driven}
        self._result = Result(self._recording)
        self.name = self._recording.name
        outputs = [outputs] if isinstance(outputs, str) else outputs
        self.inputs, self.outputs = tuple(self._driven), tuple(outputs)
        self._readers = {path: self._reader(path) for path in self.outputs}
        every = [(info.index, u) for path in self.outputs for u in [self._readers[path][2]]
                 for info in self._result[path].infos]
        self._all = self._recording.functions.function(tuple(index for index, _ in every))
        self._offset, self._factor = (np.array([getattr(u, name) for _, u in every])
                                      for name in ("offset", "factor"))
        self._seconds: dict[str, float] = {}  # what texts of durations come to
        self.input_units = tuple(one.unit.text or "1" for one in driven)
        self.output_units = tuple(self._readers[path][2].text or "1" for path in self.outputs)
        slots = [one.slots(driver.recording.system) for one in driven]
        ends = np.cumsum([0, *map(len, slots)])
        self._steps = DrivenSteps(driver, np.concatenate([NO_SLOTS, *slots]))
        self._places = {one.path: int(a) if b == a + 1 else slice(a, b)
                        for one, a, b in zip(driven, ends, ends[1:], strict=False)}

    def __reduce__(self) -> tuple[Any, ...]:
        raise ParameterError(
            self.name, "a run that goes on step by step cannot be pickled: it holds compiled "
            "equations.", "Pickle run.save_state(), start the model in the same way where it is "
            "needed, and restore the state there.", code="result.pickle")

    # -- what a program does -----------------------------------------------------------------
    @property
    def time(self) -> Quantity:
        """The time reached."""
        return from_si(self._steps.t, SECOND)

    @told_how_to_call
    def set(self, path: str, value: Any) -> None:
        """Give an input a value that holds until it is given another one.

        Parameters
        ----------
        path : str
            One of ``inputs``.
        value : str or quantity
            With its unit; for an array one value, or one for each instance.
        """
        if path not in self._driven:
            raise unknown_name("run.set()", path, self._driven, "inputs")
        one = self._driven[path]
        where = f"run.set({path!r})"
        number = to_si(value, one.unit, where)
        if np.ndim(number) and np.shape(number) != (one.size,):
            raise ParameterError(where, f"was given {np.size(number)} values, but there are "
                                 f"{one.size} instances.", "Give one, or one for each.",
                                 given=value, code="parameter.size")  # fmt: skip
        self._tell(one, number, where)

    def __getitem__(self, path: str) -> Quantity:
        """The present value of a variable, in its declared unit."""
        if path not in self._readers:
            self._readers[path] = self._reader(path)
        function, wanted, u, several = self._readers[path]
        values = self._steps.read(function, wanted)
        return from_si(values if several else float(values[0]), u)

    @told_how_to_call
    def advance(self, duration: Any) -> None:
        """Go on for a time, such as ``"1 ms"``.

        Raises
        ------
        SimulationError
            For a run that fails; ``error.result`` holds everything before.
        """
        seconds = self._seconds.get(duration) if isinstance(duration, str) else None
        if seconds is None:
            seconds = positive_time(duration, "duration", "run.advance()")
            if isinstance(duration, str):
                self._seconds[duration] = seconds
        self._advance(seconds)

    @told_how_to_call
    def step(self, numbers: Any, seconds: float) -> Array:
        """Set all inputs, go on, and read all outputs, as bare numbers.

        Parameters
        ----------
        numbers : sequence of float
            One for each of ``inputs``, in ``input_units``.
        seconds : float

        Returns
        -------
        ndarray
            One for each of ``outputs``, in ``output_units``; of an array all, one after the other.

        Notes
        -----
        For controllers and learning programs whose steps are many and short: units are agreed
        upon once.
        """
        if not isinstance(numbers, (Sequence, np.ndarray)):
            raise ParameterError("run.step()", f"takes a list of numbers, one for each input, but "
                                 f"was given {brief(numbers)}.", "Write run.step([…], seconds); "
                                 "without inputs, run.advance('1 ms').", given=numbers)
        if len(numbers) != len(self.inputs):
            names = ", ".join(self.inputs) or "there are none"
            raise ParameterError("run.step()", f"was given {len(numbers)} numbers for "
                                 f"{len(self.inputs)} inputs: {names}.",
                                 "Give one for each, in this order.", given=numbers)
        for one, number in zip(self._driven.values(), numbers, strict=True):
            self._tell(one, float(number) * one.unit.factor + one.unit.offset, "run.step()")
        if not 0 < seconds < np.inf:
            raise ParameterError("run.step()", f"must go on for a positive time, but was given "
                                 f"{seconds} s.", given=seconds)  # fmt: skip
        self._advance(float(seconds))
        return self.numbers()

    def numbers(self) -> Array:
        """The present values of ``outputs``, as bare numbers in ``output_units``."""
        numbers: Array = (self._steps.read(*self._all) - self._offset) / self._factor
        return numbers

    def save_state(self) -> RunState:
        """Where the run is now, to go on from there again with :meth:`restore`."""
        self._steps.apply_changes()
        self._steps.pause()
        self._told.extend((SAVED, 0.0))
        recording = self._recording
        memory = Memory(self._steps, recording.episodes, recording.log, recording.statistics)
        return RunState(self.name, self._steps.t, np.array(self._told), recording.problem.x.copy(),
                        self, self._steps, memory)

    def restore(self, state: RunState) -> None:
        """Go to a saved state of this run, or of one that was started in the same way.

        What came after it is forgotten; what follows is the same to the bit as it was, if the
        inputs are. A state that was pickled is reached by going there again, which takes as long
        as it took the first time.
        """
        if not isinstance(state, RunState) or state.run not in (None, self):
            raise ParameterError("run.restore()", "takes a saved state of this run, but was given "
                                 f"{brief(state)}.", "Save it with run.save_state(); a run that "
                                 "was started elsewhere in the same way takes it pickled.",
                                 given=state)  # fmt: skip
        if state.memory is None or state.steps is not self._steps:
            self._go_again(state)
            return
        state.memory.bring_back()
        self._told = array("d", state.told)
        self._recording.status, self._recording.message = "finished", ""
        self._recording.forget_found()

    def _go_again(self, state: RunState) -> None:
        """Begin anew, and do what led to a state."""
        again = SteppedRun(self._begin, list(self._driven.values()), self.outputs)
        x, numbers = again._recording.problem.x, again._steps.told
        codes, values = state.told[::2].astype(int), state.told[1::2].tolist()
        fits = x.shape == state.x.shape and codes.max(initial=-1) < len(numbers)
        if fits:
            for code, value in zip(codes.tolist(), values, strict=True):
                if code >= 0:
                    again._steps.tell(code, value)
                elif code == ADVANCED:
                    again._steps.advance(value)
                else:
                    again._steps.apply_changes()
                    again._steps.pause()
            away = np.abs(x - state.x) / again._recording.problem.scale_x
            fits = again._steps.t == state.t and bool((away <= SAME_STATE).all())
        if not fits:
            raise ParameterError(
                "run.restore()", f"takes a state of a run that was started as this one, but "
                f"{state!r} is of another: what it was told leads elsewhere here.",
                "Start the same model with the same values, inputs and options.",
                given=state, code="run.state")
        again._told = array("d", state.told)
        vars(self).update(vars(again))

    def result(self) -> Result:
        """What the run has recorded up to the present time; it may go on afterwards."""
        self._steps.catch_up()
        self._driver.count()
        self._recording.forget_found()
        return Result(self._recording)

    def __repr__(self) -> str:
        return f"<run of {self.name!r} at {self.time:~P}>"

    # -- how it is done ----------------------------------------------------------------------
    def _tell(self, one: DrivenInput, number: Any, where: str) -> None:
        if not (isfinite(number) if isinstance(number, float) else np.isfinite(number).all()):
            raise ParameterError(where, f"was given {number} for {one.path!r}, which is not a "
                                 "finite number.", f"Give a value in {one.unit}.", given=number,
                                 code="parameter.finite")  # fmt: skip
        place = self._places[one.path]
        if isinstance(place, int):
            self._told.extend((place, number))
        else:
            for k, value in enumerate(np.broadcast_to(number, one.size), place.start):
                self._told.extend((k, value))
        self._steps.tell(place, number)

    def _advance(self, seconds: float) -> None:
        until, end = self._steps.t + seconds, self._driver.settings.t_end
        if until > end * (1 + SAME_INSTANT):
            raise ParameterError(
                "run.advance()", f"would go to {until:.6g} s, but the run was started for times up "
                f"to {end:.6g} s.", "Start it for longer: model.stepper(…, duration='1 h').",
                given=seconds, bound=end)  # fmt: skip
        self._told.extend((ADVANCED, min(until, end)))
        try:
            self._steps.advance(min(until, end))
        except SimulationError as error:
            error.data["result"] = Result(self._recording)
            raise

    def _reader(self, path: str) -> tuple[Evaluator, Wanted, Unit, bool]:
        """What evaluates a variable, its unit, and whether it has several instances."""
        series = self._result[path]
        indices = tuple(info.index for info in series.infos)
        count = self._recording.catalog.count
        if any(k >= count for k in indices):
            raise ParameterError(path, "is a mode, which is known of a result only.",
                                 "Read run.result()[…].in_words(…), or a velocity here.")
        return *self._recording.functions.function(indices), series.declared_unit, series.is_array


#: What does not change in a run, or is only added to.
#: Rooms that machine code fills are empty between two calls.
LEFT_ALONE = (System, Network, Family, Component, Evaluator, Catalog, VariableFunctions, Episode,
              Course, PassedCourses, Trajectory, PassedEpisodes, RunRecording, Record, Passed, type)


class Memory:
    """The state of some objects, and of all that they hold, at one moment."""

    def __init__(self, *roots: Any) -> None:
        self._tables: list[tuple[dict[Any, Any], dict[Any, Any]]] = []
        self._lists: list[tuple[Any, list[Any]]] = []
        self._arrays: list[tuple[np.ndarray, np.ndarray]] = []
        self._alive: dict[int, Any] = {}  # what has been seen, so that no number is used again
        waiting = deque(roots)
        while waiting:
            waiting.extend(self._taken_on(waiting.popleft()))
        self._alive.clear()

    def _taken_on(self, thing: Any) -> list[Any]:
        """Remember a thing; returns what it holds."""
        if thing is None or isinstance(thing, (str, bytes, int, float, bool)) or (
                id(thing) in self._alive or isinstance(thing, LEFT_ALONE)):
            return []
        self._alive[id(thing)] = thing
        if isinstance(thing, np.ndarray):
            self._arrays.append((thing, thing.copy()))
        elif isinstance(thing, dict):
            self._tables.append((thing, dict(thing)))
            return list(thing.values())
        elif isinstance(thing, (list, deque)):
            self._lists.append((thing, list(thing)))
            return list(thing)
        elif isinstance(thing, tuple):
            return list(thing)
        elif type(thing).__module__.startswith("blocks.") and hasattr(thing, "__dict__"):
            return [vars(thing)]
        return []

    def bring_back(self) -> None:
        """Make everything what it was."""
        for table, was in self._tables:
            table.clear()
            table.update(was)
        for items, kept in self._lists:
            items.clear()
            items.extend(kept)
        for kept_in, values in self._arrays:
            if kept_in.flags.writeable:
                kept_in[...] = values
