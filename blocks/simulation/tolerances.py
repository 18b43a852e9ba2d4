"""Which absolute tolerance does every unknown have?"""

from __future__ import annotations

from functools import cached_property
from typing import Any

import numpy as np

from ..exceptions import ParameterError, brief
from ..numerics.arrays import Array
from ..numerics.tolerances import ABSOLUTE_SHARE
from ..system.problem import Problem
from ..system.system import System
from ..units import describe, sizes_by_dimension, unit, unit_given

__all__ = ["Tolerances"]

WHERE = "simulate(atol=…)"


class Tolerances:
    """Absolute tolerances of a problem's scaled unknowns."""

    def __init__(self, system: System, rtol: float, atol: Any) -> None:
        if not (isinstance(rtol, (int, float)) and 0 < rtol < 1):
            raise ParameterError("simulate(rtol=…)", f"must be a number between 0 and 1, but is "
                                 f"{brief(rtol)}.", given=rtol)
        self.factor = rtol * ABSOLUTE_SHARE
        self.by_dimension: dict[Any, float] = {}
        if isinstance(atol, (int, float)):
            self.factor = float(atol)
            if not self.factor > 0:
                raise ParameterError(WHERE, f"must be greater than 0, but is {brief(atol)}.",
                                     given=atol)
        elif atol is not None:
            given = [atol] if isinstance(atol, str) or hasattr(atol, "units") else list(atol)
            for size in given:
                if not unit_given(size, WHERE).text:
                    raise ParameterError(
                        WHERE, f"was given {brief(size)}, which names no unit.",
                        "One number, atol=1e-9, counts for all, as a part of what is usual of each "
                        "variable; others are of all variables in their unit: atol=['1 nm', "
                        "'1 um/s'].", given=atol)
            self.by_dimension = {
                d: size for d, (size, _) in sizes_by_dimension(given, WHERE).items()}
        self.system = system

    def __call__(self, problem: Problem) -> Array:
        return self.of_states(problem)[problem.free] / problem.scale

    def of_states(self, problem: Problem) -> Array:
        """Absolute tolerances of all states, in SI units."""
        out: Array = problem.scale_x * self.factor
        if self.by_dimension:
            given = self.by_class[self.system.tape.reduced.states]
            out = np.where(np.isfinite(given), given, out)
        return out

    @cached_property
    def by_class(self) -> Array:
        """Absolute tolerances in SI units that were given; nan where there is none.

        Raises ParameterError for one that no variable of the model could have.
        """
        flat = self.system.flat
        found = np.full(flat.classes, np.nan)
        second = unit("s").dimension
        unused = set(self.by_dimension)
        for base, size, f, (i, order) in flat.slot_runs:
            local = flat.network.families[f].kernel.variables[i]
            dimension = local.unit.dimension / second**order if order else local.unit.dimension
            if dimension in self.by_dimension:
                found[flat.class_of[base : base + size]] = self.by_dimension[dimension]
                unused.discard(dimension)
        if unused:
            raise ParameterError(
                WHERE, f"no variable of the model is in {describe(next(iter(unused)))}.",
                "Name tolerances in units of its variables.",
            )  # fmt: skip
        return found
