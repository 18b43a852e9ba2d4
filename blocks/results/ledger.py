"""Where did the energy go, and is any of it missing?

Sums what the components say about themselves; knows none of them.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

import numpy as np

from ..exceptions import unknown_name
from ..units import quantity, unit
from .lookup import collapsed
from .recording import EnergyTerm, EnergyWarning
from .sheet import SHOWN, Sheet, pandas
from .shown import label, pretty

__all__ = ["Ledger"]

WORDS = ("work_in", "stored", "dissipated", "supplied", "residual")


class Ledger(Sequence[EnergyTerm]):
    """Energy of every component over the run.

    For every component ``work_in = stored + dissipated - supplied``: what came
    in through its ports is stored or dissipated, unless it was supplied by the
    component itself. A source that drives supplies, and has negative work_in.

    Attributes
    ----------
    residual : Quantity
        Energy that is unaccounted for: the sum of the magnitudes of every
        component's violation of the balance above, plus the magnitude of the
        sum of all work_in, which is zero in a closed network. It bounds
        ``|supplied - stored - dissipated|`` of the whole, and is zero only if
        every single balance closes.
    turned_over : Quantity
        Energy that changed its place: half the sum of the magnitudes of
        stored, dissipated and supplied, since what leaves one place arrives at
        another; or half the energy that went through ports in either
        direction, where the components know it and it is more.
    held : Quantity
        The largest energy that the components held in one form (kinetic, gravitational, ...),
        at start, events and end.
    relative_residual : float
        What is missing over what was turned over or, where that is more, held: a body that
        flies alone turns nothing over, and its rounding errors are those of what it holds.
        0 where nothing is missing.
    """

    def __init__(self, terms: Iterable[EnergyTerm], name: str = "") -> None:
        self._terms, self.name = tuple(terms), name

    def __getitem__(self, index: Any) -> Any:
        """Term of a component path, or by number."""
        if not isinstance(index, str):
            return self._terms[index]
        found = next((t for t in self._terms if t.component == index), None)
        if found is None:
            names = [t.component for t in self._terms]
            raise unknown_name("energy", index, names, "components")
        return found

    def __len__(self) -> int:
        return len(self._terms)

    def __iter__(self) -> Iterator[EnergyTerm]:
        return iter(self._terms)

    @staticmethod
    def violation(term: EnergyTerm) -> float:
        """How far a component's balance is from closing, in J."""
        return term.work_in + term.supplied - term.stored - term.dissipated

    def _sum(self, word: str) -> float:
        return float(sum(getattr(t, word) for t in self._terms))

    @property
    def stored(self) -> Any:
        """Change of the energy stored in the model."""
        return quantity(self._sum("stored"), "J")

    @property
    def dissipated(self) -> Any:
        return quantity(self._sum("dissipated"), "J")

    @property
    def supplied(self) -> Any:
        return quantity(self._sum("supplied"), "J")

    @property
    def residual(self) -> Any:
        """Energy that is unaccounted for; see the class."""
        broken = sum(abs(self.violation(t)) for t in self._terms)
        return quantity(float(broken + abs(self._sum("work_in"))), "J")

    @property
    def turned_over(self) -> Any:
        """Energy that changed its place; see the class."""
        net = sum(abs(t.stored) + abs(t.dissipated) + abs(t.supplied) for t in self._terms)
        return quantity(float(max(net, self._sum("exchanged")) / 2), "J")

    @property
    def held(self) -> Any:
        """Largest energy that the components held; see the class."""
        return quantity(self._sum("held"), "J")

    @property
    def relative_residual(self) -> float:
        missing, scale = self.residual.magnitude, max(self.turned_over, self.held).magnitude
        if missing == 0:
            return 0.0
        if not np.isfinite(missing):  # energies beyond all numbers
            return float("inf")
        return missing / scale if scale else float("inf")

    @property
    def uncertainty(self) -> Any:
        """How far the integrals over time may be off, whatever the steps were: an estimate."""
        return quantity(self._sum("uncertainty"), "J")

    def warn(self, tolerance: float | None) -> None:
        """Warn of a relative residual that a run of this accuracy does not explain."""
        if tolerance is None or not self.relative_residual > tolerance:
            return
        worst = sorted(self._terms, key=lambda t: -abs(self.violation(t)))[:3]
        shown = _fitting(self.residual.magnitude)
        named = ", ".join(f"{t.component} ({self.violation(t) / shown.factor:.3g} {pretty(shown)})"
                          for t in worst if abs(self.violation(t)) > 0)
        warnings.warn(
            f"The energy of {self.name or 'the run'} does not close: "
            f"{self.residual.magnitude / shown.factor:.3g} {pretty(shown)} are unaccounted for, "
            f"{self.relative_residual:.1e} of what was turned over, where {tolerance:.0e} would "
            f"follow from the accuracy of the run{f'; most of it in {named}' if named else ''}. "
            "Look for a wrong sign in a law or in what a component says of its energy; with a "
            "fixed step, for a step that is too long.", EnergyWarning, stacklevel=3,
        )  # fmt: skip

    def grouped(self) -> Ledger:
        """The instances of an array as one component: ``"masses (100)"``."""
        sums: dict[tuple[str, str], list[EnergyTerm]] = {}
        for term in self._terms:
            sums.setdefault((collapsed(term.component), term.type), []).append(term)
        fields = ("work_in", "stored", "dissipated", "supplied", "exchanged", "held",
                  "uncertainty")
        return Ledger(
            (
                terms[0] if len(terms) == 1 else EnergyTerm(
                    f"{path} ({len(terms)})", kind,
                    *(float(sum(getattr(t, f) for t in terms)) for f in fields),
                )
                for (path, kind), terms in sums.items()
            ),
            self.name,
        )  # fmt: skip

    def to_pandas(self) -> Any:
        """A DataFrame by component, in J, with the totals as last row."""
        pd = pandas("An energy table")
        rows = self._rows(1.0)
        frame = pd.DataFrame({label(w, unit("J")): rows[w] for w in WORDS},
                             index=pd.Index([t.component for t in self._terms] + ["total"],
                                            name="component"))  # fmt: skip
        frame.insert(0, "type", [t.type for t in self._terms] + [""])
        return frame

    def _rows(self, scale: float) -> dict[str, list[float]]:
        rows = {w: [float(getattr(t, w)) for t in self._terms] for w in WORDS[:-1]}
        rows["residual"] = [self.violation(t) for t in self._terms]
        return {w: [v / scale for v in values] + [sum(values) / scale]
                for w, values in rows.items()}  # fmt: skip

    def _sheet(self) -> Sheet:
        if len(self._terms) > SHOWN:
            together = self.grouped()
            if len(together) < len(self):
                return together._sheet()
        shown = _fitting(max((abs(getattr(t, w)) for t in self._terms for w in WORDS[:-1]),
                             default=0.0))  # fmt: skip
        name = pretty(shown)
        rows = self._rows(shown.factor)
        columns: dict[str, list[Any]] = {
            "component": [t.component for t in self._terms] + ["total"],
            "type": [t.type for t in self._terms] + [""],
            **{w: [f"{v + 0.0:.5g}" for v in rows[w]] for w in WORDS[:-1]},
            "residual": [f"{v:.1e}" if v else "0" for v in rows["residual"]],
        }
        missing, moved = self.residual.magnitude, self.turned_over.magnitude
        word, scale = ("held", held) if (held := self.held.magnitude) > moved else (
            "turned over", moved)
        unit_of = [_fitting(missing), _fitting(scale)]
        note = (f"unaccounted for: {missing / unit_of[0].factor:.3g} {pretty(unit_of[0])} of "
                f"{scale / unit_of[1].factor:.5g} {pretty(unit_of[1])} {word}")  # fmt: skip
        if missing and scale:
            note += f" (relative {self.relative_residual:.1e})"
        title = f"Energy of {self.name}".removesuffix(" of ")
        return Sheet(f"{title} in {name}", columns, note, last=True)

    def __repr__(self) -> str:
        return repr(self._sheet())

    def _repr_html_(self) -> str | None:
        return self._sheet()._repr_html_()


def _fitting(largest: float) -> Any:
    """A unit of energy in which the largest number is between 1 and 1000."""
    names = ("uJ", "mJ", "J", "kJ", "MJ", "GJ")
    if not np.isfinite(largest) or largest == 0:
        return unit("J")
    place = int(np.clip(np.floor(np.log10(largest) / 3) + 2, 0, len(names) - 1))
    return unit(names[place])
