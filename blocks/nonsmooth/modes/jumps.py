"""Who would have to jump, where ideal switches and diodes leave no finite answer?

What the modes hold constant misses its value: a capacitor that is put on a source, the current of
an inductor that is interrupted. The least impulse that would bring it there says which states
would jump, and through which elements; where no state can, nothing limits an element at all.
"""

from __future__ import annotations

from contextlib import suppress

import numpy as np

from ...exceptions import SimulationError
from ...numerics.arrays import Array, Indices
from ...numerics.tolerances import BLOCK_SINGULAR, MODE_MISSED, PIVOT_NONE, TRIAL_INSTANTS
from ...system import AlgebraicFailure, Problem
from .massless_efforts import MasslessEfforts
from .massless_margins import MasslessMargins
from .mode_equations import LinearEquations, without_rounding
from .node_velocities import NodeVelocities

__all__ = ["Jumps"]

MOST_NAMED = 4
NAMED = 1e-6  # of the largest: what is told of an impulse or a jump
ROUNDED = 1e-9  # of the largest jump: one that is rounding
MAY_BE_DRIFT = 1e-2  # of the largest state that would jump


class Jumps:
    """Looks for the jump that the elements of a network would need."""

    def __init__(self, efforts: MasslessEfforts, margins: MasslessMargins,
                 velocities: NodeVelocities) -> None:
        self.efforts, self.equations, self.margins = efforts, efforts.equations, margins
        self.elements, self.state, self.system = efforts.elements, efforts.state, efforts.system
        self.velocities = velocities

    def found(self, problem: Problem, t: float) -> SimulationError | None:
        """The error that names it; None where the network has no ideal switches or diodes."""
        if not self.elements.valve.any():
            return None
        x, u, modes = problem.x.copy(), problem.u.copy(), self.state.modes
        try:
            if (wanted := self.velocities.with_parasitics(problem, t, TRIAL_INSTANTS[0])) is None:
                return self._undecided(t) if self.elements.valve.all() else None
            self.state.modes = self.equations.switched(problem, t, wanted)
            with suppress(AlgebraicFailure):
                self.efforts.apply(problem, t)
            held = self.equations.at(problem, t, self.state.modes)
            _, equal = self.margins.sizes(problem, t)
            missed = np.abs(held.violation) > MODE_MISSED * (np.abs(held.made.weight) @ equal)
            if not missed.any():
                endless = self._without_limit(held)
                return self._undecided(t) if endless is None else self._unlimited(t, endless)
            by_x = self.equations.by_x(problem, t, self.state.modes)[1]
            push = self.equations.slope_by_taken(problem, t)
            free = self._unresisted(held)
            matrix = without_rounding(by_x, push @ free)
            least = np.linalg.lstsq(matrix, held.violation, rcond=PIVOT_NONE)[0]
            impulse = np.array(free @ least, dtype=float)
            left = np.abs(held.violation - matrix @ least) > MODE_MISSED * np.abs(held.violation)
            if (left & missed).any():
                return self._unlimited(t, np.abs(held.made.weight[left & missed]).max(axis=0))
            return self._jump(x, t, impulse, np.array(-push @ impulse, dtype=float))
        finally:
            problem.x[:], problem.u[:], self.state.modes = x, u, modes

    @staticmethod
    def _unresisted(held: LinearEquations) -> Array:
        """Impulses that no resistance would answer with an endless voltage, as columns."""
        resisted = held.made.matrix[~held.made.free]
        size = np.abs(resisted).max(axis=1, initial=0.0)
        _, values, right = np.linalg.svd(resisted / np.where(size > 0, size, 1.0)[:, None])
        return right[int(np.sum(values > BLOCK_SINGULAR * values.max(initial=0.0))):].T

    @staticmethod
    def _without_limit(held: LinearEquations) -> Array | None:
        """Weights of elements that nothing limits an instant later; None if there are none."""
        best = np.linalg.lstsq(held.made.matrix, held.residual, rcond=PIVOT_NONE)[0]
        left = held.residual - held.made.matrix @ best
        left[np.abs(left) <= MODE_MISSED * np.abs(held.residual)] = 0
        weight = np.abs(left[held.made.free] @ held.made.weight)
        return weight if weight.any() else None

    # -- what is said ----------------------------------------------------------------------
    def _jump(self, x: Array, t: float, impulse: Array, change: Array) -> SimulationError:
        """States would have to jump by ``change``."""
        through = np.flatnonzero(np.abs(impulse) > NAMED * np.abs(impulse).max())
        moved = np.flatnonzero(np.abs(change) > NAMED * np.maximum(np.abs(x + change), np.abs(x)))
        moved = moved[np.abs(change[moved]) > ROUNDED * np.abs(change).max()]
        moved = moved[np.argsort(-np.abs(change[moved]), kind="stable")][:MOST_NAMED]
        states = [self._state(int(i)) for i in moved]
        after = np.where(np.abs(x + change) > ROUNDED * np.abs(x), x + change, 0.0)
        jumps = [f"{name} from {sign * x[i]:.6g} to {sign * after[i] + 0.0:.6g} {unit}".rstrip()
                 for i, (name, sign, unit) in zip(moved, states, strict=True)]
        owners = _listed(list(dict.fromkeys(name.rpartition(".")[0] for name, *_ in states)))
        elements, of_flow = self._named(through), bool(self.elements.gives_flow[through].all())
        text = (f"{_listed(jumps)} would have to jump, which takes an endless "
                f"{self._word(through, of_flow)} of {elements}: ideal elements have no other "
                "answer.")
        if of_flow:
            advice = (f"Leave what {owners} holds another way, beside {elements}: a diode or a "
                      "switch that takes over, or a resistance (in mechanics a damper) in "
                      "parallel.")
        else:
            several = len(moved) > 1 and len(through) > 1
            beside = f"each of {owners}" if several else (
                f"{elements} or {owners}" if len(through) == 1 else
                f"one of {elements}, or with {owners}")
            advice = (f"Put a resistance (in mechanics a damper) in series with {beside}; a "
                      f"parasitic one, as a parameter of {'each' if several else 'one of them'}, "
                      "will do.")
        if np.abs(change[moved]).max(initial=0) < MAY_BE_DRIFT * np.abs(x[moved]).max(initial=0):
            advice += " A jump so small may be the error of the run: try a smaller rtol, too."
        return self._error(t, through, text, advice)

    def _unlimited(self, t: float, weight: Array) -> SimulationError:
        """No state can give way: a source that is shorted, or interrupted."""
        who = np.flatnonzero(weight > NAMED * weight.max())
        elements = self._named(who)
        if (self.state.modes[who] == 0).any():
            text = (f"nothing limits {self._word(who, False)} of {elements}: closed, they "
                    "short-circuit a source.")
            advice = (f"Put a resistance in series with {elements}, such as that of the source, or "
                      "see that they are never closed together.")
            if not self.elements.switch[who].all():
                advice += " A diode may be the wrong way round: exchange its ends."
        else:
            text = (f"nothing limits {self._word(who, True)} of {elements}: open, they interrupt "
                    "a source that prescribes what flows.")
            advice = f"Put a resistance or a diode in parallel with {elements} or with the source."
        return self._error(t, who, text, advice)

    def _undecided(self, t: float) -> SimulationError:
        """Modes hold now, but not an instant later."""
        who = np.flatnonzero(self.elements.valve)
        return self._error(
            t, who, f"no combination of open and closed was found for {self._named(who)} that "
            "holds now and an instant later.",
            "Give their loop a small resistance, or the nodes between them a small capacitance.")

    def _error(self, t: float, who: Indices, text: str, advice: str) -> SimulationError:
        return self.elements.error(t, who, text, advice, "simulation.jump", MOST_NAMED)

    def _state(self, i: int) -> tuple[str, int, str]:
        """Path, sign and unit of a state."""
        flat = self.system.flat
        state = int(self.system.tape.reduced.states[i])
        for first, count, f, (k, order) in flat.slot_runs:
            kernel = flat.network.families[f].kernel
            if order or getattr(kernel.variables[k].declared, "priority", "") != "high":
                continue  # not whose state it is
            for slot in first + np.flatnonzero(flat.class_of[first : first + count] == state):
                return (flat.at_slot(int(slot)).name, int(flat.sign_of[slot]),
                        str(kernel.variables[k].unit))
        return self.system.class_names[state], 1, ""

    def _word(self, who: Indices, of_flow: bool) -> str:
        """What the effort, or the flow, of some elements is called: that of the first."""
        f, _ = self.elements.owners[int(who[0])]
        kernel = self.system.network.families[f].kernel
        effort = self.elements.effort_names[int(who[0])]
        law = next(law for law in kernel.set_valued if kernel.variables[law.effort].name == effort)
        key = kernel.key_of(law.flow) if of_flow and law.flow.is_symbolic() else None
        return kernel.variables[key[0]].name if key else effort

    def _named(self, who: Indices) -> str:
        names = self.elements.names(who)
        return _listed(names[:MOST_NAMED] + ["others"] * (len(names) > MOST_NAMED))


def _listed(words: list[str]) -> str:
    return words[0] if len(words) == 1 else ", ".join(words[:-1]) + " and " + words[-1]
