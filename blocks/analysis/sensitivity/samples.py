"""When are samples taken, and how do these instants follow parameters?

The sample of number n is taken at ``offset + n period``, which is known as the instant of a
relation of time is: its guard is the time since then.
"""

from __future__ import annotations

import casadi as ca
import numpy as np

from ...numerics.arrays import Array, Flags
from ...numerics.instants import same_instants
from ...simulation.actions import Samplings
from ...system.evaluator import Evaluator
from .equations import Derivatives, SensitivityEquations

__all__ = ["SampleInstants"]


class SampleInstants:
    """The instants of all samplers of a run, by the parameters.

    Samplers whose instants are and move the same count as one, and so do all that do not move.

    Parameters
    ----------
    samplings : of the run
    equations : its derivatives
    p : parameters of the run
    """

    def __init__(self, samplings: Samplings, equations: SensitivityEquations, p: Array) -> None:
        self.samplings, self.equations = samplings, equations
        first, step = self._by_parameters(p)
        moving = np.any(first != 0, axis=1) | np.any(step != 0, axis=1)
        known = np.column_stack([samplings.start, samplings.period, first, step])
        _, lead, self._group = np.unique(np.where(moving[:, None], known, 0.0), axis=0,
                                         return_index=True, return_inverse=True)
        self._lead, self._first, self._step = lead, first[lead], step[lead]

    def _by_parameters(self, p: Array) -> tuple[Array, Array]:
        """First instants and periods of all samplers by parameters, (samplers, parameters)."""
        system, entries = self.equations.system, self.equations.entries
        count = len(self.samplings.start)

        def made() -> Evaluator:
            rows = []
            for which in (0, 1):
                for f, *times in self.samplings.statements:
                    sx = times[which]
                    rows.append(ca.SX(system.network.families[f].size, 1) if sx is None
                                else system.tape.writer.kernel_row(f, sx).T)
            by = ca.jacobian(ca.vertcat(*rows), system.tape.p[entries.tolist()])
            return Evaluator(ca.Function("instants", [system.tape.p], [ca.densify(ca.vec(by))]))

        if not count:
            return np.zeros((0, len(entries))), np.zeros((0, len(entries)))
        function = system.once(f"instants of samples by {entries.tolist()}", made)
        out = function(p).reshape(2 * count, len(entries), order="F")
        return out[:count], out[count:]

    def due(self, times: Array) -> Flags:
        """Who takes a sample, (times, samplers)."""
        samplings = self.samplings
        number = self._numbers(times)
        with np.errstate(invalid="ignore"):
            away = np.abs(times[:, None] - samplings.start - number * samplings.period)
            near = 4 * same_instants(times[:, None], samplings.time_events.least)
            return np.asarray((away <= near) & (number >= 0))

    def _numbers(self, times: Array) -> Array:
        with np.errstate(invalid="ignore"):
            return np.round((times[:, None] - self.samplings.start) / self.samplings.period)

    def guards(self, times: Array) -> tuple[Derivatives, Flags]:
        """The time since the samples at these times, and which are taken, (times, groups)."""
        due, count, system = self.due(times), len(times), self.equations.system
        taken = np.zeros((count, len(self._lead)), dtype=bool)
        for sampler, group in enumerate(self._group):
            taken[:, group] |= due[:, sampler]
        number = np.nan_to_num(self._numbers(times)[:, self._lead])
        moved = self._first + number[:, :, None] * self._step
        nothing = [np.zeros((*taken.shape, n)) for n in (system.nx, system.nd, 0)]
        return Derivatives(np.zeros(taken.shape), nothing[0], -moved, nothing[1],
                           np.ones(taken.shape), nothing[2]), taken

    def moved(self, time: float, dp: Array) -> Array:
        """How the samples at a time move, per parameter; the first of those that do."""
        guards, taken = self.guards(np.array([time]))
        dt = np.append(-guards.p[0][taken[0]] @ dp, np.zeros((1, dp.shape[1])), axis=0)
        return np.asarray(dt[(dt != 0).argmax(axis=0), np.arange(dp.shape[1])])

    def names(self, group: int, time: float) -> list[str]:
        """Components whose samples of a group are taken at a time."""
        due = self.due(np.array([time]))[0] & (self._group == group)
        return [self.samplings.name(int(k)) for k in np.flatnonzero(due)]
