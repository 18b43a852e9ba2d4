"""How is all that changes in a run put aside, and brought back to the bit?

What decides, steps and counts in a run is a graph of objects with arrays. All of it is copied,
and put back into the same objects and arrays, as machine code knows where they stand. What
never changes (compiled functions, the structure of the model) and what only grows (the record) is
left alone.
"""

from __future__ import annotations

from collections import deque
from typing import Any

import numpy as np

from ..assembly.network import Network
from ..language.component import Component
from ..native.courses import Course, PassedCourses
from ..native.events import Passed
from ..native.one_step import Record
from ..solvers.trajectory import Trajectory
from ..system.evaluator import BoundEvaluator, Evaluator
from ..system.system import System
from .catalog import Catalog
from .episode import Episode
from .passed_events import PassedEpisodes
from .recording import RunRecording
from .variable_functions import VariableFunctions

__all__ = ["Memory"]

#: What does not change in a run, or is only added to.
#: Rooms that machine code fills are empty between two calls.
LEFT_ALONE = (System, Network, Component, Evaluator, BoundEvaluator, Catalog, VariableFunctions,
              Episode, Course, PassedCourses, Trajectory, PassedEpisodes, RunRecording, Record,
              Passed, type)


class Memory:
    """The state of some objects, and of all that they hold, at one moment."""

    def __init__(self, *roots: Any) -> None:
        self._tables: list[tuple[dict[Any, Any], dict[Any, Any]]] = []
        self._lists: list[tuple[Any, list[Any]]] = []
        self._arrays: list[tuple[np.ndarray, np.ndarray]] = []
        self._alive: dict[int, Any] = {}  # what has been seen, so that no number is used again
        waiting = deque(roots)
        while waiting:
            waiting.extend(self._look(waiting.popleft()))
        self._alive.clear()

    def _look(self, thing: Any) -> list[Any]:
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
        for array, values in self._arrays:
            if array.flags.writeable:
                array[...] = values
