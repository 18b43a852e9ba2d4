"""What must be said of a linear model beside its numbers?"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import casadi as ca
import numpy as np

from .linear_model import LinearModel
from .point import Point
from .reduction import Reduced

__all__ = ["changed_since", "notes_of"]

TRIED = np.array([0.37 + 0.71j, 13.0 + 29.0j])  # 1/s: where a gain that is always zero is zero
MOST_TOLD = 3


def changed_since(at: Any) -> list[str]:
    """A note on parameters that an operating point has with other values than the model now."""
    if not hasattr(at, "inputs_chosen"):  # an instant of a run, or the initial state
        return []
    system = at.point.system
    differs = set(np.flatnonzero(at.point.p != system.parameters()).tolist()) - set(
        at.inputs_chosen)
    if not differs:
        return []
    names = [f"{path}.{name}" for k, (path, name) in enumerate(system.parameter_names())
             if k in differs]
    return [f"This is the model at the operating point's own {', '.join(names[:MOST_TOLD])}, "
            "changed since: find the operating point again for the values of now."]


def notes_of(linear: LinearModel, point: Point, reduced: Reduced, sampled: list[str]) -> list[str]:
    """Gains that are zero and why, reactions that are not determined, and no equilibrium.

    ``sampled`` are the components through whose samples inputs or states would act.
    """
    notes = []
    if linear.remaining:
        first = [f"{path} = {value:.6g~P}" for path, value in linear.remaining.items()]
        notes.append("This is no equilibrium: " + ", ".join(first[:MOST_TOLD]) + (
            ", …" if len(first) > MOST_TOLD else "") + ". The model holds near this instant.")
    if reduced.undetermined:
        notes.append("How stuck elements share their load is not determined; the motion is.")
    if sampled:
        names = ", ".join(sampled[:MOST_TOLD]) + ", …" * (len(sampled) > MOST_TOLD)
        notes.append(f"{names} holds its samples: between them it answers nothing, and what passes "
                     "through it does not count here. Linearise with a continuous block in its "
                     "place, or measure by swept_response().")
    return notes + _zero_gains(linear, point, sampled)


def _zero_gains(linear: LinearModel, point: Point, sampled: list[str]) -> list[str]:
    """Which inputs do not reach which outputs, and who is in the way."""
    if not (linear.inputs and linear.outputs):
        return []
    gain = np.abs(linear.transfer(TRIED)).max(axis=0)
    pairs = [(i, o) for i in range(len(linear.inputs)) for o in range(len(linear.outputs))
             if gain[o, i] == 0]  # fmt: skip
    if not pairs:
        return []
    shown = ", ".join(f"{linear.outputs[o].path} from {linear.inputs[i].path}"
                      for i, o in pairs[:MOST_TOLD])
    stuck = {name: word for name, word in linear.modes_held.items() if word in ("stuck", "closed")}
    why = [f"{name} is {word}" for name, word in list(stuck.items())[:MOST_TOLD]]
    ends = [(load.input, [f"{word} {value:.6g} {load.input.unit} ({what})"
                          for value, word, what in ((load.low, "below", load.at_low),
                                                    (load.high, "above", load.at_high))
                          if np.isfinite(value)]) for load in linear.loads]
    beyond = [f"for {given.path} {' or '.join(words)}" for given, words in ends if words]
    if not why:
        causes = list(dict.fromkeys(_without_slope(point)))
        why = [*(f"{path} lets nothing through at this point" for path in causes[:MOST_TOLD]),
               *(f"{path} holds its samples" for path in sampled[:MOST_TOLD])]
    return [f"The gain to {shown} is zero"
            + (f": {', '.join(why)}" if why else ": nothing leads from one to the other") + "."
            + (f" By the linear model here it moves {'; '.join(beyond)}."
               if stuck and beyond else "")]  # fmt: skip


def _without_slope(point: Point) -> Iterator[str]:
    """Components with an equation in which some variable has no slope at this point."""
    system = point.system
    flat, writer = system.flat, system.tape.writer
    for group in flat.groups:
        law = group.law
        if law is None or law.order or not law.arguments:
            continue
        for k, kind in enumerate(law.slopes):
            if kind == "constant" or kind == "parameter":
                continue
            function = law.kernel.function("slope", law.symbols, law.partials[k])
            row = writer.call(function, group.family, law.arguments, group.instances)
            value = system.function("slope", ca.densify(row.T))(*point.arguments)
            for instance in group.instances[np.flatnonzero(value == 0)]:
                yield system.network.families[group.family].path(int(instance))
