"""Which unknowns are efforts and flows of set-valued laws?"""

from __future__ import annotations

from typing import Any

import numpy as np

from .index_reduction import Elements

__all__ = ["set_valued_elements"]


def set_valued_elements(flat: Any) -> Elements:
    """Effort and flow classes of all set-valued laws."""
    efforts, flows = [np.zeros(0, dtype=int)], [np.zeros(0, dtype=int)]
    for f, family in enumerate(flat.network.families):
        every = np.arange(family.size)
        for law in family.kernel.set_valued:
            efforts.append(flat.class_of[flat.base[f][law.effort, 0] + every])
            key = family.kernel.key_of(law.flow) if law.flow.is_symbolic() else None
            classes = np.full(family.size, -1) if key is None or key[1] else (
                flat.class_of[flat.base[f][key] + every])
            flows.append(np.where(flat.derivative[classes] < 0, classes, -1))
    for f, family in enumerate(flat.network.families):  # these come last: see SetValuedLaws
        for effort, load, *_ in family.kernel.load_laws:
            for i in (effort, load):
                efforts.append(flat.class_of[flat.base[f][i, 0] + np.arange(family.size)])
                flows.append(np.full(family.size, -1))
    return Elements(np.concatenate(efforts), np.concatenate(flows))
