"""How are poles and gains of a linear model shown?"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from ...results.sheet import Sheet
from .poles import participation, zeros
from .signals import ratio_unit

if TYPE_CHECKING:
    from .linear_model import LinearModel

__all__ = ["complex_text", "damping_table", "gains_table"]

SHOWN_PARTS = 4  # that a mode names
LEAST_SHARE = 0.02  # of a mode, for a part to be named


def damping_table(linear: LinearModel) -> Sheet:
    """Poles with frequency, damping ratio, time constant, and the parts that move.

    A pole at 0 has no damping ratio; like others on the real axis it has 1 here, as in
    python-control, so that tables stay numbers.
    """
    moving = _moving(linear)
    note = "\n".join(f"No state: {k}, {v}." for k, v in list(linear.frozen.items())[:6])
    p = linear.poles()
    size = np.abs(p)
    with np.errstate(divide="ignore", invalid="ignore"):
        ratio = np.where(size > 0, -p.real / size, 1.0)
        constant = np.where(p.real != 0, -1 / p.real, np.inf)
    return Sheet(f"Poles of {linear.title}", {
        "pole [1/s]": [complex_text(x) if x else "0, integrator" for x in p],
        "frequency [Hz]": [_rounded(x) for x in size / (2 * np.pi)],
        "damping ratio [1]": [_rounded(x) for x in ratio],
        "time constant [s]": [_rounded(x) for x in constant],
        "parts": [", ".join(f"{n} {s:.0%}" for n, s in parts) for parts in moving],
    }, note)  # fmt: skip


def gains_table(linear: LinearModel) -> Sheet:
    """Static gain and zeros of every pair of input and output, with units."""
    rows: dict[str, list[Any]] = {"input": [], "output": [], "static gain": [], "unit": [],
                                  "zeros [1/s]": []}  # fmt: skip
    for i, inp in enumerate(linear.inputs):
        for o, out in enumerate(linear.outputs):
            found = zeros(linear.dense_a, linear.B[:, i], linear.C[o], float(linear.D[o, i]))
            rows["input"].append(inp.path)
            rows["output"].append(out.path)
            rows["static gain"].append(_rounded(linear.dcgain()[o, i]))
            rows["unit"].append(str(ratio_unit(out.unit, inp.unit)))
            rows["zeros [1/s]"].append("no path" if found is None else
                                       ", ".join(map(complex_text, found)) or "none")  # fmt: skip
    return Sheet(f"Gains of {linear.title}", rows, " ".join(linear.notes))


def _moving(linear: LinearModel) -> list[list[tuple[str, float]]]:
    """Per pole, the components whose states move in it, with their shares."""
    found, share = participation(linear.dense_a)
    parts = [n.path.removeprefix("der(").rpartition(".")[0] for n in linear.states]
    names = list(dict.fromkeys(parts))
    out: list[list[tuple[str, float]]] = []
    free = np.ones(len(found), dtype=bool)
    for p in linear.poles():
        k = int(np.argmin(np.where(free, np.abs(found - p), np.inf)))
        free[k] = False
        of_part = [(n, float(sum(s for m, s in zip(parts, share[:, k], strict=True)
                                 if m == n))) for n in names]  # fmt: skip
        of_part.sort(key=lambda pair: -pair[1])
        out.append([pair for pair in of_part[:SHOWN_PARTS] if pair[1] >= LEAST_SHARE])
    return out


def complex_text(value: complex) -> str:
    """A complex number as it is shown; real, where it is."""
    if value.imag == 0:
        return f"{value.real:.6g}"
    return f"{value.real:.6g} {'+' if value.imag > 0 else '-'} {abs(value.imag):.6g}j"


def _rounded(value: float) -> float:
    return float(f"{value:.10g}") + 0.0  # no -0
