"""How much energy did every component take in, store, lose and supply?

Works on three variable names a component may declare: ``energy_stored`` (J),
``power_dissipated`` (W) and ``power_supplied`` (W). The work done on a component
is the integral of across times through over its conserving ports.
"""

from __future__ import annotations

from typing import Any

import casadi as ca
import numpy as np

from .results.recording import EnergyTerm

__all__ = ["energy_terms"]

NODES, WEIGHTS = np.polynomial.legendre.leggauss(6)
FLOWS = ("work", "power_dissipated", "power_supplied")


def energy_terms(recording: Any) -> list[EnergyTerm]:
    """Energy of every leaf component over the run, by Gauss quadrature in every step."""
    system = recording.system
    flat, writer = system.flat, system.tape.writer
    rates, stored, rows = [], [], []
    for f, family in enumerate(flat.network.families):
        kernel = family.kernel
        if not kernel.ports:
            continue
        parts: dict[str, Any] = {"work": ca.SX(0)}
        for domain, indices in kernel.ports.values():
            pairs = zip(domain.across, domain.through, strict=False)
            for a, b in pairs:
                parts["work"] += kernel.symbols[indices[a], 0] * kernel.symbols[indices[b], 0]
        for name in FLOWS[1:]:
            parts[name] = kernel.symbols[kernel.index[name], 0] if name in kernel.index else ca.SX(0)
        e = kernel.symbols[kernel.index["energy_stored"], 0] if "energy_stored" in kernel.index \
            else ca.SX(0)
        for name in FLOWS:
            rates.append(writer.kernel_row(f, parts[name]).T)
        stored.append(writer.kernel_row(f, e).T)
        rows.append((f, family))
    if not rows:
        return []
    rate = ca.Function("rates", system.arguments, [ca.vertcat(*rates)])
    level = ca.Function("stored", system.arguments, [ca.vertcat(*stored)])
    total = np.zeros(rate.size1_out(0))
    change = np.zeros(level.size1_out(0))
    for episode in recording.episodes:
        t = episode.trajectory.t
        half = np.diff(t) / 2
        if not len(half):
            continue
        at = (t[:-1, None] + half[:, None] * (NODES + 1)).ravel()
        weights = (half[:, None] * WEIGHTS).ravel()
        total += recording._evaluate(rate, episode, at) @ weights
        ends = recording._evaluate(level, episode, np.array([t[0], t[-1]]))
        change += ends[:, 1] - ends[:, 0]
    terms = []
    a = b = 0
    for _, family in rows:
        n = family.size
        work, lost, given = total[a : a + 3 * n].reshape(3, n)
        for i in range(n):
            terms.append(EnergyTerm(family.path(i), family.kernel.name, float(work[i]),
                                    float(change[b + i]), float(lost[i]), float(given[i])))
        a += 3 * n
        b += n
    return terms
