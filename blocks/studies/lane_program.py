"""What is computed in every lane: slopes and outputs, in machine code."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from types import ModuleType
from typing import TYPE_CHECKING

import numpy as np

from .. import native
from ..numerics.arrays import Array, Indices
from ..simulation.catalog import Catalog
from ..simulation.variable_functions import VariableFunctions
from .batch_conditions import Common, OneByOne
from .outputs import Output

if TYPE_CHECKING:
    from ..system import System

__all__ = ["LaneProgram"]


@dataclass(frozen=True)
class LaneProgram:
    """Machine code for many runs at once, and where it leaves every output.

    Attributes
    ----------
    lanes : the compiled steps
    code, slope, outputs : addresses
    width : scalars that make up all outputs
    slices : of these, per output
    times : in s, at which outputs are wanted
    extremes : whether their range is wanted
    """

    lanes: ModuleType
    code: Indices
    slope: int
    outputs: int
    width: int
    slices: tuple[slice, ...]
    times: Array
    extremes: bool

    @classmethod
    def of(cls, system: System, common: Common, outputs: Sequence[Output]) -> LaneProgram:
        """Written and compiled for a system.

        Raises
        ------
        OneByOne
            Where that cannot be.
        """
        functions = VariableFunctions(system, Catalog.of(system))
        indices, slices = _places_of(outputs, functions.catalog)
        times = {t for o in outputs if o.reduction in ("at", "course") for t in o.times}
        if not native.is_installed():
            raise OneByOne("llvmlite is not installed")
        from ..native import lanes
        from ..native.equations import equations_of
        from ..native.stages import arithmetic

        if reason := native.unwritable(common.problem):
            raise OneByOne(reason)
        equations = equations_of(system, common.problem.p)
        if equations.large:
            raise OneByOne("the model is large")
        slope, written = equations.in_lanes(lanes.LANES, functions.expression(tuple(indices)))
        return cls(lanes, arithmetic(lanes.LANES), slope, written, len(indices), slices,
                   np.array(sorted(times | {common.t0, common.t1})),
                   any(o.reduction in ("max", "min") for o in outputs))

    def values(self, output: Output, part: slice, common: Common, lows: Array, highs: Array,
               courses: Array) -> Array:
        """An output of all runs, in its unit, from what the lanes left."""
        values = {"max": highs, "min": lows}.get(output.reduction)
        if values is None:
            times = {"initial": (common.t0,), "final": (common.t1,)}.get(
                output.reduction, output.times)
            values = courses[:, np.searchsorted(self.times, times)]
            if output.reduction != "course":
                values = values[:, 0]
        values = np.moveaxis(values[..., part], -1, 1)
        return output.in_its_unit(values)


def _places_of(outputs: Sequence[Output], catalog: Catalog
               ) -> tuple[list[int], tuple[slice, ...]]:
    """Handles of all scalars that outputs are made of, and which of them are whose."""
    indices: list[int] = []
    slices = []
    for output in outputs:
        handles = output.handles(catalog)
        slices.append(slice(len(indices), len(indices) + len(handles)))
        indices += handles
    return indices, tuple(slices)
