"""How does a model become a page that simulates in the browser? One file with everything in it.

The run is WebAssembly. What a slider moves is a word of its memory; where else the start of a run
follows that parameter (start values, tolerances by nominal values), this is written down for every
position of the slider, as Python has found it.
"""

from __future__ import annotations

import base64
import copy
import gzip
import json
import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from html import escape
from itertools import chain, combinations, product
from math import isclose
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np

from ..exceptions import ModelError, ParameterError, WrongCall, brief, unknown_name
from ..initialisation.initial_values import InitialWarning
from ..language.declarations import Option, declarations
from ..native.stages import ATOL
from ..nonsmooth.modes.elements import Change
from ..nonsmooth.modes.islands import NetworkModes
from ..numerics.arrays import Array, Indices
from ..results.formatting import label, pretty
from ..results.page.run_page import Page, network, parameters, text_of
from ..simulation.settings import Options
from ..units import Unit, from_si, to_si, unit_given
from .chosen_states import choice_of, may_leave
from .fmu import try_out
from .header import header
from .program import NOTHING, Instants, Program, Variable, constants_of_modes, listed
from .targets import BROWSER, filled, here, library
from .time_steps import LOOKS, TimeSteps

__all__ = ["page"]

POSITIONS = 60  # about so many a slider has
WIDE = 100.0  # times its low end: from there on positions are even on a logarithmic scale
STEPS = 1.0, 2.0, 2.5, 5.0, 10.0
ALIKE = 1e-9  # of what modes do that were learned with other values of a parameter
CALLED = "page"
FOLLOWING = "present", "sizes", "rank", "at", "words", "atol"  # of choices of states


@dataclass(frozen=True)
class Slider:
    """What a reader moves."""

    variable: Variable  # the parameter
    unit: Unit  # in which it is shown
    values: Array  # at its positions, in that unit
    si: Array  # the same in SI units
    start: int  # its position as the model has it

    @property
    def path(self) -> str:
        return self.variable.info.path

    @classmethod
    def of(cls, variable: Variable, given: Any) -> Slider:
        """A slider from one value to another."""
        path, declared = variable.info.path, variable.info.unit
        where = f"page(sliders={{{path!r}: …}})"
        if isinstance(given, str) or not isinstance(given, Sequence) or len(given) != 2:
            raise WrongCall(where, f"takes the values at both ends, but was given {brief(given)}.",
                            f"Write ('1 {declared}', '10 {declared}').", given=given)
        assert declared is not None
        ends = [float(to_si(one, declared, where)) for one in given]
        shown = declared if declared.is_dimensionless else unit_given(given[0], where)
        low, high, own = ((si - shown.offset) / shown.factor for si in (*ends, variable.start))
        if not low < high or not low <= own <= high:
            raise ParameterError(
                where, f"has to lead from a smaller value to a larger one, with that of the model "
                f"({own:.6g} {shown}) between them, but was given {given[0]} and {given[1]}.",
                "Give other ends, or the model another value.", given=given)
        values = positions(low, high)
        others = np.abs(values - own) > ALIKE * (high - low)
        values = np.unique(np.append(values[others], own))
        start = int(np.searchsorted(values, own))
        si = values * shown.factor + shown.offset
        si[start] = variable.start
        return cls(variable, shown, values, si, start)


def positions(low: float, high: float) -> Array:
    """Round numbers from one to another, even on a linear or a logarithmic scale."""
    if low > 0 and high >= WIDE * low:
        middle = np.geomspace(low, high, POSITIONS + 1)[1:-1]
        return np.array([low, *(float(f"{v:.3g}") for v in middle), high])
    least = (high - low) / POSITIONS
    power = 10.0 ** np.floor(np.log10(least))
    count = next((round((high - low) / step) for step in (k * power for k in STEPS)
                  if step >= least * (1 - ALIKE)
                  and isclose((high - low) / step, round((high - low) / step), rel_tol=ALIKE)),
                 POSITIONS)  # fmt: skip
    return np.array([float(f"{v:.12g}") for v in np.linspace(low, high, count + 1)])


def page(model: Any, path: str | Path | None, sliders: Mapping[str, Any], show: Sequence[str],
         switches: Mapping[str, Sequence[Any]], duration: Any, options: Options) -> Page:
    """A page; see ``Model.page``."""
    show = listed(show)
    for name, given in (("sliders", sliders), ("switches", switches)):
        if not isinstance(given, Mapping):
            raise WrongCall(f"page({name}=…)", f"takes a mapping, but was given {brief(given)}.",
                            given=given)
    chosen = {name: list(values) for name, values in switches.items()}
    start = tuple(_place(model, name, values) for name, values in chosen.items())
    made: list[dict[str, Any]] = []
    moved: list[Slider] = []
    first: Any = None
    every = product(*(range(len(values)) for values in chosen.values()))
    for choice in sorted(every, key=lambda one: one != start):  # the model as it is comes first
        values = {name: chosen[name][k] for name, k in zip(chosen, choice, strict=True)}
        program = Program(_switched(model, values), (), list(show) or None, (), duration, options,
                          CALLED, inside=True)
        found = [Slider.of(program.parameter(name), given) for name, given in sliders.items()]
        if first is None:
            first, moved = program, found
        made.append({"choice": choice, **_compiled(program, found)})
    return _written(first, moved, chosen, made, path)


def _place(model: Any, path: str, values: list[Any]) -> int:
    """Which of its values an option has."""
    where = "page(switches=…)"
    known = {f"{owner}.{name}" for owner, part in model.parts.items()
             for name, declared in declarations(part).items() if isinstance(declared, Option)}
    if path not in known:
        raise unknown_name(where, path, known, "options")
    present = model[path]
    if present not in values:
        raise ParameterError(where, f"{path} is {present!r}, which is none of {values}.",
                             "Name it, too.", code="parameter.choice")
    return values.index(present)


def _switched(model: Any, values: Mapping[str, Any]) -> Any:
    """A model with other options: a copy, if they are others."""
    others = {path: value for path, value in values.items() if model[path] != value}
    made = copy.deepcopy(model) if others else model
    for path, value in others.items():
        made[path] = value
    return made


# -- machine code --------------------------------------------------------------------------
def _compiled(program: Program, sliders: Sequence[Slider]) -> dict[str, Any]:
    """A program as the page has it: WebAssembly, where its parameters stand, names of events."""
    follows = _Followers(program, sliders).words() if sliders else []
    code, text = program.image.code, header(program, "", [])
    with TemporaryDirectory() as place:
        if not program.step:  # else a run here has shown that it gets through
            try_out(library(here(), code, text, "fmu.c", {"FMI_VERSION": 3}, Path(place)), program)
        file = library(BROWSER, code, text, "page.c", _places(program), Path(place))
        content = file.read_bytes()
    at, laws = program.image.place_of_array(program.method.p), program.driver.problem.laws
    relations = program.driver.events.time_events.relations
    resets = program.driver.events.switching.resets
    elements = None if laws is None else laws.elements
    return {
        "wasm": _packed(gzip.compress(content, 9, mtime=0)), "method": program.method.name,
        "sliders": [{"at": at + 8 * one.variable.place, **words}
                    for one, words in zip(sliders, follows, strict=True)],
        "relations": [
            [relations.describe(r, holds) for holds in (False, True)]
            if relations.told[r] else None for r in range(program.system.nm)],
        "assigned": [{"by": resets.name(by), "condition": by, "name": one.name,
                      "unit": one.unit.text, "factor": sign * one.unit.factor,
                      "offset": one.unit.offset} for by, one, (*_, sign) in zip(
                          resets.owner.tolist(), resets.variables, resets.places, strict=True)],
        "step": program.step, "modes": program.method.q.tolist() if program.step else [],
        "elements": [] if elements is None else [
            {"name": elements.name(e), "words": _words(elements, e)} for e in range(elements.size)],
    }  # fmt: skip


def _words(elements: Any, element: int) -> dict[str, str]:
    """What its changes are called, by the mode after them; struck contacts apart."""
    two = bool(elements.valve[element] or elements.contact[element])
    found = {str(after): elements.words(Change(element, 0, after, False))
             for after in ((0, -1) if two else (0, 1, -1))}
    return found | {"struck": elements.words(Change(element, 0, -1, True))} if two else found


def _places(program: Program) -> dict[str, object]:
    """Where what a page reads stands in memory, as macros."""
    image, method = program.image, program.method
    own: Any = program.own
    parts = {"RELATION": method.equations.span_of("relations")}
    parts["MODE"] = slice(0, 0) if own.rules.islands is None else (
        method.equations.span_of("modes"))
    return {
        "N_VALUES": len(program.values), "HELD": own.passed.present.size, "N_Q": len(method.q),
        "Q": image.place_of_array(method.q), "LOOKS": LOOKS,
        "STEPS_KEPT": image.bound["advance"].shape("record.ends")[0],
        "EVENTS_KEPT": image.bound["advance"].shape("passed.times")[0],
        "ASSIGNMENTS": image.bound["advance"].shape("passed.changed")[1],
        "RESTARTS": int(program.restarts_at_instants),
        **{f"{name}S": one.start for name, one in parts.items()},
        **{f"{name}_COUNT": one.stop - one.start for name, one in parts.items()},
        **{f"{record.upper()}_{name.upper()}": image.place(function, f"{record}.{name}")
           for function, record, names in (
               ("advance", "passed", ("marks", "struck", "q", "x", "changed", "given")),
               ("advance", "record", ("ends", "sizes", "rows")),
               ("inside", "steps", ("starts", "sizes", "values"))) for name in names},
        **{f"INSIDE_{name.upper()}": image.place("inside", name)
           for name in ("theta", "out")},
        **{f"COUNT_{name.upper()}": image.entry("inside", name) + 8
           for name in ("which", "theta", "out")},
    }  # fmt: skip


class _Followers:
    """What else of a start follows parameters that sliders move."""

    def __init__(self, program: Program, sliders: Sequence[Slider]) -> None:
        self.program, self.sliders = program, sliders
        kept, modes, decided = self._arrays(program.method, program.driver)
        self.at = np.concatenate([program.image.place_of_array(a) + 8 * np.arange(a.size)
                                  for a in (*kept, *modes, *decided)]).astype(int)
        self.base, self.instants = self._start({})
        #: So many words nobody decides on anew; so many tell where to begin with deciding.
        self.kept = sum(a.size for a in kept)
        self.told = self.kept + sum(a.size for a in modes)
        #: Whether there are modes: what machine code cannot decide on anew is told in any case.
        self.decides = program.driver.problem.laws is not None or program.chooses

    def _start(self, values: Mapping[str, float]) -> tuple[Array, Instants]:
        """Words of a start, as whole numbers; instants of the run."""
        program = self.program
        told = " and ".join(f"{one.path} = {from_si(values[one.path], one.variable.info.unit):~P}"
                            for one in self.sliders if one.path in values)
        try:
            with warnings.catch_warnings():  # the model as it is has told of that already
                warnings.simplefilter("ignore", InitialWarning)
                driver = program.restarted(values)
        except ModelError as error:
            raise program.refused(f"has sliders that can lead to {told}, and then: {error}",
                                  "Give the sliders other ends.") from None
        with driver.failures():
            driver.integration.begin(program.t_start, driver.events.take_struck())
        method = program.method_of(driver)
        leaves = method.own_events is not None or program.chooses and may_leave(driver)
        words = np.concatenate(list(chain(*self._arrays(method, driver)))) if leaves else NOTHING
        if len(words) != len(self.at):
            raise program.refused(f"cannot start with {told} in machine code.",
                                  "Give the sliders other ends.")
        return words.view(np.uint64), Instants.of(
            driver.events.time_events, program.t_start, program.t_end)

    def _arrays(self, method: Any, driver: Any) -> tuple[list[Array], list[Array], list[Array]]:
        """What a start comes to: what is kept (states, discrete values, tolerances), relations and
        modes, and what is decided on anew from there."""
        if isinstance(method, TimeSteps):
            return method.arrays
        own, program = method.own_events, self.program
        kept = [method.x[: len(driver.problem.x)] if method.carries else method.x,
                method.k[ATOL], method.common.work.record.k[ATOL], method.branch.ravel(),
                method.borders.ravel()]
        if program.chooses:
            choice = program.choice if driver is program.driver else choice_of(driver, 0)
            following = (np.ravel(getattr(choice, name)).view(float) for name in FOLLOWING)
            return [*kept, method.q, *following], [], []
        modes = [own.values_of("modes")] * (own.rules.islands is not None)
        kept += [own.values_of("discrete values"), method.q[own.passed.present.size :],
                 np.asarray(own.set_valued.fast, dtype=float).ravel(), *constants_of_modes(method)]
        return kept, [own.values_of("relations"), method.held, *modes], [
            own.passed.present, method.slack, method.x]

    def words(self) -> list[dict[str, Any]]:
        """For each slider the words that follow it: where they stand, and what they come to.

        Where any follow, all are told: a run in which that slider alone is moved begins with them.
        """
        found: list[dict[str, Any]] = []
        follows: list[tuple[Indices, Array]] = []
        taken: dict[int, Slider] = {}
        for one in self.sliders:
            rows = self._rows(one, np.unique([0, len(one.si) // 2, len(one.si) - 1]))
            follow = self.decides or (rows != self.base)[:, : self.told].any()
            if follow:
                rows = self._rows(one, np.arange(len(one.si)))
            moved = np.flatnonzero((rows != self.base).any(axis=0) & follow)
            for k in moved[moved < self.kept].tolist():
                if k in taken:
                    self._refuse(taken[k], one)
                taken[k] = one
            follows.append((moved, rows[[0, -1]]))
            self._refuse_learned(one)
            found.append({"whole": bool(follow), "follows": [
                {"at": int(self.at[k]), "kept": k < self.kept,
                 "words": _packed(rows[:, k].tobytes())} for k in moved.tolist()]})
        for pair in combinations(range(len(self.sliders)), 2):
            for ends in product((0, -1), repeat=2):
                words = self.base.copy()
                for k, end in zip(pair, ends, strict=True):
                    moved, rows = follows[k]
                    words[moved] = rows[end, moved]
                one, other = (self.sliders[k] for k in pair)
                there, _ = self._start({one.path: float(one.si[ends[0]]),
                                        other.path: float(other.si[ends[1]])})
                apart = there != words
                apart[self.kept :] &= self.decides & ~np.isclose(
                    there.view(float), words.view(float), ALIKE, 0.0, equal_nan=True)[self.kept :]
                if apart.any():
                    self._refuse(one, other)
        return found

    def _rows(self, one: Slider, some: Indices) -> Array:
        rows = []
        for k in some.tolist():
            words, instants = self._start({one.path: float(one.si[k])})
            if not instants.are(self.instants):
                raise self.program.refused(
                    f"cannot let a slider move {one.path}: when it is known beforehand that "
                    "something happens depends on it.",
                    "Leave it out, and make a page for each value.")
            rows.append(words)
        return np.array(rows)

    def _refuse(self, one: Slider, other: Slider) -> None:
        raise self.program.refused(
            f"cannot let sliders move both {one.path} and {other.path}: where the run starts "
            "depends on both at once, and is found in Python.", "Leave one of them out.")

    def _refuse_learned(self, one: Slider) -> None:
        """Refuse a slider by which modes do something else than was learned of them."""
        parts: Any = self.program.own.rules.islands
        if not isinstance(parts, NetworkModes):
            return
        known = parts.kept_constants[parts.owner >= 0], parts.move[parts.owner >= 0]
        for end in (0, -1):
            other = self.program.learned({one.path: float(one.si[end])})
            same = [a[other.owner >= 0] for a in (other.kept_constants, other.move)]
            if any(a.shape != b.shape or not np.allclose(a, b, ALIKE, ALIKE, equal_nan=True)
                   for a, b in zip(known, same, strict=True)):
                raise self.program.refused(
                    f"cannot let a slider move {one.path}: what the modes of this network do was "
                    "learned in a run with its present value.",
                    "Leave it out, and make a page for each value.")


# -- the page ------------------------------------------------------------------------------
def _packed(content: bytes) -> str:
    return base64.b64encode(content).decode()


def _written(program: Program, sliders: Sequence[Slider], switches: Mapping[str, Sequence[Any]],
             made: Sequence[Mapping[str, Any]], path: str | Path | None) -> Page:
    """The page of some programs, saved where a path is given."""
    panels: dict[str, dict[str, Any]] = {}
    for one in program.outputs:
        info = one.info
        unit = info.unit
        panel = panels.setdefault(unit.text, {"unit": pretty(unit), "curves": []})
        panel["curves"].append({
            "name": info.path, "doc": info.doc, "stairs": info.kind in ("discrete", "mode"),
            "label": label(info.path, unit), "at": one.place, "factor": unit.factor,
            "offset": unit.offset, "t": "", "y": ""})
    data = {
        "name": program.name, "span": [program.t_start, program.t_end], "events": [],
        "panels": list(panels.values()), "programs": made,
        "switches": [{"path": name, "values": [str(v) for v in values]}
                     for name, values in switches.items()],
        "sliders": [{"path": one.path, "doc": one.variable.info.doc, "unit": pretty(one.unit),
                     "values": one.values.tolist(), "si": _packed(one.si.tobytes()),
                     "start": one.start} for one in sliders],
    }  # fmt: skip
    own, reading, scripts = map(filled, ("page.css", "page_run.js", "page.js"))
    recording = program.driver.recording
    found = Page(filled(
        "page.html", STYLE=text_of("report.css") + own, NAME=escape(program.name),
        NETWORK=network(recording), PARAMETERS=parameters(recording.made_with()),
        SCRIPT="\n".join([reading, text_of("report.js"), scripts]),
        DATA=json.dumps(data, separators=(",", ":")).replace("</", "<\\/")))
    if path is not None:
        found.save(path)
    return found
