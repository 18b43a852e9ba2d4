"""Copies of objects whose parts are shared, and of arrays that are put back."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import TypeVar

from .arrays import Array

__all__ = ["put_back", "shallow_copy"]

Plain = TypeVar("Plain")


def shallow_copy(one: Plain) -> Plain:
    """An object with the same attributes, in a fifth of the time that ``copy.copy`` takes.

    For plain objects: what a class says of copying or pickling is not asked.
    """
    new = object.__new__(type(one))
    new.__dict__.update(one.__dict__)
    return new


@contextmanager
def put_back(*arrays: Array) -> Iterator[None]:
    """What is done to arrays inside is undone behind."""
    kept = [array.copy() for array in arrays]
    try:
        yield
    finally:
        for array, values in zip(arrays, kept, strict=True):
            array[...] = values
