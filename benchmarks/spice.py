"""The circuits among E1 to E8 as netlists, run by ngspice where it is installed.

At equal error: its steps are bounded ever more until the same values are met as closely. Seconds
are those of the processor for the whole process, which reads the netlist too.
"""

from __future__ import annotations

import re
import resource
import shutil
import subprocess
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import NamedTuple

import numpy as np

from .domains import diode_nodes

__all__ = ["NETLISTS", "Circuit", "available", "run"]

FORWARD, ON, LEAK = 0.6, 0.3, 1e-8  # of a diode of two lines
PRECISE = "reltol=1e-6 abstol=1e-12 vntol=1e-9 chgtol=1e-18 minbreak=1e-13 method=trap"


class Circuit(NamedTuple):
    """Elements, the end of the run in seconds, and what is compared there."""

    elements: tuple[str, ...]
    end: float
    values: tuple[str, ...]


def available() -> bool:
    """Whether ngspice can be called."""
    return shutil.which("ngspice") is not None


def ladder(n: int) -> Circuit:
    """E1."""
    elements = ["V1 n0 0 SIN(0 5 1000)"]
    for k in range(1, n + 1):
        elements += [f"R{k} n{k - 1} n{k} {1000 / n!r}", f"C{k} n{k} 0 {1e-6 / n!r}"]
    return Circuit(tuple(elements), 3e-3, (f"v(n{n // 2})", f"v(n{n})"))


def bridge() -> Circuit:
    """E2."""
    pairs = ("a", "p"), ("b", "p"), ("0", "a"), ("0", "b")
    return Circuit(("V1 s b SIN(0 17 50)", "R1 s a 0.1", "C1 p 0 1e-3", "R2 p 0 100",
                    *(_diode(k, *ends) for k, ends in enumerate(pairs))), 0.5, ("v(p)",))


def buck() -> Circuit:
    """E3."""
    return Circuit((
        "V1 in 0 24", "V2 gate 0 PULSE(1 0 9.999995u 10p 10p 9.99999u 20u)",
        "S1 in sw gate 0 chopper", ".model chopper SW(Ron=0.01 Roff=1e8 Vt=0.5)",
        _diode(1, "0", "sw"), "L1 sw x 100u", "R1 x out 0.05", "C1 out 0 100u",
        "R2 out 0 5"), 1e-2, ("i(L1)", "v(out)"))


def grid(n: int = 100) -> Circuit:
    """E8."""
    elements = ["V1 s 0 SIN(0 5 1000)"]
    for i in range(n):
        elements.append(f"RF{i} s n{n * i} 100")
        for j in range(n):
            k = n * i + j
            elements += [f"RX{k} n{k} n{k + 1} 100"] * (j + 1 < n)
            elements += [f"RY{k} n{k} n{k + n} 100"] * (i + 1 < n)
            elements += [f"C{k} n{k} 0 1n"] * ((i + j) % 2 == 0)
    junctions = (f"B{k} n{k} 0 I=1e-12*(exp(V(n{k})/0.025)-1)" for k in diode_nodes(n, 50))
    return Circuit((*elements, *junctions), 2e-3,
                   tuple(f"v(n{k})" for k in (99, 4999, 5050, 9999)))  # fmt: skip


#: By the beginning of a problem's name.
NETLISTS: dict[str, Callable[[], Circuit]] = {
    "E1 ladder, N = 10": lambda: ladder(10), "E1 ladder, N = 1,000": lambda: ladder(1000),
    "E1 ladder, N = 10,000": lambda: ladder(10_000),
    "E2 bridge, 200 commutations": bridge, "E3 buck, 1,012 events": buck,
    "E8 grid of 100 x 100": grid,
}  # fmt: skip


def run(circuit: Circuit, error: Callable[[np.ndarray], float], most: float,
        patience: float = 100.0) -> tuple[float, float]:
    """Seconds and error of the first run that is exact enough; of the last one, if none is.

    Parameters
    ----------
    error : of the values, in their scales
    most : the largest error that is exact enough
    patience : seconds of a run after which a closer one is not waited for
    """
    seconds = found = np.nan
    for steps in _steps():
        seconds, values = _once(circuit, steps)
        found = error(values)
        if found <= most or seconds * 3 > patience:
            break
    return seconds, found


def _steps() -> Iterator[float]:
    return (300 * 10 ** (k / 4) for k in range(16))


def _once(circuit: Circuit, steps: float) -> tuple[float, np.ndarray]:
    """Seconds and values of one run of so many steps at least."""
    longest = circuit.end / steps
    lines = ["problem", *circuit.elements, f".options {PRECISE}",
             f".tran {longest:.9e} {circuit.end:.9e} 0 {longest:.9e} uic", ".control",
             "set numdgt=15", "run", "let last = length(time) - 1",
             *(f"print {value}[last]" for value in circuit.values), "quit", ".endc", ".end"]
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "problem.cir"
        file.write_text("\n".join(lines) + "\n")
        before = _seconds_of_children()
        said = subprocess.run(["ngspice", "-b", str(file)], capture_output=True, text=True,
                              cwd=folder, check=False).stdout
        took = _seconds_of_children() - before
    found = re.findall(r"^\S+\[last\] = (\S+)", said, re.MULTILINE)
    if len(found) != len(circuit.values):
        raise RuntimeError(f"ngspice printed no end values: {said[-400:]}")
    return took, np.array(found, dtype=float)


def _seconds_of_children() -> float:
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def _diode(number: int, p: str, n: str) -> str:
    v = f"V({p},{n})"
    offset = FORWARD * (1 - ON * LEAK)
    return f"B{number} {p} {n} I = {v} > {FORWARD} ? ({v}-{offset!r})/{ON} : {LEAK}*{v}"
