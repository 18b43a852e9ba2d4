"""What is known of constant matrices, for one set of parameters, from run to run."""

from __future__ import annotations

from collections.abc import Callable, Hashable
from dataclasses import dataclass, field
from typing import Any, TypeVar

import numpy as np

from ...numerics.arrays import Array, Indices

__all__ = ["LastRun", "Memory"]

RECALLED = 1000  # values up to which the next run takes over what is known

T = TypeVar("T")


@dataclass
class LastRun:
    """What the last run knew, and the parameters it is true for."""

    entries: Indices  # of the parameter vector, on which any of it depends
    p: Array | None = None
    known: dict[Hashable, Any] = field(default_factory=dict)


class Memory:
    """Values that one run has made, where nothing moves that they depend on.

    ``last_run`` is what is taken over, and left behind; ``constant``: whether the Delassus operator
    depends on parameters only; ``simple``: whether also what efforts push and flows follow does;
    ``hands_on``: whether the next run may know all this.
    """

    def __init__(self, last_run: LastRun, constant: bool, simple: bool, hands_on: bool) -> None:
        self.constant, self.simple = constant, simple
        self._last_run, self._hands_on = last_run, hands_on
        self._p: Array | None = None
        self.known: dict[Hashable, Any] = {}

    def recall(self, p: Array) -> None:
        """Take what is known for these parameters."""
        if self._p is p:
            return
        self._p, last = p, self._last_run
        self.known, mine = last.known, p[last.entries]
        if len(last.known) > RECALLED or last.p is None or not np.array_equal(last.p, mine):
            self.known = {}
            if self._hands_on:
                last.p, last.known = mine, self.known

    def once(self, key: Hashable, make: Callable[[], T]) -> T:
        """A value that depends on the Delassus operator, made once where that is constant."""
        return self.once_in_run(key, make) if self.constant else make()

    def once_simple(self, p: Array, key: Hashable, make: Callable[[], T]) -> T:
        """A matrix that is made once where no matrix moves at all."""
        if not self.simple:
            return make()
        self.recall(p)
        return self.once_in_run(key, make)

    def once_in_run(self, key: Hashable, make: Callable[[], T]) -> T:
        """A value that is made once in a run whatever moves."""
        if key not in self.known:
            self.known[key] = make()
        value: T = self.known[key]
        return value
