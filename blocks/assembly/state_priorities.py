"""How much does every variable want to be a state?"""

from __future__ import annotations

import numpy as np

from ..language.declarations import Variable
from ..numerics.arrays import Array
from .flatten import Flat
from .network import Network

__all__ = ["state_priorities"]


def state_priorities(network: Network, flat: Flat) -> Array:
    """How much every class wants to be a state, from its targets' priorities."""
    want = np.zeros(flat.classes)
    for f, family in enumerate(network.families):
        for i, local in enumerate(family.kernel.variables):
            base = flat.base[f].get((i, 0))
            if base is None or local.kind != "variable":
                continue
            declared = local.declared
            assert isinstance(declared, Variable)
            default = {"high": 2.0, "low": 1.0}.get(declared.priority, 0.0) \
                if declared.has_initial else 0.0
            classes = flat.class_of[base : base + family.size]
            np.maximum.at(want, classes, default)
            for start, m in zip(family.starts, family.members, strict=True):
                if local.name in m._targets:
                    level = {"high": 4.0, "low": 3.0, "none": 0.0}[m._targets[local.name][1]]
                    np.maximum.at(want, classes[start : start + m.size], level)
    return want
