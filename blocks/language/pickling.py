"""How do functions of time, and what a class remembers, go through pickle?"""

from __future__ import annotations

import pickle
from collections.abc import Callable
from typing import Any

from ..exceptions import ParameterError

__all__ = ["ClassMemory", "PickledFunction"]


class ClassMemory(dict[Any, Any]):
    """What a class remembers of itself; not carried along when the class is pickled."""

    def __reduce__(self) -> tuple[Any, ...]:
        return ClassMemory, ()


class PickledFunction:
    """A function of time on its way through pickle: by its name, else by cloudpickle."""

    def __init__(self, function: Callable[..., Any], where: str) -> None:
        self.function, self.where = function, where

    def __deepcopy__(self, memo: object) -> PickledFunction:
        return self

    def __reduce__(self) -> tuple[Any, ...]:
        try:
            return pickle.loads, (pickle.dumps(self.function),)
        except (pickle.PicklingError, AttributeError, TypeError):
            pass
        try:
            import cloudpickle
        except ImportError:
            raise ParameterError(
                self.where, "is a lambda or inner function, which Python's pickle cannot store.",
                "Define the function at the top of a module and give it by name, or install "
                "cloudpickle.", given=self.where, code="parameter.pickle",
            ) from None  # fmt: skip
        return cloudpickle.loads, (cloudpickle.dumps(self.function),)
