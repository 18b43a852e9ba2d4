"""``python -m benchmarks [WORDS] [--json FILE] [--repeats N]``."""

from __future__ import annotations

import argparse
import json
import platform
from pathlib import Path

from . import __doc__ as about
from .cases import CASES, Measurement, measure


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description=about,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("words", nargs="*", help="run only cases whose name has one of these")
    parser.add_argument("--json", type=Path, metavar="FILE", help="write the figures to a file")
    parser.add_argument("--repeats", type=int, default=3, help="runs of which the best counts")
    options = parser.parse_args()
    if "friction" in options.words:  # many blocks: a table of its own
        from .frictionscale import report

        report()
        options.words.remove("friction")
        if not options.words:
            return
    print(f"{'':44}{'time':>10}{'reference':>11}{'ratio':>8}{'goal':>9}   reference")
    done = []
    for case in CASES():
        if options.words and not any(w in case.name for w in options.words):
            continue
        done.append(measure(case, options.repeats))
        print(_line(done[-1]), flush=True)
    if options.json:
        facts = {"python": platform.python_version(), "machine": platform.machine(),
                 "cases": [{**vars(m), "ratio": m.ratio} for m in done]}  # fmt: skip
        options.json.write_text(json.dumps(facts, indent=1) + "\n")


def _line(m: Measurement) -> str:
    goal = "" if m.goal is None else f"{m.goal:.1f} s {' ' if m.seconds <= m.goal else '!'}"
    return (f"{m.name:44}{m.seconds * 1e3:>7,.0f} ms{m.reference_seconds * 1e3:>8,.0f} ms"
            f"{m.ratio:>8.2f}{goal:>9}   {m.against}")  # fmt: skip


if __name__ == "__main__":
    main()
