"""How much of what occurs in models has a counterpart here?

``python -m library.simscape.coverage census.csv`` counts the instances of a census of blocks, by
kind: those of a kind whose parameters and choices, as far as they occur there, map fully, in part
or not at all.
"""

from __future__ import annotations

import csv
import sys
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from .mapping import counterpart_of, keyword_of
from .physical import SETTINGS
from .physical_signals import SIGNALS

__all__ = ["Kind", "coverage", "summary"]

_BESIDE = {"foundation.signal.sinks.terminator"}  # it only ends a line
_IN_PART = {  # what is not taken, beside parameters without a keyword
    "foundation.signal.functions.concatenate":
        "where selectors, sums or converters take its vector",
    "foundation.signal.nonlinear.selector": "of a vector that is joined in the model",
    "foundation.isothermal_liquid.elements.translational_mechanical_converter":
        "with a displacement that is calculated",
}


@dataclass(frozen=True)
class Kind:
    """One kind of block of a census.

    Attributes
    ----------
    path : str
        The component's path.
    instances : int
    maps : str
        ``"fully"``, ``"in part"`` or ``"not at all"``.
    why : str
        What is missing of one that maps in part.
    """

    path: str
    instances: int
    maps: str
    why: str = ""


def coverage(census: Iterable[str]) -> list[Kind]:
    """What the kinds of a census become, the most frequent first.

    Parameters
    ----------
    census : lines of CSV
        With the columns component, instances and parameters.
    """
    rows = csv.DictReader(line for line in census if not line.startswith("#"))
    kinds = [Kind(row["component"], int(row["instances"]), *_maps(
        row["component"], row["parameters"].split())) for row in rows]
    return sorted(kinds, key=lambda kind: (-kind.instances, kind.path))


def _maps(path: str, parameters: list[str]) -> tuple[str, str]:
    if path in _IN_PART:
        return "in part", _IN_PART[path]
    if path in _BESIDE or path.removeprefix("foundation.signal.") in SIGNALS:
        return "fully", ""
    counterpart = counterpart_of(path)
    if counterpart is None or counterpart.component is None:
        return "not at all", ""
    lacking = [name for name in parameters if not keyword_of(counterpart, name)[0]
               and name not in counterpart.choices and name not in SETTINGS
               and not keyword_of(counterpart, name)[1]]
    return ("in part", f"without {', '.join(lacking)}") if lacking else ("fully", "")


def summary(kinds: list[Kind]) -> str:
    """Shares of instances and numbers of kinds, and what is missing."""
    instances: Counter[str] = Counter()
    for kind in kinds:
        instances[kind.maps] += kind.instances
    whole = sum(instances.values())
    lines = [f"{word}: {sum(k.maps == word for k in kinds)} kinds, "
             f"{100 * instances[word] / whole:.1f} % of the instances"
             for word in ("fully", "in part", "not at all")]
    lines += [f"  {k.path}: {k.why}" for k in kinds if k.maps == "in part"]
    missing: Counter[str] = Counter()
    for kind in kinds:
        if kind.maps == "not at all":
            missing[kind.path.rpartition(".")[0]] += kind.instances
    return "\n".join([*lines, "missing:", *(f"  {package}.*: {n}" for package, n in
                                            missing.most_common())])


if __name__ == "__main__":
    print(summary(coverage(Path(sys.argv[1]).read_text(encoding="utf-8").splitlines())))
