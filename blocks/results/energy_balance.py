"""Where did the energy go, and is any of it missing?

Sums what the components say about themselves; knows none of them.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import fields
from typing import Any

import numpy as np

from ..exceptions import warn_user
from ..numerics.tolerances import LEDGER_ROUNDING, TINY
from ..units import Quantity, Unit, quantity, unit
from .formatting import label, number, pretty
from .lookup import collapsed
from .recording import EnergyTerm, EnergyWarning
from .sheet import SHOWN, ByComponent, DataFrame, Sheet, pandas

__all__ = ["EnergyBalance", "energy_unit"]

WORDS = ("work_in", "stored", "dissipated", "supplied", "residual")
MOST_OF = 0.1  # of what the worst component misses: worth a word
UNKNOWN = 0.05  # of what was turned over: so much no integral may leave open without a word


class EnergyBalance(ByComponent[EnergyTerm]):
    """Energy of every component over the run.

    For every component ``work_in = stored + dissipated - supplied``: what came
    in through its ports is stored or dissipated, unless it was supplied by the
    component itself. A source that drives supplies, and has negative work_in.
    """

    def __init__(self, terms: Iterable[EnergyTerm], name: str = "") -> None:
        super().__init__(terms, "energy")
        self.name = name

    def _sum(self, word: str) -> float:
        return float(sum(getattr(t, word) for t in self._terms))

    @property
    def stored(self) -> Quantity:
        """Change of the energy stored in the model."""
        return quantity(self._sum("stored"), "J")

    @property
    def dissipated(self) -> Quantity:
        return quantity(self._sum("dissipated"), "J")

    @property
    def supplied(self) -> Quantity:
        return quantity(self._sum("supplied"), "J")

    @property
    def residual(self) -> Quantity:
        """Energy that is unaccounted for: the sum of the magnitudes of every component's violation
        of its balance, plus the magnitude of the sum of all work_in, which is zero in a closed
        network. It bounds ``|supplied - stored - dissipated|`` of the whole, and is zero only if
        every single balance closes.
        """
        broken = sum(abs(t.violation) for t in self._terms)
        return quantity(float(broken + abs(self._sum("work_in"))), "J")

    @property
    def throughput(self) -> Quantity:
        """Energy that changed its place: half the sum of the magnitudes of stored, dissipated and
        supplied, since what leaves one place arrives at another; or half the energy that went
        through ports in either direction, where the components know it and it is more.
        """
        net = sum(abs(t.stored) + abs(t.dissipated) + abs(t.supplied) for t in self._terms)
        return quantity(float(max(net, self._sum("exchanged")) / 2), "J")

    @property
    def peak_stored(self) -> Quantity:
        """The largest energy that the components held in one form (kinetic, gravitational, ...),
        at start, events and end.
        """
        return quantity(self._sum("held"), "J")

    @property
    def relative_residual(self) -> float:
        """What is missing over what was turned over or, where that is more, held: a body that flies
        alone turns nothing over, and its errors are those of what it holds. What is missing of
        components that hold nothing themselves is taken over what was turned over, and the larger
        of both counts: what a resistor fails to say is not small because a wall is warm.
        0 where nothing is missing.
        """
        return self._relative(self.residual.magnitude)

    def _relative(self, missing: float) -> float:
        throughput, held = self.throughput.magnitude, self.peak_stored.magnitude
        scale = max(throughput, held)
        if not (missing and scale and np.isfinite(missing)):  # energies may be beyond all numbers
            return float("inf") if missing else 0.0
        sure = max(_sure(self._bare) - LEDGER_ROUNDING * held, 0.0)
        return max(missing / scale, sure / max(throughput, TINY))

    @property
    def _bare(self) -> list[EnergyTerm]:
        """Components that hold no energy."""
        return [t for t in self._terms if not (t.held or t.stored)]

    @property
    def uncertainty(self) -> Quantity:
        """How far the integrals over time may be off, whatever the steps were: an estimate."""
        return quantity(self._sum("uncertainty"), "J")

    def warn(self, tolerance: float | None) -> None:
        """Warn of a relative residual that a run of this accuracy does not explain."""
        # powers that no integral resolves, as rounding beside a singular position, blame nobody
        if tolerance is None or not (self.relative_residual > UNKNOWN or self._relative(
                _sure(self._terms) + abs(self._sum("work_in"))) > tolerance):
            return
        scale, missing = max(self.throughput, self.peak_stored).magnitude, self.residual.magnitude
        terms: Sequence[EnergyTerm] = self._terms
        if missing <= tolerance * scale:  # what bodies miss follows from the accuracy of the run
            terms = self._bare
            missing = sum(abs(t.violation) for t in terms)
        worst = sorted(terms, key=lambda t: -abs(t.violation))[:3]
        worst = [t for t in worst if abs(t.violation) > MOST_OF * abs(worst[0].violation)]
        shown = energy_unit(missing)
        named = ", ".join(f"{t.component} ({t.violation / shown.factor:.3g} {pretty(shown)})"
                          for t in worst)
        warn_user(
            f"The energy of {self.name or 'the run'} does not close: "
            f"{missing / shown.factor:.3g} {pretty(shown)} are unaccounted for, "
            f"{self.relative_residual:.1e} of what was turned over, where {tolerance:.0e} would "
            f"follow from the accuracy of the run{f'; most of it in {named}' if named else ''}. "
            + _advice(worst), EnergyWarning)

    def grouped(self) -> EnergyBalance:
        """Add up the instances of an array as one component: ``"masses (100)"``."""
        sums: dict[tuple[str, str], list[EnergyTerm]] = {}
        for term in self._terms:
            sums.setdefault((collapsed(term.component), term.type), []).append(term)
        numbers = [one.name for one in fields(EnergyTerm)[2:]]
        return EnergyBalance((terms[0] if len(terms) == 1 else EnergyTerm(
            f"{path} ({len(terms)})", kind, *(float(sum(getattr(t, f) for t in terms))
                                              for f in numbers))
            for (path, kind), terms in sums.items()), self.name)

    def to_pandas(self) -> DataFrame:
        """A DataFrame by component, in J, with the totals as last row."""
        pd, rows = pandas("An energy table"), self._rows(unit("J"))
        return pd.DataFrame({"type": rows["type"], **{label(w, unit("J")): rows[w] for w in WORDS}},
                            index=pd.Index(rows["component"], name="component"))

    def _rows(self, shown: Unit) -> dict[str, list[Any]]:
        """Every component with its class and numbers, and the sums of these."""
        rows = {w: [float(getattr(t, w)) for t in self._terms] for w in WORDS[:-1]}
        rows["residual"] = [t.violation for t in self._terms]
        return {"component": [*(t.component for t in self._terms), "total"],
                "type": [*(t.type for t in self._terms), ""],
                **{w: [v / shown.factor for v in (*vs, sum(vs))] for w, vs in rows.items()}}

    def _sheet(self) -> Sheet:
        """All components with their totals, and what is missing below."""
        if len(self._terms) > SHOWN and len(by_class := self.grouped()) < len(self):
            return by_class._sheet()
        shown = energy_unit(max((abs(getattr(t, w)) for t in self._terms for w in WORDS[:-1]),
                                default=0.0))
        rows = self._rows(shown)
        columns: dict[str, list[Any]] = {
            "component": rows["component"], "type": rows["type"],
            **{w: [number(v, scale=1e3) for v in rows[w]] for w in WORDS[:-1]},
            "residual": [f"{v:.1e}" if v else "0" for v in rows["residual"]]}
        title = f"Energy of {self.name}".removesuffix(" of ")
        return Sheet(f"{title} in {pretty(shown)}", columns, self._missing())

    def _missing(self) -> str:
        """What is unaccounted for, beside what was turned over or held."""
        missing = self.residual.magnitude
        scale, word = max((self.throughput.magnitude, "turned over"),
                          (self.peak_stored.magnitude, "held"))
        first, second = energy_unit(missing), energy_unit(scale)
        note = (f"unaccounted for: {missing / first.factor:.3g} {pretty(first)} of "
                f"{scale / second.factor:.5g} {pretty(second)} {word}")
        return note + (f" (relative {self.relative_residual:.1e})" if missing and scale else "")


def _sure(terms: Iterable[EnergyTerm]) -> float:
    """What components miss beyond what the integrals over time may be off by, in J."""
    return float(sum(max(abs(t.violation) - t.uncertainty, 0.0) for t in terms))


def _advice(worst: Sequence[EnergyTerm]) -> str:
    """What to look for in the components that miss most."""
    silent = [t.component for t in worst
              if not (t.stored or t.dissipated or t.supplied or t.carried)]
    if silent:
        return (f"{' and '.join(silent)} {'says' if len(silent) == 1 else 'say'} nothing of "
                "energy: declare a Variable power_dissipated, power_supplied or energy_stored, and "
                "state its equation.")
    if any(t.uncertainty > UNKNOWN * abs(t.violation) for t in worst):
        return ("Powers there change so fast that no integral over time resolves them, and what "
                "the results say between steps may be as wrong: look for a value that makes them "
                "so fast, such as a resistance of almost 0, or give a max_step.")
    return ("Look for a wrong sign in a law or in what a component says of its energy, for an "
            "energy_stored or power_supplied that it leaves out, or a step= that is too long. What "
            "many steps add up, as over the teeth of a table, a smaller rtol= mends.")


def energy_unit(largest: float) -> Unit:
    """A unit of energy in which the largest number is between 1 and 1000."""
    names = ("fJ", "pJ", "nJ", "uJ", "mJ", "J", "kJ", "MJ", "GJ")
    if not np.isfinite(largest) or largest == 0:
        return unit("J")
    return unit(names[int(np.clip(np.floor(np.log10(largest) / 3) + 5, 0, len(names) - 1))])
