"""Where does a model rest, or move as is wished?

An operating point is a state *and* a mode of all that sticks, slides or touches. Modes are tried
from where the model starts; what follows from a violated one is tried next, then all others.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from functools import cached_property
from itertools import chain, product
from time import process_time
from typing import Any
from warnings import catch_warnings, simplefilter

import casadi as ca
import numpy as np

from ...exceptions import BlocksError, InitialisationError, ParameterError, brief, unknown_name
from ...language.compiled_model import CompiledModel
from ...language.expression import TIME
from ...language.kernel import Kernel
from ...numerics.arrays import Array, Flags, Indices
from ...numerics.blas_threads import threads_for
from ...results.result import Result
from ...results.sheet import Sheet, Tabulated
from ...system.system import System
from ...units import Quantity, Unit, from_si, unit
from ..linear.derivatives import elements_of_system
from ..linear.linearise import held_words, modes_named, rate_of, state_named
from ..linear.point import Point, initial_point, run_point
from ..linear.signals import InputSignal, signals_of
from .equations import Equations, Solution
from .reactions import Reactions, reactions_of
from .solve_in_mode import out_of_bounds, why_inadmissible
from .targets import OperatingSpec, OutputSpec, read_spec

__all__ = ["OperatingPoint", "find_operating_point"]

MOST_MODES = 243  # combinations that are tried
ZERO = 1e-15  # of nominal values, shown as zero
SAME_SIGN = 1e-12  # of the nominal velocity: a flow that is zero
LATER = 10.0 ** np.arange(-2, 7)  # s, lengths of runs that may come near a point at rest
ROUGHLY = 1e-4  # relative tolerance of these
LONG_ENOUGH = 0.5  # s of this processor, after which no longer run is begun
MOST_SOURCES = 12  # inputs that are tried as a cure
TOLD = 6


class OperatingPoint(Tabulated):
    """States, modes and reactions at which a model rests or moves as is wished.

    Attributes
    ----------
    point : to be given to ``model.linearise(at=…)``
    modes : mapping of component to ``"stuck"``, ``"slides forward"``, …
    notes : what is not determined, what drifts, what has jumped over a fold

    Examples
    --------
    ::

        op = model.operating_point({"car.v": "90 km/h", "throttle.y": free})
        op["throttle.y"], op.table(), op.reactions()
        model.linearise("throttle.y", "car.v", at=op)
    """

    def __init__(self, name: str, solution: Solution, equations: Equations,
                 reactions: Reactions, guess: Point) -> None:
        self.name, self.point = name, solution.point
        self._equations, self._reactions = equations, reactions
        self._elements = elements_of_system(self.point.system)
        self.modes = dict(held_words(self.point))
        self._solution, self._guess = solution, guess

    @cached_property
    def notes(self) -> list[str]:
        """What is not determined, what drifts, what has jumped."""
        return [*_notes(self._solution, self._equations, self._reactions),
                *_jump(self._equations, self._guess, self.point)]

    def __getitem__(self, path: str) -> Quantity:
        """The value of a variable or input, in its unit."""
        system, signals = self.point.system, signals_of(self.point.system)
        where = f"operating point of {self.name}"
        try:
            found = signals.output(path, where)
        except ParameterError:
            raise
        except BlocksError as no_variable:
            try:
                one = signals.input(path, where)
            except BlocksError as no_input:
                known = [n for e in (no_variable, no_input) for n in e.data.get("known", ())]
                raise unknown_name(where, path, known, "variables and inputs") from None
            return from_si(one.sign * float(self.point.p[one.place]), one.unit)
        function = system.function("value", ca.vertcat(*(s.expression for s in found)))
        value = function(*self.point.arguments)
        return from_si(float(value[0]) if len(value) == 1 else value, found[0].unit)

    @property
    def inputs_chosen(self) -> list[int]:
        """Places of the inputs that the targets gave or left free, among the parameters."""
        spec = self._equations.spec
        return [s.place for s in (*spec.free, *(signal for signal, _ in spec.given))]

    @property
    def samples(self) -> Array:
        """Discrete values that are sampled and rest; nan for others."""
        return np.where(self._equations.samples_at_rest, self.point.d, np.nan)

    @property
    def free(self) -> dict[str, Quantity]:
        """The inputs that were free, with their values."""
        return {s.path: self[s.path] for s in self._equations.spec.free}

    def table(self) -> Sheet:
        """States, free inputs and their values."""
        system = self.point.system
        names = [state_named(system, i) for i in range(system.nx)]
        x = np.where(np.abs(self.point.x) > ZERO * self.point.scale_x, self.point.x, 0.0)
        values = [from_si(float(v), n.unit) for n, v in zip(names, x, strict=True)]
        return Sheet(f"Operating point of {self.name}", {
            "variable": [*self.free, *(n.path for n in names)],
            "value": [f"{v:.8g~P}" for v in (*self.free.values(), *values)],
        }, "\n".join(self.notes))  # fmt: skip

    def reactions(self) -> Sheet:
        """List what every element bears: mode, effort, how far it may differ, bounds, share."""
        r, rows = self._reactions, range(self._elements.size)
        units = [self._effort_unit(k) for k in rows]

        def shown(value: float, k: int) -> str:
            return f"{from_si(float(value), units[k]):.6g~P}"

        return Sheet(f"Reactions of {self.name}", {
            "component": self._labels,
            "mode": list(self.modes.values()),
            "effort": [shown(r.effort[k], k) if r.determined[k] else
                       f"{shown(r.least[k], k)} … {shown(r.most[k], k)}" for k in rows],
            "bears at rest": [f"{shown(r.low[k], k)} … {shown(r.high[k], k)}" for k in rows],
        }, f"Smallest possible largest share of what is borne at rest: {r.share:.6g}."
            if (self.point.modes == 0).any() else "")  # fmt: skip

    def interval(self, component: str) -> tuple[Any, Any]:
        """Least and largest effort that an element may have; equal where it is determined."""
        if component not in self._labels:
            raise unknown_name(f"operating point of {self.name}", component, self._labels,
                               "components with a mode")
        k, r = self._labels.index(component), self._reactions
        u = self._effort_unit(k)
        return from_si(float(r.least[k]), u), from_si(float(r.most[k]), u)

    @property
    def share(self) -> float:
        """Smallest possible largest share of what stuck elements bear; 0 where nothing sticks."""
        return self._reactions.share

    @property
    def undetermined(self) -> list[str]:
        """Components whose effort the motion does not determine."""
        return self._elements.labels(np.flatnonzero(~self._reactions.determined))

    _sheet = table

    def _sheets(self) -> list[Sheet]:
        return [self.table(), *([self.reactions()] if self.modes else [])]

    @property
    def _labels(self) -> list[str]:
        return self._elements.labels(np.arange(self._elements.size))

    def _effort_unit(self, k: int) -> Unit:
        f, _ = self._elements.owners[k]
        kernel = self.point.system.network.families[f].kernel
        return kernel.variables[kernel.index[self._elements.effort_names[k]]].unit


def _notes(solution: Solution, equations: Equations, reactions: Reactions) -> Iterator[str]:
    system, point = equations.system, solution.point
    moved = np.abs(solution.open).max(axis=1, initial=0.0)[: system.nx] if solution.open.size \
        else np.zeros(system.nx)
    left = [system.state_name(int(i)) for i in np.flatnonzero(moved > 1e-9 * point.scale_x)
            if i not in equations.drifting]  # fmt: skip
    first = system.nx + system.nz + system.nu
    left += [system.discrete_name(int(i)) for k, i in enumerate(equations.sampled, first)
             if np.abs(solution.open[k]).max(initial=0.0) > 1e-9]
    chosen = [f"{s.path} = {from_si(s.sign * float(point.p[s.place]), s.unit):.6g~P}" for k, s in
              enumerate(reversed(equations.spec.free), 1)
              if solution.open.size and np.abs(solution.open[-k]).max() > 1e-9]
    if chosen:
        twice = [text for text in solution.repeated if text in {
            w.text for w in equations.spec.values}]
        advice = ("what is stuck bears the difference. See stuck_range() for the others."
                  if (point.modes == 0).any() else
                  f"{' and '.join(twice)} ask for the same. Ask something else in place of one."
                  if len(twice) > 1 else "give a target for one of them, or for something else.")
        which = "is one of the values" if len(chosen) == 1 else "are some of the values"
        yield f"{', '.join(chosen)} {which} that meet all targets: {advice}"
    if left:
        yield (f"Not determined, and left near the start: {', '.join(left[:TOLD])}"
               + (", …" if len(left) > TOLD else "")
               + ". Give a target for each that matters.")
    slope = system.slope(*point.arguments)
    for i in equations.drifting:
        if abs(slope[i]) > 1e-9 * point.scale_x[i]:
            path, rate = rate_of(system, int(i), slope)
            yield f"{path} goes on changing, by {rate:.6g~P}; nothing depends on it."
    if not reactions.determined.all():
        yield "How stuck elements share their load is not determined; see reactions()."
    driven = [*_driven(system), *equations.restless] if equations.at_rest else []
    if driven:
        change, are = ("changes", "that is") if len(driven) == 1 else ("change", "they are")
        yield (f"{', '.join(driven[:TOLD])}{', …' * (len(driven) > TOLD)} {change} with time: this "
               f"is where it rests while {are} as at t = {point.t:.6g} s.")
    if equations.in_python:
        yield (f"{', '.join(equations.in_python[:TOLD])} works out its samples in Python: this is "
               "where the model rests while they are as at the start.")


def _jump(equations: Equations, guess: Point, point: Point) -> Iterator[str]:
    """Tell of a fold between the start and a point in the same modes."""
    same = np.array_equal(guess.modes, point.modes) and np.array_equal(guess.m, point.m)
    found = equations.up_to_fold(guess, point) if same else None
    if found is not None and point.system.nx:
        fold, share = found
        moved = np.abs(point.x - fold.x) / point.scale_x
        named, i = state_named(point.system, int(np.argmax(moved))), int(np.argmax(moved))
        there, here = (from_si(float(x[i]), named.unit) for x in (fold.x, point.x))
        yield (f"{named.path} jumps: solutions next to the start end at a fold, near "
               f"{there:.4g~P}, where {100 * share:.3g} % of what acts is borne. "
               f"Here it is {here:.4g~P}.")


def _driven(system: System) -> list[str]:
    """Components whose laws change with time, at once or by conditions, floors and tables of it."""
    families = system.network.families
    changing = [_changing(family.kernel) for family in families]
    return list(dict.fromkeys(
        families[group.family].path(int(i)) for group in system.flat.groups
        if group.law is not None and ca.depends_on(group.law.residual, changing[group.family])
        for i in group.instances))


def _changing(kernel: Kernel) -> ca.SX:
    """What changes with time whatever a model does: time itself, and what follows from it alone."""
    known = [TIME] + [kernel.symbols[i, 0] for i in (
        *kernel.floors_of_time, *(i for table in kernel.tables for i in table.row))]
    known += [symbol for symbol, (crossing, _) in zip(
        kernel.relation_symbols, kernel.relations, strict=True)
        if ca.depends_on(crossing, ca.vertcat(*known))]
    known += [kernel.symbols[i, 0] for condition, values in kernel.resets for i, _ in values
              if kernel.variables[i].kind == "discrete"
              and ca.depends_on(condition, ca.vertcat(*known))]
    return ca.vertcat(*known)


def find_operating_point(model: CompiledModel, targets: Mapping[str, Any] | None = None,
                         at_rest: bool = True, modes: Any = None) -> OperatingPoint:
    """See :meth:`blocks.Model.operating_point`."""
    guess = initial_point(model)
    with threads_for(guess.system.nx + guess.system.nz + guess.system.nu):
        return _found_from(guess, model, targets, at_rest, modes)


def _found_from(guess: Point, model: CompiledModel, targets: Mapping[str, Any] | None,
                at_rest: bool, modes: Any) -> OperatingPoint:
    spec = read_spec(guess.system, targets)
    guess = replace(guess, p=spec.parameters(guess.p), title="the operating point")
    equations = Equations(guess.system, spec, at_rest)
    guess = equations.with_sources(guess)
    if modes is not None:
        guess = guess.with_modes(modes_named(guess, modes, "operating_point(modes=…)"))
    trials = _inside_bounds(guess, spec)
    if modes is None:
        trials = chain(trials, (guess.with_modes(m) for m in _other_modes(guess)),
                       _later(model, guess, equations.sources) if at_rest and not targets else ())
    first, refused, tried = None, None, set[bytes]()
    for there in trials:
        found, solution = _next_to(there, equations, tried, modes is not None)
        first = first or solution
        if found is not None:
            error = why_inadmissible(found[0].point, spec)
            if error is None:
                return OperatingPoint(model.name, equations.with_meters(found[0]), equations,
                                      found[1], guess)
            refused = refused or error
    if refused is not None:
        raise refused
    assert first is not None
    raise _unmet(guess, equations, first)


def _inside_bounds(guess: Point, spec: OperatingSpec) -> Iterator[Point]:
    """Points beside the start that keep the bounds of the targets, and then the start."""
    count = 0 if out_of_bounds(guess, spec) is None else max(
        len(bound.inside) for bound in spec.bounds)
    for k in range(count):
        p, inner = guess.p.copy(), OperatingSpec()
        for bound in spec.bounds:
            one, value = bound.signal, bound.inside[min(k, len(bound.inside) - 1)]
            if isinstance(one, InputSignal):
                p[one.place] = one.sign * value
            else:
                inner.values.append(OutputSpec(one, value, one.path))
        moved = Equations(guess.system, inner, at_rest=False).solve(replace(guess, p=p))
        if moved.met:
            yield moved.point
    yield guess


def _next_to(there: Point, equations: Equations, tried: set[bytes], chosen: bool
             ) -> tuple[tuple[Solution, Reactions] | None, Solution | None]:
    """A solution with its reactions, in modes that follow from those of a point; the first one
    that does not meet all targets, or else the first.

    Where the modes were ``chosen``, in these.
    """
    first: Solution | None = None
    while True:
        key = there.modes.tobytes() + there.x.tobytes()
        if key in tried:
            return None, first
        tried.add(key)
        solution = equations.solve(there)
        if not solution.met:
            return None, solution
        first = first or solution
        reactions = reactions_of(solution.point, equations.derivatives.at(solution.point))
        following = _following(solution.point, equations, reactions)
        if following is None and not chosen:
            stuck = _at_rest(solution.point, equations)
            if (stuck != solution.point.modes).any():
                there = solution.point.with_modes(stuck)
                continue
        if following is None or chosen:
            return (equations.judged(solution, there), reactions), first
        there = there.with_modes(following)


def _at_rest(point: Point, equations: Equations) -> Indices:
    """The modes with all stuck that slides without speed, and begins no motion."""
    elements, v = elements_of_system(point.system), equations.derivatives.at(point).value
    still = (np.abs(v["flow"]) <= SAME_SIGN) & (np.abs(v["rate"]) <= SAME_SIGN) \
        & ~elements.contact & ~elements.valve
    return np.where(still, 0, point.modes)


def _later(model: CompiledModel, guess: Point, kept: Flags) -> Iterator[Point]:
    """Points of runs, ever later: out of a clearance or past a bend, where Newton's method stays.

    They are where to look from: what is found there meets the equations as anything else does.
    Discrete values that are ``kept`` are as at the start.
    """
    for length in LATER:
        begun = process_time()
        try:
            with catch_warnings():
                simplefilter("ignore")
                run = model.simulate(from_si(length, unit("s")), rtol=ROUGHLY, progress=False)
        except BlocksError:
            return
        took = process_time() - begun
        there = run_point(model, run, None)
        yield replace(there, t=guess.t, d=np.where(kept, guess.d, there.d), title=guess.title)
        if length > LATER[0] and took > LONG_ENOUGH:  # the first one compiles
            return


def _other_modes(guess: Point) -> Iterator[Indices]:
    """All at rest, then everything else, as far as that is few."""
    elements = elements_of_system(guess.system)
    yield np.zeros(elements.size, dtype=int)
    choices = [(0, -1) if two else (0, 1, -1) for two in elements.contact | elements.valve]
    if np.prod([float(len(c)) for c in choices]) <= MOST_MODES:
        for modes in product(*choices):
            yield np.array(modes)


def _following(point: Point, equations: Equations, reactions: Reactions) -> Indices | None:
    """Modes to try next, where those of a solution cannot be; None where they can."""
    modes, contact = point.modes, elements_of_system(point.system).contact
    v, e = equations.derivatives.at(point).value, reactions.effort
    ends = np.where(contact, v["gap"] < -1e-12 * (1 + np.abs(v["gap"])),
                    modes * v["flow"] < -SAME_SIGN)
    following = np.where(ends, 0, modes)
    if np.array_equal(following, modes) and not reactions.holds:
        following = np.where(modes == 0, np.select(
            [contact & (e < 0), e > reactions.high, e < reactions.low], [-1, 1, -1]), modes)
    return None if np.array_equal(following, modes) else following


# -- what cannot be met ----------------------------------------------------------------------
def _unmet(guess: Point, equations: Equations, solution: Solution) -> InitialisationError:
    """The error that names a smallest set of targets that conflict, by how much, and a cure."""
    if solution.met:
        return _in_no_modes(solution, equations)
    conflict = equations.conflict(guess.with_modes(solution.point.modes), solution)
    names = [equations.soft[k] for k in conflict]
    advice = list(_cures(guess, equations, solution))
    held = list(_closed_in_the_way(guess, equations, solution))
    if not conflict:
        problem = "the equations have no solution near the initial state, whatever is wished."
        advice = advice or ["Give initial targets closer to a possible state."]
    elif len(conflict) == 1:
        problem = f"{names[0]} is not possible{_by_how_much(equations, solution, conflict)}"
        problem += f": {' and '.join(held)}." if held else "."
        if conflict[0] < len(equations.resting):
            advice.append(f"{'Or c' if advice else 'C'}onnect what cannot rest to what can, "
                          "such as a moving part to the ground by a spring, damper or friction.")
    else:
        problem = (f"{' and '.join(names[:TOLD])} cannot be had together"
                   f"{_by_how_much(equations, solution, conflict)}.")
        advice = advice or ["Give up one of them, or leave an input free."]
    return InitialisationError("operating_point()", problem, " ".join(advice),
                               code="analysis.conflict", conflict=tuple(names))


def _in_no_modes(solution: Solution, equations: Equations) -> InitialisationError:
    """The error where all targets are met, but in modes that cannot be there."""
    point, elements = solution.point, elements_of_system(equations.system)
    following = _following(point, equations, reactions_of(point, equations.derivatives.at(point)))
    names = [] if following is None else elements.labels(np.flatnonzero(following != point.modes))
    return InitialisationError(
        "operating_point()", "no equilibrium was found: where everything rests, "
        f"{' and '.join(names[:TOLD]) or 'some element'} would have to slide against its friction, "
        "or bear more than it can, and in no other modes that were tried does everything rest.",
        "Where a run settles, give targets near its end, or choose modes={…}.",
        code="analysis.modes", conflict=tuple(names))


def _closed_in_the_way(guess: Point, equations: Equations, solution: Solution) -> Iterator[str]:
    """Closed contacts without any one of which all could be had, in words."""
    elements = elements_of_system(equations.system)
    closed = np.flatnonzero((solution.point.modes == 0) & elements.contact)
    for k in closed[:MOST_SOURCES]:
        modes = solution.point.modes.copy()
        modes[k] = -1
        if equations.solve(guess.with_modes(modes)).met:
            yield f"{elements.label(int(k))} is closed"


def _by_how_much(equations: Equations, solution: Solution, conflict: list[int]) -> str:
    """What of a conflict is left, in the units of the rates that shall be zero."""
    system, count = equations.system, len(equations.resting)
    resting = [k for k in conflict if k < count]
    if not resting:
        return ""
    others = np.ones(len(equations.soft), dtype=bool)
    others[resting] = False
    point = equations.solve(solution.point, others).point
    slope = system.slope(*point.arguments)
    told = []
    for k in resting[:3]:
        path, rate = rate_of(system, int(equations.resting[k]), slope)
        told.append(f"der({path}) would be {rate:.6g~P}")
    return ": " + ", ".join(told)


def _cures(guess: Point, equations: Equations, solution: Solution) -> Iterator[str]:
    """Single inputs that, if they were free, would meet all targets."""
    system, spec = equations.system, equations.spec
    signals = signals_of(system)
    tried = 0
    for path in signals.parameters(varying=True):
        if tried == MOST_SOURCES or any(s.path == path for s in spec.free):
            break
        tried += 1
        try:
            one = signals.input(path, "")
        except Exception:
            continue
        other = Equations(system, OperatingSpec(spec.values, [*spec.free, one], spec.given),
                          bool(len(equations.resting)))
        found = other.solve(guess.with_modes(solution.point.modes))
        if found.met:
            value = from_si(one.sign * float(found.point.p[one.place]), one.unit)
            yield f"{path} = {value:.6g~P} would do: give it that, or {{{path!r}: free}}."


# -- the start of a run ----------------------------------------------------------------------
def start_state(model: CompiledModel, initial: Any) -> tuple[Array, Array, Array, Array]:
    """States, torn unknowns, relations and discrete values that ``simulate(initial=…)`` means.

    Of discrete values those that are sampled and rest; nan for others.
    """
    where = "simulate(initial=…)"
    if initial == "steady state":
        initial = find_operating_point(model, None, True, None)
    if isinstance(initial, Result):
        path = next(iter(initial.recording.states), "block.v")
        raise ParameterError(where, "is a run; it takes 'steady state' or an operating point.",
                             "A run goes on where it is with run = model.stepper(), "
                             "run.advance('1 s') again and again. Another one starts where the "
                             "states of this one end when the model is given these: "
                             f"model.{path} = result[{path!r}].final.")
    if not isinstance(initial, OperatingPoint):
        raise ParameterError(where, f"takes 'steady state' or an operating point, but was given "
                             f"{brief(initial)}.", "Write initial='steady state'.")
    point = initial.point
    system = model.compile()
    if point.system is not system:
        raise ParameterError(where, "is an operating point of another model, or of this one before "
                             "its structure was changed, or values that it is solved by in another "
                             "order.", "Find the operating point again.")
    changed = np.flatnonzero(point.p != system.parameters())
    if len(changed):
        free = ", ".join(f"{path} = {value:.6g~P}" for path, value in initial.free.items())
        raise ParameterError(where, "is an operating point with other values of parameters than "
                             "the model has now.", f"Give the model {free or 'these'} first.")
    return point.x.copy(), point.z.copy(), point.m.copy(), initial.samples
