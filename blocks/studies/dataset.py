"""How are the outcomes of a study looked at?

As an xarray Dataset: swept values as coordinates, outputs as variables, units in
the attributes, and status and message of every run beside them.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

import numpy as np

from ..exceptions import ParameterError, optional_package
from ..units import quantity
from .outputs import converted
from .runner import Outcome

__all__ = ["Gathered"]

OF = {"initial": "start", "final": "end"}

MOST = 200_000_000  # numbers of a study


class Gathered:
    """Outcomes as they come, in arrays of the study's shape.

    ``study`` is plain data, from :func:`blocks.studies.identity.describe`.
    """

    def __init__(self, study: Mapping[str, Any]) -> None:
        self.study = study
        self.dims = tuple(study["dimensions"])
        self.shape = tuple(study["dimensions"].values())
        self.size = math.prod(self.shape)
        count = self.size * (1 + sum(math.prod(o["shape"]) for o in study["outputs"]))
        if count > MOST:
            raise ParameterError("sweep()", f"of {self.size:,} runs would keep {count:,} numbers.",
                                 "Vary less at a time, or keep fewer numbers of every run.",
                                 code="result.size")  # fmt: skip
        self.units = {o["name"]: o["unit"] for o in study["outputs"]}
        self.values = {o["name"]: np.full((self.size, *o["shape"]), np.nan)
                       for o in study["outputs"]}  # fmt: skip
        self.execution = ""  # how the runs were made, and why so
        self.status = np.full(self.size, "not run", dtype=object)
        self.message = np.full(self.size, "", dtype=object)

    def add(self, outcome: Outcome) -> None:
        """Take in an outcome; a function's unit is that of its first result."""
        n = outcome.number
        self.status[n], self.message[n] = outcome.status, outcome.message
        for name, value in outcome.values.items():
            if self.units[name] is None:
                self.units[name] = outcome.units[name]
            if outcome.units[name] != self.units[name]:
                try:
                    value = converted(quantity(value, outcome.units[name]), self.units[name])
                except ValueError as error:
                    self.status[n], self.message[n] = "failed", f"output {name!r}: {error}"
                    continue
            self.values[name][n] = np.reshape(value, self.values[name].shape[1:])

    @property
    def done(self) -> set[int]:
        """Numbers of the runs that need not be made again."""
        return set(np.flatnonzero(self.status != "not run").tolist())

    def to_xarray(self) -> Any:
        """The study as a Dataset."""
        xarray = need_xarray()
        coordinates: dict[str, Any] = {}
        for axis in self.study["axes"]:
            attributes = {"long_name": axis["path"], "description": axis["doc"]}
            if axis["unit"] is not None:
                attributes["units"] = axis["unit"] or "1"
            coordinates[axis["path"]] = (axis["dim"], np.array(axis["values"]), attributes)
        data: dict[str, Any] = {}
        for output in self.study["outputs"]:
            name = output["name"]
            for dim, values in output["coords"].items():
                attributes = {"units": "s", "long_name": "time"} if dim == "time" else {}
                coordinates[dim] = (dim, np.array(values), attributes)
            data[name] = ((*self.dims, *output["dims"]),
                          self.values[name].reshape((*self.shape, *output["shape"])),
                          {"units": self.units[name] or "1", "long_name": _in_words(output),
                           "description": output["doc"]})
        for name, array, doc in (
                ("status", self.status, "finished, until a condition, failed or not run"),
                ("message", self.message, "why a run failed or ended early")):
            data[name] = (self.dims, array.astype(str).reshape(self.shape), {"long_name": doc})
        attributes = {"model": self.study["name"]}
        for word in ("finished", "failed", "not run"):
            attributes[f"runs {word}"] = sum(word == ("finished" if status.startswith("until")
                                                      else status) for status in self.status)
        made = xarray.Dataset(data, coordinates, attrs=attributes)
        made.encoding["execution"] = self.execution  # not in the attributes: results are the same
        return made


def need_xarray() -> Any:
    """The module xarray, or the error that names it."""
    return optional_package("xarray", "A sweep", "table")


def _in_words(output: dict[str, Any]) -> str:
    """What stands at the axes of pictures: ``"max of spring.f"``."""
    path, reduction = output["path"], output["reduction"]
    if reduction == "function":
        return str(output["doc"])
    if reduction == "at":
        return f"{path} at {output['times'][0]:g} s"
    return path if reduction == "course" else f"{OF.get(reduction, reduction)} of {path}"
