"""The linear model of a model at a point, in the mode there or in others.

Ties the files of this wing together: paths become signals, a point is settled in a mode,
derivatives are reduced, and what comes of it gets names, units and words.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import chain, product
from typing import Any, Literal, overload

import casadi as ca
import numpy as np

from ...exceptions import ParameterError, SimulationError, brief, told_how_to_call, unknown_name
from ...language.compiled_model import CompiledModel
from ...nonsmooth.modes.elements import Elements
from ...numerics.arrays import Array, Flags, Indices
from ...numerics.tolerances import LAST_BITS
from ...results.sheet import Sheet, Tabulated
from ...results.values.modes import SLIDES, TOUCHES, code_of
from ...system.system import System
from ...units import from_si, unit
from ..equilibrium.solve_in_mode import solved_in_mode
from .derivatives import Derivatives, DerivativesAt, derivatives_of, elements_of_system
from .linear_model import LinearModel, Named
from .loads import begins, loads_of
from .point import Point, point_of
from .reduction import Reduced, positional_states, reduce
from .sampled import SampledValues
from .signals import InputSignal, OutputSignal, ratio_unit, signals_of
from .words import changed_since, notes_of

__all__ = ["LinearModels", "held_words", "linearise", "modes_named", "rate_of",
           "relations_on_edge", "state_named"]

ON_THE_EDGE = 1e-10  # of what a crossing function is made of: it is zero
SAME = 1e-12  # of the largest entry: matrices that are the same
MOST_MODES = 729  # combinations that are tried


class LinearModels(Tabulated, Sequence[LinearModel]):
    """Linear models of several modes at one point, each with the loads for which it holds."""

    def __init__(self, title: str, models: Sequence[LinearModel]) -> None:
        self.title, self._models = title, list(models)

    @overload
    def __getitem__(self, k: int) -> LinearModel: ...
    @overload
    def __getitem__(self, k: slice) -> list[LinearModel]: ...
    def __getitem__(self, k: int | slice) -> LinearModel | list[LinearModel]:
        return self._models[k]

    def __len__(self) -> int:
        return len(self._models)

    def of(self, **modes: str) -> LinearModel:
        """Return the model in which elements have these modes, by name with ``_`` for dots."""
        for one in self._models:
            held = {k.replace(".", "_"): v for k, v in one.modes_held.items()}
            if all(held.get(k) == v for k, v in modes.items()):
                return one
        raise ParameterError("", "no such mode is possible at this point.",
                             "Print the list to see those that are.")  # fmt: skip

    def table(self) -> Sheet:
        """Modes, poles and loads."""
        return Sheet(self.title, {
            "mode": [m.side for m in self._models],
            "poles [1/s]": [", ".join(f"{p:.6g}" if p.imag else f"{p.real:.6g}" for p in m.poles())
                            or "none" for m in self._models],
            "holds": ["; ".join(map(str, m.loads)) for m in self._models]})

    _sheet = table


@overload
def linearise(model: CompiledModel, inputs: Any = None, outputs: Any = None, at: Any = None, *,
              modes: Literal["all"]) -> LinearModels: ...


@overload
def linearise(model: CompiledModel, inputs: Any = None, outputs: Any = None, at: Any = None, *,
              modes: Any = None) -> LinearModel: ...


@told_how_to_call
def linearise(model: CompiledModel, inputs: Any = None, outputs: Any = None, at: Any = None,
              modes: Any = None) -> LinearModel | LinearModels:
    """See :meth:`blocks.Model.linearise`."""
    point = point_of(model, at)
    signals = signals_of(point.system)
    given = signals.inputs(_paths(inputs, "linearise(inputs=…)"), "linearise(inputs=…)")
    asked = signals.outputs(_paths(outputs, "linearise(outputs=…)"), "linearise(outputs=…)")
    derivatives = derivatives_of(point.system, given, asked)
    maker = _Maker(model.name, given, asked, derivatives, changed_since(at))
    if isinstance(modes, str) and modes == "all":
        return maker.every_mode(point)
    if modes is not None:
        point = solved_in_mode(point.with_modes(modes_named(point, modes)), derivatives)
    return maker.with_sides(point)


def _paths(given: Any, where: str) -> list[str]:
    if given is None:
        return []
    if isinstance(given, str):
        return [given]
    if not isinstance(given, (list, tuple)) or not all(isinstance(p, str) for p in given):
        raise ParameterError(where, f"takes paths as texts, but was given {brief(given)}.",
                             "Write for example 'push.force', or ['push.force', 'brake.torque'].",
                             given=given)  # fmt: skip
    return list(given)


class _Maker:
    """Linear models of one model with the same inputs and outputs."""

    def __init__(self, name: str, inputs: list[InputSignal], outputs: list[OutputSignal],
                 derivatives: Derivatives, notes: list[str]) -> None:
        self.name, self.inputs, self.outputs = name, inputs, outputs
        self.derivatives, self.notes = derivatives, notes
        self._sampled = SampledValues.of(derivatives.system).components(derivatives.passing)

    def with_sides(self, point: Point) -> LinearModel:
        """The model at a point, with those of other sides where it stands on an edge."""
        at = self.derivatives.at(point)
        first = self.one(point, at)
        sides: list[LinearModel] = []
        for other in self._others(point, at):
            if not any(_same(known, other) for known in (first, *sides)):
                sides.append(other)
        if not sides:
            return first
        side = _side_words(point, point)
        note = (f"At an edge: this is {f'the side {side!r}' if side else 'one side'}; the other "
                "one holds as well, see .sides, and no average of them does.")
        return replace(first, sides=sides, side=side, notes=[note, *first.notes])

    def every_mode(self, point: Point) -> LinearModels:
        """All modes that are possible at the states of a point, for some load."""
        elements, found = elements_of_system(point.system), []
        if not elements.size:
            return LinearModels(f"Modes of {self.name}", [self.with_sides(point)])
        here = self.derivatives.at(point)
        choices = [_choices(point, here, k) for k in range(elements.size)]
        if np.prod([float(len(c)) for c in choices]) > MOST_MODES:
            raise ParameterError(
                "linearise(modes='all')", f"{elements.size} elements at rest have more than "
                f"{MOST_MODES} modes.", "Name the modes: modes={'brake': 'stuck', …}.",
                code="analysis.modes")  # fmt: skip
        refused = None
        for modes in product(*choices):
            there = solved_in_mode(point.with_modes(np.array(modes)), self.derivatives)
            at = self.derivatives.at(there)
            try:
                one = self.one(there, at)
            except SimulationError as error:
                if error.code != "analysis.tied":
                    raise
                refused = error  # it holds for one value of the input alone
                continue
            if not any(load.empty for load in one.loads) and not (
                    begins(there, at) and any(load.is_point for load in one.loads)):
                found.append(replace(one, side=", ".join(
                    f"{k} {v}" for k, v in one.modes_held.items())))
        if refused is not None and not found:
            raise refused
        return LinearModels(f"Modes of {self.name} at {point.title}", found)

    # -- one model -------------------------------------------------------------------------
    def one(self, point: Point, at: DerivativesAt) -> LinearModel:
        """The linear model of a point's mode."""
        refuse_infinite(point, at)
        reduced = reduce(point, at)
        system = point.system
        states = [state_named(system, int(i)) for i in reduced.states]
        inputs = [Named(s.path, s.unit.as_difference) for s in self.inputs]
        outputs = [Named(s.path, s.unit.as_difference) for s in self.outputs]
        remaining = _remaining(point, at, reduced)
        fx, fu, fy = (np.array([n.unit.factor for n in names])
                      for names in (states, inputs, outputs))
        a = reduced.a * (fx / fx[:, None]) if isinstance(reduced.a, np.ndarray) \
            else reduced.a.multiply(fx).multiply(1 / fx[:, None]).tocsc()
        linear = LinearModel(f"{self.name} at {point.title}", a, reduced.b * fu / fx[:, None],
                             reduced.c * fx / fy[:, None], reduced.d * fu / fy[:, None], states,
                             inputs, outputs, modes_held=dict(held_words(point)),
                             frozen=_frozen(point, reduced),
                             loads=loads_of(point, at, reduced, inputs, not remaining),
                             remaining=remaining, point=point)
        return replace(linear, notes=[*self.notes, *notes_of(
            linear, point, reduced, self._sampled)])

    # -- edges -----------------------------------------------------------------------------
    def _others(self, point: Point, at: DerivativesAt) -> Iterator[LinearModel]:
        """The models of the other sides of relations and modes that stand on an edge."""
        every = np.arange(len(point.modes))
        beside = [replace(point, m=m, sides=side) for m, side in self._edges(point)]
        beside += [point.with_modes(np.where(every == k, mode, point.modes))
                   for k, mode in modes_on_edge(point, at)]
        for one, words in chain(((one, "") for one in beside), beside_corners(point)):
            other = solved_in_mode(one, self.derivatives)
            yield replace(self.one(other, self.derivatives.at(other)),
                          side=words or _side_words(other, point))

    def _edges(self, point: Point) -> Iterator[tuple[Array, Array]]:
        """Relations and sides of kinks beside an edge: all together, then each by itself."""
        side, tied = self.derivatives.sides(point)
        relations = relations_on_edge(point)
        if not (tied.any() or relations.any()):
            return
        for value in (1.0, 0.0):
            yield np.where(relations, value, point.m), np.where(tied, value, side)
        for r in np.flatnonzero(relations):
            yield np.where(np.arange(len(point.m)) == r, 1.0 - point.m, point.m), side
        for k in np.flatnonzero(tied):
            yield point.m, np.where(np.arange(len(side)) == k, 1.0 - side, side)

def _choices(point: Point, at: DerivativesAt, k: int) -> list[int]:
    """The modes of an element that the states of a point leave it, for some load."""
    elements = elements_of_system(point.system)
    flow, low, high = (at.value[name][k] for name in ("flow", "low", "high"))
    if elements.contact[k]:
        return [0, -1] if point.modes[k] == 0 else [-1]
    if elements.valve[k] and low == high:  # a gate says so
        return [-1]
    if elements.valve[k] and np.isinf(low) and np.isinf(high):
        return [0]
    if elements.valve[k]:  # a state keeps what it is: a voltage beside it, a current through it
        return [mode for mode, zero in ((0, "flow"), (-1, "effort"))
                if at.value[zero][k] == 0 or any(at.by[zero, of][[k]].nnz for of in ("u", "z"))]
    if point.modes[k] != 0 and flow != 0:
        return [int(np.sign(flow))]
    return [0, 1, -1]


def _same(a: LinearModel, b: LinearModel) -> bool:
    return [n.path for n in a.states] == [n.path for n in b.states] and all(
        not (m.size and abs(m - n).max() > SAME * abs(m).max())
        for m, n in ((a.A, b.A), (a.B, b.B), (a.C, b.C), (a.D, b.D)))


def relations_on_edge(point: Point) -> Flags:
    """Held relations whose crossing function is zero."""
    system = point.system
    if not system.nm:
        return np.zeros(0, dtype=bool)
    tape = system.tape
    by_all = system.once("crossings by x", lambda: system.jacobian(
        tape.crossings, ca.vertcat(tape.x, tape.z, tape.p)))
    g = system.crossings(*point.arguments)
    slope = abs(by_all.sparse(*point.arguments))
    size = slope @ np.abs(np.concatenate([point.x, point.z, point.p]))
    return np.asarray(np.abs(g) <= ON_THE_EDGE * size)


def beside_corners(point: Point) -> Iterator[tuple[Point, str]]:
    """Points just before and behind corners of tables over states; of which state there is more."""
    tables, x = point.system.state_tables, point.x
    at = point.system.once("places by states", lambda: ca.Function(
        "places", point.system.arguments, [
            tables.places, ca.jacobian(tables.places, point.system.tape.x)]))(*point.arguments)
    for place, row, (near, *borders) in zip(
            np.array(at[0]).ravel(), np.array(at[1]), tables.borders(point.p)[: tables.tables],
            strict=False):
        size = np.abs(place) + np.abs(row) @ np.abs(x) + near
        path = point.system.state_name(int(np.abs(row).argmax()))
        for border, way in product(borders, (1.0, -1.0)):
            if abs(place - border) <= ON_THE_EDGE * size:
                off = border - place + way * LAST_BITS * size
                yield replace(point, x=x + off * row / (row @ row)), (
                    f"{path} a little {'more' if way > 0 else 'less'}")


def modes_on_edge(point: Point, at: DerivativesAt) -> Iterator[tuple[int, int]]:
    """Elements at the end of their mode, and the mode beyond it."""
    elements, v = elements_of_system(point.system), at.value
    stuck, contact, effort = point.modes == 0, elements.contact, v["effort"]
    size = np.abs(effort)
    begins = elements.valve & (at.by["effort", "x"] @ v["slope"] != 0)  # a current, or ends
    held = stuck & ~contact & (v["low"] != v["high"]) & ~begins
    high, low = (held & (np.abs(effort - v[bound]) <= 1e-9 * np.maximum(size, 1e-300))
                 for bound in ("high", "low"))
    low |= stuck & contact & (size <= 1e-9 * max(size.max(initial=0.0), 1.0))
    touches = (np.abs(v["gap"]) <= 1e-12) & (np.abs(v["flow"]) <= 1e-12)
    ends = {1: high, -1: low, 0: ~stuck & np.where(contact, touches, v["flow"] == 0)}
    for k in range(elements.size):
        yield from ((k, mode) for mode, there in ends.items() if there[k])


def _side_words(point: Point, of: Point) -> str:
    """What tells a side from the others: the modes, or who owns the relation."""
    system = point.system
    parts = [f"{k} {v}" for k, v in held_words(point)]
    edge = relations_on_edge(of)
    for f, r, offset in system.tape.relation_layout:
        family = system.network.families[f]
        for k in np.flatnonzero(edge[offset : offset + family.size]):
            crossing = family.kernel.relation_symbols[r].name()
            holds = point.m[offset + k] > 0.5
            parts.append(f"{family.path(int(k))}: {crossing if holds else f'not {crossing}'}")
    return ", ".join(parts)


# -- names and words of a point -------------------------------------------------------------
def held_words(point: Point) -> Iterator[tuple[str, str]]:
    """Who is in which mode."""
    elements = elements_of_system(point.system)
    for k, words in enumerate(_words_of(elements)):
        yield elements.label(k), words.get(int(point.modes[k]), "")


def _words_of(elements: Elements) -> list[Mapping[int, str]]:
    """What the modes of each element are called."""
    return [TOUCHES if two else SLIDES for two in elements.contact | elements.valve]


def modes_named(point: Point, modes: Any, where: str = "linearise(modes=…)") -> Indices:
    """Modes by name of the component; those not named stay as they are."""
    elements = elements_of_system(point.system)
    labels = elements.labels(np.arange(elements.size))
    if not isinstance(modes, Mapping):
        raise ParameterError(where, "takes 'all', or modes by component.",
                             "Write for example modes={'brake': 'stuck'}.")  # fmt: skip
    found = point.modes.copy()
    for name, word in modes.items():
        label = name.removesuffix(".mode")
        if label not in labels:
            raise unknown_name(where, name, labels, "components with a mode")
        k = labels.index(label)
        found[k] = code_of(word, _words_of(elements)[k], f"{where}: {name}")
    return found


def state_named(system: System, i: int) -> Named:
    """Path and unit of a state."""
    known: dict[int, Named] = system.cache.setdefault("named states", {})
    if i not in known:
        slot, own = system.class_names.slot.get(int(system.tape.reduced.states[i])), unit("")
        if slot is not None:
            held = system.flat.at_slot(slot)
            own = held.local.unit.as_difference
            for _ in range(held.order):
                own = ratio_unit(own, unit("s"))
        known[i] = Named(system.state_name(i), own)
    return known[i]


def rate_of(system: System, i: int, slope: Array) -> tuple[str, Any]:
    """The path of a state, and its rate with a unit."""
    named = state_named(system, i)
    return named.path, from_si(float(slope[i]), ratio_unit(named.unit, unit("s")))


def _frozen(point: Point, reduced: Reduced) -> dict[str, str]:
    """States that are none in this mode, and why."""
    system, out = point.system, {}
    stuck = [name for name, word in held_words(point) if word in ("stuck", "closed")]
    why = f" while {' and '.join(stuck[:3])} {'is' if len(stuck) == 1 else 'are'} at rest" \
        if stuck else ""
    for i in reduced.tied:
        out[system.state_name(int(i))] = "tied to other states or inputs" + why
    for i, others in reduced.redundant.items():
        terms = " ".join(f"{'-' if f < 0 else '+'} {abs(f):.6g} {system.state_name(j)}"
                         for j, f in list(others.items())[:6]).replace(" 1 ", " ")
        out[system.state_name(i)] = f"changes as {terms.removeprefix('+ ')}" if terms \
            else f"frozen{why}"
    return out


def _remaining(point: Point, at: DerivativesAt, reduced: Reduced) -> dict[str, Any]:
    """Rates of states at a point that is no equilibrium."""
    slope, scale = at.value["slope"], point.scale_x
    position = positional_states(point.system)
    used = np.asarray(abs(reduced.a).sum(axis=0)).ravel() > 0
    rates = (rate_of(point.system, int(i), slope) for k, i in enumerate(reduced.states)
             if (used[k] or not position[i]) and abs(slope[i]) > 1e-7 * scale[i])
    return {f"der({path})": rate for path, rate in rates}


def refuse_infinite(point: Point, at: DerivativesAt) -> None:
    """Stop where a slope is not finite, naming the variables."""
    for row, argument in at.by:
        bad = np.flatnonzero(~np.isfinite(at.by[row, argument].data))
        if not len(bad):
            continue
        entries, k, system = at.by[row, argument].tocoo(), int(bad[0]), point.system
        by = {"x": system.state_name, "z": system.torn_name}.get(argument)
        name = by(int(entries.col[k])) if by else f"an {'effort' if argument == 'u' else 'input'}"
        of = system.state_name(int(entries.row[k])) if row == "slope" else row
        raise ParameterError(
            name, f"has an infinite slope at this point: that of der({of}) by it, as of sqrt(x) "
            "at x = 0.", "Linearise beside this point, or take a law that is smooth there, such "
            "as one with a laminar range.", code="analysis.infinite")
