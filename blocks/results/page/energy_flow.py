"""Where did the energy of a run come from, and where did it go? As a Sankey diagram in SVG.

On the left what gave energy, by supplying it or by releasing what was stored; on the right what
took it. Widths are energies; what is left out is below a thousandth of all.
"""

from __future__ import annotations

from collections.abc import Iterable
from html import escape

import numpy as np

from ..ledger import energy_unit
from ..recording import EnergyTerm
from ..schematic.picture import width_of
from ..shown import number

__all__ = ["energy_flow"]

TALL, GAP, BAR, SIZE = 190.0, 9.0, 14.0, 11.0  # pixels
LEAST = 1e-3  # share of all below which a flow is not drawn
MOST = 12  # flows a side
WORDS = {"supplied": ("supplied", "taken out"), "stored": ("released", "stored"),
         "dissipated": ("from heat", "dissipated")}  # fmt: skip
COLOURS = {"supplied": "#d55e00", "stored": "#0072b2", "dissipated": "#b8860b"}


def energy_flow(terms: Iterable[EnergyTerm]) -> str:
    """The diagram; empty where no energy moved."""
    sides: tuple[list[tuple[float, str, str]], list[tuple[float, str, str]]] = [], []
    for term in terms:
        for kind, gives in (("supplied", 1), ("stored", -1), ("dissipated", -1)):
            energy = getattr(term, kind) * gives
            if np.isfinite(energy) and energy:
                sides[energy < 0].append((abs(energy), kind, term.component))
    total = max(sum(e for e, *_ in side) for side in sides)
    if total <= 0:
        return ""
    shown = [_chief(side, total) for side in sides]
    unit = energy_unit(total)
    labels = [[f"{name}: {number(e / unit.factor, unit, 4)} {WORDS[kind][k]}"
               if kind else f"{name}: {number(e / unit.factor, unit, 4)}"
               for e, kind, name in side] for k, side in enumerate(shown)]  # fmt: skip
    text = [max((width_of(w, SIZE) for w in side), default=0.0) + 10 for side in labels]
    width = text[0] + text[1] + 260
    high = TALL + GAP * max(map(len, shown)) + 30
    out = [f'<svg xmlns="http://www.w3.org/2000/svg" width="{width:.0f}" height="{high:.0f}" '
           f'viewBox="0 0 {width:.0f} {high:.0f}" font-size="{SIZE:g}" '
           'font-family="DejaVu Sans,Verdana,sans-serif" fill="currentColor">']  # fmt: skip
    middle = width / 2 - (text[1] - text[0]) / 2
    ends = (text[0], width - text[1])
    for side, names, x, k in zip(shown, labels, ends, (0, 1), strict=True):
        heights = [max(e / total * TALL, 1.0) for e, *_ in side]
        y, inner = 12.0, 12.0 + (high - 24 - TALL) / 2
        for (_, kind, _), name, tall in zip(side, names, heights, strict=True):
            out.append(_band(x, y, middle, inner, tall, COLOURS.get(kind, "#777777")))
            anchor, at = ("end", x - 6) if k == 0 else ("start", x + 6)
            out.append(f'<text x="{at:.1f}" y="{y + tall / 2 + 4:.1f}" text-anchor="{anchor}">'
                       f"{escape(name)}</text>")  # fmt: skip
            y += max(tall, 6) + GAP
            inner += tall
    top = 12.0 + (high - 24 - TALL) / 2
    out.append(f'<rect x="{middle - BAR / 2:.1f}" y="{top:.1f}" width="{BAR:g}" '
               f'height="{TALL:g}"/></svg>')  # fmt: skip
    return "".join(out)


def _chief(side: list[tuple[float, str, str]], total: float) -> list[tuple[float, str, str]]:
    """The largest flows of a side; the rest as one."""
    side = sorted((f for f in side if f[0] > LEAST * total), key=lambda f: (-f[0], f[2]))
    rest = side[MOST:]
    more = [(sum(e for e, *_ in rest), "", f"{len(rest)} others")] if rest else []
    return side[:MOST] + more


def _band(x: float, y: float, middle: float, inner: float, tall: float, colour: str) -> str:
    half = (x + middle) / 2
    return (f'<path fill="{colour}" fill-opacity="0.55" d="M{x:.1f} {y:.1f}C{half:.1f} {y:.1f} '
            f"{half:.1f} {inner:.1f} {middle:.1f} {inner:.1f}V{inner + tall:.1f}C{half:.1f} "
            f'{inner + tall:.1f} {half:.1f} {y + tall:.1f} {x:.1f} {y + tall:.1f}Z"/>')  # fmt: skip
