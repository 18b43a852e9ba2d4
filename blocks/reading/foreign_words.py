"""Which word here is the one that somebody knows from another tool?

Packages of components bring tables of the words of others (:func:`foreign_words`); what the
engine itself is called elsewhere stands here. Read only when a word was not understood.
"""

from __future__ import annotations

import csv
import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from sys import modules
from typing import TYPE_CHECKING, Any, Protocol

from ..exceptions import WrongCall, did_you_mean, missing_in, nearest

if TYPE_CHECKING:
    from importlib.resources.abc import Traversable

__all__ = ["ForeignWords", "foreign_words", "keyword_elsewhere", "look_elsewhere",
           "method_elsewhere", "method_nearest", "option_elsewhere", "part_elsewhere",
           "result_elsewhere", "series_elsewhere", "variable_elsewhere"]  # fmt: skip


class Declares(Protocol):
    """What has declarations by name: a component."""

    @property
    def _declared(self) -> Mapping[str, object]: ...


_tables: list[ForeignWords] = []


@dataclass(frozen=True)
class Word:
    """What a tool calls a component (``word`` is empty) or a keyword of it.

    Attributes
    ----------
    tool : str
        ``"Simscape"``, ``"Modelica"``, or nothing for what is usual in textbooks.
    block, word : str
        As the tool writes them.
    component : str
        Module and class here: ``"translational.Spring"``.
    here : str
        The keyword here.
    note : str
        A sentence instead, where there is no such keyword.
    """

    tool: str
    block: str
    word: str
    component: str
    here: str
    note: str

    def sentence(self, home: str = "") -> str:
        """What to take here; ``home`` is the module that was asked for a component."""
        called = self.word or self.block
        whose = f"{self.tool}'s {called}" if self.tool else f"What is often called {called}"
        if self.note:
            return f"{whose} has no counterpart of its own: {self.note}"
        module, _, name = self.component.rpartition(".")
        if self.word:
            return f"{whose} is {self.here} here."
        return f"{whose} is {name} {'here' if module == home else f'in library.{module}'}."


class ForeignWords:
    """A table of words of other tools, with the columns of :class:`Word`.

    Parameters
    ----------
    file : path
        CSV; lines that begin with ``#`` say where the words are from.
    """

    def __init__(self, file: str | Traversable) -> None:
        self.file = Path(file) if isinstance(file, str) else file

    @cached_property
    def rows(self) -> list[Word]:
        lines = self.file.read_text(encoding="utf-8").splitlines()
        found = csv.DictReader(line for line in lines if line and not line.startswith("#"))
        return [Word(*((row[name] or "").strip() for name in Word.__annotations__))
                for row in found]  # fmt: skip

    def keyword(self, cls: type, name: str) -> Word | None:
        """The row of a keyword of a class or of one of its bases."""
        for row in self.rows:
            module, _, component = row.component.rpartition(".")
            if row.word == name and any(
                base.__name__ == component and f".{module}" in f".{base.__module__}"
                for base in cls.__mro__
            ):
                return row
        return None

    def usual(self, declared: Iterable[str], name: str) -> Word | None:
        """The row of a textbook's word for any class, where it means one of these declarations.

        A note that there is no counterpart is for those that do not have it under another name.
        """
        found = {row.here: row for row in self.rows
                 if row.word == name and not row.tool and row.here in declared}
        found = {here: row for here, row in found.items() if not row.note} or found
        return next(iter(found.values())) if len(found) == 1 else None

    def component(self, name: str, module: str, tool: str = "") -> Word | None:
        """The row of a component, of this module if there is one; of one tool where it is said."""
        found = [r for r in self.rows if not r.word and tool in ("", r.tool)
                 and _simplified(r.block) == _simplified(name)]
        found.sort(key=lambda row: row.component.rpartition(".")[0] != module)
        return found[0] if found else None

    def missing(self, home: str, places: Iterable[str]) -> Callable[[str], Any]:
        """A ``__getattr__`` for a package of components: what a name that it lacks is called.

        Parameters
        ----------
        home : str
            The package, such as ``"library.translational"``.
        places : sequence of str
            Packages where the component may be instead.
        """

        def __getattr__(name: str) -> Any:
            own = find_spec(f"{home}.{name}") is not None  # a part that is about to be imported
            advice = "" if own or name.startswith("_") else self._place(name, home, places)
            if not advice:
                raise AttributeError(f"module {home!r} has no attribute {name!r}", name=name)
            raise missing_in(home, name, advice)

        return __getattr__

    def _place(self, name: str, home: str, places: Iterable[str]) -> str:
        module = home.rpartition(".")[2]
        row = self.component(name, module)
        if row is not None and row.component.startswith(f"{module}."):
            return row.sentence(module)
        own = getattr(import_module(home), "__all__", ()) if name[:1].isupper() else ()
        longer = [n for n in own if n.endswith(name)]
        for place in () if longer else places:
            for known in import_module(place).__all__:
                if known == name and place != home:
                    return f"It is in {place}: from {place} import {known}."
        if row is not None and not longer:
            return row.sentence(module)
        similar = longer[:3] or nearest(name, own)
        return f"Did you mean {' or '.join(repr(n) for n in similar)}?" if similar else ""


def _simplified(name: str) -> str:
    """A name without spaces, signs and capitals."""
    return re.sub(r"[\W_]", "", name).lower()


def foreign_words(file: str | Traversable) -> ForeignWords:
    """Tell the engine what others call the components of a package.

    Parameters
    ----------
    file : path
        CSV with the columns tool, block, word, component, here, note: a block and a
        parameter of another tool, the class here as ``module.Class`` and its keyword; a row
        without a word names the class itself, a note says what to do where there is no such
        keyword. A keyword that was not understood is then answered with the right one.
    """
    table = ForeignWords(file)
    _tables.append(table)
    return table


def variable_elsewhere(names: Iterable[str], name: str) -> tuple[str, str]:
    """A sentence on a variable that a component with these others does not have, and what to take
    instead, if anything."""
    rows = (table.usual(names, name) for table in _tables)
    return next(((row.sentence(), row.here) for row in rows if row is not None), ("", ""))


# -- keywords of components ---------------------------------------------------------------------
_NOMINAL = "A nominal value is given with the target: {0}=Target(nominal='1 {1}')."
_ABOUT = {  # by the ends of Simscape's names; the longer ones come first
    "nominal_specify": _NOMINAL,
    "nominal_value": _NOMINAL,
    "nominal_unit": _NOMINAL,
    "unit": "A unit is written with its value: {0}='1 {1}'.",
    "specify": "A target is set by giving it: {0}='1 {1}'.",
    "priority": "A priority is given with the target: {0}=Target('1 {1}', priority='low').",
}
_START = re.compile(r"(?:(?:initial|init|start)_?(\w+?)|(\w+?)_?(?:0|start|init|ini|initial))$")


def keyword_elsewhere(component: Declares, name: str) -> tuple[str, str]:
    """A sentence on a keyword that a component does not have, and the one to take, if any."""
    for table in _tables:
        row = table.keyword(type(component), name) or table.usual(component._declared, name)
        if row is not None:
            return row.sentence(), row.here
    found_there = _of_namesake(type(component), name)
    if found_there[0]:
        return found_there
    for ending, sentence in _ABOUT.items():
        base = name.removesuffix(f"_{ending}")
        if base == name:
            continue
        said, here = ("", base) if base in component._declared else keyword_elsewhere(
            component, base)
        declared = component._declared.get(here)
        if declared is not None:
            return _about(sentence, here, declared), here
        if said:
            return said, ""
    found = _START.match(name)
    variable = (found[1] or found[2]) if found else ""
    if variable in component._declared:
        return f"The initial target is given as {variable} itself.", variable
    started = [n for n, d in component._declared.items() if getattr(d, "priority", "") == "high"]
    if found and name.startswith("init") and len(started) == 1:
        return f"The initial target is given as {started[0]} itself.", started[0]
    return "", ""


def _of_namesake(cls: type, name: str) -> tuple[str, str]:
    """Advice where another component class of the same name has what this one lacks.

    ``from library.electrical import *`` and one from library.signal after it leave one Switch.
    """
    waiting = [base for base in cls.__mro__ if "_declared" in vars(base)][-1:]
    while waiting:
        other = waiting.pop()
        waiting += other.__subclasses__()
        declared = vars(other).get("_declared", {})
        laws = [law.declarations for d in declared.values()
                for law in getattr(d, "named", {}).values()]
        if other is not cls and other.__name__ == cls.__name__ and any(
                name in names for names in (declared, *laws)):
            mine, there = _imported_from(cls), _imported_from(other)
            return (f"This is the {cls.__name__} of {mine}; that of {there} has {name!r}. Of two "
                    f"imports of one name the last holds: write {there}.{cls.__name__}(…)."), name
    return "", ""


def _imported_from(cls: type) -> str:
    """The shortest name of a package that has a class."""
    parts = cls.__module__.split(".")
    names = [".".join(parts[: k + 1]) for k in range(len(parts))]
    return next((n for n in names if n in modules and vars(modules[n]).get(
        cls.__name__) is cls), cls.__module__)


def _about(sentence: str, here: str, declared: object) -> str:
    """What is said of a keyword, with an example in its unit."""
    unit = "N" if getattr(declared, "any_unit", False) else getattr(declared, "unit", None)
    if unit is None:
        return f"{here} is a choice and takes no unit here."
    return sentence.format(here, unit).replace(" 1'", "'")


# -- what the engine is called ----------------------------------------------------------------
_STEP = ("step= is the step of a method of fixed steps, max_step= the longest of the others, "
         "every= the spacing of the samples.")
_OPTIONS = [
    ("duration", "t_end t_final tf t_stop stop stop_time end end_time t_max tmax final_time "
                 "time length tend tfinal tstop duration_s simulation_time T t",
     "The duration has no name: {1}."),
    ("duration", "t_span tspan span interval_of_time time_span",
     "Give the duration, and the start where it is not 0 s: simulate('4 s', start_time='1 s')."),
    ("start_time", "t0 t_start tstart startTime begin initial_time", ""),
    ("method", "solver integrator algorithm integration_method ode scheme solver_type", ""),
    ("rtol", "tol tolerance reltol rel_tol relative_tolerance precision eps accuracy", ""),
    ("atol", "abstol abs_tol absolute_tolerance", ""),
    ("step", "dt h step_size fixed_step time_step delta_t stepsize", _STEP),
    ("max_step", "max_step_size hmax h_max max_dt dtmax dt_max maximum_step longest_step", ""),
    ("first_step", "h0 initial_step first_step_size initial_step_size dt0", ""),
    ("times", "t_eval saveat output_times sample_times tout time_points", ""),
    ("every", "interval output_interval sample_time sampling sample_every save_every "
              "output_step sampling_time", ""),
    ("every", "number_of_intervals n_points num_points samples n_samples number_of_points",
     "Say how far apart samples are: every='10 ms'."),
    ("record", "outputs output variables save_variables logged signals to_record", ""),
    ("progress", "verbose progress_bar disp show_progress", ""),
    ("", "y0 x0 initial initial_state initial_values initial_conditions ic",
     "Initial values are targets of the components, Mass(v='1 m/s'); model.initial_values() shows "
     "them."),
    ("", "args params parameters p", "Parameters belong to the components, and may be changed "
     "between runs: model.spring.stiffness = '2 N/m'."),
    ("", "dense_output dense", "Every result can be read between its steps: .at('1.5 s')."),
    ("until", "terminal stop_when stop_condition stop_if end_condition end_when",
     "A run ends where a condition is met: until='block.x > 1 m'."),
    ("", "events event zero_crossings", "Conditions are stated by components (when, where); "
     "result.events lists what happened."),
    ("", "jac jacobian jac_sparsity", "Derivatives are exact and need not be given."),
    ("", "max_steps_number min_step", "Steps are bounded by max_step= only."),
]


def option_elsewhere(name: str, given: object = None, call: str = "simulate({0})"
                     ) -> tuple[str, str]:
    """A sentence on an option that ``simulate()`` does not have, and the one to take, if any."""
    for here, words, sentence in _OPTIONS:
        if _simplified(name) in {_simplified(word) for word in words.split()}:
            shown = repr(given) if isinstance(given, str) else "'4 s'"
            sentence = sentence or f"It is {here}= here."
            return sentence.format(shown, call.format(shown)), here
    return "", ""


_METHODS = [
    ("auto", "lsoda lsodar lsodes"),
    ("cvode", "cvodes"),
    ("ida", "dassl daspk daskr idas ode15i daessc dae"),
    ("adams", "ode113 nonstiff"),
    ("rodas4", "rodas rosenbrock rodas3 rodas4p rodas5 rodas5p ros4 ode15s ode23tb stiff "
               "auto_stiff vode zvode lsode gear sdirk exact expm linearexponential "
               "matrix_exponential etd exponential"),
    ("dopri5", "dopri dopri45 dormand_prince"),
    ("ode45", "runge_kutta_45 rkf45"),
    ("rk4", "rk runge_kutta ode4 classical_runge_kutta runge_kutta4"),
    ("euler", "explicit_euler forward_euler ode1"),
    ("backward_euler", "implicit_euler ode14x"),
    ("trapezoidal", "ode23t trapezoid crank_nicolson"),
    ("moreau_jean", "moreau time_stepping nsgs siconos"),
]


_LOOKS = [
    ("units", "unit", "Write units='mm/s' for all, or units={'block.v': 'mm/s'}."),
    ("save", "file filename path savefig to output", ""),
    ("every", "dt step interval sampling spacing", ""),
    ("times", "at t time t_eval", ""),
    ("", "t_span tspan xlim start end span range",
     "Take a part of the run: result['block.v']['1 s':'2 s']."),
    ("", "figsize ax axes color colour label legend grid style ylim xlabel ylabel",
     "The matplotlib figure is returned: change it there."),
]


def look_elsewhere(where: str, options: Iterable[str], known: Iterable[str]) -> WrongCall:
    """The error for an option of tables and pictures that does not exist."""
    name, known = next(iter(options)), list(known)
    for here, words, sentence in _LOOKS:
        if (not here or here in known) and name in words.split():
            return WrongCall(where, f"there is no option {name!r}.",
                             sentence or f"It is {here}= here.", name=name, known=known)
    return WrongCall(where, f"there is no option {name!r}.",
                     did_you_mean(name, known, "options"), name=name, known=known)


def method_elsewhere(name: str) -> str:
    """The method here that another tool calls so, or nothing."""
    wanted = _simplified(name)
    return next((here for here, words in _METHODS
                 if wanted in {_simplified(word) for word in words.split()}), "")


_PARTS = [
    ("simulate", "run solve integrate sim execute go solve_ivp simulation",
     "A run is model.simulate('4 s')."),
    ("add", "add_component add_part append insert include",
     "Parts are added by model.name = Component(…), or model.add('name', component)."),
    ("connect", "join wire link connection add_connection attach couple",
     "Ports are joined by model.connect(a.R, b.C)."),
    ("check", "validate lint diagnose verify_model is_valid test", "That is model.check()."),
    ("sweep", "study scan batch parametric parameter_study monte_carlo",
     "Many runs are made by model.sweep(…)."),
    ("compile", "build assemble translate", "That is model.compile(); simulate() does it too."),
    ("draw", "plot show view diagram display", "The network is drawn by model.draw(), a run by "
     "result.plot()."),
    ("", "disconnect remove remove_component delete unlink", "A part goes with its connections by "
     "del model.name; then it may be added and connected anew."),
    ("", "fit estimate estimate_parameters identify calibrate optimise optimize first_order "
     "describing_function root_locus bode uncertainty", "Analyses that take a model as their first "
     "argument are functions: from blocks.analysis import fit, optimise, first_order."),
    ("", "copy clone deepcopy", "A second model is copy.deepcopy(model)."),
    ("parts", "components children blocks subsystems elements", "Its parts are model.parts."),
    ("values", "set set_values set_parameters update", "A value is given by model['block.mass'] = "
     "'3 kg', several for a while by with model.values({…})."),
    ("", "results result output outputs", "model.simulate('4 s') returns the result."),
]


_OF_RESULTS = [
    ("table", "to_dataframe dataframe df to_df as_dataframe pandas frame",
     "A table for pandas is result.table()."),
    ("table", "to_excel excel to_xlsx to_json to_html to_latex to_sql to_feather",
     "pandas writes it: result.table().to_excel('run.xlsx')."),
    ("to_csv", "save_csv write_csv export_csv csv", "Write result.to_csv('run.csv')."),
    ("save", "write export dump store to_file to_hdf to_pickle pickle",
     "A run is kept by result.save('run.nc')."),
    ("plot", "plot_all show figure scope draw_results", "Curves are drawn by result.plot()."),
    ("variables", "y x data signals outputs states solution sol trajectories series logsout",
     "A variable is result['part.variable'], and result.variables lists them."),
    ("", "final final_values y_final last end", "The last value is result['part.variable'].final."),
    ("events", "event event_times t_events log", "What happened is in result.events."),
    ("summary", "stats info describe", "See result.summary() and result.statistics."),
]

_OF_SERIES = [
    ("m", "values value data array v y np numpy as_array to_array tolist to_list",
     "Its numbers are .m in the declared unit, and .to('…').m in another one."),
    ("at", "interp interpolate interp1d sample evaluate eval call get value_at",
     "Its values at other times are .at('0.5 s')."),
    ("final", "last end", "Its last value is .final."),
    ("initial", "first start", "Its first value is .initial."),
    ("time", "t times index x", "Its times are .time."),
    ("to_pandas", "to_dataframe to_series df series", "For pandas it is .to_pandas()."),
    ("to", "convert to_unit to_units", "In another unit it is .to('…')."),
    ("mean", "average avg", "Its average over time is .mean()."),
    ("", "std stddev standard_deviation var variance",
     "Its standard deviation over time is (v - v.mean()).rms(), with v for these values."),
    ("integral", "integrate trapz trapezoid cumsum", "Its integral over time is .integral()."),
]


def _told(table: list[tuple[str, str, str]], name: str) -> tuple[str, str]:
    for here, words, sentence in table:
        if _simplified(name) in {_simplified(word) for word in words.split()}:
            return sentence, here
    return "", ""


def part_elsewhere(name: str) -> tuple[str, str]:
    """A sentence on what a model is asked for in other words, and the method to take."""
    return _told(_PARTS, name)


def method_nearest(kind: type, name: str) -> tuple[str, str]:
    """A sentence on the method of a class that is spelled nearly so, as in American."""
    hits = nearest(name, [n for n in dir(kind) if not n.startswith("_")])
    return (f"Did you mean the method {hits[0]}()?", hits[0]) if hits else ("", "")


def result_elsewhere(name: str) -> tuple[str, str]:
    """The same of a result."""
    return _told(_OF_RESULTS, name)


def series_elsewhere(name: str) -> tuple[str, str]:
    """The same of a variable's values."""
    return _told(_OF_SERIES, name)
