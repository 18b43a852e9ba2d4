"""How is an energy ledger laid out for people?"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from ..units import Unit, unit
from .sheet import Sheet
from .shown import number, pretty

if TYPE_CHECKING:
    from .ledger import Ledger

__all__ = ["WORDS", "energy_unit", "rows_of", "sheet_of"]

WORDS = ("work_in", "stored", "dissipated", "supplied", "residual")


def rows_of(ledger: Ledger, scale: float) -> dict[str, list[float]]:
    """The numbers of every component, and their sums, in units of ``scale`` J."""
    rows = {w: [float(getattr(t, w)) for t in ledger] for w in WORDS[:-1]}
    rows["residual"] = [t.violation for t in ledger]
    return {w: [v / scale for v in values] + [sum(values) / scale]
            for w, values in rows.items()}  # fmt: skip


def sheet_of(ledger: Ledger) -> Sheet:
    """All components with their totals, and what is missing below."""
    shown = energy_unit(max((abs(getattr(t, w)) for t in ledger for w in WORDS[:-1]),
                            default=0.0))  # fmt: skip
    rows = rows_of(ledger, shown.factor)
    columns: dict[str, list[Any]] = {
        "component": [t.component for t in ledger] + ["total"],
        "type": [t.type for t in ledger] + [""],
        **{w: [number(v, scale=1e3) for v in rows[w]] for w in WORDS[:-1]},
        "residual": [f"{v:.1e}" if v else "0" for v in rows["residual"]],
    }
    title = f"Energy of {ledger.name}".removesuffix(" of ")
    return Sheet(f"{title} in {pretty(shown)}", columns, _missing(ledger))


def _missing(ledger: Ledger) -> str:
    """What is unaccounted for, beside what was turned over or held."""
    missing, moved = ledger.residual.magnitude, ledger.turned_over.magnitude
    held = ledger.held.magnitude
    word, scale = ("held", held) if held > moved else ("turned over", moved)
    first, second = energy_unit(missing), energy_unit(scale)
    note = (f"unaccounted for: {missing / first.factor:.3g} {pretty(first)} of "
            f"{scale / second.factor:.5g} {pretty(second)} {word}")  # fmt: skip
    if missing and scale:
        note += f" (relative {ledger.relative_residual:.1e})"
    return note


def energy_unit(largest: float) -> Unit:
    """A unit of energy in which the largest number is between 1 and 1000."""
    names = ("fJ", "pJ", "nJ", "uJ", "mJ", "J", "kJ", "MJ", "GJ")
    if not np.isfinite(largest) or largest == 0:
        return unit("J")
    place = int(np.clip(np.floor(np.log10(largest) / 3) + 5, 0, len(names) - 1))
    return unit(names[place])
