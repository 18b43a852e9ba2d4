"""Which values had a model when a run began?

Tables are copied then, and read when somebody asks: a run of a large model does not wait for it.
"""

from __future__ import annotations

from typing import Any

from ..language.component import Part
from ..language.declarations import Option, Parameter, Variable
from ..results.parameters import MadeWith
from ..units import from_si, quantity
from .settings import Options

__all__ = ["GivenValues"]

TIMES = "duration", "start_time", "step", "max_step", "first_step"
SETTINGS = "method", "rtol", "atol"


class GivenValues:
    """What a model and the options of a run say, as they are now.

    ``duration`` and ``options`` are as they were given to ``simulate``.
    """

    def __init__(self, root: Part, duration: object, options: Options) -> None:
        self._root = root
        self._parts = [
            (path, part, part._count, part._declared, part._values.copy(), part._targets.copy(),
             part._written_in.copy())
            for path, part in root._parts().items()
        ]
        self._asked = {"duration": duration, **{name: getattr(options, name) for name in (
            *TIMES[1:], *SETTINGS)}}  # fmt: skip

    def model(self) -> Part:
        """The model as it was: its parts under the names and with the values of then.

        For reading alone: it has no connections.
        """
        root = self._root._reader(**{**vars(self._root), "_children": {}})
        made = {"": root}
        for path, part, count, declared, values, targets, written_in in self._parts:
            head, _, name = path.rpartition(".")
            reader = made[path] = part._reader(**{
                **vars(part), "_name": name, "_parent": made[head], "_children": {},
                "_count": count, "_declared": declared, "_values": values, "_targets": targets,
                "_written_in": written_in})
            made[head]._children[name] = reader
        return root

    def made_with(self) -> MadeWith:
        """Parameters, starts and types by path, and what the run was asked for, with units."""
        parameters: dict[str, Any] = {}
        starts: dict[str, tuple[Any, str]] = {}
        types: dict[str, str] = {}
        for path, part in self.model()._parts().items():
            types[path] = type(part).__name__
            for name, one in part._declared.items():
                if isinstance(one, (Parameter, Option)) and one.exists(part):
                    parameters[f"{path}.{name}"] = one.read(part)
            for name, (value, priority) in part._targets.items():
                one = part._declared[name]
                if value is not None and isinstance(one, Variable):
                    starts[f"{path}.{name}"] = (
                        from_si(value, part._written_in.get(name, one.unit)), priority)
        asked = {name: quantity(value) if name in TIMES else value
                 for name, value in self._asked.items() if value is not None}
        return MadeWith(parameters, starts, types, asked)
