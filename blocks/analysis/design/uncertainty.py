"""How uncertain is a result, and which parameter matters? To first order, by sensitivities."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Unpack

import numpy as np

from ...exceptions import ParameterError, told_how_to_call
from ...language.compiled_model import CompiledModel
from ...results.sheet import Sheet, Tabulated
from ...simulation.settings import Options, refuse_no_mapping
from ...studies.settings import RunOptions
from ...units import Quantity, from_si, size_in_si, unit
from ..sensitivity.sensitivities import refuse_other_options, run_with_sensitivities
from ..sensitivity.start_derivatives import moved_settings
from .reductions import Reduction

__all__ = ["Uncertainty", "first_order"]


@dataclass(frozen=True, repr=False)
class Uncertainty(Tabulated):
    """Spread of numbers of a run, as parameters spread independently of each other.

    Attributes
    ----------
    values, deviations : of every output: its value, and its standard deviation
    shares : per output, the part of its variance that each parameter brings
    """

    values: dict[str, Quantity]
    deviations: dict[str, Quantity]
    shares: dict[str, dict[str, float]]

    def _sheet(self) -> Sheet:
        parameters = list(next(iter(self.shares.values())))
        return Sheet("Uncertainty, to first order", {
            "output": list(self.values),
            "value": [f"{v:.6g~P}" for v in self.values.values()],
            "standard deviation": [f"{v:.4g~P}" for v in self.deviations.values()],
            **{f"by {p}": [f"{100 * round(s[p], 9):.3g} %" for s in self.shares.values()]
               for p in parameters}})  # fmt: skip


@told_how_to_call
def first_order(model: CompiledModel, spread: Mapping[str, Any], duration: Any,
                outputs: Sequence[str], *, rtol: float = 1e-8,
                **options: Unpack[RunOptions]) -> Uncertainty:
    """Carry the spread of parameters through a run, to first order, by its sensitivities.

    Good while the outputs are about straight lines over the spread; ``model.sweep`` with the same
    distributions samples them instead.

    Parameters
    ----------
    model : Model
    spread : mapping
        Path to a standard deviation, ``{"block.mass": "0.1 kg"}``, or to a frozen distribution of
        scipy.stats with its unit, ``(norm(2, 0.1), "kg")``. Values are those of the model.
    duration : str or quantity
    outputs : sequence of str
        ``"max(spring.f)"``, also ``min``, ``initial``, ``final``, ``mean``, ``rms``, ``integral``,
        ``"at(spring.f, 1 s)"``.
    rtol, **options
        As in :meth:`~blocks.Model.simulate`.
    """
    where = "first_order(spread=…)"
    refuse_other_options(options, first_order)
    refuse_no_mapping(spread, where, "{'block.mass': '0.1 kg'}")
    asked = [Reduction.read(text, "first_order(outputs=…)") for text in
             (outputs if isinstance(outputs, (list, tuple)) else [outputs])]
    if not asked or not spread:
        raise ParameterError("first_order()", "has nothing to look at.",
                             "Give spread={path: deviation} and outputs=['max(spring.f)'].")
    settings = moved_settings(model, list(spread), where)
    deviations = np.array([_deviation(given, s.declared.unit, f"{where}, {s.path}")
                           for s, given in zip(settings, spread.values(), strict=True)])
    run = run_with_sensitivities(model, duration, Options(rtol=rtol, progress=False, **options),
                                 list(spread), where)
    values, spreads, shares = {}, {}, {}
    for one in asked:
        shown = one.unit_in(model)
        parts = (one.gradient(run, run.sensitivities) * deviations) ** 2
        values[one.text] = from_si(one.value(run), shown)
        spreads[one.text] = from_si(np.sqrt(parts.sum()), shown.as_difference)
        whole = parts.sum() or 1.0
        shares[one.text] = dict(zip(spread, (parts / whole).tolist(), strict=True))
    return Uncertainty(values, spreads, shares)


def _deviation(given: Any, expected: Any, where: str) -> float:
    """A standard deviation in SI units."""
    if isinstance(given, (tuple, list)) and len(given) == 2 and hasattr(given[0], "std"):
        distribution, text = given
        given = float(distribution.std()) * unit(text).as_difference.pint
    return float(size_in_si(given, expected, where))
