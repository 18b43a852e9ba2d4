"""``python -m benchmarks [WORDS] [--json FILE] [--picture FILE] [--repeats N]``."""

from __future__ import annotations

import argparse
import json
import platform
import sys
from pathlib import Path
from typing import Any

from . import __doc__ as about
from . import table
from .cases import drivetrain, planar
from .timing import CASES, Measurement, measure


def main() -> None:
    if sys.argv[1:2] == ["precision"]:
        from .precision import main as precision

        precision(sys.argv[2:])
        return
    if sys.argv[1:2] == ["beyond"]:
        from .beyond import main as beyond

        beyond(sys.argv[2:])
        return
    if sys.argv[1:2] == ["tolerances"]:
        from .tolerances import main as tolerances

        tolerances(sys.argv[2:])
        return
    if sys.argv[1:2] == ["cliffs"]:
        from .cliffs import main as cliffs

        cliffs(sys.argv[2:])
        return
    if sys.argv[1:2] == ["friction"]:
        from .frictionscale import report

        report()
        return
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description=about,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("words", nargs="*", help="run only cases whose name has one of these")
    parser.add_argument("--json", type=Path, metavar="FILE",
                        help="write the figures here (the whole table: benchmarks.json)")
    parser.add_argument("--picture", type=Path, metavar="FILE",
                        help="draw the growth with N here (the whole table: growth.png)")
    parser.add_argument("--repeats", type=int, default=3, help="runs of which the best counts")
    parser.add_argument("--grid", type=int, default=300, help="nodes along the grid of P8")
    options = parser.parse_args()
    facts: dict[str, Any] = {"python": platform.python_version(), "machine": platform.machine()}
    if options.words:
        facts["cases"] = _cases(options.words, options.repeats)
    else:
        found = _table(options.repeats, options.grid)
        facts["rows"] = [{**vars(r), "ratio": r.ratio} for r in found]
        options.picture = options.picture or Path("growth.png")
        options.json = options.json or Path("benchmarks.json")
        _draw(found, options.picture)
        print(f"The growth with N is drawn in {options.picture}, figures are in {options.json}.")
    if options.json:
        options.json.write_text(json.dumps(facts, indent=1, default=float) + "\n")


def _table(repeats: int, grid: int) -> list[table.Row]:
    """Run the whole table and print it, line by line."""
    from blocks.results import Sheet

    program, cvode = table.compiled_baseline()
    if program is None:
        print(table.HOW_TO_GET_C)
    elif not cvode:
        print("C has its own Dormand-Prince pair only: SUNDIALS was not found "
              "(set SUNDIALS_ROOT).")
    found = []
    for row in table.rows(repeats, grid):
        found.append(row)
        print(f"{row.name}: {row.seconds * 1e3:,.4g} ms", file=sys.stderr, flush=True)
    print(Sheet("Time beside plain C at the same error", {
        "problem": [r.name for r in found],
        "time": [_time(r.seconds) for r in found],
        "reference": [_time(r.reference) for r in found],
        "ratio": [_number(r.ratio, ".2f") for r in found],
        "goal": [r.goal for r in found],
        "": [{True: "yes", False: "no", None: ""}[r.reached] for r in found],
        "error": [_number(r.error, ".1e") for r in found],
        "against": [r.against for r in found],
        "where the time goes": [
            ", ".join(f"{k} {v / (sum(r.where.values()) or 1.0):.0%}" for k, v in r.where.items())
            for r in found],
    }))
    return found


def _time(seconds: float) -> str:
    if seconds != seconds:
        return ""
    return f"{seconds:.3g} s" if seconds >= 1 else f"{seconds * 1e3:.3g} ms"


def _number(value: float, form: str) -> str:
    return "" if value != value else format(value, form)


def _draw(found: list[table.Row], path: Path) -> None:
    """Times over N, on logarithmic axes, with C beside them."""
    import matplotlib.pyplot as plt

    labels = {"build": "chain: build and compile", "P3": "chain: solve 2 s",
              "P7": "random network: whole way"}  # fmt: skip
    figure, axes = plt.subplots(figsize=(7, 4.5), layout="constrained")
    for group, label in labels.items():
        mine = [r for r in found if r.group == group]
        line = axes.loglog([r.size for r in mine], [r.seconds for r in mine], "o-", label=label)
        known = [r for r in mine if r.reference == r.reference]
        if known:
            axes.loglog([r.size for r in known], [r.reference for r in known], "x--",
                        color=line[0].get_color(), label="the same in C")  # fmt: skip
    axes.set(xlabel="number of masses", ylabel="time in s", title="Growth with the size")
    axes.grid(alpha=0.3)
    axes.legend()
    figure.savefig(path, dpi=130)


def _cases(words: list[str], repeats: int) -> list[dict[str, Any]]:
    table.load()
    print(f"{'':44}{'time':>10}{'reference':>11}{'ratio':>8}{'goal':>9}   reference")
    done = []
    for case in (*CASES(), *drivetrain.cases(), *planar.cases()):
        if any(w in case.name for w in words):
            done.append(measure(case, repeats))
            print(_line(done[-1]), flush=True)
    return [{**vars(m), "ratio": m.ratio} for m in done]


def _line(m: Measurement) -> str:
    goal = "" if m.goal is None else f"{m.goal:.1f} s {' ' if m.seconds <= m.goal else '!'}"
    return (f"{m.name:44}{m.seconds * 1e3:>7,.0f} ms{m.reference_seconds * 1e3:>8,.0f} ms"
            f"{m.ratio:>8.2f}{goal:>9}   {m.against}")  # fmt: skip


if __name__ == "__main__":
    main()
