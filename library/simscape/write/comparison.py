"""How far is a converted model from a run that was logged in Simscape?

The log is a table (``.csv`` with names, a unit behind each in brackets where it has one) or a
``.mat`` file with arrays beside a time, matrices [t, y], or structures with time. Signals are
found by their path in the model, by the name of their line, or by what shows them.
"""

from __future__ import annotations

import csv
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from blocks import BlocksError, FileError

from ..file.mat_data import file_values
from ..physical.units import unit_here

if TYPE_CHECKING:
    from .plan import Script

__all__ = ["Compared", "Logged", "compare", "comparison_figure", "comparison_table", "read_log"]

_TIMES = ("time", "t", "tout", "times")
_MOST = 2000  # instants at which the run is kept
_ENDINGS = ("series", "data", "values", "timeseries")  # of a path of simlog


@dataclass(frozen=True)
class Logged:
    """A signal of a log: its name, its unit or nothing, times in s and values."""

    name: str
    unit: str
    times: Any
    values: Any


@dataclass(frozen=True)
class Compared:
    """A signal of a log beside the same one here, at the times of the log."""

    logged: Logged
    path: str
    unit: str
    here: Any

    @property
    def numbers(self) -> tuple[float, float, float]:
        """The largest difference, the root of the mean square of all, and the range of the log."""
        off = self.here - self.logged.values
        return np.max(np.abs(off)), np.sqrt(np.mean(off**2)), np.ptp(self.logged.values)


def read_log(path: Path) -> list[Logged]:
    """The signals of a log.

    Raises
    ------
    FileError
        For a file without a time, or without a signal.
    """
    try:
        found = list(_of_table(path) if path.suffix.lower() == ".csv" else
                     _of_values("", file_values(path.read_bytes())[0], None))
    except Exception as error:  # SciPy raises many kinds for files that are not what they seem
        raise FileError(str(path), f"it cannot be read as a log: {error}.",
                        "Give a .csv file with names in its first line, or a .mat file.",
                        code="simscape.log") from error
    if not found:
        raise FileError(str(path), "it holds no signal beside a time.",
                        "Write it in MATLAB as a table whose first column is time: "
                        "writetable(array2table([t y], 'VariableNames', {'time', 'mass.v'}), "
                        "'logged.csv'). Of objects only timeseries and Dataset are read from "
                        ".mat files.", code="simscape.log")
    return found


def _of_table(path: Path) -> Iterator[Logged]:
    with path.open(encoding="utf-8-sig", newline="") as opened:
        head, *rows = [row for row in csv.reader(opened) if any(cell.strip() for cell in row)]
    numbers = np.array([[float(re.sub(r"\s*(sec|s)$", "", cell)) if cell.strip() else np.nan
                         for cell in row[:len(head)]] for row in rows])
    names = [(match[1], match[2]) if (match := re.fullmatch(
        r"(.*?)\s*[\[(]([^\])]*)[\])]", cell.strip())) is not None else (cell.strip(), "")
             for cell in head]
    at = next((k for k, (name, _) in enumerate(names) if name.lower() in _TIMES), 0)
    for k, (name, unit) in enumerate(names):
        known = ~np.isnan(numbers[:, k])
        if k != at and known.any():
            yield Logged(name, unit, numbers[known, at], numbers[known, k])


def _of_values(above: str, values: Mapping[str, Any], time: Any) -> Iterator[Logged]:
    """Arrays beside a time, matrices [t, y], and structures of these."""
    own = next((np.ravel(v) for n, v in values.items() if n.lower() in _TIMES
                and np.size(v) > 1), time)
    label = values.get("label")  # of a signal in a structure with time
    for name, value in values.items():
        path = label if label and name == "values" else f"{above}.{name}".strip(".")
        if isinstance(value, Mapping):
            yield from _of_values(path, value, own)
        elif name.lower() not in _TIMES and not isinstance(value, str) and np.size(value) > 1:
            array = np.asarray(value, dtype=float)
            if own is not None and array.size == len(own):
                yield Logged(path, "", own, array.ravel())
            elif array.ndim == 2 and array.shape[1] == 2 and np.all(np.diff(array[:, 0]) >= 0):
                yield Logged(path, "", array[:, 0], array[:, 1])


def compare(model: Any, script: Script, log: list[Logged]) -> tuple[list[Compared], list[str]]:
    """Run a converted model over the times of a log.

    Returns the signals that were found in both, and the names of those that were not.
    """
    times = np.unique(np.concatenate([signal.times for signal in log]))
    times = times[times >= 0]
    if len(times) > _MOST:
        times = np.linspace(times[0], times[-1], _MOST)
    solver = {word: text.strip('"') for word, text in script.solver.items()}
    result = model.simulate(f"{float(times[-1])!r} s", **solver,
                            **({} if solver else {"times": [f"{float(t)!r} s" for t in times]}))
    # by what they may be called in a log: where signals are and in which unit, the first one holds
    known = {_plain(path): (path, "") for path in reversed(list(result))}
    known |= {_plain(name): where for name, where in script.shown.items()}
    found, lost = [], []
    for signal in log:
        name = _plain(signal.name)
        while name and name not in known:  # what stands before, as the log's name, does not count
            name = name.partition(".")[2]
        if not name:
            lost.append(signal.name)
            continue
        path, said = known[name]
        unit = unit_here(signal.unit) or said or _unit_of(result[path])
        here = result[path].to(unit).m if unit else result[path].to_numpy()
        found.append(Compared(signal, path, unit, np.interp(
            signal.times, result.time.to("s").m, here)))
    return found, lost


def _unit_of(variable: Any) -> str:
    try:
        return f"{variable.units:~P}"
    except (AttributeError, BlocksError):
        return ""


def _plain(name: str) -> str:
    """A name without regard to case, blanks and signs, and without the end of a log's path."""
    parts = [part for part in re.split(r"[./]", name) if part]
    while len(parts) > 1 and parts[-1].lower() in _ENDINGS:
        parts.pop()
    return ".".join(re.sub(r"[\W_]+", "", part).lower() for part in parts)


def comparison_table(found: list[Compared], lost: list[str]) -> str:
    """How far every signal is off, as text."""
    rows: list[tuple[str, ...]] = [
        ("signal", "here", "largest difference", "rms", "range of the log")]
    rows += [(c.logged.name, c.path, *(f"{number:.3g} {c.unit}".strip() for number in c.numbers))
             for c in found]
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    lines = ["  ".join(cell.ljust(w) for cell, w in zip(row, widths, strict=True)).rstrip()
             for row in rows if found]
    if lost:
        lines.append(f"Not in the converted model: {', '.join(lost)}. Name columns by the path of "
                     "a block and its variable, such as mass.v.")
    return "\n".join(lines)


def comparison_figure(found: list[Compared]) -> Any:
    """One picture: every signal of the log, and the same one here."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(8, 2.4 * len(found)), layout="constrained")
    axes = figure.subplots(len(found), 1, sharex=True, squeeze=False)[:, 0]
    for axis, c in zip(axes, found, strict=True):
        axis.plot(c.logged.times, c.logged.values, color="0.6", linewidth=3, label="logged")
        axis.plot(c.logged.times, c.here, color="C0", linewidth=1, label="here")
        axis.set_title(f"{c.logged.name} [{c.unit}]" if c.unit else c.logged.name, fontsize=10)
    axes[0].legend()
    axes[-1].set_xlabel("time [s]")
    return figure
