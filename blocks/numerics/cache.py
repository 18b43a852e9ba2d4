"""Values that took time to find, kept by what they depend on, up to so many."""

from __future__ import annotations

from collections.abc import Callable
from typing import Generic, TypeVar

__all__ = ["Cache"]

K = TypeVar("K")
V = TypeVar("V")


class Cache(Generic[K, V]):
    """At most so many values: where there are more, all of them are given up."""

    def __init__(self, most: int) -> None:
        self.most = most
        self._values: dict[K, V] = {}

    def get(self, key: K) -> V | None:
        """The value of a key; None where none is kept."""
        return self._values.get(key)

    def keep(self, key: K, value: V) -> V:
        """Keep a value, and return it."""
        if len(self._values) >= self.most:
            self._values.clear()
        self._values[key] = value
        return value

    def once(self, key: K, make: Callable[[], V]) -> V:
        """The value of a key, made where none is kept."""
        if key not in self._values:
            return self.keep(key, make())
        return self._values[key]
