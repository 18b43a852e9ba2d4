"""What is known of constant matrices, for one set of parameters, from run to run."""

from __future__ import annotations

from collections.abc import Callable, Hashable
from typing import Any, TypeVar

from ...numerics.arrays import Array, Indices
from ...numerics.cache import Cache

__all__ = ["Memory", "Runs"]

RECALLED = 1000  # values up to which the next run takes over what is known

T = TypeVar("T")
#: What runs knew, by the parameters that it is true for.
Runs = Cache[bytes, dict[Hashable, Any]]


class Memory:
    """Values that one run has made, where nothing moves that they depend on.

    ``runs`` is what is taken over, and left behind, None for nothing; ``entries`` of the parameters
    are those on which any of it depends; ``constant``: whether the Delassus operator depends on
    parameters only; ``simple``: whether also what efforts push and flows follow does.
    """

    def __init__(self, runs: Runs | None, entries: Indices, constant: bool, simple: bool) -> None:
        self.constant, self.simple, self._runs, self._entries = constant, simple, runs, entries
        self._p: Array | None = None
        self.known: dict[Hashable, Any] = {}

    def recall(self, p: Array) -> None:
        """Take what is known for these parameters."""
        if self._p is p:
            return
        self._p, self.known = p, {}
        if self._runs is not None:
            key = p[self._entries].tobytes()
            known = self._runs.once(key, dict)
            self.known = known if len(known) <= RECALLED else self._runs.keep(key, {})

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
