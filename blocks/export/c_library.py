"""How does a model become a library in C? A header, a static library, an example, a CMake file."""

from __future__ import annotations

import keyword
import re
import shutil
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from textwrap import fill
from typing import Any

from ..exceptions import ParameterError, unknown_name
from ..native.contact_steps import HALVED, LOADED
from ..native.free_steps import NEWTON
from ..native.newton_steps import MAX_NEWTON
from ..native.steps import BACKWARD_EULER, EULER, RUNGE_KUTTA, TRAPEZOIDAL
from ..numerics.instants import MOST_ROUNDS
from ..reading.unit import Unit
from ..simulation.settings import Options
from ..solvers.looks import MOST_LOOKS
from .fmu import try_out
from .header import header
from .program import Program, Variable, coherent, listed
from .targets import OWN, TARGETS, Contents, filled, here, library, static_library
from .time_steps import TIME_STEPS

__all__ = ["export_c"]

#: What a step of a method costs.
BY_NEWTON = (f"A step takes at most {MAX_NEWTON} rounds of Newton's method, each an evaluation of "
             "the equations, their derivatives and the solution of a linear system.")
WORK = {RUNGE_KUTTA: "A step evaluates the equations 4 times.",
        EULER: "A step evaluates the equations once.",
        BACKWARD_EULER: BY_NEWTON, TRAPEZOIDAL: BY_NEWTON,
        TIME_STEPS: f"A step takes at most {NEWTON} rounds of Newton's method and {LOADED} rounds "
                    "for efforts; where none are found, it is taken again, at most "
                    f"{2 * HALVED + 1} times. Modes change at the ends of steps."}
LOOKS_AT_CROSSING = 60  # halvings of a step down to the grain of time, about
MOST_TRIED = 100_000  # steps that are tried before a library is written
A_LINE = 98
#: Names that a model cannot have in C or C++, nor beside the function main.
TAKEN = frozenset(keyword.kwlist) | frozenset({
    "auto", "bool", "case", "catch", "char", "const", "default", "delete", "do", "double", "enum",
    "explicit", "export", "extern", "float", "friend", "goto", "inline", "int", "long", "main",
    "namespace", "new", "operator", "private", "protected", "public", "register", "restrict",
    "short", "signed", "sizeof", "static", "struct", "switch", "template", "this", "throw",
    "typedef", "typename", "union", "unsigned", "using", "virtual", "void", "volatile"})
OF_RUN = 12  # words of a run beside its memory and what it was told
#: Statuses, as c_library.c numbers them.
STATUSES = {
    "OK": "the step was taken",
    "MANY_EVENTS": "more events than a call may pass; time says how far it came: go on from there",
    "SHORTER_STEP": "Newton's method does not converge; time says how far it came: a shorter step "
                    "may",
    "NOT_A_NUMBER": "the equations are not finite",
    "HALTED": "what happens at this time has to be decided where the model was made; only a reset "
              "goes on",
    "NOT_KNOWN": "what is known beforehand ends before; export with a longer duration",
    "BAD_VALUE": "an input, a parameter or the step is no number, or the step is not positive"}


def export_c(model: Any, folder: str | Path, inputs: Iterable[str] | Mapping[str, Any],
             outputs: Sequence[str], parameters: Sequence[str], target: str, processor: str,
             most_events: int, duration: Any, options: Options) -> Path:
    """Write a library in C; see ``Model.export_c``."""
    outputs, parameters = listed(outputs), listed(parameters)
    if target != "host" and target not in TARGETS:
        raise unknown_name("export_c(target=…)", target, ["host", *TARGETS], "targets")
    if not isinstance(most_events, int) or most_events < 1:
        raise ParameterError("export_c(most_events=…)", "is a number of events, 1 or more.",
                             given=most_events)  # fmt: skip
    own = here()._replace(processor=OWN)
    machine = own if target == "host" else TARGETS[target]
    if processor:
        machine = machine._replace(processor=processor)
    program = Program(model, inputs, list(outputs), list(parameters), duration, options,
                      "export_c", most_events)
    made = _Library(program)
    with TemporaryDirectory() as place:
        inside = Path(place)
        code, trial = program.image.code, {"BARE": 1, "TRIAL": 1}
        try_out(library(own, code, made.internal(), "c_library.c", trial, inside), program)
        file = inside / f"lib{made.name}.a"
        contents = static_library(machine, code, "c_library.c", inside, file)
        target_folder = Path(folder)
        target_folder.mkdir(parents=True, exist_ok=True)
        shutil.copy(file, target_folder)
    for name, text in ((f"{made.name}.h", made.public(contents)), ("main.c", made.example()),
                       ("CMakeLists.txt", made.cmake())):
        (target_folder / name).write_text(text, encoding="utf-8")
    return target_folder


class _Library:
    """The texts of a library."""

    def __init__(self, program: Program) -> None:
        # the name is that of the library, its struct, and before all of its functions
        self.program, self.name = program, _identifier(program.name)
        self.names = {"TITLE": program.name, "NAME": self.name, "UPPER": self.name.upper()}
        self.groups = {"inputs": program.inputs, "parameters": program.parameters,
                       "outputs": program.outputs}
        self.step = float(program.driver.settings.step or 0.0)
        self.run = OF_RUN + len(program.inputs)

    def internal(self) -> str:
        """What the sources know."""
        counts = {"TRIED": MOST_TRIED, "N_OUTPUTS": len(self.program.outputs),
                  "N_PARAMETERS": len(self.program.parameters)}
        places = ", ".join(str(one.place) for one in self.program.parameters) or "0"
        fields = [f"#define {group.upper()}_OF(model) " + (
            f"((double *)&(model)->{group})" if given else "((double *)0)")
            for group, given in self.groups.items()]
        fields.append(f"#define MODEL_STEP {self.step!r}")
        return "\n".join([
            self.public(None), f"#define MODEL {self.name}",
            f"#define NAMED(function) {self.name}_##function", *fields,
            *(f"#define {name} INT64_C({count})" for name, count in counts.items()),
            f"static const int64_t parameter_places[] = {{{places}}};",
            header(self.program, "", [])])

    def public(self, contents: Contents | None) -> str:
        """The header that users read."""
        program, upper = self.program, self.name.upper()
        words = 1 + self.run + program.image.size + sum(map(len, self.groups.values()))
        told = [
            "All values are in units of SI. Nothing is allocated, and nothing is kept outside of "
            "the struct: each is an instance of its own, and a copy of one goes on by itself from "
            "where that one was.",
            f"Method: {program.method.name}, of fixed step. {WORK[program.method.kind]} "
            + ("" if program.step else "It is looked into for events at no more than "
               f"{MOST_LOOKS} places. ") + "One more evaluation gives the outputs.",
            "Between two instants that are known beforehand (samples, steps of sources) a call "
            f"passes at most {program.most_events} events, and takes "
            + (f"at most {program.most_events + 2} steps." if program.step else
               "one step more than it passes events. Each is "
               f"found by some {LOOKS_AT_CROSSING} evaluations and decided in at most "
               f"{MOST_ROUNDS} rounds, and one for each condition and sample.")
            + " Where a bound does not suffice, a status says so.",
            "Nothing is known to happen beforehand: a run goes on for as long as it is asked to."
            if program.is_endless else f"A run ends at t = {program.t_end!r} s, up to which it was "
            "written down what is known beforehand.",
            f"An instance takes {8 * words} bytes." + ("" if contents is None else (
                f" The library has {contents.code} bytes of code and {contents.constants} of "
                f"constants, and calls: {', '.join(contents.missing) or 'nothing'}."))]
        comment = "\n *\n".join(fill(one, A_LINE, initial_indent=" * ", subsequent_indent=" * ",
                                     break_long_words=False) for one in told)
        statuses = [f"    {upper}_{status} = {k}, /* {text} */"
                    for k, (status, text) in enumerate(STATUSES.items())]
        return filled(
            "c_library.h", **self.names, COMMENT=comment, STEP=repr(self.step),
            STATUSES="\n".join(statuses), GROUPS="".join(
                _group(group, given) for group, given in self.groups.items()),
            RUN=str(self.run), MEMORY=str(program.image.size))

    def example(self) -> str:
        """A program that prints the outputs of a run."""
        program = self.program
        fields = [f", model.outputs.{field}" for field in _fields(program.outputs)]
        settings = "".join(
            f"    model.{group}.{field} = {one.start!r}; /* as it is after a reset */\n"
            for group in ("inputs", "parameters")
            for field, one in _fields(self.groups[group]).items())
        row = f'printf("%.9g{",%.9g" * len(fields)}\\n", model.time{"".join(fields)});'
        return filled("c_library_main.c", **self.names, SETTINGS=settings, ROW=row,
                      HEADINGS=",".join(["time", *(one.info.path for one in program.outputs)]))

    def cmake(self) -> str:
        return filled("c_library.cmake", **self.names)


def _group(group: str, given: Sequence[Variable]) -> str:
    """The struct of some variables, with their units; nothing without any."""
    if not given:
        return ""
    lines = [f"        double {field}; /* {_unit(one.info.unit)}{one.info.path}"
             + (f": {one.info.doc}".replace("*/", "* /") if one.info.doc else "") + " */\n"
             for field, one in _fields(given).items()]
    return f"    struct {{\n{''.join(lines)}    }} {group};\n"


def _unit(declared: Unit | None) -> str:
    text = coherent(declared).text if declared is not None else ""
    return f"{text}, " if text not in ("", "1") else ""


def _fields(given: Sequence[Variable]) -> dict[str, Variable]:
    """Names in C, each another one."""
    found: dict[str, Variable] = {}
    for one in given:
        name = _identifier(one.info.path)
        while name in found:
            name += "_"
        found[name] = one
    return found


def _identifier(text: str) -> str:
    """A name in C that reads like a text."""
    name = re.sub(r"\W+", "_", text, flags=re.ASCII).strip("_")
    if name in TAKEN:
        return name + "_"
    return name if name[:1].isalpha() else f"m_{name}"
