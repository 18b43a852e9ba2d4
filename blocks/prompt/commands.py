"""The commands, their options, and what they print.

Exit codes: 0 done; 1 the model has mistakes, a run failed, or a file cannot be read; 2 a command
that is not understood; 130 stopped by Ctrl-C.
"""

from __future__ import annotations

import argparse
import ast
import importlib.util
import inspect
import linecache
import logging
import re
import sys
import traceback
from collections.abc import Sequence
from pathlib import Path
from types import ModuleType
from typing import Any

from ..exceptions import (
    BlocksError,
    FileError,
    Interrupted,
    ModelError,
    ParameterError,
    UnknownName,
    brief,
    did_you_mean,
    nearest,
    optional_package,
)
from ..language.declarations import Option
from ..language.source_lines import line_where_raised
from ..model import Model, load
from ..results.files import known_ending, writing_on
from ..results.formatting import number
from ..results.lookup import find
from ..simulation.catalog import Catalog
from ..studies.settings import find_setting
from ..units import to_si, unit
from .new_component import DOMAINS, write_component

__all__ = ["main"]

ADVICE = ("Call the model 'model', write a function build() that returns it, or say which one: "
          "{0}:NAME.")  # fmt: skip
DONE, WRONG, NOT_UNDERSTOOD, INTERRUPTED = 0, 1, 2, 130
PICTURES = ".png", ".svg", ".pdf", ".jpg"
DATA = {".nc": "save", ".parquet": "save", ".csv": "to_csv"}


def main(arguments: Sequence[str] | None = None) -> int:
    """Do what a command line says, and return its exit code."""
    parser = _parser()
    options, strange = parser.parse_known_args(arguments)
    if not hasattr(options, "command"):
        parser.print_help(sys.stderr)
        return NOT_UNDERSTOOD
    if strange:
        known = re.findall("--[a-z-]+", options.parser.format_usage())
        options.parser.error(f"{strange[0]} is not understood. "
                             f"{did_you_mean(strange[0], known, 'options')}")
    if getattr(options, "verbose", 0):
        logging.basicConfig(format="%(name)s: %(message)s")
        logging.getLogger("blocks").setLevel(
            logging.INFO if options.verbose == 1 else logging.DEBUG)
    try:
        return int(options.command(options))
    except KeyboardInterrupt:
        print("Stopped.", file=sys.stderr)
        return INTERRUPTED
    except Exception as error:
        if options.traceback:
            traceback.print_exc()
        else:
            print(_in_words(error), file=sys.stderr)
        return WRONG


def _in_words(error: Exception) -> str:
    """An error without its traceback: what is wrong, and in which line of the user's file."""
    if isinstance(error, SyntaxError):
        return f"error: {error.filename}, line {error.lineno}: {error.msg}: {error.text}".rstrip()
    place = None if isinstance(error, BlocksError) and "line" in error.data else (
        line_where_raised(error))
    text = str(error) if isinstance(error, BlocksError) else f"{type(error).__name__}: {error}"
    if place is not None and Path(place[0]).is_file():
        text += f"\n{place[0]}, line {place[1]}: {linecache.getline(*place).strip()}"
    elif not isinstance(error, BlocksError):
        text += "\n(--traceback shows where.)"
    return f"error: {text}"


# -- commands ----------------------------------------------------------------------------------
def _check(options: argparse.Namespace) -> int:
    model, _ = _model(options)
    findings = model.check()
    print(findings)
    return WRONG if findings.errors else DONE


def _run(options: argparse.Namespace) -> int:
    for file in options.output:
        _refuse_output(file, (*PICTURES, *DATA, ".html"))
    pyplot = None if options.output or not options.plot else _pyplot_with_screen()
    result = _result(options)
    print(result)
    for path in options.plot:
        if result[path].ndim == 1:
            print(f" {path:<11} ends at {number(result[path].final.m, result[path].declared_unit)}")
    for file in options.output:
        _write(result, file, options.plot)
    if pyplot is not None:
        result.plot(*options.plot)
        pyplot.show()
    return INTERRUPTED if result.status == "interrupted" else DONE


def _report(options: argparse.Namespace) -> int:
    file = _file(options, ".html")
    result = _result(options)
    _write(result, file, options.plot)
    return INTERRUPTED if result.status == "interrupted" else DONE


def _page(options: argparse.Namespace) -> int:
    file = _file(options, ".html")
    model, of_run = _model(options)
    of_run |= _of_run(options, "start_time", "method", "rtol", "step", "max_step")
    sliders = {}
    for given in options.slider:
        path, _, ends = given.partition("=")
        low, dots, high = ends.partition("..")
        if not dots:
            raise ParameterError("--slider", f"takes PATH=LOW..HIGH, but was given {given!r}.",
                                 "Write for example --slider spring.stiffness=50N/m..500N/m.")
        sliders[path.strip()] = low.strip(), high.strip()
    switches = {path.strip(): [_literal(one.strip()) for one in values.split(",")]
                for path, _, values in (given.partition("=") for given in options.switch)}
    model.page(file, sliders=sliders, switches=switches, show=options.plot,
               duration=options.stop, **of_run)
    print(file)
    return DONE


def _draw(options: argparse.Namespace) -> int:
    file = _file(options, ".svg", PICTURES)
    model, _ = _model(options)
    model.draw(file, open=True if options.open == ["all"] else options.open, values=options.values)
    print(file)
    return DONE


def _new(options: argparse.Namespace) -> int:
    for file in write_component(options.name, options.domain, options.folder):
        print(file)
    return DONE


# -- what they share ---------------------------------------------------------------------------
def _model(options: argparse.Namespace) -> tuple[Model, dict[str, Any]]:
    """The model with the values of ``--set``, and options of the run among these."""
    model, of_run = model_in_file(options.model), {}
    for given in options.set:
        path, equals, value = (text.strip() for text in given.partition("="))
        if not equals:
            raise ParameterError("--set", f"takes PATH=VALUE, but was given {given!r}.",
                                 "Write for example --set block.mass=3kg.")
        setting = find_setting(model, path, where="--set")
        if setting.component is None:
            of_run[path] = value
        else:
            setting.apply(_literal(value) if isinstance(setting.declared, Option) else value)
    return model, of_run


def _literal(text: str) -> Any:
    """An option's value: a number or a switch, if it is one, or else the word."""
    try:
        return ast.literal_eval(text)
    except (SyntaxError, ValueError):
        return text


def _result(options: argparse.Namespace) -> Any:
    """The run that is asked for; misspelt variables are told before it begins."""
    model, of_run = _model(options)
    to_si(options.stop, unit("s"), "--stop")
    of_run |= _of_run(options, "start_time", "method", "rtol", "step", "max_step", "every")
    model.check().raise_errors()
    for path in options.plot:
        find(Catalog.of(model.compile()), path, model.name)
    try:
        return model.simulate(options.stop, **of_run)
    except Interrupted as stopped:
        if stopped.result is None:
            raise
        return stopped.result


def _of_run(options: argparse.Namespace, *names: str) -> dict[str, Any]:
    """Return the options of a run that are given, by name; a relative tolerance as a number."""
    given = {name: getattr(options, name) for name in names if getattr(options, name) is not None}
    if "rtol" in given:
        given["rtol"] = float(to_si(given["rtol"], unit(""), "--rtol"))
    return given


def _refuse_output(file: str, endings: Sequence[str]) -> None:
    """Tell before the run what would fail after it."""
    known_ending(file, "what is written", *endings)
    with writing_on(file):
        Path(file).parent.stat()  # a folder that is there


def _file(options: argparse.Namespace, ending: str, endings: Sequence[str] = ()) -> str:
    """What is written: by default ``"hoist.svg"`` of ``"models/drives.py:hoist"``, here."""
    path, _, name = options.model.rpartition(":")
    file: str = options.output or (
        name if path and name.isidentifier() else Path(options.model).stem) + ending
    _refuse_output(file, endings or (ending,))
    return file


def _write(result: Any, file: str, paths: list[str]) -> None:
    """The kind of file that its ending says."""
    ending = Path(file).suffix.lower()
    if ending == ".html":
        result.report(*paths, save=file)
    elif ending in DATA:
        getattr(result, DATA[ending])(file, *paths)
    else:
        result.plot(*paths, save=file)
    print(file)


def _pyplot_with_screen() -> Any:
    """What opens windows."""
    plt = optional_package("matplotlib.pyplot", "A plot", "plot")
    if plt.get_backend().lower() == "agg":
        raise ParameterError("--plot", "there is no screen to show it on.",
                             "Write a file: -o run.png.")
    return plt


# -- options -----------------------------------------------------------------------------------
def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="python -m blocks", description="Check, run and draw the model of a file.",
        epilog="The file holds a Model at its top level, or a function build() that returns one; "
        "FILE:NAME says which. Exit codes: 0 done, 1 mistakes in a model or a run that failed, "
        "2 a command that is not understood, 130 stopped by Ctrl-C.")  # fmt: skip
    commands = parser.add_subparsers(metavar="COMMAND")
    check = _command(commands, "check", _check, "find mistakes without running")
    _add_model(check)
    run = _command(commands, "run", _run, "run, and print, plot or keep the result")
    _add_model(run)
    _add_run(run)
    run.add_argument("-o", "--output", action="append", default=[], metavar="FILE",
                     help="picture (.png .svg .pdf), report (.html), or data (.nc .parquet "
                     ".csv), as its ending says; may be repeated")  # fmt: skip
    draw = _command(commands, "draw", _draw, "draw the schematic")
    _add_model(draw)
    draw.add_argument("-o", "--output", metavar="FILE", help="by default the model's name with "
                      ".svg")  # fmt: skip
    draw.add_argument("--open", type=_several, action="extend", default=[], metavar="PATH,…",
                      help="composites to draw with their parts; 'all' opens all")
    draw.add_argument("--values", action="store_true", help="write values beside the symbols")
    report = _command(commands, "report", _report, "run, and write a page for a browser")
    _add_model(report)
    _add_run(report)
    report.add_argument("-o", "--output", metavar="FILE.html", help="by default the model's name")
    page = _command(commands, "page", _page, "write a page that simulates in a browser")
    _add_model(page)
    _add_run(page, sampled=False)
    page.add_argument("--slider", action="append", default=[], metavar="PATH=LOW..HIGH",
                      help="a parameter that the reader moves: --slider "
                      "spring.stiffness=50N/m..500N/m; may be repeated")  # fmt: skip
    page.add_argument("--switch", action="append", default=[], metavar="PATH=VALUE,…",
                      help="an option that the reader chooses: --switch "
                      "friction.law=coulomb,simscape; may be repeated")  # fmt: skip
    page.add_argument("-o", "--output", metavar="FILE.html", help="by default the model's name")
    new = commands.add_parser("new", help="write files to begin with")
    things = new.add_subparsers(required=True, metavar="THING")
    component = _command(things, "component", _new, "a component with its test")
    component.add_argument("name", metavar="NAME", help="of the class, such as AirDrag")
    component.add_argument("--domain", choices=list(DOMAINS), default="translational")
    component.add_argument("--folder", default=".", help="where the two files go")
    return parser


def _several(text: str) -> list[str]:
    return [path.strip() for path in text.split(",") if path.strip()]


def _command(commands: Any, name: str, command: Any, words: str) -> argparse.ArgumentParser:
    parser: argparse.ArgumentParser = commands.add_parser(
        name, help=words, description=f"{words[0].upper()}{words[1:]}.")
    parser.set_defaults(command=command, parser=parser)
    parser.add_argument("--traceback", action="store_true", help="show the traceback of an error")
    return parser


def _add_model(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("model", metavar="FILE", help="model.py, model.py:NAME, or model.json")
    parser.add_argument("--set", action="append", default=[], metavar="PATH=VALUE",
                        help="a parameter, option or initial target: --set block.mass=3kg; may be "
                        "repeated")  # fmt: skip
    parser.add_argument("-v", "--verbose", action="count", default=0,
                        help="tell what is done; twice: more of it")


def _add_run(parser: argparse.ArgumentParser, sampled: bool = True) -> None:
    parser.add_argument("--stop", required=True, metavar="TIME", help="how long to run: --stop 5s")
    parser.add_argument("--start", dest="start_time", metavar="TIME",
                        help="time at the start, 0 s by default")
    parser.add_argument("--method", help="of integration, chosen by default")
    parser.add_argument("--rtol", help="relative tolerance, 1e-6 by default")
    parser.add_argument("--step", metavar="TIME", help="of a method with fixed steps")
    parser.add_argument("--max-step", metavar="TIME", help="longest step")
    if sampled:
        parser.add_argument("--every", metavar="TIME", help="distance of the samples")
    parser.add_argument("--plot", type=_several, action="extend", default=[], metavar="PATH,…",
                        help="variables to draw, or to write into the file; may be repeated")


def model_in_file(given: str) -> Model:
    """The model of a file of Python, or of one that ``model.save()`` wrote: ``"drives.py"``,
    ``"drives.py:hoist"`` or ``"drives.json"``.

    FileError is for one that is missing or of another kind, ModelError for no model, or several.
    """
    path, colon, name = given.rpartition(":")
    if not colon or name.endswith((".py", ".json")) or "/" in name or "\\" in name:
        path, name = given, ""
    file = Path(path)
    if not file.is_file():
        raise FileError(path, "is a folder." if file.is_dir() else "there is no such file.",
                        "Name a file that holds a model, model.py or model.json.")
    if file.suffix == ".json":
        model = load(file)
        assert isinstance(model, Model)
        return model
    if file.suffix != ".py":
        raise FileError(path, f"is no model: its name ends with {file.suffix!r}.",
                        "Models stand in files of Python (.py), and in those that model.save() "
                        "wrote (.json).")  # fmt: skip
    module = _imported(file)
    return _made(_named(module, name, path) if name else _chosen(module, path), path)


def _imported(file: Path) -> ModuleType:
    """The module of a file, which finds others beside it."""
    sys.path.insert(0, str(file.resolve().parent))
    name = f"_{file.stem}" if file.stem in sys.modules else file.stem  # numpy.py stays itself
    spec = importlib.util.spec_from_file_location(name, file)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    spec.loader.exec_module(module)
    return module


def _named(module: ModuleType, name: str, path: str) -> Any:
    names = [n for n, value in vars(module).items() if isinstance(value, Model)
             or inspect.isfunction(value) or inspect.isclass(value) and issubclass(value, Model)]
    if not hasattr(module, name):
        raise UnknownName(path, f"there is no {brief(name)} in it.",
                          did_you_mean(name, names, "models, functions and classes"),
                          name=name, known=names, nearest=nearest(name, names))
    return getattr(module, name)


def _chosen(module: ModuleType, path: str) -> Any:
    """The model that is meant where none is named."""
    own = vars(module)
    models = {n: v for n, v in own.items() if isinstance(v, Model)}
    if len({id(v) for v in models.values()}) == 1:
        return next(iter(models.values()))
    if "model" in models:
        return models["model"]
    if models:
        raise ModelError(path, f"holds several models: {', '.join(models)}.",
                         f"Say which one, such as {path}:{next(iter(models))}.")
    if inspect.isfunction(own.get("build")):
        return own["build"]
    classes = [v for v in own.values() if inspect.isclass(v) and issubclass(v, Model)
               and v.__module__ == module.__name__]  # fmt: skip
    if len(classes) == 1:
        return classes[0]
    raise ModelError(path, "holds no model." if not classes else
                     f"holds several classes of models: {', '.join(c.__name__ for c in classes)}.",
                     ADVICE.format(path))  # fmt: skip


def _made(value: Any, path: str) -> Model:
    """The model itself, or what a function or class makes without being told anything."""
    if isinstance(value, Model):
        return value
    name = getattr(value, "__name__", "it")
    if not callable(value):
        raise ModelError(path, f"{brief(value)} is no model.", ADVICE.format(path))
    needed = [p.name for p in inspect.signature(value).parameters.values() if p.default is p.empty
              and p.kind in (p.POSITIONAL_ONLY, p.POSITIONAL_OR_KEYWORD, p.KEYWORD_ONLY)]
    needed = [] if inspect.isclass(value) and value.__init__ is Model.__init__ else needed
    if needed:
        raise ModelError(path, f"{name}() needs to be told {', '.join(needed)}.",
                         "Give defaults, as in  def build(mass='2 kg').")
    model = value()
    if not isinstance(model, Model):
        raise ModelError(path, f"{name}() returns {brief(model)}, which is no model.",
                         "End it with  return model.")
    return model
