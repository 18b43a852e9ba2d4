"""What is kept of a run?

Reductions (``"max(friction.f)"``), whole courses on a grid common to all runs
(``"block.v"``), or a function of the result. Each has a name, a shape and a unit
that are known before the first run (a function's unit with the first result).
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any, TypeAlias

import numpy as np
import pint

from ..exceptions import ParameterError, UnitError, UnknownName, brief
from ..language.compiled_model import CompiledModel
from ..numerics.arrays import Array
from ..results import Result
from ..results.lookup import find, find_all
from ..results.recording import VariableInfo
from ..results.values.samples import reduction_of, unit_of_number
from ..results.values.table import instance_dimension
from ..results.values.times import grid, within_run
from ..simulation.catalog import Catalog
from ..system import System
from ..units import Quantity, in_unit, quantity, to_si, unit

__all__ = ["Output", "converted", "outputs_of"]

#: What a path names, or the instances of an array.
Lookup: TypeAlias = Callable[[str], VariableInfo | tuple[VariableInfo, ...]]

OWN = ("status", "message", "run", "sample", "time")  # names every study uses itself


@dataclass(frozen=True)
class Output:
    """One quantity kept of every run."""

    name: str
    reduction: str  # one of the reductions, ``"course"``, or ``"function"``
    path: str = ""
    times: tuple[float, ...] = ()  # in s, for ``at`` and ``course``
    unit: str | None = None  # None for a function, whose first result decides
    doc: str = ""
    dims: tuple[str, ...] = ()  # beyond those of the study, as the shape
    shape: tuple[int, ...] = ()
    # names (instances) or times, by dimension
    coords: Mapping[str, tuple[Any, ...]] | None = None
    function: Callable[[Result], Any] | None = None

    def of(self, result: Result) -> Quantity:
        """The number or array, with its unit, of one result."""
        if self.function is not None:
            return self._value(result)
        series = result[self.path]
        if self.reduction in ("course", "at"):
            times = np.array(self.times if self.reduction == "course" else self.times[0])
            last = result.recording.close_times[-1]  # earlier, where a condition has ended the run
            found = series.at(quantity(np.minimum(times, last), "s"))
            return quantity(np.where(times > last, np.nan, found.magnitude), found.units)
        return series.number(self.reduction)

    def handles(self, catalog: Catalog) -> tuple[int, ...]:
        """Return the handles of the scalars that it is made of."""
        return tuple(info.index for info in find_all(catalog, self.path, ""))

    def in_its_unit(self, values: Array) -> Array:
        """SI values of many runs, (runs, scalars, …), as they are kept: in its unit and shape."""
        if not self.dims or self.dims == ("time",):
            values = values[:, 0]
        shown = unit(self.unit or "")
        return (values - shown.offset) / shown.factor

    def _value(self, result: Result) -> Quantity:
        given = self.function(result)  # type: ignore[misc]
        try:
            value = quantity(float(given) if isinstance(given, (bool, np.bool_)) else given)
        except (TypeError, AttributeError, UnitError):
            raise self._no_number(given) from None
        if np.ndim(value.magnitude):
            raise self._no_number(given)
        return value

    def _no_number(self, given: object) -> ParameterError:
        what = "nothing" if given is None else f"a {type(given).__name__}"
        if isinstance(given, (np.ndarray, pint.Quantity)):
            what = f"an array of shape {np.shape(given)}"
        return ParameterError(_called(self.name), f"is a function that gave {what}.",
                              "It has to give a single number or quantity.")


def outputs_of(given: Any, model: CompiledModel, system: System, span: tuple[float, float],
               every: Any, varied: Collection[str] = ()) -> tuple[Output, ...]:
    """The outputs a user asks for, looked up in the compiled model.

    ``varied`` are the paths of the study's axes, which no output may be named like.
    """
    if isinstance(given, str) or callable(given):
        given = [given]
    if not isinstance(given, Iterable) or not given:
        raise ParameterError("sweep(outputs=…)", f"is {brief(given)}, so nothing of the runs would "
                             "be kept.", "Write for example outputs=['max(spring.f)', "
                             "'final(block.v)'].", given=given)
    named = dict(given) if isinstance(given, Mapping) else {
        g if isinstance(g, str) else getattr(g, "__name__", repr(g)): g for g in given}
    taken: dict[str, tuple[Any, ...]] = {}  # coordinates so far
    looked_up: Lookup = partial(find, Catalog.of(system), where=model.name)
    made = [_output(name, what, looked_up, span, every, taken) for name, what in named.items()]
    for name in named:
        if name in varied or name in taken or name in OWN:
            raise ParameterError(
                _called(name), "has the name of a coordinate of the study.",
                f"Give it one of its own: outputs={{'kept': {brief(named[name], 200)}}}."
                if isinstance(named[name], str) else "Choose another name.",
                code="name.reserved")
    if every is not None and not any(o.reduction == "course" for o in made):
        raise ParameterError("sweep(every=…)", "samples whole courses, but every output is a "
                             "single number.", "Leave it out, or name a variable without a "
                             "reduction.", given=every)  # fmt: skip
    return tuple(made)


def _output(name: str, what: Any, looked_up: Lookup, span: tuple[float, float], every: Any,
            taken: dict[str, tuple[Any, ...]]) -> Output:
    if callable(what):
        doc = (getattr(what, "__doc__", "") or name).strip().splitlines()[0]
        return Output(name, "function", doc=doc, function=what)
    if not isinstance(what, str):
        raise ParameterError(_called(name), f"is {brief(what)}, which is no path and no function.",
                             "Write for example 'max(spring.f)'.", given=what)  # fmt: skip
    try:
        reduction, path, at = reduction_of(what, _called(name)) or ("course", what.strip(), 0.0)
    except UnknownName as error:
        error.advice += " Anything else can be a function of the result."
        raise
    if (reduction, path) == ("final", "time"):
        return Output(name, "function", unit="s", doc="end of the run",
                      function=lambda result: result.time.final)
    found = looked_up(path)
    infos = found if isinstance(found, tuple) else (found,)
    dims: tuple[str, ...] = ()
    coords: dict[str, tuple[Any, ...]] = {}
    if isinstance(found, tuple):
        names = [i.path[: i.path.rindex("]") + 1] for i in infos]
        dim = instance_dimension(path, names, {k: (k, list(v)) for k, v in taken.items()})
        dims, coords[dim] = (dim,), tuple(names)
    times = _times(name, reduction, path, at, span, every)
    if reduction == "course":
        dims, coords["time"] = (*dims, "time"), times
    taken.update(coords)
    shape = tuple(len(coords[d]) for d in dims)
    return Output(name, reduction, path, times, unit_of_number(reduction, infos[0].unit).text,
                  _said(reduction, infos[0].doc or path, times), dims, shape, coords)


def _times(name: str, reduction: str, path: str, at: float, span: tuple[float, float],
           every: Any) -> tuple[float, ...]:
    """Times in s at which a run is asked; none where all of it counts."""
    if reduction == "at":
        return (float(within_run(np.array(span), np.array([at]), _called(name))[0]),)
    if reduction != "course":
        return ()
    if every is None:
        raise ParameterError(
            _called(name), "is a whole course, so the times to keep must be given.",
            f"Say every='10 ms', or keep a number of it: 'max({path})', 'final({path})', "
            f"'at({path}, 1 s)'.", code="sweep.every")
    return tuple(map(float, grid(np.array(span), every)))


def _said(reduction: str, doc: str, times: tuple[float, ...]) -> str:
    """What a reduction keeps of a variable, for the axes of pictures."""
    word = {"max": "largest", "min": "smallest", "initial": "initial", "final": "final",
            "mean": "mean", "rms": "root mean square"}
    if reduction == "at":
        return f"{doc}, at {times[0]:g} s"
    if reduction == "integral":
        return f"{doc}, integral over time"
    if reduction not in word:
        return doc
    clause = re.match(r"(?i)(the|a|an|whether|how)\b", doc)
    return f"{doc}, {word[reduction]} value" if clause else f"{word[reduction]} {doc}"


def _called(name: Any) -> str:
    """What an output is called in messages."""
    return f"output {brief(name, 200)}"


def converted(value: Quantity, shown: str) -> Any:
    """Numbers of a quantity in a unit, unchanged where it has that unit already."""
    wanted = unit(shown)
    if value.units == wanted.pint:
        return value.magnitude
    return in_unit(to_si(value, wanted, "output"), wanted)
