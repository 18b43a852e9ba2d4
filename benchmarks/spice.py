"""E1 to E8 as netlists, run by ngspice where it is installed.

What is no circuit is said by integrators: a capacitor of 1 F for each state, in units of its scale,
that a behavioural source charges with its slope.

At equal error: its steps are bounded ever more until the same values are met as closely. Seconds
are those of the processor for the whole process, which reads the netlist too.
"""

from __future__ import annotations

import math
import re
import resource
import shutil
import subprocess
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import NamedTuple

import numpy as np

from .cases.circuits import diode_nodes

__all__ = ["NETLISTS", "Circuit", "available", "run"]

FORWARD, ON, LEAK = 0.6, 0.3, 1e-8  # of a diode of two lines
PRECISE = "reltol=1e-6 abstol=1e-12 vntol=1e-9 chgtol=1e-18 minbreak=1e-13 method=trap"


class Circuit(NamedTuple):
    """Elements, the end of the run in seconds, and what is compared there."""

    elements: tuple[str, ...]
    end: float
    values: tuple[str, ...]
    scales: tuple[float, ...] = ()  # of the values


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


def rod(n: int) -> Circuit:
    """E5, a volt a kelvin."""
    g, c = 50 * 1e-4 * n / 0.1, 7850 * 447 * 1e-4 * 0.1 / n
    elements = ["V1 n0 0 1000"]
    for k in range(1, n + 1):
        elements += [f"R{k} n{k - 1} n{k} {1 / g!r}", f"C{k} n{k} 0 {c!r} IC=300"]
    elements.append(f"B1 n{n} 0 I=4e-10*(V(n{n})*V(n{n})*V(n{n})*V(n{n})-8.1e9)")
    return Circuit(tuple(elements), 600.0, (f"v(n{n // 2})", f"v(n{n})"))


def _integrators(end: float, scales: dict[str, float], starts: dict[str, float],
                 slopes: dict[str, str], *more: str) -> Circuit:
    """States by name; in their slopes a name in braces stands for a state, in SI units."""
    values = {name: f"({scale!r}*V({name}))" for name, scale in scales.items()}
    elements = list(more)
    for name, slope in slopes.items():
        elements += [f"C{name} {name} 0 1 IC={starts.get(name, 0.0) / scales[name]!r}",
                     f"B{name} 0 {name} I=({slope.format(**values)})/{scales[name]!r}"]
    return Circuit(tuple(elements), end, tuple(f"v({name})" for name in slopes),
                   tuple(scales[name] for name in slopes))


def motor() -> Circuit:
    """E4."""
    high, drop = 24 * (100 - 1e-8) / (100 + 1e-8), 2 / (100 + 1e-8)
    s, bell = "({w2}/0.1414213562373095)", (2 * math.exp(1)) ** 0.5 * 0.3
    shaft = "(10*{twist}+0.002*({w1}-{w2}))"
    return _integrators(1.0, dict.fromkeys(("i", "w1", "twist", "w2", "angle"), 1.0), {}, {
        "i": f"(V(gate)-{drop!r}*{{i}}-{{i}}-{{w1}})/1e-3", "w1": f"({{i}}-{shaft})/0.01",
        "twist": "{w1}-{w2}", "w2": f"({shaft}-{bell!r}*exp(-{s}*{s})*{s}-0.7*tanh(100*{{w2}})"
        "-0.01*{w2})/0.01", "angle": "{w2}"},
        f"VG gate 0 PULSE({high!r} {-high!r} 104.9995u 1n 1n 94.999u 200u)")  # fmt: skip


def cylinder() -> Circuit:
    """E6."""
    tank, bell = 101325.0, (2 * math.exp(1)) ** 0.5 * 200

    def flow(area: str, drop: str) -> str:
        least = math.pi / 8 * 850 * (150 * 1.8e-5 / 0.64) ** 2
        return (f"(0.64*{area}*{(2 / 850) ** 0.5!r}*{drop}"
                f"/sqrt(sqrt({drop}*{drop}+({least!r}/{area})*({least!r}/{area}))))")

    area, speed = "(1e-10+4e-6*(1-V(wave)))", "({v}/0.0028284271247461903)"
    relief = f"max(1e-10,min(2e-5,1e-10+{(2e-5 - 1e-10) / 2e6!r}*({{pp}}-{tank + 12e6!r})))"
    qa, qb = flow(area, "({pp}-{pa})"), flow(area, f"({{pb}}-{tank!r})")
    force = (f"({bell!r}*{speed}*exp(-{speed}*{speed})+500*tanh(5000*{{v}})+200*{{v}})")
    return _integrators(
        2.0, {"pp": 1e7, "pa": 1e7, "pb": 1e7, "x": 0.1, "v": 0.1},
        {"pp": tank, "pa": tank + 4e6, "pb": tank, "x": 0.02}, {
            "pp": f"1.2e14*(1.5e-4-{qa}-{flow('(' + relief + ')', f'({{pp}}-{tank!r})')})",
            "pa": f"1.2e9/(5e-5+1e-3*{{x}})*({qa}-1e-3*{{v}})",
            "pb": f"1.2e9/(5e-5+6e-4*(0.3-{{x}}))*(6e-4*{{v}}-{qb})", "x": "{v}",
            "v": f"(({{pa}}-{tank!r})*1e-3-({{pb}}-{tank!r})*6e-4-4000-{force})/50"},
        "VW wave 0 SIN(0 1 1 -0.25)")  # of cos(2 pi t)


def solenoid() -> Circuit:
    """E7, up to where it is compared."""
    air = 4e-7 * math.pi * 1e-4
    stops = ("(({x}<2e-4)?(1e6*(2e-4-{x})-150*{v}):0)"
             "-(({x}>2e-3)?(1e6*({x}-2e-3)+150*{v}):0)")
    return _integrators(
        0.05, {"flux": 1e-4, "x": 1e-3, "v": 1.0}, {"x": 2e-3 + 2.4e-6}, {
            "flux": f"(V(volts)-20*{{flux}}*({{x}}/{air!r}+2e6)/1000)/1000", "x": "{v}",
            "v": f"(-{{flux}}*{{flux}}/{2 * air!r}+400*(8e-3-{{x}})-0.5*{{v}}+{stops})/0.02"},
        "VV volts 0 PULSE(12 0 40m 1p 1p 1 2)")


#: By the beginning of a problem's name.
NETLISTS: dict[str, Callable[[], Circuit]] = {
    "E1 ladder, N = 10": lambda: ladder(10), "E1 ladder, N = 1,000": lambda: ladder(1000),
    "E1 ladder, N = 10,000": lambda: ladder(10_000),
    "E2 bridge, 200 commutations": bridge, "E3 buck, 1,012 events": buck,
    "E4 motor, 10,000 edges": motor, "E5 rod, N = 1,000": lambda: rod(1000),
    "E6 cylinder, 5 events": cylinder, "E7 solenoid, 7 events": solenoid,
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
    return took, np.array(found, dtype=float) * (circuit.scales or 1.0)


def _seconds_of_children() -> float:
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def _diode(number: int, p: str, n: str) -> str:
    v = f"V({p},{n})"
    offset = FORWARD * (1 - ON * LEAK)
    return f"B{number} {p} {n} I = {v} > {FORWARD} ? ({v}-{offset!r})/{ON} : {LEAK}*{v}"
