"""Which values had a model when a run began?

Tables are copied then, and read when somebody asks: a run of a large model does not wait for it.
"""

from __future__ import annotations

from typing import Any

from ..language.component import Component
from ..language.declarations import Option, Parameter, Variable
from ..results.parameters import MadeWith
from ..units import from_si, quantity
from .settings import Options

__all__ = ["GivenValues"]

TIMES = "duration", "start", "step", "max_step", "first_step"
SETTINGS = "method", "rtol", "atol"


class GivenValues:
    """What a model and the options of a run say, as they are now.

    Parameters
    ----------
    root : the model
    duration, options : as they were given to ``simulate``
    """

    def __init__(self, root: Component, duration: object, options: Options) -> None:
        self._parts = [
            (path, part, part._declared, part._values.copy(), part._targets.copy(),
             part._written_in.copy())
            for path, part in root._parts().items()
        ]
        self._asked = {"duration": duration, **{name: getattr(options, name) for name in (
            *TIMES[1:], *SETTINGS)}}  # fmt: skip

    def made_with(self) -> MadeWith:
        """The same with units, by path."""
        parameters: dict[str, Any] = {}
        starts: dict[str, tuple[Any, str]] = {}
        for path, part, declared, values, targets, written_in in self._parts:
            state = {**vars(part), "_values": values, "_targets": targets, "_declared": declared}
            reader = part._reader(**state)
            for name, one in declared.items():
                if isinstance(one, (Parameter, Option)) and one.exists(reader):
                    parameters[f"{path}.{name}"] = one.read(reader)
            for name, (value, priority) in targets.items():
                one = declared[name]
                if value is not None and isinstance(one, Variable):
                    starts[f"{path}.{name}"] = (
                        from_si(value, written_in.get(name, one.unit)), priority)
        types = {path: type(part).__name__ for path, part, *_ in self._parts}
        asked = {name: quantity(value) if name in TIMES else value
                 for name, value in self._asked.items() if value is not None}
        return MadeWith(parameters, starts, types, asked)
