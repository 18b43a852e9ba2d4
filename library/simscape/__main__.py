"""``python -m library.simscape model.slx``: a Simscape model as Python."""

from __future__ import annotations

import argparse
import runpy
import sys
from importlib import import_module
from pathlib import Path

from blocks import BlocksError

from . import Converted, convert
from .matlab.python_text import python_name
from .physical.own_sources import loaded_class
from .ssc.text import source_class
from .write.comparison import compare, comparison_figure, comparison_table, read_log
from .write.repairs import read_repairs, repairs_of, write_repairs
from .write.report import report_html, report_text
from .write.text import python_text
from .write.trial import Trial, try_text


def main(arguments: list[str] | None = None) -> int:
    """Convert, write, report and run as the command line says; returns the exit status."""
    parser = argparse.ArgumentParser(
        prog="python -m library.simscape",
        description="Convert a Simscape model (.slx, .mdl) or component source (.ssc) to "
                    "Python. Nothing in the file is run.")
    parser.add_argument("model", type=Path,
                        help="an .slx or .ssc file, or an .mdl of R2022a or later")
    parser.add_argument("-o", "--output", type=Path, metavar="FILE",
                        help="where the Python text goes; beside the model by default")
    parser.add_argument("--set", action="append", default=[], metavar="NAME=VALUE", dest="values",
                        help="a value for a name of the workspace, in MATLAB's notation")
    parser.add_argument("--path", action="append", default=[], type=Path, metavar="FOLDER",
                        help="where scripts, data, libraries and referenced subsystems are")
    parser.add_argument("--script", action="append", default=[], type=Path, metavar="FILE",
                        dest="scripts", help="a script of MATLAB's that gives values and that the "
                                             "model does not call")
    parser.add_argument("--with", action="append", default=[], metavar="MODULE", dest="modules",
                        help="a module of yours that is imported first: it may add counterparts "
                             "by library.simscape.add_counterpart")
    parser.add_argument("--report", action="store_true",
                        help="say what became of every block; also as a page beside the text")
    parser.add_argument("--compare", type=Path, metavar="LOG",
                        help="a run that was logged in Simscape (.csv with names, or .mat): say "
                             "how far every signal is off, with a picture")
    parser.add_argument("--fmu", type=Path, metavar="FILE",
                        help="write the model as an FMU, too: its outputs are what the text "
                             "plots, as the scopes of the model show it")
    parser.add_argument("--run", action="store_true", help="run the text that was written")
    given = parser.parse_args(arguments)
    for text in given.values:
        if "=" not in text:
            parser.error(f"--set takes NAME=VALUE, but was given {text!r}")
    values = {name.strip(): value for name, _, value in (t.partition("=") for t in given.values)}
    for module in given.modules:
        try:
            import_module(module)
        except ImportError as error:
            parser.error(f"--with {module}: {error}. Give a module that Python finds from here.")
    output = given.output or given.model.with_suffix(".py")
    if not output.stem.isidentifier():
        output = output.with_name(f"{python_name(output.stem)}.py")
    try:
        if given.model.suffix == ".ssc":
            return _source(given.model, output, values)
        home = str(output.resolve().parent)  # of what stands beside the text
        sys.path[:] = [home, *(place for place in sys.path if place != home)]
        values = {**read_repairs(output), **values}
        converted = convert(given.model, values=values, folders=given.path, scripts=given.scripts)
        output.write_text(python_text(converted.script, repairs_of(output).stem), encoding="utf-8")
        for name, text in converted.modules.items():
            output.with_name(f"{name}.py").write_text(text, encoding="utf-8")
        if write_repairs(output):
            read_repairs(output)
            print(f"{repairs_of(output)}: for what you change by hand; it is written once.")
        trial = try_text(output, converted.script)
        _account(converted, trial, output, given.report)
        if not trial.builds:
            return 1
        if given.compare is not None:
            found, lost = compare(trial.model, converted.script, read_log(given.compare))
            print(comparison_table(found, lost))
            if found:
                picture = output.with_name(f"{output.stem}_compared.png")
                comparison_figure(found).savefig(picture)
                print(picture)
        if given.fmu is not None:
            print(_export(trial, converted, given.fmu))
        if given.run:
            runpy.run_path(str(output), run_name="__main__")
    except BlocksError as error:
        print(error, file=sys.stderr)
        return 1
    except BrokenPipeError:
        return 1  # who read what is printed has gone
    except OSError as error:
        print(f"{error.filename}: it cannot be written: {error.strerror}. Give another place with "
              "-o.", file=sys.stderr)
        return 1
    return 0


def _source(source: Path, output: Path, values: dict[str, str]) -> int:
    """Convert a component source and say whether its class can be made; the exit status."""
    made = source_class(source, values)
    output.write_text(made.text, encoding="utf-8")
    said = "builds."
    try:
        found = loaded_class(output.stem, made.text, source.stem)
        if found is not None:
            found()
    except BlocksError as error:
        said = f"does not build: {error}"
    print("\n  ".join([f"{output}: {said}", *made.remarks]))
    return int(said != "builds.")


def _account(converted: Converted, trial: Trial, output: Path, report: bool) -> None:
    """Say how the text did and what was converted; with ``report`` every block, also as a page."""
    print(f"{output}: {trial.sentence}")
    gaps = sum(e.outcome == "missing" for e in converted.entries)
    print(f"{len(converted.entries)} blocks, {gaps} without a counterpart"
          f"{': --report says of each what to do' if gaps and not report else ''}")
    if report:
        print(report_text(converted.script, trial.sentence))
        page = output.with_suffix(".html")
        page.write_text(report_html(converted.script, trial.model, trial.sentence),
                        encoding="utf-8")
        print(page)


def _export(trial: Trial, converted: Converted, path: Path) -> Path:
    """Write the FMU, for as long as the model runs."""
    script = converted.script
    stop, tolerance = (script.times.get(word) for word in ("StopTime", "RelTol"))
    tight = {} if tolerance is None else {"rtol": min(float(tolerance.value), 1e-6)}
    made: Path = trial.model.export_fmu(
        path, outputs=script.plots, **tight,
        **{} if stop is None else {"duration": f"{float(stop.value)!r} s"})
    return made


if __name__ == "__main__":
    sys.exit(main())
